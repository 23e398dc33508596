//! Edge lists: one edge a line, `source target [weight] [more]`.
//!
//! Lines that start with `#` or `%` are comments, blank lines are skipped, columns beyond the ones needed are ignored.
//! What the comments of SNAP files say about direction is not believed: it contradicts the data in some of them.
//! Which columns hold what is decided by [`columns`](super::columns), a first line `n m` by
//! [`size_line`](super::size_line). The common case, integers between blanks, takes no list of columns at all.

use super::batch::{
    Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, Weights, bad_record,
};
use super::blocks::{LineBlocks, Lines};
use super::columns::{Columns, Detected, Field, FixedColumns, Separator, detect, is_data, is_empty_field, split};
use super::input::Stream;
use super::number::{Fields, Integer, integer, lines, real, trim};
use super::own_comment::OwnComment;
use super::size_line::SizeLine;
use super::text_source::{begin, empty_reals, first_data_block, text_of};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known of the columns before the file is opened.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Nothing.
    Free,
    /// The format fixes them.
    Fixed(FixedColumns),
}

/// GAP's `.el`: pairs.
pub(super) const EL: FixedColumns = FixedColumns { format: "el", source: 0, target: 1, weight: None };

/// GAP's `.wel`: triplets.
pub(super) const WEL: FixedColumns = FixedColumns { format: "wel", source: 0, target: 1, weight: Some((2, "weight")) };

/// Road networks as `edge_id u v length`.
pub(super) const CEDGE: FixedColumns =
    FixedColumns { format: "cedge", source: 1, target: 2, weight: Some((3, "length")) };

/// Opens an edge list.
pub(super) fn open(stream: Stream, options: &InputOptions, shape: Shape) -> Result<Box<dyn Source>> {
    open_blocks(LineBlocks::new(stream), options, shape)
}

/// Opens an edge list whose first block may have been looked at.
pub(super) fn open_blocks(mut blocks: LineBlocks, options: &InputOptions, shape: Shape) -> Result<Box<dyn Source>> {
    let (format, fixed) = match shape {
        Shape::Free => ("edge-list", None),
        Shape::Fixed(fixed) => (fixed.format, Some(fixed)),
    };
    let own = own_comment(&mut blocks)?;
    let first = first_data_block(&mut blocks, is_data)?;
    let empty = Lines { first_line: 1, bytes: Vec::new(), input_bytes: 0 };
    let mut first = first.unwrap_or(empty);
    let completed = own.as_ref().map(|own| own.complete(options));
    let options = completed.as_deref().unwrap_or(options);
    let mut detected = detect(&first, blocks.path(), options, fixed)?;
    if let Some(name) = own.as_ref().and_then(|own| own.weight.clone())
        && detected.columns.weight == Some(2)
    {
        detected.weight_name = Some(name);
    }
    first.drop_front(detected.names_end);
    let size_line = if detected.may_have_size_line { hold_back(&mut first, detected.columns.separator) } else { None };
    let facts = Facts {
        format,
        directed: own.map(|own| own.directed),
        string_ids: detected.columns.strings,
        weights: detected.weight_name.clone(),
        input_bytes: blocks.size_bytes(),
        ..Facts::default()
    };
    let parser = Arc::new(EdgeList::new(blocks.path(), detected, options.ids));
    if !first.bytes.is_empty() {
        blocks.give_back(first);
    }
    // The line held back takes number 0, whenever it comes.
    let sequence = size_line.is_some() as u64;
    Ok(Box::new(EdgeListSource { blocks, facts, parser, size_line, first_edge: None, declared: None, sequence }))
}

/// What the first line of the file says, if Outcore wrote it.
fn own_comment(blocks: &mut LineBlocks) -> Result<Option<OwnComment>> {
    let Some(first) = blocks.next_lines()? else { return Ok(None) };
    let line = lines(&first.bytes).next().filter(|_| first.first_line == 1);
    let own = line.and_then(OwnComment::of);
    blocks.give_back(first);
    Ok(own)
}

