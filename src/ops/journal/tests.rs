use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::*;
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Identity, Outcome, Saved, Status};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

const ALGORITHMS: [Algorithm; 2] = [Algorithm::Md5, Algorithm::Sha1];

fn terms() -> Vec<Term> {
    vec![Term::new("command", "hash"), Term::new("base", "/srv")]
}

fn created() -> Timestamp {
    Timestamp::new(1_700_000_000, 5).unwrap()
}

/// An hour ago, by what the file system tells.
fn hashed(seed: u8) -> Hashed {
    let modified = SystemTime::now() - Duration::from_secs(3600);
    let digest = |algorithm: Algorithm| {
        Digest::new(algorithm, &vec![seed; algorithm.digest_len_bytes()]).unwrap()
    };
    Hashed {
        digests: ALGORITHMS.into_iter().map(digest).collect(),
        size: u64::from(seed),
        read_before: None,
        modified: Some(modified),
        identity: Some(Identity {
            device: 1,
            inode: u64::from(seed),
            changed: Timestamp::from_system(modified).unwrap(),
        }),
        retried_reads: 0,
        direct_refused: false,
    }
}

fn name(number: u8) -> RelPath {
    RelPath::from_bytes(format!("d/file {number}\n").into_bytes())
}

fn saved() -> Saved {
    let modified = Timestamp::new(1_600_000_000, 7);
    Saved {
        path: PathBuf::from("big"),
        status: Status {
            size: 9_000_000,
            modified,
            identity: None,
        },
        offset: 4 << 20,
        algorithms: ALGORITHMS.into(),
        states: vec![Box::new([1, 2]), Box::new([])],
    }
}

/// Writes a journal with these entries and the states of one file, as a killed run leaves it.
fn write(path: &Path, numbers: std::ops::Range<u8>) {
    let lock = Lock::take(path.to_owned()).unwrap();
    let mut journal = lock.begin(created(), &terms()).unwrap();
    for number in numbers {
        journal.add(&name(number), &hashed(number), None).unwrap();
    }
    journal.add_saved(&saved()).unwrap();
    journal.write().unwrap();
    journal.stop().unwrap();
}

fn contents(path: &Path) -> (Lock, Contents) {
    let mut lock = Lock::take(path.to_owned()).unwrap();
    let contents = lock.contents().unwrap();
    (lock, contents)
}

/// How many of the entries 0 to 9 are believed, each of which must be right.
fn believed(path: &Path) -> usize {
    let (lock, contents) = contents(path);
    let Some(past) = contents.past else { return 0 };
    let journal = lock.go_on(past, &terms()).unwrap();
    let resumed = journal.resumed.as_ref().unwrap();
    let found = |number: &u8| {
        let Some(found) = resumed.entry(&name(*number), &ALGORITHMS) else {
            return false;
        };
        assert_eq!(found.digests, hashed(*number).digests);
        assert_eq!(found.status.size, u64::from(*number));
        assert!(found.known().holds(&found.status));
        true
    };
    (0..10).filter(found).count()
}

#[test]
fn what_was_added_is_found_again_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..10);
    assert_eq!(believed(&path), 10);
    let (lock, contents) = contents(&path);
    assert_eq!(contents.damaged_at, None);
    let past = contents.past.unwrap();
    assert_eq!((past.created(), past.files()), (created(), 10));
    let journal = lock.go_on(past, &terms()).unwrap();
    let resumed = journal.resumed.as_ref().unwrap();
    assert_eq!(resumed.entry(&name(10), &ALGORITHMS), None);
    assert_eq!(resumed.entry(&name(1), &ALGORITHMS[..1]), None);
    assert_eq!(resumed.begun(Path::new("big"), None), Some(saved()));
    assert_eq!(resumed.begun(Path::new("small"), None), None);
}

