//! From the draft to the IR.
//!
//! States and transitions move into their final arenas in document order; then one pass renumbers every handle of a state
//! in the machine.

use serde_json::{Value, json};
use statemark_runtime::Operator;

use super::draft::{Draft, DraftState, DraftTransition, DraftTrigger, ROOT, document_order};
use super::spec::Spec;
use crate::arena::{Arena, Handle};
use crate::front::definition::ast::{Definition, Guard as GuardDeclaration, Kind};
use crate::front::mermaid::entity;
use crate::ir::{
    ActionKind, EventKind, Expression, ExpressionKind, Initial, Interrupt, Machine, Meta, Note,
    Parts, State, StateKind, Transition, Verdict,
};
use crate::source::Spanned;

/// Makes the machine of a draft.
pub(super) fn finish(spec: &Spec, mut draft: Draft, interrupts: Vec<Interrupt>) -> Machine {
    let children = draft.children_by_state();
    let order = document_order(&children);
    let numbers = Numbers::new(&order, draft.states.len());
    let notes = notes(&draft);
    let transitions = sorted_transitions(&mut draft, &numbers);
    let mut ambiguities = std::mem::take(&mut draft.ambiguities);
    ambiguities.retain(|it| !draft.get(it.source).dropped);
    let states = sorted_states(draft.states, children, &order);
    let definition = spec.definition.as_ref();
    let diagram = spec.diagram.as_ref();
    let text = |text: &Spanned<String>| text.value.clone();
    let titles = [
        definition.and_then(|definition| definition.title.as_ref()),
        diagram.and_then(|diagram| diagram.title.as_ref()),
    ];
    let description = definition.and_then(|definition| definition.description.as_ref());
    let context = definition.and_then(|definition| definition.context.as_ref());
    let mut machine = Machine {
        id: spec.id.clone(),
        file: spec.file,
        span: spec.span,
        parts: Parts {
            diagram: diagram.map(|diagram| diagram.span),
            definition: definition.map(|definition| definition.span),
        },
        title: titles.into_iter().flatten().next().map(text),
        description: description.map(text).or_else(|| spec.description.clone()),
        states,
        events: draft.events,
        transitions,
        guards: draft.guards,
        fields: draft.fields,
        actions: draft.actions,
        timers: draft.timers,
        ambiguities,
        interrupts,
        context: context.map(|context| context.value.clone()),
        context_schema: definition
            .and_then(|definition| definition.meta.get("context_schema").cloned()),
        meta: definition.map_or_else(Meta::new, metadata),
        direction: draft.direction,
        notes,
        is_embedded: false,
    };
    numbers.renumber(&mut machine);
    set_transitions(&mut machine);
    set_ends(&mut machine.states);
    set_done(&mut machine);
    machine
}

/// Returns the keys of a definition that only hosts read, and its named comparisons.
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
        let comparison = json!({"field": field.value, "op": operator.value.name(), "value": value});
        Some((guard.name.value.clone(), comparison))
    });
    let named: Meta = named.collect();
    if !named.is_empty() {
        meta.insert("guards".to_owned(), Value::Object(named));
    }
    meta
}

/// Returns the notes of the diagram next to a state.
fn notes(draft: &Draft) -> Vec<Note> {
    let note = |note: &crate::front::mermaid::ast::Note| {
        Some(Note {
            state: draft.state(&note.state.value)?,
            left: note.left?,
            text: entity::decode(&note.text.value),
        })
    };
    draft.notes.iter().filter_map(note).collect()
}

/// Takes the transitions out of the draft, sorted by their sources.
fn sorted_transitions(draft: &mut Draft, numbers: &Numbers) -> Arena<Transition> {
    let mut sorted: Vec<DraftTransition> = std::mem::take(&mut draft.transitions);
    sorted.retain(|transition| !draft.get(transition.ir.source).dropped);
    // Stable: transitions of one source stay in the order of the text, those with `else` after the others.
    sorted.sort_by_key(|transition| (numbers.get(transition.ir.source), transition.otherwise));
    let mut transitions = Arena::new();
    for mut transition in sorted {
        if let DraftTrigger::Events(events) = transition.trigger {
            transition.ir.triggers = events;
        }
        transitions.append(transition.ir);
    }
    transitions
}

/// Takes the states out of the draft, in document order.
fn sorted_states(
    states: Vec<DraftState>,
    mut children: Vec<Vec<Handle<State>>>,
    order: &[Handle<State>],
) -> Arena<State> {
    let mut drafted: Vec<Option<DraftState>> = states.into_iter().map(Some).collect();
    let mut states = Arena::new();
    for &state in order {
        let inner = children.get_mut(state.index()).map(std::mem::take);
        if let Some(state) = drafted.get_mut(state.index()).and_then(Option::take) {
            states.append(finish_state(state, inner.unwrap_or_default()));
        }
    }
    states
}

