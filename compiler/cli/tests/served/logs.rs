//! What a server logs, and how it answers those who watch over it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::client::serve;
use super::resources::desk;
use crate::shell::statemark;

/// Longest wait for a line. Why: a busy machine takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of a log, each as JSON.
fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The first line with a message that begins so.
fn line(log: &Path, begin: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let is_meant = |line: &Value| {
            line["message"]
                .as_str()
                .is_some_and(|it| it.starts_with(begin))
        };
        if let Some(line) = lines(log).into_iter().find(is_meant) {
            return line;
        }
        assert!(Instant::now() < until, "no `{begin}` in {:?}", lines(log));
        sleep(Duration::from_millis(20));
    }
}

fn start(folder: &Path, log: &Path) -> (Child, String) {
    let mut command = serve(
        folder,
        &[
            "--http",
            "127.0.0.1:0",
            "--log-format",
            "json",
            "--log",
            "debug",
        ],
    );
    command.env("DESK_PASSWORD", "open-sesame-2041");
    command.stderr(File::create(log).unwrap());
    let server = command.spawn().unwrap();
    let said = line(log, "listening at ")["message"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = said
        .strip_prefix("listening at http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    (server, at.to_owned())
}

fn ask(at: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    let head = format!("{head}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_logs_what_it_does_and_no_secret() {
    let scratch = desk("logs");
    let log = scratch.path.join("log");
    let (mut server, at) = start(&scratch.path, &log);
    let begin = line(&log, "listening at ");
    assert_eq!(begin["store"], "cli-logs/.statemark/runs.db");
    assert_eq!(begin["workflows"], 1);
    assert_eq!(begin["callers"], "this user alone: the store has no tokens");

    let answer = ask(
        &at,
        &format!(
            "GET /api/runs?workflow=open-sesame-2041 HTTP/1.1\r\nHost: {at}\r\nX-Request-Id: mine.1\r\n"
        ),
    );
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("x-request-id: mine.1\r\n"),
        "{answer}"
    );
    assert_eq!(line(&log, "request")["request"], "mine.1");

    let refused = ask(
        &at,
        "GET /api/open-sesame-2041 HTTP/1.1\r\nHost: evil.example\r\nX-Request-Id: a\"b\r\n",
    );
    let id = refused
        .split("x-request-id: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    assert!(
        refused.starts_with("HTTP/1.1 403") && !id.contains('"'),
        "{refused}"
    );
    let refusal = line(&log, "request refused");
    assert_eq!(
        (refusal["level"].as_str(), refusal["code"].as_str()),
        (Some("WARN"), Some("bad_host"))
    );
    assert_eq!(refusal["request"], id);
    assert_eq!(refusal["path"], "/api/[redacted:DESK_PASSWORD]");

    assert!(ask(&at, "GET /healthz HTTP/1.0\r\n").ends_with("\r\n\r\nok\n"));
    assert!(ask(&at, "GET /readyz HTTP/1.0\r\n").ends_with("\r\n\r\nready\n"));
    let health = |arguments: &[&str]| {
        statemark(&scratch.path)
            .arg("health")
            .args(arguments)
            .output()
            .unwrap()
    };
    assert_eq!(health(&[&at]).status.code(), Some(0));

    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    assert_eq!(line(&log, "stopping")["cause"], "SIGTERM");
    line(&log, "stopped");
    assert!(!fs::read_to_string(&log).unwrap().contains("open-sesame"));
    assert_eq!(health(&[&at]).status.code(), Some(1));
}

/// Completions are read by the shells that are here.
#[test]
fn shells_take_their_completions() {
    let scratch = crate::shell::Scratch::new("completions");
    for (shell, check) in [
        (
            "bash",
            "source FILE && complete -p statemark && COMP_WORDS=(statemark sto) COMP_CWORD=1 && _statemark statemark sto statemark && [ \"${COMPREPLY[*]}\" = store ]",
        ),
        (
            "zsh",
            "autoload -U compinit && compinit -u && source FILE && (( $+functions[_statemark] ))",
        ),
        (
            "fish",
            "source FILE; complete --do-complete 'statemark sto' | grep -q '^store'",
        ),
    ] {
        let output = statemark(&scratch.path)
            .args(["completions", shell])
            .output()
            .unwrap();
        assert!(output.status.success(), "{shell}");
        let file = scratch.path.join(shell);
        fs::write(&file, output.stdout).unwrap();
        let check = check.replace("FILE", file.to_str().unwrap());
        // A shell that isn't here can't be asked.
        if let Ok(status) = Command::new(shell).args(["-c", &check]).status() {
            assert!(status.success(), "{shell}: {check}");
        }
    }
}
