//! How the work and the memory of commands grow with what they read: specs (`growth.rs`), data, artifacts, bundles,
//! messages, scripts, settings.
//!
//! Each input is counted at four sizes by cachegrind, which knows no functions and takes half the time of callgrind. The
//! program has no symbols then, which valgrind reads for longer than most of these commands work. The heap is followed by a
//! library of glibc, which costs next to nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};
use statemark_harness::instructions::{Cost, can_count};

use super::growth::{INPUTS, is_steep, is_steep_heap, lines, list};
use super::profile;
use crate::served::client::Client;
use crate::shell::{BINARY, Run, Scratch, perform, person_token, untouched};

/// The sizes, as multiples of an input's own.
const SIZES: [usize; 4] = [1, 2, 4, 8];

/// How many programs are counted at once.
const AT_ONCE: usize = 2;

/// A command that reads something, by its size.
struct Reader {
    name: &'static str,
    /// The smallest size.
    size: usize,
    /// Makes what is read, and says what to run.
    prepare: fn(&Scratch, usize) -> Reading,
}

/// What is counted: a command's words, its standard input, and whose token it has.
#[derive(Default)]
struct Reading {
    words: Vec<String>,
    input: String,
    token: Option<String>,
}

impl Reading {
    fn new(words: &str) -> Self {
        Self {
            words: words.split(' ').map(str::to_owned).collect(),
            ..Self::default()
        }
    }
}

