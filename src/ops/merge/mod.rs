//! The manifests of slices or of disjoint trees, joined into one.
//!
//! [`Parts`] are checked as a whole before anything is written (`parts`): native manifests say
//! what they are parts of, so that a missing or incomplete one is found. Then their entries are
//! joined in the order of names (`join`) and written (`write`).

mod error;
mod join;
mod parts;
mod write;

pub use error::MergeError;
pub use parts::Parts;
