//! Scripts as SCION writes them, and what their events mean in a machine.

use serde_json::Value;
use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Event, EventKind, Machine};

use super::play::{Script, Sent};

/// Reads SCION's format.
pub(super) fn read(value: &Value) -> Script {
    let names = |value: &Value| {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let event = |value: &Value| Sent {
        after: value["after"].as_u64().unwrap_or(0),
        name: value["event"]["name"].as_str().unwrap_or("").to_owned(),
        event: None,
        next: names(&value["nextConfiguration"]),
    };
    let events = value["events"].as_array().into_iter().flatten();
    Script {
        initial: names(&value["initialConfiguration"]),
        events: events.map(event).collect(),
    }
}

/// Finds the machine's events.
pub(super) fn resolve(script: &mut Script, machine: &Machine) {
    for sent in &mut script.events {
        sent.event = event(machine, &sent.name).map(Handle::index);
    }
}

/// The event that a name from outside means: its own, else the longest that the machine has in front of a dot, which
/// the same descriptors match, else the one for unknown names.
fn event(machine: &Machine, name: &str) -> Option<Handle<Event>> {
    let mut wanted = Some(name);
    while let Some(prefix) = wanted {
        let sendable = |event: &Handle<Event>| machine.events.at(*event).kind.is_sendable();
        if let Some(event) = machine.event_named(prefix).filter(sendable) {
            return Some(event);
        }
        wanted = prefix.rsplit_once('.').map(|(front, _)| front);
    }
    let mut events = machine.events.iter();
    events
        .find(|(_, event)| event.kind == EventKind::Unknown)
        .map(|(event, _)| event)
}
