//! `fork` in a definition: branches that run side by side, over states that stand beside each other.
//!
//! A fork becomes a parallel state with a region for each branch. A branch's states are those on the ways from its
//! `initial` to its `terminal`; they move into the region, and `terminal` ends it. With `join: "all"` the fork goes on to
//! `on_complete` when every region is done, with `"any"` as soon as one is. `on_fail` is taken on the event `error`, which
//! the host sends for a branch that fails. A transition of a branch that leads elsewhere leaves the whole block.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::{Fork, ForkBranch, Kind, Named};
use crate::lower::draft::{Draft, DraftInitial, DraftTransition, DraftTrigger, ROOT, StateIndex};
use crate::lower::spec::Context;
use crate::lower::target::find_one;
use crate::source::{Span, Spanned};

/// A fork whose parallel state has been made, and whose branches are still where they were written.
pub(super) struct Pending<'d> {
    fork: &'d Fork,
    source: StateIndex,
    parallel: StateIndex,
    on_complete: Option<StateIndex>,
    on_fail: Option<StateIndex>,
    branches: Vec<Branch<'d>>,
}

/// A branch whose ends are states.
struct Branch<'d> {
    written: &'d Named<ForkBranch>,
    initial: (StateIndex, Span),
    terminal: (StateIndex, Span),
}

/// Makes the parallel state of a fork and the ways out of it. `None` if a name leads nowhere, which was told.
pub(super) fn add<'d>(
    fork: &'d Fork,
    source: StateIndex,
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> Option<Pending<'d>> {
    let mut end = |name: &Option<Spanned<String>>| {
        let name = name.as_ref()?;
        Some((find_one(name, source, draft, context)?, name.span))
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
    let scope = branches
        .first()
        .map_or(ROOT, |it| draft.get(it.initial.0).parent);
    for branch in &branches {
        for (state, span) in [branch.initial, branch.terminal] {
            if draft.get(state).parent != scope {
                let id = draft.get(state).id.clone();
                let place = Place::new(&id, span);
                context
                    .diags
                    .push(branch_in_another_scope(place, draft.get(state).span));
                return None;
            }
        }
    }
    let wanted = format!("{}_fork", draft.get(source).id);
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

impl Pending<'_> {
    /// The parallel state.
    pub(super) fn state(&self) -> StateIndex {
        self.parallel
    }
}

/// Moves the branches of all forks into their regions.
pub(super) fn settle(forks: &[Pending<'_>], draft: &mut Draft, context: &mut Context<'_>) {
    for fork in forks {
        if let Some(members) = members(fork, forks, draft, context) {
            open(fork, &members, draft);
        }
    }
}

/// Which states each branch has, the terminal included; `None` if the fork is broken, which was told.
fn members(
    fork: &Pending<'_>,
    forks: &[Pending<'_>],
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Vec<BTreeSet<StateIndex>>> {
    let ways = Ways::new(fork, forks, draft);
    let mut found: Vec<BTreeSet<StateIndex>> = Vec::new();
    for branch in &fork.branches {
        let id = |state: StateIndex| draft.get(state).id.as_str();
        let (initial, terminal) = (branch.initial.0, branch.terminal.0);
        let forth = ways.reached(initial, terminal, &ways.forth);
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
        let back = ways.reached(terminal, initial, &ways.back);
        let own: BTreeSet<StateIndex> = forth.intersection(&back).copied().collect();
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

/// Which states of the scope lead to which, by way of anything inside them.
struct Ways {
    forth: BTreeMap<StateIndex, BTreeSet<StateIndex>>,
    back: BTreeMap<StateIndex, BTreeSet<StateIndex>>,
    /// States where no branch of the fork goes on: its source, and where it leads.
    barred: BTreeSet<StateIndex>,
}

impl Ways {
    fn new(fork: &Pending<'_>, forks: &[Pending<'_>], draft: &Draft) -> Self {
        let scope = draft.get(fork.parallel).parent;
        let top = |state: StateIndex| {
            let mut around = draft.ancestry(state);
            around.find(|&it| it != ROOT && draft.get(it).parent == scope)
        };
        let mut ways = Self {
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
        let mut pairs: Vec<(StateIndex, StateIndex)> = drawn
            .flat_map(|it| it.targets.iter().map(|&target| (it.source, target)))
            .collect();
        // A fork inside a branch: in at its branches' beginnings, out at their ends.
        for inner in forks.iter().filter(|it| it.parallel != fork.parallel) {
            for branch in &inner.branches {
                pairs.push((inner.parallel, branch.initial.0));
                let out = inner.on_complete.into_iter();
                pairs.extend(out.map(|target| (branch.terminal.0, target)));
            }
        }
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (top(from), top(to)) {
                ways.forth.entry(from).or_default().insert(to);
                ways.back.entry(to).or_default().insert(from);
            }
        }
        ways
    }

    /// What can be reached from a state without going on at `last`, the state itself included.
    fn reached(
        &self,
        first: StateIndex,
        last: StateIndex,
        ways: &BTreeMap<StateIndex, BTreeSet<StateIndex>>,
    ) -> BTreeSet<StateIndex> {
        let mut found = BTreeSet::new();
        let mut open = vec![first];
        while let Some(state) = open.pop() {
            if self.barred.contains(&state) || !found.insert(state) || state == last {
                continue;
            }
            open.extend(ways.get(&state).into_iter().flatten());
        }
        found
    }
}

/// Makes the regions and the ways out.
fn open(fork: &Pending<'_>, members: &[BTreeSet<StateIndex>], draft: &mut Draft) {
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
        state.initials.push(DraftInitial {
            span: branch.initial.1,
            targets: vec![branch.initial.0],
            actions: Vec::new(),
            inferred: false,
        });
        for &member in members {
            draft.get_mut(member).parent = region;
        }
        draft.get_mut(branch.terminal.0).kind = Some(Kind::Final);
        regions.push(region);
    }
    let mut add = |source: StateIndex, target: StateIndex, trigger: DraftTrigger, span: Span| {
        let mut transition = DraftTransition::new(span, source, Some(target));
        transition.trigger = trigger;
        transition.implied = true;
        draft.transitions.push(transition);
    };
    let span = |name: &Option<Spanned<String>>| name.as_ref().map_or(fork.fork.span, |it| it.span);
    if let Some(target) = fork.on_complete {
        let whole = [fork.parallel];
        let done = if fork.fork.any { &regions[..] } else { &whole };
        for &source in done {
            let at = span(&fork.fork.on_complete);
            add(source, target, DraftTrigger::Completion, at);
        }
    }
    if let Some(target) = fork.on_fail {
        let at = span(&fork.fork.on_fail);
        let error = draft.intern_event("error", at);
        let mut transition = DraftTransition::new(at, fork.parallel, Some(target));
        transition.trigger = DraftTrigger::Events(vec![error]);
        transition.implied = true;
        draft.transitions.push(transition);
    }
}

/// A state where the fork names it.
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
        .note("branches run at the same time, so that each needs states of its own")
        .help(format!(
            "give each branch its own state in place of `{id}`; where both are done, `on_complete` goes on"
        ))
}

fn branch_in_another_scope(state: Place<'_>, declared: Span) -> Diagnostic {
    let message = format!(
        "`{}` doesn't stand beside the fork's other states",
        state.id
    );
    Diagnostic::new(Code::BrokenBranches, state.span, message)
        .label("inside another state")
        .related(declared, format!("`{}` stands here", state.id))
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
