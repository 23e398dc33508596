//! Principal components, and singular vectors of what is not centred.
//!
//! *Idea.* From the co-moments (`co_moments.rs`) by their eigenvectors; or, where singular values that are less than
//! about 1e-8 of the greatest one matter, from an R factor (`tsqr.rs`) by its singular vectors. Of each component the
//! entry of the greatest size is positive, as scikit-learn's `svd_flip` has it. *Cost.* One pass, `n p^2`
//! multiplications, or twice as many; `p^2` numbers.

use crate::common::{Costs, array, columns, finite_rows, matrix, usage};
use crate::declare::{
    Data, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, numbered, rows_shape,
};
use crate::decomposition::tsqr::{self, Factor};
use crate::moments::co_moments::{Moments, NOISE};
use crate::phases::{Phase, bytes_of, require};
use faer::{Mat, MatRef, Side};
use outcore_array::Array;
use outcore_array::kernel::Binary;
use outcore_declare::{Choice, DefaultValue, Fact, Kind, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::{Reservation, Runtime};

/// Method for the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PcaSolver {
    /// Eigenvectors of the covariance matrix.
    #[default]
    Covariance,
    /// Singular vectors of a factor of the data: twice the work, and small singular values to the full precision.
    Tsqr,
}

impl Choice for PcaSolver {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (PcaSolver::Covariance, "covariance_eigh", "From the covariance matrix"),
        (
            PcaSolver::Tsqr,
            "full",
            "From a QR factor of the data: twice the work, and small singular values to the full precision",
        ),
    ];
}

outcore_declare::from_names!(PcaSolver);

/// Options of [`pca`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PcaOptions {
    /// Number of components; `None` for the smaller of the numbers of rows and columns.
    pub components: Option<usize>,
    /// The method.
    pub solver: PcaSolver,
}

/// Principal components.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pca {
    /// The components, row by row (`k x p`).
    pub components: Vec<f64>,
    /// The variance along each, by the count less 1; 0 where rounding explains it.
    pub explained_variance: Vec<f64>,
    /// Explained variance as a fraction of the total variance.
    pub explained_variance_ratio: Vec<f64>,
    /// The singular values of the centred data.
    pub singular_values: Vec<f64>,
    /// The means of the columns.
    pub mean: Vec<f64>,
    /// The mean of the variances along the components that are left out.
    pub noise_variance: f64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Options of [`truncated_svd`].
#[derive(Clone, Copy, Debug)]
pub struct TruncatedSvdOptions {
    /// Number of components.
    pub components: usize,
    /// The method.
    pub solver: PcaSolver,
}

impl Default for TruncatedSvdOptions {
    fn default() -> Self {
        TruncatedSvdOptions { components: 2, solver: PcaSolver::default() }
    }
}

/// Singular vectors of data that are not centred.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TruncatedSvd {
    /// The right singular vectors, row by row (`k x p`).
    pub components: Vec<f64>,
    /// The variance of the data along each, by the count.
    pub explained_variance: Vec<f64>,
    /// Explained variance as a fraction of the total variance.
    pub explained_variance_ratio: Vec<f64>,
    /// The singular values.
    pub singular_values: Vec<f64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Singular values and right singular vectors, the greatest first; vectors are rows.
struct Spectrum {
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

/// The power of 4 next to a number, by which a matrix is divided so that squares neither overflow nor vanish.
fn near_one(number: f64) -> f64 {
    if number > 0.0 && number.is_finite() { (number.log2() / 2.0).floor().exp2().powi(2) } else { 1.0 }
}

fn failed<E: std::fmt::Debug>(error: E) -> Error {
    Error::Usage(format!("expected numbers whose singular values can be found, found {error:?}"))
}

impl Spectrum {
    /// The vector whose entry of the greatest size is positive.
    fn vector(entries: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut vector: Vec<f64> = entries.collect();
        let most = vector.iter().fold(0.0f64, |most, entry| if entry.abs() > most.abs() { *entry } else { most });
        if most < 0.0 {
            vector.iter_mut().for_each(|entry| *entry = -*entry);
        }
        vector
    }

    fn of_gram(gram: MatRef<'_, f64>) -> Result<Self> {
        // Squares of smaller numbers have lost digits.
        const LEAST: f64 = f64::MIN_POSITIVE / f64::EPSILON;
        let most = (0..gram.nrows()).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        if most < LEAST && gram.norm_max() > 0.0 {
            return usage("expected numbers whose squares are not below 1e-291, found smaller ones; scale them");
        }
        let scale = near_one(most);
        let scaled = Mat::from_fn(gram.nrows(), gram.ncols(), |i, k| gram[(i, k)] / scale);
        let eigen = scaled.self_adjoint_eigen(Side::Lower).map_err(failed)?;
        let values = eigen.S().column_vector().iter().map(|value| value.max(0.0).sqrt() * scale.sqrt());
        Ok(Spectrum::new(values.collect::<Vec<_>>(), eigen.U(), |k| gram.nrows() - 1 - k))
    }

