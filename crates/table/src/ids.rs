//! The users' ids: streamed in vertex order, searched, or held in memory.
//!
//! Internally a vertex is a number below 2^32; users only see their own ids. [`IdStream`] returns them in vertex order
//! in bounded memory, by one sequential pass over the id column. [`vertices_of`] finds the vertices of ids by such a
//! pass, and [`IdLookup`] holds all ids for random access: 8 bytes per vertex, plus the text of strings, and nothing
//! for a range.

use outcore_format::{IdColumn, IdType, Order};
use outcore_image::{ColumnStream, Error, Image, ImageFile, Result, STREAM_BYTES, TextStream};
use outcore_io::{Budget, Buffer, Fuse, Reservation};
use std::sync::Arc;

/// The most ids in a batch.
pub const BATCH_IDS: usize = 1 << 16;
/// The most text in a batch, unless one id alone is longer.
pub const BATCH_TEXT_BYTES: usize = 1 << 20;

/// A user's id: an integer or a string. Ids of one graph are of one kind, that of their type
/// ([`Manifest::integer_ids`](outcore_format::Manifest::integer_ids)) however they are stored, and compare in the order
/// of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id<S> {
    /// A whole number from 0 on.
    Unsigned(u64),
    /// A whole number of either sign.
    Signed(i64),
    /// A string, compared byte by byte.
    Text(S),
}

impl<S> Id<S> {
    /// The id as a number, unless it is a string.
    pub fn number(&self) -> Option<i128> {
        match self {
            Id::Unsigned(value) => Some((*value).into()),
            Id::Signed(value) => Some((*value).into()),
            Id::Text(_) => None,
        }
    }
}

impl Id<&str> {
    /// The id with an owned string.
    pub fn to_owned(self) -> Id<String> {
        match self {
            Id::Unsigned(value) => Id::Unsigned(value),
            Id::Signed(value) => Id::Signed(value),
            Id::Text(text) => Id::Text(text.to_owned()),
        }
    }
}

impl Id<String> {
    /// The id with a borrowed string.
    pub fn as_ref(&self) -> Id<&str> {
        match self {
            Id::Unsigned(value) => Id::Unsigned(*value),
            Id::Signed(value) => Id::Signed(*value),
            Id::Text(text) => Id::Text(text),
        }
    }
}

impl<S: AsRef<str>> std::fmt::Display for Id<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Unsigned(value) => write!(f, "{value}"),
            Id::Signed(value) => write!(f, "{value}"),
            Id::Text(text) => f.write_str(text.as_ref()),
        }
    }
}

/// The ids of consecutive vertices, of the kind that their type says.
#[derive(Clone, Debug, PartialEq)]
pub enum IdBatch {
    /// Whole numbers from 0 on.
    Unsigned(Vec<u64>),
    /// Whole numbers of either sign.
    Signed(Vec<i64>),
    /// Strings, one after the other: string `i` ends at byte `ends[i]`.
    Text {
        /// All strings without separators.
        text: String,
        /// End of each string, in bytes.
        ends: Vec<usize>,
    },
}

