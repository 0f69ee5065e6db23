//! From lines to claims.

use std::collections::BTreeSet;

use super::super::decoder::{self, Context, Records};
use super::super::detect::Sample;
use super::super::evidence::AlgorithmEvidence;
use super::super::lines::{skip_blanks, words};
use super::super::{Claim, Content, Kind, MAX_LINE_LEN_BYTES, Malformed, Remark, gap, gnu};
use super::fields::{self, Fields, Refused, Type};
use super::vis;
use crate::relpath::RelPath;

/// Names of folders that are entered one after the other may be so long together. No system opens a
/// longer path, and every name below repeats it.
const MAX_FOLDER_LEN_BYTES: usize = 32 << 10;

/// Reads entries, remembering the defaults and the folder that the lines before have set.
#[derive(Debug)]
struct Parser {
    algorithms: AlgorithmEvidence,
    defaults: Fields,
    folder: Folder,
    joined: Joined,
    waiting: Option<(u64, Claim)>,
    /// The last line that was looked at.
    seen: u64,
    told: BTreeSet<Vec<u8>>,
}

/// Where names without a slash lie.
#[derive(Debug, Default)]
struct Folder {
    /// With a slash at its end, or empty.
    path: Vec<u8>,
    /// How long `path` was before each folder was entered.
    ends: Vec<usize>,
    /// How many of the innermost folders have a name that is not known.
    lost: usize,
}

/// A line that goes on in the next one.
#[derive(Debug, Default)]
struct Joined {
    begun: Option<u64>,
    text: Vec<u8>,
}

pub(in super::super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Parser {
        algorithms: context.algorithms,
        defaults: Fields::default(),
        folder: Folder::default(),
        joined: Joined::default(),
        waiting: None,
        seen: 0,
        told: BTreeSet::new(),
    })
}

/// Whether the text starts with a heading of bsdtar or NetBSD's `mtree`, or with defaults.
pub(in super::super) fn begins(sample: Sample<'_>) -> bool {
    let mut lines = sample.bytes.split(|&byte| byte == b'\n');
    let mut first = lines.by_ref().map(trim_end).filter(|line| !line.is_empty());
    match first.next() {
        Some(b"#mtree" | b"#mtree v1.0" | b"#mtree v2.0") => true,
        Some(line) if line.starts_with(b"#\t   user: ") => lines
            .next()
            .is_some_and(|line| line.starts_with(b"#\tmachine: ")),
        Some(line) => {
            let mut words = words(line);
            matches!(words.next(), Some(b"/set"))
                && words.clone().next().is_some()
                && words.all(fields::is_keyword)
        }
        None => false,
    }
}

/// Whether a line has the shape of an entry, of defaults, or of the rest of an entry.
pub(in super::super) fn is_entry(line: &[u8]) -> bool {
    let text = line.strip_suffix(b"\\").unwrap_or(line);
    let mut words = words(text);
    let Some(first) = words.next() else {
        return false;
    };
    let mut rest: Vec<&[u8]> = words.collect();
    match first {
        b".." => return rest.is_empty(),
        b"/unset" => return !rest.is_empty(),
        _ => {}
    }
    let is_path_last = is_path_last(first, rest.last().copied());
    if is_path_last {
        rest.pop();
    }
    if rest.len() == 1 && gnu::digits(first).is_some() {
        return false;
    }
    let goes_on = fields::is_keyword(first) && line.starts_with(b" ");
    let has_value = rest.iter().any(|word| word.contains(&b'='));
    (is_path_last || goes_on || has_value) && rest.iter().all(|word| fields::is_keyword(word))
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// Whether a line has its path at the end: it starts with a keyword and ends with no other one.
fn is_path_last(first: &[u8], last: Option<&[u8]>) -> bool {
    let Some(last) = last else { return false };
    fields::is_keyword(first) && !fields::is_keyword(last) && (last == b"." || last.contains(&b'/'))
}

impl decoder::Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let missed = number > self.seen + 1;
        if missed && self.joined.begun.is_some() {
            // A piece in between could not be read.
            self.joined = Joined::default();
            self.settle(number, None, records);
            records.push(number, Content::Malformed(Malformed::NoShape));
            self.seen = number;
            return;
        }
        if self.joined.begun.is_none() && skip_blanks(text).starts_with(b"#") {
            if let Some(gap) = gap::read(skip_blanks(text)) {
                self.settle(number, None, records);
                records.push(number, gap);
            }
        } else if let Some(piece) = unfinished(text) {
            self.joined.add(number, piece);
        } else if let Some(begun) = self.joined.begun {
            self.joined.add(number, text);
            let joined = std::mem::take(&mut self.joined);
            self.whole_line(begun, &joined.text, records);
        } else {
            self.whole_line(number, text, records);
        }
        self.seen = number;
    }

    fn end(&mut self, number: u64, records: &mut Records) {
        if let Some(begun) = self.joined.begun.take() {
            // Lines that could not be read have been reported since.
            let begun = if number > self.seen { number } else { begun };
            self.settle(begun, None, records);
            records.push(
                begun,
                Content::Malformed(Malformed::Truncated("its last line goes on in the next")),
            );
        }
        self.settle(number + 1, None, records);
    }
}

