//! The public surface of the facade, read from the sources of all crates: every item that a path from `outcore` reaches
//! through modules, `pub use` and globs, and the types that its signatures name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Visibility};

/// The place of a module or item: its crate, modules and name, as in `["graph", "engine", "graph", "Graph"]`.
pub type Place = Vec<String>;

struct Import {
    path: Vec<String>,
    /// The name in this module, `*` for all of them.
    name: String,
    is_public: bool,
}

#[derive(Default)]
struct Module {
    items: Vec<Item>,
    imports: Vec<Import>,
}

/// The modules of all crates.
pub struct Sources(BTreeMap<Place, Module>);

/// A public item.
pub struct Public<'s> {
    /// The path by which a user may name it.
    pub path: String,
    /// Its definition; `None` if a macro makes it.
    pub item: Option<&'s Item>,
    /// The blocks that implement it or its traits, each with the place of its module.
    pub implementations: Vec<(&'s ItemImpl, &'s Place)>,
}

fn has(attributes: &[Attribute], name: &str, word: &str) -> bool {
    let is_it = |attribute: &Attribute| match &attribute.meta {
        _ if !attribute.path().is_ident(name) => false,
        syn::Meta::List(list) => {
            word.is_empty() || list.tokens.to_string().split(&[' ', ',', '(', ')']).any(|w| w == word)
        }
        _ => word.is_empty(),
    };
    attributes.iter().any(is_it)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The name of an item, and whether it is public in its module.
fn named(item: &Item) -> Option<(String, bool)> {
    let (name, visibility) = match item {
        Item::Const(item) => (&item.ident, &item.vis),
        Item::Enum(item) => (&item.ident, &item.vis),
        Item::Fn(item) => (&item.sig.ident, &item.vis),
        Item::Mod(item) => (&item.ident, &item.vis),
        Item::Static(item) => (&item.ident, &item.vis),
        Item::Struct(item) => (&item.ident, &item.vis),
        Item::Trait(item) => (&item.ident, &item.vis),
        Item::Type(item) => (&item.ident, &item.vis),
        _ => return None,
    };
    Some((name.to_string(), matches!(visibility, Visibility::Public(_))))
}

/// Whether an item is for tests or hidden from users.
fn is_hidden(item: &Item) -> bool {
    let attributes = attributes(item);
    has(attributes, "doc", "hidden") || ["test", "doctest"].iter().any(|word| has(attributes, "cfg", word))
}

/// Whether an item is a call of a macro that has this name among its words.
fn makes(item: &Item, name: &str) -> bool {
    let Item::Macro(call) = item else { return false };
    let text = call.mac.tokens.to_string();
    call.ident.is_none() && text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

fn joined(place: &[String], name: &str) -> Place {
    [place, &[name.to_owned()]].concat()
}

impl Sources {
    /// Reads `crates/NAME/src` of all crates.
    pub fn read() -> Self {
        let mut sources = Sources(BTreeMap::new());
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for entry in fs::read_dir(crates).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            if folder.join("src/lib.rs").exists() {
                sources.read_file(&folder.join("src/lib.rs"), &folder.join("src"), vec![name]);
            }
        }
        sources
    }

    fn read_file(&mut self, file: &Path, folder: &Path, place: Place) {
        let text = fs::read_to_string(file).unwrap();
        self.add(syn::parse_file(&text).unwrap().items, folder, place);
    }

    fn add(&mut self, items: Vec<Item>, folder: &Path, place: Place) {
        let mut module = Module::default();
        for mut item in items.into_iter().filter(|item| !is_hidden(item)) {
            if let Item::Use(item) = &item {
                let is_public = matches!(item.vis, Visibility::Public(_));
                add_imports(&item.tree, &[], is_public, &mut module.imports);
            }
            if let Item::Mod(child) = &mut item {
                let name = child.ident.to_string();
                let (within, place) = (folder.join(&name), joined(&place, &name));
                match child.content.take() {
                    Some((_, items)) => self.add(items, &within, place),
                    None if within.with_extension("rs").exists() => {
                        self.read_file(&within.with_extension("rs"), &within, place);
                    }
                    None => self.read_file(&within.join("mod.rs"), &within, place),
                }
            }
            module.items.push(item);
        }
        self.0.insert(place, module);
    }

    /// The modules and items that a path means in a module; none for those of other workspaces.
    fn resolve(&self, place: &[String], path: &[String], depth: usize) -> BTreeSet<Place> {
        let first = path[0].as_str();
        let mut found = match first {
            "crate" => BTreeSet::from([place[..1].to_vec()]),
            "self" => BTreeSet::from([place.to_vec()]),
            "super" => BTreeSet::from([place[..place.len() - 1].to_vec()]),
            _ => match first.strip_prefix("outcore_") {
                Some(name) => BTreeSet::from([vec![name.to_owned()]]),
                None => self.within(place, first, depth),
            },
        };
        for name in &path[1..] {
            found = match name.as_str() {
                "super" => found.into_iter().map(|place| place[..place.len() - 1].to_vec()).collect(),
                _ => found.iter().flat_map(|place| self.within(place, name, depth)).collect(),
            };
        }
        found
    }

    /// The modules and items that a name means in a module.
    fn within(&self, place: &[String], name: &str, depth: usize) -> BTreeSet<Place> {
        let Some(module) = self.0.get(place).filter(|_| depth < 12) else { return BTreeSet::new() };
        let mut found: BTreeSet<_> = module.items.iter().filter_map(named).map(|(own, _)| own).collect();
        found.retain(|own| own == name);
        let mut found: BTreeSet<_> = found.iter().map(|own| joined(place, own)).collect();
        for import in module.imports.iter().filter(|import| import.name == name && import.path != [name]) {
            found.extend(self.resolve(place, &import.path, depth + 1));
        }
        if found.is_empty() {
            for import in module.imports.iter().filter(|import| import.name == "*") {
                let modules = self.resolve(place, &import.path, depth + 1);
                found.extend(modules.iter().flat_map(|module| self.within(module, name, depth + 1)));
            }
        }
        if found.is_empty() && module.items.iter().any(|item| makes(item, name)) {
            found.insert(joined(place, name));
        }
        found
    }

    fn item(&self, place: &[String]) -> Option<&Item> {
        let (name, module) = place.split_last()?;
        let is_it = |item: &&Item| !matches!(item, Item::Mod(_)) && named(item).is_some_and(|(own, _)| own == *name);
        self.0.get(module)?.items.iter().find(is_it)
    }

    /// All that is public in a module of the facade, under its path.
    fn walk(&self, place: &[String], path: &str, visited: &mut BTreeSet<Place>, found: &mut Vec<(String, Place)>) {
        if !visited.insert(place.to_vec()) {
            return;
        }
        let module = &self.0[place];
        let mut targets = Vec::new();
        for (name, _) in module.items.iter().filter_map(named).filter(|(_, is_public)| *is_public) {
            targets.push((joined(place, &name), name));
        }
        for import in module.imports.iter().filter(|import| import.is_public) {
            for target in self.resolve(place, &import.path, 0) {
                targets.push((target, import.name.clone()));
            }
        }
        for (target, name) in targets {
            let own = if name == "*" { path.to_owned() } else { format!("{path}::{name}") };
            match self.0.contains_key(&target) {
                true => self.walk(&target, &own, visited, found),
                false => found.push((own, target)),
            }
        }
    }

    /// The public items of the facade by their definitions.
    pub fn public(&self) -> BTreeMap<Place, Public<'_>> {
        let mut paths = Vec::new();
        self.walk(&["outcore".to_owned()], "outcore", &mut BTreeSet::new(), &mut paths);
        let mut public = BTreeMap::new();
        for (path, place) in paths {
            let item = self.item(&place);
            public.entry(place).or_insert(Public { path, item, implementations: Vec::new() });
        }
        for (place, module) in &self.0 {
            for item in &module.items {
                let Item::Impl(block) = item else { continue };
                let Type::Path(own) = &*block.self_ty else { continue };
                for target in self.resolve(place, &segments(&own.path), 0) {
                    if let Some(public) = public.get_mut(&target) {
                        public.implementations.push((block, place));
                    }
                }
            }
        }
        public
    }

    /// The types and traits that the public signatures of an item name.
    pub fn types_named_by(&self, place: &Place, public: &Public<'_>) -> BTreeSet<Place> {
        let mut names = Signatures { sources: self, module: &place[..place.len() - 1], found: BTreeSet::new() };
        public.item.into_iter().for_each(|item| names.item(item));
        for (block, module) in &public.implementations {
            names.module = module;
            names.implementation(block);
        }
        names.found
    }
}

