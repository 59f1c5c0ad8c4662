//! A table as text, for people.
//!
//! [`dump`] shows every row, ids and texts resolved, one line each; states are indented as they nest. The text is for
//! reading and comparing; it is no format that anything reads back. Rows that nobody has verified are shown as well: an
//! id that points nowhere shows as `?` and its number.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::sections::{
    ActionKind, Constant, EventKind, Instruction, MergeKind, Sections, StateKind, StateRow,
    TransitionRow, Verdict, list,
};
use super::spell::{Dialect, spell};
use super::verify::is_expression;
use crate::id::{ActionId, EventId, FieldId, GuardId, StateId, TextId, TimerId};
use crate::limits::{MAX_CALLS, MAX_DEPTH};

/// Most entries of a list that are shown; the rest is an ellipsis.
/// Unit: entries. Why: rows may share a list, and in rows that nobody has verified without bound; in verified ones no
/// list of actions is longer.
const MAX_SHOWN: usize = MAX_CALLS;

/// Returns the rows as text: one paragraph for each section that has any, columns aligned.
///
/// ```text
/// machine turnstile
///
/// states
///   0  turnstile   compound  initial locked
///   1    locked    atomic
///   2    unlocked  atomic    entry greet
///
/// transitions
///   0  locked    on coin  to unlocked  do thank
///   1  unlocked  on push  to locked
/// ```
#[must_use]
pub fn dump(sections: &Sections) -> String {
    let names = Names(sections);
    let mut out = format!("machine {}\n", names.text(sections.name));
    if let Some(metadata) = sections.metadata {
        out.push_str(&format!("  metadata {}\n", names.text(metadata)));
    }
    let states = sections
        .states
        .iter()
        .enumerate()
        .map(|(index, row)| state(&names, index, row));
    paragraph(&mut out, "states", states);
    let events = sections.events.iter().map(|row| {
        let kind = match row.kind {
            EventKind::Named => "named",
            EventKind::Internal => "internal",
        };
        vec![
            names.text(row.name),
            kind.to_owned(),
            names.metadata(row.metadata),
        ]
    });
    paragraph(&mut out, "events", events);
    paragraph(
        &mut out,
        "transitions",
        sections
            .transitions
            .iter()
            .map(|row| transition(&names, row)),
    );
    paragraph(
        &mut out,
        "guards",
        sections.guards.iter().map(|&name| vec![names.text(name)]),
    );
    paragraph(
        &mut out,
        "fields",
        sections.fields.iter().map(|&name| vec![names.text(name)]),
    );
    let actions = sections.actions.iter().map(|row| {
        vec![
            names.text(row.name),
            names.action_kind(&row.kind),
            names.metadata(row.metadata),
        ]
    });
    paragraph(&mut out, "actions", actions);
    let timers = sections.timers.iter().map(|row| {
        let sends = format!("sends {}", names.event(row.event));
        vec![names.text(row.name), sends]
    });
    paragraph(&mut out, "timers", timers);
    let merges = sections.merges.iter().map(|row| {
        let event = row.event.map_or("*".to_owned(), |id| names.event(id));
        let kind = match row.kind {
            MergeKind::Only => "only",
            MergeKind::Except => "except",
        };
        let field = row.field.map_or("nothing".to_owned(), |id| names.text(id));
        vec![event, kind.to_owned(), field]
    });
    paragraph(&mut out, "merges", merges);
    let ambiguities = sections.ambiguities.iter().map(|row| {
        let means = format!("may mean {}", names.event(row.event));
        vec![names.state(row.state), names.event(row.label), means]
    });
    paragraph(&mut out, "ambiguities", ambiguities);
    let claims = sections.claims.iter();
    let claims = claims.map(|row| vec![names.guard(row.guard), names.text(row.text)]);
    paragraph(&mut out, "claims", claims);
    out
}

