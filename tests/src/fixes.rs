//! Fixes of anything that anybody wrote: they end, they break nothing, and the safe ones change no machine. And the
//! canonical form, which changes none either.
//!
//! Over every spec that is here, every page, and random mutations of them, seeded as in [`crate::hostile_text`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use statemark_compiler::diag::{Applicability, Severity};
use statemark_compiler::{
    Compiled, FixedText, Formatted, Options, changed_rows, fix_text, format_text,
};

use crate::hostile_text::{mutations, seeds};
use crate::specs::{assert_spans, compile_text};

/// How many mutated texts are fixed. Unit: texts. Why: together they take some ten seconds.
const INPUTS: u64 = 3_000;

/// Specs in which a safe fix is taken back, because another line changes what is read: an event that is named after its place,
/// a label without a text, a state called `as`.
const TAKEN_BACK: [&str; 4] = [
    "#9829; --> Z",
    "* --> Z\nY --> *",
    "A --> B : \n",
    "state \"as\" as as",
];

#[test]
fn every_spec_survives_its_fixes() {
    let mut refused = Vec::new();
    for (name, text) in seeds() {
        for least in [Applicability::Safe, Applicability::Unsafe] {
            let done = check(&name, &text, least);
            // What may change a machine may also break it, and is taken back then.
            let is_known = TAKEN_BACK.iter().any(|it| text.contains(it));
            if least == Applicability::Safe && !done.refused.is_empty() && !is_known {
                refused.push(format!("{:?}: {name}: {text}", done.refused));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn mutated_specs_survive_their_fixes() {
    let seeds = seeds();
    for (name, text) in mutations(&seeds, 0x5eed, INPUTS) {
        let tried = catch_unwind(AssertUnwindSafe(|| {
            check(name, &text, Applicability::Safe);
            check(name, &text, Applicability::Unsafe);
        }));
        assert!(tried.is_ok(), "{name}: {text:?}");
    }
}

/// Formatting finds every spec unchanged in meaning, and nothing more to do the second time.
#[test]
fn every_spec_is_formatted_once() {
    for (name, text) in seeds() {
        assert!(
            check_format(&name, &text),
            "a machine has changed: {name}: {text}"
        );
    }
}

#[test]
fn mutated_specs_are_formatted_once() {
    let seeds = seeds();
    for (name, text) in mutations(&seeds, 0xf0, INPUTS) {
        let tried = catch_unwind(AssertUnwindSafe(|| check_format(name, &text)));
        assert!(tried.is_ok(), "{name}: {text:?}");
    }
}

/// Checks what holds of every formatted text, and reports whether it wasn't taken back.
fn check_format(name: &str, text: &str) -> bool {
    match format_text(name, text) {
        Formatted::Errors => true,
        Formatted::Text(once) => {
            let blanks = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(
                blanks(text),
                blanks(&once),
                "more than blanks has changed: {name}"
            );
            let twice = format_text(name, &once);
            assert_eq!(twice, Formatted::Text(once), "{name}: {text}");
            true
        }
        // Where blanks have a meaning that we don't know of, nothing is changed.
        _ => false,
    }
}

/// Fixes a text, and checks what holds of every fixed text.
fn check(name: &str, text: &str, least: Applicability) -> FixedText {
    let options = Options::default();
    let (_, before) = compile_text(name, text);
    let done = fix_text(name, text, &options, least, |_| true);
    assert_spans(&done.sources, &done.compiled.diagnostics);
    assert!(done.compiled.found >= before.found, "a machine is gone");
    if has_errors(&before) {
        return done;
    }
    assert!(!has_errors(&done.compiled), "it doesn't compile any more");
    if least == Applicability::Safe {
        let changed = changed_rows(&before, &done.compiled);
        assert!(
            changed.is_empty(),
            "{changed:#?}: {name}: {text}\n{}",
            done.text()
        );
    }
    let again = fix_text(name, done.text(), &options, least, |_| true);
    assert_eq!(again.text(), done.text(), "fixing it twice changes more");
    done
}

fn has_errors(compiled: &Compiled) -> bool {
    let mut findings = compiled.diagnostics.iter();
    findings.any(|found| found.severity == Severity::Error)
}
