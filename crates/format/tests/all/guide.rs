//! Lists that are decoded through a guide equal those of the full decoder.

use outcore_format::guide::{Guide, MOST_MARKS, Mark, decode_lists};
use outcore_format::list::{MAX_NEIGHBOURS, decode};
use outcore_format::{Kind, ListWriter, Lists, Origin, Page, PageBytes, Shape};
use outcore_testkit::random_below;
use std::ops::Range;

const ORIGIN: Origin = Origin { image_id: 5, kind: Kind::OutLists, file: 0 };

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        random_below(&mut self.0, bound)
    }

    fn places(&mut self, count: usize) -> Range<usize> {
        let from = self.below(count as u64) as usize;
        from..from + 1 + self.below((count - from).min(40) as u64) as usize
    }
}

/// Pages of graphs of several kinds: short lists only, lists of all lengths, hardly any neighbours.
fn pages(random: &mut Random, kind: u64, vertices: u64, parallel: bool) -> Vec<PageBytes> {
    let mut pages = Vec::new();
    let mut writer = ListWriter::new(ORIGIN, parallel, 0, 0, 0);
    for vertex in 0..vertices {
        let length = match (kind, random.below(20)) {
            (0, _) => 2 + random.below(3),
            (1, 0..6) => 0,
            (1, 6..16) => random.below(40),
            (1, 16) => random.below(9000),
            (2, 0) => 1,
            (2, _) => 0,
            _ => 1,
        };
        let near = if random.below(2) == 0 { vertex } else { random.below(vertices) };
        let neighbour = |i| match i % 5 {
            0 => random.below(vertices),
            _ => (near + random.below(50)).min(vertices - 1),
        };
        let mut list: Vec<u32> = (0..length).map(neighbour).map(|neighbour| neighbour as u32).collect();
        list.sort_unstable();
        if !parallel {
            list.dedup();
        }
        writer.push(&list, |_, page| pages.push(*page));
    }
    writer.finish(|_, page| pages.push(*page));
    pages
}

fn same(all: &Lists, some: &Lists, places: Range<usize>) {
    assert_eq!(some.first_vertex, all.first_vertex + places.start as u64, "{places:?}");
    assert_eq!(some.offset, if places.start == 0 { all.offset } else { 0 }, "{places:?}");
    assert_eq!(some.count, places.len());
    assert_eq!(some.begins_earlier, all.begins_earlier && places.start == 0, "{places:?}");
    assert_eq!(some.ends_later, all.ends_later && places.end == all.count, "{places:?}");
    for (i, place) in places.enumerate() {
        assert_eq!(some.list(i), all.list(place), "list {place}");
    }
}

/// Looks lists up and compares them with the result of the full decoder, if it has one.
fn look_up(page: &Page<'_>, shape: Shape, guide: &Guide, random: &mut Random, all: Option<&Lists>, some: &mut Lists) {
    for _ in 0..20 {
        let places = random.places(page.count());
        let found = decode_lists(page, shape, guide.mark_before(places.start), places.clone(), some);
        if let Some(all) = all {
            found.unwrap();
            same(all, some, places);
        } else if found.is_ok() {
            assert!((0..some.count).all(|i| some.list(i).iter().all(|&v| u64::from(v) < shape.vertices)));
        }
    }
}

#[test]
fn lists_are_those_of_the_full_decoder() {
    let mut random = Random(1);
    let (mut all, mut some) = (Lists::default(), Lists::default());
    let mut strides = Vec::new();
    for (kind, vertices, parallel) in
        [(0, 40_000, false), (1, 3000, false), (1, 3000, true), (2, 200_000, false), (3, 1, true), (3, 20_000, false)]
    {
        let shape = Shape { vertices, parallel };
        for bytes in pages(&mut random, kind, vertices, parallel) {
            let page = ORIGIN.trust(&bytes).unwrap();
            decode(&page, shape, &mut all).unwrap();
            let guide = Guide::of(&page, shape).unwrap();
            assert!(guide.count <= MOST_MARKS && guide.count == all.count.div_ceil(guide.stride));
            strides.push(guide.stride);
            for (i, mark) in guide.marks[..guide.count].iter().enumerate() {
                assert_eq!(mark.edges(), all.ends[i * guide.stride] as usize);
                assert_eq!(Mark::of_word(mark.word()), *mark);
            }
            look_up(&page, shape, &guide, &mut random, Some(&all), &mut some);
            let count = page.count();
            decode_lists(&page, shape, guide.mark_before(0), 0..count, &mut some).unwrap();
            same(&all, &some, 0..count);
            assert!(decode_lists(&page, shape, guide.mark_before(0), count..count + 1, &mut some).is_err());
        }
    }
    assert!(strides.contains(&16) && strides.contains(&32) && strides.iter().any(|&stride| stride > 100));
}

#[test]
fn a_damaged_page_is_refused_or_gives_the_lists_of_the_full_decoder() {
    const BAD_PAGES: usize = if cfg!(miri) { 50 } else { 20_000 };
    let mut random = Random(2);
    let (mut all, mut some) = (Lists::default(), Lists::default());
    let shape = Shape { vertices: 3000, parallel: false };
    let pages: Vec<PageBytes> = (0..2).flat_map(|kind| pages(&mut random, kind, 3000, false)).collect();
    let (mut guided, mut refused) = (0, 0);
    for _ in 0..BAD_PAGES {
        let mut bad = pages[random.below(pages.len() as u64) as usize];
        for _ in 0..1 + random.below(3) {
            let reach = [28, 300, 4092][random.below(3) as usize];
            bad[4 + random.below(reach) as usize] = random.below(256) as u8;
        }
        let Ok(page) = ORIGIN.trust(&bad) else { continue };
        let accepted = decode(&page, shape, &mut all).is_ok();
        match Guide::of(&page, shape) {
            Ok(guide) if page.count() > 0 => {
                guided += 1;
                look_up(&page, shape, &guide, &mut random, accepted.then_some(&all), &mut some);
            }
            Ok(_) => {}
            Err(error) => {
                assert!(!accepted, "{error}");
                refused += 1;
            }
        }
    }
    assert!(guided > BAD_PAGES / 10 && refused > BAD_PAGES / 30, "{guided} {refused}");
}

#[test]
fn marks_of_another_page_give_no_neighbour_that_the_image_does_not_have() {
    let mut random = Random(3);
    let mut some = Lists::default();
    let shape = Shape { vertices: 3000, parallel: false };
    let pages: Vec<PageBytes> = (0..2).flat_map(|kind| pages(&mut random, kind, 3000, false)).collect();
    let guides: Vec<Guide> = pages.iter().map(|page| Guide::of(&ORIGIN.trust(page).unwrap(), shape).unwrap()).collect();
    for _ in 0..if cfg!(miri) { 10 } else { 2000 } {
        let page = &pages[random.below(pages.len() as u64) as usize];
        let guide = &guides[random.below(guides.len() as u64) as usize];
        look_up(&ORIGIN.trust(page).unwrap(), shape, guide, &mut random, None, &mut some);
        let word = random.below(1 << 31) << 33 | random.below(1 << 31) << 2;
        let places = random.places(ORIGIN.trust(page).unwrap().count());
        let mark = (Mark::of_word(word), places.start / 16 * 16);
        let found = decode_lists(&ORIGIN.trust(page).unwrap(), shape, mark, places, &mut some);
        if found.is_ok() {
            assert!(some.edges() <= MAX_NEIGHBOURS);
            assert!((0..some.count).all(|i| some.list(i).iter().all(|&v| u64::from(v) < shape.vertices)));
        }
    }
}
