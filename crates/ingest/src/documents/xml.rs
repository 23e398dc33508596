//! XML, element by element, within bounds: for formats of graphs.
//!
//! Only elements of the root's namespace are given out, and of the format's own, whatever prefix they have. References
//! to characters and the five predefined entities are resolved, others are refused: no document type is read, and
//! nothing outside of the file. A tag may take a megabyte, and so may the text of an element and all tags that are open
//! at a time, so that memory is bounded.

use crate::input::file::Stream;
use outcore_image::{Error, Result};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::reader::NsReader;
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Largest size of a tag, of the text of an element, and of all open tags.
const MOST_BYTES: usize = 1 << 20;
const READ_BYTES: usize = 128 << 10;
const DAMAGED: &str = "the file is truncated or damaged, or no XML: fetch or write it again";

/// The namespace of the root, which may have none; nothing before it was seen.
type RootNamespace = Option<Option<String>>;
/// Whether a namespace is the format's own.
pub(crate) type IsOwn = fn(&str) -> bool;

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// The value of an attribute, whose name may not have a prefix.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
pub(crate) enum Item {
    Begin(Element),
    /// The end of the element of this name, and the text behind the last tag of the namespace.
    End(String, String),
    Done,
}

pub(crate) struct Xml {
    reader: NsReader<Bytes>,
    buffer: Vec<u8>,
    path: PathBuf,
    version: XmlVersion,
    /// The namespace of the root, once it was seen.
    namespace: RootNamespace,
    /// Whether a namespace is the format's own.
    is_own: IsOwn,
    open: Vec<usize>,
    open_bytes: usize,
    text: String,
    /// The end of an element without content, which comes next.
    end: Option<String>,
}

enum Step<'a> {
    /// An element, unless its namespace is another, and whether it has no content.
    Begin(Option<Element>, bool),
    End(Option<String>),
    Text(Cow<'a, str>),
    Version(XmlVersion),
    Other,
    Done,
}

impl Xml {
    /// The elements of a document in the root's namespace, and in the format's own ones.
    pub(crate) fn new(stream: Stream, is_own: IsOwn) -> Self {
        let path = stream.path().to_owned();
        let bytes = Bytes { stream, buffer: Vec::new(), place: 0, line: 1, piece_bytes: 0, failure: None };
        Xml {
            reader: NsReader::from_reader(bytes),
            buffer: Vec::new(),
            path,
            version: XmlVersion::Implicit1_0,
            namespace: None,
            is_own,
            open: Vec::new(),
            open_bytes: 0,
            text: String::new(),
            end: None,
        }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.reader.get_ref().stream
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn line(&self) -> u64 {
        self.reader.get_ref().line
    }

    pub(crate) fn bad(&self, expected: impl Into<String>, found: &str) -> Error {
        Error::input(&self.path, Some(self.line()), expected, found.chars().take(80).collect::<String>())
    }

    pub(crate) fn attribute<'a>(&self, element: &'a Element, name: &str) -> Result<&'a str> {
        let missing = || {
            self.bad(
                format!("an element `{}` with the attribute `{name}`", element.name),
                &format!("`{}` without `{name}`", element.name),
            )
        };
        element.get(name).ok_or_else(missing)
    }

    /// The meaning of an attribute, whose value is one of these, if the element has it.
    pub(crate) fn one_of<T: Copy>(
        &self,
        element: &Element,
        name: &str,
        values: &[(&str, T)],
        expected: &str,
    ) -> Result<Option<T>> {
        let Some(own) = element.get(name) else { return Ok(None) };
        let value = values.iter().find(|(text, _)| *text == own).map(|(_, meaning)| *meaning);
        value.map(Some).ok_or_else(|| self.bad(format!("{expected} as `{name}`"), own))
    }

    /// The next beginning or end of an element of the root's namespace, or of the format's own.
    pub(crate) fn next(&mut self) -> Result<Item> {
        if let Some(name) = self.end.take() {
            return Ok(Item::End(name, String::new()));
        }
        loop {
            self.reader.get_mut().piece_bytes = 0;
            self.buffer.clear();
            self.buffer.shrink_to(READ_BYTES);
            let step = match self.reader.read_resolved_event_into(&mut self.buffer) {
                Ok((namespace, event)) => step(&namespace, event, (&mut self.namespace, self.is_own), self.version),
                Err(error) => Err(error),
            };
            match step {
                Err(error) => return Err(self.failure(error)),
                Ok(Step::Begin(element, is_empty)) => {
                    if !is_empty {
                        self.open.push(self.reader.get_ref().piece_bytes);
                        self.open_bytes += self.reader.get_ref().piece_bytes;
                    }
                    if self.open_bytes > MOST_BYTES {
                        return Err(self.bad(
                            "tags within each other of at most 1 MiB in all",
                            &format!("{} bytes", self.open_bytes),
                        ));
                    }
                    let Some(element) = element else { continue };
                    self.text.clear();
                    self.end = is_empty.then(|| element.name.clone());
                    return Ok(Item::Begin(element));
                }
                Ok(Step::End(name)) => {
                    self.open_bytes -= self.open.pop().unwrap_or(0);
                    if let Some(name) = name {
                        return Ok(Item::End(name, std::mem::take(&mut self.text)));
                    }
                }
                Ok(Step::Text(text)) => {
                    self.text.push_str(&text);
                    if self.text.len() > MOST_BYTES {
                        return Err(
                            self.bad("an element with at most 1 MiB of text", &format!("{} bytes", self.text.len()))
                        );
                    }
                }
                Ok(Step::Version(version)) => self.version = version,
                Ok(Step::Done) if !self.open.is_empty() || self.namespace.is_none() => {
                    return Err(self.bad("the end of all elements", "the end of the file").advise(DAMAGED));
                }
                Ok(Step::Done) => return Ok(Item::Done),
                Ok(Step::Other) => {}
            }
        }
    }

    fn failure(&mut self, error: quick_xml::Error) -> Error {
        if let Some(own) = self.reader.get_mut().failure.take() {
            return own;
        }
        match error {
            quick_xml::Error::Encoding(error) => {
                self.bad("XML in UTF-8", &error.to_string()).advise("convert the file to UTF-8")
            }
            error => self.bad("well-formed XML", &error.to_string()).advise(DAMAGED),
        }
    }
}

