//! BLAKE2 side by side, by the crates that have it: four BLAKE2b or eight BLAKE2s in AVX2.

use crate::algorithm::Algorithm;
use crate::digest::Digest;

/// One message of BLAKE2b, of any length of digest, or BLAKE2s.
#[derive(Clone, Debug)]
pub struct Blake2State {
    algorithm: Algorithm,
    family: Family,
}

#[derive(Clone, Debug)]
enum Family {
    B(blake2b_simd::State),
    S(blake2s_simd::State),
}

impl Blake2State {
    /// An empty message; `None` if the algorithm is no BLAKE2.
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        let len = algorithm.digest_len_bytes();
        let family = match algorithm {
            Algorithm::Blake2b(_) => {
                Family::B(blake2b_simd::Params::new().hash_length(len).to_state())
            }
            Algorithm::Blake2s => Family::S(blake2s_simd::State::new()),
            _ => return None,
        };
        Some(Self { algorithm, family })
    }

    /// How many messages of an algorithm this CPU hashes at once; 1 if it is no BLAKE2.
    pub fn width(algorithm: Algorithm) -> usize {
        match algorithm {
            Algorithm::Blake2b(_) => blake2b_simd::many::degree(),
            Algorithm::Blake2s => blake2s_simd::many::degree(),
            _ => 1,
        }
    }

    /// Feeds the next chunk of every message, side by side where they are of one family.
    pub fn update_many(messages: &mut [(&mut Self, &[u8])]) {
        blake2b_simd::many::update_many(messages.iter_mut().filter_map(|(state, chunk)| {
            match &mut state.family {
                Family::B(state) => Some((state, *chunk)),
                Family::S(_) => None,
            }
        }));
        blake2s_simd::many::update_many(messages.iter_mut().filter_map(|(state, chunk)| {
            match &mut state.family {
                Family::S(state) => Some((state, *chunk)),
                Family::B(_) => None,
            }
        }));
    }

    /// Gives the digest of everything since the start or the last `finish`, and starts anew.
    pub fn finish(&mut self) -> Digest {
        let digest = match &self.family {
            Family::B(state) => Digest::new(self.algorithm, state.finalize().as_bytes()),
            Family::S(state) => Digest::new(self.algorithm, state.finalize().as_bytes()),
        };
        self.reset();
        match digest {
            Some(digest) => digest,
            None => unreachable!("the state was made for the algorithm's length"),
        }
    }

    /// Forgets what was fed and starts anew.
    pub fn reset(&mut self) {
        if let Some(empty) = Self::new(self.algorithm) {
            *self = empty;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Blake2bLength;
    use crate::hasher::new_hasher;

    #[test]
    fn any_number_of_messages_of_any_length_gives_the_digests_of_single_ones() {
        let bytes: Vec<u8> = (0..=250).cycle().take(5_000).collect();
        let short = Algorithm::Blake2b(Blake2bLength::from_bits(160).unwrap());
        let algorithms = [Algorithm::BLAKE2B, short, Algorithm::Blake2s];
        for count in 1..20 {
            let chunks = |i: usize| [&bytes[..i * 131 % 700], &bytes[i * 257 % 5_000..]];
            let kinds: Vec<Algorithm> = (0..count).map(|i| algorithms[i % 3]).collect();
            let mut states: Vec<_> = kinds
                .iter()
                .map(|&kind| Blake2State::new(kind).unwrap())
                .collect();
            for round in [0, 1] {
                let states = states.iter_mut().enumerate();
                let mut messages: Vec<(&mut Blake2State, &[u8])> =
                    states.map(|(i, state)| (state, chunks(i)[round])).collect();
                Blake2State::update_many(&mut messages);
            }
            for (i, state) in states.iter_mut().enumerate() {
                let mut single = new_hasher(kinds[i]);
                chunks(i).iter().for_each(|chunk| single.update(chunk));
                assert_eq!(
                    state.finish(),
                    single.finish(),
                    "{count} messages, number {i}"
                );
            }
        }
    }
}
