//! Dense vectors and matrices in NumPy's `.npy` files.
//!
//! A file is a magic word, a version, and a Python dictionary with the type of the numbers, their order and the shape;
//! the numbers follow. Opening one reads that much; [`NpyFile::read`] makes real numbers of double precision of all
//! numbers, row by row.
//!
//! The format: NumPy Enhancement Proposal 1, *A simple file format for NumPy arrays*, 2007.

use outcore_image::{Error, Result};
use outcore_io::{Array, Input, Runtime};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A dictionary has no more bytes.
const MOST_HEADER_BYTES: usize = 1 << 16;
/// Numbers that are read together.
const READ_NUMBERS: usize = 1 << 15;

/// A file with a dense vector or matrix.
#[derive(Debug)]
pub struct NpyFile {
    path: PathBuf,
    input: Input,
    start_bytes: u64,
    kind: NumberKind,
    is_fortran: bool,
    shape: Vec<usize>,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberKind {
    /// `b`, `i`, `u`, `f` or `c`, as NumPy has it.
    letter: u8,
    bytes: usize,
    is_big_endian: bool,
}

impl NumberKind {
    /// The type that NumPy calls so.
    fn named(name: &str) -> Option<Self> {
        let (order, rest) = name.split_at_checked(1)?;
        let (letter, bytes) = (*rest.as_bytes().first()?, rest.get(1..)?.parse().ok()?);
        let known: &[usize] = match letter {
            b'b' => &[1],
            b'i' | b'u' => &[1, 2, 4, 8],
            b'f' => &[4, 8],
            b'c' => &[8, 16],
            _ => &[],
        };
        let is_known = known.contains(&bytes) && ["<", ">", "|", "="].contains(&order);
        is_known.then_some(NumberKind { letter, bytes, is_big_endian: order == ">" })
    }

    /// How many real numbers it is.
    fn parts(self) -> usize {
        if self.letter == b'c' { 2 } else { 1 }
    }

    /// The value of a number, or of a part of a complex one.
    fn value(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        if self.is_big_endian {
            word[..bytes.len()].reverse();
        }
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * bytes.len() as u32;
        match self.letter {
            b'f' | b'c' if bytes.len() == 4 => f64::from(f32::from_bits(bits as u32)),
            b'f' | b'c' => f64::from_bits(bits),
            b'i' => ((bits << unused) as i64 >> unused) as f64,
            b'b' => f64::from(u8::from(bits != 0)),
            _ => bits as f64,
        }
    }
}

impl NpyFile {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// A file that cannot be read or is no `.npy` file; numbers of another type than booleans, integers, `float32`,
    /// `float64`, `complex64` and `complex128`; other than one or two dimensions; a length that the shape does not
    /// have.
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        let input = runtime.backend().input(path)?;
        let wrong = |expected: &str, found: String| Error::input(path, None, expected, found);
        let mut start = [0; 12];
        let known = start.len().min(input.len_bytes() as usize);
        read_at(&input, path, &mut start[..known], 0)?;
        let (version, length_bytes) = match &start[..8] {
            [0x93, b'N', b'U', b'M', b'P', b'Y', version @ 1..=3, 0] => (*version, if *version == 1 { 2 } else { 4 }),
            _ => return Err(wrong("a NumPy file of version 1, 2 or 3", "another beginning".into())),
        };
        let header_bytes = match version {
            1 => usize::from(u16::from_le_bytes([start[8], start[9]])),
            _ => u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize,
        };
        let start_bytes = 8 + length_bytes + header_bytes as u64;
        if header_bytes > MOST_HEADER_BYTES || start_bytes > input.len_bytes() {
            return Err(wrong("a header of at most 65536 bytes", format!("one of {header_bytes}")));
        }
        let mut header = vec![0; header_bytes];
        read_at(&input, path, &mut header, 8 + length_bytes)?;
        let header = String::from_utf8_lossy(&header).into_owned();
        let (kind, is_fortran, shape) = parse(&header).map_err(|(expected, found)| wrong(expected, found))?;
        let file = NpyFile { path: path.to_owned(), input, start_bytes, kind, is_fortran, shape };
        let sizes = file.shape.iter().try_fold(kind.bytes as u64, |bytes, &size| bytes.checked_mul(size as u64));
        if sizes.and_then(|bytes| bytes.checked_add(start_bytes)) != Some(file.input.len_bytes()) {
            let text = format!("a file of {} bytes for numbers of shape {:?}", file.input.len_bytes(), file.shape);
            return Err(wrong("as many numbers as the shape has", text));
        }
        Ok(file)
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows and columns there are: a vector is one column.
    pub fn shape(&self) -> (usize, usize) {
        (self.shape[0], self.shape.get(1).copied().unwrap_or(1))
    }

    /// Whether it is a vector: it has one dimension.
    pub fn is_vector(&self) -> bool {
        self.shape.len() == 1
    }

    /// Whether the numbers are complex.
    pub fn is_complex(&self) -> bool {
        self.kind.parts() == 2
    }

