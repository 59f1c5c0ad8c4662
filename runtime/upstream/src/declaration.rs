//! Declarations of servers, in `statemark.toml` or in a workflow's definition.
//!
//! A declaration names variables of the environment and never has their values, so that no secret is in a repository.

use std::collections::BTreeMap;
use std::time::Duration;

use ::http::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use statemark_runs::Hash;
use statemark_runs::check::{MAX_TIMEOUT, Timeout};
use statemark_runs::policy::Pattern;

use crate::http;
use crate::names::{self, BadName};

/// The time in which a server has to answer for the first time.
///
/// Why: one that a package manager fetches first takes some tens of seconds.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(60);

/// The time in which a tool has to answer. Why: as long as most clients wait for one of ours.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Largest answer of a tool. Unit: bytes. Why: some 25,000 tokens, which is what clients take.
const DEFAULT_MAX_RESULT: usize = 100_000;

/// Bounds of `max_result`. Unit: bytes. Why: a mark of a cut has room, and a message isn't larger.
const MAX_RESULT: std::ops::RangeInclusive<usize> = 1_024..=8 << 20;

/// The beginning of the names of our own variables, such as a caller's token, which no server gets.
const OWN_VARIABLES: &str = "STATEMARK_";

/// A server, as it is declared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The program, alone or with its arguments; no shell reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Words>,
    /// Further arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The folder that the program runs in, relative to the project's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The address of a server over HTTP, instead of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Variables that the program gets: names, or names with values in which `${NAME}` is a variable.
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    pub env: Variables,
    /// Headers of requests over HTTP. `${NAME}` in a value is a variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The beginning of its tools' names, instead of its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The only tools that are offered, as patterns of the names that the server has for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The time in which it has to answer for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_timeout: Option<Timeout>,
    /// The time in which a tool has to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
    /// Largest answer of a tool, of which the rest is cut off. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_result: Option<usize>,
    /// The fate of tools that a known server didn't have before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub new_tools: NewTools,
    /// True if the server is believed when it says that a tool changes nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trust_hints: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A program, alone or with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Words {
    /// The program.
    Program(String),
    /// The program and its arguments.
    All(Vec<String>),
}

/// The variables that a program gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Variables {
    /// Variables of our own environment, by their names.
    Names(Vec<String>),
    /// Values by name. `${NAME}` in a value is a variable of our own environment.
    Values(BTreeMap<String, String>),
}

impl Default for Variables {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

impl Variables {
    fn is_empty(&self) -> bool {
        match self {
            Self::Names(names) => names.is_empty(),
            Self::Values(values) => values.is_empty(),
        }
    }
}

/// The fate of tools that a server has which it didn't have when its tools were pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewTools {
    /// Quarantine until a person accepts them: nobody has seen them.
    #[default]
    Quarantine,
    /// A pin when they are first seen, as the first ones got it.
    Pin,
}

/// The reasons why a declaration can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDeclaration {
    /// A declaration of another shape.
    #[error("{cause}")]
    Malformed {
        /// The defect.
        cause: String,
    },
    /// Neither a program nor an address, or both.
    #[error("it needs `command`, a program, or `url`, an address, and not both")]
    NoServer,
    /// A key that belongs to the other kind of server.
    #[error("`{key}` is for servers with a `{other}`")]
    OtherKind {
        /// The key.
        key: &'static str,
        /// The key of that kind.
        other: &'static str,
    },
    /// The address isn't one of HTTP.
    #[error("its `url` is `{url}`: it begins with `https://`, or with `http://` on this machine")]
    BadUrl {
        /// The address.
        url: String,
    },
    /// A header is none, or belongs to the protocol.
    #[error("`headers` has `{name}`, which is no header, or one that the protocol has itself")]
    BadHeader {
        /// The header.
        name: String,
    },
    /// A value refers to a variable without end.
    #[error(
        "`{key}` has `${{` without a `}}`: write `${{NAME}}` for a variable of the environment"
    )]
    OpenVariable {
        /// The key of the value.
        key: String,
    },
    /// A variable is one that no server gets.
    #[error("`{name}` is a variable of ours, which no server gets")]
    OwnVariable {
        /// The variable.
        name: String,
    },
    /// A time is no duration, or too long.
    #[error(
        "its `{key}` is `{time}`: give seconds, or a length such as `90s` or `10m`, up to a day"
    )]
    BadTime {
        /// The key.
        key: &'static str,
        /// The time.
        time: String,
    },
    /// The limit of answers is none.
    #[error("its `max_result` is {size}: give {} to {} bytes", MAX_RESULT.start(), MAX_RESULT.end())]
    BadSize {
        /// The limit.
        size: usize,
    },
    /// A pattern of `tools` is none.
    #[error("its `tools`: {cause}")]
    BadPattern {
        /// The defect.
        cause: String,
    },
    /// The prefix can't begin names of tools.
    #[error("its `prefix`: {0}")]
    BadPrefix(BadName),
}

