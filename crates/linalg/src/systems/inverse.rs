//! Preconditioners: what vectors are multiplied by, so that a method needs fewer iterations.
//!
//! *Idea.* A diagonal multiplies a few numbers at a time, where a method needs them. A function of the user's takes
//! whole vectors in the order of ids: [`Inverse::prepare`] calls it, and keeps its product until the next call.

use crate::systems::system::System;
use crate::tall::{FEW_NUMBERS, dot};
use outcore_image::{Error, Result};
use outcore_ingest::Choice;
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};
use std::fmt::{Debug, Formatter};
use std::ops::Range;

const PURPOSE: &str = "vectors of a preconditioner";
/// Largest difference between `u^T M v` and `v^T M u`, in units of the lengths of `u` and `M v`.
const SYMMETRIC: f64 = 1e-8;

/// Preconditioner: approximates the inverse of a matrix, so that a method needs fewer iterations.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub enum Preconditioner<'a> {
    /// Nothing.
    #[default]
    None,
    /// The inverse of its diagonal.
    Jacobi,
    /// A matrix that is near its inverse, as a function that replaces a vector, in the order of ids, by its product
    /// with that matrix. Its errors are returned by the method. It is called from the thread that solves.
    Function(&'a (dyn Fn(&mut [f64]) -> Result<()> + Sync)),
}

impl Debug for Preconditioner<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Preconditioner::None => "None",
            Preconditioner::Jacobi => "Jacobi",
            Preconditioner::Function(_) => "Function(..)",
        })
    }
}

/// The preconditioners that have names: a function has none.
impl Choice for Preconditioner<'static> {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Preconditioner::None, "none", "Nothing"), (Preconditioner::Jacobi, "jacobi", "The inverse of the diagonal")];
}

outcore_declare::from_names!(Preconditioner<'static>);

impl PartialEq for Preconditioner<'_> {
    /// A function is not equal to any preconditioner.
    fn eq(&self, other: &Self) -> bool {
        let is_named = !matches!(self, Preconditioner::Function(_));
        is_named && std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Preconditioner<'_> {
    pub(crate) fn is_none(self) -> bool {
        matches!(self, Preconditioner::None)
    }

    pub(crate) fn vectors(self) -> u64 {
        match self {
            Preconditioner::None => 0,
            Preconditioner::Jacobi => 1,
            Preconditioner::Function(_) => 2,
        }
    }
}

/// A preconditioner with its memory.
pub(crate) enum Inverse<'c> {
    None,
    Diagonal(Buffer<f64>),
    Function {
        function: &'c (dyn Fn(&mut [f64]) -> Result<()> + Sync),
        /// The vector, then its product, in the order of ids.
        ordered: Buffer<f64>,
        /// The product with the vector that was prepared, in the order of the image.
        product: Buffer<f64>,
    },
}

/// Buffer for a few preconditioned numbers.
pub(crate) type Few = [f64; FEW_NUMBERS];

