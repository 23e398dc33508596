//! Recognizes files by their first bytes, where these are unmistakable: formats that are read, and formats that are
//! not.
//!
//! An unsupported format is refused by its name, so that it is never taken for a list of edges. Only the first 64 KiB
//! are examined.

use crate::matrices::matrix_header::banner;
use crate::text::columns::is_data;
use crate::text::number::{Fields, is_blank, lines, trim, unsigned};

/// Number of bytes that decide.
pub const LOOKED_AT_BYTES: usize = 64 << 10;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A format of this name, which is read.
    Read(&'static str),
    /// Something of this name, which is not, and what to do.
    Foreign(&'static str, &'static str),
}

const PARQUET: Kind = if cfg!(feature = "parquet") {
    Kind::Read("parquet")
} else {
    Kind::Foreign("Parquet", "build Outcore with its feature `parquet`, or convert the file to Arrow or CSV")
};
const UNPACK: &str = "unpack it, or compress it with gzip or zstd";
const CONVERT: &str = "write it as a list of edges, `source target [weight]` a line, or as Parquet";
const LOAD: &str = "load it and give import_graph a tuple of arrays (source, target), or import_matrix a SciPy matrix";
const UTF8: &str = "convert the file to UTF-8, as with iconv -f UTF-16 -t UTF-8";

const MAGIC: [(&[u8], Kind); 15] = [
    (b"PAR1", PARQUET),
    (b"ARROW1", Kind::Read("arrow")),
    (b"\xff\xff\xff\xff", Kind::Read("arrow")),
    (b"PK\x03\x04", Kind::Foreign("a zip archive", UNPACK)),
    (b"BZh", Kind::Foreign("bzip2", UNPACK)),
    (b"\xfd7zXZ\0", Kind::Foreign("xz", UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Kind::Foreign("a 7z archive", UNPACK)),
    (b"\x04\x22\x4d\x18", Kind::Foreign("lz4", UNPACK)),
    (b"\x93NUMPY", Kind::Foreign("a NumPy array", LOAD)),
    (b"\xff\xfe", Kind::Foreign("text in UTF-16", UTF8)),
    (b"\xfe\xff", Kind::Foreign("text in UTF-16", UTF8)),
    (b"\x89HDF", Kind::Foreign("HDF5", CONVERT)),
    (b"SQLite format 3", Kind::Foreign("an SQLite database", CONVERT)),
    (b"%PDF", Kind::Foreign("PDF", CONVERT)),
    (b"version https://git-lfs", Kind::Foreign("a pointer of Git LFS", "fetch the file itself, as with git lfs pull")),
];

/// Formats that only their files' names tell, in lower case.
const ENDINGS: [(&str, &str, &str); 5] = [
    (".tgf", "TGF", CONVERT),
    (".lgl", "LGL", CONVERT),
    (".gdf", "GDF", CONVERT),
    (".npz", "NumPy arrays", LOAD),
    (".pkl", "a pickle", "load it and give import_graph the graph"),
];

/// The kind of a file of this name, where its content does not tell.
pub(crate) fn by_name(name: &str) -> Option<Kind> {
    let found = ENDINGS.iter().find(|(ending, ..)| name.ends_with(ending));
    found.map(|&(_, what, advice)| Kind::Foreign(what, advice))
}

/// The kind of a file with these first bytes.
pub fn by_start(bytes: &[u8]) -> Option<Kind> {
    by_magic(bytes).or_else(|| by_text(bytes))
}

/// The kind of a file with these first bytes, text or not, where they have a magic number.
pub fn by_magic(bytes: &[u8]) -> Option<Kind> {
    let found = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    // The size of a block stands behind the letters.
    let is_bzip2 =
        || bytes.get(3).is_some_and(u8::is_ascii_digit) && bytes.get(4..10) == Some(b"\x31\x41\x59\x26\x53\x59");
    // Binary numbers can begin as a byte order mark does, with zeros behind it.
    let is_mark = || bytes.get(2..4) != Some(&[0, 0]);
    found.filter(|kind| match kind {
        Kind::Foreign("text in UTF-16", _) => is_mark(),
        _ => !bytes.starts_with(b"BZh") || is_bzip2(),
    })
}

pub(crate) fn by_text(bytes: &[u8]) -> Option<Kind> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
    if banner(bytes).is_some() {
        return Some(Kind::Read("matrix-market"));
    }
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    let text = &bytes[start..];
    if is_tntp(text) {
        return Some(Kind::Read("tntp"));
    }
    markup(text)
        .or_else(|| json(text))
        .or_else(|| sections(text))
        .or_else(|| blocks(text))
        .or_else(|| by_comments(text))
}

