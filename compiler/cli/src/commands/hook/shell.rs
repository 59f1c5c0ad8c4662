//! Commands of ours in an agent's command lines.

use serde_json::Value;
use statemark_runs::policy::{command_words, pack_tool_of, person_command};

use super::client::Call;

/// Returns the reason for which a command line isn't an agent's, if it calls one of ours that isn't.
pub(super) fn needs_person(call: &Call) -> Option<String> {
    let own = own_commands(call);
    let mut own = own.iter().filter_map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        person_command(&words)
    });
    let command = own.next()?;
    Some(format!(
        "`statemark {command}` is for a person, and no agent runs it: ask the person to"
    ))
}

/// Reports whether a command line starts a run.
pub(super) fn starts_run(call: &Call) -> bool {
    let own = own_commands(call);
    own.iter().any(|words| {
        let first = words.first();
        first.is_some_and(|it| matches!(it.as_str(), "start" | "fork" | "emit"))
    })
}

/// The arguments of calls in which a command may stand.
const ARGUMENTS: [&str; 4] = ["command", "argv", "cmd", "args"];

/// Returns the words after each `statemark` in a command line, without flags.
///
/// It doesn't parse the line, which may hide a command from any parser: whatever looks like one counts, with what a
/// shell takes away from words (quotes, backslashes) between two of them, and within one.
fn own_commands(call: &Call) -> Vec<Vec<String>> {
    if pack_tool_of(&call.tool) != Some("exec") {
        return Vec::new();
    }
    let given = ARGUMENTS.iter().filter_map(|name| call.input.get(name));
    let given = given.flat_map(|value| match value {
        Value::Array(words) => words.as_slice(),
        one => std::slice::from_ref(one),
    });
    let given: Vec<&str> = given.filter_map(Value::as_str).collect();
    let line = given.join("\n");
    let joined = line.replace("\\\n", "").replace(['\\', '\'', '"'], "");
    let mut own = own_commands_of_line(&line);
    own.extend(own_commands_of_line(&joined));
    own
}

fn own_commands_of_line(line: &str) -> Vec<Vec<String>> {
    let is_end = |char: char| ";|&()<>`$\"'\\\n={},[]".contains(char) || char.is_whitespace();
    let words: Vec<&str> = line.split(is_end).filter(|word| !word.is_empty()).collect();
    let mut own = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let program = word.rsplit('/').next();
        if program != Some("statemark") && program != Some("statemark.exe") {
            continue;
        }
        let after = words.iter().skip(at.saturating_add(1)).copied();
        let named = command_words(after).into_iter().map(str::to_owned);
        own.push(named.collect());
    }
    own
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, line: &str) -> Call {
        Call {
            tool: tool.to_owned(),
            mcp: None,
            id: None,
            input: json!({"command": line}),
        }
    }

    #[test]
    fn what_a_person_decides_is_no_command_of_an_agent() {
        for (line, is_refused) in [
            ("statemark approve p1:4", true),
            ("ls; /usr/bin/statemark --color never approve p1:4", true),
            ("x=$(statemark token create ann)", true),
            ("sh -c 'statemark force r review'", true),
            (
                "STATEMARK_TOKEN=x statemark --log=off answer p1:4 yes",
                true,
            ),
            ("statemark store prune --older-than 1d", true),
            ("echo '{}' | statemark hook claude", true),
            // What a shell takes away from words.
            ("statemark app\\rove x", true),
            ("state\\mark approve x", true),
            ("\\statemark a'ppro'v\"\"e x", true),
            ("'state'mark approve x", true),
            ("statemark app\\\nrove x", true),
            ("statemark -\\-color never a\\pprove x", true),
            ("statemark st\\ore pr'u'ne", true),
            ("$'statemark' approve x", true),
            ("statemark app\\\\rove.md", false),
            ("statemark store verify", false),
            ("statemark state r", false),
            ("statemark send r approve", false),
            ("grep approve statemark.md", false),
        ] {
            let refused = needs_person(&call("Monitor", line)).is_some();
            assert_eq!(refused, is_refused, "{line}");
            let refused = needs_person(&call("Bash", line)).is_some();
            assert_eq!(refused, is_refused, "{line}");
        }
        assert!(needs_person(&call("run_shell_command", "statemark approve p")).is_some());
        assert!(needs_person(&call("Write", "statemark approve p")).is_none());
        for input in [
            json!({"command": ["bash", "-lc", "statemark app\\rove p"]}),
            json!({"cmd": "statemark approve p"}),
            json!({"command": "statemark", "args": ["approve", "p"]}),
        ] {
            let call = Call {
                input,
                ..call("Bash", "")
            };
            assert!(needs_person(&call).is_some(), "{:?}", call.input);
        }
    }

    #[test]
    fn a_run_that_a_command_starts_is_noticed() {
        assert!(starts_run(&call(
            "Bash",
            "cd a && statemark start build --json"
        )));
        assert!(!starts_run(&call("Bash", "statemark send build start")));
    }
}
