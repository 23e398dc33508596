//! `outcore import`, `generate` and `export`: graphs and arrays into images, and graphs back.

use crate::answer::{Answer, check_different, object_option, say};
use crate::args::{ExportArgs, GenerateArgs, ImportArgs, Purpose};
use crate::common::Limits;
use crate::id_lists::{in_line, read_ids};
use crate::image::array_id;
use crate::object::{Call, Found, Known, image_of, members};
use crate::progress::{runtime, runtime_or};
use crate::report::write_import;
use outcore::array::{self, ArrayImportOptions, ArrayImportReport, NumberOptions};
use outcore::format::Manifest;
use outcore::front_ends::{AtomicFile, Choice};
use outcore::generate::{self, GenerateOptions};
use outcore::import::{
    self, Attributes, Condition, Duplicates, Facts, IdKind, ImportEstimate, ImportOptions, ImportReport, ImportSummary,
    InputOptions, OrderChoice, Part, SelfLoops, Source, TextFacts,
};
use outcore::io::{Watch, backend, bytes_text, escaped, limit_text};
use outcore::{Error, Graph, GraphOptions, Result, Runtime};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Largest number of columns of an array that a report lists.
const MOST_COLUMNS_SHOWN: usize = 50;
/// Most characters of an id that are shown.
const MOST_ID_CHARACTERS: usize = 60;

pub fn import(args: &ImportArgs, call: &Call) -> Result<()> {
    if args.purpose == Purpose::Array {
        return import_array(args, call);
    }
    import_within_limits(args, call).map_err(|error| match opens_again(args) {
        true => args.limits.advise(error, |limits| plan_import(args, limits)),
        false => error,
    })
}

/// Whether all inputs can be opened again, for a limit that is advised. A pipe may be readable only once.
fn opens_again(args: &ImportArgs) -> bool {
    let (_, inputs) = args.paths.split_last().unzip();
    let tables = args.vertex_table.iter().chain(&args.vertices).chain(&args.exclude);
    let Ok(backend) = backend::by_name(&args.limits.backend) else { return false };
    inputs.unwrap_or_default().iter().chain(tables).all(|file| import::opens_again(&backend, file))
}

/// An input for whose import there is enough memory.
struct Opened<'a> {
    runtime: Runtime,
    image: &'a Path,
    source: Source,
}

fn open_source<'a>(args: &'a ImportArgs, limits: &Limits) -> Result<Opened<'a>> {
    let is_matrix = args.purpose == Purpose::Matrix;
    check_purpose(args, is_matrix)?;
    let input = input_options(args, is_matrix)?;
    let (image, inputs) = match args.paths.as_slice() {
        [inputs @ .., image] if !inputs.is_empty() => (image, inputs),
        paths => {
            let found = paths.first().map_or("nothing".to_owned(), |path| format!("{} alone", path.display()));
            return Err(Error::Usage(format!("expected inputs, and behind them the image to make, found {found}")));
        }
    };
    let runtime = runtime_or(limits, args.temporary.clone(), import::advise)?;
    if !args.explain {
        check_outputs(&runtime, args)?;
    }
    let part = |graph: &Graph| part(graph, args);
    check_parts(&runtime, inputs, args)?;
    let mut source = import::open_inputs(&runtime, inputs, &input, part)?;
    if let Some(shape) = args.shape {
        source = import::with_shape(source, shape)?;
    }
    if let Some(table) = &args.vertex_table {
        source = import::with_vertex_table(&runtime, source, table, &input)?;
    }
    Ok(Opened { runtime, image, source })
}

/// Refuses an import for which there is too little memory.
fn plan_import(args: &ImportArgs, limits: &Limits) -> Result<()> {
    let Opened { runtime, source, .. } = open_source(args, limits)?;
    import::check_memory(&runtime, source.facts())
}

