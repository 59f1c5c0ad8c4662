//! What stands anywhere on a line and decides how its beginning is read.
//!
//! Mermaid's rules `.*direction\s+LR[^\n]*` and `.*<<fork>>` look ahead over the whole line from every token. Each line is
//! looked at once here, so that a line of a megabyte stays linear: the patterns are greedy, so only the last place on the
//! line counts, wherever the rule was tried from.

use super::rule;
use crate::front::mermaid::ast::{Direction, Stereotype};

/// Mermaid's directions in the order of its rules.
const DIRECTIONS: [(&str, Direction); 4] = [
    ("TB", Direction::TopBottom),
    ("BT", Direction::BottomTop),
    ("RL", Direction::RightLeft),
    ("LR", Direction::LeftRight),
];

/// Mermaid's marks of pseudo-states in the order of its rules.
const STEREOTYPES: [(&str, Stereotype); 6] = [
    ("<<fork>>", Stereotype::Fork),
    ("<<join>>", Stereotype::Join),
    ("<<choice>>", Stereotype::Choice),
    ("[[fork]]", Stereotype::Fork),
    ("[[join]]", Stereotype::Join),
    ("[[choice]]", Stereotype::Choice),
];

/// The facts of one line. All places are offsets in the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    start: usize,
    end: usize,
    /// For each direction: where its last `direction` begins, and where its letters end.
    directions: [Option<(usize, usize)>; 4],
    /// For each mark: where its last one begins.
    stereotypes: [Option<usize>; 6],
    /// The last `{`.
    brace: Option<usize>,
}

impl Line {
    /// Whether these are the facts of the line that holds the offset.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.start <= at && at < self.end
    }

    /// Reads the rest of the line from an offset on.
    pub(super) fn read(text: &str, at: usize) -> Self {
        let mut line = Self {
            start: at,
            end: at + 1,
            ..Self::default()
        };
        let rest = text.get(at..).unwrap_or("");
        let bytes = rest.as_bytes();
        for (offset, &byte) in bytes.iter().enumerate() {
            let here = at + offset;
            let next = || bytes.get(offset + 1).copied();
            match byte {
                b'd' | b'D' if matches!(next(), Some(b'i' | b'I')) => {
                    line.note_direction(text, here);
                }
                b'<' | b'[' if next() == Some(byte) => line.note_stereotype(text, here),
                b'{' => line.brace = Some(here),
                b'\n' | b'\r' => return line,
                // The line ends that only JavaScript knows begin so.
                0xe2 if rest
                    .get(offset..)
                    .is_some_and(|it| it.starts_with(rule::is_line_end)) =>
                {
                    return line;
                }
                _ => {}
            }
            line.end = here + 1;
        }
        line
    }

    /// The direction that swallows the line from an offset on, where its word begins, and where its letters end.
    pub(super) fn direction(&self, at: usize) -> Option<(Direction, usize, usize)> {
        let found = self.directions.iter().zip(DIRECTIONS);
        found
            .filter_map(|(place, (_, direction))| place.map(|(start, end)| (direction, start, end)))
            .find(|&(_, start, _)| start >= at)
    }

    /// The mark of a pseudo-state that swallows the line from an offset on, and where it begins and ends.
    pub(super) fn stereotype(&self, at: usize) -> Option<(Stereotype, usize, usize)> {
        let found = self.stereotypes.iter().zip(STEREOTYPES);
        found
            .filter_map(|(place, (mark, kind))| {
                place.map(|start| (kind, start, start + mark.len()))
            })
            .find(|&(_, start, _)| start >= at)
    }

    /// Whether a `{` stands on the line at that offset or behind it.
    pub(super) fn has_brace(&self, at: usize) -> bool {
        self.brace.is_some_and(|brace| brace >= at)
    }

    fn note_direction(&mut self, text: &str, at: usize) {
        let rest = text.get(at..).unwrap_or("");
        let Ok((behind, _)) = rule::spaced("direction")(rest) else {
            return;
        };
        for (place, (letters, _)) in self.directions.iter_mut().zip(DIRECTIONS) {
            if rule::literal(letters)(behind).is_ok() {
                *place = Some((at, text.len() - behind.len() + letters.len()));
            }
        }
    }

    fn note_stereotype(&mut self, text: &str, at: usize) {
        let rest = text.get(at..).unwrap_or("");
        for (place, (mark, _)) in self.stereotypes.iter_mut().zip(STEREOTYPES) {
            if rule::literal(mark)(rest).is_ok() {
                *place = Some(at);
            }
        }
    }
}
