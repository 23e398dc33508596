//! Several inputs, one after the other, as one.
//!
//! Files of one format are opened once at the start, so that what they say of themselves can be compared, and closed
//! again: only one is held open, so that the memory does not depend on how many there are. Sources of any kind are
//! open already. Blocks are numbered through; the parser finds the input of a block by its number.

use crate::batch::{
    Block, EdgeBatch, Facts, IdKind, InputOptions, LateNote, Parser, ReadBlocks, Source, TakeBatch, TextFacts, hull,
};
use crate::conditions::check_united;
use crate::format::{Format, is_table};
use crate::given::Given;
use crate::input::file::Input;
use crate::input::folders::Files;
use crate::input::partitions::Partitions;
use crate::input_sample::SampledFiles;
use crate::open::counted;
use crate::tables::attributes::{AttributeField, Attributes};
use crate::union::{union, united};
use outcore_image::{Error, Result};
use outcore_io::lock;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Opens `inputs`, which are more than one, as one source.
pub(crate) fn open(
    inputs: Vec<Input>,
    format: &'static Format,
    options: &InputOptions,
    partitions: &Partitions,
) -> Result<Source> {
    // Where the files are a part of the inputs, others may have what options name.
    let are_all = options.united.is_none();
    let (mut options, partitions) = (among_several(&inputs, format, options)?, partitions.clone());
    let open_one = move |input: &Input, options: &InputOptions| -> Result<Source> {
        Ok(partitions.add_to(counted(format.open(input, options)?, input), input.path()))
    };
    let mut all = Vec::with_capacity(inputs.len());
    for input in &inputs {
        if input.size_bytes().is_none() {
            return Err(Error::input(input.path(), None, "named files where there are several inputs", input.kind())
                .advise("give it as the only input"));
        }
        all.push(open_one(input, &options)?.facts);
    }
    let names: Vec<PathBuf> = inputs.iter().map(|input| input.path().to_owned()).collect();
    let empty: Vec<bool> = inputs.iter().map(|input| input.size_bytes() == Some(0)).collect();
    let mut facts = join(&names, &empty, &all, true)?;
    facts.counts = inputs.iter().map(|input| Arc::clone(input.counts())).collect();
    in_asked_order(&mut facts, &options);
    let named: Vec<(&Path, &Facts)> = names.iter().map(PathBuf::as_path).zip(&all).collect();
    check_united(&facts, &named, &options.conditions)?;
    let speaking = (0..all.len()).find(|&place| !empty[place] && has_rows(&all[place]));
    if let Some(speaking) = speaking.filter(|_| are_all) {
        let refuse = |name: &str| format.open(&inputs[speaking], &strict(&options, name)).map(drop);
        check_asked(&names[speaking], &facts, &options, refuse)?;
    }
    if facts.string_ids {
        options.ids = IdKind::String;
    }
    let fields = facts.attributes.clone();
    options.united = Some(fields.clone());
    let open_one = move |input: &Input| Ok(united(open_one(input, &options)?, &fields, input.path()));
    let first = open_one(&inputs[0])?;
    let mut rest = inputs.into_iter().skip(1);
    let open = Box::new(move || rest.next().map(|input| open_one(&input)));
    Ok(Chain::source(first, names, facts, open))
}

/// Options for one of several inputs, of which each may lack attributes. Numbers of attributes are those of the first
/// input that has columns: others have the columns of the same names.
fn among_several(inputs: &[Input], format: &Format, options: &InputOptions) -> Result<InputOptions> {
    let mut options = InputOptions { format: Some(format.name.to_owned()), ..options.clone() };
    if let Attributes::Named(asked) = &options.attributes {
        let name_of = |asked: &String| {
            let is_number = asked.parse::<usize>().is_ok();
            for input in inputs.iter().filter(|input| is_number && input.size_bytes() != Some(0)) {
                let own = format.open(input, &strict(&options, asked))?.facts.attributes;
                if let Some(field) = own.into_iter().next() {
                    return Ok(field.name);
                }
            }
            Ok::<_, Error>(asked.clone())
        };
        options.attributes = Attributes::Named(asked.iter().map(name_of).collect::<Result<_>>()?);
    }
    options.united = Some(Vec::new());
    Ok(options)
}

