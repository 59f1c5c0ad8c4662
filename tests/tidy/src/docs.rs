//! First lines of documentation.

use crate::lex::{Kind, Token};
use crate::{Fault, Rule};

/// Longest first line. Unit: characters. Why: a hover and a list of items show it alone.
const MAX_FIRST_LINE: usize = 100;

/// First words that begin a clause, or that mean something that a hover doesn't show.
const OPENERS: [&str; 17] = [
    "How", "It", "Same", "That", "They", "Those", "What", "Whatever", "When", "Where", "Wherever",
    "Whether", "Which", "Who", "Whoever", "Whose", "Why",
];

/// Openers of two words.
const PAIRS: [&str; 2] = ["The same", "As for"];

/// First words of functions that end in `s` and aren't verbs in the third person.
const NO_VERBS: [&str; 12] = [
    "Always", "As", "Besides", "Has", "Is", "Its", "Less", "Others", "Perhaps", "Plus", "This",
    "Yes",
];

/// First words of functions that are good without being such a verb.
const ALSO_VERBS: [&str; 1] = ["Like"];

/// Derives whose docs are help texts of the command line, which have a style of their own.
const HELP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Returns the tokens before the tests at a source's end.
pub(crate) fn without_tests<'s, 't>(tokens: &'s [Token<'t>]) -> &'s [Token<'t>] {
    let pattern = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let begins = |at: &usize| {
        let found = tokens.iter().skip(*at).map(|token| token.text);
        found.take(pattern.len()).eq(pattern)
    };
    let has_body = |at: &usize| {
        tokens
            .get(at + pattern.len() + 1)
            .is_some_and(|token| token.text == "{")
    };
    let end = (0..tokens.len()).find(|at| begins(at) && has_body(at));
    tokens.get(..end.unwrap_or(tokens.len())).unwrap_or(tokens)
}

/// Finds faults in first lines.
pub(crate) fn check(tokens: &[Token<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(head) = tokens.iter().find(|token| token.kind == Kind::Head) {
        faults.extend(first_line(head, false));
    }
    let mut at = 0;
    let mut help_until = 0;
    while let Some(token) = tokens.get(at) {
        if token.kind != Kind::Doc {
            // An item without docs may be one of the command line, too.
            if is_attribute(tokens, at) {
                let item = Item::read(tokens, at);
                help_until = help_until.max(item.help_until);
                at = item.begin.max(at + 1);
                continue;
            }
            at += 1;
            continue;
        }
        let item = Item::read(tokens, at);
        help_until = help_until.max(item.help_until);
        if at >= help_until && !item.is_test {
            faults.extend(first_line(token, item.is_function));
        }
        at = item.begin.max(at + 1);
    }
    faults
}

fn is_attribute(tokens: &[Token<'_>], at: usize) -> bool {
    let text = |at: usize| tokens.get(at).map(|token| token.text);
    text(at) == Some("#") && text(at + 1) == Some("[")
}

/// What documentation stands above.
struct Item {
    /// The token after docs and attributes.
    begin: usize,
    is_function: bool,
    is_test: bool,
    /// The end of an item whose docs are help texts; 0 for others.
    help_until: usize,
}

impl Item {
    /// Reads docs, attributes and the beginning of an item.
    fn read(tokens: &[Token<'_>], from: usize) -> Self {
        let mut at = from;
        let mut is_help = false;
        let mut is_test = false;
        while let Some(token) = tokens.get(at) {
            if token.kind == Kind::Doc {
                at += 1;
            } else if is_attribute(tokens, at) {
                let end = closing(tokens, at + 1);
                let words: Vec<&str> = tokens
                    .iter()
                    .take(end - 1)
                    .skip(at + 2)
                    .map(|token| token.text)
                    .collect();
                is_help |= words.first() == Some(&"derive")
                    && words.iter().any(|word| HELP.contains(word));
                is_test |= words == ["test"];
                at = end;
            } else {
                break;
            }
        }
        let modifiers = ["pub", "const", "async", "unsafe", "extern", "default"];
        let mut next = at;
        while let Some(token) = tokens.get(next) {
            next = match token.text {
                "(" => closing(tokens, next),
                text if modifiers.contains(&text) || text == "\"C\"" => next + 1,
                _ => break,
            };
        }
        let is_function = tokens.get(next).is_some_and(|token| token.text == "fn");
        let body = (at..tokens.len()).find(|at| {
            tokens
                .get(*at)
                .is_some_and(|token| ["{", ";"].contains(&token.text))
        });
        let help_until = if is_help {
            body.map_or(at, |body| closing(tokens, body))
        } else {
            0
        };
        Self {
            begin: at,
            is_function,
            is_test,
            help_until,
        }
    }
}

/// Returns the index after the bracket that closes the one here.
pub(crate) fn closing(tokens: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Finds faults in a first line.
fn first_line(doc: &Token<'_>, is_function: bool) -> Vec<Fault> {
    let text = doc.text;
    // A line of a template, with nothing to say yet.
    if text.is_empty() {
        return Vec::new();
    }
    let word = text
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_opener = OPENERS.contains(&word) || PAIRS.iter().any(|pair| text.starts_with(pair));
    let is_verb = (word.ends_with('s') && !NO_VERBS.contains(&word)) || ALSO_VERBS.contains(&word);
    let broken = [
        (Rule::Opener, is_opener),
        (Rule::Long, text.chars().count() > MAX_FIRST_LINE),
        (Rule::Stop, !text.ends_with('.')),
        (Rule::Verb, is_function && !is_opener && !is_verb),
    ];
    let broken = broken.into_iter().filter(|(_, is_broken)| *is_broken);
    broken
        .map(|(rule, _)| Fault {
            line: doc.line,
            rule,
            text: text.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    fn rules(source: &str) -> Vec<Rule> {
        let tokens = lex(source);
        check(without_tests(&tokens))
            .into_iter()
            .map(|fault| fault.rule)
            .collect()
    }

    #[test]
    fn first_lines_are_as_they_should_be() {
        for (source, expected) in [
            ("/// Returns the sum.\npub(crate) const fn a() {}", vec![]),
            (
                "/// The sum.\n#[must_use]\npub(crate) fn a() {}",
                vec![Rule::Verb],
            ),
            ("/// The sum.\nstruct A;", vec![]),
            (
                "/// What there is\nstruct A;",
                vec![Rule::Opener, Rule::Stop],
            ),
            ("/// The same as above.\nfn a() {}", vec![Rule::Opener]),
            ("//! Sums,\n//! and more.\n", vec![Rule::Stop]),
            ("/// A test says it.\n#[test]\nfn a() {}", vec![]),
            (
                "/// Run it\n#[derive(Debug, clap::Args)]\nstruct A {\n/// Which\na: u8 }\n/// Which\nstruct B;",
                vec![Rule::Opener, Rule::Stop],
            ),
            ("#[cfg(test)]\nmod tests {\n/// Which\nfn a() {} }", vec![]),
        ] {
            assert_eq!(rules(source), expected, "{source}");
        }
        assert_eq!(
            rules(&format!("/// {}.\nstruct A;", "a".repeat(100))),
            [Rule::Long]
        );
    }
}
