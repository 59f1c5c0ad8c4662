//! Rules that each command and the rooms of the crate keep.

mod changelog;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Arg;
use serde_json::Value;
use statemark_harness::mentions;
use statemark_runs::SystemClock;
use statemark_tools::{Dispatcher, Options, Set, Tool};

use crate::catalog::SpecCatalog;

/// A command, the tool that carries out the same operation, renamed arguments, and departures with their reasons.
///
/// A departure is marked `+` for a flag without an argument, `-` for an argument without a flag, `?` if only one of them is
/// required, `=` if only one of them has the default.
struct Pair {
    command: &'static str,
    tool: &'static str,
    renamed: &'static [(&'static str, &'static str)],
    departures: &'static [(&'static str, &'static str)],
}

/// The departures that hold for all commands.
const COMMON: [(&str, &str); 9] = [
    ("+store", "a server has one store"),
    ("+json", "a tool always answers JSON"),
    ("+specs", "a server has its specs"),
    ("+watch", "a client waits, or subscribes"),
    ("-cursor", "long answers of tools are pages"),
    ("-expected_seq", "a command doesn't look before it writes"),
    ("?run", "a server may be bound to a run"),
    ("-project", "a command is called in its project"),
    ("-unit", "units are reported by `emit`"),
];

/// The names of arguments that commands have in common.
const RENAMED: [(&str, &str); 2] = [("run_id", "run"), ("idempotency_key", "key")];

const PAIRS: &[Pair] = &[
    Pair {
        command: "start",
        tool: "start_run",
        renamed: &[("run_id", "run-id")],
        departures: &[
            ("-session", "a command has no session"),
            ("-resume", "`continue` resumes"),
        ],
    },
    Pair {
        command: "send",
        tool: "send_event",
        renamed: &[("expected_seq", "expected-seq"), ("claims", "claim")],
        departures: &[
            ("-step", "`emit` reports on steps"),
            ("-status", "`emit` reports on steps"),
            ("-message", "`emit` reports on steps"),
            ("?event", "a step may be reported instead"),
        ],
    },
    Pair {
        command: "state",
        tool: "get_run",
        renamed: &[],
        departures: &[
            ("+at", "a tool shows the run as it is"),
            ("-include", "a command shows everything"),
            ("-visit", "`timeline` shows visits"),
        ],
    },
    Pair {
        command: "why",
        tool: "explain_run",
        renamed: &[],
        departures: &[],
    },
    Pair {
        command: "wait",
        tool: "wait_run",
        renamed: &[("timeout_ms", "timeout")],
        departures: &[
            ("+for", "a person waits for a status"),
            ("-after_seq", "an agent waits for a change"),
            ("-state", "an agent waits for a change"),
            ("-until", "an agent waits for a change"),
        ],
    },
    Pair {
        command: "events",
        tool: "get_events",
        renamed: &[("after_seq", "after"), ("kinds", "kind")],
        departures: &[
            ("-limit", "long answers of tools are pages"),
            ("-since", "a pipe filters"),
            ("-state", "a pipe filters"),
            ("-view", "a person reads the journal itself"),
        ],
    },
    Pair {
        command: "runs",
        tool: "list_runs",
        renamed: &[],
        departures: &[
            ("-waiting_for_person", "`inbox` lists these"),
            ("=limit", "the tool's default is in its description"),
        ],
    },
    Pair {
        command: "inbox",
        tool: "list_requests",
        renamed: &[],
        departures: &[
            ("-run_id", "a pipe filters"),
            ("-kind", "a pipe filters"),
            ("-state", "a pipe filters"),
            ("-brief", "a person decides by what is shown"),
        ],
    },
    Pair {
        command: "ask",
        tool: "request_human",
        renamed: &[
            ("prompt", "question"),
            ("context", "details"),
            ("expires_in", "expires"),
            ("choices", "choice"),
        ],
        departures: &[
            ("+approver", "an agent doesn't choose who decides"),
            ("?kind", "a person types less"),
            ("=kind", "a person types less"),
        ],
    },
    Pair {
        command: "answer",
        tool: "resolve_request",
        renamed: &[
            ("request_id", "request"),
            ("answer", "value"),
            ("to_sign", "to-sign"),
        ],
        departures: &[
            ("-action", "the command is the action"),
            ("-kind", "a request is named by its id or its run"),
            ("-state", "a request is named by its id or its run"),
            ("-workflow", "a request is named by its id or its run"),
            ("-run_id", "a request is named by its id or its run"),
            ("?request", "a request is named by its id or its run"),
            ("?value", "the command is the action"),
            ("+sign-with", "a server has no keys of its callers"),
        ],
    },
    Pair {
        command: "pause",
        tool: "control_run",
        renamed: &[],
        departures: &[
            ("-action", "the command is the action"),
            ("-context", "only `force` could take it"),
            ("-state", "only `force` takes it"),
        ],
    },
    Pair {
        command: "force",
        tool: "control_run",
        renamed: &[],
        departures: &[
            ("-action", "the command is the action"),
            ("-context", "a person sets a state alone"),
            ("-idempotency_key", "a person sees what happened"),
            ("?state", "the tool has other actions, too"),
        ],
    },
    Pair {
        command: "artifacts put",
        tool: "submit_artifact",
        renamed: &[("content", "file"), ("base_revision", "base")],
        departures: &[
            ("+final", "the tool's mode"),
            ("-mode", "the subcommand is the mode"),
            ("-edits", "a person edits the file"),
            ("-reason", "`artifacts discard` takes it"),
            ("?file", "an agent may send edits instead"),
        ],
    },
    Pair {
        command: "checkpoint take",
        tool: "checkpoint",
        renamed: &[],
        departures: &[
            ("-action", "the subcommand is the action"),
            ("=folder", "a server's folder isn't the caller's"),
        ],
    },
    Pair {
        command: "fork",
        tool: "fork_run",
        renamed: &[
            ("at_seq", "at"),
            ("input_overrides", "input"),
            ("new_run_id", "run-id"),
            ("reset_states", "reset"),
            ("drop_artifacts", "drop-artifacts"),
            ("restore_workspace", "restore-workspace"),
            ("dry_run", "dry-run"),
        ],
        departures: &[
            ("-branch_label", "a person names the run"),
            ("-idempotency_key", "a person names the run"),
        ],
    },
    Pair {
        command: "rewind",
        tool: "rewind_run",
        renamed: &[("confirm_token", "token")],
        departures: &[
            ("-checkpoint", "`checkpoint restore` takes it"),
            ("-dry_run", "a rewind without a token is the dry run"),
            ("-idempotency_key", "the token is good for one rewind"),
            ("=scope", "the tool's default is in its description"),
        ],
    },
    Pair {
        command: "timeline",
        tool: "get_timeline",
        renamed: &[],
        departures: &[],
    },
    Pair {
        command: "migrate",
        tool: "migrate_run",
        renamed: &[
            ("workflow", "to"),
            ("states", "map"),
            ("timers", "map-timer"),
            ("dry_run", "dry-run"),
        ],
        departures: &[("+all", "an agent migrates the run that it drives")],
    },
    Pair {
        command: "replay",
        tool: "verify_run",
        renamed: &[],
        departures: &[("+under", "an agent verifies its own run")],
    },
    Pair {
        command: "run-check",
        tool: "run_check",
        renamed: &[("args", "arguments")],
        departures: &[("+workflow", "an agent's check is for its run")],
    },
];

