//! Guards as Rust expressions.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::context::read;
use super::expression;
use super::facts::Facts;
use super::native;
use super::state::number;
use crate::arena::Handle;
use crate::ir::{Constant, Guard, Transition};

/// The guards that are too long to be written wherever they are asked: each stands once, as a function.
pub(super) struct Guards<'m> {
    long: Vec<&'m Guard>,
}

impl<'m> Guards<'m> {
    /// The guards of a machine.
    pub(super) fn new(facts: &Facts<'m>) -> Self {
        let mut long: Vec<&'m Guard> = Vec::new();
        for (_, transition) in facts.machine.transitions.iter() {
            if let Some(guard) = &transition.guard
                && !Facts::is_short(&guard.value)
                && !long.contains(&&guard.value)
            {
                long.push(&guard.value);
            }
        }
        Self { long }
    }

    /// A transition's guard as an expression that may use `observer`; `None` if it has none.
    pub(super) fn ask(
        &self,
        facts: &Facts<'m>,
        transition: Handle<Transition>,
        observer: &TokenStream,
    ) -> Option<TokenStream> {
        let guard = &facts
            .machine
            .transitions
            .at(transition)
            .guard
            .as_ref()?
            .value;
        match self.long.iter().position(|long| *long == guard) {
            Some(at) => {
                let name = format_ident!("guard_{at}");
                Some(quote!(self.#name(#observer)))
            }
            None => Some(holds(facts, guard)),
        }
    }

    /// The functions.
    pub(super) fn write(&self, facts: &Facts<'m>) -> TokenStream {
        let functions = self.long.iter().enumerate().map(|(at, guard)| {
            let name = format_ident!("guard_{at}");
            let body = holds(facts, guard);
            let observer = if expression::observes(&body) {
                quote!(observer)
            } else {
                quote!(_observer)
            };
            let configuration = configuration(facts);
            let text = super::docs::doc(&super::docs::wording(facts, guard));
            quote! {
                #text
                #[inline]
                fn #name<O: runtime::Observer>(&self, #observer: &mut O) -> bool {
                    #configuration
                    #body
                }
            }
        });
        quote!(#(#functions)*)
    }
}

/// What guards of a walked machine ask for states.
pub(super) fn configuration(facts: &Facts<'_>) -> Option<TokenStream> {
    let asks = facts.walked && expression::asks_for_states(facts.machine);
    asks.then(|| {
        quote! {
            let configuration = self.configuration;
            let _ = configuration;
        }
    })
}

/// The guard; questions are asked in the order of the text, and none behind the one that decides.
pub(super) fn holds(facts: &Facts<'_>, guard: &Guard) -> TokenStream {
    expression::holds(answer(facts, guard))
}

/// The guard, with `?` behind what may fail.
fn answer(facts: &Facts<'_>, guard: &Guard) -> TokenStream {
    match guard {
        Guard::Ask(host) => facts.ask(*host),
        Guard::Compare {
            field,
            operator,
            constants,
        } => {
            if let Some(native) = native::compare(facts, *field, *operator, constants) {
                return native;
            }
            let value = read::value(facts, *field);
            let id = number(field.index());
            let operator = format_ident!("{operator:?}");
            let constants = constants.iter().map(constant);
            quote! {
                runtime::compare(
                    #value,
                    runtime::FieldId::new(#id),
                    runtime::Operator::#operator,
                    &[#(#constants),*],
                    observer,
                )
            }
        }
        Guard::All(parts) if parts.is_empty() => quote!(true),
        Guard::Any(parts) if parts.is_empty() => quote!(false),
        Guard::All(parts) => {
            let parts = parts.iter().map(|part| operand(facts, part));
            quote!(#(#parts)&&*)
        }
        Guard::Any(parts) => {
            let parts = parts.iter().map(|part| operand(facts, part));
            quote!(#(#parts)||*)
        }
        Guard::Not(inner) => {
            let inner = operand(facts, inner);
            if expression::is_comparison(&inner) {
                quote!(!(#inner))
            } else {
                quote!(!#inner)
            }
        }
        Guard::Expression(inner) => expression::truth(facts, inner),
    }
}

/// The guard as part of another.
fn operand(facts: &Facts<'_>, guard: &Guard) -> TokenStream {
    let inner = answer(facts, guard);
    match guard {
        Guard::All(parts) | Guard::Any(parts) if parts.len() > 1 => quote!((#inner)),
        _ => inner,
    }
}

/// A constant as a `Value`.
pub(super) fn constant(constant: &Constant) -> TokenStream {
    match constant {
        Constant::Null => quote!(runtime::Value::Null),
        Constant::Bool(value) => quote!(runtime::Value::Bool(#value)),
        Constant::Int(value) => {
            let minus = (*value < 0).then(|| quote!(-));
            let value = Literal::u128_unsuffixed(value.unsigned_abs());
            quote!(runtime::Value::Int(#minus #value))
        }
        Constant::Float(value) if value.is_finite() => {
            let minus = value.is_sign_negative().then(|| quote!(-));
            let value = Literal::f64_unsuffixed(value.abs());
            quote!(runtime::Value::Float(#minus #value))
        }
        Constant::Float(_) => quote!(runtime::Value::Opaque),
        Constant::Text(text) => quote!(runtime::Value::Text(#text)),
    }
}
