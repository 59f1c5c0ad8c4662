//! Titles in the place of names, and the edits that declare them.
//!
//! Quotes around a name, and the labels of a flowchart's nodes (`paid["Has been paid"]`), are habits of other languages.
//! Both become a line `state "title" as name` above, and the name alone.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{LineEntry, Parser, stray_words, syntax_error};
use crate::diag::{Diagnostic, Edit};
use crate::front::mermaid::ids::is_plain_id;
use crate::front::mermaid::lex::Token;
use crate::front::mermaid::messages::slug;

/// A title in the place of a name.
struct Titled {
    /// The range of the text in which it is written.
    range: Range<usize>,
    name: String,
    title: String,
}

/// The texts in quotes of a diagram, found for the first title in the place of a name.
#[derive(Default)]
pub(super) struct Quoted<'a> {
    found: OnceCell<Texts<'a>>,
}

#[derive(Default)]
struct Texts<'a> {
    /// The first place of each text.
    first: BTreeMap<&'a str, usize>,
    /// The names that several texts would have.
    ambiguous: BTreeSet<String>,
}

impl<'a> Texts<'a> {
    fn find(text: &'a str) -> Self {
        let mut texts = Self::default();
        let mut by_name: BTreeMap<String, &str> = BTreeMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            for range in quoted(line, |_| false) {
                let inner = line.get(range.start + 1..range.end - 1).unwrap_or_default();
                texts.first.entry(inner).or_insert(start + range.start);
                let name = slug(inner);
                match by_name.get(&name) {
                    Some(other) if *other != inner => {
                        texts.ambiguous.insert(name);
                    }
                    Some(_) => {}
                    None => {
                        by_name.insert(name, inner);
                    }
                }
            }
            start += line.len();
        }
        texts
    }
}

impl Parser<'_> {
    /// Describes `"a title"` in place of a name.
    pub(super) fn quoted_name(&self, token: Token) -> Diagnostic {
        let line = self.line_range(token.start);
        let texts = self.quoted.found.get_or_init(|| Texts::find(self.text));
        let ranges = quoted(self.slice(line.clone()), |sign| sign == ':');
        let titled: Vec<Titled> = ranges
            .into_iter()
            .map(|it| line.start + it.start..line.start + it.end)
            .map(|range| {
                let title = self.raw(range.start + 1..range.end - 1);
                Titled {
                    name: slug(&title),
                    title,
                    range,
                }
            })
            .collect();
        let is_here = titled.iter().any(|it| it.range.start == token.start);
        let is_clear = titled.iter().all(|it| !texts.ambiguous.contains(&it.name));
        let edits = (is_here && is_clear).then(|| self.naming_edits(&titled));
        let span = self.span(token.start..token.end);
        let written = self.raw(token.start..token.end);
        syntax_error::quoted_name(span, &written, titled.len() > 1, edits.flatten())
    }

    /// Reports `a --> b["a title"]`, as flowcharts label nodes, and returns whether there is one.
    pub(super) fn report_node_labels(&mut self, entries: &[(LineEntry, Range<usize>)]) -> bool {
        let (Some((_, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return false;
        };
        let line = self.slice(first.start..last.end);
        let is_plain = |what: &LineEntry| !matches!(what, LineEntry::Divider | LineEntry::Other);
        if !line.contains('"') || !entries.iter().all(|(what, _)| is_plain(what)) {
            return false;
        }
        let Some((source, target)) = line.split_once("-->") else {
            return false;
        };
        let after = first.start + source.len() + "-->".len();
        let nodes = [node(source, first.start), node(target, after)];
        let titled: Vec<Titled> = nodes
            .into_iter()
            .flatten()
            .map(|(range, name, title)| Titled {
                name: self.raw(name),
                title: self.raw(title),
                range,
            })
            .collect();
        let Some(one) = titled.first() else {
            return false;
        };
        let finding = stray_words::node_label(
            self.span(one.range.clone()),
            &self.raw(one.range.clone()),
            (&one.name, &one.title),
            self.naming_edits(&titled),
        );
        let names = titled.iter().map(|it| it.name.as_str());
        let finding = finding
            .doubts(names)
            .misreads(self.span(first.start..last.end));
        self.report(finding);
        true
    }

    /// Declares the titles of a line above it, and writes the names in their places.
    ///
    /// A title that an earlier line has is declared there.
    fn naming_edits(&self, titled: &[Titled]) -> Option<Vec<Edit>> {
        let line = self.line_range(titled.first()?.range.start);
        let statement = self.trim(line.clone()).start;
        let (place, line_break) = self.insertion_of_line(statement, statement)?;
        let texts = self.quoted.found.get_or_init(|| Texts::find(self.text));
        let mut declared = BTreeSet::new();
        let mut declarations = String::new();
        let mut edits = Vec::new();
        for it in titled {
            if it.title.trim().is_empty() || !is_plain_id(&it.name) {
                return None;
            }
            let is_first = texts
                .first
                .get(it.title.as_str())
                .is_none_or(|at| *at >= line.start);
            if it.name != it.title && is_first && declared.insert(&it.title) {
                let declaration = format!("state \"{}\" as {}{line_break}", it.title, it.name);
                declarations.push_str(&declaration);
            }
            edits.push(Edit {
                span: self.span(it.range.clone()),
                text: it.name.clone(),
            });
        }
        match edits.first_mut() {
            Some(first) if first.span.start == place.start => {
                first.text.insert_str(0, &declarations);
            }
            _ if declarations.is_empty() => {}
            _ => edits.insert(
                0,
                Edit {
                    span: place,
                    text: declarations,
                },
            ),
        }
        Some(edits)
    }
}

/// Returns the ranges of a line's texts in quotes, quotes included.
///
/// The line `ends` at a sign outside of them.
fn quoted(line: &str, ends: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, sign) in line.char_indices() {
        match (sign, open) {
            ('"', None) => open = Some(at),
            ('"', Some(start)) => {
                found.push(start..at + 1);
                open = None;
            }
            (sign, None) if ends(sign) => break,
            _ => {}
        }
    }
    found
}

/// Returns the ranges of `name["title"]` in one side of a transition, of its name, and of its title.
///
/// The side begins at the offset `at`.
fn node(side: &str, at: usize) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
    let start = side.len() - side.trim_start().len();
    let open = side.find(['[', '(', '{'])?;
    let name = side.get(start..open)?.trim_end();
    let (signs, rest) = side.get(open..)?.split_once('"')?;
    let (title, after) = rest.split_once('"')?;
    let tail = after.trim_start_matches([']', ')', '}', '/', '\\']);
    let is_node = !name.is_empty()
        && signs.chars().all(|sign| "[({/\\".contains(sign))
        && tail.len() < after.len()
        && (tail.trim().is_empty() || tail.trim_start().starts_with(':'));
    let title_at = open + signs.len() + 1;
    let end = side.len() - tail.len();
    let place = |range: Range<usize>| at + range.start..at + range.end;
    is_node.then(|| {
        (
            place(start..end),
            place(start..start + name.len()),
            place(title_at..title_at + title.len()),
        )
    })
}
