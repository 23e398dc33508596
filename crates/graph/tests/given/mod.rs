//! Shared by tests of the importer: inputs made by hand, a reader of images, and the obvious importer to compare with.
#![allow(dead_code)]

use outcore_format::{IdColumn, Kind, Lists, Manifest, Order, Origin, PAGE_BYTES, Shape, ValueType};
use outcore_graph::import::{
    BatchWeights, Block, BlockData, EdgeBatch, Facts, Ids, Parser, ReadBlocks, Source, TakeBatch,
};
use outcore_image::ImageFile;
use outcore_image::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An id of either kind. Integers sort before strings; no graph has both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    Integer(i128),
    Text(String),
}

/// A graph as an input has it.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub edges: Vec<(Id, Id)>,
    pub weights: Option<Vec<f64>>,
    /// Weights are whole numbers by their type.
    pub integer_weights: bool,
    pub vertices: Vec<Id>,
    pub declared: Option<(u64, u64)>,
    pub strings: bool,
    pub directed: Option<bool>,
    pub block_edges: usize,
    /// The block with this number cannot be parsed.
    pub bad_block: Option<u64>,
}

impl Given {
    pub fn source(&self) -> Source {
        let facts = Facts {
            format: "by hand",
            directed: self.directed,
            string_ids: self.strings,
            weights: self.weights.as_ref().map(|_| "weight".to_owned()),
            declared: self.declared,
            ..Facts::default()
        };
        let given = Arc::new(self.clone());
        Source::new(facts, Arc::new(GivenParser(Arc::clone(&given))), GivenSource { given, next: 0 })
    }
}

struct GivenSource {
    given: Arc<Given>,
    next: u64,
}

impl ReadBlocks for GivenSource {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let step = self.given.block_edges.max(1);
        let most = self.given.edges.len().max(self.given.vertices.len());
        if self.next as usize * step >= most {
            return Ok(None);
        }
        let sequence = self.next;
        self.next += 1;
        let data = BlockData::Bytes(Vec::new());
        Ok(Some(Block { sequence, first_record: 0, first_vertex: 0, input_bytes: 1, data }))
    }
}

struct GivenParser(Arc<Given>);

fn part<T>(all: &[T], sequence: u64, step: usize) -> &[T] {
    let start = (sequence as usize * step).min(all.len());
    &all[start..(start + step).min(all.len())]
}

fn push(ids: &mut Ids, id: &Id) {
    match (ids, id) {
        (Ids::Integer { values, negative, huge }, Id::Integer(id)) => {
            *negative |= *id < 0;
            *huge |= *id > i128::from(i64::MAX);
            values.push(*id as u64);
        }
        (Ids::Text { bytes, ends }, Id::Text(id)) => {
            bytes.extend_from_slice(id.as_bytes());
            ends.push(bytes.len() as u32);
        }
        (ids, id) => panic!("{id:?} among {ids:?}"),
    }
}

impl Parser for GivenParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        let given = &self.0;
        let step = given.block_edges.max(1);
        if given.bad_block.is_some_and(|bad| block.sequence >= bad) {
            return Err(Error::input("by hand", Some(block.sequence), "an edge", "nothing"));
        }
        for (source, target) in part(&given.edges, block.sequence, step) {
            push(&mut batch.ids, source);
            push(&mut batch.ids, target);
        }
        for id in part(&given.vertices, block.sequence, step) {
            push(&mut batch.vertices, id);
        }
        batch.weights = match &given.weights {
            None => BatchWeights::None,
            Some(weights) => {
                let weights = part(weights, block.sequence, step);
                if given.integer_weights {
                    BatchWeights::Integer(weights.iter().map(|&weight| weight as i64).collect())
                } else {
                    BatchWeights::Real(weights.to_vec())
                }
            }
        };
        take(batch)
    }

    fn path(&self) -> &Path {
        Path::new("by hand")
    }
}

/// An image as it was read back.
#[derive(Debug)]
pub struct Image {
    pub manifest: Manifest,
    pub ids: Vec<Id>,
    pub out: Vec<Vec<u32>>,
    pub into: Option<Vec<Vec<u32>>>,
    pub out_weights: Option<Vec<f64>>,
    pub in_weights: Option<Vec<f64>>,
    pub out_hubs: Vec<u64>,
    pub in_hubs: Option<Vec<u64>>,
}

