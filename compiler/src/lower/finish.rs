//! The draft becomes the IR: states and transitions are put in document order, indexes become handles.

use std::ops::Range;

use serde_json::{Value, json};
use statemark_runtime::Operator;

use super::draft::{
    Draft, DraftInitial, DraftState, DraftTransition, DraftTrigger, ROOT, StateIndex,
    document_order,
};
use super::expression::{place_in_expression, place_states};
use super::spec::Spec;
use crate::arena::{Arena, Handle};
use crate::front::definition::ast::{Definition, Guard as GuardDeclaration, Kind};
use crate::front::mermaid::{ast, entity};
use crate::ir::{
    ActionKind, EventKind, Initial, Interrupt, Machine, Meta, Note, Parts, State, StateKind,
    Transition, Verdict,
};
use crate::source::Spanned;

/// Makes the machine.
pub(super) fn finish(
    spec: &Spec,
    mut draft: Draft,
    interrupts: Vec<(Spanned<String>, String, Option<StateIndex>)>,
    drawn: &super::diagram::Drawn,
) -> Machine {
    let children = draft.children_by_state();
    let order = document_order(&children);
    let handles = handles(&order, draft.states.len());
    let handle = |state: StateIndex| handles.get(state).copied().unwrap_or_else(|| Handle::at(0));
    for timer in draft.timers.handles() {
        let timer = draft.timers.at_mut(timer);
        timer.of = timer.of.map(|state| handle(state.index()));
    }
    for event in draft.events.handles() {
        if let EventKind::Completion(state) = draft.events.at(event).kind {
            draft.events.at_mut(event).kind = EventKind::Completion(handle(state.index()));
        }
    }
    place_in_actions(&mut draft, &handle);
    let (transitions, ranges) = finish_transitions(&mut draft, order.len(), handle);
    let mut states = Arena::new();
    for (&index, transitions) in order.iter().zip(ranges) {
        let inner = children.get(index).into_iter().flatten();
        let inner: Vec<Handle<State>> = inner.map(|&child| handle(child)).collect();
        let emptied = placeholder(draft.get(index));
        let state = std::mem::replace(draft.get_mut(index), emptied);
        let mut state = finish_state(state, index, inner, handle);
        state.transitions = transitions;
        states.append(state);
    }
    set_ends(&mut states);
    set_done(&mut states, &draft);
    let definition = spec.definition.as_ref();
    let text = |text: &Spanned<String>| text.value.clone();
    let interrupt =
        |(name, pattern, target): (Spanned<String>, String, Option<StateIndex>)| Interrupt {
            name,
            pattern,
            target: target.map(handle),
        };
    let notes = drawn
        .notes
        .iter()
        .filter_map(|note| finish_note(note, &draft, handle))
        .collect();
    Machine {
        id: spec.id.clone(),
        file: spec.file,
        span: spec.span,
        parts: Parts {
            diagram: spec.diagram.as_ref().map(|diagram| diagram.span),
            definition: definition.map(|definition| definition.span),
        },
        title: definition
            .and_then(|definition| definition.title.as_ref().map(text))
            .or_else(|| {
                spec.diagram
                    .as_ref()
                    .and_then(|diagram| diagram.title.as_ref().map(text))
            }),
        description: definition
            .and_then(|definition| definition.description.as_ref().map(text))
            .or_else(|| spec.description.clone()),
        states,
        events: draft.events,
        transitions,
        guards: draft.guards,
        fields: draft.fields,
        actions: draft.actions,
        timers: draft.timers,
        interrupts: interrupts.into_iter().map(interrupt).collect(),
        context: definition
            .and_then(|definition| definition.context.as_ref().map(|c| c.value.clone())),
        context_schema: definition
            .and_then(|definition| definition.meta.get("context_schema").cloned()),
        meta: definition.map_or_else(Meta::new, metadata),
        direction: drawn.direction,
        notes,
    }
}

/// What hosts read of a definition: its own keys for them, and its comparisons by name, whose names nothing else keeps.
fn metadata(definition: &Definition) -> Meta {
    let mut meta = definition.meta.clone();
    let named = definition.guards.iter().filter_map(|guard| {
        let GuardDeclaration::Compare {
            field,
            operator,
            values,
        } = &guard.value
        else {
            return None;
        };
        let mut values = values.iter().map(|it| it.value.clone());
        let value = match operator.value {
            Operator::In => Value::Array(values.collect()),
            _ => values.next().unwrap_or_default(),
        };
        let told = json!({"field": field.value, "op": operator.value.name(), "value": value});
        Some((guard.name.value.clone(), told))
    });
    let named: Meta = named.collect();
    if !named.is_empty() {
        meta.insert("guards".to_owned(), Value::Object(named));
    }
    meta
}

/// The transitions in their order, and for each state, in document order, the range of its own.
fn finish_transitions(
    draft: &mut Draft,
    states: usize,
    handle: impl Fn(StateIndex) -> Handle<State> + Copy,
) -> (Arena<Transition>, Vec<Range<usize>>) {
    let mut sorted: Vec<DraftTransition> = std::mem::take(&mut draft.transitions);
    sorted.retain(|transition| !draft.get(transition.source).dropped);
    // Stable: transitions of one source stay in the order of the text, those with `else` behind the others.
    sorted.sort_by_key(|transition| (handle(transition.source), transition.otherwise));
    let mut transitions = Arena::new();
    let mut counts = vec![0_usize; states];
    for transition in sorted {
        if let Some(count) = counts.get_mut(handle(transition.source).index()) {
            *count += 1;
        }
        transitions.append(finish_transition(transition, handle));
    }
    // Each state's range begins where the one before it ended, so that the ranges cover all transitions.
    let mut next = 0;
    let ranges = counts.into_iter().map(|count| {
        let start = next;
        next += count;
        start..next
    });
    (transitions, ranges.collect())
}

