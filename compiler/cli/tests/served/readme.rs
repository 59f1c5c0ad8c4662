//! What README shows of an agent's calls.

use serde_json::{Value, json};
use statemark_harness::root;

use super::client::Client;
use crate::shell::Scratch;

/// Returns README's answer that is a refusal, without what it leaves out (`…`).
fn shown() -> Value {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let fences = readme.split("\n```json\n").skip(1);
    let mut fences = fences.filter_map(|rest| rest.split("\n```").next());
    let shown = fences.find(|text| text.contains("\"ok\": false"));
    let shown = shown.expect("README shows a refusal");
    assert!(shown.contains(", …"), "it says that there is more");
    serde_json::from_str(&shown.replace(", …", "")).unwrap()
}

/// Lists the values of one answer that another one hasn't, or has otherwise.
fn differences(shown: &Value, real: &Value, path: &str, found: &mut Vec<String>) {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            for (key, value) in shown {
                let real = real.get(key).unwrap_or(&Value::Null);
                differences(value, real, &format!("{path}/{key}"), found);
            }
        }
        _ if shown == real => {}
        _ => found.push(format!("{path}: {shown} is shown, {real} comes")),
    }
}

#[test]
fn its_refusal_is_a_real_one() {
    let scratch = Scratch::new("readme-refusal");
    let paper = std::fs::read_to_string(root().join("examples/paper/paper.md")).unwrap();
    scratch.write("paper.md", &paper);
    let mut client = Client::start(&scratch.path, &[]);
    client.call("start_run", &json!({"workflow": "paper", "run_id": "p1"}));
    let real = client.call("send_event", &json!({"run_id": "p1", "event": "submit"}));
    let mut found = Vec::new();
    differences(&shown(), &real, "", &mut found);
    assert!(found.is_empty(), "README's refusal isn't real: {found:#?}");
}
