//! `outcore run`: an algorithm over an image, its answer, and what it cost.

use crate::args::{Algorithm, Common, IdList, RunArgs, Walk, all_ids};
use crate::convert::output_error;
use crate::progress::runtime;
use outcore::io::{bytes_text, escaped, folder};
use outcore::{
    AllPairsOptions, BetweennessOptions, Bfs, BfsOptions, ClusteringOptions, Column, Components, ComponentsOptions,
    CoreNumbersOptions, Error, Estimate, Graph, GraphOptions, LabelPropagationOptions, LccOptions, MultiSourceBfs,
    MultiSourceBfsOptions, PageRankOptions, PersonalizedPageRankOptions, Result, ScanStatisticsOptions, SsspOptions,
    Stats, StoppedBy, StrongComponentsOptions, Table, TrianglesOptions, cell_text, verify,
};
use std::cell::RefCell;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// How many of the first rows are shown.
const SHOWN: usize = 10;
/// So many ids are looked up together.
const IDS_AT_ONCE: usize = 4096;
/// The exit code of a run whose ranks did not converge.
const UNCONVERGED: u8 = 4;

/// `outcore run`. The exit code is 4 if ranks did not converge.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let outcome = match &args.algorithm {
        Algorithm::Pagerank { walk, method, dangling, weights, common } => {
            let graph = open(common)?;
            let &Walk { alpha, tol, stop, max_iter, .. } = walk;
            let (method, dangling, weights) = (*method, *dangling, weights.of(&graph)?);
            let options = PageRankOptions { alpha, tol, stop, max_iter, method, dangling, weights };
            return pagerank(&graph, &options, walk.allow_unconverged, common);
        }
        Algorithm::PersonalizedPagerank { seeds, walk, weights, common } => {
            let graph = open(common)?;
            let &Walk { alpha, tol, stop, max_iter, .. } = walk;
            let set = |set: &IdList| set.ids.iter().map(|id| (id.clone(), 1.0)).collect();
            let sets: Vec<Vec<(String, f64)>> = seeds.iter().map(set).collect();
            let (sets, weights) = (outcore::seeds_of_ids(&graph, &sets)?, weights.of(&graph)?);
            let options = PersonalizedPageRankOptions { seeds: sets, alpha, tol, stop, max_iter, weights };
            return personalized_pagerank(&graph, seeds, &options, walk.allow_unconverged, common);
        }
        Algorithm::Bfs { source, depth_limit, target, common } => bfs(source, *depth_limit, target.as_deref(), common),
        Algorithm::MultiSourceBfs { sources, targets, depth_limit, common } => {
            let graph = open(common)?;
            let (sources, targets) = (&all_ids(sources), &all_ids(targets));
            let options = MultiSourceBfsOptions {
                sources: graph.vertices_of(sources)?,
                targets: graph.vertices_of(targets)?,
                depth_limit: *depth_limit,
            };
            multi_source_bfs(&graph, (sources, targets), &options, common)
        }
        Algorithm::AllPairs { sources, common } => {
            let graph = open(common)?;
            all_pairs(&graph, &AllPairsOptions { sources: sources.of(&graph)? }, common)
        }
        Algorithm::BetweennessCentrality { sources, normalized, endpoints, failure, common } => {
            let graph = open(common)?;
            let sources = sources.of(&graph)?;
            let (normalized, endpoints, failure) = (*normalized, *endpoints, *failure);
            betweenness_centrality(&graph, &BetweennessOptions { sources, normalized, endpoints, failure }, common)
        }
        Algorithm::Sssp { source, delta, weights, common } => {
            let graph = open(common)?;
            let options =
                SsspOptions { source: graph.vertex(source)?, weights: weights.as_lengths(&graph)?, delta: *delta };
            sssp(&graph, source, &options, common)
        }
        Algorithm::Components { common } => components(common),
        Algorithm::StrongComponents { common } => strong_components(common),
        Algorithm::CoreNumber { common } => core_number(common),
        Algorithm::LabelPropagation { max_iter, common } => {
            label_propagation(&LabelPropagationOptions { max_iter: *max_iter }, common)
        }
        Algorithm::Triangles { common } => triangles(common),
        Algorithm::Clustering { common } => clustering(common),
        Algorithm::ScanStatistics { top, common } => scan_statistics(&ScanStatisticsOptions { top: *top }, common),
        Algorithm::Lcc { common } => lcc(common),
    };
    outcome.map(|()| ExitCode::SUCCESS)
}

