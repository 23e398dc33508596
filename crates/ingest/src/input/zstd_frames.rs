//! zstd streams, frame by frame: every window is counted in the budget before the frame is decoded.
//!
//! A stream has any number of frames, each with a window of its own, and skippable ones between them. A frame's header
//! says how large the window is, from 1 KiB to 2 GiB; the decoder keeps the largest so far. The budget decides which is
//! too large. The position of every frame is known, so that bytes behind the last one are told from one that is cut.
//!
//! Format: RFC 8878, "Zstandard Compression and the 'application/zstd' Media Type", section 3.1.

use crate::input::context::{InputContext, Window};
use crate::input::gzip_members::BytesBehind;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zstd::stream::raw::{DParameter, Decoder, Operation};

const MAGIC_BYTES: usize = 4;
const MAGIC: [u8; MAGIC_BYTES] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first bytes of frames to skip.
const SKIPPABLE_FIRST: std::ops::RangeInclusive<u8> = 0x50..=0x5f;
/// Magic number, descriptor, dictionary, size of the content; there is a window only without a size of one byte.
const MOST_HEADER_BYTES: usize = MAGIC_BYTES + 14;
/// The largest window that the library takes, as a power of two.
const MOST_WINDOW_LOG: u32 = 31;
/// Memory of a decoder beside the window: its tables, three blocks, and the compressed bytes read at once.
const DECODER_BYTES: u64 = 640 << 10;

