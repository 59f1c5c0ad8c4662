//! A naive interpreter, straight from SCXML's appendix D: sets of states, ancestors by walking, nothing precomputed.
//!
//! It shares no code with the engine but the rows and what operators make of values.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;

use super::evaluator;
use crate::{
    ActionId, ActionKind, EventId, EventKind, Host, MAX_RAISED, Microstep, Observer, Outcome,
    Record, Recorder, Sections, StateId, StateKind, StepError, TimerId, TransitionId,
};

pub(super) struct Oracle<'s, H> {
    sections: &'s Sections,
    pub(super) configuration: BTreeSet<usize>,
    history: BTreeMap<usize, Vec<usize>>,
    internal_queue: VecDeque<EventId>,
    raised: usize,
    running: bool,
    pub(super) host: H,
    pub(super) recorder: Recorder,
}

/// What a microstep enters.
#[derive(Default)]
struct EntrySet {
    states: BTreeSet<usize>,
    default: BTreeSet<usize>,
    histories: BTreeMap<usize, usize>,
}

/// The rest of the block isn't done.
struct Skipped;

impl<'s, H: Host> Oracle<'s, H> {
    pub(super) fn start(
        sections: &'s Sections,
        host: H,
        limit: u32,
    ) -> Result<(Self, Record), StepError> {
        let mut this = Self {
            sections,
            configuration: BTreeSet::from([0]),
            history: BTreeMap::new(),
            internal_queue: VecDeque::new(),
            raised: 0,
            running: true,
            host,
            recorder: Recorder::new(),
        };
        this.execute(this.sections.states[0].initial_calls.clone())?;
        let mut set = EntrySet::default();
        this.add_targets(&this.initial(0), 0, &mut set);
        this.enter(&set)?;
        let outcome = this.run(0, limit)?;
        let record = this.recorder.finish(None, outcome);
        Ok((this, record))
    }

    pub(super) fn send(&mut self, event: EventId, limit: u32) -> Result<Record, StepError> {
        if !self.running {
            return Err(StepError::Ended);
        }
        match self.sections.events.get(event.index()) {
            Some(row) if row.kind == EventKind::Named => {}
            _ => return Err(StepError::NotAnEvent(event)),
        }
        for row in &self.sections.ambiguities {
            if row.label == event && self.configuration.contains(&row.state.index()) {
                let (state, label) = (row.state, event);
                return Err(StepError::Ambiguous { state, label });
            }
        }
        self.external(event, limit)
    }

    pub(super) fn elapse(&mut self, timer: TimerId, limit: u32) -> Result<Record, StepError> {
        if !self.running {
            return Err(StepError::Ended);
        }
        match self.sections.timers.get(timer.index()) {
            Some(row) => self.external(row.event, limit),
            None => Err(StepError::NotATimer(timer)),
        }
    }

    fn external(&mut self, event: EventId, limit: u32) -> Result<Record, StepError> {
        let enabled = self.select(Some(event));
        let mut outcome = Outcome::Ignored;
        if !enabled.is_empty() {
            let before = (self.configuration.clone(), self.history.clone());
            self.raised = 0;
            match self.microstep(&enabled).and_then(|()| self.run(1, limit)) {
                Ok(became) => outcome = became,
                Err(fault) => {
                    (self.configuration, self.history) = before;
                    self.running = true;
                    self.internal_queue.clear();
                    self.recorder.finish(None, Outcome::Ignored);
                    return Err(fault);
                }
            }
        }
        Ok(self.recorder.finish(Some(event), outcome))
    }

    fn run(&mut self, mut taken: u32, limit: u32) -> Result<Outcome, StepError> {
        while self.running {
            if self.raised > MAX_RAISED {
                return Err(StepError::RaiseLimit);
            }
            let mut enabled = self.select(None);
            if enabled.is_empty() {
                let Some(event) = self.internal_queue.pop_front() else {
                    return Ok(Outcome::Taken);
                };
                enabled = self.select(Some(event));
            }
            if !enabled.is_empty() {
                if taken == limit {
                    return Err(StepError::StepLimit { limit });
                }
                taken += 1;
                self.microstep(&enabled)?;
            }
        }
        self.internal_queue.clear();
        Ok(Outcome::Ended)
    }

