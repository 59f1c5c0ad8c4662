//! Type checks of expressions, by CEL's rules for its operators.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::kind::{assignable, comparable, is_number, may_be, of_constant, plain, words};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{
    Assign, BinaryOperator, Constant, Event, Expression, ExpressionKind, Field, Machine, Operator,
    Type, UnaryOperator,
};
use crate::lower::draft::Comparison;
use crate::lower::expression::{
    assignment_of_another_type, mistyped_comparison, mistyped_item, mistyped_operand,
    mistyped_operands,
};
use crate::pass::merge::Merges;
use crate::source::{Sources, Span, Spanned};

/// A walk over expressions that reports parts which don't fit together.
pub(super) struct Check<'m> {
    pub(super) machine: &'m Machine,
    /// The fields that the context begins with, as `null`.
    nulls: BTreeSet<Handle<Field>>,
    pub(super) sources: &'m Sources,
    /// The events whose data is `event`; `None` where it may be any event.
    pub(super) events: Option<Vec<Handle<Event>>>,
    pub(super) diags: Diags,
    /// The places reported: a declared guard is written out wherever it is used, and reported once.
    reported: BTreeSet<(Span, Code)>,
    merges: OnceCell<Merges>,
}

impl<'m> Check<'m> {
    pub(super) fn new(
        machine: &'m Machine,
        nulls: BTreeSet<Handle<Field>>,
        sources: &'m Sources,
    ) -> Self {
        Self {
            machine,
            nulls,
            sources,
            events: None,
            diags: Diags::new(),
            reported: BTreeSet::new(),
            merges: OnceCell::new(),
        }
    }

    /// Returns the merge rules, which are decided once.
    pub(super) fn merges(&self) -> &Merges {
        self.merges.get_or_init(|| Merges::new(self.machine))
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let place = (diagnostic.primary.span, diagnostic.code);
        if self.reported.insert(place) {
            self.diags.push(diagnostic);
        }
    }

    /// Checks an expression and its parts, and returns its type.
    pub(super) fn expression(&mut self, expression: &Expression) -> Type {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Constant(constant) => of_constant(constant),
            ExpressionKind::Field(handle) | ExpressionKind::Has(handle) => {
                let field = self.machine.fields.at(*handle);
                if let Some(path) = field.path.strip_prefix("event.") {
                    self.event_field(path, span);
                } else if matches!(expression.kind, ExpressionKind::Has(_))
                    && self.nulls.contains(handle)
                {
                    self.report(null_is_there(&field.path, span));
                }
                match expression.kind {
                    ExpressionKind::Has(_) => Type::Bool,
                    _ => field.kind.clone(),
                }
            }
            ExpressionKind::InState(_)
            | ExpressionKind::Ask(_)
            | ExpressionKind::Compare { .. } => Type::Bool,
            ExpressionKind::Not(inner) => self.truths(std::slice::from_ref(inner), "!"),
            ExpressionKind::And(parts) => self.truths(parts, "&&"),
            ExpressionKind::Or(parts) => self.truths(parts, "||"),
            ExpressionKind::Unary(operator, inner) => self.unary(*operator, inner),
            ExpressionKind::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                let kinds = [self.expression(left), self.expression(right)];
                self.binary(*operator, span, [left, right], &kinds)
            }
            ExpressionKind::Among(inner, constants) => {
                let found = self.expression(inner);
                // A list may hold values that are never met, as long as one can be.
                let can_meet = |constant| comparable(&found, &of_constant(constant));
                if let Some(first) = constants
                    .first()
                    .filter(|_| !constants.iter().any(can_meet))
                {
                    let (wanted, item) = (words(&found), words(&of_constant(first)));
                    let diagnostic = mistyped_item(span, inner.span, &wanted, &item);
                    self.report(diagnostic);
                } else {
                    for constant in constants {
                        self.list_item(inner, constant, span);
                    }
                }
                Type::Bool
            }
        }
    }

    fn truths(&mut self, parts: &[Expression], sign: &str) -> Type {
        for part in parts {
            let found = self.expression(part);
            if !may_be(&found, &Type::Bool) {
                let diagnostic = mistyped_operand(part.span, sign, "a truth value", &words(&found));
                self.report(diagnostic);
            }
        }
        Type::Bool
    }

    fn unary(&mut self, operator: UnaryOperator, inner: &Expression) -> Type {
        let found = self.expression(inner);
        let (fits, wanted, result) = match operator {
            UnaryOperator::Size => (
                matches!(
                    plain(&found),
                    Type::Unknown | Type::Text | Type::List(_) | Type::Object
                ),
                "a string, a list or an object",
                Type::Int,
            ),
            _ => (
                may_be(&found, &Type::Number),
                "a number",
                plain(&found).clone(),
            ),
        };
        if !fits {
            let sign = operator.name();
            let diagnostic = mistyped_operand(inner.span, sign, wanted, &words(&found));
            self.report(diagnostic);
            return Type::Unknown;
        }
        result
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        span: Span,
        operands: [&Expression; 2],
        kinds: &[Type; 2],
    ) -> Type {
        use BinaryOperator as Op;
        let [left, right] = [plain(&kinds[0]).clone(), plain(&kinds[1]).clone()];
        let (fits, result) = match operator {
            Op::Equal | Op::NotEqual => (comparable(&kinds[0], &kinds[1]), Type::Bool),
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                (ordered(&left, &right), Type::Bool)
            }
            Op::In => (may_hold(&right, &left), Type::Bool),
            Op::StartsWith | Op::EndsWith | Op::Contains => {
                let is_text = |kind| may_be(kind, &Type::Text);
                (is_text(&left) && is_text(&right), Type::Bool)
            }
            Op::Remainder => (
                may_be(&left, &Type::Int) && may_be(&right, &Type::Int),
                Type::Int,
            ),
            _ => arithmetic(operator, &left, &right),
        };
        if !fits {
            let [one, two] = [
                (operands[0].span, words(&kinds[0])),
                (operands[1].span, words(&kinds[1])),
            ];
            let diagnostic = mistyped_operands(span, operator, &one, &two);
            self.report(diagnostic);
        } else {
            self.compared_values(operator, operands);
        }
        let is_zero = matches!(
            &operands[1].kind,
            ExpressionKind::Constant(Constant::Int(0))
        ) || matches!(&operands[1].kind, ExpressionKind::Constant(Constant::Float(zero)) if *zero == 0.0);
        if is_zero && matches!(operator, Op::Divide | Op::Remainder) {
            self.report(division_by_zero(operator.name(), operands[1].span));
        }
        result
    }

    /// Checks an assignment of an action.
    pub(super) fn assign(&mut self, assign: &Assign) {
        let found = self.expression(&assign.value);
        let field = self.machine.fields.at(assign.field);
        if !assignable(&field.kind, &found) {
            let diagnostic = assignment_of_another_type(
                &field.path,
                &words(&field.kind),
                &words(&found),
                assign.value.span,
            );
            self.report(diagnostic);
        } else {
            self.assigned_value(assign);
        }
    }

    /// Checks a comparison `{field, op, value}`.
    pub(super) fn comparison(&mut self, comparison: &Comparison) {
        let field = self.machine.fields.at(comparison.field);
        let kind = plain(&field.kind);
        // A list may hold values that the field never has, as long as one can be met.
        let is_list = comparison.operator == Operator::In;
        let can_meet =
            |constant: &Spanned<Constant>| comparable(&field.kind, &of_constant(&constant.value));
        self.comparison_values(comparison);
        if is_list && comparison.constants.iter().any(can_meet) {
            return;
        }
        for constant in &comparison.constants {
            let found = of_constant(&constant.value);
            // The front end has reported constants that the operator has no use for.
            let fits = match comparison.operator {
                Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => {
                    may_be(kind, &Type::Number) || !is_number(&found)
                }
                Operator::Contains => may_be(kind, &Type::Text) || found != Type::Text,
                _ => comparable(&field.kind, &found),
            };
            if !fits {
                let diagnostic = mistyped_comparison(
                    &field.path,
                    &words(&field.kind),
                    comparison.operator.name(),
                    &words(&found),
                    constant.span,
                );
                self.report(diagnostic);
            }
        }
    }
}

