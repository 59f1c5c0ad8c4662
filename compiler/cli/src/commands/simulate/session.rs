//! A machine under way.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value as Json};
use statemark_compiler::diag::nearest;
use statemark_compiler::front::words::word_key;
use statemark_runs::Evaluator;
use statemark_runtime::{
    Candidate, Datum, EventId, EventKind, FieldId, GuardId, Instruction, Machine, Outcome, Record,
    Recorder, StateId, StepError, Table, TimerId, evaluate,
};

use super::desk::Desk;
use super::record::{Assigned, Became, Told, Waiting, absent, steps};
use crate::wording::{self, Place, UNKNOWN_EVENT};

/// Most timers that elapse in one wait. Unit: timers. Why: one that starts itself again would never let it end.
const MOST_ELAPSED: usize = 1_000;

/// A machine, what answers for its host, and how many events it was sent.
pub(super) struct Session<'t> {
    table: &'t Table,
    machine: Machine<'t, Desk>,
    seq: usize,
}

/// An event that could lead on from here.
pub(super) struct Way {
    /// What could be taken.
    pub(super) candidate: Candidate,
    /// Whether a guard that nobody has answered has a say in it.
    pub(super) is_open: bool,
}

impl<'t> Session<'t> {
    /// Starts the machine; the record is that of its start.
    pub(super) fn start(table: &'t Table) -> Result<(Self, Told), StepError> {
        Self::start_with(table, &Map::new())
    }

    /// The same with these fields over the spec's context.
    pub(super) fn start_with(
        table: &'t Table,
        context: &Map<String, Json>,
    ) -> Result<(Self, Told), StepError> {
        let mut recorder = Recorder::new();
        let desk = Desk::new(table, context);
        let machine = Machine::start_observed(table, desk, &mut recorder)?;
        let mut session = Self {
            table,
            machine,
            seq: 0,
        };
        let outcome = if session.is_ended() {
            Outcome::Ended
        } else {
            Outcome::Taken
        };
        let record = recorder.finish(None, outcome);
        let told = Told {
            steps: steps(table, &record),
            absent: absent(table, &record),
            ..session.told(None, None, outcome.into())
        };
        session.machine.host_mut().next_event();
        session.seq = 1;
        Ok((session, told))
    }

