//! The reference of keys: every key of a definition, made from the tables that read them.
//!
//! [`keys`] has them as data, [`keys_page`] as one Markdown document, [`key_page`] those of a name, and
//! [`definition_schema`] as a JSON Schema for editors.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::keys::{MACHINE, WRAPPER};
use super::shape::{Key, Rule, Shape, Want};

/// The id of the schema: where it is published.
const SCHEMA_ID: &str = "https://raw.githubusercontent.com/statemark/statemark/main/compiler/docs/src/reference/definition.schema.json";

/// A key of an object of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReference {
    /// The kind of object that has it: `a state`.
    pub object: &'static str,
    /// The place of such objects, as Markdown: `` `states.NAME` ``.
    pub place: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Old spellings that are read, too.
    pub spellings: Vec<&'static str>,
    /// The kind of its value, as Markdown.
    pub holds: String,
    /// True if its object is meaningless without it.
    pub required: bool,
    /// The meaning, as Markdown.
    pub meaning: &'static str,
    /// The default, as Markdown; empty where there is none.
    pub default: &'static str,
    /// The key with a value, and with other keys that the value needs: properties of a JSON object.
    pub example: &'static str,
}

/// Returns every key of a definition: by object, from the machine inwards, in the order of the tables.
///
/// ```
/// let keys = statemark_compiler::keys();
/// let key = keys.iter().find(|key| key.name == "allowed_tools").unwrap();
/// assert_eq!((key.object, key.place), ("a state", "`states.NAME`"));
/// ```
#[must_use]
pub fn keys() -> Vec<KeyReference> {
    let shapes = shapes();
    shapes.into_iter().flat_map(keys_of).collect()
}

fn keys_of(shape: &'static Shape) -> impl Iterator<Item = KeyReference> {
    let is_current = |key: &&Key| !matches!(key.rule, Rule::Old(_));
    shape.keys.iter().filter(is_current).map(|key| {
        let old = shape
            .keys
            .iter()
            .filter(|old| old.rule == Rule::Old(key.name));
        KeyReference {
            object: shape.what,
            place: shape.place,
            name: key.name,
            spellings: old.map(|old| old.name).collect(),
            holds: key.want.words(),
            required: key.rule == Rule::Required,
            meaning: key.doc.meaning,
            default: key.doc.default,
            example: key.doc.example,
        }
    })
}

/// Returns every kind of object once: the machine, its parts level by level, and the wrapper.
fn shapes() -> Vec<&'static Shape> {
    let mut found: Vec<&'static Shape> = Vec::new();
    let mut open: VecDeque<&'static Shape> = [&MACHINE, &WRAPPER].into();
    while let Some(shape) = open.pop_front() {
        if found.iter().any(|known| std::ptr::eq(*known, shape)) {
            continue;
        }
        found.push(shape);
        for key in shape.keys {
            add_shapes(&key.want, &mut open);
        }
    }
    found
}

fn add_shapes(want: &'static Want, open: &mut VecDeque<&'static Shape>) {
    match want {
        Want::Object(shape) => open.push_back(shape),
        Want::List(inner) | Want::Map(inner) => add_shapes(inner, open),
        Want::Either(wants) => wants.iter().for_each(|want| add_shapes(want, open)),
        Want::Any
        | Want::Text
        | Want::Name
        | Want::Choice(_)
        | Want::Flag
        | Want::Number
        | Want::Positive
        | Want::Whole(_)
        | Want::Duration(_)
        | Want::Seconds(_)
        | Want::Null
        | Want::Command => {}
    }
}

