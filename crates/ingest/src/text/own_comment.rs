//! The first line of the edge lists that Outcore writes: `# outcore undirected ids=string parallel weight=NAME`.
//!
//! It says what a list of edges cannot: whether they have a direction, that ids are strings, that parallel edges are
//! meant, which column the weights are and what they are called. What an option says comes first.

use crate::batch::{IdKind, InputOptions};
use crate::text::detect::Detected;
use outcore_declare::Choice;
use std::borrow::Cow;

const START: &str = "# outcore ";
const PARALLEL: &str = "parallel";
/// The column of the weights, from 0, and as an option has it, from 1.
const WEIGHT_PLACE: usize = 2;
const WEIGHT_COLUMN: &str = "3";

/// Content of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnComment {
    /// Edges have a direction.
    pub directed: bool,
    /// Ids are strings, even if they look like numbers.
    pub string_ids: bool,
    /// Parallel edges are meant to be kept.
    pub parallel: bool,
    /// Name of the weights in the third column.
    pub weight: Option<String>,
}

impl OwnComment {
    /// Parses the first line of a file; `None` if Outcore did not write it.
    pub(crate) fn of(first_line: &[u8]) -> Option<Self> {
        let rest = std::str::from_utf8(first_line).ok()?.trim_end_matches(['\r', '\n']).strip_prefix(START)?;
        // The name is all the rest of the line.
        let (words, weight) = match rest.split_once(" weight=") {
            Some((words, weight)) => (words, Some(weight.to_owned())),
            None => (rest, None),
        };
        let mut words = words.split(' ');
        let directed = match words.next()? {
            "directed" => true,
            "undirected" => false,
            _ => return None,
        };
        let (mut string_ids, mut parallel) = (false, false);
        for word in words {
            string_ids |= word == "ids=string";
            parallel |= word == PARALLEL;
        }
        Some(OwnComment { directed, string_ids, parallel, weight })
    }

    /// The options of an import, and what this says where they say nothing.
    pub(crate) fn complete<'a>(&self, options: &'a InputOptions) -> Cow<'a, InputOptions> {
        let mut options = Cow::Borrowed(options);
        if self.string_ids && options.ids == IdKind::Auto {
            options.to_mut().ids = IdKind::String;
        }
        if self.string_ids && options.header.is_none() {
            // Only lists of numbers name their columns, where the first line could be taken for their size.
            options.to_mut().header = Some(false);
        }
        if let Some(name) = &self.weight
            && options.weight.as_deref().is_none_or(|given| given == name)
        {
            options.to_mut().weight = Some(WEIGHT_COLUMN.to_owned());
        }
        if self.weight.is_some() && options.source.is_none() && options.target.is_none() {
            // So the columns are known, also to whoever leaves the weights out.
            let options = options.to_mut();
            (options.source, options.target) = (Some("1".to_owned()), Some("2".to_owned()));
        }
        options
    }

    /// Puts in what the columns of the file cannot say: the direction, and the name of the weights.
    pub(crate) fn amend(self, detected: &mut Detected) {
        if self.weight.is_some() && detected.columns.weight == Some(WEIGHT_PLACE) {
            detected.weight_name = self.weight;
        }
        detected.directed = Some((self.directed, "the first line of the file, which Outcore wrote,".to_owned()));
    }

    /// The line, without its end. A name that would end the line is left out.
    pub fn line(&self) -> String {
        let direction = if self.directed { "directed" } else { "undirected" };
        let ids = if self.string_ids { format!(" ids={}", IdKind::String.name()) } else { String::new() };
        let weight = self.weight.as_deref().filter(|name| !name.contains(char::is_control));
        let weight = weight.map_or(String::new(), |name| format!(" weight={name}"));
        let parallel = if self.parallel { format!(" {PARALLEL}") } else { String::new() };
        format!("{START}{direction}{ids}{parallel}{weight}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_written_into_it() {
        for weight in [None, Some("sim"), Some("combined score = weight=2"), Some("")] {
            for (directed, string_ids) in [(true, false), (false, true)] {
                let parallel = directed == weight.is_some();
                let comment = OwnComment { directed, string_ids, parallel, weight: weight.map(str::to_owned) };
                assert_eq!(OwnComment::of(format!("{}\r\n", comment.line()).as_bytes()), Some(comment));
            }
        }
        for line in ["# directed", "# outcore", "# outcore sideways", "1 2", "#outcore directed"] {
            assert_eq!(OwnComment::of(line.as_bytes()), None);
        }
    }

    #[test]
    fn options_come_first() {
        let comment = OwnComment::of(b"# outcore undirected ids=string weight=sim").unwrap();
        let given = |ids: IdKind, weight: Option<&str>| {
            let options = InputOptions { ids, weight: weight.map(str::to_owned), ..InputOptions::default() };
            let options = comment.complete(&options).into_owned();
            (options.ids, options.weight)
        };
        assert_eq!(given(IdKind::Auto, None), (IdKind::String, Some("3".into())));
        assert_eq!(given(IdKind::Auto, Some("sim")), (IdKind::String, Some("3".into())));
        assert_eq!(given(IdKind::Integer, Some("none")), (IdKind::Integer, Some("none".into())));
        let header = InputOptions { header: Some(true), ..InputOptions::default() };
        assert_eq!(comment.complete(&header).header, Some(true));
        assert_eq!(comment.complete(&InputOptions::default()).header, Some(false));
    }
}