impl Declaration {
    /// Reads the declaration of a workflow's definition.
    ///
    /// # Errors
    ///
    /// It is malformed.
    pub fn parse(value: &Value) -> Result<Self, BadDeclaration> {
        let declared = Self::deserialize(value).map_err(|error| BadDeclaration::Malformed {
            cause: error.to_string(),
        })?;
        declared.check()?;
        Ok(declared)
    }

    /// Checks that it can be used, whatever the environment has.
    ///
    /// # Errors
    ///
    /// Its first defect.
    pub fn check(&self) -> Result<(), BadDeclaration> {
        match (self.program(), &self.url) {
            (Some(_), None) if self.headers.is_empty() => {}
            (Some(_), None) => return Err(other_kind("headers", "url")),
            (None, Some(url)) => self.check_http(url)?,
            _ => return Err(BadDeclaration::NoServer),
        }
        for (name, value) in self.variables() {
            if name.starts_with(OWN_VARIABLES) {
                let name = name.to_owned();
                return Err(BadDeclaration::OwnVariable { name });
            }
            check_value(&format!("env.{name}"), value.unwrap_or_default())?;
        }
        for (name, value) in &self.headers {
            let is_valid = HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !is_valid || http::RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
                let name = name.clone();
                return Err(BadDeclaration::BadHeader { name });
            }
            check_value(&format!("headers.{name}"), value)?;
        }
        for (key, time) in [
            ("start_timeout", &self.start_timeout),
            ("timeout", &self.timeout),
        ] {
            if let Some(time) = time
                && time.duration().is_none()
            {
                let time = time.to_string();
                return Err(BadDeclaration::BadTime { key, time });
            }
        }
        match self.max_result {
            Some(size) if !MAX_RESULT.contains(&size) => {
                return Err(BadDeclaration::BadSize { size });
            }
            _ => {}
        }
        if let Some(prefix) = &self.prefix {
            names::check_prefix(prefix).map_err(BadDeclaration::BadPrefix)?;
        }
        self.patterns().map(drop)
    }

    /// Checks the same, and that tools' names can begin with the name of the server.
    ///
    /// # Errors
    ///
    /// Its first defect.
    pub fn check_named(&self, name: &str) -> Result<(), BadDeclaration> {
        names::check_prefix(name).map_err(BadDeclaration::BadPrefix)?;
        self.check()
    }

    fn check_http(&self, url: &str) -> Result<(), BadDeclaration> {
        if !self.args.is_empty() {
            return Err(other_kind("args", "command"));
        }
        if !self.env.is_empty() {
            return Err(other_kind("env", "command"));
        }
        if self.cwd.is_some() {
            return Err(other_kind("cwd", "command"));
        }
        let is_local = |rest: &str| {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = match authority.rsplit_once(':') {
                Some((host, port)) if port.chars().all(|it| it.is_ascii_digit()) => host,
                _ => authority,
            };
            ["localhost", "127.0.0.1", "[::1]"].contains(&host)
        };
        // A header's secret isn't sent in the clear.
        let is_usable = url
            .strip_prefix("https://")
            .is_some_and(|rest| !rest.is_empty())
            || url.strip_prefix("http://").is_some_and(is_local);
        if is_usable && !url.contains('@') {
            return Ok(());
        }
        let url = url.to_owned();
        Err(BadDeclaration::BadUrl { url })
    }

    /// Returns the hash by which a person's acceptance knows it.
    #[must_use]
    pub fn hash(&self) -> Hash {
        // INVARIANT: a declaration is plain data.
        Hash::digest(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// Returns it as JSON, as a person decides on it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the program, if the server is one.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let program = match self.command.as_ref()? {
            Words::Program(program) => program,
            Words::All(words) => words.first()?,
        };
        (!program.is_empty()).then_some(program)
    }

    /// Returns the arguments of the program.
    pub fn arguments(&self) -> impl Iterator<Item = &String> {
        let own = match &self.command {
            Some(Words::All(words)) => words.get(1..).unwrap_or_default(),
            _ => &[],
        };
        own.iter().chain(&self.args)
    }

    /// Returns the variables that the program gets, each with the value that is declared, if one is.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let (names, values) = match &self.env {
            Variables::Names(names) => (Some(names), None),
            Variables::Values(values) => (None, Some(values)),
        };
        let names = names.into_iter().flatten();
        let values = values.into_iter().flatten();
        let values = values.map(|(name, value)| (name.as_str(), Some(value.as_str())));
        names.map(|name| (name.as_str(), None)).chain(values)
    }

    /// Returns the patterns of the tools that are offered, if it limits them.
    pub(crate) fn patterns(&self) -> Result<Option<Vec<Pattern>>, BadDeclaration> {
        let Some(tools) = &self.tools else {
            return Ok(None);
        };
        let patterns = tools.iter().map(|text| Pattern::parse(text));
        let patterns = patterns.collect::<Result<Vec<Pattern>, String>>();
        let patterns = patterns.map_err(|cause| BadDeclaration::BadPattern { cause })?;
        Ok(Some(patterns))
    }

    pub(crate) fn start_limit(&self) -> Duration {
        limit(self.start_timeout.as_ref(), DEFAULT_START_TIMEOUT)
    }

    pub(crate) fn call_limit(&self) -> Duration {
        limit(self.timeout.as_ref(), DEFAULT_TIMEOUT)
    }

    pub(crate) fn max_result(&self) -> usize {
        self.max_result.unwrap_or(DEFAULT_MAX_RESULT)
    }
}

