//! The heads of .npy files, NumPy's format of arrays in files: what the numbers are, in which order, how many.
//!
//! *Encoding.* `\x93NUMPY`, two bytes of version, the length of what follows (two bytes in version 1, four in 2 and 3,
//! the least first), and a dictionary of Python's with three keys: `descr`, the type of an element, `fortran_order`,
//! whether columns or rows lie together, and `shape`. Blanks and a line end fill it up to a multiple of 64 bytes; then
//! come the elements. See `numpy.lib.format`.

use outcore_image::{Error, Result};
use outcore_io::Input;
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Largest length of a head: no matrix needs a longer one.
const MOST_HEAD_BYTES: usize = 1 << 16;
/// Largest number of characters of a header that an error quotes.
const MOST_SHOWN: usize = 80;

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Real,
    Complex,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub kind: Kind,
    pub bytes: usize,
    /// Whether the most significant byte comes first.
    pub is_big_endian: bool,
}

impl Element {
    /// Element type of a product: float64, or complex128.
    pub const fn computed(is_complex: bool) -> Self {
        let (kind, bytes) = if is_complex { (Kind::Complex, 16) } else { (Kind::Real, 8) };
        Element { kind, bytes, is_big_endian: cfg!(target_endian = "big") }
    }

    /// The type that NumPy writes so, such as `<f8`; nothing if it is no number, or one of another size.
    pub fn from_name(name: &str) -> Option<Self> {
        let (order, rest) = name.split_at_checked(1)?;
        let (kind, bytes) = rest.split_at_checked(1)?;
        let bytes = bytes.parse().ok()?;
        let kind = match (kind, bytes) {
            ("b", 1) => Kind::Bool,
            ("i", 1 | 2 | 4 | 8) => Kind::Signed,
            ("u", 1 | 2 | 4 | 8) => Kind::Unsigned,
            ("f", 4 | 8) => Kind::Real,
            ("c", 8 | 16) => Kind::Complex,
            _ => return None,
        };
        let is_big_endian = match order {
            "<" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            "|" if bytes == 1 => false,
            _ => return None,
        };
        Some(Element { kind, bytes, is_big_endian })
    }

    /// Name of the type in NumPy.
    pub fn name(self) -> String {
        let kind = match self.kind {
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Real => 'f',
            Kind::Complex => 'c',
        };
        format!("{}{kind}{}", if self.is_big_endian { '>' } else { '<' }, self.bytes)
    }
}

/// A head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub element: Element,
    /// Whether columns lie together, and not rows.
    pub by_columns: bool,
    /// One number for a vector, two for a matrix.
    pub shape: Vec<u64>,
    /// Offset of the elements.
    pub len_bytes: u64,
}

impl Head {
    /// Reads the head of a file.
    pub fn read(path: &Path, input: &Input) -> Result<Self> {
        let refused = |expected: &str, found: String| Err(refusal(path, expected.to_owned(), found));
        let mut start = [0; 12];
        let there = (input.len_bytes().min(12)) as usize;
        input.read_at(&mut start[..there], 0).map_err(|error| Error::file(path, "read", error))?;
        if there < 12 || !start.starts_with(MAGIC) {
            return refused(
                "a .npy file, which begins with \\x93NUMPY",
                format!("\"{}\"", start[..there.min(6)].escape_ascii()),
            );
        }
        let (at, len) = match start[6] {
            1 => (10, usize::from(u16::from_le_bytes([start[8], start[9]]))),
            2 | 3 => (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize),
            other => return refused("version 1, 2 or 3 of .npy", format!("version {other}")),
        };
        if len > MOST_HEAD_BYTES || (at + len) as u64 > input.len_bytes() {
            return refused("the head of an array", format!("one of {len} bytes in {}", input.len_bytes()));
        }
        let mut text = vec![0; len];
        input.read_at(&mut text, at as u64).map_err(|error| Error::file(path, "read", error))?;
        let text = String::from_utf8_lossy(&text);
        let (Some(name), Some(order), Some(shape)) =
            (value(&text, "descr"), value(&text, "fortran_order"), value(&text, "shape"))
        else {
            return refused("a head with descr, fortran_order and shape", shortened(text.trim()));
        };
        let Some(element) = Element::from_name(name.trim_matches(['\'', '"'])) else {
            let numbers =
                "numbers: bool, integers of 1 to 8 bytes, float32 or float64; in products also complex64 or complex128";
            return refused(numbers, format!("the type {}", shortened(name)));
        };
        let by_columns = match order {
            "True" => true,
            "False" => false,
            other => return refused("fortran_order as True or False", shortened(other)),
        };
        let sizes = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|size| !size.is_empty());
        match sizes.map(|size| size.trim_end_matches('L').parse()).collect::<std::result::Result<Vec<u64>, _>>() {
            Ok(shape) if matches!(shape.len(), 1 | 2) => {
                Ok(Head { element, by_columns, shape, len_bytes: (at + len) as u64 })
            }
            _ => refused("a vector or a matrix", format!("an array of shape {}", shortened(shape))),
        }
    }

    /// The bytes of the head of a matrix in rows, or of a vector; without the length.
    pub fn bytes(element: Element, shape: &[u64]) -> Vec<u8> {
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let (name, sizes) = (element.name(), sizes.join(", "));
        let mut text = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
        let unpadded = MAGIC.len() + 4 + text.len() + 1;
        text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
        text.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }
}