const READERS: &[Reader] = &[
    Reader {
        name: "a schema of an object",
        size: 60,
        prepare: |scratch, size| {
            let fields = (0..size).map(|at| (format!("p{at}"), json!({"minimum": 0})));
            let names: Vec<String> = (0..size).map(|at| format!("p{at}")).collect();
            let schema = json!({
                "properties": fields.collect::<serde_json::Map<_, _>>(),
                "required": names,
                "additionalProperties": false,
            });
            let values = (0..size).map(|at| (format!("p{at}"), json!(at)));
            let value = Value::Object(values.collect());
            artifact(
                scratch,
                &json!({"schema": schema}),
                "x.json",
                &value.to_string(),
            )
        },
    },
    Reader {
        name: "data of an event",
        size: 40,
        prepare: |scratch, size| {
            let fields = (0..size).map(|at| (format!("p{at}"), json!({"type": "integer"})));
            let fields: serde_json::Map<_, _> = fields.collect();
            start(
                scratch,
                &json!({"events": {"go": {"data": {"properties": fields}}}}),
            );
            let values = (0..size).map(|at| (format!("p{at}"), json!(at)));
            let mut reading = Reading::new("send r go --data");
            reading
                .words
                .push(Value::Object(values.collect()).to_string());
            reading
        },
    },
    Reader {
        name: "items that aren't as their schema says",
        size: 80,
        prepare: |scratch, size| {
            let item = json!({"properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "integer"}}});
            let schema = json!({"type": "array", "items": item});
            let items = list(size, |at| format!("{{\"a\": \"z\", \"b\": \"{at}\"}}\n"));
            artifact(
                scratch,
                &json!({"schema": schema}),
                "x.json",
                &format!("[{items}]"),
            )
        },
    },
    Reader {
        name: "items that are unique",
        size: 200,
        prepare: |scratch, size| {
            let schema = json!({"type": "array", "uniqueItems": true});
            let items = list(size, |at| format!("{{\"a\": [{at}]}}"));
            artifact(
                scratch,
                &json!({"schema": schema}),
                "x.json",
                &format!("[{items}]"),
            )
        },
    },
    Reader {
        name: "a text against a pattern with loops in loops",
        size: 5_000,
        prepare: |scratch, size| {
            let schema = json!({"type": "string", "pattern": "^(a+)+$"});
            let text = format!("\"{}b\"", "a".repeat(size));
            artifact(scratch, &json!({"schema": schema}), "x.json", &text)
        },
    },
    Reader {
        name: "sections of a document",
        size: 150,
        prepare: |scratch, size| {
            let rule = json!({"heading": "Steps", "contains": ["list"], "min_items": 2});
            let text = lines(size, |at| format!("## Heading {at}\n\n- one `item`\n"));
            artifact(
                scratch,
                &json!({"sections": [rule]}),
                "x.md",
                &format!("{text}\n## Steps\n\n- a\n- b\n"),
            )
        },
    },
    Reader {
        name: "rules for sections",
        size: 50,
        prepare: |scratch, size| {
            let rules = (0..size).map(|at| json!({"heading": format!("Heading {at}")}));
            let rules: Vec<Value> = rules.collect();
            let text = lines(size, |at| format!("## Heading {at}\n\ntext\n"));
            artifact(scratch, &json!({"sections": rules}), "x.md", &text)
        },
    },
    Reader {
        name: "items of a section",
        size: 200,
        prepare: |scratch, size| {
            let rule = json!({"heading": "Steps", "contains": ["list"], "min_items": 2});
            let text = lines(size, |at| {
                format!("- item {at} with `code` and [a link](x)")
            });
            artifact(
                scratch,
                &json!({"sections": [rule]}),
                "x.md",
                &format!("## Steps\n\n{text}"),
            )
        },
    },
    Reader {
        name: "front matter",
        size: 200,
        prepare: |scratch, size| {
            let names: Vec<String> = (0..size).map(|at| format!("k{at}")).collect();
            let text = lines(size, |at| format!("k{at}: value {at}"));
            artifact(
                scratch,
                &json!({"front_matter": {"required": names}}),
                "x.md",
                &format!("---\n{text}---\n\n# Text\n"),
            )
        },
    },
    Reader {
        name: "a bundle",
        size: 8,
        prepare: |scratch, size| {
            send(scratch, size);
            done(scratch, "statemark store export runs.jsonl");
            let words = ["--store".to_owned(), "other.db".to_owned()];
            Reading {
                token: Some(person_token(&scratch.path, "ann", &words)),
                ..Reading::new("store import runs.jsonl --store other.db")
            }
        },
    },
    Reader {
        name: "the records of a run",
        size: 12,
        prepare: |scratch, size| {
            send(scratch, size);
            Reading::new("store verify")
        },
    },
    Reader {
        name: "a journal that is played again",
        size: 12,
        prepare: |scratch, size| {
            send(scratch, size);
            Reading::new("replay r")
        },
    },
    Reader {
        name: "anchors",
        size: 50,
        prepare: |scratch, size| {
            start(scratch, &json!({}));
            done(scratch, "statemark store anchor anchors.jsonl");
            let file = scratch.path.join("anchors.jsonl");
            let anchors = fs::read_to_string(&file).unwrap();
            fs::write(&file, anchors.repeat(size)).unwrap();
            Reading::new("store verify --anchor anchors.jsonl")
        },
    },
    Reader {
        name: "keys that may sign",
        size: 40,
        prepare: |scratch, size| {
            start(scratch, &json!({}));
            let key =
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPM1SqgILhzyXcHmQcexpuKSQi6kII8MUoRnAYIfjy88";
            let keys = lines(size, |at| format!("p{at} namespaces=\"statemark\" {key}"));
            scratch.write("signers", &keys);
            Reading::new("store verify --allowed-signers signers")
        },
    },
    Reader {
        name: "patterns of files that lint reports less about",
        size: 8,
        prepare: |scratch, size| {
            let lines = lines(size, |at| format!("\"d{at}/**\" = [\"SM3\"]"));
            let settings = format!("[lint.per-file-ignores]\n{lines}");
            scratch.write("statemark.toml", &settings);
            scratch.write("it.md", &spec(&json!({})));
            Reading::new("lint --no-cache")
        },
    },
    Reader {
        name: "settings that are shown",
        size: 80,
        prepare: |scratch, size| {
            let checks = lines(size, |at| {
                format!("[checks.c{at}]\ncommand = [\"cargo\", \"check\", \"{at}\"]")
            });
            scratch.write("statemark.toml", &checks);
            Reading::new("config --json")
        },
    },
    Reader {
        name: "ignored files",
        size: 40,
        prepare: |scratch, size| {
            done(scratch, "git init -q");
            scratch.write(".gitignore", &lines(size, |at| format!("d{at}/*.tm?")));
            scratch.write("it.md", &spec(&json!({})));
            Reading::new("lint --no-cache")
        },
    },
    Reader {
        name: "a command line that a state may grant",
        size: 20,
        prepare: |scratch, size| {
            let line = list(size, |at| {
                format!("echo 'word {at}' \"and another\" >/dev/null")
            });
            hook(
                scratch,
                &json!({"allowed_tools": ["Bash(echo *)", "Bash(ls:*)"]}),
                "Bash",
                &json!({"command": line.replace(", ", " && ")}),
            )
        },
    },
    Reader {
        name: "a message of a client",
        size: 100,
        prepare: |scratch, size| {
            let edits: Vec<Value> = (0..size)
                .map(|at| json!({"old_string": format!("a{at}"), "new_string": format!("b{at}")}))
                .collect();
            hook(
                scratch,
                &json!({"allowed_tools": ["MultiEdit(src/**)"]}),
                "MultiEdit",
                &json!({"file_path": "src/a.rs", "edits": edits}),
            )
        },
    },
    Reader {
        name: "what secrets begin with",
        size: 300,
        prepare: |scratch, size| {
            start(scratch, &json!({}));
            let beginnings = ["sk-", "eyJ", "eyJ-", "[redacted:", "AKIA", "://a:"];
            let mut reading = Reading::new("ask r");
            let beginnings = beginnings.map(|it| it.repeat(size));
            reading.words.push(beginnings.join(" "));
            reading
        },
    },
    Reader {
        name: "a script of events",
        size: 50,
        prepare: |scratch, size| {
            scratch.write("it.md", &spec(&json!({})));
            let events = |at| if at % 2 == 0 { "go" } else { "back {\"a\": 1}" };
            Reading {
                input: lines(size, |at| events(at).to_owned()),
                ..Reading::new("simulate it.md --events -")
            }
        },
    },
    Reader {
        name: "a table that build wrote",
        size: 12,
        prepare: |scratch, size| {
            scratch.write("it.md", &chain(size));
            done(scratch, "statemark build it.md --emit table --output out");
            Reading::new("show out/it.table --output-format json")
        },
    },
    Reader {
        name: "a machine that is shown",
        size: 15,
        prepare: |scratch, size| {
            scratch.write("it.md", &chain(size));
            Reading::new("show it.md")
        },
    },
    Reader {
        name: "states that have other names than before",
        size: 40,
        prepare: |scratch, size| {
            scratch.write("old.md", &chain(size));
            scratch.write("new.md", &chain_of("t", size));
            Reading::new("diff old.md new.md")
        },
    },
    Reader {
        name: "a machine that is formatted",
        size: 20,
        prepare: |scratch, size| {
            scratch.write("it.md", &chain(size));
            Reading::new("fmt --diff it.md")
        },
    },
    Reader {
        name: "servers of another configuration",
        size: 30,
        prepare: |scratch, size| {
            let servers = (0..size).map(|at| {
                let server =
                    json!({"command": "x", "args": ["-v"], "env": {"V": format!("${{V{at}}}")}});
                (format!("s{at}"), server)
            });
            let servers: serde_json::Map<_, _> = servers.collect();
            scratch.write(".mcp.json", &json!({"mcpServers": servers}).to_string());
            Reading::new("import .mcp.json")
        },
    },
    Reader {
        name: "hooks of another configuration",
        size: 30,
        prepare: |scratch, size| {
            let hooks = lines(size, |at| {
                format!("  h{at}:\n    command: cargo check {at}")
            });
            scratch.write("hooks.yaml", &format!("hooks:\n{hooks}"));
            Reading::new("import hooks.yaml")
        },
    },
];

/// Runs a command, which must succeed.
fn done(scratch: &Scratch, command: &str) {
    let said = perform(&Run::new(command), &scratch.path);
    assert_eq!(said.code, 0, "{command}: {}{}", said.stdout, said.stderr);
}

/// Writes a machine with two states and a definition.
fn spec(definition: &Value) -> String {
    format!(
        "## STATE-MACHINE: it\n\n```mermaid\nstateDiagram-v2\n[*] --> a\na --> b : go\nb --> a : back\n```\n\n```json definition\n{definition}\n```\n"
    )
}

/// Writes a machine with many states, one after the other.
fn chain(size: usize) -> String {
    chain_of("s", size)
}

/// Writes the same with states whose names begin in some way.
fn chain_of(name: &str, size: usize) -> String {
    let rows = lines(size, |at| format!("{name}{at} --> {name}{} : next", at + 1));
    format!("## STATE-MACHINE: it\n\n```mermaid\nstateDiagram-v2\n[*] --> {name}0\n{rows}```\n")
}

/// Starts run `r` of a machine with a definition.
fn start(scratch: &Scratch, definition: &Value) {
    scratch.write("it.md", &spec(definition));
    done(scratch, "statemark start it --run-id r");
}

/// Starts a run that has to produce an artifact, and writes a file to be checked.
fn artifact(scratch: &Scratch, contract: &Value, file: &str, text: &str) -> Reading {
    start(
        scratch,
        &json!({"artifacts": {"x": contract}, "states": {"a": {"requires": {"go": ["x"]}}}}),
    );
    scratch.write(file, text);
    Reading::new(&format!("artifacts check r x {file}"))
}

/// Starts a run with some events behind it.
fn send(scratch: &Scratch, events: usize) {
    start(scratch, &json!({}));
    let mut client = Client::start(&scratch.path, &["."]);
    for at in 0..events {
        let event = ["go", "back"][at % 2];
        let answer = client.call("send_event", &json!({"run_id": "r", "event": event}));
        assert_eq!(answer["ok"], true, "{answer}");
    }
}

/// Starts a run that holds a session of a client, which asks whether it may use a tool.
fn hook(scratch: &Scratch, state: &Value, tool: &str, input: &Value) -> Reading {
    start(scratch, &json!({"states": {"a": state}}));
    done(scratch, "statemark bind r claude:s1");
    let message = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": ".", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "t0",
    });
    Reading {
        input: message.to_string(),
        ..Reading::new("hook claude")
    }
}

