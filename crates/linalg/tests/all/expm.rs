//! Products of matrix exponentials beside closed forms.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_linalg::expm_multiply;
use outcore_linalg::internal::{ENOUGH, Norms, Plan};

/// `exp(t A) b` for each time.
fn multiply(given: &Entries, b: &[f64], columns: usize, times: &[f64]) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(&runtime(2, None), &given.image(folder.path(), false), true);
    let mut results = vec![f64::NAN; b.len() * times.len()];
    let found = expm_multiply(&matrix, b, columns, times, &mut results).unwrap();
    // A matrix of one entry, or none, is the mean of its diagonal.
    assert_eq!(found.products > 0, given.entries.len() > 1 && !times.is_empty());
    results
}

fn compare(found: &[f64], known: &[f64], tolerance: f64) {
    assert_eq!(found.len(), known.len());
    let scale = known.iter().fold(0.0f64, |most, number| most.max(number.abs()));
    for (place, (found, known)) in found.iter().zip(known).enumerate() {
        assert!((found - known).abs() <= tolerance * scale, "{found} {known} at {place}");
    }
}

fn diagonal(entries: &[f64]) -> Entries {
    let mut given = Entries::new(entries.len() as u64, entries.len() as u64);
    (0..).zip(entries).for_each(|(row, &entry)| given.add(row, row, entry));
    given
}

#[test]
fn exponentials_of_diagonals_shifts_and_rotations_are_known() {
    let entries: Vec<f64> = (0..300).map(|i| (i as f64 - 200.0) / 10.0).collect();
    let times = [0.0, 0.5, 1.0, -0.25];
    let known: Vec<f64> = times.iter().flat_map(|time| entries.iter().map(move |entry| (time * entry).exp())).collect();
    for (found, known) in multiply(&diagonal(&entries), &[1.0; 300], 1, &times).chunks(300).zip(known.chunks(300)) {
        compare(found, known, 1e-12);
    }
    // The series of a shift ends.
    let mut shift = Entries::new(5, 5);
    (0..4).for_each(|row| shift.add(row, row + 1, 1e5));
    let known: Vec<f64> = (0..5).rev().map(|i| 1e5f64.powi(i) / (1..=i).map(f64::from).product::<f64>()).collect();
    let unit: Vec<f64> = (0..5).map(|row| if row == 4 { 1.0 } else { 0.0 }).collect();
    let found = multiply(&shift, &unit, 1, &[1.0]);
    for (found, known) in found.iter().zip(&known) {
        assert!((found - known).abs() <= 1e-12 * known, "{found} {known}");
    }
    let mut turn = Entries::new(2, 2);
    turn.add(0, 1, -1.0);
    turn.add(1, 0, 1.0);
    for time in [0.1, 1.0, 30.0, -200.0] {
        let (sine, cosine) = f64::sin_cos(time);
        compare(&multiply(&turn, &[1.0, 0.0, 0.0, 1.0], 2, &[time]), &[cosine, -sine, sine, cosine], 1e-13 * 200.0);
    }
}

#[test]
fn a_cycle_keeps_sums_and_a_small_step_after_step_is_a_large_one() {
    let (mut given, mut state) = (Entries::new(5000, 5000), 7);
    for row in 0..5000 {
        for _ in 0..3 {
            let column = random(&mut state, 5000);
            if row != column {
                given.add(column, row, 0.3);
            }
        }
    }
    let mut sums = vec![0.0; 5000];
    given.entries.iter().for_each(|(&(_, column), value)| sums[column as usize] += value);
    (0..5000).for_each(|row| given.add(row, row, -sums[row as usize]));
    let b: Vec<f64> = (0..5000 * 3).map(|_| random(&mut state, 1000) as f64 / 1000.0).collect();
    let found = multiply(&given, &b, 3, &[1.0, 2.0, 5.0, 25.0]);
    for result in found.chunks(b.len()) {
        for column in 0..3 {
            let sum = |numbers: &[f64]| numbers.iter().skip(column).step_by(3).sum::<f64>();
            assert!((sum(result) - sum(&b)).abs() < 1e-11 * sum(&b));
            assert!(result.iter().all(|&number| number > -1e-12));
        }
    }
    compare(&found[3 * b.len()..], &multiply(&given, &b, 3, &[25.0]), 1e-12);
}

