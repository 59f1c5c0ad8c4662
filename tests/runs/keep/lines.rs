//! Runs as lines: what is read is what was written, or it is refused.

use proptest::prelude::*;
use statemark_runs::maintenance::{export, ignore_progress, import, verify};
use statemark_runs::{Expect, Store, StoreError};

use super::{filled, fork};
use crate::stores::sqlite::in_a_file;
use crate::stores::{in_memory, notes, run};

fn lines(store: &dyn Store) -> Vec<u8> {
    let mut lines = Vec::new();
    export(store, None, &mut lines, &mut ignore_progress).unwrap();
    lines
}

/// Artifacts and large bodies come along.
#[test]
fn blobs_come_along() {
    let store = filled(in_a_file());
    let large = "x".repeat(300_000);
    store
        .append(&notes("large", Expect::NoRun, &["1", &large]))
        .unwrap();
    let written = lines(&*store);
    let (other, _) = in_a_file();
    import(&*other, &mut &written[..]).unwrap();
    let records = |store: &dyn Store| store.records(&run("large"), 0, 9).unwrap();
    assert_eq!(records(&*other), records(&*store));
    assert_eq!(records(&*other)[1].body.len(), large.len() + 11);
}

#[test]
fn what_is_imported_is_the_same() {
    let store = filled(in_memory());
    let written = lines(&*store);
    let (other, _) = in_a_file();
    let done = import(&*other, &mut &written[..]).unwrap();
    assert_eq!(done.to_string(), "3 runs new");
    assert_eq!(
        String::from_utf8(lines(&*other)).unwrap(),
        String::from_utf8(written.clone()).unwrap()
    );
    assert!(
        verify(&*other, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
    for run in ["done", "open", "fork"] {
        let run = run.parse().unwrap();
        assert_eq!(store.head(&run).unwrap(), other.head(&run).unwrap());
        let key = "key 1".parse().unwrap();
        assert_eq!(
            store.key_use(&run, &key).unwrap(),
            other.key_use(&run, &key).unwrap()
        );
    }
    assert_eq!(store.next_due().unwrap(), other.next_due().unwrap());
    assert!(store.next_due().unwrap().is_some());

    // Once more does nothing; and a run that has gone on is another.
    let again = import(&*other, &mut &written[..]).unwrap();
    assert_eq!(again.to_string(), "0 runs new, 3 there already");
    fork(&store, "open", 1, "more");
    other.remove(&"fork".parse().unwrap(), Expect::Any).unwrap();
    fork(&other, "done", 2, "fork");
    let error = import(&*other, &mut &lines(&*store)[..]).unwrap_err();
    assert!(
        error.to_string().contains("there is a run `fork` already"),
        "{error}"
    );
}

#[test]
fn one_run_brings_those_it_was_forked_from() {
    let store = filled(in_memory());
    let mut written = Vec::new();
    export(
        &*store,
        Some(&"fork".parse().unwrap()),
        &mut written,
        &mut ignore_progress,
    )
    .unwrap();
    let (other, _) = in_memory();
    let done = import(&*other, &mut &written[..]).unwrap();
    let new: Vec<&str> = done.new.iter().map(|run| run.as_str()).collect();
    assert_eq!(new, ["done", "fork"]);
}

/// A file that was cut brings whole runs or none.
#[test]
fn a_cut_file_brings_no_half_of_a_run() {
    let store = filled(in_memory());
    let written = String::from_utf8(lines(&*store)).unwrap();
    let all: Vec<&str> = written.split_inclusive('\n').collect();
    for count in 0..all.len() {
        let (other, _) = in_memory();
        let cut = all[..count].concat();
        let ends = all[..count]
            .iter()
            .filter(|line| line.starts_with("{\"end\""))
            .count();
        let done = import(&*other, &mut cut.as_bytes());
        let whole = done.as_ref().unwrap_or_else(|error| &error.done);
        assert_eq!(whole.new.len(), ends, "{count}");
        let verified = verify(&*other, None, &mut ignore_progress).unwrap();
        assert_eq!((verified.runs, verified.differences.len()), (ends, 0));
        let is_end = count == 1 || (count > 0 && all[count - 1].starts_with("{\"end\""));
        assert_eq!(done.is_ok(), is_end, "{count}");
    }
}

#[test]
fn a_newer_format_is_refused() {
    let (store, _) = in_memory();
    let newer = b"{\"statemark\":\"runs\",\"version\":2}\n";
    let error = import(&*store, &mut &newer[..]).unwrap_err();
    assert!(matches!(
        error.cause,
        StoreError::SchemaTooNew { found: 2, known: 1 }
    ));
    for other in [
        "",
        "{}",
        "{\"statemark\":\"cats\",\"version\":1}\n",
        "\u{0}",
    ] {
        let error = import(&*store, &mut other.as_bytes()).unwrap_err();
        assert!(matches!(error.cause, StoreError::Invalid { .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Wherever a bit of the runs' lines is flipped: what was flipped doesn't come in.
    #[test]
    fn a_changed_file_is_refused(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let store = filled(in_memory());
        let mut written = lines(&*store);
        let header = written.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let at = header + at.index(written.len() - header);
        written[at] ^= 1 << bit;
        let (other, _) = in_memory();
        let done = import(&*other, &mut &written[..]);
        prop_assert!(done.is_err(), "byte {at}");
        let verified = verify(&*other, None, &mut ignore_progress).unwrap();
        prop_assert!(verified.differences.is_empty(), "{verified}");
        for head in [&"done", &"open", &"fork"] {
            let run = head.parse().unwrap();
            if let Ok(found) = other.head(&run) {
                prop_assert_eq!(found, store.head(&run).unwrap());
            }
        }
    }
}
