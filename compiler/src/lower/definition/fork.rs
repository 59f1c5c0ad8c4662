//! `fork` in a definition: branches that run in parallel.
//!
//! A fork becomes a parallel state with a region for each branch. A branch has the states on the paths from its `initial` to
//! its `terminal`; they move into the region, and `terminal` ends it. With `join: "all"` the fork leads to `on_complete`
//! when every region is done, with `"any"` as soon as one is. `on_fail` is taken on the event `error`, which the host sends
//! for a branch that fails. A transition of a branch to any other state leaves the whole fork.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::{Fork, ForkBranch, Kind, Named};
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use crate::lower::spec::Context;
use crate::lower::target::find_state;
use crate::source::{Span, Spanned};

/// A fork whose parallel state has been made, and whose branches have yet to move into it.
pub(super) struct Pending<'d> {
    fork: &'d Fork,
    source: StateHandle,
    parallel: StateHandle,
    on_complete: Option<StateHandle>,
    on_fail: Option<StateHandle>,
    branches: Vec<Branch<'d>>,
}

/// A branch whose ends are states.
struct Branch<'d> {
    written: &'d Named<ForkBranch>,
    initial: (StateHandle, Span),
    terminal: (StateHandle, Span),
}

/// Makes the parallel state of a fork. Reports a fork without two branches in one scope.
pub(super) fn add_fork<'d>(
    fork: &'d Fork,
    source: StateHandle,
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> Option<Pending<'d>> {
    let mut end = |name: &Option<Spanned<String>>| {
        let name = name.as_ref()?;
        Some((find_state(name, source, draft, context)?, name.span))
    };
    let mut branches = Vec::new();
    let mut is_whole = true;
    for written in &fork.branches {
        match (end(&written.value.initial), end(&written.value.terminal)) {
            (Some(initial), Some(terminal)) => branches.push(Branch {
                written,
                initial,
                terminal,
            }),
            _ => is_whole = false,
        }
    }
    let on_complete = end(&fork.on_complete);
    let on_fail = end(&fork.on_fail);
    is_whole &= on_complete.is_some() && on_fail.is_some() == fork.on_fail.is_some();
    if !is_whole {
        return None;
    }
    if branches.len() < 2 {
        context
            .diags
            .push(too_few_branches(fork.span, branches.len()));
        return None;
    }
    let scope = scope_of_branches(&branches, draft, context)?;
    let wanted = format!("{}_fork", draft.get(source).ir.id);
    let parallel = draft.implied_state(&wanted, fork.span, scope, source);
    let state = draft.get_mut(parallel);
    state.kind = Some(Kind::Parallel);
    state.has_body = true;
    Some(Pending {
        fork,
        source,
        parallel,
        on_complete: on_complete.map(|it| it.0),
        on_fail: on_fail.map(|it| it.0),
        branches,
    })
}

