//! Names: where they are declared and used, and new ones.

use gen_lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, PrepareRenamePlaceholder, Range, TextEdit,
    Uri,
};
use statemark_compiler::diag::{Diagnostic as Finding, Severity};
use statemark_compiler::front::words::is_identifier;
use statemark_compiler::source::{Sources, Span};
use statemark_compiler::{Mention, NameKind};

use crate::analysis::{Analysis, Section, holds, is_same};
use crate::document::{Encoding, range};
use crate::project::FileRules;

/// Returns every mention of the thing at a byte.
fn mentions_of(analysis: &Analysis, byte: usize) -> Vec<&Mention> {
    let Some((section, at)) = analysis.mention_at(byte) else {
        return Vec::new();
    };
    let all = section.mentions.iter();
    all.filter(|it| is_same(it, at.kind, &at.name)).collect()
}

/// Returns the mentions that say what something is.
///
/// These are its declarations, or else the first mention outside of prose.
fn definitions<'m>(section: &Section, mentions: &[&'m Mention]) -> Vec<&'m Mention> {
    let declared: Vec<&Mention> = mentions.iter().copied().filter(|it| it.declares).collect();
    if !declared.is_empty() {
        return declared;
    }
    let is_code = |mention: &&&Mention| {
        let byte = mention.span.range().start;
        holds(section.diagram.as_ref(), byte) || holds(section.definition.as_ref(), byte)
    };
    mentions
        .iter()
        .find(is_code)
        .or(mentions.first())
        .copied()
        .into_iter()
        .collect()
}

/// Returns the span of a name without the quotes of its JSON string.
pub(crate) fn bare(analysis: &Analysis, span: Span) -> Span {
    let words = analysis.words(span);
    match words.len() >= 2 && words.starts_with('"') && words.ends_with('"') {
        true => Span {
            start: span.start + 1,
            end: span.end - 1,
            ..span
        },
        false => span,
    }
}

fn name_range(analysis: &Analysis, mention: &Mention, encoding: Encoding) -> Range {
    let source = analysis.sources.file(analysis.file);
    range(source, bare(analysis, mention.span), encoding)
}

/// Returns the places that declare the thing at a byte.
pub(crate) fn definition(
    analysis: &Analysis,
    byte: usize,
    uri: &Uri,
    encoding: Encoding,
) -> Vec<Location> {
    let Some((section, _)) = analysis.mention_at(byte) else {
        return Vec::new();
    };
    let found = definitions(section, &mentions_of(analysis, byte));
    let found = found.into_iter();
    found
        .map(|mention| Location {
            uri: uri.clone(),
            range: name_range(analysis, mention, encoding),
        })
        .collect()
}

/// Returns the places that name the thing at a byte.
pub(crate) fn references(
    analysis: &Analysis,
    byte: usize,
    has_declaration: bool,
    (uri, encoding): (&Uri, Encoding),
) -> Vec<Location> {
    let found = mentions_of(analysis, byte).into_iter();
    found
        .filter(|it| has_declaration || !it.declares)
        .map(|mention| Location {
            uri: uri.clone(),
            range: name_range(analysis, mention, encoding),
        })
        .collect()
}

/// Returns the places that name the thing at a byte, to be highlighted.
pub(crate) fn highlights(
    analysis: &Analysis,
    byte: usize,
    encoding: Encoding,
) -> Vec<DocumentHighlight> {
    let found = mentions_of(analysis, byte).into_iter();
    found
        .map(|mention| DocumentHighlight {
            range: name_range(analysis, mention, encoding),
            kind: Some(match mention.declares {
                true => DocumentHighlightKind::Write,
                false => DocumentHighlightKind::Read,
            }),
        })
        .collect()
}

/// Returns the name at a byte, to be replaced.
///
/// # Errors
///
/// It can't be renamed: the reason.
pub(crate) fn prepare_rename(
    analysis: &Analysis,
    byte: usize,
    encoding: Encoding,
) -> Result<PrepareRenamePlaceholder, String> {
    let (_, at) = renamed(analysis, byte)?;
    Ok(PrepareRenamePlaceholder {
        range: name_range(analysis, at, encoding),
        placeholder: at.name.clone(),
    })
}

