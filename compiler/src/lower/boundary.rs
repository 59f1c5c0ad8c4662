//! Where a scope begins and ends when the spec doesn't say it.
//!
//! A scope that must be entered by default begins at its only child that nothing leads to. A leaf of a diagram with no way
//! out, its ancestors' included, gets an implied `--> [*]`.

use std::collections::BTreeSet;

use super::draft::{
    Draft, DraftInitial, DraftState, DraftTransition, DraftTrigger, ROOT, StateIndex,
    document_order,
};
use super::messages::{history_with_two_defaults, initial_outside_scope};
use super::spec::Context;
use super::trigger::end_event;
use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::front::words::word_key;
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
                    .push(dead_end_that_takes_done(&id, &event, span));
            }
            continue;
        }
        if is_told {
            let statement = draft.get(state).last_statement;
            let prefix = line_prefix(statement, context).filter(|_| ends_line(statement, context));
            context.diags.push(dead_end(
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
    settle_defaults(draft, context);
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
            let diagnostic = inferred_initial_state(named.as_deref(), target, &place);
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
    let diagnostic = no_initial_state(named.as_deref(), span, &names, first);
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
        context
            .diags
            .push(initial_outside_scope(&name, &scope.id, target.span));
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

/// Gives every history its default transition.
fn settle_defaults(draft: &mut Draft, context: &mut Context<'_>) {
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
                let diagnostic = initial_outside_scope(&name, around, target.span);
                context.diags.push(diagnostic);
            } else {
                kept.push(initial);
            }
        }
        if let Some((first, others)) = kept.split_first()
            && let Some(other) = others.iter().find(|other| other.targets != first.targets)
        {
            let id = &draft.get(history).id;
            let diagnostic = history_with_two_defaults(id, first.span, other.span);
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

fn dead_end_that_takes_done(id: &str, event: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code::DeadEnd, span, format!("nothing leads out of `{id}`"))
        .label("a dead end")
        .note(format!("`{id}` takes the event `{event}` itself and stays"))
        .help("lead on from it, or to `[*]`, on another event")
}

/// A leaf of a diagram without a way out. `line`: the break between lines, and what a new line behind `statement` begins with.
fn dead_end(
    (id, event): (&str, &str),
    span: Span,
    statement: Span,
    line: Option<(&str, &str)>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::DeadEnd, span, format!("nothing leads out of `{id}`"))
        .label("a dead end")
        .note(format!(
            "the machine is made as if it said `{id} --> [*] : {event}`"
        ));
    match line {
        Some((line_break, prefix)) => diagnostic.fix(
            Applicability::Safe,
            format!("say that `{id}` is the end"),
            statement.after(),
            format!("{line_break}{prefix}{id} --> [*] : {event}"),
        ),
        None => diagnostic.help(format!("add `{id} --> [*] : {event}`, or lead on from it")),
    }
}

/// Where a machine says how it begins.
enum Place<'p> {
    /// In its diagram. With the break between lines, and what a new line beside the state's first statement begins with.
    Diagram(Option<(&'p str, &'p str)>),
    /// In its definition, which has no lines to add.
    Definition,
}

/// A scope (`None`: the machine) begins at a state without saying so.
fn inferred_initial_state(
    scope: Option<&str>,
    first: &DraftState,
    place: &Place<'_>,
) -> Diagnostic {
    let whole = scope.map_or_else(|| "the machine".to_owned(), |scope| scope.to_owned());
    let message = format!(
        "nothing says where {whole} begins, so `{}` is taken",
        first.id
    );
    let diagnostic = Diagnostic::new(Code::InferredInitialState, first.span, message)
        .label("the only state in it that nothing leads to");
    let line = format!("[*] --> {}", first.id);
    match *place {
        Place::Diagram(Some((line_break, prefix))) => diagnostic.fix(
            Applicability::Safe,
            format!("add `{line}`"),
            first.first_statement.before(),
            format!("{line}{line_break}{prefix}"),
        ),
        Place::Diagram(None) => diagnostic.help(format!("add `{line}`")),
        Place::Definition => diagnostic.help(format!("add `\"initial\": \"{}\"`", first.id)),
    }
}

/// A machine (`scope` is `None`) or a compound state has no initial state, and none can be inferred. `first`: the one that
/// stands first in the text.
fn no_initial_state(
    scope: Option<&str>,
    span: Span,
    candidates: &[&str],
    first: &str,
) -> Diagnostic {
    let message = match scope {
        Some(scope) => format!("nothing says where {scope} begins"),
        None => "nothing says where the machine begins".to_owned(),
    };
    let example = candidates.first().copied().unwrap_or(first);
    let diagnostic = Diagnostic::new(Code::NoInitialState, span, message)
        .label("no `[*] -->` in here")
        .help(format!("write, for example, `[*] --> {example}` in the diagram, or `\"initial\": \"{example}\"` in the definition"));
    match candidates {
        [] => diagnostic
            .note("something leads to each of its states, so none is the obvious first one"),
        names => {
            let list: Vec<String> = names
                .iter()
                .take(4)
                .map(|name| format!("`{name}`"))
                .collect();
            let more = if names.len() > 4 { ", …" } else { "" };
            diagnostic.note(format!(
                "nothing leads to {}{more}: each could be the first",
                list.join(", ")
            ))
        }
    }
}
