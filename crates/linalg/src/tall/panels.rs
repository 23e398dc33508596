//! Tall matrices of some dozens of columns, in memory or in a temporary file.
//!
//! *Encoding.* Columns lie in panels, row by row, as many of them as one pass multiplies. The width of a panel is a
//! power of two, and what is behind the last column is zero: so a panel is multiplied without being copied. What works
//! on whole rows takes pieces of all panels, as blocks of the width that kernels have. How wide panels are and where
//! they lie changes no bit.

use crate::checkpoint::{Get, Put};
use crate::tall::basis::{Stored, file, open_spill, write_block};
use crate::tall::kernels::MOST_WIDTH;
use crate::tall::{Space, pick};
use outcore_image::Result;
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{Buffer, Spill, lock};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

const PURPOSE: &str = "panels of tall matrices";
/// Numbers of a piece: a few pieces stay in the processor's cache.
const PIECE_NUMBERS: usize = 1 << 15;

/// Layout of columns in panels and blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub columns: usize,
    /// The columns of a panel, a power of two; the last may have fewer.
    pub panel_columns: usize,
    pub piece_rows: usize,
}

impl Layout {
    /// The layout of `columns` columns, for matrices of at most `most_rows` rows.
    pub fn new(columns: usize, panel_columns: usize, most_rows: usize) -> Self {
        let layout = Layout { columns, panel_columns, piece_rows: 1 };
        let piece_rows = PIECE_NUMBERS / (layout.blocks() * layout.block_width());
        Layout { piece_rows: piece_rows.min(most_rows.max(1)), ..layout }
    }

    pub fn panels(self) -> usize {
        self.columns.div_ceil(self.panel_columns)
    }

    /// The columns of a panel, with those of zeros.
    pub fn width(self, panel: usize) -> usize {
        self.panel_columns.min((self.columns - panel * self.panel_columns).next_power_of_two())
    }

    /// The columns of all panels.
    pub fn padded_columns(self) -> usize {
        (0..self.panels()).map(|panel| self.width(panel)).sum()
    }

    pub fn block_width(self) -> usize {
        MOST_WIDTH.min(self.columns.next_power_of_two())
    }

    pub fn blocks(self) -> usize {
        self.columns.div_ceil(self.block_width())
    }

    pub fn block_numbers(self) -> usize {
        self.piece_rows * self.block_width()
    }

    pub fn piece_numbers(self) -> usize {
        self.blocks() * self.block_numbers()
    }

    /// Bytes of a piece of a panel.
    pub fn buffer_bytes(self) -> u64 {
        8 * (self.piece_rows * self.panel_columns) as u64
    }

    /// Calls `work` with the runs of columns that are adjacent in a panel and in a block: their number, the first one
    /// in the panel, the block, and the first one in the block. Columns of the panel behind the last block are zero.
    fn for_each_part(self, panel: usize, mut work: impl FnMut(usize, usize, usize, usize)) {
        let (width, block_width) = (self.width(panel), self.block_width());
        let (first, count) = (panel * self.panel_columns, width.min(block_width));
        for from in (0..width.min(self.columns - first)).step_by(count) {
            let column = first + from;
            work(count, from, column / block_width, column % block_width);
        }
    }
}

pub(crate) struct Panels {
    /// Its rows, in blocks of the layout's width.
    pub space: Space,
    pub layout: Layout,
    folder: PathBuf,
    panels: Vec<Stored<Buffer<f64>>>,
    spill: Option<Spill>,
    most_rows: usize,
    /// Room for a piece of a panel that is read from the file.
    buffer: Mutex<Buffer<f64>>,
}

impl Panels {
    /// A matrix of zeros. Panels are in memory as long as they fit `room_bytes`, from which they take their bytes. The
    /// others are in a temporary file in `folder` that has no name. [`Layout::buffer_bytes`] are taken beside these.
    pub fn new(space: Space, layout: Layout, folder: PathBuf, room_bytes: &mut u64) -> Result<Self> {
        let most_rows = space.rows;
        let numbers = layout.buffer_bytes() as usize / 8;
        let buffer = Mutex::new(Buffer::zeroed(space.runtime.budget(), "a piece of a panel", numbers)?);
        let mut matrix =
            Panels { space: space.clone(), layout, folder, panels: Vec::new(), spill: None, most_rows, buffer };
        for panel in 0..layout.panels() {
            let bytes = matrix.panel_bytes(panel);
            let panel = match room_bytes.checked_sub(bytes) {
                Some(rest) => {
                    *room_bytes = rest;
                    Stored::Memory(Buffer::zeroed(space.runtime.budget(), PURPOSE, bytes as usize / 8)?)
                }
                None => Stored::Disk(matrix.spill()?.take(bytes)),
            };
            matrix.panels.push(panel);
        }
        Ok(matrix)
    }

    fn panel_bytes(&self, panel: usize) -> u64 {
        8 * (self.most_rows * self.layout.width(panel)) as u64
    }

