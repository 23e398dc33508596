//! Options as a page shows them, and commands and calls as they were typed.

use outcore_declare::{Parameter, Value};
use serde::Serialize;

/// The most ids, and characters of a text, that are shown.
const MOST_IDS: usize = 20;
const MOST_CHARACTERS: usize = 400;

/// An option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionText {
    /// Its name.
    pub name: String,
    /// Value in the run.
    pub value: String,
    /// Default value.
    pub default: Option<String>,
    /// Whether it was given.
    #[serde(rename = "given")]
    pub is_given: bool,
    /// A list of ids, as a call in Python has it.
    #[serde(skip)]
    pub ids: Option<String>,
}

impl OptionText {
    /// All options of an algorithm, those that were given first.
    pub fn all(options: &[Parameter], given: &[(&'static str, Value)]) -> Vec<OptionText> {
        let mut all: Vec<_> = options
            .iter()
            .map(|option| {
                let default = option.default.value().as_ref().map(value_text);
                let found = given.iter().find(|(name, _)| *name == option.name).map(|(_, value)| value);
                let is_given = found.is_some();
                let ids = match found {
                    Some(Value::Vertices(ids)) => Some(cut(format!("[{}]", listed(ids, |id| in_call(id))))),
                    _ => None,
                };
                let value = found.map(value_text).or_else(|| default.clone()).unwrap_or_else(|| "none".to_owned());
                OptionText { name: option.name.to_owned(), value, default, is_given, ids }
            })
            .collect();
        all.sort_by_key(|option| !option.is_given);
        all
    }

    /// An option that was given, and has no default.
    pub fn new(name: &str, value: impl Into<String>) -> OptionText {
        let value = cut(value.into());
        OptionText { name: name.to_owned(), value, default: None, is_given: true, ids: None }
    }
}

/// A value in words: of many ids the first.
fn value_text(value: &Value) -> String {
    cut(match value {
        Value::Whole(number) | Value::Counted(number) => number.to_string(),
        Value::Real(number) => short_real(*number),
        Value::Reals(numbers) => listed(numbers, |&number| short_real(number)),
        Value::Flag(flag) => flag.to_string(),
        Value::Name(text) | Value::Vertex(text) => text.clone(),
        Value::Vertices(ids) => listed(ids, Clone::clone),
        Value::Seeds(sets) => {
            listed(sets, |set| format!("{{{}}}", listed(set, |(id, share)| format!("{id}: {share}"))))
        }
        Value::Unweighted => "none".to_owned(),
    })
}

/// A real number in the shorter notation: with an exponent, or without.
fn short_real(number: f64) -> String {
    let (plain, short) = (number.to_string(), format!("{number:e}"));
    if short.len() < plain.len() { short } else { plain }
}

fn listed<T>(all: &[T], text: impl Fn(&T) -> String) -> String {
    let shown: Vec<_> = all.iter().take(MOST_IDS).map(text).collect();
    let rest = if all.len() > MOST_IDS { format!(", ... ({} in all)", all.len()) } else { String::new() };
    shown.join(", ") + &rest
}

/// A text, of which long ones are cut.
pub fn cut(text: String) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}... ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// A command line as it can be typed again. One that is very long is cut.
pub fn shell_text(words: impl Iterator<Item = String>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words: Vec<_> = words.map(quoted).collect();
    cut(words.join(" "))
}

/// An id as a call in Python has it.
fn in_call(id: &str) -> String {
    let is_whole = id.parse::<i128>().is_ok_and(|number| number.to_string() == id);
    if is_whole { id.to_owned() } else { format!("{id:?}") }
}

/// A call in Python, of a graph and the options that were given.
pub fn call_text(name: &str, input: &str, options: &[OptionText]) -> String {
    let is_word = |text: &str| text.parse::<f64>().is_ok() || matches!(text, "true" | "false" | "none");
    let mut text = format!("outcore.{name}(Graph({input:?})");
    for option in options.iter().filter(|option| option.is_given) {
        if let Some(ids) = &option.ids {
            text += &format!(", {}={ids}", option.name);
            continue;
        }
        text += &match &*option.value {
            "true" => format!(", {}=True", option.name),
            "false" => format!(", {}=False", option.name),
            "none" => format!(", {}=None", option.name),
            value if is_word(value) => format!(", {}={value}", option.name),
            value => format!(", {}={value:?}", option.name),
        };
    }
    text + ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_were_given_come_first_and_are_short() {
        let options = &outcore_algo::Algorithm::named("pagerank").unwrap().options;
        let all = OptionText::all(options, &[("tol", Value::Real(0.5)), ("max_iter", Value::Whole(7))]);
        assert_eq!(all.len(), options.len());
        let mut given: Vec<_> = all[..2].iter().map(|one| (&*one.name, &*one.value)).collect();
        given.sort_unstable();
        assert_eq!(given, [("max_iter", "7"), ("tol", "0.5")]);
        assert!(all[2..].iter().all(|option| !option.is_given));
        assert_eq!([0.0, 0.85, 1e-8, 20.0, 1.5e300].map(short_real), ["0", "0.85", "1e-8", "20", "1.5e300"]);
        let boundary = &outcore_algo::Algorithm::named("node_boundary").unwrap().options;
        let vertices = |ids: &[&str]| Value::Vertices(ids.iter().map(|id| (*id).to_owned()).collect());
        for (ids, text) in [(&["0"][..], "[0]"), (&["a", "7"], "[\"a\", 7]")] {
            let call = call_text("node_boundary", "g", &OptionText::all(boundary, &[("vertices", vertices(ids))]));
            assert_eq!(call, format!("outcore.node_boundary(Graph(\"g\"), vertices={text})"));
        }
        let ids = Value::Vertices((0..1_000_000).map(|id| id.to_string()).collect());
        let text = value_text(&ids);
        assert!(text.starts_with("0, 1, 2") && text.ends_with("(1000000 in all)") && text.len() < 200, "{text}");
        let long = value_text(&Value::Name("ü".repeat(10_000)));
        assert!(long.ends_with("... (10000 characters)") && long.len() < 1_000, "{long}");
    }

    #[test]
    fn commands_can_be_typed_again() {
        let words = ["outcore", "run", "bfs", "--source", "it's", "my graph.oc", "", "$HOME"].map(str::to_owned);
        let text = shell_text(words.into_iter());
        assert_eq!(text, r"outcore run bfs --source 'it'\''s' 'my graph.oc' '' '$HOME'");
        let given =
            [OptionText::new("source", "ho\"me"), OptionText::new("max_iter", "3"), OptionText::new("weight", "none")];
        let text = call_text("bfs", "web.oc", &given);
        assert_eq!(text, r#"outcore.bfs(Graph("web.oc"), source="ho\"me", max_iter=3, weight=None)"#);
    }
}
