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
            Source::Gzip(source) => source.read(buffer).map_err(explained),
        }
    }
}

/// Says what is wrong in the words of this program; errors of the stream below stay as they are.
fn explained(error: io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data is cut off",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            "the compressed data is damaged, or something else follows it"
        }
        _ => return error,
    };
    io::Error::new(error.kind(), what)
}

impl<R> Debug for Input<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Input")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let mut input = Input::new(
            bytes[..bytes.len().min(4)].to_vec(),
            &bytes[bytes.len().min(4)..],
        );
        let read = input.read_to_end(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn several_members_are_one_text_and_other_bytes_are_left_alone() {
        assert_eq!(
            unpacked(&[packed(b"a"), packed(b"b")].concat()),
            Ok(b"ab".to_vec())
        );
        assert_eq!(unpacked(b"\x1f"), Ok(b"\x1f".to_vec()));
        assert_eq!(unpacked(b""), Ok(Vec::new()));
    }

    #[test]
    fn no_damage_passes_for_the_end() {
        let whole = packed(b"hello hello hello");
        for end in 2..whole.len() {
            let cut = unpacked(&whole[..end]);
            assert_eq!(
                cut,
                Err("the compressed data is cut off".to_owned()),
                "{end}"
            );
        }
        for at in [whole.len() - 8, whole.len() - 4] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            let error = unpacked(&damaged).unwrap_err();
            assert!(
                error.starts_with("the compressed data is damaged"),
                "{error}"
            );
        }
        let error = unpacked(&[&whole[..], b"hello hello"].concat()).unwrap_err();
        assert!(
            error.starts_with("the compressed data is damaged"),
            "{error}"
        );
    }
}
