//! A definition without a diagram: it owns the topology.
//!
//! Next to a diagram, the diagram does: see [`overlay`]. Both cases share [`details`]: everything that a definition says of a
//! state besides its transitions, and of a branch besides its target.

mod declarations;
mod details;
mod fork;
mod overlay;

pub(super) use declarations::{add_declarations, add_event_references, let_actions_fail};
pub(super) use overlay::add_overlay;

use super::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use super::messages::duplicate_state;
use super::spec::Context;
use super::target::find_states;
use super::transition::{delay_trigger, event_trigger};
use super::trigger::is_pattern;
use crate::front::definition::ast::{
    Branch, BranchKind, Definition, GuardUse, Initial, Kind, Named, State,
};
use crate::front::definition::messages::missing_key;
use crate::source::{Span, Spanned};
use details::{add_details, add_initial, add_invocation, add_to_transition, parallel_with_initial};
use fork::Pending;

/// Notes the spellings of events in the definition, before anything names one.
pub(super) fn note_spellings(definition: &Definition, draft: &mut Draft) {
    let mut note = |name: &str| {
        draft
            .spellings
            .entry(crate::front::words::word_key(name).into_owned())
            .or_insert_with(|| name.to_owned());
    };
    definition
        .events
        .iter()
        .for_each(|event| note(&event.name.value));
    fn note_on(on: &[Named<Vec<Branch>>], note: &mut impl FnMut(&str)) {
        let names = on.iter().map(|on| on.name.value.as_str());
        names.filter(|name| !is_pattern(name)).for_each(note);
    }
    note_on(&definition.on, &mut note);
    // A definition is at most as deep as its reader allows, so the walk may recurse.
    fn walk(states: &[Named<State>], note: &mut impl FnMut(&str)) {
        for state in states {
            note_on(&state.value.on, note);
            walk(&state.value.states, note);
        }
    }
    walk(&definition.states, &mut note);
}

/// Adds a definition without a diagram to the draft.
pub(super) fn add_definition(
    definition: &Definition,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    declare_states(&definition.states, ROOT, draft, context);
    if let Some(initial) = &definition.initial {
        add_initial(ROOT, initial, draft, context);
    }
    let mut build = Build {
        draft,
        context,
        forks: Vec::new(),
    };
    build.on(&definition.on, ROOT);
    for state in &definition.states {
        build.state(state);
    }
    let forks = build.forks;
    fork::fill_forks(&forks, draft, context);
}

fn declare_states(
    states: &[Named<State>],
    parent: StateHandle,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for state in states {
        let name = &state.name;
        if let Some(earlier) = draft.state(&name.value) {
            let first = draft.get(earlier).ir.span;
            context
                .diags
                .push(duplicate_state(&name.value, name.span, first));
            continue;
        }
        let index = draft.intern_state(&name.value, name.span, parent);
        draft.get_mut(index).has_body = !state.value.states.is_empty();
        // The kinds of the ancestors decide if several targets can be active together.
        draft.get_mut(index).kind = details::alone_kind(state, parent, context);
        declare_states(&state.value.states, index, draft, context);
    }
}

/// A walk over a definition that adds it to the draft.
struct Build<'b, 'c, 'd> {
    draft: &'b mut Draft,
    context: &'b mut Context<'c>,
    /// The forks whose branches have yet to move into their regions, which takes every transition.
    forks: Vec<Pending<'d>>,
}

