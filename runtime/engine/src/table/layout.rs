//! Positions in the bytes, on which `encode` and `decode` must agree.
//! The picture is in [`table`](super).

/// The first bytes of a table.
/// The first isn't text and the last is a line feed, so a transfer that takes the table for text is detected.
pub(crate) const LABEL: [u8; 8] = *b"\x89statem\n";

/// The version of the format. Another version is another format: there are no optional parts.
pub(crate) const VERSION: u32 = 3;

/// The version before, which is still read: its programs are in postfix order.
pub(crate) const FORMER: u32 = 2;

/// The position of the total length.
/// Unit: bytes.
pub(crate) const LENGTH_AT: usize = 12;

/// The position of the checksum.
/// Unit: bytes.
pub(crate) const CHECKSUM_AT: usize = 16;

/// The position of the directory, where the checksum's range begins.
/// Unit: bytes.
pub(crate) const DIRECTORY_AT: usize = 20;

/// The length of a directory entry: offset and count. Unit: bytes.
pub(crate) const ENTRY_SIZE: usize = 8;

/// *None*, where an id of 16 bits may be missing.
pub(crate) const NONE_16: u16 = u16::MAX;

/// *None*, where an id of 32 bits may be missing.
pub(crate) const NONE_32: u32 = u32::MAX;

/// A section of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Machine,
    Texts,
    Bytes,
    States,
    Events,
    Transitions,
    Guards,
    Fields,
    Actions,
    Timers,
    Assigns,
    Targets,
    Triggers,
    Calls,
    Code,
    Constants,
    Merges,
    Ambiguities,
    Claims,
}

impl Section {
    /// Every section, in the order in which they stand.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Machine,
        Self::Texts,
        Self::Bytes,
        Self::States,
        Self::Events,
        Self::Transitions,
        Self::Guards,
        Self::Fields,
        Self::Actions,
        Self::Timers,
        Self::Assigns,
        Self::Targets,
        Self::Triggers,
        Self::Calls,
        Self::Code,
        Self::Constants,
        Self::Merges,
        Self::Ambiguities,
        Self::Claims,
    ];

    /// The number of sections that every directory has. The later ones end at the last that has a row.
    pub(crate) const REQUIRED: usize = 16;

    /// Returns the length of a row.
    /// Unit: bytes.
    pub(crate) const fn row_size(self) -> usize {
        match self {
            Self::Bytes => 1,
            Self::Targets | Self::Triggers | Self::Calls => 2,
            Self::Texts | Self::Guards | Self::Fields => 4,
            Self::Merges => 7,
            Self::Machine => 8,
            Self::Events => 9,
            Self::Timers | Self::Ambiguities | Self::Claims => 6,
            Self::Assigns => 10,
            Self::Actions => 35,
            Self::Code => 12,
            Self::Constants => 17,
            Self::Transitions => 39,
            Self::States => 52,
        }
    }

    /// Returns the name of what the section holds, for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Texts => "texts",
            Self::Bytes => "bytes",
            Self::States => "states",
            Self::Events => "events",
            Self::Transitions => "transitions",
            Self::Guards => "guards",
            Self::Fields => "fields",
            Self::Actions => "actions",
            Self::Timers => "timers",
            Self::Assigns => "assigns",
            Self::Targets => "targets",
            Self::Triggers => "triggers",
            Self::Calls => "calls",
            Self::Code => "code",
            Self::Constants => "constants",
            Self::Merges => "merges",
            Self::Ambiguities => "ambiguities",
            Self::Claims => "claims",
        }
    }
}

/// Returns the position of the first section, after a directory of so many entries.
/// Unit: bytes.
pub(crate) const fn sections_at(entries: usize) -> usize {
    DIRECTORY_AT + entries * ENTRY_SIZE
}
