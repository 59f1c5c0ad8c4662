//! Why a run stands where it does, and what would move it.
//!
//! Every reason is taken from the fold and the machine themselves, never guessed; what is proposed is a call that is legal
//! now, or says what has to come first.

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::EventKind;

use crate::body::RequestKind;
use crate::fold::{Status, WaitingFor};
use crate::runs::{Fact, Legal, Loaded, RunError, list};

/// Why a run stands where it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// What it has come to.
    pub status: Status,
    /// Everything that is to be said, the most pressing first.
    pub reasons: Vec<Reason>,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// For programs: `approval_open`, `guard_false`, …
    pub code: &'static str,
    /// For people.
    pub text: String,
    /// What would change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Call>,
}

/// What somebody could do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "call")]
pub enum Call {
    /// Send an event.
    Send {
        /// The event.
        event: String,
        /// The fields that must come with it or be in the context before.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fields: Vec<String>,
    },
    /// Decide an approval: a person does.
    Approve {
        /// The request.
        request: String,
    },
    /// Answer a question.
    Answer {
        /// The request.
        request: String,
    },
    /// Continue the run.
    Continue,
    /// Report on a step.
    Report {
        /// The step.
        step: String,
    },
    /// Look at another run.
    Look {
        /// The run.
        run: String,
    },
    /// Wait until a time.
    Wait {
        /// Unit: milliseconds since 1970.
        until: u64,
    },
    /// Hand an artifact in as final.
    SubmitArtifact {
        /// The artifact.
        artifact: String,
    },
    /// Make a draft of an artifact final.
    FinalizeArtifact {
        /// The artifact.
        artifact: String,
        /// The revision.
        revision: u64,
    },
    /// Start another run.
    Start {
        /// The workflow.
        workflow: String,
    },
}

