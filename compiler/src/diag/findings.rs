//! The findings of a compilation so far.

use std::collections::{BTreeMap, BTreeSet};

use super::{Allowance, Code, Diagnostic, Severity, nearest};
use crate::source::{FileId, Span};

/// Most comparisons of known names with misspelled ones. Unit: pairs of names. Why: bounded time.
///
/// Each misspelled name is compared with every known one: a hundred mistakes among thousands of states get suggestions, and
/// ten thousand don't take minutes.
const MOST_COMPARISONS: usize = 200_000;

/// The findings of a compilation so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diags {
    list: Vec<Diagnostic>,
    index: Index,
    /// The findings that won't be reported, so that what follows from them is.
    allowed: Vec<Allowance>,
    unwanted: BTreeSet<Code>,
    /// The number of names that were compared with misspelled ones.
    compared: usize,
}

/// An index of findings by place: a question about a place looks at those near it alone.
///
/// A document with a mistake in each of its lines asks as many questions as it has findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Index {
    /// By file and length of the extent: its start, and the finding's index in the list.
    ///
    /// Lengths are told apart by their number of binary digits: what holds a place then begins within a known distance
    /// before it.
    extents: BTreeMap<(FileId, u32), BTreeSet<(u32, usize)>>,
    /// By state that a misread text was about: the finding's index.
    doubted: BTreeMap<String, BTreeSet<usize>>,
}

impl Index {
    fn add(&mut self, at: usize, finding: &Diagnostic) {
        let extent = finding.extent();
        let starts = self.extents.entry(class(extent)).or_default();
        starts.insert((extent.start, at));
        for id in &finding.doubted {
            self.doubted.entry(id.clone()).or_default().insert(at);
        }
    }

    fn remove(&mut self, at: usize, finding: &Diagnostic) {
        let extent = finding.extent();
        if let Some(starts) = self.extents.get_mut(&class(extent)) {
            starts.remove(&(extent.start, at));
        }
        for id in &finding.doubted {
            if let Some(indexes) = self.doubted.get_mut(id) {
                indexes.remove(&at);
            }
        }
    }

    /// Returns the findings whose extent may touch a span: all that do, and some that are near it.
    fn find_near(&self, span: Span) -> impl Iterator<Item = usize> {
        let classes = self.extents.range((span.file, 0)..=(span.file, u32::BITS));
        classes.flat_map(move |((_, digits), starts)| {
            let longest = u32::MAX.checked_shr(u32::BITS - digits).unwrap_or(0);
            let first = span.start.saturating_sub(longest);
            starts
                .range((first, 0)..=(span.end, usize::MAX))
                .map(|&(_, at)| at)
        })
    }
}

/// Returns the file and the number of binary digits of a span's length.
const fn class(span: Span) -> (FileId, u32) {
    let length = span.end.saturating_sub(span.start);
    (span.file, u32::BITS - length.leading_zeros())
}

impl Diags {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which findings won't be reported, so that what follows from them is.
    pub(crate) fn allow(&mut self, allowed: Vec<Allowance>, unwanted: BTreeSet<Code>) {
        self.allowed = allowed;
        self.unwanted = unwanted;
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.index.add(self.list.len(), &diagnostic);
        self.list.push(diagnostic);
    }

    /// Adds all findings of another list.
    pub fn append(&mut self, other: Self) {
        other
            .list
            .into_iter()
            .for_each(|finding| self.push(finding));
    }

