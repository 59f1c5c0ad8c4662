//! What would become of files, as a person reads it.

use std::fmt::Write as _;

use statemark_runs::FileChanges;

/// The checkpoint that files would be put back to, and what that would change.
pub(super) fn told(checkpoint: Option<&str>, files: Option<&FileChanges>) -> String {
    let mut text = String::new();
    if let Some(name) = checkpoint {
        let _ = writeln!(text, "  files back to checkpoint: {name}");
    }
    let Some(changes) = files else {
        return text;
    };
    if changes.files.is_empty() {
        text += "    they are so already\n";
    }
    for file in &changes.files {
        let _ = writeln!(text, "    {:8} {}", file.fate.name(), file.path);
    }
    let more = changes.more();
    if more > 0 {
        let (added, changed, deleted) = (changes.added, changes.changed, changes.deleted);
        let _ = writeln!(
            text,
            "    and {more} more: {added} added, {changed} changed, {deleted} deleted in all"
        );
    }
    text
}
