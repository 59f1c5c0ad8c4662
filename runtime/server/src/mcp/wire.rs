//! Answers to messages that can't be read.
//!
//! A client waits for the answer to each request. So a message that rmcp can't read is parsed once more, leniently: if
//! a request's id can be seen, the error is for that request. Notifications and answers get none: nobody waits.
//!
//! A message that has a key twice can be read in two ways, and is refused: whoever stands between may have read the other.

use rmcp::ErrorData;
use rmcp::model::RequestId;
use statemark_text::json::{RepeatedKey, count_values, describe_repeated_key, find_repeated_keys};

/// Most bytes of a message. Why: an artifact of 16 MiB, escaped as JSON.
pub(crate) const MAX_MESSAGE: usize = 32 << 20;

/// Most values in a message, counting the names of members.
///
/// Why: each takes some hundred bytes in memory, whatever it takes on the wire. A context of 10,000 fields, the largest
/// that people have, has a fifth of them; an artifact is one string.
const MAX_VALUES: usize = 100_000;

/// Deepest level that serde reads.
const DEPTH: usize = 127;

/// An error of the protocol, and the request that it answers, if it can be seen.
pub(crate) struct Unread {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: ErrorData,
}

/// Returns the answer to a message that can't be read, if somebody may wait for it.
pub(crate) fn unread(text: &[u8], error: &serde_json::Error) -> Option<Unread> {
    let seen = Seen::parse(text);
    let is_json = error.is_data();
    let has_lost_id = seen.id.is_none() && seen.has_other_id;
    if !seen.is_request && (seen.is_answer || (is_json && seen.has_method && !has_lost_id)) {
        return None;
    }
    let what = if is_json && has_lost_id {
        describe_lost_id()
    } else if is_json {
        "it is JSON, and no message of JSON-RPC 2.0".to_owned()
    } else if error.to_string().starts_with("recursion limit") {
        format!("it is nested deeper than {DEPTH} levels")
    } else {
        error.to_string()
    };
    let what = format!("the message can't be read: {what}");
    let error = if is_json || seen.id.is_some() {
        ErrorData::invalid_request(what, None)
    } else {
        ErrorData::parse_error(what, None)
    };
    Some(Unread { id: seen.id, error })
}

/// Checks that a message hasn't more values than one may have.
///
/// What isn't JSON passes: it can't be read either.
pub(crate) fn check_values(text: &[u8]) -> Result<(), Unread> {
    if count_values(text) <= MAX_VALUES {
        return Ok(());
    }
    let what = format!(
        "the message has more than {MAX_VALUES} values: send less, or an artifact as one string"
    );
    Err(Unread {
        id: Seen::parse(text).id,
        error: ErrorData::invalid_request(what, None),
    })
}

/// Checks that no object of a message has a key twice.
///
/// What isn't JSON may pass: it can't be read either.
pub(crate) fn check_keys(text: &[u8]) -> Result<(), Unread> {
    let Some(what) = describe_repeated_key(text) else {
        return Ok(());
    };
    // Of two ids neither is known to be the one that somebody waits for.
    let is_id = |found: &RepeatedKey| found.key == "id";
    let has_ids = find_repeated_keys(text).iter().any(is_id);
    Err(Unread {
        id: Seen::parse(text).id.filter(|_| !has_ids),
        error: ErrorData::invalid_request(what, None),
    })
}

/// Describes an id that isn't one of the protocol's.
fn describe_lost_id() -> String {
    let (least, most) = (i64::MIN, i64::MAX);
    format!(
        "its id can't be kept, so this answer has none: an id is a string, or an integer from {least} to {most}"
    )
}

/// Returns the answer to a message that is too long, from its beginning.
pub(crate) fn too_long(begin: &[u8]) -> Unread {
    let what = format!("the message has more than {MAX_MESSAGE} bytes");
    Unread {
        id: Seen::parse(begin).id,
        error: ErrorData::invalid_request(what, None),
    }
}

/// The findings of a lenient parse.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    id: Option<RequestId>,
    /// Set if it has an id that isn't one of the protocol's. Null is none: notifications had that once.
    has_other_id: bool,
    has_method: bool,
    /// Set if it has an id and isn't an answer.
    is_request: bool,
    is_answer: bool,
}

