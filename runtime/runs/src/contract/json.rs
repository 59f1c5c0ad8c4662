//! JSON that a schema is for: each finding at its place in the text.

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::place::{Excerpt, Findings};
use crate::schema;

/// Checks JSON that is a document or a part of one.
pub(super) fn check(excerpt: &Excerpt, wanted: Option<&Value>, findings: &mut Findings<'_>) {
    let text = &excerpt.text;
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) => {
            let at = offset(text, error.line(), error.column());
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            let help =
                "write it as JSON: names and texts in `\"`, no comma behind the last, no comments";
            let what = format!("this isn't JSON: {what}");
            findings.add(excerpt.at(at), what, Some(help.to_owned()));
            return;
        }
    };
    let Some(wanted) = wanted else { return };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let tree = parsed.ok().and_then(|it| it.value);
    // INVARIANT: contracts with a broken schema aren't read.
    let _ = schema::each_error(wanted, &value, &mut |error| {
        let path = error.instance_path().to_string();
        for said in said(&error, wanted) {
            let at = tree
                .as_ref()
                .and_then(|tree| find(tree, &path, said.key.as_deref()));
            let at = excerpt.at(at.unwrap_or_default());
            findings.add(at, said.what, said.help);
        }
    });
}

/// What is said of an error.
pub(super) struct Said {
    pub(super) what: String,
    pub(super) help: Option<String>,
    /// The key of the object that it is about, if that is where the error lies.
    pub(super) key: Option<String>,
}

/// An error in words.
pub(super) fn said(error: &ValidationError<'_>, schema: &Value) -> Vec<Said> {
    let simple = |what: String, help: String| {
        vec![Said {
            what,
            help: Some(help),
            key: None,
        }]
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let described = described(
                schema,
                &format!("{}/../properties/{name}", error.schema_path()),
            );
            let described = described.map_or_else(String::new, |it| format!(": {it}"));
            simple(
                format!("`{name}` is missing"),
                format!("add `{name}`{described}"),
            )
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|key| Said {
                what: format!("`{key}` isn't expected here"),
                help: Some("remove it, or mend its name".to_owned()),
                key: Some(key.clone()),
            })
            .collect(),
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            let options: Vec<String> = options.map(|it| format!("`{}`", bare(it))).collect();
            let options = options.join(", ");
            let what = format!("`{}` is none of {options}", bare(error.instance()));
            simple(what, format!("write one of {options}"))
        }
        ValidationErrorKind::Constant { expected_value } => {
            let expected = bare(expected_value);
            let what = format!("`{}` isn't `{expected}`", bare(error.instance()));
            simple(what, format!("write `{expected}`"))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => any(&kind.to_string()),
                TypeKind::Multiple(kinds) => {
                    let kinds: Vec<String> = kinds.iter().map(|it| any(&it.to_string())).collect();
                    kinds.join(" or ")
                }
            };
            let what = format!("this is {}, not {wanted}", kind_of(error.instance()));
            simple(what, format!("write {wanted}"))
        }
        _ => vec![Said {
            what: error.to_string(),
            help: described(schema, &format!("{}/..", error.schema_path())),
            key: None,
        }],
    }
}

/// A value as an author would write it in a sentence.
fn bare(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A kind of JSON, in a sentence.
fn any(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// The `description` of the part of a schema with this path; `..` goes up.
fn described(schema: &Value, path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/').skip(1) {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    let path = names
        .iter()
        .fold(String::new(), |path, name| path + "/" + name);
    let found = schema.pointer(&path)?.get("description")?;
    found.as_str().map(str::to_owned)
}

/// Where the value with this path begins, or one of its keys.
fn find(tree: &Node<'_>, path: &str, key: Option<&str>) -> Option<usize> {
    let mut node = tree;
    for name in path.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        node = match node {
            // Of two with one name, the last counts.
            Node::Object(object) => {
                let mut properties = object.properties.iter().rev();
                &properties.find(|it| it.name.as_str() == name)?.value
            }
            Node::Array(array) => array.elements.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match (node, key) {
        (Node::Object(object), Some(key)) => {
            let mut properties = object.properties.iter();
            Some(properties.find(|it| it.name.as_str() == key)?.range.start)
        }
        _ => Some(node.range().start),
    }
}

/// The place of a line and a column as the parser counts: both from 1, in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let begin: usize = before.map(str::len).sum();
    let mut at = begin
        .saturating_add(column.saturating_sub(1))
        .min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
