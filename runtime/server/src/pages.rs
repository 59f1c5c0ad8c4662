//! Pages of what may be of any size: lists and objects, of which a reply has as many items as fit.
//!
//! A cursor says which part goes on where: `context:12` is its item 12, `context:12:4000` the same from that byte of its
//! JSON on. So everything can be had, an item that is larger than a reply included. Where items have names, the cursor has
//! the item's, too (`context:12=words`): what comes and goes meanwhile shifts the numbers, and not what is next.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::bounds;
use crate::problem::Problem;

/// What an item costs beside its text: punctuation, and what says that it is a piece.
const PUNCTUATION: usize = 4;
const PIECE: usize = 80;

/// Where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) item: usize,
    pub(crate) byte: usize,
}

/// A place in one of several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartCursor {
    pub(crate) part: String,
    pub(crate) place: Place,
    /// What the item is called, if it has a name.
    pub(crate) name: Option<String>,
}

impl PartCursor {
    /// Where a part goes on that has these items now.
    pub(crate) fn of(part: &str, items: &Value, place: Place) -> Self {
        let name = names(items).into_iter().nth(place.item);
        Self {
            part: part.to_owned(),
            place,
            name: name.map(|(_, name)| name),
        }
    }

    /// Where it goes on in the items that there are by now: at the same one, or at the next if that is gone.
    pub(crate) fn place_in(&self, items: &Value) -> Place {
        let names = names(items);
        let Some(name) = &self.name else {
            return self.place;
        };
        if let Some(item) = names.iter().position(|(_, it)| it == name) {
            let byte = self.place.byte;
            return Place { item, byte };
        }
        let is_numbered = names.iter().any(|(number, _)| *number > 0);
        let order = number(name).filter(|_| is_numbered);
        let gone = (order.unwrap_or_default(), name.clone());
        let item = names.iter().position(|it| *it > gone);
        Place {
            item: item.unwrap_or(names.len()),
            byte: 0,
        }
    }
}

/// The names of the items, with what they are sorted by before it: requests by their numbers. Empty where they have none.
fn names(items: &Value) -> Vec<(u64, String)> {
    match items {
        Value::Object(all) => all.keys().map(|key| (0, key.clone())).collect(),
        Value::Array(all) => {
            let named = all.iter().map(|item| {
                let text = |key| item.get(key).and_then(Value::as_str).map(str::to_owned);
                let request = text("request_id");
                let request = request.map(|id| (number(&id).unwrap_or_default(), id));
                request.or_else(|| text("name").map(|name| (0, name)))
            });
            named.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The number of a request, by its id.
fn number(id: &str) -> Option<u64> {
    id.rsplit_once(':')?.1.parse().ok()
}

impl fmt::Display for PartCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { item, byte } = self.place;
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
                place: Place { item, byte },
                name,
            }),
            _ => Err(no_cursor()),
        }
    }
}

/// A cursor that no answer has given.
pub(crate) fn no_cursor() -> Problem {
    Problem::argument("cursor", "take the one that the answer before has given")
}

/// What fits of a list or an object from a place on, and where the next page begins. At least one item is told, or a piece
/// of it; anything else than a list or an object is told whole.
pub(crate) fn page(items: Value, from: Place, room: usize) -> (Value, Option<Place>) {
    match items {
        Value::Array(all) => {
            let all = all.into_iter().map(|it| (String::new(), it));
            let (kept, rest) = fill(all, from, room);
            let kept = kept.into_iter().map(|(_, it)| it).collect();
            (Value::Array(kept), rest)
        }
        Value::Object(all) => {
            let (kept, rest) = fill(all.into_iter(), from, room);
            (Value::Object(Map::from_iter(kept)), rest)
        }
        other => (other, None),
    }
}

type Items = Vec<(String, Value)>;

fn fill(
    items: impl Iterator<Item = (String, Value)>,
    from: Place,
    mut room: usize,
) -> (Items, Option<Place>) {
    let mut kept = Items::new();
    for (number, (key, item)) in items.enumerate().skip(from.item) {
        let byte = if number == from.item { from.byte } else { 0 };
        let text = item.to_string();
        let size = text
            .len()
            .saturating_add(key.len())
            .saturating_add(PUNCTUATION);
        if size <= room && byte == 0 {
            room = room.saturating_sub(size);
            kept.push((key, item));
            continue;
        }
        let place = |item, byte| Some(Place { item, byte });
        if !kept.is_empty() {
            return (kept, place(number, 0));
        }
        let (piece, end) = piece(&text, byte, room.saturating_sub(key.len()));
        kept.push((key, piece));
        return if end < text.len() {
            (kept, place(number, end))
        } else {
            (kept, place(number.saturating_add(1), 0))
        };
    }
    (kept, None)
}

/// A piece of an item's JSON, and where it ends.
fn piece(text: &str, from: usize, room: usize) -> (Value, usize) {
    // A piece stands in a JSON text, which makes it up to twice as long.
    let most = room.saturating_sub(PIECE) / 2;
    let from = (0..=from.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    let (cut, _) = bounds::cut(text.get(from..).unwrap_or_default(), most.max(64));
    let told = json!({"json": cut, "from": from, "bytes": text.len()});
    (told, from.saturating_add(cut.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything, page by page, and how many pages that took.
    fn all(items: &Value, room: usize) -> (Vec<Value>, usize) {
        let (mut told, mut from, mut pages) = (Vec::new(), Place::default(), 0);
        loop {
            let (value, rest) = page(items.clone(), from, room);
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
    fn what_comes_and_goes_hides_nothing() {
        let open = |numbers: &[u64]| {
            let all = numbers
                .iter()
                .map(|it| json!({"request_id": format!("r:{it}")}));
            Value::Array(all.collect())
        };
        let place = Place { item: 2, byte: 9 };
        let cursor = PartCursor::of("requests", &open(&[2, 9, 10, 11]), place).to_string();
        assert_eq!(cursor, "requests:2:9=r:10");
        let cursor: PartCursor = cursor.parse().unwrap();
        let at = |item, byte| Place { item, byte };
        assert_eq!(cursor.place_in(&open(&[2, 9, 10, 11])), at(2, 9));
        assert_eq!(cursor.place_in(&open(&[10, 11])), at(0, 9));
        assert_eq!(cursor.place_in(&open(&[9, 11])), at(1, 0));
        assert_eq!(cursor.place_in(&open(&[9])), at(1, 0));
        let cursor = PartCursor::of("context", &json!({"a": 1, "c": 2}), at(1, 0));
        assert_eq!(cursor.place_in(&json!({"a": 1, "b": 0, "c": 2})), at(2, 0));
        assert_eq!(cursor.place_in(&json!({"a": 1, "d": 2})), at(1, 0));
        let cursor = PartCursor::of("steps", &json!([1, 2, 3]), at(1, 0));
        assert_eq!(cursor.place_in(&json!([1, 2, 3])), at(1, 0));
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
