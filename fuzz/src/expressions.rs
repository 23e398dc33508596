//! Random expressions over small arrays, computed and compared with the plainest interpreter ([`crate::reference`]).
//!
//! An input is a program for a machine with a stack of arrays: two bytes say threads, memory and what the device does,
//! one more whether results are stored, and then every operation is a byte with its operands' bytes behind it. Arrays
//! lie in memory, in images and in files of NumPy's, or nowhere. What an operation of NumPy's gives must be given here,
//! with the same elements; what the stack holds in the end is computed twice, under two settings, to the same bits.

use crate::reference::{Number, Reference, broadcast, cast};
use crate::{MOST_MEMORY_BYTES, Target, note, noted};
use outcore_array::kernel::{Binary, Fold, Scalar, Unary};
use outcore_array::{Array, AxisPart, Bytes, ElementType, Goal, ImageGoal, ImageSource, InMemory, NpySource, compute};
use outcore_image::{Error, Result};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Blocks have 508 rows, pages 508 to 4064.
const ROWS: [usize; 10] = [0, 1, 2, 7, 507, 508, 509, 1016, 1300, 4065];
const COLUMNS: [usize; 4] = [1, 2, 3, 5];
/// No array has more elements, and no product of matrices more terms: so all of them may be computed as a whole.
const MOST: usize = 1 << 14;
const MOST_TERMS: usize = 1 << 16;
const MOST_OPERATIONS: usize = 24;

pub(crate) static TARGETS: &[Target] = &[Target {
    name: "expression",
    run: |bytes| FOLDER.with(|folder| run(bytes, folder.path())),
    tokens: &[b"\0\x04\x01", b"\x01\x0a\x02", b"\x02\x09\x05", b"\x03", b"\x0d\0\0", b"\x10\0", b"\x12\x07", b"\x13"],
    most_bytes: 128,
    most_memory_bytes: MOST_MEMORY_BYTES,
}];

thread_local! {
    /// Files that expressions read, which stay, and what they store.
    static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a scratch directory");
}

/// An array and what it should be.
#[derive(Clone)]
struct Both {
    array: Array,
    plain: Reference,
}

struct Machine<'a> {
    bytes: &'a [u8],
    folder: &'a Path,
    runtime: Runtime,
    stack: Vec<Both>,
    /// Values rounded in an order of their own, which are compared but not used.
    rounded: Vec<Both>,
}

fn runtime(threads: usize, memory_mib: u64, faults: Faults) -> Runtime {
    let options = RuntimeOptions {
        memory_bytes: Some(memory_mib << 20),
        beside_process: true,
        threads: Some(threads),
        backend: Some(Arc::new(Sim::new(faults))),
        ..RuntimeOptions::default()
    };
    Runtime::new(options).expect("a runtime")
}

fn run(bytes: &[u8], folder: &Path) {
    let Some((&[how, device, stores], program)) = bytes.split_first_chunk::<3>() else { return };
    let (threads, memory_mib) = (1 + usize::from(how % 4), [20, 32, 64][usize::from(how / 4) % 3]);
    let (percent, seed) = (u64::from(device % 4) * 20, u64::from(device));
    let faults = Faults { short_reads_percent: percent, short_writes_percent: percent, seed, ..Faults::default() };
    let runtime = runtime(threads, memory_mib, faults);
    let (stack, rounded) = (Vec::new(), Vec::new());
    let mut machine = Machine { bytes: program, folder, runtime, stack, rounded };
    for _ in 0..MOST_OPERATIONS {
        if machine.bytes.is_empty() {
            break;
        }
        machine.operate();
    }
    machine.finish(stores % 2 == 1);
}

