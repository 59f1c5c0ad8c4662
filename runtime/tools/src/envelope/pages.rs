//! Pages of lists and objects of any size: a reply has as many items as fit.
//!
//! A cursor names a part and a position in it: `context:12` is item 12, `context:12:4000` byte 4000 of its JSON. So
//! everything can be read, even an item that is larger than a reply. If items have names, the cursor has the item's as well
//! (`context:12=words`): items that come and go between two pages shift the numbers, not the next item.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::bounds;
use crate::Problem;

/// Bytes that an item takes in addition to its JSON.
const PUNCTUATION: usize = 4;
/// Bytes that the fields of a piece take.
const PIECE_FIELDS: usize = 80;

/// The position at which a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) item: usize,
    pub(crate) byte: usize,
}

/// A position in one of several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartCursor {
    pub(crate) part: String,
    pub(crate) position: Position,
    /// The name of the item, if items have names.
    pub(crate) name: Option<String>,
}

impl PartCursor {
    /// Creates the cursor of a position in a part that has these items now.
    pub(crate) fn new(part: &str, items: &Value, position: Position) -> Self {
        let name = item_names(items).into_iter().nth(position.item);
        Self {
            part: part.to_owned(),
            position,
            name: name.map(|(_, name)| name),
        }
    }

    /// Returns the position in the items of today: the named item, or the one after it if that is gone.
    pub(crate) fn position_in(&self, items: &Value) -> Position {
        let names = item_names(items);
        let Some(name) = &self.name else {
            return self.position;
        };
        if let Some(item) = names.iter().position(|(_, it)| it == name) {
            let byte = self.position.byte;
            return Position { item, byte };
        }
        let is_numbered = names.iter().any(|(number, _)| *number > 0);
        let order = request_number(name).filter(|_| is_numbered);
        let gone = (order.unwrap_or_default(), name.clone());
        let item = names.iter().position(|it| *it > gone);
        Position {
            item: item.unwrap_or(names.len()),
            byte: 0,
        }
    }
}

/// Returns the names of the items, each after its sort key: the number of a request.
///
/// Empty if items have no names.
fn item_names(items: &Value) -> Vec<(u64, String)> {
    match items {
        Value::Object(all) => all.keys().map(|key| (0, key.clone())).collect(),
        Value::Array(all) => {
            let named = all.iter().map(|item| {
                let text = |key| item.get(key).and_then(Value::as_str).map(str::to_owned);
                let request = text("request_id");
                let request = request.map(|id| (request_number(&id).unwrap_or_default(), id));
                request.or_else(|| text("name").map(|name| (0, name)))
            });
            named.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns the number in the id of a request.
fn request_number(id: &str) -> Option<u64> {
    id.rsplit_once(':')?.1.parse().ok()
}

impl fmt::Display for PartCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { item, byte } = self.position;
        write!(out, "{}:{item}", self.part)?;
        if byte > 0 {
            write!(out, ":{byte}")?;
        }
        match &self.name {
            Some(name) => write!(out, "={name}"),
            None => Ok(()),
        }
    }
}

impl FromStr for PartCursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let (text, name) = match text.split_once('=') {
            Some((text, name)) => (text, Some(name.to_owned())),
            None => (text, None),
        };
        let mut parts = text.split(':');
        let part = parts.next().unwrap_or_default().to_owned();
        let mut number = || parts.next().map(str::parse::<usize>);
        let (item, byte) = (number(), number().unwrap_or(Ok(0)));
        match (item, byte, parts.next()) {
            (Some(Ok(item)), Ok(byte), None) => Ok(Self {
                part,
                position: Position { item, byte },
                name,
            }),
            _ => Err(invalid_cursor()),
        }
    }
}

/// Creates the problem of a cursor that no answer has given.
pub(crate) fn invalid_cursor() -> Problem {
    Problem::argument("cursor", "take the one that the answer before has given")
}

/// A page of a list: as many items as an answer has room for. None of them yet: `Page::default()`.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Page<T>(Option<Vec<Fragment<T>>>);

/// An item of a page, or a piece of one that is larger than a page.
#[derive(Serialize)]
#[serde(untagged)]
enum Fragment<T> {
    Whole(T),
    Piece(Piece),
}

