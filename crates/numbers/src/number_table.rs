//! Tables of numbers in files or in memory: the columns of which a dense array is made.
//!
//! The first bytes of a file tell its kind: Parquet, Arrow, or else text in columns (`number_text.rs`). All columns of
//! numbers are taken, or the requested ones. Blocks come in the order of the rows, from one worker at a time. Rows of
//! tables are converted when they are read, since only one decoded batch may be in memory; lines are parsed by the
//! worker that takes them.

use crate::number_columns::{NoElement, NumberValues, Rounded, element_of, fill, refused, see_rounded};
use crate::number_text::{NumberText, TextParser};
use arrow_array::RecordBatchReader;
use arrow_schema::Schema;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_ingest::parts::{
    BLOCK_BYTES, Batch, Batches, Input, InputContext, Kind, LOOKED_AT_BYTES, LineBlocks, Lines, arrow_batches,
    by_start, checked_batches, damaged, listed, parquet_batches,
};
use outcore_ingest::{Facts, column_asked, is_document};
use outcore_io::{Budget, Reservation, Runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a batch that are converted at a time.
const PART_BYTES: usize = 1 << 20;
/// Prefix of the names that pandas gives to columns of an index.
const INDEX_NAME: &str = "__index_level_";

/// Options for reading a table of numbers.
#[derive(Clone, Debug, Default)]
pub struct NumberOptions {
    /// Columns, by their names or their numbers from 1, in this order. `None` takes all of numbers.
    pub columns: Option<Vec<String>>,
    /// Separator of the columns of a text file: `tab`, `comma`, ..., or a character. `None`: decided by the first
    /// lines.
    pub delimiter: Option<String>,
    /// Whether the first line of a text file names the columns. `None` decides by the first lines.
    pub header: Option<bool>,
    /// Sign that begins comments in a text file, or `none`. `None`: `#` and `%`, but nothing in CSV.
    pub comment: Option<String>,
}

/// Facts of a table that are known before its rows are read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NumberFacts {
    /// "parquet", "arrow" or "text".
    pub format: &'static str,
    /// The names of the columns that are taken, if columns have names.
    pub names: Option<Vec<String>>,
    /// The types of these columns; of text those of the first lines.
    pub kinds: Vec<ElementType>,
    /// The number of rows, where the format says so.
    pub rows: Option<u64>,
    /// The size of the input in bytes as it lies on disk, where it is known.
    pub input_bytes: Option<u64>,
    /// The input can be read once only.
    pub is_pipe: bool,
    /// The separator of columns, where the input is text.
    pub separator: Option<String>,
    /// Notes for the user on how the input is read, in whole sentences.
    pub notes: Vec<String>,
}

/// A table of numbers, opened.
pub struct NumberTable {
    path: PathBuf,
    budget: Option<Arc<Budget>>,
    facts: NumberFacts,
    content: Content,
}

impl std::fmt::Debug for NumberTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumberTable").field("path", &self.path).field("facts", &self.facts).finish_non_exhaustive()
    }
}

enum Content {
    Table(Batches),
    Text { text: Box<NumberText>, chosen: Vec<usize> },
}

/// The kind of a column of text, as far as lines were examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Empty,
    Whole,
    /// Numbers, or whole ones of which some are missing.
    Real,
    /// True and false.
    Truth,
    /// Booleans, of which some are missing.
    SomeTruth,
    Text,
}

impl ColumnKind {
    /// The kind of a column with values of both kinds.
    pub(crate) fn and(self, other: Self) -> Self {
        use ColumnKind::{Empty, Real, SomeTruth, Text, Truth, Whole};
        match (self, other) {
            (one, other) if one == other => one,
            (Empty | Real, Empty | Whole | Real) | (Whole, Empty | Real) => Real,
            (Empty | SomeTruth, Empty | Truth | SomeTruth) | (Truth, Empty | SomeTruth) => SomeTruth,
            _ => Text,
        }
    }

    /// The type of elements that holds it.
    fn element(self) -> Option<ElementType> {
        match self {
            ColumnKind::Whole => Some(ElementType::Int64),
            ColumnKind::Real | ColumnKind::SomeTruth | ColumnKind::Empty => Some(ElementType::Float64),
            ColumnKind::Truth => Some(ElementType::Bool),
            ColumnKind::Text => None,
        }
    }
}

