//! Snippets: the text around the words of a question.

use super::words::words;
use crate::envelope::bounds;

/// Most bytes of a snippet.
///
/// Why: enough to judge the section, and a model reads ten of them at once.
const MAX_LENGTH: usize = 280;

/// Most bytes of a long line before the first word of the question.
const MAX_BEFORE: usize = 80;

/// Returns the line with most words of a question, weighted by rarity, cut around them.
pub(super) fn excerpt(text: &str, stems: &[String], rarity: impl Fn(&str) -> f64) -> String {
    let mut best: Option<(f64, &str)> = None;
    for line in text.lines().filter(|line| has_text(line)) {
        let mut had: Vec<String> = words(line).map(|word| word.stem).collect();
        had.sort();
        had.dedup();
        let score: f64 = stems
            .iter()
            .filter(|stem| had.binary_search(stem).is_ok())
            .map(|stem| rarity(stem))
            .sum();
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, line));
        }
    }
    let line = best.map_or("", |(_, line)| line.trim());
    cut(line, stems)
}

/// Checks whether a line has text, and isn't a mark alone.
fn has_text(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with("```") && !line.starts_with('#') && line.chars().any(char::is_alphanumeric)
}

fn cut(line: &str, stems: &[String]) -> String {
    if line.len() <= MAX_LENGTH {
        return line.to_owned();
    }
    let first = line
        .split_inclusive(' ')
        .scan(0_usize, |at, word| {
            let begin = *at;
            *at = at.saturating_add(word.len());
            Some((begin, word))
        })
        .find(|(_, word)| words(word).any(|it| stems.contains(&it.stem)));
    let begin = first.map_or(0, |(at, _)| at.saturating_sub(MAX_BEFORE));
    if begin == 0 {
        return format!("{}…", bounds::truncate(line, MAX_LENGTH).0);
    }
    // From the next word on.
    let (_, before) = line
        .char_indices()
        .rfind(|(at, letter)| *letter == ' ' && *at <= begin)
        .map_or((0, 0), |(at, _)| (at, at.saturating_add(1)));
    let rest = line.get(before..).unwrap_or(line);
    let (shown, is_cut) = bounds::truncate(rest, MAX_LENGTH);
    let end = if is_cut { "…" } else { "" };
    format!("…{shown}{end}")
}
