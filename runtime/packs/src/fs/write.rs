//! The tools that change files: writing, editing, appending, moving, copying, deleting.
//!
//! A change of text is held to `max_edit_lines` before anything is written, a preview too.

use std::path::Path;
use std::time::Duration;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{Algorithm, ChangeTag, TextDiff};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Tool};

use super::{MAX_FILE, SET};
use crate::walk::{Step, entries, walk_all};
use statemark_runs::policy::is_obeyed_path;

use crate::workspace::{
    Place, Workspace, belongs_to_store, check_not_obeyed, is_hidden, is_same, open_regular,
    write_problem,
};
use crate::{Spec, error_object, tool};

/// Most edits of one call.
const MAX_EDITS: usize = 200;

/// Places that an ambiguous edit names. Why: enough to see what tells them apart.
const MAX_CANDIDATES: usize = 5;

/// Most characters of a text that an error shows.
const MAX_SHOWN: usize = 200;

/// Time for the search of a short diff. Why: a longer one does as well.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// Most files and folders of one copy.
const MAX_COPIED: usize = 10_000;

/// Most levels of a copied folder.
const MAX_DEPTH: usize = 64;

/// Largest file that is copied. Unit: bytes.
const MAX_COPY: u64 = 256 << 20;

pub(super) fn all() -> Vec<Tool> {
    let mut all = texts();
    all.extend(places());
    all
}

/// Returns the tools that change texts.
fn texts() -> Vec<Tool> {
    vec![
        tool(
            SET,
            &Spec {
                name: "write_file",
                title: "Write a file",
                description: "Writes a text file whole: a new one, or in the place of one that is there.",
                annotations: Annotations::DESTRUCTIVE,
                run: write_file,
            },
        )
        .changing(&["path"]),
        tool(
            SET,
            &Spec {
                name: "edit_file",
                title: "Edit a file",
                description: "Replaces texts in a file, one after the other, all or none. Each text to be replaced must be there \
                              exactly once: give as much around it as that takes. `dry_run` shows the diff and writes nothing.",
                annotations: Annotations::DESTRUCTIVE,
                run: edit_file,
            },
        )
        .changing(&["path"]),
        tool(
            SET,
            &Spec {
                name: "append_file",
                title: "Append to a file",
                description: "Adds a text at the end of a file, which is made if it isn't there.",
                annotations: Annotations::ADDITIVE,
                run: append_file,
            },
        )
        .changing(&["path"]),
    ]
}

