//! Messages that several files send, those of [`crate::lower::scxml`] included.

use statemark_text::list::join;

use super::ast::AmbiguousLabel;
use crate::diag::{Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

/// Choices for a message: `` `a`, `b` or `c` ``.
pub(super) fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    join(&quoted, "or")
}

fn misplaced(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MisplacedContent, place, message)
}

/// Reports that the document's root is another element.
pub(super) fn not_scxml(tag: Span, name: &str) -> Diagnostic {
    misplaced(tag, format!("`<{name}>` is no SCXML document"))
        .label("must be `scxml`")
        .help("write `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">`")
}

/// Reports an element that means something elsewhere.
pub(super) fn misplaced_element(
    tag: Span,
    name: &str,
    outer: &str,
    allowed: &[&str],
) -> Diagnostic {
    let found = misplaced(tag, format!("`<{name}>` isn't allowed in `<{outer}>`"))
        .label("means nothing here");
    if allowed.is_empty() {
        return found.help(format!("`<{outer}>` has nothing inside: move it out"));
    }
    found.help(format!("`<{outer}>` may hold {}", choices(allowed)))
}

/// Words between elements.
pub(super) fn misplaced_text(place: Span, outer: &str) -> Diagnostic {
    misplaced(place, format!("`<{outer}>` holds no text"))
        .label("would be lost")
        .help("remove it, or make it a comment: `<!-- … -->`")
}

/// Reports a second element where one is enough.
pub(super) fn second_element(place: Span, name: &str, outer: &str) -> Diagnostic {
    misplaced(place, format!("a second `<{name}>` of one `<{outer}>`"))
        .label("which of them counts?")
        .help("remove one of them")
}

/// Reports content after `<else>`.
pub(super) fn after_else(tag: Span, name: &str) -> Diagnostic {
    misplaced(tag, format!("`<{name}>` can't follow `<else>`"))
        .label("never done")
        .help("put `<else/>` last")
}

/// Reports a block of actions that follows one that may fail.
pub(crate) fn second_block(place: Span, element: &str) -> Diagnostic {
    let message = format!("a second `<{element}>` after one that may fail");
    misplaced(place, message)
        .label("would be skipped with it")
        .note("SCXML continues with the next block where one fails; here they are one list")
        .help("put what may fail last")
}

fn missing_part(tag: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MissingPart, tag, message)
}

/// Reports that an attribute is missing.
pub(crate) fn missing_attribute(tag: Span, element: &str, name: &str) -> Diagnostic {
    missing_part(tag, format!("`<{element}>` has no `{name}`"))
        .label(format!("needs `{name}=\"…\"`"))
        .help(format!("write `{name}=\"…\"`"))
}

/// Reports that an element inside is missing.
pub(super) fn missing_element(tag: Span, element: &str, name: &str) -> Diagnostic {
    missing_part(tag, format!("`<{element}>` has no `<{name}>` inside"))
        .label(format!("needs a `<{name}>`"))
        .help(format!("write `<{name} target=\"…\"/>` inside"))
}

/// Reports a history without a default transition.
pub(super) fn missing_default_transition(tag: Span) -> Diagnostic {
    missing_part(tag, "this history has no default transition".to_owned())
        .label("leads nowhere the first time")
        .help("write `<transition target=\"…\"/>` inside, with a state next to the history")
}

/// Reports a document, or a state with only a history inside, that has no state to be in.
pub(crate) fn missing_states(tag: Span, element: &str) -> Diagnostic {
    missing_part(tag, format!("`<{element}>` has no state inside"))
        .label("nothing can be active here")
        .help("write `<state id=\"…\"/>` inside")
}

fn bad_attribute(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::BadAttribute, place, message)
}

/// Reports a value that is none of those that it may be.
pub(super) fn not_a_choice(value: &Spanned<String>, name: &str, allowed: &[&str]) -> Diagnostic {
    let found = bad_attribute(value.span, format!("`{name}` can't be `{}`", value.value))
        .label(format!("may be {}", choices(allowed)));
    if (name, allowed) == ("target", ["#_internal"].as_slice()) {
        return found
            .help("leave it out to send to this machine; what goes elsewhere is the host's");
    }
    match nearest(&value.value, allowed.iter().copied()) {
        Some(suggestion) => found.did_you_mean(suggestion, value.span, ""),
        None => found.help("write one of those, or leave it out"),
    }
}

/// Reports an attribute that must not be empty.
pub(super) fn empty_attribute(place: Span, name: &str) -> Diagnostic {
    bad_attribute(place, format!("`{name}` is empty"))
        .help("write a value, or leave the attribute out")
}

/// Reports a name that has white space or a wildcard in it.
pub(super) fn not_one_name(value: &Spanned<String>, name: &str) -> Diagnostic {
    bad_attribute(value.span, format!("`{}` can't be one name", value.value))
        .label(format!("`{name}` is one name, without spaces and `*`"))
        .help("write `_` or `.` instead")
}

/// Reports a delay that is no time.
pub(super) fn bad_delay(value: &Spanned<String>) -> Diagnostic {
    bad_attribute(value.span, format!("`{}` is no delay", value.value))
        .label("not a time in whole milliseconds")
        .help("write a time such as `500ms` or `1.5s`")
}

