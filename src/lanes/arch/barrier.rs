//! Values that LLVM must take as they are.
//!
//! LLVM re-associates sums of integers, and then constants and message words may land on the chain of
//! dependent operations that bounds a hash. An empty piece of assembly that claims to change the value
//! prevents it, at the cost of nothing; `std::hint::black_box` does as well but goes through memory.

#![expect(unsafe_code, reason = "assembly, though an empty piece of it")]

/// An integer that fits a register.
pub(super) trait Register: Sized {
    /// The same value.
    fn opaque(self) -> Self;
}

macro_rules! register {
    ($word:ty, $x86_64:literal, $aarch64:literal) => {
        impl Register for $word {
            #[inline(always)]
            #[allow(
                unused_mut,
                reason = "Miri and other architectures leave it as it is"
            )]
            fn opaque(self) -> Self {
                let mut value = self;
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                // SAFETY: there are no instructions in it.
                unsafe {
                    std::arch::asm!($x86_64, inout(reg) value, options(pure, nomem, nostack, preserves_flags));
                }
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                // SAFETY: there are no instructions in it.
                unsafe {
                    std::arch::asm!($aarch64, inout(reg) value, options(pure, nomem, nostack, preserves_flags));
                }
                value
            }
        }
    };
}

// Comments that name the register, since the compiler insists on its being named.
register!(u32, "/* {0:e} */", "/* {0:w} */");
register!(u64, "/* {0:r} */", "/* {0:x} */");

#[inline(always)]
pub(super) fn integer<T: Register>(value: T) -> T {
    value.opaque()
}
