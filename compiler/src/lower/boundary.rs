//! Beginnings and ends of scopes that the spec leaves out.
//!
//! A scope that is entered by default begins at its only child that nothing leads to. A leaf of a diagram that nothing leads
//! out of, nor out of its ancestors, gets an implied `--> [*]`. A history without a default leads to the beginning of its
//! composite.

use std::collections::BTreeSet;

use super::draft::{
    Draft, DraftState, DraftTransition, DraftTrigger, ROOT, StateHandle, document_order,
};
use super::messages::{history_with_two_defaults, initial_outside_scope};
use super::spec::Context;
use super::trigger::end_event;
use crate::arena::HandleSet;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ids::is_plain_id;
use crate::front::words::word_key;
use crate::ir::{Initial, State};
use crate::source::{Span, Spanned, narrow};

/// Gives the dead ends of a diagram an end.
pub(super) fn close_dead_ends(draft: &mut Draft, context: &mut Context<'_>) {
    let sources: HandleSet<State> = draft
        .transitions
        .iter()
        .filter(|transition| {
            transition
                .ir
                .targets
                .iter()
                .any(|&target| target != transition.ir.source)
        })
        .map(|transition| transition.ir.source)
        .collect();
    // Found for the first dead end, since most diagrams have none.
    let mut done: Option<HandleSet<State>> = None;
    for state in draft.named_states() {
        let is_leaf = !draft.get(state).has_body
            && !matches!(draft.get(state).kind, Some(Kind::Final | Kind::History))
            && !draft.get(state).dropped;
        if !is_leaf
            || draft
                .ancestry(state)
                .any(|ancestor| sources.contains(ancestor))
        {
            continue;
        }
        let (id, span) = (draft.get(state).ir.id.clone(), draft.get(state).ir.span);
        let is_news = !context.broken && !context.diags.explains(&id, span);
        let event = end_event(draft, state, draft.parent(state));
        let done = done.get_or_insert_with(|| sources_taking_done(draft));
        if done.contains(state) {
            // Its own `done` leads nowhere, and a second one would contradict it.
            if is_news {
                context
                    .diags
                    .push(dead_end_that_takes_done(&id, &event, span));
            }
            continue;
        }
        if is_news {
            let statement = draft.get(state).last_statement;
            let end = end_of_line(statement, context);
            let line = line_prefix(statement, context);
            // Some ids can be written in quotes alone, or behind `state`.
            let line = line.zip(end).filter(|_| is_plain_id(&id));
            context.diags.push(dead_end((&id, &event), span, line));
        }
        add_end(draft, state);
    }
}

/// Leads from a state to an end of its own, which gets the state's verdict.
fn add_end(draft: &mut Draft, state: StateHandle) {
    let (span, parent) = (draft.get(state).ir.span, draft.parent(state));
    let id = format!("{}_end", draft.get(state).ir.id);
    let end = draft.implied_state(&id, span, parent, state);
    draft.get_mut(end).kind = Some(Kind::Final);
    let verdict = std::mem::take(&mut draft.get_mut(state).ir.verdict);
    draft.get_mut(end).ir.verdict = verdict;
    let mut transition = DraftTransition::new(span, state, Some(end));
    transition.ir.implied = true;
    draft.transitions.push(transition);
}

/// Returns the states that take the event that an implied end would wait for.
fn sources_taking_done(draft: &Draft) -> HandleSet<State> {
    let transitions = draft.transitions.iter();
    transitions
        .filter(|transition| takes_done(transition, draft))
        .map(|transition| transition.ir.source)
        .collect()
}

