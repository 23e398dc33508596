//! The parsers over real data: documented counts, matrices, mangled files; and inputs that lie.
//!
//! Real data is read where it is present: the directory in `OUTCORE_DATA`, else `../shared/data` beside the repository.

use outcore_graph::import::{
    self, BatchWeights, Block, EdgeBatch, Facts, IdKind, Ids, InputOptions, Source, count_edges, formats, from_batches,
};
use outcore_image::{Error, Result};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_testkit::random_below;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Contents of an input, in input order.
struct Read {
    pairs: Vec<(u64, u64)>,
    weights: Vec<f64>,
    vertices: Vec<u64>,
    strings: usize,
    declared: Option<(u64, u64)>,
    facts: Facts,
    blocks: usize,
}

impl Read {
    fn distinct(&self) -> usize {
        self.pairs.iter().flat_map(|&(a, b)| [a, b]).collect::<BTreeSet<_>>().len()
    }

    fn loops(&self) -> usize {
        self.pairs.iter().filter(|(a, b)| a == b).count()
    }
}

fn empty_batch() -> EdgeBatch {
    EdgeBatch::new(false)
}

/// Reads a source with two workers, who take the blocks in a shuffled order.
fn open(paths: &[PathBuf], options: &InputOptions) -> Result<Source> {
    import::open(&Runtime::new(RuntimeOptions::default()).unwrap(), paths, options)
}

fn collect(mut source: Source) -> Result<Read> {
    let parser = source.parser();
    let mut blocks: Vec<Block> = Vec::new();
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            blocks.push(part?);
        }
    }
    let count = blocks.len();
    // A fixed shuffle: multiplication by a number that is coprime to every count below it.
    blocks.sort_by_key(|block| (block.sequence + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let queue = Mutex::new(blocks);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(block) = queue.lock().unwrap().pop() else {
                        return;
                    };
                    let mut batch = empty_batch();
                    let parsed = parser.parse(&block, &mut batch, &mut |_| Ok(()));
                    done.lock().unwrap().push((block.sequence, parsed.map(|()| batch)));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(sequence, _)| *sequence);
    let mut read = Read {
        pairs: Vec::new(),
        weights: Vec::new(),
        vertices: Vec::new(),
        strings: 0,
        declared: source.declared(),
        facts: source.facts().clone(),
        blocks: count,
    };
    for (place, (sequence, batch)) in done.into_iter().enumerate() {
        assert_eq!(sequence, place as u64, "sequence numbers have a gap");
        let batch = batch?;
        match batch.ids {
            Ids::Integer { values, .. } => read.pairs.extend(values.chunks(2).map(|pair| (pair[0], pair[1]))),
            Ids::Text { ends, .. } => read.strings += ends.len(),
        }
        match batch.weights {
            BatchWeights::None => {}
            BatchWeights::Integer(values) => read.weights.extend(values.iter().map(|&value| value as f64)),
            BatchWeights::Real(values) => read.weights.extend(values),
            BatchWeights::Complex(_) => panic!("graphs have no complex weights"),
        }
        if let Ids::Integer { values, .. } = batch.vertices {
            read.vertices.extend(values);
        }
    }
    if read.facts.weights.is_some() {
        assert_eq!(read.weights.len(), read.pairs.len() + read.strings / 2, "one weight per edge");
    } else {
        assert!(read.weights.is_empty());
    }
    Ok(read)
}

fn read_with(path: &Path, options: &InputOptions) -> Result<Read> {
    collect(open(&[path.to_owned()], options)?)
}

