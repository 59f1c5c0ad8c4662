//! Forks and joins become a parallel state of the fork's name, with a region for each branch.
//!
//! ```text
//! a --> f : go                      a --go--> f (parallel)
//! f --> b    b --> j : x            f_1: b --x--> b_end      f_2: c --y--> c_end
//! f --> c    c --> j : y     →      f, when it is done, --> d
//! j --> d
//! ```
//!
//! That is so if the branches share no state, every path of a branch ends in the same join, and none leaves it early but by
//! an event, which then leaves all of them. A fork whose ways lead into different regions of a parallel state that is drawn
//! is a transition with several targets, and a join that such regions lead to is the completion of that state.

use std::collections::BTreeSet;

use super::branches::{
    Branch, Branches, join_without_fork, pseudo_state_without_way_out, way_from_outside,
};
use super::messages::{guarded_fork, single_way};
use crate::diag::machine_too_large;
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{self, Draft, DraftTransition, DraftTrigger, StateIndex};
use crate::lower::spec::Context;
use crate::source::Span;

/// Most forks and joins of one diagram. Unit: pseudo-states. Why: each is followed through the whole diagram.
const MOST: usize = 256;

/// Makes parallel states of all forks and joins.
pub(super) fn settle(draft: &mut Draft, context: &mut Context<'_>) {
    let of = |wanted: Stereotype, draft: &Draft| -> Vec<StateIndex> {
        (1..draft.states.len())
            .filter(|&state| draft.get(state).pseudo == Some(wanted))
            .collect()
    };
    let (forks, joins) = (of(Stereotype::Fork, draft), of(Stereotype::Join, draft));
    let too_many = draft.transitions.len() > statemark_runtime::MAX_TRANSITIONS;
    if forks.is_empty() && joins.is_empty() || too_many {
        // Too many transitions for a table are told of when the machine is checked.
        return;
    }
    if forks.len() + joins.len() > MOST {
        let span = draft.get(draft::ROOT).span;
        let text = format!("more than {MOST} forks and joins");
        context.diags.push(machine_too_large(&text, span));
        return;
    }
    // Those inside others first: they are states of the branches around them.
    let mut open: Vec<StateIndex> = Vec::new();
    for &fork in &forks {
        settle_fork(fork, &mut open, draft, context);
    }
    if context.diags.has_errors() {
        // Of joins whose forks aren't well-formed, nothing more is said.
        return;
    }
    for &join in &joins {
        if draft.get(join).pseudo == Some(Stereotype::Join) {
            settle_lone_join(join, draft, context);
        }
    }
}

/// The transitions out of a state, by their index.
fn ways_out(state: StateIndex, draft: &Draft) -> Vec<usize> {
    let all = draft.transitions.iter().enumerate();
    all.filter(|(_, transition)| transition.source == state)
        .map(|(index, _)| index)
        .collect()
}

/// The transitions to a state, by their index.
fn ways_in(state: StateIndex, draft: &Draft) -> Vec<usize> {
    let all = draft.transitions.iter().enumerate();
    all.filter(|(_, transition)| transition.targets.contains(&state))
        .map(|(index, _)| index)
        .collect()
}

fn settle_fork(
    fork: StateIndex,
    open: &mut Vec<StateIndex>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    if draft.get(fork).pseudo != Some(Stereotype::Fork) || open.contains(&fork) {
        return;
    }
    open.push(fork);
    let ways = ways_out(fork, draft);
    let mut targets: Vec<(StateIndex, Span)> = Vec::new();
    for &way in &ways {
        let Some(transition) = draft.transitions.get(way) else {
            continue;
        };
        refuse_label(transition, draft, context);
        targets.extend(transition.target().map(|target| (target, transition.span)));
    }
    let id = draft.get(fork).id.clone();
    match targets.as_slice() {
        [] => {
            let span = draft.get(fork).span;
            let diagnostic = pseudo_state_without_way_out("fork", &id, span);
            context.diags.push(diagnostic);
        }
        [(target, span)] => {
            let diagnostic = single_way("fork", &id, "out of", *span);
            context.diags.push(diagnostic);
            lead_past(fork, &[*target], draft);
        }
        _ if regions_of(&targets, draft).is_some() => {
            let all: Vec<StateIndex> = targets.iter().map(|&(target, _)| target).collect();
            lead_past(fork, &all, draft);
        }
        _ => {
            // What the branches come to first must be settled first.
            let scope = draft.get(fork).parent;
            while let Some(inner) =
                Branches::new(scope, fork, draft).open_fork(&targets, open, draft)
            {
                settle_fork(inner, open, draft, context);
            }
            block(fork, &targets, draft, context);
        }
    }
    // One that isn't well-formed has been told of, and is not followed again.
    draft.get_mut(fork).pseudo = None;
    open.pop();
}

