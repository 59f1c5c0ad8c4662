//! The pack `env`: variables of the environment, as a project lists them.
//!
//! What to rely on: a variable whose name or value looks like a secret is never read, whoever lists it, since a list may have
//! come with a repository; nor one of ours, which may be a caller's token.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use statemark_runs::{Redactor, is_secret_name};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Set, Tool};

use crate::settings::Settings;
use crate::{Spec, tool};

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("env");

/// The beginning of the names of our own variables.
const OWN: &str = "STATEMARK_";

pub(crate) fn all() -> Vec<Tool> {
    vec![tool(
        SET,
        &Spec {
            name: "read_env",
            title: "Read a variable",
            description: "Reads a variable of the environment, of those that the project lists.",
            annotations: Annotations::READ_ONLY,
            run: read_env,
        },
    )]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadEnv {
    /// The variable.
    name: String,
}

fn read_env(ctx: &Ctx<'_>, call: &ReadEnv) -> Outcome {
    let name = call.name.as_str();
    let listed = Settings::env(ctx)?.names;
    if !listed.contains(name) {
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        let there = match listed.as_slice() {
            [] => "no variable is listed".to_owned(),
            names => format!("listed are {}", names.join(", ")),
        };
        let message = format!(
            "`{name}` isn't a variable that agents may read here; {there} (`names` in `[packs.env]` of statemark.toml)"
        );
        return Err(Problem::new("not_listed", message));
    }
    let environment = ctx.state_environment()?;
    if environment.blocks(name) {
        let message = format!("`{name}` is blocked by the `blocked_env` of the active state");
        return Err(Problem::new("blocked", message));
    }
    let set = environment.set().find(|(own, _)| *own == name);
    let value = match set {
        Some((_, value)) => value.to_owned(),
        None => std::env::var(name)
            .map_err(|_| Problem::new("not_set", format!("`{name}` isn't set")))?,
    };
    let redactor = Redactor::from_environment(&[]);
    if name.starts_with(OWN) || is_secret_name(name) || redactor.redact_str(&value) != value {
        let message = format!("`{name}` looks like a secret, which no agent reads");
        return Err(Problem::new("secret", message));
    }
    Ok(Value::String(value))
}
