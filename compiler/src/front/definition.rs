//! Definitions: the JSON part of a spec.
//!
//! [`parse_definition`] reads a text in three steps, each blind to the others' business: `text` makes JSON values with
//! places of it and says what isn't JSON, `check` holds the values against the tables of `keys` (unknown keys, wrong
//! types, bad values; `schema`, `required` and `secrets` look at what only hosts read), and `build` makes [`ast`] of what is left, with the few rules that no table can say.
//!
//! To add a key, add its line in `keys`; a key that only hosts read needs nothing more. `reference` makes the page of keys
//! and the JSON Schema of the same tables.
//!
//! Deliberately not here: names. Whether `target` is a state of the machine is a later stage's question.

pub mod ast;
mod build;
mod check;
mod json;
mod keys;
pub(crate) mod messages;
mod policy;
mod reference;
mod required;
mod schema;
mod secrets;
mod servers;
mod shape;
#[cfg(test)]
mod tests;

pub use reference::{KeyReference, definition_schema, key_page, keys, keys_page};
pub use servers::Servers;

use crate::diag::Diags;
use crate::excerpt::Excerpt;
use ast::Definition;
use json::Place;
use jsonc_parser::ast::{Object, ObjectProp, Value};

/// Reads a definition.
///
/// `comments` says that the text is JSONC, in which comments and trailing commas are fine. What other dialects of JSON
/// have beyond that is read as well, with a warning. `known` has the servers whose tools states may grant. `None` if the text can't be read or isn't an object; what is wrong is
/// pushed onto `diags` in either case.
///
/// ```
/// use statemark_compiler::diag::Diags;
/// use statemark_compiler::excerpt::Excerpt;
/// use statemark_compiler::front::definition::{Servers, parse_definition};
/// use statemark_compiler::source::Sources;
///
/// let text = r#"{ "initial": "idle", "states": { "idle": { "on": { "go": "busy" } }, "busy": {} } }"#;
/// let mut sources = Sources::new();
/// let file = sources.add("order.workflow.json", text);
/// let mut diags = Diags::new();
/// let (text, known) = (Excerpt::whole(file, text), Servers::default());
/// let definition = parse_definition(&text, false, &known, &mut diags).unwrap();
/// assert_eq!(definition.states.len(), 2);
/// assert!(!diags.has_errors());
/// ```
pub fn parse_definition(
    excerpt: &Excerpt,
    comments: bool,
    known: &Servers,
    diags: &mut Diags,
) -> Option<Definition> {
    let marked = excerpt.text().starts_with('\u{feff}');
    let unmarked;
    let excerpt = if marked {
        unmarked = excerpt.slice('\u{feff}'.len_utf8()..excerpt.text().len());
        &unmarked
    } else {
        excerpt
    };
    let place = Place::new(excerpt);
    let value = json::read(place, comments, diags)?;
    let Value::Object(outer) = &value else {
        let found = json::words(&value);
        diags.push(messages::wrong_type(
            place.span_of(&value),
            "a definition",
            "an object",
            found,
            None,
        ));
        return None;
    };
    let (machine, servers) = unwrap(place, outer, diags)?;
    check::object(place, machine, &keys::MACHINE, diags);
    let declared = json::get(machine, "upstream_servers");
    for servers in [servers, declared].into_iter().flatten() {
        check::timeouts(place, servers, diags);
    }
    schema::check(place, machine, diags);
    required::check(place, machine, diags);
    let known = known.with_own(machine, servers);
    policy::check(place, machine, &known, diags);
    secrets::check(place, &value, diags);
    let mut definition = build::definition(place, machine, diags);
    if let Some(servers) = servers {
        definition
            .meta
            .insert("upstream_servers".to_owned(), json::value(servers));
    }
    Some(definition)
}

/// Returns true if a text that isn't marked as a definition looks like one.
///
/// It is an object with `states` that have a key of ours, or with `initial` and `on`, or such an object in the wrapper `{"definition": …}`.
pub(super) fn looks_like_definition(text: &str) -> bool {
    let file = crate::source::Sources::new().add("", "");
    let excerpt = Excerpt::whole(file, text);
    let value = json::read(Place::new(&excerpt), true, &mut Diags::new());
    let Some(Value::Object(outer)) = value else {
        return false;
    };
    let machine = match json::get(&outer, "definition") {
        Some(Value::Object(inner)) => inner,
        _ => &outer,
    };
    let is_object = |key| matches!(json::get(machine, key), Some(Value::Object(_)));
    // An answer of something else may have states, too, but hardly with keys of ours.
    let is_state = |property: &ObjectProp<'_>| match &property.value {
        Value::Object(state) => {
            let mut keys = state.properties.iter();
            state.properties.is_empty()
                || keys.any(|it| keys::STATE.key(it.name.as_str()).is_some())
        }
        _ => false,
    };
    let has_states = match json::get(machine, "states") {
        Some(Value::Object(states)) => {
            states.properties.is_empty() || states.properties.iter().any(is_state)
        }
        _ => false,
    };
    has_states
        || (is_object("on") && matches!(json::get(machine, "initial"), Some(Value::StringLit(_))))
}

/// Unwraps the machine of an object that may be Statewright's wrapper, with its `upstream_servers`.
fn unwrap<'o, 't>(
    place: Place<'_>,
    outer: &'o Object<'t>,
    diags: &mut Diags,
) -> Option<(&'o Object<'t>, Option<&'o Value<'t>>)> {
    let Some(inner) = json::get(outer, "definition") else {
        return Some((outer, None));
    };
    for property in &outer.properties {
        let name = property.name.as_str();
        if keys::WRAPPER.key(name).is_none() && keys::MACHINE.key(name).is_some() {
            diags.push(messages::key_outside_wrapper(
                place.range(&property.name),
                name,
            ));
        }
    }
    check::wrapper(place, outer, diags);
    let Value::Object(machine) = inner else {
        diags.push(messages::empty_wrapper(
            place.span_of(inner),
            json::words(inner),
        ));
        return None;
    };
    Some((machine, json::get(outer, "upstream_servers")))
}
