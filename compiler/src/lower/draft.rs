//! The machine under construction.
//!
//! States, events, guards and actions are found by name here, and are in the order in which the spec first names them.
//! Drafts wrap the values of the IR, so that nothing is copied at the end: [`super::finish`] takes the values out, puts
//! states and transitions into document order, and renumbers every handle. Until then a `Handle<State>` counts states in
//! the order of their first mention.

use std::collections::BTreeMap;

use crate::arena::{Arena, Handle};
use crate::front::definition::ast::Kind;
use crate::front::expression::GuardText;
use crate::front::mermaid::ast::{Note, Stereotype};
use crate::front::words::{to_nfc, word_key};
use crate::ir::{
    Action, ActionKind, Ambiguity, Constant, Direction, Event, EventKind, Field, HostGuard,
    Initial, Meta, Operator, State, StateKind, Timer, Transition, Type, Verdict,
};
use crate::source::{Span, Spanned};

/// A state of the draft, until [`super::finish`] renumbers it.
pub(super) type StateHandle = Handle<State>;

/// The state that stands for the machine itself.
pub(super) const ROOT: StateHandle = Handle::FIRST;

/// A machine whose names are being resolved.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The states in the order of their first mention; the root first.
    pub(super) states: Vec<DraftState>,
    by_id: BTreeMap<String, StateHandle>,
    /// The final states that stand for `[*]`, by scope and source.
    ends: BTreeMap<(StateHandle, StateHandle), StateHandle>,
    /// The transitions in the order of the text.
    pub(super) transitions: Vec<DraftTransition>,
    /// The events in the order of their first mention.
    pub(super) events: Arena<Event>,
    events_by_words: BTreeMap<String, Handle<Event>>,
    /// The spellings of events in the definition, by their words.
    pub(super) spellings: BTreeMap<String, String>,
    /// The texts between the brackets of labels.
    pub(super) guard_texts: Arena<GuardText>,
    /// The guards of the host.
    pub(super) guards: Arena<HostGuard>,
    guards_by_name: BTreeMap<String, Handle<HostGuard>>,
    /// The number of comparisons, names and connectives in all guards.
    pub(super) guard_parts: usize,
    /// The comparisons `{field, op, value}`, by the span of their field.
    pub(super) comparisons: BTreeMap<Span, Comparison>,
    /// The fields that guards and assignments name.
    pub(super) fields: Arena<Field>,
    fields_by_path: BTreeMap<String, Handle<Field>>,
    /// The actions.
    pub(super) actions: Arena<Action>,
    actions_by_name: BTreeMap<String, Handle<Action>>,
    /// The timers.
    pub(super) timers: Arena<Timer>,
    /// The labels that were split, each in the state from which it leads to several places.
    pub(super) ambiguities: Vec<Ambiguity>,
    /// The last `direction` at the root of the diagram.
    pub(super) direction: Option<Direction>,
    /// The notes of the diagram.
    pub(super) notes: Vec<Note>,
    /// The labels in prose, each with the event that it became.
    pub(super) prose: Vec<(Spanned<String>, String)>,
}

/// A comparison of a field with constants in the definition.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) field: Handle<Field>,
    pub(super) operator: Operator,
    pub(super) constants: Vec<Spanned<Constant>>,
}

/// A state under construction.
#[derive(Debug)]
pub(super) struct DraftState {
    /// The state itself. [`super::finish`] sets its kind, initial, transitions and place in the tree.
    pub(super) ir: State,
    /// The kind that the spec gives it.
    pub(super) kind: Option<Kind>,
    /// Of a history: true if it remembers the leaves, not only the children.
    pub(super) deep: bool,
    /// The pseudo-state that the diagram declares, until `fork` and `choice` have resolved it.
    pub(super) pseudo: Option<Stereotype>,
    /// True if it has a body, in the diagram or in the definition.
    pub(super) has_body: bool,
    /// True for a nameless part of a parallel state, which keeps its position among its siblings.
    pub(super) is_region: bool,
    /// Of an implied state: the state that it was made for.
    pub(super) stands_for: StateHandle,
    /// True if it turned out to be no state after all; nothing leads to it.
    pub(super) dropped: bool,
    /// The statements of where it begins; the first one holds.
    pub(super) initials: Vec<Initial>,
    /// The actions that start its timers: first on entry.
    pub(super) schedules: Vec<Handle<Action>>,
    /// The actions that stop its timers: last on exit.
    pub(super) cancels: Vec<Handle<Action>>,
    /// The first statement that names it in its own scope; a transition to it is inserted before it.
    pub(super) first_statement: Span,
    /// The last statement that names it in its own scope; a transition from it is inserted after it.
    pub(super) last_statement: Span,
}

