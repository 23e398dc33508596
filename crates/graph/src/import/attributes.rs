//! Attributes on their way from the rows of the input to the entries of lists, or to vertices.
//!
//! Workers write the columns of every batch to one temporary file, as numbers: strings by dictionaries, whose numbers
//! give way to the places of the sorted strings when all of the input is read (`strings.rs`). Records of edges carry
//! their place in the input, which is all that the import sorts; the lists leave those places behind, in the order of
//! their entries (`encode.rs`). At the end every column is taken into memory, and for each entry its value is looked
//! up. A column that does not fit is taken in ranges of rows:
//!
//! ```text
//!   places -> rows, distributed by range -> range by range: rows -> values -> places once more: the next value of
//!   the range that each is in
//! ```
//!
//! *Cost.* A row takes 8 bytes for each attribute in the temporary file, and a batch 40; in the end the memory holds 8
//! bytes per row of one column, or of a part of it, and 48 for each batch.

use super::job::Job;
use super::page_file::PageFile;
use super::places;
use super::read::widened;
use super::strings::{SortedStrings, StringChunk, StringCount, StringNumbering, StringReader, has_strings};
use super::summary::{TABLE_OF_VERTICES, name_of};
use outcore_format::text::TextWriter;
use outcore_format::values::ValueWriter;
use outcore_format::{
    Attribute, AttributeKind, ImageFile, MAX_ATTRIBUTES, MAX_VALUE_COLUMNS, Strings, ValueColumn, ValueType,
    check_attribute_names,
};
use outcore_image::{Error, Result, Workspace};
use outcore_ingest::mix;
use outcore_ingest::{AttributeColumn, AttributeField, AttributeValues, Facts};
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{
    Buffer, Reservation, Runtime, Sink, Spill, SpillReader, SpillWriter, Streams, Task, Unit, into_inner, lock,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The buffer of the pieces on their way to a temporary file, and back.
const PIECES_BUFFER_BYTES: usize = 4 << 10;
/// Size of a piece in its temporary file.
const PIECE_FILE_BYTES: u64 = 5 * 8;
/// Memory of a dictionary of strings that is complete, in bytes.
const CHUNK_BYTES: u64 = 512;
/// The parts of the memory that are set aside for strings, and for dictionaries of them that are complete.
const STRINGS_SHARE: u64 = 4;
const CHUNKS_SHARE: u64 = 64;
/// Memory for each thread that is advised beside the pieces where there is too little for these.
const BESIDE_BYTES: u64 = 2 << 20;
const PURPOSE: &str = "attributes";
const LEAST_BLOCK_WORDS: usize = 512;
const MOST_RANGES: u64 = 256;
const WRITER_BYTES: usize = 256 << 10;
/// The place of a vertex that no row names.
pub(super) const NO_PLACE: u64 = u64::MAX;
/// The factor that hashes of strings are multiplied by at every byte.
const HASH_FACTOR: u64 = 0x0000_0100_0000_01b3;
/// Number of values that are looked up between two checks for a request to stop.
const STEP: u64 = 1 << 16;
/// Number of marks of missing values that are read at a time.
const STEP_FLAGS: usize = 1 << 12;

/// A batch's columns in the temporary file: for each the values of its rows, and a byte per row where some are missing.
#[derive(Clone, Copy)]
struct Piece {
    /// The place of its first row in the input.
    place: u64,
    rows: u32,
    /// Number of rows before it.
    first_row: u64,
    offset_bytes: u64,
    /// The columns with bytes that mark missing values.
    missing: u128,
}

const _: () = assert!(MAX_ATTRIBUTES <= u128::BITS as usize);

/// Memory of the pieces that take so much of their temporary file.
fn places_bytes(file_bytes: u64) -> u64 {
    file_bytes / PIECE_FILE_BYTES * size_of::<Piece>() as u64
}

/// Refuses names of attributes that an image cannot have.
pub(super) fn check_names(facts: &Facts) -> Result<()> {
    for (fields, of_vertices) in [(&facts.attributes, false), (&facts.vertex_attributes, true)] {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        check_attribute_names(&names, of_vertices).map_err(|outcore_format::Error { expected, found, .. }| {
            let others = if of_vertices { "" } else { ", or name those that are kept with --attributes" };
            let path = if of_vertices { TABLE_OF_VERTICES.into() } else { name_of(facts) };
            Error::input(path, None, expected, found).advise(format!("rename the column{others}"))
        })?;
    }
    Ok(())
}

/// Facts about the values of a column.
#[derive(Clone, Copy, Default)]
struct Range {
    /// The least and the greatest value, as integers.
    range: Option<(i64, i64)>,
    /// Some are no real numbers of 32 bits; some are not finite.
    wide: bool,
    infinite: bool,
    missing: bool,
}

impl Range {
    fn note(&mut self, other: Range) {
        self.range = widened(self.range, other.range.into_iter().flat_map(<[i64; 2]>::from));
        self.wide |= other.wide;
        self.infinite |= other.infinite;
        self.missing |= other.missing;
    }
}

/// The columns of all batches: of edges, or of vertices.
pub(super) struct Attributes {
    fields: Vec<AttributeField>,
    name: &'static str,
    spill: Spill,
    pieces: Spill,
    /// Memory for the dictionaries of strings of all workers; 0 where no attribute is a string.
    strings_bytes: u64,
    /// Most memory that the places of all batches can have in the end.
    most_places_bytes: u64,
    state: Mutex<TableState>,
    strings: Option<SortedStrings>,
}

struct TableState {
    /// The pieces, which are as many as batches, in a temporary file: a word for each field but `first_row`, two for
    /// `missing`.
    pieces: SpillWriter,
    ranges: Vec<Range>,
    /// A number that depends on all values, and not on the order of their rows.
    fingerprint: u64,
    chunks: Vec<StringChunk>,
    /// Memory of dictionaries in bytes, and the memory that is set aside for them.
    used_bytes: u64,
    reservation: Reservation,
}

impl TableState {
    fn put(&mut self, piece: Piece) -> Result<()> {
        let Piece { place, rows, offset_bytes, missing, .. } = piece;
        let words = [place, rows.into(), offset_bytes, missing as u64, (missing >> 64) as u64];
        words.into_iter().try_for_each(|word| self.pieces.word(word))
    }

    /// Counts more memory; false if there is none.
    fn grow(&mut self, bytes: u64) -> bool {
        self.used_bytes += bytes;
        let missing_bytes = self.used_bytes.saturating_sub(self.reservation.bytes());
        missing_bytes == 0 || self.reservation.grow(missing_bytes)
    }
}

/// Memory that is set aside for attributes, before it is planned what to do with all that is left.
pub(super) struct AttributesMemory {
    /// For dictionaries that are complete, of attributes of edges, and of vertices.
    chunks: [Option<Reservation>; 2],
    /// For dictionaries of strings, while the input is read.
    strings: Option<Reservation>,
}

impl AttributesMemory {
    pub fn reserve(runtime: &Runtime, facts: &Facts) -> Result<Self> {
        let budget = runtime.budget();
        let reserve = |share, is_wanted: bool| {
            is_wanted.then(|| budget.reserve(PURPOSE, budget.available_bytes() / share)).transpose()
        };
        let all = [&facts.attributes, &facts.vertex_attributes];
        let strings = reserve(STRINGS_SHARE, all.iter().any(|fields| has_strings(fields)))?;
        let [edges, vertices] = all.map(|fields| reserve(CHUNKS_SHARE, !fields.is_empty()));
        Ok(AttributesMemory { chunks: [edges?, vertices?], strings })
    }

    /// The attributes of edges and of vertices that the facts name.
    pub fn attributes(
        self,
        runtime: &Runtime,
        workspace: &Workspace,
        facts: &Facts,
    ) -> Result<[Option<Attributes>; 2]> {
        let strings_bytes = self.strings.map_or(0, |strings| strings.bytes());
        let all = [&facts.attributes, &facts.vertex_attributes];
        let with_strings = all.iter().filter(|fields| has_strings(fields)).count() as u64;
        let share = |fields: &[AttributeField]| if has_strings(fields) { strings_bytes / with_strings } else { 0 };
        let [edges, vertices] = self.chunks;
        let attributes = |name, fields: &Vec<AttributeField>, chunks: Option<Reservation>| {
            let new = |chunks| Attributes::new(runtime, workspace, name, fields, (chunks, share(fields)));
            chunks.map(new).transpose()
        };
        Ok([
            attributes("edge-attributes", &facts.attributes, edges)?,
            attributes("vertex-attributes", &facts.vertex_attributes, vertices)?,
        ])
    }
}

impl Attributes {
    /// Columns of these kinds, with the memory that was set aside for them, and for their strings.
    fn new(
        runtime: &Runtime,
        workspace: &Workspace,
        name: &'static str,
        fields: &[AttributeField],
        (reservation, strings_bytes): (Reservation, u64),
    ) -> Result<Self> {
        let ranges = vec![Range::default(); fields.len()];
        let spill = |name: &str| Spill::create(runtime.backend(), &workspace.temporary(name));
        let (pieces_spill, chunks) = (spill(&format!("{name}-pieces"))?, Vec::new());
        let pieces = SpillWriter::new(runtime, &pieces_spill, 0, PIECES_BUFFER_BYTES)?;
        Ok(Attributes {
            fields: fields.to_vec(),
            name,
            spill: spill(name)?,
            pieces: pieces_spill,
            strings_bytes,
            // All but what the process itself takes.
            most_places_bytes: runtime.budget().available_bytes() + runtime.budget().reserved_bytes(),
            state: Mutex::new(TableState { pieces, ranges, fingerprint: 0, chunks, used_bytes: 0, reservation }),
            strings: None,
        })
    }

    /// The writer by which a worker takes the columns of its batches.
    pub fn writer<'a>(&'a self, job: &'a Job<'a>, worker: usize) -> Result<AttributesWriter<'a>> {
        let share_bytes = self.strings_bytes / job.plan.readers as u64;
        let name = format!("{}-strings-{worker}", self.name);
        let numbering = || StringNumbering::new(job, &self.spill, &name, share_bytes);
        let strings = (self.strings_bytes > 0).then(numbering).transpose()?;
        Ok(AttributesWriter { attributes: self, runtime: job.runtime, strings, chunks: 0 })
    }

    /// Numbers the strings, now that all of them were read.
    pub fn number_strings(&mut self, job: &Job<'_>) -> Result<()> {
        if has_strings(&self.fields) {
            let chunks = std::mem::take(&mut lock(&self.state).chunks);
            self.strings = Some(SortedStrings::new(job, &self.fields, &self.spill, chunks)?);
        }
        Ok(())
    }

    pub fn fingerprint(&self) -> u64 {
        lock(&self.state).fingerprint
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        names.join(", ")
    }

    fn places_purpose(&self) -> String {
        format!("the places of all batches of rows with the attributes {}", self.names())
    }

    /// Puts the pieces into the order of the input. Nothing is taken any more.
    pub fn finish(self, runtime: &Runtime) -> Result<AttributeRows> {
        let purpose = self.places_purpose();
        let TableState { pieces: writer, ranges, reservation, .. } = into_inner(self.state);
        drop(reservation);
        let end_bytes = writer.finish()?;
        let mut reader = SpillReader::new(&self.pieces, runtime.budget(), PIECES_BUFFER_BYTES)?;
        reader.seek(0, end_bytes);
        let (count, needed_bytes) = (end_bytes / PIECE_FILE_BYTES, places_bytes(end_bytes));
        // Columns are written beside them.
        let advise = |error: Error| error.advising(BESIDE_BYTES * runtime.threads() as u64);
        let reservation = runtime.budget().reserve(&purpose, needed_bytes).map_err(advise)?;
        let mut pieces = Vec::with_capacity(count as usize);
        while !reader.is_at_end() {
            let mut words = [0; 5];
            words.iter_mut().try_for_each(|word| reader.word().map(|read| *word = read))?;
            let [place, rows, offset_bytes, low, high] = words;
            let missing = u128::from(low) | u128::from(high) << 64;
            pieces.push(Piece { place, rows: rows as u32, first_row: 0, offset_bytes, missing });
        }
        pieces.sort_unstable_by_key(|piece| piece.place);
        let mut rows = 0;
        for piece in &mut pieces {
            piece.first_row = rows;
            rows += u64::from(piece.rows);
        }
        Ok(AttributeRows {
            fields: self.fields,
            spill: self.spill,
            pieces,
            ranges,
            rows,
            strings: self.strings,
            _reservation: reservation,
        })
    }
}

