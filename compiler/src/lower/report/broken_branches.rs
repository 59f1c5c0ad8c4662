//! SM340: a fork whose branches can't run side by side.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A state where the fork names it.
#[derive(Clone, Copy)]
pub(in crate::lower) struct Place<'n> {
    id: &'n str,
    span: Span,
}

impl<'n> Place<'n> {
    pub(in crate::lower) fn new(id: &'n str, span: Span) -> Self {
        Self { id, span }
    }
}

/// Fewer than two branches.
pub(in crate::lower) fn too_few(span: Span, count: usize) -> Diagnostic {
    let message = match count {
        0 => "this fork has no branches",
        _ => "this fork has only one branch",
    };
    Diagnostic::new(Code::BrokenBranches, span, message)
        .label("needs two branches or more")
        .help("add a branch, or lead to the state itself with `target`")
}

/// A branch ends at a state that none of its ways reaches.
pub(in crate::lower) fn never_ends(
    branch: &str,
    (initial, terminal): (Place<'_>, Place<'_>),
) -> Diagnostic {
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

/// Two branches go through one state.
pub(in crate::lower) fn shared(
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

/// A branch names a state in another scope.
pub(in crate::lower) fn elsewhere(state: Place<'_>, declared: Span) -> Diagnostic {
    let message = format!(
        "`{}` doesn't stand beside the fork's other states",
        state.id
    );
    Diagnostic::new(Code::BrokenBranches, state.span, message)
        .label("inside another state")
        .related(declared, format!("`{}` stands here", state.id))
        .help("begin and end all branches in states of one level")
}

/// A branch ends at a state with states inside.
pub(in crate::lower) fn composite_end(state: Place<'_>) -> Diagnostic {
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
