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
use outcore_io::{Buffer, Directory, Reservation, Runtime, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const STATE: &str = "state";
const BLOCK: &str = "block-";
/// The first line of a state.
const TITLE: &str = "outcore checkpoint 2";
/// Pause between two writes, in units of the duration of the last one.
const PAUSE: u32 = 20;
const BUFFER_BYTES: usize = 256 << 10;
/// More bytes than the lines of text at the beginning of a state have.
const TEXT_BYTES: u64 = 4 << 10;

/// A callback that fills a slice with the next numbers of a block.
pub(crate) type Get<'g> = &'g mut dyn FnMut(&mut [f64]) -> Result<()>;
/// A callback that takes the next numbers of a block.
pub(crate) type Put<'p> = &'p mut dyn FnMut(&[f64]) -> Result<()>;

/// Blocks of numbers for a checkpoint. Each has a serial number that is unique, and new whenever the block changes.
pub(crate) trait Blocks {
    fn serials(&self) -> Vec<u64>;

    /// Passes the numbers of a block to `put`, in an order that depends on its size alone.
    fn give(&mut self, block: usize, put: Put<'_>) -> Result<()>;

    /// Appends a block whose numbers come from `get`, in the order of [`Blocks::give`].
    fn take(&mut self, serial: u64, get: Get<'_>) -> Result<()>;
}

/// A run that can be stopped and resumed: its blocks, and the rest of its state.
pub(crate) trait Resumable {
    fn blocks(&mut self) -> &mut dyn Blocks;

    /// Writes the state without the blocks to `words`, or reads it from them, in one order. None if it does not fit.
    fn state(&mut self, words: &mut Words) -> Option<()>;
}

/// Numbers of a state, in their order. Each function writes its argument, or reads it if there is a position to read
/// from; none if it does not fit.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<u64>,
    position: Option<usize>,
}

impl Words {
    pub fn word(&mut self, word: &mut u64) -> Option<()> {
        match &mut self.position {
            Some(position) => {
                *word = *self.words.get(*position)?;
                *position += 1;
            }
            None => self.words.push(*word),
        }
        Some(())
    }

    pub fn number(&mut self, number: &mut f64) -> Option<()> {
        let mut bits = number.to_bits();
        self.word(&mut bits)?;
        *number = f64::from_bits(bits);
        Some(())
    }

    fn count(&mut self, count: usize) -> Option<()> {
        let mut word = count as u64;
        self.word(&mut word)?;
        (word == count as u64).then_some(())
    }

    /// Numbers whose count is known.
    pub fn slice(&mut self, numbers: &mut [f64]) -> Option<()> {
        self.count(numbers.len())?;
        numbers.iter_mut().try_for_each(|number| self.number(number))
    }

    /// Numbers whose count is part of the state.
    pub fn list(&mut self, numbers: &mut Vec<f64>) -> Option<()> {
        if let Some(&count) = self.position.and_then(|position| self.words.get(position)) {
            numbers.resize(usize::try_from(count).ok().filter(|&count| count < self.words.len())?, 0.0);
        }
        self.slice(numbers)
    }

    pub fn matrix(&mut self, matrix: &mut Mat<f64>) -> Option<()> {
        self.count(matrix.ncols())?;
        (0..matrix.ncols()).try_for_each(|column| self.slice(matrix.col_as_slice_mut(column)))
    }
}

/// Restores a run from its checkpoint; returns whether there was one.
///
/// # Errors
/// Those of [`Checkpoint::load`]; a state that this run cannot have written.
pub(crate) fn resume(checkpoint: &mut Option<Checkpoint<'_>>, run: &mut dyn Resumable) -> Result<bool> {
    let Some(checkpoint) = checkpoint else { return Ok(false) };
    let mut fresh = Words::default();
    run.state(&mut fresh).ok_or_else(|| checkpoint.damaged(STATE))?;
    checkpoint.reserve_state(8 * fresh.words.len() as u64)?;
    drop(fresh);
    let Some(mut words) = checkpoint.load(run.blocks())? else { return Ok(false) };
    run.state(&mut words).ok_or_else(|| checkpoint.damaged(STATE))?;
    Ok(true)
}

/// Writes the checkpoint of a run, if there is one and it is time to.
///
/// # Errors
/// Those of [`Checkpoint::save`].
pub(crate) fn save_if_due(checkpoint: &mut Option<Checkpoint<'_>>, run: &mut dyn Resumable) -> Result<()> {
    let Some(checkpoint) = checkpoint.as_mut().filter(|checkpoint| Instant::now() >= checkpoint.due) else {
        return Ok(());
    };
    let mut words = Words::default();
    run.state(&mut words).ok_or_else(|| checkpoint.damaged(STATE))?;
    checkpoint.save(run.blocks(), &words.words)
}

/// The checkpoint of a run: its folder, and the blocks in it.
pub(crate) struct Checkpoint<'a> {
    runtime: &'a Runtime,
    folder: PathBuf,
    /// Text that identifies the run.
    run: String,
    is_begun: bool,
    /// The blocks that are in the folder, with their checksums.
    blocks: BTreeMap<u64, u32>,
    due: Instant,
    /// Memory reserved for writing, while nothing is written.
    reservation: Option<Reservation>,
    /// Memory reserved for a state, as bytes and as numbers.
    state: Option<Reservation>,
    _lock: Option<Lock>,
}

impl<'a> Checkpoint<'a> {
    /// Opens a folder, or creates it; nothing without a folder. `run` describes the computation with the operator.
    ///
    /// # Errors
    /// Another run uses the folder; errors of the operating system; no memory for two vectors.
    pub fn open(operator: &dyn Operator<'a>, folder: Option<&Path>, run: &str) -> Result<Option<Self>> {
        let Some(folder) = folder else { return Ok(None) };
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
        let (reservation, due) = (Some(hold(runtime)?), Instant::now());
        let (is_begun, state) = (false, None);
        Ok(Some(Checkpoint { runtime, folder, run, is_begun, blocks, due, reservation, state, _lock: lock }))
    }

    /// The stored state, if any.
    ///
    /// # Errors
    /// A state of another run, or a damaged one.
    fn load(&mut self, blocks: &mut dyn Blocks) -> Result<Option<Words>> {
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
        let file = directory.file(STATE)?;
        let mut text = vec![0; TEXT_BYTES.min(file.len_bytes()) as usize];
        file.read_at(&mut text, 0).map_err(|_| self.damaged(STATE))?;
        self.check_text(&text)?;
        self.reserve_state(file.len_bytes())?;
        let (serials, words) = self.read_state(&file.read_whole()?)?;
        let is_complete = words.position < Some(words.words.len());
        if is_complete {
            for (serial, checksum) in serials {
                self.read_block(&directory, serial, checksum, blocks)?;
            }
        }
        self.remove_others(&directory)?;
        Ok(is_complete.then_some(words))
    }

    /// Reserves the memory of a state of this size, unless that of a greater one is reserved.
    fn reserve_state(&mut self, bytes: u64) -> Result<()> {
        let bytes = bytes.saturating_mul(2);
        if self.state.as_ref().is_none_or(|state| state.bytes() < bytes) {
            self.state = None;
            self.state = Some(self.runtime.budget().reserve("the state of a checkpoint", bytes)?);
        }
        Ok(())
    }

    /// Refuses a state that begins with other lines than those of this run.
    fn check_text(&self, bytes: &[u8]) -> Result<()> {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let (title, run) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let folder = self.folder.display();
        // An empty state is damaged, which its checksum shows.
        if !bytes.is_empty() && title != TITLE.as_bytes() {
            return Err(Error::Usage(format!(
                "{folder}: expected a checkpoint that begins with \"{TITLE}\", found one of another version, or \
                 damaged; name another folder"
            )));
        }
        if bytes.is_empty() || run == self.run.as_bytes() {
            return Ok(());
        }
        let found = String::from_utf8_lossy(run);
        Err(Error::Usage(format!(
            "{folder}: expected a checkpoint of this run ({}), found one of another ({found}); name another folder",
            self.run
        )))
    }

    /// The blocks that a state names, with their checksums, and the rest of it.
    fn read_state(&self, bytes: &[u8]) -> Result<(Vec<(u64, u32)>, Words)> {
        let (body, checksum) = bytes.split_last_chunk::<4>().ok_or_else(|| self.damaged(STATE))?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*checksum) {
            return Err(self.damaged(STATE));
        }
        let mut lines = body.splitn(3, |&byte| byte == b'\n').skip(2);
        let words = lines.next().unwrap_or_default().as_chunks().0;
        let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let (&count, rest) = words.split_first().unwrap_or((&0, &[]));
        let blocks =
            rest.as_chunks().0.iter().take(count as usize).map(|&[serial, checksum]| (serial, checksum as u32));
        let blocks: Vec<_> = blocks.collect();
        if blocks.len() as u64 != count {
            return Err(self.damaged(STATE));
        }
        let position = Some(1 + 2 * blocks.len());
        Ok((blocks, Words { words, position }))
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

    /// Writes the blocks that changed, and the state that a resumed run begins with.
    ///
    /// # Errors
    /// Errors of the operating system, such as a full disk.
    fn save(&mut self, blocks: &mut dyn Blocks, words: &[u64]) -> Result<()> {
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
        state.extend(words.iter().flat_map(|word| word.to_le_bytes()));
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
            writer.put(bytes)
        })?;
        writer.finish()?;
        Ok(checksum)
    }
}

/// Memory reserved for writing.
fn hold(runtime: &Runtime) -> Result<Reservation> {
    runtime.budget().reserve("a checkpoint", 2 * BUFFER_BYTES as u64)
}

/// A checksum that identifies an operator.
fn fingerprint(operator: &dyn Operator<'_>) -> Result<u32> {
    let width = if operator.matrix().is_complex() { 2 } else { 1 };
    let space = space(operator, width);
    let vector = |rows| Buffer::zeroed(space.runtime.budget(), "vectors that tell matrices apart", rows * width);
    let (mut factor, mut product) = (vector(space.rows)?, vector(operator.shape().0)?);
    space.randomize(&mut factor, |_| true, 0)?;
    operator.apply(&factor, width, &mut product)?;
    Ok(crc32c::crc32c(raw_bytes(&product[..])))
}
