//! Const tables for what is asked of the states of a large machine.
//!
//! A thousand arms of a `match` cost the user's compiler seconds; a thousand rows cost nothing.

use proc_macro2::TokenStream;
use quote::quote;

use super::facts::Facts;
use super::state::number;

/// The body of `State::on`.
pub(super) fn on() -> TokenStream {
    quote! {
        if self.is_end() {
            return None;
        }
        let mut rows = ROWS.triggers_of(self as u16);
        let mut root = ROWS.triggers_of(0);
        loop {
            while let [(wanted, transition), rest @ ..] = rows {
                if *wanted == event as u16 {
                    // INVARIANT: the rows name transitions and targets that are there. The machine is flat, so that the
                    // states are in order after the root.
                    let (.., first, end) = ROWS.transitions[*transition as usize];
                    if first == end {
                        return Some(self);
                    }
                    return Some(Self::ALL[ROWS.targets[first as usize].index() - 1]);
                }
                rows = rest;
            }
            if root.is_empty() {
                return None;
            }
            rows = root;
            root = &[];
        }
    }
}

/// The body of `State::events`.
pub(super) fn events() -> TokenStream {
    quote! {
        // INVARIANT: every number of a state has its range.
        let (first, count) = EVENT_RANGES[self as usize];
        EVENTS.split_at(first as usize).1.split_at(count as usize).0
    }
}

/// `NAMES` and `EVENTS`, by the number of the state.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let names = facts
        .machine
        .states
        .iter()
        .map(|(_, state)| state.id.as_str());
    let mut events = Vec::new();
    let mut ranges = Vec::new();
    for (handle, state) in facts.machine.states.iter() {
        let first = number(events.len());
        let list = if state.kind.is_leaf() {
            facts.events_of(handle)
        } else {
            Vec::new()
        };
        let count = number(list.len());
        ranges.push(quote!((#first, #count)));
        events.extend(list.into_iter().map(|event| facts.event(event)));
    }
    quote! {
        static NAMES: &[&str] = &[#(#names),*];
        static EVENTS: &[Event] = &[#(Event::#events),*];
        static EVENT_RANGES: &[(u32, u16)] = &[#(#ranges),*];
    }
}
