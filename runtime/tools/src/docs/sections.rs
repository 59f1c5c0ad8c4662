//! Sections of a page: the texts between headings.

use super::Page;

/// The text below a heading, up to the next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    /// The number of its page.
    pub(super) page: usize,
    /// The page's title and the headings down to its own.
    pub(super) headings: Vec<String>,
    /// The anchor of its heading; none for a page's beginning.
    pub(super) anchor: String,
    pub(super) text: String,
}

impl Section {
    pub(super) fn heading(&self) -> &str {
        self.headings.last().map_or("", String::as_str)
    }

    /// Returns the enclosing headings.
    pub(super) fn enclosing(&self) -> &[String] {
        self.headings
            .split_last()
            .map_or(&[], |(_, enclosing)| enclosing)
    }
}

/// A heading with the lines after it.
struct Part<'t> {
    /// The level; 0 before the first heading.
    level: usize,
    heading: &'t str,
    anchor: String,
    lines: Vec<&'t str>,
}

/// Splits a page into its sections, without empty ones.
pub(super) fn split(page: &Page, number: usize) -> Vec<Section> {
    if page.whole {
        return vec![Section {
            page: number,
            headings: vec![page.title.clone()],
            anchor: String::new(),
            text: page.text.clone(),
        }];
    }
    let mut enclosing: Vec<(usize, String)> = Vec::new();
    let mut sections = Vec::new();
    for part in parts(&page.text) {
        enclosing.retain(|(level, _)| *level < part.level);
        let is_title = plain(part.heading) == page.title;
        if part.level > 0 && !is_title {
            enclosing.push((part.level, plain(part.heading)));
        }
        let text = part.lines.join("\n").trim().to_owned();
        if text.is_empty() {
            continue;
        }
        let mut headings = vec![page.title.clone()];
        headings.extend(enclosing.iter().map(|(_, heading)| heading.clone()));
        sections.push(Section {
            page: number,
            headings,
            anchor: part.anchor,
            text,
        });
    }
    sections
}

/// Returns the lines of a text that aren't empty, each with whether it is part of an example.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let (mut is_example, mut is_open) = (false, false);
    text.lines().filter_map(move |line| {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            // Code with comments explains itself, and isn't an example.
            is_example = !is_example && !is_open && !trimmed.ends_with("jsonc");
            is_open = !is_open;
            return None;
        }
        (!trimmed.is_empty()).then_some((line, is_example))
    })
}

/// Finds the section with an anchor: its heading and everything below it.
pub(super) fn find(text: &str, anchor: &str) -> Option<String> {
    let parts = parts(text);
    let first = parts.iter().position(|part| part.anchor == anchor)?;
    let mut parts = parts.into_iter().skip(first);
    let own = parts.next()?;
    let below = parts.take_while(|part| part.level > own.level);
    let mut section = String::new();
    for part in std::iter::once(&own).chain(&below.collect::<Vec<_>>()) {
        let marks = "#".repeat(part.level);
        section.push_str(&format!("{marks} {}\n", part.heading));
        for line in &part.lines {
            section.push_str(line);
            section.push('\n');
        }
    }
    Some(section)
}

/// Splits a text at its headings. Anchors are those of Git hosts: repeated ones are numbered.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![Part {
        level: 0,
        heading: "",
        anchor: String::new(),
        lines: Vec::new(),
    }];
    let mut fence: Option<&str> = None;
    let mut used = std::collections::BTreeMap::<String, usize>::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marks = ["`", "~"].map(|mark| trimmed.len() - trimmed.trim_start_matches(mark).len());
        let is_mark = marks.iter().any(|count| *count >= 3);
        match fence {
            Some(open) if is_mark && trimmed.trim_end().starts_with(open) => {
                let rest = trimmed.trim_end().trim_start_matches(['`', '~']);
                if rest.is_empty() {
                    fence = None;
                }
            }
            None if is_mark => {
                let rest = trimmed.trim_start_matches(['`', '~']);
                fence = trimmed.strip_suffix(rest);
            }
            _ => {}
        }
        let heading = if fence.is_none() && !is_mark {
            heading(line)
        } else {
            None
        };
        if let Some((level, heading)) = heading {
            let anchor = slug(heading);
            let seen = used.entry(anchor.clone()).or_default();
            let anchor = match *seen {
                0 => anchor,
                times => format!("{anchor}-{times}"),
            };
            *seen = seen.saturating_add(1);
            parts.push(Part {
                level,
                heading,
                anchor,
                lines: Vec::new(),
            });
        } else if let Some(last) = parts.last_mut() {
            last.lines.push(line);
        }
    }
    parts
}

/// Parses `## Words` into its level and its words.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = rest.strip_prefix(' ')?;
    (1..=6).contains(&level).then_some((level, words.trim()))
}

/// Returns a heading without its marks.
pub(super) fn plain(heading: &str) -> String {
    heading.replace(['`', '*'], "")
}

/// Returns the anchor that Git hosts give a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A page\n\nIntro.\n\n## One `x`\n\ntext\n\n```md\n## no heading\n```\n\n### Deep\n\nmore\n\n## One x\n\nlast\n";

    #[test]
    fn pages_are_split_at_headings_and_not_in_fences() {
        let page = Page {
            id: "a".to_owned(),
            title: "A page".to_owned(),
            text: TEXT.to_owned(),
            whole: false,
            weight: 1.0,
            listed: false,
        };
        let found: Vec<String> = split(&page, 0)
            .iter()
            .map(|it| format!("{}#{}", it.headings.join("/"), it.anchor))
            .collect();
        assert_eq!(
            found,
            [
                "A page#a-page",
                "A page/One x#one-x",
                "A page/One x/Deep#deep",
                "A page/One x#one-x-1"
            ]
        );
    }

    #[test]
    fn a_section_has_what_is_below_it() {
        let found = find(TEXT, "one-x").unwrap();
        assert!(found.starts_with("## One `x`\n"), "{found}");
        assert!(found.contains("## no heading") && found.ends_with("more\n\n"));
        assert_eq!(find(TEXT, "one-x-1").unwrap(), "## One x\n\nlast\n");
        assert_eq!(find(TEXT, "none"), None);
    }
}