fn open(common: &Common) -> Result<Arc<Graph>> {
    let runtime = runtime(&common.limits, None)?;
    Ok(Arc::new(Graph::open(&runtime, &common.image, GraphOptions { cache_bytes: common.cache })?))
}

fn bfs(source: &str, depth_limit: Option<u32>, target: Option<&str>, common: &Common) -> Result<()> {
    let graph = open(common)?;
    let target_vertex = target.map(|id| graph.vertex(id)).transpose()?;
    let options = BfsOptions { source: graph.vertex(source)?, depth_limit, target: target_vertex };
    if planned(&graph, common, &outcore::estimate_bfs(&graph))? {
        return Ok(());
    }
    let found = outcore::bfs(&graph, &options)?;
    if common.verify {
        verify::verify_bfs(&graph, &options, &found)?;
    }
    if !common.limits.quiet {
        show_search(&graph, &found, source, target.zip(target_vertex), common)?;
    }
    let columns = vec![
        ("level".to_owned(), Column::Level(Arc::new(found.levels))),
        ("parent".to_owned(), Column::Vertex(Arc::new(found.parents))),
    ];
    finish(&graph, columns, &found.stats, common)
}

/// Says how many vertices are on each level, and the path to the target.
fn show_search(graph: &Graph, found: &Bfs, source: &str, target: Option<(&str, u32)>, common: &Common) -> Result<()> {
    common.say(format_args!("reached {} of {} vertices from {source}", found.reached, graph.vertices()));
    for (level, size) in found.level_sizes(graph, 20)?.iter().enumerate() {
        common.say(format_args!("  level {level:<4} {size}"));
    }
    if found.depth >= 20 {
        common.say(format_args!("  ... and {} more levels", found.depth - 19));
    }
    let Some((id, vertex)) = target else { return Ok(()) };
    let Some(path) = found.path(graph, vertex)? else {
        common.say(format_args!("no path from {source} to {id}"));
        return Ok(());
    };
    common.say(format_args!("path of {} edges from {source} to {id}", path.len() - 1));
    show_ids(graph, &path, common, |_, id| format!("  {id}"))
}

fn multi_source_bfs(
    graph: &Arc<Graph>,
    (sources, targets): (&[String], &[String]),
    options: &MultiSourceBfsOptions,
    common: &Common,
) -> Result<()> {
    if planned(graph, common, &outcore::estimate_multi_source_bfs(graph, options))? {
        return Ok(());
    }
    let found = outcore::multi_source_bfs(graph, options)?;
    if common.verify {
        verify::verify_multi_source_bfs(graph, options, &found)?;
    }
    for (i, (source, reach)) in sources.iter().zip(&found.reach).enumerate() {
        common
            .say(format_args!("{source} reaches {} vertices, the farthest at distance {}", reach.reached, reach.depth));
        for (j, target) in targets.iter().enumerate() {
            match found.level(i, j) {
                Some(level) => common.say(format_args!("  {target:24} {level}")),
                None => common.say(format_args!("  {target:24} no path")),
            }
        }
    }
    finish_search(graph, found, common)
}

fn all_pairs(graph: &Arc<Graph>, options: &AllPairsOptions, common: &Common) -> Result<()> {
    if planned(graph, common, &outcore::estimate_all_pairs(graph, options))? {
        return Ok(());
    }
    let found = outcore::all_pairs(graph, options)?;
    if common.verify {
        verify::verify_all_pairs(graph, options, &found)?;
    }
    common.say(format_args!("the diameter is at least {} and at most {}", found.diameter_least, found.diameter_most));
    show_ids(graph, &found.sources, common, |i, id| {
        let reach = &found.search.reach[i];
        format!("  {id:<24} reaches {} vertices, eccentricity {}", reach.reached, reach.depth)
    })?;
    finish_search(graph, found.search, common)
}