#[test]
fn bits_depend_on_neither_threads_nor_memory_nor_other_columns() {
    let mut given = Entries::random(60_000, 60_000, 200_000, false);
    given.entries.values_mut().for_each(|value| *value *= 0.7);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    let (columns, mut state) = (20, 1);
    let b: Vec<f64> = (0..60_000 * columns).map(|_| random(&mut state, 1000) as f64 - 500.0).collect();
    let mut expected = None;
    let mut costs = Vec::new();
    for (threads, memory) in [(1, None), (2, None), (3, Some(36 << 20)), (2, Some(28 << 20))] {
        let matrix = matrix(&runtime(threads, memory), &image, true);
        let mut results = vec![f64::NAN; 2 * b.len()];
        let found = expm_multiply(&matrix, &b, columns, &[0.5, 2.0], &mut results).unwrap();
        costs.push(found.stats.total.pages_wanted);
        assert!(*expected.get_or_insert_with(|| bits(&results)) == bits(&results), "{threads} {memory:?}");
        let one: Vec<f64> = b.iter().skip(3).step_by(columns).copied().collect();
        let mut alone = vec![f64::NAN; 2 * one.len()];
        expm_multiply(&matrix, &one, 1, &[0.5, 2.0], &mut alone).unwrap();
        assert!(alone.iter().zip(results.iter().skip(3).step_by(columns)).all(|(one, other)| one == other));
    }
    assert!(costs[0] == costs[1] && costs[3] > costs[0], "{costs:?}");
}

#[test]
fn empty_products_work_and_impossible_options_are_refused() {
    assert_eq!(multiply(&Entries::new(3, 3), &[1.0, 2.0, 3.0], 1, &[5.0]), [1.0, 2.0, 3.0]);
    compare(&multiply(&diagonal(&[2.0]), &[3.0], 1, &[1.5]), &[3.0 * 3f64.exp()], 1e-15);
    compare(&multiply(&diagonal(&[1e-200]), &[3.0], 1, &[1e200]), &[3.0 * 1f64.exp()], 1e-15);
    assert_eq!(multiply(&diagonal(&[2.0]), &[3.0], 1, &[0.0]), [3.0]);
    assert!(multiply(&diagonal(&[2.0]), &[3.0], 1, &[]).is_empty());
    let folder = tempfile::tempdir().unwrap();
    let refusal = |given: &Entries, b: &[f64], times: &[f64], room: usize| {
        let matrix = matrix(&runtime(2, None), &given.image(folder.path(), false), true);
        expm_multiply(&matrix, b, 1, times, &mut vec![0.0; room]).unwrap_err().to_string()
    };
    let two = diagonal(&[1.0, 2.0]);
    assert!(refusal(&Entries::new(2, 3), &[1.0; 2], &[1.0], 2).contains("expected a square matrix"));
    assert!(refusal(&two, &[1.0; 3], &[1.0], 2).contains("expected 2 x 1 numbers"));
    assert!(
        refusal(&two, &[1.0; 2], &[1.0, 2.0], 2).contains("room for 2 such results, found 2 numbers and room for 2")
    );
    assert!(refusal(&two, &[1.0, f64::INFINITY], &[1.0], 2).contains("found inf in row 1"));
    assert!(refusal(&two, &[1.0; 2], &[f64::NAN], 2).contains("expected finite times t, found NaN"));
    assert!(refusal(&two, &[1.0; 2], &[1e4], 2).contains("finite numbers, found larger ones"));
    assert!(refusal(&two, &[1.0; 2], &[1e4], 2).contains("take a lesser t"));
    assert!(refusal(&diagonal(&[0.0, 1e300]), &[1.0; 2], &[1.0], 2).contains("at most 1e12 products"));
}

#[test]
fn plans_are_the_cheapest() {
    let plan = |bounds: &[f64], step: f64| Norms { mean: 0.0, bounds: bounds.to_vec() }.plan(step);
    assert_eq!(plan(&[0.0], 5.0), Plan { terms: 0, steps: 1.0 });
    assert_eq!(plan(&[7.0], 0.0), Plan { terms: 0, steps: 1.0 });
    // Nine terms are enough for 0.0896, and ten of 55 for 99.
    assert_eq!(plan(&[0.0896], -1.0), Plan { terms: 9, steps: 1.0 });
    assert_eq!(plan(&[9.9], 10.0), Plan { terms: 55, steps: 10.0 });
    // A matrix whose square is zero needs one term, one whose third power is, five by the rule for p = 3.
    assert_eq!(plan(&[1e9, 0.0], 1.0), Plan { terms: 1, steps: 1.0 });
    assert_eq!(plan(&[1e9, 1e5, 0.0], 1.0), Plan { terms: 5, steps: 1.0 });
    for norm in [1e-9, 1e-3, 0.7, 3.0, 40.0, 1e5] {
        let found = plan(&[norm, norm / 2.0], 1.0);
        let enough = |terms: u32| ENOUGH.iter().find(|entry| entry.0 == terms).unwrap().1;
        assert!(found.steps * enough(found.terms) >= norm / 2.0);
        let cheapest = ENOUGH.iter().map(|&(terms, enough)| f64::from(terms) * (norm / 2.0 / enough).ceil());
        assert!(found.products() <= cheapest.fold(f64::INFINITY, f64::min));
    }
}
