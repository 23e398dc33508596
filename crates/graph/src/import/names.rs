//! Names of attributes, as an image has them.

use outcore_ingest::{Attributes, Facts};

/// Gives attributes of edges in a file the names that they had before an export wrote it, in the facts and among those
/// that are asked for: there `edge.` stands before the name of an end, of the weights, or `Type`.
pub(super) fn restore_names(facts: &mut Facts, asked: &mut Attributes) {
    if std::mem::replace(&mut facts.has_own_names, true) {
        return;
    }
    let all: Vec<String> = facts.attributes.iter().map(|field| field.name.clone()).collect();
    let others = facts.ends.iter().flatten().chain(&facts.weights).map(String::as_str);
    let others: Vec<&str> = others.chain(["weight", "type"]).collect();
    for field in &mut facts.attributes {
        let own = field.name.strip_prefix("edge.").filter(|own| all.iter().all(|other| other != own));
        if let Some(own) = own.filter(|own| others.iter().any(|other| own.eq_ignore_ascii_case(other))) {
            let own = own.to_owned();
            if let Attributes::Named(names) = asked {
                names.iter_mut().filter(|name| **name == field.name).for_each(|name| name.clone_from(&own));
            }
            field.name = own;
        }
    }
}

/// Replaces numbers among the attributes that are asked for by the names that these columns have in the first file,
/// whose facts these are.
pub(super) fn name_numbers(asked: &mut Attributes, facts: &Facts) {
    let Attributes::Named(names) = asked else { return };
    let has_name = |name: &String| facts.attributes.iter().any(|field| field.name == *name);
    let by_number: Vec<_> = facts.attributes.iter().filter(|field| !names.contains(&field.name)).collect();
    let numbers = names.iter_mut().filter(|name| name.parse::<usize>().is_ok() && !has_name(name));
    numbers.zip(by_number).for_each(|(name, field)| name.clone_from(&field.name));
}
