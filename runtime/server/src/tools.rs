//! The tools, one file each, in the folder of their set.

mod human;
mod runs;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::body::{Body, Refused};
use statemark_store::{Loaded, Written};

use crate::next::next;
use crate::problem::Problem;
use crate::profiles;
use crate::tool::Tool;

/// All tools that there are.
pub(crate) fn all() -> Vec<Tool> {
    let mut all = runs::all();
    all.extend(human::all());
    all.extend(profiles::all());
    all
}

/// What every tool gives that is about one run.
const NEXT: (&str, &str) = ("next", "object");

/// What every change of a run takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct Once {
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

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

/// An answer about a run, with what is next.
pub(crate) fn about(loaded: &Loaded, value: Value) -> Result<Map<String, Value>, Problem> {
    let mut answer = fields(value);
    answer.insert("next".to_owned(), next(loaded)?);
    Ok(answer)
}

/// What an order was refused with, if it was.
pub(crate) fn refusal(written: &Written) -> Option<Refused> {
    written.records.iter().find_map(|it| match it.read() {
        Ok(Body::Refused(refused)) => Some(refused),
        _ => None,
    })
}

/// The answer to an order, or the problem that it was refused with; both say what is next.
pub(crate) fn done(written: &Written, value: Value) -> Result<Map<String, Value>, Problem> {
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
