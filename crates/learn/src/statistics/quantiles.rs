//! Quantiles of columns, nearly or exactly, by a sketch of sorted samples.
//!
//! *Idea.* A sketch has levels of sorted values; a value of level `h` stands for `2^h`. A level that holds more than
//! `c` values is compacted: of its values in order every second one goes to the level above, from the first and from
//! the second one on by turns. So no rank changes by more than `2^h`.
//!
//! *Bound.* Compacting level `h` takes at least `c` values that stand for `c 2^h` rows, so it happens at most
//! `n / (c 2^h)` times and shifts ranks by at most `n / c`; there are no more than `log2(n / c) + 1` levels that
//! are compacted. A rank is wrong by at most `(log2(n / c) + 1) n / c`: `c` is the least power of two for which that is
//! below `error n`. What the compactions really were is counted as well: [`Quantiles::rank_error`] is proven, and 0 if
//! the data fitted. Turns are fixed, so the result depends on the data alone. The least and the greatest value, of
//! which compactions lose one, are kept: quantiles of probabilities 0 and 1 are exact.
//!
//! *Cost.* One pass, with all values sorted by partition, digit by digit of their bits; `O(c log(n / c))` numbers per
//! column.
//!
//! Manku, Rajagopalan, Lindsay, *Approximate medians and other quantiles in one pass*, SIGMOD 1998; Karnin, Lang,
//! Liberty, *Optimal quantile approximation in streams*, FOCS 2016.

use crate::common::{Costs, columns, finite, matrix, note_rounded, put, reals, usage};
use crate::declare::{Data, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable};
use crate::phases::{Phase, bytes_of};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_declare::{DefaultValue, Fact, Kind, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Options of [`quantiles`].
#[derive(Clone, Copy, Debug)]
pub struct QuantilesOptions {
    /// Largest error of the rank of a result, as a fraction of all rows.
    pub error: f64,
}

impl Default for QuantilesOptions {
    fn default() -> Self {
        QuantilesOptions { error: 0.005 }
    }
}

/// Quantiles of columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quantiles {
    /// For every probability a row with the quantiles of all columns (`q x p`).
    pub quantiles: Vec<f64>,
    /// Proven bound of the error of all ranks, in rows; 0 if all results are exact.
    pub rank_error: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The quantiles of the columns of `x` (`n x p`) for some probabilities, between adjacent values linearly as NumPy's.
/// One pass.
///
/// # Errors
/// NaN or infinite elements; probabilities outside of 0 to 1; an error outside of 1e-6 to 1.
pub fn quantiles(runtime: &Runtime, x: &Array, probabilities: &[f64], options: &QuantilesOptions) -> Result<Quantiles> {
    let mut costs = Costs::default();
    let mut found = costs.one(runtime, sketched(x, probabilities, options)?)?;
    let rank_error = found.pop().expect("the error") as u64;
    Ok(Quantiles { quantiles: found, rank_error, stats: costs.finish(None) })
}

/// Quantiles as a lazy array: for every probability the quantiles of all columns, and then the error of ranks (`q p +
/// 1`).
///
/// # Errors
/// Those of [`quantiles`]; the pass finds NaN and infinities.
pub fn sketched(x: &Array, probabilities: &[f64], options: &QuantilesOptions) -> Result<Array> {
    let x = matrix(x)?;
    if let Some(other) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return usage(format!("expected probabilities from 0 to 1, found {other}"));
    }
    if !(1e-6..=1.0).contains(&options.error) {
        return usage(format!("expected an error from 1e-6 to 1 of all rows, found {}", options.error));
    }
    let fold = Sketches {
        columns: columns(&x),
        capacity: capacity(x.shape()[0], options.error),
        rows: x.shape()[0],
        probabilities: probabilities.to_vec(),
    };
    Array::fold_rows(fold, &[x])
}

