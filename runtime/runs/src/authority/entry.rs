//! Entries of the store's journal: what its records say.
//!
//! They are records like those of runs, with a chain of hashes, but of kinds of their own: no run has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::signer::{SignerAdded, SignerRevoked};
use crate::actor::Role;
use crate::hash::Hash;
use crate::id::RunId;

/// The way in which a token came to be without a person's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Founding {
    /// Somebody typed the store's name at a terminal.
    Terminal,
    /// `statemark store init` wrote it into a store without runs.
    Init,
    /// A takeover, at a terminal, of a list from before tokens were in stores.
    Adopted,
    /// A server made it for the clients of its session file.
    Session,
}

impl Founding {
    /// Returns its name, in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "somebody at a terminal",
            Self::Init => "`store init`",
            Self::Adopted => "a list from before",
            Self::Session => "a server, for its session file",
        }
    }
}

/// The store got its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreNamed {
    /// A random id, which no other store has.
    pub store: String,
    /// True if the store was made for testing: its clock can be set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub testing: bool,
    /// A random text that nothing but the store has in it; empty in one for testing.
    ///
    /// The id stands in anchors and signatures, which others read: who knows it alone can't make a store of that id pass
    /// for this one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub secret: String,
}

impl StoreNamed {
    /// Makes the entry of a store that has none.
    pub(super) fn new(testing: bool) -> Self {
        Self {
            store: random_id(),
            testing,
            secret: if testing { String::new() } else { random_id() },
        }
    }

    /// Returns a name of the store that nobody can tell who hasn't read it.
    pub(super) fn ownership(&self) -> Hash {
        Hash::digest(format!("{}:{}", self.store, self.secret).as_bytes())
    }
}

/// Returns a random text of 32 hexadecimal digits.
fn random_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Runs were pruned. What is left of them is this entry, their tombstone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunsPruned {
    /// The runs, each with its end.
    pub runs: Vec<RunEnd>,
}

/// The end of a run's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The run.
    pub run: RunId,
    /// The last record.
    pub seq: u64,
    /// The last record's hash.
    pub hash: Hash,
}

/// Somebody has taken the store as it is, although its mark says that records are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossAccepted {
    /// The loss in words.
    pub lost: String,
}

/// A token was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCreated {
    /// The name of its holder.
    pub name: String,
    /// The holder's role.
    pub role: Role,
    /// The only run that it is valid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// True if its holder drives many runs, and is judged by the one that each call means.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many_runs: bool,
    /// The time from which it isn't valid any more. Unit: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The way in which it came to be, if no person's token made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founding: Option<Founding>,
    /// The SHA-256 checksum of the token.
    pub hash: Hash,
}

/// A token was used for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsed {
    /// The name of its holder.
    pub name: String,
    /// The SHA-256 checksum of the token.
    pub hash: Hash,
}

/// A token was revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// The name of its holder.
    pub name: String,
    /// The SHA-256 checksum of the token.
    pub hash: Hash,
}

/// A person accepted a workflow as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowAccepted {
    /// Its id.
    pub workflow: String,
    /// The hash of its behavior.
    pub behavior: Hash,
    /// The hash of its policy.
    pub policy: Hash,
    /// The hash of its table.
    pub table: Hash,
}

/// A person accepted a server of tools as it is declared, and definitions of its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamAccepted {
    /// The name of the server.
    pub server: String,
    /// The hash of its declaration.
    pub declaration: Hash,
    /// The tools whose definitions were accepted, each with the hash of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Hash>,
}

/// A person let every workflow count as accepted, until the next acceptance of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllAccepted {}

macro_rules! entries {
    ($($(#[$docs:meta])* $variant:ident($type:ty) = $kind:literal $version:literal;)*) => {
        /// An entry of the store's journal.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Entry {
            $($(#[$docs])* $variant($type),)*
            /// A kind that this version doesn't know.
            Unknown {
                /// Its name.
                kind: String,
            },
        }

        impl Entry {
            /// Returns its kind, as the journal names it.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Unknown { kind } => kind,
                }
            }

            /// Returns the version that it is written in.
            #[must_use]
            pub const fn version(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => $version,)*
                    Self::Unknown { .. } => 0,
                }
            }

            /// Returns it as JSON.
            #[must_use]
            pub fn to_json(&self) -> String {
                let text = match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)*
                    Self::Unknown { .. } => return "{}".to_owned(),
                };
                // INVARIANT: entries have no maps with other keys than texts.
                text.unwrap_or_default()
            }

            /// Reads an entry that this version wrote. A newer version of a kind is unknown.
            ///
            /// # Errors
            ///
            /// The text isn't what its kind and version say.
            pub fn from_json(kind: &str, v: u16, text: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind if v == $version => Ok(Self::$variant(serde_json::from_str(text)?)),)*
                    _ => {
                        serde_json::from_str::<Value>(text)?;
                        Ok(Self::Unknown { kind: kind.to_owned() })
                    }
                }
            }
        }
    };
}

entries! {
    /// The store got its id.
    StoreNamed(StoreNamed) = "store.named" 1;
    /// Runs were pruned.
    RunsPruned(RunsPruned) = "runs.pruned" 1;
    /// Somebody has taken the store as it is, although records are missing.
    LossAccepted(LossAccepted) = "loss.accepted" 1;
    /// A token was created.
    TokenCreated(TokenCreated) = "token.created" 1;
    /// A token was used for the first time.
    TokenUsed(TokenUsed) = "token.used" 1;
    /// A token was revoked.
    TokenRevoked(TokenRevoked) = "token.revoked" 1;
    /// A person accepted a workflow as it is.
    WorkflowAccepted(WorkflowAccepted) = "workflow.accepted" 1;
    /// A person let every workflow count as accepted.
    AllAccepted(AllAccepted) = "workflow.all_accepted" 1;
    /// A person accepted a server of tools as it is declared.
    UpstreamAccepted(UpstreamAccepted) = "upstream.accepted" 1;
    /// A key became a person's.
    SignerAdded(SignerAdded) = "signer.added" 1;
    /// A key was revoked.
    SignerRevoked(SignerRevoked) = "signer.revoked" 1;
}
