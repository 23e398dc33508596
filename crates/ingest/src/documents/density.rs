//! The size of an edge in a document: a few samples of the file tell what share of it edges have beside vertices and
//! attributes.

use crate::input::file::Input;
use crate::text::number::lines;

/// Number of samples, at equal distances.
const SAMPLES: u64 = 16;
const SAMPLE_BYTES: usize = 32 << 10;
const TAG: &[u8] = b"edge";

/// Bytes of the document for each of its edges; `None` if the samples have no edge, or the file cannot be sampled.
pub(crate) fn bytes_per_edge(input: &Input, format: &str) -> Option<u64> {
    if input.bytes().is_some() {
        return None;
    }
    let (file, size_bytes) = (input.open_file().ok()?, input.size_bytes()?);
    let (mut sample, mut read_bytes, mut edges) = (vec![0; SAMPLE_BYTES], 0, 0);
    for place in 0..SAMPLES {
        let len = file.read_some(&mut sample, size_bytes / SAMPLES * place).ok()?;
        read_bytes += len as u64;
        let text = &sample[..len];
        edges += match format {
            "graphml" | "gexf" => tags(text, true),
            "gml" => tags(text, false),
            _ => lines(text).count(),
        } as u64;
        if size_bytes < SAMPLE_BYTES as u64 {
            break;
        }
    }
    read_bytes.checked_div(edges)
}

/// Number of edges that begin in a text: `<edge ` in XML, `edge [` in GML.
fn tags(text: &[u8], is_xml: bool) -> usize {
    let is_tag = |&at: &usize| {
        let Some(behind) = text[at..].strip_prefix(TAG) else { return false };
        match is_xml {
            true => text[at - 1] == b'<' && behind.first().is_some_and(u8::is_ascii_whitespace),
            false => text[at - 1].is_ascii_whitespace() && behind.trim_ascii_start().starts_with(b"["),
        }
    };
    (1..text.len()).filter(is_tag).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::unlimited;

    #[test]
    fn vertices_and_attributes_are_no_edges() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gexf");
        let nodes = "<node id=\"1\" label=\"an edge of it\"/>\n".repeat(40_000);
        let edge = "<edge source=\"1\" target=\"2\"><attvalues><attvalue for=\"0\" value=\"7\"/></attvalues></edge>\n";
        std::fs::write(&path, format!("<gexf><nodes>{nodes}</nodes>\n<edges>{}</edges>", edge.repeat(30_000))).unwrap();
        let input = Input::file(&path, &unlimited()).unwrap();
        let edges = input.size_bytes().unwrap() / bytes_per_edge(&input, "gexf").unwrap();
        assert!((25_000..35_000).contains(&edges), "{edges}");
        std::fs::write(&path, "graph [ node [ id 1 ]\n edge [ source 1 target 1 ] edge\n [ source 1 target 1 ] ]")
            .unwrap();
        assert_eq!(bytes_per_edge(&Input::file(&path, &unlimited()).unwrap(), "gml"), Some(79 / 2));
    }
}
