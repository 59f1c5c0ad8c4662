//! A machine while its names are being resolved.
//!
//! States, events, guards and actions are found by name here, in the order in which the spec first names them; nothing is
//! sorted and a state's parent may still change. [`super::finish`] makes the IR of it.

use std::collections::BTreeMap;

use crate::arena::{Arena, Handle};
use crate::front::definition::ast::Kind;
use crate::front::expression::GuardText;
use crate::front::mermaid::ast::Stereotype;
use crate::front::words::{composed, word_key};
use crate::ir::{
    Action, ActionKind, Event, EventKind, Field, Guard, HostGuard, Label, Meta, Timer, Type,
    Verdict,
};
use crate::source::{Span, Spanned};

/// The index of a state in [`Draft::states`]; the root is 0.
pub(super) type StateIndex = usize;

/// The root's index.
pub(super) const ROOT: StateIndex = 0;

/// A machine in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The states in the order of their first mention; the root first.
    pub(super) states: Vec<DraftState>,
    by_id: BTreeMap<String, StateIndex>,
    /// The final states that stand for `[*]`, by scope and source.
    ends: BTreeMap<(StateIndex, StateIndex), StateIndex>,
    /// The transitions in the order of the text.
    pub(super) transitions: Vec<DraftTransition>,
    /// The events in the order of their first mention.
    pub(super) events: Arena<Event>,
    events_by_words: BTreeMap<String, Handle<Event>>,
    /// How the definition spells events, by their words.
    pub(super) spellings: BTreeMap<String, String>,
    /// The texts between the brackets of labels.
    pub(super) guard_texts: Arena<GuardText>,
    /// The guards of the host.
    pub(super) guards: Arena<HostGuard>,
    guards_by_name: BTreeMap<String, Handle<HostGuard>>,
    /// How many comparisons, names and connectives all guards have together.
    pub(super) guard_parts: usize,
    /// The comparisons `{field, op, value}`, by the place of their field.
    pub(super) comparisons: BTreeMap<Span, Comparison>,
    /// The fields that guards read.
    pub(super) fields: Arena<Field>,
    fields_by_path: BTreeMap<String, Handle<Field>>,
    /// The actions.
    pub(super) actions: Arena<Action>,
    actions_by_name: BTreeMap<String, Handle<Action>>,
    /// The timers. Their states go by their index here; `finish` puts the handles in.
    pub(super) timers: Arena<Timer>,
}

/// A comparison of a field with constants, as the definition has it.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) field: Handle<Field>,
    pub(super) operator: crate::ir::Operator,
    pub(super) constants: Vec<Spanned<crate::ir::Constant>>,
}

/// A state in the making.
#[derive(Debug)]
pub(super) struct DraftState {
    pub(super) id: String,
    pub(super) span: Span,
    pub(super) parent: StateIndex,
    /// What the spec says that it is.
    pub(super) kind: Option<Kind>,
    /// Of a history: whether it remembers the leaves, not only the children.
    pub(super) deep: bool,
    /// What the diagram declares that it merely stands for; `fork` and `choice` settle it.
    pub(super) pseudo: Option<Stereotype>,
    /// Whether it has a body, in the diagram or in the definition.
    pub(super) has_body: bool,
    pub(super) implied: bool,
    /// Whether it is a part of a parallel state that has no name in the spec. It keeps its place among its siblings.
    pub(super) is_region: bool,
    /// Of an implied state: the state whose way on it is.
    pub(super) stands_for: StateIndex,
    /// Whether it turned out to be no state after all; nothing leads to it.
    pub(super) dropped: bool,
    pub(super) verdict: Verdict,
    pub(super) initials: Vec<DraftInitial>,
    pub(super) entry: Vec<Handle<Action>>,
    pub(super) exit: Vec<Handle<Action>>,
    /// The actions that start its timers: first on entry.
    pub(super) schedules: Vec<Handle<Action>>,
    /// The actions that stop its timers: last on exit.
    pub(super) cancels: Vec<Handle<Action>>,
    pub(super) titles: Vec<Spanned<String>>,
    pub(super) description: Option<Spanned<String>>,
    pub(super) instructions: Option<Spanned<String>>,
    pub(super) while_waiting: Vec<Handle<Event>>,
    pub(super) on_max_iterations: Option<Handle<Event>>,
    pub(super) meta: Meta,
    /// The first statement that names it in the scope where it stands: the way in is written before it.
    pub(super) first_statement: Span,
    /// The last statement that names it in the scope where it stands: a way out is written behind it.
    pub(super) last_statement: Span,
}

