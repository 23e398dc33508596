//! Small images made by hand, from a graph in memory: what tests compare with.
#![allow(dead_code)]

use outcore_format::text::TextWriter;
use outcore_format::{
    FORMAT_NAME, FORMAT_VERSION, IdColumn, IdType, ImportFacts, ListFile, ListWriter, Manifest, Order, PAGE_BYTES,
    ValueColumn, ValueType, WeightKind, column::ColumnWriter, index_bytes, values::ValueWriter,
};
use outcore_graph::import::{self, Attributes, ImportOptions, InputOptions};
use outcore_graph::{Direction, Graph};
use outcore_image::{ImageFile, ImageOptions, MANIFEST};
use outcore_io::backend::Backend;
use outcore_io::{Runtime, SPLIT_MIX_STEP, split_mix};
pub use outcore_testkit::runtime_under;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The users' ids of a model.
#[derive(Clone, Debug)]
pub enum ModelIds {
    Range(i64),
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Text(Vec<String>),
}

/// A graph in memory: ids sorted, edges between places in the ids, no duplicates.
#[derive(Clone, Debug)]
pub struct Model {
    pub ids: ModelIds,
    pub vertices: usize,
    pub edges: Vec<(u32, u32, f64)>,
    pub directed: bool,
    pub weights: Option<WeightKind>,
    pub order: Order,
}

/// A seeded generator of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: u64) -> u64 {
        let word = split_mix(self.0);
        self.0 = self.0.wrapping_add(SPLIT_MIX_STEP);
        word % most
    }
}

impl Model {
    /// A random graph with a few hubs, loops where asked for, and isolated vertices at the end.
    pub fn random(seed: u64, vertices: usize, edges: usize, directed: bool, loops: bool) -> Model {
        let mut random = Random(seed);
        let linked = (vertices - vertices / 10) as u64;
        let mut all = std::collections::BTreeMap::new();
        for _ in 0..edges {
            let source = if random.below(4) == 0 { random.below(3) } else { random.below(linked) };
            let target = random.below(linked);
            let (source, target) = if directed { (source, target) } else { (source.min(target), source.max(target)) };
            if source != target || loops {
                all.insert((source as u32, target as u32), (random.below(1000) as f64 - 500.0) / 2.0);
            }
        }
        Model {
            ids: ModelIds::Range(0),
            vertices,
            edges: all.into_iter().map(|((source, target), weight)| (source, target, weight)).collect(),
            directed,
            weights: None,
            order: Order::Input,
        }
    }

    /// The model without any vertex or edge.
    pub fn empty(mut self) -> Model {
        self.vertices = 0;
        self.edges.clear();
        self
    }

    pub fn with_ids(mut self, ids: ModelIds) -> Model {
        self.ids = ids;
        self
    }

    pub fn with_order(mut self, order: Order) -> Model {
        self.order = order;
        self
    }

    pub fn with_weights(mut self, kind: WeightKind) -> Model {
        self.weights = Some(kind);
        if kind == WeightKind::I64 {
            self.edges.iter_mut().for_each(|edge| edge.2 = edge.2.trunc() + 0.0);
        }
        self
    }

    /// Sparse unsigned ids, rising.
    pub fn sparse_ids(vertices: usize) -> ModelIds {
        ModelIds::Unsigned((0..vertices as u64).map(|i| i * i + 7 * i + 3).collect())
    }

    /// Signed ids, rising.
    pub fn signed_ids(vertices: usize) -> ModelIds {
        ModelIds::Signed((0..vertices as i64).map(|i| 3 * i - 1000).collect())
    }

    /// Strings of different lengths, rising by bytes.
    pub fn text_ids(vertices: usize) -> ModelIds {
        let mut ids: Vec<String> = (0..vertices).map(|i| format!("k{i:x}{}", "é".repeat(i % 7))).collect();
        ids.sort();
        ModelIds::Text(ids)
    }

    /// The id at a place, as text.
    pub fn id(&self, place: usize) -> String {
        match &self.ids {
            ModelIds::Range(first) => (first + place as i64).to_string(),
            ModelIds::Unsigned(ids) => ids[place].to_string(),
            ModelIds::Signed(ids) => ids[place].to_string(),
            ModelIds::Text(ids) => ids[place].clone(),
        }
    }

