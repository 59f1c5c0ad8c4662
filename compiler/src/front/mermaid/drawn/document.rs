//! Mermaid's own tree of a diagram, and what it does to it: `docTranslator`.

use super::text::encode;
use crate::front::mermaid::ast::{
    Body, Declaration, Direction, DrawnAs, Endpoint, EndpointKind, StatementKind, Stereotype,
};
use crate::front::mermaid::lex::rule::is_space;

/// `[*]` in the text of a tree.
const STAR: &str = "[*]";

/// Mermaid's name for the whole diagram, which a state can have too.
pub(super) const ROOT: &str = "root";

/// What the id of a region begins with that ends in a `--`.
const DIVIDER: &str = "divider-id-";

/// What the id of a body's last region begins with. In Mermaid random letters follow.
const LAST_REGION: &str = "id-000000-";

/// A statement as Mermaid keeps it.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A mention of a state, in any form.
    State(State),
    /// A transition.
    Relation {
        from: State,
        to: State,
        label: String,
    },
    /// The way a body is laid out.
    Direction(Direction),
    /// A statement that says nothing, but counts as one.
    Nothing,
}

/// A mention of a state.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// For the end of a scope: whether it is the start.
    pub(super) start: Option<bool>,
    /// The texts that the mention gives.
    pub(super) texts: Vec<String>,
    /// For a note: whether it stands left of the state.
    pub(super) note_left: Option<bool>,
    /// The statements between its braces.
    pub(super) body: Option<Vec<Item>>,
}

/// Mermaid's type of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Default,
    Divider,
    Fork,
    Join,
    Choice,
    /// None: what a note mentions.
    Undefined,
}

/// The tree of a diagram, with regions, and with a state for each `[*]`.
pub(super) fn of(body: &Body) -> Vec<Item> {
    let mut dividers = 0;
    let mut items = items(body, &mut dividers);
    let mut regions = 0;
    // Mermaid does it twice, which shows where a name comes out of the first time.
    for _ in 0..2 {
        for item in &mut items {
            translate(ROOT, item, &mut regions);
        }
    }
    items
}

/// The last direction among some statements.
pub(super) fn direction(items: &[Item]) -> Option<Direction> {
    items.iter().rev().find_map(|item| match item {
        Item::Direction(direction) => Some(*direction),
        _ => None,
    })
}

/// Whether an id is one that Mermaid makes up for a region.
pub(super) fn is_region(id: &str) -> bool {
    let random = id.strip_prefix("id-").and_then(|id| id.split_once('-'));
    id.starts_with(DIVIDER)
        || random.is_some_and(|(letters, _)| {
            letters.len() >= 6
                && letters
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
        })
}

/// The statements of a body. Bodies are at most [`crate::front::mermaid::parse::MAX_DEPTH`] deep.
fn items(body: &Body, dividers: &mut usize) -> Vec<Item> {
    let statements = body.statements.iter().map(|statement| &statement.kind);
    let counted = statements.filter(|statement| !is_line_end(statement));
    counted.map(|statement| item(statement, dividers)).collect()
}

/// Whether Mermaid takes a statement for the end of a line: its own name for one is `nl`.
fn is_line_end(statement: &StatementKind) -> bool {
    match statement {
        StatementKind::Declaration(declaration) => {
            let is_bare = declaration.drawn == DrawnAs::Nothing && declaration.title.is_none();
            is_bare && declaration.id.value == "nl"
        }
        StatementKind::Accessibility { text, .. } => text.value == "nl",
        _ => false,
    }
}

fn item(statement: &StatementKind, dividers: &mut usize) -> Item {
    match statement {
        StatementKind::Mention(endpoint) => Item::State(mention(endpoint)),
        StatementKind::Description { state, text } => Item::State(State {
            texts: texts([&text.value]),
            ..mention(state)
        }),
        StatementKind::Transition(transition) => Item::Relation {
            from: mention(&transition.source),
            to: mention(&transition.target),
            label: transition
                .label
                .as_ref()
                .map(|label| encode(&label.value))
                .unwrap_or_default(),
        },
        StatementKind::Declaration(declaration) => declared(declaration, dividers),
        StatementKind::Divider => {
            *dividers += 1;
            Item::State(state(format!("{DIVIDER}{dividers}"), Kind::Divider))
        }
        StatementKind::Note(note) => match note.left {
            Some(left) => Item::State(State {
                note_left: Some(left),
                ..state(encode(&note.state.value), Kind::Undefined)
            }),
            None => Item::Nothing,
        },
        StatementKind::Direction(direction) => Item::Direction(direction.value),
        StatementKind::Drawing(_) | StatementKind::Accessibility { .. } => Item::Nothing,
    }
}

