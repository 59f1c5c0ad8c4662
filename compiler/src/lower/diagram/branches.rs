//! The branches of a fork: the states between it and its join.
//!
//! States are seen from the scope of the fork: a composite in it counts with everything inside. A state lies in a branch if
//! one path leads there from the fork and another from there to the join, neither through the fork again. Other states that
//! a branch leads to lie outside.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::fork::Resolved;
use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{Draft, DraftTrigger, StateHandle};
use crate::lower::spec::Context;
use crate::source::Span;

/// One branch of a fork.
#[derive(Debug)]
pub(super) struct Branch {
    /// The transition out of the fork.
    pub(super) start: Span,
    /// The target of that transition.
    pub(super) target: StateHandle,
    /// Its states, as children of the fork's scope.
    pub(super) states: Vec<StateHandle>,
}

/// A transition, seen from the scope.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The index of the transition.
    transition: usize,
    /// The child of the scope that it leads to; `None` if it leads out of the scope.
    to: Option<StateHandle>,
}

/// The diagram as seen from the scope of a fork.
pub(super) struct Branches {
    scope: StateHandle,
    fork: StateHandle,
    /// The transitions that leave each child of the scope.
    steps: BTreeMap<StateHandle, Vec<Step>>,
}

/// The states that a transition out of a fork leads to.
struct Reachability {
    start: Span,
    target: StateHandle,
    root: StateHandle,
    /// Each state with the step that first led there, and the source of that step.
    from: BTreeMap<StateHandle, Option<(StateHandle, usize)>>,
    /// The joins in the order in which paths reach them, each with the state and the step that lead there.
    joins: Vec<(StateHandle, StateHandle, usize)>,
}

impl Branches {
    /// Collects the transitions between the children of the fork's scope.
    pub(super) fn new(scope: StateHandle, fork: StateHandle, draft: &Draft) -> Self {
        let mut steps: BTreeMap<StateHandle, Vec<Step>> = BTreeMap::new();
        for (index, transition) in draft.transitions.iter().enumerate() {
            let Some(source) = child_in_scope(scope, transition.ir.source, draft) else {
                continue;
            };
            for &target in &transition.ir.targets {
                let to = child_in_scope(scope, target, draft);
                if to != Some(source) {
                    let step = Step {
                        transition: index,
                        to,
                    };
                    steps.entry(source).or_default().push(step);
                }
            }
        }
        Self { scope, fork, steps }
    }

    fn steps(&self, state: StateHandle) -> &[Step] {
        self.steps.get(&state).map_or(&[], Vec::as_slice)
    }

    /// Returns a fork in the branches that is neither resolved nor being resolved.
    pub(super) fn open_fork(
        &self,
        targets: &[(StateHandle, Span)],
        resolved: &Resolved,
        draft: &Draft,
    ) -> Option<StateHandle> {
        targets.iter().find_map(|&(target, start)| {
            let reach = self.reach(target, start, draft)?;
            let is_open = |state: &StateHandle| {
                draft.get(*state).pseudo == Some(Stereotype::Fork) && !resolved.is_open(*state)
            };
            reach.from.keys().copied().find(is_open)
        })
    }

    /// Returns the states that a transition out of the fork leads to, up to joins and the fork itself.
    fn reach(&self, target: StateHandle, start: Span, draft: &Draft) -> Option<Reachability> {
        let root = child_in_scope(self.scope, target, draft)?;
        let mut reach = Reachability {
            start,
            target,
            root,
            from: BTreeMap::from([(root, None)]),
            joins: Vec::new(),
        };
        let mut open = VecDeque::from([root]);
        while let Some(state) = open.pop_front() {
            for step in self.steps(state) {
                let Some(to) = step.to.filter(|&to| to != self.fork) else {
                    continue;
                };
                if draft.get(to).pseudo == Some(Stereotype::Join) {
                    reach.joins.push((to, state, step.transition));
                } else if let Entry::Vacant(found) = reach.from.entry(to) {
                    found.insert(Some((state, step.transition)));
                    open.push_back(to);
                }
            }
        }
        Some(reach)
    }

