//! The machine with parallel states, history, timers or conditional actions: const rows, and what the runtime's algorithm
//! has done as it walks them.
//!
//! The algorithm is [`statemark_runtime::generated::Rows`], which is the table engine's, so that both do the same whatever
//! is active. Here are the faces around it.

mod content;
mod machine;
mod rows;
mod steps;
mod timers;

use proc_macro2::TokenStream;
use quote::quote;

use super::active;
use super::context;
use super::facts::Facts;

pub(super) use timers::timer;

/// The rows, the callbacks and the machine.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let rows = rows::write(facts);
    let timers = timers::write(facts);
    let guarding = facts.has_guards.then(|| content::guarding(facts));
    let content = content::write(facts);
    let machine = machine::write(facts);
    let active = facts.has_regions.then(|| active::write(facts));
    let undo = context::assign::undo(facts);
    quote!(#timers #active #machine #rows #guarding #content #undo)
}

/// The types of the context, and of what is kept to take back what is assigned.
fn held(facts: &Facts<'_>) -> Option<(TokenStream, Option<TokenStream>)> {
    facts.data.as_ref()?;
    let undo = facts.undoes();
    let undo = undo.then(|| quote!(Vec<Old>));
    Some((quote!(Context), undo))
}

/// What a machine begins with that no event has been sent to.
fn nothing_sent(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.receives().then(|| quote!(sent: None,))
}
