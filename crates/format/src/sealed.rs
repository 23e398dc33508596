//! Sealed manifests: one JSON object with a manifest and its checksum, for all kinds of images.
//!
//! Kind and format version of an image are read before the checksum is compared: an image of another kind, or of a
//! newer version, is reported as that and not as damaged.

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the format that this code writes.
pub const FORMAT_VERSION: u32 = 2;
/// The `format` member of a graph's manifest.
pub const FORMAT_NAME: &str = "outcore graph";
/// The `format` member of an array's manifest.
pub const DENSE_FORMAT_NAME: &str = "outcore array";
/// The commit of a release: the variable is set when one is built (`python/packaging/release.py`), so that other builds
/// compile nothing again for a commit.
pub const COMMIT: Option<&str> = option_env!("OUTCORE_COMMIT");
/// Kinds of images: the `format` member, and the name in messages.
const KINDS: [(&str, &str); 2] = [(FORMAT_NAME, "a graph"), (DENSE_FORMAT_NAME, "an array")];

/// The version of this code, and the commit of a release.
pub fn version_text() -> String {
    let commit = COMMIT.map_or(String::new(), |commit| format!(" ({commit})"));
    env!("CARGO_PKG_VERSION").to_owned() + &commit
}

/// The manifest as bytes of its file.
pub fn to_bytes(manifest: &impl Serialize) -> Vec<u8> {
    let body = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
    let checksum = crc32c::crc32c(body.as_bytes());
    format!("{{\n  \"checksum\": \"{checksum:08x}\",\n  \"manifest\": {body}\n}}\n").into_bytes()
}

/// Advice on a manifest of another version of the format, or of another kind of image than the expected one. There is
/// no version 0.
pub fn other_version(bytes: &[u8], format: &str) -> Option<String> {
    let (_, version) = Sealed::read(bytes).ok()?;
    let found = called(&version.format)?;
    if version.format != format {
        let expected = called(format).unwrap_or(format);
        return Some(format!("expected {expected}, found {found}: name another image, or open this one as {found}"));
    }
    let advice = match version.format_version {
        0 | FORMAT_VERSION => return None,
        1..FORMAT_VERSION => "import the input again, for older versions were never released",
        _ => "a newer Outcore may read it",
    };
    let found = version.format_version;
    Some(format!("expected version {FORMAT_VERSION} of the format of images, found {found}; {advice}"))
}

/// Parses the manifest of an image of a kind; its contents are not checked yet.
///
/// # Errors
/// Text that is no manifest, or that of another kind or version; a wrong checksum; members that are missing.
pub fn from_bytes<M: DeserializeOwned>(bytes: &[u8], format: &str) -> Result<M> {
    let bad = |expected: &str, found: String| Error::new(0, expected, found);
    let (sealed, version) = Sealed::read(bytes)?;
    let body = sealed.manifest.get();
    if version.format != format {
        return Err(match (called(format), called(&version.format)) {
            (Some(expected), Some(found)) => bad(expected, found.to_owned()),
            _ => bad(format, version.format.chars().take(80).collect()),
        });
    }
    if version.format_version != FORMAT_VERSION {
        let is_older = (1..FORMAT_VERSION).contains(&version.format_version);
        let expected = if is_older { "format version" } else { "a format version of at most" };
        return Err(bad(&format!("{expected} {FORMAT_VERSION}"), version.format_version.to_string()));
    }
    let computed = format!("{:08x}", crc32c::crc32c(body.as_bytes()));
    if computed != sealed.checksum {
        return Err(bad(&format!("checksum {computed}"), sealed.checksum.chars().take(80).collect()));
    }
    serde_json::from_str(body).map_err(|error| bad("a complete manifest", error.to_string()))
}

/// The claims of a manifest, which may be damaged, or of a version that this code does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its `format` member.
    pub format: String,
    /// Its `format_version` member, if that is legible.
    pub version: Option<u32>,
}

impl Claim {
    /// The claims of a manifest, as far as they are legible; nothing else is checked. JSON of another kind claims an
    /// empty format, and other text nothing.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if let Ok((_, Version { format, format_version })) = Sealed::read(bytes) {
            return Some(Claim { format, version: Some(format_version) });
        }
        Claim::in_text(bytes).or_else(|| {
            let other = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
            other.then(|| Claim { format: String::new(), version: None })
        })
    }

    fn in_text(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let behind = |name: &str| text.split_once(name).map(|(_, rest)| rest.trim_start_matches([' ', ':']));
        let format = behind("\"format\"")?.strip_prefix('"')?.split_once('"')?.0.to_owned();
        let version = behind("\"format_version\"").and_then(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
            rest[..end].parse().ok()
        });
        Some(Claim { format, version })
    }

    /// Whether this is the manifest of a graph or an array of this version or an older one.
    pub fn is_known(&self) -> bool {
        called(&self.format).is_some() && self.version.is_none_or(|version| version <= FORMAT_VERSION)
    }
}

/// Whether a manifest claims to be of that kind; nothing else is checked.
pub fn is_of(bytes: &[u8], format: &str) -> bool {
    Sealed::read(bytes).is_ok_and(|(_, version)| version.format == format)
}

/// The name in messages of images with this `format` member.
fn called(format: &str) -> Option<&'static str> {
    KINDS.iter().find(|(name, _)| *name == format).map(|&(_, called)| called)
}

#[derive(Deserialize)]
struct Sealed<'a> {
    checksum: String,
    #[serde(borrow)]
    manifest: &'a serde_json::value::RawValue,
}

impl<'a> Sealed<'a> {
    /// The parts of a manifest that decide whether the rest can be read.
    fn read(bytes: &'a [u8]) -> Result<(Self, Version)> {
        let bad = |expected: &str, error: serde_json::Error| Error::new(0, expected, error.to_string());
        let sealed: Self = serde_json::from_slice(bytes).map_err(|error| bad("a manifest in JSON", error))?;
        let version = serde_json::from_str(sealed.manifest.get());
        Ok((sealed, version.map_err(|error| bad("a manifest with a format and version", error))?))
    }
}

#[derive(Deserialize)]
struct Version {
    format: String,
    format_version: u32,
}

/// Numbers of 64 bits as sixteen hexadecimal digits.
pub mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes a number.
    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:016x}"))
    }

    /// Reads a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
