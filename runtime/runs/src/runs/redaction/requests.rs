//! Fields of requests that are redacted: a request that isn't in the list is no operation.

use std::borrow::Cow;

use super::Redact;
use crate::claims::Claims;
use crate::redact::Redactor;
use crate::runs::{
    Advance, AnswerRequest, BindSession, CancelRun, ContinueRun, DenyTool, DiscardArtifact, Edit,
    EditArtifact, EndAttempt, EndSession, FinalizeArtifact, ForceState, ForkRun, GiveUpRestore,
    HoldSession, MigrateRun, OpenRequest, PauseRun, PutArtifact, ReachLimit, RecordCall,
    RecordCheck, RecordTurn, RecordWorktree, Registered, ReleaseSession, Reply, Report,
    ReportEffect, ReportProgress, ReserveCall, RestoreFiles, RunCheck, SendEvent, StartAttempt,
    StartRun, TakeCheckpoint, WithdrawRequest,
};

/// Lists the requests, and the fields of each that decide something.
macro_rules! redact_fields {
    ($($request:ty { $($field:ident),* })*) => {
        $(impl Redact for $request {
            fn redact(&mut self, redactor: &Redactor) {
                let _ = redactor;
                $(self.$field.redact(redactor);)*
            }
        })*
    };
}

redact_fields! {
    Advance { unit, start, report, claims }
    AnswerRequest { comment, reply }
    OpenRequest {}
    BindSession {}
    CancelRun {}
    TakeCheckpoint { name, reason }
    ContinueRun {}
    DenyTool {}
    DiscardArtifact {}
    EndSession {}
    Edit { old, new }
    EditArtifact { name, edits }
    EndAttempt { reason }
    FinalizeArtifact {}
    ForceState { context, reason }
    ForkRun { input, title, reset }
    GiveUpRestore {}
    HoldSession {}
    MigrateRun {}
    PauseRun {}
    ReachLimit { reason }
    RecordCheck { what }
    RecordTurn {}
    RecordWorktree {}
    Registered { path }
    ReleaseSession {}
    ReportEffect {}
    ReportProgress { message, unit }
    ReserveCall { tool, call, files, ungranted }
    RestoreFiles { name }
    RunCheck { arguments }
    SendEvent { data, claims }
    StartAttempt { task }
    StartRun { input, project, session, title }
    RecordCall { tool, call, files }
    WithdrawRequest {}
}

impl Redact for PutArtifact {
    fn redact(&mut self, redactor: &Redactor) {
        self.name.redact(redactor);
        if let Cow::Owned(clean) = redactor.redact_bytes(&self.content) {
            self.content = clean;
        }
    }
}

impl Redact for Report {
    fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::Status { message, data, .. } => {
                message.redact(redactor);
                data.redact(redactor);
            }
            Self::Waiting { prompt, data } => {
                prompt.redact(redactor);
                data.redact(redactor);
            }
            Self::Artifact(registered) => registered.redact(redactor),
            // These decide nothing.
            Self::Annotation(_) | Self::Note(_) | Self::Subflow(_) => {}
        }
    }
}

impl Redact for Claims {
    fn redact(&mut self, redactor: &Redactor) {
        self.0.redact(redactor);
    }
}

impl Redact for Reply {
    fn redact(&mut self, redactor: &Redactor) {
        if let Self::Value(value) = self {
            value.redact(redactor);
        }
    }
}
