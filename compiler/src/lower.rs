//! Lowering: from the syntax trees of a spec to one machine.
//!
//! Names become handles, labels become events, guards and actions, `[*]` becomes initial transitions and final states; the
//! rules of the language fill in what the spec leaves out. This never fails: each name that leads nowhere is one diagnostic,
//! and the machine is made without it.
//!
//! The steps, in order: `diagram` and `definition` fill the `draft`; `boundary` closes dead ends and opens scopes; `trigger`
//! gives every transition its events; `ambiguity` splits labels that lead to several places; `finish` sorts and renumbers; `types` checks.

mod ambiguity;
mod boundary;
mod context;
mod definition;
mod diagram;
mod draft;
mod event;
mod expression;
mod fields;
mod finish;
mod guard;
mod messages;
#[cfg(feature = "scxml")]
pub mod scxml;
mod spec;
mod target;
mod transition;
mod trigger;
mod types;

pub use spec::Spec;

use draft::Draft;
use spec::Context;

use crate::diag::{Code, Diagnostic, Diags, nearest};
use crate::front::markdown::document::Heading;
use crate::ir::{Interrupt, Machine};
use crate::source::{Sources, Span, Spanned};

/// Makes the machine of a spec.
///
/// `splits_labels`: a label that leads to several places from one state of a diagram gets an event for each. Otherwise it
/// is left to the checks, which refuse it. If `actions_fail`, actions of the host can fail where the definition doesn't
/// say otherwise.
pub fn lower(
    spec: &Spec,
    sources: &Sources,
    splits_labels: bool,
    actions_fail: bool,
    diags: &mut Diags,
) -> Machine {
    let mut context = Context::new(spec, sources, diags);
    let mut draft = Draft::new(&spec.id.value, spec.span);
    if let Some(definition) = &spec.definition {
        definition::note_spellings(definition, &mut draft);
    }
    match (&spec.diagram, &spec.definition) {
        (Some(diagram), definition) => {
            diagram::add_diagram(diagram, &mut draft, &mut context);
            context.broken = context.diags.has_errors();
            if let Some(definition) = definition {
                definition::add_overlay(definition, &mut draft, &mut context);
            }
            guard::resolve_label_guards(&mut draft, &mut context);
            boundary::close_dead_ends(&mut draft, &mut context);
        }
        (None, Some(definition)) => {
            definition::add_definition(definition, &mut draft, &mut context)
        }
        // A fence that was meant as one of them may have been reported.
        (None, None) if context.diags.has_errors() => {}
        (None, None) => context
            .diags
            .push(empty_section(spec.span, spec.other_fence)),
    }
    let is_empty = draft.states.len() == 1 && (spec.diagram.is_some() || spec.definition.is_some());
    if is_empty && !context.diags.has_errors() {
        context.diags.push(no_state(spec.span));
    }
    boundary::open_scopes(&mut draft, &mut context);
    transition::report_prose(&draft, context.diags);
    let diagram = spec.diagram.as_ref().map(|diagram| diagram.span);
    trigger::resolve_triggers(diagram, sources, &mut draft, context.diags);
    if splits_labels && spec.diagram.is_some() {
        ambiguity::split_labels(spec.definition.as_ref(), &mut draft, context.diags);
    }
    let mut interrupts = Vec::new();
    if let Some(definition) = &spec.definition {
        trigger::intern_matching_events(definition, &mut draft);
        definition::add_declarations(definition, &mut draft, &mut context);
        ambiguity::inherit_details(&mut draft);
        trigger::expand_patterns(&mut draft, &mut context);
        definition::add_event_references(definition, &mut draft, &mut context);
        interrupts = resolve_interrupts(spec, &draft, &mut context);
    }
    definition::let_actions_fail(spec.definition.as_ref(), actions_fail, &mut draft);
    add_instructions(spec, &mut draft, &mut context);
    let comparisons = std::mem::take(&mut draft.comparisons);
    let mut machine = finish::finish(spec, draft, interrupts);
    types::check_types(&mut machine, comparisons.into_values(), &mut context);
    context::check_context(&context.fields, context.diags);
    context::check_inputs(&context.fields, context.diags);
    machine
}

fn resolve_interrupts(spec: &Spec, draft: &Draft, context: &mut Context<'_>) -> Vec<Interrupt> {
    let declared = spec
        .definition
        .iter()
        .flat_map(|definition| &definition.interrupts);
    let mut found = Vec::new();
    for interrupt in declared {
        let pattern = interrupt
            .value
            .pattern
            .as_ref()
            .map_or("", |pattern| &pattern.value);
        let target = interrupt
            .value
            .target
            .as_ref()
            .filter(|target| target.value != "$return");
        let state =
            target.and_then(|target| target::find_state(target, draft::ROOT, draft, context));
        if target.is_some() == state.is_some() {
            found.push(Interrupt {
                name: interrupt.name.clone(),
                pattern: pattern.to_owned(),
                target: state,
            });
        }
    }
    found
}

