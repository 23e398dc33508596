//! One input file, or bytes held in memory: opened, and decompressed on the way.
//!
//! gzip, zstd, bzip2 and xz (any number of members, frames or streams), and zip and tar archives of one file, are told
//! by their first bytes, not by the file's name. A compressed stream that stops in its middle is an error and never a
//! shorter graph. Cost: one system call per block for plain files; windows of zstd and xz take up to 4 GiB, which the
//! budget counts.

use crate::batch::FileCounts;
use crate::input::archive::{self, TarMember, is_tar};
#[cfg(feature = "bzip2")]
use crate::input::bzip2_streams::Bzip2Streams;
use crate::input::coding::{self, Coding, START_BYTES};
use crate::input::context::InputContext;
use crate::input::gzip_members::{BytesBehind, GzipMembers};
#[cfg(feature = "xz")]
use crate::input::xz_streams::XzStreams;
use crate::input::zip_member::{self, Member};
use crate::input::zstd_frames::ZstdFrames;
use crate::plan::enough_bytes;
use bytes::{Buf, Bytes};
use outcore_image::{Error, Result, is_image};
use outcore_io::backend::{FileKind, What};
use outcore_io::{Budget, Input as InputFile, PipeReader, lock};
use std::ffi::OsStr;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const COMPRESSED_READ_BYTES: usize = 128 << 10;

/// Name of the input `-` in messages.
const STANDARD_INPUT: &str = "standard input";

#[derive(Clone)]
enum Content {
    File,
    Memory(Bytes),
    /// It can be read once: a stream that has peeked at it is stored for the next reader.
    Pipe(Arc<Mutex<Pipe>>),
}

enum Pipe {
    Closed(PathBuf),
    Open(Box<Stream>),
    Taken,
}

/// A file to read, or bytes in memory under a name.
#[derive(Clone)]
pub struct Input {
    path: PathBuf,
    content: Content,
    /// The file to read, where the input is a zip archive.
    member: Option<Member>,
    /// The name of the file to read, where the input is a tar archive.
    tar_member: Option<String>,
    /// The context of this input and all that are read together with it.
    context: Arc<InputContext>,
    counts: Arc<FileCounts>,
}

impl Input {
    /// A file; refused if it is missing, a directory, or an image.
    ///
    /// The path `-` is the standard input.
    pub fn file(path: &Path, context: &Arc<InputContext>) -> Result<Self> {
        let pipe = |name: &Path, path: &Path| Input {
            path: name.to_owned(),
            content: Content::Pipe(Arc::new(Mutex::new(Pipe::Closed(path.to_owned())))),
            member: None,
            tar_member: None,
            context: Arc::clone(context),
            counts: Arc::default(),
        };
        if path == Path::new("-") {
            return Ok(pipe(Path::new(STANDARD_INPUT), path));
        }
        let backend = context.backend();
        let file = backend.look(What::Named(path)).map_err(|e| Error::file(path, "open", e))?;
        if file.kind == FileKind::Directory {
            if is_image(backend, path) {
                return Err(Error::input(path, None, "a file", "an Outcore image")
                    .advise("it is an Outcore image already: use it as it is, or export it first"));
            }
            return Err(Error::input(path, None, "a file", "a directory").advise("name the files inside it"));
        }
        if file.kind != FileKind::File {
            return Ok(pipe(path, path));
        }
        Input::of(path, Content::File, context).with_member()
    }

    fn of(path: &Path, content: Content, context: &Arc<InputContext>) -> Self {
        let (path, context, counts) = (path.to_owned(), Arc::clone(context), Arc::default());
        Input { path, content, member: None, tar_member: None, context, counts }
    }