/// The least capacity of a level that keeps the error.
fn capacity(rows: u64, error: f64) -> usize {
    let mut capacity = 64;
    while capacity < rows {
        let levels = (rows as f64 / capacity as f64).log2().ceil() + 1.0;
        if levels / capacity as f64 <= error {
            break;
        }
        capacity *= 2;
    }
    capacity as usize
}

struct Sketches {
    columns: usize,
    capacity: usize,
    rows: u64,
    probabilities: Vec<f64>,
}

/// The sketch of a column.
#[derive(Clone, Default)]
struct Sketch {
    /// Values as they come.
    fresh: Vec<f64>,
    /// Sorted values of every level.
    levels: Vec<Vec<f64>>,
    /// Number of compactions of each level.
    compactions: Vec<u64>,
    /// The least and the greatest value.
    ends: Option<(f64, f64)>,
}

/// Memory of a level beside its values, with room for further ones.
const LEVEL_BYTES: u64 = 2 * (size_of::<Vec<f64>>() + size_of::<u64>()) as u64;

impl Sketch {
    /// Merges the fresh values, sorted, into the lowest level, and compacts.
    fn close(&mut self, capacity: usize) {
        if !self.fresh.is_empty() {
            let fresh = sorted(std::mem::take(&mut self.fresh));
            self.reach(fresh[0], fresh[fresh.len() - 1]);
            self.put(0, fresh);
        }
        self.compact(capacity);
    }

    fn reach(&mut self, least: f64, most: f64) {
        let (low, high) = self.ends.unwrap_or((least, most));
        self.ends = Some((low.min(least), high.max(most)));
    }

    fn put(&mut self, level: usize, values: Vec<f64>) {
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Vec::new());
            self.compactions.resize(level + 1, 0);
        }
        self.levels[level] = merged(&self.levels[level], &values);
    }

    fn compact(&mut self, capacity: usize) {
        let mut level = 0;
        while level < self.levels.len() {
            if self.levels[level].len() > capacity {
                let values = std::mem::take(&mut self.levels[level]);
                // An odd one stays, so that all weight is kept.
                let even = values.len() / 2 * 2;
                self.levels[level] = values[even..].to_vec();
                let first = (self.compactions[level] % 2) as usize;
                self.compactions[level] += 1;
                self.put(level + 1, values[..even].iter().skip(first).step_by(2).copied().collect());
            }
            level += 1;
        }
    }

    /// Bound of the error of a rank.
    fn error(&self) -> u64 {
        self.compactions.iter().enumerate().map(|(level, count)| count << level).sum()
    }

    fn quantiles(&self, probabilities: &[f64], rows: u64) -> Vec<f64> {
        let levels = self.levels.iter().enumerate();
        let mut all: Vec<(f64, u64)> =
            levels.flat_map(|(level, values)| values.iter().map(move |&value| (value, 1 << level))).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut behind = 0;
        for (_, weight) in &mut all {
            behind += *weight;
            *weight = behind;
        }
        let at = |rank: u64| all[all.partition_point(|&(_, behind)| behind <= rank)].0;
        let quantile = |&probability: &f64| {
            let place = probability * (rows - 1) as f64;
            let (low, share) = (place.floor() as u64, place.fract());
            let (low, high) = (at(low), at((low + 1).min(rows - 1)));
            match (probability, self.ends) {
                (0.0, Some((least, _))) => least,
                (1.0, Some((_, most))) => most,
                _ => between(low, high, share),
            }
        };
        probabilities.iter().map(quantile).collect()
    }
}

/// A number between two others, never outside of them.
fn between(low: f64, high: f64, share: f64) -> f64 {
    let distance = high - low;
    match share {
        _ if distance.is_infinite() => low * (1.0 - share) + high * share,
        0.5.. => high - distance * (1.0 - share),
        _ => low + distance * share,
    }
}

/// Bits of a digit, and the digits of a key.
const DIGIT_BITS: usize = 11;
const DIGITS: usize = 6;
/// Fewer values are sorted faster by comparisons.
const LEAST_BY_DIGITS: usize = 1024;