fn import_within_limits(args: &ImportArgs, call: &Call) -> Result<()> {
    let Opened { runtime, image, source } = open_source(args, &args.limits)?;
    let is_matrix = args.purpose == Purpose::Matrix;
    let text = source.facts().text.clone();
    let options = import_options(args, source.facts());
    let mut needs = import::estimate(&runtime, source.facts(), &options);
    if args.explain && opens_again(args) {
        needs.memory_bytes = args.limits.enough(needs.memory_bytes, |limits| plan_import(args, limits));
    }
    call.known().plan = members(ImportPlan { format: source.facts().format, needs }).into();
    call.known().notes.clone_from(&source.facts().notes);
    // An image that is in the way is named without a word of what the import would take.
    if args.explain || args.replace || runtime.backend().named_itself(image).is_none() {
        announce(&needs, source.facts(), args)?;
    }
    if args.explain {
        check_outputs(&runtime, args)?;
        import::check(&runtime, &source, image, &options)?;
        return call.say();
    }
    let watch = args.report.as_ref().map(|_| Watch::start(&runtime));
    let report = import::import(&runtime, source, image, &options)?;
    let samples = watch.map(Watch::finish).unwrap_or_default();
    tell(&report, text.as_ref(), &args.limits);
    if is_matrix && args.shape.is_none() && report.manifest.rows.is_none() && !args.limits.quiet {
        let size = report.manifest.vertices;
        note!("{:12} {size} x {size}: every id of either column is a row and a column", "matrix");
    }
    call.known().image = image_of(image, Some(report.manifest.image_id));
    let summary = ImportSummary::of(report);
    call.known().notes.clone_from(&summary.notes);
    let mut facts = members(&summary);
    call.known().stats = facts.shift_remove("stats").unwrap_or_default();
    facts.shift_remove("notes");
    call.known().result = Some(Found::Values(facts));
    if let Some(file) = &args.report {
        write_import(&runtime, file, &summary, &needs, samples)?;
        call.wrote("--report", file);
    }
    account(call, &runtime)
}

/// The plan of an import.
#[derive(Serialize)]
struct ImportPlan {
    /// The format of the input
    format: &'static str,
    #[serde(flatten)]
    needs: ImportEstimate,
}

/// Options of an import, with the defaults of the input.
fn import_options(args: &ImportArgs, facts: &Facts) -> ImportOptions {
    ImportOptions {
        directed: direction(args),
        duplicates: args.duplicates.unwrap_or(match facts.keeps_parallel {
            true => Duplicates::Keep,
            false if args.purpose == Purpose::Matrix => Duplicates::Sum,
            false => Duplicates::First,
        }),
        self_loops: args.self_loops,
        order: args.order,
        rows: None,
        replace: args.replace,
        allow_empty: args.allow_empty,
        require_edges: args.require_edges,
        refuse_empty_files: args.refuse_empty_files,
    }
}

/// Writes the object of an import where it is wanted.
fn account(call: &Call, runtime: &Runtime) -> Result<()> {
    let answer = Answer::default();
    call.account(runtime, &answer)?;
    answer.heard()
}

/// The files that are written beside the image, with their options.
fn outputs(args: &ImportArgs) -> Vec<(&'static str, &Path)> {
    let stats = args.stats.as_deref().filter(|stats| *stats != Path::new("-"));
    let outputs = [("--stats", stats), ("--report", args.report.as_deref())];
    outputs.into_iter().filter_map(|(option, file)| Some((option, file?))).collect()
}

/// Refuses options of another purpose than a graph, or a matrix.
fn check_purpose(args: &ImportArgs, is_matrix: bool) -> Result<()> {
    let not_for_it = [
        ("columns", "array", args.columns.is_some()),
        ("dtype", "array", args.dtype.is_some()),
        ("shape", "matrix", args.shape.is_some() && !is_matrix),
    ];
    let Some((name, wanted, _)) = not_for_it.into_iter().find(|(_, _, is_given)| *is_given) else { return Ok(()) };
    let purpose = if is_matrix { "matrix" } else { "graph" };
    Err(Error::Usage(format!("--{name}: expected --as {wanted} beside it, found --as {purpose}")))
}

/// Refuses to take a part of files: their edges would bring back what it leaves out.
fn check_parts(runtime: &Runtime, inputs: &[PathBuf], args: &ImportArgs) -> Result<()> {
    let of_images =
        [("reverse", args.reverse), ("vertices", args.vertices.is_some()), ("exclude", args.exclude.is_some())];
    let Some((given, _)) = of_images.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let is_file = |input: &&PathBuf| !import::is_image(runtime, input);
    let files = inputs.iter().filter(is_file).count();
    match inputs.iter().find(is_file) {
        None => Ok(()),
        Some(_) if files == inputs.len() => {
            Err(Error::Usage(format!("--{given}: expected an image as input, found files")))
        }
        Some(file) => Err(Error::Usage(format!(
            "--{given}: expected images alone as inputs, found the file {} beside them, of which it takes no part; \
             import that first, or add it to the part",
            file.display()
        ))),
    }
}

