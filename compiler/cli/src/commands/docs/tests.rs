//! What newcomers ask is answered by the page that they need, and nothing that people read is left out.

use std::fs;
use std::path::Path;

use statemark_tools::Docs;

use super::*;
use crate::commands::program;

/// Each line of the table is a question, and the addresses of which its first answer begins with one.
#[test]
fn questions_of_newcomers_find_their_page() {
    let docs = Docs::new(pages(program()));
    let mut wrong = String::new();
    let rows = include_str!("questions.md").lines().filter_map(|line| {
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
    let mut folders = vec![root.join("skills"), root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_skill = path.starts_with(root.join("skills"));
            if path.is_dir() {
                folders.push(path);
            } else if name == "README.md" || (is_skill && name.ends_with(".md")) {
                let text = fs::read_to_string(&path).unwrap();
                if !GUIDES.iter().any(|(_, _, carried)| *carried == text) {
                    missing.push(path);
                }
            }
        }
    }
    assert!(missing.is_empty(), "add these to GUIDES: {missing:?}");
}
