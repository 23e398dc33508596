//! DOT, the language of Graphviz: vertices and edges in statements.
//!
//! An edge leads along `->` in a `digraph`, and has no direction along `--` in a `graph`. `a -> b -> c` are two edges,
//! and `a -> {b c}` leads to every vertex within. The weights are the attribute `weight`, or the one that the user
//! names, of an edge or of all that follow `edge [weight=2]` in the braces; without it an edge weighs 1, as in
//! Graphviz. In a graph that is not `strict`, parallel edges are meant. Ports and other attributes are passed over.
//!
//! Open braces are a stack. Of the vertices within them only the ids are stored, since they may be an end of edges. The
//! edges of a statement are counted before the first of them is handed over.
//!
//! Format: "The DOT Language", graphviz.org.

use crate::batch::{InputOptions, Source};
use crate::documents::characters::{Characters, END, shown};
use crate::documents::records::{self, Known, ReadRecords, Records, WeightRule};
use crate::input::file::{Input, Stream};
use outcore_image::Result;

const MOST_DEPTH: usize = 256;
/// Memory limit for ids in braces that are the end of edges, and for the ids of a statement.
const MOST_ENDS_BYTES: usize = 1 << 20;
const ID_BYTES: usize = 32;
/// Most edges of a statement: between braces every vertex is joined to every other one.
const MOST_STATEMENT_EDGES: u64 = 1 << 24;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    records::open("dot", input, options, |stream| Dot::new(stream, options))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A name that may be a keyword.
    Word(Vec<u8>),
    /// A name in quotes, which is no keyword.
    Text(Vec<u8>),
    Sign(u8),
    /// `->` or `--`.
    Edge {
        directed: bool,
    },
    End,
}

impl Token {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if own.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn shown(&self) -> String {
        match self {
            Token::Word(text) | Token::Text(text) => shown(text),
            Token::Sign(sign) => format!("`{}`", char::from(*sign)),
            Token::Edge { directed } => if *directed { "`->`" } else { "`--`" }.to_owned(),
            Token::End => END.to_owned(),
        }
    }
}

#[derive(Debug, Default)]
struct Ends {
    ids: Vec<Box<[u8]>>,
    bytes: usize,
    /// The ids take more than the limit, so none is stored.
    too_many: bool,
}

impl Ends {
    fn of(id: Vec<u8>) -> Self {
        let mut ends = Ends::default();
        ends.add(&id);
        ends
    }

    fn add(&mut self, id: &[u8]) {
        self.bytes += id.len() + ID_BYTES;
        if self.too_many || self.bytes > MOST_ENDS_BYTES {
            (self.too_many, self.ids) = (true, Vec::new());
        } else {
            self.ids.push(id.into());
        }
    }

    /// Every vertex once, in a fixed order.
    fn finish(mut self) -> Self {
        self.ids.sort_unstable();
        self.ids.dedup();
        self
    }
}

#[derive(Debug, Default)]
struct Chain {
    ends: Vec<Ends>,
    bytes: usize,
}

impl Chain {
    /// Number of edges between the ends.
    fn edges(&self) -> u64 {
        let count = |pair: &[Ends]| (pair[0].ids.len() as u64).saturating_mul(pair[1].ids.len() as u64);
        self.ends.windows(2).map(count).fold(0, u64::saturating_add)
    }

    fn push(&mut self, ends: Ends) {
        self.bytes += ends.bytes + ID_BYTES;
        self.ends.push(ends);
    }

    fn of(ends: Ends) -> Self {
        let mut chain = Chain::default();
        chain.push(ends);
        chain
    }
}

#[derive(Debug, Default)]
struct Scope {
    /// The weight of edges that have none of their own.
    weight: Option<Vec<u8>>,
    within: Ends,
    /// The ends of the statement outside that the braces are part of.
    outside: Chain,
}

/// Edges of a statement that are still to be handed over.
struct Pending {
    chain: Chain,
    weight: Option<Vec<u8>>,
    line: u64,
    /// Places of the next edge: of its first end in the chain, and of its vertices in both ends.
    at: [usize; 3],
}

