//! SM156: an attribute's value that can't be.

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

/// What can be done about copies that make no transition of the root.
const OF_ROOT: &str = "give each state in `<scxml>` that isn't final the same copies, behind its own transitions, or remove the attribute";

/// Two copies of a transition of the root say different things.
pub(in crate::front::scxml) fn copies_differ(place: Span, first: Span) -> Diagnostic {
    let message = "this copy of a transition of the root isn't like the first".to_owned();
    finding(place, message)
        .label("does something else")
        .related(first, "the first copy")
        .help(OF_ROOT)
}

/// A state lacks a copy that another has.
pub(in crate::front::scxml) fn copy_missing(state: Span, first: Span) -> Diagnostic {
    let message = "a copy of a transition of the root is missing in this state".to_owned();
    finding(state, message)
        .label("would do nothing then")
        .related(first, "the first copy")
        .help(OF_ROOT)
}

/// A state has a copy that the first state doesn't have.
pub(in crate::front::scxml) fn copy_alone(place: Span) -> Diagnostic {
    let message = "this copy of a transition of the root is missing in the first state".to_owned();
    finding(place, message)
        .label("the first state would do nothing then")
        .help(OF_ROOT)
}

/// Copies are numbered in their order.
pub(in crate::front::scxml) fn copy_number(mark: &Spanned<String>, expected: usize) -> Diagnostic {
    let message = format!("`statemark:root` can't be `{}` here", mark.value);
    let expected = expected.to_string();
    finding(mark.span, message)
        .label("copies of the root's transitions are numbered from 1")
        .help(format!("write `{expected}`"))
        .fix(
            Applicability::Unsafe,
            format!("write `{expected}`"),
            mark.span,
            &expected,
        )
}

/// A copy in front of a state's own transitions would be taken before those.
pub(in crate::front::scxml) fn copy_in_front(place: Span) -> Diagnostic {
    let message =
        "a copy of a transition of the root stands in front of the state's own".to_owned();
    finding(place, message)
        .label("would be taken before those")
        .help(OF_ROOT)
}
