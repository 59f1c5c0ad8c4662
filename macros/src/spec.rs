//! The text of a spec: from a file, or from the macro call itself.

use std::path::{Path, PathBuf};

use statemark_compiler::Format;
use syn::LitStr;

/// A spec's text.
pub(crate) struct Spec {
    /// The name that findings show: if possible, a path from the compiler's current folder.
    pub(crate) name: String,
    /// The text.
    ///
    /// A text in a Rust file begins with as many line ends as there are lines before it, so that findings show that
    /// file's lines.
    pub(crate) text: String,
    /// The format, if the name doesn't tell it.
    pub(crate) format: Option<Format>,
    /// The file to be watched.
    pub(crate) watched: Option<String>,
}

impl Spec {
    /// Finds the spec that a literal means.
    ///
    /// A literal of several lines is the spec itself, any other is a path.
    pub(crate) fn find(literal: &LitStr) -> Result<Self, String> {
        let text = literal.value();
        if text.contains('\n') {
            Ok(Self::inline(literal, &text))
        } else {
            Self::file(literal, &text)
        }
    }

    fn inline(literal: &LitStr, text: &str) -> Self {
        let span = literal.span().unwrap();
        let format = match text.trim_start() {
            diagram if diagram.starts_with("stateDiagram") => Format::Diagram,
            definition if definition.starts_with('{') => Format::Definition,
            _ => Format::Markdown,
        };
        // Front matter has to be on the first line.
        let lines_before = if text.starts_with("---") {
            0
        } else {
            span.start().line() - 1
        };
        Self {
            name: display_path(Path::new(&span.file())),
            text: "\n".repeat(lines_before) + text,
            format: Some(format),
            watched: None,
        }
    }

    /// Looks in the invoking source file's folder, then in the package's root.
    fn file(literal: &LitStr, path: &str) -> Result<Self, String> {
        let next_to_source = literal.span().unwrap().local_file();
        let next_to_source =
            next_to_source.and_then(|file| file.parent().map(|folder| folder.join(path)));
        let package = std::env::var_os("CARGO_MANIFEST_DIR");
        let package = package.map(|folder| PathBuf::from(folder).join(path));
        let places: Vec<PathBuf> = next_to_source.into_iter().chain(package).collect();
        let Some(found) = places.iter().find(|place| place.is_file()) else {
            let mut tried: Vec<String> = places.iter().map(|place| display_path(place)).collect();
            tried.dedup();
            return Err(format!("no such file: tried `{}`", tried.join("` and `")));
        };
        let name = display_path(found);
        let bytes =
            std::fs::read(found).map_err(|fault| format!("can't read `{name}`: {fault}"))?;
        let text = String::from_utf8(bytes).map_err(|fault| {
            format!(
                "`{name}` is not UTF-8 from byte {} on",
                fault.utf8_error().valid_up_to()
            )
        })?;
        let absolute = std::path::absolute(found).unwrap_or_else(|_| found.clone());
        Ok(Self {
            name,
            text,
            format: None,
            watched: Some(absolute.to_string_lossy().into_owned()),
        })
    }
}

/// Formats a path as findings show it: from the current folder if it is inside, with `/`.
fn display_path(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&current).unwrap_or(path);
    shown.to_string_lossy().replace('\\', "/")
}
