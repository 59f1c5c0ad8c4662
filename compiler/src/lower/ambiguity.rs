//! Labels that lead to several places from one state.
//!
//! Diagrams for people often have them: a role or a sentence stands on every arrow out of a state. No order decides in a
//! diagram, so each way gets an event of its own, `<label>_to_<target>`, and the machine keeps which events the label may
//! mean in which state. A choice is gone by now: its branches are ways of its label, and their guards decide.
//!
//! It happens only where nothing else decides and every way has a name. The check `conflicting_transitions` reports the
//! other labels: those that lead to one place by different actions, or nowhere; those with a guard on one of the ways;
//! those that a state inside takes, too, because it would never get them; and those that the machine or a run raises by
//! itself, where nobody could choose.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, DraftTransition, DraftTrigger, StateHandle};
use crate::arena::Handle;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit, quoted_list};
use crate::front::definition::ast::{ActionDeclaration, Definition, Kind, Named, State};
use crate::front::words::{slug, word_key};
use crate::ir::{Ambiguity, Event, EventKind};
use crate::pass::internal::{RAISED_BY_CHILDREN, RAISED_BY_RUNS};
use crate::pass::trigger::differ;
use crate::source::Span;

/// A label of a state, with the transitions that it triggers there, as indices into the draft's.
struct Paths {
    source: StateHandle,
    label: Handle<Event>,
    transitions: Vec<usize>,
}

/// Gives each way of an ambiguous label an event of its own.
pub(super) fn split_labels(definition: Option<&Definition>, draft: &mut Draft, diags: &mut Diags) {
    let mut all = shared_labels(draft);
    if all.is_empty() {
        return;
    }
    let raised = raised_events(definition, draft);
    let overridden = overridden_labels(&all, draft);
    all.retain(|paths| {
        !raised.contains(&paths.label)
            && !overridden.contains(&(paths.source, paths.label))
            && draft.events.at(paths.label).kind == EventKind::Named
            && leads_to_several(paths, draft)
    });
    let mut names = Names::default();
    for paths in &all {
        if let Some(events) = names.add(paths, draft) {
            if is_misread(paths, draft, diags) {
                split(paths, &events, draft);
                continue;
            }
            let finding = ambiguous_label(paths, &events, draft);
            // A definition may name the label, too.
            let edits = written_out(paths, &events, draft).filter(|_| definition.is_none());
            let title = "write the events on the arrows";
            diags.push(finding.fix_or_help(Applicability::Unsafe, title, edits));
            split(paths, &events, draft);
        }
    }
}

/// Copies what the definition says of an ambiguous label to its events, where it says nothing of them.
pub(super) fn inherit_details(draft: &mut Draft) {
    for ambiguity in &draft.ambiguities {
        let label = draft.events.at(ambiguity.label).clone();
        for &event in &ambiguity.events {
            let event = draft.events.at_mut(event);
            if event.title.is_none() {
                event.title.clone_from(&label.title);
            }
            if event.description.is_none() {
                event.description.clone_from(&label.description);
            }
            if event.data.is_none() {
                event.data.clone_from(&label.data);
            }
        }
    }
}

/// Returns the labels that trigger several transitions of one state, in the order of the text.
fn shared_labels(draft: &Draft) -> Vec<Paths> {
    let mut triggered: Vec<(StateHandle, Handle<Event>, usize)> = Vec::new();
    for (index, transition) in draft.transitions.iter().enumerate() {
        if let DraftTrigger::Events(events) = &transition.trigger {
            let source = transition.ir.source;
            triggered.extend(events.iter().map(|&event| (source, event, index)));
        }
    }
    triggered.sort_unstable();
    let groups = triggered.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
    let mut all: Vec<Paths> = groups
        .filter(|group| group.len() > 1)
        .filter_map(|group| {
            let &(source, label, _) = group.first()?;
            let transitions = group.iter().map(|&(_, _, index)| index).collect();
            Some(Paths {
                source,
                label,
                transitions,
            })
        })
        .collect();
    all.sort_by_key(|paths| paths.transitions.first().copied());
    all
}

