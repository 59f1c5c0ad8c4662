//! Operations on tokens: each is an entry of the store's journal.

use serde::Serialize;

use super::entry::{Entry, Founding, TokenCreated, TokenRevoked, TokenUsed};
use super::{Authority, Right, SignerError, TOKEN_PREFIX, Token};
use crate::actor::{Actor, Role};
use crate::hash::Hash;
use crate::id::RunId;
use crate::legible::{are_confusable, describe_oddity};
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};

/// Most characters of a token's name. Unit: characters.
const MAX_NAME: usize = 64;

/// Most valid tokens of a store. Unit: tokens. Why: each request compares with all of them.
const MAX_TOKENS: usize = 10_000;

/// Longest time for which the token of a session file is valid. Unit: milliseconds.
///
/// Why: a server that was killed can't revoke it.
pub const SESSION_TOKEN_LIFE: u64 = 7 * 24 * 3_600 * 1_000;

/// The reasons why a token can't be made or revoked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The name has a token.
    #[error("there is a token for `{name}` already: revoke it, rotate it, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// The name is malformed.
    #[error("the name of a token {why}")]
    BadName {
        /// The defect, as a predicate.
        why: &'static str,
    },
    /// No token gives that role.
    #[error("no token gives the role {}: it may be agent, person or observer", role.name())]
    BadRole {
        /// The role.
        role: Role,
    },
    /// The token of a person, of an observer or of one run is to be for many runs.
    #[error("a token for many runs is an agent's, and is bound to no run")]
    NotForManyRuns,
    /// The first token of a store is for somebody else than a person.
    #[error("the first token of a store is a person's, who then makes the others: `--role person`")]
    FirstIsAPersons,
    /// Nobody has shown to be a person.
    #[error(
        "the first token of a store is made at a terminal, by somebody who types the store's name"
    )]
    NeedsTerminal,
    /// A person has a token, who makes the others.
    #[error("only a person creates and revokes tokens, and this store has one's already")]
    HasPerson,
    /// The store has runs.
    #[error("the store has runs already: only a new one gets its first token from a file")]
    NotEmpty,
    /// A time that has passed.
    #[error("a token can't expire before it is made")]
    Expired,
    /// No token has the name.
    #[error("there is no token of `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The names that have one.
        known: Vec<String>,
    },
    /// Nobody could decide any more.
    #[error(
        "`{name}` is the only person of this store: create another person's token first, or replace this one by `--rotate`"
    )]
    LastPerson {
        /// The name.
        name: String,
    },
    /// A key for signatures can't be added or revoked.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// There are too many.
    #[error("the store has {MAX_TOKENS} tokens, the most that it can have: revoke some")]
    TooMany,
}

impl From<TokenError> for RunError {
    fn from(error: TokenError) -> Self {
        Self::Token(Box::new(error))
    }
}

/// The identity that a new token gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MakeToken {
    /// The name of its holder: 1 to 64 characters, no blanks.
    pub name: String,
    /// The holder's role.
    pub role: Role,
    /// The only run that it is valid for.
    pub run: Option<RunId>,
    /// True if its holder drives many runs: each call is judged by the run that it means alone.
    ///
    /// Such a holder starts accepted workflows alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub many_runs: bool,
    /// The time for which it is valid. Unit: milliseconds.
    pub lifetime: Option<u64>,
}

impl MakeToken {
    /// Makes the request of a token without limits.
    #[must_use]
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self {
            name: name.into(),
            role,
            run: None,
            many_runs: false,
            lifetime: None,
        }
    }

    /// Checks it, and returns the entry that makes it valid.
    fn entry(
        &self,
        authority: &Authority,
        now: u64,
        hash: Hash,
        founding: Option<Founding>,
    ) -> Result<Entry, TokenError> {
        if let Some(why) = describe_fault(&self.name) {
            return Err(TokenError::BadName { why });
        }
        if self.role == Role::System {
            return Err(TokenError::BadRole { role: self.role });
        }
        if self.many_runs && (self.role != Role::Agent || self.run.is_some()) {
            return Err(TokenError::NotForManyRuns);
        }
        let expired = |it: &Token| it.has_expired(now);
        let is_taken = |it: &Token| it.name == self.name && !expired(it);
        if authority.tokens().any(is_taken) {
            let name = self.name.clone();
            return Err(TokenError::Taken { name });
        }
        let looks_alike = |it: &Token| are_confusable(&it.name, &self.name) && !expired(it);
        if authority.tokens().any(looks_alike) {
            let why = "looks like that of another token";
            return Err(TokenError::BadName { why });
        }
        if authority.tokens.len() >= MAX_TOKENS {
            return Err(TokenError::TooMany);
        }
        if self.lifetime == Some(0) {
            return Err(TokenError::Expired);
        }
        Ok(Entry::TokenCreated(TokenCreated {
            name: self.name.clone(),
            role: self.role,
            run: self.run.clone(),
            many_runs: self.many_runs,
            expires: self.lifetime.map(|length| now.saturating_add(length)),
            founding,
            hash,
        }))
    }
}

