//! History: `X[H]` and `X[H*]`, or `[H]` and `[H*]` inside the body of `X`.
//!
//! However often it is written, a composite has one history of each kind. It is a state of the composite that is never
//! active; its initial transition is where it leads while nothing is remembered: `[H] --> a`, else where the composite
//! begins.

use std::collections::BTreeMap;

use super::draft::{Draft, DraftInitial, StateIndex};
use super::report;
use super::spec::Context;
use crate::diag::Diags;
use crate::front::definition::ast::Kind;
use crate::source::{Span, Spanned};

/// The histories that a diagram mentions.
#[derive(Debug, Default)]
pub(super) struct Histories {
    by_composite: BTreeMap<(StateIndex, bool), StateIndex>,
    /// By kind, the body where `[H]` stands first, and its place.
    bare: BTreeMap<bool, (StateIndex, Span)>,
}

/// The id of the composite, empty for the body around, and whether its history is deep. `None` for any other id.
pub(super) fn split(id: &str) -> Option<(&str, bool)> {
    let shallow = id.strip_suffix("[H]").map(|of| (of, false));
    shallow.or_else(|| id.strip_suffix("[H*]").map(|of| (of, true)))
}

impl Histories {
    /// The history of a composite; made at this place if it is new.
    pub(super) fn of(
        &mut self,
        composite: StateIndex,
        deep: bool,
        span: Span,
        draft: &mut Draft,
    ) -> StateIndex {
        if let Some(&known) = self.by_composite.get(&(composite, deep)) {
            return known;
        }
        let mark = if deep { "[H*]" } else { "[H]" };
        let id = format!("{}{mark}", draft.get(composite).id);
        let state = match draft.state(&id) {
            Some(_) => draft.implied_state(&id, span, composite, composite),
            None => draft.intern_state(&id, span, composite),
        };
        draft.get_mut(state).kind = Some(Kind::History);
        draft.get_mut(state).deep = deep;
        self.by_composite.insert((composite, deep), state);
        state
    }

    /// Notes a `[H]` in a body; Mermaid draws only one of each kind in the whole diagram.
    pub(super) fn note_bare(
        &mut self,
        scope: StateIndex,
        deep: bool,
        span: Span,
        draft: &Draft,
        diags: &mut Diags,
    ) {
        let &mut (first, place) = self.bare.entry(deep).or_insert((scope, span));
        if first != scope {
            let ids = [first, scope].map(|scope| draft.get(scope).id.as_str());
            diags.push(report::twin_history::twin_history(ids, deep, place, span));
        }
    }

    /// Leads to the composite itself where its history has nothing to remember, because every state that its body
    /// mentions belongs to another one.
    pub(super) fn drop_idle(&self, draft: &mut Draft) {
        let children = draft.children_by_state();
        for (&(composite, _), &history) in &self.by_composite {
            let mut inner = children.get(composite).into_iter().flatten().copied();
            let remembers = |child: StateIndex| draft.get(child).kind != Some(Kind::History);
            if inner.any(remembers) {
                continue;
            }
            for transition in &mut draft.transitions {
                for target in &mut transition.targets {
                    if *target == history {
                        *target = composite;
                    }
                }
            }
            draft.drop_state(history);
        }
    }
}

/// Gives every history its default transition.
pub(super) fn settle_defaults(draft: &mut Draft, context: &mut Context<'_>) {
    let children = draft.children_by_state();
    for history in 1..draft.states.len() {
        let state = draft.get(history);
        if state.kind != Some(Kind::History) || state.dropped {
            continue;
        }
        let parent = state.parent;
        let drawn = std::mem::take(&mut draft.get_mut(history).initials);
        let mut kept: Vec<DraftInitial> = Vec::new();
        for initial in drawn {
            let lies_outside = |&target: &StateIndex| {
                target == history || target == parent || !draft.is_within(target, parent)
            };
            if let Some(target) = initial.targets.iter().copied().find(lies_outside) {
                let target = draft.get(target);
                let name = Spanned::new(target.id.clone(), initial.span);
                let around = &draft.get(parent).id;
                let diagnostic = report::unknown_state::outside_scope(&name, around, target.span);
                context.diags.push(diagnostic);
            } else {
                kept.push(initial);
            }
        }
        if let Some((first, others)) = kept.split_first()
            && let Some(other) = others.iter().find(|other| other.targets != first.targets)
        {
            let id = &draft.get(history).id;
            let diagnostic = report::misplaced_history::two_defaults(id, first.span, other.span);
            context.diags.push(diagnostic);
        }
        if kept.is_empty() {
            let siblings = children.get(parent).map_or(&[][..], Vec::as_slice);
            kept.extend(inferred(draft, parent, siblings));
        }
        draft.get_mut(history).initials = kept;
    }
}

/// Where a composite begins: what its history leads to while nothing is remembered.
fn inferred(draft: &Draft, parent: StateIndex, siblings: &[StateIndex]) -> Option<DraftInitial> {
    let is_history = |state: StateIndex| draft.get(state).kind == Some(Kind::History);
    let begins =
        |initial: &&DraftInitial| !initial.targets.iter().any(|&target| is_history(target));
    if let Some(initial) = draft.get(parent).initials.iter().find(begins) {
        return Some(DraftInitial {
            inferred: true,
            ..initial.clone()
        });
    }
    let mut children = siblings.iter().copied().filter(|&child| !is_history(child));
    let targets: Vec<StateIndex> = if draft.get(parent).kind == Some(Kind::Parallel) {
        children.collect()
    } else {
        children.next().into_iter().collect()
    };
    (!targets.is_empty()).then(|| DraftInitial {
        span: draft.get(parent).span,
        targets,
        actions: Vec::new(),
        inferred: true,
    })
}
