//! One message under all of its algorithms.

use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::hasher::{StreamHasher, new_hasher};
use crate::lanes::{Blake2State, LaneState, Lanes, Stream};

/// Chunks shorter than this are hashed faster by one thread than they can be handed out.
const SPREAD_FROM_BYTES: usize = 128 * 1024;

/// The states of one message: in lanes where the algorithm has them, in a hasher of its own where
/// it has none.
pub(super) struct Message {
    algorithms: Arc<[Algorithm]>,
    /// Those that one kernel can take together come first.
    lanes: Vec<LaneState>,
    blake2: Vec<Blake2State>,
    hashers: Vec<Box<dyn StreamHasher>>,
    /// For each algorithm where its digest comes from.
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
enum Place {
    Lane(usize),
    Blake2(usize),
    Hasher(usize),
}

impl Message {
    pub(super) fn new(algorithms: &Arc<[Algorithm]>) -> Self {
        let mut lanes: Vec<(usize, LaneState)> = Vec::new();
        let mut blake2 = Vec::new();
        let mut hashers = Vec::new();
        let mut places = Vec::new();
        for (index, &algorithm) in algorithms.iter().enumerate() {
            if let Some(state) = LaneState::new(algorithm) {
                lanes.push((index, state));
                places.push(Place::Lane(0));
            } else if let Some(state) = Blake2State::new(algorithm) {
                places.push(Place::Blake2(blake2.len()));
                blake2.push(state);
            } else {
                places.push(Place::Hasher(hashers.len()));
                hashers.push(new_hasher(algorithm));
            }
        }
        lanes.sort_by_key(|(_, state)| !state.can_be_stitched());
        for (place, (index, _)) in lanes.iter().enumerate() {
            places[*index] = Place::Lane(place);
        }
        let lanes = lanes.into_iter().map(|(_, state)| state).collect();
        Self {
            algorithms: Arc::clone(algorithms),
            lanes,
            blake2,
            hashers,
            places,
        }
    }

    pub(super) fn algorithms(&self) -> &Arc<[Algorithm]> {
        &self.algorithms
    }

    /// The states that want to be advanced side by side with those of other messages.
    pub(super) fn side_by_side(&mut self) -> (&mut [LaneState], &mut [Blake2State]) {
        (&mut self.lanes, &mut self.blake2)
    }

    /// Feeds the algorithms that have no lanes.
    pub(super) fn update_hashers(&mut self, chunk: &[u8]) {
        for hasher in &mut self.hashers {
            hasher.update(chunk);
        }
    }

