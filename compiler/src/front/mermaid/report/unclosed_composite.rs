//! `SM107` `unclosed-composite`: a `{` without its `}`.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A composite that is still open at the end of the diagram. A `}` glued to a name or a label before it is pointed at.
pub(in crate::front::mermaid) fn open(
    brace: Span,
    id: &str,
    glued: Option<(Span, String)>,
) -> Diagnostic {
    let id = quote(id);
    let finding = Diagnostic::new(
        Code::UnclosedComposite,
        brace,
        format!("the body of `{id}` isn't closed"),
    )
    .label("this `{` has no `}`");
    match glued {
        Some((span, text)) => finding
            .related(
                span,
                format!("in `{}` the `}}` belongs to the text", quote(&text)),
            )
            .help("put the `}` on a line of its own"),
        None => finding.help("put a `}` on a line of its own behind the body"),
    }
}
