//! Images of arrays of released versions give the elements that were stored, and what is stored today has their bytes
//! (`crates/format/tests/golden/README.md`).

use outcore_array::{Array, Bytes, ElementType, Goal, ImageGoal, ImageSource, InMemory, compute};
use outcore_format::{DenseManifest, ImageFile, PAGE_BYTES};
use outcore_image::MANIFEST;
use outcore_io::Runtime;
use outcore_testkit::runtime_under;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

/// All released versions; writers write the last one.
const VERSIONS: [&str; 1] = ["v2"];
const PAGES: &str = "values.pages";

fn golden(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/golden").join(version).join("arrays")
}

fn runtime() -> Runtime {
    runtime_under(2, 64 << 20, None)
}

/// Ten elements of a type as bits: 0, 1, all bits set, extremes of whole numbers, NaN, infinities and the like.
fn bits(element: ElementType) -> [u64; 10] {
    let width = 8 * element.bytes();
    let sign = 1u64 << (width - 1);
    match element {
        ElementType::Bool => [0, 1, 1, 0, 0, 0, 1, 1, 1, 0],
        ElementType::Float32 => {
            let real = |value: f32| u64::from(value.to_bits());
            let [infinite, least] = [f32::INFINITY, f32::NEG_INFINITY].map(real);
            [0, sign, real(1.5), infinite, least, 0x7fc0_1234, 1, real(f32::MAX), real(-0.1), real(16_777_217.0)]
        }
        ElementType::Float64 => {
            let real = f64::to_bits;
            let [infinite, least] = [f64::INFINITY, f64::NEG_INFINITY].map(real);
            let nan = 0xfff8_0000_0000_4321;
            [0, sign, real(1.5), infinite, least, nan, 1, real(f64::MAX), real(-0.1), real(9_007_199_254_740_993.0)]
        }
        _ => [0, 1, u64::MAX, sign, sign - 1, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 100, 7, 64],
    }
}

/// The elements of an image, row by row, and its shape and names of columns.
fn given(name: &str) -> (InMemory, Option<Vec<String>>) {
    let element = ElementType::from_name(name).unwrap_or(ElementType::Float64);
    let (bits, shape, names) = match name {
        "vector" => ((0..510).map(|row| (f64::from(row) / 8.0).to_bits()).collect(), vec![510], None),
        _ => (bits(element).to_vec(), vec![5, 2], Some(vec!["a".to_owned(), "\"b\"\u{e9}".to_owned()])),
    };
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()[..element.bytes()].to_vec()).collect();
    let word = |some: &[u8]| {
        let mut word = [0; 8];
        word[..some.len()].copy_from_slice(some);
        u64::from_ne_bytes(word)
    };
    let words: Arc<dyn Bytes> = Arc::new(bytes.chunks(8).map(word).collect::<Vec<u64>>());
    (InMemory::new(words, element, shape), names)
}

fn names() -> impl Iterator<Item = &'static str> {
    ElementType::ALL.into_iter().map(ElementType::name).chain(["vector"])
}

/// Stores an array as users do.
fn store(name: &str, path: &Path) {
    let (memory, names) = given(name);
    let (array, path) = (Array::from_memory(memory), path.to_owned());
    let image = ImageGoal { array, path, replace: false, names, made_by: "persist" };
    compute(&runtime(), &[Goal::Image(image)]).unwrap();
}

/// Makes missing images of the last version, if requested.
fn make() {
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        let folder = golden(VERSIONS[VERSIONS.len() - 1]);
        for name in
            names().filter(|name| std::env::var_os("OUTCORE_MAKE_GOLDEN").is_some() && !folder.join(name).exists())
        {
            std::fs::create_dir_all(&folder).unwrap();
            store(name, &folder.join(name));
        }
    });
}

#[test]
fn images_of_every_version_hold_what_was_stored() {
    make();
    for (version, name) in VERSIONS.iter().flat_map(|version| names().map(move |name| (version, name))) {
        let image = golden(version).join(name);
        let runtime = runtime();
        let source = ImageSource::open(&runtime, &image).unwrap();
        source.image().check().unwrap();
        let (expected, names) = given(name);
        assert_eq!(source.image().manifest().names, names, "{name}");
        let array = Array::from_source(Arc::new(source)).unwrap();
        assert_eq!((array.element(), array.shape()), (expected.element(), expected.shape()), "{name}");
        let found = compute(&runtime, &[Goal::Value(array)]).unwrap();
        assert!(found.values[0].to_vec() == expected.to_vec(), "{name}");
    }
}

#[test]
fn stored_images_differ_in_their_id_alone() {
    let folder = tempfile::tempdir().unwrap();
    let version = VERSIONS[VERSIONS.len() - 1];
    make();
    for name in names() {
        let [stored, golden] = [folder.path().join(name), golden(version).join(name)];
        store(name, &stored);
        let read = |image: &Path, file: &str| std::fs::read(image.join(file)).unwrap();
        let manifest = |image: &Path| DenseManifest::from_bytes(&read(image, MANIFEST)).unwrap();
        let ids = [&stored, &golden].map(|image| manifest(image).image_id);
        assert_ne!(ids[0], ids[1]);
        let same = DenseManifest { image_id: ids[1], outcore_version: None, ..manifest(&stored) }.to_bytes();
        assert!(same == read(&golden, MANIFEST), "{name}: {}", String::from_utf8_lossy(&same));
        let mut pages = read(&stored, PAGES);
        for (number, page) in pages.as_chunks_mut::<PAGE_BYTES>().0.iter_mut().enumerate() {
            ImageFile::DENSE.origin(ids[0]).verify(number as u64, page).unwrap();
            ImageFile::DENSE.origin(ids[1]).place(number as u64, 0, page);
        }
        assert!(pages == read(&golden, PAGES), "{name}");
    }
}
