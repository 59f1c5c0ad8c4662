//! Conditions and values: ECMAScript's where it and our expressions mean the same.
//!
//! An expression is spelled in our language first ([`native`](super::native)), and then read as any other. Where the two
//! languages would part, it is said in other words (a field is true if it is there and neither `null`, `false`, `0` nor an
//! empty text), or a finding says so: truth of what is computed, and division.

use super::native::{NEVER, NEVER_OF_FAILURES, native};
use super::{Lowering, plain};
use crate::diag::{Code, Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::front::expression::ast::{self, BinaryOperator, Kind};
use crate::front::expression::{Written, parse};
use crate::front::scxml::{ast as scxml, escaped};
use crate::ir::{Assign, Constant, Expression, ExpressionKind, Type};
use crate::lower::expression::constant;
use crate::lower::messages::unknown_target;
use crate::source::{Span, Spanned};

/// SCXML's variable with the machine's name.
pub(super) const NAME: &str = "_name";

impl Lowering<'_, '_> {
    /// Lowers a condition.
    pub(super) fn condition(&mut self, text: &Excerpt) -> Option<Spanned<Expression>> {
        let expression = self.read(text)?;
        let guard = self.truth(&expression)?;
        Some(Spanned::new(guard, expression.span))
    }

    /// Lowers an assignment, which must be to a declared location.
    pub(super) fn assign(&mut self, assign: &scxml::Assign) -> Option<Assign> {
        let path = plain(&assign.location);
        let is_declared = self.is_declared(&assign.location);
        if !is_declared {
            let found = unknown_location(assign.location.span, &path);
            self.diags.push(found);
        }
        let value = self.read(&assign.value);
        let value = value.and_then(|value| self.value(&value));
        let field = is_declared.then(|| self.field(&path, assign.location.span))?;
        Some(Assign {
            field,
            value: value?,
        })
    }

    /// Returns true if a location is in the data that the document declares.
    pub(super) fn is_declared(&self, location: &Spanned<String>) -> bool {
        let path = plain(location);
        let is_name = |name: &str| {
            name.starts_with(|c: char| c == '_' || c.is_alphabetic())
                && name.chars().all(|c| c == '_' || c.is_alphanumeric())
        };
        let first = path.split('.').next().unwrap_or("");
        path.split('.').all(is_name) && self.data.ids.contains(first)
    }

    /// Parses an expression. Findings about it have fixes as the document spells them.
    fn read(&mut self, text: &Excerpt) -> Option<ast::Expression> {
        let never = if self.known.fails_to_send {
            NEVER_OF_FAILURES
        } else {
            NEVER
        };
        let parsed = parse(&Written::in_excerpt(&native(text, never)));
        let mut problems = Diags::new();
        for mut problem in parsed.problems.into_sorted() {
            for edit in problem.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
                edit.text = escaped(&edit.text);
            }
            problems.push(problem);
        }
        self.diags.append(problems);
        parsed.expression
    }

    /// Lowers an expression that should be true or false.
    fn truth(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        Some(match &expression.kind {
            Kind::Not(inner) => self.truth(inner)?.negated(span),
            Kind::And(parts) => Expression::all(self.truths(parts)?, span),
            Kind::Or(parts) => Expression::any(self.truths(parts)?, span),
            Kind::Name(name) => {
                if let Some(guard) = self.guard_named(name, span) {
                    return Some(guard);
                }
                let value = self.value(expression)?;
                self.truth_of(value)
            }
            Kind::Literal(literal) if self.document.ecmascript => {
                let kind = ExpressionKind::Constant(Constant::Bool(is_truthy(literal)));
                Expression { span, kind }
            }
            _ => {
                let value = self.value(expression)?;
                self.expect_truth(&value, span);
                value
            }
        })
    }

    /// Lowers parts that should be true or false: every one, even after one that is wrong.
    fn truths(&mut self, parts: &[ast::Expression]) -> Option<Vec<Expression>> {
        let parts: Vec<Option<Expression>> = parts.iter().map(|part| self.truth(part)).collect();
        parts.into_iter().collect()
    }

    /// Returns the guard that the document declares under a name.
    fn guard_named(&self, name: &str, span: Span) -> Option<Expression> {
        let kind = self.data.guards.get(name)?.clone();
        Some(Expression { span, kind })
    }

    /// Converts a field, or a text that is known, to a truth value. Source: ECMA-262, *ToBoolean*.
    fn truth_of(&mut self, value: Expression) -> Expression {
        let span = value.span;
        let made = |kind| Expression { span, kind };
        let is_ecmascript = self.document.ecmascript;
        match value.kind {
            ExpressionKind::Constant(Constant::Text(text)) if is_ecmascript => {
                made(ExpressionKind::Constant(Constant::Bool(!text.is_empty())))
            }
            ExpressionKind::Field(field)
                if is_ecmascript && self.fields.at(field).kind != Type::Bool =>
            {
                let falsy = vec![
                    Constant::Null,
                    Constant::Bool(false),
                    Constant::Int(0),
                    Constant::Text(String::new()),
                ];
                let among = ExpressionKind::Among(Box::new(made(value.kind)), falsy);
                let is_other = made(ExpressionKind::Not(Box::new(made(among))));
                made(ExpressionKind::And(vec![
                    made(ExpressionKind::Has(field)),
                    is_other,
                ]))
            }
            _ => {
                self.expect_truth(&value, span);
                value
            }
        }
    }

    /// Reports a value that isn't a truth value; in ECMAScript any value is true or false.
    fn expect_truth(&mut self, value: &Expression, span: Span) {
        let is_truth = match &value.kind {
            ExpressionKind::Field(field) => self.fields.at(*field).kind == Type::Bool,
            ExpressionKind::Constant(value) => matches!(value, Constant::Bool(_)),
            ExpressionKind::Unary(..) => false,
            ExpressionKind::Binary(operator, _) => !is_arithmetic(*operator),
            _ => true,
        };
        if self.document.ecmascript && !is_truth {
            self.diags.push(not_a_truth_value(span));
        }
    }

    /// Lowers an expression that should have a value.
    fn value(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        let kind = match &expression.kind {
            Kind::Literal(literal) => ExpressionKind::Constant(constant(literal)),
            Kind::Name(name) => self.name(name, span)?,
            Kind::Has(name) => ExpressionKind::Has(self.field_named(&name.value, name.span)?),
            Kind::InState(name) => {
                let Some(&state) = self.by_id.get(&plain(name)) else {
                    let known = self.by_id.keys().map(String::as_str);
                    let suggestion = self.diags.nearest(&name.value, known);
                    self.diags.push(unknown_target(name, suggestion));
                    return None;
                };
                ExpressionKind::InState(state)
            }
            Kind::Not(_) | Kind::And(_) | Kind::Or(_) => return self.truth(expression),
            Kind::Unary(operator, inner) => {
                ExpressionKind::Unary(*operator, Box::new(self.value(inner)?))
            }
            Kind::Binary(operator, operands) => {
                if *operator == BinaryOperator::Divide && self.document.ecmascript {
                    self.diags.push(ecmascript_division(span));
                }
                let [left, right] = operands.as_ref();
                let (left, right) = (self.value(left), self.value(right));
                ExpressionKind::Binary(*operator, Box::new([left?, right?]))
            }
            Kind::Among(inner, items) => {
                let items = items.iter().map(|item| constant(&item.value)).collect();
                ExpressionKind::Among(Box::new(self.value(inner)?), items)
            }
        };
        Some(Expression { span, kind })
    }

    /// Resolves a name: a guard of the host's, a constant, or a field.
    fn name(&mut self, name: &str, span: Span) -> Option<ExpressionKind> {
        if let Some(guard) = self.data.guards.get(name) {
            return Some(guard.clone());
        }
        if let Some(known) = self.variable(name) {
            return Some(ExpressionKind::Constant(Constant::Text(known)));
        }
        self.field_named(name, span).map(ExpressionKind::Field)
    }

    /// Returns the value of a system variable that is known before the machine runs.
    ///
    /// These are its name, and the event of a transition that has only one.
    fn variable(&self, name: &str) -> Option<String> {
        if self.document.native {
            return None;
        }
        match name {
            NAME => self.document.name.as_ref().map(|name| name.value.clone()),
            "_event.name" => self.trigger.clone(),
            _ => None,
        }
    }

    /// Returns the field of a path whose first name is declared.
    fn field_named(
        &mut self,
        path: &str,
        span: Span,
    ) -> Option<crate::arena::Handle<crate::ir::Field>> {
        let first = path.split('.').next().unwrap_or("");
        let is_event = first == "event" && path != first;
        if is_event || self.data.ids.contains(first) {
            return Some(self.field(path, span));
        }
        let known = self.data.ids.iter().map(String::as_str);
        let suggestion = self.diags.nearest(first, known);
        self.diags.push(undeclared_name(span, path, suggestion));
        None
    }
}

