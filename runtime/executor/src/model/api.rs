//! Chat completions, as OpenAI's interface has them and most servers of models speak it.
//!
//! What to rely on: an answer is read as it comes, and bounded; whoever cancels closes the connection within a moment; an
//! answer that breaks off is a failure, and never half an answer.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sse_stream::SseStream;
use statemark_text::shorten::shorten;
use statemark_upstream::request::{HttpError, send};

/// Largest answer. Unit: bytes. Why: no model writes as much in one.
const MAX_ANSWER: usize = 8 << 20;

/// Largest answer with an error that is read. Unit: bytes. Why: it is cited in a line.
const MAX_ERROR: usize = 64 << 10;

/// Most characters of a provider's words that are cited.
const CITED: usize = 300;

/// Time in which an answer has to begin, or to go on.
///
/// Why: a large model on a small machine reads a long prompt for minutes before its first word.
const STALL: Duration = Duration::from_secs(300);

/// Time in which a server has to say that it is there. Why: another model waits.
const HEALTH_PATIENCE: Duration = Duration::from_secs(2);

/// An answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// Its text.
    pub(crate) text: String,
    /// The tools that it calls.
    pub(crate) calls: Vec<Call>,
    /// Tokens read and written, if the provider tells.
    pub(crate) usage: Option<(u64, u64)>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Its arguments, as the model wrote them.
    pub(crate) arguments: String,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// An answer may be there later; the provider may say after which time.
    Later(String, Option<Duration>),
    /// An answer won't be there, however often it is asked for.
    Never(String),
    /// The provider has no tools for this model.
    NoTools(String),
}

/// A request.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request<'r> {
    pub(crate) model: &'r str,
    pub(crate) messages: &'r [Value],
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    pub(crate) tools: &'r [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_format: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_effort: Option<&'r str>,
}

