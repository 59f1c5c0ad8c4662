//! Documents as an editor has them: texts that change by pieces, and places in them.

use std::path::PathBuf;

use gen_lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use percent_encoding::percent_decode_str;
use statemark_compiler::source::{FileId, MAX_SOURCE_BYTES, SourceFile, Sources, Span};

/// The way in which positions count within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 units.
    Utf16,
}

/// The text of a document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its address.
    pub(crate) uri: Uri,
    /// The path of its file; one made up from its language if it has none.
    pub(crate) path: PathBuf,
    /// The version that the editor counts.
    pub(crate) version: i32,
    /// The text, the only one; empty where it isn't known.
    pub(crate) sources: Sources,
    /// The text.
    pub(crate) file: FileId,
    /// The reason why the text isn't known; only a whole text makes it so again.
    pub(crate) unknown: Option<&'static str>,
}

/// The reason why a document isn't read.
const TOO_LONG: &str = "is longer than 8 MiB, so it isn't checked";

/// The reason why a document isn't read any more.
const OUT_OF_STEP: &str =
    "was changed outside of its text, so it isn't checked until it is opened again";

impl Document {
    /// Takes a document as it was opened.
    pub(crate) fn new(uri: Uri, path: PathBuf, version: i32, text: &str) -> Self {
        let mut document = Self {
            uri,
            path,
            version,
            sources: Sources::new(),
            file: Sources::new().add("", ""),
            unknown: None,
        };
        document.set_text(text);
        document
    }

    /// Returns the text with its lines.
    pub(crate) fn source(&self) -> &SourceFile {
        self.sources.file(self.file)
    }

    fn set_text(&mut self, text: &str) {
        match text.len() > MAX_SOURCE_BYTES {
            true => self.forget(TOO_LONG),
            false => {
                self.unknown = None;
                self.set_known(text);
            }
        }
    }

    /// Lets go of a text that isn't known any more.
    fn forget(&mut self, reason: &'static str) {
        self.unknown = Some(reason);
        self.set_known("");
    }

    fn set_known(&mut self, text: &str) {
        self.sources = Sources::new();
        let name = self.path.file_name().unwrap_or_default();
        self.file = self.sources.add(name.to_string_lossy(), text);
    }

    /// Changes the text as the editor has changed it.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) {
        self.version = version;
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    self.replace(part.range, &part.text, encoding);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.set_text(&whole.text);
                }
            }
        }
    }

    fn replace(&mut self, range: Range, text: &str, encoding: Encoding) {
        if self.unknown.is_some() {
            return;
        }
        let source = self.source();
        let (start, end) = (
            offset(source, range.start, encoding),
            offset(source, range.end, encoding),
        );
        let old = source.text();
        let parts = old
            .get(..start)
            .zip(old.get(end..))
            .filter(|_| start <= end);
        let Some((before, after)) = parts else {
            self.forget(OUT_OF_STEP);
            return;
        };
        let new = [before, text, after].concat();
        self.set_text(&new);
    }

    /// Returns the byte at a position, or the nearest one before it.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> usize {
        offset(self.source(), position, encoding)
    }
}

/// Returns the byte at a position; past a line its end, past the last line the end of the text.
///
/// That is what the protocol asks for. A position within a character is the one before it.
fn offset(source: &SourceFile, position: Position, encoding: Encoding) -> usize {
    let Some(line) = source.line_range(position.line as usize) else {
        return source.text().len();
    };
    let text = source.text().get(line.clone()).unwrap_or_default();
    let wanted = position.character as usize;
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        seen += match encoding {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
        };
        if seen > wanted {
            return line.start + at;
        }
    }
    line.end
}

/// Returns the position of a byte.
pub(crate) fn position(source: &SourceFile, byte: u32, encoding: Encoding) -> Position {
    let position = source.position(byte);
    // For people a byte order mark has no column. An editor that sends one counts it.
    let has_mark = position.line == 1 && byte > 0 && source.text().starts_with('\u{feff}');
    let character = match encoding {
        Encoding::Utf8 => position.byte_column,
        Encoding::Utf16 => position.utf16_column + u32::from(has_mark),
    };
    Position {
        line: position.line - 1,
        character,
    }
}

/// Returns the range of a span.
pub(crate) fn range(source: &SourceFile, span: Span, encoding: Encoding) -> Range {
    Range {
        start: position(source, span.start, encoding),
        end: position(source, span.end, encoding),
    }
}

/// Returns the path that an address means; a document without a file is named after its language.
pub(crate) fn path_of(uri: &Uri, language: &str) -> Option<PathBuf> {
    let address = uri.as_ref();
    if let Some(rest) = address.strip_prefix("file://") {
        let path = rest.find('/').and_then(|at| rest.get(at..))?;
        let path = percent_decode_str(path).decode_utf8().ok()?;
        let bytes = path.as_bytes();
        // `/c:/folder` is `c:/folder`.
        let has_drive =
            bytes.get(2) == Some(&b':') && bytes.get(1).is_some_and(u8::is_ascii_alphabetic);
        let path = if has_drive { path.get(1..)? } else { &*path };
        return Some(PathBuf::from(path));
    }
    let name = match language {
        "markdown" => "untitled.md",
        "mermaid" => "untitled.mmd",
        _ => return None,
    };
    Some(PathBuf::from(name))
}