impl Machine<'_> {
    /// The next byte of the program; 0 behind its end.
    fn byte(&mut self) -> usize {
        let Some((&byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(byte)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.byte() % all.len()]
    }

    /// Takes what is on top of the stack, which stays where it is.
    fn top(&self) -> Option<Both> {
        self.stack.last().cloned()
    }

    fn operate(&mut self) {
        let operation = self.byte() % 24;
        let _ = match operation {
            0..=5 => self.source(),
            6..=8 => self.function(),
            9..=12 => self.function_of_two(),
            13 => self.slice(),
            14 => self.turn(),
            15 => self.reshape(),
            16..=17 => self.fold(),
            18 => self.matmul(),
            19 => self.select(),
            20 => self.gather(),
            21 => self.join(),
            22 => self.cast(),
            _ => {
                let from = self.byte();
                let copy = self.stack.get(from % self.stack.len().max(1)).cloned();
                copy.map(|copy| self.stack.push(copy))
            }
        };
    }

    /// Puts a result on the stack: there must be one if NumPy has it.
    fn push(&mut self, name: &str, array: Result<Array>, plain: Option<Reference>) {
        match (array, plain) {
            (Ok(array), Some(plain)) => {
                note(name);
                assert_eq!(array.element(), plain.element, "{name}");
                assert_eq!(array.shape(), shape_of(&plain.shape), "{name}");
                match plain.tolerance > 0.0 {
                    true => self.rounded.push(Both { array, plain }),
                    false => self.stack.push(Both { array, plain }),
                }
            }
            (Err(error), Some(plain)) => panic!("{name}: {:?} of {:?} is refused: {error}", plain.shape, plain.element),
            (Err(error), None) => note(&error.to_string()),
            // The result depends on the order of operations, or the interpreter lacks the operation.
            (Ok(_), None) => note("not compared"),
        }
    }

    fn source(&mut self) -> Option<()> {
        let (kind, element, seed) = (self.byte() % 8, self.one_of(&ElementType::ALL), self.byte());
        let (rows, columns) = (self.one_of(&ROWS), self.byte());
        let shape = if columns % 5 == 4 { vec![rows] } else { vec![rows, COLUMNS[columns % 5]] };
        if kind < 2 {
            let plain = Reference::new(element, shape.clone(), |_| number(element, seed, 0));
            let value = scalar(element, number(element, seed, 0));
            self.push("full", Array::full(shape_of(&shape), value), Some(plain));
            return Some(());
        }
        if kind == 2 {
            let (start, step) = (seed as i64 - 100, (seed % 7) as i64 - 3);
            let plain = Reference::new(ElementType::Int64, vec![rows], |i| {
                Number::Whole(i128::from(start) + i128::from(step) * i as i128)
            });
            let array = Array::range(Scalar::Int64(start), Scalar::Int64(step), rows as u64);
            self.push("range", array, Some(plain));
            return Some(());
        }
        let plain = Reference::new(element, shape, |i| number(element, seed, i));
        let array = match kind {
            3 | 4 => Ok(Array::from_memory(memory(&plain))),
            5 => self.image(&plain, seed),
            _ => self.npy(&plain, seed, kind == 7),
        };
        self.push(["memory", "image", "npy"][(kind - 3).div_ceil(2).min(2)], array, Some(plain));
        Some(())
    }

    /// The path of a file that holds an array.
    fn path(&self, plain: &Reference, seed: usize, ending: &str) -> PathBuf {
        self.folder.join(format!("{:?}{:?}{seed}{ending}", plain.element, plain.shape))
    }

    fn image(&self, plain: &Reference, seed: usize) -> Result<Array> {
        let path = self.path(plain, seed, ".oc");
        if !path.exists() {
            let (array, path) = (Array::from_memory(memory(plain)), path.clone());
            let goal = ImageGoal { array, path, replace: false, names: None, made_by: "a fuzzer" };
            compute(&self.runtime, &[Goal::Image(goal)])?;
        }
        Array::from_source(Arc::new(ImageSource::open(&self.runtime, path)?))
    }

    fn npy(&self, plain: &Reference, seed: usize, by_columns: bool) -> Result<Array> {
        let path = self.path(plain, seed, if by_columns { ".columns.npy" } else { ".npy" });
        if !path.exists() {
            let is_big_endian = seed % 2 == 1;
            let reversed: Vec<usize> = plain.shape.iter().rev().copied().collect();
            let turned = plain.view(reversed, |index| index.iter().rev().copied().collect());
            let stored = if by_columns { &turned } else { plain };
            let size = plain.element.bytes();
            let mut bytes = bytes_of(stored);
            if is_big_endian {
                bytes.chunks_mut(size).for_each(<[u8]>::reverse);
            }
            let kind = match plain.element {
                ElementType::Bool => "b1".to_owned(),
                kind => format!("{}{size}", &kind.name()[..1]),
            };
            let shape: String = plain.shape.iter().map(|size| format!("{size}, ")).collect();
            let (order, by_columns) =
                (if is_big_endian { '>' } else { '<' }, if by_columns { "True" } else { "False" });
            let head = format!("{{'descr': '{order}{kind}', 'fortran_order': {by_columns}, 'shape': ({shape}), }}\n");
            let len = (head.len() as u16).to_le_bytes();
            let file = [b"\x93NUMPY\x01\0".as_slice(), &len, head.as_bytes(), &bytes].concat();
            std::fs::write(&path, file).expect("a file in the scratch directory");
        }
        Array::from_source(Arc::new(NpySource::open(&self.runtime, path)?))
    }

    fn function(&mut self) -> Option<()> {
        let (function, Both { array, plain }) = (self.one_of(Unary::ALL), self.top()?);
        self.push(function.name(), array.unary(function), plain.unary(function));
        Some(())
    }

    fn function_of_two(&mut self) -> Option<()> {
        let (function, other) = (self.one_of(Binary::ALL), self.byte());
        let (left, right) = (self.top()?, self.stack[other % self.stack.len()].clone());
        if broadcast(&left.plain.shape, &right.plain.shape).is_some_and(|shape| is_too_large(&shape)) {
            return None;
        }
        let plain = left.plain.binary(function, &right.plain);
        self.push(function.name(), left.array.binary(function, &right.array), plain);
        matches!(function, Binary::Maximum | Binary::Minimum).then(|| self.forget_signs())
    }

    /// Adds 0: which of 0 and -0 is the greater one, or what the sign of a sum of them is, is left open.
    fn forget_signs(&mut self) {
        let Some(Both { array, plain }) = self.stack.pop() else { return };
        if !plain.element.is_real() {
            return self.stack.push(Both { array, plain });
        }
        let (zero, element) = (Number::Real(0.0), plain.element);
        let array = array.binary(Binary::Add, &Array::scalar(scalar(element, zero)));
        let plain = plain.binary(Binary::Add, &Reference::new(element, Vec::new(), |_| zero));
        self.push("add 0", array, plain);
    }

    fn cast(&mut self) -> Option<()> {
        let (element, Both { array, plain }) = (self.one_of(&ElementType::ALL), self.top()?);
        self.push("astype", array.cast(element), Some(plain.cast(element)));
        Some(())
    }

    fn select(&mut self) -> Option<()> {
        let (left, right, condition) = (self.byte(), self.byte(), self.top()?);
        let [left, right] = [left, right].map(|place| self.stack[place % self.stack.len()].clone());
        if condition.plain.element != ElementType::Bool {
            return None;
        }
        let shape = broadcast(&left.plain.shape, &right.plain.shape);
        if shape.and_then(|shape| broadcast(&shape, &condition.plain.shape)).is_some_and(|shape| is_too_large(&shape)) {
            return None;
        }
        let plain = condition.plain.select(&left.plain, &right.plain);
        self.push("where", condition.array.select(&left.array, &right.array), plain);
        Some(())
    }

    /// A part of every axis, forwards or backwards, or one index of it.
    fn slice(&mut self) -> Option<()> {
        let Both { array, plain } = self.top()?;
        let (mut parts, mut axes, mut shape) = (Vec::new(), Vec::new(), Vec::new());
        for &size in &plain.shape {
            let (how, start, step) = (self.byte(), self.byte() * 31, 1 + self.byte() % 3);
            let start = if size == 0 { 0 } else { start % size };
            match how % 4 {
                0 if size > 0 => {
                    parts.push(Some(AxisPart::Index(start as i64)));
                    axes.push((start, 0, None));
                }
                1 if size > 0 => {
                    let (count, step) = (1 + start / step, -(step as i64));
                    parts.push(Some(AxisPart::Range { start: start as i64, step, count: count as u64 }));
                    axes.push((start, step, Some(shape.len())));
                    shape.push(count);
                }
                2 => {
                    let count = (size - start).div_ceil(step);
                    parts.push(Some(AxisPart::Range { start: start as i64, step: step as i64, count: count as u64 }));
                    axes.push((start, step as i64, Some(shape.len())));
                    shape.push(count);
                }
                _ => {
                    parts.push(Some(AxisPart::Range { start: 0, step: 1, count: size as u64 }));
                    axes.push((0, 1, Some(shape.len())));
                    shape.push(size);
                }
            }
        }
        let plain = plain.view(shape, |index| {
            let place = |&(start, step, axis): &(usize, i64, Option<usize>)| {
                start.wrapping_add_signed(step as isize * axis.map_or(0, |axis| index[axis] as isize))
            };
            axes.iter().map(place).collect()
        });
        self.push("slice", array.slice(&parts), Some(plain));
        Some(())
    }

    /// The axes the other way round, or one more or fewer of size 1, or broadcast to more rows.
    fn turn(&mut self) -> Option<()> {
        let (how, Both { array, plain }) = (self.byte(), self.top()?);
        let mut shape = plain.shape.clone();
        match how % 3 {
            0 => {
                let order: Vec<usize> = (0..shape.len()).rev().collect();
                shape.reverse();
                let turned = plain.view(shape, |index| index.iter().rev().copied().collect());
                self.push("permute", array.permute(&order), Some(turned));
            }
            1 if shape.len() < 4 => {
                let axis = how / 3 % (shape.len() + 1);
                shape.insert(axis, 1);
                self.push("new axis", array.with_axis(axis), Some(plain.reshape(shape)));
            }
            _ => {
                shape.insert(0, 1 + how % 5);
                if shape.len() > 4 || is_too_large(&shape) {
                    return None;
                }
                self.push("broadcast", array.broadcast_to(&shape_of(&shape)), plain.broadcast_to(&shape));
            }
        }
        Some(())
    }

    fn reshape(&mut self) -> Option<()> {
        let (how, Both { array, plain }) = (self.byte(), self.top()?);
        let count = plain.numbers.len();
        let shape = match how % 3 {
            0 => vec![count],
            _ if count == 0 => vec![0, 3],
            divisor => {
                let inner = (1..=count.min(2 + divisor * 3)).rev().find(|inner| count.is_multiple_of(*inner))?;
                if divisor == 1 { vec![count / inner, inner] } else { vec![inner, count / inner] }
            }
        };
        self.push("reshape", array.reshape(&shape_of(&shape)), Some(plain.reshape(shape)));
        Some(())
    }

    /// Along one axis, or of all elements.
    fn fold(&mut self) -> Option<()> {
        let (what, axis, Both { array, plain }) = (self.byte(), self.byte(), self.top()?);
        if plain.shape.is_empty() {
            return None;
        }
        let axis = axis % (plain.shape.len() + 1);
        let is_all = axis == plain.shape.len();
        let axes: Vec<usize> = if is_all { (0..axis).collect() } else { vec![axis] };
        let flat = if is_all { plain.reshape(vec![plain.numbers.len()]) } else { plain };
        let axis = if is_all { 0 } else { axis };
        match what % 8 {
            is_max @ (6 | 7) if flat.shape[axis] > 0 => {
                let along = (!is_all).then_some(axis);
                self.push("arg", array.arg(is_max == 7, along, false), flat.arg(is_max == 7, axis));
            }
            what => {
                let fold = Fold::ALL[what % Fold::ALL.len()];
                let depth = self.stack.len();
                self.push(fold.name(), array.fold(fold, &axes, false), flat.fold(fold, axis));
                if self.stack.len() > depth {
                    self.forget_signs();
                }
            }
        }
        Some(())
    }

    /// The product of the transpose of one matrix and another one, or of two that fit.
    fn matmul(&mut self) -> Option<()> {
        let (other, left) = (self.byte(), self.top()?);
        let right = self.stack[other % self.stack.len()].clone();
        let (&[rows, inner], &[others, columns]) = (&left.plain.shape[..], &right.plain.shape[..]) else { return None };
        let left = match inner == others {
            true => left,
            false => Both {
                array: noted(left.array.permute(&[1, 0]))?,
                plain: left.plain.view(vec![inner, rows], |index| vec![index[1], index[0]]),
            },
        };
        let terms = left.plain.shape.iter().product::<usize>() * columns;
        if terms > MOST_TERMS || is_too_large(&[left.plain.shape[0], columns]) {
            return None;
        }
        let (depth, plain) = (self.stack.len(), left.plain.matmul(&right.plain));
        self.push("matmul", left.array.matmul(&right.array), plain);
        (self.stack.len() > depth).then(|| self.forget_signs())
    }

    /// Rows by indices, which are brought within the table.
    fn gather(&mut self) -> Option<()> {
        let (table, index) = (self.byte(), self.top()?);
        let table = self.stack[table % self.stack.len()].clone();
        let &rows = table.plain.shape.first()?;
        let count = index.plain.numbers.len() * table.plain.numbers.len().div_ceil(rows.max(1));
        if rows == 0 || count > MOST || index.plain.shape.len() + table.plain.shape.len() > 5 {
            return None;
        }
        let index =
            Both { array: noted(index.array.cast(ElementType::Int64))?, plain: index.plain.cast(ElementType::Int64) };
        let most = Reference::new(ElementType::Int64, Vec::new(), |_| Number::Whole(rows as i128));
        let plain = index.plain.binary(Binary::Remainder, &most)?;
        let array = noted(index.array.binary(Binary::Remainder, &Array::scalar(Scalar::Int64(rows as i64))))?;
        self.push("take", table.array.gather(&array), table.plain.gather(&plain));
        Some(())
    }

    fn join(&mut self) -> Option<()> {
        let (other, first) = (self.byte(), self.top()?);
        let second = self.stack[other % self.stack.len()].clone();
        if first.plain.numbers.len() + second.plain.numbers.len() > MOST {
            return None;
        }
        let plain = first.plain.join(&second.plain);
        self.push("concat", Array::join(&[first.array, second.array], 0), plain);
        Some(())
    }

    /// Computes what is there, and compares it.
    fn finish(mut self, stores: bool) {
        let mut all = std::mem::take(&mut self.stack);
        all.reverse();
        all.truncate(6);
        all.append(&mut self.rounded);
        let mut goals: Vec<Goal> = all.iter().map(|both| Goal::Value(both.array.clone())).collect();
        let (path, stored) = (self.folder.join("stored.oc"), all.first().cloned());
        let stored = stored.filter(|both| stores && [1, 2].contains(&both.plain.shape.len()));
        if let Some(both) = &stored {
            let (array, path) = (both.array.clone(), path.clone());
            goals.push(Goal::Image(ImageGoal { array, path, replace: true, names: None, made_by: "a fuzzer" }));
        }
        let Some(found) = computed(&self.runtime, &goals) else { return };
        for (found, both) in found.iter().zip(&all) {
            compare(found, &both.plain);
        }
        let again = compute(&runtime(1, 256, Faults::default()), &goals[..all.len()]).expect("the same").values;
        assert!(again.iter().zip(&found).all(|(again, found)| again.to_vec() == found.to_vec()), "other bits");
        if let Some(both) = stored {
            let source = Arc::new(ImageSource::open(&self.runtime, path).expect("what was stored"));
            source.image().check().expect("what was stored is whole");
            let back = [Goal::Value(Array::from_source(source).expect("what was stored"))];
            // Every column has a page of its own: of many columns they may be too many for the limit.
            let Some(back) = computed(&self.runtime, &back) else { return };
            assert_eq!(back[0].element(), both.plain.element);
            assert!(back[0].shape() == found[0].shape() && back[0].to_vec() == found[0].to_vec(), "other elements");
        }
    }
}