/// Returns the columns of a state.
fn state(names: &Names<'_>, index: usize, row: &StateRow) -> Vec<String> {
    let sections = names.0;
    let parent = |id: &StateId| sections.states.get(id.index()).and_then(|row| row.parent);
    // Rows may go in circles here; a verified table is never deeper.
    let depth = core::iter::successors(row.parent, parent)
        .take(MAX_DEPTH)
        .count();
    let mut kind = match (row.kind, row.verdict) {
        (StateKind::Atomic, _) => "atomic",
        (StateKind::Compound, _) => "compound",
        (StateKind::Final, Verdict::Success) => "final",
        (StateKind::Final, Verdict::Failure) => "final, failure",
        (StateKind::Parallel, _) => "parallel",
        (StateKind::History, _) => "history",
        (StateKind::DeepHistory, _) => "deep history",
    }
    .to_owned();
    if row.parent.is_none() && index != 0 {
        kind.push_str(", no parent");
    }
    let initial = names.targets("initial", &row.initial);
    let done = row.done.map(|event| format!("done {}", names.event(event)));
    vec![
        format!("{:indent$}{}", "", names.text(row.name), indent = depth * 2),
        kind,
        initial,
        names.calls("initially", &row.initial_calls),
        names.calls("entry", &row.entry),
        names.calls("exit", &row.exit),
        done.unwrap_or_default(),
        names.metadata(row.metadata),
    ]
}

/// Returns the columns of a transition.
fn transition(names: &Names<'_>, row: &TransitionRow) -> Vec<String> {
    let triggers = list(&names.0.triggers, &row.triggers);
    let on = match triggers {
        [] => "eventless".to_owned(),
        some => format!(
            "on {}",
            joined(some.iter().map(|&event| names.event(event)), " | ")
        ),
    };
    let program = list(&names.0.code, &row.guard);
    let guard = match program {
        [] => String::new(),
        _ => format!("if {}", names.program(&row.guard)),
    };
    vec![
        names.state(row.source),
        on,
        guard,
        names.targets("to", &row.targets),
        (if row.internal { "internal" } else { "" }).to_owned(),
        names.calls("do", &row.calls),
        names.metadata(row.metadata),
    ]
}

