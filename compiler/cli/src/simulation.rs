//! Simulations: a machine without a run, stepped by the stepper of runs.
//!
//! A simulation stores nothing, carries out no action, and asks nobody for approval. Its clock stands still until somebody
//! moves it, and guards without an expression are answered by a person or a script.

pub(crate) mod line;
pub(crate) mod record;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use statemark_compiler::datum;
use statemark_compiler::front::words::word_key;
use statemark_runs::body::Arming;
use statemark_runs::{
    CannotStep, Evaluator as _, Moment, RunHost, RunId, StepInput, Stepper, Workflow, raised_when,
    required_for,
};
use statemark_runtime::{
    Candidate, EventId, FieldId, GuardId, Instruction, Machine, Outcome, StateId, Table, TimerId,
    Timers,
};
use statemark_text::suggest::nearest;
use statemark_tools::{Problem, Simulated, Simulation};

use crate::describe::{self, StateLabel, UNKNOWN_EVENT};
use line::Line;
use record::{ArmedTimer, Assignment, EventOutcome, EventRecord, MicrostepRecord};

/// Most timers that fire in one wait. Unit: timers. Why: one that restarts itself would fire forever.
const MAX_FIRED: usize = 1_000;

/// Most records for a program. Why: in a wait of years, a timer that restarts itself fires often.
const MAX_RECORDS: usize = 20_000;

/// A machine that is simulated.
pub(crate) struct Simulator<'w> {
    workflow: &'w Workflow,
    run: RunId,
    stepper: Stepper<'w>,
    timers: Timers,
    /// The time. Unit: milliseconds since the start.
    now: u64,
    /// The answers to guards from now on.
    answers: BTreeMap<GuardId, bool>,
    /// The answers to guards for the event that is being sent.
    event_answers: BTreeMap<GuardId, bool>,
    /// The number of records so far.
    seq: usize,
}

/// The cause of an event: a sender, or the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Somebody who sends it.
    Sender,
    /// The run itself, when something has happened that a simulation knows nothing of.
    Run,
}

/// A transition that an event could take.
pub(crate) struct Choice {
    /// The transition and its event.
    pub(crate) candidate: Candidate,
    /// True if a guard that nobody has answered decides.
    pub(crate) is_open: bool,
}

impl<'w> Simulator<'w> {
    /// Starts the machine of a workflow, with fields over its context, and returns the record of the start.
    pub(crate) fn start(
        workflow: &'w Workflow,
        fields: &Map<String, Value>,
    ) -> Result<(Self, EventRecord), CannotStep> {
        let context = workflow.meta().get("context").and_then(Value::as_object);
        let mut context = context.cloned().unwrap_or_default();
        context.extend(fields.clone());
        let mut simulator = Self {
            workflow,
            run: RunId::for_workflow_and_key(workflow.id(), "simulation"),
            stepper: Stepper::fresh(workflow, &context)?,
            timers: Timers::new(),
            now: 0,
            answers: BTreeMap::new(),
            event_answers: BTreeMap::new(),
            seq: 0,
        };
        let record = simulator.step(None, StepInput::Start, None)?;
        simulator.seq = 1;
        Ok((simulator, record))
    }

