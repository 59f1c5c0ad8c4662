//! The page of all limits, which is written from the code: each number with its reason.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use statemark_harness::{is_update, root};
use statemark_tidy::CRATES;

/// The page.
const PAGE: &str = "compiler/docs/src/reference/limits.md";

/// A constant whose documentation says why it is what it is.
struct Limit {
    name: String,
    what: String,
    value: String,
    why: String,
}

#[test]
fn the_page_has_every_limit_of_the_code() {
    let mut page = String::from(
        "# Limits\n\nEach number that bounds what somebody else can cost, or how long something may take, with its reason. \
         Written from the code: a number that changes there changes here.\n",
    );
    for folder in CRATES {
        let mut rows = String::new();
        for path in rust_files(&root().join(folder)) {
            let name = path
                .strip_prefix(root().join(folder))
                .unwrap()
                .display()
                .to_string();
            for limit in limits_of(&fs::read_to_string(&path).unwrap()) {
                let Limit {
                    what,
                    value,
                    why,
                    name: constant,
                } = limit;
                let _ = writeln!(
                    rows,
                    "| {what} | `{value}` | {why} | `{name}`, `{constant}` |"
                );
            }
        }
        if !rows.is_empty() {
            let _ = write!(
                page,
                "\n## `{folder}`\n\n| limit | value | why | where |\n|---|---|---|---|\n{rows}"
            );
        }
    }
    let path = root().join(PAGE);
    let written = fs::read_to_string(&path).unwrap_or_default();
    if written != page && is_update() {
        fs::write(&path, page).unwrap();
    } else {
        assert!(written == page, "UPDATE=1 rewrites {PAGE}");
    }
}

#[test]
fn a_limit_is_read_with_its_reason() {
    let text = "/// Most `a|b`.\n///\n/// Unit: bytes. Why: people\n/// write few.\npub(crate) const MAX: usize =\n    1 << 3;\n\
                /// Names. Why: they count.\nconst NAMES: [&str; 1] = [\"a\"];\n/// No reason.\nconst X: u8 = 1;\n";
    let limits = limits_of(text);
    let [limit] = limits.as_slice() else {
        panic!("{}", limits.len());
    };
    assert_eq!(limit.name, "MAX");
    assert_eq!(limit.what, "Most `a\\|b`. Unit: bytes.");
    assert_eq!(limit.value, "1 << 3");
    assert_eq!(limit.why, "people write few.");
}

/// Returns the constants of a file that are numbers or times and say why.
fn limits_of(text: &str) -> Vec<Limit> {
    let (mut limits, mut docs) = (Vec::new(), String::new());
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push(' ');
            docs += doc.trim();
            continue;
        }
        if line.starts_with("#[") {
            continue;
        }
        let item = line
            .split_once("const ")
            .filter(|(before, _)| before.is_empty() || before.starts_with("pub"));
        let docs = std::mem::take(&mut docs);
        let (Some((_, item)), Some((what, why))) = (item, docs.split_once("Why:")) else {
            continue;
        };
        let mut item = item.to_owned();
        while !item.ends_with(';') {
            let Some(more) = lines.next() else { break };
            item = format!("{item} {more}");
        }
        let Some((name, rest)) = item.split_once(": ") else {
            continue;
        };
        let Some((kind, value)) = rest.split_once(" =") else {
            continue;
        };
        let is_number = [
            "usize", "u8", "u16", "u32", "u64", "i32", "i64", "f64", "Duration",
        ]
        .contains(&kind);
        if is_number {
            limits.push(Limit {
                name: name.to_owned(),
                what: cell(what),
                value: cell(value.trim_end_matches(';')),
                why: cell(why),
            });
        }
    }
    limits
}

/// Writes a text as a cell of a table.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace('|', "\\|");
    // A link to another item leads nowhere from here.
    text.replace("[`", "`").replace("`]", "`")
}

/// Returns the sources below a folder, sorted, without tests.
fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|it| it == "tests");
        if path.is_dir() && !is_test {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") && !is_test {
            found.push(path);
        }
    }
    found.sort();
    found
}
