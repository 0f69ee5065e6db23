//! Which kernels this CPU can run, and the one place where they are called.

#![expect(
    unsafe_code,
    reason = "the call of a kernel whose instructions were looked for first"
)]

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;

use crate::algorithm::Algorithm;

use super::kernel::{
    Bank, Inputs, Kernel, MD5_LANES, SHA1_LANES, SHA256_LANES, SHA512_LANES, Stitched,
};
use super::known_answers;
use super::schedule;
use super::state::{Family, LaneState, Stream};
use super::table::{self, BACKENDS, Backend};
use super::together::Group;

/// The kernels of one family that the CPU is known to run, widest first.
pub(super) struct Plan<T: 'static, const WORDS: usize, const BLOCK: usize, const LANES: usize>(
    &'static [Kernel<T, WORDS, BLOCK, LANES>],
);

impl<T, const WORDS: usize, const BLOCK: usize, const LANES: usize> Clone
    for Plan<T, WORDS, BLOCK, LANES>
{
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const WORDS: usize, const BLOCK: usize, const LANES: usize> Copy
    for Plan<T, WORDS, BLOCK, LANES>
{
}

impl<T, const WORDS: usize, const BLOCK: usize, const LANES: usize> Plan<T, WORDS, BLOCK, LANES> {
    /// The best kernel for so many messages.
    pub(super) fn choose(&self, messages: usize) -> &'static Kernel<T, WORDS, BLOCK, LANES> {
        let fitting = self.0.iter().find(|kernel| kernel.from <= messages);
        // Every table ends with a kernel for one message, so there always is one.
        fitting.unwrap_or(&self.0[self.0.len() - 1])
    }

    /// The most messages that are worth having at once.
    pub(super) fn widest(&self) -> usize {
        self.0[0].lanes
    }

    /// Advances the first `kernel.lanes` lanes by so many blocks.
    pub(super) fn run(
        &self,
        kernel: &Kernel<T, WORDS, BLOCK, LANES>,
        bank: &mut Bank<T, WORDS, LANES>,
        inputs: &Inputs<'_, BLOCK, LANES>,
        blocks: usize,
    ) {
        // SAFETY: plans are made in this file alone, of tables whose backend's features were detected,
        // and a kernel needs nothing but those.
        unsafe { (kernel.run)(bank, inputs, blocks) }
    }
}

/// Kernels that this CPU can run, for every family.
///
/// Holding one is the proof that the CPU has the instructions. A value is a few words: copy it freely.
///
/// # Examples
///
/// ```
/// use multisum::lanes::{LaneState, Lanes, Stream};
/// use multisum::Algorithm;
/// let lanes = Lanes::detect();
/// let mut states = [(); 3].map(|()| LaneState::new(Algorithm::Sha1).expect("has lanes"));
/// let [a, b, c] = &mut states;
/// lanes.advance(&mut [
///     Stream { state: a, chunk: b"abc", last: true },
///     Stream { state: b, chunk: b"", last: true },
///     Stream { state: c, chunk: b"ab", last: false },
/// ]);
/// lanes.advance(&mut [Stream { state: &mut states[2], chunk: b"c", last: true }]);
/// let digests = states.map(|mut state| state.finish().to_string());
/// assert_eq!(digests[0], "a9993e364706816aba3e25717850c26c9cd0d89d");
/// assert_eq!(digests[1], "da39a3ee5e6b4b0d3255bfef95601890afd80709");
/// assert_eq!(digests[2], digests[0]);
/// ```
#[derive(Clone, Copy)]
pub struct Lanes {
    name: &'static str,
    md5: Plan<u32, 4, 64, MD5_LANES>,
    sha1: Plan<u32, 5, 64, SHA1_LANES>,
    sha256: Plan<u32, 8, 64, SHA256_LANES>,
    sha512: Plan<u64, 8, 128, SHA512_LANES>,
    stitched: Option<Stitched>,
}

/// Why a backend cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no backend of that name in this build.
    #[error("unknown kernels {}; this build has {}", crate::quote::Quoted::new(.0), names())]
    Unknown(String),
    /// The CPU lacks instructions.
    #[error("this CPU lacks {missing}, which the {backend} kernels need")]
    Missing {
        /// The backend.
        backend: &'static str,
        /// The first feature that is missing.
        missing: &'static str,
    },
    /// The CPU claims to have the instructions, but a known answer came out wrong.
    #[error("the {0} kernels give wrong digests on this CPU")]
    Wrong(&'static str),
}

