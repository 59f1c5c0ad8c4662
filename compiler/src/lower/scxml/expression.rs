//! Conditions and values.

use super::{Lowering, plain};
use crate::excerpt::Excerpt;
use crate::front::scxml::ast;
use crate::front::scxml::foreign_expression;
use crate::ir::{Assign, Expression, ExpressionKind, Guard};
use crate::source::Spanned;

impl Lowering<'_, '_> {
    pub(super) fn condition(&mut self, text: &Excerpt) -> Option<Spanned<Guard>> {
        let span = text.full_span();
        let plain = text.text().trim();
        let state = plain
            .strip_prefix("In('")
            .and_then(|t| t.strip_suffix("')"));
        let Some(&state) = state.and_then(|s| self.by_id.get(s)) else {
            self.diags.push(foreign_expression::truthiness(span));
            return None;
        };
        Some(Spanned::new(
            Guard::Expression(Expression {
                span,
                kind: ExpressionKind::InState(state),
            }),
            span,
        ))
    }
    pub(super) fn assign(&mut self, assign: &ast::Assign) -> Option<Assign> {
        let path = plain(&assign.location);
        self.field(&path, assign.location.span);
        self.diags
            .push(foreign_expression::truthiness(assign.value.full_span()));
        None
    }
}
