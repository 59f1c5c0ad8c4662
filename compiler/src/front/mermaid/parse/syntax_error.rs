//! Messages of `SM105` `syntax-error`: statements that Mermaid can't read.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::messages::{self, quote, slug};
use crate::source::{Span, Spanned};

/// Creates an `SM105` diagnostic.
fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SyntaxError, span, message)
}

/// Reports a token for which there is no better description.
pub(super) fn unexpected(span: Span, text: &str) -> Diagnostic {
    let text = quote(text);
    error(span, format!("`{text}` isn't allowed here"))
        .label("no statement continues like this")
        .help("a statement is a state, `a : text`, `a --> b : label`, `state a { … }` or a note")
}

/// Reports a second `stateDiagram`.
pub(super) fn second_header(span: Span) -> Diagnostic {
    error(span, "a diagram has one header")
        .label("a second header")
        .help("put another machine into a section and a fence of its own")
}

/// Reports `--` outside braces, or a sign like it inside.
pub(super) fn misplaced_divider(span: Span, inside: bool) -> Diagnostic {
    if inside {
        return error(span, "regions are divided by exactly `--`").safe_fix(
            "write `--`",
            span,
            "--",
        );
    }
    let message = "`--` divides the regions of a composite, and here is none";
    error(span, message)
        .label("outside of braces")
        .help("put the regions between the braces of a `state name { … }`")
}

/// Reports a `{` after something that can't have a body.
pub(super) fn misplaced_brace(span: Span, after_statement: bool) -> Diagnostic {
    let message = if after_statement {
        "a body isn't allowed after this statement"
    } else {
        "a body needs `state` and a name before its `{`, on the same line"
    };
    error(span, message).help("write `state name {`")
}

/// Reports `a {` in place of `state a {`.
pub(super) fn composite_without_state(span: Span, id: &Spanned<String>, alone: bool) -> Diagnostic {
    let name = quote(&id.value);
    let diagnostic = error(span, format!("a body needs `state` before `{name}`"))
        .label("this opens a body")
        .related(id.span, "of this state");
    if alone {
        diagnostic.safe_fix(
            format!("write `state {name} {{`"),
            id.span.before(),
            "state ",
        )
    } else {
        diagnostic.help(format!(
            "end the transition's line, and open `state {name} {{` on the next"
        ))
    }
}

/// Reports more braces than the tree keeps.
pub(super) fn nested_too_deep(span: Span, most: usize) -> Diagnostic {
    error(span, format!("composites are nested deeper than {most}"))
        .label("its content is read as if it were outside")
        .help("flatten the machine, or split it")
}

/// Reports a line that begins with `-`, `--` or `<!--`, as comments do elsewhere.
pub(super) fn foreign_comment(sign: Span, written: &str) -> Diagnostic {
    messages::foreign_comment(sign, written, |message| {
        error(sign, message).label("begins no statement")
    })
}

/// Makes the report of a misread text that of the syntax error in it.
pub(super) fn caused_by(misreading: Diagnostic) -> Diagnostic {
    let code = Code::SyntaxError;
    Diagnostic {
        code,
        severity: code.severity(),
        ..misreading
    }
}

/// Reports `a -->` without a target.
pub(super) fn arrow_without_target(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name after `-->`")
        .label("this leads nowhere")
        .help("name the target on the same line: `a --> b`")
}

/// Reports `a --> : label`.
pub(super) fn label_without_target(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name between `-->` and the label")
        .label("this leads nowhere")
        .help("name the target: `a --> b : label`")
}

/// Reports `--> b`.
pub(super) fn arrow_without_source(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name before `-->`")
        .label("this comes from nowhere")
        .help("name the source on the same line: `a --> b`")
}

/// Reports `a --> b --> c`.
pub(super) fn chained_arrow(
    arrow: Span,
    name: &str,
    insertion: Option<(Span, String)>,
) -> Diagnostic {
    let name = quote(name);
    let diagnostic = error(arrow, "a transition has one arrow")
        .label("a second one")
        .help(format!("begin another transition with `{name} -->`"));
    match insertion {
        Some((place, line)) => {
            diagnostic.safe_fix("write two transitions", place, format!("{line}{name} "))
        }
        None => diagnostic,
    }
}

/// Reports `->`, `--->`, `-.->` and similar arrows.
pub(super) fn misspelt_arrow(span: Span, written: &str) -> Diagnostic {
    let message = format!("an arrow is written `-->`, not `{}`", quote(written));
    let diagnostic = error(span, message);
    if !written.chars().all(|sign| sign == '-') {
        return diagnostic.safe_fix("write `-->`", span, "-->");
    }
    // What points nowhere may stand for a colon, or begin an arrow of another kind of diagram (`--x`).
    let diagnostic =
        diagnostic.help("an arrow ends with `>`, and a label follows a colon: `a --> b : label`");
    match written {
        "-" => diagnostic,
        _ => diagnostic.unsafe_fix("write `-->`", span, "-->"),
    }
}