/// A server that a workflow's definition asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its declaration; none if the project has it.
    pub declaration: Option<Declaration>,
}

impl Wanted {
    /// Reads the `upstream_servers` of a definition.
    ///
    /// They are a list of names and of declarations with a `name`, or declarations by name.
    ///
    /// # Errors
    ///
    /// The first defect, with the name of the server.
    pub fn parse_all(value: &Value) -> Result<Vec<Self>, (String, BadDeclaration)> {
        let malformed = |cause: &str| BadDeclaration::Malformed {
            cause: cause.to_owned(),
        };
        let one = |name: String, value: &Value| {
            let is_name_alone = value.as_object().is_some_and(Map::is_empty) || value.is_null();
            let declaration = (!is_name_alone)
                .then(|| Declaration::parse(value))
                .transpose();
            match declaration {
                Ok(declaration) => Ok(Self { name, declaration }),
                Err(error) => Err((name, error)),
            }
        };
        match value {
            Value::Object(all) => all
                .iter()
                .map(|(name, value)| one(name.clone(), value))
                .collect(),
            Value::Array(all) => {
                let each = all.iter().map(|value| match value {
                    Value::String(name) => one(name.clone(), &Value::Null),
                    Value::Object(fields) => {
                        let mut fields = fields.clone();
                        match fields.remove("name") {
                            Some(Value::String(name)) => one(name, &Value::Object(fields)),
                            _ => Err((String::new(), malformed("it needs a `name`"))),
                        }
                    }
                    _ => Err((
                        String::new(),
                        malformed("it is a name, or an object with a `name`"),
                    )),
                });
                each.collect()
            }
            _ => Err((
                String::new(),
                malformed("`upstream_servers` is a list or an object"),
            )),
        }
    }
}

fn limit(declared: Option<&Timeout>, default: Duration) -> Duration {
    let declared = declared.and_then(Timeout::duration);
    declared.unwrap_or(default).min(MAX_TIMEOUT)
}

fn other_kind(key: &'static str, other: &'static str) -> BadDeclaration {
    BadDeclaration::OtherKind { key, other }
}

fn check_value(key: &str, value: &str) -> Result<(), BadDeclaration> {
    match replace_variables(value, |_| Some(String::new())) {
        Err(Unreplaced::Open) => Err(BadDeclaration::OpenVariable {
            key: key.to_owned(),
        }),
        _ => named_variables(value).try_for_each(|name| match name.starts_with(OWN_VARIABLES) {
            true => Err(BadDeclaration::OwnVariable {
                name: name.to_owned(),
            }),
            false => Ok(()),
        }),
    }
}

fn named_variables(value: &str) -> impl Iterator<Item = &str> {
    let parts = value.split("${").skip(1);
    parts.filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

/// The reason why a value can't be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreplaced {
    /// A `${` without an end.
    Open,
    /// A variable isn't set.
    Unset(String),
}

