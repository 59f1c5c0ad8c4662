//! Texts in a definition that look like secrets.

use jsonc_parser::ast::Value;
use statemark_text::secret;

use super::json::Place;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// Looks at every text, keys included. Recursion is bounded by the text's nesting, which was limited.
pub(super) fn check(place: Place<'_>, value: &Value<'_>, diags: &mut Diags) {
    match value {
        Value::StringLit(text) => {
            if let Some(shape) = secret::find(&text.value) {
                diags.push(secret_in_definition(place.span_of(value), shape));
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
                    diags.push(secret_in_definition(place.range(&property.name), shape));
                }
                check(place, &property.value, diags);
            }
        }
        Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {}
    }
}

/// The names of the shapes that [`statemark_text::secret`] knows.
const SHAPES: [(&str, &str); 9] = [
    ("aws_key", "an AWS key"),
    ("github_token", "a GitHub token"),
    ("slack_token", "a Slack token"),
    ("anthropic_key", "an Anthropic key"),
    ("api_key", "an API key"),
    ("jwt", "a JSON Web Token"),
    ("private_key", "a private key"),
    ("statemark_token", "a Statemark token"),
    ("address_password", "a password in an address"),
];

/// Reports that a text looks like a secret of that shape, without repeating it.
fn secret_in_definition(at: Span, shape: &str) -> Diagnostic {
    let known = SHAPES.iter().find(|(name, _)| *name == shape);
    let what = known.map_or("a secret", |(_, what)| *what);
    let message = format!("this looks like {what}");
    Diagnostic::new(Code::SecretInDefinition, at, message)
        .note(
            "a definition goes into tables, journals and histories of versions, where many read it",
        )
        .help("take it out, have it revoked, and read it from the environment where it is used")
}
