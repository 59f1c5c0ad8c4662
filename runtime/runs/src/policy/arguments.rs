//! Arguments of calls, as patterns over paths judge them.
//!
//! A pattern such as `Edit(src/**)` says something about paths, and nobody knows which argument a tool reads. So each text in
//! a call is a path, a glob over paths, or a text that names no file; a call with any other is judged by no pattern over
//! paths. The names are those of the packs' tools, of clients' own and of widespread servers.

use serde_json::Value;

use super::words::pack_tool_of;
use crate::glob;

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
/// They are what it writes, replaces or leaves out.
const TEXTS: [&str; 20] = [
    "code_edit",
    "content",
    "contents",
    "encoding",
    "excludePatterns",
    "file_text",
    "insert_text",
    "new_source",
    "new_str",
    "new_string",
    "new_text",
    "newString",
    "newText",
    "old_str",
    "old_string",
    "old_text",
    "oldString",
    "oldText",
    "patch",
    "sortBy",
];

/// Further such arguments of packs' tools and of clients' own.
///
/// Of other servers' tools nobody knows what they mean.
const TEXTS_OF_KNOWN: [&str; 23] = [
    "cell_id",
    "cell_type",
    "description",
    "edit_mode",
    "exclude",
    "exclude_pattern",
    "exclude_patterns",
    "explanation",
    "ignore",
    "ignore_globs",
    "instruction",
    "instructions",
    "mode",
    "new",
    "old",
    "output_mode",
    "pages",
    "query",
    "regex",
    "run_id",
    "sort_by",
    "text",
    "type",
];

/// The argument that names a revision of git. With a colon it names a file.
const REVISION: &str = "rev";

/// The tools of packs whose `pattern` is looked for in texts.
const TEXT_SEARCHES: [&str; 1] = ["grep_files"];

/// The client's tool whose paths are globs, too.
const READS_GLOBS: &str = "read_many_files";

/// The reason that a call isn't granted for one of its paths, in words that follow a list of patterns.
pub(super) const NO_MATCH: &str = "; a path of the call matches none of them";

/// The paths of a call, and the first reason for which they may not be all of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// The paths.
    pub(super) places: Vec<Place>,
    /// The reason that no pattern over paths judges the call, in words that follow a list of patterns.
    pub(super) unjudged: Option<String>,
}

/// A path of a call, and what the call reads or changes by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The path or the glob, without `.` and empty parts.
    path: String,
    reach: Reach,
}

/// The reach of a call from a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The file or folder that has the path.
    Itself,
    /// The file or folder, with all below it.
    Whole,
    /// All that lies below it; or it, if it is a file.
    Below,
    /// One of them, as the tool of another server takes it.
    Unknown,
    /// All that it matches as a glob.
    Glob,
}

impl Place {
    /// Reports whether a pattern matches all of it.
    pub(super) fn is_within(&self, pattern: &str) -> bool {
        let has_all_below = || glob::matches_path(pattern, &below(&self.path, "**/**"));
        glob::matches_path(pattern, &self.path) || self.reach == Reach::Below && has_all_below()
    }

    /// Reports whether a pattern may match a part of it.
    ///
    /// It is so on whatever system: some take names of either case for one.
    pub(super) fn may_touch(&self, pattern: &str) -> bool {
        let (path, pattern) = (fold_case(&self.path), fold_case(pattern));
        let (path, pattern) = (path.as_str(), pattern.as_str());
        let may_go_on = || glob::may_match_after(pattern, &below(path, ""));
        let reaches_below = match self.reach {
            Reach::Itself => false,
            Reach::Whole | Reach::Below => may_go_on(),
            // Most of such tools take a file: a pattern that matches at any depth would forbid all calls.
            Reach::Unknown => !pattern.starts_with(['*', '?']) && may_go_on(),
            Reach::Glob => {
                let literal = path.find(META).and_then(|end| path.get(..end));
                literal.is_some_and(|it| glob::may_match_after(pattern, it))
            }
        };
        reaches_below || glob::matches_path(pattern, path)
    }
}

