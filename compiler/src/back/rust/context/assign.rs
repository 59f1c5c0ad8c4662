//! How assignments write the context, and how what they wrote is taken back.
//!
//! A step that fails leaves the context as it was: what each assignment replaces is kept until the step is over, and
//! nothing else, so that a step costs the same in a small context and in a large one.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::read::code;
use super::value::owned;
use super::{Data, integer, limits, payload};
use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::{docs, expression, native};
use crate::ir::{ActionKind, Assign, BinaryOperator, Constant, Expression, ExpressionKind, Field};
use crate::pass::shape::{Member, Shape};

/// Where an assignment writes.
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

/// The value of an assignment, in a closure that gives a fault where there is none.
pub(in crate::back::rust) fn kept(facts: &Facts<'_>, assign: &Assign) -> TokenStream {
    let found = facts.data.as_ref();
    let found = found.and_then(|data| Some((data, target(facts, data, assign.field)?)));
    let Some((data, target)) = found else {
        let value = expression::value(facts, &assign.value);
        return quote!((#value).to_datum()?);
    };
    if !target.keys.is_empty() {
        let value = expression::value(facts, &assign.value);
        return quote!((#value).to_datum()?);
    }
    let value = typed(facts, data, &target, &assign.value);
    if target.member.optional {
        quote!(Some(#value))
    } else {
        value
    }
}

/// The value as the field's type has it.
fn typed(facts: &Facts<'_>, data: &Data, target: &Target<'_>, value: &Expression) -> TokenStream {
    let shape = &target.member.shape;
    let (shape, is_nullable) = match shape {
        Shape::Nullable(inner) => (inner.as_ref(), true),
        shape => (shape, false),
    };
    if is_nullable && value.kind == ExpressionKind::Constant(Constant::Null) {
        return quote!(None);
    }
    if let Some(native) = simple(facts, data, target, shape, value) {
        return if is_nullable {
            quote!(Some(#native))
        } else {
            native
        };
    }
    let kind = data.rust(&target.path, &target.member.shape, false);
    let value = expression::value(facts, value);
    quote!(<#kind as runtime::generated::Plain>::from_value(#value)?)
}

/// A value that needs no conversion, or is an integer that does.
fn simple(
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
            let name = integer(*range);
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

/// The value without the checks that its type makes anyway.
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
pub(in crate::back::rust) fn write(
    facts: &Facts<'_>,
    assign: &Assign,
    found: &Ident,
) -> TokenStream {
    let data = facts.data.as_ref();
    let Some((data, target)) =
        data.and_then(|data| Some((data, target(facts, data, assign.field)?)))
    else {
        let path = &facts.machine.fields.at(assign.field).path;
        return quote!(self.host.assign(#path, #found.value()););
    };
    let place = code(data, &target.path);
    let old = variant(assign.field);
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

fn variant(field: Handle<Field>) -> Ident {
    format_ident!("Field{}", field.index())
}

/// The fields that actions assign.
fn assigned(facts: &Facts<'_>) -> BTreeSet<Handle<Field>> {
    let mut fields = BTreeSet::new();
    for (_, action) in facts.machine.actions.iter() {
        if let ActionKind::Assign(assigns) = &action.kind {
            fields.extend(assigns.iter().map(|assign| assign.field));
        }
    }
    fields
}

/// `Old` and `take_back`, for what is assigned and what is merged.
pub(in crate::back::rust) fn undo(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref().filter(|_| facts.undoes())?;
    let mut variants = TokenStream::new();
    let mut arms = TokenStream::new();
    for field in assigned(facts) {
        let Some(target) = target(facts, data, field) else {
            continue;
        };
        let name = variant(field);
        let place = code(data, &target.path);
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
    for (at, member) in payload::targets(facts) {
        let (name, place) = (payload::variant(at), data.field(&member.name));
        let mut kind = data.rust(&member.name, &member.shape, false);
        if member.optional {
            kind = quote!(Option<#kind>);
        }
        variants.extend(quote!(#name(#kind),));
        arms.extend(quote!(Old::#name(old) => context.#place = old,));
    }
    let told = if facts.merges() {
        docs::doc(
            "What was in a field before it was assigned, or before an event's data was merged into it.",
        )
    } else {
        docs::doc("What was in a field before it was assigned.")
    };
    Some(quote! {
        #told
        #[derive(Clone, Debug)]
        enum Old {
            #variants
        }

        /// Puts everything back, the last first.
        fn take_back(context: &mut Context, undo: &mut Vec<Old>) {
            while let Some(old) = undo.pop() {
                match old {
                    #arms
                }
            }
        }
    })
}
