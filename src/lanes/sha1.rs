//! SHA-1: constants, and its rounds over any vector. Source: FIPS 180-4, 4.1.1, 4.2.1 and 6.1.2.

/// FIPS 180-4, 5.3.1.
#[rustfmt::skip]
pub(super) static INITIAL: [u32; 5] = [
    0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476,
    0xc3d2_e1f0,
];

/// Steps that share a function and a constant. The state is not moved; the roles of its words are.
macro_rules! sha1_steps {
    ($v:ident, $state:ident, $words:ident, $mix:ident, $constant:literal, [$($step:literal)*]) => {
        let constant = $v::splat($constant);
        $(
            let (a, b, c, d, e) = (
                (80 - $step) % 5,
                (81 - $step) % 5,
                (82 - $step) % 5,
                (83 - $step) % 5,
                (84 - $step) % 5,
            );
            let at = $step % 16;
            if $step >= 16 {
                let mixed = $v::xor3($words[(at + 13) % 16], $words[(at + 8) % 16], $words[(at + 2) % 16]);
                $words[at] = $v::rotl::<1, 31>($v::xor(mixed, $words[at]));
            }
            let sum = $v::add($v::add($state[e], constant), $words[at]);
            let sum = $v::add($v::barrier(sum), $v::$mix($state[b], $state[c], $state[d]));
            $state[e] = $v::add(sum, $v::rotl::<5, 27>($state[a]));
            $state[b] = $v::rotl::<30, 2>($state[b]);
        )*
    };
}

/// The 80 steps over `$state[word]`, with the block in `$words[word]`, which is used up.
macro_rules! sha1_rounds {
    ($v:ident, $state:ident, $words:ident) => {
        $crate::lanes::sha1::sha1_steps!($v, $state, $words, choose, 0x5a82_7999,
            [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]);
        $crate::lanes::sha1::sha1_steps!($v, $state, $words, xor3, 0x6ed9_eba1,
            [20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]);
        $crate::lanes::sha1::sha1_steps!($v, $state, $words, majority, 0x8f1b_bcdc,
            [40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59]);
        $crate::lanes::sha1::sha1_steps!($v, $state, $words, xor3, 0xca62_c1d6,
            [60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79]);
    };
}

/// Defines a kernel of `$v::LANES` lanes from the operations of the module `$v`.
macro_rules! sha1_kernel {
    ($(#[$attribute:meta])* $name:ident, $v:ident) => {
        $(#[$attribute])*
        pub(in crate::lanes) fn $name(
            bank: &mut $crate::lanes::kernel::Bank<u32, 5, { $crate::lanes::kernel::SHA1_LANES }>,
            inputs: &$crate::lanes::kernel::Inputs<'_, 64, { $crate::lanes::kernel::SHA1_LANES }>,
            blocks: usize,
        ) {
            let mut state = [$v::splat(0); 5];
            for word in 0..5 {
                state[word] = $v::load_row(&bank[word], 0);
            }
            for block in 0..blocks {
                let mut words = $v::load_be(inputs, 0, block);
                let before = state;
                $crate::lanes::sha1::sha1_rounds!($v, state, words);
                for word in 0..5 {
                    state[word] = $v::add(state[word], before[word]);
                }
            }
            for word in 0..5 {
                $v::store_row(&mut bank[word], 0, state[word]);
            }
        }
    };
}

pub(super) use {sha1_kernel, sha1_rounds, sha1_steps};
