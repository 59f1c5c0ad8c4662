//! Words that silently become states.

use super::{check, check_fixed, parse, read};

#[test]
fn lines_of_words() {
    for line in [
        "direction TD",
        "title A door",
        "skinparam x y",
        "if (x) then",
        "hide empty",
        "x <<choice>>",
        "A B C",
    ] {
        let (_, found) = read(&format!("stateDiagram-v2\n{line}"));
        assert_eq!(
            found,
            [format!(
                "2:1 SM116 each word of `{line}` is read as a state"
            )]
        );
    }
    check(
        "state w {\nentry / foo\n}",
        "state w {entry; /; foo}",
        &["3:1 SM116 each word of `entry / foo` is read as a state"],
    );
    check(
        "state w {\na -- b\n}",
        "state w {a; --; b}",
        &["3:1 SM116 each word of `a -- b` is read as a state"],
    );
    check(
        "a --> b c",
        "a -> b; c",
        &["2:9 SM116 no colon precedes `c`, so it is read as a state"],
    );
}

#[test]
fn comments_of_other_languages() {
    for (line, code) in [
        ("// a comment", "SM116"),
        ("% a comment", "SM116"),
        ("; go --> there : now", "SM116"),
        ("* a : b", "SM116"),
        ("- a comment", "SM105"),
        ("-- a comment", "SM105"),
        ("<!-- a comment -->", "SM105"),
        ("state w {\n-- a comment\n}", "SM116"),
        ("state w {\n-- a comment: b\na\n}", "SM116"),
    ] {
        let (_, _, list) = parse(&format!("stateDiagram-v2\n{line}"));
        assert_eq!(list.len(), 1, "{line}: {list:?}");
        assert_eq!(list[0].code.id(), code, "{line}");
        assert!(
            list[0].message.starts_with("a comment begins with `%%`"),
            "{line}"
        );
        assert_eq!(list[0].fixes[0].edits[0].text, "%%", "{line}");
    }
    check(
        "state w {\na\n-- b\nc\n}",
        "state w {a; c}",
        &["4:1 SM116 a comment begins with `%%`, not `--`"],
    );
    check(
        "state w {\na\n-- b --> c\n}",
        "state w {a; --; b -> c}",
        &[],
    );
}

#[test]
fn words_that_are_meant() {
    check("a\nb\nstate w { c }\n状態", "a; b; state w {c}; 状態", &[]);
    check("a --> b b --> c", "a -> b; b -> c", &[]);
}

#[test]
fn arrows_of_other_languages() {
    for arrow in [
        "→", "==>", "=>", "-->>", "–>", "—>", "——>", "⇒", ">>", ">>>", "~~>", "..>",
    ] {
        for label in ["", " : now: or => never"] {
            let line = format!("a {arrow} b{label}");
            let said = format!("2:3 SM116 an arrow is written `-->`, not `{arrow}`");
            assert_eq!(
                read(&format!("stateDiagram-v2\n{line}")).1,
                [said],
                "{line}"
            );
            check_fixed(&line, &format!("a --> b{label}"));
        }
    }
    check_fixed("a→b", "a --> b");
    check_fixed("a=>b : x", "a --> b : x");
    check_fixed("[*] => a:::c", "[*] --> a:::c");
    check_fixed("a:::c ⇒ b", "a:::c --> b");
    for line in [
        "a => b => c",
        "a --> b => c",
        "a <--> b",
        "an a => b",
        "=> b",
    ] {
        let (_, found) = read(&format!("stateDiagram-v2\n{line}"));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].contains("an arrow is written"), "{found:?}");
        let (_, _, list) = parse(&format!("stateDiagram-v2\n{line}"));
        assert!(list[0].fixes.is_empty(), "{line}");
    }
    check("a : x => y", "a: \"x => y\"", &[]);
    check("a --> b : x >> y", "a -> b: \"x >> y\"", &[]);
    check_fixed("a -->|go now| b", "a --> b : go now");
    check_fixed("x <<choice>>", "state x <<choice>>");
    check_fixed("x [[choise]]", "state x <<choice>>");
    check_fixed("state x <<frok>>", "state x <<fork>>");
    check_fixed("direction TD", "direction TB");
}

#[test]
fn arrows_that_lead_to_the_left() {
    for (line, fixed) in [
        ("e <-- a : back", "a --> e : back"),
        ("  e <- a", "  a --> e"),
        ("e<--a", "a --> e"),
        ("e <-a", "a --> e"),
        ("[*] <-- a", "a --> [*]"),
    ] {
        let (_, _, list) = parse(&format!("stateDiagram-v2\n{line}"));
        assert_eq!(list[0].message, "arrows lead from left to right", "{line}");
        check_fixed(line, fixed);
        assert_eq!(list.len(), 1, "{line}");
    }
    for line in [
        "e <-> a",
        "e <--- x --> a",
        "e <-- a b",
        "e f <-- a",
        "<-- a",
        "e <--",
    ] {
        let (_, _, list) = parse(&format!("stateDiagram-v2\n{line}"));
        assert_eq!(list.len(), 1, "{line}: {list:?}");
        assert_eq!(list[0].code.id(), "SM105", "{line}");
        assert!(list[0].fixes.is_empty(), "{line}");
    }
    check(
        "e <-- a : back",
        "e",
        &["2:3 SM105 arrows lead from left to right"],
    );
    for line in ["a –-> b", "a -–> b", "a =-> b"] {
        check_fixed(line, "a --> b");
    }
}
