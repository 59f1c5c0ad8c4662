//! Expressions: from names to fields, guards and states.
//!
//! As a truth value, a name is the guard declared under it, else a field. A declared guard is written out in place,
//! whatever its form: `low == event.wanted` compares the answer of the guard `low` with a field.

use super::draft::{Draft, ROOT};
use super::fields::Known;
use super::guard::Resolver;
use super::target::find_state;
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, nearest};
use crate::front::definition::ast::Named;
use crate::front::expression::ast::{self, BinaryOperator, Kind, Literal};
use crate::front::expression::{Written, parse};
use crate::ir::{Assign, Constant, Expression, ExpressionKind, Field};
use crate::source::{Span, Spanned};

impl<'c> Resolver<'_, 'c> {
    /// Resolves an expression that must be true or false.
    pub(super) fn truth(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        self.nested(span, |resolver| match &expression.kind {
            Kind::Name(name) => resolver.truth_name(name, span),
            Kind::Not(inner) => Some(resolver.truth(inner)?.negated(span)),
            Kind::And(parts) => Some(Expression::all(resolver.truths(parts)?, span)),
            Kind::Or(parts) => Some(Expression::any(resolver.truths(parts)?, span)),
            _ => resolver.value(expression),
        })
    }

    /// Resolves parts that must be true or false: every one, also after a broken one.
    fn truths(&mut self, parts: &[ast::Expression]) -> Option<Vec<Expression>> {
        let parts: Vec<Option<Expression>> = parts.iter().map(|part| self.truth(part)).collect();
        parts.into_iter().collect()
    }

    /// Resolves a name as a truth value.
    fn truth_name(&mut self, name: &str, span: Span) -> Option<Expression> {
        if let Some(declared) = self.context.declared_guard(name) {
            return self.declared_guard(declared, span);
        }
        // `[ready]` on one line and `[ready && paid]` on another ask the same.
        let kind = if self.context.asked.contains(name) && !self.is_known(name) {
            let is_claim = self.context.has_claims();
            ExpressionKind::Ask(self.draft.intern_guard(name, name, span, is_claim))
        } else {
            ExpressionKind::Field(self.field(name, span)?)
        };
        Some(Expression { span, kind })
    }

    /// Resolves an expression that must have a value.
    pub(super) fn value(&mut self, expression: &ast::Expression) -> Option<Expression> {
        self.nested(expression.span, |resolver| resolver.value_parts(expression))
    }

    fn value_parts(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        let kind = match &expression.kind {
            Kind::Literal(literal) => ExpressionKind::Constant(constant(literal)),
            Kind::Name(name) => {
                if self.context.declared_guard(name).is_some() && !self.is_known(name) {
                    return self.truth(expression);
                }
                ExpressionKind::Field(self.field(name, span)?)
            }
            Kind::Has(name) => ExpressionKind::Has(self.field(&name.value, name.span)?),
            Kind::InState(name) => {
                let state = find_state(name, ROOT, self.draft, self.context)?;
                ExpressionKind::InState(state)
            }
            Kind::Not(_) | Kind::And(_) | Kind::Or(_) => return self.truth(expression),
            Kind::Unary(operator, inner) => {
                ExpressionKind::Unary(*operator, Box::new(self.value(inner)?))
            }
            Kind::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                self.refuse_unsigned(*operator, [left, right]);
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

    /// Reports integers with a `u` that are computed with: CEL has no operator for them and others.
    fn refuse_unsigned(&mut self, operator: BinaryOperator, operands: [&ast::Expression; 2]) {
        use BinaryOperator as Op;
        let computes = matches!(
            operator,
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder
        );
        for operand in operands {
            if computes && matches!(operand.kind, Kind::Literal(Literal::Unsigned(_))) {
                let diagnostic = computed_unsigned(operator.name(), operand.span);
                self.context.diags.push(diagnostic);
            }
        }
    }

    /// Returns whether a field of that name is declared.
    pub(super) fn is_known(&self, name: &str) -> bool {
        name.starts_with("event.")
            || matches!(
                self.context.fields.context_field(name),
                Known::Declared { .. }
            )
    }

    /// Returns the field of a path, or reports a path without a field.
    fn field(&mut self, path: &str, span: Span) -> Option<Handle<Field>> {
        if path == "event" {
            self.context.diags.push(event_without_field(span));
            return None;
        }
        let is_event = path.starts_with("event.");
        if !is_event && self.context.fields.context_field(path) == Known::Missing {
            let diagnostic = self.unknown_field(path, span);
            let name = path.split('.').next().unwrap_or(path);
            let help = format!("if `{name}` is a string, write it in quotes: `'{name}'`");
            let diagnostic = if diagnostic.fixes.is_empty() {
                diagnostic.help(help)
            } else {
                diagnostic
            };
            self.context.diags.push(diagnostic);
            return None;
        }
        Some(self.draft.intern_field(path, span))
    }

    /// Returns the field that a comparison in a definition names, or reports one that is misspelled.
    ///
    /// One that nothing declares may come with an event: definitions of other systems compare such.
    pub(super) fn compared_field(&mut self, path: &Spanned<String>) -> Option<Handle<Field>> {
        let is_event = path.value.starts_with("event.");
        if !is_event && self.context.fields.context_field(&path.value) == Known::Missing {
            let place = inside_quotes(path, self.context.sources);
            let diagnostic = self.unknown_field(&path.value, place);
            if !diagnostic.fixes.is_empty() {
                self.context.diags.push(diagnostic);
                return None;
            }
        }
        Some(self.draft.intern_field(&path.value, path.span))
    }

    fn unknown_field(&mut self, path: &str, span: Span) -> Diagnostic {
        let mut names = self.context.fields.names();
        names.extend(self.context.declared_guards().map(str::to_owned));
        let known = names.iter().map(String::as_str);
        let known: Vec<&str> = self.context.diags.comparable(known, names.len()).collect();
        let similar = nearest(path, known.iter().copied());
        unknown_field(path, span, similar)
    }

    /// Resolves an assignment of an action.
    pub(super) fn assignment(
        &mut self,
        assigned: &'c Named<Spanned<serde_json::Value>>,
    ) -> Option<Assign> {
        let (name, value) = (&assigned.name, &assigned.value);
        let is_path = name.value.split('.').all(is_name);
        if !is_path || name.value == "event" || name.value.starts_with("event.") {
            let diagnostic = unassignable_field(&name.value, name.span);
            self.context.diags.push(diagnostic);
            return None;
        }
        let place = inside_quotes(name, self.context.sources);
        let field = self.field(&name.value, place);
        let value = match &value.value {
            serde_json::Value::String(text) => {
                let text = Spanned::new(text.clone(), value.span);
                let written = Written::in_json(&text, self.context.sources);
                let parsed = parse(&written);
                match parsed.expression {
                    Some(expression) => self.value(&expression),
                    None => {
                        self.context
                            .diags
                            .append(parsed.into_value_problems(&written));
                        None
                    }
                }
            }
            other => super::guard::constant(other).map(|constant| Expression {
                span: value.span,
                kind: ExpressionKind::Constant(constant),
            }),
        };
        Some(Assign {
            field: field?,
            value: value?,
        })
    }
}

/// Resolves the assignments of an action, and reports broken ones.
pub(super) fn assignments<'c>(
    fields: &'c [Named<Spanned<serde_json::Value>>],
    draft: &mut Draft,
    context: &mut super::spec::Context<'c>,
) -> Vec<Assign> {
    for inner in fields {
        let outer = fields.iter().find(|outer| {
            let rest = inner.name.value.strip_prefix(&outer.name.value);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        if let Some(outer) = outer {
            let (name, span) = (&inner.name.value, inner.name.span);
            let diagnostic = overlapping_assignments(name, &outer.name.value, span);
            context.diags.push(diagnostic);
        }
    }
    let mut resolver = Resolver::new(draft, context);
    fields
        .iter()
        .filter_map(|field| resolver.assignment(field))
        .collect()
}

/// Returns whether a text can be one name of a path.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the span of a key without its quotes.
fn inside_quotes(name: &Spanned<String>, sources: &crate::source::Sources) -> Span {
    let written = Written::in_json(name, sources);
    written.span(0..name.value.len())
}

/// Returns the constant of a literal.
pub(in crate::lower) fn constant(literal: &Literal) -> Constant {
    match literal {
        Literal::Null => Constant::Null,
        Literal::Bool(value) => Constant::Bool(*value),
        Literal::Int(value) => Constant::Int(i128::from(*value)),
        Literal::Unsigned(value) => Constant::Int(i128::from(*value)),
        Literal::Float(value) => Constant::Float(*value),
        Literal::Text(text) => Constant::Text(text.clone()),
    }
}

fn unassignable_field(name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{name}` is no field that can be assigned"),
    );
    if name == "event" || name.starts_with("event.") {
        return diagnostic
            .label("the data of an event stays as it was sent")
            .help("assign a field of the context");
    }
    diagnostic
        .label("a field is a name, or names with dots between them")
        .help("use the letters `a` to `z`, digits and `_`")
}

pub(super) fn assignment_of_another_type(
    field: &str,
    wanted: &str,
    found: &str,
    span: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{field}` holds {wanted}, found {found}"),
    )
    .label(format!("is {found}"));
    if (wanted, found) == ("a float", "an integer") {
        return diagnostic.help("write it with a fraction: `1.0`");
    }
    diagnostic.help("change the value, or what the context or its schema says of the field")
}

pub(super) fn overlapping_assignments(inner: &str, outer: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{inner}` is part of `{outer}`, which the same action assigns"),
    )
    .label("what of it would stay?")
    .help("assign the one or the other")
}

/// The help for a value where a truth value is needed.
const COMPARE: &str = "compare it with something: `attempts < 3`, `status == \"open\"`";

pub(super) fn guard_without_truth_value(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("a guard is true or false, found {found}"),
    )
    .label(format!("is {found}"))
    .help(COMPARE)
}

pub(super) fn mistyped_operand(span: Span, sign: &str, wanted: &str, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("`{sign}` takes {wanted}, found {found}"),
    )
    .label(format!("is {found}"));
    if wanted == "a truth value" {
        return diagnostic.help(COMPARE);
    }
    diagnostic
}

