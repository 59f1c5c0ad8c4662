//! Fixes, as the lines that they remove and add.

use std::ops::Range;

use super::excerpt::boundary;
use super::ink::{Ink, Style};
use super::visible::{visible, visible_lines};
use crate::diag::{Applicability, Edit, Fix};
use crate::source::{FileId, SourceFile, Sources};

/// Most lines of a fix that are shown.
///
/// Unit: lines. Why: half a terminal; to see all of it, apply the fix.
const MAX_LINES: usize = 16;

/// Longest part of a line that is shown. Unit: bytes.
const MAX_LINE: usize = 160;

/// Most of a line on each side of a change that is looked at. Unit: bytes. Why: more than is shown.
const MAX_SURROUNDINGS: usize = 4 * MAX_LINE;

/// Renders `fix: write …` with its applicability, and the changed lines below it.
///
/// `home` is the file of the finding.
pub(super) fn lines(fix: &Fix, home: FileId, sources: &Sources, style: Style) -> String {
    let trust = match fix.applicability {
        Applicability::Safe => "",
        Applicability::Unsafe => " (unsafe: it may change what the machine accepts)",
        Applicability::DisplayOnly => " (a sketch: fill in what is missing)",
    };
    let mut text = format!("fix: {}{trust}", visible(&fix.title));
    let changes = changes(fix, home, sources);
    for change in changes.iter().take(MAX_LINES) {
        text.push('\n');
        text.push_str(&match change {
            Change::Removed(line) => style.paint(Ink::Removed, format!("- {line}").trim_end()),
            Change::Added(line) => style.paint(Ink::Added, format!("+ {line}").trim_end()),
            Change::Skipped => "  …".to_owned(),
            Change::File(name) => format!("  in {name}:"),
        });
    }
    if changes.len() > MAX_LINES {
        text.push_str(&format!(
            "\n  … and {} more lines",
            changes.len() - MAX_LINES
        ));
    }
    text
}

/// A shown line.
enum Change {
    Removed(String),
    Added(String),
    /// Omitted lines between two regions.
    Skipped,
    /// The name of another file, which the following lines are in.
    File(String),
}

fn changes(fix: &Fix, home: FileId, sources: &Sources) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut file_before = home;
    for region in regions(&fix.edits, sources) {
        let source = sources.file(region.file);
        if region.file != file_before {
            changes.push(Change::File(visible(source.name()).into_owned()));
        } else if !changes.is_empty() {
            changes.push(Change::Skipped);
        }
        file_before = region.file;
        changes.extend(region.changes(source));
    }
    changes
}

/// Adjacent lines that some edits change.
struct Region<'f> {
    file: FileId,
    lines: Range<usize>,
    edits: Vec<&'f Edit>,
}

fn regions<'f>(edits: &'f [Edit], sources: &Sources) -> Vec<Region<'f>> {
    let mut regions: Vec<Region<'f>> = Vec::new();
    for edit in edits {
        let source = sources.file(edit.span.file);
        let first = source.line_index(edit.span.start);
        let last = source.line_index(edit.span.end);
        match regions.last_mut() {
            Some(region) if region.file == edit.span.file && first <= region.lines.end => {
                region.lines.end = region.lines.end.max(last + 1);
                region.edits.push(edit);
            }
            _ => regions.push(Region {
                file: edit.span.file,
                lines: first..last + 1,
                edits: vec![edit],
            }),
        }
    }
    regions
}

impl Region<'_> {
    /// Returns the lines removed and added, without their common indentation.
    fn changes(&self, source: &SourceFile) -> Vec<Change> {
        let (old, new) = self.texts(source);
        let old: Vec<&str> = old.lines().collect();
        let new: Vec<&str> = new.lines().collect();
        let changed = differences(&old, &new);
        let lines: Vec<&str> = changed.iter().map(|(_, line)| *line).collect();
        let changed = changed.iter().zip(shorten(&lines));
        changed
            .map(|((is_added, _), line)| match is_added {
                true => Change::Added(line),
                false => Change::Removed(line),
            })
            .collect()
    }

    /// Returns the lines before and after the edits.
    fn texts(&self, source: &SourceFile) -> (String, String) {
        let first = source.line_range(self.lines.start);
        let last = source.line_range(self.lines.end.saturating_sub(1));
        let mark = match source.text().starts_with('\u{feff}') {
            true if self.lines.start == 0 => '\u{feff}'.len_utf8(),
            _ => 0,
        };
        let mut start = first.map_or(0, |line| line.start) + mark;
        let mut end = last.map_or(start, |line| line.end);
        // Of a long line, such as a whole definition in one, the surroundings are enough.
        let edits = || self.edits.iter().map(|edit| edit.span.range());
        if self.lines.len() == 1
            && let (Some(from), Some(to)) = (
                edits().map(|it| it.start).min(),
                edits().map(|it| it.end).max(),
            )
        {
            start = start.max(boundary(
                source.text(),
                from.saturating_sub(MAX_SURROUNDINGS),
            ));
            end = end.min(boundary(source.text(), to + MAX_SURROUNDINGS));
        }
        let piece = |range: Range<usize>| source.text().get(range).unwrap_or("");
        let mut new = String::new();
        let mut at = start;
        for edit in &self.edits {
            let span = edit.span.range();
            new.push_str(piece(at..span.start.max(at)));
            new.push_str(&edit.text);
            at = span.end.max(at);
        }
        new.push_str(piece(at..end.max(at)));
        (piece(start..end).to_owned(), new)
    }
}

