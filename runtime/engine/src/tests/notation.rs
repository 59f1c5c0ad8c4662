//! A notation for machines in tests, one line a row.
//!
//! ```text
//! top to=a initially=log           a state; what it holds is indented; `to` and `initially` are its initial transition
//!   - on=go|stop if=ready do=log to=b     a transition of the state above it; without `on` it is eventless
//!   a entry=hello exit=bye
//!   b final                        or `failure`, `parallel`, `history`, `deep` (a deep history)
//! ```
//!
//! `to=a|b` leads to several states. `schedule.x` has the timer `x` send the event `after.x`, `cancel.x` forgets it.
//! An action `raise.x` raises the event `x`; events `done.…` are internal, and a state has its own if any row names it.
//! An action `try.…` can fail. A guard is a name, `!name`, or `field>3` (also `field?` for *exists*).

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{
    ActionId, ActionKind, ActionRow, Constant, EventId, EventKind, EventRow, FieldId, GuardId,
    Instruction, Operator, Sections, StateId, StateKind, StateRow, Table, TextId, TimerId,
    TimerRow, TransitionRow, Verdict, verify,
};

/// The table of a machine in the notation.
pub(super) fn table(text: &str) -> Table {
    verify(sections(text)).unwrap_or_else(|fault| panic!("{fault}"))
}

pub(super) fn sections(text: &str) -> Sections {
    let mut reader = Reader::default();
    reader.rows.name = reader.text("test");
    reader.states(text);
    reader.transitions(text);
    reader.initials(text);
    reader.done();
    reader.rows
}

#[derive(Default)]
struct Reader {
    rows: Sections,
}

/// A line's indentation, its first word, and its other words.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str, Vec<&str>)> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let depth = line.len() - line.trim_start().len();
            let mut words = line.split_whitespace();
            (depth, words.next().unwrap(), words.collect())
        })
}

/// The value of `key=value` among the words.
fn value<'a>(words: &[&'a str], key: &str) -> &'a str {
    let found = words
        .iter()
        .find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    found.unwrap_or_default()
}

impl Reader {
    fn text(&mut self, text: &str) -> TextId {
        self.rows.texts.push(Box::from(text));
        TextId::from_index(self.rows.texts.len() - 1).unwrap()
    }

    fn named(&self, id: TextId) -> &str {
        &self.rows.texts[id.index()]
    }

    fn states(&mut self, text: &str) {
        let mut around: Vec<(usize, StateId)> = Vec::new();
        for (depth, word, words) in lines(text).filter(|line| line.1 != "-") {
            let id = StateId::from_index(self.rows.states.len()).unwrap();
            while around.last().is_some_and(|&(other, _)| other >= depth) {
                around.pop();
            }
            let name = self.text(word);
            let entry = self.calls(value(&words, "entry"));
            let exit = self.calls(value(&words, "exit"));
            let initial_calls = self.calls(value(&words, "initially"));
            let failure = words.contains(&"failure");
            let last = failure || words.contains(&"final");
            for (_, other) in &around {
                let row = &mut self.rows.states[other.index()];
                row.end = id.raw() + 1;
                if row.kind != StateKind::Parallel {
                    row.kind = StateKind::Compound;
                }
            }
            let kinds = [
                ("parallel", StateKind::Parallel),
                ("history", StateKind::History),
                ("deep", StateKind::DeepHistory),
            ];
            let said = kinds.iter().find(|(word, _)| words.contains(word));
            self.rows.states.push(StateRow {
                name,
                kind: if let Some(&(_, kind)) = said {
                    kind
                } else if last {
                    StateKind::Final
                } else {
                    StateKind::Atomic
                },
                verdict: if failure {
                    Verdict::Failure
                } else {
                    Verdict::Success
                },
                parent: around.last().map(|&(_, id)| id),
                end: id.raw() + 1,
                initial: 0..0,
                initial_calls,
                entry,
                exit,
                transitions: 0..0,
                done: None,
                metadata: None,
            });
            around.push((depth, id));
        }
    }

    fn transitions(&mut self, text: &str) {
        let mut source: u16 = 0;
        let mut states: u16 = 0;
        for (_, word, words) in lines(text) {
            let count = u16::try_from(self.rows.transitions.len()).unwrap();
            if word != "-" {
                source = states;
                states += 1;
                self.rows.states[usize::from(source)].transitions = count..count;
                continue;
            }
            let triggers = self.triggers(value(&words, "on"));
            let guard = self.guard(value(&words, "if"));
            let calls = self.calls(value(&words, "do"));
            let targets = self.targets(value(&words, "to"));
            let internal = words.contains(&"internal");
            let source = StateId::new(source);
            let metadata = None;
            let row = TransitionRow {
                source,
                internal,
                triggers,
                guard,
                calls,
                targets,
                metadata,
            };
            self.rows.transitions.push(row);
            self.rows.states[source.index()].transitions.end = count + 1;
        }
    }

    fn initials(&mut self, text: &str) {
        for (index, (_, _, words)) in lines(text).filter(|line| line.1 != "-").enumerate() {
            self.rows.states[index].initial = self.targets(value(&words, "to"));
        }
    }

