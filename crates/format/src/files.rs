//! The files of an image: their numbers, names, kinds and indexes.

use crate::dense_manifest::DenseManifest;
use crate::manifest::{IdColumn, Manifest};
use crate::page::{Kind, Origin};
use std::path::{Path, PathBuf};

/// A file of an image, by its number, which checksums are seeded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageFile(u16);

/// Number, name, index, and what pages hold. A file without a name is an index alone.
const FILES: [(u16, &str, &str, Kind); 11] = [
    (0, "out.pages", "out.index", Kind::OutLists),
    (1, "in.pages", "in.index", Kind::InLists),
    (2, "columns/out_degree.pages", "", Kind::Column),
    (3, "columns/out_hub.pages", "", Kind::Column),
    (4, "columns/in_degree.pages", "", Kind::Column),
    (5, "columns/in_hub.pages", "", Kind::Column),
    (6, "columns/id.pages", "", Kind::Column),
    (7, "columns/id.text.pages", "", Kind::Text),
    (8, "", "edges/out_entries.index", Kind::OutLists),
    (9, "", "edges/in_entries.index", Kind::InLists),
    (10, "values.pages", "", Kind::Dense),
];
/// Column `c` of values beside the out-lists has this number plus `2 c`; beside the in-lists one more.
const FIRST_VALUES: u16 = 16;
/// The most columns of values.
pub const MAX_VALUE_COLUMNS: usize = 256;

impl ImageFile {
    /// Lists of out-neighbours, or of neighbours.
    pub const OUT_LISTS: ImageFile = ImageFile(0);
    /// Lists of in-neighbours.
    pub const IN_LISTS: ImageFile = ImageFile(1);
    /// The length of every out-list.
    pub const OUT_DEGREE: ImageFile = ImageFile(2);
    /// The hub of every out-list.
    pub const OUT_HUB: ImageFile = ImageFile(3);
    /// The length of every in-list.
    pub const IN_DEGREE: ImageFile = ImageFile(4);
    /// The hub of every in-list.
    pub const IN_HUB: ImageFile = ImageFile(5);
    /// The users' ids: numbers, or where strings end in the text.
    pub const ID: ImageFile = ImageFile(6);
    /// The users' ids: the bytes of strings.
    pub const ID_TEXT: ImageFile = ImageFile(7);
    /// For every page of out-lists, how many entries lie in the pages before it.
    pub const OUT_ENTRIES: ImageFile = ImageFile(8);
    /// For every page of in-lists, how many entries lie in the pages before it.
    pub const IN_ENTRIES: ImageFile = ImageFile(9);
    /// The elements of an array: its only file of pages, and in no image of a graph.
    pub const DENSE: ImageFile = ImageFile(10);

    /// A column of values beside the lists of out-neighbours, or those of in-neighbours.
    ///
    /// # Panics
    /// If there cannot be so many columns.
    pub fn values(column: usize, incoming: bool) -> Self {
        assert!(column < MAX_VALUE_COLUMNS, "at most {MAX_VALUE_COLUMNS} columns of values");
        ImageFile(FIRST_VALUES + 2 * column as u16 + u16::from(incoming))
    }

    /// All files that an image of a graph may have that has so many columns of values.
    pub fn all(value_columns: usize) -> impl Iterator<Item = ImageFile> {
        let values = (0..value_columns).flat_map(|column| [false, true].map(|side| ImageFile::values(column, side)));
        FILES.iter().filter(|(.., kind)| *kind != Kind::Dense).map(|&(number, ..)| ImageFile(number)).chain(values)
    }

    /// Which column of values it is, if it is one.
    pub fn value_column(self) -> Option<usize> {
        self.0.checked_sub(FIRST_VALUES).map(|number| usize::from(number / 2))
    }

    /// The file's number.
    pub fn number(self) -> u16 {
        self.0
    }

