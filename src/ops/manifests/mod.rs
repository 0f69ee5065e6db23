//! Manifests as what they say of names, for the commands that compare and rewrite them.
//!
//! A [`ManifestFile`] is read twice: a [`Survey`] learns what it says of itself, whether every line
//! can be used and whether its names are in order; then its [`Item`]s come one for each name, in
//! the order of names. If they stand in that order they are streamed; else they are read into memory
//! and sorted.

mod file;
mod item;
mod scope;

pub use file::{Items, ManifestFile, Survey, SurveyedManifest};
pub use item::Item;
pub use scope::{ScopeError, agree, recorded_walk};
