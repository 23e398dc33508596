//! Runs that are stopped again and again find the same bits as runs that are not.

use crate::common::{Entries, bits, matrix, options, runtime};
use outcore_image::{Error, Result};
use outcore_io::{CancelFlag, Progress, Runtime, RuntimeOptions, Unit};
use outcore_linalg::{EigsOptions, EigshOptions, NmfOptions, SvdsOptions, Which, eigs, eigsh, nmf, svds};
use outcore_matrix::SparseMatrix;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// All bits of a result, and how many vectors were multiplied.
type Found = (Vec<u64>, u64);

/// One of the solvers.
fn solve(solver: &str, matrix: &SparseMatrix, checkpoint: Option<&Path>) -> Result<Found> {
    let (rows, columns) = matrix.shape();
    let mut numbers = vec![0.0; 8 * (rows + columns) as usize];
    let checkpoint = checkpoint.map(Path::to_owned);
    let (values, products) = match solver {
        "eigsh" | "nearest" => {
            let which = if solver == "eigsh" { Which::LargestMagnitude } else { Which::SmallestMagnitude };
            let found = eigsh(matrix, &EigshOptions { ncv: Some(24), which, checkpoint, ..options(5) })?;
            found.vectors.write(&mut numbers[..rows as usize * 5])?;
            (found.values, found.products)
        }
        "svds" => {
            let found = svds(matrix, &SvdsOptions { k: 4, ncv: Some(24), checkpoint, ..SvdsOptions::default() })?;
            found.vectors.left.write(&mut numbers[..rows as usize * 4])?;
            found.vectors.right.write(&mut numbers[rows as usize * 4..(rows + columns) as usize * 4])?;
            (found.values, found.products)
        }
        "nmf" => {
            let found = nmf(
                matrix,
                &NmfOptions { n_components: 11, tol: 0.0, max_iterations: 60, checkpoint, ..NmfOptions::default() },
            )?;
            let mut factors = vec![0.0; 11 * (rows + columns) as usize];
            let (w, h) = factors.split_at_mut(11 * rows as usize);
            found.w.write(w)?;
            found.h_transposed.write(h)?;
            return Ok((bits(&[found.losses, factors].concat()), found.products));
        }
        _ => {
            let found = eigs(matrix, &EigsOptions { k: 4, ncv: Some(24), checkpoint, ..EigsOptions::default() })?;
            (found.values.iter().flat_map(|value| [value.re, value.im]).collect(), found.products)
        }
    };
    Ok((bits(&[values, numbers].concat()), products))
}

/// Cancels a run after a number of products, those of the run that it resumes included.
struct StopAfter {
    products: u64,
    counted: AtomicU64,
    cancel: OnceLock<CancelFlag>,
}

impl Progress for StopAfter {
    fn start(&self, _name: &str, unit: Unit, _total: Option<u64>) {
        assert_eq!(unit, Unit::Products);
    }

    fn advance(&self, products: u64) {
        if self.counted.fetch_add(products, Ordering::Relaxed) + products >= self.products {
            self.cancel.get().unwrap().cancel();
        }
    }

    fn finish(&self) {}
}

/// A runtime that cancels its run after this many products.
fn stopped_after(products: u64, threads: usize, memory_bytes: Option<u64>) -> Runtime {
    let stop = Arc::new(StopAfter { products, counted: AtomicU64::new(0), cancel: OnceLock::new() });
    let progress: Arc<dyn Progress> = stop.clone();
    let options = RuntimeOptions { progress: Some(progress), threads: Some(threads), ..RuntimeOptions::default() };
    let beside_process = memory_bytes.is_some();
    let runtime = Runtime::new(RuntimeOptions { memory_bytes, beside_process, ..options }).unwrap();
    stop.cancel.set(runtime.cancel().clone()).ok();
    runtime
}