/// Asks a model, and reads its answer.
///
/// # Errors
///
/// The reason, and whether to ask again.
pub(crate) async fn ask(
    url: &str,
    key: Option<&str>,
    request: &Request<'_>,
) -> Result<Answer, NoAnswer> {
    let mut body = json!(request);
    if let Value::Object(map) = &mut body {
        map.insert("stream".to_owned(), json!(true));
        map.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let value = HeaderValue::from_str(&format!("Bearer {key}"));
        let mut value = value.map_err(|_| NoAnswer::Never("its key can't be sent".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let url = format!("{url}/chat/completions");
    let sent = send(&url, (Method::POST, body.to_string().into()), headers);
    let response = match within(sent).await? {
        Ok(response) => response,
        Err(error @ (HttpError::Address(_) | HttpError::Request(_))) => {
            return Err(NoAnswer::Never(error.to_string()));
        }
        Err(error) => return Err(NoAnswer::Later(error.to_string(), None)),
    };
    let status = response.status();
    let later = retry_after(response.headers());
    let kind = response.headers().get(CONTENT_TYPE);
    let is_stream = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    let body = response.into_body();
    if !status.is_success() {
        let text = within(Limited::new(body, MAX_ERROR).collect()).await?;
        let text = text.map(|it| it.to_bytes()).unwrap_or_default();
        return Err(refused(status, &text, later));
    }
    if !is_stream {
        let whole = within(Limited::new(body, MAX_ANSWER / 2).collect()).await?;
        let whole = whole.map_err(|error| {
            if error.is::<LengthLimitError>() {
                too_long(MAX_ANSWER / 2)
            } else {
                broken(&error.to_string())
            }
        })?;
        let whole: Whole = serde_json::from_slice(&whole.to_bytes())
            .map_err(|error| broken(&format!("its answer can't be read: {error}")))?;
        return whole.into_answer().and_then(Answer::bounded);
    }
    let bounded = Limited::new(body, MAX_ANSWER).into_data_stream();
    let bounded = bounded.map(|chunk| chunk.map_err(io::Error::other));
    let mut events = SseStream::from_bytes_stream(bounded);
    let mut answer = Answer::default();
    let (mut is_whole, mut read) = (false, 0_usize);
    while let Some(event) = within(events.next()).await? {
        read = read.saturating_add(
            event
                .as_ref()
                .map_or(0, |it| it.data.as_ref().map_or(0, String::len)),
        );
        if read > MAX_ANSWER / 2 {
            return Err(too_long(MAX_ANSWER / 2));
        }
        let event = event.map_err(|error| broken(&error.to_string()))?;
        let Some(data) = event.data else { continue };
        if data.trim() == "[DONE]" {
            is_whole = true;
            break;
        }
        let chunk: Chunk = serde_json::from_str(&data)
            .map_err(|error| broken(&format!("a part of its answer can't be read: {error}")))?;
        if let Some(error) = &chunk.error {
            return Err(broken(&cite(error)));
        }
        is_whole |= answer.add(chunk);
        answer = answer.bounded()?;
    }
    if !is_whole {
        return Err(broken("its answer broke off"));
    }
    Ok(answer)
}

/// Reports whether a server says that it is there.
pub(crate) async fn is_healthy(url: &str) -> bool {
    let asked = send(url, (Method::GET, Bytes::new()), HeaderMap::new());
    let answered = tokio::time::timeout(HEALTH_PATIENCE, asked).await;
    matches!(answered, Ok(Ok(response)) if response.status().is_success())
}

/// Waits for a part of an answer, as long as one may take.
async fn within<T>(part: impl Future<Output = T>) -> Result<T, NoAnswer> {
    let part = tokio::time::timeout(STALL, part).await;
    part.map_err(|_| {
        let seconds = STALL.as_secs();
        NoAnswer::Later(format!("it said nothing for {seconds} s"), None)
    })
}

fn too_long(bound: usize) -> NoAnswer {
    NoAnswer::Never(format!("its answer has over {bound} bytes"))
}

fn broken(reason: &str) -> NoAnswer {
    NoAnswer::Later(reason.to_owned(), None)
}

/// Returns what an answer with an error means.
fn refused(status: StatusCode, body: &Bytes, later: Option<Duration>) -> NoAnswer {
    let error: Value = serde_json::from_slice(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).trim().to_owned()));
    let said = cite(error.get("error").unwrap_or(&error));
    let text = if said.is_empty() {
        format!("it answers with {status}")
    } else {
        format!("it answers with {status}: {said}")
    };
    let is_about_tools = said.contains("tool") || said.contains("function");
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT => {
            NoAnswer::Later(text, later)
        }
        _ if status.is_server_error() => NoAnswer::Later(text, later),
        StatusCode::BAD_REQUEST if is_about_tools => NoAnswer::NoTools(text),
        _ => NoAnswer::Never(text),
    }
}

/// Returns a provider's words on one line.
fn cite(error: &Value) -> String {
    let said = error.get("message").unwrap_or(error);
    let said = said.as_str().map_or_else(
        || {
            if said.is_null() {
                String::new()
            } else {
                said.to_string()
            }
        },
        str::to_owned,
    );
    shorten(&statemark_text::visible::line(&said), CITED)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

/// A part of an answer that is streamed.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<ChunkChoice>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    #[serde(default)]
    delta: Said,
    finish_reason: Option<String>,
}

/// An answer that comes at once.
#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    choices: Vec<WholeChoice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct WholeChoice {
    message: Said,
}

#[derive(Default, Deserialize)]
struct Said {
    content: Option<String>,
    #[serde(default, deserialize_with = "null_is_none")]
    tool_calls: Vec<SaidCall>,
}

#[derive(Deserialize)]
struct SaidCall {
    index: Option<usize>,
    id: Option<String>,
    #[serde(default)]
    function: SaidFunction,
}

#[derive(Default, Deserialize)]
struct SaidFunction {
    name: Option<String>,
    arguments: Option<Value>,
}

