//! `hook install` and `hook remove`: the hook in a client's settings.
//!
//! What to rely on: everything else in the settings stays as it is, comments included, and installing twice is installing
//! once. An entry is ours by its command, `statemark hook AGENT`, whatever flags it has.

use std::path::PathBuf;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use serde_json::{Map, Value, json};
use statemark_runs::shell_word;

use super::client::{At, Client, Entries, Form};
use super::opencode::command_of;
use super::{HowArgs, parse_client};
use crate::caller::no_home;
use crate::commands::settings::{self, SettingsFile, indent, insert};
use crate::environment;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::files;
use crate::printer::Printer;

/// Have a client run the hook, by the client's own settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark hook install claude              .claude/settings.json of this project\n  \
                        statemark hook install codex --user        all your projects\n  \
                        statemark hook install gemini --required   without a run, nothing that a state can restrict\n  \
                        statemark hook install cursor --print      shows what to paste, and changes nothing")]
pub(super) struct InstallArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Print what to paste, and where, instead of writing it
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    how: HowArgs,
}

/// Take the hook out of a client's settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark hook remove claude")]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

/// The settings that are meant.
#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// The client: claude, codex, gemini, cursor, opencode
    #[arg(value_name = "AGENT", value_parser = parse_client)]
    client: &'static Client,
    /// In this project's settings; the default
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In your own settings, for all your projects
    #[arg(long)]
    user: bool,
}

impl PlaceArgs {
    fn path(&self) -> Result<PathBuf, Failure> {
        let settings = &self.client.settings;
        if !self.user {
            return Ok(PathBuf::from(settings.project));
        }
        if let Some((variable, file)) = settings.user_folder
            && let Some(folder) = variable.value()
        {
            return Ok(PathBuf::from(folder).join(file));
        }
        let home = environment::home().ok_or_else(no_home)?;
        Ok(home.join(settings.user))
    }

    fn file(&self) -> Result<SettingsFile, Failure> {
        let help = "`statemark hook install AGENT --print` shows what to paste";
        Ok(SettingsFile::new(self.path()?, help))
    }
}

/// The keys that turn a client's hooks off, each with the value that does.
const OFF: [(&str, bool); 3] = [
    ("/disableAllHooks", true),
    ("/hooksConfig/enabled", false),
    ("/tools/enableHooks", false),
];

/// Fails if settings turn all hooks off: ours would never be called.
fn check_on(text: &str) -> Result<(), String> {
    let parsed = settings::parse(text)?;
    for (pointer, off) in OFF {
        let mut value = parsed.value.as_ref();
        for key in pointer.split('/').skip(1) {
            value = match value {
                Some(Node::Object(object)) => property(object, key).map(|it| &it.value),
                _ => None,
            };
        }
        if matches!(value, Some(Node::BooleanLit(found)) if found.value == off) {
            let key = pointer.trim_start_matches('/').replace('/', ".");
            return Err(format!("turns hooks off, by `{key}`: take that out first"));
        }
    }
    Ok(())
}

/// Installs the hook.
pub(super) fn install(args: &InstallArgs, printer: &mut Printer) -> CommandResult {
    let place = &args.place;
    let client = place.client;
    let file = place.file()?;
    let name = file.path().display();
    let command = command(place, &args.how)?;
    if args.print {
        let new = add(client, "", &command).map_err(|why| file.bad(&why))?;
        printer.remark(&format!("in {name}:\n"));
        printer.result(&new);
        return Ok(ExitStatus::Clean);
    }
    let old = file.read()?;
    let is_json = matches!(client.settings.form, Form::Entries(_)) && !old.trim().is_empty();
    let checked = if is_json { check_on(&old) } else { Ok(()) };
    let new = checked
        .and_then(|()| remove_all(client, &old, Some(&command)))
        .and_then(|old| add(client, &old, &command))
        .map_err(|why| file.bad(&why))?;
    if new == old {
        printer.remark(&format!("{name} has it already\n"));
    } else {
        file.write(&new)?;
        printer.remark(&format!(
            "{} calls `{command}` now, by {name}\n",
            client.title
        ));
    }
    printer.remark(&format!("note: {}\n", client.settings.remark));
    if !client.applies_variables() {
        printer.remark(&format!(
            "note: `blocked_env` and `env_overrides` aren't applied to commands that {} runs, since its shell here is none of \
             POSIX\n",
            client.title
        ));
    }
    if args.how.observe {
        printer.remark(
            "note: nothing is refused; `statemark report RUN` shows what would have been\n",
        );
    }
    Ok(ExitStatus::Clean)
}

