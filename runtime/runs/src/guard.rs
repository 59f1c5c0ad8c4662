//! Guards explained: the facts that one reads, and the parts that keep it from being true.
//!
//! A guard is true or not; who is kept by one wants to know by which part. Its program is an expression, each part of which
//! can be evaluated by itself, as the machine evaluates it: of `a && b` those parts decide that are false, of `a || b` all,
//! of `!a` what makes `a` true.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{
    Constant, FieldId, GuardId, Instruction, Operator, Table, TransitionId, operands, spell,
};

/// Most characters of a value in a sentence. Unit: characters.
///
/// Why: a sentence names it, and a field may hold a document.
const MAX_CHARACTERS: usize = 60;

/// A machine whose guards can be evaluated in parts.
pub trait Evaluator {
    /// Reports whether a range of the table's code is true.
    fn holds(&mut self, code: &Range<u32>) -> bool;

    /// Reports whether a range of the table's code would be true with these claims besides.
    fn holds_claiming(&mut self, code: &Range<u32>, claims: &[GuardId]) -> bool;

    /// Returns the value of a field; none if it is absent.
    fn value(&self, field: FieldId) -> Option<Value>;

    /// Reports whether a host answers guards that have no expression; else they are never true.
    fn has_host(&self) -> bool {
        false
    }
}

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
    /// Returns the fact in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.value {
            Some(value) => format!("`{}` is {}", self.field, shortened(&value.to_string())),
            None => format!("`{}` is absent", self.field),
        }
    }
}

/// A part of a guard that keeps it from being true.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmet {
    /// The part, as its author would write it.
    pub part: String,
    /// True if it is true and must not be; else it isn't and has to be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
    /// The facts that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// True if the host would have to answer it: it has no expression.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_asked: bool,
    /// True if the sender would have to claim it, or must not: nothing defines it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_claim: bool,
    /// The state that has to be active, if that is what it asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
}

impl Unmet {
    /// Reports whether a field that it reads is absent.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.facts.iter().any(|fact| fact.value.is_none())
    }

    /// Returns the part and its facts in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let part = &self.part;
        if self.is_asked {
            return format!("`{part}` has no expression, so it is never true");
        }
        if self.is_claim {
            let verdict = match self.holds {
                true => "is claimed and must not be",
                false => "isn't claimed",
            };
            return format!("`{part}` {verdict}");
        }
        let undecided = !self.holds && self.is_undecided();
        let verdict = match (self.holds, undecided) {
            (true, _) => "is true and must not be",
            (false, true) if !part.contains("has(") => "can't be decided",
            (false, _) => "is false",
        };
        let facts: Vec<String> = self.facts.iter().map(Fact::describe).collect();
        let is_the_fact =
            matches!(self.facts.as_slice(), [fact] if fact.field == *part && !undecided);
        if facts.is_empty() || is_the_fact {
            return format!("`{part}` {verdict}");
        }
        format!("`{part}` {verdict} ({})", facts.join(", "))
    }
}

/// A question of a guard that isn't made of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The question, as its author would write it.
    pub text: String,
    /// The field, the operator and the operand of a comparison, as definitions write it.
    pub comparison: Option<(String, &'static str, Value)>,
}

/// Returns the questions of a transition's guard, in order; none where it has no guard.
pub(crate) fn questions(table: &Table, transition: TransitionId) -> Vec<Question> {
    let mut questions = Vec::new();
    collect(table, table.guard(transition), &mut questions);
    questions
}

fn collect(table: &Table, code: &[Instruction], questions: &mut Vec<Question>) {
    let comparison = match code {
        [] => return,
        [
            Instruction::All(_) | Instruction::Any(_) | Instruction::Not,
            ..,
        ] => {
            for part in operands(code) {
                collect(table, code.get(part).unwrap_or_default(), questions);
            }
            return;
        }
        [Instruction::Compare(field, operator, range)] => {
            let constants = table.constants(range).iter();
            let mut values: Vec<Value> = constants.map(|it| constant(table, it)).collect();
            let value = match operator {
                Operator::In => Value::Array(values),
                _ => values.pop().unwrap_or_default(),
            };
            Some((table.field_name(*field).to_owned(), operator.name(), value))
        }
        _ => None,
    };
    let question = Question {
        text: spell(code, table),
        comparison,
    };
    if !questions.contains(&question) {
        questions.push(question);
    }
}

/// Returns a constant of a table as JSON.
fn constant(table: &Table, constant: &Constant) -> Value {
    match constant {
        Constant::Bool(value) => Value::from(*value),
        Constant::Int(value) => match i64::try_from(*value) {
            Ok(small) => Value::from(small),
            Err(_) => Value::from(u64::try_from(*value).unwrap_or(u64::MAX)),
        },
        Constant::Float(value) => Value::from(*value),
        Constant::Text(text) => Value::from(table.text(*text)),
        _ => Value::Null,
    }
}

