//! Arguments of calls, as patterns over paths judge them.
//!
//! A pattern such as `Edit(src/**)` says something about paths, and nobody knows which argument a tool reads. So each text in
//! a call is a path, a glob over paths, or a text that names no file; a call with any other is judged by no pattern over
//! paths. The names are those of the packs' tools, of clients' own and of widespread servers.

use serde_json::Value;

use super::words::pack_tool_of;

/// The arguments that hold a tool's paths: one, or a list.
pub const PATH_ARGUMENTS: &[&str] = &[
    "path",
    "file_path",
    "notebook_path",
    "paths",
    "source",
    "destination",
    "src",
    "dest",
];

/// The arguments that hold globs over the paths that a tool reads: one, or a list.
const GLOBS: [&str; 6] = [
    "glob",
    "glob_pattern",
    "include",
    "include_pattern",
    "includes",
    "pattern",
];

/// The arguments that hold texts which name no file that a tool opens.
///
/// They are what it writes, looks for or leaves out.
const TEXTS: [&str; 42] = [
    "cell_id",
    "cell_type",
    "code_edit",
    "content",
    "contents",
    "description",
    "edit_mode",
    "encoding",
    "exclude",
    "exclude_pattern",
    "exclude_patterns",
    "excludePatterns",
    "explanation",
    "file_text",
    "ignore",
    "ignore_globs",
    "insert_text",
    "instruction",
    "instructions",
    "new",
    "new_source",
    "new_str",
    "new_string",
    "new_text",
    "newString",
    "newText",
    "old",
    "old_str",
    "old_string",
    "old_text",
    "oldString",
    "oldText",
    "output_mode",
    "pages",
    "patch",
    "query",
    "regex",
    "run_id",
    "sort_by",
    "sortBy",
    "text",
    "type",
];

/// The argument that names a revision of git. With a colon it names a file.
const REVISION: &str = "rev";

/// The tools of packs whose `pattern` is looked for in texts.
const TEXT_SEARCHES: [&str; 1] = ["grep_files"];

/// The reason that a call isn't granted for one of its paths, in words that follow a list of patterns.
pub(super) const NO_MATCH: &str = "; a path of the call matches none of them";

/// The paths of a call, and the first reason for which they may not be all of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// The paths, without `.` and empty parts.
    pub(super) inside: Vec<String>,
    /// The reason that no pattern over paths judges the call, in words that follow a list of patterns.
    pub(super) unjudged: Option<String>,
}

impl Paths {
    /// Finds the paths of a call.
    pub(super) fn of_call(tool: &str, arguments: &Value) -> Self {
        let mut found = Self::default();
        let mut globs = Vec::new();
        for (name, value) in arguments.as_object().into_iter().flatten() {
            found.read(tool, name, value, &mut globs);
        }
        // A glob is over what lies in the folder that a call names, if it names one.
        let folders = found.inside.clone();
        for glob in globs {
            let Some(all) = paths_of_glob(glob) else {
                found.leave(format!(
                    "; the glob `{glob}` of the call may lead out of its folder"
                ));
                continue;
            };
            let below = folders.iter().filter(|folder| !folder.is_empty());
            let joined =
                below.flat_map(|folder| all.iter().map(move |it| format!("{folder}/{it}")));
            found.inside.extend(joined);
            if folders.is_empty() {
                found.inside.extend(all);
            }
        }
        found
    }

    fn read<'v>(&mut self, tool: &str, name: &str, value: &'v Value, globs: &mut Vec<&'v str>) {
        match value {
            Value::Null => {}
            Value::Array(all) => all.iter().for_each(|it| self.read(tool, name, it, globs)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.read(tool, name, value, globs);
                }
            }
            value if PATH_ARGUMENTS.contains(&name) => match value.as_str().and_then(normal_path) {
                Some(path) => self.inside.push(path),
                None => self.leave(NO_MATCH.to_owned()),
            },
            Value::Bool(_) | Value::Number(_) => {}
            Value::String(glob) if is_glob(tool, name) => globs.push(glob),
            Value::String(_) if name == "pattern" || TEXTS.contains(&name) => {}
            Value::String(revision) if name == REVISION && !revision.contains(':') => {}
            Value::String(_) => self.leave(format!(
                "; its argument `{name}` may be a path that they don't judge: leave it out, or have the state grant the tool without paths"
            )),
        }
    }

    fn leave(&mut self, why: String) {
        self.unjudged.get_or_insert(why);
    }
}

