//! Tables as images of dense arrays: rows of a file, or of batches in memory, streamed into pages of columns.
//!
//! One worker at a time takes the next rows; text is parsed by all. Rows are put into pages in input order, by the
//! worker that has the next block, so the image does not depend on the number of workers. Elements have the requested
//! type, or the one to which those of all columns are promoted. The type of text is guessed from its first lines, and
//! the text is read again if a later number does not fit it.
//!
//! *Cost.* One pass over the input, or two of text and of a .npy file whose numbers are narrowed; memory for a page of
//! every column, for a few blocks of rows, and for what decoding takes.

use crate::array::Array;
use crate::compute::{Goal, ImageGoal, compute};
use crate::kernel::{Binary, Fold, Unary, promote, promote_mixed};
use crate::npy::NpySource;
use crate::operations::view::AxisPart;
use crate::source::ArraySource;
use outcore_format::ElementType;
use outcore_format::dense::{GROUP_BYTES, rows_per_page};
use outcore_image::{DenseHead, DenseImage, DenseWriteWorker, DenseWriter, Error, Result};
use outcore_io::{Buffer, Runtime, Task, Unit, bytes_text, escaped, lock, peak_memory_bytes, trim_freed_memory};
use outcore_numbers::{
    NumberBlock, NumberBlocks, NumberFacts, NumberOptions, NumberParser, NumberTable, NumberValues, Refused,
};
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Memory of an additional worker: a block of text, and approximately the largest elements that it yields.
const WORKER_BYTES: u64 = 12 << 20;
/// Interval at which a wait checks for a request to stop.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// Options for importing an array from a table.
#[derive(Clone, Debug, Default)]
pub struct ArrayImportOptions {
    /// Options for reading the table.
    pub numbers: NumberOptions,
    /// The type of the elements. `None` takes the one to which the types of all columns are promoted; of text int64, or
    /// float64 if a number is fractional or missing.
    pub element: Option<ElementType>,
    /// Whether an existing image may be replaced.
    pub replace: bool,
}

/// Facts about the import of an array.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ArrayImportReport {
    /// "npy", "parquet", "arrow" or "text".
    pub format: &'static str,
    /// The separator of the columns, if the input is text.
    pub separator: Option<String>,
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: u64,
    /// The names of the columns, if they have any.
    pub names: Option<Vec<String>>,
    /// The types of the columns in the input.
    pub kinds: Vec<&'static str>,
    /// The type of the elements.
    pub element: &'static str,
    /// The bytes of the image.
    pub image_bytes: u64,
    /// Notes to the user about the input.
    pub notes: Vec<String>,
    /// Duration of the import in seconds.
    pub seconds: f64,
    /// The largest size of the process in memory, in bytes.
    pub memory_peak_bytes: u64,
}

/// Imports a file as an image of an array: a file named .npy, or a table. `-` is the standard input.
///
/// # Errors
/// As for [`import_array`]; a file that is neither, or columns that are not there or hold no numbers.
pub fn import_array_file(
    runtime: &Runtime,
    input: &Path,
    image: &Path,
    options: &ArrayImportOptions,
) -> Result<ArrayImportReport> {
    if input.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy")) {
        return import_npy(runtime, input, image, options);
    }
    let table = NumberTable::open(runtime, input, &options.numbers)?;
    let is_read_once = table.facts().is_pipe;
    match import_table(runtime, table, image, options, false) {
        Err(refused) if refused.wants_real && !is_read_once => {
            let table = NumberTable::open(runtime, input, &options.numbers)?;
            import_table(runtime, table, image, options, true).map_err(|refused| refused.error)
        }
        outcome => outcome.map_err(|refused| refused.error),
    }
}

/// Imports a table as an image of an array, which appears when it is complete.
///
/// # Errors
/// Something that has the name already; a number that elements do not hold, or that is missing where they have no NaN;
/// a damaged input, a full disk, too little memory, a request to stop. Then no new file remains, and an older image
/// stays.
pub fn import_array(
    runtime: &Runtime,
    table: NumberTable,
    image: &Path,
    options: &ArrayImportOptions,
) -> Result<ArrayImportReport> {
    import_table(runtime, table, image, options, false).map_err(|refused| refused.error)
}

