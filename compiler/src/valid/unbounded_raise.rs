//! SM405: an event whose handling raises it again.

use std::collections::BTreeSet;

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Event, Machine, Transition};
use crate::pass::reach::Reachability;
use crate::pass::rest::unrests;

/// Reports events that are raised again by what they raise, over any number of steps, in a state where no guard can
/// stop it.
pub(super) fn check(machine: &Machine, reach: &Reachability, diags: &mut Diags) {
    let raises = |(_, action): (_, &crate::ir::Action)| action.kind.raised().is_some();
    if !machine.actions.iter().any(raises) {
        return;
    }
    let leaves = machine
        .leaves()
        .map(|(leaf, _)| leaf)
        .filter(|&leaf| reach.is_active(leaf));
    let mut reported = BTreeSet::new();
    for unrest in unrests(machine, leaves) {
        if reported.insert(unrest.transition) {
            let transition = machine.transitions.at(unrest.transition);
            diags.push(unbounded_raise(machine, unrest.event, transition));
        }
    }
}

fn unbounded_raise(machine: &Machine, event: Handle<Event>, transition: &Transition) -> Diagnostic {
    let id = &machine.events.at(event).id;
    Diagnostic::new(
        Code::UnboundedRaise,
        transition.span,
        format!("handling `{id}` may raise `{id}` again, without end"),
    )
    .label("no guard stops it")
    .note("a step that doesn't come to rest within 1,000 microsteps is undone")
    .help("give the transition a guard, or raise another event")
}

#[cfg(test)]
mod tests {
    use crate::diag::Code;
    use crate::source::Sources;
    use crate::{Options, compile};

    fn is_told(diagram: &str, definition: &str) -> bool {
        let text = format!(
            "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n{diagram}\n```\n\n```json definition\n{definition}\n```\n"
        );
        let mut sources = Sources::new();
        sources.add("spec.md", text);
        let compiled = compile(&sources, &Options::default());
        assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
        let mut all = compiled.diagnostics.iter();
        all.any(|diagnostic| diagnostic.code == Code::UnboundedRaise)
    }

    const AGAIN: &str = r#"{ "actions": { "again": { "raise": "go" } } }"#;

    #[test]
    fn a_circle_counts_only_where_its_event_is_taken() {
        for (expected, diagram) in [
            // Where it leads, nothing takes the event.
            (false, "[*] --> a\na --> b : go / again\nb --> [*] : stop"),
            (true, "[*] --> a\na --> a : go / again\na --> [*] : stop"),
            (
                true,
                "[*] --> a\na --> b : go / again\nb --> a : go / again\na --> [*] : stop",
            ),
            // The way there comes to an end.
            (
                false,
                "[*] --> a\na --> b : go / again\nb --> c : go\nc --> [*] : stop",
            ),
            // A guard may stop it.
            (
                false,
                "[*] --> a\na --> a : go [wanted] / again\na --> [*] : stop",
            ),
            // Two for one.
            (
                true,
                "[*] --> a\na --> a : go / again, again\na --> [*] : stop",
            ),
            // An outer transition that an inner one overrides.
            (
                false,
                "[*] --> a\nstate a {\n[*] --> b\nb --> b : go\n}\na --> a : go / again\na --> [*] : stop",
            ),
        ] {
            assert_eq!(is_told(diagram, AGAIN), expected, "{diagram}");
        }
    }
}
