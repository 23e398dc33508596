//! Pajek's networks: sections of lines that begin with `*Vertices`, `*Arcs`, `*Edges`, `*Arcslist`, `*Edgeslist` and
//! `*Matrix`.
//!
//! Vertices are numbered from 1 and may have labels; `numbered.rs` decides which of the two is their id. Arcs have a
//! direction and edges have none. A third number on a line is the weight; a line without one has weight 1 where others
//! have one. A matrix has a line for each vertex, with a weight for each vertex, and 0 where there is no arc; of a
//! network with vertices of two kinds, lines are for those of the first kind, and weights for the others. Several
//! sections, such as those of relations, are read as one graph. Other parameters on lines, such as places and colours,
//! are not read.
//!
//! Format: Batagelj and Mrvar, "Pajek: Reference Manual", section 5.3, "Data objects".

use crate::batch::{InputOptions, Source};
use crate::documents::numbered::NumberedVertices;
use crate::documents::records::{self, Directions, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::input::file::{Input, Stream};
use crate::text::blocks::RecordLines;
use crate::text::number::{integer, is_blank, is_infinite_or_nan, real, real_or_zero};
use crate::text::source::weights_wanted;
use outcore_image::{Error, Result};

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let wants_weights = weights_wanted(options.weight.as_deref(), "pajek", &["weight", "3"])?;
    records::open("pajek", input, options, |stream| Ok(Pajek::new(stream, input, options, wants_weights)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    None,
    Vertices,
    /// Two ends and a weight.
    Pairs {
        directed: bool,
    },
    /// A vertex and its neighbours.
    Lists {
        directed: bool,
    },
    /// The weights of the arcs of this vertex to all others come next.
    Matrix {
        row: i64,
    },
}

struct Pajek {
    lines: RecordLines,
    section: Section,
    /// Number of vertices that the section of vertices declares.
    count: Option<u64>,
    vertices: NumberedVertices,
    wants_weights: bool,
    /// The user asks for weights, or an edge has one.
    weighted: bool,
    /// Direction of the first edge, and of the first section of edges, which may have none.
    directed: Option<bool>,
    section_directed: Option<bool>,
    requested: Option<bool>,
    sections: u64,
    /// Number of vertices of the first kind, where there are two kinds.
    first_kind: Option<u64>,
    has_string_ids: bool,
}

/// The first fields of a line between blanks; one in quotes is without them.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|&byte| !is_blank(byte))?;
        rest = &rest[start..];
        if rest[0] == b'"' {
            let is_end = |&place: &usize| rest.get(place + 1).is_none_or(|&byte| is_blank(byte));
            if let Some(end) = memchr::memchr_iter(b'"', &rest[1..]).map(|place| place + 1).find(is_end) {
                let field = &rest[1..end];
                rest = &rest[end + 1..];
                return Some(field);
            }
        }
        let end = rest.iter().position(|&byte| is_blank(byte)).unwrap_or(rest.len());
        let (field, behind) = rest.split_at(end);
        rest = behind;
        Some(field)
    })
}

impl Pajek {
    fn new(stream: Stream, input: &Input, options: &InputOptions, wants_weights: bool) -> Self {
        Pajek {
            lines: RecordLines::new(stream),
            section: Section::None,
            count: None,
            vertices: NumberedVertices::new(input.path(), input.budget()),
            wants_weights,
            weighted: options.weight.is_some(),
            directed: None,
            section_directed: None,
            requested: options.directed,
            sections: 0,
            first_kind: None,
            has_string_ids: false,
        }
    }

    fn bad(&self, expected: &str, found: &[u8]) -> Error {
        self.lines.bad(expected, found)
    }

