//! The files of an image: their names, and what their checksums are seeded with.

use outcore_format::{Kind, Origin};
use std::path::{Path, PathBuf};

/// A file of pages in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFile {
    /// Lists of out-neighbours, or of neighbours.
    OutLists,
    /// Lists of in-neighbours.
    InLists,
    /// The length of every out-list.
    OutDegree,
    /// The hub of every out-list.
    OutHub,
    /// The length of every in-list.
    InDegree,
    /// The hub of every in-list.
    InHub,
    /// The users' ids: numbers, or where strings end in the text.
    Id,
    /// The users' ids: the bytes of strings.
    IdText,
    /// The weights of the edges in the out-lists.
    OutWeight,
    /// The weights of the edges in the in-lists.
    InWeight,
}

impl ImageFile {
    /// All files of pages that an image may have.
    pub const ALL: [ImageFile; 10] = [
        ImageFile::OutLists,
        ImageFile::InLists,
        ImageFile::OutDegree,
        ImageFile::OutHub,
        ImageFile::InDegree,
        ImageFile::InHub,
        ImageFile::Id,
        ImageFile::IdText,
        ImageFile::OutWeight,
        ImageFile::InWeight,
    ];

    /// The file's name within the image.
    pub fn name(self) -> &'static str {
        match self {
            ImageFile::OutLists => "out.pages",
            ImageFile::InLists => "in.pages",
            ImageFile::OutDegree => "columns/out_degree.pages",
            ImageFile::OutHub => "columns/out_hub.pages",
            ImageFile::InDegree => "columns/in_degree.pages",
            ImageFile::InHub => "columns/in_hub.pages",
            ImageFile::Id => "columns/id.pages",
            ImageFile::IdText => "columns/id.text.pages",
            ImageFile::OutWeight => "edges/out_weight.pages",
            ImageFile::InWeight => "edges/in_weight.pages",
        }
    }

    /// The name of the file's index, if it has one: lists and edge columns do.
    pub fn index_name(self) -> Option<&'static str> {
        match self {
            ImageFile::OutLists => Some("out.index"),
            ImageFile::InLists => Some("in.index"),
            ImageFile::OutWeight => Some("edges/out_weight.index"),
            ImageFile::InWeight => Some("edges/in_weight.index"),
            _ => None,
        }
    }

    /// Where the file lies.
    pub fn path(self, image: &Path) -> PathBuf {
        image.join(self.name())
    }

    /// What the checksums of the file's pages are seeded with.
    pub fn origin(self, image_id: u64) -> Origin {
        let kind = match self {
            ImageFile::OutLists => Kind::OutLists,
            ImageFile::InLists => Kind::InLists,
            ImageFile::IdText => Kind::Text,
            _ => Kind::Column,
        };
        Origin { image_id, kind, file: self as u16 }
    }
}

/// The manifest's name within an image.
pub const MANIFEST: &str = "manifest.json";