struct Dot {
    text: Characters,
    ahead: Option<Token>,
    /// Name of the weights; `None` if they are not wanted.
    weight_name: Option<String>,
    is_asked: bool,
    weighted: bool,
    directed: bool,
    strict: bool,
    scopes: Vec<Scope>,
    has_begun: bool,
    pending: Option<Pending>,
}

impl Dot {
    fn new(stream: Stream, options: &InputOptions) -> Result<Self> {
        let weight_name = Some(options.weight.clone().unwrap_or("weight".to_owned())).filter(|name| name != "none");
        Ok(Dot {
            text: Characters::new(stream),
            ahead: None,
            is_asked: options.weight.is_some(),
            weight_name,
            weighted: false,
            directed: false,
            strict: false,
            scopes: Vec::new(),
            has_begun: false,
            pending: None,
        })
    }

    fn skip_blanks(&mut self) -> Result<()> {
        while let Some(byte) = self.text.peek()? {
            match byte {
                // Lines of a preprocessor.
                b'#' => self.skip_line()?,
                b'/' => {
                    self.text.skip();
                    match self.text.peek()? {
                        Some(b'/') => self.skip_line()?,
                        Some(b'*') => self.skip_comment()?,
                        _ => {
                            let found = self.text.next_shown()?;
                            return Err(self.text.bad("a comment behind `/`", &found));
                        }
                    }
                }
                byte if byte.is_ascii_whitespace() => self.text.skip(),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) -> Result<()> {
        while self.text.peek()?.is_some_and(|byte| byte != b'\n') {
            self.text.skip();
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<()> {
        self.text.skip();
        let mut last = 0;
        while let Some(byte) = self.text.peek()? {
            self.text.skip();
            if last == b'*' && byte == b'/' {
                return Ok(());
            }
            last = byte;
        }
        Err(self.text.truncated("the end of a comment, `*/`"))
    }

    fn next(&mut self) -> Result<Token> {
        if let Some(token) = self.ahead.take() {
            return Ok(token);
        }
        self.skip_blanks()?;
        let Some(byte) = self.text.peek()? else { return Ok(Token::End) };
        match byte {
            b'{' | b'}' | b'[' | b']' | b';' | b',' | b'=' | b':' => {
                self.text.skip();
                Ok(Token::Sign(byte))
            }
            b'"' => self.quoted().map(Token::Text),
            b'<' => self.html().map(Token::Text),
            b'-' => {
                self.text.skip();
                match self.text.peek()? {
                    Some(b'>') => {
                        self.text.skip();
                        Ok(Token::Edge { directed: true })
                    }
                    Some(b'-') => {
                        self.text.skip();
                        Ok(Token::Edge { directed: false })
                    }
                    Some(byte) if byte.is_ascii_digit() || byte == b'.' => self.word(vec![b'-']),
                    _ => {
                        let found = self.text.next_shown()?;
                        Err(self.text.bad("`->`, `--` or a number behind `-`", &found))
                    }
                }
            }
            _ => self.word(Vec::new()),
        }
    }

    fn word(&mut self, mut word: Vec<u8>) -> Result<Token> {
        while let Some(byte) = self.text.peek()? {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80) {
                break;
            }
            self.text.push(&mut word, byte)?;
            self.text.skip();
        }
        if word.is_empty() {
            let found = self.text.next_shown()?;
            return Err(self.text.bad("a name, a number or a text in quotes", &found));
        }
        Ok(Token::Word(word))
    }

    /// A text in quotes, and those that `+` adds to it.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            self.text.skip();
            loop {
                let Some(byte) = self.text.peek()? else {
                    return Err(self.text.truncated("the end of a text in quotes"));
                };
                self.text.skip();
                match byte {
                    b'"' => break,
                    b'\\' => match self.text.peek()? {
                        Some(b'"') => {
                            self.text.skip();
                            self.text.push(&mut text, b'"')?;
                        }
                        // The line goes on.
                        Some(b'\n') => self.text.skip(),
                        Some(b'\r') => {
                            self.text.skip();
                            if self.text.peek()? == Some(b'\n') {
                                self.text.skip();
                            }
                        }
                        // Other escapes are for the program that draws the text.
                        Some(b'\\') => {
                            self.text.skip();
                            self.text.push(&mut text, b'\\')?;
                            self.text.push(&mut text, b'\\')?;
                        }
                        _ => self.text.push(&mut text, b'\\')?,
                    },
                    byte => self.text.push(&mut text, byte)?,
                }
            }
            self.skip_blanks()?;
            if self.text.peek()? != Some(b'+') {
                return Ok(text);
            }
            self.text.skip();
            self.skip_blanks()?;
            if self.text.peek()? != Some(b'"') {
                let found = self.text.next_shown()?;
                return Err(self.text.bad("a text in quotes behind `+`", &found));
            }
        }
    }

    /// The text between `<` and its `>`, both included.
    fn html(&mut self) -> Result<Vec<u8>> {
        let (mut text, mut depth) = (Vec::new(), 0u64);
        while let Some(byte) = self.text.peek()? {
            self.text.skip();
            self.text.push(&mut text, byte)?;
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(text);
            }
        }
        Err(self.text.truncated("the end of a text in angle brackets"))
    }

