//! Rewinds: later records are taken back.
//!
//! Nothing is deleted: a `run.rewound` says up to which record the journal counts, and the fold skips what lies between.
//! First comes a dry run, whose token the rewind needs. Effects that have left aren't taken back by that: those whose
//! action has a `compensate` get it as an effect to be carried out; the others have to be crossed by force, which stays
//! recorded. Keys that were used keep their answers, and what was spent is spent: after an agent's rewind limits go on
//! counting what was taken back. What a person has decided, a person takes back.

mod plan;

use serde::Serialize;

pub use plan::{EffectLeft, RewindPlan};

use super::operation::{Execution, Operation, Right};
use super::order::refuse_alone;
use super::reconcile::commit;
use super::restore::files_to;
use super::restore::restore_files;
use super::{Change, Loaded, Order, RunError, Runs, Written};
use crate::actor::Role;
use crate::blocker::{Blocker, OperationBlocker};
use crate::body::{Body, Compensation, EffectStatus, Refused, Rewound, Scope};
use crate::state;
use plan::{make_plan, scope_name};

/// Most records that a refusal tells of. Why: it is a sentence, and the journal has them all.
const MAX_LISTED: usize = 5;

/// Up to where, and what, is taken back.
#[derive(Clone, Debug, Serialize)]
pub struct RewindRun {
    /// The last record that still counts.
    pub to: u64,
    /// The part that is taken back.
    pub scope: Scope,
    /// The checkpoint to put the files back to; else the one that they had at that record.
    pub checkpoint: Option<String>,
    /// The dry run's token.
    pub token: Option<String>,
    /// True if effects that can't be taken back are crossed.
    pub force: bool,
    /// The reason.
    pub reason: Option<String>,
}

impl RewindRun {
    /// Makes a rewind of the state only, without force.
    #[must_use]
    pub const fn to(to: u64) -> Self {
        Self {
            to,
            scope: Scope::State,
            checkpoint: None,
            token: None,
            force: false,
            reason: None,
        }
    }
}

/// Takes back the records after one.
///
/// Refused, and recorded so, without the token of a dry run that is still true.
///
/// If files are put back, too, the intent is recorded first, and the end when they are as they were: see
/// [`FinishRestore`](super::FinishRestore).
impl Operation for RewindRun {
    const NAME: &'static str = "rewind";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written<Result<(), Refused>>;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Self::Response, RunError> {
        let Execution { runs, order } = *execution;
        if self.scope != Scope::State {
            return rewind_files(runs, order, self)?.read_outcome();
        }
        let written = commit(runs, order, &(Self::NAME, self), |run, _| {
            let body = match check_rewind(runs, run, self, order.actor.role)? {
                Ok(plan) => Body::Rewound(rewound(run, self, plan, run.head.seq + 1)),
                Err(blocker) => {
                    let on = Some(format!("record {}", self.to));
                    refuse_alone(Self::NAME, on, blocker)
                }
            };
            Ok(Change { bodies: vec![body] })
        })?;
        written.read_outcome()
    }
}

/// Plans a rewind, with the token that it needs. Writes nothing.
///
/// # Errors
///
/// [`RunError::Invalid`] says why there can't be such a rewind; [`RunError::Git`] that the files can't be compared;
/// else as for [`Runs::load`].
pub fn plan_rewind(
    runs: &Runs,
    run: &crate::id::RunId,
    rewind: &RewindRun,
) -> Result<RewindPlan, RunError> {
    let loaded = runs.load(run)?;
    let mut plan = make_plan(runs, &loaded, rewind)??;
    let name = plan.checkpoint.as_ref();
    let kept = name.and_then(|it| loaded.state.checkpoints.get(it));
    plan.files = kept.map(|it| files_to(runs, &it.taken)).transpose()?;
    Ok(plan)
}