    fn total_degrees(&self) -> Vec<u64> {
        let mut degrees = vec![0; self.vertices];
        for &(source, target, _) in &self.edges {
            degrees[source as usize] += 1;
            degrees[target as usize] += 1;
        }
        degrees
    }

    /// The place in the ids of every vertex of the image.
    pub fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.vertices).collect();
        if self.order == Order::Degree {
            let degrees = self.total_degrees();
            places.sort_by_key(|&place| std::cmp::Reverse(class(degrees[place])));
        }
        places
    }

    /// The edges in numbers of the image.
    pub fn numbered_edges(&self) -> Vec<(u32, u32, f64)> {
        let mut number = vec![0; self.vertices];
        for (vertex, place) in self.places().into_iter().enumerate() {
            number[place] = vertex as u32;
        }
        let numbered =
            |&(source, target, weight): &(u32, u32, f64)| (number[source as usize], number[target as usize], weight);
        self.edges.iter().map(numbered).collect()
    }

    /// The lists of a direction with their weights, sorted.
    pub fn lists(&self, direction: Direction) -> Vec<Vec<(u32, f64)>> {
        let mut lists = vec![Vec::new(); self.vertices];
        for (source, target, weight) in self.numbered_edges() {
            let both = !self.directed && source != target;
            if both || direction == Direction::Out || !self.directed {
                lists[source as usize].push((target, weight));
            }
            if both || (self.directed && direction == Direction::In) {
                lists[target as usize].push((source, weight));
            }
        }
        lists.iter_mut().for_each(|list| list.sort_by_key(|&(neighbour, _)| neighbour));
        lists
    }

    /// Writes the model as an image and returns its path.
    pub fn write(&self, directory: &Path) -> PathBuf {
        let image = directory.join("model.oc");
        for part in ["columns", "edges"] {
            std::fs::create_dir_all(image.join(part)).unwrap();
        }
        let out = self.write_lists(&image, Direction::Out);
        let in_lists = self.directed.then(|| self.write_lists(&image, Direction::In));
        let values = self.weights.map(|kind| ValueColumn {
            name: "weight".into(),
            kind: value_type(kind),
            out_pages: out.1,
            in_pages: in_lists.as_ref().map_or(0, |lists| lists.1),
        });
        let degrees = self.total_degrees();
        let loops = self.edges.iter().filter(|edge| edge.0 == edge.1).count() as u64;
        let manifest = Manifest {
            format: FORMAT_NAME.into(),
            format_version: FORMAT_VERSION,
            image_id: IMAGE_ID,
            vertices: self.vertices as u64,
            edges: self.edges.len() as u64,
            directed: self.directed,
            parallel_edges: false,
            rows: None,
            order: self.order,
            ids: self.write_ids(&image),
            id_type: match self.ids {
                ModelIds::Text(_) => None,
                ModelIds::Unsigned(_) => Some(IdType::UInt64),
                ModelIds::Range(_) | ModelIds::Signed(_) => Some(IdType::Int64),
            },
            values: values.into_iter().collect(),
            weighed_by: None,
            attributes: Vec::new(),
            vertex_values: Vec::new(),
            vertex_attributes: Vec::new(),
            complex: false,
            out_lists: out.0,
            in_lists: in_lists.map(|lists| lists.0),
            import: ImportFacts {
                edges_read: self.edges.len() as u64,
                self_loops: loops,
                self_loops_kept: true,
                isolated_vertices: degrees.iter().filter(|&&degree| degree == 0).count() as u64,
                ..ImportFacts::default()
            },
        };
        std::fs::write(image.join(MANIFEST), manifest.to_bytes()).unwrap();
        image
    }

    fn write_lists(&self, image: &Path, direction: Direction) -> (ListFile, u64) {
        let (file, degree, hub, before) = match direction {
            Direction::Out => (ImageFile::OUT_LISTS, ImageFile::OUT_DEGREE, ImageFile::OUT_HUB, ImageFile::OUT_ENTRIES),
            Direction::In => (ImageFile::IN_LISTS, ImageFile::IN_DEGREE, ImageFile::IN_HUB, ImageFile::IN_ENTRIES),
        };
        let lists = self.lists(direction);
        let (mut bytes, mut keys, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        let origin = file.origin(IMAGE_ID);
        let mut writer = ListWriter::new(origin, false, 0, 0, 0);
        for list in &lists {
            let neighbours: Vec<u32> = list.iter().map(|&(neighbour, _)| neighbour).collect();
            writer.push(&neighbours, |start, page| {
                keys.push(start.key());
                entries.push(start.first_entry);
                bytes.extend_from_slice(page);
            });
        }
        writer.finish(|start, page| {
            keys.push(start.key());
            entries.push(start.first_entry);
            bytes.extend_from_slice(page);
        });
        std::fs::write(file.path(image), &bytes).unwrap();
        std::fs::write(image.join(file.index_name().unwrap()), index_bytes(&origin, &keys)).unwrap();
        let degrees: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
        let (degree_pages, _) = write_column(image, degree, &degrees, false);
        let (hub_pages, _) = write_column(image, hub, &self.hubs(&lists), false);
        let mut weight_pages = 0;
        if let Some(kind) = self.weights {
            let values: Vec<u64> = lists.iter().flatten().map(|&(_, weight)| bits(kind, weight)).collect();
            weight_pages = write_values(image, 0, direction == Direction::In, value_type(kind), &values);
            let index = index_bytes(&before.origin(IMAGE_ID), &entries);
            std::fs::write(image.join(before.index_name().unwrap()), index).unwrap();
        }
        let lists = ListFile {
            pages: bytes.len() as u64 / PAGE_BYTES as u64,
            entries: degrees.iter().sum(),
            max_degree: degrees.iter().copied().max().unwrap_or(0),
            degree_pages,
            hub_pages,
        };
        (lists, weight_pages)
    }

    fn hubs(&self, lists: &[Vec<(u32, f64)>]) -> Vec<u64> {
        let degrees = self.total_degrees();
        let places = self.places();
        let best = |(vertex, list): (usize, &Vec<(u32, f64)>)| {
            let others = list.iter().map(|&(neighbour, _)| neighbour as usize).filter(|&other| other != vertex);
            let key = |&other: &usize| (std::cmp::Reverse(class(degrees[places[other]])), other);
            others.min_by_key(key).unwrap_or(vertex) as u64
        };
        lists.iter().enumerate().map(best).collect()
    }

    fn write_ids(&self, image: &Path) -> IdColumn {
        let places = self.places();
        match &self.ids {
            ModelIds::Range(first) => {
                if self.order == Order::Input {
                    return IdColumn::Range { first: *first };
                }
                let values: Vec<u64> = places.iter().map(|&place| (first + place as i64) as u64).collect();
                IdColumn::I64 { pages: write_column(image, ImageFile::ID, &values, true).0 }
            }
            ModelIds::Unsigned(ids) => {
                let values: Vec<u64> = places.iter().map(|&place| ids[place]).collect();
                IdColumn::U64 { pages: write_column(image, ImageFile::ID, &values, false).0 }
            }
            ModelIds::Signed(ids) => {
                let values: Vec<u64> = places.iter().map(|&place| ids[place] as u64).collect();
                IdColumn::I64 { pages: write_column(image, ImageFile::ID, &values, true).0 }
            }
            ModelIds::Text(ids) => write_text(image, places.iter().map(|&place| ids[place].as_bytes())),
        }
    }
}

