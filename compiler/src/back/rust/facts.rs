//! Facts about a machine that the parts of its generated module share.
//!
//! [`Facts`] are found once; the writers only read them. The step algorithm is flattened here:
//! [`Facts::candidates`] says which transitions an event may take in a leaf, [`Facts::route`] what a transition leaves
//! and enters. Source: SCXML, appendix D, for machines with one active leaf.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use statemark_runtime::Table;

use super::layout::{Data, Payload, is_of_event, is_read};
use super::places::Places;
use crate::arena::Handle;
use crate::back::table;
use crate::ir::{
    Action, ActionKind, Event, EventKind, Expression, ExpressionKind, Field, Machine, State,
    StateKind, Timer, Transition,
};
use crate::pass::names::{Names, names, upper_camel};
use crate::pass::shape::Member;

/// Most states that are written out as `match`.
///
/// Unit: states, the root included. Why: a `match` over a thousand states takes a release build 4 CPU-seconds, const
/// rows take one; people draw some thirty states.
const MAX_WRITTEN_STATES: usize = 300;

/// Most pairs of a leaf and a transition that are written out.
///
/// Unit: arms of a `match`. Why: see [`MAX_WRITTEN_STATES`]; hierarchy multiplies, so that few states can have many
/// arms.
const MAX_WRITTEN_ARMS: usize = 2_000;

/// The choices in which a machine is written as Rust.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The path of the crate `statemark-runtime` where the code is compiled.
    pub runtime: String,
    /// The module's name; by default the machine's id.
    pub module: Option<String>,
    /// The name of the spec that the head of a file shows; none without it.
    pub source: Option<String>,
    /// The hash of the machine's table; without it the table is made and hashed.
    pub table_hash: Option<[u8; 32]>,
    /// True to write the machine a second time, with its states as types.
    ///
    /// [`typestate_obstacle`](super::typestate_obstacle) says if that is possible.
    pub typestate: bool,
    /// True to have the module's page show a drawing of the machine, where rustdoc makes it.
    pub drawing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runtime: "::statemark_runtime".to_owned(),
            module: None,
            source: None,
            table_hash: None,
            typestate: false,
            drawing: false,
        }
    }
}

/// A machine with what its generated module is made of.
pub(super) struct Facts<'m> {
    pub(super) machine: &'m Machine,
    pub(super) options: &'m Options,
    pub(super) names: Names,
    /// The context, if the machine's data is declared.
    pub(super) data: Option<Data>,
    /// The variants of `State`, in document order.
    pub(super) leaves: Vec<Handle<State>>,
    /// The variants of `Super`, in document order: compound states but the root.
    pub(super) supers: Vec<Handle<State>>,
    /// The variants of `Event`.
    pub(super) events: Vec<Handle<Event>>,
    /// True if a trait `Host` is needed, for actions, guards or fields.
    pub(super) has_host: bool,
    /// True if fields are read from the host.
    ///
    /// Those are fields of a context that isn't declared, and of event data without a type.
    pub(super) has_fields: bool,
    /// True if any transition has a guard.
    pub(super) has_guards: bool,
    /// True if any transition needs no event.
    pub(super) has_eventless: bool,
    /// True if the machine raises any event itself.
    pub(super) has_raised: bool,
    /// True if nothing happens at the start but that the initial configuration is entered.
    pub(super) starts_at_rest: bool,
    /// True if the machine is in one state at a time, and its steps change nothing else.
    ///
    /// It has no parallel states, history, timers, assignments or conditional actions. Its API is the simple one,
    /// whatever its size.
    pub(super) is_plain: bool,
    /// True if it is too large to be written out as `match`.
    ///
    /// Lookups are const tables then, and its steps are walked.
    pub(super) is_large: bool,
    /// True if the runtime steps the machine over const rows: it isn't plain, or it is large.
    pub(super) walked: bool,
    /// True if any action assigns.
    pub(super) assigns: bool,
    /// True if any action of the host's can fail.
    pub(super) fails: bool,
    /// True if it has parallel states or history, so that it may be in several states at once.
    pub(super) has_regions: bool,
    /// The table of a machine with regions, from which its rows take what steps look up.
    pub(super) table: Option<Table>,
    /// The places of a machine with regions that is written out by them.
    pub(super) places: Option<Places>,
    /// For each leaf, in order: each event with a transition that it may take, in the order of selection.
    /// Empty where the machine is walked.
    arms: Vec<Vec<Reaction>>,
    /// The variants of `Timer`.
    timers: Vec<Ident>,
    /// The variants of `Action`, by the number of the action.
    actions: Vec<Ident>,
}