#[test]
fn how_a_file_was_read_is_found_again_and_through_which_mount() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    let lock = Lock::take(path.clone()).unwrap();
    let mut journal = lock.begin(created(), &terms()).unwrap();
    let mut retried = hashed(4);
    retried.retried_reads = 7;
    retried.direct_refused = true;
    journal.add(&name(4), &retried, Some(1 << 40)).unwrap();
    journal.write().unwrap();
    journal.stop().unwrap();
    let (lock, contents) = contents(&path);
    assert_eq!(contents.damaged_at, None);
    let journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    let resumed = journal.resumed.as_ref().unwrap();
    let read = resumed.entry(&name(4), &ALGORITHMS).unwrap();
    assert_eq!(read.mount, Some(1 << 40));
    let read = read.outcome();
    assert!(
        matches!(&read, Outcome::Hashed(read) if read.retried_reads == 7 && read.direct_refused),
        "{read:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_journal_of_another_mount_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let base = folder.path().canonicalize().unwrap();
    let mount = |id: &str| mounts::Mount {
        folder: RelPath::from_path(&base),
        id: RelPath::from(id),
    };
    for other in ["", "another start 7"] {
        let lock = Lock::take(path.clone()).unwrap();
        let mut journal = lock.begin(created(), &terms()).unwrap();
        journal.put(&record::mounts(&[mount(other)]));
        journal.add(&name(1), &hashed(1), None).unwrap();
        journal.write().unwrap();
        journal.stop().unwrap();
        let whole = fs::read(&path).unwrap();
        let (lock, contents) = contents(&path);
        let mut journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
        let minded = journal.mind_mounts([&*base]);
        if crate::location::mount_of(&base).unwrap().is_none() && other.is_empty() {
            minded.unwrap();
            continue;
        }
        let refused = minded.unwrap_err();
        let cause = refused.io_error().get_ref().unwrap();
        assert!(cause.is::<JournalError>());
        assert!(
            refused.to_string().contains("was mounted anew"),
            "{refused}"
        );
        drop(journal);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn a_named_file_that_is_no_journal_is_refused_and_a_new_one_known_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let torn = &record::BEGINNING[..8];
    for foreign in [&b""[..], &[0; 40], torn, b"a file of the user's"] {
        fs::write(&path, foreign).unwrap();
        let refused = Lock::take_named(path.clone());
        assert!(matches!(refused, Err(JournalError::Foreign(_))));
        assert_eq!(fs::read(&path).unwrap(), foreign);
    }
    fs::remove_file(&path).unwrap();
    let journal = |path: PathBuf| {
        let lock = Lock::take_named(path).unwrap();
        lock.begin(created(), &terms()).unwrap()
    };
    let begun = journal(path.clone());
    assert!(begun.is_blank());
    let left = fs::read(&path).unwrap();
    assert_eq!(left, record::BEGINNING);
    drop(begun);
    assert!(!path.exists());
    // As a kill leaves it.
    fs::write(&path, left).unwrap();
    journal(path).finish().unwrap();
}

#[test]
fn zeros_before_something_else_are_no_blank_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    let mut image = vec![0; 3 << 20];
    image.push(1);
    fs::write(&path, &image).unwrap();
    let refused = Lock::take(path.clone()).unwrap().contents();
    assert!(matches!(refused, Err(JournalError::Foreign(_))));
    assert_eq!(fs::read(&path).unwrap(), image);
}

#[test]
fn what_is_left_or_secured_is_there_when_the_run_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    let lock = Lock::take(path.clone()).unwrap();
    let mut journal = lock.begin(created(), &terms()).unwrap();
    journal.add(&name(1), &hashed(1), None).unwrap();
    assert!(journal.is_blank());
    journal.secure().unwrap();
    assert!(!journal.is_blank());
    journal.leave();
    journal.finish().unwrap();
    assert_eq!(contents(&path).1.past.unwrap().files(), 1);
}

#[test]
fn the_last_of_several_entries_of_a_name_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..10);
    let (lock, contents) = contents(&path);
    let mut journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    journal.add(&name(3), &hashed(99), None).unwrap();
    journal.stop().unwrap();
    let (lock, contents) = self::contents(&path);
    let journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    let resumed = journal.resumed.as_ref().unwrap();
    let found = resumed.entry(&name(3), &ALGORITHMS).unwrap();
    assert_eq!(found.digests, hashed(99).digests);
    assert_eq!(resumed.entry(&name(4), &ALGORITHMS).unwrap().status.size, 4);
}

#[test]
fn every_prefix_is_believed_as_far_as_its_records_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..10);
    let whole = fs::read(&path).unwrap();
    let mut last = 0;
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        let now = believed(&path);
        assert!(now == last || now == last + 1, "{len}: {last}, then {now}");
        // The torn end is gone, and what is added now stands where it was.
        let kept = fs::metadata(&path).map_or(0, |journal| journal.len());
        assert!(kept <= len as u64);
        last = now;
    }
    assert_eq!(last, 10);
}

