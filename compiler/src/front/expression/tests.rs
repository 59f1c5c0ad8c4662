//! Texts and the trees they become; which texts are expressions at all; spans in every kind of place.

use std::fmt::Write as _;

use super::ast::{Expression, Kind, Literal};
use super::{Reading, Written, parse, read};
use crate::source::{Sources, Span, Spanned, narrow};

/// A text as it stands between the brackets of a label.
fn label(text: &str) -> (Sources, Written) {
    let mut sources = Sources::new();
    let file = sources.add("label", text);
    let span = Span {
        file,
        start: 0,
        end: narrow(text.len()),
    };
    let written = Written::in_label(&Spanned::new(text.to_owned(), span), true);
    (sources, written)
}

/// The tree: operators in front of their operands.
fn dump(expression: &Expression) -> String {
    let list = |name: &str, parts: &[Expression]| {
        let parts: Vec<String> = parts.iter().map(dump).collect();
        format!("({name} {})", parts.join(" "))
    };
    match &expression.kind {
        Kind::Literal(literal) => literal_text(literal),
        Kind::Name(name) => name.clone(),
        Kind::Has(name) => format!("(has {})", name.value),
        Kind::InState(name) => format!("(in_state {})", name.value),
        Kind::Not(inner) => list("!", std::slice::from_ref(inner)),
        Kind::And(parts) => list("&&", parts),
        Kind::Or(parts) => list("||", parts),
        Kind::Unary(operator, inner) => list(operator.name(), std::slice::from_ref(inner)),
        Kind::Binary(operator, operands) => list(operator.name(), operands.as_slice()),
        Kind::Among(inner, items) => {
            let items: Vec<String> = items.iter().map(|item| literal_text(&item.value)).collect();
            format!("(in {} [{}])", dump(inner), items.join(" "))
        }
    }
}

fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Unsigned(value) => format!("{value}u"),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Text(text) => format!("{text:?}"),
    }
}

/// Compares every paragraph of a file: a text on its first line, and behind ` => ` what comes of it.
fn check(expected: &str, made: impl Fn(&str) -> String) {
    let mut actual = String::new();
    for line in expected.lines() {
        match line.split_once(" => ") {
            Some((text, _)) => writeln!(actual, "{text} => {}", made(text)).unwrap(),
            None => writeln!(actual, "{line}").unwrap(),
        }
    }
    assert!(expected == actual, "now it is:\n{actual}");
}

#[test]
fn texts_become_trees() {
    check(include_str!("tests/trees.txt"), |text| {
        let (_, written) = label(text);
        let parsed = parse(&written);
        assert_eq!(parsed.expression.is_none(), parsed.problems.has_errors());
        parsed.expression.map_or_else(
            || parsed.problems.into_sorted().remove(0).message,
            |expression| dump(&expression),
        )
    });
}

#[test]
fn expressions_are_told_from_prose() {
    check(include_str!("tests/readings.txt"), |text| {
        let (_, written) = label(text);
        match read(&written, |name| {
            ["retries", "ready", "paid"].contains(&name)
        }) {
            Reading::Expression(expression) => dump(&expression),
            Reading::Broken(problems) => {
                let problems = problems.into_sorted();
                let messages: Vec<String> = problems
                    .into_iter()
                    .map(|problem| problem.message)
                    .collect();
                format!("broken: {}", messages.join("; "))
            }
            Reading::Prose => "prose".to_owned(),
        }
    });
}

