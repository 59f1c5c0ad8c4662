//! Targets in a definition: ids of states, and XState's notations for them.
//!
//! | written | means |
//! |---|---|
//! | `paid` | the state of that id |
//! | `.paid` | a state inside the source, which is not left |
//! | `#paid`, `#order.paid` | the state of that id, wherever it is |
//! | `order.paid` | `paid`, whose parent is `order` |
//!
//! Ids are unique in a machine, so the last name of a path is the state, and the names before it must be those scope it.

use super::draft::{Draft, ROOT, StateHandle};
use super::messages::unknown_state;
use super::spec::Context;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::source::Spanned;

/// The targets of a branch.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) states: Vec<StateHandle>,
    /// True if each was written as a child of the source.
    pub(super) inside: bool,
}

/// Returns the states of some names, if each names one, and reports those that don't.
///
/// A state that can't be active together with an earlier one is reported and left out.
pub(super) fn find_states(
    names: &[Spanned<String>],
    source: StateHandle,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Found> {
    let mut found = Found {
        states: Vec::new(),
        inside: !names.is_empty(),
    };
    for name in names {
        let state = find_state(name, source, draft, context)?;
        found.inside &= name.value.starts_with('.');
        let excludes = |&other: &StateHandle| !are_orthogonal(other, state, draft);
        if let Some(other) = found.states.iter().copied().find(excludes) {
            let diagnostic =
                targets_in_one_region(name, &draft.get(state).ir.id, &draft.get(other).ir.id);
            context.diags.push(diagnostic);
            continue;
        }
        found.states.push(state);
    }
    Some(found)
}

/// Returns the state that a definition names, or reports the name.
pub(super) fn find_state(
    name: &Spanned<String>,
    source: StateHandle,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<StateHandle> {
    let found = draft
        .state(&name.value)
        .or_else(|| state_by_path(&name.value, source, draft))
        .filter(|&state| !draft.get(state).ir.implied);
    if found.is_none() {
        let known = context
            .diags
            .comparable(draft.state_ids(), draft.states.len());
        let known: Vec<&str> = known.collect();
        let quote = opening_quote(name, context);
        context.diags.push(unknown_state(name, &quote, &known));
    }
    found
}

/// Returns what stands before a name in its span: the quote of JSON, or of an expression inside JSON.
fn opening_quote(name: &Spanned<String>, context: &Context<'_>) -> String {
    let written = context.sources.text(name.span);
    let before = written.split_once(name.value.as_str());
    before.map_or("\"", |(before, _)| before).to_owned()
}

fn state_by_path(path: &str, source: StateHandle, draft: &Draft) -> Option<StateHandle> {
    let (names, child) = match (path.strip_prefix('.'), path.strip_prefix('#')) {
        (Some(names), _) => (names, true),
        (None, Some(names)) => (names, false),
        (None, None) => (path, false),
    };
    let mut names = names.split('.').rev();
    let state = draft.state(names.next()?)?;
    let mut scope = draft.parent(state);
    for name in names {
        if draft.get(scope).ir.id != name {
            return None;
        }
        scope = draft.parent(scope);
    }
    (!child || scope == source).then_some(state)
}

/// Returns whether two states lie in different regions of a parallel state.
fn are_orthogonal(one: StateHandle, other: StateHandle, draft: &Draft) -> bool {
    if draft.is_within(one, other) || draft.is_within(other, one) {
        return false;
    }
    let mut ancestry = draft.ancestry(one);
    let common = ancestry.find(|&state| draft.is_within(other, state));
    draft.get(common.unwrap_or(ROOT)).kind == Some(Kind::Parallel)
}

fn targets_in_one_region(name: &Spanned<String>, id: &str, other: &str) -> Diagnostic {
    let message = format!("`{other}` and `{id}` can't be active together");
    Diagnostic::new(Code::TargetsInOneRegion, name.span, message)
        .label(format!("excludes `{other}`"))
        .note("several targets of one transition lie in different regions of a parallel state")
        .help("lead to one of them, or put each into a region of its own")
}
