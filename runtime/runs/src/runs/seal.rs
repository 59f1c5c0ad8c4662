//! The door to the store: what goes through it has no secrets.
//!
//! A request is cleaned before it is thought about, where a machine or a name depends on its texts, so that guards see what
//! the journal will say. Whatever else is written is cleaned as it becomes a record, before it is hashed.
//!
//! Words of the workflow's table — names of states, events, fields — are never redacted: they are known to everybody.

use serde::Serialize;
use serde_json::Value;

use super::{
    Advance, Answer, Checkpoint, Edit, EditArtifact, Force, Fork, Order, PutArtifact, Registered,
    Reply, Report, ReportProgress, Reserve, Restore, RunError, Runs, Send, Start, Used,
};
use crate::actor::Actor;
use crate::body::Body;
use crate::hash::Hash;
use crate::record::NewRecord;
use crate::redact::Redactor;
use crate::workflow::Workflow;

impl Runs {
    /// Makes a record without secrets, and its body as it was written.
    pub(super) fn sealed(
        &self,
        workflow: &Workflow,
        (time, actor): (u64, &Actor),
        body: &Body,
    ) -> (NewRecord, Body) {
        let mut record = NewRecord::new(time, actor, body);
        let mut written = None;
        if self.redactor.may_hold_secret(record.body.as_bytes()) {
            let redactor = self.redactor.without_words(workflow.names());
            // INVARIANT: a body is JSON.
            let value = serde_json::from_str::<Value>(&record.body).unwrap_or_default();
            let clean = redactor.redact_value(&value).to_string();
            // In the order in which its kind is written. What can't be read back isn't appended.
            let read = Body::from_json(&record.kind, record.v, &clean);
            record.body = read.as_ref().map_or(clean, Body::to_json);
            written = read.ok();
        }
        (record, written.unwrap_or_else(|| body.clone()))
    }

    /// What tells a request from others under its key. Secrets aren't part of it: from a hash a short one can be guessed.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the run's id, the key, or who asks has a secret in it: who is told from whom by these.
    pub(super) fn digest(&self, order: &Order, request: &impl Serialize) -> Result<Hash, RunError> {
        self.speakable("the run's id", order.run.as_str())?;
        let Actor { name, session, .. } = &order.actor;
        let names = [
            ("the caller's name", name),
            ("the caller's session", session),
        ];
        for (what, name) in names {
            self.speakable(what, name.as_deref().unwrap_or_default())?;
        }
        if let Some(key) = &order.key {
            self.speakable("the key", key.as_str())?;
        }
        // INVARIANT: requests are plain data.
        let text = serde_json::to_vec(request).unwrap_or_default();
        if !self.redactor.may_hold_secret(&text) {
            return Ok(Hash::digest(&text));
        }
        let value = serde_json::from_slice::<Value>(&text).unwrap_or_default();
        Ok(Hash::digest(
            self.redactor.redact_value(&value).to_string().as_bytes(),
        ))
    }

    /// Whether a name can be kept as it is: another one would name something else.
    pub(super) fn speakable(&self, what: &str, text: &str) -> Result<(), RunError> {
        match self.redactor.find(text.as_bytes()) {
            None => Ok(()),
            Some(name) => {
                let what = format!("{what} has a secret in it (`{name}`): choose another");
                Err(RunError::Invalid { what })
            }
        }
    }

    /// A request whose texts decide something, without secrets.
    pub(super) fn redacted<T: Redact>(&self, request: &T) -> T {
        let mut request = request.clone();
        request.redact(&self.redactor);
        request
    }
}

/// Something that is asked for, and whose texts decide something.
pub trait Redact: Clone {
    /// Takes the secrets out.
    fn redact(&mut self, redactor: &Redactor) {
        let _ = redactor;
    }
}

pub(super) fn clean_text(redactor: &Redactor, text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = redactor.redact_str(text) {
        *text = clean;
    }
}

fn clean_option(redactor: &Redactor, text: &mut Option<String>) {
    if let Some(text) = text {
        clean_text(redactor, text);
    }
}

fn clean_value(redactor: &Redactor, value: &mut Value) {
    *value = redactor.redact_value(value);
}

impl Redact for Start {
    fn redact(&mut self, redactor: &Redactor) {
        clean_value(redactor, &mut self.input);
        for text in [&mut self.project, &mut self.session, &mut self.title] {
            clean_option(redactor, text);
        }
    }
}

impl Redact for Fork {
    fn redact(&mut self, redactor: &Redactor) {
        clean_value(redactor, &mut self.input);
        clean_option(redactor, &mut self.title);
        for state in &mut self.reset {
            clean_text(redactor, state);
        }
    }
}

impl Redact for ReportProgress {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.message);
        clean_option(redactor, &mut self.unit);
    }
}

impl Redact for Force {
    fn redact(&mut self, redactor: &Redactor) {
        for value in self.context.values_mut() {
            clean_value(redactor, value);
        }
        clean_option(redactor, &mut self.reason);
    }
}

impl Redact for Send {
    fn redact(&mut self, redactor: &Redactor) {
        if let Some(data) = &mut self.data {
            clean_value(redactor, data);
        }
    }
}

impl Redact for Advance {
    fn redact(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.unit);
        if let Some(start) = &mut self.start {
            start.redact(redactor);
        }
        match &mut self.report {
            Report::Status { message, data, .. } => {
                clean_option(redactor, message);
                clean_value(redactor, data);
            }
            Report::Waiting { prompt, data } => {
                clean_text(redactor, prompt);
                clean_value(redactor, data);
            }
            Report::Artifact(Registered { path, .. }) => clean_text(redactor, path),
            // Nothing is decided by these.
            Report::Annotation(_) | Report::Note(_) | Report::Subflow(_) => {}
        }
    }
}

impl Redact for Answer {
    fn redact(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.comment);
        if let Reply::Value(value) = &mut self.reply {
            clean_value(redactor, value);
        }
    }
}

impl Redact for Reserve {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.tool);
        clean_option(redactor, &mut self.call);
        for file in &mut self.files {
            clean_text(redactor, file);
        }
    }
}

impl Redact for Used {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.tool);
        clean_option(redactor, &mut self.call);
        for file in &mut self.files {
            clean_text(redactor, file);
        }
    }
}

impl Redact for Checkpoint {
    fn redact(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.name);
        clean_option(redactor, &mut self.reason);
    }
}

impl Redact for Restore {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
    }
}

impl Redact for PutArtifact {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
        if let std::borrow::Cow::Owned(clean) = redactor.redact_bytes(&self.content) {
            self.content = clean;
        }
    }
}

impl Redact for EditArtifact {
    fn redact(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
        for Edit { old, new } in &mut self.edits {
            clean_text(redactor, old);
            clean_text(redactor, new);
        }
    }
}
