//! Expressions as text, with no more parentheses than their operators need.

use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Machine, Operator, UnaryOperator,
};

/// The precedence of an expression's operator in CEL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Relation,
    Sum,
    Product,
    Prefix,
    Value,
}

/// Formats an expression as its author would write it.
pub(super) fn expression_text(machine: &Machine, expression: &Expression) -> String {
    let mut text = String::new();
    write(machine, expression, &mut text);
    text
}

fn level(expression: &Expression) -> Level {
    use BinaryOperator as Op;
    match &expression.kind {
        ExpressionKind::Or(_) => Level::Or,
        ExpressionKind::And(_) => Level::And,
        ExpressionKind::Not(_) | ExpressionKind::Unary(UnaryOperator::Negate, _) => Level::Prefix,
        ExpressionKind::Among(..) => Level::Relation,
        ExpressionKind::Compare { operator, .. } => match operator {
            Operator::NotExists => Level::Prefix,
            Operator::Exists | Operator::Contains => Level::Value,
            _ => Level::Relation,
        },
        ExpressionKind::Binary(operator, _) => match operator {
            Op::Add | Op::Subtract => Level::Sum,
            Op::Multiply | Op::Divide | Op::Remainder => Level::Product,
            Op::StartsWith | Op::EndsWith | Op::Contains => Level::Value,
            _ => Level::Relation,
        },
        _ => Level::Value,
    }
}

/// Writes an expression, in parentheses unless it binds at least that tightly.
fn operand(machine: &Machine, expression: &Expression, least: Level, text: &mut String) {
    if level(expression) < least {
        text.push('(');
        write(machine, expression, text);
        text.push(')');
    } else {
        write(machine, expression, text);
    }
}

fn write(machine: &Machine, expression: &Expression, text: &mut String) {
    match &expression.kind {
        ExpressionKind::Constant(constant) => text.push_str(&constant_text(constant)),
        ExpressionKind::Field(field) => text.push_str(&machine.fields.at(*field).path),
        ExpressionKind::Has(field) => {
            text.push_str("has(");
            text.push_str(&machine.fields.at(*field).path);
            text.push(')');
        }
        ExpressionKind::InState(state) => {
            let id = machine.states.at(*state).id.as_str();
            text.push_str("in_state(");
            text.push_str(&quoted(id));
            text.push(')');
        }
        ExpressionKind::Ask(host) => text.push_str(&machine.guards.at(*host).name),
        ExpressionKind::Compare {
            field,
            operator,
            constants,
        } => text.push_str(&comparison(
            &machine.fields.at(*field).path,
            *operator,
            constants,
        )),
        ExpressionKind::Not(inner) => prefix(machine, '!', inner, text),
        ExpressionKind::And(parts) => list(machine, parts, " && ", Level::Relation, text),
        ExpressionKind::Or(parts) => list(machine, parts, " || ", Level::And, text),
        ExpressionKind::Unary(UnaryOperator::Size, inner) => {
            text.push_str("size(");
            write(machine, inner, text);
            text.push(')');
        }
        ExpressionKind::Unary(_, inner) => prefix(machine, '-', inner, text),
        ExpressionKind::Binary(operator, operands) => {
            let [left, right] = operands.as_ref();
            binary(machine, *operator, left, right, text);
        }
        ExpressionKind::Among(inner, constants) => {
            operand(machine, inner, Level::Sum, text);
            let constants: Vec<String> = constants.iter().map(constant_text).collect();
            text.push_str(" in [");
            text.push_str(&constants.join(", "));
            text.push(']');
        }
    }
}

/// Writes `!a` or `-a`.
///
/// A sign may be repeated, but `!` may not precede `-`; before a number, `-` would become part of it.
fn prefix(machine: &Machine, sign: char, inner: &Expression, text: &mut String) {
    text.push(sign);
    let repeats = matches!(
        (&inner.kind, sign),
        (ExpressionKind::Not(_), '!') | (ExpressionKind::Unary(UnaryOperator::Negate, _), '-')
    );
    let is_number = matches!(
        inner.kind,
        ExpressionKind::Constant(Constant::Int(_) | Constant::Float(_))
    );
    if repeats {
        write(machine, inner, text);
    } else if is_number {
        text.push('(');
        write(machine, inner, text);
        text.push(')');
    } else {
        operand(machine, inner, Level::Value, text);
    }
}

fn list(machine: &Machine, parts: &[Expression], sign: &str, least: Level, text: &mut String) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push_str(sign);
        }
        operand(machine, part, least, text);
    }
}

fn binary(
    machine: &Machine,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    text: &mut String,
) {
    use BinaryOperator as Op;
    let (left_level, right_level) = match operator {
        Op::Add | Op::Subtract => (Level::Sum, Level::Product),
        Op::Multiply | Op::Divide | Op::Remainder => (Level::Product, Level::Prefix),
        // The bounds of a field's schema, which are around the author's expression.
        Op::AtLeast | Op::AtMost => return write(machine, left, text),
        Op::StartsWith | Op::EndsWith | Op::Contains => {
            operand(machine, left, Level::Value, text);
            text.push('.');
            text.push_str(operator.name());
            text.push('(');
            write(machine, right, text);
            text.push(')');
            return;
        }
        _ => (Level::Sum, Level::Sum),
    };
    operand(machine, left, left_level, text);
    text.push(' ');
    text.push_str(operator.name());
    text.push(' ');
    operand(machine, right, right_level, text);
}

/// Formats a definition's comparison as an expression that reads alike.
fn comparison(field: &str, operator: Operator, constants: &[Constant]) -> String {
    let values: Vec<String> = constants.iter().map(constant_text).collect();
    let first = values.first().map_or("", String::as_str);
    match operator {
        Operator::Eq => format!("{field} == {first}"),
        Operator::Neq => format!("{field} != {first}"),
        Operator::Gt => format!("{field} > {first}"),
        Operator::Gte => format!("{field} >= {first}"),
        Operator::Lt => format!("{field} < {first}"),
        Operator::Lte => format!("{field} <= {first}"),
        Operator::In => format!("{field} in [{}]", values.join(", ")),
        Operator::Contains => format!("{field}.contains({first})"),
        Operator::Exists => format!("has({field})"),
        _ => format!("!has({field})"),
    }
}

/// Formats a constant as in an expression.
fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) if *value > i128::from(i64::MAX) => format!("{value}u"),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Text(text) => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
