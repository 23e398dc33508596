//! Text files as people have them: read as they mean it, or refused with the option that decides.

use crate::given;

use given::{Id, open};
use outcore_format::ValueType;
use outcore_graph::import::{IdKind, ImportOptions, ImportReport, InputOptions, formats, import};
use outcore_image::{Error, Result};
use outcore_io::{Runtime, RuntimeOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The report of an import, and the edges of its image.
struct Made {
    report: ImportReport,
    /// Source and target of all entries of the out-lists, as text.
    edges: Vec<String>,
}

fn runtime() -> Runtime {
    Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap()
}

fn made_of(paths: &[PathBuf], input: &InputOptions, options: &ImportOptions, image: &Path) -> Result<Made> {
    let runtime = runtime();
    let source = outcore_graph::import::open(&runtime, paths, input)?;
    let report = import(&runtime, source, image, options)?;
    let read = open(image);
    let id = |vertex: usize| match &read.ids[vertex] {
        Id::Integer(id) => id.to_string(),
        Id::Text(id) => id.clone(),
    };
    let list = |(vertex, list): (usize, &Vec<u32>)| -> Vec<String> {
        list.iter().map(|&neighbour| format!("{} {}", id(vertex), id(neighbour as usize))).collect()
    };
    let mut edges: Vec<String> = read.out.iter().enumerate().flat_map(list).collect();
    edges.sort();
    Ok(Made { report, edges })
}

/// Imports a file of that name and content.
fn imported(name: &str, text: impl AsRef<[u8]>, input: &InputOptions, options: &ImportOptions) -> Result<Made> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    made_of(&[path], input, options, &directory.path().join("graph.oc"))
}

fn edges(name: &str, text: &str, input: &InputOptions) -> Vec<String> {
    let made = imported(name, text, input, &ImportOptions::default());
    made.unwrap_or_else(|error| panic!("{name}: {text:?}: {error}")).edges
}

fn failure(name: &str, text: impl AsRef<[u8]>, input: &InputOptions) -> String {
    let bytes = text.as_ref();
    match imported(name, bytes, input, &ImportOptions::default()) {
        Ok(made) => panic!("{name}: {:?} was imported as {:?}", String::from_utf8_lossy(bytes), made.edges),
        Err(error) => error.to_string(),
    }
}

fn options() -> InputOptions {
    InputOptions::default()
}

fn ends(source: &str, target: &str) -> InputOptions {
    InputOptions { source: Some(source.into()), target: Some(target.into()), ..options() }
}

fn weight(name: &str) -> InputOptions {
    InputOptions { weight: Some(name.into()), ..options() }
}

fn header(with_header: bool) -> InputOptions {
    InputOptions { header: Some(with_header), ..options() }
}