/// The parallel state in whose different regions some states lie.
fn regions_of(states: &[(StateIndex, Span)], draft: &Draft) -> Option<StateIndex> {
    let &(first, _) = states.first()?;
    let mut around = draft.ancestry(first).skip(1);
    let parallel = around.find(|&around| {
        states
            .iter()
            .all(|&(state, _)| draft.is_within(state, around))
    })?;
    if draft.get(parallel).kind != Some(Kind::Parallel) {
        return None;
    }
    let mut regions = BTreeSet::new();
    let differ = states
        .iter()
        .all(|&(state, _)| regions.insert(child_of(parallel, state, draft)));
    differ.then_some(parallel)
}

/// The child of a state that holds another one.
fn child_of(around: StateIndex, state: StateIndex, draft: &Draft) -> Option<StateIndex> {
    draft
        .ancestry(state)
        .find(|&inner| inner != around && draft.get(inner).parent == around)
}

/// Leads everything that leads to a pseudo-state to what stands behind it, and takes it out.
fn lead_past(pseudo: StateIndex, targets: &[StateIndex], draft: &mut Draft) {
    let lead = |list: &mut Vec<StateIndex>| {
        let leads = *list == [pseudo];
        if leads {
            list.clear();
            list.extend_from_slice(targets);
        }
        leads
    };
    for transition in &mut draft.transitions {
        if lead(&mut transition.targets) && transition.trigger == DraftTrigger::Missing {
            transition.trigger = DraftTrigger::Toward(pseudo);
        }
    }
    for state in &mut draft.states {
        for initial in &mut state.initials {
            lead(&mut initial.targets);
        }
    }
    draft
        .transitions
        .retain(|transition| transition.source != pseudo);
    draft.drop_state(pseudo);
}

/// Refuses a guard or an action on a way out of a fork.
fn refuse_label(transition: &DraftTransition, draft: &Draft, context: &mut Context<'_>) {
    let acts = !transition.actions.is_empty();
    if acts || !transition.label_guards.is_empty() || transition.otherwise {
        let id = &draft.get(transition.source).id;
        let diagnostic = guarded_fork(id, transition.span);
        context.diags.push(diagnostic);
    }
}

/// Makes a parallel state of a fork and its branches, if they are well-formed.
fn block(
    fork: StateIndex,
    targets: &[(StateIndex, Span)],
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let scope = draft.get(fork).parent;
    let Some((join, branches)) = Branches::new(scope, fork, draft).find(targets, draft, context)
    else {
        return;
    };
    draft.get_mut(fork).kind = Some(Kind::Parallel);
    draft.get_mut(fork).has_body = true;
    for (at, branch) in branches.iter().enumerate() {
        add_region(fork, at + 1, branch, draft);
    }
    refuse_strays(fork, join, draft, context);
    end_regions(fork, join, draft);
    draft
        .transitions
        .retain(|transition| transition.source != fork);
    complete(fork, join, draft);
}

/// Refuses what leads to a join from elsewhere than its branches, and takes it out.
fn refuse_strays(fork: StateIndex, join: StateIndex, draft: &mut Draft, context: &mut Context<'_>) {
    let is_stray = |transition: &DraftTransition, draft: &Draft| {
        transition.targets.contains(&join) && !draft.is_within(transition.source, fork)
    };
    let drawn = draft.transitions.iter();
    let mut ways: Vec<Span> = drawn
        .filter(|transition| is_stray(transition, draft))
        .map(|transition| transition.span)
        .collect();
    let mut transitions = std::mem::take(&mut draft.transitions);
    transitions.retain(|transition| !is_stray(transition, draft));
    draft.transitions = transitions;
    for initial in draft.states.iter_mut().flat_map(|it| &mut it.initials) {
        if initial.targets.contains(&join) {
            initial.targets = vec![fork];
            ways.push(initial.span);
        }
    }
    let ids = (draft.get(fork).id.as_str(), draft.get(join).id.as_str());
    for way in ways {
        let diagnostic = way_from_outside(ids, way, draft.get(fork).span);
        context.diags.push(diagnostic);
    }
}

