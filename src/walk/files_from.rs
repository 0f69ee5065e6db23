//! Lists of names to hash, as `--files-from` takes them.

use std::io::{self, BufRead, Read};

use crate::relpath::RelPath;

/// Names longer than this are no names: every system stops at far fewer bytes.
const MAX_NAME_BYTES: u64 = 1 << 20;

/// Reads names from a list, one a line, or separated by NUL bytes if `zero` is set.
///
/// Names are exact bytes: nothing is trimmed, unescaped or decoded, so a carriage return or a space
/// at the end belongs to the name. Empty names are skipped; the last name needs no terminator. A
/// `-` in a list is a file of that name, not standard input.
///
/// # Errors
///
/// After the first error nothing more is read: the reader's own, or [`io::ErrorKind::InvalidData`]
/// for a name of more than 1 MiB.
///
/// # Examples
///
/// ```
/// use multisum::{RelPath, walk::files_from};
/// let names: Vec<_> = files_from(&b"a\n\nb c\n"[..], false).collect::<Result<_, _>>()?;
/// assert_eq!(names, [RelPath::from("a"), RelPath::from("b c")]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn files_from<R: BufRead>(reader: R, zero: bool) -> FilesFrom<R> {
    FilesFrom {
        reader: Some(reader),
        end: if zero { 0 } else { b'\n' },
    }
}

/// The names of a list; made by [`files_from`].
#[derive(Debug)]
pub struct FilesFrom<R> {
    reader: Option<R>,
    end: u8,
}

impl<R: BufRead> Iterator for FilesFrom<R> {
    type Item = io::Result<RelPath>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let read = next_name(reader, self.end).transpose();
        if !matches!(read, Some(Ok(_))) {
            self.reader = None;
        }
        read
    }
}

fn next_name(reader: &mut impl BufRead, end: u8) -> io::Result<Option<RelPath>> {
    let mut name = Vec::new();
    loop {
        name.clear();
        let read = reader
            .by_ref()
            .take(MAX_NAME_BYTES + 1)
            .read_until(end, &mut name)?;
        if read == 0 {
            return Ok(None);
        }
        if name.last() == Some(&end) {
            name.pop();
        } else if name.len() as u64 > MAX_NAME_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a name of more than 1 MiB",
            ));
        }
        if !name.is_empty() {
            return Ok(Some(RelPath::from_bytes(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn names(list: &[u8], zero: bool) -> Vec<Vec<u8>> {
        files_from(list, zero)
            .map(|name| name.unwrap().as_bytes().to_vec())
            .collect()
    }

    #[test]
    fn names_are_kept_byte_for_byte() {
        assert_eq!(
            names(b" a \r\n\n\xff\n-\n./b", false),
            [&b" a \r"[..], b"\xff", b"-", b"./b"]
        );
    }

    #[test]
    fn nul_separated_names_may_hold_line_breaks() {
        assert_eq!(names(b"a\nb\0\0c\0", true), [&b"a\nb"[..], b"c"]);
    }

    #[test]
    fn an_endless_name_is_an_error_and_not_an_endless_buffer() {
        let mut list = files_from(BufReader::new(io::repeat(b'x')), false);
        let error = list.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(list.next().is_none());
    }

    #[test]
    fn a_name_of_the_greatest_length_passes() {
        let mut list = vec![b'x'; 1 << 20];
        list.push(b'\n');
        assert_eq!(names(&list, false), [&list[..1 << 20]]);
    }

    #[test]
    fn a_reader_that_fails_ends_the_list() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut list = files_from(BufReader::new((&b"a\nb"[..]).chain(Failing)), false);
        assert_eq!(list.next().unwrap().unwrap(), RelPath::from("a"));
        assert!(list.next().unwrap().is_err());
        assert!(list.next().is_none());
    }
}