#[test]
fn columns_are_chosen_by_known_names_or_options_and_never_guessed() {
    for (text, input, expected) in [
        ("edge_id,source_id,target_id\n7,1,2\n8,2,3\n", options(), ["1 2", "2 3"]),
        ("to,from,weight\n2,1,9\n3,2,9\n", options(), ["1 2", "2 3"]),
        ("node1,node2\nx,y\ny,z\n", options(), ["x y", "y z"]),
        ("edge_id,a,b\n7,1,2\n8,2,3\n", ends("a", "b"), ["1 2", "2 3"]),
        ("7,1,2\n8,2,3\n", ends("2", "3"), ["1 2", "2 3"]),
        ("1,2,5\n2,3,6\n", weight("3"), ["1 2", "2 3"]),
        ("a,b,score\n1,2,5\n2,3,6\n", weight("score"), ["1 2", "2 3"]),
        ("a,b\n1,2\n2,3\n", options(), ["1 2", "2 3"]),
    ] {
        assert_eq!(edges("graph.csv", text, &input), expected, "{text}");
    }
    for (text, input, expected) in [
        ("edge_id,a,b\n7,1,2\n8,2,3\n", options(), "--source and --target"),
        ("1,2,1082040961\n2,3,1082155839\n", options(), "--weight 3"),
        ("1 2 3 4\n2 3 4 5\n", options(), "--source 1 --target 2"),
        ("1\n2\n", options(), "1 columns without names"),
        (
            "a,b,c\n1,2,5\n",
            weight("amount"),
            "graph.txt: expected a column `amount`, as --weight says, found no such column; the columns are a, b, c",
        ),
        ("a,b,c\n1,2,5\n", ends("a", "x"), "a column `x`, as --target says"),
    ] {
        let error = failure("graph.txt", text, &input);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let made = imported("t.txt", "1 2 77\n2 3 78\n", &ends("1", "2"), &ImportOptions::default()).unwrap();
    assert_eq!(made.report.manifest.values, []);
    assert!(made.report.notes.iter().any(|note| note.contains("--weight 3")), "{:?}", made.report.notes);
    let facts = made.report.manifest.import;
    assert_eq!((facts.source.as_deref(), facts.target.as_deref()), (Some("column 1"), Some("column 2")));
}

#[test]
fn the_first_line_is_a_header_if_it_cannot_be_a_row() {
    let strings = "anna ben\nben carl\n";
    let string = "protein1 protein2 combined_score\np1 p2 900\np2 p3 150\n";
    assert_eq!(edges("p.txt", string, &InputOptions { weight: Some("combined_score".into()), ..options() }).len(), 2);
    assert_eq!(edges("p.txt", string, &options()), ["p1 p2", "p2 p3"]);
    let scores = imported("p.txt", string, &options(), &ImportOptions::default()).unwrap().report.notes;
    assert!(scores.iter().any(|note| note.contains("combined_score")), "what was not read is named: {scores:?}");
    // Two pairs contradict each other, and a name of a pair says nothing alone.
    for names in ["payer payee origin destination", "payer id name destination"] {
        let error = failure("p.txt", format!("{names}\n1 2 3 4\n2 3 4 5\n"), &options());
        assert!(error.contains("--source and --target"), "{error}");
    }
    let ratings = imported("r.csv", "user,item,rating\n1,1,5\n2,1,4\n", &options(), &ImportOptions::default()).unwrap();
    assert_eq!(ratings.edges, ["1 1", "2 1"]);
    let notes = ratings.report.notes;
    assert!(notes.iter().any(|note| note.contains("Equal numbers in `user` and `item` are one vertex")), "{notes:?}");
    // As a matrix, where another option keeps them apart; the columns of the first entries are counted as those of the
    // file are.
    let matrix = InputOptions { is_matrix: true, ..options() };
    let notes = imported("r.csv", "user,item,rating\n1,1,5\n2,1,4\n", &matrix, &ImportOptions::default()).unwrap();
    assert!(notes.report.notes.iter().any(|note| note.ends_with("say --bipartite.")), "{:?}", notes.report.notes);
    let text = "%%MatrixMarket matrix coordinate real general\n2 5 2\n2 3 3.5\n1 5 5\n";
    let entries = imported("m.mtx", text, &matrix, &ImportOptions::default()).unwrap().report.first_edges;
    let places: Vec<_> = entries.iter().map(|entry| (&*entry.source, &*entry.target)).collect();
    assert_eq!(places, [("2", "3"), ("1", "5")]);
    let made = imported("s.txt", strings, &options(), &ImportOptions::default()).unwrap();
    assert_eq!(made.edges, ["anna ben", "ben carl"]);
    assert!(made.report.notes[0].contains("`anna ben`, was read as an edge"), "{:?}", made.report.notes);
    assert_eq!(edges("s.txt", strings, &header(true)), ["ben carl"]);
    assert_eq!(edges("s.txt", "source target\na b\n", &options()), ["a b"]);
    assert_eq!(edges("s.txt", "source target\na b\n", &header(false)), ["a b", "source target"]);
    assert!(
        failure("r.txt", "\"V1\" \"V2\"\n\"1\" \"a\" \"b\"\n\"2\" \"b\" \"c\"\n", &options()).contains("row.names")
    );
}

#[test]
fn missing_and_endless_weights_are_refused_in_every_row() {
    for (text, row) in [
        ("1,2,NA\n3,4,5\n", 1),
        ("1,2,5\n3,4,NA\n", 2),
        ("1,2,\n3,4,5\n", 1),
        ("1,2,5\n3,4,\n", 2),
        ("1,2,5\n3,4,1e999\n", 2),
        ("1,2,5\n3,4,inf\n", 2),
        ("1,2,-Infinity\n3,4,5\n", 1),
        ("1;2;1,5\n3;4;2,5\n", 1),
    ] {
        let error = failure("w.csv", text, &weight("3"));
        assert!(
            error.contains(&format!("w.csv:{row}: expected a finite number as weight in column 3")),
            "{text}: {error}"
        );
    }
    let options = ImportOptions { duplicates: outcore_graph::import::Duplicates::Sum, ..ImportOptions::default() };
    // The rows are gone when duplicates are combined, so the edge is named, by the ids of the user.
    for (edge, ids) in [("1,2", "1 and 2"), ("-7,2", "-7 and 2"), ("anna,ben li", "`anna` and `ben li`")] {
        for weights in [["1e308", "1.5e308"], ["-1e308", "-1.5e308"]] {
            let text = format!("5,6,1\nx,y,1\n{edge},{}\n{edge},{}\n", weights[0], weights[1]);
            let text = if edge.contains('a') { text } else { text.replace("x,y", "7,8") };
            let error = imported("w.csv", &text, &weight("3"), &options).err().unwrap().to_string();
            let expected =
                format!("between {ids} whose sum does not; choose another way to combine them: --duplicates");
            assert!(error.contains(&expected), "{expected}: {error}");
        }
    }
}

#[test]
fn whole_weights_of_text_are_integers_as_far_as_64_bits_hold_them() {
    for (weights, kind) in [
        (["9007199254740994", "1"], ValueType::I64),
        (["-9223372036854775808", "9223372036854774784"], ValueType::I64),
        (["9007199254740994", "0.5"], ValueType::F64),
        (["9223372036854775808", "1"], ValueType::F32),
        (["1e300", "1"], ValueType::F64),
    ] {
        for name in ["w.txt", "w.csv", "w.wel"] {
            let separator = if name == "w.csv" { "," } else { " " };
            let text = format!("1 2 {}\n2 3 {}\n", weights[0], weights[1]).replace(' ', separator);
            let input = if name == "w.wel" { options() } else { weight("3") };
            let made = imported(name, &text, &input, &ImportOptions::default()).unwrap();
            assert_eq!(made.report.manifest.weights().unwrap().kind, kind, "{name}: {text}");
            assert_eq!(made.report.first_edges[0].weight.as_deref().unwrap().parse::<f64>(), weights[0].parse());
        }
    }
    // A type that says what they are is believed.
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 9007199254740994\n";
    let made = imported("w.mtx", text, &options(), &ImportOptions::default()).unwrap();
    assert_eq!(made.report.manifest.weights().unwrap().kind, ValueType::F64);
}

#[test]
fn a_first_line_is_a_size_if_both_counts_fit_or_by_option() {
    let body = "1 2\n2 3\n3 4\n4 5\n5 6\n";
    assert!(failure("g.txt", format!("7 5\n{body}"), &options()).contains("--header yes"));
    assert_eq!(edges("g.txt", &format!("7 5\n{body}"), &header(true)).len(), 5);
    assert_eq!(edges("g.txt", &format!("7 5\n{body}"), &header(false)).len(), 6);
    let made = imported("g.txt", format!("6 5\n{body}"), &options(), &ImportOptions::default()).unwrap();
    assert_eq!((made.edges.len(), made.report.manifest.vertices), (5, 6));
    assert!(made.report.notes.iter().any(|note| note.contains("numbers of vertices and edges")));
    assert_eq!(edges("g.txt", &format!("7 6\n{body}"), &options()).len(), 6);
}

#[test]
fn one_separator_cuts_the_whole_file_and_quotes_count_everywhere() {
    let strings = |text: &str, input: &InputOptions| edges("g.txt", text, input);
    assert_eq!(strings("New York\tLos Angeles\nParis\tRome\n", &options()), ["New York Los Angeles", "Paris Rome"]);
    assert_eq!(strings("\"a\"\t\"b\"\n", &options()), ["a b"]);
    assert_eq!(strings("\"a b\" c\n", &options()), ["a b c"]);
    assert_eq!(strings("a b\tc,d\n", &options()), ["a b c,d"]);
    assert_eq!(strings("John Smith\tAnn\t3.5\nX\tY\t4\n", &weight("3")), ["John Smith Ann", "X Y"]);
    assert_eq!(strings("1|2\n3|4\n", &options()), ["1 2", "3 4"]);
    let comma = InputOptions { delimiter: Some("comma".into()), ..options() };
    assert_eq!(strings("a b\tc,d\n", &comma), ["a b\tc d"]);
    for (text, expected) in [
        ("1;2;1,5\n", "--weight 3"),
        ("1 2 2,5\n1 3 2,5\n", "--delimiter"),
        ("1 2\n2 3 4\n3 4\n", "g.txt:2: expected 2 columns"),
        ("1,2\n2,3\n3,4,5\n", "g.txt:3: expected 2 columns, as line 2 has"),
        ("a\tb\nc d\ne f\ng h\n", "--delimiter tab"),
        ("It was the best of times, it was\nthe worst of times\nit was the age\n", "prose"),
    ] {
        let error = failure("g.txt", text, &options());
        assert!(error.contains(expected), "{text}: {error}");
    }
    let late = format!("{}1 2 3\n", "1 2\n".repeat(400_000));
    assert!(failure("g.txt", late, &options()).contains("g.txt:400001: expected 2 columns"));
}

#[test]
fn in_csv_nothing_is_a_comment_and_skipped_lines_are_counted() {
    assert_eq!(edges("tags.csv", "#a,#b\n#b,#c\n", &options()), ["#a #b", "#b #c"]);
    assert_eq!(edges("tags.txt", "#a,#b\nc,#c\n", &options()), ["#a #b", "c #c"]);
    let error = failure("f.csv", "# friends\nanna,ben\nben,carl\n", &options());
    assert!(error.contains("f.csv:1") && error.contains("--comment '#'"), "{error}");
    let comment = InputOptions { comment: Some("#".into()), ..options() };
    let made = imported("f.csv", "# friends\nanna,ben\n#x\nben,carl\n", &comment, &ImportOptions::default()).unwrap();
    assert_eq!(made.edges.len(), 2);
    let facts = made.report.manifest.import;
    assert_eq!((facts.comments, facts.first_comment.as_deref()), (Some(2), Some("# friends")));
    let made = imported("f.txt", "% one\n1 2\n# two\n", &options(), &ImportOptions::default()).unwrap();
    assert_eq!(made.report.manifest.import.comments, Some(2));
    assert_eq!(made.report.manifest.import.separator.as_deref(), Some("blanks"));
}

#[test]
fn a_few_lines_do_not_change_the_kind_of_ids_and_leading_zeros_stay() {
    let error = failure("g.txt", "1 2\n2 3\nx y\n3 4\n", &options());
    assert!(error.contains("g.txt:3") && error.contains("--ids string"), "{error}");
    let error = failure("g.txt", "007 1\n7 2\n", &options());
    assert!(error.contains("g.txt:1") && error.contains("--ids integer"), "{error}");
    let strings = InputOptions { ids: IdKind::String, ..options() };
    assert_eq!(edges("g.txt", "007 1\n7 2\n", &strings), ["007 1", "7 2"]);
}

#[test]
fn konect_says_the_direction_and_the_weights() {
    let made = |text: &str| imported("out.x", text, &options(), &ImportOptions::default()).unwrap();
    let sym = made("% sym weighted\n% 2 3 3\n1 2 5\n2 3 6\n");
    assert_eq!((sym.edges.len(), sym.report.manifest.directed), (4, false));
    assert_eq!(sym.report.manifest.values[0].name, "weight");
    assert!(sym.report.manifest.import.direction_from.unwrap().contains("% sym weighted"));
    let asym = made("% asym unweighted\n1 2\n2 3\n");
    assert!(asym.report.manifest.directed && asym.report.manifest.values.is_empty());
    assert_eq!(made("% sym posweighted\n1 2 1 1082040961\n").edges.len(), 2);
    let bip = made("% bip weighted\n% 3 2 2\n1 1 5\n2 1 6\n");
    assert_eq!(bip.edges.len(), 4);
    assert_eq!(bip.edges[0], "left:1 right:1");
    assert!(!bip.report.manifest.directed && bip.report.manifest.vertices == 3);
}

#[test]
fn gephis_type_is_the_direction() {
    let made = |text: &str| imported("g.csv", text, &options(), &ImportOptions::default());
    let undirected = made("Source,Target,Type,Weight\n1,2,Undirected,3\n2,3,Undirected,4\n").unwrap();
    assert_eq!((undirected.edges.len(), undirected.report.manifest.directed), (4, false));
    assert!(made("Source,Target,Type\n1,2,Directed\n").unwrap().report.manifest.directed);
    let error = made("Source,Target,Type\n1,2,Directed\n2,3,Undirected\n").err().unwrap().to_string();
    assert!(error.contains("g.csv:3: expected `Directed` in column 3"), "{error}");
    assert_eq!(made("Source,Target,Type\n1,2,friend\n").unwrap().edges, ["1 2"]);
}

#[test]
fn the_names_of_columns_are_no_edge_wherever_they_stand() {
    for (name, text, line) in [
        ("g.csv", "source,target\nanna,ben\nsource,target\nben,carl\n".to_owned(), 3),
        ("g.tsv", "from\tto\tweight\na\tb\t1\nfrom\tto\tweight\r\n".to_owned(), 3),
        ("g.csv", "Source,Target,Type\n1,2,Undirected\nSource,Target,Type\n2,3,Undirected\n".to_owned(), 3),
        ("g.csv", "a,b\n1,2\na,b\n2,3\n".to_owned(), 3),
        ("g.csv", format!("source,target\n{}source,target\nx,y\n", "anna,ben\n".repeat(400_000)), 400_002),
    ] {
        let error = failure(name, &text, &options());
        assert!(error.contains(&format!("{name}:{line}: expected an edge, and not")), "{error}");
        assert!(error.contains("several inputs"), "{error}");
    }
    // Quotes make an edge of it, and numbers are no names.
    assert_eq!(edges("g.csv", "source,target\na,b\n\"source\",\"target\"\n", &options()), ["a b", "source target"]);
    let with_header = InputOptions { header: Some(true), ..weight("3") };
    assert_eq!(edges("g.csv", "1,2,3\n4,5,6\n1,2,3\n", &with_header), ["1 2", "4 5"]);
}

#[test]
fn options_that_an_input_has_no_use_for_are_refused() {
    let delimiter = InputOptions { delimiter: Some("tab".into()), ..options() };
    let comment = InputOptions { comment: Some("//".into()), ..options() };
    for (name, text, input, option) in [
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", &delimiter, "--delimiter"),
        ("g.graph", "2 1\n2\n1\n", &comment, "--comment"),
        ("g.gr", "p sp 2 1\na 1 2 5\n", &header(true), "--header"),
        ("g.el", "1 2\n", &header(false), "--header"),
        ("g.wel", "1 2 3\n", &ends("2", "1"), "--source"),
        ("g.adj", "1 2\n2 3\n", &header(true), "--header"),
    ] {
        let error = failure(name, text, input);
        assert!(error.starts_with(&format!("{option}: expected")) && error.contains("leave the option out"), "{error}");
    }
    assert_eq!(edges("g.el", "// c\n1 2\n", &comment), ["1 2"]);
}

#[test]
fn undirected_input_imported_as_directed_has_both_directions() {
    let directed = ImportOptions { directed: Some(true), ..ImportOptions::default() };
    let matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n3 2 6\n3 3 7\n";
    for (name, text) in
        [("p.mtx", matrix), ("p.graph", "3 3\n2\n1 3\n2 3\n"), ("p.col", "p edge 3 3\ne 1 2\ne 2 3\ne 3 3\n")]
    {
        let made = imported(name, text, &options(), &directed).unwrap();
        assert_eq!(made.edges, ["1 2", "2 1", "2 3", "3 2", "3 3"], "{name}");
        assert_eq!(made.report.manifest.import.edges_read, 3, "{name}");
        assert!(made.report.notes.iter().any(|note| note.contains("both directions")), "{name}");
    }
}

#[test]
fn adjacency_lists_are_read_and_proposed() {
    let adjacency = InputOptions { format: Some("adjacency".into()), ..options() };
    for text in ["0\t1,2\n1\t2\n2\t\n", "0 1 2\n1 2\n2\n"] {
        assert_eq!(edges("a.txt", text, &adjacency), ["0 1", "0 2", "1 2"]);
        let error = failure("a.txt", text, &options());
        assert!(error.contains("--format adjacency"), "{text}: {error}");
    }
    assert!(failure("a.txt", "0\t1,2\n1\t2,3\n", &options()).contains("--format adjacency"));
    // Lines that another separator would cut are refused, and an option decides.
    for text in [
        "1 2,3\n4 5,6\n",
        "1,2,3\n4 5,6\n",
        "a b,c\nd e,f\n",
        "1: 2,3\n2: 3\n",
        "1;2;3\n2;3\n",
        "a\tb,c\nd e,f\n",
        &format!("{}a b,c\n", (0..2000).map(|i| format!("v{i} w\n")).collect::<String>()),
    ] {
        let error = failure("a.adj", text, &adjacency);
        assert!(error.contains("and no other separator in them") && error.contains("--delimiter"), "{text}: {error}");
    }
    let comma = InputOptions { delimiter: Some("comma".into()), ..adjacency.clone() };
    assert_eq!(
        edges("a.adj", "New York,Boston\nBoston,Los Angeles\n", &comma),
        ["Boston Los Angeles", "New York Boston"]
    );
    assert_eq!(
        edges("a.adj", "New York\tBoston, Los Angeles\n", &adjacency),
        ["New York Boston", "New York Los Angeles"]
    );
}

#[test]
fn files_of_one_import_agree_in_their_columns() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let first = write("a.csv", "source,target,weight\n1,2,3\n");
    let image = directory.path().join("g.oc");
    let replace = ImportOptions { replace: true, ..ImportOptions::default() };
    let made = |second: PathBuf| made_of(&[first.clone(), second], &options(), &replace, &image);
    assert_eq!(made(write("b.csv", "source,target,weight\n2,3,3\n")).unwrap().edges, ["1 2", "2 3"]);
    assert_eq!(made(write("empty.csv", "source,target,weight\n")).unwrap().edges, ["1 2"]);
    // Columns have their names in any order, and others may come.
    assert_eq!(made(write("new.csv", "more,weight,target,source\n4,3,3,2\n")).unwrap().edges, ["1 2", "2 3"]);
    for (name, text) in [
        ("c.csv", "payment_id,payer,payee,weight\n9,1,2,3\n"),
        ("d.csv", "from,to,weight\n1,2,3\n"),
        ("e.csv", "source;target;weight\n1;2;3\n"),
        ("f.csv", "source,target,more\n1,2,4\n"),
        ("h.csv", "2,3,4\n"),
    ] {
        let error = made(write(name, text)).err().unwrap_or_else(|| panic!("{name} was taken")).to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn an_error_message_in_place_of_a_table_replaces_no_image() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("g.oc");
    let run = |name: &str, text: &str, delimiter: Option<&str>| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        let input = InputOptions { delimiter: delimiter.map(str::to_owned), ..InputOptions::default() };
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        made_of(std::slice::from_ref(&path), &input, &options, &image)
    };
    run("day.csv", "source,target\n1,2\n2,3\n", None).unwrap();
    for (name, text, expected) in [
        ("day.csv", "Access denied\n", "--delimiter blanks"),
        ("day.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "a pointer of Git LFS"),
    ] {
        let error = run(name, text, None).err().expect("refused").to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(open(&image).manifest.edges, 2);
    }
    assert_eq!(run("day.csv", "1 2\n", Some("blanks")).unwrap().edges, ["1 2"]);
}

#[test]
fn an_input_without_rows_replaces_no_image() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.csv");
    let image = directory.path().join("g.oc");
    let run = |text: &str, allow_empty: bool| {
        std::fs::write(&path, text).unwrap();
        let options = ImportOptions { allow_empty, replace: true, ..ImportOptions::default() };
        made_of(std::slice::from_ref(&path), &InputOptions::default(), &options, &image)
    };
    let made = run("source,target\n", false).unwrap();
    assert!(made.edges.is_empty() && made.report.notes.iter().any(|note| note.contains("no edges")));
    run("source,target\n1,2\n", false).unwrap();
    for text in ["source,target\n", "", "# nothing\n"] {
        let error = run(text, false).err().expect("refused").to_string();
        assert!(error.contains("--allow-empty"), "{error}");
        assert_eq!(open(&image).manifest.edges, 1);
    }
    assert!(run("source,target\n", true).unwrap().edges.is_empty());
}