/// Refuses statistics and a page in the place of the input, of the image or of each other, and files that cannot be
/// written.
fn check_outputs(runtime: &Runtime, args: &ImportArgs) -> Result<()> {
    let outputs = outputs(args);
    let known: Vec<_> = args.paths.iter().map(|path| ("the input or the image".to_owned(), &**path)).collect();
    check_different(runtime, &known, &outputs, object_option(args.json, args.stats.as_deref()))?;
    outputs.iter().try_for_each(|(_, file)| AtomicFile::within(runtime, file).map(drop))
}

/// Options for reading the input.
fn input_options(args: &ImportArgs, is_matrix: bool) -> Result<InputOptions> {
    Ok(InputOptions {
        format: args.format.clone(),
        ids: args.ids,
        source: args.source.clone(),
        target: args.target.clone(),
        weight: args.weight.clone(),
        attributes: match args.attributes.as_deref() {
            None => Attributes::None,
            Some([all]) if all == "all" => Attributes::All,
            Some(names) => Attributes::Named(names.to_vec()),
        },
        conditions: args.conditions.iter().map(|text| Condition::parse(text)).collect::<Result<_>>()?,
        of_vertices: false,
        delimiter: args.delimiter.clone(),
        header: args.header,
        comment: args.comment.clone(),
        nulls: args.nulls,
        bipartite: sides(args)?,
        directed: direction(args),
        allow_repeated: args.allow_repeated,
        united: None,
        is_matrix,
    })
}

/// The direction of edges, where it was said.
fn direction(args: &ImportArgs) -> Option<bool> {
    if args.directed { Some(true) } else { args.undirected.then_some(false) }
}

fn sides(args: &ImportArgs) -> Result<Option<[String; 2]>> {
    let Some(given) = &args.bipartite else { return Ok(None) };
    let two = <[String; 2]>::try_from(given.clone());
    two.map(Some).map_err(|found| {
        Error::Usage(format!("--bipartite: expected two prefixes, such as `user:,item:`, found `{}`", found.join(",")))
    })
}

/// The wanted part of an image as input.
fn part(graph: &Graph, args: &ImportArgs) -> Result<Part> {
    let mut part = Part::default();
    if let Some(file) = args.vertices.as_ref().or(args.exclude.as_ref()) {
        let mut memory = Vec::new();
        let ids = read_ids(graph.runtime(), file, &mut memory)?;
        part = Part::of_vertices(graph, &ids).map_err(|error| in_line(error, file, &ids))?;
    }
    if let Some(given) = part.vertices.take_if(|_| args.exclude.is_some()) {
        let others = (0..graph.vertices() as u32).filter(|&vertex| !given.contains(vertex));
        part = Part::of_numbers(graph, others)?;
    }
    part.reversed = args.reverse;
    Ok(part)
}

