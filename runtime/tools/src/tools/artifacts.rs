//! Artifacts of runs: handing them in, reading them, and reporting progress on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use statemark_runs::body::{Finding, Stage, Verdict};
use statemark_runs::policy::Gating;
use statemark_runs::runs::{
    DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, PutArtifact, Submitted,
};
use statemark_runs::{
    Hash, Loaded, Order, RunId, Written, check_artifact, check_edit, read_artifact, runs,
};

use crate::envelope::{
    About, ArtifactSummary, NoFields, Page, answer_about, answer_order, bounds, describe_next,
    into_fields, list_artifacts, page_start, part_cursor, remaining_room,
};
use crate::lookup::unknown_revision;
use crate::{Address, Annotations, Ctx, Problem, Route, Set, ToolCall};

/// The capability that handing in needs in a state with `capabilities`.
const SUBMIT: &str = "artifact.submit";

/// A finding of a contract, and its place.
#[derive(Serialize)]
struct Diagnostic {
    line: u64,
    column: u64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl From<&Finding> for Diagnostic {
    fn from(finding: &Finding) -> Self {
        Self {
            line: finding.line,
            column: finding.column,
            message: finding.what.clone(),
            help: finding.help.clone(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubmitArtifactCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The artifact.
    name: String,
    /// Only check it; keep it as a draft; hand it in as final; throw a revision away.
    ///
    /// `final` without content makes the current draft final.
    mode: Mode,
    /// All of it: a text, or JSON.
    content: Option<Value>,
    /// Instead: changes of the current revision, each of what the one before has left.
    #[serde(default)]
    edits: Vec<Change>,
    /// The revision that it is made from, or that is meant: refused if it isn't the current one any more.
    base_revision: Option<u64>,
    /// Its media type, if its contract doesn't say it.
    media: Option<String>,
    /// The unit of work that made it.
    unit: Option<String>,
    /// The reason, for `discard`.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Check,
    Draft,
    Final,
    Discard,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// The text to replace; it has to occur exactly once.
    old: String,
    /// The text to put in its place.
    new: String,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Submission {
    /// The artifact.
    name: String,
    /// The revision that was kept.
    revision: Option<u64>,
    /// Its stage: draft, final or discarded.
    #[schemars(with = "Option<String>")]
    stage: Option<Stage>,
    /// Its length. Unit: bytes.
    size: Option<u64>,
    /// The hash of its content.
    #[schemars(with = "Option<String>")]
    hash: Option<Hash>,
    /// True if its contract holds.
    valid: Option<bool>,
    /// The findings of its contract, by line.
    #[schemars(with = "Option<Vec<Value>>")]
    diagnostics: Option<Vec<Diagnostic>>,
    /// The number of findings that are left out.
    more: Option<u64>,
}

impl Submission {
    fn with_verdict(mut self, verdict: Option<&Verdict>) -> Self {
        self.valid = Some(verdict.is_none_or(|it| it.holds));
        if let Some(verdict) = verdict.filter(|it| !it.findings.is_empty()) {
            self.diagnostics = Some(verdict.findings.iter().map(Diagnostic::from).collect());
            self.more = Some(verdict.more).filter(|more| *more > 0);
        }
        self
    }
}

impl ToolCall for SubmitArtifactCall {
    const NAME: &'static str = "submit_artifact";
    const TITLE: &'static str = "Submit an artifact";
    const DESCRIPTION: &'static str = "Hands in what a state requires, whole or as edits. What its contract refuses is named by line, and stays a draft.";
    const SET: Set = Set::Artifacts;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Needs(SUBMIT);
    type Response = About<Submission>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Submission>, Problem> {
        let runs = ctx.runs();
        if self.content.is_some() && !self.edits.is_empty() {
            return Err(Problem::argument("edits", "give either them, or `content`"));
        }
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let content = self.content.as_ref().map(stored_form);
        let written = match (self.mode, content) {
            (Mode::Check, content) => return self.check(ctx, &order, content),
            (Mode::Discard, None) if self.edits.is_empty() => {
                let discard = DiscardArtifact {
                    name: self.name.clone(),
                    revision: self.base_revision,
                    reason: self.reason.clone(),
                };
                runs.execute(&order, &discard)?
            }
            (Mode::Discard, _) => {
                let what = "nothing is handed in with `mode: discard`";
                return Err(Problem::argument("content", what));
            }
            (mode, Some(content)) => {
                let put = PutArtifact {
                    media: self.media.clone(),
                    is_final: mode == Mode::Final,
                    base: self.base_revision,
                    unit: self.unit.clone(),
                    ..PutArtifact::draft(&self.name, content)
                };
                runs.execute(&order, &put)?
            }
            (_, None) if !self.edits.is_empty() => runs.execute(&order, &self.edit())?,
            (Mode::Final, None) => {
                let finalize = FinalizeArtifact {
                    name: self.name.clone(),
                    revision: self.base_revision,
                };
                runs.execute(&order, &finalize)?
            }
            (_, None) => {
                let what = "say what to hand in, here or as `edits`";
                return Err(Problem::argument("content", what));
            }
        };
        self.answer(ctx, &written)
    }
}

/// Returns content as it is stored: a text as it is, JSON for people.
fn stored_form(content: &Value) -> Vec<u8> {
    match content {
        Value::String(text) => text.clone().into_bytes(),
        other => format!("{other:#}\n").into_bytes(),
    }
}

impl SubmitArtifactCall {
    fn edit(&self) -> EditArtifact {
        let edits = self.edits.iter().map(|change| Edit {
            old: change.old.clone(),
            new: change.new.clone(),
        });
        EditArtifact {
            name: self.name.clone(),
            edits: edits.collect(),
            is_final: self.mode == Mode::Final,
            base: self.base_revision,
        }
    }

    /// Checks the contract; nothing is written.
    fn check(
        &self,
        ctx: &Ctx<'_>,
        order: &Order,
        content: Option<Vec<u8>>,
    ) -> Result<About<Submission>, Problem> {
        let runs = ctx.runs();
        let loaded = runs.catch_up(&order.run)?;
        let verdict = match content {
            Some(content) => check_artifact(&loaded, &self.name, &content)?,
            None if !self.edits.is_empty() => check_edit(runs, &loaded, &self.edit())?,
            None => {
                let current = loaded.state.current(&self.name);
                let current = current.map(|it| it.artifact.revision);
                let revision = self.base_revision.or(current);
                let current = read_artifact(runs, &loaded, &self.name, revision)?;
                check_artifact(&loaded, &self.name, &current.content)?
            }
        };
        let submission = Submission {
            name: self.name.clone(),
            ..Submission::default()
        };
        answer_about(&loaded, submission.with_verdict(Some(&verdict)))
    }

    /// Creates the answer: what was kept, and what its contract says of it.
    fn answer(
        &self,
        ctx: &Ctx<'_>,
        written: &Written<Submitted>,
    ) -> Result<About<Submission>, Problem> {
        let submitted = &written.outcome;
        let mut submission = Submission {
            name: self.name.clone(),
            ..Submission::default()
        };
        if let Some(kept) = &submitted.artifact {
            submission = Submission {
                revision: Some(kept.revision),
                stage: Some(kept.stage),
                size: kept.size,
                hash: kept.content,
                ..submission
            }
            .with_verdict(kept.verdict.as_ref());
        }
        let Some(refused) = &submitted.refused else {
            return answer_order(written, submission);
        };
        // A refusal names what was kept all the same.
        let mut problem = match answer_order(written, NoFields {}) {
            Err(problem) => problem,
            Ok(_) => Problem::refused(refused),
        };
        if let Value::Object(details) = &mut problem.details {
            let kept = into_fields(json!(submission)).into_iter();
            details.extend(kept.filter(|(_, value)| !value.is_null()));
            let contract = contract_address(&written.loaded, &self.name);
            details.insert("contract".to_owned(), contract.into());
        }
        Err(self.with_remedy(ctx, &written.loaded, problem))
    }

    /// Adds the call that leads on: one that edits what was kept, or one that reads what there is.
    fn with_remedy(&self, ctx: &Ctx<'_>, loaded: &Loaded, problem: Problem) -> Problem {
        let run = &loaded.run;
        let current = loaded.state.current(&self.name);
        let revision = current.map(|it| it.artifact.revision);
        match problem.code.as_str() {
            "contract_broken" => {
                let mut arguments = into_fields(json!({
                    "run_id": run,
                    "name": self.name,
                    "mode": Mode::Final,
                    "base_revision": revision,
                }));
                let edits = self.edits_of_broken_lines(loaded, ctx);
                match edits.as_slice() {
                    [] => arguments.insert("content".to_owned(), Value::Null),
                    edits => arguments.insert("edits".to_owned(), json!(edits)),
                };
                problem.mended_by(Self::NAME, Value::Object(arguments))
            }
            "stale_base" | "no_match" | "ambiguous" | "not_current" if revision.is_some() => {
                let arguments = json!({"run_id": run, "name": self.name, "revision": revision});
                problem.mended_by(GetArtifactCall::NAME, arguments)
            }
            "unknown_artifact" => problem.mended_by(GetArtifactCall::NAME, json!({"run_id": run})),
            _ => problem,
        }
    }

    /// Returns an edit for each broken line that occurs only once. What is null is for the caller to write.
    fn edits_of_broken_lines(&self, loaded: &Loaded, ctx: &Ctx<'_>) -> Vec<BrokenLine> {
        /// Most lines that are quoted, and most bytes of each.
        const LINES: usize = 5;
        const BYTES: usize = 200;
        let current = loaded.state.current(&self.name);
        let revision = current.map(|it| it.artifact.revision);
        let Ok(kept) = read_artifact(ctx.runs(), loaded, &self.name, revision) else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&kept.content).into_owned();
        let verdict = kept.revision.artifact.verdict.unwrap_or_default();
        let mut edits: Vec<BrokenLine> = Vec::new();
        for finding in &verdict.findings {
            let at = usize::try_from(finding.line.saturating_sub(1)).unwrap_or(usize::MAX);
            let line = text.lines().nth(at).unwrap_or_default();
            let occurs_once = text.matches(line).take(2).count() == 1;
            let is_known = edits.iter().any(|edit| edit.old == line);
            if !line.trim().is_empty() && line.len() <= BYTES && occurs_once && !is_known {
                edits.push(BrokenLine {
                    old: line.to_owned(),
                    new: (),
                });
            }
            if edits.len() == LINES {
                break;
            }
        }
        edits
    }
}

/// An edit whose other half the caller writes.
#[derive(Serialize)]
struct BrokenLine {
    old: String,
    new: (),
}

/// Returns the address of the page that says what an artifact has to be like.
fn contract_address(loaded: &Loaded, name: &str) -> String {
    Address::Contract(loaded.workflow.id().to_owned(), name.to_owned()).to_string()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArtifactCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The artifact; else all are listed.
    name: Option<String>,
    /// Instead of the name: the path of one that is a file.
    path: Option<String>,
    /// The revision; else the one that stands: the final one, or the newest draft.
    revision: Option<u64>,
    /// From this byte of the content on.
    #[serde(default)]
    offset: usize,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Artifacts {
    /// The run.
    #[schemars(with = "String")]
    run_id: RunId,
    #[serde(flatten)]
    artifact: Option<ArtifactSummary>,
    /// The artifacts of the run, without a name; the revision of each that stands.
    artifacts: Page<ArtifactSummary>,
    /// The artifacts that nobody has handed in.
    missing: Option<Vec<String>>,
    /// The `cursor` of the next page of the list.
    cursor: Option<String>,
    /// The findings of its contract, by line.
    #[schemars(with = "Option<Vec<Value>>")]
    diagnostics: Option<Vec<Diagnostic>>,
    /// A piece of the content, if it is a text.
    content: Option<String>,
    /// The byte of the content at which the piece begins.
    offset: Option<usize>,
    /// The `offset` of the next piece, if there is one.
    next_offset: Option<usize>,
    /// The address of content that is no text.
    resource: Option<String>,
}

impl Artifacts {
    fn new(run: &RunId, artifact: Option<ArtifactSummary>) -> Self {
        Self {
            run_id: run.clone(),
            artifact,
            artifacts: Page::default(),
            missing: None,
            cursor: None,
            diagnostics: None,
            content: None,
            offset: None,
            next_offset: None,
            resource: None,
        }
    }
}

impl ToolCall for GetArtifactCall {
    const NAME: &'static str = "get_artifact";
    const TITLE: &'static str = "Read an artifact";
    const DESCRIPTION: &'static str = "Lists what a run has handed in and what is missing; by name, the content with its hash. `next_offset` is where long content goes on.";
    const SET: Set = Set::Artifacts;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] =
        &[Route::get("/runs/{run_id}/artifacts", "what was handed in")];
    type Response = About<Artifacts>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Artifacts>, Problem> {
        let loaded = ctx.load_run(self.run_id.as_deref())?;
        match self.resolve_name(&loaded)? {
            Some(name) => self.read(ctx, &loaded, &name),
            None => self.list(&loaded),
        }
    }
}

impl GetArtifactCall {
    /// Returns the name of the artifact that is meant, if one is.
    fn resolve_name(&self, loaded: &Loaded) -> Result<Option<String>, Problem> {
        let Some(path) = &self.path else {
            return Ok(self.name.clone());
        };
        let mut all = loaded.state.artifacts.iter();
        let found = all.find(|(name, revisions)| {
            let mut revisions = revisions.iter();
            revisions.any(|it| it.artifact.path.as_ref() == Some(path))
                && self.name.as_ref().is_none_or(|it| it == *name)
        });
        match found {
            Some((name, _)) => Ok(Some(name.clone())),
            None => {
                let message = format!("no artifact of the run is the file `{path}`");
                let list = json!({"run_id": loaded.run});
                Err(Problem::new("no_revision", message).mended_by(Self::NAME, list))
            }
        }
    }

    /// Lists the artifacts as they count now.
    fn list(&self, loaded: &Loaded) -> Result<About<Artifacts>, Problem> {
        let start = page_start("artifacts", self.cursor.as_deref())?;
        let mut answer = About::without_next(Artifacts::new(&loaded.run, None));
        if self.cursor.is_none() {
            answer.next = Some(describe_next(loaded)?);
            let mut missing = loaded.known_artifacts();
            missing.retain(|it| loaded.state.final_revision(it).is_none());
            if !missing.is_empty() {
                let missing = bounds::take_fitting(missing, bounds::MAX_REPLY / 2);
                answer.fields.missing = Some(missing);
            }
        }
        let (page, rest) = Page::fill(list_artifacts(loaded), start, remaining_room(&answer));
        answer.fields.artifacts = page;
        answer.fields.cursor = part_cursor("artifacts", rest);
        Ok(answer)
    }

    /// Reads an artifact's content.
    fn read(
        &self,
        ctx: &Ctx<'_>,
        loaded: &Loaded,
        name: &str,
    ) -> Result<About<Artifacts>, Problem> {
        let standing = || {
            let last = loaded.state.artifacts.get(name).and_then(|it| it.last());
            loaded.state.standing(name).or(last)
        };
        let named = self.revision;
        let file = named.map_or_else(standing, |it| loaded.state.revision(name, it));
        if let Some(file) = file.filter(|it| it.artifact.content.is_none()) {
            // The store doesn't have the content of a file.
            let summary = ArtifactSummary::from(&file.artifact).with_draft(loaded);
            return answer_about(loaded, Artifacts::new(&loaded.run, Some(summary)));
        }
        let runs = ctx.runs();
        let read = read_artifact(runs, loaded, name, self.revision)
            .map_err(|error| unknown_revision(&loaded.run, error))?;
        let artifact = &read.revision.artifact;
        let summary = ArtifactSummary::from(artifact).with_draft(loaded);
        let mut answer = About::without_next(Artifacts::new(&loaded.run, Some(summary)));
        if self.offset == 0 {
            // A further piece continues an answer that has these.
            answer.next = Some(describe_next(loaded)?);
            let verdict = artifact.verdict.as_ref().filter(|it| !it.holds);
            answer.fields.diagnostics =
                verdict.map(|it| it.findings.iter().map(Diagnostic::from).collect());
        }
        let Ok(text) = std::str::from_utf8(&read.content) else {
            let (run, revision) = (loaded.run.clone(), Some(artifact.revision));
            let resource = Address::Artifact(run, name.to_owned(), revision).to_string();
            answer.fields.resource = Some(resource);
            return Ok(answer);
        };
        add_piece(&mut answer, text, self.offset)?;
        Ok(answer)
    }
}

/// Adds as much of a text as there is room for.
fn add_piece(answer: &mut About<Artifacts>, text: &str, start: usize) -> Result<(), Problem> {
    let Some(rest) = text.get(start..) else {
        let what = format!(
            "no character of the content, which has {} bytes, begins there",
            text.len()
        );
        return Err(Problem::argument("offset", what));
    };
    let room = remaining_room(answer);
    let mut piece = bounds::truncate(rest, room).0;
    // A text is longer in JSON, where quotes and line ends are two characters.
    loop {
        let size = bounds::size(&piece);
        if size <= room || piece.len() < 16 {
            break;
        }
        let most = piece.len().saturating_mul(room) / size;
        piece = bounds::truncate(piece, most.min(piece.len().saturating_sub(1))).0;
    }
    let end = start.saturating_add(piece.len());
    answer.fields.content = Some(piece.to_owned());
    answer.fields.offset = (start > 0).then_some(start);
    answer.fields.next_offset = (end < text.len()).then_some(end);
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportProgressCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The state of the work, in words.
    message: String,
    /// The share that is done, from 0 to 1.
    fraction: Option<f64>,
    /// The unit of work.
    unit: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Reported {
    /// The record of it.
    seq: Option<u64>,
}

impl ToolCall for ReportProgressCall {
    const NAME: &'static str = "report_progress";
    const TITLE: &'static str = "Report progress";
    const DESCRIPTION: &'static str =
        "Says how far work is, for whoever watches. It moves nothing.";
    const SET: Set = Set::Artifacts;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Needs("run.report_progress");
    type Response = About<Reported>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Reported>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let report = runs::ReportProgress {
            message: self.message.clone(),
            fraction: self.fraction,
            unit: self.unit.clone(),
        };
        let written = ctx.runs().execute(&order, &report)?;
        let seq = written.records.last().map(|it| it.seq);
        answer_order(&written, Reported { seq })
    }
}
