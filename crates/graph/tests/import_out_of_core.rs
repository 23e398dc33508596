//! Imports in little memory, on any number of workers, with the same result bit for bit, and within the limit.

mod given;

use given::{Given, Id, entries, files, open};
use outcore_format::{Manifest, Order};
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, Shape, source, write};
use outcore_graph::import::{
    self, Attributes, Duplicates, IdKind, ImportOptions, ImportReport, InputOptions, OrderChoice, import,
    with_vertex_table,
};
use outcore_io::{Progress, Runtime, RuntimeOptions, Unit, peak_memory_bytes};
use outcore_testkit::random;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A runtime whose budget has so much to give, however much this process holds already.
fn runtime(threads: usize, budget_mib: u64) -> Runtime {
    let options = RuntimeOptions {
        threads: Some(threads),
        memory_bytes: Some((8 + budget_mib) << 20),
        // Other tests of this process take and give back memory at any time.
        beside_process: true,
        ..RuntimeOptions::default()
    };
    Runtime::new(options).unwrap()
}

/// Less than a limit of 32 MiB leaves for an import.
const TINY_MIB: u64 = 12;

fn import_given(threads: usize, budget_mib: u64, given: &Given, options: &ImportOptions, path: &Path) -> ImportReport {
    import(&runtime(threads, budget_mib), given.source(), path, options).unwrap()
}

/// Many vertices under ids that no direct dictionary takes.
fn sparse(edges: u64, vertices: u64, strings: bool, weighted: bool) -> Given {
    let mut state = 77;
    let mut end = |spread: u64| {
        let number = random(&mut state) % vertices / (1 + random(&mut state) % spread);
        if strings {
            Id::Text(format!("vertex-{:x}", number.wrapping_mul(0x9e37_79b9)))
        } else {
            Id::Integer(i128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        }
    };
    let edges: Vec<(Id, Id)> = (0..edges).map(|_| (end(50), end(3))).collect();
    let weights = weighted.then(|| (0..edges.len()).map(|i| (i % 1000) as f64 / 8.0).collect());
    Given { weights, edges, strings, block_edges: 10_000, ..Given::default() }
}

#[test]
fn images_do_not_depend_on_workers_or_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let graphs = [sparse(150_000, 150_000, false, false), sparse(80_000, 80_000, true, true)];
    for given in &graphs {
        for (directed, order) in [
            (true, OrderChoice::Auto),
            (false, OrderChoice::Input),
            (false, OrderChoice::Degree),
            (true, OrderChoice::Near),
        ] {
            let options = ImportOptions { directed: Some(directed), order, replace: true, ..ImportOptions::default() };
            let report = import_given(1, 400, given, &options, &path);
            assert_eq!(report.stats.chunks, 1);
            let expected = files(&path);
            for (threads, budget_mib) in [(2, 400), (3, 400), (8, 400), (1, TINY_MIB), (2, 30)] {
                let report = import_given(threads, budget_mib, given, &options, &path);
                if budget_mib == TINY_MIB {
                    assert!(report.stats.chunks > 1, "{} chunks", report.stats.chunks);
                }
                let found = files(&path);
                assert!(expected.keys().eq(found.keys()));
                for (name, bytes) in &expected {
                    assert!(*bytes == found[name], "{name:?} differs, {threads} threads, {budget_mib} MiB");
                }
            }
        }
    }
}

#[test]
fn a_hub_that_does_not_fit_is_sorted_in_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let star = GenerateOptions {
        shape: Shape::Star,
        scale: 20,
        weights: Some(GeneratedWeights::Uniform),
        ..GenerateOptions::default()
    };
    let options = ImportOptions { directed: Some(false), replace: true, ..ImportOptions::default() };
    let report = import(&runtime(1, TINY_MIB), source(&star).unwrap(), &path, &options).unwrap();
    let entries_bytes = 2 * 24 * report.manifest.edges;
    assert!(report.stats.temporary_bytes > entries_bytes + 24 * report.manifest.edges, "{:?}", report.stats);
    let image = open(&path);
    let leaves = 1u32 << 20;
    assert_eq!(image.manifest.out_lists.max_degree, u64::from(leaves) - 1);
    assert_eq!(image.out[0], (1..leaves).collect::<Vec<_>>());
    assert!(image.out[1..].iter().all(|list| *list == [0]));
    let weights = image.out_weights.unwrap();
    assert!(weights[..leaves as usize - 1] == weights[leaves as usize - 1..]);
    assert!(weights.iter().all(|weight| (1.0..=255.0).contains(weight)));
}

