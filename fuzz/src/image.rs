//! Whole images with damage anywhere, opened and worked on.
//!
//! An input says which of some small images, of graphs, matrices or arrays, which of its files, where and how, and what
//! to write there:
//!
//! ```text
//!   image  file  how  offset (u32)  bytes
//!     1     1     1        4         any
//! ```
//!
//! *How*, bit by bit: 1 puts all checksums right again, so that the damage gets past them; 2 lets the file end behind
//! the written bytes; 4 removes the file. Then opening, searching, ranking, joining and verifying, or multiplying and a
//! solver, or sums, products and storing once more, must give results or errors.

use crate::pages::{ARRAY_MEMBERS, MEMBERS, index_checksum};
use crate::{MOST_MEMORY_BYTES, Target, note, noted};
use outcore_algo::{ALGORITHMS, OptionValues, StrongComponentsOptions, strong_components};
use outcore_array::kernel::{Binary, Fold, Scalar};
use outcore_array::{Array, AxisPart, ElementType, Goal, ImageGoal, ImageSource, compute};
use outcore_format::PAGE_BYTES;
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{
    Attributes, Duplicates, ImportOptions, InputOptions, OrderChoice, SelfLoops, Source, import, open,
    with_vertex_table,
};
use outcore_graph::{Graph, check};
use outcore_image::{ImageFile, ImageOptions, MANIFEST, Result, read_manifest};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions, current_memory_bytes};
use outcore_linalg::{SvdsOptions, svds};
use outcore_matrix::{Operand, Semiring, SparseMatrix};
use outcore_table::{Column, IdStream};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory that the limit leaves to an image of a few pages.
const MEMORY_BYTES: u64 = 48 << 20;
/// The bytes before those that are written.
const HEAD_BYTES: usize = 7;

