//! Why a run stands where it does, and what would move it.
//!
//! Every reason is taken from the fold and the machine themselves, never guessed; what is proposed is a call that is legal
//! now, or says what has to come first.

mod ahead;
mod event;
mod own;
mod refused;
mod waits;
mod way;

use serde::Serialize;

use crate::runs::{Loaded, RunError, list};
use crate::state::Status;

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
    /// Say no to an approval: a person does.
    Deny {
        /// The request.
        request: String,
    },
    /// Send a review back with a comment: a person does.
    SendBack {
        /// The request.
        request: String,
    },
    /// Ask for a review, which a person may send back.
    AskReview,
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
    /// Run a check for the run.
    RunCheck {
        /// The check.
        check: String,
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
    /// Say what became of an effect.
    Effect {
        /// Its key.
        key: String,
    },
    /// Take back what came behind a record: first as a dry run, then with its token.
    Rewind {
        /// The last record that still counts.
        to: u64,
        /// Whether effects have to be left behind.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        force: bool,
    },
    /// Finish putting files back, or give it up.
    Restore,
}

impl Loaded {
    /// Why the run stands where it does; about one event, why that would be taken or not.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn why(&self, event: Option<&str>) -> Result<Why, RunError> {
        let status = self.state.status();
        let still = self.at_rest(status);
        let stands = !still.is_empty();
        let mut reasons = still;
        if let Some(event) = event {
            if !stands {
                reasons = self.about(event)?;
            }
            return Ok(Why { status, reasons });
        }
        if let Some(refused) = self.was_refused()? {
            reasons.insert(0, refused);
        }
        if !status.is_over() {
            reasons.extend(self.waits());
        }
        if !stands {
            reasons.extend(self.ahead()?);
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
        if let Some(restoring) = state.restoring.as_ref().filter(|_| !status.is_over()) {
            return vec![Reason {
                code: "restoring",
                text: format!(
                    "its files are being put back to checkpoint `{}`, and nothing is taken before that is finished or given up",
                    restoring.name
                ),
                next: Some(Call::Restore),
            }];
        }
        let again = Some(Call::Start {
            workflow: state.workflow.clone(),
        });
        let (code, text, next) = match status {
            Status::Running | Status::Waiting => return Vec::new(),
            Status::Paused => {
                let who = state.paused_by.as_ref().map(ToString::to_string);
                let who = who.map_or_else(String::new, |who| format!(" by {who}"));
                let text = format!("it is paused{who}{}", reason(&state.paused));
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
}
