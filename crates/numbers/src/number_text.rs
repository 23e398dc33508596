//! Text in columns, as numbers for a dense array.
//!
//! The separator is found as for lists of edges (`ingest/src/text/separator.rs`); the first line names the columns
//! where it has no number above numbers. Which columns hold numbers is told by the first lines; what the others hold is
//! not looked at. Whole numbers are those without a point or an exponent. Cost: about a nanosecond per byte.

use crate::number_columns::{Number, NumberValues, Rounded, by_element};
use crate::number_table::{ColumnKind, NumberOptions, Refused};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_ingest::parts::{
    BLOCK_BYTES, Comments, Cut, Field, LineBlocks, Lines, Sample, Separator, bad_record, end_of_line, first_comments,
    first_lines, has_columns, integer, is_blank, is_called_csv, is_exactly, is_missing, is_separator_line, lines,
    name_of, real, separator_of_rows, settled_comments, trim,
};
use outcore_ingest::{InputOptions, is_whole};
use outcore_io::Budget;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All whole numbers of so many digits are real ones.
const MOST_EXACT_DIGITS: usize = 15;
/// Characters of a word that a message shows.
const MOST_WORD_CHARS: usize = 40;

/// Text in columns whose first lines were looked at.
pub(crate) struct NumberText {
    pub(crate) blocks: LineBlocks,
    pub(crate) separator: Separator,
    pub(crate) comments: Comments,
    /// Names of the columns, from the first line.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) kinds: Vec<ColumnKind>,
    /// The first word of each column that holds words, and its line.
    pub(crate) words: Vec<Option<(u64, String)>>,
    /// Whether a column has numbers with a comma instead of a point.
    pub(crate) has_commas: Vec<bool>,
    pub(crate) has_rows: bool,
}

impl NumberText {
    pub(crate) fn open(mut blocks: LineBlocks, options: &NumberOptions) -> Result<Self> {
        let path = blocks.path().to_owned();
        let as_lists = InputOptions { comment: options.comment.clone(), ..InputOptions::default() };
        let comments = first_comments(&path, &as_lists)?;
        let mut first = Lines { first_line: 1, bytes: Vec::new(), input_bytes: 0 };
        while let Some(found) = blocks.next_lines()? {
            first = found;
            if lines(&first.bytes).any(|line| comments.is_data(line)) {
                break;
            }
            first.bytes.clear();
        }
        let data = first_lines(0, &first.bytes, |line| comments.is_data(line));
        let data: Vec<&[u8]> = data.into_iter().map(|(_, line)| line).collect();
        let Some(head) = data.first() else {
            return Err(Error::input(&path, None, "columns of numbers", "no lines"));
        };
        if is_separator_line(head) {
            return Err(bad_record(&path, first.first_line, "numbers, or the names of columns", head)
                .advise("it tells spreadsheets the separator: take the line out, for example with tail -n +2"));
        }
        let separator = separator_of(&data, &first, &path, options)?;
        let comments = settled_comments(comments, separator, options.comment.as_deref());
        let sample = NumberSample::cut(&first, &path, (separator, comments.clone()))?;
        let has_names = match options.header {
            Some(said) => said,
            None => sample.has_names()?,
        };
        let skipped = usize::from(has_names);
        let (kinds, words, has_rows) = (sample.kinds(skipped), sample.words(skipped), sample.rows().len() > skipped);
        let has_commas = sample.has_commas();
        let names = has_names.then(|| sample.names());
        let end = if has_names { end_of_line(&first.bytes, sample.rows()[0].0) } else { 0 };
        first.drop_front(end);
        if !first.bytes.is_empty() {
            blocks.give_back(first);
        }
        Ok(NumberText { blocks, separator, comments, names, kinds, words, has_commas, has_rows })
    }
}

