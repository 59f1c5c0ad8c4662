//! The field `next`: where a run is and what it can do.
//!
//! With it, the parts of a run that an answer can have a page of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{Artifact, Stage};
use statemark_runs::{Blocker, Hash, Legal, Loaded, RunView, Status};
use statemark_runtime::StateId;

use super::bounds;
use super::pages::{PartCursor, Position, fits, fits_by_size, paginate};
use crate::Problem;
use crate::machine::{described_events, states, transitions};

/// The keys by which a state guides its executor.
const HINTS: &str = "\
    model thinking_level model_ladder direct_execution blocked_env env_overrides \
    allowed_commands max_edit_lines max_files_per_state context_budget_bytes";

/// Most bytes of `next`. Why: a reply has 16 KiB, and other fields.
const MAX_NEXT: usize = 9 << 10;

/// Most bytes of the context that an agent is told unasked. Why: it is told at each prompt.
const MAX_CONTEXT: usize = 2 << 10;

/// Most bytes of a value that a guard reads.
const MAX_FACT: usize = 200;

/// Most bytes of the reason that a run has its status for.
const MAX_REASON: usize = 500;

/// The parts of `next`, with the most bytes of each, in the order in which they take their room.
const PARTS: [(RunPart, usize); 7] = [
    (RunPart::Configuration, 1 << 10),
    (RunPart::WaitingFor, 1 << 10),
    (RunPart::Tools, 1 << 10),
    (RunPart::Iterations, 512),
    (RunPart::Legal, 3 << 10),
    (RunPart::Instructions, 6 << 10),
    (RunPart::Hints, 1 << 10),
];

/// The parts of `next` in a refusal, which a caller needs to go on; earlier answers had the others.
const PARTS_OF_REFUSAL: [(RunPart, usize); 3] = [
    (RunPart::Configuration, 1 << 10),
    (RunPart::WaitingFor, 1 << 10),
    (RunPart::Legal, 3 << 10),
];

/// The field `next`, as it stands in an answer: an answer takes it over without a copy.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Next(Map<String, Value>);

impl Next {
    /// Converts it to JSON.
    pub(crate) fn into_json(self) -> Value {
        Value::Object(self.0)
    }

    fn set(&mut self, field: &str, value: Value) {
        self.0.insert(field.to_owned(), value);
    }
}

/// A part of a run that may be large. Its name stands in answers and cursors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunPart {
    Configuration,
    WaitingFor,
    Legal,
    Tools,
    Instructions,
    Iterations,
    Hints,
    Steps,
    Visits,
    Context,
    Artifacts,
    Requests,
    Children,
    Config,
    /// The states of its own table, which may be another one than that of the workflow's file by now.
    States,
    /// The transitions of its own table, in the order of their numbers.
    Transitions,
    /// The words of its own table about events.
    Events,
    /// The visits of one state.
    Visit,
}

impl RunPart {
    /// All parts.
    const ALL: [Self; 18] = [
        Self::Configuration,
        Self::WaitingFor,
        Self::Legal,
        Self::Tools,
        Self::Instructions,
        Self::Iterations,
        Self::Hints,
        Self::Steps,
        Self::Visits,
        Self::Context,
        Self::Artifacts,
        Self::Requests,
        Self::Children,
        Self::Config,
        Self::States,
        Self::Transitions,
        Self::Events,
        Self::Visit,
    ];

    /// Returns the type of its JSON.
    const fn kind(self) -> &'static str {
        match self {
            Self::Tools
            | Self::Instructions
            | Self::Hints
            | Self::Visits
            | Self::Context
            | Self::Children
            | Self::Config
            | Self::Events => "object",
            _ => "array",
        }
    }

    /// Cuts a page out of the part's items. Returns the cursor at which it continues as well.
    pub(crate) fn cut(self, items: Value, start: Position, room: usize) -> (Value, Option<String>) {
        // Nearly always; only a cursor needs the items besides.
        if start == Position::default() && fits(&items, room) {
            return (items, None);
        }
        let (page, rest) = paginate(items.clone(), start, room);
        let cursor =
            rest.map(|position| PartCursor::new(&self.name(), &items, position).to_string());
        (page, cursor)
    }

    /// Finds a part by its name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        serde_json::from_value(json!(name)).ok()
    }

    /// Returns its name in answers.
    fn name(self) -> String {
        match json!(self) {
            Value::String(name) => name,
            _ => String::new(),
        }
    }
}

