//! A call of a tool: who calls, and which run is meant.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use statemark_runs::{Actor, Key, Loaded, Order, Query, RunId, Status};

use crate::bounds;
use crate::caller::Caller;
use crate::desk::Desk;
use crate::problem::{OTHER_RUN, Problem};

/// How many runs are named where several could be meant.
const CANDIDATES: usize = 10;

/// A call of a tool, beside its arguments.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The desk.
    pub desk: &'c Desk,
    /// Who calls.
    pub caller: &'c Caller,
    /// Whether the caller has given up waiting.
    pub cancelled: &'c (dyn Fn() -> bool + Sync),
    /// Tells the caller how far it is, and in words what is going on.
    pub progress: &'c (dyn Fn(f64, &str) + Sync),
    /// Is told of files that the call has changed.
    pub(crate) changed: Option<&'c Changed>,
}

/// The files that a call has changed, whatever its answer says of them: a state may limit how many.
#[derive(Default)]
pub(crate) struct Changed(Mutex<Vec<String>>);

impl Changed {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'c> Call<'c> {
    /// A call that nobody waits for, and that tells nobody how far it is.
    #[must_use]
    pub const fn quiet(desk: &'c Desk, caller: &'c Caller) -> Self {
        Self {
            desk,
            caller,
            cancelled: &|| false,
            progress: &|_, _| {},
            changed: None,
        }
    }

    /// The same, and whoever waits for it may give up, and is told how far it is.
    #[must_use]
    pub const fn heard(
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

    /// Says that the call has changed a file.
    pub(crate) fn has_changed(&self, path: &str) {
        if let Some(Changed(all)) = self.changed {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(path.to_owned());
        }
    }

    /// The only run that the caller may touch, if there is one: the server's, else the caller's own.
    #[must_use]
    pub fn bound(&self) -> Option<&'c RunId> {
        self.caller
            .run
            .as_ref()
            .or(self.desk.options().run.as_ref())
    }

    /// Whether both the server and the caller's credential are for this run.
    fn may_touch(&self, run: &RunId) -> Result<(), Problem> {
        let server = self.desk.options().run.as_ref();
        let caller = self.caller.run.as_ref();
        match server.into_iter().chain(caller).find(|bound| *bound != run) {
            None => Ok(()),
            Some(bound) => Err(Problem::new(
                OTHER_RUN,
                format!("this caller may touch the run `{bound}` only, not `{run}`"),
            )),
        }
    }

    /// Whether the caller may begin runs: who is bound to one begins no other.
    ///
    /// # Errors
    ///
    /// It may not.
    pub(crate) fn may_begin(&self) -> Result<(), Problem> {
        match self.bound() {
            None => Ok(()),
            Some(bound) => Err(Problem::new(
                OTHER_RUN,
                format!("this caller may touch the run `{bound}` only, and begins no other"),
            )),
        }
    }

    /// The id of a run that the caller begins: the given one, or the only one that it may touch; else one that nobody can
    /// guess.
    ///
    /// # Errors
    ///
    /// The id can't be one, or the caller may touch another one only.
    pub(crate) fn new_run(&self, named: Option<&str>) -> Result<RunId, Problem> {
        if named.is_some() || self.bound().is_some() {
            return self.run(named);
        }
        Ok(RunId::random())
    }

    /// The run that is meant: the named one; else the one that the server or the caller is bound to; else the only active
    /// run of the caller's project.
    ///
    /// # Errors
    ///
    /// None is meant, or several; or the caller may touch another one only.
    pub fn run(&self, named: Option<&str>) -> Result<RunId, Problem> {
        if let Some(named) = named {
            let run: RunId = named
                .parse()
                .map_err(|error| Problem::argument("run_id", error))?;
            self.may_touch(&run)?;
            return Ok(run);
        }
        if let Some(bound) = self.bound() {
            self.may_touch(bound)?;
            return Ok(bound.clone());
        }
        let statuses = [Status::Running, Status::Waiting, Status::Paused];
        let query = Query {
            statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
            project: self.caller.project.clone(),
            limit: CANDIDATES,
            ..Query::default()
        };
        let page = self.desk.runs().store().list(&query)?;
        match page.heads.as_slice() {
            [only] => Ok(only.run.clone()),
            [] => Err(Problem::new(
                "no_run",
                "no run is active: name one with `run_id`, or start one",
            )
            .mended_by("list_workflows", json!({}))),
            several => {
                let runs: Vec<Value> = several
                    .iter()
                    .map(|head| json!({"run_id": head.run, "workflow": head.summary.workflow, "status": head.summary.status}))
                    .collect();
                Err(Problem::new(
                    "several_runs",
                    "several runs are active: name one with `run_id`",
                )
                .with(json!({"runs": runs})))
            }
        }
    }

    /// The run that is meant, as it is now; what was due by now has been taken.
    ///
    /// # Errors
    ///
    /// As for [`Call::run`]; the run can't be read.
    pub fn load(&self, named: Option<&str>) -> Result<Loaded, Problem> {
        let run = self.run(named)?;
        Ok(self.desk.runs().caught_up(&run)?)
    }

    /// An order of the caller.
    ///
    /// # Errors
    ///
    /// The key can't be one.
    pub fn order(
        &self,
        run: RunId,
        key: Option<&str>,
        expected: Option<u64>,
    ) -> Result<Order, Problem> {
        let key = key.map(str::parse::<Key>).transpose();
        let key = key.map_err(|error| Problem::argument("idempotency_key", error))?;
        Ok(Order {
            key,
            expected,
            ..Order::new(run, self.actor())
        })
    }

    /// Who calls.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.caller.actor.clone()
    }

    /// As many items as fit into a reply beside what it has else.
    pub(crate) fn fitting(items: Vec<Value>, beside: &Value) -> Vec<Value> {
        bounds::fitting(items, beside.to_string().len())
    }
}