const fn of(name: &'static str, run: fn(&[u8]), tokens: &'static [&'static [u8]]) -> Target {
    Target { name, run, tokens, most_bytes: 256, most_memory_bytes: MOST_MEMORY_BYTES }
}

pub(crate) static TARGETS: &[Target] = &[
    of(
        "open",
        |input| GRAPHS.with_borrow_mut(|scratch| scratch.get_or_insert_with(Scratch::of_graphs).run(input, work)),
        MEMBERS,
    ),
    of(
        "open-matrix",
        |input| {
            MATRICES.with_borrow_mut(|scratch| scratch.get_or_insert_with(Scratch::of_matrices).run(input, multiply))
        },
        MEMBERS,
    ),
    of(
        "open-array",
        |input| ARRAYS.with_borrow_mut(|scratch| scratch.get_or_insert_with(Scratch::of_arrays).run(input, fold)),
        ARRAY_MEMBERS,
    ),
];

thread_local! {
    static GRAPHS: RefCell<Option<Scratch>> = const { RefCell::new(None) };
    static MATRICES: RefCell<Option<Scratch>> = const { RefCell::new(None) };
    static ARRAYS: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// Small images in a directory of this thread's own.
struct Scratch {
    images: Vec<Image>,
    /// Bytes that must be restored before the next input.
    damaged: Option<(usize, usize)>,
    _directory: tempfile::TempDir,
}

/// An image, and its files as they were.
struct Image {
    path: PathBuf,
    image_id: u64,
    files: Vec<(String, Vec<u8>)>,
}

/// A runtime with one worker, on a device that answers at once and in the same order every time.
fn runtime() -> Result<Runtime> {
    let options = RuntimeOptions {
        memory_bytes: Some(current_memory_bytes() + MEMORY_BYTES),
        threads: Some(1),
        backend: Some(Arc::new(Sim::new(Faults::default()))),
        ..RuntimeOptions::default()
    };
    Runtime::new(options)
}

impl Scratch {
    fn of_graphs() -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let text = directory.path().join("edges.txt");
        let lines: String = (0..300u64).map(|i| format!("v{} v{} {}\n", i * i % 61, i % 47, i as f64 / 8.0)).collect();
        std::fs::write(&text, lines).expect("a file in the scratch directory");
        let columns = InputOptions { weight: Some("3".into()), ..InputOptions::default() };
        let named = open(&runtime().expect("a runtime"), &[text], &columns).expect("an edge list");
        let (table, vertices) = (directory.path().join("edges.csv"), directory.path().join("vertices.csv"));
        let row = |i: u64| {
            format!("{},{},{},k{},{}\n", i * i % 61, i % 47, i, i % 5, if i.is_multiple_of(7) { "" } else { "0.5" })
        };
        let rows: String = (0..300).map(row).collect();
        std::fs::write(&table, format!("source,target,n,kind,share\n{rows}")).expect("a file in the scratch directory");
        let names: String = (0..50u64).map(|i| format!("{i},name {}\n", i % 9)).collect();
        std::fs::write(&vertices, format!("id,name\n{names}")).expect("a file in the scratch directory");
        let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let runtime_of_table = runtime().expect("a runtime");
        let with_attributes = open(&runtime_of_table, &[table], &all).expect("a table");
        let with_attributes =
            with_vertex_table(&runtime_of_table, with_attributes, &vertices, &all).expect("a table of vertices");
        let kronecker = |scale, edge_factor| {
            let options = GenerateOptions { shape: Shape::Kronecker, scale, edge_factor, seed: 5, weights: None };
            source(&options).expect("a generated graph")
        };
        let image = |name: &str, source, directed, duplicates, order| {
            Image::new(directory.path().join(name), source, Some(directed), duplicates, order)
        };
        let images = vec![
            image("named", named, true, Duplicates::Sum, OrderChoice::Degree),
            image("plain", kronecker(8, 8), false, Duplicates::First, OrderChoice::Input),
            image("long", kronecker(9, 50), true, Duplicates::Keep, OrderChoice::Degree),
            image("attributes", with_attributes, true, Duplicates::Keep, OrderChoice::Degree),
        ];
        Scratch { images, damaged: None, _directory: directory }
    }

    fn of_matrices() -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let image = |name: &str, banner: &str, entry: fn(u64) -> String| {
            let text = directory.path().join("entries.mtx");
            let lines: String = (0..300).map(entry).collect();
            std::fs::write(&text, format!("%%MatrixMarket matrix coordinate {banner}\n{lines}"))
                .expect("a file in the scratch directory");
            let options = InputOptions { is_matrix: true, ..InputOptions::default() };
            let source = open(&runtime().expect("a runtime"), &[text], &options).expect("a matrix");
            Image::new(directory.path().join(name), source, None, Duplicates::Sum, OrderChoice::Auto)
        };
        let images = vec![
            image("tall", "real general\n61 47 300", |i| {
                format!("{} {} {}\n", i * i % 61 + 1, i % 47 + 1, i as f64 / 8.0)
            }),
            image("complex", "complex hermitian\n70 70 300", |i| {
                let (row, column) = (i * i % 35 + 36, i % 35 + 1);
                format!("{row} {column} {} -1.5\n", i as f64 / 8.0)
            }),
        ];
        Scratch { images, damaged: None, _directory: directory }
    }

    fn of_arrays() -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let runtime = runtime().expect("a runtime");
        let image = |name: &str, element, rows: u64, names: Option<Vec<String>>| {
            let range = |count| Array::range(Scalar::Int64(-3), Scalar::Int64(1), count).expect("a range");
            let column = range(rows).with_axis(1).and_then(|rows| rows.binary(Binary::Remainder, &range(2)));
            let array = match names {
                None => range(rows),
                Some(_) => column.expect("a matrix"),
            };
            let (array, path) = (array.cast(element).expect("a type"), directory.path().join(name));
            let goal = ImageGoal { array, path: path.clone(), replace: false, names, made_by: "a fuzzer" };
            compute(&runtime, &[Goal::Image(goal)]).expect("an image");
            let image = ImageSource::open(&runtime, &path).expect("an image");
            Image::of_files(path, image.image().manifest().image_id, [ImageFile::DENSE])
        };
        let names = || Some(vec!["a".to_owned(), "b".to_owned()]);
        let images = vec![
            image("flags", ElementType::Bool, 4100, names()),
            image("whole", ElementType::Int16, 3, names()),
            image("vector", ElementType::Float64, 1020, None),
        ];
        Scratch { images, damaged: None, _directory: directory }
    }

    /// Puts back what the last input damaged.
    fn mend(&mut self) {
        if let Some((image, file)) = self.damaged.take() {
            let image = &self.images[image];
            let (name, bytes) = &image.files[file];
            std::fs::write(image.path.join(name), bytes).expect("a file in the scratch directory");
        }
    }

    /// Damages an image and works on it.
    fn run(&mut self, input: &[u8], work: fn(&Path) -> Result<()>) {
        let Some((&[image, file, how, a, b, c, d], written)) = input.split_first_chunk::<HEAD_BYTES>() else { return };
        self.mend();
        let image_number = usize::from(image) % self.images.len();
        let image = &self.images[image_number];
        let file_number = usize::from(file) % image.files.len();
        let (name, bytes) = &image.files[file_number];
        let offset = u32::from_le_bytes([a, b, c, d]) as usize % (bytes.len() + 1);
        let mut bytes = bytes.clone();
        let end = (offset + written.len()).max(if how & 2 == 0 { bytes.len() } else { 0 });
        bytes.resize(end, 0);
        bytes[offset..offset + written.len()].copy_from_slice(written);
        if how & 1 != 0 {
            image.seal(name, &mut bytes);
        }
        let path = image.path.join(name);
        self.damaged = Some((image_number, file_number));
        if how & 4 == 0 {
            std::fs::write(&path, &bytes).expect("a file in the scratch directory");
        } else {
            std::fs::remove_file(&path).expect("a file in the scratch directory");
        }
        let image_path = image.path.to_string_lossy();
        note(&image_path[image_path.rfind('/').unwrap_or(0)..]);
        noted(work(&image.path).map_err(|error| error.to_string().replace(&*image_path, "")));
    }
}