impl IdBatch {
    /// No ids, with room for `capacity`, of the kind that the type of the image's ids says.
    pub(crate) fn empty(image: &Image, capacity: usize) -> Self {
        match image.manifest().integer_ids().map(IdType::is_signed) {
            Some(false) => IdBatch::Unsigned(Vec::with_capacity(capacity)),
            Some(true) => IdBatch::Signed(Vec::with_capacity(capacity)),
            None => IdBatch::Text { text: String::new(), ends: Vec::with_capacity(capacity) },
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdBatch::Unsigned(values) => values.len(),
            IdBatch::Signed(values) => values.len(),
            IdBatch::Text { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Id `i` of the batch.
    #[inline]
    pub fn get(&self, i: usize) -> Id<&str> {
        match self {
            IdBatch::Unsigned(values) => Id::Unsigned(values[i]),
            IdBatch::Signed(values) => Id::Signed(values[i]),
            IdBatch::Text { text, ends } => {
                let start = if i == 0 { 0 } else { ends[i - 1] };
                Id::Text(&text[start..ends[i]])
            }
        }
    }

    /// All ids, in the order of their vertices.
    pub fn iter(&self) -> impl Iterator<Item = Id<&str>> {
        (0..self.len()).map(|i| self.get(i))
    }

    fn clear(&mut self) {
        match self {
            IdBatch::Unsigned(values) => values.clear(),
            IdBatch::Signed(values) => values.clear(),
            IdBatch::Text { text, ends } => {
                text.clear();
                ends.clear();
            }
        }
    }
}

/// The users' ids in vertex order.
pub struct IdStream {
    source: Source,
    batch: IdBatch,
    /// The vertex of the next id, and the number of vertices.
    next: u64,
    vertices: u64,
    fuse: Fuse,
    _reservation: Reservation,
}

enum Source {
    Range { first: i64 },
    Number(Box<Numbers>),
    Text(Box<Strings>),
}

impl std::fmt::Debug for IdStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut stream = f.debug_struct("IdStream");
        stream.field("next", &self.next).field("vertices", &self.vertices).finish_non_exhaustive()
    }
}

impl IdStream {
    /// The ids from vertex 0 on. Takes [`IdStream::bytes`].
    ///
    /// # Errors
    /// Ids that contradict the manifest, or no memory.
    pub fn new(image: &Image) -> Result<Self> {
        let vertices = image.manifest().vertices;
        let bytes = batch_bytes(image);
        let reservation = image.reserve("a batch of ids", bytes)?;
        let numbers = |is_signed| {
            let column = ColumnStream::new(image, ImageFile::ID, vertices)?;
            let kind = image.manifest().integer_ids().unwrap_or_default();
            Ok::<_, Error>(Source::Number(Box::new(Numbers { column, is_signed, kind })))
        };
        let source = match &image.manifest().ids {
            IdColumn::Range { first } => Source::Range { first: *first },
            IdColumn::U64 { .. } => numbers(false)?,
            IdColumn::I64 { .. } => numbers(true)?,
            IdColumn::String { text_bytes, .. } => {
                let ends = ColumnStream::new(image, ImageFile::ID, vertices)?;
                let text = TextStream::new(image, ImageFile::ID_TEXT)?;
                let budget = Arc::clone(image.runtime().budget());
                let strings = Strings { ends, text, start_bytes: 0, text_bytes: *text_bytes, budget };
                Source::Text(Box::new(strings))
            }
        };
        let batch = IdBatch::empty(image, 0);
        Ok(IdStream { source, batch, next: 0, vertices, fuse: Fuse::default(), _reservation: reservation })
    }

    /// Memory of a stream over the ids of a graph.
    pub fn bytes(image: &Image) -> u64 {
        batch_bytes(image)
            + match &image.manifest().ids {
                IdColumn::Range { .. } => 0,
                IdColumn::U64 { .. } | IdColumn::I64 { .. } => STREAM_BYTES,
                IdColumn::String { .. } => 2 * STREAM_BYTES,
            }
    }

    /// The next ids, at most [`BATCH_IDS`], and the vertex of the first; `None` after the last one.
    ///
    /// Reading to the end also checks that nothing follows the last id.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, ends that fall, text that is not UTF-8, or a request to stop; an
    /// earlier error.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<(u64, &IdBatch)>> {
        self.fuse.check()?;
        let first = self.next;
        let read = self.read();
        let is_over = !self.fuse.after(read)?;
        Ok((!is_over).then_some((first, &self.batch)))
    }

    /// The ids that were read last; none before the first are.
    pub fn batch(&self) -> &IdBatch {
        &self.batch
    }

    /// Reads the next batch; `false` behind the last one.
    fn read(&mut self) -> Result<bool> {
        self.batch.clear();
        let first = self.next;
        let most = (self.vertices - first).min(BATCH_IDS as u64) as usize;
        if most == 0 {
            self.finish()?;
            return Ok(false);
        }
        match (&mut self.source, &mut self.batch) {
            (Source::Range { first: start }, IdBatch::Signed(values)) => {
                values.extend((first..first + most as u64).map(|vertex| start.wrapping_add(vertex as i64)));
            }
            (Source::Range { first: start }, IdBatch::Unsigned(values)) => {
                values.extend((first..first + most as u64).map(|vertex| (*start as u64).wrapping_add(vertex)));
            }
            (Source::Number(numbers), IdBatch::Unsigned(values)) => {
                numbers.column.take_into(most, values)?;
                numbers.check(values.iter().copied())?;
            }
            (Source::Number(numbers), IdBatch::Signed(values)) => {
                numbers.column.take_each(most, |read| values.extend(read.iter().map(|&value| value as i64)))?;
                numbers.check(values.iter().map(|&value| value as u64))?;
            }
            (Source::Text(strings), IdBatch::Text { text, ends }) => strings.read(most, text, ends)?,
            _ => unreachable!("a stream's batch is of the kind of its source"),
        }
        self.next += self.batch.len() as u64;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        match &mut self.source {
            Source::Range { .. } => {}
            Source::Number(numbers) => {
                numbers.column.peek(1)?;
            }
            Source::Text(strings) => {
                let Strings { ends, text, start_bytes, text_bytes, .. } = &mut **strings;
                ends.peek(1)?;
                if start_bytes != text_bytes {
                    return Err(ends.bad_value(format!("a last end of {text_bytes}"), start_bytes.to_string()));
                }
                text.finish()?;
            }
        }
        Ok(())
    }
}

