//! Spreads the algorithms of one buffer over idle threads of the pool.

use crate::hasher::{MultiHasher, StreamHasher};

/// Buffers shorter than this are hashed faster by one thread than they can be handed out.
const SPREAD_FROM_BYTES: usize = 128 * 1024;

/// Feeds `bytes` to every algorithm and calls `meanwhile` on this thread.
///
/// Each algorithm is a piece of work that an idle thread of the pool may steal, the costliest
/// first; where no thread is idle, this one does everything itself. `meanwhile` is for reading the
/// next buffer, so that reading and hashing overlap whenever a thread is free.
pub(super) fn update<R: Send>(
    hasher: &mut MultiHasher,
    bytes: &[u8],
    meanwhile: impl FnOnce() -> R + Send,
) -> R {
    if bytes.len() < SPREAD_FROM_BYTES || rayon::current_num_threads() == 1 {
        hasher.update(bytes);
        return meanwhile();
    }
    let mut parts = costliest_first(hasher);
    rayon::in_place_scope_fifo(|scope| {
        for part in &mut parts {
            scope.spawn_fifo(move |_| part.update(bytes));
        }
        meanwhile()
    })
}

fn costliest_first(hasher: &mut MultiHasher) -> Vec<&mut Box<dyn StreamHasher>> {
    let costs: Vec<u16> = hasher.algorithms().iter().map(|a| a.info().cost).collect();
    let mut parts: Vec<_> = costs.into_iter().zip(hasher.parts()).collect();
    parts.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
    parts.into_iter().map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;

    #[test]
    fn the_digests_are_those_of_one_thread() {
        let algorithms: Vec<Algorithm> = Algorithm::all().collect();
        let bytes: Vec<u8> = (0..SPREAD_FROM_BYTES + 7)
            .map(|i| (i % 251) as u8)
            .collect();
        let mut alone = MultiHasher::new(&algorithms);
        alone.update(&bytes);
        let mut spread = MultiHasher::new(&algorithms);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        let meanwhile = pool.install(|| update(&mut spread, &bytes, || 42));
        assert_eq!(meanwhile, 42);
        assert_eq!(spread.finish(), alone.finish());
    }
}
