//! Explanations: why a run is where it is, and what would move it.
//!
//! Every reason is a [`Blocker`] that is taken from the run state and the machine, never guessed. A remedy is a call that can
//! be made now, or names what has to come first.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::blocker::{Blocker, Path, PendingRequest, Surface};
use crate::body::{EffectStatus, Refused, RequestKind};
use crate::internal::SENT_BACK;
use crate::legality::{Attempt, Legal, Legality, distance, takers};
use crate::loaded::Loaded;
use crate::remedy::Remedy;
use crate::runs::RunError;
use crate::state::{Status, WaitingFor};
use crate::step::Stepper;

/// The reasons that a run is where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The run's status.
    pub status: Status,
    /// The reasons, the most pressing first.
    pub reasons: Vec<Reason>,
}

/// A reason, and what would change it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The reason.
    pub blocker: Blocker,
    /// The action that would change it.
    pub remedy: Option<Remedy>,
}

impl Reason {
    fn new(run: &Loaded, blocker: Blocker) -> Self {
        Self {
            remedy: blocker.remedy(run),
            blocker,
        }
    }

    /// Returns its code, `approval_open` or `guard_false` for example.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.blocker.code(Surface::Explanation)
    }

    /// Returns it in words.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocker.message()
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 2 + usize::from(self.remedy.is_some());
        let mut reason = serializer.serialize_struct("Reason", fields)?;
        reason.serialize_field("code", self.code())?;
        reason.serialize_field("text", &self.text())?;
        if let Some(remedy) = &self.remedy {
            reason.serialize_field("next", remedy)?;
        }
        reason.end()
    }
}

/// Explains why a run is where it is, or why an event would be taken or not.
///
/// # Errors
///
/// The state isn't one of the workflow's machine.
pub fn explain(run: &Loaded, event: Option<&str>) -> Result<Explanation, RunError> {
    let blockers = match (standstill(run), event) {
        (Some(standstill), Some(_)) => vec![standstill],
        (None, Some(name)) => self::event(run, name)?,
        (standstill, None) => at_rest(run, standstill)?,
    };
    let reasons = blockers.into_iter().map(|it| Reason::new(run, it));
    Ok(Explanation {
        status: run.state.status(),
        reasons: reasons.collect(),
    })
}

/// Returns the reason that nothing at all is taken.
///
/// A run that is over stays so, even while its files are restored.
pub(crate) fn standstill(run: &Loaded) -> Option<Blocker> {
    let legality = Legality::new(run);
    if run.state.status().is_over() {
        legality.stopped()
    } else {
        legality.standstill()
    }
}

/// Returns all reasons of a run at rest.
///
/// They are a standstill, pending waits, upcoming events, and what was refused last. If its cause still holds, that comes
/// first of the upcoming events, and the refusal says nothing more.
fn at_rest(run: &Loaded, standstill: Option<Blocker>) -> Result<Vec<Blocker>, RunError> {
    let stands_still = standstill.is_some();
    let mut blockers: Vec<Blocker> = standstill.into_iter().collect();
    if !run.state.status().is_over() {
        blockers.extend(waits(run));
    }
    let waiting = blockers.len();
    if !stands_still {
        blockers.extend(upcoming(run)?);
    }
    if let Some((seq, refused)) = &run.state.refused {
        let mut all = blockers.iter();
        match all.position(|it| it.message() == refused.reason) {
            Some(at) if at >= waiting => {
                let cause = blockers.remove(at);
                blockers.insert(waiting, cause);
            }
            Some(_) => {}
            None => blockers.push(last_refused(*seq, refused)),
        }
    }
    Ok(blockers)
}

/// Returns the refusal that is the run's last record.
fn last_refused(seq: u64, refused: &Refused) -> Blocker {
    Blocker::LastRefused {
        subject: refused.subject.clone(),
        seq,
        code: refused.code.clone(),
        reason: refused.reason.clone(),
    }
}

