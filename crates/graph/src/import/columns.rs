//! Which columns of a text file hold what, decided from its first lines.
//!
//! Columns are separated by commas or semicolons if the first line has one, else by runs of blanks. The first line may
//! name the columns; it is taken for that if it has the usual names of the ends, if it has the name that
//! `--weight` asks for, or if it holds no numbers while the ids are integers.

use super::batch::{IdKind, InputOptions, bad_record};
use super::blocks::Lines;
use super::number::{Fields, is_blank, lines, real, trim};
use crate::error::{Error, Result};
use std::path::Path;

/// How many lines decide whether ids are integers.
const SAMPLE_LINES: usize = 1000;

/// How many columns of a line are looked at to find the ones needed.
const MOST_COLUMNS: usize = 256;

/// What the ends of an edge are commonly called, in lower case.
const END_NAMES: [(&[u8], &[u8]); 4] =
    [(b"source", b"target"), (b"src", b"dst"), (b"from", b"to"), (b"fromnodeid", b"tonodeid")];

/// What separates columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Runs of spaces and tabs.
    Blanks,
    /// This byte; fields may stand in double quotes (RFC 4180).
    Byte(u8),
}

/// Where in a line an edge stands; columns count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) separator: Separator,
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) weight: Option<usize>,
    pub(super) strings: bool,
}

/// Columns that a format fixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedColumns {
    pub(super) format: &'static str,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The column of the weights, and its name.
    pub(super) weight: Option<(usize, &'static str)>,
}

/// What the first lines tell.
#[derive(Debug)]
pub(super) struct Detected {
    pub(super) columns: Columns,
    pub(super) weight_name: Option<String>,
    /// The number of bytes up to the end of a line that names the columns, or 0.
    pub(super) names_end: usize,
    /// The first line could be `n m`.
    pub(super) may_have_size_line: bool,
}

/// One column of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// What stands there; between the quotes if there are any.
    pub(super) raw: &'a [u8],
    pub(super) quoted: bool,
}

impl Field<'_> {
    /// The content, doubled quotes made single.
    pub(super) fn push_to(self, bytes: &mut Vec<u8>) {
        if !self.quoted {
            bytes.extend_from_slice(self.raw);
            return;
        }
        let mut rest = self.raw;
        while let Some(quote) = memchr::memchr(b'"', rest) {
            bytes.extend_from_slice(&rest[..=quote]);
            rest = rest.get(quote + 2..).unwrap_or_default();
        }
        bytes.extend_from_slice(rest);
    }

    fn content(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.push_to(&mut bytes);
        bytes
    }
}

/// Whether a line is neither blank nor a comment.
#[inline]
pub(super) fn is_data(line: &[u8]) -> bool {
    match Fields::new(line).first_byte() {
        None => false,
        Some(first) => first != b'#' && first != b'%',
    }
}

/// Cuts the first `wanted` columns of a line into `fields`; an error is what was expected.
pub(super) fn split<'a>(
    line: &'a [u8],
    separator: Separator,
    wanted: usize,
    fields: &mut Vec<Field<'a>>,
) -> std::result::Result<(), &'static str> {
    fields.clear();
    let Separator::Byte(separator) = separator else {
        let mut tokens = Fields::new(line);
        while fields.len() < wanted
            && let Some(raw) = tokens.token()
        {
            fields.push(Field { raw, quoted: false });
        }
        return Ok(());
    };
    let mut rest = Some(line);
    while fields.len() < wanted
        && let Some(bytes) = rest
    {
        let (field, after) = if bytes.first() == Some(&b'"') {
            let end = closing_quote(&bytes[1..]).ok_or("a closing quote on the same line")?;
            let field = Field { raw: &bytes[1..1 + end], quoted: true };
            let after = &bytes[end + 2..];
            match after.first() {
                None => (field, None),
                Some(&next) if next == separator => (field, Some(&after[1..])),
                Some(_) => return Err("a separator after the closing quote"),
            }
        } else {
            let end = memchr::memchr(separator, bytes);
            let raw = &bytes[..end.unwrap_or(bytes.len())];
            (Field { raw, quoted: false }, end.map(|end| &bytes[end + 1..]))
        };
        fields.push(field);
        rest = after;
    }
    Ok(())
}

