//! Every backend against the digest crates.

use std::sync::OnceLock;

use super::{LaneState, Lanes, Stream};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::hasher::new_hasher;

const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
    Algorithm::Sha512_224,
    Algorithm::Sha512_256,
    Algorithm::C4,
];

/// One algorithm of each family.
const FAMILIES: [Algorithm; 4] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha256,
    Algorithm::Sha512,
];

/// Every backend that the CPU has. One that it lacks is named, and is a failure if the variable
/// `MULTISUM_REQUIRE_LANES` asks for it.
fn backends() -> Vec<Lanes> {
    static FOUND: OnceLock<Vec<Lanes>> = OnceLock::new();
    FOUND.get_or_init(find_backends).clone()
}

fn find_backends() -> Vec<Lanes> {
    let required = std::env::var("MULTISUM_REQUIRE_LANES").unwrap_or_default();
    let required: Vec<_> = required
        .split(',')
        .filter(|name| !name.is_empty())
        .collect();
    for name in &required {
        Lanes::forced(name).unwrap();
    }
    let mut found = vec![Lanes::detect()];
    for (name, lanes) in Lanes::backends() {
        match lanes {
            Ok(lanes) => found.push(lanes),
            Err(error) => note(&format!("skipped {name}: {error}")),
        }
    }
    found
}

#[allow(clippy::print_stderr, reason = "a skipped backend must be seen")]
fn note(text: &str) {
    eprintln!("{text}");
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

/// Given by the variable `MULTISUM_SEED`, else by the clock; always printed.
fn seed() -> u64 {
    let given = std::env::var("MULTISUM_SEED").ok();
    let seed = given.map_or_else(clock, |seed| seed.parse().unwrap());
    note(&format!("MULTISUM_SEED={seed}"));
    seed
}

fn clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Never zero, from which xorshift does not move.
    now.unwrap().as_micros() as u64 | 1
}

/// Bytes with a cycle of 251, a prime, so that swapped blocks show.
fn painted(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

fn expected(algorithm: Algorithm, message: &[u8]) -> Digest {
    let mut hasher = new_hasher(algorithm);
    hasher.update(message);
    hasher.finish()
}

/// Hashes every message in one call.
fn at_once(lanes: Lanes, algorithm: Algorithm, messages: &[&[u8]]) -> Vec<Digest> {
    let mut states = vec![LaneState::new(algorithm).unwrap(); messages.len()];
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
    states.iter_mut().map(LaneState::finish).collect()
}

fn block_len(algorithm: Algorithm) -> usize {
    usize::from(algorithm.info().block_len_bytes)
}

#[test]
fn lengths_round_every_block_edge() {
    let data = painted(4200);
    for algorithm in ALGORITHMS {
        let to = if cfg!(miri) { 1 } else { 3 };
        let mut lengths: Vec<_> = (0..=to * block_len(algorithm) + 2).collect();
        if !cfg!(miri) {
            lengths.extend(4095..=4097);
        }
        let messages: Vec<_> = lengths.iter().map(|&len| &data[..len]).collect();
        let expected: Vec<_> = messages.iter().map(|m| expected(algorithm, m)).collect();
        for lanes in backends() {
            assert_eq!(at_once(lanes, algorithm, &messages), expected, "{lanes:?}");
            for (message, digest) in messages.iter().zip(&expected) {
                let alone = at_once(lanes, algorithm, &[message]);
                assert_eq!(alone, [*digest], "{lanes:?}, {} bytes", message.len());
            }
        }
    }
}

#[test]
fn every_number_of_streams_with_unequal_lengths_and_addresses() {
    let data = painted(2000);
    for lanes in backends() {
        for algorithm in FAMILIES {
            let width = lanes.width(algorithm, usize::MAX);
            for count in 1..=2 * width + 1 {
                // Miri is slow: there, only the numbers round the width.
                if cfg!(miri) && count.abs_diff(width) > 1 {
                    continue;
                }
                let messages: Vec<_> = (0..count)
                    .map(|i| &data[i % 67..][..(i * 97) % if cfg!(miri) { 150 } else { 1100 }])
                    .collect();
                let expected: Vec<_> = messages.iter().map(|m| expected(algorithm, m)).collect();
                let got = at_once(lanes, algorithm, &messages);
                assert_eq!(got, expected, "{lanes:?}, {algorithm}, {count} streams");
            }
        }
    }
}

#[test]
fn random_batches_in_random_chunks() {
    let seed = seed();
    let mut random = Random(seed);
    let batches = match (cfg!(miri), cfg!(debug_assertions)) {
        (true, _) => 1,
        (_, true) => 20,
        (_, false) => 1000,
    };
    let data: Vec<u8> = (0..9000).map(|_| random.next().to_le_bytes()[0]).collect();
    for lanes in backends() {
        for batch in 0..batches {
            let what = format!("seed {seed}, {lanes:?}, batch {batch}");
            random_batch(lanes, &mut random, &data, &what);
        }
    }
}

/// Algorithms of all families mixed, each message in chunks of its own lengths.
fn random_batch(lanes: Lanes, random: &mut Random, data: &[u8], what: &str) {
    let longest = if cfg!(miri) { 300 } else { 8000 };
    let count = 1 + random.below(if cfg!(miri) { 6 } else { 80 });
    let only = (random.below(2) == 0).then(|| ALGORITHMS[random.below(ALGORITHMS.len())]);
    let mut rest: Vec<&[u8]> = Vec::new();
    let mut states = Vec::new();
    for _ in 0..count {
        let algorithm = only.unwrap_or_else(|| ALGORITHMS[random.below(ALGORITHMS.len())]);
        let most = if random.below(3) == 0 { longest } else { 300 };
        let len = random.below(most);
        rest.push(&data[random.below(900)..][..len]);
        states.push(LaneState::new(algorithm).unwrap());
    }
    let expected: Vec<_> = states
        .iter()
        .zip(&rest)
        .map(|(state, message)| expected(state.algorithm(), message))
        .collect();
    let mut done = vec![false; count];
    while done.iter().any(|done| !done) {
        let mut streams = Vec::new();
        for ((state, rest), done) in states.iter_mut().zip(&mut rest).zip(&mut done) {
            if *done || random.below(4) == 0 {
                continue;
            }
            let most = if random.below(2) == 0 { 200 } else { longest };
            let cut = random.below(most);
            let (chunk, after) = rest.split_at(cut.min(rest.len()));
            *rest = after;
            // A message may also end with an empty chunk of its own.
            *done = after.is_empty() && random.below(2) == 0;
            streams.push(Stream {
                state,
                chunk,
                last: *done,
            });
        }
        lanes.advance(&mut streams);
    }
    let got: Vec<_> = states.iter_mut().map(LaneState::finish).collect();
    assert_eq!(got, expected, "{what}");
}

/// Every set of algorithms over one message in random chunks, some states a few bytes ahead of others.
#[test]
fn algorithms_together_agree_with_each_alone() {
    let seed = seed();
    let mut random = Random(seed);
    let data = painted(5000);
    for lanes in backends() {
        for set in 1..1 << FAMILIES.len() {
            let message = &data[..random.below(if cfg!(miri) { 300 } else { 5000 })];
            let chosen = FAMILIES
                .iter()
                .enumerate()
                .filter(|(i, _)| set >> i & 1 == 1);
            let mut states: Vec<_> = chosen
                .filter_map(|(_, &algorithm)| LaneState::new(algorithm))
                .collect();
            // The first begins elsewhere, so that blocks do not fall together.
            let odd = random.below(2) == 0;
            if odd {
                let chunk = &b"ahead"[..];
                lanes.advance(&mut [Stream {
                    state: &mut states[0],
                    chunk,
                    last: false,
                }]);
            }
            let mut rest = message;
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at(1 + random.below(rest.len()));
                rest = after;
                lanes.advance_together(&mut states, chunk, rest.is_empty());
            }
            for (i, state) in states.iter_mut().enumerate() {
                let ahead = if odd && i == 0 { &b"ahead"[..] } else { b"" };
                let expected = expected(state.algorithm(), &[ahead, message].concat());
                assert_eq!(state.finish(), expected, "seed {seed}, {lanes:?}, {set:b}");
            }
        }
    }
}

