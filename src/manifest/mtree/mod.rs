//! BSD mtree specifications, as NetBSD's and FreeBSD's `mtree`, `bsdtar --format=mtree` and pacman
//! write them.
//!
//! ```text
//! comment  = "#" ...
//! defaults = "/set" 1*(WSP KEY ["=" VALUE]) | "/unset" 1*(WSP KEY)
//! up       = ".."
//! entry    = NAME *(WSP KEY ["=" VALUE])          or, with `mtree -D`,  1*(KEY "=" VALUE WSP) PATH
//! ```
//!
//! A backslash at the end of a line joins the next one. A name without a slash lies in the current
//! folder: an entry of `type=dir` enters that folder and `..` leaves it. A name with a slash after
//! its first byte is a path from the root, and changes nothing. `/set` gives values to the entries
//! below that have none of their own.
//!
//! - `time=S.N` counts N in nanoseconds; it is no decimal fraction, and most programs write it without
//!   leading zeros. In moments before 1970, N still counts upwards from S.
//! - `*`, `?` and `[` in a name make it a pattern for NetBSD's `mtree`, which compares the name itself
//!   first; here it is always a name, since libarchive writes names of that kind as they are.
//! - `optional`, `nochange` and `ignore` say what may be left unchecked. Whatever has a line is
//!   checked here.
//! - A folder is checked only if no listed name lies in it, as that name proves it, or if its line has
//!   a digest, which can prove nothing.
//!
//! Source: the manuals mtree(8) of NetBSD and mtree(5) of libarchive; the output of NetBSD's mtree
//! 20180822 and bsdtar 3.6.2.

mod encoder;
mod fields;
mod grammar;
mod vis;

pub(super) use encoder::encoder;
pub(super) use grammar::{begins, grammar, is_entry};
