//! Faults of bytes that are no table.

use core::fmt;

use crate::limits::MAX_TABLE_BYTES;
use crate::table::layout::{FORMER, Section, VERSION};

/// Bytes that are no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pub(super) kind: DecodeErrorKind,
    pub(super) at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DecodeErrorKind {
    NoLabel,
    Version {
        found: u32,
    },
    TooLong {
        length: usize,
    },
    Truncated {
        length: usize,
    },
    Trailing {
        extra: usize,
    },
    Checksum {
        written: u32,
        counted: u32,
    },
    Offset {
        section: Section,
        found: u32,
        expected: usize,
    },
    Count {
        section: Section,
        count: u32,
        remaining: usize,
    },
    Machines {
        count: u32,
    },
    NotUtf8 {
        text: usize,
    },
    TextLengths {
        text: usize,
    },
    Code {
        section: Section,
        what: &'static str,
        found: u8,
    },
    NotZero {
        section: Section,
    },
    NoRows,
    FormerProgram,
}

impl DecodeError {
    /// Returns the position of the fault.
    /// Unit: bytes from the start.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "byte {}: ", self.at)?;
        match &self.kind {
            DecodeErrorKind::NoLabel => out.write_str("this is no table: it doesn't begin as one"),
            DecodeErrorKind::Version { found } => {
                write!(
                    out,
                    "the table has format version {found}, and this is a reader of {FORMER} and {VERSION}"
                )
            }
            DecodeErrorKind::TooLong { length } => {
                write!(
                    out,
                    "the table has {length} bytes, more than {MAX_TABLE_BYTES}"
                )
            }
            DecodeErrorKind::Truncated { length } => {
                write!(out, "the table is cut off: it has only {length} bytes")
            }
            DecodeErrorKind::Trailing { extra } => {
                write!(
                    out,
                    "the table ends here, but the bytes don't: {extra} more"
                )
            }
            DecodeErrorKind::Checksum { written, counted } => write!(
                out,
                "the checksum is {counted:08x} where the table says {written:08x}: it was damaged"
            ),
            DecodeErrorKind::Offset {
                section,
                found,
                expected,
            } => write!(
                out,
                "the section `{}` is said to begin at byte {found}, but its place is byte {expected}",
                section.name()
            ),
            DecodeErrorKind::Count {
                section,
                count,
                remaining,
            } => write!(
                out,
                "the section `{}` is said to have {count} rows, which don't fit into the {remaining} bytes that remain",
                section.name()
            ),
            DecodeErrorKind::Machines { count } => {
                write!(out, "a table has one machine, not {count}")
            }
            DecodeErrorKind::NotUtf8 { text } => write!(out, "text {text} isn't UTF-8"),
            DecodeErrorKind::TextLengths { text } => write!(
                out,
                "the lengths of the texts don't add up to their bytes, first seen at text {text}"
            ),
            DecodeErrorKind::Code {
                section,
                what,
                found,
            } => write!(
                out,
                "a row of the section `{}` has the unknown {what} {found}",
                section.name()
            ),
            DecodeErrorKind::NotZero { section } => write!(
                out,
                "a row of the section `{}` has bytes that mean nothing and aren't zero",
                section.name()
            ),
            DecodeErrorKind::NoRows => out.write_str(
                "the last section has no rows: a directory ends with a section that has some",
            ),
            DecodeErrorKind::FormerProgram => write!(
                out,
                "the table has format version {FORMER}, and a program that isn't one expression: compile its spec again"
            ),
        }
    }
}

impl core::error::Error for DecodeError {}