/// Returns the events that the machine or a run raises by itself, or sends for an agent.
fn raised_events(definition: Option<&Definition>, draft: &Draft) -> BTreeSet<Handle<Event>> {
    let mut raised: BTreeSet<Handle<Event>> = BTreeSet::new();
    raised.extend(RAISED_BY_RUNS.iter().filter_map(|name| draft.event(name)));
    let mut states = draft.states.iter();
    if states.any(|state| state.ir.meta.contains_key("invoke")) {
        let names = RAISED_BY_CHILDREN.iter();
        raised.extend(names.filter_map(|name| draft.event(name)));
    }
    let Some(definition) = definition else {
        return raised;
    };
    for action in &definition.actions {
        if let ActionDeclaration::Raise(event) = &action.value {
            raised.extend(draft.event(&event.value));
        }
    }
    add_sent_when_spent(&definition.states, draft, &mut raised);
    raised
}

/// Adds the events of `on_max_iterations`.
fn add_sent_when_spent(
    states: &[Named<State>],
    draft: &Draft,
    raised: &mut BTreeSet<Handle<Event>>,
) {
    for state in states {
        let event = state.value.on_max_iterations.as_ref();
        raised.extend(event.and_then(|event| draft.event(&event.value)));
        add_sent_when_spent(&state.value.states, draft, raised);
    }
}

/// Returns the labels of states that a state inside takes, too.
fn overridden_labels(all: &[Paths], draft: &Draft) -> BTreeSet<(StateHandle, Handle<Event>)> {
    let shared: BTreeSet<_> = all
        .iter()
        .map(|paths| (paths.source, paths.label))
        .collect();
    let mut overridden = BTreeSet::new();
    for transition in &draft.transitions {
        let DraftTrigger::Events(events) = &transition.trigger else {
            continue;
        };
        for outer in draft.ancestry(transition.ir.source).skip(1) {
            let labels = events.iter().map(|&event| (outer, event));
            overridden.extend(labels.filter(|label| shared.contains(label)));
        }
    }
    overridden
}

/// Reports whether a label leads to several places, and nothing but the place tells its ways apart.
fn leads_to_several(paths: &Paths, draft: &Draft) -> bool {
    let mut by_targets: BTreeMap<&[StateHandle], &DraftTransition> = BTreeMap::new();
    for transition in ways_of(paths, draft) {
        let ir = &transition.ir;
        let is_decided = ir.guard.is_some() || transition.otherwise;
        if is_decided || ir.implied || ir.targets.is_empty() {
            return false;
        }
        let first = by_targets.entry(&ir.targets).or_insert(transition);
        if differ(&first.ir, ir) {
            return false;
        }
    }
    by_targets.len() > 1
}

/// Reports whether a label leads to several places because some of it was hardly meant as this one.
///
/// A finding says so.
fn is_misread(paths: &Paths, draft: &Draft, diags: &Diags) -> bool {
    let is_meant = |transition: &&DraftTransition| {
        let label = transition.ir.label.as_ref();
        label.is_none_or(|label| !diags.covers(label.text.span))
    };
    let meant = ways_of(paths, draft).filter(is_meant);
    let targets: BTreeSet<&[StateHandle]> = meant.map(|it| it.ir.targets.as_slice()).collect();
    targets.len() < 2
}

fn ways_of<'d>(paths: &Paths, draft: &'d Draft) -> impl Iterator<Item = &'d DraftTransition> {
    let indices = paths.transitions.iter();
    indices.filter_map(|&index| draft.transitions.get(index))
}

/// A state that a way leads to; none for a `[*]`, which is another state for each source.
type Place = Option<StateHandle>;

fn target_place(target: StateHandle, draft: &Draft) -> Place {
    let state = draft.get(target);
    let is_star = state.ir.implied && state.kind == Some(Kind::Final);
    (!is_star).then_some(target)
}

/// The names of events that ways have got so far.
#[derive(Default)]
struct Names {
    /// The label of each event, and where it leads.
    meanings: BTreeMap<Handle<Event>, (Handle<Event>, Vec<Place>)>,
}

impl Names {
    /// Makes the events of a label's ways, or returns nothing if one of their names is taken or empty.
    ///
    /// The same label may lead to the same place from several states: that is one event.
    fn add(&mut self, paths: &Paths, draft: &mut Draft) -> Option<Vec<Handle<Event>>> {
        let mut wanted: BTreeMap<String, Vec<StateHandle>> = BTreeMap::new();
        let mut names = Vec::with_capacity(paths.transitions.len());
        for transition in ways_of(paths, draft) {
            let targets = &transition.ir.targets;
            let places: Vec<Place> = targets.iter().map(|it| target_place(*it, draft)).collect();
            let name = way_name(paths.label, &places, draft)?;
            let is_free = draft.event(&name).is_none_or(|event| {
                let meaning = self.meanings.get(&event);
                meaning.is_some_and(|(label, to)| *label == paths.label && *to == places)
            });
            let others = wanted
                .entry(word_key(&name).into_owned())
                .or_insert(targets.clone());
            if !is_free || others != targets {
                return None;
            }
            names.push((name, places, transition.ir.span));
        }
        let mut events = Vec::with_capacity(names.len());
        for (name, places, span) in names {
            let event = draft.intern_event(&name, span);
            self.meanings.insert(event, (paths.label, places));
            events.push(event);
        }
        Some(events)
    }
}

