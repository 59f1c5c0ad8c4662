//! ECMAScript spelled as an expression of ours, where both can say the same.
//!
//! | ECMAScript | ours |
//! |---|---|
//! | `===`, `!==` | `==`, `!=` |
//! | `In('a')` | `in_state('a')` |
//! | `_event.data.x` | `event.x` |
//! | `typeof x === 'undefined'`, `x === undefined` | `!has(x)` |
//! | `x == undefined` | `(!has(x) || x == null)` |
//!
//! Every letter keeps its place in the file, so that findings point at what the author wrote. Of `_event`, what no event of
//! the document has ([`NEVER`]) is undefined, and only that can be asked.

use crate::excerpt::Excerpt;

/// Words that are spelled otherwise, the longest first.
const WORDS: [(&str, &str); 4] = [
    ("===", "=="),
    ("!==", "!="),
    ("_event.data", "event"),
    ("In(", "in_state("),
];

/// Fields of an event that are never there.
///
/// Nothing is invoked here, and only the error of a `<send>` that fails has the other.
pub(super) const NEVER: &[&str] = &["_event.invokeid", "_event.sendid"];

/// [`NEVER`], where a `<send>` fails.
pub(super) const NEVER_OF_FAILURES: &[&str] = &["_event.invokeid"];

/// Rewrites ECMAScript as an expression of ours. `never` is undefined in every event.
pub(super) fn native(text: &Excerpt, never: &[&str]) -> Excerpt {
    let mut spelled = Excerpt::new(text.file());
    let all = text.text();
    let mut quote: Option<char> = None;
    let mut before = ' ';
    // The last character that isn't white space: a question begins after these alone, or it asks of more.
    let mut last = '(';
    let mut at = 0;
    while let Some(rest) = all.get(at..).filter(|rest| !rest.is_empty()) {
        if quote.is_none()
            && let Some((ours, length)) =
                spelling(rest, before, matches!(last, '(' | '&' | '|'), never)
        {
            // Letter by letter at one place: the words aren't equally long.
            let source = text.span(at..at + length).start;
            for letter in ours.chars() {
                spelled.push(letter.encode_utf8(&mut [0; 4]), source);
            }
            before = ours.chars().next_back().unwrap_or(' ');
            last = before;
            at += length;
            continue;
        }
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { break };
        let mut length = letter.len_utf8();
        match quote {
            Some(_) if letter == '\\' => {
                length += letters.next().map_or(0, char::len_utf8);
            }
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            _ => {}
        }
        let range = at..at + length;
        let source = text.span(range.clone()).start;
        spelled.push(all.get(range).unwrap_or(""), source);
        before = letter;
        if !letter.is_whitespace() {
            last = letter;
        }
        at += length;
    }
    spelled
}

/// Rewrites the beginning of a text, and returns its length as well.
///
/// `before` is the character before it.
fn spelling(rest: &str, before: char, may_ask: bool, never: &[&str]) -> Option<(String, usize)> {
    let is_start = !(is_word(before) || before == '.');
    if is_start
        && may_ask
        && let Some(found) = presence(rest, never)
    {
        return Some(found);
    }
    let (word, ours) = WORDS.iter().find(|(word, _)| {
        let is_sign = word.ends_with('=');
        rest.starts_with(word) && (is_sign || is_start)
    })?;
    Some(((*ours).to_owned(), word.len()))
}

