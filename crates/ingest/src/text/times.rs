//! Dates and times in text, as ISO 8601 and RFC 3339 write them: `2024-02-29`, `2024-02-29T18:30:05.25+01:00`.
//!
//! A blank may stand in place of the `T`, seconds may be missing, and so may the colon of an offset. Years have four
//! digits. Anything else is no date and no time. Cost: some 20 nanoseconds, for nothing is parsed twice.

use chrono::NaiveDate;
use outcore_format::{AttributeKind, TimeUnit};

const DAY_SECONDS: i64 = 86_400;
const NANOSECONDS: i64 = 1_000_000_000;
/// Digits of a second that microseconds hold.
const MICROSECOND_DIGITS: usize = 6;

/// A date or a time: in UTC, if it has an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Seconds since 1970, rounded down.
    seconds: i64,
    nanoseconds: u32,
    /// Number of digits behind the point of the seconds.
    digits: usize,
    /// It is more than a date.
    pub(crate) has_time: bool,
    has_offset: bool,
}

/// The number of units of a column from 1970 to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Exactly(i64),
    /// The moment lies between this unit and the next one.
    Above(i64),
}

impl Moment {
    /// The moment that a text writes; nothing if it writes anything else.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let days = days(date)?;
        let mut moment =
            Moment { seconds: days * DAY_SECONDS, nanoseconds: 0, digits: 0, has_time: false, has_offset: false };
        let Some((b'T' | b't' | b' ', rest)) = rest.split_first() else { return rest.is_empty().then_some(moment) };
        moment.has_time = true;
        let (hour, rest) = two_digits(rest, 23)?;
        let (minute, mut rest) = two_digits(rest.strip_prefix(b":")?, 59)?;
        let mut second = 0;
        if let Some(behind) = rest.strip_prefix(b":") {
            (second, rest) = two_digits(behind, 59)?;
            if let Some(fraction) = rest.strip_prefix(b".") {
                moment.digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let digits = fraction.get(..moment.digits).filter(|digits| (1..=9).contains(&digits.len()))?;
                let value = digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
                moment.nanoseconds = value * 10u32.pow(9 - moment.digits as u32);
                rest = &fraction[moment.digits..];
            }
        }
        let offset_seconds = offset(rest)?;
        moment.has_offset = offset_seconds.is_some();
        moment.seconds += hour * 3600 + minute * 60 + second - offset_seconds.unwrap_or(0);
        Some(moment)
    }

    /// Days from 1970 to a date; nothing for a time.
    pub(crate) fn date(self) -> Option<i64> {
        (!self.has_time).then_some(self.seconds / DAY_SECONDS)
    }

    /// Units from 1970, if 64 bits hold them.
    pub(crate) fn count(self, unit: TimeUnit) -> Option<Count> {
        let unit_nanoseconds = match unit {
            TimeUnit::Second => NANOSECONDS,
            TimeUnit::Millisecond => 1_000_000,
            TimeUnit::Microsecond => 1000,
            TimeUnit::Nanosecond => 1,
        };
        let inside = i64::from(self.nanoseconds);
        let whole = i128::from(self.seconds) * i128::from(NANOSECONDS / unit_nanoseconds);
        let count = i64::try_from(whole + i128::from(inside / unit_nanoseconds)).ok()?;
        Some(if inside % unit_nanoseconds == 0 { Count::Exactly(count) } else { Count::Above(count) })
    }

    /// A field of a column of this kind, dates or times, as its number.
    pub(crate) fn word(self, kind: &AttributeKind) -> Option<i64> {
        match kind {
            AttributeKind::Date => self.date(),
            AttributeKind::Timestamp { unit, zone } if self.has_time && zone.is_some() == self.has_offset => {
                match self.count(*unit)? {
                    Count::Exactly(count) => Some(count),
                    Count::Above(_) => None,
                }
            }
            _ => None,
        }
    }
}

/// The kind of a column of these fields, if all are dates, or all are times that have an offset, or all that have none.
pub(crate) fn kind_of_moments<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> Option<AttributeKind> {
    let first = Moment::of(fields.next()?)?;
    let (mut digits, mut fits) = (first.digits, first.count(TimeUnit::Nanosecond).is_some());
    for field in fields {
        let moment = Moment::of(field)?;
        if (moment.has_time, moment.has_offset) != (first.has_time, first.has_offset) {
            return None;
        }
        digits = digits.max(moment.digits);
        fits &= moment.count(TimeUnit::Nanosecond).is_some();
    }
    let unit = match digits > MICROSECOND_DIGITS {
        true => Some(TimeUnit::Nanosecond).filter(|_| fits)?,
        false => TimeUnit::Microsecond,
    };
    let zone = first.has_offset.then(|| "UTC".to_owned());
    Some(if first.has_time { AttributeKind::Timestamp { unit, zone } } else { AttributeKind::Date })
}

