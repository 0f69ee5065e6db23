//! The SHA instructions: one to four messages interleaved, since one alone waits for its own results.

#![expect(unsafe_code, reason = "loads")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_loadu_si128, _mm_set_epi32,
    _mm_set_epi64x, _mm_setzero_si128, _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32,
    _mm_sha1rnds4_epu32, _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32,
    _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_xor_si128,
};

use crate::lanes::arch::groups;
use crate::lanes::kernel::{Bank, Inputs, SHA1_LANES, SHA256_LANES};
use crate::lanes::sha256::CUBE_ROOTS;

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn load_constants(first: usize) -> __m128i {
    let words: &[u32; 4] = &CUBE_ROOTS.as_chunks().0[first / 4];
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// The words of a SHA-256 state as the instructions want them: A, B, E, F and C, D, G, H, first word
/// highest.
#[derive(Clone, Copy)]
pub(super) struct State256 {
    abef: __m128i,
    cdgh: __m128i,
}

impl State256 {
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn load(word: [u32; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = word.map(u32::cast_signed);
        Self {
            abef: _mm_set_epi32(a, b, e, f),
            cdgh: _mm_set_epi32(c, d, g, h),
        }
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn words(self) -> [u32; 8] {
        [
            _mm_extract_epi32::<3>(self.abef),
            _mm_extract_epi32::<2>(self.abef),
            _mm_extract_epi32::<3>(self.cdgh),
            _mm_extract_epi32::<2>(self.cdgh),
            _mm_extract_epi32::<1>(self.abef),
            _mm_extract_epi32::<0>(self.abef),
            _mm_extract_epi32::<1>(self.cdgh),
            _mm_extract_epi32::<0>(self.cdgh),
        ]
        .map(i32::cast_unsigned)
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            abef: _mm_add_epi32(self.abef, other.abef),
            cdgh: _mm_add_epi32(self.cdgh, other.cdgh),
        }
    }

    /// A vector that every round depends on.
    #[inline(always)]
    pub(super) fn first_mut(&mut self) -> &mut __m128i {
        &mut self.abef
    }

    /// Two rounds from the lower two sums of word and constant.
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn two_rounds(&mut self, sums: __m128i) {
        let abef = _mm_sha256rnds2_epu32(self.cdgh, self.abef, sums);
        self.cdgh = self.abef;
        self.abef = abef;
    }
}

/// The sums of word and constant for four rounds, of which `group` is the number, from 0 to 15.
///
/// `words` are the last sixteen words of the expanded block, in a ring of four.
#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn sums_256(words: &mut [__m128i; 4], group: usize) -> __m128i {
    let at = group % 4;
    if group >= 4 {
        let (w1, w2, w3) = (
            words[(at + 1) % 4],
            words[(at + 2) % 4],
            words[(at + 3) % 4],
        );
        let mixed = _mm_sha256msg1_epu32(words[at], w1);
        let sum = _mm_add_epi32(mixed, _mm_alignr_epi8::<4>(w3, w2));
        words[at] = _mm_sha256msg2_epu32(sum, w3);
    }
    _mm_add_epi32(words[at], load_constants(4 * group))
}

/// The upper two of four sums, brought to the place from which rounds take them.
#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn upper(sums: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0x0e>(sums)
}

/// The sixteen words of a SHA-256 block.
#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn load_block_256(block: &[u8; 64]) -> [__m128i; 4] {
    let reverse = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    let [a, b, c, d] = quarters(block);
    [
        _mm_shuffle_epi8(load_bytes(a), reverse),
        _mm_shuffle_epi8(load_bytes(b), reverse),
        _mm_shuffle_epi8(load_bytes(c), reverse),
        _mm_shuffle_epi8(load_bytes(d), reverse),
    ]
}

#[inline(always)]
fn quarters(block: &[u8; 64]) -> [&[u8; 16]; 4] {
    let quarters = block.as_chunks().0;
    [&quarters[0], &quarters[1], &quarters[2], &quarters[3]]
}

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn sha256<const N: usize>(
    bank: &mut Bank<u32, 8, SHA256_LANES>,
    inputs: &Inputs<'_, 64, SHA256_LANES>,
    blocks: usize,
) {
    let mut states = [State256::load([0; 8]); N];
    for lane in 0..N {
        states[lane] = State256::load(column(bank, lane));
    }
    for block in 0..blocks {
        let before = states;
        let mut words = [[_mm_setzero_si128(); 4]; N];
        for lane in 0..N {
            words[lane] = load_block_256(&inputs[lane][block]);
        }
        groups!(GROUP in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
            let mut sums = [_mm_setzero_si128(); N];
            for lane in 0..N {
                sums[lane] = sums_256(&mut words[lane], GROUP);
            }
            for lane in 0..N {
                states[lane].two_rounds(sums[lane]);
            }
            for lane in 0..N {
                states[lane].two_rounds(upper(sums[lane]));
            }
        });
        for lane in 0..N {
            states[lane] = states[lane].add(before[lane]);
        }
    }
    for lane in 0..N {
        set_column(bank, lane, states[lane].words());
    }
}

