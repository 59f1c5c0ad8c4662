//! SM329: a fork whose branches don't come together.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A way through a branch of a fork.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Path {
    /// The way out of the fork.
    pub(in crate::lower) way: Span,
    /// The transitions that follow, in their order.
    pub(in crate::lower) steps: Vec<Span>,
}

impl Path {
    /// The place of its last step.
    pub(in crate::lower) fn last(&self) -> Span {
        self.steps.last().copied().unwrap_or(self.way)
    }
}

/// A fork that nothing leads out of, or a join that leads nowhere it could.
pub(in crate::lower) fn no_way_out(word: &str, id: &str, span: Span) -> Diagnostic {
    let message = format!("nothing leads out of the {word} `{id}`");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label(format!("a {word} without a way out"))
        .help(format!("lead on from `{id}`"))
}

/// No branch of a fork reaches a join.
pub(in crate::lower) fn no_join(id: &str, span: Span) -> Diagnostic {
    let message = format!("the branches of the fork `{id}` never come together");
    Diagnostic::new(Code::BrokenFork, span, message)
        .label("no path from here leads to a join")
        .note("the branches run side by side until each of them has reached the same join")
        .help("declare `state all_done <<join>>` and lead each branch to it")
}

/// One branch doesn't reach the join that others reach.
pub(in crate::lower) fn lost_branch(
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

/// A path of a branch ends in another join.
pub(in crate::lower) fn other_join(
    (fork, join, other): (&str, &str, &str),
    path: &Path,
) -> Diagnostic {
    let message = format!("the branches of `{fork}` end in two joins, `{join}` and `{other}`");
    along(message, path, &format!("reaches `{other}`")).help("lead every branch to one join")
}

/// A state that two branches share.
pub(in crate::lower) fn shared_state(
    (fork, state): (&str, &str),
    first: &Path,
    second: &Path,
) -> Diagnostic {
    let message = format!("two branches of `{fork}` share the state `{state}`");
    along(message, second, "this branch comes there")
        .related(first.last(), "and so does this one")
        .help(format!(
        "the branches run side by side: give each its own state, or put `{state}` behind the join"
    ))
}

/// A path that leaves a branch without an event.
pub(in crate::lower) fn leaves_early((fork, join): (&str, &str), path: &Path) -> Diagnostic {
    let message = format!("this path leaves a branch of `{fork}` before `{join}`");
    along(message, path, "leaves without an event")
        .note("the other branches would be cut off")
        .help(format!(
            "lead to `{join}`; or give this way an event, which then leaves all branches at once"
        ))
}

/// A branch that leads out of the composite around the fork.
pub(in crate::lower) fn out_of_scope(fork: &str, target: &str, way: Span) -> Diagnostic {
    let message =
        format!("the branch at `{target}` lies outside of the scope of the fork `{fork}`");
    Diagnostic::new(Code::BrokenFork, way, message)
        .label("leads out of it")
        .help("write the fork, its branches and the join in one body")
}

/// A join that something leads to which no fork has started.
pub(in crate::lower) fn no_fork(id: &str, span: Span, ways: &[Span]) -> Diagnostic {
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

/// A way to the join from where the fork doesn't lead.
pub(in crate::lower) fn from_outside(
    (fork, join): (&str, &str),
    way: Span,
    forked: Span,
) -> Diagnostic {
    let message = format!("this leads to the join `{join}` from outside of its branches");
    Diagnostic::new(Code::BrokenFork, way, message)
        .label(format!("no branch of `{fork}` comes here"))
        .related(forked, "the branches begin here")
        .help(format!(
            "lead here from a branch, or lead to the state behind `{join}` instead"
        ))
}

/// The last step of a path, with the steps before it beside it.
fn along(message: String, path: &Path, label: &str) -> Diagnostic {
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
