//! Built-in contracts, by name: those of Ralph Workflow's artifact types.
//!
//! They require what its documentation says of each type, and take what its clients write. `builtin.json` has them in the
//! form that a definition has, each with prose (`about`) and an example for its page.

use serde_json::{Map, Value};

const ALL: &str = include_str!("builtin.json");

/// The beginning of the names: the system whose types they are.
const PREFIX: &str = "ralph/";

/// Returns a built-in contract by its name, in the form that a definition has.
#[must_use]
pub fn builtin(name: &str) -> Option<Value> {
    all().remove(name)
}

/// Returns the name of the built-in contract for artifacts of a type, such as `ralph/plan` for `plan`.
#[must_use]
pub fn builtin_type(artifact: &str) -> Option<String> {
    let name = format!("{PREFIX}{artifact}");
    all().contains_key(&name).then_some(name)
}

/// Returns the names of the built-in contracts.
#[must_use]
pub fn builtins() -> Vec<String> {
    all().into_iter().map(|(name, _)| name).collect()
}

fn all() -> Map<String, Value> {
    // INVARIANT: a test parses them.
    serde_json::from_str(ALL).unwrap_or_default()
}

/// Adds to a contract the keys that it inherits from the one that `like` names.
pub(super) fn with_inherited_keys(value: &Value) -> Result<Value, String> {
    let Some(name) = value.get("like").and_then(Value::as_str) else {
        return Ok(value.clone());
    };
    let Some(Value::Object(mut whole)) = builtin(name) else {
        let known = builtins().join("`, `");
        return Err(format!(
            "there is no contract `{name}`; there are `{known}`"
        ));
    };
    if let Value::Object(own) = value {
        whole.extend(own.clone());
    }
    Ok(Value::Object(whole))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Contract;
    use super::*;

    #[test]
    fn every_contract_can_be_read_and_named() {
        let names = builtins();
        assert_eq!(names.len(), 7);
        for name in names {
            Contract::parse(&json!({"like": name})).unwrap();
        }
        let error = Contract::parse(&json!({"like": "ralph/song"})).unwrap_err();
        assert!(
            error.starts_with("there is no contract `ralph/song`"),
            "{error}"
        );
    }

    #[test]
    fn what_a_definition_says_itself_wins() {
        let own = json!({"like": "ralph/fix_result", "schema": {"type": "array"}});
        let contract = Contract::parse(&own).unwrap();
        assert!(contract.check(b"[]").holds);
        let named = Contract::parse(&json!({"like": "ralph/fix_result"})).unwrap();
        let verdict = named.check(b"{\"summary\": \"it works\"}");
        let findings: Vec<&str> = verdict.findings.iter().map(|it| &*it.what).collect();
        assert_eq!(findings, ["`files_changed` is missing"]);
    }

    #[test]
    fn every_example_keeps_its_contract() {
        for name in builtins() {
            let contract = builtin(&name).unwrap();
            let example = contract["example"].to_string();
            let verdict = Contract::parse(&contract)
                .unwrap()
                .check(example.as_bytes());
            assert!(verdict.holds, "{name}: {:?}", verdict.findings);
            assert!(contract["about"].as_str().unwrap().ends_with('.'), "{name}");
        }
    }

    #[test]
    fn what_a_status_asks_for_has_to_be_there() {
        let holds = |name: &str, document: &Value| {
            let contract = Contract::parse(&json!({"like": name})).unwrap();
            contract.check(document.to_string().as_bytes()).holds
        };
        let none = json!({"status": "no_issues", "summary": "fine"});
        assert!(holds("ralph/issues", &none));
        let found = json!({"status": "issues_found", "summary": "bad", "issues": []});
        assert!(!holds("ralph/issues", &found));
        let skip = json!({"type": "skip", "reason": "nothing changed"});
        assert!(holds("ralph/commit_message", &skip));
        let loose = json!({"type": "commit", "subject": "Mended it"});
        assert!(!holds("ralph/commit_message", &loose));
        let commit = json!({"type": "commit", "subject": "fix(auth): renew the token"});
        assert!(holds("ralph/commit_message", &commit));
        for status in ["request_changes", "loop"] {
            let decision = json!({"status": status, "summary": "no"});
            assert!(!holds("ralph/review_analysis_decision", &decision));
            assert!(!holds("ralph/development_analysis_decision", &decision));
        }
        for (kind, status) in [("review", "pass"), ("development", "proceed")] {
            for status in [status, "escalate"] {
                let decision = json!({"status": status, "summary": "so be it"});
                assert!(holds(&format!("ralph/{kind}_analysis_decision"), &decision));
            }
        }
        let mut issue = json!({"severity": "low", "summary": "a typo"});
        let issues =
            |issue: &Value| json!({"status": "issues_found", "summary": "one", "issues": [issue]});
        assert!(!holds("ralph/issues", &issues(&issue)));
        issue["fix_guidance"] = json!("write it out");
        assert!(holds("ralph/issues", &issues(&issue)));
        let result = json!({"summary": "done", "self_assessment": "sure"});
        assert!(holds("ralph/development_result", &result));
        assert!(!holds(
            "ralph/development_result",
            &json!({"summary": "done"})
        ));
        let fixed = json!({"summary": "done", "residual_issues": []});
        assert!(holds("ralph/fix_result", &fixed));
    }
}
