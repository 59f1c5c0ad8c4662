//! The hooks of rstn's configuration, as `[checks.NAME]`.
//!
//! A hook of rstn is a line for a shell, to which arguments are appended; a check is a program with arguments that no
//! shell reads. A line without anything that only a shell understands becomes such a list.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use statemark_runs::check::{Declaration, Timeout};
use statemark_runs::is_secret_name;
use statemark_runs::policy::split_words;

use super::{Imported, unreadable};
use crate::checks::bad_check;
use crate::failure::Failure;

/// The configuration of rstn.
#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    hooks: BTreeMap<String, Hook>,
}

#[derive(Deserialize)]
struct Hook {
    command: String,
    timeout_secs: Option<u64>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Reads the hooks of a configuration; JSON is YAML, too.
///
/// # Errors
///
/// It can't be read, or has a hook that can't be a check.
pub(super) fn read(file: &Path, text: &str) -> Result<Imported, Failure> {
    let read: Configuration =
        serde_saphyr::from_str(text).map_err(|error| unreadable(file, &error.without_snippet()))?;
    let mut imported = Imported {
        section: "checks",
        noun: "check",
        tables: Vec::new(),
        remarks: Vec::new(),
    };
    for (name, hook) in read.hooks {
        let declaration = declare(&name, hook, &mut imported.remarks);
        let value = serde_json::to_value(&declaration).map_err(|error| unreadable(file, &error))?;
        Declaration::parse(&value).map_err(|error| bad_check(&name, &error))?;
        imported.tables.push((name, value));
    }
    Ok(imported)
}

/// Converts a hook. What isn't as it was there has a remark.
fn declare(name: &str, hook: Hook, remarks: &mut Vec<String>) -> Declaration {
    let command = split_words(&hook.command).unwrap_or_else(|unread| {
        remarks.push(format!(
            "`{name}` is a line for a shell ({unread}), so `sh` runs it; what a call appends are arguments of its last command"
        ));
        let line = format!("{} \"$@\"", hook.command.trim_end());
        ["sh", "-c", &line, name].map(str::to_owned).to_vec()
    });
    let mut env = BTreeMap::new();
    let mut inherit = Vec::new();
    for (variable, value) in hook.env {
        if is_secret_name(&variable) {
            remarks.push(format!(
                "`{name}` gets `{variable}` from the environment: set it there, since its value isn't taken over"
            ));
            inherit.push(variable);
        } else {
            env.insert(variable, value);
        }
    }
    Declaration {
        command,
        cwd: hook.cwd,
        env,
        inherit,
        timeout: hook
            .timeout_secs
            .map(|seconds| Timeout::Text(format!("{seconds}s"))),
    }
}