    /// Returns the machine's table.
    pub(crate) const fn table(&self) -> &'w Table {
        self.workflow.table()
    }

    /// Returns the time. Unit: milliseconds since the start.
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    fn machine(&self) -> Option<&Machine<'w, RunHost>> {
        self.stepper.machine()
    }

    /// Reports whether the machine has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.machine().is_some_and(Machine::is_ended)
    }

    /// Returns the innermost active state; the first of them where several regions are active.
    pub(crate) fn leaf(&self) -> StateId {
        self.leaves().first().copied().unwrap_or_default()
    }

    fn leaves(&self) -> Vec<StateId> {
        let machine = self.machine();
        machine.map_or_else(Vec::new, |machine| {
            machine.configuration().leaves().collect()
        })
    }

    /// Returns the active states without the root, outermost first.
    pub(crate) fn configuration(&self) -> Vec<StateId> {
        let states = self.table().states().map(|(id, _)| id).skip(1);
        let is_active = |id: &StateId| self.machine().is_some_and(|machine| machine.is_in(*id));
        states.filter(is_active).collect()
    }

    /// Returns the context.
    pub(crate) fn context(&self) -> Value {
        self.machine().map_or(Value::Null, |_| {
            Value::Object(self.stepper.context().to_map())
        })
    }

    /// Returns the value of a field, if it is there.
    pub(crate) fn value(&self, field: FieldId) -> Option<Value> {
        self.stepper.value(field)
    }

    /// Sets a field of the context; objects on its dotted path are made where they are missing.
    pub(crate) fn set(&mut self, path: &str, value: Value) -> Result<(), CannotStep> {
        let mut context = self.context();
        let mut field = &mut context;
        for key in path.split('.') {
            if !field.is_object() {
                *field = Value::Object(Map::new());
            }
            let Some(object) = field.as_object_mut() else {
                return Ok(());
            };
            field = object.entry(key).or_insert(Value::Null);
        }
        *field = value;
        match context {
            Value::Object(context) => self.stepper.set_context(&context),
            _ => Ok(()),
        }
    }

    /// Answers a guard from now on.
    pub(crate) fn answer(&mut self, guard: GuardId, answer: bool) {
        self.answers.insert(guard, answer);
    }

    /// Returns the transitions that could be taken in the order of selection, that of unknown events last.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let mut trial = self.trial(&BTreeMap::new());
        let mut candidates = trial.candidates(None, None).unwrap_or_default();
        let unknown = self.table().event_named(UNKNOWN_EVENT);
        candidates.sort_by_key(|candidate| Some(candidate.event) == unknown);
        let is_open = |candidate: Candidate| {
            let code = self.table().guard(candidate.transition).iter();
            let mut guards = code.filter_map(|instruction| match instruction {
                Instruction::Ask(guard) => Some(guard),
                _ => None,
            });
            guards.any(|guard| {
                !self.answers.contains_key(guard) && !self.event_answers.contains_key(guard)
            })
        };
        let candidates = candidates.into_iter();
        candidates
            .map(|candidate| Choice {
                candidate,
                is_open: is_open(candidate),
            })
            .collect()
    }

    /// Returns the fields that the guard of a candidate reads, each once.
    pub(crate) fn fields(&self, candidate: Candidate) -> Vec<FieldId> {
        let code = self.table().guard(candidate.transition).iter();
        let mut seen = BTreeSet::new();
        code.filter_map(|instruction| match instruction {
            Instruction::Compare(field, ..) | Instruction::Load(field) => Some(*field),
            Instruction::Has(field) => Some(*field),
            _ => None,
        })
        .filter(|field| seen.insert(*field))
        .collect()
    }

    /// Returns the names of the events that could be taken, each once.
    pub(crate) fn legal(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for choice in self.choices() {
            let name = self.table().event_name(choice.candidate.event);
            let is_possible = choice.candidate.enabled || choice.is_open;
            let is_sendable = self.is_sendable(choice.candidate.event);
            if is_possible && is_sendable && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns the event of a name, in any spelling with the same words.
    pub(crate) fn event(&self, name: &str) -> Option<EventId> {
        let table = self.table();
        let key = word_key(name);
        let similar = || {
            let mut events = table.events();
            events.find(|(id, _)| word_key(table.event_name(*id)) == key)
        };
        let event = table.event_named(name);
        event.or_else(|| similar().map(|(id, _)| id))
    }

    fn is_sendable(&self, event: EventId) -> bool {
        statemark_runs::explain_internal(self.table(), event).is_none()
    }

    /// Returns the event that a name means, and whether it stands for a name that the machine doesn't have.
    ///
    /// # Errors
    ///
    /// The reason why it is refused.
    fn resolve(
        &self,
        name: &str,
        data: Option<&Value>,
        origin: Origin,
    ) -> Result<(EventId, bool), String> {
        if self.is_ended() {
            let state = StateLabel::new(self.table(), self.leaf());
            return Err(format!("the machine has ended in {state}"));
        }
        let Some(event) = self.event(name) else {
            return match self
                .unknown_event_caught()
                .filter(|_| origin == Origin::Sender)
            {
                Some(event) => Ok((event, true)),
                None => Err(self.unknown_event(name)),
            };
        };
        if let Some(reason) = self.explain_ambiguous(event) {
            return Err(reason);
        }
        let name = self.table().event_name(event);
        match (
            origin,
            statemark_runs::explain_internal(self.table(), event),
        ) {
            (Origin::Run, _) if raised_when(name).is_none() => {
                return Err(format!(
                    "a run doesn't raise `{name}`: write it without `:raise`"
                ));
            }
            (Origin::Sender, Some(blocker)) => {
                let instead = self.instead_of(event);
                return Err(format!("{}{instead}", blocker.message()));
            }
            _ => {}
        }
        let context = self.stepper.context();
        match statemark_runs::explain_data(self.workflow, context, event, data) {
            Some(blocker) => Err(blocker.message()),
            None => Ok((event, false)),
        }
    }

    /// Says how an internal event comes about in a simulation.
    fn instead_of(&self, event: EventId) -> String {
        let table = self.table();
        let name = table.event_name(event);
        let mut timers = table.timers();
        if raised_when(name).is_some() {
            format!(": `:raise {name}` does what the run would")
        } else if timers.any(|(_, timer)| timer.event == event) {
            ": `:wait` lets the time pass until it comes".to_owned()
        } else {
            String::new()
        }
    }

    /// Returns the event that stands for names that the machine doesn't have, if it would be taken.
    fn unknown_event_caught(&self) -> Option<EventId> {
        let unknown = self.table().event_named(UNKNOWN_EVENT)?;
        let choices = self.choices();
        let mut choices = choices.iter().map(|choice| choice.candidate);
        choices
            .any(|candidate| candidate.event == unknown && candidate.enabled)
            .then_some(unknown)
    }

    /// Returns the stepper for a trial, with more answers for one event.
    fn trial(&self, answers: &BTreeMap<GuardId, bool>) -> Stepper<'w> {
        let mut trial = self.stepper.clone();
        let mut all = self.answers.clone();
        all.extend(&self.event_answers);
        all.extend(answers);
        trial.answer_guards(all);
        trial
    }

    /// Returns the guards that an event would ask and that nobody has answered.
    pub(crate) fn unanswered(
        &self,
        name: &str,
        data: Option<&Value>,
        origin: Origin,
        answers: &BTreeMap<GuardId, bool>,
    ) -> Vec<GuardId> {
        let Ok((event, _)) = self.resolve(name, data, origin) else {
            return Vec::new();
        };
        let mut trial = self.trial(answers);
        // A failure is reported when the event is sent.
        let _ = trial.step(StepInput::Event(event), data, self.moment());
        let host = trial.machine().map(Machine::host);
        host.map_or_else(Vec::new, |host| host.unanswered().iter().copied().collect())
    }

    /// Sends or raises an event, with answers to guards for this event alone.
    pub(crate) fn send(
        &mut self,
        name: &str,
        data: Option<&Value>,
        origin: Origin,
        answers: &BTreeMap<GuardId, bool>,
    ) -> EventRecord {
        let record = match self.resolve(name, data, origin) {
            Ok((event, is_unknown)) => {
                let before = self.stepper.clone();
                self.event_answers.clone_from(answers);
                self.stepper = self.trial(&BTreeMap::new());
                match self.step(Some(event), StepInput::Event(event), data) {
                    Ok(record) => EventRecord {
                        unknown: is_unknown.then(|| name.to_owned()),
                        ..record
                    },
                    Err(error) => {
                        self.stepper = before;
                        self.refuse(name, error.to_string())
                    }
                }
            }
            Err(reason) => self.refuse(name, reason),
        };
        self.event_answers.clear();
        self.seq += 1;
        record
    }

    /// Lets time pass, by default until the next timer is due, and records each timer that fires.
    pub(crate) fn wait(&mut self, milliseconds: Option<u64>) -> Vec<EventRecord> {
        let next = self.timers.next_due().unwrap_or(self.now);
        let until = milliseconds.map_or(next, |length| self.now.saturating_add(length));
        let mut records = Vec::new();
        while records.len() < MAX_FIRED
            && !self.is_ended()
            && let Some(timer) = self.next_due(until)
        {
            records.push(self.fire(timer));
            self.seq += 1;
        }
        records
    }

    /// Moves the clock to the next timer that is due by then, and takes it; without one, to then.
    fn next_due(&mut self, until: u64) -> Option<TimerId> {
        let due = self.timers.next_due().filter(|&due| due <= until);
        self.now = due.unwrap_or(until).max(self.now);
        self.timers.pop_due(self.now).filter(|_| due.is_some())
    }

    fn fire(&mut self, timer: TimerId) -> EventRecord {
        let event = self.table().timer(timer).map(|row| row.event);
        let event = event.unwrap_or_default();
        let before = self.stepper.clone();
        self.stepper = self.trial(&BTreeMap::new());
        match self.step(Some(event), StepInput::Timer(timer), None) {
            Ok(record) => record,
            Err(error) => {
                self.stepper = before;
                self.refuse(self.table().event_name(event), error.to_string())
            }
        }
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            run: &self.run,
            seq: u64::try_from(self.seq).unwrap_or(u64::MAX),
            now: self.now,
        }
    }

    /// Makes a step, and describes it.
    fn step(
        &mut self,
        event: Option<EventId>,
        input: StepInput<'_>,
        data: Option<&Value>,
    ) -> Result<EventRecord, CannotStep> {
        let table = self.table();
        let leaves = self.leaves();
        let moment = Moment {
            run: &self.run,
            seq: u64::try_from(self.seq).unwrap_or(u64::MAX),
            now: self.now,
        };
        let (outcome, step) = self.stepper.step(input, data, moment)?;
        // Timers and what the run itself raises need nothing.
        let sent = event.filter(|&event| self.is_sendable(event));
        let granted = sent.map_or_else(Vec::new, |event| {
            let context = self.stepper.context();
            required_for(self.workflow, table.event_name(event), context, &step)
        });
        self.arm_timers(&step.timers);
        let outcome = if event.is_none() && self.is_ended() {
            Outcome::Ended
        } else {
            outcome
        };
        let is_ignored = outcome == Outcome::Ignored;
        let reason = event
            .filter(|_| is_ignored)
            .map(|event| self.explain_ignored(event, data));
        let host = self.machine().map(Machine::host);
        let host_of_event = host.filter(|_| event.is_some());
        let unanswered = host_of_event.into_iter().flat_map(RunHost::unanswered);
        let assigned = host.into_iter().flat_map(RunHost::assigned);
        let event_name = event.map(|event| table.event_name(event).to_owned());
        let from = event.and_then(|_| leaves.first().copied());
        Ok(EventRecord {
            unanswered: unanswered
                .map(|guard| table.guard_name(*guard).to_owned())
                .collect(),
            assigned: assigned
                .map(|(field, value)| Assignment {
                    field: table.field_name(*field).to_owned(),
                    value: datum::to_json(value),
                })
                .collect(),
            absent: step.absent,
            steps: step
                .steps
                .into_iter()
                .map(|microstep| MicrostepRecord::new(table, microstep))
                .collect(),
            granted,
            was_parallel: leaves.len() > 1,
            reason,
            legal: is_ignored.then(|| self.legal()),
            ..self.record(event_name, from, outcome.into())
        })
    }

    /// Arms and cancels timers as a step says.
    fn arm_timers(&mut self, armings: &[Arming]) {
        let table = self.table();
        for arming in armings {
            let mut timers = table.timers().map(|(id, _)| id);
            let timer = timers.find(|id| table.timer_name(*id) == arming.timer);
            match (timer, arming.due) {
                (Some(timer), Some(due)) => self.timers.schedule(timer, due),
                (Some(timer), None) => self.timers.cancel(timer),
                (None, _) => {}
            }
        }
    }

    /// Explains why a label is refused that leads to several places from an active state.
    fn explain_ambiguous(&self, label: EventId) -> Option<String> {
        let is_active = |state| self.machine().is_some_and(|machine| machine.is_in(state));
        let blocker = statemark_runs::explain_ambiguous(self.table(), label, is_active);
        blocker.map(|blocker| blocker.message())
    }

    /// Explains why nothing took an event.
    fn explain_ignored(&self, event: EventId, data: Option<&Value>) -> String {
        let table = self.table();
        let leaves = self.leaves().into_iter();
        let leaves: Vec<String> = leaves.map(|id| table.state_name(id).to_owned()).collect();
        let mut trial = self.stepper.clone();
        let candidates = trial.candidates(Some(event), data).unwrap_or_default();
        let event = table.event_name(event);
        statemark_runs::explain_ignored(table, event, &leaves, &candidates, &mut trial).message()
    }

    /// Returns the timers that are armed, the next first.
    pub(crate) fn armed_timers(&self) -> Vec<ArmedTimer> {
        let timers = self.timers.iter();
        timers
            .map(|(timer, due)| ArmedTimer {
                timer: self.table().timer_name(timer).to_owned(),
                due,
            })
            .collect()
    }

    /// Says that no guard reads a field, if none does: setting it changes nothing.
    pub(crate) fn unread_field(&self, field: &str) -> Option<String> {
        let fields = self.table().sections().fields.iter();
        let fields: Vec<&str> = fields.map(|&path| self.table().text(path)).collect();
        let is_within = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        // A field that holds one which a guard reads, or lies in one, changes that one, too.
        if fields
            .iter()
            .any(|read| is_within(read, field) || is_within(field, read))
        {
            return None;
        }
        Some(match nearest(field, fields) {
            Some(meant) => format!("no guard reads `{field}`; did you mean `{meant}`?"),
            None => format!("no guard reads `{field}`"),
        })
    }

    fn unknown_event(&self, name: &str) -> String {
        let events = self.table().events();
        let events = events.filter(|(id, _)| self.is_sendable(*id));
        let events: Vec<&str> = events.map(|(id, _)| self.table().event_name(id)).collect();
        let legal = self.legal();
        let meant = nearest(name, legal.iter().map(String::as_str));
        match meant.or_else(|| nearest(name, events)) {
            Some(meant) => format!("there is no event `{name}`; did you mean `{meant}`?"),
            None => format!("there is no event `{name}`"),
        }
    }

    fn refuse(&self, name: &str, reason: String) -> EventRecord {
        EventRecord {
            reason: Some(reason),
            legal: Some(self.legal()),
            ..self.record(
                Some(name.to_owned()),
                Some(self.leaf()),
                EventOutcome::Refused,
            )
        }
    }

    /// Makes a record of the machine as it is.
    fn record(
        &self,
        event: Option<String>,
        from: Option<StateId>,
        outcome: EventOutcome,
    ) -> EventRecord {
        let table = self.table();
        let label = |state| StateLabel::new(table, state);
        let end = self.is_ended().then(|| self.leaf());
        EventRecord {
            seq: self.seq,
            event,
            outcome,
            from: from.map(label),
            to: label(self.leaf()),
            verdict: end.and_then(|state| describe::verdict(table, state)),
            steps: Vec::new(),
            granted: Vec::new(),
            absent: Vec::new(),
            configuration: self.configuration().into_iter().map(label).collect(),
            was_parallel: false,
            active: describe::configuration(table, &self.configuration()),
            at: (table.timers().len() > 0).then_some(self.now),
            assigned: Vec::new(),
            waiting: self.armed_timers(),
            unanswered: Vec::new(),
            unknown: None,
            reason: None,
            legal: None,
        }
    }
}

