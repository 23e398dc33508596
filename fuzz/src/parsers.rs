//! Input formats: every parser reads the bytes as a whole file.

use crate::{MOST_MEMORY_BYTES, Target, note, noted};
use outcore_array::{Array, ElementType, Goal, NpySource, compute};
use outcore_graph::import::{Attributes, InputOptions, count_edges};
use outcore_io::backend::Posix;
use outcore_io::{Runtime, RuntimeOptions};
use outcore_matrix::DenseFile;
use std::sync::Arc;

/// Reads bytes as a format.
fn parse(format: &str, bytes: &[u8]) {
    parse_for(format, bytes, false);
}

/// Reads bytes as a format of graphs, or of matrices.
fn parse_for(format: &str, bytes: &[u8], is_matrix: bool) {
    let attributes = if is_matrix { Attributes::None } else { Attributes::All };
    let options = InputOptions { is_matrix, attributes, ..InputOptions::default() };
    if let Some(edges) = noted(count_edges(format, bytes, &options)) {
        note(if edges > 0 { "edges" } else { "none" });
        // Compression apart, an edge takes a bit at least.
        let most = 8 * bytes.len() as u64 * 2000 + 8;
        assert!(edges <= most, "{edges} edges out of {} bytes", bytes.len());
    }
}

/// Reads bytes as a dense matrix of NumPy's, and in place as an array: to the same numbers, where both read them.
fn npy(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let path = folder.path().join("x.npy");
    std::fs::write(&path, bytes).expect("a file in the scratch directory");
    let options = RuntimeOptions { threads: Some(1), backend: Some(Arc::new(Posix)), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).expect("a runtime");
    let runtime = runtime;
    let numbers = DenseFile::open(&runtime, &path).and_then(|file| {
        let (rows, columns) = file.shape();
        let numbers = file.read(&runtime, "numbers", true)?;
        assert_eq!(rows as usize * columns as usize * 2, numbers.len());
        Ok((file.is_complex(), numbers))
    });
    let array = NpySource::open(&runtime, &path).and_then(|source| {
        let array = Array::from_source(Arc::new(source))?;
        let real = array.cast(ElementType::Float64)?;
        Ok(compute(&runtime, &[Goal::Value(array), Goal::Value(real)])?.values)
    });
    let message = |error: outcore_image::Error| error.to_string().replace(&*path.to_string_lossy(), "");
    let (numbers, array) = (noted(numbers.map_err(message)), noted(array.map_err(message)));
    assert_eq!(array.is_some(), numbers.as_ref().is_some_and(|(is_complex, _)| !is_complex));
    let (Some((_, numbers)), Some(array)) = (numbers, array) else { return };
    if array[0].element() == ElementType::Bool {
        assert!(array[0].to_vec().iter().all(|&byte| byte <= 1), "a boolean is a byte of 1 or 0");
    }
    let found = array[1].to_vec();
    assert_eq!(found.len(), numbers.len() / 2 * 8);
    for (found, number) in found.chunks_exact(8).zip(numbers.iter().step_by(2)) {
        let found = f64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| found[i]));
        assert!(found == *number || found.is_nan() && number.is_nan(), "{found}, not {number}");
    }
}

