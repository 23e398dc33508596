//! JSON lines: an object a line, of which two members are the ends of an edge and one may be its weight.
//!
//! The names of the members are found in the first lines as those of columns are: by the options, else by what they
//! mean, else the only two beside the weight. Ids are integers or strings, as JSON has them, and all of one kind. A
//! member `Type` that says `Directed` or `Undirected` in all first lines, as exports have it, is the direction. Other
//! members are attributes if they are asked for and hold numbers, strings, or true and false. Members that are not
//! wanted are skipped, whatever they hold. Cost: a block is parsed without a copy, but for strings with escapes.
//!
//! Format: RFC 8259 for the objects.

use crate::batch::LeftOut;
use crate::batch::{
    Block, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, TakeBatch, Unweighted, bad_record,
};
use crate::column_names::{Unread, column_asked, find_ends, usual_weight};
use crate::documents::records::IdTaker;
use crate::input::file::Input;
use crate::tables::attribute_columns::asked_columns;
use crate::tables::attributes::{AttributeColumn, AttributeField, Attributes, expected_form};
use crate::text::blocks::LineBlocks;
use crate::text::edge_list::NO_END;
use crate::text::number::{self, Integer, integer, is_whole, lines};
use crate::text::sample::{first_lines, other_direction, says_directed};
use crate::text::source::{Numbering, begin, begin_weights, text_of, text_source};
use crate::text::times::kind_of_moments;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};
use outcore_io::lock;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Formatter;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Number of members of an object that are searched for the wanted ones.
const MOST_MEMBERS: usize = 1024;
/// Number of objects that a message names.
const MOST_OBJECTS: usize = 5;
/// Number of members that a note names, and the length of such a name.
const MOST_LATE: usize = 20;
const MOST_NAME_CHARACTERS: usize = 100;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let (first_line, start) = blocks.peek()?;
    let start = start.to_owned();
    let path = blocks.path().to_owned();
    let sample = Sample::take(&path, first_line, &start)?;
    let mut members = sample.members(&path, options).map_err(|error| sample.naming_objects(error))?;
    let known = sample.has_strings(&path, &members, options)?;
    let strings = known == Some(true);
    let direction = sample.direction(&members)?;
    let attributes = sample.attributes(&members, direction.is_some(), options);
    let (attributes, untyped) = attributes.map_err(|error| sample.naming_objects(error))?;
    members.attributes = attributes;
    let weight_name = members.weight.clone();
    let names = sample.names.iter().filter(|name| !members.has(name) && *name != "Type").cloned().collect();
    let unread = Unread { names, weights: None, may_keep: options.attributes == Attributes::None };
    let late = Arc::new(LateMembers::new(&sample.names));
    let facts = Facts {
        format: "jsonl",
        directed: direction,
        directed_by: direction.map(|_| "the member `Type`".to_owned()),
        string_ids: strings,
        are_ids_open: known.is_none(),
        ends: Some([members.source.clone(), members.target.clone()]),
        weights: weight_name,
        attributes: members.attributes.clone(),
        notes: unread.note().into_iter().collect(),
        unread,
        untyped,
        ..blocks.facts()
    };
    let guessed = options.ids == IdKind::Auto;
    let left_out = LeftOut::new(options.nulls);
    let has_conditions = !options.conditions.is_empty();
    let ids = IdTaker { path, strings, guessed };
    let parser = JsonLines { ids, members, direction, left_out, has_conditions, late: Arc::clone(&late) };
    let mut source = text_source(blocks, facts, Arc::new(parser), Numbering::None, None);
    source.note_late(move || late.note());
    Ok(source)
}

/// Members that first stand behind the first lines, which tell those that are read.
#[derive(Default)]
struct LateMembers {
    /// Names of the members of the first lines.
    known: HashSet<String>,
    /// The other ones, as far as a note names them, and whether there are more.
    found: Mutex<(BTreeSet<String>, bool)>,
}

impl LateMembers {
    fn new(known: &[String]) -> Self {
        LateMembers { known: known.iter().cloned().collect(), found: Mutex::default() }
    }

    fn see(&self, name: &str) {
        if self.known.contains(name) || self.known.len() >= MOST_MEMBERS {
            return;
        }
        let (names, has_more) = &mut *lock(&self.found);
        if names.contains(name) {
            return;
        }
        names.insert(name.chars().take(MOST_NAME_CHARACTERS).collect());
        if names.len() > MOST_LATE {
            names.pop_last();
            *has_more = true;
        }
    }