impl Image {
    fn new(path: PathBuf, source: Source, directed: Option<bool>, duplicates: Duplicates, order: OrderChoice) -> Self {
        let options = ImportOptions {
            directed,
            duplicates,
            self_loops: SelfLoops::Keep,
            order,
            replace: true,
            ..ImportOptions::default()
        };
        let runtime = runtime().expect("memory for an import");
        import(&runtime, source, &path, &options).expect("an image");
        let image_id = read_manifest(&outcore_io::backend::best(), &path).expect("a manifest").image_id;
        Image::of_files(path, image_id, ImageFile::all(1))
    }

    /// An image that has some of these files.
    fn of_files(path: PathBuf, image_id: u64, all: impl IntoIterator<Item = ImageFile>) -> Self {
        let all: Vec<ImageFile> = all.into_iter().collect();
        let indexes = all.iter().filter_map(|file| file.index_name());
        let names = all.iter().filter_map(|file| file.name()).chain(indexes).chain([MANIFEST.to_owned()]);
        let files = names.filter_map(|name| Some((name.clone(), std::fs::read(path.join(&name)).ok()?))).collect();
        Image { path, image_id, files }
    }

    /// The bytes of a file with checksums that are right.
    fn seal(&self, name: &str, bytes: &mut Vec<u8>) {
        if name == MANIFEST {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let Some(start) = text.find("\"manifest\":") else { return };
            let body = text[start + 11..].trim().trim_end_matches('}').trim_end();
            let body = format!("{body}\n}}");
            let checksum = crc32c::crc32c(body.trim_ascii().as_bytes());
            *bytes = format!("{{\"checksum\": \"{checksum:08x}\", \"manifest\": {body}}}").into_bytes();
        }
        for file in ImageFile::all(1).chain([ImageFile::DENSE]) {
            let origin = file.origin(self.image_id);
            if file.name().as_deref() == Some(name) {
                for (number, page) in bytes.as_chunks_mut::<PAGE_BYTES>().0.iter_mut().enumerate() {
                    let checksum = origin.checksum(number as u64, page);
                    page[..4].copy_from_slice(&checksum.to_le_bytes());
                }
            }
            if file.index_name().as_deref() == Some(name) && bytes.len() >= 32 {
                let checksum = index_checksum(&origin, bytes);
                bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
            }
        }
    }
}

/// Opens an image and does everything with it; what goes wrong after opening is noted and the rest is done all the
/// same.
fn work(image: &Path) -> Result<()> {
    let graph = Graph::open(&runtime()?, image, ImageOptions::default())?;
    let first = graph.vertices().saturating_sub(1).min(3) as u32;
    // Pages come from the cache after the first algorithm.
    for algorithm in ALGORITHMS {
        for example in algorithm.examples {
            let plan =
                OptionValues::of_example(*algorithm, example, first).and_then(|values| algorithm.plan(&graph, values));
            let Some(plan) = noted(plan) else { continue };
            noted(plan.run(&graph, true, None).map(drop));
            // A result that fails its verification is a result all the same. Its report reads ids, too.
            let mut say = |_: std::fmt::Arguments<'_>| ();
            noted(plan.run(&graph, false, Some(&mut say)).map(drop));
            if let Some(found) = noted(plan.run(&graph, false, None)) {
                found.columns.iter().for_each(|(_, column)| check_vertices(column, graph.vertices()));
            }
        }
    }
    noted(strong_components(&graph, &StrongComponentsOptions { in_memory_bytes: Some(0) }).map(drop));
    if let Some(mut ids) = noted(IdStream::new(graph.image())) {
        while noted(ids.next().map(|batch| batch.map(|(_, batch)| batch.len()))).flatten().is_some() {}
    }
    noted(check(&graph).map(drop));
    Ok(())
}

