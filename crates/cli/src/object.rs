//! The object of a command as JSON: the call, the result, the cost. `--json` writes it to the standard output, also
//! where the command fails, and `--stats` to a file.
//!
//! The structures here and those that it contains are documented by their fields: `docs/tables.py` makes of these the
//! page about the keys and `docs/reference/outcore.schema.json`, against which a test holds what all commands write.

use crate::answer::{Answer, output_error};
use crate::common::Common;
use clap::{Arg, ArgAction, ArgMatches, Command};
use outcore::front_ends::{AtomicFile, COMMIT, Fact, NamedImage, Value, calendar_text};
use outcore::io::escaped;
use outcore::report::now;
use outcore::{Error, ErrorKind, Result, Runtime, RuntimeOptions};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value as Json, json};
use std::cell::{Cell, RefCell, RefMut};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
    /// The image that was read or made, or the file that was read as an array; null where the command failed before
    image: &'a Option<NamedImage>,
    /// The estimate before the work, of `run` and `import`
    plan: &'a Json,
    /// The result; null with `--explain` and where there is none
    result: &'a Option<Found>,
    /// The cost, of `run` and `import`
    stats: &'a Json,
    /// The files that were written, beside the image
    files: &'a [Written],
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
pub struct Written {
    /// The option that names it
    option: String,
    /// Its path
    path: String,
}

/// The option that begins lines on the standard error with the time.
const LOG_TIMES: &str = "log_times";

/// The option that names a file for the object.
const STATS: &str = "stats";

/// The option that asks for the object.
pub const JSON: &str = "json";

/// The commands that have it.
const COMMANDS: [&str; 4] = ["run", "import", "check", "info"];

/// A command with its options, as it was called, and all that is known of it by now.
pub struct Call {
    command: String,
    /// The algorithm, solver or model.
    name: Option<String>,
    options: Map<String, Json>,
    started: Option<u64>,
    begin: Instant,
    known: RefCell<Known>,
    /// Whether the object goes to the standard output, and is not there yet.
    is_json: Cell<bool>,
    /// The file that the object goes to, and that was not tried yet.
    stats: Cell<Option<PathBuf>>,
    /// Whether lines on the standard error begin with the time.
    pub logs_times: bool,
}

/// Serialised content of a result.
pub enum Found {
    /// Values by their names.
    Values(Map<String, Json>),
    /// Facts, and columns of numbers.
    Facts(Vec<(&'static str, Fact)>, Vec<(&'static str, Vec<f64>)>),
}

/// The parts of the object that become known while a command runs; the others are null, also where it fails.
#[derive(Default)]
pub struct Known {
    pub image: Option<NamedImage>,
    pub plan: Json,
    pub result: Option<Found>,
    pub stats: Json,
    pub files: Vec<Written>,
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
        let stats = matches.try_get_one::<PathBuf>(STATS).ok().flatten();
        let is_standard = stats.is_some_and(|file| file == Path::new("-"));
        let mut words = words.into_iter();
        let command_name = words.next().unwrap_or_default();
        Call {
            name: words.next(),
            options: options_of(command, matches),
            started: now(),
            begin: Instant::now(),
            known: RefCell::default(),
            // Benchmarks have objects of their own.
            is_json: Cell::new(COMMANDS.contains(&&*command_name) && (is_set(JSON) || is_standard)),
            stats: Cell::new(stats.filter(|_| !is_standard).cloned()),
            command: command_name,
            logs_times: is_set(LOG_TIMES),
        }
    }

    /// The call of a command line that was refused.
    pub fn refused() -> Self {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let is_there = |wanted: &str| words.iter().any(|word| word == wanted);
        let command = words.first().and_then(|word| word.to_str()).filter(|word| COMMANDS.contains(word));
        Call {
            name: None,
            options: Map::new(),
            started: now(),
            begin: Instant::now(),
            known: RefCell::default(),
            is_json: Cell::new(command.is_some() && is_there("--json")),
            stats: Cell::default(),
            command: command.unwrap_or_default().to_owned(),
            logs_times: is_there("--log-times"),
        }
    }

    /// The parts that are known by now, which may be changed until the borrow ends.
    pub fn known(&self) -> RefMut<'_, Known> {
        self.known.borrow_mut()
    }

    /// A file was written, which `option` names.
    pub fn wrote(&self, option: &str, path: &Path) {
        let option = option.trim_start_matches('-').replace('-', "_");
        self.known().files.push(Written { option, path: path.display().to_string() });
    }

    /// Adds the notes of the work by now to those of the call, and writes them for the user.
    pub fn tell_notes(&self, runtime: &Runtime, common: &Common) {
        let notes = runtime.take_notes();
        notes.iter().filter(|_| !common.limits.quiet).for_each(|note| note!("note: {}", escaped(note)));
        self.known().notes.extend(notes);
    }

    fn object<'a>(&'a self, known: &'a Known) -> Object<'a> {
        Object {
            schema: 1,
            command: &self.command,
            name: self.name.as_deref(),
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            started: self.started.map(calendar_text),
            seconds: (self.begin.elapsed().as_secs_f64() * 1e6).round() / 1e6,
            options: &self.options,
            image: &known.image,
            plan: &known.plan,
            result: &known.result,
            stats: &known.stats,
            files: &known.files,
            notes: &known.notes,
            error: &known.error,
        }
    }

    /// Writes the object to the standard output, if it goes there and is not there yet.
    ///
    /// # Errors
    /// A standard output that cannot be written to.
    pub fn say(&self) -> Result<()> {
        match self.is_json.replace(false) {
            true => write(&mut io::stdout().lock(), &self.object(&self.known.borrow())).map_err(output_error),
            false => Ok(()),
        }
    }

    /// Writes the object to the file of `--stats`, if there is one, and to the standard output, if it goes there.
    ///
    /// # Errors
    /// A file that cannot be written. Of the standard output that is an error of `answer`.
    pub fn account(&self, runtime: &Runtime, answer: &Answer) -> Result<()> {
        // The file comes first: the object on the standard output says whether all went well.
        self.write_file(runtime)?;
        if self.is_json.replace(false) {
            answer.write_with(|out| write(out, &self.object(&self.known.borrow())));
        }
        Ok(())
    }

    fn write_file(&self, runtime: &Runtime) -> Result<()> {
        let Some(file) = self.stats.take() else { return Ok(()) };
        let mut to = AtomicFile::within(runtime, &file)?;
        self.wrote("--stats", &file);
        let written = write(&mut to, &self.object(&self.known.borrow()));
        let written = written.map_err(|error| to.error(error)).and_then(|()| to.commit());
        if written.is_err() {
            self.known().files.pop();
        }
        written
    }

    /// Writes the object of a command that failed, or whose reader has gone: to the standard output, if it goes there,
    /// and to the file of `--stats`, if there is a result, which may have taken hours. One that cannot be written
    /// changes no outcome.
    pub fn end(&self, failure: Option<(&Error, u8)>) {
        if let Some((error, exit_code)) = failure {
            let mut fields = members(error);
            fields.insert("exit_code".to_owned(), exit_code.into());
            self.known().error = fields.into();
        }
        let has_result = self.known().result.is_some();
        // The runtime of the command may be cancelled.
        if has_result && let Ok(runtime) = Runtime::new(RuntimeOptions { threads: Some(1), ..Default::default() }) {
            _ = self.write_file(&runtime);
        }
        _ = self.say();
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

impl Serialize for Found {
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
        write(&mut text, &Found::Facts(facts, vec![("residual", vec![0.5, f64::NAN])])).unwrap();
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
