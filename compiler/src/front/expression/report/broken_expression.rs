//! SM510: an expression that can't be read.

use std::ops::Range;

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::expression::Written;

fn broken(written: &Written, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BrokenExpression, written.span(range), message)
}

fn word<'w>(written: &'w Written, range: &Range<usize>) -> &'w str {
    written.text().get(range.clone()).unwrap_or("")
}

/// What was found there, for a message.
fn found(written: &Written, range: &Range<usize>) -> String {
    match word(written, range) {
        "" => "the end".to_owned(),
        word => format!("`{word}`"),
    }
}

/// Adds the fix that writes `text` there, if the place can be written to.
fn write(
    diagnostic: Diagnostic,
    written: &Written,
    range: Range<usize>,
    title: String,
    text: String,
) -> Diagnostic {
    match written.place(range) {
        Some(place) => diagnostic.fix(Applicability::Unsafe, title, place, text),
        None => diagnostic.help(title),
    }
}

/// `=`, `and`, `≤` in place of what CEL has.
pub(in crate::front::expression) fn misspelled(
    written: &Written,
    range: Range<usize>,
    right: &str,
) -> Diagnostic {
    let wrong = word(written, &range);
    let what = match right {
        "==" => "equality is",
        "&&" => "*and* is",
        "||" => "*or* is",
        "!" => "*not* is",
        _ => "this comparison is",
    };
    let diagnostic = broken(
        written,
        range.clone(),
        format!("{what} written `{right}`, found `{wrong}`"),
    );
    // `not ready` loses its blank: `!ready`.
    let rest = written.text().get(range.end..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start().len();
    let end = if right == "!" {
        range.end + blanks
    } else {
        range.end
    };
    let needs_blank = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let before = written
        .text()
        .get(..range.start)
        .unwrap_or("")
        .chars()
        .last();
    let is_glued = |c| right != "!" && needs_blank(c);
    let text = match (is_glued(before), is_glued(rest.chars().next())) {
        (true, true) => format!(" {right} "),
        (true, false) => format!(" {right}"),
        (false, true) => format!("{right} "),
        (false, false) => right.to_owned(),
    };
    write(
        diagnostic,
        written,
        range.start..end,
        format!("write `{right}`"),
        text,
    )
}

/// `1 < x < 10`.
pub(in crate::front::expression) fn chained(
    written: &Written,
    first: &Range<usize>,
    middle: &Range<usize>,
    second: &Range<usize>,
) -> Diagnostic {
    let middle = word(written, middle).trim();
    let message = format!(
        "comparisons don't chain: found `{}` behind `{}`",
        word(written, second),
        word(written, first)
    );
    let diagnostic = broken(written, second.clone(), message)
        .label("a second comparison")
        .note("a comparison gives `true` or `false`, which the next one would compare with");
    let and = format!("&& {middle} ");
    write(
        diagnostic,
        written,
        second.start..second.start,
        format!("write `&& {middle}` in front of it"),
        and,
    )
}

/// Something else, or nothing, where a value should stand.
pub(in crate::front::expression) fn expected_value(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let found = found(written, &range);
    broken(written, range, format!("expected a value, found {found}"))
        .label("a field, a number, a text in quotes or a parenthesis belongs here")
}

/// Something else where an operator should stand.
pub(in crate::front::expression) fn expected_operator(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let found = found(written, &range);
    broken(
        written,
        range,
        format!("expected an operator such as `==` or `&&`, found {found}"),
    )
    .label("what connects it with what stands before it?")
    .help("a text needs quotes: `status == \"in progress\"`")
}

/// Something else behind a dot.
pub(in crate::front::expression) fn expected_name(
    written: &Written,
    dot: Range<usize>,
) -> Diagnostic {
    broken(written, dot, "expected a name behind the dot").label("a field or a method belongs here")
}

/// `x not in [1, 2]`.
pub(in crate::front::expression) fn not_in(written: &Written, range: Range<usize>) -> Diagnostic {
    broken(written, range, "expected an operator, found `not`")
        .help("put `!` in front of the whole question: `!(status in [\"ok\", \"warn\"])`")
}

/// `!-x`.
pub(in crate::front::expression) fn mixed_signs(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    broken(written, range, "`!` and `-` can't stand side by side")
        .label("one is for truth values, the other for numbers")
        .help("put the inner one in parentheses")
}

/// A parenthesis or bracket without its partner.
pub(in crate::front::expression) fn not_closed(
    written: &Written,
    opening: Range<usize>,
    sign: &str,
    here: Range<usize>,
) -> Diagnostic {
    let opened = word(written, &opening).to_owned();
    let instead = found(written, &here);
    let message = format!("`{opened}` isn't closed: expected `{sign}`, found {instead}");
    let is_end = word(written, &here).is_empty();
    let diagnostic = broken(written, opening, message).label("opened here");
    if is_end {
        let title = format!("write `{sign}` at the end");
        return write(
            diagnostic,
            written,
            here.start..here.start,
            title,
            sign.to_owned(),
        );
    }
    diagnostic.related(written.span(here), format!("`{sign}` belongs before this"))
}

/// A closing parenthesis that nothing opens.
pub(in crate::front::expression) fn nothing_to_close(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let diagnostic =
        broken(written, range.clone(), "this `)` closes nothing").label("no `(` before it");
    write(
        diagnostic,
        written,
        range,
        "remove it".to_owned(),
        String::new(),
    )
}

/// A quote without its partner.
pub(in crate::front::expression) fn unclosed_text(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let quote = word(written, &range).chars().next().unwrap_or('"');
    let first = range.start..range.start + 1;
    broken(
        written,
        first,
        format!("this text isn't closed: no `{quote}` behind it"),
    )
    .label("the text begins here")
    .help("close it where it ends")
}

/// `“ok”`.
pub(in crate::front::expression) fn curly_quotes(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let text = word(written, &range);
    let mut inner = text.chars();
    inner.next();
    inner.next_back();
    let inner = inner.as_str();
    // A double quote would end a JSON string, or would need a backslash there.
    let quote = if written.is_in_json() || inner.contains('"') {
        '\''
    } else {
        '"'
    };
    let straight = format!("{quote}{inner}{quote}");
    let diagnostic = broken(
        written,
        range.clone(),
        format!("a text needs straight quotes, found `{text}`"),
    );
    write(
        diagnostic,
        written,
        range,
        format!("write `{straight}`"),
        straight,
    )
}

/// `"\d"`.
pub(in crate::front::expression) fn no_such_escape(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    let escape = word(written, &range).to_owned();
    broken(written, range, format!("`{escape}` is no escape that a text may have"))
        .help("write a backslash as `\\\\`; the escapes are those of CEL: `\\n`, `\\t`, `\\\"`, `\\u00e9`, …")
}

/// A number that no integer or float holds.
pub(in crate::front::expression) fn out_of_range(
    written: &Written,
    range: Range<usize>,
    fits_unsigned: bool,
) -> Diagnostic {
    let number = word(written, &range).to_owned();
    let end = range.end;
    let diagnostic = broken(written, range, format!("`{number}` is past the range of numbers"))
        .note("integers go from -9223372036854775808 to 9223372036854775807, with a `u` behind them from 0 to 18446744073709551615");
    if fits_unsigned {
        let title = format!("write `{number}u`");
        return write(diagnostic, written, end..end, title, "u".to_owned());
    }
    diagnostic
}

/// A word that CEL keeps for itself.
pub(in crate::front::expression) fn reserved(written: &Written, range: Range<usize>) -> Diagnostic {
    let name = word(written, &range).to_owned();
    broken(
        written,
        range,
        format!("`{name}` can't be the name of a field"),
    )
    .label("CEL keeps this word for itself")
    .help("give the field another name")
}

/// A call with too few, too many or other arguments than it takes.
pub(in crate::front::expression) fn wrong_argument(
    written: &Written,
    range: Range<usize>,
    name: &str,
) -> Diagnostic {
    let takes = match name {
        "has" => "the name of a field: `has(plan)`, `has(order.total)`",
        "in_state" => "the id of a state in quotes: `in_state(\"paid\")`",
        "size" => "one value, `size(items)`, or stands behind it: `items.size()`",
        _ => "one text: `name.startsWith(\"a\")`",
    };
    let found = found(written, &range);
    broken(
        written,
        range,
        format!("`{name}` takes {takes}; found {found}"),
    )
}

/// Prose where an expression is asked for.
pub(in crate::front::expression) fn prose(written: &Written, edits: Vec<Edit>) -> Diagnostic {
    let text = written.text();
    let diagnostic = Diagnostic::new(
        Code::BrokenExpression,
        written.whole(),
        format!("`{text}` isn't an expression"),
    )
    .note("a text in an expression has quotes of its own");
    if edits.is_empty() {
        return diagnostic.help(format!("for a text write `'{text}'`"));
    }
    diagnostic.fix_all(
        Applicability::Unsafe,
        format!("make it the text `'{text}'`"),
        edits,
    )
}
