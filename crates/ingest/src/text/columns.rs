//! Cuts the lines of a text file into columns, and recognizes comments.
//!
//! One separator holds for the whole file. Fields may stand in double quotes everywhere (RFC 4180). The separator and
//! the meaning of the columns are decided in [`detect`](crate::text::detect).

use crate::tables::attributes::AttributeField;
use crate::text::number::{Fields, Quoting, is_blank, trim};
use outcore_image::{Error, Result};
use outcore_io::lock;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The separator of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Runs of spaces and tabs.
    Blanks,
    /// This byte.
    Byte(u8),
}

/// The separators with names, as `--delimiter` takes them and the summary says them.
const SEPARATORS: [(&str, Separator); 5] = [
    ("blanks", Separator::Blanks),
    ("tab", Separator::Byte(b'\t')),
    ("comma", Separator::Byte(b',')),
    ("semicolon", Separator::Byte(b';')),
    ("bar", Separator::Byte(b'|')),
];

impl Separator {
    /// The separator that `--delimiter` names: a name, or the character itself.
    pub fn named(named: &str) -> Result<Self> {
        if let Some((_, separator)) = SEPARATORS.iter().find(|(name, _)| *name == named) {
            return Ok(*separator);
        }
        match named.as_bytes() {
            b" " | b"space" => Ok(Separator::Blanks),
            b"\\t" => Ok(Separator::Byte(b'\t')),
            &[byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') => {
                Ok(Separator::Byte(byte))
            }
            _ => {
                let names: Vec<_> = SEPARATORS.iter().map(|(name, _)| *name).collect();
                Err(Error::Usage(format!(
                    "--delimiter {named}: expected one character that is no letter, digit or quote, or a name: {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// Its name, or the character.
    pub fn name(self) -> String {
        match (SEPARATORS.iter().find(|(_, separator)| *separator == self), self) {
            (Some((name, _)), _) => (*name).to_owned(),
            (None, Separator::Byte(byte)) => format!("`{}`", byte as char),
            (None, Separator::Blanks) => "blanks".to_owned(),
        }
    }

    pub(crate) fn bytes(self) -> [u8; 2] {
        match self {
            Separator::Blanks => [b' ', b'\t'],
            Separator::Byte(byte) => [byte; 2],
        }
    }

    /// Whether files with this separator are what is called CSV, where nothing is a comment unless the user says so.
    pub(crate) fn is_csv(self) -> bool {
        !matches!(self, Separator::Blanks | Separator::Byte(b'\t'))
    }
}

/// The columns of a format in which they have fixed places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedColumns {
    pub(crate) format: &'static str,
    /// Number of columns; 0 if there may be more columns than those that are read.
    pub(crate) count: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<(usize, &'static str)>,
    /// Whether the first column numbers the edges.
    pub(crate) has_edge_ids: bool,
}

/// The start of comments, after blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comments(Vec<Vec<u8>>);

impl Comments {
    pub(crate) fn none() -> Self {
        Comments(Vec::new())
    }

    /// `#` and `%`, the usual signs in files without commas.
    pub(crate) fn usual() -> Self {
        Comments(vec![b"#".to_vec(), b"%".to_vec()])
    }

    /// The comments that `--comment` names: a sign, or `none`.
    pub(crate) fn named(sign: &str) -> Result<Self> {
        match sign {
            "none" => Ok(Comments::none()),
            sign if sign.is_empty() || sign.contains(['\n', '\r', ' ', '\t', '"']) => Err(Error::Usage(format!(
                "--comment {sign:?}: expected what comments begin with, such as `#`, or none"
            ))),
            sign => Ok(Comments(vec![sign.as_bytes().to_vec()])),
        }
    }

    /// Rules that recognize quoted fields between these separators.
    pub(crate) fn quoting(&self, separator: Option<Separator>) -> Quoting {
        let separator = separator.and_then(|separator| match separator {
            Separator::Byte(byte) => Some(byte),
            Separator::Blanks => None,
        });
        Quoting { has_comments: !self.0.is_empty(), separator }
    }

    #[inline]
    pub(crate) fn has(&self, line: &[u8]) -> bool {
        let from = line.iter().position(|b| !is_blank(*b)).unwrap_or(line.len());
        self.0.iter().any(|sign| line[from..].starts_with(sign))
    }

    /// Whether a line is neither blank nor a comment.
    #[inline]
    pub fn is_data(&self, line: &[u8]) -> bool {
        !Fields::new(line).is_empty() && !self.has(line)
    }
}

/// Most comments that may be rows before an input is refused for them.
const MOST_DOUBTFUL: u64 = 10;

/// Comments that were skipped, counted by all workers, and those of them that may be rows.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    all: CountedLines,
    doubtful: CountedLines,
}

/// A number of lines, and the first of them.
#[derive(Debug, Default)]
struct CountedLines {
    count: AtomicU64,
    first: Mutex<Option<(u64, String)>>,
}

impl CountedLines {
    fn add(&self, number: u64, line: &[u8]) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|&(before, _)| number < before) {
            *first = Some((number, String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned()));
        }
    }
}

impl Skipped {
    /// Counts a comment; it may be a row if it is doubtful.
    pub(crate) fn add(&self, number: u64, line: &[u8], is_doubtful: bool) {
        self.all.add(number, line);
        if is_doubtful {
            self.doubtful.add(number, line);
        }
    }

    /// Number of comments, and the first of them.
    pub(crate) fn all(&self) -> (u64, Option<String>) {
        let first = lock(&self.all.first);
        (self.all.count.load(Ordering::Relaxed), first.as_ref().map(|(_, line)| line.clone()))
    }

    /// A note on comments that may be rows.
    pub(crate) fn note(&self) -> Option<String> {
        let first = lock(&self.doubtful.first);
        let (number, line) = first.as_ref()?;
        let (count, advice) = (self.doubtful.count.load(Ordering::Relaxed), comment_advice(line));
        let (have, are) = if count == 1 { ("has", "it is") } else { ("have", "they are") };
        Some(format!(
            "Of the lines that were skipped as comments, {count} {have} as many columns as the data, the first in line \
             {number}: `{line}`; if {are} data, say {advice}."
        ))
    }

    /// Refuses an input with many comments that may be rows, once all of it is parsed.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        let count = self.doubtful.count.load(Ordering::Relaxed);
        let first = lock(&self.doubtful.first);
        let Some((number, line)) = first.as_ref().filter(|_| count > MOST_DOUBTFUL) else { return Ok(()) };
        let found = format!("{count} with as many columns as the data, the first of them `{line}`");
        let expected = "comments that are no data";
        let sign = trim(line.as_bytes()).first().map_or('#', |&sign| sign as char);
        let advice =
            format!("if they are data, say {}; if they are comments, --comment '{sign}'", comment_advice(line));
        Err(Error::input(path, Some(*number), expected, found).advise(advice))
    }
}

/// Options by which a line that begins with one of the usual signs is data.
fn comment_advice(line: &str) -> &'static str {
    match line.trim_start().starts_with('#') {
        true => "--comment none, or --comment '%' where other lines are comments",
        false => "--comment none, or --comment '#' where other lines are comments",
    }
}

/// Whether the sign of a comment is the start of a word, as it is in data.
pub(crate) fn begins_with_word(line: &[u8]) -> bool {
    matches!(trim(line), [sign, next, ..] if !is_blank(*next) && next != sign)
}

/// Columns of a line that hold the edge, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) separator: Separator,
    pub(crate) comments: Comments,
    pub(crate) count: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    /// A column that says whether the edge has a direction, and what it says on every line.
    pub(crate) direction: Option<(usize, bool)>,
    pub(crate) strings: bool,
    pub(crate) attributes: Vec<(usize, AttributeField)>,
}