/// Takes the first data line off the block, unless what stands below it in the block shows that it is an edge.
fn hold_back(first: &mut Lines, separator: Separator) -> Option<(SizeLine, Lines)> {
    let (place, line) = (0u64..).zip(lines(&first.bytes)).find(|(_, line)| is_data(line))?;
    let mut trial = SizeLine::new(line, separator)?;
    let size_line = SizeLine::new(line, separator)?;
    let held = line.to_vec();
    let end = memchr::memchr_iter(b'\n', &first.bytes).nth(place as usize);
    let end = end.map_or(first.bytes.len(), |end| end + 1);
    trial.see(&first.bytes[end..]);
    if trial.is_refuted() {
        return None;
    }
    let held = Lines { first_line: first.first_line + place, bytes: held, input_bytes: first.input_bytes };
    first.drop_front(end);
    Some((size_line, held))
}

struct EdgeListSource {
    blocks: LineBlocks,
    facts: Facts,
    parser: Arc<EdgeList>,
    /// The first line while its meaning is in doubt.
    size_line: Option<(SizeLine, Lines)>,
    /// The first line, found to be an edge (or to be none, and then empty).
    first_edge: Option<Lines>,
    declared: Option<(u64, u64)>,
    sequence: u64,
}

impl EdgeListSource {
    /// At the end of the input: the line that was held back, without content if it is a size.
    fn decide(&mut self) {
        if let Some((size_line, mut held)) = self.size_line.take() {
            self.declared = size_line.declared();
            if self.declared.is_some() {
                held.bytes.clear();
            }
            self.first_edge = Some(held);
        }
    }
}

impl Source for EdgeListSource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.first_edge.is_none() {
            if let Some(lines) = self.blocks.next_lines()? {
                if let Some((size_line, _)) = &mut self.size_line {
                    size_line.see(&lines.bytes);
                    if size_line.is_refuted() {
                        self.first_edge = self.size_line.take().map(|(_, held)| held);
                    }
                }
                let block = lines.into_block(self.sequence, 0);
                self.sequence += 1;
                return Ok(Some(block));
            }
            self.decide();
        }
        Ok(self.first_edge.take().map(|held| Block {
            sequence: 0,
            first_record: held.first_line,
            first_vertex: 0,
            input_bytes: held.input_bytes,
            data: BlockData::Bytes(held.bytes),
        }))
    }

    fn parser(&self) -> Arc<dyn Parser> {
        self.parser.clone()
    }

    fn declared(&self) -> Option<(u64, u64)> {
        self.declared
    }
}

/// Parses lines of edges.
pub(super) struct EdgeList {
    path: PathBuf,
    columns: Columns,
    /// Ids are integers because the first lines looked so.
    guessed_integers: bool,
}

impl EdgeList {
    pub(super) fn new(path: &Path, detected: Detected, ids: IdKind) -> Self {
        EdgeList {
            path: path.to_owned(),
            guessed_integers: ids == IdKind::Auto && !detected.columns.strings,
            columns: detected.columns,
        }
    }

    fn is_plain(&self) -> bool {
        let Columns { separator, source, target, weight, strings } = self.columns;
        separator == Separator::Blanks && (source, target) == (0, 1) && weight.is_none_or(|w| w == 2) && !strings
    }

    /// Integers between blanks, in the first columns.
    fn parse_plain(&self, block: &Block, text: &[u8], ids: &mut Ids, weights: &mut Vec<f64>) -> Result<()> {
        let mut out = Integers::new(ids);
        // A line is hardly shorter than twelve bytes in a file large enough to matter.
        out.values.reserve(text.len() / 6);
        let has_weights = self.columns.weight.is_some();
        for (number, line) in (block.first_record..).zip(lines(text)) {
            let mut fields = Fields::new(line);
            if let (Some(source), Some(target)) = (fields.integer(), fields.integer()) {
                out.push(source);
                out.push(target);
                if has_weights {
                    weights.push(self.weight(fields.token(), number, line)?);
                }
                if out.is_mixed() {
                    return Err(self.mixed(number, line));
                }
            } else if is_data(line) {
                let mut fields = Fields::new(line);
                for _ in 0..2 {
                    let token = fields.token().ok_or_else(|| self.too_short(number, line))?;
                    self.integer(token, number, line)?;
                }
                // Unreachable in practice, as one of the two failed above; an error all the same.
                return Err(self.too_short(number, line));
            }
        }
        out.finish();
        Ok(())
    }

