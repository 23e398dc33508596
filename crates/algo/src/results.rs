//! Results as tables: every result's columns, under the names that the shell, Python and files have for them.

use crate::api::*;
use crate::kernels::scan_statistics::spread;
use outcore_format::WeightKind;
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Buffer;
use outcore_table::{Column, Table};

/// The columns of a result with their names, and the statistics of its run.
pub(crate) type Parts = (Vec<(String, Column)>, Stats);

/// A result with a value for every vertex of a graph, or several.
pub(crate) trait Columns: Sized {
    fn stats(&self) -> &Stats;

    /// # Errors
    /// Too little memory for a column that has still to be made.
    fn into_columns(self, graph: &Graph) -> Result<Parts>;
}

/// The names of a result's columns.
trait Names {
    const NAMES: &'static [&'static str];
}

/// Implements `into_table` for results, with the names of their columns.
macro_rules! tables {
    ($($result:ident $($name:literal)+ => $note:literal;)+) => {$(
        impl Names for $result {
            const NAMES: &'static [&'static str] = &[$($name),+];
        }

        impl $result {
            /// A table with a row per vertex of the graph, under the users' ids, to write or to take the greatest rows
            /// from.
            ///
            /// Its columns, beside `vertex`:
            $(#[doc = concat!("- `", $name, "`")])+
            #[doc = $note]
            ///
            /// # Errors
            /// The result of another graph; too little memory, where the result has values of few vertices alone.
            pub fn into_table(self, graph: &Graph) -> Result<Table> {
                self.stats().check_image(graph.image())?;
                Ok(graph.table(self.into_columns(graph)?.0))
            }
        }
    )+};
}

macro_rules! columns {
    ($($result:ident { $($field:ident),+ } => $($name:literal $column:expr),+;)+) => {$(
        tables! { $result $($name)+ => ""; }

        impl Columns for $result {
            fn stats(&self) -> &Stats {
                &self.stats
            }

            fn into_columns(self, _graph: &Graph) -> Result<Parts> {
                let $result { $($field,)+ stats, .. } = self;
                Ok((vec![$(($name.to_owned(), $column)),+], stats))
            }
        }
    )+};
}

columns! {
    Bfs { levels, parents } => "level" Column::Level(levels.into()), "parent" Column::Vertex(parents.into());
    Betweenness { scores } => "betweenness" Column::Real(scores.into());
    DegreeCentrality { centralities } => "degree_centrality" Column::Real(centralities.into());
    Sssp { distances, kind, parents } =>
        "distance" Column::Distance(distances.into(), kind), "parent" Column::Vertex(parents.into());
    PageRank { ranks } => "pagerank" Column::Real(ranks.into());
    Components { labels } => "component" Column::Component(labels.into());
    CoreNumbers { cores } => "core" Column::Number(cores.into());
    LabelPropagation { labels } => "label" Column::Label(labels.into());
    Triangles { counts } => "triangles" Column::Count(counts.into());
    Clustering { coefficients } => "clustering" Column::Real(coefficients.into());
    Lcc { coefficients } => "lcc" Column::Real(coefficients.into());
    Reciprocity { reciprocities } => "reciprocity" Column::Distance(reciprocities.into(), WeightKind::F64);
    NodeBoundary { edges } => "edges" Column::Distance(edges.into(), WeightKind::I64);
    TwoColours { colours } => "colour" Column::Level(colours.into());
}

tables! {
    MultiSourceBfs "reached_by" "distance_sum" => "";
    AllPairs "reached_by" "distance_sum" => "";
    PersonalizedPageRank "pagerank" => ", of several sets of seeds `pagerank_0`, `pagerank_1` and so on";
    ScanStatistics "edges" => ", which only the vertices found have";
}

