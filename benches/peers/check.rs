//! Digests as the tools wrote them, read with the reader of manifests.

use std::collections::BTreeMap;

use multisum::manifest::{ClaimedDigest, Content, Hints, Reader};
use multisum::{Algorithm, RelPath, hex};

use crate::Result;
use crate::tools::Shape;

/// Digests by name and algorithm.
pub(crate) type Digests = BTreeMap<(RelPath, Algorithm), Vec<u8>>;

/// Reads what a tool wrote. `file` is the name where only one file was hashed.
pub(crate) fn read(
    output: &[u8],
    shape: Shape,
    algorithms: &[Algorithm],
    file: Option<&str>,
) -> Result<Digests> {
    match shape {
        Shape::Manifest => read_manifest(output, algorithms),
        Shape::Hashdeep => read_hashdeep(output),
        Shape::Bare => read_bare(output, algorithms, file),
    }
}

/// Says where `found` is not `expected`.
pub(crate) fn compare(found: &Digests, expected: &Digests) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let difference = expected
        .iter()
        .find(|(key, digest)| found.get(key) != Some(digest));
    Err(match difference {
        Some(((name, algorithm), _)) if found.contains_key(&(name.clone(), *algorithm)) => {
            format!("another {algorithm} of {name}")
        }
        Some(((name, algorithm), _)) => format!("no {algorithm} of {name}"),
        None => format!("{} digests more", found.len().abs_diff(expected.len())),
    }
    .into())
}

fn read_manifest(output: &[u8], algorithms: &[Algorithm]) -> Result<Digests> {
    let hints = Hints {
        algorithm: match algorithms {
            [algorithm] => Some(*algorithm),
            _ => None,
        },
        ..Hints::default()
    };
    let mut digests = Digests::new();
    for record in Reader::new(output, &hints)? {
        let record = record?;
        let claim = match record.content {
            Content::Claim(claim) => claim,
            Content::Gap { name, .. } => return Err(format!("no digest of {name}").into()),
            Content::Malformed(reason) => {
                return Err(format!("line {}: {reason}", record.line).into());
            }
            Content::Header(_) | Content::Remark(_) => continue,
        };
        let (algorithm, bytes) = match &claim.digests[..] {
            [ClaimedDigest::Known(digest)] => (digest.algorithm(), digest.as_bytes().to_vec()),
            [ClaimedDigest::OneOf { bytes, candidates }] => {
                let asked = algorithms.iter().find(|a| candidates.contains(a));
                (*asked.ok_or("a digest of unknown kind")?, bytes.to_vec())
            }
            _ => return Err(format!("not one digest of {}", claim.name).into()),
        };
        digests.insert((claim.name.normalised().into_owned(), algorithm), bytes);
    }
    Ok(digests)
}

/// `size,DIGEST,…,name` after a line that names the columns.
fn read_hashdeep(output: &[u8]) -> Result<Digests> {
    let mut columns: Vec<Algorithm> = Vec::new();
    let mut digests = Digests::new();
    for line in output.split(|byte| *byte == b'\n') {
        if let Some(heading) = line.strip_prefix(b"%%%% size,") {
            let names = str::from_utf8(heading)?.split(',');
            let names = names.filter(|name| *name != "filename");
            columns = names.map(str::parse).collect::<Result<_, _>>()?;
        } else if !line.is_empty() && !line.starts_with(b"%") && !line.starts_with(b"#") {
            let mut fields = line.splitn(columns.len() + 2, |byte| *byte == b',').skip(1);
            let values: Vec<&[u8]> = fields.by_ref().take(columns.len()).collect();
            let name = RelPath::from_bytes(fields.next().ok_or("a line without a name")?);
            for (algorithm, value) in columns.iter().zip(values) {
                let key = (name.normalised().into_owned(), *algorithm);
                digests.insert(key, digest(value)?);
            }
        }
    }
    Ok(digests)
}

fn read_bare(output: &[u8], algorithms: &[Algorithm], file: Option<&str>) -> Result<Digests> {
    let [algorithm] = algorithms else {
        return Err("bare digests of several kinds".into());
    };
    let text = str::from_utf8(output)?;
    let line = text
        .lines()
        .map(|line| line.replace(' ', ""))
        .find(|line| line.len() == 2 * algorithm.digest_len_bytes())
        .ok_or("no line is a digest")?;
    let name = RelPath::from_bytes(file.ok_or("no name for a bare digest")?.as_bytes());
    Ok(Digests::from([(
        (name, *algorithm),
        digest(line.as_bytes())?,
    )]))
}

fn digest(digits: &[u8]) -> Result<Vec<u8>> {
    Ok(hex::decode(digits).ok_or("not a digest in hexadecimal")?)
}
