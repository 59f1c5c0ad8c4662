//! Machines made from the input, with some rows changed, also on their way through bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statemark_runtime as rt;

#[path = "../../../runtime/engine/src/tests/exercise.rs"]
mod exercise;
#[path = "../../../runtime/engine/src/tests/machines.rs"]
mod machines;

fuzz_target!(|input: &[u8]| {
    let mut entropy = machines::Entropy::new(input);
    let edits = entropy.below(6);
    let events: [u8; 16] = core::array::from_fn(|_| entropy.byte());
    let mut rows = machines::machine(&mut entropy);
    for _ in 0..edits {
        machines::edit(&mut entropy, &mut rows);
    }
    if let Ok(bytes) = rt::encode(&rows) {
        exercise::bytes(&bytes, &events);
    }
    exercise::rows(rows, &events);
});
