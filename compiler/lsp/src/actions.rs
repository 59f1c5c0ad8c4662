//! Changes of a document: fixes of findings, all safe fixes at once, and the canonical form.

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionResponse, Range, TextEdit, Uri, WorkspaceEdit,
};
use statemark_compiler::diag::{Applicability, Edit, Fix, Severity};
use statemark_compiler::source::SourceFile;
use statemark_compiler::{Formatted, fix_text, format_text};

use crate::analysis::{Analysis, options};
use crate::document::{Encoding, position, range};
use crate::findings::diagnostic;
use crate::project::FileRules;

/// The kind of the action that applies every safe fix.
const FIX_ALL: &str = "source.fixAll.statemark";

/// Returns the kinds of actions that there are.
pub(crate) fn kinds() -> Vec<CodeActionKind> {
    vec![CodeActionKind::QuickFix, CodeActionKind::new(FIX_ALL)]
}

/// Returns the actions for a range; `only` has the kinds that are wanted.
pub(crate) fn code_actions(
    analysis: &Analysis,
    uri: &Uri,
    wanted: Range,
    only: Option<&[CodeActionKind]>,
    (rules, encoding): (&dyn FileRules, Encoding),
) -> Vec<CodeActionResponse> {
    let wants = |kind: &str| {
        only.is_none_or(|only| {
            only.iter().any(|wanted| {
                let wanted = String::from(wanted.clone());
                let rest = kind.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| {
                    wanted.is_empty() || rest.is_empty() || rest.starts_with('.')
                })
            })
        })
    };
    let mut actions = Vec::new();
    if wants("quickfix") {
        let source = analysis.sources.file(analysis.file);
        let findings = analysis.findings.iter().filter(|finding| {
            let own = range(source, finding.primary.span, encoding);
            own.start <= wanted.end && wanted.start <= own.end
        });
        for finding in findings {
            let fixes = finding.fixes.iter();
            let fixes = fixes.filter(|fix| fix.applicability > Applicability::DisplayOnly);
            for fix in fixes {
                let Some(edits) = edits(fix, analysis, encoding) else {
                    continue;
                };
                let is_safe = fix.applicability == Applicability::Safe;
                let doubt = if is_safe {
                    ""
                } else {
                    " (may change what the machine accepts)"
                };
                actions.push(CodeAction {
                    title: format!("{}{doubt}", fix.title),
                    kind: Some(CodeActionKind::QuickFix),
                    diagnostics: Some(vec![diagnostic(finding, analysis, uri, encoding)]),
                    is_preferred: is_safe.then_some(true),
                    edit: Some(workspace_edit(uri, edits)),
                    ..CodeAction::default()
                });
            }
        }
    }
    if wants(FIX_ALL) {
        actions.extend(fix_all(analysis, uri, rules, encoding));
    }
    actions
        .into_iter()
        .map(CodeActionResponse::CodeAction)
        .collect()
}

/// Returns the edits of a fix; none if it reaches into another file.
fn edits(fix: &Fix, analysis: &Analysis, encoding: Encoding) -> Option<Vec<TextEdit>> {
    let source = analysis.sources.file(analysis.file);
    let edit = |edit: &Edit| {
        let is_here = edit.span.file == analysis.file && !analysis.text().is_empty();
        is_here.then(|| TextEdit {
            range: range(source, edit.span, encoding),
            new_text: edit.text.clone(),
        })
    };
    let edits: Option<Vec<TextEdit>> = fix.edits.iter().map(edit).collect();
    edits.filter(|edits| !edits.is_empty())
}