#[test]
fn duplicates_are_combined_across_chunks_runs_and_workers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let mut given = sparse(200_000, 190_000, false, true);
    given.edges.extend_from_within(..100_000);
    given.weights.as_mut().unwrap().extend((0..100_000).map(|i| -f64::from(i)));
    for duplicates in [Duplicates::First, Duplicates::Sum, Duplicates::Min, Duplicates::Keep] {
        let options = ImportOptions { duplicates, replace: true, ..ImportOptions::default() };
        import_given(2, 400, &given, &options, &path);
        let expected = entries(&open(&path), false);
        import_given(1, TINY_MIB, &given, &options, &path);
        let image = open(&path);
        assert!(entries(&image, false) == expected);
        let weights = &expected[&given.edges[70_000]];
        match duplicates {
            Duplicates::First => assert!(weights[0] >= 0.0),
            Duplicates::Min => assert!(weights[0] <= -70_000.0),
            Duplicates::Sum => assert!(weights[0] < -69_000.0),
            _ => assert!(weights.len() >= 2 && weights[0] >= 0.0),
        }
    }
}

#[test]
fn the_order_near_needs_memory_for_its_vertices() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    // More vertices than there is memory for, and no hubs.
    let path_graph = GenerateOptions { shape: Shape::Path, scale: 20, ..GenerateOptions::default() };
    let near = ImportOptions { order: OrderChoice::Near, replace: true, ..ImportOptions::default() };
    let error = import(&runtime(1, TINY_MIB), source(&path_graph).unwrap(), &path, &near).unwrap_err().to_string();
    assert!(error.contains("the order near needs") && error.contains("raise the limit"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let auto = ImportOptions { order: OrderChoice::Auto, ..near.clone() };
    import(&runtime(1, TINY_MIB), source(&path_graph).unwrap(), &path, &auto).unwrap();
    let report = import(&runtime(1, 40), source(&path_graph).unwrap(), &path, &near).unwrap();
    assert_eq!(report.manifest.order, Order::Near);
}

#[test]
fn too_little_memory_is_refused_with_the_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let given = sparse(10, 10, false, false);
    let error =
        import(&runtime(1, 3), given.source(), &path, &ImportOptions { replace: true, ..ImportOptions::default() })
            .unwrap_err()
            .to_string();
    assert!(error.contains("an import needs") && error.contains("raise the limit"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Counts the steps that were announced.
#[derive(Default)]
struct Steps(AtomicU64);

impl Progress for Steps {
    fn start(&self, _: &str, _: Unit, _: Option<u64>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, _: u64) {}

    fn finish(&self) {}
}

#[test]
fn a_tight_limit_is_enough_or_refused_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    // A hub that fills the memory for sorting, and weights, so that two indexes are written at a time.
    let star = GenerateOptions {
        shape: Shape::Star,
        scale: 17,
        weights: Some(GeneratedWeights::Uniform),
        ..GenerateOptions::default()
    };
    let (mut enough, mut refused) = (0, 0);
    for below_kib in (0u64..7 << 10).step_by(256) {
        let steps = Arc::new(Steps::default());
        let options = RuntimeOptions {
            threads: Some(2),
            // Beside whatever other tests hold by now.
            memory_bytes: Some((21 << 20) - (below_kib << 10)),
            beside_process: true,
            progress: Some(steps.clone()),
            ..RuntimeOptions::default()
        };
        let runtime = Runtime::new(options).unwrap();
        match import(
            &runtime,
            source(&star).unwrap(),
            &path,
            &ImportOptions { replace: true, ..ImportOptions::default() },
        ) {
            Ok(report) => {
                assert_eq!((report.manifest.edges, refused), ((1 << 17) - 1, 0), "{below_kib} KiB below");
                enough += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("an import needs") && text.contains("raise the limit"), "{text}");
                assert_eq!(steps.0.load(Ordering::Relaxed), 0, "refused late, {below_kib} KiB below: {text}");
                refused += 1;
            }
        }
    }
    assert!(enough > 10 && refused > 3, "{enough} limits were enough, {refused} were not");
}

/// Text of so many edges fills a window of 8 MiB.
const WINDOW_EDGES: u64 = 700_000;

/// Edges as text in one frame with a window of two to that power.
fn write_zstd(path: &Path, edges: u64, window_log: u32) {
    let mut encoder = zstd::Encoder::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    encoder.window_log(window_log).unwrap();
    let mut state = edges;
    for _ in 0..edges {
        writeln!(encoder, "{} {}", random(&mut state) % 1_000_000, random(&mut state) % 1_000_000).unwrap();
    }
    encoder.finish().unwrap();
}

#[test]
fn windows_of_several_inputs_are_counted_at_the_beginning_and_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let inputs: Vec<PathBuf> = (0..4).map(|input| directory.path().join(format!("{input}.txt.zst"))).collect();
    // The largest is not the first, and has ids of vertices beside it, whose window is open at the same time.
    for (input, window_log) in inputs.iter().zip([20, 24, 10, 24]) {
        write_zstd(input, 50_000, window_log);
    }
    let beside = directory.path().join("1.txt.zst.vertices.zst");
    std::fs::write(&beside, zstd::encode_all(&b"2000000\n"[..], 1).unwrap()).unwrap();
    for (budget_mib, refusal) in [(14, Some("decompressing")), (24, Some("an import needs")), (34, None)] {
        let runtime = runtime(2, budget_mib);
        let source = import::open(&runtime, &inputs, &InputOptions::default());
        match source.and_then(|source| {
            import(&runtime, source, &path, &ImportOptions { replace: true, ..ImportOptions::default() })
        }) {
            Ok(report) => {
                let facts = report.manifest.import;
                assert_eq!((refusal, facts.edges_read, facts.isolated_vertices), (None, 200_000, 1));
            }
            Err(error) => {
                let text = error.to_string();
                assert!(refusal.is_some_and(|part| text.contains(part)) && text.contains("raise the limit"), "{text}");
            }
        }
        assert_eq!(path.exists(), refusal.is_none());
    }
}