impl<'d> Build<'_, '_, 'd> {
    fn state(&mut self, named: &'d Named<State>) {
        // The second state of an id has been reported; its content belongs to no state.
        let draft = &self.draft;
        let own = draft
            .state(&named.name.value)
            .filter(|&index| draft.get(index).ir.span == named.name.span);
        let Some(index) = own else { return };
        let state = &named.value;
        add_details(index, named, self.draft, self.context);
        let is_parallel = self.draft.get(index).kind == Some(Kind::Parallel);
        match &state.initial {
            Some(initial) if is_parallel => {
                let kind = state
                    .kind
                    .as_ref()
                    .map_or(named.name.span, |kind| kind.span);
                let id = &named.name.value;
                let diagnostic = parallel_with_initial(id, initial.span, kind);
                self.context.diags.push(diagnostic);
            }
            Some(initial) if !self.begins_at_duplicate(index, state, initial) => {
                add_initial(index, initial, self.draft, self.context);
            }
            _ => {}
        }
        self.on(&state.on, index);
        self.branches(&state.always, index, &DraftTrigger::Eventless);
        self.branches(&state.on_done, index, &DraftTrigger::Completion);
        if let Some(invocation) = &state.invoke {
            for (event, branches) in [
                ("done", &invocation.on_done),
                ("error", &invocation.on_error),
            ] {
                if !branches.is_empty() {
                    let event = self.draft.intern_event(event, invocation.workflow.span);
                    self.branches(branches, index, &DraftTrigger::Events(vec![event]));
                }
            }
        }
        for delay in &state.after {
            let diags = &mut *self.context.diags;
            if let Some(trigger) = delay_trigger(index, &delay.name, self.draft, diags) {
                self.branches(&delay.value, index, &trigger);
            }
        }
        for child in &state.states {
            self.state(child);
        }
    }

    /// Returns whether a state begins at a child whose id another state has, which has been reported.
    fn begins_at_duplicate(&self, index: StateHandle, state: &State, initial: &Initial) -> bool {
        let is_duplicate = |target: &Spanned<String>| {
            let known = self.draft.state(&target.value);
            let is_child = state.states.iter().any(|it| it.name.value == target.value);
            is_child && known.is_some_and(|known| self.draft.parent(known) != index)
        };
        initial.targets.iter().any(is_duplicate)
    }

    fn on(&mut self, on: &'d [Named<Vec<Branch>>], source: StateHandle) {
        for named in on {
            let trigger = event_trigger(&named.name, self.draft, self.context.diags);
            self.branches(&named.value, source, &trigger);
        }
    }

    fn branches(&mut self, branches: &'d [Branch], source: StateHandle, trigger: &DraftTrigger) {
        for branch in branches {
            let mut transition = DraftTransition::new(branch.span, source, None);
            transition.trigger = trigger.clone();
            let mut inside = false;
            match &branch.kind {
                // No diagram draws its target, so a branch must lead somewhere or do something.
                BranchKind::Target(targets) if targets.is_empty() && branch.actions.is_empty() => {
                    let needs = "`target` or `actions`";
                    let opening = Span {
                        end: branch.span.start + 1,
                        ..branch.span
                    };
                    // What it names is used all the same.
                    for guard in &branch.guards {
                        if let GuardUse::Name(name) = &guard.value {
                            self.context.used.insert(name.clone());
                        }
                    }
                    // The front end may have said what it lacks.
                    if !self.context.diags.covers(opening) {
                        let diagnostic = missing_key(branch.span, "a transition", needs);
                        self.context.diags.push(diagnostic);
                    }
                    continue;
                }
                BranchKind::Target(targets) if targets.is_empty() => transition.ir.internal = true,
                BranchKind::Target(targets) => {
                    let Some(found) = find_states(targets, source, self.draft, self.context) else {
                        continue;
                    };
                    inside = found.inside;
                    transition.ir.targets = found.states;
                }
                BranchKind::Invoke { .. } => {
                    let waiting = add_invocation(branch, source, self.draft, self.context);
                    transition.ir.targets.push(waiting);
                }
                BranchKind::Fork(fork) => {
                    let Some(pending) = fork::add_fork(fork, source, self.draft, self.context)
                    else {
                        continue;
                    };
                    transition.ir.targets.push(pending.state());
                    self.forks.push(pending);
                }
            }
            add_to_transition(&mut transition, branch, inside, self.draft, self.context);
            self.draft.transitions.push(transition);
        }
    }
}
