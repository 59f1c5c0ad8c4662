//! Which sections answer a question, and how well.
//!
//! The score is BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009), times how much
//! of the question a single line of the section has, times how much of its heading was asked for, times the weight of its
//! page. A word that nothing has stands for the nearest one that something has.

use std::collections::{BTreeMap, BTreeSet};

use super::sections::Section;
use super::words::{self, words};
use super::{Docs, Found, Hit, SCHEME, Term, snippet};

/// How soon a word that is repeated counts no more. Source: the values that are usual.
const SATURATION: f64 = 1.2;

/// How much longer sections lose. Source: as above.
const LENGTH: f64 = 0.75;

/// How much more a section counts whose heading the question is: all words of the one are in the other.
const NAMED: f64 = 2.0;

/// Most words of a question that are looked for. Why: each that is mistyped is compared with every word that there is.
const MOST_WORDS: usize = 32;

impl Docs {
    /// The sections that answer a question, without the first `skip`, and not more than `most`.
    #[must_use]
    pub fn search(&self, question: &str, skip: usize, most: usize) -> Found {
        let mut found = Found::default();
        let asked = self.asked(question, &mut found.meant);
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for stem in &asked {
            let Some(term) = self.terms.get(stem) else {
                continue;
            };
            let rarity = self.rarity(term);
            for (at, count) in &term.places {
                *scores.entry(*at).or_default() += rarity * self.saturated(*at, *count);
            }
        }
        let all = self.rarities(asked.iter());
        let scored = scores.into_iter().map(|(at, score)| {
            let lines = self.lines.get(at).into_iter().flatten();
            let had = lines.map(|(had, weight)| {
                weight * self.rarities(asked.iter().filter(|it| had.contains(*it)))
            });
            let most = had.fold(0.0, f64::max);
            let share = if all > 0.0 { most / all } else { 0.0 };
            let factor = 0.1 + 0.9 * share;
            (
                at,
                score * factor * self.named(at, &asked) * self.weight(at),
            )
        });
        let mut scored: Vec<(usize, f64)> = scored.collect();
        scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        found.total = scored.len();
        let wanted = scored.into_iter().skip(skip).take(most);
        found.hits = wanted
            .filter_map(|(at, score)| self.hit(at, score, &asked))
            .collect();
        found
    }

    /// The stems of a question's words, each once; where nothing has one, the nearest that something has.
    fn asked(&self, question: &str, meant: &mut BTreeMap<String, String>) -> Vec<String> {
        let mut asked = Vec::new();
        let all: Vec<_> = words(question).collect();
        let telling = all.iter().filter(|it| !words::is_empty_talk(&it.text));
        // Who asks with nothing but such words means them.
        let mut kept: Vec<_> = telling.collect();
        if kept.is_empty() {
            kept = all.iter().collect();
        }
        for word in kept.into_iter().take(MOST_WORDS) {
            let mut stem = word.stem.clone();
            if !self.terms.contains_key(&stem)
                && let Some((near, term)) = self.nearest(&stem)
            {
                meant.insert(word.text.clone(), term.sample.clone());
                stem.clone_from(near);
            }
            if !asked.contains(&stem) {
                asked.push(stem);
            }
        }
        // `back up` is `backup`.
        let pairs = all.windows(2).filter_map(|pair| match pair {
            [one, other] => Some(format!("{}{}", one.text, other.text)),
            _ => None,
        });
        let pairs = pairs.filter(|pair| self.terms.contains_key(pair));
        asked.extend(pairs.take(MOST_WORDS));
        asked
    }

    /// The word that a mistyped or unfinished one may stand for; of several as near, the most usual.
    fn nearest(&self, stem: &str) -> Option<(&String, &Term)> {
        let most = match stem.chars().count() {
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        let near = self.terms.iter().filter_map(|(other, term)| {
            // What is so much shorter or longer can't be near; distances take their time.
            let shorter = other.len().saturating_add(most * 4) < stem.len();
            let longer = other.len() > stem.len().saturating_add(most * 4);
            if (shorter || longer) && !other.starts_with(stem) {
                return None;
            }
            let distance = if other.starts_with(stem) {
                1
            } else {
                strsim::osa_distance(other, stem)
            };
            (distance <= most).then_some((distance, other, term))
        });
        let best = near
            .min_by_key(|(distance, _, term)| (*distance, std::cmp::Reverse(term.places.len())));
        best.map(|(_, other, term)| (other, term))
    }

    fn rarities<'s>(&self, stems: impl Iterator<Item = &'s String>) -> f64 {
        let terms = stems.filter_map(|stem| self.terms.get(stem));
        terms.map(|term| self.rarity(term)).sum()
    }

    /// How much more a section counts, since its heading, or a word of it that nothing else is called, was asked for.
    fn named(&self, at: usize, asked: &[String]) -> f64 {
        let heading = self.sections.get(at).map_or("", Section::heading);
        let stems: BTreeSet<String> = words(heading).map(|word| word.stem).collect();
        if stems.is_empty() {
            return 1.0;
        }
        let had = stems.iter().filter(|stem| asked.contains(stem)).count();
        let is_code = |stem: &&String| stem.contains(|letter: char| letter.is_ascii_digit());
        if stems
            .iter()
            .filter(is_code)
            .any(|stem| asked.contains(stem))
        {
            return NAMED * 2.0;
        }
        1.0 + (NAMED - 1.0) * count(had) / count(stems.len())
    }

    fn rarity(&self, term: &Term) -> f64 {
        let all = count(self.sections.len());
        let had = count(term.places.len());
        ((all - had + 0.5) / (had + 0.5)).ln_1p()
    }

    fn saturated(&self, at: usize, count_here: f64) -> f64 {
        let mean = self.lengths.iter().sum::<f64>() / count(self.lengths.len()).max(1.0);
        let length = self.lengths.get(at).copied().unwrap_or_default() / mean.max(1.0);
        let room = SATURATION * (1.0 - LENGTH + LENGTH * length);
        count_here * (SATURATION + 1.0) / (count_here + room)
    }

    fn weight(&self, at: usize) -> f64 {
        let page = self.sections.get(at).and_then(|it| self.pages.get(it.page));
        page.map_or(0.0, |it| it.weight)
    }

    fn hit(&self, at: usize, score: f64, asked: &[String]) -> Option<Hit> {
        let section = self.sections.get(at)?;
        let page = self.pages.get(section.page)?;
        let rarity = |stem: &str| self.terms.get(stem).map_or(0.0, |it| self.rarity(it));
        let anchor = match section.anchor.as_str() {
            "" => String::new(),
            anchor => format!("#{anchor}"),
        };
        Some(Hit {
            title: section.headings.join(" › "),
            page: page.id.clone(),
            uri: format!("{SCHEME}{}{anchor}", page.id),
            snippet: snippet::around(&section.text, asked, rarity),
            // What nobody can tell apart needn't be written.
            score: (score * 100.0).round() / 100.0,
        })
    }
}

/// A number of things, for computing with.
fn count(things: usize) -> f64 {
    u32::try_from(things).map_or(f64::MAX, f64::from)
}
