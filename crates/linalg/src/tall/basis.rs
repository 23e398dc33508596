//! The vectors of a subspace: blocks of one width, in memory as far as there is room, otherwise in a temporary file.
//!
//! A block on its way out of memory is the oldest, for what comes next needs the last ones. Where a block lies changes
//! no bit: all are worked on stripe by stripe, in pieces.

use crate::checkpoint::{Blocks, Get, Put};
use crate::operator::Operator;
use crate::tall::kernels::{MOST_WIDTH, Square, TILE_ROWS, add_product, dots, multiply, strip_columns};
use crate::tall::{Space, ZERO, added, pick};
use faer::{Mat, MatRef};
use outcore_graph::{Graph, PAGE_BYTES};
use outcore_image::Result;
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{Buffer, Spill, folder, lock};
use std::ops::{DerefMut, Range};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const PURPOSE: &str = "vectors of a subspace";
/// Approximate bytes of rows of all blocks that each worker holds while the blocks are multiplied by a small matrix.
const TURNED_BYTES: usize = 4 << 20;

/// Number of parts of the rows that a worker multiplies by a small matrix: all end at about the same time.
const PARTS_PER_WORKER: usize = 4;

/// Numbers in memory, or in a temporary file from this offset on.
pub(crate) enum Stored<T> {
    Memory(T),
    Disk(u64),
}

impl<T: DerefMut<Target = [f64]>> Stored<T> {
    /// The numbers at a place; those of a file are read into `buffer`.
    pub fn read<'b>(&'b self, spill: Option<&Spill>, place: Range<usize>, buffer: &'b mut [f64]) -> Result<&'b [f64]> {
        match self {
            Stored::Memory(numbers) => Ok(&numbers[place]),
            Stored::Disk(offset_bytes) => {
                let buffer = &mut buffer[..place.len()];
                file(spill).read(raw_bytes_mut(buffer), offset_bytes + 8 * place.start as u64)?;
                Ok(buffer)
            }
        }
    }

    /// Overwrites the numbers at a place.
    fn write(&mut self, spill: Option<&Spill>, place: Range<usize>, numbers: &[f64]) -> Result<()> {
        match self {
            Stored::Memory(all) => all[place].copy_from_slice(numbers),
            Stored::Disk(offset_bytes) => {
                file(spill).write(raw_bytes(numbers), *offset_bytes + 8 * place.start as u64)?;
            }
        }
        Ok(())
    }
}

impl Stored<Buffer<f64>> {
    /// Appends each stripe, or other part, of `numbers` numbers to one of the lists; `all` numbers are in use.
    pub fn push_stripes<'b>(&'b mut self, all: usize, numbers: usize, stripes: &mut [Vec<Stored<&'b mut [f64]>>]) {
        match self {
            Stored::Memory(block) => {
                let parts = block[..all].chunks_mut(numbers.max(1));
                stripes.iter_mut().zip(parts).for_each(|(stripe, part)| stripe.push(Stored::Memory(part)));
            }
            Stored::Disk(offset_bytes) => {
                let offsets = (*offset_bytes..).step_by(8 * numbers.max(1));
                stripes.iter_mut().zip(offsets).for_each(|(stripe, offset)| stripe.push(Stored::Disk(offset)));
            }
        }
    }
}

/// The temporary file of numbers that are not in memory.
pub(crate) fn file(spill: Option<&Spill>) -> &Spill {
    let Some(spill) = spill else { unreachable!("what is on disk is in a file") };
    spill
}

/// The temporary file, which is created if there is none yet.
pub(crate) fn open_spill<'s>(spill: &'s mut Option<Spill>, space: &Space, path: &Path) -> Result<&'s Spill> {
    match spill {
        Some(spill) => Ok(spill),
        none => Ok(none.insert(Spill::create(space.runtime.backend(), path)?)),
    }
}

/// Destination of the blocks of a basis.
pub(crate) struct Room {
    /// The folder of the temporary file.
    pub folder: PathBuf,
    /// Memory that blocks leave free where they can.
    pub left_bytes: u64,
}

