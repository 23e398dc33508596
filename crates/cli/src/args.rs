//! The command line: what can be typed, and what it means.

use crate::common::{Limits, count, names, page};
use crate::run::RunArgs;
use crate::shell::{CompletionsArgs, ManArgs};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use outcore::ErrorKind;
use outcore::array::ElementType;
use outcore::front_ends::{Choice, EXPORT_ENDINGS, VERTEX_ENDINGS, version_text};
use outcore::generate::{GENERATE_ENDINGS, GeneratedWeights, Shape};
use outcore::import::{self, Duplicates, IdKind, Nulls, OrderChoice, SIDES, SelfLoops};
use std::path::PathBuf;

const FIRST_RUN: &str = "\
A first run:
  outcore generate kronecker --scale 20 k20.oc
  outcore run pagerank k20.oc --memory 64MiB";

/// The exit codes, as a table.
fn exit_codes() -> String {
    let codes = ErrorKind::ALL.map(|kind| format!("\n  {:>3}  {}", kind.exit_code(), kind.meaning()));
    format!("Exit codes:\n    0  success{}", codes.concat())
}

/// Analyse graphs many times larger than memory.
#[derive(Parser)]
#[command(name = "outcore", version = version_text(), arg_required_else_help = true)]
#[command(after_help = FIRST_RUN, after_long_help = format!("{FIRST_RUN}\n\n{}", exit_codes()))]
pub struct Cli {
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Make an image of an edge list, a matrix, a table or an array
    Import(Box<ImportArgs>),
    /// Make a graph: an edge file, or an image if OUTPUT ends in .oc
    Generate(GenerateArgs),
    /// Describe an image (vertices, edges, direction, ids, weights, and how the input was read), or how a file is
    /// read as an array
    Info(InfoArgs),
    /// Show the first edges of an image, as CSV
    Head(HeadArgs),
    /// Show the neighbours of vertices, as CSV
    #[command(alias = "neighbours")]
    Neighbors(NeighborsArgs),
    /// Show how many edges vertices have, as CSV; `run degree-centrality` has those of all
    Degrees(DegreesArgs),
    /// Verify every byte of an image
    Check(CheckArgs),
    /// Write an image's edges as an edge list, a matrix or a table
    Export(ExportArgs),
    /// Run an algorithm over an image
    Run(RunArgs),
    /// Run the Graphalytics benchmark over data sets, and validate what it finds
    Graphalytics(GraphalyticsArgs),
    /// Run the Graph500 benchmark, and validate what it finds
    Graph500(Graph500Args),
    /// Run the six kernels of the GAP benchmark suite over an image, and verify what they find
    Gap(GapArgs),
    /// Print what completes the command in a shell
    Completions(CompletionsArgs),
    /// Write manual pages, one per subcommand
    Man(ManArgs),
}

/// Takes the names of a choice.
fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("no such name"))
}