/// The columns of a search from many sources.
fn finish_search(graph: &Arc<Graph>, found: MultiSourceBfs, common: &Common) -> Result<()> {
    let columns = vec![
        ("reached_by".to_owned(), Column::Number(Arc::new(found.reached_by))),
        ("distance_sum".to_owned(), Column::Count(Arc::new(found.distance_sums))),
    ];
    finish(graph, columns, &found.stats, common)
}

fn betweenness_centrality(graph: &Arc<Graph>, options: &BetweennessOptions, common: &Common) -> Result<()> {
    if planned(graph, common, &outcore::estimate_betweenness_centrality(graph, options))? {
        return Ok(());
    }
    let found = outcore::betweenness_centrality(graph, options)?;
    if common.verify {
        verify::verify_betweenness_centrality(graph, options, &found)?;
    }
    common.say(format_args!("from {} of {} vertices", found.sources.len(), graph.vertices()));
    if found.error_bound.is_finite() && found.error_bound > 0.0 {
        let sure = 1.0 - options.failure;
        common.say(format_args!("with probability {sure}, no vertex is off by more than {:e}", found.error_bound));
    }
    let scores = Column::Real(Arc::new(found.scores));
    show_top(&Table::new(Arc::clone(graph), vec![("betweenness".to_owned(), scores.clone())]), "betweenness", common)?;
    finish(graph, vec![("betweenness".to_owned(), scores)], &found.stats, common)
}

fn sssp(graph: &Arc<Graph>, source: &str, options: &SsspOptions, common: &Common) -> Result<()> {
    if planned(graph, common, &outcore::estimate_sssp(graph, options))? {
        return Ok(());
    }
    let found = outcore::sssp(graph, options)?;
    if common.verify {
        verify::verify_sssp(graph, options, &found)?;
    }
    common.say(format_args!("{} of {} vertices have a path from {source}", found.reached, graph.vertices()));
    let distances = Column::Distance(Arc::new(found.distances), found.kind);
    common.say("farthest");
    show_top(&Table::new(Arc::clone(graph), vec![("distance".to_owned(), distances.clone())]), "distance", common)?;
    let parents = Column::Vertex(Arc::new(found.parents));
    let columns = vec![("distance".to_owned(), distances), ("parent".to_owned(), parents)];
    finish(graph, columns, &found.stats, common)
}

