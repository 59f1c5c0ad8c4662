//! Contracts of artifacts that are broken, and documents that are hostile.

use proptest::prelude::*;
use serde_json::{Value, json};
use statemark_runs::Contract;

use crate::script::artifacts::findings;

#[test]
fn contracts_that_say_nothing_sensible_are_refused() {
    let broken = [
        (json!({"schema": {"type": 3}}), "broken: 3"),
        (json!({"front_matter": {"required": "all"}}), "all"),
        (
            json!({"sections": [{"heading": "A", "schema": {"type": "text"}}]}),
            "text",
        ),
        (
            json!({"sections": [{"heading": "A", "contains": ["pictures"]}]}),
            "pictures",
        ),
        (json!({"format": "yaml"}), "yaml"),
        (json!([1]), "invalid type"),
    ];
    for (contract, word) in broken {
        let error = Contract::parse(&contract).unwrap_err();
        assert!(error.contains(word), "{contract}: {error}");
    }
}

#[test]
fn documents_that_are_no_text_are_no_harm() {
    let contract = Contract::parse(&json!({"required_sections": ["A"]})).unwrap();
    let verdict = contract.check(b"# A\n\nwell \xff\n");
    assert_eq!(
        findings(&verdict),
        "3:6: the document isn't text from here on\n    hand it in as text in UTF-8\n"
    );
}

#[test]
fn of_many_findings_the_first_are_reported() {
    let contract = json!({"sections": [{"heading": "A", "ids": true}]});
    let contract = Contract::parse(&contract).unwrap();
    let document = "# A\n\n".to_owned() + &"- no id\n".repeat(5_000);
    let verdict = contract.check(document.as_bytes());
    assert_eq!((verdict.findings.len(), verdict.more), (20, 4_980));
    assert_eq!(verdict.findings[19].line, 22);
}

/// The parts of hostile documents.
fn documents() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "---\n",
        "status: done\n",
        "# A\n",
        "## B\n",
        "## b\n",
        "### [X] C\n",
        "- [ ] do\n",
        "- [X1] it\n",
        "```json\n",
        "```\n",
        "{\"n\": 1}\n",
        "{\"n\": \"é\"}",
        "| a |\n|---|\n",
        "> ",
        "\n",
        "  ",
        "é\u{0}",
        "ToDo",
        "<b>",
        "[a]: b\n",
        "====\n",
        "1) [Y] z\n",
        "\r\n",
        "\t",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn every_finding_has_a_place_in_its_document(document in documents()) {
        let contract = json!({
            "front_matter": {"required": ["status"], "additionalProperties": false, "properties": {"status": {"const": "x"}}},
            "sections": [
                {"heading": "A", "contains": ["text", "list", "checkboxes"], "forbids": ["table"]},
                {"heading": "B", "level": 2, "ids": true, "min_items": 1, "max_items": 1, "forbids_text": ["todo"],
                 "schema": {"properties": {"n": {"type": "number"}}}},
            ],
            "closed": true,
            "max_characters": 60
        });
        let contract = Contract::parse(&contract).unwrap();
        let verdict = contract.check(document.as_bytes());
        prop_assert_eq!(verdict.holds, verdict.findings.is_empty());
        let lines: Vec<&str> = document.split('\n').collect();
        for finding in &verdict.findings {
            let line = lines.get(usize::try_from(finding.line).unwrap() - 1);
            let line = line.unwrap_or_else(|| panic!("{finding:?} in {document:?}"));
            prop_assert!(usize::try_from(finding.column).unwrap() <= line.chars().count() + 1);
            prop_assert!(!finding.what.is_empty());
        }
        let json = Contract::parse(&json!({"schema": {"type": "object", "required": ["a"]}})).unwrap();
        let _ = json.check(document.as_bytes());
        let _: Value = serde_json::to_value(&verdict).unwrap();
    }
}
