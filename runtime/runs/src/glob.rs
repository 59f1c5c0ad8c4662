//! Patterns of paths: `*` is anything but `/`, `**` anything at all, `?` one character but `/`. All else is itself, and case counts.

/// Whether a path is one that the pattern means. Takes time in proportion to both, multiplied.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<Part> = parts(pattern);
    let path: Vec<char> = path.strip_prefix("./").unwrap_or(path).chars().collect();
    // `reached` holds for each number of characters whether the parts so far can have used up as many.
    let mut reached = vec![false; path.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for part in &pattern {
        let mut next = vec![false; path.len() + 1];
        let mut open = false;
        for at in 0..=path.len() {
            let here = reached.get(at).copied().unwrap_or_default();
            let before = at.checked_sub(1).and_then(|it| path.get(it)).copied();
            let used = at.checked_sub(1).and_then(|it| reached.get(it)).copied();
            let used = used.unwrap_or_default();
            let found = match part {
                Part::Letter(letter) => used && before == Some(*letter),
                Part::Any => used && before.is_some_and(|it| it != '/'),
                Part::Name => {
                    open = here || (open && before.is_some_and(|it| it != '/'));
                    open
                }
                Part::Path => {
                    open |= here;
                    open
                }
                // Whole folders: nothing, or anything that ends with a slash.
                Part::Folders => {
                    let found = here || (open && before == Some('/'));
                    open |= here;
                    found
                }
            };
            if let Some(slot) = next.get_mut(at) {
                *slot = found;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

enum Part {
    Letter(char),
    /// `?`
    Any,
    /// `*`
    Name,
    /// `**`
    Path,
    /// `**/`
    Folders,
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    while let Some(first) = rest.chars().next() {
        let starts = matches!(parts.last(), None | Some(Part::Letter('/') | Part::Folders));
        let (part, behind) = if let Some(behind) = rest.strip_prefix("**/").filter(|_| starts) {
            (Part::Folders, behind)
        } else if let Some(behind) = rest.strip_prefix("**") {
            (Part::Path, behind)
        } else {
            let behind = rest.get(first.len_utf8()..).unwrap_or_default();
            let part = match first {
                '*' => Part::Name,
                '?' => Part::Any,
                letter => Part::Letter(letter),
            };
            (part, behind)
        };
        parts.push(part);
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_mean_paths() {
        let yes = [
            ("**/*.rs", "a.rs"),
            ("**/*.rs", "src/deep/a.rs"),
            ("src/**/x.rs", "src/x.rs"),
            ("src/**/x.rs", "src/a/b/x.rs"),
            ("src/**", "src/a/b"),
            ("*.sql", "schema.sql"),
            ("./db/*.sql", "db/a.sql"),
            ("?.rs", "é.rs"),
            ("a**b", "a/x/b"),
            ("", ""),
        ];
        for (pattern, path) in yes {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        let no = [
            ("*.sql", "db/schema.sql"),
            ("src/**/x.rs", "src/ax.rs"),
            ("src/**/x.rs", "lib/src/x.rs"),
            ("?.rs", "/.rs"),
            ("*.SQL", "a.sql"),
            ("a", "ab"),
            ("", "a"),
        ];
        for (pattern, path) in no {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
        let long = "*".repeat(2_000);
        assert!(!matches(&format!("{long}a"), &"b".repeat(2_000)));
    }
}
