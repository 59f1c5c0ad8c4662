//! Reports: the findings of many files in one of the formats that people, editors and services read.
//!
//! A [`Report`] is written file by file, so that its size is never held in memory: [`Report::begin`], then
//! [`Report::file`] for each file in reading order, then [`Report::finish`].
//!
//! What to rely on: the same findings give the same bytes; no format needs what comes later, and none depends on where the
//! checkout lies, if its [`Root`] is given.

use std::collections::{BTreeMap, BTreeSet};

use super::root::Root;
use super::summary::Summary;
use super::{Style, concise, full, github, gitlab, grouped, json, junit, rdjson, sarif};
use crate::diag::{Code, Diagnostic};
use crate::source::Sources;

/// A format of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportFormat {
    /// With lines of the source, help and fixes.
    Full,
    /// One line each.
    Concise,
    /// One line each, below their file.
    Grouped,
    /// One JSON object.
    Json,
    /// A JSON object each, on a line of its own.
    JsonLines,
    /// The commands by which workflows of GitHub annotate files.
    Github,
    /// Code quality of GitLab.
    Gitlab,
    /// JUnit's XML, which most CI services show.
    Junit,
    /// SARIF 2.1.0, which code scanning reads.
    Sarif,
    /// Reviewdog's JSON.
    Rdjson,
}

impl ReportFormat {
    /// Every format with its name, as command lines have it.
    pub const ALL: [(&'static str, Self); 10] = [
        ("full", Self::Full),
        ("concise", Self::Concise),
        ("grouped", Self::Grouped),
        ("json", Self::Json),
        ("json-lines", Self::JsonLines),
        ("github", Self::Github),
        ("gitlab", Self::Gitlab),
        ("junit", Self::Junit),
        ("sarif", Self::Sarif),
        ("rdjson", Self::Rdjson),
    ];

    /// Returns its name, as command lines have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, format)| *format == self)
            .map_or("", |(name, _)| name)
    }

    /// Reports whether people read it, not programs.
    #[must_use]
    pub const fn is_for_people(self) -> bool {
        matches!(self, Self::Full | Self::Concise | Self::Grouped)
    }
}

/// A report that is being written.
#[derive(Debug)]
pub struct Report {
    format: ReportFormat,
    style: Style,
    root: Root,
    is_begun: bool,
    summary: Summary,
    /// The number of findings so far that are alike but for their place.
    alike: BTreeMap<String, usize>,
    /// The codes so far.
    codes: BTreeSet<Code>,
}

impl Report {
    /// Starts a report. Paths that services resolve are relative to `root`.
    #[must_use]
    pub fn new(format: ReportFormat, style: Style, root: Root) -> Self {
        Self {
            format,
            style,
            root,
            is_begun: false,
            summary: Summary::default(),
            alike: BTreeMap::new(),
            codes: BTreeSet::new(),
        }
    }

    /// Returns what stands before all findings.
    #[must_use]
    pub fn begin(&self) -> String {
        match self.format {
            ReportFormat::Json => json::BEGIN.to_owned(),
            ReportFormat::Gitlab => "[".to_owned(),
            ReportFormat::Junit => junit::BEGIN.to_owned(),
            ReportFormat::Sarif => sarif::begin(),
            ReportFormat::Rdjson => rdjson::begin(),
            _ => String::new(),
        }
    }

    /// Returns the findings of a file, in reading order; it may have none.
    pub fn file(&mut self, name: &str, diagnostics: &[Diagnostic], sources: &Sources) -> String {
        self.summary = self.summary.plus(Summary::new(diagnostics));
        let mut text = match self.format {
            ReportFormat::Full if self.is_begun && !diagnostics.is_empty() => "\n".to_owned(),
            _ => String::new(),
        };
        let all = || diagnostics.iter();
        text += &match self.format {
            ReportFormat::Full => full(diagnostics, sources, &self.style),
            ReportFormat::Concise => concise(diagnostics, sources, &self.style),
            ReportFormat::Grouped => grouped::file(name, diagnostics, sources, self.style),
            ReportFormat::JsonLines => all().map(|it| json::line(it, sources)).collect(),
            ReportFormat::Github => all()
                .map(|it| github::command(it, sources, &self.root))
                .collect(),
            ReportFormat::Junit => junit::suite(name, diagnostics, sources),
            ReportFormat::Json => self.list(diagnostics, |_, it| json::element(it, sources)),
            ReportFormat::Rdjson => self.list(diagnostics, |_, it| rdjson::element(it, sources)),
            ReportFormat::Gitlab => self.list(diagnostics, |report, it| {
                let print = report.fingerprint(it, sources);
                gitlab::element(it, sources, &report.root, print)
            }),
            ReportFormat::Sarif => self.list(diagnostics, |report, it| {
                report.codes.insert(it.code);
                let print = report.fingerprint(it, sources);
                sarif::element(it, sources, &report.root, print)
            }),
        };
        self.is_begun |= !diagnostics.is_empty();
        text
    }

    /// Returns what stands after all findings.
    #[must_use]
    pub fn finish(&self) -> String {
        let is_empty = !self.is_begun;
        match self.format {
            ReportFormat::Json => json::end(is_empty, &self.summary),
            ReportFormat::Gitlab if is_empty => "]\n".to_owned(),
            ReportFormat::Gitlab => "\n]\n".to_owned(),
            ReportFormat::Junit => junit::END.to_owned(),
            ReportFormat::Sarif => sarif::end(is_empty, &self.codes),
            ReportFormat::Rdjson => rdjson::end(is_empty),
            _ => String::new(),
        }
    }

    /// Returns the counts of all findings so far.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns elements of a list in JSON, with what separates them.
    fn list(
        &mut self,
        diagnostics: &[Diagnostic],
        mut element: impl FnMut(&mut Self, &Diagnostic) -> String,
    ) -> String {
        let mut text = String::new();
        for diagnostic in diagnostics {
            text.push_str(if self.is_begun { ",\n" } else { "\n" });
            self.is_begun = true;
            text.push_str(&element(self, diagnostic));
        }
        text
    }

    /// Returns what tells a finding from others, also after lines before it have changed.
    ///
    /// It is a hash of path, code and message, and of how many such findings stand before it. Unit: 32 hexadecimal digits.
    fn fingerprint(&mut self, diagnostic: &Diagnostic, sources: &Sources) -> String {
        let path = self
            .root
            .relative(sources.file(diagnostic.primary.span.file).name());
        let words = format!("{path}\0{}\0{}", diagnostic.code, diagnostic.message);
        let hash = |words: &str| {
            let digits = statemark_text::hex::encode(&hmac_sha256::Hash::hash(words.as_bytes()));
            digits.chars().take(32).collect::<String>()
        };
        let alike = self.alike.entry(hash(&words)).or_default();
        *alike += 1;
        hash(&format!("{words}\0{alike}"))
    }
}

/// Renders findings of several texts as one report.
#[must_use]
pub fn report(
    format: ReportFormat,
    diagnostics: &[Diagnostic],
    sources: &Sources,
    style: &Style,
) -> String {
    let mut report = Report::new(format, *style, Root::default());
    let mut text = report.begin();
    let by_file =
        |one: &Diagnostic, other: &Diagnostic| one.primary.span.file == other.primary.span.file;
    for found in diagnostics.chunk_by(by_file) {
        let file = found.first().map(|first| first.primary.span.file);
        let name = file.map_or("", |file| sources.file(file).name());
        text += &report.file(name, found, sources);
    }
    text + &report.finish()
}
