//! Times, such as those of files, as text.

/// A time in seconds since 1970 began, as ISO 8601 has it, in UTC.
pub fn calendar_text(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970, days);
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days_of = |year| if is_leap(year) { 366 } else { 365 };
    while day >= days_of(year) {
        day -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hours, minutes, seconds, day) = (second / 3600, second / 60 % 60, second % 60, day + 1);
    format!("{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

#[cfg(test)]
mod tests {
    use super::calendar_text;

    #[test]
    fn times_are_dates_of_the_calendar() {
        let texts = [0, 951_782_400, 951_868_799, 1_709_164_799, 4_107_542_400].map(calendar_text);
        let days = ["1970-01-01T00:00:00Z", "2000-02-29T00:00:00Z", "2000-02-29T23:59:59Z"];
        assert_eq!(texts[..3], days);
        assert_eq!(texts[3..], ["2024-02-28T23:59:59Z", "2100-03-01T00:00:00Z"]);
    }
}
