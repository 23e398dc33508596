//! Edge lists: one edge a line, `source target [weight] [more]`.
//!
//! Comments of SNAP files about the direction are ignored: they contradict the data in some files. The meaning of
//! columns and the comments are decided by [`detect`](crate::text::detect), a first line `n m` by
//! [`size_line`](crate::text::size_line). Every line has the same number of columns. The common case, integers between
//! blanks, takes no list of columns at all.

use crate::batch::LeftOut;
use crate::batch::{
    Block, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, TakeBatch, TextFacts, Unweighted, bad_record,
};
use crate::bipartite::SIDES;
use crate::input::file::Input;
use crate::tables::attributes::{AttributeColumn, expected_form};
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::columns::{Columns, Comments, Field, FixedColumns, Separator, Skipped, begins_with_word, split};
use crate::text::detect::{Detected, detect, named_again};
use crate::text::doubts::{Doubts, count_comments};
use crate::text::number::{
    self, Fields, Integer, Quoting, integer, is_infinite_or_nan, is_missing, is_padded, is_whole, lines, records, trim,
};
use crate::text::own_comment::OwnComment;
use crate::text::sample::{first_comments, has_columns, other_direction, padded_id, says_directed};
use crate::text::size_line::{EdgeListBlocks, hold_back};
use crate::text::source::{begin, begin_weights, text_of};
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Advice where an end has no value.
pub(crate) const NO_END: &str = "say --nulls skip to leave out the rows whose source or target is missing";

/// GAP's `.el`: pairs.
pub(crate) const EL: FixedColumns =
    FixedColumns { format: "el", count: 2, source: 0, target: 1, weight: None, has_edge_ids: false };

/// GAP's `.wel`: triplets.
pub(crate) const WEL: FixedColumns =
    FixedColumns { format: "wel", count: 3, source: 0, target: 1, weight: Some((2, "weight")), has_edge_ids: false };

/// Road networks as `edge_id u v length`.
pub(crate) const CEDGE: FixedColumns =
    FixedColumns { format: "cedge", count: 4, source: 1, target: 2, weight: Some((3, "length")), has_edge_ids: true };

pub(crate) fn open(input: &Input, options: &InputOptions, fixed: Option<FixedColumns>) -> Result<Source> {
    open_blocks(LineBlocks::new(input.stream()?), options, fixed)
}

/// Opens an edge list whose first block may have been looked at, and whose columns the format may have fixed.
pub(crate) fn open_blocks(
    mut blocks: LineBlocks,
    options: &InputOptions,
    fixed: Option<FixedColumns>,
) -> Result<Source> {
    let format = fixed.map_or("edge-list", |fixed| fixed.format);
    let named = options.delimiter.as_deref().map(Separator::named).transpose()?;
    blocks.keep_quoted(first_comments(blocks.path(), options)?.quoting(named));
    let own = own_comment(&mut blocks)?;
    let completed = own.as_ref().map(|own| own.complete(options));
    let keeps_parallel = own.as_ref().is_some_and(|own| own.parallel);
    let options = completed.as_deref().unwrap_or(options);
    let skipped = Arc::new(Skipped::default());
    let mut first = first_data(&mut blocks, options, &skipped)?;
    let mut detected = detect(&first, blocks.path(), options, fixed)?;
    if let Some(own) = own {
        own.amend(&mut detected);
    }
    let comments = &detected.columns.comments;
    blocks.keep_quoted(comments.quoting(Some(detected.columns.separator)));
    let doubts = Doubts { is_guessed: options.comment.is_none(), first_line: detected.first_line };
    let is_doubtful = |number: u64, line: &[u8]| doubts.has(number, line, &detected.columns);
    count_comments(&first, detected.names_end, (comments, &skipped), is_doubtful);
    first.drop_front(detected.names_end);
    let holds = detected.may_have_size_line && options.header != Some(false);
    let is_header = options.header == Some(true);
    let size_line = match holds {
        true => hold_back(&first, &detected.columns, is_header),
        false => None,
    };
    let size_line = size_line.map(|(size_line, line, end)| {
        count_comments(&first, end, (comments, &skipped), is_doubtful);
        first.drop_front(end);
        (size_line, line)
    });
    let facts = Facts {
        format,
        directed: detected.directed.as_ref().map(|(directed, _)| *directed),
        directed_by: detected.directed.as_ref().map(|(_, what)| what.clone()),
        string_ids: detected.columns.strings,
        are_ids_open: !detected.has_ids,
        ends: Some(detected.ends.clone()),
        weights: detected.weight_name.clone(),
        attributes: detected.columns.attributes.iter().map(|(_, field)| field.clone()).collect(),
        text: Some(TextFacts {
            separator: detected.columns.separator.name(),
            header: detected.has_names,
            weight_column: detected.columns.weight.map(|column| column + 1),
            columns: detected.columns.count,
            has_rows: detected.has_rows,
        }),
        keeps_parallel,
        sides: detected.has_sides.then(|| SIDES.map(str::to_owned)),
        notes: detected.notes.clone(),
        unread: detected.unread.clone(),
        untyped: detected.untyped.clone(),
        ..blocks.facts()
    };
    let parser = Arc::new(EdgeList::new(blocks.path(), detected, options, (Arc::clone(&skipped), doubts)));
    blocks.give_back(first);
    // The line held back takes number 0, whenever it comes.
    let sequence = size_line.is_some() as u64;
    let lines = EdgeListBlocks { blocks, size_line, is_header, first_edge: None, declared: None, note: None, sequence };
    let mut source = Source::new(facts, parser, lines);
    source.note_late(move || skipped.note());
    Ok(source)
}

