//! Executors: what makes a run go on by itself.
//!
//! A state that waits for an agent is worked on by a model, by an agent's command line, or by a program, as its spec says and
//! the project's configuration allows. Each try is an *attempt*, with records of its own: its prompt, what was said, the tools
//! that were called, what it cost, and how it ended.
//!
//! ```text
//! Executor ─→ queue (runs that are ready) ─→ drive (a run, under its lease) ─→ attempt ─→ model | client | command
//!                                                 └─ plan, prompt: pure functions of the run
//! ```
//!
//! What to rely on:
//!
//! - Two executors never both move a run: each append has the fence of the lease, also those of programs that an attempt
//!   starts and of their hooks.
//! - What is in the journal survives whoever wrote it; an attempt whose executor has gone is *lost*, and the next one is
//!   told so.
//! - An agent gets what its state grants, by the policy that servers and hooks ask.
//! - A limit is never reached silently: the machine gets the event `limit.reached`, or the run stops for a person.
//!
//! Deliberately not here: tools, which are the dispatcher's; which programs and addresses are allowed, which the
//! configuration says; terminals.

mod attempt;
mod below;
mod budget;
mod client;
mod command;
mod drive;
mod happening;
mod model;
mod plan;
mod prompt;
mod queue;
mod settings;
mod slots;
mod surroundings;
mod workspace;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use statemark_runs::{RunId, StoreError};
use statemark_tools::{Dispatcher, Problem, Signal, Work, Worked, Working};
use tokio::runtime::Handle;
use tokio::sync::Notify;

pub use budget::describe_budget;
use drive::Driver;
pub use drive::LEASED;
pub use happening::{Happened, Happening, Measure, Observer};
pub use prompt::Prompt;
pub use settings::{
    Checkpoints, Client, Command, InvalidSetting, Price, Provider, Settings, ToolStyle,
};
use slots::Slots;
pub use surroundings::{ATTEMPT, Surroundings, VARIABLES, Variable, parse_attempt};

/// Drives runs through the tools of a dispatcher.
pub struct Executor {
    dispatcher: Weak<Dispatcher>,
    tokio: Handle,
    settings: Settings,
    surroundings: Surroundings,
    owner: String,
    /// The attempts that it makes at once, whoever hands runs over.
    slots: Slots,
    is_draining: AtomicBool,
    is_cancelled: AtomicBool,
}

impl Executor {
    /// Creates an executor. The dispatcher may have it in turn, so that tools hand runs over.
    #[must_use]
    pub fn new(
        dispatcher: &Arc<Dispatcher>,
        tokio: Handle,
        settings: Settings,
        surroundings: Surroundings,
    ) -> Self {
        Self {
            dispatcher: Arc::downgrade(dispatcher),
            tokio,
            slots: Slots::new(settings.parallel()),
            settings,
            surroundings,
            // Two processes of one machine, and of two, have other leases. Who waits for one looks for its process.
            owner: format!("executor-{}-{}", std::process::id(), RunId::random()),
            is_draining: AtomicBool::new(false),
            is_cancelled: AtomicBool::new(false),
        }
    }

    /// Drives a run until it ends, waits for somebody, or is in the state `until`.
    ///
    /// It waits for the lease of an executor that has gone, and says so ([`Happening::Waits`]).
    ///
    /// # Errors
    ///
    /// `leased` if another executor works on it, and prolongs its lease; the run can't be read or written.
    pub fn drive(
        &self,
        work: &Work,
        until: Option<&str>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        observe: Observer<'_>,
    ) -> Result<Worked, Problem> {
        let parallel = self.settings.parallel();
        self.with_driver(parallel, is_cancelled, observe, |driver| {
            Ok(driver.drive(work, until)?)
        })
        .unwrap_or_else(|| Err(gone()))
    }

    /// Drives the runs of a project that are ready, some at once, until [`Executor::drain`] is called.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub fn serve(
        &self,
        project: Option<&str>,
        parallel: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<(), StoreError> {
        let parallel = parallel.unwrap_or_else(|| self.settings.parallel());
        self.slots.set_most(parallel);
        self.with_driver(parallel, &|| false, observe, |driver| driver.serve(project))
            .unwrap_or(Ok(()))
    }

