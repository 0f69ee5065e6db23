//! Published vectors through every backend: NIST's CAVP for SHA-1 and SHA-2, RFC 1321 for MD5.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use multisum::lanes::{LaneState, Lanes, Stream};
use multisum::{Algorithm, Digest};

const FILES: [(Algorithm, &str); 8] = [
    (Algorithm::Md5, "MD5"),
    (Algorithm::Sha1, "SHA1"),
    (Algorithm::Sha224, "SHA224"),
    (Algorithm::Sha256, "SHA256"),
    (Algorithm::Sha384, "SHA384"),
    (Algorithm::Sha512, "SHA512"),
    (Algorithm::Sha512_224, "SHA512_224"),
    (Algorithm::Sha512_256, "SHA512_256"),
];

/// The values of the file's `Name = value` lines; no lines if the file is not among those kept.
fn read(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/cavp")
        .join(name);
    if !path.exists() {
        return Vec::new();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let pairs = text.lines().filter(|line| !line.starts_with(['#', '[']));
    pairs
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap();
    let (pairs, rest) = hex.as_bytes().as_chunks();
    assert!(rest.is_empty(), "{hex}");
    pairs
        .iter()
        .map(|[high, low]| u8::try_from(16 * digit(*high) + digit(*low)).unwrap())
        .collect()
}

/// Messages with their digests.
fn messages(file: &str) -> Vec<(Vec<u8>, String)> {
    read(file)
        .chunks_exact(3)
        .map(|lines| {
            let [(len, bits), (msg, message), (md, digest)] = lines else {
                unreachable!("chunks of three");
            };
            assert_eq!([len, msg, md], ["Len", "Msg", "MD"]);
            let mut message = bytes(message);
            message.truncate(bits.parse::<usize>().unwrap() / 8);
            (message, digest.clone())
        })
        .collect()
}

fn backends() -> impl Iterator<Item = Lanes> {
    Lanes::backends()
        .filter_map(|(_, lanes)| lanes.ok())
        .chain([Lanes::detect()])
}

fn hash(lanes: Lanes, states: &mut [LaneState], messages: &[&[u8]]) -> Vec<Digest> {
    let mut streams: Vec<_> = states
        .iter_mut()
        .zip(messages)
        .map(|(state, chunk)| Stream {
            state,
            chunk,
            last: true,
        })
        .collect();
    lanes.advance(&mut streams);
    states.iter_mut().map(LaneState::finish).collect()
}

#[test]
fn short_and_long_messages_all_at_once() {
    for (algorithm, name) in FILES {
        let mut cases = messages(&format!("{name}ShortMsg.rsp"));
        assert!(cases.len() >= 7, "{name}");
        cases.extend(messages(&format!("{name}LongMsg.rsp")));
        let messages: Vec<_> = cases.iter().map(|(message, _)| &message[..]).collect();
        for lanes in backends() {
            let mut states = vec![LaneState::new(algorithm).unwrap(); cases.len()];
            let got = hash(lanes, &mut states, &messages);
            for (got, (message, digest)) in got.iter().zip(&cases) {
                let len = message.len();
                assert_eq!(
                    got.to_string(),
                    *digest,
                    "{lanes:?}, {algorithm}, {len} bytes"
                );
            }
        }
    }
}

/// SHAVS, 6.4: each message is the three last digests; every thousandth digest is given, and is the next seed.
#[test]
fn monte_carlo() {
    let counts = if cfg!(debug_assertions) { 1 } else { 100 };
    for (algorithm, name) in FILES.into_iter().skip(1) {
        let lines = read(&format!("{name}Monte.rsp"));
        assert_eq!(lines[0].0, "Seed");
        let digests: Vec<_> = lines.iter().filter(|(name, _)| name == "MD").collect();
        assert_eq!(digests.len(), 100, "{name}");
        for lanes in backends() {
            // The same chain in every lane of the widest kernel.
            let width = lanes.width(algorithm, usize::MAX);
            let mut states = vec![LaneState::new(algorithm).unwrap(); width];
            let mut seed = bytes(&lines[0].1);
            for (_, digest) in digests.iter().take(counts) {
                seed = thousand(lanes, &mut states, &seed);
                assert_eq!(seed, bytes(digest), "{lanes:?}, {algorithm}");
            }
        }
    }
}

fn thousand(lanes: Lanes, states: &mut [LaneState], seed: &[u8]) -> Vec<u8> {
    let mut message = seed.repeat(3);
    for _ in 0..1000 {
        let messages = vec![&message[..]; states.len()];
        let digests = hash(lanes, states, &messages);
        assert!(
            digests.iter().all(|digest| digest == &digests[0]),
            "{lanes:?}"
        );
        message.drain(..seed.len());
        message.extend(digests[0].as_bytes());
    }
    message.split_off(2 * seed.len())
}