fn starts_with(bytes: &[u8], lower: &[u8]) -> bool {
    bytes.get(..lower.len()).is_some_and(|front| front.eq_ignore_ascii_case(lower))
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(&bytes.to_ascii_lowercase(), wanted).is_some()
}

/// Whether bytes begin with the metadata of a TNTP file.
fn is_tntp(text: &[u8]) -> bool {
    let names: [&[u8]; 5] =
        [b"<number of zones>", b"<number of nodes>", b"<first thru node>", b"<number of links>", b"<end of metadata>"];
    names.iter().any(|name| starts_with(text, name))
}

fn markup(text: &[u8]) -> Option<Kind> {
    let is_tag =
        text.first() == Some(&b'<') && text.get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'?' | b'!'));
    if !is_tag || !text.contains(&b'>') {
        return None;
    }
    Some(if contains(text, b"<graphml") || contains(text, b":graphml") {
        Kind::Read("graphml")
    } else if contains(text, b"<gexf") || contains(text, b":gexf") {
        Kind::Read("gexf")
    } else if contains(text, b"<html") {
        Kind::Foreign("a page in HTML", "the download may have failed: fetch the file itself")
    } else {
        Kind::Foreign("XML", CONVERT)
    })
}

/// JSON, also line by line.
fn json(text: &[u8]) -> Option<Kind> {
    let inside = trim(text.get(1..)?);
    let inside = &inside[inside.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(inside.len())..];
    let next = *inside.first()?;
    let is_json = match text[0] {
        b'{' => matches!(next, b'"' | b'}'),
        b'[' => matches!(next, b'{' | b'[' | b'"' | b']' | b'0'..=b'9'),
        _ => false,
    };
    let is_lines = text[0] == b'{' && lines(text).take(3).all(|line| trim(line).first().is_none_or(|&b| b == b'{'));
    let advice = "write it as JSON lines, an object a line, or read it with polars or pandas and import the frame";
    is_json.then_some(if is_lines { Kind::Read("jsonl") } else { Kind::Foreign("JSON", advice) })
}

/// Pajek, GDF, UCINET DL and DIMACS: by the first line that is no comment.
fn sections(text: &[u8]) -> Option<Kind> {
    let first = trim(lines(text).find(|line| is_data(line))?);
    let pajek: [&[u8]; 6] = [b"*vertices", b"*arcs", b"*edges", b"*network", b"*matrix", b"*nodes"];
    if pajek.iter().any(|word| starts_with(first, word)) {
        return Some(Kind::Read("pajek"));
    }
    if starts_with(first, b"nodedef>") || starts_with(first, b"edgedef>") {
        return Some(Kind::Foreign("GDF", CONVERT));
    }
    if starts_with(first, b"dl n") || starts_with(first, b"dl\tn") {
        return Some(Kind::Foreign("UCINET DL", CONVERT));
    }
    let problem = lines(text).find(|line| !matches!(Fields::new(line).first_byte(), None | Some(b'c')))?;
    let mut fields = Fields::new(problem);
    let is_problem = fields.token() == Some(b"p")
        && matches!(fields.token(), Some(b"sp" | b"edge" | b"col" | b"aux"))
        && fields.unsigned().is_some();
    is_problem.then_some(Kind::Read("dimacs"))
}