/// A piece of an item's JSON.
#[derive(Serialize)]
struct Piece {
    json: String,
    /// The byte at which it begins.
    from: usize,
    /// The length of the whole. Unit: bytes.
    bytes: usize,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Page<T> {
    /// Returns whether it is still to be filled.
    pub(crate) const fn is_pending(&self) -> bool {
        self.0.is_none()
    }
}

impl<T> JsonSchema for Page<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Page".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array"})
    }
}

impl<T: Serialize> Page<T> {
    /// Takes the items that fit from a position on. Returns the position of the next page as well.
    pub(crate) fn fill(
        items: impl IntoIterator<Item = T>,
        start: Position,
        room: usize,
    ) -> (Self, Option<Position>) {
        let items = items.into_iter().map(|it| (String::new(), it));
        let (kept, rest) = fill(items, start, room);
        let kept = kept.into_iter().map(|(_, it)| it).collect();
        (Self(Some(kept)), rest)
    }
}

/// Cuts a page out of a list or an object. Returns the position of the next page as well.
///
/// A page has at least one item, or a piece of it. Other values come whole.
pub(crate) fn paginate(items: Value, start: Position, room: usize) -> (Value, Option<Position>) {
    match items {
        Value::Array(all) => {
            let all = all.into_iter().map(|it| (String::new(), it));
            let (kept, rest) = fill(all, start, room);
            let kept = kept.into_iter().map(|(_, it)| it.into_value()).collect();
            (Value::Array(kept), rest)
        }
        Value::Object(all) => {
            let (kept, rest) = fill(all.into_iter(), start, room);
            let kept = kept.into_iter().map(|(key, it)| (key, it.into_value()));
            (Value::Object(kept.collect()), rest)
        }
        other => (other, None),
    }
}

impl Fragment<Value> {
    fn into_value(self) -> Value {
        match self {
            Self::Whole(item) => item,
            Self::Piece(piece) => json!(piece),
        }
    }
}

/// Returns whether a page from the first item on has room for all of them.
pub(crate) fn fits(items: &Value, room: usize) -> bool {
    let needed: usize = match items {
        Value::Array(all) => all.iter().map(|item| room_of("", item)).sum(),
        Value::Object(all) => all.iter().map(|(key, item)| room_of(key, item)).sum(),
        _ => 0,
    };
    needed <= room
}

/// Returns what [`fits`] does, by their size together; false also where that doesn't tell it.
pub(crate) fn fits_by_size(items: &Value, size: usize, room: usize) -> bool {
    // Each item comes with a comma, a key with quotes and a colon, too: no more than its punctuation.
    let count = match items {
        Value::Array(all) => all.len(),
        Value::Object(all) => all.len(),
        _ => return true,
    };
    size.saturating_add(count.saturating_mul(PUNCTUATION)) <= room
}

/// Returns the bytes that an item takes in a page.
fn room_of(key: &str, item: &impl Serialize) -> usize {
    let size = bounds::size(item).saturating_add(key.len());
    size.saturating_add(PUNCTUATION)
}

type Fragments<T> = Vec<(String, Fragment<T>)>;

fn fill<T: Serialize>(
    items: impl Iterator<Item = (String, T)>,
    start: Position,
    mut room: usize,
) -> (Fragments<T>, Option<Position>) {
    let mut kept = Fragments::new();
    for (number, (key, item)) in items.enumerate().skip(start.item) {
        let byte = if number == start.item { start.byte } else { 0 };
        let size = room_of(&key, &item);
        if size <= room && byte == 0 {
            room = room.saturating_sub(size);
            kept.push((key, Fragment::Whole(item)));
            continue;
        }
        let at = |item, byte| Some(Position { item, byte });
        if !kept.is_empty() {
            return (kept, at(number, 0));
        }
        let text = serde_json::to_string(&item).unwrap_or_default();
        let (piece, end) = piece(&text, byte, room.saturating_sub(key.len()));
        kept.push((key, Fragment::Piece(piece)));
        return if end < text.len() {
            (kept, at(number, end))
        } else {
            (kept, at(number.saturating_add(1), 0))
        };
    }
    (kept, None)
}

