//! `explain`: the page of a code.
//!
//! As JSON, an object for one code, a list of them for all:
//!
//! ```json
//! { "code": "SM304", "name": "unreachable-state", "severity": "warning", "page": "# SM304 …" }
//! ```

use serde::Serialize;
use statemark_compiler::diag::{Code, nearest};

use crate::args::{ExplainArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::status::ExitStatus;

#[derive(Serialize)]
struct Page {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    page: &'static str,
}

pub(super) fn run(args: &ExplainArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let codes = match &args.code {
        Some(words) => vec![code_of(words)?],
        None => Code::ALL.to_vec(),
    };
    let pages: Vec<Page> = codes.iter().map(|&code| page(code)).collect();
    let text = match (args.output_format, pages.as_slice()) {
        (TextFormat::Text, pages) => pages
            .iter()
            .map(|page| format!("{}\n", page.page.trim_end()))
            .collect::<Vec<String>>()
            .join("\n"),
        (TextFormat::Json, [only]) if !args.all => line(serde_json::to_string_pretty(only)),
        (TextFormat::Json, pages) => line(serde_json::to_string_pretty(pages)),
    };
    printer.result(&text);
    Ok(ExitStatus::Clean)
}

fn page(code: Code) -> Page {
    Page {
        code: code.id(),
        name: code.name(),
        severity: code.severity().name(),
        page: code.page(),
    }
}

fn code_of(words: &str) -> Result<Code, Failure> {
    Code::from_words(words).ok_or_else(|| {
        let names = Code::ALL.iter().map(|code| code.name());
        let ids = Code::ALL.iter().map(|code| code.id());
        let looks_like_id = words.len() >= 3 && words.chars().any(|letter| letter.is_ascii_digit());
        let near: Vec<&str> = if looks_like_id {
            nearest(&words.to_uppercase(), ids).into_iter().collect()
        } else {
            match nearest(words, names.clone()) {
                Some(near) => vec![near],
                None => names.filter(|name| has_word(name, words)).collect(),
            }
        };
        FailureKind::UnknownCode {
            words: words.to_owned(),
            near: near.into_iter().map(str::to_owned).collect(),
        }
        .into()
    })
}

/// Whether all the words are among those of a name: `state unreachable` in `unreachable-state`.
fn has_word(name: &str, words: &str) -> bool {
    let words = words.to_lowercase();
    let mut words = words
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| name.split('-').any(|part| part == word))
}

/// A JSON text of plain structs, which can't fail to be written, as a line.
fn line(text: Result<String, serde_json::Error>) -> String {
    format!("{}\n", text.unwrap_or_default())
}