fn batch_bytes(image: &Image) -> u64 {
    8 * image.manifest().vertices.min(BATCH_IDS as u64)
        + if string_ids(image) { 2 * BATCH_TEXT_BYTES as u64 } else { 0 }
}

/// Source of integers.
struct Numbers {
    column: ColumnStream,
    /// Whether they are stored as i64.
    is_signed: bool,
    kind: IdType,
}

impl Numbers {
    /// Refuses ids, by their 64 bits, that are stored but not of the type of the image's ids.
    fn check(&self, mut ids: impl Iterator<Item = u64>) -> Result<()> {
        let [least, greatest] = self.kind.range();
        let beyond = match self.is_signed {
            true if self.kind == IdType::Int64 => None,
            true => {
                let mut ids = ids.map(|id| i128::from(id as i64));
                ids.find(|id| !(least..=greatest).contains(id))
            }
            false => match u64::try_from(greatest) {
                Ok(u64::MAX) | Err(_) => None,
                Ok(greatest) => ids.find(|&id| id > greatest).map(i128::from),
            },
        };
        match beyond {
            None => Ok(()),
            Some(id) => Err(self.column.bad_value(format!("ids of type {}", self.kind.name()), id.to_string())),
        }
    }
}

/// Source of strings.
struct Strings {
    ends: ColumnStream,
    text: TextStream,
    start_bytes: u64,
    text_bytes: u64,
    budget: Arc<Budget>,
}

impl Strings {
    /// Reads at most `most` strings, and no more text than a batch may have; at least one string.
    fn read(&mut self, most: usize, into: &mut String, into_ends: &mut Vec<usize>) -> Result<()> {
        let begin = self.start_bytes;
        let mut end = begin;
        while into_ends.len() < most {
            let next = self.ends.peek(1)?.first().copied();
            let Some(next) = next else { return Err(self.ends.bad_end()) };
            if next < end || next > self.text_bytes {
                let expected = format!("the end of an id in {end}..={}", self.text_bytes);
                return Err(self.ends.bad_value(expected, next.to_string()));
            }
            if next - begin > BATCH_TEXT_BYTES as u64 && !into_ends.is_empty() {
                break;
            }
            self.ends.take(1);
            into_ends.push((next - begin) as usize);
            end = next;
        }
        // One id alone may be longer than a batch; its memory is then reserved too while it is checked.
        let length = end - begin;
        let _more = match length > BATCH_TEXT_BYTES as u64 {
            true => Some(self.budget.reserve("an id that is very long", 2 * length)?),
            false => None,
        };
        let mut bytes = std::mem::take(into).into_bytes();
        self.text.take_into(length, &mut bytes)?;
        *into = String::from_utf8(bytes)
            .map_err(|error| self.text.bad_utf8(begin, "an id", error.as_bytes(), error.utf8_error().valid_up_to()))?;
        if let Some(bad) = into_ends.iter().find(|&&end| !into.is_char_boundary(end)) {
            return Err(self.text.bad_text(begin + *bad as u64, "the end of an id", "the middle of a character"));
        }
        self.start_bytes = end;
        Ok(())
    }
}

/// Whether the users' ids are strings.
pub fn string_ids(image: &Image) -> bool {
    matches!(image.manifest().ids, IdColumn::String { .. })
}

/// Parses an id of the graph's kind; `None` if the text is not such a number.
pub fn parse_id<'a>(image: &Image, id: &'a str) -> Option<Id<&'a str>> {
    match image.manifest().integer_ids().map(IdType::is_signed) {
        None => Some(Id::Text(id)),
        Some(false) => id.parse().ok().map(Id::Unsigned),
        Some(true) => id.parse().ok().map(Id::Signed),
    }
}

