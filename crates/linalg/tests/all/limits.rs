//! Limits of memory: the least one that a plan does not refuse is enough for the run, its verification and its results.

use crate::common::{Entries, matrix, random, runtime};
use outcore_declare::{OptionValues, Value, named};
use outcore_image::Error;
use outcore_linalg::{Dense, SOLVERS, SolverInput};
use outcore_matrix::SparseMatrix;
use std::path::PathBuf;

/// A solver, its options, its result of columns, and whether it is verified.
type Case = (&'static str, Vec<(&'static str, Value)>, bool, bool);

/// Runs a solver in this much memory more than it asks for, and writes its results: what the files have.
fn run_in(
    matrix: &SparseMatrix,
    case: &Case,
    more_bytes: u64,
    outputs: &[Option<PathBuf>],
) -> Result<Vec<Vec<u8>>, Error> {
    let (name, options, has_right, verify) = case;
    let solver = named(SOLVERS, name).unwrap();
    let values = OptionValues::new(solver, options.clone()).unwrap();
    let inputs = solver.inputs.iter().map(|_| Some(outputs[0].as_ref().unwrap().with_file_name("b.npy"))).collect();
    let given = SolverInput { values, inputs, output: outputs[0].clone(), checkpoint: None };
    let plan = (solver.plan)(matrix, given).unwrap();
    let (graph, budget) = (matrix.graph(), matrix.graph().runtime().budget());
    let files: Vec<_> = outputs.iter().take(1 + usize::from(*has_right)).map(|file| file.as_deref()).collect();
    // The plan depends on the memory that is left: this is the least that is not refused.
    let needed_bytes = || plan.needs(matrix).unwrap().most_memory(graph, &files, *verify).unwrap().1;
    let mut left_bytes = needed_bytes() + more_bytes;
    let _others = loop {
        let others = budget.reserve("others", budget.available_bytes() - left_bytes).unwrap();
        if needed_bytes() <= left_bytes {
            break others;
        }
        left_bytes = needed_bytes() + more_bytes;
    };
    let found = plan.run(matrix, *verify)?;
    let results = found.dense.into_iter().zip(&files);
    Dense::write_all(results.filter_map(|(dense, file)| Some((dense, (*file)?.to_owned()))))?;
    Ok(files.into_iter().flatten().map(|file| std::fs::read(file).unwrap()).collect())
}

#[test]
fn the_least_memory_that_is_not_refused_is_enough_to_the_end() {
    let (small, large) = ((250, 40_000), (30_000, 30_000));
    let whole = Value::Whole;
    let k = |k| vec![("k", whole(k)), ("tol", Value::Real(1e-1)), ("ncv", whole(2 * k + 8)), ("maxiter", whole(1))];
    let factors = |k| vec![("n_components", whole(k)), ("max_iter", whole(1))];
    let cases: [((u64, u64), Case); 11] = [
        (large, ("nmf", factors(6), false, false)),
        (small, ("nmf", factors(5), true, true)),
        (small, ("nmf", factors(2), true, false)),
        (large, ("eigsh", k(4), false, true)),
        (large, ("eigsh", k(2), false, false)),
        (large, ("eigs", k(3), false, true)),
        (small, ("svds", k(4), true, true)),
        (small, ("randomized_svd", vec![("k", whole(3)), ("passes", whole(2))], true, true)),
        (large, ("cg", vec![("maxiter", whole(2))], false, true)),
        (large, ("expm_multiply", vec![("t", Value::Real(1e-3))], false, true)),
        (large, ("multiply", vec![], false, true)),
    ];
    let mut wrong = Vec::new();
    for (shape, case) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut given = Entries::new(shape.0, shape.1);
        let mut state = 5;
        for place in 0..shape.0.max(shape.1) {
            let (row, column) = (place % shape.0, random(&mut state, shape.1));
            match shape.0 == shape.1 {
                true => given.add_both(&[(row, column, 0.5), (row, row, 2.0)]),
                false => given.add(row, column, 1.0 + (place % 7) as f64),
            }
        }
        let image = given.image(folder.path(), shape.0 == shape.1);
        let b = npy(shape.1 as usize);
        std::fs::write(folder.path().join("b.npy"), b).unwrap();
        for (threads, endings) in [(1, ["parquet", "npy"]), (2, ["npy", "csv"])] {
            let runtime = runtime(threads, Some(200 << 20));
            let matrix = matrix(&runtime, &image, true);
            let file = |i: usize| Some(folder.path().join(format!("{i}.{}", endings[i])));
            let outputs = [file(0), file(1)];
            let expected = run_in(&matrix, &case, 100 << 20, &outputs).unwrap();
            for more_bytes in [0, 60 << 10, 1 << 20] {
                let place = format!("{}, {shape:?}, {endings:?}, {threads} threads, {more_bytes} bytes more", case.0);
                match run_in(&matrix, &case, more_bytes, &outputs) {
                    Ok(found) if found == expected => {}
                    Ok(_) => wrong.push(format!("{place}: other results")),
                    Err(error) => wrong.push(format!("{place}: {error}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A .npy file with a vector of ones and twos.
fn npy(rows: usize) -> Vec<u8> {
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows},), }}");
    head += &" ".repeat(63 - (10 + head.len()) % 64);
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    (0..rows).for_each(|row| bytes.extend((1.0 + (row % 2) as f64).to_le_bytes()));
    bytes
}
