//! Actions as Rust: calls of the host, raised events, and assignments with what takes them back.
//!
//! A step that fails leaves the context as it was: what each assignment replaces is kept until the step is over, and
//! nothing else, so that a step costs the same in a small context and in a large one.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::expr::read::context_argument;
use super::expr::{self, native, read};
use super::facts::{Facts, is_effect};
use super::layout::{Data, integer_type, limits};
use super::tokens::{contains_token, doc, number, owned};
use crate::arena::Handle;
use crate::ir::{
    Action, ActionKind, Assign, BinaryOperator, Constant, Event, EventKind, Expression,
    ExpressionKind, Field, State,
};
use crate::pass::shape::{Member, Shape};

/// Carries out actions, in order. One that raises an event isn't the host's.
pub(super) fn calls(facts: &Facts<'_>, actions: &[Handle<Action>]) -> TokenStream {
    let calls = actions.iter().map(|&action| {
        let id = number(action.index());
        let observed = quote!(observer.action(runtime::ActionId::new(#id)););
        match &facts.machine.actions.at(action).kind {
            ActionKind::Raise(event) => {
                let raise = raise(facts, *event);
                quote!(#observed #raise)
            }
            ActionKind::Schedule(timer, delay) => {
                let (timer, delay) = (facts.timer(*timer), Literal::u64_unsuffixed(*delay));
                quote!(self.host.schedule(Timer::#timer, #delay); #observed)
            }
            ActionKind::Cancel(timer) => {
                let timer = facts.timer(*timer);
                quote!(self.host.cancel(Timer::#timer); #observed)
            }
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => {
                let holds = expr::holds(facts, guard);
                let (then, otherwise) = (calls(facts, then), calls(facts, otherwise));
                if then.is_empty() && otherwise.is_empty() {
                    // The condition is asked all the same, as an observer sees.
                    return quote!(let _ = #holds; #observed);
                }
                let otherwise = (!otherwise.is_empty()).then(|| quote!(else { #otherwise }));
                quote! {
                    let holds = #holds;
                    #observed
                    if holds { #then } #otherwise
                }
            }
            ActionKind::Assign(assigns) => assign(facts, action, assigns),
            ActionKind::Host if is_effect(facts.machine.actions.at(action)) => {
                let variant = facts.action(action);
                let context = facts
                    .data
                    .is_some()
                    .then(|| quote!(context: self.context.clone(),));
                quote! {
                    self.effects.push(|key| Due { key, effect: Effect::#variant, #context });
                    #observed
                }
            }
            ActionKind::Host | ActionKind::Fallible => host_call(facts, action, &observed),
        }
    });
    quote!(#(#calls)*)
}

/// Calls the host.
///
/// Where an action can fail, the step lists what the host has done before it, and returns there: `fail` of the machine or of
/// its `Acts` makes the error.
fn host_call(facts: &Facts<'_>, action: Handle<Action>, observed: &TokenStream) -> TokenStream {
    let name = Ident::new(facts.names.action(action), Span::call_site());
    let context = context_argument(facts);
    if !facts.fails {
        return quote!(self.host.#name(#context); #observed);
    }
    let variant = facts.action(action);
    let call = match facts.machine.actions.at(action).kind {
        ActionKind::Fallible => quote! {
            if let Err(cause) = self.host.#name(#context) {
                return Err(self.fail(Action::#variant, cause));
            }
        },
        _ => quote!(self.host.#name(#context);),
    };
    quote!(#call self.done.push(Action::#variant); #observed)
}

/// Assigns fields: all values are found first. Where one has none, the rest of the block is skipped.
fn assign(facts: &Facts<'_>, action: Handle<Action>, assigns: &[Assign]) -> TokenStream {
    let id = number(action.index());
    let values = assigns.iter().map(|row| assigned_value(facts, row));
    let places = assigns.iter().enumerate();
    let places = places.map(|(at, row)| assign_field(facts, row, &format_ident!("value_{at}")));
    let names = (0..assigns.len()).map(|at| format_ident!("value_{at}"));
    let values = quote!((#(#values,)*));
    let may_fail = contains_token(
        &values,
        &|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '?'),
    );
    if !may_fail {
        return quote! {
            let (#(#names,)*) = #values;
            #(#places)*
            observer.action(runtime::ActionId::new(#id));
        };
    }
    let mut events = facts.machine.events.iter();
    let failed = match events.find(|(_, event)| event.kind == EventKind::Fault) {
        Some((event, _)) => {
            let raise = raise(facts, event);
            quote!(#raise return Ok(());)
        }
        None => quote!(return Err(runtime::StepError::NoValue(runtime::ActionId::new(#id)));),
    };
    quote! {
        let values = (|| -> Result<_, runtime::Fault> { Ok(#values) })();
        let Ok((#(#names,)*)) = values else {
            #failed
        };
        #(#places)*
        observer.action(runtime::ActionId::new(#id));
    }
}

pub(super) fn raise(facts: &Facts<'_>, event: Handle<Event>) -> TokenStream {
    if facts.walked {
        let id = number(event.index());
        return quote! {
            self.queue.push(runtime::EventId::new(#id));
            observer.raised(runtime::EventId::new(#id));
        };
    }
    let trigger = facts.trigger_type();
    let variant = facts.event(event);
    let id = number(event.index());
    quote! {
        self.queue.push(#trigger::#variant);
        observer.raised(runtime::EventId::new(#id));
    }
}

/// Raises the event that says that the state around a final one is done.
pub(super) fn done(facts: &Facts<'_>, state: Handle<State>) -> Option<TokenStream> {
    facts.completes(state).map(|event| raise(facts, event))
}

/// The location that an assignment writes.
struct Target<'d> {
    /// The path of the field of a struct in which it lies.
    path: String,
    member: &'d Member,
    /// The keys that lead on inside of data without a type.
    keys: Vec<&'d str>,
}

fn target<'d>(facts: &'d Facts<'_>, data: &'d Data, field: Handle<Field>) -> Option<Target<'d>> {
    let path = &facts.machine.fields.at(field).path;
    let (found, count) = data.layout.find(path);
    let member = found.last().copied()?;
    let keys: Vec<&str> = path.split('.').collect();
    Some(Target {
        path: keys.get(..count)?.join("."),
        member,
        keys: keys.get(count..)?.to_vec(),
    })
}

/// Writes the value of an assignment, as part of a closure that returns a fault where there is none.
pub(super) fn assigned_value(facts: &Facts<'_>, assign: &Assign) -> TokenStream {
    let found = facts.data.as_ref();
    let found = found.and_then(|data| Some((data, target(facts, data, assign.field)?)));
    let Some((data, target)) = found else {
        let value = expr::value(facts, &assign.value);
        return quote!((#value).to_datum()?);
    };
    if !target.keys.is_empty() {
        let value = expr::value(facts, &assign.value);
        return quote!((#value).to_datum()?);
    }
    let value = typed_value(facts, data, &target, &assign.value);
    if target.member.optional {
        quote!(Some(#value))
    } else {
        value
    }
}

/// Writes a value as the type of its field has it.
fn typed_value(
    facts: &Facts<'_>,
    data: &Data,
    target: &Target<'_>,
    value: &Expression,
) -> TokenStream {
    let shape = &target.member.shape;
    let (shape, is_nullable) = match shape {
        Shape::Nullable(inner) => (inner.as_ref(), true),
        shape => (shape, false),
    };
    if is_nullable && value.kind == ExpressionKind::Constant(Constant::Null) {
        return quote!(None);
    }
    if let Some(native) = native_value(facts, data, target, shape, value) {
        return if is_nullable {
            quote!(Some(#native))
        } else {
            native
        };
    }
    let kind = data.rust(&target.path, &target.member.shape, false);
    let value = expr::value(facts, value);
    quote!(<#kind as runtime::generated::Plain>::from_value(#value)?)
}

/// Writes a value that needs no conversion, or an integer that does.
fn native_value(
    facts: &Facts<'_>,
    data: &Data,
    target: &Target<'_>,
    shape: &Shape,
    value: &Expression,
) -> Option<TokenStream> {
    match (shape, &value.kind) {
        (Shape::Enum(texts), ExpressionKind::Constant(Constant::Text(text))) => {
            data.variant(&target.path, texts, text)
        }
        (Shape::Text, ExpressionKind::Constant(Constant::Text(text))) => Some(owned(text)),
        (Shape::Bool, ExpressionKind::Constant(Constant::Bool(value))) => Some(quote!(#value)),
        (Shape::Int(range), _) => {
            let name = integer_type(*range);
            let code = native::computed(facts, unchecked(value, name))?;
            match (name, &value.kind) {
                ("i64", _) | (_, ExpressionKind::Constant(_)) => Some(code),
                _ => {
                    let name = format_ident!("{name}");
                    Some(quote!(runtime::generated::fit::<#name>(#code)?))
                }
            }
        }
        _ => None,
    }
}

/// Strips the checks from a value that its type makes anyway.
fn unchecked<'e>(value: &'e Expression, name: &str) -> &'e Expression {
    let limits = limits(name);
    let mut value = value;
    while let ExpressionKind::Binary(operator, operands) = &value.kind {
        let [inner, bound] = operands.as_ref();
        let ExpressionKind::Constant(Constant::Int(bound)) = bound.kind else {
            break;
        };
        let is_limit = match operator {
            BinaryOperator::AtLeast => bound == limits.least,
            // What is computed is no greater anyway.
            BinaryOperator::AtMost => bound == limits.most || bound >= i128::from(i64::MAX),
            _ => false,
        };
        if !is_limit {
            break;
        }
        value = inner;
    }
    value
}

/// Writes the value that was found, and keeps what was there.
pub(super) fn assign_field(facts: &Facts<'_>, assign: &Assign, found: &Ident) -> TokenStream {
    let data = facts.data.as_ref();
    let Some((data, target)) =
        data.and_then(|data| Some((data, target(facts, data, assign.field)?)))
    else {
        let path = &facts.machine.fields.at(assign.field).path;
        return quote!(self.host.assign(#path, #found.value()););
    };
    let place = read::context_place(data, &target.path);
    let old = undo_variant(assign.field);
    if target.keys.is_empty() {
        return quote! {
            let old = ::core::mem::replace(&mut #place, #found);
            self.undo.push(Old::#old(old));
        };
    }
    let keys = &target.keys;
    quote! {
        let (keys, old) = runtime::generated::store(&mut #place, &[#(#keys),*], #found);
        self.undo.push(Old::#old(keys, old));
    }
}

fn undo_variant(field: Handle<Field>) -> Ident {
    format_ident!("Field{}", field.index())
}

/// Returns the fields that actions assign.
fn assigned_fields(facts: &Facts<'_>) -> BTreeSet<Handle<Field>> {
    let mut fields = BTreeSet::new();
    for (_, action) in facts.machine.actions.iter() {
        if let ActionKind::Assign(assigns) = &action.kind {
            fields.extend(assigns.iter().map(|assign| assign.field));
        }
    }
    fields
}

/// Writes `Old` and `take_back`, for what is assigned and what is merged.
pub(super) fn undo(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref().filter(|_| facts.undoes())?;
    let mut variants = TokenStream::new();
    let mut arms = TokenStream::new();
    for field in assigned_fields(facts) {
        let Some(target) = target(facts, data, field) else {
            continue;
        };
        let name = undo_variant(field);
        let place = read::context_place(data, &target.path);
        // The place as the function below has it.
        let place: TokenStream = place.into_iter().skip(2).collect();
        if target.keys.is_empty() {
            let mut kind = data.rust(&target.path, &target.member.shape, false);
            if target.member.optional {
                kind = quote!(Option<#kind>);
            }
            variants.extend(quote!(#name(#kind),));
            arms.extend(quote!(Old::#name(old) => #place = old,));
        } else {
            let keys = &target.keys;
            variants.extend(quote!(#name(usize, Option<runtime::Datum>),));
            arms.extend(quote! {
                Old::#name(keys, old) => {
                    runtime::generated::restore(&mut #place, &[#(#keys),*], keys, old);
                }
            });
        }
    }
    for (at, member) in facts.merge_targets() {
        let (name, place) = (merged_variant(at), data.field(&member.name));
        let mut kind = data.rust(&member.name, &member.shape, false);
        if member.optional {
            kind = quote!(Option<#kind>);
        }
        variants.extend(quote!(#name(#kind),));
        arms.extend(quote!(Old::#name(old) => context.#place = old,));
    }
    let docs = if facts.merges() {
        doc(
            "The value of a field before it was assigned, or before an event's data was merged into it.",
        )
    } else {
        doc("The value of a field before it was assigned.")
    };
    Some(quote! {
        #docs
        #[derive(Clone, Debug)]
        enum Old {
            #variants
        }

        /// Takes back all changes, the last one first.
        fn take_back(context: &mut Context, undo: &mut Vec<Old>) {
            while let Some(old) = undo.pop() {
                match old {
                    #arms
                }
            }
        }
    })
}

/// Returns the variant of `Old` for a field that event data is merged into.
pub(super) fn merged_variant(at: usize) -> Ident {
    format_ident!("Merged{at}")
}
