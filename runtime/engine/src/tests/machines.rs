//! Machines made from entropy: any bytes give a machine, fewer bytes a smaller one, so that what fails shrinks well.
//!
//! `tests/` and `tests/fuzz/` include this file, too; `rt` is the runtime, by whatever name it goes there.

#[path = "entropy.rs"]
mod entropy;
#[path = "programs.rs"]
mod programs;

use super::rt::{
    ActionId, ActionKind, ActionRow, AmbiguityRow, AssignRow, BinaryOperator, ClaimRow, Constant,
    EventId, EventKind, EventRow, FieldId, GuardId, Instruction, MergeKind, MergeRow, Sections,
    StateId, StateKind, StateRow, TextId, TimerId, TimerRow, TransitionRow, Verdict,
};
use std::boxed::Box;
use std::format;
use std::ops::Range;
use std::vec::Vec;

pub(crate) use entropy::Entropy;

/// A machine. It passes every rule, but V29 now and then.
pub(crate) fn machine(entropy: &mut Entropy<'_>) -> Sections {
    let is_calm = entropy.once_in(3);
    let mut maker = Maker {
        entropy,
        sections: Sections::default(),
        is_calm,
    };
    maker.names();
    let root = maker.state(None, 0, StateKind::Compound);
    assert_eq!(root, 0);
    maker.effects();
    maker.initials();
    maker.transitions();
    if maker.entropy.once_in(4) {
        maker.sections.merges.push(MergeRow {
            event: None,
            kind: MergeKind::Except,
            field: Some(maker.sections.name),
        });
    }
    if maker.entropy.once_in(2) {
        maker.ambiguity();
    }
    maker.sections
}

struct Maker<'e, 'a> {
    entropy: &'e mut Entropy<'a>,
    sections: Sections,
    /// Whether nothing happens by itself: no transition is eventless and every action is the host's, so that engines may
    /// take shortcuts.
    is_calm: bool,
}

impl Maker<'_, '_> {
    fn text(&mut self, text: &str) -> TextId {
        self.sections.texts.push(Box::from(text));
        TextId::from_index(self.sections.texts.len() - 1).unwrap()
    }

    /// Events, guards, fields and actions.
    fn names(&mut self) {
        self.sections.name = self.text("machine");
        for index in 0..2 + self.entropy.below(4) {
            let name = self.text(&format!("event_{index}"));
            let kind = if index == 1 {
                EventKind::Internal
            } else {
                EventKind::Named
            };
            self.sections.events.push(EventRow {
                name,
                kind,
                metadata: None,
            });
        }
        for index in 0..2 {
            let name = self.text(&format!("guard_{index}"));
            self.sections.guards.push(name);
            let name = self.text(&format!("field.{index}"));
            self.sections.fields.push(name);
        }
        if self.entropy.once_in(2) {
            let (name, text) = (self.text("claim"), self.text("somebody says so"));
            self.sections.guards.push(name);
            let guard = GuardId::from_index(self.sections.guards.len() - 1).unwrap();
            self.sections.claims.push(ClaimRow { guard, text });
        }
        for index in 0..1 + self.entropy.below(6) {
            let name = self.text(&format!("action_{index}"));
            self.sections.actions.push(ActionRow {
                name,
                kind: ActionKind::Host,
                metadata: None,
            });
        }
        for index in 0..self.entropy.below(3) {
            let name = self.text(&format!("after.{index}"));
            let event = self.internal(name);
            self.sections.timers.push(TimerRow { name, event });
        }
        if self.entropy.once_in(2) {
            let name = self.text("error.execution");
            self.internal(name);
        }
    }

    fn internal(&mut self, name: TextId) -> EventId {
        self.sections.events.push(EventRow {
            name,
            kind: EventKind::Internal,
            metadata: None,
        });
        EventId::from_index(self.sections.events.len() - 1).unwrap()
    }

