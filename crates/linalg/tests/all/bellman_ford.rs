//! Lengths of shortest paths by products, beside an obvious program.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_image::Error;
use outcore_linalg::{BellmanFordOptions, bellman_ford};
use outcore_matrix::SparseMatrix;

const DIRECTED: BellmanFordOptions = BellmanFordOptions { directed: true, unweighted: false };

/// Edges without negative cycles, many of them negative: whole numbers, so that sums are exact.
fn potentials(rows: u64, count: u64) -> Entries {
    let (mut given, mut state) = (Entries::new(rows, rows), 9);
    let height: Vec<_> = (0..rows).map(|_| random(&mut state, 1000) as f64).collect();
    for _ in 0..count {
        let (row, column) = (random(&mut state, rows), random(&mut state, rows));
        let length = random(&mut state, 30) as f64;
        given.add(row, column, length + height[row as usize] - height[column as usize]);
    }
    given
}

/// Relaxes all edges until nothing changes.
fn expected(given: &Entries, source: u64, options: &BellmanFordOptions) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; given.rows as usize];
    distances[source as usize] = 0.0;
    loop {
        let before = distances.clone();
        for (&(row, column), &value) in &given.entries {
            let length = if options.unweighted { 1.0 } else { value };
            let mut relax = |from: u64, to: u64| {
                let over = distances[from as usize] + length;
                distances[to as usize] = distances[to as usize].min(over);
            };
            relax(row, column);
            if !options.directed {
                relax(column, row);
            }
        }
        if before == distances {
            return distances;
        }
    }
}

fn found(own: &SparseMatrix, sources: &[u64], options: &BellmanFordOptions) -> Result<Vec<f64>, Error> {
    let mut distances = vec![f64::NAN; sources.len() * own.shape().0 as usize];
    bellman_ford(own, sources, options, &mut distances)?;
    Ok(distances)
}

fn with_matrix<T>(given: &Entries, is_symmetric: bool, work: impl FnOnce(&SparseMatrix) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    work(&matrix(&runtime(2, None), &given.image(folder.path(), is_symmetric), true))
}

fn compare(given: &Entries, sources: &[u64], options: &BellmanFordOptions) {
    with_matrix(given, false, |own| {
        let distances = found(own, sources, options).unwrap();
        let known: Vec<_> = sources.iter().flat_map(|&source| expected(given, source, options)).collect();
        assert!(distances == known, "{options:?}");
    });
}

#[test]
fn distances_are_those_of_an_obvious_program() {
    let sources: Vec<_> = (0..19).map(|source| source * 20).collect();
    compare(&potentials(400, 1500), &sources, &DIRECTED);
    // Some rows that nothing leads to.
    compare(&potentials(400, 300), &[5, 5, 399], &DIRECTED);
    for unweighted in [false, true] {
        let mut given = potentials(400, 900);
        given.entries.values_mut().for_each(|value| *value = value.abs());
        compare(&given, &[0, 17, 3], &BellmanFordOptions { directed: false, unweighted });
        compare(&given, &[399], &BellmanFordOptions { directed: true, unweighted });
    }
}

#[test]
fn long_paths_and_small_matrices() {
    // Far more products than those after which circles are looked for.
    let mut path = Entries::new(300, 300);
    (0..299).for_each(|row| path.add(row, row + 1, if row % 2 == 0 { 3.0 } else { -2.0 }));
    // A circle of length 0 is no negative one.
    path.add(299, 298, -3.0);
    compare(&path, &[0, 150], &DIRECTED);
    let mut dense = Entries::new(60, 60);
    (0..60).for_each(|column| dense.add(9, column, column as f64));
    compare(&dense, &[9, 8], &DIRECTED);
    let mut zeros = Entries::new(4, 4);
    zeros.add(0, 1, 0.0);
    zeros.add(1, 0, 0.0);
    compare(&zeros, &[0, 3], &DIRECTED);
    compare(&Entries::new(1, 1), &[0], &DIRECTED);
    compare(&Entries::new(7, 7), &[6, 0], &BellmanFordOptions { directed: false, unweighted: true });
    with_matrix(&path, false, |own| assert!(found(own, &[], &DIRECTED).unwrap().is_empty()));
}

#[test]
fn circles_of_length_0_but_for_rounding_are_no_errors() {
    // A circle of length 0 where each turn loses a little by rounding, beside a path that takes long.
    let lengths = [-1.7, -8.9, 10.6];
    assert!(5.2 + lengths[0] + lengths[1] + lengths[2] < 5.2);
    let mut given = Entries::new(2000, 2000);
    (0..1996).for_each(|row| given.add(row, row + 1, 0.1));
    let circle = [(1997, 1998), (1998, 1999), (1999, 1997)];
    circle.into_iter().zip(lengths).for_each(|((row, column), value)| given.add(row, column, value));
    given.add(0, 1997, 5.2);
    with_matrix(&given, false, |own| {
        let distances = found(own, &[1997, 0], &DIRECTED).unwrap();
        let of_circle = distances[1997..2000].iter().chain(&distances[3997..]);
        for (found, known) in of_circle.zip([0.0, -1.7, -10.6, 5.2, 3.5, -5.4]) {
            assert!((found - known).abs() < 1e-10, "{found} {known}");
        }
        // Sources have the bits that they have alone.
        let alone = [found(own, &[1997], &DIRECTED).unwrap(), found(own, &[0], &DIRECTED).unwrap()].concat();
        assert!(bits(&distances) == bits(&alone));
    });
}

