//! `<script>` where it only assigns: `x = x + 1; y *= 2`.
//!
//! Each assignment is what `<assign>` would be. Deliberately not here: all else that a script can say.

use roxmltree::Node;

use super::ast::{Assign, Content, ContentKind};
use super::reader::{Reader, Space, space, trimmed};
use crate::excerpt::Excerpt;

/// Reads the assignments of a script, in order; `None` if it isn't a script, or has anything else.
pub(super) fn assignments(node: Node<'_, '_>, reader: &Reader<'_>) -> Option<Vec<Content>> {
    let is_script = node.is_element()
        && space(node) == Space::Scxml
        && node.tag_name().name() == "script"
        && node.attributes().len() == 0;
    let mut inside = node.children().filter(|child| !child.is_comment());
    let text = inside.next().filter(|_| is_script && !reader.native)?;
    if !text.is_text() || inside.next().is_some() {
        return None;
    }
    let text = reader.decoded(text.range());
    let mut list = Vec::new();
    let mut from = 0;
    for end in ends(text.text()) {
        let statement = text.slice(from..end);
        from = end + 1;
        if statement.text().trim().is_empty() {
            continue;
        }
        list.push(Content {
            span: trimmed(&statement).span,
            name: None,
            kind: ContentKind::Assign(vec![assignment(&statement)?]),
        });
    }
    Some(list)
}

/// Returns the ends of a script's statements: each `;` outside of quotes, and its own end.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut quote: Option<char> = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match quote {
            Some(_) if letter == '\\' => {
                letters.next();
            }
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            None if letter == ';' => ends.push(at),
            _ => {}
        }
    }
    ends.push(text.len());
    ends
}

/// Reads `place = expression`, or `place += expression`.
fn assignment(statement: &Excerpt) -> Option<Assign> {
    let text = statement.text();
    let at = text.find('=')?;
    let (before, _) = text.split_at_checked(at)?;
    let operators = ['+', '-', '*', '%'];
    let operator = before
        .chars()
        .next_back()
        .filter(|it| operators.contains(it));
    let name = 0..at - usize::from(operator.is_some());
    let location = trimmed(&statement.slice(name.clone()));
    let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    if location.value.is_empty() || !location.value.chars().all(is_path) {
        return None;
    }
    let given = statement.slice(at + 1..text.len());
    if given.text().starts_with('=') || given.text().trim().is_empty() {
        return None;
    }
    let Some(operator) = operator else {
        let value = given;
        return Some(Assign { location, value });
    };
    // What is added to comes first, at its own place.
    let mut value = statement.slice(name);
    let place = statement.span(at..at + 1).start;
    value.push(&format!("{operator} ("), place);
    for (index, letter) in given.text().char_indices() {
        let source = given.span(index..index + letter.len_utf8()).start;
        value.push(letter.encode_utf8(&mut [0; 4]), source);
    }
    value.push(")", value.full_span().end);
    Some(Assign { location, value })
}
