//! Verification in portions: what has waited longest comes first, and a limit ends a run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::manifest::{gnu_escape_into, gnu_unescape};
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

use super::compare::Token;
use super::listed::Listed;
use super::sources::Sources;

/// The first line of a state.
const HEADING: &[u8] = b"# when multisum last found each file to be as listed";

/// When each file of a manifest was last found to be as listed.
///
/// As text it is a heading and one line a name, in the order of names: a moment, two spaces, the
/// name with `\\`, `\n` and `\r` for backslashes, line feeds and carriage returns.
///
/// # Examples
///
/// ```
/// use multisum::ops::ScrubState;
/// let text = b"# when multisum last found each file to be as listed\n2026-01-02T03:04:05Z  a/b\n";
/// assert_eq!(ScrubState::read(text)?.to_bytes(), text);
/// # Ok::<(), multisum::ops::ScrubStateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScrubState(HashMap<RelPath, Timestamp>);

/// Why a text is no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScrubStateError {
    /// Another file, most likely.
    #[error("not a file with the state of earlier runs")]
    NoState,
    /// A line that says nothing.
    #[error("line {0} is not a moment and a name")]
    Line(usize),
}

impl ScrubState {
    /// Reads what [`ScrubState::to_bytes`] has made.
    ///
    /// # Errors
    ///
    /// The text is something else, or damaged.
    pub fn read(text: &[u8]) -> Result<Self, ScrubStateError> {
        let mut lines = text.split(|&byte| byte == b'\n');
        if lines.next() != Some(HEADING) {
            return Err(ScrubStateError::NoState);
        }
        let mut state = Self::default();
        for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            let (name, time) = parse(line).ok_or(ScrubStateError::Line(index + 2))?;
            state.0.insert(name, time);
        }
        Ok(state)
    }

    /// The state as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut rows: Vec<(&RelPath, &Timestamp)> = self.0.iter().collect();
        rows.sort();
        let mut out = HEADING.to_vec();
        out.push(b'\n');
        for (name, time) in rows {
            out.extend_from_slice(time.to_seconds().as_bytes());
            out.extend_from_slice(b"  ");
            gnu_escape_into(name.as_bytes(), &mut out);
            out.push(b'\n');
        }
        out
    }

    fn last(&self, entry: &Listed) -> Option<Timestamp> {
        self.0.get(&*entry.name.normalised()).copied()
    }
}

fn parse(line: &[u8]) -> Option<(RelPath, Timestamp)> {
    let end = line.windows(2).position(|two| two == b"  ")?;
    let time = std::str::from_utf8(&line[..end]).ok()?;
    let name = gnu_unescape(&line[end + 2..])?;
    let time = Modified::parse(time)?.time;
    (!name.is_empty()).then(|| (RelPath::from_bytes(name.into_owned()), time))
}

/// How much of a manifest is verified.
#[derive(Clone, Debug, Default)]
pub struct Portion {
    /// When each name was last found to be as listed: what has waited longest comes first. Without
    /// it the order is that of the manifest.
    pub state: Option<Arc<ScrubState>>,
    /// The bytes of the files after which no further one is begun.
    pub bytes: Option<u64>,
    /// The moment after which none is.
    pub until: Option<Instant>,
}

impl Portion {
    /// Whether anything but everything, in its order, is asked for.
    pub(super) fn is_limited(&self) -> bool {
        self.state.is_some() || self.bytes.is_some() || self.until.is_some()
    }

    /// The places of the entries in the order in which they are to be verified.
    pub(super) fn arrange(&self, entries: &[Listed]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        if let Some(state) = &self.state {
            order.sort_by_key(|&place| state.last(&entries[place]));
        }
        order
    }

    /// Ends the entries where the portion does. At least one is taken, so that every run gets on.
    pub(super) fn limit(
        &self,
        tokens: impl Iterator<Item = Token> + Send + 'static,
        sources: Arc<Sources>,
    ) -> impl Iterator<Item = Token> + Send + 'static {
        let (most, until) = (self.bytes, self.until);
        let mut taken = None;
        tokens.map_while(move |token| {
            let spent = |bytes: u64| {
                most.is_some_and(|most| bytes >= most)
                    || until.is_some_and(|until| Instant::now() >= until)
            };
            if taken.is_some_and(spent) {
                return None;
            }
            let size = match (&token, most) {
                (Token::Entry(entry), Some(_)) => size(entry, &sources),
                _ => 0,
            };
            taken = Some(taken.unwrap_or(0).saturating_add(size));
            Some(token)
        })
    }
}

/// The bytes of a file, as recorded or as it is now; none if it is not there.
fn size(entry: &Listed, sources: &Sources) -> u64 {
    let there = || {
        let path = sources.path_of(entry)?;
        path.metadata().ok().map(|metadata| metadata.len())
    };
    entry.size().or_else(there).unwrap_or(0)
}

/// What is known when a portion has been verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// The state for the next run.
    pub state: ScrubState,
    /// When the entry that has waited longest was last found well.
    pub oldest: Option<Timestamp>,
    /// Entries that never were.
    pub never: u64,
}

impl Scrubbed {
    /// Joins what was known with the names that were found well now. What is not listed any more is
    /// forgotten; a file that was not well keeps its turn.
    pub(super) fn new(
        before: &ScrubState,
        proved: Vec<RelPath>,
        entries: &[Listed],
        now: Timestamp,
    ) -> Self {
        let mut scrubbed = Self::default();
        let proved: std::collections::HashSet<RelPath> = proved
            .into_iter()
            .map(|name| name.normalised().into_owned())
            .collect();
        for entry in entries {
            let name = entry.name.normalised().into_owned();
            let time = match proved.contains(&name) {
                true => Some(now),
                false => before.last(entry),
            };
            match time {
                Some(time) => {
                    scrubbed.oldest = Some(scrubbed.oldest.map_or(time, |oldest| oldest.min(time)));
                    scrubbed.state.0.insert(name, time);
                }
                None => scrubbed.never += 1,
            }
        }
        scrubbed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_state_is_refused_by_line() {
        let heading = String::from_utf8(HEADING.to_vec()).unwrap();
        for (text, reason) in [
            ("", ScrubStateError::NoState),
            ("9dd4e461  a\n", ScrubStateError::NoState),
            ("HEADING\nnever  a\n", ScrubStateError::Line(2)),
            (
                "HEADING\n\n2026-01-02T03:04:05Z a\n",
                ScrubStateError::Line(3),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  \n",
                ScrubStateError::Line(2),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  a\\q\n",
                ScrubStateError::Line(2),
            ),
        ] {
            let text = text.replace("HEADING", &heading);
            assert_eq!(ScrubState::read(text.as_bytes()), Err(reason), "{text}");
        }
        assert_eq!(ScrubState::read(HEADING), Ok(ScrubState::default()));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            rows in prop::collection::vec((prop::collection::vec(1_u8.., 1..9), 0_i64..4_000_000_000), 0..9),
        ) {
            let rows = rows.into_iter().map(|(name, seconds)| {
                (RelPath::from_bytes(name), Timestamp::new(seconds, 0).unwrap())
            });
            let state = ScrubState(rows.collect());
            prop_assert_eq!(ScrubState::read(&state.to_bytes()), Ok(state));
        }

        #[test]
        fn anything_is_read_without_harm(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = HEADING.to_vec();
            whole.push(b'\n');
            whole.extend(text);
            ScrubState::read(&whole).ok();
        }
    }
}
