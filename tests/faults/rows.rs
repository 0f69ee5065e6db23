//! The table of faults, the tests of each row, and the count of what was tested.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use libtest_mimic::{Arguments, Completion, Trial};

use crate::common::taken_skips;
use crate::stage::enter_own_mounts;
use crate::{
    changing, disks, faulty_fs, kills, limits, manifests, names, output, power, reading, signals,
    sweep, walking,
};

const ROWS: [&str; 32] = [
    "a read fails",
    "a read fails once",
    "interrupted and short reads",
    "a false end of file, a size that is a lie",
    "a file is truncated, grows or is rewritten while it is read",
    "a file vanishes between walk and open",
    "a file is swapped for a link, pipe or device",
    "a directory is swapped for a link or moved out",
    "no permission",
    "a listing breaks off",
    "pipes, sockets and devices in the tree",
    "link loops, dangling links, directories without end",
    "mounts in the tree",
    "paths longer than the system takes",
    "few descriptors, threads, bytes of memory",
    "very many entries",
    "names of every byte",
    "sizes and times beyond measure",
    "outputs and journals that cannot be written",
    "closed standard streams",
    "a reader that goes away",
    "failing sync, close and rename",
    "signals",
    "kills at every system call",
    "power cuts",
    "dead and frozen file systems",
    "native manifests cut or altered",
    "lists without an end mark",
    "lists that prove nothing",
    "hostile entries",
    "outputs in the tree, outputs of others",
    "weak digests",
];

#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    run: fn(),
    rows: &'static [usize],
    ignored: Option<&'static str>,
}

const LONG: Option<&str> = Some("takes minutes");

macro_rules! tests {
    ($($module:ident::$name:ident $rows:expr $(=> $ignored:expr)?;)*) => {
        const TESTS: &[Test] = &[$(Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            run: $module::$name,
            rows: &$rows,
            ignored: tests!(@ $($ignored)?),
        }),*];
    };
    (@) => { None };
    (@ $ignored:expr) => { $ignored };
}