    fn note(&self) -> Option<String> {
        let (names, has_more) = &*lock(&self.found);
        let listed = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if *has_more { ", ..." } else { "" };
        (!names.is_empty()).then(|| {
            format!(
                "Members that first stand behind the first thousand lines, and were not read: {listed}{more}. To read \
                 them, put a line that has them among the first."
            )
        })
    }
}

#[derive(Clone)]
struct Members {
    source: String,
    target: String,
    weight: Option<String>,
    attributes: Vec<AttributeField>,
}

impl Members {
    fn has(&self, name: &str) -> bool {
        let ends = [&self.source, &self.target].into_iter().chain(&self.weight);
        ends.chain(self.attributes.iter().map(|field| &field.name)).any(|own| own == name)
    }
}

/// The members of a line that are wanted, as they stand there.
#[derive(Default)]
struct Line<'a> {
    source: Option<&'a RawValue>,
    target: Option<&'a RawValue>,
    weight: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    attributes: Vec<Option<&'a RawValue>>,
}

/// Takes the members of a line that are wanted; others that the first lines do not have are noted where that is given.
#[derive(Clone, Copy)]
struct Taking<'a>(&'a Members, Option<&'a LateMembers>);

impl<'de> DeserializeSeed<'de> for Taking<'_> {
    type Value = Line<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Line<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Taking<'_> {
    type Value = Line<'de>;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Line<'de>, A::Error> {
        let Taking(wanted, late) = self;
        let mut line = Line { attributes: vec![None; wanted.attributes.len()], ..Line::default() };
        while let Some(Text(name)) = map.next_key()? {
            let place = if name == wanted.source {
                &mut line.source
            } else if name == wanted.target {
                &mut line.target
            } else if wanted.weight.as_deref() == Some(&*name) {
                &mut line.weight
            } else if let Some(place) = wanted.attributes.iter().position(|field| field.name == name) {
                &mut line.attributes[place]
            } else if name == "Type" {
                &mut line.kind
            } else {
                late.into_iter().for_each(|late| late.see(&name));
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if place.replace(map.next_value()?).is_some() {
                return Err(serde::de::Error::custom(format_args!("the member `{name}` twice")));
            }
        }
        Ok(line)
    }
}

/// A string, borrowed from the line unless it has escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct AnyText;
        impl<'de> Visitor<'de> for AnyText {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(AnyText)
    }
}

/// A value, which a string is without its quotes.
fn plain(value: &RawValue) -> Option<Cow<'_, str>> {
    let raw = value.get();
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str::<Text<'_>>(raw).ok().map(|text| text.0),
        b'-' | b'0'..=b'9' => Some(Cow::Borrowed(raw)),
        _ => None,
    }
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

/// The members that a line has, under any names.
fn parse<'a, T: DeserializeSeed<'a>>(path: &Path, line: u64, text: &'a [u8], seed: T) -> Result<T::Value> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| {
        let expected = format!("a JSON object on a line of its own ({error})");
        bad_record(path, line, &expected, text)
    })
}

struct Sample<'a> {
    path: &'a Path,
    lines: Vec<(u64, &'a [u8])>,
    /// In the order in which they first stand.
    names: Vec<String>,
    /// The ones that hold objects.
    objects: Vec<String>,
}

struct Names;

/// The name of a member, and whether it holds an object.
type Named = (String, bool);