/// Takes the columns of the batches of one worker.
pub(super) struct AttributesWriter<'a> {
    attributes: &'a Attributes,
    runtime: &'a Runtime,
    strings: Option<StringNumbering<'a>>,
    /// Number of complete dictionaries whose memory is counted.
    chunks: usize,
}

impl AttributesWriter<'_> {
    /// Takes the columns of a batch whose first row has this place in the input, and behind them the rows of `again`
    /// once more, of edges that go back.
    pub fn take(&mut self, columns: &[AttributeColumn], again: &[usize], place: u64) -> Result<()> {
        let Attributes { fields, spill, .. } = self.attributes;
        let count = columns.first().map_or(0, |column| column.values.len());
        let rows = count + again.len();
        if rows == 0 {
            return Ok(());
        }
        if columns.len() != fields.len() || !columns.iter().all(|column| column.values.len() == count) {
            let (expected, found) = (fields.len(), columns.len());
            return Err(Error::custom(format!(
                "expected {expected} attributes of {rows} rows, found {found}; this is a defect of the parser"
            )));
        }
        let flagged = columns.iter().filter(|column| column.has_missing()).count();
        let len_bytes = rows as u64 * (8 * columns.len() + flagged) as u64;
        let offset_bytes = spill.take(len_bytes);
        let mut at = offset_bytes;
        let (mut missing, mut ranges, mut fingerprint) = (0u128, Vec::new(), 0u64);
        for (i, column) in columns.iter().enumerate() {
            let column = &*column.filled(&fields[i].kind);
            ranges.push(range(&fields[i].kind, column));
            fingerprint = fingerprint.wrapping_add(hash(i, &column.values));
            self.write(i, column, again, at)?;
            at += 8 * rows as u64;
            if !column.missing.is_empty() {
                let mut flags: Vec<u8> = column.missing.iter().map(|&missing| u8::from(missing)).collect();
                again.iter().for_each(|&row| flags.push(flags[row]));
                missing |= 1 << i;
                spill.write(&flags, at)?;
                at += rows as u64;
            }
        }
        let mut state = lock(&self.attributes.state);
        state.ranges.iter_mut().zip(ranges).for_each(|(all, range)| all.note(range));
        state.fingerprint = state.fingerprint.wrapping_add(fingerprint);
        let needed_bytes = places_bytes(state.pieces.position_bytes());
        let most_bytes = self.attributes.most_places_bytes;
        if needed_bytes > most_bytes {
            // More batches may follow.
            let purpose = self.attributes.places_purpose();
            return Err(self.runtime.budget().refusal(&purpose, 2 * needed_bytes, most_bytes));
        }
        state.put(Piece { place, rows: rows as u32, first_row: 0, offset_bytes, missing })
    }

    /// Writes the values of a column, and those of some rows once more.
    fn write(&mut self, column: usize, values: &AttributeColumn, again: &[usize], offset_bytes: u64) -> Result<()> {
        match (&values.values, &mut self.strings) {
            (AttributeValues::Words(words), _) => {
                let spill = &self.attributes.spill;
                spill.write(raw_bytes(words), offset_bytes)?;
                let mut at_bytes = offset_bytes + 8 * words.len() as u64;
                for rows in again.chunks(STEP_FLAGS) {
                    let words: Vec<u64> = rows.iter().map(|&row| words[row]).collect();
                    spill.write(raw_bytes(&words), at_bytes)?;
                    at_bytes += 8 * words.len() as u64;
                }
                Ok(())
            }
            (AttributeValues::Text { bytes, ends }, Some(strings)) => {
                let rows = (0..ends.len()).chain(again.iter().copied());
                strings.take(column, (bytes, ends), &values.missing, rows, offset_bytes)?;
                let mut state = lock(&self.attributes.state);
                let new_bytes = (strings.chunks() - self.chunks) as u64 * CHUNK_BYTES;
                self.chunks = strings.chunks();
                match state.grow(new_bytes) {
                    true => Ok(()),
                    false => {
                        let purpose = format!("dictionaries of strings of {}", self.attributes.names());
                        let (needed_bytes, found_bytes) = (2 * state.used_bytes, state.reservation.bytes());
                        Err(self.runtime.budget().refusal(&purpose, needed_bytes, found_bytes))
                    }
                }
            }
            (AttributeValues::Text { .. } | AttributeValues::Missing(_), _) => {
                let name = &self.attributes.fields[column].name;
                Err(Error::custom(format!(
                    "expected numbers in the attribute `{name}`, found strings; this is a defect of the parser"
                )))
            }
        }
    }

    /// Leaves the dictionaries of strings to the attributes.
    pub fn finish(self) -> Result<()> {
        if let Some(strings) = self.strings {
            let chunks = strings.finish()?;
            lock(&self.attributes.state).chunks.extend(chunks);
        }
        Ok(())
    }
}

