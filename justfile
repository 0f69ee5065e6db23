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

# Licences, bans, sources and advisories. Needs cargo-deny.
deny:
    cargo deny check

# How often unsafe code stands where, beside the functions that are unsafe to call.
unsafe:
    grep -rcE 'unsafe \{' src | grep -v ':0$'
    @echo "$(grep -rE 'unsafe \{' src | wc -l) unsafe blocks"

# Manual pages and completions, into target/release/pages/, where the Debian package takes them from.
pages MULTISUM="target/release/multisum":
    mkdir -p target/release/pages
    {{MULTISUM}} man target/release/pages/man
    {{MULTISUM}} completions bash > target/release/pages/multisum.bash
    {{MULTISUM}} completions zsh > target/release/pages/_multisum
    {{MULTISUM}} completions fish > target/release/pages/multisum.fish

# A Debian package in target/debian/. Needs cargo-deb.
deb:
    cargo build --release --locked
    just pages
    cargo deb --no-build

# What crates.io would get, built from nothing else.
package:
    cargo package --locked

# One static binary for any Linux. Needs `rustup target add x86_64-unknown-linux-musl` and musl-gcc.
static:
    cargo build --release --locked --target x86_64-unknown-linux-musl

# The tests of tests/cli/ with the program built for another platform: `windows` (under Wine; needs the
# target x86_64-pc-windows-gnu, gcc-mingw-w64-x86-64 and wine64), `aarch64` (under qemu; needs
# aarch64-unknown-linux-gnu, gcc-aarch64-linux-gnu and qemu-user), `musl` (as it is; needs
# x86_64-unknown-linux-musl).
test-platform PLATFORM *ARGS:
    tests/platforms/run {{PLATFORM}} {{ARGS}}
