//! Listing folders: `list_directory`, `list_directory_recursive`, `directory_tree`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Tool};

use super::SET;
use super::read::kind;
use crate::walk::{Step, entries, walk};
use crate::workspace::{Workspace, read_problem};
use crate::{Spec, tool};

/// Most entries of an answer. Why: more aren't read, and each costs a model some tokens.
const MAX_LISTED: usize = 5_000;

/// Most levels of a tree. Why: each is two levels of JSON, of which readers take 128 or so.
const MAX_LEVELS: usize = 30;

/// Most patterns of a call, and the most bytes of one. Why: they become one automaton.
const MAX_PATTERNS: usize = 100;
const MAX_PATTERN: usize = 1_000;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(
            SET,
            &Spec {
                name: "list_directory",
                title: "List a folder",
                description: "Lists what is in a folder: names, types and sizes.",
                annotations: Annotations::READ_ONLY,
                run: list_directory,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "list_directory_recursive",
                title: "List folders",
                description: "Lists all that is below a folder, a path on each line; folders end with `/`.",
                annotations: Annotations::READ_ONLY,
                run: list_directory_recursive,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "directory_tree",
                title: "Show a tree",
                description: "Shows what is below a folder as a tree, down to `max_depth`, without what `exclude_patterns` match.",
                annotations: Annotations::READ_ONLY,
                run: directory_tree,
            },
        ),
    ]
}

/// Returns the place where a walk begins: the root, unless it is named.
pub(super) fn base(path: Option<&String>) -> &str {
    path.map_or(".", String::as_str)
}

/// Makes one matcher of patterns.
///
/// `*` stays within a name, `**` goes through folders, and a pattern without `/` is one for a name anywhere.
pub(super) fn matcher(argument: &str, patterns: &[String]) -> Result<GlobSet, Problem> {
    if patterns.len() > MAX_PATTERNS {
        let message = format!(
            "{} patterns; at most {MAX_PATTERNS} are taken",
            patterns.len()
        );
        return Err(Problem::argument(argument, message));
    }
    let invalid = |what: String| Problem::argument(argument, what);
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if pattern.is_empty() || pattern.len() > MAX_PATTERN {
            return Err(invalid(format!("a pattern has 1 to {MAX_PATTERN} bytes")));
        }
        let trimmed = pattern.trim_end_matches('/');
        let anywhere = if trimmed.contains('/') {
            trimmed.strip_prefix("./").unwrap_or(trimmed).to_owned()
        } else {
            format!("**/{trimmed}")
        };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(
            glob.map_err(|error| invalid(format!("`{pattern}` is no glob: {}", error.kind())))?,
        );
    }
    set.build().map_err(|error| invalid(error.to_string()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirectory {
    /// The folder; the workspace's root if it is left out.
    path: Option<String>,
}

fn list_directory(ctx: &Ctx<'_>, input: &ListDirectory) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let path = base(input.path.as_ref());
    let (folder, relative) = workspace.open_folder(path)?;
    let found = entries(&folder).map_err(|error| read_problem(path, &error))?;
    let listed = found.iter().take(MAX_LISTED).map(|(name, facts)| {
        let size = facts.is_file().then(|| facts.len());
        json!({"name": name.to_string_lossy(), "type": kind(facts), "size": size})
    });
    Ok(json!({
        "path": workspace.display_path(&relative),
        "entries": listed.collect::<Vec<Value>>(),
        "total": found.len(),
        "truncated": found.len() > MAX_LISTED,
    }))
}

fn list_directory_recursive(ctx: &Ctx<'_>, input: &ListDirectory) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let (folder, _) = workspace.open_folder(base(input.path.as_ref()))?;
    let mut text = String::new();
    let mut listed = 0_usize;
    let mut is_cut = false;
    walk(&folder, &mut |entry| {
        if listed == MAX_LISTED || ctx.is_cancelled() {
            is_cut = true;
            return Step::End;
        }
        listed += 1;
        text += &entry.path.to_string_lossy();
        text += if entry.facts.is_dir() { "/\n" } else { "\n" };
        Step::Into
    });
    if is_cut {
        text += &format!("… there is more than these {listed}: list a folder below, or search\n");
    }
    Ok(Value::String(text))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DirectoryTree {
    /// The folder; the workspace's root if it is left out.
    path: Option<String>,
    /// The levels that are shown; all if it is left out or zero.
    max_depth: Option<usize>,
    /// Patterns of what is left out, such as `target` or `docs/**/*.png`.
    #[serde(default)]
    exclude_patterns: Vec<String>,
}

fn directory_tree(ctx: &Ctx<'_>, input: &DirectoryTree) -> Outcome {
    let excluded = matcher("exclude_patterns", &input.exclude_patterns)?;
    let deepest = input.max_depth.filter(|it| *it != 0).unwrap_or(usize::MAX);
    let workspace = Workspace::open(ctx)?;
    let (folder, relative) = workspace.open_folder(base(input.path.as_ref()))?;
    // The folders between the root and the present entry, each with what was found in it.
    let mut open: Vec<(Value, Vec<Value>)> = vec![(json!({}), Vec::new())];
    let mut listed = 0_usize;
    let mut is_cut = false;
    walk(&folder, &mut |entry| {
        if excluded.is_match(entry.path) {
            return Step::Over;
        }
        if listed == MAX_LISTED || ctx.is_cancelled() {
            is_cut = true;
            return Step::End;
        }
        listed += 1;
        while open.len() > entry.depth + 1 {
            close(&mut open);
        }
        let node = json!({"name": entry.name.to_string_lossy(), "type": kind(entry.facts)});
        if entry.facts.is_dir() {
            open.push((node, Vec::new()));
            let below = entry.depth + 1;
            is_cut |= below == MAX_LEVELS && below < deepest;
            if below >= deepest.min(MAX_LEVELS) {
                return Step::Over;
            }
        } else if let Some((_, children)) = open.last_mut() {
            children.push(node);
        }
        Step::Into
    });
    while open.len() > 1 {
        close(&mut open);
    }
    let children = open.pop().map(|(_, children)| children).unwrap_or_default();
    Ok(json!({
        "path": workspace.display_path(&relative),
        "type": "directory",
        "children": children,
        "truncated": is_cut,
    }))
}

/// Gives the innermost folder its entries, and puts it into the one around it.
fn close(open: &mut Vec<(Value, Vec<Value>)>) {
    let Some((mut node, children)) = open.pop() else {
        return;
    };
    if let Value::Object(fields) = &mut node {
        fields.insert("children".to_owned(), Value::Array(children));
    }
    if let Some((_, above)) = open.last_mut() {
        above.push(node);
    }
}