    /// Returns the join and the branches, or reports branches that aren't well-formed.
    pub(super) fn resolve(
        &self,
        targets: &[(StateHandle, Span)],
        resolved: &mut Resolved,
        draft: &Draft,
        context: &mut Context<'_>,
    ) -> Option<(StateHandle, Vec<Branch>)> {
        let id = draft.get(self.fork).ir.id.as_str();
        let all = self.reach_all(targets, draft, context)?;
        let Some(&(join, from, step)) = all.iter().find_map(|reach| reach.joins.first()) else {
            let span = draft.get(self.fork).ir.span;
            let mut reached = all.iter().flat_map(|reach| reach.from.keys());
            let inner = reached.find_map(|&fork| Some((fork, resolved.join_of(fork)?)));
            let inner = inner.map(|(fork, join)| (draft.get(fork).ir.id.as_str(), join));
            context.diags.push(fork_without_join(id, inner, span));
            return None;
        };
        let joined = self
            .path(&all, from, step, draft)
            .map_or(draft.get(join).ir.span, |path| path.last());
        let inside = self.states_before(join, &all, draft);
        let mut is_sound = true;
        let mut branch_of: BTreeMap<StateHandle, usize> = BTreeMap::new();
        for (number, reach) in all.iter().enumerate() {
            if !inside.contains(&reach.root) {
                let names = (
                    id,
                    draft.get(join).ir.id.as_str(),
                    draft.get(reach.target).ir.id.as_str(),
                );
                context.diags.push(lost_branch(names, reach.start, joined));
                return None;
            }
            let states = reach.from.keys().copied();
            for state in states.filter(|state| inside.contains(state)) {
                let earlier = *branch_of.entry(state).or_insert(number);
                if let Some(other) = all.get(earlier).filter(|_| earlier != number) {
                    let names = (id, draft.get(state).ir.id.as_str());
                    let paths = [other, reach].map(|reach| reach.path(state, None, draft));
                    let [first, second] = paths;
                    let diagnostic = state_of_two_branches(names, &first, &second);
                    context.diags.push(diagnostic);
                    return None;
                }
            }
            is_sound &= self.check_exits(reach, (join, &inside), resolved, draft, context);
        }
        if !is_sound {
            return None;
        }
        let branch = |reach: Reachability| Branch {
            start: reach.start,
            target: reach.target,
            states: reach
                .from
                .into_keys()
                .filter(|state| inside.contains(state))
                .collect(),
        };
        Some((join, all.into_iter().map(branch).collect()))
    }

    /// Returns the states that each transition out of the fork leads to, or reports one out of the scope.
    fn reach_all(
        &self,
        targets: &[(StateHandle, Span)],
        draft: &Draft,
        context: &mut Context<'_>,
    ) -> Option<Vec<Reachability>> {
        let mut all = Vec::with_capacity(targets.len());
        for &(target, start) in targets {
            let reach = self.reach(target, start, draft);
            let is_join = draft.get(target).pseudo == Some(Stereotype::Join);
            let Some(reach) = reach.filter(|_| !is_join) else {
                let fork = &draft.get(self.fork).ir.id;
                let name = &draft.get(target).ir.id;
                context.diags.push(branch_out_of_scope(fork, name, start));
                return None;
            };
            all.push(reach);
        }
        Some(all)
    }

    fn path(
        &self,
        all: &[Reachability],
        from: StateHandle,
        step: usize,
        draft: &Draft,
    ) -> Option<Path> {
        let reach = all.iter().find(|reach| reach.from.contains_key(&from))?;
        Some(reach.path(from, Some(step), draft))
    }

