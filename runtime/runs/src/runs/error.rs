//! Errors of operations and reads. What a run refuses is no error: its journal has it.

use serde_json::Value;
use statemark_runtime::MAX_CLAIM_BYTES;

use crate::actor::Actor;
use crate::authority::{Right, TokenError};
use crate::blocker::{Blocker, Code};
use crate::claims::MAX_CLAIMS;
use crate::git::GitError;
use crate::id::{MAX_NAME, NameError, RunId};
use crate::phrase::{list, shell_word};
use crate::step::CannotStep;
use crate::store::StoreError;
use crate::workflow::{WorkflowError, Workflows};

/// The reasons that nothing could be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No spec has such a workflow.
    #[error("{}", unknown_workflow(id, known))]
    UnknownWorkflow {
        /// Its id.
        id: String,
        /// The workflows that specs have.
        known: Vec<String>,
    },
    /// Several specs have such a workflow, and not the same.
    #[error(
        "`{id}` is defined in several files, and not alike: {}; look at one of them alone (`--specs FILE`), or give the others ids of their own",
        list(specs)
    )]
    AmbiguousWorkflow {
        /// Its id.
        id: String,
        /// The specs.
        specs: Vec<String>,
    },
    /// The table of a run can't be used.
    #[error("the run's table can't be used: {0}")]
    Table(WorkflowError),
    /// The machine couldn't step.
    #[error(transparent)]
    Step(#[from] CannotStep),
    /// Git couldn't save files or restore them.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The request itself makes no sense.
    #[error(transparent)]
    Invalid(#[from] InvalidRequest),
    /// The caller only reads.
    #[error("{actor} only reads: this needs the token of an agent or of a person")]
    ReadOnly {
        /// The caller.
        actor: Actor,
    },
    /// Only a person has the right.
    #[error("{actor} isn't a person: only one may {}", right.allows())]
    NotAPerson {
        /// The caller.
        actor: Actor,
        /// The right that it lacks.
        right: Right,
    },
    /// A spec would be written that only a person may write.
    #[error("nothing was written: {why}")]
    PersonWrites {
        /// The reason.
        why: String,
    },
    /// Nobody has accepted the workflow as it is.
    #[error("{deed}: {}", not_accepted(workflow, *was_accepted))]
    Unreviewed {
        /// The deed that needs it, with its failure: `` `pay` can't be started here ``.
        deed: String,
        /// The workflow.
        workflow: String,
        /// True if it was accepted as it was before.
        was_accepted: bool,
    },
    /// A run would be forked over what persons have decided about it.
    #[error("a person has to fork `{run}` here: {}", list(decisions))]
    PersonForks {
        /// The run.
        run: RunId,
        /// Their decisions.
        decisions: Vec<String>,
    },
    /// A run would be forked over decisions that are signed for another one.
    #[error(
        "`{run}` can't be forked here, since the signatures in it are for that run alone ({}): fork before them, and the fork asks again",
        list(decisions)
    )]
    SignedForks {
        /// The run.
        run: RunId,
        /// Its decisions.
        decisions: Vec<String>,
    },
    /// A token can't be made or revoked.
    #[error(transparent)]
    Token(Box<TokenError>),
    /// Others wrote too often to be preceded.
    #[error("others wrote to this run {tries} times while this was being decided; try again")]
    Contention {
        /// The number of tries.
        tries: u32,
    },
}

impl RunError {
    /// Makes the error of a workflow that these don't have.
    #[must_use]
    pub fn no_workflow(workflows: &dyn Workflows, id: &str) -> Self {
        let (id, specs) = (id.to_owned(), workflows.rivals(id));
        if specs.is_empty() {
            let known = workflows.ids();
            Self::UnknownWorkflow { id, known }
        } else {
            Self::AmbiguousWorkflow { id, specs }
        }
    }

    /// Returns the code for programs, such as `unknown_run`: the same at each front end.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::UnknownWorkflow { .. } | Self::AmbiguousWorkflow { .. } => "unknown_workflow",
            Self::Unreviewed { .. } => "unreviewed",
            Self::ReadOnly { .. } => "read_only",
            Self::NotAPerson { .. }
            | Self::PersonWrites { .. }
            | Self::PersonForks { .. }
            | Self::Invalid(InvalidRequest::NoInput { .. }) => Code::NotAPerson.name(),
            Self::SignedForks { .. } => Code::SignedRun.name(),
            Self::Invalid(_) | Self::Token(_) => "invalid_request",
            Self::Contention { .. } => "busy",
            Self::Step(CannotStep::Data(_)) => Code::BadData.name(),
            Self::Step(_) => "step_failed",
            Self::Table(_) => "bad_table",
            Self::Git(_) => "git_failed",
        }
    }
}

