//! The pack `git`: what is checked out, what has changed, and the history.
//!
//! What to rely on: git reads data alone (`git/view.rs` of the runs): no configuration, hook, filter, external diff or pager of
//! the repository has any effect, nothing is fetched, and nothing is written.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use statemark_runs::policy::normal_path;
use statemark_runs::{GitError, RepositoryView};
use statemark_tools::project::current_project;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Set, Tool};

use crate::{Spec, tool};

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("git");

/// Longest answer. Unit: bytes. Why: more than a model reads with profit.
const MAX_ANSWER: usize = 200_000;

/// Commits of a log that asks for no number.
const DEFAULT_COMMITS: u32 = 20;

/// Most commits of a log.
const MAX_COMMITS: u32 = 1_000;

/// Most lines around a change.
const MAX_CONTEXT: u32 = 1_000;

pub(crate) fn all() -> Vec<Tool> {
    let annotations = Annotations::READ_ONLY;
    vec![
        tool(
            SET,
            &Spec {
                name: "git_status",
                title: "Show what has changed",
                description: "Shows the branch, and the files that were changed, staged or added, one in a line.",
                annotations,
                run: git_status,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "git_diff",
                title: "Show changes",
                description: "Shows the changes of the working copy as a unified diff: against the index, against `HEAD` if \
                              `staged` is true, or against a commit.",
                annotations,
                run: git_diff,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "git_log",
                title: "List commits",
                description: "Lists commits, the newest first.",
                annotations,
                run: git_log,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "git_show",
                title: "Show a commit or a file of one",
                description: "Shows a commit with its changes, a tag, or a file as it was in a commit (`HEAD~1:src/lib.rs`).",
                annotations,
                run: git_show,
            },
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitStatus {
    /// A file or folder; without one, all.
    #[serde(default)]
    path: Option<String>,
}

fn git_status(ctx: &Ctx<'_>, call: &GitStatus) -> Outcome {
    let words = ["status", "--short", "--branch", "--no-renames"].map(str::to_owned);
    ask(ctx, "git_status", words.to_vec(), [call.path.as_ref()])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitDiff {
    /// True for what is staged.
    #[serde(default, alias = "cached")]
    staged: bool,
    /// A commit, branch or tag to compare with, or two with `..` between them.
    #[serde(default, alias = "target", alias = "base")]
    rev: Option<String>,
    /// A file or folder; without one, all.
    #[serde(default)]
    path: Option<String>,
    /// True for the number of changed lines of each file alone.
    #[serde(default)]
    stat: bool,
    /// Lines around each change; 3 without it.
    #[serde(default, alias = "context_lines")]
    context: Option<u32>,
}

fn git_diff(ctx: &Ctx<'_>, call: &GitDiff) -> Outcome {
    let mut words = vec!["diff".to_owned()];
    words.extend(DIFF.map(str::to_owned));
    if call.staged {
        words.push("--cached".to_owned());
    }
    if call.stat {
        words.push("--stat".to_owned());
    }
    if let Some(lines) = call.context {
        words.push(format!("-U{}", lines.min(MAX_CONTEXT)));
    }
    words.extend(revision(call.rev.as_deref())?);
    ask(ctx, "git_diff", words, [call.path.as_ref()])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitLog {
    /// Number of commits; 20 without it.
    #[serde(default, alias = "max_count", alias = "count")]
    limit: Option<u32>,
    /// The commit, branch or tag to begin with; what is checked out without one.
    #[serde(default)]
    rev: Option<String>,
    /// A file or folder whose commits are meant.
    #[serde(default)]
    path: Option<String>,
    /// True for a line for each commit.
    #[serde(default)]
    oneline: bool,
}

fn git_log(ctx: &Ctx<'_>, call: &GitLog) -> Outcome {
    let limit = call.limit.unwrap_or(DEFAULT_COMMITS).clamp(1, MAX_COMMITS);
    let format = if call.oneline {
        "--format=%h %s%d"
    } else {
        "--format=commit %H%d%nAuthor: %an <%ae>%nDate:   %aI%n%n%w(0,4,4)%B"
    };
    let mut words = vec![
        "log".to_owned(),
        format!("--max-count={limit}"),
        "--no-show-signature".to_owned(),
        format.to_owned(),
    ];
    words.extend(revision(call.rev.as_deref())?);
    ask(ctx, "git_log", words, [call.path.as_ref()])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitShow {
    /// A commit, branch or tag; or a file in one, as `REV:PATH`. What is checked out without one.
    #[serde(default, alias = "ref", alias = "object")]
    rev: Option<String>,
    /// A file or folder whose changes are meant.
    #[serde(default)]
    path: Option<String>,
    /// True for the number of changed lines of each file alone.
    #[serde(default)]
    stat: bool,
}

fn git_show(ctx: &Ctx<'_>, call: &GitShow) -> Outcome {
    let mut words = vec!["show".to_owned(), "--no-show-signature".to_owned()];
    words.extend(DIFF.map(str::to_owned));
    if call.stat {
        words.push("--stat".to_owned());
    }
    words.extend(revision(Some(call.rev.as_deref().unwrap_or("HEAD")))?);
    ask(ctx, "git_show", words, [call.path.as_ref()])
}

/// Options of whatever shows changes: nothing outside of git, and nothing for a terminal.
const DIFF: [&str; 4] = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
];

/// Returns the words of a revision, which is never an option.
fn revision(rev: Option<&str>) -> Result<Vec<String>, Problem> {
    let Some(rev) = rev.filter(|rev| !rev.is_empty()) else {
        return Ok(Vec::new());
    };
    if rev.starts_with('-') || rev.chars().any(char::is_control) {
        let what = "it is a commit, a branch, a tag, or a file of one such as `HEAD:README.md`";
        return Err(Problem::argument("rev", what));
    }
    Ok(vec!["--end-of-options".to_owned(), rev.to_owned()])
}

/// Asks git, about some paths.
fn ask<'p>(
    ctx: &Ctx<'_>,
    doing: &'static str,
    mut words: Vec<String>,
    paths: impl IntoIterator<Item = Option<&'p String>>,
) -> Outcome {
    let project = current_project(ctx)?;
    let failed = |error: GitError| Problem::new("git", error.to_string());
    let root = project.root.canonicalize().unwrap_or(project.root);
    let view = RepositoryView::open(&root).map_err(failed)?;
    // Nothing outside of the root, which may be a folder of the repository.
    let below = view.path_of(&root);
    words.push("--".to_owned());
    let paths: Vec<&String> = paths.into_iter().flatten().collect();
    for path in &paths {
        let Some(path) = normal_path(path) else {
            let message = format!("`{path}` leads out of the workspace: give a path from its root");
            return Err(Problem::new("outside", message));
        };
        words.push(join(&below, &path));
    }
    if paths.is_empty() && !below.is_empty() {
        words.push(below);
    }
    if words.last().is_some_and(|word| word == "--") {
        words.pop();
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = view.ask(doing, &words).map_err(failed)?;
    Ok(Value::String(shorten(&said)))
}

/// Joins a folder and a path of it as git writes them.
fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", "") => ".".to_owned(),
        ("", path) => path.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

/// Returns what git says as a text, with a line in the place of what is too much.
fn shorten(said: &[u8]) -> String {
    let Some(kept) = said.get(..MAX_ANSWER).filter(|_| said.len() > MAX_ANSWER) else {
        return String::from_utf8_lossy(said).into_owned();
    };
    let end = kept.iter().rposition(|byte| *byte == b'\n');
    let kept = kept.get(..end.map_or(kept.len(), |end| end.saturating_add(1)));
    let kept = kept.unwrap_or_default();
    let left = said.len().saturating_sub(kept.len());
    let text = String::from_utf8_lossy(kept);
    format!("{text}… {left} bytes are left out here: ask for a `path`, or for `stat` …\n")
}