#[test]
fn unsupported_formats_are_refused_by_name() {
    let samples: [(&str, &[u8], &str); 14] = [
        ("g.gdf", b"nodedef>name VARCHAR\na\nedgedef>node1,node2\na,a\n", "GDF"),
        ("g.txt", b"1 a\n2 b\n#\n1 2 x\n", "TGF"),
        ("g.lgl", b"# a\nb 0.5\n", "LGL"),
        ("g.json", b"{\"nodes\": [], \"links\": []}", "JSON"),
        ("g.txt", b"[{\"source\": 1, \"target\": 2},\n{\"source\": 2, \"target\": 3}]\n", "JSON"),
        ("g.txt", b"PK\x03\x04rest", "zip"),
        ("g.txt", b"BZh91AY&SYrest", "bzip2"),
        ("g.txt", b"\xfd7zXZ\0rest", "xz"),
        ("g.npy", b"\x93NUMPY\x01\0", "NumPy"),
        ("g.txt", b"\xff\xfe1\0 \x002\0\n\0", "UTF-16"),
        ("g.txt", b"1\0 \x002\0\n\0", "UTF-16"),
        ("g.txt", b"\x01\x02\0\0\0\0\0\0", "binary data"),
        ("g.bin", b"\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0", "--format graph500"),
        ("g.bin", b"\x01\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0", "or sg"),
    ];
    for (name, bytes, expected) in samples {
        let error = failure(name, bytes, &options());
        assert!(error.contains(expected) && error.contains(';'), "{expected}: {error}");
        for (format, _) in formats() {
            let forced = InputOptions { format: Some(format.into()), ..options() };
            if let Ok(made) = imported(name, bytes, &forced, &ImportOptions::default()) {
                let numbers = format.starts_with("binary") || format.starts_with("graph500");
                let columns = expected == "LGL";
                assert!(numbers || columns, "{expected} as {format}: {:?}", made.edges);
            }
        }
    }
}

