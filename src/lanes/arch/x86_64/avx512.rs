//! AVX-512: sixteen lanes of 32-bit words, eight of 64-bit words.
//!
//! Rotations are single instructions here, and so is every function of three bits.

#![expect(unsafe_code, reason = "loads, stores, and the barrier")]

use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::sha512_kernel;

/// What words of both widths have in common.
macro_rules! operations {
    ($word:ty, $add:ident, $rotate:ident, $shift_right:ident) => {
        use std::arch::x86_64::{
            __m128i, __m512i, _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_castsi128_si512,
            _mm512_inserti32x4, _mm512_loadu_si512, _mm512_shuffle_epi8, _mm512_storeu_si512,
            _mm512_xor_si512, _mm_set_epi64x, _mm512_ternarylogic_epi32, $add, $rotate, $shift_right,
        };

        pub(super) type V = __m512i;
        pub(super) const LANES: usize = 64 / size_of::<$word>();

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn load_row(row: &[$word], lane: usize) -> V {
            let row = &row[lane..lane + LANES];
            // SAFETY: the slice has 64 bytes, and the load needs no alignment.
            unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn store_row(row: &mut [$word], lane: usize, value: V) {
            let row = &mut row[lane..lane + LANES];
            // SAFETY: the slice has 64 bytes, and the store needs no alignment.
            unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), value) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn load_quarter(bytes: &[u8; 16]) -> __m128i {
            // SAFETY: the array has 16 bytes, and the load needs no alignment.
            unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
        }

        /// Sixteen bytes of each of four lanes, the first lane's lowest.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn load_quarters(a: &[u8; 16], b: &[u8; 16], c: &[u8; 16], d: &[u8; 16]) -> V {
            let row = _mm512_castsi128_si512(load_quarter(a));
            let row = _mm512_inserti32x4::<1>(row, load_quarter(b));
            let row = _mm512_inserti32x4::<2>(row, load_quarter(c));
            _mm512_inserti32x4::<3>(row, load_quarter(d))
        }

        /// The same order of bytes in every quarter, given by its upper and lower half.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn shuffle(row: V, upper: i64, lower: i64) -> V {
            _mm512_shuffle_epi8(row, _mm512_broadcast_i32x4(_mm_set_epi64x(upper, lower)))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn add(a: V, b: V) -> V {
            $add(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        #[allow(dead_code, reason = "SHA-1 alone asks for it")]
        pub(super) fn xor(a: V, b: V) -> V {
            _mm512_xor_si512(a, b)
        }

        // The constants below are the results for a, b, c = 000, 001, … 111, the last one highest.

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn xor3(a: V, b: V, c: V) -> V {
            _mm512_ternarylogic_epi32::<0b1001_0110>(a, b, c)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn choose(mask: V, yes: V, no: V) -> V {
            _mm512_ternarylogic_epi32::<0b1100_1010>(mask, yes, no)
        }

        /// `sum + choose(mask, yes, no)`.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn add_choice(sum: V, mask: V, yes: V, no: V) -> V {
            $add(sum, choose(mask, yes, no))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn majority(a: V, b: V, c: V) -> V {
            _mm512_ternarylogic_epi32::<0b1110_1000>(a, b, c)
        }

        /// `a ^ (b | !c)`.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        #[allow(dead_code, reason = "MD5 alone asks for it")]
        pub(super) fn xor_or_not(a: V, b: V, c: V) -> V {
            _mm512_ternarylogic_epi32::<0b0010_1101>(a, b, c)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn rotl<const LEFT: i32, const RIGHT: i32>(a: V) -> V {
            const { assert!(LEFT + RIGHT == 8 * size_of::<$word>() as i32) };
            $rotate::<LEFT>(a)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        #[allow(dead_code, reason = "SHA-2 alone asks for it")]
        pub(super) fn shr<const RIGHT: u32>(a: V) -> V {
            $shift_right::<RIGHT>(a)
        }

        /// The same vector, as one that LLVM knows nothing about.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        #[allow(unused_mut, reason = "Miri leaves it as it is")]
        pub(super) fn barrier(a: V) -> V {
            let mut a = a;
            #[cfg(not(miri))]
            // SAFETY: there are no instructions in it.
            unsafe {
                std::arch::asm!("/* {0} */", inout(zmm_reg) a, options(pure, nomem, nostack, preserves_flags));
            }
            a
        }
    };
}

mod u32x16 {
    use std::arch::x86_64::{
        _mm512_set1_epi32, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
        _mm512_unpacklo_epi64,
    };

    operations!(u32, _mm512_add_epi32, _mm512_rol_epi32, _mm512_srli_epi32);

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn splat(value: u32) -> V {
        _mm512_set1_epi32(value.cast_signed())
    }

    /// Lanes `i`, `i + 4`, `i + 8` and `i + 12` share a vector, so that the words need not cross its
    /// quarters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn load_le(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = [splat(0); 16];
        for quarter in 0..4 {
            let mut rows = [splat(0); 4];
            for i in 0..4 {
                rows[i] = load_quarters(
                    &inputs[lane + i][block].as_chunks().0[quarter],
                    &inputs[lane + i + 4][block].as_chunks().0[quarter],
                    &inputs[lane + i + 8][block].as_chunks().0[quarter],
                    &inputs[lane + i + 12][block].as_chunks().0[quarter],
                );
            }
            let [a, b, c, d] = rows;
            let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            words[4 * quarter] = _mm512_unpacklo_epi64(ab_low, cd_low);
            words[4 * quarter + 1] = _mm512_unpackhi_epi64(ab_low, cd_low);
            words[4 * quarter + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
            words[4 * quarter + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
        }
        words
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn load_be(inputs: &[&[[u8; 64]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = load_le(inputs, lane, block);
        for word in 0..16 {
            words[word] = shuffle(words[word], 0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        }
        words
    }
}

mod u64x8 {
    use std::arch::x86_64::{_mm512_set1_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64};

    operations!(u64, _mm512_add_epi64, _mm512_rol_epi64, _mm512_srli_epi64);

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn splat(value: u64) -> V {
        _mm512_set1_epi64(value.cast_signed())
    }

    /// Lanes `i`, `i + 2`, `i + 4` and `i + 6` share a vector, so that the words need not cross its
    /// quarters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn load_be(inputs: &[&[[u8; 128]]], lane: usize, block: usize) -> [V; 16] {
        let mut words = [splat(0); 16];
        for pair in 0..8 {
            let mut rows = [splat(0); 2];
            for i in 0..2 {
                let row = load_quarters(
                    &inputs[lane + i][block].as_chunks().0[pair],
                    &inputs[lane + i + 2][block].as_chunks().0[pair],
                    &inputs[lane + i + 4][block].as_chunks().0[pair],
                    &inputs[lane + i + 6][block].as_chunks().0[pair],
                );
                rows[i] = shuffle(row, 0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
            }
            let [a, b] = rows;
            words[2 * pair] = _mm512_unpacklo_epi64(a, b);
            words[2 * pair + 1] = _mm512_unpackhi_epi64(a, b);
        }
        words
    }
}

md5_kernel!(
    #[target_feature(enable = "avx512f,avx512bw")]
    md5_x16,
    u32x16,
    [0]
);
md5_kernel!(#[target_feature(enable = "avx512f,avx512bw")] md5_x32, u32x16, [0 1]);
md5_kernel!(#[target_feature(enable = "avx512f,avx512bw")] md5_x48, u32x16, [0 1 2]);
sha1_kernel!(
    #[target_feature(enable = "avx512f,avx512bw")]
    sha1_x16,
    u32x16
);
sha256_kernel!(
    #[target_feature(enable = "avx512f,avx512bw")]
    sha256_x16,
    u32x16
);
sha512_kernel!(
    #[target_feature(enable = "avx512f,avx512bw")]
    sha512_x8,
    u64x8
);
