//! The one file in a zip archive: found by the directory at the archive's end, stored or deflated.
//!
//! An archive of several files is refused with their names, since any could be meant. Folders do not count, nor
//! do descriptions (`archive.rs`). The size and the checksum that the directory gives are compared at the end. The
//! directory is read entry by entry, so that its size does not matter.
//!
//! Format: PKWARE, ".ZIP File Format Specification", version 6.3.10, sections 4.3 and 4.5.3.

use crate::input::archive::{MOST_SHOWN, is_description, listed};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use outcore_image::{Error, Result};
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// Magic numbers of local headers, and of the end of an archive without files.
const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", END];
const LOCAL_BYTES: usize = 30;
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
/// The end of the directory, behind which only a comment stands.
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const MOST_COMMENT_BYTES: usize = 0xffff;
/// Before the end, where numbers are wide: where the wide end is, and the wide end.
const WIDE_PLACE: &[u8] = b"PK\x06\x07";
const WIDE_PLACE_BYTES: usize = 20;
const WIDE_END: &[u8] = b"PK\x06\x06";
const WIDE_END_BYTES: usize = 56;
/// The extra field with the wide numbers of an entry.
const WIDE_FIELD: usize = 1;
const STORED: usize = 0;
const DEFLATED: usize = 8;

pub(crate) fn is_zip(start: &[u8]) -> bool {
    MAGICS.iter().any(|magic| start.starts_with(magic))
}

/// Reads exactly these bytes of an archive, from an offset.
pub(crate) type ReadAt<'a> = dyn Fn(&mut [u8], u64) -> io::Result<()> + 'a;

