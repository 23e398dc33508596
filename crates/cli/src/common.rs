//! Arguments that commands share: limits, and those of every `outcore run` with what they say of its cost.

use crate::answer::{Answer, check_different, object_option};
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use outcore::front_ends::{OUTPUT_ENDINGS, enough_bytes, is_standard_output};
use outcore::io::{MOST_THREADS, backend, bytes_text, differing_texts, escaped};
use outcore::{Error, Result, Runtime, Stats};
use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Limits of memory, threads and reads
#[derive(Args, Clone)]
pub struct Limits {
    /// The limit for all memory of the process, such as 512MiB; if not given, half of what is free, also under the
    /// limits of a container and of ulimit
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = outcore::io::parse_bytes)]
    pub memory: Option<u64>,
    /// The number of workers, from 1 to 1024; one per processor if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS as i64))]
    pub threads: Option<u16>,
    /// How files are read
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = names(backend::NAMES))]
    pub backend: String,
    /// How progress is shown, on the standard error
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto")]
    pub progress: ShowProgress,
    /// Messages on the standard error begin with the time, in UTC
    #[arg(long)]
    pub log_times: bool,
    /// No progress bar, unless --progress asks for one, and no messages; `run` keeps its answer to itself too, but for
    /// files
    #[arg(long, short)]
    pub quiet: bool,
}

/// The display of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowProgress {
    /// A bar on a terminal, nothing elsewhere
    Auto,
    /// A bar on a terminal, a line every two seconds elsewhere
    Always,
    /// Nothing
    Never,
    /// A JSON object per line, for programs
    Json,
}

impl Limits {
    /// A refusal of memory with a limit that is enough for the whole command, which `plan` plans under others.
    pub fn advise<T>(&self, error: Error, plan: impl Fn(&Limits) -> Result<T>) -> Error {
        error.planned_again(|bytes| plan(&self.of(bytes)))
    }

    /// The limit that is enough for a command which needs at least `bytes`, and which `plan` plans.
    pub fn enough<T>(&self, bytes: u64, plan: impl Fn(&Limits) -> Result<T>) -> u64 {
        enough_bytes(bytes, |bytes| plan(&self.of(bytes)))
    }

    /// These limits with another one of memory, and without a display.
    fn of(&self, bytes: u64) -> Self {
        Limits { memory: Some(bytes), progress: ShowProgress::Never, quiet: true, ..self.clone() }
    }
}

/// Options of every algorithm.
#[derive(Args)]
pub struct Common {
    /// The image
    pub image: PathBuf,
    /// Write the result
    #[arg(
        long,
        value_name = "FILE",
        allow_hyphen_values = true,
        help = format!("Write the result, one row per vertex: {OUTPUT_ENDINGS}. - is the standard output, as .csv; -.jsonl and \
                        the like have another format; then the report goes to the standard error")
    )]
    pub output: Option<PathBuf>,
    /// Write one JSON object to the standard output: options, result and statistics, or the error; the report goes to
    /// the standard error
    #[arg(long)]
    pub json: bool,
    /// Write the object of --json to a file; `-` is the standard output
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Write a page about the run, in HTML: what was asked, planned and done, with charts
    #[arg(long, value_name = "FILE.html", value_parser = page())]
    pub report: Option<PathBuf>,
    /// Verify the result with an independent algorithm; a wrong one is an error with exit code 3
    #[arg(long)]
    pub verify: bool,
    /// Say what memory, passes and bytes will be needed, and stop, with the exit code of a run that would be refused
    #[arg(long)]
    pub explain: bool,
    /// The most memory for the page cache; all that is left if not given
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = outcore::io::parse_bytes)]
    pub cache: Option<u64>,
    /// The report
    #[arg(skip)]
    pub answer: Answer,
    /// Whether a result beside that of `--output` goes to the standard output
    #[arg(skip)]
    pub has_result_there: bool,
    #[command(flatten)]
    pub limits: Limits,
}

