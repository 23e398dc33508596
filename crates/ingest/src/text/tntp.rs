//! TNTP road networks: metadata in `<...>`, a line `~` with the names of the columns, then a link a line, ended by `;`.
//!
//! ```text
//! <NUMBER OF NODES> 24
//! <NUMBER OF LINKS> 76
//! <END OF METADATA>
//! ~  init_node  term_node  capacity  length  fftt  B  power  speed  toll  type  ;
//!    1          2          25900.2   6       6     .15  4    0      0     1     ;
//! ```
//!
//! Links are directed; nodes are 1..n. Any column can be the weights, and none is unless asked for. The number of links
//! is compared with the metadata. Format: Transportation Networks for Research (Stabler, Bar-Gera and Sall, since
//! 2001).

use crate::batch::{Block, EdgeBatch, Facts, InputOptions, Parser, Source, TakeBatch, bad_record};
use crate::column_names::{column_asked, listed};
use crate::input::file::Input;
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::number::{self, Fields, lines, trim, unsigned, weight_expected};
use crate::text::source::Tally;
use crate::text::source::{Numbering, begin, begin_weights, first_data_block, parse_lines, push_pair, text_source};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let first = first_data_block(&mut blocks, |line| !trim(line).is_empty())?;
    let Some(first) = first else {
        return Err(Error::input(blocks.path(), None, "a line `<NUMBER OF NODES> n`", "an empty file"));
    };
    let header = Header::read(&first, blocks.path())?;
    let weight = header.weight(blocks.path(), options).map_err(|error| match error {
        Error::Usage(text) => Error::Usage(format!("{}: {text}", blocks.path().display())),
        other => other,
    })?;
    let tally = Arc::new(Tally::new());
    let mut facts = Facts {
        format: "tntp",
        directed: Some(true),
        ends: Some([header.names[0].clone(), header.names[1].clone()]),
        weights: weight.map(|column| header.names[column].clone()),
        declared: header.nodes.map(|nodes| (1, nodes)),
        edges: header.links,
        ..blocks.facts()
    };
    if weight.is_none() && options.weight.is_none() {
        let names: Vec<&str> = header.names[2..].iter().map(String::as_str).collect();
        facts.notes.push(format!("No column was taken as weights: --weight NAME takes one of {}.", listed(&names)));
    }
    let parser = Arc::new(Tntp {
        path: blocks.path().to_owned(),
        columns: header.names.len(),
        nodes: header.nodes.unwrap_or(u64::MAX),
        links: header.links,
        weight,
        tally: tally.clone(),
    });
    blocks.give_back(first);
    Ok(text_source(blocks, facts, parser, Numbering::None, Some(tally)))
}

struct Header {
    nodes: Option<u64>,
    links: Option<u64>,
    /// The names of all columns; their numbers where the file has none.
    names: Vec<String>,
}

impl Header {
    /// Reads the metadata in the first block, which the parser skips.
    fn read(first: &Lines, path: &Path) -> Result<Self> {
        let (mut nodes, mut links) = (None, None);
        let (mut names, mut first_link) = (Vec::new(), None);
        for (number, line) in (first.first_line..).zip(lines(&first.bytes)) {
            let text = trim(line);
            let lower = text.to_ascii_lowercase();
            let value = |name: &[u8]| lower.strip_prefix(name).map(trim);
            let count = |value: &[u8]| {
                unsigned(value).ok_or_else(|| bad_record(path, number, "a number behind the name", line))
            };
            if let Some(value) = value(b"<number of nodes>") {
                nodes = Some(count(value)?);
            } else if let Some(value) = value(b"<number of links>") {
                links = Some(count(value)?);
            } else if text.starts_with(b"~") && names.is_empty() {
                names = column_names(&text[1..]);
            } else if !text.is_empty() && !matches!(text[0], b'<' | b'~') {
                first_link = Some(link_columns(text));
                break;
            }
        }
        let columns = first_link.unwrap_or(names.len());
        if columns < 2 {
            return Err(Error::input(path, None, "links with two nodes", format!("{columns} columns")));
        }
        if names.len() != columns {
            names = (1..=columns).map(|number| number.to_string()).collect();
        }
        if nodes.is_some_and(|nodes: u64| nodes.checked_add(1).is_none()) {
            return Err(Error::input(path, None, "a number of nodes below 2^64 - 1", u64::MAX.to_string()));
        }
        Ok(Header { nodes, links, names })
    }

    /// The column that the options name as weights.
    fn weight(&self, path: &Path, options: &InputOptions) -> Result<Option<usize>> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let column = match options.weight.as_deref() {
            None | Some("none") => return Ok(None),
            Some(asked) => column_asked(path, "weight", asked, &names)?,
        };
        if column < 2 {
            return Err(Error::Usage(format!("--weight {}: that column holds the nodes", names[column])));
        }
        Ok(Some(column))
    }
}

/// The names on a line `~`: between tabs if it has some, since names may have blanks, else between blanks.
fn column_names(line: &[u8]) -> Vec<String> {
    let is_end = |byte: &u8| if line.contains(&b'\t') { *byte == b'\t' } else { *byte == b' ' };
    let names = line.split(is_end).map(trim).filter(|name| !name.is_empty() && *name != b";");
    names.map(|name| String::from_utf8_lossy(name.strip_suffix(b";").unwrap_or(name)).into_owned()).collect()
}

