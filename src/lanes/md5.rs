//! MD5: constants, and its rounds over any vector. Source: RFC 1321, 3.3 and 3.4.

/// RFC 1321, 3.3.
#[rustfmt::skip]
pub(super) static INITIAL: [u32; 4] = [
    0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476,
];

/// RFC 1321, 3.4: the integer part of 2^32 · |sin(i + 1)|.
#[rustfmt::skip]
pub(super) static SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee,
    0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be,
    0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa,
    0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed,
    0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c,
    0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05,
    0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039,
    0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1,
    0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// One step for every group of lanes: `a = b + ((a + mix(b, c, d) + word + sine) <<< shift)`.
///
/// The state is not moved; the roles of its words are, by one a step. The barrier keeps LLVM from
/// re-associating the sum so that word and sine land on the chain of dependent operations, which costs
/// 15 %.
macro_rules! md5_step {
    ($v:ident, $state:ident, $words:ident, [$($group:literal)*], $mix:ident,
     $step:expr, $word:expr, $left:literal, $right:literal) => {
        let (a, b, c, d) = (
            (64 - $step) % 4,
            (65 - $step) % 4,
            (66 - $step) % 4,
            (67 - $step) % 4,
        );
        let sine = $v::splat($crate::lanes::md5::SINES[$step]);
        $(
            let state = &mut $state[$group];
            let sum = $v::add($v::add(state[a], sine), $words[$group][$word % 16]);
            let sum = $crate::lanes::md5::md5_step!(@ $mix, $v, $v::barrier(sum), state[b], state[c], state[d]);
            state[a] = $v::add($v::rotl::<$left, $right>(sum), state[b]);
        )*
    };
    (@ f, $v:ident, $sum:expr, $b:expr, $c:expr, $d:expr) => {
        $v::add($sum, $v::choose($b, $c, $d))
    };
    (@ g, $v:ident, $sum:expr, $b:expr, $c:expr, $d:expr) => {
        $v::add_choice($sum, $d, $b, $c)
    };
    (@ h, $v:ident, $sum:expr, $b:expr, $c:expr, $d:expr) => {
        $v::add($sum, $v::xor3($b, $c, $d))
    };
    (@ i, $v:ident, $sum:expr, $b:expr, $c:expr, $d:expr) => {
        $v::add($sum, $v::xor_or_not($c, $b, $d))
    };
}

/// Four steps, after which every word of the state has its role back; then `$after`, which may use the
/// row's number, from 0 to 15, as the constant `$row`.
macro_rules! md5_row {
    ($v:ident, $state:ident, $words:ident, $groups:tt, $row:ident => $after:block, $number:expr,
     $mix:ident, [$(($index:literal, $left:literal, $right:literal))*], $step:ident => $word:expr) => {
        $(
            let $step: usize = 4 * $number + $index;
            $crate::lanes::md5::md5_step!(
                $v, $state, $words, $groups, $mix, $step, $word, $left, $right
            );
        )*
        {
            #[allow(dead_code, reason = "not everybody has something to do between rows")]
            const $row: usize = $number;
            $after
        }
    };
}

/// The 64 steps over `$state[group][word]`, with the block in `$words[group][word]`.
///
/// `ROW => { … }` is done after every fourth step.
macro_rules! md5_rounds {
    ($v:ident, $state:ident, $words:ident, $groups:tt, $row:ident => $after:block) => {
        $crate::lanes::md5::md5_rounds!(@ $v, $state, $words, $groups, $row => $after, [0 1 2 3], f,
            [(0, 7, 25) (1, 12, 20) (2, 17, 15) (3, 22, 10)], step => step);
        $crate::lanes::md5::md5_rounds!(@ $v, $state, $words, $groups, $row => $after, [4 5 6 7], g,
            [(0, 5, 27) (1, 9, 23) (2, 14, 18) (3, 20, 12)], step => 5 * step + 1);
        $crate::lanes::md5::md5_rounds!(@ $v, $state, $words, $groups, $row => $after, [8 9 10 11], h,
            [(0, 4, 28) (1, 11, 21) (2, 16, 16) (3, 23, 9)], step => 3 * step + 5);
        $crate::lanes::md5::md5_rounds!(@ $v, $state, $words, $groups, $row => $after, [12 13 14 15], i,
            [(0, 6, 26) (1, 10, 22) (2, 15, 17) (3, 21, 11)], step => 7 * step);
    };
    (@ $v:ident, $state:ident, $words:ident, $groups:tt, $row:ident => $after:block,
     [$($number:literal)*], $mix:ident, $shifts:tt, $step:ident => $word:expr) => {
        $(
            $crate::lanes::md5::md5_row!($v, $state, $words, $groups, $row => $after, $number,
                $mix, $shifts, $step => $word);
        )*
    };
}

/// Defines a kernel of `groups × $v::LANES` lanes from the operations of the module `$v`.
macro_rules! md5_kernel {
    ($(#[$attribute:meta])* $name:ident, $v:ident, [$($group:literal)*]) => {
        $(#[$attribute])*
        pub(in crate::lanes) fn $name(
            bank: &mut $crate::lanes::kernel::Bank<u32, 4, { $crate::lanes::kernel::MD5_LANES }>,
            inputs: &$crate::lanes::kernel::Inputs<'_, 64, { $crate::lanes::kernel::MD5_LANES }>,
            blocks: usize,
        ) {
            const GROUPS: usize = [$($group),*].len();
            let mut state = [[$v::splat(0); 4]; GROUPS];
            $(for word in 0..4 {
                state[$group][word] = $v::load_row(&bank[word], $group * $v::LANES);
            })*
            for block in 0..blocks {
                let words = [$($v::load_le(inputs, $group * $v::LANES, block)),*];
                let before = state;
                $crate::lanes::md5::md5_rounds!($v, state, words, [$($group)*], ROW => {});
                $(for word in 0..4 {
                    state[$group][word] = $v::add(state[$group][word], before[$group][word]);
                })*
            }
            $(for word in 0..4 {
                $v::store_row(&mut bank[word], $group * $v::LANES, state[$group][word]);
            })*
        }
    };
}

pub(super) use {md5_kernel, md5_rounds, md5_row, md5_step};
