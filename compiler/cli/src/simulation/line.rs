//! Lines that a person types, or that a script has.
//!
//! ```text
//! ready                             an event
//! ready {"steps": 3}                with data
//! {"event": "ready", "data": {}}    the same as JSON
//! # a comment
//! :raise changes_requested          an event that a run raises itself, with data as any other
//! {"raise": "changes_requested"}    the same as JSON
//! :wait 30s                         time passes; :wait alone, until the next timer is due
//! {"wait": "30s"}                   the same as JSON
//! :set steps=3   :guard tests_pass=true   :context   :quit   ?
//! ```

use serde_json::Value as Json;
use statemark_text::json::describe_repeated_key;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// Nothing, or a comment.
    Nothing,
    /// An event by its name, or by its number at the prompt.
    Send { name: String, data: Option<Json> },
    /// An event that a run raises itself.
    Raise { name: String, data: Option<Json> },
    /// So many milliseconds pass; without a number, those until the next timer is due.
    Wait(Option<u64>),
    /// A field of the context gets a value.
    Set { path: String, value: Json },
    /// A guard answers from now on.
    Guard { name: String, answer: bool },
    /// A question for the context.
    Context,
    /// A question for what can be typed.
    Help,
    /// The end.
    Quit,
}

/// Reads a line.
///
/// # Errors
///
/// A message that says what is wrong with it.
pub(crate) fn read(line: &str) -> Result<Line, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Line::Nothing);
    }
    if line.starts_with('{') {
        return json_line(line);
    }
    if let Some(command) = line.strip_prefix(':') {
        return read_command(command);
    }
    if matches!(line, "?" | "help") {
        return Ok(Line::Help);
    }
    let (name, data) = name_and_data(line)?;
    Ok(Line::Send { name, data })
}

/// Reads the name of an event, and the data behind it if there is any.
fn name_and_data(line: &str) -> Result<(String, Option<Json>), String> {
    let (name, data) = match line.find(" {").and_then(|at| line.split_at_checked(at)) {
        Some((name, data)) => (name.trim(), Some(object(data.trim())?)),
        None => (line, None),
    };
    Ok((name.to_owned(), data))
}

fn read_command(command: &str) -> Result<Line, String> {
    let (word, rest) = command
        .split_once(char::is_whitespace)
        .unwrap_or((command, ""));
    match word {
        "set" => {
            let (path, value) = assignment(
                rest,
                "write `:set field=JSON`, for example `:set attempts=2`",
            )?;
            let read = serde_json::from_str(value).map_err(|_| {
                format!("`{value}` isn't JSON; a string needs quotes: `:set {path}=\"{value}\"`")
            })?;
            let value = describe_repeated_key(value.as_bytes()).map_or(Ok(read), Err)?;
            let path = path.to_owned();
            Ok(Line::Set { path, value })
        }
        "guard" => {
            let usage = "write `:guard name=true` or `:guard name=false`";
            let (name, answer) = assignment(rest, usage)?;
            let answer = match answer {
                "true" | "yes" => true,
                "false" | "no" => false,
                _ => return Err(usage.to_owned()),
            };
            let name = name.to_owned();
            Ok(Line::Guard { name, answer })
        }
        "raise" => {
            let (name, data) = name_and_data(rest.trim())?;
            if name.is_empty() {
                return Err("write `:raise EVENT`, for example `:raise approval_denied`".to_owned());
            }
            Ok(Line::Raise { name, data })
        }
        "wait" => wait(rest.trim()),
        "context" => Ok(Line::Context),
        "help" | "h" | "?" => Ok(Line::Help),
        "quit" | "q" | "exit" => Ok(Line::Quit),
        _ => Err(format!("there is no `:{word}`; `?` shows what there is")),
    }
}

fn assignment<'l>(text: &'l str, usage: &str) -> Result<(&'l str, &'l str), String> {
    let (name, value) = text.split_once('=').ok_or(usage)?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err(usage.to_owned());
    }
    Ok((name, value))
}

