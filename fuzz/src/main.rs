//! The runner: `fuzz replay [FILE...]` and `fuzz fresh SECONDS [--seed N] [--only TARGET] [--keep]`.
//!
//! Fresh fuzzing runs in child processes, one per processor, so that even an abort or a loop without end is caught: a
//! child writes every input to a file before it runs it, and is watched by its own thread for time and memory. What it
//! finds goes to `fuzz/crashes/TARGET/`.
#![forbid(unsafe_code)]

use outcore_fuzz::mutate::{Random, mutate};
use outcore_fuzz::{Target, run, target, targets};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An input that takes longer hangs.
const MOST_SECONDS: u64 = 20;
/// For how long, and how many at least, inputs of one target are made before it is the next one's turn.
const TURN: Duration = Duration::from_millis(200);
const TURN_RUNS: u64 = 200;
/// Largest number of distinct outcomes of inputs.
const MOST_KINDS: usize = 512;
/// With `--keep`, at most so many inputs of a target go to the corpus, none of them longer than the other number.
const MOST_KEPT: usize = 12;
const MOST_KEPT_BYTES: usize = 256;
const USAGE: &str = "usage: fuzz replay [FILE...] | fuzz fresh SECONDS [--seed N] [--only TARGET] [--keep]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.split_first() {
        Some((&"replay", files)) => replay(files),
        Some((&"fresh", rest)) => match Plan::read(rest) {
            Some(plan) => fresh(&plan),
            None => usage(),
        },
        // The child of `fresh`: a file for the current input, then the arguments of the parent.
        Some((&"child", [state, rest @ ..])) => match Plan::read(rest) {
            Some(plan) => child(&plan, Path::new(state)),
            None => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// The folder of the corpus or of the crashes.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The kept inputs of a target, in the order of their names.
fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder("corpus").join(target.name)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().filter_map(|path| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

/// Runs kept inputs, or these files, whose folders are named like their targets.
fn replay(files: &[&str]) -> ExitCode {
    let mut inputs = Vec::new();
    if files.is_empty() {
        inputs.extend(
            targets().flat_map(|target| corpus(target).into_iter().map(move |(path, bytes)| (target, path, bytes))),
        );
    }
    for file in files {
        let path = PathBuf::from(file);
        let named = path.parent().and_then(Path::file_name).and_then(|name| target(&name.to_string_lossy()));
        let (Some(target), Ok(bytes)) = (named, std::fs::read(&path)) else {
            eprintln!("{file}: expected a file that can be read, in a folder named like a target");
            return ExitCode::from(2);
        };
        inputs.push((target, path, bytes));
    }
    let mut failed = 0;
    for (target, path, bytes) in &inputs {
        if catch_unwind(AssertUnwindSafe(|| run(target, bytes))).is_err() {
            eprintln!("{}: a panic in {}", path.display(), target.name);
            failed += 1;
        }
    }
    println!("{} inputs replayed, {failed} failed", inputs.len());
    if failed == 0 && !inputs.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Options of a new fuzzing run.
struct Plan {
    seconds: u64,
    seed: u64,
    only: Option<&'static Target>,
    keep: bool,
}

impl Plan {
    fn read(words: &[&str]) -> Option<Plan> {
        let (seconds, mut rest) = words.split_first()?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut plan = Plan { seconds: seconds.parse().ok()?, seed: now, only: None, keep: false };
        loop {
            rest = match rest {
                [] => return Some(plan),
                ["--seed", seed, rest @ ..] => {
                    plan.seed = seed.parse().ok()?;
                    rest
                }
                ["--only", name, rest @ ..] => {
                    plan.only = Some(target(name)?);
                    rest
                }
                ["--keep", rest @ ..] => {
                    plan.keep = true;
                    rest
                }
                _ => return None,
            };
        }
    }
}

/// Starts a child per processor, and saves the input of every child that dies.
fn fresh(plan: &Plan) -> ExitCode {
    let processes = std::thread::available_parallelism().map_or(1, |count| count.get()) as u64;
    println!("seed {}, {processes} processes, {} seconds", plan.seed, plan.seconds);
    let states = tempfile::tempdir().expect("a directory for the inputs under way");
    let myself = std::env::current_exe().expect("the path of this program");
    let children: Vec<_> = (0..processes)
        .map(|number| {
            let state = states.path().join(number.to_string());
            let mut command = Command::new(&myself);
            command.arg("child").arg(&state).arg(plan.seconds.to_string());
            command.args(["--seed", &(plan.seed ^ number << 48).to_string()]).stdin(Stdio::null());
            if let Some(target) = plan.only {
                command.args(["--only", target.name]);
            }
            if plan.keep {
                command.arg("--keep");
            }
            (state, command.spawn().expect("a child process"))
        })
        .collect();
    let mut failed = false;
    for (state, mut child) in children {
        let status = child.wait().expect("the child's end");
        if !status.success() {
            failed = true;
            // A child that could still save what it found has emptied the file.
            if let Some((target, input)) = under_way(&state) {
                save(target, &input, &format!("the process died: {status}"));
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The input that a child had under way: the target's number, the length, the bytes.
fn under_way(state: &Path) -> Option<(&'static Target, Vec<u8>)> {
    let bytes = std::fs::read(state).ok()?;
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let (place, len) = (u32::from_le_bytes(head[..4].try_into().ok()?), u32::from_le_bytes(head[4..].try_into().ok()?));
    Some((targets().nth(place as usize)?, rest.get(..len as usize)?.to_vec()))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Saves an input that went wrong and says how to run it again.
fn save(target: &Target, input: &[u8], what: &str) {
    let directory = folder("crashes").join(target.name);
    let path = directory.join(format!("{:016x}", hash(input)));
    match std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, input)) {
        Ok(()) => eprintln!("{}: {what}\n    cargo run -p outcore-fuzz -- replay {}", target.name, path.display()),
        Err(error) => eprintln!("{}: {what}; not saved: {error}; the input is {input:?}", target.name),
    }
}

/// One process's work: rounds over all targets until the time is up.
fn child(plan: &Plan, state: &Path) -> ExitCode {
    let file = std::fs::File::create(state).expect("the file for the input under way");
    let started_ms = AtomicU64::new(0);
    let start = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut pools: Vec<Pool> = targets()
        .enumerate()
        .filter(|(_, target)| plan.only.is_none_or(|only| only.name == target.name))
        .map(|(place, target)| Pool::new(place, target))
        .collect();
    // One place in the code is reported once.
    let mut places: HashSet<String> = HashSet::new();
    quiet_panics();
    std::thread::scope(|scope| {
        let watched = scope.spawn(|| watch(&started_ms, start, state));
        while start.elapsed() < Duration::from_secs(plan.seconds) {
            for pool in &mut pools {
                let (turn, before) = (Instant::now(), pool.runs);
                while (turn.elapsed() < TURN || pool.runs < before + TURN_RUNS)
                    && start.elapsed() < Duration::from_secs(plan.seconds)
                {
                    let input = pool.next(&mut random);
                    let mut record = (pool.place as u32).to_le_bytes().to_vec();
                    record.extend((input.len() as u32).to_le_bytes());
                    record.extend(&input);
                    file.write_all_at(&record, 0).expect("the file for the input under way");
                    started_ms.store(1 + start.elapsed().as_millis() as u64, Ordering::Relaxed);
                    let outcome = catch_unwind(AssertUnwindSafe(|| run(pool.target, &input)));
                    started_ms.store(0, Ordering::Relaxed);
                    match outcome {
                        Ok(noted) => pool.learn(noted, input, plan.keep),
                        Err(_) => {
                            let what = last_panic();
                            if places.insert(what.lines().next().unwrap_or_default().to_owned()) {
                                save(pool.target, &input, &what);
                            }
                        }
                    }
                }
            }
        }
        started_ms.store(u64::MAX, Ordering::Relaxed);
        drop(watched.join());
    });
    let counts: Vec<String> =
        pools.iter().map(|pool| format!("{} {} ({} kinds)", pool.target.name, pool.runs, pool.seen.len())).collect();
    println!("inputs: {}", counts.join(", "));
    // The file is not looked at when all is well, and nothing of it is under way.
    drop(file.set_len(0));
    if places.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends the process if an input takes too long or too much memory.
fn watch(started_ms: &AtomicU64, start: Instant, state: &Path) {
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let started = started_ms.load(Ordering::Relaxed);
        if started == u64::MAX {
            return;
        }
        let slow = started != 0 && start.elapsed().as_millis() as u64 > started + 1000 * MOST_SECONDS;
        let held_bytes = outcore_io::current_memory_bytes();
        let Some((target, input)) = under_way(state) else { continue };
        if slow || held_bytes > target.most_memory_bytes {
            let what = if slow { "it hangs".to_owned() } else { format!("it takes {held_bytes} bytes of memory") };
            save(target, &input, &what);
            drop(std::fs::write(state, b""));
            std::process::exit(1);
        }
    }
}

/// The text of the last panic of this process.
static LAST_PANIC: std::sync::Mutex<String> = std::sync::Mutex::new(String::new());

fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text");
        let place = panic.location().map_or_else(String::new, |place| format!("{}:{}", place.file(), place.line()));
        *LAST_PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
            format!("a panic at {place}\n    {text}");
    }));
}

fn last_panic() -> String {
    LAST_PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// The inputs of one target that are worth mutating.
struct Pool {
    place: usize,
    target: &'static Target,
    inputs: Vec<Vec<u8>>,
    /// Kept inputs that have not been run yet.
    unread: usize,
    /// Outcomes of inputs so far.
    seen: HashSet<u64>,
    runs: u64,
    /// Number of runs over inputs that were kept before.
    first_runs: u64,
    /// Number of inputs added to the corpus.
    added: usize,
}

impl Pool {
    fn new(place: usize, target: &'static Target) -> Self {
        let mut inputs: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, bytes)| bytes).collect();
        if inputs.is_empty() {
            inputs.push(target.tokens.concat());
        }
        let first_runs = inputs.len() as u64;
        Pool { place, target, unread: inputs.len(), inputs, seen: HashSet::new(), runs: 0, first_runs, added: 0 }
    }

    /// Kept inputs as they are, then new ones.
    fn next(&mut self, random: &mut Random) -> Vec<u8> {
        self.runs += 1;
        if self.unread > 0 {
            self.unread -= 1;
            return self.inputs[self.unread].clone();
        }
        let one = &self.inputs[random.below(self.inputs.len())];
        let other = &self.inputs[random.below(self.inputs.len())];
        mutate(random, one, other, self.target.tokens, self.target.most_bytes)
    }

    /// Takes an input of which something new became.
    fn learn(&mut self, noted: u64, input: Vec<u8>, keep: bool) {
        if self.seen.len() >= MOST_KINDS || !self.seen.insert(noted) {
            return;
        }
        if keep && self.added < MOST_KEPT && self.runs > self.first_runs && input.len() <= MOST_KEPT_BYTES {
            self.added += 1;
            let directory = folder("corpus").join(self.target.name);
            let path = directory.join(format!("found-{:016x}", hash(&input)));
            if let Err(error) = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, &input)) {
                eprintln!("{}: not kept: {error}", path.display());
            }
        }
        self.inputs.push(input);
    }
}
