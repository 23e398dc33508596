//! Lists of ids: as they are typed, or in files with an id a line, or with a column of them.
//!
//! *Cost.* The ids of a file are reserved from the budget while it is read. Where they have no room, the rest of the
//! file is read for their number alone: so the limit that the refusal advises is enough for all of them.

use outcore::front_ends::{Kind, Parameter, Value};
use outcore::import::each_vertex_id;
use outcore::io::Reservation;
use outcore::{Error, Result, Runtime};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The sign before the name of a file of ids.
const OF_FILE: char = '@';
const PURPOSE: &str = "the ids of vertices";
/// Memory of an id beside its text: the string, its place in a list that grows, the allocator's, and its place in the
/// search for vertices.
const ID_BYTES: u64 = 176;
/// Memory that is reserved at once.
const STEP_BYTES: u64 = 64 << 10;

/// A part of a list of ids on the command line.
#[derive(Clone)]
pub enum IdList {
    Typed(Value),
    File(PathBuf),
}

impl IdList {
    /// Whether an option takes lists of ids.
    pub fn is_for(option: &Parameter) -> bool {
        matches!(option.kind, Kind::Vertices | Kind::Seeds)
    }

    pub fn parse(option: &Parameter, text: &str) -> std::result::Result<Self, String> {
        match text.strip_prefix(OF_FILE).filter(|file| !file.is_empty()) {
            Some(file) => Ok(IdList::File(file.into())),
            None => option.parse(text).map(IdList::Typed),
        }
    }

    fn value(&self, runtime: &Runtime, option: &Parameter, memory: &mut Vec<Reservation>) -> Result<Value> {
        let file = match self {
            IdList::Typed(value) => return Ok(value.clone()),
            IdList::File(file) => file,
        };
        let ids = read_ids(runtime, file, memory).map_err(|error| not_there(error, option, file))?;
        Ok(match option.kind {
            Kind::Seeds => Value::Seeds(vec![ids.into_iter().map(|listed| (listed.id, 1.0)).collect()]),
            _ => Value::Vertices(ids.into_iter().map(|listed| listed.id).collect()),
        })
    }
}

/// The value of an option that was given in these parts, and the memory of the ids that files have.
pub fn joined(runtime: &Runtime, option: &Parameter, parts: &[IdList]) -> Result<(Value, Vec<Reservation>)> {
    let (mut ids, mut sets, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part.value(runtime, option, &mut memory)? {
            Value::Seeds(more) => sets.extend(more),
            Value::Vertices(more) => ids.extend(more),
            other => return Ok((other, memory)),
        }
    }
    Ok((if matches!(option.kind, Kind::Seeds) { Value::Seeds(sets) } else { Value::Vertices(ids) }, memory))
}

/// An id in a file, and its line where it has one.
pub struct ListedId {
    id: String,
    line: Option<u64>,
}

impl AsRef<str> for ListedId {
    fn as_ref(&self) -> &str {
        &self.id
    }
}

/// The ids in a file: one a line, or in the column `vertex` of a result.
pub fn read_ids(runtime: &Runtime, file: &Path, memory: &mut Vec<Reservation>) -> Result<Vec<ListedId>> {
    let (mut ids, mut own) = (Vec::new(), Vec::new());
    let (mut needed_bytes, mut reserved_bytes, mut has_room) = (0, 0, true);
    each_vertex_id(runtime, file, &mut |id, line| {
        needed_bytes += ID_BYTES + id.len() as u64;
        while has_room && reserved_bytes < needed_bytes {
            match runtime.budget().reserve(PURPOSE, STEP_BYTES) {
                Ok(step) => own.push(step),
                Err(error) if error.advised_bytes().is_none() => return Err(error),
                Err(_) => {
                    (has_room, ids, own) = (false, Vec::new(), Vec::new());
                }
            }
            reserved_bytes += STEP_BYTES;
        }
        if has_room {
            ids.push(ListedId { id: id.to_owned(), line });
        }
        Ok(())
    })?;
    if !has_room {
        let (budget, all_bytes) = (runtime.budget(), needed_bytes.next_multiple_of(STEP_BYTES));
        return Err(budget.refusal(PURPOSE, all_bytes, budget.available_bytes()));
    }
    memory.extend(own);
    Ok(ids)
}

/// Says in which line of a file an id stands that the graph does not have.
pub fn in_line(error: Error, file: &Path, ids: &[ListedId]) -> Error {
    let Error::NoId { path, id, ids: all } = error else { return error };
    // The error has the beginning of a long id.
    let is_it = |listed: &&ListedId| listed.id.chars().take(id.chars().count()).eq(id.chars());
    let is_whole = |listed: &&ListedId| listed.id == id;
    let line = ids.iter().find(is_whole).or_else(|| ids.iter().find(is_it)).and_then(|listed| listed.line);
    let place = line.map_or(String::new(), |line| format!(":{line}"));
    let advice = format!("{all}; a list of vertices has one a line, or is a table whose first column is `vertex`");
    Error::NoId { path, id, ids: format!("it is named in {}{place}; {advice}", file.display()) }
}

/// Says how an id that begins with the sign of files is typed, if there is no such file.
fn not_there(error: Error, option: &Parameter, file: &Path) -> Error {
    match error {
        Error::File { source, .. } if source.kind() == ErrorKind::NotFound => {
            let (name, file) = (option.name.replace('_', "-"), file.display());
            Error::Usage(format!(
                "--{name} {OF_FILE}{file}: expected a file of ids, found none of that name; an id that begins with \
                 {OF_FILE} stands in quotes: '\"{OF_FILE}{file}\"'"
            ))
        }
        other => other,
    }
}
