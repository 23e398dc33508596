//! The id column: the user's ids in the order of the vertices' numbers, and their type.
//!
//! In the order by id the sorted ids are the column. In the order by degree they are distributed by class first: within
//! a class they stay in order, and the classes one after the other are the column. In the order near they are
//! distributed by ranges of numbers, each with its number, and the ranges are sorted in memory.

use super::attributes::StoredAttributes;
use super::ids::runs::{RunId, Vertices};
use super::job::Job;
use super::order::{SLOTS, slot};
use super::page_file::PageFile;
use super::sides::Sides;
use super::summary::TABLE_OF_VERTICES;
use outcore_format::column::ColumnWriter;
use outcore_format::text::TextWriter;
use outcore_format::{IdColumn, IdType, Order, Origin};
use outcore_image::{Error, ImageFile, Result};
use outcore_io::{Buffer, Chain, Spill, SpillReader, Streams};

/// The highest bit, which sorting flips where ids are signed.
const SIGN: u64 = 1 << 63;

/// The shortest blocks of temporary files.
const LEAST_BLOCK_WORDS: u64 = 512;

/// Ids that were written.
pub(super) struct WrittenIds {
    pub column: IdColumn,
    /// In a graph with two sides, the side of every vertex, and the number of vertices on the first.
    pub sides: Option<(StoredAttributes, u64)>,
    /// The least and the greatest id, if they are integers; also behind the prefixes of rows and columns of a matrix.
    pub ends: Option<[i128; 2]>,
}

pub(super) struct IdWriting<'a> {
    pub job: &'a Job<'a>,
    pub vertices: &'a Vertices,
    pub order: Order,
    /// The vertices' numbers in the order of their ids, where the order is near.
    pub near: Option<&'a Spill>,
    /// Where slots begin in the order by degree.
    pub slot_starts: &'a [(usize, u64)],
}

