//! Reads numbers from bytes, and never past their end.

use alloc::vec::Vec;
use core::ops::Range;

use super::error::{DecodeError, DecodeErrorKind};
use crate::id::TextId;
use crate::table::layout::{DIRECTORY_AT, ENTRY_SIZE, NONE_16, NONE_32, Section};

/// The bytes, how far they are read, and which section is being read.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) section: Section,
}

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let found = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>())
            .copied();
        let Some(found) = found else {
            let length = self.bytes.len();
            return Err(self.fault(DecodeErrorKind::Truncated { length }, length));
        };
        self.at += N;
        Ok(found)
    }

    pub(super) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.take().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, DecodeError> {
        self.take().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn text(&mut self) -> Result<TextId, DecodeError> {
        self.u32().map(TextId::new)
    }

    pub(super) fn maybe(&mut self) -> Result<Option<u16>, DecodeError> {
        Ok(Some(self.u16()?).filter(|&raw| raw != NONE_16))
    }

    pub(super) fn maybe_text(&mut self) -> Result<Option<TextId>, DecodeError> {
        Ok(Some(self.u32()?)
            .filter(|&raw| raw != NONE_32)
            .map(TextId::new))
    }

    pub(super) fn range(&mut self) -> Result<Range<u32>, DecodeError> {
        Ok(self.u32()?..self.u32()?)
    }

    /// Reads rows one after the other. The directory was checked: there are bytes for `count` of them.
    pub(super) fn rows<T>(
        &mut self,
        count: usize,
        read: fn(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            rows.push(read(self)?);
        }
        Ok(rows)
    }

    /// Returns the end of a section, by the directory, which was checked.
    pub(super) fn section_end(&self, section: Section) -> usize {
        self.offset(section, 1)
    }

    /// Returns the start of a section, by the directory, which was checked.
    pub(super) fn start_of(&self, section: Section) -> usize {
        self.offset(section, 0)
    }

    fn offset(&self, section: Section, later: usize) -> usize {
        let mut all = Section::ALL.iter();
        let entry = all.position(|other| *other == section).unwrap_or_default() + later;
        let at = DIRECTORY_AT + entry * ENTRY_SIZE;
        let rest = self.bytes.get(at..);
        let offset = rest.and_then(|rest| rest.first_chunk()).copied();
        offset.map_or(0, u32::from_le_bytes) as usize
    }

    pub(super) fn fault(&self, kind: DecodeErrorKind, at: usize) -> DecodeError {
        DecodeError { kind, at }
    }

    /// Returns the fault of an unknown code, `back` bytes before the next position.
    pub(super) fn code(&self, what: &'static str, found: u8, back: usize) -> DecodeError {
        let kind = DecodeErrorKind::Code {
            section: self.section,
            what,
            found,
        };
        self.fault(kind, self.at.saturating_sub(back))
    }

    pub(super) fn not_zero(&self) -> DecodeError {
        let size = self.section.row_size();
        self.fault(
            DecodeErrorKind::NotZero {
                section: self.section,
            },
            self.at.saturating_sub(size),
        )
    }
}
