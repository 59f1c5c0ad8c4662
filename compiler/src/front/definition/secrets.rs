//! Texts in a definition that look like secrets.

use jsonc_parser::ast::Value;
use statemark_text::secret;

use super::report;
use super::text::Place;
use crate::diag::Diags;

/// Looks at every text, keys included. Recursion is bounded by the text's nesting, which was limited.
pub(super) fn check(place: Place<'_>, value: &Value<'_>, diags: &mut Diags) {
    match value {
        Value::StringLit(text) => {
            if let Some(shape) = secret::find(&text.value) {
                diags.push(report::secret(place.of(value), shape));
            }
        }
        Value::Array(list) => {
            for element in &list.elements {
                check(place, element, diags);
            }
        }
        Value::Object(object) => {
            for property in &object.properties {
                if let Some(shape) = secret::find(property.name.as_str()) {
                    diags.push(report::secret(place.range(&property.name), shape));
                }
                check(place, &property.value, diags);
            }
        }
        Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {}
    }
}
