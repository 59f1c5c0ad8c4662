//! Makes the checksum of a table fit.

/// Where the checksum ends and what it covers begins. Unit: bytes.
const COVERED: usize = 20;

/// Writes the CRC-32 of what follows the header into it.
pub(crate) fn fix(table: &mut [u8]) {
    let Some((header, covered)) = table.split_at_mut_checked(COVERED) else {
        return;
    };
    let mut remainder = u32::MAX;
    for &byte in covered.iter() {
        remainder ^= u32::from(byte);
        for _ in 0..8 {
            remainder = (remainder >> 1) ^ (0xEDB8_8320 * (remainder & 1));
        }
    }
    header[16..].copy_from_slice(&(!remainder).to_le_bytes());
}
