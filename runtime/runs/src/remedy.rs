//! Actions that take a blocker away.
//!
//! A [`Remedy`] is data. Each front end renders it once: [`Remedy::as_commands`] for a terminal, the server's `as_tool_call`
//! for MCP.

use serde::Serialize;

use crate::id::RunId;
use crate::phrase::shell_word;

/// An action that takes a blocker away.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "call")]
pub enum Remedy {
    /// Send an event.
    Send {
        /// The event.
        event: String,
        /// The fields that its data must have, or that the context must have before.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fields: Vec<String>,
        /// The claims that its sender has to make.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        claims: Vec<String>,
    },
    /// Do one of these; only the caller knows which is meant.
    OneOf {
        /// The actions, at least two.
        remedies: Vec<Remedy>,
    },
    /// Approve or deny a request, as a person.
    Approve {
        /// The request.
        request: String,
    },
    /// Answer a question, as a person.
    Answer {
        /// The request.
        request: String,
    },
    /// Deny an approval, as a person.
    Deny {
        /// The request.
        request: String,
    },
    /// Send a review back with a comment, as a person.
    SendBack {
        /// The request.
        request: String,
    },
    /// Ask for a review, which a person may send back.
    AskReview,
    /// Continue the paused run.
    Continue,
    /// Report on a step.
    Report {
        /// The step.
        step: String,
    },
    /// Look at another run, and drive it.
    Look {
        /// The run.
        run: String,
    },
    /// Wait.
    Wait {
        /// Until when. Unit: milliseconds since 1970.
        until: u64,
    },
    /// Submit an artifact as final.
    SubmitArtifact {
        /// The artifact.
        artifact: String,
    },
    /// Run a check.
    RunCheck {
        /// The check.
        check: String,
    },
    /// Finalize a draft of an artifact.
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
    /// Report the outcome of an effect.
    Effect {
        /// The effect's key.
        key: String,
    },
    /// Rewind: first as a dry run, then with its token.
    Rewind {
        /// The last record to keep.
        to: u64,
        /// True if effects have to be abandoned.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        force: bool,
    },
    /// Finish the restore of a checkpoint, or give it up.
    Restore,
}

impl Remedy {
    /// Returns the commands that apply the remedy to a run: one of them is enough.
    ///
    /// There is none where waiting is all there is to do.
    #[must_use]
    pub fn as_commands(&self, run: &RunId, workflow: &str) -> Vec<String> {
        match self {
            Self::OneOf { remedies } => {
                let each = remedies.iter();
                each.flat_map(|it| it.as_commands(run, workflow)).collect()
            }
            one => one.as_command(run, workflow).into_iter().collect(),
        }
    }

    /// Returns the command that applies the remedy, if it has just one.
    fn as_command(&self, run: &RunId, workflow: &str) -> Option<String> {
        let run = shell_word(run.as_str());
        Some(match self {
            Self::Send {
                event,
                fields,
                claims,
            } => {
                let mut command = format!("statemark send {run} {}", shell_word(event));
                if !fields.is_empty() {
                    let fields: Vec<String> =
                        fields.iter().map(|it| format!("\"{it}\": …")).collect();
                    let data = format!("{{{}}}", fields.join(", "));
                    command += &format!(" --data {}", shell_word(&data));
                }
                for claim in claims {
                    command += &format!(" --claim {}", shell_word(claim));
                }
                command
            }
            Self::Approve { request } => format!("statemark approve {}", shell_word(request)),
            Self::Answer { request } => format!("statemark answer {} …", shell_word(request)),
            Self::Deny { request } => format!("statemark deny {}", shell_word(request)),
            Self::SendBack { request } => {
                format!("statemark deny {} --comment …", shell_word(request))
            }
            Self::AskReview => format!("statemark ask {run} 'Is it good?' --kind review"),
            Self::Continue => format!("statemark continue {run}"),
            Self::Report { step } => {
                let (workflow, step) = (shell_word(workflow), shell_word(step));
                format!(
                    "statemark emit --type status_change --workflow {workflow} --run-id {run} --step {step} …"
                )
            }
            Self::Look { run } => format!("statemark state {}", shell_word(run)),
            Self::OneOf { .. } | Self::Wait { .. } => return None,
            Self::SubmitArtifact { artifact } => {
                let artifact = shell_word(artifact);
                format!("statemark artifacts put {run} {artifact} FILE --final")
            }
            Self::RunCheck { check } => {
                format!("statemark run-check {} --run {run}", shell_word(check))
            }
            Self::FinalizeArtifact { artifact, revision } => {
                let artifact = shell_word(artifact);
                format!("statemark artifacts final {run} {artifact} --revision {revision}")
            }
            Self::Start { workflow } => format!("statemark start {}", shell_word(workflow)),
            Self::Effect { key } => {
                let key = shell_word(key);
                format!("statemark effect report {run} {key} succeeded (or failed)")
            }
            Self::Rewind { to, force: false } => format!("statemark rewind {run} --to {to}"),
            Self::Rewind { to, force: true } => {
                format!("statemark rewind {run} --to {to} --force")
            }
            Self::Restore => format!("statemark checkpoint restore {run} --finish"),
        })
    }
}