    /// Finds the file to read, if the input is an archive.
    pub(crate) fn with_member(mut self) -> Result<Self> {
        let mut start = [0; archive::BLOCK_BYTES];
        match &self.content {
            Content::Pipe(_) => {}
            Content::Memory(bytes) if zip_member::is_zip(bytes) => {
                let read_at = |to: &mut [u8], offset_bytes: u64| {
                    let from = usize::try_from(offset_bytes).ok().and_then(|from| bytes.get(from..)?.get(..to.len()));
                    to.copy_from_slice(from.ok_or(std::io::ErrorKind::UnexpectedEof)?);
                    Ok(())
                };
                self.member = Some(Member::find(&self.path, bytes.len() as u64, &read_at)?);
            }
            Content::Memory(_) => {}
            Content::File => {
                let file = self.context.backend().input(&self.path)?;
                let failed = |error| Error::file_at(&self.path, "read", 0, error);
                let len = file.read_some(&mut start, 0).map_err(failed)?;
                if zip_member::is_zip(&start[..len]) {
                    let read_at = |bytes: &mut [u8], offset_bytes| file.read_at(bytes, offset_bytes);
                    self.member = Some(Member::find(&self.path, file.len_bytes(), &read_at)?);
                }
                let is_compressed = !matches!(Coding::of(&start[..len.min(START_BYTES)]), Coding::Plain | Coding::Zip);
                if is_tar(&start[..len]) || is_compressed {
                    self.tar_member = self.stream()?.tar_member;
                }
            }
        }
        Ok(self)
    }

    /// Bytes in memory; `name` stands for the path in messages and decides the format.
    pub(crate) fn memory(name: &str, bytes: &[u8], context: &Arc<InputContext>) -> Self {
        Input::of(Path::new(name), Content::Memory(Bytes::copy_from_slice(bytes)), context)
    }

