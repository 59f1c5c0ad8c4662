//! Hostile texts: deep, long, cut anywhere.

use super::{parse, read};

#[test]
fn deep_nesting_is_flattened() {
    let depth = 5_000;
    let text = format!(
        "stateDiagram\n{}x\n{}",
        "state a {\n".repeat(depth),
        "}\n".repeat(depth)
    );
    let (_, found) = read(&text);
    assert_eq!(found, ["66:9 SM105 composites are nested deeper than 64"]);
}

#[test]
fn unclosed_depth_is_reported_as_far_as_it_is_kept() {
    let (_, found) = read(&format!("stateDiagram\n{}", "state a {\n".repeat(500)));
    assert_eq!(found.len(), 65);
}

/// Each text goes through rules that look ahead; in quadratic time they would take minutes.
#[test]
fn long_lines_stay_linear() {
    for unit in [
        "a ",
        "direction x ",
        "<<fork> ",
        "state a ",
        "note right of a\n",
        "{ ",
        "\" ",
        "<a =\" ",
        "%%{a ",
        "#a",
        "\n%\n",
        "style :# ",
        ": ",
        "a : b; ",
        "} ",
        "-",
        "A -->  \n",
        "state x {\n",
        "as ",
        "\u{a0}\n",
    ] {
        let text = format!("stateDiagram-v2\n{}", unit.repeat(60_000 / unit.len()));
        let _ = parse(&text);
        let _ = parse(&text.replace("-v2\n", "-v2\nstate w {\n"));
    }
}

#[test]
fn every_cut_is_read() {
    let text = "---\ntitle: é\n---\n%%{init: {}}%%\nstateDiagram-v2\n[*] --> a\u{200b}b : go #59; [x] / y()\n\
        state \"T: é\" as w {\n direction LR\n a --> b\n --\n state c <<choice>>\n}\nnote left of w\n t\nend note\n\
        classDef x y:z\nclick w \"u\" \"t\"\naccDescr {\n d }\nw --> [*] : x; y\na -> b --> c\n🚀:::x --> b";
    for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
        let _ = parse(text.get(..at).unwrap());
        let _ = parse(text.get(at..).unwrap());
    }
}