/// The separator that the options ask for, or that of the first lines.
fn separator_of(data: &[&[u8]], first: &Lines, path: &Path, options: &NumberOptions) -> Result<Separator> {
    if let Some(asked) = &options.delimiter {
        return Separator::named(asked);
    }
    // If values are missing between tabs, blanks separate columns as well.
    if data.iter().all(|line| line.contains(&b'\t')) {
        return Ok(Separator::Byte(b'\t'));
    }
    Ok(match separator_of_rows(data, first, path)? {
        Separator::Blanks if is_called_csv(path) => Separator::Byte(b','),
        found => found,
    })
}

/// The first data lines, cut into columns, and the number of columns that all have.
struct NumberSample<'a> {
    sample: Sample<'a>,
    count: usize,
}

impl<'a> NumberSample<'a> {
    fn cut(first: &'a Lines, path: &'a Path, cut: (Separator, Comments)) -> Result<Self> {
        // Fields in quotes end on their lines.
        let all = (0u64..).zip(lines(&first.bytes));
        let sample = Sample::cut((path, first.first_line), all, cut, (1, usize::MAX))?;
        let count = sample.width();
        match sample.rows.iter().find(|(_, fields)| !has_columns(fields, count)) {
            Some((skipped, fields)) => Err(other_width(path, first.first_line + skipped, count, fields.len())),
            None => Ok(NumberSample { sample, count }),
        }
    }

