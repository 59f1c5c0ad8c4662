//! An event is sent to a run.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runtime::{EventId, EventKind};
use statemark_text::suggest::nearest;

use super::draft::{Draft, Taking, Took};
use super::operation::{Decide, DecideCx};
use super::own::{UNKNOWN, is_own, sends_itself};
use super::{Change, Legal, Loaded, Outcome, RunError, list};
use crate::actor::{Actor, Role};
use crate::body::{Body, Cause, Event, Opened, Refused, Subject};
use crate::schema;
use crate::state::Status;
use crate::step::{CannotStep, Moment, StepInput, Stepper};

/// An event from outside.
#[derive(Clone, Debug, Serialize)]
pub struct Send {
    /// Its name.
    pub event: String,
    /// What comes with it.
    pub data: Option<Value>,
}

/// What became of an event.
#[derive(Clone, Debug)]
pub enum Sent {
    /// It was taken.
    Taken(Event),
    /// Somebody has to approve it first; it waits in the request.
    Asked(Opened),
    /// It was refused.
    Refused(Refused),
}

impl Outcome for Sent {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        for body in bodies {
            match body {
                Body::Event(event) => return Ok(Self::Taken(event.clone())),
                Body::Opened(opened) => return Ok(Self::Asked(opened.clone())),
                Body::Refused(refused) => return Ok(Self::Refused(refused.clone())),
                _ => {}
            }
        }
        let what = "the records of this key say nothing of an event".to_owned();
        Err(RunError::Invalid { what })
    }
}

/// Sends an event: one macrostep. What can't be taken is refused with what would be legal; that is recorded, too.
impl Decide for Send {
    const NAME: &'static str = "send";
    type Outcome = Sent;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let body = sent(run, self, cx.now)?;
        Ok(Change { bodies: vec![body] })
    }
}

/// What sending the event comes to: it is taken, somebody is asked for leave, or it is refused.
pub(super) fn sent(loaded: &Loaded, send: &Send, now: u64) -> Result<Body, RunError> {
    // Whoever writes the record says who has sent it.
    let mut draft = Draft::new(loaded, &Actor::new(Role::Agent), now);
    let refusal = taken(&mut draft, send)?;
    let mut bodies = draft.finish().bodies;
    let (code, reason) = match (refusal, bodies.pop()) {
        (None, Some(body)) => return Ok(body),
        (Some(refusal), _) => refusal,
        (None, None) => (
            "not_taken",
            loaded.not_taken(&send.event, send.data.as_ref())?,
        ),
    };
    Ok(Body::Refused(Refused {
        subject: Subject::Event {
            name: send.event.clone(),
            data: send.data.clone(),
        },
        code: code.to_owned(),
        reason,
        legal: loaded.legal_events(),
    }))
}

