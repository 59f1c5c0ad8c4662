//! Globs over paths and names.
//!
//! In a path `*` matches anything but `/`, `**` anything at all, `**/` whole folders or none, and `?` one character but `/`.
//! In a name `*` matches anything and `?` one character. Every other character is itself, and case matters.
//!
//! Why not a library: in definitions that are in use `[`, `{` and `\` are themselves, and `a**b` matches across folders.

/// Reports whether a path matches a glob. Takes time in proportion to the product of their lengths.
pub(crate) fn matches_path(glob: &str, path: &str) -> bool {
    matches(&path_parts(glob), path.strip_prefix("./").unwrap_or(path))
}

/// Reports whether a name matches a glob. Takes time in proportion to the product of their lengths.
pub(crate) fn matches_name(glob: &str, name: &str) -> bool {
    let part = |letter: char| match letter {
        '*' => Part::Anything,
        '?' => Part::Character,
        letter => Part::Letter(letter),
    };
    let parts: Vec<Part> = glob.chars().map(part).collect();
    matches(&parts, name)
}

/// Reports whether a glob over names is a name, which it matches alone.
pub(crate) fn is_name(glob: &str) -> bool {
    !glob.contains(['*', '?'])
}

/// A part of a glob.
enum Part {
    /// A character that is itself.
    Letter(char),
    /// One character.
    Character,
    /// One character but `/`.
    InFolder,
    /// Any number of characters but `/`.
    Name,
    /// Any number of characters.
    Anything,
    /// Whole folders: nothing, or anything that ends with `/`.
    Folders,
}

fn path_parts(glob: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = glob.strip_prefix("./").unwrap_or(glob);
    while let Some(first) = rest.chars().next() {
        let begins_name = matches!(parts.last(), None | Some(Part::Letter('/') | Part::Folders));
        let (part, length) = match first {
            '*' if begins_name && rest.starts_with("**/") => (Part::Folders, 3),
            '*' if rest.starts_with("**") => (Part::Anything, 2),
            '*' => (Part::Name, 1),
            '?' => (Part::InFolder, 1),
            letter => (Part::Letter(letter), letter.len_utf8()),
        };
        parts.push(part);
        rest = rest.get(length..).unwrap_or_default();
    }
    parts
}

fn matches(parts: &[Part], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // Says of each number of characters whether the parts so far can match as many.
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for part in parts {
        let mut next = vec![false; text.len() + 1];
        let mut is_open = false;
        for (at, slot) in next.iter_mut().enumerate() {
            let here = reached.get(at).copied().unwrap_or_default();
            let before = at.checked_sub(1).and_then(|it| text.get(it)).copied();
            let previous = at.checked_sub(1).and_then(|it| reached.get(it)).copied();
            let previous = previous.unwrap_or_default();
            *slot = match part {
                Part::Letter(letter) => previous && before == Some(*letter),
                Part::Character => previous,
                Part::InFolder => previous && before != Some('/'),
                Part::Name => {
                    is_open = here || (is_open && before != Some('/'));
                    is_open
                }
                Part::Anything => {
                    is_open |= here;
                    is_open
                }
                Part::Folders => {
                    let is_folder = here || (is_open && before == Some('/'));
                    is_open |= here;
                    is_folder
                }
            };
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{matches_name, matches_path};

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
            assert!(matches_path(pattern, path), "{pattern} {path}");
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
            assert!(!matches_path(pattern, path), "{pattern} {path}");
        }
        assert!(matches_name("a*d", "a/b/c/d") && matches_name("?", "/"));
        assert!(!matches_name("a*d", "a/b") && !matches_name("a[b]", "ab"));
        let long = "*".repeat(2_000);
        assert!(!matches_path(&format!("{long}a"), &"b".repeat(2_000)));
    }
}
