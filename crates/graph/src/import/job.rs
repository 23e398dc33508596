//! An import, step by step.

use super::attributes::{Attributes, AttributesMemory, Owner, StoredAttributes, check_names};
use super::edges::{edge_words, freed_bytes};
use super::encode::{Beside, Encoding, ListStats};
use super::estimate::{self, Announced};
use super::id_column::{IdWriting, WrittenIds};
use super::ids::runs::{Locals, MergePlan, Numbers, Run, RunId, RunWriter, Vertices, merge_all, too_many_vertices};
use super::lists::{Writing, Written};
use super::names::restore_names;
use super::near;
use super::options::{
    Duplicates, ImportOptions, ImportReport, ImportStats, OrderChoice, SelfLoops, check_complex, check_rectangular,
    check_sides_of_matrix,
};
use super::order::{Classes, Cutter};
use super::partition::Layout;
use super::places;
use super::read::{Chunk, Input, ReadEdge, read};
use super::sample::Sample;
use super::sides;
use super::summary::{given_options, name_of, of_files, times_of_files};
use super::translate::{Partitioned, Translation, table_bytes};
use outcore_format::{
    FORMAT_NAME, FORMAT_VERSION, IdColumn, ImportFacts, ListFile, MAX_VERTICES, Manifest, Order, ValueColumn, ValueType,
};
use outcore_image::{Error, GRAPH_FOLDERS, ImageFile, MANIFEST, Places, Result, Workspace, write_member};
use outcore_ingest::{Choice, Facts, Plan, Source, is_document, mix};
use outcore_io::backend::{FileKind, Location};
use outcore_io::{
    Backend, Buffer, Chain, Runtime, Spill, SpillReader, Streams, escaped, peak_memory_bytes, trim_freed_memory,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// The column of the imaginary parts of complex weights.
const IMAGINARY_NAME: &str = "imaginary";

const NO_IMAGE: &str = "no image was made or replaced";

/// An import on its way.
pub(super) struct Job<'a> {
    pub runtime: &'a Runtime,
    pub options: &'a ImportOptions,
    directed: bool,
    /// Edges without direction go in both directions, since the user wants directions.
    pub mirrored: bool,
    /// Number of vertices that are rows of a rectangular matrix, if it is one.
    pub rows: Option<u64>,
    pub facts: Facts,
    /// When the first of the files were last written to, before they are read.
    modified: Option<Vec<Option<String>>>,
    /// There is an image of that name already.
    replaces: bool,
    pub plan: Plan,
    /// A number that ties the files of the image together: the same for the same graph and options. 0 until all edges
    /// are distributed.
    pub image_id: u64,
    /// The attributes of edges and of vertices.
    pub attributes: [Option<Attributes>; 2],
    pub workspace: Workspace,
    /// Bytes of edges, as they were read, in temporary files.
    pub edge_bytes: AtomicU64,
    stats: ImportStats,
    start: Instant,
    step: Instant,
}

/// The merged vertices, and facts about them.
struct Merged {
    vertices: Vertices,
    classes: Classes,
    isolated: u64,
    /// The least id, as it sorts, if all ids are consecutive integers.
    consecutive_from: Option<u64>,
    /// The least and the greatest id, where there are some that are integers.
    ends: Option<[i128; 2]>,
    /// A number that depends on all ids and on nothing else.
    fingerprint: u64,
}

/// The vertices' numbers and the layouts that follow from them.
struct Numbered {
    numbers: Numbers,
    order: Order,
    /// The numbers of the vertices in the order of their ids, one word each, where the order is near.
    near: Option<Spill>,
    /// The layout of the out-lists, and that of the in-lists where edges have a direction.
    layouts: Vec<Layout>,
    /// Number of words of the blocks of partitions.
    block_words: usize,
}

