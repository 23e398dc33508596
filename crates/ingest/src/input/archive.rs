//! Archives of one file: which of the files in them that is, and reading it from a tar archive, compressed or not.
//!
//! Collections of graphs put descriptions beside the data (`README`, `meta.NAME`, `readme.html`): those do not count.
//! An archive of several files is refused with their names, for nothing says which is meant. A tar archive has no
//! directory, so other files behind the one that is read are noticed at its end.
//!
//! Headers are read here, not by the crate `tar`: that reads a long name or an extended header of any length into
//! memory, and its raw mode, which does not, ignores the lengths that extended headers give.
//!
//! Format: "pax - portable archive interchange", IEEE Std 1003.1-2017, "ustar Interchange Format" and "pax Interchange
//! Format"; and long names as GNU tar writes them.

use std::io::{self, ErrorKind, Read};

/// Size of a header in bytes; every other size is a multiple of it.
pub(crate) const BLOCK_BYTES: usize = 512;
/// Largest length of a name that stands in a header of its own.
const MOST_NAME_BYTES: u64 = 64 << 10;
pub(crate) const MOST_SHOWN: usize = 10;
/// Prefixes and endings of the names of descriptions, in lower case. KONECT's `ent` and `rel` describe vertices and
/// edges.
const DESCRIPTIONS: [&str; 7] = ["readme", "license", "copying", "meta.", "ent.", "rel.", "._"];
const DESCRIPTION_ENDINGS: [&str; 4] = [".html", ".htm", ".md", ".pdf"];

/// Whether a file in an archive describes the data, or was added by macOS.
pub(crate) fn is_description(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let has = |ending: &&str| name.ends_with(*ending);
    path.starts_with("__MACOSX/")
        || DESCRIPTIONS.iter().any(|start| name.starts_with(start))
        || DESCRIPTION_ENDINGS.iter().any(has)
}

#[derive(Debug)]
pub(crate) struct Unsuitable {
    pub(crate) found: String,
}

impl std::fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.found)
    }
}

impl std::error::Error for Unsuitable {}

fn unsuitable(found: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, Unsuitable { found })
}

/// The number of files and the names of the first of them, for messages.
pub(crate) fn listed(names: &[String], count: u64) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_SHOWN).map(String::as_str).collect();
    format!("{count}: {}{}", shown.join(", "), if count > shown.len() as u64 { ", ..." } else { "" })
}

/// Whether bytes begin a tar archive: a header whose checksum is right.
pub(crate) fn is_tar(start: &[u8]) -> bool {
    let Some(header) = start.first_chunk::<BLOCK_BYTES>() else { return false };
    header[257..].starts_with(b"ustar") && is_whole(header)
}

fn is_whole(header: &[u8; BLOCK_BYTES]) -> bool {
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    let blanks = 8 * u64::from(b' ');
    number(&header[148..156]) == Some(sum(&header[..148]) + blanks + sum(&header[156..]))
}

/// A number of a header: octal digits, or bytes behind one with the highest bit.
fn number(field: &[u8]) -> Option<u64> {
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        let first = u64::from(field[0] & 0x7f);
        return field[1..].iter().try_fold(first, |all, &byte| Some(all.checked_mul(256)? + u64::from(byte)));
    }
    let text = std::str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
}