/// An event, or `None` for what needs none, and a transition that it may take.
pub(super) type Reaction = (Option<Handle<Event>>, Handle<Transition>);

/// One part of what a transition enters.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// A state is entered, then its entry actions run.
    State(Handle<State>),
    /// The actions of a state's initial transition run.
    Initial(Handle<State>),
}

/// The states that a transition exits and enters.
pub(super) struct Route {
    /// The states exited from the source outward, innermost first; what is active inside is exited before.
    pub(super) exits: Vec<Handle<State>>,
    /// True if what is active inside the source is exited.
    pub(super) leaves_inside: bool,
    /// The states entered, outermost first.
    pub(super) entries: Vec<Entry>,
    /// The leaf that the machine is in then; `None` for one that only acts.
    pub(super) leaf: Option<Handle<State>>,
}

impl<'m> Facts<'m> {
    pub(super) fn new(machine: &'m Machine, options: &'m Options) -> Self {
        let mut facts = Self::outline(machine, options);
        facts.starts_at_rest = facts.rests_after_start();
        facts.flatten();
        if facts.has_regions {
            // INVARIANT: a machine that passed the checks has a table that verifies.
            facts.table = statemark_runtime::verify(table::rows(machine)).ok();
        }
        let reads_more = facts.has_fields || facts.data.is_some();
        if !facts.is_large && !reads_more && !changes_more(machine) {
            let table = facts.table.as_ref();
            facts.places = table.and_then(|table| Places::find(machine, table));
        }
        facts
    }

    /// Finds what doesn't follow from steps: names, data, and what the host is asked.
    ///
    /// A machine with errors has that much, too.
    pub(super) fn outline(machine: &'m Machine, options: &'m Options) -> Self {
        let names = names(machine);
        let data = Data::infer(machine, &names);
        let has_eventless = machine
            .transitions
            .iter()
            .any(|(_, t)| t.triggers.is_empty());
        let has_raised = machine
            .actions
            .iter()
            .any(|(_, action)| action.kind.raised().is_some())
            || machine.states.iter().any(|(_, state)| state.done.is_some())
            // Also where nothing ever raises it: what triggers a transition is more than an `Event` then.
            || events(machine).len() < machine.events.len();
        let carries_out = machine.actions.iter().any(|(_, action)| match action.kind {
            ActionKind::Raise(_) => false,
            ActionKind::Host => !is_effect(action),
            ActionKind::Assign(_) | ActionKind::If { .. } => data.is_none(),
            _ => true,
        }) || !machine.timers.is_empty();
        let mut fields = machine.fields.iter();
        let has_fields = fields.any(|(handle, field)| {
            data.as_ref()
                .is_none_or(|data| is_of_event(&field.path) && data.layout.is_open(handle))
        });
        Self {
            machine,
            options,
            names,
            leaves: machine
                .leaves()
                .filter(|(_, s)| s.parent.is_some())
                .map(|(h, _)| h)
                .collect(),
            supers: supers(machine),
            events: events(machine),
            has_host: carries_out
                || has_fields
                || !machine.guards.is_empty()
                || (data.is_none() && machine.transitions.iter().any(|(_, t)| t.guard.is_some())),
            has_fields,
            has_guards: machine.transitions.iter().any(|(_, t)| t.guard.is_some()),
            has_eventless,
            has_raised,
            starts_at_rest: false,
            is_plain: is_plain(machine),
            is_large: false,
            walked: false,
            assigns: machine
                .actions
                .iter()
                .any(|(_, action)| is_assignment(action)),
            fails: machine
                .actions
                .iter()
                .any(|(_, action)| action.kind == ActionKind::Fallible),
            has_regions: has_regions(machine),
            table: None,
            places: None,
            arms: Vec::new(),
            timers: distinct(machine.timers.iter().map(|(_, it)| it.name.as_str())),
            actions: distinct(machine.actions.iter().map(|(_, it)| it.name.as_str())),
            data,
        }
    }