impl Room {
    /// The folder of the image, or the one set in the runtime; memory for the pages of a whole product stays free.
    pub fn of(operator: &dyn Operator<'_>) -> Self {
        Room { folder: temporary_folder(operator.matrix().graph()), left_bytes: PAGE_BYTES * operator.pages() }
    }
}

/// Folder of temporary files of vectors: that of the image, or the one set in the runtime.
pub(crate) fn temporary_folder(graph: &Graph) -> PathBuf {
    graph.runtime().temporary().map_or(folder(graph.path()), |temporary| temporary).to_owned()
}

/// Writes a block to its place in a file.
pub(crate) fn write_block(space: &Space, block: &[f64], spill: &Spill, offset_bytes: u64) -> Result<()> {
    space.stripes(|_, rows| {
        let place = space.place(&rows);
        spill.write(raw_bytes(&block[place.clone()]), offset_bytes + 8 * place.start as u64)
    })?;
    Ok(())
}

/// Blocks of vectors.
pub(crate) struct Basis {
    pub space: Space,
    room: Room,
    blocks: Vec<Stored<Buffer<f64>>>,
    /// A serial number of each block, which is unique, and new whenever the block changes.
    serials: Vec<u64>,
    next_serial: u64,
    idle: Vec<Buffer<f64>>,
    spill: Option<Spill>,
    /// Places of the file that no block uses.
    free: Vec<u64>,
    most_blocks: usize,
    buffers: Vec<Mutex<Buffer<f64>>>,
}

impl Basis {
    /// An empty basis for this number of blocks.
    pub fn new(space: Space, room: Room, most_blocks: usize) -> Result<Self> {
        let buffers = per_worker(&space, "pieces of vectors", space.piece_rows().min(space.rows) * space.width)?;
        let (blocks, serials) = (Vec::with_capacity(most_blocks), Vec::with_capacity(most_blocks));
        let (idle, free) = (Vec::new(), Vec::new());
        Ok(Basis { space, room, blocks, serials, next_serial: 0, idle, spill: None, free, most_blocks, buffers })
    }

    /// Least bytes of memory for a basis of this number of blocks.
    pub fn least_bytes(space: &Space, most_blocks: usize) -> u64 {
        let turned_bytes = Basis::turned_bytes(space, most_blocks);
        Basis::pieces_bytes(space) + (2 * space.block_bytes()).max(space.block_bytes() + turned_bytes)
    }

    /// Bytes of memory beside the blocks while they are multiplied by a small matrix.
    pub fn turned_bytes(space: &Space, most_blocks: usize) -> u64 {
        8 * (space.runtime.threads() * turned_numbers(space, most_blocks)) as u64
    }

    /// Moves blocks out of memory as [`Basis::leave`] does, until others can be multiplied by a small matrix.
    pub fn leave_to_turn(&mut self, other: &Basis) -> Result<()> {
        self.leave(Basis::turned_bytes(&other.space, other.most_blocks))
    }

    /// Bytes of memory in use beside the blocks.
    pub fn pieces_bytes(space: &Space) -> u64 {
        space.runtime.threads() as u64 * Basis::piece_bytes(space)
    }

    /// Bytes of a piece of a block.
    pub fn piece_bytes(space: &Space) -> u64 {
        8 * (space.piece_rows().min(space.rows) * space.width) as u64
    }

    /// Gives back the memory of all workers but the first, who alone reads finished vectors.
    pub fn finish(&mut self) {
        self.idle.clear();
        self.buffers.truncate(1);
    }

    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The last block, which is in memory.
    pub fn last(&self) -> &[f64] {
        match self.blocks.last() {
            Some(Stored::Memory(block)) => block,
            _ => unreachable!("a block is in memory while it is the last"),
        }
    }

