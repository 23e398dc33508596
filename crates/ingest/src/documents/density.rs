//! Edges in samples of a text: a few of a file tell what share of it edges have beside vertices and attributes; of a
//! compressed one its beginning tells that and the ratio.

use crate::batch::BLOCK_BYTES;
use crate::format::is_document;
use crate::input::file::Input;
use crate::text::number::lines;

/// Number of samples, at equal distances.
const SAMPLES: u64 = 16;
const SAMPLE_BYTES: usize = 32 << 10;
const TAG: &[u8] = b"edge";
/// Bytes of text of an edge where a line has any number of them.
const TEXT_BYTES: u64 = 12;

/// The edges in samples of a text, and their bytes on disk; `None` if the samples have no edge, or the file cannot be
/// sampled.
pub(crate) fn sample_edges(input: &Input, format: &str) -> Option<[u64; 2]> {
    let size_bytes = input.size_bytes().filter(|_| input.bytes().is_none())?;
    let are_lines = is_document(format) || format == "jsonl";
    let mut stream = input.stream().ok()?;
    if stream.is_packed() {
        let mut start = Vec::new();
        stream.fill(&mut start, BLOCK_BYTES).ok()?;
        let edges = if are_lines { edges_in(&start, format) } else { start.len() as u64 / TEXT_BYTES };
        return (edges > 0).then(|| [edges, stream.position_bytes()]);
    }
    let file = input.open_file().ok().filter(|_| are_lines)?;
    let (mut sample, mut read_bytes, mut edges) = (vec![0; SAMPLE_BYTES], 0, 0);
    for place in 0..SAMPLES {
        let len = file.read_some(&mut sample, size_bytes / SAMPLES * place).ok()?;
        read_bytes += len as u64;
        edges += edges_in(&sample[..len], format);
        if size_bytes < SAMPLE_BYTES as u64 {
            break;
        }
    }
    (edges > 0).then_some([edges, read_bytes])
}

/// Number of edges that begin in a text.
fn edges_in(text: &[u8], format: &str) -> u64 {
    let edges = match format {
        "graphml" | "gexf" => tags(text, true),
        "gml" => tags(text, false),
        _ => lines(text).count(),
    };
    edges as u64
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
        let all_edges = |input: &Input| {
            let [edges, bytes] = sample_edges(input, "gexf").unwrap();
            input.size_bytes().unwrap() * edges / bytes
        };
        let edges = all_edges(&input);
        assert!((25_000..35_000).contains(&edges), "{edges}");
        // Compressed: by the ratio so far.
        let varied = |place: u64| edge.replace("\"7\"", &format!("\"{:x}\"", crate::mix::mix(place)));
        let text = format!("<gexf><edges>{}", (0..30_000).map(varied).collect::<String>());
        let packed = folder.path().join("g.gexf.zst");
        std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
        let edges = all_edges(&Input::file(&packed, &unlimited()).unwrap());
        assert!((12_000..45_000).contains(&edges), "{edges}");
        std::fs::write(&path, "graph [ node [ id 1 ]\n edge [ source 1 target 1 ] edge\n [ source 1 target 1 ] ]")
            .unwrap();
        assert_eq!(sample_edges(&Input::file(&path, &unlimited()).unwrap(), "gml"), Some([2, 79]));
    }
}
