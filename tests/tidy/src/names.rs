//! Names that GLOSSARY.md forbids.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::docs::closing;
use crate::lex::{Kind, Token};
use crate::{Fault, Rule};

/// The page that has the words.
const GLOSSARY: &str = include_str!("../../../GLOSSARY.md");

static WORDS: LazyLock<Words> = LazyLock::new(Words::from_glossary);

/// Words that are no names, as the page lists them.
pub(crate) struct Words {
    /// Words that are no part of a name.
    parts: BTreeSet<&'static str>,
    /// Words that are no whole name.
    names: BTreeSet<&'static str>,
    functions: BTreeSet<&'static str>,
    modules: BTreeSet<&'static str>,
}

impl Words {
    pub(crate) fn from_glossary() -> Self {
        let list = |heading: &str| {
            let section = GLOSSARY
                .split("\n### ")
                .find_map(|section| section.strip_prefix(heading));
            let rows = section.unwrap_or_default().lines();
            let words = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
            words.collect()
        };
        Self {
            parts: list("In no name\n"),
            names: list("No whole name\n"),
            functions: list("No function\n"),
            modules: list("No module\n"),
        }
    }

    fn forbid(&self, name: &str, before: &str) -> bool {
        name.split('_').any(|word| self.parts.contains(word))
            || self.names.contains(name)
            || before == "fn" && self.functions.contains(name)
            || before == "mod" && self.modules.contains(name)
    }
}

/// Finds names that are forbidden, and closures whose parameter should have one.
pub(crate) fn check(tokens: &[Token<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Word && is_definition(tokens, at) && is_forbidden(tokens, at) {
            faults.push(Fault {
                line: token.line,
                rule: Rule::Name,
                text: token.text.to_owned(),
            });
        }
        if token.text == "|" && is_long_it(tokens, at) {
            faults.push(Fault {
                line: token.line,
                rule: Rule::It,
                text: "|it|".to_owned(),
            });
        }
    }
    faults
}

/// Reports whether a name is introduced here: an item, a binding, a parameter or a field.
fn is_definition(tokens: &[Token<'_>], at: usize) -> bool {
    let text = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map_or("", |token| token.text)
    };
    let before = text(at.checked_sub(1));
    let after = [text(Some(at + 1)), text(Some(at + 2))];
    let items = [
        "fn", "mod", "struct", "enum", "trait", "type", "const", "static", "let", "mut", "ref",
        "union",
    ];
    let is_typed =
        after[0] == ":" && after[1] != ":" && [",", "(", "{", ")", "pub", "|"].contains(&before);
    let is_field = after[0] == ":"
        && after[1] != ":"
        && tokens
            .get(at.wrapping_sub(1))
            .is_some_and(|token| token.kind == Kind::Doc);
    let is_parameter = ["|", ","].contains(&before) && ["|", ","].contains(&after[0]);
    let is_variant = tokens
        .get(at.wrapping_sub(1))
        .is_some_and(|token| token.kind == Kind::Doc);
    items.contains(&before) || is_typed || is_field || is_parameter || is_variant
}

fn is_forbidden(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .map_or("", |token| token.text);
    tokens
        .get(at)
        .is_some_and(|token| WORDS.forbid(&snake(token.text), before))
}

/// Returns a name in lowercase, its words parted by `_`.
fn snake(name: &str) -> String {
    if name.chars().all(|letter| !letter.is_lowercase()) {
        return name.to_lowercase();
    }
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Reports whether a closure with a parameter `it` begins here that goes over several lines.
fn is_long_it(tokens: &[Token<'_>], at: usize) -> bool {
    let texts = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if texts(at + 1) != "it" || !["|", ":"].contains(&texts(at + 2)) {
        return false;
    }
    let Some(end) = (at + 2..tokens.len()).find(|at| texts(*at) == "|") else {
        return false;
    };
    let line = |at: usize| tokens.get(at).map_or(0, |token| token.line);
    let mut last = end;
    while !["", ")", "]", "}", ",", ";"].contains(&texts(last + 1)) {
        last = match texts(last + 1) {
            "(" | "[" | "{" => closing(tokens, last + 1) - 1,
            _ => last + 1,
        };
    }
    line(last) > line(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn the_glossary_has_all_lists() {
        let words = Words::from_glossary();
        let lists = [words.parts, words.names, words.functions, words.modules];
        assert!(lists.iter().all(|list| list.len() >= 4), "{lists:?}");
    }

    #[test]
    fn forbidden_names_are_found_where_they_are_introduced() {
        for (source, expected) in [
            ("fn told() {}", "told"),
            ("struct DeskState { gate: u8 }", "DeskState gate"),
            ("let behind = told; x.beside();", "behind"),
            ("fn a(desk: &Desk) {}", "desk"),
            ("fn sent() {} let sent = 1;", "sent"),
            ("all.map(|it| it + 1)", ""),
            ("all.map(|it| match it {\n _ => 1 })", "|it|"),
            ("all.map(|it: &u8| {\n it })", "|it|"),
            ("all\n.map(|it| a(it))\n.map(b)", ""),
        ] {
            let faults = check(&lex(source));
            let found: Vec<_> = faults.iter().map(|fault| fault.text.as_str()).collect();
            assert_eq!(found.join(" "), expected, "{source}");
        }
    }
}
