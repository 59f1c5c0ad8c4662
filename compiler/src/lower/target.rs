//! Where a branch of a definition leads: ids of states, and XState's ways to write them.
//!
//! | written | means |
//! |---|---|
//! | `paid` | the state of that id |
//! | `.paid` | a state inside the source, which is not left |
//! | `#paid`, `#order.paid` | the state of that id, wherever it stands |
//! | `order.paid` | `paid`, whose parent is `order` |
//!
//! Ids are unique in a machine, so the last name of a path is the state, and the names before it must be those around it.

use super::draft::{Draft, ROOT, StateIndex};
use super::messages::unknown_state;
use super::spec::Context;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::source::Spanned;

/// The states that a branch leads to.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) states: Vec<StateIndex>,
    /// Whether each was written as a child of the source.
    pub(super) inside: bool,
}

/// The states of that many names, if each is one; what is wrong is told. One that excludes another is left out.
pub(super) fn find(
    names: &[Spanned<String>],
    source: StateIndex,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Found> {
    let mut found = Found {
        states: Vec::new(),
        inside: !names.is_empty(),
    };
    for name in names {
        let state = find_one(name, source, draft, context)?;
        found.inside &= name.value.starts_with('.');
        let apart = |&other: &StateIndex| !stand_side_by_side(other, state, draft);
        if let Some(other) = found.states.iter().copied().find(apart) {
            let diagnostic =
                targets_in_one_region(name, &draft.get(state).id, &draft.get(other).id);
            context.diags.push(diagnostic);
            continue;
        }
        found.states.push(state);
    }
    Some(found)
}

/// The state that a definition names, or a finding.
pub(super) fn find_one(
    name: &Spanned<String>,
    source: StateIndex,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<StateIndex> {
    let found = draft
        .state(&name.value)
        .or_else(|| by_path(&name.value, source, draft))
        .filter(|&state| !draft.get(state).implied);
    if found.is_none() {
        let known = context.comparable(draft.state_ids(), draft.states.len());
        let diagnostic = unknown_state(name, known);
        context.diags.push(diagnostic);
    }
    found
}

fn by_path(path: &str, source: StateIndex, draft: &Draft) -> Option<StateIndex> {
    let (names, child) = match (path.strip_prefix('.'), path.strip_prefix('#')) {
        (Some(names), _) => (names, true),
        (None, Some(names)) => (names, false),
        (None, None) => (path, false),
    };
    let mut names = names.split('.').rev();
    let state = draft.state(names.next()?)?;
    let mut around = draft.get(state).parent;
    for name in names {
        if draft.get(around).id != name {
            return None;
        }
        around = draft.get(around).parent;
    }
    (!child || around == source).then_some(state)
}

/// Whether two states can be active together without one of them around the other: what holds both is parallel.
fn stand_side_by_side(one: StateIndex, other: StateIndex, draft: &Draft) -> bool {
    if draft.is_within(one, other) || draft.is_within(other, one) {
        return false;
    }
    let mut around = draft.ancestry(one);
    let both = around.find(|&state| draft.is_within(other, state));
    draft.get(both.unwrap_or(ROOT)).kind == Some(Kind::Parallel)
}

fn targets_in_one_region(name: &Spanned<String>, id: &str, other: &str) -> Diagnostic {
    let message = format!("`{other}` and `{id}` can't be active together");
    Diagnostic::new(Code::TargetsInOneRegion, name.span, message)
        .label(format!("excludes `{other}`"))
        .note("several targets of one transition lie in different regions of a parallel state")
        .help("lead to one of them, or put each into a region of its own")
}