impl Seen {
    fn parse(text: &[u8]) -> Self {
        let mut seen = Self::default();
        for member in members(text) {
            let member = member.trim_ascii();
            let value = |name: &str| {
                let rest = member.strip_prefix(format!("\"{name}\"").as_bytes())?;
                Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii())
            };
            if let Some(id) = value("id") {
                let read = serde_json::from_slice(id).ok();
                seen.has_other_id |= read.is_none() && id != b"null";
                seen.id = seen.id.or(read);
            }
            seen.has_method |= value("method").is_some();
            seen.is_answer |= value("result").is_some() || value("error").is_some();
        }
        seen.is_answer &= !seen.has_method;
        seen.is_request = seen.id.is_some() && !seen.is_answer;
        seen
    }
}

/// Splits the outermost object into its members, as far as it goes and however deep it is.
fn members(text: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0_usize);
    let (mut is_string, mut is_escaped) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        if is_string {
            is_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => {
                if depth == 0 && *byte == b'[' {
                    return found;
                }
                depth = depth.saturating_add(1);
                if depth == 1 {
                    begin = at.saturating_add(1);
                }
            }
            b'}' | b']' | b',' => {
                if depth == 1 {
                    found.extend(text.get(begin..at));
                    begin = at.saturating_add(1);
                }
                if *byte != b',' {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return found;
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rmcp::RoleServer;
    use rmcp::service::RxJsonRpcMessage;
    use serde_json::json;

    use super::*;

    /// The code and the id of what is answered.
    fn answered(text: &str) -> Option<(i32, serde_json::Value)> {
        let read = serde_json::from_str::<RxJsonRpcMessage<RoleServer>>(text);
        let unread = unread(text.as_bytes(), &read.err()?)?;
        Some((unread.error.code.0, json!(unread.id)))
    }

    #[test]
    fn whoever_waits_gets_an_answer() {
        let deep = |levels: usize| {
            let data = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            format!(
                r#"{{"jsonrpc": "2.0", "params": {{"name": "x", "arguments": {{"data": {data}}}}}, "method": "tools/call", "id": 7}}"#
            )
        };
        assert_eq!(answered(&deep(124)), None, "it can be read");
        for (text, code, id) in [
            (&*deep(125), -32600, json!(7)),
            (&deep(100_000), -32600, json!(7)),
            (
                r#"{"jsonrpc": "2.0", "id": "a\"b", "method": "ping", "params": {"x": "\ud83d b"}}"#,
                -32600,
                json!("a\"b"),
            ),
            (r#"{"id": 5, "method": "tools/call", bad"#, -32600, json!(5)),
            (r#"{"id": 5, "method": "ping"}"#, -32600, json!(5)),
            ("{bad", -32700, json!(null)),
            (r#"{"id": {"id": 6}, bad"#, -32700, json!(null)),
            (
                r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#,
                -32600,
                json!(null),
            ),
            ("[]", -32600, json!(null)),
            ("null", -32600, json!(null)),
        ] {
            let begin = text.get(..80).unwrap_or(text);
            assert_eq!(answered(text), Some((code, id)), "{begin}");
        }
    }

    #[test]
    fn a_request_with_an_id_that_cant_be_kept_is_no_notification() {
        for id in [
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "1e30",
            "1.5",
            "true",
            "[1]",
        ] {
            let text = format!(r#"{{"jsonrpc": "2.0", "method": "ping", "id": {id}}}"#);
            assert_eq!(answered(&text), Some((-32600, json!(null))), "{text}");
        }
        for message in [
            r#"{"jsonrpc": "1.0", "method": "notifications/initialized", "id": null}"#,
            r#"{"jsonrpc": "2.0", "method": "ping", "id": 9223372036854775807}"#,
            r#"{"jsonrpc": "2.0", "id": 99999999999999999999, "result": {}}"#,
        ] {
            assert_eq!(answered(message), None, "{message}");
        }
    }

    #[test]
    fn a_message_that_reads_in_two_ways_is_refused() {
        let refused = |text: &str| {
            check_keys(text.as_bytes())
                .err()
                .map(|it| (json!(it.id), it.error.message))
        };
        let (id, message) =
            refused(r#"{"id": 7, "params": {"event": "accept", "event": "deny"}}"#).unwrap();
        assert_eq!(id, json!(7));
        assert!(
            message.contains("`event`") && message.contains("column 22 and at column 41"),
            "{message}"
        );
        let (id, _) = refused(r#"{"id": 7, "method": "ping", "id": 8}"#).unwrap();
        assert_eq!(id, json!(null));
        assert!(refused(r#"{"id": 7, "params": {"id": 7}}"#).is_none());
    }

    #[test]
    fn what_nobody_waits_for_gets_none() {
        for text in [
            r#"{"jsonrpc": "1.0", "method": "notifications/initialized"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": "\ud83d"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "error": bad}"#,
        ] {
            assert_eq!(answered(text), None, "{text}");
        }
    }
}