/// Reports a delay of an internal event.
pub(super) fn delayed_internal_event(value: &Spanned<String>) -> Diagnostic {
    bad_attribute(value.span, "an internal event can't be delayed".to_owned())
        .label("the internal queue has no clock")
        .help("remove the delay, or the target `#_internal`")
}

/// Reports a completion event of something that is never done.
pub(crate) fn never_done(event: &Spanned<String>) -> Diagnostic {
    bad_attribute(event.span, format!("nothing ever raises `{}`", event.value))
        .label("no state of that name is ever done")
        .note("a state is done when a `<final>` in it is entered, a parallel when all its regions are")
        .help("name a state that has a `<final>` inside")
}

/// Reports two elements of one name that do different things.
pub(crate) fn action_name_reused(name: &Spanned<String>, first: Span) -> Diagnostic {
    let message = format!("another action is called `{}`", name.value);
    bad_attribute(name.span, message)
        .label("does something else")
        .related(first, "the other one")
        .help("an action has one name wherever it is done: choose another")
}

/// The help for copies that don't make a transition of the root.
const OF_ROOT: &str = "give each state in `<scxml>` that isn't final the same copies, after its own transitions, or remove the attribute";

/// Reports that two copies of a transition of the root differ.
pub(super) fn copies_differ(place: Span, first: Span) -> Diagnostic {
    let message = "this copy of a transition of the root isn't like the first".to_owned();
    bad_attribute(place, message)
        .label("does something else")
        .related(first, "the first copy")
        .help(OF_ROOT)
}

/// Reports that a state lacks a copy that another has.
pub(super) fn copy_missing(state: Span, first: Span) -> Diagnostic {
    let message = "a copy of a transition of the root is missing in this state".to_owned();
    bad_attribute(state, message)
        .label("would do nothing then")
        .related(first, "the first copy")
        .help(OF_ROOT)
}

/// Reports that a state has a copy that the first state doesn't have.
pub(super) fn surplus_copy(place: Span) -> Diagnostic {
    let message = "this copy of a transition of the root is missing in the first state".to_owned();
    bad_attribute(place, message)
        .label("the first state would do nothing then")
        .help(OF_ROOT)
}

/// Copies are numbered in their order.
pub(super) fn copy_number(mark: &Spanned<String>, expected: usize) -> Diagnostic {
    let message = format!("`statemark:root` can't be `{}` here", mark.value);
    let expected = expected.to_string();
    bad_attribute(mark.span, message)
        .label("copies of the root's transitions are numbered from 1")
        .help(format!("write `{expected}`"))
        .unsafe_fix(format!("write `{expected}`"), mark.span, &expected)
}

/// Reports a copy before a state's own transitions, which would be taken before those.
pub(super) fn copy_before_own(place: Span) -> Diagnostic {
    let message = "a copy of a transition of the root precedes the state's own".to_owned();
    bad_attribute(place, message)
        .label("would be taken before those")
        .help(OF_ROOT)
}

/// Reports a label that doesn't lead to several places from its state.
pub(crate) fn no_ambiguity(label: &AmbiguousLabel) -> Diagnostic {
    let (name, state) = (&label.name.value, &label.state.value);
    let message = format!("`{name}` can't be a label of several events in `{state}`");
    bad_attribute(label.name.span, message)
        .label("not ambiguous there")
        .help("name two or more events that transitions of the state have, and a label that none of them has")
}

fn always_fails(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::AlwaysFails, place, message)
        .label("always fails")
        .note("SCXML raises `error.execution` here, and does nothing after it in the same block")
}

/// Reports an unknown target or processor of `<send>`.
pub(super) fn unknown_target_of_send(value: &Spanned<String>, name: &str) -> Diagnostic {
    let message = format!("`{name}` can't be `{}`, so nothing is sent", value.value);
    always_fails(value.span, message).help(format!("leave `{name}` out to send to this machine"))
}

/// Reports an assignment to something that isn't declared.
pub(crate) fn undeclared_location<'k>(
    location: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!(
        "`{}` is no place in the data, so nothing is assigned",
        location.value
    );
    let found = always_fails(location.span, message);
    match nearest(&location.value, known) {
        Some(suggestion) => found.help(format!("did you mean `{suggestion}`?")),
        None => found.help("declare it: `<data id=\"…\"/>` in a `<datamodel>`"),
    }
}

/// Reports that a value is no expression.
pub(crate) fn no_expression(place: Span) -> Diagnostic {
    let message = "this is no expression, so it has no value".to_owned();
    always_fails(place, message).help("write an expression: a value, or what computes one")
}

/// Reports that an initial value is no expression.
pub(crate) fn no_initial_value(place: Span) -> Diagnostic {
    let message = "this is no expression, so there is no value at first";
    Diagnostic::new(Code::AlwaysFails, place, message)
        .label("always fails")
        .note("SCXML raises `error.execution` here when the machine starts")
        .help("write a value, or leave it out")
}

/// Reports that a condition is no expression.
pub(crate) fn no_condition(place: Span) -> Diagnostic {
    let message = "this is no expression, so the transition is never taken";
    Diagnostic::new(Code::AlwaysFails, place, message)
        .label("always fails")
        .note("SCXML takes such a condition for false")
        .help("write a condition, or remove the transition")
}