/// Reports `b <-- a`.
///
/// `turned` is the span and text of the statement turned around, if that is possible.
pub(super) fn backward_arrow(span: Span, turned: Option<(Span, String)>) -> Diagnostic {
    let diagnostic =
        error(span, "arrows lead from left to right").label("this one leads to the left");
    match turned {
        Some((place, text)) => {
            diagnostic.unsafe_fix(format!("write `{}`", quote(&text)), place, text)
        }
        None => diagnostic.help("write the source first: `a --> b : label`"),
    }
}

/// Reports `a <-> b`.
pub(super) fn two_way_arrow(span: Span, written: &str) -> Diagnostic {
    let message = format!("an arrow is written `-->`, not `{}`", quote(written));
    error(span, message).help("a transition leads one way; write a second one for the way back")
}

/// Reports `a -- text --> b`.
pub(super) fn label_inside_arrow(span: Span, text: &str) -> Diagnostic {
    let text = if text.is_empty() { "label" } else { text };
    error(span, "a label isn't allowed inside of an arrow")
        .label("the arrow begins here")
        .help(format!(
            "put it after the target: `a --> b : {}`",
            quote(text)
        ))
}

/// Reports `a:::` without a class.
pub(super) fn class_without_name(mark: Span) -> Diagnostic {
    error(mark, "expected a class's name after `:::`")
}

/// Reports `:::c` without a state.
pub(super) fn class_without_state(mark: Span) -> Diagnostic {
    error(mark, "expected a state's name before `:::`")
}

/// Reports `a:::b:::c`.
pub(super) fn second_class(mark: Span) -> Diagnostic {
    error(mark, "`:::` isn't allowed here")
        .help("a state's mention takes one class; give it another with a `class` line")
}

/// Reports `classDef default …`.
pub(super) fn default_class(word: Span) -> Diagnostic {
    error(word, "a state diagram has no class `default`")
        .help("define a class of another name and give it to the states that shall have it")
        .note("Mermaid's documentation shows `classDef default` for flowcharts; in state diagrams it is refused")
}

/// Reports `classDef my-class …` and similar lines.
pub(super) fn style_subject(word: Span, keyword: &str, text: &str) -> Diagnostic {
    let what = match keyword {
        "classDef" => "a class's name",
        _ => "the states' names",
    };
    let text = quote(text);
    error(word, format!("`{keyword}` can't take `{text}`"))
        .label(format!("expected {what}"))
        .help("here names are made of the letters a to z, digits and `_` only")
}

/// Reports `click a` without both of its texts.
pub(super) fn incomplete_link(line: Span) -> Diagnostic {
    error(line, "a link needs an address and a text in quotes")
        .help("write `click name \"address\" \"text\"` or `click name href \"address\"`")
}

/// Reports a link with too many parts.
pub(super) fn overlong_link(line: Span, href: bool) -> Diagnostic {
    let message = if href {
        "a link with `href` has an address and nothing more"
    } else {
        "nothing may follow a link's text"
    };
    error(line, message)
        .help("write `click name \"address\" \"text\"` or `click name href \"address\"`")
}

/// Reports blanks after a link, which swallow the line end that it needs.
pub(super) fn blanks_after_link(blanks: Span) -> Diagnostic {
    error(blanks, "a link's line must end right after its last quote").safe_fix(
        "remove the blanks",
        blanks,
        "",
    )
}

/// Reports `scale 350`.
pub(super) fn bad_scale(place: Span) -> Diagnostic {
    error(place, "a scale is a number and `width`")
        .help("write `scale 350 width`, or remove the line")
}

/// Reports `state Two words {`.
pub(super) fn name_of_several_words(span: Span, words: &str) -> Diagnostic {
    let id = slug(words);
    let words = quote(words);
    let message = format!("a composite's name is one word, not `{words}`");
    error(span, message).label("several words").unsafe_fix(
        format!("write `state \"{words}\" as {id} {{`"),
        span,
        format!("\"{words}\" as {id}"),
    )
}

/// Reports `state a : The title {`.
pub(super) fn title_after_composite(span: Span, id: &str, title: &str) -> Diagnostic {
    let shown = quote(title);
    let message = format!("the title `{shown}` can't follow the composite's name");
    error(span, message).safe_fix(
        format!("write `state \"{shown}\" as {} {{`", quote(id)),
        span,
        format!("\"{title}\" as {id}"),
    )
}

/// Reports `state Title as id`.
pub(super) fn unquoted_title(span: Span, title: &str, id: &str) -> Diagnostic {
    let title = quote(title);
    error(span, format!("the title `{title}` needs quotes"))
        .help(format!("write `state \"{title}\" as {}`", quote(id)))
}

/// Reports `state "title"` without `as id`.
pub(super) fn title_without_id(span: Span, title: &str, braced: bool) -> Diagnostic {
    let brace = if braced { " {" } else { "" };
    let shown = quote(title);
    let message = format!("expected `as` and a name after the title `{shown}`");
    error(span, message).label("only a title").help(format!(
        "write `state \"{shown}\" as {}{brace}`",
        slug(title)
    ))
}