    fn of_factor(factor: MatRef<'_, f64>) -> Result<Self> {
        let scale = near_one(factor.norm_max());
        let scaled = Mat::from_fn(factor.nrows(), factor.ncols(), |i, k| factor[(i, k)] / scale);
        let svd = scaled.thin_svd().map_err(failed)?;
        Ok(Spectrum::new(svd.S().column_vector().iter().map(|value| value * scale).collect(), svd.V(), |k| k))
    }

    /// Sets the values to 0 that rounding explains: that of elements, whose columns have the squared norms `sizes`, and
    /// errors of the computation. `error` is that of the square of a value, by its vector.
    fn without_noise(mut self, sizes: &[f64], error: impl Fn(&[f64]) -> f64) -> Self {
        let part = sizes.len() as f64 * NOISE * NOISE;
        for (value, vector) in self.values.iter_mut().zip(&self.vectors) {
            let elements: f64 = vector.iter().zip(sizes).map(|(entry, size)| part * entry * entry * size).sum();
            if *value * *value <= elements + error(vector) {
                *value = 0.0;
            }
        }
        self
    }

    /// Values and columns of vectors in an order: `place` is that of the k-th greatest.
    fn new(values: Vec<f64>, vectors: MatRef<'_, f64>, place: impl Fn(usize) -> usize) -> Self {
        let p = vectors.nrows();
        let vector = |k| Spectrum::vector((0..p).map(|i| vectors[(i, place(k))]));
        Spectrum { values: (0..p).map(|k| values[place(k)]).collect(), vectors: (0..p).map(vector).collect() }
    }
}

/// The phase of a fit: a pass, and the factors of its `p x p` numbers.
fn phase(x: &Array, solver: PcaSolver) -> Result<Phase> {
    let pass = match solver {
        PcaSolver::Covariance => Moments::lazy(x, None, None)?,
        PcaSolver::Tsqr => tsqr::lazy(x, true)?,
    };
    Ok(Phase::pass(vec![pass], bytes_of(80, &[columns(x), columns(x)])))
}

/// Reserves the memory of the factors, beside that of the pass, which is to be computed.
fn begin(runtime: &Runtime, x: &Array, solver: PcaSolver) -> Result<(Reservation, Array)> {
    let phase = phase(x, solver)?;
    require(runtime, "components", std::slice::from_ref(&phase))?;
    Ok((runtime.budget().reserve("factors of p x p numbers", phase.own_bytes)?, phase.arrays[0].clone()))
}

/// The principal components of `x` (`n x p`). One pass.
///
/// # Errors
/// NaN or infinite elements; fewer than 2 rows; more components than rows or columns.
pub fn pca(runtime: &Runtime, x: &Array, options: &PcaOptions) -> Result<Pca> {
    let x = matrix(x)?;
    let (rows, p) = (x.shape()[0], columns(&x));
    if rows < 2 {
        return usage(format!("expected 2 rows or more, found {rows}"));
    }
    let most = p.min(rows as usize);
    let count = options.components.unwrap_or(most);
    if count == 0 || count > most {
        return usage(format!("expected 1 to {most} components, found {count}"));
    }
    let (_memory, pass) = begin(runtime, &x, options.solver)?;
    let mut costs = Costs::default();
    // Error of eigenvalues, relative to the greatest, and of a factor's columns, relative to each.
    let rounding = p.max(16) as f64 * f64::EPSILON;
    // The squared norm of a column that is not centred.
    let size = |centred: f64, mean: f64| centred + rows as f64 * mean * mean;
    let (spectrum, mean) = match options.solver {
        PcaSolver::Covariance => {
            let moments = Moments::of(&costs.one(runtime, pass)?, p)?;
            let spectrum = Spectrum::of_gram(MatRef::from_row_major_slice(&moments.sums, p, p))?;
            let sizes: Vec<f64> = (0..p).map(|i| size(moments.sums[i * (p + 1)], moments.means[i])).collect();
            let most = spectrum.values[0] * spectrum.values[0];
            (spectrum.without_noise(&sizes, |_| rounding * most), moments.means)
        }
        PcaSolver::Tsqr => {
            let factor = Factor::of(&costs.one(runtime, pass)?, p)?;
            let spectrum = Spectrum::of_factor(factor.r.as_ref())?;
            let own: Vec<f64> = (0..p).map(|i| factor.r.col(i).squared_norm_l2()).collect();
            let sizes: Vec<f64> = own.iter().zip(&factor.means).map(|(own, mean)| size(*own, *mean)).collect();
            let error = |vector: &[f64]| -> f64 {
                vector.iter().zip(&own).map(|(entry, own)| (rounding * entry).powi(2) * own).sum()
            };
            (spectrum.without_noise(&sizes, error), factor.means)
        }
    };
    let degrees = (rows - 1) as f64;
    let variances: Vec<f64> = spectrum.values.iter().map(|value| value * value / degrees).collect();
    let total: f64 = variances.iter().sum();
    let rest = &variances[count..most];
    let noise_variance = if rest.is_empty() { 0.0 } else { rest.iter().sum::<f64>() / rest.len() as f64 };
    Ok(Pca {
        components: spectrum.vectors[..count].concat(),
        explained_variance: variances[..count].to_vec(),
        explained_variance_ratio: variances[..count].iter().map(|variance| variance / total).collect(),
        singular_values: spectrum.values[..count].to_vec(),
        mean,
        noise_variance,
        stats: costs.finish(None),
    })
}

impl Pca {
    /// Observations along the components (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn transform(&self, x: &Array) -> Result<Array> {
        let p = self.mean.len();
        let centred = finite_rows(x)?.binary(Binary::Subtract, &array(&self.mean, &[p]))?;
        projected(&centred, &self.components, p)
    }
}