/// Returns a text in which letters that are one but for their case are the same letter.
///
/// Some are one in upper case alone, such as `s` and the long `ſ`.
#[must_use]
pub fn fold_case(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// Returns the path of something in a folder.
fn below(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Returns how far calls of a tool reach from its paths.
fn reach_of(tool: &str) -> Reach {
    match pack_tool_of(tool).unwrap_or(tool) {
        "read_multiple_files" if tool == READS_GLOBS => Reach::Below,
        "read_file"
        | "read_multiple_files"
        | "read_image"
        | "read_media"
        | "stat_path"
        | "write_file"
        | "edit_file"
        | "append_file"
        | "create_directory" => Reach::Itself,
        "move_file" | "copy_file" | "delete_path" => Reach::Whole,
        "grep_files"
        | "search_files"
        | "list_directory"
        | "list_directory_recursive"
        | "directory_tree"
        | "git_status"
        | "git_diff"
        | "git_log"
        | "git_show" => Reach::Below,
        _ => Reach::Unknown,
    }
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
        let folders: Vec<String> = found.places.iter().map(|it| it.path.clone()).collect();
        for glob in globs {
            let Some(all) = paths_of_glob(glob) else {
                found.leave(format!(
                    "; the glob `{glob}` of the call may lead out of its folder"
                ));
                continue;
            };
            let joined = folders
                .iter()
                .flat_map(|folder| all.iter().map(move |it| below(folder, it)));
            let mut paths: Vec<String> = joined.collect();
            if folders.is_empty() {
                paths = all;
            }
            let reach = Reach::Glob;
            found
                .places
                .extend(paths.into_iter().map(|path| Place { path, reach }));
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
            Value::String(glob) if tool == READS_GLOBS && name == "paths" => globs.push(glob),
            value if PATH_ARGUMENTS.contains(&name) => match value.as_str().and_then(normal_path) {
                Some(path) => self.places.push(Place {
                    path,
                    reach: reach_of(tool),
                }),
                None => self.leave(NO_MATCH.to_owned()),
            },
            Value::Bool(_) | Value::Number(_) => {}
            Value::String(glob) if is_glob(tool, name) => globs.push(glob),
            Value::String(_) if name == "pattern" || TEXTS.contains(&name) => {}
            Value::String(_)
                if TEXTS_OF_KNOWN.contains(&name) && reach_of(tool) != Reach::Unknown => {}
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

/// The characters by which a glob is more than a path.
const META: [char; 9] = ['*', '?', '[', ']', '{', '}', '(', '!', '\\'];

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
        // It is an escape for one reader, and parts folders for another; and a class of one character is that character.
        let readings = [glob.replace('\\', "/"), glob.replace(['\\', '[', ']'], "")];
        let are_inside = readings.iter().all(|it| normal_path(it).is_some());
        are_inside.then_some(())?;
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
        let texts: Vec<&str> = paths.places.iter().map(|it| it.path.as_str()).collect();
        paths.unjudged.map_or_else(|| Ok(texts.join(" ")), Err)
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
                "mcp__fs__rename",
                json!({"path": "a", "new": "../secret"}),
                unknown("new"),
            ),
            (
                "read_many_files",
                json!({"include": ["src/[.][.]/secret/key"]}),
                leads_out("src/[.][.]/secret/key"),
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

    /// Says of a call whether a pattern grants it, and whether it forbids it.
    #[test]
    fn a_call_reaches_below_the_folders_that_it_names() {
        let judged = |pattern: &str, tool: &str, arguments: &Value| {
            let paths = Paths::of_call(tool, arguments);
            assert_eq!(paths.unjudged, None, "{tool} {arguments}");
            let grants = paths.places.iter().all(|it| it.is_within(pattern));
            (grants, paths.places.iter().any(|it| it.may_touch(pattern)))
        };
        for (pattern, tool, arguments, expected) in [
            ("src/**", "Grep", json!({"path": "src"}), (true, true)),
            ("src/**", "Grep", json!({"path": "src/a.rs"}), (true, true)),
            (
                "src/*.rs",
                "Grep",
                json!({"path": "src/a.rs"}),
                (true, true),
            ),
            ("src/**", "Grep", json!({"path": "."}), (false, true)),
            ("src/**", "Grep", json!({"path": "lib"}), (false, false)),
            (
                "src/*",
                "Glob",
                json!({"path": "src", "pattern": "**/*"}),
                (false, true),
            ),
            (
                "src/**",
                "Glob",
                json!({"path": "src", "pattern": "*.rs"}),
                (true, true),
            ),
            ("src/**", "Read", json!({"path": "src"}), (false, false)),
            ("src/**", "Read", json!({"path": "SRC/a"}), (false, true)),
            (
                "SRC/*",
                "Read",
                json!({"path": "\u{17f}rc/a"}),
                (false, true),
            ),
            (
                "secret/**",
                "Read",
                json!({"path": "secret/key"}),
                (true, true),
            ),
            (
                "secret/**",
                "Read",
                json!({"path": "src/a"}),
                (false, false),
            ),
            ("**/.env", "Read", json!({"path": "src/a"}), (false, false)),
            ("**/.env", "Grep", json!({"path": "src"}), (false, true)),
            (
                "secret/**",
                "move_file",
                json!({"source": "secret", "destination": "open"}),
                (false, true),
            ),
            (
                "secret/**",
                "copy_file",
                json!({"source": ".", "destination": "open"}),
                (false, true),
            ),
            (
                "secret/**",
                "read_many_files",
                json!({"include": ["secre?/key"]}),
                (false, true),
            ),
            (
                "secret/**",
                "read_many_files",
                json!({"paths": ["**"]}),
                (false, true),
            ),
            (
                "secret/**",
                "read_many_files",
                json!({"include": ["src/**"]}),
                (false, false),
            ),
            (
                "secret/**",
                "mcp__fs__tree",
                json!({"path": "."}),
                (false, true),
            ),
            (
                "**/.env",
                "mcp__fs__read",
                json!({"path": "src/a"}),
                (false, false),
            ),
        ] {
            assert_eq!(
                judged(pattern, tool, &arguments),
                expected,
                "{pattern} {tool} {arguments}"
            );
        }
    }
}