#[test]
fn a_stopped_run_resumes_with_the_same_bits() {
    let square = [("eigsh", 20_000, 20_000), ("nearest", 8000, 8000), ("eigs", 6_000, 6_000)];
    for (solver, rows, columns) in square.into_iter().chain([("svds", 9_000, 7_000), ("nmf", 40_000, 30_000)]) {
        let folder = tempfile::tempdir().unwrap();
        let is_symmetric = ["eigsh", "nearest"].contains(&solver);
        let mut given = Entries::random(rows, columns, 4 * rows, is_symmetric);
        if solver == "nearest" {
            given = Entries::grid(100, 80);
            (0..8000).for_each(|row| given.add(row, row, 4.0));
        }
        if solver == "nmf" {
            given.entries.values_mut().for_each(|value| *value = value.abs());
        }
        let image = given.image(folder.path(), is_symmetric);
        let checkpoints = folder.path().join("kept");
        let expected = solve(solver, &matrix(&runtime(2, None), &image, true), None).unwrap();
        let mut stops = 0;
        let found = loop {
            // Limits that have room for all vectors, and for few. A sixth of all products more is allowed each time, so
            // the loop ends even if no run had written a checkpoint.
            let products = expected.1 * (stops as u64 + 1) / 6;
            let runtime = stopped_after(products, 1 + stops % 3, [None, Some(32 << 20)][stops % 2]);
            match solve(solver, &matrix(&runtime, &image, true), Some(&checkpoints)) {
                Ok(found) => break found,
                Err(Error::Cancelled) => stops += 1,
                Err(error) => panic!("{error}"),
            }
        };
        assert!(stops > 1, "{solver} was stopped {stops} times");
        assert_eq!(found.0, expected.0, "{solver}");
        // The products that tell the matrix apart.
        assert!(found.1 >= expected.1 && checkpoints.join("state").exists());
        // Nothing is left but what the state names.
        fs::write(checkpoints.join("block-999999"), "left by a killed run").unwrap();
        fs::write(checkpoints.join("notes"), "the user's").unwrap();
        let again = solve(solver, &matrix(&runtime(2, None), &image, true), Some(&checkpoints)).unwrap();
        assert!(
            again.0 == expected.0 && !checkpoints.join("block-999999").exists() && checkpoints.join("notes").exists()
        );
    }
}

/// Calls `look` while the state has the title of an earlier version.
fn with_an_old_title(checkpoints: &Path, look: impl FnOnce()) {
    let (path, now, old) = (checkpoints.join("state"), b"outcore checkpoint 2", b"outcore checkpoint 1");
    let state = fs::read(&path).unwrap();
    assert!(state.starts_with(now));
    fs::write(&path, [&old[..], &state[old.len()..]].concat()).unwrap();
    look();
    fs::write(&path, state).unwrap();
}

