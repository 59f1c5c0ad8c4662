//! Messages that several files send.

use statemark_text::shorten::shorten;

use super::shape::quoted;
use crate::diag::{Code, Diagnostic, nearest};
use crate::source::Span;

/// Other spellings of a guard's operators.
const SIGNS: [(&str, &str); 10] = [
    ("==", "eq"),
    ("===", "eq"),
    ("=", "eq"),
    ("!=", "neq"),
    ("ne", "neq"),
    (">", "gt"),
    (">=", "gte"),
    ("ge", "gte"),
    ("<", "lt"),
    ("<=", "lte"),
];

/// Reports that the text under `key` is none of those that it may be.
pub(super) fn not_a_choice(value: Span, key: &str, text: &str, choices: &[&str]) -> Diagnostic {
    let found = Diagnostic::new(Code::BadValue, value, format!("`{key}` can't be `{text}`"))
        .note(format!("it may be {}", quoted(choices)));
    let sign = SIGNS.iter().find(|(sign, _)| *sign == text).map(|it| it.1);
    let meant = sign
        .filter(|name| choices.contains(name))
        .or_else(|| nearest(text, choices.iter().copied()));
    match meant {
        Some(meant) => did_you_mean(found, value, meant),
        None => found.help("write one of those"),
    }
}

/// Adds the text that was meant to a finding about the value at `place`.
pub(super) fn did_you_mean(found: Diagnostic, place: Span, meant: &str) -> Diagnostic {
    let text = format!("\"{meant}\"");
    let found = found.help(format!("did you mean `{meant}`?"));
    found.unsafe_fix(format!("write `{text}`"), place, text)
}

/// Reports that the number under `key` is negative, broken, or too small.
pub(super) fn not_at_least(value: Span, key: &str, text: &str, least: u64) -> Diagnostic {
    Diagnostic::new(Code::BadValue, value, format!("`{key}` can't be `{text}`")).help(format!(
        "write a whole number of at least {least}, or drop the key for no limit"
    ))
}

/// Reports that the value of a key isn't above zero.
pub(super) fn not_positive(value: Span, key: &str, text: &str) -> Diagnostic {
    Diagnostic::new(Code::BadValue, value, format!("`{key}` can't be `{text}`"))
        .help("write a number above zero, or drop the key for no limit")
}

/// Reports that the value of a key is no duration above zero up to `most`. Unit: seconds.
pub(super) fn not_a_duration(value: Span, key: &str, text: &str, most: Option<u64>) -> Diagnostic {
    let message = format!("`{key}` can't be `{}`", shorten(text, 60));
    let limit = most.map_or(String::new(), |most| format!(", up to `{}h`", most / 3_600));
    Diagnostic::new(Code::BadValue, value, message).help(format!(
        "write a duration above zero{limit}, such as `90s` or `10m`, or drop the key for the default"
    ))
}

/// Reports that the number has no value: it is too large, or no number that JSON has.
pub(super) fn no_such_number(value: Span, text: &str) -> Diagnostic {
    let named = text.contains(['I', 'N']);
    let message = if named {
        format!("`{text}` is no number that a definition can hold")
    } else {
        format!("the number `{text}` is too large")
    };
    Diagnostic::new(Code::BadValue, value, message)
        .note(
            "whole numbers are kept exactly and have at most 64 bits; others are floats of 64 bits",
        )
        .help("write a number in that range, or a string")
}

/// Reports that a key that names something is empty.
pub(super) fn empty_name(key: Span) -> Diagnostic {
    Diagnostic::new(Code::BadValue, key, "a name can't be empty")
        .help("give it a name of at least one letter")
}

/// Reports that a list of targets is empty.
pub(super) fn empty_targets(value: Span) -> Diagnostic {
    let message = "an empty list of targets leads nowhere";
    Diagnostic::new(Code::BadValue, value, message).help("name a state, or drop the key")
}

/// Reports that a list of branches is empty.
pub(super) fn empty_branches(value: Span) -> Diagnostic {
    let message = "an empty list of branches leads nowhere";
    Diagnostic::new(Code::BadValue, value, message).help("name a target, or drop the event")
}

/// Reports that the command of a check names no program.
pub(super) fn empty_command(value: Span) -> Diagnostic {
    Diagnostic::new(Code::BadValue, value, "this command names no program")
        .help("write the program and its arguments: `[\"cargo\", \"test\"]`")
}