    /// What the actions do. A conditional one does some of those before it.
    fn effects(&mut self) {
        for index in 0..self.sections.actions.len() {
            let timers = self.sections.timers.len();
            let timer = |maker: &mut Self| {
                TimerId::from_index(maker.entropy.below(maker.sections.timers.len())).unwrap()
            };
            let kind = match self.entropy.below(16) {
                _ if self.is_calm => ActionKind::Host,
                3 => ActionKind::Fallible,
                4..8 => ActionKind::Raise(self.event()),
                8 | 9 => self.assignment(),
                10 if timers > 0 => ActionKind::Cancel(timer(self)),
                11 | 12 if timers > 0 => {
                    let delay = u64::from(self.entropy.byte());
                    ActionKind::Schedule(timer(self), delay)
                }
                13.. if index > 0 => ActionKind::If {
                    guard: self.guard(),
                    then: self.calls_among(index, 2),
                    otherwise: self.calls_among(index, 2),
                },
                _ => ActionKind::Host,
            };
            self.sections.actions[index].kind = kind;
        }
    }

    fn assignment(&mut self) -> ActionKind {
        let rows = 1 + self.entropy.below(2);
        let made: Vec<AssignRow> = (0..rows)
            .map(|_| AssignRow {
                field: FieldId::from_index(self.entropy.below(2)).unwrap(),
                value: self.guard(),
            })
            .collect();
        let start = self.sections.assigns.len();
        self.sections.assigns.extend(made);
        ActionKind::Assign(range(start, self.sections.assigns.len()))
    }

    fn calls_among(&mut self, actions: usize, most: usize) -> Range<u32> {
        let start = self.sections.calls.len();
        for _ in 0..self.entropy.below(most + 1) {
            let action = self.entropy.below(actions);
            let action = ActionId::from_index(action).unwrap();
            self.sections.calls.push(action);
        }
        range(start, self.sections.calls.len())
    }

    fn event(&mut self) -> EventId {
        EventId::from_index(self.entropy.below(self.sections.events.len())).unwrap()
    }

    /// A state with what is in it, in a state of that kind.
    fn state(&mut self, parent: Option<StateId>, depth: usize, around: StateKind) -> usize {
        let index = self.sections.states.len();
        let id = StateId::from_index(index).unwrap();
        let name = self.text(&format!("state_{index}"));
        let children = match depth {
            0 => 1 + self.entropy.below(5),
            1..5 if index < 30 && self.entropy.once_in(3) => 1 + self.entropy.below(4),
            _ => 0,
        };
        let region = around == StateKind::Parallel;
        let last = children == 0 && self.entropy.once_in(5) && !region;
        let kind = match children {
            0 if last => StateKind::Final,
            0 => StateKind::Atomic,
            _ if depth > 0 && self.entropy.once_in(3) => StateKind::Parallel,
            _ => StateKind::Compound,
        };
        let verdict = if last && self.entropy.once_in(2) {
            Verdict::Failure
        } else {
            Verdict::Success
        };
        let calls = |maker: &mut Self| if depth == 0 { 0..0 } else { maker.calls() };
        let (entry, exit) = (calls(self), calls(self));
        self.sections.states.push(StateRow {
            name,
            kind,
            verdict,
            parent,
            end: 0,
            initial: 0..0,
            initial_calls: 0..0,
            entry,
            exit,
            transitions: 0..0,
            done: None,
            metadata: None,
        });
        if kind.has_children() && depth > 0 && self.entropy.once_in(2) {
            let name = self.text(&format!("done.state.state_{index}"));
            self.sections.states[index].done = Some(self.internal(name));
        }
        for _ in 0..children {
            self.state(Some(id), depth + 1, kind);
        }
        if kind.has_children() {
            for _ in 0..[0, 0, 0, 1, 2][self.entropy.below(5)] {
                self.history(id);
            }
        }
        self.sections.states[index].end = u16::try_from(self.sections.states.len()).unwrap();
        index
    }

