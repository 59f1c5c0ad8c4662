//! The pack `fs`: files and folders of the workspace.

mod list;
mod read;
mod search;
mod write;

use statemark_tools::{Set, Tool};
pub use write::changed_lines;

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("fs");

/// Largest file that is read or written whole. Unit: bytes. Why: the document's limit of `read_file`.
const MAX_FILE: u64 = 5_000_000;

pub(crate) fn all() -> Vec<Tool> {
    let mut all = read::all();
    all.extend(list::all());
    all.extend(search::all());
    all.extend(write::all());
    all
}