fn program() -> clap::Command {
    let mut program = super::program();
    program.build();
    program
}

/// Returns each command without subcommands, with its path.
fn leaves(command: &clap::Command, path: &str) -> Vec<(String, clap::Command)> {
    let subcommands = command.get_subcommands();
    let is_own = |name: &str| path.is_empty() || name != "help";
    let subcommands: Vec<_> = subcommands.filter(|it| is_own(it.get_name())).collect();
    if subcommands.is_empty() {
        return vec![(path.to_owned(), command.clone())];
    }
    let path = |name: &str| format!("{path} {name}").trim_start().to_owned();
    let below = subcommands.into_iter();
    below
        .flat_map(|subcommand| leaves(subcommand, &path(subcommand.get_name())))
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read_all(folder: &Path) -> String {
    let files = statemark_harness::files(folder).into_iter();
    files.map(|it| fs::read_to_string(it).unwrap()).collect()
}

#[test]
fn every_command_has_a_case() {
    let cases = read_all(&root().join("tests/cases"));
    for (path, _) in leaves(&program(), "") {
        let is_called = mentions(&cases, &format!("statemark {path}"));
        assert!(
            is_called,
            "compiler/cli/tests/cases has no case of `statemark {path}`"
        );
    }
}

#[test]
fn every_help_has_an_example() {
    for (path, command) in leaves(&program(), "") {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let has_example =
            help.starts_with("Example") && help.contains(&format!("statemark {path}"));
        let is_long = |line: &&str| line.chars().count() > 100 && !line.contains("statemark emit");
        let long = help.lines().find(is_long);
        assert_eq!(
            long, None,
            "a line of the help of `statemark {path}` is too long"
        );
        assert!(
            has_example,
            "the help of `statemark {path}` has no example: {help}"
        );
    }
}

/// A file that no `mod` names is compiled by nobody.
#[test]
fn every_file_is_a_module() {
    for (folder, list) in [
        ("src/commands", "src/commands.rs"),
        ("src/commands/run", "src/commands/run.rs"),
        ("src/commands/top", "src/commands/top.rs"),
    ] {
        let list_text = fs::read_to_string(root().join(list)).unwrap();
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(module) = name.strip_suffix(".rs") {
                let is_listed = list_text.contains(&format!("mod {module};"));
                assert!(
                    is_listed,
                    "compiler/cli/{list} doesn't have `mod {module};`"
                );
            }
        }
    }
}

