//! Colors, as ANSI sequences.
//!
//! Red, yellow, cyan and green are severities; blue is the frame around the source; everything else has the terminal's
//! own color.

use std::io::{self, Write};

use codespan_reporting::diagnostic::{LabelStyle, Severity as SnippetSeverity};
use codespan_reporting::term::WriteStyle;

use crate::diag::Severity;

/// The style of text for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// True to mark parts with ANSI colors.
    pub color: bool,
}

/// A color of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// The word of a severity, with its code.
    Severity(Severity),
    /// The message.
    Bold,
    /// The frame around the source.
    Frame,
    /// A line that a fix removes.
    Removed,
    /// A line that a fix adds.
    Added,
}

const RESET: &str = "\u{1b}[0m";

/// The sequences that rendered findings may have. Any other one came with somebody's text.
pub const INKS: [&str; 9] = [
    RESET,
    Ink::Severity(Severity::Error).start(),
    Ink::Severity(Severity::Warning).start(),
    Ink::Severity(Severity::Info).start(),
    Ink::Severity(Severity::Hint).start(),
    Ink::Bold.start(),
    Ink::Frame.start(),
    Ink::Removed.start(),
    Ink::Added.start(),
];

impl Ink {
    /// Returns the sequence that starts it.
    const fn start(self) -> &'static str {
        match self {
            Self::Severity(Severity::Error) => "\u{1b}[1;31m",
            Self::Severity(Severity::Warning) => "\u{1b}[1;33m",
            Self::Severity(Severity::Info) => "\u{1b}[1;32m",
            Self::Severity(Severity::Hint) => "\u{1b}[1;36m",
            Self::Bold => "\u{1b}[1m",
            Self::Frame => "\u{1b}[34m",
            Self::Removed => "\u{1b}[31m",
            Self::Added => "\u{1b}[32m",
        }
    }
}

impl Style {
    /// Returns the text in a color, or unchanged if colors are off.
    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        if self.color {
            format!("{}{text}{RESET}", ink.start())
        } else {
            text.to_owned()
        }
    }
}

/// The output of the snippet renderer: text with or without colors.
pub(super) struct Canvas {
    bytes: Vec<u8>,
    style: Style,
}

impl Canvas {
    pub(super) fn new(style: Style) -> Self {
        Self {
            bytes: Vec::new(),
            style,
        }
    }

    pub(super) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn set(&mut self, sequence: &str) -> io::Result<()> {
        if self.style.color {
            self.bytes.write_all(sequence.as_bytes())?;
        }
        Ok(())
    }
}

impl Write for Canvas {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteStyle for Canvas {
    fn set_header(&mut self, _: SnippetSeverity) -> io::Result<()> {
        Ok(())
    }

    fn set_header_message(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn set_line_number(&mut self) -> io::Result<()> {
        self.set(Ink::Frame.start())
    }

    fn set_note_bullet(&mut self) -> io::Result<()> {
        self.set(Ink::Frame.start())
    }

    fn set_source_border(&mut self) -> io::Result<()> {
        self.set(Ink::Frame.start())
    }

    fn set_label(&mut self, severity: SnippetSeverity, style: LabelStyle) -> io::Result<()> {
        let ink = match (style, severity) {
            (LabelStyle::Secondary, _) => Ink::Frame,
            (LabelStyle::Primary, SnippetSeverity::Error | SnippetSeverity::Bug) => {
                Ink::Severity(Severity::Error)
            }
            (LabelStyle::Primary, SnippetSeverity::Warning) => Ink::Severity(Severity::Warning),
            (LabelStyle::Primary, SnippetSeverity::Note) => Ink::Severity(Severity::Info),
            (LabelStyle::Primary, SnippetSeverity::Help) => Ink::Severity(Severity::Hint),
        };
        self.set(ink.start())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.set(RESET)
    }
}
