//! Puts results that arrive in any order back into sequence.

use std::collections::VecDeque;

/// Holds results until all before them have come.
///
/// It never holds more than the number of permits given out, so the caller bounds its memory.
#[derive(Debug)]
pub(super) struct Reorder<T> {
    next: u64,
    waiting: VecDeque<Option<T>>,
}

impl<T> Reorder<T> {
    pub(super) fn new() -> Self {
        Self {
            next: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Keeps the result with this sequence number. Each number comes once.
    pub(super) fn put(&mut self, sequence: u64, result: T) {
        // The window fits into memory, so the distance fits into usize.
        let place = usize::try_from(sequence.saturating_sub(self.next)).unwrap_or(usize::MAX);
        if place >= self.waiting.len() {
            self.waiting.resize_with(place + 1, || None);
        }
        self.waiting[place] = Some(result);
    }

    /// Takes the next result in sequence, if it has come.
    pub(super) fn take(&mut self) -> Option<T> {
        let ready = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.next += 1;
        Some(ready)
    }

    /// How many results have been taken.
    pub(super) fn taken(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_leave_in_sequence_without_gaps() {
        let mut reorder = Reorder::new();
        for sequence in [2, 0, 4, 1] {
            reorder.put(sequence, sequence);
        }
        let mut taken: Vec<u64> = std::iter::from_fn(|| reorder.take()).collect();
        assert_eq!(taken, [0, 1, 2]);
        reorder.put(3, 3);
        taken.extend(std::iter::from_fn(|| reorder.take()));
        assert_eq!(taken, [0, 1, 2, 3, 4]);
    }
}