impl<'de> DeserializeSeed<'de> for Names {
    type Value = Vec<Named>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Vec<Named>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Names {
    type Value = Vec<Named>;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Vec<Named>, A::Error> {
        let mut names = Vec::new();
        while let Some(Text(name)) = map.next_key()? {
            let is_object = map.next_value::<&RawValue>()?.get().starts_with('{');
            if names.len() < MOST_MEMBERS {
                names.push((name.into_owned(), is_object));
            }
        }
        Ok(names)
    }
}

impl<'a> Sample<'a> {
    fn take(path: &'a Path, first_line: u64, start: &'a [u8]) -> Result<Self> {
        let all = first_lines(first_line, start, |line| !is_blank_line(line));
        let (mut names, mut objects): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for &(number, line) in &all {
            for (name, is_object) in parse(path, number, line, Names)? {
                if is_object && !objects.contains(&name) {
                    objects.push(name.clone());
                }
                if names.len() < MOST_MEMBERS && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let is_document = |name: &String| matches!(name.as_str(), "nodes" | "links" | "vertices");
        if all.len() == 1 && names.iter().any(is_document) {
            let expected = "an edge as a JSON object, on every line";
            return Err(Error::input(path, None, expected, "one document with all nodes and edges")
                .advise("read it with networkx.node_link_graph or the like, and import the graph"));
        }
        Ok(Sample { path, lines: all, names, objects })
    }

    /// An error about members that were not found, with those that hold objects: what is within is not read.
    fn naming_objects(&self, error: Error) -> Error {
        if self.objects.is_empty() {
            return error;
        }
        let names: Vec<String> = self.objects.iter().take(MOST_OBJECTS).map(|name| format!("`{name}`")).collect();
        let verb = if names.len() == 1 { "is an object" } else { "are objects" };
        let text = format!("{} {verb}: write what is wanted of it as members of the line itself", names.join(", "));
        match &error {
            Error::Input { advice, .. } if !advice.is_empty() => {
                let both = format!("{advice}; {text}");
                error.advise(both)
            }
            _ => error.advise(text),
        }
    }

    fn members(&self, path: &Path, options: &InputOptions) -> Result<Members> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        if names.is_empty() {
            let [source, target] = ["source", "target"].map(str::to_owned);
            return Ok(Members { source, target, weight: None, attributes: Vec::new() });
        }
        let weight = match options.weight.as_deref() {
            None => usual_weight(path, &names, options)?,
            Some("none") => None,
            Some(wanted) => Some(column_asked(path, "weight", wanted, &names)?),
        };
        let (source, target) = find_ends(&names, weight, path, options)?;
        let name = |place: usize| self.names[place].clone();
        Ok(Members { source: name(source), target: name(target), weight: weight.map(name), attributes: Vec::new() })
    }

    /// The other members that are kept, and what they hold in the first lines.
    fn attributes(
        &self,
        members: &Members,
        has_direction: bool,
        options: &InputOptions,
    ) -> Result<(Vec<AttributeField>, Vec<String>)> {
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        // Members of other files may stand further down in this one.
        let others = options.united.iter().flatten().map(|field| field.name.as_str());
        let others: Vec<&str> = others.filter(|name| !names.is_empty() && !names.contains(name)).collect();
        names.extend(others);
        let is_used = |name: &str| members.has(name) || (has_direction && name == "Type");
        let used: Vec<Option<usize>> = (0..names.len()).filter(|&place| is_used(names[place])).map(Some).collect();
        let mut wanted = Vec::new();
        for place in asked_columns(options, &names, &used, self.path)? {
            wanted.push(AttributeField { name: names[place].to_owned(), kind: AttributeKind::String });
        }
        if wanted.is_empty() {
            return Ok((wanted, Vec::new()));
        }
        let wanted = Members { attributes: wanted, ..members.clone() };
        let mut kinds: Vec<MemberKinds> = vec![MemberKinds::default(); wanted.attributes.len()];
        let mut strings: Vec<Vec<Cow<'_, str>>> = vec![Vec::new(); wanted.attributes.len()];
        for &(number, text) in &self.lines {
            let line = parse(self.path, number, text, Taking(&wanted, None))?;
            for ((held, strings), value) in kinds.iter_mut().zip(&mut strings).zip(line.attributes) {
                held.see(value);
                strings.extend(value.filter(|value| is_string(value)).and_then(plain));
            }
        }
        let (mut found, mut untyped) = (Vec::new(), Vec::new());
        for ((held, strings), AttributeField { name, .. }) in kinds.into_iter().zip(strings).zip(wanted.attributes) {
            if held.is_empty() {
                untyped.push(name.clone());
            }
            let united = options.united_kind(&name).cloned();
            match held.kind() {
                Some(_) if united.is_some() => found.extend(united.map(|kind| AttributeField { name, kind })),
                Some(AttributeKind::String) => {
                    let kind = kind_of_moments(strings.iter().map(|text| text.as_bytes()));
                    found.push(AttributeField { name, kind: kind.unwrap_or(AttributeKind::String) });
                }
                Some(kind) => found.push(AttributeField { name, kind }),
                None if options.attributes == Attributes::All => {}
                None => {
                    let expected = format!("numbers, strings, or true and false as `{name}`");
                    return Err(Error::input(
                        self.path,
                        None,
                        expected,
                        "lists or objects, or values of several kinds",
                    )
                    .advise("leave it out of --attributes, or bring the values into one form"));
                }
            }
        }
        Ok((found, untyped))
    }

    /// Whether ids are strings, as JSON says unless the user does; nothing if no line tells.
    fn has_strings(&self, path: &Path, members: &Members, options: &InputOptions) -> Result<Option<bool>> {
        if let Some(wants_strings) = options.ids.wants_strings() {
            return Ok(Some(wants_strings));
        }
        let mut first: Option<bool> = None;
        for &(number, text) in &self.lines {
            let line = parse(path, number, text, Taking(members, None))?;
            for value in [line.source, line.target].into_iter().flatten().filter(|value| value.get() != "null") {
                if *first.get_or_insert(is_string(value)) != is_string(value) {
                    let expected = "ids of one kind, integers or strings, as on the lines above";
                    return Err(bad_record(path, number, expected, value.get().as_bytes())
                        .advise("say --ids string to read all of them as strings"));
                }
            }
        }
        Ok(first)
    }

    /// The direction that the member `Type` has on all lines.
    fn direction(&self, members: &Members) -> Result<Option<bool>> {
        let mut all = None;
        for &(number, text) in &self.lines {
            let kind = parse(self.path, number, text, Taking(members, None))?.kind;
            let directed = kind.and_then(plain).and_then(|kind| says_directed(kind.as_bytes()));
            if directed.is_none() || all.is_some_and(|all| all != directed) {
                return Ok(None);
            }
            all = Some(directed);
        }
        Ok(all.flatten())
    }
}

fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[derive(Clone, Copy, Default)]
struct MemberKinds {
    strings: bool,
    booleans: bool,
    integers: bool,
    reals: bool,
    others: bool,
}

impl MemberKinds {
    fn see(&mut self, value: Option<&RawValue>) {
        let Some(text) = value.map(RawValue::get).filter(|text| *text != "null") else { return };
        match text.as_bytes().first() {
            Some(b'"') => self.strings = true,
            Some(b't' | b'f') => self.booleans = true,
            Some(b'-' | b'0'..=b'9') if integer(text.as_bytes()).and_then(Integer::signed).is_some() => {
                self.integers = true;
            }
            Some(b'-' | b'0'..=b'9') => self.reals = true,
            _ => self.others = true,
        }
    }