#[derive(Args)]
#[command(override_usage = "outcore import [OPTIONS] INPUT... IMAGE.oc")]
pub struct ImportArgs {
    /// The input, or several parts of one: files, compressed (gzip, zstd, bzip2, xz, zip) or not, folders of files,
    /// patterns of names in quotes, or - for the standard input; images too, to which the edges of files are added;
    /// last, the image to make, a directory whose name by custom ends in .oc
    #[arg(required = true, value_name = "INPUT... IMAGE.oc")]
    pub paths: Vec<PathBuf>,
    /// Edges have a direction (the default, unless the format says otherwise)
    #[arg(long, conflicts_with = "undirected")]
    pub directed: bool,
    /// Edges have no direction
    #[arg(long)]
    pub undirected: bool,
    /// The input's format; detected if not given
    #[arg(long, value_name = "NAME", value_parser = names(&import::formats()))]
    pub format: Option<String>,
    /// The column that holds the sources of edges, by name or by number from 1
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The column that holds the targets of edges
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// The column that holds the weights; `none` leaves weights out
    #[arg(long, value_name = "NAME")]
    pub weight: Option<String>,
    /// The other columns that are kept as attributes of edges, by name or by number from 1; `all` keeps all that have
    /// names
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub attributes: Option<Vec<String>>,
    /// Only edges that meet this, such as 'amount >= 100', 'type in friend,family' or 'since != null': an attribute,
    /// the weight or an end compared with a value; of an image also 'vertex.state = AT' for vertices and their edges,
    /// 'source.state = AT' for ends; given again, all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// A table of vertices (CSV, Parquet, Arrow): ids in its first column; the others are kept as attributes of
    /// vertices
    #[arg(long, value_name = "FILE")]
    pub vertex_table: Option<PathBuf>,
    /// Separator of the columns of a text file: tab, comma, semicolon, bar, blanks, or a character; detected if not
    /// given
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub delimiter: Option<String>,
    /// Whether the first line of a text file names the columns; detected if not given
    #[arg(long, value_parser = names(&[("yes", "It does"), ("no", "It does not")]).map(|answer| answer == "yes"))]
    pub header: Option<bool>,
    /// Sign that begins a comment in a text file, or `none`; # and % if not given, but nothing in CSV
    #[arg(long, value_name = "SIGN", allow_hyphen_values = true)]
    pub comment: Option<String>,
    /// How ids are read; by `auto`, a few words among integers are refused
    #[arg(long, value_parser = choice::<IdKind>(), default_value = "auto")]
    pub ids: IdKind,
    /// Treatment of rows whose source or target has no value
    #[arg(long, value_parser = choice::<Nulls>(), default_value = "error")]
    pub nulls: Nulls,
    /// Sources are one side of the graph and targets the other, such as users and items, and 1 of one side is not 1 of
    /// the other: the ids become strings with these prefixes, and the side an attribute `bipartite` of the vertices; of
    /// a matrix sources are its rows and targets its columns, each in the order of the ids as text
    #[arg(
        long,
        value_name = "LEFT,RIGHT",
        value_delimiter = ',',
        require_equals = true,
        num_args = 0..=1,
        default_missing_values = SIDES
    )]
    pub bipartite: Option<Vec<String>>,
    /// Treatment of edges that have the same ends; `first` if not given, of matrices `sum`
    #[arg(long, value_parser = choice::<Duplicates>())]
    pub duplicates: Option<Duplicates>,
    /// Purpose of the image. Graphs and matrices have the same format, but graphs are square and not complex
    #[arg(long = "as", value_enum, default_value = "graph")]
    pub purpose: Purpose,
    /// The columns of a table that an array has, by name or by number from 1; all of numbers if not given
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// The type of an array's elements; if not given, the one that holds the numbers of all columns, and of text int64,
    /// or float64 where a number is fractional or missing
    #[arg(long, value_name = "TYPE", value_parser = element())]
    pub dtype: Option<ElementType>,
    /// The rows and columns of the matrix whose entries a list or table holds, such as 1000x50: sources are then row
    /// indices, and targets column indices, from 0
    #[arg(long, value_name = "MxN", value_parser = shape)]
    pub shape: Option<[u64; 2]>,
    /// A file of ids, one a line: of an image as input only these vertices and the edges between them
    #[arg(long, value_name = "FILE")]
    pub vertices: Option<PathBuf>,
    /// A file of ids, one a line: of an image as input all vertices but these, and the edges between them
    #[arg(long, value_name = "FILE", conflicts_with = "vertices")]
    pub exclude: Option<PathBuf>,
    /// Reverses the edges of an image as input
    #[arg(long)]
    pub reverse: bool,
    /// Treatment of edges from a vertex to itself
    #[arg(long, value_parser = choice::<SelfLoops>(), default_value = "keep")]
    pub self_loops: SelfLoops,
    /// How vertices are numbered inside the image
    #[arg(long, value_parser = choice::<OrderChoice>(), default_value = "auto")]
    pub order: OrderChoice,
    /// An input without edges may replace an image or come from a pipe, and --where may leave none
    #[arg(long)]
    pub allow_empty: bool,
    /// Fail, and leave an image that is there as it is, if the input has fewer edges
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = count)]
    pub require_edges: u64,
    /// Fail, and leave an image that is there as it is, if one of several files has no edge
    #[arg(long)]
    pub refuse_empty_files: bool,
    /// A file or an image may be given twice, and its edges count twice then
    #[arg(long)]
    pub allow_repeated: bool,
    /// Write one JSON object to the standard output: options, what the import did and statistics, or the error
    #[arg(long)]
    pub json: bool,
    /// Write the object of --json to a file; `-` is the standard output
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    pub stats: Option<PathBuf>,
    /// Write a page about the import, in HTML: the graph, how the input was read, what was planned and what it took
    #[arg(long, value_name = "FILE.html", value_parser = page(), conflicts_with = "explain")]
    pub report: Option<PathBuf>,
    /// Where temporary files go; beside the image if not given
    #[arg(long, value_name = "DIR")]
    pub temporary: Option<PathBuf>,
    /// Replace the image, if there is one of that name, and nothing else in its directory
    #[arg(long)]
    pub replace: bool,
    /// Say what will be needed, and stop, with the exit code of an import that would be refused
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub limits: Limits,
}

fn shape(text: &str) -> Result<[u64; 2], String> {
    let sizes = text.split_once('x').and_then(|(rows, columns)| Some([rows.parse().ok()?, columns.parse().ok()?]));
    sizes.ok_or_else(|| "expected rows and columns, such as 1000x50".to_owned())
}

