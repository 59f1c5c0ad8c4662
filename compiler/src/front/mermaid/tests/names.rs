//! Names of states, and keywords in their place.

use super::{check, check_fixed, read};

#[test]
fn what_a_name_can_hold() {
    for name in [
        "é",
        "状態",
        "🚀go",
        "a.b",
        "a/b",
        "f(x)",
        "a[1]",
        "a,b",
        "it's",
        "a+b*c=d&e@f$g!h?i|j\\k~l^m",
        "a#b",
        "<b>",
        "1st",
        "a–b",
        "Playing[H]",
        "a\"b\"",
        "[*]x",
    ] {
        let tree = if name == "[*]x" {
            "[*]; x -> z".to_owned()
        } else {
            format!("{name} -> z")
        };
        assert_eq!(read(&format!("stateDiagram\n{name} --> z")).0, tree);
    }
    check(
        "state w {\n\"q\" --> z\n}",
        "state w {\"q\" -> z}",
        &["3:1 SM116 the quotes are part of the name `\"q\"`"],
    );
    check("a&#9829; --> b", "a&#9829; -> b", &[]);
}

#[test]
fn dashes() {
    check(
        "a --> my-state : go",
        "a -> my-state",
        &["2:7 SM105 a state's name can't have a dash"],
    );
    check(
        "my-state --> b",
        "my-state",
        &["2:1 SM105 a state's name can't have a dash"],
    );
    check_fixed("a --> my-state : go", "a --> my_state : go");
    check_fixed("my-own-state --> b", "my_own_state --> b");
    check(
        "state my-state {\na\n}",
        "state my-state {a}",
        &["2:7 SM116 no transition can use the name `my-state`"],
    );
    check_fixed("state \"t\" as my-state", "state \"t\" as my_state");
}

#[test]
fn quotes() {
    let quoted = "SM105 a state's name can't be in quotes";
    check("\"q r\" --> z", "", &[&format!("2:1 {quoted}")]);
    check(
        "a --> \"q r\"\na --> b",
        "a -> b",
        &[&format!("3:7 {quoted}").replace('3', "2")],
    );
}

#[test]
fn keywords_as_sources() {
    for word in [
        "note",
        "class",
        "classDef",
        "style",
        "scale",
        "click",
        "href",
        "default",
        "stateDiagram",
    ] {
        let (tree, found) = read(&format!("stateDiagram-v2\n{word} --> z\na --> b"));
        assert_eq!(tree, "a -> b", "{word}");
        assert_eq!(found.len(), 1, "{word}: {found:?}");
    }
    for word in [
        "end",
        "as",
        "direction",
        "fork",
        "left",
        "hide",
        "title",
        "root",
        "accTitle",
    ] {
        check(&format!("{word} --> z"), &format!("{word} -> z"), &[]);
    }
    // `state` swallows its line, and Mermaid makes nothing of it.
    check(
        "state --> z",
        "state",
        &["2:1 SM116 `--> z` after `state` means nothing"],
    );
}

#[test]
fn keywords_as_targets() {
    for word in [
        "state", "note", "class", "classDef", "style", "scale", "click", "href", "default",
    ] {
        let (tree, found) = read(&format!("stateDiagram-v2\na --> {word}\na --> b"));
        assert_eq!(tree, "a -> b", "{word}");
        let wanted = format!("2:7 SM105 `{word}` is a keyword and can't name a state here");
        assert_eq!(found, [wanted]);
    }
    check("a --> note: x", "a -> note: \"x\"", &[]);
    check(
        "a --> Default",
        "",
        &["2:7 SM105 `Default` is a keyword and can't name a state here"],
    );
    check("a --> default_x", "a -> default_x", &[]);
    check(
        "state w {\na --> click\na --> href\na --> default\n}",
        "state w {a -> click; a -> href; a -> default}",
        &[],
    );
    check(
        "state w {\na --> state\na --> b\n}",
        "state w {a -> b}",
        &["3:7 SM105 `state` is a keyword and can't name a state here"],
    );
}

#[test]
fn invisible_characters() {
    check(
        "a\u{200b}b --> c",
        "a\u{200b}b -> c",
        &["2:1 SM114 a name that looks like `ab` holds what can't be seen"],
    );
    check_fixed(
        "a --> b\u{2060}\nstate c\u{ad} {\nd\n}",
        "a --> b\nstate c {\nd\n}",
    );
    // An emoji's parts and the joiners of a script are meant.
    for name in [
        "⚙\u{fe0f}",
        "👩\u{200d}🚀",
        "می\u{200c}خواهم",
        "1\u{fe0f}\u{20e3}",
    ] {
        assert_eq!(
            read(&format!("stateDiagram\n{name} --> z")).1,
            Vec::<String>::new()
        );
    }
}

#[test]
fn classes_of_states() {
    check(
        "a:::hot --> b:::cold : go",
        "a:::hot -> b:::cold: \"go\"",
        &[],
    );
    check("[*]:::x\na:::y : text", "[*]:::x; a:::y: \"text\"", &[]);
    check(
        "a::: --> b\na",
        "a",
        &["2:2 SM105 expected a class's name after `:::`"],
    );
    check(
        "a:::b:::c",
        "a:::b",
        &["2:6 SM105 `:::` isn't allowed here"],
    );
    check(
        ":::c",
        "",
        &["2:1 SM105 expected a state's name before `:::`"],
    );
}