/// Tells what is wrong with a person's or an agent's name, as a predicate; nothing if it can be taken.
pub(super) fn describe_fault(name: &str) -> Option<&'static str> {
    let is_seen = |it: char| it.is_alphanumeric() || it.is_ascii_punctuation();
    if name.is_empty() {
        Some("is empty")
    } else if name.chars().count() > MAX_NAME {
        Some("has more than 64 characters")
    } else if name.chars().any(|it| it.is_control() || it.is_whitespace()) {
        Some("has a space in it")
    } else if !name.chars().all(is_seen) {
        // Invisible characters and direction marks would show one name as another.
        Some("has a character in it that can't be seen")
    } else {
        describe_oddity(name)
    }
}

/// Makes the entry that revokes a token.
fn revoke_entry(token: &Token) -> Entry {
    Entry::TokenRevoked(TokenRevoked {
        name: token.name.clone(),
        hash: token.hash,
    })
}

/// Makes the text of a token.
fn random_text() -> String {
    let (first, second) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    format!("{TOKEN_PREFIX}{}{}", first.simple(), second.simple())
}

/// Creates a token, and answers its text, which can't be read again later.
///
/// A person's token makes it. While no person has a valid one, a person's may be made at a terminal
/// ([`founded`](Self::founded)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CreateToken {
    /// The identity that it gives.
    pub token: MakeToken,
    /// True if somebody at a terminal has typed the store's name.
    pub founded: bool,
}

impl Operation for CreateToken {
    const NAME: &'static str = "create_token";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = String;

    fn is_excused(&self) -> bool {
        self.founded
    }

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<String, RunError> {
        let text = random_text();
        let hash = Hash::digest(text.as_bytes());
        let actor = execution.order();
        let by_person = Right::Tokens.is_granted(actor.role);
        execution.runs().amend_authority(actor, |authority, now| {
            let founding = if by_person {
                None
            } else if authority.has_person(now) {
                return Err(TokenError::HasPerson);
            } else if self.token.role != Role::Person {
                return Err(TokenError::FirstIsAPersons);
            } else {
                Some(Founding::Terminal)
            };
            Ok(vec![self.token.entry(authority, now, hash, founding)?])
        })?;
        Ok(text)
    }
}

/// Revokes the token of a name. With `rotate`, another with the same rights takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RevokeToken {
    /// The name of its holder.
    pub name: String,
    /// True if its holder gets another one.
    pub rotate: bool,
}

/// Answers the text of the new token, if there is one.
impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = Option<String>;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Option<String>, RunError> {
        let text = self.rotate.then(random_text);
        let actor = execution.order();
        execution.runs().amend_authority(actor, |authority, now| {
            let named = authority.tokens().filter(|it| it.name == self.name);
            let Some(old) = named.last() else {
                return Err(TokenError::Unknown {
                    name: self.name.clone(),
                    known: authority.tokens().map(|it| it.name.clone()).collect(),
                });
            };
            let mut persons = authority.tokens().filter(|it| it.role == Role::Person);
            let counts = |end: Option<u64>| end.is_none_or(|end| end > now);
            let is_last = old.role == Role::Person
                && counts(old.expires)
                && !persons.any(|it| it.name != old.name && counts(it.expires));
            if is_last && text.is_none() {
                return Err(TokenError::LastPerson {
                    name: old.name.clone(),
                });
            }
            let mut entries = vec![revoke_entry(old)];
            if let Some(text) = &text {
                let length = old.expires.map(|end| end.saturating_sub(old.created));
                entries.push(Entry::TokenCreated(TokenCreated {
                    name: old.name.clone(),
                    role: old.role,
                    run: old.run.clone(),
                    many_runs: old.many_runs,
                    expires: length.map(|length| now.saturating_add(length)),
                    founding: None,
                    hash: Hash::digest(text.as_bytes()),
                }));
            }
            Ok(entries)
        })?;
        Ok(text)
    }
}

