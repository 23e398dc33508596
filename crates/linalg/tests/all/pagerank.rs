//! PageRank by products, beside an obvious program and the graph algorithm.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_algo::{Dangling, PageRankOptions, Stop, StoppedBy};
use outcore_graph::Direction;
use outcore_image::Error;
use outcore_linalg::{RankOptions, Ranks, pagerank};
use outcore_matrix::{Operand, SparseMatrix};
use std::path::PathBuf;

/// Far below what is compared.
const STRICT: RankOptions<'_> = RankOptions {
    alpha: 0.85,
    tol: 1e-13,
    stop: Stop::Residual,
    max_iterations: 400,
    dangling: Dangling::Networkx,
    weights: true,
    personalization: None,
    vectors: None,
};

struct Case {
    given: Entries,
    image: PathBuf,
    _folder: tempfile::TempDir,
}

fn case(given: Entries) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    Case { given, image, _folder: folder }
}

/// Entries that are not negative, many of them in row 0, and some rows without any.
fn skewed(rows: u64, count: u64) -> Entries {
    let (mut given, mut state) = (Entries::new(rows, rows), 5);
    for place in 0..count {
        let row = if place % 4 == 0 { 0 } else { random(&mut state, rows) };
        let value = random(&mut state, 1000) as f64 / 250.0;
        if row % 7 != 3 {
            given.add(row, random(&mut state, rows), value);
        }
    }
    given
}

fn numbers(found: &Ranks) -> Vec<f64> {
    let mut numbers = vec![0.0; found.ranks.shape().0];
    found.ranks.write(&mut numbers).unwrap();
    numbers
}

/// Power iteration over the entries, term by term.
fn expected(given: &Entries, options: &RankOptions<'_>) -> Vec<f64> {
    let rows = given.rows as usize;
    let value = |value: f64| if options.weights { value } else { 1.0 };
    let mut sums = vec![0.0; rows];
    given.entries.iter().for_each(|(&(row, _), &found)| sums[row as usize] += value(found));
    let even = vec![1.0; rows];
    let jumps = options.personalization.unwrap_or(&even);
    let total: f64 = jumps.iter().sum();
    let mut ranks = vec![1.0 / rows as f64; rows];
    for _ in 0..600 {
        let dangling: f64 = (0..rows).filter(|&row| sums[row] == 0.0).map(|row| ranks[row]).sum();
        let dangling = if options.dangling == Dangling::Networkx { dangling } else { 0.0 };
        let jumped = options.alpha * dangling + 1.0 - options.alpha;
        let mut next: Vec<f64> = jumps.iter().map(|jump| jumped * jump / total).collect();
        for (&(row, column), &found) in &given.entries {
            if sums[row as usize] > 0.0 {
                next[column as usize] += options.alpha * ranks[row as usize] * value(found) / sums[row as usize];
            }
        }
        ranks = next;
    }
    ranks
}

fn differ(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum()
}

#[test]
fn ranks_are_those_of_an_obvious_program() {
    let mut one_row = Entries::new(40, 40);
    (0..40).for_each(|column| one_row.add(7, column, 1.0 + column as f64));
    let mut zeros = Entries::new(6, 6);
    [(0, 1, 0.0), (0, 2, 0.0), (1, 2, 3.0)].into_iter().for_each(|(row, column, value)| zeros.add(row, column, value));
    let mut loops = Entries::new(1, 1);
    loops.add(0, 0, 2.5);
    let mut parts = Entries::new(30, 30);
    (0..30).for_each(|row| parts.add(row, row / 10 * 10 + (row + 1) % 10, 1e-150));
    let given = [skewed(500, 3000), one_row, zeros, loops, parts, Entries::new(1, 1), Entries::new(9, 9)];
    for given in given {
        let case = case(given);
        let own = matrix(&runtime(2, None), &case.image, true);
        let jumps: Vec<f64> = (0..case.given.rows).map(|row| (row % 3) as f64 + f64::from(row == 0)).collect();
        for personalization in [None, Some(&jumps[..])] {
            for (weights, dangling) in
                [(true, Dangling::Networkx), (false, Dangling::Networkx), (true, Dangling::Gap), (false, Dangling::Gap)]
            {
                let options = RankOptions { weights, dangling, personalization, ..STRICT };
                let found = pagerank(&own, &options).unwrap();
                assert!(found.stopped_by == StoppedBy::Residual && found.residual < 1e-13, "{found:?}");
                assert!(differ(&numbers(&found), &expected(&case.given, &options)) < 1e-12);
            }
        }
    }
}

