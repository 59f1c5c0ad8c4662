//! What `tests/conformance.md` says.

use std::collections::BTreeMap;

use super::case::W3C;
use super::need::{NEEDS, Need};
use super::{Deviation, Fate};

/// The faults of the tests that fail.
pub(super) fn failures(fates: &BTreeMap<String, Fate>) -> String {
    let mut faults = String::new();
    for (name, fate) in fates {
        let Fate::Run(results) = fate else { continue };
        for (engine, result) in results {
            if let Err(fault) = result {
                faults.push_str(&format!("{name}, {engine}: {fault}\n"));
            }
        }
    }
    faults
}

/// The whole page.
pub(super) fn write(
    fates: &BTreeMap<String, Fate>,
    deviations: &BTreeMap<String, Deviation>,
) -> String {
    let mut page = String::from(
        "# Conformance\n\n\
         SCION's and the W3C's tests of SCXML, as the package `@scion-scxml/test-framework` 2.0.16 has them.\n\
         This page is written by a test: `UPDATE=1 tests/conformance/run`.\n\n\
         A test applies if the compiler takes its document.\n\
         Every test that applies is run on every engine that is named with it; none is left out for failing.\n\
         A test that doesn't apply is listed with what it needs that isn't there.\n\n\
         Time is the script's: `after` lets it pass, and what is due by then elapses in order, before the event is sent and again behind it.\n\
         A test without events has all the time that it wants to come to its end.\n\
         `datamodel=\"ecmascript\"` is taken where every expression means the same in ECMAScript and in our expressions.\n\
         An event that a document doesn't name is sent as the longest name in front of a dot that it does, else as `error.unknown_event`.\n\n",
    );
    let suites = [("SCION", false), ("W3C", true)];
    page.push_str("| suite | tests | apply | pass on every engine |\n|---|---|---|---|\n");
    for (title, is_w3c) in suites {
        let all = of_suite(fates, is_w3c);
        let applied = all.iter().filter(|(_, fate)| matches!(fate, Fate::Run(_)));
        let passed = all.iter().filter(|(_, fate)| is_passed(fate)).count();
        page.push_str(&format!(
            "| {title} | {} | {} | {passed} |\n",
            all.len(),
            applied.count()
        ));
    }
    page.push_str("\nBy engine:\n\n| engine | run | pass |\n|---|---|---|\n");
    for (engine, (run, passed)) in by_engine(fates) {
        page.push_str(&format!("| {engine} | {run} | {passed} |\n"));
    }
    page.push_str("\n## What counts instead of a script\n\n");
    if deviations.is_empty() {
        page.push_str("Nothing: no script contradicts the recommendation.\n");
    }
    for (name, deviation) in deviations {
        page.push_str(&format!("- `{name}`: {}\n", deviation.reason));
    }
    page.push_str(
        "\n## What doesn't apply\n\nWhat a document needs that isn't there, with the number of documents; some need several things.\n\n\
         | needs | documents | what it is |\n|---|---|---|\n",
    );
    for (need, count) in by_need(fates) {
        let (name, words) = (need.name, need.words);
        page.push_str(&format!("| {name} | {count} | {words} |\n"));
    }
    for (title, is_w3c) in suites {
        page.push_str(&format!("\n## {title}\n\n"));
        for (name, fate) in of_suite(fates, is_w3c) {
            page.push_str(&format!("- `{name}`: {}\n", describe(fate)));
        }
    }
    page
}

fn of_suite(fates: &BTreeMap<String, Fate>, is_w3c: bool) -> Vec<(&String, &Fate)> {
    fates
        .iter()
        .filter(|(name, _)| name.starts_with(W3C) == is_w3c)
        .collect()
}

fn is_passed(fate: &Fate) -> bool {
    match fate {
        Fate::Run(results) => results.iter().all(|(_, result)| result.is_ok()),
        Fate::Refused(_) => false,
    }
}

fn by_engine(fates: &BTreeMap<String, Fate>) -> BTreeMap<&'static str, (usize, usize)> {
    let mut counts = BTreeMap::new();
    for fate in fates.values() {
        let Fate::Run(results) = fate else { continue };
        for (engine, result) in results {
            let count: &mut (usize, usize) = counts.entry(*engine).or_default();
            count.0 += 1;
            count.1 += usize::from(result.is_ok());
        }
    }
    counts
}

/// What stands in the way, the most frequent first.
fn by_need(fates: &BTreeMap<String, Fate>) -> Vec<(&'static Need, usize)> {
    let mut counts: Vec<(&'static Need, usize)> = NEEDS.iter().map(|need| (need, 0)).collect();
    for fate in fates.values() {
        let Fate::Refused(needs) = fate else { continue };
        for (need, count) in &mut counts {
            *count += usize::from(needs.contains(&need.name));
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn describe(fate: &Fate) -> String {
    match fate {
        Fate::Refused(needs) => format!("doesn't apply: needs {}", needs.join(", ")),
        Fate::Run(results) => {
            let engines = |passed: bool| -> Vec<&str> {
                let kept = results
                    .iter()
                    .filter(|(_, result)| result.is_ok() == passed);
                kept.map(|(engine, _)| *engine).collect()
            };
            let (passed, failed) = (engines(true), engines(false));
            let mut text = format!("passes on {}", passed.join(", "));
            if !failed.is_empty() {
                text = format!("fails on {}", failed.join(", "));
            }
            text
        }
    }
}
