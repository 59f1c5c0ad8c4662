//! Flags that several commands share, and readers of their values.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::de::DeserializeOwned;
use serde_json::Value;
use statemark_runs::{Claims, RunError};
use statemark_text::json::describe_repeated_key;

use crate::failure::Failure;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The store and the form of output.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Where runs are kept: a file or an address [env: STATEMARK_STORE; else statemark.toml; default: .statemark/runs.db]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

impl StoreArgs {
    /// Returns the form of output.
    pub(crate) const fn format(&self) -> TextFormat {
        json_or_text(self.json)
    }
}

/// A run, and the store that keeps it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The run, or the beginning of its id
    #[arg(id = "run", value_name = "RUN")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Returns the form of output that a flag `--json` chooses.
pub(crate) const fn json_or_text(json: bool) -> TextFormat {
    if json {
        TextFormat::Json
    } else {
        TextFormat::Text
    }
}

/// The specs that define workflows.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SpecsArgs {
    /// Files and folders with the specs of workflows
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) specs: Vec<PathBuf>,
}

/// Reads a value of JSON.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| {
        format!("it isn't JSON ({error}); quote it for the shell: '{{\"passed\": true}}'")
    })?;
    describe_repeated_key(text.as_bytes()).map_or(Ok(value), Err)
}

/// Reads the claims of an event.
pub(crate) fn claims(claims: &[String]) -> Result<Claims, Failure> {
    let read = Claims::new(claims.to_vec()).map_err(RunError::from);
    Ok(read?)
}

/// Reads a length of time. Unit: milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    match humantime::parse_duration(text) {
        Ok(length) => Ok(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)),
        Err(_) => Err("it isn't a length of time, such as 30s, 10m or 1h 30m".to_owned()),
    }
}

/// Reads one of the names that journals have for a kind, a role or a status.
pub(crate) fn name<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(text.to_owned())).map_err(|error| {
        let error = error.to_string();
        // An unknown variant is in the message already.
        let expected = error.split_once(", expected ").map(|(_, names)| names);
        expected.map_or(error.clone(), |names| format!("expected {names}"))
    })
}
