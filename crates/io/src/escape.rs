//! Escaping of texts from files before they reach a terminal.
//!
//! Names, ids and paths may hold any character. A terminal executes control characters: they clear the screen, rename
//! the window, overwrite earlier output. Direction marks (Unicode, UAX #9) reorder the text on the screen. All messages
//! pass through here, so that none of these is ever printed raw.

use std::fmt::{Display, Formatter, Result, Write};

/// Shows the control characters and direction marks of a text as Rust escapes them: an escape is `\u{1b}`, the end of a
/// line `\n`.
pub fn escaped<T: Display>(text: T) -> impl Display {
    Escaped(text)
}

struct Escaped<T>(T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Writer(f), "{}", self.0)
    }
}

struct Writer<'a, 'b>(&'a mut Formatter<'b>);

impl Write for Writer<'_, '_> {
    fn write_str(&mut self, text: &str) -> Result {
        for part in text.split_inclusive(is_unseen) {
            let plain = part.trim_end_matches(is_unseen);
            self.0.write_str(plain)?;
            write!(self.0, "{}", part[plain.len()..].escape_default())?;
        }
        Ok(())
    }
}

/// Whether a character is invisible and controls the display of others.
fn is_unseen(char: char) -> bool {
    let is_mark =
        matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || is_mark
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn control_characters_are_shown_and_nothing_else_changes() {
        for plain in ["", "plain", "Grüße, 世界 🦀", r"a\b 'c' \u{1b}"] {
            assert_eq!(escaped(plain).to_string(), plain);
        }
        assert_eq!(escaped("\u{1b}[2Ja\u{9b}b\r\n\t\0\u{7f}").to_string(), r"\u{1b}[2Ja\u{9b}b\r\n\t\u{0}\u{7f}");
        assert_eq!(escaped("a\u{202e}b\u{2066}\u{200f}").to_string(), r"a\u{202e}b\u{2066}\u{200f}");
        assert_eq!(escaped(escaped("\u{1b}")).to_string(), r"\u{1b}");
    }
}
