//! Questions to people, and their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Kind;
use super::event::Cause;
use crate::actor::{Actor, Role};
use crate::hash::Hash;
use crate::phrase::with_reason;
use crate::signing::Signature;

/// The kind of answer that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// Leave to take a transition.
    Approval,
    /// Yes or no.
    Confirm,
    /// One of several choices.
    Select,
    /// A text.
    Text,
    /// JSON, by a schema.
    Json,
    /// Approve, or send back with comments.
    Review,
}

/// Somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The request's id, unique in the store.
    pub request: String,
    /// The kind of answer.
    pub kind: RequestKind,
    /// The question.
    pub prompt: String,
    /// The choices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Further data for the person. Of an approval: what the step does to the world, as `effects`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The event that waits for an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Waiting>,
    /// The states that it is about: when none of them is active any more, it is withdrawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The persons who may answer; everybody but the asker if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// True if other events wait for it. They always wait for approvals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocking: bool,
    /// The time at which it expires. Unit: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// True if a decision about it has to be signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// The request that was approved over another context, if it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// A request that asks again, since what was approved is about another context by now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// The id of the request before.
    pub request: String,
    /// Its asker, who asks this one, too: its record is by the one who approved the other.
    pub asker: Actor,
}

/// An event that waits for an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its name.
    pub event: String,
    /// Its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The claims of its sender.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The cause, if nobody sent it by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The transitions that need the approval, by their numbers in the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transitions: Vec<u16>,
    /// The transitions that it would take, microstep by microstep.
    ///
    /// A person decides about all of them. Older journals have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<u16>,
    /// The digest of the context that it was asked over.
    ///
    /// An approval counts while the run's context has it. Older journals have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Hash>,
    /// The artifacts that had been handed in when it was asked: the last final revision by name.
    ///
    /// An approval counts while they are the last ones. None where there were none and the workflow declares none, and in
    /// older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<BTreeMap<String, u64>>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// There is an answer.
    Answered,
    /// A review sent it back with comments.
    SentBack,
    /// Nobody answered in time.
    Expired,
    /// The asker took it back, or what it was about is over.
    Withdrawn,
}

impl Resolution {
    /// Returns its name, in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::SentBack => "sent back",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A request is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    /// The request's id.
    pub request: String,
    /// The way in which it ended.
    pub resolution: Resolution,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// A comment on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// True if the caller passed on a person's answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relayed: bool,
    /// True if it came through a channel that the asker's own client controls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elicited: bool,
    /// The signature of the one who decided, if the run's decisions are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl Kind for Opened {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let again = self.again.as_ref();
        let again = again.map_or_else(String::new, |it| format!(" again, after `{}`", it.request));
        format!("asks `{}`{again}: {}", self.request, self.prompt)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Resolved {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        let channel = match (self.relayed, self.elicited) {
            (true, _) => ", passed on",
            (_, true) => ", through the asker's client",
            _ if self.signature.is_some() => ", signed",
            _ => "",
        };
        let resolution = self.resolution.name();
        with_reason(
            format!("`{}` {resolution}{channel}", self.request),
            self.comment.as_ref(),
        )
    }

    fn is_decision(&self, by: Role) -> bool {
        by == Role::Person || self.relayed || self.elicited
    }
}
