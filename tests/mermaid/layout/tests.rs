//! Layouts of small diagrams. The expected ones are Mermaid's own: `tests/mermaid/fuzz` compares thousands more.

use statemark_compiler::diag::Diags;
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::mermaid::parse_diagram;
use statemark_compiler::source::Sources;

use super::{answer, is_syntax_error, layout};

/// Compares the layout of a diagram whose header is left out: each state as `parent>id "label" shape`, without the parent
/// at the root, the label where it is the id and the shape where it is a plain one; then the transitions.
#[track_caller]
fn check(body: &str, picture: &str) {
    let text = format!("stateDiagram-v2\n{body}");
    let mut sources = Sources::new();
    let file = sources.add("a.mmd", text.clone());
    let mut diags = Diags::new();
    let layout = layout(&parse_diagram(&Excerpt::whole(file, &text), &mut diags));
    let diagnostics = diags.into_sorted();
    let errors = diagnostics.iter().filter(|found| is_syntax_error(found));
    assert_eq!(errors.count(), 0, "{diagnostics:?}");
    let mut parts = Vec::new();
    for state in &layout.states {
        let parent = state.parent.as_ref().map(|parent| format!("{parent}>"));
        let mut part = format!("{}{}", parent.unwrap_or_default(), state.id);
        let is_end = state.id.ends_with("/start") || state.id.ends_with("/end");
        if state.label != state.id && !is_end {
            part += &format!(" {:?}", state.label);
        }
        match state.shape {
            Some("rect" | "stateStart" | "stateEnd" | "roundedWithTitle" | "divider") => {}
            Some(shape) => part += &format!(" {shape}"),
            None => part += " nothing",
        }
        parts.push(part);
    }
    for transition in &layout.transitions {
        let mut part = format!("{} -> {}", transition.from, transition.to);
        if !transition.label.is_empty() {
            part += &format!(" : {}", transition.label);
        }
        parts.push(part);
    }
    assert_eq!(parts.join("; "), picture, "the picture of {body:?}");
}

#[test]
fn scopes_and_owners() {
    check(
        "[*] --> a\na --> [*]",
        "/start; a; /end; /start -> a; a -> /end",
    );
    check(
        "state x {\n[*] --> a\n}\nstate y {\na\n}\na",
        "x; x>x/start; y>a; y; x/start -> a",
    );
    check("state w {\nb --> w\n}", "w>w; w>b; b -> w");
    check(
        "state root {\n[*] --> a\n}\nroot --> b",
        "/start; a; b; /start -> a; root -> b",
    );
    check(
        "root_start --> a\n[*] --> a",
        "/start; a; /start -> a; /start -> a",
    );
}

#[test]
fn regions() {
    check(
        "state w {\na\n--\n[*] --> b\n}",
        "w; w>#1 \"\"; #1>a; w>#2 \"\"; #2>#2/start; #2>b; #2/start -> b",
    );
    check("state w {\na\n--\n}", "w; w>a; w>#1 \"\"");
    check(
        "state w {\na\n--\nstate b\n}",
        "w; w>#1 \"\"; #1>a; w>#2 \"\"",
    );
    check("state w {\na\n--\nstate nl\n}", "w; w>a; w>#1 \"\"");
}

#[test]
fn first_mentions_and_texts() {
    check("a --> c\nstate c <<choice>>", "a; c; a -> c");
    check("state c <<choice>>\nc : x", "c \"x\"");
    check("a : one\na : two", "a \"one\" rectWithTitle");
    check("state \" t \" as a {\nb\n}", "a \" t \"; a>b");
    check("state a : Title {\nb\n}", "Title; Title>b");
    check("state a : Title\nb", "b");
    check("note left of a : t\na --> b", "a nothing; b; a -> b");
    check("state \"x\" as {\nb\n}", ">b");
}

#[test]
fn texts_are_sanitized() {
    for (text, shown) in [
        ("a < b", "a &lt; b"),
        ("a > b & c", "a > b & c"),
        ("a <- b & c", "a &lt;- b &amp; c"),
        ("a<br/>b", "a<br>b"),
        ("<b>x", "<b>x</b>"),
        ("x</b>", "x"),
        ("<foo>x</foo>", "x"),
        ("<script>x</script>y", "y"),
        ("<a href=\"x\" onclick=\"y\">z</a>", "<a href=\"x\">z</a>"),
        ("<a href='javascript:x'>z</a>", "<a>z</a>"),
        ("x<y>z", "xz"),
        ("x <y z", "x "),
        ("<!-- c -->x", "x"),
        ("#lt;b#gt; #35; &lt #b", "ﬂ°lt¶ßbﬂ°gt¶ß ﬂ°°35¶ß &lt #b"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
    ] {
        check(
            &format!("a --> b : {text}"),
            &format!("a; b; a -> b : {shown}"),
        );
    }
}

/// The start of the root, a region, a state that a later body takes over, an entity, a text with HTML.
#[test]
fn a_layout_is_a_line_of_json() {
    let diagram = "stateDiagram-v2
    direction LR
    [*] --> open
    open --> shut : a < b #59; <b>bang
    state house {
        shut
        --
        [*] --> lamp
    }
    state attic
    note right of cellar : dark
";
    let line = concat!(
        r##"{"file":"door.mmd","ok":true,"direction":"LR","states":["##,
        r##"{"id":"/start","shape":"stateStart","parent":null,"label":"root_start"},"##,
        r##"{"id":"open","shape":"rect","parent":null,"label":"open"},"##,
        r##"{"id":"shut","shape":"rect","parent":"#1","label":"shut"},"##,
        r##"{"id":"house","shape":"roundedWithTitle","parent":null,"label":"house"},"##,
        r##"{"id":"#1","shape":"divider","parent":"house","label":""},"##,
        r##"{"id":"#2","shape":"divider","parent":"house","label":""},"##,
        r##"{"id":"#2/start","shape":"stateStart","parent":"#2","label":"id-000000-1_start"},"##,
        r##"{"id":"lamp","shape":"rect","parent":"#2","label":"lamp"},"##,
        r##"{"id":"cellar","parent":null,"label":"cellar"}],"##,
        r##""transitions":[{"from":"/start","to":"open","label":""},"##,
        r##"{"from":"open","to":"shut","label":"a &lt; b ﬂ°°59¶ß <b>bang</b>"},"##,
        r##"{"from":"#2/start","to":"lamp","label":""}]}"##,
    );
    assert_eq!(answer("door.mmd", diagram).unwrap(), line);
}

#[test]
fn an_error_is_a_line_of_json() {
    assert_eq!(
        answer("wrong.mmd", "stateDiagram-v2\n    a -> b\n").unwrap(),
        r#"{"file":"wrong.mmd","ok":false,"error":"line 2: an arrow is written `-->`, not `->`"}"#
    );
}
