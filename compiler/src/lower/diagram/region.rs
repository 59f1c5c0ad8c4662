//! The regions of a composite: the statements before, between and after its `--`.
//!
//! A composite with several regions is parallel, and each region is a compound state without a name. A part without a state
//! is no region; Mermaid draws an empty box for it.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, Diags};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::{Body, Declaration, Statement, StatementKind};
use crate::front::words::to_nfc;
use crate::lower::draft::{Draft, DraftState, StateHandle};
use crate::source::Span;

/// The bodies of a composite, taken together.
#[derive(Clone, Copy, Debug, Default)]
struct Composite {
    has_states: bool,
    regions: usize,
}

/// The composites of a diagram, by their id.
#[derive(Debug, Default)]
pub(super) struct Composites {
    by_id: BTreeMap<String, Composite>,
    regions: BTreeMap<StateHandle, Vec<StateHandle>>,
}

/// Statements of a body in one scope.
pub(super) struct Part<'b> {
    pub(super) statements: &'b [Statement],
    pub(super) scope: StateHandle,
}

impl Composites {
    /// Finds every composite in a body.
    pub(super) fn find(&mut self, body: &Body) {
        for statement in &body.statements {
            if let StatementKind::Declaration(Declaration {
                id,
                body: Some(inner),
                ..
            }) = &statement.kind
            {
                let regions = parts(inner).filter(|part| has_states(part)).count();
                let id = to_nfc(&id.value).into_owned();
                let composite = self.by_id.entry(id).or_default();
                composite.has_states |= has_states(&inner.statements);
                composite.regions = composite.regions.max(regions);
                self.find(inner);
            }
        }
    }

    /// Returns whether a body of a composite has a state; `None` if the id has no body.
    pub(super) fn has_states(&self, id: &str) -> Option<bool> {
        let composite = self.by_id.get(to_nfc(id).as_ref());
        composite.map(|composite| composite.has_states)
    }

    /// Returns the parts of a composite's body, each with its scope.
    pub(super) fn parts<'b>(
        &mut self,
        body: &'b Body,
        state: StateHandle,
        draft: &mut Draft,
        diags: &mut Diags,
    ) -> Vec<Part<'b>> {
        report_empty(body, &draft.get(state).ir.id, diags);
        let id = draft.get(state).ir.id.clone();
        let count = self.by_id.get(&id).map_or(0, |found| found.regions);
        if count < 2 {
            let statements = parts(body);
            return statements
                .map(|statements| Part {
                    statements,
                    scope: state,
                })
                .collect();
        }
        draft.get_mut(state).kind = Some(Kind::Parallel);
        let regions = self.regions.entry(state).or_default();
        let mut found = Vec::new();
        let mut position = 0;
        for statements in parts(body) {
            let here = has_states(statements);
            while regions.len() <= position {
                let span = span_of_states(statements).unwrap_or(draft.get(state).ir.span);
                regions.push(draft.add_region(state, regions.len() + 1, span));
            }
            let scope = regions.get(position).copied().unwrap_or(state);
            found.push(Part { statements, scope });
            position = (position + usize::from(here)).min(count - 1);
        }
        found
    }
}

/// Returns the statements between the dividers of a body.
fn parts(body: &Body) -> impl Iterator<Item = &[Statement]> {
    let is_divider = |statement: &Statement| matches!(statement.kind, StatementKind::Divider);
    body.statements.split(is_divider)
}

/// Reports each divider next to a part without a state.
fn report_empty(body: &Body, id: &str, diags: &mut Diags) {
    let dividers: Vec<Span> = body
        .statements
        .iter()
        .filter(|statement| matches!(statement.kind, StatementKind::Divider))
        .map(|statement| statement.span)
        .collect();
    if !has_states(&body.statements) {
        return;
    }
    for (at, part) in parts(body).enumerate() {
        if has_states(part) {
            continue;
        }
        let divider = dividers.get(at.saturating_sub(1));
        if let Some(&divider) = divider {
            diags.push(empty_region(id, divider, at == 0));
        }
    }
}

/// Returns the span from the first statement about states to the last.
fn span_of_states(statements: &[Statement]) -> Option<Span> {
    let mut about_states = statements.iter().filter(|it| is_about_states(it));
    let first = about_states.next()?;
    let last = about_states.next_back().unwrap_or(first);
    Some(first.span.to(last.span))
}

/// Returns whether a statement is about states.
pub(super) fn has_states(statements: &[Statement]) -> bool {
    statements.iter().any(is_about_states)
}

fn is_about_states(statement: &Statement) -> bool {
    !matches!(
        statement.kind,
        StatementKind::Divider
            | StatementKind::Direction(_)
            | StatementKind::Note(_)
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. }
    )
}

/// Reports transitions from one region to another of the same parallel state.
pub(super) fn report_crossings(draft: &Draft, diags: &mut Diags) {
    let is_parallel = |state: &DraftState| state.kind == Some(Kind::Parallel);
    // In a broken diagram, a state may be in another region than its author means.
    if diags.has_errors() || !draft.states.iter().any(is_parallel) {
        return;
    }
    let mut by_state: BTreeMap<StateHandle, Vec<Crossing>> = BTreeMap::new();
    for transition in &draft.transitions {
        let sources: BTreeSet<StateHandle> = draft.ancestry(transition.ir.source).collect();
        for &target in &transition.ir.targets {
            let crossed = draft
                .ancestry(target)
                .find(|ancestor| sources.contains(ancestor))
                .filter(|&common| draft.get(common).kind == Some(Kind::Parallel))
                .filter(|&common| common != transition.ir.source && common != target);
            if let Some(parallel) = crossed {
                by_state.entry(parallel).or_default().push(Crossing {
                    ends: [transition.ir.source, target],
                    span: transition.ir.span,
                });
            }
        }
    }
    for (parallel, crossings) in by_state {
        if let Some((first, others)) = crossings.split_first() {
            let ids = first.ends.map(|end| draft.get(end).ir.id.as_str());
            let id = &draft.get(parallel).ir.id;
            diags.push(crossing_regions(ids, id, first.span, others));
        }
    }
}

/// A transition from one region to another.
struct Crossing {
    ends: [StateHandle; 2],
    span: Span,
}

/// Most further transitions that a message points at.
const MOST_SHOWN: usize = 4;

/// Reports the transitions between the regions of a state: what the first does, all of them do.
fn crossing_regions(
    [source, target]: [&str; 2],
    parallel: &str,
    span: Span,
    others: &[Crossing],
) -> Diagnostic {
    let message = match others.len() {
        0 => format!("this leads from one region of `{parallel}` into another"),
        1 => {
            format!("this and another transition lead from one region of `{parallel}` into another")
        }
        more => {
            format!(
                "this and {more} more transitions lead from one region of `{parallel}` into another"
            )
        }
    };
    let mut found = Diagnostic::new(Code::CrossingRegions, span, message)
        .label(format!("`{source}` and `{target}` are active side by side"));
    for other in others.iter().take(MOST_SHOWN) {
        found = found.related(other.span, "and so does this");
    }
    found
        .note(format!(
            "taking it leaves all regions of `{parallel}` and enters them anew, the others at their beginning"
        ))
        .help("let both regions wait for one event, or lead out of the whole state")
}

fn empty_region(id: &str, divider: Span, first: bool) -> Diagnostic {
    let side = if first { "before" } else { "after" };
    let message = format!("no state comes {side} this `--` in `{id}`");
    Diagnostic::new(Code::EmptyRegion, divider, message)
        .label("divides nothing")
        .note("a region without a state is none: the divider is left out")
        .safe_fix("remove the divider", divider, "")
}