impl<'a> Job<'a> {
    pub(super) fn new(runtime: &'a Runtime, facts: Facts, image: &Path, options: &'a ImportOptions) -> Result<Self> {
        let mut facts = facts;
        restore_names(&mut facts, &mut outcore_ingest::Attributes::None);
        let mirrored = facts.directed == Some(false) && options.directed == Some(true);
        let (rows, directed) = (options.rows.or(facts.rows), options.directed.or(facts.directed).unwrap_or(true));
        check_sides_of_matrix(&facts, options.order)?;
        check_rectangular(rows.or(facts.sides_are_matrix.then_some(0)), directed, options.order)?;
        check_complex(&facts, options.duplicates)?;
        sides::check(&facts)?;
        check_names(&facts)?;
        let announced = Announced::new(runtime, &facts, options);
        let attributes_memory = AttributesMemory::reserve(runtime, &facts)?;
        let plan = estimate::plan(runtime, &facts, image)?;
        let places = Places::new(runtime, image, options.replace)?;
        let replaces = runtime.backend().named(image).is_some();
        if let Some((_, vertices)) = facts.declared.filter(|&(_, vertices)| vertices > MAX_VERTICES) {
            return Err(too_many_vertices(vertices.to_string()));
        }
        announced.check_space(runtime, [places.temporary(), places.folder()])?;
        let workspace = Workspace::create(runtime, places)?;
        let attributes = attributes_memory.attributes(runtime, &workspace, &facts)?;
        Ok(Job {
            runtime,
            options,
            directed,
            mirrored,
            rows,
            modified: times_of_files(runtime.backend(), &facts.files),
            facts,
            replaces,
            plan,
            image_id: 0,
            attributes,
            workspace,
            edge_bytes: AtomicU64::new(0),
            stats: ImportStats { memory_limit_bytes: runtime.budget().limit_bytes(), ..ImportStats::default() },
            start: Instant::now(),
            step: Instant::now(),
        })
    }

    pub(super) fn run(self, source: Source) -> Result<ImportReport> {
        if self.facts.string_ids { self.run_with::<Vec<u8>>(source) } else { self.run_with::<u64>(source) }
    }

    fn run_with<K: RunId>(mut self, source: Source) -> Result<ImportReport> {
        let mut input = read(&self, source)?;
        let Facts { files, counts, .. } = &mut self.facts;
        if counts.len() == files.paths.len() {
            files.edges = counts.iter().map(|counts| counts.edges()).collect();
        }
        self.check_rows(&input)?;
        self.stats.read_seconds = self.lap();
        self.stats.chunks = input.chunks.len() as u64;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.iter_mut().flatten().try_for_each(|attributes| attributes.number_strings(&self))?;
        self.attributes = attributes;
        trim_freed_memory();
        let mut merged = self.merge::<K>(&input)?;
        self.check_id_type(merged.ends)?;
        trim_freed_memory();
        let numbered = self.number::<K>(&mut input, &mut merged)?;
        self.stats.number_seconds = self.lap();
        let weights = self.weight_type(&input);
        let mut partitioned = self.translate(&mut input, &numbered, &merged, weights)?;
        self.stats.translate_seconds = self.lap();
        self.image_id = self.image_id(&merged, &partitioned, numbered.order, weights);
        let mut written = Vec::new();
        // The records of a direction go with its turn, so that they take no space beside the lists of the other one.
        for (side, records) in std::mem::take(&mut partitioned.directions).into_iter().enumerate() {
            let lists = self.lists(side, &numbered, &records, weights)?;
            self.check_lists::<K>(&lists, &merged, &numbered)?;
            written.push(lists);
        }
        self.stats.lists_seconds = self.lap();
        let slot_starts = merged.classes.starts();
        let writing = IdWriting {
            job: &self,
            vertices: &merged.vertices,
            near: numbered.near.as_ref(),
            order: numbered.order,
            slot_starts: &slot_starts,
        };
        let WrittenIds { column, sides, ends } = match self.facts.string_ids {
            true => writing.strings()?,
            false => {
                let column = writing.integers(merged.consecutive_from)?;
                WrittenIds { column, sides: None, ends: merged.ends }
            }
        };
        let mut manifest = self.manifest(&input, &merged, &written, column, weights, numbered.order);
        self.check_id_type(ends)?;
        manifest.id_type = self.id_type(ends);
        if let Some((StoredAttributes { values, attributes }, sources)) = sides {
            (manifest.vertex_values, manifest.vertex_attributes) = (values, attributes);
            // The ids of rows sort first, and so they are numbered.
            manifest.rows = manifest.rows.or(self.facts.sides_are_matrix.then_some(sources));
        }
        let notes = self.notes(&mut input, &written[0].stats);
        let mut first_edges = input.first_edges.take().map_or(Vec::new(), |(_, edges)| edges);
        if let Some(rows) = manifest.rows {
            first_edges.iter_mut().for_each(|entry| entry.count_column_from(rows));
        }
        drop((merged, numbered, input));
        self.write_attributes(&mut manifest, partitioned.vertex_places)?;
        self.finish(manifest, first_edges, notes)
    }