/// Imports a table. `is_real`: real numbers follow the rows from which the types of the columns were detected.
fn import_table(
    runtime: &Runtime,
    table: NumberTable,
    image: &Path,
    options: &ArrayImportOptions,
    is_real: bool,
) -> std::result::Result<ArrayImportReport, Refused> {
    let (start, facts) = (Instant::now(), table.facts().clone());
    let common = if is_real { ElementType::Float64 } else { common_element(&facts.kinds) };
    let element = options.element.unwrap_or(common);
    let columns = facts.kinds.len() as u64;
    let head = DenseHead {
        element,
        rows: facts.rows.unwrap_or(0),
        columns,
        dimensions: 2,
        names: facts.names.clone(),
        made_by: Some("import".to_owned()),
    };
    let writer = match facts.rows {
        Some(_) => DenseWriter::create(runtime, image, head, options.replace)?,
        None => DenseWriter::create_growing(runtime, image, head, options.replace)?,
    };
    let (blocks, parser) = table.read_as(runtime, element, options.element.is_none());
    let rows = store(runtime, &writer, (blocks, &parser), &facts)?;
    writer.commit_rows(rows)?;
    trim_freed_memory();
    let image_bytes = DenseImage::open(runtime, image)?.image_bytes();
    let is_wide = wide_note(rows * columns * element.bytes() as u64, image_bytes);
    Ok(ArrayImportReport {
        format: facts.format,
        separator: facts.separator,
        rows,
        columns,
        names: facts.names,
        kinds: facts.kinds.iter().map(|kind| kind.name()).collect(),
        element: element.name(),
        image_bytes,
        notes: facts
            .notes
            .into_iter()
            .chain(parser.note())
            .chain(is_wide)
            .map(|note| escaped(note).to_string())
            .collect(),
        seconds: start.elapsed().as_secs_f64(),
        memory_peak_bytes: peak_memory_bytes(),
    })
}

/// A note on an image that is many times larger than its numbers, since each column has pages of its own.
fn wide_note(numbers_bytes: u64, image_bytes: u64) -> Option<String> {
    const LARGE_BYTES: u64 = 64 << 20;
    const MANY_TIMES: u64 = 8;
    let is_wide = image_bytes > LARGE_BYTES && image_bytes / MANY_TIMES > numbers_bytes;
    is_wide.then(|| {
        let (numbers, image) = (bytes_text(numbers_bytes), bytes_text(image_bytes));
        format!(
            "The numbers take {numbers}, the image {image}: each column has pages of its own, of 4 KiB. Where columns \
             are many and rows few, import the transpose."
        )
    })
}

/// The type of the elements of an array whose columns have these types.
pub(crate) fn common_element(kinds: &[ElementType]) -> ElementType {
    kinds.iter().copied().reduce(promote_mixed).unwrap_or(ElementType::Float64)
}

/// Writes all rows, and returns their number.
fn store(
    runtime: &Runtime,
    writer: &DenseWriter,
    (blocks, parser): (NumberBlocks, &NumberParser),
    facts: &NumberFacts,
) -> std::result::Result<u64, Refused> {
    let (element, columns) = (writer.manifest().element, writer.manifest().columns as usize);
    let pages = Buffer::zeroed(runtime.budget(), "a page of every column", columns.saturating_mul(GROUP_BYTES));
    let filling = Filling { pages: pages?, filled: 0, rows: 0, columns, element, writer: writer.worker()? };
    let is_by_bytes = facts.rows.is_none() && facts.input_bytes.is_some();
    let task = match is_by_bytes {
        true => runtime.task("reading", Unit::Bytes, facts.input_bytes),
        false => runtime.task("reading", Unit::Rows, facts.rows),
    };
    let job = Job {
        runtime,
        blocks: Mutex::new((blocks, 0)),
        parser,
        state: Mutex::new((0, filling)),
        turn: Condvar::new(),
        stop: AtomicBool::new(false),
        task,
        position_bytes: is_by_bytes.then(Mutex::default),
    };
    let workers = (runtime.budget().available_bytes() / WORKER_BYTES).clamp(1, runtime.threads() as u64) as usize;
    runtime.run_on(workers, |_| job.work().map_err(Failure)).map_err(|failure: Failure| failure.0)?;
    let (_, filling) = outcore_io::into_inner(job.state);
    Ok(filling.finish()?)
}

