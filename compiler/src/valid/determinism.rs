//! Checks of determinism: transitions that compete, and steps that never come to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{Action, Event, EventKind, Expression, Machine, State, StateKind, Transition};
use crate::pass::rest::find_unrest;
use crate::pass::trigger::{
    Deed, deed, delay, describe_trigger, differ, format_duration, is_drawn,
};

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::Text(conflicting_transitions),
    Check::Text(shadowed_transitions),
    // Before all other checks of behavior: nothing else is certain of a machine that never comes to rest.
    Check::Behavior(eventless_cycles),
    Check::Behavior(overridden_transitions),
    Check::Behavior(unbounded_raises),
];

/// Reports SM401: drawn transitions of one state that compete for an event.
///
/// They have no guard and do different things. A definition's list of branches is ordered; there, the later one is shadowed.
fn conflicting_transitions(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    for state in machine.states.handles() {
        let unguarded = || {
            let transitions = machine.transitions_of(state).map(|(_, it)| it);
            transitions.filter(|transition| transition.guard.is_none())
        };
        if unguarded().nth(1).is_none() {
            continue;
        }
        let mut first: BTreeMap<Handle<Event>, &Transition> = BTreeMap::new();
        for transition in unguarded().filter(|it| is_drawn(machine, it)) {
            for &event in &transition.triggers {
                let earlier = *first.entry(event).or_insert(transition);
                if differ(earlier, transition) {
                    diags.push(conflicting_transition(machine, event, earlier, transition));
                }
            }
        }
    }
}

fn conflicting_transition(
    machine: &Machine,
    event: Handle<Event>,
    earlier: &Transition,
    later: &Transition,
) -> Diagnostic {
    let source = &machine.states.at(later.source).id;
    let trigger = describe_trigger(machine, later.source, event);
    let subject = match machine.events.at(event).kind {
        EventKind::Completion(_) => format!("the end of `{source}`"),
        _ => match delay(machine, later.source, event) {
            Some(milliseconds) => {
                format!("`after {}` in `{source}`", format_duration(milliseconds))
            }
            None => format!("`{}` in `{source}`", machine.events.at(event).id),
        },
    };
    let what = if earlier.targets == later.targets {
        "does two things"
    } else {
        "leads to two places"
    };
    let message = format!("{subject} {what}, and nothing says which");
    Diagnostic::new(Code::ConflictingTransitions, later.span, message)
        .label(format!("{} {trigger}", describe_target(machine, later)))
        .related(
            earlier.span,
            format!("{} {trigger} too", describe_target(machine, earlier)),
        )
        .help("give one of them a guard, such as `[condition]`, or another event")
}

fn describe_target(machine: &Machine, transition: &Transition) -> String {
    let is_star = |state: &State| state.implied && state.kind == StateKind::Final;
    match transition.targets.as_slice() {
        [] => "stays".to_owned(),
        &[target] if is_star(machine.states.at(target)) => "leads to `[*]`".to_owned(),
        targets => {
            let ids = targets.iter().map(|&target| &machine.states.at(target).id);
            let ids: Vec<&str> = ids.map(String::as_str).collect();
            format!("leads to {}", quoted_list(&ids))
        }
    }
}

/// Reports SM402: transitions that an earlier one of the same state and event hides.
///
/// It has no guard, or the same guard.
fn shadowed_transitions(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let mut waiting = Vec::new();
    for state in machine.states.handles() {
        for (later, earlier) in hidden(machine, state, &mut waiting) {
            if let Some(event) = shared_event(earlier, later) {
                diags.push(shadowed_transition(machine, event, earlier, later));
            }
        }
    }
}

