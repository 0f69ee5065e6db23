//! From a stream to records.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use super::decoder::{self, ByLine, Context, Decoder, Method, Records};
use super::detect::{self, Sample};
use super::evidence::{self, AlgorithmEvidence, AlgorithmSource};
use super::lines::{self, Encoding, Lines, Terminator, Unwrapped};
use super::unpack::Input;
use super::wrapper::Wrapper;
use super::{Content, Format, Record, Remark};
use crate::algorithm::Algorithm;

/// What is known of a list before it is read.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The list's own path; its file name may tell the algorithm.
    pub list_name: Option<PathBuf>,
    /// The algorithm, as the user named it. Of entries with several digests only this one is taken.
    pub algorithm: Option<Algorithm>,
    /// The format, as the user named it. Lines of another shape are then malformed.
    pub format: Option<Format>,
}

/// Why something cannot be read as a list at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The beginning could not be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The input holds NUL bytes and nothing that looks like a list.
    #[error("a binary file, not a list of digests")]
    Binary,
    /// The byte order mark announces UTF-32, which nothing writes lists in.
    #[error("text in UTF-32, which is not supported")]
    Utf32,
}

/// Where the format of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatSource {
    /// The user named it.
    Asked,
    /// It begins as only this format does.
    Beginning,
    /// Its entries have the shape.
    Entries,
    /// Its name says so, and its entries do not all fit.
    ListName,
    /// Nothing at the beginning looks like an entry of any format.
    Assumed,
}

/// What a list was taken for, and why. `Display` is one line of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The format; of the first entry, if tagged and untagged lines are mixed.
    pub format: Format,
    /// Where that comes from.
    pub format_source: FormatSource,
    /// What ends the records.
    pub terminator: Terminator,
    /// How its bytes stand for text.
    pub encoding: Encoding,
    /// Whether it is stored compressed.
    pub compressed: bool,
    /// What its signature is of, if it carries one.
    pub signed: Option<&'static str>,
    /// Where the algorithm of untagged lines comes from.
    pub algorithm: AlgorithmSource,
}

impl Display for Evidence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let source = match self.format_source {
            FormatSource::Asked => "as asked",
            FormatSource::Beginning => "from its beginning",
            FormatSource::Entries => "from its entries",
            FormatSource::ListName => "from its name",
            FormatSource::Assumed => "for want of a readable entry",
        };
        write!(f, "format {} ({source}", self.format)?;
        if self.terminator == Terminator::Nul {
            f.write_str(", NUL-terminated")?;
        }
        f.write_str(match self.encoding {
            Encoding::Bytes => "",
            Encoding::Utf16Le => ", UTF-16LE",
            Encoding::Utf16Be => ", UTF-16BE",
        })?;
        if self.compressed {
            f.write_str(", gzip")?;
        }
        if let Some(signature) = self.signed {
            write!(f, ", {signature} signature not checked")?;
        }
        write!(f, "), algorithm {}", self.algorithm)
    }
}

/// Reads a manifest record by record, in the order of its lines.
///
/// Compression, encoding, signature, format and line ends are found out from the first 64 KiB unless
/// the hints say them. Comments and empty lines are left out, but for those that record gaps; every
/// other line gives a record or belongs to one, understood or not. Memory is bounded by the longest
/// line, at most [`MAX_LINE_LEN_BYTES`](super::MAX_LINE_LEN_BYTES), for the formats that are read in
/// lines.
///
/// # Errors
///
/// A line that cannot be understood is not an error but a [`Content::Malformed`](super::Content). The
/// iterator gives an error if the stream fails, and ends after it.
///
/// # Examples
///
/// ```
/// use multisum::manifest::{Content, Hints, Reader};
/// let list = "9dd4e461268c8034f5c8564e155c67a6  x.txt\nhello\n";
/// let records = Reader::new(list.as_bytes(), &Hints::default())?.collect::<Result<Vec<_>, _>>()?;
/// let Content::Claim(claim) = &records[0].content else { panic!() };
/// assert_eq!(claim.name.as_bytes(), b"x.txt");
/// assert_eq!(records[1].line, 2);
/// assert!(matches!(records[1].content, Content::Malformed(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader<'r> {
    decoder: Box<dyn Decoder + 'r>,
    records: Records,
    opening: Opening,
    last_line: u64,
    ended: bool,
}