    /// Reads all numbers, row by row; where complex ones are wanted, each is two: the real and the imaginary part. 8
    /// bytes of memory for each, under the name `purpose`.
    ///
    /// # Errors
    /// Complex numbers where real ones are wanted; a file that cannot be read; no memory; a request to stop.
    pub fn read(&self, runtime: &Runtime, purpose: &str, as_complex: bool) -> Result<Array<f64>> {
        if self.is_complex() && !as_complex {
            return Err(Error::input(&self.path, None, "real numbers", "complex ones"));
        }
        let ((rows, columns), parts) = (self.shape(), self.kind.parts());
        let wide = if as_complex { 2 } else { 1 };
        let mut numbers = Array::zeroed(runtime.budget(), purpose, rows * columns * wide)?;
        let mut bytes = vec![0; READ_NUMBERS * self.kind.bytes];
        for first in (0..rows * columns).step_by(READ_NUMBERS) {
            runtime.cancel().check()?;
            let range = first..(rows * columns).min(first + READ_NUMBERS);
            let bytes = &mut bytes[..range.len() * self.kind.bytes];
            read_at(&self.input, &self.path, bytes, self.start_bytes + (first * self.kind.bytes) as u64)?;
            for (at, number) in self.places(range).zip(bytes.chunks_exact(self.kind.bytes)) {
                for (part, bytes) in number.chunks_exact(self.kind.bytes / parts).enumerate() {
                    numbers[at * wide + part] = self.kind.value(bytes);
                }
            }
        }
        Ok(numbers)
    }

    /// Where numbers of the file are, row by row.
    fn places(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        let ((rows, columns), is_fortran) = (self.shape(), self.is_fortran);
        range.map(move |i| if is_fortran { i % rows * columns + i / rows } else { i })
    }
}

fn read_at(input: &Input, path: &Path, bytes: &mut [u8], offset_bytes: u64) -> Result<()> {
    Ok(input.read_at(bytes, offset_bytes).map_err(|error| outcore_io::Error::file(path, "read", error))?)
}

/// What was expected, and what was found.
type Wrong = (&'static str, String);

/// The type, the order and the shape that a header tells.
fn parse(header: &str) -> std::result::Result<(NumberKind, bool, Vec<usize>), Wrong> {
    let value = |key: &str| {
        let quoted = [format!("'{key}':"), format!("\"{key}\":")];
        let behind = quoted.iter().find_map(|quoted| header.split_once(&**quoted)).map(|(_, rest)| rest.trim_start());
        behind.ok_or(("a header with descr, fortran_order and shape", header.trim().to_owned()))
    };
    let numbers = "numbers that are bool, int, float32, float64, complex64 or complex128";
    let descr = value("descr")?;
    let name = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next());
    let Some(name) = name else { return Err((numbers, "fields of their own types".into())) };
    let kind = NumberKind::named(name).ok_or_else(|| (numbers, format!("those of type {name}")))?;
    let is_fortran = match value("fortran_order")? {
        rest if rest.starts_with("True") => true,
        rest if rest.starts_with("False") => false,
        rest => return Err(("fortran_order of True or False", rest.chars().take(10).collect())),
    };
    let sizes = value("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(sizes, _)| sizes);
    let sizes = sizes.ok_or_else(|| ("a shape in parentheses", header.trim().to_owned()))?;
    let parsed = sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse::<usize>());
    let shape: Vec<usize> = parsed.collect::<std::result::Result<_, _>>().map_err(|_| ("a shape", sizes.to_owned()))?;
    match shape.len() {
        1 | 2 => Ok((kind, is_fortran, shape)),
        found => Err(("a vector or a matrix", format!("{found} dimensions"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_or_refused() {
        let header =
            |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': True, 'shape': {shape}, }}\n");
        let kind = NumberKind { letter: b'f', bytes: 8, is_big_endian: false };
        assert_eq!(parse(&header("'<f8'", "(3, 4)")), Ok((kind, true, vec![3, 4])));
        assert_eq!(parse(&header("'<f8'", "(3,)")), Ok((kind, true, vec![3])));
        for (descr, shape) in [
            ("'<f8'", "()"),
            ("'<f8'", "(1, 2, 3)"),
            ("'<f8'", "(-1,)"),
            ("'<f8'", "(99999999999999999999,)"),
            ("'<f16'", "(1,)"),
            ("'<U8'", "(1,)"),
            ("'|O'", "(1,)"),
            ("''", "(1,)"),
            ("'\u{e9}'", "(1,)"),
            ("[('a', '<f8')]", "(1,)"),
        ] {
            assert!(parse(&header(descr, shape)).is_err(), "{descr} {shape}");
        }
        assert!(parse("{'shape': (1,)}").is_err());
    }

    #[test]
    fn numbers_of_all_types_are_read() {
        let value = |name: &str, bytes: &[u8]| NumberKind::named(name).unwrap().value(bytes);
        assert_eq!(value("|b1", &[1]), 1.0);
        assert_eq!(value("|i1", &[255]), -1.0);
        assert_eq!(value("|u1", &[255]), 255.0);
        assert_eq!(value("<i2", &(-3i16).to_le_bytes()), -3.0);
        assert_eq!(value(">i4", &(-3i32).to_be_bytes()), -3.0);
        assert_eq!(value("<i8", &i64::MIN.to_le_bytes()), i64::MIN as f64);
        assert_eq!(value(">u8", &u64::MAX.to_be_bytes()), u64::MAX as f64);
        assert_eq!(value("<f4", &1.5f32.to_le_bytes()), 1.5);
        assert_eq!(value(">f8", &(-0.1f64).to_be_bytes()), -0.1);
    }
}
