//! An algorithm as its users see it, declared once beside its kernel.
//!
//! A declaration is an [`Algorithm`]: names, texts, options, attributes of the result, and the typed functions behind
//! them ([`Typed`]). From the list of all declarations ([`ALGORITHMS`](crate::ALGORITHMS)) follow the commands of the
//! shell, the functions and stubs of Python, estimates, the table of `docs/algorithms.md`, the kernels of Graphalytics,
//! and what the tests run. `docs/howto/add-an-algorithm.md` shows one.
//!
//! A run by a user takes these steps: texts or objects become [`Value`]s, which a [`Parameter`] checks;
//! [`OptionValues`] add the defaults; [`Algorithm::plan`] turns them into typed options; [`Plan`] estimates the run,
//! and runs it.

use crate::estimate::Estimate;
use crate::results::Columns;
use outcore_declare::{Declared, OptionValues, Parameter, Signature, option_of};
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Buffer;
use outcore_table::Column;

/// The declaration of an algorithm.
pub struct Algorithm {
    /// Its name in Rust, in Python and in the shell, which writes `-` for `_`.
    pub name: &'static str,
    /// Other names that it has in Python and in the shell.
    pub aliases: &'static [&'static str],
    /// The name of its results' class in Python.
    pub class: &'static str,
    /// Its result, in a sentence without a full stop.
    pub summary: &'static str,
    /// Its options, those that must be given first.
    pub options: &'static [Parameter],
    /// The attributes of its result, in the order of [`Finding::attributes`].
    pub attributes: &'static [ResultAttribute],
    /// Its documentation in Python.
    pub doc: Doc,
    /// Whether ranks that did not converge are an error, unless the caller accepts them.
    pub must_converge: bool,
    /// The option whose number of members the option `k` of estimates stands for.
    pub counted: Option<&'static str>,
    /// The memory of the report, where that may be more than that of the run.
    pub report_needs: Option<ReportNeeds>,
    /// The kernel that it is in LDBC Graphalytics.
    pub graphalytics: Option<Graphalytics>,
    /// Options with which tests run it. Vertices are given by their numbers in the image.
    pub examples: &'static [&'static [(&'static str, &'static str)]],
    /// The functions behind it.
    pub kernel: &'static dyn Kernel,
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Algorithm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The memory of the result and its report together.
#[derive(Clone, Copy, Debug)]
pub struct ReportNeeds {
    /// The purpose of the memory, as an error names it.
    pub purpose: &'static str,
    /// How much it is, in bytes.
    pub bytes: fn(&Graph) -> u64,
}

/// The texts of an algorithm, as Python shows them.
#[derive(Debug)]
pub struct Doc {
    /// Further notes on the result; may be empty.
    pub about: &'static str,
    /// The columns and attributes of the result.
    pub returns: &'static str,
    /// Passes and memory.
    pub cost: &'static str,
    /// When the question cannot be answered; may be empty.
    pub refuses: &'static str,
    /// Differences from NetworkX; may be empty.
    pub differences: &'static str,
    /// The equivalent call of NetworkX. Tests compare both.
    pub networkx: Option<Oracle>,
    /// Where it was published; may be empty.
    pub references: &'static str,
    /// An example in Python over the graph `g` of the documentation.
    pub example: &'static str,
}

/// The equivalent call of NetworkX for some options.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    /// The options. The vertices of the test's graphs are numbers from 0.
    pub options: &'static [(&'static str, &'static str)],
    /// An expression in Python over a NetworkX graph `G` and the module `nx`: a dict from vertices to their values of
    /// the first column. Those that it leaves out have none.
    pub expression: &'static str,
}

impl Doc {
    /// A declaration without texts, to be completed.
    pub const NONE: Doc = Doc {
        about: "",
        returns: "",
        cost: "",
        refuses: "",
        differences: "",
        networkx: None,
        references: "",
        example: "",
    };
}

/// A value of a result that is not a column.
#[derive(Debug)]
pub struct ResultAttribute {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: DatumKind,
    /// Its meaning, in a sentence without a full stop.
    pub help: &'static str,
}

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatumKind {
    /// A whole number.
    Whole,
    /// Whole numbers.
    Wholes,
    /// The least and the greatest that a whole number can be.
    Bounds,
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// A word.
    Text,
    /// Vertices; users see their ids. There may be none.
    Vertices,
    /// The vertices on a path; users see their ids, which are looked up on access. There may be no path.
    Path,
    /// Distances between sources and targets, which become a table on access.
    Distances,
}