/// The line without the backslash that joins it to the next one.
fn unfinished(text: &[u8]) -> Option<&[u8]> {
    let backslashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    (backslashes % 2 == 1).then(|| &text[..text.len() - 1])
}

impl Joined {
    fn add(&mut self, number: u64, piece: &[u8]) {
        self.begun.get_or_insert(number);
        // One byte more than is allowed is enough to know.
        let room = (MAX_LINE_LEN_BYTES + 1).saturating_sub(self.text.len());
        self.text.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

impl Parser {
    fn whole_line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if text.len() > MAX_LINE_LEN_BYTES {
            self.refuse(number, Malformed::TooLong(MAX_LINE_LEN_BYTES), records);
            return;
        }
        let mut words = words(text);
        match words.next() {
            None => {}
            Some(b"/set") => self.set(number, words, records),
            Some(b"/unset") => self.unset(words),
            Some(b"..") => {
                if let Err(reason) = self.folder.leave() {
                    self.refuse(number, reason, records);
                }
            }
            Some(_) => self.entry(number, text, records),
        }
    }

    fn set<'a>(
        &mut self,
        number: u64,
        words: impl Iterator<Item = &'a [u8]>,
        records: &mut Records,
    ) {
        for word in words {
            match self.defaults.replace(word, &self.algorithms) {
                Ok(()) => {}
                Err(Refused::Unknown) => self.tell_unknown(number, word, records),
                Err(Refused::Malformed(reason)) => self.refuse(number, reason, records),
            }
        }
    }