/// A number that depends on all values of a column, and not on the order of their rows.
fn hash(column: usize, values: &AttributeValues) -> u64 {
    let seed = mix(column as u64);
    match values {
        AttributeValues::Words(words) => words.iter().fold(0, |all, &word| all.wrapping_add(mix(word ^ seed))),
        AttributeValues::Missing(count) => mix(seed).wrapping_mul(*count as u64),
        AttributeValues::Text { bytes, ends } => {
            let (mut all, mut start) = (0u64, 0);
            for &end in ends {
                let text = &bytes[start..end as usize];
                start = end as usize;
                let hash = text.iter().fold(seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(HASH_FACTOR));
                all = all.wrapping_add(mix(hash));
            }
            all
        }
    }
}

fn range(kind: &AttributeKind, column: &AttributeColumn) -> Range {
    let mut range = Range { missing: column.missing.contains(&true), ..Range::default() };
    match (&column.values, kind) {
        (AttributeValues::Text { .. } | AttributeValues::Missing(_), _) => {}
        (AttributeValues::Words(words), AttributeKind::Real) => {
            range.wide = words.iter().any(|&word| f64::from(f64::from_bits(word) as f32).to_bits() != word);
            range.infinite = words.iter().any(|&word| !f64::from_bits(word).is_finite());
        }
        (AttributeValues::Words(words), _) => range.range = widened(None, words.iter().map(|&word| word as i64)),
    }
    range
}

