//! The `outcore` command, for the program of its own (`main.rs`) and for the Python module, which holds it too.
//!
//! Answers go to the standard output, progress and messages to the standard error. The exit code is 0 for success, or
//! that of the error's kind ([`outcore::ErrorKind`]).
#![forbid(unsafe_code)]

/// Writes a line of messages. A standard error that cannot be written to changes no outcome.
macro_rules! note {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        _ = writeln!(std::io::stderr(), "{}{}", $crate::progress::time_of_line(), format_args!($($text)*));
    }};
}

mod algorithm;
mod answer;
mod args;
mod common;
mod convert;
mod gap;
mod graph500;
mod graphalytics;
mod id_lists;
mod image;
mod learn;
mod look;
mod object;
mod options;
mod plan;
mod progress;
mod report;
mod run;
mod shell;
mod solve;

use answer::SUCCESS;
pub use outcore::io::fill_standard_descriptors;

use args::{Cli, Command};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use object::{Call, error_of};
use outcore::{Error, ErrorKind};
use std::io::Write;
use std::sync::atomic::Ordering;

/// The error of a command line. That of an algorithm without `run` names `run`.
fn with_run(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if Cli::command().find_subcommand("run").is_some_and(|run| run.find_subcommand(name).is_some()) {
        let tip = format!("algorithms, solvers and models have the command 'run': outcore run {name}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Parses the arguments of the process. It ends here if they are refused, or ask for help.
fn parsed() -> (Cli, Call) {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, Call::new(&command, &matches))));
    parsed.unwrap_or_else(|error| {
        let error = with_run(error.format(&mut command));
        let call = Call::refused();
        progress::LOG_TIMES.store(call.logs_times, Ordering::Relaxed);
        if !error.use_stderr() {
            let shown = error.print().and_then(|()| std::io::stdout().flush()).map_err(answer::output_error);
            std::process::exit(ended(shown, &call).into());
        }
        call.known().error = error_of(ErrorKind::Usage, &message(&error.to_string()));
        _ = call.say();
        _ = write!(std::io::stderr(), "{}", progress::time_of_line());
        error.exit()
    })
}

/// The message of an error of the command line, without what clap adds about usage and help.
fn message(text: &str) -> String {
    let text = text.rsplit_once("\n\nFor more information, try ").map_or(text, |(text, _)| text);
    let text = text.rsplit_once("\n\nUsage: ").map_or(text, |(text, _)| text);
    text.trim_start_matches("error: ").trim_end().to_owned()
}

/// Runs the command with the arguments of the process, and returns its exit code.
pub fn run() -> u8 {
    let (cli, call) = parsed();
    progress::LOG_TIMES.store(call.logs_times, Ordering::Relaxed);
    // A write beyond `ulimit -f` fails with an error instead of ending the process.
    _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
    outcore::io::hide_guarded_panics();
    // Steps of an import, and decoders of other formats, allocate on their own; algorithms keep what they have.
    if matches!(cli.command, Command::Import(_) | Command::Generate(_)) {
        outcore::io::give_back_freed_memory();
    }
    let outcome = match &cli.command {
        Command::Import(args) => convert::import(args, &call),
        Command::Generate(args) => convert::generate(args),
        Command::Export(args) => convert::export(args),
        Command::Info(args) => image::info(args, &call),
        Command::Head(args) => look::head(args),
        Command::Neighbors(args) => look::neighbors(args),
        Command::Degrees(args) => look::degrees(args),
        Command::Check(args) => image::check(args, &call),
        Command::Run(args) => match run::run(args, &call) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Graphalytics(args) => graphalytics::graphalytics(args),
        Command::Graph500(args) => graph500::graph500(args),
        Command::Gap(args) => gap::gap(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    };
    ended(outcome, &call)
}

/// Ends a command: writes its error, if there is one, and the object of the call, and returns the exit code.
fn ended(outcome: outcore::Result<()>, call: &Call) -> u8 {
    let Err(error) = outcome.map_err(answer::plain_if_closed) else { return SUCCESS };
    // The reader of the output has gone, as in `outcore ... | head`: SIGPIPE ends other programs then.
    if matches!(&error, Error::File { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe) {
        call.end(None);
        return progress::signal_code(signal_hook::consts::SIGPIPE);
    }
    let code = match &error {
        Error::Cancelled => progress::stop_code(),
        error => error.kind().exit_code(),
    };
    match &error {
        Error::Cancelled => note!("outcore: stopped; no unfinished file was left behind"),
        error => note!("outcore: {error}"),
    }
    call.end(Some((&error, code)));
    code
}
