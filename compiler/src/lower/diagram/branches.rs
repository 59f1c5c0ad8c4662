//! The branches of a fork: which states lie between it and its join, and whether they are well-formed.
//!
//! States are seen from the scope of the fork: a composite in it counts with everything inside. A state lies in a branch
//! if a path leads there from the fork and one leads on to the join, neither through the fork again; what a branch leads to
//! beside that lies outside.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{Draft, DraftTrigger, StateIndex};
use crate::lower::spec::Context;
use crate::source::Span;

/// One branch of a fork.
#[derive(Debug)]
pub(super) struct Branch {
    /// The way out of the fork.
    pub(super) way: Span,
    /// Where it leads.
    pub(super) target: StateIndex,
    /// Its states, as children of the fork's scope.
    pub(super) states: Vec<StateIndex>,
}

/// One transition, seen from the scope.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The index of the transition.
    transition: usize,
    /// The child of the scope where it leads; `None` for out of the scope.
    to: Option<StateIndex>,
}

/// The diagram as seen from the scope of a fork.
pub(super) struct Branches {
    scope: StateIndex,
    fork: StateIndex,
    /// By child of the scope: the transitions that leave it.
    steps: BTreeMap<StateIndex, Vec<Step>>,
}

/// What one way out of a fork leads to.
struct Reachability {
    way: Span,
    target: StateIndex,
    root: StateIndex,
    /// By state: the step that led there first, and from where.
    from: BTreeMap<StateIndex, Option<(StateIndex, usize)>>,
    /// The joins in the order in which they are come to, each with the state and the step that lead there.
    joins: Vec<(StateIndex, StateIndex, usize)>,
}

