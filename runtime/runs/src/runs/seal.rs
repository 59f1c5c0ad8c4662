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
    /// A record without secrets.
    pub(super) fn sealed(
        &self,
        workflow: &Workflow,
        (time, actor): (u64, &Actor),
        body: &Body,
    ) -> NewRecord {
        let mut record = NewRecord::new(time, actor, body);
        if self.redactor.suspects(record.body.as_bytes()) {
            let redactor = self.redactor.beside(workflow.names());
            // INVARIANT: a body is JSON.
            let value = serde_json::from_str::<Value>(&record.body).unwrap_or_default();
            let clean = redactor.value(&value).to_string();
            // In the order in which its kind is written. What can't be read back isn't appended.
            let read = Body::read(&record.kind, record.v, &clean);
            record.body = read.map_or(clean, |body| body.write());
        }
        record
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
        if !self.redactor.suspects(&text) {
            return Ok(Hash::of(&text));
        }
        let value = serde_json::from_slice::<Value>(&text).unwrap_or_default();
        Ok(Hash::of(self.redactor.value(&value).to_string().as_bytes()))
    }

    /// Whether a name can be kept as it is: another one would name something else.
    pub(super) fn speakable(&self, what: &str, text: &str) -> Result<(), RunError> {
        match self.redactor.finds(text.as_bytes()) {
            None => Ok(()),
            Some(name) => {
                let what = format!("{what} has a secret in it (`{name}`): choose another");
                Err(RunError::Invalid { what })
            }
        }
    }

    /// A request whose texts decide something, without secrets.
    pub(super) fn cleaned<T: Clean>(&self, request: &T) -> T {
        let mut request = request.clone();
        request.clean(&self.redactor);
        request
    }
}

/// Something that is asked for, and whose texts decide something.
pub(super) trait Clean: Clone {
    /// Takes the secrets out.
    fn clean(&mut self, redactor: &Redactor);
}

pub(super) fn clean_text(redactor: &Redactor, text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = redactor.text(text) {
        *text = clean;
    }
}

fn clean_option(redactor: &Redactor, text: &mut Option<String>) {
    if let Some(text) = text {
        clean_text(redactor, text);
    }
}

fn clean_value(redactor: &Redactor, value: &mut Value) {
    *value = redactor.value(value);
}

impl Clean for Start {
    fn clean(&mut self, redactor: &Redactor) {
        clean_value(redactor, &mut self.input);
        for text in [&mut self.project, &mut self.session, &mut self.title] {
            clean_option(redactor, text);
        }
    }
}

impl Clean for Fork {
    fn clean(&mut self, redactor: &Redactor) {
        clean_value(redactor, &mut self.input);
        clean_option(redactor, &mut self.title);
        for state in &mut self.reset {
            clean_text(redactor, state);
        }
    }
}

impl Clean for ReportProgress {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.message);
        clean_option(redactor, &mut self.unit);
    }
}

impl Clean for Force {
    fn clean(&mut self, redactor: &Redactor) {
        for value in self.context.values_mut() {
            clean_value(redactor, value);
        }
        clean_option(redactor, &mut self.reason);
    }
}

impl Clean for Send {
    fn clean(&mut self, redactor: &Redactor) {
        if let Some(data) = &mut self.data {
            clean_value(redactor, data);
        }
    }
}

impl Clean for Advance {
    fn clean(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.unit);
        if let Some(start) = &mut self.start {
            start.clean(redactor);
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

impl Clean for Answer {
    fn clean(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.comment);
        if let Reply::Value(value) = &mut self.reply {
            clean_value(redactor, value);
        }
    }
}

impl Clean for Reserve {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.tool);
        clean_option(redactor, &mut self.call);
        for file in &mut self.files {
            clean_text(redactor, file);
        }
    }
}

impl Clean for Used {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.tool);
        clean_option(redactor, &mut self.call);
        for file in &mut self.files {
            clean_text(redactor, file);
        }
    }
}

impl Clean for Checkpoint {
    fn clean(&mut self, redactor: &Redactor) {
        clean_option(redactor, &mut self.name);
        clean_option(redactor, &mut self.reason);
    }
}

impl Clean for Restore {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
    }
}

impl Clean for PutArtifact {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
        if let std::borrow::Cow::Owned(clean) = redactor.bytes(&self.content) {
            self.content = clean;
        }
    }
}

impl Clean for EditArtifact {
    fn clean(&mut self, redactor: &Redactor) {
        clean_text(redactor, &mut self.name);
        for Edit { old, new } in &mut self.edits {
            clean_text(redactor, old);
            clean_text(redactor, new);
        }
    }
}
