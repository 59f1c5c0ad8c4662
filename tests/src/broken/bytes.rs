//! Bytes that don't decode.

use statemark_runtime::{MergeKind, MergeRow, TextId, encode};

use super::good::good;

/// Returns the bytes of a table with a merge rule.
fn merging() -> Vec<u8> {
    let mut rows = good();
    rows.merges.push(MergeRow {
        event: None,
        kind: MergeKind::Only,
        field: Some(TextId::new(1)),
    });
    encode(&rows).unwrap()
}

/// Breaks bytes.
pub(super) type BreakBytes = fn(&mut Vec<u8>);

/// Bytes that don't decode. The checksum is made to fit, but where the name says so.
pub(super) const BROKEN_BYTES: &[(&str, BreakBytes)] = &[
    ("D01-empty", Vec::clear),
    ("D01-other-label", |bytes| bytes[0] = b'S'),
    ("D01-as-text", |bytes| bytes[7] = b'\r'),
    ("D02-other-version", |bytes| bytes[8] = 4),
    ("D03-cut-in-header", |bytes| bytes.truncate(14)),
    ("D03-cut-in-rows", |bytes| bytes.truncate(400)),
    ("D03-too-long", |bytes| bytes[15] = 0xFF),
    ("D03-shorter-than-a-directory", |bytes| {
        bytes.truncate(60);
        bytes[12..16].copy_from_slice(&60_u32.to_le_bytes());
    }),
    ("D04-trailing-byte", |bytes| bytes.push(0)),
    ("D05-checksum", |bytes| *bytes.last_mut().unwrap() ^= 1),
    ("D06-section-overlaps", |bytes| bytes[ENTRY + 2 * 8] -= 1),
    ("D06-section-behind-a-gap", |bytes| {
        bytes[ENTRY + 15 * 8] += 1
    }),
    ("D07-count-past-the-end", |bytes| {
        bytes[ENTRY + 3 * 8 + 4 + 3] = 0x7F
    }),
    ("D07-no-machine", |bytes| bytes[ENTRY + 4] = 0),
    ("D07-rows-nobody-counts", |bytes| {
        bytes[ENTRY + 15 * 8 + 4] = 0
    }),
    ("D08-not-utf-8", |bytes| {
        let at = section(bytes, 2);
        bytes[at + 1] = 0xFF;
    }),
    ("D08-texts-too-short", |bytes| {
        let at = section(bytes, 1);
        bytes[at] -= 1;
    }),
    ("D08-text-too-long", |bytes| {
        let at = section(bytes, 1);
        bytes[at + 3] = 0xFF;
    }),
    ("D09-state-kind", |bytes| {
        let at = section(bytes, 3);
        bytes[at + 4] = 6;
    }),
    ("D09-verdict", |bytes| {
        let at = section(bytes, 3);
        bytes[at + 5] = 2;
    }),
    ("D09-event-kind", |bytes| {
        let at = section(bytes, 4);
        bytes[at + 4] = 2;
    }),
    ("D09-internal", |bytes| {
        let at = section(bytes, 5);
        bytes[at + 2] = 2;
    }),
    ("D09-merge-kind", |bytes| {
        *bytes = merging();
        let at = bytes.len() - 5;
        bytes[at] = 2;
    }),
    ("D10-last-section-empty", |bytes| {
        *bytes = merging();
        bytes.truncate(bytes.len() - 7);
        let length = u32::try_from(bytes.len()).unwrap();
        bytes[12..16].copy_from_slice(&length.to_le_bytes());
        bytes[ENTRY + 16 * 8 + 4] = 0;
    }),
    ("D09-instruction", |bytes| {
        let at = section(bytes, 14);
        bytes[at] = 12;
    }),
    ("D09-operator", |bytes| {
        let at = section(bytes, 14);
        bytes[at + 2 * 12 + 1] = 10;
    }),
    ("D09-constant", |bytes| {
        let at = section(bytes, 15);
        bytes[at] = 5;
    }),
    ("D09-action-kind", |bytes| {
        let at = section(bytes, 8);
        bytes[at + 4] = 7;
    }),
    ("D10-failing-action-with-more", |bytes| {
        let at = section(bytes, 8);
        bytes[at + 4] = 6;
        bytes[at + 5] = 1;
    }),
    ("D10-instruction-with-more", |bytes| {
        let at = section(bytes, 14);
        bytes[at + 11] = 1;
    }),
    ("D10-constant-with-more", |bytes| {
        let at = section(bytes, 15);
        bytes[at] = 0;
    }),
];

/// Where the directory begins. Unit: bytes.
const ENTRY: usize = 20;

/// Where the section of that index in the directory begins.
fn section(bytes: &[u8], index: usize) -> usize {
    let at = ENTRY + index * 8;
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// CRC-32 bit by bit: another way than the runtime's.
fn crc32(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for &byte in bytes {
        remainder ^= u32::from(byte);
        for _ in 0..8 {
            let carry = remainder & 1;
            remainder = (remainder >> 1) ^ (0xEDB8_8320 * carry);
        }
    }
    !remainder
}

pub(crate) fn fix_checksum(bytes: &mut [u8]) {
    if bytes.len() >= ENTRY {
        let checksum = crc32(&bytes[ENTRY..]);
        bytes[16..ENTRY].copy_from_slice(&checksum.to_le_bytes());
    }
}
