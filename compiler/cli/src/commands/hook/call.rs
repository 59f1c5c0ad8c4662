//! Calls of an agent's own tools, as policy reads them.
//!
//! Paths become relative to the project's root, links resolved, so that a pattern such as `Edit(src/**)` means what it
//! says; a path outside stays whole, which no pattern over paths grants. So does the folder that a command runs in.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use statemark_runs::policy::{
    FOLDER_ARGUMENTS, PATH_ARGUMENTS, is_glob, normal_path, pack_tool_of,
};
use statemark_runs::{RunId, find_worktree};
use statemark_text::shorten::shorten;
use statemark_tools::{NativeCall, NativeUse};

use super::client::Call;
use crate::places::resolve;

/// The tool of Codex and OpenCode that changes files by a patch.
const PATCH: &str = "apply_patch";

/// The arguments in which it may have its patch.
const PATCH_ARGUMENTS: [&str; 4] = ["command", "input", "patch", "patchText"];

/// Further names of arguments with a path, which only clients' own tools have.
const OTHER_PATHS: [&str; 8] = [
    "absolute_path",
    "dir_path",
    "filePath",
    "target_file",
    "target_directory",
    "target_directories",
    "relative_workspace_path",
    "directory",
];

/// The tools of packs that change the files that they name.
const CHANGING: [&str; 7] = [
    "write_file",
    "edit_file",
    "append_file",
    "create_directory",
    "move_file",
    "copy_file",
    "delete_path",
];

/// Largest file that is compared with what a call writes. Unit: bytes.
///
/// Why: beyond, counting its lines would take seconds.
const MAX_COMPARED: u64 = 4 << 20;

/// The characters that end a line of a patch for one reader or another.
const ENDS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// The headers of a patch that name no file.
const MARKS: [&str; 3] = ["Begin Patch", "End Patch", "End of File"];

/// Most characters of a header that a refusal shows. Why: it is there to be recognized.
const MAX_HEADER: usize = 80;

/// Most levels of an answer in which a run's id is looked for.
const MAX_LEVELS: u32 = 6;

/// The changes of text in a call.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

/// A change of text.
#[derive(Debug)]
enum Edit {
    /// A text in a file is replaced by another, everywhere or once.
    Part {
        path: PathBuf,
        old: String,
        new: String,
        everywhere: bool,
    },
    /// A file gets a new content.
    Whole { path: PathBuf, new: String },
    /// So many lines are changed.
    Lines(u64),
}

/// Returns a call as policy reads it, in a project with this root, and the changes of text in it.
pub(super) fn to_native(call: &Call, root: &Path, folder: &Path) -> (NativeCall, Edits) {
    let folder = root.join(folder);
    let place = Place {
        root,
        folder: &folder,
    };
    let arguments = match pack_tool_of(&call.tool) {
        Some("exec") => place.command_arguments(&call.input),
        _ => place.arguments(&call.tool, &call.input),
    };
    let mut native = NativeCall {
        tool: call.tool.clone(),
        arguments,
        ..NativeCall::default()
    };
    let is_changing = pack_tool_of(&call.tool).is_some_and(|own| CHANGING.contains(&own));
    let edits = if call.tool == PATCH {
        match patch_of(&call.input) {
            Some(patch) => place.read_patch(&patch, &mut native),
            None => {
                native.forbidden = Some(format!(
                    "the patch isn't read: one of `{}` has to be its text, and the others too if they are there",
                    PATCH_ARGUMENTS.join("`, `")
                ));
                Edits::default()
            }
        }
    } else if is_changing {
        native.files = paths(&native.arguments).map(str::to_owned).collect();
        place.edits(&call.input)
    } else {
        Edits::default()
    };
    if let Some(outside) = native.files.iter().find(|it| normal_path(it).is_none())
        && find_worktree(root).is_some()
    {
        native.forbidden = Some(format!(
            "`{outside}` is outside of the worktree `{}`, in which this work is to stay",
            root.display()
        ));
    }
    (native, edits)
}

