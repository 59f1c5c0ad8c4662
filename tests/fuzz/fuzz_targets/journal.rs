//! Runs whose journals were changed: whatever faces do with them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../runs/hostile/exercise.rs"]
mod exercise;

static SEED: LazyLock<exercise::Seed> =
    LazyLock::new(|| exercise::Seed::new(include_bytes!("../../runs/hostile/journals.jsonl")));

fuzz_target!(|input: &[u8]| {
    SEED.exercise(input);
});
