//! A finding in sentences, for formats that have one text for it.

use crate::diag::Diagnostic;

/// Returns the message, its notes and its help, a line each.
pub(super) fn details(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    if !diagnostic.primary.message.is_empty() {
        text.push_str(&format!(": {}", diagnostic.primary.message));
    }
    for note in &diagnostic.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    for help in &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}