/// Reads all of an image and checks all that must hold.
pub fn open(path: &Path) -> Image {
    let manifest = Manifest::from_bytes(&std::fs::read(path.join("manifest.json")).unwrap()).unwrap();
    let id = manifest.image_id;
    let shape = Shape { vertices: manifest.vertices, parallel: manifest.parallel_edges };
    let lists = |file: ImageFile| read_lists(path, file, id, shape);
    let column = |file: ImageFile| read_column(path, file, id);
    let out = lists(ImageFile::OUT_LISTS);
    let into = manifest.in_lists.map(|_| lists(ImageFile::IN_LISTS));
    let ids = read_ids(path, &manifest);
    assert_eq!(ids.len() as u64, manifest.vertices);
    for (side, all, degree) in [
        (Some(manifest.out_lists), Some(&out), ImageFile::OUT_DEGREE),
        (manifest.in_lists, into.as_ref(), ImageFile::IN_DEGREE),
    ] {
        let (Some(side), Some(all)) = (side, all) else { continue };
        let lengths: Vec<u64> = all.iter().map(|list| list.len() as u64).collect();
        assert_eq!(lengths.len() as u64, manifest.vertices);
        assert_eq!(side.entries, lengths.iter().sum::<u64>());
        assert_eq!(side.max_degree, lengths.iter().copied().max().unwrap_or(0));
        assert_eq!(column(degree), lengths);
        let bytes = |file: ImageFile| std::fs::metadata(file.path(path)).unwrap().len();
        assert_eq!(bytes(degree), side.degree_pages * PAGE_BYTES as u64);
    }
    let weights = |file: ImageFile| {
        manifest.weights().map(|weights| {
            let values = read_values(path, file, id, weights.kind);
            check_index(path, file, id);
            match weights.kind.is_real() {
                false => values.iter().map(|&value| value as i64 as f64).collect(),
                true => values.iter().map(|&value| f64::from_bits(value)).collect::<Vec<f64>>(),
            }
        })
    };
    Image {
        out_weights: weights(ImageFile::values(0, false)),
        in_weights: manifest.in_lists.and_then(|_| weights(ImageFile::values(0, true))),
        out_hubs: column(ImageFile::OUT_HUB),
        in_hubs: manifest.in_lists.map(|_| column(ImageFile::IN_HUB)),
        manifest,
        ids,
        out,
        into,
    }
}

fn pages(path: &Path, file: ImageFile) -> Vec<outcore_format::PageBytes> {
    let bytes = std::fs::read(file.path(path)).unwrap();
    assert_eq!(bytes.len() % PAGE_BYTES, 0);
    bytes.chunks_exact(PAGE_BYTES).map(|page| page.try_into().unwrap()).collect()
}

fn read_index(path: &Path, file: ImageFile, id: u64) -> Vec<u64> {
    let bytes = std::fs::read(path.join(file.index_name().unwrap())).unwrap();
    let index = outcore_format::Index::from_bytes(&file.origin(id), &bytes).unwrap();
    index.iter_from(0).collect()
}

fn check_index(path: &Path, file: ImageFile, id: u64) {
    let firsts: Vec<u64> = pages(path, file)
        .iter()
        .enumerate()
        .map(|(number, page)| file.origin(id).verify(number as u64, page).unwrap().first())
        .collect();
    assert_eq!(read_index(path, file, id), firsts);
}

fn read_lists(path: &Path, file: ImageFile, id: u64, shape: Shape) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    let mut lists = Lists::default();
    let (mut edges, mut keys, mut before) = (0, Vec::new(), Vec::new());
    for (number, page) in pages(path, file).iter().enumerate() {
        let page = file.origin(id).verify(number as u64, page).unwrap();
        outcore_format::list::decode(&page, shape, &mut lists).unwrap();
        before.push(edges);
        edges += lists.edges() as u64;
        let earlier = if lists.begins_earlier { all.last().map_or(0, Vec::len) } else { 0 };
        assert_eq!(lists.offset, earlier as u64);
        keys.push(2 * lists.first_vertex + u64::from(lists.begins_earlier));
        for i in 0..lists.count {
            if i == 0 && lists.begins_earlier {
                all.last_mut().unwrap().extend(lists.list(i));
            } else {
                assert_eq!(lists.first_vertex + i as u64, all.len() as u64);
                all.push(lists.list(i).to_vec());
            }
        }
    }
    assert_eq!(read_index(path, file, id), keys);
    let entries = if file == ImageFile::IN_LISTS { ImageFile::IN_ENTRIES } else { ImageFile::OUT_ENTRIES };
    if entries.path(path).exists() {
        assert_eq!(read_index(path, entries, id), before);
    }
    all
}

