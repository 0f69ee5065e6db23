//! The table of choice: algorithm × backend × number of messages.

use super::arch::portable;
use super::kernel::{Kernel, Md5Kernel, Sha1Kernel, Sha256Kernel, Sha512Kernel};

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
}

macro_rules! kernels {
    ($kernel:ty; $($name:literal, $from:literal.., $lanes:literal, $run:path;)*) => {
        &[$(Kernel { name: $name, from: $from, lanes: $lanes, run: $run }),*] as &'static [$kernel]
    };
}

#[rustfmt::skip]
pub(super) static MD5_PORTABLE: &[Md5Kernel] = kernels! { Md5Kernel;
    "portable x4", 3.., 4, portable::md5_x4;
    "portable x1", 1.., 1, portable::md5_x1;
};

#[rustfmt::skip]
pub(super) static SHA1_PORTABLE: &[Sha1Kernel] = kernels! { Sha1Kernel;
    "portable x4", 3.., 4, portable::sha1_x4;
    "portable x1", 1.., 1, portable::sha1_x1;
};

#[rustfmt::skip]
pub(super) static SHA256_PORTABLE: &[Sha256Kernel] = kernels! { Sha256Kernel;
    "portable x1", 1.., 1, portable::sha256_x1;
};

#[rustfmt::skip]
pub(super) static SHA512_PORTABLE: &[Sha512Kernel] = kernels! { Sha512Kernel;
    "portable x1", 1.., 1, portable::sha512_x1;
};

pub(super) static PORTABLE: Backend = Backend {
    name: "portable",
    missing: || None,
    md5: Some(MD5_PORTABLE),
    sha1: Some(SHA1_PORTABLE),
    sha256: Some(SHA256_PORTABLE),
    sha512: Some(SHA512_PORTABLE),
};

/// Every backend of this build, the best first.
pub(super) static BACKENDS: &[&Backend] = &[&PORTABLE];