/// Returns the hidden ones of a state's transitions, each with the first that hides it.
///
/// `waiting` is memory for the transitions by what they wait for, `None` for eventless ones.
fn hidden<'m>(
    machine: &'m Machine,
    state: Handle<State>,
    waiting: &mut Vec<(Option<Handle<Event>>, Handle<Transition>)>,
) -> Vec<(&'m Transition, &'m Transition)> {
    waiting.clear();
    for (handle, transition) in machine.transitions_of(state) {
        let triggers = transition.triggers.iter();
        waiting.extend(triggers.map(|&event| (Some(event), handle)));
        if transition.triggers.is_empty() {
            waiting.push((None, handle));
        }
    }
    waiting.sort_unstable();
    let mut hidden: BTreeMap<Handle<Transition>, Handle<Transition>> = BTreeMap::new();
    for competing in waiting.chunk_by(|one, other| one.0 == other.0) {
        if competing.len() == 1 {
            continue;
        }
        let mut earlier = Earlier::default();
        for &(_, handle) in competing {
            if let Some(first) = earlier.hider(machine, handle) {
                let hider = hidden.entry(handle).or_insert(first);
                *hider = first.min(*hider);
            }
            earlier.add(machine, handle);
        }
    }
    let hidden = hidden.into_iter();
    let transition = |handle| machine.transitions.at(handle);
    hidden
        .map(|(later, earlier)| (transition(later), transition(earlier)))
        .collect()
}

/// The earlier ones of the transitions that compete for an event, by what a later one is asked for.
///
/// A state may have tens of thousands of them.
#[derive(Default)]
struct Earlier<'m> {
    /// By the hash of their guards, those that have one.
    guarded: BTreeMap<u64, Vec<Handle<Transition>>>,
    /// The first without a guard.
    unguarded: Option<Handle<Transition>>,
    /// By what they do, the first drawn one without a guard, and the first undrawn one.
    ///
    /// Drawn ones that do different things conflict, which is reported in another way.
    by_deed: BTreeMap<Option<Deed<'m>>, Handle<Transition>>,
}

impl<'m> Earlier<'m> {
    /// Returns the first that hides a later transition.
    fn hider(&self, machine: &'m Machine, later: Handle<Transition>) -> Option<Handle<Transition>> {
        let later = machine.transitions.at(later);
        let Some(guard) = &later.guard else {
            let Some(own) = drawn_deed(machine, later) else {
                return self.unguarded;
            };
            let of = |deed| self.by_deed.get(&deed).copied();
            return of(None).into_iter().chain(of(Some(own))).min();
        };
        let same = self.guarded.get(&hash(&guard.value)).into_iter().flatten();
        let same = same.copied().find(|&earlier| {
            let earlier = machine.transitions.at(earlier);
            earlier
                .guard
                .as_ref()
                .is_some_and(|it| it.value == guard.value)
        });
        self.unguarded.into_iter().chain(same).min()
    }

    fn add(&mut self, machine: &'m Machine, handle: Handle<Transition>) {
        let transition = machine.transitions.at(handle);
        if let Some(guard) = &transition.guard {
            let same = self.guarded.entry(hash(&guard.value)).or_default();
            same.push(handle);
        } else {
            self.unguarded.get_or_insert(handle);
            let deed = drawn_deed(machine, transition);
            self.by_deed.entry(deed).or_insert(handle);
        }
    }
}

/// Returns what a transition does if it is drawn, and waits for something.
fn drawn_deed<'m>(machine: &Machine, transition: &'m Transition) -> Option<Deed<'m>> {
    let may_conflict = !transition.triggers.is_empty() && is_drawn(machine, transition);
    may_conflict.then(|| deed(transition))
}

/// Returns a hash of a guard, the same in every process.
fn hash(guard: &Expression) -> u64 {
    let mut hasher = DefaultHasher::new();
    guard.hash(&mut hasher);
    hasher.finish()
}

/// Returns `Some(None)` for two eventless transitions, and an event that triggers both otherwise.
fn shared_event(earlier: &Transition, later: &Transition) -> Option<Option<Handle<Event>>> {
    if earlier.triggers.is_empty() && later.triggers.is_empty() {
        return Some(None);
    }
    later
        .triggers
        .iter()
        .find(|event| earlier.triggers.contains(event))
        .map(|&event| Some(event))
}

fn shadowed_transition(
    machine: &Machine,
    event: Option<Handle<Event>>,
    earlier: &Transition,
    later: &Transition,
) -> Diagnostic {
    let source = &machine.states.at(later.source).id;
    let takes = event.map_or_else(
        || "is taken".to_owned(),
        |event| match machine.events.at(event).kind {
            EventKind::Completion(_) | EventKind::Delayed => "is taken".to_owned(),
            _ => format!("takes `{}`", machine.events.at(event).id),
        },
    );
    let label = match event {
        Some(event) if later.triggers.len() > 1 => {
            let trigger = describe_trigger(machine, later.source, event);
            format!("never taken {trigger}")
        }
        _ => "never taken".to_owned(),
    };
    let why = if earlier.guard.is_none() {
        "has no guard, so it is always taken"
    } else {
        "has the same guard"
    };
    let help = if earlier.guard.is_none() && later.guard.is_some() {
        "put the transition with the guard before the one without"
    } else {
        "remove one of them, or give them guards that differ"
    };
    let message = format!("an earlier transition of `{source}` {takes} before this one can");
    Diagnostic::new(Code::ShadowedTransition, later.span, message)
        .label(label)
        .related(earlier.span, why)
        .help(help)
}