fn names() -> String {
    let names: Vec<_> = BACKENDS.iter().map(|backend| backend.name).collect();
    names.join(", ")
}

impl Lanes {
    /// The best that this CPU has, family by family; found once and then remembered.
    ///
    /// Each backend hashes known messages first, and is left out if a digest is wrong.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Lanes> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let mut best = Self::portable();
            best.name = "detected";
            // The table lists the best first; the last one taken for a family wins.
            for backend in BACKENDS.iter().rev() {
                if Self::supported(backend).is_ok() {
                    best.take_over(backend);
                }
            }
            best
        })
    }

    /// The kernels of one backend, for tests and comparisons; families that it does not have are portable.
    ///
    /// # Errors
    ///
    /// Says what the CPU lacks, or that no backend has the name.
    pub fn forced(name: &str) -> Result<Self, BackendError> {
        let backend = BACKENDS
            .iter()
            .find(|backend| backend.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| BackendError::Unknown(name.to_owned()))?;
        Self::supported(backend)
    }

    /// The kernels that every CPU can run.
    pub fn portable() -> Self {
        Self {
            name: table::PORTABLE.name,
            md5: Plan(table::MD5_PORTABLE),
            sha1: Plan(table::SHA1_PORTABLE),
            sha256: Plan(table::SHA256_PORTABLE),
            sha512: Plan(table::SHA512_PORTABLE),
            stitched: None,
        }
    }

    /// Every backend of this build, and what keeps this CPU from using it.
    pub fn backends() -> impl Iterator<Item = (&'static str, Result<Self, BackendError>)> {
        BACKENDS
            .iter()
            .map(|backend| (backend.name, Self::supported(backend)))
    }

    fn supported(backend: &'static Backend) -> Result<Self, BackendError> {
        if let Some(missing) = (backend.missing)() {
            return Err(BackendError::Missing {
                backend: backend.name,
                missing,
            });
        }
        let mut lanes = Self::portable();
        lanes.name = backend.name;
        lanes.take_over(backend);
        if known_answers::passes(&lanes) {
            Ok(lanes)
        } else {
            Err(BackendError::Wrong(backend.name))
        }
    }

    /// Only for a backend whose features were detected.
    fn take_over(&mut self, backend: &Backend) {
        if let Some(kernels) = backend.md5 {
            self.md5 = Plan(kernels);
        }
        if let Some(kernels) = backend.sha1 {
            self.sha1 = Plan(kernels);
        }
        if let Some(kernels) = backend.sha256 {
            self.sha256 = Plan(kernels);
        }
        if let Some(kernels) = backend.sha512 {
            self.sha512 = Plan(kernels);
        }
        if backend.stitched.is_some() {
            self.stitched = backend.stitched;
        }
    }

    /// The backend's name, or `detected`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether [`Lanes::advance_together`] has a kernel that makes it faster than one after another.
    pub fn stitches(&self) -> bool {
        self.stitched.is_some()
    }

    /// The name of the kernel that so many messages of an algorithm get; `None` if it has no lanes.
    pub fn kernel_name(&self, algorithm: Algorithm, open: usize) -> Option<&'static str> {
        self.choice(algorithm, open).map(|(name, _)| name)
    }

    /// How many of `open` messages are best advanced in one call: at most `open`, at least 1.
    ///
    /// With `usize::MAX` it is the number of files worth having open at once.
    pub fn width(&self, algorithm: Algorithm, open: usize) -> usize {
        let lanes = self.choice(algorithm, open).map_or(1, |(_, lanes)| lanes);
        lanes.min(open).max(1)
    }

    /// The kernel for so many messages: its name and its lanes.
    pub(super) fn choice(
        &self,
        algorithm: Algorithm,
        open: usize,
    ) -> Option<(&'static str, usize)> {
        macro_rules! of {
            ($plan:expr) => {{
                let kernel = $plan.choose(open);
                Some((kernel.name, kernel.lanes))
            }};
        }
        // Asked for every file that is picked up, so no state is made to look at its family.
        match algorithm {
            Algorithm::Md5 => of!(self.md5),
            Algorithm::Sha1 => of!(self.sha1),
            Algorithm::Sha224 | Algorithm::Sha256 => of!(self.sha256),
            Algorithm::Sha384
            | Algorithm::Sha512
            | Algorithm::C4
            | Algorithm::Sha512_224
            | Algorithm::Sha512_256 => of!(self.sha512),
            _ => None,
        }
    }

    /// Hashes the chunk of every stream, side by side where algorithms are of one family.
    ///
    /// Any number of streams, chunks of any lengths. Streams are taken into the lanes in their order, and a
    /// lane whose chunk is done takes the next. So for chunks of unequal lengths, several times
    /// [`Lanes::width`] of them are faster than just so many, and the longest should come first. Chunks
    /// whose addresses are equal modulo 4096 share a set of the first cache: lay buffers 64 bytes further
    /// apart. No memory is allocated.
    pub fn advance(&self, streams: &mut [Stream<'_>]) {
        macro_rules! family {
            ($plan:ident, $family:ident) => {
                schedule::advance(
                    self.$plan,
                    streams
                        .iter_mut()
                        .filter_map(|stream| match &mut stream.state.family {
                            Family::$family(core) => Some((core, stream.chunk, stream.last)),
                            _ => None,
                        }),
                );
            };
        }
        family!(md5, Md5);
        family!(sha1, Sha1);
        family!(sha256, Sha256);
        family!(sha512, Sha512);
    }

    /// Hashes one chunk of one message under several algorithms, one state each.
    ///
    /// MD5 with SHA-1 and SHA-256, or either of them, goes through one kernel if the CPU has the SHA
    /// instructions; everything else is done in turn. The states need not have seen the same bytes
    /// before.
    pub fn advance_together(&self, states: &mut [LaneState], chunk: &[u8], last: bool) {
        let mut group = Group::default();
        for state in states {
            if let Some(state) = group.take(state) {
                self.advance_one(state, chunk, last);
            }
        }
        let (head, blocks, tail) = group.split(chunk);
        if let Some(run) = self.stitched
            && group.members().count() > 1
            && !blocks.is_empty()
        {
            group
                .members()
                .for_each(|state| self.advance_one(state, head, false));
            // SAFETY: as with plans, the features that the kernel needs were detected.
            group.hash(blocks, |md5, sha1, sha256| unsafe {
                run(md5, sha1, sha256, blocks);
            });
            group
                .members()
                .for_each(|state| self.advance_one(state, tail, last));
        } else {
            group
                .members()
                .for_each(|state| self.advance_one(state, chunk, last));
        }
    }

    fn advance_one(&self, state: &mut LaneState, chunk: &[u8], last: bool) {
        self.advance(&mut [Stream { state, chunk, last }]);
    }
}