    /// The path, or the name that stands for it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Counts of what is read of it, however often it is opened.
    pub(crate) fn counts(&self) -> &Arc<FileCounts> {
        &self.counts
    }

    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &self.content {
            Content::File | Content::Pipe(_) => None,
            Content::Memory(bytes) => Some(bytes.clone()),
        }
    }

    /// The size on disk, if the input is a regular file.
    pub fn size_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::File => plain_file_bytes(&self.context, &self.path),
            Content::Memory(bytes) => Some(bytes.len() as u64),
            Content::Pipe(_) => None,
        }
    }

    /// Whether the input is a file in an archive.
    pub(crate) fn is_archive(&self) -> bool {
        self.member.is_some() || self.tar_member.is_some()
    }

    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::File => "a file",
            Content::Memory(_) => "bytes in memory",
            Content::Pipe(_) if self.path == Path::new(STANDARD_INPUT) => "`-`, which is read once",
            Content::Pipe(_) => "a pipe or device",
        }
    }

    /// The file's name in lower case, without endings of compressed files; of an archive, the name of the file in it.
    pub(crate) fn plain_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name_of = self.member.as_ref().map(|member| &member.name).or(self.tar_member.as_ref());
        let name = name_of.map_or(&*name, String::as_str).to_lowercase();
        coding::plain_name(&name).to_owned()
    }

    /// The budget that reading the input uses.
    pub fn budget(&self) -> &Arc<Budget> {
        self.context.budget()
    }

    /// Largest length of a line of text, or of an id in a table.
    pub(crate) fn longest_line_bytes(&self) -> usize {
        self.context.longest_line_bytes()
    }

    pub(crate) fn threads(&self) -> usize {
        self.context.threads()
    }

    /// A refusal of memory while the input is opened, with a limit that is enough for the import too: its blocks
    /// reserve `block_bytes`, beside `held_bytes` that the input keeps reserved.
    pub(crate) fn advising(&self, refusal: Error, block_bytes: u64, held_bytes: u64) -> Error {
        let held_bytes = self.budget().reserved_bytes().saturating_add(held_bytes);
        refusal.advising(enough_bytes(block_bytes, self.threads(), Some(held_bytes)))
    }

    /// The file of another name beside this one, compressed or not, if there is one; bytes in memory have none.
    pub(crate) fn sibling(&self, name: &OsStr) -> Result<Option<Self>> {
        if !matches!(self.content, Content::File) {
            return Ok(None);
        }
        for ending in ["", ".gz", ".zst"] {
            let mut name = name.to_owned();
            name.push(ending);
            let path = self.path.with_file_name(name);
            if plain_file_bytes(&self.context, &path).is_some() {
                return Input::file(&path, &self.context).map(Some);
            }
        }
        Ok(None)
    }

    /// Opens the file itself, for formats that need to seek.
    pub fn open_file(&self) -> Result<InputFile> {
        if let Content::Pipe(_) = self.content {
            return Err(Error::input(&self.path, None, "a regular file, which this format needs", "a pipe")
                .advise("write it to a file first"));
        }
        if let Some(name) = self.member.as_ref().map(|member| &member.name).or(self.tar_member.as_ref()) {
            let found = format!("{name} in an archive");
            return Err(Error::input(&self.path, None, "a file as this format has it", found).advise("unpack it"));
        }
        self.context.backend().input(&self.path)
    }

    /// The first plain bytes of the input, at most `len`, which stay to be read.
    pub fn start(&self, len: usize) -> Result<Vec<u8>> {
        let Content::Pipe(pipe) = &self.content else {
            return Ok(self.stream()?.peek(len)?.to_vec());
        };
        let mut stream = self.stream()?;
        let start = stream.peek(len)?.to_vec();
        *lock(pipe) = Pipe::Open(Box::new(stream));
        Ok(start)
    }

    /// Opens the input as a stream of plain bytes.
    pub fn stream(&self) -> Result<Stream> {
        let raw: Box<dyn Read + Send> = match &self.content {
            Content::File if self.member.is_some() => {
                let mut file = self.context.backend().input(&self.path)?;
                let start_bytes = self.member.as_ref().map_or(0, |member| member.start_bytes);
                let moved = file.seek(SeekFrom::Start(start_bytes));
                moved.map_err(|e| Error::file_at(&self.path, "read", start_bytes, e))?;
                Box::new(file)
            }
            Content::File => Box::new(self.context.backend().input(&self.path)?),
            Content::Memory(bytes) => {
                let start_bytes = self.member.as_ref().map_or(0, |member| member.start_bytes);
                let start = usize::try_from(start_bytes).unwrap_or(usize::MAX).min(bytes.len());
                Box::new(bytes.slice(start..).reader())
            }
            Content::Pipe(pipe) => match std::mem::replace(&mut *lock(pipe), Pipe::Taken) {
                Pipe::Open(stream) => return Ok(*stream),
                Pipe::Closed(path) => {
                    let cancel = self.context.cancel();
                    let is_standard = path == Path::new("-");
                    let opened =
                        if is_standard { PipeReader::standard_input(cancel) } else { PipeReader::open(&path, cancel) };
                    Box::new(opened.map_err(|e| Error::file(&self.path, "open", e))?)
                }
                Pipe::Taken => {
                    return Err(Error::input(&self.path, None, "an input that can be read twice", "a pipe")
                        .advise("write it to a file first"));
                }
            },
        };
        self.decompressed(raw)
    }

    fn decompressed(&self, raw: Box<dyn Read + Send>) -> Result<Stream> {
        let position_bytes = Arc::new(AtomicU64::new(0));
        let mut raw = Counted { raw, position_bytes: position_bytes.clone() };
        let mut start = Vec::with_capacity(START_BYTES);
        let failed = |error: std::io::Error| match error.downcast() {
            Ok(own) => own,
            Err(error) => Error::file_at(&self.path, "read", 0, error),
        };
        if self.member.is_none() {
            raw.by_ref().take(START_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
        }
        let coding = if self.member.is_some() { Coding::Zip } else { Coding::of(&start) };
        let is_compressed_by_name =
            coding::ENDINGS.iter().any(|ending| self.path.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()));
        if start.is_empty() && coding == Coding::Plain && is_compressed_by_name {
            return Err(truncated(&self.path, "a compressed file", 0));
        }
        let whole = Read::chain(std::io::Cursor::new(start), raw);
        let buffered = |whole| BufReader::with_capacity(COMPRESSED_READ_BYTES, whole);
        let reader: Box<dyn Read + Send> = match (coding, &self.member) {
            (Coding::Plain, _) => Box::new(whole),
            (Coding::Gzip, _) => Box::new(GzipMembers::new(buffered(whole), Arc::clone(&position_bytes))),
            (Coding::Zstd, _) => Box::new(ZstdFrames::new(buffered(whole), &self.path, &self.context).map_err(failed)?),
            #[cfg(feature = "bzip2")]
            (Coding::Bzip2, _) => {
                Box::new(Bzip2Streams::new(buffered(whole), &self.path, &self.context).map_err(failed)?)
            }
            #[cfg(feature = "xz")]
            (Coding::Xz, _) => Box::new(XzStreams::new(buffered(whole), &self.path, &self.context)),
            #[cfg(not(feature = "bzip2"))]
            (Coding::Bzip2, _) => return Err(self.lacks(coding)),
            #[cfg(not(feature = "xz"))]
            (Coding::Xz, _) => return Err(self.lacks(coding)),
            (Coding::Zip, Some(member)) => Box::new(member.unpacked(buffered(whole))),
            (Coding::Zip, None) => {
                return Err(Error::input(&self.path, None, "a zip archive in a regular file", self.kind())
                    .advise("its directory is at its end: write it to a file first, or unpack it"));
            }
        };
        let stream = Stream {
            path: self.path.clone(),
            reader,
            tar_member: None,
            coding,
            position_bytes,
            size_bytes: self.size_bytes(),
            peeked: Vec::new(),
            context: Arc::clone(&self.context),
            counts: Arc::clone(&self.counts),
        };
        let mut stream = stream.untarred()?;
        if matches!(coding, Coding::Zstd | Coding::Bzip2 | Coding::Xz) {
            // The first window is reserved now, before the import plans with the free memory.
            stream.peek(1).map_err(|error| match error {
                refusal @ Error::Memory { needed_bytes, .. } => self.advising(refusal, 0, needed_bytes),
                other => other,
            })?;
        }
        Ok(stream)
    }

    /// The refusal of a compression that this build cannot read.
    #[cfg(not(all(feature = "bzip2", feature = "xz")))]
    fn lacks(&self, coding: Coding) -> Error {
        let advice = format!("build Outcore with its feature `{}`, or unpack the file", coding.name());
        Error::input(&self.path, None, "a compression that is read", coding.name()).advise(advice)
    }
}

