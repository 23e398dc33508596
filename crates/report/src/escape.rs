//! Text of users in HTML, and JSON within a script.

use std::fmt::Write;

/// Text as HTML shows it, in an element or an attribute in quotes. Control characters are written out, and so are those
/// that would change the direction of what follows.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            character if character.is_control() || is_hidden(character) => {
                _ = write!(html, "{}", character.escape_unicode());
            }
            character => html.push(character),
        }
    }
    html
}

/// Whether a character shows nothing, but changes how others are shown.
fn is_hidden(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// JSON such that no part of it ends the script that it stands in, or begins a comment there, or is hidden from whoever
/// reads the source. These characters are in strings only, where they may be written so.
pub fn in_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' => _ = write!(text, "\\u{:04x}", u32::from(character)),
            character if is_hidden(character) => _ = write!(text, "\\u{:04x}", u32::from(character)),
            character => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_wrote_is_text() {
        let hostile = "</script><img src=x onerror=alert(1)>&amp;'\"\u{0}\u{1b}[31m\u{202e}";
        let html = escape(hostile);
        assert!(!html.contains(['<', '>', '"', '\'', '\u{0}', '\u{1b}', '\u{202e}']), "{html}");
        assert!(html.starts_with("&lt;/script&gt;&lt;img") && html.contains("&amp;amp;"), "{html}");
        assert_eq!(escape("søk 漢字 🕸"), "søk 漢字 🕸");
        let json =
            serde_json::to_string(&serde_json::json!({ hostile: [hostile, "<!--", "\u{2028}\u{202e}"] })).unwrap();
        let script = in_script(&json);
        assert!(!script.contains(['<', '>', '&', '\u{2028}', '\u{202e}']), "{script}");
        let back: serde_json::Value = serde_json::from_str(&script).unwrap();
        assert_eq!(back[hostile][0], hostile);
    }
}
