//! Names of attributes, as an image has them.

use outcore_ingest::Facts;

/// Gives attributes of edges in a file the names that they had before an export wrote it: there `edge.` stands before
/// the name of an end, of the weights, or `Type`.
pub(super) fn restore_names(facts: &mut Facts) {
    // An image has its attributes under their own names.
    if facts.format == "image" {
        return;
    }
    let all: Vec<String> = facts.attributes.iter().map(|field| field.name.clone()).collect();
    let others = facts.ends.iter().flatten().chain(&facts.weights).map(String::as_str);
    let others: Vec<&str> = others.chain(["weight", "type"]).collect();
    for field in &mut facts.attributes {
        let own = field.name.strip_prefix("edge.").filter(|own| all.iter().all(|other| other != own));
        if let Some(own) = own.filter(|own| others.iter().any(|other| own.eq_ignore_ascii_case(other))) {
            field.name = own.to_owned();
        }
    }
}
