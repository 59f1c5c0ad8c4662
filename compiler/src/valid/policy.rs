//! Checks of what a workflow holds its callers to: approvals, limits, and tools.

use serde_json::Value;

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{EventKind, Machine, State, StateKind, Transition};
use crate::pass::components::components;
use crate::pass::internal::RAISED_BY_RUNS;
use crate::source::Span;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::Behavior(skirted_approvals),
    Check::Behavior(open_waits),
    Check::Behavior(limits_without_event),
    Check::Behavior(open_beginning),
    Check::Behavior(unbounded_loops),
];

/// The keys of a state that grant tools: what they don't name isn't granted.
const GRANTS: [&str; 3] = ["allowed_tools", "capabilities", "drain"];

/// The keys of a state by which tools are withheld in another way.
const LIMITS: [&str; 2] = ["disallowed_tools", "allowed_commands"];

/// The event of runs that have used up what an executor may use.
const LIMIT_REACHED: &str = "limit.reached";

/// The limits of a run that end every loop.
const BUDGETS: [&str; 2] = ["token_budget", "cost_budget"];

/// Most further places that a message points at.
const MOST_SHOWN: usize = 4;

/// The tools that change more than a file that they name: they run commands.
const RUNS_COMMANDS: [&str; 2] = ["Bash", "exec"];

/// Reports SM610: transitions that lead where an approval leads, without asking anybody.
///
/// A guard on either says that the two are different cases; so does evidence that the state requires. Where all end,
/// nothing more can be done, and a diagram has one sign for all ends.
fn skirted_approvals(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    for (_, asking) in machine.transitions.iter().filter(|(_, it)| asks(it)) {
        let leads_on = |target: &Handle<State>| {
            let target = machine.states.at(*target);
            !(target.implied && target.kind == StateKind::Final)
        };
        if asking.guard.is_some() || !asking.targets.first().is_some_and(leads_on) {
            continue;
        }
        let mut others = machine.transitions.iter();
        let other = others.find(|(_, other)| {
            other.targets == asking.targets
                && !asks(other)
                && !other.implied
                && other.guard.is_none()
                && is_near(machine, other.source, asking.source)
                && other.source != other.targets.first().copied().unwrap_or(other.source)
                && is_anybodys(machine, other)
                && !needs_evidence(machine, other)
        });
        if let Some((_, other)) = other {
            diags.push(skirted_approval(machine, asking, other));
        }
    }
}

/// Reports whether a person has to allow a transition.
fn asks(transition: &Transition) -> bool {
    transition.meta.get("requires_approval") == Some(&Value::Bool(true))
}

/// Reports whether one of two states contains the other, or is it.
fn is_near(machine: &Machine, one: Handle<State>, other: Handle<State>) -> bool {
    machine.is_within(one, other) || machine.is_within(other, one)
}

/// Reports whether anybody who may send events has a transition taken.
fn is_anybodys(machine: &Machine, transition: &Transition) -> bool {
    let mut triggers = transition.triggers.iter();
    triggers.any(|event| {
        let event = machine.events.at(*event);
        event.kind == EventKind::Named
            && event.id != LIMIT_REACHED
            && !RAISED_BY_RUNS.contains(&event.id.as_str())
    })
}

/// Reports whether a state requires something before a transition leaves it.
fn needs_evidence(machine: &Machine, transition: &Transition) -> bool {
    requires(machine, transition, |_| true)
}

/// Reports whether a state requires a check before a transition leaves it.
///
/// What a check finds is mended with tools; an artifact is submitted without any.
fn needs_check(machine: &Machine, transition: &Transition) -> bool {
    let checks = machine.meta.get("checks");
    requires(machine, transition, |name| {
        checks.is_some_and(|checks| checks.get(name).is_some())
    })
}

/// Reports whether a state requires something of a kind before a transition leaves it.
fn requires(machine: &Machine, transition: &Transition, is_wanted: impl Fn(&str) -> bool) -> bool {
    let has = |list: &Value| {
        let list = list.as_array().into_iter().flatten();
        let mut names = list.filter_map(Value::as_str);
        names.any(&is_wanted)
    };
    machine.ancestry(transition.source).any(|state| {
        match machine.states.at(state).meta.get("requires") {
            Some(Value::Object(by_event)) => {
                let mut events = transition.triggers.iter();
                events.any(|event| by_event.get(&machine.events.at(*event).id).is_some_and(has))
            }
            Some(list) => has(list),
            None => false,
        }
    })
}