/// All rows in the order of the input.
pub(super) struct AttributeRows {
    fields: Vec<AttributeField>,
    spill: Spill,
    pieces: Vec<Piece>,
    ranges: Vec<Range>,
    rows: u64,
    strings: Option<SortedStrings>,
    _reservation: Reservation,
}

/// The owner of the attributes that are written.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    /// The vertices': their places, and how many columns of values, and attributes, there are before.
    Vertices { places: &'a [u64], first: usize },
    /// The edges', beside the lists of out-neighbours, and of in-neighbours if there are any: how many entries there
    /// are before the columns of values of the attributes, how many entries lists have, and where their places lie.
    Edges { first_column: usize, entries: u64, sides: usize },
}

/// The columns of values and the attributes of an image.
#[derive(Default)]
pub(super) struct StoredAttributes {
    pub values: Vec<ValueColumn>,
    pub attributes: Vec<Attribute>,
}

/// Hands the places of all rows out, in the order of the values.
type Places<'a> = dyn Fn(&mut dyn FnMut(u64) -> Result<()>) -> Result<()> + Sync + 'a;

/// A column of values that is written: whose, and whether it says what is missing.
#[derive(Clone, Copy)]
struct Raw {
    attribute: usize,
    flags: bool,
    column: usize,
    kind: ValueType,
}

