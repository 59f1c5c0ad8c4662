//! Events of attempts, for whoever watches. The journal has more, and has it for good.

use serde::Serialize;
use statemark_runs::RunId;
use statemark_runs::body::AttemptOutcome;

/// A function that is called with each of them.
pub type Observer<'t> = &'t (dyn Fn(&Happened) + Sync);

/// Something that has happened in an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Happened {
    /// The run.
    pub run: RunId,
    /// The state that is worked in.
    pub state: String,
    /// The attempt; of what is about the run as a whole, the last one.
    pub attempt: u64,
    /// The event.
    #[serde(flatten)]
    pub what: Happening,
}

/// An event of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "happened", rename_all = "snake_case")]
pub enum Happening {
    /// The beginning.
    Started {
        /// The executor.
        executor: String,
        /// The model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent has said something.
    Said {
        /// The text.
        text: String,
    },
    /// The agent has called a tool.
    Called {
        /// The tool.
        tool: String,
        /// True if the call was refused, or has failed.
        failed: bool,
        /// The duration. Unit: milliseconds.
        milliseconds: u64,
    },
    /// Tokens were used.
    Used {
        /// Tokens read.
        input_tokens: u64,
        /// Tokens written.
        output_tokens: u64,
        /// Money. Unit: millionths of a US dollar.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    },
    /// Another executor has the run's lease, which is waited for.
    ///
    /// It may have been killed: then its lease ends with nobody to prolong it.
    Waits {
        /// The name under which it has the lease.
        ///
        /// It is `executor`, the number of its process, and a part that is chance.
        holder: String,
        /// The end of the lease. Unit: milliseconds since 1970.
        until: u64,
    },
    /// The run is over, and its work is on a branch of its own.
    LeftWork {
        /// The branch.
        branch: String,
        /// The worktree, unless it was removed.
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The reason why a worktree stays that was to be removed.
        #[serde(skip_serializing_if = "Option::is_none")]
        stays_because: Option<String>,
    },
    /// The work has come so far, where there is a measure.
    Progressed {
        /// The measure.
        measure: Measure,
        /// The part that is done, or used up.
        done: u64,
        /// The whole.
        total: u64,
    },
    /// The provider gives no answer, and is asked again.
    Retried {
        /// The reason.
        reason: String,
        /// The time until then. Unit: milliseconds.
        milliseconds: u64,
    },
    /// The end.
    Ended {
        /// The outcome.
        outcome: AttemptOutcome,
        /// The reason in words.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A measure of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Tokens of the run's budget.
    Tokens,
    /// Runs below a state that waits for them.
    Runs,
}
