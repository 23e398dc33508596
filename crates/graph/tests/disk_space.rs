//! Disk space of imports: what is counted is what is there, what is announced is about that, and nothing is refused
//! that fits. A program of its own, since it looks at the open files of the process.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use outcore_graph::import::{
    Attributes, Condition, Duplicates, ImportEstimate, ImportOptions, ImportReport, InputOptions, OrderChoice,
    SelfLoops, estimate, import, open,
};
use outcore_image::{Error, Result};
use outcore_io::backend::Change;
use outcore_io::{Backend, Runtime, RuntimeOptions};
use outcore_testkit::{Hooked, random};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The space of the files below a folder, of all and of temporary ones; those without a name are open.
fn space_below(folder: &Path) -> [u64; 2] {
    let mut files = HashMap::new();
    let mut add = |path: &Path, shown: &Path| {
        if let Ok(file) = std::fs::metadata(path)
            && file.is_file()
        {
            let is_temporary = shown.components().any(|name| name.as_os_str() == "temporary");
            files.insert(file.ino(), (512 * file.blocks(), is_temporary));
        }
    };
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => add(&entry.path(), &entry.path()),
            }
        }
    }
    for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
        if let Ok(shown) = std::fs::read_link(entry.path())
            && shown.starts_with(folder)
        {
            add(&entry.path(), &shown);
        }
    }
    let sum = |wanted: fn(bool) -> bool| files.values().filter(|file| wanted(file.1)).map(|file| file.0).sum();
    [sum(|_| true), sum(|is_temporary| is_temporary)]
}

/// A disk of a size of its own, of which a folder takes a part; it notes the most that was taken.
struct Disk {
    folder: PathBuf,
    backend: Arc<dyn Backend>,
    peaks: Arc<[AtomicU64; 2]>,
}