    fn spill(&mut self) -> Result<&Spill> {
        open_spill(&mut self.spill, &self.space, &self.folder.join("outcore-panels"))
    }

    /// Makes it a matrix of other numbers, with at most as many rows as it was made with.
    pub fn set_rows(&mut self, rows: usize) {
        assert!(rows <= self.most_rows);
        self.space.rows = rows;
    }

    /// The rows in blocks as wide as a panel.
    fn wide(&self, panel: usize) -> Space {
        Space { width: self.layout.width(panel), ..self.space.clone() }
    }

    /// The numbers of a panel; one that is not in memory is read into `hold`.
    pub fn panel<'b>(&'b self, panel: usize, hold: &'b mut [f64]) -> Result<&'b [f64]> {
        let space = self.wide(panel);
        match &self.panels[panel] {
            Stored::Memory(numbers) => Ok(&numbers[..space.numbers()]),
            Stored::Disk(offset_bytes) => {
                let (hold, spill) = (&mut hold[..space.numbers()], file(self.spill.as_ref()));
                space.stripes_of(hold, |_, rows, numbers| {
                    spill.read(raw_bytes_mut(numbers), offset_bytes + 8 * space.place(&rows).start as u64)
                })?;
                Ok(hold)
            }
        }
    }

    /// Replaces the numbers of a panel: `compute` overwrites any old ones, in `hold` if the panel is not in memory.
    pub fn replace(
        &mut self,
        panel: usize,
        hold: &mut [f64],
        compute: impl FnOnce(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let space = self.wide(panel);
        match &mut self.panels[panel] {
            Stored::Memory(numbers) => compute(&mut numbers[..space.numbers()]),
            Stored::Disk(offset_bytes) => {
                compute(&mut hold[..space.numbers()])?;
                write_block(&space, &hold[..space.numbers()], file(self.spill.as_ref()), *offset_bytes)
            }
        }
    }

    /// The number of rows of a stripe, and the stripes, for workers that change them.
    pub fn stripes(&mut self) -> (usize, Vec<Mutex<Stripe<'_>>>) {
        let (stripe_rows, mut stripes) = self.space.empty_stripes::<Vec<Stored<&mut [f64]>>>();
        let (layout, spill, rows) = (self.layout, self.spill.as_ref(), self.space.rows);
        for (panel, store) in self.panels.iter_mut().enumerate() {
            let width = layout.width(panel);
            store.push_stripes(rows * width, stripe_rows * width, &mut stripes);
        }
        let stripe = |(i, panels)| Mutex::new(Stripe { layout, spill, start: i * stripe_rows, panels });
        (stripe_rows, stripes.into_iter().enumerate().map(stripe).collect())
    }

    /// Moves panels out of memory until this much is free, as far as there are any.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        for panel in 0..self.panels.len() {
            if self.space.runtime.budget().available_bytes() >= bytes {
                break;
            }
            if matches!(self.panels[panel], Stored::Disk(_)) {
                continue;
            }
            let (space, panel_bytes) = (self.wide(panel), self.panel_bytes(panel));
            let spill = self.spill()?.clone();
            let offset_bytes = spill.take(panel_bytes);
            if let Stored::Memory(numbers) = &self.panels[panel] {
                write_block(&space, &numbers[..space.numbers()], &spill, offset_bytes)?;
            }
            self.panels[panel] = Stored::Disk(offset_bytes);
        }
        Ok(())
    }

    /// Calls `work` with pieces of all panels: the rows, the first column, how many there are, and the numbers, with
    /// as many in each row as the panel is wide.
    pub fn for_each_piece(
        &self,
        work: impl FnMut(Range<usize>, Range<usize>, usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        self.for_some_rows(0..self.space.rows, 0..self.panels.len(), work)
    }

    /// [`Panels::for_each_piece`] for some rows and panels only.
    fn for_some_rows(
        &self,
        rows: Range<usize>,
        panels: Range<usize>,
        mut work: impl FnMut(Range<usize>, Range<usize>, usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        let Layout { columns, panel_columns, piece_rows, .. } = self.layout;
        let mut buffer = lock(&self.buffer);
        for piece in self.space.pieces(rows, piece_rows) {
            for panel in panels.clone() {
                let space = self.wide(panel);
                let first = panel * panel_columns;
                let numbers = self.panels[panel].read(self.spill.as_ref(), space.place(&piece), &mut buffer)?;
                work(piece.clone(), first..columns.min(first + space.width), space.width, numbers)?;
            }
        }
        Ok(())
    }

    /// Hands all numbers on, piece by piece, as blocks. `memory` has room for a piece, and one of a panel.
    pub fn give(&mut self, memory: &mut [f64], put: Put<'_>) -> Result<()> {
        self.for_each_piece_of_blocks(memory, |stripe, rows, blocks, staging| {
            stripe.read(rows, blocks, staging)?;
            stripe.used(rows, blocks).try_for_each(|numbers| put(numbers))
        })
    }

    /// Takes all numbers in the same order.
    pub fn take(&mut self, memory: &mut [f64], get: Get<'_>) -> Result<()> {
        self.for_each_piece_of_blocks(memory, |stripe, rows, blocks, staging| {
            stripe.used(rows, blocks).try_for_each(&mut *get)?;
            stripe.write(rows, blocks, staging)
        })
    }

    fn for_each_piece_of_blocks(
        &mut self,
        memory: &mut [f64],
        mut work: impl FnMut(&mut Stripe<'_>, &Range<usize>, &mut [f64], &mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let (space, layout) = (self.space.clone(), self.layout);
        let (blocks, staging) = memory.split_at_mut(layout.piece_numbers());
        let (stripe_rows, stripes) = self.stripes();
        for (i, stripe) in stripes.iter().enumerate() {
            let rows = i * stripe_rows..space.rows.min((i + 1) * stripe_rows);
            for piece in space.pieces(rows, layout.piece_rows) {
                work(&mut lock(stripe), &piece, blocks, staging)?;
            }
        }
        Ok(())
    }

    /// Copies some columns of adjacent rows, row by row.
    pub fn copy_rows(&self, rows: Range<usize>, columns: &Range<usize>, copy: &mut [f64]) -> Result<()> {
        let (first, wide) = (rows.start, self.layout.panel_columns);
        let panels = columns.start / wide..columns.end.div_ceil(wide);
        self.for_some_rows(rows, panels, |piece, own, width, numbers| {
            let copy = &mut copy[(piece.start - first) * columns.len()..(piece.end - first) * columns.len()];
            pick(numbers, own.start, width, columns, copy);
            Ok(())
        })
    }
}

/// A stripe of all panels.
pub(crate) struct Stripe<'b> {
    layout: Layout,
    spill: Option<&'b Spill>,
    /// The first row.
    start: usize,
    panels: Vec<Stored<&'b mut [f64]>>,
}

impl Stripe<'_> {
    /// Place of some rows in a panel of this width.
    fn place(&self, rows: &Range<usize>, width: usize) -> Range<usize> {
        (rows.start - self.start) * width..(rows.end - self.start) * width
    }

    /// The numbers of a piece in its blocks.
    fn used<'n>(&self, rows: &Range<usize>, blocks: &'n mut [f64]) -> impl Iterator<Item = &'n mut [f64]> + use<'n> {
        let numbers = rows.len() * self.layout.block_width();
        blocks.chunks_mut(self.layout.block_numbers()).map(move |block| &mut block[..numbers])
    }

    /// Copies a piece to blocks. `staging` has room for a piece of a panel.
    pub fn read(&self, rows: &Range<usize>, blocks: &mut [f64], staging: &mut [f64]) -> Result<()> {
        let (layout, block_width) = (self.layout, self.layout.block_width());
        for (panel, panel_part) in self.panels.iter().enumerate() {
            let width = layout.width(panel);
            let numbers = panel_part.read(self.spill, self.place(rows, width), staging)?;
            layout.for_each_part(panel, |count, from, block, to| {
                let block = &mut blocks[block * layout.block_numbers()..][..rows.len() * block_width];
                copy_columns(count, (numbers, width, from), (block, block_width, to));
            });
        }
        Ok(())
    }

    /// Copies blocks to a piece.
    pub fn write(&mut self, rows: &Range<usize>, blocks: &[f64], staging: &mut [f64]) -> Result<()> {
        let (layout, block_width) = (self.layout, self.layout.block_width());
        for panel in 0..self.panels.len() {
            let width = layout.width(panel);
            let place = self.place(rows, width);
            let (numbers, offset_bytes) = match &mut self.panels[panel] {
                Stored::Memory(numbers) => (&mut numbers[place.clone()], None),
                Stored::Disk(offset_bytes) => {
                    staging[..place.len()].fill(0.0);
                    (&mut staging[..place.len()], Some(*offset_bytes))
                }
            };
            layout.for_each_part(panel, |count, to, block, from| {
                let block = &blocks[block * layout.block_numbers()..][..rows.len() * block_width];
                copy_columns(count, (block, block_width, from), (numbers, width, to));
            });
            if let Some(offset_bytes) = offset_bytes {
                file(self.spill).write(raw_bytes(numbers), offset_bytes + 8 * place.start as u64)?;
            }
        }
        Ok(())
    }
}

/// Copies adjacent columns of a matrix to another one: numbers, how many a row has, and the first of the columns.
pub(crate) fn copy_columns(count: usize, from: (&[f64], usize, usize), to: (&mut [f64], usize, usize)) {
    match count {
        1 => copy::<1>(from, to),
        2 => copy::<2>(from, to),
        4 => copy::<4>(from, to),
        _ => copy::<MOST_WIDTH>(from, to),
    }
}

fn copy<const C: usize>(
    (from, from_width, from_column): (&[f64], usize, usize),
    (to, to_width, to_column): (&mut [f64], usize, usize),
) {
    for (from, to) in from.chunks_exact(from_width).zip(to.chunks_exact_mut(to_width)) {
        to[to_column..][..C].copy_from_slice(&from[from_column..][..C]);
    }
}