    /// Whether there are no values.
    fn is_empty(self) -> bool {
        !(self.strings || self.booleans || self.integers || self.reals || self.others)
    }

    /// The common kind; strings where there are no values.
    fn kind(self) -> Option<AttributeKind> {
        match self {
            MemberKinds { others: true, .. } => None,
            MemberKinds { strings: false, booleans: false, integers: true, reals: false, .. } => {
                Some(AttributeKind::Integer)
            }
            MemberKinds { strings: false, booleans: false, reals: true, .. } => Some(AttributeKind::Real),
            MemberKinds { strings: false, booleans: true, integers: false, reals: false, .. } => {
                Some(AttributeKind::Boolean)
            }
            MemberKinds { booleans: false, integers: false, reals: false, .. } => Some(AttributeKind::String),
            _ => None,
        }
    }
}

struct JsonLines {
    ids: IdTaker,
    members: Members,
    direction: Option<bool>,
    left_out: LeftOut,
    /// Conditions may leave out lines without a weight.
    has_conditions: bool,
    late: Arc<LateMembers>,
}

impl JsonLines {
    fn push(&self, name: &str, value: Option<&RawValue>, text: &[u8], number: u64, ids: &mut Ids) -> Result<()> {
        let bad = |expected: String| bad_record(&self.ids.path, number, &expected, text);
        let value = value.filter(|value| value.get() != "null");
        let value = value.ok_or_else(|| bad(format!("a member `{name}`, as on other lines")).advise(NO_END))?;
        let is_right_kind = !self.ids.guessed || is_string(value) == self.ids.strings;
        let id = plain(value).filter(|_| is_right_kind).ok_or_else(|| {
            let kind = if self.ids.strings { "a string" } else { "an integer" };
            bad_record(&self.ids.path, number, &format!("{kind} as `{name}`"), value.get().as_bytes())
                .advise("take such lines out, or say --ids string if integers and strings are meant to be ids")
        })?;
        self.ids.push(id.as_bytes(), number, ids)
    }

