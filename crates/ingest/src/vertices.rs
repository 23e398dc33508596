//! Vertices beside the edges of an input: isolated ones, which no edge names.
//!
//! Any source can be given more vertices: a range of integers, which costs nothing, or a file with a line per vertex,
//! or a table of one column. Both are read behind the edges, whose first block tells better what ids are like. The
//! table goes through the parser of edges, as a table of loops whose ends are kept once.

use crate::batch::{BatchWeights, EdgeBatch, Facts, Ids, Source, hull};
use crate::chain::followed;
use crate::input::file::Input;
use crate::text::vertex_lines;
use outcore_image::{Error, Result};

/// The column of ids in a table of vertices that an export writes.
const ID_NAME: &str = "vertex";

/// Adds the integers from `first` on, `count` of them, to the vertices of a source.
///
/// # Errors
/// A source whose ids are strings.
pub fn with_vertex_range(mut source: Source, first: u64, count: u64) -> Result<Source> {
    if source.facts.string_ids {
        let expected = format!("ids that are integers, like those of the vertices from {first} on");
        return Err(Error::input(source.parser().path(), None, expected, "strings"));
    }
    source.facts.declared = hull(source.facts.declared, Some((first, count)));
    Ok(source)
}

/// Adds the ids in the first column of a table to the vertices of a source, and keeps the other columns as attributes:
/// the table was opened with [`InputOptions::of_vertices`](crate::InputOptions::of_vertices), and is called `name` in
/// messages.
///
/// # Errors
/// A column that is not of the kind of the source's ids: integers or strings.
pub fn with_vertices(source: Source, mut loops: Source, name: &str) -> Result<Source> {
    if loops.facts().string_ids != source.facts().string_ids {
        let kind = |facts: &Facts| if facts.string_ids { "strings" } else { "integers" };
        let expected = format!("ids of vertices that are {}, like those of the edges", kind(source.facts()));
        return Err(Error::input(name, None, expected, kind(loops.facts())));
    }
    let mut facts = source.facts.clone();
    if !facts.is_id_type_fixed {
        facts.id_type = facts.id_type.common(loops.facts().id_type);
    }
    if !facts.vertex_attributes.is_empty() && !loops.facts().attributes.is_empty() {
        let names: Vec<&str> = facts.vertex_attributes.iter().map(|field| field.name.as_str()).collect();
        return Err(Error::input(
            name,
            None,
            format!("vertices without attributes, since those of the input have some already ({})", names.join(", ")),
            "a table with columns beside the ids",
        )
        .advise("export the edges, and import them with one table of vertices"));
    }
    if facts.vertex_attributes.is_empty() {
        facts.vertex_attributes.clone_from(&loops.facts().attributes);
        // Beside a column of ids that has its name, an export writes `vertex.` before it.
        let is_beside = loops.facts().ends.as_ref().is_some_and(|[id, _]| id == ID_NAME);
        let own = facts.vertex_attributes.iter_mut().find(|field| field.name.strip_prefix("vertex.") == Some(ID_NAME));
        if let Some(field) = own.filter(|_| is_beside) {
            field.name = ID_NAME.to_owned();
        }
    }
    facts.notes.extend(loops.facts().notes.iter().map(|note| format!("{name}: {note}")));
    let (rows, called) = (loops.parser(), name.to_owned());
    loops.note_late(move || {
        let left_out = rows.left_out();
        (left_out > 0).then(|| format!("{called}: rows without an id that were left out: {left_out}."))
    });
    loops.map(|batch, _| {
        keep_ends(batch);
        Ok(())
    });
    Ok(followed(source, loops, facts))
}

/// Adds the ids in a file, one a line, to the vertices of a source; the kind of the ids may have been `guessed`.
pub(crate) fn with_vertex_file(source: Source, file: &Input, guessed: bool) -> Result<Source> {
    let mut facts = source.facts.clone();
    let vertices = vertex_lines::open(file, facts.string_ids, guessed)?;
    facts.input_bytes = facts.input_bytes.zip(vertices.facts().input_bytes).map(|(edges, more)| edges + more);
    facts.longest_line_bytes = facts.longest_line_bytes.max(vertices.facts().longest_line_bytes);
    Ok(followed(source, vertices, facts))
}

fn keep_ends(batch: &mut EdgeBatch) {
    std::mem::swap(&mut batch.ids, &mut batch.vertices);
    batch.ids.clear();
    batch.weights = BatchWeights::None;
    std::mem::swap(&mut batch.attributes, &mut batch.vertex_attributes);
    batch.attributes.clear();
    keep_once(&mut batch.vertices);
}

