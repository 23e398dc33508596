//! The manifest of an image of an array.

use crate::dense::{DenseShape, rows_per_page};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::page::PAGE_BYTES;
use crate::sealed::{self, DENSE_FORMAT_NAME};
use serde::{Deserialize, Serialize};

/// Upper limit, exclusive, of the size of files and of arrays in memory.
const TOO_MANY_BYTES: u128 = 1 << 63;

/// The manifest of an image of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenseManifest {
    /// Always [`DENSE_FORMAT_NAME`].
    pub format: String,
    /// The version of the format.
    pub format_version: u32,
    /// A random number that ties the files of the image together, in hexadecimal.
    #[serde(with = "sealed::hexadecimal")]
    pub image_id: u64,
    /// The type of the elements.
    pub element: ElementType,
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: u64,
    /// 2, or 1 for a vector, which has one column.
    pub dimensions: u32,
    /// The names of the columns, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The operation that made the image: "import", "persist".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The version of Outcore that made the image, and the commit of a release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcore_version: Option<String>,
}

impl DenseManifest {
    /// Element type and size of the array.
    #[doc(hidden)]
    pub fn shape(&self) -> DenseShape {
        DenseShape { element: self.element, rows: self.rows, columns: self.columns }
    }

    /// The manifest as bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        sealed::to_bytes(self)
    }

    /// Whether a manifest claims to be of an array; nothing else is checked.
    pub fn is_array(bytes: &[u8]) -> bool {
        sealed::is_of(bytes, DENSE_FORMAT_NAME)
    }

    /// Advice on a manifest that seems intact, but is of another version of the format, or of a graph.
    pub fn other_version(bytes: &[u8]) -> Option<String> {
        sealed::other_version(bytes, DENSE_FORMAT_NAME)
    }

    /// Parses a manifest and checks its consistency.
    ///
    /// # Errors
    /// Text that is not a manifest, that of a graph, another version, numbers that contradict each other.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let manifest: DenseManifest = sealed::from_bytes(bytes, DENSE_FORMAT_NAME)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Checks the consistency of the manifest.
    ///
    /// # Errors
    /// Numbers that contradict each other, or an array that is too large for a file.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        let bad = |expected: String, found: u64| Err(Error::new(0, expected, found.to_string()));
        if ![1, 2].contains(&self.dimensions) {
            return bad("1 or 2 dimensions".into(), self.dimensions.into());
        }
        if self.dimensions == 1 && self.columns != 1 {
            return bad("1 column of an array of 1 dimension".into(), self.columns);
        }
        let [rows, columns] = [self.rows, self.columns].map(u128::from);
        let page_bytes = rows.div_ceil(rows_per_page(self.element) as u128) * columns;
        if rows * columns >= TOO_MANY_BYTES / 8 || page_bytes >= TOO_MANY_BYTES / PAGE_BYTES as u128 {
            return bad(format!("columns of {} rows that fit a file", self.rows), self.columns);
        }
        match &self.names {
            Some(names) if names.len() as u64 != self.columns => {
                bad(format!("names of {} columns", self.columns), names.len() as u64)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FORMAT_VERSION, Manifest};

    fn manifest() -> DenseManifest {
        DenseManifest {
            format: DENSE_FORMAT_NAME.into(),
            format_version: FORMAT_VERSION,
            image_id: 0x0123_4567_89ab_cdef,
            element: ElementType::Float64,
            rows: 1000,
            columns: 2,
            dimensions: 2,
            names: Some(vec!["a".into(), "\"b\"".into()]),
            made_by: Some("persist".into()),
            outcore_version: Some("1.0.0".into()),
        }
    }

    #[test]
    fn a_manifest_comes_back_and_every_bit_of_it_counts() {
        let bare = DenseManifest { names: None, made_by: None, outcore_version: None, ..manifest() };
        for manifest in [manifest(), bare] {
            let bytes = manifest.to_bytes();
            assert_eq!(DenseManifest::from_bytes(&bytes).unwrap(), manifest);
            assert_eq!(DenseManifest::other_version(&bytes), None);
            assert!(DenseManifest::is_array(&bytes));
            for bit in 0..8 * bytes.len() {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(DenseManifest::from_bytes(&bytes).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn graphs_and_arrays_are_told_apart() {
        let array = manifest().to_bytes();
        let graph = String::from_utf8(array.clone()).unwrap().replace("outcore array", "outcore graph").into_bytes();
        let text = Manifest::other_version(&array).unwrap();
        assert!(text.starts_with("expected a graph, found an array: "), "{text}");
        let error = Manifest::from_bytes(&array).unwrap_err();
        assert_eq!((error.expected.as_str(), error.found.as_str()), ("a graph", "an array"));
        let text = DenseManifest::other_version(&graph).unwrap();
        assert!(text.starts_with("expected an array, found a graph: "), "{text}");
        let error = DenseManifest::from_bytes(&graph).unwrap_err();
        assert_eq!((error.expected.as_str(), error.found.as_str()), ("an array", "a graph"));
        assert!(!DenseManifest::is_array(&graph));
        let newer = String::from_utf8(array).unwrap().replace("\"format_version\": 2", "\"format_version\": 3");
        assert!(DenseManifest::other_version(newer.as_bytes()).unwrap().contains("a newer Outcore"));
        assert!(DenseManifest::from_bytes(newer.as_bytes()).is_err());
        let other = newer.replace("outcore array", "outcore song");
        assert_eq!(DenseManifest::other_version(other.as_bytes()), None);
        assert_eq!(DenseManifest::from_bytes(other.as_bytes()).unwrap_err().found, "outcore song");
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let none = None::<Vec<String>>;
        let array = |rows, columns| DenseManifest { rows, columns, names: none.clone(), ..manifest() };
        for good in [array(0, 0), array(0, 1 << 40), array(1 << 40, 0), array(1 << 59, 1), array(1, (1 << 51) - 1)] {
            good.check().unwrap();
            assert_eq!(DenseManifest::from_bytes(&good.to_bytes()).unwrap(), good);
            good.shape().pages();
        }
        for bad in [array(1 << 60, 1), array(1, 1 << 51), array(u64::MAX, u64::MAX), array(1 << 30, 1 << 30)] {
            assert!(bad.check().unwrap_err().expected.contains("fit a file"), "{bad:?}");
            assert!(DenseManifest::from_bytes(&bad.to_bytes()).is_err());
        }
        for dimensions in [0, 3] {
            let bad = DenseManifest { dimensions, ..array(1, 1) };
            assert!(bad.check().unwrap_err().expected.contains("dimensions"));
        }
        assert!(DenseManifest { dimensions: 1, ..array(5, 1) }.check().is_ok());
        for columns in [0, 2] {
            assert!(DenseManifest { dimensions: 1, ..array(5, columns) }.check().is_err());
        }
        let bad = DenseManifest { columns: 3, ..manifest() };
        assert_eq!(bad.check().unwrap_err().expected, "names of 3 columns");
    }
}