    fn kind(&self, state: usize) -> StateKind {
        self.sections.states[state].kind
    }

    fn ancestors(&self, state: usize) -> Vec<usize> {
        let mut all = Vec::new();
        let mut at = state;
        while let Some(parent) = self.sections.states[at].parent {
            at = parent.index();
            all.push(at);
        }
        all
    }

    fn is_descendant(&self, state: usize, of: usize) -> bool {
        self.ancestors(state).contains(&of)
    }

    fn children(&self, state: usize) -> Vec<usize> {
        let parent = StateId::from_index(state);
        let all = 0..self.sections.states.len();
        all.filter(|&child| self.sections.states[child].parent == parent)
            .collect()
    }

    fn regions(&self, state: usize) -> Vec<usize> {
        let mut children = self.children(state);
        children.retain(|&child| !self.kind(child).is_history());
        children
    }

    fn list(&self, range: &Range<u32>) -> Vec<usize> {
        let rows = &self.sections.targets[range.start as usize..range.end as usize];
        rows.iter().map(|state| state.index()).collect()
    }

    fn initial(&self, state: usize) -> Vec<usize> {
        self.list(&self.sections.states[state].initial)
    }

    /// The active states without active children.
    pub(super) fn leaves(&self) -> Vec<usize> {
        let all = &self.configuration;
        let inside = |state| all.iter().any(|&other| self.is_descendant(other, state));
        all.iter().copied().filter(|&it| !inside(it)).collect()
    }

