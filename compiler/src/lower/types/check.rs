//! Whether the parts of an expression fit together: CEL's rules for its operators.

use std::collections::BTreeSet;

use super::kind::{assignable, comparable, is_number, may_be, of_constant, plain, words};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{
    Assign, BinaryOperator, Constant, Event, Expression, ExpressionKind, Machine, Operator, Type,
    UnaryOperator,
};
use crate::lower::draft::Comparison;
use crate::lower::expression::{
    assignment_of_another_type, mistyped_comparison, mistyped_item, mistyped_operand,
    mistyped_operands,
};
use crate::source::{Sources, Span, Spanned};

/// Walks over expressions, and reports what doesn't fit.
pub(super) struct Check<'m> {
    pub(super) machine: &'m Machine,
    pub(super) sources: &'m Sources,
    /// The events whose data is `event`; `None` where it may be any.
    pub(super) events: Option<Vec<Handle<Event>>>,
    pub(super) findings: Diags,
    /// A declared guard is written out wherever it is used, and told once.
    told: BTreeSet<(Span, Code)>,
}

impl<'m> Check<'m> {
    pub(super) fn new(machine: &'m Machine, sources: &'m Sources) -> Self {
        Self {
            machine,
            sources,
            events: None,
            findings: Diags::new(),
            told: BTreeSet::new(),
        }
    }

    pub(super) fn tell(&mut self, finding: Diagnostic) {
        if self.told.insert((finding.primary.span, finding.code)) {
            self.findings.push(finding);
        }
    }

    /// Checks an expression and its parts; gives what it is.
    pub(super) fn expression(&mut self, expression: &Expression) -> Type {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Constant(constant) => of_constant(constant),
            ExpressionKind::Field(field) | ExpressionKind::Has(field) => {
                let field = self.machine.fields.at(*field);
                if let Some(path) = field.path.strip_prefix("event.") {
                    self.known_data(path, span);
                }
                match expression.kind {
                    ExpressionKind::Has(_) => Type::Bool,
                    _ => field.kind.clone(),
                }
            }
            ExpressionKind::InState(_) | ExpressionKind::Ask(_) => Type::Bool,
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
                // A list may hold more than can be met, as long as one of its values can.
                let can_meet = |constant| comparable(&found, &of_constant(constant));
                if let Some(first) = constants
                    .first()
                    .filter(|_| !constants.iter().any(can_meet))
                {
                    let (wanted, item) = (words(&found), words(&of_constant(first)));
                    let finding = mistyped_item(span, inner.span, &wanted, &item);
                    self.tell(finding);
                } else {
                    for constant in constants {
                        self.listed(inner, constant, span);
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
                let finding = mistyped_operand(part.span, sign, "a truth value", &words(&found));
                self.tell(finding);
            }
        }
        Type::Bool
    }

    fn unary(&mut self, operator: UnaryOperator, inner: &Expression) -> Type {
        let found = self.expression(inner);
        let (fits, wanted, gives) = match operator {
            UnaryOperator::Size => (
                matches!(
                    plain(&found),
                    Type::Unknown | Type::Text | Type::List(_) | Type::Object
                ),
                "a text, a list or an object",
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
            let finding = mistyped_operand(inner.span, sign, wanted, &words(&found));
            self.tell(finding);
            return Type::Unknown;
        }
        gives
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
        let (fits, gives) = match operator {
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
            let finding = mistyped_operands(span, operator, &one, &two);
            self.tell(finding);
        } else {
            self.compared(operator, operands);
        }
        let is_zero = matches!(
            &operands[1].kind,
            ExpressionKind::Constant(Constant::Int(0))
        ) || matches!(&operands[1].kind, ExpressionKind::Constant(Constant::Float(zero)) if *zero == 0.0);
        if is_zero && matches!(operator, Op::Divide | Op::Remainder) {
            self.tell(division_by_zero(operator.name(), operands[1].span));
        }
        gives
    }

    /// Checks what an action assigns.
    pub(super) fn assign(&mut self, assign: &Assign) {
        let found = self.expression(&assign.value);
        let field = self.machine.fields.at(assign.field);
        if !assignable(&field.kind, &found) {
            let finding = assignment_of_another_type(
                &field.path,
                &words(&field.kind),
                &words(&found),
                assign.value.span,
            );
            self.tell(finding);
        } else {
            self.assigned(assign);
        }
    }

    /// Checks a comparison `{field, op, value}`.
    pub(super) fn comparison(&mut self, comparison: &Comparison) {
        let field = self.machine.fields.at(comparison.field);
        let kind = plain(&field.kind);
        // A list may hold more than the field does, as long as one of its values can be met.
        let is_list = comparison.operator == Operator::In;
        let can_meet =
            |constant: &Spanned<Constant>| comparable(&field.kind, &of_constant(&constant.value));
        self.among_values(comparison);
        if is_list && comparison.constants.iter().any(can_meet) {
            return;
        }
        for constant in &comparison.constants {
            let found = of_constant(&constant.value);
            // A constant that the operator itself has no use for was reported where it was read.
            let fits = match comparison.operator {
                Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => {
                    may_be(kind, &Type::Number) || !is_number(&found)
                }
                Operator::Contains => may_be(kind, &Type::Text) || found != Type::Text,
                _ => comparable(&field.kind, &found),
            };
            if !fits {
                let finding = mistyped_comparison(
                    &field.path,
                    &words(&field.kind),
                    comparison.operator.name(),
                    &words(&found),
                    constant.span,
                );
                self.tell(finding);
            }
        }
    }
}

/// Whether values of two types have an order: two numbers, or two texts.
fn ordered(one: &Type, two: &Type) -> bool {
    let has_order = |kind: &Type| *kind == Type::Unknown || *kind == Type::Text || is_number(kind);
    has_order(one) && has_order(two) && comparable(one, two)
}

/// Whether the first may be a list or an object in which the second is.
fn may_hold(list: &Type, item: &Type) -> bool {
    match list {
        Type::Unknown => true,
        Type::List(items) => comparable(items, item),
        Type::Object => may_be(item, &Type::Text),
        _ => false,
    }
}

/// Whether values of two types can be computed with, and what comes out. Numbers are of one kind, as in CEL.
fn arithmetic(operator: BinaryOperator, one: &Type, two: &Type) -> (bool, Type) {
    let is_sum = operator == BinaryOperator::Add;
    let can =
        |kind: &Type| *kind == Type::Unknown || is_number(kind) || (is_sum && *kind == Type::Text);
    let fits = can(one) && can(two) && may_be(one, two);
    let gives = match (one, two) {
        (Type::Unknown, Type::Unknown) if is_sum => Type::Unknown,
        (Type::Unknown, Type::Unknown) => Type::Number,
        (Type::Unknown | Type::Number, known) | (known, _) => known.clone(),
    };
    (fits, if fits { gives } else { Type::Unknown })
}

fn division_by_zero(sign: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::DivisionByZero,
        span,
        format!("`{sign}` by zero has no value"),
    )
    .label("always zero")
    .note("an expression without a value makes its guard false, and its assignment fail")
    .help("write another divisor")
}
