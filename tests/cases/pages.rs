//! Each code's page shows what it says: its example yields exactly that code, its mended example yields nothing.

use statemark_compiler::diag::Code;
use statemark_harness::Suite;
use statemark_tests::specs::compile_text;

const HEADINGS: [&str; 5] = [
    "## What it says",
    "## Why it matters",
    "## Example",
    "## Instead",
    "## When to allow",
];

pub(crate) fn add(suite: &mut Suite) {
    for &code in Code::ALL {
        suite.check(&format!("pages::{}", code.id()), move || check(code));
    }
}

/// The fence below a heading: its language and its text.
fn fence(page: &str, heading: &str) -> Option<(String, String)> {
    let (_, below) = page.split_once(&format!("\n{heading}\n"))?;
    let mut lines = below.lines().skip_while(|line| !line.starts_with("````"));
    let opening = lines.next()?;
    let language = opening.trim_start_matches('`');
    let closing = opening.strip_suffix(language)?;
    let text: Vec<&str> = lines.take_while(|line| *line != closing).collect();
    Some((language.trim().to_owned(), text.join("\n") + "\n"))
}

fn check(code: Code) -> Result<(), String> {
    let page = code.page();
    let title = format!("# {} {}\n", code.id(), code.name());
    if !page.starts_with(&title) {
        return Err(format!(
            "{}: the page doesn't begin with `{}`\n",
            code.id(),
            title.trim()
        ));
    }
    let places: Vec<Option<usize>> = HEADINGS
        .iter()
        .map(|heading| page.find(&format!("\n{heading}\n")))
        .collect();
    if places.iter().any(Option::is_none) || !places.is_sorted() {
        return Err(format!(
            "{}: the page lacks a heading, or they stand in another order\n",
            code.id()
        ));
    }
    let mut faults = String::new();
    for (heading, expected) in [("## Example", &[code][..]), ("## Instead", &[][..])] {
        let (language, text) = fence(page, heading)
            .ok_or_else(|| format!("{}: no fence below {heading}\n", code.id()))?;
        let name = match language.as_str() {
            "markdown" => "page.md",
            "json" => "page.workflow.json",
            "mermaid" => "page.mmd",
            "xml" => "page.scxml",
            "text" => continue,
            other => return Err(format!("{}: a fence of `{other}`\n", code.id())),
        };
        let (_, compiled) = compile_text(name, &text);
        let mut found: Vec<Code> = compiled
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        found.dedup();
        if found != expected {
            let told: Vec<String> = compiled
                .diagnostics
                .iter()
                .map(|d| format!("{} {}", d.code.id(), d.message))
                .collect();
            faults.push_str(&format!("{} {heading}: {told:#?}\n", code.id()));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}