    fn history(&mut self, parent: StateId) {
        let index = self.sections.states.len();
        let name = self.text(&format!("state_{index}"));
        let deep = self.entropy.once_in(2);
        self.sections.states.push(StateRow {
            name,
            kind: if deep {
                StateKind::DeepHistory
            } else {
                StateKind::History
            },
            verdict: Verdict::Success,
            parent: Some(parent),
            end: u16::try_from(index + 1).unwrap(),
            initial: 0..0,
            initial_calls: 0..0,
            entry: 0..0,
            exit: 0..0,
            transitions: 0..0,
            done: None,
            metadata: None,
        });
    }

    /// A list of actions, often empty.
    fn calls(&mut self) -> Range<u32> {
        let start = self.sections.calls.len();
        let count = [0, 0, 0, 1, 1, 2, 3][self.entropy.below(7)];
        for _ in 0..count {
            let action = self.entropy.below(self.sections.actions.len());
            self.sections
                .calls
                .push(ActionId::from_index(action).unwrap());
        }
        range(start, self.sections.calls.len())
    }

    /// Targets, chosen from some states: one, and now and then more that are apart from it.
    fn targets(&mut self, among: &[usize]) -> Range<u32> {
        let start = self.sections.targets.len();
        let mut more = 1;
        while more > 0 {
            more -= 1;
            let target = among[self.entropy.below(among.len())];
            let others = &self.sections.targets[start..];
            if others.iter().all(|other| self.apart(other.index(), target)) {
                self.sections
                    .targets
                    .push(StateId::from_index(target).unwrap());
                more += [0, 0, 3, 6][self.entropy.below(4)];
            }
        }
        range(start, self.sections.targets.len())
    }

    /// Whether two states lie in different regions of a parallel state.
    fn apart(&self, one: usize, other: usize) -> bool {
        let path = |state: usize| -> Vec<usize> {
            let parent = |&state: &usize| {
                let parent: Option<StateId> = self.sections.states[state].parent;
                parent.map(|parent| parent.index())
            };
            let mut path: Vec<usize> = std::iter::successors(Some(state), parent).collect();
            path.reverse();
            path
        };
        let (one, other) = (path(one), path(other));
        let Some(at) = one.iter().zip(&other).position(|(one, other)| one != other) else {
            return false;
        };
        let kind = |state: usize| self.sections.states[state].kind;
        kind(one[at - 1]) == StateKind::Parallel
            && !kind(one[at]).is_history()
            && !kind(other[at]).is_history()
    }

    fn initials(&mut self) {
        for index in 0..self.sections.states.len() {
            let row = &self.sections.states[index];
            let among: Vec<usize> = match (row.kind, row.parent) {
                (StateKind::Compound, _) => (index + 1..usize::from(row.end)).collect(),
                (kind, Some(parent)) if kind.is_history() => {
                    let end = usize::from(self.sections.states[parent.index()].end);
                    let legal = |&target: &usize| {
                        let other = &self.sections.states[target];
                        let own = other.parent == Some(parent);
                        let history = other.kind.is_history();
                        (own || kind == StateKind::DeepHistory) && !(own && history)
                    };
                    (parent.index() + 1..end).filter(legal).collect()
                }
                _ => continue,
            };
            self.sections.states[index].initial = self.targets(&among);
            self.sections.states[index].initial_calls = self.calls();
        }
    }

    fn transitions(&mut self) {
        for index in 0..self.sections.states.len() {
            let start = u16::try_from(self.sections.transitions.len()).unwrap();
            let kind = self.sections.states[index].kind;
            if kind != StateKind::Final && !kind.is_history() {
                for _ in 0..self.entropy.below(4) {
                    let row = self.transition(index);
                    self.sections.transitions.push(row);
                }
            }
            let end = u16::try_from(self.sections.transitions.len()).unwrap();
            self.sections.states[index].transitions = start..end;
        }
    }

