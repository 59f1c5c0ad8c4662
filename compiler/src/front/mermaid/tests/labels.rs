//! Transitions, labels and directions.

use super::{check, check_fixed};

#[test]
fn transitions() {
    check(
        "[*] --> a\na-->b\nb --> [*] : done",
        "[*] -> a; a -> b; b -> [*]: \"done\"",
        &[],
    );
    check("a --> b c --> d", "a -> b; c -> d", &[]);
    check(
        "state w {\na\n-->\nb\n: go\n}",
        "state w {a -> b: \"go\"}",
        &[],
    );
}

#[test]
fn texts_of_any_kind() {
    for text in [
        "k: v",
        "12:30:00",
        "http://x",
        "x-->y",
        "{x}",
        "\"q\"",
        "ev [g > 1] / act()",
        "a<br/>b",
        "x : : y",
    ] {
        check(
            &format!("a --> b : {text}"),
            &format!("a -> b: {text:?}"),
            &[],
        );
    }
    check(
        "a --> b : x --> y",
        "a -> b: \"x --> y\"",
        &["2:11 SM123 this `-->` is no transition, but part of a text"],
    );
    check_fixed("a --> b : go %% c", "%% c\na --> b : go");
    check_fixed("  a : # c", "  %% c\n  a");
    check("a --> b : %c#1 5#", "a -> b: \"%c#1 5#\"", &[]);
    check("a --> b :: x", "a -> b: \": x\"", &[]);
    check("a --> b : ", "a -> b: \"\"", &[]);
    check("a:d", "a: \"d\"", &[]);
    check(
        "a --> b : 1 #lt; 2 #59; 3",
        "a -> b: \"1 #lt; 2 #59; 3\"",
        &[],
    );
}

#[test]
fn broken_texts() {
    let double = "SM105 `::` isn't allowed in a text";
    check(
        "a --> b : std::x",
        "a -> b: \"std\"",
        &[&format!("2:14 {double}")],
    );
    check("a : x:::y", "a: \"x\"", &[&format!("2:6 {double}")]);
    check(
        "a --> b : x:",
        "a -> b: \"x\"",
        &["2:12 SM105 a text can't end in a colon"],
    );
    check(
        "a --> b :\nb --> c",
        "a -> b; b -> c",
        &["2:9 SM105 expected a text after the colon"],
    );
    check(
        "a --> : x",
        "",
        &["2:3 SM105 expected a state's name between `-->` and the label"],
    );
    check(
        "a\n: x",
        "a",
        &["3:1 SM105 expected a state or a transition before the colon"],
    );
    check_fixed("a --> b : std::x", "a --> b : std#58;:x");
    check_fixed("a --> b : x:", "a --> b : x");
}

#[test]
fn semicolons() {
    check(
        "a --> b : x; y z\nb --> c : u;",
        "a -> b: \"x\"; ;; y; z; b -> c: \"u\"; ;",
        &[
            "2:12 SM118 the text ends at this `;`, and the `;` is read as a state",
            "3:12 SM118 the text ends at this `;`, and the `;` is read as a state",
        ],
    );
    check(
        "a --> b;",
        "a -> b;",
        &["2:8 SM118 the `;` is part of the name `b;`"],
    );
    check_fixed("a --> b : x; y", "a --> b : x#59; y");
    check_fixed("a --> b;\nb --> c : x;", "a --> b\nb --> c : x");
}

#[test]
fn arrows() {
    for arrow in ["->", "--->", "-.->", "->>", "-- >", "--", "---"] {
        check(
            &format!("a {arrow} b\nb --> c"),
            "a; b -> c",
            &[&format!(
                "2:3 SM105 an arrow is written `-->`, not `{arrow}`"
            )],
        );
        check_fixed(&format!("a {arrow} b"), "a --> b");
    }
    check(
        "state w {\na -> b\n}",
        "state w {a}",
        &["3:3 SM105 an arrow is written `-->`, not `->`"],
    );
    check(
        "a -- go --> b",
        "a",
        &["2:3 SM105 a label isn't allowed inside of an arrow"],
    );
    check(
        "a --> b --> c",
        "a -> b",
        &["2:9 SM105 a transition has one arrow"],
    );
    check_fixed("  a --> b --> c", "  a --> b \n  b --> c");
    check(
        "a -->\nb --> c",
        "b -> c",
        &["2:3 SM105 expected a state's name after `-->`"],
    );
    check(
        "a --> \nb --> c",
        "b -> c",
        &["2:3 SM105 expected a state's name after `-->`"],
    );
    check(
        "--> b\na\n--> c",
        "a",
        &[
            "2:1 SM105 expected a state's name before `-->`",
            "4:1 SM105 expected a state's name before `-->`",
        ],
    );
    check(
        "state w {\na -->\n}\nw --> b",
        "state w {}; w -> b",
        &["3:3 SM105 expected a state's name after `-->`"],
    );
}

#[test]
fn directions() {
    check(
        "direction LR\n  direction   tb # x\ndirection\nRL",
        "LeftRight; TopBottom; RightLeft",
        &[],
    );
    check(
        "state w {\ndirection BT\na\n}",
        "state w {BottomTop; a}",
        &[],
    );
    let line = "SM117 the whole line is read as";
    check(
        "a --> b : turn direction LR now",
        "LeftRight",
        &[&format!("2:16 {line} `direction LR`")],
    );
    check(
        "a --> b : redirection TBx",
        "TopBottom",
        &[&format!("2:13 {line} `direction TB`")],
    );
    check(
        "direction LR a --> b",
        "LeftRight",
        &[&format!("2:1 {line} `direction LR`")],
    );
    check(
        "state w {\nstate direction LR\n}",
        "state w {state direction}",
        &[
            "3:1 SM119 Mermaid doesn't draw `direction`",
            "3:17 SM116 `LR` after `state direction` means nothing",
        ],
    );
    check_fixed(
        "a --> b : turn direction LR now",
        "a --> b : turn direction#32;LR now",
    );
}
