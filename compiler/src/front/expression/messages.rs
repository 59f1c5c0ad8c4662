//! Messages about expressions: `SM510` `broken-expression` and `SM511` `unsupported-expression`.

use std::ops::Range;

use super::Written;
use crate::diag::{Applicability, Code, Diagnostic, Edit, nearest};

/// The functions of expressions.
pub(super) const FUNCTIONS: [&str; 3] = ["has", "size", "in_state"];

fn broken(written: &Written, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BrokenExpression, written.span(range), message)
}

fn word_at<'w>(written: &'w Written, range: &Range<usize>) -> &'w str {
    written.text().get(range.clone()).unwrap_or("")
}

/// Describes what was found there, for a message.
fn found_at(written: &Written, range: &Range<usize>) -> String {
    match word_at(written, range) {
        "" => "the end".to_owned(),
        word => format!("`{word}`"),
    }
}

/// Adds the fix that writes `text` there, if the place can be written to.
fn with_fix(
    diagnostic: Diagnostic,
    written: &Written,
    range: Range<usize>,
    title: String,
    text: String,
) -> Diagnostic {
    match written.exact_span(range) {
        Some(place) => diagnostic.unsafe_fix(title, place, text),
        None => diagnostic.help(title),
    }
}

/// Reports `=`, `and`, `≤` in place of CEL's operators.
pub(super) fn misspelled(written: &Written, range: Range<usize>, right: &str) -> Diagnostic {
    let wrong = word_at(written, &range);
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
    with_fix(
        diagnostic,
        written,
        range.start..end,
        format!("write `{right}`"),
        text,
    )
}

/// Reports `1 < x < 10`.
pub(super) fn chained_comparison(
    written: &Written,
    first: &Range<usize>,
    middle: &Range<usize>,
    second: &Range<usize>,
) -> Diagnostic {
    let middle = word_at(written, middle).trim();
    let message = format!(
        "comparisons don't chain: found `{}` after `{}`",
        word_at(written, second),
        word_at(written, first)
    );
    let diagnostic = broken(written, second.clone(), message)
        .label("a second comparison")
        .note("a comparison gives `true` or `false`, which the next one would compare with");
    let and = format!("&& {middle} ");
    with_fix(
        diagnostic,
        written,
        second.start..second.start,
        format!("write `&& {middle}` before it"),
        and,
    )
}

/// Reports something else, or nothing, in place of a value.
pub(super) fn expected_value(written: &Written, range: Range<usize>) -> Diagnostic {
    let found = found_at(written, &range);
    broken(written, range, format!("expected a value, found {found}"))
        .label("a field, a number, a string in quotes or a parenthesis belongs here")
}

/// Reports something else in place of an operator.
pub(super) fn expected_operator(written: &Written, range: Range<usize>) -> Diagnostic {
    let found = found_at(written, &range);
    broken(
        written,
        range,
        format!("expected an operator such as `==` or `&&`, found {found}"),
    )
    .label("what connects it with the text before it?")
    .help("a string needs quotes: `status == \"in progress\"`")
}

/// Reports something else than a name after a dot.
pub(super) fn expected_name(written: &Written, dot: Range<usize>) -> Diagnostic {
    broken(written, dot, "expected a name after the dot").label("a field or a method belongs here")
}

/// Reports `x not in [1, 2]`.
pub(super) fn not_in(written: &Written, range: Range<usize>) -> Diagnostic {
    broken(written, range, "expected an operator, found `not`")
        .help("put `!` before the whole question: `!(status in [\"ok\", \"warn\"])`")
}

/// Reports `!-x`.
pub(super) fn mixed_signs(written: &Written, range: Range<usize>) -> Diagnostic {
    broken(written, range, "`!` and `-` can't follow each other")
        .label("one is for truth values, the other for numbers")
        .help("put the inner one in parentheses")
}

/// Reports a parenthesis or bracket without its partner.
pub(super) fn unclosed_bracket(
    written: &Written,
    opening: Range<usize>,
    sign: &str,
    here: Range<usize>,
) -> Diagnostic {
    let opened = word_at(written, &opening).to_owned();
    let instead = found_at(written, &here);
    let message = format!("`{opened}` isn't closed: expected `{sign}`, found {instead}");
    let is_end = word_at(written, &here).is_empty();
    let diagnostic = broken(written, opening, message).label("opened here");
    if is_end {
        let title = format!("write `{sign}` at the end");
        return with_fix(
            diagnostic,
            written,
            here.start..here.start,
            title,
            sign.to_owned(),
        );
    }
    diagnostic.related(written.span(here), format!("`{sign}` belongs before this"))
}