/// The vertices of ids in text form. One pass over the id column for all, unless ids are a range.
///
/// # Errors
/// [`Error::NoId`] for an id without a vertex; a column that cannot be read or is damaged.
pub fn vertices_of(image: &Image, ids: &[impl AsRef<str>]) -> Result<Vec<u32>> {
    let mut wanted = Vec::with_capacity(ids.len());
    let mut vertices = vec![u32::MAX; ids.len()];
    for (id, slot) in ids.iter().map(AsRef::as_ref).zip(&mut vertices) {
        let Some(parsed) = parse_id(image, id) else { return no_such_vertex(image, id) };
        match (parsed.number(), &image.manifest().ids) {
            (Some(value), IdColumn::Range { first }) => match u64::try_from(value - i128::from(*first)) {
                Ok(vertex) if vertex < image.manifest().vertices => *slot = vertex as u32,
                _ => return no_such_vertex(image, id),
            },
            _ => wanted.push((parsed, id, slot)),
        }
    }
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut missing = wanted.len();
    let sorted = image.manifest().order == Order::Input;
    let mut stream = IdStream::new(image)?;
    while missing > 0
        && let Some((first, batch)) = stream.next()?
    {
        for (vertex, id) in (first as u32..).zip(batch.iter()) {
            let from = wanted.partition_point(|(other, ..)| *other < id);
            for (.., slot) in wanted[from..].iter_mut().take_while(|(other, ..)| *other == id) {
                **slot = vertex;
                missing -= 1;
            }
        }
        if sorted && wanted.last().is_some_and(|(last, ..)| batch.get(batch.len() - 1) > *last) {
            break;
        }
    }
    match wanted.iter().find(|(.., slot)| **slot == u32::MAX) {
        Some((_, id, _)) => no_such_vertex(image, id),
        None => Ok(vertices),
    }
}

fn no_such_vertex<T>(image: &Image, id: &str) -> Result<T> {
    let kind = match image.manifest().integer_ids() {
        None => "strings",
        Some(_) => "whole numbers",
    };
    let mut ids = IdStream::new(image)?;
    let example = match ids.next()? {
        Some((_, batch)) => format!("the ids of this graph are {kind}, such as `{}`", batch.get(0)),
        None => "this graph has no vertices".to_owned(),
    };
    let shown: String = id.chars().take(200).collect();
    Err(Error::NoId { path: image.path().to_owned(), id: shown, ids: example })
}

/// The ids of some vertices, in the order in which they are given. A pass over the id column at most, and some 64 bytes
/// for each of them.
///
/// # Errors
/// A vertex that does not exist, a column that cannot be read or is damaged, or no memory.
pub fn ids_of(image: &Image, vertices: &[u32]) -> Result<Vec<Id<String>>> {
    let _reservation = image.reserve("the ids of some vertices", 64 * vertices.len() as u64)?;
    let mut places: Vec<usize> = (0..vertices.len()).collect();
    places.sort_by_key(|&place| vertices[place]);
    let mut places = places.into_iter().peekable();
    let mut ids = vec![Id::Unsigned(0); vertices.len()];
    let mut stream = IdStream::new(image)?;
    while let Some(&next) = places.peek() {
        let Some((first, batch)) = stream.next()? else {
            let vertices_there = image.manifest().vertices;
            return Err(Error::NoVertex { vertex: vertices[next].into(), vertices: vertices_there });
        };
        let end = first + batch.len() as u64;
        while let Some(place) = places.next_if(|&place| u64::from(vertices[place]) < end) {
            ids[place] = batch.get((u64::from(vertices[place]) - first) as usize).to_owned();
        }
    }
    Ok(ids)
}

/// All vertices in the order of their ids, or `None` if they are numbered in that order. Takes 4 bytes per vertex;
/// [`by_id_bytes`] during the call.
///
/// # Errors
/// A column that cannot be read or is damaged, or no memory.
pub fn by_id(image: &Image) -> Result<Option<Buffer<u32>>> {
    if by_id_bytes(image) == 0 {
        return Ok(None);
    }
    IdLookup::new(image)?.by_id(image)
}

/// Peak memory of [`by_id`].
pub fn by_id_bytes(image: &Image) -> u64 {
    match (image.manifest().order, &image.manifest().ids) {
        (Order::Input, _) | (_, IdColumn::Range { .. }) => 0,
        _ => IdLookup::bytes(image) + IdStream::bytes(image) + 8 * image.manifest().vertices,
    }
}

/// All ids in memory, for random access.
#[derive(Debug)]
pub struct IdLookup {
    ids: StoredIds,
}

#[derive(Debug)]
enum StoredIds {
    Range { first: i64, is_signed: bool },
    Unsigned(Buffer<u64>),
    Signed(Buffer<i64>),
    Text { ends: Buffer<u64>, text: Buffer<u8> },
}