/// Returns the name of a label's way to some places; none if a state has no letter in its id.
fn way_name(label: Handle<Event>, places: &[Place], draft: &Draft) -> Option<String> {
    let id = |place: &Place| place.map_or("end".to_owned(), |state| slug(&draft.get(state).ir.id));
    let ids: Vec<String> = places.iter().map(id).collect();
    let has_names = ids.iter().all(|id| !id.is_empty());
    let label = &draft.events.at(label).id;
    // A definition may spell an event in words.
    let label = match label.contains(char::is_whitespace) {
        true => slug(label),
        false => label.clone(),
    };
    has_names.then(|| format!("{label}_to_{}", ids.join("_and_")))
}

/// Replaces a label by the events of its ways.
fn split(paths: &Paths, events: &[Handle<Event>], draft: &mut Draft) {
    for (&index, &event) in paths.transitions.iter().zip(events) {
        if let Some(transition) = draft.transitions.get_mut(index)
            && let DraftTrigger::Events(triggers) = &mut transition.trigger
        {
            for trigger in triggers.iter_mut().filter(|it| **it == paths.label) {
                *trigger = event;
            }
        }
    }
    let mut events = events.to_vec();
    events.sort_unstable();
    events.dedup();
    draft.ambiguities.push(Ambiguity {
        source: paths.source,
        label: paths.label,
        events,
    });
}

/// Most ways of a label that are shown in the text. Why: more would hide the point.
const MOST_SHOWN: usize = 5;

fn ambiguous_label(paths: &Paths, events: &[Handle<Event>], draft: &Draft) -> Diagnostic {
    let label = &draft.events.at(paths.label).id;
    let source = &draft.get(paths.source).ir.id;
    let event = |event: &Handle<Event>| format!("sent as `{}`", draft.events.at(*event).id);
    let transitions = || ways_of(paths, draft);
    let mut places: Vec<String> = Vec::new();
    let mut seen: BTreeSet<&[StateHandle]> = BTreeSet::new();
    for transition in transitions().filter(|it| seen.insert(&it.ir.targets)) {
        let ids = transition.ir.targets.iter().map(|&target| {
            let place = target_place(target, draft);
            place.map_or("[*]", |state| draft.get(state).ir.id.as_str())
        });
        places.push(ids.collect::<Vec<_>>().join("`, `"));
    }
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let message = format!(
        "`{label}` leads from `{source}` to {}, so each way has an event of its own",
        quoted_list(&places)
    );
    let mut spans = transitions()
        .map(|transition| transition.ir.span)
        .zip(events);
    let first = spans.next();
    let span = first.map_or(draft.events.at(paths.label).span, |(span, _)| span);
    let mut diagnostic = Diagnostic::new(Code::AmbiguousLabel, span, message)
        .label(first.map_or_else(String::new, |(_, first)| event(first)));
    for (span, way) in spans.take(MOST_SHOWN - 1) {
        diagnostic = diagnostic.related(span, event(way));
    }
    diagnostic
        .note(format!(
            "while `{source}` is active, `{label}` itself is refused"
        ))
        .help("to have data decide, give the ways guards, such as `[condition]`")
}

/// Returns the edits that write the events in place of the label; none if a label says more.
fn written_out(paths: &Paths, events: &[Handle<Event>], draft: &Draft) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut seen: BTreeSet<Span> = BTreeSet::new();
    for (transition, &event) in ways_of(paths, draft).zip(events) {
        let is_bare = matches!(&transition.trigger, DraftTrigger::Events(all) if all.len() == 1)
            && transition.ir.actions.is_empty();
        let label = transition.ir.label.as_ref().filter(|_| is_bare)?;
        let span = label.text.span;
        // Through a choice, several ways have one label.
        if !seen.insert(span) || !transition.ir.span.contains(span) {
            return None;
        }
        let text = draft.events.at(event).id.clone();
        edits.push(Edit { span, text });
    }
    Some(edits)
}
