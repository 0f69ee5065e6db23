//! NEON: four lanes of 32-bit words, two of 64-bit words.

#![expect(unsafe_code, reason = "loads, stores, and the barrier")]

use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::sha512_kernel;

/// What words of both widths have in common.
macro_rules! operations {
    ($word:ty, $vector:ty, $splat:ident, $load:ident, $store:ident, $add:ident, $and:ident, $xor:ident,
     $or_not:ident, $select:ident, $shift_left:ident, $shift_right:ident, $insert:ident) => {
        use std::arch::aarch64::{
            $vector, $add, $and, $insert, $load, $or_not, $select, $shift_left, $shift_right, $splat,
            $store, $xor,
        };

        pub(super) type V = $vector;
        pub(super) const LANES: usize = 16 / size_of::<$word>();

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn splat(value: $word) -> V {
            $splat(value)
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn load_row(row: &[$word], lane: usize) -> V {
            let row = &row[lane..lane + LANES];
            // SAFETY: the slice has 16 bytes, and the load needs no more alignment than a word.
            unsafe { $load(row.as_ptr()) }
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn store_row(row: &mut [$word], lane: usize, value: V) {
            let row = &mut row[lane..lane + LANES];
            // SAFETY: the slice has 16 bytes, and the store needs no more alignment than a word.
            unsafe { $store(row.as_mut_ptr(), value) }
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn add(a: V, b: V) -> V {
            $add(a, b)
        }

        #[inline]
        #[target_feature(enable = "neon")]
        #[allow(dead_code, reason = "SHA-1 alone asks for it")]
        pub(super) fn xor(a: V, b: V) -> V {
            $xor(a, b)
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn xor3(a: V, b: V, c: V) -> V {
            $xor(a, $xor(b, c))
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn choose(mask: V, yes: V, no: V) -> V {
            $select(mask, yes, no)
        }

        /// `sum + choose(mask, yes, no)`.
        #[inline]
        #[target_feature(enable = "neon")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
            $add(sum, choose(mask, yes, no))
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn majority(a: V, b: V, c: V) -> V {
            // `a ^ b` is the next step's `b ^ c`.
            $xor(b, $and($xor(a, b), $xor(b, c)))
        }

        /// `a ^ (b | !c)`.
        #[inline]
        #[target_feature(enable = "neon")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn xor_or_not(a: V, b: V, c: V) -> V {
            $xor(a, $or_not(b, c))
        }

        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn rotl<const LEFT: i32, const RIGHT: i32>(a: V) -> V {
            const { assert!(LEFT + RIGHT == 8 * size_of::<$word>() as i32) };
            $insert::<RIGHT>($shift_left::<LEFT>(a), a)
        }

        #[inline]
        #[target_feature(enable = "neon")]
        #[allow(dead_code, reason = "SHA-2 alone asks for it")]
        pub(super) fn shr<const RIGHT: i32>(a: V) -> V {
            $shift_right::<RIGHT>(a)
        }

        /// The same vector, as one that LLVM knows nothing about.
        #[inline]
        #[target_feature(enable = "neon")]
        #[allow(unused_mut, reason = "Miri leaves it as it is")]
        pub(super) fn barrier(a: V) -> V {
            let mut a = a;
            #[cfg(not(miri))]
            // SAFETY: there are no instructions in it.
            unsafe {
                std::arch::asm!("/* {0:v} */", inout(vreg) a, options(pure, nomem, nostack, preserves_flags));
            }
            a
        }
    };
}

mod u32x4 {
    use std::arch::aarch64::{
        vld1q_u8, vreinterpretq_u8_u32, vreinterpretq_u32_u8, vreinterpretq_u32_u64,
        vreinterpretq_u64_u32, vrev32q_u8, vtrn1q_u64, vtrn2q_u64, vzip1q_u32, vzip2q_u32,
    };

    operations!(
        u32,
        uint32x4_t,
        vdupq_n_u32,
        vld1q_u32,
        vst1q_u32,
        vaddq_u32,
        vandq_u32,
        veorq_u32,
        vornq_u32,
        vbslq_u32,
        vshlq_n_u32,
        vshrq_n_u32,
        vsriq_n_u32
    );

    #[inline]
    #[target_feature(enable = "neon")]
    fn load_quarter(bytes: &[u8; 16]) -> V {
        // SAFETY: the array has 16 bytes, and the load needs no alignment.
        vreinterpretq_u32_u8(unsafe { vld1q_u8(bytes.as_ptr()) })
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load_le(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = [splat(0); 16];
        for quarter in 0..4 {
            let mut rows = [splat(0); 4];
            for i in 0..4 {
                rows[i] = load_quarter(&inputs[lane + i][block].as_chunks().0[quarter]);
            }
            let [a, b, c, d] = rows;
            let (ab_low, ab_high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
            let (cd_low, cd_high) = (vzip1q_u32(c, d), vzip2q_u32(c, d));
            words[4 * quarter] = lower_halves(ab_low, cd_low);
            words[4 * quarter + 1] = upper_halves(ab_low, cd_low);
            words[4 * quarter + 2] = lower_halves(ab_high, cd_high);
            words[4 * quarter + 3] = upper_halves(ab_high, cd_high);
        }
        words
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn lower_halves(a: V, b: V) -> V {
        let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
        vreinterpretq_u32_u64(vtrn1q_u64(a, b))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn upper_halves(a: V, b: V) -> V {
        let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
        vreinterpretq_u32_u64(vtrn2q_u64(a, b))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load_be(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = load_le(inputs, lane, block);
        for word in 0..16 {
            words[word] = vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(words[word])));
        }
        words
    }
}

mod u64x2 {
    use std::arch::aarch64::{vld1q_u8, vreinterpretq_u64_u8, vrev64q_u8, vtrn1q_u64, vtrn2q_u64};

    operations!(
        u64,
        uint64x2_t,
        vdupq_n_u64,
        vld1q_u64,
        vst1q_u64,
        vaddq_u64,
        vandq_u64,
        veorq_u64,
        vornq_u64,
        vbslq_u64,
        vshlq_n_u64,
        vshrq_n_u64,
        vsriq_n_u64
    );

    #[inline]
    #[target_feature(enable = "neon")]
    fn load_pair(bytes: &[u8; 16]) -> V {
        // SAFETY: the array has 16 bytes, and the load needs no alignment.
        vreinterpretq_u64_u8(vrev64q_u8(unsafe { vld1q_u8(bytes.as_ptr()) }))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load_be(inputs: &[&[[u8; 128]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = [splat(0); 16];
        for pair in 0..8 {
            let a = load_pair(&inputs[lane][block].as_chunks().0[pair]);
            let b = load_pair(&inputs[lane + 1][block].as_chunks().0[pair]);
            words[2 * pair] = vtrn1q_u64(a, b);
            words[2 * pair + 1] = vtrn2q_u64(a, b);
        }
        words
    }
}

md5_kernel!(
    #[target_feature(enable = "neon")]
    md5_x4,
    u32x4,
    [0]
);
md5_kernel!(#[target_feature(enable = "neon")] md5_x8, u32x4, [0 1]);
md5_kernel!(#[target_feature(enable = "neon")] md5_x12, u32x4, [0 1 2]);
sha1_kernel!(
    #[target_feature(enable = "neon")]
    sha1_x4,
    u32x4
);
sha256_kernel!(
    #[target_feature(enable = "neon")]
    sha256_x4,
    u32x4
);
sha512_kernel!(
    #[target_feature(enable = "neon")]
    sha512_x2,
    u64x2
);