/// Removes the hook.
pub(super) fn remove(args: &RemoveArgs, printer: &mut Printer) -> CommandResult {
    let place = &args.place;
    let file = place.file()?;
    let old = file.read()?;
    let new = remove_all(place.client, &old, None).map_err(|why| file.bad(&why))?;
    let path = file.path();
    let name = path.display();
    if new == old {
        printer.remark(&format!("{name} doesn't have it\n"));
        return Ok(ExitStatus::Clean);
    }
    if new.is_empty() {
        std::fs::remove_file(path).map_err(|error| files::unwritable(path, &error))?;
    } else {
        file.write(&new)?;
    }
    printer.remark(&format!(
        "{} doesn't call statemark any more, as far as {name} goes\n",
        place.client.title
    ));
    Ok(ExitStatus::Clean)
}

/// Returns the command that a client is to call.
///
/// A project's settings are shared, so that they have the program's name; a user's have its path.
fn command(place: &PlaceArgs, how: &HowArgs) -> Result<String, Failure> {
    let program = if place.user {
        let path = std::env::current_exe().map_err(|error| {
            let message = system_message(&error);
            Failure::new(format!("the path of this program isn't known: {message}"))
        })?;
        shell_word(&path.to_string_lossy()).into_owned()
    } else {
        "statemark".to_owned()
    };
    let mut command = format!("{program} hook {}", place.client.name);
    if how.observe {
        command += " --observe";
    }
    if how.required {
        command += " --required";
    }
    if how.server != "statemark" {
        command += &format!(" --server {}", shell_word(&how.server));
    }
    Ok(command)
}

/// Reports whether a command is ours.
fn is_ours(client: &Client, command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let program = program.trim_matches(['\'', '"']);
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = program.strip_suffix(".exe").unwrap_or(program);
    program == "statemark" && words.next() == Some("hook") && words.next() == Some(client.name)
}

/// Reports whether a plugin calls ours.
fn calls_ours(client: &Client, plugin: &str) -> bool {
    command_of(plugin).is_some_and(|command| is_ours(client, &command))
}

/// Adds the hook to settings where an event lacks it.
fn add(client: &Client, old: &str, command: &str) -> Result<String, String> {
    let settings = match &client.settings.form {
        Form::Entries(entries) => entries,
        // That of an older version is replaced.
        Form::Plugin(plugin) if old.trim().is_empty() || calls_ours(client, old) => {
            return Ok(plugin(command));
        }
        Form::Plugin(_) => return Err("has something else in it".to_owned()),
    };
    let mut text = old.to_owned();
    if text.trim().is_empty() {
        let head = settings.head.iter();
        let head: Map<String, Value> = head
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect();
        text = if head.is_empty() {
            "{}\n".to_owned()
        } else {
            format!("{:#}\n", Value::Object(head))
        };
    }
    // The first event stands first: each is inserted before the others.
    for (event, at) in settings.events.iter().rev() {
        let entry = entry(settings, command, *at);
        text = add_entry(client, &text, event, &entry)?;
    }
    Ok(text)
}

/// Returns the entry of an event that calls a command.
///
/// A hook that refuses nothing keeps no tool from running by its failure, either.
fn entry(settings: &Entries, command: &str, at: At) -> Value {
    let observes = command.split_whitespace().any(|word| word == "--observe");
    let at = if observes { At::Elsewhere } else { at };
    (settings.entry)(command, at)
}