/// Days from 1970 to a date of four, two and two digits.
fn days(date: &[u8]) -> Option<i64> {
    let number = |digits: &[u8]| {
        let are_digits = digits.iter().all(u8::is_ascii_digit);
        are_digits.then(|| digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    };
    let [year @ .., b'-', m0, m1, b'-', d0, d1] = date else { return None };
    let date = NaiveDate::from_ymd_opt(number(year)? as i32, number(&[*m0, *m1])?, number(&[*d0, *d1])?)?;
    Some(date.signed_duration_since(NaiveDate::default()).num_days())
}

/// Two digits of a number up to `most`, and the text behind them.
fn two_digits(text: &[u8], most: i64) -> Option<(i64, &[u8])> {
    let (&[tens, ones], rest) = text.split_first_chunk::<2>()?;
    let value = i64::from(tens.wrapping_sub(b'0')) * 10 + i64::from(ones.wrapping_sub(b'0'));
    (tens.is_ascii_digit() && ones.is_ascii_digit() && value <= most).then_some((value, rest))
}

/// The offset from UTC in seconds, if there is one; nothing if there is anything else.
fn offset(text: &[u8]) -> Option<Option<i64>> {
    let sign = match text {
        [] => return Some(None),
        b"Z" | b"z" => return Some(Some(0)),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let (hours, rest) = two_digits(&text[1..], 23)?;
    let (minutes, rest) = two_digits(rest.strip_prefix(b":").unwrap_or(rest), 59)?;
    rest.is_empty().then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_count_from_1970() {
        let count = |text: &str, unit| match Moment::of(text.as_bytes())?.count(unit)? {
            Count::Exactly(count) => Some((count, true)),
            Count::Above(count) => Some((count, false)),
        };
        for (text, unit, expected) in [
            ("1970-01-02", TimeUnit::Second, Some((86_400, true))),
            ("1970-01-01T00:00:01.5Z", TimeUnit::Millisecond, Some((1500, true))),
            ("1970-01-01T00:00:01.5Z", TimeUnit::Second, Some((1, false))),
            ("1969-12-31T23:59:59.5Z", TimeUnit::Second, Some((-1, false))),
            ("1969-12-31T23:59:59.9999995", TimeUnit::Microsecond, Some((-1, false))),
            ("1970-01-01T01:00:00+01:00", TimeUnit::Microsecond, Some((0, true))),
            ("1969-12-31 23:59", TimeUnit::Nanosecond, Some((-60_000_000_000, true))),
            ("2024-02-29 12:00:00-0530", TimeUnit::Second, Some((1_709_227_800, true))),
            ("9999-01-01", TimeUnit::Nanosecond, None),
        ] {
            assert_eq!(count(text, unit), expected, "{text}");
        }
        for text in
            ["noon", "2024", "2024-2-29", "2023-02-29", "2024-02-29T", "2024-02-29 24:00", "2024-02-29T10:00:00,5"]
                .into_iter()
                .chain(["2024-02-29T10:00+1", "2024-02-29 10:00 ", "+024-02-29", "2024-02-29T10:00:00.", "20240229"])
        {
            assert_eq!(Moment::of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_column_has_dates_or_times_of_one_form() {
        let kind = |texts: &[&str]| kind_of_moments(texts.iter().map(|text| text.as_bytes()));
        let times = |unit, zone: Option<&str>| Some(AttributeKind::Timestamp { unit, zone: zone.map(str::to_owned) });
        assert_eq!(kind(&["2024-02-29", "1969-01-01"]), Some(AttributeKind::Date));
        assert_eq!(kind(&["2024-02-29 10:00", "2024-02-29T10:00:00.5"]), times(TimeUnit::Microsecond, None));
        assert_eq!(kind(&["2024-02-29 10:00Z", "2024-02-29T10:00+02:00"]), times(TimeUnit::Microsecond, Some("UTC")));
        assert_eq!(kind(&["2024-02-29 10:00:00.1234567"]), times(TimeUnit::Nanosecond, None));
        for texts in [&["2024-02-29", "2024-02-29 10:00"][..], &["2024-02-29 10:00", "2024-02-29T10:00Z"], &["x"], &[]]
        {
            assert_eq!(kind(texts), None, "{texts:?}");
        }
        let minutes = kind(&["2024-02-29 10:00"]).unwrap();
        let word = |text: &str, kind| Moment::of(text.as_bytes()).and_then(|moment| moment.word(kind));
        assert_eq!(word("1970-01-01 00:01", &minutes), Some(60_000_000));
        assert_eq!(word("1970-01-03", &AttributeKind::Date), Some(2));
        for (text, kind) in
            [("1970-01-03", &minutes), ("1970-01-01 00:01Z", &minutes), ("1970-01-01T00:00:00.1234567", &minutes)]
                .into_iter()
                .chain([("1970-01-01 00:01", &AttributeKind::Date)])
        {
            assert_eq!(word(text, kind), None, "{text}");
        }
    }
}
