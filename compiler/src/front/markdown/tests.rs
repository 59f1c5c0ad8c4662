//! Each rule of documents by example: text, what comes of it, what is said of it.

mod survival;

use std::fmt::Write as _;

use super::document::Document;
use super::{has_near_miss, parse_document, speaks_of_state_machines};
use crate::diag::{Diagnostic, Diags};
use crate::source::Sources;

fn parse(text: &str) -> (Sources, Document, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let file = sources.add("t.md", text);
    let mut diags = Diags::new();
    let mut document = parse_document(file, text, false, &mut diags);
    for section in &mut document.sections {
        diags.append(std::mem::take(&mut section.diags));
    }
    (sources, document, diags.into_sorted())
}

/// Everything that a document says, a line each, and then what is said of it.
fn summary(text: &str) -> String {
    let (sources, document, list) = parse(text);
    let mut out = String::new();
    for (key, value) in [
        ("name", &document.name),
        ("description", &document.description),
    ] {
        if let Some(it) = value {
            writeln!(out, "{key} {:?} <{}>", it.value, sources.text(it.span)).unwrap();
        }
    }
    for section in &document.sections {
        write!(out, "section <{}>", sources.text(section.heading)).unwrap();
        if let Some(name) = &section.name {
            assert_eq!(name.value, sources.text(name.span));
            write!(out, " {:?}", name.value).unwrap();
        }
        out.push('\n');
        if let Some(diagram) = &section.diagram {
            writeln!(out, "  diagram {:?}", diagram.text()).unwrap();
        }
        if let Some(definition) = &section.definition {
            writeln!(
                out,
                "  definition {:?} {}",
                definition.text.text(),
                definition.comments
            )
            .unwrap();
        }
        for it in &section.instructions {
            assert_eq!(it.state.value, sources.text(it.state.span));
            writeln!(
                out,
                "  {} {:?} <{}>",
                it.state.value,
                it.text.value,
                sources.text(it.text.span)
            )
            .unwrap();
        }
    }
    for it in &list {
        let at = sources
            .file(it.primary.span.file)
            .position(it.primary.span.start);
        writeln!(
            out,
            "{}:{} {} {} <{}>",
            at.line,
            at.column,
            it.code,
            it.message,
            sources.text(it.primary.span)
        )
        .unwrap();
        for label in &it.related {
            writeln!(
                out,
                "  see {} <{}>",
                label.message,
                sources.text(label.span)
            )
            .unwrap();
        }
        for fix in &it.fixes {
            for edit in &fix.edits {
                writeln!(
                    out,
                    "  {:?}: {:?} to {:?}",
                    fix.applicability,
                    sources.text(edit.span),
                    edit.text
                )
                .unwrap();
            }
        }
    }
    out
}

fn check(text: &str, expected: &str) {
    let expected = expected.trim_start_matches('\n');
    assert_eq!(summary(text), expected, "{text}");
}

/// The text after the first fix of the first finding.
fn mended(text: &str) -> String {
    let (_, _, list) = parse(text);
    let mut mended = text.to_owned();
    for edit in list[0].fixes[0].edits.iter().rev() {
        mended.replace_range(edit.span.range(), &edit.text);
    }
    mended
}

#[test]
fn a_section_holds_a_diagram_a_definition_and_instructions() {
    check(
        "---\nname: order\ndescription: >\n  How an order\n  goes.\nother: [1]\n---\n# Order\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n  a --> b\n```\n\n```jsonc definition\n{}\n```\n\n### `a`\n\nDo *this*.\n\n```sh\n### `no`\n```\n\n#### More\n\n- x\n\n### `b` ###\n### `c` and more\n\n### d\n## Next\n### `e`\n",
        r###"
name "order" <order>
description "How an order goes." <How an order
  goes.>
section <## STATE-MACHINE>
  diagram "stateDiagram-v2\n  a --> b\n"
  definition "{}\n" true
  a "Do *this*.\n\n```sh\n### `no`\n```\n\n#### More\n\n- x" <Do *this*.

```sh
### `no`
```

#### More

- x>
  b "" <>
"###,
    );
}

