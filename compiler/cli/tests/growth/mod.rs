//! How journals, bundles, stores and tables grow, held to what is recorded, byte for byte.
//!
//! What is written more for each send, run or state is paid for as long as a store is kept, and nobody sees it in a time.
//! `UPDATE=1` records what is measured now: the diff says what grew, and the commit why.

mod measure;

pub(crate) use measure::GATE;

use std::fmt::Write as _;
use std::path::Path;

#[test]
fn what_is_written_is_what_is_recorded() {
    let mut text = String::new();
    for (what, unit, count) in measure::figures() {
        let _ = writeln!(text, "{what}: {count} {unit}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/growth/figures.txt");
    if let Err(difference) = statemark_harness::compare(&path, &text) {
        panic!("{difference}");
    }
}
