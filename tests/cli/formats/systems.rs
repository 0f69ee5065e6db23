//! mtree, Gentoo, Debian, and what is signed or compressed.