tests! {
    reading::a_read_that_fails_once_is_tried_again_and_noted [2];
    reading::a_read_that_fails_twice_leaves_the_file_unreadable_with_its_offset [1];
    reading::interrupted_and_short_reads_are_invisible [3];
    reading::an_end_of_file_too_early_is_no_end [4];
    reading::what_the_kernel_makes_up_is_read_whatever_its_size [4];
    reading::a_file_that_cannot_be_opened_is_unreadable [1, 6, 9];
    reading::a_file_that_is_truncated_while_it_is_read_is_unstable [5];
    reading::a_file_that_grows_while_it_is_read_is_unstable [5];
    reading::a_file_that_is_rewritten_while_it_is_read_is_unstable [5];
    reading::a_file_that_is_replaced_while_it_is_read_is_unstable [5];
    reading::a_file_that_is_removed_while_it_is_read_is_unstable [5];
    reading::truncation_kills_no_way_of_reading [5];
    reading::verify_says_the_same_of_files_that_fail_or_change [1, 4, 6, 9];
    faulty_fs::a_disk_that_fails_half_way_gives_no_digest_of_the_first_half [1];
    faulty_fs::a_map_of_a_disk_that_fails_kills_nobody [1];
    faulty_fs::a_disk_that_fails_once_is_asked_again [2];
    faulty_fs::a_size_that_is_a_lie_is_unstable [4];
    faulty_fs::a_file_of_no_size_with_bytes_in_it_is_read [4];
    faulty_fs::a_directory_without_end_ends [12];
    faulty_fs::a_listing_that_breaks_off_is_told [10];
    faulty_fs::a_dead_file_system_is_unreadable [26];
    faulty_fs::a_file_that_hangs_can_be_left [23, 26];
    faulty_fs::a_file_that_hangs_is_named [26];
    faulty_fs::a_file_that_hangs_can_be_left_while_it_is_verified [23, 26];
    disks::a_disk_that_ends_too_early_is_unreadable [1];
    disks::rot_that_the_file_system_finds_is_unreadable [1];
    disks::a_frozen_file_system_is_read [26];
    changing::a_file_that_vanishes_is_unreadable_to_hash_and_missing_to_verify [6];
    changing::a_file_swapped_for_a_link_is_not_followed [7];
    changing::a_file_swapped_for_a_pipe_is_not_waited_for [7];
    changing::a_file_swapped_for_a_device_is_not_read [7];
    changing::verify_reads_no_file_that_was_swapped_for_a_pipe [7];
    changing::a_directory_swapped_for_a_link_before_it_is_listed_is_not_followed [8];
    changing::a_directory_swapped_for_a_link_before_its_files_are_opened_is_not_followed [8];
    changing::a_confined_list_is_not_led_out_by_a_directory_that_is_swapped [8, 30];
    changing::a_directory_moved_out_leads_nowhere_else [8];
    walking::a_folder_whose_listing_breaks_off_is_unreadable [10];
    walking::what_may_not_be_read_is_never_missing [9];
    walking::what_may_not_be_read_is_a_gap_in_every_list [9];
    walking::pipes_sockets_and_devices_are_counted_and_not_opened [11];
    walking::a_mount_is_walked_unless_told_otherwise [13];
    walking::a_mount_that_is_to_be_left_alone_is_not_opened [13];
    walking::a_path_longer_than_the_system_takes_is_hashed_or_told [14];
    walking::twenty_thousand_levels_are_hashed_or_told [14];
    walking::a_folder_of_a_hundred_thousand_is_listed_in_order [16];
    walking::a_folder_of_a_million_is_listed_in_order [16] => LONG;
    walking::a_run_over_a_tree_changes_nothing_in_it [11];
    names::every_name_comes_back_through_every_format [17];
    names::another_tool_finds_every_name [17];
    names::no_name_acts_on_a_terminal [17, 30];
    names::names_come_through_a_list_of_paths [17];
    names::a_hostile_tree_ends_with_every_file_accounted_for [9, 11, 12];
    names::a_hostile_tree_ends_also_when_links_are_followed [12];
    limits::few_descriptors_are_enough [15];
    limits::refused_threads_are_no_reason_to_hang [15];
    limits::sixty_four_mebibytes_are_enough [15];
    limits::too_little_address_space_is_told [15];
    limits::sizes_and_times_beyond_measure_give_no_absurd_figures [18];
    limits::a_tebibyte_of_nothing_begins_and_can_be_left [18];
    limits::odd_times_come_back [18];
    output::a_disk_that_takes_no_more_is_one_clear_line [19];
    output::a_list_does_not_depend_on_standard_error [19];
    output::a_file_that_may_not_grow_is_an_error_and_leaves_nothing [19];
    output::a_disk_that_fails_leaves_the_old_list [22];
    output::a_reader_that_goes_away_ends_the_run_quietly [21];
    output::a_named_pipe_is_written_as_it_is [31];
    output::a_folder_that_takes_no_files_is_told_before_anything_is_read [19, 31];
    output::an_update_without_room_leaves_the_old_manifest_whole [19];
    output::a_system_that_takes_no_files_is_told_before_anything_is_read [19];
    output::a_journal_that_cannot_be_written_stops_a_long_run_at_once [19];
    output::a_list_that_could_not_be_synced_is_not_renamed [22];
    output::a_close_that_fails_after_the_sync_has_lost_nothing [22];
    output::a_closed_standard_stream_is_an_error [20];
    output::an_output_in_a_closed_folder_or_held_by_another_run_is_refused_first [31];
    output::a_run_hashes_neither_its_list_nor_an_old_one [31];
    signals::a_run_that_shall_outlive_its_terminal_does [23];
    signals::a_silent_pipe_as_input_is_left_at_the_first_signal [23];
    signals::a_silent_pipe_as_manifest_is_left_at_the_first_signal [23];
    signals::a_silent_pipe_as_list_or_output_is_left_at_the_first_signal [23];
    signals::each_signal_has_its_code_and_spares_the_old_list [23];
    signals::what_was_verified_is_kept_however_long_that_takes [23];
    signals::a_journal_is_ended_however_long_that_takes [23];
    signals::a_bag_is_made_to_its_end [23];
    signals::a_generation_is_written_to_its_end [23];
    signals::a_standard_error_that_nobody_reads_holds_up_no_end [23];
    kills::at_every_call_that_writes_in_hash [24];
    kills::at_every_call_that_writes_in_update [24];
    kills::at_every_call_that_writes_in_merge [24];
    kills::at_some_of_the_other_calls [24];
    kills::at_every_other_call [24] => LONG;
    power::cuts_during_hash_on_ext4 [25];
    power::cuts_during_hash_on_xfs [25];
    power::cuts_during_update_on_ext4 [25];
    power::cuts_during_update_on_xfs [25];
    power::little_work_is_lost_on_ext4 [25];
    power::little_work_is_lost_on_xfs [25];
    power::twenty_cuts_each [25] => LONG;
    manifests::a_native_manifest_cut_at_any_byte_is_refused [27];
    manifests::a_native_manifest_with_a_bit_flipped_in_any_byte_is_refused [27];
    manifests::a_native_manifest_with_any_bit_flipped_is_refused [27] => LONG;
    manifests::any_bad_line_fails_a_list_without_an_end [28];
    manifests::a_list_that_proves_nothing_is_no_success [29];
    manifests::weak_digests_are_compared_and_named [32];
    manifests::entries_that_lead_outside_are_refused_when_confined [30];
    manifests::a_list_does_not_lift_the_confinement_that_was_asked_for [30];
    manifests::devices_and_pipes_in_a_list_are_not_opened [30];
    manifests::no_name_in_a_list_acts_on_a_terminal [30];
    manifests::names_that_cannot_be_and_entries_that_contradict_are_unverified [30];
    manifests::a_line_of_a_hundred_megabytes_is_refused_in_bounded_memory [30];
    manifests::a_million_identical_lines_end_in_seconds_and_bounded_memory [30];
    manifests::ten_million_identical_lines_end_in_seconds_and_bounded_memory [30] => LONG;
    manifests::a_native_manifest_never_leads_outside [30];
    sweep::sampled_hash [];
    sweep::sampled_verify [];
    sweep::sampled_update [];
    sweep::sampled_merge [];
    sweep::whole_hash [] => LONG;
    sweep::whole_verify [] => LONG;
    sweep::whole_update [] => LONG;
    sweep::whole_merge [] => LONG;
}

