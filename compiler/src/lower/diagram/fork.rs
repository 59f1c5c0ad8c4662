//! Forks and joins become a parallel state of the fork's name, with a region for each branch.
//!
//! ```text
//! a --> f : go                      a --go--> f (parallel)
//! f --> b    b --> j : x            f_1: b --x--> b_end      f_2: c --y--> c_end
//! f --> c    c --> j : y     →      f, when it is done, --> d
//! j --> d
//! ```
//!
//! The branches must share no state, and every path of a branch must end in the same join; a path may leave early only on an
//! event, which then leaves all branches. A fork into different regions of a drawn parallel state becomes a transition with
//! several targets, and a join of such regions the completion of that state.

use std::collections::{BTreeMap, BTreeSet};

use super::branches::{
    Branch, Branches, child_in_scope, join_from_outside, join_without_fork,
    pseudo_state_without_way_out,
};
use super::messages::{guarded_fork, single_way};
use crate::diag::machine_too_large;
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use crate::lower::spec::Context;
use crate::source::Span;

/// Most forks and joins of one diagram. Unit: pseudo-states. Why: each takes a walk over the diagram.
const MOST: usize = 256;

/// Turns all forks and joins into parallel states.
pub(super) fn resolve_forks(draft: &mut Draft, context: &mut Context<'_>) {
    let all = |wanted: Stereotype| -> Vec<StateHandle> {
        draft
            .named_states()
            .filter(|&state| draft.get(state).pseudo == Some(wanted))
            .collect()
    };
    let (forks, joins) = (all(Stereotype::Fork), all(Stereotype::Join));
    let too_many = draft.transitions.len() > statemark_runtime::MAX_TRANSITIONS;
    if forks.is_empty() && joins.is_empty() || too_many {
        // The checks of the machine report too many transitions.
        return;
    }
    if forks.len() + joins.len() > MOST {
        let span = draft.get(ROOT).ir.span;
        let text = format!("more than {MOST} forks and joins");
        context.diags.push(machine_too_large(&text, span));
        return;
    }
    // Inner forks first: they are states of the branches of the outer ones.
    let mut resolved = Resolved::default();
    for &fork in &forks {
        resolve_fork(fork, &mut resolved, draft, context);
    }
    if context.diags.has_errors() {
        // Joins of broken forks aren't reported again.
        return;
    }
    for &join in &joins {
        if draft.get(join).pseudo == Some(Stereotype::Join) {
            resolve_lone_join(join, draft, context);
        }
    }
}

/// The forks that are resolved so far.
#[derive(Default)]
pub(super) struct Resolved {
    /// The forks that are being resolved.
    open: Vec<StateHandle>,
    /// The join at which each resolved fork ends, which isn't there any more.
    joins: BTreeMap<StateHandle, String>,
    /// The places of which it was said that a path leaves a branch there.
    exits: BTreeSet<Span>,
}

impl Resolved {
    pub(super) fn is_open(&self, fork: StateHandle) -> bool {
        self.open.contains(&fork)
    }

    /// Returns the join at which a fork ends, if it is resolved.
    pub(super) fn join_of(&self, fork: StateHandle) -> Option<&str> {
        self.joins.get(&fork).map(String::as_str)
    }

    /// Returns whether a path out of a branch is news: of several forks, the first tells.
    pub(super) fn is_new_exit(&mut self, place: Span) -> bool {
        self.exits.insert(place)
    }
}

/// Returns the indices of the transitions out of a state.
fn transitions_from(state: StateHandle, draft: &Draft) -> Vec<usize> {
    let all = draft.transitions.iter().enumerate();
    all.filter(|(_, transition)| transition.ir.source == state)
        .map(|(index, _)| index)
        .collect()
}

/// Returns the indices of the transitions to a state.
fn transitions_to(state: StateHandle, draft: &Draft) -> Vec<usize> {
    let all = draft.transitions.iter().enumerate();
    all.filter(|(_, transition)| transition.ir.targets.contains(&state))
        .map(|(index, _)| index)
        .collect()
}

