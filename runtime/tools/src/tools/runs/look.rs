//! Looking at runs: the list of them, where one is, and why it is there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use statemark_runs::policy::Gating;
use statemark_runs::{
    Cursor, Head, Legal, Loaded, Query, Reason, Remedy, RunId, Status, explain, fire_all_due,
    load_timeline,
};

use crate::envelope::{
    About, NoFields, Page, PartCursor, Parts, Position, RunPart, answer_about, answer_about_view,
    bounds, invalid_cursor, page_start, part_cursor, remaining_room, room_for, run_part,
};
use crate::lookup::check_state_of_run;
use crate::remedy::as_call;
use crate::{Annotations, Ctx, Problem, Route, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRunsCall {
    /// Only with these statuses: running, waiting, paused, completed, failed, cancelled.
    #[serde(default)]
    status: Vec<String>,
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only of this project.
    project: Option<String>,
    /// Only those that ask a person something.
    #[serde(default)]
    waiting_for_person: bool,
    /// Most of them; 20 if it isn't given.
    limit: Option<u32>,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct RunList {
    /// The runs: id, workflow, title, status, active states, open requests.
    #[schemars(with = "Vec<Value>")]
    runs: Vec<RunSummary>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Most runs of a page.
const MAX_RUNS: usize = 100;

/// Most requests that are named of a run.
const MAX_REQUESTS: usize = 10;

impl ToolCall for ListRunsCall {
    const NAME: &'static str = "list_runs";
    const TITLE: &'static str = "List runs";
    const DESCRIPTION: &'static str =
        "Runs, the latest first: where each is and whether it waits for a person.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get("/runs", "the runs")];
    type Response = RunList;

    fn run(&self, ctx: &Ctx<'_>) -> Result<RunList, Problem> {
        let known = Status::ALL.map(Status::name);
        if let Some(word) = self.status.iter().find(|it| !known.contains(&it.as_str())) {
            let what = format!("`{word}` is none of {}", known.join(", "));
            return Err(Problem::argument("status", what));
        }
        let after = self.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = self.limit.map(|it| usize::try_from(it).unwrap_or(MAX_RUNS));
        let limit = limit.unwrap_or(20).clamp(1, MAX_RUNS);
        let query = Query {
            statuses: self.status.clone(),
            workflow: self.workflow.clone(),
            project: match ctx.confined_to() {
                Some(own) => Some(own.to_owned()),
                None => self.project.clone(),
            },
            has_requests: self.waiting_for_person,
            after,
            // One more tells whether there are more.
            limit: limit + 1,
            ..Query::default()
        };
        // A caller that may touch one run only sees no other.
        if let Some(bound) = ctx.bound_run() {
            let head = ctx.load_run(Some(bound.as_str()))?.head;
            let runs = query.matches(&head).then(|| RunSummary::new(ctx, &head));
            return Ok(RunList {
                runs: Vec::from_iter(runs),
                cursor: None,
            });
        }
        // Overdue timers would make a status stale; a further page agrees with the one before.
        if self.cursor.is_none() {
            fire_all_due(ctx.runs())?;
        }
        let heads = ctx.runs().store().list(&query)?.heads;
        let runs = heads
            .iter()
            .take(limit)
            .map(|head| RunSummary::new(ctx, head))
            .collect();
        let runs = bounds::take_fitting(runs, remaining_room(&NoFields {}));
        let last = runs.len().checked_sub(1).and_then(|at| heads.get(at));
        let last = last.filter(|_| runs.len() < heads.len());
        Ok(RunList {
            cursor: last.map(|last| format!("{}:{}", last.updated, last.run)),
            runs,
        })
    }
}

/// A run in the list.
#[derive(Serialize)]
struct RunSummary {
    run_id: RunId,
    workflow: String,
    status: String,
    states: Vec<String>,
    updated_at: u64,
    counts: Counts,
    /// Some of its open requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The run that it is below.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<RunId>,
    /// True if nobody has accepted its workflow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreviewed: bool,
    /// The person who has imported it, if it comes from another store.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported_by: Option<String>,
}

#[derive(Serialize)]
struct Counts {
    records: u64,
    requests: usize,
}

impl RunSummary {
    fn new(ctx: &Ctx<'_>, head: &Head) -> Self {
        let summary = &head.summary;
        let loaded = summary.unreviewed.then(|| ctx.runs().load(&head.run));
        let waiting = summary.requests.iter().take(MAX_REQUESTS);
        Self {
            run_id: head.run.clone(),
            workflow: summary.workflow.clone(),
            status: summary.status.clone(),
            states: summary.leaves.clone(),
            updated_at: head.updated,
            counts: Counts {
                records: head.seq,
                requests: summary.requests.len(),
            },
            waiting: waiting.cloned().collect(),
            title: summary.title.clone(),
            parent: summary.parent.clone(),
            // It may have been accepted since.
            unreviewed: loaded.is_some_and(|it| it.map_or(true, |it| it.is_unreviewed())),
            imported_by: summary.imported_by.clone(),
        }
    }
}

/// Parses the position in the list that an earlier answer has given.
fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    let parts = text.split_once(':');
    let cursor = parts.and_then(|(updated, run)| {
        Some(Cursor {
            updated: updated.parse().ok()?,
            run: run.parse().ok()?,
        })
    });
    cursor.ok_or_else(invalid_cursor)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Further parts of the run; `states`, `transitions` and `events` are those of its own table.
    #[serde(default)]
    include: Vec<Included>,
    /// Also each visit of this state.
    visit: Option<String>,
    /// One of the `cursors` of an answer or of `next`: only that part, from there on.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Included {
    Visits,
    Context,
    Artifacts,
    Requests,
    Children,
    Config,
    States,
    Transitions,
    Events,
}

#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct RunParts {
    /// The title for people.
    title: Option<String>,
    /// The time at which it began. Unit: milliseconds since 1970.
    created_at: Option<u64>,
    /// The time of the last record. Unit: milliseconds since 1970.
    updated_at: Option<u64>,
    /// The person who has imported it, if it comes from another store.
    imported_by: Option<String>,
    #[serde(flatten)]
    parts: Parts,
    /// The cursors of the parts that were cut.
    cursors: Option<Vec<String>>,
}

impl ToolCall for GetRunCall {
    const NAME: &'static str = "get_run";
    const TITLE: &'static str = "Look at a run";
    const DESCRIPTION: &'static str = "Where a run is, what its state wants, which events are legal, which tools are granted, what it waits for. Where `cursors` stand, something was cut: ask again with one of them.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get("/runs/{run_id}", "a run, and what is next")];
    type Response = About<RunParts>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<RunParts>, Problem> {
        let loaded = ctx.load_run(self.run_id.as_deref())?;
        let view = loaded.view()?;
        if let Some(state) = &self.visit {
            check_state_of_run(&loaded, "visit", state)?;
        }
        let items = |part| match part {
            RunPart::Visit => visits(ctx, &loaded.run, self.visit.as_deref()),
            part => Ok(run_part(&loaded, &view, part)),
        };
        if let Some(cursor) = &self.cursor {
            let cursor: PartCursor = cursor.parse()?;
            let part = RunPart::find(&cursor.part).ok_or_else(invalid_cursor)?;
            let items = items(part)?;
            let mut answer = About::without_next(RunParts::default());
            let start = cursor.position_in(&items);
            let rest = add_part(&mut answer, part, items, start);
            answer.fields.cursors = Some(Vec::from_iter(rest));
            return Ok(answer);
        }
        let fields = RunParts {
            title: view.title.clone(),
            created_at: Some(view.created),
            updated_at: Some(view.updated),
            imported_by: view.imported_by.clone(),
            ..RunParts::default()
        };
        let mut answer = answer_about_view(&loaded, &view, fields);
        let mut parts = vec![RunPart::Steps];
        parts.extend(self.include.iter().map(|it| it.part()));
        parts.dedup();
        parts.extend(self.visit.as_ref().map(|_| RunPart::Visit));
        let mut cursors = Vec::new();
        for part in parts {
            let items = items(part)?;
            cursors.extend(add_part(&mut answer, part, items, Position::default()));
        }
        answer.fields.cursors = (!cursors.is_empty()).then_some(cursors);
        Ok(answer)
    }

    fn to_json(response: About<RunParts>) -> serde_json::Result<Value> {
        response.into_json()
    }
}

impl Included {
    const fn part(self) -> RunPart {
        match self {
            Self::Visits => RunPart::Visits,
            Self::Context => RunPart::Context,
            Self::Artifacts => RunPart::Artifacts,
            Self::Requests => RunPart::Requests,
            Self::Children => RunPart::Children,
            Self::Config => RunPart::Config,
            Self::States => RunPart::States,
            Self::Transitions => RunPart::Transitions,
            Self::Events => RunPart::Events,
        }
    }
}

/// Adds as much of a part as there is room for. Returns the cursor at which it continues.
fn add_part(
    answer: &mut About<RunParts>,
    part: RunPart,
    items: Value,
    start: Position,
) -> Option<String> {
    let room = room_for(&items, 1, answer);
    let (page, cursor) = part.cut(items, start, room);
    answer.fields.parts.insert(part, page);
    cursor
}

/// Returns the visits of a state, in the order of entering it.
fn visits(ctx: &Ctx<'_>, run: &RunId, state: Option<&str>) -> Result<Value, Problem> {
    let visits = load_timeline(ctx.runs(), run)?.visits.into_iter();
    let visits = visits.filter(|it| Some(it.state.as_str()) == state);
    let visits: Vec<_> = visits.collect();
    serde_json::to_value(visits).map_err(|error| Problem::new("failed", error.to_string()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Explain one event: why it would be taken or not.
    event: Option<String>,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// The status, with its first reason.
    summary: String,
    /// The reasons, each with the call that would move the run.
    blockers: Page<Blocking>,
    /// The `cursor` of the next page, if there is one.
    cursor: Option<String>,
}

/// Most bytes of the summary.
const MAX_SUMMARY: usize = 1 << 10;

impl ToolCall for ExplainRunCall {
    const NAME: &'static str = "explain_run";
    const TITLE: &'static str = "Explain a run";
    const DESCRIPTION: &'static str =
        "Why a run is where it is, and for each reason the call that would move it.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get("/runs/{run_id}/why", "why it is where it is")];
    type Response = About<Explained>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Explained>, Problem> {
        let loaded = ctx.load_run(self.run_id.as_deref())?;
        let explanation = explain(&loaded, self.event.as_deref())?;
        let legal = loaded.legality().transitions()?;
        let reasons = explanation.reasons.iter();
        let blockers = reasons.map(|it| Blocking::new(ctx, it, &legal, &loaded));
        let start = page_start("blockers", self.cursor.as_deref())?;
        let status = explanation.status.name();
        let summary = match explanation.reasons.first() {
            Some(first) => format!("it is {status}: {}", first.text()),
            None => format!("it is {status}"),
        };
        let fields = Explained {
            summary: bounds::truncate(&summary, MAX_SUMMARY).0.to_owned(),
            blockers: Page::default(),
            cursor: None,
        };
        let mut answer = answer_about(&loaded, fields)?;
        let (page, rest) = Page::fill(blockers, start, remaining_room(&answer));
        answer.fields.blockers = page;
        answer.fields.cursor = part_cursor("blockers", rest);
        Ok(answer)
    }
}

/// A reason for which a run is where it is.
#[derive(Serialize)]
struct Blocking {
    kind: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    /// The call that would move the run, or the command if the caller doesn't have the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    unblock: Option<Value>,
}

impl Blocking {
    fn new(ctx: &Ctx<'_>, reason: &Reason, legal: &[Legal], loaded: &Loaded) -> Self {
        let remedy = reason.remedy.as_ref();
        let (state, since) = subject(remedy, legal, loaded);
        Self {
            kind: reason.code().to_owned(),
            reason: reason.text(),
            state,
            since,
            unblock: remedy.map(|remedy| as_call(ctx, remedy, loaded)),
        }
    }
}

/// Returns the state that is blocked and since when: the remedy's, else the only active one.
fn subject(
    remedy: Option<&Remedy>,
    legal: &[Legal],
    loaded: &Loaded,
) -> (Option<String>, Option<u64>) {
    let run = &loaded.state;
    let only = match run.leaves.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let state = match remedy {
        Some(
            Remedy::Approve { request }
            | Remedy::Deny { request }
            | Remedy::SendBack { request }
            | Remedy::Answer { request },
        ) => {
            if let Some(request) = run.requests.get(request) {
                let state = request.opened.states.first().cloned();
                return (state.or(only), Some(request.time));
            }
            None
        }
        Some(Remedy::Send { event, .. }) => {
            let legal = legal.iter().find(|it| it.event == *event);
            legal.map(|it| it.from.clone())
        }
        Some(Remedy::Report { step }) => Some(step.clone()),
        _ => None,
    };
    let state = state.or(only);
    let visit = state.as_ref().and_then(|state| run.visits.get(state));
    let since = visit.map(|visit| visit.since);
    (state, since)
}
