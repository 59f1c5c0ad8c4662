//! Redaction of requests and records: no secret reaches the store.
//!
//! A request is redacted before it is decided, where a machine or a name depends on its texts, so that guards see the text
//! that the journal will have. A record's body is redacted before it is hashed, by a walk over its JSON. Requests have no
//! such walk: an artifact's content and what a report starts don't come back from JSON. `redaction/requests.rs` lists their fields.
//!
//! Words of the workflow's table — names of states, events, fields — are never redacted: they are known to everybody.

mod requests;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{InvalidRequest, Order, RunError, Runs};
use crate::actor::Actor;
use crate::body::Body;
use crate::hash::Hash;
use crate::record::NewRecord;
use crate::redact::Redactor;
use crate::workflow::Workflow;

impl Runs {
    /// Makes a record without secrets, and its body as it was written.
    pub(super) fn redact_record(
        &self,
        workflow: &Workflow,
        (time, actor): (u64, &Actor),
        mut body: Body,
    ) -> (NewRecord, Body) {
        let mut record = NewRecord::new(time, actor, &body);
        if self.redactor.may_hold_secret(record.body.as_bytes()) {
            let redactor = self.redactor.without_words(workflow.names());
            // INVARIANT: a body is JSON.
            let value = serde_json::from_str::<Value>(&record.body).unwrap_or_default();
            let clean = redactor.redact_value(&value).to_string();
            // In the order in which its kind is written. What can't be read back isn't appended.
            let read = Body::from_json(&record.kind, record.v, &clean);
            record.body = read.as_ref().map_or(clean, Body::to_json);
            body = read.unwrap_or(body);
        }
        (record, body)
    }

    /// Returns the digest that tells a request from others under its key.
    ///
    /// Secrets aren't part of it: from a hash a short one can be guessed.
    ///
    /// # Errors
    ///
    /// [`InvalidRequest::SecretInName`] if the run's id, the key, or the caller has a secret in it: these tell callers apart.
    pub(super) fn digest(&self, order: &Order, request: &impl Serialize) -> Result<Hash, RunError> {
        self.check_name("the run's id", order.run.as_str())?;
        let Actor { name, session, .. } = &order.actor;
        let names = [
            ("the caller's name", name),
            ("the caller's session", session),
        ];
        for (what, name) in names {
            self.check_name(what, name.as_deref().unwrap_or_default())?;
        }
        if let Some(key) = &order.key {
            self.check_name("the key", key.as_str())?;
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

    /// Checks that a name has no secret in it: a redacted name would name something else.
    pub(super) fn check_name(&self, what: &str, text: &str) -> Result<(), RunError> {
        match self.redactor.find(text.as_bytes()) {
            None => Ok(()),
            Some(secret) => {
                let what = what.to_owned();
                Err(InvalidRequest::SecretInName { what, secret }.into())
            }
        }
    }

    /// Returns a request without the secrets that decide something.
    pub(super) fn redact_request<T: Redact>(&self, request: &T) -> T {
        let mut request = request.clone();
        request.redact(&self.redactor);
        request
    }
}

/// A request whose texts decide something.
pub trait Redact: Clone {
    /// Takes the secrets out.
    fn redact(&mut self, redactor: &Redactor);
}

impl Redact for String {
    fn redact(&mut self, redactor: &Redactor) {
        if let Cow::Owned(clean) = redactor.redact_str(self) {
            *self = clean;
        }
    }
}

impl Redact for Value {
    fn redact(&mut self, redactor: &Redactor) {
        *self = redactor.redact_value(self);
    }
}

impl Redact for Map<String, Value> {
    fn redact(&mut self, redactor: &Redactor) {
        for value in self.values_mut() {
            value.redact(redactor);
        }
    }
}

impl<T: Redact> Redact for Option<T> {
    fn redact(&mut self, redactor: &Redactor) {
        if let Some(value) = self {
            value.redact(redactor);
        }
    }
}

impl<T: Redact> Redact for Vec<T> {
    fn redact(&mut self, redactor: &Redactor) {
        for value in self {
            value.redact(redactor);
        }
    }
}