    fn rows(&self) -> &[(u64, Vec<Field<'a>>)] {
        &self.sample.rows
    }

    /// Whether the first line names the columns.
    ///
    /// # Errors
    /// It has numbers, too.
    fn has_names(&self) -> Result<bool> {
        let head = &self.rows()[0].1[..self.count];
        let is_word = |field: &Field<'_>| kind_of(field) == ColumnKind::Text;
        if self.rows().len() == 1 && head.iter().all(is_word) {
            return Ok(true);
        }
        let below = self.kinds(1);
        let is_number = |kind: &ColumnKind| !matches!(kind, ColumnKind::Text | ColumnKind::Empty);
        let is_above = head.iter().zip(&below).any(|(field, kind)| is_word(field) && is_number(kind));
        let has_numbers = |field: &Field<'_>| matches!(kind_of(field), ColumnKind::Whole | ColumnKind::Real);
        let is_mixed = is_above && head.iter().zip(&below).any(|(field, kind)| has_numbers(field) && is_number(kind));
        if is_mixed || !is_above && self.may_be_names(head) {
            let line = self.sample.line(0);
            let expected = "numbers in columns of numbers, or names of all columns";
            return Err(Error::input(self.sample.path, Some(line), expected, "what may be names and numbers")
                .advise("say --header yes if the line names the columns, --header no if it does not"));
        }
        Ok(is_above)
    }

    /// Whether a first line without a word above numbers may name the columns all the same: `country,2019,2020`, or
    /// `,0,1`. Names do not come again below, do not begin with a digit, or are different whole numbers without a sign.
    fn may_be_names(&self, head: &[Field<'_>]) -> bool {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let (mut words, mut numbers) = (0, Vec::new());
        for (column, field) in head.iter().enumerate() {
            let token = trim(field.raw);
            match kind_of(field) {
                ColumnKind::Whole if is_digit(token.first()) => numbers.push(token),
                ColumnKind::Text | ColumnKind::Empty
                    if !is_digit(token.first())
                        && self.rows()[1..].iter().all(|(_, fields)| trim(fields[column].raw) != token) =>
                {
                    words += 1
                }
                _ => return false,
            }
        }
        numbers.sort_unstable();
        words > 0 && !numbers.is_empty() && numbers.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn names(&self) -> Vec<String> {
        self.rows()[0].1.iter().take(self.count).map(name_of).collect()
    }

    /// Kinds of the columns of the lines after the first `skipped`.
    fn kinds(&self, skipped: usize) -> Vec<ColumnKind> {
        let of_column = |column: usize| {
            let body = self.rows()[skipped..].iter().map(|(_, fields)| kind_of(&fields[column]));
            body.reduce(ColumnKind::and).unwrap_or(ColumnKind::Empty)
        };
        (0..self.count).map(of_column).collect()
    }

    /// The first words of the columns below so many lines, and where they stand.
    fn words(&self, skipped: usize) -> Vec<Option<(u64, String)>> {
        let of_column = |column: usize| {
            let mut body = self.rows()[skipped..].iter().map(|(line, fields)| (line, &fields[column]));
            let (line, field) = body.find(|(_, field)| kind_of(field) == ColumnKind::Text)?;
            let word = String::from_utf8_lossy(trim(field.raw)).chars().take(MOST_WORD_CHARS).collect();
            Some((self.sample.first_line + line, word))
        };
        (0..self.count).map(of_column).collect()
    }

    /// Whether the columns have numbers with a comma instead of a point.
    fn has_commas(&self) -> Vec<bool> {
        let has_comma = |field: &Field<'_>| {
            let token = trim(field.raw);
            let pointed: Vec<u8> = token.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
            token.contains(&b',') && real(&pointed).is_some()
        };
        (0..self.count).map(|column| self.rows().iter().any(|(_, fields)| has_comma(&fields[column]))).collect()
    }
}

fn kind_of(field: &Field<'_>) -> ColumnKind {
    let token = trim(field.raw);
    match token {
        token if is_whole(token) => ColumnKind::Whole,
        token if any_real(token).is_some_and(|real| !real.is_nan()) => ColumnKind::Real,
        token if is_missing(token) => ColumnKind::Empty,
        token if truth(token).is_some() => ColumnKind::Truth,
        _ => ColumnKind::Text,
    }
}

fn any_real(token: &[u8]) -> Option<f64> {
    real(token).or_else(|| {
        let unsigned = token.strip_prefix(b"+").filter(|rest| !rest.starts_with(b"-")).unwrap_or(token);
        fast_float2::parse(unsigned).ok()
    })
}

fn truth(token: &[u8]) -> Option<bool> {
    match token {
        token if token.eq_ignore_ascii_case(b"true") => Some(true),
        token if token.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

fn other_width(path: &Path, line: u64, expected: usize, found: usize) -> Error {
    let plural = if found == 1 { "" } else { "s" };
    Error::input(
        path,
        Some(line),
        format!("{expected} columns, as other lines have"),
        format!("{found} column{plural}"),
    )
    .advise("mend the line, or say --delimiter if the columns are cut wrongly")
}

pub(crate) struct TextParser {
    pub(crate) path: PathBuf,
    pub(crate) budget: Arc<Budget>,
    pub(crate) separator: Separator,
    pub(crate) comments: Comments,
    /// For each column of a line, its place among the chosen ones, if any.
    pub(crate) places: Vec<Option<usize>>,
    /// Names of the chosen columns, and whether they hold booleans.
    pub(crate) columns: Vec<(String, bool)>,
    pub(crate) element: ElementType,
    /// The type of the elements was told by the first lines alone.
    pub(crate) is_guess: bool,
    /// Takes whole numbers that are rounded, where that was not asked for.
    pub(crate) rounded: Option<Arc<Rounded>>,
}

impl TextParser {
    pub(crate) fn values(&self, block: &Lines) -> std::result::Result<NumberValues, Refused> {
        by_element!(self.element, T => self.values_as::<T>(block))
    }

    fn values_as<T: Number>(&self, block: &Lines) -> std::result::Result<NumberValues, Refused> {
        let long_bytes = block.bytes.capacity().saturating_sub(BLOCK_BYTES) as u64;
        let _long = self.budget.reserve("a long line of text", long_bytes)?;
        // A row has a byte for every column at least, if only for what separates them.
        let most_lines = memchr::memchr_iter(b'\n', &block.bytes).count() + 1;
        let most_rows = most_lines.min(block.bytes.len() / self.places.len() + 1);
        let values = NumberValues::new(&self.budget, self.element, self.columns.len(), most_rows);
        let mut values = values?;
        let mut row = 0;
        for (number, line) in (block.first_line..).zip(lines(&block.bytes)) {
            if !self.comments.is_data(line) {
                continue;
            }
            let mut count = 0;
            for field in Cut::new(line, self.separator) {
                let field = field.map_err(|expected| bad_record(&self.path, number, expected, line))?;
                match self.places.get(count) {
                    Some(&Some(column)) => values.put(row, column, self.element::<T>(&field, column, number)?),
                    Some(None) => {}
                    // An empty column at the end does not count.
                    None if count == self.places.len() && field.is_empty() && !field.quoted => continue,
                    None => {}
                }
                count += 1;
            }
            if count != self.places.len() {
                return Err(other_width(&self.path, number, self.places.len(), count).into());
            }
            row += 1;
        }
        values.truncate(row);
        Ok(values)
    }

    #[inline]
    fn element<T: Number>(&self, field: &Field<'_>, column: usize, line: u64) -> std::result::Result<T, Refused> {
        let (name, is_truth) = &self.columns[column];
        let mut token = field.raw;
        if token.first().is_none_or(|&byte| is_blank(byte)) || token.last().is_some_and(|&byte| is_blank(byte)) {
            token = trim(token);
        }
        if *is_truth {
            match truth(token) {
                Some(is_true) => return T::of_whole(is_true.into()).ok_or_else(|| self.refused(field, name, line)),
                None if is_missing(token) => return T::MISSING.ok_or_else(|| self.missing(name, line)),
                None => {
                    let expected = format!("true or false in column `{name}`, as in the first lines");
                    return Err(bad_record(&self.path, line, &expected, field.raw).advise(LEAVE_OUT).into());
                }
            }
        }
        if T::MISSING.is_none()
            && let Some(whole) = integer(token)
        {
            let whole = if whole.negative { (whole.bits as i64).into() } else { i128::from(whole.bits) };
            return T::of_whole(whole).ok_or_else(|| self.refused(field, name, line));
        }
        let real = any_real(token);
        if let Some(real) = real {
            if real.is_infinite() && token.iter().any(u8::is_ascii_digit) {
                return Err(self.refused(field, name, line));
            }
            if let Some(rounded) = &self.rounded
                && token.len() > MOST_EXACT_DIGITS
                && is_whole(token)
                && !is_exactly(token, real)
            {
                let number = || String::from_utf8_lossy(token).chars().take(MOST_WORD_CHARS).collect::<String>();
                rounded.see((line, column), || format!("{} on line {line} in column `{name}`", number()));
            }
        }
        match real {
            // Digits without a point that are no whole number of 64 bits would be rounded.
            Some(real) if T::MISSING.is_some() || !is_whole(token) && !self.is_guess && !real.is_nan() => {
                T::of_real(real).ok_or_else(|| self.refused(field, name, line))
            }
            Some(real) if !is_whole(token) && !real.is_nan() => {
                Err(Refused { wants_real: true, ..self.refused(field, name, line) })
            }
            Some(real) if !real.is_nan() => Err(self.refused(field, name, line)),
            _ if is_missing(token) => T::MISSING.ok_or_else(|| self.missing(name, line)),
            _ => {
                let expected = format!("a number in column `{name}`");
                Err(bad_record(&self.path, line, &expected, field.raw).advise(LEAVE_OUT).into())
            }
        }
    }

    fn refused(&self, field: &Field<'_>, name: &str, line: u64) -> Refused {
        let expected = format!("a number in column `{name}` that {} holds", self.element.name());
        let advice = match self.element {
            ElementType::Float64 => LEAVE_OUT,
            _ => "give the array another type: --dtype float64 holds all numbers, and rounds whole ones beyond 2^53",
        };
        bad_record(&self.path, line, &expected, field.raw).advise(advice).into()
    }

    fn missing(&self, name: &str, line: u64) -> Refused {
        let expected = format!("a value in column `{name}`, for {} has none that is missing", self.element.name());
        let error = Error::input(&self.path, Some(line), expected, "no value");
        Refused { error: error.advise("--dtype float64 makes NaN of it"), wants_real: self.is_guess }
    }
}

const LEAVE_OUT: &str = "mend the line, or say --columns with other columns";
