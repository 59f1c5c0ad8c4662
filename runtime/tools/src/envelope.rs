//! The envelope: the one shape of our own answers, and what every answer about a run carries.
//!
//! An answer is `{ok: true, data}` or `{ok: false, error}`, within [`bounds::MAX_REPLY`] bytes. One about a run has `next`:
//! where the run is and what it can do. What doesn't fit is reached by a cursor.

pub mod bounds;
pub mod next;
pub(crate) mod pages;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, RunView, Written};

use crate::remedy::as_fix;
use crate::schema;
use crate::{Outcome, Problem};
use next::describe_next_of_view;

pub(crate) use next::{
    ArtifactSummary, Next, Parts, RunPart, describe_next, describe_next_of_refusal, list_artifacts,
    run_part,
};
pub(crate) use pages::{Page, PartCursor, Position, fits, invalid_cursor, paginate};

/// Bytes that an answer needs in addition to its fields: the envelope and a cursor.
const OVERHEAD: usize = 256;

/// Fewest bytes that a list gets in an answer, however much the answer has already.
const LEAST_ROOM: usize = 512;

/// Puts an outcome into the envelope. Returns whether it is an error as well.
#[must_use]
pub fn wrap(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(data) => {
            let mut envelope = json!({"ok": true});
            set_field(&mut envelope, "data", data);
            (envelope, false)
        }
        Err(problem) => (json!({"ok": false, "error": problem}), true),
    }
}

/// Converts an object into its fields.
pub fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Sets a field of an object.
pub fn set_field(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value);
    }
}

/// An answer about a run: its own fields, and what is next. Fields that are null are left out.
pub(crate) struct About<T> {
    pub(crate) fields: T,
    /// The place of the run and what it can do; none on a page after the first.
    pub(crate) next: Option<Next>,
    /// True if the same order was carried out before.
    pub(crate) replayed: bool,
}

impl<T> About<T> {
    /// Creates an answer that continues one which says what is next.
    pub(crate) const fn without_next(fields: T) -> Self {
        Self {
            fields,
            next: None,
            replayed: false,
        }
    }
}

impl<T: Serialize> About<T> {
    /// Converts it to JSON, as its serialization does, and copies nothing of what is next.
    ///
    /// # Errors
    ///
    /// As those of its fields.
    pub(crate) fn into_json(self) -> serde_json::Result<Value> {
        let mut answer = into_fields(serde_json::to_value(&self.fields)?);
        answer.retain(|_, field| !field.is_null());
        if let Some(next) = self.next {
            answer.insert("next".to_owned(), next.into_json());
        }
        if self.replayed {
            answer.insert("replayed".to_owned(), Value::Bool(true));
        }
        Ok(Value::Object(answer))
    }
}

impl<T: Serialize> Serialize for About<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = serde_json::to_value(&self.fields).map_err(S::Error::custom)?;
        let mut object = serializer.serialize_map(None)?;
        for (name, field) in into_fields(fields) {
            if !field.is_null() {
                object.serialize_entry(&name, &field)?;
            }
        }
        if let Some(next) = &self.next {
            object.serialize_entry("next", next)?;
        }
        if self.replayed {
            object.serialize_entry("replayed", &true)?;
        }
        object.end()
    }
}

impl<T: JsonSchema> JsonSchema for About<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("About{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut own = T::json_schema(generator);
        let object = own.ensure_object();
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for property in properties.values_mut() {
                if let Some(kind) = property.get_mut("type") {
                    *kind = schema::without_null(kind);
                }
            }
            let next = "The place of the run and what it can do.";
            properties.insert(
                "next".to_owned(),
                json!({"type": "object", "description": next}),
            );
            let replayed =
                "True if the same order was carried out before: this is its first answer.";
            properties.insert(
                "replayed".to_owned(),
                json!({"type": "boolean", "description": replayed}),
            );
        }
        own
    }
}

/// An answer that is about a run if one is meant, and stands alone otherwise.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum AboutIfRun<T: Serialize> {
    Run(About<T>),
    Alone(T),
}

impl<T: JsonSchema + Serialize> JsonSchema for AboutIfRun<T> {
    fn schema_name() -> Cow<'static, str> {
        About::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        About::<T>::json_schema(generator)
    }
}

/// Fields of an answer that has none beside what is next.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NoFields {}

/// Creates an answer about a run, with what is next.
pub(crate) fn answer_about<T>(loaded: &Loaded, fields: T) -> Result<About<T>, Problem> {
    Ok(answer_about_view(loaded, &loaded.view()?, fields))
}

/// Creates an answer about a run from its view, which a caller of this has already.
pub(crate) fn answer_about_view<T>(loaded: &Loaded, view: &RunView, fields: T) -> About<T> {
    About {
        fields,
        next: Some(describe_next_of_view(loaded, view)),
        replayed: false,
    }
}

/// Creates the answer to an order, or the problem of its refusal, with what is next.
pub(crate) fn answer_order<O, T>(written: &Written<O>, fields: T) -> Result<About<T>, Problem> {
    if let Some(refused) = written.refusal() {
        let mut problem = Problem::refused(refused);
        let next = describe_next_of_refusal(&written.loaded)?;
        let legal = written.loaded.legality().enabled_events();
        problem.details = json!({"legal": legal});
        set_field(&mut problem.details, "next", next.into_json());
        problem.fix = as_fix(refused, &written.loaded);
        return Err(problem);
    }
    Ok(About {
        replayed: written.replayed,
        ..answer_about(&written.loaded, fields)?
    })
}

/// Returns the bytes that an answer has room for beside its fields.
pub(crate) fn remaining_room(answer: &impl Serialize) -> usize {
    bounds::room_after(answer, OVERHEAD).max(LEAST_ROOM)
}

/// Returns the bytes that one of so many lists gets of what an answer has room for beside its fields.
///
/// Few items need no more than every list gets, so that the answer isn't measured for them.
pub(crate) fn room_for(items: &Value, lists: usize, answer: &impl Serialize) -> usize {
    let least = LEAST_ROOM / lists.max(1);
    if fits(items, least) {
        least
    } else {
        remaining_room(answer) / lists.max(1)
    }
}

/// Creates the cursor at which a part of an answer continues.
pub(crate) fn part_cursor(part: &str, rest: Option<Position>) -> Option<String> {
    let position = rest?;
    let cursor = PartCursor {
        part: part.to_owned(),
        position,
        name: None,
    };
    Some(cursor.to_string())
}

/// Reads the position in a list from a cursor; the beginning if there is none.
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