    /// Returns true if a step may take more than one transition.
    pub(super) fn runs_on(&self) -> bool {
        self.has_eventless || self.has_raised
    }

    /// Returns the data of the events that have a struct for it.
    pub(super) fn payloads(&self) -> &[Payload] {
        self.data.as_ref().map_or(&[], |data| &data.payloads)
    }

    /// Returns true if any event's schema requires something, so that `Event` carries its data.
    pub(super) fn has_required_data(&self) -> bool {
        self.payloads().iter().any(Payload::is_required)
    }

    /// Returns the data that an event can't be sent without.
    pub(super) fn required(&self, event: Handle<Event>) -> Option<&Payload> {
        let mut payloads = self.payloads().iter();
        payloads.find(|payload| payload.event == event && payload.is_required())
    }

    /// Returns the identifier of the type that names events: `Event` itself if none carries data.
    pub(super) fn event_name(&self) -> Ident {
        let name = if self.has_required_data() {
            "EventName"
        } else {
            "Event"
        };
        Ident::new(name, Span::call_site())
    }

    /// Returns true if an assignment without a value fails the step, and doesn't raise an event.
    pub(super) fn can_lack_value(&self) -> bool {
        let mut events = self.machine.events.iter();
        self.assigns && !events.any(|(_, event)| event.kind == EventKind::Fault)
    }

    /// Returns true if errors of steps name actions.
    pub(super) fn has_actions(&self) -> bool {
        self.fails || self.can_lack_value()
    }

    /// Returns true if any event's data is merged into the context.
    pub(super) fn merges(&self) -> bool {
        !self.merge_targets().is_empty()
    }

    /// Returns true if a step's changes of the context may have to be taken back.
    pub(super) fn undoes(&self) -> bool {
        self.data.is_some() && (self.assigns || self.merges())
    }

    /// Returns true if the host keeps what a step that fails has to take back: timers, or data.
    pub(super) fn host_undoes(&self) -> bool {
        !self.machine.timers.is_empty() || (self.assigns && self.data.is_none())
    }

    /// Returns true if expressions read event data that came in a struct.
    pub(super) fn receives(&self) -> bool {
        is_read(self.machine, self.payloads())
    }

    /// Returns true if the host is asked for a field of event data where no struct came.
    pub(super) fn is_open(&self, field: Handle<Field>) -> bool {
        let data = self.data.as_ref();
        data.is_none_or(|data| data.layout.is_open(field))
    }

    /// Returns true if all states are children of the root.
    pub(super) fn is_flat(&self) -> bool {
        self.supers.is_empty()
    }

    /// Returns true if a step only changes the state, so that it can be a `const fn` of state and event.
    pub(super) fn is_pure(&self) -> bool {
        let still = !self.has_guards && !self.runs_on() && self.machine.actions.is_empty();
        self.is_flat() && self.is_plain && still
    }

    /// Returns true if the machine sends itself events that aren't in `Event`.
    pub(super) fn has_engine_events(&self) -> bool {
        self.events.len() < self.machine.events.len()
    }

    /// Returns the events that can trigger a transition, which are all.
    pub(super) fn triggers(&self) -> impl Iterator<Item = Handle<Event>> + use<> {
        self.machine.events.handles()
    }

    /// Returns true if the machine has ended in that state.
    pub(super) fn is_end(&self, state: Handle<State>) -> bool {
        let state = &self.machine.states.at(state);
        state.kind == StateKind::Final && state.parent == Some(self.machine.root())
    }

    /// Returns true if any state ends the machine.
    pub(super) fn can_end(&self) -> bool {
        self.leaves.iter().any(|&leaf| self.is_end(leaf))
    }

    /// Returns the identifier of a state's variant.
    pub(super) fn variant(&self, state: Handle<State>) -> Ident {
        Ident::new(self.names.state(state), Span::call_site())
    }

    /// Returns the identifier of an event's variant.
    pub(super) fn event(&self, event: Handle<Event>) -> Ident {
        Ident::new(self.names.event(event), Span::call_site())
    }