    /// Refuses an input with too few edges; without edges from a pipe, or where an image is to be replaced.
    fn check_rows(&self, input: &Input) -> Result<()> {
        let (least, read) = (self.options.require_edges, input.edges_read);
        if read < least {
            let expected = format!("at least {least} edges, as --require-edges says");
            return Err(self.refused(expected, read.to_string(), NO_IMAGE));
        }
        let empty: Vec<&PathBuf> = self.facts.files.without_edges().collect();
        let refuses_empty = self.options.refuse_empty_files && self.facts.files.paths.len() > 1;
        if let (true, [first, ..]) = (refuses_empty, &empty[..]) {
            let found = format!("none in {} of {} files", empty.len(), self.facts.files.paths.len());
            return Err(
                Error::input(*first, None, "edges in every file, as --refuse-empty-files says", found).advise(NO_IMAGE)
            );
        }
        if input.edges > 0 || self.options.allow_empty {
            return Ok(());
        }
        let advice = format!("{NO_IMAGE}: say --allow-empty if it is to be empty");
        if self.facts.unmet_vertices > 0 {
            let found = format!("none among {}", self.facts.unmet_vertices);
            return Err(self.refused("vertices that meet --where", found, advice));
        }
        let unmet = self.facts.edges_unmet();
        if unmet > 0 {
            return Err(self.refused("edges that meet --where", format!("none among {unmet} that were read"), advice));
        }
        let (where_from, advice) = match (self.replaces, self.facts.is_pipe) {
            (true, _) => {
                (", since there is an image of that name", "replace it by an empty one; the image stays as it is")
            }
            (false, true) => (" from a pipe", "take none; what writes it may have failed"),
            (false, false) => return Ok(()),
        };
        let advice = format!("say --allow-empty to {advice}");
        Err(self.refused(format!("an input with edges{where_from}"), "none", advice))
    }

