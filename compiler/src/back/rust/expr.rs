//! Guards and expressions as Rust: they read fields, and fail and note as the programs of tables do.
//!
//! A part that may fail says so with `?`; [`wrap_faults`] puts what has such parts into a closure, so that a guard that
//! fails is false as a whole. Operands are evaluated in the order of the text. What `native` can write without the
//! runtime's operators, because both sides are known to be there and to be of one type, it writes.

pub(super) mod native;
pub(super) mod read;

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

use self::read::ask_host;
use super::docs;
use super::facts::Facts;
use super::tokens::{
    bare, constant, contains_token, doc, is_comparison, number, observes, operator_name,
};
use crate::arena::Handle;
use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Field, Machine, Operator, State,
    Transition, UnaryOperator,
};

/// The guards that are too long to be written in place: each is a function.
pub(super) struct Guards<'m> {
    long: Vec<&'m Expression>,
}

impl<'m> Guards<'m> {
    /// Collects the guards of a machine.
    pub(super) fn new(facts: &Facts<'m>) -> Self {
        let mut long: Vec<&'m Expression> = Vec::new();
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

    /// Writes a transition's guard as an expression that may use `observer`; `None` if it has none.
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

    /// Writes the functions.
    pub(super) fn write(&self, facts: &Facts<'m>) -> TokenStream {
        let functions = self.long.iter().enumerate().map(|(at, guard)| {
            let name = format_ident!("guard_{at}");
            let body = holds(facts, guard);
            let observer = if observes(&body) {
                quote!(observer)
            } else {
                quote!(_observer)
            };
            let configuration = configuration(facts);
            let text = doc(&docs::guard_line(facts, guard));
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

/// Binds the configuration for guards of a walked machine that ask for states.
pub(super) fn configuration(facts: &Facts<'_>) -> Option<TokenStream> {
    let asks = facts.walked && asks_for_states(facts.machine);
    asks.then(|| {
        quote! {
            let configuration = self.configuration;
            let _ = configuration;
        }
    })
}

/// Writes a guard as an expression of type `bool`.
///
/// Questions are asked in the order of the text, and none after the one that decides.
pub(super) fn holds(facts: &Facts<'_>, guard: &Expression) -> TokenStream {
    wrap_faults(truth(facts, guard))
}

/// Writes the truth of an expression, as an expression of type `bool`.
pub(super) fn truth(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    if let Some(native) = native::truth(facts, expression) {
        return native;
    }
    match &expression.kind {
        ExpressionKind::Constant(Constant::Bool(value)) => quote!(#value),
        ExpressionKind::Has(field) => read::has(facts, *field),
        ExpressionKind::InState(state) => in_state(facts, *state),
        ExpressionKind::Ask(host) => ask_host(facts, *host),
        ExpressionKind::Compare {
            field,
            operator,
            constants,
        } => compare(facts, *field, *operator, constants),
        ExpressionKind::Not(inner) => {
            let inner = bare(truth(facts, inner));
            if is_comparison(&inner) {
                quote!(!(#inner))
            } else {
                quote!(!#inner)
            }
        }
        ExpressionKind::And(parts) => {
            let parts = parts.iter().map(|part| truth(facts, part));
            quote!((#(#parts)&&*))
        }
        ExpressionKind::Or(parts) => {
            let parts = parts.iter().map(|part| truth(facts, part));
            quote!((#(#parts)||*))
        }
        ExpressionKind::Among(inner, constants) => {
            let inner = value(facts, inner);
            let constants = constants.iter().map(constant);
            quote!(runtime::generated::among(#inner, &[#(#constants),*]))
        }
        ExpressionKind::Binary(operator, operands) if !operator.is_arithmetic() => {
            let [left, right] = operands.as_ref();
            let left = value(facts, left);
            if let (BinaryOperator::In, Some(items)) = (operator, list_field(facts, right)) {
                return quote!(runtime::generated::within(#left, #items));
            }
            let right = value(facts, right);
            let operator = operator_name(*operator);
            quote!(runtime::BinaryOperator::#operator.test(#left, #right)?)
        }
        ExpressionKind::Constant(_)
        | ExpressionKind::Field(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::Binary(..) => {
            let value = value(facts, expression);
            quote!(runtime::generated::is_true(#value))
        }
    }
}

/// Writes a definition's comparison.
fn compare(
    facts: &Facts<'_>,
    field: Handle<Field>,
    operator: Operator,
    constants: &[Constant],
) -> TokenStream {
    if let Some(native) = native::compare(facts, field, operator, constants) {
        return native;
    }
    let value = read::value(facts, field);
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

/// Writes an expression as one of type `Value`.
pub(super) fn value(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    match &expression.kind {
        ExpressionKind::Constant(value) => constant(value),
        ExpressionKind::Field(field) => read::load(facts, *field),
        ExpressionKind::Unary(operator, inner) => {
            if let (UnaryOperator::Size, Some(items)) = (operator, list_field(facts, inner)) {
                return quote!(runtime::generated::length(#items));
            }
            let inner = value(facts, inner);
            let operator = format_ident!("{operator:?}");
            quote!(runtime::generated::operand(&runtime::UnaryOperator::#operator.apply(#inner)?))
        }
        ExpressionKind::Binary(operator, operands) if operator.is_arithmetic() => {
            if let Some(code) = native::computed(facts, expression) {
                return quote!(runtime::Value::Int(i128::from(#code)));
            }
            let [left, right] = operands.as_ref();
            let (left, right) = (value(facts, left), value(facts, right));
            let operator = operator_name(*operator);
            quote! {
                runtime::generated::operand(&runtime::BinaryOperator::#operator.apply(#left, #right)?)
            }
        }
        _ => {
            let truth = truth(facts, expression);
            quote!(runtime::Value::Bool(#truth))
        }
    }
}

/// Refers to the list that an expression names.
fn list_field(facts: &Facts<'_>, expression: &Expression) -> Option<TokenStream> {
    match expression.kind {
        ExpressionKind::Field(field) => read::list(facts, field),
        _ => None,
    }
}

/// Tests that a state is active.
fn in_state(facts: &Facts<'_>, state: Handle<State>) -> TokenStream {
    if facts.walked {
        let id = number(state.index());
        return quote!(ROWS.is_active(configuration, runtime::StateId::new(#id)));
    }
    let name = facts.variant(state);
    if facts.supers.contains(&state) {
        quote!(self.state.is_in(Super::#name))
    } else {
        quote!((self.state == State::#name))
    }
}

/// Returns true if any guard of the machine asks which states are active.
pub(super) fn asks_for_states(machine: &Machine) -> bool {
    let guards = machine
        .transitions
        .iter()
        .filter_map(|(_, row)| row.guard.as_ref());
    let mut asks = false;
    for guard in guards {
        guard.value.visit(&mut |part| {
            asks |= matches!(part.kind, ExpressionKind::InState(_));
        });
    }
    asks
}

/// Wraps an answer that may have `?` in it, so that it is a `bool`.
pub(super) fn wrap_faults(answer: TokenStream) -> TokenStream {
    let answer = bare(answer);
    if !contains_token(
        &answer,
        &|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '?'),
    ) {
        return answer;
    }
    let mut tokens: Vec<_> = answer.clone().into_iter().collect();
    let first = tokens
        .first()
        .is_some_and(|token| token.to_string() == "runtime");
    let is_operator = |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if "&|?!".contains(sign.as_char()));
    let failing = tokens.iter().filter(|token| is_operator(token)).count();
    let last = tokens.last().is_some_and(is_operator);
    if first && last && failing == 1 {
        // `Ok(a?)` is `a`.
        tokens.pop();
        let test: TokenStream = tokens.into_iter().collect();
        return quote!(runtime::generated::holds(|| #test));
    }
    quote!(runtime::generated::holds(|| Ok(#answer)))
}
