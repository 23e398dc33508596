//! The kept inputs, run by `cargo test` as well.

use outcore_fuzz::{run, target, targets};
use outcore_graph::import::formats;
use std::path::Path;

#[test]
fn every_format_has_a_target() {
    // `binary64` is another name of `graph500`.
    for (format, _) in formats().into_iter().filter(|(format, _)| *format != "binary64") {
        assert!(target(format).is_some(), "no target reads {format}: add it to `fuzz/src/parsers.rs`, with inputs");
    }
}

#[test]
fn kept_inputs_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in targets() {
        let folder = corpus.join(target.name);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut outcomes = std::collections::BTreeSet::new();
        for entry in entries {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            outcomes.insert(run(target, &std::fs::read(&path).unwrap()));
        }
        // Inputs of which the same becomes are not worth keeping.
        assert!(outcomes.len() > 1, "{}: {} outcomes", target.name, outcomes.len());
    }
}