/// A reader that repeats a failure once.
struct Failed(Option<std::io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The size of a plain file, or of the one that a link leads to.
fn plain_file_bytes(context: &InputContext, path: &Path) -> Option<u64> {
    context.backend().named(path).filter(|file| file.kind == FileKind::File).map(|file| file.len_bytes)
}

/// The plain bytes of an input, in order.
pub struct Stream {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// The name of the file that is read, where the input is a tar archive.
    tar_member: Option<String>,
    coding: Coding,
    position_bytes: Arc<AtomicU64>,
    size_bytes: Option<u64>,
    peeked: Vec<u8>,
    context: Arc<InputContext>,
    counts: Arc<FileCounts>,
}

impl Stream {
    /// Notes that the last line of the text has no end of line.
    pub(crate) fn note_lacking_end(&self) {
        self.counts.lacks_end.store(true, Ordering::Relaxed);
    }

    /// Replaces the stream by the file in a tar archive, if the bytes are one.
    fn untarred(mut self) -> Result<Self> {
        let mut start = Vec::with_capacity(archive::BLOCK_BYTES);
        // An error here is reported again by the next read.
        let failed = self.reader.by_ref().take(archive::BLOCK_BYTES as u64).read_to_end(&mut start).err();
        let is_tar = is_tar(&start);
        let rest = std::mem::replace(&mut self.reader, Box::new(std::io::empty()));
        let rest: Box<dyn Read + Send> = if failed.is_some() { Box::new(Failed(failed)) } else { rest };
        let whole = Read::chain(std::io::Cursor::new(start), rest);
        if !is_tar {
            self.reader = Box::new(whole);
            return Ok(self);
        }
        self.tar_member = Some(String::new());
        let member = TarMember::find(whole).map_err(|error| self.failure(error))?;
        self.tar_member = Some(member.name().to_owned());
        self.reader = Box::new(member);
        Ok(self)
    }

    /// The input, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn budget(&self) -> &Budget {
        self.context.budget()
    }

    pub(crate) fn longest_line_bytes(&self) -> usize {
        self.context.longest_line_bytes()
    }

    /// The size of the input as it lies on disk, where it is known.
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }

    pub(crate) fn position_bytes(&self) -> u64 {
        self.position_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn compression(&self) -> Option<&'static str> {
        (self.coding != Coding::Plain).then(|| self.coding.name())
    }

    /// Whether the bytes on disk are others than those of the stream: compressed, or in an archive.
    pub(crate) fn is_packed(&self) -> bool {
        self.coding != Coding::Plain || self.tar_member.is_some()
    }

    /// The next bytes, at most `len`, which stay to be read.
    pub(crate) fn peek(&mut self, len: usize) -> Result<&[u8]> {
        let mut peeked = std::mem::take(&mut self.peeked);
        self.append(&mut peeked, len)?;
        self.peeked = peeked;
        Ok(&self.peeked)
    }

    /// Passes over bytes that have been peeked at.
    pub(crate) fn skip(&mut self, len: usize) {
        self.peeked.drain(..len.min(self.peeked.len()));
    }

    /// Reads until `buffer` holds `len` bytes or the input ends.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        if !self.peeked.is_empty() {
            // The peeked bytes are far smaller than a block, so they always fit.
            buffer.append(&mut self.peeked);
        }
        self.append(buffer, len)
    }

    /// Reads as many bytes as fit; fewer are an error.
    pub(crate) fn read_exact(&mut self, bytes: &mut [u8]) -> Result<()> {
        let peeked = self.peeked.len().min(bytes.len());
        let (front, rest) = bytes.split_at_mut(peeked);
        front.copy_from_slice(&self.peeked[..peeked]);
        self.skip(peeked);
        self.reader.read_exact(rest).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof if self.coding == Coding::Plain => {
                truncated(&self.path, &format!("{} more bytes", rest.len()), self.position_bytes())
            }
            _ => self.failure(error),
        })
    }

    fn append(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        let missing = len.saturating_sub(buffer.len());
        buffer.reserve(missing);
        let read = self.reader.by_ref().take(missing as u64).read_to_end(buffer);
        read.map(drop).map_err(|error| self.failure(error))
    }

    /// The cause of a failed read: the budget, the device, a truncated stream, or a damaged one.
    fn failure(&self, error: std::io::Error) -> Error {
        let error = match error.downcast::<Error>() {
            Ok(error) => return error,
            Err(error) => error,
        };
        if let Some(BytesBehind { start_bytes }) = error.get_ref().and_then(|error| error.downcast_ref()) {
            let expected = format!("the end of the file behind its {} data", self.coding.name());
            let found = format!("bytes after the end of the compressed data, from byte {start_bytes} on");
            return Error::input(&self.path, None, expected, found)
                .advise(format!("cut them off, as with head -c {start_bytes}, or fetch or compress the file again"));
        }
        if let Some(found) = error.get_ref().and_then(|error| error.downcast_ref::<archive::Unsuitable>()) {
            return Error::input(&self.path, None, "a tar archive of one file", &found.found)
                .advise("unpack it, and name the files to import");
        }
        let at = self.position_bytes();
        let is_tar = self.tar_member.is_some() && self.coding == Coding::Plain;
        match error.kind() {
            ErrorKind::UnexpectedEof if is_tar => return truncated(&self.path, "a complete tar archive", at),
            ErrorKind::InvalidData if is_tar => {
                return Error::input(&self.path, None, "a tar archive", error.to_string())
                    .advise("fetch or copy the file again");
            }
            _ => {}
        }
        if self.coding == Coding::Plain || error.raw_os_error().is_some() {
            return Error::file_at(&self.path, "read", at, error);
        }
        if error.kind() == std::io::ErrorKind::UnexpectedEof {
            return truncated(&self.path, &format!("a complete {} stream", self.coding.name()), at);
        }
        Error::input(
            &self.path,
            None,
            format!("a {} stream", self.coding.name()),
            format!("damaged data before byte {at} ({error})"),
        )
        .advise("fetch or compress the file again")
    }
}

