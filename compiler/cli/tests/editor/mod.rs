//! The language server of the built program says what `lint` says, by the same configuration and comments.

use std::fs::{self, File};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::shell::{Scratch, statemark};

/// A machine with prose and two dead ends, one of which a comment allows.
const DOOR: &str = "\
# Door

## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> shut
    shut --> open : push it 𝄞 hard
    %% statemark: allow SM305 -- it stays so
    shut --> ajar : blow
    shut --> gone : leave
    open --> [*] : remove
```
";

const CONFIGURATION: &str = "\
[lint]
ignore = [\"SM138\"]

[lint.severity]
SM130 = \"warning\"

[lint.per-file-ignores]
\"drafts/**\" = [\"SM305\"]
";

/// A finding: code, severity as the protocol counts it, line and UTF-16 column from 0.
type Found = (String, u64, u64, u64);

#[test]
fn the_server_says_what_lint_says() {
    let scratch = Scratch::new("lsp-lint");
    scratch.write("statemark.toml", CONFIGURATION);
    let names = ["door.md", "drafts/door.md"];
    for name in names {
        fs::create_dir_all(scratch.path.join("drafts")).unwrap();
        scratch.write(name, DOOR);
    }
    let linted = lint(&scratch);
    let served = serve(&scratch, &names);
    let codes = |found: &[Found]| found.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    assert_eq!(codes(&served[0]), ["SM130", "SM305"]);
    assert_eq!(codes(&served[1]), ["SM130"]);
    for (name, served) in names.iter().zip(served) {
        let linted = linted.iter().filter(|(path, _)| path == name);
        let linted: Vec<Found> = linted.map(|(_, found)| found.clone()).collect();
        assert_eq!(served, linted, "{name}");
    }
}

/// Returns the findings of `lint`, each with its file.
fn lint(scratch: &Scratch) -> Vec<(String, Found)> {
    let mut lint = statemark(&scratch.path);
    lint.args(["lint", "--no-cache", "--output-format", "json"]);
    let output = lint.stdin(Stdio::null()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let severities = ["error", "warning", "info", "hint"];
    let found = |it: &Value| {
        let severity = severities.iter().position(|word| it["severity"] == *word);
        let start = &it["range"]["start"];
        (
            it["path"].as_str().unwrap().to_owned(),
            (
                it["code"].as_str().unwrap().to_owned(),
                severity.unwrap() as u64 + 1,
                start["line"].as_u64().unwrap() - 1,
                start["utf16_column"].as_u64().unwrap(),
            ),
        )
    };
    let all = report["diagnostics"].as_array().unwrap();
    all.iter().map(found).collect()
}

/// Returns the findings that an editor gets which asks for them, by document.
fn serve(scratch: &Scratch, names: &[&str]) -> Vec<Vec<Found>> {
    let root = format!("file://{}", scratch.path.display());
    let initialize = json!({
        "processId": null,
        "rootUri": root,
        "capabilities": { "textDocument": { "diagnostic": {} } },
    });
    let mut messages = vec![
        json!({ "id": 0, "method": "initialize", "params": initialize }),
        json!({ "method": "initialized", "params": {} }),
    ];
    for (number, name) in names.iter().enumerate() {
        let uri = format!("{root}/{name}");
        let item = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": DOOR });
        let params = json!({ "textDocument": { "uri": uri } });
        messages.extend([
            json!({ "method": "textDocument/didOpen", "params": { "textDocument": item } }),
            json!({ "id": number + 1, "method": "textDocument/diagnostic", "params": params }),
        ]);
    }
    messages.push(json!({ "id": 99, "method": "shutdown" }));
    messages.push(json!({ "method": "exit" }));
    let mut input = String::new();
    for mut message in messages {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        input.push_str(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }
    scratch.write("messages", &input);
    let messages = File::open(scratch.path.join("messages")).unwrap();
    let mut server = statemark(&scratch.path);
    let output = server.arg("lsp").stdin(messages).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = String::from_utf8(output.stdout).unwrap();
    let answers = output.split("Content-Length: ").skip(1);
    let answers: Vec<Value> = answers
        .map(|it| serde_json::from_str(it.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect();
    let found = |it: &Value| {
        let start = &it["range"]["start"];
        (
            it["code"].as_str().unwrap().to_owned(),
            it["severity"].as_u64().unwrap(),
            start["line"].as_u64().unwrap(),
            start["character"].as_u64().unwrap(),
        )
    };
    let of_document = |number: usize| {
        let mut answers = answers.iter();
        let answer = answers.find(|it| it["id"] == number + 1).unwrap();
        let items = answer["result"]["items"].as_array().unwrap();
        items.iter().map(found).collect()
    };
    (0..names.len()).map(of_document).collect()
}