/// Reports a closing parenthesis that nothing opens.
pub(super) fn nothing_to_close(written: &Written, range: Range<usize>) -> Diagnostic {
    let diagnostic =
        broken(written, range.clone(), "this `)` closes nothing").label("no `(` before it");
    with_fix(
        diagnostic,
        written,
        range,
        "remove it".to_owned(),
        String::new(),
    )
}

/// Reports a quote without its partner.
pub(super) fn unclosed_string(written: &Written, range: Range<usize>) -> Diagnostic {
    let quote = word_at(written, &range).chars().next().unwrap_or('"');
    let first = range.start..range.start + 1;
    broken(
        written,
        first,
        format!("this text isn't closed: no `{quote}` after it"),
    )
    .label("the text begins here")
    .help("close it where it ends")
}

/// Reports `“ok”`.
pub(super) fn curly_quotes(written: &Written, range: Range<usize>) -> Diagnostic {
    let text = word_at(written, &range);
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
        format!("a string needs straight quotes, found `{text}`"),
    );
    with_fix(
        diagnostic,
        written,
        range,
        format!("write `{straight}`"),
        straight,
    )
}

/// Reports `"\d"`.
pub(super) fn no_such_escape(written: &Written, range: Range<usize>) -> Diagnostic {
    let escape = word_at(written, &range).to_owned();
    broken(written, range, format!("`{escape}` is no escape that a string may have"))
        .help("write a backslash as `\\\\`; the escapes are those of CEL: `\\n`, `\\t`, `\\\"`, `\\u00e9`, …")
}

/// Reports a number that no integer or float holds.
pub(super) fn out_of_range(
    written: &Written,
    range: Range<usize>,
    fits_unsigned: bool,
) -> Diagnostic {
    let number = word_at(written, &range).to_owned();
    let end = range.end;
    let diagnostic = broken(written, range, format!("`{number}` is past the range of numbers"))
        .note("integers go from -9223372036854775808 to 9223372036854775807, with a `u` after them from 0 to 18446744073709551615");
    if fits_unsigned {
        let title = format!("write `{number}u`");
        return with_fix(diagnostic, written, end..end, title, "u".to_owned());
    }
    diagnostic
}

/// Reports a word that CEL reserves.
pub(super) fn reserved_word(written: &Written, range: Range<usize>) -> Diagnostic {
    let name = word_at(written, &range).to_owned();
    broken(
        written,
        range,
        format!("`{name}` can't be the name of a field"),
    )
    .label("CEL keeps this word for itself")
    .help("give the field another name")
}

/// Reports a call with too few, too many or wrong arguments.
pub(super) fn wrong_argument(written: &Written, range: Range<usize>, name: &str) -> Diagnostic {
    let takes = match name {
        "has" => "the name of a field: `has(plan)`, `has(order.total)`",
        "in_state" => "the id of a state in quotes: `in_state(\"paid\")`",
        "size" => "one value, `size(items)`, or follows it: `items.size()`",
        _ => "one text: `name.startsWith(\"a\")`",
    };
    let found = found_at(written, &range);
    broken(
        written,
        range,
        format!("`{name}` takes {takes}; found {found}"),
    )
}

/// Reports prose in place of an expression.
pub(super) fn prose_as_value(written: &Written, edits: Vec<Edit>) -> Diagnostic {
    let text = written.text();
    let diagnostic = Diagnostic::new(
        Code::BrokenExpression,
        written.whole(),
        format!("`{text}` isn't an expression"),
    )
    .note("a string in an expression has quotes of its own");
    if edits.is_empty() {
        return diagnostic.help(format!("for a string write `'{text}'`"));
    }
    diagnostic.fix_all(
        Applicability::Unsafe,
        format!("make it the text `'{text}'`"),
        edits,
    )
}

fn unsupported(written: &Written, range: Range<usize>, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedExpression,
        written.span(range),
        format!("{what} can't be used in an expression"),
    )
}

/// Reports `a ? b : c`.
pub(super) fn conditional(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "`? :`")
        .label("a choice of values")
        .help("for a truth value write `(a && b) || (!a && c)`; for an action make two transitions, each with its guard")
}

/// Reports `a[0]`.
pub(super) fn index(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "an index (`[…]`)")
        .label("a place in a list, or a key")
        .help("ask `x in list` whether a list has a value, and write a field of an object with a dot: `order.total`")
}