const LINES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b";",
    b"# ",
    b"% ",
    b"1 2\n",
    b"0",
    b"-1",
    b"1e308",
    b"nan",
    b"inf",
    b"0.5",
    b"18446744073709551615",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"4294967295",
    b"a b\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"BZh91AY&SY",
    b"\xfd7zXZ\0\0\x04",
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"source,target,weight\n",
];
const JSON: &[&[u8]] = &[
    b"{\"source\": 1, \"target\": 2, \"weight\": 3.5}\n",
    b"{\"source\": \"a\", \"target\": \"b\"}\n",
    b"\"Type\": \"Undirected\", ",
    b"\\u00e9",
    b"null",
    b"[[",
    b"{",
    b"}",
    b"\"",
    b", ",
    b": ",
    b"-1",
    b"1e999",
    b"\n",
];
const XML: &[&[u8]] = &[
    b"<graphml xmlns=\"x\">",
    b"<gexf>",
    b"<graph edgedefault=\"directed\" defaultedgetype=\"directed\">",
    b"<key id=\"d\" for=\"edge\" attr.name=\"weight\"><default>1</default></key>",
    b"<attributes class=\"edge\"><attribute id=\"d\" title=\"weight\"/></attributes>",
    b"<node id=\"1\"/>",
    b"<edge source=\"1\" target=\"2\" weight=\"0.5\" type=\"mutual\" directed=\"true\"/>",
    b"<edge source=\"a\" target=\"b\"><data key=\"d\">2</data><attvalue for=\"d\" value=\"2\"/></edge>",
    b"</graph>",
    b"</graphml>",
    b"</gexf>",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"&amp;",
    b"&#233;",
    b"<!DOCTYPE x [<!ENTITY y \"z\">]>",
    b"y:",
    b"\n",
];
const BRACES: &[&[u8]] = &[
    b"digraph {",
    b"strict graph g {",
    b"subgraph x {",
    b"{",
    b"}",
    b"a -> b",
    b" -- ",
    b" -> ",
    b"edge [weight=2.5]",
    b"[weight=3, x]",
    b"\"a b\" + \"c\"",
    b"<<b>x</b>>",
    b"a:n:sw",
    b"x = y;",
    b"/* */",
    b"# \n",
];
const BRACKETS: &[&[u8]] = &[
    b"graph [ ",
    b"directed 1 ",
    b"node [ id 1 label \"a\" ] ",
    b"node [ id 2 ] ",
    b"edge [ source 1 target 2 weight 0.5 ] ",
    b"x [ y [ z 1 ] ] ",
    b"[",
    b"]",
    b"\"",
    b"&quot;",
    b"&#xe9;",
    b"# ",
    b"-1",
    b"1e999",
    b"\n",
];
const SECTIONS: &[&[u8]] = &[
    b"*Vertices 2\n",
    b"*Network x\n",
    b"*Arcs :1 \"likes\"\n",
    b"*Edges\n",
    b"*Arcslist\n",
    b"*Edgeslist\n",
    b"1 \"a b\" 0.5 0.5\n",
    b"2 c\n",
    b"1 2 0.5 c Blue\n",
    b"1 2\n",
    b"4294967295",
    b"-1",
    b"\"",
    b"% ",
    b"\n",
];
const LISTS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b":",
    b": ",
    b", ",
    b"# ",
    b"\"",
    b"1 2 3\n",
    b"1\t2,3\n",
    b"ann\tben,carl\n",
    b"007",
    b"-1",
    b"0.5",
    b"18446744073709551615",
    b"-9223372036854775808",
    b"\xff",
];
const NETWORK: &[&[u8]] = &[
    b"<NUMBER OF NODES> 3\n",
    b"<NUMBER OF LINKS> 2\n",
    b"<FIRST THRU NODE> 1\n",
    b"<END OF METADATA>\n",
    b"~ init_node term_node capacity ;\n",
    b"~\tinit node\tterm node\t;\n",
    b"1 2 3 ;\n",
    b";",
    b"~",
    b"\t",
    b"\n",
    b"0",
    b"-1",
    b"18446744073709551615",
];
const MATRIX: &[&[u8]] = &[
    b"%%MatrixMarket matrix coordinate ",
    b"array ",
    b"pattern ",
    b"real ",
    b"integer ",
    b"complex ",
    b"general\n",
    b"symmetric\n",
    b"skew-symmetric\n",
    b"hermitian\n",
    b"3 3 4\n",
    b"1 1\n",
    b"3 2 0.5\n",
    b"% ",
    b"\n",
    b"18446744073709551615",
    b"0",
    b"-1",
];
const NUMPY: &[&[u8]] = &[
    b"\x93NUMPY\x01\0\x76\0",
    b"\x93NUMPY\x02\0\x76\0\0\0",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
    b"'descr': ",
    b"'fortran_order': True, ",
    b"'shape': (4,), ",
    b"(0, 18446744073709551615)",
    b"'>c16', ",
    b"'|b1', ",
    b"'<u2', ",
    b"'<f4', ",
    b"\n",
    b"\0\0\0\0\0\0\xf0\x7f",
];
const METIS: &[&[u8]] = &[
    b"3 2\n",
    b"3 2 001\n",
    b"3 2 011 1\n",
    b"3 2 111 2\n",
    b"2 3\n",
    b"% ",
    b"\n",
    b" ",
    b"0",
    b"1",
    b"-1",
    b"4294967296",
    b"18446744073709551615",
];
const DIMACS: &[&[u8]] = &[
    b"p sp 3 2\n",
    b"p edge 3 2\n",
    b"p col 3 2\n",
    b"a 1 2 5\n",
    b"e 1 2\n",
    b"c ",
    b"\n",
    b"n ",
    b"0",
    b"99999999999",
];
const WORDS: &[&[u8]] = &[
    b"\0\0\0\0\0\0\0\0",
    b"\x01\0\0\0\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\0\0\0\0\0\0\0\x80",
    b"\xff\xff\xff\xff",
    b"\x01\0\0\0",
];
const SERIALIZED: &[&[u8]] = &[
    b"\0",
    b"\x01",
    b"\x03\0\0\0\0\0\0\0",
    b"\0\0\0\0\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\0\0\0\x80\0\0\0\0",
    b"\x02\0\0\0",
    b"\xff\xff\xff\xff",
];
const PARQUET: &[&[u8]] =
    &[b"PAR1", b"source", b"target", b"weight", b"\x15\0", b"\x15\x02", b"\x19\x1c", b"\xff\xff\xff\xff", b"\0\0\0\0"];