fn pagerank(graph: &Arc<Graph>, options: &PageRankOptions, unconverged: bool, common: &Common) -> Result<ExitCode> {
    if planned(graph, common, &outcore::estimate_pagerank(graph, options))? {
        return Ok(ExitCode::SUCCESS);
    }
    let found = outcore::pagerank(graph, options)?;
    if common.verify {
        verify::verify_pagerank(graph, options, &found)?;
    }
    show_convergence(found.stopped_by, found.iterations, found.residual, common);
    if let (false, Some(name)) = (options.weights, graph.weight_name()) {
        common.say(format_args!("every edge counts 1: its weight, `{name}`, was not used"));
    }
    // A tolerance of 0 asks for so many iterations, not for convergence.
    if !found.stopped_by.converged() && options.tol > 0.0 && !unconverged {
        return not_converged(graph, found.residual, options.tol, &found.stats, common);
    }
    finish_one(graph, "pagerank", Column::Real(Arc::new(found.ranks)), &found.stats, common)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what ended the iterations, and what is known of the ranks then.
fn show_convergence(stopped_by: StoppedBy, iterations: u32, residual: f64, common: &Common) {
    let (outcome, rule) = match stopped_by.converged() {
        true => ("converged", format!("stopped by the rule {}", stopped_by.name())),
        false => ("did not converge", "stopped by the number of iterations".to_owned()),
    };
    let times = if iterations == 1 { "iteration" } else { "iterations" };
    common.say(format_args!("{outcome} after {iterations} {times}, residual {residual:e}, {rule}"))
}

/// Writes no ranks, but what they cost, and says so in the exit code.
fn not_converged(graph: &Graph, residual: f64, tol: f64, stats: &Stats, common: &Common) -> Result<ExitCode> {
    report(stats, common);
    note!(
        "outcore: the ranks did not converge: expected a tolerance of {tol:e}, found a residual of {residual:e}; no \
         ranks were written. Raise --max-iter or --tol, or take them as they are by --allow-unconverged"
    );
    write_stats(graph, stats, common)?;
    Ok(ExitCode::from(UNCONVERGED))
}

fn personalized_pagerank(
    graph: &Arc<Graph>,
    sets: &[IdList],
    options: &PersonalizedPageRankOptions,
    unconverged: bool,
    common: &Common,
) -> Result<ExitCode> {
    if planned(graph, common, &outcore::estimate_personalized_pagerank(graph, options))? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut found = outcore::personalized_pagerank(graph, options)?;
    if common.verify {
        verify::verify_personalized_pagerank(graph, options, &found)?;
    }
    show_convergence(found.stopped_by, found.iterations, found.residual, common);
    if !found.stopped_by.converged() && options.tol > 0.0 && !unconverged {
        return not_converged(graph, found.residual, options.tol, &found.stats, common);
    }
    let columns = found.take_columns();
    let table = Table::new(Arc::clone(graph), columns.clone());
    for (set, (column, _)) in sets.iter().zip(&columns) {
        common.say(format_args!("from {}", set.text));
        show_top(&table, column, common)?;
    }
    finish(graph, columns, &found.stats, common)?;
    Ok(ExitCode::SUCCESS)
}

fn components(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned_components(&graph, common, outcore::estimate_components(&graph))? {
        return Ok(());
    }
    let found = outcore::components(&graph, &ComponentsOptions::default())?;
    if common.verify {
        verify::verify_components(&graph, &found)?;
    }
    show_components(&graph, found, common)
}

fn strong_components(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned_components(&graph, common, outcore::estimate_strong_components(&graph))? {
        return Ok(());
    }
    let found = outcore::strong_components(&graph, &StrongComponentsOptions::default())?;
    if common.verify {
        verify::verify_strong_components(&graph, &found)?;
    }
    show_components(&graph, found, common)
}

/// As [`planned`], with the memory of the components' sizes, of which the largest are shown unless nothing is.
fn planned_components(graph: &Graph, common: &Common, estimate: Estimate) -> Result<bool> {
    if common.limits.quiet {
        return planned(graph, common, &estimate);
    }
    let estimate = estimate.with_state(graph, 8 * graph.vertices());
    if planned(graph, common, &estimate)? {
        return Ok(true);
    }
    graph.make_room("the components and their sizes", estimate.state_bytes)?;
    Ok(false)
}

fn show_components(graph: &Arc<Graph>, found: Components, common: &Common) -> Result<()> {
    if !common.limits.quiet {
        show_sizes(graph, &found, common)?;
    }
    let labels = Column::Component(Arc::new(found.labels));
    finish(graph, vec![("component".to_owned(), labels)], &found.stats, common)
}

/// Says how many components there are, and how large the largest.
fn show_sizes(graph: &Graph, found: &Components, common: &Common) -> Result<()> {
    common.say(format_args!("{} components", found.count));
    let sizes = found.sizes(graph)?;
    let mut largest: Vec<u32> = Vec::with_capacity(SHOWN + 1);
    for &size in sizes.iter() {
        if size > 0 && (largest.len() < SHOWN || size > largest[SHOWN - 1]) {
            largest.insert(largest.partition_point(|&other| other >= size), size);
            largest.truncate(SHOWN);
        }
    }
    let text: Vec<String> = largest.iter().map(u32::to_string).collect();
    common.say(format_args!("  largest: {} vertices", text.join(", ")));
    Ok(())
}

fn core_number(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_core_number(&graph))? {
        return Ok(());
    }
    let found = outcore::core_number(&graph, &CoreNumbersOptions::default())?;
    if common.verify {
        verify::verify_core_number(&graph, &found)?;
    }
    common.say(format_args!("the greatest core number is {}", found.max_core));
    finish_one(&graph, "core", Column::Number(Arc::new(found.cores)), &found.stats, common)
}

fn label_propagation(options: &LabelPropagationOptions, common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_label_propagation(&graph, options))? {
        return Ok(());
    }
    let found = outcore::label_propagation(&graph, options)?;
    if common.verify {
        verify::verify_label_propagation(&graph, options, &found)?;
    }
    let outcome = if found.converged { "nothing changes any more" } else { "some labels still change" };
    common.say(format_args!("{} labels after {} iterations, {outcome}", found.count, found.iterations));
    finish(&graph, vec![("label".to_owned(), Column::Label(Arc::new(found.labels)))], &found.stats, common)
}

