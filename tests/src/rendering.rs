//! Renderers, against goldens.
//!
//! Each case is some texts with findings made by hand, so that it needs no pipeline; its golden in `rendering/` shows
//! what every renderer makes of it. `UPDATE=1` rewrites the goldens; one that no case has fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use statemark_compiler::diag::render::{ReportFormat, Style, concise, footer, full, report};
use statemark_compiler::diag::{Applicability, Code, Diagnostic, Edit, Label};
use statemark_compiler::source::{FileId, Sources, Span};
use statemark_harness::{compare, root};

const COLOR: Style = Style { color: true };
const PLAIN: Style = Style { color: false };

/// Texts and what was found in them.
struct Case {
    name: &'static str,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

const CASES: [fn() -> Case; 12] = [
    mistyped_state,
    several_places,
    several_files,
    composite,
    hint,
    fixes,
    carriage_returns,
    byte_order_mark,
    tabs_and_wide_characters,
    quoted,
    hostile,
    long_lines,
];

#[test]
fn goldens_agree() {
    let faults: String = CASES
        .iter()
        .filter_map(|case| check(&case()).err())
        .collect();
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn no_golden_is_an_orphan() {
    let known: BTreeSet<String> = CASES
        .iter()
        .map(|case| format!("{}.md", case().name))
        .collect();
    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert!(known.contains(name.as_ref()), "no case has {name}");
    }
}

#[test]
fn color_only_adds_sequences() {
    for case in CASES {
        let Case {
            sources,
            diagnostics,
            ..
        } = case();
        let colored = full(&diagnostics, &sources, &COLOR);
        assert_eq!(
            without_sequences(&colored),
            full(&diagnostics, &sources, &PLAIN)
        );
        let colored = concise(&diagnostics, &sources, &COLOR);
        let plain = concise(&diagnostics, &sources, &PLAIN);
        assert_eq!(without_sequences(&colored), plain);
        assert!(!plain.contains('\u{1b}'));
    }
}

#[test]
fn any_span_can_be_shown() {
    let mut sources = Sources::new();
    let text = "\u{feff}a\r\n\t日本 é\r\n\r\n> x\n";
    let file = sources.add("spans.md", text);
    let empty = sources.add("empty.md", "");
    let boundaries = (0..=text.len()).filter(|&at| text.is_char_boundary(at));
    let boundaries: Vec<u32> = boundaries.map(|at| u32::try_from(at).unwrap()).collect();
    for &start in &boundaries {
        for &end in &boundaries {
            let span = Span { file, start, end };
            let found = Diagnostic::new(Code::SyntaxError, span, "m")
                .related(
                    Span {
                        file: empty,
                        ..span
                    },
                    "past the end",
                )
                .fix(Applicability::Safe, "f", span, "text");
            let shown = full(&[found], &sources, &PLAIN);
            assert!(shown.starts_with("error[SM105]: m\n"), "{shown}");
        }
    }
}

#[test]
fn many_findings_are_quick() {
    let mut sources = Sources::new();
    let line = "    planning --> implementng : ready\n";
    let file = sources.add("large.md", line.repeat(100_000));
    let findings: Vec<Diagnostic> = (0..200)
        .map(|index| {
            let start = u32::try_from(index * 500 * line.len()).unwrap() + 17;
            let span = Span {
                file,
                start,
                end: start + 11,
            };
            let whole = Span { start: 0, ..span };
            Diagnostic::new(
                Code::UnknownState,
                span,
                "state `implementng` doesn't exist",
            )
            .related(whole, "somewhere in here")
            .fix(Applicability::Safe, "write it", span, "implementing")
        })
        .collect();
    let start = Instant::now();
    let shown = full(&findings, &sources, &PLAIN);
    let took = start.elapsed();
    assert!(shown.len() < 400_000, "{} bytes", shown.len());
    // A quarter of a second would be enough; the rest is for a busy machine and a build without optimization.
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// Compares what every renderer makes of a case with its golden.
fn check(case: &Case) -> Result<(), String> {
    let Case {
        name,
        sources,
        diagnostics,
    } = case;
    let mut text = format!("# {}\n", name.replace('_', " "));
    let mut add = |title: &str, rendered: &str| {
        text.push_str(&format!("\n## {title}\n\n~~~~text\n{rendered}~~~~\n"));
    };
    for (format_name, format) in ReportFormat::ALL {
        let rendered = report(format, diagnostics, sources, &PLAIN);
        check_shape(format_name, &rendered).map_err(|fault| format!("{name}: {fault}"))?;
        add(format_name, &rendered);
        if format == ReportFormat::Full {
            add("footer", &footer(diagnostics, &PLAIN));
        }
    }
    compare(&folder().join(format!("{name}.md")), &text)
}

/// Holds a report to the shape that its readers expect: a schema in `schemas/`, or what XML and commands have to be.
fn check_shape(format: &str, rendered: &str) -> Result<(), String> {
    let schema = root().join(format!("tests/schemas/{format}.json"));
    if let Ok(schema) = fs::read_to_string(schema) {
        let parse = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        let validator = jsonschema::validator_for(&parse(&schema)?).map_err(|it| it.to_string())?;
        let report = parse(rendered)?;
        let faults: Vec<String> = validator
            .iter_errors(&report)
            .map(|fault| format!("{fault} at {}", fault.instance_path()))
            .collect();
        return match faults.as_slice() {
            [] => Ok(()),
            faults => Err(format!("{format}: {faults:#?}\n{rendered}")),
        };
    }
    match format {
        "junit" => check_junit(rendered),
        "github" => rendered.lines().try_for_each(check_command),
        "json-lines" => rendered.lines().try_for_each(|line| {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
            parsed.map(drop).map_err(|error| format!("{error}: {line}"))
        }),
        _ => Ok(()),
    }
}

/// Holds JUnit's XML to the elements, attributes and counts of the schema of Jenkins' xUnit plugin.
fn check_junit(rendered: &str) -> Result<(), String> {
    let document = roxmltree::Document::parse(rendered).map_err(|error| error.to_string())?;
    let known: [(&str, &str, &[&str]); 5] = [
        ("testsuites", "", &["name"]),
        (
            "testsuite",
            "testsuites",
            &["name", "tests", "failures", "errors"],
        ),
        ("testcase", "testsuite", &["name", "classname"]),
        ("failure", "testcase", &["type", "message"]),
        ("system-out", "testcase", &[]),
    ];
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let parent = node.parent_element().map_or("", |it| it.tag_name().name());
        let attributes: Vec<&str> = node.attributes().map(|it| it.name()).collect();
        if !known.contains(&(name, parent, attributes.as_slice())) {
            return Err(format!("junit: {name} in {parent} with {attributes:?}"));
        }
        if name == "testsuite" {
            let cases = node.children().filter(|it| it.has_tag_name("testcase"));
            let failures = node.descendants().filter(|it| it.has_tag_name("failure"));
            let counts = [cases.count(), failures.count()].map(|it| it.to_string());
            let said = ["tests", "failures"].map(|it| node.attribute(it).unwrap_or("").to_owned());
            if counts != said {
                return Err(format!("junit: {counts:?} aren't {said:?}"));
            }
        }
    }
    Ok(())
}

/// Holds a line to the form of a workflow command of GitHub.
fn check_command(line: &str) -> Result<(), String> {
    let parts = line
        .strip_prefix("::")
        .and_then(|line| line.split_once("::"));
    let (head, message) = parts.ok_or_else(|| format!("no command: {line}"))?;
    let (word, properties) = head.split_once(' ').unwrap_or((head, ""));
    let are_right = properties.split(',').all(|it| {
        let (key, value) = it.split_once('=').unwrap_or(("", ""));
        let keys = ["file", "line", "col", "endLine", "endColumn", "title"];
        keys.contains(&key) && !value.is_empty() && !value.contains(':')
    });
    match ["error", "warning", "notice"].contains(&word) && are_right && !message.is_empty() {
        true => Ok(()),
        false => Err(format!("no command of GitHub: {line}")),
    }
}

#[test]
fn shapes_are_held() {
    for (format, wrong) in [
        ("sarif", "{}"),
        ("rdjson", "{\"source\": {}, \"diagnostics\": []}"),
        ("gitlab", "[{}]"),
        ("junit", "<testsuites name=\"a\"><testsuite/></testsuites>"),
        ("github", "::error file=a:b::m"),
        ("json-lines", "{"),
    ] {
        assert!(check_shape(format, wrong).is_err(), "{format}");
    }
}

#[test]
fn fingerprints_survive_line_shifts_and_tell_findings_apart() {
    let prints = |text: &str| -> Vec<String> {
        let mut sources = Sources::new();
        let file = sources.add("a.md", text);
        let findings: Vec<Diagnostic> = (0..2)
            .map(|nth| {
                let span = nth_span(&sources, file, "x", nth);
                Diagnostic::new(Code::SyntaxError, span, "m")
            })
            .collect();
        let shown = report(ReportFormat::Gitlab, &findings, &sources, &PLAIN);
        let lines = shown.lines().filter(|line| line.contains("fingerprint"));
        lines.map(str::to_owned).collect()
    };
    let before = prints("x\nx\n");
    assert_eq!(before, prints("\n\n  x\ny\nx\n"));
    assert_ne!(before[0], before[1]);
}

fn folder() -> PathBuf {
    root().join("tests/rendering")
}

fn without_sequences(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |plain, part| {
        plain + &part[part.find('m').unwrap() + 1..]
    })
}

