//! Options that are one of few values, under the names that the command line and Python give them.

/// One of few values that have names.
pub trait Choice: Copy + PartialEq + 'static {
    /// All of them, each with its name and what it means.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The value's name.
    fn name(self) -> &'static str {
        match Self::ALL.iter().find(|(value, ..)| *value == self) {
            Some((_, name, _)) => name,
            None => unreachable!("`ALL` has all values"),
        }
    }

    /// The value of a name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other, _)| *other == name).map(|(value, ..)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{GeneratedWeights, Shape};
    use crate::import::{Duplicates, IdKind, OrderChoice, SelfLoops};

    fn check<T: Choice + std::fmt::Debug>() {
        for &(value, name, _) in T::ALL {
            assert_eq!((value.name(), T::named(name)), (name, Some(value)));
            // And none is called like another.
            assert_eq!(format!("{value:?}").to_lowercase(), name);
        }
        assert_eq!(T::named("nothing"), None);
    }

    #[test]
    fn values_are_found_by_their_names() {
        check::<Duplicates>();
        check::<IdKind>();
        check::<OrderChoice>();
        check::<SelfLoops>();
        check::<GeneratedWeights>();
        check::<Shape>();
    }
}
