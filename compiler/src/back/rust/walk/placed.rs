//! Steps that are written out by place: a `match` over where the machine is and what comes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use statemark_runtime::StateId;
use statemark_runtime::generated::Notice;

use crate::arena::Handle;
use crate::back::rust::actions;
use crate::back::rust::expr::read::ask_host;
use crate::back::rust::facts::Facts;
use crate::back::rust::machine::{done_list, own_error};
use crate::back::rust::places::{Arrival, Places, Step, Then};
use crate::back::rust::tokens::number;
use crate::ir::{Action, ActionKind, Event};

/// Writes the type of a machine's position, and of `PLACES`.
pub(super) fn types(places: &Places) -> [TokenStream; 2] {
    let histories = number(places.histories.len());
    [
        quote!(runtime::generated::Position<#histories>),
        quote!(runtime::generated::Places<#histories>),
    ]
}

/// Writes `PLACES`.
pub(super) fn rows(places: &Places) -> TokenStream {
    let sets = |sets: &[Vec<StateId>]| {
        let sets = sets.iter().map(|states| {
            let states = states.iter().map(|state| number(state.index()));
            quote!(&runtime::generated::states([#(#states),*]))
        });
        quote!(&[#(#sets),*])
    };
    let leaves = sets(&places.leaves);
    let histories = places.histories.iter().map(|(history, values)| {
        let (history, values) = (number(history.index()), sets(values));
        quote!((runtime::StateId::new(#history), #values))
    });
    let [_, kind] = types(places);
    quote! {
        /// The configurations that the machine can come to, and what its histories can record.
        static PLACES: #kind = runtime::generated::Places {
            leaves: #leaves,
            histories: [#(#histories),*],
        };
    }
}

/// Writes the step of an event.
pub(super) fn step(facts: &Facts<'_>, places: &Places) -> TokenStream {
    let arms = arms(facts, places, |step| Some(body(facts, step)));
    let walk = quote!(return self.step(event.id(), observer));
    let over = own_error(facts, &quote!(runtime::StepError::Ended));
    let [_, _, clear] = done_list(facts);
    let rest = rest(
        facts,
        places,
        &walk,
        [
            &quote!(return Err(#over)),
            &quote!(return Ok(runtime::Outcome::Ignored)),
        ],
    );
    // Short names, so that most notices of a step fit into a line.
    let mut kinds = BTreeSet::new();
    let steps = places.steps.values().flatten();
    steps.for_each(|step| collect_kinds(facts, step, &mut kinds));
    let kinds = kinds.iter().map(|kind| match notice_name(facts, kind) {
        name if name == *kind => quote!(#kind),
        name => quote!(#kind as #name),
    });
    let used = quote! {
        use runtime::generated::Notice::{#(#kinds),*};
        use runtime::generated::notify;
    };
    quote! {
        #used
        #clear
        match (self.position.place_number(), event) {
            #arms
            #rest
        }
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
        is_taken(step)
            .is_none()
            .then(|| answer(facts, step, walked))
    });
    let rest = rest(facts, places, walked, [&quote!(false), &quote!(false)]);
    quote! {
        match (self.position.place_number(), event) {
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

/// Writes the arms after those.
/// They are for steps that are walked, ended places, places where nothing is done, and elsewhere.
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
    let active = places.leaves.len() - places.ended.iter().filter(|ended| **ended).count();
    let count = number(places.leaves.len());
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
    let kind = facts.event_name();
    quote!((#place, #kind::#event))
}

/// Writes a step, which returns unless the machine rests after it.
fn body(facts: &Facts<'_>, step: &Step) -> TokenStream {
    let deeds = deeds(facts, &step.deeds);
    let then = match &step.then {
        Then::Ask(asked, both) => {
            let guard = ask_host(facts, *asked);
            let [holds, fails] = both.as_ref().each_ref().map(|step| body(facts, step));
            quote!(if #guard { #holds } else { #fails })
        }
        Then::Recall(history, steps) => recall(
            *history,
            steps,
            |step| body(facts, step),
            &quote!(return self.step(event.id(), observer)),
        ),
        Then::Ignored => quote!(return Ok(runtime::Outcome::Ignored)),
        Then::Rests(arrival) => moved(arrival),
        Then::Ends(arrival) => {
            let moved = moved(arrival);
            quote!(#moved return Ok(runtime::Outcome::Ended))
        }
    };
    quote!(#deeds #then)
}

/// Writes the choice among steps by what a history has recorded; equal ones share an arm.
fn recall(
    history: usize,
    steps: &[Step],
    body: impl Fn(&Step) -> TokenStream,
    walk: &TokenStream,
) -> TokenStream {
    let mut arms: Vec<(&Step, Vec<TokenStream>)> = Vec::new();
    for (value, step) in steps.iter().enumerate() {
        let value = number(value);
        match arms.iter_mut().find(|(other, _)| *other == step) {
            Some((_, values)) => values.push(quote!(#value)),
            None => arms.push((step, vec![quote!(#value)])),
        }
    }
    let arms = arms.iter().map(|(step, values)| {
        let body = body(step);
        quote!(#(#values)|* => { #body })
    });
    let history = number(history);
    quote! {
        match self.position.recorded[#history] {
            #(#arms)*
            _ => #walk,
        }
    }
}

/// Writes the move to where a step leads.
fn moved(arrival: &Arrival) -> TokenStream {
    let place = number(arrival.place.into());
    let recorded = arrival.recorded.iter().map(|&(history, value)| {
        let (history, value) = (number(history), number(value.into()));
        quote!(self.position.recorded[#history] = #value;)
    });
    quote!(#(#recorded)* self.position.move_to(#place);)
}

/// Writes what a step does: calls of the host, and between them notices for the observer.
fn deeds(facts: &Facts<'_>, deeds: &[Notice]) -> TokenStream {
    let is_notice = |deed: &Notice| host_action(facts, deed).is_none();
    let parts = deeds.chunk_by(|one, next| is_notice(one) && is_notice(next));
    let parts = parts.map(
        |part| match part.first().and_then(|deed| host_action(facts, deed)) {
            Some(action) => actions::calls(facts, &[action]),
            None => {
                let notices = part.iter().map(|notice| {
                    let (kind, id) = parts_of(*notice);
                    let kind = notice_name(facts, &kind);
                    let id = id.map(|id| number(id.into()));
                    let id = id.map(|id| quote!((#id)));
                    quote!(#kind #id)
                });
                quote!(notify(observer, &[#(#notices),*]);)
            }
        },
    );
    parts.collect()
}

/// Returns the action of a deed that calls the host.
///
/// What is raised is taken in the same step, which is written out; nothing waits in a queue.
fn host_action(facts: &Facts<'_>, deed: &Notice) -> Option<Handle<Action>> {
    let Notice::Action(id) = deed else {
        return None;
    };
    let action = Handle::at(usize::from(*id));
    let is_raised = matches!(facts.machine.actions.at(action).kind, ActionKind::Raise(_));
    (!is_raised).then_some(action)
}

/// Returns the name of a notice, and its number.
fn parts_of(notice: Notice) -> (Ident, Option<u16>) {
    let (kind, id) = match notice {
        Notice::Microstep => ("Microstep", None),
        Notice::Transition(id) => ("Transition", Some(id)),
        Notice::Exited(id) => ("Exited", Some(id)),
        Notice::Entered(id) => ("Entered", Some(id)),
        Notice::Action(id) => ("Action", Some(id)),
        Notice::Raised(id) => ("Raised", Some(id)),
    };
    (format_ident!("{kind}"), id)
}

/// Returns the name under which a kind of notices is used; `Action` may be the module's own.
fn notice_name(facts: &Facts<'_>, kind: &Ident) -> Ident {
    if facts.fails && kind == "Action" {
        return format_ident!("Acted");
    }
    kind.clone()
}

/// Collects the names of all notices of a step.
fn collect_kinds(facts: &Facts<'_>, step: &Step, kinds: &mut BTreeSet<Ident>) {
    let notices = step.deeds.iter();
    let notices = notices.filter(|deed| host_action(facts, deed).is_none());
    kinds.extend(notices.map(|notice| parts_of(*notice).0));
    let further: &[Step] = match &step.then {
        Then::Ask(_, both) => both.as_slice(),
        Then::Recall(_, steps) => steps,
        Then::Ignored | Then::Rests(_) | Then::Ends(_) => &[],
    };
    for step in further {
        collect_kinds(facts, step, kinds);
    }
}

/// Returns whether a step takes the event, if that is known without asking.
fn is_taken(step: &Step) -> Option<bool> {
    match (step.deeds.first(), &step.then) {
        (Some(_), _) => Some(true),
        (None, Then::Ignored) => Some(false),
        // Its transitions do nothing; those of a microstep are deeds.
        (None, Then::Rests(_) | Then::Ends(_)) => Some(true),
        (None, Then::Ask(_, both)) => agree(both.as_slice()),
        (None, Then::Recall(_, steps)) => agree(steps),
    }
}

/// Returns whether steps take the event, if all of them do or none does.
fn agree(steps: &[Step]) -> Option<bool> {
    let (first, others) = steps.split_first()?;
    let first = is_taken(first)?;
    let mut others = others.iter();
    others
        .all(|step| is_taken(step) == Some(first))
        .then_some(first)
}

/// Writes whether a step takes the event, as an expression that asks guards.
fn answer(facts: &Facts<'_>, step: &Step, walked: &TokenStream) -> TokenStream {
    if let Some(is_taken) = is_taken(step) {
        return quote!(#is_taken);
    }
    match &step.then {
        Then::Ask(asked, both) => {
            let guard = ask_host(facts, *asked);
            let both = both.as_ref().each_ref();
            match both.map(is_taken) {
                [Some(true), Some(false)] => return guard,
                [Some(false), Some(true)] => return quote!(!#guard),
                _ => {}
            }
            let [holds, fails] = both.map(|step| answer(facts, step, walked));
            quote!(if #guard { #holds } else { #fails })
        }
        Then::Recall(history, steps) => {
            recall(*history, steps, |step| answer(facts, step, walked), walked)
        }
        Then::Ignored | Then::Rests(_) | Then::Ends(_) => quote!(false),
    }
}
