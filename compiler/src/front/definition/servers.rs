//! Tools of other servers, by names that a definition grants: `github__create_issue`.
//!
//! A project pins the tools that a person has accepted. A name that none of them has grants nothing, and forbids nothing
//! either.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::ast::{Object, Value};

use super::json;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// The characters between what begins the names of a server's tools and a tool's own name.
const SEPARATOR: &str = "__";

/// The other servers of a project, and the tools that it has pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// By what the names of their tools begin with, without `__`: the declared servers' names.
    pub prefixes: BTreeMap<String, String>,
    /// By name of a server, the tools that are pinned, by the names that it has for them.
    ///
    /// None where nothing is pinned at all: such a project may not have met its servers yet.
    pub pinned: Option<BTreeMap<String, BTreeSet<String>>>,
}

impl Servers {
    /// Returns these servers with those that a definition declares itself.
    pub(super) fn with_own(
        &self,
        machine: &Object<'_>,
        outer: Option<&Value<'_>>,
    ) -> Cow<'_, Self> {
        let declared = [outer, json::get(machine, "upstream_servers")];
        if self.pinned.is_none() || declared.iter().all(Option::is_none) {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        for declared in declared.into_iter().flatten() {
            match declared {
                Value::Object(servers) => {
                    for server in &servers.properties {
                        all.declare(server.name.as_str(), &server.value);
                    }
                }
                Value::Array(servers) => {
                    for server in &servers.elements {
                        if let Some(name) = text(server).or_else(|| text(field(server, "name")?)) {
                            all.declare(name, server);
                        }
                    }
                }
                _ => {}
            }
        }
        Cow::Owned(all)
    }

    fn declare(&mut self, name: &str, server: &Value<'_>) {
        let prefix = field(server, "prefix").and_then(text);
        let is_known = self.prefixes.values().any(|known| known == name);
        if prefix.is_some() || !is_known {
            let prefix = prefix.unwrap_or(name).to_owned();
            self.prefixes.insert(prefix, name.to_owned());
        }
    }

    /// Reports a pattern over tools that is about a server's, and matches none that is pinned.
    pub(super) fn check(&self, pattern: &str, at: Span, diags: &mut Diags) {
        let name = pattern.split('(').next().unwrap_or(pattern).trim();
        let Some((prefix, own)) = name.split_once(SEPARATOR) else {
            return;
        };
        let (Some(server), Some(pinned)) = (self.prefixes.get(prefix), &self.pinned) else {
            return;
        };
        let none = BTreeSet::new();
        let tools = pinned.get(server).unwrap_or(&none);
        if tools.is_empty() {
            diags.push(unpinned_server(at, server));
            return;
        }
        let glob = own.find(['*', '?', '[']);
        let beginning = own.get(..glob.unwrap_or(own.len())).unwrap_or_default();
        let is_known = match glob {
            Some(_) => tools.iter().any(|tool| tool.starts_with(beginning)),
            None => tools.contains(own),
        };
        if is_known {
            return;
        }
        if glob.is_some() {
            diags.push(nothing_begins_so(at, server, beginning));
            return;
        }
        let meant = diags.nearest(own, tools.iter().map(String::as_str));
        let mended = meant.map(|meant| pattern.replacen(own, meant, 1));
        diags.push(unpinned_tool(at, server, own, mended.as_deref()));
    }
}

fn field<'o, 't>(value: &'o Value<'t>, key: &str) -> Option<&'o Value<'t>> {
    match value {
        Value::Object(object) => json::get(object, key),
        _ => None,
    }
}

fn text<'o>(value: &'o Value<'_>) -> Option<&'o str> {
    match value {
        Value::StringLit(text) => Some(&text.value),
        _ => None,
    }
}

fn unpinned(at: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::UnpinnedTool, at, message)
}

fn unpinned_tool(at: Span, server: &str, tool: &str, mended: Option<&str>) -> Diagnostic {
    let found = unpinned(at, format!("no tool `{tool}` of `{server}` is pinned"))
        .label("stands for no tool that a person has accepted");
    match mended {
        Some(mended) => super::messages::did_you_mean(found, at, mended),
        None => found.help(format!(
            "write the name of a pinned tool (`statemark upstream list`); if `{server}` has this one by now, accept it: \
             `statemark upstream accept {server} {tool}`"
        )),
    }
}

fn nothing_begins_so(at: Span, server: &str, beginning: &str) -> Diagnostic {
    let message = format!("no pinned tool of `{server}` begins with `{beginning}`");
    unpinned(at, message)
        .label("stands for no tool that a person has accepted")
        .help("`statemark upstream list` shows the tools that are pinned")
}

fn unpinned_server(at: Span, server: &str) -> Diagnostic {
    unpinned(at, format!("no tool of `{server}` is pinned"))
        .label("nobody may call it before a person has accepted the server")
        .help(format!(
            "a person looks at what it has, and accepts it: `statemark upstream accept {server}`"
        ))
}