/// The bits of a number, in the order of [`f64::total_cmp`].
fn key_of(number: f64) -> u64 {
    let bits = number.to_bits();
    bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
}

fn number_of(key: u64) -> f64 {
    f64::from_bits(key ^ ((!key as i64 >> 63) as u64 | 1 << 63))
}

/// Values in the order of [`f64::total_cmp`]: by all digits of their keys, the lowest first.
fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    if values.len() < LEAST_BY_DIGITS {
        values.sort_unstable_by(f64::total_cmp);
        return values;
    }
    let digit = |key: u64, place: usize| (key >> (place * DIGIT_BITS)) as usize & ((1 << DIGIT_BITS) - 1);
    let mut keys: Vec<u64> = values.iter().map(|&value| key_of(value)).collect();
    let mut counts = vec![[0usize; 1 << DIGIT_BITS]; DIGITS];
    for &key in &keys {
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, place)] += 1;
        }
    }
    let mut to = vec![0; keys.len()];
    for (place, starts) in counts.iter_mut().enumerate() {
        if starts[digit(keys[0], place)] == keys.len() {
            continue;
        }
        // Counts become the places of the next key of each digit.
        let mut behind = 0;
        for count in starts.iter_mut() {
            behind += std::mem::replace(count, behind);
        }
        for &key in &keys {
            let start = &mut starts[digit(key, place)];
            to[*start] = key;
            *start += 1;
        }
        std::mem::swap(&mut keys, &mut to);
    }
    values.iter_mut().zip(keys).for_each(|(value, key)| *value = number_of(key));
    values
}

/// Two sorted lists as one.
fn merged(left: &[f64], right: &[f64]) -> Vec<f64> {
    let (mut all, mut i, mut k) = (Vec::with_capacity(left.len() + right.len()), 0, 0);
    while i < left.len() && k < right.len() {
        if left[i] <= right[k] {
            all.push(left[i]);
            i += 1;
        } else {
            all.push(right[k]);
            k += 1;
        }
    }
    all.extend_from_slice(&left[i..]);
    all.extend_from_slice(&right[k..]);
    all
}

impl RowFold for Sketches {
    type State = Vec<Sketch>;

    fn name(&self) -> &str {
        "quantiles"
    }

    fn results(&self) -> usize {
        self.columns * self.probabilities.len() + 1
    }

    fn state_bytes(&self, rows: u64) -> u64 {
        let levels = (self.rows / self.capacity as u64 + 1).ilog2() as u64 + 2;
        // A partition has its rows, and all of them the levels; merging has two of each, and sorting of a column.
        16 * (self.columns as u64 * (4 + rows.max(levels * self.capacity as u64))
            + rows
            + (DIGITS << DIGIT_BITS) as u64)
    }

    fn closed_bytes(&self, rows: u64) -> u64 {
        let levels = (rows / self.capacity as u64 + 1).ilog2() as u64 + 2;
        let head_bytes = size_of::<Sketch>() as u64 + LEVEL_BYTES * levels;
        self.columns as u64 * (head_bytes + 8 * rows.min(levels * self.capacity as u64))
    }

    fn begin(&self) -> Vec<Sketch> {
        vec![Sketch::default(); self.columns]
    }

    fn add(&self, state: &mut Vec<Sketch>, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let columns = state.iter_mut().zip(&block.operands[0]);
        columns.for_each(|(sketch, values)| sketch.fresh.extend_from_slice(reals(values)));
        Ok(())
    }

    fn close(&self, state: &mut Vec<Sketch>) -> Result<()> {
        state.iter_mut().for_each(|sketch| sketch.close(self.capacity));
        Ok(())
    }

    fn merge(&self, state: &mut Vec<Sketch>, next: Vec<Sketch>) -> Result<()> {
        for (sketch, next) in state.iter_mut().zip(next) {
            if let Some((least, most)) = next.ends {
                sketch.reach(least, most);
            }
            for (level, values) in next.levels.into_iter().enumerate() {
                sketch.put(level, values);
                sketch.compactions[level] += next.compactions[level];
            }
            sketch.compact(self.capacity);
        }
        Ok(())
    }