pub(crate) struct ZstdFrames<R> {
    reader: R,
    path: PathBuf,
    decoder: Decoder<'static>,
    context: Arc<InputContext>,
    window: Option<Window>,
    in_frame: bool,
    position_bytes: u64,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(reader: R, path: &Path, context: &Arc<InputContext>) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MOST_WINDOW_LOG))?;
        let (path, context) = (path.to_owned(), Arc::clone(context));
        Ok(ZstdFrames { reader, path, decoder, context, window: None, in_frame: false, position_bytes: 0 })
    }

    /// Reads a frame's header, counts its window and hands the header to the decoder.
    fn begin_frame(&mut self) -> io::Result<()> {
        let mut header = [0; MOST_HEADER_BYTES];
        let mut len = MAGIC_BYTES;
        self.reader.read_exact(&mut header[..len])?;
        if header.starts_with(&MAGIC) {
            self.reader.read_exact(&mut header[len..=len])?;
            let fields = Fields::of(header[len]);
            len += 1 + fields.len();
            self.reader.read_exact(&mut header[MAGIC_BYTES + 1..len])?;
            self.count(fields.window_bytes(&header[MAGIC_BYTES + 1..len]))?;
        } else if !is_skippable(&header) {
            return Err(BytesBehind::error(self.position_bytes));
        }
        self.decoder.run_on_buffers(&header[..len], &mut [])?;
        self.position_bytes += len as u64;
        self.in_frame = true;
        Ok(())
    }

    fn count(&mut self, window_bytes: u64) -> io::Result<()> {
        let len_bytes = window_bytes.saturating_add(DECODER_BYTES);
        if self.window.as_ref().is_none_or(|window| window.len_bytes() < len_bytes) {
            self.window = None;
            self.window = Some(self.context.open(&self.path, len_bytes).map_err(io::Error::other)?);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            let input = self.reader.fill_buf()?;
            let is_end = input.is_empty();
            if !self.in_frame {
                match input.first() {
                    None => break,
                    Some(first) if *first == MAGIC[0] || SKIPPABLE_FIRST.contains(first) => {}
                    Some(_) => return Err(BytesBehind::error(self.position_bytes)),
                }
                self.begin_frame()?;
                continue;
            }
            let status = self.decoder.run_on_buffers(input, buffer)?;
            self.reader.consume(status.bytes_read);
            self.position_bytes += status.bytes_read as u64;
            self.in_frame = status.remaining > 0;
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
            if is_end && self.in_frame {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

pub(crate) fn is_zstd(start: &[u8]) -> bool {
    start.starts_with(&MAGIC) || is_skippable(start)
}

fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [first, 0x2a, 0x4d, 0x18, ..] if SKIPPABLE_FIRST.contains(first))
}

/// The fields of a frame's header behind the descriptor, by their lengths in bytes.
struct Fields {
    window: usize,
    dictionary: usize,
    content_size: usize,
}

impl Fields {
    fn of(descriptor: u8) -> Self {
        // A frame of one segment has its content as its window.
        let is_one_segment = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = [usize::from(is_one_segment), 2, 4, 8][usize::from(descriptor >> 6)];
        Fields { window: usize::from(!is_one_segment), dictionary, content_size }
    }

    fn len(&self) -> usize {
        self.window + self.dictionary + self.content_size
    }

    fn window_bytes(&self, fields: &[u8]) -> u64 {
        if self.window == 1 {
            let base = 1 << (10 + (fields[0] >> 3));
            return base + base / 8 * u64::from(fields[0] & 7);
        }
        let mut size = [0; 8];
        size[..self.content_size].copy_from_slice(&fields[self.dictionary..]);
        // Two bytes begin where one ends.
        u64::from_le_bytes(size).saturating_add(if self.content_size == 2 { 256 } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::Budget;
    use std::io::Write;

    const MIB: u64 = 1 << 20;

    /// A frame whose content does not say how long it is.
    fn frame(content: &[u8], window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.long_distance_matching(window_log >= 27).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
        let len = (content.len() as u32).to_le_bytes();
        [&[0x50 + kind, 0x2a, 0x4d, 0x18][..], &len, content].concat()
    }

    fn text(lines: u32) -> Vec<u8> {
        (0..lines).flat_map(|i| format!("{i} {}\n", i.wrapping_mul(77_777)).into_bytes()).collect()
    }

    /// The content, read in small pieces from a reader with a small buffer, within so much memory.
    fn read(stream: &[u8], budget_bytes: u64) -> io::Result<Vec<u8>> {
        let budget = Arc::new(Budget::new(budget_bytes + 9 * MIB, 0).unwrap());
        let available = budget.available_bytes();
        let context = InputContext::new(&budget, 1);
        let reader = io::BufReader::with_capacity(7, stream);
        let mut frames = ZstdFrames::new(reader, Path::new("test.zst"), &context)?;
        let mut content = Vec::new();
        let mut piece = [0; 1000];
        loop {
            let len = frames.read(&mut piece)?;
            if len == 0 {
                break;
            }
            content.extend_from_slice(&piece[..len]);
        }
        drop((frames, context));
        assert_eq!(budget.available_bytes(), available);
        Ok(content)
    }

    #[test]
    fn windows_are_what_the_encoder_chose() {
        for window_log in [10, 17, 22, 27, 31] {
            let stream = frame(b"1 2\n", window_log);
            let needed = (1 << window_log) + DECODER_BYTES;
            assert_eq!(read(&stream, needed).unwrap(), b"1 2\n", "window of 2^{window_log}");
            let error = read(&stream, needed - 1).unwrap_err().to_string();
            assert!(error.contains("decompressing test.zst") && error.contains("raise the limit"), "{error}");
        }
        // Sizes of content in one, two and four bytes, and no window.
        for len in [0, 10, 300, 100_000] {
            let content = text(20_000)[..len].to_vec();
            let stream = zstd::bulk::compress(&content, 3).unwrap();
            assert_eq!(stream[4] & 0x20, 0x20);
            assert_eq!(read(&stream, len as u64 + DECODER_BYTES).unwrap(), content);
            assert!(read(&stream, (len as u64 + DECODER_BYTES).saturating_sub(1)).is_err());
        }
        // One and seven eighths of 2 MiB.
        assert_eq!(Fields::of(0).window_bytes(&[11 << 3 | 7]), 15 << 18);
    }

    #[test]
    fn every_frame_is_counted_before_it_is_decoded() {
        let parts = [text(9000), Vec::new(), text(50_000), text(10)];
        let stream = [
            skippable(0, b""),
            frame(&parts[0], 17),
            skippable(15, &[0x28; 5000]),
            frame(&parts[1], 20),
            frame(&parts[2], 27),
            frame(&parts[3], 10),
            skippable(3, b"the end"),
        ]
        .concat();
        assert!(is_zstd(&stream) && !is_zstd(&stream[1..]));
        let content = parts.concat();
        assert!(read(&stream, (128 << 20) + DECODER_BYTES).unwrap() == content);
        let error = read(&stream, 30 * MIB).unwrap_err().downcast::<outcore_io::Error>().unwrap().to_string();
        for part in ["129 MiB", "only 30 MiB", "limit of 39 MiB", "at least 138 MiB"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn cut_streams_and_other_bytes_are_told_apart() {
        let stream = [skippable(1, b"abc"), frame(&text(100), 17), skippable(2, b"abc")].concat();
        let ends = [skippable(1, b"abc").len(), stream.len() - skippable(2, b"abc").len()];
        for cut in (1..stream.len()).filter(|cut| !ends.contains(cut)) {
            let error = read(&stream[..cut], 4 * MIB).expect_err("a cut stream");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{cut}");
        }
        for behind in [&b"1 2\n"[..], b"\n", b"(note)"] {
            let error = read(&[&stream[..], behind].concat(), 4 * MIB).unwrap_err();
            assert!(error.to_string().ends_with(&format!("from byte {} on", stream.len())), "{error}");
        }
    }

    #[test]
    fn memory_is_kept_for_as_many_windows_as_were_open_together() {
        let budget = Arc::new(Budget::new(109 * MIB, 0).unwrap());
        let context = InputContext::new(&budget, 1);
        let open = |len_bytes| context.open(Path::new("test.zst"), len_bytes);
        let (first, second) = (open(30 * MIB).unwrap(), open(20 * MIB).unwrap());
        assert_eq!(budget.available_bytes(), 50 * MIB);
        drop((first, second));
        let third = open(40 * MIB).unwrap();
        assert_eq!(budget.available_bytes(), 50 * MIB);
        assert!(open(61 * MIB).is_err());
        drop(third);
        open(100 * MIB).unwrap();
        assert_eq!(budget.available_bytes(), 0);
    }
}