pub const IMAGE_ID: u64 = 0x1234_5678_9abc_def0;

/// The degree class as the specification of the importer has it, in the words of a test.
fn class(degree: u64) -> u64 {
    let mut class = degree.min(16);
    let mut octave = 16;
    while degree >= 2 * octave {
        octave *= 2;
        class += 4;
    }
    if degree >= 16 { class + (degree - octave) / (octave / 4) } else { class }
}

fn bits(kind: WeightKind, weight: f64) -> u64 {
    if kind == WeightKind::I64 { weight as i64 as u64 } else { weight.to_bits() }
}

/// Writes a column; returns its pages and the ordinals of their first values.
pub fn write_column(image: &Path, file: ImageFile, values: &[u64], signed: bool) -> (u64, Vec<u64>) {
    let (mut bytes, mut firsts) = (Vec::new(), Vec::new());
    let mut writer = ColumnWriter::new(file.origin(IMAGE_ID), signed);
    for &value in values {
        writer.push(value, |first, page| {
            firsts.push(first);
            bytes.extend_from_slice(page);
        });
    }
    writer.finish(|first, page| {
        firsts.push(first);
        bytes.extend_from_slice(page);
    });
    std::fs::write(file.path(image), &bytes).unwrap();
    (firsts.len() as u64, firsts)
}

