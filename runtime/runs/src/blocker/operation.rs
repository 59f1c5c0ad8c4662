//! Reasons that an operation on a run as a whole can't be done.
//!
//! A run is continued, forced, checkpointed, restored, rewound or migrated, or an effect of it is reported.

use crate::blocker::code::Code;
use crate::body::EffectStatus;
use crate::phrase::list;

/// A reason that an operation on a run as a whole can't be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationBlocker {
    /// The run isn't paused.
    #[error("the run isn't paused, it is {status}")]
    NotPaused {
        /// Its status.
        status: &'static str,
    },
    /// A person has paused the run, or the run itself.
    #[error("{who} has paused the run: a person has to continue it")]
    PersonContinues {
        /// The caller who paused it.
        who: String,
    },
    /// Only a person forces a state.
    #[error(
        "only a person sets a state by hand, and this is an {role}'s credential: send one of the legal events"
    )]
    PersonForces {
        /// The caller's role.
        role: &'static str,
    },
    /// The definition doesn't allow states to be forced.
    #[error("`{workflow}` doesn't say `\"meta\": {{\"debug\": true}}`, which `force` needs")]
    NotDebug {
        /// The workflow.
        workflow: String,
    },
    /// The run's decisions are signed, so that no token sets its state or its machine.
    #[error(
        "decisions about this run are signed, and {deed} would get past them: start another run"
    )]
    SignedRun {
        /// The deed.
        deed: &'static str,
    },
    /// Decisions about runs of the other workflow are signed by keys that a run has from its start.
    #[error(
        "decisions about runs of `{workflow}` are signed with keys that a run has from its start: start another run of it"
    )]
    SignedWorkflow {
        /// The workflow.
        workflow: String,
    },
    /// The workflow has no such state.
    #[error("there is no state `{state}`; there are {}", list(known))]
    UnknownState {
        /// The state.
        state: String,
        /// The workflow's states.
        known: Vec<String>,
    },
    /// The context can't take the fields.
    #[error("{defect}")]
    BadContext {
        /// The defect.
        defect: String,
    },
    /// The machine fails on entering a state.
    #[error("`{state}` can't be entered: {cause}")]
    CannotEnter {
        /// The state.
        state: String,
        /// The failure.
        cause: String,
    },
    /// The effect is another run's.
    #[error("`{key}` is an effect of run `{run}`")]
    OtherRun {
        /// The effect.
        key: String,
        /// The run.
        run: String,
    },
    /// The effect doesn't count any more.
    #[error("`{key}` isn't to be carried out: record {seq} has no such effect, or was taken back")]
    EffectTakenBack {
        /// The effect.
        key: String,
        /// The record of its step.
        seq: u64,
    },
    /// The run has no such effect.
    #[error("the run has no effect `{key}`; {}", open_effects(open))]
    UnknownEffect {
        /// The effect.
        key: String,
        /// The open effects.
        open: Vec<String>,
    },
    /// The status can't follow the last one.
    #[error("{}", effect_order(key, *before, *status))]
    EffectOrder {
        /// The effect.
        key: String,
        /// Its last status.
        before: Option<EffectStatus>,
        /// The reported status.
        status: EffectStatus,
    },
    /// A checkpoint has the name.
    #[error("there is a checkpoint `{name}` already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The run has no such checkpoint.
    #[error("there is no checkpoint `{name}`{}", known_checkpoints(known.as_deref()))]
    UnknownCheckpoint {
        /// The checkpoint.
        name: String,
        /// The run's checkpoints, where one has to be named.
        known: Option<Vec<String>>,
    },
    /// No checkpoint has the files of a record.
    #[error("no checkpoint was taken up to record {to}: name one, or take back the state only")]
    NoCheckpoint {
        /// The record.
        to: u64,
    },
    /// Records of a person's decisions would be taken back.
    #[error("a person has to take this back: {records}")]
    PersonRewinds {
        /// The records.
        records: String,
    },
    /// A rewind has no token.
    #[error("a rewind needs the token of a dry run, which says what it undoes")]
    NoToken,
    /// The token is of another dry run.
    #[error("{difference}")]
    StaleToken {
        /// The difference.
        difference: String,
    },
    /// Effects have left that nothing takes back.
    #[error("effects have left that nothing takes back: {effects}; force it to leave them behind")]
    EffectsLeft {
        /// The effects.
        effects: String,
    },
    /// A record is within an append.
    #[error("{message}")]
    WithinAppend {
        /// The records of the append, and where to rewind instead.
        message: String,
    },
    /// The parent has the outcome of the run, or has given it up.
    #[error(
        "it works for run `{parent}`, which has taken its outcome or given it up: rewind that one, and another begins in its place"
    )]
    ParentGoneOn {
        /// The parent.
        parent: String,
    },
    /// Nothing would be taken back.
    #[error("nothing has happened since record {to}: there is nothing to take back")]
    NothingToRewind {
        /// The record.
        to: u64,
    },
    /// The run has no such record.
    #[error("there is no record {to}; the last one is {last}")]
    NoSuchRecord {
        /// The record.
        to: u64,
        /// The run's last record.
        last: u64,
    },
    /// The record was taken back.
    #[error("record {to} was taken back before; those that count are {counting}")]
    RecordTakenBack {
        /// The record.
        to: u64,
        /// The records that count.
        counting: String,
    },
    /// The record is of the run that this one was forked from.
    #[error("record {to} is one of `{from}`, which this run was forked from; fork there again")]
    OthersRecord {
        /// The record.
        to: u64,
        /// The other run.
        from: String,
    },
    /// The run is over.
    #[error("the run is {status}")]
    Over {
        /// Its status.
        status: &'static str,
    },
    /// The run has the table already.
    #[error("the run goes by that table already")]
    SameTable,
    /// Only a person renames states or timers in a migration.
    #[error(
        "what is `{old}` is to be `{new}`: that moves the run by hand, and a person has to do it"
    )]
    PersonRenames {
        /// The name in the run's table.
        old: String,
        /// The name in the new table.
        new: String,
    },
    /// Only a person migrates a run to a table with other requirements.
    #[error(
        "the new table demands other things than the run's ({}): an agent can't let itself off them, and a person has to migrate the run",
        .requirements.join(", ")
    )]
    PersonMigrates {
        /// The parts of the tables that differ; in older journals, the kinds of rows.
        requirements: Vec<String>,
    },
    /// The new table lacks something that the run needs.
    #[error("{}", .obstacles.join("; "))]
    NoCounterpart {
        /// The obstacles.
        obstacles: Vec<String>,
    },
}

