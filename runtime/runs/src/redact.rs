//! Secrets don't reach the journal: what looks like one is replaced by `[redacted:NAME]` before anything is hashed.
//!
//! Two kinds are known: the values of environment variables that are marked as secret, and texts with the shape of a token
//! ([`secret`]). A variable is marked by its name, which ends with `_TOKEN`, `_SECRET`, `_KEY` or `_PASSWORD`, or by a list.
//!
//! What to rely on: what was redacted stays as it is when it is redacted again, and a text without a secret is untouched.
//!
//! Deliberately not here: values that are too short or too plain to be told from words ([`Redactor::new`]), and secrets
//! that were encoded, cut or turned around. This is a net, not a wall: who has a secret should never hand it to a run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};
use statemark_text::secret;

/// Fewest bytes of a value. Unit: bytes. Why: `1` or `true` would black out half of a journal.
const LEAST: usize = 8;

/// Fewest bytes of a value that is a word in lowercase letters. Why: journals are made of such words (`not_started`,
/// `input_tokens`), and a variable like `SORT_KEY=modified` must not break them.
const LEAST_OF_WORD: usize = 16;

/// What a name ends with whose variable is secret.
const ENDINGS: [&str; 4] = ["TOKEN", "SECRET", "KEY", "PASSWORD"];

const BEGIN: &[u8] = b"[redacted:";

/// Knows secrets, and takes them out of texts.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first.
    secrets: Vec<Secret>,
    /// The bytes that they begin with: a bit each.
    begins: [u64; 4],
}

#[derive(Clone)]
struct Secret {
    name: String,
    value: Vec<u8>,
}

/// A part of a text. Unit: bytes.
enum Part<'r> {
    /// As it is.
    Plain(usize),
    /// A secret of that name.
    Secret(&'r str, usize),
}

/// Names only: what is secret isn't printed.
impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.names()).finish()
    }
}