    fn name(&mut self, expected: &str) -> Result<Vec<u8>> {
        match self.next()? {
            Token::Word(name) | Token::Text(name) => Ok(name),
            Token::End => Err(self.text.truncated(expected)),
            other => Err(self.text.bad(expected, &other.shown())),
        }
    }

    fn takes(&mut self, sign: u8) -> Result<bool> {
        let token = self.next()?;
        if token == Token::Sign(sign) {
            return Ok(true);
        }
        self.ahead = Some(token);
        Ok(false)
    }

    /// The attributes in brackets, if there are some; returns the weight.
    fn attributes(&mut self) -> Result<Option<Vec<u8>>> {
        let mut weight = None;
        while self.takes(b'[')? {
            loop {
                let name = match self.next()? {
                    Token::Sign(b']') => break,
                    Token::Sign(b',' | b';') => continue,
                    Token::Word(name) | Token::Text(name) => name,
                    Token::End => return Err(self.text.truncated("`]`")),
                    other => return Err(self.text.bad("the name of an attribute, or `]`", &other.shown())),
                };
                // Without a value it is true.
                let value = if self.takes(b'=')? { self.name("the value of an attribute")? } else { b"true".to_vec() };
                if self.weight_name.as_ref().is_some_and(|own| own.as_bytes() == name) {
                    weight = Some(value);
                }
            }
        }
        Ok(weight)
    }

