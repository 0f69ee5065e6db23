//! The SHA-512 instructions of ARMv8.2: one to four messages interleaved.

#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::aarch64::{
    uint64x2_t, vaddq_u64, vdupq_n_u64, vextq_u64, vld1q_u8, vld1q_u64, vreinterpretq_u64_u8,
    vrev64q_u8, vsha512h2q_u64, vsha512hq_u64, vsha512su0q_u64, vsha512su1q_u64, vst1q_u64,
};

use crate::lanes::arch::groups;
use crate::lanes::kernel::{Bank, Inputs, SHA512_LANES};
use crate::lanes::sha512::CUBE_ROOTS;

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u64; 2]) -> uint64x2_t {
    // SAFETY: the array has 16 bytes and the alignment of a word.
    unsafe { vld1q_u64(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(vector: uint64x2_t) -> [u64; 2] {
    let mut words = [0; 2];
    // SAFETY: the array has 16 bytes and the alignment of a word.
    unsafe { vst1q_u64(words.as_mut_ptr(), vector) };
    words
}

/// The sixteen big-endian words of a block.
#[inline]
#[target_feature(enable = "neon")]
fn load_block(block: &[u8; 128]) -> [uint64x2_t; 8] {
    let bytes: &[[u8; 16]] = block.as_chunks().0;
    let mut words = [vdupq_n_u64(0); 8];
    for pair in 0..8 {
        // SAFETY: the array has 16 bytes, and the load needs no alignment.
        let bytes = unsafe { vld1q_u8(bytes[pair].as_ptr()) };
        words[pair] = vreinterpretq_u64_u8(vrev64q_u8(bytes));
    }
    words
}

/// The last word of one vector and the first of the next.
#[inline]
#[target_feature(enable = "neon")]
fn straddle(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
    vextq_u64::<1>(a, b)
}

/// The words A and B, C and D, E and F, G and H.
type State = [uint64x2_t; 4];

/// Two rounds; `pair` is their number, from 0 to 39, and `words` a ring of the last sixteen words.
#[inline]
#[target_feature(enable = "neon,sha3")]
fn two_rounds(state: &mut State, words: &mut [uint64x2_t; 8], pair: usize) {
    let at = pair % 8;
    if pair >= 8 {
        let late = straddle(words[(at + 4) % 8], words[(at + 5) % 8]);
        let sum = vsha512su0q_u64(words[at], words[(at + 1) % 8]);
        words[at] = vsha512su1q_u64(sum, words[(at + 7) % 8], late);
    }
    let sums = vaddq_u64(words[at], load(&CUBE_ROOTS.as_chunks().0[pair]));
    let [ab, cd, ef, gh] = *state;
    let sums = vaddq_u64(gh, straddle(sums, sums));
    let sums = vsha512hq_u64(sums, straddle(ef, gh), straddle(cd, ef));
    *state = [vsha512h2q_u64(sums, cd, ab), ab, vaddq_u64(cd, sums), ef];
}

#[inline]
#[target_feature(enable = "neon,sha3")]
fn sha512<const N: usize>(
    bank: &mut Bank<u64, 8, SHA512_LANES>,
    inputs: &Inputs<'_, 128, SHA512_LANES>,
    blocks: usize,
) {
    let mut states = [[vdupq_n_u64(0); 4]; N];
    for lane in 0..N {
        for pair in 0..4 {
            states[lane][pair] = load(&[bank[2 * pair][lane], bank[2 * pair + 1][lane]]);
        }
    }
    for block in 0..blocks {
        let before = states;
        let mut words = [[vdupq_n_u64(0); 8]; N];
        for lane in 0..N {
            words[lane] = load_block(&inputs[lane][block]);
        }
        groups!(PAIR in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
                         20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39] {
            for lane in 0..N {
                two_rounds(&mut states[lane], &mut words[lane], PAIR);
            }
        });
        for lane in 0..N {
            for pair in 0..4 {
                states[lane][pair] = vaddq_u64(states[lane][pair], before[lane][pair]);
            }
        }
    }
    for lane in 0..N {
        for pair in 0..4 {
            [bank[2 * pair][lane], bank[2 * pair + 1][lane]] = store(states[lane][pair]);
        }
    }
}

macro_rules! interleaved {
    ($($name:ident = $count:literal;)*) => {$(
        #[target_feature(enable = "neon,sha3")]
        pub(in crate::lanes) fn $name(
            bank: &mut Bank<u64, 8, SHA512_LANES>,
            inputs: &Inputs<'_, 128, SHA512_LANES>,
            blocks: usize,
        ) {
            sha512::<$count>(bank, inputs, blocks);
        }
    )*};
}

interleaved! {
    sha512_x1 = 1;
    sha512_x2 = 2;
    sha512_x3 = 3;
    sha512_x4 = 4;
}