/// The place of the nth time that a text stands in a file.
fn nth_span(sources: &Sources, file: FileId, text: &str, nth: usize) -> Span {
    let (start, found) = sources
        .file(file)
        .text()
        .match_indices(text)
        .nth(nth)
        .expect("the text is there");
    let start = u32::try_from(start).unwrap();
    Span {
        file,
        start,
        end: start + u32::try_from(found.len()).unwrap(),
    }
}

fn case(
    name: &'static str,
    text: &str,
    findings: impl Fn(&dyn Fn(&str, usize) -> Span) -> Vec<Diagnostic>,
) -> Case {
    let mut sources = Sources::new();
    let file = sources.add(format!("specs/{name}.md"), text);
    let diagnostics = findings(&|wanted, nth| nth_span(&sources, file, wanted, nth));
    Case {
        name,
        sources,
        diagnostics,
    }
}

const BUGFIX: &str = "## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> planning
    planning --> implementng : ready
    implementing --> testing : done
    testing --> implementing : failed
    testing --> [*] : passed
    state review {
        [*] --> reading
        reading --> asking : unclear
        asking --> reading : answered
        reading --> writing : clear
        writing --> [*]
    }
```
";

fn unknown_state(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownState,
        span,
        "state `implementng` doesn't exist",
    )
    .help("did you mean `implementing`?")
    .fix(
        Applicability::Safe,
        "write `implementing`",
        span,
        "implementing",
    )
}

fn mistyped_state() -> Case {
    case("mistyped_state", BUGFIX, |at| {
        vec![unknown_state(at("implementng", 0))]
    })
}

fn several_places() -> Case {
    case("several_places", BUGFIX, |at| {
        vec![
            Diagnostic::new(
                Code::ConflictingTransitions,
                at("testing --> [*] : passed", 0),
                "two transitions leave `testing` on `passed`",
            )
            .label("this one leads to the end")
            .related(at("testing", 0), "entered here")
            .related(at("failed", 0), "this one goes back")
            .note("both hold when `retries` = 3")
            .note("the first in the text would win\nand nobody would notice")
            .help("put a guard on one of them"),
        ]
    })
}

fn several_files() -> Case {
    let mut sources = Sources::new();
    let one = sources.add("a/door.md", "## STATE-MACHINE: door\n");
    let two = sources.add("b/door.md", "# Doors\n\n## STATE-MACHINE: door\n");
    let second = nth_span(&sources, two, "door", 0);
    let diagnostics = vec![
        Diagnostic::new(
            Code::DuplicateMachine,
            second,
            "two machines are called `door`",
        )
        .label("this one came later")
        .related(nth_span(&sources, one, "door", 0), "the first one")
        .fix_all(
            Applicability::Unsafe,
            "rename both",
            vec![
                Edit {
                    span: nth_span(&sources, one, "door", 0),
                    text: "front_door".to_owned(),
                },
                Edit {
                    span: second,
                    text: "back_door".to_owned(),
                },
            ],
        ),
        unknown_state(nth_span(&sources, one, "STATE", 0)),
    ];
    Case {
        name: "several_files",
        sources,
        diagnostics,
    }
}

fn composite() -> Case {
    case("composite", BUGFIX, |at| {
        let body = at("state review {", 0).to(at("    }\n", 0));
        vec![
            Diagnostic::new(
                Code::UnreachableState,
                body,
                "state `review` can't be reached",
            )
            .label("nothing leads here")
            .related(at("planning", 0), "the machine begins here"),
        ]
    })
}

fn hint() -> Case {
    case("hint", BUGFIX, |at| {
        let span = at("ready", 0);
        vec![
            Diagnostic::new(
                Code::ProseLabel,
                span,
                "`plan is ready` is prose; the event is `plan_is_ready`",
            )
            .related(at("done", 0), "an identifier")
            .fix(
                Applicability::Safe,
                "write `plan_is_ready`",
                span,
                "plan_is_ready",
            ),
            Diagnostic::new(
                Code::NoFinalState,
                at("## STATE-MACHINE", 0),
                "no state is final",
            ),
        ]
    })
}

fn fixes() -> Case {
    case("fixes", BUGFIX, |at| {
        let all = |nth| Edit {
            span: at("testing", nth),
            text: "checking".to_owned(),
        };
        let end = at("        writing --> [*]\n", 0).after();
        let many = "        a --> b\n".repeat(20);
        vec![
            Diagnostic::new(
                Code::DeadEnd,
                at("planning", 0),
                "nothing leads out of `planning`",
            )
            .fix(
                Applicability::DisplayOnly,
                "add a way out",
                end,
                "        planning --> … : …\n",
            )
            .fix(
                Applicability::Unsafe,
                "end there",
                end,
                "        planning --> [*]\n",
            ),
            Diagnostic::new(
                Code::SimilarName,
                at("testing", 0),
                "`testing` and `testng` differ by a letter",
            )
            .fix_all(
                Applicability::Safe,
                "write `checking` everywhere",
                vec![all(0), all(1), all(2)],
            ),
            Diagnostic::new(
                Code::StrayWords,
                at("state review {", 0),
                "this line says nothing",
            )
            .fix(
                Applicability::Safe,
                "remove the line",
                at("        [*] --> reading\n", 0),
                "",
            ),
            Diagnostic::new(Code::EmptyComposite, at("review", 0), "`review` is empty")
                .fix(Applicability::Safe, "fill it", end, many)
                .fix(
                    Applicability::Safe,
                    "change two places",
                    at("ready", 0),
                    "go",
                )
                .fix_all(
                    Applicability::Safe,
                    "change two places",
                    vec![
                        Edit {
                            span: at("ready", 0),
                            text: "go".to_owned(),
                        },
                        Edit {
                            span: at("clear", 1),
                            text: "fine".to_owned(),
                        },
                    ],
                ),
        ]
    })
}

fn carriage_returns() -> Case {
    let text = BUGFIX.replace('\n', "\r\n");
    case("carriage_returns", &text, |at| {
        vec![
            unknown_state(at("implementng", 0)),
            Diagnostic::new(
                Code::UnclosedFence,
                at("```mermaid\r\n", 0),
                "this fence is never closed",
            ),
            Diagnostic::new(
                Code::SyntaxError,
                at(": done\r", 0).after(),
                "expected a line end",
            )
            .fix(
                Applicability::Safe,
                "begin a line",
                at(": done\r\n", 0).after(),
                "    new --> line\r\n",
            ),
        ]
    })
}