    /// Returns the innermost `Super` around a state.
    pub(super) fn parent(&self, state: Handle<State>) -> Option<Handle<State>> {
        self.machine
            .states
            .at(state)
            .parent
            .filter(|&parent| parent != self.machine.root())
    }

    /// Returns the leaf in which the machine begins.
    pub(super) fn initial(&self) -> Option<Handle<State>> {
        self.machine
            .default_leaf(self.machine.root())
            .filter(|leaf| leaf.index() != 0)
    }

    /// Returns the reactions of a leaf and the states around it, in the order of selection.
    ///
    /// That order is innermost first, then document order.
    fn chain(&self, leaf: Handle<State>) -> impl Iterator<Item = Reaction> {
        let machine = self.machine;
        let ended = self.is_end(leaf);
        let states = machine.ancestry(leaf).filter(move |_| !ended);
        states
            .flat_map(move |state| machine.transitions_of(state))
            .flat_map(|(handle, t)| {
                let eventless = t.triggers.is_empty().then_some((None, handle));
                let triggered = t.triggers.iter().map(move |&event| (Some(event), handle));
                eventless.into_iter().chain(triggered)
            })
    }

    /// Decides whether the machine is written out, and lists the arms if it is.
    fn flatten(&mut self) {
        let mut total = 0;
        let mut arms = Vec::new();
        self.is_large = self.machine.states.len() > MAX_WRITTEN_STATES;
        for &leaf in &self.leaves {
            if self.is_large || !self.is_plain {
                break;
            }
            let list: Vec<_> = self.chain(leaf).take(MAX_WRITTEN_ARMS + 1).collect();
            total += list.len();
            arms.push(list);
            self.is_large = total > MAX_WRITTEN_ARMS;
        }
        self.walked = self.is_large || !self.is_plain;
        if !self.walked {
            self.arms = arms;
        }
    }

    /// Returns the leaves with their reactions; none if the machine is walked.
    pub(super) fn arms(&self) -> impl Iterator<Item = (Handle<State>, &[Reaction])> {
        self.leaves
            .iter()
            .copied()
            .zip(self.arms.iter().map(Vec::as_slice))
    }

    /// Returns the events that a leaf reacts to, in the order of `Event`; guards aren't asked.
    pub(super) fn events_of(&self, leaf: Handle<State>) -> Vec<Handle<Event>> {
        let mut events: Vec<_> = self
            .chain(leaf)
            .filter_map(|(event, _)| event)
            .filter(|&event| self.machine.events.at(event).kind.is_sendable())
            .collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// Returns the states that a transition exits and enters.
    ///
    /// It is SCXML's `getTransitionDomain`, `computeExitSet` and `computeEntrySet`.
    pub(super) fn route(&self, transition: Handle<Transition>) -> Route {
        let machine = self.machine;
        let row = machine.transitions.at(transition);
        let source = row.source;
        let Some(target) = row.target() else {
            return Route {
                exits: vec![],
                leaves_inside: false,
                entries: vec![],
                leaf: None,
            };
        };
        let domain = self.domain(transition);
        let mut entries = Vec::new();
        let leaf = self.enter(domain, target, &mut entries);
        let exits = machine
            .ancestry(source)
            .take_while(|&state| state != domain)
            .collect();
        Route {
            exits,
            leaves_inside: true,
            entries,
            leaf: Some(leaf),
        }
    }

    /// Returns the entries of the initial configuration.
    pub(super) fn start(&self) -> Vec<Entry> {
        let root = self.machine.root();
        let mut entries = vec![Entry::Initial(root)];
        let initial = self.machine.states.at(root).initial.as_ref();
        if let Some(&target) = initial.and_then(|initial| initial.targets.first()) {
            self.enter(root, target, &mut entries);
        }
        entries
    }

    /// Returns the innermost compound state that a transition stays inside of.
    ///
    /// A history counts as its place in the tree.
    pub(super) fn domain(&self, transition: Handle<Transition>) -> Handle<State> {
        let machine = self.machine;
        let Transition {
            source,
            internal,
            targets,
            ..
        } = machine.transitions.at(transition);
        let (source, internal) = (*source, *internal);
        let holds = |state| {
            let compound = machine.states.at(state).kind == StateKind::Compound;
            let mut targets = targets.iter();
            compound && targets.all(|&target| state != target && machine.is_within(target, state))
        };
        let inside = internal && holds(source);
        let mut outwards = machine.ancestry(source).skip(usize::from(!inside));
        outwards
            .find(|&state| holds(state))
            .unwrap_or_else(|| machine.root())
    }

    /// Lists what is entered from `domain` to `target` and on by default, and gives the leaf.
    fn enter(
        &self,
        domain: Handle<State>,
        target: Handle<State>,
        entries: &mut Vec<Entry>,
    ) -> Handle<State> {
        let mut inside = domain;
        let mut target = target;
        loop {
            let outwards = self
                .machine
                .ancestry(target)
                .take_while(|&state| state != inside);
            let path: Vec<_> = outwards.collect();
            entries.extend(path.into_iter().rev().map(Entry::State));
            let state = &self.machine.states.at(target);
            let Some(initial) = state
                .initial
                .as_ref()
                .filter(|_| state.kind == StateKind::Compound)
            else {
                return target;
            };
            entries.push(Entry::Initial(target));
            // INVARIANT: an initial target is a proper descendant, so each round goes further down the tree.
            inside = target;
            let Some(&next) = initial.targets.first() else {
                return target;
            };
            target = next;
        }
    }

    /// Returns the actions of one part of an entry.
    pub(super) fn entry_actions(&self, entry: Entry) -> &'m [Handle<Action>] {
        match entry {
            Entry::State(state) => &self.machine.states.at(state).entry,
            Entry::Initial(state) => {
                let initial = self.machine.states.at(state).initial.as_ref();
                initial.map_or(&[], |initial| initial.actions.as_slice())
            }
        }
    }

