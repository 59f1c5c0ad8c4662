//! No text makes the front end panic or point outside of the file.

#![expect(
    clippy::string_slice,
    reason = "tests cut texts where they know the characters"
)]

use std::path::Path;

use super::parse;
use crate::source::Span;

/// Reads a text; all spans must be ranges of the file on character boundaries.
fn survive(text: &str) {
    let (_, document, list) = parse(text);
    let fine = |span: Span| assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
    for section in &document.sections {
        fine(section.heading);
        section.name.iter().for_each(|it| fine(it.span));
        for it in &section.instructions {
            fine(it.state.span);
            fine(it.text.span);
        }
        let definition = section.definition.as_ref().map(|it| &it.text);
        for excerpt in section.diagram.iter().chain(definition) {
            fine(excerpt.full_span());
            for (at, sign) in excerpt.text().char_indices() {
                fine(excerpt.span(at..at + sign.len_utf8()));
            }
        }
    }
    for it in &list {
        fine(it.primary.span);
        it.related.iter().for_each(|label| fine(label.span));
        it.fixes
            .iter()
            .flat_map(|fix| &fix.edits)
            .for_each(|edit| fine(edit.span));
    }
}

#[test]
fn every_prefix_and_every_wound_is_survived() {
    let text = "\u{feff}---\nname: 'é'\r\n---\n## STATE-MACHINE: é\r\n\n> - ```mermaid\r\n>   stateDiagram-v2\n> \té --> 日\n>   ```\n\n\t```json definition\n {\"é\": 1}\n```\n### `日`\n\n- é\n  1. x\n\n## §State Machine\n~~~json\n{\"states\":{}}\n";
    for (at, sign) in text.char_indices() {
        survive(&text[..at]);
        survive(&format!("## STATE-MACHINE\n{}", &text[at..]));
        for other in [
            "", "é", "\t", "`", "```", "\r", "\n", "> ", "- ", "#", "---\n", "\0", "<!--",
        ] {
            survive(&format!(
                "{}{other}{}",
                &text[..at],
                &text[at + sign.len_utf8()..]
            ));
        }
    }
}

#[test]
fn deep_nesting_is_survived() {
    for mark in ["> ", "- ", "1. ", "> - "] {
        for depth in [64, 1_000] {
            let lead = mark.repeat(depth);
            survive(&format!(
                "{lead}## STATE-MACHINE: x\n{lead}```mermaid\n{lead}stateDiagram-v2\n"
            ));
            let text = format!("{lead}## STATE-MACHINE: x\n");
            let (_, document, _) = parse(&text);
            assert!(depth > 64 || document.sections.len() == 1, "{mark}");
        }
    }
}

#[test]
fn documents_of_others_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/rp1");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: no {}", folder.display());
        return;
    };
    for file in files {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a test reads the corpus that lies beside the checkout"
        )]
        let text = std::fs::read_to_string(&path).unwrap();
        let (_, document, list) = parse(&text);
        let codes: Vec<_> = list.iter().map(|it| it.code.id()).collect();
        if path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("neg_")
        {
            assert_eq!(
                (document.sections.len(), codes),
                (0, vec!["SM101"]),
                "{}",
                path.display()
            );
        } else {
            assert!(document.sections[0].diagram.is_some(), "{}", path.display());
            assert!(codes.is_empty(), "{} {list:?}", path.display());
        }
        for (at, _) in text.char_indices().step_by(61) {
            survive(&text[..at]);
        }
    }
}
