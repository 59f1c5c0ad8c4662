//! Signers: the keys by which persons sign decisions, as entries of the store's journal.

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::operations::describe_fault;
use super::{Authority, Right, TokenError};
use crate::actor::Actor;
use crate::legible::are_confusable;
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};
use crate::signing::{KeyError, Signer, fingerprint, parse_key};

/// Most keys of a store. Unit: keys. Why: a run's first record has those of its approvers.
const MAX_SIGNERS: usize = 1_000;

/// A key became a person's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerAdded {
    /// The name of the person.
    pub name: String,
    /// The key.
    pub key: String,
}

/// A key was revoked: signatures from then on don't count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerRevoked {
    /// The name of the person.
    pub name: String,
    /// The key.
    pub key: String,
}

/// A key of a person, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownSigner {
    /// The person and the key.
    #[serde(flatten)]
    pub signer: Signer,
    /// The time at which it was added. Unit: milliseconds since 1970.
    pub added: u64,
    /// The person who added it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The time at which it was revoked, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<u64>,
}

/// The reasons why a key can't be added or revoked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignerError {
    /// The text is no key that counts.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The person's name is malformed.
    #[error("the name of a person who signs {why}")]
    BadName {
        /// The defect, as a predicate.
        why: &'static str,
    },
    /// Somebody else has the key.
    #[error("the key {key} is `{name}`'s already: a key is one person's")]
    Taken {
        /// The key's fingerprint.
        key: String,
        /// The person.
        name: String,
    },
    /// The key was revoked.
    #[error("the key {key} was revoked, which is for ever: make another (`ssh-keygen -t ed25519`)")]
    Revoked {
        /// The key's fingerprint.
        key: String,
    },
    /// The person has no such key.
    #[error("`{name}` has no key{} here that could be revoked", key.as_ref().map(|it| format!(" {it}")).unwrap_or_default())]
    Unknown {
        /// The person.
        name: String,
        /// The key's fingerprint, if one was named.
        key: Option<String>,
    },
    /// The person has several keys.
    #[error("`{name}` has several keys: name one of {}", keys.join(", "))]
    Several {
        /// The person.
        name: String,
        /// The fingerprints.
        keys: Vec<String>,
    },
    /// There are too many.
    #[error("the store has {MAX_SIGNERS} keys, the most that it can have")]
    TooMany,
}

impl Authority {
    /// Returns all keys that ever were somebody's, in the order of their addition.
    pub fn signers(&self) -> impl Iterator<Item = &KnownSigner> {
        self.signers.iter()
    }

    /// Returns the keys of some persons that count for runs that begin now.
    ///
    /// They are those of all persons if none is named.
    #[must_use]
    pub fn keys_of(&self, names: &[String]) -> Vec<Signer> {
        let valid = self.signers.iter().filter(|it| it.revoked.is_none());
        let valid = valid.map(|it| &it.signer);
        let meant = valid.filter(|it| names.is_empty() || names.contains(&it.name));
        meant.cloned().collect()
    }

    /// Returns the time at which a person's key was revoked, if it was.
    #[must_use]
    pub fn revoked_at(&self, signer: &Signer) -> Option<u64> {
        let found = self.signers.iter().find(|it| it.signer == *signer);
        found?.revoked
    }

    /// Reports whether a key is a person's, and wasn't revoked.
    #[must_use]
    pub fn knows(&self, signer: &Signer) -> bool {
        let mut signers = self.signers.iter();
        signers.any(|it| it.signer == *signer && it.revoked.is_none())
    }

    pub(super) fn add_signer(&mut self, added: SignerAdded, time: u64, actor: &Actor) {
        let SignerAdded { name, key } = added;
        self.signers.push(KnownSigner {
            signer: Signer { name, key },
            added: time,
            by: actor.name.clone(),
            revoked: None,
        });
    }

    pub(super) fn revoke_signer(&mut self, revoked: &SignerRevoked, time: u64) {
        let mut signers = self.signers.iter_mut();
        let found =
            signers.find(|it| it.signer.name == revoked.name && it.signer.key == revoked.key);
        if let Some(found) = found.filter(|it| it.revoked.is_none()) {
            found.revoked = Some(time);
        }
    }
}

/// Adds a key by which a person signs decisions. A key that the person has already changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddSigner {
    /// The name of the person, as workflows name approvers.
    pub name: String,
    /// The public key, as its file has it.
    pub key: String,
}

/// Answers the key, with its fingerprint to be shown.
impl Operation for AddSigner {
    const NAME: &'static str = "add_signer";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = Signer;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Signer, RunError> {
        if let Some(why) = describe_fault(&self.name) {
            return Err(TokenError::from(SignerError::BadName { why }).into());
        }
        let key = parse_key(&self.key).map_err(SignerError::from);
        let key = key.map_err(TokenError::from)?;
        let signer = Signer {
            name: self.name.clone(),
            key,
        };
        let actor = execution.order();
        execution.runs().amend_authority(actor, |authority, _| {
            let known = authority.signers().find(|it| it.signer.key == signer.key);
            let print = || signer.fingerprint();
            match known {
                Some(known) if known.revoked.is_some() => {
                    return Err(SignerError::Revoked { key: print() }.into());
                }
                Some(known) if known.signer.name != signer.name => {
                    let name = known.signer.name.clone();
                    return Err(SignerError::Taken { key: print(), name }.into());
                }
                Some(_) => return Ok(Vec::new()),
                None => {}
            }
            let mut valid = authority.signers().filter(|it| it.revoked.is_none());
            if valid.any(|it| are_confusable(&it.signer.name, &signer.name)) {
                let why = "looks like that of another who does";
                return Err(SignerError::BadName { why }.into());
            }
            if authority.signers().count() >= MAX_SIGNERS {
                return Err(SignerError::TooMany.into());
            }
            Ok(vec![Entry::SignerAdded(SignerAdded {
                name: signer.name.clone(),
                key: signer.key.clone(),
            })])
        })?;
        Ok(signer)
    }
}

/// Revokes a key: decisions that are signed with it from now on aren't taken. Earlier ones count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RevokeSigner {
    /// The name of the person.
    pub name: String,
    /// The fingerprint of the key; may be left out if the person has only one.
    pub fingerprint: Option<String>,
}

/// Answers the key.
impl Operation for RevokeSigner {
    const NAME: &'static str = "revoke_signer";
    const RIGHT: Right = Right::Tokens;
    type Order = Actor;
    type Response = Signer;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Signer, RunError> {
        let find = |authority: &Authority| -> Result<Signer, TokenError> {
            let own = authority.keys_of(std::slice::from_ref(&self.name));
            let meant = |signer: &Signer| {
                let named = self.fingerprint.as_ref();
                named.is_none_or(|named| *named == signer.fingerprint())
            };
            let meant: Vec<Signer> = own.into_iter().filter(meant).collect();
            let (name, key) = (self.name.clone(), self.fingerprint.clone());
            match meant.as_slice() {
                [only] => Ok(only.clone()),
                [] => Err(SignerError::Unknown { name, key }.into()),
                several => {
                    let keys = several.iter().map(|it| fingerprint(&it.key)).collect();
                    Err(SignerError::Several { name, keys }.into())
                }
            }
        };
        let signer = find(&*execution.runs().authority()?)?;
        let actor = execution.order();
        execution.runs().amend_authority(actor, |authority, _| {
            let Signer { name, key } = find(authority)?;
            Ok(vec![Entry::SignerRevoked(SignerRevoked { name, key })])
        })?;
        Ok(signer)
    }
}
