//! The report of a run as one page: for a pull request, or an audit.
//!
//! What to rely on: the page needs no server, no script and no request. Every text of the run is escaped, and a policy in
//! its head forbids whatever an escape might have missed. What the journal had taken out of it as secret isn't there.

use std::fmt::Write as _;

use statemark_text::markup::push_escaped;

use statemark_runs::body::Stage;
use statemark_runs::runs::{Marked, Timeline};
use statemark_runs::{Loaded, Runs, load_timeline, load_trail, read_artifact, shell_word, state};

use super::super::history::describe_mark;
use super::Report;
use crate::catalog::draw_run;
use crate::clock::{format_length, format_time};
use crate::drawing::drawing_options;
use crate::failure::Failure;
use crate::printer::count;

/// Most records of the journal.
///
/// Unit: records. Why: browsers scroll through so many rows without a pause.
const MOST_RECORDS: usize = 5_000;

/// Longest content of an artifact.
///
/// Unit: bytes. Why: a report is about what was decided; the store has the rest.
const MOST_CONTENT: usize = 32 << 10;

/// The rules of the page.
const STYLE: &str = include_str!("page.css");

/// Writes the page.
pub(super) fn write(runs: &Runs, loaded: &Loaded, report: &Report) -> Result<String, Failure> {
    let timeline = load_timeline(runs, &loaded.run)?;
    let mut page = Page {
        text: String::new(),
    };
    page.head(loaded);
    page.section("way", "The way", |page| {
        let trail = load_trail(runs, loaded)?;
        let options = drawing_options(Some(&trail));
        let drawing = draw_run(&loaded.workflow, &options).unwrap_or_else(|it| it.draw(&options));
        page.raw(&format!("<figure>{drawing}</figure>\n"));
        Ok(())
    })?;
    page.decisions(loaded);
    page.timeline(&timeline);
    page.checks(loaded);
    page.artifacts(runs, loaded);
    page.tools(report);
    page.journal(runs, loaded)?;
    page.raw("</main>\n</html>\n");
    Ok(page.text)
}

struct Page {
    text: String,
}

impl Page {
    fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn head(&mut self, loaded: &Loaded) {
        let state = &loaded.state;
        let run = loaded.run.to_string();
        let title = state.title.clone().unwrap_or_else(|| run.clone());
        let status = state.status().name();
        let _ = write!(
            self.text,
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n<main>\n<header>\n<h1>{}</h1>\n\
             <p class=\"status {}\">{}</p>\n<dl>\n",
            escape(&format!("{title}: {status}")),
            escape(&title),
            escape(&status.replace(' ', "-")),
            escape(status)
        );
        let length = state.updated.saturating_sub(state.created);
        let last = loaded.head.seq;
        let mut facts = vec![
            ("run", run),
            ("workflow", state.workflow.clone()),
            ("table", loaded.workflow.hash().to_string()),
            ("begun", format_time(state.created)),
            ("last change", format_time(state.updated)),
            ("length", format_length(length)),
            ("active", state.leaves.join(", ")),
            ("records", last.to_string()),
        ];
        if let Some(reason) = &state.cancelled {
            facts.push(("cancelled", reason.clone()));
        }
        if loaded.is_unreviewed() {
            facts.push(("unreviewed", "nobody has accepted its workflow".to_owned()));
        }
        for (name, value) in facts {
            let _ = writeln!(
                self.text,
                "<div><dt>{}<dd>{}</div>",
                escape(name),
                escape(&value)
            );
        }
        self.raw("</dl>\n</header>\n");
    }

    fn section(
        &mut self,
        id: &str,
        title: &str,
        body: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let _ = write!(
            self.text,
            "<section id=\"{id}\">\n<h2>{}</h2>\n",
            escape(title)
        );
        body(self)?;
        self.raw("</section>\n");
        Ok(())
    }

    /// Writes a table, or a sentence where it would be empty.
    ///
    /// Cells are texts; a class marks what didn't count or failed.
    fn table(
        &mut self,
        id: &str,
        title: &str,
        names: &[&str],
        rows: &[(&str, Vec<String>)],
        none: &str,
    ) {
        let _ = write!(
            self.text,
            "<section id=\"{id}\">\n<h2>{}</h2>\n",
            escape(title)
        );
        if rows.is_empty() {
            let _ = writeln!(self.text, "<p>{}</p>", escape(none));
        } else {
            self.raw("<table>\n<thead><tr>");
            for name in names {
                let _ = write!(self.text, "<th>{}", escape(name));
            }
            self.raw("</thead>\n<tbody>\n");
            for (class, cells) in rows {
                let class = if class.is_empty() {
                    String::new()
                } else {
                    format!(" class=\"{class}\"")
                };
                let _ = write!(self.text, "<tr{class}>");
                for cell in cells {
                    let _ = write!(self.text, "<td>{}", escape(cell));
                }
                self.raw("\n");
            }
            self.raw("</tbody>\n</table>\n");
        }
        self.raw("</section>\n");
    }

