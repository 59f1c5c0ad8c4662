//! The rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use statemark_runs::{Hash, Key, Record, RunId};

use super::{Answer, Ask, Call, History};

/// A promise that was broken, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    pub(crate) rule: Rule,
    pub(crate) run: RunId,
    /// The record, or zero.
    pub(crate) seq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Seqs are 1, 2, 3 …
    Dense,
    /// Each record has the hash of the one before.
    Chained,
    /// What was acknowledged is in the journal where it was said to be.
    Kept,
    /// What was asked once is in it once and whole.
    Once,
    /// What was refused isn't in it, nor what nobody asked for.
    Refused,
    /// What was answered before something else was asked is before it.
    RealTime,
    /// An append was made only if the run was as expected, and refused only if it wasn't.
    Expected,
    /// After a newer holder's record there is none of an older one.
    Fenced,
    /// What is read is a beginning of the journal, and has all that was acknowledged before.
    Read,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:?}: run `{}`, record {}",
            self.rule, self.run, self.seq
        )
    }
}

/// A call to append, with where its records are.
struct Placed<'a> {
    call: &'a Call,
    /// First and last record, if they are in the journal.
    place: Option<(u64, u64)>,
}

/// All that can't be, sorted.
pub(crate) fn check(history: &History) -> Vec<Fault> {
    let mut by_run: BTreeMap<&RunId, Vec<&Call>> = BTreeMap::new();
    for run in history.journals.keys() {
        by_run.entry(run).or_default();
    }
    for call in &history.calls {
        by_run.entry(&call.run).or_default().push(call);
    }
    let mut faults = BTreeSet::new();
    for (run, calls) in by_run {
        let journal = history.journals.get(run).map_or(&[][..], |it| it);
        let mut report = |rule, seq| {
            let run = run.clone();
            faults.insert(Fault { rule, run, seq });
        };
        chained(journal, &mut report);
        let places = once(journal, &mut report);
        let appends = check_appends(&calls, &places, &mut report);
        strangers(journal, &calls, &mut report);
        real_time(&appends, &mut report);
        expected(&appends, &mut report);
        fenced(&appends, &mut report);
        reads(journal, &calls, &mut report);
    }
    faults.into_iter().collect()
}

fn chained(journal: &[Record], report: &mut impl FnMut(Rule, u64)) {
    let mut prev = Hash::ZERO;
    for (record, seq) in journal.iter().zip(1..) {
        if record.seq != seq {
            report(Rule::Dense, seq);
            return;
        }
        if record.prev != prev {
            report(Rule::Chained, seq);
        }
        prev = record.hash();
    }
}

/// Where the records of each key are: side by side.
fn once<'a>(
    journal: &'a [Record],
    report: &mut impl FnMut(Rule, u64),
) -> BTreeMap<&'a Key, (u64, u64)> {
    let mut places: BTreeMap<&Key, (u64, u64)> = BTreeMap::new();
    for (record, seq) in journal.iter().zip(1..) {
        let Some(key) = &record.key else { continue };
        match places.get_mut(key) {
            None => _ = places.insert(key, (seq, seq)),
            Some((_, last)) if *last + 1 == seq => *last = seq,
            Some(_) => report(Rule::Once, seq),
        }
    }
    places
}

/// The calls to append, and what was acknowledged is where it was said to be.
fn check_appends<'a>(
    calls: &[&'a Call],
    places: &BTreeMap<&Key, (u64, u64)>,
    report: &mut impl FnMut(Rule, u64),
) -> Vec<Placed<'a>> {
    let mut appends = Vec::new();
    let mut done: BTreeSet<&Key> = BTreeSet::new();
    // A key under which any call may have written.
    let mut may: BTreeSet<&Key> = BTreeSet::new();
    for &call in calls {
        let Ask::Append { key, count, .. } = &call.ask else {
            continue;
        };
        let place = places.get(key).copied();
        if let Some((first, last)) = place
            && last - first + 1 != *count
        {
            report(Rule::Once, first);
        }
        match &call.end {
            Some((_, Answer::Done { first, last })) => {
                if place != Some((*first, *last)) {
                    report(Rule::Kept, *first);
                }
                if !done.insert(key) {
                    report(Rule::Once, *first);
                }
                may.insert(key);
            }
            Some((_, Answer::Replayed { first, last })) if place != Some((*first, *last)) => {
                report(Rule::Kept, *first);
            }
            None | Some((_, Answer::Unknown)) => _ = may.insert(key),
            Some(_) => {}
        }
        appends.push(Placed { call, place });
    }
    for placed in &appends {
        if let (Ask::Append { key, .. }, Some((first, _))) = (&placed.call.ask, placed.place)
            && !may.contains(key)
        {
            report(Rule::Refused, first);
        }
    }
    appends
}

