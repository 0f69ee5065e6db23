//! Signed text that carries its signature with it: PGP cleartext and `signify -e`.
//!
//! ```text
//! -----BEGIN PGP SIGNED MESSAGE-----      untrusted comment: ...
//! Hash: SHA256                            RW... (base64)
//!                                         body
//! body, "- " before lines that start with "-"
//! -----BEGIN PGP SIGNATURE-----
//! ...
//! -----END PGP SIGNATURE-----
//! ```
//!
//! Only the body is handed on: text before, after or in the headers is what somebody could have added
//! without breaking the signature. Source: RFC 9580, section 7; the manual of OpenBSD's signify(1).

use std::borrow::Cow;

use super::Malformed;
use super::lines::trim_blanks;

const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
const END: &[u8] = b"-----END PGP SIGNATURE-----";
const COMMENT: &[u8] = b"untrusted comment: ";

/// Where in a wrapping the next line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// There is none: every line is body.
    None,
    /// Before the first line of a PGP message.
    PgpBefore,
    /// Among the `Hash:` headers.
    PgpHeaders,
    /// In the signed text.
    PgpBody,
    /// In the signature.
    PgpSignature,
    /// Behind it.
    PgpAfter,
    /// So many lines of a signify signature are still to come.
    Signify(u8),
}

/// What a line is to the wrapping.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Signed text.
    Body(&'a [u8]),
    /// The wrapping itself.
    Wrapping,
    /// Something that no signature covers.
    Outside(Malformed),
}

impl Wrapper {
    /// Looks for a wrapping in the first lines of a text.
    ///
    /// A PGP message is found wherever it begins, so that lines in front of it are noticed.
    pub(super) fn find(sample: &[u8]) -> Self {
        let mut lines = sample.split(|&byte| byte == b'\n').map(trim_end);
        if lines.clone().any(|line| line == BEGIN) {
            return Self::PgpBefore;
        }
        match (lines.next(), lines.next()) {
            (Some(comment), Some(key))
                if comment.starts_with(COMMENT) && key.starts_with(b"RW") =>
            {
                Self::Signify(2)
            }
            _ => Self::None,
        }
    }

    /// The part of the beginning of a text that is inside the wrapping.
    pub(super) fn body(self, sample: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::None {
            return Cow::Borrowed(sample);
        }
        let mut wrapper = self;
        let mut body = Vec::with_capacity(sample.len());
        for line in sample.split_inclusive(|&byte| byte == b'\n') {
            let ending = line.len() - usize::from(line.ends_with(b"\n"));
            if let Part::Body(text) = wrapper.unwrap(&line[..ending]) {
                body.extend_from_slice(text);
                body.extend_from_slice(&line[ending..]);
            }
        }
        Cow::Owned(body)
    }

    /// What kind of signature it holds.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Signify(_) => Some("signify"),
            _ => Some("PGP"),
        }
    }

    /// The line without its wrapping.
    pub(super) fn unwrap<'a>(&mut self, line: &'a [u8]) -> Part<'a> {
        let marker = match self {
            Self::None | Self::Signify(_) => line,
            _ => trim_end(line),
        };
        let (next, part) = match (*self, marker) {
            (Self::None | Self::Signify(0), _) => (*self, Part::Body(line)),
            (Self::Signify(left), _) => (Self::Signify(left - 1), Part::Wrapping),
            (Self::PgpBefore, BEGIN) => (Self::PgpHeaders, Part::Wrapping),
            (Self::PgpHeaders, []) => (Self::PgpBody, Part::Wrapping),
            (Self::PgpHeaders, text) if text.starts_with(b"Hash: ") => (*self, Part::Wrapping),
            (Self::PgpBody, SIGNATURE) => (Self::PgpSignature, Part::Wrapping),
            (Self::PgpBody, _) => (*self, body(line)),
            (Self::PgpSignature, END) => (Self::PgpAfter, Part::Wrapping),
            (Self::PgpSignature, text) if !is_armour(text) => {
                (*self, Part::Outside(Malformed::OutsideSignature))
            }
            (Self::PgpSignature, _) | (Self::PgpBefore | Self::PgpAfter, []) => {
                (*self, Part::Wrapping)
            }
            (Self::PgpBefore | Self::PgpHeaders | Self::PgpAfter, _) => {
                (*self, Part::Outside(Malformed::OutsideSignature))
            }
        };
        *self = next;
        part
    }

    /// Whether a text may end here.
    pub(super) fn end(self) -> Result<(), Malformed> {
        match self {
            Self::None | Self::Signify(0) | Self::PgpAfter => Ok(()),
            _ => Err(Malformed::UnendedSignature),
        }
    }
}

