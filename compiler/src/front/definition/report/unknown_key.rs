//! SM701: a key that an object of its kind doesn't have.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::Span;

/// Most keys that a message lists. Unit: keys. Why: more than a line of them is read by nobody.
const MOST_LISTED: usize = 8;

/// `what` has no key `name`, only `known`; `elsewhere` is what has one.
pub(crate) fn unknown_key(
    key: Span,
    name: &str,
    what: &str,
    known: &[&str],
    elsewhere: Option<&str>,
) -> Diagnostic {
    let found = Diagnostic::new(Code::UnknownKey, key, format!("{what} has no key `{name}`"));
    if let Some(place) = elsewhere {
        return found.help(format!("`{name}` is a key of {place}: move it there"));
    }
    if let Some(meant) = nearest(name, known.iter().copied()) {
        return found.help(format!("did you mean `{meant}`?")).fix(
            Applicability::Unsafe,
            format!("write `{meant}`"),
            key,
            format!("\"{meant}\""),
        );
    }
    if known.contains(&"meta") {
        return found.help("put what only your own tools read into `meta`");
    }
    if known.len() <= MOST_LISTED {
        let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        return found.help(format!("its keys are {}", names.join(", ")));
    }
    found.help("drop it")
}