/// What nobody asked for isn't there.
fn strangers(journal: &[Record], calls: &[&Call], report: &mut impl FnMut(Rule, u64)) {
    let asked: BTreeSet<Option<&Key>> = calls
        .iter()
        .filter_map(|call| match &call.ask {
            Ask::Append { key, .. } => Some(Some(key)),
            Ask::Read => None,
        })
        .collect();
    for record in journal {
        if !asked.contains(&record.key.as_ref()) {
            report(Rule::Refused, record.seq);
        }
    }
}

/// Whether this call is the one that wrote, as far as is known: a replayed one isn't.
fn wrote(placed: &Placed<'_>) -> bool {
    placed.place.is_some() && matches!(placed.call.end, Some((_, Answer::Done { .. })))
}

/// From the end to the beginning: nothing may begin after something behind it has ended.
fn real_time(appends: &[Placed<'_>], report: &mut impl FnMut(Rule, u64)) {
    // Of a key that was asked several times, the first asking is the earliest moment of its taking effect.
    let mut earliest: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ended: BTreeMap<u64, u64> = BTreeMap::new();
    for placed in appends {
        let Some((first, _)) = placed.place else {
            continue;
        };
        let start = earliest.entry(first).or_insert(u64::MAX);
        *start = (*start).min(placed.call.start);
        if let Some((end, Answer::Done { .. } | Answer::Replayed { .. })) = placed.call.end {
            let soonest = ended.entry(first).or_insert(u64::MAX);
            *soonest = (*soonest).min(end);
        }
    }
    let mut soonest = u64::MAX;
    for (first, start) in earliest.iter().rev() {
        if *start > soonest {
            report(Rule::RealTime, *first);
        }
        soonest = soonest.min(ended.get(first).copied().unwrap_or(u64::MAX));
    }
}

fn expected(appends: &[Placed<'_>], report: &mut impl FnMut(Rule, u64)) {
    for placed in appends {
        let Ask::Append { expected, .. } = placed.call.ask else {
            continue;
        };
        let Some(expected) = expected else { continue };
        match (&placed.call.end, placed.place) {
            (Some((_, Answer::Conflict { actual })), _) if *actual == expected => {
                report(Rule::Expected, *actual);
            }
            (None | Some((_, Answer::Done { .. })), Some((first, _))) if first != expected + 1 => {
                report(Rule::Expected, first);
            }
            _ => {}
        }
    }
}

fn fenced(appends: &[Placed<'_>], report: &mut impl FnMut(Rule, u64)) {
    let mut fences: Vec<(u64, u64)> = appends
        .iter()
        .filter(|placed| wrote(placed))
        .filter_map(|placed| match placed.call.ask {
            Ask::Append { fence, .. } => Some((placed.place?.0, fence?)),
            Ask::Read => None,
        })
        .collect();
    fences.sort_unstable();
    let mut newest = 0;
    for (first, fence) in fences {
        if fence < newest {
            report(Rule::Fenced, first);
        }
        newest = newest.max(fence);
    }
}

/// Each read is a beginning of the journal; it has what was acknowledged or read before it was asked.
fn reads(journal: &[Record], calls: &[&Call], report: &mut impl FnMut(Rule, u64)) {
    // (when it was known, up to which record)
    let mut known: Vec<(u64, u64)> = Vec::new();
    let mut asked: Vec<(u64, u64)> = Vec::new();
    for call in calls {
        match &call.end {
            Some((end, Answer::Done { last, .. })) => known.push((*end, *last)),
            Some((end, Answer::Read { seq, hash })) => {
                known.push((*end, *seq));
                asked.push((call.start, *seq));
                let index = usize::try_from(*seq).unwrap().wrapping_sub(1);
                let is_there = journal
                    .get(index)
                    .is_some_and(|record| record.hash().to_string() == *hash);
                if !is_there {
                    report(Rule::Read, *seq);
                }
            }
            _ => {}
        }
    }
    known.sort_unstable();
    asked.sort_unstable();
    let (mut least, mut known) = (0, known.into_iter().peekable());
    for (start, seq) in asked {
        while let Some((_, last)) = known.next_if(|(end, _)| *end < start) {
            least = least.max(last);
        }
        if seq < least {
            report(Rule::Read, seq);
        }
    }
}