fn read(path: &Path) -> Read {
    read_with(path, &InputOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn format_named(name: &str) -> InputOptions {
    InputOptions { format: Some(name.to_owned()), ..InputOptions::default() }
}

fn failure(result: Result<Read>) -> String {
    match result {
        Ok(read) => panic!("accepted {} edges", read.pairs.len()),
        Err(error) => error.to_string(),
    }
}

/// The shared data, or nothing (and a message) if it is not here.
fn data(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("OUTCORE_DATA").map_or_else(beside, PathBuf::from);
    let path = root.join(part);
    if !path.exists() {
        println!("skipped: {} is not here; set OUTCORE_DATA", path.display());
        return None;
    }
    Some(path)
}

/// Options for a file: its columns by number where they have no names.
fn options_for(name: &str) -> InputOptions {
    let [source, target, weight] = ["1", "2", "3"].map(|number| Some(number.to_owned()));
    match name.contains("bitcoinotc") {
        true => InputOptions { source, target, weight, ..InputOptions::default() },
        false => InputOptions::default(),
    }
}

#[test]
fn shared_graphs_have_the_documented_counts() {
    let Some(graphs) = data("graphs") else { return };
    // File, vertices that edges name, edges, self-loops, vertices that the format declares.
    let documented = [
        ("wiki-Vote.txt.zst", 7115, 103_689, 0, None),
        ("facebook_combined.txt.gz", 4039, 88_234, 0, None),
        ("ca-CondMat.txt.zst", 23_133, 186_936, 58, None),
        ("email-Enron.txt.zst", 36_692, 367_662, 0, Some((0, 36_692))),
        ("p2p-Gnutella31.txt.zst", 62_586, 147_892, 0, None),
        ("cit-HepTh.txt.zst", 27_770, 352_807, 39, None),
        ("soc-Epinions1.txt.gz", 75_879, 508_837, 0, None),
        ("soc-Slashdot0902.txt.gz", 82_168, 948_464, 78_303, None),
        ("web-NotreDame.txt.gz", 325_729, 1_497_134, 27_455, None),
        ("cnr-2000.graph-txt.gz", 325_557, 3_216_152, 87_442, Some((0, 325_557))),
        ("cnr-2000.txt.zst", 325_557, 3_216_152, 87_442, None),
        ("blogcatalog.edgelist.zst", 10_312, 333_983, 0, None),
        ("as-caida20071105.txt.zst", 26_475, 53_381, 0, None),
        ("PGPgiantcompo.graph.zst", 10_680, 24_316, 0, Some((1, 10_680))),
        ("soc-sign-bitcoinotc.csv.zst", 5881, 35_592, 0, None),
        ("bremen_dist.gr.zst", 40_461, 86_475, 305, None),
        ("cal.cedge.zst", 21_048, 21_693, 0, None),
        ("luxembourg_osm.mtx.zst", 114_599, 119_666, 0, None),
    ];
    for (name, vertices, edges, loops, declared) in documented {
        let read = read_with(&graphs.join(name), &options_for(name)).unwrap_or_else(|error| panic!("{error}"));
        let found = (read.distinct(), read.pairs.len(), read.loops(), read.declared);
        assert_eq!(found, (vertices, edges, loops, declared), "{name}");
    }
}

#[test]
fn both_forms_of_cnr_2000_are_one_graph() {
    let Some(graphs) = data("graphs") else { return };
    let (list, lines) = (read(&graphs.join("cnr-2000.txt.zst")), read(&graphs.join("cnr-2000.graph-txt.gz")));
    assert!(list.pairs == lines.pairs, "the edge list and the ASCIIGraph differ");
}

#[test]
fn shared_weights_are_the_documented_ones() {
    let Some(graphs) = data("graphs") else { return };
    let range = |name: &str| {
        let read = read_with(&graphs.join(name), &options_for(name)).unwrap_or_else(|error| panic!("{error}"));
        let fold = |f: fn(f64, f64) -> f64| read.weights.iter().copied().reduce(f).expect("weights");
        (fold(f64::min), fold(f64::max), read.weights.iter().filter(|&&w| w < 0.0).count())
    };
    assert_eq!(range("soc-sign-bitcoinotc.csv.zst"), (-10.0, 10.0, 3563));
    assert_eq!(range("bremen_dist.gr.zst"), (0.0, 88_514.0, 0));
    let (low, high, negative) = range("cal.cedge.zst");
    assert!(low > 0.0 && low < 0.001 && high > 0.28 && high < 0.3 && negative == 0, "{low} to {high}");
}

#[test]
fn graphalytics_graphs_have_the_documented_counts() {
    let Some(graphs) = data("graphalytics") else {
        return;
    };
    let documented = [
        ("example-directed", 10, 17),
        ("example-undirected", 9, 12),
        ("test-bfs-directed", 10, 17),
        ("test-bfs-undirected", 10, 14),
        ("test-cdlp-directed", 8, 18),
        ("test-cdlp-undirected", 8, 13),
        ("test-lcc-directed", 10, 17),
        ("test-lcc-undirected", 9, 12),
        ("test-pr-directed", 50, 246),
        ("test-pr-undirected", 50, 113),
        ("test-sssp-directed", 10, 13),
        ("test-sssp-undirected", 12, 14),
        ("test-wcc-directed", 8, 10),
        ("test-wcc-undirected", 8, 7),
    ];
    for (name, vertices, edges) in documented {
        for ending in ["v", "e"] {
            let read = read(&graphs.join(format!("{name}.{ending}")));
            assert_eq!((read.vertices.len(), read.pairs.len()), (vertices, edges), "{name}");
            assert_eq!(read.facts.directed, Some(name.ends_with("-directed")), "{name}");
            let weighted = name.starts_with("example") || name.starts_with("test-sssp");
            assert_eq!(read.facts.weights.is_some(), weighted, "{name}");
        }
    }
}

#[test]
fn square_matrices_import_and_others_are_refused_by_name() {
    let Some(matrices) = data("matrices") else {
        return;
    };
    let refused = [
        ("complex.mtx", "complex"),
        ("empty.mtx", "rectangular matrix of 3 x 4"),
        ("fidapm05_rhs1.mtx", "rectangular matrix of 42 x 1"),
        ("lp_afiro.mtx", "rectangular matrix of 27 x 51"),
        ("lp_afiro_structure.mtx", "rectangular matrix of 27 x 51"),
    ];
    // Stored entries, as documented; a dense matrix without zeros has all of them.
    let counts = [
        ("karate.mtx", 34, 78),
        ("jagmesh7.mtx", 1138, 4294),
        ("pushpull.mtx.zst", 4000, 99_208),
        ("LFAT5.mtx", 14, 30),
        ("LFAT5_hypersparse.mtx", 2000, 30),
        ("bcsstk13.mtx.zst", 2003, 42_943),
        ("zenios.mtx.zst", 2873, 15_032),
        ("west0067.mtx", 67, 294),
        ("cryg2500.mtx.zst", 2500, 12_349),
        ("olm1000.mtx", 1000, 3996),
        ("memplus.mtx.zst", 17_758, 126_150),
        ("fidapm05.mtx", 42, 520),
        ("west0067_noheader.mtx", 67, 294),
        ("west0067_jumbled.mtx", 67, 294),
        ("full.mtx", 3, 9),
        ("full_noheader.mtx", 3, 9),
        ("full_symmetric.mtx", 4, 10),
        ("skew_fp64.mtx", 6, 20),
        ("skew_int32.mtx", 6, 20),
    ];
    let mut imported = 0;
    for entry in std::fs::read_dir(&matrices).expect("readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            continue;
        }
        if let Some((_, reason)) = refused.iter().find(|(refused, _)| *refused == name) {
            let error = failure(read_with(&path, &InputOptions::default()));
            assert!(error.contains(reason), "{error}");
            continue;
        }
        // A number that is not finite is no weight.
        let not_finite =
            matches!(name.as_str(), "comments_west0067.mtx" | "matrix_fp32.mtx" | "matrix_fp64.mtx" | "skew_fp64.mtx");
        let read = if not_finite {
            let error = failure(read_with(&path, &InputOptions::default()));
            assert!(error.contains("expected a weight that is a finite number (--weight none leaves"), "{error}");
            let none = InputOptions { weight: Some("none".into()), ..InputOptions::default() };
            read_with(&path, &none).unwrap()
        } else {
            read(&path)
        };
        imported += 1;
        if let Some(&(_, vertices, edges)) = counts.iter().find(|(counted, ..)| *counted == name) {
            assert_eq!((read.declared, read.pairs.len()), (Some((1, vertices)), edges), "{name}");
        }
        if let Some(edges) = read.facts.edges {
            assert_eq!(read.pairs.len() as u64, edges, "{name}");
        }
    }
    assert_eq!(imported, 39 - refused.len(), "the directory holds other files than documented");
}

#[test]
fn the_two_orders_of_west0067_are_one_matrix() {
    let Some(matrices) = data("matrices") else {
        return;
    };
    let sorted = |name: &str| {
        let read = read(&matrices.join(name));
        let mut entries: Vec<_> = read.pairs.into_iter().zip(read.weights.into_iter().map(f64::to_bits)).collect();
        entries.sort_unstable();
        entries
    };
    assert!(sorted("west0067.mtx") == sorted("west0067_jumbled.mtx"));
    assert!(sorted("west0067.mtx") == sorted("west0067_noheader.mtx"));
}

#[test]
fn a_u64_matrix_says_that_it_is_rounded() {
    let Some(matrices) = data("matrices") else {
        return;
    };
    let read = read(&matrices.join("matrix_uint64.mtx"));
    assert_eq!(read.weights[1], u64::MAX as f64);
    assert!(read.facts.notes[0].contains("rounded"), "{:?}", read.facts.notes);
}

#[test]
fn mangled_matrices_are_refused_with_the_reason() {
    let Some(mangled) = data("matrices/mangled") else {
        return;
    };
    let reasons = [
        ("mangled1.mtx", ":1: expected the object `matrix`"),
        ("mangled2.mtx", ":1: expected `coordinate` or `array`"),
        ("mangled3.mtx", ":1: expected the field"),
        ("mangled4.mtx", ":1: expected `general`"),
        ("mangled5.mtx", "`hermitian` is for complex"),
        ("mangled6.mtx", "`hermitian` is for complex"),
        ("mangled7.mtx", ":2: expected a GraphBLAS type"),
        ("mangled8.mtx", ":4: expected a line `rows columns entries`"),
        ("mangled9.mtx", ":4: expected a square matrix"),
        ("mangled10.mtx", ":4: expected a square matrix"),
        ("mangled11.mtx", ":4: expected a square matrix"),
        ("mangled12.mtx", ":4: expected a square matrix"),
        ("mangled13.mtx", ":4: expected a square matrix"),
        ("mangled14.mtx", ":5: expected a square matrix"),
        ("mangled15.mtx", ":2: expected the type of real or integer values"),
        ("mangled16.mtx", ":2: expected the type of real or integer values"),
        ("mangled_bool.mtx", ":10: expected a whole number from 0 to 1"),
        ("mangled_format.mtx", ":1: expected a combination that exists"),
        ("mangled_int8.mtx", ":8: expected a whole number from -128 to 127"),
        ("mangled_int16.mtx", ":8: expected a whole number from -32768 to 32767"),
        ("mangled_int32.mtx", ":8: expected a whole number from -2147483648"),
        ("mangled_skew.mtx", ":1: expected a signed type"),
        ("mangled_uint8.mtx", ":9: expected a whole number from 0 to 255"),
        ("mangled_uint16.mtx", ":9: expected a whole number from 0 to 65535"),
        ("mangled_uint32.mtx", ":9: expected a whole number from 0 to 4294967295"),
    ];
    let files = std::fs::read_dir(&mangled).expect("readable").count();
    assert_eq!(files, reasons.len(), "the directory holds other files than documented");
    for (name, reason) in reasons {
        let error = failure(read_with(&mangled.join(name), &InputOptions::default()));
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

/// The mangled matrices that are refused as rectangular hide a second fault; here they are square.
#[test]
fn mangled_matrices_are_refused_even_when_square() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    for (entries, reason) in [
        ("1 1\n2 2\n3 3\n", "a value"),
        ("1 1 3.0\n2 2 3.4\n", "3 entries"),
        ("1 zero pi\n2 2 2\n3 3 3\n", "a row and a column"),
        ("1 1\n2 2 forty-two\n3 3 seven\n", "a value"),
        ("1 1 3.0\n2 2 forty-two\n3 3 3\n", "a weight that is a finite number, found"),
        ("1 1 3.0\n2 2 3.4\n3 9999 3.4\n", "a row and a column from 1 to 3"),
    ] {
        let error =
            count_edges("matrix-market", format!("{banner}3 3 3\n{entries}").as_bytes(), &InputOptions::default());
        let error = error.expect_err(reason).to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Scratch(tempfile::tempdir().expect("a scratch directory"))
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }
}

#[test]
fn several_inputs_are_one_graph_in_their_order() {
    let scratch = Scratch::new();
    let long: String = (0..300_000).map(|i| format!("{i} {}\n", i + 1)).collect();
    let paths = [
        scratch.write("a.txt", "3 2\n0 1\n1 2\n"),
        scratch.write("b.txt.zst", zstd::encode_all(long.as_bytes(), 1).expect("compressed")),
        scratch.write("c.txt", ""),
        scratch.write("d.txt", "7 7"),
    ];
    let whole = collect(open(&paths, &InputOptions::default()).expect("opens")).expect("reads");
    let expected: Vec<_> =
        [(0, 1), (1, 2)].into_iter().chain((0..300_000).map(|i| (i, i + 1))).chain([(7, 7)]).collect();
    assert!(whole.pairs == expected, "the parts are not in order");
    assert_eq!(whole.declared, Some((0, 3)));
    assert!(whole.blocks > 5);
    let bad = scratch.write("e.txt", "1 2\n1 x\n");
    let integers = InputOptions { ids: IdKind::Integer, ..InputOptions::default() };
    let error = failure(open(&[paths[0].clone(), bad.clone()], &integers).and_then(collect));
    assert!(error.contains("e.txt:2: expected an integer id"), "{error}");
    let error = failure(open(&[paths[0].clone(), bad], &InputOptions::default()).and_then(collect));
    assert!(error.contains("--ids string"), "{error}");
    let weighted = scratch.write("w.txt", "1 2 3\n");
    let error = failure(open(&[paths[3].clone(), weighted], &InputOptions::default()).and_then(collect));
    assert!(error.contains("w.txt:1") && error.contains("--weight 3"), "{error}");
    let other = scratch.write("m.graph", "1 0\n\n");
    let error = failure(open(&[paths[0].clone(), other.clone()], &InputOptions::default()).and_then(collect));
    assert!(error.contains("edge-list"), "{error}");
    let more = scratch.write("n.graph", "1 0\n\n");
    let error = failure(open(&[other, more], &InputOptions::default()).and_then(collect));
    assert!(error.contains("expected one input of format metis"), "{error}");
}

#[test]
fn paths_that_are_no_input_files_are_refused() {
    let scratch = Scratch::new();
    let missing = failure(read_with(&scratch.0.path().join("missing.txt"), &InputOptions::default()));
    assert!(missing.contains("missing.txt"), "{missing}");
    let directory = failure(read_with(scratch.0.path(), &InputOptions::default()));
    assert!(directory.contains("a folder with files"), "{directory}");
    scratch.write("manifest.json", "");
    let image = failure(read_with(scratch.0.path(), &InputOptions::default()));
    assert!(image.contains("an Outcore image already"), "{image}");
    let unknown = failure(read_with(&scratch.write("a.txt", "1 2\n"), &format_named("gdf")));
    assert!(unknown.contains("no such format") && unknown.contains("matrix-market"), "{unknown}");
    assert!(matches!(open(&[], &InputOptions::default()), Err(Error::Usage(_))));
    for (name, expected) in
        [("a.mtx", "empty file"), ("a.graph", "empty file"), ("a.gz", "truncated"), ("a.parquet", "Parquet")]
    {
        let error = failure(read_with(&scratch.write(name, ""), &InputOptions::default()));
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert!(read(&scratch.write("empty.txt", "")).pairs.is_empty());
}

#[test]
fn compressed_inputs_that_stop_in_their_middle_are_refused() {
    let scratch = Scratch::new();
    let text: String = (0..500_000u32).map(|i| format!("{i} {}\n", i.wrapping_mul(2_654_435_761) >> 8)).collect();
    let zst = zstd::encode_all(text.as_bytes(), 1).expect("compressed");
    assert_eq!(read(&scratch.write("a.txt.zst", &zst)).pairs.len(), 500_000);
    let error = failure(read_with(&scratch.write("a.txt.zst", &zst[..zst.len() - 7]), &InputOptions::default()));
    assert!(error.contains("a.txt.zst: expected a complete zstd stream") && error.contains("truncated"), "{error}");
    let gz = |text: &str| {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("compressed");
        encoder.finish().expect("compressed")
    };
    let members = [gz(&text), gz("1 2\n")].concat();
    assert_eq!(read(&scratch.write("b", &members)).pairs.len(), 500_001);
    let error = failure(read_with(&scratch.write("b", &members[..members.len() - 1]), &InputOptions::default()));
    assert!(error.contains("b: expected a complete gzip stream") && error.contains("truncated"), "{error}");
}

mod tables;

#[test]
fn no_format_breaks_on_bytes_that_are_not_its_own() {
    let samples: [&[u8]; 12] = [
        b"",
        b"\n",
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"1 2\n3 4\n",
        b"\"\n\",\n,\"",
        b"PAR1\xff\xff\xff\xffPAR1",
        b"ARROW1\0\0\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"%%MatrixMarket matrix array real symmetric\n18446744073709551614 18446744073709551614\n1\n",
        b"18446744073709551615 18446744073709551615 111 18446744073709551615\n1\n",
        b"\x1f\x8b\x08\x00",
        b"\x28\xb5\x2f\xfd\xff\xff\xff\xff",
    ];
    for (format, _) in formats() {
        for sample in samples {
            if let Ok(edges) = count_edges(format, sample, &InputOptions::default()) {
                assert!(edges as usize <= sample.len(), "{format} makes {edges} edges of {sample:?}");
            }
        }
    }
}

/// A small input of every format, or several; tables are in `parsers/tables.rs`.
const SAMPLES: &[(&str, &[u8])] = &[
    ("edge-list", b"# c\n4 3\n0 1\n1 2\r\n2 3\n"),
    ("edge-list", b"source,target,weight\n\"a\"\"b\",c,1.5\nd,\"e\",-1e3\n"),
    ("wel", b"1 2 0.5\n-3 7 1e300\n"),
    ("cedge", b"0 1 2 0.5\n1 2 3 0.25\n"),
    ("dimacs", b"c x\np sp 3 2\na 1 2 5\na 2 3 6\n"),
    ("dimacs", b"p edge 3 2\ne 1 2\ne 2 3\n"),
    (
        "matrix-market",
        b"%%MatrixMarket matrix coordinate integer skew-symmetric\n%%GraphBLAS type int8_t\n3 3 2\n2 1 7\n3 2 -128\n",
    ),
    ("matrix-market", b"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
    ("matrix-market", b"3 3 2\n1 2 0.5\n3 1 7\n"),
    ("metis", b"%c\n3 2 111 2\n1 1 1 2 5\n%c\n1 1 1 1 5 3 6\n1 1 1 2 6\n"),
    ("ascii-graph", b"4\n1 2\n\n0 3\n1\n"),
    ("graphalytics", b"1 2 0.5\n2 3 0.25\n"),
    ("graph500", b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"),
    ("graph500-packed", b"\x01\0\0\0\x02\0\0\0\x01\0\x02\0"),
    ("binary64", b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"),
    ("binary32", b"\x01\0\0\0\x02\0\0\0\x02\0\0\0\x03\0\0\0"),
    (
        "sg",
        b"\x01\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\
        \0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (
        "wsg",
        b"\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\
        \x05\0\0\0",
    ),
    ("adjacency", b"a b c\nb c d\n"),
    (
        "tntp",
        b"<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 2\n<END OF METADATA>\n~ init_node term_node capacity ;\n\
        1 2 0.5 ;\n2 3 1e3 ;\n",
    ),
    ("el", b"1 2\n2 3\n"),
    ("jsonl", b"{\"source\": 1, \"target\": 2, \"weight\": 0.5}\n{\"source\": 2, \"target\": 3, \"weight\": 7}\n"),
    (
        "graphml",
        b"<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/>\
        <graph edgedefault='directed'><node id='a'/><edge source='a' target='b'><data key='w'>0.5</data></edge>\
        </graph></graphml>",
    ),
    (
        "gexf",
        b"<gexf><graph defaultedgetype='directed'><nodes><node id='0'/><node id='1'/></nodes>\
        <edges><edge id='0' source='0' target='1' weight='2.5'/></edges></graph></gexf>",
    ),
    ("gml", b"graph [\n  directed 1\n  node [ id 3 label \"three\" ]\n  node [ id 5 ]\n  edge [ source 3 target 5 weight 0.5 ]\n]\n"),
    ("pajek", b"*Vertices 3\n1 \"a\"\n2 \"b\"\n3 \"c\"\n*Arcs\n1 2 0.5\n*Arcslist\n2 3\n"),
    ("dot", b"digraph { edge [weight=2]; a -> {b \"c d\"} -> e:n; subgraph x { f } }"),
    ("sif", b"a pp b c\n\nd\nb pd a\n"),
];

/// [`SAMPLES`], changed at random places with a fixed seed: errors, never panics.
#[test]
fn no_format_breaks_on_changed_inputs() {
    for (format, _) in formats().iter().filter(|(format, _)| !["parquet", "arrow"].contains(format)) {
        assert!(SAMPLES.iter().any(|(sampled, _)| sampled == format), "there is no sample of {format}");
    }
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| random_below(&mut state, below as u64) as usize;
    let pieces: [&[u8]; 14] = [
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b",",
        b"\"",
        b"%",
        b"#",
        b"-",
        b"18446744073709551615",
        b"nan",
        b"\xff",
        b"\0",
        b"0",
    ];
    let mut refused = 0;
    for &(format, sample) in SAMPLES {
        assert!(
            count_edges(format, sample, &InputOptions::default()).is_ok(),
            "{format}: {}",
            String::from_utf8_lossy(sample)
        );
        for _ in 0..3000 {
            let mut changed = sample.to_vec();
            for _ in 0..=random(3) {
                let start = random(changed.len().max(1)).min(changed.len());
                let end = (start + random(6)).min(changed.len());
                changed.splice(start..end, pieces[random(pieces.len())].iter().copied());
            }
            match count_edges(format, &changed, &InputOptions::default()) {
                Ok(edges) => assert!(edges as usize <= changed.len(), "{format}: {edges} edges of {changed:?}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(3 * refused > 1000 * SAMPLES.len(), "only {refused} of 3000 changed inputs of each sample were refused");
}