/// Reports two operands that don't fit together, each with its span and its type in words.
pub(super) fn mistyped_operands(
    span: Span,
    operator: BinaryOperator,
    left: &(Span, String),
    right: &(Span, String),
) -> Diagnostic {
    use BinaryOperator as Op;
    let (sign, left_word, right_word) = (operator.name(), &left.1, &right.1);
    let message = match operator {
        Op::Equal | Op::NotEqual => format!("`{sign}` can't compare {left_word} with {right_word}"),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            format!("`{sign}` can't compare {left_word} with {right_word}")
        }
        Op::In => format!("`in` can't find {left_word} in {right_word}"),
        Op::StartsWith | Op::EndsWith | Op::Contains => {
            format!("`{sign}` takes two strings, found {left_word} and {right_word}")
        }
        _ => format!("`{sign}` can't be used on {left_word} and {right_word}"),
    };
    let diagnostic = Diagnostic::new(Code::MistypedExpression, span, message)
        .related(left.0, format!("is {left_word}"))
        .related(right.0, format!("is {right_word}"));
    let is_mixed = |one: &str, two: &str| one == "an integer" && two == "a float";
    let computes = matches!(
        operator,
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder
    );
    if computes && (is_mixed(left_word, right_word) || is_mixed(right_word, left_word)) {
        return diagnostic
            .note("numbers are never converted, so that integers stay exact")
            .help("write the integer with a fraction: `2.0`");
    }
    let is_list = |word: &str| word.starts_with("a list");
    match operator {
        Op::Equal | Op::NotEqual if is_list(left_word) != is_list(right_word) => diagnostic
            .note("values of different types are never equal")
            .help("to look for a value in a list, write `value in list`"),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual
            if is_list(left_word) || is_list(right_word) =>
        {
            diagnostic
                .note("only two numbers or two strings have an order")
                .help(format!("to count the items of a list, write `size(list) {sign} 3`"))
        }
        Op::Add if is_list(left_word) || is_list(right_word) => diagnostic
            .note("`+` adds two numbers of one kind, or joins two strings")
            .help("a list can be looked into (`value in list`) and counted (`size(list)`), and is assigned as a whole"),
        Op::Contains if is_list(left_word) => diagnostic.help("write `value in list`"),
        Op::In => diagnostic.help("`in` looks into a list, or for a key of an object"),
        Op::Add => diagnostic.note("`+` adds two numbers of one kind, or joins two strings"),
        Op::Equal | Op::NotEqual => diagnostic.note("values of different types are never equal"),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            diagnostic.note("only two numbers or two strings have an order")
        }
        _ => diagnostic,
    }
}