/// Not a test of its own: the process whose memory the next test looks at.
#[test]
#[ignore = "is run by the next test, in a process of its own"]
fn child() {
    let Ok(limit_mib) = std::env::var("OUTCORE_TEST_LIMIT_MIB") else { return };
    let limit = limit_mib.parse::<u64>().unwrap() << 20;
    let directory = tempfile::tempdir().unwrap();
    let options = RuntimeOptions { threads: Some(2), memory_bytes: Some(limit), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    for weights in [None, Some(GeneratedWeights::Uniform)] {
        let graph = GenerateOptions { scale: 18, edge_factor: 12, weights, ..GenerateOptions::default() };
        let path = directory.path().join("graph.oc");
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        let report = import(&runtime, source(&graph).unwrap(), &path, &options).unwrap();
        assert_eq!(report.manifest.import.edges_read, 12 << 18);
        assert_eq!(report.manifest.vertices, 1 << 18);
    }
    let text = directory.path().join("graph.txt.gz");
    let graph = GenerateOptions { scale: 17, edge_factor: 8, ..GenerateOptions::default() };
    write(&runtime, &graph, &ImportOptions::default(), &text).unwrap();
    for ids in [IdKind::Integer, IdKind::String] {
        let input = InputOptions { ids, ..InputOptions::default() };
        let path = directory.path().join("text.oc");
        let source = import::open(&runtime, std::slice::from_ref(&text), &input).unwrap();
        let report =
            import(&runtime, source, &path, &ImportOptions { replace: true, ..ImportOptions::default() }).unwrap();
        assert_eq!(report.manifest.import.edges_read, 8 << 17);
    }
    let rows = directory.path().join("rows.csv");
    write_attributes(&rows, "source,target", 60_000, true);
    let input = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let source = import::open(&runtime, &[rows], &input).unwrap();
    let report = import(&runtime, source, &directory.path().join("rows.oc"), &ImportOptions::default()).unwrap();
    assert_eq!((report.manifest.import.edges_read, report.manifest.attributes.len()), (60_000, 7));
    let text = std::env::var_os("OUTCORE_TEST_TEXT").map(PathBuf::from).unwrap();
    let source = import::open(&runtime, &[text], &InputOptions::default()).unwrap();
    let report = import(
        &runtime,
        source,
        &directory.path().join("window.oc"),
        &ImportOptions { replace: true, ..ImportOptions::default() },
    )
    .unwrap();
    assert_eq!(report.manifest.import.edges_read, WINDOW_EDGES);
    println!("peak {}", peak_memory_bytes());
}

#[test]
fn the_real_peak_stays_under_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("window.txt.zst");
    write_zstd(&text, WINDOW_EDGES, 23);
    for limit_mib in [32u64, 64, 256] {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
            .env("OUTCORE_TEST_LIMIT_MIB", limit_mib.to_string())
            .env("OUTCORE_TEST_TEXT", &text)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&child.stdout).into_owned();
        assert!(child.status.success(), "{text}{}", String::from_utf8_lossy(&child.stderr));
        let peak = text.lines().find_map(|line| line.split("peak ").nth(1)).unwrap();
        let peak: u64 = peak.trim().parse().unwrap();
        println!("limit {limit_mib} MiB, peak {} MiB", peak >> 20);
        assert!(peak <= limit_mib << 20, "limit {limit_mib} MiB, peak {peak} bytes");
    }
}

