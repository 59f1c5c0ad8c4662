//! SM701: a key that an object of its kind doesn't have.

use std::collections::BTreeSet;

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::Span;

/// Most keys that a message lists. Unit: keys. Why: more than two lines of them are read by nobody.
const MOST_LISTED: usize = 12;

/// The keys that are meant most often, the likeliest first; those that aren't here come behind them.
const LIKELY: [&str; 21] = [
    "on",
    "target",
    "guard",
    "initial",
    "states",
    "type",
    "entry",
    "exit",
    "always",
    "after",
    "actions",
    "instructions",
    "allowed_tools",
    "max_iterations",
    "context",
    "events",
    "guards",
    "id",
    "title",
    "description",
    "meta",
];

/// What other tools call a key, and what it is called here.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("tools", "allowed_tools"),
    ("tool", "allowed_tools"),
    ("forbidden_tools", "disallowed_tools"),
    ("denied_tools", "disallowed_tools"),
    ("data", "context"),
    ("variables", "context"),
    ("vars", "context"),
    ("onentry", "entry"),
    ("onenter", "entry"),
    ("enter", "entry"),
    ("onexit", "exit"),
    ("leave", "exit"),
    ("transitions", "on"),
    ("prompt", "instructions"),
    ("retries", "max_iterations"),
    ("goto", "target"),
    ("next", "target"),
    ("to", "target"),
    ("condition", "guard"),
    ("if", "guard"),
    ("when", "guard"),
];

/// A key that isn't known where it stands.
pub(crate) struct Unknown<'a> {
    /// Where it stands.
    pub(crate) key: Span,
    /// How it is written.
    pub(crate) name: &'a str,
    /// What the object is: `a state`.
    pub(crate) what: &'a str,
    /// The keys that such an object has.
    pub(crate) known: &'a [&'a str],
    /// Key and value, if the value is `true` and the object has no `type`.
    pub(crate) flag: Option<Span>,
    /// The keys that the object has.
    pub(crate) present: &'a BTreeSet<&'a str>,
}

/// The object has no such key; `elsewhere` says what has a key of a name.
pub(crate) fn unknown_key(
    unknown: &Unknown<'_>,
    elsewhere: impl Fn(&str) -> Option<&'static str>,
) -> Diagnostic {
    let Unknown {
        key,
        name,
        what,
        known,
        flag,
        present,
    } = *unknown;
    let found = Diagnostic::new(Code::UnknownKey, key, format!("{what} has no key `{name}`"));
    let other = other_name(name);
    if let Some(meant) = other.filter(|other| known.contains(other)) {
        return renamed(found, key, meant, present);
    }
    if let Some(place) = elsewhere(name) {
        return found.help(format!("`{name}` is a key of {place}: move it there"));
    }
    if let Some((other, place)) = other.and_then(|other| Some((other, elsewhere(other)?))) {
        return found.help(format!("`{other}` is a key of {place}: did you mean it?"));
    }
    let is_state = known.contains(&"after");
    if matches!(name, "limits" | "limit" | "timeout") && (is_state || known.contains(&"states")) {
        return found.help(
            "a state's limits are `max_iterations`, and `after` for one that is left after a time",
        );
    }
    if matches!(name, "final" | "parallel") && is_state {
        let right = format!("\"type\": \"{name}\"");
        let order = format!("write `{right}`");
        let found = found.help(order.clone());
        return match flag {
            Some(property) => found.fix(Applicability::Unsafe, order, property, right),
            None => found,
        };
    }
    if let Some(meant) = nearest(name, known.iter().copied()) {
        return renamed(found, key, meant, present);
    }
    let found = found.note(listed(known));
    if known.contains(&"meta") {
        return found.help("put what only your own tools read into `meta`");
    }
    found.help("drop it, or write one of those")
}

/// What that key of other tools is called here.
fn other_name(name: &str) -> Option<&'static str> {
    let letters = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let name = letters(name);
    let found = OTHER_NAMES.iter().find(|(other, _)| letters(other) == name);
    found.map(|(_, ours)| *ours)
}

fn renamed(found: Diagnostic, key: Span, meant: &str, present: &BTreeSet<&str>) -> Diagnostic {
    if present.contains(meant) {
        return found.help(format!(
            "did you mean `{meant}`? this object has one already"
        ));
    }
    found.help(format!("did you mean `{meant}`?")).fix(
        Applicability::Unsafe,
        format!("write `{meant}`"),
        key,
        format!("\"{meant}\""),
    )
}

/// The keys that there are, the likeliest first.
fn listed(known: &[&str]) -> String {
    let mut keys = known.to_vec();
    let rank = |key: &&str| LIKELY.iter().position(|likely| likely == key);
    keys.sort_by_key(|key| rank(key).unwrap_or(LIKELY.len()));
    let names: Vec<_> = keys.iter().map(|name| format!("`{name}`")).collect();
    let shown = names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(MOST_LISTED) {
        0 => format!("its keys are {}", shown.join(", ")),
        more => format!("its keys are {} and {more} more", shown.join(", ")),
    }
}
