//! The English of each crate gets no worse: `pending.txt` has the faults that a crate may still have.
//!
//! `UPDATE=1` lowers the numbers and raises none. A crate that isn't listed has no faults.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use statemark_tidy::{CRATES, faults};

#[test]
fn english_gets_no_worse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("pending.txt");
    let pending = fs::read_to_string(&path).unwrap();
    let allowed = pending.lines().map(|line| line.split_once(' ').unwrap());
    let allowed: BTreeMap<&str, usize> = allowed
        .map(|(count, name)| (name, count.parse().unwrap()))
        .collect();
    let mut lowered = String::new();
    let mut worse = String::new();
    for name in CRATES {
        let found = faults(&folder.join("../.."), name).unwrap();
        let count: usize = found.values().map(Vec::len).sum();
        let most = allowed.get(name).copied().unwrap_or_default();
        if count > most {
            let _ = writeln!(worse, "{name} has {count} faults, and may have {most}");
        }
        if count > 0 {
            let _ = writeln!(lowered, "{} {name}", count.min(most));
        }
    }
    assert!(
        worse.is_empty(),
        "{worse}`cargo run -q -p statemark-tidy FOLDER` lists them"
    );
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, lowered).unwrap();
    }
}