    /// Returns the states from which a path leads to a join, not through the fork again.
    fn states_before(
        &self,
        join: StateHandle,
        all: &[Reachability],
        draft: &Draft,
    ) -> BTreeSet<StateHandle> {
        let mut back: BTreeMap<StateHandle, Vec<StateHandle>> = BTreeMap::new();
        let reached: BTreeSet<StateHandle> = all
            .iter()
            .flat_map(|reach| reach.from.keys().copied())
            .collect();
        for &state in &reached {
            for to in self.steps(state).iter().filter_map(|step| step.to) {
                let ends = draft.get(to).pseudo == Some(Stereotype::Join) && to != join;
                if to != self.fork && !ends {
                    back.entry(to).or_default().push(state);
                }
            }
        }
        let mut found = BTreeSet::new();
        let mut open = vec![join];
        while let Some(state) = open.pop() {
            for &before in back.get(&state).into_iter().flatten() {
                if found.insert(before) {
                    open.push(before);
                }
            }
        }
        found
    }

    /// Reports paths that end in another join, and those that leave the branch without an event.
    ///
    /// Returns whether there are none.
    fn check_exits(
        &self,
        reach: &Reachability,
        (join, inside): (StateHandle, &BTreeSet<StateHandle>),
        resolved: &mut Resolved,
        draft: &Draft,
        context: &mut Context<'_>,
    ) -> bool {
        let mut is_sound = true;
        let id = draft.get(self.fork).ir.id.as_str();
        let join_id = draft.get(join).ir.id.as_str();
        for &state in reach.from.keys().filter(|state| inside.contains(state)) {
            for step in self.steps(state) {
                let stays = |to: StateHandle| to == join || inside.contains(&to);
                if step.to.is_some_and(stays) {
                    continue;
                }
                let path = reach.path(state, Some(step.transition), draft);
                let other = step
                    .to
                    .filter(|&to| draft.get(to).pseudo == Some(Stereotype::Join));
                if let Some(other) = other {
                    let names = (id, join_id, draft.get(other).ir.id.as_str());
                    context.diags.push(two_joins(names, &path));
                    is_sound = false;
                } else if !waits(step.transition, draft) {
                    if resolved.is_new_exit(path.last()) {
                        let diagnostic = path_that_leaves_early((id, join_id), &path);
                        context.diags.push(diagnostic);
                    }
                    is_sound = false;
                }
            }
        }
        is_sound
    }
}

impl Reachability {
    /// Returns the path to a state, and one step further.
    fn path(&self, state: StateHandle, last: Option<usize>, draft: &Draft) -> Path {
        let mut steps: Vec<usize> = last.into_iter().collect();
        let mut at = state;
        while let Some(&Some((before, step))) = self.from.get(&at) {
            steps.push(step);
            at = before;
        }
        let spans = steps.into_iter().rev();
        Path {
            start: self.start,
            steps: spans
                .filter_map(|step| Some(draft.transitions.get(step)?.ir.span))
                .collect(),
        }
    }
}

/// Returns the child of a scope that holds a state, or is it.
pub(super) fn child_in_scope(
    scope: StateHandle,
    state: StateHandle,
    draft: &Draft,
) -> Option<StateHandle> {
    let mut ancestry = draft.ancestry(state);
    ancestry.find(|&ancestor| ancestor != scope && draft.parent(ancestor) == scope)
}

/// Returns whether a transition waits for an event.
fn waits(transition: usize, draft: &Draft) -> bool {
    draft.transitions.get(transition).is_some_and(|transition| {
        matches!(
            transition.trigger,
            DraftTrigger::Events(_) | DraftTrigger::Commented { .. } | DraftTrigger::Delayed(_)
        )
    })
}

/// A path through a branch of a fork.
#[derive(Clone, Debug)]
struct Path {
    /// The transition out of the fork.
    start: Span,
    /// The transitions that follow, in their order.
    steps: Vec<Span>,
}

impl Path {
    /// Returns the span of its last step.
    fn last(&self) -> Span {
        self.steps.last().copied().unwrap_or(self.start)
    }
}

pub(super) fn pseudo_state_without_way_out(word: &str, id: &str, span: Span) -> Diagnostic {
    let message = format!("nothing leads out of the {word} `{id}`");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(format!("a {word} without a way out"))
        .help(format!("lead on from `{id}`"))
}