/// Replaces `${NAME}` in a value by the variable's value.
pub(crate) fn replace_variables(
    value: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Result<String, Unreplaced> {
    let mut parts = value.split("${");
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').ok_or(Unreplaced::Open)?;
        replaced += &read(name).ok_or_else(|| Unreplaced::Unset(name.to_owned()))?;
        replaced += rest;
    }
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn declarations_that_say_nothing_sensible_are_refused() {
        for (declared, defect) in [
            (json!({}), "needs `command`"),
            (json!({"command": []}), "needs `command`"),
            (
                json!({"command": "x", "url": "https://a"}),
                "needs `command`",
            ),
            (
                json!({"command": "x", "shell": true}),
                "unknown field `shell`",
            ),
            (
                json!({"command": "x", "headers": {"a": "b"}}),
                "`headers` is for servers with a `url`",
            ),
            (
                json!({"url": "https://a/mcp", "args": ["x"]}),
                "`args` is for servers",
            ),
            (
                json!({"url": "https://a/mcp", "env": ["X"]}),
                "`env` is for servers",
            ),
            (
                json!({"url": "http://example.org/mcp"}),
                "begins with `https://`",
            ),
            (
                json!({"url": "http://localhost.example.org/mcp"}),
                "begins with `https://`",
            ),
            (
                json!({"url": "http://127.0.0.1@example.org/mcp"}),
                "begins with `https://`",
            ),
            (
                json!({"url": "file:///etc/passwd"}),
                "begins with `https://`",
            ),
            (
                json!({"command": "x", "env": ["STATEMARK_TOKEN"]}),
                "`STATEMARK_TOKEN`",
            ),
            (
                json!({"command": "x", "env": {"A": "${STATEMARK_TOKEN}"}}),
                "`STATEMARK_TOKEN`",
            ),
            (
                json!({"command": "x", "env": {"A": "${B"}}),
                "`env.A` has `${`",
            ),
            (
                json!({"url": "https://a", "headers": {"A": "${STATEMARK_X}"}}),
                "`STATEMARK_X`",
            ),
            (
                json!({"url": "https://a", "headers": {"Host": "b"}}),
                "has `Host`",
            ),
            (
                json!({"url": "https://a", "headers": {"a b": "b"}}),
                "has `a b`",
            ),
            (
                json!({"command": "x", "timeout": "soon"}),
                "`timeout` is `soon`",
            ),
            (
                json!({"command": "x", "start_timeout": 0}),
                "`start_timeout` is `0`",
            ),
            (
                json!({"command": "x", "max_result": 1}),
                "`max_result` is 1",
            ),
            (json!({"command": "x", "prefix": "a__b"}), "`prefix`"),
            (
                json!({"command": "x", "tools": ["a(b"]}),
                "`a(b` doesn't end with `)`",
            ),
        ] {
            let error = Declaration::parse(&declared).unwrap_err().to_string();
            assert!(error.contains(defect), "{declared}: {error}");
        }
    }

    #[test]
    fn workflows_ask_for_servers_by_name_or_declare_them() {
        let program = |name: &str, command: &str| Wanted {
            name: name.to_owned(),
            declaration: Some(Declaration::parse(&json!({"command": command})).unwrap()),
        };
        let name = |name: &str| Wanted {
            name: name.to_owned(),
            declaration: None,
        };
        for (value, wanted) in [
            (
                json!(["a", {"name": "b"}, {"name": "c", "command": "x"}]),
                vec![name("a"), name("b"), program("c", "x")],
            ),
            (
                json!({"a": {}, "b": {"command": "y"}}),
                vec![name("a"), program("b", "y")],
            ),
            (json!([]), vec![]),
        ] {
            assert_eq!(Wanted::parse_all(&value).unwrap(), wanted, "{value}");
        }
        for value in [
            json!("a"),
            json!([1]),
            json!([{"command": "x"}]),
            json!([{"name": "a", "shell": 1}]),
        ] {
            assert!(Wanted::parse_all(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_program_may_stand_alone_or_with_its_arguments() {
        for (declared, words) in [
            (json!({"command": "npx", "args": ["-y", "x"]}), "npx -y x"),
            (json!({"command": ["npx", "-y"], "args": ["x"]}), "npx -y x"),
            (json!({"command": ["my server"]}), "my server"),
        ] {
            let declared = Declaration::parse(&declared).unwrap();
            let mut all = vec![declared.program().unwrap()];
            all.extend(declared.arguments().map(String::as_str));
            assert_eq!(all.join(" "), words);
        }
    }

    #[test]
    fn values_come_from_the_environment() {
        let read = |name: &str| (name == "A").then(|| "1".to_owned());
        assert_eq!(replace_variables("x${A}y${A}", read), Ok("x1y1".to_owned()));
        assert_eq!(
            replace_variables("${B}", read),
            Err(Unreplaced::Unset("B".to_owned()))
        );
        assert_eq!(replace_variables("${A", read), Err(Unreplaced::Open));
    }

    #[test]
    fn another_declaration_has_another_hash() {
        let declared = json!({"command": "x", "env": ["A"]});
        let one = Declaration::parse(&declared).unwrap();
        let same = Declaration::parse(&json!({"env": ["A"], "command": "x"})).unwrap();
        assert_eq!(one.hash(), same.hash());
        for other in [
            json!({"command": "y", "env": ["A"]}),
            json!({"command": "x", "env": ["B"]}),
            json!({"command": "x", "env": ["A"], "args": ["-c"]}),
            json!({"command": "x", "env": ["A"], "cwd": "sub"}),
            json!({"command": "x", "env": ["A"], "trust_hints": true}),
            json!({"command": "x", "env": ["A"], "new_tools": "pin"}),
        ] {
            assert_ne!(
                one.hash(),
                Declaration::parse(&other).unwrap().hash(),
                "{other}"
            );
        }
    }
}
