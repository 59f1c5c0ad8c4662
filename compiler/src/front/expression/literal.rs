//! Literals of numbers and texts: from the token to the value.

use super::ast::Literal;

/// Decodes a quoted token; `Err` with the bytes of the first escape that CEL doesn't have.
pub(super) fn text(token: &str) -> Result<String, std::ops::Range<usize>> {
    if let Some(raw) = token.strip_prefix(['r', 'R']) {
        return Ok(inner(raw).to_owned());
    }
    let body = inner(token);
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let (plain, mark) = rest.split_at_checked(at).unwrap_or((rest, ""));
        text.push_str(plain);
        let start = 1 + body.len() - mark.len();
        let (c, length) = escape(mark).ok_or_else(|| {
            let length = mark.chars().take(2).map(char::len_utf8).sum::<usize>();
            start..start + length
        })?;
        text.push(c);
        rest = mark.get(length..).unwrap_or("");
    }
    text.push_str(rest);
    Ok(text)
}

/// Returns the text between the quotes.
fn inner(token: &str) -> &str {
    token
        .get(1..token.len().saturating_sub(1))
        .unwrap_or_default()
}

/// Returns the character of an escape, and its length in bytes. `mark` begins with the backslash.
fn escape(mark: &str) -> Option<(char, usize)> {
    let kind = mark.chars().nth(1)?;
    let simple = match kind {
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        '\\' | '?' | '"' | '\'' | '`' => Some(kind),
        _ => None,
    };
    if let Some(c) = simple {
        return Some((c, 2));
    }
    let (digits, radix, at) = match kind {
        'x' | 'X' => (2, 16, 2),
        'u' => (4, 16, 2),
        'U' => (8, 16, 2),
        '0'..='3' => (3, 8, 1),
        _ => return None,
    };
    let written = mark.get(at..at + digits)?;
    let is_number = written.chars().all(|c| c.is_digit(radix));
    let code = u32::from_str_radix(written, radix)
        .ok()
        .filter(|_| is_number)?;
    Some((char::from_u32(code)?, at + digits))
}

/// Returns the value of a number token; `None` if it is out of range.
///
/// The minus sign before it belongs to it if it is `negative`.
pub(super) fn number(token: &str, negative: bool) -> Option<Literal> {
    if let Some(digits) = token.strip_suffix(['u', 'U']) {
        let value = match hexadecimal(digits) {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        return (!negative).then_some(Literal::Unsigned(value));
    }
    let sign = if negative { "-" } else { "" };
    if let Some(digits) = hexadecimal(token) {
        let value = i64::from_str_radix(&format!("{sign}{digits}"), 16);
        return value.ok().map(Literal::Int);
    }
    let signed = format!("{sign}{token}");
    if token.contains(['.', 'e', 'E']) {
        let value: f64 = signed.parse().ok()?;
        return value.is_finite().then_some(Literal::Float(value));
    }
    signed.parse().ok().map(Literal::Int)
}

fn hexadecimal(token: &str) -> Option<&str> {
    token
        .strip_prefix("0x")
        .or_else(|| token.strip_prefix("0X"))
}

/// Returns true if a number is an integer past `i64::MAX` that would fit with a `u` after it.
pub(super) fn fits_unsigned(token: &str, negative: bool) -> bool {
    !negative
        && !token.ends_with(['u', 'U'])
        && number(&format!("{token}u"), false).is_some()
        && !token.contains(['.', 'e', 'E'])
}
