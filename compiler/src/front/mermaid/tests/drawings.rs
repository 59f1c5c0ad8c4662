//! Lines that only draw.

use super::{check, check_fixed};

#[test]
fn styles() {
    check(
        "classDef hot fill:#f00,color:red;\nclass a, b hot\nstyle a,b fill:#000",
        "classDef \"hot\" \"fill:#f00,color:red\"; class \"a, b\" \"hot\"; style \"a,b\" \"fill:#000\"",
        &[],
    );
    check(
        "state w {\nclassDef x y:z\n}",
        "state w {classDef \"x\" \"y:z\"}",
        &[],
    );
    check(
        "classDef default fill:#f00\na",
        "a",
        &["2:10 SM105 a state diagram has no class `default`"],
    );
    check(
        "classDef my-foo fill:#f00\na",
        "a",
        &["2:10 SM105 `classDef` can't take `my-foo`"],
    );
    check("class É foo\na", "a", &["2:7 SM105 `class` can't take `É`"]);
    check(
        "class my-a foo",
        "class \"my\" \"-a foo\"",
        &["2:7 SM116 this gives the class `-a foo` to `my`"],
    );
}

#[test]
fn swallowed_lines() {
    let takes = |word: &str| format!("2:1 SM122 `{word}` takes the line `a --> b` for its own");
    check(
        "classDef x\na --> b",
        "classDef \"x\" \"a --> b\"",
        &[&takes("classDef")],
    );
    check(
        "style a\na --> b",
        "style \"a\" \"a --> b\"",
        &[&takes("style")],
    );
    check(
        "accTitle:\na --> b",
        "accTitle \"a --> b\"",
        &[&takes("accTitle")],
    );
    check(
        "accDescr {\na --> b",
        "accDescr \"a --> b\"",
        &["2:1 SM122 this description continues up to the end of the diagram"],
    );
}

#[test]
fn links() {
    check(
        "click a \"u\" \"t\"\nclick a href \"u\"",
        "click \"a\" \"\\\"u\\\" \\\"t\\\"\"; click \"a\" \"href \\\"u\\\"\"",
        &[],
    );
    check(
        "click a \"u\"\nb",
        "b",
        &["2:1 SM105 a link needs an address and a text in quotes"],
    );
    check(
        "click a href \"u\" \"t\"\nb",
        "b",
        &["2:1 SM105 a link with `href` has an address and nothing more"],
    );
    check_fixed("click a \"u\" \"t\"  \nb", "click a \"u\" \"t\"\nb");
}

#[test]
fn all_the_rest() {
    check(
        "scale 350 width\nhide empty description",
        "scale \"350\"; hide",
        &[],
    );
    check(
        "scale 350\na",
        "a",
        &["2:1 SM105 a scale is a number and `width`"],
    );
    check(
        "accTitle: T\naccDescr: d\naccDescr {\n e\n}\na",
        "accTitle \"T\"; accDescr \"d\"; accDescr \"e\"; a",
        &[],
    );
    check(
        "state w {\nscale 3\n}",
        "state w {scale; 3}",
        &["3:1 SM116 `scale` means nothing between braces"],
    );
}