/// Reports SM403: cycles of eventless transitions without a guard that are tried before any others.
///
/// In each leaf at most one such transition counts, the first one of the innermost state, so the leaves form chains. If a
/// guarded one is tried before it, an action in the cycle may change the guard's value, and the host may answer
/// differently anyway: nothing is certain then, and the bound on steps covers it. In a parallel state other regions may
/// move as well, so nothing is claimed there, nor of where a history leads.
fn eventless_cycles(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let mut seen: Vec<u32> = vec![0; machine.states.len()];
    let mut round = 0_u32;
    for (start, _) in machine.leaves() {
        round += 1;
        let mut path: Vec<(Handle<State>, &Transition)> = Vec::new();
        let mut leaf = start;
        while let Some((transition, next)) = certain_step(machine, leaf) {
            let Some(mark) = seen.get_mut(leaf.index()) else {
                break;
            };
            if *mark == round {
                let start = path.iter().position(|(passed, _)| *passed == leaf);
                let cycle = path.get(start.unwrap_or(0)..).unwrap_or(&[]);
                diags.push(eventless_cycle(machine, cycle));
                break;
            }
            if *mark != 0 {
                break;
            }
            *mark = round;
            path.push((leaf, transition));
            leaf = next;
        }
    }
}

/// Returns the eventless transition that is certainly taken in a leaf, and the leaf where it ends.
fn certain_step(machine: &Machine, leaf: Handle<State>) -> Option<(&Transition, Handle<State>)> {
    let is_parallel = |state| machine.states.at(state).kind == StateKind::Parallel;
    let state = machine.states.at(leaf);
    let has_ended = state.kind == StateKind::Final && state.parent == Some(machine.root());
    if has_ended || machine.ancestry(leaf).any(is_parallel) {
        return None;
    }
    let transition = machine
        .ancestry(leaf)
        .flat_map(|state| machine.transitions_of(state))
        .map(|(_, transition)| transition)
        .find(|transition| transition.triggers.is_empty())
        .filter(|transition| transition.guard.is_none())?;
    let next = match transition.targets.as_slice() {
        &[target] => machine.default_leaf(target)?,
        [] => leaf,
        _ => return None,
    };
    Some((transition, next))
}

fn eventless_cycle(machine: &Machine, cycle: &[(Handle<State>, &Transition)]) -> Diagnostic {
    let names: Vec<&str> = cycle
        .iter()
        .map(|(leaf, _)| machine.states.at(*leaf).id.as_str())
        .collect();
    let span = cycle
        .first()
        .map_or(machine.span, |(_, transition)| transition.span);
    let message = format!("the machine never comes to rest in {}", quoted_list(&names));
    let mut diagnostic = Diagnostic::new(Code::EventlessCycle, span, message)
        .label("taken at once, without an event")
        .help("give one of these transitions an event or a guard");
    for (_, transition) in cycle.iter().skip(1).take(4) {
        diagnostic = diagnostic.related(transition.span, "then this one");
    }
    diagnostic
}

/// Reports SM404: transitions of compound states whose event an inner one always takes first.
fn overridden_transitions(subject: &Subject<'_>, diags: &mut Diags) {
    let (machine, reach) = (subject.machine, subject.reach());
    if !reach.is_exact() {
        // Another region may leave the event to the outer transition.
        return;
    }
    for (handle, transition) in machine.transitions.iter() {
        let source = machine.states.at(transition.source);
        let is_candidate = source.kind == StateKind::Compound
            && reach.is_active(transition.source)
            && !reach.is_live(handle);
        let mut triggers = transition.triggers.iter();
        let completes = triggers
            .any(|&event| matches!(machine.events.at(event).kind, EventKind::Completion(_)));
        if !is_candidate || completes {
            continue;
        }
        // If another transition of the same state hides this one, it is shadowed instead.
        let mut transitions = machine.transitions.iter();
        let inner = transitions.find(|(_, other)| {
            let mut triggers = other.triggers.iter();
            other.source != transition.source
                && machine.is_within(other.source, transition.source)
                && other.guard.is_none()
                && (other.triggers.is_empty()
                    || triggers.any(|event| transition.triggers.contains(event)))
        });
        if let Some((_, inner)) = inner {
            diags.push(overridden_transition(machine, transition, inner));
        }
    }
}