impl<'c> Inverse<'c> {
    /// The memory of a function.
    pub fn of_function(
        system: &System<'_, '_>,
        function: &'c (dyn Fn(&mut [f64]) -> Result<()> + Sync),
    ) -> Result<Self> {
        let vector = || system.space.zeros(PURPOSE);
        Ok(Inverse::Function { function, ordered: vector()?, product: vector()? })
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Inverse::None)
    }

    /// The product with the vector that was prepared, if a function makes it.
    pub fn product(&self) -> Option<&[f64]> {
        if let Inverse::Function { product, .. } = self { Some(product) } else { None }
    }

    /// Has a function multiply a vector, to which [`Inverse::apply`] belongs from now on.
    ///
    /// # Errors
    /// Errors of the function; products that are not finite.
    pub fn prepare(&mut self, system: &System<'_, '_>, vector: &[f64]) -> Result<()> {
        let Inverse::Function { function, ordered, product } = self else { return Ok(()) };
        let (space, matrix) = (&system.space, system.operator.matrix);
        let numbers = shared::<AtomicF64>(&mut *ordered);
        space.stripes(|_, rows| {
            rows.for_each(|row| numbers[matrix.row_at(row)].store(vector[row]));
            Ok(())
        })?;
        function(ordered)?;
        if let Some(row) = ordered.iter().position(|number| !number.is_finite()) {
            let found = ordered[row];
            let text = format!("expected finite numbers from the preconditioner, found {found} in row {row}");
            return Err(Error::Unsuitable(text));
        }
        let ordered = &*ordered;
        space.update([product], |rows, [product], []| {
            rows.zip(product).for_each(|(row, number)| *number = ordered[matrix.row_at(row)]);
        })?;
        Ok(())
    }

    /// Applies the preconditioner to some numbers of a prepared vector.
    pub fn apply<'b>(&'b self, rows: Range<usize>, numbers: &'b [f64], few: &'b mut Few) -> &'b [f64] {
        let diagonal = match self {
            Inverse::None => return numbers,
            Inverse::Diagonal(diagonal) => diagonal,
            Inverse::Function { product, .. } => return &product[rows],
        };
        let few = &mut few[..rows.len()];
        few.iter_mut().zip(numbers).zip(&diagonal[rows]).for_each(|((few, number), entry)| *few = number * entry);
        few
    }

    /// Writes the product of the preconditioner with a prepared vector.
    pub fn apply_all(&self, system: &System<'_, '_>, vector: &[f64], product: &mut [f64]) -> Result<()> {
        system.space.update([product], |rows, [to], []| {
            to.copy_from_slice(self.apply(rows.clone(), &vector[rows], &mut [0.0; FEW_NUMBERS]));
        })?;
        Ok(())
    }

    /// The square of the length of a vector, which was prepared, in the preconditioner's norm: `v^T M v`.
    ///
    /// # Errors
    /// It is less than 0 by more than rounding, so the preconditioner is not positive definite; it is not finite.
    pub fn square(&self, system: &System<'_, '_>, vector: &[f64], iteration: u64) -> Result<f64> {
        let [square, length, of_product] = system.space.update([], |rows, [], sums| {
            let (numbers, mut few) = (&vector[rows.clone()], [0.0; FEW_NUMBERS]);
            let product = self.apply(rows, numbers, &mut few);
            for (sum, part) in sums.iter_mut().zip([(numbers, product), (numbers, numbers), (product, product)]) {
                *sum += dot(part.0, part.1);
            }
        })?;
        let rounding = f64::EPSILON * (system.finite(length)? * system.finite(of_product)?).sqrt();
        if system.finite(square)? < -rounding || square <= 0.0 && length > 0.0 && of_product == 0.0 {
            return Err(not_definite(square, iteration));
        }
        Ok(square.max(0.0))
    }

    /// Compares a function's products with two random vectors, which it writes: those of a symmetric matrix agree.
    ///
    /// # Errors
    /// They differ.
    pub fn check_symmetric(
        &mut self,
        system: &System<'_, '_>,
        one: &mut Buffer<f64>,
        other: &mut Buffer<f64>,
    ) -> Result<()> {
        if self.product().is_none() {
            return Ok(());
        }
        let space = &system.space;
        let mut products = [0.0; 2];
        let mut rounding = 0.0f64;
        space.randomize(one, |_| true, 2)?;
        space.randomize(other, |_| true, 3)?;
        for (number, (factor, other)) in products.iter_mut().zip([(&*one, &*other), (&*other, &*one)]) {
            self.prepare(system, factor)?;
            let product = self.product().unwrap_or_default();
            *number = system.finite(space.dots(other, product)?[0][0])?;
            let squares = space.dots(product, product)?[0][0] * space.dots(other, other)?[0][0];
            rounding = rounding.max(SYMMETRIC * system.finite(squares)?.sqrt());
        }
        if (products[0] - products[1]).abs() <= rounding {
            return Ok(());
        }
        Err(Error::Unsuitable(format!(
            "expected a symmetric preconditioner M, found one with u^T M v = {:.8e} and v^T M u = {:.8e} for random \
             vectors; gmres takes one that is not symmetric",
            products[0], products[1]
        )))
    }
}

/// The error for a preconditioner with a vector r whose `r^T M r` is not greater than 0.
pub(crate) fn not_definite(square: f64, iteration: u64) -> Error {
    Error::Unsuitable(format!(
        "expected a positive definite preconditioner M, found a vector r with r^T M r = {square:.3e} in iteration \
         {iteration}; gmres takes one that is not"
    ))
}
