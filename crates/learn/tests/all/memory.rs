//! The memory of a fit, which is refused before its first pass or is enough for all of them.

use crate::common::*;
use outcore_array::kernel::Binary;
use outcore_array::{Array, ArraySource, AxisPart, ElementType, Goal, Purpose, SourceReader};
use outcore_image::{Error, Stats};
use outcore_io::Runtime;
use outcore_learn::*;
use std::sync::Arc;

/// A fit of an array under a runtime.
type Fit = dyn Fn(&Runtime, &Array) -> Result<Stats, Error>;

/// Raises the limit as refusals advise, from 24 MiB on. A refusal must come before anything is read, and name a limit
/// that is enough.
fn check(name: &str, numbers: &Array, fit: &Fit) {
    let folder = tempfile::tempdir().unwrap();
    let path = on_disk(folder.path(), "x.oc", numbers);
    for threads in [1, 4] {
        let mut limit = 24 << 20;
        let mut refusals = 0;
        loop {
            let runtime = runtime_under(threads, limit, None);
            let x = open(&runtime, &path);
            match fit(&runtime, &x) {
                Ok(_) => break,
                Err(ref refusal @ Error::Memory { advised_bytes, .. }) => {
                    assert_eq!(runtime.bytes_read(), 0, "{name}, {threads} threads: {refusal}");
                    assert!(advised_bytes > limit, "{name}");
                    limit = advised_bytes;
                    refusals += 1;
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
        assert!(refusals <= 1, "{name}, {threads} threads: {refusals} refusals, {limit} at last");
    }
}

#[test]
fn a_limit_that_a_refusal_names_is_enough_for_the_whole_fit() {
    let (n, p) = (6000, 40);
    let wide = array(&uniform(1, n * p), &[n, p]);
    let clusters = |clusters| KMeansOptions { clusters, max_iterations: 3, ..KMeansOptions::default() };
    check("k-means", &wide, &move |runtime, x| kmeans(runtime, x, &clusters(700)).map(|found| found.stats));
    check("k-means from rows", &wide, &|runtime, x| {
        let centres = uniform(2, 900 * 40);
        // One centre has no rows.
        let centres: Vec<f64> = centres.iter().enumerate().map(|(i, v)| if i < 40 { 1e3 } else { *v }).collect();
        let start = KMeansStart::Centres(&centres);
        let options = KMeansOptions { clusters: 900, start, max_iterations: 2, ..KMeansOptions::default() };
        kmeans(runtime, x, &options).map(|found| found.stats)
    });
    check("a mixture", &wide, &|runtime, x| {
        let options = GaussianMixtureOptions { components: 60, max_iterations: 2, ..Default::default() };
        gaussian_mixture(runtime, x, &options).map(|found| found.stats)
    });
    let wider = array(&uniform(3, 1200 * 300), &[1200, 300]);
    for solver in [PcaSolver::Covariance, PcaSolver::Tsqr] {
        let options = PcaOptions { components: None, solver };
        check("pca", &wider, &move |runtime, x| pca(runtime, x, &options).map(|found| found.stats));
        let options = TruncatedSvdOptions { components: 3, solver };
        check("svd", &wider, &move |runtime, x| truncated_svd(runtime, x, &options).map(|found| found.stats));
    }
    check("regression", &wider, &|runtime, x| {
        // A column twice: the factor is computed, too.
        let [rows, column] = [1200, 1].map(|count| Some(AxisPart::Range { start: 0, step: 1, count }));
        let first = x.slice(&[rows, column])?;
        let twice = Array::join(&[x.clone(), first], 1)?;
        let y = vector(&uniform(4, 1200));
        linear_regression(runtime, &twice, &y, &LinearRegressionOptions::default()).map(|found| found.stats)
    });
    check("logistic", &wider, &|runtime, x| {
        let y = vector(&(0..1200).map(|row| f64::from(row % 3)).collect::<Vec<_>>());
        let options = LogisticRegressionOptions { max_iterations: 2, ..LogisticRegressionOptions::default() };
        logistic_regression(runtime, x, &y, 3, &options).map(|found| found.stats)
    });
}

/// Rows of a file that needs more memory than there is, with a name like advice.
struct Large;

impl ArraySource for Large {
    fn shape(&self) -> &[u64] {
        &[1000, 2]
    }

    fn element(&self) -> ElementType {
        ElementType::Float64
    }

    fn describe(&self) -> String {
        "large".to_owned()
    }

    fn unit_rows(&self) -> u64 {
        508
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        16 * rows
    }

    fn purpose(&self) -> Option<Purpose> {
        let of = "of a (less, if asked).parquet, a column of which is decoded".to_owned();
        Some(Purpose { of, less_if: "it is written with smaller pages".to_owned() })
    }

    fn reader<'a>(&'a self, _: &Runtime, _: u64, _: usize) -> Result<Box<dyn SourceReader + 'a>, Error> {
        unreachable!("a fit that is refused reads nothing")
    }

    fn reader_bytes(&self, _most_rows: u64, _depth: usize) -> u64 {
        1 << 40
    }
}

#[test]
fn a_refusal_says_how_a_file_would_take_less() {
    let x = Array::from_source(Arc::new(Large)).unwrap();
    let x = x.binary(Binary::Add, &x).unwrap();
    let error = correlation(&runtime(2), &x, None).unwrap_err().to_string();
    let pass = outcore_array::compute(&runtime(2), &[Goal::Value(x)]).unwrap_err().to_string();
    assert!(error.contains("covariances (less, if it is written with smaller pages) needs"), "{error}");
    assert!(pass.contains("is decoded (less, if it is written with smaller pages) needs"), "{pass}");
}

/// More numbers than the address space has are refused like any others.
#[test]
fn models_that_no_memory_holds_are_refused() {
    let x = Array::full(vec![1 << 40, 1000], outcore_array::kernel::Scalar::Float64(1.0)).unwrap();
    let options = KMeansOptions { clusters: 1 << 38, ..KMeansOptions::default() };
    let error = kmeans(&runtime(2), &x, &options).unwrap_err().to_string();
    assert!(error.contains("k-means needs"), "{error}");
    let options = GaussianMixtureOptions { components: 1 << 30, ..Default::default() };
    let error = gaussian_mixture(&runtime(2), &x, &options).unwrap_err().to_string();
    assert!(error.contains("a mixture needs"), "{error}");
}

/// Many centres are picked by one try on all workers, and few by several: always with the same bits, and well.
#[test]
fn first_centres_do_not_depend_on_the_workers() {
    let (n, p, k) = (12_000, 3, 900);
    let places: Vec<Vec<f64>> =
        uniform(6, k * p).chunks_exact(p).map(|own| own.iter().map(|v| v * 1e3).collect()).collect();
    let centres: Vec<&[f64]> = places.iter().map(Vec::as_slice).collect();
    let x = array(&blobs(7, n, &centres, 0.01), &[n, p]);
    let options = KMeansOptions { clusters: k, max_iterations: 1, ..KMeansOptions::default() };
    assert_same_bits(|runtime| kmeans(runtime, &x, &options).unwrap().centres);
    // Nearly every blob has a centre of its own: the rest of the inertia is noise.
    let found = kmeans(&runtime(2), &x, &KMeansOptions { clusters: k, ..KMeansOptions::default() }).unwrap();
    assert!(found.counts.iter().filter(|&&count| count > 0.0).count() > k * 9 / 10);
}

/// A .npy file of a few bytes may say that it has millions of columns: their names are reserved before they are made.
#[test]
fn names_of_columns_are_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.npy");
    let dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1000000), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{dictionary:<117}\n").into_bytes());
    std::fs::write(&path, &bytes).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(128 + 8_000_000).unwrap();
    let refused = Data::open(&runtime_under(1, 64 << 20, None), &path).map(|data| data.names.len());
    assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
    let runtime = runtime_under(1, 1 << 30, None);
    let before = runtime.budget().free_bytes();
    let data = Data::open(&runtime, &path).unwrap();
    assert_eq!((data.names.len(), data.names[999_999].as_str()), (1_000_000, "x999999"));
    assert!(before - runtime.budget().free_bytes() > 400 << 20);
    drop(data);
    assert_eq!(runtime.budget().free_bytes(), before);
}
