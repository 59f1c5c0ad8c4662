//! Durable runs of state machine tables.
//!
//! A *run* is one execution of a compiled workflow. Its [journal](Record) is the only truth: an append-only sequence of
//! records, each with the hash of the one before. Everything else (the active states, the data, what the run waits for, the
//! enabled events) is the [run state](RunState), a pure function of the journal. So no process owns a run, and killing one
//! loses nothing that was acknowledged.
//!
//! ```text
//! operation ─→ Runs::execute ─ load ─→ state of the run ─ decide ─→ records ─ append, if nobody wrote since ─→ Store
//!                          ↑                                                        │
//!                          └──────────────── somebody wrote: again ─────────────────┘
//! ```
//!
//! What to rely on:
//!
//! - Records that [`Store::append`] has acknowledged are in the journal once, whole, and stay as they were written.
//! - A repeated request with its key gets the first answer, however much has happened since.
//! - A run continues under the table that it started with: the table's bytes are stored by their hash.
//!
//! Deliberately not here: compiling (workflows come as tables), carrying out effects (a step names them, with a key that
//! reveals a repetition), and locks (an operation that lost a race is decided again).

pub mod authority;
pub mod body;
pub mod check;
pub mod files;
pub mod maintenance;
pub mod overflow;
pub mod policy;
pub mod runs;
pub mod signing;
pub mod state;
pub mod store;

mod actor;
mod blocker;
mod claims;
mod clock;
mod compare;
mod contract;
mod explain;
mod git;
mod glob;
mod guard;
mod hash;
mod id;
mod internal;
mod legality;
mod legible;
mod loaded;
mod phrase;
mod record;
mod redact;
mod remedy;
mod schema;
mod step;
mod view;
mod workflow;

pub use actor::{Actor, Role};
pub use authority::{Authority, Right, Token};
pub use blocker::{
    ArtifactBlocker, Blocker, ClaimedPath, DataFault, Missing, MissingArtifact, MissingCheck,
    OperationBlocker, Path, PendingRequest, Position, ReportBlocker, RequestBlocker, Surface,
};
pub use body::Body;
pub use claims::{Claims, MAX_CLAIMS};
pub use clock::{Clock, MAX_SKEW, ManualClock, SystemClock};
pub use compare::{Comparison, NameChanges, RowChanges, compare};
pub use contract::{Contract, MAX_DOCUMENT_VALUES, builtin, builtin_type, builtins};
pub use explain::{Explanation, Reason, explain};
pub use git::{
    FileChange, FileChanges, FileFate, GitError, RepositoryView, WORKTREES, find_working_copy,
    find_worktree, project_of_worktree,
};
pub use guard::{Evaluator, Fact, Question, Unmet};
pub use hash::{Hash, ParseHashError};
pub use id::{Key, MAX_NAME, NameError, RunId};
pub use internal::raised_when;
pub use legality::{
    Attempt, Held, Legal, Legality, explain_ambiguous, explain_data, explain_ignored,
    explain_internal, required_for,
};
pub use legible::{are_confusable, describe_oddity};
pub use phrase::shell_word;
pub use record::{NewRecord, Record, chain};
pub use redact::{Redactor, is_secret_name};
pub use remedy::Remedy;
pub use runs::{
    Advance, Advanced, AnswerRequest, BindSession, Binding, CancelRun, Change, Checked,
    ContinueRun, DenyTool, EndSession, FinishRestore, Fired, ForceState, GiveUpRestore,
    HoldSession, InvalidRequest, Loaded, OpenRequest, Operation, Order, Outcome, PauseRun,
    RecordCall, RecordCheck, Registered, ReleaseSession, Reply, Report, ReserveCall,
    ReserveOutcome, RunCheck, RunCheckIn, RunError, Runs, SESSION_LAPSE, SendEvent, SendOutcome,
    StartRun, Stay, Trail, WithdrawRequest, Written, acquire_lease, cache_state, check_artifact,
    check_edit, fire_all_due, fire_due, latest_paused, load_timeline, load_trail, plan_fork,
    plan_migration, plan_rewind, read_artifact, reconcile_children, release_lease, renew_lease,
    replay_run,
};
pub use state::{LiveRecords, RunState, SessionState, Status, WaitingFor, json_size};
pub use step::{CannotStep, Moment, RunHost, StepInput, Stepper};
pub use store::{
    Append, Appended, Cursor, Derived, DueTimer, Expect, Fence, Head, Hint, KeyUse, Lease,
    MAX_BODY, MAX_PAGE, MAX_TIME, Page, PendingTimer, Query, REQUESTS_MARK, RunSummary, Store,
    StoreError, Watermark, for_each_head, list_all,
};
pub use view::{ActiveState, RunView, StepView};
pub use workflow::{Approvers, Lead, Workflow, WorkflowError, Workflows};
