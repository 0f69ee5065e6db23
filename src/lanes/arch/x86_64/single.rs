//! One message: the plain rounds with BMI (three-operand rotations and and-not), and SHA-512 with its
//! message schedule in AVX2.

#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi64, _mm256_alignr_epi8,
    _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_setr_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_xor_si256,
};

use crate::lanes::arch::portable::{u32x1, u64x1};
use crate::lanes::kernel::{Bank, Inputs, SHA512_LANES};
use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::{CUBE_ROOTS, sha512_rounds, sha512_step};

md5_kernel!(#[target_feature(enable = "bmi1,bmi2")] md5_x1, u32x1, [0]);
sha1_kernel!(#[target_feature(enable = "bmi1,bmi2")] sha1_x1, u32x1);
sha256_kernel!(#[target_feature(enable = "bmi1,bmi2")] sha256_x1, u32x1);

/// Two words of one block below two of the next.
type Pair = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The constants of steps `2 * pair` and the next, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn constants(pair: usize) -> Pair {
    let words: &[u64; 2] = &CUBE_ROOTS.as_chunks().0[pair];
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    let words = unsafe { _mm_loadu_si128(words.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(words)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [u64; 4], value: Pair) {
    // SAFETY: the array has 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_pairs(blocks: &[[u8; 128]; 2]) -> [Pair; 8] {
    let reverse = _mm256_setr_epi8(
        7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, //
        7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
    );
    let [low, high] = [blocks[0].as_chunks().0, blocks[1].as_chunks().0];
    let mut pairs = [_mm256_setzero_si256(); 8];
    for pair in 0..8 {
        let low = _mm256_castsi128_si256(load_16(&low[pair]));
        let both = _mm256_inserti128_si256::<1>(low, load_16(&high[pair]));
        pairs[pair] = _mm256_shuffle_epi8(both, reverse);
    }
    pairs
}

/// The two words that follow the sixteen in `pairs`, of which number `2 * at` is the oldest.
#[inline]
#[target_feature(enable = "avx2")]
fn expand(pairs: &[Pair; 8], at: usize) -> Pair {
    let pair = |i: usize| pairs[(at + i) % 8];
    let old = _mm256_alignr_epi8::<8>(pair(1), pair(0));
    let late = pair(7);
    let sum = _mm256_add_epi64(pair(0), _mm256_alignr_epi8::<8>(pair(5), pair(4)));
    let old = xor5(
        _mm256_srli_epi64::<1>(old),
        _mm256_slli_epi64::<63>(old),
        _mm256_srli_epi64::<8>(old),
        _mm256_slli_epi64::<56>(old),
        _mm256_srli_epi64::<7>(old),
    );
    let late = xor5(
        _mm256_srli_epi64::<19>(late),
        _mm256_slli_epi64::<45>(late),
        _mm256_srli_epi64::<61>(late),
        _mm256_slli_epi64::<3>(late),
        _mm256_srli_epi64::<6>(late),
    );
    _mm256_add_epi64(_mm256_add_epi64(sum, old), late)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor5(a: Pair, b: Pair, c: Pair, d: Pair, e: Pair) -> Pair {
    let ab = _mm256_xor_si256(a, b);
    _mm256_xor_si256(_mm256_xor_si256(ab, _mm256_xor_si256(c, d)), e)
}

/// Steps 0 to 15 of a block from the sums of words and constants; `half` 0 is the first block.
macro_rules! sixteen {
    ($state:ident, $sums:expr, $half:expr, $pair:ident => $between:block) => {
        sixteen!(@ $state, $sums, $half, $pair => $between,
            [(0, 0, 1) (1, 2, 3) (2, 4, 5) (3, 6, 7) (4, 8, 9) (5, 10, 11) (6, 12, 13) (7, 14, 15)]);
    };
    (@ $state:ident, $sums:expr, $half:expr, $pair:ident => $between:block,
     [$(($at:literal, $even:literal, $odd:literal))*]) => {
        $(
            {
                let $pair: usize = $at;
                $between
            }
            sha512_step!(u64x1, $state, $even, $sums[$at][2 * $half]);
            sha512_step!(u64x1, $state, $odd, $sums[$at][2 * $half + 1]);
        )*
    };
}

/// The schedule of both blocks is computed between the rounds of the first; those of the second then find
/// their sums of words and constants ready.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn two_blocks(mut state: [u64; 8], blocks: &[[u8; 128]; 2]) -> [u64; 8] {
    let mut sums = [[[0; 4]; 8]; 5];
    let mut pairs = load_pairs(blocks);
    for pair in 0..8 {
        store(&mut sums[0][pair], _mm256_add_epi64(pairs[pair], constants(pair)));
    }
    let before = state;
    for group in 0..4 {
        let [now, next] = [group, group + 1];
        sixteen!(state, sums[now], 0, pair => {
            pairs[pair] = expand(&pairs, pair);
            store(&mut sums[next][pair], _mm256_add_epi64(pairs[pair], constants(8 * next + pair)));
        });
    }
    sixteen!(state, sums[4], 0, _pair => {});
    add(&mut state, before);
    let before = state;
    for sums in &sums {
        sixteen!(state, sums, 1, _pair => {});
    }
    add(&mut state, before);
    state
}

#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn one_block(mut state: [u64; 8], inputs: &Inputs<'_, 128, SHA512_LANES>, block: usize) -> [u64; 8] {
    let mut words = u64x1::load_be(inputs, 0, block);
    let before = state;
    sha512_rounds!(u64x1, state, words);
    add(&mut state, before);
    state
}

fn add(state: &mut [u64; 8], before: [u64; 8]) {
    for (word, before) in state.iter_mut().zip(before) {
        *word = word.wrapping_add(before);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in crate::lanes) fn sha512_x1(
    bank: &mut Bank<u64, 8, SHA512_LANES>,
    inputs: &Inputs<'_, 128, SHA512_LANES>,
    blocks: usize,
) {
    let mut state = [0; 8];
    for (word, row) in state.iter_mut().zip(bank.iter()) {
        *word = row[0];
    }
    for blocks in inputs[0][..blocks].as_chunks().0 {
        state = two_blocks(state, blocks);
    }
    if blocks % 2 == 1 {
        state = one_block(state, inputs, blocks - 1);
    }
    for (row, word) in bank.iter_mut().zip(state) {
        row[0] = word;
    }
}
