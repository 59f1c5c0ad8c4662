//! What clients hear of by themselves, in both eras; progress, and calls that are given up.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, newer};
use super::resources::desk;
use crate::keeping::said;

const UPDATED: &str = "notifications/resources/updated";
const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";

fn offers(listed: &Value, name: &str) -> bool {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().any(|it| it["name"] == name)
}

/// Hands the text in and sends the event by other processes than the server.
fn leave_writing(scratch: &crate::shell::Scratch) {
    scratch.write("text.md", "## Aim\n\nTo be read.\n");
    said(
        scratch,
        "statemark artifacts put r1 text text.md --final",
        0,
    );
    said(scratch, "statemark send r1 done", 0);
}

#[test]
fn a_bound_client_hears_that_its_tools_have_changed() {
    let scratch = desk("served-changed");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let mut older = Client::start(&scratch.path, &["--run", "r1"]);
    let mut later = Client::unheard(&scratch.path, &["--run", "r1"]);
    assert!(offers(
        &older.ask("tools/list", &json!({})),
        "submit_artifact"
    ));
    assert!(offers(
        &later.ask_newer("tools/list", &json!({})),
        "submit_artifact"
    ));
    let wanted = json!({"notifications": {
        "toolsListChanged": true,
        "resourceSubscriptions": ["statemark://run/r1", "statemark://run/other"],
    }});
    later.begin("subscriptions/listen", &newer(&wanted));
    later.hear("notifications/subscriptions/acknowledged");
    older.ask("resources/subscribe", &json!({"uri": "statemark://run/r1"}));
    leave_writing(&scratch);
    assert_eq!(older.hear(UPDATED)["uri"], "statemark://run/r1");
    older.hear(TOOLS);
    assert_eq!(later.hear(UPDATED)["uri"], "statemark://run/r1");
    later.hear(TOOLS);
    let listed = older.ask("tools/list", &json!({}));
    assert!(!offers(&listed, "submit_artifact"), "{listed}");
    let listed = later.ask_newer("tools/list", &json!({}));
    assert!(!offers(&listed, "submit_artifact"));
    assert_eq!(listed["result"]["ttlMs"], 0);
    // The list is a hint; the call is where it is decided.
    let refused = older.call(
        "submit_artifact",
        &json!({"name": "text", "mode": "final", "content": "x"}),
    );
    assert_eq!(refused["error"]["code"], "not_granted", "{refused}");
}

#[test]
fn changed_specs_are_heard_of() {
    let scratch = desk("served-specs");
    let mut client = Client::start(&scratch.path, &[]);
    client.ask("prompts/list", &json!({}));
    let spec = "stateDiagram-v2\n    [*] --> a\n    a --> [*] : go\n";
    fs::write(scratch.path.join("second.mmd"), spec).unwrap();
    client.hear(PROMPTS);
    let listed = client.ask("prompts/list", &json!({}));
    assert_eq!(
        listed["result"]["prompts"].as_array().unwrap().len(),
        3,
        "{listed}"
    );
}

#[test]
fn an_unsubscribed_client_hears_no_more() {
    let scratch = desk("served-unsubscribed");
    said(&scratch, "statemark start desk --run-id r1", 0);
    said(&scratch, "statemark start desk --run-id r2", 0);
    let mut client = Client::start(&scratch.path, &[]);
    for run in ["r1", "r2"] {
        let uri = format!("statemark://run/{run}");
        client.ask("resources/subscribe", &json!({"uri": uri}));
    }
    client.ask(
        "resources/unsubscribe",
        &json!({"uri": "statemark://run/r1"}),
    );
    said(&scratch, "statemark pause r1", 0);
    said(&scratch, "statemark pause r2", 0);
    assert_eq!(client.hear(UPDATED)["uri"], "statemark://run/r2");
    assert!(
        !client
            .told
            .iter()
            .any(|it| it["params"]["uri"] == "statemark://run/r1")
    );
}

#[test]
fn a_wait_tells_how_far_it_is_and_can_be_given_up() {
    let scratch = desk("served-waits");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let mut client = Client::start(&scratch.path, &[]);
    let wait = |token: &str| {
        json!({
            "name": "wait_run",
            "arguments": {"run_id": "r1", "timeout_ms": 20_000},
            "_meta": {"progressToken": token},
        })
    };
    let began = Instant::now();
    let given_up = client.begin("tools/call", &wait("far"));
    let told = client.hear("notifications/progress");
    assert_eq!(told["progressToken"], "far");
    let far = told["progress"].as_f64().unwrap();
    assert!(far > 0.0 && far < 1.0, "{told}");
    assert_eq!(told["message"], "waiting for `r1`");
    client.tell("notifications/cancelled", &json!({"requestId": given_up}));
    // The connection goes on meanwhile, and the wait is over before its time.
    let seen = client.call("get_run", &json!({"run_id": "r1"}));
    assert_eq!(seen["ok"], true);
    assert_eq!(client.leave(), Some(0));
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
}
