//! Expression or prose: see the rules in the [module's doc](super).

use super::ast::{BinaryOperator, Expression, Kind, UnaryOperator};
use super::lex::{self, Token};
use super::parse::{Parsed, parse};
use super::written::Written;
use crate::diag::Diags;
use crate::source::Spanned;

/// The kinds of text that a guard can be.
#[derive(Debug)]
pub enum Reading {
    /// An expression.
    Expression(Expression),
    /// Meant as one; what is wrong with it.
    Broken(Diags),
    /// Words for people.
    Prose,
}

/// Decides the kind of a guard's text.
///
/// `known` tells if a dotted name is a field or a guard that is declared.
///
/// ```
/// use statemark_compiler::front::expression::{Reading, Written, read};
/// use statemark_compiler::source::{Sources, Span, Spanned};
///
/// let mut sources = Sources::new();
/// let mut of = |text: &str| {
///     let file = sources.add("guard", text);
///     let span = Span { file, start: 0, end: text.len() as u32 };
///     read(&Written::in_label(&Spanned::new(text.to_owned(), span), true), |_| false)
/// };
/// assert!(matches!(of("attempts < 3"), Reading::Expression(_)));
/// assert!(matches!(of("attempts = 3"), Reading::Broken(_)));
/// assert!(matches!(of("the user's third attempt"), Reading::Prose));
/// ```
#[must_use]
pub fn read(written: &Written, known: impl Fn(&str) -> bool) -> Reading {
    classify(parse(written), written.text(), known)
}

/// The text of a guard between the brackets of a label.
///
/// It is parsed once the declarations are known: most are names, and nobody parses those.
#[derive(Clone, Debug)]
pub struct GuardText {
    /// The text as its author wrote it.
    pub text: Spanned<String>,
    /// True if it is in the file byte for byte.
    pub is_verbatim: bool,
}

impl GuardText {
    /// Returns the text with the way back to the file.
    #[must_use]
    pub fn to_written(&self) -> Written {
        Written::in_label(&self.text, self.is_verbatim)
    }
}

fn classify(parsed: Parsed, text: &str, known: impl Fn(&str) -> bool) -> Reading {
    if parsed.is_too_large {
        return Reading::Broken(parsed.problems);
    }
    let Parsed {
        expression,
        problems,
        tokens,
        ..
    } = parsed;
    match expression {
        Some(expression) if says_nothing(&expression, &known) => Reading::Prose,
        Some(expression) => Reading::Expression(expression),
        None if is_prose(text, &tokens, &known) => Reading::Prose,
        None => Reading::Broken(problems),
    }
}

/// Returns the text of a guard as it should be written.
///
/// A broken expression is mended as far as that is known; `None` if that isn't enough.
#[must_use]
pub fn mended(text: &Spanned<String>) -> Option<String> {
    let Reading::Broken(problems) = read(&Written::plain(text), |_| false) else {
        return Some(text.value.clone());
    };
    let problems = problems.into_sorted();
    let mut mended = text.value.clone();
    let at = |place: u32| place.checked_sub(text.span.start).map(|at| at as usize);
    for problem in problems.iter().rev() {
        for edit in problem.fixes.first()?.edits.iter().rev() {
            let range = at(edit.span.start)?..at(edit.span.end)?;
            mended.get(range.clone())?;
            mended.replace_range(range, &edit.text);
        }
    }
    let mended = Spanned::new(mended, text.span);
    let reading = read(&Written::plain(&mended), |_| false);
    matches!(reading, Reading::Expression(_)).then_some(mended.value)
}

/// Returns true if an expression only looks like one.
///
/// It can't be true or false, and names nothing that is known.
fn says_nothing(expression: &Expression, known: &impl Fn(&str) -> bool) -> bool {
    use BinaryOperator as Op;
    match &expression.kind {
        Kind::Literal(literal) => !matches!(literal, super::ast::Literal::Bool(_)),
        Kind::Unary(UnaryOperator::Negate, inner) => !has_known(inner, known) && !has_sign(inner),
        Kind::Binary(
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder,
            operands,
        ) => operands
            .iter()
            .all(|operand| !has_known(operand, known) && !has_sign(operand)),
        Kind::Binary(Op::In, operands) => operands.iter().all(|operand| match &operand.kind {
            Kind::Name(name) => !known(name),
            _ => false,
        }),
        _ => false,
    }
}

/// Returns true if it has a field or a guard that is declared.
fn has_known(expression: &Expression, known: &impl Fn(&str) -> bool) -> bool {
    let any = |parts: &[Expression]| parts.iter().any(|part| has_known(part, known));
    match &expression.kind {
        Kind::Name(name) => known(name),
        Kind::Has(_) | Kind::InState(_) => true,
        Kind::Literal(_) => false,
        Kind::Not(inner) | Kind::Unary(_, inner) | Kind::Among(inner, _) => {
            any(std::slice::from_ref(inner))
        }
        Kind::And(parts) | Kind::Or(parts) => any(parts),
        Kind::Binary(_, operands) => any(operands.as_slice()),
    }
}

