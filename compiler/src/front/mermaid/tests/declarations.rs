//! `state …` in all its forms.

use super::{check, check_fixed};

#[test]
fn composites() {
    check(
        "state a {\nb --> c\n}\na --> d",
        "state a {b -> c}; a -> d",
        &[],
    );
    check("state a { b --> c }", "state a {b -> c}", &[]);
    check("state a\n{\nb\n}", "state a {b}", &[]);
    check("state\na {\nb\n}", "state a {b}", &[]);
    check("state a {}", "state a {}", &[]);
    check("state a {\nb\n--\nc\n}", "state a {b; --; c}", &[]);
    check(
        "state a {\nstate b {\nc\n}\n}",
        "state a {state b {c}}",
        &[],
    );
    check(
        "state a\n\n{\nb\n}\na",
        "state a; b; a",
        &["4:1 SM105 a body needs `state` and a name before its `{`, on the same line"],
    );
}

#[test]
fn titles() {
    check(
        "state \"A b\" as a\nstate \"C\nd\" as c {\ne\n}",
        "state a \"A b\"; state c \"C\\nd\" {e}",
        &[],
    );
    check(
        "state \"A\" as a: more: lost",
        "state a \"A\"; a: \"more\"",
        &[],
    );
    check("state \"A\"as a", "state a \"A\"", &[]);
    check(
        "state \"A\" as a b",
        "state a b \"A\"",
        &["2:14 SM116 `a b` is one name, and no transition can use it"],
    );
    check(
        "state \"A\"\nb",
        "b",
        &["2:1 SM105 expected `as` and a name after the title `A`"],
    );
    check(
        "state \"A b\" {\nc\n}\nd",
        "c; d",
        &["2:1 SM105 expected `as` and a name after the title `A b`"],
    );
    check(
        "state \"A\nb --> c",
        "b -> c",
        &["2:1 SM105 this title has no second quote"],
    );
    check(
        "state \"\" as a",
        "",
        &["2:1 SM105 expected a title between `state` and `as`"],
    );
    check(
        "state A as a",
        "",
        &["2:7 SM105 the title `A` needs quotes"],
    );
    check(
        "state A as a {\nb\n}",
        "state a {b}",
        &["2:7 SM105 the title `A` needs quotes"],
    );
    check(
        "state \"A\" as \nb --> c",
        "state b --> c \"A\"",
        &[
            "2:11 SM122 `as` takes the line `b --> c` for its own",
            "3:1 SM116 `b --> c` is one name, and no transition can use it",
        ],
    );
}

#[test]
fn bare_declarations() {
    check("state a\na --> b", "state a; a -> b", &[]);
    check(
        "state a",
        "state a",
        &["2:1 SM119 Mermaid doesn't draw `a`"],
    );
    check(
        "state a : The title\na --> b",
        "state a \"The title\"; a -> b",
        &["2:1 SM119 Mermaid doesn't show this title of `a`"],
    );
    check(
        "state a\nstate b {\nc\n}\na --> b",
        "state a; state b {c}; a -> b",
        &["2:1 SM119 Mermaid doesn't draw a diagram with `state a` here"],
    );
    check_fixed(
        "state a\nstate b {\nc\n}\nstate d : D",
        "a\nstate b {\nc\n}\nd : D",
    );
}

#[test]
fn pseudo_states() {
    check(
        "state f <<fork>>\nstate j [[JOIN]]\nstate c <<choice>> %% c",
        "state f Fork; state j Join; state c Choice",
        &[],
    );
    check(
        "state \"Q\" as c <<choice>>",
        "state \"Q\" as c Choice",
        &["2:7 SM116 all of `\"Q\" as c` is the name of this state"],
    );
    check_fixed("state \"Q\" as c <<choice>>", "state c <<choice>>");
    check(
        "state <<fork>>\na",
        "state; a",
        &["2:7 SM116 `<<fork>>` without a name before it means nothing"],
    );
    check(
        "state \"Q\" as : x\na",
        "state; a",
        &["2:1 SM116 no name follows `as`, and Mermaid doesn't draw `Q`"],
    );
    check(
        "state \"Two words\" as {\na\n}",
        "state Two_words \"Two words\" {a}",
        &["2:1 SM116 no name follows `as`, and Mermaid doesn't draw `Two words`"],
    );
    check_fixed(
        "state \"Two words\" as {\na\n}",
        "state \"Two words\" as Two_words {\na\n}",
    );
    check(
        "state c <<choice>> : x",
        "state c Choice",
        &["2:20 SM105 a text can't follow this declaration"],
    );
    check(
        "c --> a\nstate c << choice >>",
        "c -> a; state c",
        &["3:9 SM116 `<< choice >>` after `state c` means nothing"],
    );
}

#[test]
fn several_words() {
    check(
        "state Two words {\na\n}\nb",
        "state Two_words {a}; b",
        &["2:7 SM105 a composite's name is one word, not `Two words`"],
    );
    check_fixed(
        "state Two words {\na\n}",
        "state \"Two words\" as Two_words {\na\n}",
    );
    check(
        "state a : The title {\nb\n}",
        "state a \"The title\" {b}",
        &["2:7 SM105 the title `The title` can't follow the composite's name"],
    );
    check_fixed(
        "state a : The title {\nb\n}",
        "state \"The title\" as a {\nb\n}",
    );
    check(
        "state a : Title {\nb\n}",
        "state a \"Title\" {b}",
        &["2:1 SM116 Mermaid names this composite `Title`, not `a`"],
    );
    check(
        "state a-b c {\nd\n}",
        "state c {d}",
        &["2:7 SM116 `a-b` before the composite `c` means nothing"],
    );
    check(
        "a\nstate a b c",
        "a; state a",
        &["3:9 SM116 `b c` after `state a` means nothing"],
    );
}

#[test]
fn without_state() {
    check(
        "Foo {\na\n}\nb",
        "state Foo {a}; b",
        &["2:5 SM105 a body needs `state` before `Foo`"],
    );
    check(
        "state w {\nFoo {\na\n}\n}\nb",
        "state w {state Foo {a}}; b",
        &["3:5 SM105 a body needs `state` before `Foo`"],
    );
    check(
        "a --> b{x}",
        "a -> b",
        &["2:8 SM105 a body isn't allowed after this statement"],
    );
}

#[test]
fn unclosed() {
    check(
        "state a {\nb --> c",
        "state a {b -> c}",
        &["2:9 SM107 the body of `a` isn't closed"],
    );
    check(
        "state a {\nb --> c}\n",
        "state a {b -> c}}",
        &["2:9 SM107 the body of `a` isn't closed"],
    );
    check(
        "a\n}",
        "a; }",
        &["3:1 SM116 this `}` closes nothing, and is read as a state"],
    );
}

#[test]
fn texts_of_composites() {
    let second = "SM121 the composite `a` has a text already";
    check(
        "state \"A\" as a {\nb\n}\na : more",
        "state a \"A\" {b}; a: \"more\"",
        &[&format!("5:5 {second}")],
    );
    check(
        "a : one\nstate a {\nb\n}\na : two",
        "a: \"one\"; state a {b}; a: \"two\"",
        &[&format!("6:5 {second}")],
    );
    check("a : one\na : two", "a: \"one\"; a: \"two\"", &[]);
    check("state a {\nb\n}\na : one", "state a {b}; a: \"one\"", &[]);
}
