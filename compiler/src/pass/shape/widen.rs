//! Widens shapes until no assignment and no event's data breaks what they promise, and until every use of them is one that
//! typed fields have.

use super::{Layout, Member, Shape, inside};
use crate::arena::Handle;
use crate::ir::{
    ActionKind, BinaryOperator, Expression, ExpressionKind, Field, Guard, Machine, Operator,
    UnaryOperator,
};

impl Layout {
    /// Widens. Each round widens a field or is the last, and a field can be widened a few times.
    pub(super) fn settle(&mut self, machine: &Machine) {
        let mut uses = Uses::default();
        for (_, transition) in machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                uses.guard(&guard.value);
            }
        }
        for (_, action) in machine.actions.iter() {
            match &action.kind {
                ActionKind::If { guard, .. } => uses.guard(guard),
                ActionKind::Assign(assigns) => {
                    assigns.iter().for_each(|assign| uses.value(&assign.value));
                }
                _ => {}
            }
        }
        loop {
            let before = (self.members.clone(), self.payloads.clone());
            self.merge_payloads();
            for &field in &uses.whole {
                self.widen(path(machine, field), &Use::Whole);
            }
            for &field in &uses.listed {
                let path = path(machine, field);
                let is_there = self.is_present(path) && matches!(self.shape(path), Shape::List(_));
                let of = if is_there { Use::Listed } else { Use::Whole };
                self.widen(path, &of);
            }
            for &field in &uses.computed {
                self.widen(path(machine, field), &Use::Computed);
            }
            for (_, action) in machine.actions.iter() {
                let ActionKind::Assign(assigns) = &action.kind else {
                    continue;
                };
                for assign in assigns {
                    let value = self.value(machine, &assign.value);
                    // What has others inside has types of its own where it stands.
                    let value = if value.is_plain() { value } else { Shape::Free };
                    self.widen(path(machine, assign.field), &Use::Assigned(value));
                }
            }
            if (&self.members, &self.payloads) == (&before.0, &before.1) {
                return;
            }
        }
    }

    /// Makes room for the data of events.
    fn merge_payloads(&mut self) {
        let data = self.payloads.iter();
        for field in data.flat_map(|payload| &payload.layout.members) {
            let mut own = self.members.iter_mut();
            if let Some(own) = own.find(|own| own.name == field.name)
                && self.merge.includes(&field.name)
            {
                let shape = std::mem::replace(&mut own.shape, Shape::Free);
                own.shape = shape.absorb(&field.shape);
            }
        }
    }

    fn widen(&mut self, path: &str, of: &Use) {
        if let Some(path) = inside(path) {
            for payload in &mut self.payloads {
                payload.layout.widen(path, of);
            }
            return;
        }
        let mut keys = path.split('.');
        if let Some(first) = keys.next() {
            widen(&mut self.members, first, keys, of);
        }
    }
}

/// What is done with a field.
enum Use {
    /// It gets such a value.
    Assigned(Shape),
    /// An operator takes all of it.
    Whole,
    /// Its items are counted or looked through.
    Listed,
    /// It matters whether it has a fraction.
    Computed,
}

fn widen<'p>(
    members: &mut [Member],
    key: &str,
    mut keys: impl Iterator<Item = &'p str>,
    of: &Use,
) -> bool {
    let Some(member) = members.iter_mut().find(|member| member.name == key) else {
        return false;
    };
    let Some(next) = keys.next() else {
        let own = std::mem::replace(&mut member.shape, Shape::Free);
        member.shape = match of {
            Use::Assigned(value) => own.join(value.clone()),
            Use::Whole if own.is_plain() => own,
            Use::Whole => Shape::Free,
            Use::Listed => match own {
                Shape::List(items) if items.is_plain() => Shape::List(items),
                own if own.is_plain() => own,
                _ => Shape::Free,
            },
            Use::Computed => match own {
                Shape::Number => Shape::Free,
                Shape::Nullable(inner) if *inner == Shape::Number => Shape::Free,
                own => own,
            },
        };
        return true;
    };
    // Objects are made on the way where there are none, and with no other field.
    let makes = matches!(of, Use::Assigned(_));
    let inner = match &mut member.shape {
        Shape::Struct(inner) if !(makes && member.optional) => Some(inner),
        Shape::Nullable(inner) if !makes => match inner.as_mut() {
            Shape::Struct(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    };
    let found = inner.is_some_and(|inner| widen(inner, next, keys, of));
    if makes && !found {
        member.shape = Shape::Free;
    }
    true
}

fn path(machine: &Machine, field: Handle<Field>) -> &str {
    &machine.fields.at(field).path
}

/// The fields of which more is read than typed fields give.
#[derive(Default)]
struct Uses {
    /// All of the value is an operand.
    whole: Vec<Handle<Field>>,
    /// Its items are operands.
    listed: Vec<Handle<Field>>,
    /// It is computed with, or compared as its kind alone is.
    computed: Vec<Handle<Field>>,
}

impl Uses {
    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Compare {
                field, operator, ..
            } => {
                let by_kind = matches!(operator, Operator::Eq | Operator::Neq | Operator::In);
                if by_kind {
                    self.computed.push(*field);
                }
            }
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().for_each(|part| self.guard(part));
            }
            Guard::Not(inner) => self.guard(inner),
            Guard::Expression(expression) => self.operand(expression),
            Guard::Ask(_) => {}
        }
    }

    /// A value that is assigned: a field alone is copied.
    fn value(&mut self, expression: &Expression) {
        if let ExpressionKind::Field(field) = expression.kind {
            self.whole.push(field);
            return;
        }
        self.operand(expression);
    }

    fn operand(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Field(field) => self.whole.push(*field),
            ExpressionKind::Unary(UnaryOperator::Size, inner) => self.listed(inner),
            ExpressionKind::Unary(_, inner) => self.number(inner),
            ExpressionKind::Not(inner) | ExpressionKind::Among(inner, _) => self.operand(inner),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
                parts.iter().for_each(|part| self.operand(part));
            }
            ExpressionKind::Binary(BinaryOperator::In, operands) => {
                let [left, right] = operands.as_ref();
                self.operand(left);
                self.listed(right);
            }
            ExpressionKind::Binary(operator, operands) if operator.is_arithmetic() => {
                operands.iter().for_each(|operand| self.number(operand));
            }
            ExpressionKind::Binary(_, operands) => {
                operands.iter().for_each(|operand| self.operand(operand));
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::InState(_)
            | ExpressionKind::Ask(_) => {}
        }
    }

    fn number(&mut self, expression: &Expression) {
        if let ExpressionKind::Field(field) = expression.kind {
            self.computed.push(field);
        }
        self.operand(expression);
    }

    /// A list may stay what it is where its items are counted or looked through; an object may not.
    fn listed(&mut self, expression: &Expression) {
        match expression.kind {
            ExpressionKind::Field(field) => self.listed.push(field),
            _ => self.operand(expression),
        }
    }
}