    /// Returns the event that entering a state raises because it completes its parent.
    pub(super) fn completes(&self, state: Handle<State>) -> Option<Handle<Event>> {
        let state = &self.machine.states.at(state);
        let parent = state.parent.filter(|_| state.kind == StateKind::Final)?;
        self.machine.states.at(parent).done
    }

    /// Returns true if entering the initial configuration only changes the state.
    pub(super) fn starts_silent(&self) -> bool {
        let silent = |&entry: &Entry| {
            let completes = matches!(entry, Entry::State(state) if self.completes(state).is_some());
            !completes && self.entry_actions(entry).is_empty()
        };
        self.start().iter().all(silent)
    }

    fn rests_after_start(&self) -> bool {
        let raises =
            |&action: &Handle<Action>| self.machine.actions.at(action).kind.raised().is_some();
        let quiet = self.start().into_iter().all(|entry| {
            let completes = match entry {
                Entry::State(state) => self.completes(state).is_some(),
                Entry::Initial(_) => false,
            };
            !completes && !self.entry_actions(entry).iter().any(raises)
        });
        let eventless = |leaf| self.chain(leaf).any(|(event, _)| event.is_none());
        quiet && !self.initial().is_some_and(eventless)
    }

    /// Returns true if a guard is one question to the host, or its opposite.
    ///
    /// It is short enough to be written in place.
    pub(super) fn is_short(guard: &Expression) -> bool {
        match &guard.kind {
            ExpressionKind::Ask(_) => true,
            ExpressionKind::Not(inner) => matches!(inner.kind, ExpressionKind::Ask(_)),
            _ => false,
        }
    }

    /// Returns the identifier of the type that triggers transitions: that of events if nothing else can.
    pub(super) fn trigger_type(&self) -> Ident {
        if self.has_engine_events() {
            Ident::new("Trigger", Span::call_site())
        } else {
            self.event_name()
        }
    }

