//! Authority: who may do what to a store and its runs.
//!
//! A [`Right`] is what can be asked for, and a [`Role`] grants rights. A caller shows its role by a [`Token`].
//! Tokens live in the store that they give rights to: making one, its first use and revoking it are entries of the
//! *store's journal*, a reserved run ([`RunId::store_journal`](crate::RunId::store_journal)) that no client can name. So
//! the folder in which a program runs, its configuration, and the files of a repository change nothing about who it is.
//!
//! [`Authority`] is that journal, replayed. [`Runs::execute`](crate::Runs::execute) is the one door for operations on
//! stores as it is for operations on runs, and checks the right of each.
//!
//! What to rely on:
//!
//! - The first token of a store is a person's. It can be made only where a person shows to be one ([`Founding`]).
//! - A token's text is in no journal, only its SHA-256 checksum. A name has one valid token at a time.
//! - A token that was revoked or has expired gives no right, and the records that it wrote stay its holder's.

mod acceptance;
mod entry;
mod journal;
mod operations;
mod proof;
mod right;
mod signer;
mod spec;
mod upstream;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::actor::{Actor, Role};
use crate::hash::Hash;
use crate::id::RunId;

pub use acceptance::{AcceptWorkflows, Acceptance};
use entry::AllAccepted;
pub use entry::{
    Entry, Founding, LossAccepted, RunEnd, RunsPruned, TokenCreated, UpstreamAccepted,
};
pub(crate) use journal::AuthorityCache;
pub use journal::{first_difference, load_authority};
pub use operations::{
    AdoptTokens, CreateSessionToken, CreateToken, GiveUpToken, InitStore, MakeToken,
    RecordFirstUse, RevokeToken, SESSION_TOKEN_LIFE, TokenError,
};
pub use proof::{AcceptLoss, MarkForTesting, NameStore};
pub use right::Right;
pub use signer::{AddSigner, KnownSigner, RevokeSigner, SignerError};
pub use spec::WriteSpec;
pub use upstream::AcceptUpstream;

/// The prefix of every token, by which people and secret scanners recognize one.
pub const TOKEN_PREFIX: &str = "smk_";

/// A valid token: the identity that it gives to its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The name of its holder.
    pub name: String,
    /// The holder's role.
    pub role: Role,
    /// The only run that it is valid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// True if its holder drives many runs, and is judged by the one that each call means.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub many_runs: bool,
    /// The time of its creation. Unit: milliseconds since 1970.
    pub created: u64,
    /// The person who made it; `None` if nobody's token did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The way in which it came to be, if no person's token made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub founding: Option<Founding>,
    /// The time from which it isn't valid any more. Unit: milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The time of its first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// The SHA-256 checksum of the token.
    #[serde(skip)]
    pub hash: Hash,
}

impl Token {
    /// Returns the actor that its holder acts as.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor::new(self.role).with_name(self.name.clone())
    }

    /// Reports whether it is valid for a run.
    #[must_use]
    pub fn is_for(&self, run: &RunId) -> bool {
        self.run.as_ref().is_none_or(|own| own == run)
    }

    /// Reports whether it has expired by a time.
    #[must_use]
    pub fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}

/// The reason why a token gives no right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// The store has no such token.
    #[error("the token isn't valid for this store: it was revoked, or is another store's")]
    Unknown,
    /// The token's time is over.
    #[error("the token of `{name}` has expired")]
    Expired {
        /// The name of its holder.
        name: String,
        /// The time at which it did. Unit: milliseconds since 1970.
        at: u64,
    },
}

/// The authority over a store: its journal, replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// The store's random id; `None` before the first entry.
    store: Option<String>,
    /// A name of the store that nobody can tell who hasn't read it; `None` before the first entry.
    ownership: Option<Hash>,
    /// The tokens that weren't revoked, in the order of their creation.
    tokens: Vec<Token>,
    /// The keys by which persons sign decisions, the revoked ones, too, in the order of their addition.
    signers: Vec<KnownSigner>,
    /// True once there was a token, even if all are revoked by now.
    had_tokens: bool,
    /// By workflow: its acceptances, in order.
    accepted: BTreeMap<String, Vec<Acceptance>>,
    /// True from the first acceptance on: workflows that nobody has accepted don't count as accepted.
    reviews: bool,
    /// By server of tools: the hash of its declaration, as it was accepted last.
    upstream: BTreeMap<String, Hash>,
    /// The last entry; 0 before the first.
    seq: u64,
    /// True if the store was made for testing.
    testing: bool,
    /// By run: how it ended each time that it was pruned, when that was, and who pruned it.
    tombstones: BTreeMap<RunId, Vec<Tombstone>>,
}

