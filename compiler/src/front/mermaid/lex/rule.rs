//! The patterns of Mermaid's lexer, as nom parsers over plain text.
//!
//! Each takes the rest of the text and returns its match and the new rest. They follow JavaScript's regular
//! expressions, for which Mermaid's rules are written: `\s` includes Unicode's blanks and the byte order mark, `\w` and
//! `\b` are ASCII, `.` stops at four characters, and only ASCII letters ignore case.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::character::complete::char;
use nom::combinator::{not, recognize};
use nom::multi::many0_count;
use nom::sequence::{delimited, pair, terminated};
use nom::{IResult, Parser};

/// The result of a pattern: the rest and the match.
///
/// A miss carries nothing, because the next rule is tried.
pub(crate) type Match<'t> = IResult<&'t str, &'t str, ()>;

/// Returns whether JavaScript's `\s` matches a character.
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

/// Returns whether JavaScript's `\w` matches a character.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether JavaScript's `.` doesn't match a character.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a character can be in an id: INITIAL rule 26.
pub(crate) fn is_id(c: char) -> bool {
    !matches!(c, ':' | '\n' | '-' | '{') && !is_space(c)
}

/// Matches `\s*`.
pub(crate) fn space0(input: &str) -> Match<'_> {
    take_while(is_space).parse(input)
}

/// Matches `\s+`.
pub(crate) fn space1(input: &str) -> Match<'_> {
    take_while1(is_space).parse(input)
}

/// Matches what makes no token between statements, blanks or a comment, and returns the rest.
///
/// `first` is the first byte of the input, which nearly always tells that there is neither.
pub(crate) fn unread(input: &str, first: u8) -> Option<&str> {
    let found = match first {
        b'\t'..=b'\r' | b' ' => space1(input),
        b'#' | b'%' => comment(input),
        _ if first.is_ascii() => return None,
        _ => space1(input),
    };
    found.ok().map(|(rest, _)| rest)
}

/// Matches blanks that don't end the line.
pub(crate) fn blank1(input: &str) -> Match<'_> {
    take_while1(|c| c != '\n' && is_space(c)).parse(input)
}

/// Matches `\n+`.
pub(crate) fn newlines(input: &str) -> Match<'_> {
    take_while1(|c| c == '\n').parse(input)
}

/// Matches `[^\n]*`.
pub(crate) fn line_rest(input: &str) -> Match<'_> {
    take_till(|c| c == '\n').parse(input)
}

/// Matches `\w+`.
pub(crate) fn word1(input: &str) -> Match<'_> {
    take_while1(is_word).parse(input)
}

/// Matches a literal in any ASCII case.
pub(crate) fn literal<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| match input.split_at_checked(text.len()) {
        Some((head, rest)) if head.eq_ignore_ascii_case(text) => Ok((rest, head)),
        _ => Err(nom::Err::Error(())),
    }
}

/// Matches a literal and `\b`: no letter, digit or underscore follows.
pub(crate) fn bounded<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| terminated(literal(text), not(word1)).parse(input)
}

/// Matches a literal and `\s+`.
pub(crate) fn spaced<'t>(text: &'static str) -> impl Fn(&'t str) -> Match<'t> {
    move |input| recognize(pair(literal(text), space1)).parse(input)
}

/// Matches a comment that the lexer skips.
///
/// It is `#` or `%%`, but not `%%{`, and goes to the end of the line.
pub(crate) fn comment(input: &str) -> Match<'_> {
    let hash = recognize(pair(char('#'), line_rest));
    let percent = recognize((tag("%%"), not(char('{')), line_rest));
    alt((hash, percent)).parse(input)
}

/// Matches `"…"`, over lines.
pub(crate) fn quoted(input: &str) -> Match<'_> {
    recognize(delimited(char('"'), take_till(|c| c == '"'), char('"'))).parse(input)
}

/// Matches an id before it is cut at `%%`: INITIAL rule 26.
pub(crate) fn id(input: &str) -> Match<'_> {
    let end = input.find(|c| !is_id(c)).unwrap_or(input.len());
    match input.split_at_checked(end) {
        Some((matched, rest)) if end > 0 => Ok((rest, matched)),
        _ => Err(nom::Err::Error(())),
    }
}

/// Matches a label with its colon: INITIAL rule 27.
///
/// A further colon belongs to it unless `:`, `;` or a line end follows.
pub(crate) fn description(input: &str) -> Match<'_> {
    let ends = |byte: Option<u8>| matches!(byte, None | Some(b':' | b'\n' | b';'));
    let at = |offset: usize| input.as_bytes().get(offset).copied();
    let mut end = 1;
    while !ends(at(end)) || (at(end) == Some(b':') && !ends(at(end + 1))) {
        end += 1;
    }
    match input.split_at_checked(end) {
        Some((matched, rest)) if end > 1 && matched.starts_with(':') => Ok((rest, matched)),
        _ => Err(nom::Err::Error(())),
    }
}

/// Matches a word after `state`: `[^\n\s\{]+`.
pub(crate) fn composite(input: &str) -> Match<'_> {
    take_while1(|c| c != '{' && !is_space(c)).parse(input)
}

/// Matches `\s*as\s+`, before the id of a state with a title.
pub(crate) fn alias(input: &str) -> Match<'_> {
    recognize((space0, literal("as"), space1)).parse(input)
}

/// Matches `\s*as\s*`, before the name of a floating note.
pub(crate) fn note_alias(input: &str) -> Match<'_> {
    recognize((space0, literal("as"), space0)).parse(input)
}

/// Matches the state of a note: `\s*[^:\n\s\-]+`.
pub(crate) fn note_id(input: &str) -> Match<'_> {
    let name = take_while1(|c| !matches!(c, ':' | '-') && !is_space(c));
    recognize(pair(space0, name)).parse(input)
}

/// Matches the text of a note on one line: `\s*:[^:\n;]+`.
pub(crate) fn note_line(input: &str) -> Match<'_> {
    let text = take_while1(|c| !matches!(c, ':' | '\n' | ';'));
    recognize((space0, char(':'), text)).parse(input)
}

/// Matches the states of a `class`: `(\w+)+((,\s*\w+)*)`.
pub(crate) fn class_ids(input: &str) -> Match<'_> {
    let more = many0_count((char(','), space0, word1));
    recognize(pair(word1, more)).parse(input)
}

/// Matches the states of a `style`: `[\w,]+\s+`.
pub(crate) fn style_ids(input: &str) -> Match<'_> {
    let names = take_while1(|c| c == ',' || is_word(c));
    recognize(pair(names, space1)).parse(input)
}

/// Matches the name of a class definition: `\w+\s+`.
pub(crate) fn class_name(input: &str) -> Match<'_> {
    recognize(pair(word1, space1)).parse(input)
}

/// Matches `\d+`.
pub(crate) fn digits(input: &str) -> Match<'_> {
    take_while1(|c: char| c.is_ascii_digit()).parse(input)
}

/// Matches a word and a mark with blanks on both sides, as in `accTitle\s*:\s*`.
pub(crate) fn marked<'t>(word: &'static str, mark: char) -> impl Fn(&'t str) -> Match<'t> {
    move |input| recognize((literal(word), space0, char(mark), space0)).parse(input)
}
