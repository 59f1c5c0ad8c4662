//! Specs that agents lint, write, simulate and read about: which tools are called, and what they answer, in a file.

use std::fs;

use serde_json::{Value, json};

use super::client::Client;
use super::told;
use crate::shell::Scratch;

const SPEC: &str = "# Door\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> open\n    open --> shut : push\n    shut --> [*] : lock [has_key]\n```\n";

#[test]
fn the_story_of_an_author() {
    let scratch = Scratch::new("served-authoring");
    scratch.write("specs/old.md", SPEC);
    let mut client = Client::start(&scratch.path, &["specs", "--toolsets", "author,runs"]);
    told::play(&mut client, "authoring.md");
    let files = fs::read_dir(scratch.path.join("specs")).unwrap();
    let mut files: Vec<_> = files.map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["gate.md", "lamp.workflow.json", "old.md"]);
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let scratch = Scratch::new("served-outside");
    scratch.write("specs/old.md", SPEC);
    scratch.write("own.md", "mine");
    let mut client = Client::start(&scratch.path, &["specs", "--toolsets", "author"]);
    let long = "a".repeat(65);
    let names = [
        "../own", "/tmp/own", "a/b", "a\\b", "..", ".", "", ".hidden", "a b", "a.md", "nul", "ä",
        "a\0", &long,
    ];
    for name in names {
        let arguments = json!({"name": name, "markdown": SPEC, "overwrite": true});
        let answer = client.call("create_workflow", &arguments);
        assert_eq!(code(&answer), "invalid_arguments", "{name:?}: {answer}");
    }
    let other = SPEC.replace("# Door", "# Gate");
    let arguments = json!({"name": "link", "markdown": other, "overwrite": true});
    #[cfg(unix)]
    {
        let link = scratch.path.join("specs/link.md");
        std::os::unix::fs::symlink("../own.md", link).unwrap();
        let answer = client.call("create_workflow", &arguments);
        assert_eq!(code(&answer), "not_a_file", "{answer}");
    }
    let own = fs::read_to_string(scratch.path.join("own.md")).unwrap();
    assert_eq!(own, "mine");
    assert_eq!(client.leave(), Some(0));
    // Who serves files alone has no folder for others.
    let mut client = Client::start(&scratch.path, &["specs/old.md", "--toolsets", "author"]);
    let answer = client.call("create_workflow", &arguments);
    assert_eq!(code(&answer), "no_folder", "{answer}");
}

#[test]
fn observers_read_and_write_nothing() {
    let scratch = Scratch::new("served-observer");
    scratch.write("specs/old.md", SPEC);
    let mut client = Client::start(
        &scratch.path,
        &["specs", "--toolsets", "author", "--read-only"],
    );
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["lint_workflow", "search_docs", "simulate_workflow"]);
}

/// Every answer is as small as answers are, however long the story is.
#[test]
fn long_stories_are_told_in_pages() {
    let scratch = Scratch::new("served-long");
    scratch.write(
        "specs/round.md",
        &SPEC.replace("push", "push\n    shut --> open : pull"),
    );
    let mut client = Client::start(&scratch.path, &["specs", "--toolsets", "author"]);
    let events: Vec<&str> = (0..1_000)
        .map(|at| if at % 2 == 0 { "push" } else { "pull" })
        .collect();
    let mut seen = 0;
    let mut arguments = json!({"workflow": "round", "events": events});
    loop {
        let answer = client.call("simulate_workflow", &arguments);
        assert!(answer.to_string().len() <= 16 << 10);
        let records = answer["data"]["records"].as_array().unwrap();
        for record in records {
            assert_eq!(record["seq"], seen);
            seen += 1;
        }
        match answer["data"].get("cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(seen, 1_001);
}
