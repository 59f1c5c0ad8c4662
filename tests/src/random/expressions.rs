//! Guards and expressions. Most are of the kinds that their operators take; a few aren't, which is a fault.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Field, HostGuard, Operator, State, Type,
    UnaryOperator,
};

use super::{Builder, Shape};

impl Builder {
    /// A guard, nested so deep at most.
    pub(super) fn guard(&mut self, depth: usize) -> Expression {
        let Shape {
            fields,
            expressions,
            ..
        } = self.shape;
        let span = self.span;
        let kind = match self.chance.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 | 7 if expressions => return self.bool(depth),
            1 | 2 if fields => self.compare(),
            4 => return self.guard(depth - 1).negated(span),
            5 => return Expression::all(self.guards(depth - 1), span),
            6 => return Expression::any(self.guards(depth - 1), span),
            _ => ExpressionKind::Ask(self.host_guard()),
        };
        self.expression(kind)
    }

    fn guards(&mut self, depth: usize) -> Vec<Expression> {
        (0..self.chance.below(4))
            .map(|_| self.guard(depth))
            .collect()
    }

    fn host_guard(&mut self) -> Handle<HostGuard> {
        Handle::at(self.chance.below(self.machine.guards.len()))
    }

    fn compare(&mut self) -> ExpressionKind {
        let field = Handle::at(self.chance.below(self.machine.fields.len()));
        let operator = Operator::ALL[self.chance.below(Operator::ALL.len())];
        let constants = match operator {
            Operator::Exists | Operator::NotExists => Vec::new(),
            Operator::In => (0..self.chance.below(4)).map(|_| self.constant()).collect(),
            _ => vec![self.constant()],
        };
        ExpressionKind::Compare {
            field,
            operator,
            constants,
        }
    }

    fn constant(&mut self) -> Constant {
        match self.chance.below(10) {
            0 => Constant::Null,
            1 => Constant::Bool(self.chance.percent(50)),
            2 => Constant::Float(2.5),
            3 => Constant::Float(3.0),
            4 | 5 => self.text_constant(),
            _ => self.int_constant(),
        }
    }

    fn text_constant(&mut self) -> Constant {
        let words = ["", "red", "green", "größe", "re"];
        Constant::Text(words[self.chance.below(words.len())].to_owned())
    }

    fn int_constant(&mut self) -> Constant {
        Constant::Int(match self.chance.below(12) {
            0 => i64::MAX.into(),
            1 => i64::MIN.into(),
            2 => u64::MAX.into(),
            number => i128::try_from(number).unwrap_or(0) - 5,
        })
    }

    fn expression(&self, kind: ExpressionKind) -> Expression {
        Expression {
            span: self.span,
            kind,
        }
    }

    /// A field of that kind; now and then of any.
    fn field(&mut self, kind: &Type) -> Handle<Field> {
        let any = self.chance.percent(4);
        let fields = self.machine.fields.iter();
        let all: Vec<Handle<Field>> = fields
            .filter(|(_, field)| any || field.kind == *kind || field.kind == Type::Unknown)
            .map(|(handle, _)| handle)
            .collect();
        self.chance.pick(&all).unwrap_or(Handle::at(0))
    }

    /// An expression that is true or false.
    pub(super) fn bool(&mut self, depth: usize) -> Expression {
        let simple = depth == 0;
        let kind = match self.chance.below(if simple { 6 } else { 15 }) {
            0 => ExpressionKind::Constant(Constant::Bool(self.chance.percent(50))),
            1 => ExpressionKind::Field(self.field(&Type::Bool)),
            2 => ExpressionKind::Has(self.field(&Type::Unknown)),
            3 => ExpressionKind::InState(self.any_state()),
            4 => ExpressionKind::Ask(self.host_guard()),
            5 if self.shape.fields => self.compare(),
            6 => ExpressionKind::Not(Box::new(self.bool(depth - 1))),
            7 => ExpressionKind::And(self.bools(depth - 1)),
            8 => ExpressionKind::Or(self.bools(depth - 1)),
            9 => {
                let inner = self.any(depth - 1);
                let constants = (0..self.chance.between(1, 3))
                    .map(|_| self.constant())
                    .collect();
                ExpressionKind::Among(Box::new(inner), constants)
            }
            10 => {
                let operator = [
                    BinaryOperator::StartsWith,
                    BinaryOperator::EndsWith,
                    BinaryOperator::Contains,
                ][self.chance.below(3)];
                ExpressionKind::Binary(
                    operator,
                    Box::new([self.text(depth - 1), self.text(depth - 1)]),
                )
            }
            11 => {
                let operator =
                    [BinaryOperator::Equal, BinaryOperator::NotEqual][self.chance.below(2)];
                ExpressionKind::Binary(
                    operator,
                    Box::new([self.any(depth - 1), self.any(depth - 1)]),
                )
            }
            5 => ExpressionKind::Constant(Constant::Bool(true)),
            _ => {
                let operator = [
                    BinaryOperator::Equal,
                    BinaryOperator::Less,
                    BinaryOperator::LessEqual,
                    BinaryOperator::Greater,
                    BinaryOperator::GreaterEqual,
                ][self.chance.below(5)];
                let operands = if self.chance.percent(75) {
                    [self.int(depth - 1), self.int(depth - 1)]
                } else {
                    [self.text(depth - 1), self.text(depth - 1)]
                };
                ExpressionKind::Binary(operator, Box::new(operands))
            }
        };
        self.expression(kind)
    }

    /// Now and then what `lower` makes of a value for a field with bounds.
    pub(super) fn bounded(&mut self, value: Expression) -> Expression {
        if !self.shape.bounds {
            return value;
        }
        let bound = i128::try_from(self.chance.below(12)).unwrap_or(0);
        let (operator, bound) = match self.chance.below(6) {
            0 => (BinaryOperator::AtLeast, bound - 8),
            1 => (BinaryOperator::AtMost, bound),
            _ => return value,
        };
        let bound = self.expression(ExpressionKind::Constant(Constant::Int(bound)));
        let value = self.expression(ExpressionKind::Binary(operator, Box::new([value, bound])));
        self.bounded(value)
    }

    fn bools(&mut self, depth: usize) -> Vec<Expression> {
        (0..self.chance.between(2, 3))
            .map(|_| self.bool(depth))
            .collect()
    }

    fn any(&mut self, depth: usize) -> Expression {
        match self.chance.below(6) {
            0 => self.bool(depth),
            1 | 2 => self.text(depth),
            3 => {
                let constant = self.constant();
                self.expression(ExpressionKind::Constant(constant))
            }
            _ => self.int(depth),
        }
    }

    fn any_state(&mut self) -> Handle<State> {
        // Histories are never active, and the root always is; nobody asks for them.
        let states = self.machine.named_states();
        let all: Vec<Handle<State>> = states
            .filter(|(_, state)| !state.kind.is_history())
            .map(|(handle, _)| handle)
            .collect();
        self.chance.pick(&all).unwrap_or(Handle::at(0))
    }

    /// An expression that is an integer, or has no value.
    pub(super) fn int(&mut self, depth: usize) -> Expression {
        let kind = match self.chance.below(if depth == 0 { 2 } else { 6 }) {
            0 => ExpressionKind::Constant(self.int_constant()),
            1 => ExpressionKind::Field(self.field(&Type::Int)),
            2 => {
                let inner = self.int(depth - 1);
                ExpressionKind::Unary(UnaryOperator::Negate, Box::new(inner))
            }
            3 => {
                let inner = self.text(depth - 1);
                ExpressionKind::Unary(UnaryOperator::Size, Box::new(inner))
            }
            _ => {
                let operator = [
                    BinaryOperator::Add,
                    BinaryOperator::Add,
                    BinaryOperator::Subtract,
                    BinaryOperator::Multiply,
                    BinaryOperator::Divide,
                    BinaryOperator::Remainder,
                ][self.chance.below(6)];
                ExpressionKind::Binary(
                    operator,
                    Box::new([self.int(depth - 1), self.int(depth - 1)]),
                )
            }
        };
        self.expression(kind)
    }

    /// An expression that is a text, or has no value.
    pub(super) fn text(&mut self, depth: usize) -> Expression {
        let kind = match self.chance.below(if depth == 0 { 2 } else { 3 }) {
            0 => ExpressionKind::Constant(self.text_constant()),
            1 => ExpressionKind::Field(self.field(&Type::Text)),
            _ => {
                let operands = [self.text(depth - 1), self.text(depth - 1)];
                ExpressionKind::Binary(BinaryOperator::Add, Box::new(operands))
            }
        };
        self.expression(kind)
    }
}