/// Options for an input that must have an attribute.
fn strict(options: &InputOptions, attribute: &str) -> InputOptions {
    let attributes = Attributes::Named(vec![attribute.to_owned()]);
    InputOptions { united: None, attributes, conditions: Vec::new(), ..options.clone() }
}

/// Puts the attributes that options name into their order, before those that are read for conditions.
fn in_asked_order(facts: &mut Facts, options: &InputOptions) {
    if let Attributes::Named(asked) = &options.attributes {
        let place = |field: &AttributeField| asked.iter().position(|name| *name == field.name).unwrap_or(usize::MAX);
        facts.attributes.sort_by_key(place);
    }
}

/// Refuses an attribute that options name and no input has, as `refuse` does for one of them. Numbers of columns are
/// those of an input, which has refused others.
fn check_asked(
    path: &Path,
    facts: &Facts,
    options: &InputOptions,
    refuse: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let Attributes::Named(asked) = &options.attributes else { return Ok(()) };
    let has_name = |name: &String| facts.attributes.iter().any(|field| field.name == *name);
    let is_there = |name: &String| has_name(name) || name.parse::<usize>().is_ok();
    let Some(other) = asked.iter().find(|name| !is_there(name)) else { return Ok(()) };
    refuse(other)?;
    Err(Error::input(
        path,
        None,
        format!("a column `{other}` with values, as --attributes says"),
        "no input that has one",
    ))
}

/// Concatenates sources, with their names for messages: of any formats, if they agree on the kinds of their ids and
/// weights, and on the direction of edges. Each was opened as one of several ([`InputOptions::united`]).
///
/// # Errors
/// A fact in which two sources contradict each other.
///
/// # Panics
/// If there is no source.
pub fn chained(parts: Vec<(PathBuf, Source)>, options: &InputOptions) -> Result<Source> {
    let (names, sources): (Vec<PathBuf>, Vec<Source>) = parts.into_iter().unzip();
    let all: Vec<Facts> = sources.iter().map(|source| source.facts().clone()).collect();
    let mut facts = join(&names, &vec![false; names.len()], &all, false)?;
    (facts.files, facts.counts, facts.given) = (Files::default(), Vec::new(), Given::default());
    for own in &all {
        facts.files.extend(&own.files);
        facts.given.extend(&own.given);
        facts.counts.extend(own.counts.iter().cloned());
    }
    in_asked_order(&mut facts, options);
    check_asked(&names[0], &facts, options, |_| Ok(()))?;
    let fields = facts.attributes.clone();
    let mut sources = sources.into_iter().zip(names.clone()).map(move |(source, name)| united(source, &fields, &name));
    let first = sources.next().expect("a chain has parts");
    Ok(Chain::source(first, names, facts, Box::new(move || sources.next().map(Ok))))
}

/// A source of edges, and behind them one of vertices, with the facts of both.
pub(crate) fn followed(edges: Source, vertices: Source, facts: Facts) -> Source {
    let mut vertices = Some(vertices);
    Chain::source(edges, Vec::new(), facts, Box::new(move || vertices.take().map(Ok)))
}

/// Whether an input has something that facts tell before it is read.
fn has_rows(facts: &Facts) -> bool {
    facts.edges != Some(0) && facts.text.as_ref().is_none_or(|text| text.has_rows)
}

