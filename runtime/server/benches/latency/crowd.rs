//! Many clients at once: those that drive a run each, with the memory of their server, and those that read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::clients::{Client as _, Listening, Session};
use super::ours;

const CLIENTS: usize = 50;

/// Drives the runs for that long. Stops at the first error.
pub(crate) fn drive(folder: &Path, long: Duration) {
    let runs: Vec<String> = (0..CLIENTS).map(|it| format!("c{it}")).collect();
    for run in &runs {
        ours::fill(folder, run);
    }
    let server = Listening::new(folder, "ours-http");
    let before = memory(server.server.id());
    let over = AtomicBool::new(false);
    let (calls, peak) = std::thread::scope(|scope| {
        let drive = |run| one(&server.address, run, &over);
        let clients: Vec<_> = runs
            .iter()
            .map(|run| scope.spawn(move || drive(run)))
            .collect();
        let began = Instant::now();
        let mut halfway = None;
        while began.elapsed() < long {
            std::thread::sleep(long / 20);
            if began.elapsed() >= long / 2 {
                halfway = halfway.or_else(|| memory(server.server.id()));
            }
        }
        over.store(true, Ordering::Relaxed);
        let calls: usize = clients.into_iter().map(|it| it.join().unwrap()).sum();
        (calls, halfway)
    });
    let after = memory(server.server.id());
    let shown = |bytes: Option<u64>| {
        bytes.map_or("?".to_owned(), |it| {
            format!("{:.1} MiB", it as f64 / 1024.0)
        })
    };
    println!(
        "{CLIENTS} clients, {calls} calls in {:.0} s, no error; memory {} before, {} halfway, {} after",
        long.as_secs_f64(),
        shown(before),
        shown(peak),
        shown(after)
    );
    assert!(calls >= CLIENTS * 2, "{calls}");
}

/// Clients that read at once.
const READERS: usize = 64;

/// Lets many clients read a run each, from ours and from the bare server in turns. Prints the calls a second.
pub(crate) fn read(folder: &Path, turns: usize, long: Duration) {
    let runs: Vec<String> = (0..READERS).map(|it| format!("m{it}")).collect();
    for run in &runs {
        ours::fill(folder, run);
    }
    let servers = ["ours-http", "bare-http"].map(|part| Listening::new(folder, part));
    let mut rates: Vec<[f64; 2]> = (0..turns)
        .map(|_| servers.each_ref().map(|it| rate(&it.address, &runs, long)))
        .collect();
    rates.sort_by(|one, other| (one[0] / one[1]).total_cmp(&(other[0] / other[1])));
    let [ours, bare] = rates[turns / 2];
    println!(
        "{READERS} clients over HTTP: {ours:.0} calls of `get_run` a second beside {bare:.0}; {:.2} of the bare server's",
        ours / bare
    );
}

/// Reads runs, each by a client of its own, and returns the calls a second.
fn rate(address: &str, runs: &[String], long: Duration) -> f64 {
    let began = Instant::now();
    let calls: usize = std::thread::scope(|scope| {
        let readers: Vec<_> = runs
            .iter()
            .map(|run| scope.spawn(|| read_for(long, address, run)))
            .collect();
        readers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    calls as f64 / began.elapsed().as_secs_f64()
}

/// Reads a run again and again over one connection. Returns the number of calls.
fn read_for(long: Duration, address: &str, run: &str) -> usize {
    let mut session = Session::new(address);
    let arguments = json!({"run_id": run});
    let began = Instant::now();
    let mut calls = 0;
    while began.elapsed() < long {
        session.call("get_run", &arguments);
        calls += 1;
    }
    calls
}

/// Moves a run back and forth. Returns the number of calls.
fn one(address: &str, run: &str, over: &AtomicBool) -> usize {
    let mut session = Session::new(address);
    let mut calls = 0;
    while !over.load(Ordering::Relaxed) || calls % 3 != 0 {
        let (_, answer) = match calls % 3 {
            0 => session.call("get_run", &json!({"run_id": run})),
            1 => session.call(
                "send_event",
                &json!({"run_id": run, "event": "push", "data": {"force": 2}}),
            ),
            _ => session.call("send_event", &json!({"run_id": run, "event": "pull"})),
        };
        assert_eq!(answer["isError"], json!(false), "{answer}");
        calls += 1;
    }
    calls
}

/// Returns the memory of a process. Unit: KiB. Only Linux has it.
fn memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
