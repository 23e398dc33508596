//! Check: whole images pass, and damage anywhere names its file.

use crate::common;

use common::{Model, edit_manifest, open, runtime, write_column};
use outcore_format::{Index, ListWriter, Order, ValueColumn, ValueType, WeightKind, index_bytes};
use outcore_graph::{Direction, Graph, check};
use outcore_image::{Error, ImageFile, ImageOptions, MANIFEST};
use std::path::Path;

fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for (directed, order) in
        [(true, Order::Input), (true, Order::Degree), (false, Order::Input), (false, Order::Degree)]
    {
        for loops in [false, true] {
            let model = Model::random(5, 3000, 20_000, directed, loops).with_order(order);
            let ids = if loops { Model::text_ids(3000) } else { Model::signed_ids(3000) };
            let kind = if loops { WeightKind::F64 } else { WeightKind::I64 };
            models.push(model.with_ids(ids).with_weights(kind));
        }
    }
    models.push(Model::random(5, 3000, 20_000, true, true));
    models.push(Model::random(5, 1, 0, true, true).empty());
    models.push(Model::random(5, 40, 0, false, true));
    models
}

/// Opens and checks; both read the image.
fn check_at(image: &Path, threads: usize) -> Result<outcore_graph::CheckReport, Error> {
    let graph = Graph::open(&runtime(threads), image, ImageOptions::default())?;
    check(&graph)
}

fn files(image: &Path) -> Vec<String> {
    let mut names: Vec<String> = vec![MANIFEST.into()];
    for file in ImageFile::all(1) {
        names.extend([file.name(), file.index_name()].into_iter().flatten());
    }
    names.retain(|name| image.join(name).is_file());
    names
}

#[test]
fn whole_images_pass_with_any_number_of_workers() {
    for model in models() {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let reports: Vec<_> = [1, 2, 3, 8].into_iter().map(|threads| check_at(&image, threads).unwrap()).collect();
        assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
        let bytes: u64 = files(&image).iter().map(|name| std::fs::metadata(image.join(name)).unwrap().len()).sum();
        assert_eq!(reports[0].image_bytes, bytes.min(reports[0].image_bytes));
        assert_eq!((reports[0].vertices, reports[0].edges), (model.vertices as u64, model.edges.len() as u64));
    }
}

#[test]
fn lists_that_span_stretches_pass() {
    // One list over hundreds of pages, among eight workers.
    let vertices = 300_000u32;
    let mut model = Model::random(5, vertices as usize, 0, true, true).with_weights(WeightKind::F64);
    model.edges = (0..vertices).filter(|i| i % 7 != 3).map(|i| (100, i, f64::from(i))).collect();
    for order in [Order::Input, Order::Degree] {
        let model = model.clone().with_order(order);
        let model = if order == Order::Degree { model.with_ids(Model::sparse_ids(vertices as usize)) } else { model };
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        assert_eq!(check_at(&image, 1).unwrap(), check_at(&image, 8).unwrap());
    }
}

#[test]
fn a_flipped_byte_anywhere_names_its_file() {
    for model in [&models()[1], &models()[6]] {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        for name in files(&image) {
            let path = image.join(&name);
            let whole = std::fs::read(&path).unwrap();
            let mut random = common::Random(whole.len() as u64);
            let mut places: Vec<usize> = (0..40).map(|_| random.below(whole.len() as u64) as usize).collect();
            places.extend([0, 3, 4, 5, 6, 8, 16, 24, 31, 32, whole.len() - 1].map(|place| place.min(whole.len() - 1)));
            for place in places {
                let mut damaged = whole.clone();
                damaged[place] ^= 1 << random.below(8);
                std::fs::write(&path, &damaged).unwrap();
                let error = check_at(&image, 2).expect_err(&format!("{name} byte {place}"));
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                assert!(error.to_string().contains(&format!("{name} is damaged")), "{name} byte {place}: {error}");
            }
            // The last byte of a manifest is the end of its line.
            for len in [0, 1, whole.len() / 2, whole.len() - 2, whole.len() + 4096] {
                let mut other = whole.clone();
                other.resize(len, 0);
                std::fs::write(&path, &other).unwrap();
                let text = check_at(&image, 1).unwrap_err().to_string();
                assert!(text.contains(&name), "{name} of {len} bytes: {text}");
            }
            std::fs::write(&path, &whole).unwrap();
        }
        check_at(&image, 1).unwrap();
    }
}

