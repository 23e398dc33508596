//! `outcore graphalytics`: the benchmark's six kernels over data sets, validated by its own rules.

use crate::answer::Answer;
use crate::args::GraphalyticsArgs;
use crate::progress::{note_memory, runtime, scratch};
use outcore::front_ends::graphalytics::{comparison_bytes, kernels, run, verify_output};
use outcore::import::{self, GraphalyticsProperties, ImportOptions, InputOptions};
use outcore::io::backend::Location;
use outcore::{Error, Graph, GraphOptions, Result, Runtime};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Endings of the files of a data set, beside reference outputs.
const ENDINGS: [&str; 3] = [".v", ".e", ".properties"];
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

pub fn graphalytics(args: &GraphalyticsArgs) -> Result<()> {
    let runtime = runtime(&args.limits, args.temporary.clone())?;
    let names = if args.names.is_empty() { data_sets(&runtime, &args.folder)? } else { args.names.clone() };
    let (answer, mut reports, mut failure) = (Answer::default(), Vec::new(), None);
    for name in &names {
        match benchmark(&runtime, &args.folder, name) {
            Ok(report) => reports.push(report),
            // Earlier results are reported all the same.
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
        if let (false, Some(report)) = (args.json, reports.last()) {
            report.say(&answer);
        }
    }
    if args.json {
        let values: Vec<Value> = reports.iter().map(DataSetReport::json).collect();
        answer.write_with(|out| writeln!(out, "{}", serde_json::to_string_pretty(&values).unwrap_or_default()));
    }
    let count = |wanted: fn(&Outcome) -> bool| {
        reports.iter().flat_map(|report| &report.kernels).filter(|kernel| wanted(&kernel.outcome)).count()
    };
    let valid = count(|outcome| matches!(outcome, Outcome::Valid));
    let invalid = count(|outcome| matches!(outcome, Outcome::Invalid(_)));
    note_memory(&runtime, &args.limits);
    if let Some(error) = failure {
        return Err(error);
    }
    if invalid > 0 {
        let expected = format!("{} outputs that agree with their references", valid + invalid);
        return Err(Error::verification(expected, format!("{invalid} that do not")));
    }
    answer.heard()
}

/// The names of the data sets of a folder.
fn data_sets(runtime: &Runtime, folder: &Path) -> Result<Vec<String>> {
    let failed = |error| Error::file(folder, "list", error);
    let mut names = BTreeSet::new();
    for file in runtime.backend().list(Location::at(folder)).map_err(failed)? {
        let file = file.to_string_lossy().into_owned();
        let plain = PACKED[1..].iter().find_map(|packed| file.strip_suffix(packed)).unwrap_or(&file);
        names.extend(ENDINGS.iter().find_map(|ending| plain.strip_suffix(ending)).map(str::to_owned));
    }
    if names.is_empty() {
        let folder = folder.display();
        return Err(Error::Usage(format!("expected NAME.v, NAME.e and NAME.properties in {folder}, found none")));
    }
    Ok(names.into_iter().collect())
}

enum Outcome {
    Valid,
    Invalid(String),
    /// There is none, or the file that is there instead, which is not read.
    NoReference(Option<String>),
    NotRun,
}

/// A kernel: its processing time and what became of it.
struct KernelReport {
    kernel: &'static str,
    seconds: f64,
    outcome: Outcome,
}

/// A data set and its kernels.
struct DataSetReport {
    name: String,
    vertices: u64,
    edges: u64,
    directed: bool,
    load_seconds: f64,
    kernels: Vec<KernelReport>,
}

/// Imports a data set into an image that is not kept, and runs and validates all kernels that it has parameters for.
fn benchmark(runtime: &Runtime, folder: &Path, name: &str) -> Result<DataSetReport> {
    let properties = GraphalyticsProperties::read(runtime, &file(runtime, folder, name, ".properties"))?;
    let place = scratch(runtime)?;
    let image = place.path().join("graph.oc");
    let load_seconds = load(&runtime.renewed()?, &file(runtime, folder, name, ".e"), &image)?;
    let graph = Graph::open(&runtime.renewed()?, &image, GraphOptions::default())?;
    graph.make_room("a result and its comparison with the reference", comparison_bytes(&graph))?;
    let mut reports = Vec::new();
    for (kernel, algorithm) in kernels() {
        let (seconds, outcome) = match run(&graph, algorithm, &properties)? {
            None => (0.0, Outcome::NotRun),
            Some((output, stats)) => {
                let reference = folder.join(format!("{name}-{kernel}"));
                let outcome =
                    match runtime.backend().named(&reference).map(|_| verify_output(&graph, &output, &reference)) {
                        None => Outcome::NoReference(packed(runtime, &reference)),
                        Some(Ok(())) => Outcome::Valid,
                        Some(Err(Error::Verification { expected, found })) => {
                            Outcome::Invalid(format!("expected {expected}, found {found}"))
                        }
                        Some(Err(error)) => return Err(error),
                    };
                (stats.total.seconds, outcome)
            }
        };
        reports.push(KernelReport { kernel, seconds, outcome });
    }
    Ok(DataSetReport {
        name: name.to_owned(),
        vertices: graph.vertices(),
        edges: graph.edges(),
        directed: graph.is_directed(),
        load_seconds,
        kernels: reports,
    })
}

/// The name of a reference that is there compressed only.
fn packed(runtime: &Runtime, reference: &Path) -> Option<String> {
    let name = reference.file_name()?.to_string_lossy();
    let mut names = PACKED[1..].iter().map(|packed| format!("{name}{packed}"));
    names.find(|name| runtime.backend().named(&reference.with_file_name(name)).is_some())
}

/// Advice on a reference that exists only in compressed form.
fn packed_reason(file: &str) -> String {
    format!("its reference is compressed, decompress {file}")
}

/// Imports a data set; returns how long it took, in seconds.
fn load(runtime: &Runtime, edges: &Path, image: &Path) -> Result<f64> {
    let input = InputOptions { format: Some("graphalytics".into()), ..InputOptions::default() };
    let source = import::open(runtime, &[edges.to_owned()], &input)?;
    Ok(import::import(runtime, source, image, &ImportOptions::default())?.stats.seconds)
}

/// A file of a data set: as it is, or compressed if only that is there.
fn file(runtime: &Runtime, folder: &Path, name: &str, ending: &str) -> PathBuf {
    let paths = PACKED.map(|packed| folder.join(format!("{name}{ending}{packed}")));
    paths.iter().find(|path| runtime.backend().named(path).is_some()).unwrap_or(&paths[0]).clone()
}

impl DataSetReport {
    /// Edges, and vertices and edges, that were processed per second.
    fn rates(&self, kernel: &KernelReport) -> (f64, f64) {
        let per_second = |count: u64| count as f64 / kernel.seconds;
        (per_second(self.edges), per_second(self.vertices + self.edges))
    }

    fn say(&self, answer: &Answer) {
        let direction = if self.directed { "directed" } else { "undirected" };
        answer.say(format_args!(
            "{}: {} vertices, {} {direction} edges, loaded in {:.3} s",
            self.name, self.vertices, self.edges, self.load_seconds
        ));
        for kernel in &self.kernels {
            let name = kernel.kernel;
            let (eps, evps) = self.rates(kernel);
            let outcome = match &kernel.outcome {
                Outcome::NotRun => {
                    answer.say(format_args!("  {name:4} not run: the properties have no parameters for it"));
                    continue;
                }
                Outcome::Valid => "valid".to_owned(),
                Outcome::NoReference(None) => "no reference".to_owned(),
                Outcome::NoReference(Some(file)) => format!("no reference: {}", packed_reason(file)),
                Outcome::Invalid(reason) => format!("INVALID: {reason}"),
            };
            let seconds = kernel.seconds;
            answer.say(format_args!("  {name:4} {seconds:12.6} s {eps:12.3e} EPS {evps:12.3e} EVPS  {outcome}"));
        }
    }

    fn json(&self) -> Value {
        let kernel = |kernel: &KernelReport| {
            let name = kernel.kernel;
            let (outcome, reason) = match &kernel.outcome {
                Outcome::NotRun => return json!({ "kernel": name, "outcome": "not run" }),
                Outcome::Valid => ("valid", None),
                Outcome::NoReference(file) => ("no reference", file.as_deref().map(packed_reason)),
                Outcome::Invalid(reason) => ("invalid", Some(reason.clone())),
            };
            let (eps, evps) = self.rates(kernel);
            let seconds = kernel.seconds;
            json!({
                "kernel": name, "outcome": outcome, "reason": reason,
                "processing_seconds": seconds, "eps": eps, "evps": evps,
            })
        };
        json!({
            "name": self.name, "vertices": self.vertices, "edges": self.edges, "directed": self.directed,
            "load_seconds": self.load_seconds, "kernels": self.kernels.iter().map(kernel).collect::<Vec<_>>(),
        })
    }
}
