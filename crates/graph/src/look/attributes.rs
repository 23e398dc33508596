//! Attributes of edges and vertices as Arrow columns, under their names in the input.
//!
//! *Cost.* What a stream of each column of values takes, and the strings of all attributes in memory.

use crate::engine::graph::Graph;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_schema::{DataType, Field, TimeUnit as ArrowUnit};
use outcore_format::{Attribute, AttributeKind, ImageFile, Index, Strings, TimeUnit};
use outcore_image::{ColumnStream, Result, STREAM_BYTES, TextStream};
use outcore_io::Reservation;
use std::ops::Range;
use std::sync::Arc;

/// Attributes, all of the edges or all of the vertices, that are read in order.
pub(crate) struct Attributes {
    columns: Arc<Columns>,
    streams: Vec<ColumnStream>,
}

/// Names, types and strings of attributes, read before their values.
struct Columns {
    all: Vec<Column>,
    /// The files of their values, and of what is missing, and how many values each has.
    files: Vec<(ImageFile, u64)>,
    _strings: Option<Reservation>,
}

/// Attributes that are entered anywhere.
pub(crate) struct AttributeIndex {
    columns: Arc<Columns>,
    /// Locations of the values of each file.
    indexes: Vec<Arc<Index>>,
    _reservation: Reservation,
}

impl AttributeIndex {
    /// Takes the strings of all attributes, and the indexes of their values.
    pub fn new(graph: &Graph, owner: Owner) -> Result<Self> {
        let columns = Arc::new(Columns::new(graph, owner)?);
        let (indexes, _reservation) = place_indexes(graph, columns.files.iter().map(|(file, _)| *file))?;
        Ok(AttributeIndex { columns, indexes, _reservation })
    }

    /// The attributes of the edges or vertices in a range.
    pub fn part(&self, graph: &Graph, range: &Range<u64>) -> Result<Attributes> {
        let files = self.columns.files.iter().zip(&self.indexes);
        let streams =
            files.map(|((file, count), index)| ColumnStream::part(graph.image(), *file, index, range.clone(), *count));
        Ok(Attributes { columns: Arc::clone(&self.columns), streams: streams.collect::<Result<_>>()? })
    }
}

/// The indexes of columns of values, and the memory that they take.
pub(crate) fn place_indexes(
    graph: &Graph,
    files: impl Iterator<Item = ImageFile>,
) -> Result<(Vec<Arc<Index>>, Reservation)> {
    const PURPOSE: &str = "indexes of weights and attributes";
    let read = graph.image().read_indexes(&files.collect::<Vec<_>>(), PURPOSE)?;
    let reservation = graph.runtime().budget().reserve(PURPOSE, read.iter().map(Index::memory_bytes).sum())?;
    Ok((read.into_iter().map(Arc::new).collect(), reservation))
}

struct Column {
    name: String,
    kind: AttributeKind,
    /// The stream that has its values, and the one that says where they are missing.
    values: usize,
    missing: Option<usize>,
    strings: Vec<Box<str>>,
}

/// The owners of the attributes: edges or vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The edges', beside the lists of out-neighbours.
    Edges,
    Vertices,
}

impl Owner {
    fn attributes(self, graph: &Graph) -> &[Attribute] {
        match self {
            Owner::Edges => &graph.manifest().attributes,
            Owner::Vertices => &graph.manifest().vertex_attributes,
        }
    }
}

/// The memory that reading attributes takes.
pub(crate) fn attribute_bytes(graph: &Graph, owner: Owner) -> u64 {
    let bytes = |attribute: &Attribute| {
        let streams = 1 + u64::from(attribute.missing.is_some());
        streams * STREAM_BYTES + attribute.strings.as_ref().map_or(0, strings_bytes)
    };
    owner.attributes(graph).iter().map(bytes).sum()
}

/// Number of columns of values of all attributes.
pub(crate) fn attribute_width(graph: &Graph, owner: Owner) -> usize {
    owner.attributes(graph).iter().map(|attribute| 1 + usize::from(attribute.missing.is_some())).sum()
}

fn strings_bytes(strings: &Strings) -> u64 {
    strings.text_bytes.saturating_add(strings.count.saturating_mul(32))
}

impl Attributes {
    /// All attributes from the first value on.
    pub fn new(graph: &Graph, owner: Owner) -> Result<Self> {
        Self::open(graph, owner, |file, count| ColumnStream::new(graph.image(), file, count))
    }

    /// All attributes; `open` opens a column, given its file and number of values.
    fn open(graph: &Graph, owner: Owner, open: impl Fn(ImageFile, u64) -> Result<ColumnStream>) -> Result<Self> {
        let columns = Arc::new(Columns::new(graph, owner)?);
        let streams = columns.files.iter().map(|&(file, count)| open(file, count)).collect::<Result<_>>()?;
        Ok(Attributes { columns, streams })
    }

