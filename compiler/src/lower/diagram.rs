//! A diagram's statements become states and transitions of the draft.
//!
//! One walk in the order of the text: every mention claims a state for its scope, every arrow becomes a transition, every
//! description becomes a title, an action or an internal transition. What names mean (which body owns a state, what a
//! missing label triggers) is settled afterwards, when the whole diagram has been seen.

use std::collections::BTreeMap;

use super::draft::{Draft, DraftInitial, DraftTransition, ROOT, StateIndex};
use super::scope::{Claim, Claims};
use super::spec::Context;
use super::words::composed;
use super::{label, report, wording};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::{
    Body, Declaration, Diagram, Endpoint, EndpointKind, Statement, StatementKind, Transition,
};
use crate::front::mermaid::{ast, entity};
use crate::ir::Direction;
use crate::source::{Span, Spanned};

/// What a diagram says beside its states and transitions.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// The last `direction` at the root.
    pub(super) direction: Option<Direction>,
    /// The notes that stand beside a state.
    pub(super) notes: Vec<ast::Note>,
}

/// Adds what a diagram says to the draft.
pub(super) fn add(diagram: &Diagram, draft: &mut Draft, context: &mut Context<'_>) -> Drawn {
    let mut walk = Walk {
        draft,
        context,
        claims: Claims::default(),
        ends: BTreeMap::new(),
        drawn: Drawn::default(),
        composites: BTreeMap::new(),
    };
    walk.find_composites(&diagram.body);
    walk.body(&diagram.body, ROOT);
    let Walk { claims, drawn, .. } = walk;
    claims.settle(draft, context.diags);
    drawn
}

struct Walk<'w, 'c> {
    draft: &'w mut Draft,
    context: &'w mut Context<'c>,
    claims: Claims,
    /// The final states that stand for `[*]`, by scope and source.
    ends: BTreeMap<(StateIndex, StateIndex), StateIndex>,
    drawn: Drawn,
    /// The ids that have a body somewhere, and whether one of their bodies has a state.
    composites: BTreeMap<String, bool>,
}

impl Walk<'_, '_> {
    fn find_composites(&mut self, body: &Body) {
        for statement in &body.statements {
            if let StatementKind::Declaration(Declaration {
                id,
                body: Some(inner),
                ..
            }) = &statement.kind
            {
                *self
                    .composites
                    .entry(composed(&id.value).into_owned())
                    .or_default() |= has_states(inner);
                self.find_composites(inner);
            }
        }
    }

    fn body(&mut self, body: &Body, scope: StateIndex) {
        let mut divided = false;
        for statement in &body.statements {
            if matches!(statement.kind, StatementKind::Divider) {
                if !divided {
                    self.unsupported(statement.span, "parallel regions (`--`)");
                }
                divided = true;
                continue;
            }
            self.statement(statement, scope);
        }
    }

