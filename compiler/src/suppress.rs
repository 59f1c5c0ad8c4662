//! Suppressions: comments of a spec that allow what would be found.
//!
//! ```text
//! %% statemark: allow SM305 -- whoever waits here is called by phone      (in a diagram: the next line)
//! // statemark: allow SM205 -- the host reads it                          (in a definition: the next line)
//! <!-- statemark: allow SM304 -- to be drawn in May -->                   (in Markdown: the next fence, else the section)
//! ```
//!
//! What to rely on: an error is never suppressed, because no machine is made of it. A comment that can't be read, that gives
//! no reason, or that suppresses nothing is a finding of its own. A text without such a comment costs one search.
//!
//! Deliberately not here: what a project allows for all of its specs. That is its configuration.

use crate::diag::{Allowance, Code, Diagnostic, Selector, Severity};
use crate::excerpt::Excerpt;
use crate::source::Span;

/// The word that begins every suppression.
pub(crate) const MARK: &str = "statemark:";

/// A comment for us, and what it is about.
#[derive(Debug)]
pub(crate) struct Remark {
    /// The comment's words after [`MARK`].
    pub(crate) words: String,
    /// The span of the words.
    pub(crate) span: Span,
    /// The lines that it covers.
    pub(crate) scope: Span,
    /// The whole comment, with its line.
    pub(crate) whole: Span,
}

/// Returns the comments for us in a diagram, a definition or an SCXML document.
///
/// They are lines of their own that begin with `opening`.
///
/// Each covers the next line that is no comment.
pub(crate) fn line_remarks(source: &str, excerpt: &Excerpt, opening: &str) -> Vec<Remark> {
    let text = excerpt.text();
    let mut remarks = Vec::new();
    if !text.contains(MARK) {
        return remarks;
    }
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line));
        at += line.len();
    }
    let is_comment = |line: &str| line.trim_start().starts_with(opening);
    for (index, (at, line)) in lines.iter().enumerate() {
        let comment = line.trim_start();
        let Some(words) = comment
            .strip_prefix(opening)
            .and_then(|it| it.trim_start().strip_prefix(MARK))
        else {
            continue;
        };
        let start = at + line.len() - words.len();
        let words = words.trim_end();
        let words = words.strip_suffix("-->").unwrap_or(words).trim_end();
        let mut following = lines.iter().skip(index + 1);
        let next = following.find(|(_, line)| !line.trim().is_empty() && !is_comment(line));
        let scope = next.map_or(at + line.len()..at + line.len(), |(at, line)| {
            *at..at + line.trim_end().len()
        });
        // In a quote or a list, the line begins with what belongs to its container, and stays.
        let whole = excerpt.span(*at..at + line.len());
        let before = source.get(..whole.range().start).unwrap_or_default();
        let whole = match before.is_empty() || before.ends_with('\n') {
            true => whole,
            false => excerpt.span(*at..at + line.trim_end().len()),
        };
        remarks.push(Remark {
            words: words.to_owned(),
            span: excerpt.span(start..start + words.len()),
            scope: excerpt.span(scope),
            whole,
        });
    }
    remarks
}

/// A comment that was read.
struct Suppression<'r> {
    remark: &'r Remark,
    /// The findings that it allows, the words for them, and whether one has been suppressed.
    codes: Vec<(Allowance, String, bool)>,
    /// The number of its words, also those that mean none.
    words: usize,
}

/// Returns what comments allow.
pub(crate) fn allowances(remarks: &[Remark]) -> Vec<Allowance> {
    let read = remarks.iter().filter_map(|it| read(it, &mut Vec::new()));
    let codes = read.flat_map(|it| it.codes);
    codes.map(|(allowance, _, _)| allowance).collect()
}