/// Returns the text of a patch, in whichever argument. Nobody knows which one the tool reads.
fn patch_of(input: &Value) -> Option<String> {
    let arguments = PATCH_ARGUMENTS.iter().filter_map(|key| input.get(key));
    let texts: Vec<&str> = match input {
        Value::String(text) => vec![text],
        _ => arguments.map(Value::as_str).collect::<Option<_>>()?,
    };
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns the paths in arguments.
fn paths(arguments: &Value) -> impl Iterator<Item = &str> {
    let values = PATH_ARGUMENTS.iter().filter_map(|key| arguments.get(key));
    let values = values.flat_map(|value| match value {
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    });
    values.filter_map(Value::as_str)
}

/// The root of the project, and the folder that paths start from.
struct Place<'p> {
    root: &'p Path,
    folder: &'p Path,
}

impl Place<'_> {
    /// Returns arguments with their paths as policy reads them.
    ///
    /// Globs are over the folder of the session, where a call names none.
    fn arguments(&self, tool: &str, input: &Value) -> Value {
        let Value::Object(input) = input else {
            return input.clone();
        };
        let mut arguments = Map::new();
        for (key, value) in input {
            let is_path = PATH_ARGUMENTS.contains(&key.as_str());
            let is_other = OTHER_PATHS.contains(&key.as_str());
            let key = if is_other { "path" } else { key };
            if let Some(glob) = value.as_str().filter(|_| is_glob(tool, key)) {
                arguments.insert(key.to_owned(), Value::from(self.relative_glob(glob, input)));
                continue;
            }
            if !is_path && !is_other {
                arguments.insert(key.to_owned(), self.deep_paths(value));
                continue;
            }
            let value: Value = match value {
                Value::Array(all) => all.iter().map(|it| self.path_value(it)).collect(),
                one => self.path_value(one),
            };
            // Nobody knows which of several arguments the tool reads: all of them are judged.
            match arguments.remove(key) {
                Some(former) => {
                    let all = [former, value].into_iter().flat_map(|value| match value {
                        Value::Array(all) => all,
                        one => vec![one],
                    });
                    arguments.insert(key.to_owned(), all.collect());
                }
                None => drop(arguments.insert(key.to_owned(), value)),
            }
        }
        let has_globs = input.keys().any(|name| is_glob(tool, name));
        let names_path = |name: &str| arguments.contains_key(name);
        let folder = self.relative("");
        if has_globs && folder != "." && !PATH_ARGUMENTS.iter().copied().any(names_path) {
            arguments.insert("path".to_owned(), Value::String(folder));
        }
        Value::Object(arguments)
    }

    /// Returns arguments of a command with the folder that it runs in.
    ///
    /// It is the session's, if they name none.
    fn command_arguments(&self, input: &Value) -> Value {
        let mut arguments = input.clone();
        let Some(fields) = arguments.as_object_mut() else {
            return arguments;
        };
        let mut is_named = false;
        for key in FOLDER_ARGUMENTS {
            if let Some(value) = fields.get_mut(key).filter(|it| !it.is_null()) {
                *value = self.path_value(value);
                is_named = true;
            }
        }
        let folder = self.relative("");
        if !is_named && folder != "." {
            fields.insert(FOLDER_ARGUMENTS[0].to_owned(), Value::String(folder));
        }
        arguments
    }

    /// Returns a glob relative to the root, if it is a whole one below it.
    ///
    /// Where the call names a folder for it, it stays as it is.
    fn relative_glob<'g>(&self, glob: &'g str, input: &Map<String, Value>) -> &'g str {
        let names_folder = input
            .keys()
            .any(|name| PATH_ARGUMENTS.contains(&&**name) || OTHER_PATHS.contains(&&**name));
        let root = self.root.to_str().filter(|_| !names_folder);
        let inside = root.and_then(|root| glob.strip_prefix(root)?.strip_prefix('/'));
        inside.filter(|_| self.relative("") == ".").unwrap_or(glob)
    }

    /// Returns a value with the paths that its own fields hold as policy reads them.
    fn deep_paths(&self, value: &Value) -> Value {
        match value {
            Value::Array(all) => all.iter().map(|it| self.deep_paths(it)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| {
                    let is_path = PATH_ARGUMENTS.contains(&name.as_str()) && value.is_string();
                    let value = if is_path {
                        self.path_value(value)
                    } else {
                        self.deep_paths(value)
                    };
                    (name.clone(), value)
                });
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }

    fn path_value(&self, value: &Value) -> Value {
        match value.as_str() {
            Some(path) => Value::String(self.relative(path)),
            None => value.clone(),
        }
    }

    /// Returns a path relative to the root, links resolved; the whole path if it lies elsewhere.
    ///
    /// One that leads up from what isn't a folder, or begins with `~`, lies wherever its client takes it to: it is none below
    /// the root.
    fn relative(&self, path: &str) -> String {
        // As clients do.
        let path = path.trim();
        if path.starts_with('~') {
            return path.to_owned();
        }
        let whole = resolve(&self.folder.join(path));
        let inside = whole.strip_prefix(self.root).ok();
        let shown = inside.unwrap_or(&whole);
        if shown.as_os_str().is_empty() {
            return ".".to_owned();
        }
        shown.to_string_lossy().into_owned()
    }

    /// Returns the changes of text that arguments describe, in the words of the clients' tools.
    fn edits(&self, input: &Value) -> Edits {
        let text = |value: &Value, keys: &[&str]| {
            let mut found = keys.iter().filter_map(|key| value.get(key)?.as_str());
            found.next().map(str::to_owned)
        };
        let path = paths(input).next();
        let path = path
            .map(str::to_owned)
            .or_else(|| text(input, &OTHER_PATHS));
        let path = self.folder.join(path.unwrap_or_default());
        let part = |value: &Value| {
            let flags = ["replace_all", "replaceAll", "allow_multiple"];
            let mut flags = flags.iter().filter_map(|key| value.get(key)?.as_bool());
            Some(Edit::Part {
                path: path.clone(),
                old: text(value, &["old_string", "oldString", "old"])?,
                new: text(value, &["new_string", "newString", "new"])?,
                everywhere: flags.any(|it| it),
            })
        };
        let several = input.get("edits").and_then(Value::as_array);
        let mut edits: Vec<Edit> = several.into_iter().flatten().filter_map(part).collect();
        edits.extend(part(input));
        if let Some(new) = text(input, &["content", "contents", "file_text"]) {
            edits.push(Edit::Whole { path, new });
        } else if let Some(source) = text(input, &["new_source"]) {
            edits.push(Edit::Lines(count_lines(&source)));
        }
        Edits(edits)
    }

    /// Reads a patch: what it does to which file.
    fn read_patch(&self, patch: &str, native: &mut NativeCall) -> Edits {
        let mut source = String::new();
        // Lines that go and that come in the file that is read.
        let (mut gone, mut come, mut lines) = (0_u64, 0_u64, 0_u64);
        for line in patch.split(ENDS) {
            let Some(header) = header(line) else {
                gone += u64::from(line.starts_with('-'));
                come += u64::from(line.starts_with('+'));
                continue;
            };
            if MARKS.contains(&header) {
                continue;
            }
            let named = header
                .split_once(": ")
                .map(|(verb, path)| (verb, self.relative(path.trim())));
            let (tool, arguments, path) = match named {
                Some(("Add File", path)) => ("write_file", json!({"path": path}), path),
                Some(("Update File", path)) => ("edit_file", json!({"path": path}), path),
                Some(("Delete File", path)) => ("delete_path", json!({"path": path}), path),
                Some(("Move to", path)) => {
                    let arguments = json!({"source": source, "destination": path});
                    ("move_file", arguments, path)
                }
                _ => {
                    native.forbidden = Some(format!(
                        "the patch isn't read: its line `{}` looks like a header and is none of `Add File`, `Update File`, `Delete File` and `Move to`; leave it out, or begin it with `+` or `-`",
                        shorten(line.trim(), MAX_HEADER)
                    ));
                    continue;
                }
            };
            lines += std::mem::take(&mut gone).max(std::mem::take(&mut come));
            source.clone_from(&path);
            native.files.push(path);
            native.uses.push(NativeUse { tool, arguments });
        }
        lines += gone.max(come);
        native.arguments = json!({"paths": native.files, "patch": patch});
        Edits(vec![Edit::Lines(lines)])
    }
}

