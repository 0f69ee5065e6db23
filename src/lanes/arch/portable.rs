//! Plain integers, one message at a time: the fallback of every CPU.
//!
//! Arrays in place of integers, for LLVM to make vectors of, were tried and gave a tenth of this.

use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::sha512_kernel;

/// One lane: a word is an integer.
macro_rules! scalar_operations {
    ($module:ident, $word:ty, $block:literal) => {
        pub(super) mod $module {
            #![allow(dead_code, reason = "no family asks for all of it")]

            pub(in crate::lanes::arch) type V = $word;
            pub(in crate::lanes::arch) const LANES: usize = 1;

            #[inline(always)]
            pub(in crate::lanes::arch) fn load_row(row: &[V], lane: usize) -> V {
                row[lane]
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn store_row(row: &mut [V], lane: usize, value: V) {
                row[lane] = value;
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn load_le(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(&inputs[lane][block], V::from_le_bytes)
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn load_be(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(&inputs[lane][block], V::from_be_bytes)
            }

            #[inline(always)]
            fn words(block: &[u8; $block], convert: impl Fn([u8; size_of::<V>()]) -> V) -> [V; 16] {
                // Not with `zip`, which LLVM does not always inline into functions as long as kernels.
                let bytes = block.as_chunks().0;
                let mut words = [0; 16];
                for i in 0..16 {
                    words[i] = convert(bytes[i]);
                }
                words
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn splat(value: $word) -> V {
                value
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn add(a: V, b: V) -> V {
                a.wrapping_add(b)
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn xor(a: V, b: V) -> V {
                a ^ b
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn xor3(a: V, b: V, c: V) -> V {
                a ^ b ^ c
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn choose(mask: V, yes: V, no: V) -> V {
                no ^ (mask & (yes ^ no))
            }

            /// `sum + choose(mask, yes, no)`, with `yes` as near to the end as can be.
            #[inline(always)]
            pub(in crate::lanes::arch) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
                barrier(sum.wrapping_add(!mask & no)).wrapping_add(mask & yes)
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn majority(a: V, b: V, c: V) -> V {
                // `a ^ b` is the next step's `b ^ c`.
                b ^ ((a ^ b) & (b ^ c))
            }

            /// `a ^ (b | !c)`.
            #[inline(always)]
            pub(in crate::lanes::arch) fn xor_or_not(a: V, b: V, c: V) -> V {
                a ^ (b | !c)
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn rotl<const LEFT: u32, const RIGHT: u32>(a: V) -> V {
                const { assert!(LEFT + RIGHT == V::BITS) };
                a.rotate_left(LEFT)
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn shr<const RIGHT: u32>(a: V) -> V {
                a >> RIGHT
            }

            #[inline(always)]
            pub(in crate::lanes::arch) fn barrier(a: V) -> V {
                crate::lanes::arch::barrier::integer(a)
            }
        }
    };
}

scalar_operations!(u32x1, u32, 64);
scalar_operations!(u64x1, u64, 128);

md5_kernel!(md5_x1, u32x1, [0]);
sha1_kernel!(sha1_x1, u32x1);
sha256_kernel!(sha256_x1, u32x1);
sha512_kernel!(sha512_x1, u64x1);
