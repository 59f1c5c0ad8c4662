//! A text that is longer than the screen, and the choice of a row in a list.

use ratatui_core::text::Line;

use crate::printer::screen::{lay_out, wrap_lines};

/// A part of a text, under a heading of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The text, with the printer's colors; its first line is the heading.
    pub(super) text: String,
}

/// A text of sections that is scrolled through.
#[derive(Debug, Default)]
pub(super) struct Pager {
    sections: Vec<Section>,
    /// The text as wrapped into so many columns.
    rows: Vec<Line<'static>>,
    columns: Option<usize>,
    /// The row of each section's first line.
    begins: Vec<usize>,
    /// The first row that is shown.
    top: usize,
    /// The number of rows that were shown last.
    height: usize,
    /// True if the last row was shown.
    is_read: bool,
}

impl Pager {
    /// Replaces the text, and stays at the same row.
    pub(super) fn set(&mut self, sections: Vec<Section>) {
        if self.sections != sections {
            self.sections = sections;
            self.columns = None;
        }
    }

    /// Sets the text to be read anew, from its beginning.
    pub(super) fn reopen(&mut self) {
        self.top = 0;
        self.is_read = false;
    }

    /// Reports whether its last row was shown.
    pub(super) const fn is_read(&self) -> bool {
        self.is_read
    }

    /// Returns the rows that are to be seen, so many of so many columns.
    pub(super) fn rows(&mut self, columns: usize, height: usize) -> &[Line<'static>] {
        if self.columns != Some(columns) {
            self.wrap(columns);
        }
        self.height = height;
        self.top = self.top.min(self.last_top());
        let end = (self.top + height).min(self.rows.len());
        self.is_read |= height > 0 && end == self.rows.len();
        self.rows.get(self.top..end).unwrap_or_default()
    }

    fn wrap(&mut self, columns: usize) {
        self.columns = Some(columns);
        self.rows.clear();
        self.begins.clear();
        for section in &self.sections {
            self.begins.push(self.rows.len());
            self.rows
                .extend(wrap_lines(&lay_out(&section.text), columns));
        }
    }

    /// Describes the part that is shown, if it isn't all.
    pub(super) fn position(&self) -> Option<String> {
        let end = (self.top + self.height).min(self.rows.len());
        (self.rows.len() > self.height)
            .then(|| format!("{}-{end} of {}", self.top + 1, self.rows.len()))
    }

    const fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    /// Scrolls by a movement.
    pub(super) fn scroll(&mut self, movement: Movement) {
        self.top = movement.apply(self.top, self.height, self.last_top());
    }

    /// Goes to the beginning of the next section, and from the last one to the first.
    pub(super) fn next_section(&mut self) {
        let last = self.last_top();
        let mut begins = self.begins.iter();
        let next = begins.find(|begin| **begin > self.top);
        self.top = match next {
            Some(next) if self.top < last => (*next).min(last),
            _ => 0,
        };
    }
}

/// A movement in a text or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Movement {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

impl Movement {
    /// Returns the place to which it leads from another, where pages are so high.
    pub(super) fn apply(self, at: usize, height: usize, last: usize) -> usize {
        let page = height.saturating_sub(1).max(1);
        let to = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page),
            Self::First => 0,
            Self::Last => last,
        };
        to.min(last)
    }
}

/// Returns the first row that is shown of a list, so that the chosen one is.
pub(super) const fn window(top: usize, chosen: usize, height: usize) -> usize {
    if chosen < top {
        chosen
    } else if chosen >= top.saturating_add(height) {
        (chosen + 1).saturating_sub(height)
    } else {
        top
    }
}