fn truncated(path: &Path, expected: &str, at: u64) -> Error {
    Error::input(path, None, expected, format!("the end of the file at byte {at}"))
        .advise("the file is truncated: fetch or copy it again")
}

struct Counted {
    raw: Box<dyn Read + Send>,
    position_bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.raw.read(buffer)?;
        self.position_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::unlimited;
    use lzma_rust2::{XzOptions, XzWriter};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The bytes in every compression of streams.
    fn compressed(bytes: &[u8]) -> [Vec<u8>; 4] {
        [gzip(bytes), zstd::encode_all(bytes, 1).unwrap(), bzip2(bytes), xz(bytes)]
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        Input::memory("test", bytes, &unlimited()).with_member()?.stream()?.fill(&mut out, 1 << 23)?;
        Ok(out)
    }

    #[test]
    fn two_gzip_members_are_one_stream() {
        let both = [gzip(b"1 2\n"), gzip(b"3 4\n")].concat();
        assert_eq!(read_all(&both).unwrap(), b"1 2\n3 4\n");
    }

    #[test]
    fn a_stream_cut_anywhere_is_refused() {
        let text: Vec<u8> = (0..2000u32).flat_map(|i| format!("{i} {}\n", i * 7).into_bytes()).collect();
        for whole in compressed(&text) {
            assert_eq!(read_all(&whole).unwrap(), text);
            for cut in [5, 9, 11, 12, whole.len() / 2, whole.len() - 1] {
                let error = read_all(&whole[..cut]).expect_err("a cut stream").to_string();
                assert!(error.contains("truncated"), "cut at {cut}: {error}");
            }
        }
    }