    /// Returns the name that a misspelled one was meant to be, as [`nearest`] does.
    ///
    /// None once enough were compared.
    pub(crate) fn nearest<'n>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let left = MOST_COMPARISONS.saturating_sub(self.compared);
        let compared = &mut self.compared;
        let names = names.into_iter().take(left);
        nearest(name, names.inspect(|_| *compared += 1))
    }

    /// Returns the names to compare a misspelled one with: all, or none once enough were compared.
    pub(crate) fn comparable<'n, I: Iterator<Item = &'n str>>(
        &mut self,
        names: I,
        count: usize,
    ) -> impl Iterator<Item = &'n str> + use<'n, I> {
        self.compared = self.compared.saturating_add(count);
        let is_left = self.compared <= MOST_COMPARISONS;
        names.take(if is_left { count } else { 0 })
    }

    /// Removes the findings in a span that follow from another mistake, and returns whether there were any.
    pub(crate) fn remove_followers(&mut self, span: Span) -> bool {
        self.remove_all(|it| it.may_follow && span.contains(it.primary.span))
    }

    /// Removes the findings that are chosen, and returns whether there were any.
    fn remove_all(&mut self, is_chosen: impl Fn(&Diagnostic) -> bool) -> bool {
        let Some(first) = self.list.iter().position(&is_chosen) else {
            return false;
        };
        let rest = self.split_off(first);
        let kept = rest.into_iter().filter(|it| !is_chosen(it));
        kept.for_each(|finding| self.push(finding));
        true
    }

    /// Removes the findings from an index on, and returns them.
    fn split_off(&mut self, at: usize) -> Vec<Diagnostic> {
        let rest = self.list.split_off(at);
        for (finding, at) in rest.iter().zip(at..) {
            self.index.remove(at, finding);
        }
        rest
    }

    /// Makes the findings about a span explain what is wrong with more of the text.
    pub(crate) fn widen(&mut self, primary: Span, misread: Span) {
        let found = self.list.iter_mut().zip(0..);
        for (finding, at) in found.filter(|(it, _)| it.primary.span == primary).take(1) {
            self.index.remove(at, finding);
            finding.misread = Some(misread);
            self.index.add(at, finding);
        }
    }

    /// Takes out the finding about a misread text that holds a place.
    pub(crate) fn take_misreading(&mut self, place: Span) -> Option<Diagnostic> {
        let holds = |it: &Diagnostic| it.misread.is_some_and(|text| text.contains(place));
        let at = self.first(self.index.find_near(place), holds)?;
        let mut rest = self.split_off(at).into_iter();
        let taken = rest.next();
        rest.for_each(|finding| self.push(finding));
        taken
    }

    /// Returns the least of some indexes whose finding is as wanted.
    fn first(
        &self,
        indexes: impl Iterator<Item = usize>,
        is_wanted: impl Fn(&Diagnostic) -> bool,
    ) -> Option<usize> {
        let wanted = indexes.filter(|&at| self.list.get(at).is_some_and(&is_wanted));
        wanted.min()
    }

    /// Removes a finding.
    pub(crate) fn remove(&mut self, finding: &Diagnostic) {
        self.remove_all(|it| it == finding);
    }

    /// Returns the findings, to add to what they say; not to move them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.list.iter_mut()
    }

    /// Reports whether a warning or an error is about a span that contains this one.
    ///
    /// If so, a consequence needn't be reported.
    #[must_use]
    pub fn covers(&self, span: Span) -> bool {
        let is_about = |found: &Diagnostic| {
            let holds = found.severity >= Severity::Warning && found.extent().contains(span);
            holds && self.is_reported(found)
        };
        self.first(self.index.find_near(span), is_about).is_some()
    }

    /// Reports whether a finding will be seen.
    fn is_reported(&self, found: &Diagnostic) -> bool {
        let is_unwanted = found.severity < Severity::Error && self.unwanted.contains(&found.code);
        !is_unwanted && !self.allowed.iter().any(|it| it.allows(found))
    }

    /// Returns the index of the finding about a misread text that explains what seems wrong with a state.
    fn cause_of(&self, id: &str, span: Span) -> Option<usize> {
        let doubting = self.index.doubted.get(id).into_iter().flatten().copied();
        self.first(self.index.find_near(span).chain(doubting), |found| {
            found.is_cause(id, span) && self.is_reported(found)
        })
    }

    /// Reports whether something that was found explains what seems wrong with a state.
    ///
    /// `span` is the state's first mention.
    #[must_use]
    pub(crate) fn explains(&self, id: &str, span: Span) -> bool {
        self.covers(span) || self.is_misread(id, span)
    }

    /// Reports whether a state that is first named at a span was hardly meant as it is read.
    #[must_use]
    pub(crate) fn is_misread(&self, id: &str, span: Span) -> bool {
        self.cause_of(id, span).is_some()
    }

    /// Makes the misread text that explains a state an error, and returns whether there is one.
    ///
    /// That is for a consequence that is an error: no machine is made, and the cause has to say so.
    pub(crate) fn blame(&mut self, id: &str, span: Span) -> bool {
        let cause = self.cause_of(id, span);
        let cause = cause.and_then(|at| self.list.get_mut(at));
        let is_found = cause.is_some();
        cause
            .into_iter()
            .for_each(|it| it.severity = Severity::Error);
        is_found
    }

    /// Reports whether a misread text overlaps a span.
    #[must_use]
    pub(crate) fn misreads(&self, span: Span) -> bool {
        let overlaps = |found: &Diagnostic| {
            let overlaps = |text: Span| text.start < span.end && span.start < text.end;
            found.misread.is_some_and(overlaps)
        };
        self.first(self.index.find_near(span), overlaps).is_some()
    }

    /// Reports whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Returns the findings in reading order: by file, position and code, without duplicates.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by(|a, b| {
            let key = |d: &Diagnostic| (d.primary.span.file, d.primary.span.start, d.code);
            key(a).cmp(&key(b))
        });
        let mut seen = BTreeSet::new();
        self.list
            .retain(|d| seen.insert((d.primary.span, d.code, d.message.clone())));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::{Diags, MOST_COMPARISONS};
    use crate::diag::{Code, Diagnostic};
    use crate::source::{FileId, Sources, Span};

    /// Numbers that look drawn by chance. Source: Numerical Recipes, *Quick and Dirty Generators*.
    fn draw(seed: &mut u32, most: u32) -> u32 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 16) % most
    }

    fn span(file: FileId, seed: &mut u32) -> Span {
        let longest = [1, 4, 40, 300][draw(seed, 4) as usize];
        let (start, length) = (draw(seed, 300), draw(seed, longest));
        let end = start + length;
        Span { file, start, end }
    }

    #[test]
    fn the_index_finds_what_a_look_at_every_finding_does() {
        let mut sources = Sources::new();
        let files = ["a.md", "b.md"].map(|name| sources.add(name, String::new()));
        let codes = [Code::StrayWords, Code::UnknownState, Code::DeadEnd];
        let mut held = 0;
        for mut seed in 0..200 {
            let mut diags = Diags::new();
            for _ in 0..draw(&mut seed, 30) {
                let file = files[draw(&mut seed, 2) as usize];
                let code = codes[draw(&mut seed, 3) as usize];
                let mut finding = Diagnostic::new(code, span(file, &mut seed), "it");
                if draw(&mut seed, 3) == 0 {
                    finding = finding.misreads(span(file, &mut seed));
                }
                if draw(&mut seed, 3) == 0 {
                    finding = finding.doubts([["a", "b"][draw(&mut seed, 2) as usize]]);
                }
                if draw(&mut seed, 3) == 0 {
                    finding = finding.may_follow();
                }
                diags.push(finding);
            }
            for _ in 0..20 {
                let place = span(files[draw(&mut seed, 2) as usize], &mut seed);
                let all = |diags: &Diags, is_wanted: &dyn Fn(&Diagnostic) -> bool| {
                    diags.list.iter().position(is_wanted)
                };
                let holds = |it: &Diagnostic| it.extent().contains(place);
                assert_eq!(diags.covers(place), all(&diags, &holds).is_some());
                held += usize::from(diags.covers(place));
                let cause = all(&diags, &|it| it.is_cause("a", place));
                assert_eq!(diags.cause_of("a", place), cause);
                let overlaps = |text: Span| {
                    text.file == place.file && text.start < place.end && place.start < text.end
                };
                let misread = all(&diags, &|it| it.misread.is_some_and(overlaps));
                assert_eq!(diags.misreads(place), misread.is_some());
                match draw(&mut seed, 3) {
                    0 => {
                        let taken =
                            |it: &Diagnostic| it.misread.is_some_and(|it| it.contains(place));
                        let expected =
                            all(&diags, &taken).and_then(|at| diags.list.get(at).cloned());
                        assert_eq!(diags.take_misreading(place), expected);
                    }
                    1 => {
                        diags.remove_followers(place);
                    }
                    _ => diags.widen(place, place),
                }
            }
            let mut anew = Diags::new();
            diags.list.iter().for_each(|it| anew.push(it.clone()));
            let indexed = |diags: &Diags| -> Vec<_> {
                let extents = diags.index.extents.iter();
                let extents = extents.filter(|(_, starts)| !starts.is_empty());
                extents
                    .map(|(class, starts)| (*class, starts.clone()))
                    .collect()
            };
            assert_eq!(indexed(&diags), indexed(&anew));
        }
        assert!(held > 100, "{held}");
    }

    #[test]
    fn suggestions_end_with_the_comparisons() {
        let mut diags = Diags::new();
        let names: Vec<String> = (0..MOST_COMPARISONS / 4)
            .map(|at| format!("name{at}"))
            .collect();
        let found: Vec<bool> = (0..6)
            .map(|_| {
                diags
                    .nearest("name_1", names.iter().map(String::as_str))
                    .is_some()
            })
            .collect();
        assert_eq!(found, [true, true, true, true, false, false]);
        assert_eq!(diags.compared, MOST_COMPARISONS);
    }
}