/// Returns true if it has something that prose doesn't have: a comparison, a call.
fn has_sign(expression: &Expression) -> bool {
    use BinaryOperator as Op;
    match &expression.kind {
        Kind::Name(_) | Kind::Literal(_) => false,
        Kind::Binary(
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder,
            operands,
        ) => operands.iter().any(has_sign),
        Kind::Unary(UnaryOperator::Negate, inner) => has_sign(inner),
        _ => true,
    }
}

/// Returns true if tokens that don't parse are prose.
fn is_prose(text: &str, tokens: &[Token], known: &impl Fn(&str) -> bool) -> bool {
    let word = |token: &Token| text.get(token.range.clone()).unwrap_or("");
    let joins = |token: &Token| match token.kind {
        lex::Kind::Sign(sign) => matches!(sign, "&" | "|"),
        lex::Kind::Name => ["and", "or", "not"].contains(&word(token).to_lowercase().as_str()),
        _ => false,
    };
    let is_list = |pair: &[Token]| match pair {
        [one, two] => word(one) == "in" && two.kind == lex::Kind::Sign("["),
        _ => false,
    };
    let has_list = tokens.windows(2).any(is_list);
    if !has_list && !has_telling_sign(tokens) && !has_call(tokens) {
        // `ready and paid`: prose, unless these are guards or fields.
        let is_named = |token: &Token| match token.kind {
            lex::Kind::Name => joins(token) || known(word(token)),
            lex::Kind::Sign(sign) => joins(token) || matches!(sign, "(" | ")" | "."),
            _ => false,
        };
        return !(tokens.iter().any(joins) && tokens.iter().all(is_named));
    }
    let is_value = |token: &Token| match token.kind {
        lex::Kind::Name => !joins(token) && word(token) != "in",
        kind => matches!(kind, lex::Kind::Number | lex::Kind::Text),
    };
    let ends_value = |token: &Token| is_value(token) || token.kind == lex::Kind::Sign(")");
    let side_by_side = tokens.windows(2).any(|pair| match pair {
        [one, two] => ends_value(one) && is_value(two),
        _ => false,
    });
    let has_unit = tokens.windows(2).enumerate().any(|(at, pair)| match pair {
        [number, sign] => is_unit(number, sign, tokens.get(at + 2)),
        _ => false,
    });
    let is_strange = |token: &Token| token.kind == lex::Kind::Unknown;
    let exclaims = tokens.last().map(|token| token.kind) == Some(lex::Kind::Sign("!"));
    side_by_side || has_unit || exclaims || tokens.iter().any(is_strange)
}

/// Returns true if a sign is there that prose doesn't have.
///
/// Prose has dots, commas, dashes, slashes and parentheses, and an exclamation mark after a word.
fn has_telling_sign(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let next = tokens.get(at + 1);
        match token.kind {
            lex::Kind::Sign("!") => next.is_some_and(|next| {
                next.range.start == token.range.end
                    && matches!(
                        next.kind,
                        lex::Kind::Name | lex::Kind::Sign("(" | "!") | lex::Kind::Number
                    )
            }),
            lex::Kind::Sign("?") => tokens
                .iter()
                .skip(at)
                .any(|token| token.kind == lex::Kind::Sign(":")),
            lex::Kind::Sign(sign) => matches!(
                sign,
                "==="
                    | "!=="
                    | "=="
                    | "!="
                    | "<="
                    | ">="
                    | "=<"
                    | "=>"
                    | "<>"
                    | "&&"
                    | "||"
                    | "<"
                    | ">"
                    | "="
                    | "≤"
                    | "≥"
                    | "≠"
            ),
            _ => false,
        }
    })
}

/// Returns true if a parenthesis immediately follows a name, as in a call.
fn has_call(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| match pair {
        [name, open] => {
            name.kind == lex::Kind::Name
                && open.kind == lex::Kind::Sign("(")
                && name.range.end == open.range.start
        }
        _ => false,
    })
}

/// Returns true for a `%` immediately after a number, with no value after it: `20%`.
fn is_unit(number: &Token, sign: &Token, after: Option<&Token>) -> bool {
    let is_glued = number.kind == lex::Kind::Number && number.range.end == sign.range.start;
    let is_value = after.is_some_and(|after| {
        matches!(
            after.kind,
            lex::Kind::Name | lex::Kind::Number | lex::Kind::Sign("(")
        )
    });
    sign.kind == lex::Kind::Sign("%") && is_glued && !is_value
}