/// The product with the transpose of vectors that are rows.
pub(crate) fn projected(x: &Array, vectors: &[f64], p: usize) -> Result<Array> {
    let count = vectors.len() / p;
    let transposed: Vec<f64> = (0..p * count).map(|place| vectors[place % count * p + place / count]).collect();
    x.matmul(&array(&transposed, &[p, count]))
}

/// The first right singular vectors of `x` (`n x p`), which is not centred. One pass.
///
/// # Errors
/// NaN or infinite elements; more components than rows or columns.
pub fn truncated_svd(runtime: &Runtime, x: &Array, options: &TruncatedSvdOptions) -> Result<TruncatedSvd> {
    let x = matrix(x)?;
    let (rows, p, count) = (x.shape()[0], columns(&x), options.components);
    let most = p.min(rows as usize);
    if count == 0 || count > most {
        return usage(format!("expected 1 to {most} components, found {count}"));
    }
    let (_memory, pass) = begin(runtime, &x, options.solver)?;
    let (mut costs, n) = (Costs::default(), rows as f64);
    // The factor, or matrix, of centred data and then that of all.
    let (spectrum, centred, total) = match options.solver {
        PcaSolver::Covariance => {
            let moments = Moments::of(&costs.one(runtime, pass)?, p)?;
            let (sums, means) = (MatRef::from_row_major_slice(&moments.sums, p, p), &moments.means);
            let gram = Mat::from_fn(p, p, |i, k| sums[(i, k)] + n * means[i] * means[k]);
            let total: f64 = (0..p).map(|i| sums[(i, i)]).sum();
            (Spectrum::of_gram(gram.as_ref())?, sums.to_owned(), total)
        }
        PcaSolver::Tsqr => {
            let factor = Factor::of(&costs.one(runtime, pass)?, p)?;
            let (r, means) = (&factor.r, &factor.means);
            let all = Mat::from_fn(p + 1, p, |i, k| if i < p { r[(i, k)] } else { n.sqrt() * means[k] });
            let sums = r.transpose() * r;
            (Spectrum::of_factor(all.as_ref())?, sums.clone(), (0..p).map(|i| sums[(i, i)]).sum())
        }
    };
    let along = |vector: &Vec<f64>| {
        let product = |i: usize| (0..p).map(|k| centred[(i, k)] * vector[k]).sum::<f64>();
        (0..p).map(|i| vector[i] * product(i)).sum::<f64>().max(0.0)
    };
    let squares: Vec<f64> = spectrum.vectors[..count].iter().map(along).collect();
    Ok(TruncatedSvd {
        components: spectrum.vectors[..count].concat(),
        explained_variance: squares.iter().map(|square| square / n).collect(),
        explained_variance_ratio: squares.iter().map(|square| square / total).collect(),
        singular_values: spectrum.values[..count].to_vec(),
        stats: costs.finish(None),
    })
}