/// Parts of a run, a page of each.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Parts(BTreeMap<RunPart, Value>);

impl Parts {
    pub(crate) fn insert(&mut self, part: RunPart, page: Value) {
        self.0.insert(part, page);
    }
}

impl JsonSchema for Parts {
    fn schema_name() -> Cow<'static, str> {
        "Parts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = RunPart::ALL.map(|part| (part, json!({"type": part.kind()})));
        json_schema!({"type": "object", "properties": BTreeMap::from(kinds)})
    }
}

/// Describes where a run is and what is next.
///
/// The rest of what doesn't fit is read by `get_run` with one of `cursors`.
pub(crate) fn describe_next(loaded: &Loaded) -> Result<Next, Problem> {
    Ok(describe_next_of_view(loaded, &loaded.view()?))
}

/// Describes a run for an agent that asked for nothing: `next`, as answers have it, and the context.
///
/// # Errors
///
/// The run's machine can't be restored.
pub fn describe_run(loaded: &Loaded) -> Result<Value, Problem> {
    let view = loaded.view()?;
    let mut described = json!(describe_next_of_view(loaded, &view));
    let context = run_part(loaded, &view, RunPart::Context);
    if let Value::Object(map) = &mut described
        && context.as_object().is_some_and(|it| !it.is_empty())
    {
        let (page, _) = RunPart::Context.cut(context, Position::default(), MAX_CONTEXT);
        map.insert("context".to_owned(), page);
    }
    Ok(described)
}

/// Describes what is next from a run's view. Why: to make a view evaluates every guard.
pub(crate) fn describe_next_of_view(loaded: &Loaded, view: &RunView) -> Next {
    let mut next = describe_parts(loaded, view, &PARTS);
    next.set("workflow", json!(loaded.state.workflow));
    next.set("is_final", json!(view.status.is_over()));
    next.set("transitions", json!(loaded.state.transitions));
    if view.unreviewed {
        next.set("unreviewed", json!(true));
    }
    next
}

/// Describes what is next after a refusal: the run's place, and its events with their blockers.
pub(crate) fn describe_next_of_refusal(loaded: &Loaded) -> Result<Next, Problem> {
    Ok(describe_parts(loaded, &loaded.view()?, &PARTS_OF_REFUSAL))
}

fn describe_parts(loaded: &Loaded, view: &RunView, parts: &[(RunPart, usize)]) -> Next {
    let mut next = Next(Map::new());
    next.set("run_id", json!(loaded.run));
    next.set("status", json!(view.status));
    next.set("seq", json!(loaded.head.seq));
    if let Some(reason) = &view.reason {
        next.set("reason", json!(bounds::truncate(reason, MAX_REASON).0));
    }
    let mut room = MAX_NEXT;
    let mut cursors = Vec::new();
    for &(name, max) in parts {
        let part = run_part(loaded, view, name);
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if is_empty && !matches!(name, RunPart::Configuration | RunPart::Legal) {
            continue;
        }
        let mut size = bounds::size(&part);
        let most = max.min(room);
        // Nearly always.
        let mut page = part;
        if !fits_by_size(&page, size, most) {
            let cursor;
            (page, cursor) = name.cut(page, Position::default(), most);
            size = bounds::size(&page);
            cursors.extend(cursor);
        }
        room = room.saturating_sub(size);
        next.0.insert(name.name(), page);
    }
    if !cursors.is_empty() {
        next.set("cursors", json!(cursors));
    }
    next
}

/// Returns a part of a run, whole; null for the visits of a state, which aren't loaded.
pub(crate) fn run_part(loaded: &Loaded, view: &RunView, part: RunPart) -> Value {
    let state = &loaded.state;
    match part {
        RunPart::Configuration => json!(state.leaves),
        RunPart::WaitingFor => rename_request_ids(json!(view.waiting_for)),
        RunPart::Legal => enabled_events(loaded, view),
        RunPart::Tools => granted_tools(loaded),
        RunPart::Instructions => instructions(view),
        RunPart::Iterations => iterations(loaded),
        RunPart::Hints => hints(loaded),
        RunPart::Steps => json!(view.steps),
        RunPart::Visits => json!(state.visits),
        RunPart::Context => json!(view.context),
        RunPart::Artifacts => json!(list_artifacts(loaded)),
        RunPart::Requests => rename_request_ids(json!(view.requests)),
        RunPart::Children => json!(state.children),
        RunPart::Config => loaded.workflow.meta().clone(),
        RunPart::States => json!(states(&loaded.workflow).collect::<Vec<_>>()),
        RunPart::Transitions => json!(transitions(&loaded.workflow).collect::<Vec<_>>()),
        RunPart::Events => {
            described_events(&loaded.workflow).unwrap_or_else(|| Value::Object(Map::new()))
        }
        RunPart::Visit => Value::Null,
    }
}

