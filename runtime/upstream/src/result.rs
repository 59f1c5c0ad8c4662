//! Results of other servers' tools, as far as they are passed on.
//!
//! What can't be seen is shown as what it is, and what is too large is cut with a mark that says so. Of a result content,
//! data and the flag of an error are passed on; metadata is between that server and us.

use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use statemark_text::visible;

/// Bytes that a cut leaves for its mark.
const MARK: usize = 256;

/// Converts a result into JSON of at most about `max` bytes.
pub(crate) fn pass_on(result: &CallToolResult, max: usize) -> Value {
    let mut result = serde_json::to_value(result).unwrap_or_default();
    let mut passed = Map::new();
    let content = result.get_mut("content").map(Value::take);
    let content = content.and_then(|content| match content {
        Value::Array(blocks) => Some(blocks),
        _ => None,
    });
    let data = result.get_mut("structuredContent").map(Value::take);
    let mut left = max.saturating_sub(MARK);
    let (mut kept, mut lost) = (Vec::new(), Lost::default());
    for block in content.unwrap_or_default() {
        kept.extend(keep_block(block, &mut left, &mut lost));
    }
    if let Some(data) = data {
        let size = data.to_string().len();
        if size <= left {
            passed.insert("structuredContent".to_owned(), data);
        } else {
            // Half of a value would be another one.
            lost.bytes += size;
            lost.what.push("its structured content".to_owned());
        }
    }
    if lost.bytes > 0 {
        kept.push(text_block(&lost.mark()));
    }
    passed.insert("content".to_owned(), Value::Array(kept));
    if result.get("isError") == Some(&Value::Bool(true)) {
        passed.insert("isError".to_owned(), Value::Bool(true));
    }
    Value::Object(passed)
}

/// The parts of a result that were left out.
#[derive(Default)]
struct Lost {
    bytes: usize,
    what: Vec<String>,
}

impl Lost {
    fn mark(&self) -> String {
        let what: Vec<&str> = self.what.iter().take(4).map(String::as_str).collect();
        let more = if self.what.len() > what.len() {
            " and more"
        } else {
            ""
        };
        format!(
            "[cut: {} bytes more than this server passes on were left out ({}{more}); ask for less, or for a part]",
            self.bytes,
            what.join(", ")
        )
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Returns a block as far as it fits.
fn keep_block(mut block: Value, left: &mut usize, lost: &mut Lost) -> Option<Value> {
    if block.get("type").and_then(Value::as_str) == Some("text") {
        let text = block
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let text = show(text);
        let kept = head(&text, *left);
        if kept.len() < text.len() {
            lost.bytes += text.len() - kept.len();
            lost.what.push("the rest of a text".to_owned());
        }
        *left = left.saturating_sub(kept.len());
        return (!kept.is_empty() || text.is_empty()).then(|| text_block(kept));
    }
    if let Some(text) = block.pointer("/resource/text").and_then(Value::as_str) {
        let shown = show(text).into_owned();
        if let Some(place) = block.pointer_mut("/resource/text") {
            *place = Value::String(shown);
        }
    }
    if let Value::Object(fields) = &mut block {
        fields.remove("_meta");
    }
    let size = block.to_string().len();
    if size <= *left {
        *left -= size;
        return Some(block);
    }
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("block");
    lost.bytes += size;
    lost.what.push(format!("a whole {}", visible::line(kind)));
    None
}

/// Shows what can't be seen. Line breaks and tabs stay, whatever the system that wrote them.
fn show(text: &str) -> std::borrow::Cow<'_, str> {
    visible::lines(text, |rest| usize::from(rest.starts_with('\r')))
}

/// Returns the beginning of a text, in whole characters.
pub(crate) fn head(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(value: Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_fits_is_passed_on_as_it_is() {
        let whole = json!({
            "content": [
                {"type": "text", "text": "a\r\nb\tc"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "file:///a", "name": "a"},
            ],
            "structuredContent": {"a": [1, null]},
            "isError": true,
        });
        assert_eq!(pass_on(&result(whole.clone()), 2_000), whole);
    }

    #[test]
    fn hidden_characters_are_shown_and_metadata_stays() {
        let told = json!({
            "content": [
                {"type": "text", "text": "\u{1b}[2Kok\u{202e}"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "\u{200b}"}},
            ],
            "_meta": {"a": 1},
        });
        assert_eq!(
            pass_on(&result(told), 2_000),
            json!({"content": [
                {"type": "text", "text": "\\u{1b}[2Kok\\u{202e}"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "\\u{200b}"}},
            ]})
        );
    }

    #[test]
    fn what_doesnt_fit_is_cut_with_a_mark() {
        let long = json!({
            "content": [
                {"type": "text", "text": "é".repeat(3_000)},
                {"type": "image", "data": "a".repeat(4_000), "mimeType": "image/png"},
                {"type": "text", "text": "more"},
            ],
            "structuredContent": {"a": "b".repeat(5_000)},
        });
        let passed = pass_on(&result(long), 1_024);
        assert!(passed.to_string().len() < 1_400, "{passed}");
        assert_eq!(passed.get("structuredContent"), None);
        let content = passed["content"].as_array().unwrap();
        let [text, mark] = content.as_slice() else {
            panic!("{passed}");
        };
        assert_eq!(text["text"].as_str().unwrap(), "é".repeat(384));
        let mark = mark["text"].as_str().unwrap();
        assert!(mark.starts_with("[cut: "), "{mark}");
        assert!(
            mark.contains("a whole image") && mark.contains("structured content"),
            "{mark}"
        );
    }
}
