//! Patterns of `allowed_tools`: a glob over names of tools, and one over paths or commands.
//!
//! `Read`, `git_*`, `fs.*` (all tools of a pack), `Bash(cargo test:*)`, `Edit(src/**)`. A tool that takes commands is judged by
//! each command of a call, another one by each path.

use std::fmt;

use serde_json::Value;
use statemark_text::shorten::shorten;

use super::arguments::{NO_MATCH, PATH_ARGUMENTS, Paths};
use super::command::{
    Command, CommandPattern, Unread, commands_of_call, find_ungranted, is_forbidden, takes_commands,
};
use super::words::{other_names, pack_tools};
use crate::glob;

/// An entry of `allowed_tools` or `disallowed_tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    arguments: Option<String>,
}

impl Pattern {
    /// Parses an entry.
    ///
    /// # Errors
    ///
    /// A message that says that it has no name, or that its parentheses don't match.
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

    /// Reports whether the pattern forbids a call.
    ///
    /// A call whose path or command can't be judged is forbidden.
    #[must_use]
    pub fn forbids(&self, tool: &str, arguments: &Value) -> bool {
        if !self.names(tool) {
            return false;
        }
        let Some(pattern) = &self.arguments else {
            return true;
        };
        match (
            call_commands(tool, arguments),
            CommandPattern::parse(pattern),
        ) {
            (None, _) => {
                let paths = Paths::of_call(tool, arguments);
                paths.unjudged.is_some()
                    || paths.places.is_empty()
                    || paths.places.iter().any(|it| it.may_touch(pattern))
            }
            (Some(Ok(commands)), Ok(pattern)) => is_forbidden(&commands, &pattern),
            (Some(_), _) => true,
        }
    }

    /// Reports whether it may match a call that another pattern matches: assumed for globs.
    pub(super) fn may_cover(&self, other: &Self) -> bool {
        other.name.contains(['*', '?']) || self.names(&other.name)
    }

    /// Reports whether it matches every call of a tool, whatever the arguments.
    pub(super) fn covers_all_calls(&self, tool: &str) -> bool {
        self.arguments.is_none() && self.names(tool)
    }

    /// Reports whether it matches some call of a tool, by one of the tool's names.
    pub(super) fn names(&self, tool: &str) -> bool {
        self.has_name(tool) || other_names(tool).any(|name| self.has_name(name))
    }

