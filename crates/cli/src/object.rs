//! The object of a command as JSON: the call, the result, the cost. `--json` writes it to the standard output, also
//! where the command fails, and `--stats` to a file.
//!
//! The structures here and those that it contains are documented by their fields: `docs/tables.py` makes of these the
//! page about the keys and `docs/reference/outcore.schema.json`, against which a test holds what all commands write.

use crate::answer::{Answer, output_error};
use clap::{Arg, ArgAction, ArgMatches, Command};
use outcore::front_ends::{AtomicFile, COMMIT, Fact, NamedImage, Value};
use outcore::io::backend::calendar_text;
use outcore::report::now;
use outcore::{Error, ErrorKind, Result, Runtime};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value as Json, json};
use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// The object. Its page in the documentation and its schema are made of these lines.
#[derive(Serialize)]
struct Object<'a> {
    /// 1; another number where a key goes or changes its meaning, the same where keys are added
    schema: u32,
    /// `run`, `import`, `check` or `info`
    command: &'a str,
    /// The algorithm, solver or model that was run
    name: Option<&'a str>,
    /// The version of Outcore
    version: &'static str,
    /// The commit that a release was made of; null in other builds
    commit: Option<&'static str>,
    /// When the command began, in ISO 8601 and UTC; null where the clock is not set
    started: Option<String>,
    /// The time from then on, in seconds
    seconds: f64,
    /// Options and arguments by their names in Python; none where the command line was refused
    options: &'a Map<String, Json>,
    /// The image that was read or made, or the file that was read as an array; null where the command failed
    image: &'a Option<NamedImage>,
    /// The estimate before the work, of `run` and `import`
    plan: &'a Json,
    /// The result; null with `--explain` and where there is none
    result: &'a Option<Found<'a>>,
    /// The cost, of `run` and `import`
    stats: &'a Json,
    /// The files that were written, beside the image
    files: Vec<Written>,
    /// Notes and warnings, in sentences
    notes: &'a [String],
    /// The failure; null after success
    error: &'a Json,
}

/// An option.
#[derive(Serialize)]
struct Given {
    /// Its value, given or by default: as it was typed, or as a number, a truth value or a list of these
    value: Json,
    /// Whether it was given
    given: bool,
}

/// A file that was written.
#[derive(Serialize)]
struct Written {
    /// The option that names it
    option: String,
    /// Its path
    path: String,
}

/// The option that begins lines on the standard error with the time.
const LOG_TIMES: &str = "log_times";

/// The option that asks for the object.
pub const JSON: &str = "json";

/// The commands that have it.
const COMMANDS: [&str; 4] = ["run", "import", "check", "info"];

/// A command with its options, as it was called.
pub struct Call {
    command: String,
    /// The algorithm, solver or model.
    name: Option<String>,
    options: Map<String, Json>,
    started: Option<u64>,
    begin: Instant,
    /// Whether the object goes to the standard output.
    is_json: bool,
    /// Whether lines on the standard error begin with the time.
    pub logs_times: bool,
    /// Whether it is there: a failure behind it writes no second one.
    is_said: Cell<bool>,
}

/// Serialised content of a result.
pub enum Found<'a> {
    /// Values by their names.
    Values(Map<String, Json>),
    /// Facts, and columns of numbers.
    Facts(&'a [(&'static str, Fact)], &'a [(&'static str, Vec<f64>)]),
}

/// The parts of the object that are known when a command ends; the others are null.
#[derive(Default)]
pub struct Done<'a> {
    pub image: Option<NamedImage>,
    pub plan: Json,
    pub result: Option<Found<'a>>,
    pub stats: Json,
    /// The files that were written, with their options.
    pub files: Vec<(&'static str, &'a Path)>,
    pub notes: Vec<String>,
    pub error: Json,
}

impl Call {
    /// The call of a command line that was parsed.
    pub fn new(command: &Command, matches: &ArgMatches) -> Self {
        let (mut words, mut command, mut matches) = (Vec::new(), command, matches);
        while let Some((name, of_it)) = matches.subcommand() {
            words.push(name.replace('-', "_"));
            (command, matches) = (command.find_subcommand(name).unwrap_or(command), of_it);
        }
        let is_set = |flag| matches!(matches.try_get_one::<bool>(flag), Ok(Some(true)));
        let mut words = words.into_iter();
        let command_name = words.next().unwrap_or_default();
        Call {
            name: words.next(),
            options: options_of(command, matches),
            started: now(),
            begin: Instant::now(),
            // Benchmarks have objects of their own.
            is_json: COMMANDS.contains(&&*command_name) && is_set(JSON),
            command: command_name,
            logs_times: is_set(LOG_TIMES),
            is_said: Cell::new(false),
        }
    }

