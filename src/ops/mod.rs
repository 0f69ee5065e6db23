//! What the commands do, without a word about how it is asked for or shown.

mod asides;
mod hash;
mod mhl;
mod verify;

pub use hash::hash;
pub use mhl::{Document, MhlSession, NewGenerations, Renamed, has_mhl_history, mhl_package};
pub use verify::{
    Base, BaseChoice, ExactScope, List, ListInput, Package, Part, Relocation, Verified,
    VerifyOptions, verify,
};