/// Writes a person's first token into a store without runs, by its checksum.
///
/// For containers and servers, where no terminal is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitStore {
    /// The name of the person.
    pub name: String,
    /// The SHA-256 checksum of the person's token, which stays where it was made.
    pub hash: Hash,
}

impl Operation for InitStore {
    const NAME: &'static str = "init_store";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = ();

    fn is_excused(&self) -> bool {
        true
    }

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let runs = execution.runs();
        let is_empty = runs.store().status_counts()?.is_empty();
        runs.amend_authority(execution.order(), |authority, now| {
            if authority.had_tokens {
                // The same call again, as in a container's start, changes nothing.
                let same = |it: &Token| it.name == self.name && it.hash == self.hash;
                return match authority.tokens().any(same) {
                    true => Ok(Vec::new()),
                    false => Err(TokenError::HasPerson),
                };
            }
            if !is_empty {
                return Err(TokenError::NotEmpty);
            }
            let token = MakeToken::new(self.name.clone(), Role::Person);
            let entry = token.entry(authority, now, self.hash, Some(Founding::Init))?;
            Ok(vec![entry])
        })
    }
}

/// Takes over the tokens of a list from before tokens were in stores.
///
/// Somebody at a terminal has typed the store's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdoptTokens {
    /// The tokens, each with its checksum.
    pub tokens: Vec<(MakeToken, Hash)>,
}

impl Operation for AdoptTokens {
    const NAME: &'static str = "adopt_tokens";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = ();

    fn is_excused(&self) -> bool {
        true
    }

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        execution
            .runs()
            .amend_authority(execution.order(), |authority, now| {
                if authority.had_tokens {
                    return Err(TokenError::HasPerson);
                }
                let entry = |(token, hash): &(MakeToken, Hash)| {
                    token.entry(authority, now, *hash, Some(Founding::Adopted))
                };
                self.tokens.iter().map(entry).collect()
            })
    }
}

/// Creates the agent's token of a server's session file.
///
/// It has no more rights than who started the server.
/// It is valid for [`SESSION_TOKEN_LIFE`] at most; the server revokes it at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CreateSessionToken {
    /// The only run that it is valid for.
    pub run: Option<RunId>,
}

/// Answers the token's text and its checksum.
impl Operation for CreateSessionToken {
    const NAME: &'static str = "create_session_token";
    const RIGHT: Right = Right::Drive;
    type Order = Actor;
    type Response = (String, String);

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(String, String), RunError> {
        let text = random_text();
        let suffix = uuid::Uuid::new_v4().simple().to_string();
        let name = format!("session-{}", suffix.get(..8).unwrap_or(&suffix));
        let token = MakeToken {
            run: self.run.clone(),
            lifetime: Some(SESSION_TOKEN_LIFE),
            ..MakeToken::new(name.clone(), Role::Agent)
        };
        let hash = Hash::digest(text.as_bytes());
        let actor = execution.order();
        execution.runs().amend_authority(actor, |authority, now| {
            let expired = authority
                .tokens()
                .filter(|it| it.founding == Some(Founding::Session) && it.has_expired(now));
            let expired = expired.map(revoke_entry);
            let mut entries: Vec<Entry> = expired.collect();
            entries.push(token.entry(authority, now, hash, Some(Founding::Session))?);
            Ok(entries)
        })?;
        Ok((name, text))
    }
}

/// Gives a token up: its holder revokes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GiveUpToken {
    /// The token's text, which shows its holder.
    #[serde(skip)]
    pub text: String,
}

impl Operation for GiveUpToken {
    const NAME: &'static str = "give_up_token";
    const RIGHT: Right = Right::See;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let hash = Hash::digest(self.text.as_bytes());
        execution
            .runs()
            .amend_authority(execution.order(), |authority, _| {
                let own = authority.tokens().filter(|it| it.hash == hash);
                Ok(own.map(revoke_entry).collect())
            })
    }
}

/// Records the first use of a token. Later uses change nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFirstUse {
    /// The token's checksum.
    pub hash: Hash,
}

impl Operation for RecordFirstUse {
    const NAME: &'static str = "record_first_use";
    const RIGHT: Right = Right::See;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        execution
            .runs()
            .amend_authority(execution.order(), |authority, _| {
                let unused = |it: &&Token| it.hash == self.hash && it.used.is_none();
                let used = authority.tokens().filter(unused).map(|token| {
                    Entry::TokenUsed(TokenUsed {
                        name: token.name.clone(),
                        hash: token.hash,
                    })
                });
                Ok(used.collect())
            })
    }
}