impl Branches {
    /// The children of the fork's scope, and what leads from one to the other.
    pub(super) fn new(scope: StateIndex, fork: StateIndex, draft: &Draft) -> Self {
        let mut steps: BTreeMap<StateIndex, Vec<Step>> = BTreeMap::new();
        for (index, transition) in draft.transitions.iter().enumerate() {
            let Some(source) = lift(scope, transition.source, draft) else {
                continue;
            };
            for &target in &transition.targets {
                let to = lift(scope, target, draft);
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

    fn steps(&self, state: StateIndex) -> &[Step] {
        self.steps.get(&state).map_or(&[], Vec::as_slice)
    }

    /// A fork on the way of the branches that isn't settled yet, nor being settled.
    pub(super) fn open_fork(
        &self,
        targets: &[(StateIndex, Span)],
        open: &[StateIndex],
        draft: &Draft,
    ) -> Option<StateIndex> {
        targets.iter().find_map(|&(target, way)| {
            let reach = self.reach(target, way, draft)?;
            let is_open = |state: &StateIndex| {
                draft.get(*state).pseudo == Some(Stereotype::Fork) && !open.contains(state)
            };
            reach.from.keys().copied().find(is_open)
        })
    }

    /// The states that a way out of the fork leads to, not beyond a join, and not through the fork again.
    fn reach(&self, target: StateIndex, way: Span, draft: &Draft) -> Option<Reachability> {
        let root = lift(self.scope, target, draft)?;
        let mut reach = Reachability {
            way,
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

    /// The join and the branches; `None` where they aren't well-formed, which is told.
    pub(super) fn find(
        &self,
        targets: &[(StateIndex, Span)],
        draft: &Draft,
        context: &mut Context<'_>,
    ) -> Option<(StateIndex, Vec<Branch>)> {
        let id = draft.get(self.fork).id.as_str();
        let mut all = Vec::with_capacity(targets.len());
        for &(target, way) in targets {
            let reach = self.reach(target, way, draft);
            let is_join = draft.get(target).pseudo == Some(Stereotype::Join);
            let Some(reach) = reach.filter(|_| !is_join) else {
                let name = &draft.get(target).id;
                let diagnostic = branch_out_of_scope(id, name, way);
                context.diags.push(diagnostic);
                return None;
            };
            all.push(reach);
        }
        let Some(&(join, from, step)) = all.iter().find_map(|reach| reach.joins.first()) else {
            let span = draft.get(self.fork).span;
            context.diags.push(fork_without_join(id, span));
            return None;
        };
        let joined = self
            .path(&all, from, step, draft)
            .map_or(draft.get(join).span, |path| path.last());
        let inside = self.leading_to(join, &all, draft);
        let before = context.diags.has_errors();
        let mut owners: BTreeMap<StateIndex, usize> = BTreeMap::new();
        for (number, reach) in all.iter().enumerate() {
            if !inside.contains(&reach.root) {
                let names = (
                    id,
                    draft.get(join).id.as_str(),
                    draft.get(reach.target).id.as_str(),
                );
                let diagnostic = lost_branch(names, reach.way, joined);
                context.diags.push(diagnostic);
                return None;
            }
            let states = reach.from.keys().copied();
            for state in states.filter(|state| inside.contains(state)) {
                let earlier = *owners.entry(state).or_insert(number);
                if let Some(other) = all.get(earlier).filter(|_| earlier != number) {
                    let names = (id, draft.get(state).id.as_str());
                    let paths = [other, reach].map(|reach| reach.path(state, None, draft));
                    let [first, second] = paths;
                    let diagnostic = state_of_two_branches(names, &first, &second);
                    context.diags.push(diagnostic);
                    return None;
                }
            }
            self.check_ways_out(reach, join, &inside, draft, context);
        }
        if !before && context.diags.has_errors() {
            return None;
        }
        let branch = |reach: Reachability| Branch {
            way: reach.way,
            target: reach.target,
            states: reach
                .from
                .into_keys()
                .filter(|state| inside.contains(state))
                .collect(),
        };
        Some((join, all.into_iter().map(branch).collect()))
    }

    fn path(
        &self,
        all: &[Reachability],
        from: StateIndex,
        step: usize,
        draft: &Draft,
    ) -> Option<Path> {
        let reach = all.iter().find(|reach| reach.from.contains_key(&from))?;
        Some(reach.path(from, Some(step), draft))
    }

    /// The states from which a path leads to a join without coming to the fork again.
    fn leading_to(
        &self,
        join: StateIndex,
        all: &[Reachability],
        draft: &Draft,
    ) -> BTreeSet<StateIndex> {
        let mut back: BTreeMap<StateIndex, Vec<StateIndex>> = BTreeMap::new();
        let reached: BTreeSet<StateIndex> = all
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
    fn check_ways_out(
        &self,
        reach: &Reachability,
        join: StateIndex,
        inside: &BTreeSet<StateIndex>,
        draft: &Draft,
        context: &mut Context<'_>,
    ) {
        let id = draft.get(self.fork).id.as_str();
        let join_id = draft.get(join).id.as_str();
        for &state in reach.from.keys().filter(|state| inside.contains(state)) {
            for step in self.steps(state) {
                let stays = |to: StateIndex| to == join || inside.contains(&to);
                if step.to.is_some_and(stays) {
                    continue;
                }
                let path = reach.path(state, Some(step.transition), draft);
                let other = step
                    .to
                    .filter(|&to| draft.get(to).pseudo == Some(Stereotype::Join));
                if let Some(other) = other {
                    let names = (id, join_id, draft.get(other).id.as_str());
                    let diagnostic = two_joins(names, &path);
                    context.diags.push(diagnostic);
                } else if !waits(step.transition, draft) {
                    let diagnostic = path_that_leaves_early((id, join_id), &path);
                    context.diags.push(diagnostic);
                }
            }
        }
    }
}

impl Reachability {
    /// The way to a state, and one step on.
    fn path(&self, state: StateIndex, last: Option<usize>, draft: &Draft) -> Path {
        let mut steps: Vec<usize> = last.into_iter().collect();
        let mut at = state;
        while let Some(&Some((before, step))) = self.from.get(&at) {
            steps.push(step);
            at = before;
        }
        let spans = steps.into_iter().rev();
        Path {
            way: self.way,
            steps: spans
                .filter_map(|step| Some(draft.transitions.get(step)?.span))
                .collect(),
        }
    }
}

/// The child of a scope that holds a state, or is it.
fn lift(scope: StateIndex, state: StateIndex, draft: &Draft) -> Option<StateIndex> {
    let mut around = draft.ancestry(state);
    around.find(|&around| around != scope && draft.get(around).parent == scope)
}

/// Whether a transition waits for an event.
fn waits(transition: usize, draft: &Draft) -> bool {
    draft.transitions.get(transition).is_some_and(|transition| {
        matches!(
            transition.trigger,
            DraftTrigger::Events(_) | DraftTrigger::Commented { .. } | DraftTrigger::Delayed(_)
        )
    })
}

/// A way through a branch of a fork.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The way out of the fork.
    pub(super) way: Span,
    /// The transitions that follow, in their order.
    pub(super) steps: Vec<Span>,
}

impl Path {
    /// The place of its last step.
    pub(super) fn last(&self) -> Span {
        self.steps.last().copied().unwrap_or(self.way)
    }
}

pub(super) fn pseudo_state_without_way_out(word: &str, id: &str, span: Span) -> Diagnostic {
    let message = format!("nothing leads out of the {word} `{id}`");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(format!("a {word} without a way out"))
        .help(format!("lead on from `{id}`"))
}

pub(super) fn fork_without_join(id: &str, span: Span) -> Diagnostic {
    let message = format!("the branches of the fork `{id}` never come together");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label("no path from here leads to a join")
        .note("the branches run side by side until each of them has reached the same join")
        .help("declare `state all_done <<join>>` and lead each branch to it")
}

pub(super) fn lost_branch(
    (fork, join, branch): (&str, &str, &str),
    way: Span,
    joined: Span,
) -> Diagnostic {
    let message = format!("the branch at `{branch}` never reaches the join `{join}`");
    Diagnostic::new(Code::BrokenFork, way, message)
        .label(format!("a branch of `{fork}`"))
        .related(joined, format!("another branch reaches `{join}` here"))
        .help(format!("lead from the end of this branch to `{join}`"))
}

pub(super) fn two_joins((fork, join, other): (&str, &str, &str), path: &Path) -> Diagnostic {
    let message = format!("the branches of `{fork}` end in two joins, `{join}` and `{other}`");
    along_path(message, path, &format!("reaches `{other}`")).help("lead every branch to one join")
}

pub(super) fn state_of_two_branches(
    (fork, state): (&str, &str),
    first: &Path,
    second: &Path,
) -> Diagnostic {
    let message = format!("two branches of `{fork}` share the state `{state}`");
    along_path(message, second, "this branch comes there")
        .related(first.last(), "and so does this one")
        .help(format!(
        "the branches run side by side: give each its own state, or put `{state}` behind the join"
    ))
}

pub(super) fn path_that_leaves_early((fork, join): (&str, &str), path: &Path) -> Diagnostic {
    let message = format!("this path leaves a branch of `{fork}` before `{join}`");
    along_path(message, path, "leaves without an event")
        .note("the other branches would be cut off")
        .help(format!(
            "lead to `{join}`; or give this way an event, which then leaves all branches at once"
        ))
}

pub(super) fn branch_out_of_scope(fork: &str, target: &str, way: Span) -> Diagnostic {
    let message =
        format!("the branch at `{target}` lies outside of the scope of the fork `{fork}`");
    Diagnostic::new(Code::BrokenFork, way, message)
        .label("leads out of it")
        .help("write the fork, its branches and the join in one body")
}

pub(super) fn join_without_fork(id: &str, span: Span, ways: &[Span]) -> Diagnostic {
    let message = format!("nothing was forked that the join `{id}` could wait for");
    let mut diagnostic =
        Diagnostic::new(Code::BrokenFork, span, message).label("a join without a fork");
    for way in ways.iter().take(3) {
        diagnostic = diagnostic.related(*way, "leads to the join");
    }
    diagnostic.help(format!(
        "start the branches at a `<<fork>>`; where one way or the other is taken, lead to the state behind `{id}` instead"
    ))
}

pub(super) fn way_from_outside((fork, join): (&str, &str), way: Span, forked: Span) -> Diagnostic {
    let message = format!("this leads to the join `{join}` from outside of its branches");
    Diagnostic::new(Code::BrokenFork, way, message)
        .label(format!("no branch of `{fork}` comes here"))
        .related(forked, "the branches begin here")
        .help(format!(
            "lead here from a branch, or lead to the state behind `{join}` instead"
        ))
}

fn along_path(message: String, path: &Path, label: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(Code::BrokenFork, path.last(), message).label(label);
    let all = std::iter::once(path.way).chain(path.steps.iter().copied());
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
