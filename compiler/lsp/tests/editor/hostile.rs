//! Every request on documents that are broken: the specs of the corpus of findings, whole and cut off.

use std::path::Path;

use serde_json::{Value, json};
use statemark_harness::files;

use crate::client::Client;
use crate::root;

/// The checks, each with its name.
pub(crate) const CHECKS: &[(&str, fn())] = &[(
    "every_request_on_every_broken_document",
    every_request_on_every_broken_document,
)];

/// The requests about a place.
const PLACES: [&str; 7] = [
    "hover",
    "definition",
    "references",
    "documentHighlight",
    "completion",
    "prepareRename",
    "rename",
];

/// The requests about a document.
const WHOLE: [&str; 8] = [
    "codeAction",
    "formatting",
    "documentSymbol",
    "foldingRange",
    "semanticTokens/full",
    "inlayHint",
    "codeLens",
    "diagnostic",
];

fn every_request_on_every_broken_document() {
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "textDocument": { "diagnostic": {} },
    });
    let options = json!({ "commands": ["statemark.preview"] });
    let mut client = Client::new(&capabilities, &options);
    assert_all_are_announced(&client);
    let mut random = fastrand::Rng::with_seed(17);
    let mut count = 0;
    for path in files(&root().join("tests/corpus")) {
        let extension = path
            .extension()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        let Ok(text) = read(&path) else {
            continue;
        };
        if !["md", "json", "mmd", "scxml"].contains(&extension) || text.len() > 4_000 {
            continue;
        }
        let cut = (0..=random.usize(..=text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at));
        for text in [&text, &text[..cut.unwrap()]] {
            let name = path.file_name().unwrap().to_string_lossy();
            let uri = format!("file:///specs/{count}/{name}");
            count += 1;
            client.open(&uri, text);
            ask_all(&mut client, &uri, text, &mut random);
            client.tell(
                "textDocument/didClose",
                json!({ "textDocument": { "uri": uri } }),
            );
        }
    }
    assert!(count > 300, "{count} documents");
    client.finish().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the corpus is in files")]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

/// Whatever is announced is asked for here.
fn assert_all_are_announced(client: &Client) {
    let capabilities = client.initialized["capabilities"].as_object().unwrap();
    let providers = capabilities.keys().filter(|key| key.ends_with("Provider"));
    // Rename is announced once, and workspace symbols are of no document.
    assert_eq!(providers.count(), PLACES.len() - 1 + WHOLE.len() + 1);
}

fn ask_all(client: &mut Client, uri: &str, text: &str, random: &mut fastrand::Rng) {
    let end = client.position(text, text.len());
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
    let whole = json!({
        "textDocument": { "uri": uri },
        "range": range,
        "context": { "diagnostics": [] },
        "options": { "tabSize": 2, "insertSpaces": true },
    });
    for method in WHOLE {
        let answer = client.ask(&format!("textDocument/{method}"), whole.clone());
        check_places(
            client,
            text,
            &answer.unwrap_or_else(|it| panic!("{method} of {uri}: {it:?}")),
        );
    }
    for _ in 0..3 {
        let byte = (0..=random.usize(..=text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let mut params = json!({
            "textDocument": { "uri": uri },
            "position": client.position(text, byte.unwrap()),
            "newName": "renamed_by_a_test",
        });
        for method in PLACES {
            params["context"] = match method {
                "completion" => json!({ "triggerKind": 1 }),
                _ => json!({ "includeDeclaration": true }),
            };
            match client.ask(&format!("textDocument/{method}"), params.clone()) {
                Ok(answer) => check_places(client, text, &answer),
                Err((code, reason)) => {
                    assert!(
                        code == -32803 && method.contains("ename"),
                        "{method} of {uri}: {reason}"
                    );
                }
            }
        }
    }
    let drawing = json!({ "textDocument": { "uri": uri } });
    client.ask("statemark/drawing", drawing).unwrap();
}

/// Every position in an answer is a place of the text, and every range ends after its start.
fn check_places(client: &Client, text: &str, answer: &Value) {
    match answer {
        Value::Array(items) => items
            .iter()
            .for_each(|item| check_places(client, text, item)),
        Value::Object(fields) => {
            if let (Some(start), Some(end)) = (fields.get("start"), fields.get("end")) {
                let (from, to) = (client.byte(text, start), client.byte(text, end));
                assert!(from <= to, "{answer}");
                assert_eq!(client.position(text, from), *start);
                assert_eq!(client.position(text, to), *end);
            }
            fields
                .values()
                .for_each(|field| check_places(client, text, field));
        }
        _ => {}
    }
}
