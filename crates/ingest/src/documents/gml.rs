//! GML: keys and values in brackets, of which `node` and `edge` are read.
//!
//! A vertex has a number, `id`, and usually a label; `numbered.rs` decides which of the two is its id. The graph has a
//! direction if it has `directed 1`. The weights are the values of `weight` in edges, or of the key that the user
//! names. All vertices come before the edges, as writers have it. Other keys are skipped with their values.
//!
//! Format: Himsolt, "GML: A portable Graph File Format", University of Passau, 1997.

use crate::batch::{InputOptions, Source, bad_record};
use crate::documents::characters::{Characters, END, shown};
use crate::documents::numbered::NumberedVertices;
use crate::documents::records::{self, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::input::file::{Input, Stream};
use crate::text::number::integer;
use outcore_image::Result;
use std::borrow::Cow;

/// The longest name of a character, such as `Epsilon`.
const MOST_NAME_BYTES: usize = 12;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    records::open("gml", input, options, |stream| Ok(Gml::new(stream, input, options)))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A key or a number.
    Word(Vec<u8>),
    /// The text between quotes.
    Text(Vec<u8>),
    Open,
    Close,
    End,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Word(text) | Token::Text(text) => shown(text),
            Token::Open => "`[`".to_owned(),
            Token::Close => "`]`".to_owned(),
            Token::End => END.to_owned(),
        }
    }
}

/// A text with its references to characters resolved, such as `&quot;` and `&#233;`; unknown ones stay as they are.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'&') {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = memchr::memchr(b'&', rest) {
        plain.extend_from_slice(&rest[..start]);
        rest = &rest[start..];
        let end = rest.iter().take(MOST_NAME_BYTES).position(|&byte| byte == b';');
        let resolved = end.and_then(|end| std::str::from_utf8(&rest[1..end]).ok()).and_then(character);
        let reference_bytes = end.filter(|_| resolved.is_some()).map_or(1, |end| end + 1);
        match resolved {
            Some(resolved) => plain.extend_from_slice(resolved.encode_utf8(&mut [0; 4]).as_bytes()),
            None => plain.push(b'&'),
        }
        rest = &rest[reference_bytes..];
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

fn character(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(number) => u32::from_str_radix(number, 16).ok(),
            None => number.parse().ok(),
        },
        None => quick_xml::escape::resolve_predefined_entity(name).and_then(|text| text.chars().next()).map(u32::from),
    };
    number.and_then(char::from_u32)
}

/// An edge: its line, the numbers of its ends, and its weight.
struct Edge {
    line: u64,
    ends: [i64; 2],
    weight: Option<Vec<u8>>,
}

struct Gml {
    text: Characters,
    vertices: NumberedVertices,
    /// Name of the weights; `None` if they are not wanted.
    weight_name: Option<String>,
    is_asked: bool,
    weighted: bool,
    directed: Option<bool>,
    is_multigraph: bool,
    has_string_ids: bool,
    /// Position of the reader: before the graph (`None`), in it (`true`), behind it (`false`).
    graph: Option<bool>,
    /// An edge that waits until all vertices are handed over.
    waiting: Option<Edge>,
}

impl Gml {
    fn new(stream: Stream, input: &Input, options: &InputOptions) -> Self {
        let weight_name = Some(options.weight.clone().unwrap_or("weight".to_owned())).filter(|name| name != "none");
        Gml {
            text: Characters::new(stream),
            vertices: NumberedVertices::new(input.path(), input.budget()),
            is_asked: options.weight.is_some(),
            weight_name,
            weighted: false,
            directed: None,
            is_multigraph: false,
            has_string_ids: false,
            graph: None,
            waiting: None,
        }
    }

