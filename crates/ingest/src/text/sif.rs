//! SIF, Cytoscape's simple interaction format: a vertex, an interaction and vertices that it leads to, a line.
//!
//! A line of one field is a vertex, and a tab behind it shows that blanks are part of it. Columns are between tabs if
//! one of the first lines has one, else between blanks, and lines of the other kind are refused.
//! Edges have the direction of the lines unless the user says that they have none. Interactions are an attribute, if it
//! is asked for; edges between two vertices with several interactions are parallel.
//!
//! Format: Cytoscape User Manual, "Supported Network File Formats", SIF.

use crate::batch::{InputOptions, Source};
use crate::documents::records::{self, Known, ReadRecords, Records};
use crate::input::file::{Input, Stream};
use crate::tables::attributes::{AttributeField, Attributes};
use crate::text::blocks::RecordLines;
use crate::text::number::real;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};

const NAME: &str = "interaction";

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    if let Some(asked) = options.weight.as_deref().filter(|asked| *asked != "none") {
        return Err(Error::Usage(format!("--weight {asked}: SIF has no weights; leave the option out")));
    }
    let is_kept = match &options.attributes {
        Attributes::None => false,
        Attributes::All => true,
        Attributes::Named(names) => {
            if let Some(other) = names.iter().find(|name| *name != NAME) {
                return Err(Error::Usage(format!("--attributes {other}: SIF has one attribute, {NAME}")));
            }
            true
        }
    };
    let is_read = is_kept || options.conditions.iter().any(|condition| condition.column == NAME);
    records::open("sif", input, options, |stream| Sif::new(stream, is_read))
}

struct Sif {
    lines: RecordLines,
    has_tabs: bool,
    is_kept: bool,
}

impl Sif {
    fn new(stream: Stream, is_kept: bool) -> Result<Self> {
        let mut lines = RecordLines::new(stream);
        let has_tabs = lines.blocks.peek()?.1.contains(&b'\t');
        Ok(Sif { lines, has_tabs, is_kept })
    }
}

impl ReadRecords for Sif {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        let Some(line) = self.lines.next()? else { return Ok(false) };
        let Ok(text) = std::str::from_utf8(&line) else {
            return Err(self.lines.bad("text in UTF-8", &line).advise("convert the file to UTF-8"));
        };
        let is_mixed = match self.has_tabs {
            true => {
                let has_tab = text.contains('\t') || self.lines.ends_in_tab;
                !has_tab && text.split_ascii_whitespace().count() > 2
            }
            false => text.contains('\t'),
        };
        if is_mixed {
            let expected = "columns between tabs, or between blanks, on all lines alike";
            return Err(self.lines.bad(expected, &line).advise("bring the lines into one form"));
        }
        let is_between = |c: char| if self.has_tabs { c == '\t' } else { c.is_ascii_whitespace() };
        let mut fields = text.split(is_between).map(str::trim_ascii).filter(|field| !field.is_empty());
        let (source, interaction) = (fields.next().unwrap_or_default().as_bytes(), fields.next());
        let number = self.lines.line;
        let Some(interaction) = interaction else {
            records.vertex(number, source, &[]);
            return Ok(true);
        };
        if real(interaction.as_bytes()).is_some() {
            return Err(self
                .lines
                .bad("an interaction that is a word", &line)
                .advise("if these are columns of a list of edges, say --format edge-list"));
        }
        let values = if self.is_kept { vec![Some(interaction.to_owned())] } else { Vec::new() };
        let mut targets = fields.peekable();
        if targets.peek().is_none() {
            return Err(self.lines.bad("a vertex alone, or a vertex, an interaction and other vertices", &line));
        }
        targets.for_each(|target| records.edge(number, [source, target.as_bytes()], None, &values));
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        let field = || AttributeField { name: NAME.to_owned(), kind: AttributeKind::String };
        let note = "The interactions are not read. To keep them, say --attributes 'interaction'.";
        Ok(Known {
            attributes: [self.is_kept.then(field).into_iter().collect(), Vec::new()],
            notes: (!self.is_kept).then(|| note.to_owned()).into_iter().collect(),
            longest_line_bytes: self.lines.blocks.facts().longest_line_bytes,
            ..Known::default()
        })
    }

    fn stream(&self) -> &Stream {
        self.lines.blocks.stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::AttributeValues;
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    fn names(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn lines_are_edges_to_all_that_follow() {
        let read = edges_of("sif", b"a pp b c\r\n\nd\n b  pd a");
        assert_eq!(read.names, names(&[("a", "b"), ("a", "c"), ("b", "a")]));
        assert_eq!((read.facts.directed, read.facts.notes.len()), (None, 1));
        let read = edges_of("sif", b"gene one\tpp\tgene two\t three\ngene four\n");
        assert_eq!(read.names, names(&[("gene one", "gene two"), ("gene one", "three")]));
        assert_eq!(edges_of("sif", b"1 pp 2\n7\n").pairs, [(1, 2)]);
        assert_eq!(edges_of("sif", b"1 pp 2\n7\n").vertices, [7]);
        assert!(edges_of("sif", b"").pairs.is_empty());
        assert!(edges_of("sif", b"a pp b\t\nc d\t\r\ne f g\t\n").names.is_empty());
        let read = edges_of("sif", b"a\tpp\tb\na pp b\t\n");
        assert_eq!(read.names, names(&[("a", "b")]));
    }

    #[test]
    fn interactions_are_an_attribute_where_it_is_asked_for() {
        let with = |attributes| InputOptions { attributes, ..InputOptions::default() };
        for attributes in [Attributes::All, Attributes::Named(vec![NAME.to_owned()])] {
            let read = edges_with("sif", b"a pp b c\nd\nb pd a\n", &with(attributes));
            let AttributeValues::Text { bytes, ends } = &read.attributes[0].values else { panic!("no strings") };
            assert_eq!((&bytes[..], &ends[..]), (&b"pppppd"[..], &[2, 4, 6][..]));
            assert!(read.facts.notes.is_empty() && read.facts.vertex_attributes.is_empty());
        }
        let other = with(Attributes::Named(vec!["kind".to_owned()]));
        assert!(failure_with("sif", b"a pp b\n", &other).contains("one attribute"));
    }

    #[test]
    fn malformed_sif_is_refused() {
        assert!(failure_of("sif", b"a pp b\na pp\n").contains("sif:2: expected a vertex alone"));
        let late_tab = ["a pp b\n".repeat(200_000).as_bytes(), b"x\tpp\ty\n"].concat();
        for mixed in [&b"a\tpp\tb\nx pp y\n"[..], b"a pp b\nx\tpp\ty\n", &late_tab] {
            assert!(failure_of("sif", mixed).contains("on all lines alike"));
        }
        assert!(failure_of("sif", b"1 2 5\n").contains("--format edge-list"));
        assert!(failure_of("sif", b"a \xff b\n").contains("UTF-8"));
        assert!(failure_of("sif", b"a pp \xff\n").contains("UTF-8"));
        let weight = InputOptions { weight: Some("3".to_owned()), ..InputOptions::default() };
        assert!(failure_with("sif", b"a pp b\n", &weight).contains("no weights"));
    }
}