/// A claim that a scope begins somewhere.
#[derive(Clone, Debug)]
pub(super) struct DraftInitial {
    pub(super) span: Span,
    /// Several only where they stand in different regions of a parallel state.
    pub(super) targets: Vec<StateIndex>,
    pub(super) actions: Vec<Handle<Action>>,
    /// Whether the spec doesn't say it.
    pub(super) inferred: bool,
}

/// A transition in the making.
#[derive(Clone, Debug)]
pub(super) struct DraftTransition {
    pub(super) span: Span,
    pub(super) source: StateIndex,
    /// Where it leads; several only where they stand in different regions of a parallel state.
    pub(super) targets: Vec<StateIndex>,
    pub(super) internal: bool,
    pub(super) implied: bool,
    pub(super) trigger: DraftTrigger,
    pub(super) guard: Option<Spanned<Guard>>,
    /// The texts between the brackets of its label, and of the choices on its way: all must hold. They become the guard
    /// unless a definition says another.
    pub(super) label_guards: Vec<Handle<GuardText>>,
    /// Whether its guard is `else`: it comes behind its siblings of the same event.
    pub(super) otherwise: bool,
    pub(super) actions: Vec<Handle<Action>>,
    pub(super) label: Option<Label>,
    pub(super) description: Option<String>,
    pub(super) meta: Meta,
}

/// What triggers a transition, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DraftTrigger {
    /// These events.
    Events(Vec<Handle<Event>>),
    /// An event with a parenthesis behind it, which is a comment unless two of them would become one.
    Commented {
        /// The text before the parenthesis.
        name: Spanned<String>,
        /// The text with it.
        whole: Spanned<String>,
        /// The parenthesis.
        comment: Span,
    },
    /// The label says nothing: the rules for missing labels decide, once every state has its kind.
    Missing,
    /// All events that begin so: `job.*`, `*`.
    Pattern(Spanned<String>),
    /// The label says nothing, and led to a choice or a fork that is gone: the rules decide as if it were there.
    Toward(StateIndex),
    /// So many milliseconds; of a way out of a choice, whose timer belongs to the state that waits for it.
    Delayed(u64),
    /// Nothing: taken as soon as its guard holds.
    Eventless,
    /// The source is done.
    Completion,
}

impl Draft {
    /// A draft with a root alone.
    pub(super) fn new(id: &str, span: Span) -> Self {
        let mut draft = Self::default();
        draft
            .states
            .push(DraftState::new(id.to_owned(), span, ROOT));
        draft
    }

    /// The state of that id.
    pub(super) fn state(&self, id: &str) -> Option<StateIndex> {
        self.by_id.get(composed(id).as_ref()).copied()
    }

    /// The state of that id; made at this place, in that scope, if it is new.
    pub(super) fn intern_state(&mut self, id: &str, span: Span, parent: StateIndex) -> StateIndex {
        let id = composed(id).into_owned();
        if let Some(index) = self.state(&id) {
            if !self.get(index).implied {
                return index;
            }
            // The author's own state has the name; what merely stands for a `[*]` takes another.
            self.by_id.remove(&id);
            let other = self.free_id(&format!("{id}_2"));
            self.by_id.insert(other.clone(), index);
            self.get_mut(index).id = other;
        }
        self.push_state(DraftState::new(id, span, parent))
    }

    /// A new state that has no name in the spec, under an id near to the wanted one.
    pub(super) fn implied_state(
        &mut self,
        wanted: &str,
        span: Span,
        parent: StateIndex,
        stands_for: StateIndex,
    ) -> StateIndex {
        let mut state = DraftState::new(self.free_id(wanted), span, parent);
        state.implied = true;
        state.stands_for = stands_for;
        self.push_state(state)
    }