/// Reads a length of time: none, `30s`, or a number of milliseconds.
fn wait(text: &str) -> Result<Line, String> {
    if text.is_empty() {
        return Ok(Line::Wait(None));
    }
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(number).unwrap_or("") {
        "ms" | "" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let whole = number.trim_end().parse::<u64>().ok();
    let milliseconds = whole
        .zip(unit)
        .and_then(|(whole, unit)| whole.checked_mul(unit));
    match milliseconds {
        Some(milliseconds) => Ok(Line::Wait(Some(milliseconds))),
        None => Err(format!(
            "`{text}` isn't a length of time; write `:wait 30s` (ms, s, m, h or d), or `:wait` until the next timer is due"
        )),
    }
}

fn json_line(line: &str) -> Result<Line, String> {
    let mut line = object(line)?;
    match line.get("wait") {
        Some(Json::String(text)) => return wait(text),
        Some(Json::Number(number)) => return wait(&number.to_string()),
        _ => {}
    }
    let text = |key: &str| line.get(key).and_then(Json::as_str).map(str::to_owned);
    let raised = text("raise").filter(|_| line.get("event").is_none());
    let is_raised = raised.is_some();
    let name = raised.or_else(|| text("event"));
    let name = name.ok_or("it has no `event` that is a string")?;
    let data = line
        .get_mut("data")
        .map(Json::take)
        .filter(|data| !data.is_null());
    if data.as_ref().is_some_and(|data| !data.is_object()) {
        return Err("`data` isn't an object".to_owned());
    }
    Ok(match is_raised {
        true => Line::Raise { name, data },
        false => Line::Send { name, data },
    })
}

fn object(text: &str) -> Result<Json, String> {
    let value = serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let words = text.split(" at line").next().unwrap_or(&text);
        format!(
            "the JSON is broken at column {}: {}",
            error.column(),
            words.to_lowercase()
        )
    })?;
    describe_repeated_key(text.as_bytes()).map_or(Ok(value), Err)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn send(name: &str, data: Option<Json>) -> Line {
        Line::Send {
            name: name.to_owned(),
            data,
        }
    }

    #[test]
    fn lines_are_understood() {
        for (line, expected) in [
            ("", Line::Nothing),
            ("  # ready", Line::Nothing),
            (" ready ", send("ready", None)),
            ("2", send("2", None)),
            (
                "plan ready {\"a\": 1}",
                send("plan ready", Some(json!({"a": 1}))),
            ),
            (
                "{\"event\": \"x\", \"data\": {\"y\": []}}",
                send("x", Some(json!({"y": []}))),
            ),
            ("{\"event\": \"x\", \"data\": null}", send("x", None)),
            (
                ":raise approval_denied {\"by\": \"ann\"}",
                Line::Raise {
                    name: "approval_denied".to_owned(),
                    data: Some(json!({"by": "ann"})),
                },
            ),
            (
                "{\"raise\": \"request.expired\"}",
                Line::Raise {
                    name: "request.expired".to_owned(),
                    data: None,
                },
            ),
            ("?", Line::Help),
            (":q", Line::Quit),
            (":wait", Line::Wait(None)),
            (":wait 90s", Line::Wait(Some(90_000))),
            ("{\"wait\": \"2m\"}", Line::Wait(Some(120_000))),
            ("{\"wait\": 250}", Line::Wait(Some(250))),
            (
                ":set a.b = \"x=y\"",
                Line::Set {
                    path: "a.b".to_owned(),
                    value: json!("x=y"),
                },
            ),
            (
                ":guard tests_pass=true",
                Line::Guard {
                    name: "tests_pass".to_owned(),
                    answer: true,
                },
            ),
        ] {
            assert_eq!(read(line).as_ref(), Ok(&expected), "{line}");
        }
    }

    #[test]
    fn mistakes_say_how_to_mend_them() {
        for (line, expected) in [
            (":set a", "write `:set field=JSON`"),
            (":set a=b", "a string needs quotes: `:set a=\"b\"`"),
            (":guard a=maybe", "write `:guard name=true`"),
            (":wait long", "`long` isn't a length of time"),
            (":jump", "there is no `:jump`"),
            (":raise ", "write `:raise EVENT`"),
            ("{\"event\": 1}", "no `event`"),
            ("go {\"a\": }", "broken at column"),
            ("{\"event\": \"a\", \"data\": 3}", "isn't an object"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
