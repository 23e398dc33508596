//! Changes of a factor piece by piece, on all workers.

use crate::nmf::{EPSILON, MOST_COMPONENTS};
use crate::tall::kernels::{MOST_WIDTH, Square, add_product, descend, dots};
use crate::tall::panels::{Layout, Panels};
use crate::tall::{ZERO, added, uniform};
use outcore_image::Result;
use outcore_io::{Buffer, lock};
use std::ops::Range;
use std::sync::Mutex;

/// A small symmetric matrix, in as many blocks as a piece has, row by row.
pub(crate) type Gram = Vec<Square>;

/// Sums over the rows of a factor.
pub(crate) struct Sums {
    pub gram: Gram,
    /// The sum over all numbers times those of the product, before and after they change.
    pub inner: [f64; 2],
    /// The sum of the lengths of all derivatives that lead to less loss.
    pub violation: f64,
}

/// A piece of a factor that is worked on. Blocks lie behind each other, each with room for the rows of a piece.
pub(crate) struct Piece<'b> {
    layout: Layout,
    rows: Range<usize>,
    factor: &'b mut [f64],
    product: &'b mut [f64],
    scratch: &'b mut [f64],
    violations: &'b mut [f64; MOST_WIDTH],
}

/// Changes a factor piece by piece by `work`. Returns the Gram matrix of the new factor, and its inner products with
/// `given`, before and after. Without `given` the old factor is not read.
pub(crate) fn change(
    buffers: &[Mutex<Buffer<f64>>],
    panels: &mut Panels,
    mut given: Option<&mut Panels>,
    work: &(impl Fn(&mut Piece<'_>) + Sync),
) -> Result<Sums> {
    let (space, layout) = (panels.space.clone(), panels.layout);
    let (stripe_rows, stripes) = panels.stripes();
    let given = given.as_mut().map(|given| given.stripes().1);
    let parts = space.stripes(|worker, rows| {
        let stripe = rows.start / stripe_rows;
        let (mut stripe, given) = (lock(&stripes[stripe]), given.as_ref().map(|given| lock(&given[stripe])));
        let mut buffer = lock(&buffers[worker]);
        let (factor, rest) = buffer.split_at_mut(layout.piece_numbers());
        let (product, rest) = rest.split_at_mut(layout.piece_numbers());
        let (scratch, staging) = rest.split_at_mut(layout.piece_numbers());
        let (mut gram, mut inner) = (vec![ZERO; layout.blocks().pow(2)], [[0.0; MOST_WIDTH]; 2]);
        let mut violations = [0.0; MOST_WIDTH];
        for rows in space.pieces(rows, layout.piece_rows) {
            if let Some(given) = &given {
                stripe.read(&rows, factor, staging)?;
                given.read(&rows, product, staging)?;
            }
            let (factor, product, scratch) = (&mut *factor, &mut *product, &mut *scratch);
            let violations = &mut violations;
            let mut piece = Piece { layout, rows: rows.clone(), factor, product, scratch, violations };
            piece.add_inner(&mut inner[0]);
            work(&mut piece);
            piece.add_inner(&mut inner[1]);
            piece.add_gram(&mut gram);
            stripe.write(&rows, piece.factor, staging)?;
        }
        let sum = |lanes: [f64; MOST_WIDTH]| lanes.iter().sum();
        Ok(Sums { gram, inner: inner.map(sum), violation: sum(violations) })
    })?;
    let none = Sums { gram: vec![ZERO; layout.blocks().pow(2)], inner: [0.0; 2], violation: 0.0 };
    let mut sums = parts.into_iter().fold(none, |sum, part| Sums {
        gram: sum.gram.iter().zip(&part.gram).map(|(one, other)| added(one, other)).collect(),
        inner: std::array::from_fn(|i| sum.inner[i] + part.inner[i]),
        violation: sum.violation + part.violation,
    });
    mirror(&mut sums.gram, layout.blocks());
    Ok(sums)
}

/// Copies the blocks above the diagonal to those below.
fn mirror(gram: &mut Gram, blocks: usize) {
    for (row, column) in (0..blocks).flat_map(|row| (0..row).map(move |column| (row, column))) {
        let other = gram[column * blocks + row];
        gram[row * blocks + column] = std::array::from_fn(|i| std::array::from_fn(|k| other[k][i]));
    }
}

/// The sum over the products of the entries of two matrices.
pub(crate) fn inner_product(one: &Gram, other: &Gram) -> f64 {
    let entries = |gram: &Gram| gram.clone().into_iter().flatten().flatten();
    entries(one).zip(entries(other)).map(|(one, other)| one * other).sum()
}

impl Piece<'_> {
    fn block(&self, block: usize) -> Range<usize> {
        let start = block * self.layout.block_numbers();
        start..start + self.rows.len() * self.layout.block_width()
    }

    pub fn randomize(&mut self, first_row: usize, scale: f64, seed: u64) {
        let (width, columns) = (self.layout.block_width(), self.layout.columns);
        for block in 0..self.layout.blocks() {
            let (range, first) = (self.block(block), block * width);
            for (row, numbers) in self.rows.clone().zip(self.factor[range].chunks_exact_mut(width)) {
                for (column, number) in (first..columns).zip(numbers) {
                    let place = (first_row + row) * MOST_COMPONENTS + column;
                    *number = scale * (0.5 + 0.5 * uniform(seed, place as u64)).max(f64::EPSILON);
                }
            }
        }
    }

    /// Writes the product of the factor and a block column of a small matrix, added to `start`, to the block's
    /// scratch.
    fn multiply(&mut self, gram: &Gram, block: usize, start: impl Fn(f64) -> f64) {
        let (blocks, target) = (self.layout.blocks(), self.block(block));
        let sum = &mut self.scratch[target.clone()];
        sum.iter_mut().zip(&self.product[target]).for_each(|(sum, &product)| *sum = start(product));
        for other in 0..blocks {
            let start = other * self.layout.block_numbers();
            let factor = &self.factor[start..start + sum.len()];
            add_product(self.layout.block_width(), factor, &gram[other * blocks + block], sum);
        }
    }

    /// Multiplicative updates: every number by the product's over that of the factor and its small matrix.
    pub fn scale(&mut self, gram: &Gram, push: f64) {
        for block in 0..self.layout.blocks() {
            self.multiply(gram, block, |_| push);
        }
        for block in 0..self.layout.blocks() {
            let range = self.block(block);
            let given = self.product[range.clone()].iter().zip(&self.scratch[range.clone()]);
            for (number, (&product, &divisor)) in self.factor[range].iter_mut().zip(given) {
                *number *= product / if divisor == 0.0 { EPSILON } else { divisor };
            }
        }
    }

    /// Coordinate descent: one column after the other, in every row.
    pub fn descend(&mut self, gram: &Gram, push: f64) {
        for block in 0..self.layout.blocks() {
            self.multiply(gram, block, |product| push - product);
            let (range, square) = (self.block(block), &gram[block * (self.layout.blocks() + 1)]);
            let (numbers, gradient) = (&mut self.factor[range.clone()], &self.scratch[range]);
            descend(self.layout.block_width(), numbers, gradient, square, self.violations);
        }
    }

    /// Adds the inner product of the factor and the product, lane by lane.
    fn add_inner(&self, lanes: &mut [f64; MOST_WIDTH]) {
        for block in 0..self.layout.blocks() {
            let range = self.block(block);
            let (ones, ones_rest) = self.factor[range.clone()].as_chunks::<MOST_WIDTH>();
            let (others, others_rest) = self.product[range].as_chunks::<MOST_WIDTH>();
            for (one, other) in ones.iter().zip(others) {
                (0..MOST_WIDTH).for_each(|lane| lanes[lane] += one[lane] * other[lane]);
            }
            lanes[0] += ones_rest.iter().zip(others_rest).map(|(one, other)| one * other).sum::<f64>();
        }
    }

    /// Adds the dot products of the columns, in the blocks on and above the diagonal.
    fn add_gram(&self, gram: &mut Gram) {
        let blocks = self.layout.blocks();
        for (row, column) in (0..blocks).flat_map(|row| (row..blocks).map(move |column| (row, column))) {
            let (left, right) = (&self.factor[self.block(row)], &self.factor[self.block(column)]);
            dots(self.layout.block_width(), left, right, &mut gram[row * blocks + column]);
        }
    }
}
