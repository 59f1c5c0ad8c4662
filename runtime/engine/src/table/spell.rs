//! Programs as text: expressions as their author would write them.
//!
//! They have no more parentheses than operators need.
//!
//! One writer serves all languages that spell expressions alike; what they spell differently is a [`Dialect`]. Bounds that
//! the compiler puts around an assigned value ([`BinaryOperator::AtLeast`]) belong to a schema and aren't written.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::Table;
use super::sections::{Constant, Instruction};
use crate::datum::Datum;
use crate::id::{FieldId, GuardId, StateId, TextId};
use crate::value::{BinaryOperator, Operator, UnaryOperator};

/// The names and quotes of a language.
pub trait Dialect {
    /// Returns the path of a field.
    fn field(&self, field: FieldId) -> String;
    /// Returns the name of a guard that the host answers.
    fn guard(&self, guard: GuardId) -> String;
    /// Returns the question whether a state is active.
    fn in_state(&self, state: StateId) -> String;
    /// Returns the constants of a range in an instruction.
    fn constants(&self, range: &Range<u32>) -> &[Constant];
    /// Returns a text as a literal.
    fn text(&self, text: TextId) -> String;
    /// Returns the name of a comparison, in a language where it must have one.
    fn comparison(&self, _: FieldId, _: Operator, _: &Range<u32>) -> Option<&str> {
        None
    }
}

/// A table's own names, in the language of guards and assignments.
impl Dialect for Table {
    fn field(&self, field: FieldId) -> String {
        self.field_name(field).to_string()
    }

    fn guard(&self, guard: GuardId) -> String {
        self.guard_name(guard).to_string()
    }

    fn in_state(&self, state: StateId) -> String {
        format!("in_state({})", Datum::Text(self.state_name(state).into()))
    }

    fn constants(&self, range: &Range<u32>) -> &[Constant] {
        self.constants(range)
    }

    fn text(&self, text: TextId) -> String {
        Datum::Text(self.text(text).into()).to_string()
    }
}

/// Returns the operands of the expression that a program begins with, as ranges of its instructions.
///
/// ```
/// use statemark_runtime::{FieldId, GuardId, Instruction, operands};
///
/// let code = [
///     Instruction::All(3),
///     Instruction::Not,
///     Instruction::Ask(GuardId::new(0)),
///     Instruction::Load(FieldId::new(0)),
/// ];
/// assert_eq!(operands(&code), [1..3, 3..4]);
/// ```
#[must_use]
pub fn operands(code: &[Instruction]) -> Vec<Range<usize>> {
    let (mut count, end) = match code.first() {
        None => return Vec::new(),
        Some(Instruction::All(length) | Instruction::Any(length)) => {
            (usize::MAX, (1 + usize::from(*length)).min(code.len()))
        }
        Some(other) => (other.operands(), code.len()),
    };
    let mut found = Vec::new();
    let mut at = 1;
    while count > 0 && at < end {
        let next = at + length(code.get(at..).unwrap_or_default());
        found.push(at..next);
        at = next;
        count -= 1;
    }
    found
}

/// Returns how many instructions the expression has that a program begins with: one or more.
fn length(code: &[Instruction]) -> usize {
    let (mut missing, mut at) = (1_usize, 0);
    while missing > 0 {
        missing -= 1;
        match code.get(at) {
            Some(Instruction::All(length) | Instruction::Any(length)) => at += usize::from(*length),
            Some(other) => missing += other.operands(),
            None => break,
        }
        at += 1;
    }
    at.clamp(1, code.len().max(1))
}

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

/// Returns the expression that a program is.
#[must_use]
pub fn spell(code: &[Instruction], dialect: &impl Dialect) -> String {
    let mut speller = Speller {
        dialect,
        out: String::new(),
    };
    speller.write(code);
    speller.out
}

struct Speller<'d, D> {
    dialect: &'d D,
    out: String,
}

