//! The public surface of the facade: one name is one type, every type can be named, and the next release can add to it.

use crate::surface::{Place, Public, Sources};
use std::collections::BTreeMap;
use syn::Item;

fn check(expected: &str, wrong: impl Fn(&Place, &Public<'_>) -> bool) {
    let sources = Sources::read();
    let public = sources.public();
    let wrong = public.iter().filter(|(place, public)| wrong(place, public));
    let wrong: Vec<_> = wrong.map(|(place, public)| format!("{} ({})", public.path, place.join("::"))).collect();
    assert!(wrong.is_empty(), "{expected}, found {} others:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn one_name_is_one_type() {
    let sources = Sources::read();
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (place, public) in sources.public() {
        if let Some(name) = public.type_name() {
            homes.entry(name).or_default().push(format!("{} ({})", public.path, place.join("::")));
        }
    }
    assert!(homes.len() > 250, "{}", homes.len());
    for name in ["Graph", "PageRank", "InMemory", "Unary", "Faults", "Duplicates"] {
        assert!(homes.contains_key(name), "{name} is public, through a glob, a module or by itself");
    }
    let twice: Vec<_> = homes.iter().filter(|(_, homes)| homes.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn types_of_signatures_can_be_named() {
    let sources = Sources::read();
    let public = sources.public();
    let mut hidden: BTreeMap<Place, Vec<&str>> = BTreeMap::new();
    for (place, item) in &public {
        for named in sources.named_by(place, item).into_iter().filter(|named| !public.contains_key(named)) {
            hidden.entry(named).or_default().push(&item.path);
        }
    }
    assert!(hidden.is_empty(), "{} types: {hidden:#?}", hidden.len());
}

#[test]
fn the_next_release_can_add_fields_and_variants() {
    check("expected `#[non_exhaustive]` or `Default`", |_, public| public.is_exhaustive());
}

#[test]
fn all_types_have_debug() {
    let is_type = |public: &Public<'_>| matches!(public.item, Item::Struct(_) | Item::Enum(_));
    check("expected `Debug`", |_, public| is_type(public) && !public.implements("Debug"));
}

#[test]
fn guards_must_be_used() {
    check("expected `#[must_use]`", |_, public| public.implements("Drop") && !public.is_marked("must_use"));
}

#[test]
fn traits_are_sealed_or_for_users() {
    check("expected a supertrait `Sealed`", |_, public| matches!(public.item, Item::Trait(_)) && !public.is_sealed());
}
