//! Sections of a page: what stands between two headings.

use super::Page;

/// What stands below a heading, up to the next.
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

    /// The headings around it.
    pub(super) fn above(&self) -> &[String] {
        self.headings.split_last().map_or(&[], |(_, above)| above)
    }
}

/// A heading and what is behind it.
struct Part<'t> {
    /// 0 for what stands before the first heading.
    level: usize,
    heading: &'t str,
    anchor: String,
    lines: Vec<&'t str>,
}

/// The sections of a page that say something.
pub(super) fn split(page: &Page, number: usize) -> Vec<Section> {
    if page.whole {
        return vec![Section {
            page: number,
            headings: vec![page.title.clone()],
            anchor: String::new(),
            text: page.text.clone(),
        }];
    }
    let mut around: Vec<(usize, String)> = Vec::new();
    let mut sections = Vec::new();
    for part in parts(&page.text) {
        around.retain(|(level, _)| *level < part.level);
        let is_title = plain(part.heading) == page.title;
        if part.level > 0 && !is_title {
            around.push((part.level, plain(part.heading)));
        }
        let text = part.lines.join("\n").trim().to_owned();
        if text.is_empty() {
            continue;
        }
        let mut headings = vec![page.title.clone()];
        headings.extend(around.iter().map(|(_, heading)| heading.clone()));
        sections.push(Section {
            page: number,
            headings,
            anchor: part.anchor,
            text,
        });
    }
    sections
}

/// The lines of a text that say something, each with whether it is part of an example.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let (mut is_example, mut is_open) = (false, false);
    text.lines().filter_map(move |line| {
        let begun = line.trim_start();
        if begun.starts_with("```") || begun.starts_with("~~~") {
            // What has comments explains itself, and is no example.
            is_example = !is_example && !is_open && !begun.ends_with("jsonc");
            is_open = !is_open;
            return None;
        }
        (!begun.is_empty()).then_some((line, is_example))
    })
}

/// The section with an anchor: its heading and all that is below it.
pub(super) fn below(text: &str, anchor: &str) -> Option<String> {
    let parts = parts(text);
    let first = parts.iter().position(|part| part.anchor == anchor)?;
    let mut parts = parts.into_iter().skip(first);
    let own = parts.next()?;
    let below = parts.take_while(|part| part.level > own.level);
    let mut told = String::new();
    for part in std::iter::once(&own).chain(&below.collect::<Vec<_>>()) {
        let marks = "#".repeat(part.level);
        told.push_str(&format!("{marks} {}\n", part.heading));
        for line in &part.lines {
            told.push_str(line);
            told.push('\n');
        }
    }
    Some(told)
}

/// A page in parts, each with its heading. Anchors are those of Git hosts: repeated ones are numbered.
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
        let begun = line.trim_start();
        let marks = ["`", "~"].map(|mark| begun.len() - begun.trim_start_matches(mark).len());
        let is_mark = marks.iter().any(|count| *count >= 3);
        match fence {
            Some(open) if is_mark && begun.trim_end().starts_with(open) => {
                let rest = begun.trim_end().trim_start_matches(['`', '~']);
                if rest.is_empty() {
                    fence = None;
                }
            }
            None if is_mark => {
                let rest = begun.trim_start_matches(['`', '~']);
                fence = begun.strip_suffix(rest);
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

/// `## Words` as its level and its words.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = rest.strip_prefix(' ')?;
    (1..=6).contains(&level).then_some((level, words.trim()))
}

/// A heading without its marks.
pub(super) fn plain(heading: &str) -> String {
    heading.replace(['`', '*'], "")
}

/// The anchor that Git hosts give a heading.
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
        let told: Vec<String> = split(&page, 0)
            .iter()
            .map(|it| format!("{}#{}", it.headings.join("/"), it.anchor))
            .collect();
        assert_eq!(
            told,
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
        let told = below(TEXT, "one-x").unwrap();
        assert!(told.starts_with("## One `x`\n"), "{told}");
        assert!(told.contains("## no heading") && told.ends_with("more\n\n"));
        assert_eq!(below(TEXT, "one-x-1").unwrap(), "## One x\n\nlast\n");
        assert_eq!(below(TEXT, "none"), None);
    }
}