    fn unset<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) {
        for word in words {
            if word == b"all" {
                self.defaults = Fields::default();
            } else {
                self.defaults.forget(word);
            }
        }
    }

    fn entry(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let words: Vec<&[u8]> = words(text).take_while(|word| word[0] != b'#').collect();
        let Some((name, keywords)) = name_and_keywords(&words) else {
            return;
        };
        let mut unknown = Vec::new();
        let fields = self.fields(keywords, &mut unknown);
        let claim = self.claim(name, keywords, fields);
        if let Ok(claim) = &claim {
            self.settle(number, claim.as_ref(), records);
        } else {
            self.settle(number, None, records);
        }
        for word in unknown {
            self.tell_unknown(number, word, records);
        }
        if keywords.contains(&&b"optional"[..]) {
            let text = "optional names are looked for as all others are";
            self.tell(number, b"optional", text.to_owned(), records);
        }
        match claim {
            Ok(Some(claim)) if claim.kind == Kind::Directory && claim.digests.is_empty() => {
                self.waiting = Some((number, claim));
            }
            Ok(Some(claim)) => records.push(number, Content::Claim(claim)),
            Ok(None) => {}
            Err(reason) => records.push(number, Content::Malformed(reason)),
        }
    }

    fn fields<'a>(
        &self,
        words: &[&'a [u8]],
        unknown: &mut Vec<&'a [u8]>,
    ) -> Result<Fields, Malformed> {
        let mut fields = Fields::default();
        for word in words {
            match fields.take(word, &self.algorithms) {
                Ok(()) => {}
                Err(Refused::Unknown) => unknown.push(word),
                Err(Refused::Malformed(reason)) => return Err(reason),
            }
        }
        Ok(fields.or(&self.defaults))
    }

    /// What a line claims; `None` for the root, which is there if anything is.
    ///
    /// A digest of what has none is kept, so that it is not taken for compared.
    fn claim(
        &mut self,
        word: &[u8],
        keywords: &[&[u8]],
        fields: Result<Fields, Malformed>,
    ) -> Result<Option<Claim>, Malformed> {
        let name = vis::decode(word).ok_or(Malformed::BadEscape);
        let below = |name: &[u8]| name[1..].contains(&b'/');
        let is_path = below(word) || name.as_ref().is_ok_and(|name| below(name));
        let mut fields = match fields {
            Ok(fields) => fields,
            Err(reason) => {
                if !is_path && self.may_be_folder(keywords) {
                    self.folder.lose();
                }
                return Err(reason);
            }
        };
        let kind = fields.claimed_kind();
        let enters = kind == Kind::Directory && !is_path;
        let name = match name.and_then(|name| self.folder.place(&name, is_path)) {
            Ok(name) => name,
            Err(reason) => {
                if enters {
                    self.folder.lose();
                }
                return Err(reason);
            }
        };
        if enters {
            self.folder.enter(&name, word == b".");
        }
        if word == b"." && kind == Kind::Directory && fields.digests.is_empty() {
            return Ok(None);
        }
        let mut claim = Claim::bare(RelPath::from_bytes(name));
        claim.digests = fields.digests;
        if kind == Kind::File {
            claim.size = fields.size;
            claim.modified = fields.modified;
        }
        claim.kind = kind;
        Ok(Some(claim))
    }

    /// Whether a line that cannot be understood is that of a folder.
    fn may_be_folder(&self, keywords: &[&[u8]]) -> bool {
        let mut types = keywords.iter().filter(|word| word.starts_with(b"type="));
        match types.next() {
            Some(word) => **word == *b"type=dir",
            None => self.defaults.kind == Some(Type::Folder),
        }
    }

    /// Hands on the folder that waits for a name in it, unless this is one.
    fn settle(&mut self, number: u64, next: Option<&Claim>, records: &mut Records) {
        let Some((line, folder)) = self.waiting.take() else {
            return;
        };
        let proves = |next: &Claim| {
            let below = next.name.as_bytes().strip_prefix(folder.name.as_bytes());
            below.is_some_and(|below| below.starts_with(b"/"))
        };
        if !next.is_some_and(proves) {
            // Lines that could not be read have been reported since.
            let line = if number > self.seen + 1 {
                number - 1
            } else {
                line
            };
            records.push(line, Content::Claim(folder));
        }
    }

    fn refuse(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        self.settle(number, None, records);
        records.push(number, Content::Malformed(reason));
    }

    fn tell_unknown(&mut self, number: u64, word: &[u8], records: &mut Records) {
        let (key, _) = fields::split(word);
        let shown = crate::quote::Quoted::from_bytes(key);
        self.tell(number, key, format!("unknown keyword '{shown}'"), records);
    }

    /// Says something of a keyword where it stands first.
    fn tell(&mut self, number: u64, key: &[u8], text: String, records: &mut Records) {
        if !self.told.contains(key) {
            self.told.insert(key.to_vec());
            self.settle(number, None, records);
            records.remark(number, Remark::Ignored(text));
        }
    }
}

