//! Whether a list is streamed or held in memory, the same is told.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::digest::Digest;
use crate::event::{Event, OutcomeWord, Verdict};
use crate::hasher::MultiHasher;
use crate::manifest::{Entry, GapKind, Header, Scope, Writer, WriterOptions};
use crate::timestamp::{Modified, Timestamp};

/// In no order, and none the folder of another.
const NAMES: [&str; 12] = [
    "a/b", "z", "a.txt", "a-", "b/c/d", "b/c.d", "b-", "c", "-", "d/e", "\u{e9}", "d/f",
];

const CONTENTS: [&str; 4] = ["", "x", "yy", "zz"];

/// What has become of a name since the list was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Same,
    Changed,
    Damaged,
    Missing,
    Unlisted,
    Gap,
    GapAndDigest,
    Contradicted,
    Folder,
    LinkOut,
    LinkUnlisted,
    LinkIn,
}

const FATES: [Fate; 12] = [
    Fate::Same,
    Fate::Changed,
    Fate::Damaged,
    Fate::Missing,
    Fate::Unlisted,
    Fate::Gap,
    Fate::GapAndDigest,
    Fate::Contradicted,
    Fate::Folder,
    Fate::LinkOut,
    Fate::LinkUnlisted,
    Fate::LinkIn,
];

#[derive(Clone, Debug)]
struct Case {
    files: Vec<(&'static str, &'static str, Fate)>,
    native: bool,
    /// What the list says was walked, and the globs and the slice with it.
    paths: &'static [&'static str],
    exclude: bool,
    recorded_slice: Option<Slice>,
    shifted_hours: i64,
    exact: Option<bool>,
    quick: bool,
    slice: Option<Slice>,
    ignore_missing: bool,
    fail_fast: bool,
    elsewhere: bool,
}

fn slices() -> impl Strategy<Value = Option<Slice>> {
    prop_oneof![
        3 => Just(None),
        1 => (1_u32..=2).prop_map(|index| Slice::new(index, 2).ok()),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let file = (0..CONTENTS.len(), 0..FATES.len());
    let files = proptest::collection::vec(proptest::option::of(file), NAMES.len());
    let paths = prop_oneof![
        4 => Just(&["."][..]),
        1 => Just(&["d", "a", "z"][..]),
        1 => Just(&["a", "a/b", "c"][..]),
        1 => Just(&["gone", "b"][..]),
    ];
    let said = (any::<bool>(), paths, any::<bool>(), slices(), -1_i64..=1);
    let exact = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (files, said, exact, slices(), flags).prop_map(|(files, said, exact, slice, flags)| {
        let present = NAMES.iter().zip(files).filter_map(|(name, file)| {
            let (content, fate) = file?;
            Some((*name, CONTENTS[content], FATES[fate]))
        });
        let mut files: Vec<_> = present.collect();
        files.sort_by_key(|(name, ..)| RelPath::from(*name));
        Case {
            files,
            native: said.0,
            paths: said.1,
            exclude: said.2,
            recorded_slice: said.3,
            shifted_hours: said.4,
            exact,
            quick: flags.0,
            slice,
            ignore_missing: flags.1,
            fail_fast: flags.2,
            elsewhere: flags.3,
        }
    })
}

fn digest(content: &str) -> Digest {
    let mut hasher = MultiHasher::new(&[Algorithm::Sha256]);
    hasher.update(content.as_bytes());
    hasher.finish()[0]
}

/// What a list records of a file.
type Recorded = (Digest, u64, Timestamp);

/// Makes the tree and gives what the list says of each name; nothing, if it is a gap.
fn plant(case: &Case, base: &Path) -> Vec<(RelPath, Option<Recorded>)> {
    let mut listed = Vec::new();
    for (name, content, fate) in &case.files {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match fate {
            Fate::Missing => {}
            Fate::Folder => fs::create_dir(&path).unwrap(),
            Fate::LinkOut => link("../../outside", &path),
            Fate::LinkUnlisted | Fate::LinkIn => link("planted", &path),
            Fate::Changed | Fate::Damaged => {
                fs::write(&path, content.replace(['x', 'z'], "q")).unwrap();
            }
            _ => fs::write(&path, content).unwrap(),
        }
        let modified = path.metadata().and_then(|metadata| metadata.modified());
        let mut time = modified.map_or_else(
            |_| Timestamp::now(),
            |time| Timestamp::from_system(time).unwrap(),
        );
        if *fate == Fate::Changed {
            time = time.plus_seconds(-5).unwrap();
        }
        let time = time.plus_seconds(case.shifted_hours * 3600).unwrap();
        let name = RelPath::from(*name);
        let claim = (digest(content), content.len() as u64, time);
        match fate {
            Fate::Unlisted | Fate::LinkUnlisted => {}
            Fate::Gap => listed.push((name, None)),
            Fate::GapAndDigest => listed.extend([(name.clone(), Some(claim)), (name, None)]),
            Fate::Contradicted => {
                let other = (digest("other"), claim.1, time);
                listed.extend([(name.clone(), Some(claim)), (name, Some(other))]);
            }
            _ => listed.push((name, Some(claim))),
        }
    }
    listed
}

fn link(target: &str, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
    #[cfg(not(unix))]
    fs::write(path, target).unwrap();
}

fn write_list(case: &Case, base: &Path, path: &Path) {
    let format = if case.native {
        Format::Jsonl
    } else {
        Format::Bsd
    };
    let exclude = if case.exclude {
        vec!["z".to_owned(), "*.d".to_owned()]
    } else {
        Vec::new()
    };
    let header = Header {
        base: Some(RelPath::from_path(base)),
        paths: case.paths.iter().map(|path| RelPath::from(*path)).collect(),
        scope: Scope {
            exclude,
            slice: case.recorded_slice,
            ..Scope::default()
        },
        ..Header::default()
    };
    let mut writer = Writer::new(WriterOptions {
        header,
        ..WriterOptions::new(format, &[Algorithm::Sha256])
    })
    .unwrap();
    let mut out = Vec::new();
    for (name, claim) in plant(case, base) {
        match claim {
            Some((digest, size, time)) => {
                let entry = Entry {
                    name: &name,
                    digests: &[digest],
                    size: Some(size),
                    modified: Some(Modified::exactly(time)),
                };
                writer.write_entry(&mut out, &entry).unwrap();
            }
            None => writer
                .write_gap(&mut out, &name, GapKind::Unreadable)
                .unwrap(),
        }
    }
    writer.finish(&mut out).unwrap();
    fs::write(path, out).unwrap();
}

/// Every event as text, and how often each outcome occurred.
#[derive(Default)]
struct Told {
    events: Vec<String>,
    words: Vec<(RelPath, OutcomeWord)>,
}

impl Sink for Told {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.events.push(format!("{event:?}"));
        if let Event::Verdict { name, verdict } = event {
            self.words.push((name.clone(), Verdict::word(verdict)));
        }
        Ok(())
    }
}