fn skirted_approval(machine: &Machine, asking: &Transition, other: &Transition) -> Diagnostic {
    let target = asking.target().map_or("", |it| &machine.states.at(it).id);
    let message = format!("an agent reaches `{target}` from here without the approval");
    let mut found =
        Diagnostic::new(Code::SkirtedApproval, other.span, message).label("asks nobody");
    if asking.span != other.span {
        found = found.related(asking.span, "a person is asked here");
    }
    found
        .note("an approval holds for its transition alone")
        .help("give this transition `\"requires_approval\": true`, too, a guard, or another target")
}

/// Reports SM618: states that wait for a person and let an agent use every tool meanwhile.
///
/// Where no state of the machine grants tools, none is meant to be withheld.
fn open_waits(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let has = |state: Handle<State>, keys: &[&str]| {
        let meta = &machine.states.at(state).meta;
        keys.iter().any(|key| meta.contains_key(*key))
    };
    let mut states = machine.named_states();
    let Some((_, granting)) = states.find(|(state, _)| has(*state, &GRANTS)) else {
        return;
    };
    for (handle, state) in machine.named_states() {
        let mut asking = machine.transitions.iter().map(|(_, it)| it);
        let asking = asking.find(|it| it.source == handle && asks(it));
        let is_held = || {
            let mut ancestors = machine.ancestry(handle);
            ancestors.any(|it| has(it, &GRANTS) || has(it, &LIMITS))
        };
        if let Some(asking) = asking
            && !is_held()
        {
            diags.push(open_wait(state, asking, granting));
        }
    }
}

fn open_wait(state: &State, asking: &Transition, granting: &State) -> Diagnostic {
    let message = format!(
        "while a person decides, an agent may use every tool in `{}`",
        state.id
    );
    Diagnostic::new(Code::OpenWait, state.span, message)
        .label("grants no tools, so that none is withheld")
        .related(asking.span, "a person is asked here")
        .related(
            granting.span,
            format!("`{}` says which tools it grants", granting.id),
        )
        .note("what needs an approval could be done before anybody has given it")
        .help("say what it may use meanwhile: `\"allowed_tools\": []`, or `[\"Read\"]`")
}

/// Reports SM612: states that an agent can't leave once its iterations are spent.
///
/// Every way out needs a check to pass, and tools are refused then. A timer and an event that needs nothing are ways out.
fn limits_without_event(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    for (handle, state) in machine.named_states() {
        let is_limited = state.meta.contains_key("max_iterations");
        if machine.is_embedded || !is_limited || state.on_max_iterations.is_some() {
            continue;
        }
        let mut exits = machine
            .transitions
            .iter()
            .map(|(_, it)| it)
            .filter(|it| is_near(machine, it.source, handle) && !it.targets.contains(&handle))
            .peekable();
        if let Some(first) = exits.peek().map(|it| it.span)
            && exits.all(|it| is_anybodys(machine, it) && needs_check(machine, it))
        {
            diags.push(limit_without_event(state, first));
        }
    }
}

fn limit_without_event(state: &State, exit: Span) -> Diagnostic {
    let message = format!(
        "nothing leads out of `{}` once its iterations are spent",
        state.id
    );
    Diagnostic::new(Code::LimitWithoutEvent, state.span, message)
        .label("limited by `max_iterations`")
        .related(exit, "needs a check to pass")
        .note("tools are refused then, and without them nothing that a check finds can be mended")
        .help("name the event that leads on: `\"on_max_iterations\": \"give_up\"`")
}

/// Reports SM614: dangerous workflows whose first state lets an agent run any command.
fn open_beginning(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let meta = machine.meta.get("meta");
    let level = meta
        .and_then(|it| it.get("danger_level"))
        .and_then(Value::as_str);
    if level != Some("dangerous") {
        return;
    }
    let Some(first) = machine.default_leaf(machine.root()) else {
        return;
    };
    if machine.states.at(first).kind == StateKind::Final {
        return;
    }
    let limits = |state| {
        let meta = &machine.states.at(state).meta;
        let is_withheld = |tool: &str| has_name(meta.get("disallowed_tools"), tool);
        let is_closed = match (meta.get("allowed_tools"), meta.contains_key("capabilities")) {
            (None, false) => false,
            (allowed, _) => !RUNS_COMMANDS.iter().any(|tool| has_name(allowed, tool)),
        };
        is_closed
            || meta.contains_key("allowed_commands")
            || meta.contains_key("drain")
            || RUNS_COMMANDS.iter().any(|tool| is_withheld(tool))
    };
    if !machine.ancestry(first).any(limits) {
        diags.push(open_first_state(machine.states.at(first)));
    }
}

