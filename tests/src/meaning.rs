//! What a spec means, in a line a transition: the rules of the language that no diagnostic shows.

use statemark_compiler::diag::Severity;
use statemark_compiler::ir::{ActionKind, Machine};

use crate::specs::compile_text;

/// Every transition as `source event target`, in document order; the target of an internal one in parentheses.
fn transitions(machine: &Machine) -> Vec<String> {
    let name = |state| machine.states.at(state).id.clone();
    let event = |event| machine.events.at(event).id.clone();
    machine
        .transitions
        .iter()
        .map(|(_, transition)| {
            let events: Vec<String> = transition.triggers.iter().map(|&e| event(e)).collect();
            let guard = if transition.guard.is_some() { "?" } else { "" };
            let targets: Vec<String> = transition.targets.iter().map(|&it| name(it)).collect();
            let target = match targets.as_slice() {
                [] => "-".to_owned(),
                _ => targets.join("+"),
            };
            let target = match transition.internal && !targets.is_empty() {
                true => format!("({target})"),
                false => target,
            };
            format!(
                "{} {}{guard} {target}",
                name(transition.source),
                events.join("|")
            )
        })
        .collect()
}

fn check(diagram: &str, expected: &[&str]) {
    let text = format!("stateDiagram-v2\n{diagram}\n");
    let machine = machine("spec.mmd", &text);
    assert_eq!(transitions(&machine), expected, "{diagram}");
}

/// The machine of a text without errors.
fn machine(name: &str, text: &str) -> Machine {
    let (_, compiled) = compile_text(name, text);
    let errors: Vec<&str> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(errors, Vec::<&str>::new(), "{text}");
    Machine::clone(&compiled.machines[0])
}

/// Every state as `kind id in parent`, with where it begins and what it does.
fn states(machine: &Machine) -> Vec<String> {
    let name = |state| machine.states.at(state).id.as_str();
    machine
        .named_states()
        .map(|(_, state)| {
            let parent = state.parent.filter(|&it| it != machine.root());
            let parent = parent.map_or_else(String::new, |it| format!(" in {}", name(it)));
            let initial = state.initial.as_ref().map_or_else(String::new, |initial| {
                let targets: Vec<&str> = initial.targets.iter().map(|&it| name(it)).collect();
                format!(" at {}", targets.join("+"))
            });
            let actions = |word: &str, list: &[_]| match list {
                [] => String::new(),
                _ => {
                    let names = list.iter().map(|&it| machine.actions.at(it).name.as_str());
                    format!(" {word} {}", names.collect::<Vec<_>>().join("+"))
                }
            };
            let entry = actions("entry", &state.entry);
            let exit = actions("exit", &state.exit);
            format!(
                "{:?} {}{parent}{initial}{entry}{exit}",
                state.kind, state.id
            )
        })
        .collect()
}

#[test]
fn labels_mean_what_the_language_says() {
    for (diagram, expected) in [
        // A missing label: by where it leads.
        (
            "[*] --> a\na --> b\nb --> [*]",
            &["a to_b b", "b done b_end"][..],
        ),
        // Prose is an event; spellings with the same words are one.
        (
            "[*] --> a\na --> b : User pays\nb --> a : planReady\nb --> [*] : plan_ready [late]",
            &["a user_pays b", "b planReady a", "b planReady? b_end"],
        ),
        // Several events, a guard alone, `else` behind its siblings.
        (
            "[*] --> a\na --> b : x, y\nb --> a : [else]\nb --> [*] : [ready > 0]",
            &["a x|y b", "b ? b_end", "b  a"],
        ),
        // Words for people alone in brackets are an event; a choice that waits for one waits for its other way, too.
        (
            "[*] --> a\na --> b : [the user agrees]\nb --> [*] : go [the user agrees]",
            &["a the_user_agrees b", "b go? b_end"],
        ),
        (
            "state c <<choice>>\n[*] --> c\nc --> a : [found it]\nc --> b : [else]\na --> [*] : x\nb --> [*] : x",
            &["c found_it a", "c to_b b", "a x a_end", "b x b_end"],
        ),
        // A parenthesis is a comment, unless it tells two targets apart.
        (
            "[*] --> a\na --> b : go (fast)\nb --> c : end (won)\nb --> d : end (lost)\nc --> [*] : x\nd --> [*] : x",
            &[
                "a go b",
                "b end_won c",
                "b end_lost d",
                "c x c_end",
                "d x d_end",
            ],
        ),
        // A composite that can be done is left when it is; one that can't, on an event.
        (
            "[*] --> A\nstate A {\n[*] --> x\nx --> [*] : ok\n}\nA --> B\nstate B {\n[*] --> y\ny --> y : z\n}\nB --> [*] : e",
            &["A done.state.A B", "x ok x_end", "B e B_end", "y z y"],
        ),
        // A state of the author's that is called like an implied end is a state of its own.
        (
            "[*] --> lock\nlock --> [*] : x\nlock --> lock_end : z\nlock_end --> lock : again",
            &[
                "lock x lock_end_2",
                "lock z lock_end",
                "lock_end again lock",
            ],
        ),
    ] {
        check(diagram, expected);
    }
}

