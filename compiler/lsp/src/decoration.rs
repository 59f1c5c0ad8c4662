//! Decorations of the text: colors of names, counts of transitions, commands at a machine.

use gen_lsp_types::{
    CodeLens, Command, InlayHint, Label, Range, SemanticToken, SemanticTokens,
    SemanticTokensLegend, Uri,
};
use serde_json::json;
use statemark_compiler::NameKind;
use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Machine, State, StateKind};

use crate::analysis::{Analysis, Section, holds};
use crate::document::{Encoding, position, range};
use crate::names::bare;

/// The command of editors that shows the drawing of a machine.
pub(crate) const PREVIEW: &str = "statemark.preview";

/// The command of editors that steps a machine.
pub(crate) const SIMULATE: &str = "statemark.simulate";

/// The types of tokens, in the order of [`NameKind`].
const TOKEN_TYPES: [&str; 4] = ["class", "event", "property", "function"];

/// Returns the types and modifiers of tokens.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TOKEN_TYPES.map(str::to_owned).to_vec(),
        token_modifiers: vec!["declaration".to_owned()],
    }
}

/// Returns the names in the diagrams and definitions of a document.
pub(crate) fn semantic_tokens(analysis: &Analysis, encoding: Encoding) -> SemanticTokens {
    let source = analysis.sources.file(analysis.file);
    let mut found: Vec<(Range, u32, u32)> = Vec::new();
    for section in analysis.sections() {
        for mention in section
            .mentions
            .iter()
            .filter(|it| is_code(section, it.span.range().start))
        {
            let range = range(source, bare(analysis, mention.span), encoding);
            let kind = match mention.kind {
                NameKind::State => 0,
                NameKind::Event => 1,
                NameKind::Guard => 2,
                NameKind::Action => 3,
            };
            found.push((range, kind, u32::from(mention.declares)));
        }
    }
    found.sort_by_key(|(range, ..)| range.start);
    let mut data = Vec::new();
    let (mut line, mut column, mut end) = (0, 0, 0);
    for (range, token_type, modifiers) in found {
        let (at, is_line) = (range.start, range.start.line == range.end.line);
        let is_free = at.line > line || at.character >= end || data.is_empty();
        if !is_line || !is_free || range.start == range.end {
            continue;
        }
        let on_line = at.line == line;
        data.push(SemanticToken {
            delta_line: at.line - line,
            delta_start: if on_line {
                at.character - column
            } else {
                at.character
            },
            length: range.end.character - at.character,
            token_type,
            token_modifiers_bitset: modifiers,
        });
        (line, column, end) = (at.line, at.character, range.end.character);
    }
    SemanticTokens {
        result_id: None,
        data,
    }
}

fn is_code(section: &Section, byte: usize) -> bool {
    holds(section.diagram.as_ref(), byte) || holds(section.definition.as_ref(), byte)
}

/// Returns the number of ways into and out of each state, where it is declared.
pub(crate) fn inlay_hints(
    analysis: &Analysis,
    wanted: Range,
    encoding: Encoding,
) -> Vec<InlayHint> {
    let source = analysis.sources.file(analysis.file);
    let mut hints = Vec::new();
    for section in analysis.sections() {
        let Some(machine) = analysis.machine(section) else {
            continue;
        };
        let declared = section.mentions.iter();
        let declared = declared.filter(|it| it.declares && it.kind == NameKind::State);
        for mention in declared {
            let at = position(source, mention.span.end, encoding);
            if at < wanted.start || wanted.end < at {
                continue;
            }
            let Some(state) = machine.state_named(&mention.name) else {
                continue;
            };
            let Some(label) = count_ways(machine, state) else {
                continue;
            };
            hints.push(InlayHint {
                position: at,
                label: Label::String(label),
                kind: None,
                text_edits: None,
                tooltip: None,
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        }
    }
    hints
}

/// Returns how many ways lead into a state and out of it: `3 in, 2 out`.
fn count_ways(machine: &Machine, state: Handle<State>) -> Option<String> {
    let own = machine.states.at(state);
    if !matches!(
        own.kind,
        StateKind::Atomic | StateKind::Compound | StateKind::Parallel | StateKind::Final
    ) {
        return None;
    }
    let transitions = || {
        machine
            .transitions
            .iter()
            .map(|(_, it)| it)
            .filter(|it| !it.implied)
    };
    let initials = machine
        .states
        .iter()
        .filter_map(|(_, it)| it.initial.as_ref());
    let starts = initials.filter(|it| it.targets.contains(&state)).count();
    let into = transitions()
        .filter(|it| it.targets.contains(&state))
        .count()
        + starts;
    let out = transitions().filter(|it| it.source == state).count();
    Some(match own.kind {
        StateKind::Final => format!("{into} in"),
        _ => format!("{into} in, {out} out"),
    })
}

/// Returns the commands at each machine without an error, of those that the editor has.
pub(crate) fn code_lenses(
    analysis: &Analysis,
    uri: &Uri,
    commands: &[String],
    encoding: Encoding,
) -> Vec<CodeLens> {
    let source = analysis.sources.file(analysis.file);
    let known = [(PREVIEW, "Preview"), (SIMULATE, "Simulate")];
    let mut lenses = Vec::new();
    for machine in &analysis.valid {
        for (command, title) in known {
            if !commands.iter().any(|it| it == command) {
                continue;
            }
            lenses.push(CodeLens {
                range: range(source, machine.span, encoding),
                command: Some(Command {
                    title: title.to_owned(),
                    command: command.to_owned(),
                    arguments: Some(vec![json!(uri), json!(machine.id.value)]),
                    ..Command::default()
                }),
                data: None,
            });
        }
    }
    lenses
}