#[test]
fn sections_begin_and_end_at_headings() {
    for (text, expected) in [
        ("## STATE-MACHINE", "section <## STATE-MACHINE>\n"),
        (
            "##  STATE-MACHINE: an order  ##\n",
            "section <##  STATE-MACHINE: an order  ##> \"an order\"\n",
        ),
        (
            "## STATE-MACHINE:`order`\n",
            "section <## STATE-MACHINE:`order`> \"order\"\n",
        ),
        ("## STATE-MACHINE ##\n", "section <## STATE-MACHINE ##>\n"),
        ("## STATE-MACHINE:\n", "section <## STATE-MACHINE:>\n"),
        (
            "STATE-MACHINE\n-------\n",
            "section <STATE-MACHINE\n------->\n",
        ),
        (
            "\u{feff}## STATE-MACHINE: größe\r\n",
            "section <## STATE-MACHINE: größe> \"größe\"\n",
        ),
        ("```md\n## STATE-MACHINE\n```\n", ""),
        ("    ## STATE-MACHINE\n", ""),
        ("<!--\n## STATE-MACHINE\n-->\n", ""),
        (
            "## STATE-MACHINE: a\n### `x`\nX\n# B\n### `y`\n## STATE-MACHINE: b\n### `z`\nZ",
            "section <## STATE-MACHINE: a> \"a\"\n  x \"X\" <X>\nsection <## STATE-MACHINE: b> \"b\"\n  z \"Z\" <Z>\n",
        ),
        // A heading inside a quote ends nothing outside it, and a section inside one ends with it.
        (
            "## STATE-MACHINE\n\n> ## Aside\n\n### `x`\n\nX\n",
            "section <## STATE-MACHINE>\n  x \"X\" <X>\n",
        ),
        (
            "> ## STATE-MACHINE: q\n> ### `x`\n>\n> X\n>   Y\n\n### `y`\nno\n",
            "section <## STATE-MACHINE: q> \"q\"\n  x \"X\\n  Y\" <X\n>   Y>\n",
        ),
        (
            "- ## STATE-MACHINE\n  ### `x`\n\n  - X\n    Y\n- ### `y`\n",
            "section <## STATE-MACHINE>\n  x \"- X\\n  Y\" <- X\n    Y>\n",
        ),
        (
            "Title\n\n---\nnot: front\n\n## STATE-MACHINE\n\n---\n",
            "section <## STATE-MACHINE>\n",
        ),
        (
            "+++\nname = \"x\"\n+++\n## STATE-MACHINE\n",
            "section <## STATE-MACHINE>\n",
        ),
        (
            "---\nname: x\n\n## STATE-MACHINE\n",
            "section <## STATE-MACHINE>\n",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn near_misses_are_no_sections() {
    let diagram = "```mermaid\nstateDiagram-v2\n```\n";
    for (heading, right, applicability) in [
        ("## State Machine", "## STATE-MACHINE", "Unsafe"),
        ("## §STATE-MACHINE", "## STATE-MACHINE", "Safe"),
        ("## STATE_MACHINE", "## STATE-MACHINE", "Safe"),
        ("## State-Machine ##", "## STATE-MACHINE", "Unsafe"),
        ("## 3. State machines", "## STATE-MACHINE", "Unsafe"),
        ("## **STATE-MACHINE**", "## STATE-MACHINE", "Safe"),
        ("### STATE-MACHINE", "## STATE-MACHINE", "Unsafe"),
        ("# STATE-MACHINE", "## STATE-MACHINE", "Unsafe"),
        ("# State machine", "## STATE-MACHINE", "Unsafe"),
        (
            "### STATE-MACHINE: order",
            "## STATE-MACHINE: order",
            "Unsafe",
        ),
        (
            "## STATE-MACHINE order",
            "## STATE-MACHINE: order",
            "Unsafe",
        ),
        (
            "## STATE-MACHINE – an order",
            "## STATE-MACHINE: an order",
            "Unsafe",
        ),
        ("State Machine\n---", "## STATE-MACHINE", "Unsafe"),
        ("## State machine: door", "## STATE-MACHINE: door", "Unsafe"),
        ("## STATE MACHINE: door", "## STATE-MACHINE: door", "Safe"),
        (
            "## State-Machine: `door`",
            "## STATE-MACHINE: door",
            "Unsafe",
        ),
        ("## Statemachine: door", "## STATE-MACHINE: door", "Unsafe"),
        (
            "## State machine (door)",
            "## STATE-MACHINE: door",
            "Unsafe",
        ),
        (
            "## State machine: the door",
            "## STATE-MACHINE: the door",
            "Unsafe",
        ),
        (
            "## STATE MACHINE: the door",
            "## STATE-MACHINE: the door",
            "Safe",
        ),
        ("## State machine:", "## STATE-MACHINE", "Unsafe"),
        ("## The STATE-MACHINE", "## STATE-MACHINE", "Unsafe"),
        ("## The state machine", "## STATE-MACHINE", "Unsafe"),
        ("## STATE-MASCHINE: door", "## STATE-MACHINE: door", "Safe"),
        ("## STATE-MACHIN", "## STATE-MACHINE", "Safe"),
        ("## STAET-MACHINE", "## STATE-MACHINE", "Safe"),
        ("## STAT MACHINE", "## STATE-MACHINE", "Safe"),
        ("> ## STATE-MACHNIE: door", "## STATE-MACHINE: door", "Safe"),
    ] {
        let (heading, diagram, quote) = match heading.strip_prefix("> ") {
            Some(heading) => (heading, diagram.replace('\n', "\n> "), "> "),
            None => (heading, diagram.to_owned(), ""),
        };
        let text = format!("{quote}{heading}\n{quote}\n{quote}{diagram}");
        let column = quote.len() + 1;
        let written = serde_json::Value::from(heading).to_string();
        check(
            &text,
            &format!(
                "1:{column} SM101 this heading starts no state machine <{heading}>\n  {applicability}: {written} to \"{right}\"\n"
            ),
        );
        let (_, document, list) = parse(&mended(&text));
        assert_eq!((document.sections.len(), list.len()), (1, 0), "{heading}");
    }
    for heading in [
        "## How the state machine works",
        "## State machine: how it works",
        "## STATE-MACHINE sections and what they hold",
        "## State machinery",
        "# State machines",
        "### State Machine",
        "## State machines in Rust",
        "## The state machine",
        "## State machine: door",
        "## State machin",
        "## Estate machine",
    ] {
        check(&format!("{heading}\n\nProse about a state machine.\n"), "");
    }
    // Without a diagram it is said as well, but isn't mended without asking; nor where a section is.
    check(
        "## State Machine\n",
        "1:1 SM101 this heading starts no state machine <## State Machine>\n  Unsafe: \"## State Machine\" to \"## STATE-MACHINE\"\n",
    );
    assert!(
        summary(&format!("## STATE-MACHINE\n## State Machine\n{diagram}")).contains("  Unsafe")
    );
    for text in ["## STATE-MASCHINE", "x\n> - ## STAET-MACHINE: x"] {
        assert!(!speaks_of_state_machines(text) && has_near_miss(text));
    }
    check(
        "## STATE-MASCHINE: door\n",
        "1:1 SM101 this heading starts no state machine <## STATE-MASCHINE: door>\n  Unsafe: \"## STATE-MASCHINE: door\" to \"## STATE-MACHINE: door\"\n",
    );
    check(
        &format!("## STATE-MACHINE\n### State machine\n{diagram}"),
        "section <## STATE-MACHINE>\n  diagram \"stateDiagram-v2\\n\"\n",
    );
}

#[test]
fn a_heading_wants_a_blank() {
    let diagram = "```mermaid\nstateDiagram-v2\n```\n";
    for (line, right) in [
        ("##STATE-MACHINE", "## STATE-MACHINE"),
        ("##STATE-MACHINE: door", "## STATE-MACHINE: door"),
    ] {
        for text in [
            format!("{line}\n\n{diagram}"),
            format!("Prose\n{line}  \nmore\n{diagram}"),
        ] {
            assert_eq!(mended(&text), text.replace(line, right));
            let (_, _, list) = parse(&text);
            assert_eq!(list.len(), 1, "{text}");
            let message = "this line is no heading, and starts no state machine";
            assert_eq!(list[0].message, message);
        }
    }
    for text in [
        "Write ##STATE-MACHINE there.\n",
        "##STATE-MACHINES\n",
        "##STATE-MACHINE and more\n",
        "`##STATE-MACHINE`\n",
        "    ##STATE-MACHINE\n",
        "```\n##STATE-MACHINE\n```\n",
    ] {
        check(text, "");
    }
}

#[test]
fn headings_that_start_no_instructions_are_kept() {
    let text = "## STATE-MACHINE\n### door\n### `a`\n#### `b` ##\n##### **c** x\n> ### q\n\n### State machine\n##\n### out\n";
    let (sources, document, _) = parse(text);
    let headings = document.sections[0].headings.iter().map(|it| {
        let (text, line) = (sources.text(it.text.span), sources.text(it.line));
        format!("{} {} <{text}> <{line}>", it.level, it.text.value)
    });
    assert_eq!(
        headings.collect::<Vec<_>>(),
        [
            "3 door <door> <### door>",
            "4 b <b> <#### `b` ##>",
            "5 c x <**c** x> <##### **c** x>",
            "3 State machine <State machine> <### State machine>",
        ]
    );
}

#[test]
fn the_first_fence_of_another_kind_is_kept() {
    let section = |fences: &str| {
        let text = format!("## STATE-MACHINE\n{fences}");
        let (sources, document, _) = parse(&text);
        let fence = document.sections[0].other_fence;
        fence.map(|span| (span.start, sources.text(span).to_owned()))
    };
    let diagram = "stateDiagram-v2\na --> b\n```\n";
    assert_eq!(
        section(&format!("```mermaid\nflowchart LR\n```\n```\n{diagram}")),
        Some((17, "```mermaid".to_owned()))
    );
    assert_eq!(
        section(&format!("```\nx\n```\n```mermaid\n{diagram}```\n{diagram}")),
        None
    );
    assert_eq!(
        section(&format!("```text\n{diagram}```json\n{{}}\n```\n")),
        None
    );
}

#[test]
fn the_first_fence_of_a_kind_counts() {
    check(
        "## STATE-MACHINE\n```mermaid\nflowchart LR\n```\n```mermaid\n%% x\nstateDiagram\n```\n~~~~ Mermaid {x}\nstateDiagram-v2\n~~~~\n```json definition\n{}\n```\n```json definition\n[]\n```\n",
        r#"
section <## STATE-MACHINE>
  diagram "%% x\nstateDiagram\n"
  definition "{}\n" false
9:1 SM102 the section has another state diagram already, so this one is ignored <~~~~ Mermaid {x}>
  see this is the section's diagram <```mermaid>
15:1 SM111 the section has another definition already, so this one is ignored <```json definition>
  see this is the section's definition <```json definition>
"#,
    );
    check(
        "## STATE-MACHINE\n```json\n{\"event\": 1}\n```\n```JSON  title=x\n{\"states\": {}}\n```\n```jsonc\n{\"states\": {}}\n```\n",
        r#"
section <## STATE-MACHINE>
5:1 SM110 this looks like a definition, but a plain `json` fence is an example and isn't read <```JSON  title=x>
  Unsafe: "" to " definition"
"#,
    );
    assert_eq!(
        mended("## STATE-MACHINE\n```JSON  title=x\n{\"states\": {}}\n```\n"),
        "## STATE-MACHINE\n```JSON definition  title=x\n{\"states\": {}}\n```\n"
    );
    check(
        "## STATE-MACHINE\n```json\n{\"states\": {}}\n```\n```json definition\n```\n",
        "section <## STATE-MACHINE>\n  definition \"\\n\" false\n",
    );
}

#[test]
fn unclosed_fences_are_cut_where_they_plainly_end() {
    check(
        "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\na --> b",
        r#"
section <## STATE-MACHINE>
  diagram "stateDiagram-v2\na --> b"
2:1 SM104 this fence isn't closed <```mermaid>
  Safe: "" to "\n```"
"#,
    );
    check(
        "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\na --> b\n\n### `a`\n\ntext\n",
        r#"
section <## STATE-MACHINE>
  diagram "stateDiagram-v2\na --> b\n\n"
2:1 SM104 this fence isn't closed <```mermaid>
  see it continues past here, which is left out of it <### `a`>
  Unsafe: "" to "```\n"
"#,
    );
    check(
        "## STATE-MACHINE\n> ```mermaid\n> stateDiagram-v2\n> a --> b\n> ```json definition\n> {}\n> ```\n",
        r#"
section <## STATE-MACHINE>
  diagram "stateDiagram-v2\na --> b\n"
2:3 SM104 this fence isn't closed <```mermaid>
  see it continues past here, which is left out of it <```json definition>
  Unsafe: "" to "```\n> "
"#,
    );
    assert_eq!(
        summary(&mended(
            "## STATE-MACHINE\n> ```mermaid\n> stateDiagram-v2\n> ```json definition\n> {}\n> ```\n"
        )),
        "section <## STATE-MACHINE>\n  diagram \"stateDiagram-v2\\n\"\n  definition \"{}\\n\" false\n"
    );
    // A list item's end closes its fence, which is worth a word; the fix stays inside.
    let item = "## STATE-MACHINE\n- x\n  ~~~mermaid\n  stateDiagram-v2\n\nafter\n";
    assert_eq!(
        summary(&mended(item)),
        "section <## STATE-MACHINE>\n  diagram \"stateDiagram-v2\\n\\n\"\n"
    );
    check("Of a state machine:\n```x\n", "");
}

#[test]
fn excerpts_know_their_places() {
    for text in [
        "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\n  größe --> 日本\n```\n",
        "## STATE-MACHINE\r\n```mermaid\r\nstateDiagram-v2\r\n\r\n  größe --> 日本\r\n```\r\n",
        "## STATE-MACHINE\n> ```mermaid\n> stateDiagram-v2\n>\n>\tgröße --> 日本\n> ```\n",
        "## STATE-MACHINE\n> - > ```mermaid\n>   > stateDiagram-v2\n>   >   größe --> 日本\n>   > ```\n",
        "## STATE-MACHINE\n- ```mermaid\n\tstateDiagram-v2\n  \t\tgröße --> 日本\n  ```\n",
        "\u{feff}## STATE-MACHINE\n   ```mermaid\n   stateDiagram-v2\n größe --> 日本\n   ```\n",
        "## STATE-MACHINE\n1. x\r\n\r\n   ~~~mermaid\r\n\tstateDiagram-v2\r\n\tgröße --> 日本\r\n   ~~~\r\n",
        "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\ngröße --> 日本",
        "## STATE-MACHINE\n!!! note\n    ```mermaid\n    stateDiagram-v2\n\n      größe --> 日本\n    ```\n",
        "## STATE-MACHINE\r\n??? a \"b\"\r\n\r\n\t~~~mermaid\r\n\tstateDiagram-v2\r\n\t\tgröße --> 日本\r\n\t~~~\r\n",
        "## STATE-MACHINE\n> - === \"A\"\n>       !!! b\n>\n>           ```mermaid\n>           stateDiagram-v2\n>           größe --> 日本\n",
    ] {
        let (sources, document, _) = parse(text);
        let diagram = document.sections[0].diagram.as_ref().unwrap();
        assert!(!diagram.text().contains('\r'), "{text:?}");
        for word in ["stateDiagram-v2", "größe", "größe --> 日本", "日本"] {
            let at = diagram.text().find(word).unwrap();
            assert_eq!(
                sources.text(diagram.span(at..at + word.len())),
                word,
                "{text:?}"
            );
        }
        for (at, sign) in diagram.text().char_indices() {
            let place = sources.text(diagram.span(at..at + sign.len_utf8()));
            // A part of a tab is a blank that came from the whole tab.
            assert!(
                place.starts_with(sign) || (sign == ' ' && place == "\t"),
                "{at} {place:?} {text:?}"
            );
        }
    }
}

#[test]
fn blocks_of_mkdocs_hold_what_a_section_has() {
    check(
        "## STATE-MACHINE\n\n??? note \"Drawing\"\n    ```mermaid\n    stateDiagram-v2\n        a --> b\n\n        b --> c\n    ```\n\n=== \"Rules\"\n\n\tText.\n\n\t```json definition\n\t{}\n\t```\n\n### `a`\n\nWait.\n",
        r#"
section <## STATE-MACHINE>
  diagram "stateDiagram-v2\n    a --> b\n\n    b --> c\n"
  definition "{}\n" false
  a "Wait." <Wait.>
"#,
    );
    // Code that is indented is code, in such a block and outside of one.
    for code in [
        "As typed:\n\n    ```mermaid\n    stateDiagram-v2\n    ```\n",
        "!!! note\n\n        ```mermaid\n        stateDiagram-v2\n        ```\n",
    ] {
        let text = format!("## STATE-MACHINE\n\n{code}");
        check(&text, "section <## STATE-MACHINE>\n");
    }
}

#[test]
fn front_matter_is_read_or_the_place_is_told() {
    let section = "## STATE-MACHINE\n";
    for (front, expected) in [
        ("---\nname: é\r\n---\r\n", "name \"é\" <é>\n"),
        (
            "\u{feff}---\nname: \"a b\"\n...\n",
            "name \"a b\" <\"a b\">\n",
        ),
        ("---\n---\n", ""),
        ("---\n# nothing\n---\n", ""),
        (
            "---\ndescription: é: x\n---\n",
            "2:15 SM108 the front matter can't be read: `: ` in a string without quotes <:>\n",
        ),
        (
            "---\nname: [a]\n---\n",
            "2:7 SM108 the front matter can't be read: expected a string <[>\n",
        ),
        (
            "---\nname: a\nname: b\n---\n",
            "3:1 SM108 the front matter can't be read: the key `name` occurs twice <name>\n",
        ),
        (
            "---\n- a\n---\n",
            "2:1 SM108 the front matter can't be read: expected keys with values <>\n",
        ),
    ] {
        let text = format!("{front}{section}");
        let said = summary(&text).replace("section <## STATE-MACHINE>\n", "");
        assert_eq!(said, expected, "{text}");
    }
    check("---\nname: [a\n---\nOf a state machine.\n", "");
}

#[test]
fn a_document_about_something_else_is_only_scanned() {
    for text in [
        "## STATE-MACHINE",
        "state machine",
        "Statemachines",
        "STATE_MACHINE",
        "**State** — *machine*",
        "s state-MACHINE",
    ] {
        assert!(!has_near_miss(text) || text.starts_with('#'), "{text}");
        assert!(speaks_of_state_machines(text), "{text}");
    }
    for text in [
        "",
        "s",
        "state",
        "state of the machine",
        "a stateless machine",
        "state\n\n\n\n\n\n\n\n\nmachine",
    ] {
        assert!(!speaks_of_state_machines(text), "{text}");
        assert!(!has_near_miss(text), "{text}");
    }
}
