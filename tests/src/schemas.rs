//! The JSON Schemas that are published, against what the house has written and what its readers refuse.
//!
//! That the files are what the program prints is a test of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::{Value, json};
use statemark_harness::root;

fn schema(name: &str) -> Validator {
    let path = root().join("compiler/docs/src/reference").join(name);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    for key in ["$id", "title", "description"] {
        assert!(
            schema[key].as_str().is_some_and(|it| !it.is_empty()),
            "{name}: {key}"
        );
    }
    assert!(jsonschema::draft7::meta::is_valid(&schema), "{name}");
    jsonschema::draft7::new(&schema).unwrap()
}

/// Returns the files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Returns the definitions of a file: all of it, or its blocks.
fn definitions(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if name.ends_with(".workflow.json") {
        return vec![fs::read_to_string(path).unwrap()];
    }
    if !name.ends_with(".md") {
        return Vec::new();
    }
    let text = fs::read_to_string(path).unwrap();
    // It shows what is wrong beside what is right.
    if name == "causes.md" {
        return Vec::new();
    }
    let blocks = text.split("```json definition\n").skip(1);
    blocks
        .map(|it| it.split("```").next().unwrap().to_owned())
        .collect()
}

/// Whatever the house has written as an example is accepted.
#[test]
fn definitions_of_the_house_are_accepted() {
    let schema = schema("definition.schema.json");
    let mut count = 0;
    for folder in ["skills", "examples", "tests/engines", "tests/wild"] {
        for path in files(&root().join(folder)) {
            for text in definitions(&path) {
                // Comments are for a reader of JSONC.
                let Ok(definition) = serde_json::from_str::<Value>(&text) else {
                    continue;
                };
                count += 1;
                let errors: Vec<String> = schema
                    .iter_errors(&definition)
                    .map(|error| error.to_string())
                    .collect();
                assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
            }
        }
    }
    assert!(count >= 30, "{count}");
}

/// What the compiler refuses for its keys and the kinds of its values is refused.
#[test]
fn broken_definitions_are_refused() {
    let schema = schema("definition.schema.json");
    let mut count = 0;
    for entry in fs::read_dir(root().join("tests/corpus")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !["SM701", "SM702"].iter().any(|code| name.starts_with(code)) {
            continue;
        }
        for path in files(&folder) {
            for text in definitions(&path) {
                if let Ok(definition) = serde_json::from_str::<Value>(&text) {
                    count += 1;
                    assert!(!schema.is_valid(&definition), "{}", path.display());
                }
            }
        }
    }
    assert!(count >= 4, "{count}");
    for definition in [
        json!([]),
        json!({"states": {"a": {"on": {"go": 1}}}}),
        json!({"states": {"a": {"max_iterations": 0}}}),
        json!({"checks": {"tests": {}}, "states": {}}),
        json!({"interrupts": {"docs": {"target": "a"}}, "states": {}}),
    ] {
        assert!(!schema.is_valid(&definition), "{definition}");
    }
}

/// The keys of the page about the configuration, and those that it hasn't.
#[test]
fn configurations_are_told_apart() {
    let schema = schema("statemark.schema.json");
    let good = [
        json!({}),
        json!({
            "project": "shop", "store": "runs.db", "workflows": "accepted", "diagrams": "all", "hook": "required",
            "lint": {"select": ["SM3"], "ignore": ["SM130"], "severity": {"SM305": "error"},
                "per-file-ignores": {"drafts/**": ["SM3"]}},
            "checks": {"tests": {"command": ["cargo", "test"], "timeout": "10m", "env": {"A": "1"}, "cwd": "a",
                "inherit": ["B"]}, "fast": {"command": ["make"], "timeout": 30}},
            "packs": {"fs": {}, "git": {}, "media": {}, "exec": {"timeout": "5m"}, "env": {"names": ["CI"]},
                "web": {"search": "brave"}},
            "executor": {"default": "model", "model": "small", "models": {"gpt-": {"url": "http://localhost"}},
                "commands": {"mend": {"command": ["mend"], "success": "mended", "failure": "broken"}},
                "claude": {}, "max_attempts": 2, "cost_budget": 0.5, "checkpoints": "visit"},
            "upstream": {"github": {"command": ["github-mcp-server"], "env": ["TOKEN"]},
                "notes": {"url": "https://example.org", "headers": {"A": "b"}, "new_tools": "pin"}},
        }),
    ];
    for good in good {
        let errors: Vec<String> = schema.iter_errors(&good).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    for bad in [
        json!({"proejct": "shop"}),
        json!({"workflows": "some"}),
        json!({"lint": {"ignroe": []}}),
        json!({"lint": {"severity": {"SM305": "fatal"}}}),
        json!({"checks": {"tests": {"command": "cargo test"}}}),
        json!({"checks": {"tests": {}}}),
        json!({"packs": {"disk": {}}}),
        json!({"packs": {"web": {"search": "other"}}}),
        json!({"executor": {"max_attempts": "two"}}),
        json!({"upstream": {"github": {"cmd": "x"}}}),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
    }
}
