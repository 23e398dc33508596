//! Checking ids: every page, text that is UTF-8, sorted where the image promises that, and no id twice.
//!
//! Sorted ids are compared with the one before. Otherwise a hash of each is put into memory and sorted, part by part of
//! the hashes if there is no memory for 8 bytes per vertex; ids whose hashes are equal are then compared themselves.

use crate::check::image::{KeyedHash, bad};
use crate::engine::graph::Graph;
use outcore_format::{IdColumn, Order};
use outcore_image::{ImageFile, Result};
use outcore_io::Buffer;
use outcore_table::{Id, IdStream};
use std::collections::BTreeSet;
use std::ops::Range;

/// Memory for hashes that is always asked for.
const MIN_BYTES: u64 = 1 << 20;
/// The most repeated hashes of a part that are looked into: different ids with equal hashes are so rare that more of
/// them are equal ids.
const MOST_DOUBTFUL: usize = 1000;

/// Checks the ids of an image.
pub(crate) fn check_ids(graph: &Graph, hash: KeyedHash) -> Result<()> {
    let sorted = graph.manifest().order == Order::Input;
    if let IdColumn::Range { first } = graph.manifest().ids
        && !sorted
    {
        let found = format!("consecutive ids from {first} on");
        return Err(bad(graph, ImageFile::ID, "a column of ids, for vertices are not numbered as they sort", found));
    }
    let mut stream = IdStream::new(graph.image())?;
    let mut before: Option<Id<String>> = None;
    while let Some((first, batch)) = stream.next()? {
        let rises = |i: usize| match (i, &before) {
            (0, None) => true,
            (0, Some(before)) => before.as_ref() < batch.get(0),
            _ => batch.get(i - 1) < batch.get(i),
        };
        if let Some(place) = (0..batch.len()).find(|&i| sorted && !rises(i)) {
            let found = format!("`{}` at vertex {}", shown(batch.get(place)), first + place as u64);
            return Err(bad(graph, ImageFile::ID, "ids that rise", found));
        }
        before = Some(batch.get(batch.len() - 1).to_owned());
    }
    // Its memory is for the next step.
    drop(stream);
    if sorted { Ok(()) } else { check_unique(graph, hash) }
}

fn check_unique(graph: &Graph, hash: KeyedHash) -> Result<()> {
    let vertices = graph.vertices();
    let room = graph.runtime().budget().available_bytes() / 2;
    let bytes = (8 * vertices).min(room.max(MIN_BYTES));
    // Parts are of about the same size; a part that is larger than its share after all is taken with the next size
    // down.
    let mut parts = (8 * vertices * 9 / 8).div_ceil(bytes.max(1)).max(1);
    graph.make_room("comparing ids", bytes + IdStream::bytes(graph.image()))?;
    let mut hashes = Buffer::<u64>::zeroed(graph.runtime().budget(), "comparing ids", (bytes / 8) as usize)?;
    let most_parts = parts.saturating_mul(64);
    let mut part = 0;
    let mut doubtful = BTreeSet::new();
    while part < parts {
        let Some(count) = gather(graph, hash, part..parts, &mut hashes)? else {
            // Hashes of different ids spread evenly, so only equal ones go on to overflow a part.
            if parts >= most_parts {
                return Err(bad(
                    graph,
                    ImageFile::ID,
                    "every id once",
                    format!("more than {} of them in 1 of {parts} parts of the hashes", hashes.len()),
                ));
            }
            (part, parts) = (0, parts * 2);
            doubtful.clear();
            continue;
        };
        let gathered = &mut hashes[..count];
        gathered.sort_unstable();
        doubtful.extend(repeated(gathered).take(MOST_DOUBTFUL));
        part += 1;
    }
    if doubtful.is_empty() { Ok(()) } else { compare(graph, hash, &doubtful) }
}

/// The values that are more than once among sorted ones, each once.
fn repeated(sorted: &[u64]) -> impl Iterator<Item = u64> {
    sorted.chunk_by(|one, other| one == other).filter(|equal| equal.len() > 1).map(|equal| equal[0])
}

/// Puts the hashes of part `parts.start` of `parts.end` into memory; nothing if it has no room for them.
fn gather(graph: &Graph, hash: KeyedHash, parts: Range<u64>, hashes: &mut [u64]) -> Result<Option<usize>> {
    let mut stream = IdStream::new(graph.image())?;
    let mut count = 0;
    while let Some((_, batch)) = stream.next()? {
        for id in batch.iter() {
            let hash = hash_id(hash, id);
            if parts.end > 1 && hash % parts.end != parts.start {
                continue;
            }
            let Some(slot) = hashes.get_mut(count) else { return Ok(None) };
            *slot = hash;
            count += 1;
        }
    }
    Ok(Some(count))
}

/// Compares the ids that have one of these hashes.
fn compare(graph: &Graph, hash: KeyedHash, doubtful: &BTreeSet<u64>) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut stream = IdStream::new(graph.image())?;
    while let Some((first, batch)) = stream.next()? {
        for (place, id) in batch.iter().enumerate() {
            if doubtful.contains(&hash_id(hash, id)) && !seen.insert(id.to_owned()) {
                let found = format!("`{}` again at vertex {}", shown(id), first + place as u64);
                return Err(bad(graph, ImageFile::ID, "every id once", found));
            }
        }
    }
    Ok(())
}

fn hash_id(hash: KeyedHash, id: Id<&str>) -> u64 {
    match id {
        Id::Unsigned(value) => hash.one(value),
        Id::Signed(value) => hash.one(value as u64),
        Id::Text(text) => text.as_bytes().chunks(8).fold(text.len() as u64, |all, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash.one(all ^ u64::from_le_bytes(word)).rotate_left(5)
        }),
    }
}

fn shown(id: Id<&str>) -> String {
    id.to_string().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hash_of_many_ids_hides_no_other() {
        let mut hashes = vec![5; 3000];
        hashes.extend([6, 7, 7, 9]);
        assert_eq!(repeated(&hashes).take(2).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(repeated(&[]).count(), 0);
    }
}