/// Implements an accessor by vertex for results whose values are public: the other results have theirs beside their
/// encoding.
macro_rules! accessors {
    ($($result:ident.$values:ident $name:ident $value:ty, $meaning:literal;)+) => {$(
        impl $result {
            #[doc = concat!($meaning, ", as numbered in the image; `None` if there is no such vertex.")]
            pub fn $name(&self, vertex: u32) -> Option<$value> {
                self.$values.get(vertex as usize).copied()
            }
        }
    )+};
}

accessors! {
    Betweenness.scores score f64, "The betweenness centrality of a vertex";
    DegreeCentrality.centralities centrality f64, "The degree centrality of a vertex";
    PageRank.ranks rank f64, "The rank of a vertex";
    Components.labels label u32, "The smallest vertex of the component of a vertex";
    CoreNumbers.cores core u32, "The core number of a vertex";
    LabelPropagation.labels label u32, "The vertex whose id is the label of a vertex";
    Triangles.counts count u64, "The number of triangles at a vertex";
    Clustering.coefficients coefficient f64, "The clustering coefficient of a vertex";
    Lcc.coefficients coefficient f64, "The local clustering coefficient of a vertex";
    MultiSourceBfs.reached_by reached_by u32, "The number of sources that have a path to a vertex";
    MultiSourceBfs.distance_sums distance_sum u64, "The sum of the distances from the sources that reach a vertex";
}

impl PersonalizedPageRank {
    /// The rank of a vertex, as numbered in the image, for a set of seeds by its place in the options; `None` if there
    /// is no such set or vertex.
    pub fn rank(&self, set: usize, vertex: u32) -> Option<f64> {
        self.ranks.get(set)?.get(vertex as usize).copied()
    }
}

impl ScanStatistics {
    /// The number of edges among a vertex, as numbered in the image, and its neighbours, if it was found. Looks through
    /// all that were.
    pub fn statistic(&self, vertex: u32) -> Option<u64> {
        let place = self.vertices.iter().position(|&found| found == vertex)?;
        self.statistics.get(place).copied()
    }
}

impl Columns for Parts {
    fn stats(&self) -> &Stats {
        &self.1
    }

    fn into_columns(self, _graph: &Graph) -> Result<Parts> {
        Ok(self)
    }
}

impl MultiSourceBfs {
    /// The columns, the extents of the searches, and the distances of targets.
    pub(crate) fn split(self) -> (Parts, Vec<Reach>, Buffer<u32>) {
        let MultiSourceBfs { reached_by, distance_sums, reach, levels, stats } = self;
        let columns = [Column::Number(reached_by.into()), Column::Count(distance_sums.into())];
        let columns = Self::NAMES.iter().map(|&name| name.to_owned()).zip(columns).collect();
        ((columns, stats), reach, levels)
    }
}

impl Columns for MultiSourceBfs {
    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn into_columns(self, _graph: &Graph) -> Result<Parts> {
        Ok(self.split().0)
    }
}

impl Columns for AllPairs {
    fn stats(&self) -> &Stats {
        &self.search.stats
    }

    fn into_columns(self, graph: &Graph) -> Result<Parts> {
        self.search.into_columns(graph)
    }
}

impl Columns for PersonalizedPageRank {
    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn into_columns(self, _graph: &Graph) -> Result<Parts> {
        let is_alone = self.ranks.len() == 1;
        let name = Self::NAMES[0];
        let name = |set| if is_alone { name.to_owned() } else { format!("{name}_{set}") };
        let columns = self.ranks.into_iter().enumerate().map(|(set, ranks)| (name(set), Column::Real(ranks.into())));
        Ok((columns.collect(), self.stats))
    }
}

impl Columns for &ScanStatistics {
    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn into_columns(self, graph: &Graph) -> Result<Parts> {
        let edges = Column::Distance(spread(graph, self)?.into(), WeightKind::I64);
        Ok((vec![(ScanStatistics::NAMES[0].to_owned(), edges)], self.stats.clone()))
    }
}

impl Columns for ScanStatistics {
    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn into_columns(self, graph: &Graph) -> Result<Parts> {
        (&self).into_columns(graph)
    }
}