    /// The wanted id, or one like it that no state has.
    fn free_id(&self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        let mut count = 1;
        while self.by_id.contains_key(&id) {
            count += 1;
            id = format!("{wanted}_{count}");
        }
        id
    }

    /// A new region of a state, the so manyth, from 1. `span`: where it is written.
    pub(super) fn add_region(
        &mut self,
        around: StateIndex,
        number: usize,
        span: Span,
    ) -> StateIndex {
        let wanted = format!("{}_{number}", self.get(around).id);
        let region = self.implied_state(&wanted, span, around, around);
        self.get_mut(region).is_region = true;
        self.get_mut(region).has_body = true;
        region
    }

    /// The final state that `source --> [*]` leads to in a scope: one for each source.
    pub(super) fn end_of(
        &mut self,
        scope: StateIndex,
        source: StateIndex,
        span: Span,
    ) -> StateIndex {
        if let Some(&end) = self.ends.get(&(scope, source)) {
            return end;
        }
        let id = format!("{}_end", self.get(source).id);
        let end = self.implied_state(&id, span, scope, source);
        self.get_mut(end).kind = Some(Kind::Final);
        self.ends.insert((scope, source), end);
        end
    }

    /// Takes a state out: nothing leads to it any more, and nothing finds it.
    pub(super) fn drop_state(&mut self, state: StateIndex) {
        self.get_mut(state).dropped = true;
        self.get_mut(state).pseudo = None;
        let id = self.get(state).id.clone();
        self.by_id.remove(&id);
    }

    /// A scope as messages name it.
    pub(super) fn place_name(&self, scope: StateIndex) -> String {
        let state = self.get(scope);
        if scope == ROOT {
            return "the diagram itself".to_owned();
        }
        if !state.is_region {
            return format!("`{}`", state.id);
        }
        let before = self
            .children(state.parent)
            .filter(|&other| self.get(other).is_region);
        let number = before.take_while(|&other| other != scope).count() + 1;
        format!("region {number} of `{}`", self.get(state.parent).id)
    }

    /// Whether a state is a region of a parallel state, or lies in one.
    pub(super) fn is_in_region(&self, state: StateIndex) -> bool {
        let mut around = self.ancestry(state);
        around.any(|state| {
            state != ROOT && self.get(self.get(state).parent).kind == Some(Kind::Parallel)
        })
    }

    fn push_state(&mut self, state: DraftState) -> StateIndex {
        let index = self.states.len();
        self.by_id.insert(state.id.clone(), index);
        self.states.push(state);
        index
    }

    /// The ids of the states but the root and those without a name.
    pub(super) fn state_ids(&self) -> impl Iterator<Item = &str> {
        self.states
            .iter()
            .skip(1)
            .filter(|state| !state.implied && !state.dropped)
            .map(|state| state.id.as_str())
    }

    /// The event with the words of that name; made at this place if it is new.
    pub(super) fn intern_event(&mut self, name: &str, span: Span) -> Handle<Event> {
        let words = word_key(name);
        if let Some(&event) = self.events_by_words.get(&words) {
            return event;
        }
        let id = self
            .spellings
            .get(&words)
            .map_or_else(|| composed(name).into_owned(), String::clone);
        self.push_event(
            words,
            Event {
                id,
                span,
                kind: EventKind::Named,
                title: None,
                description: None,
                data: None,
            },
        )
    }

    /// The engine's own event of that id; made at this place if it is new.
    pub(super) fn intern_engine_event(
        &mut self,
        id: &str,
        kind: EventKind,
        span: Span,
    ) -> Handle<Event> {
        if let Some(&event) = self.events_by_words.get(id) {
            return event;
        }
        let event = Event {
            id: id.to_owned(),
            span,
            kind,
            title: None,
            description: None,
            data: None,
        };
        self.push_event(id.to_owned(), event)
    }

    fn push_event(&mut self, words: String, event: Event) -> Handle<Event> {
        let handle = self.events.append(event);
        self.events_by_words.insert(words, handle);
        handle
    }

