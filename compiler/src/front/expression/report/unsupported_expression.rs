//! SM511: a part of CEL that isn't in the subset.

use std::ops::Range;

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::expression::Written;

fn unsupported(written: &Written, range: Range<usize>, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedExpression,
        written.span(range),
        format!("{what} can't be used in an expression"),
    )
}

/// `a ? b : c`.
pub(in crate::front::expression) fn conditional(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    unsupported(written, range, "`? :`")
        .label("a choice of values")
        .help("for a truth value write `(a && b) || (!a && c)`; for an action make two transitions, each with its guard")
}

/// `a[0]`.
pub(in crate::front::expression) fn index(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "an index (`[…]`)")
        .label("a place in a list, or a key")
        .help("ask `x in list` whether a list has a value, and write a field of an object with a dot: `order.total`")
}

/// `[1, 2]` that isn't behind `in`.
pub(in crate::front::expression) fn list(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a list here")
        .label("a list may only stand behind `in`")
        .help("write `x in [1, 2]`")
}

/// `{"a": 1}`.
pub(in crate::front::expression) fn object(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "an object (`{…}`)").help("compare or assign its fields one by one")
}

/// `a ** b`.
pub(in crate::front::expression) fn power(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a power (`**`)").help("write the product: `x * x`")
}

/// `b"…"`.
pub(in crate::front::expression) fn bytes(written: &Written, range: Range<usize>) -> Diagnostic {
    unsupported(written, range, "a text of bytes (`b\"…\"`)").help("write it without the `b`")
}

/// `x in [a, b]`.
pub(in crate::front::expression) fn item(written: &Written, range: Range<usize>) -> Diagnostic {
    let item = written.text().get(range.clone()).unwrap_or("").to_owned();
    unsupported(written, range, &format!("`{item}` as an item of a list"))
        .label("a list holds numbers, texts, `true`, `false` or `null`")
        .help(format!(
            "compare with it on its own: `x == {item} || x in […]`"
        ))
}

/// `(a + b).c`.
pub(in crate::front::expression) fn field_of_value(
    written: &Written,
    range: Range<usize>,
) -> Diagnostic {
    unsupported(written, range, "a field of a computed value")
        .help("read fields by their own path: `order.total`")
}

/// `all(…)`, `isValid()`, `string(x)`.
pub(in crate::front::expression) fn function(
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
        return match written.place(whole) {
            Some(place) => diagnostic.fix(Applicability::Unsafe, title, place, name),
            None => diagnostic.help(title),
        };
    }
    let diagnostic = unsupported(written, range, &format!("the function `{name}`"));
    match name {
        "int" | "uint" | "double" | "string" | "bool" | "bytes" | "dyn" | "type" => diagnostic
            .help("values aren't converted: give the field the type that you compare with"),
        "timestamp" | "duration" | "now" => diagnostic.help(
            "time comes from outside: send it with an event, or use a transition `after 30s`",
        ),
        "exists" | "count" => diagnostic.help("ask `has(field)` whether a field is there"),
        "length" | "len" => diagnostic.help("write `size(value)`"),
        _ => diagnostic.note(known).help(format!(
            "have the host answer it: a guard `{name}`, without arguments"
        )),
    }
}

/// `.matches()`, `.all()`, `.includes()`.
pub(in crate::front::expression) fn method(
    written: &Written,
    range: Range<usize>,
    name: &str,
) -> Diagnostic {
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
                .help("use `startsWith`, `endsWith` or `contains`, or `in` with the texts that are meant");
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
    match written.place(place) {
        Some(place) => diagnostic.fix(Applicability::Unsafe, title, place, meant),
        None => diagnostic.help(title),
    }
}
