//! What a guard reads, and which of its parts keep it from holding.
//!
//! A guard is true or not; whoever is kept by one wants to know by what. So its program is read back as an expression, and
//! the parts that decide are asked one by one, the same way as the machine asks them: of `a && b` those that are false, of
//! `a || b` both, of `!a` what makes `a` true.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{Instruction, Operator, Table, TransitionId};

use crate::expression::{self, Part, Parts};
use crate::step::Stepper;

/// Most characters of a value in a sentence. Unit: characters. Why: a sentence names it, and a field may hold a document.
const MAX_CHARACTERS: usize = 60;

/// A field that a guard reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// Its path.
    pub field: String,
    /// Its value; none if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Fact {
    /// In words.
    #[must_use]
    pub fn told(&self) -> String {
        match &self.value {
            Some(value) => format!("`{}` is {}", self.field, shortened(&value.to_string())),
            None => format!("`{}` is absent", self.field),
        }
    }
}

/// A part of a guard that keeps it from holding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmet {
    /// The part, as its author would write it.
    pub part: String,
    /// Whether it holds, and must not; else it doesn't, and has to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
    /// What it reads, and what that is now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Whether the host would have to answer it: no expression says when it holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_asked: bool,
    /// The state that has to be active, if that is what it asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
}

impl Unmet {
    /// In words.
    #[must_use]
    pub fn told(&self) -> String {
        let part = &self.part;
        if self.is_asked {
            return format!("no expression says when `{part}` holds, so that it never does");
        }
        let undecided = !self.holds && self.facts.iter().any(|it| it.value.is_none());
        let verdict = match (self.holds, undecided) {
            (true, _) => "is true and must not be",
            (false, true) if !part.contains("has(") => "can't be decided",
            (false, _) => "is false",
        };
        let facts: Vec<String> = self.facts.iter().map(Fact::told).collect();
        let says_so = matches!(self.facts.as_slice(), [fact] if fact.field == *part && !undecided);
        if facts.is_empty() || says_so {
            return format!("`{part}` {verdict}");
        }
        format!("`{part}` {verdict} ({})", facts.join(", "))
    }
}

/// A question of a guard that isn't made of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// As its author would write it.
    pub text: String,
    /// The field, the operator and what it is compared with, if it is one comparison, as definitions write it.
    pub comparison: Option<(String, &'static str, Value)>,
}

/// The questions of the guard of a transition, in order; none where it has no guard.
pub(crate) fn questions(table: &Table, transition: TransitionId) -> Vec<Question> {
    let code = table.guard(transition);
    let mut found = Vec::new();
    if !code.is_empty() {
        ask(table, code, &expression::read(table, code), &mut found);
    }
    found
}

fn ask(table: &Table, code: &[Instruction], part: &Part, found: &mut Vec<Question>) {
    match &part.parts {
        Parts::And(both) | Parts::Or(both) => {
            ask(table, code, &both.0, found);
            ask(table, code, &both.1, found);
        }
        Parts::Not(inner) => ask(table, code, inner, found),
        Parts::None => {
            let comparison = match code.get(part.code.clone()) {
                Some([Instruction::Compare(field, operator, range)]) => {
                    let constants = table.constants(range).iter();
                    let mut values: Vec<Value> =
                        constants.map(|it| expression::value(table, it)).collect();
                    let value = match operator {
                        Operator::In => Value::Array(values),
                        _ => values.pop().unwrap_or_default(),
                    };
                    Some((table.field_name(*field).to_owned(), operator.name(), value))
                }
                _ => None,
            };
            let text = part.text.clone();
            let question = Question { text, comparison };
            if !found.contains(&question) {
                found.push(question);
            }
        }
    }
}

/// What the guard of a transition reads, each field once.
pub(crate) fn facts(table: &Table, transition: TransitionId, stepper: &Stepper<'_>) -> Vec<Fact> {
    read(table, table.guard(transition), stepper)
}

/// The parts of the guard of a transition that keep it from holding.
pub(crate) fn unmet(
    table: &Table,
    transition: TransitionId,
    stepper: &mut Stepper<'_>,
) -> Vec<Unmet> {
    let code = table.guard(transition);
    let Some(row) = table.transition(transition).filter(|_| !code.is_empty()) else {
        return Vec::new();
    };
    let mut blame = Blame {
        table,
        code,
        begin: row.guard.start,
        stepper,
        found: Vec::new(),
    };
    blame.why_not(&expression::read(table, code), true);
    blame.found
}

struct Blame<'t, 's, 'w> {
    table: &'t Table,
    code: &'t [Instruction],
    /// Where the guard begins in the table's code.
    begin: u32,
    stepper: &'s mut Stepper<'w>,
    found: Vec<Unmet>,
}

impl Blame<'_, '_, '_> {
    /// What keeps a part from being as it is wanted.
    fn why_not(&mut self, part: &Part, wanted: bool) {
        if self.holds(part) == wanted {
            return;
        }
        match &part.parts {
            Parts::And(both) | Parts::Or(both) => {
                self.why_not(&both.0, wanted);
                self.why_not(&both.1, wanted);
            }
            // `!a` is a question of its own where `a` is one; that it is true says nothing that `a` doesn't.
            Parts::Not(inner) if !wanted || !matches!(inner.parts, Parts::None) => {
                self.why_not(inner, !wanted);
            }
            _ => self.keep(part, wanted),
        }
    }

    fn keep(&mut self, part: &Part, wanted: bool) {
        let code = self.code.get(part.code.clone()).unwrap_or_default();
        let unmet = Unmet {
            part: part.text.clone(),
            holds: !wanted,
            facts: read(self.table, code, self.stepper),
            is_asked: wanted && matches!(code, [Instruction::Ask(_)]),
            states: match code {
                [Instruction::InState(state)] if wanted => {
                    vec![self.table.state_name(*state).to_owned()]
                }
                _ => Vec::new(),
            },
        };
        if !self.found.contains(&unmet) {
            self.found.push(unmet);
        }
    }

    fn holds(&mut self, part: &Part) -> bool {
        let at = |place: usize| {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            self.begin.saturating_add(place)
        };
        let code: Range<u32> = at(part.code.start)..at(part.code.end);
        self.stepper.holds(&code)
    }
}

/// What some code reads, each field once.
fn read(table: &Table, code: &[Instruction], stepper: &Stepper<'_>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for instruction in code {
        let (Instruction::Load(field) | Instruction::Has(field) | Instruction::Compare(field, ..)) =
            instruction
        else {
            continue;
        };
        let name = table.field_name(*field);
        if facts.iter().any(|fact| fact.field == name) {
            continue;
        }
        let value = stepper
            .machine()
            .map(|machine| machine.host().data().get(*field));
        let datum = value.and_then(|value| value.to_datum().ok());
        facts.push(Fact {
            field: name.to_owned(),
            value: datum.and_then(|datum| serde_json::from_str(&datum.to_string()).ok()),
        });
    }
    facts
}

fn shortened(text: &str) -> String {
    statemark_text::shorten::shorten(text, MAX_CHARACTERS)
}