/// All of the evidence that is settled at the beginning.
#[derive(Clone, Copy, Debug)]
struct Opening {
    format: Format,
    format_source: FormatSource,
    terminator: Terminator,
    encoding: Encoding,
    compressed: bool,
    wrapper: Wrapper,
}

impl<'r> Reader<'r> {
    /// Reads the beginning of `input` and decides how to read the rest.
    pub fn new(mut input: impl Read + Send + 'r, hints: &Hints) -> Result<Self, OpenError> {
        let head = lines::read_sample(&mut input)?;
        let mut unpacked = Input::new(head, input);
        let mut sample = lines::read_sample(&mut unpacked)?;
        let complete = sample.len() < lines::SAMPLE_LEN_BYTES;
        let (encoding, mark_len) = Encoding::sniff(&sample).ok_or(OpenError::Utf32)?;
        sample.drain(..mark_len);
        let mut opening = recognise(&sample, complete, encoding, hints)?;
        opening.compressed = unpacked.is_compressed();
        let context = Context {
            algorithms: AlgorithmEvidence {
                asked: hints.algorithm,
                comment: None,
                list_name: hints
                    .list_name
                    .as_deref()
                    .and_then(evidence::from_list_name),
            },
            terminator: opening.terminator,
            list_name: hints.list_name.clone(),
            asked: hints.format.is_some(),
        };
        let text = Cursor::new(sample).chain(unpacked);
        let mut records = Records::default();
        if let Some(signature) = opening.wrapper.name() {
            records.remark(1, Remark::SignatureNotChecked(signature));
        }
        Ok(Self {
            decoder: decoder(text, &opening, context),
            records,
            opening,
            last_line: 1,
            ended: false,
        })
    }

    /// The format that the list is read in.
    pub fn format(&self) -> Format {
        self.opening.format
    }

    /// What the list was taken for, and why. Comments that name the algorithm count from where they
    /// stand, so this may change while the list is read.
    pub fn evidence(&self) -> Evidence {
        let Opening {
            format,
            format_source,
            terminator,
            encoding,
            compressed,
            wrapper,
        } = self.opening;
        Evidence {
            format,
            format_source,
            terminator,
            encoding,
            compressed,
            signed: wrapper.name(),
            algorithm: self.decoder.algorithm_source(),
        }
    }

    fn next_record(&mut self) -> io::Result<Option<Record>> {
        loop {
            if let Some(record) = self.records.pop() {
                self.last_line = record.line;
                return Ok(Some(record));
            }
            if self.ended {
                return Ok(None);
            }
            match self.decoder.advance(&mut self.records) {
                Ok(more) => self.ended = !more,
                Err(error) => {
                    self.ended = true;
                    // Encodings and wrappings are undone below the decoder and fail as reads do.
                    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                    let Some(reason) = inner.cloned() else {
                        return Err(error);
                    };
                    let content = Content::Malformed(reason);
                    self.records.push(self.last_line, content);
                }
            }
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.next_record().transpose();
        self.ended |= matches!(record, Some(Err(_)));
        record
    }
}

fn decoder<'r>(
    text: impl Read + Send + 'r,
    opening: &Opening,
    context: Context,
) -> Box<dyn Decoder + 'r> {
    let lines = |text| Lines::new(text, opening.encoding, opening.terminator);
    match decoder::method(opening.format, &context) {
        Method::Lines(grammar) => Box::new(ByLine::new(lines(text), opening.wrapper, grammar)),
        Method::Document(decoder) => {
            let as_it_is = opening.encoding == Encoding::Bytes && opening.wrapper == Wrapper::None;
            if as_it_is {
                decoder(Box::new(text), context)
            } else {
                decoder(
                    Box::new(Unwrapped::new(lines(text), opening.wrapper)),
                    context,
                )
            }
        }
    }
}