/// Returns the edits that rename the thing at a byte, in diagram, definition and prose.
///
/// # Errors
///
/// It can't be renamed, or not so: the reason.
pub(crate) fn rename(
    analysis: &Analysis,
    byte: usize,
    new: &str,
    (rules, encoding): (&dyn FileRules, Encoding),
) -> Result<Vec<TextEdit>, String> {
    let (section, at) = renamed(analysis, byte)?;
    if !is_identifier(new) {
        return Err(format!(
            "`{new}` is no name: use letters, digits, `_`, `-` or `.`, and begin with a letter"
        ));
    }
    let is_other = |it: &&Mention| is_same(it, at.kind, new) && !is_same(it, at.kind, &at.name);
    if section.mentions.iter().any(|it| is_other(&it)) {
        let kind = word(at.kind);
        return Err(format!("there is another {kind} `{new}` in this machine"));
    }
    let all = section.mentions.iter();
    let all = all.filter(|it| is_same(it, at.kind, &at.name));
    let spans: Vec<Span> = all.map(|it| bare(analysis, it.span)).collect();
    check_renamed(analysis, &spans, new, rules)?;
    let source = analysis.sources.file(analysis.file);
    let edit = |span: Span| TextEdit {
        range: range(source, span, encoding),
        new_text: new.to_owned(),
    };
    Ok(spans.into_iter().map(edit).collect())
}

/// Compiles the document with a new name at some spans, which are ascending and disjoint.
fn check_renamed(
    analysis: &Analysis,
    spans: &[Span],
    new: &str,
    rules: &dyn FileRules,
) -> Result<(), String> {
    let text = analysis.text();
    let (mut renamed, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        renamed.push_str(text.get(at..span.range().start).unwrap_or_default());
        renamed.push_str(new);
        at = span.range().end;
    }
    renamed.push_str(text.get(at..).unwrap_or_default());
    let mut sources = Sources::new();
    let file = sources.add(analysis.sources.file(analysis.file).name(), renamed);
    let after = Analysis::new(sources, file, rules);
    let errors = |analysis: &Analysis| -> Vec<String> {
        let findings = analysis.findings.iter();
        let errors = findings.filter(|it| it.severity == Severity::Error);
        errors.map(|it| it.message.clone()).collect()
    };
    let known = errors(analysis);
    match errors(&after).into_iter().nth(known.len()) {
        Some(error) => Err(format!(
            "with the name `{new}` the spec would have an error: {error}"
        )),
        None => Ok(()),
    }
}

/// Returns what is renamed at a byte.
fn renamed(analysis: &Analysis, byte: usize) -> Result<(&Section, &Mention), String> {
    let Some((section, at)) = analysis.mention_at(byte) else {
        return Err("no state, event, guard or action has its name here".to_owned());
    };
    let name = &at.name;
    let is_unreadable = |finding: &Finding| {
        let byte = finding.primary.span.range().start;
        let is_syntax = finding.severity == Severity::Error && finding.code.id().starts_with("SM1");
        is_syntax && holds(section.diagram.as_ref(), byte)
    };
    let has_error = analysis.findings.iter().any(is_unreadable);
    let is_unread = section.definition.is_some() && section.spec.definition.is_none();
    if has_error || is_unread {
        return Err(format!(
            "`{name}` may stand where this machine can't be read: mend its syntax errors first"
        ));
    }
    let all = section.mentions.iter();
    for mention in all.filter(|it| is_same(it, at.kind, name)) {
        let words = analysis.words(bare(analysis, mention.span));
        let is_name = words == mention.name || at.kind == NameKind::Event;
        if !is_name || words.contains('\\') {
            return Err(format!(
                "`{name}` is written as `{words}` somewhere: write it plainly first"
            ));
        }
        if words.contains('*') {
            return Err(format!("`{words}` is a pattern of several events"));
        }
    }
    if at.kind == NameKind::Event && has_pattern(section, name) {
        return Err(format!(
            "a pattern of events matches `{name}`, and wouldn't after that"
        ));
    }
    Ok((section, at))
}

/// Reports whether a key of `on` matches several events, this one among them.
fn has_pattern(section: &Section, event: &str) -> bool {
    section.mentions.iter().any(|mention| {
        let start = mention.name.strip_suffix(".*");
        mention.kind == NameKind::Event && start.is_some_and(|start| event.starts_with(start))
    })
}

/// Returns the word for a kind of name.
pub(crate) const fn word(kind: NameKind) -> &'static str {
    match kind {
        NameKind::State => "state",
        NameKind::Event => "event",
        NameKind::Guard => "guard",
        NameKind::Action => "action",
    }
}
