//! The root's own transitions, which SCXML has no place for.
//!
//! A document that we write has copies of them at the end of each state in `<scxml>` that isn't final, marked with
//! `statemark:root="1"`, `"2"` and so on. Here they become the root's again. Copies that aren't alike mean something that
//! the root's transitions can't say, and are refused.

use std::mem;

use super::ast::{Kind, State, Transition};
use super::reader::Reader;
use super::report::bad_attribute;

/// Moves the copies out of the states in the document, and one of each to the document itself.
pub(super) fn collect(document: &mut State, reader: &mut Reader<'_>) {
    let mut first: Option<Vec<Transition>> = None;
    for state in &mut document.children {
        if !matches!(state.kind, Kind::State | Kind::Parallel) {
            continue;
        }
        let copies = copies(state, reader);
        let Some(wanted) = &first else {
            first = Some(copies);
            continue;
        };
        let pairs = wanted.iter().zip(&copies);
        let differs = pairs
            .into_iter()
            .find(|(one, other)| one.words() != other.words());
        if let Some((one, other)) = differs {
            let found = bad_attribute::copies_differ(place(other), one.span);
            reader.diags.push(found);
        } else if let Some(lost) = wanted.get(copies.len()) {
            reader
                .diags
                .push(bad_attribute::copy_missing(state.tag, lost.span));
        } else if let Some(more) = copies.get(wanted.len()) {
            let found = bad_attribute::copy_alone(place(more));
            reader.diags.push(found);
        }
    }
    document.transitions = first.unwrap_or_default();
}

fn place(transition: &Transition) -> crate::source::Span {
    let mark = transition.of_root.as_ref();
    mark.map_or(transition.span, |mark| mark.span)
}

/// The marked transitions of a state, which keeps the others. They are numbered from one, and stand last.
fn copies(state: &mut State, reader: &mut Reader<'_>) -> Vec<Transition> {
    let (copies, own): (Vec<_>, Vec<_>) = mem::take(&mut state.transitions)
        .into_iter()
        .partition(|transition| transition.of_root.is_some());
    let last_own = own.last().map_or(0, |transition| transition.span.start);
    for (index, copy) in copies.iter().enumerate() {
        let Some(mark) = &copy.of_root else { continue };
        if mark.value != (index + 1).to_string() {
            reader
                .diags
                .push(bad_attribute::copy_number(mark, index + 1));
        } else if copy.span.start < last_own {
            reader.diags.push(bad_attribute::copy_in_front(mark.span));
        }
    }
    state.transitions = own;
    copies
}