/// Returns the action that applies every safe fix, as `lint --fix` does.
fn fix_all(
    analysis: &Analysis,
    uri: &Uri,
    rules: &dyn FileRules,
    encoding: Encoding,
) -> Option<CodeAction> {
    let source = analysis.sources.file(analysis.file);
    // Hints are what `lint` doesn't show: each is applied by itself.
    let mut findings = analysis.findings.iter();
    let has_safe = findings.any(|finding| {
        let is_shown = finding.severity > Severity::Hint;
        let mut fixes = finding.fixes.iter();
        is_shown && fixes.any(|fix| fix.applicability == Applicability::Safe)
    });
    if !has_safe {
        return None;
    }
    let fixed = fix_text(
        source.name(),
        source.text(),
        &options(rules),
        Applicability::Safe,
        |it| rules.severity_of(it).is_some_and(|it| it > Severity::Hint),
    );
    let edit = whole_edit(source, fixed.text(), encoding)?;
    Some(CodeAction {
        title: "apply every safe fix of Statemark".to_owned(),
        kind: Some(CodeActionKind::new(FIX_ALL)),
        edit: Some(workspace_edit(uri, vec![edit])),
        ..CodeAction::default()
    })
}

/// Returns the edits that give a document its canonical form, as `fmt` does; none if it has errors.
pub(crate) fn formatting(analysis: &Analysis, encoding: Encoding) -> Option<Vec<TextEdit>> {
    let source = analysis.sources.file(analysis.file);
    match format_text(source.name(), source.text()) {
        Formatted::Text(text) => Some(whole_edit(source, &text, encoding).into_iter().collect()),
        _ => None,
    }
}

/// Returns an edit of one document.
pub(crate) fn workspace_edit(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit {
        changes: Some(std::iter::once((uri.clone(), edits)).collect()),
        ..WorkspaceEdit::default()
    }
}

/// Returns the edit that makes a text another one, as small as one edit can be; none if they are equal.
fn whole_edit(source: &SourceFile, new: &str, encoding: Encoding) -> Option<TextEdit> {
    let old = source.text();
    if old == new {
        return None;
    }
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(one, other)| one == other)
            .map(|(one, _)| one.len_utf8())
            .sum()
    };
    // A line's end is one place, so neither side may begin or end within it.
    let mut start = common(&mut old.chars().zip(new.chars()));
    if old.get(..start).is_some_and(|it| it.ends_with('\r')) {
        start -= 1;
    }
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let mut tail = common(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    let end = old.len() - tail;
    if old.get(end..).is_some_and(|it| it.starts_with('\n')) {
        let is_split = |text: &str, at: usize| text.get(..at).is_some_and(|it| it.ends_with('\r'));
        if is_split(old, end) || is_split(new, new.len() - tail) {
            tail -= 1;
        }
    }
    let end = u32::try_from(old.len() - tail).ok()?;
    let start_byte = u32::try_from(start).ok()?;
    Some(TextEdit {
        range: Range {
            start: position(source, start_byte, encoding),
            end: position(source, end, encoding),
        },
        new_text: new.get(start..new.len() - tail)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use statemark_compiler::source::Sources;

    #[test]
    fn one_edit_makes_a_text_another() {
        let texts = [
            "",
            "a",
            "a\r\nb",
            "a\nb",
            "a\r\n\r\nb",
            "éa𝄞",
            "éb𝄞",
            "𝄞𝄞",
            "aXa",
            "aa",
            "aaa\r\n",
        ];
        for old in texts {
            for new in texts {
                let mut sources = Sources::new();
                let file = sources.add("a.md", old);
                for encoding in [Encoding::Utf8, Encoding::Utf16] {
                    let edit = whole_edit(sources.file(file), new, encoding);
                    let mut document =
                        Document::new(Uri::from("file:///a.md"), "a.md".into(), 0, old);
                    if let Some(edit) = edit {
                        let change = gen_lsp_types::TextDocumentContentChangePartial {
                            range: edit.range,
                            text: edit.new_text,
                            ..Default::default()
                        };
                        document.change(1, &[change.into()], encoding);
                    }
                    assert_eq!(document.source().text(), new, "{old:?}");
                }
            }
        }
    }
}
