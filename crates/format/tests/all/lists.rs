//! Lists of all shapes come back from their pages, and damaged pages are refused.

use outcore_format::list::{MAX_NEIGHBOURS, decode};
use outcore_format::{Index, Kind, ListWriter, Lists, Origin, PageBytes, PageStart, Shape, index_bytes};
use outcore_testkit::random;

const ORIGIN: Origin = Origin { image_id: 0x1234_5678_9abc_def0, kind: Kind::OutLists, file: 0 };

fn write(lists: &[Vec<u32>], parallel: bool) -> Vec<(PageStart, Box<PageBytes>)> {
    let mut pages = Vec::new();
    let mut writer = ListWriter::new(ORIGIN, parallel, 0, 0, 0);
    for list in lists {
        writer.push(list, |start, page| pages.push((start, Box::new(*page))));
    }
    writer.finish(|start, page| pages.push((start, Box::new(*page))));
    pages
}

fn read(pages: &[(PageStart, Box<PageBytes>)], shape: Shape) -> Vec<Vec<u32>> {
    let mut back: Vec<Vec<u32>> = Vec::new();
    let mut lists = Lists::default();
    let mut edges = 0;
    for (number, (start, bytes)) in pages.iter().enumerate() {
        let page = ORIGIN.verify(number as u64, bytes).unwrap();
        decode(&page, shape, &mut lists).unwrap();
        assert_eq!((lists.first_vertex, lists.begins_earlier), (start.first_vertex, start.begins_earlier));
        assert_eq!(start.first_entry, edges);
        edges += lists.edges() as u64;
        let before = if lists.begins_earlier { back.last().map_or(0, Vec::len) } else { 0 };
        assert_eq!(lists.offset, before as u64);
        for i in 0..lists.count {
            if i == 0 && lists.begins_earlier {
                back.last_mut().unwrap().extend(lists.list(i));
            } else {
                assert_eq!(lists.first_vertex + i as u64, back.len() as u64);
                back.push(lists.list(i).to_vec());
            }
        }
    }
    back
}

fn check(lists: Vec<Vec<u32>>, vertices: u64, parallel: bool) -> usize {
    let pages = write(&lists, parallel);
    assert_eq!(read(&pages, Shape { vertices, parallel }), lists);
    let keys: Vec<u64> = pages.iter().map(|(start, _)| start.key()).collect();
    let index = Index::from_bytes(&ORIGIN, &index_bytes(&ORIGIN, &keys)).unwrap();
    for (vertex, _) in lists.iter().enumerate() {
        let begin = index.last_at_most(2 * vertex as u64).unwrap() as usize;
        let end = index.last_at_most(2 * vertex as u64 + 1).unwrap() as usize;
        let holds: Vec<usize> = (0..pages.len())
            .filter(|&p| {
                let first = pages[p].0.first_vertex;
                let page = ORIGIN.verify(p as u64, &pages[p].1).unwrap();
                (first..first + page.count() as u64).contains(&(vertex as u64))
            })
            .collect();
        assert_eq!(holds, (begin..=end).collect::<Vec<_>>(), "vertex {vertex}");
    }
    pages.len()
}

#[test]
fn lists_of_all_shapes_come_back() {
    assert_eq!(check(vec![], 1, false), 0);
    assert_eq!(check(vec![vec![]], 1, false), 1);
    assert_eq!(check(vec![vec![0]], 1, false), 1);
    assert_eq!(check(vec![vec![]; 65_024], 65_024, false), 1);
    assert_eq!(check(vec![vec![]; 65_025], 65_025, false), 2);
    // One list of consecutive numbers: a byte for sixteen of them.
    let run: Vec<u32> = (0..200_000).collect();
    assert_eq!(check(vec![vec![], run.clone(), vec![5]], 200_000, false), 200_000usize.div_ceil(MAX_NEIGHBOURS - 100));
    assert_eq!(check(vec![vec![u32::MAX - 1]; 100], u64::from(u32::MAX), false), 1);
}

