//! From bytes to rows.
//!
//! [`decode`] believes nothing: it reads label, version, length, checksum, directory and rows, in this order, and every
//! count is held against the bytes that remain before anything is allocated. There is one way to write given rows:
//! bytes of this format that decode are the bytes that [`encode`](crate::encode) makes of the result.
//!
//! Deliberately not here: what ids and ranges mean. That is [`verify`](crate::verify)'s.

mod error;
mod former;
mod reader;
mod rows;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use self::error::DecodeError;
use self::error::DecodeErrorKind;
use self::reader::Reader;
use super::checksum::crc32;
use super::layout::{
    CHECKSUM_AT, DIRECTORY_AT, ENTRY_SIZE, FORMER, LABEL, LENGTH_AT, Section, VERSION, sections_at,
};
use super::sections::Sections;
use crate::id::{ActionId, EventId, StateId};
use crate::limits::MAX_TABLE_BYTES;

/// Reads the rows of a table, of this format or of the one before it.
///
/// # Errors
///
/// The bytes aren't exactly what [`encode`](crate::encode) writes, or wrote, for some rows.
pub fn decode(bytes: &[u8]) -> Result<Sections, DecodeError> {
    let mut from = Reader {
        bytes,
        at: 0,
        section: Section::Machine,
    };
    let version = header(&mut from)?;
    let counts = directory(&mut from, version)?;
    let mut sections = Sections::default();
    for (&section, count) in Section::ALL.iter().zip(counts) {
        from.section = section;
        match section {
            Section::Machine => {
                sections.name = from.text()?;
                sections.metadata = from.maybe_text()?;
            }
            Section::Texts => sections.texts = texts(&mut from, count)?,
            Section::Bytes => {} // Read with the texts.
            Section::States => sections.states = from.rows(count, rows::state)?,
            Section::Events => sections.events = from.rows(count, rows::event)?,
            Section::Transitions => sections.transitions = from.rows(count, rows::transition)?,
            Section::Guards => sections.guards = from.rows(count, Reader::text)?,
            Section::Fields => sections.fields = from.rows(count, Reader::text)?,
            Section::Actions => sections.actions = from.rows(count, rows::action)?,
            Section::Timers => sections.timers = from.rows(count, rows::timer)?,
            Section::Assigns => sections.assigns = from.rows(count, rows::assign)?,
            Section::Targets => {
                sections.targets = from.rows(count, |from| from.u16().map(StateId::new))?;
            }
            Section::Triggers => {
                sections.triggers = from.rows(count, |from| from.u16().map(EventId::new))?;
            }
            Section::Calls => {
                sections.calls = from.rows(count, |from| from.u16().map(ActionId::new))?;
            }
            Section::Code => sections.code = from.rows(count, rows::instruction)?,
            Section::Constants => sections.constants = from.rows(count, rows::constant)?,
            Section::Merges => sections.merges = from.rows(count, rows::merge)?,
            Section::Ambiguities => sections.ambiguities = from.rows(count, rows::ambiguity)?,
            Section::Claims => sections.claims = from.rows(count, rows::claim)?,
        }
    }
    if version == FORMER {
        if former::reorder(&mut sections).is_none() {
            let at = from.start_of(Section::Code);
            return Err(from.fault(DecodeErrorKind::FormerProgram, at));
        }
        former::add_merges(&mut sections);
    }
    Ok(sections)
}

