//! A server of tools that misbehaves as a file says: this test program, started with `unruly FILE`.
//!
//! The file is read anew for each list. It is `{"tools": […], "page": 2, "begin": "hang"}`: the tools as they are listed, how
//! many a page has, and how it begins. What a call does is said by the name of the tool. It speaks the older era of the
//! protocol and uses no library for it, since it has to say what none would.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

/// Plays the server, if the arguments of this process say so. The first deed of the program.
pub(crate) fn play() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != "unruly" {
        return None;
    }
    let server = Unruly {
        script: PathBuf::from(arguments.next()?),
    };
    server.log("started", &std::process::id().to_string());
    server.serve();
    Some(ExitCode::SUCCESS)
}

struct Unruly {
    script: PathBuf,
}

/// Reads what a server has noted, a line each.
pub(crate) fn noted(script: &Path, what: &str) -> Vec<String> {
    let text = fs::read_to_string(script.with_extension(what)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

impl Unruly {
    fn log(&self, what: &str, line: &str) {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true);
        let mut file = file.open(self.script.with_extension(what)).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn script(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(&self.script).unwrap()).unwrap()
    }

    fn serve(&self) {
        let script = self.script();
        match script["begin"].as_str() {
            Some("hang") => {
                // Many a program writes its log in the place of messages, and some as JSON.
                println!("{{\"level\": \"warn\"}}");
                println!("no token\u{1b}[2K: {}", "x".repeat(1_000));
                sleep(Duration::from_secs(600));
            }
            Some("die") => {
                eprintln!("no \u{1b}[31mtoken\u{1b}[0m here");
                std::process::exit(3);
            }
            Some("noise") => noise(),
            _ => {}
        }
        for line in io::stdin().lock().lines() {
            let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if message.get("id").is_some() {
                self.answer(&message);
            } else {
                self.log("heard", message["method"].as_str().unwrap_or("answer"));
            }
        }
        if script["end"] == "deaf" {
            sleep(Duration::from_secs(600));
        }
    }

    fn answer(&self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str() {
            // What we have asked is answered.
            None => {
                let answer = message.get("result").or(message.get("error")).unwrap();
                self.log("answers", &answer.to_string());
                self.text(&json!("asked"), &answer.to_string());
            }
            Some("initialize") => say(&json!({"jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "unruly", "version": "1"},
            }})),
            Some("tools/list") => self.list(id, message["params"]["cursor"].as_str()),
            Some("tools/call") => self.call(id, &message["params"]),
            Some(_) => say(&json!({"jsonrpc": "2.0", "id": id, "error": {
                "code": -32601, "message": "no such method",
            }})),
        }
    }

    fn list(&self, id: &Value, cursor: Option<&str>) {
        let script = self.script();
        let all = script["tools"].as_array().unwrap();
        let begin: usize = cursor.map_or(0, |it| it.parse().unwrap());
        let page = script["page"]
            .as_u64()
            .map_or(all.len(), |it| usize::try_from(it).unwrap());
        let end = (begin + page.max(1)).min(all.len());
        let mut result = json!({"tools": &all[begin..end]});
        if end < all.len() {
            let next = if script["circle"] == true { 0 } else { end };
            result["nextCursor"] = json!(next.to_string());
        }
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn text(&self, id: &Value, text: &str) {
        say(&json!({"jsonrpc": "2.0", "id": id, "result": {
            "content": [{"type": "text", "text": text}],
        }}));
    }

    fn call(&self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap();
        self.log("called", name);
        match name {
            "hang" => {}
            "die" => {
                eprintln!("out of memory");
                std::process::exit(9);
            }
            "huge" => {
                // As one message, of 100 MB.
                let mut out = io::stdout().lock();
                let begin = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\""
                );
                let mut written = out.write_all(begin.as_bytes());
                for _ in 0..1_600 {
                    // Whoever reads it may have had enough.
                    written = written.and_then(|()| out.write_all(&[b'a'; 1 << 16]));
                }
                drop(written.and_then(|()| out.write_all(b"\"}]}}\n")));
            }
            "large" => self.text(id, &"é".repeat(150_000)),
            "noise" => {
                noise();
                self.text(id, "after the noise");
            }
            "forge" => self.text(id, "ok\u{1b}[2K\u{202e}\r\n\tnext"),
            "environment" => {
                #[expect(clippy::disallowed_methods, reason = "it shows what it was given")]
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                self.text(id, &names.join(" "));
            }
            "refuse" => say(&json!({"jsonrpc": "2.0", "id": id, "error": {
                "code": -32602, "message": "no \u{1b}[31msuch\u{1b}[0m thing",
            }})),
            "fail" => say(&json!({"jsonrpc": "2.0", "id": id, "result": {
                "content": [{"type": "text", "text": "it failed"}], "isError": true,
            }})),
            "change" => {
                let told = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                say(&told);
                self.text(id, "changed");
            }
            "work" => {
                // Of its own call, of one that nobody made, and what is no share.
                let token = &params["_meta"]["progressToken"];
                for (token, done, total, message) in [
                    (token, 1.0, json!(4), "a \u{1b}[31mquarter\u{1b}[0m"),
                    (&json!("nobody's"), 9.0, json!(9), "nothing"),
                    (token, 3.0, json!(4), "most"),
                    (token, 7.0, Value::Null, "more than all"),
                ] {
                    let told = json!({"progressToken": token, "progress": done, "total": total, "message": message});
                    say(
                        &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}),
                    );
                    sleep(Duration::from_millis(150));
                }
                self.text(id, "done");
            }
            "ask" => {
                say(
                    &json!({"jsonrpc": "2.0", "id": "asked", "method": "elicitation/create", "params": {
                        "message": "approve the release?",
                        "requestedSchema": {"type": "object", "properties": {"approved": {"type": "boolean"}}},
                    }}),
                );
                // Its answer is noted; this call isn't to be kept waiting for it.
                self.text(id, "asked");
            }
            "think" => {
                say(
                    &json!({"jsonrpc": "2.0", "id": "asked", "method": "sampling/createMessage", "params": {
                        "messages": [{"role": "user", "content": {"type": "text", "text": "say yes"}}], "maxTokens": 9,
                    }}),
                );
                self.text(id, "asked");
            }
            _ => self.text(id, &params["arguments"].to_string()),
        }
    }
}

fn say(message: &Value) {
    let mut out = io::stdout().lock();
    // Whoever has left is noticed by the end of input.
    drop(writeln!(out, "{message}").and_then(|()| out.flush()));
}

fn noise() {
    let mut out = io::stdout().lock();
    let lines = [
        "Starting up…",
        "{\"jsonrpc\": ",
        "[1,2]",
        "null",
        "{\"a\":1}",
        "\u{0}\u{1b}[2J",
        "",
    ];
    for line in lines {
        drop(writeln!(out, "{line}"));
    }
    drop(out.write_all(b"\xff\xfe\n"));
}