    fn done(&mut self) {
        for index in 0..self.rows.states.len() {
            let name = format!("done.state.{}", self.named(self.rows.states[index].name));
            let event = self
                .rows
                .events
                .iter()
                .position(|row| self.named(row.name) == name);
            self.rows.states[index].done = event.and_then(EventId::from_index);
        }
    }

    fn targets(&mut self, names: &str) -> Range<u32> {
        let start = u32::try_from(self.rows.targets.len()).unwrap();
        for name in names.split('|').filter(|name| !name.is_empty()) {
            let mut states = self.rows.states.iter();
            let state = states.position(|row| self.named(row.name) == name);
            let state = StateId::from_index(state.expect(name)).unwrap();
            self.rows.targets.push(state);
        }
        start..u32::try_from(self.rows.targets.len()).unwrap()
    }

    fn timer(&mut self, name: &str) -> TimerId {
        let mut timers = self.rows.timers.iter();
        let known = timers.position(|row| self.named(row.name) == name);
        let index = known.unwrap_or_else(|| {
            let event = self.event(&format!("after.{name}"));
            let name = self.text(name);
            self.rows.timers.push(TimerRow { name, event });
            self.rows.timers.len() - 1
        });
        TimerId::from_index(index).unwrap()
    }

    /// What the action of that name does.
    fn kind(&mut self, name: &str) -> ActionKind {
        if let Some(event) = name.strip_prefix("raise.") {
            return ActionKind::Raise(self.event(event));
        }
        if let Some(timer) = name.strip_prefix("schedule.") {
            return ActionKind::Schedule(self.timer(timer), 100);
        }
        if name.starts_with("try.") {
            return ActionKind::Fallible;
        }
        match name.strip_prefix("cancel.") {
            Some(timer) => ActionKind::Cancel(self.timer(timer)),
            None => ActionKind::Host,
        }
    }

    fn event(&mut self, name: &str) -> EventId {
        let known = self
            .rows
            .events
            .iter()
            .position(|row| self.named(row.name) == name);
        let index = known.unwrap_or_else(|| {
            let own = ["done.", "after."];
            let kind = if own.iter().any(|own| name.starts_with(own)) {
                EventKind::Internal
            } else {
                EventKind::Named
            };
            let name = self.text(name);
            self.rows.events.push(EventRow {
                name,
                kind,
                metadata: None,
            });
            self.rows.events.len() - 1
        });
        EventId::from_index(index).unwrap()
    }

    fn triggers(&mut self, names: &str) -> Range<u32> {
        let start = u32::try_from(self.rows.triggers.len()).unwrap();
        for name in names.split('|').filter(|name| !name.is_empty()) {
            let event = self.event(name);
            self.rows.triggers.push(event);
        }
        start..u32::try_from(self.rows.triggers.len()).unwrap()
    }

    fn calls(&mut self, names: &str) -> Range<u32> {
        let start = u32::try_from(self.rows.calls.len()).unwrap();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let known = self
                .rows
                .actions
                .iter()
                .position(|row| self.named(row.name) == name);
            let index = known.unwrap_or_else(|| {
                let kind = self.kind(name);
                let name = self.text(name);
                self.rows.actions.push(ActionRow {
                    name,
                    kind,
                    metadata: None,
                });
                self.rows.actions.len() - 1
            });
            self.rows.calls.push(ActionId::from_index(index).unwrap());
        }
        start..u32::try_from(self.rows.calls.len()).unwrap()
    }

    fn guard(&mut self, text: &str) -> Range<u32> {
        let start = u32::try_from(self.rows.code.len()).unwrap();
        let constants = u32::try_from(self.rows.constants.len()).unwrap();
        if let Some((field, number)) = text.split_once('>') {
            let field = self.field(field);
            self.rows
                .constants
                .push(Constant::Int(number.parse().unwrap()));
            let range = constants..constants + 1;
            self.rows
                .code
                .push(Instruction::Compare(field, Operator::Gt, range));
        } else if let Some(field) = text.strip_suffix('?') {
            let field = self.field(field);
            self.rows
                .code
                .push(Instruction::Compare(field, Operator::Exists, 0..0));
        } else if !text.is_empty() {
            let name = text.trim_start_matches('!');
            let known = self
                .rows
                .guards
                .iter()
                .position(|&id| self.named(id) == name);
            let index = known.unwrap_or_else(|| {
                let id = self.text(name);
                self.rows.guards.push(id);
                self.rows.guards.len() - 1
            });
            if text.starts_with('!') {
                self.rows.code.push(Instruction::Not);
            }
            self.rows
                .code
                .push(Instruction::Ask(GuardId::from_index(index).unwrap()));
        }
        start..u32::try_from(self.rows.code.len()).unwrap()
    }

    fn field(&mut self, name: &str) -> FieldId {
        let known = self
            .rows
            .fields
            .iter()
            .position(|&id| self.named(id) == name);
        let index = known.unwrap_or_else(|| {
            let id = self.text(name);
            self.rows.fields.push(id);
            self.rows.fields.len() - 1
        });
        FieldId::from_index(index).unwrap()
    }
}