fn overridden_transition(machine: &Machine, outer: &Transition, inner: &Transition) -> Diagnostic {
    let source = &machine.states.at(outer.source).id;
    let inner_source = &machine.states.at(inner.source).id;
    let message = format!("every state inside `{source}` overrides this transition");
    Diagnostic::new(Code::OverriddenTransition, outer.span, message)
        .label("never taken")
        .related(
            inner.span,
            format!("`{inner_source}` takes the event first"),
        )
        .help("remove it, or the inner ones that do the same")
}

/// Reports SM405: events that are raised again by their own handling, which no guard can stop.
fn unbounded_raises(subject: &Subject<'_>, diags: &mut Diags) {
    let (machine, reach) = (subject.machine, subject.reach());
    let raises = |(_, action): (_, &Action)| action.kind.raised().is_some();
    if !machine.actions.iter().any(raises) {
        return;
    }
    let leaves = machine
        .leaves()
        .map(|(leaf, _)| leaf)
        .filter(|&leaf| reach.is_active(leaf));
    let mut reported = BTreeSet::new();
    for unrest in find_unrest(machine, leaves) {
        if reported.insert(unrest.transition) {
            let transition = machine.transitions.at(unrest.transition);
            diags.push(unbounded_raise(machine, unrest.event, transition));
        }
    }
}

fn unbounded_raise(machine: &Machine, event: Handle<Event>, transition: &Transition) -> Diagnostic {
    let id = &machine.events.at(event).id;
    let message = format!("handling `{id}` may raise `{id}` again, without end");
    Diagnostic::new(Code::UnboundedRaise, transition.span, message)
        .label("no guard stops it")
        .note("a step that doesn't come to rest within 1,000 microsteps is undone")
        .help("give the transition a guard, or raise another event")
}

#[cfg(test)]
mod tests {
    use super::{differ, hidden, is_drawn, shared_event};
    use crate::diag::Code;
    use crate::ir::{Machine, Transition};
    use crate::source::Sources;
    use crate::{Compiled, Options, compile};

    fn reports(compiled: &Compiled, code: Code) -> bool {
        let mut diagnostics = compiled.diagnostics.iter();
        diagnostics.any(|diagnostic| diagnostic.code == code)
    }

    #[test]
    fn only_a_certain_cycle_is_refused() {
        for (expected, diagram) in [
            (true, "a --> b : [else]\nb --> a : [else]"),
            // A guard comes first, and an action in the cycle may change the field that it reads.
            (
                false,
                "a --> c : [x > 3]\na --> b : [else]\nb --> a : [else]",
            ),
            (false, "a --> c : [over]\na --> a : [else]"),
            (true, "a --> b : [else]\nb --> a : [else]\na --> c : go"),
        ] {
            let mut sources = Sources::new();
            let text = format!("stateDiagram-v2\n[*] --> a\n{diagram}\nc --> [*] : done\n");
            sources.add("spec.mmd", text);
            let compiled = compile(&sources, &Options::default());
            let found = reports(&compiled, Code::EventlessCycle);
            assert_eq!(found, expected, "{diagram}");
        }
    }