impl OperationBlocker {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::NotPaused { .. } => Code::NotPaused,
            Self::PersonContinues { .. }
            | Self::PersonForces { .. }
            | Self::PersonRewinds { .. }
            | Self::PersonRenames { .. }
            | Self::PersonMigrates { .. } => Code::NotAPerson,
            Self::NotDebug { .. } => Code::NotDebug,
            Self::SignedRun { .. } | Self::SignedWorkflow { .. } => Code::SignedRun,
            Self::UnknownState { .. } => Code::UnknownState,
            Self::BadContext { .. } => Code::BadContext,
            Self::CannotEnter { .. } => Code::Failed,
            Self::OtherRun { .. } => Code::OtherRun,
            Self::EffectTakenBack { .. } | Self::RecordTakenBack { .. } => Code::TakenBack,
            Self::UnknownEffect { .. } => Code::UnknownEffect,
            Self::EffectOrder { .. } => Code::EffectOrder,
            Self::NameTaken { .. } => Code::NameTaken,
            Self::UnknownCheckpoint { .. } | Self::NoCheckpoint { .. } => Code::NoCheckpoint,
            Self::NoToken => Code::NoToken,
            Self::StaleToken { .. } => Code::StaleToken,
            Self::EffectsLeft { .. } => Code::EffectsLeft,
            Self::WithinAppend { .. } => Code::NotAnEnd,
            Self::ParentGoneOn { .. } => Code::ParentGoneOn,
            Self::NothingToRewind { .. } => Code::Nothing,
            Self::NoSuchRecord { .. } => Code::NoSuchRecord,
            Self::OthersRecord { .. } => Code::OthersRecord,
            Self::Over { .. } => Code::Over,
            Self::SameTable => Code::SameTable,
            Self::NoCounterpart { .. } => Code::NoCounterpart,
        }
    }
}

fn open_effects(open: &[String]) -> String {
    match open {
        [] => "none is open".to_owned(),
        open => format!("open are {}", list(open)),
    }
}

fn effect_order(key: &str, before: Option<EffectStatus>, status: EffectStatus) -> String {
    let name = status.name();
    match before {
        None => format!("`{key}` is `{name}`, but nobody has said before that it was meant to be"),
        Some(EffectStatus::Intended) if status == EffectStatus::Intended => {
            format!("somebody is about to carry `{key}` out already")
        }
        Some(before) if before == status => format!("`{key}` is {name} already"),
        Some(before) => format!("`{key}` is {}, and can't become {name}", before.name()),
    }
}

fn known_checkpoints(known: Option<&[String]>) -> String {
    match known {
        None => String::new(),
        Some([]) => "; there is none".to_owned(),
        Some(known) => format!("; there are {}", list(known)),
    }
}