/// Options of every statistic or model of an array.
#[derive(Args)]
pub struct OfArray {
    /// The array: an image, or a .npy, Parquet or Arrow file, which is read in place
    pub array: PathBuf,
    /// Columns, by name or by number from 1, beside that of --target; all if not given
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// Write the result
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub output: Option<PathBuf>,
    /// Write one JSON object to the standard output: options, all that was found and statistics, or the error; the
    /// report goes to the standard error
    #[arg(long)]
    pub json: bool,
    /// Write the object of --json to a file; `-` is the standard output
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Write a page about the run, in HTML: what was asked, planned and done, with charts
    #[arg(long, value_name = "FILE.html", value_parser = page())]
    pub report: Option<PathBuf>,
    /// Say what memory, passes and bytes will be needed, and stop, with the exit code of a run that would be refused
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub limits: Limits,
}

/// A whole number of things. Arguments that take it, or a size, allow negative numbers: the parser says what is wrong
/// with those, not the advice to write `--` before them.
pub fn count(text: &str) -> std::result::Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number from 0 to 2^64-1".to_owned())
}

/// Takes names, each with what it means.
pub fn names(all: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(all.iter().map(|&(name, meaning)| PossibleValue::new(name).help(meaning)))
}

/// Takes a file with a page, whose name says so.
pub fn page() -> impl TypedValueParser<Value = PathBuf> {
    let is_page = |ending: &OsStr| ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm");
    PathBufValueParser::new().try_map(move |path| match path.extension().is_some_and(is_page) {
        true => Ok(path),
        false => Err(format!("expected the name of a page, which ends in .html, found {}", path.display())),
    })
}

impl Common {
    /// The files that are written, with their options; `results` are those beside `--output`. The standard output is no
    /// file where it takes statistics.
    pub fn outputs<'a>(&'a self, results: &[(&'static str, Option<&'a Path>)]) -> Vec<(&'static str, &'a Path)> {
        let output = ("--output", self.output.as_deref());
        let stats = ("--stats", self.stats.as_deref().filter(|file| *file != Path::new("-")));
        let all = [&[output], results, &[stats, ("--report", self.report.as_deref())]].concat();
        all.into_iter().filter_map(|(option, file)| Some((option, file?))).collect()
    }

    /// The option that sends the object to the standard output, if one does.
    pub fn object_option(&self) -> Option<&'static str> {
        object_option(self.json, self.stats.as_deref())
    }

    /// Refuses files in the place of one another or of inputs.
    pub fn check_different(
        &self,
        runtime: &Runtime,
        inputs: &[(String, &Path)],
        outputs: &[(&str, &Path)],
    ) -> Result<()> {
        check_different(runtime, inputs, outputs, self.object_option())
    }

    /// Says a line of the report: where neither the object nor the result goes, and nowhere if nothing is to be said.
    pub fn say(&self, line: impl Display) {
        let mut files = self.output.iter().chain(&self.report);
        match self.object_option().is_none() && !self.has_result_there && !files.any(|file| is_standard_output(file)) {
            _ if self.limits.quiet => {}
            true => self.answer.say(line),
            false => note!("{}", escaped(line)),
        }
    }
}

/// Says what a run cost.
pub fn report(stats: &Stats, common: &Common) {
    if common.verify {
        common.say("verified");
    }
    if let Some(name) = &stats.weights {
        common.say(format_args!("edges count by their weights, `{name}`"));
    }
    let total = &stats.total;
    let [peak, limit] = differing_texts(outcore::io::peak_memory_bytes(), stats.memory_limit_bytes);
    common.say(format_args!(
        "{:.3} s ({:.3} s waiting for reads), {:.3} passes, {} in {} requests, {} cache hits, peak memory {peak} of {limit}",
        total.seconds,
        total.seconds_io_wait / stats.threads as f64,
        stats.passes,
        bytes_text(total.bytes_read),
        total.requests,
        total.cache_hits,
    ))
}
