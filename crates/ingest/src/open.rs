//! Opens inputs: the files that names stand for, each in its format, as one source.
//!
//! The source is wrapped here for all formats alike: partitions in names of folders, conditions, and the two sides of a
//! bipartite graph.

use crate::batch::{EdgeBatch, FileCounts, IdKind, InputOptions, Source};
use crate::bipartite::with_sides;
use crate::chain;
use crate::conditions::{in_named_order, with_conditions};
use crate::format::Format;
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::input::folders::{expand, listed_files};
use crate::input::partitions::Partitions;
use crate::input_sample::SampledFiles;
use crate::recognise::{self, LOOKED_AT_BYTES};
use crate::text::vertex_lines;
use crate::vertices::with_vertices;
use outcore_image::{Error, Result};
use outcore_io::{Budget, Runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory limit for reading an input that is given as bytes in memory.
const MOST_MEMORY_BYTES: u64 = 1 << 30;

/// Opens inputs of one format, which together are one graph in the order given. A folder or a pattern of names stands
/// for its files in sorted order.
///
/// Reads the first megabyte of each to find out what it is; nothing of the rest. What reading takes beside blocks of
/// text, now and later, is counted in the runtime's budget.
pub fn open(runtime: &Runtime, paths: &[PathBuf], options: &InputOptions) -> Result<Source> {
    let mut files = expand(runtime.backend(), paths, options.allow_repeated)?;
    let (partitions, beside) = Partitions::of(&files.paths, options)?;
    let (count, first) = (files.paths.len(), files.paths.first().cloned());
    let no_data = files.note();
    let is_read = |file: &PathBuf| partitions.is_read(file, options);
    files.left_out.extend(files.paths.iter().filter(|file| !is_read(file)).cloned());
    files.paths.retain(is_read);
    let unread = count - files.paths.len();
    if files.paths.is_empty() {
        // It tells what there is, though none of its rows is read.
        files.paths.extend(first);
    }
    let mut source = open_all(runtime, &files.paths, &beside, &partitions)?;
    check_declared(&source, &files.paths[0])?;
    partitions.check_ends(&source)?;
    note_files(&mut source, &files.paths);
    let source = in_named_order(with_conditions(source, options)?, &options.attributes);
    let mut source = with_sides(source, options)?;
    if unread > 0 {
        let note = format!("Files in folders that do not meet --where, which were left out: {unread} of {count}.");
        source.facts.notes.push(note);
    }
    source.facts.notes.extend(no_data);
    if !options.of_vertices {
        source.facts.sampled = SampledFiles::new(&files.paths, partitions, [options.clone(), beside]);
    }
    source.facts.files = files;
    source.facts.given.set_all(options);
    source.with_id_type(options.ids)
}

/// Adds notes on files that say something unusual, once all are read.
fn note_files(source: &mut Source, files: &[PathBuf]) {
    let counts = source.facts.counts.clone();
    if counts.len() != files.len() {
        return;
    }
    let (files, is_list) = (files.to_vec(), Format::named(source.facts.format).is_ok_and(Format::is_list_in_text));
    let of = |files: Vec<&PathBuf>| files.into_iter().cloned().collect::<Vec<_>>();
    let (named, all) = (files.clone(), counts.clone());
    source.note_late(move || {
        let without = named.iter().zip(&all).filter(|(_, counts)| counts.edges() == 0).map(|(file, _)| file);
        let without = of(without.collect());
        let text = format!("Files without edges: {} of {}: {}.", without.len(), named.len(), listed_files(&without));
        (!without.is_empty() && without.len() < named.len()).then_some(text)
    });
    source.note_late(move || {
        let lacks_end = |counts: &FileCounts| is_list && counts.lacks_end.load(Ordering::Relaxed);
        let cut = of(files.iter().zip(&counts).filter(|(_, counts)| lacks_end(counts)).map(|(file, _)| file).collect());
        let text = format!(
            "Files whose last line has no end of line, as where a file is cut off: {} of {}: {}.",
            cut.len(),
            files.len(),
            listed_files(&cut)
        );
        (!cut.is_empty()).then_some(text)
    });
}

/// Vertices that a header may declare of a file of any size.
const MOST_UNPROVED: u64 = 1 << 22;
/// Vertices that a header may declare for each byte of the file.
const MOST_PER_BYTE: u64 = 1000;
/// Largest ratio of text to its compressed form that is assumed.
const MOST_COMPRESSION: u64 = 64;

/// Refuses a file that declares a thousand times more vertices than it has bytes: a number in it is wrong.
fn check_declared(source: &Source, path: &Path) -> Result<()> {
    let (facts, most_compression) = (source.facts(), source.facts().compression.map_or(1, |_| MOST_COMPRESSION));
    let Some((declared, bytes)) = facts.declared.map(|(_, count)| count).zip(facts.input_bytes) else { return Ok(()) };
    let most = bytes.saturating_mul(most_compression).saturating_mul(MOST_PER_BYTE).max(MOST_UNPROVED);
    if declared <= most {
        return Ok(());
    }
    let (expected, found) =
        (format!("at most {most} vertices in a file of {bytes} bytes"), format!("{declared} declared"));
    Err(Error::input(path, None, expected, found)
        .advise("correct the size line; if the matrix is that empty, import its entries as a list of edges"))
}

fn open_all(runtime: &Runtime, paths: &[PathBuf], options: &InputOptions, partitions: &Partitions) -> Result<Source> {
    let Some(first) = paths.first() else {
        return Err(Error::Usage("expected at least one input file, found none".to_owned()));
    };
    let context = InputContext::of(runtime);
    let first = Input::file(first, &context)?;
    if paths.len() == 1 {
        // A pipe can be read only once, so what is peeked at stays with the source.
        let format = Format::of(&first, options)?;
        return Ok(partitions.add_to(counted(format.open(&first, options)?, &first), first.path()));
    }
    let mut inputs = Vec::with_capacity(paths.len());
    let mut formats = Vec::with_capacity(paths.len());
    for path in paths {
        let input = Input::file(path, &context)?;
        formats.push(Format::of(&input, options)?);
        inputs.push(input);
    }
    let format = formats[0];
    if let Some(place) = formats.iter().position(|other| other.name != format.name) {
        return Err(Error::input(
            inputs[place].path(),
            None,
            format!("the format of {}, {}", inputs[0].path().display(), format.name),
            formats[place].name,
        )
        .advise("give inputs of one format, or name it with --format"));
    }
    if format.is_pair && inputs.len() == 2 && is_same_graph(&inputs[0], &inputs[1]) {
        return format.open(&inputs[0], options);
    }
    if !format.lists {
        return Err(Error::Usage(format!(
            "expected one input of format {}, found {}: each holds a whole graph",
            format.name,
            inputs.len()
        )));
    }
    chain::open(inputs, format, options, partitions)
}

/// Counts the edges of a file.
pub(crate) fn counted(mut source: Source, input: &Input) -> Source {
    let counts = Arc::clone(input.counts());
    source.facts.counts = vec![Arc::clone(&counts)];
    source.map(move |batch, _| {
        counts.edges.fetch_add(batch.ids.len() as u64 / 2, Ordering::Relaxed);
        Ok(())
    });
    source
}

/// Adds the ids in the first column of a table in a file, with its other columns as attributes.
///
/// # Errors
/// As for [`open`] and [`with_vertices`].
pub fn with_vertex_table(runtime: &Runtime, source: Source, table: &Path, options: &InputOptions) -> Result<Source> {
    let of_vertices = || InputOptions { of_vertices: true, nulls: options.nulls, ..InputOptions::default() };
    // In text nothing but the number tells that it is one.
    let ids = if source.facts().string_ids { IdKind::String } else { IdKind::Auto };
    let of_text = InputOptions { delimiter: options.delimiter.clone(), header: options.header, ids, ..of_vertices() };
    let path = [table.to_owned()];
    let mut opened = match open(runtime, &path, &of_text) {
        // Columns of tables have types, which ids are not made of.
        Err(_) if ids == IdKind::String => {
            open(runtime, &path, &of_vertices()).or_else(|_| open(runtime, &path, &of_text))
        }
        opened => opened,
    }?;
    let (has_rows, name) = (Arc::new(AtomicBool::new(false)), table.display().to_string());
    let (seen, called) = (Arc::clone(&has_rows), name.clone());
    opened.map(move |batch, _| {
        seen.fetch_or(!batch.ids.is_empty(), Ordering::Relaxed);
        Ok(())
    });
    opened.note_late(move || {
        (!has_rows.load(Ordering::Relaxed)).then(|| format!("{called}: the table of vertices has no rows.")) //
    });
    let mut source = with_vertices(source, opened, &name)?;
    source.facts.given.set("vertex_table", name);
    Ok(source)
}

/// Visits the ids of a list of vertices in a file, as text, with their lines where it is text: one id a line, as in a
/// file of vertices beside edges; or a table whose column `vertex` comes first, as results are written, or one in
/// Parquet or Arrow with ids in the first column.
///
/// # Errors
/// A file that cannot be read, or is none of these; an error of `visit`.
pub fn each_vertex_id(
    runtime: &Runtime,
    file: &Path,
    visit: &mut dyn FnMut(&str, Option<u64>) -> Result<()>,
) -> Result<()> {
    let input = Input::file(file, &InputContext::of(runtime))?;
    let start = input.start(LOOKED_AT_BYTES)?;
    let is_text = recognise::by_magic(&start).is_none();
    if is_text && !vertex_lines::begins_table(&start) {
        return vertex_lines::each_id(&input, &mut |id, line| visit(id, Some(line)));
    }
    let mut options = InputOptions { of_vertices: true, ..InputOptions::default() };
    if is_text {
        options = InputOptions { format: Some("edge-list".into()), ids: IdKind::String, header: Some(true), ..options };
    }
    let mut source = Format::of(&input, &options)?.open(&input, &options)?;
    let (parser, mut batch) = (source.parser(), EdgeBatch::new(source.facts().string_ids));
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            batch.clear();
            parser.parse(&part?, &mut batch, &mut |batch| {
                batch.ids.each_loop(|id| visit(id, None))?;
                batch.clear();
                Ok(())
            })?;
            batch.ids.each_loop(|id| visit(id, None))?;
        }
    }
    Ok(())
}