fn triangles(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_triangles(&graph))? {
        return Ok(());
    }
    let found = outcore::triangles(&graph, &TrianglesOptions::default())?;
    if common.verify {
        verify::verify_triangles(&graph, &found)?;
    }
    common.say(format_args!("{} triangles", found.total));
    finish_one(&graph, "triangles", Column::Count(Arc::new(found.counts)), &found.stats, common)
}

fn clustering(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_clustering(&graph))? {
        return Ok(());
    }
    let found = outcore::clustering(&graph, &ClusteringOptions::default())?;
    if common.verify {
        verify::verify_clustering(&graph, &found)?;
    }
    common.say(format_args!("average {}, transitivity {}", found.average, found.transitivity));
    finish_one(&graph, "clustering", Column::Real(Arc::new(found.coefficients)), &found.stats, common)
}

fn scan_statistics(options: &ScanStatisticsOptions, common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_scan_statistics(&graph, options))? {
        return Ok(());
    }
    let found = outcore::scan_statistics(&graph, options)?;
    if common.verify {
        verify::verify_scan_statistics(&graph, options, &found)?;
    }
    common.say(format_args!("looked at {} of {} vertices", found.looked_at, graph.vertices()));
    show_ids(&graph, &found.vertices, common, |i, id| format!("  {id:24} {}", found.statistics[i]))?;
    finish(&graph, vec![("edges".to_owned(), found.column(&graph)?)], &found.stats, common)
}

fn lcc(common: &Common) -> Result<()> {
    let graph = open(common)?;
    if planned(&graph, common, &outcore::estimate_lcc(&graph))? {
        return Ok(());
    }
    let found = outcore::lcc(&graph, &LccOptions::default())?;
    if common.verify {
        verify::verify_lcc(&graph, &found)?;
    }
    common.say(format_args!("average {}", found.average));
    finish_one(&graph, "lcc", Column::Real(Arc::new(found.coefficients)), &found.stats, common)
}

/// Says a line of an answer. Ids and names are part of some: their control characters are escaped.
pub fn say(line: impl Display) -> Result<()> {
    writeln!(std::io::stdout(), "{}", escaped(line)).map_err(output_error)
}

/// An answer on the standard output. One that nobody takes, as in `outcore run ... | head`, stops no work and loses no
/// other result: see [`Answer::heard`].
#[derive(Default)]
pub struct Answer {
    /// Why the first part that nobody took could not be written.
    unheard: RefCell<Option<std::io::Error>>,
}

impl Answer {
    /// Says a line, as [`say`] does.
    pub fn say(&self, line: impl Display) {
        self.write(format_args!("{}\n", escaped(line)));
    }

    /// Writes lines as they are.
    pub fn write(&self, lines: impl Display) {
        if self.unheard.borrow().is_none() {
            self.unheard.replace(write!(std::io::stdout(), "{lines}").err());
        }
    }

    /// An error if a part could not be written; asked when all else is done.
    pub fn heard(&self) -> Result<()> {
        self.unheard.take().map_or(Ok(()), |error| Err(output_error(error)))
    }
}

impl Common {
    /// Says a line of the report: where the statistics do not go, and nowhere if nothing is to be said.
    fn say(&self, line: impl Display) {
        match &self.stats {
            _ if self.limits.quiet => {}
            Some(file) if file == Path::new("-") => note!("{}", escaped(line)),
            _ => self.answer.say(line),
        }
    }
}