fn resolve_fork(
    fork: StateHandle,
    resolved: &mut Resolved,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    if draft.get(fork).pseudo != Some(Stereotype::Fork) || resolved.is_open(fork) {
        return;
    }
    resolved.open.push(fork);
    let outgoing = transitions_from(fork, draft);
    let mut targets: Vec<(StateHandle, Span)> = Vec::new();
    for &index in &outgoing {
        let Some(transition) = draft.transitions.get(index) else {
            continue;
        };
        refuse_label(transition, draft, context);
        targets.extend(
            transition
                .ir
                .target()
                .map(|target| (target, transition.ir.span)),
        );
    }
    let id = draft.get(fork).ir.id.clone();
    match targets.as_slice() {
        [] => {
            let span = draft.get(fork).ir.span;
            let diagnostic = pseudo_state_without_way_out("fork", &id, span);
            context.diags.push(diagnostic);
        }
        [(target, span)] => {
            context.diags.push(single_way("fork", &id, "out of", *span));
            bypass(fork, &[*target], draft);
        }
        _ if parallel_of_targets(&targets, draft).is_some() => {
            let all: Vec<StateHandle> = targets.iter().map(|&(target, _)| target).collect();
            bypass(fork, &all, draft);
        }
        _ => {
            // Forks inside the branches must be resolved first.
            let scope = draft.parent(fork);
            while let Some(inner) =
                Branches::new(scope, fork, draft).open_fork(&targets, resolved, draft)
            {
                resolve_fork(inner, resolved, draft, context);
            }
            make_parallel(fork, &targets, resolved, draft, context);
        }
    }
    // A broken fork has been reported, and isn't looked at again.
    draft.get_mut(fork).pseudo = None;
    resolved.open.pop();
}

/// Returns the parallel state that has some states in different regions.
fn parallel_of_targets(states: &[(StateHandle, Span)], draft: &Draft) -> Option<StateHandle> {
    let &(first, _) = states.first()?;
    let mut ancestors = draft.ancestry(first).skip(1);
    let parallel = ancestors.find(|&ancestor| {
        states
            .iter()
            .all(|&(state, _)| draft.is_within(state, ancestor))
    })?;
    if draft.get(parallel).kind != Some(Kind::Parallel) {
        return None;
    }
    let mut regions = BTreeSet::new();
    let differ = states
        .iter()
        .all(|&(state, _)| regions.insert(child_in_scope(parallel, state, draft)));
    differ.then_some(parallel)
}

/// Redirects everything that leads to a pseudo-state to its targets, and takes it out.
fn bypass(pseudo: StateHandle, targets: &[StateHandle], draft: &mut Draft) {
    let redirect = |list: &mut Vec<StateHandle>| {
        let leads = *list == [pseudo];
        if leads {
            list.clear();
            list.extend_from_slice(targets);
        }
        leads
    };
    for transition in &mut draft.transitions {
        if redirect(&mut transition.ir.targets) && transition.trigger == DraftTrigger::Missing {
            transition.trigger = DraftTrigger::Toward(pseudo);
        }
    }
    for state in &mut draft.states {
        for initial in &mut state.initials {
            redirect(&mut initial.targets);
        }
    }
    draft
        .transitions
        .retain(|transition| transition.ir.source != pseudo);
    draft.drop_state(pseudo);
}

/// Reports a guard or an action on a transition out of a fork.
fn refuse_label(transition: &DraftTransition, draft: &Draft, context: &mut Context<'_>) {
    let acts = !transition.ir.actions.is_empty();
    if acts || !transition.label_guards.is_empty() || transition.otherwise {
        let id = &draft.get(transition.ir.source).ir.id;
        context.diags.push(guarded_fork(id, transition.ir.span));
    }
}

/// Turns a fork and its branches into a parallel state, if they are well-formed.
fn make_parallel(
    fork: StateHandle,
    targets: &[(StateHandle, Span)],
    resolved: &mut Resolved,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let scope = draft.parent(fork);
    let branches = Branches::new(scope, fork, draft);
    let Some((join, branches)) = branches.resolve(targets, resolved, draft, context) else {
        for &(_, start) in targets {
            // What its labels trigger is clear once it forks something.
            context.diags.remove_followers(start);
        }
        return;
    };
    let id = draft.get(join).ir.id.clone();
    resolved.joins.insert(fork, id);
    draft.get_mut(fork).kind = Some(Kind::Parallel);
    draft.get_mut(fork).has_body = true;
    for (at, branch) in branches.iter().enumerate() {
        add_region(fork, at + 1, branch, draft);
    }
    refuse_strays(fork, join, draft, context);
    end_regions(fork, join, draft);
    draft
        .transitions
        .retain(|transition| transition.ir.source != fork);
    complete(fork, join, draft);
}

/// Reports transitions to a join from outside of its branches, and takes them out.
fn refuse_strays(
    fork: StateHandle,
    join: StateHandle,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let is_stray = |transition: &DraftTransition, draft: &Draft| {
        transition.ir.targets.contains(&join) && !draft.is_within(transition.ir.source, fork)
    };
    let drawn = draft.transitions.iter();
    let mut strays: Vec<Span> = drawn
        .filter(|transition| is_stray(transition, draft))
        .map(|transition| transition.ir.span)
        .collect();
    let mut transitions = std::mem::take(&mut draft.transitions);
    transitions.retain(|transition| !is_stray(transition, draft));
    draft.transitions = transitions;
    for initial in draft.states.iter_mut().flat_map(|it| &mut it.initials) {
        if initial.targets.contains(&join) {
            initial.targets = vec![fork];
            strays.push(initial.span);
        }
    }
    let ids = (
        draft.get(fork).ir.id.as_str(),
        draft.get(join).ir.id.as_str(),
    );
    for stray in strays {
        let diagnostic = join_from_outside(ids, stray, draft.get(fork).ir.span);
        context.diags.push(diagnostic);
    }
}

