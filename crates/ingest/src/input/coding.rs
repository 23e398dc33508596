//! Compressions of inputs, recognized by the first bytes, and the endings of such file names.

use crate::input::gzip_members;
use crate::input::zip_member;
use crate::input::zstd_frames::is_zstd;

pub(crate) const START_BYTES: usize = 10;

pub(crate) const ENDINGS: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".zip"];

pub(crate) const XZ_MAGIC: [u8; 6] = *b"\xfd7zXZ\0";
/// First bytes of a block of a bzip2 stream, and of the end of one without blocks: after `BZh` and the size of blocks.
const BZIP2_MARKS: [[u8; 6]; 2] = [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Plain,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Zip,
}

impl Coding {
    /// The coding of an input that begins so: all of the first [`START_BYTES`], or the whole input.
    pub(crate) fn of(start: &[u8]) -> Self {
        if start.starts_with(&gzip_members::MAGIC) {
            Coding::Gzip
        } else if is_zstd(start) {
            Coding::Zstd
        } else if is_bzip2(start) {
            Coding::Bzip2
        } else if is_cut_or_whole(start, &XZ_MAGIC) {
            Coding::Xz
        } else if zip_member::is_zip(start) {
            Coding::Zip
        } else {
            Coding::Plain
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Coding::Plain => "plain",
            Coding::Gzip => "gzip",
            Coding::Zstd => "zstd",
            Coding::Bzip2 => "bzip2",
            Coding::Xz => "xz",
            Coding::Zip => "zip",
        }
    }
}

/// A name without the endings of compressed files.
pub(crate) fn plain_name(name: &str) -> &str {
    ENDINGS.iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name))
}

/// Whether bytes begin a bzip2 stream; three letters may begin a text too, so the first block is looked at.
fn is_bzip2(start: &[u8]) -> bool {
    let Some((b"BZh", [b'1'..=b'9', mark @ ..])) = start.split_at_checked(3) else { return false };
    BZIP2_MARKS.iter().any(|expected| expected.starts_with(&mark[..mark.len().min(expected.len())]))
}

/// Whether bytes begin with a magic number of which no text has the first bytes, or are cut within it.
fn is_cut_or_whole(start: &[u8], magic: &[u8]) -> bool {
    start.len() >= 2 && start.starts_with(&magic[..magic.len().min(start.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_not_compressed() {
        for text in ["", "BZh", "BZh9 1\n", "BZh91 2\n", "PK 1 2\n", "1 2\n"] {
            assert_eq!(Coding::of(text.as_bytes()), Coding::Plain, "{text}");
        }
        assert_eq!(Coding::of(b"BZh9\x17\x72\x45\x38\x50\x90"), Coding::Bzip2);
        assert_eq!(Coding::of(b"BZh51AY&SY"), Coding::Bzip2);
        assert_eq!([Coding::of(b"\xfd7zXZ\0"), Coding::of(b"\xfd7z")], [Coding::Xz; 2]);
        assert_eq!(
            [plain_name("a.csv.bz2"), plain_name("a.graph.xz"), plain_name("b.xz.csv")],
            ["a.csv", "a.graph", "b.xz.csv"]
        );
    }
}
