//! multisum
pub mod algorithm;
pub mod digest;
pub mod engine;
pub mod error;
pub mod event;
pub mod hasher;
pub mod hex;
pub mod lanes;
pub mod manifest;
pub mod quote;
pub mod relpath;
pub mod walk;

pub use algorithm::Algorithm;
pub use digest::Digest;
pub use error::{Error, FileError, Operation};
pub use hasher::MultiHasher;
pub use relpath::RelPath;
