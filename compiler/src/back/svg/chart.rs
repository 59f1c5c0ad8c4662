//! The chart that is drawn: states and transitions with their texts.
//!
//! It is of a checked machine, or of a table.

use std::ops::Range;

use serde_json::Value;
use statemark_runtime::{
    ActionKind, EventId, StateId, StateRow, Table, TransitionId, TransitionRow, spell,
};

use crate::arena::Handle;
use crate::back::mermaid::{action_names, label_parts};
use crate::ir::{Direction, EventKind, Initial, Machine, State, StateKind, Verdict};
use crate::pass::trigger::format_duration;

/// A machine as far as it is drawn. States and transitions have the indices of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) states: Vec<ChartState>,
    pub(crate) transitions: Vec<ChartTransition>,
    pub(crate) direction: Option<Direction>,
    pub(crate) notes: Vec<ChartNote>,
}

/// A state as it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct ChartState {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: StateKind,
    pub(crate) failure: bool,
    /// True if it stands for a `[*]`, or for a region without a name.
    pub(crate) implied: bool,
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
    /// The initial state, and the actions on the path to it.
    pub(crate) initial: Option<(Vec<usize>, String)>,
    pub(crate) entry: String,
    pub(crate) exit: String,
}

/// A transition as it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct ChartTransition {
    pub(crate) source: usize,
    pub(crate) targets: Vec<usize>,
    /// The ids of its events, for programs.
    pub(crate) events: Vec<String>,
    /// Its events as they are drawn.
    pub(crate) trigger: String,
    pub(crate) guard: Option<String>,
    pub(crate) is_else: bool,
    pub(crate) actions: String,
    /// True if a person has to allow it.
    pub(crate) approval: bool,
    /// True if it isn't drawn: it is taken on names that the machine doesn't have.
    pub(crate) hidden: bool,
}

/// A note at a state.
#[derive(Clone, Debug)]
pub(crate) struct ChartNote {
    pub(crate) state: usize,
    pub(crate) left: bool,
    pub(crate) text: String,
}

impl Chart {
    /// Returns what is drawn of a machine.
    pub(crate) fn of_machine(machine: &Machine) -> Self {
        let text =
            |it: &Option<crate::source::Spanned<String>>| it.as_ref().map(|it| it.value.clone());
        let indices = |states: &[Handle<State>]| states.iter().map(|it| it.index()).collect();
        let begin = |initial: &Initial| {
            (
                indices(&initial.targets),
                action_names(machine, &initial.actions),
            )
        };
        let states = machine.states.iter().map(|(_, state)| ChartState {
            id: state.id.clone(),
            title: text(&state.title),
            description: text(&state.description),
            kind: state.kind,
            failure: state.kind == StateKind::Final && state.verdict == Verdict::Failure,
            implied: state.implied,
            parent: state.parent.map(Handle::index),
            children: indices(&state.children),
            // A history without a way of its own goes where its composite begins.
            initial: state
                .initial
                .as_ref()
                .filter(|initial| !(initial.inferred && state.kind.is_history()))
                .map(begin),
            entry: action_names(machine, &state.entry),
            exit: action_names(machine, &state.exit),
        });
        let transitions = machine.transitions.iter().map(|(_, transition)| {
            let label = label_parts(machine, transition);
            let mut kinds = transition
                .triggers
                .iter()
                .map(|&it| machine.events.at(it).kind);
            ChartTransition {
                source: transition.source.index(),
                targets: indices(&transition.targets),
                events: transition
                    .triggers
                    .iter()
                    .map(|&it| machine.events.at(it).id.clone())
                    .collect(),
                trigger: label.trigger,
                guard: label.guard,
                is_else: label.is_else,
                actions: label.actions,
                approval: transition
                    .meta
                    .get("requires_approval")
                    .is_some_and(|it| it == true),
                hidden: kinds.any(|kind| kind == EventKind::Unknown),
            }
        });
        let notes = machine.notes.iter().map(|note| ChartNote {
            state: note.state.index(),
            left: note.left,
            text: note.text.clone(),
        });
        Self {
            id: machine.id.value.clone(),
            title: machine.title.clone(),
            description: machine.description.clone(),
            states: states.collect(),
            transitions: transitions.collect(),
            direction: machine.direction,
            notes: notes.collect(),
        }
    }
}

impl Chart {
    /// Returns what is drawn of a table's machine.
    pub(crate) fn of_table(table: &Table) -> Self {
        let rows = Rows { table };
        let states: Vec<ChartState> = table
            .states()
            .map(|(id, row)| rows.state(id, row))
            .collect();
        let meta = rows.json(table.metadata());
        let mut chart = Self {
            id: table.name().to_owned(),
            title: text_of(&meta, "title"),
            description: text_of(&meta, "description"),
            states,
            transitions: table
                .transitions()
                .map(|(id, row)| rows.transition(id, row))
                .collect(),
            direction: None,
            notes: Vec::new(),
        };
        for index in 1..chart.states.len() {
            let parent = chart.states.get(index).and_then(|state| state.parent);
            if let Some(parent) = parent.and_then(|parent| chart.states.get_mut(parent)) {
                parent.children.push(index);
            }
        }
        chart
    }
}

