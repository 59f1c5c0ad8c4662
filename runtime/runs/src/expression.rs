//! Programs of a table as expressions.
//!
//! A program is read back as its author would have written it: each instruction takes the texts of its operands from a
//! stack. A skip leaves a question open until the place that it leads to: what stands between is the other side of `&&` or
//! `||`. Programs of other compilers may jump otherwise; of them this shows the order of the questions.
//!
//! Every part is code without a gap, so that it can be asked by itself: that is how `guard.rs` finds what a guard fails by.

use std::ops::Range;

use serde_json::Value;
use statemark_runtime::{BinaryOperator, Constant, Instruction, Operator, Table, UnaryOperator};

/// Returns a program as an expression.
#[must_use]
pub fn text(table: &Table, code: &[Instruction]) -> String {
    read(table, code).text
}

/// Returns a program as an expression with its parts.
pub(crate) fn read(table: &Table, code: &[Instruction]) -> Part {
    let mut reader = Reader {
        table,
        stack: Vec::new(),
        open: Vec::new(),
        begin: 0,
    };
    for (at, instruction) in code.iter().enumerate() {
        reader.close(at);
        reader.read(at, instruction);
    }
    reader.close(code.len());
    reader.pop()
}

/// A part of an expression.
pub(crate) struct Part {
    /// As its author would write it.
    pub(crate) text: String,
    /// Its instructions in the program.
    pub(crate) code: Range<usize>,
    /// Its operator and operands.
    pub(crate) parts: Parts,
    binds: Binds,
}

/// The logic of a part.
pub(crate) enum Parts {
    /// A question of its own.
    None,
    /// `!`.
    Not(Box<Part>),
    /// `&&`.
    And(Box<(Part, Part)>),
    /// `||`.
    Or(Box<(Part, Part)>),
}

/// The precedence of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Prefix,
    Word,
}

impl Part {
    fn word(text: impl Into<String>) -> Self {
        Self::new(text.into(), Binds::Word)
    }

    const fn new(text: String, binds: Binds) -> Self {
        Self {
            text,
            code: 0..0,
            parts: Parts::None,
            binds,
        }
    }

