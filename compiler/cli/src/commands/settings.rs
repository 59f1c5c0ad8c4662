//! The settings of agents' clients, which `mcp add` and `hook install` change.
//!
//! A cloned repository may bring a project's settings along. What to rely on: no link in them leads to another file; they
//! keep their permissions; and what a client reads otherwise than we do, a key that is there twice, is an error.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, ParseResult, parse_to_ast};
use serde_json::Value;
use statemark_compiler::source::MAX_SOURCE_BYTES;

use crate::failure::Failure;
use crate::files;

/// The place of settings.
pub(super) struct SettingsFile {
    path: PathBuf,
    /// True for settings of a project, with a path as seen from the current folder.
    of_project: bool,
    /// The help for whoever can't have them changed.
    help: &'static str,
}

impl SettingsFile {
    /// Names the settings of a project, by a path from the current folder; or a user's, by a whole one.
    pub(super) fn new(path: PathBuf, help: &'static str) -> Self {
        let of_project = path.is_relative();
        Self {
            path,
            of_project,
            help,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the settings; nothing if there are none.
    pub(super) fn read(&self) -> Result<String, Failure> {
        self.check_links()?;
        if !self.path.exists() {
            return Ok(String::new());
        }
        let bytes = files::read_whole(&self.path, MAX_SOURCE_BYTES)?;
        String::from_utf8(bytes).map_err(|_| self.bad("isn't UTF-8"))
    }

    /// Writes the settings, and makes their folder.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        self.check_links()?;
        if self.path.exists() {
            return files::rewrite(&self.path, text.as_bytes());
        }
        if let Some(folder) = self.path.parent() {
            files::make_folder(folder)?;
        }
        files::write(&self.path, text.as_bytes())
    }

    pub(super) fn bad(&self, why: &str) -> Failure {
        Failure::new(format!("`{}` {why}", files::display(&self.path))).with_help(self.help)
    }

    /// Fails if a project's settings are reached through a link: they would be somebody's others.
    fn check_links(&self) -> Result<(), Failure> {
        let mut parts = self
            .path
            .ancestors()
            .filter(|it| self.of_project && it.is_symlink());
        match parts.next() {
            None => Ok(()),
            Some(link) => Err(Failure::new(format!(
                "`{}` is a link, which isn't followed",
                files::display(link)
            ))
            .with_help(self.help)),
        }
    }
}

/// Parses settings in JSON, with comments.
///
/// # Errors
///
/// They are no JSON; or an object has a key twice, of which clients take the last one.
pub(super) fn parse(text: &str) -> Result<ParseResult<'_>, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| format!("isn't JSON: {error}"))?;
    match parsed.value.as_ref().and_then(twice) {
        Some(key) => Err(format!(
            "has the key `{key}` twice in one object: remove one"
        )),
        None => Ok(parsed),
    }
}

/// Finds a key that an object has twice.
fn twice(value: &Node<'_>) -> Option<String> {
    match value {
        Node::Array(array) => array.elements.iter().find_map(twice),
        Node::Object(object) => {
            let mut names: Vec<&str> = object
                .properties
                .iter()
                .map(|it| it.name.as_str())
                .collect();
            names.sort_unstable();
            let found = names.windows(2).find_map(|pair| match pair {
                [one, other] if one == other => Some((*one).to_owned()),
                _ => None,
            });
            found.or_else(|| object.properties.iter().find_map(|it| twice(&it.value)))
        }
        _ => None,
    }
}

/// Reports whether a value in a text is this one. One with comments in it isn't.
pub(super) fn is_same(text: &str, node: &Node<'_>, value: &Value) -> bool {
    let Range { start, end, .. } = node.range();
    let text = text.get(start..end).unwrap_or_default();
    serde_json::from_str::<Value>(text).is_ok_and(|found| found == *value)
}

/// Inserts a property before all others of an object.
pub(super) fn insert(
    old: &str,
    object: &Object<'_>,
    property: &str,
    depth: usize,
) -> Option<String> {
    let begin = object.range.start.saturating_add(1);
    let (before, rest) = (old.get(..begin)?, old.get(begin..)?);
    let blanks = "  ".repeat(depth);
    let (end, rest) = if object.properties.is_empty() {
        let end = format!("\n{}", "  ".repeat(depth.saturating_sub(1)));
        (end, rest.trim_start())
    } else {
        (",".to_owned(), rest)
    };
    Some(format!("{before}\n{blanks}{property}{end}{rest}"))
}

/// Writes a value so that it fits an object at some depth.
pub(super) fn indent(value: &Value, depth: usize) -> String {
    let indent = format!("\n{}", "  ".repeat(depth));
    format!("{value:#}").replace('\n', &indent)
}