fn byte_order_mark() -> Case {
    case(
        "byte_order_mark",
        "\u{feff}stateDiagram\n    a --> b\n",
        |at| {
            vec![
                Diagnostic::new(
                    Code::MissingHeader,
                    at("stateDiagram", 0),
                    "this is an old header",
                )
                .fix(
                    Applicability::Safe,
                    "write the new one",
                    at("stateDiagram", 0),
                    "stateDiagram-v2",
                ),
                Diagnostic::new(
                    Code::InvisibleCharacter,
                    at("\u{feff}", 0),
                    "there is a byte order mark",
                ),
            ]
        },
    )
}

fn tabs_and_wide_characters() -> Case {
    let text = "\tplanning\t--> 実装 : ready\n\té𝄞 👩\u{200d}💻 --> done : x\n";
    case("tabs_and_wide_characters", text, |at| {
        vec![
            Diagnostic::new(
                Code::UnknownState,
                at("実装", 0),
                "state `実装` doesn't exist",
            )
            .label("not declared")
            .fix(Applicability::Safe, "write `実行`", at("実装", 0), "実行"),
            Diagnostic::new(
                Code::UnknownState,
                at("done", 0),
                "state `done` doesn't exist",
            )
            .related(at("é𝄞", 0), "leaves from here"),
        ]
    })
}