impl Edits {
    /// Counts the lines that a call would change.
    pub(super) fn lines(&self) -> u64 {
        let counts = self.0.iter().map(|edit| match edit {
            Edit::Lines(lines) => *lines,
            Edit::Whole { path, new } => {
                let old = read_compared(path).unwrap_or_default();
                statemark_packs::changed_lines(&old, new)
            }
            Edit::Part {
                path,
                old,
                new,
                everywhere,
            } => {
                let lines = statemark_packs::changed_lines(old, new);
                let places = if *everywhere && !old.is_empty() {
                    read_compared(path).map_or(1, |text| text.matches(old.as_str()).count())
                } else {
                    1
                };
                lines.saturating_mul(u64::try_from(places).unwrap_or(u64::MAX))
            }
        });
        counts.fold(0, u64::saturating_add)
    }
}

/// Returns the text of a line that a reader of patches may take for a header.
///
/// Codex's reader trims such a line on both sides. A rule of Markdown is none: nothing of it names a file.
fn header(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("***")?;
    // Without a blank it is no header that is known: the text stays as it is, and names nothing.
    let text = rest.strip_prefix(' ').unwrap_or(line.trim());
    let is_rule = rest.chars().all(|it| it == '*' || it.is_whitespace());
    (!is_rule).then_some(text)
}