/// Combines the facts of all inputs; a contradiction is an error.
fn join(names: &[PathBuf], empty: &[bool], all: &[Facts], may_reopen: bool) -> Result<Facts> {
    // Empty files are skipped when formats are compared.
    let has_rows = |place: &usize| !empty[*place] && has_rows(&all[*place]);
    let speaking = (0..all.len()).find(has_rows).unwrap_or(0);
    let mut joined = all[speaking].clone();
    // An input that names its columns must have the same ones, though it has nothing in them.
    for place in (0..all.len()).filter(|place| !has_rows(place) && !empty[*place]) {
        let has_names = all[place].text.as_ref().is_none_or(|text| text.header);
        check_columns(&joined, &all[place], [&names[speaking], &names[place]].map(PathBuf::as_path), has_names)?;
    }
    for place in (speaking + 1..all.len()).filter(has_rows) {
        let mut own = all[place].clone();
        // Ids that are not known yet are of the kind that they have in the other files, once these are opened again.
        match (joined.are_ids_open, own.are_ids_open) {
            _ if !may_reopen => {}
            (true, _) => joined.string_ids = own.string_ids,
            (_, is_open) => own.string_ids = if is_open { joined.string_ids } else { own.string_ids },
        }
        joined.are_ids_open &= own.are_ids_open;
        join_one(&mut joined, &own, [&names[speaking], &names[place]].map(PathBuf::as_path))?;
    }
    let speaking: Vec<(&Path, &Facts)> = (0..all.len())
        .filter(|place| *place == speaking || has_rows(place))
        .map(|place| (&*names[place], &all[place]))
        .collect();
    check_kept(&speaking)?;
    let (attributes, note) = union(&speaking, may_reopen)?;
    // A column without values in one file may have some in another.
    joined.unread.retain_others(&attributes);
    joined.attributes = attributes;
    let unread = joined.unread.note();
    joined.notes = bounded(speaking.iter().flat_map(|(_, facts)| facts.other_notes()).chain(unread).chain(note));
    Ok(joined)
}

/// Adds the facts of an input to those that were joined, of which the first has the other name.
fn join_one(joined: &mut Facts, facts: &Facts, [first, name]: [&Path; 2]) -> Result<()> {
    let is_same_format = facts.format == joined.format;
    let differs = |what: &str, found: String| {
        let expected = format!("the same {what} as in {}", first.display());
        Error::input(name, None, expected, found).advise("import the files one by one, or bring them into one form")
    };
    if facts.string_ids != joined.string_ids {
        let found = if facts.string_ids { "strings" } else { "integers" };
        return Err(differs("kind of ids", found.to_owned()).advise(ids_advice(joined, facts)));
    }
    // Another format may say nothing of the direction.
    let is_silent = !is_same_format && (facts.directed.is_none() || joined.directed.is_none());
    if facts.directed != joined.directed && !is_silent {
        return Err(differs("direction", direction(facts).to_owned()));
    }
    if joined.directed.is_none() {
        (joined.directed, joined.directed_by) = (facts.directed, facts.directed_by.clone());
    }
    if facts.rows != joined.rows {
        let found = facts.rows.map_or("no number of rows".to_owned(), |rows| format!("{rows} rows"));
        return Err(differs("number of rows", found));
    }
    if (&facts.sides, facts.sides_are_matrix) != (&joined.sides, joined.sides_are_matrix) {
        let is_count = facts.sides.is_some() != joined.sides.is_some();
        let error = differs(if is_count { "number of sides" } else { "kind of sides" }, sides(facts));
        return Err(if is_count { error.advise("say --bipartite") } else { error });
    }
    if facts.weights.is_some() != joined.weights.is_some() || facts.is_complex != joined.is_complex {
        let [expected, found] = [(&*joined, facts), (facts, joined)].map(|(one, other)| weights_beside(one, other));
        let error = Error::input(name, None, format!("{expected}, as in {}", first.display()), found);
        return Err(match joined.weights.as_ref().xor(facts.weights.as_ref()) {
            Some(name) => error.advise(weights_advice(name)),
            None => error.advise("import the files one by one"),
        });
    }
    join_vertex_attributes(joined, facts, [first, name])?;
    check_columns(joined, facts, [first, name], is_same_format)?;
    if let (Some(one), Some(other)) = (&facts.text, &joined.text)
        && let Some((what, found)) = differing_text(one, other)
    {
        return Err(differs(what, found));
    }
    add(joined, facts);
    Ok(())
}