#[test]
fn a_symmetric_matrix_goes_both_ways() {
    let mut given = Entries::grid(9, 14);
    given.entries.iter_mut().for_each(|(&(row, column), value)| *value = ((row * column) % 7) as f64);
    with_matrix(&given, true, |own| {
        assert!(own.is_symmetric());
        for options in [DIRECTED, BellmanFordOptions { directed: false, ..DIRECTED }] {
            assert!(
                found(own, &[0, 77], &options).unwrap() == {
                    let both = given.expanded();
                    [expected(&both, 0, &options), expected(&both, 77, &options)].concat()
                }
            );
        }
    });
}

#[test]
fn negative_cycles_are_errors_where_a_source_leads_to_them() {
    // A long path, and behind its middle a circle of three.
    let rows = 5000;
    let mut given = Entries::new(rows, rows);
    (0..rows - 4).for_each(|row| given.add(row, row + 1, 1.0));
    let circle = [(rows - 3, rows - 2), (rows - 2, rows - 1), (rows - 1, rows - 3)];
    circle.into_iter().zip([4.0, -7.0, 2.0]).for_each(|((row, column), value)| given.add(row, column, value));
    given.add(20, rows - 3, 1.0);
    with_matrix(&given, false, |own| {
        for sources in [&[0][..], &[3000, 10], &[rows - 1]] {
            let error = found(own, sources, &DIRECTED).unwrap_err();
            assert!(matches!(error, Error::Unsuitable(_)), "{error}");
            // It is found long before there were as many products as rows, and where it is.
            assert!(error.to_string().contains("found one through row 499"), "{error}");
        }
        let distances = found(own, &[30], &DIRECTED).unwrap();
        assert_eq!((distances[31], distances[4996]), (1.0, 4966.0));
        assert!(found(own, &[0], &BellmanFordOptions { unweighted: true, ..DIRECTED }).is_ok());
    });
    // One negative edge that goes both ways is such a circle, and so is a loop.
    let mut edge = Entries::new(3, 3);
    edge.add(0, 1, -1.0);
    with_matrix(&edge, false, |own| {
        assert!(found(own, &[0], &DIRECTED).unwrap() == [0.0, -1.0, f64::INFINITY]);
        let error = found(own, &[1], &BellmanFordOptions { directed: false, ..DIRECTED }).unwrap_err();
        assert!(error.to_string().contains("negative cycle"), "{error}");
    });
    let mut own_loop = Entries::new(1, 1);
    own_loop.add(0, 0, -1.0);
    with_matrix(&own_loop, false, |own| assert!(found(own, &[0], &DIRECTED).is_err()));
}

#[test]
fn bits_and_passes_depend_on_neither_threads_nor_memory() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 200_000;
    let (mut given, mut state) = (Entries::new(rows, rows), 3);
    for _ in 0..2 * rows {
        let value = random(&mut state, 1000) as f64 / 7.0;
        given.add(random(&mut state, rows), random(&mut state, rows), value);
    }
    let image = given.image(folder.path(), false);
    let sources: Vec<u64> = (0..8).map(|source| source * 1000).collect();
    let mut distances = vec![0.0; 8 * rows as usize];
    let one = bellman_ford(&matrix(&runtime(1, None), &image, true), &sources, &DIRECTED, &mut distances).unwrap();
    assert_eq!(one.sources_per_pass, 8);
    let known = bits(&distances);
    for (threads, memory_bytes) in [(3, None), (2, Some(28 << 20))] {
        let own = matrix(&runtime(threads, memory_bytes), &image, true);
        let found = bellman_ford(&own, &sources, &DIRECTED, &mut distances).unwrap();
        assert!(bits(&distances) == known);
        assert_eq!(found.sources_per_pass < 8, memory_bytes.is_some(), "{}", found.sources_per_pass);
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    with_matrix(&Entries::random(20, 30, 50, false), false, |own| {
        assert!(found(own, &[0], &DIRECTED).unwrap_err().to_string().contains("expected a square matrix"));
    });
    with_matrix(&potentials(20, 50), false, |own| {
        assert!(found(own, &[3, 20], &DIRECTED).unwrap_err().to_string().contains("found 20"));
        assert!(bellman_ford(own, &[0], &DIRECTED, &mut [0.0; 19]).is_err());
    });
    // Distances below what numbers can be.
    let mut far = Entries::new(4, 4);
    (0..3).for_each(|row| far.add(row, row + 1, -1.7e308));
    with_matrix(&far, false, |own| {
        assert!(found(own, &[0], &DIRECTED).unwrap_err().to_string().contains("found lower ones"));
    });
}