/// Returns the facts that the guard of a transition reads, each field once.
pub(crate) fn facts(
    table: &Table,
    transition: TransitionId,
    evaluator: &impl Evaluator,
) -> Vec<Fact> {
    read(table, table.guard(transition), evaluator)
}

/// Returns the parts of the guard of a transition that keep it from being true.
pub(crate) fn unmet(
    table: &Table,
    transition: TransitionId,
    evaluator: &mut impl Evaluator,
) -> Vec<Unmet> {
    let guard = table
        .transition(transition)
        .filter(|row| !row.guard.is_empty());
    let Some(row) = guard else {
        return Vec::new();
    };
    let mut blame = Blame {
        table,
        evaluator,
        found: Vec::new(),
    };
    blame.add(table.guard(transition), row.guard.start, true);
    blame.found
}

/// Returns the claims that alone would make the guard of a transition true.
///
/// None if it takes something else besides, or nothing would.
pub(crate) fn opening_claims(
    table: &Table,
    transition: TransitionId,
    unmet: &[Unmet],
    evaluator: &mut impl Evaluator,
) -> Vec<String> {
    let wanted = |text: &str| {
        let mut parts = unmet.iter();
        parts.any(|it| it.is_claim && !it.holds && it.part == text)
    };
    let claims: Vec<(GuardId, &str)> = table.claims().filter(|(_, text)| wanted(text)).collect();
    let guards: Vec<GuardId> = claims.iter().map(|(guard, _)| *guard).collect();
    let opens = |evaluator: &mut dyn FnMut(&Range<u32>) -> bool| {
        let row = table.transition(transition);
        row.is_some_and(|row| evaluator(&row.guard))
    };
    if guards.is_empty() || !opens(&mut |code| evaluator.holds_claiming(code, &guards)) {
        return Vec::new();
    }
    claims
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect()
}

struct Blame<'t, 'e, E> {
    table: &'t Table,
    evaluator: &'e mut E,
    found: Vec<Unmet>,
}

impl<E: Evaluator> Blame<'_, '_, E> {
    /// Adds what keeps an expression from being as it is wanted.
    ///
    /// `begin` is its place in the table's code.
    fn add(&mut self, code: &[Instruction], begin: u32, wanted: bool) {
        let at = |offset: usize| begin.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX));
        if self.evaluator.holds(&(begin..at(code.len()))) == wanted {
            return;
        }
        let parts = operands(code);
        let is_question = |part: &Range<usize>| !is_logic(code.get(part.start));
        let wanted_of_parts = match code.first() {
            Some(Instruction::All(_) | Instruction::Any(_)) => wanted,
            // `!a` is a question of its own where `a` is one: that it is true tells nothing that `a` doesn't.
            Some(Instruction::Not) if !(wanted && parts.iter().all(is_question)) => !wanted,
            _ => return self.push(code, wanted),
        };
        for part in parts {
            let begin = at(part.start);
            let inner = code.get(part).unwrap_or_default();
            self.add(inner, begin, wanted_of_parts);
        }
    }

    fn push(&mut self, code: &[Instruction], wanted: bool) {
        let asked = match code {
            [Instruction::Ask(guard)] => Some(*guard),
            _ => None,
        };
        let claim = asked.and_then(|guard| self.table.claim_text(guard));
        let unmet = Unmet {
            part: claim.map_or_else(|| spell(code, self.table), str::to_owned),
            holds: !wanted,
            facts: read(self.table, code, self.evaluator),
            is_asked: wanted && asked.is_some() && claim.is_none() && !self.evaluator.has_host(),
            is_claim: claim.is_some(),
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
}

/// Reports whether an expression is made of others by logic alone.
const fn is_logic(first: Option<&Instruction>) -> bool {
    matches!(
        first,
        Some(Instruction::All(_) | Instruction::Any(_) | Instruction::Not)
    )
}

/// Returns the facts that some code reads, each field once.
fn read(table: &Table, code: &[Instruction], evaluator: &impl Evaluator) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for instruction in code {
        let (Instruction::Load(field) | Instruction::Has(field) | Instruction::Compare(field, ..)) =
            instruction
        else {
            continue;
        };
        let name = table.field_name(*field);
        if !facts.iter().any(|fact| fact.field == name) {
            facts.push(Fact {
                field: name.to_owned(),
                value: evaluator.value(*field),
            });
        }
    }
    facts
}

fn shortened(text: &str) -> String {
    statemark_text::shorten::shorten(text, MAX_CHARACTERS)
}