impl<D: Dialect> Speller<'_, D> {
    fn level(&self, code: &[Instruction]) -> Level {
        match code.first() {
            Some(Instruction::Any(_)) => Level::Or,
            Some(Instruction::All(_)) => Level::And,
            Some(Instruction::Among(_)) => Level::Relation,
            Some(Instruction::Not | Instruction::Unary(UnaryOperator::Negate)) => Level::Prefix,
            Some(Instruction::Compare(field, operator, range)) => match operator {
                _ if self.dialect.comparison(*field, *operator, range).is_some() => Level::Value,
                Operator::NotExists => Level::Prefix,
                Operator::Exists | Operator::Contains => Level::Value,
                _ => Level::Relation,
            },
            Some(Instruction::Push(range)) => match self.dialect.constants(range).first() {
                Some(Constant::Int(value)) if *value < 0 => Level::Prefix,
                Some(Constant::Float(value)) if value.is_sign_negative() => Level::Prefix,
                _ => Level::Value,
            },
            Some(Instruction::Binary(operator)) => match operator {
                BinaryOperator::AtLeast | BinaryOperator::AtMost => {
                    self.level(code.get(1..).unwrap_or_default())
                }
                other => of_binary(*other).0,
            },
            _ => Level::Value,
        }
    }

    /// Writes an operand, in parentheses unless it binds at least that tightly.
    fn operand(&mut self, code: &[Instruction], least: Level) {
        if self.level(code) < least {
            self.call("", code);
        } else {
            self.write(code);
        }
    }

    /// Writes `name(a)`.
    fn call(&mut self, name: &str, code: &[Instruction]) {
        self.out.push_str(name);
        self.out.push('(');
        self.write(code);
        self.out.push(')');
    }

    fn write(&mut self, code: &[Instruction]) {
        let ranges = operands(code);
        let part = |index: usize| {
            let range = ranges.get(index).cloned();
            range.and_then(|range| code.get(range)).unwrap_or_default()
        };
        let Some(instruction) = code.first() else {
            return self.out.push('?');
        };
        match instruction {
            Instruction::Ask(guard) => self.out.push_str(&self.dialect.guard(*guard)),
            Instruction::Compare(field, operator, range) => {
                self.comparison(*field, *operator, range);
            }
            Instruction::Not => self.prefix('!', part(0)),
            Instruction::All(_) | Instruction::Any(_) => {
                let (sign, least, empty) = match instruction {
                    // `(a && b) && c` is `a && b && c`: both are evaluated from left to right.
                    Instruction::All(_) => (" && ", Level::And, "true"),
                    _ => (" || ", Level::Or, "false"),
                };
                for index in 0..ranges.len() {
                    self.out.push_str(if index > 0 { sign } else { "" });
                    self.operand(part(index), least);
                }
                self.out
                    .push_str(if ranges.is_empty() { empty } else { "" });
            }
            Instruction::Load(field) => self.out.push_str(&self.dialect.field(*field)),
            Instruction::Push(range) => {
                let constant = self.constants(range);
                self.out.push_str(&constant);
            }
            Instruction::Has(field) => {
                self.out
                    .push_str(&format!("has({})", self.dialect.field(*field)));
            }
            Instruction::InState(state) => self.out.push_str(&self.dialect.in_state(*state)),
            Instruction::Among(range) => {
                self.operand(part(0), Level::Sum);
                let constants = self.constants(range);
                self.out.push_str(&format!(" in [{constants}]"));
            }
            Instruction::Unary(UnaryOperator::Negate) => self.prefix('-', part(0)),
            Instruction::Unary(operator) => self.call(operator.name(), part(0)),
            Instruction::Binary(BinaryOperator::AtLeast | BinaryOperator::AtMost) => {
                self.write(part(0));
            }
            Instruction::Binary(operator) => {
                let (level, left, right) = of_binary(*operator);
                self.operand(part(0), left);
                if level == Level::Value {
                    self.call(&format!(".{}", operator.name()), part(1));
                } else {
                    self.out.push_str(&format!(" {} ", operator.name()));
                    self.operand(part(1), right);
                }
            }
        }
    }

    /// Writes `!a` or `-a`.
    /// A sign may be repeated, but `!` may not precede `-`; before a number, `-` would become part of it.
    fn prefix(&mut self, sign: char, inner: &[Instruction]) {
        self.out.push(sign);
        let repeats = matches!(
            (inner.first(), sign),
            (Some(Instruction::Not), '!') | (Some(Instruction::Unary(UnaryOperator::Negate)), '-')
        );
        let is_number = match inner {
            [Instruction::Push(range)] => matches!(
                self.dialect.constants(range).first(),
                Some(Constant::Int(_) | Constant::Float(_))
            ),
            _ => false,
        };
        match (repeats, is_number) {
            (true, _) => self.write(inner),
            (_, true) => self.call("", inner),
            _ => self.operand(inner, Level::Value),
        }
    }

    fn comparison(&mut self, field: FieldId, operator: Operator, range: &Range<u32>) {
        let text = match self.dialect.comparison(field, operator, range) {
            Some(name) => name.to_string(),
            None => {
                let (field, constants) = (self.dialect.field(field), self.constants(range));
                match operator {
                    Operator::Eq => format!("{field} == {constants}"),
                    Operator::Neq => format!("{field} != {constants}"),
                    Operator::Gt => format!("{field} > {constants}"),
                    Operator::Gte => format!("{field} >= {constants}"),
                    Operator::Lt => format!("{field} < {constants}"),
                    Operator::Lte => format!("{field} <= {constants}"),
                    Operator::In => format!("{field} in [{constants}]"),
                    Operator::Contains => format!("{field}.contains({constants})"),
                    Operator::Exists => format!("has({field})"),
                    Operator::NotExists => format!("!has({field})"),
                }
            }
        };
        self.out.push_str(&text);
    }

    fn constants(&self, range: &Range<u32>) -> String {
        let all = self.dialect.constants(range).iter();
        let all: Vec<String> = all.map(|constant| self.constant(constant)).collect();
        all.join(", ")
    }

    fn constant(&self, constant: &Constant) -> String {
        match constant {
            Constant::Null => "null".to_string(),
            Constant::Bool(value) => value.to_string(),
            Constant::Int(value) if i64::try_from(*value).is_err() => format!("{value}u"),
            Constant::Int(value) => value.to_string(),
            Constant::Float(value) => format!("{value:?}"),
            Constant::Text(text) => self.dialect.text(*text),
        }
    }
}

/// Returns the level of an operator, and those that its operands must have at least.
/// That of a method is `Value`.
const fn of_binary(operator: BinaryOperator) -> (Level, Level, Level) {
    match operator {
        BinaryOperator::Add | BinaryOperator::Subtract => (Level::Sum, Level::Sum, Level::Product),
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => {
            (Level::Product, Level::Product, Level::Prefix)
        }
        BinaryOperator::StartsWith | BinaryOperator::EndsWith | BinaryOperator::Contains => {
            (Level::Value, Level::Value, Level::Or)
        }
        // Relations don't chain.
        _ => (Level::Relation, Level::Sum, Level::Sum),
    }
}
