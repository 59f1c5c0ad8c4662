//! Checks of a document's sections: presence, order, and their rules.

use std::collections::{BTreeMap, BTreeSet};

use statemark_text::shorten::shorten;

use super::findings::{Findings, MAX_CHARACTERS};
use super::json;
use super::markdown::{Document, Heading, PartKind};
use super::rule::{Content, Rule, plain_heading};

/// Checks all sections.
pub(super) fn check(
    text: &str,
    document: &Document,
    rules: &[Rule],
    closed: bool,
    findings: &mut Findings<'_>,
) {
    let headings = matching_headings(document, rules);
    let next = next_headings(&headings);
    let offset = |index: usize| document.headings.get(index).map_or(text.len(), |it| it.at);
    let mut last: Option<(usize, &Rule)> = None;
    for ((rule, matching), next) in rules.iter().zip(&headings).zip(next) {
        let name = rule.heading.trim();
        let Some((&first, others)) = matching.split_first() else {
            if !rule.optional {
                let at = next.map_or(text.len(), offset);
                report_missing(rule, last, at, findings);
            }
            continue;
        };
        for other in others {
            let (line, _) = findings.location(offset(first));
            let help = format!("the first is on line {line}: make one of them");
            findings.add(
                offset(*other),
                format!("there are two sections `{name}`"),
                Some(help),
            );
        }
        match last {
            Some((before, other)) if first < before => {
                let other = other.heading.trim();
                let what = format!("section `{name}` stands before `{other}`");
                let help = format!("move it behind `{other}`");
                findings.add(offset(first), what, Some(help));
            }
            _ => last = Some((first, rule)),
        }
        Section::new(text, document, first).check(rule, findings);
    }
    if closed {
        report_unexpected(document, rules, &headings, findings);
    }
}

/// Returns the headings of the document that each rule is for.
fn matching_headings(document: &Document, rules: &[Rule]) -> Vec<Vec<usize>> {
    let mut by_text: BTreeMap<String, Vec<(usize, u8)>> = BTreeMap::new();
    for (index, heading) in document.headings.iter().enumerate() {
        let same = by_text.entry(plain_heading(&heading.text)).or_default();
        same.push((index, heading.level));
    }
    let matching = rules.iter().map(|rule| {
        let same = by_text.get(&plain_heading(&rule.heading));
        let same = same.into_iter().flatten();
        let matching = same.filter(|(_, actual)| rule.level.is_none_or(|level| level == *actual));
        matching.map(|(index, _)| *index).collect()
    });
    matching.collect()
}

/// Returns, for each rule, the first heading of the next rule that has one.
fn next_headings(headings: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut next = None;
    let from_last = headings.iter().rev().map(|matching| {
        let own = matching.first().copied().or(next);
        std::mem::replace(&mut next, own)
    });
    let mut all: Vec<Option<usize>> = from_last.collect();
    all.reverse();
    all
}

fn report_missing(
    rule: &Rule,
    last: Option<(usize, &Rule)>,
    at: usize,
    findings: &mut Findings<'_>,
) {
    let name = rule.heading.trim();
    let marks = "#".repeat(rule.level.unwrap_or(2).into());
    let after = last.map_or_else(String::new, |(_, rule)| {
        format!(", behind `{}`", rule.heading.trim())
    });
    let words = rule.description.as_ref();
    let words = words.map_or_else(String::new, |it| format!(": {it}"));
    let help = format!("add `{marks} {name}`{after}{words}");
    findings.add(at, format!("section `{name}` is missing"), Some(help));
}

/// Reports sections without a rule, on the highest level of those with one.
fn report_unexpected(
    document: &Document,
    rules: &[Rule],
    matching: &[Vec<usize>],
    findings: &mut Findings<'_>,
) {
    let heading = |index: &usize| document.headings.get(*index);
    let levels = matching
        .iter()
        .flatten()
        .filter_map(heading)
        .map(|it| it.level);
    let Some(level) = levels.min() else { return };
    let known: BTreeSet<usize> = matching.iter().flatten().copied().collect();
    let names: Vec<String> = rules
        .iter()
        .map(|rule| format!("`{}`", rule.heading.trim()))
        .collect();
    let names = names.join(", ");
    let help = format!("there are only {names}: put it into one of them");
    // Many sections may say it, and it names every rule.
    let help = shorten(&help, MAX_CHARACTERS);
    for (index, other) in document.headings.iter().enumerate() {
        if other.level == level && !known.contains(&index) {
            let what = format!("no section `{}` is expected", other.text.trim());
            findings.add(other.at, what, Some(help.clone()));
        }
    }
}

