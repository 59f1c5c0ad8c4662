//! Whether the sections of a document are there, in order, and as their rules say.

use std::collections::BTreeMap;

use super::json;
use super::markdown::{Document, Heading, What};
use super::place::Findings;
use super::rule::{Content, Rule};

/// Checks all sections.
pub(super) fn check(
    text: &str,
    document: &Document,
    rules: &[Rule],
    closed: bool,
    findings: &mut Findings<'_>,
) {
    let places: Vec<Vec<usize>> = rules.iter().map(|rule| of(document, rule)).collect();
    let at = |index: usize| document.headings.get(index).map_or(text.len(), |it| it.at);
    let mut last: Option<(usize, &Rule)> = None;
    for (number, (rule, found)) in rules.iter().zip(&places).enumerate() {
        let name = rule.heading.trim();
        let Some((&first, others)) = found.split_first() else {
            if !rule.optional {
                let place = next(&places, number).map_or(text.len(), at);
                missing(rule, last, place, findings);
            }
            continue;
        };
        for other in others {
            let (line, _) = findings.place(at(first));
            let help = format!("the first is on line {line}: make one of them");
            findings.add(
                at(*other),
                format!("there are two sections `{name}`"),
                Some(help),
            );
        }
        match last {
            Some((before, other)) if first < before => {
                let other = other.heading.trim();
                let what = format!("section `{name}` stands before `{other}`");
                findings.add(at(first), what, Some(format!("move it behind `{other}`")));
            }
            _ => last = Some((first, rule)),
        }
        Section::new(text, document, first).check(rule, findings);
    }
    if closed {
        others(document, rules, &places, findings);
    }
}

/// The headings that a rule is of.
fn of(document: &Document, rule: &Rule) -> Vec<usize> {
    let headings = document.headings.iter().enumerate();
    let own = headings
        .filter(|(_, it)| rule.is_of(&it.text) && rule.level.is_none_or(|level| level == it.level));
    own.map(|(index, _)| index).collect()
}

/// The first heading of a rule behind one.
fn next(found: &[Vec<usize>], number: usize) -> Option<usize> {
    let mut behind = found.iter().skip(number + 1);
    behind.find_map(|found| found.first().copied())
}

fn missing(rule: &Rule, last: Option<(usize, &Rule)>, at: usize, findings: &mut Findings<'_>) {
    let name = rule.heading.trim();
    let marks = "#".repeat(rule.level.unwrap_or(2).into());
    let behind = last.map_or_else(String::new, |(_, it)| {
        format!(", behind `{}`", it.heading.trim())
    });
    let words = rule.description.as_ref();
    let words = words.map_or_else(String::new, |it| format!(": {it}"));
    let help = format!("add `{marks} {name}`{behind}{words}");
    findings.add(at, format!("section `{name}` is missing"), Some(help));
}

/// Sections that no rule is of, on the level of those that one is.
fn others(document: &Document, rules: &[Rule], found: &[Vec<usize>], findings: &mut Findings<'_>) {
    let heading = |index: &usize| document.headings.get(*index);
    let levels = found
        .iter()
        .flatten()
        .filter_map(heading)
        .map(|it| it.level);
    let Some(level) = levels.min() else { return };
    let names: Vec<String> = rules
        .iter()
        .map(|rule| format!("`{}`", rule.heading.trim()))
        .collect();
    for (index, other) in document.headings.iter().enumerate() {
        let is_known = found.iter().any(|found| found.contains(&index));
        if other.level == level && !is_known {
            let what = format!("no section `{}` is expected", other.text.trim());
            let help = format!(
                "there are only {}: put it into one of them",
                names.join(", ")
            );
            findings.add(other.at, what, Some(help));
        }
    }
}

/// A section: what stands from its heading to the next of its level.
struct Section<'d> {
    text: &'d str,
    document: &'d Document,
    heading: &'d Heading,
    /// Its subsections' headings.
    below: Vec<&'d Heading>,
    end: usize,
}

impl<'d> Section<'d> {
    fn new(text: &'d str, document: &'d Document, index: usize) -> Self {
        static NONE: Heading = Heading {
            level: 0,
            text: String::new(),
            at: 0,
        };
        let heading = document.headings.get(index).unwrap_or(&NONE);
        let behind = document.headings.iter().skip(index + 1);
        let below: Vec<&Heading> = behind.take_while(|it| it.level > heading.level).collect();
        let next = document.headings.get(index + 1 + below.len());
        Self {
            end: next.map_or(text.len(), |it| it.at),
            text,
            document,
            heading,
            below,
        }
    }

    /// What stands in it.
    fn parts(&self) -> impl Iterator<Item = (&'d What, usize)> {
        let parts = &self.document.parts;
        let from = parts.partition_point(|part| part.at < self.heading.at);
        let parts = parts.iter().skip(from);
        let parts = parts.take_while(|part| part.at < self.end);
        parts.map(|part| (&part.what, part.at))
    }

