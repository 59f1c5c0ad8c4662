//! What the Mermaid front end says: a file for each code, taking facts and giving the finding.

pub(super) mod bare_declaration;
pub(super) mod broken_diagram_front_matter;
pub(super) mod composite_description;
pub(super) mod cut_note;
pub(super) mod inside_itself;
pub(super) mod invisible_character;
pub(super) mod late_declaration;
pub(super) mod missing_header;
pub(super) mod note_before_state;
pub(super) mod semicolon_in_label;
pub(super) mod stray_words;
pub(super) mod swallowed_by_direction;
pub(super) mod swallowed_by_label;
pub(super) mod swallowed_line;
pub(super) mod syntax_error;
pub(super) mod taken_name;
pub(super) mod text_of_pseudo_state;
pub(super) mod unclosed_composite;

/// Longest piece of an author's text that a message repeats. Unit: characters. Why: a message is read on one line.
const MAX_QUOTE: usize = 48;

/// The start of a text, on one line, as a message shows it.
fn quote(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    if line.chars().count() <= MAX_QUOTE {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(MAX_QUOTE - 1).collect();
    short.push('…');
    short
}

/// A text as one name: all that can't stand in a name becomes `_`.
pub(super) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        if c.is_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        "state_1".to_owned()
    } else {
        name.to_owned()
    }
}