/// Opens an image as a matrix and multiplies by it; what goes wrong after opening is noted, as with [`work`].
fn multiply(image: &Path) -> Result<()> {
    let graph = Graph::open(&runtime()?, image, ImageOptions::default())?;
    let matrix = SparseMatrix::new(&graph, true)?;
    let (rows, columns) = matrix.shape();
    let parts = if matrix.is_complex() { 2 } else { 1 };
    for operand in [Operand::Matrix, Operand::Transpose, Operand::Adjoint] {
        let (to, from) = if operand == Operand::Matrix { (rows, columns) } else { (columns, rows) };
        // As many as an image of a few pages may have.
        let Some(room) = usize::try_from(to.max(from)).ok().filter(|&room| room <= 1 << 20) else { return Ok(()) };
        for width in [1, 3] {
            let factor = vec![1.0; from as usize * width * parts];
            let mut product = vec![0.0; room * width * parts];
            let product = &mut product[..to as usize * width * parts];
            noted(matrix.multiply(Semiring::PlusTimes, operand, &factor, width, product).map(drop));
        }
    }
    noted(svds(&matrix, &SvdsOptions { k: 1, max_iterations: 2, ..SvdsOptions::default() }).map(drop));
    noted(check(matrix.graph()).map(drop));
    Ok(())
}

/// Opens an image as an array and computes with it; what goes wrong after opening is noted, as with [`work`].
fn fold(image: &Path) -> Result<()> {
    let runtime = runtime()?;
    let source = Arc::new(ImageSource::open(&runtime, image)?);
    let is_whole = noted(source.image().check().map(drop)).is_some();
    let x = Array::from_source(source)?;
    let all: Vec<_> = x.shape().iter().map(|&count| AxisPart::Range { start: 0, step: 1, count }).collect();
    let back = all.iter().map(|part| match *part {
        AxisPart::Range { count, .. } => Some(AxisPart::Range { start: count.max(1) as i64 - 1, step: -1, count }),
        index => Some(index),
    });
    let real = x.cast(ElementType::Float64)?;
    let arrays = [
        Ok(x.clone()),
        x.slice(&back.collect::<Vec<_>>()),
        real.fold(Fold::Sum, &[0], false),
        real.fold(Fold::Max, &(0..x.axes()).collect::<Vec<_>>(), false),
        real.permute(&(0..x.axes()).rev().collect::<Vec<_>>()).and_then(|turned| turned.matmul(&real)),
    ];
    for array in arrays {
        let Some(array) = noted(array) else { continue };
        let Some(found) = noted(compute(&runtime, &[Goal::Value(array.clone())])) else { continue };
        assert_eq!(found.values[0].shape(), array.shape());
        // A boolean is a byte of 1 or 0, whatever lies in a file.
        let is_sound = |bytes: &[u8]| array.element() != ElementType::Bool || bytes.iter().all(|&byte| byte <= 1);
        assert!(is_sound(&found.values[0].to_vec()));
    }
    let (path, replace) = (image.with_extension("stored"), true);
    let goal = ImageGoal { array: x, path: path.clone(), replace, names: None, made_by: "a fuzzer" };
    if noted(compute(&runtime, &[Goal::Image(goal)]).map(drop)).is_some() {
        assert!(is_whole, "what is not whole cannot be stored");
        ImageSource::open(&runtime, &path)?.image().check()?;
    }
    Ok(())
}

/// No column names a vertex that the graph does not have.
fn check_vertices(column: &Column, vertices: u64) {
    let named = match column {
        Column::Vertex(values) => values.iter().map(|&value| !value).filter(|&vertex| vertex != u32::MAX).max(),
        Column::Component(values) | Column::Label(values) => values.iter().copied().max(),
        _ => None,
    };
    assert!(named.is_none_or(|vertex| u64::from(vertex) < vertices), "{named:?} of {vertices} vertices");
}