/// Advice where ids of two inputs are of two kinds.
fn ids_advice(joined: &Facts, facts: &Facts) -> &'static str {
    let are = |is: &dyn Fn(&Facts) -> bool| is(joined) || is(facts);
    match () {
        () if are(&|facts| facts.format == "image") => {
            "an image keeps the kind of its ids: import its files again, with ids of the same kind as in the others"
        }
        () if are(&|facts| is_table(facts.format)) => {
            "cast the columns of ids to one type, strings or integers, in all files"
        }
        () => "say --ids string",
    }
}

/// Refuses an input with other columns than those that were read before, where both have `names`.
fn check_columns(joined: &Facts, facts: &Facts, [first, name]: [&Path; 2], have_names: bool) -> Result<()> {
    let (Some(expected), Some(found)) = (columns_of(joined), columns_of(facts)) else { return Ok(()) };
    if !have_names || joined.format != facts.format || expected.eq_ignore_ascii_case(&found) {
        return Ok(());
    }
    let expected = format!("the columns {expected}, as in {}", first.display());
    Err(Error::input(name, None, expected, format!("the columns {found}"))
        .advise("import the files one by one, or rename the columns"))
}

/// The first difference between the forms of two text files, and its value in the first of them.
fn differing_text(one: &TextFacts, other: &TextFacts) -> Option<(&'static str, String)> {
    let parts = [
        ("separator", one.separator != other.separator, one.separator.to_string()),
        ("header", one.header != other.header, (if one.header { "a header" } else { "no header" }).to_owned()),
        ("number of columns", one.columns != other.columns && !one.header, one.columns.to_string()),
        (
            "column of weights",
            one.weight_column != other.weight_column && !one.header,
            one.weight_column.map_or("no column of weights".to_owned(), |column| format!("column {column}")),
        ),
    ];
    parts.into_iter().find(|(_, differs, _)| *differs).map(|(what, _, value)| (what, value))
}

/// Adds what another input says where both may say something.
fn add(joined: &mut Facts, facts: &Facts) {
    joined.id_type = joined.id_type.common(facts.id_type);
    joined.is_id_type_fixed |= facts.is_id_type_fixed;
    joined.sides_are_integers &= facts.sides_are_integers;
    joined.has_real_weights |= facts.has_real_weights;
    joined.keeps_parallel |= facts.keeps_parallel;
    joined.declared = hull(joined.declared, facts.declared);
    joined.input_bytes = joined.input_bytes.zip(facts.input_bytes).map(|(a, b)| a.saturating_add(b));
    joined.edges = joined.edges.zip(facts.edges).and_then(|(a, b)| a.checked_add(b));
    joined.sampled = SampledFiles::default();
    joined.block_bytes = joined.block_bytes.max(facts.block_bytes);
    joined.longest_line_bytes = joined.longest_line_bytes.max(facts.longest_line_bytes);
    joined.unread.add(&facts.unread);
    joined.unmet.extend(facts.unmet.iter().cloned());
    joined.unmet_vertices += facts.unmet_vertices;
}

impl Facts {
    /// The notes without that on columns that are not read.
    fn other_notes(&self) -> impl Iterator<Item = String> {
        let unread = self.unread.note();
        self.notes.iter().filter(move |note| unread.as_ref() != Some(note)).cloned()
    }
}

/// Most notes of several inputs: each may have some.
const MOST_NOTES: usize = 20;

/// Different notes of several inputs, of which only the first are given where there are many, and the number of others.
fn bounded(notes: impl Iterator<Item = String>) -> Vec<String> {
    let (mut first, mut all) = (Vec::new(), HashSet::new());
    for note in notes {
        if all.insert(note.clone()) && first.len() < MOST_NOTES {
            first.push(note);
        }
    }
    let more = all.len() - first.len();
    first.extend((more > 0).then(|| format!("There are {more} more notes on other inputs.")));
    first
}

