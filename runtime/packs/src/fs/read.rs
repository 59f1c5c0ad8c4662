//! Reading files: `read_file`, `read_multiple_files`, `stat_path`, `list_allowed_roots`.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use cap_std::fs::{File, Metadata};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Tool};

use super::{MAX_FILE, SET};
use crate::workspace::{Workspace, read_problem};
use crate::{Spec, error_object, tool};

/// Largest file of which lines are counted. Unit: bytes. Why: some tenths of a second.
const MAX_SCANNED: u64 = 256 << 20;

/// Most files of one call. Why: the answer stays readable.
const MAX_FILES: usize = 100;

/// Most bytes of all files of one call. Unit: bytes. Why: an answer is held in memory several times.
const MAX_TOGETHER: u64 = 4 * MAX_FILE;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(
            SET,
            &Spec {
                name: "read_file",
                title: "Read a file",
                description: "Reads a text file: whole, or one part of it by `line_start` and `line_end`, by `head`, by `tail`, \
                              or by `offset` and `limit` in bytes. A part comes as JSON with its size and that of the file.",
                annotations: Annotations::READ_ONLY,
                run: read_file,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "read_multiple_files",
                title: "Read several files",
                description: "Reads several text files. Each has its content or its error; one that fails keeps no other back.",
                annotations: Annotations::READ_ONLY,
                run: read_multiple_files,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "stat_path",
                title: "Describe a path",
                description: "Tells the type, size, times and mode of a file or folder.",
                annotations: Annotations::READ_ONLY,
                run: stat_path,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "list_allowed_roots",
                title: "List the roots",
                description: "Tells the folders that these tools reach into.",
                annotations: Annotations::READ_ONLY,
                run: list_allowed_roots,
            },
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// The file, from the workspace's root or as a whole path below it.
    path: String,
    /// The first line, from 1 on. Zero counts as absent, as for the other numbers.
    line_start: Option<u64>,
    /// The last line.
    line_end: Option<u64>,
    /// So many lines from the beginning.
    head: Option<u64>,
    /// So many lines from the end.
    tail: Option<u64>,
    /// The first byte, from 0 on.
    offset: Option<u64>,
    /// Most bytes from there on.
    limit: Option<u64>,
    /// Most bytes of an answer, instead of 5,000,000.
    max_bytes: Option<u64>,
}

/// The part of a file that is asked for.
enum Part {
    Whole,
    Lines { first: u64, last: u64 },
    Tail(u64),
    Bytes { offset: u64, limit: u64 },
}

impl ReadFile {
    /// Returns the part that is asked for. Zeros count as absent.
    fn part(&self) -> Result<Part, Problem> {
        let given = |number: Option<u64>| number.filter(|it| *it != 0);
        let (start, end) = (given(self.line_start), given(self.line_end));
        let (offset, limit) = (given(self.offset), given(self.limit));
        let (head, tail) = (given(self.head), given(self.tail));
        let lines = start.is_some() || end.is_some();
        let bytes = offset.is_some() || limit.is_some();
        let modes = [
            (lines, "`line_start` and `line_end`"),
            (bytes, "`offset` and `limit`"),
            (head.is_some(), "`head`"),
            (tail.is_some(), "`tail`"),
        ];
        let modes: Vec<&str> = modes
            .into_iter()
            .filter_map(|(is_given, name)| is_given.then_some(name))
            .collect();
        if modes.len() > 1 {
            let message = format!(
                "{} exclude one another; give one of them",
                modes.join(" and ")
            );
            return Err(Problem::argument("", message));
        }
        if let (Some(start), Some(end)) = (start, end)
            && start > end
        {
            let message = format!("{end} is before `line_start`, {start}");
            return Err(Problem::argument("line_end", message));
        }
        Ok(if lines {
            Part::Lines {
                first: start.unwrap_or(1),
                last: end.unwrap_or(u64::MAX),
            }
        } else if bytes {
            Part::Bytes {
                offset: offset.unwrap_or(0),
                limit: limit.unwrap_or(u64::MAX),
            }
        } else if let Some(head) = head {
            Part::Lines {
                first: 1,
                last: head,
            }
        } else if let Some(tail) = tail {
            Part::Tail(tail)
        } else {
            Part::Whole
        })
    }
}

fn read_file(ctx: &Ctx<'_>, input: &ReadFile) -> Outcome {
    let part = input.part()?;
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find(&input.path)?;
    let shown = workspace.display_path(&place.relative);
    let most = input.max_bytes.filter(|it| *it != 0).unwrap_or(MAX_FILE);
    let most = most.min(MAX_TOGETHER);
    let (file, facts) = place.open_file(&input.path)?;
    let reader = Reader {
        path: &input.path,
        shown,
        file,
        size: facts.len(),
        most,
    };
    match part {
        Part::Whole => reader.whole(),
        Part::Lines { first, last } => reader.lines(first, last),
        Part::Tail(count) => reader.tail(count),
        Part::Bytes { offset, limit } => reader.bytes(offset, limit),
    }
}

