//! Words that silently become states.

use super::{check, check_fixed, read};

#[test]
fn lines_of_words() {
    for line in [
        "direction TD",
        "title A door",
        "skinparam x y",
        "// a comment",
        "% a comment",
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
        &["2:9 SM116 `c` is read as a state"],
    );
}

#[test]
fn words_that_are_meant() {
    check("a\nb\nstate w { c }\n状態", "a; b; state w {c}; 状態", &[]);
    check("a --> b b --> c", "a -> b; b -> c", &[]);
}

#[test]
fn arrows_of_other_languages() {
    for line in ["a → b", "a ==> b", "a => b", "a→b"] {
        check_fixed(line, "a --> b");
    }
    check_fixed("a -->|go now| b", "a --> b : go now");
    check_fixed("x <<choice>>", "state x <<choice>>");
    check_fixed("direction TD", "direction TB");
}
