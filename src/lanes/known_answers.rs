//! Known answers, asked of every kernel before it is trusted: many will run on CPUs where they were never tried.

use crate::algorithm::Algorithm;

use super::backend::Lanes;
use super::state::{LaneState, Stream};

/// `abc` and the eighty digits are vectors of FIPS 180 and RFC 1321; the third is long enough for kernels that
/// take two blocks at once. Digests as OpenSSL gives them.
const MESSAGES: [&[u8]; 3] = [b"abc", DIGITS, &[b'a'; 300]];

const DIGITS: &[u8] =
    b"12345678901234567890123456789012345678901234567890123456789012345678901234567890";

/// One algorithm of each family, with the digests of the messages.
const ANSWERS: [(Algorithm, [&str; 3]); 4] = [
    (
        Algorithm::Md5,
        [
            "900150983cd24fb0d6963f7d28e17f72",
            "57edf4a22be3c955ac49da2e2107b67a",
            "4e5475d125a33c6190718e75adc1b704",
        ],
    ),
    (
        Algorithm::Sha1,
        [
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "50abf5706a150990a08b2c5ea40fa0e585554732",
            "003ef1ba9ea9f2f4dab3a2004e505ca8a4e7e5a3",
        ],
    ),
    (
        Algorithm::Sha256,
        [
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "f371bc4a311f2b009eef952dd83ca80e2b60026c8e935592d0f9c308453c813e",
            "9835fa6bf4e20a9b9ea812506302e98982721a6cf8d2cae67af57129bf21ae90",
        ],
    ),
    (
        Algorithm::Sha512,
        [
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "72ec1ef1124a45b047e8b7c75a932195135bb61de24ec0d1914042246e0aec3a\
             2354e093d76f3048b456764346900cb130d2a4fd5dd16abb5e30bcb850dee843",
            "a6a77010dd9696c23831e6549de51724df332c2075039b75fcfe6c2e6de42fbd\
             3c80ed4073267e00c8c320712c3cdd9d65a96f90a3fe4a58a6b70a103be08e83",
        ],
    ),
];

/// Whether every kernel gives the known digests in each of its lanes.
pub(super) fn passes(lanes: &Lanes) -> bool {
    let families = ANSWERS.iter().all(|(algorithm, digests)| {
        let widest = lanes.width(*algorithm, usize::MAX);
        (1..=widest)
            // Full kernels only: those that so many messages fill.
            .filter(|&count| {
                lanes
                    .choice(*algorithm, count)
                    .is_some_and(|(_, lanes)| lanes == count)
            })
            .all(|count| side_by_side(lanes, *algorithm, digests, count))
    });
    families && together(lanes)
}

fn side_by_side(lanes: &Lanes, algorithm: Algorithm, digests: &[&str; 3], count: usize) -> bool {
    let mut states: Vec<_> = (0..count)
        .filter_map(|_| LaneState::new(algorithm))
        .collect();
    let messages = MESSAGES.iter().cycle();
    let mut streams: Vec<_> = states
        .iter_mut()
        .zip(messages)
        .map(|(state, chunk)| Stream {
            state,
            chunk,
            last: true,
        })
        .collect();
    lanes.advance(&mut streams);
    let mut expected = digests.iter().cycle();
    states.iter_mut().all(|state| is(state, expected.next()))
}

/// The stitched kernel, with and without each of the two that may be left out.
fn together(lanes: &Lanes) -> bool {
    [&ANSWERS[..3], &ANSWERS[..2]].iter().all(|answers| {
        let algorithms = answers.iter().map(|(algorithm, _)| *algorithm);
        let mut states: Vec<_> = algorithms.filter_map(LaneState::new).collect();
        lanes.advance_together(&mut states, MESSAGES[2], true);
        let mut expected = answers.iter().map(|(_, digests)| &digests[2]);
        states.iter_mut().all(|state| is(state, expected.next()))
    })
}

fn is(state: &mut LaneState, expected: Option<&&str>) -> bool {
    expected.is_some_and(|expected| state.finish().to_string() == **expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_kernels_pass() {
        assert!(passes(&Lanes::portable()));
    }
}
