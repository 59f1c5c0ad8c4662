//! Tables that are broken on purpose, and tables that are broken at random.
//!
//! `broken/` holds one table for each fault, with the message that it must be refused with: `V07-….table` breaks
//! exactly invariant V07 of `runtime/engine/src/table/verify.rs`, `D01-….table` doesn't decode. The list below makes them;
//! `UPDATE=1` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use statemark_runtime as rt;
use statemark_runtime::{decode, encode, verify};

#[path = "../../runtime/engine/src/tests/exercise.rs"]
mod exercise;
#[path = "../../runtime/engine/src/tests/machines.rs"]
mod machines;

mod bytes;
mod good;
mod rows;

use bytes::BROKEN_BYTES;
pub(crate) use bytes::fix_checksum;
use good::good;
use machines::Entropy;
use rows::BROKEN_ROWS;

/// All broken tables by name.
fn broken() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for (name, break_rows) in BROKEN_ROWS {
        let mut rows = good();
        break_rows(&mut rows);
        all.insert(format!("{name}.table"), encode(&rows).unwrap());
    }
    for (name, break_bytes) in BROKEN_BYTES {
        let mut bytes = encode(&good()).unwrap();
        break_bytes(&mut bytes);
        if !name.contains("checksum") {
            fix_checksum(&mut bytes);
        }
        all.insert(format!("{name}.table"), bytes);
    }
    assert_eq!(
        all.len(),
        BROKEN_ROWS.len() + BROKEN_BYTES.len(),
        "names don't repeat"
    );
    all
}

/// The message that the bytes are refused with, under the number in their file's name.
fn refusal(name: &str, bytes: &[u8]) -> String {
    match decode(bytes) {
        Err(fault) => {
            assert!(name.starts_with('D'), "{name} should decode: {fault}");
            format!("{fault}\n")
        }
        Ok(rows) => {
            let fault = verify(rows).expect_err(name);
            let number = format!("V{:02}-", fault.number());
            assert!(
                name.starts_with(&number),
                "{name} is refused for another reason: {fault}"
            );
            format!("{fault}\n")
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("broken")
}

#[test]
fn every_broken_table_is_refused_with_its_message() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut expected = broken();
    let texts: Vec<_> = expected
        .iter()
        .map(|(name, bytes)| {
            (
                name.replace(".table", ".txt"),
                refusal(name, bytes).into_bytes(),
            )
        })
        .collect();
    expected.extend(texts);
    if update {
        fs::create_dir_all(folder()).unwrap();
        for (name, bytes) in &expected {
            fs::write(folder().join(name), bytes).unwrap();
        }
    }
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let Some(bytes) = expected.remove(&name) else {
            assert!(
                update,
                "`{name}` belongs to no entry of the list: remove it, or run UPDATE=1"
            );
            fs::remove_file(entry.path()).unwrap();
            continue;
        };
        let found = fs::read(entry.path()).unwrap();
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if name.ends_with(".txt") {
            assert_eq!(show(&found), show(&bytes), "{name}");
        }
        assert!(
            found == bytes,
            "`{name}` isn't what the list makes: UPDATE=1 writes it"
        );
    }
    assert!(
        expected.is_empty(),
        "missing: {:?}; UPDATE=1 writes them",
        expected.keys()
    );
}

#[test]
fn every_invariant_has_a_broken_table() {
    let rules =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime/engine/src/table/verify.rs");
    let rules = fs::read_to_string(rules).unwrap();
    let numbers: Vec<&str> = rules
        .lines()
        .filter_map(|line| line.strip_prefix("//! | V")?.get(..2))
        .collect();
    assert!(
        numbers.len() >= 36,
        "the table of invariants is where it was"
    );
    for number in numbers {
        let prefix = format!("V{number}-");
        assert!(
            BROKEN_ROWS
                .iter()
                .any(|(name, _)| name.starts_with(&prefix)),
            "{prefix}"
        );
    }
}

#[test]
fn the_good_table_is_good() {
    let bytes = encode(&good()).unwrap();
    assert!(exercise::bytes(&bytes, &[0, 1, 0, 1, 1, 1, 1, 0]));
}

/// What the fuzzer does, on stable and the same every time. `STATEMARK_FUZZ_INPUTS` sets how many tables.
#[test]
fn tables_broken_at_random_are_refused_or_step() {
    let inputs: u64 = std::env::var("STATEMARK_FUZZ_INPUTS")
        .map_or(20_000, |text| text.parse().expect("a number of inputs"));
    let mut accepted = 0_u64;
    for input in 0..inputs {
        let noise: Vec<u8> = (0..200)
            .flat_map(|at| exercise::mix(input << 20 | at).to_le_bytes())
            .take(40 + usize::try_from(input % 160).unwrap())
            .collect();
        let mut entropy = Entropy::new(&noise);
        let mut rows = if entropy.once_in(4) {
            good()
        } else {
            machines::machine(&mut entropy)
        };
        let edits = entropy.below(3);
        for _ in 0..edits {
            machines::edit(&mut entropy, &mut rows);
        }
        let Ok(mut bytes) = encode(&rows) else {
            continue;
        };
        for _ in 0..entropy.below(3) {
            let at = (entropy.below(256) << 8 | entropy.below(256)) % bytes.len();
            bytes[at] = entropy.byte();
        }
        fix_checksum(&mut bytes);
        accepted += u64::from(exercise::bytes(&bytes, &noise[..20]));
    }
    assert!(
        inputs < 100 || accepted > inputs / 10,
        "too few get through: {accepted}"
    );
}