/// Reports `state "title` without its second quote.
pub(super) fn unclosed_title(span: Span) -> Diagnostic {
    error(span, "this title has no second quote").help("write `state \"title\" as name`")
}

/// Reports `state "" as id`, `state as id`.
pub(super) fn as_without_title(span: Span) -> Diagnostic {
    error(span, "expected a title between `state` and `as`")
        .help("write `state \"title\" as name`; a state named `as` can't be declared")
}

/// Reports `a --> b : std::x`.
pub(super) fn double_colon(span: Span) -> Diagnostic {
    let first = Span {
        end: span.start + 1,
        ..span
    };
    error(span, "`::` isn't allowed in a text")
        .label("the text ends here")
        .safe_fix("write the first colon as `#58;`", first, "#58;")
}

/// Reports `a --> b : label:`.
pub(super) fn trailing_colon(span: Span) -> Diagnostic {
    error(span, "a text can't end in a colon").safe_fix("remove the colon", span, "")
}

/// Reports `a --> b :`.
pub(super) fn empty_text(span: Span) -> Diagnostic {
    error(span, "expected a text after the colon").safe_fix("remove the colon", span, "")
}

/// Reports `: text` without a state before it.
pub(super) fn text_without_state(span: Span) -> Diagnostic {
    error(span, "expected a state or a transition before the colon")
        .label("whose text is this?")
        .help("write `a : text` or `a --> b : label` on one line")
}

/// Reports `state x <<choice>> : text`, and a text line after `state "t" as x`.
pub(super) fn text_after_declaration(span: Span) -> Diagnostic {
    error(span, "a text can't follow this declaration")
        .help("describe the state on a line of its own: `name : text`")
}

/// Reports `my-state`.
pub(super) fn dash_in_name(span: Span, name: &str) -> Diagnostic {
    let better = name.trim_matches('-').replace('-', "_");
    error(span, "a state's name can't have a dash")
        .label(format!(
            "read as far as `{}`",
            quote(name.split('-').next().unwrap_or(""))
        ))
        .unsafe_fix(format!("write `{}`", quote(&better)), span, better)
}

/// Reports a keyword in place of a name.
pub(super) fn keyword_as_name(span: Span, word: &str) -> Diagnostic {
    let message = format!("`{word}` is a keyword and can't name a state here");
    error(span, message).help(format!("name the state otherwise: `{word}_`, `my_{word}`"))
}

/// Reports `"a title"` in place of a name.
///
/// `edits` name it, and the others on its line if it `has_others`.
pub(super) fn quoted_name(
    span: Span,
    text: &str,
    has_others: bool,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let title = text.trim().trim_matches('"');
    let id = slug(title);
    let found = error(span, "a state's name can't be in quotes").label("a title");
    let title = match (edits.is_some() && has_others, id == title) {
        (true, _) => "declare each title, and write the names here".to_owned(),
        (_, true) => format!("write `{id}`"),
        (_, false) => format!(
            "declare `state \"{}\" as {id}` and use `{id}` here",
            quote(title)
        ),
    };
    found.fix_or_help(Applicability::Unsafe, &title, edits)
}

/// Reports `note over a`.
pub(super) fn note_side(span: Span, word: &str) -> Diagnostic {
    let word = quote(word);
    error(span, format!("a note can't be `{word}`"))
        .label("expected `left of` or `right of`")
        .help("write `note right of name : text`")
}

/// Reports `note right of` without a name.
pub(super) fn note_without_state(line: Span) -> Diagnostic {
    error(line, "expected a state's name after the note's side")
        .help("write `note right of name : text`")
}

/// Reports a note without a text, or without its end.
pub(super) fn note_without_text(line: Span) -> Diagnostic {
    error(line, "this note has no text, or no `end note`")
        .help("write `note right of name : text`, or the text on lines of its own and `end note` on the last")
}

/// Reports a colon in a note's text on one line.
pub(super) fn colon_in_note(span: Span) -> Diagnostic {
    error(span, "a note of one line can't have a colon")
        .label("the note ends here")
        .safe_fix("write the colon as `#58;`", span, "#58;")
        .help("or write the text on lines of its own, with `end note` on the last")
}

/// Reports `note "text"` without `as name`, or with a text that begins with `as`.
pub(super) fn bad_floating_note(line: Span) -> Diagnostic {
    error(line, "a floating note is a text in quotes, `as` and a name")
        .help("write `note \"text\" as name`; the text can't begin with `as`")
}

/// Reports `end note` without an open note; `removal` removes the line.
pub(super) fn stray_end_note(span: Span, removal: Option<Edit>) -> Diagnostic {
    let diagnostic = error(span, "no note is open here")
        .label("ends nothing")
        .note("a note with its text after a colon ends with its line");
    let edits = removal.map(|edit| vec![edit]);
    diagnostic.fix_or_help(Applicability::Safe, "remove this `end note`", edits)
}
