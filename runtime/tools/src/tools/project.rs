//! A project's feature, documents, tasks and checks. A state can restrict these, and limits count them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use statemark_runs::Hash;
use statemark_runs::check::CheckResult;
use statemark_runs::policy::Gating;

use crate::envelope::{AboutIfRun, answer_order, bounds};
use crate::project::checks::{self, known_checks};
use crate::project::{DOCUMENTS, Feature, Files, Tasks, complete_task, current_project};
use crate::{Annotations, Ctx, Problem, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetProjectContextCall {
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ProjectContext {
    #[serde(flatten)]
    feature: Feature,
    /// The documents of the feature that exist.
    documents: Vec<&'static str>,
    /// The numbers of tasks, if the feature has a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<TaskCounts>,
    /// The checks that can be run.
    checks: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct TaskCounts {
    done: usize,
    total: usize,
}

impl ToolCall for GetProjectContextCall {
    const NAME: &'static str = "get_project_context";
    const TITLE: &'static str = "Get the project's context";
    const DESCRIPTION: &'static str = "The feature of the branch (`060-some-name`): number, name, folder, and the phase that is next; its documents, \
             tasks, and the checks that can be run. Fields are null where there is no feature.";
    const SET: Set = Set::Project;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Counted;
    type Response = ProjectContext;

    fn run(&self, ctx: &Ctx<'_>) -> Result<ProjectContext, Problem> {
        let project = current_project(ctx)?;
        let files = Files::open(&project)?;
        let feature = Feature::read_from(&files);
        let words = DOCUMENTS.iter().map(|(word, _)| *word);
        let documents = words.filter(|word| {
            let path = feature.document(word);
            path.is_some_and(|path| files.is_file(&path))
        });
        let documents: Vec<&'static str> = documents.collect();
        let path = feature.document("tasks");
        let tasks = match path.filter(|_| documents.contains(&"tasks")) {
            Some(path) => {
                let Tasks { done, total } = Tasks::count(&files.read(&path)?);
                Some(TaskCounts { done, total })
            }
            None => None,
        };
        Ok(ProjectContext {
            feature,
            documents,
            tasks,
            checks: known_checks(ctx, &project),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadDocumentCall {
    /// `spec`, `plan`, `tasks`, `checklist` or `analysis` of the feature; or a path in the project.
    name: String,
    /// Continue after so many bytes.
    #[serde(default)]
    cursor: usize,
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    /// The file, from the project's root.
    path: String,
    /// A piece of its text.
    text: String,
    /// Its length. Unit: bytes.
    size: usize,
    /// The hash of the whole text.
    #[schemars(with = "String")]
    hash: Hash,
    /// The `cursor` of the next piece, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<usize>,
}

/// Most bytes of a text in one answer. Why: quotes and line ends take two bytes each in JSON.
const MAX_TEXT: usize = bounds::MAX_REPLY / 2;

impl ToolCall for ReadDocumentCall {
    const NAME: &'static str = "read_document";
    const TITLE: &'static str = "Read a document";
    const DESCRIPTION: &'static str = "A document of the feature at hand, or any text of the project by its path; long ones in parts.";
    const SET: Set = Set::Project;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Counted;
    type Response = Document;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Document, Problem> {
        let files = Files::open(&current_project(ctx)?)?;
        let path = resolve_document(&files, &self.name)?;
        let text = files
            .read(&path)
            .map_err(|problem| self.absent_document(problem))?;
        let Some(rest) = text.get(self.cursor..) else {
            let what = format!(
                "`{path}` has {} bytes, and no character begins at {}",
                text.len(),
                self.cursor
            );
            return Err(Problem::argument("cursor", what));
        };
        let (mut piece, mut is_cut) = bounds::truncate(rest, MAX_TEXT);
        // Control characters take six bytes each.
        while bounds::size(&piece) > bounds::MAX_REPLY - bounds::ENVELOPE {
            (piece, is_cut) = (bounds::truncate(piece, piece.len() / 2).0, true);
        }
        let end = self.cursor.saturating_add(piece.len());
        Ok(Document {
            path,
            text: piece.to_owned(),
            size: text.len(),
            hash: Hash::digest(text.as_bytes()),
            cursor: is_cut.then_some(end),
        })
    }
}

impl ReadDocumentCall {
    /// Converts the problem of a document that the feature doesn't have yet: the name isn't mistaken.
    fn absent_document(&self, problem: Problem) -> Problem {
        let name = &self.name;
        let is_document = DOCUMENTS.iter().any(|(word, _)| word == name);
        if problem.code != "not_found" || !is_document {
            return problem;
        }
        let message = format!("the feature has no `{name}` yet: {}", problem.message);
        Problem::new("not_found", message).mended_by(GetProjectContextCall::NAME, json!({}))
    }
}

/// Returns the path of a document of the feature; any other name is a path.
fn resolve_document(files: &Files, name: &str) -> Result<String, Problem> {
    if !DOCUMENTS.iter().any(|(word, _)| *word == name) {
        return Ok(name.to_owned());
    }
    let feature = Feature::read_from(files);
    feature.document(name).ok_or_else(|| {
        let message = match &feature.feature_number {
            Some(number) => format!("there is no folder `specs/{number}-…` that `{name}` could be in"),
            None => format!("`{name}` is a feature's, and the branch is none's; a feature's is called like `060-some-name`"),
        };
        Problem::new("no_feature", message).mended_by(GetProjectContextCall::NAME, json!({}))
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompleteTaskCall {
    /// As `tasks.md` calls it, such as `T001`.
    task_id: String,
    /// Don't ask whether the tasks below it are done.
    #[serde(default)]
    skip_validation: bool,
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct TaskCompleted {
    /// The task.
    task_id: String,
    /// The number of tasks that are done.
    done: usize,
    /// The number of all tasks.
    total: usize,
    /// True if it was done before.
    already: bool,
    /// The files that were written.
    changed: Vec<String>,
}

impl ToolCall for CompleteTaskCall {
    const NAME: &'static str = "complete_task";
    const TITLE: &'static str = "Complete a task";
    const DESCRIPTION: &'static str = "Marks a task of the feature's `tasks.md` as done (`- [ ] T001` becomes `- [x] T001`). The file is written when \
             this answers.";
    const SET: Set = Set::Project;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Counted;
    type Response = TaskCompleted;

    fn run(&self, ctx: &Ctx<'_>) -> Result<TaskCompleted, Problem> {
        let (path, completed) = complete_task(ctx, &self.task_id, self.skip_validation)?;
        let path = (!completed.already).then_some(path);
        Ok(TaskCompleted {
            task_id: self.task_id.clone(),
            done: completed.tasks.done,
            total: completed.tasks.total,
            already: completed.already,
            changed: Vec::from_iter(path),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunCheckCall {
    /// The check's name.
    name: String,
    /// Arguments after its own; no shell reads them.
    #[serde(default)]
    args: Vec<String>,
    /// The run that remembers it; may be left out where only one is meant, or none.
    run_id: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Checked {
    /// The check.
    name: String,
    #[serde(flatten)]
    outcome: Option<CheckOutcome>,
}

#[derive(Serialize, JsonSchema)]
struct CheckOutcome {
    /// True if it passed.
    passed: bool,
    /// The exit code, if it has one.
    #[schemars(with = "Value")]
    exit_code: Option<i32>,
    /// The end of its output.
    stdout: String,
    /// The end of its error output.
    stderr: String,
    /// Its running time. Unit: seconds.
    seconds: f64,
    /// True if it was cancelled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
    /// The reason for which it has no exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// A remark about the way in which it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    /// The length of the output that is left out. Unit: bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

/// Most bytes of each output stream in an answer. Why: both fit into a reply with `next`.
const MAX_OUTPUT: usize = 3 << 10;

impl ToolCall for RunCheckCall {
    const NAME: &'static str = "run_check";
    const TITLE: &'static str = "Run a check";
    const DESCRIPTION: &'static str = "Runs a check that the workflow (`checks`) or `statemark.toml` declares, and gives what came of it: exit code, \
             the end of its output, seconds. A run remembers it, so that a state can require it.";
    const SET: Set = Set::Project;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Counted;
    type Response = AboutIfRun<Checked>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<AboutIfRun<Checked>, Problem> {
        let request = checks::Request {
            name: &self.name,
            args: &self.args,
            run: self.run_id.as_deref(),
            expected_seq: self.expected_seq,
            idempotency_key: self.idempotency_key.as_deref(),
        };
        let outcome = checks::run_check(ctx, &request)?;
        let checked = Checked {
            name: self.name.clone(),
            outcome: outcome.ran.as_ref().map(CheckOutcome::from),
        };
        Ok(match &outcome.written {
            Some(written) => AboutIfRun::Run(answer_order(written, checked)?),
            None => AboutIfRun::Alone(checked),
        })
    }
}

impl From<&CheckResult> for CheckOutcome {
    /// Keeps the end of long outputs, which says what failed.
    fn from(ran: &CheckResult) -> Self {
        let (stdout, cut_out) = tail(&ran.stdout);
        let (stderr, cut_err) = tail(&ran.stderr);
        let cut = u64::try_from(cut_out.saturating_add(cut_err)).unwrap_or(u64::MAX);
        let left_out = ran.left_out.saturating_add(cut);
        Self {
            passed: ran.passed,
            exit_code: ran.exit_code,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            seconds: Duration::from_millis(ran.milliseconds).as_secs_f64(),
            cancelled: ran.cancelled,
            problem: ran.problem.clone(),
            remark: ran.remark.clone(),
            left_out: (left_out > 0).then_some(left_out),
        }
    }
}

/// Returns the end of a string, and the number of bytes before it.
fn tail(text: &str) -> (&str, usize) {
    let mut start = text.len().saturating_sub(MAX_OUTPUT);
    while !text.is_char_boundary(start) {
        start = start.saturating_add(1);
    }
    (text.get(start..).unwrap_or_default(), start)
}