fn count_lines(text: &str) -> u64 {
    u64::try_from(text.lines().count()).unwrap_or(u64::MAX)
}

/// Reads a file that a call is to change, if it is a small one of text.
fn read_compared(path: &Path) -> Option<String> {
    let facts = fs::metadata(path).ok()?;
    if !facts.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_COMPARED).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the run that the arguments or the answer of a tool of ours name.
pub(super) fn named_run(input: &Value, response: &Value) -> Option<RunId> {
    let found = find_run(input, MAX_LEVELS).or_else(|| find_run(response, MAX_LEVELS))?;
    found.parse().ok()
}

fn find_run(value: &Value, levels: u32) -> Option<String> {
    let levels = levels.checked_sub(1)?;
    match value {
        Value::Object(map) => {
            let mut own = ["run_id", "runId"]
                .iter()
                .filter_map(|key| map.get(*key)?.as_str());
            let own = own.next().map(str::to_owned);
            own.or_else(|| map.values().find_map(|it| find_run(it, levels)))
        }
        Value::Array(all) => all.iter().find_map(|it| find_run(it, levels)),
        // An answer of a server is JSON in a text.
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            find_run(&serde_json::from_str(text).ok()?, levels)
        }
        _ => None,
    }
}

/// Returns the size of what an agent got. Unit: bytes.
pub(super) fn size(response: &Value) -> u64 {
    let size = match response {
        Value::Null => 0,
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    };
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use crate::project;

    fn to_native(call: &Call, folder: &Path) -> Result<(NativeCall, Edits), Failure> {
        let root = project::current_folder()?;
        Ok(super::to_native(call, &root, folder))
    }

    fn call(tool: &str, input: Value) -> Call {
        Call {
            tool: tool.to_owned(),
            mcp: None,
            id: None,
            input,
        }
    }

    #[test]
    fn a_patch_is_what_it_does_to_each_file() {
        let patch = "*** Begin Patch\n*** Add File: a.md\n+one\n+two\n*** Update File: src/b.rs\n*** Move to: src/c.rs\n@@\n-x\n+y\n*** Delete File: d\n*** End Patch\n";
        let (native, edits) = to_native(
            &call("apply_patch", json!({"command": patch})),
            Path::new("."),
        )
        .unwrap();
        let uses: Vec<&str> = native.uses.iter().map(|it| it.tool).collect();
        assert_eq!(
            uses,
            ["write_file", "edit_file", "move_file", "delete_path"]
        );
        assert_eq!(native.files, ["a.md", "src/b.rs", "src/c.rs", "d"]);
        assert_eq!(edits.lines(), 3);
        let moved = native.uses.get(2).unwrap();
        assert_eq!(
            moved.arguments,
            json!({"source": "src/b.rs", "destination": "src/c.rs"})
        );
    }

    #[test]
    fn a_padded_header_of_a_patch_is_a_header_and_an_unknown_one_is_refused() {
        let read = |line: &str| {
            let patch = format!("*** Begin Patch\n*** Add File: src/x\n+a\n{line}\n*** End Patch");
            let (native, _) = to_native(
                &call("apply_patch", json!({"input": patch})),
                Path::new("."),
            )
            .unwrap();
            (native.files.get(1).cloned(), native.forbidden.is_some())
        };
        let pads = [
            "",
            " ",
            "\t",
            "\u{a0}",
            "\u{b}",
            "\u{c}",
            "\u{85}",
            "\u{2003}",
            "\u{2028}",
            "\u{3000}",
            " \t ",
            "+b\r",
            "+b\u{b}",
            "+b\u{2029}\u{a0}",
        ];
        for pad in pads {
            for verb in ["Add File", "Update File", "Delete File", "Move to"] {
                let line = format!("{pad}*** {verb}: .codex/hooks.json \t");
                let file = Some(".codex/hooks.json".to_owned());
                assert_eq!(read(&line), (file, false), "{line:?}");
            }
        }
        for line in [
            "*** add file: x",
            " *** Add File:x",
            "***Add File: x",
            "*** \tAdd File: x",
            "***\tDelete File: x",
            "*** Environment ID: x",
            "*** Rename File: x",
            "**** Add File: x",
            " ***word***",
        ] {
            assert_eq!(read(line), (None, true), "{line:?}");
        }
        for line in [
            "+*** Delete File: x",
            "-*** word",
            " ***",
            "+ ***",
            " * * *",
            " *****",
            "*** End of File",
            " text *** text",
        ] {
            assert_eq!(read(line), (None, false), "{line:?}");
        }
    }

    #[test]
    fn paths_are_those_of_the_project() {
        let root = project::current_folder().unwrap().canonicalize().unwrap();
        let place = Place {
            root: &root,
            folder: &root.join("src"),
        };
        for (path, relative) in [
            ("commands.rs", "src/commands.rs"),
            ("../Cargo.toml", "Cargo.toml"),
            (".", "src"),
            ("..", "."),
        ] {
            assert_eq!(place.relative(path), relative, "{path}");
        }
        for path in [
            "../..",
            "/etc/passwd",
            "none/../../../x",
            "commands.rs/../x",
            "../../../../etc",
            "~",
            "~/.bashrc",
            "~root/x",
            " ~/.bashrc",
            "\t/etc/passwd",
        ] {
            assert_eq!(normal_path(&place.relative(path)), None, "{path}");
        }
        let input = json!({"absolute_path": root.join("src/args.rs"), "limit": 3});
        assert_eq!(
            place.arguments("Read", &input),
            json!({"path": "src/args.rs", "limit": 3})
        );
    }

    #[test]
    fn the_lines_of_a_change_are_counted() {
        let lines = |tool: &str, input: Value| {
            let (_, edits) = to_native(&call(tool, input), Path::new(".")).unwrap();
            edits.lines()
        };
        let input = json!({"file_path": "none", "old_string": "a\nb\n", "new_string": "a\nc\nd\n"});
        assert_eq!(lines("Edit", input.clone()), 2);
        assert_eq!(lines("Read", input), 0);
        assert_eq!(
            lines("Write", json!({"file_path": "none", "content": "a\nb\n"})),
            2
        );
        let edits =
            json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]);
        assert_eq!(
            lines("MultiEdit", json!({"file_path": "none", "edits": edits})),
            2
        );
    }

    #[test]
    fn a_run_is_found_in_what_a_server_answers() {
        let answer = json!([{"type": "text", "text": "{\"ok\": true, \"data\": {\"next\": {\"run_id\": \"build-1\"}}}"}]);
        assert_eq!(
            named_run(&json!({"workflow": "build"}), &answer)
                .unwrap()
                .as_str(),
            "build-1"
        );
        assert_eq!(
            named_run(&json!({"run_id": "a"}), &answer)
                .unwrap()
                .as_str(),
            "a"
        );
        assert_eq!(named_run(&Value::Null, &json!("no run")), None);
    }
}
