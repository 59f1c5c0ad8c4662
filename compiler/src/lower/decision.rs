//! Decisions: waiting states where what happens next is up to an event.
//!
//! A scope with several `[*] -->` that lead to different states begins in one: each arrow is a transition of it. (The
//! other decisions are choices with a branch that waits for an event; see [`super::choice`].)

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, DraftInitial, DraftTransition, ROOT, StateIndex};
use super::spec::Context;
use super::{label, report, wording};
use crate::source::{Span, Spanned};

/// One `[*] -->`.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) scope: StateIndex,
    pub(super) target: StateIndex,
    pub(super) label: Option<Spanned<String>>,
    pub(super) span: Span,
}

/// Begins every scope that has several beginnings in a decision.
pub(super) fn begin(beginnings: &[Beginning], draft: &mut Draft, context: &mut Context<'_>) {
    let mut by_scope: BTreeMap<StateIndex, Vec<&Beginning>> = BTreeMap::new();
    for beginning in beginnings {
        // One that leads out of its scope is told elsewhere.
        if draft.is_within(beginning.target, beginning.scope) {
            by_scope.entry(beginning.scope).or_default().push(beginning);
        }
    }
    for (scope, all) in by_scope {
        let targets: BTreeSet<StateIndex> = all.iter().map(|one| one.target).collect();
        if let Some(first) = all.first().filter(|_| targets.len() > 1) {
            decide(scope, first, &all, draft, context);
        }
    }
}

fn decide(
    scope: StateIndex,
    first: &Beginning,
    all: &[&Beginning],
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let wanted = match scope {
        ROOT => "start".to_owned(),
        scope => format!("{}_start", draft.get(scope).id),
    };
    let start = draft.implied_state(&wanted, first.span, scope, scope);
    let name = |beginning: &Beginning| draft.get(beginning.target).id.as_str();
    // Where something is broken, the second beginning may belong elsewhere.
    let other = all.iter().find(|other| other.target != first.target);
    if let Some(other) = other.filter(|_| !context.diags.has_errors()) {
        let diagnostic = report::several_initial_states::several_initial_states(
            (name(first), name(other)),
            &draft.get(start).id,
            first.span,
            other.span,
        );
        context.diags.push(diagnostic);
    }
    let mut said: BTreeSet<(StateIndex, Option<&str>)> = BTreeSet::new();
    for beginning in all {
        let words = beginning.label.as_ref().map(|text| text.value.as_str());
        if !said.insert((beginning.target, words)) {
            continue;
        }
        let mut transition = DraftTransition::new(beginning.span, start, Some(beginning.target));
        if let Some(text) = &beginning.label {
            let label = label::parse(&text.value, |name| context.declares_action(name));
            wording::apply(&mut transition, text, &label, draft, context);
        }
        draft.transitions.push(transition);
    }
    draft.get_mut(scope).initials = vec![DraftInitial {
        span: first.span,
        targets: vec![start],
        actions: Vec::new(),
        inferred: true,
    }];
}