/// Returns the program without symbols, or as it is where nothing takes them out.
fn stripped(folder: &Path) -> PathBuf {
    let program = folder.join("statemark");
    let strip = Command::new("strip")
        .arg("-o")
        .args([&program, Path::new(BINARY)])
        .stderr(Stdio::null())
        .status();
    match strip.is_ok_and(|status| status.success()) {
        true => program,
        false => PathBuf::from(BINARY),
    }
}

/// Something that is counted at four sizes: its name, its smallest size, and what makes the input of a size.
type Counted<'r> = (
    &'r str,
    usize,
    Box<dyn Fn(&Scratch, usize) -> Reading + Send + Sync + 'r>,
);

/// Lists what is counted: what `lint` reads, and what other commands do.
fn all_readers() -> Vec<Counted<'static>> {
    let specs = INPUTS.iter().map(|input| -> Counted<'static> {
        let prepare = |scratch: &Scratch, size| {
            scratch.write(input.file, &(input.write)(size));
            Reading::new(&format!("lint --no-cache {}", input.file))
        };
        (input.file, input.size, Box::new(prepare))
    });
    let others = READERS.iter();
    let others = others.map(|it| -> Counted<'static> { (it.name, it.size, Box::new(it.prepare)) });
    specs.chain(others).collect()
}

