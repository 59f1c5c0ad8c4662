//! Checks that are run for a run: what came of them is recorded.
//!
//! A check is run before anything is written, since it takes as long as it takes: whoever writes meanwhile isn't held up.
//! What a workflow requires (`runs/required.rs`) is a check that it declares itself, run as it is declared: its table is
//! the run's, so that nobody gets past a check by declaring an easier one.

use serde::Serialize;

use super::operation::{Decide, DecideCx, Execution, Operation, Right};
use super::reconcile::commit;
use super::{Change, InvalidRequest, Loaded, Order, Outcome, RunError, Written};
use crate::body::{Body, Check, Refused};
use crate::check::{self, CheckPlace, CheckResult, Declaration};
use crate::id::MAX_NAME;

/// A check to be run.
#[derive(Clone, Debug, Serialize)]
pub struct RunCheck {
    /// Its name.
    pub name: String,
    /// As it is declared.
    pub declared: Declaration,
    /// Arguments behind its own.
    pub arguments: Vec<String>,
}

/// The result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Checked {
    /// The check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// The reason that it wasn't run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

impl Outcome for Checked {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        let mut checked = Self::default();
        for body in bodies {
            match body {
                Body::Check(check) => checked.check = Some(check.clone()),
                Body::Refused(refused) => checked.refused = Some(refused.clone()),
                _ => {}
            }
        }
        Ok(checked)
    }
}

/// A check to be run in a project's root.
pub struct RunCheckIn<'c> {
    /// The check.
    pub what: RunCheck,
    /// The project's root, and what starts checks there.
    pub place: &'c CheckPlace,
    /// Tells that nobody waits for the check any more.
    pub cancelled: &'c dyn Fn() -> bool,
}

/// A key is one of the check alone: in another folder it is the same request.
impl Serialize for RunCheckIn<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.what.serialize(serializer)
    }
}

/// Runs a check in a project's root, and records the result.
///
/// Refused, and not run, where the run takes nothing. A repeated key doesn't run it again, unless the check was
/// cancelled: then nobody has had an answer.
///
/// It is an error ([`RunError::Invalid`]) if the declaration can't be used.
impl Operation for RunCheckIn<'_> {
    const NAME: &'static str = "check";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written<Checked>;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Self::Response, RunError> {
        let Execution { runs, order } = *execution;
        let what = &self.what;
        check_name(what)?;
        let request = (Self::NAME, &runs.redact_request(what));
        if let Some(written) = runs.replayed(order, runs.digest(order, &request)?)? {
            return written.read_outcome();
        }
        let loaded = runs.load(&order.run)?;
        let is_own = loaded
            .check(&what.name)?
            .is_some_and(|own| own.hash() == what.declared.hash());
        if is_own && !runs.is_reviewed(&loaded.workflow)? {
            let deed = format!("check `{}` isn't run", what.name);
            return Err(runs.authority()?.unreviewed(deed, &loaded.workflow));
        }
        let mut open = false;
        let refused = commit(runs, order, &request, |run, _| {
            let refusal = run.unchecked();
            open = refusal.is_none();
            let bodies = refusal.into_iter().collect();
            Ok(Change { bodies })
        })?;
        if !open {
            return refused.read_outcome();
        }
        let ran = check::run(&what.declared, &what.arguments, self.place, self.cancelled);
        let ran = ran.map_err(|error| unusable(&what.name, &error))?;
        // Others may write while a check runs.
        let order = &Order {
            expected: None,
            key: order.key.clone().filter(|_| !ran.cancelled),
            ..order.clone()
        };
        let what = what.clone();
        runs.execute(order, &RecordCheck { what, ran })
    }
}

/// The result of a check that somebody has run.
#[derive(Clone)]
pub struct RecordCheck {
    /// The check.
    pub what: RunCheck,
    /// The result.
    pub ran: CheckResult,
}

/// The serialization of the request to run the check, which has the same key.
impl Serialize for RecordCheck {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.what.serialize(serializer)
    }
}

impl Decide for RecordCheck {
    const NAME: &'static str = "check";
    const RIGHT: Right = Right::Drive;
    type Outcome = Checked;

    fn validate(&self) -> Result<(), RunError> {
        check_name(&self.what)
    }

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let what = &self.what;
        let body = run.unchecked().unwrap_or_else(|| {
            Body::Check(Check {
                name: what.name.clone(),
                command: what.declared.command.clone(),
                declaration: what.declared.hash(),
                arguments: what.arguments.clone(),
                ran: self.ran.clone(),
            })
        });
        Ok(Change { bodies: vec![body] })
    }
}

impl Loaded {
    /// Returns a check that the run's workflow declares, if it does.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the declaration can't be used.
    pub fn check(&self, name: &str) -> Result<Option<Declaration>, RunError> {
        let declared = self.workflow.check(name).transpose();
        declared.map_err(|error| unusable(name, &error))
    }

    /// Returns the refusal of a check in a run that takes nothing.
    fn unchecked(&self) -> Option<Body> {
        let blocker = self.legality().standstill()?;
        Some(self.refuse_operation("check", blocker))
    }
}

fn unusable(name: &str, error: &check::CheckError) -> RunError {
    let (name, cause) = (name.to_owned(), error.to_string());
    InvalidRequest::Check { name, cause }.into()
}

fn check_name(what: &RunCheck) -> Result<(), RunError> {
    let characters = what.name.chars().count();
    if (1..=MAX_NAME).contains(&characters) && !what.name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(InvalidRequest::CheckName { characters }.into())
}
