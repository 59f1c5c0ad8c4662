//! Searchable documentation: pages of the server, and one for each workflow.
//!
//! Pages are split at their headings. Each section is a document of the index, in which words of headings count several
//! times. Identifiers and codes are found as they are written.
//!
//! Deliberately not here: meaning. A question in other words than those of the pages may find nothing.

mod ranking;
mod sections;
mod snippet;
mod words;
mod workflows;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Problem;

use sections::Section;
use words::words;
pub(crate) use workflows::page as workflow_page;

/// The weight of a word of a section's own heading. Why: a heading is a summary.
const OWN_HEADING: f64 = 4.0;

/// The weight of a word of an enclosing heading.
const ENCLOSING_HEADING: f64 = 2.0;

/// The weight of a word of an example. Why: most aren't what the example is about.
const EXAMPLE: f64 = 0.3;

/// Longest question. Unit: bytes. Why: a question, not a document.
const MAX_QUERY: usize = 1_000;

/// Most sections in an answer.
const MAX_SECTIONS: usize = 25;

/// A page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its id, such as `readme` or `SM304`.
    pub id: String,
    /// Its title, usually that of its first heading.
    pub title: String,
    /// The text, in Markdown.
    pub text: String,
    /// Set if it is found as a whole; otherwise its sections are.
    pub whole: bool,
    /// The weight among the others: 1 for a page for newcomers.
    ///
    /// A page of weight 0 isn't found by searching.
    pub weight: f64,
    /// Set if it is in the list of resources.
    ///
    /// The others are found by searching, or named by listed ones.
    pub listed: bool,
}

/// A section that answers a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The headings down to its own.
    pub title: String,
    /// The id of the page.
    pub page: String,
    /// The address of the whole section.
    pub uri: String,
    /// The text around the words of the question.
    pub snippet: String,
    /// The score; only the order means something.
    pub score: f64,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The sections, the best first.
    pub hits: Vec<Hit>,
    /// The number of sections in all.
    pub total: usize,
    /// Unknown words, each with the known word that was searched for instead.
    pub meant: BTreeMap<String, String>,
}

/// A word of the index.
#[derive(Default)]
struct Term {
    /// One of its spellings.
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
    /// The words of each section's lines, and the weights of the lines.
    ///
    /// Words of the headings are in each line. Why: words in one line answer a question together; words that are
    /// scattered over a page mostly don't.
    lines: Vec<Vec<(BTreeSet<String>, f64)>>,
    terms: BTreeMap<String, Term>,
}

impl Docs {
    /// The beginning of addresses of pages.
    pub const SCHEME: &str = "statemark://docs/";

    /// Creates the index over some pages.
    #[must_use]
    pub fn new(pages: Vec<Page>) -> Self {
        let mut docs = Self {
            sections: Vec::new(),
            lengths: Vec::new(),
            lines: Vec::new(),
            terms: BTreeMap::new(),
            pages: Vec::new(),
        };
        let is_searchable = |page: &&Page| page.weight > 0.0;
        for (number, page) in pages
            .iter()
            .enumerate()
            .filter(|(_, page)| is_searchable(page))
        {
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
        for enclosing in section.enclosing() {
            heading.append(&mut count(enclosing, ENCLOSING_HEADING));
        }
        for (line, is_example) in sections::lines(&section.text) {
            let weight = if is_example { EXAMPLE } else { 1.0 };
            let mut stems = count(line, weight);
            stems.extend(heading.iter().cloned());
            lines.push((stems, weight));
        }
        self.lengths.push(length);
        self.lines.push(lines);
        self.sections.push(section);
    }

    /// Searches the documentation for a caller: checks the question, and bounds the answer.
    ///
    /// # Errors
    ///
    /// The question is empty or too long.
    pub fn query(&self, query: &str, skip: usize, limit: usize) -> Result<Found, Problem> {
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

    /// Returns the page or section at an address.
    ///
    /// A section includes the smaller headings below it.
    #[must_use]
    pub fn text(&self, uri: &str) -> Option<String> {
        let place = uri.strip_prefix(Self::SCHEME)?;
        let (id, anchor) = place.split_once('#').unwrap_or((place, ""));
        let page = self.pages.iter().find(|page| page.id == id)?;
        if anchor.is_empty() {
            return Some(page.text.clone());
        }
        sections::find(&page.text, anchor)
    }

    /// Returns the pages.
    #[must_use]
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }
}