    /// Where it has something of a kind.
    fn has(&self, content: Content) -> Option<usize> {
        let is = |what: &What| match what {
            What::Is(found) => *found == content,
            What::Json(_) => content == Content::Json,
            What::Item => false,
        };
        self.parts().find(|(what, _)| is(what)).map(|(_, at)| at)
    }

    fn check(&self, rule: &Rule, findings: &mut Findings<'_>) {
        let name = rule.heading.trim();
        for content in &rule.contains {
            if self.has(*content).is_none() {
                let what = match content {
                    Content::Text => format!("section `{name}` is empty"),
                    other => format!("section `{name}` has no {}", other.name()),
                };
                findings.add(self.heading.at, what, Some(content.help().to_owned()));
            }
        }
        for content in &rule.forbids {
            if let Some(at) = self.has(*content) {
                let what = format!("section `{name}` mustn't have {} in it", content.one());
                findings.add(
                    at,
                    what,
                    Some("write it differently, or remove it".to_owned()),
                );
            }
        }
        for words in &rule.forbids_text {
            if let Some(at) = self.says(words) {
                let what = format!("`{words}` mustn't stand in section `{name}`");
                let help = "write what is meant, or remove it".to_owned();
                findings.add(at, what, Some(help));
            }
        }
        if rule.ids || rule.min_items.is_some() || rule.max_items.is_some() {
            self.entries(rule, findings);
        }
        if let Some(schema) = &rule.schema {
            for (what, _) in self.parts() {
                if let What::Json(excerpt) = what {
                    json::check(excerpt, Some(schema), findings);
                }
            }
        }
    }

    /// Where it has words, written with or without capitals.
    fn says(&self, words: &str) -> Option<usize> {
        let own = self.text.get(self.heading.at..self.end)?;
        if words.is_empty() {
            return None;
        }
        let found = own.char_indices().find(|(at, _)| {
            let rest = own.get(*at..).unwrap_or_default();
            let mut rest = rest.chars().flat_map(char::to_lowercase);
            let mut words = words.chars().flat_map(char::to_lowercase);
            words.all(|wanted| rest.next() == Some(wanted))
        });
        found.map(|(at, _)| self.heading.at + at)
    }

    /// Its entries: how many there are, and whether each has an id.
    fn entries(&self, rule: &Rule, findings: &mut Findings<'_>) {
        let name = rule.heading.trim();
        let entries: Vec<(usize, Option<&str>)> = match self.below.first() {
            Some(first) => {
                let own = self.below.iter().filter(|it| it.level == first.level);
                own.map(|it| (it.at, id(&it.text))).collect()
            }
            None => {
                let items = self.parts().filter(|(what, _)| matches!(what, What::Item));
                items.map(|(_, at)| (at, item(self.text, at))).collect()
            }
        };
        let count = entries.len();
        if rule.min_items.is_some_and(|least| count < least) {
            let least = rule.min_items.unwrap_or_default();
            let entries = if count == 1 { "entry" } else { "entries" };
            let what = format!("section `{name}` has {count} {entries}; it needs at least {least}");
            let help = "an entry is an item of a list or a subsection: add one".to_owned();
            findings.add(self.heading.at, what, Some(help));
        }
        if let Some(most) = rule.max_items
            && let Some((at, _)) = entries.get(most)
        {
            let what = format!("section `{name}` has {count} entries; most are {most}");
            findings.add(
                *at,
                what,
                Some("leave some out, or make one of several".to_owned()),
            );
        }
        let mut known: BTreeMap<&str, u64> = BTreeMap::new();
        for (at, id) in entries.into_iter().filter(|_| rule.ids) {
            let Some(id) = id else {
                let help = "begin it with one in brackets, such as `[S1]`".to_owned();
                findings.add(at, "the entry has no id", Some(help));
                continue;
            };
            let (line, _) = findings.place(at);
            if let Some(first) = known.get(id) {
                let help = format!("line {first} has it already: give this one another");
                findings.add(at, format!("the id `{id}` stands twice"), Some(help));
            } else {
                known.insert(id, line);
            }
        }
    }
}

/// The id of an item of a list that begins there.
fn item(text: &str, at: usize) -> Option<&str> {
    let line = text.get(at..)?.lines().next()?.trim_start();
    let digits = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let rest = digits.strip_prefix(['-', '*', '+', '.', ')'])?.trim_start();
    let boxes = ["[ ]", "[x]", "[X]"];
    let unboxed = boxes.iter().find_map(|it| rest.strip_prefix(it));
    id(unboxed.unwrap_or(rest))
}

/// What stands in the brackets that a text begins with, if it can be an id.
fn id(text: &str) -> Option<&str> {
    let (id, _) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let begins = id.starts_with(|it: char| it.is_ascii_alphabetic());
    (begins && id.chars().all(is_plain)).then_some(id)
}