/// The rest of a pruned run: its end, and who pruned it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tombstone {
    /// The last record.
    pub seq: u64,
    /// The last record's hash.
    pub hash: Hash,
    /// The time of the pruning. Unit: milliseconds since 1970.
    pub time: u64,
    /// The actor who pruned it.
    pub by: String,
}

impl Authority {
    /// Returns the store's random id, which it has from its first entry on.
    #[must_use]
    pub fn store_id(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Returns the name under which its maker notes the store; `None` before the first entry.
    ///
    /// Nobody can tell it who hasn't read the store itself.
    #[must_use]
    pub const fn ownership(&self) -> Option<Hash> {
        self.ownership
    }

    /// Reports whether the store says nothing about rights: nothing was ever entered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.seq == 0
    }

    /// Reports whether the store was made for testing: its clock can be set.
    #[must_use]
    pub const fn is_for_testing(&self) -> bool {
        self.testing
    }

    /// Returns what is left of a run: a tombstone for each time that it was pruned, the latest last.
    #[must_use]
    pub fn tombstones(&self, run: &RunId) -> &[Tombstone] {
        self.tombstones.get(run).map_or(&[], Vec::as_slice)
    }

    /// Returns the tokens that weren't revoked, in the order of their creation.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter()
    }

    /// Reports whether callers need no token: none was ever made.
    ///
    /// Revoking all of them doesn't lift the need.
    #[must_use]
    pub const fn allows_anonymous(&self) -> bool {
        !self.had_tokens
    }

    /// Reports whether a person has a valid token.
    #[must_use]
    pub fn has_person(&self, now: u64) -> bool {
        let mut tokens = self.tokens.iter();
        tokens.any(|it| it.role == Role::Person && !it.has_expired(now))
    }

    /// Finds the entry of a token by its text. Compares hashes, so that timing reveals nothing.
    ///
    /// # Errors
    ///
    /// The store has no such token, or it has expired.
    pub fn find(&self, text: &str, now: u64) -> Result<&Token, InvalidToken> {
        let hash = Hash::digest(text.trim().as_bytes());
        let found = self.tokens.iter().find(|token| token.hash == hash);
        let found = found.ok_or(InvalidToken::Unknown)?;
        match found.expires {
            Some(at) if at <= now => Err(InvalidToken::Expired {
                name: found.name.clone(),
                at,
            }),
            _ => Ok(found),
        }
    }

    /// Reports whether a token that was found before is still valid.
    #[must_use]
    pub fn is_valid(&self, hash: &Hash, now: u64) -> bool {
        let mut tokens = self.tokens.iter();
        tokens.any(|it| it.hash == *hash && !it.has_expired(now))
    }

    /// Takes an entry of the store's journal into account.
    fn apply(&mut self, entry: Entry, (seq, time, actor): (u64, u64, &Actor)) {
        self.seq = seq;
        match entry {
            Entry::StoreNamed(named) => {
                self.ownership = Some(named.ownership());
                self.store = Some(named.store);
                self.testing = named.testing;
            }
            Entry::RunsPruned(pruned) => {
                let by = actor.to_string();
                for RunEnd { run, seq, hash } in pruned.runs {
                    let tombstone = Tombstone {
                        seq,
                        hash,
                        time,
                        by: by.clone(),
                    };
                    self.tombstones.entry(run).or_default().push(tombstone);
                }
            }
            Entry::LossAccepted(_) => {}
            Entry::TokenCreated(made) => {
                self.had_tokens = true;
                let by = if made.founding.is_none() {
                    actor.name.clone()
                } else {
                    None
                };
                self.tokens.push(Token {
                    name: made.name,
                    role: made.role,
                    run: made.run,
                    many_runs: made.many_runs,
                    created: time,
                    by,
                    founding: made.founding,
                    expires: made.expires,
                    used: None,
                    hash: made.hash,
                });
            }
            Entry::TokenUsed(used) => {
                let token = self.tokens.iter_mut().find(|it| it.hash == used.hash);
                if let Some(token) = token.filter(|it| it.used.is_none()) {
                    token.used = Some(time);
                }
            }
            Entry::TokenRevoked(revoked) => self.tokens.retain(|it| it.hash != revoked.hash),
            Entry::WorkflowAccepted(made) => {
                self.reviews = true;
                let all = self.accepted.entry(made.workflow).or_default();
                all.push(Acceptance {
                    behavior: made.behavior,
                    policy: made.policy,
                    table: made.table,
                    by: actor.name.clone(),
                    at: time,
                });
            }
            Entry::AllAccepted(AllAccepted {}) => self.reviews = false,
            Entry::UpstreamAccepted(made) => {
                self.upstream.insert(made.server, made.declaration);
            }
            Entry::SignerAdded(added) => self.add_signer(added, time, actor),
            Entry::SignerRevoked(revoked) => self.revoke_signer(&revoked, time),
            Entry::Unknown { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
