//! Stable parts of the names of a tree, so that many runs can share one job.

use std::fmt::{self, Display, Formatter};
use std::num::{NonZeroU32, ParseIntError};
use std::str::FromStr;

use crate::algorithm::Algorithm;
use crate::hasher::new_hasher;
use crate::relpath::RelPath;

/// One of so many disjoint parts that together are everything.
///
/// A name belongs to the part whose number, counted from 0, is the XXH64 digest (seed 0, taken as an
/// unsigned number) of the name's bytes modulo the number of parts. The bytes are those of the
/// normal form of the name below the base, with `/` between folders: the same on every platform and
/// in every version. `Display` and `FromStr` are `3/7`, counted from 1.
///
/// # Examples
///
/// ```
/// use multisum::RelPath;
/// use multisum::slice::Slice;
/// let slices = (1..=7).map(|index| format!("{index}/7").parse::<Slice>());
/// let slices = slices.collect::<Result<Vec<_>, _>>()?;
/// let name = RelPath::from("photos/0001.jpg");
/// assert_eq!(slices.iter().filter(|slice| slice.holds(&name)).count(), 1);
/// # Ok::<(), multisum::slice::SliceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slice {
    /// How many parts there are.
    count: NonZeroU32,
    /// Which of them, from 1.
    index: NonZeroU32,
}

/// Why something names no slice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// It is not two numbers with a slash between them.
    #[error("a slice is I/N: the I-th of N parts, counted from 1")]
    Shape,
    /// One of the numbers cannot be read.
    #[error("a slice is I/N: {0}")]
    Number(#[from] ParseIntError),
    /// There are fewer parts.
    #[error("there is no slice {index} of {count}, counted from 1")]
    Beyond {
        /// The part.
        index: u32,
        /// How many there are.
        count: u32,
    },
}

impl Slice {
    /// Part `index`, counted from 1, of `count`.
    ///
    /// # Errors
    ///
    /// [`SliceError::Beyond`] if `index` is 0 or more than `count`.
    pub fn new(index: u32, count: u32) -> Result<Self, SliceError> {
        match (NonZeroU32::new(index), NonZeroU32::new(count)) {
            (Some(at), Some(of)) if at <= of => Ok(Self {
                count: of,
                index: at,
            }),
            _ => Err(SliceError::Beyond { index, count }),
        }
    }

    /// Which part, counted from 1.
    pub fn index(self) -> u32 {
        self.index.get()
    }

    /// Of how many.
    pub fn count(self) -> u32 {
        self.count.get()
    }

    /// Whether a name belongs to this part.
    pub fn holds(self, name: &RelPath) -> bool {
        let mut hasher = new_hasher(Algorithm::Xxh64);
        hasher.update(name.normalised().as_bytes());
        let digest = hasher.finish();
        let number = digest
            .as_bytes()
            .iter()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number % u64::from(self.count.get()) == u64::from(self.index.get() - 1)
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Slice {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Self, SliceError> {
        let (index, count) = text.split_once('/').ok_or(SliceError::Shape)?;
        Self::new(index.parse()?, count.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_exactly_one_slice() {
        for count in [1, 2, 7, 64] {
            let mut sizes = vec![0; count as usize];
            for number in 0..1_000 {
                let name = RelPath::from(&*format!("folder/{number}"));
                let slices = (1..=count).map(|index| Slice::new(index, count).unwrap());
                let holding: Vec<_> = slices.filter(|slice| slice.holds(&name)).collect();
                assert_eq!(holding.len(), 1, "{name} of {count}");
                sizes[holding[0].index() as usize - 1] += 1;
            }
            let fair = 1_000 / count;
            assert!(sizes.iter().all(|size| *size > fair / 3), "{sizes:?}");
        }
    }

    /// Digests by `printf %s NAME | xxhsum -H1`, modulo 7.
    #[test]
    fn slices_are_the_same_on_every_machine_and_in_every_version() {
        for (name, index) in SLICES_OF_SEVEN {
            let slice = Slice::new(index, 7).unwrap();
            assert!(slice.holds(&RelPath::from(name)), "{name}");
        }
        let (plain, odd) = (RelPath::from("a/b"), RelPath::from("./a//b"));
        let slice = |name| (1..=7).find(|index| Slice::new(*index, 7).unwrap().holds(name));
        assert_eq!(slice(&plain), slice(&odd));
    }

    const SLICES_OF_SEVEN: [(&str, u32); 3] = [("a", 7), ("a/b", 1), ("photos/0001.jpg", 6)];

    #[test]
    fn what_names_no_slice_is_refused() {
        for bad in ["", "1", "0/7", "8/7", "1/0", "-1/7", "a/b", "1/2/3", "1/ 2"] {
            assert!(bad.parse::<Slice>().is_err(), "{bad}");
        }
        assert_eq!("7/7".parse::<Slice>().unwrap().to_string(), "7/7");
    }
}
