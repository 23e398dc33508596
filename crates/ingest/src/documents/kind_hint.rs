//! The kinds of attributes for which XML formats of graphs have no name: dates and times.
//!
//! An export declares them as strings, and adds [`KIND_HINT`] to the declaration: `date`, `timestamp:us`, or with a
//! time zone `timestamp:ms:Europe/Vienna`. Other programs pass over the attribute that they do not know.

use outcore_format::{AttributeKind, TimeUnit};

/// Name of the XML attribute of a declaration that says what the strings are.
pub const KIND_HINT: &str = "outcore.type";
const DATE: &str = "date";
const TIMESTAMP: &str = "timestamp";
const UNITS: [(TimeUnit, &str); 4] = [
    (TimeUnit::Second, "s"),
    (TimeUnit::Millisecond, "ms"),
    (TimeUnit::Microsecond, "us"),
    (TimeUnit::Nanosecond, "ns"),
];

/// The hint of a kind that is declared as strings; nothing for strings themselves, and for kinds with a name.
pub fn kind_hint(kind: &AttributeKind) -> Option<String> {
    match kind {
        AttributeKind::Date => Some(DATE.to_owned()),
        AttributeKind::Timestamp { unit, zone } => {
            let unit = UNITS.iter().find(|(own, _)| own == unit).map_or("us", |(_, name)| *name);
            let zone = zone.as_ref().map_or(String::new(), |zone| format!(":{zone}"));
            Some(format!("{TIMESTAMP}:{unit}{zone}"))
        }
        _ => None,
    }
}

/// The kind that a hint stands for.
pub(crate) fn hinted_kind(hint: &str) -> Option<AttributeKind> {
    if hint == DATE {
        return Some(AttributeKind::Date);
    }
    let rest = hint.strip_prefix(TIMESTAMP)?.strip_prefix(':')?;
    let (unit, zone) = rest.split_once(':').map_or((rest, None), |(unit, zone)| (unit, Some(zone.to_owned())));
    let unit = UNITS.iter().find(|(_, name)| *name == unit)?.0;
    Some(AttributeKind::Timestamp { unit, zone })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_back_as_their_kinds() {
        let times = |unit, zone: Option<&str>| AttributeKind::Timestamp { unit, zone: zone.map(str::to_owned) };
        let kinds = [
            AttributeKind::Date,
            times(TimeUnit::Second, None),
            times(TimeUnit::Nanosecond, Some("UTC")),
            times(TimeUnit::Millisecond, Some("Europe/Vienna")),
            times(TimeUnit::Microsecond, Some("+01:00")),
        ];
        for kind in kinds {
            assert_eq!(hinted_kind(&kind_hint(&kind).unwrap()), Some(kind));
        }
        assert_eq!(kind_hint(&AttributeKind::String), None);
        for hint in ["", "timestamp", "timestamp:", "timestamp:h", "dates"] {
            assert_eq!(hinted_kind(hint), None, "{hint}");
        }
    }
}
