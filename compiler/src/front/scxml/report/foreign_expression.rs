//! SM158: an expression that means something else, or nothing, here.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

fn finding(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::ForeignExpression, place, message)
}

/// A value that is given when the machine starts must be a literal.
pub(crate) fn not_a_literal(place: Span) -> Diagnostic {
    finding(place, "an initial value must be a literal".to_owned())
        .label("would be computed")
        .help("write a number, a text in quotes, `true`, `false`, `null`, or JSON; `<assign>` computes")
}

/// A place that can't be assigned to.
pub(crate) fn no_location(place: Span, text: &str) -> Diagnostic {
    finding(place, format!("`{text}` is no place in the data"))
        .label("no `<data>` of that id")
        .help("declare it: `<data id=\"…\"/>` in a `<datamodel>`")
}

/// A name that nothing declares.
pub(crate) fn undeclared(place: Span, name: &str, known: Option<&str>) -> Diagnostic {
    let found = finding(place, format!("`{name}` isn't declared")).label("no `<data>` of that id");
    if name.starts_with('_') {
        return found
            .note("of SCXML's system variables, `_event.data` and `_name` can be read, and `_event.name` in the condition of a transition with one event")
            .help("keep what is needed in the data");
    }
    match known {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            place,
            near,
        ),
        None => found.help("declare it: `<data id=\"…\"/>` in a `<datamodel>`"),
    }
}

/// ECMAScript takes any value for true or false; here only `true` is true.
pub(crate) fn truthiness(place: Span) -> Diagnostic {
    finding(
        place,
        "this may be something else than true or false".to_owned(),
    )
    .label("no condition by itself")
    .note("ECMAScript makes every value true or false; here only `true` is true")
    .help("compare it: `count + 1 != 0`")
}

/// ECMAScript divides whole numbers to fractions.
pub(crate) fn division(place: Span) -> Diagnostic {
    finding(place, "`/` means something else in ECMAScript".to_owned())
        .label("`5 / 2` is 2.5 there, and 2 here")
        .help("write `datamodel=\"statemark\"` if 2 is meant, or have the host compute it")
}

/// A guard that isn't an expression stands where a value is computed with.
pub(crate) fn guard_as_value(place: Span) -> Diagnostic {
    finding(place, "a guard has no value to compare".to_owned())
        .label("may stand alone, or under `!`, `&&` and `||`")
        .help("ask it by itself")
}
