//! One id at a time, from formats that say where an id begins and ends.

use crate::batch::{Ids, bad_record};
use crate::text::number::{integer, is_padded, is_whole};
use crate::text::sample::padded_id;
use outcore_image::{Error, Result};
use std::path::PathBuf;

/// Takes the ids of an input.
pub(crate) struct IdTaker {
    pub(crate) path: PathBuf,
    pub(crate) strings: bool,
    /// Ids are integers because the first ones looked so.
    pub(crate) guessed: bool,
}

/// Whether an id is an integer as it would be printed: `007` is a word.
pub(crate) fn is_printed_integer(id: &[u8]) -> bool {
    is_whole(id) && !is_padded(id) && integer(id).is_some()
}

impl IdTaker {
    /// Appends an id that stands on this line.
    pub(crate) fn push(&self, id: &[u8], line: u64, ids: &mut Ids) -> Result<()> {
        match ids {
            Ids::Integer { values, negative, huge } => {
                if self.guessed && is_padded(id) && integer(id).is_some() {
                    return Err(padded_id(&self.path, line, id));
                }
                let id = integer(id).ok_or_else(|| self.no_integer(id, line))?;
                values.push(id.bits);
                *negative |= id.negative;
                *huge |= !id.negative && id.bits >> 63 != 0;
            }
            Ids::Text { bytes, ends } => {
                if id.is_empty() {
                    return Err(bad_record(&self.path, line, "an id that is not empty", id));
                }
                bytes.extend_from_slice(id);
                let end = u32::try_from(bytes.len());
                ends.push(end.map_err(|_| bad_record(&self.path, line, "shorter ids", id))?);
            }
        }
        Ok(())
    }

    fn no_integer(&self, id: &[u8], line: u64) -> Error {
        let is_long = is_whole(id) && id.len() > 18;
        let expected = if is_long { "an integer id of 64 bits" } else { "an integer id" };
        let error = bad_record(&self.path, line, expected, id);
        if self.guessed || is_long { error.advise("if ids are names, say --ids string") } else { error }
    }
}