/// Reports whether an argument of a tool holds a glob over paths.
#[must_use]
pub fn is_glob(tool: &str, name: &str) -> bool {
    GLOBS.contains(&name) && !(name == "pattern" && searches_texts(tool))
}

/// Reports whether a tool looks for its `pattern` in texts.
fn searches_texts(tool: &str) -> bool {
    pack_tool_of(tool).is_some_and(|own| TEXT_SEARCHES.contains(&own))
        || TEXT_SEARCHES.contains(&tool)
}

/// Most globs that braces may stand for. Why: each pair doubles them.
const MOST_ALTERNATIVES: usize = 64;

/// Longest glob that is read. Unit: bytes. Why: no path is longer.
const MAX_GLOB: usize = 4096;

/// Returns paths that a pattern has to match if it is to match all that a glob does.
///
/// None if the glob may lead out of where it begins.
fn paths_of_glob(glob: &str) -> Option<Vec<String>> {
    // Of `@(a|b)` and its like nobody knows whether the tool reads them so.
    let is_group = |(at, _)| {
        glob.get(..at)
            .is_some_and(|it| it.ends_with(['?', '*', '+', '@', '!']))
    };
    if glob.len() > MAX_GLOB || glob.match_indices('(').any(is_group) {
        return None;
    }
    let all = expand_braces(glob)?;
    let paths = all.iter().map(|glob| {
        let glob = glob.trim_start_matches('!');
        let path = normal_path(glob)?;
        // It is an escape for one reader, and parts folders for another.
        let readings = ["", "/"].map(|other| normal_path(&glob.replace('\\', other)));
        readings.iter().all(Option::is_some).then_some(())?;
        // It stands for any number of folders, which one wildcard of a pattern doesn't.
        Some(path.replace("**", "**/**"))
    });
    paths.collect()
}

/// Returns the globs that one with braces stands for; none if they are too many, or don't match.
fn expand_braces(glob: &str) -> Option<Vec<String>> {
    let mut open = vec![glob.to_owned()];
    let mut all = Vec::new();
    while let Some(next) = open.pop() {
        let Some((before, rest)) = next.split_once('{') else {
            all.push(next);
            continue;
        };
        let (mut depth, mut from) = (1_usize, 0);
        let mut alternatives = Vec::new();
        let mut after = None;
        for (at, sign) in rest.char_indices() {
            depth = match sign {
                '{' => depth + 1,
                '}' => depth - 1,
                _ => depth,
            };
            if depth == 0 || depth == 1 && sign == ',' {
                alternatives.push(rest.get(from..at)?);
                from = at + 1;
            }
            if depth == 0 {
                after = rest.get(from..);
                break;
            }
        }
        let after = after?;
        if open.len() + all.len() + alternatives.len() > MOST_ALTERNATIVES {
            return None;
        }
        open.extend(alternatives.iter().map(|it| format!("{before}{it}{after}")));
    }
    Some(all)
}

