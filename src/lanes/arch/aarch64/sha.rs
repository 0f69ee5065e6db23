//! The SHA-1 and SHA-256 instructions of ARMv8: one to four messages interleaved.

#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::aarch64::{
    uint32x4_t, vaddq_u32, vdupq_n_u32, vgetq_lane_u32, vld1q_u8, vld1q_u32, vreinterpretq_u32_u8,
    vrev32q_u8, vsha1cq_u32, vsha1h_u32, vsha1mq_u32, vsha1pq_u32, vsha1su0q_u32, vsha1su1q_u32,
    vsha256h2q_u32, vsha256hq_u32, vsha256su0q_u32, vsha256su1q_u32, vst1q_u32,
};

use crate::lanes::arch::groups;
use crate::lanes::kernel::{Bank, Inputs, SHA1_LANES, SHA256_LANES};
use crate::lanes::sha256::CUBE_ROOTS;

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; 4]) -> uint32x4_t {
    // SAFETY: the array has 16 bytes and the alignment of a word.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(vector: uint32x4_t) -> [u32; 4] {
    let mut words = [0; 4];
    // SAFETY: the array has 16 bytes and the alignment of a word.
    unsafe { vst1q_u32(words.as_mut_ptr(), vector) };
    words
}

/// The sixteen big-endian words of a block.
#[inline]
#[target_feature(enable = "neon")]
fn load_block(block: &[u8; 64]) -> [uint32x4_t; 4] {
    let bytes: &[[u8; 16]] = block.as_chunks().0;
    let mut words = [vdupq_n_u32(0); 4];
    for quarter in 0..4 {
        // SAFETY: the array has 16 bytes, and the load needs no alignment.
        let bytes = unsafe { vld1q_u8(bytes[quarter].as_ptr()) };
        words[quarter] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
    }
    words
}

#[derive(Clone, Copy)]
struct State256 {
    abcd: uint32x4_t,
    efgh: uint32x4_t,
}

impl State256 {
    /// Four rounds; `group` is their number, from 0 to 15, and `words` a ring of the last sixteen words.
    #[inline]
    #[target_feature(enable = "sha2")]
    fn four_rounds(&mut self, words: &mut [uint32x4_t; 4], group: usize) {
        let at = group % 4;
        if group >= 4 {
            let (w1, w2, w3) = (
                words[(at + 1) % 4],
                words[(at + 2) % 4],
                words[(at + 3) % 4],
            );
            words[at] = vsha256su1q_u32(vsha256su0q_u32(words[at], w1), w2, w3);
        }
        let sums = vaddq_u32(words[at], load(&CUBE_ROOTS.as_chunks().0[group]));
        let before = self.abcd;
        self.abcd = vsha256hq_u32(self.abcd, self.efgh, sums);
        self.efgh = vsha256h2q_u32(self.efgh, before, sums);
    }
}

#[inline]
#[target_feature(enable = "sha2")]
fn sha256<const N: usize>(
    bank: &mut Bank<u32, 8, SHA256_LANES>,
    inputs: &Inputs<'_, 64, SHA256_LANES>,
    blocks: usize,
) {
    let zero = vdupq_n_u32(0);
    let mut states = [State256 {
        abcd: zero,
        efgh: zero,
    }; N];
    for lane in 0..N {
        let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|word: usize| bank[word][lane]);
        states[lane] = State256 {
            abcd: load(&[a, b, c, d]),
            efgh: load(&[e, f, g, h]),
        };
    }
    for block in 0..blocks {
        let before = states;
        let mut words = [[zero; 4]; N];
        for lane in 0..N {
            words[lane] = load_block(&inputs[lane][block]);
        }
        groups!(GROUP in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
            for lane in 0..N {
                states[lane].four_rounds(&mut words[lane], GROUP);
            }
        });
        for lane in 0..N {
            states[lane].abcd = vaddq_u32(states[lane].abcd, before[lane].abcd);
            states[lane].efgh = vaddq_u32(states[lane].efgh, before[lane].efgh);
        }
    }
    for lane in 0..N {
        let halves = [store(states[lane].abcd), store(states[lane].efgh)];
        for (row, &word) in bank.iter_mut().zip(halves.as_flattened()) {
            row[lane] = word;
        }
    }
}