impl IdWriting<'_> {
    /// Writes integers, unless they are consecutive and stand in their own order: `first` is the least of them then.
    pub(super) fn integers(&self, first: Option<u64>) -> Result<IdColumn> {
        let signed = self.vertices.signed;
        let plain = |id: u64| if signed { id ^ SIGN } else { id };
        if let Some(first) = first
            && self.order == Order::Input
            && let Ok(first) = i64::try_from(self.vertices.integer(first))
        {
            return Ok(IdColumn::Range { first });
        }
        let mut column = self.file(ImageFile::ID, |origin| ColumnWriter::new(origin, signed))?;
        self.in_order(
            |id: &u64, put| put(*id),
            |_| 1,
            |words| {
                let Some(id) = words()? else { return Ok(false) };
                column.put(|writer, emit| writer.push(plain(id), emit))?;
                Ok(true)
            },
        )?;
        let pages = column.finish(|writer, emit| writer.finish(emit))?;
        Ok(if signed { IdColumn::I64 { pages } } else { IdColumn::U64 { pages } })
    }

    /// Writes strings and, in a graph with two sides, the side of every vertex.
    pub(super) fn strings(&self) -> Result<WrittenIds> {
        let facts = &self.job.facts;
        let prefixes = facts.sides.as_ref().filter(|_| facts.sides_are_matrix && facts.sides_are_integers);
        let mut ends_of_ids: Option<[i128; 2]> = None;
        let mut sides = self.job.facts.sides.as_ref().map(|sides| Sides::create(self.job, sides)).transpose()?;
        let mut ends = self.file(ImageFile::ID, |origin| ColumnWriter::new(origin, false))?;
        let mut texts = self.file(ImageFile::ID_TEXT, TextWriter::new)?;
        let mut text_bytes = 0u64;
        let mut string = Vec::new();
        self.in_order(
            |id: &Vec<u8>, put| {
                put(id.len() as u64)?;
                id.chunks(8).try_for_each(|bytes| {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    put(u64::from_le_bytes(word))
                })
            },
            |len| 1 + len.div_ceil(8),
            |words| {
                let Some(len) = words()? else { return Ok(false) };
                string.clear();
                while (string.len() as u64) < len {
                    string.extend_from_slice(&words()?.unwrap_or(0).to_le_bytes());
                }
                string.truncate(len as usize);
                text_bytes += len;
                ends.put(|writer, emit| writer.push(text_bytes, emit))?;
                texts.put(|writer, emit| writer.push(&string, |page| emit(0, page)))?;
                sides.as_mut().map_or(Ok(()), |sides| sides.push(&string))?;
                if let Some(prefixes) = prefixes {
                    let id = integer_behind(prefixes, &string)?;
                    let [least, greatest] = ends_of_ids.unwrap_or([id; 2]);
                    ends_of_ids = Some([least.min(id), greatest.max(id)]);
                }
                Ok(true)
            },
        )?;
        let end_pages = ends.finish(|writer, emit| writer.finish(emit))?;
        let text_pages = texts.finish(|writer, emit| writer.finish(|page| emit(0, page)))?;
        let column = IdColumn::String { end_pages, text_pages, text_bytes };
        Ok(WrittenIds { column, sides: sides.map(Sides::finish).transpose()?, ends: ends_of_ids })
    }

    fn file<W>(&self, file: ImageFile, writer: impl FnOnce(Origin) -> W) -> Result<PageFile<'_, W>> {
        PageFile::create(self.job, file, 256 << 10, writer)
    }

    /// Turns every id into words, and hands the words out in the order of the vertices' numbers: `next` takes as many
    /// as one id has, and says when there are no more. `len_words` tells from the first of them how many those are.
    fn in_order<K: RunId>(
        &self,
        put: impl Fn(&K, &mut dyn FnMut(u64) -> Result<()>) -> Result<()>,
        len_words: impl Fn(u64) -> u64,
        mut next: impl FnMut(&mut dyn FnMut() -> Result<Option<u64>>) -> Result<bool>,
    ) -> Result<()> {
        let budget = self.job.runtime.budget();
        let mut stream_of_slot = [0; SLOTS];
        let count = match self.order {
            Order::Input => 1,
            Order::Degree => self.slot_starts.len().max(1),
            Order::Near => self.ranges(),
        };
        for (stream, &(slot, _)) in self.slot_starts.iter().enumerate() {
            stream_of_slot[slot] = stream % count;
        }
        let range_vertices = self.vertices.count().div_ceil(count as u64).max(1);
        let block_words = (self.job.plan.memory_bytes / 32 / count as u64).clamp(LEAST_BLOCK_WORDS, 8192) as usize;
        let path = self.job.workspace.temporary("ids");
        let streams = Streams::create(self.job.runtime.backend(), &path, block_words)?;
        let mut sink = streams.sink(self.job.runtime, count)?;
        let mut vertices = self.vertices.reader::<K>(self.job.runtime)?;
        let near = self.near.map(|file| SpillReader::new(file, budget, self.job.plan.run_buffer_bytes));
        let mut near = near.transpose()?;
        let mut seen = 0u64;
        while vertices.advance()? {
            let mut stream =
                stream_of_slot[slot(vertices.sources + vertices.targets, seen, self.job.rows.unwrap_or(0))];
            if let Some(near) = &mut near {
                let number = near.word()?;
                stream = (number / range_vertices) as usize;
                sink.push(stream, number)?;
            }
            put(&vertices.id, &mut |word| sink.push(stream, word))?;
            seen += 1;
            if seen.is_multiple_of(1 << 16) {
                self.job.runtime.cancel().check()?;
            }
        }
        drop((vertices, near));
        let chains = sink.finish()?;
        if self.near.is_some() {
            return self.sort_ranges(&streams, chains, range_vertices, len_words, next);
        }
        let mut buffer: Buffer<u64> = Buffer::zeroed(budget, "writing ids", block_words + 1)?;
        let (mut used, mut filled) = (0, 0);
        let mut rest = chains.into_iter().filter(|chain| chain.words > 0);
        let mut chain = Chain::default();
        let mut words = || {
            while used == filled {
                if chain.words == 0 {
                    let Some(next) = rest.next() else { return Ok(None) };
                    chain = next;
                }
                self.job.runtime.cancel().check()?;
                filled = streams.read(&mut chain, &mut buffer)?;
                used = 0;
            }
            used += 1;
            Ok(Some(buffer[used - 1]))
        };
        while next(&mut words)? {}
        Ok(())
    }

    /// How many ranges of vertices there are in the order near: one is sorted in a quarter of the memory.
    fn ranges(&self) -> usize {
        // Number, length and place of each id, and its bytes.
        let bytes = self.vertices.count().saturating_mul(32).saturating_add(self.vertices.len_bytes());
        let most = (self.job.plan.memory_bytes / 32 / LEAST_BLOCK_WORDS).max(1);
        bytes.div_ceil(self.job.plan.memory_bytes / 4).clamp(1, most) as usize
    }

    /// Hands out the words of the ids of every range in the order of their numbers.
    fn sort_ranges(
        &self,
        streams: &Streams,
        ranges: Vec<Chain>,
        range_vertices: u64,
        len_words: impl Fn(u64) -> u64,
        mut next: impl FnMut(&mut dyn FnMut() -> Result<Option<u64>>) -> Result<bool>,
    ) -> Result<()> {
        let budget = self.job.runtime.budget();
        let mut places: Buffer<u64> = Buffer::zeroed(budget, "sorting ids", range_vertices as usize)?;
        for (range, mut chain) in ranges.into_iter().enumerate() {
            let first = range as u64 * range_vertices;
            let mut words: Buffer<u64> = Buffer::zeroed(budget, "sorting ids", chain.words as usize + 1)?;
            let mut filled = 0;
            while chain.words > 0 {
                self.job.runtime.cancel().check()?;
                filled += streams.read(&mut chain, &mut words[filled..])?;
            }
            let (mut place, mut count) = (0, 0);
            while place < filled {
                places[(words[place] - first) as usize] = place as u64 + 1;
                place += 1 + len_words(words[place + 1]) as usize;
                count += 1;
            }
            for &place in &places[..count] {
                let mut place = place as usize;
                next(&mut || {
                    place += 1;
                    Ok(Some(words[place - 1]))
                })?;
            }
        }
        Ok(())
    }
}

