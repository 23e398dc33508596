//! The side of every vertex, in a graph with two sides: an attribute of vertices, which their ids tell.
//!
//! Its name is NetworkX's, and so are its values: 0 for sources and 1 for targets.

use super::attributes::{StoredAttributes, create_folder};
use super::job::Job;
use super::page_file::PageFile;
use super::summary::TABLE_OF_VERTICES;
use outcore_format::values::ValueWriter;
use outcore_format::{Attribute, AttributeKind, ImageFile, ValueColumn, ValueType};
use outcore_image::{Error, Result};
use outcore_ingest::Facts;

/// The name of the attribute.
pub(super) const NAME: &str = "bipartite";
const WRITER_BYTES: usize = 64 << 10;

/// The sides on their way to the image, vertex by vertex.
pub(super) struct Sides<'a> {
    file: PageFile<'a, ValueWriter>,
    /// Prefixes of the ids of the two sides.
    prefixes: &'a [String; 2],
    /// Number of vertices of the first side.
    sources: u64,
}

impl<'a> Sides<'a> {
    pub fn create(job: &'a Job<'a>, prefixes: &'a [String; 2]) -> Result<Self> {
        let file = ImageFile::vertex_values(0);
        create_folder(job, file)?;
        let writer = |origin| ValueWriter::new(origin, ValueType::U8, 0);
        Ok(Sides { file: PageFile::create(job, file, WRITER_BYTES, writer)?, prefixes, sources: 0 })
    }

    pub fn push(&mut self, id: &[u8]) -> Result<()> {
        let is_on = |prefix: &String| id.starts_with(prefix.as_bytes());
        let Some(side) = self.prefixes.iter().position(is_on) else {
            let [left, right] = self.prefixes;
            let found = String::from_utf8_lossy(&id[..id.len().min(80)]);
            let expected = format!("ids that begin with `{left}` or `{right}`");
            return Err(Error::input(TABLE_OF_VERTICES, None, expected, format!("`{found}`"))
                .advise("put the prefix of its side before each id, or name those that the image has"));
        };
        self.sources += u64::from(side == 0);
        self.file.put_value(side as u64)
    }

    /// Writes the last page; returns the manifest's entries for the attribute, and the number of vertices of the first
    /// side.
    pub fn finish(self) -> Result<(StoredAttributes, u64)> {
        let name = || NAME.to_owned();
        let (kind, out_pages) = (ValueType::U8, self.file.finish(|writer, emit| writer.finish(emit))?);
        let values = vec![ValueColumn { name: name(), kind, out_pages, in_pages: 0 }];
        let (kind, column) = (AttributeKind::Integer, 0);
        let attribute = Attribute { name: name(), kind, column, counts: false, missing: None, strings: None };
        Ok((StoredAttributes { values, attributes: vec![attribute] }, self.sources))
    }
}

/// Refuses an attribute of that name, where it is taken.
pub(super) fn check(facts: &Facts) -> Result<()> {
    if facts.sides.is_some() && facts.vertex_attributes.iter().any(|field| field.name == NAME) {
        let expected = format!("no column `{NAME}`, since that is what the side of each vertex is called");
        return Err(Error::input(TABLE_OF_VERTICES, None, expected, "one").advise("rename the column"));
    }
    Ok(())
}
