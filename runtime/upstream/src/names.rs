//! Names of other servers' tools: `<server>__<tool>`.
//!
//! No tool of ours has `__` in its name, so none of these can pass for one.

use std::collections::BTreeMap;

/// The characters between the server's name and the tool's.
pub(crate) const SEPARATOR: &str = "__";

/// Longest name of a server. Unit: bytes. Why: clients put theirs before it, and have 64 for all.
const MAX_SERVER: usize = 32;

/// Longest name of a tool. Unit: bytes. Source: the protocol's section on tools.
const MAX_NAME: usize = 128;

/// The reason why a name can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadName {
    /// A server's name, or a prefix, isn't one.
    #[error(
        "`{name}` can't begin names of tools: it has letters, digits, `-` and single `_`, at most {MAX_SERVER}"
    )]
    Prefix {
        /// The name.
        name: String,
    },
    /// A tool's name isn't one.
    #[error(
        "`{name}` of `{server}` is no name of a tool: it has letters, digits, `_`, `-` and `.`, and with its prefix at most {MAX_NAME}"
    )]
    Tool {
        /// The server.
        server: String,
        /// The name, with hidden characters shown.
        name: String,
    },
    /// Several tools have the same name.
    #[error(
        "{} have a tool `{name}`: give one of them another `prefix`",
        list(servers)
    )]
    Clash {
        /// The name.
        name: String,
        /// The servers.
        servers: Vec<String>,
    },
}

fn list(servers: &[String]) -> String {
    let servers: Vec<String> = servers.iter().map(|it| format!("`{it}`")).collect();
    servers.join(" and ")
}

/// Checks that names of tools can begin with a server's name, or a prefix.
pub(crate) fn check_prefix(name: &str) -> Result<(), BadName> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    let is_valid = !name.is_empty()
        && name.len() <= MAX_SERVER
        && name.chars().all(is_name)
        && !name.contains(SEPARATOR)
        && !name.ends_with('_');
    if is_valid {
        return Ok(());
    }
    Err(BadName::Prefix {
        name: statemark_text::visible::line(name).into_owned(),
    })
}

/// Returns the name that clients call a tool by.
pub(crate) fn join(prefix: &str, server: &str, tool: &str) -> Result<String, BadName> {
    let name = format!("{prefix}{tool}");
    let is_name = |it: char| it.is_ascii_alphanumeric() || ['_', '-', '.'].contains(&it);
    if !tool.is_empty() && tool.chars().all(is_name) && name.len() <= MAX_NAME {
        return Ok(name);
    }
    Err(BadName::Tool {
        server: server.to_owned(),
        name: statemark_text::visible::line(tool).into_owned(),
    })
}

/// Finds the names that several servers' tools have. `names` has each with its server.
pub(crate) fn clashes(names: impl Iterator<Item = (String, String)>) -> Vec<BadName> {
    let mut servers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, server) in names {
        servers.entry(name).or_default().push(server);
    }
    let several = servers.into_iter().filter(|(_, all)| all.len() > 1);
    several
        .map(|(name, servers)| BadName::Clash { name, servers })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_their_server() {
        assert_eq!(join("a__", "a", "b").unwrap(), "a__b");
        for tool in ["", "a b", "a\u{1b}[2J", "é", "a/b", &"x".repeat(126)] {
            assert!(join("a__", "a", tool).is_err(), "{tool:?}");
        }
        for prefix in ["", "a__b", "a_", "a b", "é", &"x".repeat(33)] {
            assert!(check_prefix(prefix).is_err(), "{prefix:?}");
        }
        check_prefix("my-docs_2").unwrap();
    }

    #[test]
    fn clashes_name_the_servers() {
        let pair = |name: &str, server: &str| (name.to_owned(), server.to_owned());
        let names = [
            pair("x__a", "one"),
            pair("x__a", "two"),
            pair("x__b", "one"),
        ];
        let clashes = clashes(names.into_iter());
        let [clash] = clashes.as_slice() else {
            panic!("{clashes:?}");
        };
        assert_eq!(
            clash.to_string(),
            "`one` and `two` have a tool `x__a`: give one of them another `prefix`"
        );
    }
}
