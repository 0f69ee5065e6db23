//! The operations of each instruction set, as modules of equal shape, and the kernels made of them.
//!
//! Such a module has `V` (a vector of `LANES` words), `load_row` and `store_row` (words of a bank's
//! row), `load_le` and `load_be` (one block of each lane as sixteen vectors, one a word), and the
//! arithmetic that the rounds in `md5.rs`, `sha1.rs`, `sha256.rs` and `sha512.rs` ask for. All of it is
//! safe to call where the instruction set is enabled; loads and stores take references to arrays of
//! the right length.

#[cfg(target_arch = "aarch64")]
pub(super) mod aarch64;
mod barrier;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64;

/// Repeats a block with a constant that takes each value, so that nothing is left to be unrolled.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! groups {
    ($group:ident in [$($value:literal)*] $body:block) => {
        $({ const $group: usize = $value; $body })*
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use groups;