    /// Feeds every algorithm of this message alone and calls `meanwhile` on this thread.
    ///
    /// Each group of algorithms is a piece of work that an idle thread of the pool may steal, the
    /// costliest first; where no thread is idle, this one does everything itself. `meanwhile` is for
    /// reading the next chunk, so that reading and hashing overlap whenever a thread is free.
    pub(super) fn update_alone<R: Send>(
        &mut self,
        kernels: &Lanes,
        chunk: &[u8],
        last: bool,
        meanwhile: impl FnOnce() -> R + Send,
    ) -> R {
        let mut pieces = self.pieces(kernels);
        if chunk.len() < SPREAD_FROM_BYTES || rayon::current_num_threads() == 1 {
            for piece in pieces {
                piece.update(kernels, chunk, last);
            }
            return meanwhile();
        }
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.cost()));
        rayon::in_place_scope_fifo(|scope| {
            for piece in pieces {
                scope.spawn_fifo(move |_| piece.update(kernels, chunk, last));
            }
            meanwhile()
        })
    }

    fn pieces(&mut self, kernels: &Lanes) -> Vec<Piece<'_>> {
        let together = self.stitched_together(kernels);
        let (stitched, single) = self.lanes.split_at_mut(together);
        let stitched = (!stitched.is_empty()).then_some(Piece::Lanes(stitched));
        let single = single.chunks_mut(1).map(Piece::Lanes);
        let blake2 = self.blake2.iter_mut().map(Piece::Blake2);
        let algorithms = self.places.iter().zip(self.algorithms.iter());
        let unlaned = algorithms.filter(|(place, _)| matches!(place, Place::Hasher(_)));
        let costs = unlaned.map(|(_, algorithm)| algorithm.info().cost);
        let hashers = self.hashers.iter_mut().zip(costs);
        let hashers = hashers.map(|(hasher, cost)| Piece::Hasher(hasher.as_mut(), cost));
        stitched
            .into_iter()
            .chain(single)
            .chain(blake2)
            .chain(hashers)
            .collect()
    }

    /// How many of the first lanes one kernel takes at the price of MD5 alone.
    fn stitched_together(&self, kernels: &Lanes) -> usize {
        if !kernels.stitches() || !self.algorithms.contains(&Algorithm::Md5) {
            return 0;
        }
        self.lanes
            .iter()
            .filter(|state| state.can_be_stitched())
            .count()
    }

    /// The states in the order of the algorithms; `None` if one of them cannot be saved.
    pub(super) fn save(&mut self) -> Option<Vec<Box<[u8]>>> {
        let Self {
            lanes,
            hashers,
            places,
            ..
        } = self;
        let save = |place: &Place| match *place {
            Place::Lane(index) => lanes[index].save(),
            Place::Blake2(_) => None,
            Place::Hasher(index) => hashers[index].save(),
        };
        places.iter().map(save).collect()
    }

    /// Takes up states that were saved; false if they are none of these algorithms, and then the
    /// message is empty.
    pub(super) fn restore(&mut self, states: &[Box<[u8]>]) -> bool {
        let Self {
            lanes,
            hashers,
            places,
            ..
        } = self;
        let restore = |(place, state): (&Place, &[u8])| match *place {
            Place::Lane(index) => lanes[index].restore(state),
            Place::Blake2(_) => false,
            Place::Hasher(index) => hashers[index].restore(state),
        };
        let restored = places.len() == states.len() && {
            let states = states.iter().map(Box::as_ref);
            places.iter().zip(states).all(restore)
        };
        if !restored {
            self.reset();
        }
        restored
    }

    /// Gives the digests in the order of the algorithms, and starts anew.
    pub(super) fn finish(&mut self) -> Vec<Digest> {
        let Self {
            lanes,
            blake2,
            hashers,
            places,
            ..
        } = self;
        let digest = |place: &Place| match *place {
            Place::Lane(index) => lanes[index].finish(),
            Place::Blake2(index) => blake2[index].finish(),
            Place::Hasher(index) => hashers[index].finish(),
        };
        places.iter().map(digest).collect()
    }

    /// Forgets what was fed and starts anew.
    pub(super) fn reset(&mut self) {
        self.lanes.iter_mut().for_each(LaneState::reset);
        self.blake2.iter_mut().for_each(Blake2State::reset);
        self.hashers.iter_mut().for_each(|hasher| hasher.reset());
    }
}

/// What one thread takes over.
enum Piece<'a> {
    Lanes(&'a mut [LaneState]),
    Blake2(&'a mut Blake2State),
    Hasher(&'a mut dyn StreamHasher, u16),
}

impl Piece<'_> {
    fn update(self, kernels: &Lanes, chunk: &[u8], last: bool) {
        match self {
            Self::Lanes([state]) => kernels.advance(&mut [Stream { state, chunk, last }]),
            Self::Lanes(states) => kernels.advance_together(states, chunk, last),
            Self::Blake2(state) => Blake2State::update_many(&mut [(state, chunk)]),
            Self::Hasher(hasher, _) => hasher.update_wide(chunk),
        }
    }

    fn cost(&self) -> u16 {
        match self {
            Self::Lanes(states) => states
                .iter()
                .map(|state| state.algorithm().info().cost)
                .max()
                .unwrap_or(0),
            Self::Blake2(_) => Algorithm::BLAKE2B.info().cost,
            Self::Hasher(_, cost) => *cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hasher::MultiHasher;

    #[test]
    fn the_digests_are_those_of_one_thread_and_the_crates() {
        let algorithms: Arc<[Algorithm]> = Algorithm::all().collect();
        let bytes: Vec<u8> = (0..SPREAD_FROM_BYTES + 7)
            .map(|i| (i % 251) as u8)
            .collect();
        let mut crates = MultiHasher::new(&algorithms);
        crates.update(&bytes);
        crates.update(&bytes);
        let expected = crates.finish();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        for (name, kernels) in Lanes::backends() {
            let Ok(kernels) = kernels else { continue };
            let mut message = Message::new(&algorithms);
            let meanwhile = pool.install(|| {
                message.update_alone(&kernels, &bytes, false, || ());
                message.update_alone(&kernels, &bytes, true, || 42)
            });
            assert_eq!(meanwhile, 42);
            assert_eq!(message.finish(), expected, "{name}");
        }
    }
}