/// `outcore import --as array`.
fn import_array(args: &ImportArgs, call: &Call) -> Result<()> {
    let for_graphs = [
        ("directed", args.directed),
        ("undirected", args.undirected),
        ("format", args.format.is_some()),
        ("source", args.source.is_some()),
        ("target", args.target.is_some()),
        ("weight", args.weight.is_some()),
        ("ids", args.ids != IdKind::Auto),
        ("duplicates", args.duplicates.is_some()),
        ("shape", args.shape.is_some()),
        ("self-loops", args.self_loops != SelfLoops::Keep),
        ("order", args.order != OrderChoice::Auto),
        ("allow-empty", args.allow_empty),
        ("report", args.report.is_some()),
        ("require-edges", args.require_edges > 0),
        ("refuse-empty-files", args.refuse_empty_files),
        ("allow-repeated", args.allow_repeated),
        ("where", !args.conditions.is_empty()),
        ("explain", args.explain),
        ("vertices", args.vertices.is_some()),
        ("exclude", args.exclude.is_some()),
        ("reverse", args.reverse),
        ("attributes", args.attributes.is_some()),
        ("vertex-table", args.vertex_table.is_some()),
        ("bipartite", args.bipartite.is_some()),
    ];
    if let Some((name, _)) = for_graphs.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::Usage(format!("--{name}: expected a graph or a matrix, found --as array; leave it out")));
    }
    let [input, image] = args.paths.as_slice() else {
        let found = args.paths.len();
        return Err(Error::Usage(format!("expected one input and an image with --as array, found {found} paths")));
    };
    let runtime = runtime(&args.limits, args.temporary.clone())?;
    check_outputs(&runtime, args)?;
    let numbers = NumberOptions {
        columns: args.columns.clone(),
        delimiter: args.delimiter.clone(),
        header: args.header,
        comment: args.comment.clone(),
    };
    let options = ArrayImportOptions { numbers, element: args.dtype, replace: args.replace };
    let report = array::import_array_file(&runtime, input, image, &options)?;
    if !args.limits.quiet {
        tell_array(&report);
    }
    let image = image_of(image, array_id(&runtime, image));
    let stats = ArrayImportStats {
        seconds: report.seconds,
        image_bytes: report.image_bytes,
        memory_peak_bytes: report.memory_peak_bytes,
    };
    let result = ArrayImport {
        format: report.format,
        separator: report.separator,
        rows: report.rows,
        columns: report.columns,
        names: report.names,
        elements: report.kinds,
        element: report.element,
    };
    let (result, stats, notes) = (Some(Found::Values(members(result))), members(stats).into(), report.notes);
    *call.known() = Known { image, result, stats, notes, ..Known::default() };
    account(call, &runtime)
}

/// The import of an array.
#[derive(Serialize)]
struct ArrayImport {
    /// The format: `npy`, `parquet`, `arrow` or `text`
    format: &'static str,
    /// The separator of the columns, if the input is text
    separator: Option<String>,
    /// The number of rows
    rows: u64,
    /// The number of columns
    columns: u64,
    /// The names of the columns, if they have any
    names: Option<Vec<String>>,
    /// The types of the columns in the input
    elements: Vec<&'static str>,
    /// The type of the elements in the image
    element: &'static str,
}

/// The cost of the import of an array.
#[derive(Serialize)]
struct ArrayImportStats {
    /// The time, in seconds
    seconds: f64,
    /// The size of the image
    image_bytes: u64,
    /// The most memory that the process ever held
    memory_peak_bytes: u64,
}

/// Says how the table was read and what was made of it.
fn tell_array(report: &ArrayImportReport) {
    let line = |name: &str, value: String| note!("{name:12} {}", escaped(value));
    let between = report.separator.as_ref().map_or(String::new(), |separator| format!(", columns between {separator}"));
    line("format", format!("{}{between}", report.format));
    let kinds = report.kinds.iter().enumerate();
    let columns = kinds.map(|(place, kind)| match &report.names {
        Some(names) => format!("{} ({kind})", names[place]),
        None => format!("{} ({kind})", place + 1),
    });
    let listed: Vec<String> = columns.take(MOST_COLUMNS_SHOWN).collect();
    let more = report.kinds.len().saturating_sub(MOST_COLUMNS_SHOWN);
    line("columns", listed.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() });
    line("image", format!("{} x {} elements of {}", report.rows, report.columns, report.element));
    let (size, peak) = (bytes_text(report.image_bytes), bytes_text(report.memory_peak_bytes));
    line("size", format!("{size}; {:.1} s, peak memory {peak}", report.seconds));
    report.notes.iter().for_each(|note| note!("note: {}", escaped(note)));
}

pub fn generate(args: &GenerateArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let options = GenerateOptions {
        shape: args.shape,
        scale: args.scale,
        edge_factor: args.edge_factor,
        seed: args.seed,
        weights: args.weights,
    };
    let how = ImportOptions {
        directed: args.undirected.then_some(false),
        order: args.order,
        replace: args.replace,
        ..ImportOptions::default()
    };
    if args.output.extension().is_none_or(|ending| ending != "oc") {
        return generate::write(&runtime, &options, &how, &args.output).map(|_| ());
    }
    let report = import::import(&runtime, generate::source(&options)?, &args.output, &how)?;
    tell(&report, None, &args.limits);
    Ok(())
}

pub fn export(args: &ExportArgs) -> Result<()> {
    export_within_limits(args).map_err(|error| args.limits.advise(error, |limits| open_for_export(args, limits)))
}

