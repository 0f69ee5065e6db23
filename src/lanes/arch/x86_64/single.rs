//! One message: the plain rounds with BMI (three-operand rotations and and-not), and SHA-512 with its
//! message schedule in AVX2.

#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_alignr_epi8,
    _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_xor_si256,
};

use crate::lanes::arch::portable::{u32x1, u64x1};
use crate::lanes::kernel::{Bank, Inputs, SHA512_LANES};
use crate::lanes::md5::md5_kernel;
use crate::lanes::sha1::sha1_kernel;
use crate::lanes::sha256::sha256_kernel;
use crate::lanes::sha512::{CUBE_ROOTS, sha512_rounds, sha512_step};

md5_kernel!(
    #[target_feature(enable = "bmi1,bmi2")]
    md5_x1,
    u32x1,
    [0]
);
sha1_kernel!(
    #[target_feature(enable = "bmi1,bmi2")]
    sha1_x1,
    u32x1
);
sha256_kernel!(
    #[target_feature(enable = "bmi1,bmi2")]
    sha256_x1,
    u32x1
);

/// Two words of one block below two of the next.
type Pair = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The constants of two steps, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn both(constants: &[u64; 2]) -> Pair {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    let constants = unsafe { _mm_loadu_si128(constants.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(constants)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [u64; 2], value: __m128i) {
    // SAFETY: the array has 16 bytes, and the store needs no alignment.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), value) }
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

/// Sixteen steps from the sums of words and constants; after those of each pair comes `$after`.
macro_rules! sixteen {
    ($state:ident, $sums:expr, $pair:ident => $after:block) => {
        sixteen!(@ $state, $sums, $pair => $after,
            [(0, 0, 1) (1, 2, 3) (2, 4, 5) (3, 6, 7) (4, 8, 9) (5, 10, 11) (6, 12, 13) (7, 14, 15)]);
    };
    (@ $state:ident, $sums:expr, $pair:ident => $after:block,
     [$(($at:literal, $even:literal, $odd:literal))*]) => {
        $(
            sha512_step!(u64x1, $state, $even, $sums[$at][0]);
            sha512_step!(u64x1, $state, $odd, $sums[$at][1]);
            {
                let $pair: usize = $at;
                $after
            }
        )*
    };
}

/// The schedule of both blocks is computed between the rounds of the first; those of the second then find
/// their sums of words and constants ready.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn two_blocks(mut state: [u64; 8], blocks: &[[u8; 128]; 2]) -> [u64; 8] {
    let constants: &[[[u64; 2]; 8]; 5] = &CONSTANTS;
    let mut now = [[0; 2]; 8];
    let mut later = [[[0; 2]; 8]; 5];
    let mut pairs = load_pairs(blocks);
    for pair in 0..8 {
        let sum = _mm256_add_epi64(pairs[pair], both(&constants[0][pair]));
        store(&mut now[pair], _mm256_castsi256_si128(sum));
        store(&mut later[0][pair], _mm256_extracti128_si256::<1>(sum));
    }
    let before = state;
    for (later, constants) in later[1..].iter_mut().zip(&constants[1..]) {
        sixteen!(state, now, pair => {
            pairs[pair] = expand(&pairs, pair);
            let sum = _mm256_add_epi64(pairs[pair], both(&constants[pair]));
            store(&mut now[pair], _mm256_castsi256_si128(sum));
            store(&mut later[pair], _mm256_extracti128_si256::<1>(sum));
        });
    }
    sixteen!(state, now, _pair => {});
    add(&mut state, before);
    let before = state;
    for later in &later {
        sixteen!(state, later, _pair => {});
    }
    add(&mut state, before);
    state
}

/// The constants by sixteen steps and by two.
static CONSTANTS: [[[u64; 2]; 8]; 5] = {
    let mut constants = [[[0; 2]; 8]; 5];
    let mut step = 0;
    while step < 80 {
        constants[step / 16][step % 16 / 2][step % 2] = CUBE_ROOTS[step];
        step += 1;
    }
    constants
};

#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn one_block(
    mut state: [u64; 8],
    inputs: &Inputs<'_, 128, SHA512_LANES>,
    block: usize,
) -> [u64; 8] {
    let mut words = u64x1::load_be(inputs, 0, block);
    let before = state;
    sha512_rounds!(u64x1, state, words);
    add(&mut state, before);
    state
}

#[inline(always)]
fn add(state: &mut [u64; 8], before: [u64; 8]) {
    for i in 0..8 {
        state[i] = state[i].wrapping_add(before[i]);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in crate::lanes) fn sha512_x1(
    bank: &mut Bank<u64, 8, SHA512_LANES>,
    inputs: &Inputs<'_, 128, SHA512_LANES>,
    blocks: usize,
) {
    let mut state = [0; 8];
    for word in 0..8 {
        state[word] = bank[word][0];
    }
    for blocks in inputs[0][..blocks].as_chunks().0 {
        state = two_blocks(state, blocks);
    }
    if blocks % 2 == 1 {
        state = one_block(state, inputs, blocks - 1);
    }
    for word in 0..8 {
        bank[word][0] = state[word];
    }
}
