//! Matrix Market: a matrix as a graph, entry (i, j) an edge from i to j, vertices 1..n.
//!
//! A rectangular matrix of m rows is one only where matrices are asked for: rows are then vertices 1..m, and column j
//! is vertex m + j.
//!
//! A general matrix is directed. A symmetric one is undirected, each entry an edge. A skew-symmetric one is directed:
//! an entry w at (i, j) is also the edge from j to i with weight -w; so is a Hermitian one, with the conjugate.
//! Explicit zeros of a coordinate matrix are edges; of a dense `array` only what is not zero is. Complex values are
//! read where a matrix is asked for, and refused where a graph is. The number of entries is compared with the header.
//! A matrix that is its own mirror image stores one triangle: where both are stored, each entry would count twice, so
//! that is refused; a note counts the entries of each triangle where only some stand in the other one.
//! `nan` is a value that matrices have, so it passes.

use crate::batch::{BatchWeights, Block, EdgeBatch, Facts, InputOptions, Parser, Source, TakeBatch, bad_record};
use crate::input::file::Input;
use crate::matrices::matrix_header::{Layout, MatrixHeader, Symmetry, Values, read_header};
use crate::text::blocks::LineBlocks;
use crate::text::edge_list;
use crate::text::number::{Fields, integer, is_infinite_or_nan, real_or_zero, weight, weight_expected};
use crate::text::source::{
    Numbering, Sums, Tally, begin, data_lines, first_data_block, push_pair, see_end, text_of, text_source,
    weights_wanted,
};
use outcore_image::{Error, Result};
use outcore_io::random;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let Some(mut first) = first_data_block(&mut blocks, |_| true)? else {
        return Err(Error::input(blocks.path(), None, "a matrix", "an empty file"));
    };
    let Some((header, end)) = read_header(&first, blocks.path(), options.is_matrix)? else {
        blocks.give_back(first);
        return edge_list::open_blocks(blocks, options, None);
    };
    let names: &[&str] = if header.values == Values::Pattern { &[] } else { &["value", "weight"] };
    let wanted = weights_wanted(options.weight.as_deref(), "matrix-market", names)? && !names.is_empty();
    first.drop_front(end);
    let tally = Arc::new(Tally::new());
    let parser = Arc::new(MatrixMarket {
        path: blocks.path().to_owned(),
        header,
        weights_wanted: wanted,
        tally: tally.clone(),
        key: random(),
    });
    let mut facts = Facts {
        format: "matrix-market",
        directed: Some(header.symmetry != Symmetry::Symmetric),
        has_real_weights: matches!(header.values, Values::Real | Values::Unsigned64 | Values::Complex),
        is_complex: wanted && header.values == Values::Complex,
        weights: wanted.then(|| "value".to_owned()),
        declared: Some((1, if header.is_square() { header.rows } else { header.rows + header.columns })),
        rows: (!header.is_square()).then_some(header.rows),
        ..blocks.facts()
    };
    if header.layout == Layout::Coordinate {
        let arcs_per_entry = if header.mirrors() { 2 } else { 1 };
        facts.edges = header.entries.checked_mul(arcs_per_entry);
    }
    if wanted && header.values == Values::Unsigned64 {
        facts.notes.push(
            "Values of type uint64_t are read as real numbers: above 2^53 they are rounded to the nearest.".to_owned(),
        );
    }
    blocks.give_back(first);
    let numbering = if header.layout == Layout::Array { Numbering::Entries } else { Numbering::None };
    let mut source = text_source(blocks, facts, parser, numbering, Some(Arc::clone(&tally)));
    if header.symmetry != Symmetry::General {
        source.note_late(move || mixed_triangles(tally.sums()));
    }
    Ok(source)
}

