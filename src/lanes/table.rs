//! The table of choice: algorithm × backend × number of messages.
//!
//! Of each list the first kernel is taken whose second column is not above the number of messages; the third
//! column is its lanes. Comments give GB/s of all lanes together, with 16 KiB a message, on one core of an AMD
//! EPYC with Zen 3 (about 3.4 GHz; `cargo bench --bench kernels`). The digest crates, one message at a time, give
//! there: MD5 0.48, SHA-1 1.71, SHA-256 1.50, SHA-512 0.53.
//!
//! A kernel that is not full takes the time of a full one. So it is chosen as soon as its messages, one after
//! the other through narrower kernels, would take longer.

use super::arch::portable;
use super::kernel::{Kernel, Md5Kernel, Sha1Kernel, Sha256Kernel, Sha512Kernel, Stitched};

/// The kernels that need the same instructions. A family that is `None` is left to another backend.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) name: &'static str,
    /// The first feature that the CPU lacks.
    pub(super) missing: fn() -> Option<&'static str>,
    pub(super) md5: Option<&'static [Md5Kernel]>,
    pub(super) sha1: Option<&'static [Sha1Kernel]>,
    pub(super) sha256: Option<&'static [Sha256Kernel]>,
    pub(super) sha512: Option<&'static [Sha512Kernel]>,
    /// For one message under MD5 and SHA-1 or SHA-256.
    pub(super) stitched: Option<Stitched>,
}

macro_rules! kernels {
    ($kernel:ty; $($name:literal, $from:literal.., $lanes:literal, $run:path;)*) => {
        &[$(Kernel { name: $name, from: $from, lanes: $lanes, run: $run }),*] as &'static [$kernel]
    };
}

#[rustfmt::skip]
pub(super) static MD5_PORTABLE: &[Md5Kernel] = kernels! { Md5Kernel;
    "portable", 1.., 1, portable::md5_x1; // 0.71
};

#[rustfmt::skip]
pub(super) static SHA1_PORTABLE: &[Sha1Kernel] = kernels! { Sha1Kernel;
    "portable", 1.., 1, portable::sha1_x1; // 0.76
};

#[rustfmt::skip]
pub(super) static SHA256_PORTABLE: &[Sha256Kernel] = kernels! { Sha256Kernel;
    "portable", 1.., 1, portable::sha256_x1; // 0.33
};

#[rustfmt::skip]
pub(super) static SHA512_PORTABLE: &[Sha512Kernel] = kernels! { Sha512Kernel;
    "portable", 1.., 1, portable::sha512_x1; // 0.52
};

