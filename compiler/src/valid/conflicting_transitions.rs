//! SM401: one event, one state, two places to go.

use std::collections::BTreeMap;

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{Event, EventKind, Machine, State, StateKind, Transition};
use crate::pass::trigger::{delay, describe_trigger, differ, format_duration, is_drawn};

/// Reports drawn transitions of one state that share an event, have no guard, and differ in what they do. (A definition's
/// list of branches is ordered, so there it is `shadowed-transition`.)
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    for state in machine.states.handles() {
        let mut first: BTreeMap<Handle<Event>, &Transition> = BTreeMap::new();
        for (_, transition) in machine.transitions_of(state) {
            if transition.guard.is_some() || !is_drawn(machine, transition) {
                continue;
            }
            for &event in &transition.triggers {
                let earlier = *first.entry(event).or_insert(transition);
                if differ(earlier, transition) {
                    diags.push(conflict(machine, event, earlier, transition));
                }
            }
        }
    }
}

/// Whether a state is written as `[*]`.
fn is_star(machine: &Machine, state: Handle<State>) -> bool {
    machine.states.at(state).implied && machine.states.at(state).kind == StateKind::Final
}

fn conflict(
    machine: &Machine,
    event: Handle<Event>,
    earlier: &Transition,
    later: &Transition,
) -> Diagnostic {
    let source = &machine.states.at(later.source).id;
    let when = describe_trigger(machine, later.source, event);
    let subject = match machine.events.at(event).kind {
        EventKind::Completion(_) => format!("the end of `{source}`"),
        _ => match delay(machine, later.source, event) {
            Some(milliseconds) => {
                format!("`after {}` in `{source}`", format_duration(milliseconds))
            }
            None => format!("`{}` in `{source}`", machine.events.at(event).id),
        },
    };
    let goal = |transition: &Transition| match transition.targets.as_slice() {
        [] => "stays".to_owned(),
        &[target] if is_star(machine, target) => "leads to `[*]`".to_owned(),
        targets => {
            let ids = targets.iter().map(|&target| &machine.states.at(target).id);
            let ids: Vec<&str> = ids.map(String::as_str).collect();
            format!("leads to {}", quoted_list(&ids))
        }
    };
    let what = if earlier.targets == later.targets {
        "does two things"
    } else {
        "leads to two places"
    };
    Diagnostic::new(
        Code::ConflictingTransitions,
        later.span,
        format!("{subject} {what}, and nothing says which"),
    )
    .label(format!("{} {when}", goal(later)))
    .related(earlier.span, format!("{} {when} too", goal(earlier)))
    .help("give one of them a guard, such as `[condition]`, or another event")
}
