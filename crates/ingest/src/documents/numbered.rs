//! Vertices that a file numbers, with their labels: GML's and Pajek's.
//!
//! Labels are the ids if every vertex has one and no two have the same, as NetworkX has it; else the numbers are, and a
//! note says so. All vertices come before the edges, so their labels are in memory, which is reserved: about
//! 64 bytes and the label for a vertex. Vertices that are counted but not listed take none.

use crate::batch::bad_record;
use crate::documents::records::Records;
use outcore_image::{Error, Result};
use outcore_io::{Budget, Reservation};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of a vertex beside its label: its number, twice while a table grows, the end of its label, its place by
/// order.
const VERTEX_BYTES: u64 = 64;
/// Smallest number of bytes reserved at a time.
const STEP_BYTES: u64 = 1 << 20;
/// Number of vertices put into a block at a time.
const PUSHED: usize = 1000;

pub(crate) struct NumberedVertices {
    path: PathBuf,
    budget: Arc<Budget>,
    reserved: Option<Reservation>,
    places: HashMap<i64, u32>,
    numbers: Vec<i64>,
    /// The labels, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<u64>,
    /// Number of vertices without a label, including those that are not listed.
    unlabelled: u64,
    /// Whether labels are the ids, once that is chosen.
    by_label: Option<bool>,
    pushed: usize,
}

impl NumberedVertices {
    pub(crate) fn new(path: &Path, budget: &Arc<Budget>) -> Self {
        NumberedVertices {
            path: path.to_owned(),
            budget: Arc::clone(budget),
            reserved: None,
            places: HashMap::new(),
            numbers: Vec::new(),
            text: Vec::new(),
            ends: Vec::new(),
            unlabelled: 0,
            by_label: None,
            pushed: 0,
        }
    }

    pub(crate) fn add(&mut self, number: i64, label: Option<&[u8]>, line: u64) -> Result<()> {
        let label_bytes = label.map_or(0, <[u8]>::len) as u64;
        let needed_bytes = 2 * (self.text.len() as u64 + label_bytes) + VERTEX_BYTES * (self.numbers.len() as u64 + 1);
        if self.reserved.as_ref().is_none_or(|reserved| reserved.bytes() < needed_bytes) {
            let wanted_bytes = needed_bytes + (needed_bytes / 4).max(STEP_BYTES);
            self.reserved = None;
            let purpose = format!("the labels of the vertices of {}", self.path.display());
            self.reserved = Some(self.budget.reserve(&purpose, wanted_bytes)?);
        }
        let place = u32::try_from(self.numbers.len()).map_err(|_| {
            let found = format!("{} vertices", self.numbers.len() as u64 + 1);
            Error::input(&self.path, Some(line), format!("at most {} vertices", u32::MAX), found)
        })?;
        if self.places.insert(number, place).is_some() {
            return Err(bad_record(&self.path, line, "every number of a vertex once", number.to_string().as_bytes()));
        }
        if label.is_some_and(|label| std::str::from_utf8(label).is_err()) {
            let label = label.unwrap_or_default();
            return Err(bad_record(&self.path, line, "a label in UTF-8", label).advise("convert the file to UTF-8"));
        }
        self.numbers.push(number);
        self.unlabelled += u64::from(label.is_none_or(<[u8]>::is_empty));
        self.text.extend_from_slice(label.unwrap_or_default());
        self.ends.push(self.text.len() as u64);
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.numbers.len() as u64
    }

    pub(crate) fn has(&self, number: i64) -> bool {
        self.places.contains_key(&number)
    }

    fn label(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.text[start as usize..self.ends[place] as usize]
    }

    /// Chooses labels or numbers as ids, since all vertices are known; `unlisted` more have neither a line nor a label.
    pub(crate) fn decide(&mut self, unlisted: u64) {
        self.unlabelled += unlisted;
        let is_labelled = self.unlabelled == 0 && !self.numbers.is_empty();
        let is_unique = is_labelled && {
            let mut order: Vec<u32> = (0..self.numbers.len() as u32).collect();
            order.sort_unstable_by(|a, b| self.label(*a as usize).cmp(self.label(*b as usize)));
            order.windows(2).all(|pair| self.label(pair[0] as usize) != self.label(pair[1] as usize))
        };
        self.by_label = Some(is_unique);
    }

    pub(crate) fn is_decided(&self) -> bool {
        self.by_label.is_some()
    }

    pub(crate) fn note(&self) -> Option<String> {
        let is_mixed = self.by_label == Some(false) && !self.text.is_empty();
        match self.by_label {
            Some(true) => Some("The ids are the labels of the vertices.".to_owned()),
            _ if is_mixed && self.unlabelled > 0 => {
                Some(format!("The ids are the numbers of the vertices: {} have no label.", self.unlabelled))
            }
            _ if is_mixed => Some("The ids are the numbers of the vertices: some have the same label.".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn id(&self, number: i64) -> Cow<'_, [u8]> {
        match self.places.get(&number).filter(|_| self.by_label == Some(true)) {
            Some(&place) => Cow::Borrowed(self.label(place as usize)),
            None => Cow::Owned(number.to_string().into_bytes()),
        }
    }

    /// Hands over some vertices; false if there are no more.
    pub(crate) fn push(&mut self, line: u64, records: &mut Records) -> bool {
        let end = (self.pushed + PUSHED).min(self.numbers.len());
        let is_any = self.pushed < end;
        for place in self.pushed..end {
            records.vertex(line, &self.id(self.numbers[place]), &[]);
        }
        self.pushed = end;
        is_any
    }
}