    /// Takes the next line that is no comment; nothing at the end.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        while let Some(line) = self.lines.next()? {
            self.has_string_ids |= line.strip_prefix(b"% ") == Some(STRING_IDS.as_bytes());
            if line[0] != b'%' {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The numbers of rows and of columns of a matrix.
    fn matrix_size(&self) -> [i64; 2] {
        let count = self.count.unwrap_or(0) as i64;
        self.first_kind.map_or([count, count], |rows| [rows as i64, count - rows as i64])
    }

    /// Refuses a matrix whose last rows are missing, at its end.
    fn check_matrix(&self) -> Result<()> {
        let [rows, _] = self.matrix_size();
        match self.section {
            Section::Matrix { row } if row <= rows => {
                let expected = format!("a matrix of {rows} rows, as `*Vertices` says");
                Err(Error::input(self.lines.blocks.path(), None, expected, format!("{} rows", row - 1)))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, line: &[u8]) -> Result<()> {
        self.check_matrix()?;
        let mut words = fields(line);
        let name = words.next().unwrap_or_default().to_ascii_lowercase();
        let name = name.split(|&byte| byte == b':').next().unwrap_or_default();
        let section = match name {
            b"*network" if self.section == Section::None => return Ok(()),
            b"*vertices" => {
                if self.count.is_some() {
                    return Err(self.bad("one network", line).advise("make a file of each network"));
                }
                let count = words.next().and_then(integer).and_then(|count| count.signed());
                let count = count.and_then(|count| u32::try_from(count).ok()).map(u64::from);
                self.count = Some(
                    count.ok_or_else(|| self.bad("`*Vertices` and how many there are, at most 4294967295", line))?,
                );
                let first_kind = words.next().and_then(integer).and_then(|count| count.unsigned());
                self.first_kind = first_kind.filter(|first| self.count.is_some_and(|count| *first <= count));
                self.section = Section::Vertices;
                return Ok(());
            }
            b"*arcs" => Section::Pairs { directed: true },
            b"*edges" => Section::Pairs { directed: false },
            b"*arcslist" => Section::Lists { directed: true },
            b"*edgeslist" => Section::Lists { directed: false },
            b"*matrix" if self.count.is_some() => Section::Matrix { row: 1 },
            _ => {
                return Err(self
                    .bad("a section of vertices, arcs or edges, or of lists of them", line)
                    .advise("take the section out, or read the file with NetworkX and import the graph"));
            }
        };
        let directed = match section {
            Section::Pairs { directed } | Section::Lists { directed } => directed,
            _ => true,
        };
        self.section_directed.get_or_insert(directed);
        self.sections += 1;
        self.section = section;
        self.decide();
        Ok(())
    }

    /// Number of vertices that the file counts but does not list.
    fn unlisted(&self) -> u64 {
        self.count.unwrap_or(0) - self.vertices.len()
    }

    /// Chooses labels or numbers as ids, since all vertices are known.
    fn decide(&mut self) {
        if !self.vertices.is_decided() {
            self.vertices.decide(self.unlisted());
        }
    }

    /// The number of a vertex, which must be there.
    fn number(&self, field: Option<&[u8]>, line: &[u8]) -> Result<i64> {
        let number = field.and_then(integer).and_then(|number| number.signed());
        let number = number.ok_or_else(|| self.bad("a number of a vertex", line))?;
        match self.count {
            Some(count) if number < 1 || number as u64 > count => {
                Err(self.bad(&format!("a number of a vertex from 1 to {count}"), line))
            }
            _ => Ok(number),
        }
    }

    fn vertex(&mut self, line: &[u8]) -> Result<()> {
        let mut words = fields(line);
        let number = self.number(words.next(), line)?;
        let label = words.next();
        if words.any(|word| word.contains(&b'"')) {
            // A quote before a blank within the label makes the end of the label ambiguous.
            return Err(self
                .bad("a label that ends at its first quote before a blank", line)
                .advise("rename the vertex"));
        }
        self.vertices.add(number, label, self.lines.line)
    }

    /// A row of a matrix.
    fn row(&mut self, row: i64, line: &[u8], records: &mut Records) -> Result<()> {
        let [rows, columns] = self.matrix_size();
        if row > rows {
            return Err(self.bad(&format!("{rows} rows of a matrix, as `*Vertices` says"), line));
        }
        let mut column = 0;
        for word in fields(line) {
            column += 1;
            let Some(number) = real_or_zero(word) else {
                return Err(self.bad("a finite number for every vertex, in a row of a matrix", line));
            };
            if number != 0.0 && column <= columns {
                let other = if self.first_kind.is_some() { rows + column } else { column };
                self.edge([row, other], true, Some(word).filter(|_| self.wants_weights), records)?;
            }
        }
        if column != columns {
            return Err(self.bad(&format!("{columns} numbers, a weight or 0 for every vertex"), line));
        }
        self.section = Section::Matrix { row: row + 1 };
        Ok(())
    }

    fn edge(&mut self, ends: [i64; 2], directed: bool, weight: Option<&[u8]>, records: &mut Records) -> Result<()> {
        let usual = *self.directed.get_or_insert(directed);
        self.weighted |= weight.is_some();
        let ids = ends.map(|end| self.vertices.id(end));
        let place = (self.lines.blocks.path(), self.lines.line);
        let directions = Directions { usual, requested: self.requested };
        directions.push(Some(directed), place, [&ids[0], &ids[1]], weight, &[], records)
    }

    fn data(&mut self, line: &[u8], records: &mut Records) -> Result<()> {
        match self.section {
            Section::None => Err(self.bad("a section such as `*Vertices`", line)),
            Section::Vertices => self.vertex(line),
            Section::Pairs { directed } => {
                let mut words = fields(line);
                let ends = [self.number(words.next(), line)?, self.number(words.next(), line)?];
                let weight = words.next().filter(|word| self.wants_weights && is_number(word));
                self.edge(ends, directed, weight, records)
            }
            Section::Lists { directed } => {
                let mut words = fields(line);
                let own = self.number(words.next(), line)?;
                for word in words {
                    let other = self.number(Some(word), line)?;
                    self.edge([own, other], directed, None, records)?;
                }
                Ok(())
            }
            Section::Matrix { row } => self.row(row, line, records),
        }
    }
}

/// Whether a field behind the ends is the weight, and not the name of another parameter.
fn is_number(field: &[u8]) -> bool {
    real(field).is_some()
        || is_infinite_or_nan(field)
        || field.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'))
}

impl ReadRecords for Pajek {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        if self.vertices.is_decided() && self.vertices.push(self.lines.line, records) {
            return Ok(true);
        }
        let Some(line) = self.next_line()? else {
            if self.section == Section::None {
                let (path, found) = (self.lines.blocks.path(), "the end of the file");
                return Err(Error::input(path, None, "a section such as `*Vertices`", found));
            }
            self.check_matrix()?;
            let is_left = !self.vertices.is_decided();
            self.decide();
            return Ok(is_left);
        };
        if line[0] == b'*' {
            self.begin(&line)?
        } else {
            self.data(&line, records)?
        }
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        let is_weighted = self.weighted && self.wants_weights;
        let mut notes: Vec<String> = self.vertices.note().into_iter().collect();
        if self.sections > 1 {
            notes.push("All sections of arcs and edges were read as one graph.".to_owned());
        }
        if self.first_kind.is_some() {
            notes.push("The file has vertices of two kinds: which is which is not read.".to_owned());
        }
        Ok(Known {
            directed: self.requested.or(self.directed).or(self.section_directed),
            weights: is_weighted.then(|| WeightRule { name: "weight".to_owned(), default: Some(1.0) }),
            notes,
            strings: self.has_string_ids.then_some(true),
            longest_line_bytes: self.lines.blocks.facts().longest_line_bytes,
            declared: self.count.filter(|_| self.unlisted() > 0).map(|count| (1, count)),
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
    use crate::testing::{edges_of, edges_with, failure_of};

    #[test]
    fn labels_are_ids_where_they_are_unique() {
        let text = b"% c\n*Network x\n*Vertices 3\n1 \"a b\" 0.1 0.2\n2 c\n3 \"say\"x\"\n*arcs :1 \"likes\"\n1 2 2.5 c Blue\n\n\
                     2 1 c Red\n*Arcslist\n3 1 2\n";
        let read = edges_of("pajek", text);
        let names = [("a b", "c"), ("c", "a b"), ("say\"x", "a b"), ("say\"x", "c")];
        assert_eq!(read.names, names.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!((read.weights, read.facts.directed), (vec![2.5, 1.0, 1.0, 1.0], Some(true)));
        assert!(read.facts.notes[0].contains("labels") && read.facts.notes[1].contains("one graph"));
        let read = edges_of("pajek", b"*Vertices 3\n1 \"a\"\n2 \"a\"\n3 \"b\"\n*Edges\n3 2\n");
        assert_eq!((read.pairs, read.vertices, read.declared), (vec![(3, 2)], vec![1, 2, 3], None));
        let read = edges_of("pajek", b"*Vertices 2\r\n1 \"7\"\r\n2 \"9\"\r\n");
        assert_eq!((read.vertices, read.facts.directed), (vec![7, 9], None));
        assert_eq!(edges_of("pajek", b"*Edgeslist\n5 6 7").pairs, [(5, 6), (5, 7)]);
    }

    #[test]
    fn vertices_that_are_not_listed_take_no_memory() {
        for (vertices, listed) in [("3 \"a\"\n", vec![3]), ("", vec![])] {
            let read = edges_of("pajek", format!("*Vertices 4000000000\n{vertices}*Edges\n3 2\n").as_bytes());
            assert_eq!((read.pairs, read.facts.directed), (vec![(3, 2)], Some(false)));
            assert_eq!((read.vertices, read.declared), (listed.clone(), Some((1, 4_000_000_000))));
            assert_eq!(read.facts.notes.len(), listed.len(), "{:?}", read.facts.notes);
        }
        let read = edges_of("pajek", b"*Vertices 4000000000\n");
        assert_eq!((read.vertices, read.declared), (vec![], Some((1, 4_000_000_000))));
    }

    #[test]
    fn a_matrix_has_an_arc_for_every_weight() {
        let read = edges_of("pajek", b"*Vertices 3\n*Matrix\n0 2 0\n 0  0.5\t1\n0 0 0\n");
        assert_eq!((read.pairs, read.weights), (vec![(1, 2), (2, 2), (2, 3)], vec![2.0, 0.5, 1.0]));
        assert_eq!((read.facts.directed, read.declared), (Some(true), Some((1, 3))));
        let read =
            edges_of("pajek", b"*Vertices 5 2\n1 \"a\"\n2 \"b\"\n3 \"x\"\n4 \"y\"\n5 \"z\"\n*Matrix\n1 0 1\n0 1 0\n");
        let names = [("a", "x"), ("a", "z"), ("b", "y")];
        assert_eq!(read.names, names.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let none = InputOptions { weight: Some("none".to_owned()), ..InputOptions::default() };
        assert!(edges_with("pajek", b"*Vertices 2\n*Matrix\n0 1\n1 0\n", &none).weights.is_empty());
    }

    #[test]
    fn arcs_beside_edges_are_the_users_choice() {
        let text = b"*Vertices 3\n*Arcs\n1 2 4\n*Edges\n2 3 5\n";
        assert!(failure_of("pajek", text).contains("--undirected"));
        let with = |directed| InputOptions { directed: Some(directed), ..InputOptions::default() };
        let read = edges_with("pajek", text, &with(true));
        assert_eq!((read.pairs, read.weights), (vec![(1, 2), (2, 3), (3, 2)], vec![4.0, 5.0, 5.0]));
        assert_eq!(edges_with("pajek", text, &with(false)).facts.directed, Some(false));
        let none = InputOptions { weight: Some("none".to_owned()), ..with(true) };
        assert!(edges_with("pajek", text, &none).weights.is_empty());
    }

    #[test]
    fn malformed_pajek_is_refused() {
        for (text, expected) in [
            ("% alone\n", "found the end of the file"),
            ("*Vertices x\n", "how many"),
            ("*Vertices 2\n3 \"a\"\n", "from 1 to 2"),
            ("*Vertices 2\n1 \"a\"\n1 \"b\"\n", "once"),
            ("*Vertices 2\n*Arcs\n1 3\n", "from 1 to 2"),
            ("*Vertices 2\n*Arcs\n1\n", "a number of a vertex"),
            ("*Vertices 2\n*Arcs\n1 2 9x\n", "finite number"),
            ("*Vertices 2\n*Arcs\n1 2 inf\n", "finite number"),
            ("*Vertices 2\n*Arcs\n1 2 NaN\n", "finite number"),
            ("*Vertices 4294967296\n", "at most 4294967295"),
            ("*Matrix\n0 1\n1 0\n", "a section of vertices"),
            ("*Vertices 2\n*Matrix\n0 1\n1\n", "2 numbers"),
            ("*Vertices 2\n*Matrix\n0 1\n1 0 0\n", "2 numbers"),
            ("*Vertices 2\n*Matrix\n0 1\n", "expected a matrix of 2 rows, as `*Vertices` says, found 1"),
            ("*Vertices 2\n*Matrix\n0 1\n1 0\n0 0\n", "2 rows of a matrix"),
            ("*Vertices 2\n*Matrix\n0 x\n1 0\n", "a finite number"),
            ("*Vertices 2\n*Arcs\n*Vertices 2\n", "one network"),
            ("*Vertices 2\n1 \"\u{0}\"\n*Partition x\n", "a section"),
            ("*Vertices 1\n1 \"S 0, \"x\" y\"\n", "its first quote before a blank"),
        ] {
            let error = failure_of("pajek", text.as_bytes());
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(failure_of("pajek", b"*Vertices 1\n1 \"\xe9\"\n").contains("UTF-8"));
    }
}
