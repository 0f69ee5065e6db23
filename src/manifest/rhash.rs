//! RHash's `--simple` lines with several digests, and any list with its digests behind the names.
//!
//! ```text
//! line = NAME 1*(1*SP DIGEST) LF      DIGEST = hexadecimal digits | base32
//! ```
//!
//! Nothing is escaped, and nothing but its length says what a digest is of. The first line settles how
//! many there are and how long each is, so that a name that ends like a digest cannot shift them. RHash
//! writes algorithms in a fixed order, in which CRC32 and MD5 come before every longer digest and
//! CRC32C and ED2K behind: that tells digests of one length apart, or at least which is likely which.
//! One digest of 32 digits and more is what cfv calls sfvmd5. Source: the output of RHash 1.4.3 and
//! cfv 3.2.0.

use super::decoder::{self, Context, Records};
use super::evidence::{self, AlgorithmEvidence, AlgorithmSource};
use super::{Claim, ClaimedDigest, Malformed};
use super::{bsd, plain};
use crate::algorithm::Algorithm;
use crate::hex;

use Algorithm as A;

/// What the length of a digest can be in characters: those of hexadecimal digits, and of the Tiger
/// tree hash and AICH in base32.
const TIGER_TREE_LEN: usize = 39;
const HEX_LENS: [usize; 8] = [8, 32, 40, 48, 56, 64, 96, 128];

/// For each length that several of RHash's algorithms share, these in its order, and for each further
/// digest of that length what it may be.
const SHARED: &[(usize, &[&[Algorithm]])] = &[
    (40, &[&[A::Sha1, A::Ripemd160], &[A::Ripemd160, A::Sha1]]),
    (56, &[&[A::Sha224, A::Sha3_224], &[A::Sha3_224, A::Sha224]]),
    (
        64,
        &[
            &[A::Sha256, A::Sha3_256, A::Blake2s, A::Blake3],
            &[A::Sha3_256, A::Blake2s, A::Blake3, A::Sha256],
            &[A::Blake2s, A::Blake3, A::Sha3_256, A::Sha256],
            &[A::Blake3, A::Blake2s, A::Sha3_256, A::Sha256],
        ],
    ),
    (96, &[&[A::Sha384, A::Sha3_384], &[A::Sha3_384, A::Sha384]]),
    (
        128,
        &[
            &[A::Whirlpool, A::Sha512, A::Sha3_512, A::BLAKE2B],
            &[A::Sha512, A::Sha3_512, A::BLAKE2B, A::Whirlpool],
            &[A::Sha3_512, A::BLAKE2B, A::Sha512, A::Whirlpool],
            &[A::BLAKE2B, A::Sha3_512, A::Sha512, A::Whirlpool],
        ],
    ),
];

/// What one of the digests in every line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// One algorithm, as its place says.
    Known(Algorithm),
    /// The only digest of its length.
    Alone,
    /// One of several digests of its length.
    OneOf(Shared),
    /// A digest that cannot be computed, or cannot be told from others.
    Unsupported(&'static str),
}

/// One of several digests of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shared {
    /// What it may be, most likely the first.
    candidates: &'static [Algorithm],
    /// How many digests of its length stand before it.
    before: usize,
    /// How many digests of its length there are.
    count: usize,
    /// The algorithms of that length in RHash's order.
    order: &'static [Algorithm],
}

impl Shared {
    /// Whether the digest of `asked`, which has this length, stands here and nowhere else.
    ///
    /// Several places may be open to it. Who asks for an algorithm must not be told of another one.
    fn is_place_of(&self, asked: Algorithm) -> Result<bool, Malformed> {
        let Some(place) = self.order.iter().position(|a| *a == asked) else {
            return Ok(false);
        };
        let last = place.min(self.count - 1);
        let first = (place + self.count).saturating_sub(self.order.len());
        if first != last || self.count > self.order.len() {
            let reason = format!("several digests may be the {asked}; without -a all are compared");
            return Err(Malformed::Rule(reason));
        }
        Ok(self.before == first)
    }
}

