//! Tokens: by what callers show who they are.
//!
//! A token is a random text that only its holder has; of it only the hash is kept, so that who can read the list can't act
//! as anybody. It gives a role and a name, and may be good for one run alone. A caller without one is an agent without a
//! name, or whatever the face says that it serves.
//!
//! Deliberately not here: where the list is kept (faces read and write it as JSON), and expiry (a token is revoked).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Role};
use crate::hash::Hash;
use crate::id::RunId;

/// How a token begins, so that people and scanners of secrets know what it is.
pub const TOKEN_PREFIX: &str = "smk_";

/// Most characters of a token's name. Unit: characters.
const MAX_NAME: usize = 64;

/// The tokens that are good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    tokens: Vec<Token>,
    /// Whether there ever were any: there is a list, and be it empty.
    #[serde(skip, default = "is_list")]
    is_list: bool,
}

const fn is_list() -> bool {
    true
}

/// What a token gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The name of its holder.
    pub name: String,
    /// The holder's role.
    pub role: Role,
    /// The only run that it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// When it was made. Unit: milliseconds since 1970.
    pub created: u64,
    /// The SHA-256 sum of its text.
    pub hash: Hash,
}

impl Token {
    /// Who acts with it.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor::new(self.role).named(self.name.clone())
    }

    /// Whether it is good for a run.
    #[must_use]
    pub fn is_for(&self, run: &RunId) -> bool {
        self.run.as_ref().is_none_or(|own| own == run)
    }
}

/// Why no token was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// There is one of that name.
    Taken {
        /// The name.
        name: String,
    },
    /// The name can't be one.
    BadName {
        /// Why.
        why: &'static str,
    },
    /// Nobody holds that role by a token.
    BadRole {
        /// The role.
        role: Role,
    },
}

impl fmt::Display for TokenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name } => write!(
                out,
                "there is a token for `{name}` already: revoke it, or choose another name"
            ),
            Self::BadName { why } => write!(out, "the name of a token {why}"),
            Self::BadRole { role } => write!(
                out,
                "no token gives the role {}: it may be agent, person or observer",
                role.name()
            ),
        }
    }
}

impl std::error::Error for TokenError {}

impl Tokens {
    /// The tokens, in the order of making.
    pub fn iter(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter()
    }

    /// Whether there never was a token. Once there was one, callers need one, even when all are revoked.
    #[must_use]
    pub const fn were_never(&self) -> bool {
        !self.is_list && self.tokens.is_empty()
    }

    /// Whose token a text is, if it is good. What is compared are hashes, so that the time that it takes tells nothing.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<&Token> {
        let hash = Hash::of(text.trim().as_bytes());
        self.tokens.iter().find(|token| token.hash == hash)
    }

    /// Makes a token. The text is given back once, and can't be had again.
    ///
    /// # Errors
    ///
    /// The name is taken or is none; the role is the system's.
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
            hash: Hash::of(text.as_bytes()),
        });
        Ok(text)
    }

    /// Makes a holder's token worthless. Whether there was one.
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
        assert_eq!(found.actor(), Actor::new(Role::Person).named("ann"));
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
