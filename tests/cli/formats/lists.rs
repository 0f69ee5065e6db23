//! Formats of one line a file: hashdeep, md5deep, SFV, RHash, magnet links, cksum, SRI, base64.