/// The rows of a table, read for a drawing.
struct Rows<'t> {
    table: &'t Table,
}

impl Rows<'_> {
    fn json(&self, text: Option<&str>) -> Value {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// Returns the states of a range of targets.
    fn targets(&self, range: &Range<u32>) -> Vec<usize> {
        let part = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let rows = self
            .table
            .sections()
            .targets
            .get(part(range.start)..part(range.end));
        rows.unwrap_or_default()
            .iter()
            .map(|it| it.index())
            .collect()
    }

    /// Returns the names of the actions of a range, without those of `after`.
    fn actions(&self, range: &Range<u32>) -> String {
        let table = self.table;
        let names = table.calls(range).iter().filter(|action| {
            let kind = table.action(**action).map(|row| &row.kind);
            !matches!(kind, Some(ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer))
                if table.timer_name(*timer).starts_with("after."))
        });
        let names: Vec<String> = names
            .map(|it| format!("{}()", table.action_name(*it)))
            .collect();
        names.join(", ")
    }

    fn state(&self, id: StateId, row: &StateRow) -> ChartState {
        let table = self.table;
        let meta = self.json(row.metadata.map(|text| table.text(text)));
        let initial = self.targets(&row.initial);
        // A history without a way of its own goes where its composite begins: into one child, or into all regions.
        let outer = row.parent.and_then(|it| table.state(it));
        let begins_as_parent = row.kind.is_history()
            && outer.is_some_and(|outer| {
                outer.kind == StateKind::Parallel || self.targets(&outer.initial) == initial
            });
        ChartState {
            id: table.state_name(id).to_owned(),
            title: text_of(&meta, "title"),
            description: text_of(&meta, "description"),
            kind: row.kind,
            failure: row.kind == StateKind::Final && row.verdict == Verdict::Failure,
            implied: meta.get("implied").is_some(),
            parent: row.parent.map(|it| it.index()),
            children: Vec::new(),
            initial: (!initial.is_empty() && !begins_as_parent)
                .then(|| (initial, self.actions(&row.initial_calls))),
            entry: self.actions(&row.entry),
            exit: self.actions(&row.exit),
        }
    }

    fn transition(&self, id: TransitionId, row: &TransitionRow) -> ChartTransition {
        let table = self.table;
        let meta = self.json(row.metadata.map(|text| table.text(text)));
        let events = table.triggers(id);
        let source = table.state_name(row.source);
        let done = format!("done.state.{source}");
        let names = events.iter().map(|&event| table.event_name(event));
        let drawn: Vec<String> = events
            .iter()
            .filter(|&&event| table.event_name(event) != done)
            .map(|&event| self.event(event))
            .collect();
        let code = table.guard(id);
        ChartTransition {
            source: row.source.index(),
            targets: table.targets(id).iter().map(|it| it.index()).collect(),
            events: names.clone().map(str::to_owned).collect(),
            trigger: drawn.join(", "),
            guard: (!code.is_empty()).then(|| spell(code, table)),
            is_else: events.is_empty() && code.is_empty(),
            actions: self.actions(&row.calls),
            approval: meta.get("requires_approval").is_some_and(|it| it == true),
            hidden: names.clone().any(|name| name == UNKNOWN_EVENT),
        }
    }

    /// Returns an event as it is drawn: `after 30s` for that of a timer.
    fn event(&self, event: EventId) -> String {
        let table = self.table;
        let name = table.event_name(event);
        let delays = table.actions().filter_map(|(_, row)| match row.kind {
            ActionKind::Schedule(timer, delay)
                if table.timer(timer).is_some_and(|it| it.event == event) =>
            {
                Some(delay)
            }
            _ => None,
        });
        let delay = delays.min().filter(|_| name.starts_with("after."));
        delay.map_or_else(
            || name.to_owned(),
            |delay| format!("after {}", format_duration(delay)),
        )
    }
}

/// The event that stands for any name that the machine doesn't have.
const UNKNOWN_EVENT: &str = "error.unknown_event";

fn text_of(meta: &Value, key: &str) -> Option<String> {
    meta.get(key).and_then(Value::as_str).map(str::to_owned)
}

impl ChartTransition {
    /// Returns the label on one line: `accept [ready] / notify()`.
    pub(crate) fn label(&self) -> String {
        self.parts().join(" ")
    }

    /// Returns the parts of the label that aren't empty.
    pub(crate) fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if !self.trigger.is_empty() {
            parts.push(self.trigger.clone());
        }
        parts.extend(self.branch_parts());
        parts
    }

    /// Returns the parts of the label without the trigger.
    pub(crate) fn branch_parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        match &self.guard {
            Some(guard) => parts.push(format!(
                "[{}]",
                guard.split_whitespace().collect::<Vec<_>>().join(" ")
            )),
            None if self.is_else => parts.push("[else]".to_owned()),
            None => {}
        }
        if !self.actions.is_empty() {
            parts.push(format!("/ {}", self.actions));
        }
        parts
    }
}
