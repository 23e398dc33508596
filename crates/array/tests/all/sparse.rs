//! Products of sparse matrices with arrays: in memory, in temporary files, row by row, with the same bits.

use outcore_array::kernel::{Binary, Fold, Scalar};
use outcore_array::{
    Array, Distribution, ElementType, Goal, ImageGoal, ImageSource, InMemory, Random, compute, explain,
};
use outcore_graph::Graph;
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, import, open};
use outcore_image::{Error, ImageOptions};
use outcore_io::Runtime;
use outcore_matrix::{Operand, Semiring, SparseMatrix};
use outcore_testkit::runtime_under;
use std::path::Path;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

fn runtime(mib: u64, threads: usize) -> Runtime {
    runtime_under(threads, mib * MIB, None)
}

/// Imports a matrix with an entry or two in most rows.
fn image(folder: &Path, rows: u64, columns: u64, order: OrderChoice) -> std::path::PathBuf {
    let entries = (0..rows + rows / 2).filter(|i| i % 7 != 0);
    let mut text = String::new();
    let count = entries.clone().count();
    for i in entries {
        text += &format!("{} {} {}\n", i % rows + 1, i * 7919 % columns + 1, (i % 23) as f64 / 8.0 - 1.0);
    }
    let file = folder.join("m.mtx");
    std::fs::write(&file, format!("%%MatrixMarket matrix coordinate real general\n{rows} {columns} {count}\n{text}"))
        .unwrap();
    let runtime = runtime(256, 2);
    let source = open(&runtime, &[file], &InputOptions { is_matrix: true, ..InputOptions::default() }).unwrap();
    let options = ImportOptions { duplicates: Duplicates::Sum, order, replace: true, ..ImportOptions::default() };
    import(&runtime, source, &folder.join("m.oc"), &options).unwrap();
    folder.join("m.oc")
}

fn matrix(runtime: &Runtime, image: &Path) -> Arc<SparseMatrix> {
    let graph = Graph::open(runtime, image, ImageOptions::default()).unwrap();
    Arc::new(SparseMatrix::new(&graph, true).unwrap())
}

fn factor(rows: u64, columns: u64) -> Array {
    Array::random(vec![rows, columns], Random { distribution: Distribution::Normal, seed: 3 }).unwrap()
}

fn values(runtime: &Runtime, arrays: &[&Array]) -> Vec<Vec<u8>> {
    let goals: Vec<Goal> = arrays.iter().map(|&array| Goal::Value(array.clone())).collect();
    compute(runtime, &goals).unwrap().values.iter().map(InMemory::to_vec).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect()
}

#[test]
fn products_have_the_bits_of_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let image = image(folder.path(), 9000, 700, order);
        for (mib, threads) in [(256, 1), (48, 3)] {
            let runtime = runtime(mib, threads);
            let matrix = matrix(&runtime, &image);
            for (operand, rows, inner) in [(Operand::Matrix, 9000, 700), (Operand::Transpose, 700, 9000)] {
                for columns in [1, 3, 16, 32, 33] {
                    let x = factor(inner, columns);
                    let given = numbers(&values(&runtime, &[&x])[0]);
                    let mut expected = vec![0.0; (rows * columns) as usize];
                    let plus_times = Semiring::PlusTimes;
                    matrix.multiply(plus_times, operand, &given, columns as usize, &mut expected).unwrap();
                    let product = Array::sparse_product(&matrix, operand, &x).unwrap();
                    assert_eq!(product.shape(), [rows, columns]);
                    let doubled = product.binary(Binary::Add, &product).unwrap();
                    let found = values(&runtime, &[&product, &doubled]);
                    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                    assert_eq!(bits(numbers(&found[0])), bits(expected.clone()), "{order:?} {operand:?} {columns}");
                    assert_eq!(bits(numbers(&found[1])), bits(expected.iter().map(|x| x + x).collect()));
                }
            }
        }
    }
}

#[test]
fn a_product_far_larger_than_the_limit_takes_one_pass_and_has_the_same_bits_for_all_limits() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path(), 200_000, 3000, OrderChoice::Input);
    let mut before = None;
    for (mib, threads) in [(32, 2), (512, 1)] {
        let runtime = runtime(mib, threads);
        let matrix = matrix(&runtime, &image);
        // The product has 49 MiB.
        let product = Array::sparse_product(&matrix, Operand::Matrix, &factor(3000, 32)).unwrap();
        let gram = product.permute(&[1, 0]).unwrap().matmul(&product).unwrap();
        let sums = product.fold(Fold::Sum, &[0], false).unwrap();
        let goals = [Goal::Value(gram.clone()), Goal::Value(sums.clone())];
        let plan = explain(&runtime, &goals).unwrap();
        // The factor, and what comes of the product.
        assert_eq!(plan.passes.len(), 2, "{plan}");
        assert!(plan.to_string().contains("the product is not stored"), "{plan}");
        let computed = compute(&runtime, &goals).unwrap();
        let pages = matrix.pages_per_pass(Operand::Matrix);
        assert_eq!(plan.passes[1].reads[0].1, 4096 * pages);
        // Some pages have rows of two stretches.
        let found = computed.stats.total.pages_wanted;
        assert!((pages..=pages + 64).contains(&found), "{found} of {pages}");
        let bits: Vec<Vec<u8>> = computed.values.iter().map(InMemory::to_vec).collect();
        assert_eq!(before.get_or_insert(bits.clone()), &bits);
    }
}