/// The meaning of an event, where the root may have set its namespace.
fn step<'a>(
    resolved: &ResolveResult<'_>,
    event: Event<'a>,
    (root, is_own): (&mut RootNamespace, IsOwn),
    version: XmlVersion,
) -> quick_xml::Result<Step<'a>> {
    let namespace = match resolved {
        ResolveResult::Bound(Namespace(name)) => Some((*name).to_owned()),
        _ => None,
    };
    let is_own = namespace.as_deref().is_some_and(is_own);
    let is_foreign = !is_own && root.as_ref().is_some_and(|root| *root != namespace);
    Ok(match event {
        Event::Start(_) if is_foreign => Step::Begin(None, false),
        Event::Empty(_) if is_foreign => Step::Begin(None, true),
        Event::Start(tag) => {
            root.get_or_insert(namespace);
            Step::Begin(Some(element(&tag, version)?), false)
        }
        Event::Empty(tag) => {
            root.get_or_insert(namespace);
            Step::Begin(Some(element(&tag, version)?), true)
        }
        Event::End(tag) => Step::End((!is_foreign).then(|| tag.local_name().into_inner().to_owned())),
        Event::Text(text) => Step::Text(Cow::Owned(text.xml_content(version).into_owned())),
        Event::CData(text) => Step::Text(Cow::Owned(text.xml_content(version).into_owned())),
        Event::GeneralRef(reference) => Step::Text(character(&reference)?),
        Event::Decl(declaration) => Step::Version(declaration.xml_version()?),
        Event::Comment(_) | Event::PI(_) | Event::DocType(_) => Step::Other,
        Event::Eof => Step::Done,
    })
}

/// The name of an element and its attributes without prefixes.
fn element(tag: &BytesStart<'_>, version: XmlVersion) -> quick_xml::Result<Element> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if attribute.key.prefix().is_none() {
            let value = attribute.normalized_value(version)?.into_owned();
            attributes.push((attribute.key.into_inner().to_owned(), value));
        }
    }
    Ok(Element { name: tag.local_name().into_inner().to_owned(), attributes })
}

/// The character that a reference stands for.
fn character(reference: &BytesRef<'_>) -> quick_xml::Result<Cow<'static, str>> {
    if let Some(resolved) = reference.resolve_char_ref()? {
        return Ok(Cow::Owned(resolved.to_string()));
    }
    let name = reference.borrow().into_inner();
    match resolve_predefined_entity(&name) {
        Some(text) => Ok(Cow::Borrowed(text)),
        None => Err(quick_xml::escape::EscapeError::UnrecognizedEntity(0..name.len(), name.into_owned()).into()),
    }
}

/// The bytes of a document, with the size of the tag or text that is being read.
struct Bytes {
    stream: Stream,
    buffer: Vec<u8>,
    place: usize,
    line: u64,
    piece_bytes: usize,
    failure: Option<Error>,
}

impl Read for Bytes {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Bytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.piece_bytes > MOST_BYTES {
            let (expected, found) =
                ("a tag or a text of at most 1 MiB", format!("{} bytes without its end", self.piece_bytes));
            let error = Error::input(self.stream.path(), Some(self.line), expected, found);
            self.failure = Some(error.advise(DAMAGED));
            return Err(io::Error::other("a long piece"));
        }
        if self.place == self.buffer.len() {
            self.buffer.clear();
            self.place = 0;
            if let Err(error) = self.stream.fill(&mut self.buffer, READ_BYTES) {
                self.failure = Some(error);
                return Err(io::Error::other("a failed read"));
            }
        }
        Ok(&self.buffer[self.place..])
    }

    fn consume(&mut self, len: usize) {
        let consumed = &self.buffer[self.place..self.place + len];
        self.line += memchr::memchr_iter(b'\n', consumed).count() as u64;
        self.place += len;
        self.piece_bytes += len;
    }
}
