//! Plain integers and arrays of them: the fallback of every CPU, and what Miri can run.

use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::sha512_kernel;

/// One lane: a word is an integer.
macro_rules! scalar_operations {
    ($module:ident, $word:ty, $block:literal) => {
        mod $module {
            pub(super) type V = $word;
            pub(super) const LANES: usize = 1;

            #[inline(always)]
            pub(super) fn load_row(row: &[V], lane: usize) -> V {
                row[lane]
            }

            #[inline(always)]
            pub(super) fn store_row(row: &mut [V], lane: usize, value: V) {
                row[lane] = value;
            }

            #[inline(always)]
            #[allow(dead_code, reason = "only MD5 is little-endian")]
            pub(super) fn load_le(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(&inputs[lane][block], V::from_le_bytes)
            }

            #[inline(always)]
            pub(super) fn load_be(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(&inputs[lane][block], V::from_be_bytes)
            }

            #[inline(always)]
            fn words(
                block: &[u8; $block],
                convert: impl Fn([u8; size_of::<V>()]) -> V,
            ) -> [V; 16] {
                let mut words = [0; 16];
                for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
                    *word = convert(*bytes);
                }
                words
            }

            #[inline(always)]
            pub(super) fn splat(value: $word) -> V {
                value
            }

            #[inline(always)]
            pub(super) fn add(a: V, b: V) -> V {
                a.wrapping_add(b)
            }

            #[inline(always)]
            #[allow(dead_code, reason = "not every family asks for it")]
            pub(super) fn xor(a: V, b: V) -> V {
                a ^ b
            }

            #[inline(always)]
            pub(super) fn xor3(a: V, b: V, c: V) -> V {
                a ^ b ^ c
            }

            #[inline(always)]
            pub(super) fn choose(mask: V, yes: V, no: V) -> V {
                no ^ (mask & (yes ^ no))
            }

            /// `sum + choose(mask, yes, no)`, with `yes` as near to the end as can be.
            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone asks for it")]
            pub(super) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
                barrier(sum.wrapping_add(!mask & no)).wrapping_add(mask & yes)
            }

            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone does not ask for it")]
            pub(super) fn majority(a: V, b: V, c: V) -> V {
                (a & b) | (c & (a | b))
            }

            /// `a ^ (b | !c)`.
            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone asks for it")]
            pub(super) fn xor_or_not(a: V, b: V, c: V) -> V {
                a ^ (b | !c)
            }

            #[inline(always)]
            pub(super) fn rotl<const LEFT: u32, const RIGHT: u32>(a: V) -> V {
                const { assert!(LEFT + RIGHT == V::BITS) };
                a.rotate_left(LEFT)
            }

            #[inline(always)]
            #[allow(dead_code, reason = "SHA-2 alone asks for it")]
            pub(super) fn shr<const RIGHT: u32>(a: V) -> V {
                a >> RIGHT
            }

            #[inline(always)]
            pub(super) fn barrier(a: V) -> V {
                crate::lanes::arch::barrier::integer(a)
            }
        }
    };
}

/// Several lanes: a word is an array, which LLVM turns into vectors of the baseline.
macro_rules! array_operations {
    ($module:ident, $word:ty, $lanes:literal, $block:literal) => {
        mod $module {
            pub(super) type V = [$word; LANES];
            pub(super) const LANES: usize = $lanes;

            #[inline(always)]
            pub(super) fn load_row(row: &[$word], lane: usize) -> V {
                map(|i| row[lane + i])
            }

            #[inline(always)]
            pub(super) fn store_row(row: &mut [$word], lane: usize, value: V) {
                row[lane..lane + LANES].copy_from_slice(&value);
            }

            #[inline(always)]
            #[allow(dead_code, reason = "only MD5 is little-endian")]
            pub(super) fn load_le(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(inputs, lane, block, <$word>::from_le_bytes)
            }

            #[inline(always)]
            #[allow(dead_code, reason = "MD5 is little-endian")]
            pub(super) fn load_be(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
            ) -> [V; 16] {
                words(inputs, lane, block, <$word>::from_be_bytes)
            }

            #[inline(always)]
            fn words(
                inputs: &[&[[u8; $block]]],
                lane: usize,
                block: usize,
                convert: impl Fn([u8; size_of::<$word>()]) -> $word,
            ) -> [V; 16] {
                let mut words = [[0; LANES]; 16];
                for i in 0..LANES {
                    let input = inputs[lane + i][block].as_chunks().0;
                    for (word, bytes) in words.iter_mut().zip(input) {
                        word[i] = convert(*bytes);
                    }
                }
                words
            }

            #[inline(always)]
            fn map(value: impl Fn(usize) -> $word) -> V {
                std::array::from_fn(value)
            }

            #[inline(always)]
            pub(super) fn splat(value: $word) -> V {
                [value; LANES]
            }

            #[inline(always)]
            pub(super) fn add(a: V, b: V) -> V {
                map(|i| a[i].wrapping_add(b[i]))
            }

            #[inline(always)]
            #[allow(dead_code, reason = "not every family asks for it")]
            pub(super) fn xor(a: V, b: V) -> V {
                map(|i| a[i] ^ b[i])
            }

            #[inline(always)]
            pub(super) fn xor3(a: V, b: V, c: V) -> V {
                map(|i| a[i] ^ b[i] ^ c[i])
            }

            #[inline(always)]
            pub(super) fn choose(mask: V, yes: V, no: V) -> V {
                map(|i| no[i] ^ (mask[i] & (yes[i] ^ no[i])))
            }

            /// `sum + choose(mask, yes, no)`.
            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone asks for it")]
            pub(super) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
                add(sum, choose(mask, yes, no))
            }

            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone does not ask for it")]
            pub(super) fn majority(a: V, b: V, c: V) -> V {
                map(|i| (a[i] & b[i]) | (c[i] & (a[i] | b[i])))
            }

            /// `a ^ (b | !c)`.
            #[inline(always)]
            #[allow(dead_code, reason = "MD5 alone asks for it")]
            pub(super) fn xor_or_not(a: V, b: V, c: V) -> V {
                map(|i| a[i] ^ (b[i] | !c[i]))
            }

            #[inline(always)]
            pub(super) fn rotl<const LEFT: u32, const RIGHT: u32>(a: V) -> V {
                const { assert!(LEFT + RIGHT == <$word>::BITS) };
                map(|i| a[i].rotate_left(LEFT))
            }

            #[inline(always)]
            #[allow(dead_code, reason = "SHA-2 alone asks for it")]
            pub(super) fn shr<const RIGHT: u32>(a: V) -> V {
                map(|i| a[i] >> RIGHT)
            }

            #[inline(always)]
            pub(super) fn barrier(a: V) -> V {
                a
            }
        }
    };
}

scalar_operations!(u32x1, u32, 64);
scalar_operations!(u64x1, u64, 128);
array_operations!(u32x4, u32, 4, 64);

md5_kernel!(md5_x1, u32x1, [0]);
md5_kernel!(md5_x4, u32x4, [0]);
sha1_kernel!(sha1_x1, u32x1);
sha1_kernel!(sha1_x4, u32x4);
sha256_kernel!(sha256_x1, u32x1);
sha512_kernel!(sha512_x1, u64x1);