/// Values of goals: the limit is low, and nothing but that may be in the way.
fn computed(runtime: &Runtime, goals: &[Goal]) -> Option<Vec<InMemory>> {
    match compute(runtime, goals) {
        Ok(found) => Some(found.values),
        Err(error @ Error::Memory { .. }) => noted(Err(error)),
        Err(error) => panic!("{error}"),
    }
}

fn is_too_large(shape: &[usize]) -> bool {
    shape.iter().product::<usize>() > MOST
}

fn shape_of(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&size| size as u64).collect()
}

/// Element `i` of an array: small numbers whose sums are exact, by seed also extremes, NaN, infinities and -0.
fn number(element: ElementType, seed: usize, i: usize) -> Number {
    let chance = i.wrapping_mul(7) + seed * 13;
    let extreme = |every: usize, bit: usize| seed & bit != 0 && chance.is_multiple_of(every);
    let small = (chance % 23) as i128;
    let value = match element {
        ElementType::Float32 | ElementType::Float64 => Number::Real(match chance {
            _ if extreme(29, 8) => f64::NAN,
            _ if extreme(31, 8) => f64::INFINITY,
            _ if extreme(37, 16) => f64::NEG_INFINITY,
            _ if extreme(27, 4) => -0.0,
            _ if extreme(5, 32) => 1.0 / 3.0 + small as f64,
            _ => (chance % 41) as f64 / 4.0 - 5.0,
        }),
        ElementType::Bool => Number::Whole(small % 2),
        kind if extreme(17, 4) && kind.is_signed() => Number::Whole(1 << (8 * kind.bytes() - 1)),
        kind if extreme(19, 8) => Number::Whole((1 << (8 * kind.bytes() - 1)) - 1),
        kind if kind.is_signed() => Number::Whole(small - 11),
        _ => Number::Whole(small),
    };
    cast(value, element)
}

