//! `SM112`: a file that is too large to be a spec.

use statemark_compiler::diag::{Code, Diagnostic};
use statemark_compiler::source::{FileId, Span};

/// The finding; `size` and `most` are in bytes. Its place is the start of the file, which nobody has read.
pub(super) fn file_too_large(file: FileId, size: u64, most: usize) -> Diagnostic {
    let span = Span {
        file,
        start: 0,
        end: 0,
    };
    // `most` is a few MiB; in tenths, rounded up, so that no file too large looks as if it weren't.
    let tenths = (u128::from(size) * 10).div_ceil(1 << 20);
    let message = format!(
        "the file has {}.{} MiB, which is too much",
        tenths / 10,
        tenths % 10
    );
    Diagnostic::new(Code::FileTooLarge, span, message)
        .note(format!("a spec has at most {} MiB", most >> 20))
        .help("split the document, or name another file")
}
