//! What a kernel is: code that advances the first so many lanes of a bank by whole blocks.

/// The states of up to `LANES` messages, transposed: `bank[word][lane]`.
pub(super) type Bank<T, const WORDS: usize, const LANES: usize> = [[T; LANES]; WORDS];

/// For every lane, the blocks that it is to take. Lanes beyond those that the kernel has are ignored.
pub(super) type Inputs<'a, const BLOCK: usize, const LANES: usize> = [&'a [[u8; BLOCK]]; LANES];

/// Takes the bank, the inputs, and the number of blocks that each lane advances by. Every input has
/// at least so many blocks (less is a panic, not undefined behaviour).
///
/// The type says `unsafe` because the function may need instructions that the CPU lacks.
pub(super) type Run<T, const WORDS: usize, const BLOCK: usize, const LANES: usize> =
    unsafe fn(&mut Bank<T, WORDS, LANES>, &Inputs<'_, BLOCK, LANES>, usize);

/// One line of the table of choice.
#[derive(Debug)]
pub(super) struct Kernel<T, const WORDS: usize, const BLOCK: usize, const LANES: usize> {
    pub(super) name: &'static str,
    /// The smallest number of messages for which this kernel is the best of its table.
    pub(super) from: usize,
    /// How many lanes it has; those without a message repeat another's work for nothing.
    pub(super) lanes: usize,
    pub(super) run: Run<T, WORDS, BLOCK, LANES>,
}

/// Most lanes that any kernel of the family has, and so the width of its bank.
pub(super) const MD5_LANES: usize = 48;
pub(super) const SHA1_LANES: usize = 16;
pub(super) const SHA256_LANES: usize = 16;
pub(super) const SHA512_LANES: usize = 8;

pub(super) type Md5Kernel = Kernel<u32, 4, 64, MD5_LANES>;
pub(super) type Sha1Kernel = Kernel<u32, 5, 64, SHA1_LANES>;
pub(super) type Sha256Kernel = Kernel<u32, 8, 64, SHA256_LANES>;
pub(super) type Sha512Kernel = Kernel<u64, 8, 128, SHA512_LANES>;

/// Advances MD5 and, where they are given, SHA-1 and SHA-256 over the same blocks.
pub(super) type Stitched =
    unsafe fn(&mut [u32; 4], Option<&mut [u32; 5]>, Option<&mut [u32; 8]>, &[[u8; 64]]);
