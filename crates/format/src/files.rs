//! The files of an image: their numbers, names, kinds and indexes.

use crate::attribute::{Attribute, MAX_ATTRIBUTES};
use crate::dense_manifest::DenseManifest;
use crate::manifest::{IdColumn, Manifest};
use crate::page::{Kind, Origin};
use crate::values::MAX_VALUE_COLUMNS;
use std::path::{Path, PathBuf};

/// A file of an image, by its number, which is part of the seed of checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageFile(u16);

/// Number, name, index, and kind of pages. A file without a name is an index alone.
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
/// Column `c` of values of vertices has this number plus `c`.
const FIRST_VERTEX_VALUES: u16 = FIRST_VALUES + 2 * MAX_VALUE_COLUMNS as u16;
/// The strings of attribute `a` of the edges have this number plus `2 a`; those of the vertices one more.
const FIRST_STRINGS: u16 = FIRST_VERTEX_VALUES + MAX_VALUE_COLUMNS as u16;

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
    /// For every page of out-lists, the number of entries in the pages before it.
    pub const OUT_ENTRIES: ImageFile = ImageFile(8);
    /// For every page of in-lists, the number of entries in the pages before it.
    pub const IN_ENTRIES: ImageFile = ImageFile(9);
    /// The elements of an array: its only file of pages, and in no image of a graph.
    pub const DENSE: ImageFile = ImageFile(10);

    /// A column of values beside the lists of out-neighbours, or those of in-neighbours.
    ///
    /// # Panics
    /// If `column` is out of range.
    pub fn values(column: usize, incoming: bool) -> Self {
        assert!(column < MAX_VALUE_COLUMNS, "at most {MAX_VALUE_COLUMNS} columns of values");
        ImageFile(FIRST_VALUES + 2 * column as u16 + u16::from(incoming))
    }

    /// A column of values of vertices.
    ///
    /// # Panics
    /// If `column` is out of range.
    pub fn vertex_values(column: usize) -> Self {
        assert!(column < MAX_VALUE_COLUMNS, "at most {MAX_VALUE_COLUMNS} columns of values");
        ImageFile(FIRST_VERTEX_VALUES + column as u16)
    }

    /// The strings of an attribute of edges or of vertices.
    ///
    /// # Panics
    /// If `attribute` is out of range.
    pub fn strings(attribute: usize, of_vertices: bool) -> Self {
        assert!(attribute < MAX_ATTRIBUTES, "at most {MAX_ATTRIBUTES} attributes");
        ImageFile(FIRST_STRINGS + 2 * attribute as u16 + u16::from(of_vertices))
    }

    /// All files that an image of a graph with this number of columns of values may have.
    pub fn all(value_columns: usize) -> impl Iterator<Item = ImageFile> {
        let values = (0..value_columns).flat_map(|column| [false, true].map(|side| ImageFile::values(column, side)));
        FILES.iter().filter(|(.., kind)| *kind != Kind::Dense).map(|&(number, ..)| ImageFile(number)).chain(values)
    }

    /// All files that attributes may have: columns of values of vertices, and strings.
    pub fn all_of_attributes(vertex_columns: usize, attributes: usize) -> impl Iterator<Item = ImageFile> {
        let strings = (0..attributes).flat_map(|place| [false, true].map(|side| ImageFile::strings(place, side)));
        (0..vertex_columns).map(ImageFile::vertex_values).chain(strings)
    }

    /// Index of the column of values beside lists, if the file is one.
    pub fn value_column(self) -> Option<usize> {
        (FIRST_VALUES..FIRST_VERTEX_VALUES).contains(&self.0).then(|| usize::from((self.0 - FIRST_VALUES) / 2))
    }

    /// Index of the column of values of vertices, if the file is one.
    pub fn vertex_value_column(self) -> Option<usize> {
        let is_one = (FIRST_VERTEX_VALUES..FIRST_STRINGS).contains(&self.0);
        is_one.then(|| usize::from(self.0 - FIRST_VERTEX_VALUES))
    }

    fn is_strings(self) -> bool {
        self.0 >= FIRST_STRINGS
    }

    /// The file's number.
    pub fn number(self) -> u16 {
        self.0
    }

    fn fixed(self) -> Option<&'static (u16, &'static str, &'static str, Kind)> {
        FILES.get(usize::from(self.0))
    }

    /// A name of a column of values or of strings: edges or vertices, number, and an ending.
    fn values_name(self, ending: &str) -> String {
        if self.is_strings() {
            let number = self.0 - FIRST_STRINGS;
            return format!("{}/text_{}.{ending}", ["edges", "vertices"][usize::from(number % 2)], number / 2);
        }
        if let Some(column) = self.vertex_value_column() {
            return format!("vertices/{column}.{ending}");
        }
        let number = self.0 - FIRST_VALUES;
        format!("edges/{}_{}.{ending}", ["out", "in"][usize::from(number % 2)], number / 2)
    }

    /// The name of the file of pages within the image; `None` if the file is an index alone.
    pub fn name(self) -> Option<String> {
        match self.fixed() {
            Some((_, name, ..)) => (!name.is_empty()).then(|| (*name).to_owned()),
            None => Some(self.values_name("pages")),
        }
    }

    /// The name of the file's index; files of lists and of values of edges and vertices have one.
    pub fn index_name(self) -> Option<String> {
        match self.fixed() {
            Some((_, _, index, _)) => (!index.is_empty()).then(|| (*index).to_owned()),
            None if self.is_strings() => None,
            None => Some(self.values_name("index")),
        }
    }

    /// The path of the file in an image's directory, or of its index if it is an index alone.
    pub fn path(self, image: &Path) -> PathBuf {
        image.join(self.name().or(self.index_name()).unwrap_or_default())
    }

    /// The kind of the file's pages.
    #[doc(hidden)]
    pub fn kind(self) -> Kind {
        let other = if self.is_strings() { Kind::Text } else { Kind::Values };
        self.fixed().map_or(other, |&(.., kind)| kind)
    }

    /// The seed of the checksums of the file's pages and of its index.
    #[doc(hidden)]
    pub fn origin(self, image_id: u64) -> Origin {
        Origin { image_id, kind: self.kind(), file: self.0 }
    }
}