/// A line of signed text. No such line starts with a dash, but for the one that escapes another.
fn body(line: &[u8]) -> Part<'_> {
    match line {
        [b'-', b' ', text @ ..] => Part::Body(text),
        [b'-', ..] => Part::Outside(Malformed::OutsideSignature),
        text => Part::Body(text),
    }
}

/// A line that a signature may have: a header such as `Version: 1`, base64, or nothing.
fn is_armour(line: &[u8]) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_header = [
        &b"Version: "[..],
        b"Comment: ",
        b"MessageID: ",
        b"Hash: ",
        b"Charset: ",
    ]
    .iter()
    .any(|key| line.starts_with(key));
    is_header || line.iter().all(is_base64)
}

/// Markers may have blanks behind them, and the carriage return that a CRLF text has.
fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return if trim_blanks(line).is_empty() {
            b""
        } else {
            line
        };
    }
    trim_blanks(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str) -> Vec<String> {
        let mut wrapper = Wrapper::find(text.as_bytes());
        let mut shown: Vec<String> = Vec::new();
        for line in text.lines() {
            match wrapper.unwrap(line.as_bytes()) {
                Part::Body(text) => shown.push(String::from_utf8(text.to_vec()).unwrap()),
                Part::Wrapping => {}
                Part::Outside(reason) => shown.push(format!("!{reason}: {line}")),
            }
        }
        if let Err(reason) = wrapper.end() {
            shown.push(format!("!{reason}"));
        }
        shown
    }

    const SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\na\n- -b\n\n\
        -----BEGIN PGP SIGNATURE-----\n\niQ\n=x\n-----END PGP SIGNATURE-----\n";

    #[test]
    fn only_the_body_is_handed_on_and_its_dashes_are_undone() {
        assert_eq!(bodies(SIGNED), ["a", "-b", ""]);
        assert_eq!(
            bodies(&SIGNED.replace("-----\n", "----- \t\n")),
            ["a", "-b", ""]
        );
        assert_eq!(bodies("a\n\n-b\n"), ["a", "", "-b"]);
    }

    #[test]
    fn lines_that_no_signature_covers_are_refused_wherever_they_stand() {
        let outside = |line: &str| format!("!text outside the signed part: {line}");
        assert_eq!(bodies(&format!("x\n{SIGNED}"))[0], outside("x"));
        assert_eq!(bodies(&format!("{SIGNED}\nx\n"))[3..], [outside("x")]);
        assert_eq!(
            bodies(&SIGNED.replace("SHA256\n", "SHA256\nx\n"))[0],
            outside("x")
        );
        assert_eq!(bodies(&SIGNED.replace("- -b", "-b"))[1], outside("-b"));
        let inside = SIGNED.replace("SIGNATURE-----\n\n", "SIGNATURE-----\n00ff  x\n\n");
        assert_eq!(bodies(&inside)[3], outside("00ff  x"));
        assert_eq!(
            bodies(&format!("{SIGNED}{SIGNED}"))[3],
            outside("-----BEGIN PGP SIGNED MESSAGE-----")
        );
    }

    #[test]
    fn a_signed_text_without_its_end_is_refused() {
        let cut = SIGNED.split("-----END").next().unwrap();
        assert_eq!(bodies(cut).last().unwrap(), "!the signed text has no end");
        let cut = SIGNED.split("-----BEGIN PGP SIGNATURE").next().unwrap();
        assert_eq!(bodies(cut).last().unwrap(), "!the signed text has no end");
    }

    #[test]
    fn signify_has_two_lines_in_front() {
        assert_eq!(
            bodies("untrusted comment: verify with x.pub\nRWQabc=\na\nb\n"),
            ["a", "b"]
        );
        assert_eq!(bodies("untrusted comment: x\nnot a key\n").len(), 2);
    }
}