    /// Memory for a block, with any numbers in it.
    ///
    /// # Errors
    /// There is none, and no block is in memory that is not the last.
    pub fn fresh(&mut self) -> Result<Buffer<f64>> {
        if let Some(idle) = self.idle.pop() {
            return Ok(idle);
        }
        let (runtime, bytes) = (self.space.runtime.clone(), self.space.block_bytes());
        let budget = runtime.budget();
        let in_memory = self.blocks.iter().filter(|block| matches!(block, Stored::Memory(_))).count();
        let left_bytes = if in_memory > 1 { self.room.left_bytes } else { 0 };
        let has_room = budget.available_bytes() >= bytes.saturating_add(left_bytes);
        if !has_room && let Some(array) = self.evict(1)? {
            return Ok(array);
        }
        Buffer::zeroed(budget, PURPOSE, self.space.numbers())
    }

    /// Gives memory back that [`Basis::fresh`] gave.
    pub fn give_back(&mut self, block: Buffer<f64>) {
        self.idle.push(block);
    }

    pub fn push(&mut self, block: Buffer<f64>) {
        self.push_as(block, self.next_serial);
    }

    /// Appends a block that had this number in another run.
    fn push_as(&mut self, block: Buffer<f64>, serial: u64) {
        self.blocks.push(Stored::Memory(block));
        self.serials.push(serial);
        self.next_serial = self.next_serial.max(serial + 1);
    }

    /// Removes all blocks from this one on.
    pub fn truncate(&mut self, count: usize) {
        self.serials.truncate(count);
        for block in self.blocks.drain(count..) {
            match block {
                Stored::Memory(block) => self.idle.push(block),
                Stored::Disk(offset_bytes) => self.free.push(offset_bytes),
            }
        }
    }

    pub fn pop(&mut self) -> Option<Buffer<f64>> {
        self.serials.pop();
        match self.blocks.pop() {
            Some(Stored::Memory(block)) => Some(block),
            _ => None,
        }
    }

