//! Decides how a text file is read, from its first lines: separator, header, and which columns hold what.
//!
//! Nothing is guessed. One separator holds for the whole file: the tab if the lines have tabs, a comma, semicolon or
//! bar if they have one, else runs of blanks. The first line names the columns if it has the usual names of the ends, a
//! name that an option asks for, or no number in a column that is a number below it. The ends are the columns that
//! options name, else those whose names mean it, else the only two beside the weights. What is open then is refused,
//! with the option that decides.

use crate::batch::Nulls;
use crate::batch::{InputOptions, bad_record};
use crate::column_names::{Unread, column_asked, ends_by_name, find_ends, has_pair, kinds_note, usual_weight};
use crate::tables::attribute_columns::asked_columns;
use crate::tables::attributes::{AttributeField, Attributes, are_missing, kind_of_fields};
use crate::text::blocks::Lines;
use crate::text::columns::{Columns, Comments, Field, FixedColumns, Separator};
use crate::text::edge_list::NO_END;
use crate::text::konect::{self, Konect};
use crate::text::number::{is_missing, is_padded, is_whole, real, records, trim};
use crate::text::sample::{
    SAMPLE_LINES, Sample, end_of_record, first_comments, has_columns, is_called_csv, is_separator_line, name_of,
    padded_id, says_directed, settled_comments,
};
use crate::text::separator::separator_of;
use crate::text::source::weights_wanted;
use outcore_image::{Error, Result};
use std::collections::HashSet;
use std::path::Path;

const MOST_COLUMNS: usize = 1024;

#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) columns: Columns,
    pub(crate) ends: [String; 2],
    pub(crate) weight_name: Option<String>,
    pub(crate) has_names: bool,
    pub(crate) has_rows: bool,
    /// Some row tells the kind of ids.
    pub(crate) has_ids: bool,
    /// The number of the first line that is no comment.
    pub(crate) first_line: u64,
    /// The number of bytes up to the end of a line that names the columns, or 0.
    pub(crate) names_end: usize,
    /// That line, without blanks around it; empty if it could be a row.
    pub(crate) names_line: Vec<u8>,
    pub(crate) may_have_size_line: bool,
    /// Whether edges have a direction, and what says so.
    pub(crate) directed: Option<(bool, String)>,
    pub(crate) has_sides: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) unread: Unread,
    /// Names of attributes of which no first line has a value.
    pub(crate) untyped: Vec<String>,
}

fn is_number(token: &[u8]) -> bool {
    let token = trim(token);
    token.iter().any(u8::is_ascii_digit) && real(token).is_some()
}

/// Whether a whole number is written as real ones are: `1.0`, `1e5`.
fn is_whole_as_real(token: &[u8]) -> bool {
    !is_whole(token) && is_number(token) && real(token).is_some_and(|number| number.fract() == 0.0)
}

/// The columns of a format that has them.
type Fixed = Option<FixedColumns>;

