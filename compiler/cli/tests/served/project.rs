//! What agents do in a project: its context, documents, tasks and checks; and what a state lets them do there.

use std::fs;

use serde_json::{Value, json};

use super::client::Client;
use super::transcript;
use crate::shell::Scratch;

const SPEC: &str = r#"# Zeppelin

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> reading
    reading --> building : ready
    building --> tired : too_much
    tired --> [*] : done
```

```json definition
{
  "checks": {"fly": {"command": ["sh", "-c", "echo up; echo \"$0\" >&2; exit 3", "slowly"]}},
  "states": {
    "reading": {"allowed_tools": ["get_project_context", "read_document"]},
    "building": {
      "allowed_tools": ["complete_task", "run_check"],
      "max_iterations": 3, "on_max_iterations": "too_much"
    },
    "tired": {"allowed_tools": []}
  }
}
```
"#;

const TASKS: &str = "# Tasks\n\n- [ ] T001 sew the hull\n  - [x] T002 buy linen\n  - [ ] T003 thread needles\n- [ ] T004 fill it\n";

fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("specs/060-zeppelin/spec.md", "# Zeppelin\n\nIt flies.\n");
    scratch.write("specs/060-zeppelin/tasks.md", TASKS);
    scratch.write("flows/zeppelin.md", SPEC);
    scratch.write(".git/HEAD", "ref: refs/heads/060-zeppelin\n");
    scratch.write(
        "statemark.toml",
        "[checks.words]\ncommand = [\"wc\", \"-w\", \"specs/060-zeppelin/spec.md\"]\n",
    );
    scratch
}

#[test]
fn the_story_of_a_zeppelin() {
    let scratch = project("served-project");
    let mut client = Client::start(&scratch.path, &["flows", "--toolsets", "project,runs"]);
    transcript::play(&mut client, "project.md");
    let tasks = scratch.path.join("specs/060-zeppelin/tasks.md");
    let tasks = fs::read_to_string(tasks).unwrap();
    assert_eq!(
        tasks,
        TASKS
            .replace("[ ] T003", "[x] T003")
            .replace("[ ] T001", "[x] T001")
    );
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

#[test]
fn no_path_leaves_the_project() {
    let scratch = project("served-root");
    let outside = Scratch::new("served-root-outside");
    outside.write("secret.txt", "secret");
    scratch.write(".git/config", "secret");
    scratch.write("large.md", &"ä\u{1}".repeat(20_000));
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let at = |name: &str| scratch.path.join(name);
        symlink(outside.path.join("secret.txt"), at("link.txt")).unwrap();
        symlink(&outside.path, at("folder")).unwrap();
        symlink(".git/config", at("config")).unwrap();
        symlink("../../.git", at("specs/060-zeppelin/git")).unwrap();
    }
    let mut client = Client::start(&scratch.path, &["flows", "--toolsets", "project"]);
    let secret = outside.path.join("secret.txt");
    for name in [
        "../secret.txt",
        "specs/../../secret.txt",
        secret.to_str().unwrap(),
        ".git/config",
        "./.git/config",
        ".GIT/config",
        ".statemark/runs.db",
        "link.txt",
        "folder/secret.txt",
        "config",
        "specs/060-zeppelin/git/config",
        "",
        "a\0b",
    ] {
        let answer = client.call("read_document", &json!({"name": name}));
        assert_eq!(code(&answer), "outside", "{name:?}: {answer}");
    }
    let folder = client.call("read_document", &json!({"name": "specs"}));
    assert_eq!(code(&folder), "not_a_file");
    let none = client.call("read_document", &json!({"name": "none.md"}));
    assert_eq!(code(&none), "not_found");
    // A long text comes in parts, each within the bound of all replies.
    let mut text = String::new();
    let mut arguments = json!({"name": "large.md"});
    loop {
        let answer = client.call("read_document", &arguments);
        assert!(answer.to_string().len() <= 16 << 10);
        text += answer["data"]["text"].as_str().unwrap();
        match answer["data"].get("cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(text, "ä\u{1}".repeat(20_000));
    let torn = client.call("read_document", &json!({"name": "large.md", "cursor": 1}));
    assert_eq!(code(&torn), "invalid_arguments");
}

#[test]
fn a_branch_that_is_no_features_has_no_context() {
    let scratch = project("served-branch");
    scratch.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut client = Client::start(&scratch.path, &["flows", "--toolsets", "project"]);
    let context = client.call("get_project_context", &json!({}));
    assert_eq!(
        context["data"],
        json!({
            "feature_number": null, "feature_name": null, "branch": "main", "phase": null, "spec_dir": null,
            "documents": [], "checks": ["fly", "words"],
        })
    );
    let tasks = client.call("complete_task", &json!({"task_id": "T001"}));
    assert_eq!(code(&tasks), "no_feature");
    // The only folder of the number is meant, however the branch goes on.
    scratch.write(".git/HEAD", "ref: refs/heads/feature/060-airship\n");
    let context = client.call("get_project_context", &json!({}));
    assert_eq!(context["data"]["spec_dir"], "specs/060-zeppelin");
}

/// A tool that a state can restrict isn't called where several runs could be meant: one of them might forbid it.
#[test]
fn a_restricted_tool_needs_one_run() {
    let scratch = project("served-several");
    let mut client = Client::start(&scratch.path, &["flows", "--toolsets", "project,runs"]);
    for run in ["one", "two"] {
        client.call("start_run", &json!({"workflow": "zeppelin", "run_id": run}));
    }
    let words = json!({"name": "words"});
    let answer = client.call("run_check", &words);
    assert_eq!(code(&answer), "several_runs", "{answer}");
    let answer = client.call("run_check", &json!({"name": "words", "run_id": "three"}));
    assert_eq!(code(&answer), "unknown_run", "{answer}");
    let answer = client.call("run_check", &json!({"name": "words", "run_id": "one"}));
    assert_eq!(code(&answer), "not_granted", "{answer}");
}