fn quoted() -> Case {
    let text = "1. A list\n\n   > ```mermaid\n   > stateDiagram-v2\n   >     a --> b : go\n   >     state c {\n   >       d\n   >     }\n   > ```\n";
    case("quoted", text, |at| {
        vec![
            Diagnostic::new(Code::UnknownState, at("b", 0), "state `b` doesn't exist").fix(
                Applicability::Safe,
                "write `c`",
                at("b : go", 0),
                "c : go",
            ),
            Diagnostic::new(
                Code::EmptyComposite,
                at("state c {", 0).to(at("}", 0)),
                "`c` is empty",
            ),
        ]
    })
}

fn hostile() -> Case {
    let text = "a --> \u{1b}[31mred\u{1b}[0m : \u{202e}sdrawkcab\u{202c}\nx\u{200b}y \u{7}\n";
    let mut found = case("hostile", text, |at| {
        vec![
            Diagnostic::new(
                Code::UnknownState,
                at("red", 0),
                "state `\u{1b}[2Jred\n` doesn't exist",
            )
            .label("here\u{7}")
            .note("a\u{9b}b")
            .fix(
                Applicability::Safe,
                "write `\u{1b}`",
                at("red", 0),
                "\u{1b}[32mgreen",
            ),
            Diagnostic::new(
                Code::InvisibleCharacter,
                at("\u{200b}", 0),
                "an invisible character",
            ),
        ]
    });
    found.diagnostics[1].related.push(Label {
        span: place_of_bell(&found.sources),
        message: "and a bell".to_owned(),
    });
    found
}

fn place_of_bell(sources: &Sources) -> Span {
    let (file, _) = sources.iter().next().expect("a file");
    nth_span(sources, file, "\u{7}", 0)
}

fn long_lines() -> Case {
    let long = format!(
        "{{\"a\":[{}],\"initail\":\"x\",\"b\":[{}]}}\n",
        "1,é,".repeat(90),
        "2,".repeat(200)
    );
    case("long_lines", &long, |at| {
        vec![
            Diagnostic::new(Code::UnknownKey, at("initail", 0), "unknown key `initail`")
                .related(at("a", 0), "the object begins here")
                .fix(
                    Applicability::Safe,
                    "write `initial`",
                    at("initail", 0),
                    "initial",
                ),
            Diagnostic::new(Code::UnknownKey, at("\"b\"", 0), "unknown key `b`"),
        ]
    })
}