/// The value of an attribute.
#[derive(Debug)]
pub enum Datum {
    /// A whole number.
    Whole(u64),
    /// Whole numbers.
    Wholes(Vec<u64>),
    /// The least and the greatest that a whole number can be.
    Bounds(u64, u64),
    /// A real number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(&'static str),
    /// Vertices, as numbered in the image.
    Vertices(Option<Vec<u32>>),
    /// The vertices on a path, as numbered in the image.
    Path(Option<Vec<u32>>),
    /// Distances plus one, source by source; 0 where there is no path.
    Distances {
        /// The values.
        levels: Buffer<u32>,
        /// How many sources there are.
        sources: usize,
        /// How many targets.
        targets: usize,
    },
}

/// The kernel that an algorithm is in LDBC Graphalytics.
#[derive(Debug)]
pub struct Graphalytics {
    /// Its name there.
    pub name: &'static str,
    /// The place among the kernels in reports.
    pub place: u8,
    /// Options, and the properties of a data set that give them. A kernel is not run where one is missing.
    pub properties: &'static [(&'static str, &'static str)],
    /// Options that are always the same.
    pub fixed: &'static [(&'static str, &'static str)],
}

/// The result of an algorithm, in the form that all of them share.
#[derive(Debug)]
pub struct Finding {
    /// The columns, with their names.
    pub columns: Vec<(String, Column)>,
    /// The attributes, in the order of the declaration.
    pub attributes: Vec<Datum>,
    /// The columns whose greatest values the shell shows, each under a heading, which may be empty.
    pub shown: Vec<(String, usize)>,
    /// The facts about ranks that did not converge although they should.
    pub unconverged: Option<Unconverged>,
    /// Statistics of the run.
    pub stats: Stats,
}

/// Ranks that did not reach the requested tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Unconverged {
    /// The requested tolerance.
    pub tol: f64,
    /// The residual when the iterations ended.
    pub residual: f64,
    /// How many iterations were made.
    pub iterations: u32,
    /// The advice to the user.
    pub remedy: Remedy,
}

/// The remedy for ranks that did not converge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// More iterations, or a greater tolerance.
    Iterations,
    /// A walk that jumps: without jumps ranks may change for ever.
    Jumps,
    /// A greater tolerance, or ranks that are not pushed: rounding hides what is less.
    Precision,
}

impl Remedy {
    /// The advice, in the imperative; `option` writes the name of an option as its reader knows it.
    pub fn advice(self, option: impl Fn(&str) -> String) -> String {
        let [max_iter, tol, alpha, method] = ["max_iter", "tol", "alpha", "method"].map(option);
        match self {
            Remedy::Iterations => format!("raise {max_iter} or {tol}"),
            Remedy::Jumps => format!(
                "take an {alpha} below 1, since a walk that never jumps may go round for ever: then no {max_iter} is \
                 enough"
            ),
            Remedy::Precision => format!(
                "raise {tol}, which is below what the rounding of pushed ranks leaves, or take the {method} 'power'"
            ),
        }
    }
}

impl ResultAttribute {
    /// An attribute.
    pub const fn new(name: &'static str, kind: DatumKind, help: &'static str) -> Self {
        ResultAttribute { name, kind, help }
    }
}

impl Finding {
    /// Attributes, and the columns of a result.
    ///
    /// # Errors
    /// Too little memory for a column that has still to be made.
    pub(crate) fn new(graph: &Graph, attributes: Vec<Datum>, result: impl Columns) -> Result<Self> {
        let (columns, stats) = result.into_columns(graph)?;
        Ok(Finding { columns, attributes, shown: Vec::new(), unconverged: None, stats })
    }

    /// Makes the shell show the first column under a heading.
    pub fn shown(mut self, heading: &str) -> Self {
        self.shown.push((heading.to_owned(), 0));
        self
    }
}

