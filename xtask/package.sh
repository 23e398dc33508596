#!/usr/bin/env bash
# Packages every crate that can be published, unpacks the packages and checks that they compile from these files alone,
# with all features and with none. Run by `make tidy`; nothing is published.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
unpacked=$target/package/unpacked
rm -rf "$target/package"

names=()
for manifest in $(grep -L '^publish = false' crates/*/Cargo.toml); do
    names+=("$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)")
done
cargo package --quiet --locked --no-verify --allow-dirty "${names[@]/#/--package=}"

mkdir -p "$unpacked"
# Files get the time of now, for cargo compiles what is newer, and packages have files of a fixed time. The lock file of
# the repository keeps dependencies as they are; the profile is that of the other checks, so that what
# lies outside of the workspace is compiled once.
cp Cargo.lock "$unpacked"
{
    printf '[workspace]\nresolver = "3"\nmembers = ["*-[0-9]*"]\n\n[patch.crates-io]\n'
    for archive in "$target"/package/*.crate; do
        tar -xzmf "$archive" -C "$unpacked"
        folder=$(basename "$archive" .crate)
        head -c 1 "$unpacked/$folder/LICENSE" "$unpacked/$folder/README.md" > /dev/null
        printf '%s = { path = "%s" }\n' "${folder%-[0-9]*}" "$folder"
    done
    sed -n '/^\[profile.checked\]/,/^$/p' Cargo.toml
    sed -n '/^\[profile.checked.package/,/^$/p' Cargo.toml
} > "$unpacked/Cargo.toml"
cargo check --quiet --profile checked --manifest-path "$unpacked/Cargo.toml" --workspace --all-features
cargo check --quiet --profile checked --manifest-path "$unpacked/Cargo.toml" --package outcore --no-default-features
