//! Validation of JSON in documents, with each finding located in the text.

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde::de::IgnoredAny;
use serde_json::Value;
use statemark_text::json::{count_values, find_repeated_keys};

use super::findings::{Excerpt, Findings};
use crate::schema;

/// Most values in JSON that a schema is for, counting the names of members.
///
/// Why: each takes some hundred bytes in memory. A report of 10,000 findings with five fields each has half as many.
pub const MAX_DOCUMENT_VALUES: usize = 200_000;

/// Checks JSON that is a document or a part of one.
pub(super) fn check(excerpt: &Excerpt, wanted: Option<&Value>, findings: &mut Findings<'_>) {
    let text = &excerpt.text;
    let is_large = count_values(text.as_bytes()) > MAX_DOCUMENT_VALUES;
    let read = match is_large {
        true => serde_json::from_str::<IgnoredAny>(text).map(|_| Value::Null),
        false => serde_json::from_str::<Value>(text),
    };
    let value = match read {
        Ok(value) => value,
        Err(error) => {
            let at = offset(text, error.line(), error.column());
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            let help =
                "write it as JSON: names and strings in `\"`, no comma after the last, no comments";
            let what = format!("this isn't JSON: {what}");
            findings.add(excerpt.document_offset(at), what, Some(help.to_owned()));
            return;
        }
    };
    for repeated in find_repeated_keys(text.as_bytes()) {
        let (line, column) = findings.location(excerpt.document_offset(repeated.first));
        let key = &repeated.key;
        let what =
            format!("`{key}` stands twice in one object: first at line {line}, column {column}");
        let help = "keep one of them: readers of JSON disagree about which counts".to_owned();
        findings.add(excerpt.document_offset(repeated.again), what, Some(help));
    }
    let Some(wanted) = wanted else { return };
    if is_large {
        let what = format!(
            "this has more than {MAX_DOCUMENT_VALUES} values, which no schema is checked for"
        );
        let help = "hand in less, or as lines of text".to_owned();
        findings.add(excerpt.document_offset(0), what, Some(help));
        return;
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let tree = parsed.ok().and_then(|it| it.value);
    let checked = schema::for_each_error(wanted, &value, &mut |error| {
        let path = error.instance_path().to_string();
        for described in describe(&error, wanted) {
            let at = tree
                .as_ref()
                .and_then(|tree| locate(tree, &path, described.key.as_deref()));
            let at = excerpt.document_offset(at.unwrap_or_default());
            findings.add(at, described.what, described.help);
        }
    });
    if let Err(error) = checked {
        findings.add(excerpt.document_offset(0), error, None);
    }
}

/// A description of a validation error.
pub(super) struct Description {
    pub(super) what: String,
    pub(super) help: Option<String>,
    /// The key of the object at which the error is, if it is at a key.
    pub(super) key: Option<String>,
}

/// Describes a validation error for the document's author.
pub(super) fn describe(error: &ValidationError<'_>, schema: &Value) -> Vec<Description> {
    let simple = |what: String, help: String| {
        vec![Description {
            what,
            help: Some(help),
            key: None,
        }]
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let described = schema_description(
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
            .map(|key| Description {
                what: format!("`{key}` isn't expected here"),
                help: Some("remove it, or mend its name".to_owned()),
                key: Some(key.clone()),
            })
            .collect(),
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            let options: Vec<String> = options.map(|it| format!("`{}`", plain(it))).collect();
            let options = options.join(", ");
            let what = format!("`{}` is none of {options}", plain(error.instance()));
            simple(what, format!("write one of {options}"))
        }
        ValidationErrorKind::Constant { expected_value } => {
            let expected = plain(expected_value);
            let what = format!("`{}` isn't `{expected}`", plain(error.instance()));
            simple(what, format!("write `{expected}`"))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => with_article(&kind.to_string()),
                TypeKind::Multiple(kinds) => {
                    let kinds = kinds.iter().map(|it| with_article(&it.to_string()));
                    let kinds: Vec<String> = kinds.collect();
                    kinds.join(" or ")
                }
            };
            let what = format!("this is {}, not {wanted}", kind_of(error.instance()));
            simple(what, format!("write {wanted}"))
        }
        _ => vec![Description {
            what: error.to_string(),
            help: schema_description(schema, &format!("{}/..", error.schema_path())),
            key: None,
        }],
    }
}

/// Returns a value as it appears in a sentence: a string without quotes.
fn plain(value: &Value) -> String {
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

/// Returns a type of JSON with its article.
fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Returns the `description` of the subschema at a path, whose `..` leads to the schema around it.
fn schema_description(schema: &Value, path: &str) -> Option<String> {
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

/// Returns the offset of the value at a path, or of one of its keys.
fn locate(tree: &Node<'_>, path: &str, key: Option<&str>) -> Option<usize> {
    let mut node = tree;
    for name in path.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        node = match node {
            // Of two keys with one name the last counts.
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

/// Returns the offset of a line and a column as serde_json counts them: both from 1, columns in bytes.
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
