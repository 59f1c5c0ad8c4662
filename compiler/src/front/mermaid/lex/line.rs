//! Facts about a line that decide how its beginning is read.
//!
//! Mermaid's rules `.*direction\s+LR[^\n]*` and `.*<<fork>>` look ahead over the whole line from every token. Here each
//! line is scanned once, so a line of a megabyte takes linear time. The patterns are greedy, so only the last match on
//! the line counts, wherever the rule is tried.

use super::rule;
use crate::front::mermaid::ast::{Direction, Stereotype};

/// Mermaid's directions, in the order of its rules.
const DIRECTIONS: [(&str, Direction); 4] = [
    ("TB", Direction::TopBottom),
    ("BT", Direction::BottomTop),
    ("RL", Direction::RightLeft),
    ("LR", Direction::LeftRight),
];

/// Mermaid's marks of pseudo-states, in the order of its rules.
const STEREOTYPES: [(&str, Stereotype); 6] = [
    ("<<fork>>", Stereotype::Fork),
    ("<<join>>", Stereotype::Join),
    ("<<choice>>", Stereotype::Choice),
    ("[[fork]]", Stereotype::Fork),
    ("[[join]]", Stereotype::Join),
    ("[[choice]]", Stereotype::Choice),
];

/// The facts of one line, as offsets in the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    start: usize,
    end: usize,
    /// For each direction, the start of its last `direction` and the end of its letters.
    directions: [Option<(usize, usize)>; 4],
    /// True if one of them is there.
    is_directed: bool,
    /// For each mark, the start of its last occurrence.
    stereotypes: [Option<usize>; 6],
    /// The offset of the last `{`.
    brace: Option<usize>,
}

impl Line {
    /// Returns whether an offset is on this line.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.start <= at && at < self.end
    }

    /// Scans the rest of a line from an offset on.
    pub(super) fn scan(text: &str, at: usize) -> Self {
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
                    line.add_direction(text, here);
                }
                b'<' | b'[' if next() == Some(byte) => line.add_stereotype(text, here),
                b'{' => line.brace = Some(here),
                b'\n' | b'\r' => return line,
                // The line ends that only JavaScript knows begin with this byte.
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

    /// Returns the direction that swallows the line from an offset on, with its start and its end.
    pub(super) fn direction(&self, at: usize) -> Option<(Direction, usize, usize)> {
        if !self.is_directed {
            return None;
        }
        let found = self.directions.iter().zip(DIRECTIONS);
        found
            .filter_map(|(place, (_, direction))| place.map(|(start, end)| (direction, start, end)))
            .find(|&(_, start, _)| start >= at)
    }

    /// Returns the pseudo-state mark that swallows the line from an offset on, with its start and its end.
    pub(super) fn stereotype(&self, at: usize) -> Option<(Stereotype, usize, usize)> {
        let found = self.stereotypes.iter().zip(STEREOTYPES);
        found
            .filter_map(|(place, (mark, kind))| {
                place.map(|start| (kind, start, start + mark.len()))
            })
            .find(|&(_, start, _)| start >= at)
    }

    /// Returns whether the line has a `{` at or after an offset.
    pub(super) fn has_brace(&self, at: usize) -> bool {
        self.brace.is_some_and(|brace| brace >= at)
    }

    fn add_direction(&mut self, text: &str, at: usize) {
        let rest = text.get(at..).unwrap_or("");
        let Ok((after, _)) = rule::spaced("direction")(rest) else {
            return;
        };
        for (place, (letters, _)) in self.directions.iter_mut().zip(DIRECTIONS) {
            if rule::literal(letters)(after).is_ok() {
                *place = Some((at, text.len() - after.len() + letters.len()));
                self.is_directed = true;
            }
        }
    }

    fn add_stereotype(&mut self, text: &str, at: usize) {
        let rest = text.get(at..).unwrap_or("");
        for (place, (mark, _)) in self.stereotypes.iter_mut().zip(STEREOTYPES) {
            if rule::literal(mark)(rest).is_ok() {
                *place = Some(at);
            }
        }
    }
}
