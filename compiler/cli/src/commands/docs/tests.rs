//! What newcomers ask is answered by the page that they need, and nothing that people read is left out.

use std::fs;
use std::path::Path;

use statemark_compiler::definition_schema;
use statemark_harness::{compare, files};
use statemark_tools::Docs;

use super::*;
use crate::commands::program;

/// Each line of the table is a question, and the addresses of which its first answer begins with one.
#[test]
fn questions_of_newcomers_find_their_page() {
    let docs = Docs::new(pages(program()));
    let mut wrong = String::new();
    let rows = include_str!("tests/questions.md")
        .lines()
        .filter_map(|line| {
            let (question, page) = line
                .strip_prefix("| ")?
                .strip_suffix(" |")?
                .rsplit_once(" | ")?;
            (question != "question").then_some((question, page))
        });
    let mut asked = 0;
    for (question, page) in rows {
        asked += 1;
        let found = docs.search(question, 0, 4);
        let first = found.hits.first().map_or("", |hit| &hit.uri);
        let begins =
            |page: &str| first.starts_with(&format!("statemark://docs/{}", page.trim_matches('`')));
        if !page.split(" or ").any(begins) {
            wrong += &format!("{question}: not {page}\n");
            for hit in &found.hits {
                wrong += &format!("    {} {}\n", hit.score, hit.uri);
            }
        }
    }
    assert!(asked >= 20);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_hit_can_be_read_as_a_whole() {
    let docs = Docs::new(pages(program()));
    for question in ["guard", "state", "run", "SM304", "--output-format"] {
        let found = docs.search(question, 0, 500);
        assert!(!found.hits.is_empty(), "{question}");
        for hit in found.hits {
            let text = docs.text(&hit.uri);
            let text = text.unwrap_or_else(|| panic!("{} isn't there", hit.uri));
            let snippet = hit.snippet.trim_matches('…');
            assert!(text.contains(snippet), "{}: {snippet}", hit.uri);
        }
    }
}

#[test]
fn words_that_nothing_has_stand_for_the_nearest() {
    let docs = Docs::new(pages(program()));
    let found = docs.search("unreachble stat", 0, 1);
    assert_eq!(found.meant.get("unreachble").unwrap(), "unreachable");
    assert_eq!(found.hits[0].page, "SM304");
    let found = docs.search("xyzzyqwv", 0, 1);
    assert!(found.hits.is_empty() && found.meant.is_empty());
}

/// A guide that isn't listed isn't found.
#[test]
fn every_guide_is_carried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut missing = Vec::new();
    let mut folders = ["skills", "examples", "compiler/docs/src"]
        .map(|folder| root.join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // What is generated, or only leads on, is carried in other forms.
            let is_index = ["reference", "SUMMARY.md", "introduction.md"].contains(&name);
            // The other skills, agents and workflows are specs, which `describe_workflow` shows.
            let guides = [
                "skills/write-state-machine",
                "skills/fix-diagnostic",
                "skills/drive-run",
                "compiler",
            ];
            let is_guide = guides
                .iter()
                .any(|folder| path.starts_with(root.join(folder)));
            if is_index {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else if name == "README.md" || (is_guide && name.ends_with(".md")) {
                let text = fs::read_to_string(&path).unwrap();
                if !GUIDES.iter().any(|(_, _, carried)| *carried == text) {
                    missing.push(path);
                }
            }
        }
    }
    assert!(missing.is_empty(), "add these to GUIDES: {missing:?}");
}

/// The book's references are made from the program: `UPDATE=1` writes them.
#[test]
fn references_are_those_of_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reference");
    compare(&folder.join("commands.md"), &commands()).unwrap();
    compare(&folder.join("rules.md"), &rules()).unwrap();
    compare(&folder.join("keys.md"), &keys_page()).unwrap();
    let schema = format!("{:#}\n", definition_schema());
    compare(&folder.join("definition.schema.json"), &schema).unwrap();
    let schema = format!("{:#}\n", crate::project::config_schema());
    compare(&folder.join("statemark.schema.json"), &schema).unwrap();
}

/// Returns the reference of commands: the help of each.
fn commands() -> String {
    let mut program = program();
    program.build();
    let mut pages = Vec::new();
    for command in program.get_subcommands_mut() {
        add_help(command, "", &mut pages);
    }
    let mut text = "# Commands\n\nThe help of every command, as `--help` prints it. \
        Exit codes: 0 clean, 1 findings or refused, 2 used wrongly.\n"
        .to_owned();
    for page in pages {
        // Help of a terminal is no Markdown.
        text += &format!(
            "\n## {}\n\n```text\n{}\n```\n",
            page.title,
            page.text.trim_end()
        );
    }
    text
}

/// Returns the reference of findings: code, name, severity, and what it says.
fn rules() -> String {
    let mut text =
        "# Findings by code\n\n`statemark explain CODE` prints the whole page of one.\n\n\
        | code | name | severity | it says |\n|---|---|---|---|\n"
            .to_owned();
    for code in Code::ALL {
        let (_, page) = code.page().split_once("## What it says\n\n").unwrap();
        let sentence = page.lines().next().unwrap().replace('|', "\\|");
        text += &format!(
            "| [{id}](https://github.com/statemark/statemark/blob/main/compiler/src/diag/pages/{id}.md) | {} | {} | {sentence} |\n",
            code.name(),
            code.severity().name(),
            id = code.id(),
        );
    }
    text
}

/// Every command that README and book tell people to type is one, with flags that it has.
#[test]
fn commands_of_the_texts_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = files(&root.join("compiler/docs/src"));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.push(root.join("README.md"));
    let mut typed = 0;
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for fence in text.split("```sh\n").skip(1) {
            let fence = fence.split("```").next().unwrap();
            let lines = fence.lines().map(|line| line.split("  #").next().unwrap());
            for line in lines.flat_map(|line| line.split("&&")) {
                // Variables before a command, and what a comment says behind it, are no words of it.
                let line = line.split(" #").next().unwrap();
                let words = line.split_whitespace();
                let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
                if words.first() != Some(&"statemark") {
                    continue;
                }
                typed += 1;
                if let Err(error) = program().try_get_matches_from(&words) {
                    let is_help = !error.use_stderr();
                    assert!(is_help, "{}: {line}\n{error}", path.display());
                }
            }
        }
    }
    assert!(typed >= 20, "only {typed} commands were found");
}