/// Returns the plan of a rewind that can be carried out now.
pub(super) fn check_rewind(
    runs: &Runs,
    loaded: &Loaded,
    rewind: &RewindRun,
    role: Role,
) -> Result<Result<RewindPlan, Blocker>, RunError> {
    let mut plan = match make_plan(runs, loaded, rewind)? {
        Ok(plan) => plan,
        Err(blocker) => return Ok(Err(blocker)),
    };
    if Right::Decide.is_granted(role) {
        plan.spent.clear();
    } else if !plan.persons.is_empty() {
        let persons = plan.persons.iter().take(MAX_LISTED);
        let persons: Vec<String> = persons.map(|(seq, told)| format!("{seq} {told}")).collect();
        let more = plan.persons.len().saturating_sub(persons.len());
        let more = if more == 0 {
            String::new()
        } else {
            format!(", and {more} more")
        };
        let records = format!("{}{more}", persons.join(", "));
        return Ok(Err(OperationBlocker::PersonRewinds { records }.into()));
    }
    match &rewind.token {
        None => return Ok(Err(OperationBlocker::NoToken.into())),
        Some(token) if *token != plan.token => {
            let difference = describe_difference(runs, loaded, token, &plan)?;
            return Ok(Err(OperationBlocker::StaleToken { difference }.into()));
        }
        Some(_) => {}
    }
    let left: Vec<String> = plan.blocking().map(describe_effect).collect();
    if !left.is_empty() && !rewind.force {
        let effects = left.join(", ");
        return Ok(Err(OperationBlocker::EffectsLeft { effects }.into()));
    }
    Ok(Ok(plan))
}

/// Describes the difference of a plan from the one that a token is for.
fn describe_difference(
    runs: &Runs,
    loaded: &Loaded,
    token: &str,
    plan: &RewindPlan,
) -> Result<String, RunError> {
    let mut parts = token.splitn(4, '-');
    let at = parts.next().and_then(|at| at.parse::<u64>().ok());
    let to = parts.next().and_then(|to| to.parse::<u64>().ok());
    let (Some(at), Some(to), Some(scope)) = (at, to, parts.next()) else {
        return Ok(format!("`{token}` isn't a token of a rewind"));
    };
    if to != plan.to || scope != scope_name(plan.scope) {
        return Ok(format!(
            "the token is for going back to record {to} with scope `{scope}`, not to {} with `{}`",
            plan.to,
            scope_name(plan.scope)
        ));
    }
    let mut since = Vec::new();
    let mut more = 0_u64;
    state::for_each_record(&*runs.store, &loaded.run, at, Some(plan.at), |record| {
        if record.kind == "refused" {
            return Ok(());
        }
        if since.len() < MAX_LISTED {
            since.push(format!("{} {}", record.seq, record.summary()));
        } else {
            more += 1;
        }
        Ok(())
    })?;
    if since.is_empty() {
        let reason = "the token is of another run, journal or checkpoint, or a run beneath this one has gone on since";
        return Ok(reason.to_owned());
    }
    let more = if more == 0 {
        String::new()
    } else {
        format!(", and {more} more")
    };
    let since = since.join(", ");
    Ok(format!(
        "the run has gone on since the dry run: {since}{more}"
    ))
}

/// Carries out a rewind with files.
fn rewind_files(runs: &Runs, order: &Order, rewind: &RewindRun) -> Result<Written, RunError> {
    restore_files(runs, order, &("rewind", rewind), |loaded, _| {
        let to = rewind.to;
        let refuse =
            |blocker: Blocker| refuse_alone("rewind", Some(format!("record {to}")), blocker);
        let plan = match check_rewind(runs, loaded, rewind, order.actor.role)? {
            Ok(plan) => plan,
            Err(blocker) => return Ok(Err(refuse(blocker))),
        };
        let Some(name) = plan.checkpoint.clone() else {
            return Ok(Err(refuse(OperationBlocker::NoCheckpoint { to }.into())));
        };
        // The keys of what it owes are those of the record to come, which is made last.
        let rewound = rewound(loaded, rewind, plan, 0);
        Ok(Ok((name, Some(rewound))))
    })
}

fn describe_effect(effect: &EffectLeft) -> String {
    let (key, name) = (&effect.key, &effect.name);
    format!("`{name}` ({key}, {})", effect.status.name())
}

/// Returns the record of a rewind, which will have that number.
pub(super) fn rewound(loaded: &Loaded, rewind: &RewindRun, plan: RewindPlan, seq: u64) -> Rewound {
    let owed = plan.effects.iter().filter(|effect| !effect.blocks);
    let owed = owed.filter(|effect| effect.status == EffectStatus::Succeeded);
    let compensations = owed.zip(1..).filter_map(|(effect, number)| {
        Some(Compensation {
            key: format!("{}:{seq}:{number}", loaded.run),
            name: effect.compensation.clone()?,
            of: effect.key.clone(),
        })
    });
    Rewound {
        to: plan.to,
        scope: plan.scope,
        crossed: plan.blocking().map(|effect| effect.key.clone()).collect(),
        compensations: compensations.collect(),
        spent: plan.spent,
        checkpoint: plan.checkpoint,
        reason: rewind.reason.clone(),
    }
}
