//! A lexer for Rust, as exact as the checks need it.

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword, without `r#`.
    Word,
    /// The text of a `///` line.
    Doc,
    /// The text of a `//!` line.
    Head,
    /// A string, character, number or lifetime.
    Literal,
    /// A single sign.
    Sign,
}

/// A token and the line that it begins on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// Splits a source into tokens, without white space and comments that aren't documentation.
pub(crate) fn lex(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(letter) = rest.chars().next() {
        let (kind, length) = first(rest, letter);
        let Some((text, after)) = rest.split_at_checked(length) else {
            break;
        };
        let text_of = match kind {
            Some(Kind::Doc) => text.strip_prefix("///").unwrap_or(text).trim(),
            Some(Kind::Head) => text.strip_prefix("//!").unwrap_or(text).trim(),
            Some(Kind::Word) => text.strip_prefix("r#").unwrap_or(text),
            _ => text,
        };
        if let Some(kind) = kind {
            tokens.push(Token {
                kind,
                text: text_of,
                line,
            });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

/// Returns the kind of the first token, if it counts, and its length in bytes.
fn first(rest: &str, letter: char) -> (Option<Kind>, usize) {
    let until_end = || rest.find('\n').unwrap_or(rest.len());
    if rest.starts_with("//!") {
        return (Some(Kind::Head), until_end());
    }
    if rest.starts_with("///") && !rest.starts_with("////") {
        return (Some(Kind::Doc), until_end());
    }
    if rest.starts_with("//") {
        return (None, until_end());
    }
    if rest.starts_with("/*") {
        return (None, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Some(Kind::Literal), length);
    }
    if letter == '\'' {
        return (Some(Kind::Literal), quoted(rest));
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    if letter.is_ascii_digit() {
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        return (Some(Kind::Literal), length);
    }
    if is_part(letter) {
        let raw = if rest.starts_with("r#") { 2 } else { 0 };
        let name = rest.get(raw..).unwrap_or_default();
        let length = name.find(|letter| !is_part(letter)).unwrap_or(name.len());
        return (Some(Kind::Word), raw + length);
    }
    let kind = if letter.is_whitespace() {
        None
    } else {
        Some(Kind::Sign)
    };
    (kind, letter.len_utf8())
}

/// Returns the length of a comment in `/* … */`, which may hold others.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (at, pair) in rest.as_bytes().windows(2).enumerate() {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 2;
        }
    }
    rest.len()
}

/// Returns the length of a string of any kind, if one begins here.
fn string(rest: &str) -> Option<usize> {
    let begun = rest.trim_start_matches(['b', 'c', 'r']);
    let prefix = rest.len() - begun.len();
    let is_raw = rest.get(..prefix)?.contains('r');
    if prefix > 2 {
        return None;
    }
    let signs = if is_raw {
        begun.len() - begun.trim_start_matches('#').len()
    } else {
        0
    };
    let inside = begun.get(signs..)?.strip_prefix('"')?;
    let head = prefix + signs + 1;
    if is_raw {
        let end = format!("\"{}", "#".repeat(signs));
        let at = inside.find(&end).unwrap_or(inside.len());
        return Some((head + at + end.len()).min(rest.len()));
    }
    let mut is_escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(head + at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// Returns the length of a character or lifetime.
fn quoted(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((at, _))) => {
            let after = rest.get(at + 1..).unwrap_or_default();
            at + 1 + after.find('\'').map_or(after.len(), |end| end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_from_text() {
        let source = "/// Doc.\nfn r#of<'a>(it: &'a str) -> char { /* no /* fn */ */ '\\'' // told\n}\nlet s = r#\"fn \" told\"#; b'x'; \"\\\"\"";
        let tokens = lex(source);
        let words: Vec<&str> = tokens
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .map(|token| token.text)
            .collect();
        assert_eq!(
            words,
            ["fn", "of", "a", "it", "a", "str", "char", "let", "s", "b"]
        );
        assert_eq!((tokens[0].kind, tokens[0].text), (Kind::Doc, "Doc."));
        assert_eq!(tokens.last().map(|token| token.line), Some(4));
    }
}
