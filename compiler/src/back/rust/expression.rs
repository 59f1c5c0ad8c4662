//! Expressions as Rust: they read fields of the host, and fail and note as the programs of tables do.
//!
//! A part that may fail says so with `?`; [`holds`] puts what has such parts into a closure, so that a guard that fails is
//! false as a whole. Operands are evaluated in the order of the text.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::facts::Facts;
use super::guard::constant;
use super::state::number;
use crate::arena::Handle;
use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Field, Guard, Machine, State,
};

/// Whether a guard holds, as an expression of type `bool`, from one that may have `?` in it.
pub(super) fn holds(guard: &Guard, answer: TokenStream) -> TokenStream {
    if !guard_may_fail(guard) {
        answer
    } else if is_one_test(guard) {
        // `Ok(a?)` is `a`.
        let mut tokens: Vec<_> = answer.into_iter().collect();
        tokens.pop();
        let test: TokenStream = tokens.into_iter().collect();
        quote!(runtime::generated::holds(|| #test))
    } else {
        quote!(runtime::generated::holds(|| Ok(#answer)))
    }
}

/// Whether the guard is nothing but one comparison or test, which ends in `?`.
fn is_one_test(guard: &Guard) -> bool {
    match guard {
        Guard::Expression(expression) => {
            matches!(&expression.kind, ExpressionKind::Binary(operator, _) if !operator.is_arithmetic())
        }
        Guard::All(parts) | Guard::Any(parts) => {
            matches!(parts.as_slice(), [only] if is_one_test(only))
        }
        Guard::Ask(_) | Guard::Compare { .. } | Guard::Not(_) => false,
    }
}

/// Whether an expression is true, as an expression of type `bool`.
pub(super) fn truth(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    match &expression.kind {
        ExpressionKind::Constant(Constant::Bool(value)) => quote!(#value),
        ExpressionKind::Has(field) => {
            let path = path(facts, *field);
            quote!(!matches!(self.host.field(#path), runtime::Value::Absent))
        }
        ExpressionKind::InState(state) => in_state(facts, *state),
        ExpressionKind::Ask(host) => {
            let name = Ident::new(facts.names.guard(*host), Span::call_site());
            quote!(self.host.#name())
        }
        ExpressionKind::Not(inner) => {
            let inner = truth(facts, inner);
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
            let (left, right) = (value(facts, left), value(facts, right));
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

/// The expression as one of type `Value`.
pub(super) fn value(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    match &expression.kind {
        ExpressionKind::Constant(value) => constant(value),
        ExpressionKind::Field(field) => {
            let (path, id) = (path(facts, *field), number(field.index()));
            quote!(runtime::generated::load(self.host.field(#path), #id, observer))
        }
        ExpressionKind::Unary(operator, inner) => {
            let inner = value(facts, inner);
            let operator = format_ident!("{operator:?}");
            quote!(runtime::generated::operand(&runtime::UnaryOperator::#operator.apply(#inner)?))
        }
        ExpressionKind::Binary(operator, operands) if operator.is_arithmetic() => {
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

/// Whether a guard reads a field, and so may find it absent.
pub(super) fn reads(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Field(_)) || parts(expression).any(reads)
}

/// Whether an expression has an operation that may fail.
fn may_fail(expression: &Expression) -> bool {
    let own = matches!(
        expression.kind,
        ExpressionKind::Unary(..) | ExpressionKind::Binary(..)
    );
    own || parts(expression).any(may_fail)
}

fn guard_may_fail(guard: &Guard) -> bool {
    match guard {
        Guard::Ask(_) | Guard::Compare { .. } => false,
        Guard::All(parts) | Guard::Any(parts) => parts.iter().any(guard_may_fail),
        Guard::Not(inner) => guard_may_fail(inner),
        Guard::Expression(expression) => may_fail(expression),
    }
}

/// The value as one that is kept, in a closure that gives a fault for what has none.
pub(super) fn kept(facts: &Facts<'_>, expression: &Expression) -> TokenStream {
    let value = value(facts, expression);
    quote!((#value).to_datum()?)
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

fn name(operator: BinaryOperator) -> Ident {
    format_ident!("{operator:?}")
}

fn path<'m>(facts: &Facts<'m>, field: Handle<Field>) -> &'m str {
    &facts.machine.fields.at(field).path
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
