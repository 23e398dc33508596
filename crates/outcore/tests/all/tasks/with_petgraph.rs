//! Five tasks with petgraph, as a user writes them: `five_tasks` counts their lines and names.

use petgraph::graphmap::DiGraphMap;
use petgraph::visit::Bfs;
use std::collections::HashMap;
use std::path::Path;

/// The levels of two pages, the pages behind `home`, and the number of components.
type Answers = ([Option<u32>; 2], Vec<String>, usize);

pub fn five_tasks(folder: &Path) -> std::io::Result<Answers> {
    // Import.
    let text = std::fs::read_to_string(folder.join("links.txt"))?;
    let graph = DiGraphMap::<&str, ()>::from_edges(text.lines().filter_map(|line| line.split_once(' ')));
    // Search.
    let mut levels = HashMap::from([("home", 0)]);
    let mut search = Bfs::new(&graph, "home");
    while let Some(page) = search.next(&graph) {
        let level = levels[page] + 1;
        for link in graph.neighbors(page) {
            levels.entry(link).or_insert(level);
        }
    }
    let levels = ["press", "old"].map(|page| levels.get(page).copied());
    // Neighbours.
    let behind = graph.neighbors("home").map(str::to_owned).collect();
    // An algorithm of one's own: the least label on either side of every edge, until no label changes.
    let mut labels: HashMap<&str, &str> = graph.nodes().map(|page| (page, page)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (page, link, _) in graph.all_edges() {
            let least = labels[page].min(labels[link]);
            for end in [page, link] {
                changed |= labels.insert(end, least) != Some(least);
            }
        }
    }
    let components = labels.iter().filter(|(page, label)| page == label).count();
    // Save.
    let lines: Vec<String> = graph.all_edges().map(|(page, link, _)| format!("{page} {link}\n")).collect();
    std::fs::write(folder.join("copy.txt"), lines.concat())?;
    Ok((levels, behind, components))
}
