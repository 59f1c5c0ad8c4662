//! Suggestions for misspelled names.

/// Returns the candidate that a misspelled name was meant to be, if one is near enough.
///
/// Near enough: it differs only in case, `-` and `_`, or by at most a third of the name's letters. Only the first 64
/// characters of each are compared.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = |text: &str| -> String { text.to_lowercase().replace(['-', ' '], "_") };
    let wanted: Vec<char> = plain(name).chars().take(64).collect();
    let most = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| {
            let letters: Vec<char> = plain(candidate).chars().take(64).collect();
            (distance(&wanted, &letters), candidate)
        })
        .filter(|&(far, _)| far <= most)
        .min_by_key(|&(far, _)| far)
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two words: insertions, deletions, replacements and swaps of neighbors.
///
/// Algorithm: Damerau and Levenshtein's distance, restricted (optimal string alignment).
#[must_use]
pub fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &to) in b.iter().enumerate() {
            let at =
                |list: &[usize], index: usize| list.get(index).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&last, j) + usize::from(from != to);
            let mut best = replaced.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped =
                i > 0 && j > 0 && b.get(j - 1) == Some(&from) && a.get(i - 1) == Some(&to);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_or_absent() {
        let names = ["planning", "implementing", "testing"];
        assert_eq!(nearest("planing", names), Some("planning"));
        assert_eq!(nearest("Testing", names), Some("testing"));
        assert_eq!(nearest("tesitng", names), Some("testing"));
        assert_eq!(nearest("shipping", names), None);
        assert_eq!(nearest("plan", names), None);
        assert_eq!(nearest("", names), None);
    }
}