/// Where the quote is that no other quote follows.
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'"', &bytes[at..])?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether a token is written like an integer, however large.
fn looks_like_integer(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a token could name a column.
fn looks_like_name(token: &[u8]) -> bool {
    let first = trim(token).first();
    first.is_some_and(|b| !b.is_ascii_digit() && !matches!(b, b'-' | b'+' | b'.')) && real(trim(token)).is_none()
}

/// The first data lines of a block, cut into columns.
struct Sample<'a> {
    separator: Separator,
    /// The number of the line in the block, from 0, and its columns.
    rows: Vec<(u64, Vec<Field<'a>>)>,
}

impl<'a> Sample<'a> {
    fn take(first: &'a Lines, path: &Path) -> Result<Self> {
        let data = || (0u64..).zip(lines(&first.bytes)).filter(|(_, line)| is_data(line));
        let separator = match data().next() {
            Some((_, line)) if line.contains(&b',') => Separator::Byte(b','),
            Some((_, line)) if line.contains(&b';') => Separator::Byte(b';'),
            _ => Separator::Blanks,
        };
        let mut rows = Vec::new();
        for (skipped, line) in data().take(SAMPLE_LINES) {
            let mut fields = Vec::new();
            split(line, separator, MOST_COLUMNS, &mut fields)
                .map_err(|expected| bad_record(path, first.first_line + skipped, expected, line))?;
            rows.push((skipped, fields));
        }
        Ok(Sample { separator, rows })
    }

    /// Whether all ids of these rows are written like integers; missing ones are not this function's business.
    fn has_integer_ids(&self, rows: std::ops::RangeFrom<usize>, ends: (usize, usize)) -> bool {
        self.rows[rows].iter().all(|(_, fields)| {
            [ends.0, ends.1]
                .into_iter()
                .all(|column| fields.get(column).is_none_or(|field| looks_like_integer(self.id_of(*field))))
        })
    }

    fn id_of(&self, field: Field<'a>) -> &'a [u8] {
        if self.separator == Separator::Blanks { field.raw } else { trim(field.raw) }
    }

    /// Whether the first line names the columns; if so, which are the ends.
    fn names(&self, options: &InputOptions) -> Option<(usize, usize)> {
        let (_, first) = self.rows.first()?;
        let lower: Vec<Vec<u8>> = first.iter().map(|field| field.content().to_ascii_lowercase()).collect();
        let place = |name: &[u8]| lower.iter().position(|found| found == name);
        for (source, target) in END_NAMES {
            if let (Some(source), Some(target)) = (place(source), place(target)) {
                return Some((source, target));
            }
        }
        let asked = options.weight.as_deref().filter(|name| *name != "none" && looks_like_name(name.as_bytes()));
        if asked.is_some_and(|name| first.iter().any(|field| field.content() == name.as_bytes())) {
            return Some((0, 1));
        }
        let no_numbers = first.len() >= 2 && first[..2].iter().all(|field| looks_like_name(field.raw));
        let integers_follow = match options.ids {
            IdKind::Integer => true,
            IdKind::Auto => self.rows.len() > 1 && self.has_integer_ids(1.., (0, 1)),
            IdKind::String => false,
        };
        (no_numbers && integers_follow).then_some((0, 1))
    }
}

/// Decides the columns of a file from the first block with data; `fixed` are those of the format, if it has them.
pub(super) fn detect(
    first: &Lines,
    path: &Path,
    options: &InputOptions,
    fixed: Option<FixedColumns>,
) -> Result<Detected> {
    let sample = Sample::take(first, path)?;
    let named = if fixed.is_some() { None } else { sample.names(options) };
    let has_names = named.is_some();
    let ends = match fixed {
        Some(fixed) => (fixed.source, fixed.target),
        None => named.unwrap_or((0, 1)),
    };
    let strings = match options.ids {
        IdKind::String => true,
        IdKind::Integer => false,
        IdKind::Auto => !sample.has_integer_ids(has_names as usize.., ends),
    };
    let data = &sample.rows[(has_names as usize).min(sample.rows.len())..];
    let may_have_size_line = fixed.is_none()
        && !strings
        && !has_names
        && data.first().is_some_and(|(_, fields)| {
            fields.len() == 2 && fields.iter().all(|f| super::number::unsigned(trim(f.raw)).is_some())
        });
    // A line `n m` says nothing of the columns below it.
    let typical = if may_have_size_line && data.len() > 1 { &data[1].1 } else { data.first().map_or(&EMPTY, |d| &d.1) };
    let names = has_names.then(|| sample.rows[0].1.iter().map(|field| field.content()).collect::<Vec<_>>());
    let weight = match fixed {
        Some(fixed) => fixed_weight(options, fixed)?,
        None => free_weight(options, names.as_deref(), typical, ends)?,
    };
    let names_end = match has_names {
        true => end_of_line(&first.bytes, sample.rows[0].0),
        false => 0,
    };
    Ok(Detected {
        columns: Columns {
            separator: sample.separator,
            source: ends.0,
            target: ends.1,
            weight: weight.as_ref().map(|(column, _)| *column),
            strings,
        },
        weight_name: weight.map(|(_, name)| name),
        names_end,
        may_have_size_line,
    })
}

static EMPTY: Vec<Field<'static>> = Vec::new();

fn fixed_weight(options: &InputOptions, fixed: FixedColumns) -> Result<Option<(usize, String)>> {
    let Some((column, name)) = fixed.weight else {
        super::text_source::weights_wanted(options.weight.as_deref(), fixed.format, &[])?;
        return Ok(None);
    };
    let number = (column + 1).to_string();
    let wanted =
        super::text_source::weights_wanted(options.weight.as_deref(), fixed.format, &[name, "weight", &number])?;
    Ok(wanted.then(|| (column, name.to_owned())))
}

/// The column of the weights and its name, in a file whose columns are free.
fn free_weight(
    options: &InputOptions,
    names: Option<&[Vec<u8>]>,
    typical: &[Field<'_>],
    ends: (usize, usize),
) -> Result<Option<(usize, String)>> {
    let name_of = |column: usize| match names.and_then(|names| names.get(column)) {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None => "weight".to_owned(),
    };
    let is_end = |column: usize| column == ends.0 || column == ends.1;
    let Some(asked) = options.weight.as_deref() else {
        let by_name = names.and_then(|names| names.iter().position(|name| name.eq_ignore_ascii_case(b"weight")));
        let third = || {
            let is_numeric = typical.get(2).is_some_and(|field| real(trim(field.raw)).is_some());
            (is_numeric && !is_end(2)).then_some(2)
        };
        return Ok(by_name.or_else(third).map(|column| (column, name_of(column))));
    };
    if asked == "none" {
        return Ok(None);
    }
    let by_name = names.and_then(|names| names.iter().position(|name| name == asked.as_bytes()));
    let by_number = || asked.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let Some(column) = by_name.or_else(by_number) else {
        let known = match names {
            Some(names) => {
                let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
                format!("the columns are {}", names.join(", "))
            }
            None => "the columns have no names; give the number of the column, counted from 1".to_owned(),
        };
        return Err(Error::Usage(format!("--weight {asked}: there is no such column; {known}")));
    };
    if is_end(column) {
        return Err(Error::Usage(format!("--weight {asked}: that column holds the ids")));
    }
    if !typical.is_empty() && column >= typical.len() {
        return Err(Error::Usage(format!("--weight {asked}: the first edge has {} columns", typical.len())));
    }
    Ok(Some((column, name_of(column))))
}

fn end_of_line(bytes: &[u8], number: u64) -> usize {
    let end = memchr::memchr_iter(b'\n', bytes).nth(number as usize);
    end.map_or(bytes.len(), |end| end + 1)
}

/// Whether nothing but blanks stands in a field.
pub(super) fn is_empty_field(field: &Field<'_>) -> bool {
    field.raw.iter().all(|b| is_blank(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str, options: &InputOptions) -> Result<Detected> {
        let first = Lines { first_line: 1, bytes: text.as_bytes().to_vec(), input_bytes: 0 };
        detect(&first, Path::new("test"), options, None)
    }

    fn weights(name: &str) -> InputOptions {
        InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() }
    }

    #[test]
    fn quotes_follow_rfc_4180() {
        let mut fields = Vec::new();
        split(br#""a,""b""",c d ,"",x"#, Separator::Byte(b','), 9, &mut fields).unwrap();
        let contents: Vec<Vec<u8>> = fields.iter().map(|field| field.content()).collect();
        assert_eq!(contents, [&br#"a,"b""#[..], b"c d ", b"", b"x"]);
        assert!(split(br#""open,1"#, Separator::Byte(b','), 9, &mut fields).is_err());
        assert!(split(br#""a"b,1"#, Separator::Byte(b','), 9, &mut fields).is_err());
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let found = detected("id,Weight,TARGET,\"Source\"\n1,0.5,a,b\n", &InputOptions::default()).unwrap();
        let expected =
            Columns { separator: Separator::Byte(b','), source: 3, target: 2, weight: Some(1), strings: true };
        assert_eq!((found.columns, found.weight_name.as_deref()), (expected, Some("Weight")));
        assert_eq!(found.names_end, 26);
    }

    #[test]
    fn a_line_without_numbers_is_a_header_only_above_integers() {
        assert!(detected("a b\n1 2\n", &InputOptions::default()).unwrap().names_end > 0);
        assert_eq!(detected("a b\nc d\n", &InputOptions::default()).unwrap().names_end, 0);
        assert_eq!(detected("a b\n", &InputOptions::default()).unwrap().names_end, 0);
        assert_eq!(detected("1a 2b\n1 2\n", &InputOptions::default()).unwrap().names_end, 0);
        assert!(detected("a b w\nc d 1\n", &weights("w")).unwrap().names_end > 0);
        assert_eq!(detected("1,2,3\n", &weights("3")).unwrap().names_end, 0);
    }

    #[test]
    fn the_weight_column() {
        let weight = |text: &str, options: &InputOptions| detected(text, options).unwrap().columns.weight;
        assert_eq!(weight("1 2 0.5 9\n", &InputOptions::default()), Some(2));
        assert_eq!(weight("1 2 x 9\n", &InputOptions::default()), None);
        assert_eq!(weight("1 2 x 9\n", &weights("4")), Some(3));
        assert_eq!(weight("1 2 3\n", &weights("none")), None);
        assert_eq!(weight("5 1\n1 2 7\n", &InputOptions::default()), Some(2));
        for (text, name) in
            [("1 2 3\n", "5"), ("1 2 3\n", "1"), ("1 2 3\n", "w"), ("from,to,w\n1,2,3\n", "x"), ("1 2 3\n", "0")]
        {
            assert!(detected(text, &weights(name)).is_err(), "--weight {name}");
        }
    }
}