fn read_values(path: &Path, file: ImageFile, id: u64, kind: ValueType) -> Vec<u64> {
    let mut values = Vec::new();
    for (number, page) in pages(path, file).iter().enumerate() {
        let page = file.origin(id).verify(number as u64, page).unwrap();
        assert_eq!(page.first(), values.len() as u64);
        outcore_format::values::decode(&page, kind, &mut values).unwrap();
    }
    values
}

fn read_column(path: &Path, file: ImageFile, id: u64) -> Vec<u64> {
    let mut values = Vec::new();
    for (number, page) in pages(path, file).iter().enumerate() {
        let page = file.origin(id).verify(number as u64, page).unwrap();
        assert_eq!(page.first(), values.len() as u64);
        outcore_format::column::decode(&page, &mut values).unwrap();
    }
    values
}

fn read_ids(path: &Path, manifest: &Manifest) -> Vec<Id> {
    let column = || read_column(path, ImageFile::ID, manifest.image_id);
    match &manifest.ids {
        IdColumn::Range { first } => {
            assert!(!ImageFile::ID.path(path).exists());
            (0..manifest.vertices).map(|i| Id::Integer(i128::from(*first) + i128::from(i))).collect()
        }
        IdColumn::U64 { .. } => column().into_iter().map(|id| Id::Integer(i128::from(id))).collect(),
        IdColumn::I64 { .. } => column().into_iter().map(|id| Id::Integer(i128::from(id as i64))).collect(),
        IdColumn::String { text_bytes, .. } => {
            let origin: Origin = ImageFile::ID_TEXT.origin(manifest.image_id);
            assert_eq!(origin.kind, Kind::Text);
            let mut text = Vec::new();
            for (number, page) in pages(path, ImageFile::ID_TEXT).iter().enumerate() {
                let page = origin.verify(number as u64, page).unwrap();
                text.extend_from_slice(outcore_format::text::decode(&page).unwrap());
            }
            assert_eq!(text.len() as u64, *text_bytes);
            let mut start = 0;
            let string = |end: u64| {
                let id = String::from_utf8(text[start..end as usize].to_vec()).unwrap();
                start = end as usize;
                Id::Text(id)
            };
            column().into_iter().map(string).collect()
        }
    }
}

/// Weights of the entries of lists by user ids, as the obvious importer makes them of an input.
pub type Entries = BTreeMap<(Id, Id), Vec<f64>>;

/// The lists of an image by the user's ids, with weights (1 where there are none) in the order of the list.
pub fn entries(image: &Image, into: bool) -> Entries {
    let (lists, weights) =
        if into { (image.into.as_ref().unwrap(), &image.in_weights) } else { (&image.out, &image.out_weights) };
    let mut at = 0;
    let mut all = Entries::new();
    for (vertex, list) in lists.iter().enumerate() {
        assert!(list.is_sorted(), "list of vertex {vertex}");
        for &neighbour in list {
            let ends = (image.ids[vertex].clone(), image.ids[neighbour as usize].clone());
            all.entry(ends).or_default().push(weights.as_ref().map_or(1.0, |weights| weights[at]));
            at += 1;
        }
    }
    if let Some(weights) = weights {
        assert_eq!(weights.len(), at);
    }
    all
}

/// All vertices of an input.
pub fn vertices(given: &Given) -> BTreeSet<Id> {
    let ends = given.edges.iter().flat_map(|(source, target)| [source.clone(), target.clone()]);
    let declared = given.declared.into_iter().flat_map(|(first, count)| first..first + count);
    let declared = declared.map(|id| Id::Integer(i128::from(id)));
    ends.chain(given.vertices.iter().cloned()).chain(declared).collect()
}

/// All files of a directory with their contents.
pub fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            all.extend(files(&entry));
        } else {
            all.insert(entry.clone(), std::fs::read(&entry).unwrap());
        }
    }
    all.into_iter().map(|(name, bytes)| (name.strip_prefix(path).unwrap_or(&name).to_owned(), bytes)).collect()
}

/// The class of a degree: exact below 16, four per octave above.
pub fn class(degree: u64) -> u64 {
    if degree < 16 {
        return degree;
    }
    let octave = u64::from(degree.ilog2());
    16 + (octave - 4) * 4 + (degree >> (octave - 2)) % 4
}

/// Whether an image's order is by falling class of the degrees in the input.
pub fn is_by_degree(image: &Image, degrees: &BTreeMap<Id, u64>) -> bool {
    let key = |id: &Id| (std::cmp::Reverse(class(degrees.get(id).copied().unwrap_or(0))), id.clone());
    image.manifest.order == Order::Degree && image.ids.is_sorted_by_key(key)
}
