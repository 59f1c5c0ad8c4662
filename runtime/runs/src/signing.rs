//! Signatures of decisions: SSH signatures of a text that says what was decided.
//!
//! A workflow can demand that decisions are signed (`"approvers": {"signed": true}`). Then a token isn't enough: each
//! decision carries a signature in OpenSSH's format ([`SSHSIG`]), made with a key of the one who decides, in the
//! namespace [`NAMESPACE`]. `ssh-keygen -Y sign` makes such a signature, and `ssh-keygen -Y verify` accepts one.
//!
//! What is signed is a [`Statement`]: a few lines that a person can read. They name the store, the run by the hash of its
//! first record, the request by its id and the hash of its record (event, data, digest of the context, question), the
//! verdict with its answer and comment, who decides, and when. So a signature is good for one decision about one request.
//!
//! What to rely on:
//!
//! - The keys that count for a run are in its first record ([`Signing`]). So a replay needs nothing but the journal.
//! - A key that asks for a touch (`sk-…`) has to say that it was touched.
//!
//! Deliberately not here: private keys, agents and files. Whoever signs holds them.
//!
//! [`SSHSIG`]: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, PublicKey, SshSig};

use crate::hash::Hash;

/// The namespace of signatures: one that was made for another purpose isn't a decision.
pub const NAMESPACE: &str = "statemark";

/// The version of the text that is signed.
const VERSION: u32 = 1;

/// Longest text of a key or of a signature. Unit: bytes.
///
/// Why: the longest of the kinds that count has a few hundred.
const MAX_TEXT: usize = 8 << 10;

/// The flag of a key with a touch that says that somebody touched it (`SSH_SK_USER_PRESENCE_REQD`).
const PRESENT: u8 = 0x01;

/// The length of the flags and the counter that end a signature of a key with a touch. Unit: bytes.
const FLAGS_AND_COUNTER: usize = 5;

/// A public key of somebody who signs decisions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signer {
    /// The name of the one who signs with it.
    pub name: String,
    /// The key, as OpenSSH writes it: its kind, a space, and base64.
    pub key: String,
}

impl Signer {
    /// Returns the key's fingerprint, as `ssh-keygen -l` shows it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.key)
    }
}

/// The keys by which decisions about a run are signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// The random id of the store that the run began in.
    pub store: String,
    /// The keys of those who may decide.
    pub keys: Vec<Signer>,
    /// The transitions that need an approval, by their numbers in the table.
    pub guarded: Vec<u16>,
}

/// The signature of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The name of the one who signed.
    pub by: String,
    /// The time of signing, by the signer's clock. Unit: milliseconds since 1970.
    pub time: u64,
    /// The signature in OpenSSH's armor, which begins with `-----BEGIN SSH SIGNATURE-----`.
    pub signature: String,
}

/// The statement that a decision's signature is over.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'s> {
    /// The id of the store that the run began in.
    pub store: &'s str,
    /// The hash of the record that the run began with.
    pub first: Hash,
    /// The request's id.
    pub request: &'s str,
    /// The hash of the request's record.
    pub record: Hash,
    /// The number of rewinds before it: a decision that was taken back doesn't count again.
    pub rewinds: usize,
    /// The verdict: `approved`, `denied`, `answered` or `sent_back`.
    pub verdict: &'s str,
    /// The answer.
    pub answer: Option<&'s Value>,
    /// The comment.
    pub comment: Option<&'s str>,
    /// The name of the one who signs.
    pub by: &'s str,
    /// The time of signing. Unit: milliseconds since 1970.
    pub time: u64,
}

impl Statement<'_> {
    /// Returns the text that is signed: a line for each part, the last with a line break, too.
    #[must_use]
    pub fn text(&self) -> String {
        // JSON has no line break in it, whatever somebody wrote.
        let json = |value: Option<Value>| value.unwrap_or_default().to_string();
        let answer = json(self.answer.cloned());
        let comment = json(self.comment.map(Value::from));
        let Self {
            store,
            first,
            request,
            record,
            rewinds,
            verdict,
            by,
            time,
            ..
        } = self;
        format!(
            "statemark decision {VERSION}\n\
             store {store}\n\
             run {first}\n\
             request {request} {record}\n\
             rewinds {rewinds}\n\
             verdict {verdict}\n\
             answer {answer}\n\
             comment {comment}\n\
             by {by}\n\
             time {time}\n"
        )
    }
}

