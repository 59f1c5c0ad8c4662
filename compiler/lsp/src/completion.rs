//! Words that may stand at a place: states, events, guards, actions, keys and tools.
//!
//! What is typed is seldom a whole spec, so the place is read off the text before it: in a diagram off its line, in a
//! definition off the brackets and keys that are open. Names are those that the rest of the document has.

use std::collections::BTreeSet;

use gen_lsp_types::{CompletionItem, CompletionItemKind, CompletionItemTextEdit, Range, TextEdit};
use statemark_compiler::{KeyReference, NameKind, keys};

use crate::analysis::{Analysis, Section, holds};
use crate::document::{Encoding, position};

/// The signs after which an editor asks on its own.
pub(crate) const TRIGGERS: [&str; 8] = [">", " ", ":", "[", "\"", "<", ",", "/"];

/// A word that fits.
struct Word {
    text: String,
    kind: CompletionItemKind,
    detail: String,
}

/// Returns the words that may stand at a byte. `tools` has the names of tools, each with what it does.
pub(crate) fn complete(
    analysis: &Analysis,
    byte: usize,
    tools: &[(String, String)],
    encoding: Encoding,
) -> Vec<CompletionItem> {
    let Some(section) = analysis.section_at(byte) else {
        return Vec::new();
    };
    let Some(before) = analysis.text().get(..byte) else {
        return Vec::new();
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let (words, start) = match holds(section.diagram.as_ref(), byte) {
        true => (in_diagram(section, line), byte - partial(line, false).len()),
        false => {
            let words = match &section.definition {
                Some(excerpt) => {
                    let at = excerpt.offset_of(u32::try_from(byte).unwrap_or(u32::MAX));
                    let text = excerpt.text();
                    let text = at.and_then(|at| text.get(..at)).unwrap_or(text);
                    in_definition(section, &open_keys(text), tools)
                }
                None => Vec::new(),
            };
            (words, byte - partial(line, true).len())
        }
    };
    let source = analysis.sources.file(analysis.file);
    let place = |byte: usize| position(source, u32::try_from(byte).unwrap_or(u32::MAX), encoding);
    let range = Range {
        start: place(start),
        end: place(byte),
    };
    let item = |(index, word): (usize, Word)| CompletionItem {
        label: word.text.clone(),
        kind: Some(word.kind),
        detail: (!word.detail.is_empty()).then_some(word.detail),
        sort_text: Some(format!("{index:05}")),
        text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit {
            range,
            new_text: word.text,
        })),
        ..CompletionItem::default()
    };
    words.into_iter().enumerate().map(item).collect()
}

/// Returns the part of a word before the end of a line.
///
/// In JSON a name may have blanks, up to its quote.
fn partial(line: &str, is_json: bool) -> &str {
    let is_end = |sign: char| match is_json {
        true => sign == '"',
        false => sign.is_whitespace() || ":[]<>/,|{}".contains(sign),
    };
    line.rfind(is_end)
        .and_then(|at| {
            let width = line.get(at..)?.chars().next()?.len_utf8();
            line.get(at + width..)
        })
        .unwrap_or(line)
}

/// Returns the words that fit after the start of a diagram's line.
fn in_diagram(section: &Section, line: &str) -> Vec<Word> {
    let Some(arrow) = line.rfind("-->") else {
        let trimmed = line.trim_start_matches([' ', '\t', '>', '-', '*']);
        let is_first = !trimmed.contains(char::is_whitespace);
        return match trimmed {
            it if it.ends_with("<<") => fixed(&["choice>>", "fork>>", "join>>"]),
            it if it.starts_with("note ") && it.contains(" of ") => names(section, NameKind::State),
            it if it.starts_with("note ") => fixed(&["left of ", "right of "]),
            it if it.starts_with("direction ") => fixed(&["LR", "RL", "TB", "BT"]),
            _ if is_first => {
                let mut words = names(section, NameKind::State);
                words.extend(fixed(&[
                    "[*]",
                    "state ",
                    "note right of ",
                    "note left of ",
                    "direction ",
                ]));
                words
            }
            _ => Vec::new(),
        };
    };
    let rest = line.get(arrow + 3..).unwrap_or_default();
    let Some((_, label)) = rest.split_once(':') else {
        let mut words = names(section, NameKind::State);
        words.extend(fixed(&["[*]"]));
        return words;
    };
    match (label.rfind('['), label.rfind(']'), label.contains(" / ")) {
        (Some(open), close, _) if close.is_none_or(|close| close < open) => {
            let mut words = names(section, NameKind::Guard);
            words.extend(fields(section));
            words.extend(fixed(&["else"]));
            words
        }
        (_, _, true) => names(section, NameKind::Action),
        (_, Some(_), _) => Vec::new(),
        _ => names(section, NameKind::Event),
    }
}