fn text(field: &[u8]) -> String {
    let end = memchr::memchr(0, field).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

struct Entry {
    name: String,
    len_bytes: u64,
}

/// Number of bytes that fill the last block of a file of `len_bytes`.
fn padding(len_bytes: u64) -> u64 {
    len_bytes.wrapping_neg() % BLOCK_BYTES as u64
}

fn skip(reader: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.by_ref().take(bytes), &mut io::sink())?;
    if skipped < bytes { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// The next file that is no description; `None` at the end. `files` counts the files before it, too.
fn next_file(reader: &mut impl Read, files: &mut u64) -> io::Result<Option<Entry>> {
    let (mut long_name, mut long_len) = (None, None);
    loop {
        let mut header = [0; BLOCK_BYTES];
        reader.read_exact(&mut header)?;
        if header.iter().all(|&byte| byte == 0) {
            return only_zeros(reader).map(|()| None);
        }
        let damaged = || io::Error::new(ErrorKind::InvalidData, "a header of the tar archive is damaged");
        let kind = header[156];
        let len_bytes = number(&header[124..136]).filter(|_| is_whole(&header)).ok_or_else(damaged)?;
        if matches!(kind, b'x' | b'L') {
            if len_bytes > MOST_NAME_BYTES {
                return Err(damaged());
            }
            let mut beside = vec![0; len_bytes as usize];
            reader.read_exact(&mut beside)?;
            skip(reader, padding(len_bytes))?;
            match kind {
                b'L' => long_name = Some(text(&beside)),
                _ if memchr::memmem::find(&beside, b" GNU.sparse.").is_some() => {
                    return Err(unsuitable("a sparse file".to_owned()));
                }
                _ => {
                    long_name = record(&beside, "path").or(long_name);
                    let size = record(&beside, "size").map(|size| size.parse().map_err(|_| damaged()));
                    long_len = size.transpose()?.or(long_len);
                }
            }
            continue;
        }
        let len_bytes = long_len.take().unwrap_or(len_bytes);
        let prefix = if header[257..].starts_with(b"ustar\0") { text(&header[345..500]) } else { String::new() };
        let own = text(&header[..100]);
        let name = match long_name.take() {
            Some(name) => name,
            None if prefix.is_empty() => own,
            None => format!("{prefix}/{own}"),
        };
        match kind {
            b'0' | b'\0' | b'7' if !name.ends_with('/') => {
                *files += 1;
                if !is_description(&name) {
                    return Ok(Some(Entry { name, len_bytes }));
                }
            }
            b'S' => return Err(unsuitable(format!("the sparse file {name}"))),
            _ => {}
        }
        let beside_bytes = len_bytes.checked_add(padding(len_bytes)).ok_or_else(damaged)?;
        // Links and folders have no content, even where their headers give a length.
        skip(reader, if matches!(kind, b'1'..=b'6') { 0 } else { beside_bytes })?;
    }
}

/// Reads to the end, where nothing but zeros may be.
fn only_zeros(reader: &mut impl Read) -> io::Result<()> {
    let mut some = [0; 16 * BLOCK_BYTES];
    loop {
        match reader.read(&mut some)? {
            0 => return Ok(()),
            len if some[..len].iter().any(|&byte| byte != 0) => {
                return Err(unsuitable("data behind its end".to_owned()));
            }
            _ => {}
        }
    }
}

/// The last value of a name in an extended header, whose lines are such as `20 path=a/b/c.csv`.
fn record(header: &[u8], name: &str) -> Option<String> {
    let mut rest = header;
    let mut last = None;
    while let Some(blank) = memchr::memchr(b' ', rest) {
        let len: usize = std::str::from_utf8(&rest[..blank]).ok()?.parse().ok()?;
        let line = rest.get(blank + 1..len.checked_sub(1)?)?;
        if let Some(value) = line.strip_prefix(name.as_bytes()).and_then(|value| value.strip_prefix(b"=")) {
            last = Some(String::from_utf8_lossy(value).into_owned());
        }
        rest = &rest[len..];
    }
    last
}

/// The bytes of the only file of a tar archive; other files behind it are an error at its end.
pub(crate) struct TarMember<R> {
    archive: R,
    name: String,
    len_bytes: u64,
    remaining_bytes: u64,
    has_ended: bool,
}

impl<R: Read> TarMember<R> {
    /// Finds the file in an archive.
    ///
    /// # Errors
    /// An archive that is damaged, or has no file but descriptions.
    pub(crate) fn find(mut archive: R) -> io::Result<Self> {
        let mut files = 0;
        let Some(Entry { name, len_bytes }) = next_file(&mut archive, &mut files)? else {
            let which = if files == 0 { "an archive without files" } else { "an archive with descriptions only" };
            return Err(unsuitable(which.to_owned()));
        };
        Ok(TarMember { archive, name, len_bytes, remaining_bytes: len_bytes, has_ended: false })
    }

    /// The name of the file, without folders.
    pub(crate) fn name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Looks for other files behind the one that was read.
    fn end(&mut self) -> io::Result<()> {
        skip(&mut self.archive, padding(self.len_bytes))?;
        let (mut names, mut count) = (vec![self.name.clone()], 1);
        while let Some(Entry { name, len_bytes }) = next_file(&mut self.archive, &mut 0)? {
            count += 1;
            if names.len() < MOST_SHOWN {
                names.push(name);
            }
            skip(&mut self.archive, len_bytes)?;
            skip(&mut self.archive, padding(len_bytes))?;
        }
        if count > 1 { Err(unsuitable(listed(&names, count))) } else { Ok(()) }
    }
}

impl<R: Read> Read for TarMember<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.remaining_bytes == 0 {
            if !self.has_ended {
                self.end()?;
                self.has_ended = true;
            }
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.remaining_bytes).unwrap_or(usize::MAX));
        let len = self.archive.read(&mut buffer[..most])?;
        if len == 0 && most > 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.remaining_bytes -= len as u64;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_of, failure_of};

    /// A header with this name, type and length.
    fn header(name: &str, kind: u8, len_bytes: usize) -> Vec<u8> {
        let mut header = vec![0; BLOCK_BYTES];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{len_bytes:011o}").as_bytes());
        header[148..156].fill(b' ');
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        header
    }

    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let fill = vec![0; padding(content.len() as u64) as usize];
        [header(name, kind, content.len()), content.to_vec(), fill].concat()
    }

    fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
        [entries.concat(), vec![0; 2 * BLOCK_BYTES]].concat()
    }

    #[test]
    fn the_only_file_that_is_no_description_is_read() {
        let (folder, readme) = (header("net/", b'5', 0), entry("net/README.net", b'0', b"9 9\n"));
        let edges = entry("net/out.net", b'0', b"% sym\n1 2\n2 3\n");
        for entries in [
            vec![edges.clone()],
            vec![folder.clone(), readme.clone(), edges.clone(), entry("net/meta.net", b'0', &[b'x'; 700])],
            vec![header("link", b'2', 0), edges.clone(), header("other", b'1', 512), entry("._x", b'0', b"x")],
            vec![entry("x", b'L', b"net/a long name.txt\0"), edges.clone()],
            vec![entry("x", b'g', b""), entry("x", b'x', b"24 path=net/a long name\n"), edges.clone()],
            // The length in an extended header counts.
            vec![
                entry("x", b'x', b"11 size=13\n"),
                header("e", b'0', 3),
                [b"% sym\n1 2\n2 3".to_vec(), vec![0; BLOCK_BYTES - 13]].concat(),
            ],
        ] {
            let read = edges_of("edge-list", &archive(&entries));
            assert_eq!((read.pairs, read.facts.directed), (vec![(1, 2), (2, 3)], Some(false)));
        }
        // The size of the archive tells nothing of the number of records in it.
        let read = edges_of("binary32", &archive(&[entry("e", b'0', &[1, 0, 0, 0, 2, 0, 0, 0])]));
        assert_eq!((read.pairs, read.facts.edges), (vec![(1, 2)], None));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut packed, &archive(&[readme, edges])).unwrap();
        let read = edges_of("edge-list", &packed.finish().unwrap());
        assert_eq!((read.pairs.len(), read.facts.compression), (2, Some("gzip")));
    }

    #[test]
    fn archives_without_exactly_one_whole_file_are_refused() {
        let edges = entry("a.txt", b'0', b"1 2\n");
        let two = failure_of("edge-list", &archive(&[edges.clone(), entry("b/c.txt", b'0', b"1 2\n")]));
        assert!(two.contains("2: a.txt, b/c.txt") && two.contains("unpack it"), "{two}");
        let many: Vec<Vec<u8>> = (0..20).map(|i| entry(&format!("{i}.txt"), b'0', b"1 2\n")).collect();
        assert!(failure_of("edge-list", &archive(&many)).contains("20: 0.txt, 1.txt"));
        let none = failure_of("edge-list", &archive(&[header("a/", b'5', 0)]));
        assert!(none.contains("an archive without files"), "{none}");
        let described = failure_of("edge-list", &archive(&[entry("README", b'0', b"1 2\n")]));
        assert!(described.contains("descriptions only"), "{described}");
        assert!(failure_of("edge-list", &archive(&[header("a", b'S', 0)])).contains("sparse"));
        for cut in [BLOCK_BYTES + 2, BLOCK_BYTES + 100] {
            let error = failure_of("edge-list", &edges[..cut]);
            assert!(error.contains("truncated"), "{cut}: {error}");
        }
        // Without its end an archive may be cut, and behind it may be another one.
        assert!(failure_of("edge-list", &edges).contains("truncated"));
        let twice = [archive(std::slice::from_ref(&edges)), archive(std::slice::from_ref(&edges))].concat();
        assert!(failure_of("edge-list", &twice).contains("behind its end"));
        let sparse = [entry("x", b'x', b"22 GNU.sparse.major=1\n"), edges.clone()];
        assert!(failure_of("edge-list", &archive(&sparse)).contains("sparse"));
        let mut damaged = archive(&[edges.clone(), edges.clone()]);
        damaged[2 * BLOCK_BYTES] ^= 1;
        assert!(failure_of("edge-list", &damaged).contains("damaged"));
        // Names that claim to be longer than any are not read into memory.
        assert!(failure_of("edge-list", &archive(&[header("x", b'L', 1 << 30)])).contains("damaged"));
        let huge = [entry("x", b'x', b"29 size=18446744073709551615\n"), header("README", b'0', 0)];
        assert!(failure_of("edge-list", &archive(&huge)).contains("damaged"));
    }

    #[test]
    fn numbers_are_octal_or_bytes() {
        assert_eq!(number(b"0000017\0"), Some(15));
        assert_eq!(number(b"   17 \0\0"), Some(15));
        assert_eq!(number(&[0x80, 0, 0, 0, 0, 0, 1, 2]), Some(258));
        assert_eq!([number(&[0xff; 12]), number(b"00x"), number(b"")], [None; 3]);
    }
}
