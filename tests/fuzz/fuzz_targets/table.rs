//! Bytes as they come: decode, verify, steps. The checksum is made to fit, since no fuzzer guesses it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statemark_runtime as rt;

mod checksum;
#[path = "../../../runtime/engine/src/tests/exercise.rs"]
mod exercise;

fuzz_target!(|input: &[u8]| {
    // The last bytes are the events, so that what comes first is the table as it stands in a file.
    let (table, events) = input.split_at(input.len() - input.len().min(8));
    let mut table = table.to_vec();
    exercise::bytes(&table, events);
    checksum::fix(&mut table);
    exercise::bytes(&table, events);
});