fn recognise(
    sample: &[u8],
    complete: bool,
    encoding: Encoding,
    hints: &Hints,
) -> Result<Opening, OpenError> {
    let decoded = encoding.decode_sample(sample);
    let wrapper = Wrapper::find(&decoded);
    let body = wrapper.body(&decoded);
    let sample = Sample {
        bytes: &body,
        complete,
        list_name: hints.list_name.as_deref(),
    };
    // In UTF-16 a NUL is a character like any other that no name can hold.
    let terminator = if encoding == Encoding::Bytes {
        detect::terminator(sample)
    } else {
        Some(Terminator::Line)
    };
    let (format, format_source, terminator) = match hints.format {
        Some(Format::GnuZero) => (Format::GnuZero, FormatSource::Asked, Terminator::Nul),
        Some(Format::Bsd) => {
            let terminator = terminator.unwrap_or(Terminator::Line);
            (Format::Bsd, FormatSource::Asked, terminator)
        }
        Some(format) => (format, FormatSource::Asked, Terminator::Line),
        None => {
            let terminator = terminator.ok_or(OpenError::Binary)?;
            let (format, source) = detect::format(sample, terminator);
            (format, source, terminator)
        }
    };
    Ok(Opening {
        format,
        format_source,
        terminator,
        encoding,
        compressed: false,
        wrapper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::ClaimedDigest;
    use proptest::prelude::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";
    const SHA256: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

    fn records(list: &[u8], hints: &Hints) -> Vec<Record> {
        let reader = Reader::new(list, hints).unwrap();
        reader.collect::<io::Result<_>>().unwrap()
    }

    /// `LINE:NAME`, `LINE!REASON` or `LINE gap NAME` for each record; `MD5!` and `SHA256!` stand for
    /// digests.
    fn shown_with(list: &str, hints: &Hints) -> Vec<String> {
        let list = list.replace("MD5!", MD5).replace("SHA256!", SHA256);
        let shown = |record: &Record| match &record.content {
            Content::Claim(claim) => format!("{}:{}", record.line, claim.name),
            Content::Gap { name, kind } => format!("{} {kind:?} {name}", record.line),
            Content::Malformed(reason) => format!("{}!{reason:?}", record.line),
            other => panic!("{other:?}"),
        };
        records(list.as_bytes(), hints).iter().map(shown).collect()
    }

    fn shown(list: &str) -> Vec<String> {
        shown_with(list, &Hints::default())
    }

    fn named(list_name: &str) -> Hints {
        Hints {
            list_name: Some(list_name.into()),
            ..Hints::default()
        }
    }

    fn asking(algorithm: Algorithm) -> Hints {
        Hints {
            algorithm: Some(algorithm),
            ..Hints::default()
        }
    }

    fn algorithms(list: &str, hints: &Hints) -> Vec<String> {
        let list = list.replace("MD5!", MD5).replace("SHA256!", SHA256);
        let shown = |record: Record| match record.content {
            Content::Claim(claim) => match &claim.digests[..] {
                [ClaimedDigest::Known(digest)] => digest.algorithm().to_string(),
                [ClaimedDigest::OneOf { candidates, .. }] => format!("one of {}", candidates.len()),
                other => panic!("{other:?}"),
            },
            Content::Malformed(reason) => reason.to_string(),
            Content::Gap { .. } => String::from("gap"),
            other => panic!("{other:?}"),
        };
        records(list.as_bytes(), hints)
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn the_first_good_line_settles_the_form_for_the_whole_list() {
        assert_eq!(shown("MD5! b\nMD5!  b\nMD5! *b\n"), ["1:b", "2: b", "3:*b"]);
        assert_eq!(
            shown("MD5!  b\nMD5! b\nMD5! *c"),
            ["1:b", "2!MixedSpacing", "3:c"]
        );
        assert_eq!(
            shown("junk\n\\MD5!  bad\\q\nMD5!  \nMD5! b\n"),
            ["1!NoShape", "2!BadEscape", "3!EmptyName", "4:b"]
        );
    }

    #[test]
    fn the_universal_and_bits_modes_of_shasum_are_names() {
        assert_eq!(shown("MD5! Ua.txt\nMD5! ^a.txt"), ["1:Ua.txt", "2:^a.txt"]);
    }

    #[test]
    fn leading_blanks_and_upper_case_digits_are_accepted() {
        let list = format!("  \t{}  a.txt\n  \\MD5!  a\\nb\n", MD5.to_uppercase());
        assert_eq!(shown(&list), ["1:a.txt", "2:a\\nb"]);
    }

    #[test]
    fn a_backslash_is_literal_unless_the_line_starts_with_one() {
        assert_eq!(shown("MD5!  a\\nb\n"), ["1:a\\\\nb"]);
        assert_eq!(shown("\\MD5!  a\\nb\\\\\\r\n"), ["1:a\\nb\\\\\\r"]);
        assert_eq!(shown("\\MD5!  plain\n"), ["1:plain"]);
        assert_eq!(shown("\\MD5!  a\\\n"), ["1!BadEscape"]);
        assert_eq!(shown("\\MD5 (a\\nb) = MD5!\n"), ["1:a\\nb"]);
        assert_eq!(shown("MD5 (a\\nb) = MD5!\n"), ["1:a\\\\nb"]);
    }

    #[test]
    fn comments_are_skipped_and_prose_is_not() {
        let list = "# x\n\n; x\n  ;x\n// x\n#MD5!  a\n #x\n   \nhello world\n/ x\nMD5!  a\n";
        let expected = ["7!NoShape", "8!NoShape", "9!NoShape", "10!NoShape", "11:a"];
        assert_eq!(shown(list), expected);
        assert_eq!(shown("MD5!  #a\nMD5!  ;a\n"), ["1:#a", "2:;a"]);
    }

    #[test]
    fn one_carriage_return_goes_and_a_second_stays() {
        assert_eq!(
            shown("MD5!  a\r\nMD5!  b\r\r\n\r\nMD5!  c"),
            ["1:a", "2:b\\r", "4:c"]
        );
    }

    #[test]
    fn tagged_and_untagged_lines_may_be_mixed() {
        let list = "SHA256 (a) = SHA256!\nMD5!  (b) = c\nmd5 (d) = MD5!\nMD5(e)= MD5!\n";
        assert_eq!(shown(list), ["1:a", "2:(b) = c", "3:d", "4:e"]);
        assert_eq!(
            algorithms(list, &Hints::default()),
            ["sha256", "md5", "md5", "md5"]
        );
    }

    #[test]
    fn length_suffixes_that_shorten_a_digest_are_unknown_tags() {
        let unknown = |tag: &str| [format!("unknown algorithm '{tag}'")];
        for (line, tag) in [
            ("SHA256-8 (f) = 58", "SHA256-8"),
            ("MD5-8 (f) = b1", "MD5-8"),
            ("XXH64_LE (a.txt) = 5388bd91d091c1e4", "XXH64_LE"),
            ("FOO (a) = MD5!", "FOO"),
        ] {
            assert_eq!(algorithms(line, &Hints::default()), unknown(tag));
        }
        assert_eq!(shown("BLAKE2b-8 (f) = 58"), ["1!TooShort(8)"]);
        // OpenSSL 1.1.1 means SHA-512/256 by it, never a truncated SHA-512.
        assert_eq!(
            algorithms("SHA512-256 (f) = SHA256!", &Hints::default()),
            ["sha512-256"]
        );
    }

    #[test]
    fn digests_of_a_wrong_length_or_alphabet_are_refused() {
        let bad = |algorithm: &str, digits| {
            format!("not a {algorithm} digest, which has {digits} hexadecimal digits")
        };
        let one = |line: &str| algorithms(line, &Hints::default()).remove(0);
        assert_eq!(one("SHA256 (a) = MD5!"), bad("sha256", 64));
        assert_eq!(one("MD5 (a) = "), bad("md5", 32));
        assert_eq!(one("MD5 (a) = MD5!00"), bad("md5", 32));
        let unpadded = "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM";
        assert_eq!(one(&format!("SHA256 (a) = {unpadded}")), bad("sha256", 64));
        assert_eq!(
            one(&format!("SHA512 (a) = {unpadded}=")),
            bad("sha512", 128)
        );
        assert_eq!(shown(&format!("{unpadded}  a")), ["1!NoShape"]);
        assert_eq!(shown("MD5!0  a"), ["1!NoAlgorithm(33)"]);
        assert_eq!(shown("MD5 () = MD5!"), ["1!EmptyName"]);
    }

    #[test]
    fn base64_is_read_in_place_of_hexadecimal_digits() {
        let base64 = "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=";
        let url_safe = base64.replace('/', "_");
        let list = format!("SHA256 (a.txt) = {base64}\n{base64}  a\n{url_safe}  a\n");
        assert_eq!(shown(&list), ["1:a.txt", "2:a", "3:a"]);
        assert_eq!(
            algorithms(&list, &named("B3SUMS")),
            ["sha256", "blake3", "blake3"]
        );
        let md5 = "ndTkYSaMgDT1yFZOFVxnpg== a";
        assert_eq!(algorithms(md5, &Hints::default()), ["md5"]);
    }

    #[test]
    fn evidence_counts_in_its_order() {
        let list = "SHA256!  a\n# SM3 HASH\nSHA256!  b\nSHA256 (c) = SHA256!\n";
        assert_eq!(
            algorithms(list, &Hints::default()),
            ["one of 7", "sm3", "sha256"]
        );
        assert_eq!(
            algorithms(list, &named("B3SUMS")),
            ["blake3", "sm3", "sha256"]
        );
        assert_eq!(
            algorithms(list, &asking(Algorithm::Blake2s)),
            [
                "blake2s",
                "blake2s",
                "the line says sha256 and -a says blake2s"
            ]
        );
        assert_eq!(algorithms("SHA256!  a", &named("B2SUMS")), ["blake2b-256"]);
        assert_eq!(algorithms("SHA256!  a", &named("x.sha")), ["sha256"]);
        assert_eq!(algorithms("MD5!  a", &named("XXHSUMS")), ["xxh128"]);
        assert_eq!(algorithms("MD5!  a", &Hints::default()), ["md5"]);
    }

    #[test]
    fn a_list_name_that_contradicts_the_length_makes_an_error() {
        let refused = "not a md5 digest, which has 32 hexadecimal digits";
        assert_eq!(algorithms("SHA256!  a", &named("MD5SUMS")), [refused]);
    }

    #[test]
    fn an_untagged_xxh3_has_its_mark() {
        let line = "XXH3_99fc819aaba2462a  a.txt";
        assert_eq!(algorithms(line, &Hints::default()), ["xxh3"]);
        assert_eq!(
            algorithms(line, &asking(Algorithm::Xxh64)),
            ["the line says xxh3 and -a says xxh64"]
        );
    }

    #[test]
    fn all_records_of_a_zero_list_are_read_and_none_is_unescaped() {
        let list = "MD5!  a\\nb\0MD5!  new\nline\0MD5!  c\r\0";
        assert_eq!(shown(list), ["1:a\\\\nb", "2:new\\nline", "3:c\\r"]);
        let hints = Hints {
            format: Some(Format::GnuZero),
            ..Hints::default()
        };
        assert_eq!(
            shown_with("\\MD5!  a\0MD5!  b", &hints),
            ["1!NoShape", "2:b"]
        );
        let tagged = "MD5 (a) = MD5!\0MD5 (x\ny) = MD5!\0";
        assert_eq!(shown(tagged), ["1:a", "2:x\\ny"]);
    }

    #[test]
    fn a_stray_nul_spoils_its_line_and_no_name_is_cut_there() {
        let list = "MD5!  a\0b\nMD5!  c\nMD5 (d\0) = MD5!\n";
        assert_eq!(shown(list), ["1!NulInName", "2:c", "3!NulInName"]);
    }

    #[test]
    fn nothing_is_lost_where_the_sample_ends() {
        for end in ["\n", "\r\n", "\0"] {
            let mut list = String::new();
            for number in 1..=3000 {
                list.push_str(&format!("MD5!  {number}{end}"));
            }
            let expected: Vec<_> = (1..=3000).map(|n| format!("{n}:{n}")).collect();
            assert_eq!(shown(&list), expected, "{end:?}");
        }
    }

    #[test]
    fn a_nul_far_down_in_a_list_of_lines_does_not_cut_a_name() {
        let list = "MD5!  x\n".repeat(3000) + "MD5!  a\0b\n";
        assert_eq!(shown(&list)[2999..], ["3000:x", "3001!NulInName"]);
    }

    #[test]
    fn gaps_come_back_and_are_not_comments() {
        let list =
            "# multisum gap: unreadable d/secret\nMD5!  a\n# multisum gap: unstable \\x\\ny\n";
        assert_eq!(
            shown(list),
            ["1 Unreadable d/secret", "2:a", "3 Unstable x\\ny"]
        );
        let zero = "# multisum gap: unstable x\0MD5!  a\0";
        assert_eq!(shown(zero), ["1 Unstable x", "2:a"]);
    }

    #[test]
    fn a_comment_between_nul_bytes_hides_no_line() {
        let hints = Hints {
            format: Some(Format::GnuZero),
            ..Hints::default()
        };
        let list = "# x\nMD5!  a\0# y\0MD5!  b\0\0";
        assert_eq!(shown_with(list, &hints), ["1!NoShape", "3:b", "4!NoShape"]);
    }

    #[test]
    fn an_asked_format_refuses_lines_of_another() {
        let list = "MD5!  a\nMD5 (b) = MD5!\n";
        let asking = |format| Hints {
            format: Some(format),
            ..Hints::default()
        };
        assert_eq!(shown_with(list, &asking(Format::Gnu)), ["1:a", "2!NoShape"]);
        assert_eq!(shown_with(list, &asking(Format::Bsd)), ["1!NoShape", "2:b"]);
    }

    #[test]
    fn files_that_are_no_text_are_refused() {
        let open = |bytes: &'static [u8]| Reader::new(bytes, &Hints::default()).map(|_| ());
        assert!(matches!(open(b"\x7fELF\0\0\x01"), Err(OpenError::Binary)));
        assert!(matches!(
            open(b"\xff\xfe\0\0a\0\0\0"),
            Err(OpenError::Utf32)
        ));
        assert!(records(b"", &Hints::default()).is_empty());
    }

    #[test]
    fn evidence_is_told_in_one_line() {
        let told =
            |list: &[u8], hints: &Hints| Reader::new(list, hints).unwrap().evidence().to_string();
        assert_eq!(
            told(format!("{SHA256}  a\0").as_bytes(), &named("SHA256SUMS")),
            "format gnu-zero (from its entries, NUL-terminated), algorithm sha256, from the name of \
             the list"
        );
        assert_eq!(
            told(b"hello", &Hints::default()),
            "format gnu (for want of a readable entry), algorithm from the tags or the length of \
             the digests"
        );
    }

    #[test]
    fn a_failing_stream_ends_with_its_error() {
        struct Failing(&'static [u8]);
        impl Read for Failing {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if self.0.is_empty() {
                    return Err(io::Error::other("medium"));
                }
                self.0.read(buffer)
            }
        }
        let opened = Reader::new(Failing(b"x"), &Hints::default());
        assert!(matches!(opened, Err(OpenError::Read(_))));
        let long = "hello\n".repeat(20_000).leak().as_bytes();
        let mut reader = Reader::new(Failing(long), &Hints::default()).unwrap();
        assert_eq!(reader.by_ref().filter(Result::is_err).count(), 1);
        assert!(reader.next().is_none());
    }

    /// Bytes that lists are made of, so that random input gets past the first checks.
    fn listlike() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(MD5.as_bytes().to_vec()),
            Just(SHA256.as_bytes().to_vec()),
            prop::sample::select(vec![
                "  ",
                " *",
                " ",
                "\t",
                "\n",
                "\r\n",
                "\0",
                "\\",
                "#",
                ";",
                "//",
                "MD5 (",
                "SHA256(",
                ") = ",
                ")=",
                "XXH3_",
                "# multisum gap: unstable ",
                "\u{feff}",
                "# MD5 HASH\n",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_to_their_end_without_a_panic(
            list in prop_oneof![listlike(), prop::collection::vec(any::<u8>(), 0..2000)],
            mark in prop::sample::select(vec![&b""[..], b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]),
            format in prop::option::of(prop::sample::select(Format::all().collect::<Vec<_>>())),
        ) {
            let list = [mark, &list].concat();
            let hints = Hints { format, ..Hints::default() };
            if let Ok(reader) = Reader::new(&list[..], &hints) {
                // A document in bad UTF-16 ends with an error.
                let numbers: Vec<u64> =
                    reader.map_while(|record| record.ok().map(|record| record.line)).collect();
                prop_assert!(numbers.is_sorted());
                prop_assert!(numbers.len() <= list.len() + 2);
            }
        }
    }
}