    /// The refusal of an input for what only all of it shows.
    pub(super) fn refused(
        &self,
        expected: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Error {
        Error::input(name_of(&self.facts), None, expected, found).advise(advice)
    }

    /// How the input was read.
    fn import_facts(&self, input: &Input, merged: &Merged, written: &Written) -> ImportFacts {
        let Facts { text, ends, .. } = &self.facts;
        ImportFacts {
            input_format: self.facts.format.into(),
            edges_read: input.edges_read,
            duplicates: written.stats.duplicates,
            duplicates_policy: self.options.duplicates.name().into(),
            self_loops: input.self_loops,
            self_loops_kept: self.options.self_loops == SelfLoops::Keep,
            self_loops_stored: Some(written.stats.self_loops),
            isolated_vertices: merged.isolated,
            compression: self.facts.compression.map(str::to_owned),
            separator: text.as_ref().map(|text| text.separator.clone()),
            header: text.as_ref().map(|text| text.header),
            source: ends.as_ref().map(|[source, _]| short(source)),
            target: ends.as_ref().map(|[_, target]| short(target)),
            direction_from: Some(self.direction_from()),
            comments: text.as_ref().map(|_| input.comments.0),
            first_comment: input.comments.1.clone(),
            rows_left_out: Some(input.rows_left_out),
            first_files_modified: self.modified.clone(),
            options: Some(given_options(&self.facts, self.options)),
            ..of_files(&self.facts)
        }
    }

    /// Notes for the user, now that the whole input was read.
    fn notes(&self, input: &mut Input, stats: &ListStats) -> Vec<String> {
        let leftover = |path: &PathBuf| format!("Removed {}, which a killed process had left.", path.display());
        let restored =
            |path: &PathBuf| format!("{} had no name since a killed process; it was put back.", path.display());
        let mut notes: Vec<String> = self.workspace.restored().iter().map(restored).collect();
        notes.extend(self.workspace.removed().iter().map(leftover));
        notes.extend_from_slice(&self.facts.notes);
        notes.append(&mut input.late_notes);
        notes.extend(self.duplicates_note(stats));
        if input.edges_read == 0 {
            notes.push("The input has no edges.".to_owned());
        }
        if self.mirrored {
            notes.push(
                "The input's edges have no direction: each was stored in both directions, as --directed asks.".into(),
            );
        }
        // Names of columns and files are part of some.
        notes.iter().map(|note| escaped(note).to_string()).collect()
    }

    /// A note on edges that were left out since others have their ends: where their weights or attributes go with them,
    /// and in formats of graphs, where they may be meant; in lists of edges they are common.
    fn duplicates_note(&self, &ListStats { duplicates, differing, .. }: &ListStats) -> Option<String> {
        let is_lossy = differing > 0 || self.attributes[0].is_some() || is_document(self.facts.format);
        let stays = match self.options.duplicates {
            Duplicates::First => "first",
            Duplicates::Last => "last",
            Duplicates::Sum | Duplicates::Min | Duplicates::Max if self.facts.weights.is_none() => {
                let name = self.options.duplicates.name();
                return (duplicates > 0).then(|| {
                    format!(
                        "Parallel edges have no weights for --duplicates {name}: one stays, and {duplicates} were left \
                         out. Say which column holds their weights, as in --weight NAME."
                    )
                });
            }
            Duplicates::Sum | Duplicates::Min | Duplicates::Max if self.attributes[0].is_some() => {
                return (duplicates > 0).then(|| {
                    format!(
                        "Of parallel edges one stays, with the attributes of the first: those of {duplicates} were left out. \
                         Say --duplicates keep for all of them."
                    )
                });
            }
            _ => return None,
        };
        if duplicates == 0 || !is_lossy {
            return None;
        }
        let weights = match (self.facts.weights.is_some(), differing) {
            (false, _) => String::new(),
            (true, 0) => ", with the same weight".to_owned(),
            (true, differing) => format!(", {differing} of them with another weight"),
        };
        Some(format!(
            "Of parallel edges only the {stays} stays: {duplicates} were left out{weights}. Say --duplicates keep for all of \
             them, or sum, min, max, first or last."
        ))
    }

    /// The origin of the choice whether edges have a direction: the user, the input, its format, or the default.
    fn direction_from(&self) -> String {
        match (self.options.directed, self.facts.directed, &self.facts.directed_by) {
            (Some(_), ..) => "the user".to_owned(),
            (None, Some(_), Some(what)) => what.clone(),
            (None, Some(_), None) => format!("the format, {}", self.facts.format),
            (None, None, _) => "the default".to_owned(),
        }
    }

    /// Seconds since the last call, between steps that hold nothing of each other's.
    fn lap(&mut self) -> f64 {
        // Thousands of runs leave small pieces behind: they would count beside the large ones of the next step.
        trim_freed_memory();
        let seconds = self.step.elapsed().as_secs_f64();
        self.step = Instant::now();
        seconds
    }

    pub(super) fn spill(&self, name: &str) -> Result<Spill> {
        Spill::create(self.runtime.backend(), &self.workspace.temporary(name))
    }

    /// Merges the runs of all dictionaries, and what the format declares, into the vertices.
    fn merge<K: RunId>(&self, input: &Input) -> Result<Merged> {
        let declared = input.declared.filter(|_| !self.facts.string_ids);
        let declared = declared.map(|(first, count)| self.declared_run(first, count, input.signed)).transpose()?;
        let runs = input.chunks.iter().map(|chunk| chunk.run.clone()).chain(declared);
        let plan = MergePlan {
            runs: Arc::new(self.spill("vertices")?),
            positions: self.spill("positions")?,
            memory_bytes: self.plan.memory_bytes,
            signed: input.signed,
            most: MAX_VERTICES,
        };
        let (mut classes, mut isolated, mut fingerprint) = (Classes::new(self.rows.unwrap_or(0)), 0, 0);
        let (mut count, mut first, mut last, mut gap) = (0u64, None, None, false);
        let vertices = merge_all::<K>(self.runtime, runs, plan, |id, sources, targets| {
            classes.add(sources + targets);
            isolated += u64::from(sources + targets == 0);
            fingerprint = id.fingerprint(fingerprint);
            (first, last) = (first.or(id.number()), id.number());
            gap |= id.number() != first.map(|first: u64| first.wrapping_add(count));
            count += 1;
            Ok(())
        })?;
        if let Some(rows) = self.rows.filter(|&rows| rows > count) {
            return Err(self.refused(format!("at least {rows} vertices, which are rows"), count.to_string(), ""));
        }
        let ends = first.zip(last).map(|(first, last)| [first, last].map(|id| vertices.integer(id)));
        Ok(Merged { vertices, classes, isolated, consecutive_from: first.filter(|_| !gap), ends, fingerprint })
    }

    /// A run of all integers in a range, none of them in an edge.
    fn declared_run(&self, first: u64, count: u64, signed: bool) -> Result<Run> {
        let most = if signed { i64::MAX as u64 } else { u64::MAX };
        if first > most - (count - 1) {
            let found = format!("a header that declares {count} from {first} on");
            return Err(self.refused(format!("vertices up to {most}"), found, "correct the header"));
        }
        let spill = Arc::new(self.spill("declared")?);
        let mut writer = RunWriter::new(self.runtime, &spill, self.plan.run_buffer_bytes)?;
        for id in first..=first + (count - 1) {
            writer.integer(id, 0, 0)?;
        }
        writer.finish(Locals::None)
    }

    /// Gives the vertices their numbers, chooses the order, and lays out partitions.
    fn number<K: RunId>(&self, input: &mut Input, merged: &mut Merged) -> Result<Numbered> {
        if self.options.order == OrderChoice::Near {
            self.plan.require(self.runtime, near::PURPOSE, near::needed_bytes(merged.vertices.count()))?;
        }
        let mut numbering = merged.classes.numbering();
        let mut pieces = merged.classes.pieces();
        let mut by_id = [Cutter::default(), Cutter::default()];
        let directed = self.directed;
        let mut numbers = merged.vertices.number::<K>(self.runtime, self.spill("numbers")?, |sources, targets| {
            let (degree_number, id_number) = numbering.next(sources + targets);
            pieces.add(sources, targets);
            let entries = if directed { [sources, targets] } else { [sources + targets, 0] };
            by_id.iter_mut().zip(entries).for_each(|(cutter, entries)| cutter.add(1, entries));
            Ok(u64::from(degree_number) << 32 | u64::from(id_number))
        })?;
        let sample = std::mem::take(&mut input.sample);
        let (order, near) = match self.options.order {
            OrderChoice::Input => (Order::Input, None),
            OrderChoice::Degree => (Order::Degree, None),
            OrderChoice::Near => (Order::Near, Some(self.near_numbers(&input.chunks, &numbers, merged)?)),
            OrderChoice::Auto if self.facts.sides_are_matrix => (Order::Input, None),
            OrderChoice::Auto => self.smallest_order(sample, &input.chunks, &numbers, merged)?,
        };
        let mut near_file = None;
        let cutters = match near {
            Some(near) => {
                let file = self.spill("near")?;
                let cutters = near::cut::<K>(self.runtime, &merged.vertices, directed, &near, &file)?;
                drop((near, numbers));
                numbers = self.number_near::<K>(merged, &file)?;
                near_file = Some(file);
                cutters
            }
            None if order == Order::Degree => {
                let mut cutters = [Cutter::default(), Cutter::default()];
                for (vertices, out, into) in pieces.iter() {
                    let entries = if directed { [out, into] } else { [out + into, 0] };
                    cutters.iter_mut().zip(entries).for_each(|(cutter, entries)| cutter.add(vertices, entries));
                }
                cutters
            }
            None => by_id,
        };
        let directions = if directed { 2 } else { 1 };
        let shares = self.plan.partitions(table_bytes(&input.chunks), directions as u64);
        let entries = if directed { input.edges } else { 2 * input.edges };
        let cutters = cutters.into_iter().take(directions);
        let layouts: Vec<Layout> =
            cutters.map(|cutter| Layout::new(cutter.finish(), 2 * entries / shares.most_partitions)).collect();
        let partitions: usize = layouts.iter().map(|layout| layout.partitions.len()).sum();
        let block_words = shares.block_words(partitions);
        Ok(Numbered { numbers, order, near: near_file, layouts, block_words })
    }

    /// The order in which lists are smallest, and the numbers that make it if it is near.
    fn smallest_order(
        &self,
        sample: Sample,
        chunks: &[Chunk],
        numbers: &Numbers,
        merged: &Merged,
    ) -> Result<(Order, Option<Buffer<u32>>)> {
        let lists = sample.lists(self.runtime, chunks, numbers, self.facts.string_ids, self.directed)?;
        let count = merged.vertices.count();
        let has_memory = near::needed_bytes(count) <= self.plan.memory_bytes;
        if self.rows.is_none() && has_memory && near::may_suit(&merged.classes, count) {
            let near = self.near_numbers(chunks, numbers, merged)?;
            // Integers that rise take a few bits in the id column; in another order they take as many as tell them
            // apart. Strings take the same.
            let id_bits = if self.facts.string_ids { 0 } else { u64::BITS - count.leading_zeros() };
            if lists.near_saves(&near, id_bits) {
                return Ok((Order::Near, Some(near)));
            }
        }
        Ok((lists.better_order(), None))
    }

    /// The place of every vertex in the order near, by its number by id.
    fn near_numbers(&self, chunks: &[Chunk], numbers: &Numbers, merged: &Merged) -> Result<Buffer<u32>> {
        let pairs = self.spill("pairs")?;
        near::write_pairs(self, chunks, numbers, &pairs)?;
        near::near_numbers(self.runtime, &pairs, merged.vertices.count())
    }

    /// Tells the dictionaries the numbers by degree and, instead of those by id, those in the order near.
    fn number_near<K: RunId>(&self, merged: &mut Merged, near: &Spill) -> Result<Numbers> {
        let mut numbering = merged.classes.numbering();
        let mut near = SpillReader::new(near, self.runtime.budget(), self.plan.run_buffer_bytes)?;
        merged.vertices.number::<K>(self.runtime, self.spill("numbers")?, |sources, targets| {
            let (degree_number, _) = numbering.next(sources + targets);
            Ok(u64::from(degree_number) << 32 | near.word()?)
        })
    }

    /// Number of words of an edge, see `edges.rs`.
    pub(super) fn edge_words(&self) -> usize {
        edge_words(&self.facts, self.options.duplicates)
    }

    fn weight_type(&self, input: &Input) -> Option<ValueType> {
        if self.facts.is_complex {
            return Some(ValueType::F64);
        }
        let sums = self.options.duplicates == Duplicates::Sum;
        self.facts.weights.as_ref().map(|_| input.weights.value_type(sums))
    }

    fn translate(
        &mut self,
        input: &mut Input,
        numbered: &Numbered,
        merged: &Merged,
        weights: Option<ValueType>,
    ) -> Result<Partitioned> {
        let dropped = if self.options.self_loops == SelfLoops::Drop { input.self_loops } else { 0 };
        let edges = input.edges - dropped;
        let edges_bytes = 8 * self.edge_words() as u64 * edges;
        let translation = Translation {
            job: self,
            order: numbered.order,
            slot_starts: merged.classes.starts(),
            numbers: &numbered.numbers,
            whole_weights: weights.map(|kind| !kind.is_real()),
            layouts: &numbered.layouts,
            freed_bytes: freed_bytes(edges_bytes),
        };
        // Now that the edges are counted, the space is known: edges as they were read go while entries come.
        let (text, directory) = (format!("{edges} edges"), self.workspace.temporary_directory());
        estimate::require_temporary(self.runtime.backend(), &text, edges_bytes, edges_bytes, directory)?;
        let paths = ["out-entries", "in-entries"].map(|name| self.workspace.temporary(name));
        let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).take(numbered.layouts.len()).collect();
        let chunks = std::mem::take(&mut input.chunks);
        let mut partitioned = translation.run(&chunks, &paths, numbered.block_words)?;
        if self.attributes[1].is_some() {
            let mut places =
                Buffer::zeroed(self.runtime.budget(), "rows of vertices", merged.vertices.count() as usize)?;
            let repeated = translation.vertex_places(&chunks, &mut places)?;
            partitioned.vertex_places = Some(places);
            if repeated > 0 {
                let text = "Of several rows with attributes of one vertex only the first counts: left out were";
                self.facts.notes.push(format!("{text} {repeated}."));
            }
        }
        self.stats.partitions = numbered.layouts.iter().map(|layout| layout.partitions.len() as u64).sum();
        Ok(partitioned)
    }