/// A transition under construction.
#[derive(Clone, Debug)]
pub(super) struct DraftTransition {
    /// The transition itself. [`super::finish`] sets its triggers.
    pub(super) ir: Transition,
    /// Its trigger, as far as it is known.
    pub(super) trigger: DraftTrigger,
    /// The guards in its label, and in the labels of the choices on its path: all must hold.
    ///
    /// They become its guard unless a definition has another.
    pub(super) label_guards: Vec<Handle<GuardText>>,
    /// True if its guard is `else`: it comes after its siblings of the same event.
    pub(super) otherwise: bool,
}

/// The trigger of a transition, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DraftTrigger {
    /// These events.
    Events(Vec<Handle<Event>>),
    /// An event followed by a parenthesis, which is a comment unless two of them would become one.
    Commented {
        /// The text before the parenthesis.
        name: Spanned<String>,
        /// The text with it.
        whole: Spanned<String>,
        /// The parenthesis.
        comment: Span,
    },
    /// None in the label: the rules for missing labels decide, once every state has its kind.
    Missing,
    /// All events that begin so: `job.*`, `*`.
    Pattern(Spanned<String>),
    /// None in the label, which led to a choice or a fork that is gone: the rules treat it as there.
    Toward(StateHandle),
    /// A delay in milliseconds, on a branch of a choice: the state that waits for it gets the timer.
    Delayed(u64),
    /// Nothing: taken as soon as its guard holds.
    Eventless,
    /// The completion of the source.
    Completion,
}

impl Draft {
    /// Returns a draft with nothing but a root.
    pub(super) fn new(id: &str, span: Span) -> Self {
        let mut draft = Self::default();
        let root = DraftState::new(id.to_owned(), span, None);
        draft.states.push(root);
        draft
    }

    /// Returns the handles of all states but the root, in the order of their first mention.
    pub(super) fn named_states(&self) -> impl Iterator<Item = StateHandle> + use<> {
        (1..self.states.len()).map(Handle::at)
    }

    /// Returns the state of an id.
    pub(super) fn state(&self, id: &str) -> Option<StateHandle> {
        self.by_id.get(to_nfc(id).as_ref()).copied()
    }

    /// Returns the state of an id, which is made in a scope if it is new.
    pub(super) fn intern_state(
        &mut self,
        id: &str,
        span: Span,
        parent: StateHandle,
    ) -> StateHandle {
        let id = to_nfc(id);
        if let Some(&state) = self.by_id.get(id.as_ref()) {
            if !self.get(state).ir.implied {
                return state;
            }
            // The author's own state has the name; the one that merely stands for a `[*]` takes another.
            self.by_id.remove(id.as_ref());
            let other = self.free_id(&format!("{id}_2"));
            self.by_id.insert(other.clone(), state);
            self.get_mut(state).ir.id = other;
        }
        self.push_state(DraftState::new(id.into_owned(), span, Some(parent)))
    }

    /// Makes a state that has no name in the spec, under an id similar to the wanted one.
    pub(super) fn implied_state(
        &mut self,
        wanted: &str,
        span: Span,
        parent: StateHandle,
        stands_for: StateHandle,
    ) -> StateHandle {
        let mut state = DraftState::new(self.free_id(wanted), span, Some(parent));
        state.ir.implied = true;
        state.stands_for = stands_for;
        self.push_state(state)
    }

    /// Returns the wanted id, or one like it that no state has.
    fn free_id(&self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        let mut count = 1;
        while self.by_id.contains_key(&id) {
            count += 1;
            id = format!("{wanted}_{count}");
        }
        id
    }