    /// Returns the identifier of a timer's variant.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is one for each timer, and arenas never shrink"
    )]
    pub(super) fn timer(&self, timer: Handle<Timer>) -> &Ident {
        &self.timers[timer.index()]
    }

    /// Returns the identifier of an action's variant.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is one for each action, and arenas never shrink"
    )]
    pub(super) fn action(&self, action: Handle<Action>) -> &Ident {
        &self.actions[action.index()]
    }

    /// Returns the actions that errors name: those of the host, and those that assign.
    pub(super) fn named_actions(&self) -> impl Iterator<Item = (Handle<Action>, &'m Action)> {
        let actions = self.machine.actions.iter();
        actions.filter(|(_, action)| {
            (action.kind.is_host() && !is_effect(action)) || is_assignment(action)
        })
    }

    /// Returns the actions that the host carries out in the step.
    pub(super) fn host_actions(&self) -> impl Iterator<Item = (Handle<Action>, &'m Action)> {
        let actions = self.machine.actions.iter();
        actions.filter(|(_, action)| action.kind.is_host() && !is_effect(action))
    }

    /// Returns the actions that are effects: they are handed over after the step.
    pub(super) fn effects(&self) -> impl Iterator<Item = (Handle<Action>, &'m Action)> {
        let actions = self.machine.actions.iter();
        actions.filter(|(_, action)| is_effect(action))
    }

    /// Returns true if the machine declares effects.
    pub(super) fn has_effects(&self) -> bool {
        self.effects().next().is_some()
    }

    /// Returns true if an action of the initial configuration can fail, in a machine with one leaf.
    pub(super) fn start_fails(&self) -> bool {
        let fails =
            |action: &Handle<Action>| self.machine.actions.at(*action).kind == ActionKind::Fallible;
        let entries = self.start().into_iter();
        entries
            .flat_map(|entry| self.entry_actions(entry))
            .any(fails)
    }

    /// Returns the fields of an event's data that are merged, each with its index and field in the context.
    pub(super) fn merged<'f>(
        &'f self,
        payload: &'f Payload,
    ) -> impl Iterator<Item = (&'f Member, usize, &'f Member)> {
        let context = self.data.as_ref().map(|data| &data.layout);
        let fields = payload.data.layout.members.iter();
        fields.filter_map(move |field| {
            let context = context.filter(|context| context.merges(payload.event, &field.name))?;
            let mut own = context.members.iter().enumerate();
            let (at, own) = own.find(|(_, own)| own.name == field.name)?;
            Some((field, at, own))
        })
    }

    /// Returns the fields of the context that events' data is merged into, each with its index.
    pub(super) fn merge_targets(&self) -> Vec<(usize, &Member)> {
        let merged = self.payloads().iter();
        let merged = merged.flat_map(|payload| self.merged(payload));
        let mut targets: Vec<_> = merged.map(|(_, at, own)| (at, own)).collect();
        targets.sort_by_key(|&(at, _)| at);
        targets.dedup_by_key(|&mut (at, _)| at);
        targets
    }
}

/// Returns a variant for each name; a number is appended to one that is taken.
fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Ident> {
    let mut taken = BTreeSet::new();
    let name = |name| {
        let (wanted, _) = upper_camel(name);
        let mut name = wanted.clone();
        let mut count = 1;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}{count}");
        }
        Ident::new(&name, Span::call_site())
    };
    names.map(name).collect()
}

fn has_regions(machine: &Machine) -> bool {
    let mut states = machine.states.iter();
    states.any(|(_, state)| state.kind == StateKind::Parallel || state.kind.is_history())
}

/// Returns true if an action is handed over after the step.
///
/// One that can fail the step is carried out in it.
pub(super) fn is_effect(action: &Action) -> bool {
    action.kind == ActionKind::Host && action.meta.contains_key("effect")
}

const fn is_assignment(action: &Action) -> bool {
    matches!(action.kind, ActionKind::Assign(_))
}

fn is_plain(machine: &Machine) -> bool {
    !has_regions(machine) && !changes_more(machine)
}

/// Returns true if steps may change more than what is active, or act by a condition.
fn changes_more(machine: &Machine) -> bool {
    let mut actions = machine.actions.iter();
    let conditional = actions
        .any(|(_, action)| is_assignment(action) || matches!(action.kind, ActionKind::If { .. }));
    conditional || !machine.timers.is_empty()
}

fn supers(machine: &Machine) -> Vec<Handle<State>> {
    let outer = |(_, state): &(Handle<State>, &State)| state.kind.has_children();
    machine
        .named_states()
        .filter(outer)
        .map(|(handle, _)| handle)
        .collect()
}

fn events(machine: &Machine) -> Vec<Handle<Event>> {
    machine
        .events
        .iter()
        .filter(|(_, event)| event.kind.is_sendable())
        .map(|(handle, _)| handle)
        .collect()
}
