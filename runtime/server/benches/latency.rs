//! The latency of a call, compared with a bare rmcp tool that reads the same rows.
//!
//! Both are called over standard input and output, and over HTTP. `cargo bench -p statemark-server` prints ratios;
//! `… -- crowd` lets 50 clients drive 50 runs for a minute and prints the server's memory. In a test build each part runs
//! briefly, and no figure is checked.
//!
//! The servers are this program again, chosen by its first argument.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops where something is wrong, as a test does"
)]

#[path = "latency/bare.rs"]
mod bare;
#[path = "latency/clients.rs"]
mod clients;
#[path = "latency/crowd.rs"]
mod crowd;
#[path = "latency/ours.rs"]
mod ours;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clients::{Client, Http, Stdio};

/// Largest ratio of a call's time to the bare tool's.
const MAX_RATIO: f64 = 2.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.get(1).map(PathBuf::from);
    match (arguments.first().map(String::as_str), folder) {
        (Some("ours-stdio"), Some(folder)) => return ours::stdio(&folder),
        (Some("ours-http"), Some(folder)) => return ours::http(&folder),
        (Some("bare-stdio"), Some(folder)) => return bare::stdio(&folder),
        (Some("bare-http"), Some(folder)) => return bare::http(&folder),
        _ => {}
    }
    let is_bench = arguments.iter().any(|it| it == "--bench");
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("latency-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    ours::fill(&folder, "r1");
    if arguments.iter().any(|it| it == "crowd") {
        crowd::drive(&folder, Duration::from_secs(60));
    } else {
        let calls = if is_bench { 2_000 } else { 20 };
        let mut ours = Stdio::new(&folder, "ours-stdio");
        let mut bare = Stdio::new(&folder, "bare-stdio");
        let fast = compare("stdio", &mut ours, &mut bare, calls);
        let mut ours = Http::new(&folder, "ours-http");
        let mut bare = Http::new(&folder, "bare-http");
        let fast = compare("HTTP", &mut ours, &mut bare, calls) && fast;
        drop((ours, bare));
        match is_bench {
            true => crowd::read(&folder, 7, Duration::from_secs(2)),
            false => crowd::read(&folder, 1, Duration::from_millis(100)),
        }
        assert!(
            !is_bench || fast,
            "more than {MAX_RATIO} times the bare tool"
        );
        if !is_bench {
            crowd::drive(&folder, Duration::from_millis(300));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Calls both in turns. Returns whether ours is fast enough.
fn compare(how: &str, ours: &mut dyn Client, bare: &mut dyn Client, calls: usize) -> bool {
    let arguments = serde_json::json!({"run_id": "r1"});
    // The first calls cost more.
    for _ in 0..calls / 10 {
        ours.call("get_run", &arguments);
        bare.call("get_run", &arguments);
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..calls {
        times[0].push(ours.call("get_run", &arguments).0);
        times[1].push(bare.call("get_run", &arguments).0);
    }
    let [ours, bare] = times.map(|mut all| {
        all.sort();
        [50, 99].map(|percent| all[all.len() * percent / 100].as_secs_f64() * 1e6)
    });
    let ratios = [ours[0] / bare[0], ours[1] / bare[1]];
    println!(
        "{how}: p50 {:.0} µs beside {:.0} µs ({:.2}), p99 {:.0} µs beside {:.0} µs ({:.2})",
        ours[0], bare[0], ratios[0], ours[1], bare[1], ratios[1]
    );
    ratios.iter().all(|it| *it <= MAX_RATIO)
}