/// Moves a branch into a region of its own.
fn add_region(fork: StateIndex, number: usize, branch: &Branch, draft: &mut Draft) {
    let region = draft.add_region(fork, number, branch.way);
    draft.get_mut(region).initials.push(draft::DraftInitial {
        span: branch.way,
        targets: vec![branch.target],
        actions: Vec::new(),
        inferred: false,
    });
    for &state in &branch.states {
        draft.get_mut(state).parent = region;
    }
}

/// Leads what leads to a join from inside a parallel state to the ends of its regions.
fn end_regions(parallel: StateIndex, join: StateIndex, draft: &mut Draft) {
    for index in ways_in(join, draft) {
        let Some(transition) = draft.transitions.get(index) else {
            continue;
        };
        let (source, span) = (transition.source, transition.span);
        let Some(region) = child_of(parallel, source, draft) else {
            continue;
        };
        let end = draft.end_of(region, source, span);
        if let Some(transition) = draft.transitions.get_mut(index) {
            transition.targets = vec![end];
        }
    }
}

/// Gives the ways out of a join to the parallel state that it completes; without one, its scope ends.
fn complete(parallel: StateIndex, join: StateIndex, draft: &mut Draft) {
    let ways = ways_out(join, draft);
    for &way in &ways {
        if let Some(transition) = draft.transitions.get_mut(way) {
            transition.source = parallel;
            transition.trigger = DraftTrigger::Completion;
        }
    }
    if ways.is_empty() {
        let (scope, span) = (draft.get(parallel).parent, draft.get(join).span);
        let end = draft.end_of(scope, parallel, span);
        let mut transition = DraftTransition::new(span, parallel, Some(end));
        transition.trigger = DraftTrigger::Completion;
        transition.implied = true;
        draft.transitions.push(transition);
    }
    draft.drop_state(join);
}

/// A join that no fork has started: the completion of a parallel state, or a mistake.
fn settle_lone_join(join: StateIndex, draft: &mut Draft, context: &mut Context<'_>) {
    let sources: Vec<(StateIndex, Span)> = ways_in(join, draft)
        .into_iter()
        .filter_map(|index| draft.transitions.get(index))
        .map(|transition| (transition.source, transition.span))
        .collect();
    if let Some(parallel) = regions_with(&sources, draft) {
        end_regions(parallel, join, draft);
        complete(parallel, join, draft);
        return;
    }
    let (id, span) = (draft.get(join).id.clone(), draft.get(join).span);
    let ways = ways_out(join, draft);
    match (sources.as_slice(), ways.as_slice()) {
        (_, []) => {
            let diagnostic = pseudo_state_without_way_out("join", &id, span);
            context.diags.push(diagnostic);
        }
        ([(_, way)], outs) => {
            let diagnostic = single_way("join", &id, "to", *way);
            context.diags.push(diagnostic);
            let only = outs.first().filter(|_| outs.len() == 1);
            let target = only.and_then(|&out| draft.transitions.get(out)?.target());
            match target {
                Some(target) => lead_past(join, &[target], draft),
                None => draft.get_mut(join).pseudo = Some(Stereotype::Choice),
            }
        }
        (sources, _) => {
            let places: Vec<Span> = sources.iter().map(|&(_, span)| span).collect();
            let diagnostic = join_without_fork(&id, span, &places);
            context.diags.push(diagnostic);
        }
    }
}

/// The parallel state in whose regions, at least two of them, some states lie.
fn regions_with(states: &[(StateIndex, Span)], draft: &Draft) -> Option<StateIndex> {
    let &(first, _) = states.first()?;
    let parallel = draft.ancestry(first).skip(1).find(|&around| {
        states
            .iter()
            .all(|&(state, _)| draft.is_within(state, around))
    })?;
    let is_parallel = draft.get(parallel).kind == Some(Kind::Parallel);
    let inside = states.iter().all(|&(state, _)| state != parallel);
    (is_parallel && inside).then_some(parallel)
}
