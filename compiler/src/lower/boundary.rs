//! Where a scope begins and ends when the spec doesn't say it.
//!
//! A scope that must be entered by default begins at its only child that nothing leads to. A leaf of a diagram with no way
//! out, its ancestors' included, gets an implied `--> [*]`.

use std::collections::BTreeSet;

use super::draft::{Draft, DraftInitial, DraftTransition, DraftTrigger, ROOT, StateIndex};
use super::report;
use super::spec::Context;
use crate::front::definition::ast::Kind;
use crate::source::{Span, Spanned};

/// Gives dead ends of a diagram their way out.
pub(super) fn close_dead_ends(draft: &mut Draft, context: &mut Context<'_>) {
    let sources: BTreeSet<StateIndex> = draft
        .transitions
        .iter()
        .filter(|transition| {
            transition
                .target
                .is_some_and(|target| target != transition.source)
        })
        .map(|transition| transition.source)
        .collect();
    for state in 1..draft.states.len() {
        let is_leaf = !draft.get(state).has_body
            && draft.get(state).kind != Some(Kind::Final)
            && !draft.get(state).dropped;
        if !is_leaf
            || draft
                .ancestry(state)
                .any(|around| sources.contains(&around))
        {
            continue;
        }
        let (id, span, parent) = {
            let state = draft.get(state);
            (state.id.clone(), state.span, state.parent)
        };
        let statement = draft.get(state).last_statement;
        if !context.broken && !context.diags.covers(span) {
            let prefix = line_prefix(statement, context).filter(|_| ends_line(statement, context));
            context.diags.push(report::dead_end::dead_end(
                &id,
                span,
                statement,
                borrowed(prefix.as_ref()),
            ));
        }
        let end = draft.implied_state(&format!("{id}_end"), span, parent, state);
        draft.get_mut(end).kind = Some(Kind::Final);
        let verdict = std::mem::take(&mut draft.get_mut(state).verdict);
        draft.get_mut(end).verdict = verdict;
        let mut transition = DraftTransition::new(span, state, Some(end));
        transition.implied = true;
        transition.trigger = DraftTrigger::Missing;
        draft.transitions.push(transition);
    }
}

/// The break that ends the line of a statement, and what stands before the statement on it, fit to begin another line:
/// quote marks stay, list markers become blanks. `None` where another statement stands before it.
fn line_prefix(statement: Span, context: &Context<'_>) -> Option<(&'static str, String)> {
    let file = context.sources.file(statement.file);
    let line = file.line_range(file.line_index(statement.start))?;
    let before = file.text().get(line.start..statement.start as usize)?;
    let plain = before.trim_start_matches('\u{feff}');
    let is_prefix = |c: char| c.is_whitespace() || c == '>';
    let is_crlf = file.text().get(line.start..).is_some_and(|rest| {
        rest.split_once('\n')
            .is_some_and(|(line, _)| line.ends_with('\r'))
    });
    let line_break = if is_crlf { "\r\n" } else { "\n" };
    plain
        .chars()
        .all(is_prefix)
        .then(|| (line_break, plain.to_owned()))
}

fn borrowed<'l>(line: Option<&'l (&'static str, String)>) -> Option<(&'l str, &'l str)> {
    line.map(|(line_break, prefix)| (*line_break, prefix.as_str()))
}

/// Whether nothing but blanks stands behind a statement on its line.
fn ends_line(statement: Span, context: &Context<'_>) -> bool {
    let file = context.sources.file(statement.file);
    let line = file.line_range(file.line_index(statement.end.saturating_sub(1)));
    let rest = line.and_then(|line| file.text().get(statement.end as usize..line.end));
    rest.is_some_and(|rest| rest.trim().is_empty())
}

