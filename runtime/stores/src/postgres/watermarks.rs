//! Watermarks of watchers: what each has seen already, so that looking twice reports a change once.
//!
//! A watermark is the time of the newest change that was reported with it. Forgetting what was reported does no harm: it
//! is reported again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use statemark_runs::RunId;
use statemark_runs::store::{Hint, Watermark};

/// Time for which changes are looked for again.
/// Unit: microseconds. Why: a transaction takes milliseconds from the time that it writes down until it is visible; a
/// server that stands still for longer makes a hint late, not wrong.
pub(super) const OVERLAP: u64 = 10_000_000;

/// For how many watermarks it is remembered. Why: a handful of watchers.
const WATERMARKS: usize = 64;

/// By watermark: the recent changes that were reported with it.
#[derive(Default)]
pub(super) struct Reported(Mutex<BTreeMap<u64, BTreeSet<(RunId, u64)>>>);

impl Reported {
    /// Returns what is new for a watcher, of what was found with the times of the changes.
    pub(super) fn only_new(
        &self,
        since: &Watermark,
        found: Vec<(u64, Hint)>,
    ) -> (Watermark, Vec<Hint>) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = found.iter().map(|(changed, _)| *changed).max();
        let newest = newest.unwrap_or(0).max(since.0);
        let recent = newest.saturating_sub(OVERLAP);
        let all: BTreeSet<(RunId, u64)> = found
            .iter()
            .filter(|(changed, _)| *changed > recent)
            .map(|(_, hint)| (hint.run.clone(), hint.seq))
            .collect();
        let before = marks.get(&since.0).cloned().unwrap_or_default();
        let is_new = |hint: &Hint| !before.contains(&(hint.run.clone(), hint.seq));
        let hints: Vec<Hint> = found
            .into_iter()
            .map(|(_, hint)| hint)
            .filter(is_new)
            .collect();
        // Two watchers that come to one mark by different ways have in common only what both have seen.
        marks
            .entry(newest)
            .and_modify(|reported| reported.retain(|it| all.contains(it)))
            .or_insert(all);
        while marks.len() > WATERMARKS {
            marks.pop_first();
        }
        (Watermark(newest), hints)
    }
}