/// Refuses what can be refused before the run, and explains what it needs if that is what was asked for: then nothing
/// is left to do.
fn planned(graph: &Graph, common: &Common, estimate: &Estimate) -> Result<bool> {
    if let Some(output) = &common.output {
        graph.check_output(output, &estimate.columns)?;
    }
    if let Some(file) = common.stats.as_ref().filter(|file| *file != Path::new("-")) {
        let backend = graph.runtime().backend();
        let place = |file: &Path| (backend.resolve(folder(file)).ok(), file.file_name().map(ToOwned::to_owned));
        if common.output.as_ref().is_some_and(|output| place(output) == place(file)) {
            let text = format!("expected different files for --output and --stats, found {} for both", file.display());
            return Err(Error::Usage(text));
        }
        outcore::check_file(graph, file)?;
    }
    if !common.explain {
        estimate.check_result(graph, common.verify)?;
        return Ok(false);
    }
    let mut needs = estimate.clone();
    if common.output.is_some() {
        needs = needs.with_output(graph);
    }
    if common.verify {
        needs = needs.with_verification(graph);
    }
    say(format_args!("memory   {} ({} of state)", bytes_text(needs.memory_bytes), bytes_text(needs.state_bytes)))?;
    if common.output.is_some() {
        let bytes = bytes_text(graph.output_bytes(&needs.columns));
        say(format_args!("output   {bytes} of memory for values, ids and encoding"))?;
    }
    if common.verify {
        let bytes = bytes_text(needs.verify_bytes);
        say(format_args!("verify   {bytes} of memory for the result and its verification; its reads are not counted"))?;
    }
    let (bound, passes) = (needs.bound.words(), (1000.0 * needs.passes).ceil() / 1000.0);
    say(format_args!("passes   {bound} {passes}"))?;
    say(format_args!("reads    {bound} {}", bytes_text(needs.read_bytes)))?;
    Ok(true)
}

/// Says a line for each of some vertices, of its place among them and its id. Looks ids up a few at a time.
fn show_ids(graph: &Graph, vertices: &[u32], common: &Common, line: impl Fn(usize, &str) -> String) -> Result<()> {
    if common.limits.quiet {
        return Ok(());
    }
    for (part, vertices) in vertices.chunks(IDS_AT_ONCE).enumerate() {
        for (i, id) in graph.ids(vertices)?.iter().enumerate() {
            common.say(line(part * IDS_AT_ONCE + i, &id.to_string()));
        }
    }
    Ok(())
}

fn show_top(table: &Table, column: &str, common: &Common) -> Result<()> {
    if common.limits.quiet {
        return Ok(());
    }
    let rows = table.top(SHOWN, column)?;
    let text = |column: usize, row| cell_text(rows.column(column), row);
    (0..rows.num_rows()).for_each(|row| common.say(format_args!("  {:24} {}", text(0, row), text(1, row))));
    Ok(())
}

/// Shows the greatest values of a result of one column, and finishes it.
fn finish_one(graph: &Arc<Graph>, name: &str, column: Column, stats: &Stats, common: &Common) -> Result<()> {
    let columns = vec![(name.to_owned(), column)];
    show_top(&Table::new(Arc::clone(graph), columns.clone()), name, common)?;
    finish(graph, columns, stats, common)
}

/// Writes the result and the statistics where they are wanted.
fn finish(graph: &Arc<Graph>, columns: Vec<(String, Column)>, stats: &Stats, common: &Common) -> Result<()> {
    report(stats, common);
    if let Some(output) = &common.output {
        Table::new(Arc::clone(graph), columns).write(output)?;
    }
    write_stats(graph, stats, common)?;
    common.answer.heard()
}

/// Says what a run cost.
fn report(stats: &Stats, common: &Common) {
    if common.verify {
        common.say("verified");
    }
    if let Some(name) = &stats.weights {
        common.say(format_args!("edges count by their weights, `{name}`"));
    }
    let total = &stats.total;
    common.say(format_args!(
        "{:.3} s ({:.3} s waiting for reads), {:.3} passes, {} in {} requests, {} cache hits, peak memory {} of {}",
        total.seconds,
        total.seconds_io_wait / stats.threads as f64,
        stats.passes,
        bytes_text(total.bytes_read),
        total.requests,
        total.cache_hits,
        bytes_text(outcore::io::peak_memory_bytes()),
        bytes_text(stats.memory_limit_bytes),
    ))
}

fn write_stats(graph: &Graph, stats: &Stats, common: &Common) -> Result<()> {
    let Some(file) = &common.stats else { return Ok(()) };
    let stats = Stats { memory_peak_bytes: outcore::io::peak_memory_bytes(), ..stats.clone() };
    let text = serde_json::to_string_pretty(&stats).map_err(Error::custom)? + "\n";
    match file == Path::new("-") {
        true => {
            common.answer.write(text);
            Ok(())
        }
        false => outcore::write_file(graph.runtime(), file, text.as_bytes()),
    }
}
