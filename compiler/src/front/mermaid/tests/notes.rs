//! Notes.

use super::{check, check_fixed};

#[test]
fn next_to_a_state() {
    check(
        "note right of a: t\nNOTE LEFT OF b : u v",
        "note right of a: \"t\"; note left of b: \"u v\"",
        &[],
    );
    check(
        "note left of a\n one: 1\n two; 2\nend note b --> c",
        "note left of a: \"one: 1\\n two; 2\"; b -> c",
        &[],
    );
    check(
        "note right of a first\n send note\nEND NOTE",
        "note right of a: \"first\\n send note\"",
        &[],
    );
    check(
        "note right of a\n: short",
        "note right of a: \"short\"",
        &[],
    );
    check(
        "state w {\nnote right of a : t\n}",
        "state w {note right of a: \"t\"}",
        &[],
    );
}

#[test]
fn floating() {
    check(
        "note \"a text\" as n",
        "note as n: \"a text\"",
        &["2:1 SM120 Mermaid doesn't show this note"],
    );
    check(
        "note \"as is\" as n\na",
        "a",
        &["2:1 SM105 a floating note is a text in quotes, `as` and a name"],
    );
}

#[test]
fn cut() {
    check(
        "note right of a:text",
        "note right of a: \"text\"",
        &["2:16 SM120 Mermaid drops the first letter of this note"],
    );
    check_fixed(
        "note right of a:text\nnote right of a  : u",
        "note right of a : text\nnote right of a : u",
    );
    check(
        "note right of my-x\n t\nend note",
        "note right of my: \"-x\\n t\"",
        &["2:15 SM120 this note is next to `my`"],
    );
}

#[test]
fn broken() {
    check(
        "note over a : x\na",
        "a",
        &["2:6 SM105 a note can't be `over`"],
    );
    check(
        "note right of a : b: c",
        "note right of a: \"b\"",
        &["2:20 SM105 a note of one line can't have a colon"],
    );
    check_fixed("note right of a : b: c", "note right of a : b#58; c");
    check(
        "note right of a : b; c",
        "note right of a: \"b\"; ;; c",
        &["2:20 SM118 the text ends at this `;`, and the `;` is read as a state"],
    );
    check(
        "note right of a\n never ends\nb --> c",
        "never; ends; b -> c",
        &[
            "2:1 SM105 this note has no text, or no `end note`",
            "3:2 SM116 each word of `never ends` is read as a state",
        ],
    );
    check(
        "note right of a\n one\nnote left of b\n two\nend note",
        "note right of a: \"one\\nnote left of b\\n two\"",
        &["2:1 SM122 this note continues up to the `end note` of another"],
    );
}
