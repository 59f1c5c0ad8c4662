//! `mcp`: registers the server with clients.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use jsonc_parser::ast::Value as Node;
use serde_json::{Map, Value, json};

use super::settings::{self, SettingsFile, indent, insert};
use crate::caller::no_home;
use crate::environment;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::printer::Printer;

/// Register the server with clients of MCP.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark mcp add claude")]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

/// A subcommand of `mcp`.
#[derive(Debug, Subcommand)]
enum McpCommand {
    Add(AddArgs),
}

/// Register the server with a client, in the client's own configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark mcp add claude                        .mcp.json of this project\n  \
                        statemark mcp add claude --user                 all your projects\n  \
                        statemark mcp add codex\n  \
                        statemark mcp add cursor -- specs --read-only   with arguments for `statemark serve`\n  \
                        statemark mcp add vscode --http http://127.0.0.1:7420/mcp\n  \
                        statemark mcp add claude --print                shows what to paste, and changes nothing")]
struct AddArgs {
    /// The client: claude, codex, gemini, cursor, opencode, vscode
    #[arg(value_enum, value_name = "CLIENT", hide_possible_values = true)]
    client: Client,
    /// Print what to paste, and where, instead of writing it
    #[arg(long)]
    print: bool,
    /// For all your projects instead of this one; Codex always does this
    #[arg(long)]
    user: bool,
    /// The client's name for the server
    #[arg(long, value_name = "NAME", default_value = "statemark")]
    name: String,
    /// A server that is running, instead of one that the client starts
    #[arg(long, value_name = "URL", conflicts_with = "serve", value_parser = parse_url)]
    http: Option<String>,
    /// Arguments for `statemark serve`
    #[arg(last = true, value_name = "ARGUMENT")]
    serve: Vec<String>,
}

/// Checks that a server can have this address.
fn parse_url(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => Ok(text.to_owned()),
        _ => Err("write a URL such as http://127.0.0.1:7420/mcp".to_owned()),
    }
}

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// OpenCode.
    Opencode,
    /// Visual Studio Code.
    Vscode,
}

/// Runs a subcommand.
pub(super) fn run(args: &McpArgs, printer: &mut Printer) -> CommandResult {
    let McpCommand::Add(args) = &args.command;
    let path = config_path(args)?;
    let entry = Entry::new(args)?;
    let name = path.display();
    if args.print {
        printer.remark(&format!("in {name}:\n"));
        printer.result(&entry.config());
        return Ok(ExitStatus::Clean);
    }
    let file = SettingsFile::new(path.clone(), "`--print` shows what to paste");
    let old = file.read()?;
    match entry.add_to(&old).map_err(|why| file.bad(&why))? {
        None => printer.remark(&format!("{name} has it already\n")),
        Some(new) => {
            file.write(&new)?;
            printer.remark(&format!("added `{}` to {name}\n", args.name));
        }
    }
    Ok(ExitStatus::Clean)
}

/// Returns the configuration in which a client has its servers.
fn config_path(args: &AddArgs) -> Result<PathBuf, Failure> {
    let home = || environment::home().ok_or_else(no_home);
    Ok(match (args.client, args.user) {
        (Client::Claude, false) => PathBuf::from(".mcp.json"),
        (Client::Claude, true) => home()?.join(".claude.json"),
        (Client::Codex, _) => match environment::CODEX_HOME.value() {
            Some(folder) => PathBuf::from(folder).join("config.toml"),
            None => home()?.join(".codex/config.toml"),
        },
        (Client::Gemini, false) => PathBuf::from(".gemini/settings.json"),
        (Client::Gemini, true) => home()?.join(".gemini/settings.json"),
        (Client::Opencode, false) => PathBuf::from("opencode.json"),
        (Client::Opencode, true) => {
            let folder = environment::user_folder(&environment::CONFIG_HOME, ".config");
            folder.ok_or_else(no_home)?.join("opencode/opencode.json")
        }
        (Client::Cursor, false) => PathBuf::from(".cursor/mcp.json"),
        (Client::Cursor, true) => home()?.join(".cursor/mcp.json"),
        (Client::Vscode, false) => PathBuf::from(".vscode/mcp.json"),
        (Client::Vscode, true) => {
            let message = "VS Code has a file for the servers of all projects in each profile";
            return Err(Failure::new(message).with_help(
                "leave out `--user`, or paste what `--print` shows into the file that its command \
                 `MCP: Open User Configuration` opens",
            ));
        }
    })
}

/// A server in a client's configuration.
struct Entry {
    client: Client,
    name: String,
    value: Map<String, Value>,
}

impl Entry {
    fn new(args: &AddArgs) -> Result<Self, Failure> {
        let mut value = Map::new();
        let mut put = |key: &str, field: Value| drop(value.insert(key.to_owned(), field));
        if matches!(args.client, Client::Claude | Client::Vscode) {
            let kind = if args.http.is_some() { "http" } else { "stdio" };
            put("type", json!(kind));
        }
        if args.client == Client::Opencode {
            let kind = if args.http.is_some() {
                "remote"
            } else {
                "local"
            };
            put("type", json!(kind));
        }
        match &args.http {
            Some(url) if args.client == Client::Gemini => put("httpUrl", json!(url)),
            Some(url) => put("url", json!(url)),
            None => {
                let program = program(args)?;
                let serve = ["serve"].into_iter();
                let serve = serve.chain(args.serve.iter().map(String::as_str));
                if args.client == Client::Opencode {
                    let words = std::iter::once(program.as_str()).chain(serve);
                    put("command", words.collect());
                } else {
                    put("command", json!(program));
                    put("args", serve.collect());
                }
            }
        }
        Ok(Self {
            client: args.client,
            name: args.name.clone(),
            value,
        })
    }

