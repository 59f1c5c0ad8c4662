//! The elements that make the tree of states.

use roxmltree::Node;

use super::ast::{
    AmbiguousLabel, Data, DeclaredEvent, Document, Guard, GuardKind, Initial, Kind, Operator,
    State, Transition, Verdict,
};
use super::reader::{MAX_NESTING, Reader, Space, space};
use super::{content, messages};
use crate::source::{Span, Spanned};

/// The elements that a state may hold, by what holds it.
const IN_DOCUMENT: &[&str] = &["state", "parallel", "final", "datamodel"];
const IN_STATE: &[&str] = &[
    "onentry",
    "onexit",
    "transition",
    "initial",
    "state",
    "parallel",
    "final",
    "history",
    "datamodel",
];
const IN_PARALLEL: &[&str] = &[
    "onentry",
    "onexit",
    "transition",
    "state",
    "parallel",
    "history",
    "datamodel",
];
const IN_FINAL: &[&str] = &["onentry", "onexit"];
const IN_HISTORY: &[&str] = &["transition"];

/// Reads the element `<scxml>`.
pub(super) fn document(root: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<Document> {
    let tag = reader.tag(root);
    if root.tag_name().name() != "scxml" || space(root) != Space::Scxml {
        reader.report(messages::not_scxml(tag, root.tag_name().name()));
        return None;
    }
    let known = [
        "initial",
        "name",
        "version",
        "datamodel",
        "binding",
        "exmode",
    ];
    reader.expect_attributes(root, &known, &[]);
    let choose = |reader: &mut Reader<'_>, name: &str, choices: &[&str]| {
        let value = reader.attribute(root, name)?;
        reader.choice(&value, name, choices)
    };
    choose(reader, "version", &["1.0", "1"]);
    choose(reader, "binding", &["early"]);
    let datamodel = choose(reader, "datamodel", &["ecmascript", "statemark", "null"]);
    reader.native = datamodel == Some(1);
    let name = reader.attribute(root, "name");
    let mut body = empty(Kind::State, tag, None);
    body.initial = initial_attribute(root, reader);
    children(root, &mut body, IN_DOCUMENT, 0, reader);
    collect_root_copies(&mut body, reader);
    let mut document = Document {
        span: tag,
        name: name.filter(|name| !name.value.is_empty()),
        ecmascript: datamodel == Some(0),
        native: datamodel == Some(1),
        events: Vec::new(),
        timers: Vec::new(),
        labels: Vec::new(),
        body,
    };
    for child in root.children().filter(|&child| is_own_declaration(child)) {
        declaration(child, &mut document, reader);
    }
    Some(document)
}

/// Returns true if a child of the document is read with it, not with its states.
fn is_own_declaration(node: Node<'_, '_>) -> bool {
    let names = ["event", "timer", "label", "initial"];
    node.is_element() && space(node) == Space::Own && names.contains(&node.tag_name().name())
}

/// Reads `<statemark:event>`, `<statemark:timer>`, `<statemark:label>` and `<statemark:initial>`.
fn declaration(node: Node<'_, '_>, document: &mut Document, reader: &mut Reader<'_>) {
    let name = node.tag_name().name();
    if name == "initial" {
        initial_element(node, &mut document.body, reader);
        return;
    }
    for inside in node.children() {
        content::is_expected(inside, node, &[], reader);
    }
    if name == "timer" {
        reader.expect_attributes(node, &["id", "event"], &[]);
        let id = reader.required(node, "id", Reader::attribute);
        let event = reader.required(node, "event", Reader::attribute);
        document.timers.extend(id.zip(event));
        return;
    }
    if name == "label" {
        reader.expect_attributes(node, &["name", "state", "events"], &[]);
        let name = reader.required(node, "name", Reader::attribute);
        let state = reader.required(node, "state", Reader::attribute);
        let events = reader.required(node, "events", Reader::attribute);
        let events = events.and_then(|_| reader.words(node, "events"));
        if let (Some(name), Some(state), Some(events)) = (name, state, events) {
            let label = AmbiguousLabel {
                name,
                state,
                events,
            };
            document.labels.push(label);
        }
        return;
    }
    reader.expect_attributes(node, &["name", "kind"], &[]);
    let kind = reader.attribute(node, "kind");
    if let Some(kind) = &kind {
        reader.choice(kind, "kind", &["delayed"]);
    }
    if let Some(name) = reader.required(node, "name", Reader::attribute) {
        let delayed = kind.is_some();
        document.events.push(DeclaredEvent { name, delayed });
    }
}

