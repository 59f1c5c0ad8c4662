//! Transcripts of runs in memory: `tests/runs/cases/*.md`, in the language of `tests/runs/script/`.

use statemark_harness::{Suite, root};

use crate::harness::Bench;
use crate::script;

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/runs/cases");
    suite.documents("transcripts", &folder, |case| {
        script::play(&case.text, Bench::new)
    });
}