#[test]
fn random_lists_come_back() {
    let mut state = 3;
    for round in 0..30 {
        let vertices = 1 + random(&mut state) % 5000;
        let parallel = round % 3 == 0;
        let lists: Vec<Vec<u32>> = (0..vertices)
            .map(|_| {
                let length = match random(&mut state) % 20 {
                    0..8 => 0,
                    8..15 => random(&mut state) % 20,
                    15..19 => random(&mut state) % 300,
                    _ => random(&mut state) % 9000,
                };
                let mut list: Vec<u32> = (0..length).map(|_| (random(&mut state) % vertices) as u32).collect();
                list.sort_unstable();
                if !parallel {
                    list.dedup();
                }
                list
            })
            .collect();
        check(lists, vertices, parallel);
    }
}

#[test]
fn a_list_in_parts_makes_the_pages_of_the_whole_list_and_pages_can_be_placed_later() {
    let mut state = 5;
    for parallel in [false, true] {
        for longest in [10u64, 70_000, 400_000] {
            let lists: Vec<Vec<u32>> = (0..7)
                .map(|_| {
                    let length = random(&mut state) % longest;
                    let mut list: Vec<u32> = (0..length).map(|_| random(&mut state) as u32 % 1_000_000).collect();
                    list.sort_unstable();
                    list.dedup();
                    list
                })
                .collect();
            let whole = write(&lists, parallel);
            let mut parts = Vec::new();
            let mut writer = ListWriter::new(ORIGIN, parallel, 0, 0, 0);
            for list in &lists {
                let mut rest = &list[..];
                while !rest.is_empty() {
                    let take = (1 + random(&mut state) as usize % 90_000).min(rest.len());
                    if take == rest.len() {
                        break;
                    }
                    writer.push_part(&rest[..take], |start, page| parts.push((start, Box::new(*page))));
                    rest = &rest[take..];
                }
                writer.push(rest, |start, page| parts.push((start, Box::new(*page))));
            }
            writer.finish(|start, page| parts.push((start, Box::new(*page))));
            assert!(parts == whole, "longest {longest}");
            for (number, (_, page)) in parts.iter_mut().enumerate() {
                let offset = u64::from_le_bytes(page[16..24].try_into().unwrap());
                ORIGIN.place(number as u64 + 10, 0, page);
                let mut decoded = Lists::default();
                let shape = Shape { vertices: 1_000_000, parallel };
                decode(&ORIGIN.verify(number as u64 + 10, page).unwrap(), shape, &mut decoded).unwrap();
                assert_eq!(decoded.offset, offset);
                assert!(ORIGIN.verify(number as u64, page).is_err());
            }
        }
    }
}

#[test]
fn every_flipped_bit_and_every_wrong_place_is_noticed() {
    let pages = write(&[(0..3000).step_by(3).collect(), vec![1, 2], vec![]], false);
    let bytes = &pages[0].1;
    assert!(ORIGIN.verify(0, bytes).is_ok());
    for bit in 0..bytes.len() * 8 {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(ORIGIN.verify(0, &bad).is_err(), "bit {bit}");
    }
    assert!(ORIGIN.verify(1, bytes).is_err());
    assert!(Origin { image_id: 1, ..ORIGIN }.verify(0, bytes).is_err());
    assert!(Origin { kind: Kind::InLists, ..ORIGIN }.verify(0, bytes).is_err());
}

#[test]
fn hostile_pages_are_refused_without_a_panic() {
    // Pages with a valid checksum and forged contents.
    let pages = write(&[(0..300).step_by(3).collect(), vec![1, 2], vec![], vec![7; 1]], false);
    let shape = Shape { vertices: 300, parallel: false };
    let mut lists = Lists::default();
    let mut state = 11;
    let mut refused = 0;
    for _ in 0..200_000 {
        let mut bad = pages[0].1.clone();
        for _ in 0..1 + random(&mut state) % 3 {
            let end = if random(&mut state).is_multiple_of(2) { 32 } else { 200 };
            let at = 4 + (random(&mut state) % (end - 4)) as usize;
            bad[at] = random(&mut state) as u8;
        }
        let checksum = ORIGIN.checksum(0, &bad);
        bad[..4].copy_from_slice(&checksum.to_le_bytes());
        let result = ORIGIN.verify(0, &bad).and_then(|page| decode(&page, shape, &mut lists));
        match result {
            Err(_) => refused += 1,
            Ok(()) => {
                assert!(lists.neighbours[..lists.edges()].iter().all(|&n| n < 300));
                assert!(lists.first_vertex + lists.count as u64 <= 300);
            }
        }
    }
    assert!(refused > 100_000, "{refused}");
}