pub(crate) fn open_memory(format: &str, bytes: &[u8], options: &InputOptions) -> Result<Source> {
    let format = Format::named(format)?;
    let budget = Arc::new(Budget::new(MOST_MEMORY_BYTES, 0)?);
    let input = Input::memory(format.name, bytes, &InputContext::new(&budget, 1)).with_member()?;
    format.check(&input, &input.start(LOOKED_AT_BYTES)?)?;
    with_sides(with_conditions(format.open(&input, options)?, options)?, options)
}

/// The number of edges that bytes in memory have as an input of a format; for tests and fuzzers.
#[doc(hidden)]
pub fn count_edges(format: &str, bytes: &[u8], options: &InputOptions) -> Result<u64> {
    let mut source = open_memory(format, bytes, options)?;
    let parser = source.parser();
    let mut batch = EdgeBatch::new(false);
    let mut edges = 0;
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            batch.clear();
            parser.parse(&part?, &mut batch, &mut |batch| {
                edges += batch.ids.len() as u64 / 2;
                batch.clear();
                Ok(())
            })?;
        }
    }
    Ok(edges)
}

/// Whether two names differ in `.v` and `.e` only.
fn is_same_graph(a: &Input, b: &Input) -> bool {
    let stem = |input: &Input| {
        let name = input.plain_name();
        input.path().with_file_name(&name[..name.len().saturating_sub(2)])
    };
    let is_pair = a.plain_name() != b.plain_name();
    is_pair && stem(a) == stem(b)
}
