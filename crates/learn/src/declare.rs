//! A statistic or model as the users of the shell see it, declared once.
//!
//! A [`StatisticDeclaration`] is a name, its options, and what it finds. From the list of all declarations
//! ([`STATISTICS`](crate::STATISTICS)) follow the commands of the shell.
//!
//! A run from outside goes like this: the shell opens [`Data`] and makes [`OptionValues`] of texts; `plan` of the
//! declaration checks both, and the [`StatisticPlan`] says what the run will need and does it.

use crate::common::{Costs, usage, with_names};
use crate::phases::{Phase, most_bytes, most_of};
use crate::rows::{for_each_rows, lazy_rows};
use outcore_array::{Array, ArraySource, AxisPart, ElementType, column_called};
use outcore_declare::{Kind, NamedFact, NotConverged, OptionValues, Parameter};
use outcore_image::{AtomicFile, BUFFER_BYTES, Error, Result, Stats};
use outcore_io::{Reservation, Runtime};
use outcore_table::{NumbersShape, Origin, PutRows, RowLabels, write_numbers};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// A statistic or a model, as it is declared.
pub type StatisticDeclaration = outcore_declare::Declaration<fn(&Data, OptionValues) -> Result<StatisticPlan>>;

/// A matrix that is read in passes, and the names of its columns.
pub struct Data {
    /// The matrix; a vector is one of one column.
    pub array: Array,
    /// The names of its columns: those of the file, or x0, x1, and so on.
    pub names: Vec<String>,
    /// Indices of these columns in the file.
    places: Vec<usize>,
    file: Arc<Whole>,
    /// The runtime that opened the file.
    pub(crate) runtime: Runtime,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data").field("array", &self.array).field("names", &self.names).finish_non_exhaustive()
    }
}

/// All columns of numbers of a file.
struct Whole {
    array: Array,
    names: Vec<String>,
    /// The names of all columns of the file, and which of them these are, where some hold no numbers.
    of_file: Option<(Vec<String>, Vec<usize>)>,
    _memory: Reservation,
}

/// The purpose of the memory of names.
pub const NAMES: &str = "the names of columns";

/// Reserves the memory of the names of all columns, of which the parts of a run have several copies, before they are
/// made: a file of a few bytes may have millions of columns.
fn names_memory(runtime: &Runtime, source: &dyn ArraySource) -> Result<Reservation> {
    const COPIES: u64 = 8;
    const NAME_BYTES: u64 = 64;
    let columns = source.shape().get(1).copied().unwrap_or(1);
    let given_bytes: usize = source.names().unwrap_or_default().iter().map(String::len).sum();
    let bytes = columns.saturating_mul(NAME_BYTES).saturating_add(given_bytes as u64).saturating_mul(COPIES);
    runtime.budget().reserve(NAMES, bytes)
}

