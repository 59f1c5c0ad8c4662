//! What stands around the words that were asked for.

use super::words::words;
use crate::envelope::bounds;

/// Most bytes of a snippet. Why: enough to see whether the section answers, and ten of them are read at once.
const MOST: usize = 280;

/// How much of a long line stands before the first word that was asked for. Unit: bytes.
const BEFORE: usize = 80;

/// The line that has most of the words, by how rare they are, cut to what is around them.
pub(super) fn around(text: &str, asked: &[String], rarity: impl Fn(&str) -> f64) -> String {
    let mut best: Option<(f64, &str)> = None;
    for line in text.lines().filter(|line| says_something(line)) {
        let mut had: Vec<String> = words(line).map(|word| word.stem).collect();
        had.sort();
        had.dedup();
        let score: f64 = asked
            .iter()
            .filter(|stem| had.binary_search(stem).is_ok())
            .map(|stem| rarity(stem))
            .sum();
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, line));
        }
    }
    let line = best.map_or("", |(_, line)| line.trim());
    cut(line, asked)
}

/// Whether a line is more than a mark.
fn says_something(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with("```") && !line.starts_with('#') && line.chars().any(char::is_alphanumeric)
}

fn cut(line: &str, asked: &[String]) -> String {
    if line.len() <= MOST {
        return line.to_owned();
    }
    let first = line
        .split_inclusive(' ')
        .scan(0_usize, |at, word| {
            let begins = *at;
            *at = at.saturating_add(word.len());
            Some((begins, word))
        })
        .find(|(_, word)| words(word).any(|it| asked.contains(&it.stem)));
    let begins = first.map_or(0, |(at, _)| at.saturating_sub(BEFORE));
    if begins == 0 {
        return format!("{}…", bounds::truncate(line, MOST).0);
    }
    // From the next word on.
    let (_, before) = line
        .char_indices()
        .rfind(|(at, letter)| *letter == ' ' && *at <= begins)
        .map_or((0, 0), |(at, _)| (at, at.saturating_add(1)));
    let rest = line.get(before..).unwrap_or(line);
    let (shown, is_cut) = bounds::truncate(rest, MOST);
    let end = if is_cut { "…" } else { "" };
    format!("…{shown}{end}")
}
