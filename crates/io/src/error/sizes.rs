//! Numbers of bytes as people read and write them.

/// A number of bytes in text: `512 MiB`, `1.5 GiB`, `17 bytes`.
pub fn bytes_text(bytes: u64) -> String {
    rounded_text(bytes, 1, f64::round)
}

/// Two numbers of bytes that a sentence compares, as [`bytes_text`] writes them, with as many digits as it takes for
/// the texts to differ where the numbers do: `9.02 MiB` and `9 MiB`.
pub fn differing_texts(one: u64, other: u64) -> [String; 2] {
    differing(one, other, f64::round)
}

/// The most digits behind the point of two numbers that differ: beyond them both are written as whole bytes.
const MOST_DIGITS: i32 = 3;

/// [`differing_texts`] of which the second is rounded by `round`.
pub(super) fn differing(one: u64, other: u64, round: fn(f64) -> f64) -> [String; 2] {
    let texts = |digits| [rounded_text(one, digits, f64::round), rounded_text(other, digits, round)];
    let mut all = (1..=MOST_DIGITS).map(texts);
    all.find(|[first, second]| one == other || first != second)
        .unwrap_or_else(|| [one, other].map(|bytes| format!("{bytes} bytes")))
}

/// A limit in a unit that people read, rounded up: it is enough if `bytes` are.
pub fn limit_text(bytes: u64) -> String {
    rounded_text(bytes, 1, f64::ceil)
}

/// A number of bytes with so many digits behind the point below 100, and one less above.
fn rounded_text(bytes: u64, digits: i32, round: impl Fn(f64) -> f64) -> String {
    let units = [if bytes == 1 { "byte" } else { "bytes" }, "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let scale = 10f64.powi(if value < 100.0 { digits } else { digits - 1 });
    format!("{} {}", round(value * scale) / scale, units[unit])
}

/// Parses a number of bytes: `512`, `512MiB`, `512 MiB`, `1g` (binary, as in `1GiB`), `1GB` (decimal), `1.5GiB`.
///
/// Case does not matter. A unit of one letter is binary, as is one that ends in `iB`; one that ends in plain `B` is
/// decimal.
///
/// # Errors
/// Text that is not such a number, a negative one, or one that does not fit 64 bits; the message says which forms are
/// right.
pub fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let wrong = || {
        format!(
            "expected a number of bytes such as 536870912, 512MiB, 1.5GiB (1024-based) or 1GB (1000-based), found `{text}`"
        )
    };
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..digits], trimmed[digits..].trim_start().to_ascii_lowercase());
    let (prefix, base) = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => ("", 1),
        unit => match (unit.strip_suffix("ib"), unit.strip_suffix('b')) {
            (Some(prefix), _) => (prefix, 1024),
            (None, Some(prefix)) => (prefix, 1000),
            (None, None) => (unit, 1024),
        },
    };
    let power = match ["k", "m", "g", "t", "p"].iter().position(|&unit| unit == prefix) {
        Some(place) => place as u32 + 1,
        None if prefix.is_empty() && base == 1 => 0,
        None => return Err(wrong()),
    };
    let scale = u64::pow(base, power);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && (fraction.is_empty() || base == 1)) {
        return Err(wrong());
    }
    let bytes = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(scale));
    // A fraction of a unit is at most 2^50 bytes, which f64 holds exactly.
    let rest = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse::<f64>().map_err(|_| wrong())? };
    bytes.and_then(|bytes| bytes.checked_add((rest * scale as f64) as u64)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let right = [
            ("512", 512),
            ("0", 0),
            ("17 bytes", 17),
            ("512MiB", 512 << 20),
            (" 512 MiB ", 512 << 20),
            ("1g", 1 << 30),
            ("1G", 1 << 30),
            ("64k", 64 << 10),
            ("1GB", 1_000_000_000),
            ("1 kB", 1000),
            ("1.5GiB", 3 << 29),
            ("0.5t", 1 << 39),
            ("2pib", 1 << 51),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in right {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_and_quoted() {
        let wrong = [
            "",
            " ",
            "MiB",
            "-1",
            "+1",
            "1.5",
            "1.5 bytes",
            ".5g",
            "1.g",
            "1.2.3g",
            "1e9",
            "1x",
            "1ibib",
            "1bb",
            "1 ib",
            "1Mi",
            "0x10",
            "1 g g",
            "18446744073709551616",
            "99999999p",
            "١",
            "1,5g",
            "1ĸ",
        ];
        for text in wrong {
            let error = parse_bytes(text).expect_err(text);
            assert!(error.contains(&format!("`{text}`")) && error.contains("512MiB"), "{error}");
        }
    }

    #[test]
    fn what_is_shown_can_be_given_back() {
        for bytes in [0, 17, 1 << 10, 512 << 20, 3 << 29, 1 << 50] {
            assert_eq!(parse_bytes(&bytes_text(bytes)), Ok(bytes));
        }
        assert_eq!([1023, 1126, 48_000_000].map(bytes_text), ["1023 bytes", "1.1 KiB", "45.8 MiB"]);
    }

    #[test]
    fn sizes_that_a_refusal_compares_differ_and_the_advised_limit_is_enough() {
        let sizes = (1 << 20..1 << 40).step_by(7_777_777_777).chain([1 << 23, 9 << 20, 9 << 30, 9 << 40]);
        let more = [1, 2, 1000, 5000, 60_000, 1 << 20];
        for (bytes, more) in sizes.flat_map(|bytes| more.map(|more| (bytes, more))) {
            let error = Error::Memory {
                purpose: "x".into(),
                needed_bytes: bytes + more,
                available_bytes: bytes,
                limit_bytes: bytes,
                advised_bytes: bytes + more,
                holders: Vec::new(),
            };
            let text = error.to_string();
            let (advised, rest) = (text.rsplit("at least ").next().unwrap(), text.strip_prefix("x needs ").unwrap());
            assert!(parse_bytes(advised).unwrap() >= bytes + more, "{text}");
            let (needed, rest) = rest.split_once(", but only ").unwrap();
            let (available, rest) = rest.split_once(" of the memory limit of ").unwrap();
            let limit = rest.split_once(" are left").unwrap().0;
            assert!(needed != available && limit != advised, "{text}");
        }
        assert_eq!(differing_texts(1, 0), ["1 byte", "0 bytes"]);
        assert_eq!(differing_texts((9 << 20) + 20_000, 9 << 20), ["9.02 MiB", "9 MiB"]);
        assert_eq!(differing_texts((9 << 30) + 1, 9 << 30), ["9663676417 bytes", "9663676416 bytes"]);
        assert_eq!(differing_texts(9 << 20, 9 << 20), ["9 MiB", "9 MiB"]);
    }
}