/// Returns the whole reference, as Markdown.
#[must_use]
pub fn keys_page() -> String {
    let mut page = "# Keys of a definition\n\n\
        Every key that a `json definition` may have, by the object that it is in. \
        Keys in **bold** are required. \
        `statemark help keys KEY` prints those of a name; an unknown key is an error (SM701).\n"
        .to_owned();
    for shape in shapes() {
        page += &format!(
            "\n## {}\n\nPlace: {}.\n\n",
            capitalized(shape.what),
            shape.place
        );
        page += "| key | holds | without it | means | example |\n|---|---|---|---|---|\n";
        for key in keys_of(shape) {
            let name = match key.required {
                true => format!("**`{}`**", key.name),
                false => format!("`{}`", key.name),
            };
            let spellings: Vec<String> = key
                .spellings
                .iter()
                .map(|old| format!(" (also `{old}`)"))
                .collect();
            let cells = [
                name + &spellings.concat(),
                key.holds.clone(),
                key.default.to_owned(),
                key.meaning.to_owned(),
                format!("`{}`", key.example),
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            page += &format!("| {} |\n", cells.join(" | "));
        }
        if shape.open {
            page += "\nOther keys are yours.\n";
        }
    }
    page
}

/// Returns the reference's text on the keys of a name or old spelling, as Markdown, if there are any.
///
/// ```
/// let page = statemark_compiler::key_page("max_iterations").unwrap();
/// assert!(page.starts_with("# max_iterations\n"));
/// ```
#[must_use]
pub fn key_page(name: &str) -> Option<String> {
    let keys = keys();
    let mut found = keys
        .iter()
        .filter(|key| key.name == name || key.spellings.contains(&name))
        .peekable();
    let mut page = format!("# {}\n", found.peek()?.name);
    for key in found {
        page += &format!(
            "\n## Of {} ({})\n\n{}.\n\n",
            key.object,
            key.place,
            capitalized(key.meaning)
        );
        page += &format!("- holds {}\n", key.holds);
        if key.required {
            page += "- required\n";
        }
        if !key.default.is_empty() {
            page += &format!("- without it: {}\n", key.default);
        }
        for old in &key.spellings {
            page += &format!("- also spelled `{old}`\n");
        }
        page += &format!("\n```json\n{}\n```\n", key.example);
    }
    Some(page)
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Returns the JSON Schema of definitions, made of the same tables.
///
/// It is of draft 7, which collections of schemas ask for. There nothing may stand beside a `$ref`.
///
/// It accepts whatever has the right keys and kinds of values. What only the compiler can know, such as names that don't
/// exist, isn't in it.
#[must_use]
pub fn definition_schema() -> Value {
    let shapes = shapes();
    let mut definitions = Map::new();
    for shape in &shapes {
        definitions.insert(
            definition_name(shape, &shapes),
            object_schema(shape, &shapes),
        );
    }
    let reference = |shape: &'static Shape| json!({"$ref": format!("#/definitions/{}", definition_name(shape, &shapes))});
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "A state machine's definition",
        "description": "States, data and policy of a state machine of Statemark: a file `*.workflow.json`, or a block `json definition` of a document.",
        "anyOf": [reference(&MACHINE), reference(&WRAPPER)],
        "definitions": definitions,
    })
}

/// Returns the name of a kind of object in the schema. Two kinds of actions have the same words.
fn definition_name(shape: &Shape, shapes: &[&'static Shape]) -> String {
    let words = shape.what.trim_matches('`');
    let words = ["a ", "an ", "the "]
        .iter()
        .find_map(|article| words.strip_prefix(article))
        .unwrap_or(words);
    let earlier = shapes
        .iter()
        .take_while(|other| !std::ptr::eq(**other, shape))
        .filter(|other| other.what == shape.what)
        .count();
    let name = words.replace(' ', "_");
    match earlier {
        0 => name,
        more => format!("{name}_{}", more + 1),
    }
}

fn object_schema(shape: &'static Shape, shapes: &[&'static Shape]) -> Value {
    let mut properties = Map::new();
    for key in shape.keys {
        properties.insert(key.name.to_owned(), key_schema(key, shapes));
    }
    let required: Vec<&str> = shape
        .keys
        .iter()
        .filter(|key| key.rule == Rule::Required)
        .map(|key| key.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": shape.open,
    });
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn key_schema(key: &'static Key, shapes: &[&'static Shape]) -> Value {
    let mut schema = want_schema(&key.want, shapes);
    let Some(object) = schema.as_object_mut() else {
        return schema;
    };
    if let Rule::Old(now) = key.rule {
        object.insert("deprecated".to_owned(), json!(true));
        object.insert(
            "description".to_owned(),
            json!(format!("An old spelling of `{now}`.")),
        );
        return schema;
    }
    let mut words = format!("{}.", capitalized(key.doc.meaning));
    if !key.doc.default.is_empty() {
        words += &format!(" Without it: {}.", key.doc.default);
    }
    object.insert("description".to_owned(), json!(words));
    let example: Option<Value> = serde_json::from_str(&format!("{{{}}}", key.doc.example)).ok();
    if let Some(value) = example.as_ref().and_then(|it| it.get(key.name)) {
        object.insert("examples".to_owned(), json!([value]));
    }
    schema
}