/// A state whose last chunk was hashed begins anew, here as in `advance`.
#[test]
fn together_begins_anew_after_the_last_chunk() {
    for lanes in backends() {
        let mut states = FAMILIES.map(|algorithm| LaneState::new(algorithm).unwrap());
        lanes.advance_together(&mut states, &painted(70), true);
        lanes.advance_together(&mut states, &painted(130), true);
        for mut state in states {
            assert_eq!(state.finish(), expected(state.algorithm(), &painted(130)));
        }
    }
}

#[test]
fn a_state_is_as_new_after_finish_and_after_reset() {
    let data = painted(300);
    for algorithm in ALGORITHMS {
        let mut state = LaneState::new(algorithm).unwrap();
        for len in [200, 5] {
            let chunk = &data[..len];
            let mut feed = |last| {
                let state = &mut state;
                Lanes::portable().advance(&mut [Stream { state, chunk, last }]);
            };
            feed(true);
            feed(true);
            assert_eq!(state.finish(), expected(algorithm, chunk));
            let mut feed = || {
                let state = &mut state;
                Lanes::detect().advance(&mut [Stream {
                    state,
                    chunk,
                    last: false,
                }]);
            };
            feed();
            state.reset();
            assert_eq!(state.finish(), expected(algorithm, b""));
        }
    }
}

#[test]
fn finish_pads_a_message_whose_last_chunk_was_not_marked() {
    for algorithm in ALGORITHMS {
        let mut state = LaneState::new(algorithm).unwrap();
        Lanes::detect().advance(&mut [Stream {
            state: &mut state,
            chunk: b"abc",
            last: false,
        }]);
        assert_eq!(state.finish(), expected(algorithm, b"abc"));
    }
}

#[test]
fn other_algorithms_have_no_lanes() {
    for algorithm in Algorithm::all() {
        let has = LaneState::new(algorithm).is_some();
        assert_eq!(has, ALGORITHMS.contains(&algorithm), "{algorithm}");
        if !has {
            assert_eq!(Lanes::detect().width(algorithm, 100), 1);
        }
    }
}

#[test]
fn width_never_exceeds_what_is_open() {
    for lanes in backends() {
        for algorithm in FAMILIES {
            for open in 1..100 {
                let width = lanes.width(algorithm, open);
                assert!((1..=open).contains(&width), "{lanes:?} {algorithm} {open}");
            }
        }
    }
}

#[test]
fn an_unknown_or_missing_backend_says_so() {
    let message = Lanes::forced("mmx").unwrap_err().to_string();
    assert!(
        message.starts_with("unknown kernels") && message.contains("portable"),
        "{message}"
    );
}