/// Reports `[1, 2]` that doesn't follow `in`.
pub(super) fn list(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a list here")
        .label("a list may only follow `in`")
        .help("write `x in [1, 2]`")
}

/// Reports `{"a": 1}`.
pub(super) fn object(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "an object (`{…}`)").help("compare or assign its fields one by one")
}

/// Reports `a ** b`.
pub(super) fn power(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a power (`**`)").help("write the product: `x * x`")
}

/// Reports `b"…"`.
pub(super) fn bytes(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a byte string (`b\"…\"`)").help("write it without the `b`")
}

/// Reports `x in [a, b]`.
pub(super) fn list_item(written: &Written, range: Range<usize>) -> Diagnostic {
    let item = written.text().get(range.clone()).unwrap_or("").to_owned();
    unsupported(written, range, &format!("`{item}` as an item of a list"))
        .label("a list holds numbers, strings, `true`, `false` or `null`")
        .help(format!(
            "compare with it on its own: `x == {item} || x in […]`"
        ))
}

/// Reports `(a + b).c`.
pub(super) fn field_of_value(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a field of a computed value")
        .help("read fields by their own path: `order.total`")
}

/// Reports `all(…)`, `isValid()`, `string(x)`.
pub(super) fn function(
    written: &Written,
    range: Range<usize>,
    whole: Range<usize>,
    name: &str,
    is_empty: bool,
) -> Diagnostic {
    let known = "the functions are `has(field)`, `size(value)` and `in_state(\"state\")`";
    if is_empty && name != "now" {
        let diagnostic = Diagnostic::new(
            Code::UnsupportedExpression,
            written.span(whole.clone()),
            format!("a guard is asked by its name: found the call `{name}()`"),
        )
        .note(known);
        let title = format!("write `{name}`");
        return match written.exact_span(whole) {
            Some(place) => diagnostic.unsafe_fix(title, place, name),
            None => diagnostic.help(title),
        };
    }
    let place = written.exact_span(range.clone());
    let diagnostic = unsupported(written, range, &format!("the function `{name}`"));
    match name {
        "int" | "uint" | "double" | "string" | "bool" | "bytes" | "dyn" | "type" => diagnostic
            .help("values aren't converted: give the field the type that you compare with"),
        "timestamp" | "duration" | "now" => diagnostic.help(
            "time comes from outside: send it with an event, or use a transition `after 30s`",
        ),
        "exists" | "count" => diagnostic.help("ask `has(field)` whether a field is there"),
        "length" | "len" => diagnostic.help("write `size(value)`"),
        _ => {
            let diagnostic = diagnostic.note(known);
            let Some(meant) = nearest(name, FUNCTIONS) else {
                return diagnostic.help(format!(
                    "have the host answer it: a guard `{name}`, without arguments"
                ));
            };
            let help = format!("did you mean `{meant}`?");
            match place {
                Some(place) => {
                    let title = format!("write `{meant}`");
                    diagnostic.help(help).unsafe_fix(title, place, meant)
                }
                None => diagnostic.help(help),
            }
        }
    }
}

/// Reports `.matches()`, `.all()`, `.includes()`.
pub(super) fn method(written: &Written, range: Range<usize>, name: &str) -> Diagnostic {
    let place = range.clone();
    let diagnostic = unsupported(written, range, &format!("the method `{name}`"));
    let plain = name.replace('_', "").to_lowercase();
    let meant = match plain.as_str() {
        "startswith" | "hasprefix" => "startsWith",
        "endswith" | "hassuffix" => "endsWith",
        "includes" | "contains" | "has" => "contains",
        "length" | "len" | "count" | "size" => "size",
        "matches" | "match" | "test" => {
            return diagnostic
                .label("regular expressions aren't supported")
                .help("use `startsWith`, `endsWith` or `contains`, or `in` with the strings that are meant");
        }
        "all" | "exists" | "existsone" | "map" | "filter" | "some" | "every" => {
            return diagnostic
                .label("walks over a list")
                .help("ask `x in list` whether a list has a value; for more have the host answer it as a guard");
        }
        _ => {
            return diagnostic
                .help("the methods are `startsWith`, `endsWith`, `contains` and `size`");
        }
    };
    let title = format!("write `{meant}`");
    match written.exact_span(place) {
        Some(place) => diagnostic.unsafe_fix(title, place, meant),
        None => diagnostic.help(title),
    }
}
