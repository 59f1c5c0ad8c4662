//! History: `X[H]` and `X[H*]`, or `[H]` and `[H*]` inside the body of `X`.
//!
//! A composite has one history of each kind, however often it is written. The history is a state of the composite that is
//! never active. Its initial transition leads to the default, which holds while nothing is remembered: `[H] --> a`, else the
//! beginning of the composite.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diags};
use crate::front::definition::ast::Kind;
use crate::lower::draft::{Draft, StateHandle};
use crate::source::Span;

/// The histories that a diagram mentions.
#[derive(Debug, Default)]
pub(super) struct Histories {
    by_composite: BTreeMap<(StateHandle, bool), StateHandle>,
    /// The body with the first `[H]` or `[H*]`, and the span of that sign.
    bare: BTreeMap<bool, (StateHandle, Span)>,
}

/// Splits the id of a history: the composite, empty for the enclosing one, and if it is deep.
pub(super) fn split_id(id: &str) -> Option<(&str, bool)> {
    let shallow = id.strip_suffix("[H]").map(|composite| (composite, false));
    shallow.or_else(|| id.strip_suffix("[H*]").map(|composite| (composite, true)))
}

impl Histories {
    /// Returns the history of a composite, which is made if it is new.
    pub(super) fn intern(
        &mut self,
        composite: StateHandle,
        deep: bool,
        span: Span,
        draft: &mut Draft,
    ) -> StateHandle {
        if let Some(&known) = self.by_composite.get(&(composite, deep)) {
            return known;
        }
        let mark = if deep { "[H*]" } else { "[H]" };
        let id = format!("{}{mark}", draft.get(composite).ir.id);
        let state = match draft.state(&id) {
            Some(_) => draft.implied_state(&id, span, composite, composite),
            None => draft.intern_state(&id, span, composite),
        };
        draft.get_mut(state).kind = Some(Kind::History);
        draft.get_mut(state).deep = deep;
        self.by_composite.insert((composite, deep), state);
        state
    }

    /// Notes a `[H]` in a body. Mermaid draws only one of each kind in the whole diagram.
    pub(super) fn note_bare(
        &mut self,
        scope: StateHandle,
        deep: bool,
        span: Span,
        draft: &Draft,
        diags: &mut Diags,
    ) {
        let &mut (first, place) = self.bare.entry(deep).or_insert((scope, span));
        if first != scope {
            let ids = [first, scope].map(|scope| draft.get(scope).ir.id.as_str());
            diags.push(twin_history(ids, deep, place, span));
        }
    }

    /// Drops the histories of composites without states, and leads to the composites instead.
    ///
    /// Every state that such a body mentions belongs to another composite.
    pub(super) fn drop_empty(&self, draft: &mut Draft) {
        if self.by_composite.is_empty() {
            return;
        }
        let children = draft.children_by_state();
        for (&(composite, _), &history) in &self.by_composite {
            let mut inner = children
                .get(composite.index())
                .into_iter()
                .flatten()
                .copied();
            let is_state = |child: StateHandle| draft.get(child).kind != Some(Kind::History);
            if inner.any(is_state) {
                continue;
            }
            for transition in &mut draft.transitions {
                for target in &mut transition.ir.targets {
                    if *target == history {
                        *target = composite;
                    }
                }
            }
            draft.drop_state(history);
        }
    }
}

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
        .safe_fix("say whose history it is", span, format!("{second}{sign}"))
}