impl Redactor {
    /// Knows these values by these names, and the shapes of tokens. Values of less than 8 bytes aren't taken, nor words in
    /// lowercase letters of less than 16.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all: Vec<Secret> = Vec::new();
        for (name, value) in secrets {
            let value = value.trim();
            if !is_secret(value) {
                continue;
            }
            let name = name.replace(|it: char| !is_of_name(it), "_");
            // As it stands in JSON within a text.
            let escaped = Value::from(value).to_string();
            let escaped = escaped.trim_matches('"').to_owned();
            for value in BTreeSet::from([value.to_owned(), escaped]) {
                let (name, value) = (name.clone(), value.into_bytes());
                all.push(Secret { name, value });
            }
        }
        all.sort_by(|one, other| {
            let place = |it: &Secret| (std::cmp::Reverse(it.value.len()), it.value.clone());
            place(one)
                .cmp(&place(other))
                .then_with(|| one.name.cmp(&other.name))
        });
        all.dedup_by(|one, other| one.value == other.value);
        Self::of(all)
    }

    /// Knows the environment variables of this process that are marked by their names, and those that are named here.
    #[must_use]
    pub fn of_environment(more: &[String]) -> Self {
        let all = std::env::vars_os();
        let texts = all.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::new(texts.filter(|(name, _)| is_marked(name) || more.contains(name)))
    }

    /// The names of the secrets that it knows by their values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|it| it.name.as_str())
    }

    /// The same without the values that are part of one of these words: they are known to everybody.
    pub(crate) fn beside<'w>(&self, words: impl Iterator<Item = &'w str>) -> Self {
        let mut secrets = self.secrets.clone();
        for word in words {
            secrets.retain(|it| !contains(word.as_bytes(), &it.value));
        }
        Self::of(secrets)
    }

    fn of(secrets: Vec<Secret>) -> Self {
        let mut begins = [0; 4];
        for byte in secrets.iter().filter_map(|it| it.value.first()) {
            if let Some(bits) = begins.get_mut(usize::from(byte / 64)) {
                *bits |= 1 << (byte % 64);
            }
        }
        Self { secrets, begins }
    }

    /// Whether a secret begins with a byte.
    fn begins(&self, byte: u8) -> bool {
        let bits = self.begins.get(usize::from(byte / 64));
        bits.is_some_and(|bits| bits & (1 << (byte % 64)) != 0)
    }

    /// A text without its secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // INVARIANT: a secret is whole characters, and so is what takes its place.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Bytes, of a text or not, without their secrets.
    #[must_use]
    pub fn bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
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
                    clean.extend(BEGIN);
                    clean.extend(name.as_bytes());
                    clean.push(b']');
                    at += length;
                }
            }
        }
        clean.map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// What a text consists of.
    fn parts<'r>(&'r self, text: &'r [u8]) -> impl Iterator<Item = Part<'r>> {
        let mut at = 0;
        // A token may begin at the beginning, and behind a mark.
        let mut marked = true;
        std::iter::from_fn(move || {
            let begin = at;
            while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
                let before = at.checked_sub(1).and_then(|it| text.get(it));
                let is_free = marked || before.is_none_or(|it| !is_wordy(*it));
                let mark = self.mark(rest);
                if mark.is_none()
                    && let Some((name, length)) = self.secret(rest, is_free)
                {
                    if at > begin {
                        // The secret is met again as the next part.
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

    /// A value without the secrets of its texts and names.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text).into_owned()),
            Value::Array(items) => items.iter().map(|it| self.value(it)).collect(),
            Value::Object(fields) => {
                let mut clean = Map::new();
                for (name, value) in fields {
                    let mut name = self.text(name).into_owned();
                    // Two names may come to the same.
                    while clean.contains_key(&name) {
                        name.push('\'');
                    }
                    clean.insert(name, self.value(value));
                }
                Value::Object(clean)
            }
            other => other.clone(),
        }
    }

    /// The name of the first secret in a text, if there is one.
    #[must_use]
    pub fn finds(&self, text: &[u8]) -> Option<String> {
        self.parts(text).find_map(|part| match part {
            Part::Secret(name, _) => Some(name.to_owned()),
            Part::Plain(_) => None,
        })
    }

    /// The name of the first secret in a value.
    pub(crate) fn finds_in(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.finds(text.as_bytes()),
            Value::Array(items) => items.iter().find_map(|it| self.finds_in(it)),
            Value::Object(fields) => fields
                .iter()
                .find_map(|(name, it)| self.finds(name.as_bytes()).or_else(|| self.finds_in(it))),
            _ => None,
        }
    }

    /// Whether JSON may have a secret in one of its texts. Escapes hide where a word begins, so that this says yes too often.
    pub(crate) fn suspects(&self, json: &[u8]) -> bool {
        (0..json.len()).any(|at| {
            let rest = json.get(at..).unwrap_or_default();
            self.secret(rest, true).is_some()
        })
    }

    /// The length of the mark that a text begins with.
    fn mark(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(BEGIN)?;
        let length = rest.iter().position(|it| *it == b']')?;
        let name = std::str::from_utf8(rest.get(..length)?).ok()?;
        let is_known = secret::NAMES.contains(&name) || self.names().any(|it| it == name);
        is_known.then_some(BEGIN.len() + length + 1)
    }

    /// The secret that a text begins with: its name and its length.
    fn secret(&self, text: &[u8], is_free: bool) -> Option<(&str, usize)> {
        let byte = *text.first()?;
        let secrets = if self.begins(byte) {
            self.secrets.as_slice()
        } else {
            &[]
        };
        let known = secrets.iter().find(|it| {
            let length = it.value.len();
            let overlaps =
                || (1..length).any(|at| text.get(at..).is_some_and(|it| self.mark(it).is_some()));
            text.starts_with(&it.value) && !overlaps()
        });
        known
            .map(|it| (it.name.as_str(), it.value.len()))
            .or_else(|| secret::token(text, is_free))
    }
}

/// Whether a variable of that name is secret.
fn is_marked(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ENDINGS.iter().any(|ending| {
        name.strip_suffix(ending)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}

/// Whether a value can be told from words.
fn is_secret(value: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_lowercase() || matches!(it, '_' | '-' | '.');
    let least = if value.chars().all(is_plain) {
        LEAST_OF_WORD
    } else {
        LEAST
    };
    value.len() >= least && !contains(value.as_bytes(), BEGIN)
}

const fn is_of_name(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.')
}

const fn is_wordy(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|it| it == part)
}