fn scalar(element: ElementType, number: Number) -> Scalar {
    match number {
        Number::Real(value) => Scalar::Float64(value).cast(element),
        Number::Whole(value) if value < 0 => Scalar::Int64(value as i64).cast(element),
        Number::Whole(value) => Scalar::UInt64(value as u64).cast(element),
    }
}

fn bytes_of(plain: &Reference) -> Vec<u8> {
    let bytes = |number: &Number| match *number {
        Number::Real(value) if plain.element == ElementType::Float32 => (value as f32).to_le_bytes().to_vec(),
        Number::Real(value) => value.to_le_bytes().to_vec(),
        Number::Whole(value) => value.to_le_bytes()[..plain.element.bytes()].to_vec(),
    };
    plain.numbers.iter().flat_map(bytes).collect()
}

fn memory(plain: &Reference) -> InMemory {
    let word = |some: &[u8]| {
        let mut word = [0; 8];
        word[..some.len()].copy_from_slice(some);
        u64::from_le_bytes(word)
    };
    let words: Arc<dyn Bytes> = Arc::new(bytes_of(plain).chunks(8).map(word).collect::<Vec<u64>>());
    InMemory::new(words, plain.element, shape_of(&plain.shape))
}

fn compare(found: &InMemory, plain: &Reference) {
    assert_eq!((found.element(), found.shape()), (plain.element, &shape_of(&plain.shape)[..]));
    let (element, bytes) = (plain.element, found.to_vec());
    assert_eq!(bytes.len(), plain.numbers.len() * element.bytes());
    for (i, (bytes, &expected)) in bytes.chunks(element.bytes()).zip(&plain.numbers).enumerate() {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let is_same = match expected {
            Number::Whole(value) => wide[..bytes.len()] == value.to_le_bytes()[..bytes.len()],
            Number::Real(value) => {
                let found = match element {
                    ElementType::Float32 => f64::from(f32::from_bits(u64::from_le_bytes(wide) as u32)),
                    _ => f64::from_le_bytes(wide),
                };
                found == value || found.is_nan() && value.is_nan() || (found - value).abs() <= plain.tolerance
            }
        };
        let (shape, name) = (&plain.shape, element.name());
        assert!(is_same, "element {i} of {shape:?} of {name}: expected {expected:?}, found the bytes {bytes:02x?}");
    }
}
