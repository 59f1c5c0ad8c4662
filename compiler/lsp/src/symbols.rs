//! The outline of a document: machines, their states, what can be folded.

use gen_lsp_types::{
    BaseSymbolInformation, DocumentSymbol, FoldingRange, FoldingRangeKind, Location,
    SymbolInformation, SymbolKind, Uri,
};
use statemark_compiler::Format;
use statemark_compiler::arena::Handle;
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::mermaid::ast::{Body, StatementKind};
use statemark_compiler::ir::{Machine, State};
use statemark_compiler::source::Span;

use crate::analysis::{Analysis, Section};
use crate::document::{Encoding, range};
use crate::hover::kind;

/// Returns the machines of a document with their states.
pub(crate) fn document_symbols(analysis: &Analysis, encoding: Encoding) -> Vec<DocumentSymbol> {
    let sections = analysis.sections().iter();
    let with_machine = sections.filter_map(|it| Some((it, analysis.machine(it)?)));
    with_machine
        .map(|(section, machine)| {
            let span = extent(section);
            let children = states_below(machine, machine.root(), span, (analysis, encoding));
            symbol(
                (&machine.id.value, Some("state machine")),
                SymbolKind::Class,
                (span, section.spec.span),
                children,
                (analysis, encoding),
            )
        })
        .collect()
}

/// Returns the span of a machine: from its heading to the end of its last block.
fn extent(section: &Section) -> Span {
    let blocks = [&section.diagram, &section.definition];
    let spans = blocks.into_iter().flatten().map(Excerpt::full_span);
    spans.fold(section.spec.span, Span::to)
}

fn states_below(
    machine: &Machine,
    parent: Handle<State>,
    within: Span,
    (analysis, encoding): (&Analysis, Encoding),
) -> Vec<DocumentSymbol> {
    let children = machine.states.at(parent).children.iter();
    let named = children.map(|it| (*it, machine.states.at(*it)));
    // What isn't written has no place.
    let named = named.filter(|(_, state)| !state.implied && within.contains(state.span));
    named
        .map(|(handle, state)| {
            let below = states_below(machine, handle, within, (analysis, encoding));
            symbol(
                (&state.id, Some(kind(state))),
                SymbolKind::EnumMember,
                (state.span, state.span),
                below,
                (analysis, encoding),
            )
        })
        .collect()
}

fn symbol(
    (name, detail): (&str, Option<&str>),
    kind: SymbolKind,
    (span, name_span): (Span, Span),
    children: Vec<DocumentSymbol>,
    (analysis, encoding): (&Analysis, Encoding),
) -> DocumentSymbol {
    let source = analysis.sources.file(analysis.file);
    #[expect(deprecated, reason = "the type has the field, which stays empty")]
    DocumentSymbol {
        name: name.to_owned(),
        detail: detail.map(str::to_owned),
        kind,
        tags: None,
        deprecated: None,
        range: range(source, span, encoding),
        selection_range: range(source, name_span, encoding),
        children: Some(children),
    }
}

/// Adds the symbols of a document whose names hold a word, for a list over many documents.
pub(crate) fn add_matching(
    symbols: &[DocumentSymbol],
    query: &str,
    uri: &Uri,
    found: &mut Vec<SymbolInformation>,
) {
    let query = query.to_lowercase();
    for symbol in symbols {
        add_below(symbol, None, &query, uri, found);
    }
}

fn add_below(
    symbol: &DocumentSymbol,
    container: Option<&str>,
    query: &str,
    uri: &Uri,
    found: &mut Vec<SymbolInformation>,
) {
    if symbol.name.to_lowercase().contains(query) {
        #[expect(deprecated, reason = "the type has the field, which stays empty")]
        found.push(SymbolInformation {
            deprecated: None,
            location: Location {
                uri: uri.clone(),
                range: symbol.selection_range,
            },
            base_symbol_information: BaseSymbolInformation {
                name: symbol.name.clone(),
                kind: symbol.kind,
                tags: None,
                container_name: container.map(str::to_owned),
            },
        });
    }
    for child in symbol.children.iter().flatten() {
        add_below(child, Some(&symbol.name), query, uri, found);
    }
}

/// Returns what can be folded: the blocks of machines, composite states and notes.
pub(crate) fn folding_ranges(analysis: &Analysis) -> Vec<FoldingRange> {
    let mut folds = Vec::new();
    let name = analysis.sources.file(analysis.file).name();
    // Any other file is one block, from its first line to its last.
    let has_blocks = Format::of_name(name) == Format::Markdown;
    for section in analysis.sections() {
        let blocks = [&section.diagram, &section.definition];
        if has_blocks {
            for block in blocks.into_iter().flatten() {
                add_fold(block.full_span(), analysis, &mut folds);
            }
        }
        if let Some(diagram) = &section.spec.diagram {
            add_body(&diagram.body, analysis, &mut folds);
        }
    }
    folds
}

/// Adds the statements of a body that are several lines long; the parser limits the depth of bodies.
fn add_body(body: &Body, analysis: &Analysis, folds: &mut Vec<FoldingRange>) {
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Declaration(declaration) => {
                if let Some(inner) = &declaration.body {
                    add_fold(statement.span, analysis, folds);
                    add_body(inner, analysis, folds);
                }
            }
            StatementKind::Note(_) => add_fold(statement.span, analysis, folds),
            _ => {}
        }
    }
}

fn add_fold(span: Span, analysis: &Analysis, folds: &mut Vec<FoldingRange>) {
    let source = analysis.sources.file(analysis.file);
    let start = source.line_index(span.start);
    // A block ends with a line end, which isn't on the line after it.
    let end = source.line_index(span.end.saturating_sub(1).max(span.start));
    if let (true, Ok(start_line), Ok(end_line)) = (start < end, start.try_into(), end.try_into()) {
        folds.push(FoldingRange {
            start_line,
            end_line,
            kind: Some(FoldingRangeKind::Region),
            ..FoldingRange::default()
        });
    }
}
