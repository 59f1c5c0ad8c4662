//! Mermaid's own tree of a diagram, and its translation (`docTranslator`): ids for `[*]`, regions for `--`.

use statemark_compiler::front::mermaid::ast::{
    Body, Declaration, Direction, DrawnAs, Endpoint, EndpointKind, StatementKind, Stereotype,
};

/// The id of a `[*]` before the translation.
const STAR: &str = "[*]";

/// Mermaid's id of the whole diagram. A state can have it too.
pub(super) const ROOT: &str = "root";

/// Prefix of the id of a region that a `--` closes.
const DIVIDER: &str = "divider-id-";

/// Prefix of the id of a body's last region. In Mermaid its letters are random.
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
    /// The direction of a body.
    Direction(Direction),
    /// A statement without effect that counts as one: the last of a body decides about its regions.
    Nothing,
}

/// A mention of a state.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// For a `[*]`, whether it is the start of its scope.
    pub(super) start: Option<bool>,
    /// The texts of the mention.
    pub(super) texts: Vec<String>,
    /// For a note, whether it is left of the state.
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
    /// The kind of a state in a note.
    Undefined,
}

/// Builds the tree of a diagram, with regions, and with a state for each `[*]`.
pub(super) fn translate(body: &Body) -> Vec<Item> {
    let mut dividers = 0;
    let mut items = items(body, &mut dividers);
    let mut regions = 0;
    // Mermaid translates twice. The second time changes ids that the first time has trimmed to `[*]`.
    for _ in 0..2 {
        for item in &mut items {
            translate_item(ROOT, item, &mut regions);
        }
    }
    items
}

/// Returns the last direction in a list of statements.
pub(super) fn direction(items: &[Item]) -> Option<Direction> {
    items.iter().rev().find_map(|item| match item {
        Item::Direction(direction) => Some(*direction),
        _ => None,
    })
}

/// Returns whether Mermaid made up an id for a region.
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

/// Converts the statements of a body. The parser refuses bodies that are nested deeper than 64.
fn items(body: &Body, dividers: &mut usize) -> Vec<Item> {
    let statements = body.statements.iter().map(|statement| &statement.kind);
    let counted = statements.filter(|statement| !is_line_end(statement));
    counted.map(|statement| item(statement, dividers)).collect()
}

/// Returns whether Mermaid takes a statement for a line end, its own name for which is `nl`.
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

/// Converts a statement.
fn item(statement: &StatementKind, dividers: &mut usize) -> Item {
    match statement {
        StatementKind::Mention(endpoint) => Item::State(mention(endpoint)),
        StatementKind::Description { state, description } => Item::State(State {
            texts: texts([&description.text.value]),
            ..mention(state)
        }),
        StatementKind::Transition(transition) => Item::Relation {
            from: mention(&transition.source),
            to: mention(&transition.target),
            label: transition
                .label
                .as_ref()
                .map(|label| encode(&label.text.value))
                .unwrap_or_default(),
        },
        StatementKind::Declaration(declaration) => declaration_item(declaration, dividers),
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

fn declaration_item(declaration: &Declaration, dividers: &mut usize) -> Item {
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

/// Encodes texts as Mermaid keeps them, without the empty ones.
fn texts<'t>(texts: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let texts = texts.into_iter().map(|text| encode(text));
    texts.filter(|text| !text.is_empty()).collect()
}

/// Runs one step of `docTranslator`.
fn translate_item(parent: &str, item: &mut Item, regions: &mut usize) {
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
            translate_item(&state.id, item, regions);
        }
    }
}

/// Divides a body into regions, unless a divider is its last statement.
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

/// Encodes entities as Mermaid does before it parses: `#name;` becomes `ﬂ°name¶ß`, and `#35;` becomes `ﬂ°°35¶ß`.
///
/// Mermaid turns them back when it draws.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('#') {
        encoded.push_str(before);
        let length = after.find(|c| !is_word(c)).unwrap_or(after.len());
        let (name, tail) = after.split_at_checked(length).unwrap_or(("", after));
        match tail.strip_prefix(';') {
            Some(tail) if !name.is_empty() => {
                let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                encoded.push_str(if is_number { "ﬂ°°" } else { "ﬂ°" });
                encoded.push_str(name);
                encoded.push_str("¶ß");
                rest = tail;
            }
            _ => {
                encoded.push('#');
                rest = after;
            }
        }
    }
    encoded.push_str(rest);
    encoded
}

/// Returns whether JavaScript's `\s` matches a character.
fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Returns whether JavaScript's `\w` matches a character.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