#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Without folders.
    pub(crate) name: String,
    pub(crate) start_bytes: u64,
    pub(crate) packed_bytes: u64,
    plain_bytes: u64,
    checksum: u32,
    deflated: bool,
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Member {
    /// Finds the only file of an archive of `len_bytes` bytes.
    pub(crate) fn find(path: &Path, len_bytes: u64, read_at: &ReadAt<'_>) -> Result<Self> {
        let damaged = |found: &str| {
            Error::input(path, None, "a zip archive with a directory at its end", found)
                .advise("the file is truncated or damaged: fetch or copy it again")
        };
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => damaged("a directory that leads beyond the end of the file"),
            _ => Error::file_at(path, "read", 0, error),
        };
        let (mut at, count) =
            directory(len_bytes, read_at).map_err(failed)?.ok_or_else(|| damaged("no end of a directory"))?;
        let (mut last, mut names, mut files) = (None, Vec::new(), 0u64);
        for _ in 0..count {
            let mut entry = [0; ENTRY_BYTES];
            read_at(&mut entry, at).map_err(failed)?;
            if !entry.starts_with(ENTRY) {
                return Err(damaged("a directory entry with a bad signature"));
            }
            let [name, extra, comment] = [28, 30, 32].map(|place| number(&entry, place, 2) as usize);
            let mut rest = vec![0; name + extra];
            read_at(&mut rest, at + ENTRY_BYTES as u64).map_err(failed)?;
            at += (ENTRY_BYTES + name + extra + comment) as u64;
            let (name, extra) = rest.split_at(name);
            let name = String::from_utf8_lossy(name).into_owned();
            if name.ends_with('/') || is_description(&name) {
                continue;
            }
            files += 1;
            if names.len() < MOST_SHOWN {
                names.push(name.clone());
            }
            last = Some((name, entry, extra.to_owned()));
        }
        match (files, last) {
            (1, Some((name, entry, extra))) => Member::of(path, name, &entry, &extra, read_at, &damaged, &failed),
            (0, _) | (_, None) => {
                Err(Error::input(path, None, "a zip archive of one file", "an archive without files")
                    .advise("name another"))
            }
            _ => Err(Error::input(path, None, "a zip archive of one file", listed(&names, files))
                .advise("unpack it, and name the files to import")),
        }
    }

    fn of(
        path: &Path,
        name: String,
        entry: &[u8],
        mut extra: &[u8],
        read_at: &ReadAt<'_>,
        damaged: &dyn Fn(&str) -> Error,
        failed: &dyn Fn(io::Error) -> Error,
    ) -> Result<Self> {
        let method = number(entry, 10, 2) as usize;
        let is_encrypted = number(entry, 8, 2) & 1 != 0;
        if is_encrypted || !matches!(method, STORED | DEFLATED) {
            let found = match (is_encrypted, method) {
                (true, _) => "an encrypted file".to_owned(),
                (_, 9) => "a file packed with Deflate64".to_owned(),
                (_, 12) => "a file packed with bzip2".to_owned(),
                (_, 14) => "a file packed with LZMA".to_owned(),
                (_, 93) => "a file packed with zstd".to_owned(),
                (_, 95) => "a file packed with xz".to_owned(),
                _ => format!("a file packed by method {method}"),
            };
            return Err(Error::input(path, None, format!("the file {name}, stored or deflated"), found)
                .advise("unpack it, or compress it with gzip or zstd"));
        }
        // A number that does not fit is in the extra field of wide numbers, in this order.
        let mut numbers = [number(entry, 24, 4), number(entry, 20, 4), number(entry, 42, 4)];
        while extra.len() >= 4 {
            let (id, len) = (number(extra, 0, 2) as usize, number(extra, 2, 2) as usize);
            let field = extra.get(4..4 + len).unwrap_or_default();
            let mut wide = field.chunks_exact(8).filter(|_| id == WIDE_FIELD);
            for place in numbers.iter_mut().filter(|place| **place == u64::from(u32::MAX)) {
                *place = wide.next().map_or(*place, |bytes| number(bytes, 0, 8));
            }
            extra = extra.get(4 + len..).unwrap_or_default();
        }
        let [plain_bytes, packed_bytes, local_bytes] = numbers;
        let mut local = [0; LOCAL_BYTES];
        read_at(&mut local, local_bytes).map_err(failed)?;
        if !local.starts_with(MAGICS[0]) {
            return Err(damaged(&format!("no header of a file at byte {local_bytes}")));
        }
        let head_bytes = LOCAL_BYTES as u64 + number(&local, 26, 2) + number(&local, 28, 2);
        let name = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let start_bytes = local_bytes + head_bytes;
        let (checksum, deflated) = (number(entry, 16, 4) as u32, method == DEFLATED);
        Ok(Member { name, start_bytes, packed_bytes, plain_bytes, checksum, deflated })
    }

    /// The plain bytes of the file, of which `packed` gives the compressed ones.
    pub(crate) fn unpacked(&self, packed: impl BufRead + Send + 'static) -> Checked {
        let packed = packed.take(self.packed_bytes);
        let inner: Box<dyn Read + Send> =
            if self.deflated { Box::new(DeflateDecoder::new(packed)) } else { Box::new(packed) };
        Checked { inner, crc: Crc::new(), plain_bytes: 0, member: self.clone() }
    }
}

/// Start of the directory and number of its entries; `None` if there is none.
fn directory(len_bytes: u64, read_at: &ReadAt<'_>) -> io::Result<Option<(u64, u64)>> {
    let tail_bytes = len_bytes.min((END_BYTES + MOST_COMMENT_BYTES) as u64);
    let mut tail = vec![0; tail_bytes as usize];
    let tail_start = len_bytes - tail_bytes;
    read_at(&mut tail, tail_start)?;
    let is_end = |&place: &usize| {
        let end = &tail[place..];
        end.len() >= END_BYTES && end.len() == END_BYTES + number(end, 20, 2) as usize
    };
    let Some(place) = memchr::memmem::rfind_iter(&tail, END).find(is_end) else { return Ok(None) };
    let end = &tail[place..];
    let [count, start_bytes] = [number(end, 10, 2), number(end, 16, 4)];
    let place_bytes = tail_start + place as u64;
    if count != 0xffff && start_bytes != u64::from(u32::MAX) || place_bytes < WIDE_PLACE_BYTES as u64 {
        return Ok(Some((start_bytes, count)));
    }
    let mut wide_place = [0; WIDE_PLACE_BYTES];
    read_at(&mut wide_place, place_bytes - WIDE_PLACE_BYTES as u64)?;
    if !wide_place.starts_with(WIDE_PLACE) {
        return Ok(Some((start_bytes, count)));
    }
    let mut wide_end = [0; WIDE_END_BYTES];
    read_at(&mut wide_end, number(&wide_place, 8, 8))?;
    let is_whole = wide_end.starts_with(WIDE_END);
    Ok(is_whole.then(|| (number(&wide_end, 48, 8), number(&wide_end, 32, 8))))
}