    fn weight(&self, name: &str, value: Option<&RawValue>, text: &[u8], number: u64) -> Result<f64> {
        let none = "or leave weights out with --weight none";
        let Some(value) = value else {
            let expected = format!("a member `{name}`, as on other lines");
            return Err(
                bad_record(&self.ids.path, number, &expected, text).advise(format!("take such lines out, {none}"))
            );
        };
        let token = value.get().as_bytes();
        number::weight(token).ok_or_else(|| {
            let expected = match is_whole(token) || token.first().is_some_and(u8::is_ascii_digit) {
                true => format!("{} as `{name}`", number::weight_expected(token)),
                false => format!("a finite number as weight `{name}`"),
            };
            bad_record(&self.ids.path, number, &expected, token).advise(format!("take such lines out, {none}"))
        })
    }
}

impl JsonLines {
    fn take_attributes(&self, line: &Line<'_>, number: u64, into: &mut [AttributeColumn]) -> Result<()> {
        for ((field, value), values) in self.members.attributes.iter().zip(&line.attributes).zip(into) {
            let value = value.filter(|value| value.get() != "null");
            let text = match (value, &field.kind) {
                // JSON has dates and times as strings.
                (Some(value), AttributeKind::String | AttributeKind::Date | AttributeKind::Timestamp { .. }) => {
                    plain(value).filter(|_| is_string(value))
                }
                (Some(value), _) if !is_string(value) => Some(Cow::Borrowed(value.get())),
                _ => None,
            };
            let is_wrong = value.is_some() && text.is_none();
            if is_wrong || !values.push_value(&field.kind, text.as_deref()) {
                let found = value.map_or("", RawValue::get);
                let form = expected_form(&field.kind, found.as_bytes());
                let expected = format!("{form} as `{}`, as on other lines", field.name);
                return Err(bad_record(&self.ids.path, number, &expected, found.as_bytes())
                    .advise("bring the values into one form, or leave the member out of --attributes"));
            }
        }
        Ok(())
    }
}

impl Parser for JsonLines {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.ids.strings);
        let Members { source, target, weight, attributes } = &self.members;
        begin_weights(batch, weight.is_some());
        let mut columns: Vec<AttributeColumn> =
            attributes.iter().map(|field| AttributeColumn::new(&field.kind)).collect();
        for (number, text) in (block.first_record..).zip(lines(text_of(block, &self.ids.path)?)) {
            if is_blank_line(text) {
                continue;
            }
            let line = parse(&self.ids.path, number, text, Taking(&self.members, Some(&self.late)))?;
            if let Some(directed) = self.direction {
                let kind = line.kind.and_then(plain).unwrap_or_default();
                if says_directed(kind.as_bytes()) != Some(directed) {
                    return Err(other_direction(&self.ids.path, number, directed, "the member `Type`", text));
                }
            }
            let has_none = |value: Option<&RawValue>| value.is_none_or(|value| value.get() == "null");
            if self.left_out.is_wanted() && (has_none(line.source) || has_none(line.target)) {
                self.left_out.add(1);
                continue;
            }
            self.push(source, line.source, text, number, &mut batch.ids)?;
            self.push(target, line.target, text, number, &mut batch.ids)?;
            batch.ids.check_one_kind(&self.ids.path, number, "say --ids string")?;
            if let Some(name) = weight {
                let weights = batch.weights.reals();
                if self.has_conditions && has_none(line.weight) {
                    batch.unweighted.push(Unweighted { edge: weights.len(), record: number });
                    weights.push(0.0);
                } else {
                    weights.push(self.weight(name, line.weight, text, number)?);
                }
            }
            self.take_attributes(&line, number, &mut columns)?;
        }
        batch.attributes = columns;
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.ids.path
    }

    fn no_weight(&self, _: u64, record: u64) -> Error {
        let expected = format!("a number as weight `{}`", self.members.weight.as_deref().unwrap_or("weight"));
        Error::input(&self.ids.path, Some(record), expected, "a line without one")
            .advise("take such lines out, or leave weights out with --weight none")
    }