    #[test]
    fn bytes_behind_the_end_are_no_truncation() {
        let text: Vec<u8> = (0..200_000u32).flat_map(|i| format!("{i} {}\n", i * 7).into_bytes()).collect();
        let twice = [&text[..], &text].concat();
        for whole in compressed(&text) {
            let members = [&whole[..], &whole].concat();
            assert!(read_all(&members).unwrap() == twice);
            for behind in [&b"\0"[..], b"\n", b"1 2\n", b"\x1f?", b"a note of the sender, longer than a header"] {
                let error = read_all(&[&members[..], behind].concat()).expect_err("bytes behind the end").to_string();
                let expected = format!("after the end of the compressed data, from byte {} on", members.len());
                assert!(error.contains(&expected) && !error.contains("truncated"), "{behind:?}: {error}");
            }
        }
    }

    #[test]
    fn damage_is_told_from_truncation() {
        let text: Vec<u8> = (0..2000u32).flat_map(|i| format!("{i} {}\n", i * 7).into_bytes()).collect();
        // zstd has no checksums unless asked for.
        for (mut bytes, name) in [(gzip(&text), "gzip"), (bzip2(&text), "bzip2"), (xz(&text), "xz")] {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xff;
            let Err(error) = read_all(&bytes) else { panic!("damaged {name} is read") };
            let error = error.to_string();
            assert!(error.contains(&format!("expected a {name} stream, found damaged data")), "{error}");
        }
    }

    #[test]
    fn the_memory_of_decoders_is_counted() {
        let mut options = XzOptions::with_preset(1);
        options.lzma_options.dict_size = 32 << 20;
        let mut encoder = XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(b"3 4\n").unwrap();
        // The second stream needs more than the first.
        let both = [xz(b"1 2\n"), vec![0; 8], encoder.finish().unwrap()].concat();
        let read = |bytes: &[u8], limit_mib: u64| {
            let budget = Arc::new(Budget::new((limit_mib + 9) << 20, 0).unwrap());
            let context = InputContext::new(&budget, 1);
            let mut out = Vec::new();
            Input::memory("test", bytes, &context).stream()?.fill(&mut out, 1 << 20).map(|()| out)
        };
        assert_eq!(read(&both, 40).unwrap(), b"1 2\n3 4\n");
        assert_eq!(read(&bzip2(b"1 2\n"), 5).unwrap(), b"1 2\n");
        for (bytes, limit_mib) in [(both, 20), (xz(b"1 2\n"), 1), (bzip2(b"1 2\n"), 3)] {
            let error = read(&bytes, limit_mib).expect_err("too little memory").to_string();
            assert!(error.contains("decompressing test") && error.contains("raise the limit"), "{error}");
        }
    }
}