impl AttributeRows {
    /// Writes all columns and strings of attributes.
    pub fn write(&self, job: &Job<'_>, owner: Owner<'_>) -> Result<StoredAttributes> {
        let mut stored = StoredAttributes::default();
        let (first_column, first_strings, is_of_vertices) = match owner {
            Owner::Vertices { first, .. } => (first, first, true),
            Owner::Edges { first_column, .. } => (first_column, 0, false),
        };
        let has_gaps = matches!(owner, Owner::Vertices { places, .. } if places.contains(&NO_PLACE));
        let mut raws = Vec::new();
        let mut strings = self.strings.as_ref().map(|strings| strings.reader(job)).transpose()?;
        for (i, field) in self.fields.iter().enumerate() {
            let missing = has_gaps || self.ranges[i].missing;
            let column = first_column + raws.len();
            raws.push(Raw { attribute: i, flags: false, column, kind: self.value_type(i, missing) });
            if missing {
                raws.push(Raw { attribute: i, flags: true, column: column + 1, kind: ValueType::U8 });
            }
            let file = ImageFile::strings(first_strings + i, is_of_vertices);
            let strings = self.write_strings(job, i, strings.as_mut(), file)?;
            let (name, kind) = (field.name.clone(), field.kind.clone());
            let counts = kind.is_number() && !is_of_vertices && !missing && !self.ranges[i].infinite;
            let missing = missing.then_some(column + 1);
            stored.attributes.push(Attribute { name, kind, column, counts, missing, strings });
        }
        if first_column + raws.len() > MAX_VALUE_COLUMNS {
            return Err(Error::Unsuitable(format!(
                "expected at most {MAX_VALUE_COLUMNS} columns of weights, attributes and of what is missing in them, found \
                 {}; keep fewer attributes",
                first_column + raws.len()
            )));
        }
        let name = |raw: &Raw| self.fields[raw.attribute].name.clone();
        let column = |raw: &Raw| ValueColumn { name: name(raw), kind: raw.kind, out_pages: 0, in_pages: 0 };
        stored.values = raws.iter().map(column).collect();
        match owner {
            Owner::Vertices { places, .. } => {
                let source = |visit: &mut dyn FnMut(u64) -> Result<()>| {
                    places.chunks(STEP as usize).try_for_each(|some| {
                        job.runtime.cancel().check()?;
                        some.iter().try_for_each(|&place| visit(place))
                    })
                };
                let file = |raw: &Raw| ImageFile::vertex_values(raw.column);
                let pages = self.write_side(job, &raws, &source, places.len() as u64, &file)?;
                stored.values.iter_mut().zip(pages).for_each(|(column, pages)| column.out_pages = pages);
            }
            Owner::Edges { entries, sides, .. } => {
                for incoming in [false, true].into_iter().take(sides) {
                    let is_beside = |raw: &&Raw| !incoming || stored.attributes[raw.attribute].counts;
                    let beside: Vec<Raw> = raws.iter().filter(is_beside).copied().collect();
                    let source = |visit: &mut dyn FnMut(u64) -> Result<()>| places::for_each(job, incoming, visit);
                    let file = |raw: &Raw| ImageFile::values(raw.column, incoming);
                    let pages = self.write_side(job, &beside, &source, entries, &file)?;
                    for (raw, pages) in beside.iter().zip(pages) {
                        let column = &mut stored.values[raw.column - first_column];
                        *(if incoming { &mut column.in_pages } else { &mut column.out_pages }) = pages;
                    }
                    places::remove(job, incoming)?;
                }
            }
        }
        Ok(stored)
    }

