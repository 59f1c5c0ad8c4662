//! Redaction: `[redacted:NAME]` replaces secrets before anything is hashed or written.
//!
//! A secret is the value of an environment variable that is marked as secret, or a string with the shape of a token
//! ([`secret`]). A variable is marked by its name ([`is_secret_name`]), or by a list.
//!
//! What to rely on: redacting twice changes nothing more, and a string without a secret is untouched.
//!
//! Deliberately not here: values that can't be told from ordinary words ([`Redactor::new`]), and secrets that were encoded,
//! cut or reversed. This is a net, not a wall: don't give a secret to a run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};
use statemark_text::secret::{self, Scan};

/// Fewest bytes of a value. Unit: bytes. Why: `1` or `true` would black out half of a journal.
const MIN_VALUE: usize = 8;

/// Fewest bytes of a value that is a lowercase word. Unit: bytes.
///
/// Why: journals are made of such words (`not_started`, `input_tokens`), and a variable like `SORT_KEY=modified` must
/// not break them.
const MIN_WORD: usize = 16;

/// The last words of secret variables' names.
const SECRET_SUFFIXES: [&str; 13] = [
    "TOKEN",
    "AUTHTOKEN",
    "SECRET",
    "KEY",
    "APIKEY",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "PAT",
    "AUTH",
    "CREDENTIALS",
];

/// Names of variables that hold or lead to secrets, and whose names don't say so.
///
/// Those of PostgreSQL open the store, and the agent of SSH signs decisions.
const SECRET_NAMES: [&str; 7] = [
    "GPG_AGENT_INFO",
    "PGPASSFILE",
    "PGPASSWORD",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "SSHPASS",
    "SSH_AUTH_SOCK",
];

/// The variable of the working folder, whose name looks like a secret's.
const FOLDER: &str = "PWD";

/// The start of the mark that replaces a secret; its name and `]` follow.
const MARK: &[u8] = b"[redacted:";

/// A set of known secrets, which it removes from strings, bytes and JSON.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first.
    secrets: Vec<Secret>,
    /// The first bytes of the secrets, as a set of bits.
    first_bytes: [u64; 4],
}

#[derive(Clone)]
struct Secret {
    name: String,
    value: Vec<u8>,
}

/// A part of a string, with its length. Unit: bytes.
enum Part<'r> {
    /// Text without a secret.
    Plain(usize),
    /// A secret, with its name.
    Secret(&'r str, usize),
}

/// Prints names only, never values.
impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.names()).finish()
    }
}