/// How a digest looks: its length in characters, and whether it is in base32.
type Look = (usize, bool);

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    /// How the digests in every line look, and what they are; empty before the first.
    columns: Vec<(Look, Column)>,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        columns: Vec::new(),
    })
}

/// Whether digests stand behind a name: several, or one of 128 bits and more. A tagged line is none,
/// whether or not its tag is known.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let (name, digests) = split(line, MAX_DIGESTS);
    !bsd::looks_tagged(line)
        && !name.is_empty()
        && (digests.len() > 1 || digests.first().is_some_and(|d| d.len() >= 32))
}

/// RHash has fewer algorithms.
const MAX_DIGESTS: usize = 64;

/// Cuts digests off the end of a line, at most so many. They come in their order, and with as many
/// blanks before each as before the last: two from RHash, one from cfv.
fn split(line: &[u8], at_most: usize) -> (&[u8], Vec<&[u8]>) {
    let mut name = line;
    let mut digests = Vec::new();
    let mut separator: Option<&[u8]> = None;
    while digests.len() < at_most
        && let Some(blank) = name.iter().rposition(|&byte| byte == b' ')
        && is_digest(&name[blank + 1..])
    {
        let before = &name[..=blank];
        let blanks: &[u8] = separator.unwrap_or(if before.ends_with(b"  ") { b"  " } else { b" " });
        let Some(before) = before.strip_suffix(blanks) else {
            break;
        };
        digests.push(&name[blank + 1..]);
        separator = Some(blanks);
        name = before;
    }
    digests.reverse();
    (name, digests)
}

fn is_digest(word: &[u8]) -> bool {
    let is_hex = HEX_LENS.contains(&word.len()) && hex::is_hex(word);
    is_hex || is_base32(word)
}

fn is_base32(word: &[u8]) -> bool {
    matches!(word.len(), 32 | TIGER_TREE_LEN)
        && word.iter().any(|byte| !byte.is_ascii_hexdigit())
        && hex::decode_base32(word).is_some()
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        plain::entry_line(number, text, records, |text| self.claim(text));
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.algorithms.source()
    }
}

impl Grammar {
    fn claim(&mut self, text: &[u8]) -> Result<Claim, Malformed> {
        if bsd::looks_tagged(text) {
            return Err(Malformed::NoShape);
        }
        let settled = Some(self.columns.len()).filter(|&count| count > 0);
        let (name, digests) = split(text, settled.unwrap_or(MAX_DIGESTS));
        let columns = match settled {
            Some(_) if self.fit(&digests) => &self.columns,
            None if !digests.is_empty() => &columns(&digests),
            _ => return Err(Malformed::NoShape),
        };
        let mut claim = Claim::bare(plain::name(name, false)?);
        for (digits, (_, column)) in digests.iter().zip(columns) {
            if let Some(digest) = self.digest(digits, *column)? {
                claim.add_digest(digest)?;
            }
        }
        if settled.is_none() {
            self.columns = columns.clone();
        }
        Ok(claim.maybe_from_windows())
    }

    fn fit(&self, digests: &[&[u8]]) -> bool {
        let settled = self.columns.iter().map(|(look, _)| *look);
        settled.eq(digests.iter().map(|digits| look(digits)))
    }

    fn digest(&self, digits: &[u8], column: Column) -> Result<Option<ClaimedDigest>, Malformed> {
        let asked = self.algorithms.asked;
        match column {
            Column::Alone => self.algorithms.one_of_several(digits),
            Column::Known(algorithm) if asked.is_none_or(|asked| asked == algorithm) => {
                evidence::known(algorithm, digits).map(Some)
            }
            Column::OneOf(shared) => match asked {
                None => evidence::one_of(digits, shared.candidates).map(Some),
                Some(asked) if shared.is_place_of(asked)? => {
                    evidence::known(asked, digits).map(Some)
                }
                Some(_) => Ok(None),
            },
            Column::Unsupported(name) if asked.is_none() => {
                Ok(Some(ClaimedDigest::Unsupported(name.into())))
            }
            _ => Ok(None),
        }
    }
}

