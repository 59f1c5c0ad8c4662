//! A machine in words: what its rows and their metadata say to a person.
//!
//! Everything comes from the table, so that a spec and the table that was built from it read the same.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use statemark_runtime::{
    ActionId, Constant, EventId, EventKind, Instruction, Operator, StateId, StateKind, Table,
    TransitionId, Verdict,
};

/// The event that a name which the machine doesn't have stands for (`safe_next`).
pub(crate) const UNKNOWN_EVENT: &str = "error.unknown_event";

/// What hosts were left to read: titles, instructions, tools, limits.
pub(crate) type Meta = Map<String, Value>;

/// A JSON object of a table; empty where there is none.
pub(crate) fn meta(table: &Table, text: Option<statemark_runtime::TextId>) -> Meta {
    let text = text.map_or("", |text| table.text(text));
    serde_json::from_str(text).unwrap_or_default()
}

/// What hosts may read about a state.
pub(crate) fn state_meta(table: &Table, state: StateId) -> Meta {
    meta(table, table.state(state).and_then(|row| row.metadata))
}

/// What hosts may read about a transition.
pub(crate) fn transition_meta(table: &Table, transition: TransitionId) -> Meta {
    meta(
        table,
        table.transition(transition).and_then(|row| row.metadata),
    )
}

/// A text among the metadata.
pub(crate) fn text<'m>(meta: &'m Meta, key: &str) -> Option<&'m str> {
    meta.get(key).and_then(Value::as_str)
}

/// What hosts may read about the machine.
pub(crate) fn machine_meta(table: &Table) -> Meta {
    table
        .metadata()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The name of a state; one that stands for a `[*]` is called `[*]`.
pub(crate) fn state_name(table: &Table, state: StateId) -> String {
    if is_implied(table, state) {
        "[*]".to_owned()
    } else {
        table.state_name(state).to_owned()
    }
}

fn is_implied(table: &Table, state: StateId) -> bool {
    table.state(state).is_some_and(|row| {
        row.kind == StateKind::Final && meta(table, row.metadata).contains_key("implied")
    })
}

/// A state as records name it: by its id for programs; people read also that it stands for a `[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    id: String,
    is_implied: bool,
}

impl Place {
    /// The place of a state.
    pub(crate) fn of(table: &Table, state: StateId) -> Self {
        Self {
            id: table.state_name(state).to_owned(),
            is_implied: is_implied(table, state),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_implied {
            write!(out, "[*] ({})", self.id)
        } else {
            out.write_str(&self.id)
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id)
    }
}

/// Whether a person has to say yes before the transition is taken. Hosts see to it; the machine doesn't wait.
pub(crate) fn needs_approval(meta: &Meta) -> bool {
    meta.get("requires_approval").and_then(Value::as_bool) == Some(true)
}

/// How an ended machine ended, or `None` for a state that ends nothing.
pub(crate) fn verdict(table: &Table, state: StateId) -> Option<&'static str> {
    let row = table.state(state)?;
    match (row.kind, row.verdict) {
        (StateKind::Final, Verdict::Success) => Some("success"),
        (StateKind::Final, Verdict::Failure) => Some("failure"),
        _ => None,
    }
}

/// Where a compound state begins.
pub(crate) fn initial(table: &Table, state: StateId) -> Option<StateId> {
    let range = &table.state(state)?.initial;
    let index = usize::try_from(range.start).ok()?;
    let targets = &table.sections().targets;
    targets.get(index).copied().filter(|_| !range.is_empty())
}

/// The events that trigger a transition: `passed`, `a or b`; what moves by itself says so.
pub(crate) fn trigger(table: &Table, transition: TransitionId) -> String {
    let events = table.triggers(transition);
    if events.is_empty() {
        return "(by itself)".to_owned();
    }
    let names: Vec<String> = events
        .iter()
        .map(|&event| event_name(table, event))
        .collect();
    names.join(" or ")
}

/// The name of an event for people.
pub(crate) fn event_name(table: &Table, event: EventId) -> String {
    let name = table.event_name(event);
    let is_internal = table
        .event(event)
        .is_some_and(|row| row.kind == EventKind::Internal);
    match name.strip_prefix("done.state.") {
        Some(state) if is_internal => format!("({state} is done)"),
        _ if name == UNKNOWN_EVENT => "(any unknown event)".to_owned(),
        _ => name.to_owned(),
    }
}