/// A sink for the lines of a report.
pub type Say<'a> = &'a mut dyn FnMut(std::fmt::Arguments<'_>);

/// Reports a single line.
pub(crate) fn say_line(say: Say<'_>, line: std::fmt::Arguments<'_>) -> Result<()> {
    say(line);
    Ok(())
}

/// The number of ids that are looked up together.
const IDS_AT_ONCE: usize = 4096;

/// Reports a line for each of some vertices; `line` makes it of the vertex's place among them and its id.
///
/// # Errors
/// Ids that cannot be read.
pub fn say_ids(graph: &Graph, vertices: &[u32], say: Say<'_>, line: impl Fn(usize, &str) -> String) -> Result<()> {
    for (part, vertices) in vertices.chunks(IDS_AT_ONCE).enumerate() {
        for (i, id) in graph.ids_of(vertices)?.iter().enumerate() {
            say(format_args!("{}", line(part * IDS_AT_ONCE + i, &id.to_string())));
        }
    }
    Ok(())
}

/// The functions behind an algorithm, whatever their types are.
pub trait Kernel: sealed::Sealed + Sync {
    /// The run with these options.
    ///
    /// # Errors
    /// Options that cannot be, such as a vertex that is not there.
    fn plan(&'static self, graph: &Graph, values: OptionValues) -> Result<Box<dyn Plan>>;
}

/// A run with its options.
pub trait Plan: sealed::Sealed + Send {
    /// The estimate of the run.
    fn estimate(&self, graph: &Graph) -> Estimate;

    /// Runs it; verifies the result if `verify`, and reports on it to `say` if there is one.
    ///
    /// # Errors
    /// Those of the algorithm, and of its verification.
    fn run(&self, graph: &Graph, verify: bool, say: Option<Say<'_>>) -> Result<Finding>;

    /// The typed options as text.
    fn options(&self) -> String;

    /// The options as they were given, with their defaults.
    fn values(&self) -> &OptionValues;
}

/// The functions of an algorithm with options `O` and result `F`.
pub struct Typed<O: 'static, F: 'static> {
    /// Makes options of the values that users give.
    pub options: fn(&Graph, &OptionValues) -> Result<O>,
    /// Estimates memory, passes and reads.
    pub estimate: fn(&Graph, &O) -> Estimate,
    /// Runs it.
    pub run: fn(&Graph, &O) -> Result<F>,
    /// Checks a result with an independent algorithm.
    pub verify: fn(&Graph, &O, &F) -> Result<()>,
    /// Describes a result in lines.
    pub report: fn(Outcome<'_, O, F>, Say<'_>) -> Result<()>,
    /// Gives a result the form that all share.
    pub finding: fn(&Graph, &OptionValues, &O, F) -> Result<Finding>,
}

/// The input of a report: graph, options and result.
pub struct Outcome<'a, O, F> {
    /// The graph.
    pub graph: &'a Graph,
    /// The values of the options.
    pub values: &'a OptionValues,
    /// The options.
    pub options: &'a O,
    /// The result.
    pub result: &'a F,
}

struct Run<O: 'static, F: 'static> {
    typed: &'static Typed<O, F>,
    values: OptionValues,
    options: O,
}

impl<O: Send + std::fmt::Debug, F> Kernel for Typed<O, F> {
    fn plan(&'static self, graph: &Graph, values: OptionValues) -> Result<Box<dyn Plan>> {
        let options = (self.options)(graph, &values)?;
        Ok(Box::new(Run { typed: self, values, options }))
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}

    impl<O, F> Sealed for super::Run<O, F> {}
    impl<O, F> Sealed for super::Typed<O, F> {}
    impl Sealed for super::OptionValues {}
}

impl<O: Send + std::fmt::Debug, F> Plan for Run<O, F> {
    fn estimate(&self, graph: &Graph) -> Estimate {
        (self.typed.estimate)(graph, &self.options)
    }

    fn run(&self, graph: &Graph, verify: bool, say: Option<Say<'_>>) -> Result<Finding> {
        let Run { typed, values, options } = self;
        let result = (typed.run)(graph, options)?;
        if verify {
            outcore_io::let_go_of_code();
            (typed.verify)(graph, options, &result)?;
        }
        if let Some(say) = say {
            (typed.report)(Outcome { graph, values, options, result: &result }, say)?;
        }
        (typed.finding)(graph, values, options, result)
    }

    fn options(&self) -> String {
        format!("{:?}", self.options)
    }

    fn values(&self) -> &OptionValues {
        &self.values
    }
}

impl Declared for Algorithm {
    fn signature(&self) -> Signature {
        let Algorithm { name, aliases, summary, options, must_converge, counted, .. } = *self;
        Signature { name, aliases, summary, options, must_converge, counted }
    }
}

impl Algorithm {
    /// An algorithm without options and attributes, to be completed.
    pub const fn new(name: &'static str, class: &'static str, kernel: &'static dyn Kernel) -> Self {
        Algorithm {
            name,
            aliases: &[],
            class,
            summary: "",
            options: &[],
            attributes: &[],
            doc: Doc::NONE,
            must_converge: false,
            counted: None,
            report_needs: None,
            graphalytics: None,
            examples: &[&[]],
            kernel,
        }
    }

    /// The algorithm that has this name, in Python or in the shell.
    pub fn named(name: &str) -> Option<&'static Algorithm> {
        outcore_declare::named(crate::ALGORITHMS, name)
    }

    /// The option that has this name.
    ///
    /// # Errors
    /// There is none.
    pub fn option(&self, name: &str) -> Result<&'static Parameter> {
        option_of(self.name, self.options, name)
    }

    /// The run with these options.
    ///
    /// # Errors
    /// Options that cannot be, such as a vertex that is not there.
    pub fn plan(&self, graph: &Graph, values: OptionValues) -> Result<Box<dyn Plan>> {
        self.kernel.plan(graph, values)
    }
}
