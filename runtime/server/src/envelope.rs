//! The envelope: the one shape of our own answers, and what every answer about a run carries.
//!
//! An answer is `{ok: true, data}` or `{ok: false, error}`, within [`bounds::MAX_REPLY`] bytes. One about a run has `next`:
//! where the run is and what it can do. What doesn't fit is reached by a cursor.

pub(crate) mod bounds;
pub(crate) mod next;
pub(crate) mod pages;

use serde_json::{Map, Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{Loaded, RunView, Written};

use crate::problem::{Outcome, Problem};
use next::{describe_next, describe_next_of_view};
use pages::{PartCursor, Position, invalid_cursor, paginate};

/// The fields of an answer of our own tools.
pub type Fields = Result<Map<String, Value>, Problem>;

/// The field that every answer about one run has, with its type.
pub(crate) const NEXT: (&str, &str) = ("next", "object");

/// Bytes around an answer's fields: the envelope and a cursor.
const AROUND: usize = 256;

/// Fewest bytes that a list gets in an answer, however much the answer has already.
const LEAST_ROOM: usize = 512;

/// Puts an outcome into the envelope. Returns whether it is an error as well.
#[must_use]
pub(crate) fn wrap(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(data) => (json!({"ok": true, "data": data}), false),
        Err(problem) => (json!({"ok": false, "error": problem}), true),
    }
}

/// Converts an object into its fields.
pub(crate) fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Sets a field of an object.
pub(crate) fn set_field(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value);
    }
}

/// Creates an answer about a run, with what is next. Leaves out fields that are null.
pub(crate) fn answer_about(loaded: &Loaded, value: Value) -> Result<Map<String, Value>, Problem> {
    Ok(answer_about_view(loaded, &loaded.view()?, value))
}

/// Creates an answer about a run from its view, which a caller of this has already.
pub(crate) fn answer_about_view(
    loaded: &Loaded,
    view: &RunView,
    value: Value,
) -> Map<String, Value> {
    let mut answer = into_fields(value);
    answer.retain(|_, field| !field.is_null());
    answer.insert("next".to_owned(), describe_next_of_view(loaded, view));
    answer
}

/// Creates the answer to an order, or the problem that the order was refused with. Both carry what is next.
pub(crate) fn answer_order<T>(
    written: &Written<T>,
    value: Value,
) -> Result<Map<String, Value>, Problem> {
    if let Some(refused) = find_refusal(written) {
        let mut problem = Problem::refused(&refused);
        let next = describe_next(&written.loaded)?;
        let legal = written.loaded.legality().enabled_events();
        problem.details = json!({"legal": legal, "next": next});
        return Err(problem);
    }
    let mut answer = answer_about(&written.loaded, value)?;
    if written.replayed {
        answer.insert("replayed".to_owned(), json!(true));
    }
    Ok(answer)
}

/// Returns the bytes that an answer has room for beside its fields.
pub(crate) fn remaining_room(answer: &Map<String, Value>) -> usize {
    let size = json!(answer).to_string().len();
    bounds::MAX_REPLY
        .saturating_sub(size)
        .saturating_sub(AROUND)
        .max(LEAST_ROOM)
}

/// Adds as much of a list or an object as there is room for, and a cursor if it continues.
pub(crate) fn add_page(answer: &mut Map<String, Value>, name: &str, items: Value, start: Position) {
    let (page, rest) = paginate(items, start, remaining_room(answer));
    answer.insert(name.to_owned(), page);
    if let Some(position) = rest {
        let cursor = PartCursor {
            part: name.to_owned(),
            position,
            name: None,
        };
        answer.insert("cursor".to_owned(), json!(cursor.to_string()));
    }
}

/// Reads the position in a list from a cursor; the beginning if there is none.
///
/// # Errors
///
/// The cursor belongs to another list.
pub(crate) fn page_start(name: &str, cursor: Option<&str>) -> Result<Position, Problem> {
    let Some(cursor) = cursor else {
        return Ok(Position::default());
    };
    let cursor: PartCursor = cursor.parse()?;
    if cursor.part == name {
        Ok(cursor.position)
    } else {
        Err(invalid_cursor())
    }
}

/// Returns the refusal of an order, if it was refused.
pub(crate) fn find_refusal<T>(written: &Written<T>) -> Option<Refused> {
    written.refusal().cloned()
}

/// Returns the id of the request that an order has opened, if it has opened one.
pub(crate) fn opened_request<T>(written: &Written<T>) -> Option<String> {
    written.opened().map(|opened| opened.request.clone())
}
