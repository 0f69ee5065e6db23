# Every recipe is one or two plain commands, so that they can be typed without `just`.

# Format and lints.
check:
    cargo fmt --all --check
    cargo clippy --all-targets -- -D warnings

fmt:
    cargo fmt --all

test:
    cargo test

# Finds what waits for a second thread that is not there.
test-one-thread:
    RAYON_NUM_THREADS=1 cargo test -- --test-threads=1

# A tool that is not installed is a failure, not a skip.
test-all-tools:
    MULTISUM_REQUIRE_TOOLS=1 cargo test

# Every fault of the table, a sample of the long ones; best as root, with strace and the tools of
# ext4, xfs and btrfs. The last line counts rows.
test-faults *ARGS:
    cargo test --test faults -- {{ARGS}}

# The long ones: every system call failed with every error, killed at each, twenty power cuts for each
# file system and command, a million files. Half an hour.
test-faults-long:
    cargo test --test faults -- --ignored --skip are_opened_is_not_followed --skip hangs_is_named

# One kind of test: vectors, tools, cli, faults, layers or readme.
test-only NAME:
    cargo test --test {{NAME}}

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

bench:
    cargo bench

# Whole processes against every other tool that is installed; --quick takes under two minutes.
bench-peers *ARGS:
    cargo bench --bench peers -- {{ARGS}}

# Needs a nightly toolchain with the component miri.
miri:
    cargo +nightly miri test --lib

ci:
    .ci/run

# Any bytes through one parser (or through detection, with FORMAT `any`). Needs a nightly toolchain and
# cargo-fuzz. What it finds goes to tests/data/fuzz/.
fuzz FORMAT SECONDS:
    MULTISUM_FUZZ_FORMAT={{FORMAT}} cargo +nightly fuzz run read -- -max_total_time={{SECONDS}} -max_len=4096
