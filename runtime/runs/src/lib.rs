//! Durable runs of state machine tables.
//!
//! A *run* is one execution of a compiled workflow. Its [journal](Record) is the only truth: an append-only sequence of
//! records, each with the hash of the one before. Everything else — what is active, what the data is, what is waited for,
//! what is legal next — is a pure [fold](RunState) over it, so that no process owns a run, and killing one loses nothing
//! that was acknowledged.
//!
//! ```text
//! operation ─→ Runs::execute ─ load ─→ fold of the journal ─ decide ─→ records ─ append, if nobody wrote since ─→ Store
//!                          ↑                                                        │
//!                          └──────────────── somebody wrote: again ─────────────────┘
//! ```
//!
//! What to rely on:
//!
//! - What [`Store::append`] has acknowledged is in the journal once, whole, and stays as it was written.
//! - The same key with the same request is answered as the first time, however much has happened since.
//! - A run goes on under the table that it started with: its bytes are kept by their hash.
//!
//! Deliberately not here: compiling (workflows come as tables), carrying effects out (a step names them, with a key that
//! lets whoever does it notice a repetition), and locks (an order that lost a race is decided again).

pub mod body;
pub mod check;
pub mod expression;
pub mod fold;
pub mod maintenance;
pub mod overflow;
pub mod policy;
pub mod runs;

mod actor;
mod clock;
mod compare;
mod contract;
mod git;
mod glob;
mod guard;
mod hash;
mod id;
mod record;
mod redact;
mod schema;
mod shell;
mod step;
pub mod store;
mod tell;
mod tokens;
mod view;
mod why;
mod workflow;

pub use actor::{Actor, Role};
pub use body::Body;
pub use clock::{Clock, ManualClock, SystemClock};
pub use compare::{Comparison, Fates, RowChanges, compare};
pub use contract::{Contract, builtin, builtins};
pub use fold::{Live, RunState, Status, WaitingFor};
pub use git::{FileChange, FileChanges, FileFate, GitError};
pub use guard::{Fact, Question, Unmet};
pub use hash::{Hash, ParseHashError};
pub use id::{Key, MAX_NAME, NameError, RunId};
pub use record::{NewRecord, Record, chain};
pub use redact::Redactor;
pub use runs::{
    Advance, Advanced, Answer, Ask, Cancel, Change, Checked, Continue, DenyTool, FinishRestore,
    Fired, Force, GiveUpRestore, Held, Legal, Loaded, Operation, Order, Outcome, Pause,
    RecordCheck, Registered, Reply, Report, Reserve, Reserved, Right, RunCheck, RunCheckIn,
    RunError, Runs, Send, Sent, Start, Used, Withdraw, Written, raised_when,
};
pub use shell::shell_word;
pub use step::{CannotStep, Moment, Move, RunHost, Stepper};
pub use store::{
    Append, Appended, Cursor, Due, Expect, Fence, Head, Hint, Lease, MAX_BODY, MAX_PAGE, MAX_TIME,
    Page, PendingTimer, Query, Seen, Store, StoreError, Summary, Watermark,
};
pub use tokens::{TOKEN_PREFIX, Token, TokenError, Tokens};
pub use view::{ActiveState, RunView, StepView};
pub use why::{Call, Reason, Why};
pub use workflow::{Workflow, WorkflowError, Workflows};