/// Adds a paragraph: a title, then numbered rows with aligned columns.
/// Columns that are empty everywhere are left out.
fn paragraph(out: &mut String, title: &str, rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        })
        .collect();
    let number = rows.len().saturating_sub(1).to_string().len().max(3);
    out.push_str(&format!("\n{title}\n"));
    for (index, row) in rows.iter().enumerate() {
        let mut line = format!("{index:>number$}");
        for (cell, &width) in row.iter().zip(&widths).filter(|&(_, &width)| width > 0) {
            line.push_str(&format!("  {cell:width$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Texts one behind the other, with something between.
fn joined(texts: impl Iterator<Item = String>, between: &str) -> String {
    let mut out = String::new();
    for (index, text) in texts.enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        if index == MAX_SHOWN {
            out.push('…');
            break;
        }
        out.push_str(&text);
    }
    out
}

/// Returns an id that points nowhere.
fn missing(number: impl fmt::Display) -> String {
    format!("?{number}")
}

/// Finds what ids stand for.
struct Names<'a>(&'a Sections);

impl Dialect for Names<'_> {
    fn field(&self, id: FieldId) -> String {
        self.name(self.0.fields.get(id.index()).copied(), id.raw())
    }

    fn guard(&self, id: GuardId) -> String {
        self.name(self.0.guards.get(id.index()).copied(), id.raw())
    }

    fn in_state(&self, id: StateId) -> String {
        format!("in_state(\"{}\")", self.state(id))
    }

    fn constants(&self, range: &Range<u32>) -> &[Constant] {
        list(&self.0.constants, range)
    }

    fn text(&self, id: TextId) -> String {
        format!("\"{}\"", Names::text(self, id))
    }
}

impl Names<'_> {
    fn text(&self, id: TextId) -> String {
        let text = self.0.texts.get(id.index());
        // A text may hold anything, but a row is one line.
        text.map_or_else(
            || missing(id.raw()),
            |text| text.escape_debug().to_string().replace("\\\"", "\""),
        )
    }

    fn name(&self, name: Option<TextId>, number: u16) -> String {
        name.map_or_else(|| missing(number), |name| self.text(name))
    }

    fn state(&self, id: StateId) -> String {
        self.name(self.0.states.get(id.index()).map(|row| row.name), id.raw())
    }

    fn event(&self, id: EventId) -> String {
        self.name(self.0.events.get(id.index()).map(|row| row.name), id.raw())
    }

    fn action(&self, id: ActionId) -> String {
        self.name(self.0.actions.get(id.index()).map(|row| row.name), id.raw())
    }

    fn metadata(&self, id: Option<TextId>) -> String {
        id.map(|text| format!("metadata {}", self.text(text)))
            .unwrap_or_default()
    }

    fn targets(&self, word: &str, range: &Range<u32>) -> String {
        match list(&self.0.targets, range) {
            [] => String::new(),
            some => format!(
                "{word} {}",
                joined(some.iter().map(|&state| self.state(state)), ", ")
            ),
        }
    }

    fn calls(&self, word: &str, range: &Range<u32>) -> String {
        match list(&self.0.calls, range) {
            [] => String::new(),
            some => format!(
                "{word} {}",
                joined(some.iter().map(|&call| self.action(call)), ", ")
            ),
        }
    }

    fn timer(&self, id: TimerId) -> String {
        self.name(self.0.timers.get(id.index()).map(|row| row.name), id.raw())
    }

    fn program(&self, range: &Range<u32>) -> String {
        let program = list(&self.0.code, range);
        if is_expression(program) {
            return spell(program, self);
        }
        joined(program.iter().map(|code| self.instruction(code)), "; ")
    }

    fn action_kind(&self, kind: &ActionKind) -> String {
        match kind {
            ActionKind::Host => String::new(),
            ActionKind::Fallible => "can fail".into(),
            ActionKind::Raise(event) => format!("raises {}", self.event(*event)),
            ActionKind::Assign(range) => {
                let assigns = list(&self.0.assigns, range).iter();
                let each = assigns
                    .map(|row| format!("{} = {}", self.field(row.field), self.program(&row.value)));
                format!("assigns {}", joined(each, ", "))
            }
            ActionKind::Schedule(timer, delay) => {
                format!("schedules {} in {delay} ms", self.timer(*timer))
            }
            ActionKind::Cancel(timer) => format!("cancels {}", self.timer(*timer)),
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => {
                let parts = [
                    format!("if {}", self.program(guard)),
                    self.calls("do", then),
                    self.calls("else", otherwise),
                ];
                joined(parts.into_iter().filter(|part| !part.is_empty()), " ")
            }
        }
    }

    fn instruction(&self, instruction: &Instruction) -> String {
        match instruction {
            Instruction::Ask(guard) => self.guard(*guard),
            Instruction::Not => "not".to_owned(),
            Instruction::All(length) => format!("all of {length}"),
            Instruction::Any(length) => format!("any of {length}"),
            Instruction::Compare(field, operator, range) => {
                let what = format!("{} {}", self.field(*field), operator.name());
                self.with_constants(what, range)
            }
            Instruction::Load(field) => format!("load {}", self.field(*field)),
            Instruction::Push(range) => self.with_constants("push".to_owned(), range),
            Instruction::Has(field) => format!("has {}", self.field(*field)),
            Instruction::InState(state) => format!("in state {}", self.state(*state)),
            Instruction::Among(range) => self.with_constants("among".to_owned(), range),
            Instruction::Unary(operator) => operator.name().to_owned(),
            Instruction::Binary(operator) => operator.name().to_owned(),
        }
    }

    fn with_constants(&self, what: String, range: &Range<u32>) -> String {
        let mut out = what;
        for constant in list(&self.0.constants, range).iter().take(MAX_SHOWN) {
            out.push(' ');
            out.push_str(&self.constant(constant));
        }
        out
    }

    fn constant(&self, constant: &Constant) -> String {
        match constant {
            Constant::Null => "null".to_owned(),
            Constant::Bool(value) => value.to_string(),
            Constant::Int(value) => value.to_string(),
            Constant::Float(value) => format!("{value:?}"),
            Constant::Text(text) => Dialect::text(self, *text),
        }
    }
}