/// Returns what a run waits for, and what is queued and unknown.
fn waits(run: &Loaded) -> Vec<Blocker> {
    let state = &run.state;
    let waiting_for = state.waiting_for().into_iter();
    let mut blockers: Vec<Blocker> = waiting_for.filter_map(|it| wait(run, it)).collect();
    for request in state.open_requests() {
        let opened = &request.opened;
        if opened.kind != RequestKind::Approval && !opened.blocking {
            blockers.push(pending(request));
        }
    }
    let queued = state.queue.iter().map(|queued| Blocker::Queued {
        event: queued.event.clone(),
    });
    blockers.extend(queued);
    let effects = state.effects.iter().filter_map(|(key, effect)| {
        let status = effect.status?;
        let is_open = matches!(status, EffectStatus::Intended | EffectStatus::Unknown);
        is_open.then(|| Blocker::EffectUnknown {
            key: key.clone(),
            name: effect.name.clone(),
            intended: status == EffectStatus::Intended,
        })
    });
    blockers.extend(effects);
    blockers
}

fn wait(run: &Loaded, waiting_for: WaitingFor) -> Option<Blocker> {
    let state = &run.state;
    Some(match waiting_for {
        WaitingFor::Approval { request } | WaitingFor::Question { request } => {
            pending(state.requests.get(&request)?)
        }
        WaitingFor::Step { step } => {
            let units = state.steps.get(&step);
            let own = units.and_then(|units| units.get(""));
            let message = own.and_then(|it| it.message.clone());
            Blocker::StepWaiting { step, message }
        }
        // A known workflow starts at once.
        WaitingFor::Workflow { workflow, .. } if state.invokes.contains_key(&workflow) => {
            return None;
        }
        WaitingFor::Workflow { workflow, step } => Blocker::ChildUnknown { step, workflow },
        WaitingFor::Child { run } => {
            let child = state.children.get(&run);
            let step = child.and_then(|it| it.step.clone()).unwrap_or_default();
            Blocker::ChildRunning { step, run }
        }
    })
}

fn pending(request: &crate::state::Request) -> Blocker {
    Blocker::RequestPending {
        request: PendingRequest::new(request),
        prompt: request.opened.prompt.clone(),
    }
}

/// Returns the upcoming events and their blockers.
///
/// Events that wait for a request are left out: the request is a reason of its own.
fn upcoming(run: &Loaded) -> Result<Vec<Blocker>, RunError> {
    let legality = Legality::new(run);
    let state = &run.state;
    let mut blockers = spent_calls(run);
    for legal in legality.transitions()? {
        if legality.request_first(&legal.event).is_none() {
            blockers.push(transition(legal));
        }
    }
    blockers.sort_by_key(urgency);
    blockers.extend(sent_back(run)?);
    let timers = state.timers.iter().filter_map(|timer| {
        let event = timer.name.strip_prefix("timer:")?.to_owned();
        let (due, held) = (timer.due, state.is_held());
        Some(Blocker::TimerPending { event, due, held })
    });
    blockers.extend(timers);
    if blockers.is_empty() && state.waiting_for().is_empty() {
        let states = state.leaves.clone();
        blockers.push(Blocker::DeadEnd { states });
    }
    Ok(blockers)
}

/// Returns a transition's blocker; of an enabled one, that its event is awaited.
fn transition(legal: Legal) -> Blocker {
    legal.blocker.unwrap_or(Blocker::EventAwaited {
        event: legal.event,
        from: legal.from,
        to: legal.to,
        requires_approval: legal.requires_approval,
    })
}

/// Returns the rank of an upcoming event.
///
/// What leads on comes first, then what stays, then what isn't taken.
fn urgency(blocker: &Blocker) -> u8 {
    match blocker {
        Blocker::EventAwaited { from, to, .. } if !to.is_empty() && !to.contains(from) => 0,
        Blocker::EventAwaited { .. } => 1,
        _ => 2,
    }
}

