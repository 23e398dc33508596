//! The entries of a matrix as rows of a table: a row index, a column index, perhaps a value, as SciPy's `coo_array` has
//! them.
//!
//! Any source of edges between integers can be given a shape. Indices count from 0. The columns of a rectangular matrix
//! are vertices behind its rows, as those of a Matrix Market file are.

use crate::batch::{EdgeBatch, Ids, Source};
use crate::column_names::kinds_note;
use outcore_format::IdType;
use outcore_image::{Error, Result};
use std::path::PathBuf;

/// Takes the sources of edges for row indices and the targets for column indices of a matrix of `rows` x `columns`.
///
/// # Errors
/// A source with two sides, whose ids are strings, whose edges have no direction, or that has a size of its own; a
/// shape of more than 2^64 rows and columns.
pub fn with_shape(mut source: Source, [rows, columns]: [u64; 2]) -> Result<Source> {
    let facts = &mut source.facts;
    facts.given.set("shape", format!("{rows},{columns}"));
    let shape = format!("the shape {rows} x {columns}");
    let refused = |found: &str| {
        let expected = format!("a list or a table of row and column indices for {shape}");
        Err(Error::Usage(format!("expected {expected}, found {found}")))
    };
    if facts.sides.is_some() {
        return refused("a matrix whose rows and columns have ids: leave --shape out");
    }
    if facts.string_ids {
        return refused("ids that are strings: number them from 0 first");
    }
    if facts.directed == Some(false) {
        return refused("edges without direction");
    }
    if facts.declared.is_some() || facts.rows.is_some() {
        return refused(&format!("an input of format {}, which says its size itself", facts.format));
    }
    let Some(count) = rows.checked_add(columns) else {
        return Err(Error::Usage(format!("expected fewer than 2^64 rows and columns, found {shape}")));
    };
    if let Some([source, target]) = &facts.ends {
        let as_ids = kinds_note(source, target, false, true);
        facts.notes.retain(|note| as_ids.as_ref() != Some(note));
    }
    let is_square = rows == columns;
    if !facts.is_id_type_fixed {
        // Places in the matrix, columns behind rows: the types of their columns are not those of ids.
        facts.id_type = IdType::default();
    }
    facts.directed = Some(true);
    facts.directed_by = Some(shape);
    facts.rows = (!is_square).then_some(rows);
    facts.declared = Some((0, if is_square { rows } else { count }));
    let first_column = if is_square { 0 } else { rows };
    let entries = Entries { path: source.parser.path().to_owned(), rows, columns, first_column };
    source.declares_late = false;
    source.map(move |batch, row| entries.shift(batch, row));
    Ok(source)
}

struct Entries {
    path: PathBuf,
    rows: u64,
    columns: u64,
    first_column: u64,
}

impl Entries {
    /// Moves columns behind rows. `record` is that of the batch's first edge, if each has one of its own.
    fn shift(&self, batch: &mut EdgeBatch, record: Option<u64>) -> Result<()> {
        if !batch.vertices.is_empty() {
            let found = "vertices beside them, such as those of a file that ends in .vertices";
            return Err(Error::input(&self.path, None, "entries of a matrix", found));
        }
        let Ids::Integer { values, negative, huge } = &mut batch.ids else { return Ok(()) };
        for (entry, ends) in values.chunks_exact_mut(2).enumerate() {
            let [row, column] = [ends[0], ends[1]];
            if row >= self.rows || column >= self.columns {
                let text = |id: u64| if *negative { (id as i64).to_string() } else { id.to_string() };
                let expected = format!("indices from 0, below {} and {}", self.rows, self.columns);
                let found = format!("row {}, column {}", text(row), text(column));
                let record = record.map(|first| first + entry as u64);
                let advice = "is the shape right, and do indices count from 0?";
                return Err(Error::input(&self.path, record, expected, found).advise(advice));
            }
            ends[1] += self.first_column;
        }
        (*negative, *huge) = (false, self.rows.saturating_add(self.columns) > i64::MAX as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Facts, InputOptions};
    use crate::bipartite::SIDES;
    use crate::open::open_memory;

    fn read(text: &str, shape: [u64; 2]) -> Result<(Facts, Ids)> {
        let mut source = with_shape(open_memory("edge-list", text.as_bytes(), &InputOptions::default())?, shape)?;
        let parser = source.parser();
        let mut batch = EdgeBatch::new(false);
        while let Some(block) = source.next_block()? {
            parser.parse(&block, &mut batch, &mut |_| Ok(()))?;
        }
        Ok((source.facts().clone(), batch.ids))
    }

    #[test]
    fn columns_stand_behind_rows() {
        let integers = |values: &[u64]| Ids::Integer { values: values.to_vec(), negative: false, huge: false };
        let (facts, ids) = read("0 0\n4 2\n1 0\n", [5, 3]).unwrap();
        assert_eq!((facts.rows, facts.declared, facts.directed), (Some(5), Some((0, 8)), Some(true)));
        assert_eq!(ids, integers(&[0, 5, 4, 7, 1, 5]));
        let (facts, ids) = read("0 0\n4 2\n1 0\n", [5, 5]).unwrap();
        assert_eq!((facts.rows, facts.declared), (None, Some((0, 5))));
        assert_eq!(ids, integers(&[0, 0, 4, 2, 1, 0]));
    }

    #[test]
    fn what_is_outside_is_refused() {
        for (text, shape, said) in [
            ("0 0\n5 2\n", [5, 3], "found row 5, column 2"),
            ("0 0\n4 3\n", [5, 3], "indices from 0, below 5 and 3"),
            ("0 0\n-1 2\n", [5, 3], "found row -1, column 2"),
            ("0 0\n1 -2\n", [5, 5], "found row 1, column -2"),
            ("0 0\n", [0, 3], "found row 0, column 0"),
            ("a b\n", [5, 3], "found ids that are strings"),
            ("0 0\n", [u64::MAX, 1], "expected fewer than 2^64 rows and columns"),
        ] {
            let refused = read(text, shape).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
        let sides = InputOptions { bipartite: Some(SIDES.map(str::to_owned)), ..InputOptions::default() };
        for (text, options) in [("0 0\n", sides), ("% bip unweighted\n1 1\n2 1\n", InputOptions::default())] {
            let source = open_memory("edge-list", text.as_bytes(), &options).unwrap();
            let refused = with_shape(source, [2, 2]).err().unwrap().to_string();
            assert!(refused.contains("have ids: leave --shape out"), "{refused}");
        }
        let market = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n";
        let source = open_memory("matrix-market", market.as_bytes(), &InputOptions::default()).unwrap();
        let refused = with_shape(source, [2, 2]).err().unwrap().to_string();
        assert!(refused.contains("which says its size itself"), "{refused}");
    }
}
