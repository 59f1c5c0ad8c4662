//! Values of the IR as tokens, and questions about tokens. Nothing here knows a machine.

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use serde_json::Value;
use statemark_text::markup;

use crate::ir::{BinaryOperator, Constant};

/// Returns an index as a literal.
pub(super) fn number(index: usize) -> Literal {
    Literal::usize_unsuffixed(index)
}

/// The indexes of an enum's variants.
///
/// A variant that follows the last needs no number: each one written is a constant of its own to the compiler, and a
/// thousand of them take it longer than all the rest.
#[derive(Default)]
pub(super) struct Numbering {
    next: usize,
}

impl Numbering {
    /// Writes `= 5`, or nothing.
    pub(super) fn discriminant(&mut self, index: usize) -> Option<TokenStream> {
        let follows = index == self.next;
        self.next = index + 1;
        let index = number(index);
        (!follows).then(|| quote!(= #index))
    }
}

/// Writes the arm for the variants that a `match` hasn't named.
///
/// A single variant is named; several are `_`.
pub(super) fn otherwise(
    rest: impl IntoIterator<Item = Ident>,
    of: &impl ToTokens,
    value: &TokenStream,
) -> Option<TokenStream> {
    let mut rest = rest.into_iter();
    let first = rest.next()?;
    Some(if rest.next().is_some() {
        quote!(_ => #value,)
    } else {
        quote!(#of::#first => #value,)
    })
}

/// Writes a text with words of the author as docs.
///
/// Its Markdown means the same in rustdoc, but for two things: HTML is shown as it is written; and where there may be a
/// block of code, tests of the docs leave the text out. Else whoever writes prose in a spec would write what `cargo test`
/// runs.
pub(super) fn doc(text: &str) -> TokenStream {
    let text = markup::without_html(text);
    if !may_have_code(&text) {
        return own_doc(&text);
    }
    let text = doc_lines(&text).collect::<Vec<_>>().join("\n");
    quote! { #[cfg_attr(not(doctest), doc = #text)] }
}

/// Writes a text of our own as doc comments, line by line.
pub(super) fn own_doc(text: &str) -> TokenStream {
    let lines = doc_lines(text);
    quote! { #(#[doc = #lines])* }
}

/// Returns lines as they stand behind `///`.
fn doc_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| match line {
        "" => String::new(),
        line => format!(" {line}"),
    })
}

/// Reports whether a text may have a block of code: a fence, or blanks that indent one.
///
/// They do so behind the mark of a list as well.
fn may_have_code(text: &str) -> bool {
    let marks = ["```", "~~~", "    ", "\t"];
    marks.iter().any(|mark| text.contains(mark))
}

/// Writes a constant as a `Value`.
pub(super) fn constant(constant: &Constant) -> TokenStream {
    match constant {
        Constant::Null => quote!(runtime::Value::Null),
        Constant::Bool(value) => quote!(runtime::Value::Bool(#value)),
        Constant::Int(value) => {
            let value = integer(*value);
            quote!(runtime::Value::Int(#value))
        }
        Constant::Float(value) if value.is_finite() => {
            let value = float(*value);
            quote!(runtime::Value::Float(#value))
        }
        Constant::Float(_) => quote!(runtime::Value::Opaque),
        Constant::Text(text) => quote!(runtime::Value::Text(#text)),
    }
}

/// Returns the name of an operator in the runtime.
pub(super) fn operator_name(operator: BinaryOperator) -> Ident {
    format_ident!("{operator:?}")
}

/// Writes an integer.
pub(super) fn integer(value: i128) -> TokenStream {
    let minus = (value < 0).then(|| quote!(-));
    let value = Literal::u128_unsuffixed(value.unsigned_abs());
    quote!(#minus #value)
}

/// Writes a float.
pub(super) fn float(value: f64) -> TokenStream {
    let minus = value.is_sign_negative().then(|| quote!(-));
    let value = Literal::f64_unsuffixed(value.abs());
    quote!(#minus #value)
}

/// Writes a value without a type.
pub(super) fn datum(json: &Value) -> TokenStream {
    match json {
        Value::Null => quote!(runtime::Datum::Null),
        Value::Bool(value) => quote!(runtime::Datum::Bool(#value)),
        Value::Number(number) => match number.as_i128() {
            Some(value) => {
                let value = integer(value);
                quote!(runtime::Datum::Int(#value))
            }
            None => {
                let value = float(number.as_f64().unwrap_or_default());
                quote!(runtime::Datum::Float(#value))
            }
        },
        Value::String(text) => {
            let text = owned(text);
            quote!(runtime::Datum::Text(#text))
        }
        Value::Array(items) => {
            let items = items.iter().map(datum);
            quote!(runtime::Datum::List(Vec::from([#(#items),*])))
        }
        Value::Object(fields) if fields.is_empty() => {
            quote!(runtime::Datum::Object(Default::default()))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| {
                let value = datum(value);
                let key = owned(key);
                quote!((#key, #value))
            });
            quote!(runtime::Datum::Object([#(#fields),*].into_iter().collect()))
        }
    }
}

/// Writes a text that is owned.
pub(super) fn owned(text: &str) -> TokenStream {
    if text.is_empty() {
        quote!(String::new())
    } else {
        quote!(String::from(#text))
    }
}

/// Returns true if code has a token of that kind in it, at any depth.
pub(super) fn contains_token(code: &TokenStream, is_wanted: &impl Fn(&TokenTree) -> bool) -> bool {
    code.clone().into_iter().any(|token| match &token {
        TokenTree::Group(group) => contains_token(&group.stream(), is_wanted),
        token => is_wanted(token),
    })
}

/// Strips parentheses around all of the code.
pub(super) fn bare(code: TokenStream) -> TokenStream {
    let mut tokens = code.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            bare(group.stream())
        }
        _ => code,
    }
}

/// Returns true if code has a binary operator that isn't within parentheses.
pub(super) fn is_comparison(code: &TokenStream) -> bool {
    let mut tokens = code.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Punct(sign) if "=<>&|".contains(sign.as_char())))
}

/// Returns true if code uses the observer.
pub(super) fn observes(code: &TokenStream) -> bool {
    contains_token(
        code,
        &|token| matches!(token, TokenTree::Ident(name) if name == "observer"),
    )
}

/// Returns true if code names something, at any depth.
pub(super) fn mentions(code: &TokenStream, name: &str) -> bool {
    contains_token(
        code,
        &|token| matches!(token, TokenTree::Ident(it) if it == name),
    )
}