/// The error of a worker.
struct Failure(Refused);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(error.into())
    }
}

/// The shared state of all workers.
struct Job<'a> {
    runtime: &'a Runtime,
    /// The input, and the number of its next block.
    blocks: Mutex<(NumberBlocks, u64)>,
    parser: &'a NumberParser,
    /// The number of the next block, and its pages.
    state: Mutex<(u64, Filling)>,
    turn: Condvar,
    stop: AtomicBool,
    task: Task,
    /// Position in the input of the rows that were written, if progress is counted in bytes.
    position_bytes: Option<Mutex<u64>>,
}

impl Drop for Stopping<'_, '_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.stop.store(true, Ordering::Relaxed);
            self.0.turn.notify_all();
        }
    }
}

/// Stops all workers when it is dropped, unless the worker has succeeded.
struct Stopping<'a, 'b>(&'a Job<'b>, bool);

impl Job<'_> {
    fn work(&self) -> std::result::Result<(), Refused> {
        // A worker that failed or panicked would leave the others waiting for its turn.
        let mut stopping = Stopping(self, true);
        let _block = self.parser.reserve()?;
        while !self.stop.load(Ordering::Relaxed) {
            self.runtime.cancel().check()?;
            let Some((number, block)) = self.take() else { break };
            let position_bytes = block.as_ref().map_or(0, |block| block.position_bytes);
            let values = block.map_err(Refused::from).and_then(|block| self.parser.values(block));
            self.put(number, values, position_bytes)?;
        }
        stopping.1 = false;
        Ok(())
    }

    /// The next block. Errors are ordered by their block, so that the first mistake of an input is reported.
    fn take(&self) -> Option<(u64, Result<NumberBlock>)> {
        let (blocks, next) = &mut *lock(&self.blocks);
        let block = blocks.next_block().transpose()?;
        *next += 1;
        Some((*next - 1, block))
    }

    /// Waits for the turn of a block, and puts its rows into pages.
    fn put(
        &self,
        number: u64,
        values: std::result::Result<NumberValues, Refused>,
        position_bytes: u64,
    ) -> std::result::Result<(), Refused> {
        let mut state = lock(&self.state);
        while state.0 != number {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.runtime.cancel().check()?;
            state = self.turn.wait_timeout(state, CANCEL_CHECK).unwrap_or_else(PoisonError::into_inner).0;
        }
        let values = values?;
        state.1.put(&values)?;
        state.0 += 1;
        drop(state);
        self.turn.notify_all();
        match &self.position_bytes {
            None => self.task.advance(values.rows() as u64),
            Some(position) => {
                let mut before = lock(position);
                self.task.advance(position_bytes.saturating_sub(*before));
                *before = position_bytes.max(*before);
            }
        }
        Ok(())
    }
}

/// Pages of a group of rows, one for every column, that are filled.
struct Filling {
    pages: Buffer<u8>,
    /// Number of rows of the group so far.
    filled: usize,
    /// Number of rows before it.
    rows: u64,
    columns: usize,
    element: ElementType,
    writer: DenseWriteWorker,
}