    /// The event with the words of that name.
    pub(super) fn event(&self, name: &str) -> Option<Handle<Event>> {
        self.events_by_words.get(&word_key(name)).copied()
    }

    /// The host's guard of that name; made if it is new.
    pub(super) fn intern_guard(&mut self, name: &str, text: &str, span: Span) -> Handle<HostGuard> {
        let name = composed(name);
        if let Some(&guard) = self.guards_by_name.get(name.as_ref()) {
            return guard;
        }
        let guard = HostGuard {
            name: name.clone().into_owned(),
            text: text.to_owned(),
            span,
        };
        let handle = self.guards.append(guard);
        self.guards_by_name.insert(name.into_owned(), handle);
        handle
    }

    /// The field of that path; made if it is new.
    pub(super) fn intern_field(&mut self, path: &str, span: Span) -> Handle<Field> {
        if let Some(&field) = self.fields_by_path.get(path) {
            return field;
        }
        let handle = self.fields.append(Field {
            path: path.to_owned(),
            span,
            kind: Type::Unknown,
            present: false,
        });
        self.fields_by_path.insert(path.to_owned(), handle);
        handle
    }

    /// The action of that name; made if it is new.
    pub(super) fn intern_action(&mut self, name: &str, span: Span) -> Handle<Action> {
        let name = composed(name);
        if let Some(&action) = self.actions_by_name.get(name.as_ref()) {
            return action;
        }
        let action = Action {
            name: name.clone().into_owned(),
            span,
            kind: ActionKind::Host,
            meta: Meta::new(),
        };
        let handle = self.actions.append(action);
        self.actions_by_name.insert(name.into_owned(), handle);
        handle
    }

    /// The timer of a state that starts as the state is entered and stops as it is left; gives the event that it
    /// sends after so many milliseconds. Made if it is new.
    pub(super) fn add_timer(
        &mut self,
        state: StateIndex,
        milliseconds: u64,
        span: Span,
    ) -> Handle<Event> {
        // One delay of one state is one timer: its transitions compete, in their order.
        let schedules = &self.get(state).schedules;
        let same = schedules.iter().find_map(|&action| {
            let kind = &self.actions.at(action).kind;
            match kind {
                ActionKind::Schedule(timer, delay) if *delay == milliseconds => Some(*timer),
                _ => None,
            }
        });
        if let Some(timer) = same {
            return self.timers.at(timer).event;
        }
        let count = schedules.len() + 1;
        let name = format!("after.{}.{count}", self.get(state).id);
        let event = self.intern_engine_event(&name, EventKind::Delayed, span);
        let timer = self.timers.append(Timer {
            name: name.clone(),
            span,
            event,
            of: Some(Handle::at(state)),
        });
        let cancel = format!("cancel.{name}");
        let schedule = self.engine_action(&name, span, ActionKind::Schedule(timer, milliseconds));
        self.get_mut(state).schedules.push(schedule);
        let cancel = self.engine_action(&cancel, span, ActionKind::Cancel(timer));
        self.get_mut(state).cancels.push(cancel);
        event
    }

    /// A new action of the engine's, under that name or, if the author has an action of that name, one like it.
    fn engine_action(&mut self, wanted: &str, span: Span, kind: ActionKind) -> Handle<Action> {
        let mut name = wanted.to_owned();
        while self.names_action(&name) {
            name.push('_');
        }
        let action = self.intern_action(&name, span);
        self.actions.at_mut(action).kind = kind;
        action
    }

    /// Whether something names an action of that name.
    pub(super) fn names_action(&self, name: &str) -> bool {
        self.actions_by_name.contains_key(composed(name).as_ref())
    }