#[test]
fn pages_at_the_wrong_place_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let image = models()[0].write(directory.path());
    for name in files(&image).iter().filter(|name| name.ends_with(".pages")) {
        let path = image.join(name);
        let whole = std::fs::read(&path).unwrap();
        if whole.len() >= 8192 {
            let mut swapped = whole.clone();
            swapped[..8192].rotate_left(4096);
            std::fs::write(&path, &swapped).unwrap();
            let text = check_at(&image, 1).unwrap_err().to_string();
            assert!(text.contains(&format!("{name} is damaged at byte 0")), "{text}");
            std::fs::write(&path, &whole).unwrap();
        }
    }
}

/// A change that a test makes to an image.
type Damage<'a> = Box<dyn Fn(&Path) + 'a>;

/// Every page is whole here, but what the pages say is wrong.
#[test]
fn files_that_contradict_each_other_are_noticed() {
    let model =
        Model::random(5, 500, 12_000, true, false).with_ids(Model::sparse_ids(500)).with_weights(WeightKind::F64);
    let lists = model.lists(Direction::Out);
    let degrees: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let weights: Vec<u64> = lists.iter().flatten().map(|&(_, weight)| weight.to_bits()).collect();
    let ids: Vec<u64> = (0..500).map(|i| i * i + 7 * i + 3).collect();
    let damages: Vec<(&str, Damage<'_>)> = vec![
        (
            "out_degree",
            Box::new(|image| {
                let mut wrong = degrees.clone();
                wrong.swap(0, 100);
                write_column(image, ImageFile::OUT_DEGREE, &wrong, false);
            }),
        ),
        (
            "out_hub",
            Box::new(|image| {
                write_column(image, ImageFile::OUT_HUB, &vec![7; 500], false);
            }),
        ),
        (
            "in_hub",
            Box::new(|image| {
                write_column(image, ImageFile::IN_HUB, &vec![500; 500], false);
            }),
        ),
        (
            "id.pages",
            Box::new(|image| {
                let mut wrong = ids.clone();
                wrong[200] = wrong[199];
                write_column(image, ImageFile::ID, &wrong, false);
            }),
        ),
        (
            "id.pages",
            Box::new(|image| {
                let mut wrong = ids.clone();
                wrong.swap(200, 201);
                write_column(image, ImageFile::ID, &wrong, false);
            }),
        ),
        ("out_0", Box::new(|image| write_weights(image, weights.iter().map(|_| f64::NAN.to_bits())))),
        ("in.pages", Box::new(|image| write_weights(image, weights.iter().rev().copied()))),
        ("out_entries", Box::new(|image| shift_entries(image, ImageFile::OUT_ENTRIES))),
        ("in_entries", Box::new(|image| shift_entries(image, ImageFile::IN_ENTRIES))),
        ("manifest", Box::new(|image| edit_manifest(image, |manifest| manifest.out_lists.max_degree += 1))),
        ("manifest", Box::new(|image| edit_manifest(image, |manifest| manifest.import.isolated_vertices += 1))),
        ("manifest", Box::new(|image| edit_manifest(image, |manifest| manifest.import.self_loops = 1))),
        ("manifest", Box::new(|image| edit_manifest(image, |manifest| manifest.out_lists.max_degree = 501))),
        ("in.pages", Box::new(|image| redirect_edge(image, &model))),
        ("out.pages", Box::new(shift_index)),
    ];
    for (i, (name, damage)) in damages.iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        check_at(&image, 1).unwrap();
        damage(&image);
        let text = check_at(&image, 2).expect_err(&format!("damage {i} to {name}")).to_string();
        assert!(text.contains(name) && text.contains("damaged"), "damage {i} to {name}: {text}");
    }
}