/// Returns the scope of the ends of all branches, or reports an end in another one.
fn scope_of_branches(
    branches: &[Branch<'_>],
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<StateHandle> {
    let scope = draft.parent(branches.first()?.initial.0);
    for branch in branches {
        for (state, span) in [branch.initial, branch.terminal] {
            if draft.parent(state) != scope {
                let state = draft.get(state);
                let place = Place::new(&state.ir.id, span);
                let diagnostic = branch_in_another_scope(place, state.ir.span);
                context.diags.push(diagnostic);
                return None;
            }
        }
    }
    Some(scope)
}

impl Pending<'_> {
    /// Returns the parallel state.
    pub(super) fn state(&self) -> StateHandle {
        self.parallel
    }
}

/// Moves the branches of all forks into their regions.
pub(super) fn fill_forks(forks: &[Pending<'_>], draft: &mut Draft, context: &mut Context<'_>) {
    for fork in forks {
        if let Some(members) = members(fork, forks, draft, context) {
            add_regions(fork, &members, draft);
        }
    }
}

/// Returns the states of each branch with its terminal, or reports why they can't run in parallel.
fn members(
    fork: &Pending<'_>,
    forks: &[Pending<'_>],
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Vec<BTreeSet<StateHandle>>> {
    let graph = Graph::new(fork, forks, draft);
    let mut found: Vec<BTreeSet<StateHandle>> = Vec::new();
    for branch in &fork.branches {
        let id = |state: StateHandle| draft.get(state).ir.id.as_str();
        let (initial, terminal) = (branch.initial.0, branch.terminal.0);
        let forth = graph.reachable(initial, terminal, &graph.forth);
        if !forth.contains(&terminal) {
            let places = (
                Place::new(id(initial), branch.initial.1),
                Place::new(id(terminal), branch.terminal.1),
            );
            let name = &branch.written.name.value;
            context.diags.push(branch_without_end(name, places));
            return None;
        }
        if !draft.get(terminal).initials.is_empty() || draft.get(terminal).has_body {
            let place = Place::new(id(terminal), branch.terminal.1);
            context.diags.push(composite_as_terminal(place));
            return None;
        }
        let back = graph.reachable(terminal, initial, &graph.back);
        let own: BTreeSet<StateHandle> = forth.intersection(&back).copied().collect();
        for (other, theirs) in fork.branches.iter().zip(&found) {
            if let Some(&shared) = own.intersection(theirs).next() {
                let names = (
                    other.written.name.value.as_str(),
                    branch.written.name.value.as_str(),
                );
                let spans = (other.written.name.span, branch.written.name.span);
                context
                    .diags
                    .push(state_of_two_branches(id(shared), names, spans));
                return None;
            }
        }
        found.push(own);
    }
    Some(found)
}

/// The transitions between the states of the fork's scope, seen from there.
struct Graph {
    forth: BTreeMap<StateHandle, BTreeSet<StateHandle>>,
    back: BTreeMap<StateHandle, BTreeSet<StateHandle>>,
    /// The states that end every path: the fork's source and its targets.
    barred: BTreeSet<StateHandle>,
}

impl Graph {
    fn new(fork: &Pending<'_>, forks: &[Pending<'_>], draft: &Draft) -> Self {
        let scope = draft.parent(fork.parallel);
        let top = |state: StateHandle| {
            let mut ancestry = draft.ancestry(state);
            ancestry.find(|&it| it != ROOT && draft.parent(it) == scope)
        };
        let mut graph = Self {
            forth: BTreeMap::new(),
            back: BTreeMap::new(),
            barred: [
                Some(fork.source),
                fork.on_complete,
                fork.on_fail,
                Some(fork.parallel),
            ]
            .into_iter()
            .flatten()
            .filter_map(top)
            .collect(),
        };
        let drawn = draft.transitions.iter();
        let mut pairs: Vec<(StateHandle, StateHandle)> = drawn
            .flat_map(|it| it.ir.targets.iter().map(|&to| (it.ir.source, to)))
            .collect();
        // A fork inside a branch is entered at the beginnings of its branches, and left at their ends.
        for inner in forks.iter().filter(|it| it.parallel != fork.parallel) {
            for branch in &inner.branches {
                pairs.push((inner.parallel, branch.initial.0));
                let out = inner.on_complete.into_iter();
                pairs.extend(out.map(|target| (branch.terminal.0, target)));
            }
        }
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (top(from), top(to)) {
                graph.forth.entry(from).or_default().insert(to);
                graph.back.entry(to).or_default().insert(from);
            }
        }
        graph
    }

    /// Returns the states on paths from a state that end at `last`, the state itself included.
    fn reachable(
        &self,
        first: StateHandle,
        last: StateHandle,
        edges: &BTreeMap<StateHandle, BTreeSet<StateHandle>>,
    ) -> BTreeSet<StateHandle> {
        let mut found = BTreeSet::new();
        let mut open = vec![first];
        while let Some(state) = open.pop() {
            if self.barred.contains(&state) || !found.insert(state) || state == last {
                continue;
            }
            open.extend(edges.get(&state).into_iter().flatten());
        }
        found
    }
}

/// Makes the regions of a fork and the transitions out of it.
fn add_regions(fork: &Pending<'_>, members: &[BTreeSet<StateHandle>], draft: &mut Draft) {
    let mut regions = Vec::new();
    for (branch, members) in fork.branches.iter().zip(members) {
        let name = &branch.written.name;
        let wanted = match draft.state(&name.value) {
            None => name.value.clone(),
            Some(_) => format!("{}_branch", name.value),
        };
        let region = draft.implied_state(&wanted, name.span, fork.parallel, fork.source);
        let state = draft.get_mut(region);
        state.is_region = true;
        state.has_body = true;
        state.add_initial(branch.initial.1, branch.initial.0, false);
        for &member in members {
            draft.set_parent(member, region);
        }
        draft.get_mut(branch.terminal.0).kind = Some(Kind::Final);
        regions.push(region);
    }
    let span = |name: &Option<Spanned<String>>| name.as_ref().map_or(fork.fork.span, |it| it.span);
    if let Some(target) = fork.on_complete {
        let whole = [fork.parallel];
        let done = if fork.fork.any { &regions[..] } else { &whole };
        for &source in done {
            let at = span(&fork.fork.on_complete);
            let trigger = DraftTrigger::Completion;
            let transition = DraftTransition::implied(at, source, target, trigger);
            draft.transitions.push(transition);
        }
    }
    if let Some(target) = fork.on_fail {
        let at = span(&fork.fork.on_fail);
        let error = draft.intern_event("error", at);
        let trigger = DraftTrigger::Events(vec![error]);
        let transition = DraftTransition::implied(at, fork.parallel, target, trigger);
        draft.transitions.push(transition);
    }
}

/// A state at the name in the fork.
#[derive(Clone, Copy)]
struct Place<'n> {
    id: &'n str,
    span: Span,
}

impl<'n> Place<'n> {
    fn new(id: &'n str, span: Span) -> Self {
        Self { id, span }
    }
}

fn too_few_branches(span: Span, count: usize) -> Diagnostic {
    let message = match count {
        0 => "this fork has no branches",
        _ => "this fork has only one branch",
    };
    Diagnostic::new(Code::BrokenBranches, span, message)
        .label("needs two branches or more")
        .help("add a branch, or lead to the state itself with `target`")
}

fn branch_without_end(branch: &str, (initial, terminal): (Place<'_>, Place<'_>)) -> Diagnostic {
    let message = format!(
        "branch `{branch}` never gets from `{}` to `{}`",
        initial.id, terminal.id
    );
    Diagnostic::new(Code::BrokenBranches, terminal.span, message)
        .label("no way leads here within the branch")
        .related(initial.span, "the branch begins here")
        .note("a branch goes neither through the state that forks, nor through `on_complete` or `on_fail`")
        .help(format!(
            "lead to `{}` from a state of the branch, or name another `terminal`",
            terminal.id
        ))
}

fn state_of_two_branches(
    id: &str,
    (first, second): (&str, &str),
    (at, other): (Span, Span),
) -> Diagnostic {
    let message = format!("state `{id}` belongs to both branches, `{first}` and `{second}`");
    Diagnostic::new(Code::BrokenBranches, other, message)
        .label(format!("goes through `{id}`"))
        .related(at, format!("goes through `{id}`, too"))
        .note("branches run at the same time, so each needs states of its own")
        .help(format!(
            "give each branch its own state in place of `{id}`; `on_complete` continues when both are done"
        ))
}

fn branch_in_another_scope(state: Place<'_>, declared: Span) -> Diagnostic {
    let message = format!("`{}` isn't next to the fork's other states", state.id);
    Diagnostic::new(Code::BrokenBranches, state.span, message)
        .label("inside another state")
        .related(declared, format!("`{}` is here", state.id))
        .help("begin and end all branches in states of one level")
}

fn composite_as_terminal(state: Place<'_>) -> Diagnostic {
    let message = format!(
        "a branch can't end at `{}`, which has states inside",
        state.id
    );
    Diagnostic::new(Code::BrokenBranches, state.span, message)
        .label("not an end")
        .help(format!(
            "lead from `{}` to a state without any, and name that one `terminal`",
            state.id
        ))
}