/// A column that may be taken.
struct Column<'a> {
    name: &'a str,
    /// The type of its elements, if it has numbers, or true and false.
    element: Option<ElementType>,
    /// Whether it is taken unasked.
    is_number: bool,
    /// Content of the column, for messages.
    content: String,
    /// Whether it has numbers with a comma for a point.
    has_commas: bool,
}

/// The columns that are read: their places, their types, and a note on the others.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) columns: Vec<usize>,
    pub(crate) kinds: Vec<ElementType>,
    pub(crate) note: Option<String>,
}

impl Chosen {
    fn of(path: &Path, all: &[Column<'_>], options: &NumberOptions) -> Result<Self> {
        let (columns, note) = match &options.columns {
            Some(named) => (Chosen::named(path, all, named)?, None),
            None => Chosen::numbers(path, all)?,
        };
        let kinds = columns.iter().filter_map(|&column| all[column].element).collect();
        Ok(Chosen { columns, kinds, note })
    }

    fn named(path: &Path, all: &[Column<'_>], named: &[String]) -> Result<Vec<usize>> {
        if named.is_empty() {
            return Err(Error::Usage("--columns: expected the names or numbers of columns, found none".to_owned()));
        }
        let names: Vec<&str> = all.iter().map(|column| column.name).collect();
        let mut columns = Vec::new();
        for named in named {
            let column = column_asked(path, "columns", named, &names)?;
            if all[column].element.is_none() {
                let expected = format!("numbers, or true and false, in column `{}`", names[column]);
                return Err(Error::input(path, None, expected, all[column].content.clone())
                    .advise("say --columns without it, or make numbers of it first"));
            }
            if columns.contains(&column) {
                return Err(Error::Usage(format!("--columns {named}: expected every column once, found it twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// The columns of numbers, and a note on the others.
    fn numbers(path: &Path, all: &[Column<'_>]) -> Result<(Vec<usize>, Option<String>)> {
        let columns: Vec<usize> = (0..all.len()).filter(|&column| all[column].is_number).collect();
        let others = all.iter().filter(|column| !column.is_number && !column.name.starts_with(INDEX_NAME));
        let others: Vec<String> = others.map(|column| format!("{} ({})", column.name, column.content)).collect();
        let others = listed(&others.iter().map(String::as_str).collect::<Vec<_>>());
        if columns.is_empty() {
            let found = if all.is_empty() { "no columns".to_owned() } else { format!("the columns {others}") };
            let advice = if all.iter().any(|column| column.has_commas) {
                "numbers have a decimal point: replace the commas in them first"
            } else if all.iter().any(|column| column.element.is_some()) {
                "columns of true and false are read where --columns names them"
            } else if all.is_empty() {
                "write it with some"
            } else {
                "make numbers of the words first"
            };
            return Err(Error::input(path, None, "columns of numbers", found).advise(advice));
        }
        let note = format!("Columns that are not read, for they do not hold numbers alone: {others}.");
        Ok((columns, (!others.is_empty()).then_some(note)))
    }

    pub(crate) fn of_schema(path: &Path, schema: &Schema, options: &NumberOptions) -> Result<Self> {
        let no_text = [("delimiter", options.delimiter.is_some()), ("header", options.header.is_some())];
        let given = no_text.into_iter().chain([("comment", options.comment.is_some())]).find(|(_, is_given)| *is_given);
        if let Some((name, _)) = given {
            let found = format!("{}, which is a table", path.display());
            return Err(Error::Usage(format!(
                "--{name}: expected text in columns, found {found}; leave the option out"
            )));
        }
        let mut columns = Vec::new();
        for field in schema.fields() {
            let (name, element) = (field.name().as_str(), element_of(field.data_type()));
            let is_number = element.is_some_and(|kind| kind != ElementType::Bool) && !name.starts_with(INDEX_NAME);
            let content = field.data_type().to_string();
            columns.push(Column { name, element, is_number, content, has_commas: false });
        }
        Chosen::of(path, &columns, options)
    }

    fn of_text(path: &Path, text: &NumberText, options: &NumberOptions) -> Result<Self> {
        if !text.has_rows && options.columns.is_none() {
            return Err(Error::input(path, None, "columns of numbers", "the names of columns, and no rows")
                .advise("--columns makes an array without rows"));
        }
        let numbers: Vec<String> = (1..=text.kinds.len()).map(|number| number.to_string()).collect();
        let names = text.names.as_ref().unwrap_or(&numbers).iter().zip(&text.kinds).zip(&text.words);
        let columns = names.zip(&text.has_commas).map(|(((name, kind), word), &has_commas)| Column {
            name,
            element: kind.element(),
            is_number: matches!(kind, ColumnKind::Whole | ColumnKind::Real | ColumnKind::Empty),
            content: match word {
                Some((line, word)) => format!("`{word}` on line {line}"),
                None => "true and false".to_owned(),
            },
            has_commas,
        });
        Chosen::of(path, &columns.collect::<Vec<_>>(), options)
    }
}

impl NumberTable {
    /// Opens a table in a file, or `-`, the standard input. Reads its first megabyte; of Parquet the metadata.
    ///
    /// # Errors
    /// Errors of the operating system; another kind of file, or a damaged one; columns that do not exist or hold no
    /// numbers; no memory.
    pub fn open(runtime: &Runtime, path: &Path, options: &NumberOptions) -> Result<Self> {
        let input = Input::file(path, &InputContext::of(runtime))?;
        NumberTable::of_input(&input, options)
    }

    fn of_input(input: &Input, options: &NumberOptions) -> Result<Self> {
        let start = input.start(LOOKED_AT_BYTES)?;
        let path = input.path();
        let kind = by_start(&start);
        let (format, schema, chosen, batches, rows) = match kind {
            Some(Kind::Read("parquet")) => {
                let mut found = None;
                let (rows, schema, batches) = parquet_batches(input, |schema| {
                    let chosen = found.insert(Chosen::of_schema(path, schema, options)?);
                    Ok(chosen.columns.clone())
                })?;
                let chosen = found.ok_or_else(|| damaged(path, "a Parquet file", "no schema"))?;
                ("parquet", schema, chosen, batches, Some(rows))
            }
            Some(Kind::Read("arrow")) => {
                let (schema, batches) = arrow_batches(input)?;
                let chosen = Chosen::of_schema(path, &schema, options)?;
                let columns = chosen.columns.clone();
                let failed = |error: String| damaged(path, "rows of a table", &error);
                let schema = Arc::new(schema.project(&columns).map_err(|error| failed(error.to_string()))?);
                let path = path.to_owned();
                let batches = batches.map(move |batch| {
                    let batch = batch?;
                    let rows = batch.rows.project(&columns);
                    let rows = rows.map_err(|error| damaged(&path, "rows of a table", &error.to_string()))?;
                    Ok(Batch { rows, ..batch })
                });
                ("arrow", schema, chosen, Box::new(batches) as Batches, None)
            }
            Some(Kind::Read("matrix-market")) => {
                return Err(Error::input(path, None, "a table of numbers", "a matrix in the format Matrix Market")
                    .advise("import it as a matrix"));
            }
            Some(Kind::Read("jsonl")) => {
                return Err(Error::input(path, None, "a table of numbers", "JSON lines")
                    .advise("read them with polars or pandas, and write Parquet or CSV"));
            }
            Some(Kind::Read(found)) if is_document(found) => {
                return Err(Error::input(path, None, "a table of numbers", format!("a graph in the format {found}"))
                    .advise("import it as a graph or a matrix"));
            }
            Some(Kind::Foreign(found, _)) => {
                return Err(Error::input(path, None, "a table of numbers", found)
                    .advise("what is read is CSV and other text in columns, Parquet, Arrow and .npy files"));
            }
            _ if start.contains(&0) => {
                return Err(Error::input(path, None, "a table of numbers", "binary data")
                    .advise("what is read is CSV and other text in columns, Parquet, Arrow and .npy files"));
            }
            _ => return NumberTable::of_text(input, options),
        };
        let names = Some(schema.fields().iter().map(|field| field.name().clone()).collect());
        let facts = NumberFacts {
            format,
            names,
            kinds: chosen.kinds,
            rows,
            input_bytes: input.size_bytes(),
            is_pipe: input.size_bytes().is_none(),
            notes: chosen.note.into_iter().collect(),
            ..NumberFacts::default()
        };
        let budget = Some(Arc::clone(input.budget()));
        Ok(NumberTable { path: path.to_owned(), budget, facts, content: Content::Table(batches) })
    }

    fn of_text(input: &Input, options: &NumberOptions) -> Result<Self> {
        let path = input.path();
        let text = NumberText::open(LineBlocks::new(input.stream()?), options)?;
        let chosen = Chosen::of_text(path, &text, options)?;
        let Facts { input_bytes, is_pipe, .. } = text.blocks.facts();
        let facts = NumberFacts {
            format: "text",
            names: text
                .names
                .as_ref()
                .map(|names| chosen.columns.iter().map(|&column| names[column].clone()).collect()),
            kinds: chosen.kinds,
            input_bytes,
            is_pipe,
            separator: Some(text.separator.name()),
            notes: chosen.note.into_iter().collect(),
            ..NumberFacts::default()
        };
        let content = Content::Text { text: Box::new(text), chosen: chosen.columns };
        Ok(NumberTable { path: path.to_owned(), budget: Some(Arc::clone(input.budget())), facts, content })
    }

    /// Takes record batches, as Python hands them over; `name` stands for a path in messages.
    ///
    /// # Errors
    /// Columns that are not there, or hold no numbers.
    pub fn from_batches(
        reader: Box<dyn RecordBatchReader + Send>,
        name: &str,
        options: &NumberOptions,
    ) -> Result<Self> {
        let path = PathBuf::from(name);
        let schema = reader.schema();
        let chosen = Chosen::of_schema(&path, &schema, options)?;
        let facts = NumberFacts {
            format: "arrow",
            names: Some(chosen.columns.iter().map(|&column| schema.field(column).name().clone()).collect()),
            kinds: chosen.kinds,
            is_pipe: true,
            notes: chosen.note.into_iter().collect(),
            ..NumberFacts::default()
        };
        let batches = checked_batches(reader, chosen.columns, &path);
        Ok(NumberTable { path, budget: None, facts, content: Content::Table(batches) })
    }

    /// The facts of the table.
    pub fn facts(&self) -> &NumberFacts {
        &self.facts
    }

    /// The rows as elements of a type; `is_guess` says that nobody asked for it.
    #[doc(hidden)]
    pub fn read_as(self, runtime: &Runtime, element: ElementType, is_guess: bool) -> (NumberBlocks, NumberParser) {
        let NumberTable { path, budget, facts, content } = self;
        let budget = budget.unwrap_or_else(|| Arc::clone(runtime.budget()));
        let rounded = (is_guess && element == ElementType::Float64).then(|| Arc::new(Rounded::default()));
        match content {
            Content::Table(batches) => {
                let names = facts.names.unwrap_or_default();
                // Several workers come to the end.
                let batches = Box::new(batches.fuse());
                let own = rounded.clone();
                let rows = TableRows { path, budget, names, element, rounded: own, batches, rest: None, next_row: 0 };
                (NumberBlocks(Blocks::Table(Box::new(rows))), NumberParser { text: None, rounded })
            }
            Content::Text { text, chosen } => {
                let name = |&column: &usize| match &text.names {
                    Some(names) => names[column].clone(),
                    None => (column + 1).to_string(),
                };
                let is_truth = |column: usize| matches!(text.kinds[column], ColumnKind::Truth | ColumnKind::SomeTruth);
                let columns = chosen.iter().map(|column| (name(column), is_truth(*column))).collect();
                let place = |column: usize| chosen.iter().position(|&other| other == column);
                let places = (0..text.kinds.len()).map(place).collect();
                let NumberText { blocks, separator, comments, .. } = *text;
                let own = rounded.clone();
                let parser =
                    TextParser { path, budget, separator, comments, places, columns, element, is_guess, rounded: own };
                (NumberBlocks(Blocks::Text(Box::new(blocks))), NumberParser { text: Some(parser), rounded })
            }
        }
    }
}

/// Rows on their way.
pub struct NumberBlocks(Blocks);

enum Blocks {
    Table(Box<TableRows>),
    Text(Box<LineBlocks>),
}

/// Adjacent rows.
pub struct NumberBlock {
    data: BlockData,
    /// Position in the input, as it lies on disk, at which the rows end; 0 if unknown.
    pub position_bytes: u64,
}

enum BlockData {
    Values(NumberValues),
    Lines(Lines),
}

impl NumberBlocks {
    /// The next rows, or nothing at the end.
    ///
    /// # Errors
    /// A damaged file, a number that elements do not hold, no memory, a request to stop.
    pub fn next_block(&mut self) -> Result<Option<NumberBlock>> {
        match &mut self.0 {
            Blocks::Table(rows) => rows.next_part(),
            Blocks::Text(blocks) => {
                let block = blocks.next_lines()?;
                Ok(block.map(|lines| NumberBlock { position_bytes: lines.input_bytes, data: BlockData::Lines(lines) }))
            }
        }
    }
}

/// Turns blocks into elements, on any worker.
pub struct NumberParser {
    text: Option<TextParser>,
    /// Whole numbers that were rounded, where that was not asked for.
    rounded: Option<Arc<Rounded>>,
}

/// Why there are no elements.
#[derive(Debug)]
pub struct Refused {
    /// The error.
    pub error: Error,
    /// Whether it would not be, if elements were real numbers; only where their type was a guess.
    pub wants_real: bool,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused { error, wants_real: false }
    }
}

impl NumberParser {
    /// Reserves the memory of a worker for the blocks that it takes.
    ///
    /// # Errors
    /// No memory.
    pub fn reserve(&self) -> Result<Option<Reservation>> {
        let reserve = |parser: &TextParser| parser.budget.reserve("a block of text", 2 * BLOCK_BYTES as u64);
        self.text.as_ref().map(reserve).transpose()
    }

    /// The elements of a block.
    ///
    /// # Errors
    /// Text that is no number, or one that elements do not hold; no memory.
    pub fn values(&self, block: NumberBlock) -> std::result::Result<NumberValues, Refused> {
        match (block.data, &self.text) {
            (BlockData::Values(values), _) => Ok(values),
            (BlockData::Lines(lines), Some(parser)) => parser.values(&lines),
            (BlockData::Lines(_), None) => unreachable!("only text comes in lines"),
        }
    }

    /// A note on the elements, once all blocks were taken.
    pub fn note(&self) -> Option<String> {
        self.rounded.as_ref()?.take_note()
    }
}

struct TableRows {
    path: PathBuf,
    budget: Arc<Budget>,
    names: Vec<String>,
    element: ElementType,
    rounded: Option<Arc<Rounded>>,
    batches: Batches,
    /// A batch of which the first rows were given out.
    rest: Option<(Batch, usize)>,
    next_row: u64,
}

impl TableRows {
    fn next_part(&mut self) -> Result<Option<NumberBlock>> {
        let (batch, start) = loop {
            let next = self.rest.take().map(Ok).or_else(|| Some(self.batches.next()?.map(|batch| (batch, 0))));
            match next.transpose()? {
                None => return Ok(None),
                Some((batch, start)) if start < batch.rows.num_rows() => break (batch, start),
                Some(_) => {}
            }
        };
        let row_bytes = self.names.len() * self.element.bytes();
        let count = (PART_BYTES / row_bytes).max(1).min(batch.rows.num_rows() - start);
        let mut values = NumberValues::new(&self.budget, self.element, self.names.len(), count)?;
        let mut first = None::<(usize, usize, NoElement)>;
        for (place, column) in batch.rows.columns().iter().enumerate() {
            let part = column.slice(start, count);
            if let Err((row, found)) = fill(&part, self.element, values.column_mut(place))
                && first.as_ref().is_none_or(|(least, ..)| row < *least)
            {
                first = Some((row, place, found));
            }
            if let Some(rounded) = &self.rounded {
                see_rounded(&part, rounded, (self.next_row, place), &self.names[place]);
            }
        }
        if let Some((row, place, found)) = first {
            let (column, row) = ((&*self.names[place], self.element), self.next_row + row as u64);
            return Err(refused(&self.path, column, row, found, false));
        }
        self.next_row += count as u64;
        let position_bytes = batch.position_bytes;
        self.rest = Some((batch, start + count)).filter(|(batch, start)| *start < batch.rows.num_rows());
        Ok(Some(NumberBlock { data: BlockData::Values(values), position_bytes }))
    }
}