/// The first block with data; the comments before it are counted.
fn first_data(blocks: &mut LineBlocks, options: &InputOptions, skipped: &Skipped) -> Result<Lines> {
    let comments = first_comments(blocks.path(), options)?;
    let mut first = Lines { first_line: 1, bytes: Vec::new(), input_bytes: 0 };
    while let Some(next) = blocks.next_lines()? {
        first = next;
        if lines(&first.bytes).any(|line| comments.is_data(line)) {
            break;
        }
        // Their columns are not known yet.
        let is_doubtful = |_: u64, line: &[u8]| {
            let mut fields = Fields::new(line);
            options.comment.is_none() && begins_with_word(line) && fields.token().and(fields.token()).is_some()
        };
        count_comments(&first, first.bytes.len(), (&comments, skipped), is_doubtful);
        first.bytes.clear();
    }
    Ok(first)
}

/// The first line of the file, if Outcore wrote it.
fn own_comment(blocks: &mut LineBlocks) -> Result<Option<OwnComment>> {
    let Some(first) = blocks.next_lines()? else { return Ok(None) };
    let line = lines(&first.bytes).next().filter(|_| first.first_line == 1);
    let own = line.and_then(OwnComment::of);
    blocks.give_back(first);
    Ok(own)
}

pub(crate) struct EdgeList {
    path: PathBuf,
    columns: Columns,
    /// Ids are integers because the first lines looked so.
    guessed_integers: bool,
    /// Lines are cut at blanks without a list of columns.
    is_plain: bool,
    weight_name: String,
    /// The line that names the columns, if there is one that is no row.
    names_line: Vec<u8>,
    skipped: Arc<Skipped>,
    doubts: Doubts,
    left_out: LeftOut,
    /// Conditions may leave out rows without a weight.
    has_conditions: bool,
}

type Pair = (Integer, Integer, f64);

impl EdgeList {
    pub(crate) fn new(
        path: &Path,
        detected: Detected,
        options: &InputOptions,
        (skipped, doubts): (Arc<Skipped>, Doubts),
    ) -> Self {
        let Detected { columns, weight_name, names_line, .. } = detected;
        let Columns { separator, count, source, target, weight, direction, strings, .. } = columns;
        let is_free = direction.is_none() && columns.attributes.is_empty();
        let first = (source, target) == (0, 1) && weight.is_none_or(|w| w == 2) && is_free;
        let used = 2 + usize::from(weight.is_some());
        // Between tabs, columns that are not read may have blanks in them.
        let at_blanks = separator == Separator::Blanks || separator == Separator::Byte(b'\t') && used == count;
        EdgeList {
            path: path.to_owned(),
            guessed_integers: options.ids == IdKind::Auto && !strings,
            is_plain: first && at_blanks && !strings,
            weight_name: weight_name.unwrap_or_default(),
            names_line,
            skipped,
            doubts,
            left_out: LeftOut::new(options.nulls),
            has_conditions: !options.conditions.is_empty(),
            columns,
        }
    }