/// Gives every scope its initial transition, or says that it has none.
pub(super) fn open_scopes(draft: &mut Draft, context: &mut Context<'_>) {
    let entered = entered_by_default(draft);
    for (scope, children) in draft.children_by_state().into_iter().enumerate() {
        let Some(&first_child) = children.first() else {
            continue;
        };
        if drop_initials_outside(draft, scope, context) && draft.get(scope).initials.is_empty() {
            // Where it begins has been said, though wrongly.
            push_initial(draft, scope, first_child);
            continue;
        }
        let initials = draft.get(scope).initials.clone();
        if let Some(first) = initials.first() {
            let other = initials
                .iter()
                .find(|initial| initial.target != first.target);
            if let Some(other) = other.filter(|_| !context.broken) {
                let names = (
                    draft.get(first.target).id.as_str(),
                    draft.get(other.target).id.as_str(),
                );
                let diagnostic = report::several_initial_states::several_initial_states(
                    names, first.span, other.span,
                );
                context.diags.push(diagnostic);
            }
            continue;
        }
        if scope != ROOT && !entered.contains(&scope) {
            push_initial(draft, scope, first_child);
            continue;
        }
        let candidates: Vec<StateIndex> = children
            .into_iter()
            .filter(|&child| !has_incoming(draft, child, scope))
            .collect();
        let named = (scope != ROOT).then(|| draft.get(scope).id.clone());
        if let [only] = candidates.as_slice() {
            let target = draft.get(*only);
            if !context.broken {
                let prefix = line_prefix(target.first_statement, context);
                context
                    .diags
                    .push(report::inferred_initial_state::inferred_initial_state(
                        named.as_deref(),
                        target,
                        borrowed(prefix.as_ref()),
                    ));
            }
            push_initial(draft, scope, *only);
        } else if context.broken || draft.get(scope).kind == Some(Kind::Parallel) {
            // Regions begin all at once; that they can't be compiled yet has been said.
            push_initial(draft, scope, first_child);
        } else {
            let span = draft.get(scope).span;
            let names: Vec<&str> = candidates
                .iter()
                .map(|&child| draft.get(child).id.as_str())
                .collect();
            context
                .diags
                .push(report::no_initial_state::no_initial_state(
                    named.as_deref(),
                    span,
                    &names,
                    &draft.get(first_child).id,
                ));
            push_initial(draft, scope, first_child);
        }
    }
}

/// A scope can begin only at a state inside it. A body may name a state that belongs to another one. Tells whether
/// there was one.
fn drop_initials_outside(draft: &mut Draft, scope: StateIndex, context: &mut Context<'_>) -> bool {
    let is_inside =
        |initial: &DraftInitial| initial.target != scope && draft.is_within(initial.target, scope);
    let (inside, outside): (Vec<_>, Vec<_>) = draft
        .get(scope)
        .initials
        .iter()
        .cloned()
        .partition(is_inside);
    let drops = !outside.is_empty();
    // Where two bodies claim the state, that has been said.
    for initial in outside
        .into_iter()
        .filter(|initial| !context.diags.covers(initial.span))
        .collect::<Vec<_>>()
    {
        let target = draft.get(initial.target);
        let name = Spanned::new(target.id.clone(), initial.span);
        let scope = draft.get(scope);
        context.diags.push(report::unknown_state::outside_scope(
            &name,
            &scope.id,
            target.span,
        ));
    }
    draft.get_mut(scope).initials = inside;
    drops
}

fn push_initial(draft: &mut Draft, scope: StateIndex, target: StateIndex) {
    let span = draft.get(target).span;
    draft.get_mut(scope).initials.push(DraftInitial {
        span,
        target,
        actions: Vec::new(),
    });
}

/// The scopes that some transition or initial transition leads to, so that they are entered by default.
fn entered_by_default(draft: &Draft) -> BTreeSet<StateIndex> {
    let targets = draft
        .transitions
        .iter()
        .filter_map(|transition| transition.target);
    let initials = draft
        .states
        .iter()
        .flat_map(|state| &state.initials)
        .map(|initial| initial.target);
    targets.chain(initials).collect()
}

/// Whether a transition from elsewhere leads to a child, or to a state inside it.
fn has_incoming(draft: &Draft, child: StateIndex, scope: StateIndex) -> bool {
    draft.transitions.iter().any(|transition| {
        transition
            .target
            .is_some_and(|target| draft.is_within(target, child))
            && !draft.is_within(transition.source, child)
            && (scope == ROOT || draft.is_within(transition.source, scope))
    })
}