    fn image_id(&self, merged: &Merged, partitioned: &Partitioned, order: Order, weights: Option<ValueType>) -> u64 {
        let facts = [
            merged.vertices.count(),
            merged.fingerprint,
            partitioned.fingerprint,
            u64::from(self.directed),
            self.options.duplicates as u64,
            order as u64,
            weights.map_or(0, |kind| 1 + kind as u64),
        ];
        let complex = self.facts.is_complex.then_some(u64::MAX);
        let sides = self.facts.sides.is_some().then_some(u64::MAX - 1 - u64::from(self.facts.sides_are_matrix));
        let attributes = self.attributes.iter().flatten().map(Attributes::fingerprint);
        facts
            .into_iter()
            .chain(self.rows)
            .chain(complex)
            .chain(sides)
            .chain(attributes)
            .fold(u64::from(FORMAT_VERSION), |id, fact| mix(id.rotate_left(7) ^ fact))
    }

    fn lists(
        &self,
        side: usize,
        numbered: &Numbered,
        (streams, chains): &(Streams, Vec<Vec<Chain>>),
        weights: Option<ValueType>,
    ) -> Result<Written> {
        let [lists, degree, hub] = match side {
            0 => [ImageFile::OUT_LISTS, ImageFile::OUT_DEGREE, ImageFile::OUT_HUB],
            _ => [ImageFile::IN_LISTS, ImageFile::IN_DEGREE, ImageFile::IN_HUB],
        };
        let values = |column| ImageFile::values(column, side == 1);
        let beside = self.beside();
        let last = if beside == Some(Beside::Places) { places::file(side == 1) } else { values(1) };
        let files = [lists, degree, hub, values(0), last];
        let has_values = weights.is_some() || beside.is_some();
        if has_values && side == 0 {
            self.runtime.backend().create_directory(&self.workspace.partial().join("edges"))?;
        }
        let writing = Writing {
            job: self,
            encoding: Encoding {
                origins: files.map(|file| file.origin(self.image_id)),
                directed: self.directed,
                order: numbered.order,
                duplicates: self.options.duplicates,
                weights,
                beside,
            },
            layout: &numbered.layouts[side],
            streams,
            chains,
            files: files[..3]
                .iter()
                .chain(weights.map(|_| &files[3]))
                .chain(beside.map(|_| &files[4]))
                .copied()
                .collect(),
            entries: has_values.then_some([ImageFile::OUT_ENTRIES, ImageFile::IN_ENTRIES][side]),
        };
        match self.edge_words() {
            1 => writing.run::<u64>(),
            2 => writing.run::<[u64; 2]>(),
            3 => writing.run::<[u64; 3]>(),
            _ => writing.run::<[u64; 4]>(),
        }
    }

