//! The product of a matrix and its transpose behind singular pairs that are known.
//!
//! *Why.* Squares of values that are small beside the greatest are lost in the rounding of the greatest square. With
//! the known pairs taken out of every factor and every product the greatest value is the first that is not known, and
//! those that are small beside the very greatest are no longer small.
//!
//! *Null vectors.* The known vectors would be among those of the value 0, which are wanted where a matrix has no more
//! values. So they get the eigenvalue -1, and the others are in units of a value, `unit`, that lies near the greatest.

use crate::operator::{Counted, Operator, Squared, space};
use crate::tall::basis::Basis;
use crate::tall::{ZERO, added};
use outcore_image::Result;
use outcore_io::Buffer;
use std::cell::RefCell;

pub(crate) struct Deflated<'b, 'a, 'c> {
    squared: &'b Squared<'a, 'c>,
    /// The known vectors: `near` on the side of the factors, `far` on that of products with the first operator.
    near: &'b Basis,
    far: &'b Basis,
    unit: f64,
    /// A factor without its share in the known vectors.
    rest: RefCell<Buffer<f64>>,
}

impl<'b, 'a, 'c> Deflated<'b, 'a, 'c> {
    pub fn new(squared: &'b Squared<'a, 'c>, near: &'b Basis, far: &'b Basis, unit: f64) -> Result<Self> {
        let rest = RefCell::new(near.space.zeros("vectors without the known ones")?);
        Ok(Deflated { squared, near, far, unit, rest })
    }
}

impl<'a> Operator<'a> for Deflated<'_, 'a, '_> {
    fn counted(&self) -> &Counted<'a, '_> {
        self.squared.counted()
    }

    fn shape(&self) -> (usize, usize) {
        self.squared.shape()
    }

    fn pages(&self) -> u64 {
        self.squared.pages()
    }

    fn apply(&self, factor: &[f64], columns: usize, product: &mut [f64]) -> Result<()> {
        let (near, far) = (self.near, self.far);
        debug_assert_eq!((columns, space(self, columns).rows), (near.space.width, near.space.rows));
        let rest = &mut *self.rest.borrow_mut();
        rest.copy_from_slice(factor);
        let mut shares = near.project_out(0..near.len(), rest)?;
        let again = near.project_out(0..near.len(), rest)?;
        shares.iter_mut().zip(&again).for_each(|(share, more)| *share = added(share, more));
        let between = &mut *self.squared.between.borrow_mut();
        self.squared.first.apply(rest, columns, between)?;
        far.project_out(0..far.len(), between)?;
        self.squared.second.apply(between, columns, product)?;
        near.project_out(0..near.len(), product)?;
        let mut scale = ZERO;
        (0..columns).for_each(|column| scale[column][column] = self.unit.powi(-2));
        near.space.transform(product, &scale)?;
        near.subtract(0..near.len(), &shares, product)
    }
}
