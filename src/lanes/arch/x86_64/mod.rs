//! x86-64: AVX2, AVX-512, and the SHA instructions.

pub(in crate::lanes) mod avx2;
pub(in crate::lanes) mod sha_ni;