/// The list of rooms in `main.rs` is their order: none uses one that stands before it.
#[test]
fn rooms_use_only_those_after_them() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    let head = main.split("mod args;").next().unwrap();
    let rooms = head.split("[`").skip(1);
    let rooms: Vec<&str> = rooms.filter_map(|rest| rest.split("`]").next()).collect();
    let rooms: Vec<&str> = rooms
        .iter()
        .copied()
        .skip_while(|room| *room != "commands")
        .collect();
    let modules: BTreeSet<&str> = main
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert_eq!(rooms.iter().copied().collect::<BTreeSet<_>>(), modules);
    for (position, room) in rooms.iter().enumerate() {
        let mut text = fs::read_to_string(root().join(format!("src/{room}.rs"))).unwrap();
        let folder = root().join("src").join(room);
        if *room != "commands" && folder.is_dir() {
            text += &read_all(&folder);
        }
        for before in rooms.iter().take(position) {
            for form in [
                format!("use crate::{before}::"),
                format!("crate::{before}::"),
            ] {
                assert!(!text.contains(&form), "{room} uses {before}");
            }
            let grouped = text.lines().filter(|line| line.starts_with("use crate::{"));
            for line in grouped {
                let names = line.split(['{', '}', ',', ' ', ':']);
                assert!(
                    !names.into_iter().any(|name| name == *before),
                    "{room}: {line}"
                );
            }
        }
    }
}

fn dispatcher() -> Dispatcher {
    let clock = Arc::new(SystemClock);
    let store = statemark_stores::open("memory:", Arc::clone(&clock) as Arc<_>).unwrap();
    let options = Options {
        sets: Set::OWN.to_vec(),
        ..Options::default()
    };
    let catalog = Arc::new(SpecCatalog::default());
    Dispatcher::new(store, catalog, clock, options, Vec::new()).unwrap()
}

/// Returns the name of a flag or argument as a user reads it.
fn flag_name(arg: &Arg) -> String {
    let long = arg.get_long().map(str::to_owned);
    long.unwrap_or_else(|| arg.get_id().to_string())
}

/// Returns the default of a flag; none where it is absent or false.
fn flag_default(arg: &Arg) -> Option<String> {
    let values = arg.get_default_values().iter();
    let values: Vec<_> = values
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let default = values.join(",");
    (!default.is_empty() && default != "false").then_some(default)
}

/// Returns the default of a property; none where it is absent, false or empty.
fn property_default(property: &Value) -> Option<String> {
    let default = property.get("default")?;
    let is_empty = [
        Value::Null,
        Value::Bool(false),
        serde_json::json!([]),
        serde_json::json!({}),
    ];
    let text = default.as_str().map(str::to_owned);
    (!is_empty.contains(default)).then(|| text.unwrap_or_else(|| default.to_string()))
}

/// Finds differences between the flags of a command and the arguments of its tool.
fn differences(pair: &Pair, command: &clap::Command, tool: &Tool) -> BTreeSet<String> {
    let properties = tool
        .input
        .get("properties")
        .and_then(Value::as_object)
        .unwrap();
    let required = tool.input.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let flag_of = |name: &str| -> String {
        let renamed = pair.renamed.iter().chain(&RENAMED);
        let mut renamed = renamed.filter(|(property, _)| *property == name);
        renamed.next().map_or(name, |(_, flag)| flag).to_owned()
    };
    let skipped = [
        "help",
        "version",
        "color",
        "log",
        "log-format",
        "log_format",
    ];
    let flags = command.get_arguments();
    let flags: Vec<&Arg> = flags
        .filter(|arg| !skipped.contains(&arg.get_id().as_str()))
        .collect();
    let mut found = BTreeSet::new();
    for flag in &flags {
        if !properties
            .keys()
            .any(|name| flag_of(name) == flag_name(flag))
        {
            found.insert(format!("+{}", flag_name(flag)));
        }
    }
    for (name, property) in properties {
        let wanted = flag_of(name);
        let Some(flag) = flags.iter().find(|flag| flag_name(flag) == wanted) else {
            found.insert(format!("-{name}"));
            continue;
        };
        if flag.is_required_set() != is_required(name) {
            found.insert(format!("?{wanted}"));
        }
        if flag_default(flag) != property_default(property) {
            found.insert(format!("={wanted}"));
        }
    }
    found
}

#[test]
fn flags_are_those_of_the_tools() {
    let commands = leaves(&program(), "");
    let dispatcher = dispatcher();
    let mut wrong = Vec::new();
    for pair in PAIRS {
        let (_, command) = commands
            .iter()
            .find(|(path, _)| path == pair.command)
            .unwrap();
        let tool = dispatcher
            .tools()
            .iter()
            .find(|tool| tool.name == pair.tool)
            .unwrap();
        let found = differences(pair, command, tool);
        let own: BTreeSet<&str> = pair.departures.iter().map(|(name, _)| *name).collect();
        for name in &found {
            let is_common = COMMON.iter().any(|(common, _)| common == name);
            if !is_common && !own.contains(name.as_str()) {
                wrong.push(format!("`{}` and {}: {name}", pair.command, pair.tool));
            }
        }
        for name in own {
            if !found.contains(name) {
                wrong.push(format!(
                    "`{}` doesn't depart by {name} any more",
                    pair.command
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
