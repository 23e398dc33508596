//! Writing a generated graph as an edge file.
//!
//! Workers make blocks of the file at the same time, compressed ones as members of their own, and write them in order.
//! The file has a temporary name until it is complete.

use super::{BLOCK_EDGES, GenerateOptions, Generator};
use crate::import::{ImportOptions, OrderChoice};
use flate2::write::GzEncoder;
use outcore_image::{Error, Partial, Result};
use outcore_ingest::{BatchWeights, Choice, OwnComment};
use outcore_io::{Runtime, Task, Unit, Writer, folder, into_inner, lock};
use outcore_table::Compression;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Endings of the names of edge files; texts may be compressed, with `.gz` or `.zst` behind that.
pub const GENERATE_ENDINGS: &str = ".el, .txt, .wel, .csv, .graph500 or .bin16";
/// Memory of a worker. It needs 10.5 MiB: 1 for ids, 0.5 for weights, 4 for a vector of text (45 bytes an edge, 2.8 MiB
/// in all), as much for the compressed text, and 1 for the compressor.
const WORKER_BYTES: u64 = 12 << 20;

/// Size of the gathered text and of the text that is being written, together.
const BUFFER_BYTES: usize = 1 << 20;

/// Report of the written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerateReport {
    /// The number of edges.
    pub edges: u64,
    /// The size of the file.
    pub bytes: u64,
}

/// Endings of the formats; the separator of columns, in text; and whether there are weights, where the format says so.
const FORMATS: [(&str, Option<u8>, Option<bool>); 6] = [
    ("txt", Some(b' '), None),
    ("csv", Some(b','), None),
    ("el", Some(b' '), Some(false)),
    ("wel", Some(b' '), Some(true)),
    ("graph500", None, Some(false)),
    ("bin16", None, Some(false)),
];

struct Format {
    ending: &'static str,
    /// The separator of the columns of text; none in a file of tuples.
    separator: Option<u8>,
    compression: Compression,
}

/// Writes a generated graph as an edge file, of the format that its name ends in. `how` is what an import of the graph
/// would be told: of that a `.txt` file says the direction, in its first line.
///
/// # Errors
/// A name or options that do not fit each other, as a direction or an order that the file cannot say; a full disk, a
/// request to stop. There is no new file then.
pub fn write(runtime: &Runtime, options: &GenerateOptions, how: &ImportOptions, path: &Path) -> Result<GenerateReport> {
    let generator = Generator::new(options)?;
    let format = format_of(path, options.weights.is_some())?;
    let opening = opening(&format, options, how, path)?;
    let create = |path: &Path| Writer::create(runtime, "an output buffer", path, BUFFER_BYTES);
    let (temporary, output) = Partial::file(runtime.backend(), path, create)?;
    let writing = Writing {
        runtime,
        generator,
        format,
        opening,
        path,
        turn: Mutex::new(Turn { next: 0, output, failure: None }),
        passed: Condvar::new(),
        next: AtomicU64::new(0),
    };
    let report = writing.run()?;
    runtime.backend().rename(temporary.path(), path)?;
    runtime.backend().sync_directory(folder(path))?;
    Ok(report)
}

/// The format that follows from a file's name.
fn format_of(path: &Path, weights: bool) -> Result<Format> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (compression, stem) = Compression::of(&name);
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    let Some(&(ending, separator, columns)) = FORMATS.iter().find(|(name, ..)| *name == ending) else {
        let message = format!("expected a name that ends in {GENERATE_ENDINGS}, found {}", path.display());
        return Err(Error::Usage(message));
    };
    if columns.is_some_and(|columns| columns != weights) || separator.is_none() && compression != Compression::None {
        let content = match (separator, columns) {
            (None, _) => "neither weights nor compression",
            (_, Some(true)) => "weights",
            _ => "no weights",
        };
        let text = format!("a .{ending} file has {content}; choose another name or leave the option out");
        return Err(Error::Usage(text));
    }
    Ok(Format { ending, separator, compression })
}

/// The header above the edges of a file. Refuses options that the file cannot express.
fn opening(format: &Format, options: &GenerateOptions, how: &ImportOptions, path: &Path) -> Result<String> {
    let (shape, file) = (options.shape, path.display());
    let refused = |text: String| Err(Error::Usage(text));
    if how.order != OrderChoice::Auto {
        return refused(format!(
            "expected an order of vertices (--order) for an image only, found {} for {file}; choose a name that ends \
             in .oc, or leave the order out and import the file with it",
            how.order.name()
        ));
    }
    if how.directed == Some(true) && shape.directed() == Some(false) {
        return refused(format!(
            "expected no direction in a file of a {}, whose edges have none, found one for {file}; choose .txt without \
             a direction, and import the file as directed",
            shape.name()
        ));
    }
    let weight = options.weights.map(|_| "weight".to_owned());
    match (format.ending, how.directed.or(shape.directed())) {
        // Outcore's own comment, since an import takes no weights from a third column without a name.
        ("txt", None) if weight.is_none() => Ok(String::new()),
        ("txt", directed) => {
            let directed = directed.unwrap_or(true);
            Ok(OwnComment { directed, string_ids: false, parallel: false, weight }.line() + "\n")
        }
        _ if how.directed == Some(false) => refused(format!(
            "expected a name that ends in .txt for edges without direction (--undirected), found {file}, which cannot \
             say it; choose .txt, or leave the option out and import the file with --undirected"
        )),
        ("csv", _) if weight.is_some() => Ok("source,target,weight\n".to_owned()),
        ("csv", _) => Ok("source,target\n".to_owned()),
        _ => Ok(String::new()),
    }
}