impl Disk {
    fn new(folder: &Path, size_bytes: u64) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let (changes, peaks) = (AtomicU64::new(0), Arc::<[AtomicU64; 2]>::default());
        let (noted, [watched, filled]) = (Arc::clone(&peaks), [folder.to_owned(), folder.to_owned()]);
        let note = move |change: &Change<'_>| {
            let frees = matches!(change, Change::Remove { .. } | Change::Punch { .. });
            // Looking takes longer than writing.
            if frees || changes.fetch_add(1, Ordering::Relaxed).is_multiple_of(8) {
                for (peak, bytes) in noted.iter().zip(space_below(&watched)) {
                    peak.fetch_max(bytes, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        let free_bytes = move || size_bytes.saturating_sub(space_below(&filled)[0]);
        let (change, free_bytes) = (Some(Box::new(note) as _), Some(Box::new(free_bytes) as _));
        let backend = Arc::new(Hooked { change, free_bytes, ..Hooked::default() });
        Disk { folder: folder.to_owned(), backend, peaks }
    }

    fn peaks(&self) -> [u64; 2] {
        self.peaks.each_ref().map(|peak| peak.load(Ordering::Relaxed))
    }
}

/// An input, and how it is imported.
struct Case {
    name: &'static str,
    file: PathBuf,
    input: InputOptions,
    options: ImportOptions,
}

struct Cases {
    folder: PathBuf,
    cases: Vec<Case>,
    state: u64,
}

impl Cases {
    fn random(&mut self, below: u64) -> u64 {
        random(&mut self.state) % below
    }

    fn add(&mut self, name: &'static str, file: &str, bytes: &[u8]) -> &mut Case {
        std::fs::write(self.folder.join(file), bytes).unwrap();
        self.add_again(name, file)
    }

    /// A case of a file or folder that is there.
    fn add_again(&mut self, name: &'static str, file: &str) -> &mut Case {
        let file = self.folder.join(file);
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        self.cases.push(Case { name, file, input: InputOptions::default(), options });
        self.cases.last_mut().unwrap()
    }

    /// Lines that a function writes.
    fn text(&mut self, lines: u64, mut line: impl FnMut(&mut Self, &mut String, u64)) -> String {
        let mut text = String::new();
        for number in 0..lines {
            line(self, &mut text, number);
        }
        text
    }
}

fn arrow(columns: Vec<(&str, ArrayRef)>, batch_rows: usize) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(batch_rows) {
        writer.write(&batch.slice(start, batch_rows.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn integers(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(values.map(|value| value as i64).collect::<Int64Array>())
}

fn parquet(folder: &Path, name: &str, columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = folder.join(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    std::fs::read(&path).unwrap()
}

fn account(number: u64) -> String {
    format!("account-{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Edges in several orders and compressions.
fn add_orders(all: &mut Cases) {
    let pair = |all: &mut Cases, text: &mut String, _: u64| {
        let (source, target) = (all.random(60_000), all.random(60_000));
        writeln!(text, "{source} {target}").unwrap();
    };
    let narrow = all.text(500_000, pair);
    all.add("narrow text", "narrow.txt", narrow.as_bytes());
    all.add("order near", "near.txt", narrow.as_bytes()).options.order = OrderChoice::Near;
    all.add("order of the input", "input.txt", narrow.as_bytes()).options.order = OrderChoice::Input;
    all.add("undirected", "undirected.txt", narrow.as_bytes()).options.directed = Some(false);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(narrow.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    all.add("text in gzip", "narrow.txt.gz", &gzip);
    let zstd = zstd::encode_all(narrow.as_bytes(), 3).unwrap();
    all.add("text in zstd", "narrow.txt.zst", &zstd);
    let few = zstd::encode_all(&narrow.as_bytes()[..narrow[..600_000].rfind('\n').unwrap() + 1], 3).unwrap();
    all.add("little text in zstd", "few.txt.zst", &few);
}

/// Ids of several kinds.
fn add_ids(all: &mut Cases) {
    let sorted = all.text(500_000, |all, text, number| {
        let (near, far) = (number / 8 + all.random(500), all.random(62_500));
        writeln!(text, "{} {}", number / 8, if number % 2 == 0 { near } else { far }).unwrap();
    });
    all.add("sorted text", "sorted.txt", sorted.as_bytes());
    let path = all.text(300_000, |_, text, number| writeln!(text, "{number} {}", number + 1).unwrap());
    all.add("a path", "path.txt", path.as_bytes());
    let skewed = all.text(500_000, |all, text, _| {
        let mut end = || all.random(100_000) / (1 + all.random(1000));
        writeln!(text, "{} {}", end(), end()).unwrap();
    });
    all.add("skewed degrees", "skewed.txt", skewed.as_bytes());
    let sparse = all.text(300_000, |all, text, _| {
        let mut end = || all.random(60_000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
        writeln!(text, "{} {}", end(), end()).unwrap();
    });
    all.add("sparse integers", "sparse.txt", sparse.as_bytes());
}

/// Weights and columns that are not read.
fn add_weights(all: &mut Cases) {
    let wide = all.text(60_000, |all, text, _| {
        let (source, target, note) = (all.random(9_000), all.random(9_000), all.random(u64::MAX));
        writeln!(text, "{source},{target},{note:0200}").unwrap();
    });
    all.add("wide rows", "wide.csv", format!("source,target,note\n{wide}").as_bytes());
    let whole = all.text(300_000, |all, text, _| {
        let (source, target, weight) = (all.random(40_000), all.random(40_000), all.random(1000));
        writeln!(text, "{source},{target},{weight}").unwrap();
    });
    all.add("whole weights", "whole.csv", format!("source,target,weight\n{whole}").as_bytes());
    let real = all.text(300_000, |all, text, _| {
        let (source, target, weight) = (all.random(40_000), all.random(40_000), all.random(1 << 40));
        writeln!(text, "{source},{target},{}", weight as f64 / 1e9).unwrap();
    });
    all.add("real weights", "real.csv", format!("source,target,weight\n{real}").as_bytes());
}

/// Strings, and tables.
fn add_strings(all: &mut Cases) {
    let folder = all.folder.clone();
    let strings = all.text(200_000, |all, text, _| {
        let (source, target) = (account(all.random(50_000)), account(all.random(50_000)));
        writeln!(text, "{source},{target}").unwrap();
    });
    all.add("strings", "strings.csv", format!("source,target\n{strings}").as_bytes());
    let entries = all.text(300_000, |all, text, _| {
        let (row, column) = (1 + all.random(40_000), 1 + all.random(40_000));
        writeln!(text, "{row} {column}").unwrap();
    });
    let header = "%%MatrixMarket matrix coordinate pattern general\n200000 200000 300000\n";
    all.add("declared vertices", "declared.mtx", format!("{header}{entries}").as_bytes());
    let mut ends = |count: usize, spread: u64| (0..count).map(|_| all.random(spread)).collect::<Vec<u64>>();
    let (sources, targets) = (ends(200_000, 50_000), ends(200_000, 50_000));
    let texts =
        |ends: &[u64]| Arc::new(ends.iter().map(|&end| Some(account(end))).collect::<StringArray>()) as ArrayRef;
    let numbers = |ends: &[u64]| Arc::new(ends.iter().map(|&end| end as i64).collect::<Int64Array>()) as ArrayRef;
    let table = parquet(&folder, "a", vec![("source", texts(&sources)), ("target", texts(&targets))]);
    all.add("strings in Parquet", "strings.parquet", &table);
    let table = parquet(&folder, "a", vec![("source", numbers(&sources)), ("target", numbers(&targets))]);
    all.add("integers in Parquet", "integers.parquet", &table);
    let attributes = all.text(200_000, |all, text, number| {
        let (source, target) = (all.random(30_000), all.random(30_000));
        let (kind, note, second) = (all.random(20), all.random(1 << 60), number % 60);
        writeln!(text, "{source},{target},kind-{kind},{note:x},2026-11-28T10:00:{second:02}").unwrap();
    });
    let attributes = format!("source,target,kind,note,time\n{attributes}");
    all.add("attributes", "attributes.csv", attributes.as_bytes()).input.attributes = Attributes::All;
}

/// Tables in Arrow and Parquet, in order and not.
fn add_tables(all: &mut Cases) {
    let folder = all.folder.clone();
    let mut ends = |count: usize, spread: u64| (0..count).map(|_| all.random(spread)).collect::<Vec<u64>>();
    let (sources, targets) = (ends(300_000, 45_000), ends(300_000, 45_000));
    let columns = || vec![("source", integers(sources.iter().copied())), ("target", integers(targets.iter().copied()))];
    let texts = |ends: &[u64]| {
        Arc::new(ends[..120_000].iter().map(|&end| Some(account(end))).collect::<StringArray>()) as ArrayRef
    };
    let bytes = arrow(columns(), 20_000);
    all.add("integers in Arrow", "small.arrow", &bytes);
    let bytes = arrow(columns(), 300_000);
    all.add("integers in one batch of Arrow", "large.arrow", &bytes);
    let bytes = arrow(vec![("source", texts(&sources)), ("target", texts(&targets))], 8_000);
    all.add("strings in Arrow", "strings.arrow", &bytes);
    let near = (0..400_000u64).map(|row| row / 6 + targets[row as usize % 300_000] % 300);
    let columns = vec![("source", integers((0..400_000).map(|row| row / 6))), ("target", integers(near))];
    let table = parquet(&folder, "a", columns);
    all.add("sorted integers in Parquet", "sorted.parquet", &table);
    let weights: ArrayRef = Arc::new(sources.iter().map(|&end| end as f64 / 7.0).collect::<Float64Array>());
    let named =
        vec![("source", integers(sources.iter().map(|&end| end * end))), ("target", integers(targets.iter().copied()))];
    let table = parquet(&folder, "a", [named, vec![("weight", weights)]].concat());
    all.add("real weights in Parquet", "weights.parquet", &table);
}

/// Documents, which list their vertices first, and other formats of graphs.
fn add_documents(all: &mut Cases) {
    let nodes = all.text(30_000, |_, text, number| writeln!(text, "<node id=\"v{number}\"/>").unwrap());
    let edges = all.text(150_000, |all, text, _| {
        let (source, target, weight) = (all.random(30_000), all.random(30_000), all.random(500));
        writeln!(text, "<edge source=\"v{source}\" target=\"v{target}\"><data key=\"w\">{weight}</data></edge>")
            .unwrap();
    });
    let key = "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>";
    let document = format!("<graphml>{key}<graph edgedefault=\"directed\">\n{nodes}{edges}</graph></graphml>");
    all.add("GraphML", "g.graphml", document.as_bytes());
    let packed = zstd::encode_all(document.as_bytes(), 3).unwrap();
    all.add("GraphML in zstd", "g.graphml.zst", &packed);
    let nodes = all.text(40_000, |_, text, number| {
        writeln!(text, "<node id=\"{number}\"><data key=\"n\">person number {number}</data></node>").unwrap();
    });
    let edges = all.text(100_000, |all, text, _| {
        let (source, target) = (all.random(40_000), all.random(40_000));
        writeln!(text, "<edge source=\"{source}\" target=\"{target}\"/>").unwrap();
    });
    let key = "<key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>";
    let document = format!("<graphml>{key}<graph edgedefault=\"undirected\">\n{nodes}{edges}</graph></graphml>");
    all.add("names of vertices", "names.graphml", document.as_bytes()).input.attributes = Attributes::All;
    let nodes = all.text(20_000, |_, text, number| writeln!(text, "node [ id {number} ]").unwrap());
    let edges = all.text(120_000, |all, text, _| {
        writeln!(text, "edge [ source {} target {} ]", all.random(20_000), all.random(20_000)).unwrap();
    });
    all.add("GML", "g.gml", format!("graph [ directed 1\n{nodes}{edges}]").as_bytes());
    let arcs = all.text(150_000, |all, text, _| {
        writeln!(text, "{} {}", 1 + all.random(25_000), 1 + all.random(25_000)).unwrap();
    });
    all.add("Pajek", "g.net", format!("*Vertices 25000\n*Arcs\n{arcs}").as_bytes());
    let lines = all.text(150_000, |all, text, _| {
        writeln!(text, "a{} -> a{};", all.random(25_000), all.random(25_000)).unwrap();
    });
    all.add("DOT", "g.dot", format!("digraph {{\n{lines}}}").as_bytes());
    let lines = all.text(200_000, |all, text, _| {
        let (source, target, weight) = (all.random(30_000), all.random(30_000), all.random(100));
        writeln!(text, "{{\"source\": {source}, \"target\": {target}, \"weight\": {weight}}}").unwrap();
    });
    all.add("JSON lines", "g.jsonl", lines.as_bytes());
    let lines = all.text(25_000, |all, text, number| {
        write!(text, "{number}").unwrap();
        (0..all.random(30)).for_each(|_| write!(text, " {}", all.random(25_000)).unwrap());
        text.push('\n');
    });
    all.add("adjacency", "g.adj", lines.as_bytes());
    let records: Vec<u8> = (0..600_000).flat_map(|_| (all.random(50_000) as i64).to_le_bytes()).collect();
    all.add("binary records", "g.graph500", &records);
}

/// Several files, partitions, conditions, loops, and degrees with a long tail.
fn add_parts(all: &mut Cases) {
    let row = |all: &mut Cases, text: &mut String, _: u64| {
        let (source, target, weight) = (all.random(50_000), all.random(50_000), all.random(1000));
        writeln!(text, "{source},{target},{weight}").unwrap();
    };
    let header = "source,target,weight\n";
    for folder in ["files", "days"] {
        std::fs::create_dir(all.folder.join(folder)).unwrap();
    }
    for (number, rows) in [90_000, 50_000, 120_000, 20_000, 70_000, 40_000].into_iter().enumerate() {
        let text = header.to_owned() + &all.text(rows, row);
        std::fs::write(all.folder.join(format!("files/{number}.csv")), &text).unwrap();
        let day = all.folder.join(format!("days/day={number}"));
        std::fs::create_dir(&day).unwrap();
        std::fs::write(day.join("edges.csv"), &text).unwrap();
    }
    all.add_again("several files", "files");
    all.add_again("partitions", "days").input.attributes = Attributes::All;
    let text = header.to_owned() + &all.text(400_000, row);
    let condition = |text| vec![Condition::parse(text).unwrap()];
    all.add("a condition", "where.csv", text.as_bytes()).input.conditions = condition("weight < 300");
    let case = all.add_again("some partitions", "days");
    (case.input.attributes, case.input.conditions) = (Attributes::All, condition("day >= 2"));
    let loops = all.text(400_000, |all, text, number| {
        let source = all.random(50_000);
        let target = if number % 3 == 0 { source } else { all.random(50_000) };
        writeln!(text, "{source} {target}").unwrap();
    });
    all.add("self-loops that are left out", "loops.txt", loops.as_bytes()).options.self_loops = SelfLoops::Drop;
    all.add_again("self-loops that stay", "loops.txt");
    let tail = all.text(500_000, |all, text, _| {
        let mut end = || ((all.random(1 << 30) as f64 / (1u64 << 30) as f64).powi(4) * 200_000.0) as u64;
        writeln!(text, "{} {}", end(), end()).unwrap();
    });
    all.add("a long tail of degrees", "tail.txt", tail.as_bytes());
    let case = all.add_again("parallel edges", "tail.txt");
    case.options.duplicates = Duplicates::Keep;
    all.add_again("both directions", "loops.txt").options.directed = Some(false);
    let sides =
        all.text(300_000, |all, text, _| writeln!(text, "{} {}", all.random(5_000), all.random(80_000)).unwrap());
    all.add("two sides", "sides.txt", sides.as_bytes()).input.bipartite = Some(["u", "i"].map(str::to_owned));
    let wide = all.text(50_000, |all, text, _| {
        let (source, target) = (account(all.random(20_000)), account(all.random(20_000)));
        let (note, amount) = (all.random(u64::MAX), all.random(1 << 30));
        writeln!(text, "{source},{target},{note:0400},{amount}").unwrap();
    });
    let wide = format!("source,target,note,weight\n{wide}");
    all.add("wide rows with strings", "wide-strings.csv", wide.as_bytes());
    let gzip = {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(wide.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    all.add("wide rows with strings in gzip", "wide-strings.csv.gz", &gzip);
    let once = all.text(200_000, |all, text, number| {
        writeln!(text, "{},{},{}", account(2 * number), account(2 * number + 1), all.random(50)).unwrap();
    });
    all.add("ids that come once", "once.csv", format!("source,target,kind\n{once}").as_bytes()).input.attributes =
        Attributes::All;
}

/// Lines of six members, of which an import reads two, three or all.
fn add_wide_lines(all: &mut Cases) {
    let lines = all.text(30_000, |all, text, number| {
        let (source, target, amount) = (all.random(8000), all.random(8000), all.random(10_000) as f64 / 100.0);
        let (day, minute, kind) = (1 + number % 28, number % 60, ["alpha", "beta", "gamma"][all.random(3) as usize]);
        let at = format!("2026-10-{day:02}T12:{minute:02}:00");
        let ends = format!("\"source\": {source}, \"target\": {target}");
        let others = format!("\"kind\": \"{kind}\", \"at\": \"{at}\", \"note\": \"payment {number}\"");
        writeln!(text, "{{{ends}, \"weight\": {amount}, {others}}}").unwrap();
    });
    all.add("wide JSON lines", "wide.jsonl", lines.as_bytes());
    all.add_again("wide JSON lines, attributes", "wide.jsonl").input.attributes = Attributes::All;
    let bare = all.add_again("wide JSON lines, no weights", "wide.jsonl");
    bare.input.weight = Some("none".into());
    bare.options.directed = Some(false);
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut all = Cases { folder: folder.to_owned(), cases: Vec::new(), state: 5 };
    add_orders(&mut all);
    add_ids(&mut all);
    add_weights(&mut all);
    add_strings(&mut all);
    add_tables(&mut all);
    add_documents(&mut all);
    add_wide_lines(&mut all);
    add_parts(&mut all);
    all.cases
}

/// The resources of an import, and how far an estimate may be from what is taken.
struct Limits {
    threads: usize,
    memory_bytes: u64,
    band: std::ops::Range<f64>,
}

/// Too little memory for samples of tables and compressed files.
const LITTLE_BYTES: u64 = 22 << 20;
const IN_LITTLE: [&str; 5] = ["narrow text", "sparse integers", "real weights", "strings", "sorted text"];

/// Few edges for each id, or strings that stand once: temporary files of ids take most of the space, not of edges.
const OF_IDS: [&str; 5] = [
    "ids that come once",
    "strings in Arrow",
    "names of vertices",
    "wide rows with strings",
    "wide rows with strings in gzip",
];
const BAND_OF_IDS: std::ops::Range<f64> = 0.7..1.15;

const LIMITS: [Limits; 3] = [
    Limits { threads: 1, memory_bytes: 256 << 20, band: 0.85..1.15 },
    Limits { threads: 2, memory_bytes: 256 << 20, band: 0.85..1.15 },
    // Dictionaries fill up, and lists that do not fit are sorted in runs, for a short time.
    Limits { threads: 1, memory_bytes: LITTLE_BYTES, band: 0.65..1.15 },
];

fn imported(case: &Case, disk: &Disk, limits: &Limits) -> (ImportEstimate, Result<ImportReport>) {
    let runtime = Runtime::new(RuntimeOptions {
        threads: Some(limits.threads),
        memory_bytes: Some(limits.memory_bytes),
        beside_process: true,
        backend: Some(Arc::clone(&disk.backend)),
        ..RuntimeOptions::default()
    });
    let runtime = runtime.unwrap();
    let source = open(&runtime, std::slice::from_ref(&case.file), &case.input).unwrap();
    let needs = estimate(&runtime, source.facts(), &case.options);
    (needs, import(&runtime, source, &disk.folder.join("graph.oc"), &case.options))
}

/// Imports a case; on one worker, whose peak is always the same, also on disks where it just fits and where half of it
/// does. Returns what is wrong.
fn check(case: &Case, folder: &Path, limits: &Limits) -> Vec<String> {
    let disk = Disk::new(folder, u64::MAX);
    let (needs, report) = imported(case, &disk, limits);
    let name = format!("{} on {}, {} MiB", case.name, limits.threads, limits.memory_bytes >> 20);
    let report = match report {
        Ok(report) => report,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let (stats, peaks, mut wrong) = (&report.stats, disk.peaks(), Vec::new());
    let counts = [(stats.peak_disk_bytes, peaks[0]), (stats.peak_temporary_bytes, peaks[1])];
    // Between two looks some blocks were written, and nothing looks when a file without a name is closed; by several
    // workers, anything.
    let missed = if limits.threads > 1 { 1.0 } else { 0.2 };
    // Each of several workers may have written what it counts next.
    let uncounted_bytes = (limits.threads as u64 - 1) << 20;
    let differ = |&(counted, seen): &(u64, u64)| {
        seen > counted + uncounted_bytes || counted.saturating_sub(seen) as f64 > missed * counted as f64
    };
    if counts.iter().any(differ) {
        wrong.push(format!("{name}: counted and seen {counts:?}"));
    }
    assert!(stats.temporary_bytes > stats.peak_temporary_bytes / 2, "{name}: {stats:?}");
    let ratio = |announced: u64, peak: u64| announced as f64 / peak as f64;
    let ratios =
        [ratio(needs.peak_disk_bytes, stats.peak_disk_bytes), ratio(needs.temporary_bytes, stats.peak_temporary_bytes)];
    let image = ratio(needs.image_bytes, stats.image_bytes);
    println!("{name}: {ratios:.2?} of the peaks, {image:.2} of the image; {} chunks", stats.chunks);
    let band = if OF_IDS.contains(&case.name) { &BAND_OF_IDS } else { &limits.band };
    if !ratios.iter().all(|ratio| band.contains(ratio)) {
        wrong.push(format!("{name}: {ratios:.2?}, {needs:?}, {stats:?}"));
    }
    std::fs::remove_dir_all(folder).unwrap();
    if limits.threads > 1 {
        return wrong;
    }
    let enough = Disk::new(folder, stats.peak_disk_bytes);
    if let Err(error) = imported(case, &enough, limits).1 {
        wrong.push(format!("{name}: with just enough, {error}"));
    }
    std::fs::remove_dir_all(folder).unwrap();
    let half = Disk::new(folder, stats.peak_disk_bytes / 2);
    let refused = imported(case, &half, limits).1.err();
    if !matches!(refused, Some(Error::DiskSpace { .. })) {
        wrong.push(format!("{name}: with half of it, {refused:?}"));
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "{name}: something was left behind");
    std::fs::remove_dir_all(folder).unwrap();
    wrong
}

#[test]
fn space_is_counted_announced_and_refused_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let disk = directory.path().join("disk");
    let cases = cases(directory.path());
    let runs = cases.iter().flat_map(|case| LIMITS.iter().map(move |limits| (case, limits)));
    let runs = runs.filter(|(case, limits)| limits.memory_bytes > LITTLE_BYTES || IN_LITTLE.contains(&case.name));
    let wrong: Vec<String> = runs.flat_map(|(case, limits)| check(case, &disk, limits)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