/// Takes the event, or opens the request that it needs; else says why it is refused.
fn taken(draft: &mut Draft, send: &Send) -> Result<Option<(&'static str, String)>, RunError> {
    let workflow = std::sync::Arc::clone(&draft.loaded().workflow);
    let table = workflow.table();
    if let Some(refusal) = draft.loaded().standstill() {
        return Ok(Some(refusal));
    }
    let named = table.event_named(&send.event);
    let is_named = |row: &statemark_runtime::EventRow| row.kind == EventKind::Named;
    let found = named.filter(|id| table.event(*id).is_some_and(is_named));
    let found = found.filter(|_| !is_own(&send.event));
    if let Some(refusal) = draft.loaded().in_the_way(&send.event) {
        return Ok(Some(refusal));
    }
    let (event, cause) = match (found, named, table.event_named(UNKNOWN)) {
        (Some(event), ..) => (event, None),
        (None, Some(_), _) => {
            return Ok(Some(("unknown_event", sends_itself(&send.event))));
        }
        (None, None, Some(event)) if draft.loaded().catches(event)? => {
            let sent = send.event.clone();
            (event, Some(Cause::SafeNext { sent }))
        }
        (None, None, _) => {
            return Ok(Some((
                "unknown_event",
                draft.loaded().no_event(&send.event),
            )));
        }
    };
    if let Some(invoking) = draft
        .loaded()
        .outcome_of(&send.event, send.data.as_ref(), None)?
    {
        let event = &send.event;
        return Ok(Some(match &invoking.child {
            Some((child, _)) => {
                let what = format!("`{event}` is what the child run `{child}` ends with");
                ("child_runs", format!("{what}: drive that one"))
            }
            None => ("child_unknown", invoking.unbegun(event)),
        }));
    }
    let schema = workflow.event_meta(event).get("data");
    let nothing = Value::Object(Map::new());
    // An event that never has data may come without.
    let schema = schema.filter(|it| send.data.is_some() || **it != Value::Bool(false));
    if let Some(schema) = schema
        && let Err(error) = schema::validate(schema, send.data.as_ref().unwrap_or(&nothing))
    {
        let reason = format!(
            "the data of `{}` isn't as its schema says: {error}",
            send.event
        );
        return Ok(Some(("bad_data", reason)));
    }
    if schema.is_none()
        && let Some(data) = &send.data
        && !matches!(data, Value::Object(_) | Value::Null)
    {
        let reason = draft.loaded().no_fields(&send.event, data);
        return Ok(Some(("bad_data", reason)));
    }
    let fields = send.data.as_ref().and_then(Value::as_object);
    let merged = fields.map(|fields| workflow.merged_fields(fields));
    if let Some(error) =
        merged.and_then(|it| workflow.context_defect(&draft.loaded().state.context, &it))
    {
        let reason = format!("with the data of `{}` {error}", send.event);
        return Ok(Some(("bad_data", reason)));
    }
    let took = draft.take(Taking {
        moves: StepInput::Event(event),
        event: table.event_name(event),
        data: send.data.as_ref(),
        cause,
        approved: None,
    });
    match took {
        Ok(Took::Taken | Took::Asked) => Ok(None),
        Ok(Took::Ignored | Took::Unapproved) => {
            let reason = draft.loaded().not_taken(&send.event, send.data.as_ref())?;
            Ok(Some(("not_taken", reason)))
        }
        Ok(Took::Lacks(artifacts)) => Ok(Some(draft.loaded().held_back(&send.event, &artifacts))),
        Ok(Took::Spent { state, most }) => {
            let reason = draft.loaded().too_often(&(state, most));
            Ok(Some(("max_visits", reason)))
        }
        Err(RunError::Step(CannotStep::Data(error))) => Ok(Some((
            "bad_data",
            format!("the data can't be kept: {error}"),
        ))),
        Err(error) => Err(error),
    }
}

impl Loaded {
    /// That a state can't be entered once more: the state, and how often it may be.
    pub(super) fn too_often(&self, (state, most): &(String, u64)) -> String {
        let visits = self.state.visits.get(state).map_or(0, |it| it.count);
        match (visits, most) {
            (1, 1) => format!("`{state}` was entered already, and its `max_visits` is 1"),
            _ if visits == *most => {
                format!("`{state}` was entered {most} times already, which is its `max_visits`")
            }
            (0, _) => format!("it would enter `{state}` more often than its `max_visits` ({most})"),
            (1, _) => format!(
                "`{state}` was entered once already, and would be more often than its `max_visits` ({most})"
            ),
            _ => format!(
                "`{state}` was entered {visits} times already, and its `max_visits` is {most}"
            ),
        }
    }

    /// Why a run takes no event at all.
    pub(super) fn standstill(&self) -> Option<(&'static str, String)> {
        if let Some(restoring) = &self.state.restoring {
            let name = &restoring.name;
            let reason = format!(
                "the files are being put back to checkpoint `{name}`: finish that or give it up first"
            );
            return Some(("restoring", reason));
        }
        match self.state.status() {
            Status::Completed | Status::Failed => {
                let leaves = list(&self.state.leaves);
                Some(("ended", format!("the run has ended in {leaves}")))
            }
            Status::Cancelled => Some(("cancelled", "the run was cancelled".to_owned())),
            Status::Paused => {
                let why = self.state.paused.clone().unwrap_or_default();
                let why = if why.is_empty() {
                    String::new()
                } else {
                    format!(" ({why})")
                };
                let reason = format!("the run is paused{why}: continue it first");
                Some(("paused", reason))
            }
            Status::Running | Status::Waiting => None,
        }
    }

    /// The request that has to be settled before this event is taken, and how.
    pub(crate) fn in_the_way(&self, event: &str) -> Option<(&'static str, String)> {
        let request = self.state.held_by()?;
        let (open, who) = (&request.opened, request.who_may_answer());
        let meanwhile = self.meanwhile();
        if meanwhile.iter().any(|it| it == event) {
            return None;
        }
        let what = match (&open.event, open.kind) {
            (Some(waiting), _) => format!(
                "`{}` waits for an approval (request `{}`): {who} approves or denies it first",
                waiting.event, open.request
            ),
            (None, _) => format!(
                "the run waits for the answer to request `{}`: {who} answers it first",
                open.request
            ),
        };
        let meanwhile = if meanwhile.is_empty() {
            String::new()
        } else {
            format!("; meanwhile {} can be sent", list(&meanwhile))
        };
        Some(("waiting_for_request", what + &meanwhile))
    }