    fn has_name(&self, tool: &str) -> bool {
        if let Some(pack) = self.name.strip_suffix(".*")
            && let Some(tools) = pack_tools(pack)
        {
            return tools.contains(&tool);
        }
        glob::matches_name(&self.name, tool)
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

/// Checks that some patterns grant a call.
///
/// One has to match all its paths; several may match its commands.
///
/// # Errors
///
/// Why not, in words that may follow the list of the patterns. Empty if none of them names the tool.
pub(super) fn check_granted(
    patterns: &[Pattern],
    tool: &str,
    arguments: &Value,
) -> Result<(), String> {
    let naming: Vec<&Pattern> = patterns.iter().filter(|it| it.names(tool)).collect();
    if naming.is_empty() {
        return Err(String::new());
    }
    let texts: Option<Vec<&String>> = naming.iter().map(|it| it.arguments.as_ref()).collect();
    let Some(texts) = texts else {
        // One of them stands for all calls.
        return Ok(());
    };
    if let Some(commands) = call_commands(tool, arguments) {
        let patterns = texts.iter().filter_map(|it| CommandPattern::parse(it).ok());
        return check_commands(commands, &patterns.collect::<Vec<_>>());
    }
    let paths = Paths::of_call(tool, arguments);
    if let Some(why) = paths.unjudged {
        return Err(why);
    }
    let matches = |pattern: &&String| {
        let mut places = paths.places.iter();
        places.all(|place| place.is_within(pattern))
    };
    match !paths.places.is_empty() && texts.iter().any(matches) {
        true => Ok(()),
        false => Err(NO_MATCH.to_owned()),
    }
}

/// Most characters of a command that a refusal shows. Why: it is there to be recognized.
const MAX_SHOWN: usize = 160;

/// Checks that some patterns grant all commands of a call.
///
/// # Errors
///
/// Why not, in words that may follow the list of the patterns.
pub(super) fn check_commands(
    commands: Result<Vec<Command>, Unread>,
    patterns: &[CommandPattern],
) -> Result<(), String> {
    if patterns.contains(&CommandPattern::Any) {
        return Ok(());
    }
    let commands = commands.map_err(|unread| {
        format!("; {unread} of the command isn't read, so that nothing grants it")
    })?;
    if commands.is_empty() {
        return Err("; the call has no command".to_owned());
    }
    match find_ungranted(&commands, patterns) {
        None => Ok(()),
        Some(ungranted) => Err(format!("; {}", shorten(&ungranted.to_string(), MAX_SHOWN))),
    }
}

/// Returns the commands of a call that is judged by them; `None` if it is judged by its paths.
pub(super) fn call_commands(tool: &str, arguments: &Value) -> Option<Result<Vec<Command>, Unread>> {
    let has_paths = || {
        PATH_ARGUMENTS
            .iter()
            .any(|key| arguments.get(key).is_some())
    };
    if !takes_commands(tool) && has_paths() {
        return None;
    }
    let commands = commands_of_call(tool, arguments);
    match takes_commands(tool) {
        true => Some(commands.unwrap_or_else(|| Ok(Vec::new()))),
        false => commands,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_globs() {
        let allows = |pattern: &str, tool: &str| {
            check_granted(&[Pattern::parse(pattern).unwrap()], tool, &json!({})).is_ok()
        };
        for (pattern, tool, expected) in [
            ("Read", "Read", true),
            ("Read", "read", true),
            ("Read", "READ", false),
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
            assert_eq!(allows(pattern, tool), expected, "{pattern} {tool}");
        }
    }

    /// Reports whether a pattern alone grants a call.
    fn grants(pattern: &Pattern, tool: &str, arguments: &Value) -> bool {
        check_granted(std::slice::from_ref(pattern), tool, arguments).is_ok()
    }

    #[test]
    fn a_tool_goes_by_the_names_of_packs_and_clients() {
        for (pattern, tool, expected) in [
            ("Edit", "edit_file", true),
            ("edit_file", "MultiEdit", true),
            ("Edit", "replace", true),
            ("fs.*", "Read", true),
            ("fs.*", "Bash", false),
            ("exec", "Shell", true),
            ("Bash", "exec", true),
            ("exec", "Monitor", true),
            ("Bash", "PowerShell", true),
            ("Write", "edit_file", false),
            ("edit_file", "Write", false),
            ("read_*", "Read", true),
            ("Read", "Edit", false),
        ] {
            let pattern = Pattern::parse(pattern).unwrap();
            assert_eq!(pattern.names(tool), expected, "{pattern} {tool}");
        }
    }

    #[test]
    fn what_is_not_understood_is_neither_granted_nor_let_through() {
        let pattern = Pattern::parse("Edit(src/**)").unwrap();
        let call = |path: &str| json!({ "path": path });
        assert!(grants(&pattern, "Edit", &call("src/a/b.rs")));
        assert!(!grants(&pattern, "Edit", &call("tests/b.rs")));
        assert!(!grants(&pattern, "Edit", &call("src/../secret")));
        assert!(pattern.forbids("Edit", &call("src/../secret")));
        assert!(!grants(&pattern, "Edit", &json!({})));
        assert!(pattern.forbids("Edit", &json!({})));
        assert!(!pattern.forbids("Edit", &call("tests/b.rs")));
    }

    #[test]
    fn every_path_of_a_call_counts() {
        let pattern = Pattern::parse("move_file(src/**)").unwrap();
        let call = |from: &str, to: &str| json!({"source": from, "destination": to});
        for (from, to, allows, forbids) in [
            ("src/a", "src/b", true, true),
            ("./src//a", "src/./b", true, true),
            ("src/a", "b", false, true),
            ("a", "src/b", false, true),
            ("a", "b", false, false),
            ("src/a", "/src/b", false, true),
            ("src/a", "src/../../b", false, true),
            ("src/a", "~/src/b", false, true),
        ] {
            let call = call(from, to);
            assert_eq!(grants(&pattern, "move_file", &call), allows, "{call}");
            assert_eq!(pattern.forbids("move_file", &call), forbids, "{call}");
        }
        let several = json!({"paths": ["src/a", "b"]});
        let pattern = Pattern::parse("read_multiple_files(src/**)").unwrap();
        assert!(!grants(&pattern, "read_multiple_files", &several));
        assert!(pattern.forbids("read_multiple_files", &several));
        assert!(!grants(
            &pattern,
            "read_multiple_files",
            &json!({"paths": []})
        ));
        assert!(!grants(
            &pattern,
            "read_multiple_files",
            &json!({"paths": ["src/a", 7]})
        ));
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
