//! Text to tokens.
//!
//! Knows more signs than the language has (`=`, `≤`, `===`, `“ ”`), so that the parser can say what to write instead.
//! Never fails: what is no token is [`Kind::Unknown`], a character long.

use std::ops::Range;

use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till, take_while, take_while1};
use nom::character::complete::{char, digit0, digit1, hex_digit1, multispace0, none_of, one_of};
use nom::combinator::{not, opt, peek, recognize, value};
use nom::multi::many0_count;
use nom::sequence::{pair, preceded};
use nom::{IResult, Parser};

/// A token with its bytes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a word: letters, digits and `_`.
    Name,
    /// A number, with its suffix.
    Number,
    /// A text with its quotes and its prefix.
    Text,
    /// A text between typographic quotes.
    CurlyText,
    /// A quote that nothing closes, and the rest after it.
    Unclosed,
    /// A sign of the language, or one that people write in place of it.
    Sign(&'static str),
    /// A character that no expression has.
    Unknown,
}

/// The signs, each before those that it begins with.
const SIGNS: [&str; 36] = [
    "===", "!==", "==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", "**", "<", ">", "=", "!",
    "&", "|", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "≤", "≥",
    "≠",
];

/// Returns the tokens of a text, without the blanks between them.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = skip_blanks(text);
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let before = text.get(..start).and_then(|before| before.chars().last());
        let (behind, kind) = token(rest, before).unwrap_or(("", Kind::Unknown));
        let range = start..text.len() - behind.len();
        tokens.push(Token { kind, range });
        rest = skip_blanks(behind);
    }
    tokens
}

fn skip_blanks(text: &str) -> &str {
    let blanks: IResult<&str, &str, ()> = multispace0.parse(text);
    blanks.map_or(text, |(rest, _)| rest)
}

fn token(input: &str, before: Option<char>) -> IResult<&str, Kind, ()> {
    // `user's`: a sign immediately after a letter is an apostrophe.
    if input.starts_with('\'') && before.is_some_and(char::is_alphanumeric) {
        return value(Kind::Unknown, take(1_usize)).parse(input);
    }
    alt((
        value(Kind::Text, quoted),
        value(Kind::CurlyText, curly),
        value(Kind::Unclosed, unclosed),
        value(Kind::Number, number),
        value(Kind::Name, name),
        sign,
        value(Kind::Unknown, take(1_usize)),
    ))
    .parse(input)
}

fn name(input: &str) -> IResult<&str, &str, ()> {
    let first = take_while1(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = take_while(|c: char| c.is_ascii_alphanumeric() || c == '_');
    recognize(pair(first, rest)).parse(input)
}

fn number(input: &str) -> IResult<&str, &str, ()> {
    let unsigned = || opt(one_of("uU"));
    let exponent = || (one_of("eE"), opt(one_of("+-")), digit1);
    alt((
        recognize((tag("0"), one_of("xX"), hex_digit1, unsigned())),
        recognize((digit0, char('.'), digit1, opt(exponent()))),
        recognize((digit1, exponent())),
        recognize((digit1, unsigned())),
    ))
    .parse(input)
}

/// Matches a text in straight quotes on one line. After `r` a backslash is a backslash.
fn quoted(input: &str) -> IResult<&str, &str, ()> {
    let raw = recognize((one_of("rR"), alt((raw_body('"'), raw_body('\'')))));
    let plain = recognize((opt(one_of("bB")), alt((body('"'), body('\'')))));
    alt((raw, plain)).parse(input)
}

fn raw_body<'t>(quote: char) -> impl Parser<&'t str, Output = &'t str, Error = ()> {
    recognize((
        char(quote),
        take_till(move |c| c == quote || c == '\n'),
        char(quote),
    ))
}

fn body<'t>(quote: char) -> impl Parser<&'t str, Output = &'t str, Error = ()> {
    let escape = recognize(pair(char('\\'), none_of("\n")));
    let plain = take_while1(move |c| c != quote && c != '\\' && c != '\n');
    recognize((char(quote), many0_count(alt((plain, escape))), char(quote)))
}

/// Matches `“ok”`, `‘ok’`, `«ok»`.
fn curly(input: &str) -> IResult<&str, &str, ()> {
    let is_close = |c| matches!(c, '”' | '“' | '’' | '‘' | '»' | '\n');
    recognize((one_of("“”„‘«"), take_till(is_close), one_of("”“’‘»"))).parse(input)
}

fn unclosed(input: &str) -> IResult<&str, &str, ()> {
    recognize(preceded(peek(one_of("\"'")), take_till(|_| false))).parse(input)
}

fn sign(input: &str) -> IResult<&str, Kind, ()> {
    // `.5` is a number and was taken before; `..` is none.
    let mut dots = pair(tag("."), not(char('.')));
    for sign in SIGNS {
        let found: IResult<&str, &str, ()> = match sign {
            "." => dots.parse(input).map(|(rest, (dot, ()))| (rest, dot)),
            _ => tag(sign).parse(input),
        };
        if let Ok((rest, _)) = found {
            return Ok((rest, Kind::Sign(sign)));
        }
    }
    Err(nom::Err::Error(()))
}
