//! `import`: the servers of another system's configuration become those of `statemark.toml`.
//!
//! Values of variables are left out: they are secrets mostly, and `statemark.toml` is committed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use statemark_upstream::{Declaration, Variables, Words};

use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::project;

/// Largest configuration that is read. Unit: bytes. Why: it has a few lines.
const MAX_CONFIG: usize = 1 << 20;

/// Take over the MCP servers of another system's configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark import .agent/mcp.toml           show them, as `[upstream.NAME]`\n  \
                        statemark import .agent/mcp.toml --write   add them to `statemark.toml`\n  \
                        statemark import .mcp.json                 those of Claude Code\n\n\
                        Variables are taken over by name, without their values: set them where the server runs. None of the\n\
                        servers is started before a person accepts it (`statemark upstream accept`).")]
pub(crate) struct ImportArgs {
    /// The configuration: `.agent/mcp.toml` of Ralph Workflow, or a JSON file with `mcpServers`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Add the servers to `statemark.toml`, which is made if there is none
    #[arg(long)]
    write: bool,
}

/// The configuration of Ralph Workflow. Keys that say nothing about servers are left alone.
#[derive(Deserialize)]
struct Ralph {
    #[serde(default)]
    servers: Vec<RalphServer>,
}

#[derive(Deserialize)]
struct RalphServer {
    name: String,
    #[serde(flatten)]
    server: Server,
}

/// The configuration of most clients.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Client {
    #[serde(default)]
    mcp_servers: BTreeMap<String, Server>,
}

/// A server, as others declare it.
#[derive(Deserialize)]
struct Server {
    command: Option<Words>,
    #[serde(default)]
    args: Vec<String>,
    url: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// The servers of a configuration, and what was left out.
struct Imported {
    servers: BTreeMap<String, Declaration>,
    remarks: Vec<String>,
}

/// Shows or writes the servers of a configuration.
pub(super) fn run(args: &ImportArgs, printer: &mut Printer) -> CommandResult {
    let bytes = files::read_whole(&args.file, MAX_CONFIG)?;
    let text = String::from_utf8_lossy(&bytes);
    let imported = read(&args.file, &text)?;
    if imported.servers.is_empty() {
        let file = files::display(&args.file);
        return Err(Failure::new(format!("`{file}` has no servers"))
            .with_help("it has `[[servers]]` as Ralph Workflow writes them, or `mcpServers`"));
    }
    let toml = to_toml(&imported.servers);
    if args.write {
        let path = write(&toml)?;
        let servers = count(imported.servers.len(), "server");
        printer.remark(&format!("added {servers} to `{}`\n", files::display(&path)));
    } else {
        printer.result(&toml);
    }
    for remark in &imported.remarks {
        printer.remark(&format!("{remark}\n"));
    }
    Ok(ExitStatus::Clean)
}

fn read(file: &Path, text: &str) -> Result<Imported, Failure> {
    let unreadable = |error: String| {
        let file = files::display(file);
        Failure::new(format!("`{file}` can't be read: {}", error.trim_end()))
    };
    let is_json = file.extension().is_some_and(|it| it == "json");
    let servers: Vec<(String, Server)> = if is_json {
        let read: Client = serde_json::from_str(text).map_err(|it| unreadable(it.to_string()))?;
        read.mcp_servers.into_iter().collect()
    } else {
        let read: Ralph = toml::from_str(text).map_err(|it| unreadable(it.to_string()))?;
        let servers = read.servers.into_iter();
        servers.map(|it| (it.name, it.server)).collect()
    };
    let mut imported = Imported {
        servers: BTreeMap::new(),
        remarks: Vec::new(),
    };
    for (name, server) in servers {
        let declaration = imported.declare(&name, server);
        let checked = declaration.check_named(&name);
        checked
            .map_err(|error| Failure::new(format!("the server `{name}` can't be used: {error}")))?;
        if imported.servers.insert(name.clone(), declaration).is_some() {
            return Err(unreadable(format!("it has two servers `{name}`")));
        }
    }
    Ok(imported)
}

impl Imported {
    /// Converts a server. Values that are no references to variables are left out, with a remark.
    fn declare(&mut self, name: &str, server: Server) -> Declaration {
        let names: Vec<String> = server.env.keys().cloned().collect();
        if !names.is_empty() {
            let list: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
            self.remarks.push(format!(
                "`{name}` gets {} from the environment: set it there, since its value isn't taken over",
                list.join(", ")
            ));
        }
        let mut headers = BTreeMap::new();
        for (header, value) in server.headers {
            if value.contains("${") {
                headers.insert(header, value);
                continue;
            }
            let variable = variable_of(name, &header);
            self.remarks.push(format!(
                "`{name}` gets the header `{header}` from the variable `{variable}`: set it, since its value isn't taken over"
            ));
            headers.insert(header, format!("${{{variable}}}"));
        }
        Declaration {
            command: server.command,
            args: server.args,
            url: server.url,
            env: Variables::Names(names),
            headers,
            ..Declaration::default()
        }
    }
}

/// Makes the name of a variable for a header: `DOCS_AUTHORIZATION`.
fn variable_of(server: &str, header: &str) -> String {
    let letters = format!("{server}_{header}");
    let letters = letters.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    letters.collect()
}

/// Writes servers as they stand in `statemark.toml`.
fn to_toml(servers: &BTreeMap<String, Declaration>) -> String {
    let mut text = String::new();
    for (name, declaration) in servers {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "[upstream.{name}]");
        let Value::Object(fields) = declaration.to_json() else {
            continue;
        };
        for (key, value) in fields {
            let _ = match value {
                Value::Object(pairs) => {
                    let pairs = pairs.iter().map(|(name, value)| {
                        // A text of JSON is one of TOML.
                        format!("{} = {value}", Value::from(name.as_str()))
                    });
                    let pairs: Vec<String> = pairs.collect();
                    writeln!(text, "{key} = {{ {} }}", pairs.join(", "))
                }
                Value::Array(items) => {
                    let items: Vec<String> = items.iter().map(Value::to_string).collect();
                    writeln!(text, "{key} = [{}]", items.join(", "))
                }
                value => writeln!(text, "{key} = {value}"),
            };
        }
    }
    text
}

/// Adds servers to the project's configuration, which has to be one afterwards.
fn write(servers: &str) -> Result<PathBuf, Failure> {
    let here = project::current_folder()?;
    let (path, before) = match project::find_config(&here)? {
        Some((path, _)) => {
            let bytes = files::read_whole(&path, MAX_CONFIG)?;
            (path, String::from_utf8_lossy(&bytes).into_owned())
        }
        None => (
            project::root(&here).join(project::CONFIG_FILE),
            String::new(),
        ),
    };
    let gap = match before.as_str() {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let after = format!("{before}{gap}{servers}");
    if let Err(error) = project::parse_config(&path, &after) {
        return Err(Failure::new(format!("nothing was written: {error}"))
            .with_help("a server that is there already has to be changed by hand"));
    }
    files::write(&path, after.as_bytes())?;
    Ok(path)
}