/// Returns the address of a path.
pub(crate) fn uri_of(path: &std::path::Path) -> Uri {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    const ESCAPED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'#')
        .add(b'%')
        .add(b'<')
        .add(b'>')
        .add(b'?')
        .add(b'[')
        .add(b'\\')
        .add(b']')
        .add(b'^')
        .add(b'`')
        .add(b'{')
        .add(b'|')
        .add(b'}');
    let path = path.to_string_lossy();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Uri::from(format!(
        "file://{slash}{}",
        utf8_percent_encode(&path, ESCAPED)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_lead_to_each_other() {
        for path in ["/a/b.md", "/with space/é𝄞/100%#.md"] {
            let uri = uri_of(std::path::Path::new(path));
            assert_eq!(path_of(&uri, ""), Some(PathBuf::from(path)), "{uri}");
        }
        let cases = [
            ("file:///c%3A/x.md", "markdown", Some("c:/x.md")),
            ("file://host/x.md", "markdown", Some("/x.md")),
            ("untitled:Untitled-1", "markdown", Some("untitled.md")),
            ("untitled:Untitled-1", "rust", None),
            ("file://", "markdown", None),
        ];
        for (uri, language, path) in cases {
            let expected = path.map(PathBuf::from);
            assert_eq!(path_of(&Uri::from(uri), language), expected, "{uri}");
        }
    }

    #[test]
    fn every_place_is_found_again() {
        let text = "\u{feff}é𝄞 a\r\n\t日本語\r\n> - 𝄞é\n\nlast";
        let document = Document::new(Uri::from("file:///a.md"), "a.md".into(), 1, text);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (at, character) in text.char_indices().filter(|(_, it)| *it != '\n') {
                let byte = u32::try_from(at).unwrap();
                let place = position(document.source(), byte, encoding);
                assert_eq!(document.offset(place, encoding), at, "{character:?}");
            }
        }
    }

    /// Positions are counted anew, by the definition of the protocol.
    fn count(text: &str, byte: usize, encoding: Encoding) -> Position {
        let before = text.get(..byte).unwrap();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let units = match encoding {
            Encoding::Utf8 => byte - start,
            Encoding::Utf16 => before.get(start..).unwrap().encode_utf16().count(),
        };
        Position {
            line: u32::try_from(before.matches('\n').count()).unwrap(),
            character: u32::try_from(units).unwrap(),
        }
    }

    #[test]
    fn ten_thousand_edits_give_the_whole_text() {
        const PIECES: [&str; 12] = [
            "",
            "a",
            "\n",
            "\r\n",
            "é",
            "𝄞",
            "日本語",
            "\t",
            "> ",
            "a --> b",
            "\u{feff}",
            "## STATE-MACHINE\n",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let mut text = "\u{feff}one\r\n𝄞 two\n".to_owned();
            let mut document = Document::new(Uri::from("file:///a.md"), "a.md".into(), 0, &text);
            for version in 1..=5_000 {
                // No position is between the two characters of a line's end.
                let is_place =
                    |text: &str, at: usize| text.get(..at).is_some_and(|it| !it.ends_with('\r'));
                let mut place = || loop {
                    let at = random.usize(..=text.len());
                    if is_place(&text, at) {
                        return at;
                    }
                };
                let (one, other) = (place(), place());
                let (start, mut end) = (one.min(other), one.max(other));
                if text.len() < 2_000 && end - start > 8 {
                    end = start;
                }
                let piece = PIECES[random.usize(..PIECES.len())];
                let range = Range {
                    start: count(&text, start, encoding),
                    end: count(&text, end, encoding),
                };
                let change = gen_lsp_types::TextDocumentContentChangePartial {
                    range,
                    text: piece.to_owned(),
                    ..Default::default()
                };
                document.change(version, &[change.into()], encoding);
                text.replace_range(start..end, piece);
                assert_eq!(document.source().text(), text, "edit {version}");
                assert_eq!(document.unknown, None);
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_read_again_once_it_is_whole() {
        let long = "a".repeat(MAX_SOURCE_BYTES + 1);
        let mut document = Document::new(Uri::from("file:///a.md"), "a.md".into(), 0, &long);
        assert_eq!(
            (document.source().text(), document.unknown),
            ("", Some(TOO_LONG))
        );
        let part = gen_lsp_types::TextDocumentContentChangePartial::default();
        document.change(1, &[part.into()], Encoding::Utf8);
        assert_eq!(document.unknown, Some(TOO_LONG));
        let whole = gen_lsp_types::TextDocumentContentChangeWholeDocument {
            text: "b".to_owned(),
        };
        document.change(2, &[whole.into()], Encoding::Utf8);
        assert_eq!((document.source().text(), document.unknown), ("b", None));
    }
}