pub(super) static PORTABLE: Backend = Backend {
    name: "portable",
    missing: || None,
    md5: Some(MD5_PORTABLE),
    sha1: Some(SHA1_PORTABLE),
    sha256: Some(SHA256_PORTABLE),
    sha512: Some(SHA512_PORTABLE),
    stitched: None,
};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Backend, Kernel, Md5Kernel, Sha1Kernel, Sha256Kernel, Sha512Kernel};
    use crate::lanes::arch::x86_64::{avx2, avx512, sha_ni, single, stitched};

    macro_rules! missing {
        ($($feature:tt),*) => {
            || {
                $(if !std::arch::is_x86_feature_detected!($feature) {
                    return Some($feature);
                })*
                None
            }
        };
    }

    #[rustfmt::skip]
    static MD5_AVX2: &[Md5Kernel] = kernels! { Md5Kernel;
        "avx2 3x8", 17.., 24, avx2::md5_x24; // 7.8; 5.7 with 17 messages
        "avx2 2x8",  9.., 16, avx2::md5_x16; // 6.8; 3.9 with 9
        "avx2 8",    2..,  8, avx2::md5_x8; // 4.1; 1.03 with 2
        "bmi",       1..,  1, single::md5_x1; // 0.71
    };

    #[rustfmt::skip]
    static SHA1_AVX2: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "avx2 8", 2.., 8, avx2::sha1_x8; // 3.6; 0.91 with 2
        "bmi",    1.., 1, single::sha1_x1; // 0.76
    };

    #[rustfmt::skip]
    static SHA256_AVX2: &[Sha256Kernel] = kernels! { Sha256Kernel;
        "avx2 8", 2.., 8, avx2::sha256_x8; // 1.66; 0.41 with 2
        "bmi",    1.., 1, single::sha256_x1; // 0.34
    };

    #[rustfmt::skip]
    static SHA512_AVX2: &[Sha512Kernel] = kernels! { Sha512Kernel;
        "avx2 4", 2.., 4, avx2::sha512_x4; // 1.38; 0.69 with 2
        "avx2 1", 1.., 1, single::sha512_x1; // 0.63 to 0.67
    };

    pub(super) static AVX2: Backend = Backend {
        name: "avx2",
        missing: missing!("avx2", "bmi1", "bmi2"),
        md5: Some(MD5_AVX2),
        sha1: Some(SHA1_AVX2),
        sha256: Some(SHA256_AVX2),
        sha512: Some(SHA512_AVX2),
        stitched: None,
    };

    // The AVX-512 kernels have been proven right but never timed: no CPU at hand has the instructions. Which
    // number of lanes is best is taken from trials of the same rounds on Zen 4, where MD5 gave 8.9, 12.0 and 13.6
    // in one, two and three groups, SHA-1 7.7, SHA-256 3.5 and SHA-512 2.85.

    #[rustfmt::skip]
    static MD5_AVX512: &[Md5Kernel] = kernels! { Md5Kernel;
        "avx512 3x16", 33.., 48, avx512::md5_x48;
        "avx512 2x16", 17.., 32, avx512::md5_x32;
        "avx512 16",    9.., 16, avx512::md5_x16;
        "avx2 8",       2..,  8, avx2::md5_x8;
        "bmi",          1..,  1, single::md5_x1;
    };

    #[rustfmt::skip]
    static SHA1_AVX512: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "avx512 16", 9.., 16, avx512::sha1_x16;
        "avx2 8",    2..,  8, avx2::sha1_x8;
        "bmi",       1..,  1, single::sha1_x1;
    };

    #[rustfmt::skip]
    static SHA1_AVX512_NI: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "avx512 16", 9.., 16, avx512::sha1_x16;
        "sha-ni x4", 4..,  4, sha_ni::sha1_x4;
        "sha-ni x3", 3..,  3, sha_ni::sha1_x3;
        "sha-ni x2", 2..,  2, sha_ni::sha1_x2;
        "sha-ni x1", 1..,  1, sha_ni::sha1_x1;
    };

    #[rustfmt::skip]
    static SHA256_AVX512: &[Sha256Kernel] = kernels! { Sha256Kernel;
        "avx512 16", 9.., 16, avx512::sha256_x16;
        "avx2 8",    2..,  8, avx2::sha256_x8;
        "bmi",       1..,  1, single::sha256_x1;
    };

    #[rustfmt::skip]
    static SHA512_AVX512: &[Sha512Kernel] = kernels! { Sha512Kernel;
        "avx512 8", 5.., 8, avx512::sha512_x8;
        "avx2 4",   2.., 4, avx2::sha512_x4;
        "avx2 1",   1.., 1, single::sha512_x1;
    };

    pub(super) static AVX512: Backend = Backend {
        name: "avx512",
        missing: missing!("avx512f", "avx512bw", "avx2", "bmi1", "bmi2"),
        md5: Some(MD5_AVX512),
        sha1: Some(SHA1_AVX512),
        sha256: Some(SHA256_AVX512),
        sha512: Some(SHA512_AVX512),
        stitched: None,
    };

    /// Where a CPU has both: SHA-1 is faster in sixteen lanes if there are so many messages, SHA-256 is not.
    pub(super) static AVX512_SHA_NI: Backend = Backend {
        name: "avx512+sha-ni",
        missing: missing!(
            "sha", "sse4.1", "ssse3", "avx512f", "avx512bw", "avx2", "bmi1", "bmi2"
        ),
        md5: None,
        sha1: Some(SHA1_AVX512_NI),
        sha256: None,
        sha512: None,
        stitched: None,
    };

    #[rustfmt::skip]
    static SHA1_NI: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "sha-ni x4", 4.., 4, sha_ni::sha1_x4; // 4.2
        "sha-ni x3", 3.., 3, sha_ni::sha1_x3; // 3.7 to 3.8
        "sha-ni x2", 2.., 2, sha_ni::sha1_x2; // 2.8 to 3.2
        "sha-ni x1", 1.., 1, sha_ni::sha1_x1; // 1.69
    };

    #[rustfmt::skip]
    static SHA256_NI: &[Sha256Kernel] = kernels! { Sha256Kernel;
        "sha-ni x4", 4.., 4, sha_ni::sha256_x4; // 3.1 to 3.2
        "sha-ni x3", 3.., 3, sha_ni::sha256_x3; // 2.87
        "sha-ni x2", 2.., 2, sha_ni::sha256_x2; // 2.82
        "sha-ni x1", 1.., 1, sha_ni::sha256_x1; // 1.58
    };

    pub(super) static SHA_NI: Backend = Backend {
        name: "sha-ni",
        missing: missing!("sha", "sse4.1", "ssse3"),
        md5: None,
        sha1: Some(SHA1_NI),
        sha256: Some(SHA256_NI),
        sha512: None,
        stitched: Some(stitched::md5_sha1_sha256),
    };
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::{Backend, Kernel, Md5Kernel, Sha1Kernel, Sha256Kernel, Sha512Kernel, portable};
    use crate::lanes::arch::aarch64::{neon, sha, sha512};

    macro_rules! missing {
        ($feature:tt) => {
            || (!std::arch::is_aarch64_feature_detected!($feature)).then_some($feature)
        };
    }

    // No rate was measured: that three groups of MD5 and two to four messages of SHA fill the units is taken
    // from x86-64.

    #[rustfmt::skip]
    static MD5_NEON: &[Md5Kernel] = kernels! { Md5Kernel;
        "neon 3x4", 9.., 12, neon::md5_x12;
        "neon 2x4", 5..,  8, neon::md5_x8;
        "neon 4",   3..,  4, neon::md5_x4;
        "scalar",   1..,  1, portable::md5_x1;
    };

    #[rustfmt::skip]
    static SHA1_NEON: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "neon 4", 3.., 4, neon::sha1_x4;
        "scalar", 1.., 1, portable::sha1_x1;
    };

    #[rustfmt::skip]
    static SHA256_NEON: &[Sha256Kernel] = kernels! { Sha256Kernel;
        "neon 4", 4.., 4, neon::sha256_x4;
        "scalar", 1.., 1, portable::sha256_x1;
    };

    #[rustfmt::skip]
    static SHA512_NEON: &[Sha512Kernel] = kernels! { Sha512Kernel;
        "neon 2", 2.., 2, neon::sha512_x2;
        "scalar", 1.., 1, portable::sha512_x1;
    };

    pub(super) static NEON: Backend = Backend {
        name: "neon",
        missing: missing!("neon"),
        md5: Some(MD5_NEON),
        sha1: Some(SHA1_NEON),
        sha256: Some(SHA256_NEON),
        sha512: Some(SHA512_NEON),
        stitched: None,
    };

    #[rustfmt::skip]
    static SHA1_ARM: &[Sha1Kernel] = kernels! { Sha1Kernel;
        "sha2 x4", 4.., 4, sha::sha1_x4;
        "sha2 x3", 3.., 3, sha::sha1_x3;
        "sha2 x2", 2.., 2, sha::sha1_x2;
        "sha2 x1", 1.., 1, sha::sha1_x1;
    };

    #[rustfmt::skip]
    static SHA256_ARM: &[Sha256Kernel] = kernels! { Sha256Kernel;
        "sha2 x4", 4.., 4, sha::sha256_x4;
        "sha2 x3", 3.., 3, sha::sha256_x3;
        "sha2 x2", 2.., 2, sha::sha256_x2;
        "sha2 x1", 1.., 1, sha::sha256_x1;
    };

    /// The feature that Rust and Linux call `sha2`; it has SHA-1 in it.
    pub(super) static SHA2: Backend = Backend {
        name: "sha2",
        missing: missing!("sha2"),
        md5: None,
        sha1: Some(SHA1_ARM),
        sha256: Some(SHA256_ARM),
        sha512: None,
        stitched: None,
    };

    #[rustfmt::skip]
    static SHA512_ARM: &[Sha512Kernel] = kernels! { Sha512Kernel;
        "sha512 x4", 4.., 4, sha512::sha512_x4;
        "sha512 x3", 3.., 3, sha512::sha512_x3;
        "sha512 x2", 2.., 2, sha512::sha512_x2;
        "sha512 x1", 1.., 1, sha512::sha512_x1;
    };

    /// The SHA-512 instructions; Rust's feature `sha3` stands for them and those of SHA-3 together.
    pub(super) static SHA512: Backend = Backend {
        name: "sha512",
        missing: missing!("sha3"),
        md5: None,
        sha1: None,
        sha256: None,
        sha512: Some(SHA512_ARM),
        stitched: None,
    };
}

/// Every backend of this build, the best first.
#[cfg(target_arch = "x86_64")]
pub(super) static BACKENDS: &[&Backend] = &[
    &x86_64::AVX512_SHA_NI,
    &x86_64::SHA_NI,
    &x86_64::AVX512,
    &x86_64::AVX2,
    &PORTABLE,
];

/// Every backend of this build, the best first.
#[cfg(target_arch = "aarch64")]
pub(super) static BACKENDS: &[&Backend] =
    &[&aarch64::SHA512, &aarch64::SHA2, &aarch64::NEON, &PORTABLE];

/// Every backend of this build.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) static BACKENDS: &[&Backend] = &[&PORTABLE];
