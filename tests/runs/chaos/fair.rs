//! Eight processes that write to one file without a pause.

use std::time::{Duration, Instant};

use statemark_runs::{Expect, RunId, Store as _};

use super::{Told, begin, hear, is_long, new_folder, notify, open, process};
use crate::stores::notes;

const WRITERS: u32 = 8;

/// Longest that a writer may wait, which is asked where the machine is promised to be free. Why: an agent takes longer for a hang.
const LONGEST: Duration = Duration::from_secs(2);

fn duration() -> Duration {
    Duration::from_secs(if is_long() { 15 } else { 3 })
}

/// Writes for a while; then says how often, and how long it has waited at most. Unit: microseconds.
pub(super) fn crowd(told: &Told) {
    let store = open(&told.folder);
    let run: RunId = told.name.parse().unwrap();
    store
        .append(&notes(run.as_str(), Expect::NoRun, &["x"]))
        .unwrap();
    notify(&told.folder, &format!("{} is here", told.name));
    hear(&told.folder, "go");
    let append = notes(run.as_str(), Expect::Any, &["x"]);
    let begun = Instant::now();
    let (mut count, mut longest) = (0_u32, Duration::ZERO);
    while begun.elapsed() < duration() {
        let asked = Instant::now();
        store.append(&append).unwrap();
        longest = longest.max(asked.elapsed());
        count += 1;
    }
    let path = told.folder.join(format!("{}.count", told.name));
    std::fs::write(path, format!("{count} {}", longest.as_micros())).unwrap();
}

#[test]
fn writers_take_turns() {
    let folder = new_folder();
    let names: Vec<String> = (0..WRITERS).map(|number| format!("w{number}")).collect();
    let mut children: Vec<_> = names
        .iter()
        .map(|name| begin(process("crowd", &folder, name)))
        .collect();
    for name in &names {
        hear(&folder, &format!("{name} is here"));
    }
    notify(&folder, "go");
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let told = names.iter().map(|name| {
        let text = std::fs::read_to_string(folder.join(format!("{name}.count"))).unwrap();
        let (count, longest) = text.split_once(' ').unwrap();
        let longest = Duration::from_micros(longest.parse().unwrap());
        (count.parse::<u32>().unwrap(), longest)
    });
    let (counts, waits): (Vec<u32>, Vec<Duration>) = told.unzip();
    println!("appends of each: {counts:?}, longest waits: {waits:?}");
    let mean = counts.iter().sum::<u32>() / WRITERS;
    let least = counts.iter().min().unwrap();
    if is_long() {
        assert!(*least >= mean / 2, "{least} of {mean}: {counts:?}");
        assert!(waits.iter().all(|wait| *wait < LONGEST), "{waits:?}");
    } else {
        // On a busy machine a process may be given nothing for a while; one that starves gets next to nothing at all.
        assert!(*least >= mean / 8, "{least} of {mean}: {counts:?}");
    }
}