/// Rows of all kinds of attributes: most strings differ, some repeat, are missing or long.
fn write_attributes(path: &Path, columns: &str, rows: u64, is_of_edges: bool) {
    let mut state = 5;
    let mut text = format!("{columns},amount,at,day,note,kind,open,count\n");
    for row in 0..rows {
        let draw = random(&mut state);
        let ends = if is_of_edges { format!("{},{}", draw % 5000, draw / 5000 % 5000) } else { row.to_string() };
        let note = match draw % 50 {
            0 => String::new(),
            1 => "again".to_owned(),
            2 if row < 200 => "long ".repeat(40_000),
            _ => format!("note {draw:x} of row {row}"),
        };
        let (day, open) = (1 + draw % 28, draw.is_multiple_of(2));
        let at = if draw.is_multiple_of(30) {
            String::new()
        } else {
            format!("2026-10-{day:02}T12:34:{day:02}.{:03}Z", row % 1000)
        };
        let (kind, amount) = (["road", "rail", "", "air"][draw as usize % 4], draw as f64 / 1e6);
        text += &format!("{ends},{amount},{at},2026-02-{day:02},{note},{kind},{open},{}\n", draw % 1000);
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn attributes_are_the_same_where_their_strings_are_more_than_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["edges.csv", "vertices.csv", "graph.oc"].map(|name| directory.path().join(name));
    let [edges, vertices, path] = &names;
    write_attributes(edges, "source,target", 40_000, true);
    write_attributes(vertices, "id", 20_000, false);
    let import_under = |threads, budget_mib, options: &ImportOptions| {
        let runtime = runtime(threads, budget_mib);
        let input = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let source = import::open(&runtime, std::slice::from_ref(edges), &input).unwrap();
        let source = with_vertex_table(&runtime, source, vertices, &input).unwrap();
        let manifest = import(&runtime, source, path, options).unwrap().manifest;
        (manifest, files(path))
    };
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    let (manifest, expected) = import_under(3, 400, &options);
    for attributes in [&manifest.attributes, &manifest.vertex_attributes] {
        let kinds: Vec<&str> = attributes.iter().map(|attribute| attribute.kind.name()).collect();
        assert_eq!(kinds, ["real", "timestamp", "date", "string", "string", "boolean", "integer"]);
        let [notes, kinds] = [3, 4].map(|place| attributes[place].strings.as_ref().unwrap());
        assert!(notes.text_bytes > 1 << 19 && kinds.count == 3, "{notes:?}, {kinds:?}");
    }
    // The dictionaries of a worker have about a megabyte for text.
    for (threads, budget_mib) in [(1, 19), (2, 50)] {
        let (_, found) = import_under(threads, budget_mib, &options);
        assert!(expected.keys().eq(found.keys()));
        for (name, bytes) in &expected {
            assert!(*bytes == found[name], "{name:?} differs, {threads} threads, {budget_mib} MiB");
        }
    }
    // Edges that go back have the attributes of those that they are made of.
    let mirrored = ImportOptions { directed: Some(false), duplicates: Duplicates::Keep, ..options };
    let (_, expected) = import_under(2, 400, &mirrored);
    assert!(expected == import_under(1, 19, &mirrored).1);
}

/// Not a test of its own: imports one file under a limit, and says what came of it.
#[test]
#[ignore = "is run by the next tests, in a process of its own"]
fn import_in_a_child() {
    let Ok(limit_mib) = std::env::var("OUTCORE_TEST_LIMIT_MIB") else { return };
    let limit = limit_mib.parse::<u64>().unwrap() << 20;
    let input = std::env::var_os("OUTCORE_TEST_INPUT").map(PathBuf::from).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let options = RuntimeOptions { threads: Some(2), memory_bytes: Some(limit), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    let outcome = import::open(&runtime, &[input], &InputOptions::default())
        .and_then(|source| import(&runtime, source, &directory.path().join("graph.oc"), &ImportOptions::default()));
    match outcome {
        Ok(report) => {
            let Manifest { edges, vertices, out_lists, .. } = report.manifest;
            println!("outcome {vertices} vertices, {edges} edges, {} at most", out_lists.max_degree);
        }
        Err(error) => println!("outcome {error}"),
    }
    println!("peak {}", peak_memory_bytes());
}

/// Outcome of an import in a process of its own, whose memory stays under the limit.
fn outcome_under(limit_mib: u64, input: &Path) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "import_in_a_child", "--ignored", "--nocapture", "--test-threads=1"])
        .env("OUTCORE_TEST_LIMIT_MIB", limit_mib.to_string())
        .env("OUTCORE_TEST_INPUT", input)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{text}{}", String::from_utf8_lossy(&child.stderr));
    let value_of =
        |what: &str| text.lines().find_map(|line| line.split_once(what)).unwrap_or_else(|| panic!("{text}")).1;
    let peak: u64 = value_of("peak ").trim().parse().unwrap();
    assert!(peak <= limit_mib << 20, "limit {limit_mib} MiB, peak {} MiB: {}", peak >> 20, value_of("outcome "));
    value_of("outcome ").to_owned()
}

