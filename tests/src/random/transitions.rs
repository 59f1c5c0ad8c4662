//! The transitions.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Event, EventKind, State, StateKind, Transition};
use statemark_compiler::source::Spanned;

use super::Builder;

impl Builder {
    /// Transitions for every state, sorted by source as they are made.
    pub(super) fn transitions(&mut self) {
        for state in self.machine.states.handles().collect::<Vec<_>>() {
            let start = self.machine.transitions.len();
            let kind = self.kind(state);
            if kind != StateKind::Final && !kind.is_history() {
                let root = state == self.machine.root();
                let count = if root {
                    self.chance.below(2)
                } else {
                    self.chance.below(5)
                };
                for _ in 0..count {
                    let transition = self.transition(state);
                    self.machine.transitions.append(transition);
                }
                self.awaited(state);
            }
            let end = self.machine.transitions.len();
            self.machine.states.at_mut(state).transitions = start..end;
        }
    }

    /// Transitions for what the state itself may bring about: its end, its `after`.
    fn awaited(&mut self, state: Handle<State>) {
        let mut awaited: Vec<Handle<Event>> = Vec::new();
        awaited.extend(self.machine.states.at(state).done);
        let timers = self.machine.timers.iter();
        awaited.extend(
            timers
                .filter(|(_, timer)| timer.of == Some(state))
                .map(|(_, timer)| timer.event),
        );
        for event in awaited {
            if self.chance.percent(75) {
                let mut transition = self.transition(state);
                transition.triggers = vec![event];
                self.machine.transitions.append(transition);
            }
        }
    }

    fn transition(&mut self, source: Handle<State>) -> Transition {
        let triggers = self.triggers();
        // An eventless transition without a guard is often a circle, which the checks refuse.
        let guarded = if triggers.is_empty() { 95 } else { 35 };
        let guard = self
            .chance
            .percent(guarded)
            .then(|| Spanned::new(self.guard(3), self.span));
        let targets = self.targets(source);
        let machine = &self.machine;
        let inside = |&target: &Handle<State>| target > source && machine.is_within(target, source);
        let internal =
            targets.is_empty() || (targets.iter().all(inside) && self.chance.percent(50));
        Transition {
            span: self.span,
            source,
            triggers,
            guard,
            actions: self.some_actions(40),
            targets,
            internal,
            implied: false,
            label: None,
            description: None,
            meta: statemark_compiler::ir::Meta::new(),
        }
    }

    fn triggers(&mut self) -> Vec<Handle<Event>> {
        if self.chance.percent(self.shape.eventless) {
            return Vec::new();
        }
        let own = |event: &Event| matches!(event.kind, EventKind::Named | EventKind::Fault);
        let mut all: Vec<_> = self.machine.events.iter().collect();
        if self.chance.percent(95) {
            all.retain(|(_, event)| own(event));
        }
        let all: Vec<Handle<Event>> = all.into_iter().map(|(handle, _)| handle).collect();
        let mut triggers: Vec<Handle<Event>> = self.chance.pick(&all).into_iter().collect();
        if self.chance.percent(10) {
            triggers.extend(self.chance.pick(&all));
            triggers.sort_unstable();
            triggers.dedup();
        }
        triggers
    }

    fn targets(&mut self, source: Handle<State>) -> Vec<Handle<State>> {
        if self.chance.percent(12) {
            return Vec::new();
        }
        let root = self.machine.root();
        if self.chance.percent(15)
            && let Some(several) = self.orthogonal(root)
        {
            return several;
        }
        let mut all = match (self.chance.below(10), self.machine.states.at(source).parent) {
            // Inside the source, if there is anything.
            (0..3, _) => self.inside(source),
            // Beside it.
            (3..6, Some(parent)) => self.machine.states.at(parent).children.clone(),
            _ => Vec::new(),
        };
        if all.is_empty() {
            all = self.inside(root);
        }
        // An end at the top is the end of the test.
        let ends = |state: Handle<State>| {
            self.kind(state) == StateKind::Final
                && self.machine.states.at(state).parent == Some(root)
        };
        let others: Vec<_> = all.iter().copied().filter(|&state| !ends(state)).collect();
        if !others.is_empty() && self.chance.percent(80) {
            all = others;
        }
        self.chance.pick(&all).into_iter().collect()
    }
}
