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

/// Reports whether a glob matches some path that begins with a text.
///
/// Takes time as [`matches_path`] does.
pub(crate) fn may_match_after(glob: &str, beginning: &str) -> bool {
    let beginning = beginning.strip_prefix("./").unwrap_or(beginning);
    // The rest of the parts matches something, whatever they are.
    run(&path_parts(glob), beginning).any(|it| it.is_inside)
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
    run(parts, text).last().is_some_and(|it| it.is_end)
}

/// The end of a text, as the first parts of a glob reach it.
struct Reached {
    /// True if they match all of it.
    is_end: bool,
    /// True if they match all of it, or something longer that begins so.
    is_inside: bool,
}

/// Follows the parts of a glob through a text, from none of them on.
fn run<'p>(parts: &'p [Part], text: &str) -> impl Iterator<Item = Reached> + 'p {
    let text: Vec<char> = text.chars().collect();
    // Says of each number of characters whether the parts so far can match as many.
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    let none = Reached {
        is_end: text.is_empty(),
        is_inside: text.is_empty(),
    };
    let rest = parts.iter().map(move |part| {
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
        let is_end = reached.last().copied().unwrap_or_default();
        Reached {
            is_end,
            // A folder that has begun may end beyond the text.
            is_inside: is_end || (is_open && matches!(part, Part::Folders)),
        }
    });
    std::iter::once(none).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::{matches_name, matches_path, may_match_after};

    #[test]
    fn patterns_reach_below_what_they_may_go_on_from() {
        for (pattern, beginning, expected) in [
            ("secret/**", "secret/", true),
            ("secret/**", "", true),
            ("secret/**", "secre", true),
            ("secret/**", "secret/a/", true),
            ("secret/**", "src/", false),
            ("secret/**", "secrets/", false),
            ("secret/*", "secret/a", true),
            ("secret/*", "secret/a/", false),
            ("**/.env", "src", true),
            ("**/.env", "src/", true),
            ("*.rs", "src", true),
            ("*.rs", "src/", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(
                may_match_after(pattern, beginning),
                expected,
                "{pattern} {beginning}"
            );
        }
    }

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
