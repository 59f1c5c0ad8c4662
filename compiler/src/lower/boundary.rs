//! Where a scope begins and ends when the spec doesn't say it.
//!
//! A scope that must be entered by default begins at its only child that nothing leads to. A leaf of a diagram with no way
//! out, its ancestors' included, gets an implied `--> [*]`.

use std::collections::BTreeSet;

use super::draft::{
    Draft, DraftInitial, DraftTransition, DraftTrigger, ROOT, StateIndex, document_order,
};
use super::report::inferred_initial_state::Place;
use super::spec::Context;
use super::trigger::end_event;
use super::words::word_key;
use super::{history, report};
use crate::front::definition::ast::Kind;
use crate::source::{Span, Spanned};

/// Gives dead ends of a diagram their way out.
pub(super) fn close_dead_ends(draft: &mut Draft, context: &mut Context<'_>) {
    let sources: BTreeSet<StateIndex> = draft
        .transitions
        .iter()
        .filter(|transition| {
            transition
                .targets
                .iter()
                .any(|&target| target != transition.source)
        })
        .map(|transition| transition.source)
        .collect();
    let done: BTreeSet<StateIndex> = draft
        .transitions
        .iter()
        .filter(|transition| takes_done(transition, draft))
        .map(|transition| transition.source)
        .collect();
    for state in 1..draft.states.len() {
        let is_leaf = !draft.get(state).has_body
            && !matches!(draft.get(state).kind, Some(Kind::Final | Kind::History))
            && !draft.get(state).dropped;
        if !is_leaf
            || draft
                .ancestry(state)
                .any(|around| sources.contains(&around))
        {
            continue;
        }
        let (id, span) = (draft.get(state).id.clone(), draft.get(state).span);
        let is_told = !context.broken && !context.diags.covers(span);
        let event = end_event(draft, state, draft.get(state).parent);
        if done.contains(&state) {
            // Its own `done` leads nowhere, and a second one would contradict it.
            if is_told {
                context
                    .diags
                    .push(report::dead_end::takes_done(&id, &event, span));
            }
            continue;
        }
        if is_told {
            let statement = draft.get(state).last_statement;
            let prefix = line_prefix(statement, context).filter(|_| ends_line(statement, context));
            context.diags.push(report::dead_end::dead_end(
                (&id, &event),
                span,
                statement,
                borrowed(prefix.as_ref()),
            ));
        }
        add_way_out(draft, state);
    }
}

/// Leads from a state to an end of its own, which has the state's verdict.
fn add_way_out(draft: &mut Draft, state: StateIndex) {
    let (span, parent) = (draft.get(state).span, draft.get(state).parent);
    let id = format!("{}_end", draft.get(state).id);
    let end = draft.implied_state(&id, span, parent, state);
    draft.get_mut(end).kind = Some(Kind::Final);
    let verdict = std::mem::take(&mut draft.get_mut(state).verdict);
    draft.get_mut(end).verdict = verdict;
    let mut transition = DraftTransition::new(span, state, Some(end));
    transition.implied = true;
    draft.transitions.push(transition);
}

