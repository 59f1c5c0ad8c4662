//! Contracts of artifacts: what is found in documents, and how it is described.
//!
//! A file in `tests/runs/contracts/` has a fence `json contract`, and then documents, each in a fence `document` of four
//! marks, followed by what is found in it in a fence `findings`.

use std::fmt::Write as _;

use statemark_harness::{Suite, root};
use statemark_runs::Contract;

use crate::script::artifacts::findings;

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/runs/contracts");
    suite.documents("contracts", &folder, |case| check(&case.text));
}

/// Returns the document with the findings of today.
fn check(text: &str) -> String {
    let (before, rest) = text.split_once("```json contract\n").expect("a contract");
    let (contract, mut rest) = rest.split_once("```").expect("its end");
    let contract = Contract::parse(&serde_json::from_str(contract).expect("JSON")).unwrap();
    let mut checked = text
        .get(..text.len() - rest.len())
        .map(str::to_owned)
        .unwrap_or_default();
    assert!(checked.starts_with(before));
    while let Some((between, behind)) = rest.split_once("````document\n") {
        let (document, behind) = behind.split_once("````\n").expect("its end");
        let old = behind.split_once("```findings\n");
        let behind = match old {
            Some((gap, old)) if gap.trim().is_empty() => old.split_once("```\n").unwrap().1,
            _ => behind,
        };
        let found = findings(&contract.check(document.as_bytes()));
        let _ = write!(
            checked,
            "{between}````document\n{document}````\n\n```findings\n{found}```\n"
        );
        rest = behind;
    }
    checked + rest
}
