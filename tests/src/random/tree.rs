//! The states, and where they begin.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Initial, Meta, State, StateKind, Verdict};

use super::Builder;

impl Builder {
    /// The root and all in it, in document order.
    pub(super) fn grow_root(&mut self) {
        let root = self.state(None, StateKind::Compound);
        self.grow(root, 1);
    }

    fn state(&mut self, parent: Option<Handle<State>>, kind: StateKind) -> Handle<State> {
        let index = self.machine.states.len();
        let verdict = if kind == StateKind::Final && self.chance.percent(30) {
            Verdict::Failure
        } else {
            Verdict::Success
        };
        let id = match parent {
            None => self.machine.id.value.clone(),
            Some(_) => format!("s{index}"),
        };
        let state = self.machine.states.append(State {
            id,
            span: self.span,
            kind,
            verdict,
            implied: false,
            parent,
            children: Vec::new(),
            end: index + 1,
            initial: None,
            entry: Vec::new(),
            exit: Vec::new(),
            transitions: 0..0,
            done: None,
            title: None,
            description: None,
            instructions: None,
            while_waiting: Vec::new(),
            on_max_iterations: None,
            meta: Meta::new(),
        });
        if let Some(parent) = parent {
            self.machine.states.at_mut(parent).children.push(state);
        }
        state
    }

    /// Gives a state its children, at that depth.
    fn grow(&mut self, parent: Handle<State>, depth: usize) {
        let parallel = self.kind(parent) == StateKind::Parallel;
        let least = if depth == 1 || parallel { 2 } else { 1 };
        let count = self.chance.between(least, 4);
        for number in 0..count {
            let room = depth < self.shape.depth && self.machine.states.len() < self.shape.states;
            let kind = if room && self.chance.percent(if parallel { 75 } else { 45 }) {
                if self.chance.percent(self.shape.regions) {
                    StateKind::Parallel
                } else {
                    StateKind::Compound
                }
            } else if !parallel && number > 0 && self.chance.percent(35) {
                StateKind::Final
            } else {
                StateKind::Atomic
            };
            let child = self.state(Some(parent), kind);
            if kind.has_children() {
                self.grow(child, depth + 1);
            }
            // The root can't be left, so it has no history.
            if depth > 1 && self.chance.percent(self.shape.histories / 2) {
                let deep = self.chance.percent(50);
                let kind = if deep {
                    StateKind::DeepHistory
                } else {
                    StateKind::History
                };
                self.state(Some(parent), kind);
            }
        }
        let end = self.machine.states.len();
        self.machine.states.at_mut(parent).end = end;
    }

    /// Where compound states begin, and where histories lead while nothing is recorded.
    pub(super) fn initials(&mut self) {
        for state in self.machine.states.handles().collect::<Vec<_>>() {
            let targets = match self.kind(state) {
                StateKind::Compound => self.initial_targets(state),
                StateKind::History => self.shallow_targets(state),
                StateKind::DeepHistory => self.deep_targets(state),
                _ => continue,
            };
            let actions = self.some_actions(20);
            self.machine.states.at_mut(state).initial = Some(Initial {
                span: self.span,
                targets,
                actions,
                inferred: false,
            });
        }
    }

    fn initial_targets(&mut self, state: Handle<State>) -> Vec<Handle<State>> {
        if self.chance.percent(15)
            && let Some(several) = self.orthogonal(state)
        {
            return several;
        }
        let mut all = if self.chance.percent(20) {
            self.inside(state)
        } else {
            self.machine.states.at(state).children.clone()
        };
        if self.chance.percent(90) {
            let other = |&child: &Handle<State>| {
                let kind = self.machine.states.at(child).kind;
                kind != StateKind::Final && !kind.is_history()
            };
            let others: Vec<_> = all.iter().copied().filter(other).collect();
            all = if others.is_empty() { all } else { others };
        }
        self.chance.pick(&all).into_iter().collect()
    }

    /// A shallow history stands for a child of its parent.
    fn shallow_targets(&mut self, history: Handle<State>) -> Vec<Handle<State>> {
        let machine = &self.machine;
        let parent = machine.states.at(history).parent;
        let siblings = parent.map(|parent| machine.states.at(parent).children.clone());
        let mut siblings = siblings.unwrap_or_default();
        siblings.retain(|&state| !machine.states.at(state).kind.is_history());
        self.chance.pick(&siblings).into_iter().collect()
    }

    /// A deep history stands for anything inside its parent.
    fn deep_targets(&mut self, history: Handle<State>) -> Vec<Handle<State>> {
        let Some(parent) = self.machine.states.at(history).parent else {
            return Vec::new();
        };
        if self.chance.percent(40)
            && let Some(several) = self.orthogonal(parent)
        {
            return several;
        }
        let machine = &self.machine;
        let mut all = self.inside(parent);
        all.retain(|&state| !machine.states.at(state).kind.is_history());
        self.chance.pick(&all).into_iter().collect()
    }

    /// All that lies properly inside a state.
    pub(super) fn inside(&self, state: Handle<State>) -> Vec<Handle<State>> {
        (state.index() + 1..self.machine.states.at(state).end)
            .map(Handle::at)
            .collect()
    }

    /// Several targets in different regions of one parallel state: the state itself, or one inside it.
    pub(super) fn orthogonal(&mut self, within: Handle<State>) -> Option<Vec<Handle<State>>> {
        let mut parallel = self.inside(within);
        parallel.push(within);
        parallel.retain(|&state| self.kind(state) == StateKind::Parallel);
        let parallel = self.chance.pick(&parallel)?;
        let targets = self.in_regions(parallel);
        (targets.len() > 1).then_some(targets)
    }

    /// For some of the regions one target, or several if there are regions inside.
    fn in_regions(&mut self, parallel: Handle<State>) -> Vec<Handle<State>> {
        let mut targets = Vec::new();
        for region in self.machine.states.at(parallel).children.clone() {
            if self.kind(region).is_history() || self.chance.percent(25) {
                continue;
            }
            if self.chance.percent(20)
                && let Some(several) = self.orthogonal(region)
            {
                targets.extend(several);
                continue;
            }
            let mut all = self.inside(region);
            all.push(region);
            targets.extend(self.chance.pick(&all));
        }
        targets
    }
}
