//! One name of the facade stands for one type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names that a file re-exports, each with its path as it is written.
fn exports(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in text.split("pub use ").skip(1) {
        let tree = statement.split(';').next().unwrap_or_default();
        let (path, names) = tree.split_once('{').unwrap_or_else(|| tree.rsplit_once("::").unwrap_or(("", tree)));
        for name in names.split([',', '{', '}']).map(str::trim).filter(|name| !name.is_empty()) {
            found.push((path.trim_end_matches(':').to_owned(), name.rsplit("::").next().unwrap_or(name).to_owned()));
        }
    }
    found
}

fn crate_text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name);
    let text = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    // Items for tests are no part of it.
    let mut parts = text.split("#[doc(hidden)]");
    let first = parts.next().unwrap().to_owned();
    first + &parts.map(|part| part.split_once("\n}\n").map_or("", |(_, rest)| rest)).collect::<String>()
}

/// The crate in which a name of a crate is defined.
fn home(of: &str, name: &str) -> String {
    let through = exports(&crate_text(of)).into_iter().find(|(_, own)| own == name);
    match through.as_ref().and_then(|(path, _)| path.strip_prefix("outcore_")) {
        Some(other) => home(other.split("::").next().unwrap(), name),
        None => of.to_owned(),
    }
}

fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

#[test]
fn one_name_is_one_type() {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, name) in exports(&crate_text("outcore")) {
        let Some(from) = path.strip_prefix("outcore_").map(|path| path.split("::").next().unwrap()) else {
            // A crate as a module: `pub use outcore_array as array`.
            if let Some(whole) = name.strip_prefix("outcore_").and_then(|rest| rest.split(' ').next()) {
                for (_, own) in exports(&crate_text(whole)).into_iter().filter(|(_, own)| is_type(own)) {
                    homes.entry(own.clone()).or_default().insert(home(whole, &own));
                }
            }
            continue;
        };
        let (own, public) = name.split_once(" as ").unwrap_or((&name, &name));
        if is_type(public) {
            homes.entry(public.to_owned()).or_default().insert(home(from, own));
        }
    }
    assert!(homes.len() > 150 && homes.contains_key("Graph") && homes.contains_key("InMemory"), "{homes:?}");
    let twice: Vec<_> = homes.iter().filter(|(_, homes)| homes.len() > 1).map(|(name, _)| name.as_str()).collect();
    // Arrays of values under the limit (`io`) and lazy arrays (`array`); attributes of results and of images.
    assert_eq!(twice, ["Array", "Attribute", "AttributeKind"]);
}