/// The plain bytes of a file of an archive; an error at their end unless size and checksum are those in the directory.
pub(crate) struct Checked {
    inner: Box<dyn Read + Send>,
    crc: Crc,
    plain_bytes: u64,
    member: Member,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.crc.update(&buffer[..len]);
        self.plain_bytes += len as u64;
        if len == 0 && !buffer.is_empty() {
            if self.plain_bytes < self.member.plain_bytes {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if self.plain_bytes != self.member.plain_bytes || self.crc.sum() != self.member.checksum {
                return Err(io::Error::new(ErrorKind::InvalidData, "its checksum does not match"));
            }
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_of, failure_of};
    use std::io::Write;

    /// An archive of files of these names and contents, deflated if they are not empty.
    fn archive(files: &[(&str, &[u8])], comment: &[u8]) -> Vec<u8> {
        let (mut all, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(content).unwrap();
            let packed = if content.is_empty() { Vec::new() } else { encoder.finish().unwrap() };
            let method = if content.is_empty() { STORED } else { DEFLATED };
            let mut crc = Crc::new();
            crc.update(content);
            let local = all.len() as u32;
            // From the version needed to the length of the extra field.
            let mut head = vec![20, 0, 0, 0, method as u8, 0, 0, 0, 0, 0];
            let sizes = [crc.sum(), packed.len() as u32, content.len() as u32];
            head.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
            head.extend([name.len() as u8, 0, 0, 0]);
            all.extend([MAGICS[0], &head, name.as_bytes(), &packed].concat());
            let tail = [&[0; 10][..], &local.to_le_bytes()].concat();
            directory.extend([ENTRY, &[20, 0], &head, &tail, name.as_bytes()].concat());
        }
        let (start, len) = (all.len() as u32, directory.len() as u32);
        all.extend(directory);
        let count = (files.len() as u16).to_le_bytes();
        all.extend([END, &[0; 4], &count, &count, &len.to_le_bytes(), &start.to_le_bytes()].concat());
        all.extend([&(comment.len() as u16).to_le_bytes(), comment].concat());
        all
    }

    #[test]
    fn the_only_file_is_read() {
        let files: [(&str, &[u8]); 3] = [("data/", b""), ("data/edges.csv", b"1,2\n2,3\n"), ("__MACOSX/._e", b"x")];
        for comment in [&b""[..], b"of PK\x05\x06 and more, which is no end"] {
            let read = edges_of("edge-list", &archive(&files, comment));
            assert_eq!(read.pairs, [(1, 2), (2, 3)]);
            assert_eq!(read.facts.compression, Some("zip"));
        }
    }

    #[test]
    fn archives_without_exactly_one_whole_file_are_refused() {
        let two = failure_of("edge-list", &archive(&[("a.csv", b"1,2\n"), ("b/c.csv", b"1,2\n")], b""));
        assert!(two.contains("2: a.csv, b/c.csv"), "{two}");
        let none = failure_of("edge-list", &archive(&[("a/", b"")], b""));
        assert!(none.contains("without files"), "{none}");
        let whole = archive(&[("a.csv", b"1,2\n2,3\n")], b"");
        for cut in [12, whole.len() / 2, whole.len() - 1] {
            let error = failure_of("edge-list", &whole[..cut]);
            assert!(error.contains("truncated"), "{cut}: {error}");
        }
        let start = LOCAL_BYTES + "a.csv".len();
        let mut checksum = whole.clone();
        let directory = memchr::memmem::find(&whole, ENTRY).unwrap();
        checksum[directory + 16] ^= 1;
        assert!(failure_of("edge-list", &checksum).contains("checksum"));
        let mut method = whole.clone();
        method[directory + 10] = 12;
        assert!(failure_of("edge-list", &method).contains("packed with bzip2"));
        let mut locked = whole.clone();
        locked[directory + 8] = 1;
        assert!(failure_of("edge-list", &locked).contains("encrypted"));
        let mut damaged = whole;
        damaged[start + 1] ^= 0xff;
        failure_of("edge-list", &damaged);
    }
}