    /// A label that may mean all that can be sent in a state, if there is one that it doesn't take itself.
    fn ambiguity(&mut self) {
        let is_named =
            |event: &EventId| self.sections.events[event.index()].kind == EventKind::Named;
        let named = (0..self.sections.events.len()).filter_map(EventId::from_index);
        let named: Vec<EventId> = named.filter(is_named).collect();
        let state = self.entropy.below(self.sections.states.len());
        let transitions = self.sections.states[state].transitions.clone();
        let rows =
            &self.sections.transitions[usize::from(transitions.start)..transitions.end.into()];
        let mut taken: Vec<EventId> = Vec::new();
        for row in rows {
            let triggers = row.triggers.start as usize..row.triggers.end as usize;
            taken.extend(
                self.sections.triggers[triggers]
                    .iter()
                    .filter(|it| is_named(it)),
            );
        }
        taken.sort_unstable();
        taken.dedup();
        let label = named.into_iter().find(|event| !taken.contains(event));
        if let Some(label) = label.filter(|_| taken.len() > 1) {
            let state = StateId::from_index(state).unwrap();
            let row = |event| AmbiguityRow {
                state,
                label,
                event,
            };
            self.sections.ambiguities.extend(taken.into_iter().map(row));
        }
    }

    fn transition(&mut self, source: usize) -> TransitionRow {
        let start = self.sections.triggers.len();
        let eventless = self.entropy.once_in(6) && !self.is_calm;
        if !eventless {
            for _ in 0..1 + self.entropy.below(2) {
                let event = self.event();
                if !self.sections.triggers[start..].contains(&event) {
                    self.sections.triggers.push(event);
                }
            }
        }
        let triggers = range(start, self.sections.triggers.len());
        let guarded = eventless != self.entropy.once_in(4);
        let claim = self.claim_of(&triggers);
        let guard = match claim.filter(|_| self.entropy.once_in(2)) {
            Some(claim) => self.claimed(claim),
            None if guarded => self.guard(),
            None => 0..0,
        };
        let calls = self.calls();
        let end = usize::from(self.sections.states[source].end);
        let (internal, targets) = match self.entropy.below(6) {
            4 => (true, 0..0),
            5 if end > source + 1 => {
                let among: Vec<usize> = (source + 1..end).collect();
                (true, self.targets(&among))
            }
            _ => {
                let among: Vec<usize> = (1..self.sections.states.len()).collect();
                (false, self.targets(&among))
            }
        };
        let source = StateId::from_index(source).unwrap();
        TransitionRow {
            source,
            internal,
            triggers,
            guard,
            calls,
            targets,
            metadata: None,
        }
    }

    /// The program of a guard that asks for the claim.
    fn claimed(&mut self, claim: GuardId) -> Range<u32> {
        let start = self.sections.code.len();
        if self.entropy.once_in(3) {
            self.sections.code.push(Instruction::Not);
        }
        self.sections.code.push(Instruction::Ask(claim));
        range(start, self.sections.code.len())
    }

    /// The claim, if events from outside alone trigger what asks for it: nobody claims anything to a timer.
    fn claim_of(&self, triggers: &Range<u32>) -> Option<GuardId> {
        let triggers = triggers.start as usize..triggers.end as usize;
        let mut triggers = self.sections.triggers[triggers].iter().peekable();
        let is_sent =
            |event: &EventId| self.sections.events[event.index()].kind == EventKind::Named;
        let claim = self.sections.claims.first()?.guard;
        (triggers.peek().is_some() && triggers.all(is_sent)).then_some(claim)
    }

    fn guard(&mut self) -> Range<u32> {
        programs::program(self.entropy, &mut self.sections)
    }
}

fn range(start: usize, end: usize) -> Range<u32> {
    u32::try_from(start).unwrap()..u32::try_from(end).unwrap()
}

