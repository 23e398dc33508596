//! The id column: the user's ids in the order of the vertices' numbers.
//!
//! In the order by id the sorted ids are the column. In the order by degree they are distributed by class first: within
//! a class they stay in order, and the classes one after the other are the column.

use super::order::class;
use outcore_format::column::ColumnWriter;
use outcore_format::text::TextWriter;
use outcore_format::{IdColumn, Order, PageBytes};
use outcore_image::{ImageFile, PageWriter, Result, Workspace};
use outcore_ingest::Plan;
use outcore_ingest::runs::{RunId, Vertices};
use outcore_io::{Array, Chain, Runtime, Streams};

/// The highest bit, which sorting flips where ids are signed.
const SIGN: u64 = 1 << 63;

/// What writing ids needs.
pub(super) struct IdWriting<'a> {
    pub runtime: &'a Runtime,
    pub plan: &'a Plan,
    pub workspace: &'a Workspace,
    pub vertices: &'a Vertices,
    pub order: Order,
    /// Where classes begin in the order by degree.
    pub class_starts: &'a [(u8, u64)],
    pub image_id: u64,
}

impl IdWriting<'_> {
    /// Writes integers, unless they are consecutive and stand in their own order: `first` is the least of them then.
    pub(super) fn integers(&self, first: Option<u64>) -> Result<IdColumn> {
        let signed = self.vertices.signed;
        let plain = |id: u64| if signed { id ^ SIGN } else { id };
        if let Some(first) = first
            && self.order == Order::Input
            && let Ok(first) = i64::try_from(if signed { i128::from(plain(first) as i64) } else { i128::from(first) })
        {
            return Ok(IdColumn::Range { first });
        }
        let mut file = self.page_writer(ImageFile::ID)?;
        let mut column = ColumnWriter::new(file.origin(), signed);
        let mut full = Vec::new();
        self.in_order(
            |id: &u64, put| put(*id),
            |words| {
                let Some(id) = words()? else { return Ok(false) };
                column.push(plain(id), |first, page| full.push((first, Box::new(*page))));
                append_all(&mut file, &mut full)?;
                Ok(true)
            },
        )?;
        column.finish(|first, page| full.push((first, Box::new(*page))));
        append_all(&mut file, &mut full)?;
        let pages = file.finish()?;
        Ok(if signed { IdColumn::I64 { pages } } else { IdColumn::U64 { pages } })
    }

    /// Writes strings.
    pub(super) fn strings(&self) -> Result<IdColumn> {
        let mut ends = self.page_writer(ImageFile::ID)?;
        let mut texts = self.page_writer(ImageFile::ID_TEXT)?;
        let mut column = ColumnWriter::new(ends.origin(), false);
        let mut writer = TextWriter::new(texts.origin());
        let mut text_bytes = 0u64;
        let (mut full_ends, mut full_texts) = (Vec::new(), Vec::new());
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
            |words| {
                let Some(len) = words()? else { return Ok(false) };
                string.clear();
                while (string.len() as u64) < len {
                    string.extend_from_slice(&words()?.unwrap_or(0).to_le_bytes());
                }
                string.truncate(len as usize);
                text_bytes += len;
                column.push(text_bytes, |first, page| full_ends.push((first, Box::new(*page))));
                writer.push(&string, |page| full_texts.push((0, Box::new(*page))));
                append_all(&mut ends, &mut full_ends)?;
                append_all(&mut texts, &mut full_texts)?;
                Ok(true)
            },
        )?;
        column.finish(|first, page| full_ends.push((first, Box::new(*page))));
        writer.finish(|page| full_texts.push((0, Box::new(*page))));
        append_all(&mut ends, &mut full_ends)?;
        append_all(&mut texts, &mut full_texts)?;
        Ok(IdColumn::String { end_pages: ends.finish()?, text_pages: texts.finish()?, text_bytes })
    }

    fn page_writer(&self, file: ImageFile) -> Result<PageWriter<'_>> {
        PageWriter::create(self.runtime, self.workspace, file, self.image_id, 256 << 10)
    }

    /// Turns every id into words, and hands the words out in the order of the vertices' numbers: `next` takes as many
    /// as one id has, and says when there are no more.
    fn in_order<K: RunId>(
        &self,
        put: impl Fn(&K, &mut dyn FnMut(u64) -> Result<()>) -> Result<()>,
        mut next: impl FnMut(&mut dyn FnMut() -> Result<Option<u64>>) -> Result<bool>,
    ) -> Result<()> {
        let mut stream_of_class = [0; 256];
        let count = match self.order {
            Order::Input => 1,
            Order::Degree => self.class_starts.len().max(1),
        };
        for (stream, &(class, _)) in self.class_starts.iter().enumerate() {
            stream_of_class[class as usize] = stream % count;
        }
        let block_words = (self.plan.memory_bytes / 32 / count as u64).clamp(512, 8192) as usize;
        let path = self.workspace.temporary("ids");
        let streams = Streams::create(self.runtime.backend(), &path, block_words)?;
        let mut sink = streams.sink(self.runtime.budget(), count)?;
        let mut vertices = self.vertices.reader::<K>(self.runtime)?;
        let mut seen = 0u64;
        while vertices.advance()? {
            let stream = stream_of_class[class(vertices.sources + vertices.targets) as usize];
            put(&vertices.id, &mut |word| Ok(sink.push(stream, word)?))?;
            seen += 1;
            if seen.is_multiple_of(1 << 16) {
                self.runtime.cancel().check()?;
            }
        }
        drop(vertices);
        let chains = sink.finish()?;
        let mut buffer: Array<u64> = Array::zeroed(self.runtime.budget(), "writing ids", block_words + 1)?;
        let (mut used, mut filled) = (0, 0);
        let mut rest = chains.into_iter().filter(|chain| chain.words > 0);
        let mut chain = Chain::default();
        let mut words = || {
            while used == filled {
                if chain.words == 0 {
                    let Some(next) = rest.next() else { return Ok(None) };
                    chain = next;
                }
                self.runtime.cancel().check()?;
                filled = streams.read(&mut chain, &mut buffer)?;
                used = 0;
            }
            used += 1;
            Ok(Some(buffer[used - 1]))
        };
        while next(&mut words)? {}
        Ok(())
    }
}

fn append_all(file: &mut PageWriter<'_>, pages: &mut Vec<(u64, Box<PageBytes>)>) -> Result<()> {
    for (first, page) in pages.drain(..) {
        file.append(first, &page)?;
    }
    Ok(())
}
