//! From text to JSON values with spans.
//!
//! The text is split into tokens first. The tokens show how deep it is nested before anything recurses over it, and where
//! it leaves strict JSON. Then the parser reads it with every leniency on. For strict JSON the result is that of a strict
//! parser; otherwise each leniency is a diagnostic of its own, and none of them ends the parse.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{ParseOptions, ParseStringErrorKind, Scanner, ScannerOptions, parse_to_ast};
use serde_json::Number;

use crate::diag::{Code, Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::source::Span;

/// Deepest nesting of objects and lists.
///
/// Unit: levels. Why: later stages recurse over the values; a state costs two levels and nobody nests them sixty deep.
pub(super) const MAX_DEPTH: usize = 128;

/// Brings ranges of the definition's text home to the file.
#[derive(Clone, Copy)]
pub(super) struct Place<'e> {
    excerpt: &'e Excerpt,
}

impl<'e> Place<'e> {
    pub(super) fn new(excerpt: &'e Excerpt) -> Self {
        Self { excerpt }
    }

    /// Returns the span of a value; of an object or list only its opening sign, since the rest may be long.
    pub(super) fn span_of(self, value: &Value<'_>) -> Span {
        let range = value.range();
        match value {
            Value::Object(_) | Value::Array(_) => self.bytes(range.start, range.start + 1),
            _ => self.bytes(range.start, range.end),
        }
    }

    /// Returns the whole span of a node.
    pub(super) fn range(self, node: &impl Ranged) -> Span {
        let range = node.range();
        self.bytes(range.start, range.end)
    }

    /// Returns the span of a range of bytes of the text, widened to whole characters.
    pub(super) fn bytes(self, start: usize, end: usize) -> Span {
        let text = self.excerpt.text();
        let mut start = start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        self.excerpt.span(start..end)
    }

    /// Returns whether the text is the whole file, not a fence of a document.
    fn is_file(self) -> bool {
        self.excerpt.full_span().start == 0
    }

    /// Returns the text.
    pub(super) fn text(self) -> &'e str {
        self.excerpt.text()
    }
}

/// Reads the text. `None`, with a finding, if it isn't JSON by any reading.
pub(super) fn read<'e>(place: Place<'e>, comments: bool, diags: &mut Diags) -> Option<Value<'e>> {
    let tokens = match tokens(place) {
        Ok(tokens) => tokens,
        Err(finding) => {
            diags.push(*finding);
            return None;
        }
    };
    match parse_to_ast(
        place.text(),
        &jsonc_parser::CollectOptions::default(),
        &ParseOptions::default(),
    ) {
        Ok(parsed) => match parsed.value {
            Some(value) => {
                leniencies(place, &tokens, comments, diags);
                Some(value)
            }
            None => {
                let end = place.bytes(0, place.text().len());
                diags.push(json_syntax(end, "expected an object, found nothing"));
                None
            }
        },
        Err(error) => {
            // A text that isn't closed on its line runs on to the next quote, and the parser stumbles somewhere after.
            let cause = tokens
                .iter()
                .find(|it| it.range.start <= error.range().start && breaks_line(place, it));
            diags.push(match cause {
                Some(token) => unclosed_string(first_line(place, token.range)),
                None => match unclosed_before(place, &tokens, &error) {
                    Some(unclosed) => unclosed_where_lost(place, &unclosed),
                    None => syntax(place, &error),
                },
            });
            None
        }
    }
}