fn handles(order: &[StateIndex], count: usize) -> Vec<Handle<State>> {
    let mut handles = vec![Handle::at(0); count];
    for (position, &state) in order.iter().enumerate() {
        if let Some(slot) = handles.get_mut(state) {
            *slot = Handle::at(position);
        }
    }
    handles
}

fn placeholder(state: &DraftState) -> DraftState {
    DraftState::new(state.id.clone(), state.span, state.parent)
}

fn finish_state(
    state: DraftState,
    index: StateIndex,
    children: Vec<Handle<State>>,
    handle: impl Fn(StateIndex) -> Handle<State>,
) -> State {
    let kind = match (children.is_empty(), state.kind) {
        (_, Some(Kind::History)) if state.deep => StateKind::DeepHistory,
        (_, Some(Kind::History)) => StateKind::History,
        (false, Some(Kind::Parallel)) => StateKind::Parallel,
        (false, _) => StateKind::Compound,
        (true, Some(Kind::Final)) => StateKind::Final,
        (true, _) => StateKind::Atomic,
    };
    let make_initial = |initial: &DraftInitial| Initial {
        span: initial.span,
        targets: initial
            .targets
            .iter()
            .map(|&target| handle(target))
            .collect(),
        actions: initial.actions.clone(),
        inferred: initial.inferred,
    };
    State {
        kind,
        verdict: if kind == StateKind::Final {
            state.verdict
        } else {
            Verdict::Success
        },
        implied: state.implied,
        parent: (index != ROOT).then(|| handle(state.parent)),
        end: 0,
        initial: state
            .initials
            .first()
            .map(make_initial)
            .filter(|_| kind == StateKind::Compound || kind.is_history()),
        children,
        entry: state.schedules.into_iter().chain(state.entry).collect(),
        exit: state.exit.into_iter().chain(state.cancels).collect(),
        transitions: 0..0,
        done: None,
        title: join(&state.titles),
        description: state.description,
        instructions: state.instructions,
        while_waiting: state.while_waiting,
        on_max_iterations: state.on_max_iterations,
        meta: state.meta,
        id: state.id,
        span: state.span,
    }
}

/// Several descriptions of one state are one title, line by line, as Mermaid draws them.
fn join(titles: &[Spanned<String>]) -> Option<Spanned<String>> {
    let first = titles.first()?;
    let lines: Vec<&str> = titles.iter().map(|title| title.value.as_str()).collect();
    Some(Spanned::new(lines.join("\n"), first.span))
}

fn finish_transition(
    transition: DraftTransition,
    handle: impl Fn(StateIndex) -> Handle<State>,
) -> Transition {
    Transition {
        span: transition.span,
        source: handle(transition.source),
        triggers: match transition.trigger {
            DraftTrigger::Events(events) => events,
            _ => Vec::new(),
        },
        guard: transition.guard.map(|mut guard| {
            place_states(&mut guard.value, &handle);
            guard
        }),
        actions: transition.actions,
        targets: transition.targets.into_iter().map(handle).collect(),
        internal: transition.internal,
        implied: transition.implied,
        label: transition.label,
        description: transition.description,
        meta: transition.meta,
    }
}

/// Puts the handles of states into what actions assign and ask.
fn place_in_actions(draft: &mut Draft, handle: &impl Fn(StateIndex) -> Handle<State>) {
    for action in draft.actions.handles() {
        match &mut draft.actions.at_mut(action).kind {
            ActionKind::Assign(assigns) => assigns
                .iter_mut()
                .for_each(|assign| place_in_expression(&mut assign.value, handle)),
            ActionKind::If { guard, .. } => place_states(guard, handle),
            ActionKind::Host
            | ActionKind::Raise(_)
            | ActionKind::Schedule(..)
            | ActionKind::Cancel(_) => {}
        }
    }
}

fn set_ends(states: &mut Arena<State>) {
    let handles: Vec<Handle<State>> = states.handles().collect();
    for &state in handles.iter().rev() {
        let last = states
            .at(state)
            .children
            .last()
            .map_or(state.index() + 1, |&child| states.at(child).end);
        states.at_mut(state).end = last;
    }
}

fn set_done(states: &mut Arena<State>, draft: &Draft) {
    for (handle, event) in draft.events.iter() {
        // A state without children is never done; `never-completes` says so of who waits for it.
        if let EventKind::Completion(state) = event.kind
            && states.at(state).kind.has_children()
        {
            states.at_mut(state).done = Some(handle);
        }
    }
}

fn finish_note(
    note: &ast::Note,
    draft: &Draft,
    handle: impl Fn(StateIndex) -> Handle<State>,
) -> Option<Note> {
    let state = draft.state(&note.state.value)?;
    let text = entity::decode(&note.text.value);
    Some(Note {
        state: handle(state),
        left: note.left?,
        text,
    })
}
