//! Where the names of a bag lead on the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::relpath::RelPath;
use crate::walk::{self, Input, Root};

use super::{PAYLOAD, names};

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing.
    Absent,
    /// Something in the bag.
    There,
    /// A symbolic link, here or on the way, that leads out of the bag.
    LeadsOut,
}

/// Looks at the names of one bag.
#[derive(Debug)]
pub(super) struct Places {
    folder: PathBuf,
    real: Option<PathBuf>,
    /// What is known of the folders of names, since most of them hold many.
    folders: HashMap<PathBuf, Place>,
    /// Files of the payload whose names have more than one form, by the composed form.
    normalised: Option<HashMap<String, Vec<RelPath>>>,
}

impl Places {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            real: folder.canonicalize().ok(),
            folders: HashMap::new(),
            normalised: None,
        }
    }

    /// Looks at a relative name without `..`.
    pub(super) fn find(&mut self, name: &RelPath) -> Place {
        let Some(path) = name.to_path().map(|path| self.folder.join(path)) else {
            return Place::Absent;
        };
        match path.parent().map(|parent| self.find_folder(parent)) {
            None | Some(Place::There) => {}
            Some(other) => return other,
        }
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => self.follow(&path),
            Ok(_) => Place::There,
            Err(_) => Place::Absent,
        }
    }

    fn find_folder(&mut self, folder: &Path) -> Place {
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let place = self.follow(folder);
        self.folders.insert(folder.to_owned(), place);
        place
    }

    fn follow(&self, path: &Path) -> Place {
        match (path.canonicalize(), &self.real) {
            (Ok(real), Some(bag)) if real.starts_with(bag) => Place::There,
            (Ok(_), Some(_)) => Place::LeadsOut,
            _ => Place::Absent,
        }
    }

    /// The only file of the payload that has the same name in another normalisation.
    pub(super) fn find_normalised(&mut self, name: &RelPath) -> Option<RelPath> {
        let wanted = names::composed(name)?;
        let folder = &self.folder;
        let normalised = self.normalised.get_or_insert_with(|| by_form(folder));
        match normalised.get(&wanted)?.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}

fn by_form(folder: &Path) -> HashMap<String, Vec<RelPath>> {
    let root = Root {
        path: folder.join(PAYLOAD),
        name: RelPath::from(PAYLOAD),
    };
    let mut forms: HashMap<String, Vec<RelPath>> = HashMap::new();
    for found in walk::walk([Input::Path(root)], walk::Options::default()) {
        if let Some(form) = names::composed(&found.name) {
            forms.entry(form).or_default().push(found.name);
        }
    }
    forms
}