/// Keeps every other id: of each loop one end.
fn keep_once(ids: &mut Ids) {
    match ids {
        Ids::Integer { values, .. } => {
            for i in 0..values.len() / 2 {
                values[i] = values[2 * i];
            }
            values.truncate(values.len() / 2);
        }
        Ids::Text { bytes, ends } => {
            let (all, all_ends) = (std::mem::take(bytes), std::mem::take(ends));
            let mut start = 0;
            for pair in all_ends.chunks_exact(2) {
                bytes.extend_from_slice(&all[start..pair[0] as usize]);
                ends.push(bytes.len() as u32);
                start = pair[1] as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{IdKind, InputOptions};
    use crate::format::Format;
    use crate::tables::table::from_batches;
    use crate::testing::{failure_with, unlimited};
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn table(columns: Vec<(&str, ArrayRef)>) -> Box<dyn RecordBatchReader + Send> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let schema = batch.schema();
        Box::new(RecordBatchIterator::new([Ok(batch)], schema))
    }

    fn listed(columns: Vec<(&str, ArrayRef)>) -> Source {
        let options = InputOptions { of_vertices: true, ..InputOptions::default() };
        from_batches(table(columns), "vertices", &options).unwrap()
    }

    fn integers(values: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    fn strings(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    /// All edges and vertices of a source, and the numbers of its blocks.
    fn read(mut source: Source, empty: &Ids) -> (Vec<Ids>, Vec<Ids>, Vec<u64>) {
        let parser = source.parser();
        let (mut edges, mut vertices, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(block) = source.next_block().unwrap() {
            let mut batch = EdgeBatch::new(matches!(empty, Ids::Text { .. }));
            parser.parse(&block, &mut batch, &mut |_| Ok(())).unwrap();
            sequences.push(batch.sequence);
            edges.push(batch.ids);
            vertices.push(batch.vertices);
        }
        (edges, vertices, sequences)
    }

    #[test]
    fn a_table_of_vertices_follows_the_edges() {
        let edges = table(vec![("source", integers(&[1, 2])), ("target", integers(&[2, 3]))]);
        let edges = from_batches(edges, "edges", &InputOptions::default()).unwrap();
        let source = with_vertices(edges, listed(vec![("vertex", integers(&[7, -8, 9]))]), "vertices").unwrap();
        let (edges, vertices, sequences) = read(source, &Ids::integers());
        assert_eq!(sequences, [0, 1]);
        assert_eq!(edges[0], Ids::Integer { values: vec![1, 2, 2, 3], negative: false, huge: false });
        assert!(edges[1].is_empty() && vertices[0].is_empty());
        assert_eq!(vertices[1], Ids::Integer { values: vec![7, -8i64 as u64, 9], negative: true, huge: false });
    }

    #[test]
    fn strings_are_kept_once_and_kinds_must_agree() {
        let edges = || {
            let edges = table(vec![("source", strings(&["a"])), ("target", strings(&["bc"]))]);
            from_batches(edges, "edges", &InputOptions::default()).unwrap()
        };
        let source = with_vertices(edges(), listed(vec![("vertex", strings(&["", "lone", "é"]))]), "vertices").unwrap();
        let (_, vertices, _) = read(source, &Ids::strings());
        assert_eq!(vertices[1], Ids::Text { bytes: "loneé".into(), ends: vec![0, 4, 6] });
        let Err(error) = with_vertices(edges(), listed(vec![("vertex", integers(&[1]))]), "vertices") else {
            panic!("integers are no strings");
        };
        assert!(error.to_string().contains("strings, like those of the edges, found integers"), "{error}");
        assert!(with_vertex_range(edges(), 0, 3).is_err());
    }

    #[test]
    fn notes_are_made_when_all_blocks_of_the_edges_are_parsed() {
        let edges = table(vec![("source", integers(&[1])), ("target", integers(&[2]))]);
        let mut edges = from_batches(edges, "edges", &InputOptions::default()).unwrap();
        let left_out = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&left_out);
        edges.note_late(move || Some(format!("{} left out", counted.load(Ordering::Relaxed))));
        let mut source = with_vertices(edges, listed(vec![("vertex", integers(&[7]))]), "vertices").unwrap();
        while source.next_block().unwrap().is_some() {}
        // Another worker parses a block of the edges while this one has come to the end.
        left_out.store(3, Ordering::Relaxed);
        assert_eq!(source.late_notes(), ["3 left out"]);
    }

    /// A file of edges with one of vertices beside it, opened.
    fn beside(name: &str, edges: &str, vertices: &str) -> Result<Source> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, edges).unwrap();
        std::fs::write(folder.path().join(format!("{name}.vertices")), vertices).unwrap();
        let (input, options) = (Input::file(&path, &unlimited())?, InputOptions::default());
        Format::of(&input, &options)?.open(&input, &options)
    }

    #[test]
    fn bytes_of_a_file_beside_the_edges_are_counted_once() {
        let mut source = beside("e.csv", "source,target\n1,2\n2,3\n", "7\n9\n").unwrap();
        let (total, mut read) = (source.facts().input_bytes, 0);
        while let Some(block) = source.next_block().unwrap() {
            read = block.input_bytes;
        }
        assert_eq!((total, read), (Some(26), 26));
    }

    #[test]
    fn strings_beside_edges_of_numbered_vertices_are_refused() {
        for (name, edges) in [("g.gr", "p sp 3 1\na 1 2 5\n"), ("g.csv", "source,target\n1,2\n")] {
            let outcome = beside(name, edges, "# outcore directed ids=string\n7\n");
            assert_eq!(outcome.is_err(), name == "g.gr", "{name}");
            if let Err(error) = outcome {
                assert!(error.to_string().contains("numbers its vertices"), "{error}");
            }
        }
    }

    #[test]
    fn a_table_of_vertices_is_no_graph() {
        let options = InputOptions { of_vertices: true, ids: IdKind::String, ..InputOptions::default() };
        let error = failure_with("matrix-market", b"%%MatrixMarket matrix coordinate real general\n1 1 0\n", &options);
        assert!(error.contains("expected a table of vertices in CSV"), "{error}");
    }

    #[test]
    fn a_range_widens_what_is_declared() {
        let edges = table(vec![("source", integers(&[1])), ("target", integers(&[2]))]);
        let edges = from_batches(edges, "edges", &InputOptions::default()).unwrap();
        let source = with_vertex_range(with_vertex_range(edges, 5, 2).unwrap(), 0, 3).unwrap();
        assert_eq!((source.facts().declared, source.declared()), (Some((0, 7)), Some((0, 7))));
    }
}