/// Returns a path without `.` and empty parts; `None` if it may lead out of the root.
///
/// So may one that begins with `~`: many a program takes that for a home.
#[must_use]
pub fn normal_path(path: &str) -> Option<String> {
    let parts = path.split('/');
    if path.starts_with(['/', '~']) || parts.clone().any(|part| part == "..") {
        return None;
    }
    let kept: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    Some(kept.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What a call is judged by: its paths, or why none of them is all of it.
    fn judged(tool: &str, arguments: &Value) -> Result<String, String> {
        let paths = Paths::of_call(tool, arguments);
        paths
            .unjudged
            .map_or_else(|| Ok(paths.inside.join(" ")), Err)
    }

    #[test]
    fn every_text_of_a_call_is_a_path_a_glob_or_names_no_file() {
        for (tool, arguments, paths) in [
            (
                "Read",
                json!({"path": "src/a", "offset": 1, "pages": "1-3"}),
                "src/a",
            ),
            (
                "Write",
                json!({"path": "./src//a", "content": "/etc/passwd"}),
                "src/a",
            ),
            (
                "MultiEdit",
                json!({"path": "a", "edits": [{"old_string": "../x", "new_string": "~", "replace_all": true}]}),
                "a",
            ),
            (
                "MultiEdit",
                json!({"path": "a", "edits": [{"file_path": "b", "old_string": "x"}]}),
                "b a",
            ),
            (
                "Grep",
                json!({"pattern": "/etc|\\.\\./x", "path": "src", "glob": "*.{rs,toml}", "-A": 3, "type": "rust"}),
                "src src/*.toml src/*.rs",
            ),
            (
                "grep_files",
                json!({"pattern": "/etc", "path": "src", "include": ["*.rs"]}),
                "src src/*.rs",
            ),
            (
                "Glob",
                json!({"pattern": "**/*.rs", "path": "src"}),
                "src src/**/**/*.rs",
            ),
            ("Glob", json!({"pattern": "src/**/*.rs"}), "src/**/**/*.rs"),
            ("Glob", json!({"pattern": "src/a.rs"}), "src/a.rs"),
            (
                "Glob",
                json!({"pattern": "{src,a/{b,c}}/*"}),
                "a/c/* a/b/* src/*",
            ),
            (
                "read_many_files",
                json!({"include": ["src/a", "src/b/*"], "exclude": ["../x"]}),
                "src/a src/b/*",
            ),
            (
                "git_show",
                json!({"path": "src/a", "rev": "HEAD~2"}),
                "src/a",
            ),
            (
                "mcp__fs__move",
                json!({"source": "a", "destination": "b"}),
                "b a",
            ),
            (
                "mcp__fs__put",
                json!({"path": "a", "id": 7, "deep": {"content": "x"}}),
                "a",
            ),
        ] {
            assert_eq!(
                judged(tool, &arguments),
                Ok(paths.to_owned()),
                "{tool} {arguments}"
            );
        }
        let unknown = |name: &str| {
            format!(
                "; its argument `{name}` may be a path that they don't judge: leave it out, or have the state grant the tool without paths"
            )
        };
        let leads_out =
            |glob: &str| format!("; the glob `{glob}` of the call may lead out of its folder");
        for (tool, arguments, why) in [
            ("Read", json!({"path": "../a"}), NO_MATCH.to_owned()),
            (
                "Read",
                json!({"path": "a", "paths": ["b", 7]}),
                NO_MATCH.to_owned(),
            ),
            (
                "Read",
                json!({"path": {"of": "a"}, "of": "b"}),
                unknown("of"),
            ),
            (
                "mcp__fs__put",
                json!({"path": "a", "filename": "../secret/key"}),
                unknown("filename"),
            ),
            (
                "mcp__fs__put",
                json!({"path": "a", "Path": "secret/key"}),
                unknown("Path"),
            ),
            (
                "mcp__fs__put",
                json!({"path": "a", "more": [{"target": "x"}]}),
                unknown("target"),
            ),
            (
                "git_show",
                json!({"path": "src/a", "rev": "HEAD:secret/key"}),
                unknown("rev"),
            ),
            (
                "Glob",
                json!({"pattern": "/etc/**", "path": "src"}),
                leads_out("/etc/**"),
            ),
            (
                "Glob",
                json!({"pattern": "~/x", "path": "src"}),
                leads_out("~/x"),
            ),
            (
                "Glob",
                json!({"pattern": "*/../../x", "path": "src"}),
                leads_out("*/../../x"),
            ),
            (
                "Glob",
                json!({"pattern": "{a,/etc}/**", "path": "src"}),
                leads_out("{a,/etc}/**"),
            ),
            (
                "Glob",
                json!({"pattern": "{a,../b}/**", "path": "src"}),
                leads_out("{a,../b}/**"),
            ),
            (
                "Glob",
                json!({"pattern": "{.,a}./b", "path": "src"}),
                leads_out("{.,a}./b"),
            ),
            (
                "Glob",
                json!({"pattern": "a/{b,{c,..}}/d", "path": "src"}),
                leads_out("a/{b,{c,..}}/d"),
            ),
            (
                "Glob",
                json!({"pattern": "{a", "path": "src"}),
                leads_out("{a"),
            ),
            (
                "Glob",
                json!({"pattern": "@(.|a)./b", "path": "src"}),
                leads_out("@(.|a)./b"),
            ),
            (
                "Glob",
                json!({"pattern": "!/etc/*", "path": "src"}),
                leads_out("!/etc/*"),
            ),
            (
                "Glob",
                json!({"pattern": "a/\\.\\./b", "path": "src"}),
                leads_out("a/\\.\\./b"),
            ),
            (
                "Glob",
                json!({"pattern": "a\\..\\b", "path": "src"}),
                leads_out("a\\..\\b"),
            ),
            (
                "grep_search",
                json!({"pattern": "k", "path": "src", "include_pattern": "../secret/*"}),
                leads_out("../secret/*"),
            ),
            (
                "read_many_files",
                json!({"include": [".env", "/etc/passwd"], "path": "src/a"}),
                leads_out("/etc/passwd"),
            ),
        ] {
            assert_eq!(judged(tool, &arguments), Err(why), "{tool} {arguments}");
        }
    }
}
