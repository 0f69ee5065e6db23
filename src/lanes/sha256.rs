//! SHA-224 and SHA-256: constants, and the rounds over any vector. Source: FIPS 180-4, 4.1.2, 4.2.2 and 6.2.2.

/// FIPS 180-4, 5.3.2.
#[rustfmt::skip]
pub(super) static INITIAL_224: [u32; 8] = [
    0xc105_9ed8, 0x367c_d507, 0x3070_dd17, 0xf70e_5939,
    0xffc0_0b31, 0x6858_1511, 0x64f9_8fa7, 0xbefa_4fa4,
];

/// FIPS 180-4, 5.3.3.
#[rustfmt::skip]
pub(super) static INITIAL_256: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];

/// FIPS 180-4, 4.2.2: the first 32 bits of the fractions of the cube roots of the first 64 primes.
#[rustfmt::skip]
pub(super) static CUBE_ROOTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
    0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
    0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
    0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
    0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// One step from `$input`, the sum of a word and its constant. The state is not moved; the roles of its
/// words are, by one a step.
macro_rules! sha256_step {
    ($v:ident, $state:ident, $step:expr, $input:expr) => {
        let (a, b, c, d, e, f, g, h) = (
            (16 - $step) % 8,
            (17 - $step) % 8,
            (18 - $step) % 8,
            (19 - $step) % 8,
            (20 - $step) % 8,
            (21 - $step) % 8,
            (22 - $step) % 8,
            (23 - $step) % 8,
        );
        let sum = $v::barrier($v::add($state[h], $input));
        let (e_, a_) = ($state[e], $state[a]);
        let sum = $v::add(sum, $v::choose(e_, $state[f], $state[g]));
        let sum = $v::add(
            sum,
            $v::xor3(
                $v::rotl::<26, 6>(e_),
                $v::rotl::<21, 11>(e_),
                $v::rotl::<7, 25>(e_),
            ),
        );
        $state[d] = $v::add($state[d], sum);
        let sum = $v::add(sum, $v::majority(a_, $state[b], $state[c]));
        $state[h] = $v::add(
            sum,
            $v::xor3(
                $v::rotl::<30, 2>(a_),
                $v::rotl::<19, 13>(a_),
                $v::rotl::<10, 22>(a_),
            ),
        );
    };
}

/// Sixteen steps, after which every word of the state has its role back.
macro_rules! sha256_sixteen {
    ($v:ident, $state:ident, $words:ident, $first:expr, $expand:literal, [$($step:literal)*]) => {
        $(
            if $expand {
                let (old, late) = ($words[($step + 1) % 16], $words[($step + 14) % 16]);
                let sum = $v::add($words[$step], $words[($step + 9) % 16]);
                let sum = $v::add(sum, $v::xor3($v::rotl::<25, 7>(old), $v::rotl::<14, 18>(old), $v::shr::<3>(old)));
                $words[$step] = $v::add(
                    sum,
                    $v::xor3($v::rotl::<15, 17>(late), $v::rotl::<13, 19>(late), $v::shr::<10>(late)),
                );
            }
            let constant = $v::splat($crate::lanes::sha256::CUBE_ROOTS[$first + $step]);
            $crate::lanes::sha256::sha256_step!($v, $state, $step, $v::add($words[$step], constant));
        )*
    };
}

/// The 64 steps over `$state[word]`, with the block in `$words[word]`, which is used up.
///
/// A loop over sixteen steps: unrolled further, the code would no longer fit the caches of decoded
/// instructions.
macro_rules! sha256_rounds {
    ($v:ident, $state:ident, $words:ident) => {
        $crate::lanes::sha256::sha256_sixteen!($v, $state, $words, 0, false,
            [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]);
        for sixteen in 1..4 {
            $crate::lanes::sha256::sha256_sixteen!($v, $state, $words, 16 * sixteen, true,
                [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]);
        }
    };
}

/// Defines a kernel of `$v::LANES` lanes from the operations of the module `$v`.
macro_rules! sha256_kernel {
    ($(#[$attribute:meta])* $name:ident, $v:ident) => {
        $(#[$attribute])*
        pub(in crate::lanes) fn $name(
            bank: &mut $crate::lanes::kernel::Bank<u32, 8, { $crate::lanes::kernel::SHA256_LANES }>,
            inputs: &$crate::lanes::kernel::Inputs<'_, 64, { $crate::lanes::kernel::SHA256_LANES }>,
            blocks: usize,
        ) {
            let mut state = [$v::splat(0); 8];
            for word in 0..8 {
                state[word] = $v::load_row(&bank[word], 0);
            }
            for block in 0..blocks {
                let mut words = $v::load_be(inputs, 0, block);
                let before = state;
                $crate::lanes::sha256::sha256_rounds!($v, state, words);
                for word in 0..8 {
                    state[word] = $v::add(state[word], before[word]);
                }
            }
            for word in 0..8 {
                $v::store_row(&mut bank[word], 0, state[word]);
            }
        }
    };
}

pub(super) use {sha256_kernel, sha256_rounds, sha256_sixteen, sha256_step};
