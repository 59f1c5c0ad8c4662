//! SM601: a text in a definition has the shape of a secret.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// What the shapes are called that [`statemark_text::secret`] knows.
const SHAPES: [(&str, &str); 8] = [
    ("aws_key", "an AWS key"),
    ("github_token", "a token of GitHub's"),
    ("slack_token", "a token of Slack's"),
    ("anthropic_key", "a key of Anthropic's"),
    ("api_key", "an API key"),
    ("jwt", "a JSON Web Token"),
    ("private_key", "a private key"),
    ("statemark_token", "a token of Statemark's"),
];

/// The text looks like the secret of that shape. The text itself isn't repeated.
pub(crate) fn secret(at: Span, shape: &str) -> Diagnostic {
    let known = SHAPES.iter().find(|(name, _)| *name == shape);
    let what = known.map_or("a secret", |(_, what)| *what);
    let message = format!("this looks like {what}");
    Diagnostic::new(Code::SecretInDefinition, at, message)
        .note(
            "a definition goes into tables, journals and histories of versions, where many read it",
        )
        .help("take it out, have it revoked, and read it from the environment where it is used")
}