    /// The column beside the weights, if any: imaginary parts, or the places of rows of attributes.
    fn beside(&self) -> Option<Beside> {
        match self.facts.is_complex {
            true => Some(Beside::Imaginary),
            false => self.attributes[0].is_some().then_some(Beside::Places),
        }
    }

    /// Writes the attributes of edges and vertices, now that nothing else needs the memory.
    fn write_attributes(&mut self, manifest: &mut Manifest, vertex_places: Option<Buffer<u64>>) -> Result<()> {
        let [edges, vertices] = std::mem::take(&mut self.attributes);
        if let (Some(vertices), Some(places)) = (vertices, vertex_places) {
            let owner = Owner::Vertices { places: &places, first: manifest.vertex_values.len() };
            let StoredAttributes { values, attributes } = vertices.finish(self.runtime)?.write(self, owner)?;
            manifest.vertex_values.extend(values);
            manifest.vertex_attributes.extend(attributes);
        }
        if let Some(edges) = edges {
            let owner = Owner::Edges {
                first_column: manifest.values.len(),
                entries: manifest.out_lists.entries,
                sides: 1 + manifest.in_lists.iter().len(),
            };
            let stored = edges.finish(self.runtime)?.write(self, owner)?;
            manifest.values.extend(stored.values);
            manifest.attributes = stored.attributes;
        }
        Ok(())
    }