    /// Any columns, any separator, any ids.
    fn parse_columns(&self, block: &Block, text: &[u8], ids: &mut Ids, weights: &mut Vec<f64>) -> Result<()> {
        let Columns { separator, source, target, weight, strings } = self.columns;
        let wanted = source.max(target).max(weight.unwrap_or(0)) + 1;
        let mut fields: Vec<Field<'_>> = Vec::new();
        for (number, line) in (block.first_record..).zip(lines(text)) {
            if !is_data(line) {
                continue;
            }
            split(line, separator, wanted, &mut fields)
                .map_err(|expected| bad_record(&self.path, number, expected, line))?;
            let (Some(from), Some(to)) = (fields.get(source), fields.get(target)) else {
                return Err(self.too_short(number, line));
            };
            if let Some(column) = weight {
                let token = fields.get(column).filter(|field| !is_empty_field(field));
                weights.push(self.weight(token.map(|field| trim(field.raw)), number, line)?);
            }
            if strings {
                self.push_string(*from, number, line, ids)?;
                self.push_string(*to, number, line, ids)?;
            } else {
                let mut out = Integers::new(ids);
                out.push(self.integer(trim(from.raw), number, line)?);
                out.push(self.integer(trim(to.raw), number, line)?);
                let is_mixed = out.is_mixed();
                out.finish();
                if is_mixed {
                    return Err(self.mixed(number, line));
                }
            }
        }
        Ok(())
    }

    fn push_string(&self, field: Field<'_>, number: u64, line: &[u8], ids: &mut Ids) -> Result<()> {
        if std::str::from_utf8(field.raw).is_err() {
            return Err(bad_record(&self.path, number, "an id in UTF-8", field.raw).advise("convert the file to UTF-8"));
        }
        if let Ids::Text { bytes, ends } = ids {
            if field.raw.is_empty() {
                return Err(bad_record(&self.path, number, "an id that is not empty", line));
            }
            field.push_to(bytes);
            let end = u32::try_from(bytes.len());
            ends.push(end.map_err(|_| bad_record(&self.path, number, "a shorter line", line))?);
        }
        Ok(())
    }

    fn integer(&self, token: &[u8], number: u64, line: &[u8]) -> Result<Integer> {
        integer(token).ok_or_else(|| {
            let is_long = token.len() > 19 && token[1..].iter().all(u8::is_ascii_digit);
            let expected = if is_long { "an integer id of 64 bits" } else { "an integer id" };
            let error = bad_record(&self.path, number, expected, if token.is_empty() { line } else { token });
            match self.guessed_integers || is_long {
                true => error.advise("if ids are names, say --ids string"),
                false => error,
            }
        })
    }

    fn weight(&self, token: Option<&[u8]>, number: u64, line: &[u8]) -> Result<f64> {
        let column = self.columns.weight.unwrap_or(0) + 1;
        let Some(token) = token else {
            let expected = format!("a weight in column {column}");
            return Err(bad_record(&self.path, number, &expected, line).advise("leave weights out with --weight none"));
        };
        real(token).filter(|weight| !weight.is_nan()).ok_or_else(|| {
            let expected = format!("a number as weight in column {column}");
            bad_record(&self.path, number, &expected, token)
                .advise("name another column with --weight, or leave weights out with --weight none")
        })
    }

    fn too_short(&self, number: u64, line: &[u8]) -> Error {
        bad_record(&self.path, number, "two ids on the line", line)
    }

    fn mixed(&self, number: u64, line: &[u8]) -> Error {
        let expected = "ids that all fit one kind, from -2^63 up or up to 2^64 - 1";
        bad_record(&self.path, number, expected, line).advise("say --ids string")
    }
}

/// The integer ids of a batch while it is filled.
struct Integers<'a> {
    values: &'a mut Vec<u64>,
    negative_out: &'a mut bool,
    huge_out: &'a mut bool,
    negative: bool,
    huge: bool,
}

impl<'a> Integers<'a> {
    fn new(ids: &'a mut Ids) -> Self {
        let Ids::Integer { values, negative, huge } = ids else {
            unreachable!("`begin` makes integer ids where the columns have them");
        };
        Integers { values, negative: *negative, huge: *huge, negative_out: negative, huge_out: huge }
    }

