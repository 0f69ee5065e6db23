//! AArch64: NEON, and the SHA instructions of ARMv8 and ARMv8.2.
//!
//! Proven under emulation; no rate was measured on a real CPU.

pub(in crate::lanes) mod neon;
pub(in crate::lanes) mod sha;
pub(in crate::lanes) mod sha512;
