//! The tools, one file each, in the folder of their set.

pub(crate) mod agent;
pub(crate) mod artifacts;
pub(crate) mod author;
pub(crate) mod human;
pub(crate) mod project;
mod runs;
mod time;

use serde_json::{Map, Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{Loaded, RunError, RunView, Written};

use crate::bounds;
use crate::catalog::Catalog;
use crate::next::{next, next_of};
use crate::pages::{PartCursor, Place, no_cursor, page};
use crate::problem::Problem;
use crate::profiles;
use crate::tool::Tool;

/// All tools that there are.
pub(crate) fn all() -> Vec<Tool> {
    let mut all = runs::all();
    all.extend(human::all());
    all.extend(artifacts::all());
    all.extend(time::all());
    all.extend(profiles::all());
    all.extend(author::all());
    all.extend(project::all());
    all.extend(agent::all());
    all
}

/// That there is no such workflow, and which there are; or that its file has errors.
pub(crate) fn unknown_workflow(catalog: &dyn Catalog, id: &str) -> Problem {
    let known = catalog.ids();
    let broken = catalog.lint_file(id);
    if broken.is_some_and(|found| found.pointer("/summary/errors") != Some(&json!(0))) {
        let message = format!(
            "`{id}` has errors, and defines no workflow before they are mended: `lint_workflow` (or `statemark lint`) tells them"
        );
        return Problem::new("unknown_workflow", message)
            .with(json!({"known": known}))
            .mended_by("lint_workflow", json!({"workflow": id}));
    }
    let id = id.to_owned();
    RunError::UnknownWorkflow { id, known }.into()
}

/// How far a name may be from another to be a slip of it.
const SLIP: usize = 3;

/// That there is such a state in a run's workflow, or was: of one that is misspelt nothing ever comes.
pub(crate) fn known_state(loaded: &Loaded, argument: &str, state: &str) -> Result<(), Problem> {
    let table = loaded.workflow.table();
    if table.state_named(state).is_some() || loaded.state.visits.contains_key(state) {
        return Ok(());
    }
    let known: Vec<&str> = loaded.workflow.visible_states().map(|it| it.1).collect();
    let near = known
        .iter()
        .map(|name| (strsim::osa_distance(name, state), name));
    let near = near.filter(|(distance, _)| *distance <= SLIP).min();
    let workflow = &loaded.state.workflow;
    let message = match near {
        Some((_, near)) => {
            format!("`{argument}`: `{workflow}` has no state `{state}`; did you mean `{near}`?")
        }
        None => {
            let known = known.join(", ");
            format!("`{argument}`: `{workflow}` has no state `{state}`; there are {known}")
        }
    };
    Err(Problem::new("unknown_state", message).with(json!({"known": known})))
}

/// What every tool gives that is about one run.
const NEXT: (&str, &str) = ("next", "object");

/// The fields of an answer.
pub(crate) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Sets a field of an object.
pub(crate) fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value);
    }
}

/// An answer about a run, with what is next. What is null isn't told.
pub(crate) fn about(loaded: &Loaded, value: Value) -> Result<Map<String, Value>, Problem> {
    Ok(about_view(loaded, &loaded.view()?, value))
}

/// The same, for who has the run's view already.
pub(crate) fn about_view(loaded: &Loaded, view: &RunView, value: Value) -> Map<String, Value> {
    let mut answer = fields(value);
    answer.retain(|_, it| !it.is_null());
    answer.insert("next".to_owned(), next_of(loaded, view));
    answer
}

/// What an answer has room for beside what it holds already.
pub(crate) fn room(answer: &Map<String, Value>) -> usize {
    let size = json!(answer).to_string().len();
    // The envelope around it, and a cursor.
    bounds::MOST
        .saturating_sub(size)
        .saturating_sub(256)
        .max(512)
}

/// Adds as much of a list or an object as there is room for, and a cursor where it goes on.
pub(crate) fn add(answer: &mut Map<String, Value>, name: &str, items: Value, from: Place) {
    let (told, rest) = page(items, from, room(answer));
    answer.insert(name.to_owned(), told);
    if let Some(place) = rest {
        let cursor = PartCursor {
            part: name.to_owned(),
            place,
            name: None,
        };
        let cursor = cursor.to_string();
        answer.insert("cursor".to_owned(), json!(cursor));
    }
}

/// Where a list of that name goes on.
pub(crate) fn place(name: &str, cursor: Option<&str>) -> Result<Place, Problem> {
    let Some(cursor) = cursor else {
        return Ok(Place::default());
    };
    let cursor: PartCursor = cursor.parse()?;
    if cursor.part == name {
        Ok(cursor.place)
    } else {
        Err(no_cursor())
    }
}

/// What an order was refused with, if it was.
pub(crate) fn refusal<T>(written: &Written<T>) -> Option<Refused> {
    written.refusal().cloned()
}

/// The id of the request that was opened, if one was.
pub(crate) fn asked<T>(written: &Written<T>) -> Option<String> {
    written.opened().map(|opened| opened.request.clone())
}

/// The answer to an order, or the problem that it was refused with; both say what is next.
pub(crate) fn done<T>(written: &Written<T>, value: Value) -> Result<Map<String, Value>, Problem> {
    if let Some(refused) = refusal(written) {
        let mut problem = Problem::refused(&refused);
        let next = next(&written.loaded)?;
        let legal = written.loaded.legal_events();
        problem.details = json!({"legal": legal, "next": next});
        return Err(problem);
    }
    let mut answer = about(&written.loaded, value)?;
    if written.replayed {
        answer.insert("replayed".to_owned(), json!(true));
    }
    Ok(answer)
}
