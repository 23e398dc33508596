//! Indices, labels of groups and exponents: a value that is out of range ends the computation with an error. The
//! value that it names does not depend on the number of workers (`pass.rs`).

use crate::kernel::{self, Values, ValuesMut};
use outcore_image::{Error, Result};

/// Purpose of integers, and therefore their valid range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// Indices of an axis, of which those below 0 are counted from its end: they become indices from 0 on, in int64.
    Index { size: u64, axis: usize },
    /// Numbers of groups, in int64.
    Label { groups: u64 },
    /// Exponents of whole numbers.
    Exponent,
}

impl Check {
    /// The name in plans.
    pub fn name(self) -> &'static str {
        match self {
            Check::Index { .. } => "indices",
            Check::Label { .. } => "labels",
            Check::Exponent => "exponents",
        }
    }

    /// Checks the values of adjacent rows.
    pub fn vector(self, from: Values<'_>, mut to: ValuesMut<'_>, first_row: u64) -> Result<()> {
        kernel::cast(from, to.reborrow());
        let (least, most) = match self {
            Check::Index { size, .. } if from.element().is_signed() => (-(size as i64), size as i64),
            Check::Index { size, .. } => (0, size as i64),
            Check::Label { groups } => (0, groups as i64),
            Check::Exponent => {
                let negative = (0..from.len()).find(|&i| from.get(i).to_f64() < 0.0);
                return negative.map_or(Ok(()), |i| Err(self.error(from, i, first_row)));
            }
        };
        let ValuesMut::Int64(to) = to else { unreachable!("checked values are int64") };
        // A uint64 that int64 does not hold is below 0 here.
        let is_wrong = |value: i64| (value < least) | (value >= most);
        if to.iter().fold(false, |wrong, &value| wrong | is_wrong(value)) {
            let wrong = to.iter().position(|&value| is_wrong(value)).expect("one is wrong");
            return Err(self.error(from, wrong, first_row));
        }
        if least < 0 {
            to.iter_mut().for_each(|value| *value += most & (*value >> 63));
        }
        Ok(())
    }

    fn error(self, values: Values<'_>, place: usize, first_row: u64) -> Error {
        let value = values.get(place);
        match self {
            Check::Index { size, axis } => {
                Error::Index(format!("expected an index below {size} of axis {axis}, found {value}"))
            }
            Check::Label { groups } => Error::Usage(format!(
                "expected labels from 0 on, below the number of groups, which is {groups}, found {value} in row {}",
                first_row + place as u64
            )),
            Check::Exponent => negative_exponent(&value.to_string()),
        }
    }
}

/// The error for whole numbers to a negative power.
pub(crate) fn negative_exponent(exponent: &str) -> Error {
    Error::Usage(format!(
        "expected an exponent from 0 on, found {exponent}: integers to negative integer powers are not allowed; \
         convert them to float64"
    ))
}