impl Filling {
    fn put(&mut self, values: &NumberValues) -> Result<()> {
        let (size, page_rows) = (self.element.bytes(), rows_per_page(self.element));
        let mut start = 0;
        while start < values.rows() {
            let count = (page_rows - self.filled).min(values.rows() - start);
            for column in 0..self.columns {
                let from = &values.column(column)[start * size..(start + count) * size];
                if count == page_rows {
                    self.writer.put(self.rows, column as u64, from)?;
                } else {
                    self.pages[column * GROUP_BYTES + self.filled * size..][..count * size].copy_from_slice(from);
                }
            }
            start += count;
            if count == page_rows {
                self.rows += count as u64;
                continue;
            }
            self.filled += count;
            if self.filled == page_rows {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes the group.
    fn write(&mut self) -> Result<()> {
        let len = self.filled * self.element.bytes();
        for column in 0..self.columns {
            self.writer.put(self.rows, column as u64, &self.pages[column * GROUP_BYTES..][..len])?;
        }
        self.rows += std::mem::take(&mut self.filled) as u64;
        Ok(())
    }

    /// Writes the remaining rows; returns the number of all rows.
    fn finish(mut self) -> Result<u64> {
        if self.filled > 0 {
            self.write()?;
        }
        self.writer.finish()?;
        Ok(self.rows)
    }
}

/// Imports a .npy file, whose columns have no names.
fn import_npy(
    runtime: &Runtime,
    input: &Path,
    image: &Path,
    options: &ArrayImportOptions,
) -> Result<ArrayImportReport> {
    let start = Instant::now();
    let NumberOptions { columns: numbers, delimiter, header, comment } = &options.numbers;
    if delimiter.is_some() || header.is_some() || comment.is_some() {
        let file = input.display();
        return Err(Error::Usage(format!(
            "--delimiter, --header, --comment: expected text in columns, found {file}, which is an array"
        )));
    }
    let source = NpySource::open(runtime, input)?;
    let kind = source.element();
    let mut array = Array::from_source(Arc::new(source))?;
    if let Some(numbers) = numbers {
        array = columns_of(&array, numbers)?;
    }
    let element = options.element.unwrap_or(kind);
    if element != kind {
        // Only promotions and conversions to real types are done here. Any other may change values: the user decides on
        // it in a computation.
        if !element.is_real() && promote(kind, element) != Some(element) {
            let expected = format!("numbers that {} holds", element.name());
            return Err(Error::input(input, None, expected, format!("elements of type {}", kind.name()))
                .advise("leave --dtype out, or compute what is wanted in Python, with astype() and persist()"));
        }
        let own = array.cast(element)?;
        if kind == ElementType::Float64 && element == ElementType::Float32 {
            check_infinite(runtime, input, &array, &own)?;
        }
        array = own;
    }
    let shape = array.shape().to_vec();
    let columns = shape.get(1).copied().unwrap_or(1);
    let goal = ImageGoal { array, path: image.to_owned(), replace: options.replace, names: None, made_by: "import" };
    compute(runtime, &[Goal::Image(goal)])?;
    let image_bytes = DenseImage::open(runtime, image)?.image_bytes();
    Ok(ArrayImportReport {
        format: "npy",
        separator: None,
        rows: shape[0],
        columns,
        names: None,
        kinds: vec![kind.name(); columns as usize],
        element: element.name(),
        image_bytes,
        notes: wide_note(shape[0] * columns * element.bytes() as u64, image_bytes).into_iter().collect(),
        seconds: start.elapsed().as_secs_f64(),
        memory_peak_bytes: peak_memory_bytes(),
    })
}

/// Refuses numbers that became infinite by the conversion; a pass over the input.
fn check_infinite(runtime: &Runtime, input: &Path, wide: &Array, own: &Array) -> Result<()> {
    let became = own.unary(Unary::Isinf)?.binary(Binary::NotEqual, &wide.unary(Unary::Isinf)?)?;
    let columns = compute(runtime, &[Goal::Value(became.fold(Fold::Any, &[0], false)?)])?.values[0].to_vec();
    match columns.iter().position(|&has_some| has_some != 0) {
        None => Ok(()),
        Some(column) => {
            let expected = format!("numbers that {} holds", own.element().name());
            Err(Error::input(input, None, expected, format!("greater ones in column {}", column + 1))
                .advise("leave --dtype out; or make infinities of them in Python, with astype() and persist()"))
        }
    }
}

/// Columns by their numbers from 1.
fn columns_of(array: &Array, numbers: &[String]) -> Result<Array> {
    let &[rows, columns] = array.shape() else {
        return Err(Error::Usage("--columns: expected a matrix, found a vector, which has one column".to_owned()));
    };
    let column = |text: &String| {
        let number = text.parse::<u64>().ok().filter(|number| (1..=columns).contains(number));
        let number = number.ok_or_else(|| {
            Error::Usage(format!(
                "--columns {text}: expected numbers from 1 to {columns}, for a .npy file has no names"
            ))
        })?;
        let start = number as i64 - 1;
        array.slice(&[
            Some(AxisPart::Range { start: 0, step: 1, count: rows }),
            Some(AxisPart::Range { start, step: 1, count: 1 }),
        ])
    };
    let parts = numbers.iter().map(column).collect::<Result<Vec<_>>>()?;
    Array::join(&parts, 1)
}
