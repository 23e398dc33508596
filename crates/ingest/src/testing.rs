//! For the unit tests of the parsers: reads bytes in memory as one format, blocks parsed in reverse order.

use crate::batch::{BatchWeights, EdgeBatch, Facts, Ids, InputOptions, Source};
use crate::input::context::InputContext;
use crate::open::open_memory;
use crate::tables::attributes::AttributeColumn;
use outcore_image::Result;
use outcore_io::Budget;
use std::sync::Arc;

/// Content of an input, in input order.
pub(crate) struct Read {
    /// Edges between integer ids (two's complement).
    pub(crate) pairs: Vec<(u64, u64)>,
    /// Edges between string ids.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) weights: Vec<f64>,
    pub(crate) complex: Vec<[f64; 2]>,
    pub(crate) vertices: Vec<u64>,
    /// The attributes of the last batch, as those of vertices are.
    pub(crate) attributes: Vec<AttributeColumn>,
    pub(crate) vertex_attributes: Vec<AttributeColumn>,
    pub(crate) declared: Option<(u64, u64)>,
    pub(crate) facts: Facts,
    pub(crate) blocks: usize,
    pub(crate) late_notes: Vec<String>,
}

/// Windows in a budget that is never used up.
pub(crate) fn unlimited() -> Arc<InputContext> {
    InputContext::new(&Arc::new(Budget::new(u64::MAX, 0).expect("a limit")), 1)
}

/// All edges of `bytes`; panics with the error if there is one.
pub(crate) fn edges_of(format: &str, bytes: &[u8]) -> Read {
    edges_with(format, bytes, &InputOptions::default())
}

/// All edges of `bytes` under options.
pub(crate) fn edges_with(format: &str, bytes: &[u8], options: &InputOptions) -> Read {
    read(format, bytes, options).unwrap_or_else(|error| panic!("{format}: {error}"))
}

/// The error that `bytes` give; panics if they give none.
pub(crate) fn failure_of(format: &str, bytes: &[u8]) -> String {
    failure_with(format, bytes, &InputOptions::default())
}

/// The error that `bytes` give under options.
pub(crate) fn failure_with(format: &str, bytes: &[u8], options: &InputOptions) -> String {
    match read(format, bytes, options) {
        Ok(read) => panic!("{format}: accepted with edges {:?} {:?}", read.pairs, read.names),
        Err(error) => error.to_string(),
    }
}

fn read(format: &str, bytes: &[u8], options: &InputOptions) -> Result<Read> {
    collect(open_memory(format, bytes, options)?)
}

/// Reads a source to its end.
pub(crate) fn collect(mut source: Source) -> Result<Read> {
    let parser = source.parser();
    let mut blocks = Vec::new();
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            blocks.push(part?);
        }
    }
    let mut batches = Vec::new();
    for block in blocks.iter().rev() {
        let mut batch = EdgeBatch::new(false);
        parser.parse(block, &mut batch, &mut |_| Ok(()))?;
        batches.push(batch);
    }
    parser.check()?;
    batches.sort_by_key(|batch| batch.sequence);
    let mut read = Read {
        pairs: Vec::new(),
        names: Vec::new(),
        weights: Vec::new(),
        complex: Vec::new(),
        vertices: Vec::new(),
        attributes: Vec::new(),
        vertex_attributes: Vec::new(),
        declared: source.declared(),
        facts: source.facts().clone(),
        blocks: blocks.len(),
        late_notes: source.late_notes(),
    };
    for (place, batch) in batches.into_iter().enumerate() {
        assert_eq!(batch.sequence, place as u64, "sequence numbers have a gap");
        append(&mut read, batch);
    }
    Ok(read)
}

fn append(read: &mut Read, batch: EdgeBatch) {
    (read.attributes, read.vertex_attributes) = (batch.attributes, batch.vertex_attributes);
    let edges = batch.ids.len() / 2;
    match batch.ids {
        Ids::Integer { values, .. } => {
            read.pairs.extend(values.as_chunks::<2>().0.iter().map(|pair| (pair[0], pair[1])));
        }
        Ids::Text { bytes, ends } => {
            let mut start = 0;
            let strings: Vec<String> = ends
                .iter()
                .map(|&end| {
                    let string = String::from_utf8(bytes[start..end as usize].to_vec()).expect("ids are UTF-8");
                    start = end as usize;
                    string
                })
                .collect();
            read.names.extend(strings.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())));
        }
    }
    if let Ids::Integer { values, .. } = batch.vertices {
        read.vertices.extend(values);
    }
    let weights: Vec<f64> = match batch.weights {
        BatchWeights::None => return,
        BatchWeights::Integer(values) => values.into_iter().map(|value| value as f64).collect(),
        BatchWeights::Real(values) => values,
        BatchWeights::Complex(values) => return read.complex.extend(values),
    };
    assert_eq!(weights.len(), edges, "one weight per edge");
    read.weights.extend(weights);
}