    /// Makes a region of a state. Its number counts from 1.
    pub(super) fn add_region(
        &mut self,
        parent: StateHandle,
        number: usize,
        span: Span,
    ) -> StateHandle {
        let wanted = format!("{}_{number}", self.get(parent).ir.id);
        let region = self.implied_state(&wanted, span, parent, parent);
        self.get_mut(region).is_region = true;
        self.get_mut(region).has_body = true;
        region
    }

    /// Returns the final state that `source --> [*]` leads to in a scope: one for each source.
    pub(super) fn intern_end(
        &mut self,
        scope: StateHandle,
        source: StateHandle,
        span: Span,
    ) -> StateHandle {
        if let Some(&end) = self.ends.get(&(scope, source)) {
            return end;
        }
        let id = format!("{}_end", self.get(source).ir.id);
        let end = self.implied_state(&id, span, scope, source);
        self.get_mut(end).kind = Some(Kind::Final);
        self.ends.insert((scope, source), end);
        end
    }

    /// Takes a state out: nothing may lead to it any more, and no lookup finds it.
    pub(super) fn drop_state(&mut self, state: StateHandle) {
        let drafted = self.get_mut(state);
        drafted.dropped = true;
        drafted.pseudo = None;
        let id = drafted.ir.id.clone();
        self.by_id.remove(&id);
    }

    fn push_state(&mut self, state: DraftState) -> StateHandle {
        let handle = Handle::at(self.states.len());
        self.by_id.insert(state.ir.id.clone(), handle);
        self.states.push(state);
        handle
    }

    /// Returns the name of a scope in messages.
    pub(super) fn scope_name(&self, scope: StateHandle) -> String {
        let state = self.get(scope);
        if scope == ROOT {
            return "the diagram itself".to_owned();
        }
        if !state.is_region {
            return format!("`{}`", state.ir.id);
        }
        let parent = self.parent(scope);
        let regions = self
            .children(parent)
            .filter(|&other| self.get(other).is_region);
        let number = regions.take_while(|&other| other != scope).count() + 1;
        format!("region {number} of `{}`", self.get(parent).ir.id)
    }

    /// Returns the ids of the states but the root and those without a name.
    pub(super) fn state_ids(&self) -> impl Iterator<Item = &str> {
        self.states
            .iter()
            .skip(1)
            .filter(|state| !state.ir.implied && !state.dropped)
            .map(|state| state.ir.id.as_str())
    }

    /// Returns the event with the words of a name, which is made if it is new.
    pub(super) fn intern_event(&mut self, name: &str, span: Span) -> Handle<Event> {
        let words = word_key(name);
        if let Some(&event) = self.events_by_words.get(words.as_ref()) {
            return event;
        }
        let spelled = self.spellings.get(words.as_ref()).cloned();
        let id = spelled.unwrap_or_else(|| to_nfc(name).into_owned());
        self.push_event(words.into_owned(), id, EventKind::Named, span)
    }

    /// Returns the engine's own event of an id, which is made if it is new.
    pub(super) fn intern_engine_event(
        &mut self,
        id: &str,
        kind: EventKind,
        span: Span,
    ) -> Handle<Event> {
        match self.events_by_words.get(id) {
            Some(&event) => event,
            None => self.push_event(id.to_owned(), id.to_owned(), kind, span),
        }
    }

    fn push_event(
        &mut self,
        words: String,
        id: String,
        kind: EventKind,
        span: Span,
    ) -> Handle<Event> {
        let handle = self.events.append(Event {
            id,
            span,
            kind,
            title: None,
            description: None,
            data: None,
        });
        self.events_by_words.insert(words, handle);
        handle
    }

    /// Returns the event with the words of a name.
    pub(super) fn event(&self, name: &str) -> Option<Handle<Event>> {
        self.events_by_words.get(word_key(name).as_ref()).copied()
    }

    /// Returns the guard of a name that isn't evaluated, which is made if it is new.
    pub(super) fn intern_guard(
        &mut self,
        name: &str,
        text: &str,
        span: Span,
        is_claim: bool,
    ) -> Handle<HostGuard> {
        let name = to_nfc(name);
        if let Some(&guard) = self.guards_by_name.get(name.as_ref()) {
            self.guards.at_mut(guard).is_claim |= is_claim;
            return guard;
        }
        let guard = HostGuard {
            name: name.clone().into_owned(),
            text: text.to_owned(),
            span,
            is_claim,
        };
        let handle = self.guards.append(guard);
        self.guards_by_name.insert(name.into_owned(), handle);
        handle
    }

