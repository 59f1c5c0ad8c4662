//! Tasks in a document, such as `- [ ] T001 write the tests`.

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::{Feature, Files, current_project};
use crate::{Ctx, Problem};

/// The lock of writers: two at once would undo each other's change.
static WRITING: Mutex<()> = Mutex::new(());

/// The numbers of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tasks {
    /// The completed ones.
    pub done: usize,
    /// All of them.
    pub total: usize,
}

/// A completed task.
#[derive(Debug, PartialEq)]
pub struct Completed {
    /// Set if it was done before.
    pub already: bool,
    /// The numbers of tasks now.
    pub tasks: Tasks,
}

/// A task in a text.
struct Task<'t> {
    id: &'t str,
    /// The indentation. Unit: bytes.
    depth: usize,
    done: bool,
    /// The offset of the mark between the brackets. Unit: bytes.
    mark: usize,
}

impl Tasks {
    /// Counts the tasks of a document.
    pub fn count(text: &str) -> Self {
        let tasks = find_tasks(text);
        Self {
            done: tasks.iter().filter(|task| task.done).count(),
            total: tasks.len(),
        }
    }
}

/// Completes a task of the current feature. Returns the file that has it as well.
///
/// # Errors
///
/// There is no such task, or it has open subtasks.
pub fn complete_task(
    ctx: &Ctx<'_>,
    id: &str,
    skip_validation: bool,
) -> Result<(String, Completed), Problem> {
    let files = Files::open(&current_project(ctx)?)?;
    let feature = Feature::read_from(&files);
    if feature.feature_number.is_none() {
        let message = "the branch is no feature's; a feature's is called like `060-some-name`";
        return Err(Problem::new("no_feature", message).mended_by("get_project_context", json!({})));
    }
    let path = feature.document("tasks");
    let Some(path) = path.filter(|path| files.is_file(path)) else {
        let message = "the feature has no `tasks.md` yet";
        return Err(Problem::new("no_tasks", message).mended_by("get_project_context", json!({})));
    };
    let completed = complete(&files, &path, id, skip_validation)?;
    if !completed.already {
        ctx.record_change(&path);
    }
    Ok((path, completed))
}

/// Marks a task as done in its file.
///
/// A task with open subtasks isn't completed, unless validation is skipped.
fn complete(
    files: &Files,
    path: &str,
    id: &str,
    skip_validation: bool,
) -> Result<Completed, Problem> {
    let _lock = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = files.read(path)?;
    let tasks = find_tasks(&text);
    let mut own = tasks.iter().enumerate().filter(|(_, task)| task.id == id);
    let (at, task) = match (own.next(), own.next()) {
        (Some(found), None) => found,
        (None, _) => {
            let open: Vec<&str> = tasks.iter().filter(|it| !it.done).map(|it| it.id).collect();
            let message = format!("there is no task `{id}` in `{path}`");
            return Err(Problem::new("unknown_task", message).with(json!({"open": open})));
        }
        (Some(_), Some(_)) => {
            let message = format!("`{path}` has several tasks `{id}`: give each an id of its own");
            return Err(Problem::new("several_tasks", message));
        }
    };
    if task.done {
        return Ok(Completed {
            already: true,
            tasks: Tasks::count(&text),
        });
    }
    let below = tasks.iter().skip(at.saturating_add(1));
    let below = below.take_while(|it| it.depth > task.depth);
    let open: Vec<&str> = below.filter(|it| !it.done).map(|it| it.id).collect();
    if !open.is_empty() && !skip_validation {
        let message = format!(
            "`{id}` has open subtasks: {}; do them first, or give `skip_validation`",
            open.join(", ")
        );
        return Err(Problem::new("open_tasks", message).with(json!({"open": open})));
    }
    let (before, after) = text.split_at_checked(task.mark).unwrap_or((&text, ""));
    let mut marked = format!("{before}x");
    marked.extend(after.chars().skip(1));
    files.replace(path, &text, &marked)?;
    Ok(Completed {
        already: false,
        tasks: Tasks::count(&marked),
    })
}

/// Finds the tasks of a text, outside of its fences.
fn find_tasks(text: &str) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    let mut at = 0_usize;
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            tasks.extend(parse_task(line, at));
        }
        at = at.saturating_add(line.len());
    }
    tasks
}

/// Parses the task on a line at an offset.
fn parse_task(line: &str, at: usize) -> Option<Task<'_>> {
    let item = line.trim_start();
    let depth = line.len().saturating_sub(item.len());
    let rest = item.strip_prefix(['-', '*', '+'])?;
    let mark = rest.trim_start_matches(' ').strip_prefix('[')?;
    let (state, words) = mark.split_once(']')?;
    let done = match state {
        " " => false,
        "x" | "X" => true,
        _ => return None,
    };
    let word = words.split_whitespace().next()?;
    let id = word.trim_matches(['*', '`', ':', '.']);
    let is_id = id.starts_with(|first: char| first.is_ascii_alphabetic())
        && id.ends_with(|last: char| last.is_ascii_digit());
    is_id.then(|| Task {
        id,
        depth,
        done,
        mark: at.saturating_add(line.len().saturating_sub(mark.len())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_with_their_marks() {
        let text = "# T\r\n- [ ] T001 one\r\n  * [x] **T002**: two\n```\n- [ ] T003\n```\n- [ ] no id\n- [y] T004\n+ [X] `T5`\n";
        let told: Vec<_> = find_tasks(text)
            .iter()
            .map(|it| {
                (
                    it.id,
                    it.depth,
                    it.done,
                    text.get(it.mark..=it.mark).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("T001", 0, false, " "),
                ("T002", 2, true, "x"),
                ("T5", 0, true, "X")
            ]
        );
        assert_eq!(Tasks::count(text), Tasks { done: 2, total: 3 });
    }
}