/// Moves a branch into a region of its own.
fn add_region(fork: StateHandle, number: usize, branch: &Branch, draft: &mut Draft) {
    let region = draft.add_region(fork, number, branch.start);
    let drafted = draft.get_mut(region);
    drafted.add_initial(branch.start, branch.target, false);
    for &state in &branch.states {
        draft.set_parent(state, region);
    }
}

/// Redirects transitions to a join from inside a parallel state to the ends of its regions.
fn end_regions(parallel: StateHandle, join: StateHandle, draft: &mut Draft) {
    for index in transitions_to(join, draft) {
        let Some(transition) = draft.transitions.get(index) else {
            continue;
        };
        let (source, span) = (transition.ir.source, transition.ir.span);
        let Some(region) = child_in_scope(parallel, source, draft) else {
            continue;
        };
        let end = draft.intern_end(region, source, span);
        if let Some(transition) = draft.transitions.get_mut(index) {
            transition.ir.targets = vec![end];
        }
    }
}

/// Moves the transitions out of a join to the parallel state that it completes.
///
/// A join without any ends its scope.
fn complete(parallel: StateHandle, join: StateHandle, draft: &mut Draft) {
    let outgoing = transitions_from(join, draft);
    for &index in &outgoing {
        if let Some(transition) = draft.transitions.get_mut(index) {
            transition.ir.source = parallel;
            transition.trigger = DraftTrigger::Completion;
        }
    }
    if outgoing.is_empty() {
        let (scope, span) = (draft.parent(parallel), draft.get(join).ir.span);
        let end = draft.intern_end(scope, parallel, span);
        let trigger = DraftTrigger::Completion;
        let transition = DraftTransition::implied(span, parallel, end, trigger);
        draft.transitions.push(transition);
    }
    draft.drop_state(join);
}

/// Resolves a join without a fork: the completion of a parallel state, or a mistake.
fn resolve_lone_join(join: StateHandle, draft: &mut Draft, context: &mut Context<'_>) {
    let sources: Vec<(StateHandle, Span)> = transitions_to(join, draft)
        .into_iter()
        .filter_map(|index| draft.transitions.get(index))
        .map(|transition| (transition.ir.source, transition.ir.span))
        .collect();
    if let Some(parallel) = parallel_of_sources(&sources, draft) {
        end_regions(parallel, join, draft);
        complete(parallel, join, draft);
        return;
    }
    let (id, span) = (draft.get(join).ir.id.clone(), draft.get(join).ir.span);
    let outgoing = transitions_from(join, draft);
    match (sources.as_slice(), outgoing.as_slice()) {
        (_, []) => {
            let diagnostic = pseudo_state_without_way_out("join", &id, span);
            context.diags.push(diagnostic);
        }
        ([(_, only)], outgoing) => {
            context.diags.push(single_way("join", &id, "to", *only));
            let only = outgoing.first().filter(|_| outgoing.len() == 1);
            let target = only.and_then(|&out| draft.transitions.get(out)?.ir.target());
            match target {
                Some(target) => bypass(join, &[target], draft),
                None => draft.get_mut(join).pseudo = Some(Stereotype::Choice),
            }
        }
        (sources, _) => {
            let places: Vec<Span> = sources.iter().map(|&(_, span)| span).collect();
            for out in outgoing.iter().filter_map(|&at| draft.transitions.get(at)) {
                // What its labels trigger is clear once it joins something.
                context.diags.remove_followers(out.ir.span);
            }
            context.diags.push(join_without_fork(&id, span, &places));
        }
    }
}

/// Returns the parallel state that has some states in its regions.
fn parallel_of_sources(states: &[(StateHandle, Span)], draft: &Draft) -> Option<StateHandle> {
    let &(first, _) = states.first()?;
    let parallel = draft.ancestry(first).skip(1).find(|&ancestor| {
        states
            .iter()
            .all(|&(state, _)| draft.is_within(state, ancestor))
    })?;
    let is_parallel = draft.get(parallel).kind == Some(Kind::Parallel);
    let inside = states.iter().all(|&(state, _)| state != parallel);
    (is_parallel && inside).then_some(parallel)
}