/// Removes the findings that comments allow, and adds those about the comments.
pub(crate) fn suppress(remarks: &[Remark], diagnostics: &mut Vec<Diagnostic>) {
    if remarks.is_empty() {
        return;
    }
    let mut findings = Vec::new();
    let mut suppressions: Vec<Suppression<'_>> = remarks
        .iter()
        .filter_map(|remark| read(remark, &mut findings))
        .collect();
    diagnostics.retain(|found| {
        let mut is_kept = true;
        for suppression in &mut suppressions {
            for (allowance, _, is_used) in &mut suppression.codes {
                if allowance.allows(found) {
                    *is_used = true;
                    is_kept = false;
                }
            }
        }
        is_kept
    });
    // A spec with an error isn't looked at to the end: what a comment allows may be found once that is mended.
    let is_whole = !diagnostics.iter().any(|it| it.severity == Severity::Error);
    for suppression in suppressions.iter().filter(|_| is_whole) {
        let unused = suppression.codes.iter().filter(|(_, _, is_used)| !is_used);
        let unused: Vec<&str> = unused.map(|(_, word, _)| word.as_str()).collect();
        let is_whole = unused.len() == suppression.words;
        findings.extend(
            unused
                .iter()
                .map(|word| unused_suppression(word, is_whole, suppression.remark)),
        );
    }
    diagnostics.append(&mut findings);
}

/// Reads a comment: `allow SM304, dead-end -- reason`.
fn read<'r>(remark: &'r Remark, findings: &mut Vec<Diagnostic>) -> Option<Suppression<'r>> {
    let words = remark.words.trim();
    let (list, reason) = match words.split_once("--") {
        Some((list, reason)) => (list, reason.trim()),
        None => (words, ""),
    };
    let mut list = list.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let verb = list.next().unwrap_or_default();
    let list: Vec<&str> = list.collect();
    if verb != "allow" || list.is_empty() {
        findings.push(unread(remark));
        return None;
    }
    let words = list.len();
    let mut codes = Vec::new();
    for word in list {
        match Selector::parse(word) {
            None => findings.push(unknown_code(word, remark)),
            Some(Selector::One(code)) if code.severity() == Severity::Error => {
                findings.push(error_stays(code, remark));
            }
            Some(selector) => {
                let scope = remark.scope;
                codes.push((Allowance { selector, scope }, word.to_owned(), false));
            }
        }
    }
    if reason.is_empty() && !codes.is_empty() {
        findings.push(unexplained(remark));
    }
    Some(Suppression {
        remark,
        codes,
        words,
    })
}

fn unread(remark: &Remark) -> Diagnostic {
    let message = "this comment for statemark can't be read";
    Diagnostic::new(Code::UnreadSuppression, remark.span, message).help(
        "write `statemark: allow SM305 -- reason`, with the codes of the findings that are meant",
    )
}

fn unknown_code(word: &str, remark: &Remark) -> Diagnostic {
    let message = format!("no finding is called `{word}`, so nothing is allowed by it");
    let found = Diagnostic::new(Code::UnreadSuppression, remark.span, message);
    match Selector::suggest(word) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found.help("a code looks like `SM305`, and `SM3` is all that begin so"),
    }
}

fn error_stays(code: Code, remark: &Remark) -> Diagnostic {
    let message = format!("`{code}` is an error, which can't be allowed");
    Diagnostic::new(Code::UnreadSuppression, remark.span, message)
        .note("no machine is made of a spec with an error")
        .help(format!("mend what it is about: `statemark explain {code}`"))
}

fn unused_suppression(word: &str, is_whole: bool, remark: &Remark) -> Diagnostic {
    let message = format!("`{word}` isn't found here, so nothing needs to allow it");
    let found = Diagnostic::new(Code::UnusedSuppression, remark.span, message)
        .related(remark.scope, "what the comment is about");
    match is_whole {
        true => found.safe_fix("remove the comment", remark.whole, ""),
        false => found.help("take it out of the comment"),
    }
}

fn unexplained(remark: &Remark) -> Diagnostic {
    let message = "nothing says why this is allowed";
    Diagnostic::new(Code::UnexplainedSuppression, remark.span, message)
        .help("write the reason after the codes: ` -- reason`")
}
