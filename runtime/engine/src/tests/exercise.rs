//! What hostile bytes have to survive: decode, verify, steps.
//!
//! `tests/` and `tests/fuzz/` include this file, too; `rt` is the runtime, by whatever name it goes there.

use super::rt::{
    ActionId, Cause, Configuration, EventId, FieldId, GuardId, Host, Machine, Recorder, Sections,
    TimerId, Value, decode, dump, encode, verify,
};
use std::vec::Vec;

/// A host whose answers follow from what it was asked and told before, so that engines that ask or act in another order
/// are found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fickle {
    state: u64,
    /// What it was asked and told: guards below 65,536, actions above.
    pub(crate) log: Vec<u32>,
}

impl Fickle {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            log: Vec::new(),
        }
    }

    fn turn(&mut self, heard: u32) -> u64 {
        self.log.push(heard);
        self.state = mix(self.state ^ u64::from(heard));
        self.state
    }
}

/// The finalizer of SplitMix64.
pub(crate) fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

impl Host for Fickle {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.turn(u32::from(guard.raw())).is_multiple_of(3)
    }

    fn action(&mut self, action: ActionId) {
        self.turn(0x1_0000 | u32::from(action.raw()));
    }

    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        if self
            .turn(0x5_0000 | u32::from(action.raw()))
            .is_multiple_of(4)
        {
            return Err("chance".into());
        }
        Ok(())
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.turn(0x2_0000 | u32::from(field.raw()));
        let number = match value {
            Value::Bool(value) => u32::from(value),
            Value::Int(value) => u32::try_from(value.rem_euclid(1 << 31)).unwrap(),
            Value::Text(text) => u32::try_from(text.len()).unwrap(),
            _ => 7,
        };
        self.turn(number);
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.turn(0x3_0000 | u32::from(timer.raw()));
        self.turn(u32::try_from(delay).unwrap_or(u32::MAX));
    }

    fn cancel(&mut self, timer: TimerId) {
        self.turn(0x4_0000 | u32::from(timer.raw()));
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        match mix(self.state ^ u64::from(field.raw())) % 8 {
            0 | 1 => Value::Absent,
            2 => Value::Null,
            3 => Value::Bool(true),
            4 | 5 => Value::Int(i128::from(self.state % 8)),
            6 => Value::Float(1.5),
            _ => Value::Text("machine"),
        }
    }
}

/// Bytes either don't decode, or have just this one spelling and survive [`rows`]. Says whether they made a machine.
pub(crate) fn bytes(bytes: &[u8], events: &[u8]) -> bool {
    let Ok(sections) = decode(bytes) else {
        return false;
    };
    assert_eq!(
        encode(&sections).as_deref(),
        Ok(bytes),
        "a table has one spelling"
    );
    rows(sections, events)
}

/// Rows are either refused, or step without panic and stay in legal configurations. Says whether they made a machine.
pub(crate) fn rows(sections: Sections, events: &[u8]) -> bool {
    // A hostile table may be small and its text large; no test needs to see that.
    if sections.states.len() < 100 {
        let _ = dump(&sections);
    }
    let Ok(table) = verify(sections) else {
        return false;
    };
    let mut recorder = Recorder::new();
    let Ok(mut machine) = Machine::start_observed(&table, Fickle::new(7), &mut recorder) else {
        return true;
    };
    machine.set_step_limit(20);
    for &event in events {
        let event = EventId::new(u16::from(event) % 13);
        let before = machine.configuration().clone();
        let can = Machine::restore(&table, Fickle::new(1), before.clone())
            .unwrap()
            .can(event);
        let listed = machine.candidates();
        let outcome = match event.raw() {
            10.. => machine.elapse_observed(TimerId::new(event.raw() - 10), &mut recorder),
            _ => machine.send_observed(event, &mut recorder),
        };
        let after = machine.configuration();
        let leaves: Vec<_> = after.leaves().collect();
        let legal = Configuration::from_leaves(&table, &leaves);
        let legal = after.history().fold(legal, |legal, (history, states)| {
            legal.and_then(|legal| legal.record(&table, history, states))
        });
        assert_eq!(legal.as_ref(), Ok(after));
        if outcome.is_err() {
            assert_eq!(&before, machine.configuration(), "an error changes nothing");
        }
        if can && event.raw() < 10 {
            assert!(listed.iter().any(|candidate| candidate.event == event));
        }
    }
    true
}
