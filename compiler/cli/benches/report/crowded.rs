//! A caller beside many who wait and many who never finish asking: what it pays for them, in turns within one run.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, load, table};
use crate::races::Reader;
use crate::raw::Listening;
use crate::served::spec;
use crate::shell::Scratch;

/// Turns alone and in company; the middle of the ratios counts.
const TURNS: usize = 5;

/// Calls of each tool in a turn.
const CALLS: usize = 600;

/// Calls that wait meanwhile, and connections on which a request has only begun.
const WAITING: usize = 600;
const HALF_OPEN: usize = 200;

/// The time in which what has been opened comes to rest.
const REST: Duration = Duration::from_millis(500);

/// The times of a turn's calls of a tool at 50 and 99 %. Unit: seconds.
type Times = [f64; 2];

pub(crate) fn section(_: &Bench) -> String {
    let scratch = Scratch::new("bench-crowded");
    scratch.write("tick.md", &spec(2));
    let server = Listening::start(&scratch.path, &[]);
    for run in ["own", "awaited"] {
        let start = json!({"workflow": "tick", "run_id": run});
        assert_eq!(server.call("start_run", &start, "")["ok"], true);
    }
    let tools = [
        ("get_run", json!({"run_id": "own"})),
        (
            "send_event",
            json!({"run_id": "own", "event": "tick", "data": {"by": "ann"}}),
        ),
    ];
    let mut caller = Reader::new(&server);
    let mut turn = || {
        tools
            .clone()
            .map(|(tool, arguments)| times(&mut caller, tool, &arguments))
    };
    turn();
    let turns: Vec<[[Times; 2]; 2]> = (0..TURNS)
        .map(|_| {
            let alone = turn();
            let company = company(&server);
            std::thread::sleep(REST);
            let beside = turn();
            drop(company);
            std::thread::sleep(REST);
            [alone, beside]
        })
        .collect();
    let mut rows = Vec::new();
    for (at, (tool, _)) in tools.iter().enumerate() {
        for (percentile, name) in ["p50", "p99"].into_iter().enumerate() {
            let mut turns: Vec<[f64; 2]> = turns
                .iter()
                .map(|it| it.map(|tools| tools[at][percentile]))
                .collect();
            turns.sort_by(|one, other| (one[1] / one[0]).total_cmp(&(other[1] / other[0])));
            let [alone, beside] = turns[TURNS / 2];
            rows.push(vec![
                format!("`{tool}`, {name}"),
                format!("{:.0}", alone * 1e6),
                format!("{:.0}", beside * 1e6),
                format!("{:.2}", beside / alone),
            ]);
        }
    }
    let columns = ["a call over HTTP, µs", "alone", "beside them", "x"];
    format!(
        "A caller beside {WAITING} calls that wait for a run and {HALF_OPEN} connections on which a request has only begun, \
         in {TURNS} turns of {CALLS} calls each. {}\n\n{}",
        load(),
        table(&columns, &rows)
    )
}

/// Returns the times of calls, at 50 and at 99 %.
fn times(caller: &mut Reader, tool: &str, arguments: &Value) -> Times {
    let mut times: Vec<f64> = (0..CALLS)
        .map(|_| {
            let began = Instant::now();
            caller.call(tool, arguments);
            began.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    [50, 99].map(|percent| times[CALLS * percent / 100])
}

/// Opens connections that wait for an answer, and others that never finish asking.
fn company(server: &Listening) -> Vec<TcpStream> {
    let wait =
        json!({"name": "wait_run", "arguments": {"run_id": "awaited", "timeout_ms": 60_000}});
    let waiting = (0..WAITING).map(|_| server.begin("tools/call", &wait));
    let mut company: Vec<TcpStream> = waiting.collect();
    company.extend((0..HALF_OPEN).map(|_| {
        let mut stream = server.connect();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
        stream
    }));
    company
}