    fn decisions(&mut self, loaded: &Loaded) {
        let mut requests: Vec<_> = loaded.state.requests.values().collect();
        requests.sort_by_key(|request| request.seq);
        let rows: Vec<(&str, Vec<String>)> = requests
            .into_iter()
            .map(|request| {
                let opened = &request.opened;
                let event = opened.event.as_ref().map(|it| format!(" (`{}`)", it.event));
                let what = format!("{}{}", opened.prompt, event.unwrap_or_default());
                let (class, answer, who, when) = match &request.resolved {
                    None => ("open", "open".to_owned(), String::new(), String::new()),
                    Some((resolved, actor, time)) => {
                        let mut answer = resolved.resolution.name().to_owned();
                        if let Some(value) = &resolved.value {
                            answer += &format!(": {value}");
                        }
                        if let Some(comment) = &resolved.comment {
                            answer += &format!(" – {comment}");
                        }
                        if resolved.signature.is_some() {
                            answer += " (signed)";
                        }
                        if resolved.relayed {
                            answer += " (passed on by its caller)";
                        }
                        ("", answer, actor.to_string(), format_time(*time))
                    }
                };
                let asked = format!("{}, {}", request.asker, format_time(request.time));
                (
                    class,
                    vec![opened.request.clone(), what, asked, answer, who, when],
                )
            })
            .collect();
        let names = ["request", "question", "asked by", "answer", "by", "at"];
        self.table("decisions", "Decisions", &names, &rows, "Nobody was asked.");
    }

    fn timeline(&mut self, timeline: &Timeline) {
        let mut rows: Vec<(u64, &str, Vec<String>)> = Vec::new();
        for visit in &timeline.visits {
            let number = if visit.number > 1 {
                format!(" (visit {})", visit.number)
            } else {
                String::new()
            };
            let length = visit
                .until
                .map(|until| format_length(until.saturating_sub(visit.since)));
            let stay = length.unwrap_or_else(|| {
                if visit.counts {
                    "still there".to_owned()
                } else {
                    String::new()
                }
            });
            let class = if visit.counts { "" } else { "rewound" };
            let cells = vec![
                visit.entered.to_string(),
                format_time(visit.since),
                format!("in {}{number}", visit.state),
                stay,
                String::new(),
            ];
            rows.push((visit.entered, class, cells));
        }
        for mark in timeline
            .marks
            .iter()
            .filter(|mark| mark.what != Marked::Started)
        {
            let class = if mark.counts { "mark" } else { "rewound" };
            let cells = vec![
                mark.seq.to_string(),
                format_time(mark.time),
                describe_mark(&mark.what),
                String::new(),
                mark.actor.to_string(),
            ];
            rows.push((mark.seq, class, cells));
        }
        rows.sort_by_key(|row| row.0);
        let rows: Vec<(&str, Vec<String>)> = rows
            .into_iter()
            .map(|(_, class, cells)| (class, cells))
            .collect();
        let names = ["record", "time", "what", "for", "by"];
        self.table(
            "timeline",
            "Timeline",
            &names,
            &rows,
            "Nothing was visited.",
        );
    }

    fn checks(&mut self, loaded: &Loaded) {
        let own = loaded.state.checks.iter();
        let mut checks: Vec<_> = own.map(|(name, check)| (name.clone(), check)).collect();
        for (region, work) in &loaded.state.regions {
            let in_region = work.checks.iter();
            checks.extend(in_region.map(|(name, check)| (format!("{name} in {region}"), check)));
        }
        checks.sort_by_key(|(_, check)| check.seq);
        let rows: Vec<(&str, Vec<String>)> = checks
            .into_iter()
            .map(|(name, check)| {
                let (class, word) = match (check.passed, check.cancelled) {
                    (true, _) => ("good", "passed"),
                    (false, true) => ("bad", "cancelled"),
                    (false, false) => ("bad", "failed"),
                };
                let cells = vec![
                    name,
                    word.to_owned(),
                    check.outcome.clone(),
                    format_time(check.time),
                    check.seq.to_string(),
                ];
                (class, cells)
            })
            .collect();
        let names = ["check", "result", "what came of it", "at", "record"];
        self.table("checks", "Checks", &names, &rows, "No check was run.");
    }

