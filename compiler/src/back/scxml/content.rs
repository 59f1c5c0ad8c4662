//! Lists of actions as executable content.

use std::fmt::Write as _;

use super::Writer;
use crate::arena::Handle;
use crate::front::scxml::escaped;
use crate::ir::{Action, ActionKind};
use crate::lower::scxml::default_name;

impl Writer<'_> {
    /// Writes the actions of a list, an element each.
    pub(super) fn actions(&mut self, list: &[Handle<Action>]) {
        for &action in list {
            self.action(action);
        }
    }

    fn action(&mut self, handle: Handle<Action>) {
        let machine = self.machine;
        let action = machine.actions.at(handle);
        let name_attribute = self.name_attribute(handle, action);
        match &action.kind {
            ActionKind::Host | ActionKind::Fallible => self.host(action, &name_attribute),
            ActionKind::Raise(event) => {
                self.mentioned.insert(event.index());
                let event = escaped(self.events.get(event.index()));
                self.line(&format!("<raise event=\"{event}\"{name_attribute}/>"));
            }
            ActionKind::Schedule(timer, delay) => {
                self.scheduled.insert(timer.index());
                let event = machine.timers.at(*timer).event;
                self.mentioned.insert(event.index());
                let event = escaped(self.events.get(event.index()));
                let id = escaped(self.timers.get(timer.index()));
                let delay = match delay {
                    0 => String::new(),
                    milliseconds => format!(" delay=\"{milliseconds}ms\""),
                };
                // A timer that has no id of its own got this one.
                let is_cancelled = machine
                    .actions
                    .iter()
                    .any(|(_, other)| other.kind == ActionKind::Cancel(*timer));
                let id = if id == format!("send.{event}") && !is_cancelled {
                    String::new()
                } else {
                    format!(" id=\"{id}\"")
                };
                self.line(&format!(
                    "<send event=\"{event}\"{id}{delay}{name_attribute}/>"
                ));
            }
            ActionKind::Cancel(timer) => {
                let id = escaped(self.timers.get(timer.index()));
                self.line(&format!("<cancel sendid=\"{id}\"{name_attribute}/>"));
            }
            ActionKind::Assign(list) => {
                let lines: Vec<String> = list
                    .iter()
                    .map(|assign| {
                        let location = escaped(&machine.fields.at(assign.field).path);
                        let value = escaped(&self.expression(&assign.value));
                        format!("<assign location=\"{location}\" expr=\"{value}\"")
                    })
                    .collect();
                if let [only] = lines.as_slice() {
                    self.line(&format!("{only}{name_attribute}/>"));
                    return;
                }
                let opening = format!("<statemark:assign{name_attribute}");
                self.element(&opening, "statemark:assign", |writer| {
                    for line in lines {
                        writer.line(&format!("{line}/>"));
                    }
                });
            }
            ActionKind::If { .. } => self.conditional(action, &name_attribute),
        }
    }

    /// Writes the attribute that names an action, if its name isn't its default, or if it is used again.
    fn name_attribute(&self, handle: Handle<Action>, action: &Action) -> String {
        let uses = self.uses.get(handle.index()).copied().unwrap_or(0);
        let default = default_name(self.machine, action);
        let rest = action.name.strip_prefix(&default);
        let is_default = rest.is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('_')
                    .is_some_and(|digits| digits.parse::<usize>().is_ok())
        });
        let is_shared = uses > 1 && !matches!(action.kind, ActionKind::Raise(_));
        if is_default && !is_shared {
            String::new()
        } else {
            format!(" statemark:name=\"{}\"", escaped(&action.name))
        }
    }

    fn host(&mut self, action: &Action, name_attribute: &str) {
        let Some(log) = action.meta.get("log") else {
            let name = escaped(&action.name);
            let fails = match action.kind {
                ActionKind::Fallible => " fails=\"true\"",
                _ => "",
            };
            self.line(&format!("<statemark:action name=\"{name}\"{fails}/>"));
            return;
        };
        let mut line = String::from("<log");
        for (key, attribute) in [("label", "label"), ("expr", "expr")] {
            if let Some(text) = log.get(key).and_then(serde_json::Value::as_str) {
                let _ = write!(line, " {attribute}=\"{}\"", escaped(text));
            }
        }
        self.line(&format!("{line}{name_attribute}/>"));
    }

    /// Writes `<if>`; an `if` that is the whole `else`, and that nothing else calls, is its `<elseif>`.
    fn conditional(&mut self, action: &Action, name_attribute: &str) {
        let mut opening = format!("<if{name_attribute}");
        let mut at = action;
        let mut is_first = true;
        while let ActionKind::If {
            guard,
            then,
            otherwise,
        } = &at.kind
        {
            let condition = escaped(&self.expression(guard));
            if is_first {
                let _ = write!(opening, " cond=\"{condition}\">");
                self.line(&opening);
            } else {
                self.line(&format!("<elseif cond=\"{condition}\"/>"));
            }
            is_first = false;
            self.depth += 1;
            self.actions(then);
            self.depth -= 1;
            let machine = self.machine;
            let next = match otherwise.as_slice() {
                &[only] => Some((only, machine.actions.at(only)))
                    .filter(|(_, next)| matches!(next.kind, ActionKind::If { .. }))
                    .filter(|(handle, next)| self.name_attribute(*handle, next).is_empty()),
                _ => None,
            };
            match next {
                Some((_, next)) => at = next,
                None => {
                    if !otherwise.is_empty() {
                        self.line("<else/>");
                        self.depth += 1;
                        self.actions(otherwise);
                        self.depth -= 1;
                    }
                    break;
                }
            }
        }
        self.line("</if>");
    }
}
