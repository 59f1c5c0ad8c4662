//! The lines `key: value` that a Markdown document begins with.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json::said;
use super::markdown::Document;
use super::place::{Excerpt, Findings};
use crate::schema;

/// Checks them: every value is a text.
pub(super) fn check(document: &Document, wanted: &Value, findings: &mut Findings<'_>) {
    let nothing = Excerpt::default();
    let front = document.front.as_ref().unwrap_or(&nothing);
    let mut fields = Map::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut begin = 0;
    for line in front.text.split_inclusive('\n') {
        let at = front.at(begin);
        begin += line.len();
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            let help = "write `key: value`".to_owned();
            findings.add(at, format!("`{line}` says nothing of a key"), Some(help));
            continue;
        };
        let (key, value) = (key.trim().to_owned(), bare(value.trim()));
        if fields.contains_key(&key) {
            let help = Some("keep one of them".to_owned());
            findings.add(at, format!("`{key}` stands twice"), help);
        }
        fields.insert(key.clone(), Value::String(value.to_owned()));
        places.insert(key, at);
    }
    let is_there = document.front.is_some();
    let value = Value::Object(fields);
    // INVARIANT: contracts with a broken schema aren't read.
    let _ = schema::each_error(wanted, &value, &mut |error| {
        let path = error.instance_path().to_string();
        let field = path.strip_prefix('/').unwrap_or_default().to_owned();
        for said in said(&error, wanted) {
            let at = places.get(said.key.as_ref().unwrap_or(&field));
            let help = match said.help {
                Some(help) if !is_there => Some(format!(
                    "begin the document with `---`, lines `key: value`, and `---`; {help}"
                )),
                help => help,
            };
            findings.add(at.copied().unwrap_or_default(), said.what, help);
        }
    });
}

/// A value without the quotes around it.
fn bare(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