/// Decides the columns of a file from the first block with data; `fixed` are those of the format, if it has them.
pub(crate) fn detect(first: &Lines, path: &Path, options: &InputOptions, fixed: Fixed) -> Result<Detected> {
    let (separator, comments) = separator_and_comments(first, path, options)?;
    let may_be_konect = fixed.is_none() && comments == Comments::usual();
    let konect = if may_be_konect { Konect::of(first) } else { None };
    let separator = if konect.is_some() { konect::separator(separator, options) } else { separator };
    let all = records(&first.bytes, 0, comments.quoting(Some(separator)));
    let sample = Sample::cut((path, first.first_line), all, (separator, comments), (2, MOST_COLUMNS))?;
    let fixed = match (fixed, &konect) {
        (None, Some(konect)) if options.source.is_none() && options.target.is_none() => {
            konect.columns(options, sample.width())
        }
        (fixed, _) => fixed,
    };
    let has_names = fixed.is_none() && sample.has_names(options);
    sample.check_vertices(has_names, options)?;
    let may_be_size = fixed.is_none() && !has_names && !options.of_vertices;
    let may_have_size_line = may_be_size && sample.may_be_size() && sample.width() >= 2;
    let count = sample.checked_count(fixed, (has_names, may_have_size_line), options)?;
    let names: Vec<String> = match sample.rows.first() {
        Some((_, first)) if has_names => first.iter().take(count).map(name_of).collect(),
        _ => (1..=count).map(|number| number.to_string()).collect(),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let body = &sample.rows[usize::from(has_names).min(sample.rows.len())..];
    let named = Named { sample: &sample, options, names: &names, has_names, body };
    let (weight, ends) = named.weight_and_ends(fixed)?;
    let names_line = sample.names_line(first, has_names)?;
    let (strings, has_ids) = named.has_string_ids(ends)?.map_or((false, false), |strings| (strings, true));
    let direction = named.direction();
    let by_column = direction.map(|(column, directed)| (directed, format!("the column `{}`", names[column])));
    let called = |column: usize| if has_names { names[column].to_owned() } else { format!("column {}", column + 1) };
    let mut notes = Vec::new();
    notes.extend(konect.as_ref().map(Konect::note).into_iter().chain(named.header_note()));
    notes.extend(if has_names { kinds_note(names[ends.0], names[ends.1], strings, options.is_matrix) } else { None });
    let used = [Some(ends.0), Some(ends.1), weight.as_ref().map(|(column, _)| *column), direction.map(|(at, _)| at)];
    let attributes = named.attributes(&used)?;
    let read: Vec<Option<usize>> = used.into_iter().chain(attributes.iter().map(|(column, _)| Some(*column))).collect();
    let unread = named.unread(&read);
    notes.extend(unread.note());
    let is_untyped = |column: usize| are_missing(body.iter().filter_map(|(_, fields)| fields.get(column).copied()));
    let untyped = attributes.iter().filter(|(column, _)| is_untyped(*column)).map(|(_, field)| field.name.clone());
    let untyped = untyped.collect();
    Ok(Detected {
        ends: if count == 0 { ["column 1", "column 2"].map(str::to_owned) } else { [called(ends.0), called(ends.1)] },
        columns: Columns {
            separator,
            comments: sample.comments.clone(),
            count: if options.of_vertices { count.max(1) } else { count.max(2) },
            source: ends.0,
            target: ends.1,
            weight: weight.as_ref().map(|(column, _)| *column),
            direction,
            strings,
            attributes,
        },
        weight_name: weight.map(|(_, name)| name),
        has_ids,
        has_names,
        has_rows: !body.is_empty(),
        first_line: if sample.rows.is_empty() { 0 } else { sample.line(0) },
        names_line: names_line.to_vec(),
        names_end: if has_names { sample.names_end(first) } else { 0 },
        may_have_size_line: may_have_size_line && !strings,
        has_sides: konect.as_ref().is_some_and(|konect| konect.has_sides),
        directed: by_column.or(konect.map(|konect| konect.directed())),
        notes,
        unread,
        untyped,
    })
}

/// Advice where lines end with attributes in braces.
const OF_NETWORKX: &str = "if NetworkX wrote attributes in braces, have it write columns, as in \
                           nx.write_edgelist(G, path, data=[\"weight\"]), or nothing beside the ends with data=False";

/// Whether this is a usual name of the only column of a table of vertices.
fn is_name_of_ids(name: &str) -> bool {
    ["id", "ids", "node", "nodes", "vertex", "vertices", "name", "label"].contains(&name.to_ascii_lowercase().as_str())
}

/// Chooses the separator of the file, and what begins comments.
fn separator_and_comments(first: &Lines, path: &Path, options: &InputOptions) -> Result<(Separator, Comments)> {
    let guess = first_comments(path, options)?;
    let named = options.comment.is_some();
    let separator = options.delimiter.as_deref().map(Separator::named).transpose()?;
    let sample = |comments: &Comments| {
        let comments = comments.clone();
        let records = records(&first.bytes, 0, comments.quoting(separator)).map(|(_, record)| record);
        records.filter(move |record| comments.is_data(record)).take(SAMPLE_LINES).collect::<Vec<_>>()
    };
    let mut data = sample(&guess);
    if data.is_empty() && !named {
        data = sample(&Comments::none());
    }
    if let Some(line) = data.first().filter(|line| is_separator_line(line)) {
        return Err(bad_record(path, first.first_line, "an edge or the names of columns", line)
            .advise("it tells spreadsheets the separator: take the line out, for example with tail -n +2"));
    }
    let separator = match &options.delimiter {
        Some(named) => Separator::named(named)?,
        None => separator_of(&data, first, path)?,
    };
    // A page or message of a server in place of a table has words between blanks.
    let first_row = data.iter().find(|line| Comments::usual().is_data(line));
    let is_checked = is_called_csv(path) && !options.of_vertices;
    if let (None, Separator::Blanks, true, Some(row)) = (&options.delimiter, separator, is_checked, first_row) {
        let shown = String::from_utf8_lossy(row).chars().take(80).collect::<String>();
        let expected = "columns between commas, semicolons or tabs, as in a .csv file";
        return Err(bad_record(path, first.first_line, expected, shown.as_bytes())
            .advise("say --delimiter blanks if blanks are between them"));
    }
    Ok((separator, settled_comments(guess, separator, options.comment.as_deref())))
}

impl<'a> Sample<'a> {
    /// The line that names the columns, which must not stand again; empty if there is none, or if it could be a row.
    fn names_line(&self, first: &'a Lines, has_names: bool) -> Result<&'a [u8]> {
        let (place, fields) = match self.rows.first() {
            Some((place, fields)) if has_names => (*place, fields),
            _ => return Ok(&[]),
        };
        if fields.iter().all(|field| is_number(field.raw)) {
            return Ok(&[]);
        }
        let all = records(&first.bytes, 0, self.comments.quoting(Some(self.separator)));
        let mut all = all.skip_while(|(number, _)| *number < place).take(SAMPLE_LINES);
        let names = all.next().map_or(&[][..], |(_, line)| trim(line));
        match all.find(|(_, line)| trim(line) == names) {
            None => Ok(names),
            Some((place, line)) => Err(named_again(self.path, self.first_line + place, line)),
        }
    }

    fn names_end(&self, first: &Lines) -> usize {
        end_of_record(&first.bytes, self.rows[0].0, self.comments.quoting(Some(self.separator)))
    }

    fn check_counts(&self, count: usize, skipped: usize, has_names: bool, options: &InputOptions) -> Result<()> {
        let wrong = |row: usize| !has_columns(&self.rows[row].1, count);
        let named = options.source.is_some() && options.target.is_some();
        let from = if skipped == 0 || has_names && !named { 0 } else { 1 };
        let Some(row) = (from..self.rows.len()).find(|&row| wrong(row)) else { return Ok(()) };
        let typical = (from..self.rows.len()).find(|&row| !wrong(row));
        let expected = match typical {
            Some(typical) => format!("{count} columns, as line {} has", self.line(typical)),
            None => format!("{count} columns"),
        };
        let (_, fields) = &self.rows[row];
        let shown: Vec<_> = fields.iter().take(8).map(|field| String::from_utf8_lossy(field.raw)).collect();
        let shown: String = shown.join(" | ").chars().take(80).collect();
        let plural = if fields.len() == 1 { "" } else { "s" };
        let error = Error::input(
            self.path,
            Some(self.line(row)),
            expected,
            format!("{} column{plural} between {}: `{shown}`", fields.len(), self.separator.name()),
        );
        let raggedness = (from..self.rows.len()).filter(|&row| wrong(row)).count();
        Err(error.advise(self.advice(row, fields, raggedness, options)))
    }

    fn checked_count(
        &self,
        fixed: Option<FixedColumns>,
        (has_names, may_have_size_line): (bool, bool),
        options: &InputOptions,
    ) -> Result<usize> {
        let skipped = usize::from(has_names || may_have_size_line && self.rows.len() > 1);
        let count = match fixed {
            Some(FixedColumns { count: 0, source, target, weight, .. }) => {
                self.count(0).max(source.max(target).max(weight.map_or(0, |(column, _)| column)) + 1)
            }
            Some(fixed) => fixed.count,
            // A line `n m` has two columns, whatever those below it have.
            None if may_have_size_line && self.count(0) == 2 => 2,
            None => self.count(skipped),
        };
        if !self.rows.is_empty() {
            self.check_counts(count, skipped, has_names, options)?;
        }
        if count == 3 && !has_names && options.header.is_none() {
            self.check_no_matrix()?;
        }
        if fixed.is_some_and(|fixed| fixed.has_edge_ids) {
            self.check_edge_ids()?;
        }
        Ok(count)
    }

    /// Refuses `n n m` above exactly m lines: the size of a matrix.
    fn check_no_matrix(&self) -> Result<()> {
        let Some((place, fields)) = self.rows.first() else { return Ok(()) };
        let numbers: Vec<Option<u64>> =
            fields.iter().map(|field| crate::text::number::unsigned(trim(field.raw))).collect();
        let entries = self.rows.len() as u64 - 1;
        match numbers[..] {
            [Some(rows), Some(columns), Some(count)] if rows == columns && count == entries && count > 0 => {
                let found = format!("{rows} {columns} {count}");
                let expected = "an edge and its weight";
                Err(bad_record(self.path, self.first_line + place, expected, found.as_bytes()).advise(
                    "so many lines follow: if it is the size of a matrix, say --format matrix-market; if it is an edge, \
                     --header no",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a first column that does not tell edges apart, as the ids of edges do.
    fn check_edge_ids(&self) -> Result<()> {
        let mut ids = HashSet::new();
        match self.rows.iter().find(|(_, fields)| !ids.insert(fields[0].raw)) {
            None => Ok(()),
            Some((place, fields)) => {
                let expected = "an id of an edge in column 1, on one line only";
                Err(bad_record(self.path, self.first_line + place, expected, fields[0].raw)
                    .advise("if the columns hold something else, say --format edge-list with --source and --target"))
            }
        }
    }

    fn advice(&self, row: usize, fields: &[Field<'_>], ragged: usize, options: &InputOptions) -> &'static str {
        let first = fields.first().and_then(|field| field.raw.first());
        if self.has_dictionaries() {
            return OF_NETWORKX;
        }
        if matches!(first, Some(b'#' | b'%')) && options.comment.is_none() && self.comments == Comments::none() {
            return "nothing is a comment in CSV unless you say so: --comment '#'";
        }
        if options.of_vertices {
            return "a table of vertices names its columns in the first line, with the ids first: mend the line, or say \
                    --delimiter if the columns are cut wrongly";
        }
        let is_words = fields.iter().all(|field| !is_number(field.raw));
        if row == 0 && is_words && self.rows.len() > 1 && self.rows[1].1.len() == fields.len() + 1 {
            return "R writes a column of row numbers without a name: write the table with row.names = FALSE, \
                    or say which columns to take by their numbers, such as --source 2 --target 3";
        }
        if 5 * ragged >= self.rows.len() && self.rows.len() > 1 {
            return "if every line is a vertex and its neighbours, say --format adjacency; if the columns are cut wrongly, \
                    say --delimiter; if the file is prose or something else, it is no list of edges";
        }
        "mend the line, or say --delimiter if the columns are cut wrongly"
    }

    /// Refuses a table of vertices whose first line may be one of them, for its columns have names.
    fn check_vertices(&self, has_names: bool, options: &InputOptions) -> Result<()> {
        let Some((place, first)) = self.rows.first().filter(|_| options.of_vertices && options.header.is_none()) else {
            return Ok(());
        };
        let is_id = |fields: &Vec<Field<'_>>| fields.first().is_some_and(|field| is_number(field.raw));
        if !has_names || !is_id(first) || self.rows.len() > 1 && !self.rows[1..].iter().all(|(_, row)| is_id(row)) {
            return Ok(());
        }
        let shown: Vec<_> = first.iter().take(8).map(|field| String::from_utf8_lossy(field.raw)).collect();
        let expected = "the names of the columns of a table of vertices";
        Err(bad_record(self.path, self.first_line + place, expected, shown.join(" ").as_bytes())
            .advise("write a first line with names, or say --header yes if this one names the columns"))
    }

    fn has_names(&self, options: &InputOptions) -> bool {
        let Some((_, first)) = self.rows.first() else { return false };
        if let Some(said) = options.header {
            return said && !self.may_be_size();
        }
        if options.of_vertices {
            // Attributes have names.
            return match first.as_slice() {
                [only] => self.rows.len() > 1 && (self.has_numbers_below(first) || is_name_of_ids(&name_of(only))),
                _ => true,
            };
        }
        let names: Vec<String> = first.iter().map(name_of).collect();
        let named = [&options.source, &options.target, &options.weight];
        let is_named = |name: &String| named.iter().any(|named| named.as_ref() == Some(name));
        if names.iter().any(|name| is_named(name) && !is_number(name.as_bytes())) {
            return true;
        }
        if first.iter().any(|field| is_number(field.raw)) {
            return false;
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        ends_by_name(&names).is_some() || has_pair(&names) || self.has_numbers_below(first)
    }

    /// Whether a column is a number in all rows but the first.
    fn has_numbers_below(&self, first: &[Field<'_>]) -> bool {
        // The first line occurs again in files that were concatenated.
        let is_first = |fields: &[Field<'_>]| fields.iter().map(|field| field.raw).eq(first.iter().map(|f| f.raw));
        let body: Vec<_> = self.rows[1..].iter().filter(|(_, fields)| !is_first(fields)).collect();
        let shift = usize::from(body.first().is_some_and(|(_, fields)| fields.len() == first.len() + 1));
        let is_number_column = |(place, field): (usize, &Field<'_>)| {
            let below = |(_, fields): &&Row<'_>| fields.get(place + shift).is_some_and(|f| is_number(f.raw));
            !is_missing(field.raw) && body.iter().all(below)
        };
        !body.is_empty() && first.iter().enumerate().any(is_number_column)
    }

    fn may_be_size(&self) -> bool {
        let unsigned = |field: &Field<'_>| crate::text::number::unsigned(trim(field.raw)).is_some();
        self.rows.first().is_some_and(|(_, fields)| fields.len() == 2 && fields.iter().all(unsigned))
    }

    /// Whether there are attributes as NetworkX writes them, such as `{'weight': 4}`.
    fn has_dictionaries(&self) -> bool {
        self.rows.iter().take(2).any(|(_, fields)| fields.iter().any(|field| field.raw.contains(&b'{')))
    }

    /// Refuses `u<TAB>v1,v2,...`, which are lists of neighbours.
    fn refuse_adjacency(&self) -> Result<()> {
        let parts = |field: &Field<'a>| field.raw.split(|&b| b == b',').map(trim).filter(|part| !part.is_empty());
        let has_list = |fields: &Vec<Field<'a>>| {
            let (one, other) = (fields[0].raw, fields[1].raw);
            other.contains(&b',') && !fields[1].quoted && !one.contains(&b',') && !other.contains(&b' ')
        };
        let has_integers = |fields: &Vec<Field<'a>>| has_list(fields) && parts(&fields[1]).all(is_whole);
        let rows = || self.rows.iter().filter(|(_, fields)| fields.len() == 2);
        let lists = rows().filter(|(_, fields)| has_list(fields)).count();
        let is_packed = self.rows.len() > 2 && 2 * lists >= self.rows.len();
        match rows().find(|(_, fields)| has_integers(fields) || is_packed && has_list(fields)) {
            None => Ok(()),
            Some((place, fields)) => {
                Err(bad_record(self.path, self.first_line + place, "one target in column 2", fields[1].raw)
                    .advise("if these are neighbours, say --format adjacency; if it is an id, say --delimiter tab"))
            }
        }
    }
}

/// A row of a sample: the number of its line, from 0, and its columns.
type Row<'a> = (u64, Vec<Field<'a>>);

/// A sample whose columns have names: of the first line, or their numbers.
struct Named<'s, 'a> {
    sample: &'s Sample<'a>,
    options: &'s InputOptions,
    names: &'s [&'s str],
    has_names: bool,
    /// The rows without the one that names the columns.
    body: &'s [Row<'a>],
}

impl<'a> Named<'_, 'a> {
    /// The column of the weights and its name, if there is one, and those of the ends.
    #[allow(clippy::type_complexity)]
    fn weight_and_ends(&self, fixed: Option<FixedColumns>) -> Result<(Option<(usize, String)>, (usize, usize))> {
        let options = self.options;
        if options.of_vertices {
            return Ok((None, (0, 0)));
        }
        if let Some(fixed) = fixed {
            return Ok((fixed_weight(options, fixed)?, (fixed.source, fixed.target)));
        }
        let weight = free_weight(self.sample.path, options, self.names, self.has_names)?;
        let ends = match self.sample.rows.is_empty() {
            true => (0, 1),
            false => self.ends(weight.as_ref().map(|(column, _)| *column))?,
        };
        Ok((weight, ends))
    }

    /// The columns of the ends; a message for unnamed columns says what could be meant.
    fn ends(&self, weight: Option<usize>) -> Result<(usize, usize)> {
        let Named { sample, options, names, has_names, .. } = *self;
        if let (Separator::Byte(b'\t'), 2, None) = (sample.separator, names.len(), &options.delimiter) {
            sample.refuse_adjacency()?;
        }
        let unclear = names.len() != 2 + usize::from(weight.is_some());
        if has_names || !unclear || options.source.is_some() || options.target.is_some() {
            return find_ends(names, weight, sample.path, options);
        }
        let row = sample.rows.len().min(2) - 1;
        let shown: Vec<_> = sample.rows[row].1.iter().take(8).map(|f| String::from_utf8_lossy(f.raw)).collect();
        let shown: String = shown.join(" | ").chars().take(80).collect();
        let advice = match names.len() {
            _ if sample.has_dictionaries() => OF_NETWORKX,
            1 => "say --delimiter if the columns are cut wrongly, or --format if this is no list of edges",
            3 if weight.is_none() => {
                "say --weight 3 if they are source, target and weight; or which to take, such as --source 1 --target 2; \
                 or --header yes if the first line names them"
            }
            _ => {
                "say which to take, such as --source 1 --target 2 and maybe --weight 3; or --header yes if the first line \
                 names them"
            }
        };
        let found = format!("{} columns without names: `{shown}`", names.len());
        let expected = "two columns, or columns with names such as source and target";
        Err(Error::input(sample.path, Some(sample.line(row)), expected, found).advise(advice))
    }

    /// Whether ids are strings, if a row tells; a few that are no integers are refused.
    fn has_string_ids(&self, ends: (usize, usize)) -> Result<Option<bool>> {
        let Named { sample, options, body, .. } = *self;
        if let Some(wants_strings) = options.ids.wants_strings() {
            return Ok(Some(wants_strings));
        }
        let ids =
            |fields: &Vec<Field<'a>>| [ends.0, ends.1].into_iter().filter_map(|at| fields.get(at).copied()).collect();
        let is_left_out = |id: &[u8]| id.is_empty() || options.nulls == Nulls::Skip && is_missing(id);
        let ids = |row: &Row<'a>| -> Vec<&'a [u8]> {
            let fields: Vec<Field<'a>> = ids(&row.1);
            fields.into_iter().map(|field| trim(field.raw)).filter(|id| !is_left_out(id)).collect()
        };
        // Rows that are left out, or hold no id at all, do not tell.
        let least = if options.nulls == Nulls::Skip { 2 } else { 1 };
        let tells = |row: &&Row<'a>| ids(row).len() >= least;
        let is_other = |row: &&Row<'a>| tells(row) && !ids(row).into_iter().all(is_whole);
        let others = body.iter().filter(is_other).count();
        if others == 0 {
            let padded = body.iter().find_map(|row| Some((row.0, ids(row).into_iter().find(|id| is_padded(id))?)));
            return match padded {
                None => Ok(body.iter().any(|row| tells(&row)).then_some(false)),
                Some((place, id)) => Err(padded_id(sample.path, sample.first_line + place, id)),
            };
        }
        let is_number_or_none = |id: &[u8]| is_number(id) || is_missing(id);
        let are_numbers = body.iter().filter(tells).all(|row| ids(row).into_iter().all(is_number_or_none));
        let as_real = |row: &Row<'a>| Some((row.0, ids(row).into_iter().find(|id| is_whole_as_real(id))?));
        if let Some((place, id)) = body.iter().find_map(as_real).filter(|_| are_numbers) {
            let expected = "an id that is an integer, without a point or an exponent";
            return Err(bad_record(sample.path, sample.first_line + place, expected, id).advise(
                "write the column as integers (pandas makes real numbers of integers where one is missing: \
                 astype(\"Int64\")), or say --ids string to read every spelling as an id of its own",
            ));
        }
        let integers = body.iter().filter(tells).count() - others;
        match body.iter().find(is_other) {
            Some(row) if integers >= others => {
                let found = ids(row).into_iter().find(|id| !is_whole(id)).unwrap_or_default();
                let expected = "an integer id, as most lines have";
                let error = bad_record(sample.path, sample.first_line + row.0, expected, found);
                Err(error.advise(match is_missing(found) {
                    true => NO_END,
                    false => "take the line out, or read all ids as strings with --ids string",
                }))
            }
            _ => Ok(Some(true)),
        }
    }

    /// The direction that a column `Type`, as Gephi writes it, gives the edges.
    fn direction(&self) -> Option<(usize, bool)> {
        let place = self.names.iter().position(|name| self.has_names && name.eq_ignore_ascii_case("type"))?;
        let values =
            || self.body.iter().filter_map(|(_, fields)| fields.get(place)).map(|field| says_directed(field.raw));
        if self.body.is_empty() || values().any(|said| said.is_none()) {
            return None;
        }
        let directed = values().next().flatten().unwrap_or(true);
        Some((place, directed))
    }

    /// A note on whether the first line was taken as a header, where its content does not decide.
    fn header_note(&self) -> Option<String> {
        let Named { sample, options, has_names, .. } = *self;
        let (_, first) = sample.rows.first()?;
        let has_number = |fields: &[Field<'_>]| fields.iter().any(|field| is_number(field.raw));
        if has_names || options.header.is_some() || sample.rows.iter().any(|(_, fields)| has_number(fields)) {
            return None;
        }
        let shown: Vec<_> = first.iter().take(8).map(|field| String::from_utf8_lossy(field.raw)).collect();
        let shown: String = shown.join(" ").chars().take(80).collect();
        let what = if options.of_vertices { "a vertex" } else { "an edge" };
        Some(format!(
            "The first line, `{shown}`, was read as {what}, since it looks like the others; if it names the columns, say \
             --header yes."
        ))
    }

    /// The columns that are kept, and what they hold: where the first line names no columns, only those asked for.
    fn attributes(&self, used: &[Option<usize>]) -> Result<Vec<(usize, AttributeField)>> {
        let Named { sample, options, names, has_names, body } = *self;
        if (options.attributes == Attributes::All || options.of_vertices) && !has_names {
            return Ok(Vec::new());
        }
        let field = |column: usize| {
            let own = || kind_of_fields(body.iter().filter_map(|(_, fields)| fields.get(column).copied()));
            let kind = options.united_kind(names[column]).cloned().unwrap_or_else(own);
            (column, AttributeField { name: names[column].to_owned(), kind })
        };
        Ok(asked_columns(options, names, used, sample.path)?.into_iter().map(field).collect())
    }

    /// The columns that are not used.
    fn unread(&self, used: &[Option<usize>]) -> Unread {
        let Named { options, names, has_names, body, .. } = *self;
        let unread = || (0..names.len()).filter(|&column| !used.contains(&Some(column)));
        let has_name = |column: usize| has_names && !names[column].is_empty();
        let numeric = |&column: &usize| {
            !body.is_empty() && body.iter().all(|(_, fields)| fields.get(column).is_some_and(|f| is_number(f.raw)))
        };
        let called = |column| if has_name(column) { names[column].to_owned() } else { (column + 1).to_string() };
        let shown = |column| if has_name(column) { called(column) } else { format!("column {}", column + 1) };
        let may_be_weights = options.weight.is_none() && used[2].is_none();
        Unread {
            names: unread().map(shown).collect(),
            weights: unread().find(numeric).filter(|_| may_be_weights).map(called),
            may_keep: has_names && options.attributes == Attributes::None,
        }
    }
}

/// The line that names the columns, where an edge should be.
pub(crate) fn named_again(path: &Path, line: u64, found: &[u8]) -> Error {
    bad_record(path, line, "an edge, and not the line that names the columns once more", found).advise(
        "if files were put together, give them as several inputs, or take the line out; if it is an edge, put its ids in \
         double quotes, or take the quotes away",
    )
}

fn fixed_weight(options: &InputOptions, fixed: FixedColumns) -> Result<Option<(usize, String)>> {
    let weight = options.weight.as_deref();
    let Some((column, name)) = fixed.weight else {
        weights_wanted(weight, fixed.format, &[])?;
        return Ok(None);
    };
    let number = (column + 1).to_string();
    let wanted = weights_wanted(weight, fixed.format, &[name, "weight", &number])?;
    Ok(wanted.then(|| (column, name.to_owned())))
}

/// The column of the weights and its name, in a file whose columns are free.
fn free_weight(
    path: &Path,
    options: &InputOptions,
    names: &[&str],
    has_names: bool,
) -> Result<Option<(usize, String)>> {
    let column = match options.weight.as_deref() {
        Some("none") => None,
        Some(_) if names.is_empty() => None,
        Some(asked) => Some(column_asked(path, "weight", asked, names)?),
        None => usual_weight(path, names, options)?,
    };
    Ok(column.map(|column| (column, if has_names { names[column].to_owned() } else { "weight".to_owned() })))
}