fn empty(kind: Kind, tag: Span, id: Option<Spanned<String>>) -> State {
    State {
        kind,
        tag,
        id,
        verdict: Verdict::Success,
        initial: None,
        entry: Vec::new(),
        exit: Vec::new(),
        transitions: Vec::new(),
        data: Vec::new(),
        guards: Vec::new(),
        children: Vec::new(),
    }
}

fn initial_attribute(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<Initial> {
    let whole = reader.attribute(node, "initial")?;
    let targets = reader.words(node, "initial").unwrap_or_default();
    if targets.is_empty() {
        reader.report(messages::empty_attribute(whole.span, "initial"));
        return None;
    }
    Some(Initial {
        span: whole.span,
        targets,
        content: Vec::new(),
    })
}

/// Reads the content of a state. The texts between elements must be empty.
fn children(
    node: Node<'_, '_>,
    state: &mut State,
    allowed: &[&str],
    depth: usize,
    reader: &mut Reader<'_>,
) {
    for child in node.children() {
        let is_declared = depth == 0 && is_own_declaration(child);
        if is_declared || !content::is_expected(child, node, allowed, reader) {
            continue;
        }
        match child.tag_name().name() {
            "onentry" => state.entry.push(handler(child, reader)),
            "onexit" => state.exit.push(handler(child, reader)),
            "transition" => {
                state
                    .transitions
                    .push(transition(child, state.kind, depth == 1, reader))
            }
            "initial" => initial_element(child, state, reader),
            "datamodel" => datamodel(child, state, reader),
            name => {
                if let Some(kind) = kind(name, child, reader) {
                    let inner = inner_state(child, kind, depth + 1, reader);
                    state.children.push(inner);
                }
            }
        }
    }
}

fn kind(name: &str, node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<Kind> {
    match name {
        "state" => Some(Kind::State),
        "parallel" => Some(Kind::Parallel),
        "final" => Some(Kind::Final),
        "history" => {
            let deep = type_of(node, ["shallow", "deep"], reader);
            Some(Kind::History { deep })
        }
        _ => None,
    }
}

/// Returns true if the attribute `type` has the second of two values; the first is the default.
fn type_of(node: Node<'_, '_>, choices: [&str; 2], reader: &mut Reader<'_>) -> bool {
    let value = reader.attribute(node, "type");
    value.and_then(|value| reader.choice(&value, "type", &choices)) == Some(1)
}

fn inner_state(node: Node<'_, '_>, kind: Kind, depth: usize, reader: &mut Reader<'_>) -> State {
    let (known, allowed): (&[&str], _) = match kind {
        Kind::State => (&["id", "initial"], IN_STATE),
        Kind::Parallel => (&["id"], IN_PARALLEL),
        Kind::Final => (&["id"], IN_FINAL),
        Kind::History { .. } => (&["id", "type"], IN_HISTORY),
    };
    let own: &[&str] = if kind == Kind::Final {
        &["verdict"]
    } else {
        &[]
    };
    reader.expect_attributes(node, known, own);
    let tag = reader.tag(node);
    let id = reader.attribute(node, "id").filter(|id| {
        let is_empty = id.value.is_empty();
        if is_empty {
            reader.report(messages::empty_attribute(id.span, "id"));
        } else if id.value.contains(' ') {
            reader.report(messages::not_one_name(id, "id"));
        }
        !is_empty && !id.value.contains(' ')
    });
    let mut state = empty(kind, tag, id);
    if let Some(verdict) = reader.own_attribute(node, "verdict") {
        let choices = ["success", "failure"];
        if reader.choice(&verdict, "verdict", &choices) == Some(1) {
            state.verdict = Verdict::Failure;
        }
    }
    if kind == Kind::State {
        state.initial = initial_attribute(node, reader);
    }
    if depth > MAX_NESTING {
        // States nested half as deep are too deep for a table already, which is reported of the machine.
        return state;
    }
    children(node, &mut state, allowed, depth, reader);
    if let Kind::History { .. } = kind {
        match state.transitions.len() {
            0 => {
                reader.report(messages::missing_default_transition(tag));
            }
            1 => {}
            _ => several_transitions(&state.transitions, "history", reader),
        }
    }
    state
}

fn several_transitions(transitions: &[Transition], element: &str, reader: &mut Reader<'_>) {
    for again in transitions.iter().skip(1) {
        reader.report(messages::second_element(again.span, "transition", element));
    }
}

fn handler(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Vec<super::ast::Content> {
    reader.expect_attributes(node, &[], &[]);
    content::block(node, 0, reader)
}

/// Reads `<transition>`.
///
/// `is_outermost` is true if its state is in the document itself, where it may be a copy of the root's.
fn transition(
    node: Node<'_, '_>,
    of: Kind,
    is_outermost: bool,
    reader: &mut Reader<'_>,
) -> Transition {
    // A history's default and an initial transition always lead on, and at once.
    let known: &[&str] = match of {
        Kind::History { .. } => &["target", "type"],
        _ => &["event", "cond", "target", "type"],
    };
    let may_be_copy = is_outermost && !matches!(of, Kind::History { .. });
    let own: &[&str] = if may_be_copy {
        &["exact", "root"]
    } else {
        &["exact"]
    };
    reader.expect_attributes(node, known, own);
    let tag = reader.tag(node);
    let events = reader.words(node, "event").inspect(|events| {
        if events.is_empty() {
            let span = reader.attribute(node, "event").map(|event| event.span);
            reader.report(messages::empty_attribute(span.unwrap_or(tag), "event"));
        }
    });
    let targets = reader.words(node, "target").unwrap_or_default();
    if let Some(target) = reader.attribute(node, "target")
        && targets.is_empty()
    {
        reader.report(messages::empty_attribute(target.span, "target"));
    } else if targets.is_empty() && matches!(of, Kind::History { .. }) {
        reader.report(messages::missing_attribute(tag, "transition", "target"));
    }
    let exact = reader.own_attribute(node, "exact");
    let condition = reader.excerpt(node, "cond").filter(|condition| {
        let is_empty = condition.text().trim().is_empty();
        if is_empty {
            let span = reader.attribute(node, "cond").map(|value| value.span);
            reader.report(messages::empty_attribute(span.unwrap_or(tag), "cond"));
        }
        !is_empty
    });
    Transition {
        span: reader.opening(node),
        events,
        exact: exact.is_some_and(|exact| exact.value == "true"),
        of_root: reader.own_attribute(node, "root").filter(|_| may_be_copy),
        condition,
        targets,
        internal: type_of(node, ["external", "internal"], reader),
        content: content::block(node, 0, reader),
    }
}

/// Reads `<initial>`: a transition that says where a state begins.
fn initial_element(node: Node<'_, '_>, state: &mut State, reader: &mut Reader<'_>) {
    reader.expect_attributes(node, &[], &[]);
    let tag = reader.tag(node);
    if state.initial.is_some() {
        reader.report(messages::second_element(tag, "initial", "state"));
        return;
    }
    let mut found = Vec::new();
    for child in node.children() {
        if content::is_expected(child, node, &["transition"], reader) {
            found.push(transition(
                child,
                Kind::History { deep: false },
                false,
                reader,
            ));
        }
    }
    if found.len() > 1 {
        several_transitions(&found, "initial", reader);
    }
    match found.into_iter().next() {
        Some(transition) => {
            state.initial = Some(Initial {
                span: transition.span,
                targets: transition.targets,
                content: transition.content,
            });
        }
        None => reader.report(messages::missing_element(tag, "initial", "transition")),
    }
}

fn datamodel(node: Node<'_, '_>, state: &mut State, reader: &mut Reader<'_>) {
    reader.expect_attributes(node, &[], &[]);
    for child in node.children() {
        let is_own = child.is_element() && space(child) == Space::Own;
        if is_own && child.tag_name().name() == "guard" {
            state.guards.extend(guard(child, reader));
            continue;
        }
        if !content::is_expected(child, node, &["data"], reader) {
            continue;
        }
        reader.expect_attributes(child, &["id", "expr"], &[]);
        let id = reader.required(child, "id", Reader::attribute);
        let mut value = reader.excerpt(child, "expr");
        for inside in child.children() {
            if inside.is_text() && value.is_none() {
                let text = reader.decoded(inside.range());
                value = Some(text).filter(|text| !text.text().trim().is_empty());
            } else {
                content::is_expected(inside, child, &[], reader);
            }
        }
        if let Some(id) = id {
            state.data.push(Data { id, value });
        }
    }
}

/// Reads `<statemark:guard>`.
fn guard(node: Node<'_, '_>, reader: &mut Reader<'_>) -> Option<Guard> {
    reader.expect_attributes(
        node,
        &["id", "name", "claim", "field", "operator", "value"],
        &[],
    );
    for inside in node.children() {
        content::is_expected(inside, node, &[], reader);
    }
    let id = reader.required(node, "id", Reader::attribute);
    let name = reader.attribute(node, "name");
    let Some(word) = reader.attribute(node, "operator") else {
        let kind = match reader.attribute(node, "claim") {
            Some(words) => GuardKind::Claim { name, words },
            None => GuardKind::Host(name),
        };
        return id.map(|id| Guard { id, kind });
    };
    let field = reader.required(node, "field", Reader::attribute);
    let Some(operator) = Operator::from_name(&word.value) else {
        let names = Operator::ALL.map(Operator::name);
        reader.report(messages::not_a_choice(&word, "operator", &names));
        return None;
    };
    let constants = reader.excerpt(node, "value");
    if constants.is_none() && operator.needs_presence() {
        let tag = reader.tag(node);
        reader.report(messages::missing_attribute(tag, "guard", "value"));
        return None;
    }
    Some(Guard {
        id: id?,
        kind: GuardKind::Compare {
            field: field?,
            operator,
            constants,
        },
    })
}

/// Moves the copies out of the states in the document, and one of each to the document itself.
fn collect_root_copies(document: &mut State, reader: &mut Reader<'_>) {
    let mut first: Option<Vec<Transition>> = None;
    for state in &mut document.children {
        if !matches!(state.kind, Kind::State | Kind::Parallel) {
            continue;
        }
        let copies = take_copies(state, reader);
        let Some(wanted) = &first else {
            first = Some(copies);
            continue;
        };
        let pairs = wanted.iter().zip(&copies);
        let differs = pairs
            .into_iter()
            .find(|(one, other)| one.words() != other.words());
        if let Some((one, other)) = differs {
            reader.report(messages::copies_differ(copy_span(other), one.span));
        } else if let Some(lost) = wanted.get(copies.len()) {
            reader.report(messages::copy_missing(state.tag, lost.span));
        } else if let Some(more) = copies.get(wanted.len()) {
            reader.report(messages::surplus_copy(copy_span(more)));
        }
    }
    document.transitions = first.unwrap_or_default();
}

fn copy_span(transition: &Transition) -> Span {
    let mark = transition.of_root.as_ref();
    mark.map_or(transition.span, |mark| mark.span)
}

/// Takes the marked transitions out of a state. They are numbered from one, and are the last.
fn take_copies(state: &mut State, reader: &mut Reader<'_>) -> Vec<Transition> {
    let (copies, own): (Vec<_>, Vec<_>) = std::mem::take(&mut state.transitions)
        .into_iter()
        .partition(|transition| transition.of_root.is_some());
    let last_own = own.last().map_or(0, |transition| transition.span.start);
    for (index, copy) in copies.iter().enumerate() {
        let Some(mark) = &copy.of_root else { continue };
        if mark.value != (index + 1).to_string() {
            reader.report(messages::copy_number(mark, index + 1));
        } else if copy.span.start < last_own {
            reader.report(messages::copy_before_own(mark.span));
        }
    }
    state.transitions = own;
    copies
}