    fn quoting(&self) -> Quoting {
        self.columns.comments.quoting(Some(self.columns.separator))
    }

    /// Integers between blanks, in the first columns; nothing if the line is anything else, which `cut` then finds out.
    #[inline]
    fn plain(&self, line: &[u8]) -> Option<Pair> {
        let mut fields = Fields::new(line);
        let mut id = || if self.guessed_integers && fields.is_padded() { None } else { fields.integer() };
        let (source, target) = (id()?, id()?);
        let mut used = 2;
        let mut weight = 0.0;
        if self.columns.weight.is_some() {
            weight = number::weight(fields.token()?)?;
            used = 3;
        }
        for _ in used..self.columns.count {
            fields.token()?;
        }
        fields.is_empty().then_some((source, target, weight))
    }

    /// Cuts a line into columns and reads its weight, which may be missing where conditions may leave the line out;
    /// nothing if the line is blank or a comment.
    fn cut<'a>(
        &self,
        line: &'a [u8],
        number: u64,
        fields: &mut Vec<Field<'a>>,
    ) -> Result<Option<(Field<'a>, Field<'a>, Option<f64>)>> {
        let Columns { separator, comments, count, source, target, weight, direction, .. } = &self.columns;
        if !comments.is_data(line) {
            if comments.has(line) {
                self.skipped.add(number, line, self.doubts.has(number, line, &self.columns));
            }
            return Ok(None);
        }
        if !self.names_line.is_empty() && trim(line) == self.names_line {
            return Err(named_again(&self.path, number, line));
        }
        split(line, *separator, count + 2, fields)
            .map_err(|expected| bad_record(&self.path, number, expected, line))?;
        if !has_columns(fields, *count) {
            let expected = format!("{count} columns between {}, as the first lines have", separator.name());
            return Err(bad_record(&self.path, number, &expected, line).advise(match line.first() {
                Some(b'#' | b'%') if *comments == Comments::none() => {
                    "nothing is a comment in CSV unless you say so: --comment '#'"
                }
                _ => "mend the line, or say --delimiter if the columns are cut wrongly",
            }));
        }
        if self.left_out.is_wanted() && [*source, *target].iter().any(|&column| self.has_no_value(fields[column])) {
            self.left_out.add(1);
            return Ok(None);
        }
        if let Some((column, directed)) = *direction
            && says_directed(fields[column].raw) != Some(directed)
        {
            let (name, value) = (format!("column {}", column + 1), fields[column].raw);
            return Err(other_direction(&self.path, number, directed, &name, value));
        }
        let weight = match *weight {
            Some(column) if self.has_conditions && is_missing(fields[column].raw) => None,
            Some(column) => Some(self.weight(fields[column], number)?),
            None => Some(0.0),
        };
        Ok(Some((fields[*source], fields[*target], weight)))
    }

    /// Whether a field has no id: it is empty, or where ids are integers a word for a missing value.
    fn has_no_value(&self, field: Field<'_>) -> bool {
        trim(field.raw).is_empty() || !self.columns.strings && is_missing(field.raw)
    }

    fn take_attributes(&self, fields: &[Field<'_>], number: u64, into: &mut [AttributeColumn]) -> Result<()> {
        for ((column, field), values) in self.columns.attributes.iter().zip(into) {
            let value = fields[*column];
            if !values.push_field(&field.kind, value) {
                let expected = match field.kind {
                    AttributeKind::String => format!("text in UTF-8 in column {}, `{}`", column + 1, field.name),
                    _ => format!(
                        "an attribute of the kind {} in column {}, `{}`",
                        expected_form(&field.kind, value.raw),
                        column + 1,
                        field.name
                    ),
                };
                return Err(bad_record(&self.path, number, &expected, value.raw).advise(
                    "the first lines tell what a column holds: bring the column into one form, or leave it out",
                ));
            }
        }
        Ok(())
    }

    fn integers(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        let text = text_of(block, &self.path)?;
        let EdgeBatch { ids, weights, unweighted, attributes, .. } = batch;
        let mut weights = self.columns.weight.map(|_| weights.reals());
        let mut out = Integers::new(ids);
        // A line is hardly shorter than twelve bytes in a file large enough to matter.
        out.values.reserve(text.len() / 6);
        let mut fields: Vec<Field<'_>> = Vec::new();
        for (number, line) in records(text, block.first_record, self.quoting()) {
            let pair = if self.is_plain { self.plain(line) } else { None };
            let (source, target, weight) = match pair {
                Some((source, target, weight)) => (source, target, Some(weight)),
                None => {
                    let Some((source, target, weight)) = self.cut(line, number, &mut fields)? else { continue };
                    self.take_attributes(&fields, number, attributes)?;
                    (self.integer(source, number, line)?, self.integer(target, number, line)?, weight)
                }
            };
            out.push(source);
            out.push(target);
            if let Some(weights) = &mut weights {
                push_weight(weight, number, weights, unweighted);
            }
            if out.is_mixed() {
                out.finish();
                return ids.check_one_kind(&self.path, number, "say --ids string");
            }
        }
        out.finish();
        Ok(())
    }

    fn strings(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        let text = text_of(block, &self.path)?;
        let EdgeBatch { ids, weights, unweighted, attributes, .. } = batch;
        let mut weights = self.columns.weight.map(|_| weights.reals());
        let mut fields: Vec<Field<'_>> = Vec::new();
        for (number, line) in records(text, block.first_record, self.quoting()) {
            let Some((source, target, weight)) = self.cut(line, number, &mut fields)? else { continue };
            self.take_attributes(&fields, number, attributes)?;
            self.push_string(source, number, line, ids)?;
            self.push_string(target, number, line, ids)?;
            if let Some(weights) = &mut weights {
                push_weight(weight, number, weights, unweighted);
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
                return Err(bad_record(&self.path, number, "an id that is not empty", line).advise(NO_END));
            }
            field.push_to(bytes);
            let end = u32::try_from(bytes.len());
            ends.push(end.map_err(|_| bad_record(&self.path, number, "a shorter line", line))?);
        }
        Ok(())
    }

    fn integer(&self, field: Field<'_>, number: u64, line: &[u8]) -> Result<Integer> {
        let token = trim(field.raw);
        if self.guessed_integers && is_padded(token) && integer(token).is_some() {
            return Err(padded_id(&self.path, number, token));
        }
        integer(token).ok_or_else(|| {
            let is_long = token.len() > 19 && token[1..].iter().all(u8::is_ascii_digit);
            let expected = if is_long { "an integer id of 64 bits" } else { "an integer id" };
            let error = bad_record(&self.path, number, expected, if token.is_empty() { line } else { token });
            match self.guessed_integers || is_long {
                _ if is_missing(token) => error.advise(NO_END),
                true => error.advise("if ids are names, say --ids string"),
                false => error,
            }
        })
    }

    fn weight(&self, field: Field<'_>, number: u64) -> Result<f64> {
        let token = trim(field.raw);
        number::weight(token).ok_or_else(|| self.no_number(token, number))
    }

    /// The refusal of a weight that is no finite number.
    fn no_number(&self, token: &[u8], number: u64) -> Error {
        let advice = if is_missing(token) {
            "the value is missing: take such lines out, or leave weights out with --weight none"
        } else if is_infinite_or_nan(token) {
            "no weight is infinite: take such lines out, or leave weights out with --weight none"
        } else if token.contains(&b',') {
            "write numbers with a point, or name another column with --weight"
        } else if is_whole(token) {
            "text holds whole weights that a real number of 64 bits equals, such as all up to 2^53: import larger ones from \
             Parquet, or name another column with --weight"
        } else if token.first().is_some_and(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.')) {
            "the number is beyond the range of 64-bit reals, or is none: mend it, or name another column with --weight"
        } else {
            "name another column with --weight, or leave weights out with --weight none"
        };
        bad_record(&self.path, number, &self.expected_weight(), token).advise(advice)
    }

    fn expected_weight(&self) -> String {
        let column = self.columns.weight.unwrap_or(0) + 1;
        format!("a finite number as weight in column {column}, `{}`", self.weight_name)
    }
}