/// Says that no guard has a name, and which there are.
pub(crate) fn unknown_guard(name: &str, table: &Table) -> String {
    let guards = table.sections().guards.iter();
    let guards: Vec<&str> = guards.map(|&guard| table.text(guard)).collect();
    match guards.as_slice() {
        [] => format!("no guard is called `{name}`: this machine asks none"),
        [only] => format!("no guard is called `{name}`; the only one is `{only}`"),
        _ => format!(
            "no guard is called `{name}`; there are {}",
            guards.join(", ")
        ),
    }
}

/// Simulates some events for a program. Nothing is sent before all of them were read.
///
/// # Errors
///
/// An event can't be read, the machine can't start, or there are more than 20,000 records.
pub(crate) fn simulate(workflow: &Workflow, wanted: &Simulation<'_>) -> Result<Simulated, Problem> {
    let table = workflow.table();
    let lines = read_events(table, wanted.events)?;
    let (mut simulator, start) = Simulator::start(workflow, wanted.context).map_err(|error| {
        Problem::new("cannot_start", format!("the machine can't start: {error}"))
    })?;
    let mut records = vec![json!(start)];
    for line in lines {
        match line {
            Line::Send { name, data } => {
                let none = BTreeMap::new();
                let record = simulator.send(&name, data.as_ref(), Origin::Sender, &none);
                records.push(json!(record));
            }
            Line::Raise { name, data } => {
                let none = BTreeMap::new();
                let record = simulator.send(&name, data.as_ref(), Origin::Run, &none);
                records.push(json!(record));
            }
            Line::Wait(milliseconds) => {
                let fired = simulator.wait(milliseconds);
                records.extend(fired.iter().map(|record| json!(record)));
            }
            Line::Set { path, value } => simulator.set(&path, value).map_err(|error| {
                Problem::new(
                    "invalid_arguments",
                    format!("`{path}` can't be set: {error}"),
                )
            })?,
            Line::Guard { name, answer } => {
                if let Some(guard) = table.guard_named(&name) {
                    simulator.answer(guard, answer);
                }
            }
            Line::Nothing | Line::Context | Line::Help | Line::Quit => {}
        }
        if records.len() > MAX_RECORDS {
            let message = format!("there are more than {MAX_RECORDS} records: wait for less");
            return Err(Problem::new("too_long", message));
        }
    }
    let configuration = simulator.configuration().into_iter();
    Ok(Simulated {
        records,
        configuration: configuration
            .map(|state| table.state_name(state).to_owned())
            .collect(),
        context: simulator.context(),
        legal: simulator.legal(),
        is_final: simulator.is_ended(),
    })
}

/// Reads events of a program as the lines of a script.
fn read_events(table: &Table, events: &[Value]) -> Result<Vec<Line>, Problem> {
    let lines = events.iter().enumerate().map(|(index, event)| {
        let refuse = |why: String| {
            let path = format!("events[{index}]");
            Problem::new("invalid_arguments", format!("`{path}`: {why}"))
                .with(json!({"path": path}))
        };
        let text = match event {
            Value::String(line) if line.contains('\n') => {
                return Err(refuse(
                    "it has several lines; write one event each".to_owned(),
                ));
            }
            Value::String(line) => line.clone(),
            Value::Object(_) => event.to_string(),
            _ => return Err(refuse("it is neither a string nor an object".to_owned())),
        };
        match line::read(&text).map_err(refuse)? {
            Line::Help | Line::Context | Line::Quit => {
                Err(refuse(format!("`{}` is for the prompt", text.trim())))
            }
            Line::Guard { name, .. } if table.guard_named(&name).is_none() => {
                Err(refuse(unknown_guard(&name, table)))
            }
            line => Ok(line),
        }
    });
    lines.collect()
}