/// Returns the time that a signed text names. Unit: milliseconds since 1970.
#[must_use]
pub fn signed_time(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("time "));
    line?.parse().ok()
}

/// The reasons why a text is no key that decisions can be signed with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// No public key.
    #[error("this is no public key of SSH: one is a line such as `ssh-ed25519 AAAA… ann@laptop`")]
    NotAKey,
    /// A private key.
    #[error(
        "this is a private key, which stays where it is: name its public one, in the file `….pub`"
    )]
    Private,
    /// The kind of key isn't one of those that count.
    #[error(
        "a key of the kind {kind} can't sign decisions: use ssh-ed25519, ecdsa-sha2-nistp256, or one of those in a security key (sk-…)"
    )]
    Kind {
        /// The kind.
        kind: String,
    },
}

/// The reasons why a signature doesn't count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// No signature.
    #[error("it is no SSH signature: one begins with `-----BEGIN SSH SIGNATURE-----`")]
    NotASignature,
    /// A signature for another purpose.
    #[error("it was made for `{namespace}`, not for `{NAMESPACE}`")]
    Namespace {
        /// The namespace that it names.
        namespace: String,
    },
    /// A signature by another key.
    #[error(
        "it is by the key {found}, which isn't one of `{by}` that count for this run{}",
        known_keys(known)
    )]
    OtherKey {
        /// The one who is said to have signed.
        by: String,
        /// The fingerprint of the key.
        found: String,
        /// The fingerprints of the keys that count.
        known: Vec<String>,
    },
    /// A signature of another text.
    #[error(
        "it isn't of this decision: of another request, run, store, verdict, answer, comment, name or time"
    )]
    OtherText,
    /// Nobody touched the key.
    #[error("it is by a key that asks for a touch, and doesn't say that somebody touched it")]
    NotTouched,
}

fn known_keys(known: &[String]) -> String {
    match known {
        [] => "; no key of theirs counts: only those that were added before the run began do"
            .to_owned(),
        known => format!(
            ": {} (only those that were added before the run began do)",
            known.join(", ")
        ),
    }
}

/// Reads a public key, and returns it as journals have it: without its comment.
///
/// # Errors
///
/// The text is no public key, or not of a kind that counts.
pub fn parse_key(text: &str) -> Result<String, KeyError> {
    if text.contains("PRIVATE KEY-----") {
        return Err(KeyError::Private);
    }
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|it| !it.is_empty() && !it.starts_with('#'));
    let line = line
        .filter(|it| it.len() <= MAX_TEXT)
        .ok_or(KeyError::NotAKey)?;
    let key = PublicKey::from_openssh(line).map_err(|_| {
        let kind = line.split_whitespace().next().unwrap_or_default();
        match kind.starts_with("ssh-") || kind.starts_with("ecdsa-") {
            true => KeyError::Kind {
                kind: kind.to_owned(),
            },
            false => KeyError::NotAKey,
        }
    })?;
    let counts = match key.algorithm() {
        Algorithm::Ed25519 | Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256 => true,
        Algorithm::Ecdsa { curve } => curve == EcdsaCurve::NistP256,
        _ => false,
    };
    if !counts {
        let kind = key.algorithm().to_string();
        return Err(KeyError::Kind { kind });
    }
    let plain = PublicKey::from(key.key_data().clone());
    plain.to_openssh().map_err(|_| KeyError::NotAKey)
}

/// Returns the fingerprint of a key, as `ssh-keygen -l` shows it.
#[must_use]
pub fn fingerprint(key: &str) -> String {
    match PublicKey::from_openssh(key) {
        Ok(key) => key.fingerprint(HashAlg::Sha256).to_string(),
        Err(_) => "an unreadable key".to_owned(),
    }
}