/// Returns the names of a kind, those that are declared first.
fn names(section: &Section, kind: NameKind) -> Vec<Word> {
    let of_kind = || section.mentions.iter().filter(|it| it.kind == kind);
    let declared = of_kind().filter(|it| it.declares);
    let mut seen = BTreeSet::new();
    let all = declared.chain(of_kind()).map(|it| it.name.as_str());
    let new = all.filter(|name| seen.insert(*name));
    let (item, detail) = match kind {
        NameKind::State => (CompletionItemKind::Class, "state"),
        NameKind::Event => (CompletionItemKind::Event, "event"),
        NameKind::Guard => (CompletionItemKind::Property, "guard"),
        NameKind::Action => (CompletionItemKind::Function, "action"),
    };
    new.map(|name| Word {
        text: name.to_owned(),
        kind: item,
        detail: detail.to_owned(),
    })
    .collect()
}

/// Returns the fields of the context.
fn fields(section: &Section) -> Vec<Word> {
    let definition = section.spec.definition.as_ref();
    let places = definition.map(|it| it.context_places.keys());
    places
        .into_iter()
        .flatten()
        .map(|path| Word {
            text: path.clone(),
            kind: CompletionItemKind::Field,
            detail: "field of the context".to_owned(),
        })
        .collect()
}

fn fixed(words: &[&str]) -> Vec<Word> {
    let word = |text: &&str| Word {
        text: (*text).to_owned(),
        kind: CompletionItemKind::Keyword,
        detail: String::new(),
    };
    words.iter().map(word).collect()
}

/// A place in JSON: the keys and lists that are open there.
#[derive(Debug, Default, PartialEq, Eq)]
struct OpenKeys {
    /// The keys that lead there; a list has none of its own.
    path: Vec<String>,
    /// True where the name of a key is written.
    is_key: bool,
    /// True within the quotes of a string.
    in_string: bool,
}

/// Reads which keys are open at the end of a JSON text, which may be broken anywhere.
///
/// It isn't a parser: it has no values and no errors, and brackets alone decide.
fn open_keys(text: &str) -> OpenKeys {
    /// An open bracket: the key before its next value, and whether it is an object.
    struct Open {
        key: Option<String>,
        is_object: bool,
        after_colon: bool,
    }
    let mut stack: Vec<Open> = Vec::new();
    let mut string: Option<String> = None;
    let mut last = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if let Some(open) = &mut string {
            match sign {
                '\\' => open.extend(signs.next()),
                '"' => last = string.take().unwrap_or_default(),
                // No string goes over a line: somebody is typing it.
                '\n' => string = None,
                _ => open.push(sign),
            }
            continue;
        }
        match sign {
            '"' => string = Some(String::new()),
            '/' if signs.peek() == Some(&'/') => while signs.next_if(|it| *it != '\n').is_some() {},
            '{' | '[' => stack.push(Open {
                key: None,
                is_object: sign == '{',
                after_colon: false,
            }),
            '}' | ']' => {
                stack.pop();
            }
            ':' => {
                if let Some(open) = stack.last_mut().filter(|it| it.is_object) {
                    open.key = Some(std::mem::take(&mut last));
                    open.after_colon = true;
                }
            }
            ',' => {
                if let Some(open) = stack.last_mut().filter(|it| it.is_object) {
                    open.key = None;
                    open.after_colon = false;
                }
            }
            _ => {}
        }
    }
    OpenKeys {
        is_key: stack
            .last()
            .is_some_and(|it| it.is_object && !it.after_colon),
        path: stack.into_iter().filter_map(|it| it.key).collect(),
        in_string: string.is_some(),
    }
}

