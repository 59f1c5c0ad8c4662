//! Requirements that are missing: artifacts, checks and facts.

use serde_json::Value;

use super::code::Code;
use crate::body::Finding;

/// Something that a state requires and that is missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// A final revision of an artifact.
    Artifact {
        /// The artifact.
        name: String,
        /// Its status.
        status: MissingArtifact,
    },
    /// A check that has passed since the state was entered.
    Check {
        /// The check.
        name: String,
        /// Its status.
        status: MissingCheck,
    },
    /// A field of the context that is set.
    Fact {
        /// The field.
        name: String,
        /// Its value: null or false, if it has one.
        value: Option<Value>,
    },
}

/// The status of an artifact that has no final revision, or none that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingArtifact {
    /// Nothing.
    Absent,
    /// Every revision was discarded.
    Discarded,
    /// A draft that can be finalized.
    Draft {
        /// The revision.
        revision: u64,
    },
    /// A final revision of a former visit of the state, which wants a new one.
    Outdated {
        /// The revision.
        revision: u64,
        /// The record that entered the state.
        entered: u64,
    },
    /// A draft that breaks its contract.
    Broken {
        /// The revision.
        revision: u64,
        /// The first finding.
        finding: Option<Finding>,
    },
}

/// The status of a check that doesn't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingCheck {
    /// A check that hasn't run.
    NotRun,
    /// A check that hasn't run since its state was entered.
    Outdated {
        /// The record that entered the state.
        entered: u64,
    },
    /// A check that ran with another declaration than the workflow's.
    Redeclared {
        /// Its record.
        seq: u64,
    },
    /// A check that ran in another project than the run's.
    Elsewhere {
        /// Its record.
        seq: u64,
        /// The root of the run's project.
        root: String,
    },
    /// A check that ran another program than when the run began.
    OtherProgram {
        /// Its record.
        seq: u64,
        /// The program that it ran, if it found one.
        found: Option<String>,
        /// The run's program.
        expected: String,
    },
    /// A cancelled check.
    Cancelled {
        /// Its record.
        seq: u64,
    },
    /// A check that hasn't passed.
    NotPassed {
        /// Its record.
        seq: u64,
        /// The result.
        outcome: String,
    },
}

impl Missing {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Artifact { name, .. } | Self::Check { name, .. } | Self::Fact { name, .. } => {
                name
            }
        }
    }

    pub(crate) const fn code(&self) -> Code {
        match self {
            Self::Artifact { .. } => Code::ArtifactMissing,
            Self::Check { .. } => Code::CheckMissing,
            Self::Fact { .. } => Code::FactMissing,
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Artifact { name, status } => match status {
                MissingArtifact::Absent => format!("artifact `{name}` is missing"),
                MissingArtifact::Discarded => format!("artifact `{name}` was discarded"),
                MissingArtifact::Draft { revision } => {
                    format!("revision {revision} of `{name}` isn't final")
                }
                MissingArtifact::Outdated { revision, entered } => format!(
                    "revision {revision} of `{name}` was handed in before its state was entered (record {entered})"
                ),
                MissingArtifact::Broken { revision, finding } => {
                    let finding = finding.as_ref().map_or_else(String::new, |finding| {
                        format!(" (line {}: {})", finding.line, finding.what)
                    });
                    format!("revision {revision} of `{name}` breaks its contract{finding}")
                }
            },
            Self::Check { name, status } => match status {
                MissingCheck::NotRun => format!("check `{name}` hasn't run"),
                MissingCheck::Outdated { entered } => format!(
                    "check `{name}` hasn't run since its state was entered (record {entered})"
                ),
                MissingCheck::Redeclared { seq } => {
                    format!("check `{name}` ran with another declaration (record {seq})")
                }
                MissingCheck::Elsewhere { seq, root } => format!(
                    "check `{name}` ran in another project (record {seq}); run it in the run's, `{root}`"
                ),
                MissingCheck::OtherProgram {
                    seq,
                    found,
                    expected,
                } => {
                    let found = match found {
                        Some(found) if found == expected => {
                            format!("`{found}` with another content")
                        }
                        Some(found) => format!("`{found}`"),
                        None => "no program".to_owned(),
                    };
                    format!(
                        "check `{name}` ran {found} and not `{expected}`, as it was when the run began (record {seq}); a person who runs the check accepts what it runs"
                    )
                }
                MissingCheck::Cancelled { seq } => {
                    format!("check `{name}` was cancelled (record {seq}); run it again")
                }
                MissingCheck::NotPassed { seq, outcome } => {
                    format!("check `{name}` {outcome} (record {seq})")
                }
            },
            Self::Fact { name, value: None } => format!("`{name}` isn't set"),
            Self::Fact {
                name,
                value: Some(value),
            } => format!("`{name}` is {value}"),
        }
    }
}