struct Writing<'a> {
    runtime: &'a Runtime,
    generator: Generator,
    format: Format,
    /// The header above the edges.
    opening: String,
    path: &'a Path,
    turn: Mutex<Turn>,
    passed: Condvar,
    next: AtomicU64,
}

/// The block that is written next.
struct Turn {
    next: u64,
    output: Writer,
    failure: Option<Error>,
}

impl Writing<'_> {
    fn run(self) -> Result<GenerateReport> {
        let progress = self.runtime.task("generating", Unit::Edges, Some(self.generator.edges));
        let workers = (self.runtime.budget().available_bytes() / WORKER_BYTES) as usize;
        self.runtime.run_on(workers, |_| {
            if let Err(error) = self.work(&progress) {
                lock(&self.turn).failure.get_or_insert(error);
                self.passed.notify_all();
            }
            Ok::<(), Error>(())
        })?;
        let turn = into_inner(self.turn);
        if let Some(failure) = turn.failure {
            return Err(failure);
        }
        let bytes = turn.output.position_bytes();
        turn.output.finish().map_err(|error| named(error, self.path))?;
        Ok(GenerateReport { edges: self.generator.edges, bytes })
    }

    fn work(&self, progress: &Task) -> Result<()> {
        let _reservation = self.runtime.budget().reserve("generating edges", WORKER_BYTES)?;
        let (mut ids, mut weights, mut bytes) = (Vec::new(), BatchWeights::None, Vec::new());
        // An empty graph has one empty block, which has the header or an empty member.
        let blocks = self.generator.edges.div_ceil(BLOCK_EDGES).max(1);
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return Ok(());
            }
            self.runtime.cancel().check()?;
            let first = block * BLOCK_EDGES;
            let end = (first + BLOCK_EDGES).min(self.generator.edges);
            ids.clear();
            weights.clear();
            bytes.clear();
            self.generator.fill(first..end, &mut ids, &mut weights);
            self.render(block == 0, &ids, &weights, &mut bytes);
            let packed = self.pack(&bytes)?;
            self.put(block, packed.as_deref().unwrap_or(&bytes))?;
            progress.advance(end - first);
        }
    }

    fn render(&self, begins: bool, ids: &[u64], weights: &BatchWeights, bytes: &mut Vec<u8>) {
        let Some(separator) = self.format.separator else {
            bytes.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
            return;
        };
        if begins {
            bytes.extend_from_slice(self.opening.as_bytes());
        }
        for (i, edge) in ids.chunks_exact(2).enumerate() {
            decimal(edge[0], bytes);
            bytes.push(separator);
            decimal(edge[1], bytes);
            match weights {
                // None is complex: these are graphs.
                BatchWeights::None | BatchWeights::Complex(_) => {}
                BatchWeights::Integer(weights) => {
                    bytes.push(separator);
                    decimal(weights[i].unsigned_abs(), bytes);
                }
                BatchWeights::Real(weights) => {
                    bytes.extend_from_slice(format!("{}{}", separator as char, weights[i]).as_bytes())
                }
            }
            bytes.push(b'\n');
        }
    }

    fn pack(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let failed = |error| Error::file(self.path, "compress", error);
        match self.format.compression {
            Compression::None => Ok(None),
            Compression::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).map(Some).map_err(failed)
            }
            Compression::Zstd => zstd::bulk::compress(bytes, 1).map(Some).map_err(failed),
        }
    }

    /// Writes a block when all before it are written.
    fn put(&self, block: u64, bytes: &[u8]) -> Result<()> {
        let mut turn = lock(&self.turn);
        while turn.next != block {
            self.runtime.cancel().check()?;
            if turn.failure.is_some() {
                // The other worker's failure was noted first, so this one is never reported.
                return Err(Error::Cancelled);
            }
            let wait = self.passed.wait_timeout(turn, Duration::from_millis(100));
            turn = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        turn.output.put(bytes).map_err(|error| named(error, self.path))?;
        turn.next += 1;
        self.passed.notify_all();
        Ok(())
    }
}

/// Users know the name that the file is to have, not the one that it has until it is complete.
fn named(error: Error, path: &Path) -> Error {
    match error {
        Error::File { source, operation, .. } => Error::file(path, operation, source),
        other => other,
    }
}

fn decimal(mut number: u64, bytes: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    bytes.extend_from_slice(&digits[first..]);
}