    /// Goes on with the edges or vertices of another range, of the attributes that `index` has.
    pub fn seek(&mut self, index: &AttributeIndex, range: &Range<u64>) {
        self.streams.iter_mut().zip(&index.indexes).for_each(|(stream, index)| stream.seek(index, range.clone()));
    }

    /// The columns as a schema has them.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.columns.all.iter().map(|column| {
            let kind = match &column.kind {
                AttributeKind::Integer => DataType::Int64,
                AttributeKind::Real => DataType::Float64,
                AttributeKind::Boolean => DataType::Boolean,
                AttributeKind::String => DataType::Utf8,
                AttributeKind::Date => DataType::Date32,
                AttributeKind::Timestamp { unit, zone } => {
                    DataType::Timestamp(arrow_unit(*unit), zone.as_deref().map(Into::into))
                }
            };
            Field::new(&column.name, kind, column.missing.is_some())
        })
    }

    pub fn width(&self) -> usize {
        self.streams.len()
    }

    /// Takes the next values of all columns and appends them to `out`, one vector for each column.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged; a value that the attribute cannot have, as a string that there is not.
    pub fn take(&mut self, count: usize, out: &mut [Vec<u64>]) -> Result<()> {
        let before: Vec<usize> = out.iter().map(Vec::len).collect();
        self.streams.iter_mut().zip(out.iter_mut()).try_for_each(|(stream, out)| stream.take_into(count, out))?;
        for column in &self.columns.all {
            let part = |place: usize| &out[place][before[place]..];
            if let Some((value, expected)) = column.wrong_value(part(column.values), column.missing.map(part)) {
                return Err(self.streams[column.values].bad_value(expected, (value as i64).to_string()));
            }
        }
        Ok(())
    }

    /// Bytes of the strings of a row: `words` is the row's value in each column.
    pub fn text_bytes(&self, word: impl Fn(usize) -> u64) -> usize {
        let len = |column: &Column| column.strings.get(word(column.values) as usize).map_or(0, |text| text.len());
        self.columns.all.iter().map(len).sum()
    }

    /// Rows as Arrow arrays; `words` has their values, column by column.
    pub fn arrays<'a>(&'a self, words: &'a [&'a [u64]]) -> impl Iterator<Item = ArrayRef> + 'a {
        self.columns.all.iter().map(|column| column.array(words))
    }
}

impl Columns {
    fn new(graph: &Graph, owner: Owner) -> Result<Self> {
        let attributes = owner.attributes(graph);
        let string_bytes: u64 =
            attributes.iter().filter_map(|attribute| attribute.strings.as_ref()).map(strings_bytes).sum();
        let budget = graph.runtime().budget();
        let reservation =
            (string_bytes > 0).then(|| budget.reserve("strings of attributes", string_bytes)).transpose()?;
        let (mut all, mut files) = (Vec::new(), Vec::new());
        for (place, attribute) in attributes.iter().enumerate() {
            let mut add = |column: usize| {
                files.push(match owner {
                    Owner::Edges => (ImageFile::values(column, false), graph.manifest().out_lists.entries),
                    Owner::Vertices => (ImageFile::vertex_values(column), graph.vertices()),
                });
                files.len() - 1
            };
            let (values, missing) = (add(attribute.column), attribute.missing.map(&mut add));
            let strings = match &attribute.strings {
                Some(strings) => read_strings(graph, ImageFile::strings(place, owner == Owner::Vertices), strings)?,
                None => Vec::new(),
            };
            all.push(Column { name: attribute.name.clone(), kind: attribute.kind.clone(), values, missing, strings });
        }
        Ok(Columns { all, files, _strings: reservation })
    }
}

impl Column {
    /// The first value that the attribute cannot have, and what it can; `missing` marks those that mean nothing.
    fn wrong_value(&self, values: &[u64], missing: Option<&[u64]>) -> Option<(u64, String)> {
        let known = self.strings.len() as u64;
        let is_possible = |value: u64| match &self.kind {
            AttributeKind::Boolean => value <= 1,
            AttributeKind::String => value < known,
            AttributeKind::Date => i32::try_from(value as i64).is_ok(),
            AttributeKind::Integer | AttributeKind::Real | AttributeKind::Timestamp { .. } => true,
        };
        let is_there = |row: usize| missing.is_none_or(|missing| missing[row] == 0);
        let (_, &value) = values.iter().enumerate().find(|&(row, &value)| !is_possible(value) && is_there(row))?;
        let expected = match &self.kind {
            AttributeKind::Boolean => "0 or 1 for true and false".to_owned(),
            AttributeKind::Date => "days since 1970 in 32 bits".to_owned(),
            _ => format!("numbers of {known} strings"),
        };
        Some((value, format!("{expected} in the attribute `{}`", self.name)))
    }

