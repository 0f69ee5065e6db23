//! The algorithms of one message that a stitched kernel takes together.

use super::padding::Core;
use super::state::{Family, LaneState};

/// MD5, and SHA-1 and SHA-256 as far as they are asked for.
#[derive(Default)]
pub(super) struct Group<'a> {
    md5: Option<&'a mut LaneState>,
    sha1: Option<&'a mut LaneState>,
    sha256: Option<&'a mut LaneState>,
}

impl<'a> Group<'a> {
    /// Takes the state if its place is free, else gives it back.
    pub(super) fn take(&mut self, state: &'a mut LaneState) -> Option<&'a mut LaneState> {
        let place = match state.family {
            Family::Md5(_) => &mut self.md5,
            Family::Sha1(_) => &mut self.sha1,
            Family::Sha256(_) => &mut self.sha256,
            Family::Sha512(_) => return Some(state),
        };
        if place.is_some() {
            return Some(state);
        }
        *place = Some(state);
        None
    }

    pub(super) fn members(&mut self) -> impl Iterator<Item = &mut LaneState> {
        let members = [&mut self.md5, &mut self.sha1, &mut self.sha256];
        members
            .into_iter()
            .filter_map(|member| member.as_deref_mut())
    }

    /// The bytes that complete a partial block, the whole blocks, and the rest.
    ///
    /// There are no whole blocks unless MD5 is in the group and all members are equally far from a
    /// block's edge.
    pub(super) fn split<'c>(&self, chunk: &'c [u8]) -> (&'c [u8], &'c [[u8; 64]], &'c [u8]) {
        let missing = |state: &&mut LaneState| state.family.missing_bytes();
        let Some(first) = self.md5.as_ref().map(missing) else {
            return (chunk, &[], &[]);
        };
        let mut others = self.sha1.iter().chain(&self.sha256).map(missing);
        if first > chunk.len() || others.any(|missing| missing != first) {
            return (chunk, &[], &[]);
        }
        let (head, rest) = chunk.split_at(first);
        let (blocks, tail) = rest.as_chunks();
        (head, blocks, tail)
    }

    /// Hands the words of the members to the kernel, and counts the blocks.
    pub(super) fn hash(
        &mut self,
        blocks: &[[u8; 64]],
        kernel: impl FnOnce(&mut [u32; 4], Option<&mut [u32; 5]>, Option<&mut [u32; 8]>),
    ) {
        let bytes = blocks.as_flattened().len();
        let md5 = self
            .md5
            .as_deref_mut()
            .and_then(|state| match &mut state.family {
                Family::Md5(core) => Some(words(core, bytes)),
                _ => None,
            });
        let sha1 = self
            .sha1
            .as_deref_mut()
            .and_then(|state| match &mut state.family {
                Family::Sha1(core) => Some(words(core, bytes)),
                _ => None,
            });
        let sha256 = self
            .sha256
            .as_deref_mut()
            .and_then(|state| match &mut state.family {
                Family::Sha256(core) => Some(words(core, bytes)),
                _ => None,
            });
        if let Some(md5) = md5 {
            kernel(md5, sha1, sha256);
        }
    }
}

fn words<const WORDS: usize>(core: &mut Core<u32, WORDS, 64>, bytes: usize) -> &mut [u32; WORDS] {
    core.count(bytes);
    &mut core.words
}
