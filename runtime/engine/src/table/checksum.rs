//! CRC-32 as in IEEE 802.3, zlib and PNG.
//! It is reflected, has the polynomial `0xEDB88320`, and begins and ends with all ones.
//!
//! It finds accidents: a cut file, a flipped bit. It isn't a signature; `verify` is what strangers' tables must pass.

/// The checksum of each byte, so that the loop takes one step a byte.
const TABLE: [u32; 256] = {
    let mut table = [0_u32; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut remainder = byte;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder >>= 1;
            if carry == 1 {
                remainder ^= 0xEDB8_8320;
            }
            bit += 1;
        }
        #[expect(
            clippy::indexing_slicing,
            reason = "`byte` is below 256; checked at compile time"
        )]
        {
            table[byte as usize] = remainder;
        }
        byte += 1;
    }
    table
};

/// Returns the CRC-32 of the bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for &byte in bytes {
        let [low, ..] = remainder.to_le_bytes();
        let entry = TABLE
            .get(usize::from(low ^ byte))
            .copied()
            .unwrap_or_default();
        remainder = (remainder >> 8) ^ entry;
    }
    !remainder
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
