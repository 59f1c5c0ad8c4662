//! Programs of a table as expressions.
//!
//! A program is read back as its author would have written it: each instruction takes the texts of its operands from a
//! stack. A skip leaves a question open until the place that it leads to: what stands between is the other side of `&&` or
//! `||`. Programs of other compilers may jump otherwise; of them this shows the order of the questions.

use serde_json::Value;
use statemark_runtime::{BinaryOperator, Constant, Instruction, Operator, Table, UnaryOperator};

/// A program as an expression.
pub(super) fn text(table: &Table, code: &[Instruction]) -> String {
    let mut reader = Reader {
        table,
        stack: Vec::new(),
        open: Vec::new(),
    };
    for (at, instruction) in code.iter().enumerate() {
        reader.close(at);
        reader.read(at, instruction);
    }
    reader.close(code.len());
    reader.pop().text
}

/// A part of an expression.
struct Part {
    text: String,
    binds: Binds,
}

/// How tightly a part holds together.
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
        Self {
            text: text.into(),
            binds: Binds::Word,
        }
    }

    fn within(self, least: Binds) -> String {
        if self.binds < least {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

struct Reader<'t> {
    table: &'t Table,
    stack: Vec<Part>,
    /// Questions whose other side is being read: where it ends, how the sides are joined, and the first side.
    open: Vec<(usize, Binds, Part)>,
}

impl Reader<'_> {
    fn pop(&mut self) -> Part {
        self.stack.pop().unwrap_or_else(|| Part::word("true"))
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
            self.stack.push(Part { text, binds });
        }
    }

    fn read(&mut self, at: usize, instruction: &Instruction) {
        let table = self.table;
        let part = match instruction {
            Instruction::Ask(guard) => Part::word(table.guard_name(*guard)),
            Instruction::Compare(field, operator, range) => {
                let constants = constants(table, range);
                comparison(table.field_name(*field), *operator, &constants)
            }
            Instruction::Not => Part {
                text: format!("!{}", self.pop().within(Binds::Prefix)),
                binds: Binds::Prefix,
            },
            Instruction::SkipIfFalse(distance) => return self.skip(at, *distance, Binds::And),
            Instruction::SkipIfTrue(distance) => return self.skip(at, *distance, Binds::Or),
            Instruction::Load(field) => Part::word(table.field_name(*field)),
            Instruction::Has(field) => Part::word(format!("has({})", table.field_name(*field))),
            Instruction::InState(state) => {
                let id = Value::from(table.state_name(*state));
                Part::word(format!("in_state({id})"))
            }
            Instruction::Push(range) => Part::word(constants(table, range).concat()),
            Instruction::Among(range) => Part {
                text: format!(
                    "{} in [{}]",
                    self.pop().within(Binds::Sum),
                    constants(table, range).join(", ")
                ),
                binds: Binds::Comparison,
            },
            Instruction::Unary(UnaryOperator::Negate) => Part {
                text: format!("-{}", self.pop().within(Binds::Prefix)),
                binds: Binds::Prefix,
            },
            Instruction::Unary(operator) => {
                Part::word(format!("{}({})", operator.name(), self.pop().text))
            }
            Instruction::Binary(operator) => {
                let (right, left) = (self.pop(), self.pop());
                binary(*operator, left, right)
            }
            _ => return,
        };
        self.stack.push(part);
    }

    fn skip(&mut self, at: usize, distance: u16, binds: Binds) {
        let left = self.pop();
        self.open
            .push((at + 1 + usize::from(distance), binds, left));
    }
}

fn binary(operator: BinaryOperator, left: Part, right: Part) -> Part {
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
    Part {
        text: format!("{} {name} {}", left.within(least), right.within(tighter)),
        binds,
    }
}

fn comparison(field: &str, operator: Operator, constants: &[String]) -> Part {
    let first = constants.first().map_or("", String::as_str);
    let infix = |sign: &str| Part {
        text: format!("{field} {sign} {first}"),
        binds: Binds::Comparison,
    };
    match operator {
        Operator::Eq => infix("=="),
        Operator::Neq => infix("!="),
        Operator::Gt => infix(">"),
        Operator::Gte => infix(">="),
        Operator::Lt => infix("<"),
        Operator::Lte => infix("<="),
        Operator::In => Part {
            text: format!("{field} in [{}]", constants.join(", ")),
            binds: Binds::Comparison,
        },
        Operator::Contains => Part::word(format!("{field}.contains({first})")),
        Operator::Exists => Part::word(format!("has({field})")),
        Operator::NotExists => Part::word(format!("!has({field})")),
        other => infix(other.name()),
    }
}

fn constants(table: &Table, range: &std::ops::Range<u32>) -> Vec<String> {
    let constants = table.constants(range).iter();
    constants.map(|one| constant(table, one)).collect()
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
