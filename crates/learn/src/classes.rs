//! Whole numbers as classes: which there are, and the number of each row's class.
//!
//! *Cost.* Two passes over the labels; a count for each number from the least to the greatest.

use crate::common::{Costs, array, usage};
use outcore_array::kernel::{Binary, Fold, Scalar, Unary};
use outcore_array::{Array, ElementType};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Labels are classes if the greatest exceeds the least by less than this.
const MOST_CLASSES: f64 = 65536.0;
/// All whole numbers up to this are real numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// The classes of labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Labels {
    /// The classes, ascending.
    pub classes: Vec<f64>,
    /// The index of each row's class in `classes` (`n`), lazily.
    pub numbers: Array,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Finds the classes of a vector of labels. Two passes over it.
///
/// # Errors
/// Labels that are not whole, or further apart than 65535, or beyond 2^53; no vector, or an empty one.
pub fn classes_of(runtime: &Runtime, labels: &Array) -> Result<Labels> {
    if labels.axes() != 1 || labels.count() == 0 {
        return usage(format!("expected a vector of labels, found shape {:?}", labels.shape()));
    }
    let labels = labels.cast(ElementType::Float64)?;
    let is_whole = labels.binary(Binary::Equal, &labels.unary(Unary::Floor)?)?;
    let fold = |fold| labels.fold(fold, &[0], false);
    let facts =
        [fold(Fold::Min)?, fold(Fold::Max)?, is_whole.fold(Fold::All, &[0], false)?.cast(ElementType::Float64)?];
    let mut costs = Costs::default();
    let found = costs.compute(runtime, &facts)?.concat();
    let [least, most, all_whole] = <[f64; 3]>::try_from(found).expect("three numbers");
    let is_exact = least.abs() <= MOST_EXACT && most.abs() <= MOST_EXACT;
    if all_whole == 0.0 || !is_exact || most - least >= MOST_CLASSES {
        let text = "expected classes as whole numbers of a range below 65536";
        let kind = if all_whole == 0.0 { ", not all of them whole" } else { "" };
        return usage(format!("{text}, found {least} to {most}{kind}"));
    }
    let span = (most - least) as usize + 1;
    let places = labels.binary(Binary::Subtract, &array(&[least], &[]))?.cast(ElementType::Int64)?;
    let ones = Array::full(labels.shape().to_vec(), Scalar::Float64(1.0))?;
    let counts = costs.one(runtime, ones.group_fold(Fold::Sum, &places, span as u64)?)?;
    let present: Vec<usize> = (0..span).filter(|&place| counts[place] > 0.0).collect();
    let mut table = vec![0.0; span];
    present.iter().enumerate().for_each(|(number, &place)| table[place] = number as f64);
    let numbers = array(&table, &[span]).gather(&places)?.cast(ElementType::Int64)?;
    let classes = present.iter().map(|&place| least + place as f64).collect();
    Ok(Labels { classes, numbers, stats: costs.finish(None) })
}

/// Classes by their numbers (`n`), lazily.
///
/// # Errors
/// Numbers that are not whole.
pub fn named(classes: &[f64], numbers: &Array) -> Result<Array> {
    array(classes, &[classes.len()]).gather(numbers)
}
