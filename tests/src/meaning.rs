//! What a spec means, in a line a transition: the rules of the language that no diagnostic shows.

use statemark_compiler::diag::Severity;
use statemark_compiler::ir::Machine;

use crate::corpus::compile_text;

/// Every transition as `source event target`, in document order.
fn transitions(machine: &Machine) -> Vec<String> {
    let name = |state| machine.states.at(state).id.clone();
    let event = |event| machine.events.at(event).id.clone();
    machine
        .transitions
        .iter()
        .map(|(_, transition)| {
            let events: Vec<String> = transition.triggers.iter().map(|&e| event(e)).collect();
            let guard = if transition.guard.is_some() { "?" } else { "" };
            let target = transition.target().map_or_else(|| "-".to_owned(), name);
            format!(
                "{} {}{guard} {target}",
                name(transition.source),
                events.join("|")
            )
        })
        .collect()
}

fn check(diagram: &str, expected: &[&str]) {
    let (_, compiled) = compile_text("spec.mmd", &format!("stateDiagram-v2\n{diagram}\n"));
    let errors: Vec<&str> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(errors, Vec::<&str>::new(), "{diagram}");
    assert_eq!(transitions(&compiled.machines[0]), expected, "{diagram}");
}

#[test]
fn labels_mean_what_the_language_says() {
    for (diagram, expected) in [
        // A missing label: by where it leads.
        (
            "[*] --> a\na --> b\nb --> [*]",
            &["a to_b b", "b done b_end"][..],
        ),
        // Prose is an event; spellings with the same words are one.
        (
            "[*] --> a\na --> b : User pays\nb --> a : planReady\nb --> [*] : plan_ready [late]",
            &["a user_pays b", "b planReady a", "b planReady? b_end"],
        ),
        // Several events, a guard alone, `else` behind its siblings.
        (
            "[*] --> a\na --> b : x, y\nb --> a : [else]\nb --> [*] : [ready]",
            &["a x|y b", "b ? b_end", "b  a"],
        ),
        // A parenthesis is a comment, unless it tells two targets apart.
        (
            "[*] --> a\na --> b : go (fast)\nb --> c : end (won)\nb --> d : end (lost)\nc --> [*] : x\nd --> [*] : x",
            &[
                "a go b",
                "b end_won c",
                "b end_lost d",
                "c x c_end",
                "d x d_end",
            ],
        ),
        // A composite that can be done is left when it is; one that can't, on an event.
        (
            "[*] --> A\nstate A {\n[*] --> x\nx --> [*] : ok\n}\nA --> B\nstate B {\n[*] --> y\ny --> y : z\n}\nB --> [*] : e",
            &["A done.state.A B", "x ok x_end", "B e B_end", "y z y"],
        ),
        // A state of the author's that is called like an implied end is a state of its own.
        (
            "[*] --> lock\nlock --> [*] : x\nlock --> lock_end : z\nlock_end --> lock : again",
            &[
                "lock x lock_end_2",
                "lock z lock_end",
                "lock_end again lock",
            ],
        ),
    ] {
        check(diagram, expected);
    }
}