pub(super) fn mistyped_item(span: Span, value: Span, wanted: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("{wanted} is never equal to {found} in the list"),
    )
    .related(value, format!("is {wanted}"))
    .help("leave it out, or write it as what it is compared with")
}

pub(super) fn mistyped_comparison(
    field: &str,
    holds: &str,
    operator: &str,
    found: &str,
    value: Span,
) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        value,
        format!("`{field}` holds {holds}, which `{operator}` can't compare with {found}"),
    )
    .label(format!("is {found}"))
    .note("a comparison of different types is never true")
    .help("change the value, or what the context or its schema says of the field")
}

pub(super) fn computed_unsigned(sign: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("`{sign}` can't be used on an integer with a `u`"),
    )
    .label("can be compared, not computed with")
    .help("write it without the `u`")
}

pub(super) fn unknown_field(path: &str, span: Span, similar: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownField,
        span,
        format!("field `{path}` isn't declared"),
    )
    .label("neither in the context nor in its schema")
    .note("a field that isn't there has no value, and whatever asks for it is false");
    if let Some(similar) = similar {
        return diagnostic.did_you_mean(similar, span, "");
    }
    diagnostic.help(format!(
        "declare it: with its first value under `context`, or under `context_schema` if it may be absent; data of the event is `event.{path}`"
    ))
}

pub(super) fn unknown_event_field(
    path: &str,
    span: Span,
    events: &str,
    similar: Option<&str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownField,
        span,
        format!("the data of {events} has no `{path}`"),
    )
    .label("not among the properties that the event declares");
    match similar {
        Some(similar) => diagnostic
            .help(format!("did you mean `event.{similar}`?"))
            .unsafe_fix(
                format!("write `event.{similar}`"),
                span,
                format!("event.{similar}"),
            ),
        None => diagnostic.help("declare it under `data` of the event"),
    }
}

pub(super) fn event_without_field(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownField,
        span,
        "`event` is the data of an event: name one of its fields",
    )
    .help("write `event.` and the field's name")
}
