//! What the commands do, without a word about how it is asked for or shown.

mod asides;
mod convert;
mod hash;
mod package;
mod mhl;
mod verify;

pub use convert::{ConvertError, Converted, Inventory, Loss, Target};
pub use hash::hash;
pub use package::package_of;
pub use mhl::{Document, MhlSession, NewGenerations, Renamed};
pub use verify::{
    Base, BaseChoice, ExactScope, List, ListInput, Package, Part, RecordedTotal, Relocation,
    Verified, VerifyOptions, verify,
};
