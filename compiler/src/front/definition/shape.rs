//! The vocabulary of the tables in [`keys`](super::keys): the values that are allowed.

use jsonc_parser::ast::Value;
use statemark_text::list::join;

/// A kind of value.
#[derive(Debug)]
pub(super) enum Want {
    /// Anything.
    Any,
    /// A text.
    Text,
    /// A text that names something, so that it isn't empty.
    Name,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// A whole number of at least this.
    Whole(u64),
    /// A duration above zero with its unit, and the longest one, if there is a limit. Unit: seconds.
    Duration(Option<u64>),
    /// A number above zero that counts seconds, up to this.
    Seconds(u64),
    /// `null`.
    Null,
    /// A program and its arguments: a list of texts, where others write one line.
    Command,
    /// A list of these.
    List(&'static Want),
    /// An object with any keys, whose values are these.
    Map(&'static Want),
    /// An object with these keys.
    Object(&'static Shape),
    /// The first of these whose kind of JSON the value is.
    Either(&'static [Want]),
}

/// The keys that a kind of object has.
#[derive(Debug)]
pub(super) struct Shape {
    /// The kind of object, such as `a state`.
    pub(super) what: &'static str,
    /// The place of such objects in a definition, as Markdown.
    pub(super) place: &'static str,
    /// Its keys.
    pub(super) keys: &'static [Key],
    /// True if other keys are allowed.
    pub(super) open: bool,
}

/// A key.
#[derive(Debug)]
pub(super) struct Key {
    /// Its spelling.
    pub(super) name: &'static str,
    /// The kind of its value.
    pub(super) want: Want,
    /// The role of the key.
    pub(super) rule: Rule,
    /// The words of the reference; empty for an old spelling.
    pub(super) doc: Doc,
}

/// The words of the reference about a key.
#[derive(Debug)]
pub(super) struct Doc {
    /// The meaning, as Markdown: no capital letter, no full stop.
    pub(super) meaning: &'static str,
    /// The default, as Markdown; empty where there is none or it means nothing.
    pub(super) default: &'static str,
    /// The key with a value, and with other keys that the value needs: properties of a JSON object.
    pub(super) example: &'static str,
}

/// The role of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The syntax tree has a field for it.
    Typed,
    /// A key with a field, without which its object is meaningless.
    Required,
    /// A key that goes into `meta`, for hosts.
    Host,
    /// An old spelling of that key.
    Old(&'static str),
}

impl Shape {
    /// Returns the key of that name.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns the names of the keys, without old spellings.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(|key| !matches!(key.rule, Rule::Old(_)))
            .map(|key| key.name)
    }
}

impl Key {
    /// Returns the key's canonical name.
    pub(super) fn canonical(&self) -> &'static str {
        match self.rule {
            Rule::Old(now) => now,
            Rule::Typed | Rule::Required | Rule::Host => self.name,
        }
    }
}

impl Want {
    /// Returns true if the value is of the wanted kind of JSON; values inside it aren't examined.
    pub(super) fn accepts(&self, value: &Value<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Text | Self::Name | Self::Choice(_) | Self::Duration(_) => {
                matches!(value, Value::StringLit(_))
            }
            Self::Flag => matches!(value, Value::BooleanLit(_)),
            Self::Number | Self::Positive | Self::Whole(_) | Self::Seconds(_) => {
                matches!(value, Value::NumberLit(_))
            }
            Self::Null => matches!(value, Value::NullKeyword(_)),
            Self::Command | Self::List(_) => matches!(value, Value::Array(_)),
            Self::Map(_) | Self::Object(_) => matches!(value, Value::Object(_)),
            Self::Either(wants) => wants.iter().any(|want| want.accepts(value)),
        }
    }

    /// Describes what is wanted.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Any => "a value".to_owned(),
            Self::Text | Self::Name => "a string".to_owned(),
            Self::Choice(choices) => format!("one of {}", quoted(choices)),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Number | Self::Positive => "a number".to_owned(),
            Self::Whole(_) => "a whole number".to_owned(),
            Self::Duration(_) => "a duration such as `\"10m\"`".to_owned(),
            Self::Seconds(_) => "a number of seconds".to_owned(),
            Self::Null => "`null`".to_owned(),
            Self::Command => "a list of words".to_owned(),
            Self::List(Self::Text | Self::Name) => "a list of names".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) | Self::Object(_) => "an object".to_owned(),
            Self::Either(wants) => {
                let words: Vec<_> = wants.iter().map(Self::words).collect();
                join(&words, "or")
            }
        }
    }
}

/// Texts in double quotes, as they are in JSON: `"a"`, `"b"`.
pub(super) fn quoted(texts: &[&str]) -> String {
    let quoted: Vec<_> = texts.iter().map(|text| format!("`\"{text}\"`")).collect();
    quoted.join(", ")
}
