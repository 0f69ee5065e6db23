//! BLAKE3 as a row of whole subtrees, so that its state can be saved between them.
//!
//! The crate does not give its state away, but it does compute the chaining values of single subtrees
//! and joins them. Here the message is cut into subtrees of 1 MiB, or larger ones where that many bytes
//! come at once, and what is kept of them are the chaining values of the largest ones that are whole:
//! one for each bit of the offset.
//!
//! Source: *BLAKE3: one function, fast everywhere*, sections 2.1 and 5.1.2.

use ::blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};

use crate::algorithm::Algorithm;
use crate::digest::Digest;

use super::StreamHasher;
use super::adapters::digest_of;

/// The smallest subtree; states are saved at multiples of it.
const SUBTREE_BYTES: u64 = 1 << 20;

/// One message.
pub(super) struct Blake3 {
    /// The subtree being hashed. Boxed, since its state is about 2 KiB.
    current: Box<::blake3::Hasher>,
    /// Where it begins.
    start: u64,
    /// Its length if it will be whole, a power of two.
    room: u64,
    whole: Whole,
}

/// The whole subtrees before the current one with their lengths, each shorter than the one before.
#[derive(Clone, Default)]
struct Whole(Vec<(ChainingValue, u64)>);

impl Whole {
    /// Adds the next subtree. More must follow, since the root is joined in another way.
    fn push(&mut self, mut value: ChainingValue, mut len: u64) {
        while let Some((left, _)) = self.0.pop_if(|(_, before)| *before == len) {
            value = merge_subtrees_non_root(&left, &value, Mode::Hash);
            len *= 2;
        }
        self.0.push((value, len));
    }
}

impl Blake3 {
    pub(super) fn new() -> Self {
        Self {
            current: Box::new(::blake3::Hasher::new()),
            start: 0,
            room: SUBTREE_BYTES,
            whole: Whole::default(),
        }
    }

    /// Ends the current subtree if it is whole, given that `more` bytes follow.
    fn make_room(&mut self, more: u64) {
        let taken = self.current.count();
        if taken == self.room {
            let value = self.current.finalize_non_root();
            self.whole.push(value, self.room);
            self.begin_at(self.start + self.room);
        }
        if self.current.count() == 0 {
            self.room = longest_subtree(self.start, more);
        }
    }

    fn begin_at(&mut self, start: u64) {
        if (self.start, start) == (0, 0) {
            self.current.reset();
        } else {
            // After a reset, the crate still counts from the old offset.
            *self.current = ::blake3::Hasher::new();
            self.current.set_input_offset(start);
        }
        self.start = start;
        self.room = SUBTREE_BYTES;
    }

    fn feed(&mut self, mut bytes: &[u8], update: fn(&mut ::blake3::Hasher, &[u8])) {
        while !bytes.is_empty() {
            self.make_room(bytes.len() as u64);
            let left = self.room - self.current.count();
            let (head, rest) = bytes
                .split_at(usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len())));
            update(&mut self.current, head);
            bytes = rest;
        }
    }
}

/// The longest subtree that can begin at `start` and is whole after `more` bytes, but no shorter than
/// the smallest.
fn longest_subtree(start: u64, more: u64) -> u64 {
    let fits = 1 << more.max(1).ilog2();
    let aligned = match start {
        0 => fits,
        _ => 1 << start.trailing_zeros(),
    };
    fits.min(aligned).max(SUBTREE_BYTES)
}

impl StreamHasher for Blake3 {
    fn update(&mut self, bytes: &[u8]) {
        self.feed(bytes, |hasher, bytes| {
            hasher.update(bytes);
        });
    }

    fn update_wide(&mut self, bytes: &[u8]) {
        self.feed(bytes, |hasher, bytes| {
            hasher.update_rayon(bytes);
        });
    }