#[test]
fn counts_of_self_loops_in_the_manifest_are_compared_with_the_lists() {
    for directed in [false, true] {
        for (loops, kept) in [(1, false), (0, true), (0, false)] {
            let directory = tempfile::tempdir().unwrap();
            let image = Model::random(5, 500, 12_000, directed, true).write(directory.path());
            check_at(&image, 1).unwrap();
            edit_manifest(&image, |manifest| {
                manifest.import.self_loops = loops;
                manifest.import.self_loops_kept = kept;
            });
            let text = check_at(&image, 1).unwrap_err().to_string();
            assert!(text.contains(MANIFEST) && text.contains("self-loops"), "{text}");
        }
        let directory = tempfile::tempdir().unwrap();
        let model = Model::random(5, 500, 12_000, directed, true);
        let image = model.write(directory.path());
        let loops = model.edges.iter().filter(|(source, target, _)| source == target).count() as u64;
        edit_manifest(&image, |manifest| manifest.import.self_loops_stored = Some(loops));
        check_at(&image, 1).unwrap();
        edit_manifest(&image, |manifest| manifest.import.self_loops_stored = Some(loops + 1));
        let text = check_at(&image, 1).unwrap_err().to_string();
        assert!(text.contains(&format!("expected {loops} stored self-loops")), "{text}");
    }
}

/// Changes a page and its checksum, so that the page is as whole as its writer made it.
fn edit_page(image: &Path, file: ImageFile, number: usize, edit: impl FnOnce(&mut [u8; 4096])) {
    let mut pages = std::fs::read(file.path(image)).unwrap();
    let page = pages[4096 * number..].first_chunk_mut::<4096>().unwrap();
    edit(page);
    let checksum = file.origin(common::IMAGE_ID).checksum(number as u64, page);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(file.path(image), pages).unwrap();
}

#[test]
fn reserved_fields_must_be_zero() {
    let directory = tempfile::tempdir().unwrap();
    let image = models()[1].write(directory.path());
    for (file, at, found) in [
        (ImageFile::OUT_LISTS, 30, "expected zero"),
        (ImageFile::OUT_LISTS, 31, "expected zero"),
        (ImageFile::ID, 30, "expected zero"),
        (ImageFile::ID_TEXT, 16, "expected zero"),
        (ImageFile::OUT_LISTS, 5, "expected flags"),
        (ImageFile::OUT_DEGREE, 5, "expected flags"),
        (ImageFile::ID_TEXT, 5, "expected flags"),
    ] {
        let whole = std::fs::read(file.path(&image)).unwrap();
        edit_page(&image, file, 0, |page| page[at] |= 0x80);
        let text = check_at(&image, 1).unwrap_err().to_string();
        assert!(
            text.contains(&file.name().unwrap()) && text.contains(found),
            "{} at {at}: {text}",
            file.name().unwrap()
        );
        std::fs::write(file.path(&image), &whole).unwrap();
    }
    check_at(&image, 1).unwrap();
}

#[test]
fn unused_sections_of_columns_and_text_must_be_empty() {
    let directory = tempfile::tempdir().unwrap();
    let image = models()[1].write(directory.path());
    for (file, section) in [(ImageFile::OUT_DEGREE, 1), (ImageFile::values(0, false), 2), (ImageFile::ID_TEXT, 1)] {
        let whole = std::fs::read(file.path(&image)).unwrap();
        let last = whole.len() / 4096 - 1;
        edit_page(&image, file, last, |page| {
            let end = u16::from_le_bytes([page[24], page[25]]) + 1;
            (section..3).for_each(|i| page[24 + 2 * i..26 + 2 * i].copy_from_slice(&end.to_le_bytes()));
        });
        let text = check_at(&image, 1).unwrap_err().to_string();
        assert!(text.contains(&file.name().unwrap()) && text.contains("an empty section"), "{text}");
        std::fs::write(file.path(&image), &whole).unwrap();
    }
    check_at(&image, 1).unwrap();
}

