//! An import as a page: the image that was made, how the input was read, and where the time went.

use crate::page::time_text;
use crate::summary::{MOST_ROWS, SomeRows, Summary};
use crate::{Planned, Report, now};
use outcore_graph::import::{ImportEstimate, ImportSummary};
use outcore_image::{Stats, StatsBuilder};
use outcore_io::{Runtime, Sample, bytes_text, differing_texts};
use serde_json::{Map, Value, json};

/// Keys of a summary that describe the image.
const OF_IMAGE: [&str; 10] = [
    "vertices",
    "edges",
    "directed",
    "weights",
    "attributes",
    "vertex_attributes",
    "isolated_vertices",
    "self_loops_stored",
    "ids",
    "order",
];
/// Keys that have a section of their own; all others say how the input was read.
const ELSEWHERE: [&str; 6] =
    ["first_edges", "notes", "stats", "first_files", "first_files_modified", "first_files_not_read"];

/// The page of an import in this runtime, without its call and its options.
pub fn of_import(runtime: &Runtime, summary: &ImportSummary, needs: &ImportEstimate, samples: Vec<Sample>) -> Report {
    let facts = json!(summary).as_object().cloned().unwrap_or_default();
    let (of_image, mut facts): (Map<_, _>, Map<_, _>) =
        facts.into_iter().partition(|(name, _)| OF_IMAGE.contains(&&**name));
    facts.retain(|name, _| !ELSEWHERE.contains(&&**name));
    for name in ["files", "file_edges", "files_left_out"] {
        facts.get_mut(name).map(shorten);
    }
    let mut attributes: Map<_, _> =
        OF_IMAGE.iter().filter_map(|&name| Some((name.to_owned(), of_image.get(name)?.clone()))).collect();
    attributes.insert("image_bytes".to_owned(), json!(summary.stats.image_bytes));
    let tables = vec![first_edges(summary), phases(summary)];
    let result = Summary { attributes, lines: summary.notes.clone(), tables };
    let stats = &summary.stats;
    let space = |what: &str, planned: u64, taken: u64| {
        let [planned, taken] = differing_texts(planned, taken);
        format!("{what}: about {planned} planned, {taken} taken.")
    };
    let notes = vec![
        space("Temporary files at a time", needs.temporary_bytes, stats.peak_temporary_bytes),
        space("Image", needs.image_bytes, stats.image_bytes),
        space("Both at a time", needs.peak_disk_bytes, stats.peak_disk_bytes),
        format!("Written to temporary files: {}.", bytes_text(stats.temporary_bytes)),
    ];
    let plan = Planned { memory_bytes: Some(needs.memory_bytes), notes, ..Planned::default() };
    let input = match &summary.files[..] {
        [] => summary.facts.input_format.clone(),
        [file] => file.clone(),
        [first, .., last] => format!("{} files, {first} to {last}", summary.files.len()),
    };
    let (name, call, options) = ("import".to_owned(), String::new(), Vec::new());
    let stats = cost(runtime, summary, &samples);
    Report { name, input, call, options, facts, plan, result, ended: now(), stats, samples }
}

/// The cost of an import: it has no sweeps over an image.
fn cost(runtime: &Runtime, summary: &ImportSummary, samples: &[Sample]) -> Stats {
    let end = samples.last().copied().unwrap_or_default();
    let mut stats = StatsBuilder::start().finish(runtime, 1);
    (stats.total.seconds, stats.total.bytes_read) = (summary.stats.seconds, end.bytes_read);
    stats.memory_limit_bytes = summary.stats.memory_limit_bytes;
    stats.memory_peak_bytes = summary.stats.memory_peak_bytes;
    stats.seconds_cpu = end.seconds_cpu;
    stats
}

/// Leaves the first members of a list, and how many there are.
fn shorten(list: &mut Value) {
    let Some(members) = list.as_array_mut().filter(|members| members.len() > MOST_ROWS) else { return };
    let count = members.len();
    members.truncate(MOST_ROWS);
    members.push(json!(format!("... ({count} in all)")));
}

fn first_edges(summary: &ImportSummary) -> SomeRows {
    let has_weights = summary.first_edges.iter().any(|(.., weight)| weight.is_some());
    let columns = ["source", "target", "weight"].iter().take(if has_weights { 3 } else { 2 });
    let row = |(source, target, weight): &(String, String, Option<String>)| {
        let mut row = vec![source.clone(), target.clone()];
        if has_weights {
            row.push(weight.clone().unwrap_or_default());
        }
        row
    };
    SomeRows {
        title: "The first edges, as they were understood".to_owned(),
        columns: columns.map(|&name| name.to_owned()).collect(),
        rows: summary.first_edges.iter().take(MOST_ROWS).map(row).collect(),
    }
}

fn phases(summary: &ImportSummary) -> SomeRows {
    let stats = &summary.stats;
    let all = [
        ("reading the input, counting degrees", stats.read_seconds),
        ("merging ids, numbering vertices", stats.number_seconds),
        ("translating edges to numbers, distributing them", stats.translate_seconds),
        ("sorting and encoding the lists", stats.lists_seconds),
        ("writing ids and manifest, waiting for the disk", stats.finish_seconds),
    ];
    SomeRows {
        title: "Where the time went".to_owned(),
        columns: vec!["phase".to_owned(), "time".to_owned()],
        rows: all.iter().map(|&(phase, seconds)| vec![phase.to_owned(), time_text(seconds)]).collect(),
    }
}
