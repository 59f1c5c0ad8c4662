//! A provider of models that follows a script.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A provider on this machine, as long as the value.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Api {
    /// Starts it with the steps of a script; what comes after the last one is answered as that one.
    ///
    /// A step with `when` is for a question that has this text, and one with `again` for any number of them. One with `meets` is answered once that many questions were
    /// asked, and refused if they aren't within a time in which a busy machine asks them.
    pub(crate) fn start(steps: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let all = Arc::clone(&asked);
        let used: Arc<Mutex<BTreeSet<usize>>> = Arc::default();
        // It ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (steps, all, used) = (steps.clone(), Arc::clone(&all), Arc::clone(&used));
                thread::spawn(move || {
                    let Some(body) = request(&stream) else { return };
                    let text = body.to_string();
                    let mut step = {
                        let mut used = used.lock().unwrap();
                        all.lock().unwrap().push(body);
                        let is_meant = |step: &Value| {
                            let when = step.get("when").and_then(Value::as_str);
                            when.is_none_or(|when| text.contains(when))
                        };
                        let mut free = (0..steps.len()).filter(|at| !used.contains(at));
                        let at = free.find(|at| is_meant(&steps[*at]));
                        let at = at.unwrap_or(steps.len() - 1);
                        if steps[at].get("again").is_none() {
                            used.insert(at);
                        }
                        steps[at].clone()
                    };
                    if let Some(many) = step.get("meets").and_then(Value::as_u64) {
                        let until = Instant::now() + Duration::from_secs(60);
                        while (all.lock().unwrap().len() as u64) < many {
                            if Instant::now() > until {
                                step = json!({"status": 400, "raw": "nobody else has asked"});
                                break;
                            }
                            thread::sleep(Duration::from_millis(5));
                        }
                    }
                    answer(&stream, &step);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, asked }
    }

    /// Returns what it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Answers as a step says: a status, a stall, a raw body, half a stream, or what a model says.
fn answer(mut stream: &TcpStream, step: &Value) {
    if let Some(milliseconds) = step.get("stall").and_then(Value::as_u64) {
        thread::sleep(Duration::from_millis(milliseconds));
    }
    let status = step.get("status").and_then(Value::as_u64).unwrap_or(200);
    let more = step
        .get("headers")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if let Some(raw) = step.get("raw").and_then(Value::as_str) {
        let raw = raw.replace("{huge}", &"x".repeat(9 << 20));
        let raw = raw.replace("{large}", &"x".repeat(300 << 10));
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
            raw.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(raw.as_bytes());
        return;
    }
    let calls = step.get("calls").and_then(Value::as_array);
    let calls = calls.into_iter().flatten().enumerate().map(|(index, call)| {
        let arguments = match &call[1] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        json!({"index": index, "id": format!("c{index}"), "function": {"name": call[0], "arguments": arguments}})
    });
    let calls: Vec<Value> = calls.collect();
    let said = step.get("text").and_then(Value::as_str).unwrap_or_default();
    let mut body = String::new();
    // A text comes in two parts, as from a model that thinks.
    let half = said.chars().count() / 2;
    let (first, second) = (said.chars().take(half), said.chars().skip(half));
    for part in [first.collect::<String>(), second.collect()] {
        let _ = write!(
            body,
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": part}}]})
        );
    }
    let _ = write!(
        body,
        "data: {}\n\n",
        json!({"choices": [{"delta": {"tool_calls": calls}}]})
    );
    if step.get("breaks") != Some(&Value::Bool(true)) {
        let _ = write!(
            body,
            "data: {}\n\n",
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        );
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
        let _ = write!(
            body,
            "data: {}\n\ndata: [DONE]\n\n",
            json!({"choices": [], "usage": usage})
        );
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
}
