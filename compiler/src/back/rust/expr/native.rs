//! Parts of expressions as plain Rust, without the runtime's operators.
//!
//! They are comparisons of fields that are always there, and integers that are computed.
//!
//! INVARIANT: what is written here means what the runtime's operators mean, to the fault; where it wouldn't, or where it
//! isn't known to, nothing is written, and the runtime is called.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::read;
use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::layout::{integer_type, is_inside};
use crate::back::rust::tokens::{integer, operator_name};
use crate::ir::{BinaryOperator, Constant, Expression, ExpressionKind, Field, Operator};
use crate::pass::shape::Shape;

/// A part whose type is known.
enum Part<'f> {
    /// A field that is always there: its place and what it holds.
    Field(Handle<Field>, TokenStream, &'f Shape),
    /// A literal.
    Constant(&'f Constant),
    /// A computed `i64`.
    Computed(TokenStream),
}

/// Writes the truth of an expression as a `bool`.
pub(in crate::back::rust) fn truth(
    facts: &Facts<'_>,
    expression: &Expression,
) -> Option<TokenStream> {
    match &expression.kind {
        ExpressionKind::Field(field) => match read::field_place(facts, *field)? {
            (place, Shape::Bool) => Some(place),
            _ => None,
        },
        ExpressionKind::Binary(operator, operands) => {
            let sign = sign(*operator)?;
            let [left, right] = operands.as_ref();
            let (left, right) = (part(facts, left)?, part(facts, right)?);
            compared(facts, &left, &sign, &right, is_equality(*operator))
        }
        ExpressionKind::Among(inner, constants) => match &inner.kind {
            ExpressionKind::Field(field) => among(facts, *field, constants),
            _ => None,
        },
        _ => None,
    }
}

/// Writes `field operator constants` as a `bool`.
pub(in crate::back::rust) fn compare(
    facts: &Facts<'_>,
    field: Handle<Field>,
    operator: Operator,
    constants: &[Constant],
) -> Option<TokenStream> {
    let sign = match operator {
        Operator::Eq => quote!(==),
        Operator::Neq => quote!(!=),
        Operator::Gt => quote!(>),
        Operator::Gte => quote!(>=),
        Operator::Lt => quote!(<),
        Operator::Lte => quote!(<=),
        Operator::In => return among(facts, field, constants),
        _ => return None,
    };
    let is_equality = matches!(operator, Operator::Eq | Operator::Neq);
    let (place, shape) = read::field_place(facts, field)?;
    let [constant] = constants else { return None };
    // Texts have no order here.
    if !is_equality && !matches!(shape, Shape::Int(_)) {
        return None;
    }
    let field = Part::Field(field, place, shape);
    compared(facts, &field, &sign, &Part::Constant(constant), is_equality)
}

/// Writes an integer as an expression of type `i64` that may have `?` in it.
pub(in crate::back::rust) fn computed(
    facts: &Facts<'_>,
    expression: &Expression,
) -> Option<TokenStream> {
    match part(facts, expression)? {
        Part::Computed(code) => Some(code),
        Part::Constant(Constant::Int(value)) => {
            i64::try_from(*value).is_ok().then(|| integer(*value))
        }
        Part::Field(_, place, Shape::Int(range)) => Some(match integer_type(*range) {
            "i64" => place,
            "u64" => quote!(runtime::generated::narrow(#place)?),
            _ => quote!(i64::from(#place)),
        }),
        _ => None,
    }
}

fn part<'f>(facts: &'f Facts<'_>, expression: &'f Expression) -> Option<Part<'f>> {
    Some(match &expression.kind {
        ExpressionKind::Constant(constant) => Part::Constant(constant),
        ExpressionKind::Field(field) => {
            let (place, shape) = read::field_place(facts, *field)?;
            Part::Field(*field, place, shape)
        }
        ExpressionKind::Binary(operator, operands) if operator.is_arithmetic() => {
            let [left, right] = operands.as_ref();
            let (left, right) = (computed(facts, left)?, computed(facts, right)?);
            let operator = operator_name(*operator);
            Part::Computed(quote!(runtime::BinaryOperator::#operator.integers(#left, #right)?))
        }
        _ => return None,
    })
}

fn sign(operator: BinaryOperator) -> Option<TokenStream> {
    Some(match operator {
        BinaryOperator::Equal => quote!(==),
        BinaryOperator::NotEqual => quote!(!=),
        BinaryOperator::Less => quote!(<),
        BinaryOperator::LessEqual => quote!(<=),
        BinaryOperator::Greater => quote!(>),
        BinaryOperator::GreaterEqual => quote!(>=),
        _ => return None,
    })
}

const fn is_equality(operator: BinaryOperator) -> bool {
    matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual)
}

fn compared(
    facts: &Facts<'_>,
    left: &Part<'_>,
    sign: &TokenStream,
    right: &Part<'_>,
    is_equality: bool,
) -> Option<TokenStream> {
    let pair = enumerated(facts, left, right, is_equality)
        .or_else(|| integers(left, sign, right))
        .or_else(|| texts(left, right));
    let (left, right) = pair?;
    Some(quote!(#left #sign #right))
}

/// Pairs an enum with one of its texts.
fn enumerated(
    facts: &Facts<'_>,
    left: &Part<'_>,
    right: &Part<'_>,
    is_equality: bool,
) -> Option<(TokenStream, TokenStream)> {
    let (Part::Field(field, place, Shape::Enum(_)), Part::Constant(constant)) = (left, right)
    else {
        return None;
    };
    let variant = read::variant(facts, *field, constant)?;
    is_equality.then(|| (quote!(#place), variant))
}

/// Pairs two integers as values of a type that has both.
fn integers(
    left: &Part<'_>,
    sign: &TokenStream,
    right: &Part<'_>,
) -> Option<(TokenStream, TokenStream)> {
    let kinds = [kind(left)?, kind(right)?];
    let sign = sign.to_string();
    let turned = match sign.as_str() {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        sign => sign,
    };
    let is_inside = |field: &Part<'_>, sign: &str, constant: &Part<'_>| match (field, constant) {
        (Part::Field(_, _, shape), Part::Constant(Constant::Int(value))) => {
            is_inside(shape, sign, *value)
        }
        _ => false,
    };
    let wide = match kinds {
        // Two literals have nothing to be compared with.
        [None, None] => return None,
        [Some(one), Some(two)] if one == two => None,
        _ if is_inside(left, &sign, right) || is_inside(right, turned, left) => None,
        kinds if kinds.contains(&Some("u64")) => Some("i128"),
        _ => Some("i64"),
    };
    let side = |part: &Part<'_>, own: Option<&str>| {
        let code = match part {
            Part::Field(_, place, _) => place.clone(),
            Part::Computed(code) => code.clone(),
            Part::Constant(Constant::Int(value)) => integer(*value),
            Part::Constant(_) => return None,
        };
        let wide = wide.filter(|wide| own.is_some_and(|own| own != *wide));
        Some(match wide.map(|wide| format_ident!("{wide}")) {
            Some(wide) => quote!(#wide::from(#code)),
            None => code,
        })
    };
    let fits = |part: &Part<'_>| match part {
        Part::Constant(Constant::Int(value)) => i64::try_from(*value).is_ok(),
        _ => true,
    };
    let [one, two] = kinds;
    let pair = (side(left, one)?, side(right, two)?);
    (wide != Some("i64") || (fits(left) && fits(right))).then_some(pair)
}

/// Returns the type of an integer; none for a literal, which takes any.
fn kind(part: &Part<'_>) -> Option<Option<&'static str>> {
    match part {
        Part::Field(_, _, Shape::Int(range)) => Some(Some(integer_type(*range))),
        Part::Computed(_) => Some(Some("i64")),
        Part::Constant(Constant::Int(_)) => Some(None),
        _ => None,
    }
}

/// Pairs two texts, unless both are literals, which have nothing to be compared with.
fn texts(left: &Part<'_>, right: &Part<'_>) -> Option<(TokenStream, TokenStream)> {
    let pair = (text(left)?, text(right)?);
    (!matches!((left, right), (Part::Constant(_), Part::Constant(_)))).then_some(pair)
}

fn text(part: &Part<'_>) -> Option<TokenStream> {
    match part {
        Part::Field(_, place, Shape::Text) => Some(quote!(#place.as_str())),
        Part::Field(_, place, Shape::Enum(_)) => Some(quote!(#place.name())),
        Part::Constant(Constant::Text(text)) => Some(quote!(#text)),
        _ => None,
    }
}

fn among(facts: &Facts<'_>, field: Handle<Field>, constants: &[Constant]) -> Option<TokenStream> {
    let (place, shape) = read::field_place(facts, field)?;
    let mut patterns: Vec<TokenStream> = Vec::new();
    let mut known: Vec<&Constant> = Vec::new();
    for constant in constants {
        if known.contains(&constant) {
            continue;
        }
        known.push(constant);
        match (shape, constant) {
            (Shape::Enum(_), constant) => patterns.extend(read::variant(facts, field, constant)),
            (Shape::Text, Constant::Text(text)) => patterns.push(quote!(#text)),
            (Shape::Text, _) => {}
            _ => return None,
        }
    }
    let place = match shape {
        Shape::Text => quote!(#place.as_str()),
        _ => place,
    };
    (!patterns.is_empty()).then(|| quote!(matches!(#place, #(#patterns)|*)))
}