    /// Errors that lists can show only when they are complete.
    fn check_lists<K: RunId>(&self, lists: &Written, merged: &Merged, numbered: &Numbered) -> Result<()> {
        let (ends, expected, [before, behind], advice) = match (lists.stats.forbidden, lists.stats.overflow) {
            (Some(ends), _) => (
                ends,
                "every edge once",
                ["more than one edge", ""],
                "choose what to do with them: --duplicates first, last, sum, min, max or keep",
            ),
            (None, Some(ends)) => (
                ends,
                "weights whose sums fit their type",
                ["duplicate edges", " whose sum does not"],
                "choose another way to combine them: --duplicates first, last, min, max or keep",
            ),
            (None, None) => return Ok(()),
        };
        let [source, target] = self.names::<K>(merged, numbered, ends.into())?;
        Err(self.refused(expected, format!("{before} between {source} and {target}{behind}"), advice))
    }

    /// The user's ids of two vertices.
    fn names<K: RunId>(&self, merged: &Merged, numbered: &Numbered, wanted: [u32; 2]) -> Result<[String; 2]> {
        let mut names = [const { String::new() }; 2];
        let mut numbering = merged.classes.numbering();
        let near = numbered.near.as_ref();
        let reader = |file| SpillReader::new(file, self.runtime.budget(), self.plan.run_buffer_bytes);
        let mut near = near.map(reader).transpose()?;
        let mut vertices = merged.vertices.reader::<K>(self.runtime)?;
        while vertices.advance()? {
            let (by_degree, by_id) = numbering.next(vertices.sources + vertices.targets);
            let number = match &mut near {
                Some(near) => near.word()? as u32,
                None if numbered.order == Order::Degree => by_degree,
                None => by_id,
            };
            for (name, &wanted) in names.iter_mut().zip(&wanted) {
                if number == wanted {
                    *name = vertices.id.text(merged.vertices.signed);
                }
            }
        }
        Ok(names)
    }

