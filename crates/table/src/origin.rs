//! Origin of a result: what was computed of which image, with which options.

use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The key under which tables, and files of Parquet and Arrow, have their origin, as a JSON object.
const KEY: &str = "outcore";

/// Origin of a result; by default nothing is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(HashMap<String, String>);

#[derive(Serialize)]
struct Facts<'a, O> {
    version: &'static str,
    name: &'a str,
    options: O,
    image: NamedImage,
}

/// An image.
#[derive(Debug, Serialize)]
pub struct NamedImage {
    /// Its path
    path: String,
    /// Its id, 16 digits that follow from its content; null where a file is no image
    id: Option<String>,
}

impl NamedImage {
    /// An image of this path and id, or a file, which has no id.
    pub fn new(path: &Path, id: Option<u64>) -> Self {
        NamedImage { path: path.display().to_string(), id: id.map(|id| format!("{id:016x}")) }
    }
}

impl Origin {
    /// A result of the algorithm, solver or model `name` over an image, or over a file, which has no id.
    pub fn new(name: &str, options: impl Serialize, path: &Path, image_id: Option<u64>) -> Self {
        let image = NamedImage::new(path, image_id);
        let facts = Facts { version: env!("CARGO_PKG_VERSION"), name, options, image };
        // Options that JSON does not have leave the origin unknown.
        Origin(serde_json::to_string(&facts).map(|text| (KEY.to_owned(), text)).into_iter().collect())
    }

    /// The metadata of a schema.
    pub(crate) fn metadata(&self) -> HashMap<String, String> {
        self.0.clone()
    }
}