    /// The events that are taken although a request is open: `while_waiting` of the active states.
    pub(super) fn meanwhile(&self) -> Vec<String> {
        let table = self.workflow.table();
        let states = table
            .states()
            .filter(|(id, _)| self.state.is_active(table.state_name(*id)));
        let mut events: Vec<String> = Vec::new();
        for (id, _) in states {
            let named = self.workflow.state_meta(id).get("while_waiting");
            let named = named.and_then(Value::as_array).into_iter().flatten();
            for event in named.filter_map(Value::as_str) {
                if !events.iter().any(|it| it == event) {
                    events.push(event.to_owned());
                }
            }
        }
        events
    }

    /// That the machine has no such event, and which one may be meant.
    pub(crate) fn no_event(&self, event: &str) -> String {
        let known = self.named_events();
        let near = nearest(event, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        format!("`{}` has no event `{event}`{near}", self.workflow.id())
    }

    /// That data has no fields, which is all that guards and the context can take of it; and what it would look like.
    fn no_fields(&self, event: &str, data: &Value) -> String {
        let read: BTreeSet<String> = self.fields_of(event).into_iter().take(3).collect();
        let example = if read.is_empty() {
            r#"{"passed": true}"#.to_owned()
        } else {
            let fields: Vec<String> = read.iter().map(|it| format!("\"{it}\": …")).collect();
            format!("{{{}}}", fields.join(", "))
        };
        let is_json = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
        let what = match data {
            Value::String(text) if is_json(text) => "a text with JSON in it: send what is in it",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Number(_) => "a number",
            _ => "true or false",
        };
        format!("the data of `{event}` has to be an object, such as {example}, and this is {what}")
    }

    /// The events of the machine that somebody could send, here or elsewhere.
    pub(crate) fn named_events(&self) -> Vec<&str> {
        let table = self.workflow.table();
        let named = table
            .events()
            .filter(|(_, row)| row.kind == EventKind::Named);
        named
            .map(|(id, _)| table.event_name(id))
            .filter(|name| !is_own(name))
            .collect()
    }

    /// Whether an active state catches names that the machine doesn't have.
    pub(crate) fn catches(&self, unknown: EventId) -> Result<bool, RunError> {
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let candidates = stepper.candidates(None)?;
        Ok(candidates
            .iter()
            .any(|it| it.event == unknown && it.enabled))
    }

    /// The events that would be taken if they were sent now: nothing but the machine has a say in them. Takes time in the
    /// number of candidates, however many states there are.
    #[must_use]
    pub fn legal_events(&self) -> Vec<String> {
        if self.standstill().is_some() {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let legal = self.legal().unwrap_or_default().into_iter();
        let events = legal.filter(|it| it.enabled).map(|it| it.event);
        events.filter(|it| seen.insert(it.clone())).collect()
    }

    /// The state that an event would enter too often with this data, and how often it may be.
    pub(super) fn spends_with(
        &self,
        event: EventId,
        data: Option<&Value>,
    ) -> Option<(String, u64)> {
        if self.workflow.max_visits().is_empty() {
            return None;
        }
        let mut stepper = Stepper::restored(&self.workflow, &self.state).ok()?;
        let moment = Moment {
            run: &self.run,
            seq: self.head.seq,
            now: self.state.updated,
        };
        let moves = StepInput::Event(event);
        let (_, step) = stepper.step(moves, data, moment).ok()?;
        self.spent(&step)
    }

    /// Why no transition takes the event with this data.
    pub(super) fn not_taken(&self, event: &str, data: Option<&Value>) -> Result<String, RunError> {
        let leaves = list(&self.state.leaves);
        let legal = self.legal_with(data)?;
        let of_event: Vec<&Legal> = legal.iter().filter(|it| it.event == event).collect();
        if of_event.is_empty() {
            return Ok(format!("nothing in {leaves} takes `{event}`"));
        }
        let mut unmet: Vec<String> = Vec::new();
        for it in of_event.iter().flat_map(|it| &it.unmet) {
            let told = it.told();
            if !unmet.contains(&told) {
                unmet.push(told);
            }
        }
        if unmet.is_empty() {
            return Ok(format!(
                "another transition comes before `{event}` in {leaves}"
            ));
        }
        let unmet = unmet.join(", ");
        Ok(format!("no guard of `{event}` in {leaves} holds: {unmet}"))
    }
}