    fn begin(&mut self) -> Result<()> {
        let mut token = self.next()?;
        if token.is_word("strict") {
            self.strict = true;
            token = self.next()?;
        }
        self.directed = token.is_word("digraph");
        if !self.directed && !token.is_word("graph") {
            return Err(self.text.bad("`graph` or `digraph`", &token.shown()));
        }
        if !self.takes(b'{')? {
            self.name("a name or `{`")?;
            if !self.takes(b'{')? {
                let found = self.next()?.shown();
                return Err(self.text.bad("`{`", &found));
            }
        }
        self.has_begun = true;
        self.scopes.push(Scope::default());
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope {
        // There is one until the last brace, and nothing is read behind that.
        self.scopes.last_mut().unwrap_or_else(|| unreachable!("statements are within braces"))
    }

    /// Opens braces, whose vertices are the next end of a statement with these ends.
    fn open_braces(&mut self, outside: Chain) -> Result<()> {
        if self.scopes.len() == MOST_DEPTH {
            return Err(self
                .text
                .bad(&format!("braces at most {MOST_DEPTH} deep"), &format!("braces at depth {}", MOST_DEPTH + 1)));
        }
        let of_scope = |scope: &Scope| scope.within.bytes + scope.outside.bytes;
        // The memory of open scopes is bounded, however deep braces are nested.
        let too_many = self.scopes.iter().map(of_scope).sum::<usize>() > MOST_ENDS_BYTES;
        let weight = self.scope().weight.clone();
        self.scopes.push(Scope { weight, within: Ends { too_many, ..Ends::default() }, outside });
        Ok(())
    }

    /// Takes a statement, or a part of one; false behind the last brace.
    fn statement(&mut self, records: &mut Records) -> Result<bool> {
        let token = self.next()?;
        match token {
            Token::Sign(b';') => Ok(true),
            Token::Sign(b'{') => self.open_braces(Chain::default()).map(|()| true),
            Token::Sign(b'}') => self.close_braces(records),
            Token::End => Err(self.text.truncated("`}`")),
            _ if token.is_word("subgraph") => self.subgraph(Chain::default()).map(|()| true),
            _ if token.is_word("edge") => {
                let weight = self.attributes()?;
                self.weighted |= weight.is_some();
                let scope = self.scope();
                scope.weight = weight.or(scope.weight.take());
                Ok(true)
            }
            _ if token.is_word("node") || token.is_word("graph") => self.attributes().map(|_| true),
            Token::Word(name) | Token::Text(name) => {
                if self.takes(b'=')? {
                    self.name("a value behind `=`")?;
                    return Ok(true);
                }
                self.port()?;
                self.check_id(&name)?;
                self.behind_end(Chain::of(Ends::of(name)), true, records).map(|()| true)
            }
            other => Err(self.text.bad("a vertex, an edge or `}`", &other.shown())),
        }
    }

    fn check_id(&self, id: &[u8]) -> Result<()> {
        match std::str::from_utf8(id) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.text.bad("an id in UTF-8", &shown(id)).advise("convert the file to UTF-8")),
        }
    }

    /// Passes over where an edge touches a vertex: `:port`, `:port:n`.
    fn port(&mut self) -> Result<()> {
        while self.takes(b':')? {
            self.name("the name of a port behind `:`")?;
        }
        Ok(())
    }

    fn subgraph(&mut self, outside: Chain) -> Result<()> {
        if !self.takes(b'{')? {
            self.name("a name or `{` behind `subgraph`")?;
            if !self.takes(b'{')? {
                let found = self.next()?.shown();
                return Err(self.text.bad("`{` behind `subgraph`", &found));
            }
        }
        self.open_braces(outside)
    }

    fn close_braces(&mut self, records: &mut Records) -> Result<bool> {
        let Some(Scope { within, mut outside, .. }) = self.scopes.pop() else { return Ok(false) };
        let Some(around) = self.scopes.last_mut() else {
            return match self.next()? {
                Token::End => Ok(false),
                token => {
                    let found = format!("{} behind its last brace", token.shown());
                    Err(self.text.bad("one graph", &found).advise("make a file of each graph"))
                }
            };
        };
        let within = within.finish();
        around.within.too_many |= within.too_many;
        within.ids.iter().for_each(|id| around.within.add(id));
        outside.push(within);
        self.behind_end(outside, false, records).map(|()| true)
    }

    /// Reads the continuation of a statement after an end of edges: another edge, attributes, or the next statement.
    /// The last end is one vertex, or the content of braces.
    fn behind_end(&mut self, mut chain: Chain, mut is_vertex: bool, records: &mut Records) -> Result<()> {
        loop {
            if is_vertex {
                let last = chain.ends.last().map(|last| last.ids.clone()).unwrap_or_default();
                let scope = self.scope();
                last.iter().for_each(|id| scope.within.add(id));
            }
            let token = self.next()?;
            let Token::Edge { directed } = token else {
                self.ahead = Some(token);
                break;
            };
            if directed != self.directed {
                let (graph, sign) = if self.directed { ("digraph", "->") } else { ("graph", "--") };
                return Err(self.text.bad(&format!("`{sign}` in a {graph}"), &token.shown()));
            }
            if chain.bytes > MOST_ENDS_BYTES {
                let found = format!("ids that take {} bytes", chain.bytes);
                return Err(self.text.bad("a statement whose ids take at most 1 MiB", &found));
            }
            match self.next()? {
                Token::Sign(b'{') => return self.open_braces(chain),
                token if token.is_word("subgraph") => return self.subgraph(chain),
                Token::Word(name) | Token::Text(name) => {
                    self.port()?;
                    self.check_id(&name)?;
                    chain.push(Ends::of(name));
                    is_vertex = true;
                }
                other => return Err(self.text.bad("a vertex behind an edge", &other.shown())),
            }
        }
        let line = self.text.line;
        let weight = self.attributes()?;
        if chain.ends.len() == 1 {
            if is_vertex {
                chain.ends[0].ids.iter().for_each(|id| records.vertex(line, id, &[]));
            }
            return Ok(());
        }
        if chain.ends.iter().any(|ends| ends.too_many) {
            let expected = "braces whose ids take at most 1 MiB as the end of edges";
            return Err(self.text.bad(expected, "ids of more than 1 MiB"));
        }
        if chain.edges() > MOST_STATEMENT_EDGES {
            let expected = format!("a statement of at most {MOST_STATEMENT_EDGES} edges");
            let found = format!("{}, since each vertex in braces leads to each in the next ones", chain.edges());
            return Err(self.text.bad(&expected, &found).advise("write the edges as a list, `source target` a line"));
        }
        self.weighted |= weight.is_some();
        let weight = weight.or_else(|| self.scope().weight.clone());
        self.pending = Some(Pending { chain, weight, line, at: [0; 3] });
        Ok(())
    }

    fn push(&mut self, records: &mut Records) {
        let Some(pending) = &mut self.pending else { return };
        let Pending { chain, weight, line, at } = pending;
        let [link, source, target] = *at;
        let Some([sources, targets]) = chain.ends.get(link..link + 2) else {
            self.pending = None;
            return;
        };
        match (sources.ids.get(source), targets.ids.get(target)) {
            (Some(from), Some(to)) => {
                records.edge(*line, [from, to], weight.as_deref(), &[]);
                *at = [link, source, target + 1];
            }
            (Some(_), None) if target > 0 => *at = [link, source + 1, 0],
            _ => *at = [link + 1, 0, 0],
        }
    }
}