/// Tells the name in a line from what is said of it.
fn name_and_keywords<'a, 'w>(words: &'w [&'a [u8]]) -> Option<(&'a [u8], &'w [&'a [u8]])> {
    let (&first, rest) = words.split_first()?;
    match words.split_last() {
        Some((&last, before)) if is_path_last(first, Some(last)) => Some((last, before)),
        _ => Some((first, rest)),
    }
}

impl Folder {
    /// The whole name of an entry.
    fn place(&self, name: &[u8], is_path: bool) -> Result<Vec<u8>, Malformed> {
        if name.contains(&0) {
            return Err(Malformed::NulInName);
        }
        if is_path {
            let below = name.strip_prefix(b"./").filter(|below| !below.is_empty());
            return Ok(below.unwrap_or(name).to_vec());
        }
        if self.lost > 0 {
            let reason = "it lies in a folder whose line is malformed";
            return Err(Malformed::Rule(reason.to_owned()));
        }
        if self.path.len() + name.len() > MAX_FOLDER_LEN_BYTES {
            return Err(Malformed::TooLong(MAX_FOLDER_LEN_BYTES));
        }
        Ok([&self.path, name].concat())
    }

    fn enter(&mut self, name: &[u8], is_root: bool) {
        self.ends.push(self.path.len());
        if !is_root {
            self.path = [name, b"/"].concat();
        }
    }

    /// Enters a folder that has no usable name.
    fn lose(&mut self) {
        self.lost += 1;
    }

    fn leave(&mut self) -> Result<(), Malformed> {
        if self.lost > 0 {
            self.lost -= 1;
            return Ok(());
        }
        let end = self.ends.pop();
        let end = end.ok_or_else(|| Malformed::Rule("'..' leads out of the root".to_owned()))?;
        self.path.truncate(end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{ClaimedDigest, Format, Hints, Reader};
    use super::*;
    use crate::algorithm::Algorithm;
    use proptest::prelude::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";
    const SHA256: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

    fn read(list: &[u8], hints: &Hints) -> Vec<(u64, Content)> {
        let reader = Reader::new(list, hints).unwrap();
        reader
            .map(|record| record.map(|record| (record.line, record.content)).unwrap())
            .collect()
    }

    fn spell(claim: &Claim) -> String {
        let mut text = match &claim.kind {
            Kind::File => claim.name.to_string(),
            Kind::Directory => format!("{}/", claim.name),
            Kind::Link(target) => format!("{} -> {:?}", claim.name, target.as_ref().unwrap()),
            Kind::Special => format!("{} special", claim.name),
        };
        for digest in &claim.digests {
            match digest {
                ClaimedDigest::Known(digest) => text += &format!(" {}", digest.algorithm()),
                ClaimedDigest::Unsupported(name) => text += &format!(" ?{name}"),
                ClaimedDigest::OneOf { .. } => text += " ?",
            }
        }
        if let Some(size) = claim.size {
            text += &format!(" {size}");
        }
        if let Some(modified) = claim.modified {
            text += &format!(" @{}", modified.time);
        }
        text
    }

    /// `LINE:CLAIM`, `LINE!REASON`, `LINE~REMARK`.
    fn shown(list: &str) -> Vec<String> {
        let list = list.replace("MD5!", MD5).replace("SHA256!", SHA256);
        let hints = Hints {
            format: Some(Format::Mtree),
            ..Hints::default()
        };
        read(list.as_bytes(), &hints)
            .into_iter()
            .map(|(line, content)| match content {
                Content::Claim(claim) => format!("{line}:{}", spell(&claim)),
                Content::Malformed(reason) => format!("{line}!{reason}"),
                Content::Remark(remark) => format!("{line}~{remark}"),
                Content::Gap { name, kind } => format!("{line} {kind:?} {name}"),
                Content::Header(_) => unreachable!(),
            })
            .collect()
    }

    #[test]
    fn folders_are_entered_and_left() {
        let list = "#\t   user: me\n\n# .\n/set type=file\n.  type=dir\n    a  size=6 md5=MD5! \\\n\
             \x20      sha256=SHA256!\n    link  type=link link=d/sp\\sace\n    pipe type=fifo\n\n\
             # ./d\nd   type=dir\n    sp\\sace size=1\n# ./d/e\ne type=dir\n f size=2\n..\n  g\n..\n\
             empty type=dir\n..\nlast size=3\n..\n";
        assert_eq!(
            shown(list),
            [
                "6:a md5 sha256 6",
                "8:link -> RelPath(d/sp ace)",
                "9:pipe special",
                "13:d/sp ace 1",
                "16:d/e/f 2",
                "18:d/g",
                "20:empty/",
                "22:last 3"
            ]
        );
    }

    #[test]
    fn paths_with_slashes_are_whole_and_may_stand_last() {
        let list = "#mtree\n. type=dir\n./d type=dir\n./d/x\\040y size=1 type=file time=5.42\n\
             type=file size=2 ./z\ntype=dir .\nd/w md5digest=0xMD5!\n/abs/x size=4\n./\\057 size=1\n";
        assert_eq!(
            shown(list),
            [
                "4:d/x y 1 @1970-01-01T00:00:05.000000042Z",
                "5:z 2",
                "7:d/w md5",
                "8:/abs/x 4",
                "9:/ 1"
            ]
        );
    }

    #[test]
    fn defaults_hold_until_they_are_changed_or_taken_back() {
        let list = "/set type=file size=1 uid=0\n./a\n./b size=2\n/set size=3\n./c\n/unset size\n./d\n\
             /set type=dir md5=MD5!\n./e\n/unset all\n./f size=4\n/set size=x\n";
        assert_eq!(
            shown(list),
            [
                "2:a 1",
                "3:b 2",
                "5:c 3",
                "7:d",
                "9:e/",
                "11:f 4",
                "12!bad size: 'x'"
            ]
        );
    }

    #[test]
    fn a_folder_is_claimed_only_where_no_name_in_it_follows() {
        let list = "./a type=dir\n./a/b type=dir\n./a/b/c size=1\n./ab type=dir\n./abc size=2\n\
             ./x type=dir\n./x/y size=bad\n./z type=dir\n";
        assert_eq!(
            shown(list),
            [
                "3:a/b/c 1",
                "4:ab/",
                "5:abc 2",
                "6:x/",
                "7!bad size: 'bad'",
                "8:z/"
            ]
        );
    }

    #[test]
    fn what_cannot_be_understood_spoils_its_line_or_its_folder() {
        let list = "./a size=-1\n./b md5=12\n./c\\q size=1\n./d type=tree\n./e size=1 size=2\n\
             ./f md5=MD5! md5digest=00000000000000000000000000000000\n./g size\n..\n./n\\000m\n";
        assert_eq!(
            shown(list),
            [
                "1!bad size: '-1'",
                "2!not a md5 digest, which has 32 hexadecimal digits",
                "3!bad escape in the name",
                "4!bad type: 'tree'",
                "5!size is given twice",
                "6!two digests of one algorithm",
                "7!bad value: 'size'",
                "8!'..' leads out of the root",
                "9!NUL byte in the name"
            ]
        );
        let lost = "a\\q type=dir\nb size=1\nc type=dir\nd size=1\n..\n..\ne size=1\n";
        assert_eq!(
            shown(lost),
            [
                "1!bad escape in the name",
                "2!it lies in a folder whose line is malformed",
                "3!it lies in a folder whose line is malformed",
                "4!it lies in a folder whose line is malformed",
                "7:e 1"
            ]
        );
    }

    #[test]
    fn unknown_keywords_are_told_once_and_unknown_digests_are_kept() {
        let list = "./a colour=red size=1\n./b colour=blue taste\n./c gostdigest=12 sha3-256=SHA256!\n\
             ./d size=1 optional\n./e size=1 optional # and so on\n";
        assert_eq!(
            shown(list),
            [
                "1~unknown keyword 'colour'",
                "1:a 1",
                "2~unknown keyword 'taste'",
                "2:b",
                "3:c ?gost sha3-256",
                "4~optional names are looked for as all others are",
                "4:d 1",
                "5:e 1"
            ]
        );
    }

    #[test]
    fn a_digest_of_what_is_no_file_is_kept() {
        let list = ". type=dir md5=MD5!\n./d type=dir md5=MD5!\n./d/f size=1\n\
                    ./l type=link link=f sha256=SHA256!\n./p type=fifo md5=MD5!\n";
        assert_eq!(
            shown(list),
            [
                "1:./ md5",
                "2:d/ md5",
                "3:d/f 1",
                "4:l -> RelPath(f) sha256",
                "5:p special md5"
            ]
        );
    }

    #[test]
    fn an_unknown_keyword_with_a_value_like_a_digest_is_no_remark() {
        let list = "./a skein256=SHA256! sha256=SHA256!\n./b foo=0xMD5!\n./c foo=MD5!0 colour=12\n\
                    type=file skein256=SHA256! ./d\nskein256=SHA256! type=file ./e\n\
                    /set skein256=SHA256!\n./f\n/unset skein256\n./g\n";
        assert_eq!(
            shown(list),
            [
                "1:a ?skein256 sha256",
                "2:b ?foo",
                "3~unknown keyword 'colour'",
                "3:c ?foo",
                "4:d ?skein256",
                "5:e ?skein256",
                "7:f ?skein256",
                "9:g"
            ]
        );
    }

    #[test]
    fn a_posix_checksum_is_not_taken_for_another_crc() {
        let claim = |list: &str| shown(list).remove(0);
        let shown = claim("./a cksum=3015617425\n");
        assert!(
            shown.ends_with(" cksum") || shown.ends_with(" ?cksum"),
            "{shown}"
        );
        assert_eq!(claim("./a cksum=4294967296\n"), "1!bad cksum: '4294967296'");
    }

    #[test]
    fn lines_are_joined_by_one_backslash_and_comments_never_are() {
        let list = "./a size=\\\n1\n# comment \\\n./b size=2\n./c\\\\ size=3\\\\\n./d \\\n";
        assert_eq!(
            shown(list),
            [
                "1:a 1",
                "4:b 2",
                "5!bad size: '3\\\\\\\\'",
                "6!the manifest is incomplete: its last line goes on in the next"
            ]
        );
    }

    #[test]
    fn an_asked_algorithm_leaves_the_others_out() {
        let hints = Hints {
            algorithm: Some(Algorithm::Md5),
            ..Hints::default()
        };
        let list = format!("#mtree\n./a md5={MD5} sha256={SHA256} gostdigest=1\n");
        let records = read(list.as_bytes(), &hints);
        let [(2, Content::Claim(claim))] = &records[..] else {
            panic!("{records:?}")
        };
        assert_eq!(spell(claim), "a md5");
    }

    #[test]
    fn specifications_are_recognised_and_other_lists_are_not() {
        let found = |list: &str| {
            let list = list.replace("MD5!", MD5);
            Reader::new(list.as_bytes(), &Hints::default())
                .unwrap()
                .format()
        };
        for list in [
            "#mtree\n",
            "\n#mtree\n./a\n",
            "#\t   user: (null)\n#\tmachine: vm\n",
            "/set type=file uid=0\n",
            ". type=dir\na size=1 md5=MD5!\n",
            "type=dir .\ntype=file ./a\n",
            ". type=dir\na size=1 \\\n  md5=MD5! \\\n  sha1=x\n",
        ] {
            assert_eq!(found(list), Format::Mtree, "{list}");
        }
        for list in [
            "MD5!  size=1\n",
            "MD5 (x) = MD5!\n",
            "type=file\n",
            "hello world\n",
            "#mtree is nice\nMD5!  x\n",
            "/set\n",
        ] {
            let found = found(list);
            assert_ne!(found, Format::Mtree, "{list}");
        }
    }

    fn listlike() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => prop::sample::select(vec![
                "\n", " ", "\\\n", "\\", "./a", "b", "d/e", ".", "..", "type=dir", "type=file",
                "type=link link=x", "size=1", "size=x", "time=5.42", "time=", "/set", "/unset", "all",
                "cksum=1", "optional", "k=v", "#", "\\040", "\\q", "\\M-", "# multisum gap: unstable ",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end_in_the_order_of_its_lines(list in listlike()) {
            let hints = Hints { format: Some(Format::Mtree), ..Hints::default() };
            let lines: Vec<u64> = read(&list, &hints).iter().map(|(line, _)| *line).collect();
            prop_assert!(lines.is_sorted(), "{lines:?}");
        }
    }
}