fn add_imports(tree: &UseTree, path: &[String], is_public: bool, imports: &mut Vec<Import>) {
    let mut add = |path: Vec<String>, name: String| imports.push(Import { path, name, is_public });
    match tree {
        UseTree::Path(tree) => add_imports(&tree.tree, &joined(path, &tree.ident.to_string()), is_public, imports),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_imports(tree, path, is_public, imports)),
        UseTree::Glob(_) => add(path.to_vec(), "*".to_owned()),
        UseTree::Name(tree) if tree.ident == "self" => add(path.to_vec(), path[path.len() - 1].clone()),
        UseTree::Name(tree) => add(joined(path, &tree.ident.to_string()), tree.ident.to_string()),
        UseTree::Rename(tree) => add(joined(path, &tree.ident.to_string()), tree.rename.to_string()),
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The definitions that signatures name.
struct Signatures<'s> {
    sources: &'s Sources,
    module: &'s [String],
    found: BTreeSet<Place>,
}

impl<'s> Signatures<'s> {
    fn item(&mut self, item: &'s Item) {
        match item {
            Item::Struct(item) => self.fields(&item.fields, false),
            Item::Enum(item) => item.variants.iter().for_each(|variant| self.fields(&variant.fields, true)),
            Item::Fn(item) => self.visit_signature(&item.sig),
            Item::Const(item) => self.visit_type(&item.ty),
            Item::Static(item) => self.visit_type(&item.ty),
            Item::Type(item) => self.visit_type(&item.ty),
            Item::Trait(item) => item.items.iter().for_each(|item| match item {
                TraitItem::Fn(item) if !has(&item.attrs, "doc", "hidden") => self.visit_signature(&item.sig),
                TraitItem::Const(item) => self.visit_type(&item.ty),
                TraitItem::Type(item) => item.bounds.iter().for_each(|bound| self.visit_type_param_bound(bound)),
                _ => {}
            }),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &'s Fields, all: bool) {
        let public = fields.iter().filter(|field| all || matches!(field.vis, Visibility::Public(_)));
        public.for_each(|field| self.visit_type(&field.ty));
    }

    fn implementation(&mut self, block: &'s ItemImpl) {
        let of_trait = block.trait_.is_some();
        for item in &block.items {
            match item {
                ImplItem::Fn(item)
                    if matches!(item.vis, Visibility::Public(_)) && !has(&item.attrs, "doc", "hidden") =>
                {
                    self.visit_signature(&item.sig);
                }
                ImplItem::Const(item) if matches!(item.vis, Visibility::Public(_)) => self.visit_type(&item.ty),
                ImplItem::Type(item) if of_trait => self.visit_type(&item.ty),
                _ => {}
            }
        }
    }
}

impl<'s> Visit<'s> for Signatures<'s> {
    fn visit_path(&mut self, path: &'s syn::Path) {
        let names = segments(path);
        let mut found = self.sources.resolve(self.module, &names, 0);
        if found.is_empty() && names.len() > 1 {
            // A type that belongs to a trait or a type: `Kind::Output`.
            found = self.sources.resolve(self.module, &names[..names.len() - 1], 0);
        }
        for place in found {
            match self.sources.item(&place) {
                // Users see through an alias.
                Some(Item::Type(alias)) => {
                    let module = std::mem::take(&mut self.module);
                    let sources = self.sources;
                    if let Some((own, _)) = sources.0.get_key_value(&place[..place.len() - 1]) {
                        self.module = own;
                        self.visit_type(&alias.ty);
                    }
                    self.module = module;
                }
                Some(Item::Struct(_) | Item::Enum(_) | Item::Trait(_)) => {
                    self.found.insert(place);
                }
                _ => {}
            }
        }
        visit::visit_path(self, path);
    }
}

