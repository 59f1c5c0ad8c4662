//! Uses machines of any size in full, and prints the name of each: whatever the size, the same code compiles.
//!
//! This is the beginning of a program that `tests/src/sizes.rs` writes; the machines and `main` follow.

use statemark_runtime::Outcome;

/// Allows everything, and counts notes.
#[derive(Clone, Debug, Default)]
struct Notes {
    count: usize,
}

macro_rules! ring {
    ($name:ident, $size:literal) => {{
        use $name::{Event, Machine, State};

        let mut machine = Machine::new(());
        let mut at = 0;
        for round in 0..$size {
            let (event, next) = if round % 3 == 0 {
                (Event::Skip, (at * 7 + 3) % $size)
            } else {
                (Event::Next, (at + 1) % $size)
            };
            assert_eq!(machine.state().events(), [Event::Next, Event::Skip]);
            let after = machine.state().on(event).unwrap();
            assert!(machine.can(event));
            assert_eq!(machine.send(event), Ok(Outcome::Taken));
            let state = machine.state();
            assert_eq!((state, state.name()), (after, format!("s{next}").as_str()));
            assert_eq!(State::from_name(state.name()), Some(state));
            assert_eq!(State::from_id(state.id()), Some(state));
            at = next;
        }
        let again = Machine::restore((), machine.snapshot()).unwrap();
        assert_eq!((again.state(), again.is_ended()), (machine.state(), false));
        assert_eq!(State::ALL.len(), $size);
        println!("{}", stringify!($name));
    }};
}

macro_rules! counter {
    ($name:ident, $size:literal) => {{
        use $name::{Event, Machine, State};

        let mut machine = Machine::new(()).unwrap();
        for round in 1..=$size + 1 {
            assert_eq!(machine.state().events(), [Event::Next]);
            assert_eq!(machine.send(Event::Next), Ok(Outcome::Taken));
            let state = machine.state();
            assert_eq!(state.name(), format!("s{}", round % $size));
            assert_eq!(State::from_name(state.name()), Some(state));
            assert_eq!(State::from_id(state.id()), Some(state));
            assert_eq!(machine.context().count, i64::from(round));
        }
        let (snapshot, context) = (machine.snapshot(), machine.context().clone());
        let again = Machine::restore((), context, &snapshot).unwrap();
        assert_eq!(again.state(), machine.state());
        println!("{}", stringify!($name));
    }};
}

macro_rules! groups {
    ($name:ident, $size:literal) => {{
        use $name::{Event, Machine, State, Super};

        impl $name::Host for Notes {
            fn allowed(&self) -> bool {
                true
            }

            fn note(&mut self) {
                self.count += 1;
            }
        }

        let mut machine = Machine::new(Notes::default());
        for group in 0..$size / 10 {
            for leaf in 0..8 {
                let state = machine.state();
                assert_eq!(state.name(), format!("s{}", group * 8 + leaf));
                assert_eq!(state.parent(), Some(Super::ALL[group]));
                assert_eq!(State::from_id(state.id()), Some(state));
                assert!(machine.is_in(Super::ALL[group]));
                assert_eq!(machine.host().count, group * 9 + leaf + 1);
                assert_eq!(machine.send(Event::Next), Ok(Outcome::Taken));
            }
        }
        assert_eq!(machine.send(Event::Skip), Ok(Outcome::Taken));
        assert_eq!(machine.state().name(), "s8");
        let again = Machine::restore(machine.host().clone(), machine.snapshot()).unwrap();
        assert_eq!(again.state(), machine.state());
        println!("{}", stringify!($name));
    }};
}

