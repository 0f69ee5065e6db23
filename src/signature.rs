//! Detached signatures: whether bytes are those that the holder of a key signed.
//!
//! Two kinds are known: minisign's (`.minisig`), and those of `ssh-keygen -Y sign -n file` (`.sig`). What
//! is signed is the manifest as a whole, so it is checked before a line of it is used. Making signatures
//! is left to those tools.

use minisign_verify::{Error as MinisignError, PublicKey as MinisignKey, Signature as Minisign};
use ssh_key::{PublicKey as SshKey, SshSig};

/// The namespace of signatures over files, by the convention of ssh-keygen(1).
const SSH_NAMESPACE: &str = "file";

/// Why bytes are not proved to be what was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is neither a minisign nor an SSH signature.
    #[error("neither a minisign nor an SSH signature")]
    UnknownSignature,
    /// The text holds no public key for that kind of signature.
    #[error("it is a {0} signature, and the key is no {0} public key")]
    NoKey(&'static str),
    /// The text holds a private key, which no verifier should see.
    #[error("the key is a private one; give the public one that belongs to it (.pub)")]
    PrivateKey,
    /// A kind of key that is not supported.
    #[error("keys of type {0} are not supported; sign with a key of Ed25519 or ECDSA P-256")]
    UnsupportedKey(String),
    /// Another key made it.
    #[error("the signature was made by another key")]
    OtherKey,
    /// It was made for another purpose than signing files.
    #[error(
        "the signature is not over a file: its namespace is {0:?}; sign with ssh-keygen -Y sign -n file"
    )]
    OtherPurpose(String),
    /// The bytes are not those that were signed, or the signature was altered.
    #[error("the signature does not belong to these bytes")]
    Wrong,
}

/// Which kind of signature proved the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// Ed25519, as minisign(1) makes it.
    Minisign,
    /// As `ssh-keygen -Y sign` makes it.
    Ssh,
}

impl SignatureKind {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minisign => "minisign",
            Self::Ssh => "SSH",
        }
    }
}

/// Checks that `signature` is one over `message`, made with a key of `keys`: the text of a public key
/// file, or for minisign the key alone; of SSH keys several lines may stand there, and any of them will
/// do.
///
/// # Errors
///
/// It is not, or one of the texts cannot be understood.
///
/// # Examples
///
/// ```
/// use multisum::signature::{SignatureKind, check};
/// let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
/// let signature = "untrusted comment: signature from minisign secret key
/// RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
/// trusted comment: timestamp:1556193335\tfile:test
/// y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==";
/// assert_eq!(check(b"test", signature, key)?, SignatureKind::Minisign);
/// assert!(check(b"Test", signature, key).is_err());
/// # Ok::<(), multisum::signature::SignatureError>(())
/// ```
pub fn check(message: &[u8], signature: &str, keys: &str) -> Result<SignatureKind, SignatureError> {
    if is_private(keys) {
        return Err(SignatureError::PrivateKey);
    }
    if let Ok(signature) = Minisign::decode(signature) {
        check_minisign(message, &signature, keys)?;
        return Ok(SignatureKind::Minisign);
    }
    let signature = SshSig::from_pem(signature).map_err(|_| SignatureError::UnknownSignature)?;
    check_ssh(message, &signature, keys)?;
    Ok(SignatureKind::Ssh)
}

/// By the headings that OpenSSH, OpenSSL and minisign give to private keys.
fn is_private(keys: &str) -> bool {
    let heading = keys.lines().next().unwrap_or_default();
    heading.contains("PRIVATE KEY-----") || heading.ends_with("encrypted secret key")
}

fn check_minisign(message: &[u8], signature: &Minisign, key: &str) -> Result<(), SignatureError> {
    let key = MinisignKey::decode(key).or_else(|_| MinisignKey::from_base64(key.trim()));
    let key = key.map_err(|_| SignatureError::NoKey("minisign"))?;
    // Older signatures are over the bytes themselves and no weaker for that.
    key.verify(message, signature, true)
        .map_err(|reason| match reason {
            MinisignError::UnexpectedKeyId => SignatureError::OtherKey,
            _ => SignatureError::Wrong,
        })
}