impl Manifest {
    /// The files of the image, and their sizes in pages; for an index alone, its number of keys.
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
            if self.has_in_values(place) {
                files.push((ImageFile::values(place, true), column.in_pages));
            }
        }
        for (place, column) in self.vertex_values.iter().enumerate() {
            files.push((ImageFile::vertex_values(place), column.out_pages));
        }
        for (attributes, of_vertices) in [(&self.attributes, false), (&self.vertex_attributes, true)] {
            let pages = |attribute: &Attribute| attribute.strings.map(|strings| strings.pages);
            let texts = attributes.iter().enumerate().filter_map(|(place, attribute)| Some((place, pages(attribute)?)));
            files.extend(texts.map(|(place, pages)| (ImageFile::strings(place, of_vertices), pages)));
        }
        files
    }
}

impl DenseManifest {
    /// The files of the image of an array, and their sizes in pages.
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
        let attributes = ImageFile::all_of_attributes(MAX_VALUE_COLUMNS, MAX_ATTRIBUTES);
        let all: Vec<ImageFile> =
            ImageFile::all(MAX_VALUE_COLUMNS).chain([ImageFile::DENSE]).chain(attributes).collect();
        let numbers: BTreeSet<u16> = all.iter().map(|file| file.number()).collect();
        assert_eq!(numbers.len(), all.len());
        let names: Vec<String> = all.iter().flat_map(|file| [file.name(), file.index_name()]).flatten().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(ImageFile::all(MAX_VALUE_COLUMNS).all(|file| file.kind() != Kind::Dense));
        FILES.iter().enumerate().for_each(|(place, row)| assert_eq!(usize::from(row.0), place));
        assert_eq!(ImageFile::values(3, true).name().unwrap(), "edges/in_3.pages");
        assert_eq!(ImageFile::values(0, false).index_name().unwrap(), "edges/out_0.index");
        assert_eq!(ImageFile::vertex_values(255).name().unwrap(), "vertices/255.pages");
        assert_eq!(ImageFile::strings(99, true).name().unwrap(), "vertices/text_99.pages");
        let (last, first) = (ImageFile::values(255, true), ImageFile::vertex_values(0));
        assert_eq!((last.value_column(), last.vertex_value_column()), (Some(255), None));
        assert_eq!((first.value_column(), first.vertex_value_column()), (None, Some(0)));
        assert_eq!(
            (ImageFile::strings(0, false).kind(), ImageFile::strings(0, false).index_name()),
            (Kind::Text, None)
        );
        assert_eq!(ImageFile::ID.value_column(), None);
    }
}
