//! The document of a system: set-ups and points.

use std::fmt;

use super::LATER;

/// What a system's document promises, in points.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) title: String,
    /// The number of points in the system's document.
    pub(super) count: usize,
    /// The address of the page that tells users where this program departs.
    pub(super) page: String,
    set_ups: Vec<(String, Play)>,
    pub(super) points: Vec<Point>,
}

/// Files, and the calls that follow.
#[derive(Debug, Default)]
pub(super) struct Play {
    pub(super) files: Vec<(String, String)>,
    pub(super) script: String,
}

/// A promise, and what is true of it.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) number: usize,
    pub(super) sentence: String,
    pub(super) verdict: Verdict,
    /// The names of set-ups.
    with: Vec<String>,
    pub(super) play: Play,
}

/// What is true of a point.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is as the document says.
    Works,
    /// It differs on purpose: the sentence that users find.
    Departs(String),
    /// It is still to come: a name of [`LATER`].
    Later(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works => formatter.write_str("works"),
            Self::Departs(sentence) => write!(formatter, "departs: {sentence}"),
            Self::Later(what) => write!(formatter, "later: {what}"),
        }
    }
}

impl Point {
    /// Returns the name of its test: number and words.
    pub(super) fn slug(&self) -> String {
        let words = self
            .sentence
            .split(|letter: char| !letter.is_ascii_alphanumeric());
        let words = words
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase);
        let words: Vec<String> = words.collect();
        format!("{}-{}", self.number, words.join("-"))
    }

    /// Reports whether it waits for this to come.
    pub(super) fn is_later(&self, name: &str) -> bool {
        matches!(&self.verdict, Verdict::Later(what) if what == name)
    }
}

impl Document {
    /// Parses a document; a fault names the part that can't be read.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut sections = sections(text, "## ").into_iter();
        let head = sections.next().unwrap_or_default();
        let (title, rest) = head.split_once('\n').unwrap_or_default();
        let mut document = Self {
            title: title.strip_prefix("# ").ok_or("no title")?.to_owned(),
            count: between(rest, "Points: ", ".")
                .and_then(|count| count.parse().ok())
                .ok_or("no `Points: N.`")?,
            page: between(rest, "Page: `", "`").ok_or("no page")?.to_owned(),
            ..Self::default()
        };
        for section in sections {
            let (heading, body) = section.split_once('\n').unwrap_or((&section, ""));
            let heading = heading.trim_start_matches("## ");
            let fault = |fault: String| format!("`{heading}`: {fault}");
            let (text, play) = play(body).map_err(fault)?;
            if let Some(name) = heading.strip_prefix("Set-up: ") {
                document.set_ups.push((name.to_owned(), play));
                continue;
            }
            let point = point(heading, &text, play).map_err(fault)?;
            let last = document.points.last().map_or(0, |point| point.number);
            if !(last + 1..=document.count).contains(&point.number) {
                return Err(fault("its number is out of order".to_owned()));
            }
            document.points.push(point);
        }
        Ok(document)
    }

    /// Returns the set-ups that a point names.
    pub(super) fn set_ups_of(&self, point: &Point) -> Result<Vec<&Play>, String> {
        let named = point.with.iter().map(|name| {
            let found = self.set_ups.iter().find(|(known, _)| known == name);
            found
                .map(|(_, play)| play)
                .ok_or_else(|| format!("no set-up `{name}`"))
        });
        named.collect()
    }
}

/// Reads a point: its heading, and the paragraph with verdict and set-ups.
fn point(heading: &str, text: &str, play: Play) -> Result<Point, String> {
    let (number, sentence) = heading.split_once(". ").ok_or("no number")?;
    let number = number.parse().map_err(|_| "no number")?;
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let (verdict, with) = paragraph.split_once("With: ").unwrap_or((paragraph, ""));
    let verdict = verdict.trim();
    let verdict = if verdict == "Works." {
        Verdict::Works
    } else if let Some(sentence) = verdict.strip_prefix("Departs: ") {
        Verdict::Departs(sentence.replace('\n', " "))
    } else {
        let what = verdict.strip_prefix("Later: ");
        let what = what.and_then(|what| what.strip_suffix('.'));
        let what = what.ok_or("no verdict: `Works.`, `Departs: …` or `Later: ….`")?;
        if !LATER.iter().any(|(name, _)| *name == what) {
            return Err(format!("nothing called `{what}` is to come"));
        }
        Verdict::Later(what.to_owned())
    };
    let with = with.trim().trim_end_matches('.').split(", ");
    let with = with.filter(|name| !name.is_empty()).map(str::to_owned);
    if play.script.is_empty() {
        return Err("no calls".to_owned());
    }
    Ok(Point {
        number,
        sentence: sentence.to_owned(),
        verdict,
        with: with.collect(),
        play,
    })
}

/// Separates prose from files and calls.
fn play(body: &str) -> Result<(String, Play), String> {
    let mut play = Play::default();
    let mut prose = String::new();
    let mut file: Option<&str> = None;
    let mut rest = body;
    while let Some((before, begun)) = rest.split_once("~~~~") {
        for line in before.lines() {
            match line.strip_prefix("### file ") {
                Some(name) => file = Some(name),
                None => prose = prose + line + "\n",
            }
        }
        let (kind, begun) = begun.split_once('\n').ok_or("a fence has no end")?;
        let (text, after) = match begun.strip_prefix("~~~~") {
            Some(after) => ("", after),
            None => begun.split_once("\n~~~~").ok_or("a fence has no end")?,
        };
        match (kind, file.take()) {
            ("text", Some(name)) => play.files.push((name.to_owned(), format!("{text}\n"))),
            ("calls", None) => play.script = play.script + text + "\n",
            _ => {
                return Err(format!(
                    "a fence `{kind}` that is neither a file's nor `calls`"
                ));
            }
        }
        rest = after;
    }
    Ok((prose + rest, play))
}

/// Splits a text before each line that begins so, outside of fences.
fn sections(text: &str, begin: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut is_fenced = false;
    for line in text.lines() {
        if line.starts_with("~~~~") {
            is_fenced = !is_fenced;
        } else if line.starts_with(begin) && !is_fenced {
            sections.push(String::new());
        }
        if let Some(section) = sections.last_mut() {
            section.push_str(line);
            section.push('\n');
        }
    }
    sections
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(between, _)| between)
}