impl TruncatedSvd {
    /// Observations along the components (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn transform(&self, x: &Array) -> Result<Array> {
        projected(&finite_rows(x)?, &self.components, self.components.len() / self.singular_values.len())
    }
}

const fn solver_option(name: &'static str) -> Parameter {
    let default = DefaultValue::Name("covariance_eigh");
    Parameter::new(name, Kind::choice::<PcaSolver>(), default, "How components are found")
}

pub(crate) static PCA: StatisticDeclaration = StatisticDeclaration {
    options: &[
        Parameter::new(
            "n_components",
            Kind::Whole { bits: 64, least: 1 },
            DefaultValue::None,
            "How many; if not given, all",
        ),
        solver_option("svd_solver"),
    ],
    ..StatisticDeclaration::new(
        "pca",
        "Principal components, in one pass",
        "the rows along the components",
        |data, values| {
            let (x, rows) = (data.array.clone(), data.rows());
            let most = data.names.len().min(usize::try_from(rows).unwrap_or(usize::MAX));
            let components = values.some_whole("n_components").map_or(most, |_| values.size("n_components"));
            let options = PcaOptions { components: Some(components), solver: values.choice("svd_solver") };
            planned(data, components, "pca", options.solver, move |runtime| {
                let found = pca(runtime, &x, &options)?;
                let rows = found.transform(&x)?;
                let more =
                    vec![("mean", Fact::vector(&found.mean)), ("noise_variance", Fact::Real(found.noise_variance))];
                let Pca { components, explained_variance, explained_variance_ratio, singular_values, stats, .. } =
                    found;
                let svd =
                    TruncatedSvd { components, explained_variance, explained_variance_ratio, singular_values, stats };
                Ok((svd, rows, more))
            })
        },
    )
};
pub(crate) static SVD: StatisticDeclaration = StatisticDeclaration {
    aliases: &["truncated_svd"],
    options: &[Parameter::count("n_components", 2, "How many"), solver_option("algorithm")],
    ..StatisticDeclaration::new(
        "svd",
        "The greatest singular values and right singular vectors of data that are not centred, in one pass",
        "the rows along the singular vectors",
        |data, values| {
            let (x, components) = (data.array.clone(), values.size("n_components"));
            let options = TruncatedSvdOptions { components, solver: values.choice("algorithm") };
            planned(data, components, "svd", options.solver, move |runtime| {
                let found = truncated_svd(runtime, &x, &options)?;
                let rows = found.transform(&x)?;
                Ok((found, rows, Vec::new()))
            })
        },
    )
};

type Projection = (TruncatedSvd, Array, Vec<(&'static str, Fact)>);

fn planned(
    data: &Data,
    components: usize,
    name: &'static str,
    solver: PcaSolver,
    of: impl Fn(&Runtime) -> Result<Projection> + 'static,
) -> Result<StatisticPlan> {
    let x = matrix(&data.array)?;
    let phases = vec![phase(&x, solver)?];
    if components > data.names.len() {
        return usage(format!("expected 1 to {} components, found {components}", data.names.len()));
    }
    let (rows, columns, names) = (data.rows(), data.names.clone(), numbered(name, components));
    let (p, fitted) = (columns.len(), columns.clone());
    let written = projected(&x.binary(Binary::Subtract, &array(&vec![0.0; p], &[p]))?, &vec![0.0; components * p], p)?;
    let output = rows_shape(data, names.clone(), false);
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let (found, projected, more) = of(runtime)?;
        let mut facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("components", Fact::matrix(&found.components, components)),
            ("explained_variance", Fact::vector(&found.explained_variance)),
            ("explained_variance_ratio", Fact::vector(&found.explained_variance_ratio)),
            ("singular_values", Fact::vector(&found.singular_values)),
        ];
        facts.extend(more);
        let share: f64 = found.explained_variance_ratio.iter().sum();
        let lines = vec![format!("{components} components of {rows} rows explain {share:.6} of the variance")];
        let table = StatisticTable {
            labels: ("component", names.clone()),
            names: ["variance", "ratio", "singular"].map(str::to_owned).to_vec(),
            columns: vec![found.explained_variance, found.explained_variance_ratio, found.singular_values],
        };
        let rows = Some((projected, names.clone()));
        Ok(StatisticFinding { lines, table, facts, rows, unconverged: None, stats: found.stats })
    };
    Ok(StatisticPlan {
        phases,
        result_bytes: bytes_of(32, &[components, p + 3]),
        passes: "1, and one to write rows".to_owned(),
        output,
        rows: Some(written),
        columns: fitted,
        run: Box::new(run),
    })
}
