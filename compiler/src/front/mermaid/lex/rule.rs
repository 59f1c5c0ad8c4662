//! The patterns that Mermaid's lexer is made of, as nom parsers over plain text.
//!
//! Each takes the rest of the text and gives back what it matched and what is left. They follow JavaScript's regular
//! expressions, for which Mermaid's rules are written: `\s` knows Unicode's blanks and the byte order mark, `\w` and `\b`
//! are ASCII, `.` stops at four characters, and ignoring case means ASCII letters alone.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::character::complete::{char, none_of};
use nom::combinator::{not, recognize};
use nom::multi::{many0_count, many1_count};
use nom::sequence::{delimited, pair, preceded, terminated};
use nom::{IResult, Parser};

/// What a pattern gives: the rest and the match. A miss carries nothing: the next rule is tried.
pub(crate) type Match<'t> = IResult<&'t str, &'t str, ()>;

/// JavaScript's `\s`.
pub(crate) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// JavaScript's `\w`.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What JavaScript's `.` doesn't match.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// A character of an id: Mermaid's lexer, INITIAL rule 26.
pub(crate) fn is_id(c: char) -> bool {
    !matches!(c, ':' | '\n' | '-' | '{') && !is_space(c)
}

/// `\s*`.
pub(crate) fn space0(input: &str) -> Match<'_> {
    take_while(is_space).parse(input)
}

/// `\s+`.
pub(crate) fn space1(input: &str) -> Match<'_> {
    take_while1(is_space).parse(input)
}

/// Blanks that don't end the line.
pub(crate) fn blank1(input: &str) -> Match<'_> {
    take_while1(|c| c != '\n' && is_space(c)).parse(input)
}

/// `\n+`.
pub(crate) fn newlines(input: &str) -> Match<'_> {
    take_while1(|c| c == '\n').parse(input)
}

/// `[^\n]*`.
pub(crate) fn line_rest(input: &str) -> Match<'_> {
    take_till(|c| c == '\n').parse(input)
}

/// `\w+`.
pub(crate) fn word1(input: &str) -> Match<'_> {
    take_while1(is_word).parse(input)
}

/// A literal text in any ASCII case.
pub(crate) fn literal<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| match input.split_at_checked(text.len()) {
        Some((head, rest)) if head.eq_ignore_ascii_case(text) => Ok((rest, head)),
        _ => Err(nom::Err::Error(())),
    }
}

/// A literal text and `\b`: no letter, digit or underscore follows.
pub(crate) fn bounded<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| terminated(literal(text), not(word1)).parse(input)
}

/// A literal text and `\s+`; both belong to the match.
pub(crate) fn spaced<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| recognize(pair(literal(text), space1)).parse(input)
}

/// A comment that the lexer skips: `#` or `%%`, but not `%%{`, to the end of the line.
pub(crate) fn comment(input: &str) -> Match<'_> {
    let hash = recognize(pair(char('#'), line_rest));
    let percent = recognize((tag("%%"), not(char('{')), line_rest));
    alt((hash, percent)).parse(input)
}

/// `"…"`, over lines.
pub(crate) fn quoted(input: &str) -> Match<'_> {
    recognize(delimited(char('"'), take_till(|c| c == '"'), char('"'))).parse(input)
}

/// An id, before it is cut at `%%`: INITIAL rule 26.
pub(crate) fn id(input: &str) -> Match<'_> {
    take_while1(is_id).parse(input)
}

/// A label with its colon: INITIAL rule 27. A colon belongs to it where something but `:`, `;` and a line end follows.
pub(crate) fn description(input: &str) -> Match<'_> {
    let plain = take_while1(|c| !matches!(c, ':' | '\n' | ';'));
    let colon = recognize(preceded(char(':'), none_of(":\n;")));
    recognize(pair(char(':'), many1_count(alt((plain, colon))))).parse(input)
}

/// A word behind `state`: `[^\n\s\{]+`.
pub(crate) fn composite(input: &str) -> Match<'_> {
    take_while1(|c| c != '{' && !is_space(c)).parse(input)
}

/// `\s*as\s+`, in front of the id of a state with a title.
pub(crate) fn alias(input: &str) -> Match<'_> {
    recognize((space0, literal("as"), space1)).parse(input)
}

/// `\s*as\s*`, in front of the name of a floating note.
pub(crate) fn note_alias(input: &str) -> Match<'_> {
    recognize((space0, literal("as"), space0)).parse(input)
}

/// The state beside which a note stands: `\s*[^:\n\s\-]+`.
pub(crate) fn note_id(input: &str) -> Match<'_> {
    let name = take_while1(|c| !matches!(c, ':' | '-') && !is_space(c));
    recognize(pair(space0, name)).parse(input)
}

/// The text of a note on one line: `\s*:[^:\n;]+`.
pub(crate) fn note_line(input: &str) -> Match<'_> {
    let text = take_while1(|c| !matches!(c, ':' | '\n' | ';'));
    recognize((space0, char(':'), text)).parse(input)
}

/// The states that a `class` names: `(\w+)+((,\s*\w+)*)`.
pub(crate) fn class_ids(input: &str) -> Match<'_> {
    let more = many0_count((char(','), space0, word1));
    recognize(pair(word1, more)).parse(input)
}

/// The states that a `style` names: `[\w,]+\s+`.
pub(crate) fn style_ids(input: &str) -> Match<'_> {
    let names = take_while1(|c| c == ',' || is_word(c));
    recognize(pair(names, space1)).parse(input)
}

/// The name of a class being defined: `\w+\s+`.
pub(crate) fn class_name(input: &str) -> Match<'_> {
    recognize(pair(word1, space1)).parse(input)
}

/// `\d+`.
pub(crate) fn digits(input: &str) -> Match<'_> {
    take_while1(|c: char| c.is_ascii_digit()).parse(input)
}

/// `accTitle\s*:\s*` and its like: a word, and a mark with blanks on both sides.
pub(crate) fn marked<'t>(word: &'static str, mark: char) -> impl Fn(&'t str) -> Match<'t> {
    move |input| recognize((literal(word), space0, char(mark), space0)).parse(input)
}