    #[allow(clippy::too_many_arguments)]
    fn manifest(
        &self,
        input: &Input,
        merged: &Merged,
        written: &[Written],
        ids: IdColumn,
        weights: Option<ValueType>,
        order: Order,
    ) -> Manifest {
        let list_file = |side: &Written| ListFile {
            pages: side.pages[0],
            entries: side.stats.entries,
            max_degree: side.stats.max_degree,
            degree_pages: side.pages[1],
            hub_pages: side.pages[2],
        };
        let pages = |side: usize, file: usize| written.get(side).and_then(|side| side.pages.get(file)).copied();
        let column = |file: usize, name: &str, kind| ValueColumn {
            name: name.to_owned(),
            kind,
            out_pages: pages(0, file).unwrap_or(0),
            in_pages: pages(1, file).unwrap_or(0),
        };
        let name = self.facts.weights.as_deref().unwrap_or_default();
        let imaginary = weights.filter(|_| self.facts.is_complex).map(|kind| column(4, IMAGINARY_NAME, kind));
        Manifest {
            format: FORMAT_NAME.into(),
            format_version: FORMAT_VERSION,
            image_id: self.image_id,
            vertices: merged.vertices.count(),
            edges: written[0].stats.edges,
            directed: self.directed,
            parallel_edges: self.options.duplicates == Duplicates::Keep,
            rows: self.rows,
            order,
            ids,
            id_type: None,
            values: weights.map(|kind| column(3, name, kind)).into_iter().chain(imaginary).collect(),
            weighed_by: None,
            attributes: Vec::new(),
            vertex_values: Vec::new(),
            vertex_attributes: Vec::new(),
            complex: self.facts.is_complex,
            out_lists: list_file(&written[0]),
            in_lists: written.get(1).map(list_file),
            import: self.import_facts(input, merged, &written[0]),
        }
    }

    /// Writes the manifest and gives the image its name.
    fn finish(
        mut self,
        manifest: Manifest,
        first_edges: Vec<ReadEdge>,
        mut notes: Vec<String>,
    ) -> Result<ImportReport> {
        let partial = self.workspace.partial();
        write_member(self.runtime, &partial.join(MANIFEST), &manifest.to_bytes())?;
        let backend = self.runtime.backend();
        let folders = GRAPH_FOLDERS.into_iter().chain([""]);
        self.stats.image_bytes = folders.map(|folder| files_bytes(backend, &partial.join(folder))).sum();
        self.stats.finish_seconds = self.lap();
        let Job { runtime, workspace, facts, mut stats, start, step, .. } = self;
        notes.extend(workspace.finish(runtime)?.map(|note| escaped(note).to_string()));
        stats.finish_seconds += step.elapsed().as_secs_f64();
        stats.seconds = start.elapsed().as_secs_f64();
        stats.memory_peak_bytes = peak_memory_bytes();
        Ok(ImportReport { manifest, first_edges, files: facts.files, notes, stats })
    }
}

/// A name of a column, not too long for the manifest.
fn short(name: &str) -> String {
    name.chars().take(200).collect()
}

/// The size of the files in a directory, without those below.
fn files_bytes(backend: &Arc<dyn Backend>, directory: &Path) -> u64 {
    let names = backend.list(Location::at(directory)).unwrap_or_default();
    let files = names.iter().filter_map(|name| backend.named_itself(&directory.join(name)));
    files.filter(|file| file.kind == FileKind::File).map(|file| file.len_bytes).sum()
}
