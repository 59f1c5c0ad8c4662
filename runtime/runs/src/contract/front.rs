//! Front matter: the lines `key: value` that a Markdown document begins with.
//!
//! Why not YAML: every value is a string, so that `version: 1.10` and `title: fix: renew` need no quotes, and each wrong line
//! is a finding of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::findings::{Excerpt, Findings};
use super::json::describe;
use super::markdown::Document;
use crate::schema;

/// Checks the front matter of a document against a schema.
pub(super) fn check(document: &Document, wanted: &Value, findings: &mut Findings<'_>) {
    let nothing = Excerpt::default();
    let front = document.front.as_ref().unwrap_or(&nothing);
    let mut fields = Map::new();
    let mut offsets: BTreeMap<String, usize> = BTreeMap::new();
    let mut begin = 0;
    for line in front.text.split_inclusive('\n') {
        let at = front.document_offset(begin);
        begin += line.len();
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            let help = "write `key: value`".to_owned();
            findings.add(at, format!("`{line}` has no key and no colon"), Some(help));
            continue;
        };
        let (key, value) = (key.trim().to_owned(), unquoted(value.trim()));
        if fields.contains_key(&key) {
            let help = Some("keep one of them".to_owned());
            findings.add(at, format!("`{key}` stands twice"), help);
        }
        fields.insert(key.clone(), Value::String(value.to_owned()));
        offsets.insert(key, at);
    }
    let is_there = document.front.is_some();
    let value = Value::Object(fields);
    let checked = schema::for_each_error(wanted, &value, &mut |error| {
        let path = error.instance_path().to_string();
        let field = path.strip_prefix('/').unwrap_or_default().to_owned();
        for described in describe(&error, wanted) {
            let at = offsets.get(described.key.as_ref().unwrap_or(&field));
            let help = match described.help {
                Some(help) if !is_there => Some(format!(
                    "begin the document with `---`, lines `key: value`, and `---`; {help}"
                )),
                help => help,
            };
            findings.add(at.copied().unwrap_or_default(), described.what, help);
        }
    });
    if let Err(error) = checked {
        findings.add(0, error, None);
    }
}

/// Removes the quotes around a value.
fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
