//! Manifests that are stored compressed.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Where the bytes of a manifest come from: what was read of it already, and the rest.
pub(super) struct Input<R> {
    source: Source<R>,
}

enum Source<R> {
    Plain(io::Chain<Cursor<Vec<u8>>, R>),
    /// Boxed for its size.
    Gzip(Box<MultiGzDecoder<io::Chain<Cursor<Vec<u8>>, R>>>),
}

impl<R: Read> Input<R> {
    /// Puts the first bytes in front of the rest.
    pub(super) fn new(head: Vec<u8>, rest: R) -> Self {
        let is_gzip = head.starts_with(GZIP_MAGIC);
        let whole = Cursor::new(head).chain(rest);
        let source = if is_gzip {
            Source::Gzip(Box::new(MultiGzDecoder::new(whole)))
        } else {
            Source::Plain(whole)
        };
        Self { source }
    }

    /// Whether it is compressed.
    pub(super) fn is_compressed(&self) -> bool {
        matches!(self.source, Source::Gzip(_))
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Plain(source) => source.read(buffer),
            Source::Gzip(source) => source.read(buffer),
        }
    }
}

impl<R> Debug for Input<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Input")
    }
}