impl ReadRecords for Dot {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        if self.pending.is_some() {
            self.push(records);
            return Ok(true);
        }
        if !self.has_begun {
            self.begin()?;
            return Ok(true);
        }
        if self.scopes.is_empty() { Ok(false) } else { self.statement(records) }
    }

    fn known(&self) -> Result<Known> {
        let weights = self.weight_name.clone().filter(|_| self.weighted || self.is_asked);
        // Graphviz knows `weight` only.
        let rule = |name: String| WeightRule { default: (name == "weight").then_some(1.0), name };
        Ok(Known {
            directed: Some(self.directed),
            weights: weights.map(rule),
            keeps_parallel: !self.strict,
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
    use crate::testing::{edges_of, edges_with, failure_of};

    fn names(text: &str) -> Vec<(String, String)> {
        edges_of("dot", text.as_bytes()).names
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn statements_become_edges() {
        assert_eq!(names("digraph { a -> b -> c; d }"), pairs(&[("a", "b"), ("b", "c")]));
        assert_eq!(names("GRAPH \"g\" {\nA--B\n# note\nB--\"c d\":n:sw /* x */ -- <<b>x</b>>; }").len(), 3);
        assert_eq!(names("digraph{a->{b c}->d}"), pairs(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]));
        assert_eq!(names("digraph{subgraph x {a b; a} -> subgraph {c->d}}"), {
            pairs(&[("c", "d"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")])
        });
        assert_eq!(names("digraph{{} -> a; b -> {} ; {{x} y} -> z}"), pairs(&[("x", "z"), ("y", "z")]));
        assert_eq!(names("graph{\"a\\\"b\" -- \"x\" + // y\n \"y\\\nz\"; \"\\n\" -- \u{e9}}"), {
            pairs(&[("a\"b", "xyz"), ("\\n", "\u{e9}")])
        });
        let read = edges_of("dot", b"graph { 1 -- 2 [label=x]; node [shape=box]; 5; rankdir=LR; -3 -- 2; 2--1 }");
        assert_eq!(read.pairs, [(1, 2), (-3i64 as u64, 2), (2, 1)]);
        assert_eq!((read.vertices, read.facts.directed, read.facts.keeps_parallel), (vec![5], Some(false), true));
        let read = edges_of("dot", b"strict digraph g { }");
        assert_eq!((read.names.len() + read.pairs.len(), read.facts.keeps_parallel), (0, false));
    }

    #[test]
    fn weights_are_attributes_of_edges() {
        let text = b"digraph { edge [weight=2.5]; a->b; c->d [x=1, weight=4][y]; { edge [weight=7]; e->f } g->h }";
        assert_eq!(edges_of("dot", text).weights, [2.5, 4.0, 7.0, 2.5]);
        let some = b"digraph { a->b [weight=3]; b->c }";
        assert_eq!(edges_of("dot", some).weights, [3.0, 1.0]);
        let with = |name: &str| InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() };
        assert!(edges_with("dot", some, &with("none")).weights.is_empty());
        assert_eq!(edges_with("dot", b"digraph { a->b [len=3] }", &with("len")).weights, [3.0]);
        assert!(edges_of("dot", b"digraph { a->b [len=3] }").weights.is_empty());
    }

    #[test]
    fn edges_between_braces_are_counted_before_they_are_made() {
        let set = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i} ")).collect::<String>();
        let text = |sources, targets| format!("graph {{ {{{}}} -- {{{}}} }}", set('a', sources), set('b', targets));
        let error = failure_of("dot", text(5000, 4000).as_bytes());
        assert!(error.contains("at most 16777216 edges") && error.contains("found 20000000"), "{error}");
        assert_eq!(edges_of("dot", text(300, 200).as_bytes()).names.len(), 60_000);
    }

    #[test]
    fn malformed_dot_is_refused_with_its_line() {
        for (text, expected) in [
            ("digraph { a -- b }", "`->` in a digraph"),
            ("graph { a -> b }", "`--` in a graph"),
            ("tree { }", "`graph` or `digraph`"),
            ("graph { a -- }", "a vertex behind an edge"),
            ("graph { a -- b", "truncated"),
            ("graph { a [x=", "truncated"),
            ("graph { \"a }", "the end of a text in quotes"),
            ("graph { <a }", "angle brackets"),
            ("graph { /* a }", "the end of a comment"),
            ("graph { a } graph { b }", "one graph"),
            ("graph { a [= b] }", "the name of an attribute"),
            ("graph { a = }", "a value behind `=`"),
            ("graph { ] }", "a vertex, an edge or `}`"),
            ("graph { a - b }", "a number behind `-`"),
            ("digraph { a, b -> c }", "a vertex, an edge or `}`"),
            ("digraph { a-b -> c }", "a number behind `-`"),
            ("graph g h { }", "`{`"),
            ("graph { A--B [weight=x] }", "`x`"),
        ] {
            let error = failure_of("dot", text.as_bytes());
            assert!(error.contains(expected) && error.contains("dot:1: expected"), "{text}: {error}");
        }
        let empty = format!("digraph {{ a {}-> b }}", "-> {} ".repeat(200_000));
        assert!(failure_of("dot", empty.as_bytes()).contains("1 MiB"));
        assert_eq!(edges_of("dot", b"graph { \"a\\\r\nb\" -- c }").names, pairs(&[("ab", "c")]));
        assert!(failure_of("dot", b"digraph { \"\xe4\" -> b }").contains("UTF-8"));
        assert_eq!(edges_of("dot", b"\xef\xbb\xbfgraph { 1 -- -.5 }").names.len(), 1);
        assert!(failure_of("dot", format!("graph {}", "{".repeat(300)).as_bytes()).contains("deep"));
        let many: String = (0..100_000).map(|id| format!("v{id} ")).collect();
        assert_eq!(edges_of("dot", format!("graph {{ {{ {many} }} }}").as_bytes()).names, []);
        assert!(failure_of("dot", format!("graph {{ {{ {many} }} -- a }}").as_bytes()).contains("1 MiB"));
        assert!(failure_of("dot", format!("graph {{ a{} }}", " -- b".repeat(100_000)).as_bytes()).contains("1 MiB"));
    }
}