    /// A state by its index, which came from this draft.
    #[expect(
        clippy::indexing_slicing,
        reason = "a StateIndex comes from this draft, whose states are never removed"
    )]
    pub(super) fn get(&self, state: StateIndex) -> &DraftState {
        &self.states[state]
    }

    /// A state by its index, to be changed.
    #[expect(
        clippy::indexing_slicing,
        reason = "a StateIndex comes from this draft, whose states are never removed"
    )]
    pub(super) fn get_mut(&mut self, state: StateIndex) -> &mut DraftState {
        &mut self.states[state]
    }

    /// The children of a state, in the order of their first mention. The root is nobody's child.
    pub(super) fn children(&self, parent: StateIndex) -> impl Iterator<Item = StateIndex> {
        (1..self.states.len())
            .filter(move |&index| self.get(index).parent == parent && !self.get(index).dropped)
    }

    /// The children of every state, by its index: those with a name in the order of their first mention, then those that
    /// stand for something, in the document order of what they stand for.
    pub(super) fn children_by_state(&self) -> Vec<Vec<StateIndex>> {
        let mut children = vec![Vec::new(); self.states.len()];
        let mut add = |state: StateIndex| {
            if let Some(list) = children.get_mut(self.get(state).parent) {
                list.push(state);
            }
        };
        let kept = || (1..self.states.len()).filter(|&state| !self.get(state).dropped);
        kept()
            .filter(|&state| !self.stands_behind(state))
            .for_each(&mut add);
        let mut implied: Vec<StateIndex> =
            kept().filter(|&state| self.stands_behind(state)).collect();
        if implied.len() > 1 {
            let mut rank = vec![0; self.states.len()];
            for (position, state) in document_order(&children).into_iter().enumerate() {
                if let Some(slot) = rank.get_mut(state) {
                    *slot = position;
                }
            }
            implied.sort_by_key(|&state| rank.get(self.get(state).stands_for).copied());
        }
        for state in implied {
            if let Some(list) = children.get_mut(self.get(state).parent) {
                list.push(state);
            }
        }
        children
    }

    /// Whether a state stands behind its siblings, because it has no name and is no region.
    fn stands_behind(&self, state: StateIndex) -> bool {
        self.get(state).implied && !self.get(state).is_region
    }

    /// A state and the states around it, the root last.
    pub(super) fn ancestry(&self, state: StateIndex) -> impl Iterator<Item = StateIndex> {
        std::iter::successors(Some(state), |&inner| {
            (inner != ROOT).then(|| self.get(inner).parent)
        })
    }

    /// Whether `inner` is `outer` or lies inside it.
    pub(super) fn is_within(&self, inner: StateIndex, outer: StateIndex) -> bool {
        self.ancestry(inner).any(|state| state == outer)
    }
}

impl DraftState {
    pub(super) fn new(id: String, span: Span, parent: StateIndex) -> Self {
        Self {
            id,
            span,
            parent,
            kind: None,
            deep: false,
            pseudo: None,
            has_body: false,
            implied: false,
            is_region: false,
            stands_for: ROOT,
            dropped: false,
            verdict: Verdict::Success,
            initials: Vec::new(),
            entry: Vec::new(),
            exit: Vec::new(),
            schedules: Vec::new(),
            cancels: Vec::new(),
            titles: Vec::new(),
            description: None,
            instructions: None,
            while_waiting: Vec::new(),
            on_max_iterations: None,
            meta: Meta::new(),
            first_statement: span,
            last_statement: span,
        }
    }
}

/// The states in document order: a parent before its children.
pub(super) fn document_order(children: &[Vec<StateIndex>]) -> Vec<StateIndex> {
    let mut order = Vec::with_capacity(children.len());
    let mut open = vec![ROOT];
    while let Some(state) = open.pop() {
        order.push(state);
        open.extend(children.get(state).into_iter().flatten().rev());
    }
    order
}

impl DraftTransition {
    /// Its first target.
    pub(super) fn target(&self) -> Option<StateIndex> {
        self.targets.first().copied()
    }

    /// A transition between two states that says nothing else.
    pub(super) fn new(span: Span, source: StateIndex, target: Option<StateIndex>) -> Self {
        Self {
            span,
            source,
            targets: target.into_iter().collect(),
            internal: false,
            implied: false,
            trigger: DraftTrigger::Missing,
            guard: None,
            label_guards: Vec::new(),
            otherwise: false,
            actions: Vec::new(),
            label: None,
            description: None,
            meta: Meta::new(),
        }
    }
}
