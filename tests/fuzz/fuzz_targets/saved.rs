//! Bytes of saved machines: reading is total, and what was read is written the same. Length and checksum are made to fit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statemark_runtime::Saved;

mod checksum;

fuzz_target!(|input: &[u8]| {
    let _ = Saved::from_bytes(input);
    let mut bytes = b"stmksave\x01\0\0\0".to_vec();
    let length = u32::try_from(input.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(input);
    checksum::fix(&mut bytes);
    let Ok(saved) = Saved::from_bytes(&bytes) else {
        return;
    };
    // Spelled out it may be too long.
    if let Ok(again) = saved.to_bytes() {
        assert_eq!(Saved::from_bytes(&again), Ok(saved));
    }
});
