//! One verdict of every kind, for the tests of the reports.

use std::io;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Instability};
use crate::error::{FileError, Operation};
use crate::event::{Difference, Unverified, Verdict};
use crate::relpath::RelPath;

pub(super) fn name(text: &str) -> RelPath {
    RelPath::from(text)
}

pub(super) fn digest(algorithm: Algorithm, fill: u8) -> Digest {
    Digest::new(algorithm, &vec![fill; algorithm.digest_len_bytes()]).unwrap()
}

pub(super) fn difference(algorithm: Algorithm) -> Difference {
    Difference::Digest {
        expected: digest(algorithm, 0x58),
        actual: digest(algorithm, 0x06),
    }
}

pub(super) fn hashed(size: u64) -> Hashed {
    Hashed {
        digests: vec![digest(Algorithm::Xxh64, 0xab), digest(Algorithm::Crc32, 1)],
        size,
        read_before: None,
        modified: None,
        identity: None,
        retried_reads: 0,
        direct_refused: false,
    }
}

pub(super) fn changed(size: u64) -> Verdict {
    Verdict::Changed {
        differences: vec![difference(Algorithm::Crc32)],
        size,
    }
}

pub(super) fn unreadable() -> Verdict {
    let text = "Permission denied (os error 13)";
    let denied = io::Error::new(io::ErrorKind::PermissionDenied, text);
    Verdict::Unreadable(FileError::new(Operation::Open, "/base/a", denied))
}

pub(super) fn verdicts() -> Vec<Verdict> {
    vec![
        Verdict::Ok { size: 3 },
        changed(4),
        Verdict::Missing,
        Verdict::Moved { to: name("b") },
        Verdict::New,
        unreadable(),
        Verdict::Unstable(Instability::Resized {
            before: 1,
            after: 2,
        }),
        Verdict::Unverified(Unverified::Gap),
        Verdict::Unread,
    ]
}
