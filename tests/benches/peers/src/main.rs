//! The machines of `tests/benches` in other libraries, for `tests/benches/run`.
//!
//! `statemark-peers EVENTS MACHINE LIBRARY ROUNDS` sends the events of a file, one name a line, that many times, and prints
//! the state that the machine has come to. The loop is the one of `tests/benches/engines.rs`.

mod deep;
mod flat;
mod guarded;

use std::fmt::Debug;
use std::hint::black_box;

use statig::blocking::IntoStateMachineExt as _;

/// Counts each action by itself, so that no optimizer makes one addition of several.
#[derive(Default)]
pub struct Counter {
    done: [u64; 32],
}

impl Counter {
    #[inline]
    fn add(&mut self, at: usize) {
        self.done[at] = self.done[at].wrapping_add(1);
    }

    #[inline]
    fn count(&mut self) {
        self.add(0);
    }

    #[inline]
    fn book(&mut self) {
        self.add(1);
    }

    #[inline]
    fn filled(&self) -> bool {
        self.done[31] == 0
    }

    #[inline]
    fn known(&self) -> bool {
        self.done[31] == 0
    }

    #[inline]
    fn covered(&self) -> bool {
        self.done[31] == 0
    }
}

/// Sends events, round and round.
#[inline(never)]
fn drive<E: Copy>(events: &[E], rounds: usize, mut send: impl FnMut(E)) {
    for _ in 0..rounds {
        for &event in events {
            send(event);
        }
    }
}

/// Prints a state as specs name it: the first word of its debug text, in lowercase.
fn print(state: &dyn Debug) {
    let name = format!("{state:?}");
    let name = name.split(|c: char| !c.is_alphanumeric()).next();
    println!("{}", name.unwrap_or_default().to_lowercase());
}

/// Turns names into the events of a library.
macro_rules! events {
    ($names:ident, $kind:path: $($name:ident)*) => {{
        use $kind as Kind;
        let events = $names.iter().map(|name| {
            $(if name.eq_ignore_ascii_case(stringify!($name)) {
                return Kind::$name;
            })*
            panic!("no machine has the event {name}")
        });
        events.collect::<Vec<Kind>>()
    }};
}

macro_rules! order {
    ($names:ident, $kind:path) => {
        events!($names, $kind: Proceed Back Confirm Decline Approve Cancel Report)
    };
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, machine, library, rounds] = &arguments[..] else {
        panic!("what is expected: EVENTS MACHINE LIBRARY ROUNDS");
    };
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let text = std::fs::read_to_string(file).expect("a file with the names of events");
    let names: Vec<&str> = text.lines().collect();
    match (machine.as_str(), library.as_str()) {
        ("flat", "statig") => {
            let events = order!(names, flat::in_statig::Event);
            let mut machine = flat::in_statig::Order.state_machine();
            drive(black_box(&events), rounds, |event| machine.handle(&event));
            print(machine.state());
        }
        ("flat", "smlang") => {
            let events = order!(names, flat::in_smlang::Events);
            let mut machine = flat::in_smlang::StateMachine::new(flat::in_smlang::Context);
            drive(black_box(&events), rounds, |event| {
                let _ = machine.process_event(event);
            });
            print(machine.state());
        }
        ("flat", "rust-fsm") => {
            let events = order!(names, flat::in_rust_fsm::Input);
            let mut machine = flat::in_rust_fsm::StateMachine::new();
            drive(black_box(&events), rounds, |event| {
                let _ = machine.consume(&event);
            });
            print(machine.state());
        }
        ("guarded", "statig") => {
            let events = order!(names, guarded::in_statig::Event);
            let mut machine = Counter::default().state_machine();
            drive(black_box(&events), rounds, |event| machine.handle(&event));
            print(machine.state());
        }
        ("guarded", "smlang") => {
            let events = order!(names, guarded::in_smlang::Events);
            let mut machine = guarded::in_smlang::StateMachine::new(Counter::default());
            drive(black_box(&events), rounds, |event| {
                let _ = machine.process_event(event);
            });
            print(machine.state());
        }
        ("deep", "statig") => {
            let events = events!(names, deep::in_statig::Event: Power Play Stop Wind Switch);
            let mut machine = deep::in_statig::Player::default().state_machine();
            drive(black_box(&events), rounds, |event| machine.handle(&event));
            print(machine.state());
        }
        _ => panic!("{library} has no machine {machine} here"),
    }
}
