//! The settings of packs, in the `packs` of a project's configuration.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use statemark_runs::check::Timeout;
use statemark_tools::project::current_project;
use statemark_tools::{Ctx, Problem, Set};

use crate::{env, exec, fs, git, media, web};

/// The packs that a project names, each with its settings. A pack that is named is offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Files and folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    fs: Option<None>,
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Option<None>,
    /// Commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    exec: Option<Exec>,
    /// Variables of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<Env>,
    /// Pages and searches of the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    web: Option<Web>,
    /// Images, sounds and documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<None>,
}

/// No settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct None {}

/// Settings of the pack `exec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exec {
    /// The longest time of a command, and the time of one that asks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Timeout>,
}

/// Settings of the pack `env`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Env {
    /// The variables that may be read.
    #[serde(default)]
    pub(crate) names: BTreeSet<String>,
}

/// Settings of the pack `web`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Web {
    /// The service that searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<web::Service>,
}

impl Settings {
    /// Returns the sets of the packs that are named.
    #[must_use]
    pub fn sets(&self) -> Vec<Set> {
        let named = [
            (self.fs.is_some(), fs::SET),
            (self.git.is_some(), git::SET),
            (self.exec.is_some(), exec::SET),
            (self.env.is_some(), env::SET),
            (self.web.is_some(), web::SET),
            (self.media.is_some(), media::SET),
        ];
        let sets = named.into_iter().filter(|(is_named, _)| *is_named);
        sets.map(|(_, set)| set).collect()
    }

    /// Returns the settings by the names of the packs, as a project holds them.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            // INVARIANT: settings are plain data.
            _ => Map::new(),
        }
    }

    /// Reads the settings of the project that a call works on.
    fn read(ctx: &Ctx<'_>) -> Result<Self, Problem> {
        let packs = Value::Object(current_project(ctx)?.packs);
        serde_json::from_value(packs).map_err(|error| {
            Problem::new(
                "bad_settings",
                format!("the settings of packs can't be read: {error}"),
            )
        })
    }

    /// Returns the settings of commands.
    pub(crate) fn exec(ctx: &Ctx<'_>) -> Result<Exec, Problem> {
        Ok(Self::read(ctx)?.exec.unwrap_or_default())
    }

    /// Returns the settings of variables.
    pub(crate) fn env(ctx: &Ctx<'_>) -> Result<Env, Problem> {
        Ok(Self::read(ctx)?.env.unwrap_or_default())
    }

    /// Returns the settings of the web.
    pub(crate) fn web(ctx: &Ctx<'_>) -> Result<Web, Problem> {
        Ok(Self::read(ctx)?.web.unwrap_or_default())
    }
}