/// Changes one place of some row to something else, legal or not.
pub(crate) fn edit(entropy: &mut Entropy<'_>, sections: &mut Sections) {
    let small = u16::from(entropy.byte() % 40);
    let number = if entropy.once_in(12) {
        u16::MAX - 1
    } else {
        small
    };
    let (from, to) = (u32::from(entropy.byte() % 40), u32::from(number));
    if entropy.once_in(20) {
        sections.merges.push(MergeRow {
            event: Some(EventId::new(number)),
            kind: MergeKind::Only,
            field: Some(TextId::new(from)),
        });
    }
    if entropy.once_in(20) {
        sections.ambiguities.push(AmbiguityRow {
            state: StateId::new(small),
            label: EventId::new(number),
            event: EventId::new(number % 7),
        });
    }
    if entropy.once_in(20) {
        sections.claims.push(ClaimRow {
            guard: GuardId::new(number % 4),
            text: TextId::new(from),
        });
    }
    let choice = entropy.byte();
    let at = entropy.below(256);
    let pick = |length: usize| if length == 0 { 0 } else { at % length };
    let length = sections.states.len();
    if let Some(row) = sections
        .states
        .get_mut(pick(length))
        .filter(|_| choice.is_multiple_of(3))
    {
        match choice / 3 % 15 {
            12 => row.kind = StateKind::Parallel,
            13 => row.kind = StateKind::History,
            14 => row.kind = StateKind::DeepHistory,
            0 => row.kind = StateKind::Atomic,
            1 => row.kind = StateKind::Compound,
            2 => row.kind = StateKind::Final,
            3 => row.parent = Some(StateId::new(number)),
            4 => row.parent = None,
            5 => row.end = number,
            6 => row.initial = from..to,
            7 => row.initial_calls = from..to,
            8 => row.entry = from..to,
            9 => row.exit = from..to,
            10 => row.transitions = small..number,
            _ => row.done = Some(EventId::new(number)),
        }
        return;
    }
    let length = sections.transitions.len();
    if let Some(row) = sections
        .transitions
        .get_mut(pick(length))
        .filter(|_| choice % 3 == 1)
    {
        match choice / 3 % 6 {
            0 => row.source = StateId::new(number),
            1 => row.internal = !row.internal,
            2 => row.triggers = from..to,
            3 => row.guard = from..to,
            4 => row.calls = from..to,
            _ => row.targets = from..to,
        }
        return;
    }
    match choice / 3 % 10 {
        8 => {
            if let Some(row) = sections.actions.get_mut(at) {
                row.kind = match small % 4 {
                    0 => ActionKind::If {
                        guard: 0..0,
                        then: from..to,
                        otherwise: 0..u32::from(small),
                    },
                    1 => ActionKind::Assign(from..to),
                    2 => ActionKind::Schedule(TimerId::new(number), 1),
                    _ => ActionKind::Cancel(TimerId::new(number)),
                };
            }
        }
        9 => {
            if let Some(row) = sections.timers.first_mut() {
                row.event = EventId::new(number);
            }
        }
        0 => replace(&mut sections.targets, at, StateId::new(number)),
        1 => replace(&mut sections.triggers, at, EventId::new(number)),
        2 => replace(&mut sections.calls, at, ActionId::new(number)),
        3 => replace(&mut sections.code, at, Instruction::Any(number)),
        4 => replace(
            &mut sections.code,
            at,
            Instruction::Ask(GuardId::new(number)),
        ),
        5 => replace(&mut sections.constants, at, Constant::Float(f64::NAN)),
        6 if small % 2 == 0 => {
            let instruction = match small / 2 % 4 {
                0 => Instruction::Not,
                1 => Instruction::Load(FieldId::new(number)),
                2 => Instruction::Push(from..to),
                _ => Instruction::Binary(BinaryOperator::Add),
            };
            replace(&mut sections.code, at, instruction);
        }
        6 => replace(&mut sections.guards, at, TextId::new(u32::from(number))),
        _ => drop(sections.states.pop()),
    }
}

fn replace<T>(rows: &mut [T], at: usize, row: T) {
    let length = rows.len().max(1);
    if let Some(place) = rows.get_mut(at % length) {
        *place = row;
    }
}