#[derive(Clone, Copy)]
struct State1 {
    abcd: uint32x4_t,
    e: u32,
}

impl State1 {
    /// Four rounds; `group` is their number, from 0 to 19, and `words` a ring of the last sixteen words.
    #[inline]
    #[target_feature(enable = "sha2")]
    fn four_rounds(&mut self, words: &mut [uint32x4_t; 4], group: usize) {
        const CONSTANTS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];
        let at = group % 4;
        if group >= 4 {
            let (w1, w2, w3) = (
                words[(at + 1) % 4],
                words[(at + 2) % 4],
                words[(at + 3) % 4],
            );
            words[at] = vsha1su1q_u32(vsha1su0q_u32(words[at], w1, w2), w3);
        }
        let sums = vaddq_u32(words[at], vdupq_n_u32(CONSTANTS[group / 5]));
        let next_e = vsha1h_u32(vgetq_lane_u32::<0>(self.abcd));
        self.abcd = match group / 5 {
            0 => vsha1cq_u32(self.abcd, self.e, sums),
            2 => vsha1mq_u32(self.abcd, self.e, sums),
            _ => vsha1pq_u32(self.abcd, self.e, sums),
        };
        self.e = next_e;
    }
}

#[inline]
#[target_feature(enable = "sha2")]
fn sha1<const N: usize>(
    bank: &mut Bank<u32, 5, SHA1_LANES>,
    inputs: &Inputs<'_, 64, SHA1_LANES>,
    blocks: usize,
) {
    let zero = vdupq_n_u32(0);
    let mut states = [State1 { abcd: zero, e: 0 }; N];
    for lane in 0..N {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|word: usize| bank[word][lane]);
        states[lane] = State1 {
            abcd: load(&[a, b, c, d]),
            e,
        };
    }
    for block in 0..blocks {
        let before = states;
        let mut words = [[zero; 4]; N];
        for lane in 0..N {
            words[lane] = load_block(&inputs[lane][block]);
        }
        groups!(GROUP in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19] {
            for lane in 0..N {
                states[lane].four_rounds(&mut words[lane], GROUP);
            }
        });
        for lane in 0..N {
            states[lane].abcd = vaddq_u32(states[lane].abcd, before[lane].abcd);
            states[lane].e = states[lane].e.wrapping_add(before[lane].e);
        }
    }
    for lane in 0..N {
        let [a, b, c, d] = store(states[lane].abcd);
        for (row, word) in bank.iter_mut().zip([a, b, c, d, states[lane].e]) {
            row[lane] = word;
        }
    }
}

macro_rules! interleaved {
    ($($name:ident = $generic:ident::<$count:literal>, $words:literal, $lanes:ident;)*) => {$(
        #[target_feature(enable = "sha2")]
        pub(in crate::lanes) fn $name(
            bank: &mut Bank<u32, $words, $lanes>,
            inputs: &Inputs<'_, 64, $lanes>,
            blocks: usize,
        ) {
            $generic::<$count>(bank, inputs, blocks);
        }
    )*};
}

interleaved! {
    sha1_x1 = sha1::<1>, 5, SHA1_LANES;
    sha1_x2 = sha1::<2>, 5, SHA1_LANES;
    sha1_x3 = sha1::<3>, 5, SHA1_LANES;
    sha1_x4 = sha1::<4>, 5, SHA1_LANES;
    sha256_x1 = sha256::<1>, 8, SHA256_LANES;
    sha256_x2 = sha256::<2>, 8, SHA256_LANES;
    sha256_x3 = sha256::<3>, 8, SHA256_LANES;
    sha256_x4 = sha256::<4>, 8, SHA256_LANES;
}