/// The reasons that a request makes no sense.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRequest {
    /// A name that tells callers, runs or requests apart has a secret in it.
    #[error("{what} has a secret in it (`{secret}`): choose another")]
    SecretInName {
        /// The kind of name.
        what: String,
        /// The secret's name.
        secret: String,
    },
    /// An id or a key can't be one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A plan or a read is of something that a run would refuse.
    #[error("{}", .0.message())]
    Blocked(Box<Blocker>),
    /// The records of a key are those of another kind of request.
    #[error("the records of this key have no {expected}")]
    OtherRecords {
        /// The kind of record that they lack.
        expected: &'static str,
    },
    /// A record of this request couldn't be read again.
    #[error("a record of `{kind}` can't be read back: {cause}")]
    UnreadableRecord {
        /// Its kind.
        kind: String,
        /// The failure.
        cause: String,
    },
    /// A run of the id was pruned.
    #[error(
        "a run `{run}` was pruned, and its id isn't given to another: choose another id, or import the run that it was"
    )]
    Pruned {
        /// The run.
        run: RunId,
    },
    /// The input of a run isn't an object.
    #[error("the input of a run is an object, not `{found}`")]
    InputNotObject {
        /// The input.
        found: Value,
    },
    /// An input sets a field that its caller may not set.
    #[error("{}", no_input(field, workflow, listed.as_deref(), *at_start))]
    NoInput {
        /// The field.
        field: String,
        /// The workflow.
        workflow: String,
        /// The fields that the definition lists as inputs, if it has a list.
        listed: Option<Vec<String>>,
        /// True at the start of a run, false for a fork.
        at_start: bool,
    },
    /// Nobody could decide about a run of a workflow whose decisions are signed.
    #[error(
        "decisions about runs of `{workflow}` are signed by {}, and the store has no key of theirs: a person adds one first (`statemark signer add NAME KEYFILE`)",
        approver_names(names)
    )]
    NoSigner {
        /// The workflow.
        workflow: String,
        /// The persons who may decide; any person if it is empty.
        names: Vec<String>,
    },
    /// The context can't take an input.
    #[error("`{workflow}` can't start with this input: {cause}")]
    Input {
        /// The workflow.
        workflow: String,
        /// The defect.
        cause: String,
    },
    /// The context with an input doesn't match the spec's schema.
    #[error(
        "`{workflow}` can't start with this input: the context doesn't match `context_schema`: {cause}"
    )]
    ContextSchema {
        /// The workflow.
        workflow: String,
        /// The defect.
        cause: String,
    },
    /// The context of a forked run can't take an input.
    #[error("the fork can't continue with this input: {cause}")]
    ForkInput {
        /// The defect.
        cause: String,
    },
    /// A fork would begin at a record that was taken back.
    #[error("record {at} of `{run}` was taken back; fork at one that counts: {counting}")]
    ForkTakenBack {
        /// The record.
        at: u64,
        /// The run.
        run: RunId,
        /// The records that count.
        counting: String,
    },
    /// A fork would begin within an append.
    #[error("{message}")]
    ForkWithinAppend {
        /// The records of the append, and where to fork instead.
        message: String,
    },
    /// The files of the run to fork are being restored.
    #[error(
        "files of run `{run}` are being restored to checkpoint `{checkpoint}`; finish that or give it up first"
    )]
    ForkRestoring {
        /// The run.
        run: RunId,
        /// The checkpoint.
        checkpoint: String,
    },
    /// No checkpoint has the files of a fork.
    #[error(
        "no checkpoint of `{run}` was taken up to record {at}: fork without its files, or at a later one"
    )]
    ForkWithoutCheckpoint {
        /// The run.
        run: RunId,
        /// The record.
        at: u64,
    },
    /// A state to be reset wasn't entered.
    #[error(
        "`{state}` wasn't entered up to record {at}; those that were are {}",
        list(entered)
    )]
    NotEntered {
        /// The state.
        state: String,
        /// The record.
        at: u64,
        /// The states that were entered.
        entered: Vec<String>,
    },
    /// The workflow has no such state.
    #[error("there is no state `{state}`; there are {}", list(known))]
    UnknownState {
        /// The state.
        state: String,
        /// The workflow's states.
        known: Vec<String>,
    },
    /// A run has no such checkpoint.
    #[error("there is no checkpoint `{name}`")]
    UnknownCheckpoint {
        /// Its name.
        name: String,
    },
    /// The commit of a checkpoint isn't the recorded one.
    #[error("the commit of checkpoint `{name}` has another tree than was recorded")]
    OtherTree {
        /// The checkpoint.
        name: String,
    },
    /// No restore is under way.
    #[error("no files are being restored")]
    NotRestoring,
    /// The path of a repository isn't Unicode.
    #[error("the repository's folder has a name that isn't Unicode")]
    FolderNotUnicode,
    /// A check can't be run.
    #[error("the check `{name}` can't be run as it is declared: {cause}")]
    Check {
        /// The check.
        name: String,
        /// The defect of its declaration.
        cause: String,
    },
    /// The name of a check can't be one.
    #[error(
        "a check's name has 1 to {MAX_NAME} characters and no control characters; this has {characters}"
    )]
    CheckName {
        /// The number of its characters.
        characters: usize,
    },
    /// The contract of an artifact can't be used.
    #[error("the contract of `{artifact}` in the definition can't be used: {cause}")]
    Contract {
        /// The artifact.
        artifact: String,
        /// The defect.
        cause: String,
    },
    /// An artifact is a file elsewhere.
    #[error("`{artifact}` is the file `{path}`: its content isn't in the store")]
    NoContent {
        /// The artifact.
        artifact: String,
        /// The file.
        path: String,
    },
    /// A step or unit has no name.
    #[error("a step or unit without a name: leave it out instead")]
    EmptyName,
    /// An agent's report would close its parent.
    #[error("an agent's report can't close the run that it works for")]
    AgentCloses,
    /// Agents are nested too deep.
    #[error("agents of agents go no deeper than {max} levels")]
    AgentsTooDeep {
        /// The most levels.
        max: usize,
    },
    /// A run doesn't belong to an agent of another.
    #[error("the run `{run}` isn't one of an agent under `{parent}`")]
    NotAnAgents {
        /// The run.
        run: RunId,
        /// The other.
        parent: RunId,
    },
    /// An event comes with too many claims.
    #[error("{count} claims: an event comes with at most {MAX_CLAIMS}")]
    TooManyClaims {
        /// The number of claims.
        count: usize,
    },
    /// A claim is empty, or longer than any that a spec has.
    #[error(
        "a claim of {bytes} bytes: it has 1 to {MAX_CLAIM_BYTES}, the words between the brackets"
    )]
    ClaimLength {
        /// Its length. Unit: bytes.
        bytes: usize,
    },
    /// A report on progress says nothing.
    #[error("progress needs a `message`: say how far it is")]
    NoProgressMessage,
    /// A fraction isn't one.
    #[error("`fraction` is how much is done, from 0 to 1")]
    FractionOutOfRange,
    /// An attempt is started by somebody who doesn't hold the run's lease.
    #[error("an attempt is made under the run's lease, and the order has no fence")]
    NoLease,
    /// An attempt is started in a state that isn't active.
    #[error("`{state}` isn't active: nobody can work in it")]
    NotActive {
        /// The state.
        state: String,
    },
    /// A lease ended before it was renewed.
    #[error(
        "the lease of `{run}` was over before it was renewed: get a new one and read the run again"
    )]
    LeaseOver {
        /// The run.
        run: RunId,
    },
}