/// Opens a graph for which there is enough memory to export it.
fn open_for_export(args: &ExportArgs, limits: &Limits) -> Result<Graph> {
    let graph = Graph::open(&runtime(limits, None)?, &args.image, GraphOptions::default())?;
    outcore::front_ends::check_export_memory(&graph, &args.output, args.vertex_table.as_deref(), None)?;
    Ok(graph)
}

fn export_within_limits(args: &ExportArgs) -> Result<()> {
    let graph = open_for_export(args, &args.limits)?;
    if let Some(table) = &args.vertex_table {
        outcore::front_ends::check_vertex_table(&args.output, table)?;
    }
    let report = outcore::export(&graph, &args.output)?;
    let vertices =
        args.vertex_table.as_ref().map(|table| outcore::data::export_vertices(&graph, table, None)).transpose()?;
    if !args.limits.quiet {
        let named = |file: &PathBuf| match outcore::front_ends::is_standard_output(file) {
            true => "the standard output".to_owned(),
            false => escaped(file.display()).to_string(),
        };
        let files: Vec<_> = report.files.iter().map(named).collect();
        note!("{} edges, {} isolated vertices in {}", report.edges, report.isolated_vertices, files.join(" and "));
        if let (Some(count), Some(table)) = (vertices, &args.vertex_table) {
            note!("{count} vertices in {}", escaped(table.display()));
        }
        report.notes(vertices.is_some()).iter().for_each(|note| note!("note: {}", escaped(note)));
    }
    Ok(())
}

/// Says beforehand what an import will need.
fn announce(need: &ImportEstimate, facts: &Facts, args: &ImportArgs) -> Result<()> {
    if args.explain && args.json {
        return Ok(());
    }
    if args.explain {
        let edges = need.edges.map_or("unknown".to_owned(), |edges| format!("about {edges}"));
        say(format_args!("format           {}", facts.format))?;
        say(format_args!("edges            {edges}"))?;
        say(format_args!("temporary space  {}", bytes_text(need.temporary_bytes)))?;
        say(format_args!("image            {}", bytes_text(need.image_bytes)))?;
        say(format_args!("both at a time   {}", bytes_text(need.peak_disk_bytes)))?;
        say(format_args!("memory           {} or more", limit_text(need.memory_bytes)))?;
        return facts.notes.iter().try_for_each(|note| say(format_args!("note             {note}")));
    }
    if !args.limits.quiet {
        note!(
            "importing {}: temporary space about {}, image about {}, both at a time {}",
            facts.format,
            bytes_text(need.temporary_bytes),
            bytes_text(need.image_bytes),
            bytes_text(need.peak_disk_bytes)
        );
    }
    Ok(())
}

/// Says which comments were skipped, how many files were read, if there are several, and which of folders were not.
fn tell_content(report: &ImportReport, line: &impl Fn(&str, String)) {
    let (facts, paths) = (&report.manifest.import, &report.files.paths);
    if let (Some(count @ 1..), Some(first)) = (facts.comments, &facts.first_comment) {
        line("comments", format!("{count} skipped, the first: {first}"));
    }
    if let [first, .., last] = &paths[..] {
        line("files", format!("{}: {} to {}", paths.len(), escaped(first.display()), escaped(last.display())));
    }
    if let Some(count @ 1..) = facts.files_not_read {
        let names = facts.first_files_not_read.as_deref().unwrap_or_default();
        let more = if names.len() as u64 == count { "" } else { ", ..." };
        line("left out", format!("{count}: {}{more}", names.join(", ")));
    }
}

/// Says which columns were kept.
fn tell_attributes(manifest: &Manifest, line: &impl Fn(&str, String)) {
    for (name, attributes) in [("attributes", &manifest.attributes), ("of vertices", &manifest.vertex_attributes)] {
        if !attributes.is_empty() {
            let all = attributes.iter().map(|attribute| format!("{} ({})", attribute.name, attribute.kind.name()));
            line(name, all.collect::<Vec<_>>().join(", "));
        }
    }
}