#[test]
fn a_definition_alone_says_all_of_a_machine() {
    let text = r##"{
      "initial": { "target": "off", "actions": "boot" },
      "events": { "key.a": {}, "key.b": {} },
      "guards": { "late": { "field": "n", "op": "gt", "value": 3 }, "over": { "field": "n", "op": "gt", "value": 4 } },
      "states": {
        "off": {
          "on": { "power": "on", "resume": "last", "both": { "target": ["loud", "#media.playing"] } },
          "after": { "30s": "gone", "1000": { "actions": "nag" }, "1s": { "target": "gone", "guard": "late" } }
        },
        "on": {
          "type": "parallel",
          "states": {
            "media": {
              "initial": "stopped",
              "states": {
                "stopped": { "on": { "play": "playing" } },
                "playing": { "on": { "stop": "stopped", "key.*": "stopped" }, "always": { "target": "ended", "guard": "over" } },
                "ended": { "type": "final" },
                "recent": { "type": "history", "target": "playing" }
              }
            },
            "sound": {
              "initial": "quiet",
              "states": { "quiet": { "on": { "up": "loud" } }, "loud": { "type": "final" } },
              "on": { "down": { "target": ".quiet" }, "hush": { "target": "quiet", "reenter": false }, "reset": "quiet" }
            },
            "last": { "type": "history", "history": "deep", "initial": ["media", "sound"] }
          },
          "on": { "power": "off", "*": { "actions": "beep" } },
          "on_done": "gone"
        },
        "calling": {
          "invoke": { "src": "fetch", "on_done": "off", "on_error": "gone" }
        },
        "gone": { "type": "final" }
      },
      "on": { "call": "calling" }
    }"##;
    let machine = machine("spec.workflow.json", text);
    assert_eq!(
        states(&machine),
        [
            "Atomic off entry after.off.1+after.off.2 exit cancel.after.off.1+cancel.after.off.2",
            "Parallel on",
            "Compound media in on at stopped",
            "Atomic stopped in media",
            "Atomic playing in media",
            "Final ended in media",
            "History recent in media at playing",
            "Compound sound in on at quiet",
            "Atomic quiet in sound",
            "Final loud in sound",
            "DeepHistory last in on at media+sound",
            "Atomic calling",
            "Final gone",
        ]
    );
    assert_eq!(
        transitions(&machine),
        [
            "spec call calling",
            "off power on",
            "off resume last",
            "off both loud+playing",
            "off after.off.1 gone",
            "off after.off.2 -",
            "off after.off.2? gone",
            "on power off",
            "on call|resume|both|play|stop|down|hush|reset|up|done|error|key.a|key.b -",
            "on done.state.on gone",
            "stopped play playing",
            "playing stop stopped",
            "playing key.a|key.b stopped",
            "playing ? ended",
            "sound down (quiet)",
            "sound hush (quiet)",
            "sound reset quiet",
            "quiet up loud",
            "calling done off",
            "calling error gone",
        ]
    );
    let delays: Vec<String> = machine
        .actions
        .iter()
        .filter_map(|(_, action)| match action.kind {
            ActionKind::Schedule(timer, delay) => {
                Some(format!("{} {delay}", machine.timers.at(timer).name))
            }
            _ => None,
        })
        .collect();
    assert_eq!(delays, ["after.off.1 30000", "after.off.2 1000"]);
}