/// Returns whether values of two types have an order: two numbers, or two texts.
fn ordered(one: &Type, two: &Type) -> bool {
    let has_order = |kind: &Type| *kind == Type::Unknown || *kind == Type::Text || is_number(kind);
    has_order(one) && has_order(two) && comparable(one, two)
}

/// Returns whether the first may be a list or an object that holds the second.
fn may_hold(list: &Type, item: &Type) -> bool {
    match list {
        Type::Unknown => true,
        Type::List(items) => comparable(items, item),
        Type::Object => may_be(item, &Type::Text),
        _ => false,
    }
}

/// Returns whether an operator computes with values of two types, and the type of the result.
///
/// Both numbers are of one kind, as in CEL.
fn arithmetic(operator: BinaryOperator, one: &Type, two: &Type) -> (bool, Type) {
    let is_sum = operator == BinaryOperator::Add;
    let can =
        |kind: &Type| *kind == Type::Unknown || is_number(kind) || (is_sum && *kind == Type::Text);
    let fits = can(one) && can(two) && may_be(one, two);
    let result = match (one, two) {
        (Type::Unknown, Type::Unknown) if is_sum => Type::Unknown,
        (Type::Unknown, Type::Unknown) => Type::Number,
        (Type::Unknown | Type::Number, known) | (known, _) => known.clone(),
    };
    (fits, if fits { result } else { Type::Unknown })
}

fn division_by_zero(sign: &str, span: Span) -> Diagnostic {
    let message = format!("`{sign}` by zero has no value");
    Diagnostic::new(Code::DivisionByZero, span, message)
        .label("always zero")
        .note("an expression without a value makes its guard false, and its assignment fail")
        .help("write another divisor")
}

fn null_is_there(path: &str, span: Span) -> Diagnostic {
    let message =
        format!("`has({path})` is always true: the field begins with `null`, which is there");
    Diagnostic::new(Code::NullIsThere, span, message)
        .label("decides nothing")
        .note("`has` asks whether there is a field, not whether it holds something")
        .unsafe_fix(
            format!("ask whether it isn't `null`: `{path} != null`"),
            span,
            format!("({path} != null)"),
        )
}