    fn within(&self, least: Binds) -> String {
        if self.binds < least {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

struct Reader<'t> {
    table: &'t Table,
    stack: Vec<Part>,
    /// Questions with an unread side: its end, the connective, and the first side.
    open: Vec<(usize, Binds, Part)>,
    /// The start of the part that is being read.
    begin: usize,
}

impl Reader<'_> {
    /// Returns the top of the stack; the part that is being read starts where it does.
    fn pop(&mut self) -> Part {
        let part = self.stack.pop().unwrap_or_else(|| Part::word("true"));
        self.begin = self.begin.min(part.code.start);
        part
    }

    /// Joins what ends at a place, the innermost first.
    fn close(&mut self, at: usize) {
        while let Some((_, binds, left)) = self.open.pop_if(|(end, ..)| *end <= at) {
            let Some(right) = self.stack.pop() else {
                self.stack.push(left);
                continue;
            };
            let sign = if binds == Binds::And { "&&" } else { "||" };
            let text = format!("{} {sign} {}", left.within(binds), right.within(binds));
            let code = left.code.start..right.code.end;
            let both = Box::new((left, right));
            let parts = match binds {
                Binds::And => Parts::And(both),
                _ => Parts::Or(both),
            };
            self.stack.push(Part {
                text,
                code,
                parts,
                binds,
            });
        }
    }

    fn read(&mut self, at: usize, instruction: &Instruction) {
        let table = self.table;
        self.begin = at;
        let part = match instruction {
            Instruction::Ask(guard) => Part::word(table.guard_name(*guard)),
            Instruction::Compare(field, operator, range) => {
                let constants = constants(table, range);
                comparison(table.field_name(*field), *operator, &constants)
            }
            Instruction::Not => {
                let inner = self.pop();
                let text = format!("!{}", inner.within(Binds::Prefix));
                Part {
                    parts: Parts::Not(Box::new(inner)),
                    ..Part::new(text, Binds::Prefix)
                }
            }
            Instruction::SkipIfFalse(distance) => return self.skip(at, *distance, Binds::And),
            Instruction::SkipIfTrue(distance) => return self.skip(at, *distance, Binds::Or),
            Instruction::Load(field) => Part::word(table.field_name(*field)),
            Instruction::Has(field) => Part::word(format!("has({})", table.field_name(*field))),
            Instruction::InState(state) => {
                let id = Value::from(table.state_name(*state));
                Part::word(format!("in_state({id})"))
            }
            Instruction::Push(range) => Part::word(constants(table, range).concat()),
            Instruction::Among(range) => {
                let among = constants(table, range).join(", ");
                let text = format!("{} in [{among}]", self.pop().within(Binds::Sum));
                Part::new(text, Binds::Comparison)
            }
            Instruction::Unary(UnaryOperator::Negate) => {
                let text = format!("-{}", self.pop().within(Binds::Prefix));
                Part::new(text, Binds::Prefix)
            }
            Instruction::Unary(operator) => {
                Part::word(format!("{}({})", operator.name(), self.pop().text))
            }
            // Bounds that the compiler puts around what is assigned are a schema's, not the author's.
            Instruction::Binary(BinaryOperator::AtLeast | BinaryOperator::AtMost) => {
                self.pop();
                let value = self.pop();
                Part {
                    code: 0..0,
                    ..value
                }
            }
            Instruction::Binary(operator) => {
                let (right, left) = (self.pop(), self.pop());
                binary(*operator, &left, &right)
            }
            _ => return,
        };
        let code = self.begin..at + 1;
        self.stack.push(Part { code, ..part });
    }

    fn skip(&mut self, at: usize, distance: u16, binds: Binds) {
        let left = self.pop();
        self.open
            .push((at + 1 + usize::from(distance), binds, left));
    }
}

fn binary(operator: BinaryOperator, left: &Part, right: &Part) -> Part {
    let name = operator.name();
    // What the right side has to hold together better than: all operators associate to the left.
    let (binds, tighter) = match operator {
        BinaryOperator::Add | BinaryOperator::Subtract => (Binds::Sum, Binds::Product),
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => {
            (Binds::Product, Binds::Prefix)
        }
        BinaryOperator::StartsWith | BinaryOperator::EndsWith | BinaryOperator::Contains => {
            let left = left.within(Binds::Word);
            return Part::word(format!("{left}.{name}({})", right.text));
        }
        _ => (Binds::Comparison, Binds::Sum),
    };
    let least = match binds {
        Binds::Comparison => Binds::Sum,
        other => other,
    };
    let text = format!("{} {name} {}", left.within(least), right.within(tighter));
    Part::new(text, binds)
}

fn comparison(field: &str, operator: Operator, constants: &[String]) -> Part {
    let first = constants.first().map_or("", String::as_str);
    let infix = |sign: &str| Part::new(format!("{field} {sign} {first}"), Binds::Comparison);
    match operator {
        Operator::Eq => infix("=="),
        Operator::Neq => infix("!="),
        Operator::Gt => infix(">"),
        Operator::Gte => infix(">="),
        Operator::Lt => infix("<"),
        Operator::Lte => infix("<="),
        Operator::In => {
            let among = constants.join(", ");
            Part::new(format!("{field} in [{among}]"), Binds::Comparison)
        }
        Operator::Contains => Part::word(format!("{field}.contains({first})")),
        Operator::Exists => Part::word(format!("has({field})")),
        Operator::NotExists => Part::word(format!("!has({field})")),
        other => infix(other.name()),
    }
}

fn constants(table: &Table, range: &Range<u32>) -> Vec<String> {
    let constants = table.constants(range).iter();
    constants.map(|one| constant(table, one)).collect()
}

/// Returns a constant as JSON.
pub(crate) fn value(table: &Table, constant: &Constant) -> Value {
    match constant {
        Constant::Text(text) => Value::from(table.text(*text)),
        other => serde_json::from_str(&self::constant(table, other)).unwrap_or_default(),
    }
}

fn constant(table: &Table, constant: &Constant) -> String {
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Text(text) => Value::from(table.text(*text)).to_string(),
        _ => "?".to_owned(),
    }
}