/// What stands among the tests of the command line, because its means are theirs.
const ELSEWHERE: &[(&str, &str, usize)] = &[
    ("promises.rs", "no_false_good", 1),
    (
        "selection.rs",
        "links_are_followed_when_asked_and_loops_are_named",
        12,
    ),
    (
        "selection.rs",
        "other_file_systems_are_left_out_when_asked",
        13,
    ),
    (
        "resume.rs",
        "a_disk_that_takes_no_more_stops_the_run_and_spares_the_old_list",
        19,
    ),
    (
        "resume.rs",
        "a_signal_leaves_the_journal_and_says_how_to_go_on",
        23,
    ),
    (
        "terminal.rs",
        "a_second_signal_ends_a_run_that_cannot_stop",
        23,
    ),
    (
        "outputs.rs",
        "a_stopped_run_leaves_the_old_list_and_nothing_else",
        23,
    ),
    (
        "resume.rs",
        "kills_at_random_moments_change_nothing_in_the_end",
        24,
    ),
    ("promises.rs", "no_false_good_from_a_list_that_was_cut", 27),
    ("reading.rs", "lists_that_verify_nothing_are_no_success", 29),
    ("reading.rs", "special_files_in_a_list_are_never_opened", 30),
    (
        "reading.rs",
        "lines_that_contradict_each_other_verify_nothing",
        30,
    ),
    (
        "reading.rs",
        "no_link_leads_out_of_a_manifest_that_describes_its_folder",
        30,
    ),
    ("outputs.rs", "a_run_never_hashes_what_it_writes", 31),
    (
        "outputs.rs",
        "a_list_that_appears_during_the_run_is_not_replaced_unasked",
        31,
    ),
    ("resume.rs", "two_runs_do_not_write_one_list", 31),
];