/// Cuts a piece out of an item's JSON. Returns the byte at which it ends as well.
fn piece(text: &str, from: usize, room: usize) -> (Piece, usize) {
    // Escaped in a JSON string, a piece may be twice as long.
    let max = room.saturating_sub(PIECE_FIELDS) / 2;
    let from = (0..=from.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    let (cut, _) = bounds::truncate(text.get(from..).unwrap_or_default(), max.max(64));
    let piece = Piece {
        json: cut.to_owned(),
        from,
        bytes: text.len(),
    };
    let end = from.saturating_add(cut.len());
    (piece, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads everything, page by page. Returns the number of pages as well.
    fn all(items: &Value, room: usize) -> (Vec<Value>, usize) {
        let (mut told, mut from, mut pages) = (Vec::new(), Position::default(), 0);
        loop {
            let (value, rest) = paginate(items.clone(), from, room);
            assert!(value.to_string().len() <= room.max(200), "{value}");
            match value {
                Value::Array(all) => told.extend(all),
                Value::Object(all) => {
                    told.extend(all.into_iter().map(|(key, it)| json!([key, it])))
                }
                _ => {}
            }
            pages += 1;
            match rest {
                Some(rest) => from = rest,
                None => return (told, pages),
            }
        }
    }

    #[test]
    fn pages_together_are_the_whole() {
        let list = json!((0..100).collect::<Vec<_>>());
        let (told, pages) = all(&list, 200);
        assert_eq!(json!(told), list);
        assert!(pages > 2);
        let (told, _) = all(&json!({"a": 1, "b": {"c": 2}}), 200);
        assert_eq!(told, [json!(["a", 1]), json!(["b", {"c": 2}])]);
        assert_eq!(all(&json!([]), 200), (vec![], 1));
    }

    #[test]
    fn an_item_larger_than_a_page_comes_in_pieces() {
        let large = "ä\"".repeat(500);
        let (told, _) = all(&json!({"small": 1, "large": large}), 300);
        let pieces = told.iter().filter_map(|it| it[1].get("json")?.as_str());
        let text: String = pieces.collect();
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), large);
        assert_eq!(told.last(), Some(&json!(["small", 1])));
    }

    #[test]
    fn items_that_come_and_go_hide_no_other() {
        let open = |numbers: &[u64]| {
            let all = numbers
                .iter()
                .map(|it| json!({"request_id": format!("r:{it}")}));
            Value::Array(all.collect())
        };
        let position = Position { item: 2, byte: 9 };
        let cursor = PartCursor::new("requests", &open(&[2, 9, 10, 11]), position).to_string();
        assert_eq!(cursor, "requests:2:9=r:10");
        let cursor: PartCursor = cursor.parse().unwrap();
        let at = |item, byte| Position { item, byte };
        assert_eq!(cursor.position_in(&open(&[2, 9, 10, 11])), at(2, 9));
        assert_eq!(cursor.position_in(&open(&[10, 11])), at(0, 9));
        assert_eq!(cursor.position_in(&open(&[9, 11])), at(1, 0));
        assert_eq!(cursor.position_in(&open(&[9])), at(1, 0));
        let cursor = PartCursor::new("context", &json!({"a": 1, "c": 2}), at(1, 0));
        assert_eq!(
            cursor.position_in(&json!({"a": 1, "b": 0, "c": 2})),
            at(2, 0)
        );
        assert_eq!(cursor.position_in(&json!({"a": 1, "d": 2})), at(1, 0));
        let cursor = PartCursor::new("steps", &json!([1, 2, 3]), at(1, 0));
        assert_eq!(cursor.position_in(&json!([1, 2, 3])), at(1, 0));
    }

    #[test]
    fn a_cursor_reads_back_as_it_was_written() {
        for text in [
            "context:12",
            "context:12:4000",
            "legal:0",
            "context:12:4000=a:b=c",
        ] {
            assert_eq!(text.parse::<PartCursor>().unwrap().to_string(), text);
        }
        for text in ["", "context", "context:", "context:x", "a:1:2:3", "a:-1"] {
            assert!(text.parse::<PartCursor>().is_err(), "{text}");
        }
    }
}
