//! x86-64: AVX2, AVX-512, the SHA instructions, and kernels for one message.

pub(in crate::lanes) mod avx2;
pub(in crate::lanes) mod avx512;
pub(in crate::lanes) mod sha_ni;
pub(in crate::lanes) mod single;
pub(in crate::lanes) mod stitched;