fn every_row_has_a_test() {
    let rows: BTreeSet<usize> = TESTS.iter().flat_map(|test| test.rows).copied().collect();
    assert!(rows.iter().copied().eq(1..=ROWS.len()), "{rows:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (file, name, _) in ELSEWHERE {
        let text = fs::read_to_string(folder.join("cli").join(file)).unwrap();
        assert!(text.contains(&format!("fn {name}()")), "{file}: no {name}");
    }
    for entry in fs::read_dir(folder.join("faults")).unwrap() {
        let file = entry.unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let module = file.file_name().into_string().unwrap().replace(".rs", "::");
        for line in text.lines() {
            let name = line.strip_prefix("pub(crate) fn ");
            let Some(name) = name.and_then(|rest| rest.strip_suffix("() {")) else {
                continue;
            };
            let is_test = TESTS
                .iter()
                .any(|test| test.name == format!("{module}{name}"));
            let is_tool = ["stage::", "rows::"].contains(&&*module);
            assert!(is_test || is_tool, "{module}{name} is in no row");
        }
    }
}

/// What came of the tests of a row.
#[derive(Debug, Default)]
struct Result {
    tested: usize,
    failed: Vec<&'static str>,
    skipped: BTreeSet<String>,
}

static RESULTS: Mutex<BTreeMap<usize, Result>> = Mutex::new(BTreeMap::new());

fn note(test: &Test, came: impl Fn(&mut Result)) {
    let mut results = RESULTS.lock().unwrap();
    for row in test.rows {
        came(results.entry(*row).or_default());
    }
}

fn tried(test: &Test) -> Completion {
    let ended = catch_unwind(AssertUnwindSafe(test.run));
    let skips = taken_skips();
    if let Err(failure) = ended {
        note(test, |row| row.failed.push(test.name));
        resume_unwind(failure);
    }
    if skips.is_empty() {
        note(test, |row| row.tested += 1);
        return Completion::Completed;
    }
    note(test, |row| row.skipped.extend(skips.iter().cloned()));
    Completion::ignored_with(skips.join("; "))
}

fn summary() -> String {
    let results = RESULTS.lock().unwrap();
    let (mut tested, mut skipped, mut failing) = (0, 0, 0);
    let mut text = String::new();
    for (index, fault) in ROWS.iter().enumerate() {
        let Some(row) = results.get(&(index + 1)) else {
            continue;
        };
        if !row.failed.is_empty() {
            failing += 1;
            text += &format!("row {}, {fault}: failing: {:?}\n", index + 1, row.failed);
        } else if row.tested > 0 {
            tested += 1;
        } else {
            skipped += 1;
        }
        for reason in &row.skipped {
            text += &format!("row {}, {fault}: skipped: {reason}\n", index + 1);
        }
    }
    text + &format!(
        "{} rows: {tested} tested, {skipped} skipped, {failing} failing",
        ROWS.len()
    )
}

pub(crate) fn run() -> ExitCode {
    enter_own_mounts();
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = TESTS
        .iter()
        .map(|test| {
            let trial = Trial::ignorable_test(test.name, || Ok(tried(test)));
            trial.with_ignored_flag(test.ignored.is_some())
        })
        .collect();
    trials.push(Trial::test("rows::every_row_has_a_test", || {
        every_row_has_a_test();
        Ok(())
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        eprintln!("{}", summary());
    }
    conclusion.exit_code()
}
