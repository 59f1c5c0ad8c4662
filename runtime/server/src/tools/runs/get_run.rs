//! `get_run`: where a run is, and whatever else of it is asked for.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::RunId;

use crate::ctx::Ctx;
use crate::envelope::next::run_part;
use crate::envelope::pages::{PartCursor, Position, invalid_cursor, paginate};
use crate::envelope::{Fields, NEXT, answer_about_view, remaining_room};
use crate::lookup::check_state_of_run;
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// What to tell beside where it is.
    #[serde(default)]
    include: Vec<Part>,
    /// Also each visit of this state.
    visit: Option<String>,
    /// One of the `cursors` of an answer or of `next`: only that part, from there on.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Part {
    Visits,
    Context,
    Artifacts,
    Requests,
    Children,
    Config,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("get_run", Set::Runs, Annotations::READ_ONLY),
        (
            "Look at a run",
            "Where a run is, what its state wants, which events are legal, which tools are granted, what it waits for. Where `cursors` stand, something was cut: ask again with one of them.",
        ),
        &[("steps", "array"), ("cursors", "array"), NEXT],
        run,
    )
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Visits => "visits",
            Self::Context => "context",
            Self::Artifacts => "artifacts",
            Self::Requests => "requests",
            Self::Children => "children",
            Self::Config => "config",
        }
    }
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    let view = loaded.view()?;
    if let Some(state) = &input.visit {
        check_state_of_run(&loaded, "visit", state)?;
    }
    if let Some(cursor) = &input.cursor {
        let cursor: PartCursor = cursor.parse()?;
        let mut answer = Map::new();
        let items = match cursor.part.as_str() {
            "visit" => visits(ctx, &loaded.run, input.visit.as_deref())?,
            name => run_part(&loaded, &view, name).ok_or_else(invalid_cursor)?,
        };
        let place = cursor.position_in(&items);
        let rest = told(&mut answer, &cursor.part, &items, place);
        answer.insert("cursors".to_owned(), json!(Vec::from_iter(rest)));
        return Ok(answer);
    }
    let fields =
        json!({"title": view.title, "created_at": view.created, "updated_at": view.updated});
    let mut answer = answer_about_view(&loaded, &view, fields);
    let mut cursors = Vec::new();
    let mut names = vec!["steps"];
    names.extend(input.include.iter().map(|it| it.name()));
    names.dedup();
    for name in names {
        let items = run_part(&loaded, &view, name).unwrap_or_default();
        cursors.extend(told(&mut answer, name, &items, Position::default()));
    }
    if let Some(state) = &input.visit {
        let items = visits(ctx, &loaded.run, Some(state))?;
        cursors.extend(told(&mut answer, "visit", &items, Position::default()));
    }
    if !cursors.is_empty() {
        answer.insert("cursors".to_owned(), json!(cursors));
    }
    Ok(answer)
}

/// Adds what there is room for of a part; the cursor where it goes on.
fn told(
    answer: &mut Map<String, Value>,
    name: &str,
    items: &Value,
    from: Position,
) -> Option<String> {
    let (told, rest) = paginate(items.clone(), from, remaining_room(answer));
    answer.insert(name.to_owned(), told);
    rest.map(|place| PartCursor::new(name, items, place).to_string())
}

/// The visits of a state, in the order of entering it.
fn visits(ctx: &Ctx<'_>, run: &RunId, state: Option<&str>) -> Result<Value, Problem> {
    let timeline = ctx.runs().timeline(run)?;
    let visits = timeline.visits.into_iter();
    let visits = visits.filter(|it| Some(it.state.as_str()) == state);
    Ok(json!(visits.collect::<Vec<_>>()))
}
