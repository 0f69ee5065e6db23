//! What the commands do, without a word about how it is asked for or shown.

mod asides;
mod bag;
mod convert;
mod hash;
mod manifests;
mod mhl;
mod package;
mod update;
mod verify;

pub use asides::open_manifest;
pub use bag::{BagError, BagSettings, make_bag};
pub use convert::{ConvertError, Converted, Inventory, Loss, Target};
pub use hash::hash;
pub use manifests::{Item, Items, ManifestFile, ScopeError, Survey, recorded_walk};
pub use mhl::{Document, MhlSession, NewGenerations, Renamed};
pub use package::package_of;
pub use update::{
    Ledger, Renewal, RenewalError, UpdateOptions, Updated, WalkOrder, recorded_at, update, without,
};
pub use verify::{
    Base, BaseChoice, ExactScope, List, ListInput, Package, Part, RecordedTotal, Relocation,
    Verified, VerifyOptions, verify,
};
