//! What is found region by region, held against the search through all configurations.

use std::collections::BTreeMap;

use super::Regions;
use crate::pass::reach::Reachability;
use crate::proofs::concrete::{MOST_WORK, search};
use crate::proofs::evidence::Evidence;
use crate::proofs::play::free_table;
use crate::proofs::{Judgment, decide, prove};
use crate::source::Sources;
use crate::valid::Valid;
use crate::{Options, compile};

fn compiled(text: &str) -> Option<Valid> {
    let mut sources = Sources::new();
    sources.add("spec.mmd", text);
    let compiled = compile(&sources, &Options::default());
    compiled.machines.into_iter().next()
}

/// Numbers drawn one after the other, the same for a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        let Self(state) = self;
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % most
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(self.below(texts.len() as u64)).unwrap()]
    }
}

/// A diagram with two or three regions, which half of the time have nothing to do with each other.
fn diagram(seed: u64) -> String {
    let chance = &mut Chance(seed);
    let mut text = "stateDiagram-v2\n[*] --> before\n".to_owned();
    text += chance.pick(&[
        "before --> all : begin\n",
        "before --> all : begin [maybe]\n",
        "before --> all : [else]\n",
    ]);
    let regions = 2 + chance.below(2);
    let are_tied = chance.percent(50);
    let have_ends = chance.percent(60);
    let inside: Vec<String> = (0..regions)
        .map(|region| inside(chance, region, are_tied, have_ends))
        .collect();
    text += &format!("state all {{\n{}}}\n", inside.join("--\n"));
    let mut is_left = false;
    for (percent, line) in [
        (40, "all --> after : end\n"),
        (20, "all --> after : give_up [maybe]\n"),
        (20, "all --> all : again\n"),
        (15, "all --> r0s1 : jump\n"),
        (15, "all --> after : after 9s\n"),
        (5, "all --> after : [maybe]\n"),
    ] {
        if chance.percent(percent) {
            text += line;
            is_left = true;
        }
    }
    if have_ends && (chance.percent(70) || !is_left) {
        text += "all --> after\n";
    } else if !is_left {
        text += "all --> after : end\n";
    }
    text += chance.pick(&[
        "after --> [*] : done\n",
        "after --> [*] : done [maybe]\n",
        "after --> before : back\n",
        "after --> after : stay\n",
        "after --> r1s1 : back\nafter --> [*] : done\n",
    ]);
    text
}

/// A region. What ties it to the others: events that they take as well, guards without an event.
fn inside(chance: &mut Chance, region: u64, is_tied: bool, has_end: bool) -> String {
    let states = 2 + chance.below(3);
    let name = |state: u64| format!("r{region}s{state}");
    let mut lines = format!("[*] --> {}\n", name(0));
    for state in 0..states {
        for _ in 0..1 + chance.below(2) {
            let target = chance.below(states);
            let own = format!("go{region}{}", chance.below(2));
            let tie = is_tied && chance.percent(30);
            let event = match tie {
                true => chance.pick(&["both", "both", "end", "again", "jump", ""]),
                false => chance.pick(&[&own, &own, &own, &own, &own, "after 5s"]),
            };
            let guard = chance.pick(&["", "", "[maybe]", "[ready]"]);
            let guard = if event.is_empty() { "[maybe]" } else { guard };
            lines += &format!("{} --> {} : {event} {guard}\n", name(state), name(target));
        }
        if chance.percent(7) {
            lines += &format!("{} --> after : out{region}\n", name(state));
        }
    }
    if has_end {
        let last = chance.below(states);
        let guard = chance.pick(&["", " [maybe]"]);
        lines += &format!("{} --> [*] : stop{region}{guard}\n", name(last));
    }
    if chance.percent(15) {
        let state = chance.below(states);
        lines += &format!(
            "state {} {{\n[*] --> i{region}\ni{region} --> j{region} : in{region}\nj{region} --> [*] : ended{region}\n}}\n",
            name(state)
        );
    }
    lines
}

#[test]
fn what_is_decided_apart_is_so_of_all_configurations() {
    let mut separate = 0;
    let mut tally: BTreeMap<(&str, String, String), u32> = BTreeMap::new();
    for seed in 0..3_000 {
        let text = diagram(seed);
        // Two ways to one state on one event are an error.
        let Some(machine) = compiled(&text) else {
            continue;
        };
        let Some(regions) = Regions::find(&machine) else {
            continue;
        };
        let table = free_table(&machine).unwrap();
        let whole = search(&machine, &table, 10 * MOST_WORK, None);
        let apart = search(&machine, &table, MOST_WORK, Some(regions));
        assert!(whole.is_complete && apart.apart.is_some(), "{text}");
        separate += 1;
        let evidence = [whole, apart].map(|space| Evidence {
            machine: &machine,
            reach: Reachability::new(&machine),
            space,
        });
        let [whole, apart] = evidence.each_ref().map(decide);
        for (whole, apart) in whole.iter().zip(&apart) {
            let is_so = apart.verdict == Judgment::Unknown || apart.verdict == whole.verdict;
            assert!(is_so, "{seed}: {text}\n{whole:#?}\n{apart:#?}");
            let [one, other] = [whole, apart].map(|proof| format!("{:?}", proof.verdict));
            *tally.entry((whole.property, one, other)).or_default() += 1;
        }
    }
    // Regions are mostly separate, and what is so is mostly found; of what holds of all configurations both is met.
    assert!(separate > 500, "{separate}");
    let count = |property, whole: &str, apart: &str| {
        let key = (property, whole.to_owned(), apart.to_owned());
        tally.get(&key).copied().unwrap_or(0)
    };
    for property in ["can-always-end", "never-stuck"] {
        let (found, missed) = (
            count(property, "Holds", "Holds"),
            count(property, "Holds", "Unknown"),
        );
        assert!(
            found > 100 && found > 4 * missed,
            "{property}: {found}, {missed}"
        );
    }
    for property in [
        "states-reachable",
        "transitions-taken",
        "can-end",
        "comes-to-rest",
        "regions-complete",
    ] {
        assert!(count(property, "Holds", "Holds") > 0, "{property}");
        assert_eq!(
            count(property, "Holds", "Unknown") + count(property, "Fails", "Unknown"),
            0,
            "{property}"
        );
    }
    for property in ["transitions-taken", "can-end", "regions-complete"] {
        assert!(
            count(property, "Fails", "Fails") > 0,
            "{property}: {tally:#?}"
        );
    }
}

/// Regions of a loop of three states each, which an event leaves or which all end.
fn many(regions: usize, is_joined: bool) -> String {
    let region = |at: usize| {
        let mut lines =
            format!("[*] --> a{at}\na{at} --> b{at} : go{at}\nb{at} --> c{at} : go{at}\n");
        lines += &match is_joined {
            true => format!("c{at} --> [*] : ended{at}\n"),
            false => format!("c{at} --> a{at} : back{at}\n"),
        };
        lines
    };
    let inside: Vec<String> = (0..regions).map(region).collect();
    let out = if is_joined { "" } else { " : end" };
    format!(
        "stateDiagram-v2\n[*] --> all\nstate all {{\n{}}}\nall --> [*]{out}\n",
        inside.join("--\n")
    )
}

#[test]
fn many_regions_are_decided() {
    for (regions, is_joined) in [(2, false), (2, true), (24, false), (24, true)] {
        let machine = compiled(&many(regions, is_joined)).unwrap();
        for proof in prove(&machine) {
            assert_eq!(
                proof.verdict,
                Judgment::Holds,
                "{regions} {is_joined} {proof:#?}"
            );
        }
    }
}
