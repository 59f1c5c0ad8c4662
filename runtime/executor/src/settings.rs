//! The table `[executor]` of a project's configuration.
//!
//! It says who may work, by which models, and within which limits.
//!
//! A spec says by whom a state is worked on; what stands here says what that is, and what isn't here doesn't work. So no
//! spec brings a program along, an address that prompts are sent to, or the name of a variable with a key.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use statemark_runs::store::MAX_HOLD;

/// The time of a lease, unless the configuration says another.
///
/// Why: an executor that has gone is replaced before anybody gets up for it, and one on a slow machine keeps its run.
const LEASE: Duration = Duration::from_secs(30);

/// The shortest time of a lease. Why: it is renewed three times in it.
const MIN_LEASE: Duration = Duration::from_millis(300);

/// The longest time that settings say. Why: none holds a run longer, and a clock can be moved on by it.
const LONGEST: Duration = Duration::from_millis(MAX_HOLD);

/// The time after which an attempt ends, unless something says another.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The attempts in a visit of a state, unless something says another number.
const MAX_ATTEMPTS: u64 = 3;

/// The answers of a model in an attempt, unless the configuration says another number.
///
/// Why: an agent that needs more has lost its way.
const MAX_TURNS: u64 = 50;

/// The first wait before a provider is asked again; each further one is twice as long.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// The attempts that a process makes at once, unless something says another number.
const PARALLEL: usize = 2;

/// The settings of executors.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The executor of states that name none; without one they wait for an agent that connects by itself.
    pub default: Option<String>,
    /// The model of states that name none.
    pub model: Option<String>,
    /// By the beginning of models' names: where such models are.
    pub models: BTreeMap<String, Provider>,
    /// Programs that work in states, by the name that states give.
    pub commands: BTreeMap<String, Command>,
    /// Claude Code's command line.
    pub claude: Option<Client>,
    /// Codex' command line.
    pub codex: Option<Client>,
    /// Gemini CLI.
    pub gemini: Option<Client>,
    /// OpenCode's command line.
    pub opencode: Option<Client>,
    /// True if the project's Codex asks our hook. It isn't a key: whoever reads the configuration looks.
    #[serde(skip)]
    pub codex_has_hook: bool,
    /// The time of a lease.
    pub lease: Option<String>,
    /// The attempts in a visit of a state.
    pub max_attempts: Option<u64>,
    /// The answers of a model in an attempt.
    pub max_turns: Option<u64>,
    /// The size of a prompt. Unit: tokens.
    pub prompt_tokens: Option<usize>,
    /// The time of an attempt.
    pub attempt_timeout: Option<String>,
    /// The tokens that a run and those below it may use.
    pub token_budget: Option<u64>,
    /// The money that a run and those below it may use. Unit: US dollars.
    pub cost_budget: Option<f64>,
    /// The first wait before a provider is asked again.
    pub retry_wait: Option<String>,
    /// The attempts that a process makes at once, over all runs.
    pub parallel: Option<usize>,
    /// The time at which the files of the project are saved.
    pub checkpoints: Checkpoints,
}

/// The time at which the files of a project are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoints {
    /// Never by an executor.
    #[default]
    None,
    /// Before each attempt.
    Visit,
}

/// A place where models are.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The address that `/chat/completions` follows.
    pub url: String,
    /// The name of the variable of the environment that has the key, if one is needed.
    pub key: Option<String>,
    /// The way in which models call tools.
    #[serde(default)]
    pub tools: ToolStyle,
    /// The price, if its use has one.
    pub price: Option<Price>,
    /// True if the beginning is a part of the models' names there: `gpt-5`, and not `ollama:gemma`.
    #[serde(default)]
    pub keep_prefix: bool,
}

impl Provider {
    /// Returns scheme, host and port of its address.
    #[must_use]
    pub fn server(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        format!("{scheme}://{host}")
    }

    /// Reports whether its key goes to nobody but whose it is, by what everybody knows.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let known = known_providers().into_iter();
        let mut known = known.map(|(_, provider)| provider);
        known.any(|it| it.key == self.key && it.server() == self.server())
    }
}

/// The way in which a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStyle {
    /// As the interface has it; a provider that says it can't is asked by envelopes.
    #[default]
    Native,
    /// By an object whose JSON Schema the provider holds the model to: for small models.
    Envelope,
}

