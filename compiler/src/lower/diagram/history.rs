//! History: `X[H]` and `X[H*]`, or `[H]` and `[H*]` inside the body of `X`.
//!
//! However often it is written, a composite has one history of each kind. It is a state of the composite that is never
//! active; its initial transition is where it leads while nothing is remembered: `[H] --> a`, else where the composite
//! begins.

use std::collections::BTreeMap;

use crate::diag::Diags;
use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::lower::draft::{Draft, StateIndex};
use crate::source::Span;

/// The histories that a diagram mentions.
#[derive(Debug, Default)]
pub(super) struct Histories {
    by_composite: BTreeMap<(StateIndex, bool), StateIndex>,
    /// By kind, the body where `[H]` stands first, and its place.
    bare: BTreeMap<bool, (StateIndex, Span)>,
}

/// The id of the composite, empty for the body around, and whether its history is deep. `None` for any other id.
pub(super) fn split(id: &str) -> Option<(&str, bool)> {
    let shallow = id.strip_suffix("[H]").map(|of| (of, false));
    shallow.or_else(|| id.strip_suffix("[H*]").map(|of| (of, true)))
}

impl Histories {
    /// The history of a composite; made at this place if it is new.
    pub(super) fn of(
        &mut self,
        composite: StateIndex,
        deep: bool,
        span: Span,
        draft: &mut Draft,
    ) -> StateIndex {
        if let Some(&known) = self.by_composite.get(&(composite, deep)) {
            return known;
        }
        let mark = if deep { "[H*]" } else { "[H]" };
        let id = format!("{}{mark}", draft.get(composite).id);
        let state = match draft.state(&id) {
            Some(_) => draft.implied_state(&id, span, composite, composite),
            None => draft.intern_state(&id, span, composite),
        };
        draft.get_mut(state).kind = Some(Kind::History);
        draft.get_mut(state).deep = deep;
        self.by_composite.insert((composite, deep), state);
        state
    }

    /// Notes a `[H]` in a body; Mermaid draws only one of each kind in the whole diagram.
    pub(super) fn note_bare(
        &mut self,
        scope: StateIndex,
        deep: bool,
        span: Span,
        draft: &Draft,
        diags: &mut Diags,
    ) {
        let &mut (first, place) = self.bare.entry(deep).or_insert((scope, span));
        if first != scope {
            let ids = [first, scope].map(|scope| draft.get(scope).id.as_str());
            diags.push(twin_history(ids, deep, place, span));
        }
    }

    /// Leads to the composite itself where its history has nothing to remember, because every state that its body
    /// mentions belongs to another one.
    pub(super) fn drop_idle(&self, draft: &mut Draft) {
        let children = draft.children_by_state();
        for (&(composite, _), &history) in &self.by_composite {
            let mut inner = children.get(composite).into_iter().flatten().copied();
            let remembers = |child: StateIndex| draft.get(child).kind != Some(Kind::History);
            if inner.any(remembers) {
                continue;
            }
            for transition in &mut draft.transitions {
                for target in &mut transition.targets {
                    if *target == history {
                        *target = composite;
                    }
                }
            }
            draft.drop_state(history);
        }
    }
}

/// `[H]` stands in two bodies. `span`: the second one.
fn twin_history(
    [first, second]: [&str; 2],
    deep: bool,
    first_span: Span,
    span: Span,
) -> Diagnostic {
    let sign = if deep { "[H*]" } else { "[H]" };
    let message = format!("`{sign}` stands for the history of `{first}` and of `{second}`");
    Diagnostic::new(Code::TwinHistory, span, message)
        .label(format!("the history of `{second}`"))
        .related(first_span, format!("the history of `{first}`"))
        .note(format!("Mermaid draws one `{sign}` for the whole diagram"))
        .fix(
            Applicability::Safe,
            "say whose history it is",
            span,
            format!("{second}{sign}"),
        )
}