impl Loaded {
    /// Why the run stands where it does; about one event, why that would be taken or not.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn why(&self, event: Option<&str>) -> Result<Why, RunError> {
        let status = self.state.status();
        let mut reasons = self.at_rest(status);
        if !status.is_over() {
            reasons.extend(self.waits());
            let legal = self.legal()?;
            match event {
                Some(event) => reasons.extend(self.about(event, &legal)),
                None => reasons.extend(self.ahead(&legal)),
            }
        }
        Ok(Why { status, reasons })
    }

    /// Why nothing at all is taken.
    fn at_rest(&self, status: Status) -> Vec<Reason> {
        let state = &self.state;
        let reason = |text: &Option<String>| match text.as_deref() {
            None | Some("") => String::new(),
            Some(text) => format!(": {text}"),
        };
        let again = Some(Call::Start {
            workflow: state.workflow.clone(),
        });
        let (code, text, next) = match status {
            Status::Running | Status::Waiting => return Vec::new(),
            Status::Paused => {
                let text = format!("it is paused{}", reason(&state.paused));
                ("paused", text, Some(Call::Continue))
            }
            Status::Cancelled => {
                let text = format!("it was cancelled{}", reason(&state.cancelled));
                ("cancelled", text, again)
            }
            Status::Completed | Status::Failed => {
                let outcome = if status == Status::Completed {
                    "well"
                } else {
                    "badly"
                };
                let leaves = list(&state.leaves);
                let text = match state.ended {
                    Some(_) => format!("it has ended {outcome}, in {leaves}"),
                    None => format!("it was closed, as having ended {outcome}, in {leaves}"),
                };
                ("ended", text, again)
            }
        };
        vec![Reason { code, text, next }]
    }

    /// What it waits for.
    fn waits(&self) -> Vec<Reason> {
        let waits = self.state.waiting_for().into_iter();
        let mut reasons: Vec<Reason> = waits.map(|it| self.wait(it)).collect();
        for request in self.state.open_requests() {
            let opened = &request.opened;
            if opened.kind != RequestKind::Approval && !opened.blocking {
                reasons.push(Reason {
                    code: "question_open",
                    text: format!("it asks, and goes on meanwhile: {}", opened.prompt),
                    next: Some(Call::Answer {
                        request: opened.request.clone(),
                    }),
                });
            }
        }
        reasons
    }

    fn wait(&self, waits: WaitingFor) -> Reason {
        let prompt = |request: &str| {
            let found = self.state.requests.get(request);
            found.map_or_else(String::new, |it| it.opened.prompt.clone())
        };
        match waits {
            WaitingFor::Approval { request } => {
                let found = self.state.requests.get(&request);
                let event = found.and_then(|it| it.opened.event.as_ref());
                let event = event.map_or_else(String::new, |it| format!(" of `{}`", it.event));
                Reason {
                    code: "approval_open",
                    text: format!("it waits for approval{event}: {}", prompt(&request)),
                    next: Some(Call::Approve { request }),
                }
            }
            WaitingFor::Question { request } => Reason {
                code: "question_blocks",
                text: format!("it waits for an answer: {}", prompt(&request)),
                next: Some(Call::Answer { request }),
            },
            WaitingFor::Step { step } => {
                let own = self.state.steps.get(&step).and_then(|units| units.get(""));
                let words = own.and_then(|it| it.message.as_ref());
                let words = words.map_or_else(String::new, |text| format!(": {text}"));
                Reason {
                    code: "step_waits",
                    text: format!("`{step}` was reported to wait{words}"),
                    next: Some(Call::Report { step }),
                }
            }
            WaitingFor::Child { run } => Reason {
                code: "child_runs",
                text: format!("it waits for its child run `{run}`"),
                next: Some(Call::Look { run }),
            },
        }
    }

    /// What could come next, when nobody asks about an event.
    fn ahead(&self, legal: &[Legal]) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = legal.iter().map(|it| self.of_legal(it)).collect();
        reasons.sort_by_key(|reason| reason.code != "can_be_sent");
        for timer in &self.state.timers {
            if let Some(name) = timer.name.strip_prefix("timer:") {
                reasons.push(Reason {
                    code: "timer_pending",
                    text: format!("`{name}` is due"),
                    next: Some(Call::Wait { until: timer.due }),
                });
            }
        }
        if reasons.is_empty() && self.state.waiting_for().is_empty() {
            let leaves = list(&self.state.leaves);
            reasons.push(Reason {
                code: "dead_end",
                text: format!("nothing leads out of {leaves}, and it is no end"),
                next: None,
            });
        }
        reasons
    }

    fn of_legal(&self, legal: &Legal) -> Reason {
        let event = &legal.event;
        let to = if legal.to.is_empty() {
            "stays".to_owned()
        } else {
            format!("leads to {}", list(&legal.to))
        };
        let absent: Vec<String> = legal
            .facts
            .iter()
            .filter(|fact| fact.value.is_none())
            .map(|fact| bare(&fact.field).to_owned())
            .collect();
        if let Some(first) = legal.lacks.first() {
            let told: Vec<String> = legal.lacks.iter().map(|it| self.lacking(it).text).collect();
            return Reason {
                text: format!("`{event}` {to}; {}", told.join("; ")),
                ..self.lacking(first)
            };
        }
        let (code, text, fields) = match (legal.enabled, legal.holds) {
            (true, _) if legal.requires_approval => (
                "can_be_sent",
                format!("`{event}` {to}, once a person has approved it"),
                Vec::new(),
            ),
            (true, _) => ("can_be_sent", format!("`{event}` {to}"), Vec::new()),
            (false, true) => (
                "preceded",
                format!(
                    "`{event}` from `{}` comes behind another transition",
                    legal.from
                ),
                Vec::new(),
            ),
            (false, false) if absent.is_empty() => (
                "guard_false",
                format!(
                    "`{event}` {to} where its guard holds; {}",
                    facts(&legal.facts)
                ),
                Vec::new(),
            ),
            (false, false) => (
                "guard_undecided",
                format!(
                    "`{event}` {to} where its guard holds; {}",
                    facts(&legal.facts)
                ),
                absent,
            ),
        };
        let next = (legal.enabled || !fields.is_empty()).then(|| Call::Send {
            event: event.clone(),
            fields,
        });
        Reason { code, text, next }
    }

    /// Why an event would be taken or not.
    fn about(&self, event: &str, legal: &[Legal]) -> Vec<Reason> {
        let own: Vec<Reason> = legal
            .iter()
            .filter(|it| it.event == event)
            .map(|it| self.of_legal(it))
            .collect();
        if !own.is_empty() {
            return own;
        }
        let table = self.workflow.table();
        let Some(id) = table.event_named(event) else {
            let all: Vec<String> = table
                .events()
                .filter(|(_, row)| row.kind == EventKind::Named)
                .map(|(id, _)| table.event_name(id).to_owned())
                .collect();
            let text = format!("`{}` has no event `{event}`", self.workflow.id());
            return vec![Reason {
                code: "unknown_event",
                text: format!("{text}; it has {}", list(&all)),
                next: None,
            }];
        };
        if table
            .event(id)
            .is_some_and(|row| row.kind != EventKind::Named)
        {
            return vec![self.internal(event)];
        }
        let takers: Vec<String> = table
            .transitions()
            .filter(|(transition, _)| table.triggers(*transition).contains(&id))
            .map(|(_, row)| table.state_name(row.source).to_owned())
            .collect();
        let leaves = list(&self.state.leaves);
        let elsewhere = format!("`{event}` is taken in {}, not in {leaves}", list(&takers));
        let first = legal.iter().find(|it| it.enabled);
        vec![Reason {
            code: "not_here",
            text: elsewhere,
            next: first.map(|it| Call::Send {
                event: it.event.clone(),
                fields: Vec::new(),
            }),
        }]
    }

    /// An event that comes from the machine itself.
    fn internal(&self, event: &str) -> Reason {
        let mut timers = self.state.timers.iter();
        let timer = timers.find(|timer| timer.name.strip_prefix("timer:") == Some(event));
        Reason {
            code: "internal_event",
            text: match timer {
                Some(_) => format!("`{event}` comes when its time is over"),
                None => format!("`{event}` comes from the machine itself, nobody sends it"),
            },
            next: timer.map(|timer| Call::Wait { until: timer.due }),
        }
    }
}

/// What a guard has read, in words.
fn facts(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return "it doesn't now".to_owned();
    }
    let told = facts.iter().map(|fact| match &fact.value {
        Some(Value::String(text)) => format!("`{}` is \"{text}\"", fact.field),
        Some(value) => format!("`{}` is {value}", fact.field),
        None => format!("`{}` is absent", fact.field),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A field as the data of an event has it.
fn bare(field: &str) -> &str {
    field.strip_prefix("event.").unwrap_or(field)
}