/// Splits the text into tokens; a finding if it has something that is no token, or is nested too deep.
fn tokens(place: Place<'_>) -> Result<Vec<TokenAndRange<'_>>, Box<Diagnostic>> {
    let mut scanner = Scanner::new(place.text(), &ScannerOptions::default());
    let mut tokens: Vec<TokenAndRange<'_>> = Vec::new();
    let mut depth = 0_usize;
    loop {
        let token = match scanner.scan() {
            Ok(Some(token)) => token,
            Ok(None) => return Ok(tokens),
            Err(error) => {
                let cause = tokens.iter().find(|token| breaks_line(place, token));
                return Err(Box::new(match cause {
                    Some(token) => unclosed_string(first_line(place, token.range)),
                    None => syntax(place, &error),
                }));
            }
        };
        let range = Range::new(scanner.token_start(), scanner.token_end());
        match token {
            Token::OpenBrace | Token::OpenBracket => depth += 1,
            Token::CloseBrace | Token::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let opening = place.bytes(range.start, range.end);
            return Err(Box::new(nested_too_deep(opening, MAX_DEPTH)));
        }
        tokens.push(TokenAndRange { range, token });
    }
}

/// An object or list without a closing sign.
struct Unclosed {
    opening: Range,
    is_object: bool,
    /// The byte where the sign is missing.
    end: usize,
    /// True if a comma is missing after it, too.
    lacks_comma: bool,
}

/// An open object or list, with the indentation of its line and of its first key.
///
/// Unit of indentations: bytes.
struct Frame {
    opening: Range,
    is_object: bool,
    indent: usize,
    first_key: Option<usize>,
}

/// Finds the object or list whose closing sign is missing.
///
/// The parser only knows the one that is still open at the end. Authors indent: a key or a closing sign on a line of its
/// own, no deeper than the line that opened the innermost object, comes after that object. Without such a line, it is the
/// innermost one at the end. `None` if the parser's error is another one, before that.
fn unclosed_before(
    place: Place<'_>,
    tokens: &[TokenAndRange<'_>],
    error: &ParseError,
) -> Option<Unclosed> {
    let is_comment =
        |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
    let tokens: Vec<&TokenAndRange<'_>> =
        tokens.iter().filter(|it| !is_comment(&it.token)).collect();
    let mut open: Vec<Frame> = Vec::new();
    for (index, it) in tokens.iter().enumerate() {
        let last = index.checked_sub(1).and_then(|last| tokens.get(last));
        let is_key = matches!(it.token, Token::String(_) | Token::Word(_))
            && tokens
                .get(index + 1)
                .is_some_and(|next| next.token == Token::Colon);
        let indent = indentation(place, it.range.start);
        if let (Some(top), Some(last)) = (open.last(), last)
            && is_outside(top, it, last, is_key, indent)
        {
            let is_certain = is_unterminated(error) || it.range.start <= error.range().start;
            return is_certain.then(|| unclosed_after(top, last, is_key));
        }
        match it.token {
            Token::OpenBrace | Token::OpenBracket => open.push(Frame {
                opening: it.range,
                is_object: it.token == Token::OpenBrace,
                indent: line_indentation(place, it.range.start),
                first_key: None,
            }),
            Token::CloseBrace | Token::CloseBracket => {
                open.pop();
            }
            _ => {
                if let (Some(top), Some(indent), true) = (open.last_mut(), indent, is_key) {
                    top.first_key.get_or_insert(indent);
                }
            }
        }
    }
    let (top, last) = (open.last()?, tokens.last()?);
    is_unterminated(error).then(|| unclosed_after(top, last, false))
}

/// Reports whether a token, by its kind or indentation, comes after the innermost object or list.
fn is_outside(
    top: &Frame,
    it: &TokenAndRange<'_>,
    last: &TokenAndRange<'_>,
    is_key: bool,
    indent: Option<usize>,
) -> bool {
    let closes = matches!(it.token, Token::CloseBrace | Token::CloseBracket);
    let fits = (it.token == Token::CloseBrace) == top.is_object;
    match indent {
        _ if closes && !fits => true,
        Some(indent) if closes => indent < top.indent,
        Some(indent) if is_key => match top.first_key {
            Some(first) => indent < first && indent <= top.indent,
            None => last.range.start != top.opening.start && indent <= top.indent,
        },
        _ => false,
    }
}

fn is_unterminated(error: &ParseError) -> bool {
    matches!(
        error.kind(),
        ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray
    )
}

/// Returns what is open after a token, or before the comma that it is.
fn unclosed_after(top: &Frame, last: &TokenAndRange<'_>, is_key: bool) -> Unclosed {
    let is_comma = last.token == Token::Comma;
    Unclosed {
        opening: top.opening,
        is_object: top.is_object,
        end: if is_comma {
            last.range.start
        } else {
            last.range.end
        },
        lacks_comma: is_key && !is_comma,
    }
}

/// Returns the indentation of a token that begins its line; else `None`.
fn indentation(place: Place<'_>, start: usize) -> Option<usize> {
    let before = place.text().get(..start)?;
    let line = before.rsplit('\n').next()?;
    line.trim_start_matches([' ', '\t'])
        .is_empty()
        .then_some(line.len())
}

/// Returns the indentation of the line that a byte is on.
fn line_indentation(place: Place<'_>, at: usize) -> usize {
    let before = place.text().get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Reports every place where the text leaves strict JSON.
fn leniencies(place: Place<'_>, tokens: &[TokenAndRange<'_>], comments: bool, diags: &mut Diags) {
    let mut remarks = Vec::new();
    let mut last: Option<&TokenAndRange<'_>> = None;
    for (index, it) in tokens.iter().enumerate() {
        let here = place.bytes(it.range.start, it.range.end);
        if matches!(it.token, Token::CommentLine(_) | Token::CommentBlock(_)) {
            remarks.push(here);
            continue;
        }
        let mut report = |leniency| diags.push(lenient_json(leniency, place.is_file()));
        if let Some(last) = last {
            let before = place.bytes(last.range.start, last.range.end);
            let closes = matches!(it.token, Token::CloseBrace | Token::CloseBracket);
            if closes && last.token == Token::Comma && !comments {
                report(Leniency::TrailingComma(before));
            }
            if ends_value(&last.token) && starts_value(&it.token) {
                report(Leniency::MissingComma(before.after()));
            }
        }
        let written = place
            .text()
            .get(it.range.start..it.range.end)
            .unwrap_or_default();
        let next = tokens
            .iter()
            .skip(index + 1)
            .find(|next| !matches!(next.token, Token::CommentLine(_) | Token::CommentBlock(_)));
        let is_key = next.is_some_and(|next| next.token == Token::Colon);
        match &it.token {
            Token::String(text) => {
                let plain = serde_json::Value::from(text.as_ref()).to_string();
                if written.starts_with('\'') {
                    report(Leniency::SingleQuotes(here, plain));
                } else if written.bytes().any(|byte| byte < b' ') {
                    report(Leniency::ControlCharacter(here, plain));
                } else if serde_json::from_str::<String>(written).is_err() {
                    report(Leniency::Escape(here, plain));
                }
            }
            Token::Word(_) | Token::Boolean(_) | Token::Null | Token::Number(_) if is_key => {
                report(Leniency::BareKey(here, format!("\"{written}\"")));
            }
            Token::Number(number) => {
                let is_json = serde_json::from_str::<Number>(number).is_ok();
                let value = self::number(number);
                if let (false, Some(value)) = (is_json, value) {
                    report(Leniency::Number(here, value.to_string()));
                }
            }
            _ => {}
        }
        last = Some(it);
    }
    if let (Some((&first, rest)), false) = (remarks.split_first(), comments) {
        let comments = Leniency::Comments(first, rest.to_vec());
        diags.push(lenient_json(comments, place.is_file()));
    }
}

fn ends_value(token: &Token<'_>) -> bool {
    matches!(token, Token::CloseBrace | Token::CloseBracket) || is_scalar(token)
}

fn starts_value(token: &Token<'_>) -> bool {
    matches!(token, Token::OpenBrace | Token::OpenBracket) || is_scalar(token)
}

fn is_scalar(token: &Token<'_>) -> bool {
    matches!(
        token,
        Token::String(_) | Token::Word(_) | Token::Boolean(_) | Token::Number(_) | Token::Null
    )
}

/// Returns true if a token is a text that continues over the end of its line.
fn breaks_line(place: Place<'_>, token: &TokenAndRange<'_>) -> bool {
    let written = place.text().get(token.range.start..token.range.end);
    matches!(token.token, Token::String(_)) && written.is_some_and(|it| it.contains('\n'))
}

/// Returns the span of the first line of a range.
fn first_line(place: Place<'_>, range: Range) -> Span {
    let written = place.text().get(range.start..range.end).unwrap_or_default();
    let line = written.lines().next().unwrap_or_default().trim_end();
    place.bytes(range.start, range.start + line.len())
}

/// Reports an error of the parser or the scanner.
fn syntax(place: Place<'_>, error: &ParseError) -> Diagnostic {
    use ParseErrorKind as Kind;
    let range = error.range();
    let opening = place.bytes(range.start, range.start + 1);
    let here = place.bytes(range.start, range.end);
    let found = match place
        .text()
        .get(here_range(place, range))
        .unwrap_or_default()
    {
        "" => "the end".to_owned(),
        text => format!("`{}`", text.lines().next().unwrap_or_default()),
    };
    match error.kind() {
        Kind::UnterminatedObject => unclosed(opening, "{", "}"),
        Kind::UnterminatedArray => unclosed(opening, "[", "]"),
        Kind::UnterminatedCommentBlock => unclosed(opening, "/*", "*/"),
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => {
            unclosed_string(first_line(place, range))
        }
        Kind::String(_) => json_syntax(
            here,
            &format!("expected an escape that JSON has, found {found}"),
        ),
        Kind::ExpectedColonAfterObjectKey => {
            json_syntax(here, &format!("expected `:` after a key, found {found}"))
        }
        Kind::ExpectedObjectValue => {
            json_syntax(here, &format!("expected a value after `:`, found {found}"))
        }
        Kind::MultipleRootJsonValues => json_syntax(
            here,
            &format!("expected the end of the text, found {found}"),
        ),
        Kind::UnexpectedTokenInObject => {
            json_syntax(here, &format!("expected a key or `}}`, found {found}"))
        }
        Kind::ExpectedDigit
        | Kind::ExpectedDigitFollowingNegativeSign
        | Kind::ExpectedPlusMinusOrDigitInNumberLiteral => {
            json_syntax(here, &format!("expected a digit, found {found}"))
        }
        _ => json_syntax(here, &format!("expected a value, found {found}")),
    }
}

/// Returns the range of an error, cut to the text.
fn here_range(place: Place<'_>, range: Range) -> std::ops::Range<usize> {
    let end = range.end.min(place.text().len());
    range.start.min(end)..end
}

/// Returns the first value under that key.
pub(super) fn get<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Value<'t>> {
    object
        .properties
        .iter()
        .find(|property| property.name.as_str() == key)
        .map(|property| &property.value)
}

/// Names the kind of a value.
pub(super) fn words(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(it) if it.value => "`true`",
        Value::BooleanLit(_) => "`false`",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "`null`",
    }
}

