//! The regions of a composite: what stands before, between and behind its `--`.
//!
//! A composite with several regions is parallel, and each of them a compound state without a name of its own. A part in
//! which no state stands is none; Mermaid draws an empty box for it.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Diags;
use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::{Body, Declaration, Statement, StatementKind};
use crate::front::words::composed;
use crate::lower::draft::{Draft, DraftState, StateIndex};
use crate::source::Span;

/// What all bodies of a composite have together.
#[derive(Clone, Copy, Debug, Default)]
struct Composite {
    has_states: bool,
    regions: usize,
}

/// The composites of a diagram, by their id.
#[derive(Debug, Default)]
pub(super) struct Composites {
    by_id: BTreeMap<String, Composite>,
    regions: BTreeMap<StateIndex, Vec<StateIndex>>,
}

/// Statements of a body that stand in one scope.
pub(super) struct Part<'b> {
    pub(super) statements: &'b [Statement],
    pub(super) scope: StateIndex,
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
                let id = composed(&id.value).into_owned();
                let composite = self.by_id.entry(id).or_default();
                composite.has_states |= has_states(&inner.statements);
                composite.regions = composite.regions.max(regions);
                self.find(inner);
            }
        }
    }

    /// Whether a state of that id has a body, and whether one of its bodies has a state.
    pub(super) fn has_states(&self, id: &str) -> Option<bool> {
        let composite = self.by_id.get(composed(id).as_ref());
        composite.map(|composite| composite.has_states)
    }

    /// The parts of a composite's body, each with the scope in which it stands.
    pub(super) fn parts<'b>(
        &mut self,
        body: &'b Body,
        state: StateIndex,
        draft: &mut Draft,
        diags: &mut Diags,
    ) -> Vec<Part<'b>> {
        report_empty(body, &draft.get(state).id, diags);
        let id = draft.get(state).id.clone();
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
                let span = place(statements).unwrap_or(draft.get(state).span);
                regions.push(draft.add_region(state, regions.len() + 1, span));
            }
            let scope = regions.get(position).copied().unwrap_or(state);
            found.push(Part { statements, scope });
            position = (position + usize::from(here)).min(count - 1);
        }
        found
    }
}

/// The statements between the dividers of a body.
fn parts(body: &Body) -> impl Iterator<Item = &[Statement]> {
    let is_divider = |statement: &Statement| matches!(statement.kind, StatementKind::Divider);
    body.statements.split(is_divider)
}

/// Points at each divider beside a part without a state.
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

/// From the first statement that says something of states to the last.
fn place(statements: &[Statement]) -> Option<Span> {
    let mut telling = statements.iter().filter(|statement| tells(statement));
    let first = telling.next()?;
    let last = telling.next_back().unwrap_or(first);
    Some(first.span.to(last.span))
}

/// Whether statements say anything of states.
pub(super) fn has_states(statements: &[Statement]) -> bool {
    statements.iter().any(tells)
}

fn tells(statement: &Statement) -> bool {
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
    // Where something is broken, a state may stand in another region than its author means.
    if diags.has_errors() || !draft.states.iter().any(is_parallel) {
        return;
    }
    for transition in &draft.transitions {
        let sources: BTreeSet<StateIndex> = draft.ancestry(transition.source).collect();
        for &target in &transition.targets {
            let crossed = draft
                .ancestry(target)
                .find(|around| sources.contains(around))
                .filter(|&around| draft.get(around).kind == Some(Kind::Parallel))
                .filter(|&around| around != transition.source && around != target);
            if let Some(around) = crossed {
                let ids = [transition.source, target].map(|end| draft.get(end).id.as_str());
                let id = &draft.get(around).id;
                diags.push(crossing_regions(ids, id, transition.span));
            }
        }
    }
}

fn crossing_regions([source, target]: [&str; 2], around: &str, span: Span) -> Diagnostic {
    let message = format!("this leads from one region of `{around}` into another");
    Diagnostic::new(Code::CrossingRegions, span, message)
        .label(format!("`{source}` and `{target}` are active side by side"))
        .note(format!(
            "taking it leaves all regions of `{around}` and enters them anew, the others at their beginning"
        ))
        .help("let both regions wait for one event, or lead out of the whole state")
}

/// No state stands between a divider and the next one, or the brace. `first`: before the first divider.
fn empty_region(id: &str, divider: Span, first: bool) -> Diagnostic {
    let side = if first { "before" } else { "behind" };
    let message = format!("no state stands {side} this `--` in `{id}`");
    Diagnostic::new(Code::EmptyRegion, divider, message)
        .label("divides nothing")
        .note("a region without a state is none: the divider is left out")
        .fix(Applicability::Safe, "remove the divider", divider, "")
}
