//! Searching: `search_files` by names, `grep_files` by content.

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Tool};

use super::list::{base, matcher};
use super::{MAX_FILE, SET};
use crate::walk::{Step, walk};
use crate::workspace::{Workspace, open_regular};
use crate::{Spec, tool};

/// Matches of an answer unless it says how many, and the most.
const DEFAULT_LIMIT: usize = 1_000;
const MAX_LIMIT: usize = 10_000;

/// Longest pattern of a search. Unit: bytes.
const MAX_PATTERN: usize = 1_000;

/// Largest automaton of a pattern. Unit: bytes. Why: `(a{1000}){1000}` would take gigabytes.
const MAX_AUTOMATON: usize = 8 << 20;

/// Longest line of an answer. Unit: characters. Why: a minified file is one line.
const MAX_LINE: usize = 500;

/// Most lines of context on either side.
const MAX_CONTEXT: usize = 50;

/// Most files of a search. Why: some seconds.
const MAX_SEARCHED: usize = 200_000;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(
            SET,
            &Spec {
                name: "search_files",
                title: "Search by name",
                description: "Finds files and folders whose path matches a glob: `*` within a name, `**` through folders, `?` a \
                              character. A pattern without `/` matches names anywhere.",
                annotations: Annotations::READ_ONLY,
                run: search_files,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "grep_files",
                title: "Search by content",
                description: "Finds lines that match a regular expression, or a literal text, in files that are text.",
                annotations: Annotations::READ_ONLY,
                run: grep_files,
            },
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchFiles {
    /// The glob.
    pattern: String,
    /// The folder to search; the workspace's root if it is left out.
    path: Option<String>,
    /// Globs of what is left out.
    #[serde(default)]
    exclude: Vec<String>,
    /// Most matches; 1000 if it is left out.
    limit: Option<usize>,
}

fn search_files(ctx: &Ctx<'_>, input: &SearchFiles) -> Outcome {
    let wanted = matcher("pattern", std::slice::from_ref(&input.pattern))?;
    let excluded = matcher("exclude", &input.exclude)?;
    let limit = limit(input.limit);
    let workspace = Workspace::open(ctx)?;
    let (folder, relative) = workspace.open_folder(base(input.path.as_ref()))?;
    let mut matches: Vec<String> = Vec::new();
    let mut is_cut = false;
    walk(&folder, &mut |entry| {
        if excluded.is_match(entry.path) {
            return Step::Over;
        }
        if ctx.is_cancelled() {
            is_cut = true;
            return Step::End;
        }
        if wanted.is_match(entry.path) {
            if matches.len() == limit {
                is_cut = true;
                return Step::End;
            }
            matches.push(entry.path.to_string_lossy().into_owned());
        }
        Step::Into
    });
    Ok(json!({
        "pattern": input.pattern,
        "base": workspace.display_path(&relative),
        "matches": matches,
        "truncated": is_cut,
    }))
}

fn limit(asked: Option<usize>) -> usize {
    asked
        .filter(|it| *it != 0)
        .unwrap_or(DEFAULT_LIMIT)
        .min(MAX_LIMIT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepFiles {
    /// The regular expression, or the text.
    pattern: String,
    /// The file or folder to search; the workspace's root if it is left out.
    path: Option<String>,
    /// False if the pattern is a text.
    regex: Option<bool>,
    /// False if upper and lower case are the same.
    case_sensitive: Option<bool>,
    /// True if only whole words match.
    #[serde(default)]
    whole_word: bool,
    /// Globs of the files that are searched.
    #[serde(default)]
    include: Vec<String>,
    /// Globs of what is left out.
    #[serde(default)]
    exclude: Vec<String>,
    /// Lines before each match.
    #[serde(default)]
    context_before: usize,
    /// Lines after each match.
    #[serde(default)]
    context_after: usize,
    /// Most matches; 1000 if it is left out.
    limit: Option<usize>,
    /// Larger files are passed over; 5,000,000 bytes if it is left out.
    max_file_bytes: Option<u64>,
}

fn grep_files(ctx: &Ctx<'_>, input: &GrepFiles) -> Outcome {
    let expression = expression(input)?;
    let included = matcher("include", &input.include)?;
    let excluded = matcher("exclude", &input.exclude)?;
    let limit = limit(input.limit);
    let largest = input.max_file_bytes.filter(|it| *it != 0);
    let largest = largest.unwrap_or(MAX_FILE).min(MAX_FILE * 20);
    let workspace = Workspace::open(ctx)?;
    let path = base(input.path.as_ref());
    let place = workspace.find(path)?;
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .before_context(input.context_before.min(MAX_CONTEXT))
        .after_context(input.context_after.min(MAX_CONTEXT))
        .build();
    let mut found = Found {
        limit,
        matches: Vec::new(),
        before: Vec::new(),
        file: String::new(),
        is_cut: false,
    };
    let (mut searched, mut skipped) = (0_usize, 0_usize);
    if place.facts().is_some_and(|facts| facts.is_file()) {
        let (file, _) = place.open_file(path)?;
        searched = 1;
        found.search(&mut searcher, &expression, path.to_owned(), file);
    } else {
        let folder = place.open_folder(path)?;
        walk(&folder, &mut |entry| {
            if excluded.is_match(entry.path) {
                return Step::Over;
            }
            if found.is_cut || searched == MAX_SEARCHED || ctx.is_cancelled() {
                found.is_cut = true;
                return Step::End;
            }
            let is_wanted = included.is_empty() || included.is_match(entry.path);
            if !entry.facts.is_file() || !is_wanted {
                return Step::Into;
            }
            match open_regular(entry.folder, entry.name) {
                Ok((file, facts)) if facts.len() <= largest => {
                    searched += 1;
                    let name = entry.path.to_string_lossy().into_owned();
                    found.search(&mut searcher, &expression, name, file);
                }
                _ => skipped += 1,
            }
            Step::Into
        });
    }
    Ok(json!({
        "pattern": input.pattern,
        "base": workspace.display_path(&place.relative),
        "matches": found.matches,
        "files_searched": searched,
        "files_skipped": skipped,
        "truncated": found.is_cut,
    }))
}

/// Makes the matcher of a search.
fn expression(input: &GrepFiles) -> Result<RegexMatcher, Problem> {
    if input.pattern.is_empty() || input.pattern.len() > MAX_PATTERN {
        let message = format!(
            "it has {} bytes; 1 to {MAX_PATTERN} are taken",
            input.pattern.len()
        );
        return Err(Problem::argument("pattern", message));
    }
    RegexMatcherBuilder::new()
        .fixed_strings(!input.regex.unwrap_or(true))
        .case_insensitive(!input.case_sensitive.unwrap_or(true))
        .word(input.whole_word)
        .size_limit(MAX_AUTOMATON)
        .dfa_size_limit(MAX_AUTOMATON)
        .line_terminator(Some(b'\n'))
        .build(&input.pattern)
        .map_err(|error| {
            // The last line says what is wrong; those before it show the pattern in another form.
            let text = error.to_string();
            let what = text.lines().last().unwrap_or_default();
            let what = what.strip_prefix("error: ").unwrap_or(what);
            let message = format!(
                "it is no regular expression: {what}; `regex: false` searches for it as a text"
            );
            Problem::argument("pattern", message)
        })
}

/// The matches of a search so far.
struct Found {
    limit: usize,
    matches: Vec<Value>,
    /// Lines before the next match.
    before: Vec<String>,
    /// The file that is searched.
    file: String,
    is_cut: bool,
}

impl Found {
    /// Searches a file. One that can't be read to its end has the matches before.
    fn search(
        &mut self,
        searcher: &mut Searcher,
        expression: &RegexMatcher,
        name: String,
        file: cap_std::fs::File,
    ) {
        self.file = name;
        self.before.clear();
        let mut sink = FileSink {
            found: self,
            expression,
        };
        drop(searcher.search_reader(expression, file, &mut sink));
    }
}

/// Takes the matches of one file.
struct FileSink<'s> {
    found: &'s mut Found,
    expression: &'s RegexMatcher,
}

impl Sink for FileSink<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.found.matches.len() == self.found.limit {
            self.found.is_cut = true;
            return Ok(false);
        }
        let column = self.expression.find(found.bytes()).ok().flatten();
        let column = column.map(|it| it.start() + 1);
        let before = std::mem::take(&mut self.found.before);
        self.found.matches.push(json!({
            "path": self.found.file,
            "line": found.line_number(),
            "column": column,
            "text": line(found.bytes()),
            "before": before,
            "after": [],
        }));
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        let text = line(context.bytes());
        match context.kind() {
            SinkContextKind::After => {
                let last = self.found.matches.last_mut();
                if let Some(Value::Array(after)) = last.and_then(|it| it.get_mut("after")) {
                    after.push(Value::String(text));
                }
            }
            _ => self.found.before.push(text),
        }
        Ok(true)
    }
}

/// Returns a line as answers show it.
fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
