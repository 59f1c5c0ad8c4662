//! Expressions as Rust: they read fields of the context or of the host, and fail and note as the programs of tables do.
//!
//! A part that may fail says so with `?`; [`holds`] puts what has such parts into a closure, so that a guard that fails is
//! false as a whole. Operands are evaluated in the order of the text. What `native` can write without the runtime's
//! operators, because both sides are known to be there and to be of one type, it writes.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::context::read;
use super::facts::Facts;
use super::guard::constant;
use super::native;
use super::state::number;
use crate::arena::Handle;
use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Guard, Machine, State, UnaryOperator,
};

/// Whether a guard holds, as an expression of type `bool`, from one that may have `?` in it.
pub(super) fn holds(answer: TokenStream) -> TokenStream {
    let answer = bare(answer);
    if !has(
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

/// Whether code has a name or a sign of that kind in it, at any depth.
pub(super) fn has(code: &TokenStream, is_wanted: &impl Fn(&TokenTree) -> bool) -> bool {
    code.clone().into_iter().any(|token| match &token {
        TokenTree::Group(group) => has(&group.stream(), is_wanted),
        token => is_wanted(token),
    })
}

/// The code without parentheses around all of it.
fn bare(code: TokenStream) -> TokenStream {
    let mut tokens = code.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            bare(group.stream())
        }
        _ => code,
    }
}

/// Whether code has an operator of two sides in it that isn't within parentheses.
pub(super) fn is_comparison(code: &TokenStream) -> bool {
    let mut tokens = code.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Punct(sign) if "=<>&|".contains(sign.as_char())))
}

/// Whether code uses the observer.
pub(super) fn observes(code: &TokenStream) -> bool {
    has(
        code,
        &|token| matches!(token, TokenTree::Ident(name) if name == "observer"),
    )
}

/// Whether an expression is true, as an expression of type `bool`.
pub(super) fn truth(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    if let Some(native) = native::truth(facts, expression) {
        return native;
    }
    match &expression.kind {
        ExpressionKind::Constant(Constant::Bool(value)) => quote!(#value),
        ExpressionKind::Has(field) => read::has(facts, *field),
        ExpressionKind::InState(state) => in_state(facts, *state),
        ExpressionKind::Ask(host) => facts.ask(*host),
        ExpressionKind::Not(inner) => {
            let inner = bare(truth(facts, inner));
            quote!(!(#inner))
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
            if let (BinaryOperator::In, Some(items)) = (operator, listed(facts, right)) {
                return quote!(runtime::generated::within(#left, #items));
            }
            let right = value(facts, right);
            let operator = name(*operator);
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

/// The list that an expression names.
fn listed(facts: &Facts<'_>, expression: &Expression) -> Option<TokenStream> {
    match expression.kind {
        ExpressionKind::Field(field) => read::list(facts, field),
        _ => None,
    }
}

/// The expression as one of type `Value`.
pub(super) fn value(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    match &expression.kind {
        ExpressionKind::Constant(value) => constant(value),
        ExpressionKind::Field(field) => read::load(facts, *field),
        ExpressionKind::Unary(operator, inner) => {
            if let (UnaryOperator::Size, Some(items)) = (operator, listed(facts, inner)) {
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
            let operator = name(*operator);
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

/// Whether any guard of the machine asks which states are active.
pub(super) fn asks_for_states(machine: &Machine) -> bool {
    fn asks(expression: &Expression) -> bool {
        matches!(expression.kind, ExpressionKind::InState(_)) || parts(expression).any(asks)
    }
    fn guard_asks(guard: &Guard) -> bool {
        match guard {
            Guard::Ask(_) | Guard::Compare { .. } => false,
            Guard::All(parts) | Guard::Any(parts) => parts.iter().any(guard_asks),
            Guard::Not(inner) => guard_asks(inner),
            Guard::Expression(expression) => asks(expression),
        }
    }
    let mut guards = machine
        .transitions
        .iter()
        .map(|(_, row)| row.guard.as_ref());
    guards.any(|guard| guard.is_some_and(|guard| guard_asks(&guard.value)))
}

/// What an expression is made of.
fn parts(expression: &Expression) -> impl Iterator<Item = &Expression> {
    let (one, more): (Option<&Expression>, &[Expression]) = match &expression.kind {
        ExpressionKind::Not(inner)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Among(inner, _) => (Some(inner), &[]),
        ExpressionKind::And(parts) | ExpressionKind::Or(parts) => (None, parts),
        ExpressionKind::Binary(_, operands) => (None, operands.as_slice()),
        ExpressionKind::Constant(_)
        | ExpressionKind::Field(_)
        | ExpressionKind::Has(_)
        | ExpressionKind::InState(_)
        | ExpressionKind::Ask(_) => (None, &[]),
    };
    one.into_iter().chain(more)
}

pub(super) fn name(operator: BinaryOperator) -> Ident {
    format_ident!("{operator:?}")
}

/// Whether the state is active.
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
