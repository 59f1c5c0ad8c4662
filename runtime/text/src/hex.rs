//! Bytes as hexadecimal digits.

use std::fmt::Write as _;

/// Encodes bytes as lowercase hexadecimal digits.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Decodes hexadecimal digits, uppercase or lowercase.
///
/// `None` if there is anything else, or half a byte.
///
/// ```
/// use statemark_text::hex;
///
/// assert_eq!(hex::decode("00fF"), Some(vec![0, 255]));
/// assert_eq!(hex::decode("00f"), None);
/// assert_eq!(hex::decode("+f"), None);
/// ```
#[must_use]
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
