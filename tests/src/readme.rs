//! README and book show what really comes out, and lead to what is there.

use std::fs;
use std::path::{Path, PathBuf};

use statemark_harness::{files, is_update, root};
use statemark_runs::Right;

/// The address of the repository's files, for links that leave the book.
pub(crate) const REPOSITORY: &str = "https://github.com/statemark/statemark/blob/main/";

/// Returns README and the chapters of the book, with their paths.
fn texts() -> Vec<(PathBuf, String)> {
    let mut paths = files(&root().join("compiler/docs/src"));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.push(root().join("README.md"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable text");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("a README")
}

/// Returns the texts inside the fences of a language.
fn fences<'t>(text: &'t str, opening: &str, closing: &str) -> Vec<&'t str> {
    let (opening, closing) = (format!("\n{opening}\n"), format!("\n{closing}"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, below)) = rest.split_once(&opening) {
        let (inside, after) = below.split_once(&closing).expect("a closed fence");
        found.push(inside);
        rest = after;
    }
    found
}

#[test]
fn their_diagnostics_and_proofs_are_real() {
    let mut goldens = files(&root().join("tests/corpus"));
    goldens.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    goldens.push(root().join("compiler/cli/tests/cases/proofs.md"));
    goldens.push(root().join("compiler/cli/tests/top/screens.md"));
    let goldens: Vec<String> = goldens
        .iter()
        .map(|path| fs::read_to_string(path).expect("a readable golden"))
        .collect();
    let mut seen = 0;
    for (path, text) in texts() {
        // Commands with their output are run by the tests of the command line; references are goldens themselves.
        let shown = fences(&text, "```text", "```");
        let shown = shown.iter().filter(|shown| !shown.starts_with("$ "));
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("reference"))
        {
            continue;
        }
        for shown in shown {
            seen += 1;
            assert!(
                goldens.iter().any(|golden| golden.contains(shown)),
                "{}: nothing prints\n{shown}",
                path.display()
            );
        }
    }
    assert!(seen >= 4, "only {seen} texts were found");
}

#[test]
fn its_spec_is_the_example() {
    let readme = readme();
    let example =
        fs::read_to_string(root().join("examples/turnstile/turnstile.md")).expect("an example");
    let shown = fences(&readme, "````markdown", "````");
    assert_eq!(
        shown.first().map(|text| text.trim_end()),
        Some(example.trim_end())
    );
}

/// The program in README and in the book is a case that compiles.
#[test]
fn its_program_compiles() {
    let case = root().join("macros/statemark/tests/pass/readme.rs");
    let case = fs::read_to_string(case).expect("the case");
    let (_, case) = case.split_once("// README\n").expect("its begin");
    let (case, _) = case.split_once("// end of README\n").expect("its end");
    let book = fs::read_to_string(root().join("compiler/docs/src/rust.md")).expect("a chapter");
    for text in [readme(), book] {
        let shown = fences(&text, "```rust", "```");
        let shown = shown.first().expect("a program").lines();
        let path = "statemark::machine!(\"turnstile.md\");";
        let here = "statemark::machine!(\"../../../../examples/turnstile/turnstile.md\");";
        let mut of_case = case.lines().filter(|line| !line.starts_with("fn main"));
        for line in shown {
            let line = if line == path { here } else { line };
            let found = of_case.next().unwrap_or_default();
            // The statements stand in a function of the case.
            assert_eq!(found.trim(), line.trim());
        }
    }
}

/// A text that people read in one sitting.
#[test]
fn it_is_short() {
    assert!(readme().lines().count() <= 200);
}

/// Every chapter is in the table of contents.
#[test]
fn the_book_has_its_chapters() {
    let folder = root().join("compiler/docs/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("a table of contents");
    for (path, _) in texts() {
        let Ok(name) = path.strip_prefix(&folder) else {
            continue;
        };
        let name = name.to_str().expect("UTF-8");
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name} isn't in SUMMARY.md"
        );
    }
}

/// Returns the targets of a text's links, outside of its fences.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let marks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if marks.len() >= open.len() && line.len() == marks.len() => fence = None,
            None if marks.len() >= 3 => fence = Some(marks),
            None => {
                for (at, _) in line.match_indices("](") {
                    let target = &line[at + 2..];
                    found.extend(target.find(')').map(|end| &target[..end]));
                }
            }
            Some(_) => {}
        }
    }
    found
}

/// Returns the anchor of a heading as Git hosts and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let slug: String = heading.trim().chars().filter(|&c| kept(c)).collect();
    slug.to_lowercase().replace(' ', "-")
}

/// Every link leads to a file and a heading that are there.
#[test]
fn their_links_lead_somewhere() {
    let mut broken = Vec::new();
    let mut all = texts();
    for other in ["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"] {
        let path = root().join(other);
        let text = fs::read_to_string(&path).expect("a text");
        all.push((path, text));
    }
    for (path, text) in &all {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if let Some(file) = file.strip_prefix(REPOSITORY) {
                root().join(file)
            } else if file.contains("://") {
                continue;
            } else if file.is_empty() {
                path.clone()
            } else {
                path.parent().expect("a folder").join(file)
            };
            if !leads_to(&target, heading) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn leads_to(file: &Path, heading: &str) -> bool {
    if heading.is_empty() {
        return file.exists();
    }
    fs::read_to_string(file).is_ok_and(|text| {
        text.lines()
            .filter(|line| line.starts_with('#'))
            .any(|line| anchor(line.trim_start_matches('#')) == heading)
    })
}

#[test]
fn the_table_of_rights_is_that_of_the_code() {
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("a map");
    let (head, rest) = text.split_once("<!-- rights -->\n").expect("its begin");
    let (table, tail) = rest.split_once("<!-- end of rights -->").expect("its end");
    if table != Right::table() && is_update() {
        let text = format!(
            "{head}<!-- rights -->\n{}<!-- end of rights -->{tail}",
            Right::table()
        );
        fs::write(&path, text).expect("a writable map");
    } else {
        assert_eq!(table, Right::table(), "UPDATE=1 rewrites it");
    }
}
