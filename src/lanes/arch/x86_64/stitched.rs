//! Several algorithms over one message: MD5 in the integer units, SHA-1 and SHA-256 in the SHA unit.
//!
//! MD5 is one long chain of dependent operations that leaves most of the core idle; the two SHA fit into the
//! gaps, so that all three cost little more than MD5 alone.

#![expect(unsafe_code, reason = "assembly, though an empty piece of it")]

use std::arch::x86_64::{__m128i, _mm_setzero_si128};

use super::sha_ni::{State1, State256, load_block_1, load_block_256, sums_256, upper};
use crate::lanes::arch::portable::u32x1;
use crate::lanes::md5::md5_rounds;

/// Advances the states by the blocks; those that are `None` cost nothing.
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(in crate::lanes) fn md5_sha1_sha256(
    md5: &mut [u32; 4],
    sha1: Option<&mut [u32; 5]>,
    sha256: Option<&mut [u32; 8]>,
    blocks: &[[u8; 64]],
) {
    match (sha1, sha256) {
        (Some(sha1), Some(sha256)) => stitched::<true, true>(md5, sha1, sha256, blocks),
        (Some(sha1), None) => stitched::<true, false>(md5, sha1, &mut [0; 8], blocks),
        (None, Some(sha256)) => stitched::<false, true>(md5, &mut [0; 5], sha256, blocks),
        (None, None) => stitched::<false, false>(md5, &mut [0; 5], &mut [0; 8], blocks),
    }
}

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn stitched<const SHA1: bool, const SHA256: bool>(
    md5: &mut [u32; 4],
    sha1: &mut [u32; 5],
    sha256: &mut [u32; 8],
    blocks: &[[u8; 64]],
) {
    let mut state_5 = [*md5];
    let mut state_1 = State1::load(*sha1);
    let mut state_256 = State256::load(*sha256);
    for block in blocks {
        let (before_5, before_1, before_256) = (state_5, state_1, state_256);
        let words_5 = [u32x1::load_le(&[std::slice::from_ref(block)], 0, 0)];
        let mut words_1 = if SHA1 {
            load_block_1(block)
        } else {
            [_mm_setzero_si128(); 4]
        };
        let mut words_256 = if SHA256 {
            load_block_256(block)
        } else {
            [_mm_setzero_si128(); 4]
        };
        md5_rounds!(u32x1, state_5, words_5, [0], ROW => {
            if SHA256 {
                let sums = sums_256(&mut words_256, ROW);
                state_256.two_rounds(sums);
                state_256.two_rounds(upper(sums));
            }
            if SHA1 {
                // Twenty groups of four rounds in sixteen rows: every fourth row has two.
                const GROUP: usize = ROW + ROW / 4;
                const MIX: i32 = (ROW / 4) as i32;
                state_1.four_rounds::<MIX>(&mut words_1, GROUP);
                if ROW % 4 == 3 {
                    state_1.four_rounds::<MIX>(&mut words_1, GROUP + 1);
                }
            }
            tie(&mut state_5[0][0], state_1.first_mut(), state_256.first_mut());
        });
        for word in 0..4 {
            state_5[0][word] = state_5[0][word].wrapping_add(before_5[0][word]);
        }
        state_1 = state_1.add(before_1);
        state_256 = state_256.add(before_256);
    }
    *md5 = state_5[0];
    if SHA1 {
        *sha1 = state_1.words();
    }
    if SHA256 {
        *sha256 = state_256.words();
    }
}

/// Keeps LLVM from moving what comes before behind what comes after, by the claim that all three values are
/// changed here. Otherwise it sorts the steps by algorithm, too far apart for the core to overlap them.
#[inline(always)]
fn tie(md5: &mut u32, sha1: &mut __m128i, sha256: &mut __m128i) {
    #[cfg(not(miri))]
    // SAFETY: there are no instructions in it.
    unsafe {
        std::arch::asm!(
            "/* {0:e} {1} {2} */",
            inout(reg) * md5,
            inout(xmm_reg) * sha1,
            inout(xmm_reg) * sha256,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
}
