//! Lists: sorted, in pages, fresh for as long as they say, and fit for who asks; in both eras.

use serde_json::{Value, json};

use super::client::Client;
use super::resources::desk;
use crate::keeping::said;
use crate::shell::token;

fn names(listed: &Value) -> Vec<String> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn both_eras_have_the_same_lists() {
    let scratch = desk("served-eras");
    let mut older = Client::start(&scratch.path, &[]);
    let mut newer = Client::unheard(&scratch.path, &[]);
    let found = newer.ask_newer("server/discover", &json!({}));
    let versions = found["result"]["supportedVersions"].to_string();
    assert!(
        versions.contains("2026-07-28") && versions.contains("2025-11-25"),
        "{found}"
    );
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let old = older.ask(method, &json!({}));
        let new = newer.ask_newer(method, &json!({}));
        let key = match method {
            "tools/list" => "tools",
            "prompts/list" => "prompts",
            "resources/list" => "resources",
            _ => "resourceTemplates",
        };
        assert!(
            !old["result"][key].as_array().unwrap().is_empty(),
            "{method}"
        );
        assert_eq!(old["result"][key], new["result"][key], "{method}");
        assert!(new["result"]["ttlMs"].is_u64(), "{method}: {new}");
        assert!(new["result"]["cacheScope"].is_string(), "{method}: {new}");
        assert_eq!(old["result"].get("resultType"), None, "{method}");
    }
    let listed = names(&newer.ask_newer("tools/list", &json!({})));
    assert!(listed.is_sorted(), "{listed:?}");
    let read = json!({"uri": "statemark://workflow/none"});
    assert_eq!(older.ask("resources/read", &read)["error"]["code"], -32002);
    assert_eq!(
        newer.ask_newer("resources/read", &read)["error"]["code"],
        -32602
    );
    let unknown = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    assert_eq!(newer.ask("tools/list", &unknown)["error"]["code"], -32022);
}

#[test]
fn long_lists_come_in_pages() {
    let scratch = desk("served-pages");
    for it in 0..60 {
        let spec = "stateDiagram-v2\n    [*] --> a\n    a --> [*] : go\n";
        scratch.write(&format!("m{it:02}.mmd"), spec);
    }
    let mut client = Client::start(&scratch.path, &[]);
    let mut found = Vec::new();
    let mut asked = json!({});
    loop {
        let answer = client.ask("resources/list", &asked);
        let page = answer["result"]["resources"].as_array().unwrap().clone();
        assert!(page.len() <= 100);
        found.extend(
            page.into_iter()
                .map(|it| it["uri"].as_str().unwrap().to_owned()),
        );
        match answer["result"].get("nextCursor") {
            Some(cursor) => asked = json!({"cursor": cursor}),
            None => break,
        }
    }
    found.retain(|it| !it.starts_with("statemark://docs/"));
    assert_eq!(found.len(), 60 * 4 + 5);
    assert!(found.is_sorted());
    let wrong = client.ask("resources/list", &json!({"cursor": "made up"}));
    assert_eq!(wrong["error"]["code"], -32602);
}

#[test]
fn an_observer_reads_and_does_nothing_else() {
    let scratch = desk("served-observer");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let eve = token(&scratch.path, "eve --role observer");
    let mut client = Client::with_token(&scratch.path, &[], &eve);
    let listed = names(&client.ask("tools/list", &json!({})));
    assert!(listed.contains(&"get_run".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"send_event".to_owned()), "{listed:?}");
    let seen = client.call("get_run", &json!({"run_id": "r1"}));
    assert_eq!(seen["ok"], true, "{seen}");
    for (tool, arguments) in [
        ("send_event", json!({"run_id": "r1", "event": "done"})),
        ("start_run", json!({"workflow": "desk"})),
        ("control_run", json!({"run_id": "r1", "action": "cancel"})),
        (
            "request_human",
            json!({"run_id": "r1", "kind": "text", "prompt": "?"}),
        ),
    ] {
        let refused = client.call(tool, &arguments);
        assert_eq!(refused["error"]["code"], "read_only", "{tool}: {refused}");
    }
    let journal = client.ask("resources/read", &json!({"uri": "statemark://run/r1"}));
    let journal = journal["result"]["contents"][0]["text"].as_str().unwrap();
    // That it wanted to moves no run of others.
    assert_eq!(journal.lines().count(), 1, "{journal}");
}