impl Data {
    /// Opens an image of an array, or a file of .npy, Parquet or Arrow.
    ///
    /// # Errors
    /// Anything else; no row or no column.
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        let source = outcore_array::open(runtime, path)?;
        let memory = names_memory(runtime, source.as_ref())?;
        let names = source.names().map(<[String]>::to_vec);
        let of_file = source.columns_of_file().map(|(names, places)| (names.to_vec(), places.to_vec()));
        let array = Array::from_source(source)?;
        if array.shape().contains(&0) {
            return usage(format!("expected an array with rows and columns, found shape {:?}", array.shape()));
        }
        let array = if array.axes() == 1 { array.with_axis(1)? } else { array };
        let names = names.unwrap_or_else(|| (0..array.shape()[1]).map(|column| format!("x{column}")).collect());
        let places = (0..names.len()).collect();
        let file = Arc::new(Whole { array: array.clone(), names: names.clone(), of_file, _memory: memory });
        Ok(Data { array, names, places, file, runtime: runtime.clone() })
    }

    /// The columns of these names, or of these numbers from 1, in this order.
    ///
    /// # Errors
    /// No such column, several of that name, or one twice.
    pub fn select(&self, columns: &[String]) -> Result<Data> {
        let mut places = Vec::new();
        for column in columns {
            let place = self.place("columns", column)?;
            if places.contains(&place) {
                return usage(format!("--columns {column}: expected every column once, found it twice"));
            }
            places.push(place);
        }
        self.of_places(places)
    }

    /// Index among the numeric columns of the column that an option names; a number counts all columns of the file.
    fn place(&self, option: &str, column: &str) -> Result<usize> {
        let place_in = |names: &[String]| {
            let place = column_called(column, &names.iter().map(String::as_str).collect::<Vec<_>>());
            place.map_err(|[found, advice]| {
                Error::Usage(format!("--{option} {column}: expected a column of the data, found {found}; {advice}"))
            })
        };
        let Some((names, places)) = &self.file.of_file else { return place_in(&self.file.names) };
        let place = place_in(names)?;
        places.iter().position(|&own| own == place).ok_or_else(|| {
            Error::Usage(format!("--{option} {column}: expected a column of numbers, found `{}`", names[place]))
        })
    }

    /// Some columns of the file.
    fn of_places(&self, places: Vec<usize>) -> Result<Data> {
        let Whole { array: all, names, .. } = &*self.file;
        let rows = AxisPart::Range { start: 0, step: 1, count: self.rows() };
        let part = |run: &[usize]| {
            let columns = AxisPart::Range { start: run[0] as i64, step: 1, count: run.len() as u64 };
            all.slice(&[Some(rows), Some(columns)])
        };
        let parts = places.chunk_by(|one, next| one + 1 == *next).map(part).collect::<Result<Vec<_>>>()?;
        let array = match &parts[..] {
            [] => return usage("expected the names or numbers of columns, found none"),
            [part] => part.clone(),
            parts => Array::join(parts, 1)?,
        };
        let names = places.iter().map(|&place| names[place].clone()).collect();
        Ok(Data { array, names, places, file: Arc::clone(&self.file), runtime: self.runtime.clone() })
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.array.shape()[0]
    }

    /// Splits off the column of the file that has this name, or this number from 1: the other columns, and the vector.
    ///
    /// # Errors
    /// No such column, several of that name, or no others.
    pub fn split(&self, column: &str) -> Result<(Data, Array)> {
        let target = self.place("target", column)?;
        let others: Vec<usize> = self.places.iter().copied().filter(|&place| place != target).collect();
        if others.is_empty() {
            return usage("expected a column beside the target, found none");
        }
        let rows = AxisPart::Range { start: 0, step: 1, count: self.rows() };
        let y = self.file.array.slice(&[Some(rows), Some(AxisPart::Index(target as i64))])?;
        Ok((self.of_places(others)?, y))
    }
}

/// A computation under the limits of a runtime.
pub type StatisticRun = Box<dyn Fn(&Runtime) -> Result<StatisticFinding>>;

/// A run with its options.
pub struct StatisticPlan {
    /// The phases of the run.
    pub phases: Vec<Phase>,
    /// Memory of the result: its numbers, as facts and as a table.
    pub result_bytes: u64,
    /// Number of passes, as text.
    pub passes: String,
    /// Shape of its file.
    pub output: NumbersShape,
    /// Stand-in for the computed rows of the file: it takes the same work and memory, or little more.
    pub rows: Option<Array>,
    /// The names of the columns that it is fitted to.
    pub columns: Vec<String>,
    /// Computes the result.
    pub run: StatisticRun,
}

impl std::fmt::Debug for StatisticPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StatisticPlan")
            .field("passes", &self.passes)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}

impl StatisticPlan {
    /// Refuses a file that cannot be written, before the work is done: that of the result, or another one.
    ///
    /// # Errors
    /// Those that the write would return.
    pub fn check_file(&self, runtime: &Runtime, file: &Path, is_result: bool) -> Result<()> {
        if !is_result {
            return AtomicFile::within(runtime, file).map(drop);
        }
        self.output.check(runtime, file)
    }

    /// The memory of the phase that needs most, the result and writing it to a file included.
    ///
    /// # Errors
    /// A pass that cannot be planned; a name whose ending says no format.
    pub fn needed_bytes(&self, runtime: &Runtime, output: Option<&Path>) -> Result<u64> {
        let output_bytes = output.map_or(Ok(0), |file| self.output_bytes(runtime, file))?;
        let written_bytes = self.result_bytes.saturating_add(output_bytes.max(BUFFER_BYTES as u64));
        Ok(most_bytes(runtime, &self.phases)?.max(written_bytes))
    }

    /// The bytes that the phase reads that reads most.
    ///
    /// # Errors
    /// A pass that cannot be planned.
    pub fn read_bytes(&self, runtime: &Runtime) -> Result<u64> {
        self.phases.iter().try_fold(0, |most, phase| Ok(phase.read_bytes(runtime)?.max(most)))
    }