impl From<Blocker> for InvalidRequest {
    fn from(blocker: Blocker) -> Self {
        Self::Blocked(Box::new(blocker))
    }
}

impl From<Blocker> for RunError {
    fn from(blocker: Blocker) -> Self {
        Self::Invalid(blocker.into())
    }
}

impl From<NameError> for RunError {
    fn from(error: NameError) -> Self {
        Self::Invalid(error.into())
    }
}

fn not_accepted(workflow: &str, was_accepted: bool) -> String {
    let what = if was_accepted {
        "the workflow has changed since a person accepted it"
    } else {
        "nobody has accepted the workflow"
    };
    format!(
        "{what}; a person reads and accepts it by `statemark accept {}`",
        shell_word(workflow)
    )
}

fn approver_names(names: &[String]) -> String {
    match names {
        [] => "a person".to_owned(),
        names => list(names),
    }
}

fn unknown_workflow(id: &str, known: &[String]) -> String {
    match known {
        [] => format!("there is no workflow `{id}`; no spec was found"),
        known => format!("there is no workflow `{id}`; there are {}", list(known)),
    }
}

/// Says why an input may not set a field, and how it could.
fn no_input(field: &str, workflow: &str, listed: Option<&[String]>, at_start: bool) -> String {
    let why = match listed {
        Some([]) => "takes no inputs from agents".to_owned(),
        Some(listed) => format!("lists other `inputs`: {}", list(listed)),
        None if at_start => "lists no `inputs`, and a guard reads it".to_owned(),
        None => "lists no `inputs`, and an agent's fork sets no others".to_owned(),
    };
    format!(
        "only a person sets `{field}` of `{workflow}` by an input: the definition {why}; `\"inputs\": [\"{field}\"]` there would allow it"
    )
}
