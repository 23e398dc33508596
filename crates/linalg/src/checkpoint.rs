//! Checkpoints: the state of a solver in a folder, so that an interrupted run resumes with the same bits.
//!
//! *Files.* `state` says what is computed and how far it is; it is replaced as a whole. Each block of numbers is a file
//! of its own ([`Blocks`]), written once: those of a basis do not change until the whole basis does. What `state` does
//! not name was left by a run that was killed while it wrote, and goes. A state that names nothing comes before the
//! first block, so in a folder without a state nothing is a checkpoint's.
//!
//! *When.* Writing takes a twentieth of the time at most: the longer the last time took, the later is the next.
//!
//! *Matrix.* A product with a random vector, which takes a further pass, identifies the matrix.

use crate::operator::{Operator, space};
use faer::Mat;
use outcore_image::{Error, Result, check_file, write_file};
use outcore_io::backend::Lock;
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{Array, Directory, Reservation, Runtime, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const STATE: &str = "state";
const BLOCK: &str = "block-";
/// The first line of a state.
const TITLE: &str = "outcore checkpoint 1";
/// Pause between two writes, in units of the duration of the last one.
const PAUSE: u32 = 20;
const BUFFER_BYTES: usize = 256 << 10;

/// A callback that fills a slice with the next numbers of a block.
pub(crate) type Get<'g> = &'g mut dyn FnMut(&mut [f64]) -> Result<()>;
/// A callback that takes the next numbers of a block.
pub(crate) type Put<'p> = &'p mut dyn FnMut(&[f64]) -> Result<()>;

/// Blocks of numbers for a checkpoint. Each has a serial number that is unique, and new whenever the block changes.
pub(crate) trait Blocks {
    /// The serial numbers of all blocks.
    fn serials(&self) -> Vec<u64>;

    /// Passes the numbers of a block to `put`, in an order that depends on its size alone.
    fn give(&mut self, block: usize, put: Put<'_>) -> Result<()>;

    /// Appends a block whose numbers come from `get`, in the order of [`Blocks::give`].
    fn take(&mut self, serial: u64, get: Get<'_>) -> Result<()>;
}

/// Numbers of a state, in their order.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<u64>,
    position: usize,
}

impl Words {
    pub fn put(&mut self, word: u64) {
        self.words.push(word);
    }

    pub fn put_all(&mut self, numbers: &[f64]) {
        self.put(numbers.len() as u64);
        self.words.extend(numbers.iter().map(|number| number.to_bits()));
    }

    pub fn put_matrix(&mut self, matrix: &Mat<f64>) {
        self.put(matrix.ncols() as u64);
        (0..matrix.ncols()).for_each(|column| self.put_all(matrix.col_as_slice(column)));
    }

    pub fn take(&mut self) -> Option<u64> {
        self.position += 1;
        self.words.get(self.position - 1).copied()
    }

    pub fn take_all(&mut self) -> Option<Vec<f64>> {
        let count = usize::try_from(self.take()?).ok()?;
        let numbers = self.words.get(self.position..self.position.checked_add(count)?)?;
        self.position += count;
        Some(numbers.iter().map(|&bits| f64::from_bits(bits)).collect())
    }

    /// Overwrites a matrix with the next one, if that has as many rows and columns.
    pub fn take_matrix(&mut self, matrix: &mut Mat<f64>) -> Option<()> {
        if self.take()? != matrix.ncols() as u64 {
            return None;
        }
        for column in 0..matrix.ncols() {
            let numbers = self.take_all().filter(|numbers| numbers.len() == matrix.nrows())?;
            matrix.col_as_slice_mut(column).copy_from_slice(&numbers);
        }
        Some(())
    }
}

/// The checkpoint of a run: its folder, and the blocks in it.
pub(crate) struct Checkpoint<'a> {
    runtime: &'a Arc<Runtime>,
    folder: PathBuf,
    /// Text that identifies the run.
    run: String,
    /// Whether there is a state in the folder.
    is_begun: bool,
    /// The blocks that are in the folder, with their checksums.
    blocks: BTreeMap<u64, u32>,
    due: Instant,
    /// Memory reserved for writing, while nothing is written.
    reservation: Option<Reservation>,
    _lock: Option<Lock>,
}

impl<'a> Checkpoint<'a> {
    /// Opens a folder, or creates it. `run` describes the computation with the operator.
    ///
    /// # Errors
    /// Another run uses the folder; errors of the operating system; no memory for two vectors.
    pub fn open(operator: &dyn Operator<'a>, folder: &Path, run: &str) -> Result<Self> {
        let (image, runtime) = (operator.matrix().graph().image(), operator.matrix().graph().runtime());
        let backend = runtime.backend();
        // A folder in which no file can be created, such as an image, stays unchanged.
        if backend.named(folder).is_none() {
            check_file(image, folder)?;
            backend.create_directory(folder)?;
        }
        check_file(image, &folder.join(STATE))?;
        let lock = match backend.lock(folder) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => {
                return Err(Error::Usage(format!(
                    "expected a folder for checkpoints that nobody uses, found another run in {}",
                    folder.display()
                )));
            }
            // Locks that fail, as on file systems without any, are done without.
            Err(_) => None,
        };
        let run = format!("{run}, matrix {:08x}", fingerprint(operator)?);
        let (folder, blocks) = (folder.to_owned(), BTreeMap::new());
        let reservation = Some(hold(runtime)?);
        Ok(Checkpoint { runtime, folder, run, is_begun: false, blocks, due: Instant::now(), reservation, _lock: lock })
    }

    /// The stored state, if any.
    ///
    /// # Errors
    /// A state of another run, or a damaged one.
    pub fn load(&mut self, blocks: &mut dyn Blocks) -> Result<Option<Words>> {
        let directory = Directory::open(self.runtime.backend(), &self.folder)?;
        let names = directory.names("")?;
        self.is_begun = names.iter().any(|name| name == STATE);
        if !self.is_begun {
            return match names.iter().find(|name| !name.to_string_lossy().starts_with('.')) {
                Some(other) => Err(Error::Usage(format!(
                    "expected an empty folder, or one of a checkpoint, found {} in {}; name another folder",
                    other.display(),
                    self.folder.display()
                ))),
                None => Ok(None),
            };
        }
        let known = self.read_state(&directory.file(STATE)?.read_whole()?)?;
        let known = Some(known).filter(|(_, words)| !words.words[words.position..].is_empty());
        if let Some((serials, _)) = &known {
            for &(serial, checksum) in serials {
                self.read_block(&directory, serial, checksum, blocks)?;
            }
        }
        self.remove_others(&directory)?;
        Ok(known.map(|(_, words)| words))
    }

    /// The blocks that a state names, with their checksums, and the rest of it.
    fn read_state(&self, bytes: &[u8]) -> Result<(Vec<(u64, u32)>, Words)> {
        let (body, checksum) = bytes.split_last_chunk::<4>().ok_or_else(|| self.damaged(STATE))?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*checksum) {
            return Err(self.damaged(STATE));
        }
        let mut lines = body.splitn(3, |&byte| byte == b'\n');
        let (title, run) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        if title != TITLE.as_bytes() || run != self.run.as_bytes() {
            let (folder, found) = (self.folder.display(), String::from_utf8_lossy(run));
            return Err(Error::Usage(format!(
                "{folder}: expected a checkpoint of this run ({}), found one of another ({found}); name another folder",
                self.run
            )));
        }
        let words = lines.next().unwrap_or_default().as_chunks().0;
        let mut words = Words { words: words.iter().map(|&word| u64::from_le_bytes(word)).collect(), position: 0 };
        let blocks = (0..words.take().unwrap_or(0)).map(|_| Some((words.take()?, words.take()? as u32)));
        let blocks: Option<Vec<_>> = blocks.collect();
        Ok((blocks.ok_or_else(|| self.damaged(STATE))?, words))
    }

    fn read_block(&mut self, directory: &Directory, serial: u64, checksum: u32, blocks: &mut dyn Blocks) -> Result<()> {
        let name = format!("{BLOCK}{serial}");
        let file = directory.file(&name)?;
        let (mut computed, mut at) = (0, 0);
        blocks.take(serial, &mut |numbers| {
            for piece in numbers.chunks_mut(BUFFER_BYTES / 8) {
                let bytes = raw_bytes_mut(piece);
                let read = file.read_at(bytes, at);
                read.map_err(|_| self.damaged(&name))?;
                (computed, at) = (crc32c::crc32c_append(computed, bytes), at + bytes.len() as u64);
            }
            Ok(())
        })?;
        if computed != checksum || file.len_bytes() != at {
            return Err(self.damaged(&name));
        }
        self.blocks.insert(serial, checksum);
        Ok(())
    }

    /// The error for a file whose bytes differ from those that were written.
    fn damaged(&self, name: &str) -> Error {
        let path = self.folder.join(name);
        let path = path.display();
        Error::Usage(format!("{path}: expected what a checkpoint wrote, found other bytes; name another folder"))
    }

    /// The error for a state that this run cannot have written.
    pub fn damaged_state(&self) -> Error {
        self.damaged(STATE)
    }

    /// Removes blocks that no state names.
    fn remove_others(&self, directory: &Directory) -> Result<()> {
        let serial = |name: &str| name.strip_prefix(BLOCK)?.parse::<u64>().ok();
        for name in directory.names("")? {
            let is_known = name.to_str().and_then(serial).is_none_or(|serial| self.blocks.contains_key(&serial));
            if !is_known {
                self.runtime.backend().remove(&self.folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Whether it is time to write.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Writes the blocks that changed, and the state that a resumed run begins with.
    ///
    /// # Errors
    /// Errors of the operating system, such as a full disk.
    pub fn save(&mut self, blocks: &mut dyn Blocks, words: &Words) -> Result<()> {
        let (start, backend) = (Instant::now(), self.runtime.backend());
        self.reservation = None;
        if !self.is_begun {
            self.write_state(self.state_of(0))?;
            self.is_begun = true;
        }
        let mut known = BTreeMap::new();
        let serials = blocks.serials();
        let mut state = self.state_of(serials.len());
        for (block, serial) in serials.into_iter().enumerate() {
            let checksum = match self.blocks.get(&serial) {
                Some(&checksum) => checksum,
                None => self.write_block(blocks, block, serial)?,
            };
            known.insert(serial, checksum);
            state.extend(serial.to_le_bytes().into_iter().chain(u64::from(checksum).to_le_bytes()));
        }
        state.extend(words.words.iter().flat_map(|word| word.to_le_bytes()));
        backend.sync_directory(&self.folder)?;
        self.write_state(state)?;
        let old: Vec<u64> = self.blocks.keys().copied().filter(|serial| !known.contains_key(serial)).collect();
        self.blocks = known;
        for serial in old {
            backend.remove(&self.folder.join(format!("{BLOCK}{serial}")))?;
        }
        self.reservation = Some(hold(self.runtime)?);
        self.due = Instant::now() + (start.elapsed() * PAUSE).max(Duration::from_millis(1));
        Ok(())
    }

    /// The beginning of a state that names this number of blocks.
    fn state_of(&self, blocks: usize) -> Vec<u8> {
        let title = format!("{TITLE}\n{}\n", self.run).into_bytes();
        title.into_iter().chain((blocks as u64).to_le_bytes()).collect()
    }

    /// Replaces the state, with its checksum.
    fn write_state(&self, mut state: Vec<u8>) -> Result<()> {
        state.extend(crc32c::crc32c(&state).to_le_bytes());
        write_file(self.runtime, &self.folder.join(STATE), &state)
    }

    fn write_block(&self, blocks: &mut dyn Blocks, block: usize, serial: u64) -> Result<u32> {
        let path = self.folder.join(format!("{BLOCK}{serial}"));
        let mut writer = Writer::create(self.runtime, "a checkpoint", &path, BUFFER_BYTES)?;
        let mut checksum = 0;
        blocks.give(block, &mut |numbers| {
            let bytes = raw_bytes(numbers);
            checksum = crc32c::crc32c_append(checksum, bytes);
            Ok(writer.put(bytes)?)
        })?;
        writer.finish()?;
        Ok(checksum)
    }
}

/// Memory reserved for writing.
fn hold(runtime: &Runtime) -> Result<Reservation> {
    Ok(runtime.budget().reserve("a checkpoint", 2 * BUFFER_BYTES as u64)?)
}

/// A checksum that identifies an operator.
fn fingerprint<'a>(operator: &dyn Operator<'a>) -> Result<u32> {
    let width = if operator.matrix().is_complex() { 2 } else { 1 };
    let space = space(operator, width);
    let vector = |rows| Array::zeroed(space.runtime.budget(), "vectors that tell matrices apart", rows * width);
    let (mut factor, mut product) = (vector(space.rows)?, vector(operator.shape().0)?);
    space.randomize(&mut factor, |_| true, 0)?;
    operator.apply(&factor, width, &mut product)?;
    Ok(crc32c::crc32c(raw_bytes(&product[..])))
}