impl Redactor {
    /// Makes a redactor of names and values. It knows the shapes of tokens, too.
    ///
    /// Values of less than 8 bytes are ignored, and lowercase words of less than 16.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all: Vec<Secret> = Vec::new();
        for (name, value) in secrets {
            let value = value.trim();
            if !is_distinctive(value) {
                continue;
            }
            let name = name.replace(|it: char| !is_name_character(it), "_");
            // The value as JSON within a string has it.
            let escaped = Value::from(value).to_string();
            let escaped = escaped.trim_matches('"').to_owned();
            for value in BTreeSet::from([value.to_owned(), escaped]) {
                let (name, value) = (name.clone(), value.into_bytes());
                all.push(Secret { name, value });
            }
        }
        all.sort_by(|one, other| {
            let order = |it: &Secret| (std::cmp::Reverse(it.value.len()), it.value.clone());
            order(one)
                .cmp(&order(other))
                .then_with(|| one.name.cmp(&other.name))
        });
        all.dedup_by(|one, other| one.value == other.value);
        Self::from_secrets(all)
    }

    /// Makes a redactor of this process's secret environment variables, and of those in `more`.
    #[must_use]
    pub fn from_environment(more: &[String]) -> Self {
        let all = std::env::vars_os();
        let readable = all.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::new(readable.filter(|(name, _)| is_secret_name(name) || more.contains(name)))
    }

    /// Returns the names of the secrets that it knows by value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|it| it.name.as_str())
    }

    /// Returns a redactor that doesn't know values within these words, which everybody knows.
    pub(crate) fn without_words<'w>(&self, words: impl Iterator<Item = &'w str>) -> Self {
        let mut secrets = self.secrets.clone();
        for word in words {
            secrets.retain(|it| !contains(word.as_bytes(), &it.value));
        }
        Self::from_secrets(secrets)
    }

    fn from_secrets(secrets: Vec<Secret>) -> Self {
        let mut first_bytes = [0; 4];
        for byte in secrets.iter().filter_map(|it| it.value.first()) {
            if let Some(bits) = first_bytes.get_mut(usize::from(byte / 64)) {
                *bits |= 1 << (byte % 64);
            }
        }
        Self {
            secrets,
            first_bytes,
        }
    }

    /// Reports whether a known value begins with a byte.
    fn may_begin(&self, byte: u8) -> bool {
        let bits = self.first_bytes.get(usize::from(byte / 64));
        bits.is_some_and(|bits| bits & (1 << (byte % 64)) != 0)
    }

    /// Redacts a string.
    #[must_use]
    pub fn redact_str<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // INVARIANT: a secret is whole characters, and so is its mark.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Redacts bytes, which needn't be UTF-8.
    #[must_use]
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let mut clean: Option<Vec<u8>> = None;
        let mut at: usize = 0;
        for part in self.parts(bytes) {
            match part {
                Part::Plain(length) => {
                    if let Some(clean) = &mut clean {
                        clean.extend(bytes.iter().skip(at).take(length));
                    }
                    at += length;
                }
                Part::Secret(name, length) => {
                    let before = || bytes.get(..at).unwrap_or_default().to_vec();
                    let clean = clean.get_or_insert_with(before);
                    clean.extend(MARK);
                    clean.extend(name.as_bytes());
                    clean.push(b']');
                    at += length;
                }
            }
        }
        clean.map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// Splits bytes into secrets and the parts between them.
    fn parts<'r>(&'r self, text: &'r [u8]) -> impl Iterator<Item = Part<'r>> {
        let mut at = 0;
        // A token may stand at the start, and right after a mark.
        let mut marked = true;
        let mut scan = Scan::new(text);
        std::iter::from_fn(move || {
            let begin = at;
            while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
                let before = at.checked_sub(1).and_then(|it| text.get(it));
                let is_free = marked || before.is_none_or(|it| !is_word_byte(*it));
                let mark = self.mark(rest);
                if mark.is_none()
                    && let Some((name, length)) = self.secret((&mut scan, at), rest, is_free)
                {
                    if at > begin {
                        // The next call finds the secret again.
                        return Some(Part::Plain(at - begin));
                    }
                    at += length;
                    marked = true;
                    return Some(Part::Secret(name, length));
                }
                at += mark.unwrap_or(1);
                marked = mark.is_some();
            }
            (at > begin).then_some(Part::Plain(at - begin))
        })
    }

    /// Redacts the strings of a JSON value, and the keys of its objects.
    #[must_use]
    pub fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_str(text).into_owned()),
            Value::Array(items) => items.iter().map(|it| self.redact_value(it)).collect(),
            Value::Object(fields) => {
                let mut clean = Map::new();
                for (name, value) in fields {
                    let mut name = self.redact_str(name).into_owned();
                    // Two keys may be alike once they are redacted.
                    while clean.contains_key(&name) {
                        name.push('\'');
                    }
                    clean.insert(name, self.redact_value(value));
                }
                Value::Object(clean)
            }
            other => other.clone(),
        }
    }

    /// Finds the first secret in some bytes, and returns its name.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<String> {
        self.parts(text).find_map(|part| match part {
            Part::Secret(name, _) => Some(name.to_owned()),
            Part::Plain(_) => None,
        })
    }

    /// Finds the first secret in a JSON value, and returns its name.
    pub(crate) fn find_in_value(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.find(text.as_bytes()),
            Value::Array(items) => items.iter().find_map(|it| self.find_in_value(it)),
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let in_name = self.find(name.as_bytes());
                in_name.or_else(|| self.find_in_value(value))
            }),
            _ => None,
        }
    }

    /// Reports whether encoded JSON may hold a secret.
    ///
    /// Escapes hide where a word begins, so there are false positives.
    pub(crate) fn may_hold_secret(&self, json: &[u8]) -> bool {
        let mut scan = Scan::new(json);
        (0..json.len()).any(|at| {
            let rest = json.get(at..).unwrap_or_default();
            self.secret((&mut scan, at), rest, true).is_some()
        })
    }

    /// Returns the length of the mark that a string begins with.
    fn mark(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(MARK)?;
        let mut names = secret::NAMES.iter().copied().chain(self.names());
        let is_here = |name: &&str| {
            let after = rest.strip_prefix(name.as_bytes());
            after.is_some_and(|it| it.first() == Some(&b']'))
        };
        let name = names.find(is_here)?;
        Some(MARK.len() + name.len() + 1)
    }

    /// Returns the name and length of the secret that stands at a place of a text, whose rest begins there.
    fn secret(
        &self,
        (scan, at): (&mut Scan<'_>, usize),
        text: &[u8],
        is_free: bool,
    ) -> Option<(&str, usize)> {
        let byte = *text.first()?;
        let secrets = if self.may_begin(byte) {
            self.secrets.as_slice()
        } else {
            &[]
        };
        let known = secrets.iter().find(|secret| {
            let length = secret.value.len();
            let overlaps =
                || (1..length).any(|at| text.get(at..).is_some_and(|it| self.mark(it).is_some()));
            text.starts_with(&secret.value) && !overlaps()
        });
        known
            .map(|it| (it.name.as_str(), it.value.len()))
            .or_else(|| scan.token(at, is_free))
    }
}

/// Reports whether the name of a variable marks it as secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has_suffix = SECRET_SUFFIXES.iter().any(|suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', ':']))
    });
    name != FOLDER && (has_suffix || SECRET_NAMES.contains(&name.as_str()))
}

/// Reports whether a value can be told from ordinary words.
fn is_distinctive(value: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_lowercase() || matches!(it, '_' | '-' | '.');
    let min = if value.chars().all(is_plain) {
        MIN_WORD
    } else {
        MIN_VALUE
    };
    value.len() >= min && !contains(value.as_bytes(), MARK)
}

const fn is_name_character(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.')
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|it| it == part)
}
