//! Lists in order: every page of one direction, or of a part of it, one after the other on one worker.
//!
//! `scan` visits lists on all workers and in no order. Where the order matters (export) or pages are to be compared
//! with their neighbours (check), a [`ListStream`] reads them in sequence, and refuses a page that does not begin where
//! the one before it ended.

use crate::engine::decode::{DECODER_BYTES, Decoder};
use crate::engine::graph::{Direction, Graph};
use outcore_format::{Lists, Shape};
use outcore_image::{PageStream, Result};
use outcore_io::Reservation;
use std::ops::Range;

/// The place where a page of lists begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPosition {
    /// The vertex of the first list, or of the next one.
    pub vertex: u64,
    /// Number of earlier entries of that list.
    pub offset: u64,
}

impl ListPosition {
    /// The beginning of the lists of an image.
    pub const START: ListPosition = ListPosition { vertex: 0, offset: 0 };

    /// The beginning of a page.
    pub fn start_of(lists: &Lists) -> Self {
        ListPosition { vertex: lists.first_vertex, offset: lists.offset }
    }

    fn end_of(lists: &Lists) -> Self {
        let Some(last) = lists.count.checked_sub(1).filter(|_| lists.ends_later) else {
            return ListPosition { vertex: lists.first_vertex + lists.count as u64, offset: 0 };
        };
        let before = if last == 0 { lists.offset } else { 0 };
        ListPosition { vertex: lists.first_vertex + last as u64, offset: before + lists.list(last).len() as u64 }
    }

    /// The place in words.
    pub fn text(&self) -> String {
        match self.offset {
            0 => format!("vertex {}", self.vertex),
            offset => format!("vertex {}, of which {offset} entries lie before", self.vertex),
        }
    }
}

/// The pages of lists of one direction, in order.
pub(crate) struct ListStream {
    pages: PageStream,
    decoder: Decoder,
    shape: Shape,
    /// The expected beginning of the next page, if known.
    next: Option<ListPosition>,
    /// Number of entries of the pages so far.
    entries: u64,
    _reservation: Reservation,
}

impl ListStream {
    /// The given pages of a direction. The first page may begin anywhere unless it is page 0.
    ///
    /// # Errors
    /// No memory.
    pub fn new(graph: &Graph, direction: Direction, pages: Range<u64>) -> Result<Self> {
        let file = graph.list_file(direction);
        graph.make_room("decoding lists", DECODER_BYTES)?;
        let reservation = graph.runtime().budget().reserve("decoding lists", DECODER_BYTES)?;
        let next = (pages.start == 0).then_some(ListPosition::START);
        let pages = PageStream::new(graph.image(), file, pages)?;
        let (decoder, shape) = (Decoder::default(), graph.shape());
        Ok(ListStream { pages, decoder, shape, next, entries: 0, _reservation: reservation })
    }

    /// Goes on with other pages, the first of which may begin anywhere unless it is page 0.
    pub fn seek(&mut self, pages: Range<u64>) {
        self.next = (pages.start == 0).then_some(ListPosition::START);
        self.entries = 0;
        self.pages.seek(pages);
    }

    /// The lists of the next page, and its number; `None` behind the last one.
    ///
    /// # Errors
    /// A page that cannot be read, is damaged, or does not begin where the one before it ended; a request to stop.
    pub fn next(&mut self) -> Result<Option<(u64, &Lists)>> {
        let origin = self.pages.origin();
        let (decoder, shape, next) = (&mut self.decoder, self.shape, self.next);
        let Some((number, bytes)) = self.pages.page()? else { return Ok(None) };
        let decoded = origin.verify(number, bytes).and_then(|page| decoder.decode(&page, shape)).and_then(|lists| {
            let begin = ListPosition::start_of(lists);
            let expected = next.unwrap_or(begin);
            if begin != expected {
                return Err(outcore_format::Error::new(8, expected.text(), begin.text()));
            }
            if lists.ends_later && lists.count == 0 {
                return Err(outcore_format::Error::new(6, "a list that continues in the next page", "0 lists"));
            }
            Ok(lists)
        });
        match decoded {
            Ok(lists) => {
                self.next = Some(ListPosition::end_of(lists));
                self.entries += lists.edges() as u64;
                Ok(Some((number, lists)))
            }
            Err(error) => Err(self.pages.corrupt(number, error)),
        }
    }

    /// Checks that the pages that were read hold all lists.
    ///
    /// # Errors
    /// Lists that end before the last vertex or the last edge.
    pub fn finish(&self, graph: &Graph) -> Result<()> {
        let end = ListPosition { vertex: graph.vertices(), offset: 0 };
        let (place, entries) = (self.next.unwrap_or(ListPosition::START), graph.manifest().out_lists.entries);
        if place == end && self.entries == entries {
            return Ok(());
        }
        let text = |place: ListPosition, entries: u64| format!("{entries} entries up to {}", place.text());
        Err(self.pages.bad_end(text(end, entries), text(place, self.entries)))
    }

    /// The end of the last page that was read; nothing if none was.
    pub fn place(&self) -> Option<ListPosition> {
        self.next
    }
}
