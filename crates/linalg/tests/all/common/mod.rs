//! Matrices by their entries, and their images.
#![allow(dead_code)]

use outcore_graph::Graph;
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, import, open};
use outcore_image::ImageOptions;
use outcore_io::{Runtime, RuntimeOptions};
use outcore_linalg::EigshOptions;
use outcore_matrix::SparseMatrix;
pub use outcore_testkit::{bits, random_below as random};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A matrix as its entries; of a symmetric one those on and below the diagonal.
pub struct Entries {
    pub rows: u64,
    pub columns: u64,
    pub entries: BTreeMap<(u64, u64), f64>,
    is_half: bool,
}

impl Entries {
    pub fn new(rows: u64, columns: u64) -> Self {
        Entries { rows, columns, entries: BTreeMap::new(), is_half: false }
    }

    pub fn add(&mut self, row: u64, column: u64, value: f64) {
        self.entries.insert((row, column), value);
    }

    /// Entries that are on both sides of the diagonal.
    pub fn add_both(&mut self, entries: &[(u64, u64, f64)]) {
        self.is_half = true;
        entries.iter().for_each(|&(row, column, value)| self.add(row.max(column), row.min(column), value));
    }

    /// The edges of a grid.
    pub fn grid(height: u64, width: u64) -> Self {
        let mut grid = Entries::new(height * width, height * width);
        for place in 0..height * width {
            let beside = (place % width + 1 < width).then_some((place, place + 1, 1.0));
            let below = (place / width + 1 < height).then_some((place, place + width, 1.0));
            grid.add_both(&beside.into_iter().chain(below).collect::<Vec<_>>());
        }
        grid
    }

    pub fn diagonal(values: &[f64]) -> Self {
        let mut diagonal = Entries::new(values.len() as u64, values.len() as u64);
        (0..).zip(values).for_each(|(row, &value)| diagonal.add(row, row, value));
        diagonal
    }

    /// A hub and its leaves, adjacent ones of which have an edge of this weight.
    pub fn wheel(leaves: u64, rim: f64) -> Self {
        let mut wheel = Entries::new(leaves + 1, leaves + 1);
        (1..=leaves).for_each(|leaf| wheel.add_both(&[(0, leaf, 1.0), (leaf, leaf % leaves + 1, rim)]));
        wheel
    }

    pub fn hypercube(dimension: u64) -> Self {
        let mut cube = Entries::new(1 << dimension, 1 << dimension);
        for corner in 0..1 << dimension {
            cube.add_both(&(0..dimension).map(|bit| (corner, corner ^ (1 << bit), 1.0)).collect::<Vec<_>>());
        }
        cube
    }

    pub fn random(rows: u64, columns: u64, count: u64, is_symmetric: bool) -> Self {
        let (mut state, mut given) = (rows + count, Entries::new(rows, columns));
        for _ in 0..count {
            let (row, column) = (random(&mut state, rows), random(&mut state, columns));
            let value = random(&mut state, 2001) as f64 / 1000.0 - 1.0;
            match is_symmetric {
                true => given.add_both(&[(row, column, value)]),
                false => given.add(row, column, value),
            }
        }
        given
    }

    /// All entries, on both sides.
    pub fn expanded(&self) -> Self {
        let mut all = Entries::new(self.rows, self.columns);
        for (&(row, column), &value) in &self.entries {
            all.add(row, column, value);
            if self.is_half {
                all.add(column, row, value);
            }
        }
        all
    }

    /// The other way round.
    pub fn transposed(&self) -> Self {
        let entries = self.entries.iter().map(|(&(row, column), &value)| ((column, row), value)).collect();
        Entries { rows: self.columns, columns: self.rows, entries, is_half: self.is_half }
    }

    /// The image of the matrix, which is said to be symmetric or not.
    pub fn image(&self, folder: &Path, is_symmetric: bool) -> PathBuf {
        let symmetry = if is_symmetric { "symmetric" } else { "general" };
        let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n");
        text += &format!("{} {} {}\n", self.rows, self.columns, self.entries.len());
        for ((row, column), value) in &self.entries {
            text += &format!("{} {} {value:?}\n", row + 1, column + 1);
        }
        import_text(folder, &text)
    }

    /// The product with some columns, term by term.
    pub fn multiply(&self, factor: &[f64], columns: usize) -> Vec<f64> {
        let mut product = vec![0.0; self.rows as usize * columns];
        let mut add = |row: u64, column: u64, value: f64| {
            for k in 0..columns {
                product[row as usize * columns + k] += value * factor[column as usize * columns + k];
            }
        };
        for (&(row, column), &value) in &self.entries {
            add(row, column, value);
            if self.is_half && row != column {
                add(column, row, value);
            }
        }
        product
    }
}

/// The image of a Matrix Market file with this text.
pub fn import_text(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("given.mtx");
    std::fs::write(&file, text).unwrap();
    let runtime = runtime(2, None);
    let image = folder.join("matrix.oc");
    let input = InputOptions { is_matrix: true, ..InputOptions::default() };
    let source = open(&runtime, &[file], &input).unwrap();
    let options =
        ImportOptions { duplicates: Duplicates::Sum, replace: true, allow_empty: true, ..ImportOptions::default() };
    import(&runtime, source, &image, &options).unwrap();
    image
}

/// Calls `work` with the matrix of a Matrix Market file.
pub fn with_matrix_of(text: &str, work: impl FnOnce(&SparseMatrix)) {
    let folder = tempfile::tempdir().unwrap();
    work(&matrix(&runtime(2, None), &import_text(folder.path(), text), true));
}

pub fn options(k: usize) -> EigshOptions {
    EigshOptions { k, ..EigshOptions::default() }
}

pub fn runtime(threads: usize, memory_bytes: Option<u64>) -> Runtime {
    let options = RuntimeOptions { threads: Some(threads), memory_bytes, ..RuntimeOptions::default() };
    // A limit is for the runtime alone, whatever other tests of this process hold.
    Runtime::new(RuntimeOptions { beside_process: memory_bytes.is_some(), ..options }).unwrap()
}

pub fn matrix(runtime: &Runtime, image: &Path, values: bool) -> SparseMatrix {
    SparseMatrix::new(&Graph::open(runtime, image, ImageOptions::default()).unwrap(), values).unwrap()
}
