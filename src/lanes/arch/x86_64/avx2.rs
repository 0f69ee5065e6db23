//! AVX2: eight lanes of 32-bit words, four of 64-bit words.

#![expect(unsafe_code, reason = "loads, stores, and the barrier")]

use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::sha512_kernel;

/// What words of both widths have in common.
macro_rules! operations {
    ($word:ty, $add:ident, $shift_left:ident, $shift_right:ident) => {
        use std::arch::x86_64::{
            __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_andnot_si256,
            _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_or_si256, _mm256_set1_epi32,
            _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_loadu_si256, _mm256_storeu_si256,
            _mm256_xor_si256, $add, $shift_left, $shift_right,
        };

        pub(super) type V = __m256i;
        pub(super) const LANES: usize = 32 / size_of::<$word>();

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn load_row(row: &[$word], lane: usize) -> V {
            let row = &row[lane..lane + LANES];
            // SAFETY: the slice has 32 bytes, and the load needs no alignment.
            unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn store_row(row: &mut [$word], lane: usize, value: V) {
            let row = &mut row[lane..lane + LANES];
            // SAFETY: the slice has 32 bytes, and the store needs no alignment.
            unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), value) }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn load_half(bytes: &[u8; 16]) -> __m128i {
            // SAFETY: the array has 16 bytes, and the load needs no alignment.
            unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
        }

        /// Sixteen bytes of one lane below sixteen of another.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn load_halves(low: &[u8; 16], high: &[u8; 16]) -> V {
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load_half(low)), load_half(high))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn add(a: V, b: V) -> V {
            $add(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        #[allow(dead_code, reason = "not every family asks for it")]
        pub(super) fn xor(a: V, b: V) -> V {
            _mm256_xor_si256(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn xor3(a: V, b: V, c: V) -> V {
            _mm256_xor_si256(_mm256_xor_si256(b, c), a)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn choose(mask: V, yes: V, no: V) -> V {
            _mm256_xor_si256(no, _mm256_and_si256(mask, _mm256_xor_si256(yes, no)))
        }

        /// `sum + choose(mask, yes, no)`, with `yes` as near to the end as can be.
        #[inline]
        #[target_feature(enable = "avx2")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
            let sum = barrier($add(sum, _mm256_andnot_si256(mask, no)));
            $add(sum, _mm256_and_si256(mask, yes))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn majority(a: V, b: V, c: V) -> V {
            // `a ^ b` is the next step's `b ^ c`.
            let (ab, bc) = (_mm256_xor_si256(a, b), _mm256_xor_si256(b, c));
            _mm256_xor_si256(b, _mm256_and_si256(ab, bc))
        }

        /// `a ^ (b | !c)`.
        #[inline]
        #[target_feature(enable = "avx2")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn xor_or_not(a: V, b: V, c: V) -> V {
            let not_c = _mm256_xor_si256(c, _mm256_set1_epi32(-1));
            _mm256_xor_si256(a, _mm256_or_si256(b, not_c))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn rotl<const LEFT: i32, const RIGHT: i32>(a: V) -> V {
            const { assert!(LEFT + RIGHT == 8 * size_of::<$word>() as i32) };
            _mm256_or_si256($shift_left::<LEFT>(a), $shift_right::<RIGHT>(a))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn shr<const RIGHT: i32>(a: V) -> V {
            $shift_right::<RIGHT>(a)
        }

        /// The same vector, as one that LLVM knows nothing about.
        #[inline]
        #[target_feature(enable = "avx2")]
        #[allow(unused_mut, reason = "Miri leaves it as it is")]
        pub(super) fn barrier(a: V) -> V {
            let mut a = a;
            #[cfg(not(miri))]
            // SAFETY: there are no instructions in it.
            unsafe {
                std::arch::asm!("/* {0} */", inout(ymm_reg) a, options(pure, nomem, nostack, preserves_flags));
            }
            a
        }
    };
}

mod u32x8 {
    use std::arch::x86_64::{
        _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };

    operations!(u32, _mm256_add_epi32, _mm256_slli_epi32, _mm256_srli_epi32);

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(value: u32) -> V {
        _mm256_set1_epi32(value.cast_signed())
    }

    /// Lane `i` and lane `i + 4` share a vector, so that the words need not cross its halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load_le(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = [splat(0); 16];
        for quarter in 0..4 {
            let mut rows = [splat(0); 4];
            for i in 0..4 {
                let low = &inputs[lane + i][block].as_chunks().0[quarter];
                let high = &inputs[lane + i + 4][block].as_chunks().0[quarter];
                rows[i] = load_halves(low, high);
            }
            let [a, b, c, d] = rows;
            let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            words[4 * quarter] = _mm256_unpacklo_epi64(ab_low, cd_low);
            words[4 * quarter + 1] = _mm256_unpackhi_epi64(ab_low, cd_low);
            words[4 * quarter + 2] = _mm256_unpacklo_epi64(ab_high, cd_high);
            words[4 * quarter + 3] = _mm256_unpackhi_epi64(ab_high, cd_high);
        }
        words
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load_be(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = load_le(inputs, lane, block);
        let reverse = _mm256_setr_epi8(
            3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, //
            3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
        );
        for word in &mut words {
            *word = _mm256_shuffle_epi8(*word, reverse);
        }
        words
    }
}

mod u64x4 {
    use std::arch::x86_64::{_mm256_set1_epi64x, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64};

    operations!(u64, _mm256_add_epi64, _mm256_slli_epi64, _mm256_srli_epi64);

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(value: u64) -> V {
        _mm256_set1_epi64x(value.cast_signed())
    }

    /// Lane `i` and lane `i + 2` share a vector, so that the words need not cross its halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load_be(inputs: &[&[[u8; 128]]], lane: usize, block: usize) -> [V; 16] {
        let reverse = _mm256_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, //
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
        );
        let mut words = [splat(0); 16];
        for pair in 0..8 {
            let mut rows = [splat(0); 2];
            for i in 0..2 {
                let low = &inputs[lane + i][block].as_chunks().0[pair];
                let high = &inputs[lane + i + 2][block].as_chunks().0[pair];
                rows[i] = _mm256_shuffle_epi8(load_halves(low, high), reverse);
            }
            let [a, b] = rows;
            words[2 * pair] = _mm256_unpacklo_epi64(a, b);
            words[2 * pair + 1] = _mm256_unpackhi_epi64(a, b);
        }
        words
    }
}

// Lanes 0, 1, 2, 3, 4 … of a vector hold messages 0, 1, 2, 3 and 4 … of the bank: halves were loaded so
// that the order is kept.
md5_kernel!(
    #[target_feature(enable = "avx2")]
    md5_x8,
    u32x8,
    [0]
);
md5_kernel!(#[target_feature(enable = "avx2")] md5_x16, u32x8, [0 1]);
md5_kernel!(#[target_feature(enable = "avx2")] md5_x24, u32x8, [0 1 2]);
sha1_kernel!(
    #[target_feature(enable = "avx2")]
    sha1_x8,
    u32x8
);
sha256_kernel!(
    #[target_feature(enable = "avx2")]
    sha256_x8,
    u32x8
);
sha512_kernel!(
    #[target_feature(enable = "avx2")]
    sha512_x4,
    u64x4
);
