# Full matrices of faults and of determinism; then undefined behaviour and data races: Miri and the thread sanitizer. Hours on two
# cores; not a part of `make test`.
# Needs: rustup toolchain install nightly --profile minimal -c miri -c rust-src
# What they run over, what they found and what they cannot run: docs/decisions/0010-soak.md
set -eu
target=${CARGO_TARGET_DIR:-target}
host=x86_64-unknown-linux-gnu

# Every algorithm in every case of the tests that `make test` runs over the probes of the engine alone.
OUTCORE_SOAK=1 cargo test --profile checked --locked --package outcore-algo --test all -- faults:: determinism::

# Files are read as they are, and the memory of a lost queue is given up on purpose.
export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
miri() { CARGO_TARGET_DIR=$target/miri cargo +nightly miri test --locked "$@"; }
miri --package outcore-io --lib -- buffer:: cache:: reader:: writer::
# Which instructions there are is known beforehand: the decoder of AVX2, beside the portable one. Miri does not know AVX-512.
RUSTFLAGS="-Ctarget-feature=+avx2,+bmi2,+popcnt" miri --package outcore-graph --lib -- decode:: gather::
miri --package outcore-graph --test programs -- turns_messages_and_ends_happen_when_they_should

# The standard library is compiled with the sanitizer too: otherwise its locks are taken for races.
races() {
    CARGO_TARGET_DIR=$target/races RUSTFLAGS=-Zsanitizer=thread CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
        cargo +nightly test --release --locked -Zbuild-std --target $host "$@"
}
races --package outcore-io --lib --test reader --test threads
races --package outcore-graph --test programs
