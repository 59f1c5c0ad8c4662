//! The picture in README: real commands at a terminal with colors, drawn as SVG.

use std::fs;
use std::path::Path;

use statemark_harness::compare;

use crate::shell::{Run, Scratch, perform};

/// A spec with a misspelled guard.
const MISTYPED: &str = r#"## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> fixing
    fixing --> reviewing : fixed [tests_pass]
    reviewing --> fixing : rejected
    reviewing --> [*] : merged [test_pass]
```

```json definition
{ "guards": { "tests_pass": { "field": "failures", "op": "eq", "value": 0 } } }
```
"#;

/// The commands that are shown, in their order.
const COMMANDS: [&str; 4] = [
    "statemark lint review.md",
    "statemark send p1 submit",
    "statemark send p1 submit --data '{\"words\": 500}'",
    "statemark send p1 accept",
];

/// Colors of VGA, and those in their place. Why: blue on black can't be read.
const COLORS: [(&str, &str); 6] = [
    ("#000000", "#0D1117"),
    ("#AA0000", "#FF7B72"),
    ("#00AA00", "#56D364"),
    ("#AA5500", "#E3B341"),
    ("#0000AA", "#79C0FF"),
    ("#00AAAA", "#56D4DD"),
];

/// `UPDATE=1` draws it anew.
#[test]
fn the_picture_is_of_real_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scratch = Scratch::new("picture");
    scratch.write("review.md", MISTYPED);
    let paper = fs::read_to_string(root.join("examples/paper/paper.md")).unwrap();
    scratch.write("paper.md", &paper);
    let start = Run::new("STATEMARK_NOW=1800000000000 statemark start paper --run-id p1");
    perform(&start, &scratch.path);
    let mut screen = String::new();
    for command in COMMANDS {
        let run = Run::new(&format!(
            "STATEMARK_NOW=1800000000000 {command} --color always"
        ));
        let said = perform(&run, &scratch.path);
        // In the order in which a terminal shows it: `lint` sums up, other commands begin with what they did.
        let (first, last) = match command.contains(" lint ") {
            true => (said.stdout, said.stderr),
            false => (said.stderr, said.stdout),
        };
        screen += &format!("\u{1b}[1;32m$\u{1b}[0m \u{1b}[1m{command}\u{1b}[0m\n{first}{last}\n");
    }
    let mut svg = anstyle_svg::Term::new().render_svg(screen.trim_end());
    for (vga, readable) in COLORS {
        svg = svg.replace(vga, readable);
    }
    let picture = root.join("compiler/docs/src/terminal.svg");
    compare(&picture, &svg).unwrap();
}