/// Number of columns of a link, without the `;` at its end.
fn link_columns(line: &[u8]) -> usize {
    let line = line.strip_suffix(b";").unwrap_or(line);
    let mut fields = Fields::new(line);
    std::iter::from_fn(|| fields.token()).count()
}

struct Tntp {
    path: PathBuf,
    columns: usize,
    nodes: u64,
    links: Option<u64>,
    weight: Option<usize>,
    tally: Arc<Tally>,
}

impl Tntp {
    /// Parses a line and returns its number of links; the error is the expected part of the message.
    fn parse_line(&self, line: &[u8], batch: &mut EdgeBatch) -> std::result::Result<u64, String> {
        let text = trim(line);
        if text.first().is_none_or(|first| matches!(first, b'~' | b'<')) {
            return Ok(0);
        }
        let text = text.strip_suffix(b";").ok_or("`;` at the end of the link")?;
        let mut fields = Fields::new(text);
        let mut node = || {
            let node = fields.unsigned().filter(|node| (1..=self.nodes).contains(node));
            node.ok_or_else(|| match self.nodes {
                u64::MAX => "two nodes, which are numbers from 1".to_owned(),
                nodes => format!("two nodes from 1 to {nodes}, as the metadata says"),
            })
        };
        let (source, target) = (node()?, node()?);
        for column in 2..self.columns {
            let token = fields.token().ok_or_else(|| format!("{} columns, as the first link has", self.columns))?;
            if self.weight == Some(column) {
                let weight = number::weight(token)
                    .ok_or_else(|| format!("{} in column {}", weight_expected(token), column + 1))?;
                batch.weights.reals().push(weight);
            }
        }
        if !fields.is_empty() {
            return Err(format!("{} columns, as the first link has", self.columns));
        }
        push_pair(&mut batch.ids, source, target);
        Ok(1)
    }
}

impl Parser for Tntp {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        begin_weights(batch, self.weight.is_some());
        let links = parse_lines(block, &self.path, |line, _| self.parse_line(line, batch))?;
        match (self.tally.add([links, 0, 0, 0]), self.links) {
            (Some([count, ..]), Some(links)) if count != links => {
                let expected = format!("{links} links, as the metadata says");
                Err(Error::input(&self.path, None, expected, count.to_string())
                    .advise("the file is truncated or its metadata is wrong"))
            }
            _ => take(batch),
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    const NETWORK: &str = "<NUMBER OF ZONES> 2\n<NUMBER OF NODES> 4\n<FIRST THRU NODE> 1\n<NUMBER OF LINKS> 3\n\
        <END OF METADATA>\n\n\n~ \tinit_node\tterm_node\tFree flow time\ttoll\t;\n\t1\t2\t6\t0\t;\n\t2\t1\t4.5\t0\t;\n\t2\t3\t1\t7\t;\n";

    fn weight(name: &str) -> InputOptions {
        InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() }
    }

    #[test]
    fn links_are_edges_and_any_column_can_be_the_weights() {
        let read = edges_of("tntp", NETWORK.as_bytes());
        assert_eq!((read.pairs, read.declared), (vec![(1, 2), (2, 1), (2, 3)], Some((1, 4))));
        assert!(read.weights.is_empty() && read.facts.notes[0].contains("Free flow time, toll"));
        let read = edges_with("tntp", NETWORK.as_bytes(), &weight("Free flow time"));
        assert_eq!((read.weights, read.facts.weights.as_deref()), (vec![6.0, 4.5, 1.0], Some("Free flow time")));
        assert_eq!(edges_with("tntp", NETWORK.replace('\n', "\r\n").as_bytes(), &weight("4")).weights, [0.0, 0.0, 7.0]);
    }

    #[test]
    fn links_that_contradict_the_metadata_are_refused() {
        for (from, to, expected) in [
            ("\t2\t3\t1\t7\t;\n", "", "expected 3 links, as the metadata says, found 2"),
            ("\t2\t3\t1\t7\t;", "\t2\t5\t1\t7\t;", ":11: expected two nodes from 1 to 4"),
            ("\t2\t3\t1\t7\t;", "\t2\t3\t1\t;", ":11: expected 4 columns"),
            ("\t2\t3\t1\t7\t;", "\t2\t3\t1\t7", ":11: expected `;`"),
            ("NODES> 4", "NODES> four", ":2: expected a number"),
        ] {
            let error = failure_of("tntp", NETWORK.replace(from, to).as_bytes());
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let large = NETWORK.replace("\t2\t3\t1\t7\t;", "\t2\t3\t9007199254740993\t7\t;");
        let error = failure_with("tntp", large.as_bytes(), &weight("3"));
        assert!(error.contains("such as all up to 2^53 in column 3"), "{error}");
        let error = failure_with("tntp", NETWORK.as_bytes(), &weight("fftt"));
        assert!(error.starts_with("tntp: expected a column `fftt`, as --weight says, found no such"), "{error}");
    }
}