fn finish_state(drafted: DraftState, children: Vec<Handle<State>>) -> State {
    let kind = match (children.is_empty(), drafted.kind) {
        (_, Some(Kind::History)) if drafted.deep => StateKind::DeepHistory,
        (_, Some(Kind::History)) => StateKind::History,
        (false, Some(Kind::Parallel)) => StateKind::Parallel,
        (false, _) => StateKind::Compound,
        (true, Some(Kind::Final)) => StateKind::Final,
        (true, _) => StateKind::Atomic,
    };
    let mut state = drafted.ir;
    state.kind = kind;
    state.children = children;
    state.entry.splice(0..0, drafted.schedules);
    state.exit.extend(drafted.cancels);
    if kind != StateKind::Final {
        state.verdict = Verdict::Success;
    }
    if kind == StateKind::Compound || kind.is_history() {
        state.initial = drafted.initials.into_iter().next();
    }
    state
}

/// The final number of each state of the draft.
struct Numbers(Vec<Handle<State>>);

impl Numbers {
    fn new(order: &[Handle<State>], count: usize) -> Self {
        let mut numbers = vec![ROOT; count];
        for (position, state) in order.iter().enumerate() {
            if let Some(slot) = numbers.get_mut(state.index()) {
                *slot = Handle::at(position);
            }
        }
        Self(numbers)
    }

    fn get(&self, state: Handle<State>) -> Handle<State> {
        self.0.get(state.index()).copied().unwrap_or(ROOT)
    }

    /// Renumbers every handle of a state in the machine.
    fn renumber(&self, machine: &mut Machine) {
        for state in machine.states.handles() {
            let state = machine.states.at_mut(state);
            self.set_all(&mut state.parent);
            self.set_all(&mut state.children);
            if let Some(Initial { targets, .. }) = &mut state.initial {
                self.set_all(targets);
            }
        }
        for transition in machine.transitions.handles() {
            let transition = machine.transitions.at_mut(transition);
            self.set(&mut transition.source);
            self.set_all(&mut transition.targets);
            if let Some(guard) = &mut transition.guard {
                self.set_in_expression(&mut guard.value);
            }
        }
        for event in machine.events.handles() {
            if let EventKind::Completion(state) = &mut machine.events.at_mut(event).kind {
                self.set(state);
            }
        }
        for timer in machine.timers.handles() {
            self.set_all(&mut machine.timers.at_mut(timer).of);
        }
        for action in machine.actions.handles() {
            match &mut machine.actions.at_mut(action).kind {
                ActionKind::Assign(assigns) => assigns
                    .iter_mut()
                    .for_each(|assign| self.set_in_expression(&mut assign.value)),
                ActionKind::If { guard, .. } => self.set_in_expression(guard),
                ActionKind::Host
                | ActionKind::Fallible
                | ActionKind::Raise(_)
                | ActionKind::Schedule(..)
                | ActionKind::Cancel(_) => {}
            }
        }
        for ambiguity in &mut machine.ambiguities {
            self.set(&mut ambiguity.source);
        }
        machine.ambiguities.sort_unstable();
        for interrupt in &mut machine.interrupts {
            self.set_all(&mut interrupt.target);
        }
        for note in &mut machine.notes {
            self.set(&mut note.state);
        }
    }

    fn set(&self, state: &mut Handle<State>) {
        *state = self.get(*state);
    }

    fn set_all<'s>(&self, states: impl IntoIterator<Item = &'s mut Handle<State>>) {
        states.into_iter().for_each(|state| self.set(state));
    }

    fn set_in_expression(&self, expression: &mut Expression) {
        let parts = match &mut expression.kind {
            ExpressionKind::InState(state) => return self.set(state),
            ExpressionKind::Not(inner)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Among(inner, _) => std::slice::from_mut(inner.as_mut()),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => parts,
            ExpressionKind::Binary(_, operands) => operands.as_mut_slice(),
            ExpressionKind::Constant(_)
            | ExpressionKind::Field(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::Compare { .. }
            | ExpressionKind::Ask(_) => return,
        };
        parts
            .iter_mut()
            .for_each(|part| self.set_in_expression(part));
    }
}

/// Gives each state the range of its transitions.
///
/// A range begins at the end of the one before it, so that the ranges cover all transitions.
fn set_transitions(machine: &mut Machine) {
    let mut counts = vec![0_usize; machine.states.len()];
    for (_, transition) in machine.transitions.iter() {
        if let Some(count) = counts.get_mut(transition.source.index()) {
            *count += 1;
        }
    }
    let mut next = 0;
    for (state, count) in machine.states.handles().zip(counts) {
        machine.states.at_mut(state).transitions = next..next + count;
        next += count;
    }
}

fn set_ends(states: &mut Arena<State>) {
    for state in states.handles().rev() {
        let children = &states.at(state).children;
        let last = children.last().map(|&child| states.at(child).end);
        states.at_mut(state).end = last.unwrap_or(state.index() + 1);
    }
}

fn set_done(machine: &mut Machine) {
    for (handle, event) in machine.events.iter() {
        // A state without children is never done; `never-completes` reports who waits for it.
        if let EventKind::Completion(state) = event.kind
            && machine.states.at(state).kind.has_children()
        {
            machine.states.at_mut(state).done = Some(handle);
        }
    }
}