impl IdLookup {
    /// Reads all ids.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged, or no memory.
    pub fn new(image: &Image) -> Result<Self> {
        let bytes = Self::bytes(image);
        image.make_room("the ids", bytes + IdStream::bytes(image))?;
        let (budget, count) = (image.runtime().budget(), image.manifest().vertices as usize);
        let is_signed = image.manifest().integer_ids().is_some_and(IdType::is_signed);
        let mut ids = match &image.manifest().ids {
            IdColumn::Range { first } => {
                return Ok(IdLookup { ids: StoredIds::Range { first: *first, is_signed } });
            }
            IdColumn::U64 { .. } | IdColumn::I64 { .. } if is_signed => {
                StoredIds::Signed(Buffer::zeroed(budget, "the ids", count)?)
            }
            IdColumn::U64 { .. } | IdColumn::I64 { .. } => {
                StoredIds::Unsigned(Buffer::zeroed(budget, "the ids", count)?)
            }
            IdColumn::String { text_bytes, .. } => StoredIds::Text {
                ends: Buffer::zeroed(budget, "the ends of the ids", count)?,
                text: Buffer::zeroed(budget, "the text of the ids", *text_bytes as usize)?,
            },
        };
        let mut stream = IdStream::new(image)?;
        let mut text_end = 0;
        while let Some((first, batch)) = stream.next()? {
            let first = first as usize;
            match (&mut ids, batch) {
                (StoredIds::Unsigned(all), IdBatch::Unsigned(some)) => {
                    all[first..first + some.len()].copy_from_slice(some)
                }
                (StoredIds::Signed(all), IdBatch::Signed(some)) => all[first..first + some.len()].copy_from_slice(some),
                (StoredIds::Text { ends, text }, IdBatch::Text { text: more, ends: more_ends }) => {
                    text[text_end..text_end + more.len()].copy_from_slice(more.as_bytes());
                    for (slot, end) in ends[first..].iter_mut().zip(more_ends) {
                        *slot = (text_end + end) as u64;
                    }
                    text_end += more.len();
                }
                _ => unreachable!("a stream's batches are of the kind of the type of the ids"),
            }
        }
        Ok(IdLookup { ids })
    }

    /// Memory of a lookup of this graph's ids.
    pub fn bytes(image: &Image) -> u64 {
        match &image.manifest().ids {
            IdColumn::Range { .. } => 0,
            IdColumn::U64 { .. } | IdColumn::I64 { .. } => 8 * image.manifest().vertices,
            IdColumn::String { text_bytes, .. } => (8 * image.manifest().vertices).saturating_add(*text_bytes),
        }
    }

    /// All vertices in the order of their ids, or `None` if they are numbered in that order. Takes 4 bytes per vertex,
    /// twice that during the call.
    ///
    /// # Errors
    /// No memory.
    pub fn by_id(&self, image: &Image) -> Result<Option<Buffer<u32>>> {
        if by_id_bytes(image) == 0 {
            return Ok(None);
        }
        let (budget, count) = (image.runtime().budget(), image.manifest().vertices as usize);
        let mut vertices = Buffer::<u32>::zeroed(budget, "vertices by id", count)?;
        let _scratch = budget.reserve("sorting vertices by id", 4 * count as u64)?;
        vertices.iter_mut().zip(0..).for_each(|(slot, vertex)| *slot = vertex);
        // Within a class of degrees vertices are in order: a stable sort merges these runs.
        vertices.sort_by(|&a, &b| self.id(a).cmp(&self.id(b)));
        Ok(Some(vertices))
    }

    /// The id of a vertex.
    ///
    /// # Panics
    /// If there is no such vertex and ids are not a range.
    #[inline]
    pub fn id(&self, vertex: u32) -> Id<&str> {
        let place = vertex as usize;
        match &self.ids {
            StoredIds::Range { first, is_signed: true } => Id::Signed(first.wrapping_add(i64::from(vertex))),
            StoredIds::Range { first, .. } => Id::Unsigned((*first as u64).wrapping_add(vertex.into())),
            StoredIds::Unsigned(values) => Id::Unsigned(values[place]),
            StoredIds::Signed(values) => Id::Signed(values[place]),
            StoredIds::Text { ends, text } => {
                let start = if place == 0 { 0 } else { ends[place - 1] };
                let bytes = &text[start as usize..ends[place] as usize];
                Id::Text(std::str::from_utf8(bytes).expect("ids were checked when they were read"))
            }
        }
    }
}
