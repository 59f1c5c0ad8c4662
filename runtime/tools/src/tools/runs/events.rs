//! A run's journal, page by page, and the wait for its next records.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use statemark_runs::policy::Gating;
use statemark_runs::{Actor, Body, Loaded, Record, RunId, load_timeline};

use crate::envelope::{About, answer_about, bounds, describe_next, remaining_room};
use crate::lookup::check_state_of_run;
use crate::tool::to_outcome;
use crate::{Address, Annotations, Ctx, Part, Problem, Route, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetEventsCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Only after this record.
    #[serde(default)]
    after_seq: u64,
    /// Most of them; 50 if it isn't given.
    limit: Option<u32>,
    /// Only of these kinds, such as `event` or `refused`.
    #[serde(default)]
    kinds: Vec<String>,
    /// Only those of the visits of this state.
    state: Option<String>,
    /// Only from this time on. Unit: milliseconds since 1970.
    since: Option<u64>,
    /// Whole records, or a line for each.
    #[serde(default)]
    view: View,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum View {
    #[default]
    Records,
    Transcript,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Events {
    /// The records, in order.
    #[schemars(with = "Option<Vec<Value>>")]
    records: Option<Vec<Entry>>,
    /// The `after_seq` of the next page, if there is one.
    cursor: Option<u64>,
    /// The last record of the journal.
    seq: u64,
}

/// Most records of a page.
const MAX_RECORDS: usize = 500;

/// Largest body that an answer has whole. Unit: bytes.
const MAX_BODY: usize = 4 << 10;

impl ToolCall for GetEventsCall {
    const NAME: &'static str = "get_events";
    const TITLE: &'static str = "Read a run's journal";
    const DESCRIPTION: &'static str =
        "What happened in a run, in order; `cursor` is the `after_seq` of the next page.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get("/runs/{run_id}/events", "its records")];
    type Response = About<Events>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Events>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        check_kinds(&self.kinds)?;
        let limit = self.limit.map_or(50, |limit| {
            usize::try_from(limit)
                .unwrap_or(MAX_RECORDS)
                .clamp(1, MAX_RECORDS)
        });
        let end = ctx.runs().store().head(&run)?.seq;
        let entries = self.entries(ctx, &run, limit, end)?;
        let seqs: Vec<u64> = entries.iter().map(|it| it.seq).collect();
        let mut answer = About::without_next(Events {
            records: None,
            cursor: None,
            seq: end,
        });
        if self.after_seq == 0 {
            // A further page continues an answer that has it.
            answer.next = Some(describe_next(&ctx.runs().load(&run)?)?);
        }
        let entries = bounds::take_fitting(entries, remaining_room(&answer));
        let is_cut = entries.len() < seqs.len() || seqs.len() == limit;
        let last = seqs.get(entries.len().saturating_sub(1)).copied();
        answer.fields.cursor = last.filter(|last| is_cut && *last < end);
        answer.fields.records = Some(entries);
        Ok(answer)
    }
}

impl GetEventsCall {
    /// Reads the wanted records up to the end of the journal.
    fn entries(
        &self,
        ctx: &Ctx<'_>,
        run: &RunId,
        limit: usize,
        end: u64,
    ) -> Result<Vec<Entry>, Problem> {
        let visits = match &self.state {
            Some(state) => {
                check_state_of_run(&ctx.runs().load(run)?, "state", state)?;
                Some(visits(ctx, run, state)?)
            }
            None => None,
        };
        let is_wanted = |record: &Record| {
            (self.kinds.is_empty() || self.kinds.contains(&record.kind))
                && self.since.is_none_or(|since| record.time >= since)
                && visits.as_ref().is_none_or(|all| {
                    let mut all = all.iter();
                    all.any(|(entered, left)| (*entered..=*left).contains(&record.seq))
                })
        };
        let mut entries = Vec::new();
        let mut after = self.after_seq;
        while entries.len() < limit && after < end {
            let page = ctx.runs().store().records(run, after, MAX_RECORDS)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            let wanted = page.iter().filter(|it| is_wanted(it));
            let room = limit.saturating_sub(entries.len());
            entries.extend(wanted.take(room).map(|it| Entry::new(run, it, self.view)));
        }
        Ok(entries)
    }
}

fn check_kinds(kinds: &[String]) -> Result<(), Problem> {
    let Some(kind) = kinds.iter().find(|it| !Body::KINDS.contains(&it.as_str())) else {
        return Ok(());
    };
    let known = Body::KINDS.join(", ");
    let what = format!("there is no kind `{kind}`; there are {known}");
    Err(Problem::argument("kinds", what))
}

/// Returns the records between which a state was active.
fn visits(ctx: &Ctx<'_>, run: &RunId, state: &str) -> Result<Vec<(u64, u64)>, Problem> {
    let timeline = load_timeline(ctx.runs(), run)?;
    let visits = timeline.visits.iter().filter(|it| it.state == state);
    let visits = visits.map(|it| (it.entered, it.left.unwrap_or(u64::MAX)));
    Ok(visits.collect())
}

/// A record: whole; or a line of it, with the address of the rest where it is too large.
#[derive(Serialize)]
struct Entry {
    seq: u64,
    time: u64,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Line {
        by: String,
        text: String,
    },
    Whole {
        kind: String,
        actor: Actor,
        body: Value,
    },
    Large {
        kind: String,
        actor: Actor,
        text: String,
        too_large: TooLarge,
    },
}

#[derive(Serialize)]
struct TooLarge {
    bytes: usize,
    resource: String,
}

impl Entry {
    fn new(run: &RunId, record: &Record, view: View) -> Self {
        let text = record.summary();
        let text = bounds::truncate(&text, MAX_BODY / 4).0.to_owned();
        let (kind, actor) = (record.kind.clone(), record.actor.clone());
        let content = if view == View::Transcript {
            let by = record.actor.to_string();
            Content::Line { by, text }
        } else if record.body.len() > MAX_BODY {
            let part = Part {
                after: record.seq.saturating_sub(1),
                limit: Some(1),
            };
            Content::Large {
                kind,
                actor,
                text,
                too_large: TooLarge {
                    bytes: record.body.len(),
                    resource: Address::Journal(run.clone(), part).to_string(),
                },
            }
        } else {
            let body = serde_json::from_str(&record.body).unwrap_or_default();
            Content::Whole { kind, actor, body }
        };
        Self {
            seq: record.seq,
            time: record.time,
            content,
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Until what: any change, the end, a request that is settled, or a state.
    #[serde(default)]
    until: Until,
    /// The state, for `until: state`.
    state: Option<String>,
    /// Changes after this record count; else from now on.
    after_seq: Option<u64>,
    /// Longest time to wait in this call; 25000 at most.
    timeout_ms: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Until {
    #[default]
    Change,
    Terminal,
    Request,
    State,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Waited {
    /// True if the wait was met in time.
    reached: bool,
    /// True if the run has ended: nothing more comes.
    ended: Option<bool>,
    /// The records meanwhile.
    #[schemars(with = "Option<Vec<Value>>")]
    records: Option<Vec<Entry>>,
    /// The `after_seq` to continue with.
    cursor: u64,
}

/// Longest wait of a call. Unit: milliseconds. Why: clients give up after 30 seconds or more.
const MAX_WAIT: u64 = 25_000;

/// Longest time between two looks at the run.
///
/// Why: a wait is woken by a change; what a child's timer or a lost hint leaves is found by looking.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// Most records of an answer.
const MAX_WAITED: usize = 100;

impl ToolCall for WaitRunCall {
    const NAME: &'static str = "wait_run";
    const TITLE: &'static str = "Wait for a run";
    const DESCRIPTION: &'static str = "Waits until a run changes, ends, or is answered; `reached` says whether it did in time, `ended` that nothing more comes. Call again to go on.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    type Response = About<Waited>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Waited>, Problem> {
        if self.until == Until::State && self.state.is_none() {
            return Err(Problem::argument("state", "say which, for `until: state`"));
        }
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let loaded = ctx.runs().catch_up(&run)?;
        if let Some(state) = &self.state {
            check_state_of_run(&loaded, "state", state)?;
        }
        let now = Instant::now();
        let wait = Wait {
            after: self.after_seq.unwrap_or(loaded.head.seq),
            call: self.clone(),
            run,
            began: now,
            reported: now,
        };
        wait.look(ctx, &loaded)
    }
}

/// A wait for a run.
struct Wait {
    call: WaitRunCall,
    run: RunId,
    after: u64,
    began: Instant,
    /// The time at which progress was last reported.
    reported: Instant,
}

impl Wait {
    /// Looks whether the wait is over, and waits on if it isn't.
    fn look(mut self, ctx: &Ctx<'_>, loaded: &Loaded) -> Result<About<Waited>, Problem> {
        let limit = self.call.timeout_ms.unwrap_or(MAX_WAIT).min(MAX_WAIT);
        let limit = Duration::from_millis(limit);
        let reached = self.call.is_met(loaded, self.after);
        // A run that has ended never changes.
        let is_over = reached || loaded.state.status().is_over();
        if is_over || self.began.elapsed() >= limit || ctx.is_cancelled() {
            return self.answer(ctx, loaded, reached);
        }
        if self.reported.elapsed() >= PROGRESS_INTERVAL {
            let share = self.began.elapsed().as_secs_f64() / limit.as_secs_f64();
            ctx.report_progress(share, &format!("waiting for `{}`", self.run));
            self.reported = Instant::now();
        }
        let now = ctx.runs().now();
        // One that is due already has something in its way.
        let due = loaded
            .state
            .timers
            .iter()
            .filter_map(|it| it.due.checked_sub(now));
        let due = due
            .filter(|left| *left > 0)
            .min()
            .map(Duration::from_millis);
        let next = Instant::now() + due.map_or(LOOK_INTERVAL, |due| due.min(LOOK_INTERVAL));
        let (run, end) = (self.run.clone(), self.began + limit);
        Err(ctx.wait(Some(&run), next.min(end), move |ctx| {
            let loaded = ctx.runs().catch_up(&self.run)?;
            to_outcome(self.look(ctx, &loaded))
        }))
    }

    fn answer(
        &self,
        ctx: &Ctx<'_>,
        loaded: &Loaded,
        reached: bool,
    ) -> Result<About<Waited>, Problem> {
        let (run, after) = (&self.run, self.after);
        let records = ctx.runs().store().records(run, after, MAX_WAITED)?;
        let entries = records.iter().map(|it| Entry::new(run, it, View::Records));
        let waited = Waited {
            reached,
            ended: loaded.state.status().is_over().then_some(true),
            records: None,
            cursor: after,
        };
        let mut answer = answer_about(loaded, waited)?;
        let entries = bounds::take_fitting(entries.collect(), remaining_room(&answer));
        let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        answer.fields.cursor = after.saturating_add(count);
        answer.fields.records = Some(entries);
        Ok(answer)
    }
}

impl WaitRunCall {
    fn is_met(&self, loaded: &Loaded, after: u64) -> bool {
        let state = &loaded.state;
        match self.until {
            Until::Change => loaded.head.seq > after,
            Until::Terminal => state.status().is_over(),
            Until::Request => {
                // A run that asks nothing has nothing to wait for.
                let requests = state.requests.values();
                let mut resolved = requests.filter_map(|it| it.resolved.as_ref());
                resolved.any(|(_, _, seq)| *seq > after) || state.open_requests().is_empty()
            }
            // The last state of a run that has ended is where it is.
            Until::State => state.is_active(self.state.as_deref().unwrap_or_default()),
        }
    }
}
