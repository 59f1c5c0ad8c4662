//! Attempts: what an executor tried in a state, and what was said and spent in it.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::actor::Role;
use crate::hash::Hash;
use crate::phrase::with_reason;

/// The start of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// Its number in the run, from 1. A rewind gives none of them to another attempt.
    pub attempt: u64,
    /// The state that is worked in.
    pub state: String,
    /// Its number among the attempts of the state's visit, from 1.
    pub number: u64,
    /// The executor, by its name in the configuration.
    pub executor: String,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The goal of the run, if whoever started the executor named one.
    ///
    /// It holds for later attempts, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The prompt.
    pub prompt: Hash,
    /// The parts that the prompt had no room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// An event was taken that has left the state, or entered it again.
    Advanced,
    /// Somebody else has moved the run, or stopped it.
    Moved,
    /// The run waits for a person, or for something outside.
    Waiting,
    /// A limit was reached.
    Limit,
    /// The provider of the model doesn't answer.
    Unavailable,
    /// The work came to nothing.
    Failed,
    /// An end by whoever started the executor.
    Cancelled,
    /// Its executor has gone, and nobody knows how far it came.
    Lost,
}

impl AttemptOutcome {
    /// Returns its name in journals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Advanced => "advanced",
            Self::Moved => "moved",
            Self::Waiting => "waiting",
            Self::Limit => "limit",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }

    /// Reports whether another attempt begins where it ended badly: such attempts are counted.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Unavailable | Self::Lost)
    }
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnded {
    /// Its number in the run.
    pub attempt: u64,
    /// The state that was worked in.
    pub state: String,
    /// The outcome.
    pub outcome: AttemptOutcome,
    /// In words: the event, the limit, or the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author: `user` or `assistant`; or the output of a program, `stdout` or `stderr`.
    pub role: String,
    /// The text.
    pub text: String,
    /// The attempt that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

/// The cost of an attempt, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Money. Unit: millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// By which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The attempt that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Usage {
    /// Returns the tokens, read and written.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Reports whether nothing was used.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.tokens() == 0 && matches!(self.cost, None | Some(0))
    }

    /// Returns what was used beyond a former usage. A cost that wasn't known then counts as none.
    #[must_use]
    pub fn since(&self, former: &Self) -> Self {
        let cost_before = former.cost.unwrap_or_default();
        Self {
            input_tokens: self.input_tokens.saturating_sub(former.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(former.output_tokens),
            cost: self.cost.map(|cost| cost.saturating_sub(cost_before)),
            ..self.clone()
        }
    }

    /// Adds another usage. A cost that isn't known adds nothing.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or_default().saturating_add(cost));
        }
        if other.model.is_some() {
            self.model.clone_from(&other.model);
        }
    }
}

impl Kind for AttemptStarted {
    const BLOBS: &[&str] = &["prompt"];

    fn summary(&self) -> String {
        let model = self.model.as_ref();
        let model = model.map_or_else(String::new, |model| format!(" with `{model}`"));
        format!(
            "attempt {} in `{}` began, by `{}`{model}",
            self.attempt, self.state, self.executor
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for AttemptEnded {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let ended = match self.outcome {
            AttemptOutcome::Advanced => "moved the run",
            AttemptOutcome::Moved => "ended: somebody else moved the run",
            AttemptOutcome::Waiting => "waits",
            AttemptOutcome::Limit => "reached a limit",
            AttemptOutcome::Unavailable => "had no answer",
            AttemptOutcome::Failed => "failed",
            AttemptOutcome::Cancelled => "was cancelled",
            AttemptOutcome::Lost => "was lost with its executor",
        };
        let said = format!("attempt {} in `{}` {ended}", self.attempt, self.state);
        with_reason(said, self.reason.as_ref())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Message {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!("{}: {}", self.role, self.text)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Usage {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!(
            "{} tokens in, {} out",
            self.input_tokens, self.output_tokens
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}
