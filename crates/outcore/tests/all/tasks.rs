//! Usual tasks, as one would write them with a library of graphs in memory.

mod with_outcore;

use outcore::engine::{Frontier, scan};
use outcore::import::{ImportOptions, from_edges};
use outcore::{
    ComponentsOptions, Direction, Edges, Graph, PageRankOptions, Result, Runtime, SsspOptions, components, pagerank,
    sssp,
};
use std::collections::BTreeMap;

fn roads(runtime: &Runtime) -> Result<Graph> {
    let roads = [("ada", "bob", 1.0), ("bob", "cy", 1.0), ("ada", "cy", 5.0), ("cy", "dan", 0.5), ("eve", "fay", 9.0)];
    Graph::in_memory(runtime, from_edges(roads)?, &ImportOptions::default())
}

#[test]
fn the_shortest_path_between_two_names() -> Result<()> {
    let graph = roads(&Runtime::new(Default::default())?)?;
    let ids = graph.ids()?;
    let options = SsspOptions { source: ids.vertex("ada")?, weights: true, ..Default::default() };
    let found = sssp(&graph, &options)?;
    let path = found.path(&graph, ids.vertex("dan")?)?.expect("a path");
    let names = path.iter().map(|&vertex| Ok(ids.id(vertex)?.to_string())).collect::<Result<Vec<_>>>()?;
    assert_eq!(
        (names, found.distance(ids.vertex("dan")?)),
        (["ada", "bob", "cy", "dan"].map(String::from).into(), Some(2.5))
    );
    Ok(())
}

#[test]
fn the_sizes_of_components() -> Result<()> {
    let graph = roads(&Runtime::new(Default::default())?)?;
    let found = components(&graph, &ComponentsOptions::default())?;
    let mut sizes: Vec<_> = found.sizes(&graph)?.iter().copied().filter(|&size| size > 0).collect();
    sizes.sort();
    assert_eq!(sizes, [2, 4]);
    Ok(())
}

#[test]
fn the_top_by_pagerank() -> Result<()> {
    let graph = roads(&Runtime::new(Default::default())?)?;
    let found = pagerank(&graph, &PageRankOptions::default())?;
    let top = found.into_table(&graph)?.greatest(10, "pagerank")?;
    assert!(top.len() == 6 && top.is_sorted_by(|(_, more), (_, less)| more >= less), "{top:?}");
    Ok(())
}

#[test]
fn a_histogram_of_degrees_by_a_closure() -> Result<()> {
    let graph = roads(&Runtime::new(Default::default())?)?;
    let mut histogram = BTreeMap::new();
    let count = |degrees: &mut BTreeMap<u32, usize>, part: outcore::engine::ListPart<'_>| {
        *degrees.entry(part.vertex).or_default() += part.neighbours.len();
    };
    let (degrees, _) = scan(&graph, Direction::Out, Frontier::All, BTreeMap::new, count)?;
    degrees.into_iter().flatten().for_each(|(_, degree)| *histogram.entry(degree).or_insert(0) += 1);
    histogram.remove(&0);
    assert_eq!(histogram, BTreeMap::from([(1, 3), (2, 1)]));
    Ok(())
}

#[test]
fn some_edges_as_an_image_of_their_own() -> Result<()> {
    let runtime = Runtime::new(Default::default())?;
    let (graph, folder) = (roads(&runtime)?, tempfile::tempdir().unwrap());
    let (ids, mut short) = (graph.ids()?, Vec::new());
    for list in graph.lists(Edges::new(Direction::Out, true), Frontier::All) {
        let (vertex, neighbours) = list?;
        for i in (0..neighbours.len()).filter(|&i| neighbours.weights().real(i) < 5.0) {
            short.push((ids.id(vertex)?.to_string(), ids.id(neighbours[i])?.to_string()));
        }
    }
    Graph::in_memory(&runtime, from_edges(short)?, &ImportOptions::default())?
        .save(folder.path().join("short.oc"), false)?;
    let opened = Graph::open(&runtime, folder.path().join("short.oc"), Default::default())?;
    assert_eq!((opened.vertices(), opened.edges()), (4, 3));
    Ok(())
}

/// The lines of a program that are neither empty nor comments, and the names of a library that it brings in by `use`.
fn lines_and_names(program: &str, library: &str) -> (usize, usize) {
    fn leaves(tree: &syn::UseTree) -> usize {
        match tree {
            syn::UseTree::Path(path) => leaves(&path.tree),
            syn::UseTree::Group(group) => group.items.iter().map(leaves).sum(),
            _ => 1,
        }
    }
    let lines = program.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    let items = syn::parse_file(program).unwrap().items;
    let names = items.iter().map(|item| match item {
        syn::Item::Use(item) => match &item.tree {
            syn::UseTree::Path(path) if path.ident == library => leaves(&item.tree),
            _ => 0,
        },
        _ => 0,
    });
    (lines, names.sum())
}

#[test]
fn five_tasks_take_about_as_many_lines_as_with_petgraph() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let links = "home about\nhome news\nnews press\nold older\n";
    std::fs::write(folder.path().join("links.txt"), links).unwrap();
    let (levels, behind, components) = with_outcore::five_tasks(folder.path())?;
    let behind: Vec<String> = behind.iter().map(ToString::to_string).collect();
    assert_eq!((levels, &behind[..], components), ([Some(2), None], &["about".to_owned(), "news".to_owned()][..], 2));
    let saved = Graph::open(&Runtime::new(Default::default())?, folder.path().join("links.oc"), Default::default())?;
    assert_eq!((saved.vertices(), saved.edges()), (6, 4));
    // Decision 0026 has these numbers. The other program was compiled and run with petgraph 0.8.
    let with_outcore = lines_and_names(include_str!("tasks/with_outcore.rs"), "outcore");
    let with_petgraph = lines_and_names(include_str!("tasks/with_petgraph.rs"), "petgraph");
    assert_eq!((with_outcore, with_petgraph), ((31, 9), (34, 2)));
    Ok(())
}