    /// Moves blocks out of memory until this much is free, as far as there are any.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        self.leave_beside(0, bytes)
    }

    /// Moves blocks out of memory until this much is free, as far as there are any; this number of last blocks stays.
    pub fn leave_beside(&mut self, last: usize, bytes: u64) -> Result<()> {
        self.idle.clear();
        while self.space.runtime.budget().available_bytes() < bytes && self.evict(last)?.is_some() {}
        Ok(())
    }

    /// Moves the oldest block that is in memory into the file; this number of last blocks is never moved.
    fn evict(&mut self, last: usize) -> Result<Option<Buffer<f64>>> {
        let older = self.blocks.len().saturating_sub(last);
        let Some(oldest) = self.blocks[..older].iter().position(|block| matches!(block, Stored::Memory(_))) else {
            return Ok(None);
        };
        let spill = open_spill(&mut self.spill, &self.space, &self.room.folder.join("outcore-vectors"))?;
        let offset_bytes = self.free.pop().unwrap_or_else(|| spill.take(self.space.block_bytes()));
        if let Stored::Memory(block) = &self.blocks[oldest] {
            write_block(&self.space, block, spill, offset_bytes)?;
        }
        match std::mem::replace(&mut self.blocks[oldest], Stored::Disk(offset_bytes)) {
            Stored::Memory(block) => Ok(Some(block)),
            Stored::Disk(_) => Ok(None),
        }
    }

    /// Calls `work` with a piece of a block.
    fn with_piece<T>(
        &self,
        worker: usize,
        block: usize,
        rows: &Range<usize>,
        work: impl FnOnce(&[f64]) -> T,
    ) -> Result<T> {
        let place = self.space.place(rows);
        match &self.blocks[block] {
            Stored::Memory(numbers) => Ok(work(&numbers[place])),
            disk => Ok(work(disk.read(self.spill.as_ref(), place, &mut lock(&self.buffers[worker])[..])?)),
        }
    }

    /// The dot products of all vectors of some blocks with the columns of another block, one small matrix per block.
    pub fn dots(&self, blocks: Range<usize>, other: &[f64]) -> Result<Vec<Square>> {
        let space = &self.space;
        // Sums of a block do not depend on others: where stripes are few, workers share the blocks.
        let groups = space.tasks_per_stripe(blocks.len() * space.width).min(blocks.len().max(1));
        let group_blocks = blocks.len().div_ceil(groups).max(1);
        let (stripe_rows, stripes) = space.empty_stripes::<Vec<Square>>();
        let sums = space.tasks(stripes.len() * groups, |worker, task| {
            let first = (blocks.start + task % groups * group_blocks).min(blocks.end);
            let group = first..blocks.end.min(first + group_blocks);
            let start = task / groups * stripe_rows;
            let mut sums = vec![ZERO; group.len()];
            for piece in space.pieces(start..space.rows.min(start + stripe_rows), space.piece_rows()) {
                let other = &other[space.place(&piece)];
                for (block, sums) in group.clone().zip(&mut sums) {
                    self.with_piece(worker, block, &piece, |block| dots(space.width, block, other, sums))?;
                }
            }
            Ok(sums)
        })?;
        let mut totals = vec![ZERO; blocks.len()];
        for stripe in sums.chunks(groups) {
            totals.iter_mut().zip(stripe.iter().flatten()).for_each(|(total, sum)| *total = added(total, sum));
        }
        Ok(totals.into_iter().map(|total| space.finished(total)).collect())
    }

    /// Subtracts the products of some blocks with small matrices from another block.
    pub fn subtract(&self, blocks: Range<usize>, factors: &[Square], other: &mut [f64]) -> Result<()> {
        let space = &self.space;
        let negative = |square: &Square| square.map(|row| row.map(|number| -number));
        let factors: Vec<_> = factors.iter().map(negative).collect();
        let tasks = space.tasks_per_stripe((blocks.len() + 1) * space.width);
        space.parts_of(other, tasks, |worker, rows, other| {
            let first = rows.start;
            for piece in space.pieces(rows, space.piece_rows()) {
                let other = &mut other[(piece.start - first) * space.width..(piece.end - first) * space.width];
                for (block, factor) in blocks.clone().zip(&factors) {
                    self.with_piece(worker, block, &piece, |block| add_product(space.width, block, factor, other))?;
                }
            }
            Ok(())
        })
    }

    /// Projects the space of some blocks out of another block; returns the coefficients of each of these blocks.
    pub fn project_out(&self, blocks: Range<usize>, other: &mut [f64]) -> Result<Vec<Square>> {
        let shares = self.dots(blocks.clone(), other)?;
        self.subtract(blocks, &shares, other)?;
        Ok(shares)
    }

    /// Replaces all blocks by their product with `factor`, whose columns are at most as many as the vectors, in whole
    /// blocks.
    pub fn rotate(&mut self, factor: &Mat<f64>) -> Result<()> {
        let (space, width) = (self.space.clone(), self.space.width);
        let (all, count) = (self.blocks.len(), factor.ncols() / width);
        let most_blocks = self.most_blocks.max(all);
        let numbers = turned_numbers(&space, most_blocks);
        self.leave(8 * (space.runtime.threads() * numbers) as u64)?;
        let memory = per_worker(&space, "turned vectors", numbers)?;
        let rows = turned_rows(&space, most_blocks);
        // No row depends on another, so that parts need not be stripes.
        let parts = PARTS_PER_WORKER * space.runtime.threads();
        let part_rows = space.rows.div_ceil(parts).next_multiple_of(rows.max(1)).max(1);
        let mut parts: Vec<_> = (0..space.rows.div_ceil(part_rows)).map(|_| Vec::with_capacity(all)).collect();
        for block in &mut self.blocks {
            block.push_stripes(space.numbers(), part_rows * width, &mut parts);
        }
        let parts: Vec<_> = parts.into_iter().map(Mutex::new).collect();
        let turn = Turn::new(&space, self.spill.as_ref(), rows, factor.get(..all * width, ..count * width));
        space.tasks(parts.len(), |worker, part| {
            let rows = part * part_rows..space.rows.min((part + 1) * part_rows);
            turn.part(rows, &mut lock(&parts[part]), &mut lock(&memory[worker]))
        })?;
        drop(parts);
        self.truncate(count);
        self.serials = (self.next_serial..).take(count).collect();
        self.next_serial += count as u64;
        Ok(())
    }

    pub fn copy(&self, block: usize, copy: &mut [f64]) -> Result<()> {
        let space = &self.space;
        space.stripes_of(copy, |worker, rows, copy| {
            for piece in space.pieces(rows.clone(), space.piece_rows()) {
                let at = (piece.start - rows.start) * space.width;
                let copy = &mut copy[at..at + piece.len() * space.width];
                self.with_piece(worker, block, &piece, |numbers| copy.copy_from_slice(numbers))?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Copies some columns of adjacent rows, row by row.
    pub fn copy_rows(&self, rows: Range<usize>, columns: &Range<usize>, copy: &mut [f64]) -> Result<()> {
        let (width, first) = (self.space.width, rows.start);
        for piece in self.space.pieces(rows, self.space.piece_rows()) {
            let copy = &mut copy[(piece.start - first) * columns.len()..(piece.end - first) * columns.len()];
            for block in columns.start / width..columns.end.div_ceil(width) {
                self.with_piece(0, block, &piece, |numbers| pick(numbers, block * width, width, columns, copy))?;
            }
        }
        Ok(())
    }

    /// Calls `work` with pieces of all blocks: the rows, and each block's numbers of them.
    pub fn for_each_piece(&self, mut work: impl FnMut(Range<usize>, usize, &[f64]) -> Result<()>) -> Result<()> {
        for piece in self.space.pieces(0..self.space.rows, self.space.piece_rows()) {
            for block in 0..self.blocks.len() {
                self.with_piece(0, block, &piece, |numbers| work(piece.clone(), block, numbers))??;
            }
        }
        Ok(())
    }
}

impl Blocks for Basis {
    fn serials(&self) -> Vec<u64> {
        self.serials.clone()
    }

    fn give(&mut self, block: usize, put: Put<'_>) -> Result<()> {
        for piece in self.space.pieces(0..self.space.rows, self.space.piece_rows()) {
            self.with_piece(0, block, &piece, &mut *put)??;
        }
        Ok(())
    }

    fn take(&mut self, serial: u64, get: Get<'_>) -> Result<()> {
        let mut block = self.fresh()?;
        get(&mut block)?;
        self.push_as(block, serial);
        Ok(())
    }
}

/// A zeroed array of this length for each worker.
pub(crate) fn per_worker(space: &Space, purpose: &str, numbers: usize) -> Result<Vec<Mutex<Buffer<f64>>>> {
    let budget = space.runtime.budget();
    (0..space.runtime.threads()).map(|_| Ok(Mutex::new(Buffer::zeroed(budget, purpose, numbers)?))).collect()
}

/// Number of rows of all blocks that a worker holds while they are multiplied by a small matrix: whole tiles.
fn turned_rows(space: &Space, most_blocks: usize) -> usize {
    let row_bytes = 8 * (most_blocks + 1) * space.width;
    let rows = (TURNED_BYTES / row_bytes).max(64).min(space.rows.div_ceil(space.runtime.threads()));
    rows.next_multiple_of(TILE_ROWS)
}

/// Numbers that a worker holds then: these rows of all blocks, those of one more, and a tile of the product.
fn turned_numbers(space: &Space, most_blocks: usize) -> usize {
    let columns = most_blocks * space.width;
    turned_rows(space, most_blocks) * (columns + space.width) + TILE_ROWS * columns.next_multiple_of(MOST_WIDTH)
}

/// Blocks while they are multiplied by a small matrix.
///
/// *Encoding.* Some rows of all blocks are packed in tiles of [`TILE_ROWS`], column by column, and the matrix in strips
/// of a few columns, row by row, so that a tile of the product is summed in registers. It overwrites the tile that it
/// is the product of. A sum has the order of the columns, whatever the tiles and strips are.
struct Turn<'b> {
    space: &'b Space,
    spill: Option<&'b Spill>,
    /// Number of rows that are packed together.
    rows: usize,
    /// Number of columns of all blocks, and of their product.
    columns: [usize; 2],
    strip_columns: usize,
    /// The matrix; the last strip has zeros behind the last column.
    strips: Vec<f64>,
}

impl<'b> Turn<'b> {
    fn new(space: &'b Space, spill: Option<&'b Spill>, rows: usize, factor: MatRef<'_, f64>) -> Self {
        let (columns, strip_columns) = ([factor.nrows(), factor.ncols()], strip_columns());
        let entry = |row, column| if column < columns[1] { factor[(row, column)] } else { 0.0 };
        let strip = |first| (0..columns[0]).flat_map(move |row| (first..first + strip_columns).map(move |k| (row, k)));
        let places = (0..columns[1]).step_by(strip_columns).flat_map(strip);
        let strips = places.map(|(row, column)| entry(row, column)).collect();
        Turn { space, spill, rows, columns, strip_columns, strips }
    }

    /// Replaces some rows of all blocks.
    fn part(&self, rows: Range<usize>, blocks: &mut [Stored<&mut [f64]>], memory: &mut [f64]) -> Result<()> {
        let (width, [columns, of_product]) = (self.space.width, self.columns);
        let (tile_numbers, block_numbers) = (TILE_ROWS * columns, TILE_ROWS * width);
        let (tiles, memory) = memory.split_at_mut(self.rows * columns);
        let (staging, product) = memory.split_at_mut(self.rows * width);
        for piece in self.space.pieces(rows.clone(), self.rows) {
            self.space.runtime.cancel().check()?;
            let (numbers, start) = (piece.len() * width, (piece.start - rows.start) * width);
            let tiles = &mut tiles[..piece.len().div_ceil(TILE_ROWS) * tile_numbers];
            for (block, stored) in blocks.iter().enumerate() {
                let numbers = stored.read(self.spill, start..start + numbers, staging)?;
                for (rows, tile) in numbers.chunks(block_numbers).zip(tiles.chunks_exact_mut(tile_numbers)) {
                    pack(width, rows, &mut tile[block * block_numbers..][..block_numbers]);
                }
            }
            for tile in tiles.chunks_exact_mut(tile_numbers) {
                let products = product.chunks_exact_mut(TILE_ROWS * self.strip_columns);
                for (strip, product) in self.strips.chunks_exact(columns * self.strip_columns).zip(products) {
                    multiply(self.strip_columns, tile, strip, product);
                }
                tile[..TILE_ROWS * of_product].copy_from_slice(&product[..TILE_ROWS * of_product]);
            }
            for (block, stored) in blocks.iter_mut().enumerate().take(of_product / width) {
                let staging = &mut staging[..numbers];
                for (rows, tile) in staging.chunks_mut(block_numbers).zip(tiles.chunks_exact(tile_numbers)) {
                    unpack(width, &tile[block * block_numbers..][..block_numbers], rows);
                }
                stored.write(self.spill, start..start + numbers, staging)?;
            }
        }
        Ok(())
    }
}

/// Copies the rows of a block, a tile at most, to columns.
fn pack(width: usize, rows: &[f64], columns: &mut [f64]) {
    for (row, numbers) in rows.chunks_exact(width).enumerate() {
        let places = columns[row..].iter_mut().step_by(TILE_ROWS);
        places.zip(numbers).for_each(|(place, &number)| *place = number);
    }
}

/// Copies columns back to rows.
fn unpack(width: usize, columns: &[f64], rows: &mut [f64]) {
    for (row, numbers) in rows.chunks_exact_mut(width).enumerate() {
        let places = columns[row..].iter().step_by(TILE_ROWS);
        numbers.iter_mut().zip(places).for_each(|(number, &place)| *number = place);
    }
}
