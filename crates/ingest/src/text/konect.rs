//! The first line of KONECT's files, which Network Repository has too: `% sym|asym|bip [WEIGHTS]`.
//!
//! `sym` has no direction, `asym` has one. In a `bip` graph both sides count from 1, so the same number is two
//! vertices: `bipartite.rs` keeps them apart. The columns are source, target, and then, where there are weights or
//! times, a weight and a time. Format: Kunegis, "KONECT: the Koblenz network collection", WWW 2013 Companion.

use crate::batch::InputOptions;
use crate::text::blocks::Lines;
use crate::text::columns::{FixedColumns, Separator};
use crate::text::number::{Fields, lines};

/// The separator of columns: blanks and tabs, even in one file.
pub(crate) fn separator(found: Separator, options: &InputOptions) -> Separator {
    let is_tab = matches!(found, Separator::Byte(b'\t'));
    if is_tab && options.delimiter.is_none() { Separator::Blanks } else { found }
}

pub(crate) struct Konect {
    line: String,
    directed: bool,
    /// Sources are one side of the graph, and targets the other.
    pub(crate) has_sides: bool,
    /// The third column holds weights.
    weighted: bool,
}

impl Konect {
    /// The first line of the file, if it is one of KONECT's.
    pub(crate) fn of(first: &Lines) -> Option<Self> {
        let line = lines(&first.bytes).next().filter(|_| first.first_line == 1).unwrap_or_default();
        let mut fields = Fields::new(line.strip_prefix(b"%").unwrap_or_default());
        let kind = fields.token();
        let directed = match kind {
            Some(b"sym") => false,
            Some(b"asym") => true,
            Some(b"bip") => false,
            _ => return None,
        };
        let has_sides = kind == Some(b"bip");
        let weighted = match fields.token() {
            None | Some(b"unweighted") => false,
            Some(kind) => {
                kind.ends_with(b"weighted")
                    || kind.ends_with(b"signed")
                    || kind.starts_with(b"positive")
                    || kind == b"dynamic"
            }
        };
        let line = String::from_utf8_lossy(line).trim().chars().take(80).collect();
        Some(Konect { line, directed, has_sides, weighted })
    }

    /// The columns of a file with `count` of them, unless the user names the weights.
    pub(crate) fn columns(&self, options: &InputOptions, count: usize) -> Option<FixedColumns> {
        let is_weighted = self.weighted && count >= 3;
        let is_free = options.header == Some(true) || count < 2;
        let other =
            options.weight.as_deref().is_some_and(|asked| !is_weighted || !matches!(asked, "none" | "weight" | "3"));
        let weight = is_weighted.then_some((2, "weight"));
        let columns = FixedColumns { format: "konect", count, source: 0, target: 1, weight, has_edge_ids: false };
        (!is_free && !other).then_some(columns)
    }

    /// Whether edges have a direction, and what says so.
    pub(crate) fn directed(&self) -> (bool, String) {
        (self.directed, format!("the first line, `{}`", self.line))
    }

    pub(crate) fn note(&self) -> String {
        let direction = if self.directed { "have a direction" } else { "have no direction" };
        let sides = if self.has_sides { ", and the graph has two sides" } else { "" };
        format!("The first line, `{}`, is KONECT's: edges {direction}{sides}.", self.line)
    }
}