    fn finish(&self, state: Vec<Sketch>, result: ValuesMut<'_>) -> Result<()> {
        let error = state.iter().map(Sketch::error).max().unwrap_or(0);
        let found: Vec<Vec<f64>> =
            state.iter().map(|sketch| sketch.quantiles(&self.probabilities, self.rows)).collect();
        let mut rows: Vec<f64> =
            (0..self.probabilities.len()).flat_map(|place| found.iter().map(move |own| own[place])).collect();
        rows.push(error as f64);
        put(&rows, result)
    }
}

pub(crate) static QUANTILES: StatisticDeclaration = StatisticDeclaration {
    aliases: &["quantile"],
    options: &[
        Parameter::new(
            "probabilities",
            Kind::Reals,
            DefaultValue::None,
            "Which quantiles, from 0 to 1; if not given, 0,0.25,0.5,0.75,1",
        ),
        Parameter::real("error", 0.005, "By how much the rank of a result may be wrong, as a part of all rows"),
    ],
    ..StatisticDeclaration::new(
        "quantiles",
        "Quantiles of every column by a sketch, in one pass, and by how much ranks may be wrong",
        "a row for each probability",
        plan,
    )
};

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (x, rows) = (data.array.clone(), data.rows());
    let probabilities = values.some_reals("probabilities").unwrap_or(&[0.0, 0.25, 0.5, 0.75, 1.0]).to_vec();
    let options = QuantilesOptions { error: values.real("error") };
    let result_bytes = bytes_of(24, &[probabilities.len(), data.names.len()]);
    let phases = vec![Phase::pass(vec![sketched(&x, &probabilities, &options)?], result_bytes)];
    let labels = probabilities.iter().map(f64::to_string).collect();
    let empty = StatisticTable { labels: ("probability", labels), names: data.names.clone(), columns: Vec::new() };
    let output = empty.shape();
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let found = quantiles(runtime, &x, &probabilities, &options)?;
        let error = found.rank_error;
        note_rounded(runtime, &x, &empty.names, &found.quantiles);
        let lines = vec![match error {
            0 => format!("{rows} rows, exact"),
            _ => format!("{rows} rows, ranks wrong by at most {error}"),
        }];
        let table = StatisticTable::of_rows(empty.labels.clone(), empty.names.clone(), &found.quantiles);
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(table.names.clone())),
            ("probabilities", Fact::vector(&probabilities)),
            ("quantiles", Fact::matrix(&found.quantiles, probabilities.len())),
            ("rank_error", Fact::Whole(error)),
        ];
        Ok(StatisticFinding { lines, table, facts, rows: None, unconverged: None, stats: found.stats })
    };
    let columns = data.names.clone();
    Ok(StatisticPlan { phases, result_bytes, passes: "1".to_owned(), output, rows: None, columns, run: Box::new(run) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::uniform;

    #[test]
    fn digits_sort_as_comparisons_do() {
        let kinds: [fn(f64) -> f64; 6] = [
            |x| x - 0.5,
            |_| -0.0,
            |x| (x * 9.0).floor() - 4.0,
            |x| (x - 0.5) * 1e300,
            |x| (x - 0.5) * 1e-310,
            |x| if x < 0.1 { f64::NEG_INFINITY } else { -0.0 * (x - 0.5) },
        ];
        for count in [1, LEAST_BY_DIGITS - 1, LEAST_BY_DIGITS, 5000] {
            for (kind, of) in kinds.iter().enumerate() {
                let values: Vec<f64> = (0..count as u64).map(|place| of(uniform(7, place))).collect();
                let mut expected = values.clone();
                expected.sort_by(f64::total_cmp);
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&sorted(values)), bits(&expected), "{count} {kind}");
            }
        }
    }
}