#[test]
fn ranks_are_those_of_the_graph_algorithm() {
    let case = case(skewed(3000, 20_000));
    let own = matrix(&runtime(2, None), &case.image, true);
    for (weights, dangling, stop, alpha, tol) in [
        (true, Dangling::Networkx, Stop::Residual, 0.85, 1e-8),
        (false, Dangling::Networkx, Stop::Residual, 0.5, 1e-10),
        (true, Dangling::Gap, Stop::Residual, 0.85, 1e-9),
        (false, Dangling::Networkx, Stop::Networkx, 0.85, 1e-7),
        (true, Dangling::Networkx, Stop::Residual, 0.0, 1e-8),
    ] {
        let options = PageRankOptions { alpha, tol, stop, dangling, weights, ..PageRankOptions::default() };
        let of_graph = outcore_algo::pagerank(own.graph(), &options).unwrap();
        let found = pagerank(&own, &RankOptions { alpha, tol, stop, dangling, weights, ..STRICT }).unwrap();
        assert_eq!((found.iterations, found.stopped_by), (of_graph.iterations, of_graph.stopped_by));
        assert!((found.residual - of_graph.residual).abs() < 1e-14);
        let ranks = numbers(&found);
        let error: f64 = (0..3000).map(|vertex| (of_graph.ranks[vertex] - ranks[own.row_at(vertex)]).abs()).sum();
        assert!(error < 1e-13, "{error}");
    }
    // Defaults are the same, too.
    let (ours, of_graph) = (RankOptions::default(), PageRankOptions::default());
    assert_eq!((ours.alpha, ours.tol, ours.max_iterations), (of_graph.alpha, of_graph.tol, of_graph.max_iterations));
    assert_eq!((ours.stop, ours.dangling), (of_graph.stop, of_graph.dangling));
}

#[test]
fn bits_depend_on_neither_vectors_nor_threads_nor_memory() {
    // More rows than several stripes have.
    let case = case(skewed(200_000, 300_000));
    for weights in [true, false] {
        let options = RankOptions { weights, vectors: Some(3), tol: 1e-6, ..STRICT };
        let known = bits(&numbers(&pagerank(&matrix(&runtime(1, None), &case.image, true), &options).unwrap()));
        for (threads, vectors, memory_bytes) in
            [(2, 3, None), (1, 2, None), (2, 1, None), (3, 1, Some(24 << 20)), (2, 2, Some(24 << 20))]
        {
            let own = matrix(&runtime(threads, memory_bytes), &case.image, true);
            let found = pagerank(&own, &RankOptions { vectors: Some(vectors), ..options }).unwrap();
            assert_eq!(found.vectors, vectors);
            assert!(bits(&numbers(&found)) == known, "{threads} {vectors} {memory_bytes:?}");
        }
    }
}

/// The pages of lists, and of values if they are wanted.
fn pages(own: &SparseMatrix, direction: Direction, by_values: bool) -> u64 {
    own.graph().pages(direction) + if by_values { own.graph().weight_pages(direction) } else { 0 }
}

#[test]
fn an_iteration_is_a_pass_and_a_sweep() {
    let case = case(skewed(20_000, 60_000));
    for weights in [true, false] {
        for vectors in 1..=3 {
            let own = matrix(&runtime(2, None), &case.image, true);
            let found = pagerank(&own, &RankOptions { weights, vectors: Some(vectors), ..STRICT }).unwrap();
            let (iterations, vector_bytes) = (u64::from(found.iterations), 8 * 20_000);
            assert_eq!(found.products, iterations + 1);
            let before = pages(&own, Direction::Out, weights) * if weights { 2 } else { 1 };
            let expected = before + iterations * pages(&own, Direction::In, weights);
            assert_eq!(found.stats.total.pages_wanted, expected, "{weights}");
            // The sums of rows are read to begin, in every iteration and in the end.
            let (written, read) = match vectors {
                1 => (1 + iterations, 2 + 2 * iterations),
                2 => (1, 2 + iterations),
                _ => (0, 0),
            };
            let temporary = (found.temporary_bytes_written, found.temporary_bytes_read);
            assert_eq!(temporary, (written * vector_bytes, read * vector_bytes), "{vectors}");
        }
    }
    let own = matrix(&runtime(2, None), &case.image, true);
    let with_values = own.pages_per_pass(Operand::Transpose);
    assert!(pages(&own, Direction::In, false) < with_values, "the pattern alone is less");
}

