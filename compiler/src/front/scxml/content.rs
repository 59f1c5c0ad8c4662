//! Executable content: the content of `<onentry>`, `<onexit>` and `<transition>`.

use roxmltree::Node;

use super::ast::{Assign, Branch, Content, ContentKind};
use super::reader::{MAX_NESTING, Reader, Space, space};
use super::{messages, script};
use crate::diag::{Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

/// The elements that are read among actions.
const CONTENT: &[&str] = &["raise", "send", "cancel", "log", "assign", "if"];

/// SCXML's names of its own event processor.
const PROCESSORS: [&str; 2] = ["http://www.w3.org/TR/scxml/#SCXMLEventProcessor", "scxml"];

/// Returns true if a node is an element of SCXML that may be there.
///
/// Comments, white space and the additions of editors aren't and are skipped; everything else is reported.
pub(super) fn is_expected(
    child: Node<'_, '_>,
    outer: Node<'_, '_>,
    allowed: &[&str],
    reader: &mut Reader<'_>,
) -> bool {
    let outer = outer.tag_name().name();
    if child.is_text() {
        if !child.text().unwrap_or("").trim().is_empty() {
            let place = reader.text_span(child);
            reader.report(messages::misplaced_text(place, outer));
        }
        return false;
    }
    if !child.is_element() {
        return false;
    }
    let name = child.tag_name().name();
    let tag = reader.tag(child);
    match space(child) {
        Space::Scxml if allowed.contains(&name) => true,
        Space::Scxml => {
            reader.report(unexpected_element(tag, name, outer, allowed));
            false
        }
        Space::Own => {
            reader.report(messages::misplaced_element(tag, name, outer, allowed));
            false
        }
        Space::Foreign => false,
    }
}

/// Reads the elements of a block, in order.
pub(super) fn block(node: Node<'_, '_>, depth: usize, reader: &mut Reader<'_>) -> Vec<Content> {
    let mut list = Vec::new();
    for child in node.children() {
        add(child, node, depth, &mut list, reader);
    }
    list
}

/// Adds what one element does; a script does several things.
fn add(
    node: Node<'_, '_>,
    outer: Node<'_, '_>,
    depth: usize,
    list: &mut Vec<Content>,
    reader: &mut Reader<'_>,
) {
    match script::assignments(node, reader) {
        Some(assignments) => list.extend(assignments),
        None => list.extend(content(node, outer, depth, reader)),
    }
}

fn content(
    node: Node<'_, '_>,
    outer: Node<'_, '_>,
    depth: usize,
    reader: &mut Reader<'_>,
) -> Option<Content> {
    let own = node.is_element() && space(node) == Space::Own;
    let name = node.tag_name().name();
    let kind = if own && name == "action" {
        reader.expect_attributes(node, &["name", "fails"], &[]);
        nothing_inside(node, reader);
        reader.required(node, "name", Reader::attribute)?;
        let fails = reader.attribute(node, "fails");
        let fails = fails.and_then(|text| reader.choice(&text, "fails", &["false", "true"]));
        ContentKind::Host {
            fails: fails.map(|chosen| chosen == 1),
        }
    } else if own && name == "assign" {
        together(node, reader)
    } else if node.is_element() && space(node) == Space::Foreign {
        let tag = reader.tag(node);
        reader.report(unsupported_element(
            tag,
            name,
            Some("no namespace that is known"),
        ));
        return None;
    } else if is_expected(node, outer, CONTENT, reader) {
        match name {
            "raise" => raise(node, reader)?,
            "send" => send(node, reader)?,
            "cancel" => cancel(node, reader)?,
            "log" => log(node, reader),
            "assign" => ContentKind::Assign(vec![assign(node, reader)?]),
            _ => conditional(node, depth, reader)?,
        }
    } else {
        return None;
    };
    let given = if own && name == "action" {
        reader.attribute(node, "name")
    } else {
        reader.own_attribute(node, "name")
    };
    Some(Content {
        span: reader.opening(node),
        name: given,
        kind,
    })
}

fn nothing_inside(node: Node<'_, '_>, reader: &mut Reader<'_>) {
    for child in node.children() {
        is_expected(child, node, &[], reader);
    }
}

fn raise(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<ContentKind> {
    reader.expect_attributes(node, &["event"], &["name"]);
    nothing_inside(node, reader);
    let event = reader.required(node, "event", Reader::attribute)?;
    name_of_event(event, reader).map(ContentKind::Raise)
}

/// Reads the name of an event that is sent, which has no wildcard.
fn name_of_event(event: Spanned<String>, reader: &mut Reader<'_>) -> Option<Spanned<String>> {
    if event.value.contains(['*', ' ']) {
        reader.report(messages::not_one_name(&event, "event"));
        return None;
    }
    Some(event)
}

fn send(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<ContentKind> {
    reader.expect_attributes(node, &["event", "id", "delay", "target", "type"], &["name"]);
    nothing_inside(node, reader);
    let mut fails = false;
    let kind = reader.attribute_or_expression(node, "type");
    let kind = kind.filter(|kind| !PROCESSORS.contains(&kind.value.trim_end_matches('/')));
    let target = reader.attribute_or_expression(node, "target");
    let internal = target.as_ref().is_some_and(|to| to.value == "#_internal");
    let target = target.filter(|_| !internal);
    let refused = [
        ("type", kind, PROCESSORS.as_slice()),
        ("target", target, ["#_internal"].as_slice()),
    ];
    for (name, value, choices) in refused {
        let Some(value) = value else { continue };
        // Another processor's place is one that somebody means; anything else isn't a place at all.
        let is_place = value.value.starts_with("#_") || value.value.contains(':');
        if is_place || reader.native {
            reader.report(messages::not_a_choice(&value, name, choices));
        } else {
            fails = true;
            reader.report(messages::unknown_target_of_send(&value, name));
        }
    }
    let id = reader.attribute(node, "id");
    let delay = reader.attribute_or_expression(node, "delay");
    let milliseconds = delay.as_ref().map_or(Some(0), |delay| {
        let found = milliseconds(&delay.value);
        if found.is_none() {
            reader.report(messages::bad_delay(delay));
        }
        found
    });
    if let Some(delay) = delay.filter(|_| internal) {
        reader.report(messages::delayed_internal_event(&delay));
    }
    let event = reader.required(node, "event", Reader::attribute_or_expression)?;
    let event = name_of_event(event, reader)?;
    if fails {
        return Some(ContentKind::Failure);
    }
    if internal {
        return Some(ContentKind::Raise(event));
    }
    Some(ContentKind::Send {
        event,
        id: id.filter(|id| !id.value.is_empty()),
        delay: milliseconds?,
    })
}

/// Reads CSS's time as whole milliseconds: `1.5s`, `20ms`.
fn milliseconds(text: &str) -> Option<u64> {
    let (number, places) = match text.strip_suffix("ms") {
        Some(number) => (number, 0),
        None => (text.strip_suffix('s')?, 3),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.chars().all(|digit| digit.is_ascii_digit());
    let fraction = fraction.trim_end_matches('0');
    let is_number = digits(whole) && digits(fraction) && number.chars().any(|c| c != '.');
    if !is_number || fraction.len() > places {
        return None;
    }
    format!("{whole}{fraction:0<places$}").parse().ok()
}

fn cancel(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<ContentKind> {
    reader.expect_attributes(node, &["sendid"], &["name"]);
    nothing_inside(node, reader);
    let id = reader.required(node, "sendid", Reader::attribute_or_expression)?;
    Some(ContentKind::Cancel(id))
}

fn log(node: Node<'_, '_>, reader: &mut Reader<'_>) -> ContentKind {
    reader.expect_attributes(node, &["label", "expr"], &["name"]);
    nothing_inside(node, reader);
    let text = |name: &str| reader.attribute(node, name).map(|text| text.value);
    ContentKind::Log {
        label: text("label"),
        text: text("expr"),
    }
}

fn assign(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<Assign> {
    reader.expect_attributes(node, &["location", "expr"], &["name"]);
    nothing_inside(node, reader);
    let location = reader.required(node, "location", Reader::attribute);
    let value = reader.required_excerpt(node, "expr");
    Some(Assign {
        location: location?,
        value: value?,
    })
}

/// Reads `<statemark:assign>`: several assignments that are one action.
fn together(node: Node<'_, '_>, reader: &mut Reader<'_>) -> ContentKind {
    reader.expect_attributes(node, &[], &["name"]);
    let mut list = Vec::new();
    for child in node.children() {
        if is_expected(child, node, &["assign"], reader) {
            list.extend(assign(child, reader));
        }
    }
    ContentKind::Assign(list)
}

/// Reads `<if>`: its content, cut at each `<elseif>` and `<else>`.
fn conditional(node: Node<'_, '_>, depth: usize, reader: &mut Reader<'_>) -> Option<ContentKind> {
    reader.expect_attributes(node, &["cond"], &["name"]);
    if depth > MAX_NESTING {
        let tag = reader.tag(node);
        reader.report(unsupported_element(tag, "if", Some("nested too deep")));
        return None;
    }
    let mut branches = vec![Branch {
        span: reader.opening(node),
        condition: reader.required_excerpt(node, "cond"),
        content: Vec::new(),
    }];
    let mut is_broken = branches.iter().any(|branch| branch.condition.is_none());
    let mut ended = false;
    for child in node.children() {
        let name = child.tag_name().name();
        let is_cut = child.is_element() && ["elseif", "else"].contains(&name);
        if !is_cut {
            if let Some(last) = branches.last_mut() {
                add(child, node, depth + 1, &mut last.content, reader);
            }
            continue;
        }
        let tag = reader.tag(child);
        if ended {
            reader.report(messages::after_else(tag, name));
        }
        nothing_inside(child, reader);
        let condition = if name == "elseif" {
            reader.expect_attributes(child, &["cond"], &[]);
            let condition = reader.required_excerpt(child, "cond");
            is_broken |= condition.is_none();
            condition
        } else {
            reader.expect_attributes(child, &[], &[]);
            ended = true;
            None
        };
        branches.push(Branch {
            span: reader.opening(child),
            condition,
            content: Vec::new(),
        });
    }
    (!is_broken).then_some(ContentKind::If(branches))
}

/// SCXML's elements that are read somewhere.
const READ: &[&str] = &[
    "assign",
    "cancel",
    "data",
    "datamodel",
    "else",
    "elseif",
    "final",
    "history",
    "if",
    "initial",
    "log",
    "onentry",
    "onexit",
    "parallel",
    "raise",
    "scxml",
    "send",
    "state",
    "transition",
];

/// SCXML's other elements, with the reason why each isn't read.
const UNREAD: &[(&str, &str)] = &[
    ("invoke", "a machine starts no other one"),
    ("finalize", "a machine starts no other one"),
    ("script", "only assignments are read: `count = count + 1;`"),
    ("foreach", "a step is bounded, so there are no loops"),
    ("donedata", "events of completion bring no data"),
    ("param", "events that a machine sends bring no data"),
    ("content", "events that a machine sends bring no data"),
];

/// Reports an element of SCXML that is read elsewhere, or not at all.
fn unexpected_element(tag: Span, name: &str, outer: &str, allowed: &[&str]) -> Diagnostic {
    if READ.contains(&name) {
        return messages::misplaced_element(tag, name, outer, allowed);
    }
    let reason = UNREAD.iter().find(|(unread, _)| *unread == name);
    unsupported_element(tag, name, reason.map(|(_, reason)| *reason))
}

/// Reports an element that isn't read, with the reason if it is known to SCXML.
fn unsupported_element(tag: Span, name: &str, reason: Option<&str>) -> Diagnostic {
    let message = format!("`<{name}>` isn't supported");
    let finding = Diagnostic::new(Code::UnsupportedElement, tag, message);
    if let Some(reason) = reason {
        let finding = finding.label(reason);
        return match name {
            "script" | "foreach" | "invoke" => finding.help(
                "let the host do it: `<statemark:action name=\"…\"/>`, or an event that it sends",
            ),
            _ => finding.help("remove it, or say it with what is supported"),
        };
    }
    match nearest(name, READ.iter().copied()) {
        Some(near) => finding
            .label("no element of SCXML")
            .help(format!("did you mean `<{near}>`?")),
        None => finding
            .label("no element of SCXML")
            .help("remove it, or give it a namespace of its own"),
    }
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn delays_are_times_of_css() {
        for (text, expected) in [
            ("1s", Some(1_000)),
            ("1.5s", Some(1_500)),
            (".5s", Some(500)),
            ("20ms", Some(20)),
            ("20.0ms", Some(20)),
            ("0s", Some(0)),
            ("5", None),
            ("", None),
            ("s", None),
            (".s", None),
            ("-1s", None),
            ("1.0005s", None),
            ("1e3s", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
