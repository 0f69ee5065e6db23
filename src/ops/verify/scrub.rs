//! Verification in portions: what has waited longest comes first, and a limit ends a run.

use std::collections::HashMap;
use std::fs::Metadata;
use std::sync::Arc;
use std::time::Instant;

use crate::manifest::{gnu_escape_into, gnu_unescape};
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

use super::compare::{Token, can_be_quick, is_read};
use super::listed::Listed;
use super::sources::Sources;

/// The first line of a state.
const HEADING: &[u8] =
    b"# when multisum last tried each file, when it last found it to be as listed (or -), its name";

/// Stands for a moment that there never was.
const NEVER: &[u8] = b"-";

/// When each file of a manifest was last tried, and when it was last found to be as listed.
///
/// As text it is a heading and one line a name, in the order of names: both moments and the name,
/// with two spaces between them; `-` where it was never found to be as listed; in the name `\\`,
/// `\n` and `\r` for backslashes, line feeds and carriage returns.
///
/// # Examples
///
/// ```
/// use multisum::ops::ScrubState;
/// let text = b"\
/// ## when multisum last tried each file, when it last found it to be as listed (or -), its name
/// 2026-01-03T03:04:05.000000000Z  2026-01-02T03:04:05.000000000Z  a/b
/// 2026-01-03T03:04:05.000000000Z  -  c
/// ";
/// assert_eq!(ScrubState::read(text)?.to_bytes(), text);
/// # Ok::<(), multisum::ops::ScrubStateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScrubState(HashMap<RelPath, Times>);

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    tried: Timestamp,
    well: Option<Timestamp>,
}

impl Times {
    /// Without moments that have not been yet: a clock that was wrong once must not keep a file
    /// from its turn until then.
    fn until(self, now: Timestamp) -> Option<Self> {
        let well = self.well.filter(|well| *well <= now);
        let tried = Some(self.tried).filter(|tried| *tried <= now).or(well)?;
        Some(Self { tried, well })
    }

    /// Whether the file was well when it was last tried.
    fn is_well(&self) -> bool {
        self.well.is_some_and(|well| well >= self.tried)
    }
}

/// Why a text is no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScrubStateError {
    /// Another file, most likely.
    #[error("not a file with the state of earlier runs")]
    NoState,
    /// A line that says nothing.
    #[error("line {0} is not two moments and a name")]
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
            let (name, times) = parse(line).ok_or(ScrubStateError::Line(index + 2))?;
            state.0.insert(name, times);
        }
        Ok(state)
    }

    /// The state as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut rows: Vec<(&RelPath, &Times)> = self.0.iter().collect();
        rows.sort_by_key(|(name, _)| *name);
        let mut out = HEADING.to_vec();
        out.push(b'\n');
        for (name, Times { tried, well }) in rows {
            out.extend_from_slice(tried.to_string().as_bytes());
            out.extend_from_slice(b"  ");
            match well {
                Some(well) => out.extend_from_slice(well.to_string().as_bytes()),
                None => out.extend_from_slice(NEVER),
            }
            out.extend_from_slice(b"  ");
            gnu_escape_into(name.as_bytes(), &mut out);
            out.push(b'\n');
        }
        out
    }

    fn times(&self, entry: &Listed, now: Timestamp) -> Option<Times> {
        self.0.get(&*entry.name.normalised())?.until(now)
    }

    /// Whether the file was tried before and was not well then.
    fn was_not_well(&self, entry: &Listed, now: Timestamp) -> bool {
        self.times(entry, now).is_some_and(|times| !times.is_well())
    }
}

fn parse(line: &[u8]) -> Option<(RelPath, Times)> {
    let (tried, rest) = split(line)?;
    let (well, name) = split(rest)?;
    let tried = moment(tried)?;
    let well = match well == NEVER {
        true => None,
        false => Some(moment(well)?),
    };
    let name = gnu_unescape(name)?;
    let times = Times { tried, well };
    (!name.is_empty()).then(|| (RelPath::from_bytes(name.into_owned()), times))
}

