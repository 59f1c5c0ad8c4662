//! Which records count, after what was taken back.

use crate::body::{Body, Scope};
use crate::record::Record;

/// Which records of a journal count.
///
/// Those between a `run.rewound` and the record that it goes back to don't; the `run.rewound` itself does. A later one may
/// go back behind an earlier one. Only records that count can be gone back to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// First and last of each run of records that count, in order.
    ranges: Vec<(u64, u64)>,
}

impl Live {
    /// If the record takes back what came before it: the last record that still counts.
    #[must_use]
    pub fn is_rewind(record: &Record) -> Option<u64> {
        if record.kind != "run.rewound" {
            return None;
        }
        match record.read() {
            Ok(Body::Rewound(rewound)) if rewound.scope != Scope::Workspace => Some(rewound.to),
            _ => None,
        }
    }

    /// Takes the next record.
    pub fn push(&mut self, record: &Record) {
        if let Some(to) = Self::is_rewind(record) {
            self.ranges.retain(|(first, _)| *first <= to);
            if let Some((_, last)) = self.ranges.last_mut() {
                *last = to.min(*last);
            }
        }
        match self.ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(record.seq) => *last = record.seq,
            _ => self.ranges.push((record.seq, record.seq)),
        }
    }

    /// Whether a record counts.
    #[must_use]
    pub fn counts(&self, seq: u64) -> bool {
        let behind = self.ranges.partition_point(|(first, _)| *first <= seq);
        let range = behind.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|(_, last)| seq <= *last)
    }

    /// First and last of each run of records that count.
    #[must_use]
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }
}
