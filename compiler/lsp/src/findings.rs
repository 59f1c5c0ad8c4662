//! Findings, as the protocol has them.

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Uri,
};
use statemark_compiler::diag::{Code as FindingCode, Diagnostic as Finding, Label, Severity};

use crate::analysis::Analysis;
use crate::document::{Encoding, range};

/// The name under which an editor shows findings.
pub(crate) const SOURCE: &str = "statemark";

/// Most findings that are told of a document.
///
/// Why: nobody reads more, and a document can have one in each of its million lines, which an editor would have to hold.
const MOST_FINDINGS: usize = 1_000;

/// Returns the findings of a document, the first ones if there are many.
pub(crate) fn diagnostics(analysis: &Analysis, uri: &Uri, encoding: Encoding) -> Vec<Diagnostic> {
    let findings = analysis.findings.iter().take(MOST_FINDINGS);
    let mut shown: Vec<Diagnostic> = findings
        .map(|finding| diagnostic(finding, analysis, uri, encoding))
        .collect();
    let more = analysis.findings.len().saturating_sub(MOST_FINDINGS);
    if let Some(last) = shown.last().filter(|_| more > 0) {
        let message = format!("{more} more findings aren't shown: `statemark lint` lists them");
        shown.push(Diagnostic {
            range: last.range,
            severity: Some(DiagnosticSeverity::Warning),
            code: None,
            code_description: None,
            source: Some(SOURCE.to_owned()),
            message: message.into(),
            tags: None,
            related_information: None,
            data: None,
        });
    }
    shown
}

/// Returns a finding as the protocol has it.
pub(crate) fn diagnostic(
    finding: &Finding,
    analysis: &Analysis,
    uri: &Uri,
    encoding: Encoding,
) -> Diagnostic {
    let source = analysis.sources.file(analysis.file);
    let related = |label: &Label| DiagnosticRelatedInformation {
        location: Location {
            uri: uri.clone(),
            range: range(source, label.span, encoding),
        },
        message: match label.message.as_str() {
            "" => "see also".to_owned(),
            message => message.to_owned(),
        },
    };
    let related: Vec<_> = finding.related.iter().map(related).collect();
    Diagnostic {
        range: range(source, finding.primary.span, encoding),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Info => DiagnosticSeverity::Information,
            Severity::Hint => DiagnosticSeverity::Hint,
        }),
        code: Some(Code::String(finding.code.id().to_owned())),
        code_description: Some(CodeDescription {
            href: page(finding.code),
        }),
        source: Some(SOURCE.to_owned()),
        message: message(finding).into(),
        tags: tags(finding.code),
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}

/// Returns the address of a code's page.
fn page(code: FindingCode) -> Uri {
    let repository = env!("CARGO_PKG_REPOSITORY");
    Uri::from(format!(
        "{repository}/blob/main/compiler/src/diag/pages/{}.md",
        code.id()
    ))
}

/// Returns the message with its label, notes and help, a line each: editors show nothing else.
fn message(finding: &Finding) -> String {
    let mut message = finding.message.clone();
    if !finding.primary.message.is_empty() {
        message.push_str(&format!(": {}", finding.primary.message));
    }
    for note in &finding.notes {
        message.push_str(&format!("\nnote: {note}"));
    }
    for help in &finding.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    message
}

/// Returns the tag of what can be taken away without a change.
fn tags(code: FindingCode) -> Option<Vec<DiagnosticTag>> {
    match code.name() {
        "unreachable-state" | "dead-transition" | "shadowed-transition" | "unused-suppression" => {
            Some(vec![DiagnosticTag::Unnecessary])
        }
        "old-spelling" => Some(vec![DiagnosticTag::Deprecated]),
        _ => None,
    }
}