/// Combines the attributes of vertices of two inputs, of which one may have none.
fn join_vertex_attributes(joined: &mut Facts, facts: &Facts, [first, name]: [&Path; 2]) -> Result<()> {
    if joined.vertex_attributes.is_empty() {
        joined.vertex_attributes.clone_from(&facts.vertex_attributes);
    }
    let (expected, found) = (&joined.vertex_attributes, &facts.vertex_attributes);
    if expected == found || found.is_empty() {
        return Ok(());
    }
    let expected = format!("{}, as in {}", listed(expected), first.display());
    Err(Error::input(name, None, expected, listed(found))
        .advise("import the files one by one, or bring the attributes of vertices into one form"))
}

/// Refuses an attribute of an image that a file beside it has in a column that is not read.
fn check_kept(inputs: &[(&Path, &Facts)]) -> Result<()> {
    for (image, of_image) in inputs.iter().filter(|(_, facts)| facts.format == "image") {
        let is_kept = |name: &String| of_image.attributes.iter().any(|field| field.name == *name);
        for (path, facts) in inputs {
            if let Some(name) = facts.unread.names.iter().find(|name| is_kept(name)) {
                let expected = format!("the attribute `{name}`, as in {}", image.display());
                return Err(Error::input(*path, None, expected, "a column of that name that is not read").advise(
                    "an image keeps all of its attributes, and a file those that are asked for: say --attributes all, or \
                     name those that are to stay",
                ));
            }
        }
    }
    Ok(())
}

fn direction(facts: &Facts) -> &'static str {
    match facts.directed {
        Some(true) => "directed edges",
        Some(false) => "undirected edges",
        None => "edges without a stated direction",
    }
}

fn sides(facts: &Facts) -> String {
    match &facts.sides {
        None => "one side".to_owned(),
        Some(_) if facts.sides_are_matrix => "the rows and columns of a matrix".to_owned(),
        Some([left, right]) => format!("two sides of a graph, `{left}` and `{right}`"),
    }
}

/// Advice where only some inputs have weights of this name.
fn weights_advice(name: &str) -> String {
    format!("if the other inputs have such a column, say --weight '{name}'; if weights are to go, --weight none")
}

/// The weights of an input, as they differ from those of another.
fn weights_beside(facts: &Facts, other: &Facts) -> String {
    match (&facts.weights, &other.weights) {
        (None, _) => "no weights".to_owned(),
        (Some(name), None) => format!("weights, `{name}`"),
        (Some(_), Some(_)) if facts.is_complex => "complex weights".to_owned(),
        (Some(_), Some(_)) => "real weights".to_owned(),
    }
}

fn listed(attributes: &[AttributeField]) -> String {
    let all: Vec<String> = attributes.iter().map(|field| format!("{} ({})", field.name, field.kind.name())).collect();
    if all.is_empty() { "no attributes".to_owned() } else { format!("the attributes {}", all.join(", ")) }
}

/// The columns taken as source, target and weight, where they have names.
fn columns_of(facts: &Facts) -> Option<String> {
    let [source, target] = facts.ends.as_ref()?;
    let weight = facts.weights.as_ref().map_or(String::new(), |weight| format!(", {weight}"));
    Some(format!("{source}, {target}{weight}"))
}

/// Opens one source after the other, until there is none.
type OpenNext = Box<dyn FnMut() -> Option<Result<Source>> + Send>;

struct Chain {
    /// Names of the inputs; none if the first is the edges of the other.
    names: Vec<PathBuf>,
    open: OpenNext,
    /// Nothing at the end of the last one.
    current: Option<Source>,
    place: usize,
    first_sequence: u64,
    blocks_of_current: u64,
    bytes_before: u64,
    declared: Option<(u64, u64)>,
    /// Notes of the inputs that were read, each behind the name of its input.
    late_notes: Vec<(String, LateNote)>,
    parser: Arc<ChainParser>,
}

