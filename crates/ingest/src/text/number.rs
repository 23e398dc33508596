//! Numbers and fields from bytes, without a string or an allocation in between.
//!
//! A line is taken field by field from the left. Up to 19 digits cannot overflow 64 bits, so only the twentieth is
//! checked. Cost: about a nanosecond per digit.

/// A whole number from an input: its low 64 bits, and whether it is below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The number in two's complement.
    pub bits: u64,
    /// It is below zero.
    pub negative: bool,
}

impl Integer {
    /// The number as `i64`, if it fits.
    pub(crate) fn signed(self) -> Option<i64> {
        if self.negative || self.bits <= i64::MAX as u64 { Some(self.bits as i64) } else { None }
    }

    /// The number as `u64`, if it is not below zero.
    pub(crate) fn unsigned(self) -> Option<u64> {
        (!self.negative).then_some(self.bits)
    }
}

/// The digits at the front of `bytes`, and how many there are; none, or a number above 64 bits, is `None`.
#[inline]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut len = 0;
    while len < bytes.len() {
        let digit = bytes[len].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if len < 19 {
            value = value * 10 + digit as u64;
        } else {
            // Leading zeros may make a number longer than it is large, hence checked and not refused.
            value = value.checked_mul(10)?.checked_add(digit as u64)?;
        }
        len += 1;
    }
    (len > 0).then_some((value, len))
}

/// An optional sign and digits at the front of `bytes`, and their length.
#[inline]
fn integer_prefix(bytes: &[u8]) -> Option<(Integer, usize)> {
    let sign = *bytes.first()?;
    if sign != b'-' && sign != b'+' {
        let (bits, len) = digits(bytes)?;
        return Some((Integer { bits, negative: false }, len));
    }
    let (magnitude, len) = digits(&bytes[1..])?;
    if sign == b'+' || magnitude == 0 {
        let integer = Integer { bits: magnitude, negative: false };
        return Some((integer, len + 1));
    }
    if magnitude > 1 << 63 {
        return None;
    }
    let integer = Integer { bits: magnitude.wrapping_neg(), negative: true };
    Some((integer, len + 1))
}

/// All of `token` as a whole number.
#[inline]
pub fn integer(token: &[u8]) -> Option<Integer> {
    let (integer, len) = integer_prefix(token)?;
    (len == token.len()).then_some(integer)
}

/// All of `token` as a number without a sign.
pub(crate) fn unsigned(token: &[u8]) -> Option<u64> {
    let (value, len) = digits(token)?;
    (len == token.len()).then_some(value)
}

/// All of `token` as a finite number: neither `inf` nor `nan`, nor a number beyond the range.
#[inline]
pub fn real(token: &[u8]) -> Option<f64> {
    // Short whole numbers, the most common weights, need no decimal conversion.
    if token.len() <= 15
        && let Some(integer) = integer(token)
        && (integer.bits != 0 || token.first() != Some(&b'-'))
    {
        return Some(integer.bits as i64 as f64);
    }
    let unsigned = token.strip_prefix(b"+").unwrap_or(token);
    if unsigned.len() < token.len() && unsigned.first().is_some_and(|b| matches!(b, b'-' | b'+')) {
        return None;
    }
    let number: f64 = fast_float2::parse(unsigned).ok()?;
    number.is_finite().then_some(number)
}

/// Longest number that is read with Fortran's exponent.
const MOST_FORTRAN_BYTES: usize = 64;

/// A number with the exponent `D` or `d` of double precision, or `Q` of quadruple precision. Only weights are read so:
/// in other columns `1D2` may be a word.
#[cold]
fn fortran(token: &[u8]) -> Option<f64> {
    let mut text = [0; MOST_FORTRAN_BYTES];
    let place = token.iter().position(|byte| matches!(byte, b'd' | b'D' | b'q' | b'Q'))?;
    let is_mantissa = token[..place].last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    let text = text.get_mut(..token.len()).filter(|_| is_mantissa)?;
    text.copy_from_slice(token);
    text[place] = b'e';
    real(text)
}

/// All of `token` as a weight: a finite number that loses nothing but digits behind the point. A whole number that no
/// real one equals, and one that is not 0 but too small to be any other, are none.
pub(crate) fn weight(token: &[u8]) -> Option<f64> {
    let number = real_or_zero(token)?;
    // Real numbers hold all whole ones of fifteen digits.
    let is_exact = token.len() <= 15 || !is_whole(token) || is_exactly(token, number);
    is_exact.then_some(number)
}

/// All of `token` as a finite number that is 0 only if the token says so, and not for being too small.
pub(crate) fn real_or_zero(token: &[u8]) -> Option<f64> {
    let number = real(token).or_else(|| fortran(token))?;
    let mut mantissa = token.iter().take_while(|byte| !byte.is_ascii_alphabetic());
    let is_lost = number == 0.0 && mantissa.any(|byte| (b'1'..=b'9').contains(byte));
    (!is_lost).then_some(number)
}

