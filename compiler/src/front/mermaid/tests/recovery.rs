//! Recovery: one diagnostic for each broken statement, and everything else is parsed.

use super::{check, read};

#[test]
fn a_finding_for_each_broken_line() {
    for broken in [
        "a -> b",
        "a -->",
        "a --> b --> c",
        "a --> my-state",
        "--> b",
        "a --> b : x:",
        "classDef default x",
        "note over a : x",
        "\"a\" --> b",
        "a : x::y",
    ] {
        let lines: String = (0..200).map(|_| format!("  {broken}\n")).collect();
        for (before, after, first) in [("", "", 2), ("state w {\n", "}\n", 3)] {
            if !before.is_empty() && broken.starts_with('"') {
                continue; // Quotes are part of a name inside of braces.
            }
            let (_, found) = read(&format!("stateDiagram-v2\n{before}{lines}{after}"));
            assert_eq!(found.len(), 200, "{broken}");
            for (index, finding) in found.iter().enumerate() {
                assert!(
                    finding.starts_with(&format!("{}:", index + first)),
                    "{finding}"
                );
            }
        }
    }
}

#[test]
fn braces_stay_balanced() {
    check(
        "state w { a -> b }\nc --> d",
        "state w {a}; c -> d",
        &["2:13 SM105 an arrow is written `-->`, not `->`"],
    );
    check(
        "state w {\na --> b --> c {\nd\n}\ne\n}\nf",
        "state w {a -> b; d; e}; f",
        &["3:9 SM105 a transition has one arrow"],
    );
}

#[test]
fn what_was_read_stays() {
    check(
        "a --> b : go\nb -> c\nstate w {\n  x --> y\n  y --> z: q:\n}\nb --> [*]",
        "a -> b: \"go\"; b; state w {x -> y; y -> z: \"q\"}; b -> [*]",
        &[
            "3:3 SM105 an arrow is written `-->`, not `->`",
            "6:13 SM105 a text can't end in a colon",
        ],
    );
}