#[test]
fn the_longest_line_follows_from_the_memory_limit() {
    let directory = tempfile::tempdir().unwrap();
    // A kilobyte of zstd that is one line.
    let endless = directory.path().join("endless.txt.zst");
    std::fs::write(&endless, zstd::encode_all(std::io::repeat(b'7').take(200 << 20), 1).unwrap()).unwrap();
    // A line of two MiB, most of it in a column that is not read.
    let long = directory.path().join("long.csv");
    std::fs::write(&long, format!("source,target,note\n1,2,\n2,3,{}\n3,4,\n", "x".repeat(2 << 20))).unwrap();
    for (input, line) in [(&endless, 1), (&long, 3)] {
        let expected = format!(":{line}: expected a line of at most 1 MiB, as the memory limit of 32 MiB allows");
        let found = outcome_under(32, input);
        assert!(found.contains(&expected) && found.contains("raise the limit"), "{found}");
    }
    assert_eq!(outcome_under(256, &long), "4 vertices, 3 edges, 1 at most");
    let found = outcome_under(256, &endless);
    assert!(found.contains("as the memory limit of 256 MiB allows"), "{found}");
}

#[test]
fn a_line_of_an_adjacency_list_is_parsed_in_parts() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hub.adj");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    write!(file, "1 0\n0").unwrap();
    for neighbour in 1..=HUB_NEIGHBOURS {
        write!(file, " {neighbour}").unwrap();
    }
    writeln!(file, "\n2 0").unwrap();
    file.into_inner().unwrap();
    let expected = format!("{} vertices, {} edges, {HUB_NEIGHBOURS} at most", HUB_NEIGHBOURS + 1, HUB_NEIGHBOURS + 2);
    assert_eq!(outcome_under(64, &path), expected);
}

/// Their line is 44 MB long, and their edges take 80 MB.
const HUB_NEIGHBOURS: u64 = 5_000_000;
