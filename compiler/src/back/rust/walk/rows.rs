//! The const rows: the states, what they react to, and where transitions lead.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::state::number;

/// `ROWS`: the states, what they react to, and where transitions lead.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let none = usize::from(u16::MAX);
    let targets = |targets: &[Handle<_>]| {
        let ids = targets.iter().map(|target| number(target.index()));
        quote!(&[#(runtime::StateId::new(#ids)),*])
    };
    let mut triggers = Vec::new();
    let mut states = Vec::new();
    for (handle, state) in machine.states.iter() {
        let kind = Ident::new(&format!("{:?}", state.kind), Span::call_site());
        let parent = number(state.parent.map_or(none, Handle::index));
        let end = number(state.end);
        let initial = state.initial.as_ref();
        let initial = initial.map_or(&[][..], |initial| &initial.targets);
        let initial = targets(initial);
        let first = number(triggers.len());
        for (transition, row) in machine.transitions_of(handle) {
            let eventless = row.triggers.is_empty().then_some(none);
            let events = row.triggers.iter().map(|event| event.index());
            let transition = number(transition.index());
            triggers.extend(eventless.into_iter().chain(events).map(|event| {
                let event = number(event);
                quote!((#event, #transition))
            }));
        }
        let last = number(triggers.len());
        states.push(quote! {
            (runtime::StateKind::#kind, #parent, #end, #initial, #first, #last)
        });
    }
    let transitions = machine.transitions.iter().map(|(handle, transition)| {
        let source = number(transition.source.index());
        let domain = if transition.targets.is_empty() {
            none
        } else {
            facts.domain(handle).index()
        };
        let (domain, targets) = (number(domain), targets(&transition.targets));
        quote!((#source, #domain, #targets))
    });
    let has_regions = facts.has_regions;
    quote! {
        /// The machine as rows.
        static ROWS: runtime::generated::Rows = runtime::generated::Rows {
            has_regions: #has_regions,
            states: &[#(#states),*],
            triggers: &[#(#triggers),*],
            transitions: &[#(#transitions),*],
        };
    }
}
