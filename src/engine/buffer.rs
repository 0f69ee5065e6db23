//! Reusable read buffers.

/// The alignment that unbuffered reads need on every common file system.
pub(super) const ALIGNMENT: usize = 4096;

const CACHE_LINE: usize = 64;

/// Bytes to read into, aligned for unbuffered reads and never cleared between uses.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// Allocates `len` bytes, rounded up to the alignment.
    pub(super) fn new(len: usize) -> Self {
        Self::with_offset(len, 0)
    }

    /// As [`Buffer::new`], but each of several buffers starts in another line of the cache, so that
    /// lanes that walk through them in step do not push each other's bytes out. Buffers for
    /// unbuffered reads must be aligned instead.
    pub(super) fn staggered(len: usize, place: usize) -> Self {
        Self::with_offset(len, place * CACHE_LINE % ALIGNMENT)
    }

    fn with_offset(len: usize, offset: usize) -> Self {
        let len = len.next_multiple_of(ALIGNMENT);
        let bytes = vec![0; len + ALIGNMENT + offset];
        // The allocation never moves, since the vector is never resized.
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT) + offset;
        Self { bytes, start, len }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_at_least_as_long_as_asked() {
        for len in [1, 4096, 65_537] {
            let mut buffer = Buffer::new(len);
            assert!(buffer.as_slice().len() >= len);
            assert_eq!(buffer.as_mut_slice().as_ptr().addr() % ALIGNMENT, 0);
        }
    }
}