    #[inline]
    fn push(&mut self, id: Integer) {
        self.values.push(id.bits);
        self.negative |= id.negative;
        self.huge |= !id.negative && id.bits >> 63 != 0;
    }

    fn is_mixed(&self) -> bool {
        self.negative && self.huge
    }

    fn finish(self) {
        *self.negative_out = self.negative;
        *self.huge_out = self.huge;
    }
}

impl Parser for EdgeList {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        begin(batch, block, self.columns.strings);
        let mut weights = empty_reals(batch);
        let text = text_of(block, &self.path)?;
        if self.is_plain() {
            self.parse_plain(block, text, &mut batch.ids, &mut weights)?;
        } else {
            self.parse_columns(block, text, &mut batch.ids, &mut weights)?;
        }
        if self.columns.weight.is_some() {
            batch.weights = Weights::Real(weights);
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{edges_of, edges_with, failure_of, failure_with};
    use super::*;

    fn ids(ids: IdKind) -> InputOptions {
        InputOptions { ids, ..InputOptions::default() }
    }

    fn owned(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn separators_comments_and_line_ends() {
        for text in [
            "1 2\n3 4\n",
            "# c\n%c\n\n  1\t 2 \n\n3 4",
            "\u{feff}1 2\r\n3 4\r\n",
            "1,2\n3, 4\n",
            "1;2\r\n\r\n3;4",
            "\"1\",\"2\"\n3,4\n",
            "source,target\n1,2\n3,4\n",
            "TO FROM\n2 1\n4 3\n",
        ] {
            let read = edges_of("edge-list", text.as_bytes());
            assert_eq!((read.pairs, read.declared), (vec![(1, 2), (3, 4)], None), "{text:?}");
        }
        assert!(edges_of("edge-list", b"").pairs.is_empty());
        assert!(edges_of("edge-list", b"# only comments\n\n").pairs.is_empty());
    }

    #[test]
    fn a_size_line_is_one_only_if_everything_fits() {
        let read = edges_of("edge-list", b"# c\n4 3\n0 1\n1 2\n# c\n2 3\n");
        assert_eq!((read.pairs, read.declared), (vec![(0, 1), (1, 2), (2, 3)], Some((0, 4))));
        let read = edges_of("edge-list", b"4 2\n1 2\n2 4\n");
        assert_eq!((read.pairs, read.declared), (vec![(1, 2), (2, 4)], Some((1, 4))));
        let read = edges_of("edge-list", b"4 2 \r\n1 2 0.5\r\n2 4 0.25");
        assert_eq!((read.weights, read.declared), (vec![0.5, 0.25], Some((1, 4))));
        let read = edges_of("edge-list", b"4,2\n1,2\n2,4\n");
        assert_eq!((read.pairs.len(), read.declared), (2, Some((1, 4))));
        for (edges, first) in [
            ("4 2\n0 1\n2 4\n", (4, 2)),
            ("4 2\n1 2\n2 5\n", (4, 2)),
            ("4 2\n1 2\n", (4, 2)),
            ("4 2\n1 2\n2 3\n3 4\n", (4, 2)),
            ("4 0\n", (4, 0)),
            ("4294967297 1\n1 2\n", (4294967297, 1)),
            ("4 1\n-1 2\n", (4, 1)),
        ] {
            let read = edges_of("edge-list", edges.as_bytes());
            assert_eq!((read.pairs.len(), read.declared), (edges.lines().count(), None), "{edges:?}");
            assert_eq!(read.pairs[0], first, "{edges:?}");
        }
    }

    #[test]
    fn a_size_line_is_decided_across_blocks() {
        let body: String = (0..300_000).map(|i| format!("{} {}\n", i % 1000, (i * 7) % 1000)).collect();
        let read = edges_of("edge-list", format!("1000 300000\n{body}").as_bytes());
        assert_eq!((read.pairs.len(), read.declared), (300_000, Some((0, 1000))));
        assert!(read.blocks > 2, "{} blocks", read.blocks);
        for first in ["1000 299999", "1000 300001", "999 300000", "999 299999"] {
            let read = edges_of("edge-list", format!("{first}\n{body}").as_bytes());
            assert_eq!((read.pairs.len(), read.declared), (300_001, None), "{first}");
            assert_eq!(read.pairs[1], (0, 0), "{first}");
            assert_ne!(read.pairs[0], (0, 0), "{first}");
        }
    }

    #[test]
    fn integers_of_every_size() {
        let read = edges_of("edge-list", b"18446744073709551615 0\n");
        assert_eq!(read.pairs, [(u64::MAX, 0)]);
        let read = edges_of("edge-list", b"-9223372036854775808 9223372036854775807\n");
        assert_eq!(read.pairs, [(1 << 63, i64::MAX as u64)]);
        for (text, expected) in [
            ("1 2\n3 18446744073709551616\n", ":2: expected an integer id of 64 bits"),
            ("1 2\n-1 18446744073709551615\n", ":2: expected ids that all fit"),
            ("1,2\n-1,18446744073709551615\n", ":2: expected ids that all fit"),
        ] {
            let error = failure_of("edge-list", text.as_bytes());
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn strings_are_kept_as_they_stand() {
        let read = edges_of("edge-list", "ann b\u{f6}b 3\nx 7\u{2014} 4".as_bytes());
        assert_eq!(read.names, owned(&[("ann", "b\u{f6}b"), ("x", "7\u{2014}")]));
        assert_eq!((read.weights, read.facts.string_ids), (vec![3.0, 4.0], true));
        let read = edges_of("edge-list", b"\"a,\"\"b\", c \nd,e\n");
        assert_eq!(read.names, owned(&[("a,\"b", " c "), ("d", "e")]));
        let read = edges_with("edge-list", b"1 01\n", &ids(IdKind::String));
        assert_eq!(read.names, owned(&[("1", "01")]));
        for (text, expected) in [
            (&b"a b\nc \xff\n"[..], ":2: expected an id in UTF-8"),
            (b"a,b\nc,\n", ":2: expected an id that is not empty"),
            (b"a,b\nc,\"d\n", ":2: expected a closing quote"),
        ] {
            let error = failure_of("edge-list", text);
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn bad_lines_are_named_however_far_they_are() {
        let mut text = "1 2\n".repeat(700_000);
        text += "3 four\n";
        text += &"1 2\n".repeat(700_000);
        let error = failure_of("edge-list", text.as_bytes());
        assert!(error.contains(":700001: expected an integer id, found `four`"), "{error}");
        assert!(error.contains("--ids string"), "{error}");
        for (text, expected) in [
            ("1 2\n3\n", ":2: expected two ids"),
            ("1,2\n3\n", ":2: expected two ids"),
            ("1,2\n3,\n", ":2: expected an integer id"),
            ("1 2 1\n3 4\n", ":2: expected a weight in column 3"),
            ("1 2 1\n3 4 nan\n", ":2: expected a number as weight"),
            ("1 2 1\n3 4 x\n", ":2: expected a number as weight"),
            ("1,2,1\n3,4,\n", ":2: expected a weight in column 3"),
        ] {
            let error = failure_with("edge-list", text.as_bytes(), &ids(IdKind::Integer));
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn weights_may_be_infinite_and_negative() {
        assert_eq!(edges_of("edge-list", b"1 2 inf\n1 3 -7\n").weights, [f64::INFINITY, -7.0]);
        let none = InputOptions { weight: Some("none".to_owned()), ..InputOptions::default() };
        assert!(edges_with("edge-list", b"1 2 x\n1 3 nan\n", &none).weights.is_empty());
    }

    #[test]
    fn formats_with_fixed_columns() {
        let read = edges_of("cedge", b"0 5 6 0.25\n1 6 7 0.5\n");
        assert_eq!((read.pairs, read.weights), (vec![(5, 6), (6, 7)], vec![0.25, 0.5]));
        assert_eq!(read.facts.weights.as_deref(), Some("length"));
        assert!(failure_of("cedge", b"0 5 6\n").contains(":1: expected a weight in column 4"));
        assert!(edges_of("el", b"1 2 3\n").weights.is_empty());
        assert_eq!(edges_of("wel", b"1 2 3\n").weights, [3.0]);
        assert!(failure_of("wel", b"1 2\n").contains(":1: expected a weight in column 3"));
    }
}