/// Runs a reader at one size under a command that measures it, and returns what that one says on standard error.
fn run(
    mut command: Command,
    (name, _, prepare): &Counted<'_>,
    (scratch, size): (&Scratch, usize),
) -> String {
    let reading = prepare(scratch, size);
    scratch.write("input", &reading.input);
    command
        .args(&reading.words)
        .current_dir(&scratch.path)
        .env("RAYON_NUM_THREADS", "1");
    if let Some(token) = &reading.token {
        command.env("STATEMARK_TOKEN", token);
    }
    let input = fs::File::open(scratch.path.join("input")).unwrap();
    let output = command.stdin(input).output().unwrap();
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{name}: {output:?}"
    );
    String::from_utf8(output.stderr).unwrap()
}

/// Counts the instructions of a reader at one size.
fn count(program: &Path, reader: &Counted<'_>, (scratch, size): (&Scratch, usize)) -> u64 {
    let profile = profile(scratch, "reader");
    let mut command = untouched("valgrind", &scratch.path);
    command
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--log-file=/dev/null",
        ])
        .arg(format!("--cachegrind-out-file={}", profile.display()))
        .arg(program);
    run(command, reader, (scratch, size));
    Cost::of_profile(&profile).unwrap().total
}

/// The library of glibc that follows a program's heap.
const FOLLOWS_THE_HEAP: &str = "libmemusage.so";

/// Measures the most that the heap of a reader has held at once, at one size. Unit: bytes.
fn weigh(program: &Path, reader: &Counted<'_>, (scratch, size): (&Scratch, usize)) -> u64 {
    let mut command = untouched(program, &scratch.path);
    command.env("LD_PRELOAD", FOLLOWS_THE_HEAP);
    let said = run(command, reader, (scratch, size));
    let peak = said.split_once("heap peak: ").unwrap().1;
    peak.split_once(',').unwrap().0.parse().unwrap()
}

/// Reports whether [`FOLLOWS_THE_HEAP`] is here: a loader that doesn't find it says so, and goes on.
fn can_weigh() -> bool {
    let mut command = Command::new("true");
    let output = command.env("LD_PRELOAD", FOLLOWS_THE_HEAP).output();
    output.is_ok_and(|it| String::from_utf8_lossy(&it.stderr).contains("heap peak: "))
}

/// Measures all readers at all sizes, and fails with those that grow too fast.
fn check_growth(
    name: &str,
    measure: fn(&Path, &Counted<'_>, (&Scratch, usize)) -> u64,
    is_steep: fn(&[u64; 4]) -> bool,
) {
    let folder = Scratch::new(name);
    let program = stripped(&folder.path);
    let readers = all_readers();
    let left = Mutex::new(readers.iter().enumerate());
    let steep = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((number, reader)) = next else { break };
                    let costs = SIZES.map(|times| {
                        let scratch = Scratch::new(&format!("{name}-{number}-{times}"));
                        measure(&program, reader, (&scratch, reader.1 * times))
                    });
                    if is_steep(&costs) {
                        let line = format!("{}: {costs:?}", reader.0);
                        steep.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let steep = steep.into_inner().unwrap();
    assert!(
        steep.is_empty(),
        "these grow faster than what they read:\n{}",
        steep.join("\n")
    );
}

#[test]
fn no_command_grows_faster_than_what_it_reads() {
    if can_count() {
        check_growth("instructions-readers", count, is_steep);
    }
}

#[test]
fn no_commands_memory_grows_faster_than_what_it_reads() {
    if can_weigh() {
        check_growth("memory-readers", weigh, is_steep_heap);
    }
}