/// Questions of the tests about a type.
impl Public<'_> {
    /// Its name if it is a type or a trait.
    pub fn type_name(&self) -> Option<String> {
        let name = self.path.rsplit("::").next().unwrap();
        let is_type = match self.item {
            Some(item) => matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Trait(_) | Item::Type(_)),
            None => name.starts_with(char::is_uppercase),
        };
        is_type.then(|| name.to_owned())
    }

    pub fn is_marked(&self, attribute: &str) -> bool {
        self.item.is_some_and(|item| has(attributes(item), attribute, ""))
    }

    /// Whether it has a trait, by `derive` or a block.
    pub fn implements(&self, name: &str) -> bool {
        let of = |block: &ItemImpl| {
            block.trait_.as_ref().is_some_and(|(path, _)| segments(path).ends_with(&[name.to_owned()]))
        };
        self.item.is_some_and(|item| has(attributes(item), "derive", name))
            || self.implementations.iter().any(|(block, _)| of(block))
    }

    /// Whether a user could write out all of its values, so that a new field or variant would break the program.
    pub fn is_exhaustive(&self) -> bool {
        let all_public = |fields: &Fields| match fields {
            Fields::Named(fields) => fields.named.iter().all(|field| matches!(field.vis, Visibility::Public(_))),
            _ => false,
        };
        !self.is_marked("non_exhaustive")
            && match self.item {
                Some(Item::Enum(_)) => true,
                Some(Item::Struct(item)) => all_public(&item.fields) && !self.is_options(),
                _ => false,
            }
    }

    /// Options are written with `..Default::default()`.
    fn is_options(&self) -> bool {
        self.implements("Default") && self.path.ends_with("Options")
    }

    /// The names of the traits that a trait needs.
    pub fn supertraits(&self) -> Vec<String> {
        let Some(Item::Trait(item)) = self.item else { return Vec::new() };
        let names = item.supertraits.iter().filter_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => segments(&bound.path).pop(),
            _ => None,
        });
        names.collect()
    }
}