#[test]
fn every_part_knows_its_place() {
    fn parts<'s>(expression: &Expression, sources: &'s Sources, into: &mut Vec<&'s str>) {
        into.push(sources.text(expression.span));
        match &expression.kind {
            Kind::Not(inner) | Kind::Unary(_, inner) | Kind::Among(inner, _) => {
                parts(inner, sources, into);
            }
            Kind::And(inner) | Kind::Or(inner) => {
                inner.iter().for_each(|part| parts(part, sources, into));
            }
            Kind::Binary(_, operands) => {
                operands.iter().for_each(|part| parts(part, sources, into));
            }
            _ => {}
        }
    }
    let text = "a #lt; 3 && (name == #quot;é#quot;) || !b";
    let (sources, written) = label(text);
    let mut found = Vec::new();
    parts(&parse(&written).expression.unwrap(), &sources, &mut found);
    assert_eq!(
        found,
        [
            text,
            "a #lt; 3 && (name == #quot;é#quot;)",
            "a #lt; 3",
            "a",
            "3",
            "name == #quot;é#quot;",
            "name",
            "#quot;é#quot;",
            "!b",
            "b"
        ]
    );

    let file = r#"{ "guard": "a \u003c 3 && name == \"\ud834\udd1e\"" }"#;
    let mut sources = Sources::new();
    let id = sources.add("guard.json", file);
    let start = file.find("\"a ").unwrap();
    let span = Span {
        file: id,
        start: narrow(start),
        end: narrow(file.len() - 2),
    };
    let value: String = serde_json::from_str(sources.text(span)).unwrap();
    let written = Written::in_json(&Spanned::new(value, span), &sources);
    let mut found = Vec::new();
    parts(&parse(&written).expression.unwrap(), &sources, &mut found);
    assert_eq!(
        found,
        [
            r#"a \u003c 3 && name == \"\ud834\udd1e\""#,
            r"a \u003c 3",
            "a",
            "3",
            r#"name == \"\ud834\udd1e\""#,
            "name",
            r#"\"\ud834\udd1e\""#
        ]
    );
}

/// Text that doesn't stand in the file as it is: everything is shown at the whole, and nothing is replaced.
#[test]
fn what_has_no_place_of_its_own_is_shown_whole() {
    let mut sources = Sources::new();
    let file = sources.add("guard", "something else");
    let span = Span {
        file,
        start: 0,
        end: 9,
    };
    let written = Written::in_json(&Spanned::new("a = 3".to_owned(), span), &sources);
    let problems = parse(&written).problems.into_sorted();
    assert_eq!(sources.text(problems[0].primary.span), "something");
    assert!(problems[0].fixes.is_empty());
}

#[test]
fn limits_come_before_the_work() {
    let deep = format!("{}x{}", "(".repeat(100), ")".repeat(100));
    let signs = format!("{}x", "!".repeat(10_000));
    let chain = format!("x{}", " + 1".repeat(200));
    let long = format!("x{}", " && x".repeat(1_000_000));
    let many = format!("x{}", " || x".repeat(2_500));
    for text in [deep, signs, chain, long, many] {
        let (_, written) = label(&text);
        let parsed = parse(&written);
        assert!(parsed.expression.is_none());
        let problems = parsed.problems.into_sorted();
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].message.contains("more than"), "{problems:#?}");
        assert!(matches!(read(&written, |_| true), Reading::Broken(_)));
    }
    let (_, written) = label(&format!("x{}", " || x".repeat(1_000)));
    assert!(parse(&written).expression.is_some());
}

/// Every prefix, and every text with one character left out, is survived, and points into its text.
#[test]
fn broken_texts_are_survived() {
    let seeds = [
        include_str!("tests/trees.txt"),
        include_str!("tests/readings.txt"),
    ];
    let lines = seeds.iter().flat_map(|seed| seed.lines());
    for text in lines.filter_map(|line| line.split_once(" => ").map(|(text, _)| text)) {
        for (start, dropped) in text.char_indices() {
            let (before, behind) = text.split_at(start);
            let after = behind.strip_prefix(dropped).unwrap();
            for broken in [
                before.to_owned(),
                behind.to_owned(),
                format!("{before}{after}"),
            ] {
                let (sources, written) = label(&broken);
                let problems = parse(&written).problems.into_sorted();
                for problem in problems {
                    let spans = problem.fixes.iter().flat_map(|fix| &fix.edits);
                    for span in spans.map(|edit| edit.span).chain([problem.primary.span]) {
                        let whole = sources.file(span.file).text();
                        assert!(whole.get(span.range()).is_some(), "{broken}: {span:?}");
                    }
                }
            }
        }
    }
}