/// A note on entries in both triangles of a matrix of which one stands for the other.
fn mixed_triangles([above, below, ..]: Sums) -> Option<String> {
    (above > 0 && below > 0).then(|| {
        format!(
            "One triangle of the matrix stands for the other, and both have entries, {below} below the diagonal and {above} \
             above: entries at (i, j) and (j, i) are two of one place."
        )
    })
}

struct MatrixMarket {
    path: PathBuf,
    header: MatrixHeader,
    weights_wanted: bool,
    tally: Arc<Tally>,
    /// The key of the hashes of places.
    key: u64,
}

#[derive(Clone, Copy)]
enum Value {
    Integer(i64),
    Real(f64),
    Complex([f64; 2]),
}

impl Value {
    fn is_zero(self) -> bool {
        match self {
            Value::Integer(value) => value == 0,
            Value::Real(value) => value == 0.0,
            Value::Complex(parts) => parts == [0.0; 2],
        }
    }

    /// The value at the mirrored place of a matrix that is not symmetric.
    fn mirrored(self, symmetry: Symmetry) -> std::result::Result<Self, Expected> {
        Ok(match self {
            Value::Integer(value) => Value::Integer(value.checked_neg().ok_or("a value whose negative fits 64 bits")?),
            Value::Real(value) => Value::Real(-value),
            Value::Complex([real, imaginary]) if symmetry == Symmetry::Hermitian => Value::Complex([real, -imaginary]),
            Value::Complex(parts) => Value::Complex(parts.map(|part| -part)),
        })
    }
}

type Expected = String;

impl MatrixMarket {
    fn real(&self, token: &[u8]) -> std::result::Result<f64, Expected> {
        // A value that is no weight may be any number, but must not underflow to zero.
        match (self.weights_wanted, is_infinite_or_nan(token)) {
            (false, true) => Ok(f64::NAN),
            (false, false) => real_or_zero(token).ok_or_else(|| weight_expected(token).to_owned()),
            (true, is_infinite_or_nan) => weight(token).ok_or_else(|| {
                let leave_out = if is_infinite_or_nan { " (--weight none leaves weights out)" } else { "" };
                format!("{}{leave_out}", weight_expected(token))
            }),
        }
    }

    fn value(&self, fields: &mut Fields<'_>) -> std::result::Result<Value, Expected> {
        let token = fields.token().ok_or("a value")?;
        match self.header.values {
            Values::Pattern => Err("no value, since the matrix is a pattern".to_owned()),
            Values::Real => self.real(token).map(Value::Real),
            Values::Complex => {
                let imaginary = fields.token().ok_or("a real and an imaginary part")?;
                Ok(Value::Complex([self.real(token)?, self.real(imaginary)?]))
            }
            Values::Unsigned64 => {
                let value = integer(token).and_then(|value| value.unsigned());
                value
                    .map(|value| Value::Real(value as f64))
                    .ok_or_else(|| format!("a whole number from 0 to {}", u64::MAX))
            }
            Values::Integer { min, max } => {
                let value = integer(token).and_then(|value| value.signed());
                value
                    .filter(|value| (min..=max).contains(value))
                    .map(Value::Integer)
                    .ok_or_else(|| format!("a whole number from {min} to {max}"))
            }
        }
    }

    fn coordinate(&self, line: &[u8], batch: &mut EdgeBatch, sums: &mut Sums) -> std::result::Result<(), Expected> {
        let MatrixHeader { rows, columns, .. } = self.header;
        let mut fields = Fields::new(line);
        let mut place = |most| fields.unsigned().filter(|&place| place >= 1 && place <= most);
        let (Some(row), Some(column)) = (place(rows), place(columns)) else {
            return Err(match self.header.is_square() {
                true => format!("a row and a column from 1 to {rows}"),
                false => format!("a row from 1 to {rows} and a column from 1 to {columns}"),
            });
        };
        let value = match self.header.values {
            Values::Pattern => None,
            _ => Some(self.value(&mut fields)?),
        };
        if !fields.is_empty() {
            return Err("the end of the line".to_owned());
        }
        if self.header.symmetry == Symmetry::Skew && row == column {
            return Err("no entry on the diagonal, since the matrix is skew-symmetric".to_owned());
        }
        self.check_diagonal(row == column, value)?;
        match self.header.symmetry {
            Symmetry::General => sums[0] += 1,
            _ => drop(see_end(sums, self.key, [row, column], 0)),
        }
        self.push(row, column, value, batch)
    }