/// One column of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Content of the field; between the quotes if there are any.
    pub raw: &'a [u8],
    /// It stands in double quotes.
    pub quoted: bool,
}

impl Field<'_> {
    /// The content, doubled quotes made single.
    pub(crate) fn push_to(self, bytes: &mut Vec<u8>) {
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

    /// The bytes of the field, with two quotes within quotes as one.
    pub(crate) fn content(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.push_to(&mut bytes);
        bytes
    }

    /// Whether nothing but blanks stands there.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.raw.iter().all(|b| is_blank(*b))
    }
}

/// Whether a line is neither blank nor a comment with one of the usual signs.
#[inline]
pub(crate) fn is_data(line: &[u8]) -> bool {
    Fields::new(line).first_byte().is_some_and(|first| first != b'#' && first != b'%')
}

/// The columns of a line, one by one; an error is what was expected, and the last.
pub struct Cut<'a> {
    separator: Separator,
    /// Remainder of the line, if there is another column.
    rest: Option<&'a [u8]>,
}

impl<'a> Cut<'a> {
    /// The columns of `line`.
    #[inline]
    pub fn new(line: &'a [u8], separator: Separator) -> Self {
        let mut cut = Cut { separator, rest: None };
        cut.go_on(Some(line));
        cut
    }

    #[inline]
    fn go_on(&mut self, rest: Option<&'a [u8]>) {
        self.rest = match self.separator {
            Separator::Byte(_) => rest,
            // Any number of blanks is one separator, and at the ends of the line it is none.
            Separator::Blanks => rest.and_then(|bytes| {
                let start = bytes.iter().position(|b| !is_blank(*b))?;
                Some(&bytes[start..])
            }),
        };
    }

