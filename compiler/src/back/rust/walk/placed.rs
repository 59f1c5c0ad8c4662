//! Steps that are written out by place: a `match` over where the machine is and what comes.

use proc_macro2::TokenStream;
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::actions;
use crate::back::rust::expr::read::ask_host;
use crate::back::rust::facts::Facts;
use crate::back::rust::places::{Deed, Places, Step, Then};
use crate::back::rust::tokens::number;
use crate::ir::{ActionKind, Event};

/// Writes `PLACES`.
pub(super) fn rows(places: &Places) -> TokenStream {
    let ids = |states: &[statemark_runtime::StateId]| {
        let states = states.iter().map(|state| number(state.index()));
        quote!(&[#(runtime::StateId::new(#states)),*])
    };
    let rows = places.rows.iter().map(|(leaves, history)| {
        let leaves = ids(leaves);
        let history = history.iter().map(|(history, states)| {
            let (history, states) = (number(history.index()), ids(states));
            quote!((runtime::StateId::new(#history), #states))
        });
        quote!((#leaves, &[#(#history),*]))
    });
    quote! {
        /// The configurations that the machine can come to, with what its histories have recorded.
        static PLACES: &[runtime::generated::PlaceRow] = &[#(#rows),*];
    }
}

/// Writes the step of an event.
pub(super) fn step(facts: &Facts<'_>, places: &Places) -> TokenStream {
    let arms = arms(facts, places, |step| Some(body(facts, step)));
    let walk = quote!(return self.step(event.id(), observer));
    let rest = rest(facts, places, &walk, [
        &quote!(return Err(runtime::StepError::Ended)),
        &quote!(return Ok(runtime::Outcome::Ignored)),
    ]);
    quote! {
        let place: u16 = match (self.position.place(), event) {
            #arms
            #rest
        };
        self.position.move_to(place);
        Ok(runtime::Outcome::Taken)
    }
}

/// Writes whether an event would be taken; `walked` asks the rows.
pub(super) fn can(facts: &Facts<'_>, places: &Places, walked: &TokenStream) -> TokenStream {
    let always = places.steps.iter().filter_map(|(&at, step)| {
        let is_taken = is_taken(step.as_ref()?)?;
        is_taken.then(|| pattern(facts, at))
    });
    let always: Vec<_> = always.collect();
    let always = (!always.is_empty()).then(|| quote!(#(#always)|* => true,));
    let arms = arms(facts, places, |step| {
        is_taken(step).is_none().then(|| answer(facts, step))
    });
    let rest = rest(facts, places, walked, [&quote!(false), &quote!(false)]);
    quote! {
        match (self.position.place(), event) {
            #always
            #arms
            #rest
        }
    }
}

/// Writes the arms of the steps that aren't walked.
fn arms(
    facts: &Facts<'_>,
    places: &Places,
    body: impl Fn(&Step) -> Option<TokenStream>,
) -> TokenStream {
    let arms = places.steps.iter().filter_map(|(&at, step)| {
        let (pattern, body) = (pattern(facts, at), body(step.as_ref()?)?);
        Some(quote!(#pattern => { #body }))
    });
    arms.collect()
}

/// Writes the arms after those: steps that are walked, ended places, places where nothing is done, and elsewhere.
fn rest(
    facts: &Facts<'_>,
    places: &Places,
    walk: &TokenStream,
    [ended, ignored]: [&TokenStream; 2],
) -> TokenStream {
    let walked = places.steps.iter().filter(|(_, step)| step.is_none());
    let walked: Vec<_> = walked.map(|(&at, _)| pattern(facts, at)).collect();
    let walked = (!walked.is_empty()).then(|| quote!(#(#walked)|* => #walk,));
    let over = places.ended.iter().enumerate().filter(|(_, ended)| **ended);
    let over: Vec<_> = over.map(|(place, _)| number(place)).collect();
    let over = (!over.is_empty()).then(|| quote!((#(#over)|*, _) => #ended,));
    let active = places.rows.len() - places.ended.iter().filter(|ended| **ended).count();
    let count = number(places.rows.len());
    let is_all = places.steps.len() == active * facts.events.len();
    let ignored = (!is_all).then(|| quote!((0..#count, _) => #ignored,));
    quote! {
        #walked
        #over
        #ignored
        _ => #walk,
    }
}

fn pattern(facts: &Facts<'_>, (place, event): (u16, Handle<Event>)) -> TokenStream {
    let (place, event) = (number(place.into()), facts.event(event));
    quote!((#place, Event::#event))
}

/// Writes a step as an expression of the place that it leads to, unless it returns.
fn body(facts: &Facts<'_>, step: &Step) -> TokenStream {
    let deeds = step.deeds.iter().map(|&it| deed(facts, it));
    let then = match &step.then {
        Then::Ask(asked, both) => {
            let guard = ask_host(facts, *asked);
            let [holds, fails] = both.as_ref().each_ref().map(|step| body(facts, step));
            quote!(if #guard { #holds } else { #fails })
        }
        Then::Ignored => quote!(return Ok(runtime::Outcome::Ignored)),
        Then::Rests(place) => {
            let place = number((*place).into());
            quote!(#place)
        }
        Then::Ends(place) => {
            let place = number((*place).into());
            quote! {
                self.position.move_to(#place);
                return Ok(runtime::Outcome::Ended)
            }
        }
    };
    quote!(#(#deeds)* #then)
}

fn deed(facts: &Facts<'_>, deed: Deed) -> TokenStream {
    match deed {
        Deed::Microstep => quote!(observer.microstep();),
        Deed::Transition(id) => {
            let id = number(id.index());
            quote!(observer.transition(runtime::TransitionId::new(#id));)
        }
        Deed::Exited(id) => {
            let id = number(id.index());
            quote!(observer.exited(runtime::StateId::new(#id));)
        }
        Deed::Entered(id) => {
            let id = number(id.index());
            quote!(observer.entered(runtime::StateId::new(#id));)
        }
        Deed::Raised(id) => {
            let id = number(id.index());
            quote!(observer.raised(runtime::EventId::new(#id));)
        }
        Deed::Action(id) => {
            let action = Handle::at(id.index());
            // What is raised is taken in the same step, which is written out; nothing waits in a queue.
            if let ActionKind::Raise(_) = facts.machine.actions.at(action).kind {
                let id = number(id.index());
                return quote!(observer.action(runtime::ActionId::new(#id)););
            }
            actions::calls(facts, &[action])
        }
    }
}

/// Returns whether a step takes the event, if that is known without asking.
fn is_taken(step: &Step) -> Option<bool> {
    match (step.deeds.first(), &step.then) {
        (Some(_), _) => Some(true),
        (None, Then::Ignored) => Some(false),
        // Its transitions do nothing; those of a microstep are deeds.
        (None, Then::Rests(_) | Then::Ends(_)) => Some(true),
        (None, Then::Ask(..)) => None,
    }
}

/// Writes whether a step takes the event, as an expression that asks guards.
fn answer(facts: &Facts<'_>, step: &Step) -> TokenStream {
    if let Some(is_taken) = is_taken(step) {
        return quote!(#is_taken);
    }
    let Then::Ask(asked, both) = &step.then else {
        return quote!(false);
    };
    let guard = ask_host(facts, *asked);
    let [holds, fails] = both.as_ref().each_ref().map(|step| answer(facts, step));
    quote!(if #guard { #holds } else { #fails })
}