#[test]
fn every_file_under_another_formats_name_is_itself_or_an_error() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("OUTCORE_DATA").map_or_else(beside, PathBuf::from);
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut files = vec![
        write("a.txt", "1 2\n2 3\n5 9\n"),
        write("a.el", "1 2\n2 3\n5 9\n"),
        write("a.wel", "1 2 7\n1 3 8\n5 9 1\n"),
        write("a.cedge", "0 1 2 0.5\n1 2 3 0.25\n1 3 4 0.25\n"),
        write("a.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"),
        write("a.col", "p edge 3 2\ne 1 2\ne 2 3\n"),
        write("a.graph", "3 2\n2\n1 3\n2\n"),
        write("a.graph-txt", "3\n1 2\n2\n\n"),
        write("a.tntp", "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~ a b c ;\n1 2 3 ;\n"),
        write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n2 3 6\n"),
        write("b.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"),
        write("c.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
        write("a.adj", "1 2 3\n2 3\n3\n"),
    ];
    for folder in ["graphs", "matrices", "matrices/mangled"] {
        let entries = std::fs::read_dir(data.join(folder)).into_iter().flatten().flatten();
        let small = |path: &PathBuf| path.is_file() && path.metadata().unwrap().len() < 600_000;
        files.extend(entries.map(|entry| entry.path()).filter(small));
    }
    if files.len() == 13 {
        println!("generated samples only: {} is not here; set OUTCORE_DATA", data.display());
    }
    let image = directory.path().join("graph.oc");
    let replace = ImportOptions { replace: true, ..ImportOptions::default() };
    let mut agreed = BTreeSet::new();
    for path in &files {
        let own = made_of(std::slice::from_ref(path), &options(), &replace, &image);
        for (format, _) in formats() {
            // Short lines of numbers are an adjacency list whatever else they are, and lines without blanks vertices of
            // SIF: nothing in them contradicts the user.
            let ending = path.extension().unwrap_or_default();
            let is_short = format == "adjacency" && (ending == "graph" || ending == "graph-txt");
            if is_short || format == "sif" && path.to_string_lossy().contains(".csv") {
                continue;
            }
            let forced = InputOptions { format: Some(format.into()), ..options() };
            let made = made_of(std::slice::from_ref(path), &forced, &replace, &image);
            match (&own, made) {
                (Ok(own), Ok(made)) => {
                    assert!(made.edges == own.edges, "{} as {format} is a third thing", path.display());
                    agreed.insert(format);
                }
                (_, Err(Error::Usage(text))) => {
                    assert!(text.contains("--format"), "{} as {format}: {text}", path.display())
                }
                (_, Err(error)) => {
                    let text = error.to_string();
                    assert!(text.contains(&*path.file_name().unwrap().to_string_lossy()), "{format}: {text}");
                }
                (Err(error), Ok(made)) => {
                    let what = format!("{} as {format}", path.display());
                    panic!("{what}: {} edges, though by itself: {error}", made.edges.len());
                }
            }
        }
    }
    assert!(agreed.contains("edge-list") && agreed.contains("el") && agreed.len() >= 9, "{agreed:?}");
}