/// A section: from its heading to the next of its level.
struct Section<'d> {
    text: &'d str,
    document: &'d Document,
    heading: &'d Heading,
    /// The headings of its subsections.
    subheadings: Vec<&'d Heading>,
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
        let later = document.headings.iter().skip(index + 1);
        let subheadings: Vec<&Heading> = later.take_while(|it| it.level > heading.level).collect();
        let next = document.headings.get(index + 1 + subheadings.len());
        Self {
            end: next.map_or(text.len(), |it| it.at),
            text,
            document,
            heading,
            subheadings,
        }
    }

    /// Returns its parts, each with its offset.
    fn parts(&self) -> impl Iterator<Item = (&'d PartKind, usize)> {
        let parts = &self.document.parts;
        let from = parts.partition_point(|part| part.at < self.heading.at);
        let parts = parts.iter().skip(from);
        let parts = parts.take_while(|part| part.at < self.end);
        parts.map(|part| (&part.kind, part.at))
    }

    /// Returns the offset of its first content of a kind.
    fn find(&self, content: Content) -> Option<usize> {
        let is = |kind: &PartKind| match kind {
            PartKind::Content(actual) => *actual == content,
            PartKind::Json(_) => content == Content::Json,
            PartKind::Item => false,
        };
        self.parts().find(|(kind, _)| is(kind)).map(|(_, at)| at)
    }

    fn check(&self, rule: &Rule, findings: &mut Findings<'_>) {
        let name = rule.heading.trim();
        for content in &rule.contains {
            if self.find(*content).is_none() {
                let what = match content {
                    Content::Text => format!("section `{name}` is empty"),
                    other => format!("section `{name}` has no {}", other.name()),
                };
                findings.add(self.heading.at, what, Some(content.help().to_owned()));
            }
        }
        for content in &rule.forbids {
            if let Some(at) = self.find(*content) {
                let kind = content.with_article();
                let what = format!("section `{name}` mustn't have {kind} in it");
                findings.add(
                    at,
                    what,
                    Some("write it differently, or remove it".to_owned()),
                );
            }
        }
        for words in &rule.forbids_text {
            if let Some(at) = self.find_words(words) {
                let what = format!("`{words}` mustn't stand in section `{name}`");
                let help = "write what is meant, or remove it".to_owned();
                findings.add(at, what, Some(help));
            }
        }
        if rule.ids || rule.min_items.is_some() || rule.max_items.is_some() {
            self.check_entries(rule, findings);
        }
        if let Some(schema) = &rule.schema {
            for (kind, _) in self.parts() {
                if let PartKind::Json(excerpt) = kind {
                    json::check(excerpt, Some(schema), findings);
                }
            }
        }
    }

    /// Returns the offset of some words in it, regardless of case.
    fn find_words(&self, words: &str) -> Option<usize> {
        let own = self.text.get(self.heading.at..self.end)?;
        if words.is_empty() {
            return None;
        }
        let position = own.char_indices().find(|(at, _)| {
            let rest = own.get(*at..).unwrap_or_default();
            let mut rest = rest.chars().flat_map(char::to_lowercase);
            let mut words = words.chars().flat_map(char::to_lowercase);
            words.all(|wanted| rest.next() == Some(wanted))
        });
        position.map(|(at, _)| self.heading.at + at)
    }

    /// Checks the number of its entries, and their ids.
    fn check_entries(&self, rule: &Rule, findings: &mut Findings<'_>) {
        let name = rule.heading.trim();
        let entries: Vec<(usize, Option<&str>)> = match self.subheadings.first() {
            Some(first) => {
                let direct = self.subheadings.iter().filter(|it| it.level == first.level);
                direct.map(|it| (it.at, parse_id(&it.text))).collect()
            }
            None => {
                let items = self.parts();
                let items = items.filter(|(kind, _)| matches!(kind, PartKind::Item));
                items.map(|(_, at)| (at, item_id(self.text, at))).collect()
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
            let (line, _) = findings.location(at);
            if let Some(first) = known.get(id) {
                let help = format!("line {first} has it already: give this one another");
                findings.add(at, format!("the id `{id}` stands twice"), Some(help));
            } else {
                known.insert(id, line);
            }
        }
    }
}

/// Returns the id of the list item at an offset.
fn item_id(text: &str, at: usize) -> Option<&str> {
    let line = text.get(at..)?.lines().next()?.trim_start();
    let digits = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let rest = digits.strip_prefix(['-', '*', '+', '.', ')'])?.trim_start();
    let boxes = ["[ ]", "[x]", "[X]"];
    let unboxed = boxes.iter().find_map(|it| rest.strip_prefix(it));
    parse_id(unboxed.unwrap_or(rest))
}

/// Parses an id in brackets at the beginning of a string.
fn parse_id(text: &str) -> Option<&str> {
    let (id, _) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let begins = id.starts_with(|it: char| it.is_ascii_alphabetic());
    (begins && id.chars().all(is_plain)).then_some(id)
}