/// What stands before and after the first two spaces.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.windows(2).position(|two| two == b"  ")?;
    Some((&line[..end], &line[end + 2..]))
}

fn moment(text: &[u8]) -> Option<Timestamp> {
    Modified::parse(std::str::from_utf8(text).ok()?).map(|modified| modified.time)
}

/// How much of a manifest is verified.
///
/// What was not well when it was last tried comes first, and comes on top of the portion: its bytes
/// are not counted, so that it cannot use up the portions of all runs. When the time is over, what
/// is left of it is passed over.
#[derive(Clone, Debug, Default)]
pub struct Portion {
    /// What earlier runs have found: of what was well, that which has waited longest comes first.
    /// Without it the order is that of the manifest.
    pub state: Option<Arc<ScrubState>>,
    /// The bytes of the files after which no further one is begun.
    pub bytes: Option<u64>,
    /// The moment after which none is. One of the portion is begun even so.
    pub until: Option<Instant>,
}

impl Portion {
    /// Whether anything but everything, in its order, is asked for.
    pub(super) fn is_limited(&self) -> bool {
        self.state.is_some() || self.bytes.is_some() || self.until.is_some()
    }

    /// The places of the entries in the order in which they are to be verified.
    pub(super) fn arrange(&self, entries: &[Listed], now: Timestamp) -> Vec<usize> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        if let Some(state) = &self.state {
            order.sort_by_cached_key(|&place| {
                let times = state.times(&entries[place], now);
                (
                    times.is_none_or(|times| times.is_well()),
                    times.map(|times| times.tried),
                )
            });
        }
        order
    }

    /// Ends the entries where the portion does. At least one of it is taken, so that every run gets
    /// on. `is_quick` says that files are not read which a look proves to be as recorded.
    pub(super) fn limit(
        &self,
        tokens: impl Iterator<Item = Token> + Send + 'static,
        sources: Arc<Sources>,
        now: Timestamp,
        is_quick: bool,
    ) -> impl Iterator<Item = Token> + Send + 'static {
        let Self {
            state,
            bytes: most,
            until,
        } = self.clone();
        let was_not_well = move |token: &Token| match (token, &state) {
            (Token::Entry(entry), Some(state)) => state.was_not_well(entry, now),
            _ => false,
        };
        let (mut has_begun, mut taken) = (false, None);
        let limited = tokens.map_while(move |token| {
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if was_not_well(&token) {
                let is_passed_over = is_late && has_begun;
                has_begun = true;
                return Some((!is_passed_over).then_some(token));
            }
            let is_done = |bytes: u64| is_late || most.is_some_and(|most| bytes >= most);
            if taken.is_some_and(is_done) {
                return None;
            }
            let size = match (&token, most) {
                (Token::Entry(entry), Some(_)) => bytes_to_read(entry, &sources, is_quick),
                _ => 0,
            };
            taken = Some(taken.unwrap_or(0).saturating_add(size));
            Some(Some(token))
        });
        limited.flatten()
    }
}

/// The bytes that verifying an entry reads: those that are there now, whatever is recorded.
fn bytes_to_read(entry: &Listed, sources: &Sources, is_quick: bool) -> u64 {
    let path = Some(entry).filter(|entry| is_read(entry));
    let path = path.and_then(|entry| sources.path_of(entry));
    match path.and_then(|path| path.metadata().ok()) {
        Some(found) if found.is_file() && !(is_quick && is_as_recorded(entry, &found)) => {
            found.len()
        }
        _ => 0,
    }
}

/// Whether a look is enough to tell that the file is as it was.
fn is_as_recorded(entry: &Listed, found: &Metadata) -> bool {
    let modified = found.modified().ok().and_then(Timestamp::from_system);
    let times = entry.modified().zip(modified);
    can_be_quick(entry)
        && entry.size() == Some(found.len())
        && times.is_some_and(|(recorded, now)| recorded.may_agree_with(now))
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

/// An entry that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) name: RelPath,
    pub(super) is_well: bool,
}