fn list(path: &Path, streamed: bool) -> List {
    let file = File::open(path).unwrap();
    List {
        name: RelPath::from("L"),
        path: Some(path.to_owned()),
        input: match streamed {
            true => ListInput::File(file),
            false => ListInput::Stream(Box::new(file)),
        },
    }
}

fn told(path: &Path, streamed: bool, options: &VerifyOptions) -> (Told, String) {
    let mut told = Told::default();
    let engine = engine::Options::with_threads(NonZeroUsize::MIN);
    let verified = verify(vec![list(path, streamed)], options, &engine, &mut told);
    (told, format!("{verified:?}"))
}

fn options(case: &Case, base: &Path, list: &Path) -> VerifyOptions {
    let mut leave_out = LeaveOut::new();
    leave_out.add_path(list).unwrap();
    VerifyOptions {
        base: match case.elsewhere || !case.native {
            true => BaseChoice::Given(base.to_owned()),
            false => BaseChoice::Find,
        },
        exact: case.exact,
        quick: case.quick,
        slice: case.slice,
        ignore_missing: case.ignore_missing,
        fail_fast: case.fail_fast,
        leave_out,
        ..VerifyOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_streamed_list_and_one_in_memory_are_told_alike(case in cases()) {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().join("base");
        fs::create_dir(&base).unwrap();
        fs::write(directory.path().join("outside"), "x").unwrap();
        let path = base.join("L");
        write_list(&case, &base, &path);
        let options = options(&case, &base, &path);

        let (streamed, streamed_end) = told(&path, true, &options);
        let (held, held_end) = told(&path, false, &options);
        prop_assert_eq!(&streamed.events, &held.events);
        prop_assert_eq!(streamed_end, held_end);
        let mut names: Vec<_> = streamed.words.iter().map(|(name, _)| name).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        prop_assert_eq!(names.len(), all, "a name was told twice");
    }
}

fn opened(path: &Path, options: &VerifyOptions) -> bool {
    let opened = stream::open(vec![list(path, true)], options, &mut Told::default());
    matches!(opened, Ok(Opened::Streamed(_)))
}

#[test]
fn lists_in_order_are_streamed_and_others_held() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    for name in ["a", "b"] {
        fs::write(base.join(name), name).unwrap();
    }
    let line = |name: &str| format!("{}  {name}\n", digest(name));
    let path = base.join("SHA256SUMS");
    let options = VerifyOptions::default();
    for (text, streams) in [
        (line("a") + &line("b"), true),
        (line("a") + "prose\n" + &line("b"), true),
        (line("b") + &line("a"), false),
        (line("./a") + &line("b"), false),
        (line("/a") + &line("b"), false),
        (line("a\\b") + &line("b"), false),
    ] {
        fs::write(&path, &text).unwrap();
        assert_eq!(opened(&path, &options), streams, "{text}");
    }
    fs::write(&path, line("a")).unwrap();
    let relocated = VerifyOptions {
        relocation: Relocation {
            strip: 1,
            ..Relocation::default()
        },
        ..VerifyOptions::default()
    };
    assert!(!opened(&path, &relocated));
}

#[test]
fn paths_that_lie_in_each_other_are_not_walked_in_the_order_of_names() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    let case = |paths: &'static [&'static str]| Case {
        files: vec![("a/b", "x", Fate::Same), ("c", "x", Fate::Same)],
        native: true,
        paths,
        exclude: false,
        recorded_slice: None,
        shifted_hours: 0,
        exact: None,
        quick: false,
        slice: None,
        ignore_missing: false,
        fail_fast: false,
        elsewhere: false,
    };
    let path = base.join("L");
    for (paths, streams) in [
        (&["."][..], true),
        (&["c", "a"], true),
        (&["a", "a/b"], false),
        (&[".", "c"], false),
    ] {
        write_list(&case(paths), base, &path);
        assert_eq!(
            opened(&path, &VerifyOptions::default()),
            streams,
            "{paths:?}"
        );
    }
}
