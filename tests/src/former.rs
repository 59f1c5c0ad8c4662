//! Tables of formats before: what was written then is read now, and means what it meant.
//!
//! `former/` holds tables as they were written in format 2, each with a dump of the rows that are read from it.

use std::fs;

use statemark_harness::{compare, files, root};
use statemark_runtime::{Instruction, decode, dump, encode, verify};

#[test]
fn tables_of_format_2_are_read_as_today_s() {
    let folder = root().join("tests/former");
    let tables = files(&folder).into_iter();
    let tables: Vec<_> = tables
        .filter(|path| path.extension().is_some_and(|end| end == "table"))
        .collect();
    assert!(tables.len() >= 3, "{tables:?}");
    for path in tables {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes[8], 2, "{}", path.display());
        let rows = decode(&bytes).unwrap();
        compare(&path.with_extension("txt"), &dump(&rows)).unwrap();
        // What is written again is of today's format, and the same machine.
        let again = encode(&rows).unwrap();
        assert_eq!(decode(&again).as_ref(), Ok(&rows));
        verify(rows).unwrap();
    }
}

/// A program of format 2 that no compiler of ours wrote is refused by `decode`, or by `verify`; nothing panics.
#[test]
fn programs_of_format_2_that_are_no_expressions_are_refused() {
    let path = root().join("tests/former/fields.table");
    let bytes = fs::read(path).unwrap();
    let rows = decode(&bytes).unwrap();
    let lists = |code: &[Instruction]| {
        let is_list = |it: &&Instruction| matches!(it, Instruction::All(_) | Instruction::Any(_));
        code.iter().filter(is_list).count()
    };
    assert!(lists(&rows.code) > 3, "the table has what is broken below");
    let mut refused = 0;
    // The same bytes under the other number: there, what were jumps are lists, and the other way round.
    let mut mixed = bytes.clone();
    mixed[8] = 3;
    let mut again = encode(&rows).unwrap();
    again[8] = 2;
    for mut bytes in [mixed, again] {
        crate::broken::fix_checksum(&mut bytes);
        let is_table = decode(&bytes).is_ok_and(|rows| verify(rows).is_ok());
        refused += usize::from(!is_table);
    }
    assert_eq!(refused, 2);
    // Every byte of the code, changed.
    for at in 0..bytes.len() - 20 {
        let mut changed = bytes.clone();
        changed[20 + at] ^= 3;
        crate::broken::fix_checksum(&mut changed);
        if let Ok(rows) = decode(&changed) {
            let _ = verify(rows);
        }
    }
}