#[test]
fn members_of_later_writers_are_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let image = models()[1].write(directory.path());
    let text = std::fs::read_to_string(image.join(MANIFEST)).unwrap();
    let body = text[text.find("\"manifest\": ").unwrap() + 12..text.rfind('}').unwrap()].trim_end();
    let body = body.replacen('{', "{\n    \"later\": [1, 2],", 1);
    let checksum = crc32c::crc32c(body.as_bytes());
    let later = format!("{{\"other\": 3, \"checksum\": \"{checksum:08x}\", \"manifest\": {body}}}");
    std::fs::write(image.join(MANIFEST), later).unwrap();
    check_at(&image, 1).unwrap();
}

#[test]
fn files_that_the_manifest_does_not_name_are_reported() {
    let model = Model::random(5, 500, 12_000, false, true);
    for name in ["edges/out_0.pages", "edges/out_entries.index", "in.index", "columns/id.text.pages"] {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        std::fs::create_dir_all(image.join(name).parent().unwrap()).unwrap();
        std::fs::write(image.join(name), "x").unwrap();
        let text = check_at(&image, 1).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("the manifest names none"), "{text}");
    }
}

#[test]
fn bytes_after_the_last_section_of_a_page_must_be_zero() {
    let directory = tempfile::tempdir().unwrap();
    let image = models()[1].write(directory.path());
    let mut tried = 0;
    for file in ImageFile::all(1).filter(|file| file.name().is_some()) {
        let Ok(whole) = std::fs::read(file.path(&image)) else { continue };
        let last = whole.len() - 4096;
        let end = usize::from(u16::from_le_bytes([whole[last + 28], whole[last + 29]]));
        for at in [end, 4095] {
            edit_page(&image, file, last / 4096, |page| page[at] = 1);
            let text = check_at(&image, 1).unwrap_err().to_string();
            let place = format!("{} is damaged at byte {}: expected zero", file.name().unwrap(), last + at);
            assert!(text.contains(&place), "{place}: {text}");
            tried += 1;
            std::fs::write(file.path(&image), &whole).unwrap();
        }
    }
    assert_eq!(tried, 2 * 10, "lists, degrees, hubs and weights of both directions, ids and their text");
    check_at(&image, 1).unwrap();
}

/// One edge leads elsewhere in the out-lists than the in-lists say.
fn redirect_edge(image: &Path, model: &Model) {
    let mut other = model.lists(Direction::Out);
    let list = other.iter_mut().find(|list| !list.is_empty()).unwrap();
    list.last_mut().unwrap().0 = 499;
    write_lists(image, &other);
    edit_manifest(image, |manifest| manifest.import.duplicates = 1);
    let hub = |(v, list): (usize, &Vec<(u32, f64)>)| {
        list.iter().map(|n| n.0).find(|&n| n as usize != v).unwrap_or(v as u32).into()
    };
    write_column(image, ImageFile::OUT_HUB, &other.iter().enumerate().map(hub).collect::<Vec<u64>>(), false);
}

/// The index says other first vertices than the pages do.
fn shift_index(image: &Path) {
    let pages = std::fs::read(image.join("out.pages")).unwrap();
    let first = |page: &[u8; 4096]| u64::from_le_bytes(page[8..16].try_into().unwrap());
    let keys: Vec<u64> = pages.as_chunks::<4096>().0.iter().map(|page| 2 * first(page)).collect();
    assert!(keys.len() > 1);
    let wrong: Vec<u64> = keys.iter().map(|key| key + u64::from(*key > 0) * 2).collect();
    let origin = ImageFile::OUT_LISTS.origin(common::IMAGE_ID);
    std::fs::write(image.join("out.index"), index_bytes(&origin, &wrong)).unwrap();
}

/// One page of lists more has the entry that the next one begins with.
fn shift_entries(image: &Path, file: ImageFile) {
    let origin = file.origin(common::IMAGE_ID);
    let index = Index::from_bytes(&origin, &std::fs::read(file.path(image)).unwrap()).unwrap();
    let wrong: Vec<u64> = index.iter_from(0).enumerate().map(|(page, key)| key + u64::from(page == 1)).collect();
    std::fs::write(file.path(image), index_bytes(&origin, &wrong)).unwrap();
}

