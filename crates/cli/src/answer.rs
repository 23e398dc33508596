//! Answers on the standard output, and checks of the files that a command writes.

use outcore::front_ends::is_standard_output;
use outcore::io::{escaped, folder};
use outcore::{Error, Result, Runtime};
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{ErrorKind, StdoutLock, Write};
use std::path::Path;

pub const SUCCESS: u8 = 0;
/// The name of the standard output in errors.
const STANDARD_OUTPUT: &str = "the standard output";

/// Says a line of an answer. Ids and names are part of some: their control characters are escaped.
pub fn say(line: impl Display) -> Result<()> {
    writeln!(std::io::stdout(), "{}", escaped(line)).map_err(output_error)
}

/// An answer on the standard output. A closed pipe, as in `outcore run ... | head`, neither stops the work nor loses
/// another result: see [`Answer::heard`].
#[derive(Default)]
pub struct Answer {
    /// The error of the first part that could not be written.
    unheard: RefCell<Option<std::io::Error>>,
}

impl Answer {
    /// Says a line, as [`say`] does.
    pub fn say(&self, line: impl Display) {
        self.write_with(|out| writeln!(out, "{}", escaped(line)));
    }

    /// Writes what `write` writes.
    pub fn write_with(&self, write: impl FnOnce(&mut StdoutLock<'_>) -> std::io::Result<()>) {
        if self.unheard.borrow().is_none() {
            self.unheard.replace(write(&mut std::io::stdout().lock()).err());
        }
    }

    /// The error of a part that could not be written; to be called when all else is done.
    pub fn heard(&self) -> Result<()> {
        self.unheard.take().map_or(Ok(()), |error| Err(output_error(error)))
    }
}

/// The option that sends the object to the standard output, if one does.
pub fn object_option(json: bool, stats: Option<&Path>) -> Option<&'static str> {
    if json { Some("--json") } else { (stats == Some(Path::new("-"))).then_some("--stats") }
}

/// Refuses files that are written, in the place of an input or of one another, and the standard output for two of them,
/// or for one and the object, which `object` sends there. Inputs may be one file.
pub fn check_different(
    runtime: &Runtime,
    inputs: &[(String, &Path)],
    outputs: &[(&str, &Path)],
    object: Option<&str>,
) -> Result<()> {
    let backend = runtime.backend();
    let place = |file: &Path| (backend.resolve(folder(file)).ok(), file.file_name().map(ToOwned::to_owned));
    let mut known: Vec<_> = inputs.iter().map(|(option, file)| (&**option, place(file))).collect();
    for &(option, file) in outputs {
        let here = place(file);
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == here) {
            let text = format!("expected different files for {other} and {option}, found {} for both", file.display());
            return Err(Error::Usage(text));
        }
        known.push((option, here));
    }
    let standard = outputs.iter().filter(|(_, file)| is_standard_output(file)).map(|(option, _)| *option);
    match standard.chain(object).collect::<Vec<_>>()[..] {
        [one, other, ..] => Err(Error::Usage(format!(
            "expected different places for {one} and {other}, found the standard output for both"
        ))),
        _ => Ok(()),
    }
}

/// The error of a write to a standard output that is closed, in plain words: see `fill_standard_descriptors`. Any other
/// error is unchanged.
pub fn plain_if_closed(error: Error) -> Error {
    match error {
        Error::File { path, source, .. }
            if source.kind() == ErrorKind::NotConnected && path == Path::new(STANDARD_OUTPUT) =>
        {
            output_error(std::io::Error::new(source.kind(), "it is closed"))
        }
        error => error,
    }
}

/// A failure to write to the standard output.
pub fn output_error(error: std::io::Error) -> Error {
    Error::file(STANDARD_OUTPUT, "write to", error)
}