/// Adds an entry to an event, unless the event has ours.
fn add_entry(client: &Client, text: &str, event: &str, entry: &Value) -> Result<String, String> {
    let Some(Node::Object(root)) = settings::parse(text)?.value else {
        return Err("has no object in it".to_owned());
    };
    let lost = || "changed while it was read".to_owned();
    let Some(hooks) = property(&root, "hooks") else {
        let hooks = json!({"hooks": {event: [entry]}});
        let hooks = hooks.get("hooks").cloned().unwrap_or_default();
        let new = format!("\"hooks\": {}", indent(&hooks, 1));
        return insert(text, &root, &new, 1).ok_or_else(lost);
    };
    let Node::Object(hooks) = &hooks.value else {
        return Err("has `hooks` that are no object".to_owned());
    };
    let Some(entries) = property(hooks, event) else {
        let new = format!("{}: {}", json!(event), indent(&json!([entry]), 2));
        return insert(text, hooks, &new, 2).ok_or_else(lost);
    };
    let Node::Array(entries) = &entries.value else {
        return Err(format!("has hooks of `{event}` that are no list"));
    };
    if entries.elements.iter().any(|it| has_ours(client, it)) {
        return Ok(text.to_owned());
    }
    let new = indent(entry, 3);
    let at = entries.range.start.saturating_add(1);
    let (before, after) = text.split_at_checked(at).ok_or_else(lost)?;
    Ok(if entries.elements.is_empty() {
        format!("{before}\n      {new}\n    {}", after.trim_start())
    } else {
        format!("{before}\n      {new},{after}")
    })
}

/// Removes our entries from settings, and what is empty without them.
///
/// Those that are just as a command, `but`, has them stay.
fn remove_all(client: &Client, old: &str, but: Option<&str>) -> Result<String, String> {
    let mut text = old.to_owned();
    if text.trim().is_empty() {
        return Ok(text);
    }
    let Form::Entries(entries) = &client.settings.form else {
        let is_that = command_of(old).as_deref() == but;
        let is_removed = calls_ours(client, old) && !is_that;
        return Ok(if is_removed { String::new() } else { text });
    };
    // Each turn removes one thing, so it ends.
    loop {
        let parsed = settings::parse(&text)?;
        let Some(Node::Object(root)) = &parsed.value else {
            return Err("has no object in it".to_owned());
        };
        let Some(range) = find_ours((client, entries), (&text, root), but) else {
            return Ok(text);
        };
        drop(parsed);
        let (before, after) = (text.get(..range.start), text.get(range.end..));
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(text);
        };
        text = format!("{before}{after}");
    }
}