#[test]
fn as_many_vectors_are_in_memory_as_there_is_room_for() {
    // A vector takes 8 MiB.
    let rows = 1 << 20;
    let mut given = Entries::new(rows, rows);
    (0..rows).for_each(|row| given.add(row, (row * 7 + 1) % rows, 1.0 + (row % 5) as f64));
    let case = case(given);
    let known = numbers(&pagerank(&matrix(&runtime(2, None), &case.image, true), &STRICT).unwrap());
    let mut found_vectors = Vec::new();
    for memory_bytes in [56 << 20, 44 << 20, 36 << 20, 30 << 20] {
        let own = matrix(&runtime(2, Some(memory_bytes)), &case.image, true);
        let mut found = pagerank(&own, &STRICT).unwrap();
        found_vectors.push(found.vectors);
        // Computed ranks need no room beside a result of the same size.
        found.ranks.leave(8 * rows).unwrap();
        assert!(own.graph().runtime().budget().available_bytes() >= 8 * rows);
        assert!(bits(&numbers(&found)) == bits(&known), "{memory_bytes}");
        if found.vectors == 1 {
            drop(found);
            let refused = pagerank(&own, &RankOptions { vectors: Some(3), ..STRICT }).unwrap_err();
            assert!(matches!(refused, Error::Memory { .. }), "{refused}");
        }
    }
    assert_eq!((found_vectors[0], found_vectors[3]), (3, 1), "{found_vectors:?}");
    assert!(found_vectors.is_sorted_by(|one, other| one >= other) && found_vectors.contains(&2), "{found_vectors:?}");
}

#[test]
fn unconverged_ranks_are_reported_as_such() {
    let case = case(skewed(400, 3000));
    let own = matrix(&runtime(2, None), &case.image, true);
    let found = pagerank(&own, &RankOptions { max_iterations: 3, ..STRICT }).unwrap();
    assert_eq!((found.iterations, found.stopped_by), (3, StoppedBy::Iterations));
    assert!(found.residual > 1e-13);
    let found = pagerank(&own, &RankOptions { tol: 0.0, max_iterations: 50, ..STRICT }).unwrap();
    assert_eq!((found.iterations, found.stopped_by), (50, StoppedBy::Iterations));
    let found = pagerank(&own, &RankOptions { max_iterations: 0, ..STRICT }).unwrap();
    assert!(numbers(&found).iter().all(|&rank| rank == 1.0 / 400.0));
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let refused = |given: Entries, options: &RankOptions<'_>| {
        let case = case(given);
        pagerank(&matrix(&runtime(2, None), &case.image, true), options).unwrap_err().to_string()
    };
    assert!(refused(Entries::random(20, 30, 50, false), &STRICT).contains("expected a square matrix"));
    let mut negative = skewed(50, 100);
    negative.add(3, 4, -1e-9);
    assert!(refused(negative, &STRICT).contains("expected entries of 0 or more"));
    for value in [1e-250, 1e250] {
        let mut far = skewed(50, 100);
        far.entries.retain(|&(row, _), _| row != 9);
        far.add(9, 4, value);
        assert!(refused(far, &STRICT).contains("found others in 1 rows"));
    }
    let (short, endless, none) = (vec![1.0; 49], vec![f64::INFINITY; 50], vec![0.0; 50]);
    for (options, text) in [
        (RankOptions { alpha: 1.5, ..STRICT }, "expected alpha between 0 and 1"),
        (RankOptions { alpha: f64::NAN, ..STRICT }, "expected alpha between 0 and 1"),
        (RankOptions { tol: f64::NAN, ..STRICT }, "expected a tolerance"),
        (RankOptions { vectors: Some(0), ..STRICT }, "expected 1, 2 or 3 vectors"),
        (RankOptions { vectors: Some(4), ..STRICT }, "expected 1, 2 or 3 vectors"),
        (RankOptions { personalization: Some(&short), ..STRICT }, "expected 50 numbers"),
        (RankOptions { personalization: Some(&endless), ..STRICT }, "found inf in row 0"),
        (RankOptions { personalization: Some(&none), ..STRICT }, "expected a sum from"),
    ] {
        let found = refused(skewed(50, 100), &options);
        assert!(found.contains(text), "{found}");
    }
    // Negative values do not matter to the pattern alone.
    let case = case(Entries::random(50, 50, 300, false));
    let options = RankOptions { weights: false, ..STRICT };
    let own = matrix(&runtime(2, None), &case.image, true);
    let found = pagerank(&own, &options).unwrap();
    assert!(differ(&numbers(&found), &expected(&case.given, &options)) < 1e-12);
}
