//! Queries about single vertices and edges, and the facts of an image: ids, degrees, neighbours, attributes.

pub(crate) mod attributes;
pub(crate) mod data_of;
pub(crate) mod id_cache;
pub(crate) mod info;
pub(crate) mod neighbours;