/// Writes a column of values beside lists, and its index; returns its pages.
pub fn write_values(image: &Path, column: usize, incoming: bool, kind: ValueType, values: &[u64]) -> u64 {
    let file = ImageFile::values(column, incoming);
    let (mut bytes, mut firsts) = (Vec::new(), Vec::new());
    let mut writer = ValueWriter::new(file.origin(IMAGE_ID), kind, 0);
    let mut keep = |first, page: &[u8; PAGE_BYTES]| {
        firsts.push(first);
        bytes.extend_from_slice(page);
    };
    values.iter().for_each(|&value| writer.push(value, &mut keep).unwrap());
    writer.finish(&mut keep);
    std::fs::write(file.path(image), &bytes).unwrap();
    std::fs::write(image.join(file.index_name().unwrap()), index_bytes(&file.origin(IMAGE_ID), &firsts)).unwrap();
    firsts.len() as u64
}

/// A type that holds all such weights.
fn value_type(kind: WeightKind) -> ValueType {
    if kind == WeightKind::I64 { ValueType::I64 } else { ValueType::F64 }
}

/// Writes strings as text and ends.
pub fn write_text<'a>(image: &Path, strings: impl Iterator<Item = &'a [u8]>) -> IdColumn {
    let mut bytes = Vec::new();
    let mut writer = TextWriter::new(ImageFile::ID_TEXT.origin(IMAGE_ID));
    let (mut ends, mut end) = (Vec::new(), 0);
    for string in strings {
        end += string.len() as u64;
        ends.push(end);
        writer.push(string, |page| bytes.extend_from_slice(page));
    }
    writer.finish(|page| bytes.extend_from_slice(page));
    std::fs::write(ImageFile::ID_TEXT.path(image), &bytes).unwrap();
    let (end_pages, _) = write_column(image, ImageFile::ID, &ends, false);
    IdColumn::String { end_pages, text_pages: bytes.len() as u64 / PAGE_BYTES as u64, text_bytes: end }
}

/// Rewrites the manifest of an image.
pub fn edit_manifest(image: &Path, edit: impl FnOnce(&mut Manifest)) {
    let mut manifest = outcore_image::read_manifest(&outcore_io::backend::best(), image).unwrap();
    edit(&mut manifest);
    std::fs::write(image.join(MANIFEST), manifest.to_bytes()).unwrap();
}

/// Memory for a test, beside what tests that run at the same time hold.
const MEMORY_BYTES: u64 = 400 << 20;

/// An image of a table of edges, with all other columns as attributes, and of a table of vertices.
pub fn import_tables(directory: &Path, edges: &str, vertices: &str, how: &ImportOptions) -> PathBuf {
    let paths = [(edges, "e.csv"), (vertices, "v.csv")].map(|(text, name)| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let (runtime, image) = (runtime(2), directory.join("g.oc"));
    let options = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let source = import::open(&runtime, &paths[..1], &options).unwrap();
    let source = import::with_vertex_table(&runtime, source, &paths[1], &options).unwrap();
    import::import(&runtime, source, &image, how).unwrap();
    image
}

pub fn runtime(threads: usize) -> Runtime {
    runtime_under(threads, MEMORY_BYTES, None)
}

pub fn open(image: &Path, threads: usize) -> Graph {
    open_under(image, threads, MEMORY_BYTES)
}

/// Opens an image with so much memory more than the process has.
pub fn open_under(image: &Path, threads: usize, bytes: u64) -> Graph {
    Graph::open(&runtime_under(threads, bytes, None), image, ImageOptions::default()).unwrap()
}

/// Opens an image through a simulated device, whose faults begin only when the image is open.
pub fn open_with(image: &Path, sim: outcore_io::backend::Sim) -> Graph {
    let sim = Arc::new(sim.asleep());
    let runtime = runtime_under(1, MEMORY_BYTES, Some(Arc::clone(&sim) as Arc<dyn Backend>));
    let graph = Graph::open(&runtime, image, ImageOptions::default()).unwrap();
    sim.wake();
    graph
}