/// Reads a number: exact if it is whole and within 64 bits, else the nearest float.
///
/// It is `None` for a whole number beyond, for one past every float, and for what isn't a number (`NaN`).
pub(super) fn number(text: &str) -> Option<Number> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain),
    };
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return if sign.is_empty() {
            u64::from_str_radix(hex, 16).ok().map(Number::from)
        } else {
            i64::from_str_radix(&format!("-{hex}"), 16)
                .ok()
                .map(Number::from)
        };
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match plain.parse::<i64>() {
            Ok(value) => Some(value.into()),
            Err(_) => plain.parse::<u64>().ok().map(Number::from),
        };
    }
    Number::from_f64(plain.parse::<f64>().ok()?)
}

/// Converts a value for a host. A number that has no exact form is null; it was reported.
///
/// Recursion is bounded: the text was refused if it nests deeper than [`MAX_DEPTH`](MAX_DEPTH).
pub(super) fn value(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(it) => it.value.as_ref().into(),
        Value::NumberLit(it) => number(it.value).map_or(serde_json::Value::Null, Into::into),
        Value::BooleanLit(it) => it.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(it) => it.elements.iter().map(self::value).collect(),
        Value::Object(it) => {
            let mut map = serde_json::Map::new();
            for property in &it.properties {
                // Of two equal keys the first counts, as everywhere in this front end; the second was reported.
                if !map.contains_key(property.name.as_str()) {
                    map.insert(
                        property.name.as_str().to_owned(),
                        self::value(&property.value),
                    );
                }
            }
            map.into()
        }
    }
}