    fn select(&mut self, event: Option<EventId>) -> Vec<usize> {
        let mut enabled = Vec::new();
        let mut answers = BTreeMap::new();
        for leaf in self.leaves() {
            let mut chain = alloc::vec![leaf];
            chain.extend(self.ancestors(leaf));
            'leaf: for state in chain {
                for index in self.sections.states[state].transitions.clone() {
                    let index = usize::from(index);
                    let row = &self.sections.transitions[index];
                    let triggers = &self.sections.triggers
                        [row.triggers.start as usize..row.triggers.end as usize];
                    let matches = match event {
                        None => triggers.is_empty(),
                        Some(event) => triggers.contains(&event),
                    };
                    if !matches {
                        continue;
                    }
                    let known = answers.get(&index).copied();
                    let holds = known.unwrap_or_else(|| self.guard(index));
                    answers.insert(index, holds);
                    if holds {
                        if !enabled.contains(&index) {
                            enabled.push(index);
                        }
                        break 'leaf;
                    }
                }
            }
        }
        self.remove_conflicting(&enabled)
    }

    fn remove_conflicting(&self, enabled: &[usize]) -> Vec<usize> {
        let mut filtered: Vec<usize> = Vec::new();
        'next: for &one in enabled {
            let mut remove = Vec::new();
            for &other in &filtered {
                let sets = [one, other].map(|it| self.exit_set(&[it]));
                if sets[0].is_disjoint(&sets[1]) {
                    continue;
                }
                let source = |it: usize| self.sections.transitions[it].source.index();
                if self.is_descendant(source(one), source(other)) {
                    remove.push(other);
                } else {
                    continue 'next;
                }
            }
            filtered.retain(|it| !remove.contains(it));
            filtered.push(one);
        }
        filtered
    }

    fn guard(&mut self, transition: usize) -> bool {
        let range = self.sections.transitions[transition].guard.clone();
        self.program(&range)
    }

    fn program(&mut self, range: &Range<u32>) -> bool {
        let code = &self.sections.code[range.start as usize..range.end as usize];
        let is_active = |state| self.configuration.contains(&state);
        evaluator::guard(
            self.sections,
            code,
            &is_active,
            &mut self.host,
            &mut self.recorder,
        )
    }

    fn domain(&self, transition: usize) -> Option<usize> {
        let row = &self.sections.transitions[transition];
        let targets = self.list(&row.targets);
        let source = row.source.index();
        if targets.is_empty() {
            return None;
        }
        let all_in = |state| targets.iter().all(|&it| self.is_descendant(it, state));
        let compound = |state| self.kind(state) == StateKind::Compound;
        if source == 0 || (row.internal && compound(source) && all_in(source)) {
            return Some(source);
        }
        let mut around = self.ancestors(source).into_iter();
        around.find(|&state| compound(state) && all_in(state))
    }

    fn exit_set(&self, transitions: &[usize]) -> BTreeSet<usize> {
        let mut exit = BTreeSet::new();
        for domain in transitions.iter().filter_map(|&it| self.domain(it)) {
            let active = self.configuration.iter().copied();
            exit.extend(active.filter(|&state| self.is_descendant(state, domain)));
        }
        exit
    }

    fn microstep(&mut self, enabled: &[usize]) -> Result<(), StepError> {
        self.recorder.microstep();
        for &transition in enabled {
            let id = TransitionId::from_index(transition).unwrap();
            self.recorder.transition(id);
        }
        let exit = self.exit_set(enabled);
        for &state in &exit {
            for child in self.children(state) {
                let active = self.configuration.iter().copied();
                let recorded: Vec<usize> = match self.kind(child) {
                    StateKind::History => active
                        .filter(|&it| self.regions(state).contains(&it))
                        .collect(),
                    StateKind::DeepHistory => active
                        .filter(|&it| self.is_descendant(it, state) && self.kind(it).is_leaf())
                        .collect(),
                    _ => continue,
                };
                self.history.insert(child, recorded);
            }
        }
        for state in exit.into_iter().rev() {
            self.execute(self.sections.states[state].exit.clone())?;
            self.configuration.remove(&state);
            self.recorder.exited(StateId::from_index(state).unwrap());
        }
        for &transition in enabled {
            self.execute(self.sections.transitions[transition].calls.clone())?;
        }
        let mut set = EntrySet::default();
        for &transition in enabled {
            if let Some(domain) = self.domain(transition) {
                let targets = self.list(&self.sections.transitions[transition].targets);
                self.add_targets(&targets, domain, &mut set);
            }
        }
        self.enter(&set)
    }

    fn add_targets(&self, targets: &[usize], domain: usize, set: &mut EntrySet) {
        for &target in targets {
            self.add_descendants(target, set);
        }
        for &target in targets {
            for around in self.ancestors(target) {
                if around == domain {
                    break;
                }
                set.states.insert(around);
                if self.kind(around) == StateKind::Parallel {
                    self.add_regions(around, set);
                }
            }
        }
    }

    fn add_regions(&self, parallel: usize, set: &mut EntrySet) {
        for child in self.regions(parallel) {
            let mut entered = set.states.iter();
            if !entered.any(|&state| self.is_descendant(state, child)) {
                self.add_descendants(child, set);
            }
        }
    }

    fn add_descendants(&self, state: usize, set: &mut EntrySet) {
        match self.kind(state) {
            StateKind::History | StateKind::DeepHistory => {
                let parent = self.ancestors(state)[0];
                if let Some(recorded) = self.history.get(&state) {
                    self.add_targets(recorded, parent, set);
                } else {
                    set.histories.insert(parent, state);
                    self.add_targets(&self.initial(state), parent, set);
                }
            }
            kind => {
                set.states.insert(state);
                if kind == StateKind::Compound {
                    set.default.insert(state);
                    self.add_targets(&self.initial(state), state, set);
                } else if kind == StateKind::Parallel {
                    self.add_regions(state, set);
                }
            }
        }
    }

    fn is_in_final_state(&self, state: usize) -> bool {
        match self.kind(state) {
            StateKind::Compound => self.children(state).into_iter().any(|child| {
                self.kind(child) == StateKind::Final && self.configuration.contains(&child)
            }),
            StateKind::Parallel => {
                let mut regions = self.regions(state).into_iter();
                regions.all(|region| self.is_in_final_state(region))
            }
            _ => false,
        }
    }

    fn enter(&mut self, set: &EntrySet) -> Result<(), StepError> {
        for &state in &set.states {
            assert!(
                self.configuration.insert(state),
                "what is entered wasn't active"
            );
            self.recorder.entered(StateId::from_index(state).unwrap());
            let row = &self.sections.states[state];
            self.execute(row.entry.clone())?;
            if set.default.contains(&state) {
                self.execute(row.initial_calls.clone())?;
            }
            if let Some(&history) = set.histories.get(&state) {
                self.execute(self.sections.states[history].initial_calls.clone())?;
            }
            if row.kind == StateKind::Final {
                self.complete(state);
            }
        }
        Ok(())
    }

    fn complete(&mut self, state: usize) {
        let around = self.ancestors(state);
        if around == [0] {
            self.running = false;
            return;
        }
        for (at, &state) in around.iter().enumerate() {
            let last = self.kind(state) == StateKind::Parallel && self.is_in_final_state(state);
            if at > 0 && !last {
                break;
            }
            if let Some(done) = self.sections.states[state].done {
                self.raise(done);
            }
        }
    }

    fn raise(&mut self, event: EventId) {
        self.internal_queue.push_back(event);
        self.raised += 1;
        self.recorder.raised(event);
    }

    fn execute(&mut self, calls: Range<u32>) -> Result<(), StepError> {
        self.block(calls).map(|_| ())
    }

    fn block(&mut self, calls: Range<u32>) -> Result<Result<(), Skipped>, StepError> {
        for index in calls {
            let action = self.sections.calls[index as usize];
            if let Err(skipped) = self.action(action)? {
                return Ok(Err(skipped));
            }
        }
        Ok(Ok(()))
    }

    fn action(&mut self, action: ActionId) -> Result<Result<(), Skipped>, StepError> {
        match self.sections.actions[action.index()].kind.clone() {
            ActionKind::Host => self.host.action(action),
            ActionKind::Fallible => {
                let carried_out = self.host.try_action(action);
                carried_out.map_err(|_| StepError::ActionFailed(action))?;
            }
            ActionKind::Raise(event) => {
                self.recorder.action(action);
                self.raise(event);
                return Ok(Ok(()));
            }
            ActionKind::Schedule(timer, delay) => self.host.schedule(timer, delay),
            ActionKind::Cancel(timer) => self.host.cancel(timer),
            ActionKind::Assign(rows) => {
                let mut values = Vec::new();
                for row in &self.sections.assigns[rows.start as usize..rows.end as usize] {
                    let code =
                        &self.sections.code[row.value.start as usize..row.value.end as usize];
                    let is_active = |state| self.configuration.contains(&state);
                    let (host, recorder) = (&mut self.host, &mut self.recorder);
                    match evaluator::run(self.sections, code, &is_active, host, recorder) {
                        Ok(Some(value)) => values.push((row.field, value)),
                        _ => return self.no_value(action),
                    }
                }
                for (field, value) in values {
                    self.host.assign(field, value.value());
                }
            }
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => {
                let holds = self.program(&guard);
                self.recorder.action(action);
                return self.block(if holds { then } else { otherwise });
            }
        }
        self.recorder.action(action);
        Ok(Ok(()))
    }

    fn no_value(&mut self, action: ActionId) -> Result<Result<(), Skipped>, StepError> {
        let mut events = self.sections.events.iter();
        let execution = events.position(|row| {
            row.kind == EventKind::Internal
                && &*self.sections.texts[row.name.index()] == "error.execution"
        });
        let Some(event) = execution else {
            return Err(StepError::NoValue(action));
        };
        self.raise(EventId::from_index(event).unwrap());
        Ok(Err(Skipped))
    }
}

/// Whether a record is of a step that did something.
pub(super) fn is_busy(record: &Record) -> bool {
    record
        .steps
        .iter()
        .any(|step: &Microstep| !step.entered.is_empty())
}
