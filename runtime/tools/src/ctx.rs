//! The context of a call: what a tool sees of the server and of its caller.
//!
//! A tool is a function of its context and of typed arguments. The context knows no tool.

pub mod target;

use std::sync::{Arc, Mutex, PoisonError};

use statemark_runs::{Actor, Key, Loaded, Order, Role, RunId, Runs};

use crate::services::Services;
use crate::waiting::Waits;
use crate::{Caller, Catalog, Credential, Docs, Executor, Options, Problem};

/// The context of a call.
#[derive(Clone, Copy)]
pub struct Ctx<'c> {
    services: &'c Services,
    /// The caller.
    pub caller: &'c Caller,
    cancelled: &'c (dyn Fn() -> bool + Sync),
    progress: &'c (dyn Fn(f64, &str) + Sync),
    changes: Option<&'c Changes>,
    pub(crate) waits: Option<&'c Waits>,
    is_api: bool,
}

/// The files that a call has changed, whatever its answer says of them: a state may limit how many.
#[derive(Default)]
pub(crate) struct Changes(Mutex<Vec<String>>);

impl Changes {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'c> Ctx<'c> {
    /// Creates the context of a call that can't be cancelled and reports no progress.
    pub(crate) const fn new(services: &'c Services, caller: &'c Caller) -> Self {
        Self {
            services,
            caller,
            cancelled: &|| false,
            progress: &|_, _| {},
            changes: None,
            waits: None,
            is_api: false,
        }
    }

    /// Returns the context of a call that came over the API.
    ///
    /// The API has all of our own tools that the options leave.
    #[must_use]
    pub const fn over_api(self) -> Self {
        Self {
            is_api: true,
            ..self
        }
    }

    /// Reports whether the call came over the API.
    pub(crate) const fn is_api(&self) -> bool {
        self.is_api
    }

    /// Lets the caller cancel the call, and hear of its progress: the share that is done, and a sentence.
    #[must_use]
    pub const fn with_progress(
        self,
        cancelled: &'c (dyn Fn() -> bool + Sync),
        progress: &'c (dyn Fn(f64, &str) + Sync),
    ) -> Self {
        Self {
            cancelled,
            progress,
            ..self
        }
    }

    /// Collects the files that the call changes, and the wait that it asks for.
    pub(crate) const fn collecting(self, changes: &'c Changes, waits: &'c Waits) -> Self {
        Self {
            changes: Some(changes),
            waits: Some(waits),
            ..self
        }
    }

    /// Returns the runs.
    #[must_use]
    pub const fn runs(&self) -> &'c Runs {
        &self.services.runs
    }