fn look(digits: &[u8]) -> Look {
    (digits.len(), is_base32(digits))
}

/// How each digest looks, and what its place among the others says of it.
fn columns(digests: &[&[u8]]) -> Vec<(Look, Column)> {
    let first_long = digests
        .iter()
        .position(|digits| digits.len() > 32 || is_base32(digits))
        .unwrap_or(digests.len());
    let column = |(place, digits): (usize, &&[u8])| {
        let alike = |digests: &[&[u8]]| {
            let same = digests.iter().filter(|other| look(other) == look(digits));
            same.count()
        };
        let before = alike(&digests[..place]);
        let late = place > first_long;
        let column = match look(digits) {
            (TIGER_TREE_LEN, true) => Column::Unsupported("tth"),
            (_, true) => Column::Unsupported("aich"),
            (8, _) => crc(digests, place),
            (32, _) if late => Column::Unsupported("ed2k"),
            (32, _) => match (alike(&digests[..first_long]), before) {
                (1, _) => Column::Alone,
                // MD4, MD5 and ED2K, in this order.
                (3, 1) => Column::Alone,
                _ => Column::Unsupported("md5, md4 or ed2k"),
            },
            (len, _) => match alike(digests) {
                1 => Column::Alone,
                count => shared(len, before, count),
            },
        };
        (look(digits), column)
    };
    digests.iter().enumerate().map(column).collect()
}

/// CRC32 comes before every other digest, and CRC32C behind one.
fn crc(digests: &[&[u8]], place: usize) -> Column {
    match place {
        0 if digests.len() > 1 => Column::Known(A::Crc32),
        0 => Column::Alone,
        _ => Column::Known(A::Crc32c),
    }
}

