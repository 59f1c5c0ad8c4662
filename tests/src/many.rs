//! All mistakes of a file come out at once, each at its place, in reading order.

use std::fmt::Write as _;

use statemark_compiler::diag::{Code, Severity};

use crate::specs::{assert_spans, compile_text};

/// How many mistakes are planted of each kind.
const COUNT: usize = 200;

#[test]
fn two_hundred_broken_statements_give_two_hundred_errors() {
    let mut text = String::from(
        "# Größe 𝄞\r\n\r\n> ## STATE-MACHINE\r\n>\r\n> ```mermaid\r\n> stateDiagram-v2\r\n> [*] --> s0\r\n",
    );
    for index in 0..COUNT {
        let next = index + 1;
        writeln!(text, "> \ts{index} --> s{next} : go{index}\r").unwrap();
        writeln!(text, "> \té{index} -> broken{index}\r").unwrap();
    }
    write!(text, "> s{COUNT} --> [*] : done\r\n> ```\r\n").unwrap();
    let (sources, compiled) = compile_text("many.md", &text);
    assert_spans(&sources, &compiled.diagnostics);
    let errors: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    assert_eq!(errors.len(), COUNT);
    for (index, error) in errors.iter().enumerate() {
        assert_eq!(error.code, Code::SyntaxError);
        assert_eq!(sources.text(error.primary.span), "->");
        let position = sources
            .file(error.primary.span.file)
            .position(error.primary.span.start);
        let line = u32::try_from(7 + 2 * index + 2).unwrap();
        let column = u32::try_from(format!("> \té{index} ").chars().count() + 1).unwrap();
        assert_eq!(
            (position.line, position.column),
            (line, column),
            "{}",
            error.message
        );
    }
    assert!(errors.is_sorted_by_key(|error| error.primary.span.start));
}

#[test]
fn two_hundred_wrong_names_give_two_hundred_errors() {
    let mut states = String::new();
    for index in 0..COUNT {
        let next = index + 1;
        writeln!(states, "    \"step_{index}\": {{ \"on\": {{ \"NEXT\": \"step_{next}\", \"FAIL\": \"nowhere\" }} }},").unwrap();
    }
    let text = format!(
        "{{\n  \"id\": \"long\",\n  \"initial\": \"step_0\",\n  \"states\": {{\n{states}    \"step_{COUNT}\": {{ \"type\": \"final\" }}\n  }}\n}}\n"
    );
    let (sources, compiled) = compile_text("long.workflow.json", &text);
    let errors: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    assert_eq!(errors.len(), COUNT);
    for (index, error) in errors.iter().enumerate() {
        assert_eq!(error.code, Code::UnknownState);
        assert_eq!(sources.text(error.primary.span), "\"nowhere\"");
        let position = sources
            .file(error.primary.span.file)
            .position(error.primary.span.start);
        assert_eq!(position.line, u32::try_from(5 + index).unwrap());
    }
}

#[test]
fn several_machines_of_a_document_have_their_own_names() {
    let section = |name: &str| {
        format!(
            "## STATE-MACHINE: {name}\n\n```mermaid\nstateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> shut : pull\n```\n\n"
        )
    };
    let text = format!(
        "# Doors\n\n{}Some prose.\n\n{}## After\n",
        section("front_door"),
        section("back_door")
    );
    let (_, compiled) = compile_text("doors.md", &text);
    let ids: Vec<&str> = compiled
        .machines
        .iter()
        .map(|machine| machine.id.value.as_str())
        .collect();
    assert_eq!(ids, ["front_door", "back_door"]);
    // A door that is never done is a hint.
    let findings: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|it| it.severity != Severity::Hint)
        .collect();
    assert!(findings.is_empty(), "{findings:#?}");
}

/// Each of two thousand transitions on any of two thousand events would have them all.
#[test]
fn patterns_have_a_limit_of_triggers() {
    const MANY: usize = 2_000;
    let list = |item: &dyn Fn(usize) -> String| -> String {
        (0..MANY).map(item).collect::<Vec<_>>().join(",")
    };
    let events = list(&|at| format!("\"e{at}\": {{}}"));
    let states = list(&|at| format!("\"s{at}\": {{\"on\": {{\"*\": \"s0\"}}}}"));
    let definition = format!(
        "{{\"id\": \"it\", \"initial\": \"s0\", \"events\": {{{events}}}, \"states\": {{{states}}}}}"
    );
    let mut scxml = String::from(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\"><state id=\"s\">",
    );
    for at in 0..MANY {
        let row = "<transition event=\"*\" target=\"s\"/>";
        write!(scxml, "<transition event=\"e{at}\" target=\"s\"/>{row}").unwrap();
    }
    scxml.push_str("</state></scxml>");
    for (name, text) in [("it.workflow.json", definition), ("it.scxml", scxml)] {
        let (_, compiled) = compile_text(name, &text);
        let told = compiled.diagnostics.iter().filter(|found| {
            found.code == Code::MachineTooLarge && found.message.contains("1048576 triggers")
        });
        assert_eq!(told.count(), 1, "{name}");
        assert!(compiled.machines.is_empty(), "{name}");
    }
}