/// Checks label, version, length and checksum, in this order, and returns the version.
fn header(from: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let total = from.bytes.len();
    if !from.bytes.starts_with(&LABEL) {
        return Err(from.fault(DecodeErrorKind::NoLabel, 0));
    }
    from.at = LABEL.len();
    let version = from.u32()?;
    if version != VERSION && version != FORMER {
        return Err(from.fault(DecodeErrorKind::Version { found: version }, LABEL.len()));
    }
    let length = from.u32()? as usize;
    if length > MAX_TABLE_BYTES {
        return Err(from.fault(DecodeErrorKind::TooLong { length }, LENGTH_AT));
    }
    if length > total || length < sections_at(Section::REQUIRED) {
        return Err(from.fault(
            DecodeErrorKind::Truncated {
                length: total.min(length),
            },
            LENGTH_AT,
        ));
    }
    if length < total {
        return Err(from.fault(
            DecodeErrorKind::Trailing {
                extra: total - length,
            },
            length,
        ));
    }
    let written = from.u32()?;
    let counted = crc32(from.bytes.get(DIRECTORY_AT..).unwrap_or_default());
    if written != counted {
        return Err(from.fault(DecodeErrorKind::Checksum { written, counted }, CHECKSUM_AT));
    }
    Ok(version)
}

/// Returns the number of entries of the directory, by the offset of the first section.
/// It is the smallest one if no directory ends there.
fn entries(from: &Reader<'_>, version: u32) -> usize {
    let most = match version {
        FORMER => Section::REQUIRED,
        _ => Section::ALL.len(),
    };
    let first = from.start_of(Section::Machine);
    let mut all = Section::REQUIRED..=most;
    let found = all.find(|entries| sections_at(*entries) == first);
    found.unwrap_or(Section::REQUIRED)
}

/// Reads the directory: how many rows each section has.
/// Sections follow one another without gaps, to the last byte.
fn directory(
    from: &mut Reader<'_>,
    version: u32,
) -> Result<[usize; Section::ALL.len()], DecodeError> {
    let total = from.bytes.len();
    let mut counts = [0; Section::ALL.len()];
    let entries = entries(from, version);
    let mut expected = sections_at(entries);
    for (&section, place) in Section::ALL.iter().zip(&mut counts).take(entries) {
        let at = from.at;
        let offset = from.u32()?;
        if offset as usize != expected {
            let kind = DecodeErrorKind::Offset {
                section,
                found: offset,
                expected,
            };
            return Err(from.fault(kind, at));
        }
        let count = from.u32()?;
        let remaining = total.saturating_sub(expected);
        let end = (count as usize)
            .checked_mul(section.row_size())
            .and_then(|size| size.checked_add(expected))
            .filter(|&end| end <= total);
        let Some(end) = end else {
            let kind = DecodeErrorKind::Count {
                section,
                count,
                remaining,
            };
            return Err(from.fault(kind, at + 4));
        };
        if section == Section::Machine && count != 1 {
            return Err(from.fault(DecodeErrorKind::Machines { count }, at + 4));
        }
        expected = end;
        *place = count as usize;
    }
    if entries > Section::REQUIRED && counts.get(entries - 1) == Some(&0) {
        let at = sections_at(entries) - ENTRY_SIZE / 2;
        return Err(from.fault(DecodeErrorKind::NoRows, at));
    }
    if expected < total {
        return Err(from.fault(
            DecodeErrorKind::Trailing {
                extra: total - expected,
            },
            expected,
        ));
    }
    Ok(counts)
}

/// Reads the lengths of the texts and, right behind them, their bytes.
fn texts(from: &mut Reader<'_>, count: usize) -> Result<Vec<Box<str>>, DecodeError> {
    let lengths = from.rows(count, Reader::u32)?;
    let bytes_end = from.section_end(Section::Bytes);
    let mut texts = Vec::with_capacity(count);
    for (index, length) in lengths.into_iter().enumerate() {
        let end = from.at.saturating_add(length as usize);
        let bytes = from.bytes.get(from.at..end).filter(|_| end <= bytes_end);
        let Some(bytes) = bytes else {
            return Err(from.fault(DecodeErrorKind::TextLengths { text: index }, from.at));
        };
        let text = core::str::from_utf8(bytes).map_err(|fault| {
            from.fault(
                DecodeErrorKind::NotUtf8 { text: index },
                from.at + fault.valid_up_to(),
            )
        })?;
        texts.push(text.into());
        from.at = end;
    }
    if from.at != bytes_end {
        return Err(from.fault(DecodeErrorKind::TextLengths { text: count }, from.at));
    }
    Ok(texts)
}