#[test]
fn nothing_behind_a_flipped_bit_is_believed_and_nothing_before_it_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..10);
    let whole = fs::read(&path).unwrap();
    let mut last = 0;
    for place in record::BEGINNING.len()..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1 << (place % 8);
        fs::write(&path, damaged).unwrap();
        let now = believed(&path);
        assert!(
            now == last || now == last + 1,
            "{place}: {last}, then {now}"
        );
        last = now;
    }
    for place in 0..record::BEGINNING.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        fs::write(&path, damaged).unwrap();
        let refused = Lock::take(path.clone()).unwrap().contents();
        assert!(matches!(refused, Err(JournalError::Foreign(_))), "{place}");
    }
}

#[test]
fn zeros_and_records_in_another_place_are_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..10);
    let whole = fs::read(&path).unwrap();
    for zeros in [1, 11, 12, 13, 5000] {
        fs::write(&path, [&whole[..], &vec![0; zeros]].concat()).unwrap();
        let damaged_at = contents(&path).1.damaged_at;
        assert_eq!(damaged_at, Some(whole.len() as u64));
        assert_eq!(believed(&path), 10);
        assert_eq!(fs::read(&path).unwrap(), whole);
        fs::write(&path, vec![0; zeros]).unwrap();
        assert_eq!(believed(&path), 0);
    }
    let twice = [&whole[..], &whole[record::BEGINNING.len()..]].concat();
    fs::write(&path, twice).unwrap();
    assert_eq!(contents(&path).1.damaged_at, Some(whole.len() as u64));
}

#[test]
fn a_file_that_was_touched_when_the_run_began_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    let lock = Lock::take(path.clone()).unwrap();
    let mut journal = lock.begin(created(), &terms()).unwrap();
    let now = SystemTime::now();
    let mut fresh = hashed(1);
    fresh.modified = Some(now);
    journal.add(&name(1), &fresh, None).unwrap();
    let mut changed = hashed(2);
    changed.identity.as_mut().unwrap().changed = Timestamp::from_system(now).unwrap();
    journal.add(&name(2), &changed, None).unwrap();
    let mut timeless = hashed(3);
    timeless.modified = None;
    journal.add(&name(3), &timeless, None).unwrap();
    assert_eq!(journal.files(), 2);
    journal.write().unwrap();
    journal.stop().unwrap();
    let (lock, contents) = contents(&path);
    let journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    let resumed = journal.resumed.as_ref().unwrap();
    for number in [1, 2] {
        let found = resumed.entry(&name(number), &ALGORITHMS).unwrap();
        assert!(!found.known().holds(&found.status), "{number}");
    }
    assert_eq!(resumed.entry(&name(3), &ALGORITHMS), None);
}

#[test]
fn a_run_on_other_terms_leaves_the_journal_as_it_is_and_names_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    write(&path, 0..2);
    let whole = fs::read(&path).unwrap();
    let (lock, contents) = contents(&path);
    let other = vec![Term::new("command", "hash"), Term::new("base", "/home")];
    let refused = lock.go_on(contents.past.unwrap(), &other).unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("had other base: '/srv', and now '/home'; repeat it"),
        "{told}"
    );
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn one_run_at_a_time_holds_it_and_the_next_finds_it_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal_beside(&folder.path().join("L")).unwrap();
    assert!(path.ends_with(".L.journal"));
    let first = Lock::take(path.clone()).unwrap();
    let second = Lock::take(path.clone());
    assert!(matches!(second, Err(JournalError::Busy(_))), "{second:?}");
    let journal = first.begin(created(), &terms()).unwrap();
    assert!(matches!(
        Lock::take(path.clone()),
        Err(JournalError::Busy(_))
    ));
    drop(journal);
    assert!(!path.exists(), "a blank journal is not left behind");
    write(&path, 0..1);
    let (lock, contents) = contents(&path);
    let journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    drop(journal);
    assert!(path.exists());
    let (lock, contents) = self::contents(&path);
    let journal = lock.go_on(contents.past.unwrap(), &terms()).unwrap();
    journal.finish().unwrap();
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".L.journal");
    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    let refused = Lock::take(path.clone());
    assert!(matches!(refused, Err(JournalError::Foreign(_))));
    assert!(!folder.path().join("elsewhere").exists());
    fs::remove_file(&path).unwrap();
    fs::write(&path, "a file of the user").unwrap();
    let refused = Lock::take(path.clone()).unwrap().contents();
    assert!(matches!(refused, Err(JournalError::Foreign(_))));
    assert_eq!(fs::read(&path).unwrap(), b"a file of the user");
}