    /// Refuses a value with an imaginary part on the diagonal of a Hermitian matrix.
    fn check_diagonal(&self, is_diagonal: bool, value: Option<Value>) -> std::result::Result<(), Expected> {
        match value {
            Some(Value::Complex([_, imaginary]))
                if is_diagonal && self.header.symmetry == Symmetry::Hermitian && imaginary != 0.0 =>
            {
                Err("the imaginary part 0 on the diagonal, since the matrix is Hermitian".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Hands an entry on, and its mirror image if that has another sign.
    fn push(
        &self,
        row: u64,
        column: u64,
        value: Option<Value>,
        batch: &mut EdgeBatch,
    ) -> std::result::Result<(), Expected> {
        // The columns of a rectangular matrix are vertices behind its rows.
        let first_column = if self.header.is_square() { 0 } else { self.header.rows };
        push_pair(&mut batch.ids, row, first_column + column);
        push_value(&mut batch.weights, value);
        if self.header.mirrors() && row != column {
            push_pair(&mut batch.ids, column, row);
            push_value(&mut batch.weights, value.map(|value| value.mirrored(self.header.symmetry)).transpose()?);
        }
        Ok(())
    }

    /// Parses one value of an array, which stands at (row, column) from 0.
    fn dense(&self, line: &[u8], place: Cell, batch: &mut EdgeBatch) -> std::result::Result<(), Expected> {
        let mut fields = Fields::new(line);
        let value = self.value(&mut fields)?;
        if !fields.is_empty() {
            return Err("one value a line".to_owned());
        }
        if value.is_zero() {
            return Ok(());
        }
        self.check_diagonal(place.row == place.column, Some(value))?;
        self.push(place.row + 1, place.column + 1, Some(value), batch)
    }

    /// Compares the entries with the header, once all are read, and the triangles with each other.
    fn check(&self, [above, below, diagonal, difference]: Sums) -> Result<()> {
        let (entries, expected) = (above + below + diagonal, self.header.entries);
        if entries == expected
            && self.header.symmetry != Symmetry::General
            && above == below
            && above > 0
            && difference == 0
        {
            let found = format!("both, {below} entries below the diagonal and the same places above it");
            return Err(Error::input(&self.path, None, "one triangle, for the other is its mirror image", found)
                .advise("write `general` in place of the symmetry in the first line, or store one triangle"));
        }
        if entries == expected {
            return Ok(());
        }
        let expected = format!("{expected} entries, as the size line says");
        Err(Error::input(&self.path, None, expected, entries.to_string())
            .advise("the file is truncated or its size line is wrong"))
    }
}

/// Appends a value to weights of its kind; there are none if they are not wanted.
fn push_value(weights: &mut BatchWeights, value: Option<Value>) {
    match (weights, value) {
        (BatchWeights::Integer(weights), Some(Value::Integer(value))) => weights.push(value),
        (BatchWeights::Real(weights), Some(Value::Real(value))) => weights.push(value),
        (BatchWeights::Complex(weights), Some(Value::Complex(value))) => weights.push(value),
        _ => {}
    }
}

/// A place in a dense matrix, from 0, and how to get to the next one, column by column.
#[derive(Clone, Copy)]
struct Cell {
    row: u64,
    column: u64,
}

impl Cell {
    /// The first row of a column that the file holds.
    fn first_row(header: &MatrixHeader, column: u64) -> u64 {
        match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
            Symmetry::Skew => column + 1,
        }
    }

    fn start(header: &MatrixHeader, column: u64) -> u128 {
        let (size, column) = (header.rows as u128, column as u128);
        match header.symmetry {
            Symmetry::General => column * size,
            Symmetry::Symmetric | Symmetry::Hermitian => column * size - column * column.saturating_sub(1) / 2,
            Symmetry::Skew => column * size - column * (column + 1) / 2,
        }
    }

    /// The place of value `ordinal`, which must be below the number of entries.
    fn of(header: &MatrixHeader, ordinal: u64) -> Cell {
        let (mut low, mut high) = (0, header.columns);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if Cell::start(header, middle) <= ordinal as u128 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let inside = (ordinal as u128 - Cell::start(header, low)) as u64;
        Cell { row: Cell::first_row(header, low) + inside, column: low }
    }

    fn advance(&mut self, header: &MatrixHeader) {
        self.row += 1;
        if self.row >= header.rows {
            self.column += 1;
            self.row = Cell::first_row(header, self.column);
        }
    }
}

impl Parser for MatrixMarket {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        let text = text_of(block, &self.path)?;
        batch.weights = match self.header.values {
            _ if !self.weights_wanted => BatchWeights::None,
            Values::Integer { .. } => BatchWeights::Integer(Vec::new()),
            Values::Complex => BatchWeights::Complex(Vec::new()),
            _ => BatchWeights::Real(Vec::new()),
        };
        let (mut entries, mut sums) = (0, Sums::default());
        let mut place = Cell { row: 0, column: 0 };
        if self.header.layout == Layout::Array && block.first_vertex < self.header.entries {
            place = Cell::of(&self.header, block.first_vertex);
        }
        for (skipped, line) in data_lines(text) {
            let parsed = if self.header.layout == Layout::Coordinate {
                self.coordinate(line, batch, &mut sums)
            } else if block.first_vertex.saturating_add(entries) >= self.header.entries {
                Err(format!("only {} values, as the size line says", self.header.entries))
            } else {
                let parsed = self.dense(line, place, batch);
                place.advance(&self.header);
                parsed
            };
            let number = block.first_record + skipped;
            parsed.map_err(|expected| bad_record(&self.path, number, &expected, line))?;
            entries += 1;
        }
        if self.header.layout == Layout::Array {
            sums[0] = entries;
        }
        self.tally.add(sums).map_or(Ok(()), |sums| self.check(sums))?;
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

    #[test]
    fn symmetry_decides_direction_and_mirror_images() {
        let read = edges_of("matrix-market", b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
        assert_eq!((read.pairs, read.facts.directed), (vec![(2, 1), (3, 3)], Some(false)));
        assert!(read.weights.is_empty() && read.declared == Some((1, 3)));
        let read =
            edges_of("matrix-market", b"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 7\n");
        assert_eq!((read.pairs, read.weights), (vec![(2, 1), (1, 2)], vec![7.0, -7.0]));
        assert_eq!((read.facts.directed, read.facts.edges), (Some(true), Some(2)));
    }

    #[test]
    fn a_banner_with_one_sign_or_below_comments_is_one() {
        for banner in
            ["%MatrixMarket", "%%MatrixMarket", "% MatrixMarket", "% by hand\n%%MatrixMarket", "\n %matrixmarket"]
        {
            let text = format!("{banner} matrix coordinate integer symmetric\n% c\n3 3 2\n2 1 5\n3 3 4\n");
            let read = edges_of("matrix-market", text.as_bytes());
            assert_eq!((read.pairs, read.facts.directed), (vec![(2, 1), (3, 3)], Some(false)), "{banner}");
        }
        let error = failure_of("matrix-market", b"%MatrixMarket matrix coordinate pattern symmetrical\n1 1 0\n");
        assert!(error.contains(":1: expected `general`"), "{error}");
        let error = failure_of("matrix-market", b"% c\n%MatrixMarket vector\n1 1 0\n");
        assert!(error.contains(":2: expected `%%MatrixMarket matrix"), "{error}");
        // A comment that speaks of the format is none.
        let read = edges_of("matrix-market", b"% MatrixMarket files were joined\n3 3 1\n2 1\n");
        assert_eq!((read.pairs, read.facts.directed), (vec![(2, 1)], Some(true)));
    }

    #[test]
    fn a_symmetric_matrix_stores_one_triangle() {
        let text = |symmetry: &str, entries: &[&str]| {
            let head = format!("%%MatrixMarket matrix coordinate integer {symmetry}\n4 4 {}\n", entries.len());
            head + &entries.iter().map(|entry| format!("{entry}\n")).collect::<String>()
        };
        let both = ["2 1 5", "1 2 5", "3 3 1", "3 4 7", "4 3 8"];
        for symmetry in ["symmetric", "skew-symmetric"] {
            let entries: Vec<&str> =
                both.into_iter().filter(|entry| symmetry == "symmetric" || *entry != "3 3 1").collect();
            let error = failure_of("matrix-market", text(symmetry, &entries).as_bytes());
            assert!(
                error.contains("one triangle") && error.contains("2 entries below") && error.contains("general"),
                "{error}"
            );
        }
        assert_eq!(edges_of("matrix-market", text("general", &both).as_bytes()).pairs.len(), 5);
        for one in [["2 1 5", "4 3 7"], ["1 2 5", "3 4 7"]] {
            let read = edges_of("matrix-market", text("symmetric", &one).as_bytes());
            assert_eq!((read.pairs.len(), read.late_notes.len()), (2, 0));
        }
        // Some of both triangles: a note.
        let read = edges_of("matrix-market", text("symmetric", &["2 1 5", "1 2 5", "4 3 7"]).as_bytes());
        assert_eq!(read.pairs.len(), 3);
        assert!(read.late_notes[0].contains("2 below the diagonal and 1 above"), "{:?}", read.late_notes);
    }

    #[test]
    fn dense_matrices_go_column_by_column_and_leave_zeros_out() {
        let read = edges_of("matrix-market", b"%%MatrixMarket matrix array real general\n2 2\n0\n5\n6\n0.0\n");
        assert_eq!((read.pairs, read.weights), (vec![(2, 1), (1, 2)], vec![5.0, 6.0]));
        let read = edges_of("matrix-market", b"%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
        assert_eq!(read.pairs, [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 3)]);
        let read = edges_of("matrix-market", b"%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n");
        assert_eq!(read.pairs, [(2, 1), (1, 2), (3, 1), (1, 3), (3, 2), (2, 3)]);
        let empty = b"%%MatrixMarket matrix array integer skew-symmetric\n0 0\n";
        assert!(edges_of("matrix-market", empty).pairs.is_empty());
    }

    #[test]
    fn dense_entries_find_their_place_in_every_block() {
        for (symmetry, first_row) in [("general", 0), ("symmetric", 1), ("skew-symmetric", 2)] {
            let n = 700u64;
            let mut text = format!("%%MatrixMarket matrix array integer {symmetry}\n{n} {n}\n");
            let mut expected = Vec::new();
            for column in 1..=n {
                let start = if first_row == 0 { 1 } else { column + first_row - 1 };
                for row in start..=n {
                    text += &format!("{}  \n", row * 1000 + column);
                    expected.push((row, column));
                }
            }
            let mut read = edges_of("matrix-market", text.as_bytes());
            assert!(read.blocks > 2, "{} blocks", read.blocks);
            if first_row == 2 {
                read.pairs = read.pairs.into_iter().step_by(2).collect();
                read.weights = read.weights.into_iter().step_by(2).collect();
            }
            assert!(read.pairs == expected, "{symmetry}");
            assert!(expected.iter().zip(&read.weights).all(|(e, &w)| (e.0 * 1000 + e.1) as f64 == w));
        }
    }

    #[test]
    fn files_without_a_banner() {
        let read = edges_of("matrix-market", b"3 3 2\n1 2 0.5\n3 1 7\n");
        assert_eq!((read.pairs, read.weights), (vec![(1, 2), (3, 1)], vec![0.5, 7.0]));
        let read = edges_of("matrix-market", b"2 2\n1\n2\n3\n4\n");
        assert_eq!(read.pairs, [(1, 1), (2, 1), (1, 2), (2, 2)]);
        let read = edges_of("matrix-market", b"2 1\n7 1\n3 2\n");
        assert_eq!((read.pairs, read.facts.format), (vec![(2, 1), (7, 1), (3, 2)], "edge-list"));
        assert!(failure_of("matrix-market", b"3 3 2\n1 2 0.5\n").contains("2 entries"));
        assert!(failure_of("matrix-market", b"3 4 2\n1 2 0.5\n").contains("3 x 4"));
    }

    #[test]
    fn values_are_not_rounded_to_other_numbers() {
        let coordinate = |value: &str| format!("{GENERAL}2 2 1\n1 2 {value}\n");
        let array = |value: &str| format!("%%MatrixMarket matrix array real general\n2 2\n0\n{value}\n0.0\n1\n");
        let none = InputOptions { weight: Some("none".into()), ..InputOptions::default() };
        for text in [coordinate("1e-400"), array("-1e-400")] {
            assert!(failure_of("matrix-market", text.as_bytes()).contains("large enough"));
            assert!(failure_with("matrix-market", text.as_bytes(), &none).contains("large enough"));
        }
        for text in [coordinate("9007199254740993"), array("9007199254740993")] {
            assert!(failure_of("matrix-market", text.as_bytes()).contains("up to 2^53"));
            assert!(edges_with("matrix-market", text.as_bytes(), &none).pairs.contains(&if text.contains("array") {
                (2, 1)
            } else {
                (1, 2)
            }));
        }
        assert_eq!(edges_of("matrix-market", coordinate("0e-400").as_bytes()).weights, [0.0]);
    }

    #[test]
    fn complex_values_are_read_where_a_matrix_is_asked_for() {
        let matrix = InputOptions { is_matrix: true, ..InputOptions::default() };
        let cases = [
            ("coordinate", "general", "2 2 2\n2 1 1 -2\n2 2 0 0\n", vec![(2, 1, [1.0, -2.0]), (2, 2, [0.0, 0.0])]),
            ("coordinate", "symmetric", "2 2 1\n2 1 .5 1e1\n", vec![(2, 1, [0.5, 10.0])]),
            (
                "coordinate",
                "hermitian",
                "2 2 2\n2 1 1 -2\n1 1 3 0\n",
                vec![(2, 1, [1.0, -2.0]), (1, 2, [1.0, 2.0]), (1, 1, [3.0, 0.0])],
            ),
            ("coordinate", "skew-symmetric", "2 2 1\n2 1 1 -2\n", vec![(2, 1, [1.0, -2.0]), (1, 2, [-1.0, 2.0])]),
            ("array", "general", "2 2\n0 0\n0 1\n0 0\n1 0\n", vec![(2, 1, [0.0, 1.0]), (2, 2, [1.0, 0.0])]),
            (
                "array",
                "hermitian",
                "2 2\n5 0\n0 1\n0 0\n",
                vec![(1, 1, [5.0, 0.0]), (2, 1, [0.0, 1.0]), (1, 2, [0.0, -1.0])],
            ),
            ("array", "skew-symmetric", "2 2\n0 1\n", vec![(2, 1, [0.0, 1.0]), (1, 2, [0.0, -1.0])]),
        ];
        for (layout, symmetry, rest, expected) in cases {
            let text = format!("%%MatrixMarket matrix {layout} complex {symmetry}\n{rest}");
            let read = edges_with("matrix-market", text.as_bytes(), &matrix);
            assert!(read.facts.is_complex && read.facts.directed == Some(symmetry != "symmetric"), "{text}");
            let pairs = read.pairs.into_iter().zip(read.complex).map(|((row, column), value)| (row, column, value));
            assert_eq!(pairs.collect::<Vec<_>>(), expected, "{text}");
            // Without values it is a pattern.
            let none = InputOptions { weight: Some("none".into()), ..matrix.clone() };
            let read = edges_with("matrix-market", text.as_bytes(), &none);
            assert!(!read.facts.is_complex && read.complex.is_empty() && read.pairs.len() == expected.len());
            let refused = failure_of("matrix-market", text.as_bytes());
            assert!(refused.contains("complex numbers cannot be weights"), "{refused}");
        }
        let typed =
            "%%MatrixMarket matrix coordinate complex general\n%%GraphBLAS type double complex\n1 1 1\n1 1 2 3\n";
        assert_eq!(edges_with("matrix-market", typed.as_bytes(), &matrix).complex, [[2.0, 3.0]]);
    }

    #[test]
    fn nan_and_infinity_are_no_weights() {
        let none = InputOptions { weight: Some("none".into()), ..InputOptions::default() };
        for (value, leave_out) in [("nan", true), ("-inf", true), ("1e999", false)] {
            let text = format!("{GENERAL}2 2 2\n1 2 1\n2 1 {value}\n");
            let error = failure_of("matrix-market", text.as_bytes());
            assert!(error.contains(":4: expected a weight that is a finite number"), "{error}");
            assert_eq!(error.contains("--weight none"), leave_out, "{error}");
            if leave_out {
                let read = edges_with("matrix-market", text.as_bytes(), &none);
                assert_eq!((read.pairs, read.weights.len()), (vec![(1, 2), (2, 1)], 0));
            }
        }
    }

    #[test]
    fn malformed_and_rectangular_matrices_are_refused() {
        for (text, expected) in [
            ("", "empty file"),
            ("%%MatrixMarket", "LAYOUT"),
            ("%%MatrixMarket matrix coordinate real general", "end of the comments"),
            ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "complex"),
            ("%%MatrixMarket vector coordinate real general\n1 1 0\n", "`matrix`"),
            ("%%MatrixMarket matrix array pattern general\n1 1\n", "combination"),
            ("%%MatrixMarket matrix coordinate real general\n3 4 0\n", "rectangular matrix of 3 x 4"),
            ("%%MatrixMarket matrix coordinate real general\n3 3\n", ":2: expected a line `rows columns entries`"),
            ("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n2 2 2\n", "expected 1 entries"),
            ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n", "expected 2 entries"),
            ("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 4 1\n", ":3: expected a row and a column"),
            ("%%MatrixMarket matrix coordinate real general\n3 3 1\n0 1 1\n", ":3: expected a row and a column"),
            ("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1\n", ":3: expected a value"),
            ("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 5\n", ":3: expected the end of the line"),
            ("%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", ":3: expected a whole number"),
            ("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n1 1 1\n", "diagonal"),
            (
                "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 -9223372036854775808\n",
                "negative fits",
            ),
            ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "expected 4 entries"),
            ("%%MatrixMarket matrix array real general\n1 1\n1\n2\n", ":4: expected only 1 values"),
            ("%%MatrixMarket matrix array real general\n9999999999 9999999999\n1\n", "a smaller matrix"),
            ("%%MatrixMarket matrix array real general\n4294967295 4294967295\n1\n", "entries"),
            (
                "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type gunk\n1 1 0\n",
                ":2: expected a GraphBLAS type",
            ),
            (
                "%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type uint64_t\n1 1 1\n1 1 -1\n",
                "from 0 to",
            ),
        ] {
            let error = failure_of("matrix-market", text.as_bytes());
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
