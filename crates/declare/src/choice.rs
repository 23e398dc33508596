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
