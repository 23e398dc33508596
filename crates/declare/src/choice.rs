//! Options that are one of few values, under the names that the command line and Python give them.

use outcore_image::{Error, Result};
use std::str::FromStr;

/// One of few values that have names, from which [`from_names`](crate::from_names) makes them by [`str::parse`].
pub trait Choice: Copy + PartialEq + FromStr<Err = Error> + 'static {
    /// All of them, each with its name and what it means.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The value's name.
    fn name(self) -> &'static str {
        match Self::ALL.iter().find(|(value, ..)| *value == self) {
            Some((_, name, _)) => name,
            None => unreachable!("`ALL` has all values"),
        }
    }

    /// The value of a name, as [`str::parse`] finds it.
    ///
    /// # Errors
    /// Another name; the message has all names.
    fn parsed(name: &str) -> Result<Self> {
        let wrong = || Error::Usage(format!("expected {}, found '{name}'", one_of(Self::ALL.iter().map(|all| all.1))));
        Self::named(name).ok_or_else(wrong)
    }

    /// The value of a name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other, _)| *other == name).map(|(value, ..)| *value)
    }
}

/// Implements [`FromStr`](std::str::FromStr) for types that are a [`Choice`]: `"gap".parse::<Dangling>()`.
#[macro_export]
macro_rules! from_names {
    ($($choice:ty),+) => {$(
        impl ::std::str::FromStr for $choice {
            type Err = $crate::Error;

            /// The value of a name that `Choice::ALL` lists.
            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::Choice::parsed(name)
            }
        }
    )+};
}

/// The names as an error lists them.
pub(crate) fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    format!("one of {}", names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "))
}