/// The error for an unsuitable file.
pub(crate) fn refusal(path: &Path, expected: String, found: String) -> Error {
    Error::Input { path: path.to_owned(), line: None, expected, found, advice: String::new() }
}

/// The beginning of a text from a head.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Value of a key in a dictionary: a string, a word, or the content of parentheses or brackets.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("'{key}'")).or_else(|| text.split_once(&format!("\"{key}\"")))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.chars().next()? {
        '(' => rest.find(')')? + 1,
        '[' => rest.find(']')? + 1,
        quote @ ('\'' | '"') => rest[1..].find(quote)? + 2,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::Backend;
    use outcore_io::backend::Posix;
    use std::sync::Arc;

    fn read(bytes: &[u8]) -> Result<Head> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        std::fs::write(&path, bytes).unwrap();
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        Head::read(&path, &backend.input(&path).unwrap())
    }

    #[test]
    fn heads_are_read_as_they_are_written() {
        for (name, shape) in [("<f8", vec![3, 4]), (">c16", vec![0, 70]), ("<i2", vec![1 << 40]), ("<b1", vec![1, 1])] {
            let element = Element::from_name(name).unwrap();
            let bytes = Head::bytes(element, &shape);
            assert_eq!(bytes.len() % 64, 0);
            let head = Head { element, by_columns: false, shape, len_bytes: bytes.len() as u64 };
            assert_eq!(read(&bytes).unwrap(), head);
        }
    }

    #[test]
    fn other_heads_are_read_or_refused() {
        let head = |version: u8, text: &str| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend([version, 0]);
            match version {
                1 => bytes.extend((text.len() as u16).to_le_bytes()),
                _ => bytes.extend((text.len() as u32).to_le_bytes()),
            }
            bytes.extend(text.as_bytes());
            read(&bytes)
        };
        let text = "{\"shape\": (7L, 2L,), \"fortran_order\":True,\"descr\" : \"|u1\"}";
        for version in [1, 2, 3] {
            let found = head(version, text).unwrap();
            assert_eq!((found.by_columns, found.shape, found.element.bytes), (true, vec![7, 2], 1));
        }
        for (version, text, message) in [
            (4, text, "found version 4"),
            (1, "{'descr': '<f8', 'shape': (1,), }", "expected a head with descr"),
            (1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", "found the type '<f2'"),
            (1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "found the type '|O'"),
            (1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "found the type [('a', '<f8')]"),
            (1, "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,), }", "True or False, found 0"),
            (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "shape ()"),
            (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", "shape (1, 2, 3)"),
            (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }", "shape (-1, 2)"),
        ] {
            let refused = head(version, text).unwrap_err().to_string();
            assert!(refused.contains(message), "{refused}");
        }
        for bytes in [&b""[..], b"\x93NUMPY", b"PK\x03\x04 and more of it", b"\x93NUMPY\x01\x00\xff\xff{'descr'"] {
            assert!(matches!(read(bytes), Err(Error::Input { .. })));
        }
    }
}
