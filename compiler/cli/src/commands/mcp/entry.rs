//! What a client has to have of the server, in the client's own words.

use serde_json::{Map, Value, json};

use super::json;
use crate::args::{ClientArg, McpAddArgs};
use crate::failure::{Failure, FailureKind};

/// A server in a client's configuration.
pub(super) struct Entry {
    client: ClientArg,
    name: String,
    value: Map<String, Value>,
}

impl Entry {
    pub(super) fn new(args: &McpAddArgs) -> Result<Self, Failure> {
        let mut value = Map::new();
        let mut put = |key: &str, it: Value| drop(value.insert(key.to_owned(), it));
        let says_type = matches!(args.client, ClientArg::Claude | ClientArg::Vscode);
        if says_type {
            let kind = if args.http.is_some() { "http" } else { "stdio" };
            put("type", json!(kind));
        }
        match &args.http {
            Some(url) => put("url", json!(url)),
            None => {
                put("command", json!(program(args)?));
                let serve = ["serve"]
                    .into_iter()
                    .chain(args.serve.iter().map(String::as_str));
                put("args", serve.collect());
            }
        }
        Ok(Self {
            client: args.client,
            name: args.name.clone(),
            value,
        })
    }

    /// The key under which the client has its servers.
    const fn key(&self) -> &'static str {
        match self.client {
            ClientArg::Claude | ClientArg::Cursor => "mcpServers",
            ClientArg::Vscode => "servers",
            ClientArg::Codex => "mcp_servers",
        }
    }

    /// A configuration with nothing else in it.
    pub(super) fn whole(&self) -> String {
        match self.client {
            ClientArg::Codex => self.table(),
            _ => format!("{:#}\n", json!({self.key(): {&self.name: self.value}})),
        }
    }

    /// A configuration with the server in it; nothing if it has the same already.
    ///
    /// # Errors
    ///
    /// It can't be read, or has another server of that name: why.
    pub(super) fn added_to(&self, old: &str) -> Result<Option<String>, String> {
        if old.trim().is_empty() {
            return Ok(Some(self.whole()));
        }
        if self.client != ClientArg::Codex {
            return json::add(
                old,
                self.key(),
                &self.name,
                &Value::Object(self.value.clone()),
            );
        }
        let known: toml::Table = toml::from_str(old).map_err(|error| error.to_string())?;
        let known = known.get(self.key()).and_then(|all| all.get(&self.name));
        match known {
            None => Ok(Some(format!("{}\n\n{}", old.trim_end(), self.table()))),
            Some(found) if json!(found) == json!(self.value) => Ok(None),
            Some(_) => Err(taken(&self.name)),
        }
    }

    /// The table of the server in TOML. Texts of JSON are texts of TOML.
    fn table(&self) -> String {
        let name = json!(self.name);
        let mut text = format!("[{}.{name}]\n", self.key());
        for (key, value) in &self.value {
            text += &format!("{key} = {value}\n");
        }
        text
    }
}

/// That there is another server of a name.
pub(super) fn taken(name: &str) -> String {
    format!("has another server called `{name}`; take it out, or give this one another `--name`")
}

/// The program that a client starts: by its name where a project is shared, else this very one, since a client with windows
/// doesn't have a shell's PATH.
fn program(args: &McpAddArgs) -> Result<String, Failure> {
    if !args.user && args.client != ClientArg::Codex {
        return Ok("statemark".to_owned());
    }
    let own = std::env::current_exe().map_err(FailureKind::Serving)?;
    Ok(own.display().to_string())
}