/// Most pairs of lines that are compared.
///
/// Unit: pairs. Why: a fix that replaces a thousand lines by others is shown in part anyway.
const MAX_COMPARED: usize = 1 << 16;

/// Returns the lines that aren't in a longest common subsequence of both texts.
/// Each has true if it was added.
///
/// Those between two common lines are the removed ones, then the added ones.
///
/// Algorithm: lengths of the subsequences of all ends of both texts, as in Hunt and McIlroy, An Algorithm for Differential
/// File Comparison (1976). A library for it would take three seconds of each clean build that has a machine.
fn differences<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(bool, &'t str)> {
    let is_compared = old.len() * new.len() <= MAX_COMPARED;
    // The lengths for each end of the old lines, the empty one first.
    let mut lengths = vec![vec![0_usize; new.len() + 1]];
    for removed in old.iter().rev().filter(|_| is_compared) {
        let shorter = lengths.last().map_or(&[][..], Vec::as_slice);
        let mut longer = vec![0];
        for (added, two) in new.iter().rev().zip(shorter.windows(2)) {
            let kept = longer.last().copied().unwrap_or_default();
            longer.push(match *two {
                [without, _] if removed == added => without + 1,
                [_, with] => with.max(kept),
                _ => kept,
            });
        }
        lengths.push(longer);
    }
    let length = |old: &[&str], new: &[&str]| {
        let row = lengths.get(old.len());
        row.and_then(|row| row.get(new.len()))
            .copied()
            .unwrap_or_default()
    };
    let mut changed: Vec<(bool, &str)> = Vec::new();
    // Where the changes after the last common line begin.
    let mut start = 0;
    let removed_first = |changed: &mut Vec<(bool, &str)>, start: usize| {
        if let Some(changes) = changed.get_mut(start..) {
            changes.sort_by_key(|(is_added, _)| *is_added);
        }
    };
    let (mut old, mut new) = (old, new);
    loop {
        (old, new) = match (old, new) {
            ([one, old @ ..], [other, new @ ..]) if one == other => {
                removed_first(&mut changed, start);
                start = changed.len();
                (old, new)
            }
            (_, [added, rest @ ..])
                if length(old, rest) >= length(old.get(1..).unwrap_or_default(), new) =>
            {
                changed.push((true, added));
                (old, rest)
            }
            ([removed, rest @ ..], _) => {
                changed.push((false, removed));
                (rest, new)
            }
            ([], [added, rest @ ..]) => {
                changed.push((true, added));
                (old, rest)
            }
            ([], []) => {
                removed_first(&mut changed, start);
                return changed;
            }
        };
    }
}

/// Shortens lines to the shown length.
///
/// Drops their common indentation and, if they are long, their common prefix.
fn shorten(lines: &[&str]) -> Vec<String> {
    let filled = lines.iter().copied().filter(|line| !line.trim().is_empty());
    let indent = filled
        .clone()
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let common = common_prefix(filled);
    let cut = lines
        .iter()
        .any(|line| line.len() > indent + MAX_LINE)
        .then(|| common.saturating_sub(MAX_LINE / 4))
        .filter(|&cut| cut > indent);
    lines
        .iter()
        .map(|line| {
            let from = boundary(line, cut.unwrap_or(indent));
            let until = boundary(line, from + MAX_LINE);
            let shown = line.get(from..until).unwrap_or("").trim_end_matches(' ');
            let shown = visible_lines(shown).replace('\t', "    ");
            let before = if cut.is_some() { "…" } else { "" };
            let after = if until < line.len() { "…" } else { "" };
            format!("{before}{shown}{after}")
        })
        .collect()
}

/// Returns the length of the longest common prefix, in bytes.
fn common_prefix<'l>(mut lines: impl Iterator<Item = &'l str>) -> usize {
    let Some(first) = lines.next() else {
        return 0;
    };
    lines.fold(first.len(), |most, line| {
        let same = first.bytes().zip(line.bytes());
        same.take(most).take_while(|(a, b)| a == b).count()
    })
}