/// Returns the tools that make, move and remove files and folders.
fn places() -> Vec<Tool> {
    vec![
        tool(
            SET,
            &Spec {
                name: "create_directory",
                title: "Make a folder",
                description: "Makes a folder, with all those above it.",
                annotations: Annotations::IDEMPOTENT,
                run: create_directory,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "move_file",
                title: "Move or rename",
                description: "Moves or renames a file or folder.",
                annotations: Annotations::DESTRUCTIVE,
                run: move_file,
            },
        )
        .changing(&["source", "destination"]),
        tool(
            SET,
            &Spec {
                name: "copy_file",
                title: "Copy",
                description: "Copies a file, or a folder with all that is in it. Links in it are left out.",
                annotations: Annotations::DESTRUCTIVE,
                run: copy_file,
            },
        )
        .changing(&["destination"]),
        tool(
            SET,
            &Spec {
                name: "delete_path",
                title: "Delete",
                description: "Deletes a file; a folder with all that is in it if `recursive` is true.",
                annotations: Annotations::DESTRUCTIVE,
                run: delete_path,
            },
        )
        .changing(&["path"]),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    /// The file. Its folder has to be there.
    path: String,
    /// The text.
    content: String,
}

fn write_file(ctx: &Ctx<'_>, input: &WriteFile) -> Outcome {
    check_size(&input.path, input.content.len())?;
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find_or_new(&input.path)?;
    check_not_obeyed(&place.relative, &input.path)?;
    let before = before(&place, &input.path)?;
    let is_new = before.is_none();
    let is_same = before.as_deref() == Some(input.content.as_bytes());
    if !is_same {
        // What was no text counts as gone, as a whole.
        let old = String::from_utf8_lossy(before.as_deref().unwrap_or_default());
        ctx.check_edit(changed_lines(&old, &input.content))?;
        save(ctx, &place, &input.path, input.content.as_bytes())?;
    }
    Ok(json!({
        "path": workspace.display_path(&place.relative),
        "bytes": input.content.len(),
        "created": is_new,
        "changed": !is_same,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFile {
    /// The file.
    path: String,
    /// The replacements, in their order.
    edits: Vec<Edit>,
    /// True if the diff is shown and nothing is written.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text that is there.
    #[serde(rename = "oldText", alias = "old_text")]
    old: String,
    /// The text in its place.
    #[serde(rename = "newText", alias = "new_text")]
    new: String,
}

fn edit_file(ctx: &Ctx<'_>, input: &EditFile) -> Outcome {
    if input.edits.is_empty() || input.edits.len() > MAX_EDITS {
        let message = format!("{} edits; 1 to {MAX_EDITS} are made", input.edits.len());
        return Err(Problem::argument("edits", message));
    }
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find(&input.path)?;
    check_not_obeyed(&place.relative, &input.path)?;
    let shown = workspace.display_path(&place.relative);
    let bytes = place.read(&input.path, MAX_FILE)?;
    let before = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let object = json!({
            "path": shown,
            "error": format!("utf-8 decode failed at byte {at}"),
            "byte_offset": at,
        });
        error_object("binary_or_invalid_utf8", object)
    })?;
    let mut after = before.clone();
    for (index, edit) in input.edits.iter().enumerate() {
        after = replace(&after, edit, index, &shown)?;
        check_size(&input.path, after.len())?;
    }
    let diff = diff(&before, &after);
    let lines = count_changes(&diff);
    ctx.check_edit(lines)?;
    let name = place.relative.to_string_lossy();
    let mut unified = diff.unified_diff();
    let text = unified
        .context_radius(3)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string();
    if !input.dry_run && before != after {
        save(ctx, &place, &input.path, after.as_bytes())?;
    }
    Ok(json!({
        "status": if input.dry_run { "preview" } else { "applied" },
        "path": shown,
        "diff": text,
        "changed_lines": lines,
    }))
}

/// Replaces a text that is there exactly once.
fn replace(text: &str, edit: &Edit, index: usize, path: &str) -> Result<String, Problem> {
    if edit.old.is_empty() {
        let what = "it is empty; give the text that is to be replaced";
        return Err(Problem::argument(&format!("edits[{index}].oldText"), what));
    }
    let mut places = text.match_indices(edit.old.as_str()).map(|(at, _)| at);
    let Some(at) = places.next() else {
        let preview: String = edit.old.chars().take(MAX_SHOWN).collect();
        let object = json!({
            "path": path,
            "edit_index": index,
            "preview": preview,
            "error": "the text isn't there: read the file again, and copy the text with its spaces",
        });
        return Err(error_object("no_match", object));
    };
    // One that overlaps the first is another place, too.
    let next = text
        .get(at..)
        .and_then(|rest| rest.char_indices().nth(1))
        .and_then(|(step, _)| text.get(at + step..))
        .is_some_and(|rest| rest.contains(edit.old.as_str()));
    if next {
        let candidates = [at].into_iter().chain(places).take(MAX_CANDIDATES);
        let candidates: Vec<Value> = candidates.map(|at| candidate(text, at)).collect();
        let object = json!({
            "path": path,
            "edit_index": index,
            "candidates": candidates,
            "error": "the text is there more than once: give more of what is around it",
        });
        return Err(error_object("ambiguous_target", object));
    }
    let head = text.get(..at).unwrap_or_default();
    let tail = text.get(at + edit.old.len()..).unwrap_or_default();
    Ok([head, &edit.new, tail].concat())
}

/// Describes a place where a text is: its line, and what that says.
fn candidate(text: &str, at: usize) -> Value {
    let head = text.get(..at).unwrap_or_default();
    let line = head.matches('\n').count() + 1;
    let begin = head.rfind('\n').map_or(0, |end| end + 1);
    let rest = text.get(begin..).unwrap_or_default();
    let shown: String = rest
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(MAX_SHOWN)
        .collect();
    json!({"line": line, "text": shown})
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendFile {
    /// The file. Its folder has to be there.
    path: String,
    /// The text.
    content: String,
}

fn append_file(ctx: &Ctx<'_>, input: &AppendFile) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find_or_new(&input.path)?;
    check_not_obeyed(&place.relative, &input.path)?;
    let before = before(&place, &input.path)?;
    let is_new = before.is_none();
    let mut bytes = before.unwrap_or_default();
    check_size(&input.path, bytes.len().saturating_add(input.content.len()))?;
    ctx.check_edit(u64::try_from(input.content.lines().count()).unwrap_or(u64::MAX))?;
    bytes.extend_from_slice(input.content.as_bytes());
    save(ctx, &place, &input.path, &bytes)?;
    Ok(json!({
        "path": workspace.display_path(&place.relative),
        "appended_bytes": input.content.len(),
        "total_bytes": bytes.len(),
        "created": is_new,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateDirectory {
    /// The folder.
    path: String,
}

fn create_directory(ctx: &Ctx<'_>, input: &CreateDirectory) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let (relative, is_new) = workspace.create_folder(&input.path)?;
    Ok(json!({"path": workspace.display_path(&relative), "created": is_new}))
}

/// Two places, of which one gets what the other has.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Transfer {
    /// The file or folder.
    #[serde(alias = "src")]
    source: String,
    /// Its new path. The folder above it has to be there.
    #[serde(alias = "dest")]
    destination: String,
    /// True if a file that is there may be replaced.
    #[serde(default)]
    overwrite: bool,
}

impl Transfer {
    /// Checks that nothing is in the new place which may not be replaced.
    fn check_is_free(&self, from: &Place, to: &Place) -> Result<(), Problem> {
        let Some(there) = to.facts() else {
            return Ok(());
        };
        let path = &self.destination;
        if from.facts().is_some_and(|facts| is_same(&facts, &there)) {
            let message = format!("`{path}` is `{}` itself", self.source);
            return Err(Problem::new("same_file", message));
        }
        if there.is_dir() {
            let message =
                format!("`{path}` is a folder, and folders aren't replaced; give a new name in it");
            return Err(Problem::new("exists", message));
        }
        if !self.overwrite {
            let message = format!("`{path}` is there already; `overwrite` replaces it");
            return Err(Problem::new("exists", message));
        }
        Ok(())
    }

    /// Checks that a folder isn't put into itself.
    fn check_is_apart(&self, from: &Place, to: &Place) -> Result<(), Problem> {
        if to.relative.starts_with(&from.relative) {
            let message = format!("`{}` is in `{}`", self.destination, self.source);
            return Err(Problem::new("into_itself", message));
        }
        Ok(())
    }
}

fn move_file(ctx: &Ctx<'_>, input: &Transfer) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let from = workspace.find_entry(&input.source)?;
    let to = workspace.find_or_new(&input.destination)?;
    check_not_obeyed(&from.relative, &input.source)?;
    check_not_obeyed(&to.relative, &input.destination)?;
    input.check_is_free(&from, &to)?;
    if from.facts().is_some_and(|facts| facts.is_dir()) {
        input.check_is_apart(&from, &to)?;
        check_unprotected(&from, &input.source, &to.relative)?;
    }
    from.rename_to(&to)
        .map_err(|error| write_problem(&input.destination, &error))?;
    ctx.record_change(&from.relative.to_string_lossy());
    ctx.record_change(&to.relative.to_string_lossy());
    Ok(json!({
        "source": workspace.display_path(&from.relative),
        "destination": workspace.display_path(&to.relative),
    }))
}

fn copy_file(ctx: &Ctx<'_>, input: &Transfer) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let from = workspace.find(&input.source)?;
    let to = workspace.find_or_new(&input.destination)?;
    check_not_obeyed(&to.relative, &input.destination)?;
    input.check_is_free(&from, &to)?;
    let mut copied = 1;
    if from.facts().is_some_and(|facts| facts.is_dir()) {
        input.check_is_apart(&from, &to)?;
        let folder = from.open_folder(&input.source)?;
        let failed = |error: std::io::Error| write_problem(&input.destination, &error);
        to.create_folder().map_err(failed)?;
        let target = to.open_folder(&input.destination)?;
        if let Err(problem) =
            copy_folder(ctx, (&folder, &target), 0, &mut copied, &input.destination)
        {
            // Half a copy is of no use to anybody.
            drop(to.remove());
            return Err(problem);
        }
    } else {
        let bytes = from.read(&input.source, MAX_COPY)?;
        to.write(&input.destination, &bytes)?;
    }
    ctx.record_change(&to.relative.to_string_lossy());
    Ok(json!({
        "source": workspace.display_path(&from.relative),
        "destination": workspace.display_path(&to.relative),
        "copied": copied,
    }))
}

/// Copies what is in a folder, without links, pipes and devices.
fn copy_folder(
    ctx: &Ctx<'_>,
    (from, to): (&Dir, &Dir),
    depth: usize,
    copied: &mut usize,
    path: &str,
) -> Result<(), Problem> {
    let failed = |error: std::io::Error| write_problem(path, &error);
    for (name, facts) in entries(from).map_err(failed)? {
        *copied += 1;
        if *copied > MAX_COPIED || depth == MAX_DEPTH {
            let message =
                format!("more than {MAX_COPIED} files or {MAX_DEPTH} levels aren't copied at once");
            return Err(Problem::new("too_large", message));
        }
        if ctx.is_cancelled() {
            return Err(Problem::new("cancelled", "the call was cancelled"));
        }
        if facts.is_dir() {
            to.create_dir(&name).map_err(failed)?;
            let inner = from.open_dir_nofollow(&name).map_err(failed)?;
            let target = to.open_dir_nofollow(&name).map_err(failed)?;
            copy_folder(ctx, (&inner, &target), depth + 1, copied, path)?;
        } else if facts.is_file() && !belongs_to_store(from, &name) {
            let (mut source, facts) = open_regular(from, &name).map_err(failed)?;
            let mut options = cap_std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            let mut target = to.open_with(&name, &options).map_err(failed)?;
            std::io::copy(&mut source, &mut target).map_err(failed)?;
            target
                .set_permissions(facts.permissions())
                .map_err(failed)?;
        }
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeletePath {
    /// The file or folder. A link is deleted itself.
    path: String,
    /// True if a folder is deleted with all that is in it.
    #[serde(default)]
    recursive: bool,
}

fn delete_path(ctx: &Ctx<'_>, input: &DeletePath) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find_entry(&input.path)?;
    check_not_obeyed(&place.relative, &input.path)?;
    let is_folder = place.facts().is_some_and(|facts| facts.is_dir());
    if is_folder && !input.recursive {
        let message = format!(
            "`{}` is a folder; `recursive` deletes it with all that is in it",
            input.path
        );
        return Err(Problem::new("is_directory", message));
    }
    if is_folder {
        check_unprotected(&place, &input.path, &place.relative)?;
    }
    place
        .remove()
        .map_err(|error| write_problem(&input.path, &error))?;
    ctx.record_change(&place.relative.to_string_lossy());
    Ok(json!({
        "path": workspace.display_path(&place.relative),
        "type": if is_folder { "directory" } else { "file" },
        "deleted": true,
    }))
}

/// Refuses a folder with a repository, our folder, a store or what clients obey in it.
///
/// `becomes` is its path after a move.
fn check_unprotected(place: &Place, path: &str, becomes: &Path) -> Result<(), Problem> {
    let folder = place.open_folder(path)?;
    let mut protected = None;
    walk_all(&folder, &mut |entry| {
        if is_hidden(entry.name)
            || [&place.relative, becomes]
                .iter()
                .any(|it| is_obeyed_path(&it.join(entry.path)))
            || entry.facts.is_file() && belongs_to_store(entry.folder, entry.name)
        {
            protected = Some(entry.path.to_string_lossy().into_owned());
            return Step::End;
        }
        Step::Into
    });
    match protected {
        None => Ok(()),
        Some(inside) => {
            let message =
                format!("`{path}` has `{inside}` in it, which isn't to be moved or deleted");
            Err(Problem::new("outside", message))
        }
    }
}

/// Reads what is in a place before it is changed; `None` if nothing is.
fn before(place: &Place, path: &str) -> Result<Option<Vec<u8>>, Problem> {
    match place.facts() {
        None => Ok(None),
        Some(_) => place.read(path, MAX_FILE).map(Some),
    }
}

/// Writes a file, and has the run remember that it was changed.
fn save(ctx: &Ctx<'_>, place: &Place, path: &str, bytes: &[u8]) -> Result<(), Problem> {
    place.write(path, bytes)?;
    ctx.record_change(&place.relative.to_string_lossy());
    Ok(())
}

fn check_size(path: &str, size: usize) -> Result<(), Problem> {
    if u64::try_from(size).is_ok_and(|size| size <= MAX_FILE) {
        return Ok(());
    }
    let message = format!("`{path}` would have {size} bytes; at most {MAX_FILE} are written");
    Err(Problem::new("too_large", message))
}

fn diff<'t>(before: &'t str, after: &'t str) -> TextDiff<'t, 't, str> {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DIFF_TIME)
        .diff_lines(before, after)
}

/// Counts the lines that a change touches: those that go or those that come, whichever are more.
#[must_use]
pub fn changed_lines(before: &str, after: &str) -> u64 {
    count_changes(&diff(before, after))
}

fn count_changes(diff: &TextDiff<'_, '_, str>) -> u64 {
    let (mut gone, mut new) = (0_u64, 0_u64);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => gone += 1,
            ChangeTag::Insert => new += 1,
            ChangeTag::Equal => {}
        }
    }
    gone.max(new)
}
