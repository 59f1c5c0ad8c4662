//! The MCP servers of another system's configuration, as `[upstream.NAME]`.
//!
//! Values of variables are left out: they are secrets mostly.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use statemark_upstream::{Declaration, Variables, Words};

use super::{Imported, unreadable};
use crate::failure::Failure;

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

/// Reads the servers of a configuration.
///
/// # Errors
///
/// It can't be read, or has a server that can't be one of ours.
pub(super) fn read(file: &Path, text: &str, is_json: bool) -> Result<Imported, Failure> {
    let servers: Vec<(String, Server)> = if is_json {
        let read: Client = serde_json::from_str(text).map_err(|it| unreadable(file, &it))?;
        read.mcp_servers.into_iter().collect()
    } else {
        let read: Ralph = toml::from_str(text).map_err(|it| unreadable(file, &it))?;
        let servers = read.servers.into_iter();
        servers.map(|it| (it.name, it.server)).collect()
    };
    let mut declared = BTreeMap::new();
    let mut remarks = Vec::new();
    for (name, server) in servers {
        let declaration = declare(&name, server, &mut remarks);
        let checked = declaration.check_named(&name);
        checked
            .map_err(|error| Failure::new(format!("the server `{name}` can't be used: {error}")))?;
        if declared.insert(name.clone(), declaration).is_some() {
            return Err(unreadable(file, &format!("it has two servers `{name}`")));
        }
    }
    let tables = declared.into_iter();
    let tables = tables.map(|(name, server)| (name, server.to_json()));
    Ok(Imported {
        section: "upstream",
        noun: "server",
        tables: tables.collect(),
        remarks,
    })
}

/// Converts a server. Values that are no references to variables are left out, with a remark.
fn declare(name: &str, server: Server, remarks: &mut Vec<String>) -> Declaration {
    let names: Vec<String> = server.env.keys().cloned().collect();
    if !names.is_empty() {
        let list: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
        remarks.push(format!(
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
        remarks.push(format!(
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