/// The states that a transition leads to, or `None` for one that only acts.
pub(crate) fn target(table: &Table, transition: TransitionId) -> Option<String> {
    let targets = table.targets(transition);
    let names: Vec<String> = targets
        .iter()
        .map(|&state| state_name(table, state))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The names of actions.
pub(crate) fn actions(table: &Table, ids: &[ActionId]) -> Vec<String> {
    ids.iter()
        .map(|&id| table.action_name(id).to_owned())
        .collect()
}

/// The names of the actions of a transition.
pub(crate) fn transition_actions(table: &Table, transition: TransitionId) -> Vec<String> {
    table
        .transition(transition)
        .map(|row| actions(table, table.calls(&row.calls)))
        .unwrap_or_default()
}

/// The guard of a transition as an expression, or `None` without one.
pub(crate) fn guard(table: &Table, transition: TransitionId) -> Option<String> {
    let code = table.guard(transition);
    (!code.is_empty()).then(|| expression(table, code).text)
}

/// A transition as its author would write it: `planning --> implementing : ready [steps > 0] / plan`.
pub(crate) fn statement(table: &Table, transition: TransitionId) -> String {
    let Some(row) = table.transition(transition) else {
        return String::new();
    };
    let source = state_name(table, row.source);
    let mut text = match target(table, transition) {
        Some(target) => format!("{source} --> {target} : "),
        None => format!("{source} : "),
    };
    let mut parts = Vec::new();
    if !table.triggers(transition).is_empty() {
        let events = table.triggers(transition).iter();
        let names: Vec<&str> = events.map(|&event| table.event_name(event)).collect();
        parts.push(names.join(", "));
    }
    parts.extend(guard(table, transition).map(|guard| format!("[{guard}]")));
    let actions = transition_actions(table, transition);
    if !actions.is_empty() {
        parts.push(format!("/ {}", actions.join(", ")));
    }
    text.push_str(&parts.join(" "));
    text.trim_end_matches([' ', ':']).to_owned()
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
    Word,
}

impl Part {
    fn within(self, least: Binds) -> String {
        if self.binds < least {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

/// A guard program as an expression.
///
/// A skip leaves a question open until the place that it leads to: what stands between is the other side of `&&` or `||`.
/// Programs of other compilers may jump otherwise; of them this shows the order of the questions.
fn expression(table: &Table, code: &[Instruction]) -> Part {
    let mut open: Vec<(usize, Binds, Part)> = Vec::new();
    let mut current: Option<Part> = None;
    let truth = |value: bool| Part {
        text: value.to_string(),
        binds: Binds::Word,
    };
    for (at, instruction) in code.iter().enumerate() {
        current = closed(&mut open, current, at);
        match instruction {
            Instruction::Ask(guard) => {
                current = Some(Part {
                    text: table.guard_name(*guard).to_owned(),
                    binds: Binds::Word,
                });
            }
            Instruction::Compare(field, operator, range) => {
                let constants = table.constants(range).iter();
                let constants: Vec<String> = constants.map(|one| constant(table, one)).collect();
                current = Some(comparison(table.field_name(*field), *operator, &constants));
            }
            Instruction::Not => {
                let inner = current.take().unwrap_or_else(|| truth(true));
                current = Some(Part {
                    text: format!("!{}", inner.within(Binds::Word)),
                    binds: Binds::Word,
                });
            }
            Instruction::SkipIfFalse(distance) | Instruction::SkipIfTrue(distance) => {
                let binds = match instruction {
                    Instruction::SkipIfFalse(_) => Binds::And,
                    _ => Binds::Or,
                };
                let left = current.take().unwrap_or_else(|| truth(true));
                open.push((at + 1 + usize::from(*distance), binds, left));
            }
            _ => {}
        }
    }
    closed(&mut open, current, code.len()).unwrap_or_else(|| truth(true))
}

/// Closes the questions that end at a place, the innermost first.
fn closed(open: &mut Vec<(usize, Binds, Part)>, current: Option<Part>, at: usize) -> Option<Part> {
    let mut current = current;
    while let Some((_, binds, left)) = open.pop_if(|(end, ..)| *end <= at) {
        let Some(right) = current else {
            current = Some(left);
            continue;
        };
        let word = if binds == Binds::And { "&&" } else { "||" };
        current = Some(Part {
            text: format!("{} {word} {}", left.within(binds), right.within(binds)),
            binds,
        });
    }
    current
}

fn comparison(field: &str, operator: Operator, constants: &[String]) -> Part {
    let first = constants.first().map_or("", String::as_str);
    let infix = |sign: &str| Part {
        text: format!("{field} {sign} {first}"),
        binds: Binds::Comparison,
    };
    let word = |text: String| Part {
        text,
        binds: Binds::Word,
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
        Operator::Contains => word(format!("{field}.contains({first})")),
        Operator::Exists => word(format!("has({field})")),
        Operator::NotExists => word(format!("!has({field})")),
        other => infix(other.name()),
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