    fn finish(&mut self) -> Digest {
        let root = match self.whole.0.split_first() {
            Some(((first, _), others)) if self.current.count() > 0 => {
                let last = self.current.finalize_non_root();
                let joined = others.iter().rev().fold(last, |right, (left, _)| {
                    merge_subtrees_non_root(left, &right, Mode::Hash)
                });
                merge_subtrees_root(first, &joined, Mode::Hash)
            }
            _ => self.current.finalize(),
        };
        self.reset();
        digest_of(Algorithm::Blake3, root.as_bytes())
    }

    fn reset(&mut self) {
        self.whole.0.clear();
        self.begin_at(0);
    }

    /// The offset, and the chaining values of the whole subtrees before it.
    fn save(&self) -> Option<Box<[u8]>> {
        let mut whole = self.whole.clone();
        let taken = self.current.count();
        if taken > 0 {
            // At a multiple of the smallest subtree, the current one is whole or made of whole ones.
            if !taken.is_power_of_two() || taken < SUBTREE_BYTES {
                return None;
            }
            whole.push(self.current.finalize_non_root(), taken);
        }
        let mut saved = (self.start + taken).to_le_bytes().to_vec();
        for (value, _) in &whole.0 {
            saved.extend_from_slice(value);
        }
        Some(saved.into())
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        self.reset();
        let Some((offset, values)) = saved.split_first_chunk() else {
            return false;
        };
        let offset = u64::from_le_bytes(*offset);
        let (values, rest) = values.as_chunks();
        let fits = rest.is_empty()
            && offset.is_multiple_of(SUBTREE_BYTES)
            && offset.count_ones() as usize == values.len();
        if fits {
            let lens = (0..u64::BITS).rev().map(|bit| 1 << bit);
            let lens = lens.filter(|len| offset & len != 0);
            self.whole.0 = values.iter().copied().zip(lens).collect();
            self.begin_at(offset);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: usize = SUBTREE_BYTES as usize;

    fn painted(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 251) as u8).collect()
    }

    fn expected(bytes: &[u8]) -> Digest {
        digest_of(Algorithm::Blake3, ::blake3::hash(bytes).as_bytes())
    }

    #[test]
    fn subtrees_of_any_length_join_to_the_hash_of_the_whole() {
        let bytes = painted(11 * MEGABYTE + 5000);
        let mut hasher = Blake3::new();
        for len in [
            0,
            1,
            1024,
            MEGABYTE - 1,
            MEGABYTE,
            MEGABYTE + 1,
            3 * MEGABYTE,
            bytes.len(),
        ] {
            for step in [
                1000,
                65_536,
                MEGABYTE,
                4 * MEGABYTE,
                5 * MEGABYTE + 7,
                usize::MAX,
            ] {
                if step == 1000 && len > 4 * MEGABYTE {
                    continue;
                }
                bytes[..len]
                    .chunks(step)
                    .for_each(|chunk| hasher.update(chunk));
                assert_eq!(hasher.finish(), expected(&bytes[..len]), "{len} by {step}");
            }
        }
    }

    #[test]
    fn a_saved_state_goes_on_at_every_megabyte() {
        let bytes = painted(9 * MEGABYTE + 1);
        let mut first = Blake3::new();
        for (number, chunk) in bytes.chunks(MEGABYTE).enumerate() {
            let saved = first.save().unwrap();
            let mut second = Blake3::new();
            second.update(b"forgotten");
            assert!(second.restore(&saved));
            second.update(&bytes[number * MEGABYTE..]);
            assert_eq!(second.finish(), expected(&bytes), "{number}");
            first.update(chunk);
        }
        assert!(first.save().is_none(), "in the middle of a subtree");
    }

    #[test]
    fn a_long_chunk_is_one_subtree_and_can_be_saved_behind() {
        let bytes = painted(13 * MEGABYTE);
        let mut hasher = Blake3::new();
        hasher.update(&bytes[..8 * MEGABYTE]);
        hasher.update(&bytes[8 * MEGABYTE..12 * MEGABYTE]);
        let saved = hasher.save().unwrap();
        assert_eq!(saved.len(), 8 + 2 * 32);
        assert!(hasher.restore(&saved));
        hasher.update(&bytes[12 * MEGABYTE..]);
        assert_eq!(hasher.finish(), expected(&bytes));
    }
}