impl Scrubbed {
    /// Joins what was known with what came of the entries that were tried now. What is not listed any
    /// more is forgotten.
    pub(super) fn new(
        before: &ScrubState,
        tried: Vec<Tried>,
        entries: &[Listed],
        now: Timestamp,
    ) -> Self {
        let mut outcomes: HashMap<RelPath, bool> = HashMap::new();
        for Tried { name, is_well } in tried {
            let outcome = outcomes.entry(name.normalised().into_owned());
            *outcome.or_insert(true) &= is_well;
        }
        let mut scrubbed = Self::default();
        for entry in entries {
            let name = entry.name.normalised().into_owned();
            let past = before.times(entry, now);
            let times = match outcomes.get(&name) {
                None => past,
                Some(is_well) => Some(Times {
                    tried: now,
                    well: match is_well {
                        true => Some(now),
                        false => past.and_then(|past| past.well),
                    },
                }),
            };
            scrubbed.add(name, times);
        }
        scrubbed
    }

    fn add(&mut self, name: RelPath, times: Option<Times>) {
        match times.and_then(|times| times.well) {
            Some(well) => self.oldest = Some(self.oldest.map_or(well, |oldest| oldest.min(well))),
            None => self.never += 1,
        }
        self.state.0.extend(times.map(|times| (name, times)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::algorithm::Algorithm;
    use crate::digest::Digest;
    use crate::manifest::{Claim, ClaimedDigest};

    use super::super::Relocation;
    use super::super::sources::ListSource;
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0).unwrap()
    }

    /// A file that is listed as having so many bytes.
    fn listed(name: &str, size: u64) -> Listed {
        let mut claim = Claim::bare(RelPath::from(name));
        let empty = Digest::parse(Algorithm::Md5, b"d41d8cd98f00b204e9800998ecf8427e").unwrap();
        claim.digests.push(ClaimedDigest::Known(empty));
        claim.size = Some(size);
        Listed::new(claim, 0, &Relocation::default(), None)
    }

    fn state(rows: &[(&str, i64, Option<i64>)]) -> ScrubState {
        let rows = rows.iter().map(|&(name, tried, well)| {
            let (tried, well) = (at(tried), well.map(at));
            (RelPath::from(name), Times { tried, well })
        });
        ScrubState(rows.collect())
    }

    /// The names that a run at the moment 100 takes, of files that are not there.
    fn taken(portion: &Portion, names: &[&str]) -> Vec<String> {
        let entries: Vec<Listed> = names.iter().map(|name| listed(name, 1 << 40)).collect();
        let source = ListSource::new(RelPath::from("list"), None);
        let order = portion.arrange(&entries, at(100));
        let tokens = order
            .into_iter()
            .map(move |place| Token::Entry(entries[place].clone()));
        let sources = Arc::new(Sources(vec![source]));
        let limited = portion.limit(tokens, sources, at(100), false);
        let name = |token| match token {
            Token::Entry(entry) => String::from_utf8(entry.name.as_bytes().to_vec()).unwrap(),
            Token::Stray(_) | Token::Broken(_) => unreachable!(),
        };
        limited.map(name).collect()
    }

    #[test]
    fn what_was_not_well_comes_first_and_then_what_has_waited_longest() {
        let rows = [
            ("late", 9, Some(9)),
            ("early", 3, Some(3)),
            ("bad", 8, Some(5)),
            ("worse", 7, None),
        ];
        let portion = Portion {
            state: Some(Arc::new(state(&rows))),
            ..Portion::default()
        };
        let names = ["late", "bad", "early", "new", "worse"];
        let order = ["worse", "bad", "new", "early", "late"];
        assert_eq!(taken(&portion, &names), order);
    }

    #[test]
    fn a_clock_that_was_wrong_once_keeps_no_file_from_its_turn() {
        let rows = [("a", 50, Some(50)), ("b", 9999, Some(9999))];
        let portion = Portion {
            state: Some(Arc::new(state(&rows))),
            ..Portion::default()
        };
        assert_eq!(taken(&portion, &["a", "b"]), ["b", "a"]);
        let before = portion.state.unwrap();
        let entries = [listed("a", 0), listed("b", 0)];
        let scrubbed = Scrubbed::new(&before, Vec::new(), &entries, at(100));
        assert_eq!(scrubbed.state, state(&rows[..1]));
        assert_eq!((scrubbed.oldest, scrubbed.never), (Some(at(50)), 1));
    }

    #[test]
    fn files_that_are_not_there_use_up_no_portion() {
        let portion = Portion {
            bytes: Some(1),
            ..Portion::default()
        };
        assert_eq!(taken(&portion, &["a", "b", "c"]), ["a", "b", "c"]);
    }

    #[test]
    fn when_the_time_is_over_one_entry_beyond_those_that_were_not_well_is_taken() {
        let rows = [("bad", 8, None), ("worse", 7, None), ("good", 5, Some(5))];
        let portion = Portion {
            state: Some(Arc::new(state(&rows))),
            until: Some(Instant::now()),
            ..Portion::default()
        };
        let names = ["bad", "good", "new", "worse"];
        assert_eq!(taken(&portion, &names), ["worse", "new"]);
        // Where nothing else is left, each of them gets its turn.
        assert_eq!(taken(&portion, &["bad", "worse"]), ["worse"]);
    }

    #[test]
    fn what_was_tried_in_vain_keeps_the_moment_when_it_was_well() {
        let before = state(&[("a", 5, Some(5)), ("b", 6, Some(6)), ("gone", 7, Some(7))]);
        let tried = |name: &str, is_well| Tried {
            name: RelPath::from(name),
            is_well,
        };
        let tried = vec![tried("a", false), tried("./new", false), tried("b", true)];
        let entries = ["a", "b", "new", "waits"].map(|name| listed(name, 0));
        let scrubbed = Scrubbed::new(&before, tried, &entries, at(9));
        let after = [("a", 9, Some(5)), ("b", 9, Some(9)), ("new", 9, None)];
        assert_eq!(scrubbed.state, state(&after));
        assert_eq!((scrubbed.oldest, scrubbed.never), (Some(at(5)), 2));
    }

    #[test]
    fn what_is_no_state_is_refused_by_line() {
        let heading = String::from_utf8(HEADING.to_vec()).unwrap();
        for (text, reason) in [
            ("", ScrubStateError::NoState),
            ("9dd4e461  a\n", ScrubStateError::NoState),
            ("HEADING\nnever  -  a\n", ScrubStateError::Line(2)),
            (
                "HEADING\n\n2026-01-02T03:04:05Z  - a\n",
                ScrubStateError::Line(3),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  never  a\n",
                ScrubStateError::Line(2),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  a\n",
                ScrubStateError::Line(2),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  -  \n",
                ScrubStateError::Line(2),
            ),
            (
                "HEADING\n2026-01-02T03:04:05Z  -  a\\q\n",
                ScrubStateError::Line(2),
            ),
        ] {
            let text = text.replace("HEADING", &heading);
            assert_eq!(ScrubState::read(text.as_bytes()), Err(reason), "{text}");
        }
        assert_eq!(ScrubState::read(HEADING), Ok(ScrubState::default()));
    }

    prop_compose! {
        fn any_moment()(
            seconds in 0_i64..4_000_000_000,
            nanoseconds in 0_u32..1_000_000_000,
        ) -> Timestamp {
            Timestamp::new(seconds, nanoseconds).unwrap()
        }
    }

    prop_compose! {
        fn any_times()(tried in any_moment(), well in prop::option::of(any_moment())) -> Times {
            Times { tried, well }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            rows in prop::collection::vec((prop::collection::vec(1_u8.., 1..9), any_times()), 0..9),
        ) {
            let rows = rows.into_iter().map(|(name, times)| (RelPath::from_bytes(name), times));
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