    /// A state with transitions on up to two events each, drawn by chance: some guards are equal, some are missing.
    fn crowd(count: usize, seed: usize) -> Machine {
        let guards = [
            "bare",
            "n == 1",
            "n == 1.0",
            "n > 1 && n < 9",
            "paid",
            "!paid",
            "n == 0.0",
            "n == -0.0",
        ];
        let events = ["go", "stop", "go | stop", "wait, go"];
        let mut text = "stateDiagram-v2\n[*] --> a\n".to_owned();
        let mut drawn = seed;
        let mut draw = |most: usize| {
            drawn = (drawn * 75 + 74) % 65_537;
            drawn % most
        };
        for _ in 0..count {
            let (target, event, guard) = (draw(2), draw(events.len()), draw(guards.len()));
            let (event, guard) = (events[event], guards[guard]);
            text += &format!("a --> b{target} : {event} [{guard}]\n");
        }
        let mut sources = Sources::new();
        sources.add(
            "spec.mmd",
            text + "b0 --> [*] : end\nb1 --> [*] : end\na --> b0 : on\na --> b1 : off",
        );
        let compiled = compile(&sources, &Options::default());
        let machine = compiled.machines.first();
        let machine = machine.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
        let mut machine = (**machine).clone();
        // Two without a guard are an error, so those get one first.
        for handle in machine.transitions.handles() {
            let transition = machine.transitions.at_mut(handle);
            let guard = transition
                .label
                .as_ref()
                .and_then(|label| label.guard.as_deref());
            if guard == Some("bare") {
                transition.guard = None;
            }
        }
        machine
    }

    fn hides(earlier: &Transition, later: &Transition) -> bool {
        match (&earlier.guard, &later.guard) {
            (None, _) => true,
            (Some(one), Some(two)) => one.value == two.value,
            (Some(_), None) => false,
        }
    }

    /// Reports whether two transitions are conflicting, which is reported as that.
    fn conflicts(machine: &Machine, earlier: &Transition, later: &Transition) -> bool {
        let unguarded = earlier.guard.is_none() && later.guard.is_none();
        unguarded
            && !later.triggers.is_empty()
            && is_drawn(machine, earlier)
            && is_drawn(machine, later)
            && differ(earlier, later)
    }

    #[test]
    fn what_is_hidden_is_what_comparing_all_pairs_finds() {
        let mut found = 0;
        for seed in 1..60 {
            let machine = crowd(seed % 14, seed);
            let state = machine.state_named("a").unwrap();
            let transitions = machine.transitions_of(state);
            let transitions: Vec<&Transition> = transitions.map(|(_, it)| it).collect();
            let mut expected = Vec::new();
            for (index, later) in transitions.iter().enumerate() {
                let is_hider = |earlier: &&&Transition| {
                    shared_event(earlier, later).is_some()
                        && hides(earlier, later)
                        && !conflicts(&machine, earlier, later)
                };
                let hider = transitions.iter().take(index).find(is_hider);
                expected.extend(hider.map(|earlier| (*later, *earlier)));
            }
            found += expected.len();
            assert_eq!(hidden(&machine, state, &mut Vec::new()), expected, "{seed}");
        }
        assert!(found > 50, "{found}");
    }

    fn raises_without_bound(diagram: &str, definition: &str) -> bool {
        let text = format!(
            "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n{diagram}\n```\n\n```json definition\n{definition}\n```\n"
        );
        let mut sources = Sources::new();
        sources.add("spec.md", text);
        let compiled = compile(&sources, &Options::default());
        assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
        reports(&compiled, Code::UnboundedRaise)
    }

    const AGAIN: &str = r#"{ "actions": { "again": { "raise": "go" } } }"#;

    #[test]
    fn a_cycle_counts_only_where_its_event_is_taken() {
        for (expected, diagram) in [
            // In its target, nothing takes the event.
            (false, "[*] --> a\na --> b : go / again\nb --> [*] : stop"),
            (true, "[*] --> a\na --> a : go / again\na --> [*] : stop"),
            (
                true,
                "[*] --> a\na --> b : go / again\nb --> a : go / again\na --> [*] : stop",
            ),
            // The chain ends.
            (
                false,
                "[*] --> a\na --> b : go / again\nb --> c : go\nc --> [*] : stop",
            ),
            // A guard may stop it.
            (
                false,
                "[*] --> a\na --> a : go [wanted] / again\na --> [*] : stop",
            ),
            // Two for one.
            (
                true,
                "[*] --> a\na --> a : go / again, again\na --> [*] : stop",
            ),
            // An inner transition overrides the outer one.
            (
                false,
                "[*] --> a\nstate a {\n[*] --> b\nb --> b : go\n}\na --> a : go / again\na --> [*] : stop",
            ),
        ] {
            assert_eq!(raises_without_bound(diagram, AGAIN), expected, "{diagram}");
        }
    }
}
