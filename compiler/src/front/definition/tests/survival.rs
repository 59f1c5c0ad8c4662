//! No text makes the front end panic or point outside of the file.

use std::path::Path;

use super::{findings, parse};
use crate::front::definition::looks_like_definition;
use crate::source::Span;

/// Reads a text in every way; all spans must be ranges of the file on character boundaries.
fn survive(text: &str) {
    for comments in [false, true] {
        let (sources, definition, list) = parse(text, comments);
        let whole = sources.iter().next().unwrap().1.text();
        let fine = |span: Span| assert!(whole.get(span.range()).is_some(), "{span:?} in {text:?}");
        if let Some(definition) = definition {
            fine(definition.span);
            for state in &definition.states {
                fine(state.name.span);
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
}

#[test]
fn every_prefix_and_every_wound_is_survived() {
    let text = "\u{feff}// é\r\n{'id': \"日\\u00e9\\n\", \"states\": {\"a\": {\"on\": {\"E\": [{\"target\": \"b\", \"guard\": {\"field\": \"x\", \"op\": \"in\", \"value\": [1, -0x1F, 1e5,],}}]}}}, /* é */ é: NaN}";
    for (at, sign) in text.char_indices() {
        survive(&text[..at]);
        survive(&text[at..]);
        for other in [
            "", "é", "\"", "'", "\\", "{", "]", ",", "\n", "/*", "//", "\\u", "\\x", "\0",
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
fn shipped_workflows_are_read_without_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/statewright");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: no {}", folder.display());
        return;
    };
    for file in files {
        let path = file.unwrap().path();
        #[expect(
            clippy::disallowed_methods,
            reason = "a test reads the corpus that lies beside the checkout"
        )]
        let text = std::fs::read_to_string(&path).unwrap();
        let (sources, definition, list) = parse(&text, false);
        assert!(!definition.unwrap().states.is_empty());
        assert_eq!(findings(&sources, &list), "", "{}", path.display());
        assert!(looks_like_definition(&text));
        for (at, _) in text.char_indices().step_by(97) {
            survive(&text[..at]);
        }
    }
}