    /// Writes the strings of an attribute, if it has some; those of the attributes before are written.
    fn write_strings(
        &self,
        job: &Job<'_>,
        attribute: usize,
        strings: Option<&mut StringReader<'_>>,
        file: ImageFile,
    ) -> Result<Option<Strings>> {
        let Some(strings) = strings.filter(|_| self.fields[attribute].kind == AttributeKind::String) else {
            return Ok(None);
        };
        create_folder(job, file)?;
        let mut file = PageFile::create(job, file, WRITER_BYTES, TextWriter::new)?;
        strings.each_of(attribute, |text| {
            file.put(|writer, emit| {
                writer.push(&(text.len() as u32).to_le_bytes(), |page| emit(0, page));
                writer.push(text, |page| emit(0, page));
            })
        })?;
        let pages = file.finish(|writer, emit| writer.finish(|page| emit(0, page)))?;
        let StringCount { count, text_bytes } = self.string_count(attribute);
        Ok(Some(Strings { count, text_bytes, pages }))
    }

    fn string_count(&self, attribute: usize) -> StringCount {
        self.strings.as_ref().map_or(StringCount::default(), |strings| strings.counts[attribute])
    }

    /// Writes columns for all places of a source; returns their pages.
    fn write_side(
        &self,
        job: &Job<'_>,
        raws: &[Raw],
        source: &Places<'_>,
        places: u64,
        file: &(dyn Fn(&Raw) -> ImageFile + Sync),
    ) -> Result<Vec<u64>> {
        let task = job.runtime.task("attributes", Unit::Edges, Some(places * raws.len() as u64));
        let workers = job.plan.workers.min(raws.len()).max(1);
        let memory_bytes = job.plan.memory_bytes.min(job.runtime.budget().available_bytes());
        let most_rows = (memory_bytes / 2 / 16 / workers as u64).max(1 << 12);
        let ranges = self.rows.div_ceil(most_rows).clamp(1, MOST_RANGES);
        let range_rows = self.rows.div_ceil(ranges).max(1);
        let distributed = if ranges > 1 { Some(self.distribute(job, source, ranges, range_rows)?) } else { None };
        // Before the workers: two of them would make it at once.
        raws.first().map_or(Ok(()), |raw| create_folder(job, file(raw)))?;
        let (next, pages) = (AtomicUsize::new(0), Mutex::new(vec![0; raws.len()]));
        job.runtime.run_on(workers, |_| {
            while let Some((place, raw)) = {
                let place = next.fetch_add(1, Ordering::Relaxed);
                raws.get(place).map(|raw| (place, raw))
            } {
                let output = Output::new(job, raw, file(raw), &task);
                let column = output.and_then(|output| {
                    self.write_column(job, raw, source, output, distributed.as_ref().map(|parts| (parts, range_rows)))
                });
                // No worker begins another column once one has failed.
                let written = column.inspect_err(|_| next.store(raws.len(), Ordering::Relaxed))?;
                lock(&pages)[place] = written;
            }
            Ok::<(), Error>(())
        })?;
        Ok(into_inner(pages))
    }

