//! The text before the lexer: line ends, front matter, directives, comments, the header.

use super::{check, check_whole, parse};
use crate::diag::Diags;
use crate::excerpt::Excerpt;
use crate::front::mermaid::{is_state_diagram, parse_diagram};
use crate::source::Sources;

#[test]
fn headers() {
    for header in [
        "stateDiagram",
        "stateDiagram-v2",
        "stateDiagram-V2",
        "\u{feff}stateDiagram",
    ] {
        check_whole(&format!("{header}\na --> b"), "a -> b", &[]);
    }
    check_whole("stateDiagram-v2", "", &[]);
    check_whole("\n\n  stateDiagram-v2 a --> b", "a -> b", &[]);
    check_whole("%% a door\n\nstateDiagram\na --> b", "a -> b", &[]);
}

#[test]
fn missing_headers() {
    let none = "1:1 SM106 this diagram doesn't begin with `stateDiagram-v2`";
    check_whole("a --> b", "a -> b", &[none]);
    check_whole("", "", &["1:1 SM106 this diagram is empty"]);
    check_whole(
        "STATEDIAGRAM-V2\na --> b",
        "a -> b",
        &["1:1 SM106 `STATEDIAGRAM-V2` is no header of a state diagram"],
    );
    check_whole(
        "stateDiagram-v3\na --> b",
        "a -> b",
        &["1:1 SM106 `stateDiagram-v3` is no header of a state diagram"],
    );
    check_whole(
        "flowchart LR\na --> b",
        "a -> b",
        &["1:1 SM106 `flowchart` is not a state diagram"],
    );
    check_whole(
        "# a door\nstateDiagram-v2\na --> b",
        "a -> b",
        &["2:1 SM106 the header must come before everything else"],
    );
    check_whole(
        "stateDiagram-v2 direction LR\na --> b",
        "LeftRight; a -> b",
        &["1:1 SM106 the header needs a line of its own"],
    );
    check(
        "stateDiagram-v2\na --> b",
        "a -> b",
        &["2:1 SM105 a diagram has one header"],
    );
    check("state w {\nstateDiagram\n}", "state w {stateDiagram}", &[]);
}

#[test]
fn line_ends_and_blanks() {
    check_whole(
        "stateDiagram\r\na --> b\r\nb --> c : x\r\n",
        "a -> b; b -> c: \"x\"",
        &[],
    );
    check_whole("stateDiagram\ra --> b\rb --> c", "a -> b; b -> c", &[]);
    check("a\u{a0}-->\u{3000}b", "a -> b", &[]);
    check("\ta-->b", "a -> b", &[]);
    // A run of blanks that doesn't begin with a line end swallows line ends.
    check("a  \n--> b", "a -> b", &[]);
    check("a -->  \nb", "a -> b", &[]);
}

#[test]
fn comments() {
    check(
        "a --> b %% c\n%% d\n  %% e\nb --> c # f\n# g",
        "a -> b; b -> c",
        &[],
    );
    check(
        "note right of a\n one\n %% two\n three\nend note",
        "note right of a: \"one\\n three\"",
        &[],
    );
    check("%%\na --> b", "a -> b", &[]);
    check("a%%b --> c", "a", &[]);
    check(
        "a --> b : x %% y # z",
        "a -> b: \"x %% y # z\"",
        &["2:11 SM123 `%% y # z` is no comment here, but part of a text"],
    );
}

#[test]
fn directives() {
    let directive = "%%{init: {'theme': 'dark'}}%%";
    check_whole(
        &format!("{directive}\nstateDiagram\na --> b"),
        "a -> b",
        &[],
    );
    check(&format!("a --> {directive}b"), "a -> b", &[]);
    check("%%{ wrap }%%\na --> b", "a -> b", &[]);
    // Mermaid's expression takes two words and leaves the rest.
    check(
        "%%{ not a comment\na",
        "comment; a",
        &["2:1 SM122 this directive isn't closed"],
    );
    check(
        "%%{init: { never closed\na --> b",
        "",
        &["2:1 SM122 this directive isn't closed"],
    );
}

