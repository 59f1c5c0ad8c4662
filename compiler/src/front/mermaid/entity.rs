//! Decoding of entities and line breaks in texts.
//!
//! Mermaid writes entities as `#quot;` and `#35;`, without HTML's `&`. They are the only way to put a `;` into a label.
//! Line breaks are written `<br>` or `\n`. Less common names stay as written, because nobody means an entity by them.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::char;
use nom::combinator::{map_opt, opt, value};
use nom::sequence::delimited;
use nom::{IResult, Parser};

use super::lex::rule::{is_word, literal, space0};

/// The entities that are decoded.
const NAMES: [(&str, char); 24] = [
    ("amp", '&'),
    ("apos", '\''),
    ("bull", '•'),
    ("colon", ':'),
    ("comma", ','),
    ("copy", '©'),
    ("darr", '↓'),
    ("deg", '°'),
    ("equals", '='),
    ("ge", '≥'),
    ("gt", '>'),
    ("hash", '#'),
    ("hellip", '…'),
    ("larr", '←'),
    ("le", '≤'),
    ("lt", '<'),
    ("mdash", '—'),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("ne", '≠'),
    ("num", '#'),
    ("quot", '"'),
    ("rarr", '→'),
    ("semi", ';'),
];

/// Decodes `#name;`, `#123;` and `#x1f;`, and turns `<br>` and `\n` into line ends.
///
/// ```
/// use statemark_compiler::front::mermaid::entity::decode;
///
/// assert_eq!(decode("stop#59; then<br/>go"), "stop; then\ngo");
/// assert_eq!(decode("issue #12, a#b;"), "issue #12, a#b;");
/// ```
#[must_use]
pub fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '<', '\\']) {
        let (plain, mark) = rest.split_at_checked(at).unwrap_or((rest, ""));
        decoded.push_str(plain);
        rest = match piece(mark) {
            Ok((after, c)) => {
                decoded.push(c);
                after
            }
            Err(_) => {
                let mut chars = mark.chars();
                decoded.extend(chars.next());
                chars.as_str()
            }
        };
    }
    decoded.push_str(rest);
    decoded
}

/// Decodes the entity at the start of a text, and returns the rest.
pub(crate) fn first(text: &str) -> Option<(char, &str)> {
    entity(text).ok().map(|(after, c)| (c, after))
}

fn entity(input: &str) -> IResult<&str, char, ()> {
    let name = take_while1(is_word);
    map_opt(delimited(char('#'), name, char(';')), character).parse(input)
}

fn piece(input: &str) -> IResult<&str, char, ()> {
    let line_break = value(
        '\n',
        (tag("<"), literal("br"), space0, opt(char('/')), tag(">")),
    );
    let escape = value('\n', tag("\\n"));
    alt((entity, line_break, escape)).parse(input)
}

/// Returns the character of an entity's name or number.
fn character(name: &str) -> Option<char> {
    let hexadecimal = |input| -> IResult<&str, &str, ()> {
        let (rest, _) = literal("x")(input)?;
        take_while(|c: char| c.is_ascii_hexdigit()).parse(rest)
    };
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return name.parse().ok().and_then(char::from_u32);
    }
    if let Ok(("", digits)) = hexadecimal(name)
        && let Ok(code) = u32::from_str_radix(digits, 16)
    {
        return char::from_u32(code);
    }
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|&(_, c)| c)
}