/// Returns the events with their guards, enabled ones first. Long values are cut.
fn enabled_events(loaded: &Loaded, view: &RunView) -> Value {
    let request = loaded.state.held_by().map(|it| &it.opened.request);
    let mut events: Vec<&Legal> = view.next.iter().collect();
    events.sort_by_key(|event| !event.enabled);
    let events = events.into_iter().map(|event| {
        let mut described = json!(event);
        if let Value::Object(map) = &mut described {
            let is_held = matches!(event.blocker, Some(Blocker::RequestFirst { .. }));
            if let Some(request) = request.filter(|_| is_held) {
                map.insert("waits_for".to_owned(), json!(request));
            }
            // A number in the table means nothing to a caller.
            map.remove("transition");
            map.values_mut().for_each(cut_facts);
        }
        described
    });
    Value::Array(events.collect())
}

/// Renames `request` to `request_id` in each item, as the arguments of tools name it.
pub fn rename_request_ids(mut items: Value) -> Value {
    for item in items.as_array_mut().into_iter().flatten() {
        if let Value::Object(map) = item
            && let Some(id) = map.remove("request")
        {
            map.insert("request_id".to_owned(), id);
        }
    }
    items
}

/// Cuts long values of facts, at any depth.
fn cut_facts(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(value) = map.get_mut("value") {
                let text = value.to_string();
                if let (cut, true) = bounds::truncate(&text, MAX_FACT) {
                    *value = json!(format!("{cut}…"));
                }
                return;
            }
            map.values_mut().for_each(cut_facts);
        }
        Value::Array(all) => all.iter_mut().for_each(cut_facts),
        _ => {}
    }
}

/// Returns the tools that the active states grant: `all` if they restrict none.
fn granted_tools(loaded: &Loaded) -> Value {
    let status = loaded.state.status();
    if status.is_over() || status == Status::Paused {
        return json!({"allowed": []});
    }
    let granted = loaded.grants();
    let mut tools = match granted.allowed {
        Some(allowed) => json!({"allowed": allowed}),
        None => json!({"all": true}),
    };
    if let Value::Object(map) = &mut tools
        && !granted.disallowed.is_empty()
    {
        map.insert("disallowed".to_owned(), json!(granted.disallowed));
    }
    tools
}

/// Returns the instructions of the active states, by state.
fn instructions(view: &RunView) -> Value {
    let active = view.active.iter();
    let instructions = active.filter_map(|active| {
        let instructions = active.instructions.as_ref()?;
        Some((active.state.clone(), json!(instructions)))
    });
    Value::Object(instructions.collect())
}

/// Returns the active states, from each leaf outwards.
fn active_states(loaded: &Loaded) -> impl Iterator<Item = StateId> {
    let table = loaded.workflow.table();
    let leaves = loaded.state.leaves.iter();
    let leaves = leaves.filter_map(|leaf| table.state_named(leaf));
    leaves.flat_map(|leaf| table.chain(leaf))
}

/// Returns the counted tool calls of each active state that limits them.
pub fn iterations(loaded: &Loaded) -> Value {
    let table = loaded.workflow.table();
    let mut counts: Vec<Value> = Vec::new();
    for state in active_states(loaded) {
        let name = table.state_name(state);
        let Some(max) = loaded.limit(name, "max_iterations") else {
            continue;
        };
        let visit = loaded.state.visits.get(name);
        let count = visit.map_or(0, |visit| visit.iterations);
        let item = json!({"state": name, "iteration": count, "max_iterations": max});
        // Leaves of several regions share ancestors.
        if !counts.contains(&item) {
            counts.push(item);
        }
    }
    Value::Array(counts)
}