impl Job<'_> {
    /// Refuses ids beyond the type that the user says.
    pub(super) fn check_id_type(&self, ends: Option<[i128; 2]>) -> Result<()> {
        let (kind, Some([least, greatest])) = (self.facts.id_type, ends) else { return Ok(()) };
        if !self.facts.is_id_type_fixed || kind.holds(least, greatest) {
            return Ok(());
        }
        let beyond = if kind.holds(least, least) { greatest } else { least };
        let name = kind.name();
        Err(self.refused(format!("ids of type {name}, as --ids says"), beyond.to_string(), "leave --ids out"))
    }

    /// The type of the ids whose least and greatest these are, unless they are strings.
    pub(super) fn id_type(&self, ends: Option<[i128; 2]>) -> Option<IdType> {
        let kind = self.facts.id_type;
        match (ends, self.facts.string_ids) {
            (Some([least, greatest]), _) => Some(kind.wide_enough(least, greatest)),
            (None, is_string) => (!is_string).then_some(kind),
        }
    }
}

/// The integer in a text behind one of two prefixes. Texts that edges cannot have, such as `007` of a table of
/// vertices, are refused: they would come back as another vertex's id, or as none.
fn integer_behind(prefixes: &[String; 2], text: &[u8]) -> Result<i128> {
    let number = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix.as_bytes()));
    let number = number.and_then(|number| str::from_utf8(number).ok());
    let integer = number.and_then(|number| number.parse().ok().filter(|integer: &i128| integer.to_string() == number));
    integer.ok_or_else(|| {
        let [left, right] = prefixes;
        let found = String::from_utf8_lossy(&text[..text.len().min(80)]);
        let expected = format!("integers behind `{left}` and `{right}`, as those of the edges are, such as `{left}7`");
        Error::input(TABLE_OF_VERTICES, None, expected, format!("`{found}`"))
            .advise("say --ids string if ids are strings")
    })
}