    /// Returns the field of a path, which is made if it is new.
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

    /// Returns the action of a name, which is made if it is new.
    pub(super) fn intern_action(&mut self, name: &str, span: Span) -> Handle<Action> {
        let name = to_nfc(name);
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

    /// Adds a timer that runs while a state is active, and returns the event that it sends.
    pub(super) fn add_timer(
        &mut self,
        state: StateHandle,
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
        let name = format!("after.{}.{count}", self.get(state).ir.id);
        let event = self.intern_engine_event(&name, EventKind::Delayed, span);
        let timer = self.timers.append(Timer {
            name: name.clone(),
            span,
            event,
            of: Some(state),
        });
        let cancel = format!("cancel.{name}");
        let schedule = self.engine_action(&name, span, ActionKind::Schedule(timer, milliseconds));
        self.get_mut(state).schedules.push(schedule);
        let cancel = self.engine_action(&cancel, span, ActionKind::Cancel(timer));
        self.get_mut(state).cancels.push(cancel);
        event
    }

    /// Makes an action of the engine's, under the wanted name or one like it that no action has.
    fn engine_action(&mut self, wanted: &str, span: Span, kind: ActionKind) -> Handle<Action> {
        let mut name = wanted.to_owned();
        while self.has_action(&name) {
            name.push('_');
        }
        let action = self.intern_action(&name, span);
        self.actions.at_mut(action).kind = kind;
        action
    }

    /// Returns the action of a name, if something names it.
    pub(super) fn action(&self, name: &str) -> Option<Handle<Action>> {
        self.actions_by_name.get(to_nfc(name).as_ref()).copied()
    }

    /// Returns whether something names an action of that name.
    pub(super) fn has_action(&self, name: &str) -> bool {
        self.actions_by_name.contains_key(to_nfc(name).as_ref())
    }

    /// Returns the state of a handle of this draft.
    #[expect(
        clippy::indexing_slicing,
        reason = "handles come from this draft, whose states are never removed"
    )]
    pub(super) fn get(&self, state: StateHandle) -> &DraftState {
        &self.states[state.index()]
    }

    /// Returns the state of a handle of this draft, to be changed.
    #[expect(
        clippy::indexing_slicing,
        reason = "handles come from this draft, whose states are never removed"
    )]
    pub(super) fn get_mut(&mut self, state: StateHandle) -> &mut DraftState {
        &mut self.states[state.index()]
    }

    /// Returns the parent of a state; of the root, the root.
    pub(super) fn parent(&self, state: StateHandle) -> StateHandle {
        self.get(state).ir.parent.unwrap_or(ROOT)
    }

    /// Moves a state into another scope.
    pub(super) fn set_parent(&mut self, state: StateHandle, parent: StateHandle) {
        self.get_mut(state).ir.parent = Some(parent);
    }

    /// Returns the children of a state, in the order of their first mention.
    pub(super) fn children(&self, parent: StateHandle) -> impl Iterator<Item = StateHandle> {
        self.named_states()
            .filter(move |&state| self.parent(state) == parent && !self.get(state).dropped)
    }

    /// Returns the children of every state, by its index.
    ///
    /// Those with a name come first, in the order of their first mention, then those that stand for something, in the
    /// document order of what they stand for.
    pub(super) fn children_by_state(&self) -> Vec<Vec<StateHandle>> {
        let mut children = vec![Vec::new(); self.states.len()];
        let mut add = |state: StateHandle| {
            if let Some(list) = children.get_mut(self.parent(state).index()) {
                list.push(state);
            }
        };
        let kept = || {
            self.named_states()
                .filter(|&state| !self.get(state).dropped)
        };
        kept()
            .filter(|&state| !self.comes_last(state))
            .for_each(&mut add);
        let mut implied: Vec<StateHandle> =
            kept().filter(|&state| self.comes_last(state)).collect();
        if implied.len() > 1 {
            let mut rank = vec![0; self.states.len()];
            for (position, state) in document_order(&children).into_iter().enumerate() {
                if let Some(slot) = rank.get_mut(state.index()) {
                    *slot = position;
                }
            }
            implied.sort_by_key(|&state| rank.get(self.get(state).stands_for.index()).copied());
        }
        for state in implied {
            if let Some(list) = children.get_mut(self.parent(state).index()) {
                list.push(state);
            }
        }
        children
    }

    /// Returns whether a state comes after its siblings, because it has no name and is no region.
    fn comes_last(&self, state: StateHandle) -> bool {
        self.get(state).ir.implied && !self.get(state).is_region
    }

    /// Returns a state and its ancestors, the root last.
    pub(super) fn ancestry(&self, state: StateHandle) -> impl Iterator<Item = StateHandle> {
        std::iter::successors(Some(state), |&inner| {
            (inner != ROOT).then(|| self.parent(inner))
        })
    }

    /// Returns whether `inner` is `outer` or lies inside it.
    pub(super) fn is_within(&self, inner: StateHandle, outer: StateHandle) -> bool {
        self.ancestry(inner).any(|state| state == outer)
    }

    /// Returns whether a state is a region of a parallel state, or lies in one.
    pub(super) fn is_in_region(&self, state: StateHandle) -> bool {
        let mut ancestry = self.ancestry(state);
        ancestry
            .any(|state| state != ROOT && self.get(self.parent(state)).kind == Some(Kind::Parallel))
    }
}