    fn left_out(&self) -> u64 {
        self.left_out.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::AttributeValues;
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    fn options(weight: Option<&str>, ids: IdKind) -> InputOptions {
        InputOptions { weight: weight.map(str::to_owned), ids, ..InputOptions::default() }
    }

    #[test]
    fn objects_within_objects_are_named() {
        let text = b"{\"id\": 1, \"data\": {\"source\": 1, \"target\": 2, \"w\": 3}, \"rank\": 7}\n";
        assert!(failure_of("jsonl", text).contains("`data` is an object: write"));
        let text = b"{\"source\": 1, \"target\": 2, \"data\": {\"w\": 3}, \"more\": {}}\n";
        let error = failure_with("jsonl", text, &options(Some("data.w"), IdKind::Auto));
        assert!(
            error.contains("`data.w`, as --weight says") && error.contains("`data`, `more` are objects"),
            "{error}"
        );
        let null = failure_of("jsonl", b"{\"source\": 1, \"target\": null}\n{\"source\": 2, \"target\": 3}\n");
        assert!(null.contains(":1: ") && null.contains("--nulls skip"), "{null}");
    }

    #[test]
    fn members_are_found_by_name_and_skipped_where_they_are_not_wanted() {
        let text = b"{\"id\": [1, {\"source\": 9}], \"target\": 2, \"source\": -1, \"weight\": 3.5}\n\n \
                     {\"weight\":1e2,\"source\":2,\"target\":3,\"more\":null}\r\n";
        let read = edges_of("jsonl", text);
        assert_eq!(read.pairs, [(u64::MAX, 2), (2, 3)]);
        assert_eq!(read.weights, [3.5, 100.0]);
        assert_eq!(read.facts.weights.as_deref(), Some("weight"));
        assert_eq!(
            read.facts.notes,
            ["Columns that are not read: id, more. To keep them, say --attributes all, or name some."]
        );
        let read = edges_with("jsonl", text, &options(Some("none"), IdKind::Auto));
        assert!(read.weights.is_empty() && read.facts.weights.is_none());
        assert!(edges_of("jsonl", b"").pairs.is_empty());
    }

    #[test]
    fn strings_are_unescaped() {
        let text =
            "{\"src\": \"a\\u00e9\\\"b\", \"dst\": \"7\"}\n{\"src\": \"x y\", \"dst\": \"\u{1f600}\"}".as_bytes();
        let read = edges_of("jsonl", text);
        let expected = [("a\u{e9}\"b", "7"), ("x y", "\u{1f600}")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(read.names, expected);
        let mixed = b"{\"from\": 7, \"to\": \"7\"}\n{\"from\": \"a\", \"to\": 8}\n";
        assert!(failure_of("jsonl", mixed).contains("--ids string"));
        let read = edges_with("jsonl", mixed, &options(None, IdKind::String));
        assert_eq!(read.names[1], ("a".to_owned(), "8".to_owned()));
        let read = edges_with("jsonl", b"{\"u\": \"5\", \"v\": 6}", &options(None, IdKind::Integer));
        assert_eq!(read.pairs, [(5, 6)]);
    }

    #[test]
    fn the_direction_of_exports_is_read() {
        let text =
            b"{\"source\":1,\"target\":2,\"Type\":\"Undirected\"}\n{\"source\":1,\"target\":3,\"Type\":\"Undirected\"}";
        assert_eq!(edges_of("jsonl", text).facts.directed, Some(false));
        let mixed: String = (0..2000)
            .map(|i| {
                let kind = if i < 1999 { "Directed" } else { "Undirected" };
                format!("{{\"source\":1,\"target\":2,\"Type\":\"{kind}\"}}\n")
            })
            .collect();
        assert!(failure_of("jsonl", mixed.as_bytes()).contains("`Directed`"));
    }

    #[test]
    fn other_members_are_attributes_where_they_are_asked_for() {
        let text =
            b"{\"source\":1,\"target\":2,\"kind\":\"a\\\"b\",\"n\":-3,\"x\":1,\"is\":true,\"list\":[1],\"no\":null}\n\
                     {\"x\":2.5,\"source\":2,\"target\":3,\"kind\":\"\",\"mixed\":1}\n\
                     {\"source\":3,\"target\":1,\"is\":false,\"n\":null,\"mixed\":\"1\"}\n";
        let with = |attributes| InputOptions { attributes, ..InputOptions::default() };
        let read = edges_with("jsonl", text, &with(Attributes::All));
        let kinds: Vec<(&str, &AttributeKind)> =
            read.facts.attributes.iter().map(|field| (field.name.as_str(), &field.kind)).collect();
        use AttributeKind::{Boolean, Integer, Real, String};
        assert_eq!(kinds, [("kind", &String), ("n", &Integer), ("x", &Real), ("is", &Boolean), ("no", &String)]);
        assert_eq!(read.facts.notes, ["Columns that are not read: list, mixed."]);
        let words = |place: usize| match &read.attributes[place].values {
            AttributeValues::Words(words) => words.iter().map(|&word| word as i64).collect::<Vec<_>>(),
            AttributeValues::Text { .. } | AttributeValues::Missing(_) => panic!("no numbers"),
        };
        assert_eq!(read.attributes[0].values, AttributeValues::Text { bytes: b"a\"b".to_vec(), ends: vec![3, 3, 3] });
        assert_eq!(read.attributes[0].missing, [false, false, true]);
        assert_eq!((words(1), words(3)), (vec![-3, 0, 0], vec![1, 0, 0]));
        assert_eq!(read.attributes[1].missing, [false, true, true]);
        assert_eq!(words(2)[..2], [1.0f64.to_bits() as i64, 2.5f64.to_bits() as i64]);
        for (named, expected) in [("list", "lists or objects"), ("mixed", "several kinds"), ("none", "no such column")]
        {
            let error = failure_with("jsonl", text, &with(Attributes::Named(vec![named.to_owned()])));
            assert!(error.contains(expected), "{named}: {error}");
        }
        let good = "{\"source\":1,\"target\":2,\"n\":1}\n".repeat(1000);
        for bad in ["\"2\"", "2.5", "true", "[2]", "9223372036854775808"] {
            let text = format!("{good}{{\"source\":1,\"target\":2,\"n\":{bad}}}\n");
            let error = failure_with("jsonl", text.as_bytes(), &with(Attributes::All));
            assert!(error.contains("jsonl:1001:") && error.contains("integer as `n`"), "{bad}: {error}");
        }
    }

    #[test]
    fn bad_lines_are_named() {
        let good = "{\"source\": 1, \"target\": 2, \"weight\": 1}\n";
        for (bad, expected) in [
            ("{\"source\": 1, \"target\": 2}", "a member `weight`"),
            ("{\"source\": 1, \"weight\": 2}", "a member `target`"),
            ("{\"source\": null, \"target\": 2, \"weight\": 1}", "a member `source`"),
            ("{\"source\": 1.5, \"target\": 2, \"weight\": 1}", "an integer id"),
            ("{\"source\": 1, \"target\": 2, \"weight\": \"3\"}", "a finite number"),
            ("{\"source\": 1, \"target\": 2, \"weight\": 1e999}", "a finite number"),
            ("{\"source\": 1, \"target\": 2, \"weight\": 9007199254740993}", "2^53"),
            ("{\"source\": 1, \"source\": 2, \"target\": 2, \"weight\": 1}", "`source` twice"),
            ("{\"source\": 1, \"target\": 2", "a JSON object"),
            ("[1, 2]", "a JSON object"),
            ("{\"source\": 1, \"target\": 2, \"weight\": 1} 5", "a JSON object"),
        ] {
            let error = failure_of("jsonl", format!("{}{bad}\n", good.repeat(3)).as_bytes());
            assert!(error.contains(expected) && error.contains("jsonl:4:"), "{bad}: {error}");
        }
        let deep = format!("{good}{{\"source\": 1, \"target\": 2, \"weight\": 1, \"x\": {}", "[".repeat(100_000));
        assert!(failure_of("jsonl", deep.as_bytes()).contains("jsonl:2:"));
        let document = b"{\"nodes\": [{\"id\": 1}], \"links\": []}";
        assert!(failure_of("jsonl", document).contains("node_link_graph"));
        let wanted = options(Some("cost"), IdKind::Auto);
        assert!(failure_with("jsonl", good.as_bytes(), &wanted).contains("the columns are source, target, weight"));
    }

    #[test]
    fn lines_without_an_end_are_left_out_if_asked() {
        let text = b"{\"source\": 1, \"target\": 2}\n{\"source\": null, \"target\": 2}\n{\"target\": 2}\n{\"source\":3,\"target\":4}\n";
        let skip = InputOptions { nulls: crate::Nulls::Skip, ..InputOptions::default() };
        assert_eq!(edges_with("jsonl", text, &skip).pairs, [(1, 2), (3, 4)]);
        assert!(failure_of("jsonl", text).contains("jsonl:2:"));
    }
}