/// Whether a transition takes the event that a way out that nobody drew would wait for.
fn takes_done(transition: &DraftTransition, draft: &Draft) -> bool {
    let done = end_event(
        draft,
        transition.source,
        draft.get(transition.source).parent,
    );
    match &transition.trigger {
        DraftTrigger::Events(events) => draft
            .event(&done)
            .is_some_and(|done| events.contains(&done)),
        DraftTrigger::Commented { name, .. } => word_key(&name.value) == word_key(&done),
        DraftTrigger::Missing
        | DraftTrigger::Pattern(_)
        | DraftTrigger::Toward(_)
        | DraftTrigger::Delayed(_)
        | DraftTrigger::Eventless
        | DraftTrigger::Completion => false,
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
    let mut entered = entered_by_default(draft);
    let led_to = led_to_in_scope(draft);
    let children = draft.children_by_state();
    // Outer scopes first: where they begin by inference is entered by default, too.
    for scope in document_order(&children) {
        let inner = children.get(scope).into_iter().flatten().copied();
        let inner: Vec<StateIndex> = inner
            .filter(|&child| draft.get(child).kind != Some(Kind::History))
            .collect();
        if inner.is_empty() || draft.get(scope).kind == Some(Kind::Parallel) {
            // Regions begin all at once.
            entered.extend(inner);
            continue;
        }
        let inner = inner.as_slice();
        if !begins(draft, scope, inner, context)
            && (scope == ROOT || entered.contains(&scope))
            && let Some(inferred) = infer_initial(draft, scope, inner, &led_to, context)
        {
            entered.insert(inferred);
        } else if draft.get(scope).initials.is_empty()
            && let Some(&first) = inner.first()
        {
            push_initial(draft, scope, first);
        }
    }
    history::settle_defaults(draft, context);
}

/// Whether the spec says where a scope begins, though perhaps wrongly.
fn begins(
    draft: &mut Draft,
    scope: StateIndex,
    children: &[StateIndex],
    context: &mut Context<'_>,
) -> bool {
    let drops = drop_initials_outside(draft, scope, context);
    if drops && draft.get(scope).initials.is_empty() {
        children
            .first()
            .into_iter()
            .for_each(|&first| push_initial(draft, scope, first));
        return true;
    }
    !draft.get(scope).initials.is_empty()
}

/// Begins a scope at its only child that nothing in it leads to, and gives that child. Where there is none, or several,
/// that is told.
fn infer_initial(
    draft: &mut Draft,
    scope: StateIndex,
    children: &[StateIndex],
    led_to: &BTreeSet<StateIndex>,
    context: &mut Context<'_>,
) -> Option<StateIndex> {
    let free = |child: &StateIndex| !led_to.contains(child);
    let candidates: Vec<StateIndex> = children.iter().copied().filter(free).collect();
    let named = (scope != ROOT).then(|| draft.place_name(scope));
    if let [only] = candidates.as_slice() {
        let target = draft.get(*only);
        // What is wrong with the state itself has been told, such as a `[*` that was meant as the start.
        if !context.broken && !context.diags.covers(target.span) {
            let prefix = line_prefix(target.first_statement, context);
            let place = if context.is_drawn {
                Place::Diagram(borrowed(prefix.as_ref()))
            } else {
                Place::Definition
            };
            let diagnostic = report::inferred_initial_state::inferred_initial_state(
                named.as_deref(),
                target,
                &place,
            );
            context.diags.push(diagnostic);
        }
        push_initial(draft, scope, *only);
        return Some(*only);
    }
    if context.broken {
        return None;
    }
    let span = draft.get(scope).span;
    let names: Vec<&str> = candidates
        .iter()
        .map(|&child| draft.get(child).id.as_str())
        .collect();
    let first = children.first().map_or("", |&first| &draft.get(first).id);
    let diagnostic =
        report::no_initial_state::no_initial_state(named.as_deref(), span, &names, first);
    context.diags.push(diagnostic);
    None
}

/// A scope can begin only at a state inside it. A body may name a state that belongs to another one. Tells whether
/// there was one.
fn drop_initials_outside(draft: &mut Draft, scope: StateIndex, context: &mut Context<'_>) -> bool {
    let is_inside = |initial: &DraftInitial| {
        let mut targets = initial.targets.iter();
        targets.all(|&target| target != scope && draft.is_within(target, scope))
    };
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
        let lies_outside =
            |&target: &StateIndex| target == scope || !draft.is_within(target, scope);
        let Some(target) = initial.targets.iter().copied().find(lies_outside) else {
            continue;
        };
        let target = draft.get(target);
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
        targets: vec![target],
        actions: Vec::new(),
        inferred: true,
    });
}

/// The scopes that some transition or initial transition leads to, so that they are entered by default.
fn entered_by_default(draft: &Draft) -> BTreeSet<StateIndex> {
    let targets = draft
        .transitions
        .iter()
        .flat_map(|transition| transition.targets.iter());
    let initials = draft
        .states
        .iter()
        .flat_map(|state| &state.initials)
        .flat_map(|initial| initial.targets.iter());
    // Who leads to the history of a state leads to the state.
    let of_history = |&state: &StateIndex| {
        let remembers = draft.get(state).kind == Some(Kind::History);
        [Some(state), remembers.then(|| draft.get(state).parent)]
    };
    let all = targets.chain(initials);
    all.flat_map(of_history).flatten().collect()
}

/// The states that a transition leads to, or into, from elsewhere in the scope around them.
fn led_to_in_scope(draft: &Draft) -> BTreeSet<StateIndex> {
    let mut found = BTreeSet::new();
    for transition in &draft.transitions {
        let sources: BTreeSet<StateIndex> = draft.ancestry(transition.source).collect();
        for &target in &transition.targets {
            // Outermost first, so the first state that doesn't hold the source is the one beside it.
            let path: Vec<StateIndex> = draft.ancestry(target).collect();
            found.extend(
                path.into_iter()
                    .rev()
                    .find(|state| !sources.contains(state)),
            );
        }
    }
    found
}
