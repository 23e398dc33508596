//! Five tasks with Outcore, as a user writes them: `five_tasks` counts their lines and names.

use outcore::engine::Frontier;
use outcore::{BfsOptions, Direction, Graph, Id, Result, Runtime, bfs, import};
use std::path::Path;

/// The levels of two pages, the pages behind `home`, and the number of components.
type Answers = ([Option<u32>; 2], Vec<Id<String>>, usize);

pub fn five_tasks(folder: &Path) -> Result<Answers> {
    // Import.
    let runtime = Runtime::new(Default::default())?;
    let links = import::open(&runtime, &[folder.join("links.txt")], &Default::default())?;
    let graph = Graph::in_memory(&runtime, links, &Default::default())?;
    let ids = graph.ids()?;
    // Search.
    let home = ids.vertex("home")?;
    let search = bfs(&graph, &BfsOptions { source: home, ..Default::default() })?;
    let levels = [search.level(ids.vertex("press")?), search.level(ids.vertex("old")?)];
    // Neighbours.
    let behind = graph.neighbours(home, Direction::Out)?.into_iter().map(|neighbour| neighbour.id).collect();
    // An algorithm of one's own: the least label on either side of every edge, until no label changes.
    let mut labels: Vec<u32> = (0..graph.vertices() as u32).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for list in graph.lists(Direction::Out, Frontier::All) {
            let (page, links) = list?;
            for &link in links.iter() {
                let least = labels[page as usize].min(labels[link as usize]);
                for end in [page, link] {
                    changed |= std::mem::replace(&mut labels[end as usize], least) != least;
                }
            }
        }
    }
    let components = (0..).zip(&labels).filter(|(page, label)| page == *label).count();
    // Save.
    graph.save(folder.join("links.oc"), false)?;
    Ok((levels, behind, components))
}
