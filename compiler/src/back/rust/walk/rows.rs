//! The const rows: the states, what they react to, and where transitions lead.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::state::number;
use crate::ir::State;

/// `ROWS`: the states, what they react to, and where transitions lead.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let none = usize::from(u16::MAX);
    let mut targets = Vec::new();
    let mut range = |list: &[Handle<State>]| {
        let first = number(targets.len());
        targets.extend(list.iter().map(|target| number(target.index())));
        let end = number(targets.len());
        quote!(#first, #end)
    };
    let mut triggers = Vec::new();
    let mut states = Vec::new();
    for (handle, state) in machine.states.iter() {
        let kind = Ident::new(&format!("{:?}", state.kind), Span::call_site());
        let parent = number(state.parent.map_or(none, Handle::index));
        let end = number(state.end);
        let initial = state.initial.as_ref();
        let initial = initial.map_or(&[][..], |initial| &initial.targets);
        let initial = range(initial);
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
    let mut transitions = Vec::new();
    for (handle, transition) in machine.transitions.iter() {
        let source = number(transition.source.index());
        let domain = if transition.targets.is_empty() {
            none
        } else {
            facts.domain(handle).index()
        };
        let (domain, targets) = (number(domain), range(&transition.targets));
        transitions.push(quote!((#source, #domain, #targets)));
    }
    let (has_regions, has_eventless) = (facts.has_regions, facts.has_eventless);
    quote! {
        /// The machine as rows.
        static ROWS: runtime::generated::Rows<#has_regions> = runtime::generated::Rows {
            states: &[#(#states),*],
            triggers: &[#(#triggers),*],
            transitions: &[#(#transitions),*],
            targets: &runtime::generated::states([#(#targets),*]),
            has_eventless: #has_eventless,
        };
    }
}
