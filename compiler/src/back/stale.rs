//! Generated files that are checked in, held against what their spec makes now.
//!
//! A file is what its spec makes, or [`compare`] says in what it departs: a table by its parts, a text by its lines. Line
//! ends are left to whoever checks files out.

use std::fmt;

use statemark_runtime::{Part, decode};

use super::table;

/// Most characters of a line that are shown.
const MAX_SHOWN: usize = 80;

/// The way in which a file departs from what its spec makes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stale {
    /// There is no such file.
    Missing,
    /// Nothing but the first line differs, which has the hash of the machine's table.
    Head,
    /// Lines differ.
    Lines {
        /// The number of the first line that differs, from 1.
        line: usize,
        /// The line in the file; none if it ends before.
        found: Option<String>,
        /// The line as the spec makes it; none if it ends before.
        made: Option<String>,
        /// The number of lines from there to the last that differs, in what the spec makes.
        count: usize,
    },
    /// Parts of a table differ: `behavior`, `texts` or `policy`.
    Parts(Vec<&'static str>),
    /// The bytes differ, and the file is no table that can be read.
    Bytes,
}

/// Compares a file with what its spec makes. Returns `None` if it is that.
#[must_use]
pub fn compare(found: Option<&[u8]>, made: &[u8]) -> Option<Stale> {
    let Some(found) = found else {
        return Some(Stale::Missing);
    };
    if found == made {
        return None;
    }
    match (str::from_utf8(found), str::from_utf8(made)) {
        (Ok(found), Ok(made)) => compare_lines(found, made),
        _ => Some(compare_tables(found, made)),
    }
}

fn compare_lines(found: &str, made: &str) -> Option<Stale> {
    let (found, made): (Vec<_>, Vec<_>) = (found.lines().collect(), made.lines().collect());
    if found == made {
        return None;
    }
    // The hash in the first line differs whenever anything does.
    let is_generated = |lines: &[&str]| {
        lines
            .first()
            .is_some_and(|line| line.starts_with("// @generated"))
    };
    let skipped = usize::from(is_generated(&found) && is_generated(&made));
    let found = found.get(skipped..).unwrap_or_default();
    let made = made.get(skipped..).unwrap_or_default();
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let first = same(&mut found.iter().zip(made));
    if first == found.len() && first == made.len() {
        return Some(Stale::Head);
    }
    let rest = found.len().min(made.len()) - first;
    let last = same(&mut found.iter().rev().zip(made.iter().rev()).take(rest));
    let shown = |lines: &[&str]| {
        let line = lines.get(first)?.trim();
        Some(line.chars().take(MAX_SHOWN).collect())
    };
    Some(Stale::Lines {
        line: first + skipped + 1,
        found: shown(found),
        made: shown(made),
        count: made.len() - first - last,
    })
}

fn compare_tables(found: &[u8], made: &[u8]) -> Stale {
    let (Ok(found), Ok(made)) = (decode(found), decode(made)) else {
        return Stale::Bytes;
    };
    let parts = [
        (Part::Behavior, "behavior"),
        (Part::Texts, "texts"),
        (Part::Policy, "policy"),
    ];
    let differs = |part| table::part_hash(&found, part) != table::part_hash(&made, part);
    let parts = parts.into_iter().filter(|&(part, _)| differs(part));
    let parts: Vec<_> = parts.map(|(_, name)| name).collect();
    if parts.is_empty() {
        Stale::Bytes
    } else {
        Stale::Parts(parts)
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("missing"),
            Self::Head => out.write_str(
                "stale: the machine's table has changed, and nothing of it that the file shows",
            ),
            Self::Lines {
                line,
                found,
                made,
                count,
            } => {
                match (found, made) {
                    (Some(found), Some(made)) => {
                        write!(
                            out,
                            "stale from line {line} on: it has `{found}`, the spec makes `{made}`"
                        )?;
                    }
                    (None, Some(made)) => {
                        write!(
                            out,
                            "stale: it ends before line {line}, the spec makes `{made}`"
                        )?;
                    }
                    _ => return write!(out, "stale: the spec makes nothing from line {line} on"),
                }
                if *count > 1 {
                    write!(out, " ({count} lines)")?;
                }
                Ok(())
            }
            Self::Parts(parts) => write!(
                out,
                "stale: the machine has changed in {}",
                parts.join(", ")
            ),
            Self::Bytes => out.write_str("stale: its bytes are others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(found: &str, made: &str) -> String {
        let stale = compare(Some(found.as_bytes()), made.as_bytes());
        stale.map_or_else(String::new, |stale| stale.to_string())
    }

    #[test]
    fn lines_that_differ_are_told() {
        assert_eq!(said("a\nb\n", "a\nb\n"), "");
        assert_eq!(said("a\r\nb\r\n", "a\nb\n"), "");
        assert_eq!(
            said("a\nb\nc\n", "a\nx\ny\nc\n"),
            "stale from line 2 on: it has `b`, the spec makes `x` (2 lines)"
        );
        assert_eq!(
            said("a\n", "a\nb\n"),
            "stale: it ends before line 2, the spec makes `b`"
        );
        assert_eq!(
            said("a\nb\n", "a\n"),
            "stale: the spec makes nothing from line 2 on"
        );
        assert_eq!(
            said("a\na\n", "a\n"),
            "stale: the spec makes nothing from line 2 on"
        );
        let head = |hash: &str| format!("// @generated {hash}\na\n");
        assert!(said(&head("1"), &head("2")).contains("nothing of it"));
        assert_eq!(compare(None, b""), Some(Stale::Missing));
    }
}