/// The price of a model. Unit: US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of what it reads.
    pub input: f64,
    /// Of what it writes.
    pub output: f64,
}

impl Price {
    /// Returns the cost of tokens. Unit: millionths of a US dollar.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float is cut to the range of the integer, and no count of tokens is near 2^53"
    )]
    pub fn cost(&self, input: u64, output: u64) -> u64 {
        (self.input * input as f64 + self.output * output as f64).round() as u64
    }
}

/// A program that works in states.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The event of a program that exits with 0 and has sent none itself.
    pub success: Option<String>,
    /// The event of a program that exits otherwise; without one that is a failure of the attempt.
    pub failure: Option<String>,
    /// Variables of the environment with secrets that it gets nevertheless.
    #[serde(default)]
    pub inherit: Vec<String>,
    /// True for a program that may do what you may, such as using the store.
    ///
    /// Any other one is confined as checks are.
    #[serde(default)]
    pub open: bool,
}

/// The command line of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Client {
    /// The program and arguments before ours, instead of the client's own name.
    pub command: Vec<String>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Variables of the environment with secrets that it gets nevertheless, such as its key.
    pub inherit: Vec<String>,
}

/// A setting that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`executor.{key}` {what}")]
pub struct InvalidSetting {
    /// The key below `executor`.
    pub key: String,
    /// The fault, as a predicate of the key.
    pub what: String,
}

impl Settings {
    /// Checks what the types of the values don't say.
    ///
    /// # Errors
    ///
    /// The first value that can't be used.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let invalid = |key: String, what: &str| InvalidSetting {
            key,
            what: what.to_owned(),
        };
        for (key, value) in [
            ("lease", &self.lease),
            ("attempt_timeout", &self.attempt_timeout),
            ("retry_wait", &self.retry_wait),
        ] {
            let parsed = value.as_ref().map(|text| humantime::parse_duration(text));
            let what = match parsed {
                Some(Err(_)) => "is no time such as `30s` or `10m`",
                Some(Ok(time)) if time > LONGEST => "is longer than 30 days",
                _ => continue,
            };
            return Err(invalid(key.to_owned(), what));
        }
        if self.attempt_timeout.is_some() && self.attempt_timeout().is_zero() {
            let what = "leaves an attempt no time; `10m`, for example, does";
            return Err(invalid("attempt_timeout".to_owned(), what));
        }
        for (prefix, provider) in &self.models {
            let is_web = ["http://", "https://"];
            if !is_web.iter().any(|it| provider.url.starts_with(it)) {
                let key = format!("models.{prefix}.url");
                return Err(invalid(
                    key,
                    "begins neither with `http://` nor with `https://`",
                ));
            }
        }
        for (name, command) in &self.commands {
            if command.command.is_empty() {
                return Err(invalid(
                    format!("commands.{name}.command"),
                    "names no program",
                ));
            }
            if OWN.contains(&name.as_str()) {
                let what = "has the name of an executor that there is already";
                return Err(invalid(format!("commands.{name}"), what));
            }
        }
        Ok(())
    }

    /// Returns the time of a lease.
    #[must_use]
    pub fn lease(&self) -> Duration {
        duration(self.lease.as_ref(), LEASE).max(MIN_LEASE)
    }

    /// Returns the first wait before a provider is asked again.
    #[must_use]
    pub fn retry_wait(&self) -> Duration {
        duration(self.retry_wait.as_ref(), RETRY_WAIT)
    }

    /// Returns the time of an attempt, where no state says another.
    #[must_use]
    pub fn attempt_timeout(&self) -> Duration {
        duration(self.attempt_timeout.as_ref(), ATTEMPT_TIMEOUT)
    }

    /// Returns the attempts in a visit, where no state says another number.
    #[must_use]
    pub fn max_attempts(&self) -> u64 {
        self.max_attempts.unwrap_or(MAX_ATTEMPTS).max(1)
    }

    /// Returns the answers of a model in an attempt.
    #[must_use]
    pub fn max_turns(&self) -> u64 {
        self.max_turns.unwrap_or(MAX_TURNS).max(1)
    }

    /// Returns the attempts that a process makes at once.
    #[must_use]
    pub fn parallel(&self) -> usize {
        self.parallel.unwrap_or(PARALLEL).max(1)
    }

    /// Finds the place of a model, and its name there: the longest beginning counts.
    #[must_use]
    pub fn provider(&self, model: &str) -> Option<(Provider, String)> {
        let own = self.models.iter();
        let own = own.map(|(prefix, provider)| (prefix.clone(), provider.clone()));
        let known = known_providers().into_iter();
        // What the configuration says of a beginning comes first.
        let all = known
            .chain(own)
            .filter(|(prefix, _)| model.starts_with(prefix.as_str()));
        let (prefix, provider) = all.max_by_key(|(prefix, _)| prefix.len())?;
        let name = if provider.keep_prefix {
            model
        } else {
            let rest = model.strip_prefix(prefix.as_str()).unwrap_or(model);
            rest.strip_prefix([':', '/']).unwrap_or(rest)
        };
        Some((provider, name.to_owned()))
    }
}