    /// Writes a column for all places; returns its pages.
    fn write_column(
        &self,
        job: &Job<'_>,
        raw: &Raw,
        source: &Places<'_>,
        mut output: Output<'_>,
        distributed: Option<(&RangedWords, u64)>,
    ) -> Result<u64> {
        match distributed {
            None => {
                let part = self.load(job.runtime, raw, 0..self.rows)?;
                let look = |place| self.row(place).map(|row| part[row as usize]);
                source(&mut |place| output.push(look(place)))?;
            }
            Some((parts, range_rows)) => {
                let values = self.look_up(job, raw, parts, range_rows)?;
                let mut next: Vec<ChainReader<'_>> = Vec::new();
                for chain in &values.chains {
                    next.push(ChainReader::new(job.runtime, &values.streams, *chain)?);
                }
                source(&mut |place| match self.row(place) {
                    Some(row) => output.push(Some(next[(row / range_rows) as usize].word()?)),
                    None => output.push(None),
                })?;
            }
        }
        output.file.finish(|writer, emit| writer.finish(emit))
    }

    fn streams(job: &Job<'_>, name: &str, ranges: usize) -> Result<Streams> {
        let most_words = job.plan.memory_bytes / 2 / job.plan.workers as u64 / 4 / 8 / ranges as u64;
        let block_words = usize::try_from(most_words).unwrap_or(usize::MAX).clamp(LEAST_BLOCK_WORDS, 8192);
        let path = job.workspace.temporary(name);
        Streams::create(job.runtime.backend(), &path, block_words)
    }

    /// Distributes the rows of all places by the range that they are in.
    fn distribute(&self, job: &Job<'_>, source: &Places<'_>, ranges: u64, range_rows: u64) -> Result<RangedWords> {
        let streams = Self::streams(job, "attribute-rows", ranges as usize)?;
        let mut sink = streams.sink(job.runtime, ranges as usize)?;
        source(&mut |place| match self.row(place) {
            Some(row) => Ok(sink.push((row / range_rows) as usize, row)?),
            None => Ok(()),
        })?;
        let chains = Sink::finish(sink)?;
        Ok(RangedWords { streams, chains })
    }

    /// Range by range, the values of the rows that were distributed.
    fn look_up(&self, job: &Job<'_>, raw: &Raw, parts: &RangedWords, range_rows: u64) -> Result<RangedWords> {
        let streams = Self::streams(job, &format!("attribute-values-{}", raw.column), parts.chains.len())?;
        let mut sink = streams.sink(job.runtime, parts.chains.len())?;
        for (range, &chain) in parts.chains.iter().enumerate() {
            let first = range as u64 * range_rows;
            let part = self.load(job.runtime, raw, first..self.rows.min(first + range_rows))?;
            let mut next = ChainReader::new(job.runtime, &parts.streams, chain)?;
            for done in 0..chain.words {
                if done % STEP == 0 {
                    job.runtime.cancel().check()?;
                }
                sink.push(range, part[(next.word()? - first) as usize])?;
            }
        }
        let chains = Sink::finish(sink)?;
        Ok(RangedWords { streams, chains })
    }
}

/// Creates the folder of a file of the image, unless it is there.
pub(super) fn create_folder(job: &Job<'_>, file: ImageFile) -> Result<()> {
    let path = file.path(job.workspace.partial());
    let backend = job.runtime.backend();
    match path.parent().filter(|folder| backend.named_itself(folder).is_none()) {
        Some(folder) => Ok(backend.create_directory(folder)?),
        None => Ok(()),
    }
}

/// Words in ranges.
struct RangedWords {
    streams: Streams,
    chains: Vec<outcore_io::Chain>,
}

/// The words of a range, one after the other.
struct ChainReader<'a> {
    streams: &'a Streams,
    chain: outcore_io::Chain,
    words: Buffer<u64>,
    next: usize,
    filled: usize,
}

