//! What Mermaid does to a text before it reads it.

use crate::front::mermaid::lex::rule::is_word;

/// A text with Mermaid's signs for entities.
///
/// Each `#name;` becomes `ﬂ°name¶ß`, each `#35;` `ﬂ°°35¶ß`. They are turned back when the drawing is made.
pub(in crate::front::mermaid) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('#') {
        encoded.push_str(before);
        let length = behind.find(|c| !is_word(c)).unwrap_or(behind.len());
        let (name, after) = behind.split_at_checked(length).unwrap_or(("", behind));
        match after.strip_prefix(';') {
            Some(after) if !name.is_empty() => {
                let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                encoded.push_str(if is_number { "ﬂ°°" } else { "ﬂ°" });
                encoded.push_str(name);
                encoded.push_str("¶ß");
                rest = after;
            }
            _ => {
                encoded.push('#');
                rest = behind;
            }
        }
    }
    encoded.push_str(rest);
    encoded
}
