//! A case as a document.

use crate::shell::{Run, Said};

/// Files, and commands that work on them.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// What stands above the first heading of level 2.
    head: String,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) runs: Vec<Run>,
}

impl Document {
    /// Parses a document, without what commands have said.
    pub(crate) fn parse(text: &str) -> Self {
        let mut case = Self::default();
        let mut fence: Option<(String, String)> = None;
        let mut file: Option<String> = None;
        for line in text.lines() {
            if let Some((kind, body)) = &mut fence {
                if line != "~~~~" {
                    body.push_str(line);
                    body.push('\n');
                    continue;
                }
                match (kind.as_str(), &file, case.runs.last_mut()) {
                    ("stdin", _, Some(run)) => run.stdin = Some(std::mem::take(body)),
                    ("typed", _, Some(run)) => run.typed = Some(std::mem::take(body)),
                    (_, Some(name), None) => {
                        case.files.push((name.clone(), std::mem::take(body)));
                    }
                    _ => {}
                }
                fence = None;
            } else if let Some(kind) = line.strip_prefix("~~~~") {
                fence = Some((kind.to_owned(), String::new()));
            } else if let Some(name) = line.strip_prefix("## file ") {
                file = Some(name.to_owned());
            } else if let Some(command) = line.strip_prefix("## `") {
                case.runs.push(Run::new(command.trim_end_matches('`')));
            } else if file.is_none() && case.runs.is_empty() {
                case.head.push_str(line);
                case.head.push('\n');
            }
        }
        case
    }

    /// Returns the whole document, with what commands say now.
    pub(crate) fn text(&self, perform: impl Fn(&Run) -> Said) -> String {
        let mut text = format!("{}\n", self.head.trim_end());
        for (name, body) in &self.files {
            text.push_str(&format!("\n## file {name}\n\n~~~~text\n{body}~~~~\n"));
        }
        for run in &self.runs {
            text.push_str(&format!("\n## `{}`\n", run.command));
            if let Some(stdin) = &run.stdin {
                text.push_str(&format!("\n~~~~stdin\n{stdin}~~~~\n"));
            }
            if let Some(typed) = &run.typed {
                text.push_str(&format!("\n~~~~typed\n{typed}~~~~\n"));
            }
            let said = perform(run);
            text.push_str(&format!("\nExit code {}.\n", said.code));
            for (kind, body) in [("stdout", &said.stdout), ("stderr", &said.stderr)] {
                if !body.is_empty() {
                    let end = if body.ends_with('\n') { "" } else { "\n" };
                    text.push_str(&format!("\n~~~~{kind}\n{body}{end}~~~~\n"));
                }
            }
        }
        text
    }
}
