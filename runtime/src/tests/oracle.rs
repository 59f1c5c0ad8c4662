//! A naive interpreter, straight from SCXML's appendix D: sets of states, ancestors by walking, nothing precomputed.
//!
//! It shares no code with the engine but the rows and what operators make of values.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::evaluator;
use crate::{
    EventId, EventKind, Host, Microstep, Observer, Outcome, Record, Recorder, Sections, StateId,
    StateKind, StepError, TransitionId,
};

pub(super) struct Oracle<'s, H> {
    sections: &'s Sections,
    pub(super) configuration: BTreeSet<usize>,
    internal_queue: VecDeque<EventId>,
    running: bool,
    pub(super) host: H,
    pub(super) recorder: Recorder,
}

impl<'s, H: Host> Oracle<'s, H> {
    pub(super) fn start(
        sections: &'s Sections,
        host: H,
        limit: u32,
    ) -> Result<(Self, Record), StepError> {
        let mut this = Self {
            sections,
            configuration: BTreeSet::from([0]),
            internal_queue: VecDeque::new(),
            running: true,
            host,
            recorder: Recorder::new(),
        };
        this.execute(this.sections.states[0].initial_calls.clone());
        let target = this.initial(0);
        let (mut enter, mut default) = (BTreeSet::new(), BTreeSet::new());
        this.add_descendants(target, &mut enter, &mut default);
        this.add_ancestors(target, 0, &mut enter);
        this.enter(&enter, &default);
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
        let outcome = match self.select(Some(event)) {
            None => Outcome::Ignored,
            Some(transition) => {
                let before = self.configuration.clone();
                self.microstep(transition);
                match self.run(1, limit) {
                    Ok(outcome) => outcome,
                    Err(fault) => {
                        self.configuration = before;
                        self.running = true;
                        self.internal_queue.clear();
                        self.recorder.finish(None, Outcome::Ignored);
                        return Err(fault);
                    }
                }
            }
        };
        Ok(self.recorder.finish(Some(event), outcome))
    }

    fn run(&mut self, mut taken: u32, limit: u32) -> Result<Outcome, StepError> {
        while self.running {
            let mut enabled = self.select(None);
            if enabled.is_none() {
                let Some(event) = self.internal_queue.pop_front() else {
                    return Ok(Outcome::Taken);
                };
                enabled = self.select(Some(event));
            }
            if let Some(transition) = enabled {
                if taken == limit {
                    return Err(StepError::StepLimit { limit });
                }
                taken += 1;
                self.microstep(transition);
            }
        }
        self.internal_queue.clear();
        Ok(Outcome::Ended)
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

    fn initial(&self, state: usize) -> usize {
        self.sections.targets[self.sections.states[state].initial.start as usize].index()
    }

    fn select(&mut self, event: Option<EventId>) -> Option<TransitionId> {
        let all = &self.configuration;
        let atomic: Vec<usize> = all
            .iter()
            .copied()
            .filter(|&state| !all.iter().any(|&other| self.is_descendant(other, state)))
            .collect();
        assert_eq!(atomic.len(), 1);
        let mut chain = atomic.clone();
        chain.extend(self.ancestors(atomic[0]));
        for state in chain {
            for (index, row) in self.sections.transitions.iter().enumerate() {
                let triggers =
                    &self.sections.triggers[row.triggers.start as usize..row.triggers.end as usize];
                let matches = match event {
                    None => triggers.is_empty(),
                    Some(event) => triggers.contains(&event),
                };
                if row.source.index() == state && matches && self.guard(index) {
                    return TransitionId::from_index(index);
                }
            }
        }
        None
    }

    fn guard(&mut self, transition: usize) -> bool {
        let range = self.sections.transitions[transition].guard.clone();
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

    fn microstep(&mut self, transition: TransitionId) {
        self.recorder.transition(transition);
        let row = &self.sections.transitions[transition.index()];
        let target =
            self.sections.targets[row.targets.start as usize..row.targets.end as usize].first();
        let source = row.source.index();
        let domain = target.map(|target| {
            let inside = self.is_descendant(target.index(), source);
            if (row.internal && inside) || source == 0 {
                return source;
            }
            let mut around = self.ancestors(source).into_iter();
            around
                .find(|&state| self.is_descendant(target.index(), state))
                .unwrap()
        });
        if let Some(domain) = domain {
            let exit: Vec<usize> = (self.configuration.iter().copied())
                .filter(|&state| self.is_descendant(state, domain))
                .collect();
            for state in exit.into_iter().rev() {
                self.execute(self.sections.states[state].exit.clone());
                self.configuration.remove(&state);
                self.recorder.exited(StateId::from_index(state).unwrap());
            }
        }
        self.execute(row.calls.clone());
        if let Some((target, domain)) = target.zip(domain) {
            let (mut enter, mut default) = (BTreeSet::new(), BTreeSet::new());
            self.add_descendants(target.index(), &mut enter, &mut default);
            self.add_ancestors(target.index(), domain, &mut enter);
            self.enter(&enter, &default);
        }
    }

    fn add_descendants(
        &self,
        state: usize,
        enter: &mut BTreeSet<usize>,
        default: &mut BTreeSet<usize>,
    ) {
        enter.insert(state);
        if self.sections.states[state].kind == StateKind::Compound {
            default.insert(state);
            let target = self.initial(state);
            self.add_descendants(target, enter, default);
            self.add_ancestors(target, state, enter);
        }
    }

    fn add_ancestors(&self, state: usize, until: usize, enter: &mut BTreeSet<usize>) {
        enter.extend(
            self.ancestors(state)
                .into_iter()
                .take_while(|&above| above != until),
        );
    }

    fn enter(&mut self, enter: &BTreeSet<usize>, default: &BTreeSet<usize>) {
        for &state in enter {
            assert!(
                self.configuration.insert(state),
                "what is entered wasn't active"
            );
            self.recorder.entered(StateId::from_index(state).unwrap());
            let row = &self.sections.states[state];
            self.execute(row.entry.clone());
            if default.contains(&state) {
                self.execute(row.initial_calls.clone());
            }
            if row.kind == StateKind::Final {
                let parent = row.parent.unwrap().index();
                if parent == 0 {
                    self.running = false;
                } else if let Some(done) = self.sections.states[parent].done {
                    self.internal_queue.push_back(done);
                    self.recorder.raised(done);
                }
            }
        }
    }

    fn execute(&mut self, calls: core::ops::Range<u32>) {
        for index in calls {
            let action = self.sections.calls[index as usize];
            self.recorder.action(action);
            match self.sections.actions[action.index()].kind.raised() {
                None => self.host.action(action),
                Some(event) => {
                    self.internal_queue.push_back(event);
                    self.recorder.raised(event);
                }
            }
        }
    }
}

/// Whether a record is of a step that did something.
pub(super) fn is_busy(record: &Record) -> bool {
    record
        .steps
        .iter()
        .any(|step: &Microstep| !step.entered.is_empty())
}