    pub(super) const fn table(&self) -> &'t Table {
        self.table
    }

    pub(super) const fn desk(&self) -> &Desk {
        self.machine.host()
    }

    pub(super) const fn desk_mut(&mut self) -> &mut Desk {
        self.machine.host_mut()
    }

    pub(super) fn is_ended(&self) -> bool {
        self.machine.is_ended()
    }

    /// The innermost active state; the first of them where several regions are active.
    pub(super) fn leaf(&self) -> StateId {
        let leaf = self.machine.configuration().leaves().next();
        leaf.unwrap_or_default()
    }

    /// The active states in document order, so outermost first, the root left out.
    pub(super) fn configuration(&self) -> Vec<StateId> {
        let states = self.table.states().map(|(id, _)| id).skip(1);
        states.filter(|&id| self.machine.is_in(id)).collect()
    }

    /// What could be taken from here, in the order of selection. Guards that nobody has answered leave it open.
    pub(super) fn ways(&self) -> Vec<Way> {
        let mut trial = self.machine.clone();
        let mut candidates = trial.candidates();
        // What any other name would do comes behind what has a name.
        let unknown = self.table.event_named(UNKNOWN_EVENT);
        candidates.sort_by_key(|candidate| Some(candidate.event) == unknown);
        candidates
            .into_iter()
            .map(|candidate| {
                let asked = self.guards_of(candidate);
                let is_open = asked
                    .iter()
                    .any(|&guard| self.desk().answer(guard).is_none());
                Way { candidate, is_open }
            })
            .collect()
    }

    /// The host's guards in the guard of a candidate.
    pub(super) fn guards_of(&self, candidate: Candidate) -> Vec<GuardId> {
        let code = self.table.guard(candidate.transition).iter();
        code.filter_map(|instruction| match instruction {
            Instruction::Ask(guard) => Some(*guard),
            _ => None,
        })
        .collect()
    }

    /// The fields that the guard of a candidate reads.
    pub(super) fn fields_of(&self, candidate: Candidate) -> Vec<FieldId> {
        let code = self.table.guard(candidate.transition).iter();
        let mut fields: Vec<FieldId> = code
            .filter_map(|instruction| match instruction {
                Instruction::Compare(field, ..) | Instruction::Load(field) => Some(*field),
                Instruction::Has(field) => Some(*field),
                _ => None,
            })
            .collect();
        let mut seen = BTreeSet::new();
        fields.retain(|&field| seen.insert(field));
        fields
    }

    /// The names of the events that could be taken from here, each once.
    pub(super) fn legal(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for way in self.ways() {
            let name = self.table.event_name(way.candidate.event);
            let is_possible = way.candidate.enabled || way.is_open;
            if is_possible && name != UNKNOWN_EVENT && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The event of a name, in any spelling with the same words.
    pub(super) fn event(&self, name: &str) -> Option<EventId> {
        let exact = self.table.event_named(name);
        let key = word_key(name);
        let similar = || {
            let mut events = self.table.events();
            events.find(|(id, _)| word_key(self.table.event_name(*id)) == key)
        };
        exact
            .or_else(|| similar().map(|(id, _)| id))
            .filter(|&id| self.is_sendable(id))
    }

    fn is_sendable(&self, event: EventId) -> bool {
        let row = self.table.event(event);
        row.is_some_and(|row| row.kind == EventKind::Named)
    }

    /// The guards that the event would ask in vain.
    pub(super) fn unanswered(&self, name: &str, data: Option<&Json>) -> Vec<GuardId> {
        let Some((event, _)) = self.meant(name) else {
            return Vec::new();
        };
        let mut trial = self.machine.clone();
        if let Some(data) = data {
            trial.host_mut().take_data(data);
        }
        // Whether the trial fails is told when the event is really sent.
        let _ = trial.send(event);
        trial.host().unanswered().collect()
    }

    /// The event that a name means, and whether it stands for a name that the machine doesn't have.
    fn meant(&self, name: &str) -> Option<(EventId, bool)> {
        if let Some(event) = self.event(name) {
            return Some((event, false));
        }
        let unknown = self.table.event_named(UNKNOWN_EVENT)?;
        let mut trial = self.machine.clone();
        trial.can(unknown).then_some((unknown, true))
    }

    /// Sends an event with its data. The data stays in the context only if the event is taken.
    pub(super) fn send(&mut self, name: &str, data: Option<&Json>) -> Told {
        let told = self.try_send(name, data);
        self.desk_mut().next_event();
        self.seq += 1;
        told
    }

    fn try_send(&mut self, name: &str, data: Option<&Json>) -> Told {
        if self.is_ended() {
            let ended = Place::of(self.table, self.leaf());
            return self.refused(name, format!("the machine has ended in {ended}"));
        }
        let Some((event, is_unknown)) = self.meant(name) else {
            return self.refused(name, self.unknown_reason(name));
        };
        let mut next = self.machine.clone();
        if let Some(data) = data {
            next.host_mut().take_data(data);
        }
        let mut recorder = Recorder::new();
        let outcome = match next.send_observed(event, &mut recorder) {
            Ok(outcome) => outcome,
            Err(error) => return self.refused(name, error.to_string()),
        };
        let record = recorder.finish(Some(event), outcome);
        Told {
            unknown: is_unknown.then(|| name.to_owned()),
            ..self.taken(event, next, &record)
        }
    }

    /// Moves the clock on, and sends the events of the timers that are due by then, one record each.
    pub(super) fn wait(&mut self, milliseconds: Option<u64>) -> Vec<Told> {
        let now = self.desk().now();
        let next = self.desk().waiting().next().map_or(now, |(_, due)| due);
        let then = milliseconds.map_or(next, |wait| now.saturating_add(wait));
        let mut all = Vec::new();
        while all.len() < MOST_ELAPSED
            && !self.is_ended()
            && let Some(timer) = self.desk_mut().next_due(then)
        {
            let told = self.elapse(timer);
            self.desk_mut().next_event();
            self.seq += 1;
            all.push(told);
        }
        all
    }

    fn elapse(&mut self, timer: TimerId) -> Told {
        let event = self.table.timer(timer).map(|row| row.event);
        let event = event.unwrap_or_default();
        let mut next = self.machine.clone();
        let mut recorder = Recorder::new();
        match next.elapse_observed(timer, &mut recorder) {
            Ok(outcome) => {
                let record = recorder.finish(Some(event), outcome);
                self.taken(event, next, &record)
            }
            Err(error) => self.refused(self.table.event_name(event), error.to_string()),
        }
    }

    /// What came of an event, as `next` stands behind it; that is kept unless the event was ignored.
    fn taken(&mut self, event: EventId, next: Machine<'t, Desk>, record: &Record) -> Told {
        let outcome = record.outcome;
        let from = self.leaf();
        let was_split = self.machine.configuration().leaves().count() > 1;
        let unanswered = next.host().unanswered();
        let unanswered = unanswered
            .map(|guard| self.table.guard_name(guard).to_owned())
            .collect();
        let (reason, legal) = if outcome == Outcome::Ignored {
            (Some(self.explain_ignored(next, event)), Some(self.legal()))
        } else {
            self.machine = next;
            (None, None)
        };
        let event = self.table.event_name(event).to_owned();
        Told {
            steps: steps(self.table, record),
            absent: absent(self.table, record),
            was_split,
            unanswered,
            reason,
            legal,
            ..self.told(Some(event), Some(from), outcome.into())
        }
    }

    /// Explains why the machine, in the state that the event has left it in, took nothing.
    fn explain_ignored(&self, mut machine: Machine<'t, Desk>, event: EventId) -> String {
        let table = self.table;
        let leaves = machine.configuration().leaves();
        let leaves: Vec<String> = leaves.map(|id| table.state_name(id).to_owned()).collect();
        let candidates = machine.candidates();
        let mut evaluator = Simulated(&mut machine);
        let event = table.event_name(event);
        statemark_runs::ignored(table, event, &leaves, &candidates, &mut evaluator).message()
    }

    fn has_timers(&self) -> bool {
        self.table.timers().len() > 0
    }

    fn assigned(&self) -> Vec<Assigned> {
        let assigned = self.desk().assigned();
        assigned
            .map(|(field, value)| Assigned {
                field: self.table.field_name(field).to_owned(),
                value,
            })
            .collect()
    }

    /// The timers that wait, the next first.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let waiting = self.desk().waiting();
        waiting
            .map(|(timer, due)| Waiting {
                timer: self.table.timer_name(timer).to_owned(),
                due,
            })
            .collect()
    }

    /// That no guard reads the field, if none does: setting it changes nothing.
    pub(super) fn unread(&self, field: &str) -> Option<String> {
        let fields = self.table.sections().fields.iter();
        let fields: Vec<&str> = fields.map(|&path| self.table.text(path)).collect();
        let is_within = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        // What holds a field, or lies in one, changes what a guard reads.
        if fields
            .iter()
            .any(|read| is_within(read, field) || is_within(field, read))
        {
            return None;
        }
        Some(match nearest(field, fields) {
            Some(near) => format!("no guard reads `{field}`; did you mean `{near}`?"),
            None => format!("no guard reads `{field}`"),
        })
    }

    fn unknown_reason(&self, name: &str) -> String {
        let all = self.table.events();
        let all = all.filter(|(id, _)| self.is_sendable(*id));
        let all: Vec<&str> = all.map(|(id, _)| self.table.event_name(id)).collect();
        let legal = self.legal();
        let near = nearest(name, legal.iter().map(String::as_str))
            .or_else(|| nearest(name, all.iter().copied()));
        match near {
            Some(near) => format!("there is no event `{name}`; did you mean `{near}`?"),
            None => format!("there is no event `{name}`"),
        }
    }

    fn refused(&self, name: &str, reason: String) -> Told {
        Told {
            reason: Some(reason),
            legal: Some(self.legal()),
            ..self.told(Some(name.to_owned()), Some(self.leaf()), Became::Refused)
        }
    }

    /// A record of what is so now.
    fn told(&self, event: Option<String>, from: Option<StateId>, outcome: Became) -> Told {
        let name = |state| Place::of(self.table, state);
        let ended = self.is_ended().then(|| self.leaf());
        Told {
            seq: self.seq,
            event,
            outcome,
            from: from.map(name),
            to: name(self.leaf()),
            verdict: ended.and_then(|state| wording::verdict(self.table, state)),
            steps: Vec::new(),
            absent: Vec::new(),
            configuration: self.configuration().into_iter().map(name).collect(),
            was_split: false,
            shown: wording::configuration(self.table, &self.configuration()),
            at: self.has_timers().then(|| self.desk().now()),
            assigned: self.assigned(),
            waiting: self.waiting(),
            unanswered: Vec::new(),
            unknown: None,
            reason: None,
            legal: None,
        }
    }
}

/// A simulated machine, whose guards a person answers where they have no expression.
struct Simulated<'m, 't>(&'m mut Machine<'t, Desk>);

impl Evaluator for Simulated<'_, '_> {
    fn holds(&mut self, code: &Range<u32>) -> bool {
        let table = self.0.table();
        let configuration = self.0.configuration().clone();
        let host = self.0.host_mut();
        let value = evaluate(table, code, &configuration, host, &mut Recorder::new());
        matches!(value, Ok(Datum::Bool(true)))
    }

    fn value(&self, field: FieldId) -> Option<Json> {
        self.0.host().value(field)
    }

    fn has_host(&self) -> bool {
        true
    }
}
