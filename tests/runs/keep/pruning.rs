//! Runs that are over go; what others need stays.

use std::sync::Arc;

use statemark_runs::body::Note;
use statemark_runs::maintenance::{Prune, ignore_progress, prune, verify};
use statemark_runs::runs::{PutArtifact, WriteRaw};
use statemark_runs::{Body, CancelRun, Expect, Hash, Loaded, Query, Store};

use super::{SPEC, filled, fork};
use crate::harness::{BEGIN, Bench};
use crate::stores::in_memory;
use crate::stores::sqlite::in_a_file;

fn ids(store: &dyn Store) -> Vec<String> {
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let heads = store.list(&query).unwrap().heads;
    let mut ids: Vec<String> = heads.iter().map(|head| head.run.to_string()).collect();
    ids.sort();
    ids
}

fn pruned(store: &dyn Store, before: Option<u64>, keep: Option<usize>, delete: bool) -> String {
    let wanted = Prune {
        before,
        keep,
        delete,
    };
    prune(store, &wanted, &mut ignore_progress)
        .unwrap()
        .to_string()
}

/// Blobs go with the last run that names them; a blob that was just kept is left to whoever has kept it.
#[test]
fn blobs_that_no_run_names_go() {
    // In a file, a large body is a blob of its own.
    for (made, blobs) in [(in_memory(), "1 blob"), (in_a_file(), "2 blobs")] {
        let clock = Arc::clone(&made.1);
        let store = filled(made);
        let bench = Bench::over(&[("ship.md", SPEC)], Arc::clone(&clock), Arc::clone(&store));
        let put = |run: &str, text: &str| {
            let put = PutArtifact::draft("notes", text);
            bench.runs.execute(&bench.order(run), &put).unwrap();
            store.blob(&Hash::digest(text.as_bytes())).unwrap();
        };
        let note = |run: &str, text: &str| {
            let note = Note {
                text: text.to_owned(),
                data: serde_json::Value::Null,
            };
            let note = WriteRaw(|_: &Loaded, _| vec![Body::Note(note.clone())]);
            bench.runs.execute(&bench.order(run), &note).unwrap();
        };
        let large = "of the other".repeat(30_000);
        put("open", "shared");
        put("open", "of the other");
        note("open", &large);
        put("fork", "shared");
        store.put_blob(b"of nobody").unwrap();
        let lost = |text: &str| store.blob(&Hash::digest(text.as_bytes())).is_err();
        clock.advance(60 * 60 * 1_000 + 1);
        assert_eq!(
            pruned(&*store, Some(0), None, true),
            "removed 0 runs, 1 blob"
        );
        assert!(lost("of nobody"));
        let open = bench.order("open");
        bench.runs.execute(&open, &CancelRun::default()).unwrap();
        let said = pruned(&*store, None, None, false);
        let would = format!("would remove 1 run, {blobs}");
        assert!(said.ends_with(&would), "{said}");
        let done = pruned(&*store, None, None, true);
        assert_eq!(done, said.replace("would remove", "removed"));
        assert!(lost("of the other"));
        assert!(!lost("shared"), "the fork names it");
        assert_eq!(
            verify(&*store, None, &mut ignore_progress)
                .unwrap()
                .differences,
            []
        );
    }
}

#[test]
fn what_is_over_goes_and_what_forks_need_stays() {
    let store = filled(in_memory());
    // The fork goes on: it was taken before the end.
    let said = "`done` stays: `fork` needs it\nwould remove 0 runs";
    assert_eq!(pruned(&*store, None, None, false), said);
    fork(&store, "done", 5, "over");
    let said = "`over` (completed)\n`done` stays: `fork` needs it\nwould remove 1 run";
    assert_eq!(pruned(&*store, None, None, false), said);
    assert_eq!(ids(&*store), ["done", "fork", "open", "over"]);
    assert_eq!(
        pruned(&*store, None, None, true),
        said.replace("would remove", "removed")
    );
    assert_eq!(ids(&*store), ["done", "fork", "open"]);

    // A fork that goes lets its ancestor go in the same call.
    store.remove(&"fork".parse().unwrap(), Expect::Any).unwrap();
    fork(&store, "done", 5, "over");
    assert_eq!(pruned(&*store, Some(BEGIN), None, true), "removed 0 runs");
    assert_eq!(pruned(&*store, None, Some(2), true), "removed 0 runs");
    let said = "`over` (completed)\n`done` (completed)\nremoved 2 runs";
    assert_eq!(pruned(&*store, Some(BEGIN + 1), Some(0), true), said);
    assert_eq!(ids(&*store), ["open"]);
    assert!(
        verify(&*store, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
}