    fn statement(&mut self, statement: &Statement, scope: StateIndex) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Mention(endpoint) => {
                self.endpoint(endpoint, scope, true, span);
            }
            StatementKind::Description { state, text } => {
                self.description(state, text, scope, span)
            }
            StatementKind::Transition(transition) => self.transition(transition, scope, span),
            StatementKind::Declaration(declaration) => self.declaration(declaration, scope, span),
            StatementKind::Note(note) => self.drawn.notes.push(note.clone()),
            StatementKind::Direction(direction) => {
                if scope == ROOT {
                    self.drawn.direction = Some(direction.value);
                }
            }
            StatementKind::Divider
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. } => {}
        }
    }

    fn unsupported(&mut self, span: Span, what: &str) {
        let diagnostic = report::unsupported_construct::unsupported_construct(span, what);
        self.context.diags.push(diagnostic);
    }

    /// The state that an endpoint names; `None` for `[*]` and for history.
    fn endpoint(
        &mut self,
        endpoint: &Endpoint,
        scope: StateIndex,
        strong: bool,
        span: Span,
    ) -> Option<StateIndex> {
        let EndpointKind::Id(id) = &endpoint.target else {
            return None;
        };
        if self.is_history(id) {
            self.unsupported(endpoint.span, "history (`[H]`)");
            return None;
        }
        let state = self.draft.intern_state(id, endpoint.span, scope);
        self.claims.add(
            state,
            Claim {
                scope,
                strong,
                placed: false,
                span,
            },
        );
        Some(state)
    }

    /// Whether an id is the history of a composite. Without a composite of that name it is a plain state, as in Mermaid.
    fn is_history(&self, id: &str) -> bool {
        let Some(of) = id.strip_suffix("[H]").or_else(|| id.strip_suffix("[H*]")) else {
            return false;
        };
        of.is_empty() || self.composites.contains_key(composed(of).as_ref())
    }

    fn declaration(&mut self, declaration: &Declaration, scope: StateIndex, span: Span) {
        let id = &declaration.id;
        if let Some(stereotype) = &declaration.stereotype {
            let what = match stereotype.value {
                ast::Stereotype::Fork => "forks (`<<fork>>`)",
                ast::Stereotype::Join => "joins (`<<join>>`)",
                ast::Stereotype::Choice => "choices (`<<choice>>`)",
            };
            self.unsupported(stereotype.span, what);
        }
        let state = self.draft.intern_state(&id.value, id.span, scope);
        let placed = declaration.body.is_some();
        self.claims.add(
            state,
            Claim {
                scope,
                strong: true,
                placed,
                span,
            },
        );
        if let Some(title) = declaration
            .title
            .as_ref()
            .filter(|title| title.value != id.value)
        {
            self.title(state, title);
        }
        if let Some(body) = &declaration.body {
            if self.composites.get(composed(&id.value).as_ref()) == Some(&false) {
                self.context
                    .diags
                    .push(report::empty_composite::empty_composite(&id.value, span));
            }
            self.draft.get_mut(state).has_body |= has_states(body);
            self.draft.get_mut(state).span = id.span;
            self.body(body, state);
        }
    }

    fn title(&mut self, state: StateIndex, text: &Spanned<String>) {
        let decoded = entity::decode(&text.value);
        self.draft
            .get_mut(state)
            .titles
            .push(Spanned::new(decoded, text.span));
    }

    /// `a : text` is a title, `a : entry / x` an action, `a : event [guard] / x()` an internal transition.
    fn description(
        &mut self,
        state: &Endpoint,
        text: &Spanned<String>,
        scope: StateIndex,
        span: Span,
    ) {
        let Some(index) = self.endpoint(state, scope, true, span) else {
            return;
        };
        for (keyword, entry) in [("entry", true), ("exit", false)] {
            let rest = text.value.strip_prefix(keyword).map(str::trim_start);
            let Some(rest) = rest else { continue };
            if let Some(list) = rest.strip_prefix('/') {
                self.state_actions(index, text, list, entry);
                return;
            }
            if rest.ends_with("()") && text.value.len() > keyword.len() + rest.len() {
                let slash = wording::part(text, keyword.len()..keyword.len());
                let diagnostic = report::unread_part::no_slash(keyword, text.span, slash);
                self.context.diags.push(diagnostic);
                return;
            }
        }
        let label = label::parse(&text.value, |name| self.context.declares_action(name));
        if label.actions.is_empty() {
            let same = EndpointKind::Id(text.value.clone()) == state.target;
            if !same {
                self.title(index, text);
            }
            return;
        }
        let mut transition = DraftTransition::new(span, index, None);
        transition.internal = true;
        wording::apply(&mut transition, text, &label, self.draft, self.context);
        self.draft.transitions.push(transition);
    }

    /// The actions behind `entry /` or `exit /`.
    fn state_actions(
        &mut self,
        state: StateIndex,
        text: &Spanned<String>,
        list: &str,
        entry: bool,
    ) {
        let offset = text.value.len() - list.len();
        for (name, range) in wording::action_names(list) {
            let place = wording::part(text, offset + range.start..offset + range.end);
            let written = list.get(range).unwrap_or("");
            let bare = written.strip_suffix("()").unwrap_or(written);
            // A sign of the grammar inside a name: two lists on one line, a comma forgotten, a guard.
            if bare.contains(['/', '(', ')', '[', ']']) {
                self.context
                    .diags
                    .push(report::unread_part::no_action(written, place));
                continue;
            }
            let action = self.draft.intern_action(&name, place);
            let state = self.draft.get_mut(state);
            let actions = if entry {
                &mut state.entry
            } else {
                &mut state.exit
            };
            actions.push(action);
        }
    }

    fn transition(&mut self, arrow: &Transition, scope: StateIndex, span: Span) {
        let label_text = arrow.label.as_ref().filter(|label| !label.value.is_empty());
        let label = label_text
            .map(|text| label::parse(&text.value, |name| self.context.declares_action(name)));
        let from_star = arrow.source.target == EndpointKind::Star;
        let to_star = arrow.target.target == EndpointKind::Star;
        if from_star {
            let Some(target) = self.endpoint(&arrow.target, scope, true, span) else {
                return;
            };
            // A label on `[*] -->` is a description, or actions behind ` / `.
            let actions = match (label_text, &label) {
                (Some(text), Some(label)) => wording::actions(text, label, self.draft),
                _ => Vec::new(),
            };
            self.draft.get_mut(scope).initials.push(DraftInitial {
                span,
                targets: vec![target],
                actions,
                inferred: false,
            });
            return;
        }
        let Some(source) = self.endpoint(&arrow.source, scope, true, span) else {
            // Nothing can be said of a transition out of history; its other end is still a state.
            let _ = self.endpoint(&arrow.target, scope, false, span);
            return;
        };
        let target = if to_star {
            self.end(scope, source, arrow.target.span)
        } else {
            let Some(target) = self.endpoint(&arrow.target, scope, false, span) else {
                return;
            };
            target
        };
        let mut transition = DraftTransition::new(span, source, Some(target));
        if let (Some(text), Some(label)) = (label_text, &label) {
            wording::apply(&mut transition, text, label, self.draft, self.context);
        }
        self.draft.transitions.push(transition);
    }

    /// The final state that `source --> [*]` leads to in a scope: one for each source.
    fn end(&mut self, scope: StateIndex, source: StateIndex, span: Span) -> StateIndex {
        if let Some(&end) = self.ends.get(&(scope, source)) {
            return end;
        }
        let id = format!("{}_end", self.draft.get(source).id);
        let end = self.draft.implied_state(&id, span, scope, source);
        self.draft.get_mut(end).kind = Some(Kind::Final);
        self.ends.insert((scope, source), end);
        end
    }
}

/// Whether a body says anything of states.
fn has_states(body: &Body) -> bool {
    body.statements.iter().any(|inner| {
        !matches!(
            inner.kind,
            StatementKind::Direction(_)
                | StatementKind::Note(_)
                | StatementKind::Drawing(_)
                | StatementKind::Accessibility { .. }
        )
    })
}