/// Converts US dollars into millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cut to the range of the integer"
)]
pub(crate) fn millionths(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

/// The executors that are no program's names.
pub(crate) const OWN: [&str; 6] = ["model", "claude", "codex", "gemini", "opencode", "none"];

/// Returns the places of models that everybody knows. A key goes to nobody but whose it is.
fn known_providers() -> [(String, Provider); 3] {
    let provider = |url: &str, key: Option<&str>, keep_prefix| Provider {
        url: url.to_owned(),
        key: key.map(str::to_owned),
        tools: ToolStyle::Native,
        price: None,
        keep_prefix,
    };
    [
        (
            "ollama:".to_owned(),
            provider("http://127.0.0.1:11434/v1", None, false),
        ),
        (
            "gpt-".to_owned(),
            provider("https://api.openai.com/v1", Some("OPENAI_API_KEY"), true),
        ),
        (
            "openrouter:".to_owned(),
            provider(
                "https://openrouter.ai/api/v1",
                Some("OPENROUTER_API_KEY"),
                false,
            ),
        ),
    ]
}

/// Reads a time that was checked.
pub(crate) fn duration(text: Option<&String>, default: Duration) -> Duration {
    let parsed = text.and_then(|text| humantime::parse_duration(text).ok());
    parsed.unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_where_the_longest_beginning_of_its_name_says() {
        let text = r#"{"models": {
            "ollama:": {"url": "http://10.0.0.1/v1"},
            "gpt-5.6": {"url": "https://proxy.example/v1", "keep_prefix": true},
            "local": {"url": "http://127.0.0.1:1/v1"}
        }}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        for (model, url, name) in [
            ("ollama:gemma4:31b", "http://10.0.0.1/v1", "gemma4:31b"),
            ("gpt-5.6-terra", "https://proxy.example/v1", "gpt-5.6-terra"),
            ("gpt-4", "https://api.openai.com/v1", "gpt-4"),
            ("local/smol", "http://127.0.0.1:1/v1", "smol"),
        ] {
            let (provider, there) = settings.provider(model).unwrap();
            assert_eq!(
                (provider.url.as_str(), there.as_str()),
                (url, name),
                "{model}"
            );
        }
        assert_eq!(settings.provider("claude-5"), None);
    }

    #[test]
    fn what_types_dont_say_is_checked() {
        for (text, fault) in [
            ("{}", ""),
            (
                r#"{"lease": "soon"}"#,
                "`executor.lease` is no time such as `30s` or `10m`",
            ),
            (
                r#"{"attempt_timeout": "0s"}"#,
                "`executor.attempt_timeout` leaves an attempt no time; `10m`, for example, does",
            ),
            (
                r#"{"models": {"a": {"url": "ftp://x"}}}"#,
                "`executor.models.a.url` begins neither with `http://` nor with `https://`",
            ),
            (
                r#"{"commands": {"a": {"command": []}}}"#,
                "`executor.commands.a.command` names no program",
            ),
            (
                r#"{"commands": {"claude": {"command": ["x"]}}}"#,
                "`executor.commands.claude` has the name of an executor that there is already",
            ),
        ] {
            let settings: Settings = serde_json::from_str(text).unwrap();
            let found = settings.check().err().map(|it| it.to_string());
            assert_eq!(found.unwrap_or_default(), fault, "{text}");
        }
    }

    #[test]
    fn a_cost_is_in_millionths() {
        let price = Price {
            input: 1.25,
            output: 10.0,
        };
        assert_eq!(price.cost(1_000, 200), 3_250);
        assert_eq!(price.cost(u64::MAX, 0), u64::MAX);
    }
}
