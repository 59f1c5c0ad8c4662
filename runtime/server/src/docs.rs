//! Documentation that can be searched: pages that whoever starts a server hands in, and one for each workflow.
//!
//! Pages are split at their headings; each section is a document of its own to the index, where words of headings count
//! several times. Identifiers and codes are found as they are written.
//!
//! Deliberately not here: meaning. Who asks in other words than the pages use may find nothing.

mod ranking;
mod sections;
mod snippet;
mod words;
mod workflows;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::problem::Problem;

use sections::Section;
use words::words;
pub(crate) use workflows::page as workflow_page;

/// The beginning of the addresses of pages.
pub(crate) const SCHEME: &str = "statemark://docs/";

/// How often a word of a section's own heading counts, and one of the headings above it. Why: a heading is a summary.
const OWN_HEADING: f64 = 4.0;
const HEADING_ABOVE: f64 = 2.0;

/// How often a word of an example counts. Why: an example is full of words that it isn't about.
const EXAMPLE: f64 = 0.3;

/// Longest question. Unit: bytes. Why: a question, not a document.
const MAX_QUERY: usize = 1_000;

/// Most sections that a call gives.
const MAX_SECTIONS: usize = 25;

/// A page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its place among the pages, such as `readme` or `SM304`.
    pub id: String,
    /// Its title; that of its first heading, usually.
    pub title: String,
    /// What is in it: Markdown.
    pub text: String,
    /// Whether it is found as a whole; else section by section.
    pub whole: bool,
    /// How much it counts beside the others; a page for newcomers counts 1. One that counts nothing isn't found by searching.
    pub weight: f64,
    /// Whether it stands in the list of what can be read; the others are found by searching, or named by one of these.
    pub listed: bool,
}

/// A section that answers a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The headings down to it.
    pub title: String,
    /// The page.
    pub page: String,
    /// Where the whole section can be read.
    pub uri: String,
    /// What is around the words that were asked for.
    pub snippet: String,
    /// How well it answers; only the order means something.
    pub score: f64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: usize,
    /// Words that nothing has, each with the one that was looked for instead.
    pub meant: BTreeMap<String, String>,
}

/// A word of the index.
#[derive(Default)]
struct Term {
    /// As it is written somewhere.
    sample: String,
    /// The sections that have it, and how often.
    places: BTreeMap<usize, f64>,
}

/// Pages, and the index over their sections.
pub struct Docs {
    pages: Vec<Page>,
    sections: Vec<Section>,
    /// The length of each section. Unit: words.
    lengths: Vec<f64>,
    /// The words of each section's lines, together with those of its headings, and how much the line counts. Why: words that
    /// stand in one line answer a question together; words that are strewn over a page mostly don't.
    lines: Vec<Vec<(BTreeSet<String>, f64)>>,
    terms: BTreeMap<String, Term>,
}

impl Docs {
    /// The index over some pages.
    #[must_use]
    pub fn new(pages: Vec<Page>) -> Self {
        let mut docs = Self {
            sections: Vec::new(),
            lengths: Vec::new(),
            lines: Vec::new(),
            terms: BTreeMap::new(),
            pages: Vec::new(),
        };
        let found = |page: &&Page| page.weight > 0.0;
        for (number, page) in pages.iter().enumerate().filter(|(_, page)| found(page)) {
            for section in sections::split(page, number) {
                docs.add(section);
            }
        }
        docs.pages = pages;
        docs
    }

    fn add(&mut self, section: Section) {
        let at = self.sections.len();
        let mut length = 0.0;
        let mut lines = Vec::new();
        let mut heading = BTreeSet::new();
        let mut count = |text: &str, weight: f64| {
            let mut had = BTreeSet::new();
            for word in words(text) {
                had.insert(word.stem.clone());
                let term = self.terms.entry(word.stem).or_default();
                if term.sample.is_empty() {
                    term.sample = word.text;
                }
                *term.places.entry(at).or_default() += weight;
                length += weight.min(1.0);
            }
            had
        };
        heading.append(&mut count(section.heading(), OWN_HEADING));
        for above in section.above() {
            heading.append(&mut count(above, HEADING_ABOVE));
        }
        for (line, is_example) in sections::lines(&section.text) {
            let weight = if is_example { EXAMPLE } else { 1.0 };
            let mut had = count(line, weight);
            had.extend(heading.iter().cloned());
            lines.push((had, weight));
        }
        self.lengths.push(length);
        self.lines.push(lines);
        self.sections.push(section);
    }

    /// Searches the documentation for a caller: checks the question, and bounds the number of sections.
    ///
    /// # Errors
    ///
    /// The question is empty or too long.
    pub(crate) fn query(&self, query: &str, skip: usize, limit: usize) -> Result<Found, Problem> {
        if query.len() > MAX_QUERY {
            let length = query.len();
            let what = format!("it has {length} bytes; at most {MAX_QUERY} are accepted");
            return Err(Problem::argument("query", what));
        }
        if query.trim().is_empty() {
            return Err(Problem::argument("query", "it is empty; ask for something"));
        }
        Ok(self.search(query, skip, limit.clamp(1, MAX_SECTIONS)))
    }

    /// The page, or the section of it, at an address: with what stands below its heading, smaller headings included.
    #[must_use]
    pub fn text(&self, uri: &str) -> Option<String> {
        let place = uri.strip_prefix(SCHEME)?;
        let (id, anchor) = place.split_once('#').unwrap_or((place, ""));
        let page = self.pages.iter().find(|page| page.id == id)?;
        if anchor.is_empty() {
            return Some(page.text.clone());
        }
        sections::below(&page.text, anchor)
    }

    /// The pages.
    #[must_use]
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }
}