/// Rewrites a test that something is undefined.
fn presence(text: &str, never: &[&str]) -> Option<(String, usize)> {
    let after_typeof = text.strip_prefix("typeof ").map(str::trim_start);
    let rest = after_typeof.unwrap_or(text);
    let end = rest
        .find(|letter: char| !(is_word(letter) || letter == '.'))
        .unwrap_or(rest.len());
    let (path, rest) = rest.split_at_checked(end)?;
    let rest = rest.trim_start();
    let signs = ["===", "!==", "==", "!="];
    let sign = signs.iter().find(|sign| rest.starts_with(**sign))?;
    let rest = rest.strip_prefix(sign)?.trim_start();
    let rest = if after_typeof.is_some() {
        let texts = ["'undefined'", "\"undefined\""];
        texts.iter().find_map(|text| rest.strip_prefix(text))?
    } else {
        let rest = rest.strip_prefix("undefined")?;
        (!rest.starts_with(|letter| is_word(letter) || letter == '.')).then_some(rest)?
    };
    // What no field can be called stays as it is: its error points at the author's own text.
    if path.is_empty() || !path.is_ascii() || path.starts_with(|first: char| first.is_ascii_digit())
    {
        return None;
    }
    if !rest.trim_start().is_empty() && !rest.trim_start().starts_with([')', '&', '|']) {
        return None;
    }
    let is_equal = sign.starts_with('=');
    let ours = if never.contains(&path) {
        is_equal.to_string()
    } else {
        let inside = path.strip_prefix("_event.data.");
        let path = inside.map_or_else(|| path.to_owned(), |inside| format!("event.{inside}"));
        // `typeof null` is another word, and `null == undefined`.
        let with_null = after_typeof.is_none() && sign.len() == 2;
        match (is_equal, with_null) {
            (true, false) => format!("!has({path})"),
            (false, false) => format!("has({path})"),
            (true, true) => format!("(!has({path}) || {path} == null)"),
            (false, true) => format!("(has({path}) && {path} != null)"),
        }
    };
    Some((ours, text.len() - rest.len()))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The words that begin a statement, and so no expression. Source: ECMA-262, *ReservedWord*.
const STATEMENTS: [&str; 17] = [
    "break", "case", "catch", "const", "continue", "debugger", "do", "else", "finally", "for",
    "if", "return", "switch", "throw", "try", "var", "while",
];

/// Returns true if a text is certainly no expression of ECMAScript.
///
/// It begins as a statement does, or its brackets don't match.
pub(super) fn is_no_expression(text: &str) -> bool {
    let text = text.trim();
    let end = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    let (first, _) = text.split_at_checked(end).unwrap_or(("", ""));
    STATEMENTS.contains(&first) || has_open_brackets(text)
}

fn has_open_brackets(text: &str) -> bool {
    // A regular expression or a template may hold a bracket as a letter.
    if text.contains(['/', '`']) {
        return false;
    }
    let mut open = Vec::new();
    let mut quote: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => {
                letters.next();
            }
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => open.push(')'),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ')' | ']' | '}') if open.pop() != Some(letter) => return true,
            (None, _) => {}
        }
    }
    !open.is_empty() || quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::{NEVER, is_no_expression, native};
    use crate::excerpt::Excerpt;
    use crate::source::Sources;

    #[test]
    fn ecmascript_is_spelled_as_ours() {
        for (text, expected) in [
            ("x === 1 && y !== 2", "x == 1 && y != 2"),
            ("In('a') || !In('b')", "in_state('a') || !in_state('b')"),
            ("_event.data.x > 1", "event.x > 1"),
            (
                "x == '=== In(' && In('c')",
                "x == '=== In(' && in_state('c')",
            ),
            (r"x == '\'===' ", r"x == '\'===' "),
            ("myIn(1)", "myIn(1)"),
            ("typeof x === 'undefined' && y", "!has(x) && y"),
            ("typeof a.b != \"undefined\"", "has(a.b)"),
            ("typeof _event.data.x == 'undefined'", "!has(event.x)"),
            ("typeof _event.sendid === 'undefined'", "true"),
            ("x === undefined || y", "!has(x) || y"),
            ("x == undefined", "(!has(x) || x == null)"),
            ("y && x != undefined", "y && (has(x) && x != null)"),
            ("x === undefinedness", "x == undefinedness"),
            ("(x === undefined)", "(!has(x))"),
            ("y + x === undefined", "y + x == undefined"),
            ("!x === undefined", "!x == undefined"),
            ("x === undefined + y", "x == undefined + y"),
            ("'x === undefined'", "'x === undefined'"),
            ("typeof x === 'number'", "typeof x == 'number'"),
        ] {
            let mut sources = Sources::new();
            let file = sources.add("cond", text);
            assert_eq!(native(&Excerpt::whole(file, text), NEVER).text(), expected);
        }
    }

    #[test]
    fn what_is_certainly_no_expression() {
        for (text, expected) in [
            ("return", true),
            (" return 1", true),
            ("returned", false),
            ("{p1: 'v1'", true),
            ("(a)]", true),
            ("a['(']", false),
            ("'it", true),
            (r"'it\''", false),
            ("/[(]/.test(a)", false),
            ("a + 1", false),
            ("", false),
        ] {
            assert_eq!(is_no_expression(text), expected, "{text}");
        }
    }
}
