//! The public surface of the facade: one name is one type, every type can be named, and the next release can add to it.

use crate::surface::{Place, Public, Sources};
use std::collections::BTreeMap;
use std::path::Path;
use syn::{Expr, ExprLit, Item, Lit, Meta, MetaNameValue};

/// Traits that users implement, and those that the crates of the workspace implement for each other.
const OPEN_TRAITS: &[&str] = &[
    // Devices, progress, and values in large memory.
    "Backend Queue Progress Shared",
    // Every type that can be.
    "Plain Raw",
    // Formats, algorithms, arrays and tables of one's own.
    "ReadBlocks Parser EdgeMap ListFold VertexProgram",
    "ArraySource Bytes DenseRows ElementFold ElementFunction Landed Loop RowFold SourceReader",
    // Options and operations, declared in several crates.
    "Choice Declared SolverPlan",
];

/// Enums that are complete, so that users match all of their variants: directions of edges and of matrices; ids are
/// integers or strings, alone and in batches.
const COMPLETE_ENUMS: &[&str] = &["Direction Operand", "Id IdBatch Ids"];

/// Values that users write out, or match as a whole in a source, a back end or a loop of their own.
const WRITTEN_BY_USERS: &[&str] = &[
    "AttributeColumn AttributeField AttributeValues BatchWeights Block BlockData Condition EdgeData Edges Facts Input",
    "Literal Part Rows",
    "Argument DenseHeader DenseLayout ImageGoal Laplacian Moments NumbersShape Purpose Random RowBlock RowLabels RowMajor",
    "SpectralOptions StoredProduct Stream",
];

/// Values of front ends, as those in their module.
const OF_FRONT_ENDS: &[&str] = &[
    "Needs SolverFinding SolverInput StoredVectors Traffic",
    "Phase StatisticFinding StatisticPlan StatisticTable",
    "OptionText Planned Report SomeRows Summary",
];

fn is_among(public: &Public<'_>, names: &[&str]) -> bool {
    let own = public.path.rsplit("::").next();
    names.iter().flat_map(|names| names.split(' ')).any(|name| Some(name) == own)
}

fn check(expected: &str, wrong: impl Fn(&Place, &Public<'_>) -> bool) {
    let sources = Sources::read();
    let public = sources.public();
    let wrong = public.iter().filter(|(place, public)| wrong(place, public));
    let wrong: Vec<_> = wrong.map(|(place, public)| format!("{} ({})", public.path, place.join("::"))).collect();
    assert!(wrong.is_empty(), "{expected}, found {} others:\n{}", wrong.len(), wrong.join("\n"));
}

/// Readers of the documentation know the facade alone: examples and texts name no other crate. Lines of examples that
/// are hidden may, and links.
#[test]
fn documentation_names_the_facade() {
    fn look(folder: &Path, wrong: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, wrong);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let is_crate = path.ends_with("src/lib.rs");
                for line in std::fs::read_to_string(&path).unwrap().lines().map(str::trim) {
                    let text = line.strip_prefix("///").or(line.strip_prefix("//!").filter(|_| is_crate));
                    let text = text.unwrap_or_default().replace("](outcore_", "](");
                    if text.contains("outcore_") && !text.starts_with(" # ") {
                        wrong.push(format!("{}: {line}", path.display()));
                    }
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for folder in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
        look(&folder.unwrap().path().join("src"), &mut wrong);
    }
    assert!(wrong.is_empty(), "expected names under `outcore::`, found\n{}", wrong.join("\n"));
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
    for name in ["Graph", "PageRank", "InMemory", "Unary", "Change", "Duplicates"] {
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
        for named in sources.types_named_by(place, item).into_iter().filter(|named| !public.contains_key(named)) {
            hidden.entry(named).or_default().push(&item.path);
        }
    }
    assert!(hidden.is_empty(), "{} types: {hidden:#?}", hidden.len());
}

#[test]
fn the_next_release_can_add_fields_and_variants() {
    // Front ends match all, so that the compiler names what they lack, and so do back ends; the format is what it is.
    let is_matched =
        |path: &str| ["front_ends", "io::backend"].iter().any(|of| path.starts_with(&format!("outcore::{of}::")));
    check("expected `#[non_exhaustive]`", |place, public| {
        public.is_exhaustive()
            && place[0] != "format"
            && !is_matched(&public.path)
            && ![COMPLETE_ENUMS, WRITTEN_BY_USERS, OF_FRONT_ENDS].iter().any(|names| is_among(public, names))
    });
}

#[test]
fn options_of_algorithms_say_their_defaults() {
    let sources = Sources::read();
    let mut silent = Vec::new();
    for (place, public) in sources.public() {
        let Some(Item::Struct(options)) = public.item else { continue };
        if place[0] != "algo" || !options.ident.to_string().ends_with("Options") {
            continue;
        }
        for field in &options.fields {
            let lines = field.attrs.iter().filter_map(|attribute| match &attribute.meta {
                Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(line), .. }), .. }) => {
                    Some(line.value().to_lowercase())
                }
                _ => None,
            });
            if !lines.into_iter().any(|line| line.contains("default")) {
                silent.push(format!("{}: {}", public.path, field.ident.as_ref().unwrap()));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn all_types_have_debug() {
    let is_type = |public: &Public<'_>| matches!(public.item, Some(Item::Struct(_) | Item::Enum(_)));
    check("expected `Debug`", |_, public| is_type(public) && !public.implements("Debug"));
}

#[test]
fn guards_must_be_used() {
    check("expected `#[must_use]`", |_, public| {
        public.implements("Drop") && !public.is_marked("must_use") && !is_among(public, &["DataFile MemoryFile"])
    });
}

#[test]
fn traits_are_sealed_or_for_users() {
    check("expected a supertrait `Sealed`, or one that has it", |_, public| {
        let is_sealed = public.supertraits().iter().any(|name| ["Sealed", "Cell", "Element"].contains(&&**name));
        matches!(public.item, Some(Item::Trait(_))) && !is_among(public, OPEN_TRAITS) && !is_sealed
    });
}