impl DraftState {
    fn new(id: String, span: Span, parent: Option<StateHandle>) -> Self {
        Self {
            ir: State {
                id,
                span,
                kind: StateKind::Atomic,
                verdict: Verdict::Success,
                implied: false,
                parent,
                children: Vec::new(),
                end: 0,
                initial: None,
                entry: Vec::new(),
                exit: Vec::new(),
                transitions: 0..0,
                done: None,
                title: None,
                description: None,
                instructions: None,
                while_waiting: Vec::new(),
                on_max_iterations: None,
                meta: Meta::new(),
            },
            kind: None,
            deep: false,
            pseudo: None,
            has_body: false,
            is_region: false,
            stands_for: ROOT,
            dropped: false,
            initials: Vec::new(),
            schedules: Vec::new(),
            cancels: Vec::new(),
            first_statement: span,
            last_statement: span,
        }
    }

    /// Adds a title. Several are one, line by line, as Mermaid draws them.
    pub(super) fn add_title(&mut self, text: &str, span: Span) {
        match &mut self.ir.title {
            Some(title) => {
                title.value.push('\n');
                title.value.push_str(text);
            }
            None => self.ir.title = Some(Spanned::new(text.to_owned(), span)),
        }
    }

    /// Adds a statement that it begins at a state.
    pub(super) fn add_initial(&mut self, span: Span, target: StateHandle, inferred: bool) {
        self.initials.push(Initial {
            span,
            targets: vec![target],
            actions: Vec::new(),
            inferred,
        });
    }
}

/// Returns the states in document order: a parent before its children.
pub(super) fn document_order(children: &[Vec<StateHandle>]) -> Vec<StateHandle> {
    let mut order = Vec::with_capacity(children.len());
    let mut open = vec![ROOT];
    while let Some(state) = open.pop() {
        order.push(state);
        open.extend(children.get(state.index()).into_iter().flatten().rev());
    }
    order
}

impl DraftTransition {
    /// Returns a transition without trigger, guard and actions.
    pub(super) fn new(span: Span, source: StateHandle, target: Option<StateHandle>) -> Self {
        Self {
            ir: Transition {
                span,
                source,
                triggers: Vec::new(),
                guard: None,
                actions: Vec::new(),
                targets: target.into_iter().collect(),
                internal: false,
                implied: false,
                label: None,
                description: None,
                meta: Meta::new(),
            },
            trigger: DraftTrigger::Missing,
            label_guards: Vec::new(),
            otherwise: false,
        }
    }

    /// Returns an implied transition with a trigger.
    pub(super) fn implied(
        span: Span,
        source: StateHandle,
        target: StateHandle,
        trigger: DraftTrigger,
    ) -> Self {
        let mut transition = Self::new(span, source, Some(target));
        transition.ir.implied = true;
        transition.trigger = trigger;
        transition
    }
}
