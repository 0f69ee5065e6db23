//! What the commands do, without a word about how it is asked for or shown.

mod asides;
mod bag;
mod convert;
mod diff;
mod hash;
mod journal;
mod manifests;
mod merge;
mod mhl;
mod moves;
mod package;
mod update;
mod verify;

pub use asides::{Before, open_manifest};
pub use bag::{BagError, BagSettings, make_bag};
pub use convert::{ConvertError, Converted, Inventory, Loss, Target};
pub use diff::{DiffOptions, DiffSide, Diffed, FolderSide, diff};
pub use hash::{hash, hash_journalled};
pub use journal::{
    Contents, Journal, JournalError, Lock, Past, Recorded, Resumed, Term, journal_beside,
};
pub use manifests::{
    Item, Items, ManifestFile, ScopeError, Survey, SurveyedManifest, agree, recorded_walk,
};
pub use merge::{MergeError, Parts};
pub use mhl::{Document, MhlSession, NewGenerations, Renamed};
pub use package::package_of;
pub use update::{
    Ledger, Renewal, RenewalError, UpdateOptions, Updated, WalkOrder, recorded_at, update,
    update_journalled, without,
};
pub use verify::{
    Base, BaseChoice, ExactScope, Kept, List, ListInput, Package, Part, Portion, RecordedTotal,
    Relocation, ScrubState, ScrubStateError, Scrubbed, Verified, VerifyOptions, verify,
    verify_keeping,
};