/// Reports a fork whose branches end in no join; `inner` is a fork in one of them with its own.
fn fork_without_join(id: &str, inner: Option<(&str, &str)>, span: Span) -> Diagnostic {
    let message = format!("the branches of the fork `{id}` never come together");
    let label = match inner {
        Some((fork, join)) => {
            format!("the join `{join}` on the way ends the fork `{fork}`, and no other one follows")
        }
        None => "no path from here leads to a join".to_owned(),
    };
    let other = if inner.is_some() {
        "another join"
    } else {
        "a join"
    };
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(label)
        .note("the branches run side by side until each of them has reached the same join")
        .help(format!(
            "declare {other}, such as `state all_done <<join>>`, and lead each branch to it"
        ))
        .help(format!(
            "if only one of its ways is taken, it is a choice: `state {id} <<choice>>`"
        ))
}

fn lost_branch((fork, join, branch): (&str, &str, &str), span: Span, joined: Span) -> Diagnostic {
    let message = format!("the branch at `{branch}` never reaches the join `{join}`");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(format!("a branch of `{fork}`"))
        .related(joined, format!("another branch reaches `{join}` here"))
        .help(format!("lead from the end of this branch to `{join}`"))
}

fn two_joins((fork, join, other): (&str, &str, &str), path: &Path) -> Diagnostic {
    let message = format!("the branches of `{fork}` end in two joins, `{join}` and `{other}`");
    along_path(message, path, &format!("reaches `{other}`")).help("lead every branch to one join")
}

fn state_of_two_branches((fork, state): (&str, &str), first: &Path, second: &Path) -> Diagnostic {
    let message = format!("two branches of `{fork}` share the state `{state}`");
    along_path(message, second, "this branch comes there")
        .related(first.last(), "and so does this one")
        .help(format!(
        "the branches run side by side: give each its own state, or put `{state}` after the join"
    ))
}

fn path_that_leaves_early((fork, join): (&str, &str), path: &Path) -> Diagnostic {
    let message = format!("this path leaves a branch of `{fork}` before `{join}`");
    along_path(message, path, "leaves without an event")
        .note("the other branches would be cut off")
        .help(format!(
            "lead to `{join}`; or give this way an event, which then leaves all branches at once"
        ))
}

fn branch_out_of_scope(fork: &str, target: &str, span: Span) -> Diagnostic {
    let message =
        format!("the branch at `{target}` lies outside of the scope of the fork `{fork}`");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label("leads out of it")
        .help("write the fork, its branches and the join in one body")
}

pub(super) fn join_without_fork(id: &str, span: Span, transitions: &[Span]) -> Diagnostic {
    let message = format!("nothing was forked that the join `{id}` could wait for");
    let mut diagnostic =
        Diagnostic::new(Code::BrokenFork, span, message).label("a join without a fork");
    for transition in transitions.iter().take(3) {
        diagnostic = diagnostic.related(*transition, "leads to the join");
    }
    diagnostic.help(format!(
        "start the branches at a `<<fork>>`; if only one of them is taken, lead to the state after `{id}` instead"
    ))
}

pub(super) fn join_from_outside(
    (fork, join): (&str, &str),
    span: Span,
    forked: Span,
) -> Diagnostic {
    let message = format!("this leads to the join `{join}` from outside of its branches");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(format!("no branch of `{fork}` comes here"))
        .related(forked, "the branches begin here")
        .help(format!(
            "lead here from a branch, or lead to the state after `{join}` instead"
        ))
}

fn along_path(message: String, path: &Path, label: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(Code::BrokenFork, path.last(), message).label(label);
    let all = std::iter::once(path.start).chain(path.steps.iter().copied());
    for (at, step) in all.take(path.steps.len()).take(4).enumerate() {
        let what = if at == 0 {
            "the branch begins here"
        } else {
            "then this way"
        };
        diagnostic = diagnostic.related(step, what);
    }
    diagnostic
}
