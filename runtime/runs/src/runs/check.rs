//! Checks that are run for a run: what came of them is recorded.
//!
//! A check is run before anything is written, since it takes as long as it takes: whoever writes meanwhile isn't held up.
//! What a workflow requires (`runs/required.rs`) is a check that it declares itself, run as it is declared: its table is
//! the run's, so that nobody gets past a check by declaring an easier one.

use std::path::Path;

use serde::Serialize;

use super::seal::Clean;
use super::{Change, Loaded, Order, RunError, Runs, Written};
use crate::body::{Body, Check, Refused};
use crate::check::{self, Declared, Ran};
use crate::id::MAX_NAME;
use crate::redact::Redactor;

/// A check to be run.
#[derive(Clone, Debug, Serialize)]
pub struct RunCheck {
    /// Its name.
    pub name: String,
    /// As it is declared.
    pub declared: Declared,
    /// Arguments behind its own.
    pub arguments: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Checked {
    /// The check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Why it wasn't run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

impl Checked {
    /// The answer that the records give.
    #[must_use]
    pub fn of(written: &Written) -> Self {
        let mut checked = Self::default();
        for body in written.records.iter().filter_map(|it| it.read().ok()) {
            match body {
                Body::Check(check) => checked.check = Some(check),
                Body::Refused(refused) => checked.refused = Some(refused),
                _ => {}
            }
        }
        checked
    }
}

impl Runs {
    /// Runs a check in a project's root, and records what came of it: [`Checked::of`] says it. Refused, and not run, where
    /// the run takes nothing. The same key isn't run again, unless the check was `cancelled`: then nobody has had an answer.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the declaration can't be used; as for [`Runs::change`].
    pub fn run_check(
        &self,
        order: &Order,
        what: &RunCheck,
        root: &Path,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Written, RunError> {
        Self::may_write(&order.actor)?;
        named(what)?;
        let request = ("check", &self.cleaned(what));
        if let Some(written) = self.replayed(order, self.digest(order, &request)?)? {
            return Ok(written);
        }
        let mut open = false;
        let refused = self.change(order, &request, |loaded, _| {
            let refusal = loaded.unchecked();
            open = refusal.is_none();
            let bodies = refusal.into_iter().collect();
            Ok(Change { bodies })
        })?;
        if !open {
            return Ok(refused);
        }
        let ran = check::run(&what.declared, &what.arguments, root, cancelled);
        let ran = ran.map_err(|error| unusable(&what.name, &error))?;
        // Others may write while a check runs.
        let order = &Order {
            expected: None,
            key: order.key.clone().filter(|_| !ran.cancelled),
            ..order.clone()
        };
        self.record_check(order, what, &ran)
    }

    /// Records what came of a check that somebody has run.
    ///
    /// # Errors
    ///
    /// As for [`Runs::run_check`].
    pub fn record_check(
        &self,
        order: &Order,
        what: &RunCheck,
        ran: &Ran,
    ) -> Result<Written, RunError> {
        named(what)?;
        let what = self.cleaned(what);
        self.change(order, &("check", &what), |loaded, _| {
            let body = loaded.unchecked().unwrap_or_else(|| {
                Body::Check(Check {
                    name: what.name.clone(),
                    command: what.declared.command.clone(),
                    declaration: what.declared.hash(),
                    arguments: what.arguments.clone(),
                    ran: ran.clone(),
                })
            });
            Ok(Change { bodies: vec![body] })
        })
    }
}

impl Loaded {
    /// The check of a name that the run's workflow declares, if it does.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the declaration can't be used.
    pub fn check(&self, name: &str) -> Result<Option<Declared>, RunError> {
        let declared = self.workflow.check(name).transpose();
        declared.map_err(|error| unusable(name, &error))
    }

    /// That no check counts here any more.
    fn unchecked(&self) -> Option<Body> {
        let (code, reason) = self.standstill()?;
        Some(self.refusal("check", code, reason))
    }
}

fn unusable(name: &str, error: &check::CheckError) -> RunError {
    RunError::Invalid {
        what: format!("the check `{name}` can't be run as it is declared: {error}"),
    }
}

fn named(what: &RunCheck) -> Result<(), RunError> {
    let characters = what.name.chars().count();
    if (1..=MAX_NAME).contains(&characters) && !what.name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(RunError::Invalid {
        what: format!(
            "a check's name has 1 to {MAX_NAME} characters and no control characters; this has {characters}"
        ),
    })
}

impl Clean for RunCheck {
    fn clean(&mut self, redactor: &Redactor) {
        for text in &mut self.arguments {
            super::seal::clean_text(redactor, text);
        }
    }
}
