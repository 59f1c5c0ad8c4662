//! The wire: what programs send, and what they get, by MCP, by the HTTP API and by the command line's `--json`.
//!
//! A file in `wire/` holds files (`## file NAME`) and calls in fences `wire`. Names, codes, shapes, and all values are
//! compared, as clients rely on them; only the wording is masked: see [`mask`]. `UPDATE=1` rewrites the answers. A diff
//! here breaks somebody's program.
//! The calls are those of a [`Session`].

mod mask;

use std::path::Path;

use serde_json::{Value, json};
use statemark_harness::script::{self, Minted, pretty};
use statemark_harness::{Suite, files};

use crate::session::{Answer, Session};
use crate::shell::Scratch;
use mask::{masked, string};

/// Width of a line that an object or list may fill.
const WIDTH: usize = 160;

/// Least number of cases. Why: each is a promise.
const CASES: usize = 30;

pub(crate) fn add(suite: &mut Suite, folder: &Path) {
    let mut documents = files(folder);
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let count = documents.len();
    suite.check("wire::is_large", move || match count {
        CASES.. => Ok(()),
        few => Err(format!("the corpus shrank to {few} files")),
    });
    suite.documents("wire", folder, |case| play(case.name(), &case.text));
}

/// Returns the document with the answers of the built program.
fn play(name: &str, document: &str) -> String {
    let scratch = Scratch::new(&format!("wire-{name}"));
    for (file, text) in files_of(document) {
        scratch.write(file, text);
    }
    let mut session = Session::new(&scratch);
    let mut page = Page {
        folder: scratch.path.to_str().unwrap(),
        minted: Minted::default(),
    };
    script::play(document, ("~~~~wire", "~~~~"), |call| {
        page.render(session.call(call))
    })
}

/// What a document masks.
struct Page<'s> {
    folder: &'s str,
    minted: Minted,
}

impl Page<'_> {
    /// Returns a masked answer.
    fn render(&mut self, answer: Answer) -> String {
        match answer {
            Answer::Nothing => String::new(),
            Answer::Ended(code) => format!("exit {code}\n"),
            Answer::Names(names) => names.join(" "),
            Answer::Protocol(outcome) => self.json(&outcome),
            Answer::Tool {
                is_error,
                structured,
                texts,
            } => {
                let mark = if is_error { "error\n" } else { "" };
                if let Some(structured) = structured {
                    return format!("{mark}{}", self.json(&structured));
                }
                // Only texts that aren't errors are documented.
                let shown = texts
                    .iter()
                    .map(|text| match serde_json::from_str::<Value>(text) {
                        Ok(value) => self.json(&value),
                        Err(_) if is_error => "…".to_owned(),
                        Err(_) => string(text, &mut self.minted),
                    });
                format!("{mark}text\n{}", shown.collect::<Vec<_>>().join("\n"))
            }
            Answer::Http { status, body } => format!("status {status}\n{}", self.text(&body)),
            Answer::Command(said) => {
                let lines: Vec<String> = said.stdout.lines().map(|line| self.text(line)).collect();
                let whole = serde_json::from_str::<Value>(&said.stdout).ok();
                let answer = whole.map_or_else(|| lines.join("\n"), |value| self.json(&value));
                format!("exit {}\n{answer}", said.code)
            }
        }
    }

    /// Returns the masked JSON of a text; of another text nothing is compared but that there is one.
    fn text(&mut self, text: &str) -> String {
        match serde_json::from_str(text) {
            Ok(value) => self.json(&value),
            Err(_) if text.is_empty() => String::new(),
            Err(_) => "text".to_owned(),
        }
    }

    fn json(&mut self, value: &Value) -> String {
        let text = value.to_string().replace(self.folder, "FOLDER");
        let value = serde_json::from_str(&text).unwrap_or_else(|error| json!(error.to_string()));
        pretty(&masked(&value, &mut self.minted), WIDTH)
    }
}

/// Returns the names and texts of the files in a document.
fn files_of(document: &str) -> Vec<(&str, &str)> {
    let parts = document.split("\n## file ").skip(1);
    parts
        .map(|part| {
            let (name, rest) = part.split_once('\n').unwrap();
            let (_, text) = rest.split_once("~~~~text\n").unwrap();
            (name, text.split("~~~~\n").next().unwrap())
        })
        .collect()
}