/// GML and DOT: a word and a bracket.
fn blocks(text: &[u8]) -> Option<Kind> {
    let mut rest = text;
    // Comments and GML's lines about its creator may come first.
    while let Some(line) = lines(rest).next()
        && (line.starts_with(b"#")
            || line.starts_with(b"//")
            || starts_with(line, b"creator")
            || starts_with(line, b"version")
            || starts_with(line, b"comment")
            || trim(line).is_empty())
        && line.len() < rest.len()
    {
        rest = &rest[line.len() + 1..];
    }
    let word = |rest: &mut &[u8]| -> Vec<u8> {
        let from = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        let len = rest[from..].iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'[' | b'{')).unwrap_or(0);
        let word = rest[from..from + len].to_ascii_lowercase();
        *rest = &rest[from + len..];
        word
    };
    let next = |rest: &[u8]| rest.iter().copied().find(|b| !b.is_ascii_whitespace());
    let mut first = word(&mut rest);
    if first == b"strict" {
        first = word(&mut rest);
    }
    if first == b"graph" && next(rest) == Some(b'[') {
        return Some(Kind::Read("gml"));
    }
    if first != b"graph" && first != b"digraph" {
        return None;
    }
    let is_open = next(rest) == Some(b'{') || {
        word(&mut rest);
        next(rest) == Some(b'{')
    };
    is_open.then_some(Kind::Read("dot"))
}

/// TGF, whose parts a line `#` separates, and LGL, whose lines `# vertex` come before the vertex's neighbours.
fn by_comments(text: &[u8]) -> Option<Kind> {
    let mut split = None;
    let (mut marks, mut mid_marks, mut other_comments) = (0, 0, 0);
    let mut data: Vec<&[u8]> = Vec::new();
    let mut owners: Vec<&[u8]> = Vec::new();
    for line in lines(text).filter(|line| !trim(line).is_empty()) {
        match trim(line) {
            b"#" => {
                marks += 1;
                split = Some(data.len());
            }
            line if line.starts_with(b"#") => {
                let mut fields = Fields::new(&line[1..]);
                let owner = fields.token().filter(|_| is_blank(line[1]));
                let is_vertex = owner.is_some() && fields.is_empty();
                owners.extend(owner);
                mid_marks += usize::from(is_vertex && !data.is_empty());
                other_comments += usize::from(!is_vertex);
            }
            line => data.push(line),
        }
    }
    let first = |line: &[u8]| Fields::new(line).token().map(<[u8]>::to_vec);
    if let (1, Some(split)) = (marks, split)
        && split > 0
        && split < data.len()
    {
        let mut nodes: Vec<_> = data[..split].iter().filter_map(|line| first(line)).collect();
        nodes.sort_unstable();
        let distinct = nodes.windows(2).all(|pair| pair[0] != pair[1]);
        let is_node = |token: Option<&[u8]>| token.is_some_and(|token| nodes.binary_search(&token.to_vec()).is_ok());
        let is_edge = |line: &&[u8]| {
            let mut fields = Fields::new(line);
            is_node(fields.token()) && is_node(fields.token())
        };
        if distinct && data[split..].iter().all(is_edge) {
            return Some(Kind::Foreign("TGF", CONVERT));
        }
    }
    let begins = lines(text).next().is_some_and(|line| line.starts_with(b"# "));
    let columns = |line: &&[u8]| {
        let mut fields = Fields::new(line);
        std::iter::from_fn(|| fields.token()).count()
    };
    let short = data.iter().map(columns).max().unwrap_or(0) <= 2;
    owners.sort_unstable();
    let distinct = owners.windows(2).all(|pair| pair[0] != pair[1]);
    // Words above lists of numbers are comments.
    let is_integer = |token: Option<&[u8]>| token.is_some_and(|token| unsigned(token).is_some());
    let alike = owners.iter().any(|owner| is_integer(Some(owner)))
        || !data.iter().all(|line| is_integer(Fields::new(line).token()));
    (begins && mid_marks > 0 && other_comments == 0 && short && distinct && alike)
        .then_some(Kind::Foreign("LGL", CONVERT))
}

/// Whether bytes are text: of the first of them, all are UTF-8, and none is a control character that text has not.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let is_utf8 = std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && start.iter().all(|&b| b >= b' ' && b != 0x7f || matches!(b, b'\n' | b'\r' | b'\t'))
}

