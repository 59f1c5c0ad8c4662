//! SM606: an attribute's value that can't be.

use super::choices;
use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

fn finding(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::BadAttribute, place, message)
}

/// The value is none of those that it may be.
pub(in crate::front::scxml) fn choice(
    value: &Spanned<String>,
    name: &str,
    allowed: &[&str],
) -> Diagnostic {
    let found = finding(value.span, format!("`{name}` can't be `{}`", value.value))
        .label(format!("may be {}", choices(allowed)));
    if (name, allowed) == ("target", ["#_internal"].as_slice()) {
        return found
            .help("leave it out to send to this machine; what goes elsewhere is the host's");
    }
    match nearest(&value.value, allowed.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            value.span,
            near,
        ),
        None => found.help("write one of those, or leave it out"),
    }
}

/// Nothing is written where something must be.
pub(in crate::front::scxml) fn empty(place: Span, name: &str) -> Diagnostic {
    finding(place, format!("`{name}` is empty")).help("write a value, or leave the attribute out")
}

/// A name has white space or a wildcard in it.
pub(in crate::front::scxml) fn spaces(value: &Spanned<String>, name: &str) -> Diagnostic {
    finding(value.span, format!("`{}` can't be one name", value.value))
        .label(format!("`{name}` is one name, without spaces and `*`"))
        .help("write `_` or `.` instead")
}

/// No time.
pub(in crate::front::scxml) fn delay(value: &Spanned<String>) -> Diagnostic {
    finding(value.span, format!("`{}` is no delay", value.value))
        .label("not a time in whole milliseconds")
        .help("write a time such as `500ms` or `1.5s`")
}

/// An internal event is never delayed.
pub(in crate::front::scxml) fn delay_inside(value: &Spanned<String>) -> Diagnostic {
    finding(value.span, "an internal event can't be delayed".to_owned())
        .label("the internal queue has no clock")
        .help("remove the delay, or the target `#_internal`")
}

/// An event of completion of what is never done.
pub(crate) fn never_done(event: &Spanned<String>) -> Diagnostic {
    finding(event.span, format!("nothing ever raises `{}`", event.value))
        .label("no state of that name is ever done")
        .note("a state is done when a `<final>` in it is entered, a parallel when all its regions are")
        .help("name a state that has a `<final>` inside")
}

/// Two elements of one name do different things.
pub(crate) fn other_of_that_name(name: &Spanned<String>, first: Span) -> Diagnostic {
    finding(
        name.span,
        format!("another action is called `{}`", name.value),
    )
    .label("does something else")
    .related(first, "the other one")
    .help("an action has one name wherever it is done: choose another")
}
