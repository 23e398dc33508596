//! Asynchronous relaxation: labels that only fall are propagated until none can fall any further.
//!
//! `relaxer.rs` chooses between lists cached in memory (`cached_lists.rs`), processed by rank (`by_rank.rs`), and lists
//! that are read page by page (`by_page.rs`), the page with the least label first.

pub(crate) mod by_page;
pub(crate) mod by_rank;
pub(crate) mod cached_lists;
pub(crate) mod decoded_cache;
pub(crate) mod least_first;
pub(crate) mod near_first;
pub(crate) mod relaxer;