/// Returns the schema of a kind of value. The recursion is bounded: objects are referred to.
fn want_schema(want: &'static Want, shapes: &[&'static Shape]) -> Value {
    match want {
        Want::Any => json!({}),
        Want::Text | Want::Duration(_) => json!({"type": "string"}),
        Want::Name => json!({"type": "string", "minLength": 1}),
        Want::Choice(choices) => json!({"enum": choices}),
        Want::Flag => json!({"type": "boolean"}),
        Want::Number => json!({"type": "number"}),
        Want::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        Want::Seconds(most) => json!({"type": "number", "exclusiveMinimum": 0, "maximum": most}),
        Want::Whole(least) => json!({"type": "integer", "minimum": least}),
        Want::Null => json!({"type": "null"}),
        Want::Command => json!({"type": "array", "items": {"type": "string"}}),
        Want::List(inner) => json!({"type": "array", "items": want_schema(inner, shapes)}),
        Want::Map(inner) => {
            json!({"type": "object", "additionalProperties": want_schema(inner, shapes)})
        }
        Want::Object(shape) => {
            json!({"allOf": [{"$ref": format!("#/definitions/{}", definition_name(shape, shapes))}]})
        }
        Want::Either(wants) => {
            let schemas = wants.iter().map(|want| want_schema(want, shapes));
            json!({"anyOf": schemas.collect::<Vec<_>>()})
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{definition_schema, keys};
    use crate::diag::Severity;
    use crate::source::Sources;
    use crate::{Options, compile};

    /// A definition with an object of each kind, and the pointers to them by their places.
    fn base() -> (Value, Vec<(&'static str, &'static str)>) {
        let base = json!({
            "id": "paper",
            "initial": { "target": "draft" },
            "context": { "attempts": 0, "words": 0, "title": "" },
            "events": { "submit": {} },
            "guards": { "long": { "field": "words", "op": "gte", "value": 100 }, "short": "words < 9" },
            "actions": { "count": { "fails": false }, "pulp": { "effect": "pulp" } },
            "artifacts": { "plan": {}, "essay": { "sections": [{ "heading": "Steps" }] } },
            "checks": { "tests": { "command": ["true"] } },
            "capabilities": { "look": ["Read"] },
            "documents": { "list": "docs/tasks.md" },
            "interrupts": { "docs": { "trigger": { "file_pattern": "docs/**" }, "target": "draft" } },
            "properties": [{ "always": "attempts <= 3" }],
            "meta": { "approvers": { "signed": false } },
            "states": {
                "draft": {
                    "entry": [{ "type": "count" }, { "type": "pulp" }],
                    "model_ladder": [{ "model": "small" }],
                    "on": { "submit": { "target": "review", "guard": "long" }, "give_up": "dropped", "other": { "target": "review", "guard": "short" }, "test": "testing" }
                },
                "testing": { "invoke": { "src": "tests" }, "on": { "done": "review", "error": "dropped" } },
                "review": {
                    "on": { "accept": "published", "split": { "fork": {
                        "branches": { "code": { "initial": "coding", "terminal": "coded" }, "docs": { "initial": "writing", "terminal": "written" } },
                        "on_complete": "published", "on_fail": "dropped"
                    } } }
                },
                "coding": { "on": { "next": "coded" } }, "coded": {},
                "writing": { "on": { "next": "written" } }, "written": {},
                "published": { "type": "final" }, "dropped": { "type": "final" }
            }
        });
        let pointers = vec![
            ("a machine", ""),
            ("`meta`", "/meta"),
            ("`approvers`", "/meta/approvers"),
            ("an event", "/events/submit"),
            ("`actions.NAME`", "/actions/count"),
            ("an item of `entry`", "/states/draft/entry/0"),
            ("an interrupt", "/interrupts/docs"),
            ("a trigger", "/interrupts/docs/trigger"),
            ("an artifact", "/artifacts/plan"),
            ("a section", "/artifacts/essay/sections/0"),
            ("a check", "/checks/tests"),
            ("a property", "/properties/0"),
            ("a state", "/states/draft"),
            ("an initial transition", "/initial"),
            ("an invoked workflow", "/states/testing/invoke"),
            ("a rung of the ladder", "/states/draft/model_ladder/0"),
            ("a transition", "/states/draft/on/submit"),
            ("a fork", "/states/review/on/split/fork"),
            (
                "a branch of a fork",
                "/states/review/on/split/fork/branches/code",
            ),
            ("a guard", "/guards/long"),
        ];
        (base, pointers)
    }

    /// Returns the errors of a definition.
    fn errors(definition: &Value) -> Vec<String> {
        let mut sources = Sources::new();
        sources.add("paper.workflow.json", format!("{definition:#}"));
        let compiled = compile(&sources, &Options::default());
        let found = compiled.diagnostics.iter();
        found
            .filter(|it| it.severity == Severity::Error)
            .map(|it| format!("{} {}", it.code, it.message))
            .collect()
    }

    /// Without a meaning and an example, a key isn't in the reference.
    #[test]
    fn every_key_is_explained_and_its_example_compiles() {
        let (base, pointers) = base();
        assert_eq!(errors(&base), [""; 0], "the base");
        let mut wrong = String::new();
        let keys = keys();
        for key in &keys {
            let what = format!("`{}` of {}", key.name, key.object);
            let has_full_stop = key.meaning.ends_with('.') || key.default.ends_with('.');
            if key.meaning.is_empty() || has_full_stop {
                wrong += &format!("{what}: say what it means, without a full stop\n");
            }
            let example: Value = match serde_json::from_str(&format!("{{{}}}", key.example)) {
                Ok(example) => example,
                Err(error) => {
                    wrong += &format!("{what}: its example is no JSON: {error}\n");
                    continue;
                }
            };
            // It may be a key of what is inside: a history is a state of another one.
            if !key.example.contains(&format!("\"{}\":", key.name)) {
                wrong += &format!("{what}: its example lacks it\n");
            }
            if key.object == "the wrapper" {
                let mut wrapped = json!({ "definition": base });
                merge(&mut wrapped, &example);
                wrong += &failure(&what, &errors(&wrapped));
                continue;
            }
            let pointer = pointers
                .iter()
                .find(|(object, _)| key.object == *object || key.place.starts_with(object));
            let Some((_, pointer)) = pointer else {
                wrong += &format!("{what}: the base has no such object\n");
                continue;
            };
            // The example goes into the object of the base, or takes its place.
            let mut added = base.clone();
            merge(added.pointer_mut(pointer).unwrap(), &example);
            let mut replaced = base.clone();
            *replaced.pointer_mut(pointer).unwrap() = example;
            let found = errors(&added);
            if !found.is_empty() && !errors(&replaced).is_empty() {
                wrong += &failure(&what, &found);
            }
        }
        assert!(keys.len() > 120, "{}", keys.len());
        assert!(wrong.is_empty(), "{wrong}");
    }

    fn merge(object: &mut Value, properties: &Value) {
        for (name, value) in properties.as_object().unwrap() {
            object[name] = value.clone();
        }
    }

    fn failure(what: &str, errors: &[String]) -> String {
        match errors.is_empty() {
            true => String::new(),
            false => format!("{what}: {}\n", errors.join("; ")),
        }
    }

    #[test]
    fn the_schema_refers_to_what_it_has() {
        let schema = definition_schema();
        let definitions = schema["definitions"].as_object().unwrap();
        assert!(definitions.len() > 15);
        let text = schema.to_string();
        for reference in text.split("\"$ref\":\"#/definitions/").skip(1) {
            let (name, _) = reference.split_once('"').unwrap();
            assert!(definitions.contains_key(name), "{name}");
        }
        assert_eq!(
            schema["definitions"]["state"]["properties"]["deny_env"]["deprecated"],
            true
        );
    }
}
