//! Fields of requests that are redacted: a request that isn't in the list is no operation.

use std::borrow::Cow;

use super::Redact;
use crate::redact::Redactor;
use crate::runs::{
    Advance, Answer, Ask, Cancel, Checkpoint, Continue, DenyTool, DiscardArtifact, Edit,
    EditArtifact, FinalizeArtifact, Force, Fork, GiveUpRestore, Migrate, Pause, PutArtifact,
    RecordCheck, Registered, Reply, Report, ReportEffect, ReportProgress, Reserve, Restore,
    RunCheck, Send, Start, Used, Withdraw,
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
    Advance { unit, start, report }
    Answer { comment, reply }
    Ask {}
    Cancel {}
    Checkpoint { name, reason }
    Continue {}
    DenyTool {}
    DiscardArtifact {}
    Edit { old, new }
    EditArtifact { name, edits }
    FinalizeArtifact {}
    Force { context, reason }
    Fork { input, title, reset }
    GiveUpRestore {}
    Migrate {}
    Pause {}
    RecordCheck { what }
    Registered { path }
    ReportEffect {}
    ReportProgress { message, unit }
    Reserve { tool, call, files }
    Restore { name }
    RunCheck { arguments }
    Send { data }
    Start { input, project, session, title }
    Used { tool, call, files }
    Withdraw {}
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

impl Redact for Reply {
    fn redact(&mut self, redactor: &Redactor) {
        if let Self::Value(value) = self {
            value.redact(redactor);
        }
    }
}
