//! `explain`: the page of a code.
//!
//! As JSON, an object for one code, a list of them for all:
//!
//! ```json
//! { "code": "SM304", "name": "unreachable-state", "severity": "warning", "page": "# SM304 …" }
//! ```

use serde::Serialize;
use statemark_compiler::diag::Code;
use statemark_compiler::pass::internal::InternalEvent;
use statemark_text::list::join;
use statemark_text::suggest::nearest;

use crate::args::TextFormat;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::Printer;

/// Explain a finding, or an event that nobody sends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark explain SM304\n  \
                        statemark explain unreachable-state\n  \
                        statemark explain changes_requested\n  \
                        statemark explain --all --output-format json")]
pub(crate) struct ExplainArgs {
    /// A code or its name (SM304, 304, unreachable-state), or an internal event (changes_requested)
    #[arg(value_name = "CODE", required_unless_present = "all")]
    code: Option<String>,
    /// Every page
    #[arg(long, conflicts_with = "code")]
    all: bool,
    /// The form of output: text or json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    output_format: TextFormat,
}

/// A page, as JSON.
#[derive(Serialize)]
struct Page {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    page: &'static str,
}

/// The page of an internal event, as JSON.
#[derive(Serialize)]
struct EventPage {
    event: &'static str,
    raised: &'static str,
    data: &'static str,
    page: String,
}

/// Prints pages.
pub(super) fn run(args: &ExplainArgs, printer: &mut Printer) -> CommandResult {
    if let Some(event) = args.code.as_deref().and_then(InternalEvent::find) {
        let text = match args.output_format {
            TextFormat::Text => event.page(),
            TextFormat::Json => line(serde_json::to_string_pretty(&EventPage {
                event: event.name,
                raised: event.raised,
                data: event.data,
                page: event.page(),
            })),
        };
        printer.result(&text);
        return Ok(ExitStatus::Clean);
    }
    let codes = match &args.code {
        Some(words) => vec![parse_code(words)?],
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

fn parse_code(words: &str) -> Result<Code, Failure> {
    Code::from_words(words).ok_or_else(|| {
        let names = Code::ALL.iter().map(|code| code.name());
        let ids = Code::ALL.iter().map(|code| code.id());
        let looks_like_id = words.len() >= 3 && words.chars().any(|letter| letter.is_ascii_digit());
        let similar: Vec<&str> = if looks_like_id {
            nearest(&words.to_uppercase(), ids).into_iter().collect()
        } else {
            match nearest(words, names.clone()) {
                Some(name) => vec![name],
                None => names.filter(|name| has_words(name, words)).collect(),
            }
        };
        let similar: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
        let help = match similar.as_slice() {
            [] => {
                "a code looks like `SM304`; `statemark explain --all` prints every page".to_owned()
            }
            names => format!("did you mean {}?", join(names, "or")),
        };
        Failure::new(format!("no finding is called `{words}`")).with_help(help)
    })
}

/// Reports whether a name has all the words: `unreachable-state` has `state unreachable`.
fn has_words(name: &str, words: &str) -> bool {
    let words = words.to_lowercase();
    let mut words = words
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| name.split('-').any(|part| part == word))
}

/// Ends a text of JSON. Writing plain structs can't fail.
fn line(text: Result<String, serde_json::Error>) -> String {
    format!("{}\n", text.unwrap_or_default())
}