    fn token(&mut self) -> Result<Token> {
        loop {
            match self.text.peek()? {
                None => return Ok(Token::End),
                Some(b'[') => {
                    self.text.skip();
                    return Ok(Token::Open);
                }
                Some(b']') => {
                    self.text.skip();
                    return Ok(Token::Close);
                }
                Some(b'"') => {
                    self.text.skip();
                    let text = self.text.until(|byte| byte == b'"')?;
                    let text = text.ok_or_else(|| self.text.truncated("the end of a text in quotes"))?;
                    self.text.skip();
                    return Ok(Token::Text(text));
                }
                Some(b'#') => {
                    while self.text.peek()?.is_some_and(|byte| byte != b'\n') {
                        self.text.skip();
                    }
                }
                Some(byte) if byte.is_ascii_whitespace() => self.text.skip(),
                Some(_) => {
                    let is_end = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'"' | b'#');
                    return Ok(Token::Word(self.text.until(is_end)?.unwrap_or_default()));
                }
            }
        }
    }

    fn skip_value(&mut self) -> Result<()> {
        let mut depth = 0u64;
        loop {
            match self.token()? {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => return Err(self.text.bad("a value behind a key", "`]`")),
                Token::Close => depth -= 1,
                Token::End => return Err(self.text.truncated("the end of a list")),
                Token::Word(_) | Token::Text(_) => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The keys of a list with the words and texts that are their values, handed to `take`; lists are passed over.
    fn each_value(&mut self, mut take: impl FnMut(&[u8], Token) -> Result<()>) -> Result<()> {
        match self.token()? {
            Token::Open => {}
            other => return Err(self.text.bad("`[`", &other.shown())),
        }
        loop {
            match self.token()? {
                Token::Close => return Ok(()),
                Token::Word(key) => match self.token()? {
                    Token::Open => while !matches!(self.skip_member()?, Token::Close) {},
                    value @ (Token::Word(_) | Token::Text(_)) => take(&key, value)?,
                    Token::Close => return Err(self.text.bad("a value behind a key", "`]`")),
                    Token::End => return Err(self.text.truncated("`]`")),
                },
                Token::End => return Err(self.text.truncated("`]`")),
                other => return Err(self.text.bad("a key", &other.shown())),
            }
        }
    }

    /// Passes over a key and its value, or takes the end of the list.
    fn skip_member(&mut self) -> Result<Token> {
        match self.token()? {
            Token::Close => Ok(Token::Close),
            Token::Word(key) => self.skip_value().map(|()| Token::Word(key)),
            Token::End => Err(self.text.truncated("`]`")),
            other => Err(self.text.bad("a key", &other.shown())),
        }
    }

    fn number(&self, key: &str, value: &Token) -> Result<i64> {
        let (Token::Word(token) | Token::Text(token)) = value else {
            return Err(self.text.bad(&format!("a whole number as `{key}`"), &value.shown()));
        };
        integer(token).and_then(|number| number.signed()).ok_or_else(|| {
            let expected = format!("a whole number of 64 bits as `{key}`");
            bad_record(self.text.path(), self.text.line, &expected, token)
        })
    }

    fn node(&mut self) -> Result<()> {
        let line = self.text.line;
        if self.vertices.is_decided() {
            return Err(self.text.bad("all vertices before the edges", "`node` after the first edge"));
        }
        let (mut id, mut label) = (None, None);
        self.each_value(|key, value| {
            match key {
                b"id" => id = Some(value),
                b"label" => label = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        let id = id.ok_or_else(|| self.text.bad("a vertex with the key `id`", "`node` without `id`"))?;
        let id = self.number("id", &id)?;
        let label = match &label {
            Some(Token::Text(text)) => Some(unescaped(text)),
            Some(Token::Word(word)) => Some(Cow::Borrowed(&word[..])),
            _ => None,
        };
        self.vertices.add(id, label.as_deref(), line)
    }

    fn edge(&mut self) -> Result<Edge> {
        let line = self.text.line;
        let (mut source, mut target, mut weight) = (None, None, None);
        let name = self.weight_name.clone();
        self.each_value(|key, value| {
            match key {
                b"source" => source = Some(value),
                b"target" => target = Some(value),
                key if name.as_ref().is_some_and(|name| name.as_bytes() == key) => weight = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        let mut ends = [0; 2];
        for (place, (name, value)) in ends.iter_mut().zip([("source", source), ("target", target)]) {
            let missing =
                || self.text.bad(&format!("an edge with the key `{name}`"), &format!("`edge` without `{name}`"));
            *place = self.number(name, &value.ok_or_else(missing)?)?;
            if !self.vertices.has(*place) {
                let found = place.to_string();
                let path = self.text.path();
                return Err(bad_record(path, line, "an edge between vertices above it", found.as_bytes()));
            }
        }
        let weight = weight.and_then(|value| match value {
            Token::Word(token) | Token::Text(token) => Some(token),
            _ => None,
        });
        Ok(Edge { line, ends, weight })
    }

    fn push(&mut self, edge: &Edge, records: &mut Records) {
        let [source, target] = edge.ends.map(|end| self.vertices.id(end));
        records.edge(edge.line, [&source, &target], edge.weight.as_deref(), &[]);
    }

    /// Takes a key of the graph and its value; false at the end of the graph.
    fn member(&mut self, records: &mut Records) -> Result<bool> {
        match self.token()? {
            Token::Word(key) => match key.as_slice() {
                b"node" => self.node()?,
                b"edge" => {
                    let edge = self.edge()?;
                    self.weighted |= edge.weight.is_some();
                    if self.vertices.is_decided() {
                        self.push(&edge, records);
                    } else {
                        self.vertices.decide(0);
                        self.waiting = Some(edge);
                    }
                }
                b"directed" => {
                    let value = self.token()?;
                    let directed = match self.number("directed", &value)? {
                        0 => false,
                        1 => true,
                        number => return Err(self.text.bad("0 or 1 as `directed`", &number.to_string())),
                    };
                    if self.vertices.is_decided() && directed != self.directed.unwrap_or(false) {
                        return Err(self.text.bad("`directed` before the edges", "`directed` after the first edge"));
                    }
                    self.directed = Some(directed);
                }
                b"multigraph" => {
                    let value = self.token()?;
                    self.is_multigraph = self.number("multigraph", &value)? == 1;
                }
                key => {
                    self.has_string_ids |= key == STRING_IDS.as_bytes();
                    self.skip_value()?;
                }
            },
            Token::Close => return Ok(false),
            Token::End => return Err(self.text.truncated("the end of the graph, `]`")),
            other => return Err(self.text.bad("a key", &other.shown())),
        }
        Ok(true)
    }

    /// Takes a key of the file and its value; false at the end of the file.
    fn outside(&mut self) -> Result<bool> {
        match self.token()? {
            Token::End if self.graph.is_none() => Err(self.text.truncated("a key `graph`")),
            Token::End => Ok(false),
            Token::Word(key) if key == b"graph" => {
                if self.graph.is_some() {
                    let found = "a second key `graph`";
                    return Err(self.text.bad("one graph", found).advise("make a file of each graph"));
                }
                self.graph = Some(true);
                match self.token()? {
                    Token::Open => Ok(true),
                    other => Err(self.text.bad("`[` behind `graph`", &other.shown())),
                }
            }
            Token::Word(_) => self.skip_value().map(|()| true),
            other => Err(self.text.bad("a key", &other.shown())),
        }
    }
}

impl ReadRecords for Gml {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        if self.vertices.is_decided() && self.vertices.push(self.text.line, records) {
            return Ok(true);
        }
        if let Some(edge) = self.waiting.take() {
            self.push(&edge, records);
            return Ok(true);
        }
        if self.graph == Some(true) {
            if !self.member(records)? {
                self.graph = Some(false);
                if !self.vertices.is_decided() {
                    self.vertices.decide(0);
                }
            }
            return Ok(true);
        }
        self.outside()
    }

    fn known(&self) -> Result<Known> {
        let weights = self.weight_name.clone().filter(|_| self.weighted || self.is_asked);
        Ok(Known {
            directed: Some(self.directed.unwrap_or(false)),
            weights: weights.map(|name| WeightRule { name, default: None }),
            notes: self.vertices.note().into_iter().collect(),
            strings: self.has_string_ids.then_some(true),
            keeps_parallel: self.is_multigraph,
            ..Known::default()
        })
    }

    fn stream(&self) -> &Stream {
        self.text.stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::characters::MOST_BYTES;
    use crate::testing::{edges_of, edges_with, failure_of};

    #[test]
    fn labels_are_ids_where_they_are_unique() {
        let text = b"Creator \"x [ y\"\n# comment ]\ngraph [ comment \"of ] it\" directed 1\n\
                     node [ id 3 label \"a &amp; b\" graphics [ x 1.5 fill \"]\" deep [ d 1 ] ] ]\n\
                     node [ id -1 label \"&#233;\"]\nnode [ id 4 label \"alone &; &nope;\" ]\n\
                     edge [ source 3 target -1 weight 2.5 label \"x\" ]\nedge[source 3 target 3 weight 1]]";
        let read = edges_of("gml", text);
        let names = [("a & b", "\u{e9}"), ("a & b", "a & b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!((read.names, read.weights), (names.to_vec(), vec![2.5, 1.0]));
        assert_eq!(read.facts.directed, Some(true));
        assert_eq!(read.facts.notes, ["The ids are the labels of the vertices."]);
        let text = b"graph [ node [ id 3 label \"a\" ] node [ id 2 label \"a\" ] edge [ source 3 target 2 ] ]";
        let read = edges_of("gml", text);
        assert_eq!((read.pairs, read.vertices, read.facts.directed), (vec![(3, 2)], vec![3, 2], Some(false)));
        assert!(read.facts.notes[0].contains("the same label"));
        let read = edges_of("gml", b"graph [ node [ id 3 ] node [ id 2 ] ]");
        assert_eq!((read.vertices, read.facts.notes.len()), (vec![3, 2], 0));
    }

    #[test]
    fn weights_are_found_by_their_key() {
        let text = b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 value 3 ] ]";
        assert!(edges_of("gml", text).weights.is_empty());
        let with = |name: &str| InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() };
        assert_eq!(edges_with("gml", text, &with("value")).weights, [3.0]);
        let some = b"graph [ node [ id 1 ] edge [ source 1 target 1 weight 3 ] edge [ source 1 target 1 ] ]";
        assert!(failure_of("gml", some).contains("--weight none"));
        assert_eq!(edges_with("gml", some, &with("none")).pairs.len(), 2);
    }

    #[test]
    fn malformed_gml_is_refused_with_its_line() {
        let node = "node [ id 1 ]";
        for (graph, expected) in [
            ("node [ label \"x\" ]", "the key `id`"),
            ("node [ id 1.5 ]", "a whole number"),
            ("node [ id 1 ] node [ id 1 ]", "every number of a vertex once"),
            ("edge [ source 1 target 1 ]", "between vertices above it"),
            ("node [ id 1 ] edge [ source 1 ]", "the key `target`"),
            ("node [ id 1 ] edge [ source 1 target 1 ] node [ id 2 ]", "all vertices before the edges"),
            ("node [ id 1 ] edge [ source 1 target 1 ] directed 1", "`directed` before"),
            ("directed 2", "0 or 1"),
            ("node [ id ]", "a value behind a key"),
            ("node 5", "expected `[`, found `5`"),
            ("] graph [", "a second key `graph`"),
            ("\"x\" 5", "expected a key, found `x`"),
            ("node [ id 1 label \"x ]", "the end of a text"),
            ("node [ id 1", "truncated"),
        ] {
            let error = failure_of("gml", format!("graph [ {graph} ]").as_bytes());
            assert!(error.contains(expected) && error.contains("gml:1: expected"), "{graph}: {error}");
        }
        let long = format!("graph [ {node} x \"{}\" ]", "y".repeat(MOST_BYTES + 1));
        assert!(failure_of("gml", long.as_bytes()).contains("at most 1 MiB"));
        assert!(
            failure_of("gml", format!("graph [ {node} x {}", "[ y ".repeat(300_000)).as_bytes()).contains("truncated")
        );
    }
}