    /// Returns the workflows.
    #[must_use]
    pub fn catalog(&self) -> &'c dyn Catalog {
        &*self.services.catalog
    }

    /// Returns the documentation.
    #[must_use]
    pub fn docs(&self) -> Arc<Docs> {
        self.services.docs()
    }

    /// Returns the ids and titles of the listed pages of the documentation.
    pub fn listed_pages(&self) -> &'c [(String, String)] {
        self.services.listed_pages()
    }

    /// Returns the executor, if the server has one.
    #[must_use]
    pub fn executor(&self) -> Option<&'c dyn Executor> {
        self.services.executor.get().map(|it| &**it)
    }

    /// Returns the options that the server was started with.
    pub(crate) const fn options(&self) -> &'c Options {
        &self.services.options
    }

    /// Returns a variable of the environment that the server was started in, if it was told of it.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&'c str> {
        self.options().environment.get(name).map(String::as_str)
    }

    /// Returns whether the server has one of our own tools.
    pub fn offers(&self, tool: &str) -> bool {
        self.services.own_tools.contains(tool)
    }

    /// Reports whether the caller can call a tool of that name, of ours or of a profile.
    ///
    /// What is said to a caller proposes no other.
    #[must_use]
    pub fn can_call(&self, tool: &str) -> bool {
        let reads_only = self.caller.actor.role < Role::Agent;
        let mut listed = self.services.listed.iter();
        let is_listed = listed.any(|it| it.name == tool && (it.read_only || !reads_only));
        is_listed || self.is_api && self.offers(tool)
    }

    /// Returns the name under which the caller can call one of our own tools: its own, or a profile's.
    ///
    /// Of several equivalents it is the one whose name ends with the tool's, else the first.
    #[must_use]
    pub fn name_of(&self, own: &str) -> Option<&'static str> {
        let callable = self.services.listed.iter();
        let callable = callable.filter(|it| it.own == own && self.can_call(it.name));
        let names: Vec<&'static str> = callable.map(|it| it.name).collect();
        let alike = names.iter().find(|name| name.ends_with(own));
        alike.or(names.first()).copied()
    }

    /// Reports whether the caller can call that tool of ours, and not an equivalent with other answers.
    #[must_use]
    pub fn can_call_own(&self, tool: &str) -> bool {
        let mut listed = self.services.listed.iter();
        let is_own = listed.any(|it| it.name == tool && it.set.is_own());
        is_own && self.can_call(tool)
    }

    /// Returns the function that says whether the caller has given up, for an operation of `Runs`.
    pub const fn cancelled(&self) -> &'c (dyn Fn() -> bool + Sync) {
        self.cancelled
    }

    /// Returns whether the caller has given up waiting.
    pub fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// Tells the caller how much is done, from 0 to 1, and what is going on.
    pub fn report_progress(&self, share: f64, message: &str) {
        (self.progress)(share, message);
    }

    /// Returns the function that reports progress, for another thread.
    pub(crate) const fn progress(&self) -> &'c (dyn Fn(f64, &str) + Sync) {
        self.progress
    }

    /// Records that the call has changed a file.
    pub fn record_change(&self, path: &str) {
        if let Some(Changes(paths)) = self.changes {
            let mut paths = paths.lock().unwrap_or_else(PoisonError::into_inner);
            paths.push(path.to_owned());
        }
    }

    /// Returns the caller's identity.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.caller.actor.clone()
    }

    /// Returns the only run that the caller may touch, if there is one: the token's, else the server's.
    #[must_use]
    pub fn bound_run(&self) -> Option<&'c RunId> {
        self.caller.run.as_ref().or(self.options().run.as_ref())
    }

    /// Returns the run in an attempt of which the caller works, if there is one.
    #[must_use]
    pub fn attempted_run(&self) -> Option<&'c RunId> {
        self.caller.attempt.as_ref().map(|it| &it.run)
    }

    /// Loads the run that is meant, after its overdue timers have fired.
    ///
    /// # Errors
    ///
    /// Those of [`Ctx::resolve_run`]; the run can't be read.
    pub fn load_run(&self, named: Option<&str>) -> Result<Loaded, Problem> {
        let run = self.resolve_run(named)?;
        Ok(self.runs().catch_up(&run)?)
    }

    /// Returns the run that is meant as this server left it.
    ///
    /// None if something is due in it, or others have written to it lately. It is a guess, which saves a look at the store. A change finds out at its append.
    ///
    /// # Errors
    ///
    /// No run is meant, or several are; the caller is bound to another run.
    pub(crate) fn recall_run(&self, named: Option<&str>) -> Result<Option<Loaded>, Problem> {
        let run = self.resolve_run(named)?;
        Ok(self.runs().recall_caught_up(&run))
    }

    /// Creates an order of the caller.
    ///
    /// # Errors
    ///
    /// The key isn't a valid one.
    pub fn order(
        &self,
        run: RunId,
        key: Option<&str>,
        expected: Option<u64>,
    ) -> Result<Order, Problem> {
        let key = key.map(str::parse::<Key>).transpose();
        let key = key.map_err(|error| Problem::argument("idempotency_key", error))?;
        let attempt = self.caller.attempt.as_ref();
        let attempt = attempt.filter(|attempt| attempt.run == run);
        Ok(Order {
            key,
            expected,
            fence: attempt.map(|it| it.fence),
            attempt: attempt.map(|it| it.number),
            only_accepted: self.caller.credential == Credential::ManyRuns,
            ..Order::new(run, self.actor())
        })
    }
}