/// Reports whether a list has a name, all calls of which it means.
fn has_name(list: Option<&Value>, name: &str) -> bool {
    let list = list.and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|it| it == name || it == "*"))
}

fn open_first_state(state: &State) -> Diagnostic {
    let message = format!(
        "the work is called dangerous, and any command may be run in `{}`, where it begins",
        state.id
    );
    Diagnostic::new(Code::OpenBeginning, state.span, message)
        .label("begins here")
        .note("an agent could do all the work here, before anything has been looked at or allowed")
        .help("list what it may use, `\"allowed_tools\": [\"Read\", \"Grep\"]`, or its `allowed_commands`")
}

/// Reports SM615: loops that an executor goes round for ever.
///
/// Nothing in them counts, asks or requires evidence. Where no executor works by itself, somebody sees it; and a budget of the run ends it.
fn unbounded_loops(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let meta = machine.meta.get("meta");
    let has_budget = BUDGETS
        .iter()
        .any(|key| meta.is_some_and(|it| it.get(*key).is_some()));
    let of_states = machine.states.iter().map(|(_, it)| it.meta.get("executor"));
    let mut executors = of_states
        .chain([meta.and_then(|it| it.get("executor"))])
        .flatten();
    let works = executors.any(|executor| executor != "none");
    if machine.is_embedded || has_budget || !works {
        return;
    }
    let is_open = |transition: &Transition| {
        let counts = |state| machine.states.at(state).meta.contains_key("max_visits");
        let mut ancestors = machine.ancestry(transition.source);
        transition.guard.is_none()
            && !asks(transition)
            && !transition.targets.is_empty()
            && is_anybodys(machine, transition)
            && !needs_evidence(machine, transition)
            && !ancestors.any(counts)
            && !transition
                .targets
                .iter()
                .any(|it| machine.ancestry(*it).any(counts))
    };
    let open: Vec<&Transition> = machine
        .transitions
        .iter()
        .map(|(_, it)| it)
        .filter(|it| is_open(it))
        .collect();
    for component in loops(machine, &open) {
        let of_loop: Vec<&Transition> = open
            .iter()
            .copied()
            .filter(|transition| {
                component.contains(&transition.source)
                    && transition
                        .targets
                        .iter()
                        .any(|target| component.contains(target))
            })
            .collect();
        // Staying in a state isn't going round.
        if of_loop.iter().any(|it| !it.targets.contains(&it.source))
            && let Some((first, others)) = of_loop.split_first()
        {
            diags.push(unbounded_loop(machine, first, others));
        }
    }
}

/// Returns the groups of several states in which each leads to each, by some transitions.
fn loops(machine: &Machine, transitions: &[&Transition]) -> Vec<Vec<Handle<State>>> {
    let count = machine.states.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    for transition in transitions {
        if let Some(list) = next.get_mut(transition.source.index()) {
            for &target in &transition.targets {
                // Transitions of the states around it are open there, too.
                let ancestors = machine.ancestry(target).map(|it| it.index());
                list.extend(ancestors.chain(machine.default_leaf(target).map(|it| it.index())));
            }
        }
    }
    let circles = components(&next).into_iter();
    let circles = circles.filter(|group| group.len() > 1);
    circles
        .map(|group| group.into_iter().map(Handle::at).collect())
        .collect()
}

fn unbounded_loop(machine: &Machine, first: &Transition, others: &[&Transition]) -> Diagnostic {
    let source = &machine.states.at(first.source).id;
    let message = format!("an executor may come back to `{source}` without end");
    let mut found = Diagnostic::new(Code::UnboundedLoop, first.span, message)
        .label("leads round")
        .note("nothing in this loop counts, asks a person or requires evidence")
        .help("give one of its states `max_visits`, one of its transitions a guard that counts, or the run a `token_budget`");
    let mut seen = vec![first.span];
    for other in others {
        if !seen.contains(&other.span) && seen.len() <= MOST_SHOWN {
            seen.push(other.span);
            found = found.related(other.span, "and then this");
        }
    }
    found
}
