//! Lines a second that are read from manifests of every kind, a million entries each.
//!
//! One function a format; `RECORDS` of them are made once, and only reading is measured.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use multisum::manifest::{Content, Entry, Format, Hints, Reader, Writer, WriterOptions};
use multisum::timestamp::{Modified, Timestamp};
use multisum::{Algorithm, Digest, RelPath};

const RECORDS: u64 = 1_000_000;

fn main() {
    divan::main();
}

/// A manifest as this program writes it, with names and sizes like those of a tree of photographs.
fn manifest(format: Format, algorithms: &[Algorithm]) -> Vec<u8> {
    let mut writer = Writer::new(WriterOptions::new(format, algorithms)).expect("carried");
    let mut out = Vec::new();
    for number in 0..RECORDS {
        let name = RelPath::from(&*format!(
            "photos/{:03}/{number:07} - copy.jpg",
            number % 997
        ));
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        let digests: Vec<Digest> = algorithms
            .iter()
            .map(|algorithm| {
                let len = algorithm.digest_len_bytes();
                let bytes: Vec<u8> = seed.iter().copied().cycle().take(len).collect();
                Digest::new(*algorithm, &bytes).expect("of that length")
            })
            .collect();
        let seconds = 1_700_000_000 + i64::try_from(number).expect("small");
        let entry = Entry {
            name: &name,
            digests: &digests,
            size: Some(number * 37),
            modified: Timestamp::new(seconds, 123_456_789).map(Modified::exactly),
        };
        writer
            .write_entry(&mut out, &entry)
            .expect("can be written");
    }
    writer.finish(&mut out).expect("memory takes it");
    out
}

/// Reads a manifest to its end; every record of it must be a claim.
fn read(bencher: Bencher<'_, '_>, manifest: &[u8], hints: &Hints) {
    bencher
        .counter(ItemsCount::new(RECORDS))
        .counter(BytesCount::new(manifest.len()))
        .bench_local(|| {
            let reader = Reader::new(manifest, hints).expect("a manifest");
            let claims = reader.filter(|record| {
                let content = record.as_ref().map(|record| &record.content);
                matches!(content, Ok(Content::Claim(_)))
            });
            assert_eq!(claims.count() as u64, RECORDS);
        });
}

#[divan::bench(sample_count = 5)]
fn gnu(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Gnu, &[Algorithm::Sha256]);
    let hints = Hints {
        list_name: Some("SHA256SUMS".into()),
        ..Hints::default()
    };
    read(bencher, &list, &hints);
}

#[divan::bench(sample_count = 5)]
fn bsd(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Bsd, &[Algorithm::Sha256]);
    read(bencher, &list, &Hints::default());
}

#[divan::bench(sample_count = 5)]
fn hashdeep(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Hashdeep, &[Algorithm::Md5, Algorithm::Sha256]);
    read(bencher, &list, &Hints::default());
}

/// Two lines a record: a comment with size and time, and the entry.
#[divan::bench(sample_count = 5)]
fn sfv(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Sfv, &[Algorithm::Crc32]);
    read(bencher, &list, &Hints::default());
}

#[divan::bench(sample_count = 5)]
fn magnet(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Magnet, &[Algorithm::Md5, Algorithm::Sha1]);
    read(bencher, &list, &Hints::default());
}

#[divan::bench(sample_count = 5)]
fn jsonl(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Jsonl, &[Algorithm::Sha256]);
    read(bencher, &list, &Hints::default());
}

#[divan::bench(sample_count = 5)]
fn csv(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Csv, &[Algorithm::Sha256]);
    read(bencher, &list, &Hints::default());
}

#[divan::bench(sample_count = 5)]
fn mtree(bencher: Bencher<'_, '_>) {
    let list = manifest(Format::Mtree, &[Algorithm::Sha256]);
    read(bencher, &list, &Hints::default());
}