/// Returns the guidance of the active states to their executor; the innermost state wins.
pub fn hints(loaded: &Loaded) -> Value {
    let mut hints = Map::new();
    for state in active_states(loaded) {
        let meta = loaded.workflow.state_meta(state);
        // A workflow that nobody has accepted declares no environment.
        let keys = HINTS.split(' ');
        for key in keys.filter(|key| *key != "env_overrides" || !loaded.is_unreviewed()) {
            if let Some(value) = meta.get(key) {
                hints.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    Value::Object(hints)
}

/// A revision of an artifact without its content.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ArtifactSummary {
    /// The artifact.
    name: String,
    /// The revision.
    revision: u64,
    /// Its stage: draft, final or discarded.
    #[schemars(with = "String")]
    stage: Stage,
    /// True if its contract holds.
    valid: bool,
    /// Its length. Unit: bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// The hash of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    hash: Option<Hash>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<String>,
    /// The file that it is, if the store doesn't have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The folder that the path starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_root: Option<String>,
    /// The feature of a project that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<String>,
    /// Its kind, in the words of whoever reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// True for the diagram of a subflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    subflow: Option<bool>,
    /// The state that it was made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    /// The unit of work that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// The reason for which it was discarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The number of revisions, in a list of artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    revisions: Option<usize>,
    /// The newer draft beside a final revision, such as one that its contract refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    draft: Option<DraftSummary>,
}

/// A draft beside the final revision of its artifact.
#[derive(Serialize)]
struct DraftSummary {
    revision: u64,
    /// True if its contract holds.
    valid: bool,
}

impl From<&Artifact> for ArtifactSummary {
    fn from(artifact: &Artifact) -> Self {
        Self {
            name: artifact.name.clone(),
            revision: artifact.revision,
            stage: artifact.stage,
            valid: artifact.holds(),
            size: artifact.size,
            hash: artifact.content,
            media: artifact.media.clone(),
            path: artifact.path.clone(),
            storage_root: artifact.storage_root.clone(),
            feature: artifact.feature.clone(),
            kind: artifact.kind.clone(),
            subflow: artifact.subflow.then_some(true),
            step: artifact.step.clone(),
            unit: artifact.unit.clone(),
            reason: artifact.reason.clone(),
            revisions: None,
            draft: None,
        }
    }
}

impl ArtifactSummary {
    /// Adds the draft beside the final revision, if there is one.
    pub(crate) fn with_draft(mut self, loaded: &Loaded) -> Self {
        if self.stage == Stage::Final {
            let draft = loaded.state.newer_draft(&self.name);
            self.draft = draft.map(|draft| DraftSummary {
                revision: draft.artifact.revision,
                valid: draft.artifact.holds(),
            });
        }
        self
    }
}

/// Lists the revision of each artifact that stands; the last one if all are discarded.
pub(crate) fn list_artifacts(loaded: &Loaded) -> Vec<ArtifactSummary> {
    let state = &loaded.state;
    let artifacts = state.artifacts.iter().filter_map(|(name, revisions)| {
        let standing = state.standing(name).or(revisions.last())?;
        Some(ArtifactSummary {
            revisions: Some(revisions.len()),
            ..ArtifactSummary::from(&standing.artifact).with_draft(loaded)
        })
    });
    artifacts.collect()
}

#[cfg(test)]
mod tests {
    use super::super::About;
    use super::*;

    #[derive(Serialize)]
    struct Fields {
        title: Option<String>,
        count: u64,
    }

    #[test]
    fn an_answer_that_is_taken_over_is_the_one_that_is_serialized() {
        for (title, has_next, replayed) in [(None, true, false), (Some("t"), false, true)] {
            let about = || About {
                fields: Fields {
                    title: title.map(str::to_owned),
                    count: 1,
                },
                next: has_next.then(|| Next(Map::from_iter([("seq".to_owned(), json!(3))]))),
                replayed,
            };
            assert_eq!(about().into_json().unwrap(), json!(about()));
        }
    }

    #[test]
    fn what_fits_by_its_size_fits() {
        for items in [
            json!([]),
            json!({}),
            json!(["a", {"b": [1, 2]}]),
            json!({"a\n": 1, "b": "c"}),
        ] {
            for room in 0..80 {
                let by_size = fits_by_size(&items, bounds::size(&items), room);
                assert!(!by_size || fits(&items, room), "{items} {room}");
            }
        }
    }
}