#[test]
fn factors_and_products_are_in_temporary_files_where_memory_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path(), 60_000, 60_000, OrderChoice::Degree);
    let path = folder.path().join("factor.oc");
    let (array, names) = (factor(60_000, 40), None);
    let goal = ImageGoal { array, path: path.clone(), replace: false, names, made_by: "a test" };
    compute(&runtime(512, 2), &[Goal::Image(goal)]).unwrap();
    let mut before = None;
    for (mib, threads, is_in_files) in [(36, 2, true), (512, 1, false)] {
        let runtime = runtime(mib, threads);
        let matrix = matrix(&runtime, &image);
        // Factor and product have 18 MiB each.
        let x = Array::from_source(Arc::new(ImageSource::open(&runtime, &path).unwrap())).unwrap();
        let product = Array::sparse_product(&matrix, Operand::Matrix, &x).unwrap();
        let sums = product.fold(Fold::Sum, &[0], false).unwrap();
        let plan = explain(&runtime, &[Goal::Value(sums.clone())]).unwrap();
        assert_eq!(plan.passes.len(), 3, "{plan}");
        assert_eq!(plan.to_string().contains("product in a temporary file"), is_in_files, "{plan}");
        assert_eq!(plan.to_string().contains("a temporary file with the factor"), is_in_files, "{plan}");
        let bits = values(&runtime, &[&sums]);
        assert_eq!(before.get_or_insert(bits.clone()), &bits);
    }
    // Nothing is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_limit_that_a_refusal_of_a_product_advises_is_enough_for_all_of_it() {
    type Expression = fn(&Array) -> Array;
    let expressions: [(&str, Expression); 3] = [
        ("value", Array::clone),
        ("sums", |product| product.fold(Fold::Sum, &[0], false).unwrap()),
        ("Gram matrix", |product| product.permute(&[1, 0]).unwrap().matmul(product).unwrap()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let rows = 30_000;
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let image = image(folder.path(), rows, rows, order);
        for (name, expression) in expressions {
            for (columns, times) in [(3, 2), (80, 1), (80, 2)] {
                let (mut limit, mut refusals) = (24 * MIB, Vec::new());
                while refusals.len() < 3 {
                    let runtime = runtime_under(2, limit, None);
                    let matrix = matrix(&runtime, &image);
                    let ones = Array::full(vec![rows, columns], Scalar::Float64(1.0)).unwrap();
                    let multiplied = |x: Array, _| Array::sparse_product(&matrix, Operand::Matrix, &x).unwrap();
                    let goal = Goal::Value(expression(&(0..times).fold(ones, multiplied)));
                    match compute(&runtime, &[goal]) {
                        Ok(_) => break,
                        Err(refused @ Error::Memory { .. }) => {
                            limit = refused.advised_bytes().unwrap_or(limit);
                            refusals.push(refused.to_string());
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
                assert!(refusals.len() <= 1, "{name} of {columns} columns, {order:?}: {refusals:#?}");
            }
        }
    }
}

#[test]
fn products_without_terms_are_zero_and_wrong_shapes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path(), 50, 30, OrderChoice::Input);
    let runtime = runtime(64, 2);
    let matrix = matrix(&runtime, &image);
    let nothing = Array::sparse_product(&matrix, Operand::Matrix, &factor(30, 0)).unwrap();
    assert_eq!((nothing.shape(), values(&runtime, &[&nothing])[0].len()), (&[50, 0][..], 0));
    let ones = Array::full(vec![30], Scalar::Int64(1)).unwrap();
    let sums = Array::sparse_product(&matrix, Operand::Matrix, &ones).unwrap();
    assert_eq!((sums.shape(), sums.element()), (&[50][..], ElementType::Float64));
    for shape in [vec![29], vec![50, 2], vec![30, 2, 2], vec![]] {
        let given = Array::full(shape, Scalar::Float64(1.0)).unwrap();
        let error = Array::sparse_product(&matrix, Operand::Matrix, &given).unwrap_err();
        assert!(error.to_string().contains("a vector or a matrix of 30 rows"), "{error}");
    }
}