/// Reads how many tokens an answer took: of the prompt, and of the answer.
///
/// An answer isn't thrown away for odd numbers, since it is paid for: what isn't a whole number counts as the next one above.
fn read_usage(usage: &Value) -> Option<(u64, u64)> {
    let usage = usage.as_object()?;
    let tokens = |name: &str| {
        let value = usage.get(name)?;
        let odd = |number: f64| match number > 0.0 {
            true => number.ceil().to_string().parse().unwrap_or(u64::MAX),
            false => 0,
        };
        value.as_u64().or_else(|| value.as_f64().map(odd))
    };
    let (prompt, answer) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    (prompt.is_some() || answer.is_some()).then(|| (prompt.unwrap_or(0), answer.unwrap_or(0)))
}

fn null_is_none<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<SaidCall>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Longest text of an answer, with its calls. Unit: bytes.
///
/// Why: it is recorded, a character of it may take six bytes as JSON, and a record has at most a mebibyte.
const MAX_SAID: usize = 160 << 10;

/// Most calls of tools in an answer. Why: each takes a record.
const MAX_CALLS: usize = 64;

impl Answer {
    /// Returns the answer if it isn't longer than one may be.
    fn bounded(self) -> Result<Self, NoAnswer> {
        let calls = self.calls.iter();
        let calls = calls.map(|call| call.name.len().saturating_add(call.arguments.len()));
        let said = calls.fold(self.text.len(), usize::saturating_add);
        if said > MAX_SAID {
            return Err(too_long(MAX_SAID));
        }
        Ok(self)
    }

    /// Adds a part. Returns true if it is the last one.
    fn add(&mut self, chunk: Chunk) -> bool {
        if let Some(usage) = chunk.usage.as_ref().and_then(read_usage) {
            self.usage = Some(usage);
        }
        let mut is_last = false;
        // Nobody asked for another one.
        if let Some(choice) = chunk.choices.into_iter().next() {
            is_last = choice.finish_reason.is_some();
            self.say(choice.delta);
        }
        is_last
    }

    fn say(&mut self, said: Said) {
        self.text += said.content.as_deref().unwrap_or_default();
        for (position, call) in said.tool_calls.into_iter().enumerate() {
            let index = call.index.unwrap_or(position);
            if index >= MAX_CALLS {
                continue;
            }
            if self.calls.len() <= index {
                self.calls.resize_with(index + 1, Call::default);
            }
            let Some(into) = self.calls.get_mut(index) else {
                continue;
            };
            if let Some(id) = call.id {
                into.id = id;
            }
            into.name += call.function.name.as_deref().unwrap_or_default();
            match call.function.arguments {
                Some(Value::String(text)) => into.arguments += &text,
                // Some servers write the object itself.
                Some(Value::Null) | None => {}
                Some(value) => into.arguments += &value.to_string(),
            }
        }
    }
}

impl Whole {
    fn into_answer(self) -> Result<Answer, NoAnswer> {
        let choice = self.choices.into_iter().next();
        let choice = choice.ok_or_else(|| broken("its answer says nothing"))?;
        let mut answer = Answer {
            usage: self.usage.as_ref().and_then(read_usage),
            ..Answer::default()
        };
        answer.say(choice.message);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_usage_is_counted_as_far_as_it_can_be() {
        for (usage, read) in [
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10}),
                Some((100, 10)),
            ),
            (json!({"prompt_tokens": 1.5}), Some((2, 0))),
            (
                json!({"prompt_tokens": -5, "completion_tokens": -0.5}),
                Some((0, 0)),
            ),
            (json!({"completion_tokens": 1e30}), Some((0, u64::MAX))),
            (json!({"prompt_tokens": "5"}), None),
            (json!({}), None),
            (json!(7), None),
            (Value::Null, None),
        ] {
            assert_eq!(read_usage(&usage), read, "{usage}");
        }
    }
}
