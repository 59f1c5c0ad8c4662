//! Findings as SARIF 2.1.0, for code scanning.
//!
//! Paths are relative to the root of the repository (`%SRCROOT%`), columns count characters. Source: OASIS, *Static
//! Analysis Results Interchange Format (SARIF) Version 2.1.0*; GitHub, *SARIF support for code scanning*.

use std::collections::BTreeSet;

use serde::Serialize;

use super::json::pretty;
use super::prose::details;
use super::root::Root;
use crate::diag::{Applicability, Code, Diagnostic, Severity};
use crate::source::{Sources, Span};

/// The name of our fingerprint, with the version of how it is made.
const FINGERPRINT: &str = "statemark/v1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'d> {
    rule_id: &'d str,
    level: &'d str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
    partial_fingerprints: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Text,
    artifact_changes: [Change; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: &'static str,
    short_description: Text,
    help: Help,
    default_configuration: Level,
}

#[derive(Serialize)]
struct Help {
    text: &'static str,
    markdown: &'static str,
}

#[derive(Serialize)]
struct Level {
    level: &'static str,
}

/// Returns what stands before the findings.
pub(super) fn begin() -> String {
    "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"columnKind\": \"unicodeCodePoints\",\n      \"results\": [".to_owned()
}

/// Renders an element of the list of findings.
pub(super) fn element(
    diagnostic: &Diagnostic,
    sources: &Sources,
    root: &Root,
    fingerprint: String,
) -> String {
    let related = diagnostic.related.iter().enumerate();
    let mut fingerprints = serde_json::Map::new();
    fingerprints.insert(FINGERPRINT.to_owned(), fingerprint.into());
    let finding = Finding {
        rule_id: diagnostic.code.id(),
        level: level(diagnostic.severity),
        message: text(details(diagnostic)),
        locations: [Location {
            id: None,
            physical_location: physical(diagnostic.primary.span, sources, root),
            message: None,
        }],
        related_locations: related
            .map(|(index, label)| Location {
                id: Some(index),
                physical_location: physical(label.span, sources, root),
                message: (!label.message.is_empty()).then(|| text(label.message.clone())),
            })
            .collect(),
        fixes: diagnostic
            .fixes
            .iter()
            .filter(|fix| fix.applicability > Applicability::DisplayOnly)
            .filter_map(|fix| fix_of(fix, sources, root))
            .collect(),
        partial_fingerprints: fingerprints,
    };
    pretty(&finding, 4)
}

/// Returns what stands after the findings: the tool, with the rules that found something.
pub(super) fn end(is_empty: bool, codes: &BTreeSet<Code>) -> String {
    let tool = Tool {
        driver: Driver {
            name: "statemark",
            version: env!("CARGO_PKG_VERSION"),
            information_uri: env!("CARGO_PKG_REPOSITORY"),
            rules: codes.iter().map(|code| rule(*code)).collect(),
        },
    };
    let close = if is_empty { "]" } else { "\n      ]" };
    let tool = pretty(&tool, 3);
    format!(
        "{close},\n      \"tool\": {}\n    }}\n  ]\n}}\n",
        tool.trim_start()
    )
}

fn rule(code: Code) -> Rule {
    let page = code.page();
    Rule {
        id: code.id(),
        name: code.name(),
        short_description: text(first_paragraph(page)),
        help: Help {
            text: page,
            markdown: page,
        },
        default_configuration: Level {
            level: level(code.severity()),
        },
    }
}

/// Returns the first sentence of a page below its first heading, without what marks it as Markdown.
fn first_paragraph(page: &str) -> String {
    let mut lines = page.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.unwrap_or_default().to_owned()
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

const fn text(text: String) -> Text {
    Text { text }
}

fn artifact(name: &str, root: &Root) -> Artifact {
    let uri = root.uri(name);
    let is_inside = !uri.starts_with("file:");
    Artifact {
        uri,
        uri_base_id: is_inside.then_some("%SRCROOT%"),
    }
}

fn physical(span: Span, sources: &Sources, root: &Root) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: artifact(sources.file(span.file).name(), root),
        region: region(span, sources),
    }
}

fn region(span: Span, sources: &Sources) -> Region {
    let file = sources.file(span.file);
    let (start, end) = (file.position(span.start), file.position(span.end));
    Region {
        start_line: start.line,
        start_column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

/// Returns a fix, or none if it changes several files, which no fix of ours does.
fn fix_of(fix: &crate::diag::Fix, sources: &Sources, root: &Root) -> Option<Fix> {
    let file = fix.edits.first()?.span.file;
    let replacements = fix.edits.iter().map(|edit| Replacement {
        deleted_region: region(edit.span, sources),
        inserted_content: text(edit.text.clone()),
    });
    Some(Fix {
        description: text(fix.title.clone()),
        artifact_changes: [Change {
            artifact_location: artifact(sources.file(file).name(), root),
            replacements: replacements.collect(),
        }],
    })
}