/// A file that is being read.
struct Reader<'r> {
    path: &'r str,
    /// The whole path, for answers.
    shown: String,
    file: File,
    /// Its size as it was opened. Unit: bytes.
    size: u64,
    /// Most bytes of the answer.
    most: u64,
}

impl Reader<'_> {
    /// Reads all of it: a text if it fits, else an object with its beginning.
    fn whole(mut self) -> Outcome {
        let mut bytes = self.take(self.most.saturating_add(1))?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size <= self.most {
            return match String::from_utf8(bytes) {
                Ok(text) => Ok(Value::String(text)),
                Err(error) => Err(self.binary(0, error.utf8_error())),
            };
        }
        bytes.truncate(usize::try_from(self.most).unwrap_or(usize::MAX));
        let content = self.text_from(0, &bytes, true)?;
        Ok(json!({
            "path": self.shown,
            "content": content,
            "truncated": true,
            "total_bytes": self.size.max(size),
            "max_bytes": self.most,
            "reason": "oversize",
        }))
    }

    /// Reads a window of bytes. Characters that it cuts are left out.
    fn bytes(mut self, offset: u64, limit: u64) -> Outcome {
        self.file
            .seek(SeekFrom::Start(offset))
            .map_err(|error| read_problem(self.path, &error))?;
        let wanted = limit.min(self.most);
        let bytes = self.take(wanted)?;
        // A window may begin within a character: its rest has at most three bytes.
        let cut = if offset == 0 {
            0
        } else {
            let is_rest = |byte: &&u8| (0x80..0xC0).contains(*byte);
            bytes.iter().take(3).take_while(is_rest).count()
        };
        let inside = bytes.get(cut..).unwrap_or_default();
        let ends_file = offset.saturating_add(wanted) >= self.size;
        let begin = offset.saturating_add(u64::try_from(cut).unwrap_or(0));
        let content = self.text_from(begin, inside, !ends_file)?;
        let returned = u64::try_from(content.len()).unwrap_or(u64::MAX);
        Ok(json!({
            "path": self.shown,
            "content": content,
            "total_bytes": self.size,
            "returned_bytes": returned,
            "truncated": begin.saturating_add(returned) < self.size,
        }))
    }

    /// Reads some lines.
    fn lines(self, first: u64, last: u64) -> Outcome {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let mut content: Vec<u8> = Vec::new();
        let mut returned = 0_u64;
        let mut is_cut = false;
        let (total, begin) = self.scan(|number, line, begin| {
            if number < first || number > last || is_cut {
                return None;
            }
            if content.len().saturating_add(line.len()) > most {
                is_cut = true;
                return None;
            }
            content.extend_from_slice(line);
            returned += 1;
            (returned == 1).then_some(begin)
        })?;
        self.answer_lines(content, begin.unwrap_or(0), (total, returned, is_cut))
    }

    /// Reads the last lines.
    fn tail(self, count: u64) -> Outcome {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let mut kept: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
        let mut size = 0_usize;
        let mut is_cut = false;
        let (total, _) = self.scan(|_, line, begin| {
            kept.push_back((begin, line.to_vec()));
            size = size.saturating_add(line.len());
            let is_more =
                |kept: &VecDeque<_>| u64::try_from(kept.len()).unwrap_or(u64::MAX) > count;
            while is_more(&kept) || size > most {
                is_cut = !is_more(&kept);
                let Some((_, line)) = kept.pop_front() else {
                    break;
                };
                size = size.saturating_sub(line.len());
            }
            None
        })?;
        let begin = kept.front().map_or(0, |(begin, _)| *begin);
        let returned = u64::try_from(kept.len()).unwrap_or(u64::MAX);
        let content = kept.into_iter().flat_map(|(_, line)| line).collect();
        self.answer_lines(content, begin, (total, returned, is_cut))
    }

    fn answer_lines(
        &self,
        mut content: Vec<u8>,
        begin: u64,
        (total, returned, is_cut): (u64, u64, bool),
    ) -> Outcome {
        // The end of the last line is no part of it.
        if content.last() == Some(&b'\n') {
            content.pop();
            if content.last() == Some(&b'\r') {
                content.pop();
            }
        }
        let content = self.text_from(begin, &content, false)?;
        Ok(json!({
            "path": self.shown,
            "content": content,
            "total_lines": total,
            "returned_lines": returned,
            "truncated": is_cut,
        }))
    }

    /// Calls `each` for the lines, with number and first byte; returns their count and its first answer.
    fn scan(
        &self,
        mut each: impl FnMut(u64, &[u8], u64) -> Option<u64>,
    ) -> Result<(u64, Option<u64>), Problem> {
        if self.size > MAX_SCANNED {
            let message = format!(
                "`{}` has {} bytes, too many to count its lines; read a part by `offset` and `limit`",
                self.path, self.size
            );
            return Err(Problem::new("too_large", message));
        }
        let failed = |error: std::io::Error| read_problem(self.path, &error);
        let file = self.file.try_clone().map_err(failed)?;
        let mut reader = BufReader::new(file.take(MAX_SCANNED));
        let (mut number, mut begin, mut answer) = (0_u64, 0_u64, None);
        let mut line = Vec::new();
        loop {
            line.clear();
            let size = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if size == 0 {
                return Ok((number, answer));
            }
            number += 1;
            let first = each(number, &line, begin);
            answer = answer.or(first);
            begin = begin.saturating_add(u64::try_from(size).unwrap_or(0));
        }
    }

    /// Reads at most so many bytes from where the file is.
    fn take(&mut self, most: u64) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        self.file
            .by_ref()
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|error| read_problem(self.path, &error))?;
        Ok(bytes)
    }

    /// Returns bytes as a text. A character that the end cuts is left out, if the file goes on.
    fn text_from(&self, begin: u64, bytes: &[u8], continues: bool) -> Result<String, Problem> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) if continues && error.error_len().is_none() => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                Ok(String::from_utf8_lossy(valid).into_owned())
            }
            Err(error) => Err(self.binary(begin, error)),
        }
    }

    /// Creates the error of a file that is no text.
    fn binary(&self, begin: u64, error: std::str::Utf8Error) -> Problem {
        let at = begin.saturating_add(u64::try_from(error.valid_up_to()).unwrap_or(0));
        error_object(
            "binary_or_invalid_utf8",
            json!({
                "path": self.shown,
                "error": format!("utf-8 decode failed at byte {at}"),
                "byte_offset": at,
            }),
        )
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadMultipleFiles {
    /// The files.
    paths: Vec<String>,
}

fn read_multiple_files(ctx: &Ctx<'_>, input: &ReadMultipleFiles) -> Outcome {
    if input.paths.is_empty() || input.paths.len() > MAX_FILES {
        let message = format!("{} paths; 1 to {MAX_FILES} are read", input.paths.len());
        return Err(Problem::argument("paths", message));
    }
    let workspace = Workspace::open(ctx)?;
    let mut left = MAX_TOGETHER;
    let mut read_one = |path: &String| -> Result<String, Problem> {
        let place = workspace.find(path)?;
        let bytes = place.read(path, MAX_FILE.min(left))?;
        left = left.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Problem::new(
                "not_text",
                format!("`{path}` is no text: utf-8 decode failed at byte {at}"),
            )
        })
    };
    let files = input.paths.iter().map(|path| match read_one(path) {
        Ok(content) => json!({"path": path, "success": true, "content": content}),
        Err(problem) => json!({"path": path, "success": false, "error": problem.message}),
    });
    Ok(json!({ "files": files.collect::<Vec<Value>>() }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatPath {
    /// The file or folder.
    path: String,
}

fn stat_path(ctx: &Ctx<'_>, input: &StatPath) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find(&input.path)?;
    let Some(facts) = place.facts() else {
        return Err(Problem::new(
            "not_found",
            format!("there is no `{}`", input.path),
        ));
    };
    let mut facts_json = Map::new();
    facts_json.insert(
        "path".to_owned(),
        json!(workspace.display_path(&place.relative)),
    );
    facts_json.insert("type".to_owned(), json!(kind(&facts)));
    facts_json.insert("size".to_owned(), json!(facts.len()));
    for (name, time) in [("created", facts.created()), ("modified", facts.modified())] {
        // Some file systems don't know when a file was made.
        let time = time
            .ok()
            .map(|time| humantime::format_rfc3339_seconds(time.into_std()).to_string());
        facts_json.insert(name.to_owned(), json!(time));
    }
    facts_json.insert("mode".to_owned(), json!(mode(&facts)));
    Ok(Value::Object(facts_json))
}

/// Returns the permissions, as `chmod` takes them.
#[cfg(unix)]
fn mode(facts: &Metadata) -> String {
    use cap_std::fs::PermissionsExt as _;
    format!("{:04o}", facts.permissions().mode() & 0o7777)
}

/// Returns the permissions, as far as there are any.
#[cfg(not(unix))]
fn mode(facts: &Metadata) -> String {
    let mode = if facts.permissions().readonly() {
        "0444"
    } else {
        "0644"
    };
    mode.to_owned()
}

/// Returns the word for what something is.
pub(super) fn kind(facts: &Metadata) -> &'static str {
    if facts.is_dir() {
        "directory"
    } else if facts.is_file() {
        "file"
    } else if facts.is_symlink() {
        "symlink"
    } else {
        "other"
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListAllowedRoots {}

fn list_allowed_roots(ctx: &Ctx<'_>, _: &ListAllowedRoots) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    Ok(json!({"roots": [workspace.root().to_string_lossy()]}))
}