/// The expected content, for a token that is no [`weight`].
pub(crate) fn weight_expected(token: &[u8]) -> &'static str {
    match real(token) {
        Some(0.0) => "a weight that is 0, or large enough for a real number of 64 bits",
        Some(_) => "a whole weight that a real number of 64 bits equals, such as all up to 2^53",
        None => "a weight that is a finite number",
    }
}

/// Whether a token is a whole number, however large, written without a point or an exponent.
#[inline]
pub fn is_whole(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a token that is an integer is written in another way than it is printed: `007`, `+7`, `-0`. `0x` and `0.5`
/// are no integers.
#[inline]
pub(crate) fn is_padded(token: &[u8]) -> bool {
    matches!(token, [b'0', b'0'..=b'9', ..] | [b'-', b'0', ..] | [b'+', ..])
}

/// Words that mean a missing value in tables.
const MISSING: [&[u8]; 10] = [b"", b"na", b"n/a", b"nan", b"null", b"none", b"nil", b"-", b".", b"?"];

/// Whether a token says that there is no value.
pub fn is_missing(token: &[u8]) -> bool {
    MISSING.contains(&trim(token).to_ascii_lowercase().as_slice())
}

/// Whether a whole number is this real one.
pub fn is_exactly(token: &[u8], number: f64) -> bool {
    let whole = std::str::from_utf8(token).ok().and_then(|text| text.parse::<i128>().ok());
    whole.is_some_and(|whole| number.abs() < 1e38 && number as i128 == whole)
}

/// Whether a token is a word for what is no finite number.
pub(crate) fn is_infinite_or_nan(token: &[u8]) -> bool {
    let word = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    [&b"inf"[..], b"infinity", b"nan"].iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Whether `byte` separates columns in text without commas.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// `bytes` without blanks at either end.
#[inline]
pub fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

/// The lines of a block, without their ends (`\n` or `\r\n`).
pub struct LineIter<'a> {
    rest: &'a [u8],
}

/// The lines of `bytes`.
pub fn lines(bytes: &[u8]) -> LineIter<'_> {
    LineIter { rest: bytes }
}

impl<'a> Iterator for LineIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let line = match memchr::memchr(b'\n', self.rest) {
            Some(end) => {
                let line = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                line
            }
            None => std::mem::take(&mut self.rest),
        };
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Rules that recognize quoted fields, which may contain line ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoting {
    /// Lines may be comments.
    pub(crate) has_comments: bool,
    /// A separator of columns that counts beside `,`, `;`, `|` and tabs.
    pub(crate) separator: Option<u8>,
}

impl Quoting {
    fn begins_behind(self, byte: u8) -> bool {
        matches!(byte, b',' | b';' | b'|' | b'\t') || self.separator == Some(byte)
    }
}

/// End of the record at the start of the text, including its line end. A line end within a quoted field does not end a
/// record; a quote begins a field. A line that may be a comment is one record. `None` if a quote is open at the end of
/// the text.
pub(crate) fn record_end(text: &[u8], quoting: Quoting) -> Option<usize> {
    let line_end = |from: usize| memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |end| from + end + 1);
    let (mut at, mut end, mut is_open) = (0, line_end(0), false);
    if quoting.has_comments && matches!(text.first(), Some(b'#' | b'%')) {
        return Some(end);
    }
    loop {
        while let Some(quote) = memchr::memchr(b'"', &text[at..end]) {
            let place = at + quote;
            at = place + 1;
            match is_open {
                // Two are one within the field.
                true if text.get(at) == Some(&b'"') => at += 1,
                true => is_open = false,
                false => is_open = place == 0 || quoting.begins_behind(text[place - 1]),
            }
        }
        if !is_open {
            return Some(end);
        }
        if end == text.len() {
            return None;
        }
        (at, end) = (end, line_end(end));
    }
}

/// The records of `text` with the numbers of their first lines, of which the first is `number`: lines, or several where
/// fields in quotes have line ends.
pub(crate) fn records(text: &[u8], number: u64, quoting: Quoting) -> RecordIter<'_> {
    RecordIter { rest: text, number, has_quotes: memchr::memchr(b'"', text).is_some(), quoting }
}

pub(crate) struct RecordIter<'a> {
    rest: &'a [u8],
    number: u64,
    has_quotes: bool,
    quoting: Quoting,
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = (u64, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        if self.rest.is_empty() {
            return None;
        }
        let number = self.number;
        let end = if self.has_quotes {
            record_end(self.rest, self.quoting)
        } else {
            memchr::memchr(b'\n', self.rest).map(|end| end + 1)
        };
        let (record, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        self.number += if self.has_quotes { memchr::memchr_iter(b'\n', record).count() as u64 } else { 1 };
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        Some((number, record.strip_suffix(b"\r").unwrap_or(record)))
    }
}

