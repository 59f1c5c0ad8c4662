//! SCXML documents become IR.
//!
//! SCXML says structure, order and ids itself, so there is no draft: the states are numbered in document order, then
//! names become handles. What this stage adds is what SCXML leaves to its processor:
//!
//! - A descriptor matches every event of which it is a prefix, so a transition gets all such events that the document
//!   names anywhere as its triggers (`events.rs`). `*` also takes names that the machine doesn't have.
//! - A state without `initial` begins at its first child; one without an id gets one.
//! - `<send>` is a timer of the host's, also where it doesn't wait: the event comes from outside.
//! - `<log>` is an action of the host's, with label and expression as they are written.
//!
//! Deliberately not here: whether the machine is any good, which the checks of [`crate::valid`] say of every machine.

mod content;
mod data;
mod events;
mod expression;
mod literal;
mod native;
mod states;
mod targets;

use std::collections::BTreeMap;

use crate::arena::{Arena, Handle};
use crate::diag::Diags;
use crate::front::scxml::ast::{self, Document};
use crate::front::words::to_nfc;
use crate::ir::{Action, Event, Field, HostGuard, Machine, Meta, Parts, State, Timer, Transition};
use crate::lower::trigger::TriggerCount;
use crate::source::{FileId, Span, Spanned};

/// Makes the machine of a document. `id` is the document's name, or what its file is called.
///
/// If `actions_fail`, actions of the host can fail where the document doesn't say otherwise.
#[must_use]
pub fn lower_scxml(
    document: &Document,
    file: FileId,
    id: Spanned<String>,
    actions_fail: bool,
    diags: &mut Diags,
) -> Machine {
    let nodes = states::flatten(&document.body);
    let mut lowering = Lowering {
        document,
        nodes,
        ids: Vec::new(),
        by_id: BTreeMap::new(),
        data: data::Data::default(),
        known: events::Known::default(),
        events: Arena::new(),
        event_ids: BTreeMap::new(),
        guards: Arena::new(),
        fields: Arena::new(),
        actions: Arena::new(),
        names: BTreeMap::new(),
        raises: BTreeMap::new(),
        given: BTreeMap::new(),
        actions_fail,
        nesting: 0,
        trigger: None,
        timers: Arena::new(),
        timer_keys: BTreeMap::new(),
        timer_names: BTreeMap::new(),
        triggers: TriggerCount::default(),
        diags,
    };
    lowering.name_states(&id.value);
    lowering.read_data();
    lowering.find_events();
    lowering.add_timers();
    let (states, transitions) = lowering.make_states();
    lowering.find_delays(&states);
    let ambiguities = lowering.ambiguities(&states, &transitions);
    let context = lowering.data.context();
    Machine {
        file,
        span: document.span,
        id,
        parts: Parts::default(),
        title: None,
        description: None,
        states,
        events: lowering.events,
        transitions,
        guards: lowering.guards,
        fields: lowering.fields,
        actions: lowering.actions,
        timers: lowering.timers,
        ambiguities,
        interrupts: Vec::new(),
        context,
        context_schema: None,
        meta: Meta::new(),
        direction: None,
        notes: Vec::new(),
        is_embedded: false,
    }
}

/// Returns the name that an action gets if the document gives it none, without the number.
pub(crate) fn default_name(machine: &Machine, action: &Action) -> String {
    content::name_of(action, &machine.events, &machine.timers, &machine.fields)
}

/// A state of the document with its place in document order.
#[derive(Clone, Copy, Debug)]
struct Node<'d> {
    state: &'d ast::State,
    parent: Option<Handle<State>>,
    /// One past its last descendant.
    end: usize,
}

/// The state of lowering a document.
struct Lowering<'d, 'f> {
    document: &'d Document,
    /// The states in document order.
    nodes: Vec<Node<'d>>,
    /// Their ids, given or made.
    ids: Vec<Spanned<String>>,
    by_id: BTreeMap<String, Handle<State>>,
    data: data::Data,
    known: events::Known,
    events: Arena<Event>,
    event_ids: BTreeMap<String, Handle<Event>>,
    guards: Arena<HostGuard>,
    fields: Arena<Field>,
    actions: Arena<Action>,
    /// The names of actions, with how many were made of each.
    names: BTreeMap<String, usize>,
    /// The actions that raise an event, by event and given name.
    raises: BTreeMap<(Handle<Event>, Option<String>), Handle<Action>>,
    /// The actions whose name is given, with what they say.
    given: BTreeMap<String, (Handle<Action>, String)>,
    /// True if actions of the host can fail that don't say otherwise.
    actions_fail: bool,
    /// The number of conditional actions around the current one.
    nesting: usize,
    /// The only event of the transition whose condition is read.
    trigger: Option<String>,
    timers: Arena<Timer>,
    /// The timers, by the id of the send and its event.
    timer_keys: BTreeMap<(Option<String>, String), Handle<Timer>>,
    /// By name of a timer: the last number that was added to it to tell another apart.
    timer_names: BTreeMap<String, usize>,
    /// The number of triggers of all transitions so far.
    triggers: TriggerCount,
    diags: &'f mut Diags,
}

impl<'d> Lowering<'d, '_> {
    fn node(&self, state: Handle<State>) -> Option<Node<'d>> {
        self.nodes.get(state.index()).copied()
    }

    fn id_of(&self, state: Handle<State>) -> &str {
        self.ids
            .get(state.index())
            .map_or("", |id| id.value.as_str())
    }

    fn place_of(&self, state: Handle<State>) -> Span {
        self.ids
            .get(state.index())
            .map_or(self.document.span, |id| id.span)
    }

    fn is_within(&self, inner: Handle<State>, outer: Handle<State>) -> bool {
        let end = self.node(outer).map_or(0, |node| node.end);
        (outer.index()..end).contains(&inner.index())
    }

    fn children(&self, state: Handle<State>) -> impl Iterator<Item = Handle<State>> + '_ {
        self.nodes
            .iter()
            .enumerate()
            .filter(move |(_, node)| node.parent == Some(state))
            .map(|(index, _)| Handle::at(index))
    }
}

/// Composes a name as it is compared: in Unicode's composed form.
fn plain(name: &Spanned<String>) -> String {
    to_nfc(&name.value).into_owned()
}

type Made = (Arena<State>, Arena<Transition>);