impl Chain {
    fn source(first: Source, names: Vec<PathBuf>, facts: Facts, open: OpenNext) -> Source {
        let parts = Mutex::new(vec![(0, first.parser())]);
        let counted = if names.is_empty() { 1 } else { usize::MAX };
        let parser = Arc::new(ChainParser { parts, first: first.parser(), counted, begin: AtomicU64::new(0) });
        let chain = Chain {
            names,
            open,
            current: Some(first),
            place: 0,
            first_sequence: 0,
            blocks_of_current: 0,
            bytes_before: 0,
            declared: None,
            late_notes: Vec::new(),
            parser: Arc::clone(&parser),
        };
        Source::new(facts, parser, chain)
    }
}

impl ReadBlocks for Chain {
    fn next_block(&mut self) -> Result<Option<Block>> {
        while let Some(current) = &mut self.current {
            if let Some(mut block) = current.next_block()? {
                self.blocks_of_current += block.parts_count();
                block.sequence += self.first_sequence;
                block.input_bytes += self.bytes_before;
                return Ok(Some(block));
            }
            let Some(current) = self.current.take() else { break };
            self.declared = hull(self.declared, current.declared());
            let name = self.names.get(self.place).map_or(String::new(), |path| format!("{}: ", path.display()));
            self.bytes_before += current.facts().input_bytes.unwrap_or(0);
            // It gives its memory back before the next one is opened.
            self.late_notes.extend(current.into_late_notes().into_iter().map(|note| (name.clone(), note)));
            self.place += 1;
            self.first_sequence += self.blocks_of_current;
            self.blocks_of_current = 0;
            if let Some(mut next) = (self.open)().transpose()? {
                next.begin_at(self.parser.begin.load(Ordering::Relaxed) + self.first_sequence);
                let part = (self.first_sequence, next.parser());
                lock(&self.parser.parts).push(part);
                self.current = Some(next);
            }
        }
        Ok(None)
    }

    fn begin_at(&mut self, sequence: u64) {
        self.parser.begin.store(sequence, Ordering::Relaxed);
        if let Some(first) = &mut self.current {
            first.begin_at(sequence);
        }
    }

    fn declared(&self) -> Option<(u64, u64)> {
        self.declared
    }

    fn late_notes(&self) -> Vec<String> {
        bounded(self.late_notes.iter().filter_map(|(name, note)| Some(format!("{name}{}", note()?))))
    }
}

struct ChainParser {
    /// The first block's number of every input that has been started, and its parser.
    parts: Mutex<Vec<(u64, Arc<dyn Parser>)>>,
    first: Arc<dyn Parser>,
    /// Number of inputs whose comments and rows left out count.
    counted: usize,
    begin: AtomicU64,
}

impl ChainParser {
    /// The parser of the block with this number.
    fn parser_of(&self, sequence: u64) -> Arc<dyn Parser> {
        let parts = lock(&self.parts);
        // The first entry is 0, so there is always one at or below.
        let own = sequence - self.begin.load(Ordering::Relaxed);
        let place = parts.partition_point(|(first, _)| *first <= own) - 1;
        parts[place].1.clone()
    }
}

impl Parser for ChainParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        self.parser_of(block.sequence).parse(block, batch, take)
    }

    fn path(&self) -> &Path {
        self.first.path()
    }

    fn path_of(&self, sequence: u64) -> PathBuf {
        self.parser_of(sequence).path_of(sequence)
    }

    fn comments(&self) -> (u64, Option<String>) {
        let parts = lock(&self.parts);
        let all: Vec<_> = parts.iter().take(self.counted).map(|(_, parser)| parser.comments()).collect();
        (all.iter().map(|(count, _)| count).sum(), all.into_iter().find_map(|(_, first)| first))
    }

    fn no_weight(&self, sequence: u64, record: u64) -> Error {
        self.parser_of(sequence).no_weight(sequence, record)
    }

    fn check(&self) -> Result<()> {
        lock(&self.parts).iter().try_for_each(|(_, parser)| parser.check())
    }

    fn left_out(&self) -> u64 {
        lock(&self.parts).iter().take(self.counted).map(|(_, parser)| parser.left_out()).sum()
    }
}
