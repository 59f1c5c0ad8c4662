//! The English of every crate is that of `GLOSSARY.md`.

use std::path::Path;

use statemark_tidy::{CRATES, faults};

#[test]
fn no_crate_has_a_fault() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let count = |name: &&str| faults(&root, name).unwrap().values().map(Vec::len).sum();
    let counts: Vec<(&str, usize)> = CRATES.iter().map(|name| (*name, count(name))).collect();
    let faulty: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    assert!(
        faulty.is_empty(),
        "{faulty:?}: `cargo run -q -p statemark-tidy FOLDER` lists the faults"
    );
}
