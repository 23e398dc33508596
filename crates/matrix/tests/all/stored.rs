//! Products in the order of the image: those in temporary files have the bits of those in memory.

use crate::common::{bits, import_file, matrix, random, runtime};
use outcore_graph::import::OrderChoice;
use outcore_image::StatsBuilder;
use outcore_matrix::{Operand, Semiring, SparseMatrix, StoredFile, StoredProduct, StoredTarget};
use std::path::{Path, PathBuf};

/// A matrix with values, whose image is not in the order of ids; row 3 has many entries.
fn image(folder: &Path, rows: u64, columns: u64, count: u64) -> PathBuf {
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{rows} {columns} {count}\n");
    let mut state = rows + columns;
    for place in 0..count {
        let row = if place % 5 == 0 { 3 } else { random(&mut state, rows) };
        let (column, value) = (random(&mut state, columns), random(&mut state, 999) as f64 / 7.0 - 50.0);
        text += &format!("{} {} {value:?}\n", row + 1, column + 1);
    }
    let (file, image) = (folder.join("m.mtx"), folder.join("m.oc"));
    std::fs::write(&file, text).unwrap();
    import_file(&runtime(2, None), &file, &image, OrderChoice::Degree).unwrap();
    image
}

fn in_memory(own: &SparseMatrix, how: StoredProduct, factor: &[f64], columns: usize, rows: usize) -> Vec<f64> {
    let mut product = vec![f64::NAN; rows * columns];
    let target = StoredTarget::Memory(&mut product);
    own.multiply_stored(how, factor, columns, target, &mut StatsBuilder::start()).unwrap();
    product
}

#[test]
fn products_in_files_have_the_bits_of_those_in_memory() {
    for (rows, columns, count) in [(40_000, 40_000, 200_000), (90, 700, 9000), (1, 1, 1), (12, 9, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let image = image(folder.path(), rows.max(4), columns, count);
        let rows = rows.max(4) as usize;
        for threads in [1, 3] {
            let own = matrix(&runtime(threads, None), &image, true);
            for (operand, to, from) in
                [(Operand::Matrix, rows, columns as usize), (Operand::Transpose, columns as usize, rows)]
            {
                for (semiring, width, by_values) in [
                    (Semiring::PlusTimes, 1, true),
                    (Semiring::PlusTimes, 3, false),
                    (Semiring::MinPlus, 8, true),
                    (Semiring::MinPlus, 1, false),
                ] {
                    let factor: Vec<f64> = (0..from * width).map(|i| 1.0 / (i as f64 + 0.3)).collect();
                    let how = StoredProduct { semiring, operand, by_values };
                    let known = in_memory(&own, how, &factor, width, to);
                    let file = StoredFile::create(&own, to, width).unwrap();
                    let mut found = vec![0.0; to * width];
                    // Existing content is replaced.
                    for times in 1..=2 {
                        let target = StoredTarget::File(&file);
                        own.multiply_stored(how, &factor, width, target, &mut StatsBuilder::start()).unwrap();
                        assert_eq!(file.written_bytes(), times * 8 * (to * width) as u64);
                    }
                    file.read(0..to, &mut found).unwrap();
                    assert!(bits(&found) == bits(&known), "{rows} x {columns}, {semiring:?}, {width}");
                    let middle = to / 3..to / 2;
                    file.read(middle.clone(), &mut found[..middle.len() * width]).unwrap();
                    let part = &known[middle.start * width..middle.end * width];
                    assert!(bits(&found[..part.len()]) == bits(part));
                }
            }
        }
    }
}

#[test]
fn values_are_left_out_as_if_there_were_none() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path(), 500, 500, 3000);
    let (with, without) = (matrix(&runtime(2, None), &image, true), matrix(&runtime(2, None), &image, false));
    let factor: Vec<f64> = (0..500).map(|i| 1.0 / (i as f64 + 0.3)).collect();
    for semiring in [Semiring::PlusTimes, Semiring::MinPlus, Semiring::PlusFirst] {
        let how = |by_values| StoredProduct { semiring, operand: Operand::Transpose, by_values };
        let known = in_memory(&without, how(true), &factor, 1, 500);
        assert!(bits(&in_memory(&with, how(false), &factor, 1, 500)) == bits(&known));
        assert!(bits(&in_memory(&with, how(true), &factor, 1, 500)) != bits(&known));
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = matrix(&runtime(2, None), &image(folder.path(), 20, 30, 50), true);
    let how = StoredProduct { semiring: Semiring::PlusTimes, operand: Operand::Matrix, by_values: true };
    let multiply = |factor: &[f64], target: StoredTarget<'_>| {
        own.multiply_stored(how, factor, 1, target, &mut StatsBuilder::start()).unwrap_err().to_string()
    };
    assert!(multiply(&[1.0; 29], StoredTarget::Memory(&mut [0.0; 20])).contains("expected numbers for a matrix"));
    let file = StoredFile::create(&own, 30, 1).unwrap();
    assert!(multiply(&[1.0; 30], StoredTarget::File(&file)).contains("30 numbers for 30"));
    let file = StoredFile::create(&own, 10, 2).unwrap();
    assert!(multiply(&[1.0; 30], StoredTarget::File(&file)).contains("found one for 2"));
}