/// Appends the weight of a line, or notes that it has none.
#[inline]
fn push_weight(weight: Option<f64>, record: u64, weights: &mut Vec<f64>, unweighted: &mut Vec<Unweighted>) {
    if weight.is_none() {
        unweighted.push(Unweighted { edge: weights.len(), record });
    }
    weights.push(weight.unwrap_or(0.0));
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
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.columns.strings);
        begin_weights(batch, self.columns.weight.is_some());
        let kinds = self.columns.attributes.iter().map(|(_, field)| &field.kind);
        batch.attributes = kinds.map(AttributeColumn::new).collect();
        if self.columns.strings {
            self.strings(block, batch)?
        } else {
            self.integers(block, batch)?
        }
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.skipped.all()
    }

    fn no_weight(&self, _: u64, record: u64) -> Error {
        Error::input(&self.path, Some(record), self.expected_weight(), "a line without one")
            .advise("the value is missing: leave such lines out with --where, or weights out with --weight none")
    }

    fn check(&self) -> Result<()> {
        self.skipped.check(&self.path)
    }

    fn left_out(&self) -> u64 {
        self.left_out.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::{AttributeValues, Attributes};
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    fn ids(ids: IdKind) -> InputOptions {
        InputOptions { ids, ..InputOptions::default() }
    }

    fn weight(name: &str) -> InputOptions {
        InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() }
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
    fn comments_that_may_be_rows_are_named_and_many_are_refused() {
        let pages = "# links\n\n%C3%81ed\tBede\nAsia\tEarth\n#tag\tEarth\nBede\tAsia\n# end\there\n";
        let read = edges_of("edge-list", pages.as_bytes());
        assert_eq!(read.names, owned(&[("Asia", "Earth"), ("Bede", "Asia")]));
        assert!(read.late_notes[0].contains("1 has as many columns as the data, the first in line 5: `#tag\tEarth`"));
        let many: String = (0..11).map(|page| format!("%{page}\tBede\n")).collect();
        let error = failure_of("edge-list", format!("{pages}{many}").as_bytes());
        assert!(
            error.contains(":5: expected comments that are no data, found 12") && error.contains("--comment"),
            "{error}"
        );
        let all = InputOptions { comment: Some("none".to_owned()), ..InputOptions::default() };
        assert_eq!(edges_with("edge-list", format!("a\tb\n{many}").as_bytes(), &all).names.len(), 12);
        let sign = InputOptions { comment: Some("%".to_owned()), ..InputOptions::default() };
        let read = edges_with("edge-list", format!("{pages}{many}").replace("# ", "%").as_bytes(), &sign);
        assert_eq!((read.names.len(), read.late_notes.len()), (3, 0));
        // Names of columns, comments with a blank, edges of integers that somebody switched off.
        for text in ["#from\tto\na\tb\n", "a b\n# c\n% d\n## e\nb a\n", "1 2\n#3 4\n", "#1 2\n#2 3\n1 2\n"] {
            let notes = edges_of("edge-list", text.as_bytes()).late_notes;
            assert!(!notes.iter().any(|note| note.contains("comments")), "{text}");
        }
        // In any column, where the ends are ids.
        let texts: String = (0..20).map(|row| format!("#{row}\t{row}\t7\n")).collect();
        let ends = InputOptions { source: Some("a".into()), target: Some("b".into()), ..InputOptions::default() };
        let error = failure_with("edge-list", format!("tag\ta\tb\nx\t1\t2\n{texts}").as_bytes(), &ends);
        assert!(error.contains(":3: ") && error.contains("20 with"), "{error}");
    }

    #[test]
    fn a_size_line_is_one_only_if_everything_fits() {
        let read = edges_of("edge-list", b"# c\n4 3\n0 1\n1 2\n# c\n2 3\n");
        assert_eq!((read.pairs, read.declared), (vec![(0, 1), (1, 2), (2, 3)], Some((0, 4))));
        let read = edges_of("edge-list", b"4 2\n1 2\n2 4\n");
        assert_eq!((read.pairs, read.declared), (vec![(1, 2), (2, 4)], Some((1, 4))));
        let read = edges_with("edge-list", b"4 2 \r\n1 2 0.5\r\n2 4 0.25", &weight("3"));
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
        let read = edges_with("edge-list", "ann b\u{f6}b 3\nx 7\u{2014} 4".as_bytes(), &weight("3"));
        assert_eq!(read.names, owned(&[("ann", "b\u{f6}b"), ("x", "7\u{2014}")]));
        assert_eq!((read.weights, read.facts.string_ids), (vec![3.0, 4.0], true));
        let read = edges_of("edge-list", b"\"a,\"\"b\", c \nd,e\n");
        assert_eq!(read.names, owned(&[("a,\"b", " c "), ("d", "e")]));
        let read = edges_with("edge-list", b"1 01\n", &ids(IdKind::String));
        assert_eq!(read.names, owned(&[("1", "01")]));
        assert_eq!(edges_with("edge-list", b"1 01\n", &ids(IdKind::Integer)).pairs, [(1, 1)]);
        for text in ["1 2\n007 7\n", "1,2\n7,+7\n", &format!("{}7 007\n", "1 2\n".repeat(500_000))] {
            let error = failure_of("edge-list", text.as_bytes());
            assert!(error.contains("leading zeros") && error.contains("--ids integer"), "{error}");
        }
        let error = failure_of("edge-list", b"1 2\n<NUMBER x\n3 4\n5 6\n");
        assert!(error.contains(":2: expected an integer id, as most lines have, found `<NUMBER`"), "{error}");
        for (text, expected) in [
            (&b"a b\nc \xff\n"[..], ":2: expected an id in UTF-8"),
            (b"a,b\nc,\n", ":2: expected an id that is not empty"),
            (b"a,b\nc,\n", "--nulls skip"),
            (b"1,2\n3,\n", "--nulls skip"),
            (b"1,2\n3,NA\n4,5\n6,7\n", "--nulls skip"),
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
            ("1 2\n3\n", ":2: expected 2 columns, as line 1 has, found 1 column between blanks: `3`"),
            ("1,2\n3\n", ":2: expected 2 columns"),
            ("1,2\n3,\n", ":2: expected an integer id"),
            ("1 2 1\n3 4\n", ":2: expected 3 columns, as line 1 has"),
            ("1 2 1\n3 4 nan\n", ":2: expected a finite number as weight in column 3"),
            ("1 2 1\n3 4 1e999\n", ":2: expected a finite number as weight in column 3"),
            ("1 2 NA\n3 4 1\n", ":1: expected a finite number as weight in column 3"),
            ("1,2,1\n3,4,\n", ":2: expected a finite number as weight in column 3"),
            ("1,2,\n3,4,1\n", ":1: expected a finite number as weight in column 3"),
        ] {
            let wanted = text.lines().any(|line| line.split([',', ' ']).count() == 3).then(|| "3".to_owned());
            let options = InputOptions { weight: wanted, ..ids(IdKind::Integer) };
            let error = failure_with("edge-list", text.as_bytes(), &options);
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn weights_may_be_negative_and_are_finite() {
        assert_eq!(edges_with("edge-list", b"1 2 1e300\n1 3 -7\n", &weight("3")).weights, [1e300, -7.0]);
        for infinity in ["inf", "-Infinity", "+INF"] {
            for ids in ["1 2", "ann ben"] {
                let error = failure_with("edge-list", format!("{ids} 1\n{ids} {infinity}\n").as_bytes(), &weight("3"));
                let expected =
                    format!(":2: expected a finite number as weight in column 3, `weight`, found `{infinity}`; no");
                assert!(error.contains(&expected), "{error}");
            }
        }
        let ends = ["1", "2"].map(|number| Some(number.to_owned()));
        let [source, target] = ends;
        let none = InputOptions { source, target, ..weight("none") };
        assert!(edges_with("edge-list", b"1 2 x\n1 3 nan\n", &none).weights.is_empty());
    }

    #[test]
    fn formats_with_fixed_columns() {
        let read = edges_of("cedge", b"0 5 6 0.25\n1 6 7 0.5\n");
        assert_eq!((read.pairs, read.weights), (vec![(5, 6), (6, 7)], vec![0.25, 0.5]));
        assert_eq!(read.facts.weights.as_deref(), Some("length"));
        assert!(failure_of("cedge", b"0 5 6\n").contains(":1: expected 4 columns, found 3 columns"));
        assert!(failure_of("el", b"1 2 3\n").contains(":1: expected 2 columns, found 3 columns"));
        assert_eq!(edges_of("wel", b"1 2 3\n").weights, [3.0]);
        assert!(failure_of("wel", b"1 2\n").contains(":1: expected 3 columns, found 2 columns"));
    }

    #[test]
    fn lines_without_an_end_are_left_out_if_asked() {
        let skip = InputOptions { nulls: crate::Nulls::Skip, ..InputOptions::default() };
        let read = edges_with("edge-list", b"source,target\n1,2\n,3\n4,NA\n5,6\n", &skip);
        assert_eq!(read.pairs, [(1, 2), (5, 6)]);
        let read = edges_with("edge-list", b"source\ttarget\nann\tben\n\tben\nNA\tcarl\n", &skip);
        assert_eq!(read.names, owned(&[("ann", "ben"), ("NA", "carl")]));
        // Rows without an end do not tell what ids are, whatever their other end is.
        let read = edges_with("edge-list", b"source,target\n,\nann,ben\n,\n,7\n8,\nNA,\n", &skip);
        assert_eq!(read.names, owned(&[("ann", "ben")]));
        for text in ["source,target\n1,2\n,3\n", "source,target\nann,ben\n,ben\n"] {
            assert!(failure_of("edge-list", text.as_bytes()).contains("edge-list:3"), "{text}");
        }
    }

    #[test]
    fn fields_in_quotes_may_have_line_ends() {
        let text = b"source,target,text,n\r\n1,2,\"a\nb, \"\"c\"\"\n\",5\r\n3,4,x\"y,6\n\n#5,7,z,8\n";
        let with = |attributes: &[&str]| InputOptions {
            attributes: Attributes::Named(attributes.iter().map(|&name| name.to_owned()).collect()),
            ids: IdKind::String,
            ..InputOptions::default()
        };
        let read = edges_with("edge-list", text, &with(&["text", "n"]));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read.names, [pair("1", "2"), pair("3", "4"), pair("#5", "7")]);
        let AttributeValues::Text { bytes, ends } = &read.attributes[0].values else { panic!("no strings") };
        assert_eq!((bytes.as_slice(), ends.as_slice()), (&b"a\nb, \"c\"\nx\"yz"[..], &[9, 12, 13][..]));
        let read = edges_with("edge-list", b"source,target,text\n#1,2,\"c\nd\"\n", &InputOptions::default());
        assert_eq!(read.names, [pair("#1", "2")]);
        // Ids and names of columns may, too, and a number of a line counts all before it.
        assert_eq!(edges_of("edge-list", b"\"a\nb\"\tc\n").names, [pair("a\nb", "c")]);
        assert_eq!(edges_of("edge-list", b"source,target,\"a\nb\"\nx,y,z\n").names, [pair("x", "y")]);
        assert!(failure_of("edge-list", b"source,target,n\nx,y,\"1\n2\"\nx,y\n").contains(":4: "));
        assert!(failure_of("edge-list", b"x,y\nz,\"w\nv,u\n").contains("a closing quote"));
        let other = InputOptions { delimiter: Some("~".to_owned()), ..with(&["k"]) };
        assert_eq!(edges_with("edge-list", b"source~target~k\na~\"b~\nc\"~e\n", &other).names, [pair("a", "b~\nc")]);
        // Between blanks a line is a line.
        assert!(failure_of("edge-list", b"1 2 \"a\n3 4 b\n").contains("a closing quote"));
        // Over many blocks.
        let many =
            (0..90_000).map(|n| format!("{n},{},\"{}\n,{n},\"\n", n + 1, "x\n".repeat(n % 9))).collect::<String>();
        let read = edges_of("edge-list", format!("source,target,text\n{many}").as_bytes());
        assert!(read.blocks > 2 && read.pairs == (0..90_000).map(|n| (n, n + 1)).collect::<Vec<_>>());
    }
}