#[test]
fn checkpoints_of_other_runs_and_damaged_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    [&one, &two].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let given = Entries::random(3000, 3000, 20_000, true);
    let other = Entries::random(3000, 3000, 20_001, true);
    let matrices = [given.image(&one, true), other.image(&two, true)].map(|image| matrix(&runtime, &image, true));
    let checkpoints = folder.path().join("kept");
    let options =
        EigshOptions { ncv: Some(20), checkpoint: Some(checkpoints.clone()), max_iterations: 1, ..options(8) };
    let cut = eigsh(&matrices[0], &options).unwrap();
    assert!(cut.converged < 8);
    // More restarts go on with what there is.
    let more = EigshOptions { max_iterations: 1000, ..options.clone() };
    let found = eigsh(&matrices[0], &more).unwrap();
    let whole = eigsh(&matrices[0], &EigshOptions { checkpoint: None, ..more.clone() }).unwrap();
    assert!(found.converged == 8 && bits(&found.values) == bits(&whole.values));
    let refusal = |which: usize, options: &EigshOptions| eigsh(&matrices[which], options).unwrap_err().to_string();
    assert!(refusal(1, &more).contains("found one of another"), "{}", refusal(1, &more));
    assert!(refusal(0, &EigshOptions { seed: 1, ..more.clone() }).contains("seed 0"));
    assert!(
        refusal(0, &EigshOptions { k: 7, ..more.clone() }).contains("expected a checkpoint of this run (eigsh, k 7")
    );
    let locked = runtime.backend().lock(&checkpoints).unwrap();
    assert!(refusal(0, &more).contains("found another run in"));
    drop(locked);
    let blocks = || fs::read_dir(&checkpoints).unwrap().map(|entry| entry.unwrap().path());
    let block = blocks().find(|path| path.to_string_lossy().contains("block-")).unwrap();
    for path in [block, checkpoints.join("state")] {
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        for damaged in [changed, bytes[..bytes.len() - 1].to_vec(), [&bytes[..], &[0]].concat(), Vec::new()] {
            fs::write(&path, damaged).unwrap();
            assert!(refusal(0, &more).contains("found other bytes"), "{}", refusal(0, &more));
        }
        fs::remove_file(&path).unwrap();
        match path.ends_with("state") {
            true => assert!(refusal(0, &more).contains("expected an empty folder"), "{}", refusal(0, &more)),
            false => assert!(refusal(0, &more).contains("block-")),
        }
        fs::write(&path, bytes).unwrap();
    }
    with_an_old_title(&checkpoints, || {
        let refused = refusal(0, &more);
        assert!(refused.contains("found one of another version") && !refused.contains("of this run"), "{refused}");
    });
    // A folder of other files stays as it is; what a checkpoint has only begun is one.
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("block-7"), "the user's").unwrap();
    let refused = refusal(0, &EigshOptions { checkpoint: Some(foreign.clone()), ..more.clone() });
    assert!(refused.contains("found block-7 in"), "{refused}");
    assert_eq!(fs::read(foreign.join("block-7")).unwrap(), b"the user's");
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
    fs::remove_dir_all(&checkpoints).unwrap();
    assert_eq!(bits(&eigsh(&matrices[0], &more).unwrap().values), bits(&whole.values));
    // Nothing gets into an image.
    let image = matrices[0].graph().path().to_owned();
    let names = || fs::read_dir(&image).unwrap().count();
    let before = names();
    for within in [image.clone(), image.join("kept")] {
        let refused = refusal(0, &EigshOptions { checkpoint: Some(within), ..more.clone() });
        assert!(refused.contains("within an image") && names() == before, "{refused}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = refusal(0, &EigshOptions { checkpoint: Some(file), ..more });
    assert!(refused.contains("file"), "{refused}");
}

#[test]
fn states_that_memory_has_no_room_for_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let image = Entries::random(3000, 3000, 20_000, true).image(folder.path(), true);
    let run = |memory_bytes: Option<u64>| {
        let matrix = matrix(&runtime(2, memory_bytes), &image, true);
        let checkpoint = Some(folder.path().join("begun"));
        let found = eigsh(&matrix, &EigshOptions { ncv: Some(20), checkpoint, max_iterations: 1, ..options(8) });
        found.map(|found| found.converged).map_err(|error| error.to_string())
    };
    run(None).unwrap();
    let state = fs::OpenOptions::new().write(true).open(folder.path().join("begun/state")).unwrap();
    state.set_len(1 << 36).unwrap();
    let refused = run(Some(64 << 20)).unwrap_err();
    assert!(refused.contains("the state of a checkpoint"), "{refused}");
}

#[test]
fn a_resumed_run_counts_no_product_twice() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &Entries::random(3000, 3000, 20_000, true).image(folder.path(), true), true);
    let run = |solver: &str, max_iterations: u64, name: &str| {
        let (ncv, checkpoint) = (Some(20), Some(folder.path().join(name)));
        match solver {
            "eigs" => eigs(&matrix, &EigsOptions { k: 5, ncv, max_iterations, checkpoint, ..Default::default() })
                .map(|found| (found.converged, found.products)),
            _ => eigsh(&matrix, &EigshOptions { ncv, max_iterations, checkpoint, ..options(5) })
                .map(|found| (found.converged, found.products)),
        }
        .unwrap()
    };
    for solver in ["eigsh", "eigs"] {
        let whole = run(solver, 1000, &format!("{solver} whole"));
        let stopped = format!("{solver} stopped");
        assert!(run(solver, 0, &stopped).0 < 5 && run(solver, 1, &stopped).0 < 5);
        assert_eq!(run(solver, 1000, &stopped), whole, "{solver}");
    }
}