/// Returns the active states that have used their tool calls.
fn spent_calls(run: &Loaded) -> Vec<Blocker> {
    let visits = run.state.visits.iter();
    let visits = visits.filter(|(_, visit)| visit.left.is_none());
    let spent = visits.filter_map(|(state, visit)| {
        let max = run.limit(state, "max_iterations")?;
        let state = state.clone();
        (visit.iterations >= max).then_some(Blocker::CallsSpent { state, max })
    });
    spent.collect()
}

/// Returns where a review that is sent back would lead, if an active state takes that.
fn sent_back(run: &Loaded) -> Result<Option<Blocker>, RunError> {
    let table = run.workflow.table();
    let Some(id) = table.event_named(SENT_BACK) else {
        return Ok(None);
    };
    if Legality::new(run).request_first(SENT_BACK).is_some() {
        return Ok(None);
    }
    let mut stepper = Stepper::restored(&run.workflow, &run.state)?;
    let candidates = stepper.candidates(None, None)?;
    let taken = candidates.iter().find(|it| it.event == id && it.enabled);
    Ok(taken.map(|taken| {
        let targets = table.targets(taken.transition).iter();
        let to = targets.map(|it| table.state_name(*it).to_owned());
        Blocker::InternalEvent {
            event: SENT_BACK.to_owned(),
            to: Some(to.collect()),
            path: Path::Unexplored,
        }
    }))
}

/// Returns why an event would be taken or not by a run that doesn't stand still.
pub(crate) fn event(run: &Loaded, name: &str) -> Result<Vec<Blocker>, RunError> {
    let legality = Legality::new(run);
    if let Some(request) = legality.request_first(name) {
        return Ok(vec![request]);
    }
    let transitions = legality.transitions()?;
    let (own, others): (Vec<Legal>, Vec<Legal>) =
        transitions.into_iter().partition(|it| it.event == name);
    if !own.is_empty() {
        let mut blockers: Vec<Blocker> = own.into_iter().map(transition).collect();
        blockers.sort_by_key(urgency);
        return Ok(blockers);
    }
    let blockers = legality.blockers(&Attempt::Event { name })?;
    if blockers.is_empty() {
        return Ok(vec![Blocker::EventCaught {
            workflow: run.workflow.id().to_owned(),
            event: name.to_owned(),
            states: run.state.leaves.clone(),
        }]);
    }
    let blockers = blockers.into_iter().map(|it| explored(run, it, &others));
    Ok(blockers.collect())
}

/// Adds to a blocker of an event how the run could come to where the event is taken.
fn explored(run: &Loaded, blocker: Blocker, transitions: &[Legal]) -> Blocker {
    match blocker {
        Blocker::NotHere {
            event,
            states,
            takers,
            ..
        } => Blocker::NotHere {
            path: path(run, &event, transitions),
            event,
            states,
            takers,
        },
        Blocker::InternalEvent { event, to, .. } => {
            let mut timers = run.state.timers.iter();
            let timer = timers.find(|it| it.name.strip_prefix("timer:") == Some(event.as_str()));
            if let Some(timer) = timer {
                return Blocker::TimerPending {
                    due: timer.due,
                    held: false,
                    event,
                };
            }
            let path = path(run, &event, transitions);
            Blocker::InternalEvent { event, to, path }
        }
        other => other,
    }
}

/// Returns the first transition of the shortest path to a state that takes an event.
///
/// One that can be taken now precedes others. Unexplored if such a state is active.
fn path(run: &Loaded, event: &str, transitions: &[Legal]) -> Path {
    let table = run.workflow.table();
    let takers = takers(table, event);
    if takers
        .iter()
        .any(|id| run.state.is_active(table.state_name(*id)))
    {
        return Path::Unexplored;
    }
    let paths = transitions.iter().filter_map(|legal| {
        let steps = distance(table, legal, &takers)?;
        Some(((!legal.enabled, steps), legal))
    });
    match paths.min_by_key(|(rank, _)| *rank) {
        None => Path::Missing,
        Some(((is_blocked, steps), legal)) => Path::Through {
            first: Box::new(transition(legal.clone())),
            is_far: is_blocked || steps > 0,
        },
    }
}
