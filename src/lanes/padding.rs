//! The message between two calls: state words, the bytes that fill no block yet, and the padding that
//! MD5, SHA-1 and SHA-2 share.
//!
//! Sources: RFC 1321, 3.1 and 3.2 (MD5); FIPS 180-4, 5.1 (SHA).

/// The order in which a family writes its words and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// One message of a family with `WORDS` state words and blocks of `BLOCK` bytes.
#[derive(Clone, Debug)]
pub(super) struct Core<T: 'static, const WORDS: usize, const BLOCK: usize> {
    pub(super) words: [T; WORDS],
    /// The bytes that fill no block yet, in the first; room for two because padding may need it.
    pub(super) buffer: [[u8; BLOCK]; 2],
    buffered_bytes: usize,
    length_bytes: u64,
    padded: bool,
    order: Order,
    initial: &'static [T; WORDS],
}

impl<T: Copy, const WORDS: usize, const BLOCK: usize> Core<T, WORDS, BLOCK> {
    pub(super) fn new(initial: &'static [T; WORDS], order: Order) -> Self {
        Self {
            words: *initial,
            buffer: [[0; BLOCK]; 2],
            buffered_bytes: 0,
            length_bytes: 0,
            padded: false,
            order,
            initial,
        }
    }

    pub(super) fn reset(&mut self) {
        self.words = *self.initial;
        self.buffered_bytes = 0;
        self.length_bytes = 0;
        self.padded = false;
    }

    /// Whether the padding has been hashed, so that the words are the digest.
    pub(super) fn is_padded(&self) -> bool {
        self.padded
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    /// How many bytes of the message have come, and those of them that fill no block yet; `None` if
    /// it has its padding.
    pub(super) fn progress(&self) -> Option<(u64, &[u8])> {
        let kept = &self.buffer[0][..self.buffered_bytes];
        (!self.padded).then_some((self.length_bytes, kept))
    }

    /// Goes on from what [`Core::progress`] and the words were; false if they cannot be together.
    pub(super) fn go_on(&mut self, words: [T; WORDS], length_bytes: u64, kept: &[u8]) -> bool {
        self.reset();
        if length_bytes % BLOCK as u64 != kept.len() as u64 {
            return false;
        }
        self.words = words;
        self.length_bytes = length_bytes;
        self.buffer[0][..kept.len()].copy_from_slice(kept);
        self.buffered_bytes = kept.len();
        true
    }

    /// How many bytes are missing to a whole block; none if the message is at a block's edge.
    pub(super) fn missing_bytes(&self) -> usize {
        (BLOCK - self.buffered_bytes) % BLOCK
    }

    /// Counts bytes that were hashed by somebody else.
    pub(super) fn count(&mut self, bytes: usize) {
        self.length_bytes = self.length_bytes.wrapping_add(bytes as u64);
    }

    /// Counts the chunk and completes the buffered block from it.
    ///
    /// Gives what is left of the chunk, and whether the buffer's first block is now whole.
    pub(super) fn begin<'c>(&mut self, chunk: &'c [u8]) -> (&'c [u8], bool) {
        self.count(chunk.len());
        if self.buffered_bytes == 0 {
            return (chunk, false);
        }
        let room = &mut self.buffer[0][self.buffered_bytes..];
        let (head, rest) = chunk.split_at(room.len().min(chunk.len()));
        room[..head.len()].copy_from_slice(head);
        self.buffered_bytes += head.len();
        let whole = self.buffered_bytes == BLOCK;
        if whole {
            self.buffered_bytes = 0;
        }
        (rest, whole)
    }

    /// Keeps the bytes after the last whole block, fewer than a block together with what is kept.
    pub(super) fn keep(&mut self, tail: &[u8]) {
        let end = self.buffered_bytes + tail.len();
        self.buffer[0][self.buffered_bytes..end].copy_from_slice(tail);
        self.buffered_bytes = end;
    }

    /// Pads what is kept; gives the number of blocks of the buffer that are to be hashed, 1 or 2.
    pub(super) fn pad(&mut self) -> usize {
        // The length field is an eighth of a block: 8 bytes, or 16 for SHA-512.
        let field = BLOCK / 8;
        let blocks = if self.buffered_bytes + 1 + field <= BLOCK {
            1
        } else {
            2
        };
        let end = blocks * BLOCK;
        let bytes = self.buffer.as_flattened_mut();
        bytes[self.buffered_bytes] = 0x80;
        bytes[self.buffered_bytes + 1..end].fill(0);
        let bits = u128::from(self.length_bytes) * 8;
        let field = &mut bytes[end - field..end];
        match self.order {
            Order::Little => field.copy_from_slice(&bits.to_le_bytes()[..field.len()]),
            Order::Big => field.copy_from_slice(&bits.to_be_bytes()[16 - field.len()..]),
        }
        self.buffered_bytes = 0;
        self.padded = true;
        blocks
    }
}