impl Debug for Lanes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lanes").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::kernel::Md5Kernel;

    fn idle(_: &mut Bank<u32, 4, MD5_LANES>, _: &Inputs<'_, 64, MD5_LANES>, _: usize) {}

    static IDLE: &[Md5Kernel] = &[Kernel {
        name: "idle",
        from: 1,
        lanes: 8,
        run: idle,
    }];

    static BROKEN: Backend = Backend {
        name: "broken",
        missing: || None,
        md5: Some(IDLE),
        sha1: None,
        sha256: None,
        sha512: None,
        stitched: None,
    };

    #[test]
    fn every_algorithm_with_a_state_has_a_kernel_and_no_other() {
        for algorithm in Algorithm::all() {
            let kernel = Lanes::portable().kernel_name(algorithm, 1);
            assert_eq!(
                kernel.is_some(),
                LaneState::new(algorithm).is_some(),
                "{algorithm}"
            );
        }
    }

    #[test]
    fn a_kernel_that_gives_a_wrong_digest_is_not_used() {
        let error = Lanes::supported(&BROKEN).unwrap_err();
        assert_eq!(error, BackendError::Wrong("broken"));
    }

    #[test]
    fn the_table_has_the_widest_first_and_one_for_a_single_message_last() {
        fn check<T, const W: usize, const B: usize, const L: usize>(
            kernels: Option<&'static [Kernel<T, W, B, L>]>,
        ) {
            let Some(kernels) = kernels else { return };
            assert_eq!(
                kernels.last().map(|kernel| (kernel.from, kernel.lanes)),
                Some((1, 1))
            );
            for pair in kernels.windows(2) {
                assert!(pair[0].from > pair[1].from && pair[0].lanes > pair[1].lanes);
                // A kernel is chosen where it is full, so that the known answers reach it.
                assert!(pair[0].from <= pair[0].lanes && pair[1].lanes < pair[0].from);
            }
            assert!(kernels[0].lanes <= L);
        }
        for backend in BACKENDS {
            check(backend.md5);
            check(backend.sha1);
            check(backend.sha256);
            check(backend.sha512);
        }
    }
}
