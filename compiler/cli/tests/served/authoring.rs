//! Specs that agents lint, write, simulate and read about: which tools are called, and what they answer, in a file.

use std::fs;

use serde_json::{Value, json};

use super::client::Client;
use super::transcript;
use crate::shell::Scratch;

const SPEC: &str = "# Door\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> open\n    open --> shut : push\n    shut --> [*] : lock [has_key]\n```\n";

#[test]
fn the_story_of_an_author() {
    let scratch = Scratch::new("served-authoring");
    scratch.write("specs/old.md", SPEC);
    let mut client = Client::start(&scratch.path, &["specs", "--toolsets", "author,runs"]);
    transcript::play(&mut client, "authoring.md");
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
fn files_with_errors_are_linted_by_what_they_are_called() {
    let scratch = Scratch::new("served-broken");
    let breaks = |spec: &str| {
        spec.replace(
            "    shut -->",
            "    open --> shut : push / ring()\n    shut -->",
        )
    };
    let broken = breaks(SPEC);
    scratch.write("specs/gate.md", &broken);
    scratch.write("specs/lamp.workflow.json", "{");
    scratch.write("specs/deep/other.md", SPEC);
    scratch.write("specs/skills/key/SKILL.md", &broken);
    scratch.write("specs/named.md", &format!("---\nname: bell\n---\n{broken}"));
    scratch.write("specs/bytes.md", "");
    fs::write(scratch.path.join("specs/bytes.md"), b"# A\n\xff").unwrap();
    scratch.write("specs/door.md", SPEC);
    scratch.write("own.md", &broken);
    let mut client = Client::start(&scratch.path, &["specs", "--toolsets", "author,runs"]);
    for tool in ["describe_workflow", "start_run"] {
        let refused = client.call(tool, &json!({"workflow": "gate"}))["error"].take();
        let message = refused["message"].as_str().unwrap();
        assert!(message.starts_with("`gate` has errors"), "{refused}");
        let fix = json!({"tool": "lint_workflow", "arguments": {"workflow": "gate"}});
        assert_eq!(
            (&refused["code"], &refused["fix"]),
            (&json!("unknown_workflow"), &fix)
        );
    }
    let mut lint = |word: &str| {
        let answer = client.call("lint_workflow", &json!({"workflow": word}));
        let found = answer["data"]["diagnostics"].as_array();
        let codes = found.into_iter().flatten().map(|it| {
            let text = |key: &str| it[key].as_str().unwrap().to_owned();
            format!("{} {} {}", text("path"), text("severity"), text("code"))
        });
        let refused = answer["error"]["code"].as_str().map(str::to_owned);
        codes.chain(refused).collect::<Vec<_>>()
    };
    for (word, expected) in [
        ("gate", "specs/gate.md"),
        ("gate.md", "specs/gate.md"),
        ("specs/gate.md", "specs/gate.md"),
        ("lamp", "specs/lamp.workflow.json"),
        ("lamp.workflow.json", "specs/lamp.workflow.json"),
        ("key", "specs/skills/key/SKILL.md"),
        ("bell", "specs/named.md"),
        ("bytes", "specs/bytes.md"),
    ] {
        let found = lint(word);
        let is_error = |it: &String| it.starts_with(&format!("{expected} error "));
        assert!(found.iter().any(is_error), "{word}: {found:?}");
        assert!(
            found.iter().all(|it| it.starts_with(expected)),
            "{word}: {found:?}"
        );
    }
    assert_eq!(
        lint("specs/deep/other.md"),
        lint("door")
            .iter()
            .map(|it| it.replace("door", "deep/other"))
            .collect::<Vec<_>>()
    );
    // Nothing else can be read that way.
    for word in [
        "own",
        "own.md",
        "specs/../own.md",
        "../own.md",
        "specs",
        "",
        "nothing",
    ] {
        assert_eq!(lint(word), ["unknown_workflow"], "{word}");
    }
    // A workflow keeps its name while its file has an error.
    let healthy = SPEC.replace("STATE-MACHINE", "STATE-MACHINE: hatch");
    scratch.write("specs/two.md", &healthy);
    let wait = |lint: &mut dyn FnMut(&str) -> Vec<String>, is: &dyn Fn(&[String]) -> bool| {
        let began = std::time::Instant::now();
        loop {
            let found = lint("hatch");
            if is(&found) {
                return found;
            }
            assert!(began.elapsed().as_secs() < 20, "{found:?}");
        }
    };
    wait(&mut lint, &|found| {
        found.is_empty() || found[0].starts_with("specs/two.md")
    });
    scratch.write("specs/two.md", &breaks(&healthy));
    let is_error = |found: &[String]| found.iter().any(|it| it.starts_with("specs/two.md error "));
    wait(&mut lint, &is_error);
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
fn long_timelines_come_in_pages() {
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