/// The purpose of an image.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Purpose {
    /// A graph
    Graph,
    /// A sparse matrix, perhaps complex or rectangular: row i is vertex i, and column j the one j behind the last row
    Matrix,
    /// A dense array: columns of numbers of a table (CSV and other text, Parquet, Arrow), or a .npy file
    Array,
}

fn element() -> impl TypedValueParser<Value = ElementType> {
    let values = PossibleValuesParser::new(ElementType::ALL.map(ElementType::name));
    values.try_map(|name| ElementType::from_name(&name).ok_or("no such type"))
}

#[derive(Args)]
pub struct GenerateArgs {
    /// Shape of the graph
    #[arg(value_parser = choice::<Shape>())]
    pub shape: Shape,
    /// An edge file or an image
    #[arg(help = format!("An edge file ({GENERATE_ENDINGS}, and .gz or .zst of the texts), or IMAGE.oc"))]
    pub output: PathBuf,
    /// The graph has 2 to this power vertices
    #[arg(long, value_name = "S", allow_negative_numbers = true, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=31))]
    pub scale: u32,
    /// Edges per vertex, in Kronecker and uniform graphs
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value_t = 16)]
    pub edge_factor: u64,
    /// Other seeds give other graphs
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    pub seed: u64,
    /// Give edges weights
    #[arg(long, value_parser = choice::<GeneratedWeights>())]
    pub weights: Option<GeneratedWeights>,
    /// Edges have no direction; of edge files, only .txt can say so
    #[arg(long)]
    pub undirected: bool,
    /// How vertices are numbered inside the image
    #[arg(long, value_parser = choice::<OrderChoice>(), default_value = "auto")]
    pub order: OrderChoice,
    /// Replace the image, if there is one of that name
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct InfoArgs {
    /// The image, or a .npy file or a table: then how it is read as an array
    pub image: PathBuf,
    /// Write one JSON object to the standard output
    #[arg(long)]
    pub json: bool,
    /// No messages but errors: there are none, so this changes nothing
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct HeadArgs {
    /// The image
    pub image: PathBuf,
    /// How many edges
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true)]
    #[arg(default_value_t = 10, value_parser = count)]
    pub edges: u64,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct NeighborsArgs {
    /// The image
    pub image: PathBuf,
    /// The vertices
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
    pub ids: Vec<String>,
    /// Where edges come from, instead of where they lead to
    #[arg(long = "in")]
    pub incoming: bool,
    /// Where edges come from and where they lead to; a column says which
    #[arg(long, conflicts_with = "incoming")]
    pub both: bool,
    /// How far: with 2, the neighbours of the neighbours too; a column says at which hop each edge is
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub hops: u32,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct DegreesArgs {
    /// The image
    pub image: PathBuf,
    /// The vertices
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct CheckArgs {
    /// The image
    pub image: PathBuf,
    /// Write one JSON object to the standard output, also where the image is damaged
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct ExportArgs {
    /// The image
    pub image: PathBuf,
    /// The file to write
    #[arg(
        allow_hyphen_values = true,
        help = format!("The file to write; its ending says the format: {EXPORT_ENDINGS}. - is the standard output, as .txt; \
                        -.csv and the like have another format")
    )]
    pub output: PathBuf,
    /// Another file for all vertices and their attributes
    #[arg(long, value_name = "FILE")]
    #[arg(help = format!("Another file, for all vertices and their attributes: {VERTEX_ENDINGS}"))]
    pub vertex_table: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct GraphalyticsArgs {
    /// Where data sets lie: NAME.v, NAME.e, NAME.properties, compressed or not, and reference outputs such as NAME-BFS,
    /// which are read uncompressed only
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Data sets, by their names; all if none is given
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// As one JSON array; it has the data sets before one that fails
    #[arg(long)]
    pub json: bool,
    /// Where images and temporary files go; the system's place for them if not given
    #[arg(long, value_name = "DIR")]
    pub temporary: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct Graph500Args {
    /// The graph has 2 to this power vertices
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=31))]
    pub scale: u32,
    /// Edges per vertex
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value_t = 16)]
    pub edge_factor: u64,
    /// Other seeds give other graphs and other roots
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    pub seed: u64,
    /// From how many vertices to search
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub roots: u32,
    /// Where the image and temporary files go; the system's place for them if not given
    #[arg(long, value_name = "DIR")]
    pub temporary: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args)]
pub struct GapArgs {
    /// The image
    pub image: PathBuf,
    /// The most trials of a kernel; the suite has 64 of searches, 16 of ranks, components and betweenness, 3 of
    /// triangles
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Other seeds give other sources
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub limits: Limits,
}