/// Returns the truth of a literal in ECMAScript. Source: ECMA-262, *ToBoolean*.
fn is_truthy(literal: &ast::Literal) -> bool {
    match literal {
        ast::Literal::Null => false,
        ast::Literal::Bool(value) => *value,
        ast::Literal::Int(value) => *value != 0,
        ast::Literal::Unsigned(value) => *value != 0,
        ast::Literal::Float(value) => *value != 0.0,
        ast::Literal::Text(text) => !text.is_empty(),
    }
}

fn is_arithmetic(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
    matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
}

fn foreign_expression(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::ForeignExpression, place, message)
}

/// Reports that an initial value must be a literal.
pub(super) fn not_a_literal(place: Span) -> Diagnostic {
    foreign_expression(place, "an initial value must be a literal".to_owned())
        .label("would be computed")
        .help("write a number, a string in quotes, `true`, `false`, `null`, or JSON; `<assign>` computes")
}

/// Reports a location that can't be assigned to.
fn unknown_location(place: Span, text: &str) -> Diagnostic {
    foreign_expression(place, format!("`{text}` is no place in the data"))
        .label("no `<data>` of that id")
        .help("declare it: `<data id=\"…\"/>` in a `<datamodel>`")
}

/// Reports a name that nothing declares.
fn undeclared_name(place: Span, name: &str, known: Option<&str>) -> Diagnostic {
    let found = foreign_expression(place, format!("`{name}` isn't declared"))
        .label("no `<data>` of that id");
    if name.starts_with('_') {
        return found
            .note("of SCXML's system variables, `_event.data` and `_name` can be read, and `_event.name` in the condition of a transition with one event")
            .help("keep what is needed in the data");
    }
    match known {
        Some(suggestion) => found.did_you_mean(suggestion, place, ""),
        None => found.help("declare it: `<data id=\"…\"/>` in a `<datamodel>`"),
    }
}

/// Reports a value other than `true` or `false` as a condition, which ECMAScript allows.
fn not_a_truth_value(place: Span) -> Diagnostic {
    let message = "this may be something other than true or false".to_owned();
    foreign_expression(place, message)
        .label("no condition on its own")
        .note("ECMAScript makes every value true or false; here only `true` is true")
        .help("compare it: `count + 1 != 0`")
}

/// Reports a division: ECMAScript divides whole numbers to fractions.
fn ecmascript_division(place: Span) -> Diagnostic {
    foreign_expression(place, "`/` means something else in ECMAScript".to_owned())
        .label("`5 / 2` is 2.5 there, and 2 here")
        .help("write `datamodel=\"statemark\"` if 2 is meant, or have the host compute it")
}