    /// Refuses a run that needs more memory than is left, for any of its phases or for writing its result, before the
    /// first pass: so a limit that the refusal names is enough for all.
    ///
    /// # Errors
    /// Too little memory; a name whose ending says no format.
    pub fn require(&self, runtime: &Runtime, name: &str, output: Option<&Path>) -> Result<()> {
        let (phase_bytes, less) = most_of(runtime, &self.phases)?;
        let needed_bytes = self.needed_bytes(runtime, output)?;
        let less = if needed_bytes == phase_bytes { &less } else { "" };
        runtime.budget().require(&format!("{name}{less}"), needed_bytes)
    }

    /// The memory that computing and writing the file takes, at least, beside the result.
    ///
    /// # Errors
    /// A name whose ending says no format.
    pub fn output_bytes(&self, runtime: &Runtime, file: &Path) -> Result<u64> {
        let rows = self.rows.as_ref().map(|rows| lazy_rows(rows, sync_channel(0).0)).transpose()?;
        let rows_bytes = rows.map_or(Ok(0), |rows| most_bytes(runtime, &[Phase::pass(vec![rows], 0)]))?;
        Ok(rows_bytes + self.output.output_bytes(file)?)
    }

    /// Runs it.
    ///
    /// # Errors
    /// The error of the statistic or model; non-finite values are reported with the name of their column.
    pub fn find(&self, runtime: &Runtime) -> Result<StatisticFinding> {
        let found = (self.run)(runtime).and_then(|found| {
            // Factors of large matrices are not interrupted.
            runtime.cancel().check()?;
            Ok(found)
        });
        found.map_err(|error| with_names(error, &self.columns))
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct StatisticFinding {
    /// Lines shown before the table.
    pub lines: Vec<String>,
    /// The table that is shown.
    pub table: StatisticTable,
    /// All of it, by the names that Python has for it.
    pub facts: Vec<NamedFact>,
    /// Content of the file: rows of an array with the names of its columns, or otherwise the table.
    pub rows: Option<(Array, Vec<String>)>,
    /// The error, if the run did not converge.
    pub unconverged: Option<NotConverged>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

impl StatisticFinding {
    /// Writes the rows, or the table, to a file, in the format that its name ends in, and adds the costs. Rows are
    /// computed while they are written, by one pass more.
    ///
    /// # Errors
    /// Those of [`write_numbers`] and of the computation.
    pub fn write(&mut self, runtime: &Runtime, planned: &NumbersShape, output: &Path) -> Result<()> {
        let mut shape = planned.clone();
        if let Some((rows, names)) = &self.rows {
            (shape.names, shape.axes) = (names.clone(), rows.shape().to_vec());
        }
        let cost = Cell::new(None);
        let blocks = |put: PutRows<'_>| match &self.rows {
            None => put(&self.table.columns.iter().map(|column| bytemuck::cast_slice(column)).collect::<Vec<_>>()),
            Some((rows, _)) => {
                cost.set(Some(for_each_rows(runtime, &rows.cast(shape.element)?, put)?));
                Ok(())
            }
        };
        write_numbers(runtime, &shape, output, &blocks)?;
        if let Some(cost) = cost.take() {
            let (mut all, stopped_by) = (Costs::default(), self.stats.stopped_by);
            all.include(self.stats.clone());
            all.include(cost);
            self.stats = all.finish(stopped_by);
        }
        Ok(())
    }
}

/// A table of numbers.
#[derive(Clone, Debug)]
pub struct StatisticTable {
    /// Heading of the rows, and the name of each.
    pub labels: (&'static str, Vec<String>),
    /// The names of the columns.
    pub names: Vec<String>,
    /// The columns.
    pub columns: Vec<Vec<f64>>,
}

/// Largest number of rows and columns of a table that are shown.
const SHOWN_ROWS: usize = 10;
const SHOWN_COLUMNS: usize = 8;

impl StatisticTable {
    /// The table of a matrix that lies row by row.
    pub(crate) fn of_rows(labels: (&'static str, Vec<String>), names: Vec<String>, numbers: &[f64]) -> Self {
        let width = names.len();
        let columns = (0..width).map(|i| numbers.iter().skip(i).step_by(width.max(1)).copied().collect()).collect();
        StatisticTable { labels, names, columns }
    }

    /// The shape of its file.
    pub fn shape(&self) -> NumbersShape {
        let (name, labels) = self.labels.clone();
        let (rows, names) = (labels.len() as u64, self.names.clone());
        let (axes, labels) = (vec![rows, names.len() as u64], RowLabels::Names(name, labels));
        let (element, origin) = (ElementType::Float64, Origin::default());
        NumbersShape { rows, names, labels, element, axes, is_transposed: false, origin }
    }

    /// The first rows and columns as text: the headings, and the cells row by row, of which the first names the row.
    pub fn shown(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let line = |first: &str, cell: &dyn Fn(usize) -> String| {
            let cells = (0..self.names.len().min(SHOWN_COLUMNS)).map(cell);
            std::iter::once(first.to_owned()).chain(cells).collect()
        };
        let rows = self.labels.1.iter().take(SHOWN_ROWS).enumerate();
        let rows = rows.map(|(row, label)| line(label, &|column| short(self.columns[column][row])));
        (line(self.labels.0, &|column| self.names[column].clone()), rows.collect())
    }

    /// Number of rows and columns beside those that are shown, as text, if there are more.
    pub fn more(&self) -> Option<String> {
        let (rows, columns) = (self.labels.1.len(), self.names.len());
        let more = [("rows", rows.saturating_sub(SHOWN_ROWS)), ("columns", columns.saturating_sub(SHOWN_COLUMNS))];
        let more: Vec<String> =
            more.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} more {name}")).collect();
        (!more.is_empty()).then(|| more.join(" and "))
    }

    /// The first rows and columns as lines, and how many there are beside these.
    pub fn lines(&self) -> Vec<String> {
        let (headings, rows) = self.shown();
        let line = |cells: &Vec<String>| {
            let numbers: String = cells[1..].iter().map(|cell| format!(" {cell:>12}")).collect();
            format!("  {:16}{numbers}", cells[0])
        };
        let more = self.more().map(|more| format!("  and {more}"));
        std::iter::once(&headings).chain(&rows).map(line).chain(more).collect()
    }
}

/// A number in six digits, or all of a whole one.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || number.fract() == 0.0 && size < 1e12 {
        return format!("{number:.0}");
    }
    match size {
        1e-4..1e6 => format!("{number:.*}", (5 - size.log10().floor() as i32).max(0) as usize),
        _ if number.is_finite() => format!("{number:.5e}"),
        _ => number.to_string(),
    }
}

/// The shape of a file with a row for each row of the data.
pub(crate) fn rows_shape(data: &Data, names: Vec<String>, is_whole: bool) -> NumbersShape {
    let (rows, columns) = (data.rows(), names.len() as u64);
    let axes = if columns == 1 { vec![rows] } else { vec![rows, columns] };
    let element = if is_whole { ElementType::Int64 } else { ElementType::Float64 };
    let (labels, origin) = (RowLabels::Counted, Origin::default());
    NumbersShape { rows, names, labels, element, axes, is_transposed: false, origin }
}

/// Names with numbers from 0 on.
pub(crate) fn numbered(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{name}{number}")).collect()
}

/// The error of iterations that ended before they converged.
pub(crate) fn unconverged(converged: bool, iterations: usize) -> Option<NotConverged> {
    let text = format!("it went on changing in {iterations} iterations");
    (!converged).then_some(NotConverged { text, raise: &["max_iter", "tol"] })
}

/// Number of starts.
pub(crate) const N_INIT: Parameter = Parameter::count("n_init", 1, "How often it begins; the best result counts");
/// The column that is predicted.
pub(crate) const TARGET: Parameter = Parameter::required(
    "target",
    Kind::Column,
    "The column that is predicted by all others: its name, where the image has names, or its number from 1 on",
);
/// Whether there is an intercept.
pub(crate) const FIT_INTERCEPT: Parameter = Parameter::flag("fit_intercept", true, "Whether there is an intercept");
/// Probabilities instead of labels.
pub(crate) const PROBA: Parameter = Parameter::flag("proba", false, "Write probabilities instead of what is likeliest");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let texts = [0.0, -3.0, 0.5, 123.4567891, 0.00012345678, 1e-9, -2.5e300, 123456.7, f64::NAN].map(short);
        let expected = ["0", "-3", "0.500000", "123.457", "0.000123457", "1.00000e-9", "-2.50000e300", "123457", "NaN"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn long_tables_are_cut() {
        let names: Vec<String> = (0..10).map(|i| format!("x{i}")).collect();
        let numbers: Vec<f64> = (0..120).map(f64::from).collect();
        let labels = (0..12).map(|i| i.to_string()).collect();
        let lines = StatisticTable::of_rows(("row", labels), names, &numbers).lines();
        assert_eq!((lines.len(), lines[11].as_str()), (12, "  and 2 more rows and 2 more columns"));
        assert_eq!(
            lines[2].split_whitespace().collect::<Vec<_>>(),
            ["1", "10", "11", "12", "13", "14", "15", "16", "17"]
        );
    }
}