    fn array(&self, words: &[&[u64]]) -> ArrayRef {
        let missing = self.missing.map(|missing| words[missing]);
        let is_missing = |row: usize| missing.is_some_and(|missing| missing[row] != 0);
        let rows = words[self.values].iter().enumerate();
        let values = rows.map(|(row, &word)| (!is_missing(row)).then_some(word));
        let times = || values.clone().map(|word| word.map(|word| word as i64));
        match &self.kind {
            AttributeKind::Integer => Arc::new(times().collect::<Int64Array>()),
            AttributeKind::Real => Arc::new(values.map(|word| word.map(f64::from_bits)).collect::<Float64Array>()),
            AttributeKind::Boolean => Arc::new(values.map(|word| word.map(|word| word != 0)).collect::<BooleanArray>()),
            AttributeKind::String => {
                let text = |word: u64| self.strings.get(word as usize).map(|text| &**text);
                Arc::new(values.map(|word| word.and_then(text)).collect::<StringArray>())
            }
            AttributeKind::Date => {
                Arc::new(values.map(|word| word.map(|word| word as i64 as i32)).collect::<Date32Array>())
            }
            AttributeKind::Timestamp { unit, zone } => {
                let zone = zone.as_deref();
                match unit {
                    TimeUnit::Second => Arc::new(times().collect::<TimestampSecondArray>().with_timezone_opt(zone)),
                    TimeUnit::Millisecond => {
                        Arc::new(times().collect::<TimestampMillisecondArray>().with_timezone_opt(zone))
                    }
                    TimeUnit::Microsecond => {
                        Arc::new(times().collect::<TimestampMicrosecondArray>().with_timezone_opt(zone))
                    }
                    TimeUnit::Nanosecond => {
                        Arc::new(times().collect::<TimestampNanosecondArray>().with_timezone_opt(zone))
                    }
                }
            }
        }
    }
}

fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Second => ArrowUnit::Second,
        TimeUnit::Millisecond => ArrowUnit::Millisecond,
        TimeUnit::Microsecond => ArrowUnit::Microsecond,
        TimeUnit::Nanosecond => ArrowUnit::Nanosecond,
    }
}

/// Reads all strings of an attribute, which are different and in the order of their bytes.
fn read_strings(graph: &Graph, file: ImageFile, strings: &Strings) -> Result<Vec<Box<str>>> {
    let mut stream = TextStream::new(graph.image(), file)?;
    let mut all: Vec<Box<str>> = Vec::new();
    let (mut bytes, mut at, mut remaining_bytes) = (Vec::new(), 0, strings.text_bytes);
    for number in 0..strings.count {
        if number % (1 << 16) == 0 {
            graph.runtime().cancel().check()?;
        }
        bytes.clear();
        stream.take_into(4, &mut bytes)?;
        let len_bytes = bytes.as_chunks::<4>().0.first().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
        if len_bytes > remaining_bytes {
            return Err(stream.bad_text(
                at,
                &format!("a string of at most {remaining_bytes} bytes"),
                len_bytes.to_string(),
            ));
        }
        bytes.clear();
        stream.take_into(len_bytes, &mut bytes)?;
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|error| stream.bad_utf8(at + 4, "a string", &bytes, error.valid_up_to()))?;
        if let Some(before) = all.last().filter(|before| &***before >= text) {
            let [before, text] = [&**before, text].map(|text| text.chars().take(100).collect::<String>());
            let found = format!("`{text}` behind `{before}`");
            return Err(stream.bad_text(at + 4, "different strings in the order of their bytes", found));
        }
        all.push(text.into());
        at += 4 + len_bytes;
        remaining_bytes -= len_bytes;
    }
    stream.finish()?;
    Ok(all)
}

/// All `count` values of a column whose index says where its pages begin.
pub(crate) fn indexed_values(graph: &Graph, file: ImageFile, count: u64) -> Result<ColumnStream> {
    let index = Arc::new(graph.image().read_indexes(&[file], "reading the index of values")?.remove(0));
    ColumnStream::part(graph.image(), file, &index, 0..count, count)
}

/// Reads all attributes, of edges and of vertices, with the indexes of their columns.
pub(crate) fn check_attributes(graph: &Graph) -> Result<()> {
    for (owner, count) in [(Owner::Edges, graph.manifest().out_lists.entries), (Owner::Vertices, graph.vertices())] {
        let mut attributes = Attributes::open(graph, owner, |file, count| indexed_values(graph, file, count))?;
        let mut words = vec![Vec::new(); attributes.width()];
        let mut remaining = count;
        while remaining > 0 && !words.is_empty() {
            let some = remaining.min(1 << 12) as usize;
            words.iter_mut().for_each(Vec::clear);
            attributes.take(some, &mut words)?;
            remaining -= some as u64;
        }
        for stream in &mut attributes.streams {
            // Nothing may follow.
            let more = stream.peek(usize::MAX)?.len();
            if more > 0 {
                return Err(stream.bad_value("the end of the column", format!("at least {more} more values")));
            }
        }
    }
    Ok(())
}