impl<'a> ChainReader<'a> {
    fn new(runtime: &Runtime, streams: &'a Streams, chain: outcore_io::Chain) -> Result<Self> {
        let words = Buffer::zeroed(runtime.budget(), PURPOSE, streams.block_words() + 1)?;
        Ok(ChainReader { streams, chain, words, next: 0, filled: 0 })
    }

    #[inline]
    fn word(&mut self) -> Result<u64> {
        if self.next == self.filled {
            self.filled = self.streams.read(&mut self.chain, &mut self.words)?;
            self.next = 0;
        }
        self.next += 1;
        Ok(self.words[self.next - 1])
    }
}

impl AttributeRows {
    /// The row with a place in the input.
    fn row(&self, place: u64) -> Option<u64> {
        if place == NO_PLACE {
            return None;
        }
        let behind = self.pieces.partition_point(|piece| piece.place <= place);
        let piece = self.pieces.get(behind.checked_sub(1)?)?;
        let within = place - piece.place;
        (within < u64::from(piece.rows)).then_some(piece.first_row + within)
    }

    /// The narrowest type that holds all values of a column.
    fn value_type(&self, column: usize, missing: bool) -> ValueType {
        let Range { range, wide, .. } = self.ranges[column];
        let (least, most) = range.unwrap_or_default();
        match self.fields[column].kind {
            AttributeKind::Boolean => ValueType::U8,
            AttributeKind::Real if wide => ValueType::F64,
            AttributeKind::Real => ValueType::F32,
            AttributeKind::String => ValueType::of_range(0, self.string_count(column).count as i64),
            _ if missing => ValueType::of_range(least.min(0), most.max(0)),
            _ => ValueType::of_range(least, most),
        }
    }

    /// The values of some rows of a column, or where they are missing.
    fn load(&self, runtime: &Runtime, raw: &Raw, rows: std::ops::Range<u64>) -> Result<Buffer<u64>> {
        let len = (rows.end - rows.start) as usize;
        let mut part: Buffer<u64> = Buffer::zeroed(runtime.budget(), PURPOSE, len)?;
        let first = self.pieces.partition_point(|piece| piece.first_row + u64::from(piece.rows) <= rows.start);
        for piece in self.pieces[first..].iter().take_while(|piece| piece.first_row < rows.end) {
            runtime.cancel().check()?;
            let start = rows.start.max(piece.first_row);
            let end = rows.end.min(piece.first_row + u64::from(piece.rows));
            let into = &mut part[(start - rows.start) as usize..(end - rows.start) as usize];
            let skipped = start - piece.first_row;
            let before = piece.missing & ((1u128 << raw.attribute) - 1);
            let row_bytes = 8 * raw.attribute as u64 + u64::from(before.count_ones());
            let at = piece.offset_bytes + u64::from(piece.rows) * row_bytes;
            if !raw.flags {
                self.spill.read(raw_bytes_mut(into), at + 8 * skipped)?;
            } else if piece.missing >> raw.attribute & 1 == 1 {
                let mut at = at + 8 * u64::from(piece.rows) + skipped;
                let mut flags = [0u8; STEP_FLAGS];
                for words in into.chunks_mut(STEP_FLAGS) {
                    let flags = &mut flags[..words.len()];
                    self.spill.read(flags, at)?;
                    words.iter_mut().zip(&*flags).for_each(|(word, &flag)| *word = u64::from(flag));
                    at += words.len() as u64;
                }
            }
        }
        Ok(part)
    }
}

/// A column of values that is being written.
struct Output<'a> {
    file: PageFile<'a, ValueWriter>,
    /// The value where there is no row: 1 in a column that says what is missing, otherwise 0.
    default: u64,
    task: &'a Task,
    pushed: u64,
}

impl<'a> Output<'a> {
    fn new(job: &Job<'a>, raw: &Raw, file: ImageFile, task: &'a Task) -> Result<Self> {
        let writer = |origin| ValueWriter::new(origin, raw.kind, 0);
        let file = PageFile::create(job, file, WRITER_BYTES, writer)?;
        Ok(Output { file, default: u64::from(raw.flags), task, pushed: 0 })
    }

    #[inline]
    fn push(&mut self, value: Option<u64>) -> Result<()> {
        let value = value.unwrap_or(self.default);
        self.pushed += 1;
        if self.pushed.is_multiple_of(STEP) {
            self.task.advance(STEP);
        }
        self.file.put_value(value)
    }
}