    fn artifacts(&mut self, runs: &Runs, loaded: &Loaded) {
        let all = &loaded.state.artifacts;
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        for (name, revisions) in all.iter() {
            for revision in revisions {
                let artifact = &revision.artifact;
                let class = if artifact.stage == Stage::Discarded || !artifact.holds() {
                    "bad"
                } else {
                    ""
                };
                let contract = match &artifact.verdict {
                    None => "no contract".to_owned(),
                    Some(verdict) if verdict.holds => "meets it".to_owned(),
                    Some(verdict) => count(verdict.findings.len(), "finding"),
                };
                let content = artifact.content.map(|hash| hash.to_string());
                rows.push((
                    class,
                    vec![
                        name.clone(),
                        artifact.revision.to_string(),
                        artifact.stage.name().to_owned(),
                        contract,
                        artifact
                            .size
                            .map_or_else(String::new, |size| format!("{size} bytes")),
                        content
                            .or_else(|| artifact.path.clone())
                            .unwrap_or_default(),
                        format_time(revision.time),
                    ],
                ));
            }
        }
        let names = [
            "artifact", "revision", "stage", "contract", "size", "content", "at",
        ];
        self.table(
            "artifacts",
            "Artifacts",
            &names,
            &rows,
            "None was handed in.",
        );
        for name in all.keys() {
            // What can't be read, or is no text, is in the list above all the same.
            let Ok(found) = read_artifact(runs, loaded, name, None) else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&found.content) else {
                continue;
            };
            let end = (0..=MOST_CONTENT.min(text.len()))
                .rev()
                .find(|end| text.is_char_boundary(*end));
            let shown = text.get(..end.unwrap_or(0)).unwrap_or_default();
            let more = text.len().saturating_sub(shown.len());
            let _ = write!(
                self.text,
                "<details><summary>{}</summary><pre>{}</pre>",
                escape(name),
                escape(shown)
            );
            if more > 0 {
                let _ = write!(self.text, "<p>{more} bytes more are in the store.</p>");
            }
            self.raw("</details>\n");
        }
    }

    fn tools(&mut self, report: &Report) {
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        for state in &report.states {
            for (tool, calls) in &state.tools {
                let class = if calls.refused > 0 { "bad" } else { "" };
                let numbers = [calls.ran, calls.failed, calls.refused, calls.observed];
                let mut cells = vec![state.state.clone(), tool.clone()];
                cells.extend(numbers.iter().map(ToString::to_string));
                let reasons = state.refused.iter().filter(|refused| refused.tool == *tool);
                cells.push(
                    reasons
                        .map(|refused| refused.reason.clone())
                        .collect::<Vec<_>>()
                        .join("; "),
                );
                rows.push((class, cells));
            }
        }
        let names = [
            "state",
            "tool",
            "ran",
            "failed",
            "refused",
            "would have been refused",
            "why",
        ];
        self.table("tools", "Tools", &names, &rows, "No tool was called.");
    }

    fn journal(&mut self, runs: &Runs, loaded: &Loaded) -> Result<(), Failure> {
        let live = state::live_records(runs.store(), &loaded.run, None, &[])?;
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        let mut left_out = 0_usize;
        state::for_each_record(runs.store(), &loaded.run, 0, None, |record| {
            if rows.len() == MOST_RECORDS {
                left_out += 1;
                return Ok(());
            }
            let class = if live.contains(record.seq) {
                ""
            } else {
                "rewound"
            };
            let cells = vec![
                record.seq.to_string(),
                format_time(record.time),
                record.kind.clone(),
                record.summary(),
                record.actor.to_string(),
            ];
            rows.push((class, cells));
            Ok(())
        })?;
        self.table(
            "journal",
            "Journal",
            &["record", "time", "kind", "what", "by"],
            &rows,
            "It is empty.",
        );
        if left_out > 0 {
            let _ = writeln!(
                self.text,
                "<p>{} more: <code>statemark events {}</code> shows them.</p>",
                count(left_out, "record"),
                escape(&shell_word(loaded.run.as_str()))
            );
        }
        Ok(())
    }
}

/// Escapes a text for an element or an attribute.
///
/// Signs that nobody sees, which can turn a line around, are shown as such.
fn escape(text: &str) -> String {
    let shown = statemark_text::visible::lines(text, |_| 0);
    let mut escaped = String::with_capacity(shown.len());
    for letter in shown.chars() {
        match letter {
            '\'' => escaped.push_str("&#39;"),
            _ => push_escaped(&mut escaped, letter),
        }
    }
    escaped
}
