//! `import`: the servers and hooks of another system's configuration become those of `statemark.toml`.
//!
//! Secrets are left out: `statemark.toml` is committed.

mod hooks;
mod servers;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::project;

/// Largest configuration that is read. Unit: bytes. Why: it has a few lines.
const MAX_CONFIG: usize = 1 << 20;

/// Take over the MCP servers or the hooks of another system's configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark import .agent/mcp.toml           show them, as `[upstream.NAME]`\n  \
                        statemark import .agent/mcp.toml --write   add them to `statemark.toml`\n  \
                        statemark import .mcp.json                 those of Claude Code\n  \
                        statemark import .rstn/hooks.yaml          hooks, as `[checks.NAME]`\n\n\
                        Secret variables are taken over by name, without their values: set them where the server runs.\n\
                        None of the servers is started before a person accepts it (`statemark upstream accept`).")]
pub(crate) struct ImportArgs {
    /// The configuration: `.agent/mcp.toml` of Ralph Workflow, a JSON file with `mcpServers`, or `.rstn/hooks.yaml`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Add what it has to `statemark.toml`, which is made if there is none
    #[arg(long)]
    write: bool,
}

/// The tables of `statemark.toml` that a configuration amounts to.
struct Imported {
    /// The section of the tables: `upstream` or `checks`.
    section: &'static str,
    /// The word for one of them in a message.
    noun: &'static str,
    tables: Vec<(String, Value)>,
    /// The parts that were left out or changed.
    remarks: Vec<String>,
}

/// Shows or writes what a configuration declares.
pub(super) fn run(args: &ImportArgs, printer: &mut Printer) -> CommandResult {
    let bytes = files::read_whole(&args.file, MAX_CONFIG)?;
    let text = String::from_utf8_lossy(&bytes);
    let imported = read(&args.file, &text)?;
    let toml = imported.to_toml();
    if args.write {
        let path = write(&toml)?;
        let added = count(imported.tables.len(), imported.noun);
        printer.remark(&format!("added {added} to `{}`\n", files::display(&path)));
    } else {
        printer.result(&toml);
    }
    for remark in &imported.remarks {
        printer.remark(&format!("{remark}\n"));
    }
    Ok(ExitStatus::Clean)
}

/// Reads a configuration by its format.
fn read(file: &Path, text: &str) -> Result<Imported, Failure> {
    let extension = file.extension().and_then(|it| it.to_str());
    let is_hooks = match extension {
        Some("yaml" | "yml") => true,
        // rstn reads `hooks.json`, too.
        Some("json") => file.file_stem().is_some_and(|it| it == "hooks"),
        _ => false,
    };
    let imported = if is_hooks {
        hooks::read(file, text)?
    } else {
        servers::read(file, text, extension == Some("json"))?
    };
    if imported.tables.is_empty() {
        let file = files::display(file);
        let (what, help) = if is_hooks {
            (
                "hooks",
                "it has `hooks` as rstn writes them: a `command` by name",
            )
        } else {
            (
                "servers",
                "it has `[[servers]]` as Ralph Workflow writes them, or `mcpServers`",
            )
        };
        return Err(Failure::new(format!("`{file}` has no {what}")).with_help(help));
    }
    Ok(imported)
}

/// Makes the failure of a configuration that isn't one.
fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    let (file, error) = (files::display(file), error.to_string());
    Failure::new(format!("`{file}` can't be read: {}", error.trim_end()))
}

impl Imported {
    /// Writes the tables as they stand in `statemark.toml`.
    fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, table) in &self.tables {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "[{}.{}]", self.section, key(name));
            let Value::Object(fields) = table else {
                continue;
            };
            for (field, value) in fields {
                let _ = match value {
                    Value::Object(pairs) => {
                        let pairs = pairs
                            .iter()
                            .map(|(name, value)| format!("{} = {value}", key(name)));
                        let pairs: Vec<String> = pairs.collect();
                        writeln!(text, "{field} = {{ {} }}", pairs.join(", "))
                    }
                    Value::Array(items) => {
                        let items: Vec<String> = items.iter().map(Value::to_string).collect();
                        writeln!(text, "{field} = [{}]", items.join(", "))
                    }
                    value => writeln!(text, "{field} = {value}"),
                };
            }
        }
        text
    }
}

/// Writes a key of TOML: as it is, or in quotes.
fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        // A text of JSON is one of TOML.
        Value::from(name).to_string()
    }
}

/// Adds tables to the project's configuration, which has to be one afterwards.
fn write(tables: &str) -> Result<PathBuf, Failure> {
    let here = project::current_folder()?;
    // One above the repository is for others, too, which its author has no say in.
    let root = project::root(&here);
    let found = project::find_config_text(root)?;
    let found = found.filter(|(path, _)| path.parent() == Some(root));
    let (path, before) = found.unwrap_or_else(|| (root.join(project::CONFIG_FILE), String::new()));
    let gap = match before.as_str() {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let after = format!("{before}{gap}{tables}");
    if let Err(error) = project::parse_config(&path, &after) {
        return Err(Failure::new(format!("nothing was written: {error}"))
            .with_help("what is there already has to be changed by hand"));
    }
    match path.exists() {
        true => files::rewrite(&path, after.as_bytes())?,
        false => files::write(&path, after.as_bytes())?,
    }
    Ok(path)
}
