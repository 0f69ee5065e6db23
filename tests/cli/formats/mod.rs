//! Formats of manifests: what the real tools wrote, what they say of ours, and what is in between.

mod bags;
mod convert;
mod documents;
mod lists;
mod media;
mod systems;
