//! The variables that states say, for a command that the client's own shell runs.
//!
//! Most clients ask nobody for the variables of a command, but take another command from a hook. It gets a prefix that a
//! shell of POSIX understands, and that is the same as long as the states are:
//!
//! ```text
//! unset -v AWS_KEY; export CI=1; make test
//! ```
//!
//! What to rely on: policy judges the agent's command, without the prefix. The client's permissions judge both.

use std::collections::BTreeMap;

use serde_json::Value;
use statemark_runs::shell_word;

use super::client::Call;

/// The argument with the command.
const COMMAND: &str = "command";

/// The beginnings of the prefix's two parts. With `-v`, no function of that name is meant.
const PARTS: [&str; 2] = ["unset -v", "export"];

/// The end of a part.
const END: &str = "; ";

/// Returns the input of a call whose command begins with changes of variables; none if nothing changes.
///
/// A name that no shell takes for a variable's is left out.
pub(super) fn prefix(call: &Call, changes: &BTreeMap<String, Option<String>>) -> Option<Value> {
    let command = call.input.get(COMMAND)?.as_str()?;
    let mut words = [String::new(), String::new()];
    let [unset, export] = &mut words;
    for (name, value) in changes.iter().filter(|(name, _)| is_identifier(name)) {
        match value {
            None => *unset += &format!(" {name}"),
            Some(value) => *export += &format!(" {name}={}", shell_word(value)),
        }
    }
    let parts = PARTS.iter().zip(&words);
    let parts = parts.filter(|(_, words)| !words.is_empty());
    let prefix: String = parts
        .map(|(part, words)| format!("{part}{words}{END}"))
        .collect();
    if prefix.is_empty() {
        return None;
    }
    let mut input = call.input.clone();
    *input.get_mut(COMMAND)? = Value::String(prefix + command);
    Some(input)
}

/// Returns a call without what may be a prefix of its command: both parts, or its first.
///
/// An agent may write the same words, so that there can be two.
pub(super) fn without_prefix(call: &Call) -> Vec<Call> {
    let [unset, export] = PARTS;
    let Some(command) = call.input.get(COMMAND).and_then(Value::as_str) else {
        return Vec::new();
    };
    let own_first = skip_part(command, unset);
    let own_second = skip_part(own_first.unwrap_or(command), export);
    let own = [own_second, own_first].into_iter().flatten();
    let own = own.filter_map(|command| {
        let mut call = call.clone();
        *call.input.get_mut(COMMAND)? = Value::from(command);
        Some(call)
    });
    own.collect()
}

/// Returns what follows on a part of a prefix that a command begins with.
fn skip_part<'c>(command: &'c str, part: &str) -> Option<&'c str> {
    let mut rest = command.strip_prefix(part)?;
    loop {
        rest = skip_word(rest.strip_prefix(' ')?)?;
        if let Some(own) = rest.strip_prefix(END) {
            return Some(own);
        }
    }
}

/// Returns what follows on a word that may be quoted, as [`shell_word`] quotes it.
fn skip_word(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = if let Some(quoted) = rest.strip_prefix('\'') {
            quoted.split_once('\'')?.1
        } else if let Some(after) = rest.strip_prefix(r"\'") {
            after
        } else {
            let plain = rest.trim_start_matches(|letter: char| !" ;'\\\n".contains(letter));
            if plain.len() == rest.len() {
                return (rest.len() < text.len()).then_some(rest);
            }
            plain
        };
    }
}

/// Reports whether a shell takes a text for the name of a variable.
fn is_identifier(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let mut letters = text.chars();
    text.starts_with(is_letter) && letters.all(|it| is_letter(it) || it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(command: &str) -> Call {
        Call {
            tool: "Bash".to_owned(),
            mcp: None,
            id: None,
            input: json!({"command": command, "timeout": 5}),
        }
    }

    fn changes(all: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
        let all = all.iter();
        all.map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)))
            .collect()
    }

    #[test]
    fn what_is_put_before_a_command_is_taken_off_again() {
        for (all, prefixed) in [
            (&[("A", None)][..], "unset -v A; make"),
            (&[("A", None), ("B", None)], "unset -v A B; make"),
            (&[("B", Some("1"))], "export B=1; make"),
            (
                &[("A", None), ("B", Some(""))],
                "unset -v A; export B=''; make",
            ),
            (
                &[("B", Some("it's; \n$(x)")), ("_c9", Some("'"))],
                r"export B='it'\''s; LINE$(x)' _c9=''\'''; make",
            ),
            (
                &[("B-C", Some("1")), ("9", None), ("é", None), ("D", None)],
                "unset -v D; make",
            ),
        ] {
            let prefixed = prefixed.replace("LINE", "\n");
            let input = prefix(&call("make"), &changes(all)).unwrap();
            assert_eq!(input, call(&prefixed).input);
            let own = without_prefix(&call(&prefixed));
            let is_own = |it: &Call| it.input == call("make").input;
            assert!(own.iter().any(is_own), "{prefixed}: {own:?}");
        }
        for all in [&[][..], &[("B-C", Some("1")), ("", None)]] {
            assert_eq!(prefix(&call("make"), &changes(all)), None);
        }
        let words = Call {
            input: json!({"command": ["make"]}),
            ..call("")
        };
        assert_eq!(prefix(&words, &changes(&[("A", None)])), None);
    }

    #[test]
    fn what_looks_like_a_prefix_may_be_the_agents() {
        for (command, own) in [
            (
                "unset -v A; export B=1; make",
                &["make", "export B=1; make"][..],
            ),
            ("export B=1; unset -v A; make", &["unset -v A; make"]),
            ("unset -v A;make", &[]),
            ("unset -v; make", &[]),
            ("export B='1; make", &[]),
            ("export  B=1; make", &[]),
            ("exports B=1; make", &[]),
            ("export", &[]),
            ("", &[]),
        ] {
            let found = without_prefix(&call(command));
            let found = found.iter().map(|it| it.input["command"].as_str().unwrap());
            assert_eq!(found.collect::<Vec<_>>(), own, "{command}");
        }
    }
}
