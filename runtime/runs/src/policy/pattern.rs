//! One entry of `allowed_tools`: a glob over a tool's whole name, and perhaps what its arguments must be.
//!
//! `Read`, `git_*`, `fs.*` (all tools of a pack), `Bash(cargo test:*)`, `Edit(src/**)`.

use std::fmt;

use serde_json::Value;

use super::words::tools_of_pack;

/// An entry of `allowed_tools` or `disallowed_tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    arguments: Option<String>,
}

/// In which argument a tool has the path that it is about.
const PATHS: &[&str] = &["path", "file_path", "notebook_path"];

impl Pattern {
    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// It has no name, or its parentheses don't match. The text says so.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, arguments) = match text.split_once('(') {
            None if text.contains(')') => return Err(format!("`{text}` has no `(`")),
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(arguments) => (name, Some(arguments.to_owned())),
                None => return Err(format!("`{text}` doesn't end with `)`")),
            },
        };
        if name.is_empty() {
            return Err(format!("`{text}` names no tool"));
        }
        Ok(Self {
            name: name.to_owned(),
            arguments,
        })
    }

    /// Whether a call is granted by it. Arguments that can't be understood aren't.
    #[must_use]
    pub fn admits(&self, tool: &str, arguments: &Value) -> bool {
        self.names(tool)
            && match &self.arguments {
                None => true,
                Some(pattern) => fits(pattern, arguments).unwrap_or(false),
            }
    }

    /// Whether a call is forbidden by it. Arguments that can't be understood are.
    #[must_use]
    pub fn forbids(&self, tool: &str, arguments: &Value) -> bool {
        self.names(tool)
            && match &self.arguments {
                None => true,
                Some(pattern) => fits(pattern, arguments).unwrap_or(true),
            }
    }

    /// Whether it may grant something of what another one grants: sure for names, assumed of globs.
    pub(super) fn covers(&self, other: &Self) -> bool {
        other.name.contains(['*', '?']) || self.names(&other.name)
    }

    /// Whether it is about every call of a tool, whatever the arguments.
    pub(super) fn is_of_all(&self, tool: &str) -> bool {
        self.arguments.is_none() && self.names(tool)
    }

    /// Whether it is about a tool at all.
    pub(super) fn names(&self, tool: &str) -> bool {
        if let Some(pack) = self.name.strip_suffix(".*")
            && let Some(tools) = tools_of_pack(pack)
        {
            return tools.contains(&tool);
        }
        globbed(&self.name, tool)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        match &self.arguments {
            None => Ok(()),
            Some(arguments) => write!(out, "({arguments})"),
        }
    }
}

/// Whether a call's path fits; nothing if the call has no path, or one that leaves where it seems to be.
fn fits(pattern: &str, arguments: &Value) -> Option<bool> {
    let path = PATHS.iter().find_map(|key| arguments.get(key)?.as_str())?;
    let path = path.strip_prefix("./").unwrap_or(path);
    let leaves = path.starts_with('/') || path.split('/').any(|part| part == "..");
    if leaves {
        return None;
    }
    Some(crate::glob::matches(pattern, path))
}

/// Whether a name fits a glob in which `*` is any text and `?` any letter.
fn globbed(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // The last `*`, and how much of the name it has eaten.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == '?' || Some(letter) == name.get(from) => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((place, eaten)) => {
                    *eaten += 1;
                    (at, from) = (*place + 1, *eaten);
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_globs() {
        let admits =
            |pattern: &str, tool: &str| Pattern::parse(pattern).unwrap().admits(tool, &json!({}));
        for (pattern, tool, expected) in [
            ("Read", "Read", true),
            ("Read", "read", false),
            ("Read", "ReadAll", false),
            ("git_*", "git_status", true),
            ("*", "anything", true),
            ("mcp__*__get", "mcp__a__b__get", true),
            ("mcp__*__get", "mcp__a__set", false),
            ("gi?_log", "git_log", true),
            ("fs.*", "read_file", true),
            ("fs.*", "git_log", false),
            ("", "", false),
        ] {
            if pattern.is_empty() {
                assert_eq!(Pattern::parse(pattern), Err("`` names no tool".to_owned()));
                continue;
            }
            assert_eq!(admits(pattern, tool), expected, "{pattern} {tool}");
        }
    }

    #[test]
    fn what_is_not_understood_is_neither_granted_nor_let_through() {
        let pattern = Pattern::parse("Edit(src/**)").unwrap();
        let call = |path: &str| json!({ "path": path });
        assert!(pattern.admits("Edit", &call("src/a/b.rs")));
        assert!(!pattern.admits("Edit", &call("tests/b.rs")));
        assert!(!pattern.admits("Edit", &call("src/../secret")));
        assert!(pattern.forbids("Edit", &call("src/../secret")));
        assert!(!pattern.admits("Edit", &json!({})));
        assert!(pattern.forbids("Edit", &json!({})));
        assert!(!pattern.forbids("Edit", &call("tests/b.rs")));
    }

    #[test]
    fn a_broken_pattern_says_so() {
        for (text, why) in [
            ("Bash(ls", "`Bash(ls` doesn't end with `)`"),
            ("Bash)", "`Bash)` has no `(`"),
            ("(x)", "`(x)` names no tool"),
        ] {
            assert_eq!(Pattern::parse(text), Err(why.to_owned()));
        }
    }
}