/// Says how the input was read and what was made of it, on one screen.
fn tell(report: &ImportReport, text: Option<&TextFacts>, limits: &Limits) {
    if limits.quiet {
        return;
    }
    let (manifest, stats, facts) = (&report.manifest, &report.stats, &report.manifest.import);
    let line = |name: &str, value: String| note!("{name:12} {}", escaped(value));
    let compression = facts.compression.as_ref().map_or(String::new(), |name| format!(", compressed with {name}"));
    line("format", format!("{}{compression}", facts.input_format));
    if let Some(text) = text {
        let header = if text.header { "the first line names them" } else { "no header" };
        line("columns", format!("{} between {}, {header}", text.columns, text.separator));
    }
    if let (Some(source), Some(target)) = (&facts.source, &facts.target) {
        line("source", source.clone());
        line("target", target.clone());
    }
    let place = text.and_then(|text| text.weight_column).map_or(String::new(), |column| format!(", column {column}"));
    line(
        "weights",
        manifest.weights().map_or("none".into(), |all| {
            let kind = if all.kind.is_real() { "real" } else { "whole" };
            format!("{}{place}, {} numbers", all.name, if manifest.complex { "complex" } else { kind })
        }),
    );
    tell_attributes(manifest, &line);
    line("ids", manifest.id_type_name().to_owned());
    let direction = if manifest.directed { "directed" } else { "undirected" };
    let why = match facts.direction_from.as_deref() {
        None | Some("the default") => "since nothing says otherwise".to_owned(),
        Some(from) => format!("as {from} says"),
    };
    line("direction", format!("{direction}, {why}"));
    tell_content(report, &line);
    tell_first_edges(report, &line);
    line("edges read", facts.edges_read.to_string());
    line("duplicates", format!("{}: {}", facts.duplicates, duplicates_meaning(&facts.duplicates_policy)));
    let treatment = if facts.self_loops_kept { "kept" } else { "dropped" };
    let stored = facts.self_loops_stored.unwrap_or(0);
    line("self-loops", format!("{} read, {treatment}; {stored} stored", facts.self_loops));
    if let Some(rows) = manifest.rows {
        let order = if manifest.integer_ids().is_none() { ", each in the order of the ids as text" } else { "" };
        let columns = manifest.vertices - rows;
        line("matrix", format!("{rows} x {columns}: vertices are rows, and behind them columns{order}"));
    }
    let isolated = facts.isolated_vertices;
    line(
        "image",
        format!(
            "{} ({isolated} isolated), {}",
            count(manifest.vertices, "vertex", "vertices"),
            count(manifest.edges, &format!("{direction} edge"), &format!("{direction} edges"))
        ),
    );
    let entries = manifest.out_lists.entries + manifest.in_lists.map_or(0, |lists| lists.entries);
    let per_edge = match entries {
        0 => String::new(),
        entries => format!(", {:.2} bytes per stored edge", stats.image_bytes as f64 / entries as f64),
    };
    line(
        "size",
        format!(
            "{} in {} order{per_edge}; {:.1} s, peak memory {}",
            bytes_text(stats.image_bytes),
            manifest.order.name(),
            stats.seconds,
            bytes_text(stats.memory_peak_bytes)
        ),
    );
    report.notes.iter().for_each(|note| note!("note: {note}"));
}

/// Shows the first edges as they were understood; of a rectangular matrix the first entries.
fn tell_first_edges(report: &ImportReport, line: &impl Fn(&str, String)) {
    let manifest = &report.manifest;
    for (place, edge) in report.first_edges.iter().enumerate() {
        let (name, arrow) = match manifest.rows {
            Some(_) => ("entries", ","),
            None if manifest.directed => ("first edges", " ->"),
            None => ("first edges", " --"),
        };
        let weight = edge.weight.as_ref().map_or(String::new(), |weight| format!(", weight {weight}"));
        let [source, target] = [&edge.source, &edge.target].map(|id| match manifest.integer_ids() {
            Some(_) => id.clone(),
            None => format!("{:?}", id.chars().take(MOST_ID_CHARACTERS).collect::<String>()),
        });
        line(if place == 0 { name } else { "" }, format!("{source}{arrow} {target}{weight}"));
    }
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The treatment of duplicates, in words.
fn duplicates_meaning(policy: &str) -> String {
    let choice = Duplicates::ALL.iter().find(|(_, name, _)| *name == policy);
    choice.map_or_else(|| policy.to_owned(), |(_, name, meaning)| format!("{name} ({})", meaning.to_lowercase()))
}
