//! `SM113`: a file that isn't UTF-8.

use std::str::Utf8Error;

use statemark_compiler::diag::{Code, Diagnostic};
use statemark_compiler::source::{FileId, MAX_SOURCE_BYTES, Span};

/// How a table begins. Source: the layout in `statemark_runtime`'s documentation of tables.
const TABLE_LABEL: &[u8] = b"\x89statem\n";

/// The bytes as text, with `�` for what can't be read, and where the first of those stands in it.
pub(super) fn readable(bytes: &[u8], error: Utf8Error) -> (String, usize) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // What stands before the first bad byte is as it was, so its place is the same in both.
    (text, error.valid_up_to().min(MAX_SOURCE_BYTES))
}

/// The finding, at the first byte that can't be read.
pub(super) fn invalid_utf8(file: FileId, place: usize, bytes: &[u8]) -> Diagnostic {
    let start = u32::try_from(place).unwrap_or(u32::MAX);
    let span = Span {
        file,
        start,
        end: start.saturating_add(3),
    };
    let byte = bytes.get(place).copied().unwrap_or(0);
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let (message, help) = if bytes.starts_with(TABLE_LABEL) {
        (
            "the file is a table, which isn't text".to_owned(),
            "`statemark show` shows it; lint the spec that it was built from",
        )
    } else if utf16 {
        ("the file is UTF-16".to_owned(), "save it as UTF-8")
    } else {
        (
            format!("the file isn't UTF-8: byte 0x{byte:02X} has no meaning here"),
            "save it as UTF-8; it may be Latin-1 or Windows-1252 now",
        )
    };
    Diagnostic::new(Code::InvalidUtf8, span, message).help(help)
}