/// Returns the words that fit at a place of a definition. They are offered between quotes alone.
fn in_definition(section: &Section, open: &OpenKeys, tools: &[(String, String)]) -> Vec<Word> {
    if !open.in_string {
        return Vec::new();
    }
    let path: Vec<&str> = open.path.iter().map(String::as_str).collect();
    if open.is_key {
        return match path.as_slice() {
            [.., "on"] => names(section, NameKind::Event),
            [.., "states"] => names(section, NameKind::State),
            ["context", ..] => Vec::new(),
            ["events", _] => known_keys("an event"),
            ["guards", _] | [.., "guard" | "guards"] => known_keys("a guard"),
            ["actions", _] => known_keys("an action"),
            ["artifacts", _] => known_keys("an artifact"),
            ["checks", _] => known_keys("a check"),
            ["interrupts", _] => known_keys("an interrupt"),
            [.., "states", _] => known_keys("a state"),
            [.., "invoke"] => known_keys("an invoked workflow"),
            [.., "fork"] => known_keys("a fork"),
            [.., "on" | "after", _] | [.., "always" | "on_done"] => known_keys("a transition"),
            [] => known_keys("a machine"),
            _ => Vec::new(),
        };
    }
    match path.as_slice() {
        [
            ..,
            "target" | "initial" | "safe_next" | "on_complete" | "on_fail" | "terminal" | "on_done"
            | "always",
        ] => names(section, NameKind::State),
        [.., "on" | "after", _] => names(section, NameKind::State),
        [.., "guard" | "guards" | "all" | "any" | "not"] => {
            let mut words = names(section, NameKind::Guard);
            words.extend(fields(section));
            words
        }
        [.., "field"] => fields(section),
        [.., "actions" | "entry" | "exit"] => names(section, NameKind::Action),
        [.., "while_waiting" | "on_max_iterations" | "raise"] => names(section, NameKind::Event),
        [.., "allowed_tools" | "disallowed_tools"] => tools
            .iter()
            .map(|(name, detail)| Word {
                text: name.clone(),
                kind: CompletionItemKind::Function,
                detail: detail.clone(),
            })
            .collect(),
        [.., "type"] if path.contains(&"states") => {
            fixed(&["atomic", "compound", "parallel", "final", "history"])
        }
        [.., "outcome"] => fixed(&["success", "failure"]),
        _ => Vec::new(),
    }
}

/// Returns the keys of a kind of object.
fn known_keys(object: &str) -> Vec<Word> {
    let keys = keys().into_iter();
    let own = keys.filter(|key: &KeyReference| key.object == object);
    own.map(|key| Word {
        text: key.name.to_owned(),
        kind: CompletionItemKind::Property,
        detail: key.holds,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_keys_are_read_off_broken_json() {
        let cases = [
            ("{", &[][..], true, false),
            ("{ \"st", &[], true, true),
            (
                "{ \"states\": { \"a\": { \"on\": { \"",
                &["states", "a", "on"],
                true,
                true,
            ),
            (
                "{ \"states\": { \"a\": { \"on\": { \"go\": \"",
                &["states", "a", "on", "go"],
                false,
                true,
            ),
            ("{ \"a\": 1, \"initial\": \"x", &["initial"], false, true),
            ("{ \"a\": [\"}\", \"", &["a"], false, true),
            ("{ // { \"no\n\"a\": \"\\\"", &["a"], false, true),
            ("{ \"a\": \"open\n \"b\": \"", &["b"], false, true),
            ("]]}}", &[], false, false),
        ];
        for (text, path, is_key, in_string) in cases {
            let path = path.iter().map(|it| (*it).to_owned()).collect();
            let expected = OpenKeys {
                path,
                is_key,
                in_string,
            };
            assert_eq!(open_keys(text), expected, "{text}");
        }
    }

    #[test]
    fn the_kinds_of_objects_have_keys() {
        for object in [
            "a check",
            "a fork",
            "a guard",
            "a machine",
            "a state",
            "a transition",
            "an action",
            "an artifact",
            "an event",
            "an interrupt",
            "an invoked workflow",
        ] {
            assert!(!known_keys(object).is_empty(), "{object}");
        }
    }
}