/// A place where a text leaves JSON, with what JSON has instead where that is certain.
#[derive(Clone, Debug)]
enum Leniency {
    /// The first comment, and the others.
    Comments(Span, Vec<Span>),
    /// The comma.
    TrailingComma(Span),
    /// The place where the comma is missing.
    MissingComma(Span),
    /// The text, and how JSON writes it.
    SingleQuotes(Span, String),
    /// The text, and how JSON writes it.
    ControlCharacter(Span, String),
    /// The text, and how JSON writes it.
    Escape(Span, String),
    /// The key, and how JSON writes it.
    BareKey(Span, String),
    /// The number, and how JSON writes it.
    Number(Span, String),
}

/// Reports that something else was expected; `message` says what, and what was found.
fn json_syntax(place: Span, message: &str) -> Diagnostic {
    broken_json(place, message).help("mend the JSON; nothing of the definition is read until then")
}

/// Reports that what opens there is never closed.
fn unclosed(opening: Span, open: &str, close: &str) -> Diagnostic {
    broken_json(opening, format!("`{open}` is never closed"))
        .label("opened here")
        .help(format!("write `{close}` where it ends"))
}

/// Reports an object or list that isn't closed, at the place where its sign is missing.
fn unclosed_where_lost(place: Place<'_>, unclosed: &Unclosed) -> Diagnostic {
    let (open, close) = if unclosed.is_object {
        ("{", "}")
    } else {
        ("[", "]")
    };
    let end = place.bytes(unclosed.end, unclosed.end);
    let opening = place.bytes(unclosed.opening.start, unclosed.opening.end);
    let comma = if unclosed.lacks_comma { "," } else { "" };
    broken_json(end, format!("`{open}` is never closed"))
        .label(format!("`{close}` is missing here, or before"))
        .related(opening, "opened here")
        .note("nothing of the definition is read until then")
        .unsafe_fix(
            format!("write `{close}{comma}`"),
            end,
            format!("{close}{comma}"),
        )
}

