//! Ids of requests: what the answer, a log line and the log of whoever asked have in common.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that has it, in requests and in answers.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that is taken over from a request. Unit: bytes. Why: UUIDs have 36.
const MAX_LENGTH: usize = 64;

/// The id of a request, or of a call over standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// Makes an id that this process hasn't given before, and another one hardly.
    pub(crate) fn new() -> Self {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let process = PROCESS.get_or_init(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let millis = now.unwrap_or_default().as_millis();
            // Servers that begin in one millisecond have different processes.
            u64::try_from(millis).unwrap_or_default() ^ (u64::from(std::process::id()) << 44)
        });
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{process:x}-{number}").into())
    }

    /// Returns the id that a request brings along, as proxies give it, else a new one.
    pub(crate) fn of_request(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|it| it.to_str().ok());
        let given = given.filter(|it| is_plain(it));
        given.map_or_else(Self::new, |it| Self(it.into()))
    }

    /// Returns it as the value of a header.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Reports whether a text can stand in a log line as it is.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !text.is_empty() && text.len() <= MAX_LENGTH && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_over_if_it_is_plain() {
        let of = |given: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_static(given));
            RequestId::of_request(&headers).to_string()
        };
        assert_eq!(of("4bf92f35-77b3.a_1"), "4bf92f35-77b3.a_1");
        for bad in ["", "a b", "a\tb", "ä", "\"", "a\u{7f}"] {
            // What no header can hold comes to nobody.
            let Ok(value) = HeaderValue::from_str(bad) else {
                continue;
            };
            let headers = HeaderMap::from_iter([(HEADER, value)]);
            assert_ne!(RequestId::of_request(&headers).to_string(), bad, "{bad}");
        }
        let long = "a".repeat(MAX_LENGTH + 1);
        let headers = HeaderMap::from_iter([(HEADER, HeaderValue::from_str(&long).unwrap())]);
        assert_ne!(RequestId::of_request(&headers).to_string(), long);
    }

    #[test]
    fn ids_differ() {
        let headers = HeaderMap::new();
        assert_ne!(
            RequestId::of_request(&headers),
            RequestId::of_request(&headers)
        );
    }
}