/// Finds the next text to remove: an entry of ours, or a list or object that had nothing else.
fn find_ours(
    (client, own): (&Client, &Entries),
    (text, root): (&str, &Object<'_>),
    but: Option<&str>,
) -> Option<Range> {
    let hooks = property(root, "hooks")?;
    let Node::Object(events) = &hooks.value else {
        return None;
    };
    for event in &events.properties {
        let mut moments = own.events.iter();
        let moment = moments.find(|(name, _)| *name == event.name.as_str());
        let is_own = moment.is_some();
        let kept = moment.zip(but).map(|((_, at), it)| entry(own, it, *at));
        let Node::Array(entries) = &event.value else {
            continue;
        };
        for (at, entry) in entries.elements.iter().enumerate() {
            // One with our command alone may never be called: it is kept if nothing else is in it either.
            if kept
                .as_ref()
                .is_some_and(|it| settings::is_same(text, entry, it))
            {
                continue;
            }
            let commands = commands(entry);
            let ours = |it: &String| is_ours(client, it);
            if !commands.iter().any(ours) {
                continue;
            }
            if commands.iter().all(ours) {
                // An event that has nothing else goes as a whole.
                return if is_own && entries.elements.len() == 1 {
                    Some(property_range(root, hooks, events, event))
                } else {
                    Some(element_range(entries, at))
                };
            }
            // Somebody has put another handler beside ours.
            let Node::Object(group) = entry else { continue };
            let Some(Node::Array(handlers)) = property(group, "hooks").map(|it| &it.value) else {
                continue;
            };
            for (at, handler) in handlers.elements.iter().enumerate() {
                if self::commands(handler).iter().any(ours) {
                    return Some(element_range(handlers, at));
                }
            }
        }
    }
    None
}

/// Returns the text of an event, or of all hooks if it is the only one.
fn property_range(
    root: &Object<'_>,
    hooks: &ObjectProp<'_>,
    events: &Object<'_>,
    event: &ObjectProp<'_>,
) -> Range {
    if events.properties.len() == 1 {
        return range_of(&ranges(root), hooks.range, root.range);
    }
    range_of(&ranges(events), event.range, events.range)
}

fn ranges(object: &Object<'_>) -> Vec<Range> {
    object.properties.iter().map(|it| it.range).collect()
}

fn element_range(array: &Array<'_>, at: usize) -> Range {
    let all: Vec<Range> = array.elements.iter().map(Ranged::range).collect();
    let own = all.get(at).copied().unwrap_or(array.range);
    range_of(&all, own, array.range)
}

/// Returns the text of an item with its comma.
///
/// That is up to the next item, else from the one before, else all between brackets.
fn range_of(all: &[Range], own: Range, outer: Range) -> Range {
    let next = all.iter().find(|it| it.start >= own.end);
    let before = all.iter().rev().find(|it| it.end <= own.start);
    let (start, end) = match (next, before) {
        (Some(next), _) => (own.start, next.start),
        (None, Some(before)) => (before.end, own.end),
        (None, None) => (outer.start.saturating_add(1), outer.end.saturating_sub(1)),
    };
    Range { start, end }
}

/// Returns the commands of an entry: its own, or those of its handlers.
fn commands(entry: &Node<'_>) -> Vec<String> {
    let Node::Object(entry) = entry else {
        return Vec::new();
    };
    match (property(entry, "command"), property(entry, "hooks")) {
        (Some(command), _) => match &command.value {
            Node::StringLit(text) => vec![text.value.to_string()],
            _ => Vec::new(),
        },
        (None, Some(handlers)) => match &handlers.value {
            Node::Array(handlers) => handlers.elements.iter().flat_map(commands).collect(),
            _ => Vec::new(),
        },
        (None, None) => Vec::new(),
    }
}

fn has_ours(client: &Client, entry: &Node<'_>) -> bool {
    commands(entry).iter().any(|it| is_ours(client, it))
}

fn property<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    let mut properties = object.properties.iter();
    properties.find(|property| property.name.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::super::client::CLIENTS;
    use super::*;

    /// Settings that people have, and what stays of them.
    const OTHERS: [&str; 5] = [
        "{}\n",
        "{\n  // Mine.\n  \"model\": \"x\"\n}\n",
        "{\"hooks\": {}}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ],\n    \"Other\": []\n  },\n  \"z\": 0\n}\n",
        "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"mine\"}], \"stop\": []}}\n",
    ];

    fn value(text: &str) -> Value {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
    }

    #[test]
    fn what_was_there_stays_and_comes_back() {
        for client in CLIENTS {
            let command = format!("statemark hook {}", client.name);
            let Form::Entries(entries) = &client.settings.form else {
                continue;
            };
            for old in OTHERS {
                let new = add(client, old, &command).unwrap();
                assert_eq!(add(client, &new, &command).unwrap(), new, "{}", client.name);
                for (event, at) in entries.events {
                    let all = value(&new)["hooks"][event].clone();
                    let own = entry(entries, &command, *at);
                    assert!(all.as_array().unwrap().contains(&own), "{event} {new}");
                }
                assert!(!old.contains("Mine") || new.contains("// Mine."));
                let back = remove_all(client, &new, None).unwrap();
                let (mut back, mut before) = (value(&back), value(old));
                // Empty lists that stood there before may be gone.
                for settings in [&mut back, &mut before] {
                    if let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) {
                        hooks.retain(|_, entries| {
                            entries.as_array().is_none_or(|it| !it.is_empty())
                        });
                    }
                    if settings["hooks"] == json!({}) {
                        settings.as_object_mut().unwrap().remove("hooks");
                    }
                }
                assert_eq!(back, before, "{} {new}", client.name);
            }
        }
    }

    #[test]
    fn a_plugin_is_ours_or_is_left_alone() {
        let client = CLIENTS
            .into_iter()
            .find(|it| it.name == "opencode")
            .unwrap();
        let (command, other) = (
            "statemark hook opencode",
            "statemark hook opencode --observe",
        );
        let new = add(client, "", command).unwrap();
        assert_eq!(add(client, &new, command).unwrap(), new);
        let former = new.replace("tool.execute.after", "tool.after");
        assert_eq!(add(client, &former, command).unwrap(), new);
        assert_eq!(remove_all(client, &new, Some(command)).unwrap(), new);
        assert_eq!(remove_all(client, &new, Some(other)).unwrap(), "");
        assert_eq!(remove_all(client, &new, None).unwrap(), "");
        let mine = "export const Mine = async () => ({});\n";
        assert_eq!(remove_all(client, mine, None).unwrap(), mine);
        assert!(add(client, mine, command).is_err());
    }

    #[test]
    fn other_flags_replace_the_entry() {
        let client = CLIENTS[0];
        let old = add(client, "", "statemark hook claude --observe").unwrap();
        let command = "statemark hook claude";
        let cleared = remove_all(client, &old, Some(command)).unwrap();
        let new = add(client, &cleared, command).unwrap();
        assert_eq!(value(&new), value(&add(client, "", command).unwrap()));
        for text in [
            "[",
            "[]",
            "{\"hooks\": 1}",
            "{\"hooks\": {\"PreToolUse\": 1}}",
        ] {
            assert!(add(client, text, command).is_err(), "{text}");
        }
    }

    #[test]
    fn an_entry_that_fails_open_is_replaced() {
        let closes = " || exit 2";
        for name in ["codex", "gemini"] {
            let client = CLIENTS.into_iter().find(|it| it.name == name).unwrap();
            let command = format!("statemark hook {name}");
            let new = add(client, "", &command).unwrap();
            assert_eq!(new.contains(closes), cfg!(not(windows)), "{new}");
            let former = new.replace(closes, "");
            let cleared = remove_all(client, &former, Some(&command)).unwrap();
            let added = add(client, &cleared, &command).unwrap();
            assert_eq!(value(&added), value(&new), "{cleared}");
            assert_eq!(remove_all(client, &new, Some(&command)).unwrap(), new);
            let observing = add(client, "", &format!("{command} --observe")).unwrap();
            assert!(!observing.contains(closes), "{observing}");
        }
    }

    #[test]
    fn what_would_never_be_called_isnt_ours() {
        for name in ["claude", "gemini", "cursor"] {
            let client = CLIENTS.into_iter().find(|it| it.name == name).unwrap();
            let command = format!("statemark hook {name}");
            let whole = value(&add(client, "", &command).unwrap());
            let mut narrow = whole.clone();
            for entries in narrow["hooks"].as_object_mut().unwrap().values_mut() {
                entries[0]["matcher"] = json!("NoSuchTool");
            }
            let cleared = remove_all(client, &narrow.to_string(), Some(&command)).unwrap();
            let added = add(client, &cleared, &command).unwrap();
            assert_eq!(value(&added), whole, "{added}");
        }
        for (text, key) in [
            ("{\"disableAllHooks\": true}", Some("disableAllHooks")),
            ("{\"disableAllHooks\": false}", None),
            (
                "{\"hooksConfig\": {\"enabled\": false}}",
                Some("hooksConfig.enabled"),
            ),
            ("{\"tools\": {\"enableHooks\": true}}", None),
        ] {
            let said = key.map(|key| format!("turns hooks off, by `{key}`: take that out first"));
            assert_eq!(check_on(text).err(), said, "{text}");
        }
        let twice = "{\"hooks\": {}, \"model\": \"x\", \"hooks\": {}}";
        let said = add(CLIENTS[0], twice, "statemark hook claude").unwrap_err();
        assert_eq!(said, "has the key `hooks` twice in one object: remove one");
    }

    #[test]
    fn a_handler_beside_ours_stays() {
        let client = CLIENTS[0];
        let old = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"a\"}, {\"command\": \"'/opt/x/statemark' hook claude --required\"}, {\"command\": \"b\"}]}]}}";
        let new = remove_all(client, old, None).unwrap();
        assert_eq!(
            value(&new),
            json!({"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "b"}]}]}})
        );
    }
}
