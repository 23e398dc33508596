//! Degree classes: the order of magnitude of a degree, as far as it matters for numbering vertices and choosing hubs.
//!
//! Degrees below 16 are classes of their own; from there on every octave has four (16-19, 20-23, 24-27, 28-31, 32-39,
//! ...).

/// Degrees below this are classes of their own.
const EXACT: u64 = 16;

/// The class of a total degree, in and out together; a greater degree never has a smaller class.
pub(crate) fn degree_class(degree: u64) -> u8 {
    if degree < EXACT {
        return degree as u8;
    }
    let octave = degree.ilog2();
    let quarter = (degree >> (octave - 2)) & 3;
    (EXACT + u64::from(octave - EXACT.ilog2()) * 4 + quarter) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_exact_first_and_then_quarters_of_octaves() {
        assert!((0..16).all(|degree| u64::from(degree_class(degree)) == degree));
        for (degree, class) in [(16, 16), (19, 16), (20, 17), (31, 19), (32, 20), (39, 20), (40, 21), (u64::MAX, 255)] {
            assert_eq!(degree_class(degree), class, "degree {degree}");
        }
        assert!((0..100_000).all(|degree| degree_class(degree) <= degree_class(degree + 1)));
    }
}