#[inline(always)]
fn column<const WORDS: usize, const LANES: usize>(
    bank: &Bank<u32, WORDS, LANES>,
    lane: usize,
) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (word, row) in words.iter_mut().zip(bank) {
        *word = row[lane];
    }
    words
}

#[inline(always)]
fn set_column<const WORDS: usize, const LANES: usize>(
    bank: &mut Bank<u32, WORDS, LANES>,
    lane: usize,
    words: [u32; WORDS],
) {
    for (row, word) in bank.iter_mut().zip(words) {
        row[lane] = word;
    }
}

/// The words of a SHA-1 state as the instructions want them: A, B, C, D, and E in the highest word.
///
/// Between groups of rounds, E is an earlier A that `sha1nexte` has still to rotate.
#[derive(Clone, Copy)]
pub(super) struct State1 {
    abcd: __m128i,
    e: __m128i,
}

impl State1 {
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn load(words: [u32; 5]) -> Self {
        let [a, b, c, d, e] = words.map(u32::cast_signed);
        Self {
            abcd: _mm_set_epi32(a, b, c, d),
            e: _mm_set_epi32(e, 0, 0, 0),
        }
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn words(self) -> [u32; 5] {
        [
            _mm_extract_epi32::<3>(self.abcd),
            _mm_extract_epi32::<2>(self.abcd),
            _mm_extract_epi32::<1>(self.abcd),
            _mm_extract_epi32::<0>(self.abcd),
            _mm_extract_epi32::<3>(self.e),
        ]
        .map(i32::cast_unsigned)
    }

    /// Adds the state before the block. `self` is as the last group left it.
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn add(self, before: Self) -> Self {
        Self {
            abcd: _mm_add_epi32(self.abcd, before.abcd),
            e: _mm_sha1nexte_epu32(self.e, before.e),
        }
    }

    /// A vector that every round depends on.
    #[inline(always)]
    pub(super) fn first_mut(&mut self) -> &mut __m128i {
        &mut self.abcd
    }

    /// Four rounds; `group` is a twentieth of the 80 rounds, `MIX` the quarter that it is in.
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn four_rounds<const MIX: i32>(&mut self, words: &mut [__m128i; 4], group: usize) {
        let at = group % 4;
        if group >= 4 {
            let w1 = words[(at + 1) % 4];
            let w2 = words[(at + 2) % 4];
            let w3 = words[(at + 3) % 4];
            let mixed = _mm_xor_si128(_mm_sha1msg1_epu32(words[at], w1), w2);
            words[at] = _mm_sha1msg2_epu32(mixed, w3);
        }
        let sum = if group == 0 {
            _mm_add_epi32(self.e, words[0])
        } else {
            _mm_sha1nexte_epu32(self.e, words[at])
        };
        self.e = self.abcd;
        self.abcd = _mm_sha1rnds4_epu32::<MIX>(self.abcd, sum);
    }
}

/// The sixteen words of a SHA-1 block, the first of each four highest.
#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn load_block_1(block: &[u8; 64]) -> [__m128i; 4] {
    let reverse = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    let [a, b, c, d] = quarters(block);
    [
        _mm_shuffle_epi8(load_bytes(a), reverse),
        _mm_shuffle_epi8(load_bytes(b), reverse),
        _mm_shuffle_epi8(load_bytes(c), reverse),
        _mm_shuffle_epi8(load_bytes(d), reverse),
    ]
}

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn sha1<const N: usize>(
    bank: &mut Bank<u32, 5, SHA1_LANES>,
    inputs: &Inputs<'_, 64, SHA1_LANES>,
    blocks: usize,
) {
    let mut states = [State1::load([0; 5]); N];
    for lane in 0..N {
        states[lane] = State1::load(column(bank, lane));
    }
    for block in 0..blocks {
        let before = states;
        let mut words = [[_mm_setzero_si128(); 4]; N];
        for lane in 0..N {
            words[lane] = load_block_1(&inputs[lane][block]);
        }
        macro_rules! quarter {
            ($mix:literal, $groups:tt) => {
                groups!(GROUP in $groups {
                    for lane in 0..N {
                        states[lane].four_rounds::<$mix>(&mut words[lane], GROUP);
                    }
                });
            };
        }
        quarter!(0, [0 1 2 3 4]);
        quarter!(1, [5 6 7 8 9]);
        quarter!(2, [10 11 12 13 14]);
        quarter!(3, [15 16 17 18 19]);
        for lane in 0..N {
            states[lane] = states[lane].add(before[lane]);
        }
    }
    for lane in 0..N {
        set_column(bank, lane, states[lane].words());
    }
}

macro_rules! interleaved {
    ($($name:ident = $generic:ident::<$count:literal>, $words:literal, $lanes:ident;)*) => {$(
        #[target_feature(enable = "sha,sse4.1,ssse3")]
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