/// Returns whether a transition takes the event that an implied end would wait for.
fn takes_done(transition: &DraftTransition, draft: &Draft) -> bool {
    let done = end_event(
        draft,
        transition.ir.source,
        draft.parent(transition.ir.source),
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

/// Returns the line break after a statement, and the prefix of its line, fit to begin another line.
///
/// `None` if another statement is before it on the line.
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

/// Returns the end of a statement's line, if only blanks follow the statement.
///
/// They stay: a label that ends in a colon needs them.
fn end_of_line(statement: Span, context: &Context<'_>) -> Option<Span> {
    let file = context.sources.file(statement.file);
    let line = file.line_range(file.line_index(statement.end.saturating_sub(1)))?;
    let rest = file.text().get(statement.end as usize..line.end)?;
    let end = statement.end + narrow(rest.len());
    rest.trim()
        .is_empty()
        .then_some(Span { end, ..statement }.after())
}

/// Gives every scope its initial transition, or reports that it has none.
pub(super) fn open_scopes(draft: &mut Draft, context: &mut Context<'_>) {
    let mut entered = entered_by_default(draft);
    let led_to = targets_in_scope(draft);
    let children = draft.children_by_state();
    // Outer scopes first: their inferred beginnings are entered by default, too.
    for scope in document_order(&children) {
        let inner = children.get(scope.index()).into_iter().flatten().copied();
        let inner: Vec<StateHandle> = inner
            .filter(|&child| draft.get(child).kind != Some(Kind::History))
            .collect();
        if inner.is_empty() || draft.get(scope).kind == Some(Kind::Parallel) {
            // Regions begin all at once.
            entered.extend(inner);
            continue;
        }
        let inner = inner.as_slice();
        if !has_beginning(draft, scope, inner, context)
            && (scope == ROOT || entered.contains(scope))
            && let Some(inferred) = infer_initial(draft, scope, inner, &led_to, context)
        {
            entered.insert(inferred);
        } else if draft.get(scope).initials.is_empty()
            && let Some(&first) = inner.first()
        {
            push_initial(draft, scope, first);
        }
    }
    add_history_defaults(draft, context);
}

/// Returns whether the spec says, perhaps wrongly, at which state a scope begins.
fn has_beginning(
    draft: &mut Draft,
    scope: StateHandle,
    children: &[StateHandle],
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

/// Makes a scope begin at its only child that nothing in it leads to, and returns that child.
///
/// Reports a scope with no such child, or with several.
fn infer_initial(
    draft: &mut Draft,
    scope: StateHandle,
    children: &[StateHandle],
    led_to: &HandleSet<State>,
    context: &mut Context<'_>,
) -> Option<StateHandle> {
    let free = |child: &StateHandle| !led_to.contains(*child);
    let candidates: Vec<StateHandle> = children.iter().copied().filter(free).collect();
    let named = (scope != ROOT).then(|| draft.scope_name(scope));
    if let [only] = candidates.as_slice() {
        let target = draft.get(*only);
        // Where there is no other state, nobody need say it.
        let is_named = |it: &&StateHandle| !draft.get(**it).ir.implied;
        let is_choice = children.iter().filter(is_named).count() > 1;
        // A defect of the state itself has been reported, such as a `[*` that was meant as the start.
        let (id, span) = (&target.ir.id, target.ir.span);
        if is_choice && !context.broken && !context.diags.explains(id, span) {
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
    // What was misread is no candidate, and may have said it if no two are left.
    let (misread, meant): (Vec<StateHandle>, Vec<StateHandle>) =
        candidates.iter().copied().partition(|&child| {
            let state = &draft.get(child).ir;
            context.diags.is_misread(&state.id, state.span)
        });
    if let (Some(&first), 0 | 1) = (misread.first(), meant.len()) {
        let state = &draft.get(first).ir;
        context.diags.blame(&state.id, state.span);
        return None;
    }
    let span = draft.get(scope).ir.span;
    let names: Vec<&str> = meant
        .iter()
        .map(|&child| draft.get(child).ir.id.as_str())
        .collect();
    let first = children
        .first()
        .map_or("", |&first| &draft.get(first).ir.id);
    let diagnostic = no_initial_state(named.as_deref(), span, &names, first);
    context.diags.push(diagnostic);
    None
}

/// Drops and reports initial transitions to states outside of a scope. Returns whether there are some.
///
/// A body may name a state that belongs to another one.
fn drop_initials_outside(draft: &mut Draft, scope: StateHandle, context: &mut Context<'_>) -> bool {
    let is_inside = |initial: &Initial| {
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
    // A state that two bodies want has been reported.
    for initial in outside
        .into_iter()
        .filter(|initial| !context.diags.covers(initial.span))
        .collect::<Vec<_>>()
    {
        let lies_outside =
            |&target: &StateHandle| target == scope || !draft.is_within(target, scope);
        let Some(target) = initial.targets.iter().copied().find(lies_outside) else {
            continue;
        };
        let target = draft.get(target);
        let name = Spanned::new(target.ir.id.clone(), initial.span);
        let scope = draft.get(scope);
        context
            .diags
            .push(initial_outside_scope(&name, &scope.ir.id, target.ir.span));
    }
    draft.get_mut(scope).initials = inside;
    drops
}

fn push_initial(draft: &mut Draft, scope: StateHandle, target: StateHandle) {
    let span = draft.get(target).ir.span;
    draft.get_mut(scope).add_initial(span, target, true);
}

/// Gives every history its default transition.
fn add_history_defaults(draft: &mut Draft, context: &mut Context<'_>) {
    let is_history = |state: &DraftState| state.kind == Some(Kind::History) && !state.dropped;
    if !draft.states.iter().any(is_history) {
        return;
    }
    let children = draft.children_by_state();
    for history in draft.named_states() {
        if !is_history(draft.get(history)) {
            continue;
        }
        let parent = draft.parent(history);
        let drawn = std::mem::take(&mut draft.get_mut(history).initials);
        let mut kept: Vec<Initial> = Vec::new();
        for initial in drawn {
            let lies_outside = |&target: &StateHandle| {
                target == history || target == parent || !draft.is_within(target, parent)
            };
            if let Some(target) = initial.targets.iter().copied().find(lies_outside) {
                let target = draft.get(target);
                let name = Spanned::new(target.ir.id.clone(), initial.span);
                let composite = &draft.get(parent).ir.id;
                let diagnostic = initial_outside_scope(&name, composite, target.ir.span);
                context.diags.push(diagnostic);
            } else {
                kept.push(initial);
            }
        }
        if let Some((first, others)) = kept.split_first()
            && let Some(other) = others.iter().find(|other| other.targets != first.targets)
        {
            let id = &draft.get(history).ir.id;
            let diagnostic = history_with_two_defaults(id, first.span, other.span);
            context.diags.push(diagnostic);
        }
        if kept.is_empty() {
            let siblings = children.get(parent.index()).map_or(&[][..], Vec::as_slice);
            kept.extend(inferred_default(draft, parent, siblings));
        }
        draft.get_mut(history).initials = kept;
    }
}

/// Returns the beginning of a composite, to which its history leads while nothing is remembered.
fn inferred_default(
    draft: &Draft,
    parent: StateHandle,
    siblings: &[StateHandle],
) -> Option<Initial> {
    let is_history = |state: StateHandle| draft.get(state).kind == Some(Kind::History);
    let begins = |initial: &&Initial| !initial.targets.iter().any(|&target| is_history(target));
    if let Some(initial) = draft.get(parent).initials.iter().find(begins) {
        return Some(Initial {
            inferred: true,
            ..initial.clone()
        });
    }
    let mut children = siblings.iter().copied().filter(|&child| !is_history(child));
    let targets: Vec<StateHandle> = if draft.get(parent).kind == Some(Kind::Parallel) {
        children.collect()
    } else {
        children.next().into_iter().collect()
    };
    (!targets.is_empty()).then(|| Initial {
        span: draft.get(parent).ir.span,
        targets,
        actions: Vec::new(),
        inferred: true,
    })
}

/// Returns the targets of transitions and initial transitions: as scopes, they are entered by default.
fn entered_by_default(draft: &Draft) -> HandleSet<State> {
    let targets = draft
        .transitions
        .iter()
        .flat_map(|transition| transition.ir.targets.iter());
    let initials = draft
        .states
        .iter()
        .flat_map(|state| &state.initials)
        .flat_map(|initial| initial.targets.iter());
    // A transition to the history of a state leads to the state.
    let of_history = |&state: &StateHandle| {
        let remembers = draft.get(state).kind == Some(Kind::History);
        [Some(state), remembers.then(|| draft.parent(state))]
    };
    let all = targets.chain(initials);
    all.flat_map(of_history).flatten().collect()
}

/// Returns the states that a transition leads to, or into, from elsewhere in their scope.
fn targets_in_scope(draft: &Draft) -> HandleSet<State> {
    let mut found = HandleSet::default();
    for transition in &draft.transitions {
        let source = transition.ir.source;
        let mut sources: Option<BTreeSet<StateHandle>> = None;
        for &target in &transition.ir.targets {
            if target != ROOT && draft.parent(target) == draft.parent(source) {
                // Siblings, as most are.
                found.extend((target != source).then_some(target));
                continue;
            }
            let sources = sources.get_or_insert_with(|| draft.ancestry(source).collect());
            // Outermost first: the first state that doesn't hold the source is a sibling of one that does.
            let path: Vec<StateHandle> = draft.ancestry(target).collect();
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
        .may_follow()
        .label("a dead end")
        .note(format!("`{id}` takes the event `{event}` itself and stays"))
        .help("lead on from it, or to `[*]`, on another event")
}

/// Reports a leaf that nothing leads out of.
///
/// `line`: the line break and the prefix of another line, and its place.
fn dead_end(
    (id, event): (&str, &str),
    span: Span,
    line: Option<((&'static str, String), Span)>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::DeadEnd, span, format!("nothing leads out of `{id}`"))
        .may_follow()
        .label("a dead end")
        .note(format!(
            "the machine is made as if it said `{id} --> [*] : {event}`"
        ));
    if id.contains(['[', ']', '(', ')', '{', '}', '*']) {
        return diagnostic.help(format!(
            "`{id}` is read as a state's name: an end is `[*]`, and a history `name[H]` of a composite"
        ));
    }
    match line {
        Some(((line_break, prefix), end)) => diagnostic.safe_fix(
            format!("say that `{id}` is the end"),
            end,
            format!("{line_break}{prefix}{id} --> [*] : {event}"),
        ),
        None => diagnostic.help(format!("add `{id} --> [*] : {event}`, or lead on from it")),
    }
}

/// The part of a spec that can name the initial state.
enum Place<'p> {
    /// The diagram, with the line break and the prefix of a line before the state's first statement.
    Diagram(Option<(&'p str, &'p str)>),
    /// The definition, which gets no line.
    Definition,
}

/// Reports a scope (`None`: the machine) whose initial state is inferred.
fn inferred_initial_state(
    scope: Option<&str>,
    first: &DraftState,
    place: &Place<'_>,
) -> Diagnostic {
    let whole = scope.map_or_else(|| "the machine".to_owned(), |scope| scope.to_owned());
    let message = format!(
        "nothing says where {whole} begins, so `{}` is taken",
        first.ir.id
    );
    let diagnostic = Diagnostic::new(Code::InferredInitialState, first.ir.span, message)
        .label("the only state in it that nothing leads to");
    let line = format!("[*] --> {}", first.ir.id);
    match *place {
        Place::Diagram(Some((line_break, prefix))) if is_plain_id(&first.ir.id) => diagnostic
            .safe_fix(
                format!("add `{line}`"),
                first.first_statement.before(),
                format!("{line}{line_break}{prefix}"),
            ),
        Place::Diagram(_) => diagnostic.help(format!("add `{line}`")),
        Place::Definition => diagnostic.help(format!("add `\"initial\": \"{}\"`", first.ir.id)),
    }
}

/// Reports a scope (`None`: the machine) without an initial state. `first`: its first state.
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