#[test]
fn a_fork_is_a_parallel_state() {
    let fork = |join: &str| {
        format!(
            r#"{{
      "initial": "planning",
      "states": {{
        "planning": {{ "on": {{ "split": {{ "fork": {{
          "branches": {{
            "code": {{ "initial": "coding", "terminal": "coded" }},
            "text": {{ "initial": "writing", "terminal": "written" }}
          }},
          "join": "{join}", "on_complete": "shipped", "on_fail": "failed" }} }} }} }},
        "coding": {{ "on": {{ "commit": "reviewing" }} }},
        "reviewing": {{ "on": {{ "reject": "coding", "approve": "coded", "abort": "failed" }} }},
        "coded": {{}},
        "writing": {{ "on": {{ "publish": "written" }} }},
        "written": {{}},
        "failed": {{ "type": "final", "outcome": "failure" }},
        "shipped": {{ "on": {{ "again": "planning", "over": "failed" }} }}
      }}
    }}"#
        )
    };
    let machine_of = |join: &str| machine("spec.workflow.json", &fork(join));
    let all = machine_of("all");
    assert_eq!(
        states(&all),
        [
            "Atomic planning",
            "Final failed",
            "Atomic shipped",
            "Parallel planning_fork",
            "Compound code in planning_fork at coding",
            "Atomic coding in code",
            "Atomic reviewing in code",
            "Final coded in code",
            "Compound text in planning_fork at writing",
            "Atomic writing in text",
            "Final written in text",
        ]
    );
    let ways = [
        "planning split planning_fork",
        "shipped again planning",
        "shipped over failed",
        "planning_fork done.state.planning_fork shipped",
        "planning_fork error failed",
        "coding commit reviewing",
        "reviewing reject coding",
        "reviewing approve coded",
        "reviewing abort failed",
        "writing publish written",
    ];
    assert_eq!(transitions(&all), ways);
    let any = transitions(&machine_of("any"));
    let first_done: Vec<&str> = any
        .iter()
        .map(String::as_str)
        .filter(|way| way.contains("done.state"))
        .collect();
    assert_eq!(
        first_done,
        [
            "code done.state.code shipped",
            "text done.state.text shipped"
        ]
    );
}

#[test]
fn a_definition_adds_to_what_is_drawn() {
    let diagram = "stateDiagram-v2\n[*] --> idle\nidle --> busy : go\nidle --> ready : fetch\nidle --> idle : tick\nstate busy {\n[*] --> a\na --> b : next\n}\nbusy --> busy : again\nbusy --> b : jump\nbusy --> idle : after 30s\nidle --> ask : call\nask --> ready : done\nask --> idle : error\nready --> [*] : key.x, key.y\n";
    let definition = r#"{ "states": {
      "idle": { "on": {
        "fetch": { "invoke": "fetching", "on_complete": "ready", "on_fail": "idle" },
        "call": { "invoke": "asking", "on_complete": "ready" },
        "tick": { "target": "idle", "internal": true } } },
      "busy": { "on": { "jump": ".b" }, "after": { "30000": { "target": "idle", "actions": "warn" } } },
      "ready": { "on": { "key.*": { "actions": "press" } } }
    } }"#;
    let text = format!(
        "## STATE-MACHINE\n\n```mermaid\n{diagram}```\n\n```json definition\n{definition}\n```\n"
    );
    let machine = machine("spec.md", &text);
    assert_eq!(
        transitions(&machine),
        [
            "idle go busy",
            "idle fetch idle_invoke",
            "idle tick -",
            "idle call ask",
            "busy again busy",
            "busy jump (b)",
            "busy after.busy.1 idle",
            "a next b",
            "ready key.x|key.y ready_end",
            "ask done ready",
            "ask error idle",
            "idle_invoke done ready",
            "idle_invoke error idle",
        ]
    );
    let asked = machine
        .state_named("ask")
        .map(|it| &machine.states.at(it).meta);
    assert_eq!(
        asked.and_then(|meta| meta["invoke"].as_str()),
        Some("asking")
    );
}