    /// The call of a command line that was refused, if it asks for the object.
    pub fn refused() -> Option<Self> {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let command = words.first()?.to_str().filter(|word| COMMANDS.contains(word))?.to_owned();
        let is_json = words.iter().any(|word| word == "--json");
        is_json.then(|| Call {
            command,
            name: None,
            options: Map::new(),
            started: now(),
            begin: Instant::now(),
            is_json,
            logs_times: false,
            is_said: Cell::new(false),
        })
    }

    fn object<'a>(&'a self, done: &'a Done<'_>) -> Object<'a> {
        let written = |&(option, path): &(&str, &Path)| Written {
            option: option.trim_start_matches('-').replace('-', "_"),
            path: path.display().to_string(),
        };
        Object {
            schema: 1,
            command: &self.command,
            name: self.name.as_deref(),
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            started: self.started.map(calendar_text),
            seconds: (self.begin.elapsed().as_secs_f64() * 1e6).round() / 1e6,
            options: &self.options,
            image: &done.image,
            plan: &done.plan,
            result: &done.result,
            stats: &done.stats,
            files: done.files.iter().map(written).collect(),
            notes: &done.notes,
            error: &done.error,
        }
    }

    /// Writes the object to the standard output, if it goes there.
    ///
    /// # Errors
    /// A standard output that cannot be written to.
    pub fn say(&self, done: &Done<'_>) -> Result<()> {
        if !self.is_json || self.is_said.replace(true) {
            return Ok(());
        }
        write(&mut io::stdout().lock(), &self.object(done)).map_err(output_error)
    }

    /// Writes the object to the standard output, if it goes there, and to the file of `--stats`, if there is one; for
    /// `-` that is the standard output, too.
    ///
    /// # Errors
    /// A file that cannot be written. Of the standard output that is an error of `answer`.
    pub fn account(&self, runtime: &Runtime, done: &Done<'_>, stats: Option<&Path>, answer: &Answer) -> Result<()> {
        let object = self.object(done);
        let (there, file) = (stats == Some(Path::new("-")), stats.filter(|file| *file != Path::new("-")));
        // The file comes first: the object on the standard output says whether all went well.
        if let Some(file) = file {
            let mut to = AtomicFile::within(runtime, file)?;
            match write(&mut to, &object) {
                Ok(()) => to.commit()?,
                Err(error) => return Err(to.error(error)),
            }
        }
        if self.is_json || there {
            self.is_said.set(true);
            answer.write_with(|out| write(out, &object));
        }
        Ok(())
    }

    /// Writes the object of a command that failed. One that cannot be written changes no outcome.
    pub fn fail(&self, error: &Error, exit_code: u8) {
        let error = Json::Object(Map::from_iter(
            members(error).into_iter().chain([("exit_code".to_owned(), json!(exit_code))]),
        ));
        _ = self.say(&Done { error, ..Done::default() });
    }
}

/// The error of a command line that was refused, or of values that did not converge.
pub fn error_of(kind: ErrorKind, message: &str) -> Json {
    json!({ "kind": kind.name(), "exit_code": kind.exit_code(), "message": message })
}

/// The image of a command, or a file in its place, which has no id.
pub fn image_of(path: &Path, id: Option<u64>) -> Option<NamedImage> {
    Some(NamedImage::new(path, id))
}

/// The members of an object.
pub fn members(object: impl Serialize) -> Map<String, Json> {
    match serde_json::to_value(object) {
        Ok(Json::Object(members)) => members,
        _ => Map::new(),
    }
}

/// The options of a command, by their names in Python: the value of each, given or by default, and whether it was
/// given.
fn options_of(command: &Command, matches: &ArgMatches) -> Map<String, Json> {
    let is_option = |arg: &&Arg| !["help", "version", JSON].contains(&arg.get_id().as_str());
    let option = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let is_given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        let name = arg.get_long().unwrap_or(id).replace('-', "_");
        (name, json!(Given { value: value_of(arg, matches), given: is_given }))
    };
    command.get_arguments().filter(is_option).map(option).collect()
}