    fn quoted(&mut self, bytes: &'a [u8]) -> std::result::Result<Field<'a>, &'static str> {
        let end = closing_quote(&bytes[1..]).ok_or("a closing quote")?;
        let after = &bytes[end + 2..];
        let is_end = |byte: u8| match self.separator {
            Separator::Blanks => is_blank(byte),
            Separator::Byte(separator) => byte == separator,
        };
        match after.first() {
            None => {}
            Some(&next) if is_end(next) => self.go_on(Some(&after[1..])),
            Some(_) => return Err("a separator after the closing quote"),
        }
        Ok(Field { raw: &bytes[1..1 + end], quoted: true })
    }
}

impl<'a> Iterator for Cut<'a> {
    type Item = std::result::Result<Field<'a>, &'static str>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.rest.take()?;
        if bytes.first() == Some(&b'"') {
            return Some(self.quoted(bytes));
        }
        let end = match self.separator {
            Separator::Blanks => bytes.iter().position(|b| is_blank(*b)),
            Separator::Byte(separator) => memchr::memchr(separator, bytes),
        };
        self.go_on(end.map(|end| &bytes[end + 1..]));
        Some(Ok(Field { raw: &bytes[..end.unwrap_or(bytes.len())], quoted: false }))
    }
}

/// Cuts the first `most` columns of a line into `fields`; an error is what was expected.
pub(crate) fn split<'a>(
    line: &'a [u8],
    separator: Separator,
    most: usize,
    fields: &mut Vec<Field<'a>>,
) -> std::result::Result<(), &'static str> {
    fields.clear();
    for field in Cut::new(line, separator).take(most) {
        fields.push(field?);
    }
    Ok(())
}

/// Place of the quote that no other quote follows.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(line: &[u8], separator: Separator) -> std::result::Result<Vec<Vec<u8>>, &'static str> {
        let mut fields = Vec::new();
        split(line, separator, 9, &mut fields)?;
        Ok(fields.iter().map(|field| field.content()).collect())
    }

    #[test]
    fn quotes_follow_rfc_4180_whatever_the_separator() {
        let comma = Separator::Byte(b',');
        let found = contents(br#""a,""b""",c d ,"",x"#, comma).unwrap();
        assert_eq!(found, [&br#"a,"b""#[..], b"c d ", b"", b"x"]);
        let found = contents(b"\"New York\"\tLos Angeles\t\"\"", Separator::Byte(b'\t')).unwrap();
        assert_eq!(found, [&b"New York"[..], b"Los Angeles", b""]);
        let found = contents(b"  \"New York\" \t LA ", Separator::Blanks).unwrap();
        assert_eq!(found, [&b"New York"[..], b"LA"]);
        for separator in [comma, Separator::Blanks] {
            assert!(contents(br#""open,1"#, separator).is_err());
            assert!(contents(br#""a"b,1"#, separator).is_err());
        }
        assert_eq!(contents(b"1,2,", comma).unwrap().len(), 3);
        assert!(contents(b"   ", Separator::Blanks).unwrap().is_empty());
    }

    #[test]
    fn separators_have_names() {
        for (named, name) in
            [("tab", "tab"), ("\\t", "tab"), ("\t", "tab"), (" ", "blanks"), (",", "comma"), ("~", "`~`")]
        {
            assert_eq!(Separator::named(named).unwrap().name(), name);
        }
        for named in ["", "a", "7", "\"", "::", "é"] {
            assert!(Separator::named(named).unwrap_err().to_string().contains("--delimiter"), "{named}");
        }
    }

    #[test]
    fn comments_are_counted_and_the_first_is_kept() {
        let skipped = Skipped::default();
        skipped.add(9, b"# later", false);
        skipped.add(2, b"% first", false);
        assert_eq!((skipped.all(), skipped.note()), ((2, Some("% first".to_owned())), None));
        (0..10).for_each(|line| skipped.add(30 - line, b"#tag x", true));
        assert!(skipped.check(Path::new("x")).is_ok() && skipped.note().unwrap().contains("10 have"));
        skipped.add(5, b"#a b", true);
        let error = skipped.check(Path::new("x")).unwrap_err().to_string();
        assert!(error.contains("x:5: ") && error.contains("11 with") && error.contains("`#a b`"), "{error}");
        assert!(Comments::usual().has(b" \t# x") && !Comments::none().has(b"#a,#b"));
        assert!(Comments::named("//").unwrap().has(b"// x") && Comments::named("a b").is_err());
    }
}