    fn fixed(self) -> Option<&'static (u16, &'static str, &'static str, Kind)> {
        FILES.get(usize::from(self.0))
    }

    /// A name of a column of values: its side, its number, and an ending.
    fn values_name(self, ending: &str) -> String {
        let number = self.0 - FIRST_VALUES;
        format!("edges/{}_{}.{ending}", ["out", "in"][usize::from(number % 2)], number / 2)
    }

    /// The name of the file of pages within the image; none if the file is an index alone.
    pub fn name(self) -> Option<String> {
        match self.fixed() {
            Some((_, name, ..)) => (!name.is_empty()).then(|| (*name).to_owned()),
            None => Some(self.values_name("pages")),
        }
    }

    /// The name of the file's index, if it has one: lists and values of edges do.
    pub fn index_name(self) -> Option<String> {
        match self.fixed() {
            Some((_, _, index, _)) => (!index.is_empty()).then(|| (*index).to_owned()),
            None => Some(self.values_name("index")),
        }
    }

    /// Where the file lies in an image's directory, or its index if it is an index alone.
    pub fn path(self, image: &Path) -> PathBuf {
        image.join(self.name().or(self.index_name()).unwrap_or_default())
    }

    /// What pages of the file hold.
    pub fn kind(self) -> Kind {
        self.fixed().map_or(Kind::Values, |&(.., kind)| kind)
    }

    /// What the checksums of the file's pages and of its index are seeded with.
    pub fn origin(self, image_id: u64) -> Origin {
        Origin { image_id, kind: self.kind(), file: self.0 }
    }
}

impl Manifest {
    /// The files that an image has, and their sizes in pages; of an index alone, how many keys it has.
    pub fn files(&self) -> Vec<(ImageFile, u64)> {
        let out = &self.out_lists;
        let mut files = vec![
            (ImageFile::OUT_LISTS, out.pages),
            (ImageFile::OUT_DEGREE, out.degree_pages),
            (ImageFile::OUT_HUB, out.hub_pages),
        ];
        if let Some(lists) = &self.in_lists {
            files.push((ImageFile::IN_LISTS, lists.pages));
            files.push((ImageFile::IN_DEGREE, lists.degree_pages));
            files.push((ImageFile::IN_HUB, lists.hub_pages));
        }
        match &self.ids {
            IdColumn::Range { .. } => {}
            IdColumn::U64 { pages } | IdColumn::I64 { pages } => files.push((ImageFile::ID, *pages)),
            IdColumn::String { end_pages, text_pages, .. } => {
                files.push((ImageFile::ID, *end_pages));
                files.push((ImageFile::ID_TEXT, *text_pages));
            }
        }
        if !self.values.is_empty() {
            files.push((ImageFile::OUT_ENTRIES, out.pages));
            files.extend(self.in_lists.map(|lists| (ImageFile::IN_ENTRIES, lists.pages)));
        }
        for (place, column) in self.values.iter().enumerate() {
            files.push((ImageFile::values(place, false), column.out_pages));
            if self.directed {
                files.push((ImageFile::values(place, true), column.in_pages));
            }
        }
        files
    }
}

impl DenseManifest {
    /// The files that an image of an array has, and their sizes in pages.
    pub fn files(&self) -> Vec<(ImageFile, u64)> {
        vec![(ImageFile::DENSE, self.shape().pages())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn files_have_numbers_and_names_of_their_own() {
        let all: Vec<ImageFile> = ImageFile::all(MAX_VALUE_COLUMNS).chain([ImageFile::DENSE]).collect();
        let numbers: BTreeSet<u16> = all.iter().map(|file| file.number()).collect();
        assert_eq!(numbers.len(), all.len());
        let names: Vec<String> = all.iter().flat_map(|file| [file.name(), file.index_name()]).flatten().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(ImageFile::all(MAX_VALUE_COLUMNS).all(|file| file.kind() != Kind::Dense));
        FILES.iter().enumerate().for_each(|(place, row)| assert_eq!(usize::from(row.0), place));
        assert_eq!(ImageFile::values(3, true).name().unwrap(), "edges/in_3.pages");
        assert_eq!(ImageFile::values(0, false).index_name().unwrap(), "edges/out_0.index");
    }
}