/// The value of an option as its type has it, or as text; a list where the option takes several.
fn value_of(arg: &Arg, matches: &ArgMatches) -> Json {
    let id = arg.get_id().as_str();
    let mut all = typed::<bool>(matches, id, |flag| json!(flag))
        .or_else(|| typed::<u64>(matches, id, |number| json!(number)))
        .or_else(|| typed::<u16>(matches, id, |number| json!(number)))
        .or_else(|| typed::<Value>(matches, id, |value| json!(value)))
        .unwrap_or_else(|| {
            let raw = matches.get_raw(id).into_iter().flatten();
            raw.map(|text| json!(text.to_string_lossy())).collect()
        });
    let is_list = matches!(arg.get_action(), ArgAction::Append) || arg.get_value_delimiter().is_some();
    match (is_list, all.is_empty()) {
        (_, true) => Json::Null,
        (true, false) => Json::Array(all),
        (false, false) => all.swap_remove(0),
    }
}

fn typed<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    id: &str,
    json: impl Fn(&T) -> Json,
) -> Option<Vec<Json>> {
    Some(matches.try_get_many::<T>(id).ok()??.map(json).collect())
}

impl Serialize for Found<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (facts, columns) = match self {
            Found::Values(values) => return values.serialize(serializer),
            Found::Facts(facts, columns) => (facts, columns),
        };
        let mut map = serializer.serialize_map(None)?;
        facts.iter().try_for_each(|(name, fact)| map.serialize_entry(name, fact))?;
        if !columns.is_empty() {
            map.serialize_entry("values", &Columns(columns))?;
        }
        map.end()
    }
}

struct Columns<'a>(&'a [(&'static str, Vec<f64>)]);

impl Serialize for Columns<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, numbers)| (name, numbers)))
    }
}

/// Writes an object: a line for each key and for each key of its objects. Numbers that are not finite are null, as JSON
/// has none.
fn write(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    object.serialize(&mut Serializer::with_formatter(&mut out, Lines::default()))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Objects line by line down to [`Lines::DEEPEST`]; those within them, and lists, on one line.
#[derive(Default)]
struct Lines {
    depth: usize,
    is_empty: bool,
}

impl Lines {
    const DEEPEST: usize = 2;

    fn line<W: ?Sized + Write>(&self, writer: &mut W, depth: usize) -> io::Result<()> {
        write!(writer, "\n{:width$}", "", width = 2 * depth)
    }
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        (self.depth, self.is_empty) = (self.depth + 1, true);
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < Self::DEEPEST && !self.is_empty {
            self.line(writer, self.depth)?;
        }
        self.is_empty = false;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.is_empty = false;
        match (first, self.depth <= Self::DEEPEST) {
            (true, false) => Ok(()),
            (false, false) => writer.write_all(b", "),
            (true, true) => self.line(writer, self.depth),
            (false, true) => writer.write_all(b",").and_then(|()| self.line(writer, self.depth)),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_valid_json() {
        let facts = vec![
            ("rows", Fact::Whole(u64::MAX)),
            ("share", Fact::Real(1e-300)),
            ("none", Fact::Real(f64::NAN)),
            ("converged", Fact::Flag(true)),
            ("stopped_by", Fact::Text("tol")),
            ("columns", Fact::Names(vec!["a \"b\"\n".to_owned(), "é".to_owned()])),
            ("empty", Fact::Names(Vec::new())),
            ("vector", Fact::vector(&[0.1, -1e300, f64::INFINITY, 3.0])),
            ("cube", Fact::Array((0..12).map(f64::from).collect(), vec![2, 3, 2])),
            ("nothing", Fact::Array(Vec::new(), vec![2, 0])),
        ];
        let mut text = Vec::new();
        write(&mut text, &Found::Facts(&facts, &[("residual", vec![0.5, f64::NAN])])).unwrap();
        let expected = json!({
            "rows": u64::MAX, "share": 1e-300, "none": null, "converged": true, "stopped_by": "tol",
            "columns": ["a \"b\"\n", "é"], "empty": [], "vector": [0.1, -1e300, null, 3.0],
            "cube": [[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]],
            "nothing": [[], []], "values": {"residual": [0.5, null]},
        });
        let text = String::from_utf8(text).unwrap();
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), expected, "{text}");
        assert!(text.contains("\n  \"vector\": [0.1, -1e+300, null, 3.0],\n"), "{text}");
    }
}
