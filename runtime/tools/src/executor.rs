//! Executors as tools see them: who takes runs that others drive no further.
//!
//! A tool hands a run over and waits, on no thread, until the executor can do no more for it. Whoever makes a dispatcher
//! says which executor that is; nothing here knows what it does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use statemark_runs::RunId;

use crate::{Ctx, Outcome, Problem, Signal};

/// Longest time between two looks of a call at the work that it waits for.
///
/// Why: its caller hears of progress meanwhile.
const LOOK: Duration = Duration::from_secs(5);

/// Takes runs, and has agents work in their states.
pub trait Executor: Send + Sync {
    /// Takes a run, and works on it in the background.
    ///
    /// # Errors
    ///
    /// The configuration doesn't allow what is wanted, or somebody else works on the run.
    fn submit(&self, work: Work) -> Result<Arc<dyn Working>, Problem>;
}

/// Work that is handed to an executor.
#[derive(Clone, Debug)]
pub struct Work {
    /// The run.
    pub run: RunId,
    /// The goal, if the caller names one.
    pub task: Option<String>,
    /// The only state to work in.
    pub state: Option<String>,
    /// The model instead of the states' own.
    pub model: Option<String>,
    /// The address of that model.
    pub url: Option<String>,
    /// The folder to work in, below the project's root.
    pub workdir: Option<String>,
}

impl Work {
    /// Creates the work on a run as its states say.
    #[must_use]
    pub const fn on(run: RunId) -> Self {
        Self {
            run,
            task: None,
            state: None,
            model: None,
            url: None,
            workdir: None,
        }
    }
}

/// Work that an executor has taken.
pub trait Working: Send + Sync {
    /// Ends it. It is over within a second.
    fn cancel(&self);

    /// Returns what came of it, once it is over.
    fn worked(&self) -> Option<Result<Worked, Problem>>;

    /// Returns what is going on, in a line.
    fn line(&self) -> String;

    /// Returns a signal that comes with the next line or with the end; at once if it is over.
    fn changed(&self) -> Signal;
}

/// The result of work on a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Worked {
    /// The reason why it is over.
    pub stopped: Stop,
    /// The reason in words.
    pub reason: String,
    /// The number of attempts that were made.
    pub attempts: u64,
    /// Tokens read by models.
    pub input_tokens: u64,
    /// Tokens written by models.
    pub output_tokens: u64,
    /// Money, in millionths of a US dollar, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

/// The reason why an executor works on a run no longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The run has ended.
    Ended,
    /// The run is where it was to be driven to.
    Reached,
    /// The run waits for a person, for a timer, or for something outside.
    #[default]
    Waiting,
    /// No active state has an executor that the configuration allows.
    NoExecutor,
    /// The run is paused: by a person, or because a limit was reached.
    Paused,
    /// An end by whoever asked for it.
    Cancelled,
}

impl Stop {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Reached => "reached",
            Self::Waiting => "waiting",
            Self::NoExecutor => "no_executor",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Ctx<'_> {
    /// Hands a run to the executor, and goes on when that can do no more.
    ///
    /// Returns what the call ends its turn with.
    ///
    /// A caller who gives up ends the work.
    #[must_use]
    pub fn work(
        &self,
        executor: &dyn Executor,
        work: Work,
        then: impl FnOnce(&Ctx<'_>, Worked) -> Outcome + Send + 'static,
    ) -> Problem {
        match executor.submit(work) {
            Ok(working) => self.await_work(Awaited {
                working,
                reported: (0, String::new()),
                then: Box::new(then),
            }),
            Err(problem) => problem,
        }
    }

    fn await_work(&self, mut awaited: Awaited) -> Problem {
        let line = awaited.working.line();
        let (count, last) = &mut awaited.reported;
        if line != *last {
            // Nobody knows how much there is to do; but each report says more than the one before.
            *count = count.saturating_add(1);
            let done = f64::from(*count);
            self.report_progress(done / (done + 1.0), &line);
            *last = line;
        }
        let changed = awaited.working.changed();
        self.wait_for(changed, Instant::now() + LOOK, move |ctx| {
            if ctx.is_cancelled() {
                awaited.working.cancel();
            }
            match awaited.working.worked() {
                Some(worked) => (awaited.then)(ctx, worked?),
                None => Err(ctx.await_work(awaited)),
            }
        })
    }
}

/// Work that a call waits for.
struct Awaited {
    working: Arc<dyn Working>,
    /// The number of lines that were reported, and the last one.
    reported: (u32, String),
    then: Then,
}

/// The rest of a call, when its work is over.
type Then = Box<dyn FnOnce(&Ctx<'_>, Worked) -> Outcome + Send>;
