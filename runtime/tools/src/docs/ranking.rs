//! The search: sections that answer a question, with scores.
//!
//! The score is BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009), times
//! the share of the question in the section's best line, times the share of its heading in the question, times the
//! weight of its page. An unknown word stands for the nearest known one.

use std::collections::{BTreeMap, BTreeSet};

use statemark_text::suggest::distance;

use super::sections::Section;
use super::words::{self, words};
use super::{Docs, Found, Hit, Term, snippet};

/// The saturation of repeated words. Source: the usual value.
const SATURATION: f64 = 1.2;

/// The penalty of long sections. Source: the usual value.
const LENGTH_PENALTY: f64 = 0.75;

/// The factor of a section whose heading has only words of the question.
const HEADING: f64 = 2.0;

/// The further factor of a section whose heading has the words of the question and no others.
const SAME_HEADING: f64 = 1.5;

/// Most words of a question.
///
/// Why: a mistyped one is compared with every known word.
const MAX_WORDS: usize = 32;

impl Docs {
    /// Returns the sections that answer a question: at most `most`, after the first `skip`.
    #[must_use]
    pub fn search(&self, question: &str, skip: usize, most: usize) -> Found {
        let mut found = Found::default();
        let stems = self.question_stems(question, &mut found.meant);
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for stem in &stems {
            let Some(term) = self.terms.get(stem) else {
                continue;
            };
            let rarity = self.rarity(term);
            for (at, count) in &term.places {
                *scores.entry(*at).or_default() += rarity * self.saturated(*at, *count);
            }
        }
        let all = self.rarities(stems.iter());
        let scored = scores.into_iter().map(|(at, score)| {
            let lines = self.lines.get(at).into_iter().flatten();
            let had = lines.map(|(had, weight)| {
                weight * self.rarities(stems.iter().filter(|it| had.contains(*it)))
            });
            let most = had.fold(0.0, f64::max);
            let share = if all > 0.0 { most / all } else { 0.0 };
            let factor = 0.1 + 0.9 * share;
            (
                at,
                score * factor * self.heading_factor(at, &stems) * self.weight(at),
            )
        });
        let mut scored: Vec<(usize, f64)> = scored.collect();
        scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        found.total = scored.len();
        let wanted = scored.into_iter().skip(skip).take(most);
        found.hits = wanted
            .filter_map(|(at, score)| self.hit(at, score, &stems))
            .collect();
        found
    }

    /// Returns the stems of a question's words. Replaces unknown ones by the nearest known.
    fn question_stems(&self, question: &str, meant: &mut BTreeMap<String, String>) -> Vec<String> {
        let mut stems = Vec::new();
        let all: Vec<_> = words(question).collect();
        let telling = all.iter().filter(|it| !words::is_stop_word(&it.text));
        // A question of such words alone means them.
        let mut kept: Vec<_> = telling.collect();
        if kept.is_empty() {
            kept = all.iter().collect();
        }
        for word in kept.into_iter().take(MAX_WORDS) {
            let mut stem = word.stem.clone();
            if !self.terms.contains_key(&stem)
                && let Some((known, term)) = self.nearest(&stem)
            {
                meant.insert(word.text.clone(), term.sample.clone());
                stem.clone_from(known);
            }
            if !stems.contains(&stem) {
                stems.push(stem);
            }
        }
        // `back up` is `backup`.
        let pairs = all.windows(2).filter_map(|pair| match pair {
            [one, other] => Some(format!("{}{}", one.text, other.text)),
            _ => None,
        });
        let pairs = pairs.filter(|pair| self.terms.contains_key(pair));
        stems.extend(pairs.take(MAX_WORDS));
        stems
    }

    /// Finds the known word for a mistyped or unfinished one; of several, the most frequent.
    fn nearest(&self, stem: &str) -> Option<(&String, &Term)> {
        let letters: Vec<char> = stem.chars().collect();
        let most = match letters.len() {
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        let candidates = self.terms.iter().filter_map(|(other, term)| {
            // Words of such different lengths are too far apart; distances are slow.
            let shorter = other.len().saturating_add(most * 4) < stem.len();
            let longer = other.len() > stem.len().saturating_add(most * 4);
            if (shorter || longer) && !other.starts_with(stem) {
                return None;
            }
            let distance = if other.starts_with(stem) {
                1
            } else {
                distance(&other.chars().collect::<Vec<_>>(), &letters)
            };
            (distance <= most).then_some((distance, other, term))
        });
        let best = candidates
            .min_by_key(|(distance, _, term)| (*distance, std::cmp::Reverse(term.places.len())));
        best.map(|(_, other, term)| (other, term))
    }

    fn rarities<'s>(&self, stems: impl Iterator<Item = &'s String>) -> f64 {
        let terms = stems.filter_map(|stem| self.terms.get(stem));
        terms.map(|term| self.rarity(term)).sum()
    }

    /// Returns the factor of a section for its heading.
    ///
    /// A code in the heading that the question names counts double. A heading that is the question counts more than
    /// any that has part of it: who asks for `statemark send` means the page of that name.
    fn heading_factor(&self, at: usize, question: &[String]) -> f64 {
        let heading = self.sections.get(at).map_or("", Section::heading);
        let stems: BTreeSet<String> = words(heading).map(|word| word.stem).collect();
        if stems.is_empty() {
            return 1.0;
        }
        let had = stems.iter().filter(|stem| question.contains(stem)).count();
        let is_code = |stem: &&String| stem.contains(|letter: char| letter.is_ascii_digit());
        if stems
            .iter()
            .filter(is_code)
            .any(|stem| question.contains(stem))
        {
            return HEADING * 2.0;
        }
        let factor = 1.0 + (HEADING - 1.0) * count(had) / count(stems.len());
        let is_same = had == stems.len() && question.iter().all(|stem| stems.contains(stem));
        if is_same {
            factor * SAME_HEADING
        } else {
            factor
        }
    }

    fn rarity(&self, term: &Term) -> f64 {
        let all = count(self.sections.len());
        let had = count(term.places.len());
        ((all - had + 0.5) / (had + 0.5)).ln_1p()
    }

    fn saturated(&self, at: usize, count_here: f64) -> f64 {
        let mean = self.lengths.iter().sum::<f64>() / count(self.lengths.len()).max(1.0);
        let length = self.lengths.get(at).copied().unwrap_or_default() / mean.max(1.0);
        let room = SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length);
        count_here * (SATURATION + 1.0) / (count_here + room)
    }

    fn weight(&self, at: usize) -> f64 {
        let page = self.sections.get(at).and_then(|it| self.pages.get(it.page));
        page.map_or(0.0, |it| it.weight)
    }

    fn hit(&self, at: usize, score: f64, question: &[String]) -> Option<Hit> {
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
            uri: format!("{}{}{anchor}", Self::SCHEME, page.id),
            snippet: snippet::excerpt(&section.text, question, rarity),
            // More digits mean nothing.
            score: (score * 100.0).round() / 100.0,
        })
    }
}

/// Converts a number for computations.
fn count(things: usize) -> f64 {
    u32::try_from(things).map_or(f64::MAX, f64::from)
}
