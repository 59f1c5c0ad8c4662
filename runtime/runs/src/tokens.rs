//! Tokens, by which callers show who they are.
//!
//! A token is a random string that only its holder has. Only its hash is stored, so that a reader of the list can't act as
//! a holder. It gives a role and a name, and may be valid for one run alone. A caller without a token is an agent without a
//! name, or whoever the front end says that it serves.
//!
//! Deliberately not here: where the list is stored (front ends read and write it as JSON), and expiry (tokens are revoked).

use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Role};
use crate::hash::Hash;
use crate::id::RunId;

/// The prefix of every token, by which people and secret scanners recognize one.
pub const TOKEN_PREFIX: &str = "smk_";

/// Most characters of a token's name. Unit: characters.
const MAX_NAME: usize = 64;

/// A list of the valid tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    tokens: Vec<Token>,
    /// A list was ever written, even if it is empty by now.
    #[serde(skip, default = "is_list")]
    is_list: bool,
}

const fn is_list() -> bool {
    true
}

/// An entry of the list: the identity that a token gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The name of its holder.
    pub name: String,
    /// The holder's role.
    pub role: Role,
    /// The only run that it is valid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The time of its creation. Unit: milliseconds since 1970.
    pub created: u64,
    /// The SHA-256 checksum of the token.
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
}

/// The reasons why a token can't be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The name has a token.
    #[error("there is a token for `{name}` already: revoke it, or choose another name")]
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
}

impl Tokens {
    /// Returns the tokens in the order of their creation.
    pub fn iter(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter()
    }

    /// Reports whether callers need no token: none was ever created.
    ///
    /// Revoking all of them doesn't lift the need.
    #[must_use]
    pub const fn allows_anonymous(&self) -> bool {
        !self.is_list && self.tokens.is_empty()
    }

    /// Finds the entry of a token, if it is valid. Compares hashes, so that timing reveals nothing.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<&Token> {
        let hash = Hash::digest(text.trim().as_bytes());
        self.tokens.iter().find(|token| token.hash == hash)
    }

    /// Creates a token and returns it. It can't be read again later.
    ///
    /// # Errors
    ///
    /// The name is taken or malformed; the role is the system's.
    pub fn create(
        &mut self,
        name: &str,
        role: Role,
        run: Option<RunId>,
        now: u64,
    ) -> Result<String, TokenError> {
        let why = if name.is_empty() {
            Some("is empty")
        } else if name.chars().count() > MAX_NAME {
            Some("has more than 64 characters")
        } else if name.chars().any(|it| it.is_control() || it.is_whitespace()) {
            Some("has a space in it")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(TokenError::BadName { why });
        }
        if role == Role::System {
            return Err(TokenError::BadRole { role });
        }
        if self.tokens.iter().any(|token| token.name == name) {
            let name = name.to_owned();
            return Err(TokenError::Taken { name });
        }
        let (first, second) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
        let text = format!("{TOKEN_PREFIX}{}{}", first.simple(), second.simple());
        self.is_list = true;
        self.tokens.push(Token {
            name: name.to_owned(),
            role,
            run,
            created: now,
            hash: Hash::digest(text.as_bytes()),
        });
        Ok(text)
    }

    /// Revokes a holder's token. Reports whether there was one.
    pub fn revoke(&mut self, name: &str) -> bool {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.name != name);
        self.tokens.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_until_it_is_revoked() {
        let mut tokens = Tokens::default();
        let ann = tokens.create("ann", Role::Person, None, 5).unwrap();
        let run: RunId = "r".parse().unwrap();
        let bot = tokens
            .create("bot", Role::Agent, Some(run.clone()), 6)
            .unwrap();
        assert_ne!(ann, bot);
        let found = tokens.find(&format!("{ann}\n")).unwrap();
        assert_eq!(found.actor(), Actor::new(Role::Person).with_name("ann"));
        assert!(found.is_for(&run));
        let found = tokens.find(&bot).unwrap();
        assert!(found.is_for(&run));
        assert!(!found.is_for(&"other".parse().unwrap()));
        assert_eq!(tokens.find("smk_"), None);
        let json = serde_json::to_string(&tokens).unwrap();
        assert!(!json.contains(&ann));
        let mut read: Tokens = serde_json::from_str(&json).unwrap();
        assert_eq!(read, tokens);
        assert!(read.revoke("ann"));
        assert!(!read.revoke("ann"));
        assert_eq!(read.find(&ann), None);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let mut tokens = Tokens::default();
        tokens.create("ann", Role::Person, None, 5).unwrap();
        let mut told = |name: &str, role| {
            let error = tokens.create(name, role, None, 5).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            told("ann", Role::Agent),
            "there is a token for `ann` already: revoke it, or choose another name"
        );
        assert_eq!(told("", Role::Agent), "the name of a token is empty");
        assert_eq!(
            told("a b", Role::Agent),
            "the name of a token has a space in it"
        );
        assert_eq!(
            told(&"a".repeat(65), Role::Agent),
            "the name of a token has more than 64 characters"
        );
        assert_eq!(
            told("eve", Role::System),
            "no token gives the role system: it may be agent, person or observer"
        );
    }
}