/// Reports that a text that begins there isn't closed on its line.
fn unclosed_string(line: Span) -> Diagnostic {
    broken_json(line, "this text isn't closed on its line")
        .help("close it with `\"`; a line break in a string is written `\\n`, a quote `\\\"`")
}

/// Objects and lists are nested deeper than anybody reads.
fn nested_too_deep(opening: Span, most: usize) -> Diagnostic {
    let message = format!("objects and lists are nested deeper than {most} levels here");
    broken_json(opening, message).help("nest less deeply")
}

fn broken_json(place: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::JsonSyntax, place, message)
}

/// Reports JSON that is more lenient than the standard. The definition is read all the same.
///
/// `is_file`: the text is a whole file, not a fence.
fn lenient_json(leniency: Leniency, is_file: bool) -> Diagnostic {
    // A whole file is met in folders only by the name that it has.
    let allowing = |instead: &str| match is_file {
        true => instead.to_owned(),
        false => ", or mark the fence as `jsonc definition`".to_owned(),
    };
    let rewrite = |place, message, written: String| {
        let order = format!("write `{written}`");
        leniency_at(place, message)
            .help(order.clone())
            .safe_fix(order, place, written)
    };
    match leniency {
        Leniency::Comments(first, others) => {
            let help = format!(
                "drop the comments{}",
                allowing(", or write them as `description`")
            );
            let found = leniency_at(first, "JSON has no comments").help(help);
            others
                .into_iter()
                .fold(found, |found, other| found.related(other, "another one"))
        }
        Leniency::TrailingComma(comma) => {
            leniency_at(comma, "JSON has no comma after the last item")
                .help(format!("drop the comma{}", allowing("")))
                .safe_fix("drop the comma", comma, "")
        }
        Leniency::MissingComma(place) => leniency_at(place, "a comma is missing here")
            .help("write a comma between two items")
            .safe_fix("write the comma", place, ","),
        Leniency::SingleQuotes(text, plain) => {
            rewrite(text, "JSON has no strings in single quotes", plain)
        }
        Leniency::ControlCharacter(text, plain) => rewrite(
            text,
            "a string has no line breaks or tabs in JSON but as escapes",
            plain,
        ),
        Leniency::Escape(text, plain) => rewrite(
            text,
            "this text has an escape that JSON doesn't have",
            plain,
        ),
        Leniency::BareKey(key, plain) => rewrite(key, "a key needs double quotes in JSON", plain),
        Leniency::Number(number, plain) => {
            rewrite(number, "JSON doesn't write numbers like this", plain)
        }
    }
}

fn leniency_at(place: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::LenientJson, place, message)
}