#[test]
fn front_matter() {
    let (_, body, found) =
        parse("---\ntitle: A door\nconfig: {look: neo}\n---\nstateDiagram\na --> b");
    assert_eq!((body.statements.len(), found.len()), (1, 0));
    check_whole(
        "  ---\n  title: x\n  ---\nstateDiagram\na --> b",
        "a -> b",
        &[],
    );
    check_whole(
        "---\ntitle: [x\n---\nstateDiagram\na --> b",
        "a -> b",
        &["2:8 SM109 the diagram's front matter is not YAML: `[` isn't closed"],
    );
    check_whole(
        "---\ntitle: x\nstateDiagram\na --> b",
        "a -> b",
        &["1:1 SM109 the diagram's front matter isn't closed"],
    );
    check_whole(
        "\n---\ntitle: x\n---\nstateDiagram\na --> b",
        "a -> b",
        &["2:1 SM109 a diagram's front matter must begin on its first line"],
    );
}

#[test]
fn titles_keep_their_place() {
    let text = "---\n# a comment\ntitle: \"A door: opened\"\n---\nstateDiagram\na --> b";
    let mut sources = Sources::new();
    let file = sources.add("door.mmd", text);
    let mut diags = Diags::new();
    let diagram = parse_diagram(&Excerpt::whole(file, text), &mut diags);
    let title = diagram.title.unwrap();
    assert_eq!(title.value, "A door: opened");
    assert_eq!(sources.text(title.span), "\"A door: opened\"");
    assert_eq!(sources.text(diagram.header.unwrap()), "stateDiagram");
}

/// What Mermaid 12.3 draws above a diagram with the front matter `title: …`.
#[test]
fn titles_are_those_that_mermaid_draws() {
    for (written, drawn) in [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("tRUE", "tRUE"),
        ("\"true\"", "true"),
        ("false", ""),
        ("FALSE", ""),
        ("null", ""),
        ("nUll", "nUll"),
        ("'null'", "null"),
        ("~", ""),
        ("", ""),
        ("''", ""),
        ("12", "12"),
        ("017", "17"),
        ("+5", "5"),
        ("-5", "-5"),
        ("0", ""),
        ("-0", ""),
        ("0.0", ""),
        ("'0'", "0"),
        ("0x1F", "31"),
        ("-0x1F", "-31"),
        ("0x", "0x"),
        ("0x1_F", "0x1_F"),
        ("0o17", "15"),
        ("0b11", "3"),
        ("1_000", "1_000"),
        ("1.10", "1.1"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e", "1e"),
        ("1e3", "1000"),
        ("1.5e3", "1500"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("1e400", "1e400"),
        ("12345678901234567890", "12345678901234567000"),
        (".inf", "Infinity"),
        ("+.inf", "Infinity"),
        ("-.Inf", "-Infinity"),
        ("inf", "inf"),
        (".NaN", ""),
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
    ] {
        let text = format!("---\ntitle: {written}\n---\nstateDiagram\na --> b");
        let mut sources = Sources::new();
        let file = sources.add("door.mmd", text.as_str());
        let mut diags = Diags::new();
        let diagram = parse_diagram(&Excerpt::whole(file, &text), &mut diags);
        let title = diagram.title.map_or_else(String::new, |it| it.value);
        assert_eq!(title, drawn, "`title: {written}`");
    }
}

#[test]
fn detection() {
    for text in [
        "stateDiagram",
        " \n stateDiagram-v2",
        "---\na: 1\n---\nstateDiagram",
        "---\nstateDiagram",
    ] {
        assert!(is_state_diagram(text), "{text:?}");
    }
    for text in [
        "",
        "statediagram",
        "# x\nstateDiagram",
        "graph TD",
        "--- stateDiagram",
    ] {
        assert!(!is_state_diagram(text), "{text:?}");
    }
}

#[test]
fn spans_in_a_quote() {
    let text = "> stateDiagram\r\n> a --> b\r\n> %% c\r\n> b -> c\r\n";
    let mut sources = Sources::new();
    let file = sources.add("quote.md", text);
    let mut excerpt = Excerpt::new(file);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        excerpt.push(line.trim_start_matches("> "), at + 2);
        at += u32::try_from(line.len()).unwrap();
    }
    let mut diags = Diags::new();
    let diagram = parse_diagram(&excerpt, &mut diags);
    assert_eq!(sources.text(diagram.body.statements[0].span), "a --> b");
    let found = diags.into_sorted();
    assert_eq!(sources.text(found[0].primary.span), "->");
    assert_eq!(
        sources
            .file(file)
            .position(found[0].primary.span.start)
            .line,
        4
    );
}