    /// Begins no further attempt; those that go on are worked to their end.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Ends everything now.
    pub fn cancel(&self) {
        self.drain();
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// Returns the prompts of the states of a run that somebody could work in now, by state.
    ///
    /// # Errors
    ///
    /// `no_executor` if nobody may work in any of them; the run can't be read.
    pub fn prompts(&self, work: &Work) -> Result<Vec<(String, Prompt)>, Problem> {
        self.with_driver(1, &|| false, &|_| {}, |driver| {
            let loaded = driver.dispatcher.runs().catch_up(&work.run)?;
            let planned = plan::plan(&loaded, &self.settings, work);
            let mut prompts = Vec::new();
            for assignment in &planned.ready {
                let prompt = driver.prompt(&loaded, assignment, work.task.as_deref())?;
                prompts.push((assignment.state.clone(), prompt));
            }
            match planned.unassigned.into_iter().next() {
                Some((state, reason)) if prompts.is_empty() => {
                    Err(Problem::new("no_executor", format!("`{state}`: {reason}")))
                }
                _ => Ok(prompts),
            }
        })
        .unwrap_or_else(|| Err(gone()))
    }

    /// Calls a function with a driver; none if the dispatcher has gone.
    fn with_driver<T>(
        &self,
        parallel: usize,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        observe: Observer<'_>,
        call: impl FnOnce(&Driver<'_>) -> T,
    ) -> Option<T> {
        let dispatcher = self.dispatcher.upgrade()?;
        let is_cancelled = || is_cancelled() || self.is_cancelled.load(Ordering::Acquire);
        let is_draining = || self.is_draining.load(Ordering::Acquire);
        let driver = Driver {
            dispatcher: &dispatcher,
            tokio: &self.tokio,
            settings: &self.settings,
            surroundings: &self.surroundings,
            owner: &self.owner,
            slots: &self.slots,
            parallel,
            is_cancelled: &is_cancelled,
            is_draining: &is_draining,
            observe,
        };
        Some(call(&driver))
    }
}

/// Creates the problem of a server that ends.
fn gone() -> Problem {
    Problem::new("failed", "the server is ending")
}

/// Work that tools have handed over.
struct Job {
    is_cancelled: AtomicBool,
    line: Mutex<String>,
    worked: Mutex<Option<Result<Worked, Problem>>>,
    changed: Arc<Notify>,
}

impl Working for Job {
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    fn worked(&self) -> Option<Result<Worked, Problem>> {
        lock(&self.worked).clone()
    }

    fn line(&self) -> String {
        lock(&self.line).clone()
    }

    fn changed(&self) -> Signal {
        let changed = Arc::clone(&self.changed).notified_owned();
        // Whoever asks after the end waits for nothing.
        if lock(&self.worked).is_some() {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(changed)
    }
}

/// An executor that tools hand runs to.
pub struct SharedExecutor(pub Arc<Executor>);

impl statemark_tools::Executor for SharedExecutor {
    fn submit(&self, work: Work) -> Result<Arc<dyn Working>, Problem> {
        if self.0.is_draining.load(Ordering::Acquire) {
            return Err(gone());
        }
        let job = Arc::new(Job {
            is_cancelled: AtomicBool::new(false),
            line: Mutex::default(),
            worked: Mutex::default(),
            changed: Arc::new(Notify::new()),
        });
        let (executor, own) = (Arc::clone(&self.0), Arc::clone(&job));
        let begun = thread::Builder::new()
            .name("executor".to_owned())
            .spawn(move || {
                let observe = |happened: &Happened| {
                    if let Some(line) = line_of(happened, &work.run) {
                        *lock(&own.line) = line;
                        own.changed.notify_waiters();
                    }
                };
                let is_cancelled = || own.is_cancelled.load(Ordering::Acquire);
                let worked = loop {
                    match executor.drive(&work, None, &is_cancelled, &observe) {
                        // A worker of this store has it: what is left when that is done is this call's.
                        Err(problem) if problem.code == LEASED && !is_cancelled() => {
                            thread::sleep(attempt::LOOK);
                        }
                        worked => break worked,
                    }
                };
                *lock(&own.worked) = Some(worked);
                own.changed.notify_waiters();
            });
        match begun {
            Ok(_) => Ok(job),
            Err(error) => Err(Problem::new(
                "failed",
                format!("no thread can be begun: {error}"),
            )),
        }
    }
}

/// Writes what has happened in a line; none for what needs no line.
///
/// What has happened in another run than `of`, which is driven with it, is said with the name of that run.
#[must_use]
pub fn line_of(happened: &Happened, of: &RunId) -> Option<String> {
    let run = &happened.run;
    let state = &if run == of {
        happened.state.clone()
    } else {
        format!("{run}, {}", happened.state)
    };
    Some(match &happened.what {
        Happening::Started { executor, model } => {
            let model = model
                .as_ref()
                .map_or_else(String::new, |it| format!(" with {it}"));
            format!("{state}: attempt {} by {executor}{model}", happened.attempt)
        }
        Happening::Called {
            tool,
            failed,
            milliseconds,
        } => {
            let failed = if *failed { ", refused or failed" } else { "" };
            // A model may call a tool by any text.
            let tool = statemark_text::visible::line(tool);
            let tool = statemark_text::shorten::shorten(&tool, 100);
            format!("{state}: {tool} ({milliseconds} ms{failed})")
        }
        Happening::Said { text } => {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = statemark_text::visible::line(&line);
            format!("{state}: {}", statemark_text::shorten::shorten(&line, 100))
        }
        Happening::Used {
            input_tokens,
            output_tokens,
            cost,
        } => {
            let cost = cost.map_or_else(String::new, |cost| {
                format!(", {} dollars", budget::dollars(cost))
            });
            format!("{state}: {input_tokens} tokens read, {output_tokens} written{cost}")
        }
        Happening::Waits { holder, until } => format!(
            "{run}: `{holder}` has its lease until {}; waiting for its end, in case that executor has gone",
            drive::time_of(*until)
        ),
        Happening::LeftWork {
            branch,
            folder,
            stays_because,
        } => {
            let place = match (folder, stays_because) {
                (None, _) => "; its worktree is removed".to_owned(),
                (Some(folder), None) => format!(", in the worktree {folder}"),
                (Some(folder), Some(reason)) => {
                    let reason = statemark_text::visible::line(reason);
                    format!(", in the worktree {folder}, which stays: {reason}")
                }
            };
            format!("{run}: its work is on the branch `{branch}`{place}")
        }
        Happening::Progressed { .. } => return None,
        Happening::Retried {
            reason,
            milliseconds,
        } => format!("{state}: {reason}; asked again in {milliseconds} ms"),
        Happening::Ended { outcome, reason } => {
            let reason = reason
                .as_ref()
                .map_or_else(String::new, |it| format!(": {it}"));
            format!(
                "{state}: attempt {} {}{reason}",
                happened.attempt,
                outcome.name()
            )
        }
    })
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