fn check_ssh(message: &[u8], signature: &SshSig, keys: &str) -> Result<(), SignatureError> {
    let lines = keys.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys: Vec<SshKey> = lines.filter_map(|line| line.parse().ok()).collect();
    if keys.is_empty() {
        return Err(SignatureError::NoKey("SSH"));
    }
    let key = keys
        .iter()
        .find(|key| key.key_data() == signature.public_key())
        .ok_or(SignatureError::OtherKey)?;
    if signature.namespace() != SSH_NAMESPACE {
        let namespace = signature.namespace().to_owned();
        return Err(SignatureError::OtherPurpose(namespace));
    }
    key.verify(SSH_NAMESPACE, message, signature)
        .map_err(|reason| match reason {
            ssh_key::Error::AlgorithmUnknown | ssh_key::Error::AlgorithmUnsupported { .. } => {
                SignatureError::UnsupportedKey(key.algorithm().to_string())
            }
            _ => SignatureError::Wrong,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &[u8] = include_bytes!("../tests/data/signatures/SHA256SUMS");
    const MINISIG: &str = include_str!("../tests/data/signatures/SHA256SUMS.minisig");
    const MINISIGN_KEY: &str = include_str!("../tests/data/signatures/minisign.pub");
    const SSH_SIG: &str = include_str!("../tests/data/signatures/SHA256SUMS.ed25519.sig");
    const SSH_KEY: &str = include_str!("../tests/data/signatures/ed25519.pub");
    const ECDSA_SIG: &str = include_str!("../tests/data/signatures/SHA256SUMS.ecdsa.sig");
    const ECDSA_KEY: &str = include_str!("../tests/data/signatures/ecdsa.pub");
    const RSA_SIG: &str = include_str!("../tests/data/signatures/SHA256SUMS.rsa.sig");
    const RSA_KEY: &str = include_str!("../tests/data/signatures/rsa.pub");
    const GIT_SIG: &str = include_str!("../tests/data/signatures/SHA256SUMS.git.sig");

    #[test]
    fn signatures_of_the_tools_are_good_over_their_bytes_and_no_others() {
        for (signature, key, kind) in [
            (MINISIG, MINISIGN_KEY, SignatureKind::Minisign),
            (SSH_SIG, SSH_KEY, SignatureKind::Ssh),
            (ECDSA_SIG, ECDSA_KEY, SignatureKind::Ssh),
        ] {
            assert_eq!(check(MESSAGE, signature, key), Ok(kind));
            for at in 0..MESSAGE.len() {
                let mut altered = MESSAGE.to_vec();
                altered[at] ^= 1;
                assert_eq!(check(&altered, signature, key), Err(SignatureError::Wrong));
            }
            let shorter = &MESSAGE[..MESSAGE.len() - 1];
            assert_eq!(check(shorter, signature, key), Err(SignatureError::Wrong));
        }
    }

    #[test]
    fn another_key_another_kind_of_key_and_no_key_are_told_apart() {
        let other =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
        assert_eq!(
            check(MESSAGE, SSH_SIG, other),
            Err(SignatureError::OtherKey)
        );
        let both = format!("# two keys\n{other}\n{SSH_KEY}");
        assert_eq!(check(MESSAGE, SSH_SIG, &both), Ok(SignatureKind::Ssh));
        let no_key = |kind| Err(SignatureError::NoKey(kind));
        assert_eq!(check(MESSAGE, SSH_SIG, MINISIGN_KEY), no_key("SSH"));
        assert_eq!(check(MESSAGE, MINISIG, SSH_KEY), no_key("minisign"));
        let other = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        assert_eq!(
            check(MESSAGE, MINISIG, other),
            Err(SignatureError::OtherKey)
        );
        for private in [
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl",
            "untrusted comment: minisign encrypted secret key\nRWRTY0Iy",
        ] {
            let refused = Err(SignatureError::PrivateKey);
            assert_eq!(check(MESSAGE, SSH_SIG, private), refused);
            assert_eq!(check(MESSAGE, MINISIG, private), refused);
        }
    }

    #[test]
    fn what_cannot_be_checked_is_never_good() {
        let unknown = Err(SignatureError::UnknownSignature);
        assert_eq!(check(MESSAGE, "", SSH_KEY), unknown);
        assert_eq!(
            check(MESSAGE, "-----BEGIN PGP SIGNATURE-----", SSH_KEY),
            unknown
        );
        assert!(matches!(
            check(MESSAGE, RSA_SIG, RSA_KEY),
            Err(SignatureError::UnsupportedKey(_))
        ));
        let purpose = Err(SignatureError::OtherPurpose("git".to_owned()));
        assert_eq!(check(MESSAGE, GIT_SIG, SSH_KEY), purpose);
    }
}