fn declared(declaration: &Declaration, dividers: &mut usize) -> Item {
    if declaration.drawn == DrawnAs::Nothing {
        return Item::Nothing;
    }
    let kind = match declaration.stereotype.as_ref().map(|mark| mark.value) {
        None => Kind::Default,
        Some(Stereotype::Fork) => Kind::Fork,
        Some(Stereotype::Join) => Kind::Join,
        Some(Stereotype::Choice) => Kind::Choice,
    };
    let title = declaration.title.as_ref().map(|title| &title.value);
    let mut id = &declaration.id.value;
    let mut lines = texts(title);
    // The id of `state "title" as [*] {` is `[*] `: with the blank it is no star the first time, and is one the second.
    let late = format!("{STAR} ");
    if id == STAR && declaration.title.is_some() && declaration.body.is_some() {
        id = &late;
    }
    match &declaration.drawn {
        DrawnAs::Named(name) => {
            id = name;
            lines.clear();
        }
        DrawnAs::Padded(title) => lines = texts([title]),
        DrawnAs::TwoLines => lines.push(String::new()),
        DrawnAs::Written | DrawnAs::Nothing => {}
    }
    Item::State(State {
        texts: lines,
        body: declaration.body.as_ref().map(|body| items(body, dividers)),
        ..state(encode(id), kind)
    })
}

fn mention(endpoint: &Endpoint) -> State {
    let id = match &endpoint.target {
        EndpointKind::Star => STAR.to_owned(),
        EndpointKind::Id(id) => encode(id),
    };
    state(id, Kind::Default)
}

fn state(id: String, kind: Kind) -> State {
    State {
        id,
        kind,
        start: None,
        texts: Vec::new(),
        note_left: None,
        body: None,
    }
}

/// The texts that Mermaid keeps of some: an empty one is none.
fn texts<'t>(texts: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let texts = texts.into_iter().map(|text| encode(text));
    texts.filter(|text| !text.is_empty()).collect()
}

/// One step of `docTranslator`.
fn translate(parent: &str, item: &mut Item, regions: &mut usize) {
    match item {
        Item::State(state) => translate_state(parent, state, true, regions),
        Item::Relation { from, to, .. } => {
            translate_state(parent, from, true, regions);
            translate_state(parent, to, false, regions);
        }
        Item::Direction(_) | Item::Nothing => {}
    }
}

fn translate_state(parent: &str, state: &mut State, first: bool, regions: &mut usize) {
    if state.id == STAR {
        let end = if first { "start" } else { "end" };
        state.id = format!("{parent}_{end}");
        state.start = Some(first);
    } else {
        let trimmed = state.id.trim_matches(is_space);
        if trimmed.len() < state.id.len() {
            state.id = trimmed.to_owned();
        }
    }
    if let Some(body) = &mut state.body {
        divide(body, regions);
        for item in body {
            translate(&state.id, item, regions);
        }
    }
}

/// Makes regions of a body with dividers, unless the last one stands at its end.
fn divide(body: &mut Vec<Item>, regions: &mut usize) {
    let is_divider =
        |item: &Item| matches!(item, Item::State(state) if state.kind == Kind::Divider);
    if !body.iter().any(is_divider) || body.last().is_some_and(is_divider) {
        return;
    }
    let mut divided = Vec::new();
    let mut current = Vec::new();
    for item in std::mem::take(body) {
        match item {
            Item::State(mut region) if region.kind == Kind::Divider => {
                region.body = Some(std::mem::take(&mut current));
                divided.push(Item::State(region));
            }
            other => current.push(other),
        }
    }
    *regions += 1;
    divided.push(Item::State(State {
        body: Some(current),
        ..state(format!("{LAST_REGION}{regions}"), Kind::Divider)
    }));
    *body = divided;
}