fn add_instructions(spec: &Spec, draft: &mut Draft, context: &mut Context<'_>) {
    for instructions in &spec.instructions {
        let name = &instructions.state;
        let named = draft
            .state(&name.value)
            .filter(|&state| !draft.get(state).ir.implied);
        let Some(state) = named else {
            let known = context
                .diags
                .comparable(draft.state_ids(), draft.states.len());
            // Between the heading's backticks there can be none.
            let known = nearest(&name.value, known.filter(|id| !id.contains('`')));
            context.diags.push(unknown_instructions(name, known));
            continue;
        };
        if let Some(earlier) = &draft.get(state).ir.instructions {
            context.diags.push(two_instructions(name, earlier.span));
        }
        draft.get_mut(state).ir.instructions = Some(instructions.text.clone());
    }
    for heading in &spec.headings {
        let is_state = draft
            .state(&heading.text.value)
            .is_some_and(|state| !draft.get(state).ir.implied);
        if is_state {
            context.diags.push(unread_instructions(heading));
        }
    }
}

/// Reports a section without a machine. `fence`: a fence that may have been meant as the diagram.
fn empty_section(span: Span, fence: Option<Span>) -> Diagnostic {
    let message = "this section has neither a diagram nor a definition";
    let diagnostic = Diagnostic::new(Code::EmptySection, span, message)
        .label("no machine below this heading")
        .help("add a `mermaid` fence that holds a `stateDiagram-v2`, or a `json definition` fence");
    match fence {
        Some(fence) => diagnostic.related(fence, "not a `mermaid` fence with a state diagram"),
        None => diagnostic,
    }
}

fn no_state(span: Span) -> Diagnostic {
    Diagnostic::new(Code::EmptySection, span, "this machine has no state")
        .label("nothing to be in")
        .help("draw a first one, `[*] --> first_state`, or declare it under `states` in the definition")
}

fn two_instructions(state: &Spanned<String>, earlier: Span) -> Diagnostic {
    let message = format!("`{}` has instructions in two places", state.value);
    Diagnostic::new(Code::TwoInstructions, state.span, message)
        .label("these are used")
        .related(earlier, "these are lost")
        .help("keep one of them; prose below a heading is easier to read and to change")
}

fn unknown_instructions(name: &Spanned<String>, similar: Option<&str>) -> Diagnostic {
    let message = format!("instructions for `{}`, which is no state", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownInstructions, name.span, message)
        .label("no such state")
        .note("nobody will see the text below this heading");
    match similar {
        Some(similar) => diagnostic.did_you_mean(similar, name.span, ""),
        None => diagnostic
            .help("name a state, or take the backticks away if this is an ordinary heading"),
    }
}

fn unread_instructions(heading: &Heading) -> Diagnostic {
    let name = &heading.text.value;
    let message = format!("the text below this heading isn't read as the instructions of `{name}`");
    Diagnostic::new(Code::UnknownInstructions, heading.text.span, message)
        .label("a state's name")
        .note("a heading of level 3 that is a state's name in backticks begins its instructions")
        .unsafe_fix(
            format!("write ``### `{name}` ``"),
            heading.line,
            format!("### `{name}`"),
        )
}

#[cfg(test)]
mod tests {
    use crate::source::Sources;
    use crate::valid::Valid;
    use crate::{Options, back, compile};

    fn machine(name: &str, text: &str) -> Valid {
        let mut sources = Sources::new();
        sources.add(name, text);
        let mut compiled = compile(&sources, &Options::default());
        assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
        compiled.machines.remove(0)
    }

    fn beside(diagram: &str, definition: &str) -> Valid {
        let text = format!(
            "## STATE-MACHINE\n\n```mermaid\n{diagram}\n```\n\n```json definition\n{definition}\n```\n"
        );
        machine("spec.md", &text)
    }

    #[test]
    fn names_that_differ_in_composition_are_one() {
        let text = "stateDiagram-v2\n[*] --> caf\u{e9}\ncafe\u{301} --> bar : cl\u{e9}\nbar --> caf\u{e9} : cle\u{301}\n";
        let machine = machine("spec.mmd", text);
        assert_eq!(machine.named_states().count(), 2);
        assert_eq!(machine.events.len(), 1);
        assert!(machine.state_named("caf\u{e9}").is_some());
    }

    #[test]
    fn a_branch_is_added_to_its_own_event_alone() {
        let machine = beside(
            "stateDiagram-v2\n[*] --> a\na --> b : go, run\nb --> [*] : end",
            r#"{
                "guards": { "one": { "field": "x", "op": "eq", "value": 1 } },
                "states": { "a": { "on": { "go": { "target": "b", "guard": "one" }, "run": "b" } } }
            }"#,
        );
        let written = back::mermaid::write(&machine);
        assert!(
            written.contains("a --> b : run\n    a --> b : go [x == 1]"),
            "{written}"
        );
    }

    #[test]
    fn a_guard_of_the_definition_answers_the_words_of_the_diagram() {
        let machine = beside(
            "stateDiagram-v2\n[*] --> a\na --> b : go [attempts < 3]\nb --> [*] : end",
            r#"{
                "guards": { "few": { "field": "attempts", "op": "lt", "value": 3 } },
                "states": { "a": { "on": { "go": { "target": "b", "guard": "few" } } } }
            }"#,
        );
        assert_eq!(machine.guards.len(), 0, "the host is asked nothing");
        assert_eq!(machine.fields.len(), 1);
    }
}
