//! Widening of types to fit every assignment, event and use.
//!
//! In the end, no assignment and no event's data breaks a type's promise, and typed fields support every use.

use super::{Layout, Member, Shape, inside};
use crate::arena::Handle;
use crate::ir::{
    ActionKind, BinaryOperator, Expression, ExpressionKind, Field, Machine, Operator, UnaryOperator,
};

impl Layout {
    /// Widens all fields to a fixed point.
    ///
    /// Each round but the last widens a field, and a field can be widened only a few times.
    pub(super) fn widen_all(&mut self, machine: &Machine) {
        let mut uses = Uses::default();
        for (_, transition) in machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                uses.operand(&guard.value);
            }
        }
        for (_, action) in machine.actions.iter() {
            match &action.kind {
                ActionKind::If { guard, .. } => uses.operand(guard),
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
            for &field in &uses.items {
                let path = path(machine, field);
                let is_list = self.is_present(path) && matches!(self.shape(path), Shape::List(_));
                let usage = if is_list { Use::Items } else { Use::Whole };
                self.widen(path, &usage);
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
                    // A compound value has Rust types of its own in each place.
                    let value = if value.is_plain() { value } else { Shape::Free };
                    self.widen(path(machine, assign.field), &Use::Assigned(value));
                }
            }
            if (&self.members, &self.payloads) == (&before.0, &before.1) {
                return;
            }
        }
    }

    /// Widens fields to the event data that is merged into them.
    fn merge_payloads(&mut self) {
        for payload in &self.payloads {
            for field in &payload.layout.members {
                let is_merged = self.merges(payload.event, &field.name);
                let mut own = self.members.iter_mut();
                if let Some(own) = own.find(|own| own.name == field.name)
                    && is_merged
                {
                    let shape = std::mem::replace(&mut own.shape, Shape::Free);
                    own.shape = shape.absorb(&field.shape);
                }
            }
        }
    }

    fn widen(&mut self, path: &str, usage: &Use) {
        if let Some(path) = inside(path) {
            for payload in &mut self.payloads {
                payload.layout.widen(path, usage);
            }
            return;
        }
        let mut keys = path.split('.');
        if let Some(first) = keys.next() {
            widen(&mut self.members, first, keys, usage);
        }
    }
}

/// A use of a field.
enum Use {
    /// An assignment of such a value.
    Assigned(Shape),
    /// The whole value as an operand.
    Whole,
    /// Its items, counted or searched.
    Items,
    /// A computation, for which it matters whether it has a fraction.
    Computed,
}

fn widen<'p>(
    members: &mut [Member],
    key: &str,
    mut keys: impl Iterator<Item = &'p str>,
    usage: &Use,
) -> bool {
    let Some(member) = members.iter_mut().find(|member| member.name == key) else {
        return false;
    };
    let Some(next) = keys.next() else {
        let own = std::mem::replace(&mut member.shape, Shape::Free);
        member.shape = match usage {
            Use::Assigned(value) => own.join(value.clone()),
            Use::Whole if own.is_plain() => own,
            Use::Whole => Shape::Free,
            Use::Items => match own {
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
    // An assignment creates missing objects on its path, without any other field.
    let creates = matches!(usage, Use::Assigned(_));
    let inner = match &mut member.shape {
        Shape::Struct(inner) if !(creates && member.optional) => Some(inner),
        Shape::Nullable(inner) if !creates => match inner.as_mut() {
            Shape::Struct(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    };
    let found = inner.is_some_and(|inner| widen(inner, next, keys, usage));
    if creates && !found {
        member.shape = Shape::Free;
    }
    true
}

fn path(machine: &Machine, field: Handle<Field>) -> &str {
    &machine.fields.at(field).path
}

/// The fields whose uses typed fields may not support.
#[derive(Default)]
struct Uses {
    /// Fields whose whole value is an operand.
    whole: Vec<Handle<Field>>,
    /// Fields whose items are operands.
    items: Vec<Handle<Field>>,
    /// Fields in computations, or in comparisons that depend on the kind of number.
    computed: Vec<Handle<Field>>,
}

impl Uses {
    /// Notes the uses in an assigned value; a field alone is copied.
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
            ExpressionKind::Compare {
                field, operator, ..
            } => {
                if matches!(operator, Operator::Eq | Operator::Neq | Operator::In) {
                    self.computed.push(*field);
                }
            }
            ExpressionKind::Unary(UnaryOperator::Size, inner) => self.items(inner),
            ExpressionKind::Unary(_, inner) => self.number(inner),
            ExpressionKind::Not(inner) | ExpressionKind::Among(inner, _) => self.operand(inner),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
                parts.iter().for_each(|part| self.operand(part));
            }
            ExpressionKind::Binary(BinaryOperator::In, operands) => {
                let [left, right] = operands.as_ref();
                self.operand(left);
                self.items(right);
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

    /// Notes the uses in a list whose items are counted or searched.
    ///
    /// A list may keep its type then; an object may not.
    fn items(&mut self, expression: &Expression) {
        match expression.kind {
            ExpressionKind::Field(field) => self.items.push(field),
            _ => self.operand(expression),
        }
    }
}