/// The columns of a line, separated by runs of blanks.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        let mut fields = Fields { rest: line };
        fields.skip_blanks();
        fields
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let [first, rest @ ..] = self.rest
            && is_blank(*first)
        {
            self.rest = rest;
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte, which starts a column.
    #[inline]
    pub(crate) fn first_byte(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Whether the next column begins as an integer that is written in another way than it is printed.
    #[inline]
    pub(crate) fn is_padded(&self) -> bool {
        is_padded(self.rest)
    }

    #[inline]
    pub(crate) fn token(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| is_blank(b)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.skip_blanks();
        Some(token)
    }

    /// The next column as a whole number; if it is none, it is not taken.
    #[inline]
    pub(crate) fn integer(&mut self) -> Option<Integer> {
        let (integer, len) = integer_prefix(self.rest)?;
        self.take(len)?;
        Some(integer)
    }

    /// The next column as a number without a sign; if it is none, it is not taken.
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let (value, len) = digits(self.rest)?;
        self.take(len)?;
        Some(value)
    }

    /// Takes a column of `len` bytes if it ends there.
    #[inline]
    fn take(&mut self, len: usize) -> Option<()> {
        match self.rest.get(len) {
            None => self.rest = &[],
            Some(&next) if is_blank(next) => {
                self.rest = &self.rest[len + 1..];
                self.skip_blanks();
            }
            Some(_) => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_at_the_edges_of_64_bits() {
        assert_eq!(integer(b"18446744073709551615").unwrap().bits, u64::MAX);
        assert_eq!(integer(b"18446744073709551616"), None);
        assert_eq!(integer(b"99999999999999999999999"), None);
        assert_eq!(integer(b"00000000000000000000000000007").unwrap().bits, 7);
        assert_eq!(integer(b"-9223372036854775808").unwrap().signed(), Some(i64::MIN));
        assert_eq!(integer(b"-9223372036854775809"), None);
        assert_eq!(integer(b"9223372036854775808").unwrap().signed(), None);
        assert_eq!(integer(b"-1").unwrap().unsigned(), None);
        assert_eq!(integer(b"-0").unwrap(), Integer { bits: 0, negative: false });
        for bad in [&b""[..], b"-", b"+", b"1x", b"x1", b"--1", b"+-1", b"1.0", b"0x10", b" 1"] {
            assert_eq!(integer(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn reals_agree_with_the_standard_library() {
        for text in [
            "0",
            "-0",
            "1",
            "-17",
            "+4",
            ".5",
            "-.25",
            "1e300",
            "1e-320",
            "9007199254740993",
            "123456789012345678",
            "+.5",
        ] {
            let expected: f64 = text.parse().unwrap();
            let found = real(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"));
            assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        }
        for bad in [
            &b""[..],
            b"one",
            b"nan",
            b"inf",
            b"-Infinity",
            b"1,5",
            b"1e999",
            b"-1e999",
            b"1e",
            b"--1",
            b"+-1",
            b"-+1",
            b"1 2",
            b".",
        ] {
            assert_eq!(real(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn padded_integers_are_alike_as_tokens_and_in_lines() {
        for (token, expected) in [
            (&b"007"[..], true),
            (b"00", true),
            (b"+7", true),
            (b"-0", true),
            (b"-07", true),
            (b"0", false),
            (b"-7", false),
            (b"10", false),
            (b"0x", false),
            (b"0.5", false),
            (b"", false),
        ] {
            let line = [token, b" 1"].concat();
            let text = String::from_utf8_lossy(token);
            assert_eq!((is_padded(token), Fields::new(&line).is_padded()), (expected, expected), "{text}");
        }
    }

    #[test]
    fn columns_are_taken_from_the_left() {
        let mut fields = Fields::new(b"  12\t -3  x 4 ");
        assert_eq!(fields.unsigned(), Some(12));
        assert_eq!(fields.integer().unwrap().signed(), Some(-3));
        assert_eq!(fields.integer(), None);
        assert_eq!(fields.token(), Some(&b"x"[..]));
        assert_eq!(fields.unsigned(), Some(4));
        assert!(fields.is_empty() && fields.token().is_none());
    }

    #[test]
    fn lines_of_both_kinds() {
        let found: Vec<&[u8]> = lines(b"a\r\n\nb\nc").collect();
        assert_eq!(found, [&b"a"[..], b"", b"b", b"c"]);
    }

    #[test]
    fn weights_lose_no_whole_number_and_are_not_0_by_rounding() {
        for (text, expected) in [
            ("9007199254740992", 9007199254740992.0),
            ("-9007199254740994", -9007199254740994.0),
            ("1e300", 1e300),
            ("0.1234567890123456789", 0.12345678901234568),
            ("0e-400", 0.0),
            ("1700000000123456789.5", 1.7000000001234568e18),
            ("1.5D-02", 0.015),
            ("-2.d+3", -2000.0),
            (".5q0", 0.5),
        ] {
            assert_eq!(weight(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["9007199254740993", "-1700000000123456789", "1e-400", "-0.01e-399", "1e999", "inf", "x"]
            .into_iter()
            .chain(["1.5D", "D5", "1D2D3", "1.5D-400", "1D999", "1.5D2e3"])
        {
            assert_eq!(weight(text.as_bytes()), None, "{text}");
        }
        assert_eq!(real(b"1D2"), None, "a word outside of weights");
        assert!(weight_expected(b"9007199254740993").contains("2^53"));
        assert!(weight_expected(b"1e-400").contains("large enough"));
        assert!(weight_expected(b"inf").contains("finite"));
    }
}