fn shared(len: usize, before: usize, count: usize) -> Column {
    let orders = SHARED.iter().find(|(of, _)| *of == len);
    let found = orders.and_then(|(_, orders)| Some((*orders.first()?, *orders.get(before)?)));
    found.map_or(Column::Unsupported("unknown"), |(order, candidates)| {
        Column::OneOf(Shared {
            candidates,
            before,
            count,
            order,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        asking, called, in_format, made_of, no_hints, read_to_the_end, shown,
    };
    use super::super::{Content, Format, Reader};
    use super::*;
    use proptest::prelude::*;

    const TTH: &str = "hfplurr6kehk3sit5gwl3szwmvcvkeopnn6ew6a";
    const AICH: &str = "ch3k3dwffiuyjk5k7v6dwulfan4fyids";

    fn read(list: &str) -> Vec<String> {
        let list = list.replace("TTH!", TTH).replace("AICH!", AICH);
        let (format, records) = shown(&list, &no_hints());
        assert_eq!(format, Format::Rhash, "{list}");
        records
    }

    #[test]
    fn lengths_and_places_tell_the_algorithms() {
        assert_eq!(
            read("a b  CRC32!  MD5!  SHA1!\n"),
            ["1:a b crc32 md5 sha1?"]
        );
        assert_eq!(
            read("a  CRC32!  MD5!  SHA1!  TTH!  MD5!  AICH!  SHA256!  CRC32!\n"),
            ["1:a crc32 md5 sha1? !tth !ed2k !aich sha256? crc32c"]
        );
        assert_eq!(read("a  MD5!  CRC32!\n"), ["1:a md5 crc32c"]);
        assert_eq!(
            read("a  SHA1!  SHA1!  SHA1!\n"),
            ["1:a sha1? ripemd160? !unknown"]
        );
        assert_eq!(
            read("a  MD5!  MD5!  SHA1!\n"),
            ["1:a !md5, md4 or ed2k sha1?"]
        );
        assert_eq!(read("a MD5!\n"), ["1:a md5"]);
        assert_eq!(read("d/(e) = f  CRC32!  MD5!\n"), ["1:d/(e) = f crc32 md5"]);
    }

    #[test]
    fn a_name_that_ends_like_a_digest_shifts_nothing() {
        assert_eq!(
            read("a  CRC32!  MD5!\nCRC32!  CRC32!  MD5!\nx  CRC32!  CRC32!  MD5!\n"),
            [
                "1:a crc32 md5",
                "2:8cdc1683 crc32 md5",
                "3:x  8cdc1683 crc32 md5"
            ]
        );
        assert_eq!(read("b CRC32!  CRC32!  MD5!\n"), ["1:b 8cdc1683 crc32 md5"]);
        let list = "a  CRC32!  MD5!\na  MD5!\nMD5!  a\nFOO (a) = MD5!\n";
        let no = |line| format!("{line}!not a checksum line");
        assert_eq!(
            shown(list, &in_format(Format::Rhash)).1[1..],
            [no(2), no(3), no(4)]
        );
    }

    #[test]
    fn only_what_was_asked_for_is_taken() {
        let list = "a  CRC32!  MD5!  SHA1!\n";
        assert_eq!(shown(list, &asking(Algorithm::Md5)).1, ["1:a md5"]);
        assert_eq!(shown(list, &asking(Algorithm::Crc32)).1, ["1:a crc32"]);
        assert_eq!(
            shown(list, &asking(Algorithm::Ripemd160)).1,
            ["1:a ripemd160"]
        );
        assert_eq!(shown(list, &asking(Algorithm::Sha256)).1, ["1:a"]);
        assert_eq!(shown(list, &called("x.sha1")).1, ["1:a crc32 md5 sha1"]);
    }

    #[test]
    fn of_several_digests_of_one_length_the_asked_one_is_found_by_its_place() {
        let list = "a  11f6ad8ec52a2984abaafd7c3b516503785c2072  \
                    00000000000000000000000000000000000000ff\n";
        let read = |algorithm| {
            let reader = Reader::new(list.as_bytes(), &asking(algorithm));
            let record = reader.unwrap().next().unwrap().unwrap();
            match record.content {
                Content::Claim(claim) => claim.digests,
                other => panic!("{other:?}"),
            }
        };
        for (algorithm, last) in [(A::Sha1, 0x72), (A::Ripemd160, 0xff)] {
            let digests = read(algorithm);
            let [ClaimedDigest::Known(digest)] = &digests[..] else {
                panic!("{digests:?}")
            };
            assert_eq!(digest.algorithm(), algorithm);
            assert_eq!(digest.as_bytes().last(), Some(&last));
        }
        let two = "a  SHA256!  SHA256!\n";
        assert_eq!(shown(two, &asking(A::Sha256)).1, ["1:a sha256"]);
        assert_eq!(shown(two, &asking(A::Blake3)).1, ["1:a blake3"]);
        assert_eq!(shown(two, &asking(A::Sm3)).1, ["1:a"]);
        assert_eq!(shown(two, &asking(A::Sha1)).1, ["1:a"]);
        assert_eq!(
            shown(two, &asking(A::Sha3_256)).1,
            ["1!several digests may be the sha3-256; without -a all are compared"]
        );
        let four = "a  SHA256!  SHA256!  SHA256!  SHA256!\n";
        assert_eq!(shown(four, &asking(A::Blake2s)).1, ["1:a blake2s"]);
    }

    #[test]
    fn every_order_holds_the_same_algorithms() {
        for (len, orders) in SHARED {
            for order in *orders {
                let mut sorted = order.to_vec();
                sorted.sort_unstable();
                let mut first = orders[0].to_vec();
                first.sort_unstable();
                assert_eq!(sorted, first);
                assert!(order.iter().all(|a| a.digest_len_bytes() * 2 == *len));
            }
        }
    }

    #[test]
    fn prose_and_paths_are_no_entries() {
        for line in [
            "hello world",
            "a CRC32!",
            "see https://x/y",
            "",
            " ",
            "  8cdc1683",
        ] {
            assert!(!is_entry(line.as_bytes()), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "  8cdc1683", "  11f6ad8ec52a2984abaafd7c3b516503785c2072", " ch3k3dwffiuyjk5k7v6dwulfan4fyids",
        ])) {
            read_to_the_end(&list, Format::Rhash)?;
        }
    }
}