    /// Returns the key under which the client has its servers.
    const fn key(&self) -> &'static str {
        match self.client {
            Client::Claude | Client::Gemini | Client::Cursor => "mcpServers",
            Client::Opencode => "mcp",
            Client::Vscode => "servers",
            Client::Codex => "mcp_servers",
        }
    }

    /// Returns a configuration with nothing else in it.
    fn config(&self) -> String {
        match self.client {
            Client::Codex => self.table(),
            _ => format!("{:#}\n", json!({self.key(): {&self.name: self.value}})),
        }
    }

    /// Adds the server to a configuration; `None` if the configuration has it already.
    ///
    /// # Errors
    ///
    /// The configuration can't be read, or has another server of that name.
    fn add_to(&self, old: &str) -> Result<Option<String>, String> {
        if old.trim().is_empty() {
            return Ok(Some(self.config()));
        }
        if self.client != Client::Codex {
            let value = Value::Object(self.value.clone());
            return add_to_json(old, self.key(), &self.name, &value);
        }
        let config: toml::Table = toml::from_str(old).map_err(|error| error.to_string())?;
        let servers = config.get(self.key());
        match servers.and_then(|servers| servers.get(&self.name)) {
            None => Ok(Some(format!("{}\n\n{}", old.trim_end(), self.table()))),
            Some(server) if json!(server) == json!(self.value) => Ok(None),
            Some(_) => Err(name_taken(&self.name)),
        }
    }

    /// Returns the server as a table of TOML. Strings of JSON are strings of TOML.
    fn table(&self) -> String {
        let name = json!(self.name);
        let mut text = format!("[{}.{name}]\n", self.key());
        for (key, value) in &self.value {
            text += &format!("{key} = {value}\n");
        }
        text
    }
}

fn name_taken(name: &str) -> String {
    format!("has another server called `{name}`; remove it, or choose another `--name`")
}

/// Returns the program that a client starts: its name for a shared project, else its path.
///
/// Why: a client with windows doesn't have a shell's PATH.
fn program(args: &AddArgs) -> Result<String, Failure> {
    if !args.user && args.client != Client::Codex {
        return Ok("statemark".to_owned());
    }
    let path = std::env::current_exe().map_err(|error| {
        let message = system_message(&error);
        Failure::new(format!("the path of this program isn't known: {message}"))
    })?;
    Ok(path.display().to_string())
}

/// Adds a server to a configuration in JSON; everything else stays as it is, comments included.
fn add_to_json(old: &str, key: &str, name: &str, value: &Value) -> Result<Option<String>, String> {
    let Some(Node::Object(root)) = settings::parse(old)?.value else {
        return Err("has no object in it".to_owned());
    };
    let mut properties = root.properties.iter();
    let Some(servers) = properties.find(|property| property.name.as_str() == key) else {
        let text = format!("{}: {}", json!(key), indent(&json!({name: value}), 1));
        return Ok(insert(old, &root, &text, 1));
    };
    let Node::Object(servers) = &servers.value else {
        return Err(format!("has a `{key}` that is no object"));
    };
    let mut properties = servers.properties.iter();
    if let Some(server) = properties.find(|property| property.name.as_str() == name) {
        return match settings::is_same(old, &server.value, value) {
            true => Ok(None),
            false => Err(name_taken(name)),
        };
    }
    let text = format!("{}: {}", json!(name), indent(value, 2));
    Ok(insert(old, servers, &text, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(old: &str) -> Result<Option<String>, String> {
        add_to_json(old, "servers", "own", &json!({"command": "c"}))
    }

    #[test]
    fn the_rest_of_a_configuration_stays_as_it_is() {
        for (old, new) in [
            (
                "{}",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  }\n}",
            ),
            (
                "{\n  // Mine.\n  \"a\": 1\n}\n",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  },\n  // Mine.\n  \"a\": 1\n}\n",
            ),
            (
                "{\"servers\": {\"other\": {}}, \"z\": 0}",
                "{\"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    },\"other\": {}}, \"z\": 0}",
            ),
            (
                "{\n  \"servers\": {}\n}\n",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(add(old).unwrap().unwrap(), new);
            assert_eq!(add(new).unwrap(), None);
        }
        for old in [
            "[",
            "[]",
            "{\"servers\": 1}",
            "{\"servers\": {\"own\": {}}}",
            // Clients take the last of two.
            "{\"servers\": {\"own\": {\"command\": \"c\"}}, \"servers\": {}}",
            "{\"servers\": {\"own\": {\"command\": \"c\"}, \"own\": {\"command\": \"x\"}}}",
        ] {
            assert!(add(old).is_err(), "{old}");
        }
    }
}