/// Verifies that a signature is of a text, by one of somebody's keys. Returns the key.
///
/// # Errors
///
/// [`SignatureError`] says why it doesn't count.
pub fn verify<'k>(
    signature: &Signature,
    text: &str,
    keys: impl IntoIterator<Item = &'k Signer>,
) -> Result<&'k Signer, SignatureError> {
    let armor = Some(&signature.signature).filter(|it| it.len() <= MAX_TEXT);
    let sig = armor.and_then(|it| SshSig::from_pem(it).ok());
    let sig = sig.ok_or(SignatureError::NotASignature)?;
    if sig.namespace() != NAMESPACE {
        let namespace = sig.namespace().chars().take(64).collect();
        return Err(SignatureError::Namespace { namespace });
    }
    let own = keys.into_iter().filter(|it| it.name == signature.by);
    let own: Vec<(&Signer, PublicKey)> = own
        .filter_map(|it| Some((it, PublicKey::from_openssh(&it.key).ok()?)))
        .collect();
    let found = own
        .iter()
        .find(|(_, key)| key.key_data() == sig.public_key());
    let Some((signer, key)) = found else {
        let found = PublicKey::from(sig.public_key().clone());
        return Err(SignatureError::OtherKey {
            by: signature.by.clone(),
            found: found.fingerprint(HashAlg::Sha256).to_string(),
            known: own.iter().map(|(it, _)| it.fingerprint()).collect(),
        });
    };
    key.verify(NAMESPACE, text.as_bytes(), &sig)
        .map_err(|_| SignatureError::OtherText)?;
    if is_touched(key.key_data(), &sig) {
        Ok(signer)
    } else {
        Err(SignatureError::NotTouched)
    }
}

/// Reports whether a signature says that its key was touched, if the key asks for that.
fn is_touched(key: &KeyData, sig: &SshSig) -> bool {
    if !matches!(key, KeyData::SkEd25519(_) | KeyData::SkEcdsaSha2NistP256(_)) {
        return true;
    }
    let bytes = sig.signature().as_bytes();
    let flags = bytes.len().checked_sub(FLAGS_AND_COUNTER);
    let flags = flags.and_then(|at| bytes.get(at));
    flags.is_some_and(|flags| flags & PRESENT != 0)
}

/// Reads the keys of an `allowed_signers` file of OpenSSH.
///
/// A line has names with commas between them, options, and a key. Lines for other namespaces are left out, and those
/// of authorities that sign others' keys (`cert-authority`) as well.
///
/// # Errors
///
/// The number of the first line that can't be read, and the defect.
pub fn parse_allowed_signers(text: &str) -> Result<Vec<Signer>, (usize, KeyError)> {
    let mut signers = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1_usize..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (names, rest) = line
            .split_once(char::is_whitespace)
            .ok_or((number, KeyError::NotAKey))?;
        let rest = rest.trim_start();
        let is_kind = |text: &str| {
            ["ssh-", "ecdsa-", "sk-"]
                .iter()
                .any(|kind| text.starts_with(kind))
        };
        let (options, key) = if is_kind(rest) {
            ("", rest)
        } else {
            let (options, key) = rest
                .split_once(char::is_whitespace)
                .ok_or((number, KeyError::NotAKey))?;
            (options, key.trim_start())
        };
        let namespaces = options
            .split(',')
            .find_map(|it| it.strip_prefix("namespaces="));
        let is_ours = |all: &str| options.contains(all);
        if options.contains("cert-authority") || namespaces.is_some_and(|_| !is_ours(NAMESPACE)) {
            continue;
        }
        let key = parse_key(key).map_err(|error| (number, error))?;
        for name in names.trim_matches('"').split(',') {
            signers.push(Signer {
                name: name.to_owned(),
                key: key.clone(),
            });
        }
    }
    Ok(signers)
}

#[cfg(test)]
mod tests;