/// Columns that are neither weights nor attributes are refused when an image is opened: readers would leave them out,
/// such as the imaginary parts of values that are not said to be complex.
#[test]
fn columns_that_belong_to_nothing_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::random(5, 500, 12_000, true, true).with_weights(WeightKind::F64);
    let image = model.write(directory.path());
    let entries: usize = model.lists(Direction::Out).iter().map(Vec::len).sum();
    let values: Vec<u64> = (0..entries as u64).map(|value| (value as f64).to_bits()).collect();
    let kind = ValueType::F64;
    let pages = [false, true].map(|incoming| common::write_values(&image, 1, incoming, kind, &values));
    let imaginary = ValueColumn { name: "imaginary".to_owned(), kind, out_pages: pages[0], in_pages: pages[1] };
    let is_opened = || {
        let opened = Graph::open(&common::runtime(1), &image, ImageOptions::default());
        opened.map(drop).map_err(|error| error.to_string())
    };
    edit_manifest(&image, |manifest| {
        manifest.values.push(imaginary);
        manifest.complex = true;
    });
    assert_eq!(is_opened(), Ok(()));
    edit_manifest(&image, |manifest| manifest.complex = false);
    let text = is_opened().unwrap_err();
    assert!(text.contains("expected 1 columns of values") && text.contains("found 2"), "{text}");
}

fn write_weights(image: &Path, weights: impl Iterator<Item = u64>) {
    let pages = common::write_values(image, 0, false, ValueType::F64, &weights.collect::<Vec<_>>());
    edit_manifest(image, |manifest| manifest.values[0].out_pages = pages);
}

fn write_lists(image: &Path, lists: &[Vec<(u32, f64)>]) {
    let origin = ImageFile::OUT_LISTS.origin(common::IMAGE_ID);
    let (mut bytes, mut keys) = (Vec::new(), Vec::new());
    let mut writer = ListWriter::new(origin, false, 0, 0, 0);
    let mut emit = |start: outcore_format::PageStart, page: &outcore_format::PageBytes| {
        keys.push(start.key());
        bytes.extend_from_slice(page);
    };
    for list in lists {
        writer.push(&list.iter().map(|edge| edge.0).collect::<Vec<_>>(), &mut emit);
    }
    writer.finish(&mut emit);
    std::fs::write(image.join("out.pages"), &bytes).unwrap();
    std::fs::write(image.join("out.index"), index_bytes(&origin, &keys)).unwrap();
    edit_manifest(image, |manifest| manifest.out_lists.pages = keys.len() as u64);
}

#[test]
fn equal_ids_are_found_in_any_order_of_vertices_and_with_little_memory() {
    let vertices = 400_000;
    let model =
        Model::random(5, vertices, 5000, false, false).with_ids(Model::sparse_ids(vertices)).with_order(Order::Degree);
    for little in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let open_there = || {
            let options = outcore_io::RuntimeOptions {
                memory_bytes: Some(if little { 24 << 20 } else { 200 << 20 }),
                beside_process: true,
                threads: Some(1),
                ..Default::default()
            };
            let runtime = outcore_io::Runtime::new(options).unwrap();
            Graph::open(&runtime, &image, ImageOptions::default()).unwrap()
        };
        check(&open_there()).unwrap();
        let mut ids: Vec<u64> = model.places().iter().map(|&place| model.id(place).parse().unwrap()).collect();
        ids[399_999] = ids[17];
        let (pages, _) = write_column(&image, ImageFile::ID, &ids, false);
        edit_manifest(&image, |manifest| manifest.ids = outcore_format::IdColumn::U64 { pages });
        let text = check(&open_there()).unwrap_err().to_string();
        assert!(text.contains(&format!("`{}` again at vertex 399999", ids[17])), "{text}");
        let (pages, _) = write_column(&image, ImageFile::ID, &vec![5; vertices], false);
        edit_manifest(&image, |manifest| manifest.ids = outcore_format::IdColumn::U64 { pages });
        let text = check(&open_there()).unwrap_err().to_string();
        assert!(text.contains("every id once"), "{text}");
    }
}

#[test]
fn a_request_to_stop_is_heard() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&models()[0].write(directory.path()), 2);
    graph.runtime().cancel().cancel();
    assert!(matches!(check(&graph), Err(Error::Cancelled)));
}