/// Whether bytes begin as text in UTF-16 without a byte order mark: 16 characters of ASCII, or as many as there are.
/// Binary numbers of 64 bits have zeros in a row instead.
pub(crate) fn is_wide_text(bytes: &[u8]) -> bool {
    let is_text = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let units = &bytes.as_chunks::<2>().0[..bytes.len().min(32) / 2];
    let is_all = |is_unit: fn([u8; 2]) -> (u8, u8)| {
        units.iter().map(|&unit| is_unit(unit)).all(|(high, low)| high == 0 && is_text(low))
    };
    units.len() >= 2 && (is_all(|[low, high]| (high, low)) || is_all(|[high, low]| (high, low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        for (text, expected) in [
            ("%%MatrixMarket matrix", "matrix-market"),
            ("%MatrixMarket matrix coordinate pattern symmetric\n1 1 0\n", "matrix-market"),
            ("% made by hand\n%%matrixmarket matrix\n", "matrix-market"),
            ("<NUMBER OF ZONES> 3\n", "tntp"),
            ("c hello\np sp 3 2\na 1 2 5\n", "dimacs"),
            ("*Vertices 3\n1 \"a\"\n*Arcs :1 \"likes\"\n1 2\n", "pajek"),
            ("% c\n*Edges 2\n1 2\n", "pajek"),
            ("nodedef>name VARCHAR\na\nedgedef>n1\n", "GDF"),
            ("<?xml version=\"1.0\"?><graphml><graph/></graphml>", "graphml"),
            ("<gexf version=\"1.2\"><graph/></gexf>", "gexf"),
            ("<!DOCTYPE html><html>", "a page in HTML"),
            ("graph [ node [ id 1 ] edge [ source 1 target 1 ] ]", "gml"),
            ("Creator \"x\"\ngraph\n[\n", "gml"),
            ("digraph { a -> b }", "dot"),
            ("strict graph G {\n a -- b\n}", "dot"),
            ("1 First\n2 Second\n#\n1 2\n", "TGF"),
            ("# a\nb\nc\n# b\nc\n", "LGL"),
            ("# a\nb 0.5\n# b\nc 1\n", "LGL"),
            ("{\"source\": 1, \"target\": 2}\n{\"source\": 2, \"target\": 3}\n", "jsonl"),
            ("[[1, 2], [2, 3]]", "JSON"),
            ("[\n  {\"source\": 1}\n]", "JSON"),
        ] {
            let found = match by_text(text.as_bytes()) {
                Some(Kind::Read(name) | Kind::Foreign(name, _)) => name,
                None => "nothing",
            };
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(by_magic(b"\x93NUMPY\x01"), Some(MAGIC[8].1));
        assert_eq!(by_magic(b"BZh 1\n"), None, "a line of text");
    }

    #[test]
    fn lists_of_edges_are_no_other_format() {
        for text in [
            "graph theory\nnetwork science\n",
            "# header\n1 2\n2 3\n",
            "1 2\n# comment\n2 3\n",
            "1 2\n#\n2 3\n",
            "#\n# FromNodeId\tToNodeId\n1\t2\n",
            "p q\nq r\n",
            "[a] [b]\n",
            "a{ b\n",
            "%\n1 2\n",
            "% MatrixMarket files were joined\n1 2\n",
            "# c\n1 2\n# d\n2 3\n",
            "# c\na b\n# c\nb d\n",
            "<a b\n",
            "",
        ] {
            assert_eq!(by_text(text.as_bytes()), None, "{text:?}");
        }
        assert!(is_wide_text(b"1\0 \x002\0\n\0") && is_wide_text(b"\0a\0\t\0b"));
        for binary in [&5u64.to_le_bytes()[..], b"\x01\x05\0\0\0\0\0\0\0", &65u64.to_be_bytes(), b"1 2\n"] {
            assert!(!is_wide_text(binary), "{binary:?}");
        }
        assert_eq!(by_magic(&0xfeff_u64.to_le_bytes()), None);
        assert!(by_magic(b"\xff\xfe1\0").is_some());
        assert!(is_text("é\t1\r\n".as_bytes()) && !is_text(b"1 2\0"));
    }
}