/// Reports that `what` wants `expected`; `mended` is the value as it may have been meant.
pub(super) fn wrong_type(
    value: Span,
    what: &str,
    expected: &str,
    found: &str,
    mended: Option<String>,
) -> Diagnostic {
    let message = format!("{what}: expected {expected}, found {found}");
    let diagnostic = Diagnostic::new(Code::WrongType, value, message);
    match mended {
        Some(mended) => {
            let order = format!("write `{mended}`");
            diagnostic
                .help(order.clone())
                .unsafe_fix(order, value, mended)
        }
        None => diagnostic.help(format!("write {expected}")),
    }
}

/// Reports that the object that opens there is `what` and lacks the keys that `needs` names.
pub(crate) fn missing_key(object: Span, what: &str, needs: &str) -> Diagnostic {
    Diagnostic::new(Code::MissingKey, object, format!("{what} needs {needs}"))
        .label("missing in this object")
        .help(format!("add {needs}"))
}

/// Reports that `name` accompanies `other`, of which an object has only one; `other` counts.
pub(super) fn ignored_key(key: Span, name: &str, other: &str) -> Diagnostic {
    misplaced_key(key, format!("`{name}` next to `{other}` is ignored")).help(format!(
        "keep one of them, or split it in two, one with `{other}` and one with `{name}`"
    ))
}

/// Reports that `name` means something only in a state of that type.
pub(super) fn only_in_type(key: Span, name: &str, kind: &str) -> Diagnostic {
    let message = format!(
        "`{name}` means nothing in a state that isn't {}",
        article(kind)
    );
    let found = misplaced_key(key, message);
    if name == "target" {
        return found.help(
            "a state is left by a transition: `\"on\": {\"event\": \"other\"}`; only a history has a target itself",
        );
    }
    found.help(format!("drop it, or write `\"type\": \"{kind}\"`"))
}

/// Reports a value for an operator that only tests that the field is there.
pub(super) fn value_of_presence_test(key: Span, operator: &str) -> Diagnostic {
    misplaced_key(key, format!("`value` next to `{operator}` is ignored"))
        .note(format!(
            "`{operator}` asks whether the field is there, not what it is"
        ))
        .help("drop `value`, or compare with `eq`")
}

/// Reports that `name` belongs to a transition that invokes a workflow, or into a fork.
pub(super) fn without_invoke(key: Span, name: &str, inside_fork: bool) -> Diagnostic {
    if inside_fork {
        misplaced_key(key, format!("`{name}` next to `fork` is ignored"))
            .help(format!("move `{name}` into the object of `fork`"))
    } else {
        misplaced_key(key, format!("`{name}` without `invoke` is ignored"))
            .help(format!("drop `{name}`, or name a workflow with `invoke`"))
    }
}

/// Reports `worktree_end` of a workflow whose runs have no worktree.
pub(super) fn end_without_worktree(key: Span) -> Diagnostic {
    misplaced_key(
        key,
        "`worktree_end` without `\"workspace\": \"worktree\"` is ignored".to_owned(),
    )
    .help("say `\"workspace\": \"worktree\"`, or drop `worktree_end`")
}

/// Reports `internal` in a transition that leads out of its source.
pub(crate) fn leaves_source(key: Span, source: &str) -> Diagnostic {
    misplaced_key(key, format!("this transition exits `{source}` anyway"))
        .note(
            "only a transition to states inside its source, or without a target, doesn't leave it",
        )
        .help("drop the key, or lead to a state inside")
}

fn article(kind: &str) -> &str {
    if kind == "history" {
        "a history state"
    } else {
        kind
    }
}

fn misplaced_key(key: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MisplacedKey, key, message).label("ignored")
}

/// Reports that the key of a machine is outside of `definition` instead of in it.
pub(super) fn key_outside_wrapper(key: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` is next to `definition`, where it isn't read");
    Diagnostic::new(Code::BadWrapper, key, message)
        .note(
            "an object with the key `definition` is a wrapper: the machine is what that key holds",
        )
        .help(format!(
            "move `{name}` into `definition`, or drop the wrapper"
        ))
}

/// Reports that `definition` holds no machine.
pub(super) fn empty_wrapper(value: Span, found: &str) -> Diagnostic {
    let message = format!("`definition` must hold a machine: expected an object, found {found}");
    Diagnostic::new(Code::BadWrapper, value, message)
        .help("write the machine there as an object, with `states` and what else it has")
}