const ARROW: &[&[u8]] =
    &[b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x10\0\0\0", b"source", b"target", b"weight", b"\0\0\0\0\0\0\0\0"];

const fn of(name: &'static str, run: fn(&[u8]), tokens: &'static [&'static [u8]]) -> Target {
    Target { name, run, tokens, most_bytes: 4096, most_memory_bytes: MOST_MEMORY_BYTES }
}

pub(crate) static TARGETS: &[Target] = &[
    of("edge-list", |bytes| parse("edge-list", bytes), LINES),
    of("adjacency", |bytes| parse("adjacency", bytes), LISTS),
    of("tntp", |bytes| parse("tntp", bytes), NETWORK),
    of("el", |bytes| parse("el", bytes), LINES),
    of("wel", |bytes| parse("wel", bytes), LINES),
    of("cedge", |bytes| parse("cedge", bytes), LINES),
    of("dimacs", |bytes| parse("dimacs", bytes), DIMACS),
    of(
        "matrix-market",
        |bytes| {
            parse_for("matrix-market", bytes, false);
            parse_for("matrix-market", bytes, true);
        },
        MATRIX,
    ),
    of("npy", npy, NUMPY),
    of("metis", |bytes| parse("metis", bytes), METIS),
    of("ascii-graph", |bytes| parse("ascii-graph", bytes), METIS),
    of("graphalytics", |bytes| parse("graphalytics", bytes), LINES),
    of("graph500", |bytes| parse("graph500", bytes), WORDS),
    of("graph500-packed", |bytes| parse("graph500-packed", bytes), WORDS),
    of("binary32", |bytes| parse("binary32", bytes), WORDS),
    of("sg", |bytes| parse("sg", bytes), SERIALIZED),
    of("wsg", |bytes| parse("wsg", bytes), SERIALIZED),
    // A page of a Parquet file may take 256 MiB unpacked, and columns are read side by side.
    Target { most_memory_bytes: 2 << 30, ..of("parquet", |bytes| parse("parquet", bytes), PARQUET) },
    of("arrow", |bytes| parse("arrow", bytes), ARROW),
    of("jsonl", |bytes| parse("jsonl", bytes), JSON),
    of("graphml", |bytes| parse("graphml", bytes), XML),
    of("gexf", |bytes| parse("gexf", bytes), XML),
    of("gml", |bytes| parse("gml", bytes), BRACKETS),
    of("pajek", |bytes| parse("pajek", bytes), SECTIONS),
    of("sif", |bytes| parse("sif", bytes), SECTIONS),
    of("dot", |bytes| parse("dot", bytes), BRACES),
];
