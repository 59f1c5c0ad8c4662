//! Words that silently become states.
//!
//! Mermaid needs no separator between statements, so on a line of prose each word is a state. A word alone on its line is
//! what its author meant; one that shares its line with another statement hardly is. A line gets one report.

use std::ops::Range;

use super::{Parser, What};
use crate::diag::{Applicability, Code, Diagnostic, Diags};
use crate::front::mermaid::ast::{Body, Diagram, Endpoint, EndpointKind, StatementKind};
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::messages::{quote, slug};
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// Adds a statement to its line, and reports the line before if this is another one.
    pub(super) fn log(&mut self, what: What, range: Range<usize>) {
        if self.line_of(range.start) != self.strays.line {
            self.report_strays();
        }
        self.strays.line = self.line_of(range.end.max(range.start + 1) - 1);
        self.strays.entries.push((what, range));
    }

    /// Whether a line has its report.
    pub(super) fn is_silent(&self, line: usize) -> bool {
        self.strays.silent == Some(line)
    }

    /// Says nothing more about a line.
    pub(super) fn silence(&mut self, line: usize) {
        if self.strays.line != line {
            self.report_strays();
        }
        self.strays.entries.clear();
        self.strays.silent = Some(line);
    }

    /// Reports the line's stray words.
    pub(super) fn report_strays(&mut self) {
        let entries = std::mem::take(&mut self.strays.entries);
        if self.strays.silent == Some(self.strays.line) {
            return;
        }
        if self.report_foreign_arrow(&entries) {
            return;
        }
        let alone = entries.len() == 1;
        let mut words: Option<Range<usize>> = None;
        let mut piped = false;
        let mut divided = false;
        for (what, range) in &entries {
            match what {
                What::Mention => {
                    let start = words.as_ref().map_or(range.start, |words| words.start);
                    words = Some(start..range.end);
                }
                What::Transition(target) if self.slice(target.clone()).starts_with('|') => {
                    piped = true;
                }
                What::Divider => divided = true,
                What::Transition(_) | What::Description | What::Other => {}
            }
        }
        let Some(words) = words else {
            return;
        };
        let text = self.raw(words.clone());
        if alone && !is_sign(&text) {
            return;
        }
        let first = entries
            .first()
            .map_or(words.start, |(_, range)| range.start);
        let last = entries.last().map_or(words.end, |(_, range)| range.end);
        let facts = StrayLine {
            line: self.raw(first..last),
            line_span: self.span(first..last),
            words: text,
            words_span: self.span(words),
            piped,
            divided,
            inside: self.frames.len() > 1,
        };
        let finding = words_on_line(&facts);
        self.report(finding);
    }

    /// Reports an arrow among the words that is none in Mermaid. Says whether there is one.
    fn report_foreign_arrow(&mut self, entries: &[(What, Range<usize>)]) -> bool {
        let is_plain = |what: &What| !matches!(what, What::Divider | What::Other);
        let (Some((_, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return false;
        };
        if !entries.iter().all(|(what, _)| is_plain(what)) {
            return false;
        }
        if !may_hold_foreign_arrow(self.slice(first.start..last.end)) {
            return false;
        }
        let line = self.raw(first.start..last.end);
        let Some(arrow) = find_foreign_arrow(&line) else {
            return false;
        };
        let span = self.span(first.start + arrow.start..first.start + arrow.end);
        let finding = foreign_arrow(span, &line, arrow);
        self.report(finding);
        true
    }
}

/// Whether a state is called like a `[*]` without one of its brackets, or without its star.
fn is_half_star(id: &str) -> bool {
    matches!(id, "[*" | "*]" | "*" | "[]")
}

/// Reports each of them at the ends of transitions.
pub(super) fn check_stars(diagram: &Diagram, diags: &mut Diags) {
    check_body(&diagram.body, diags);
}

/// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn check_body(inner: &Body, diags: &mut Diags) {
    for statement in &inner.statements {
        match &statement.kind {
            StatementKind::Transition(transition) => {
                check_endpoint(&transition.source, "start", diags);
                check_endpoint(&transition.target, "end", diags);
            }
            StatementKind::Declaration(declaration) => {
                if let Some(inner) = &declaration.body {
                    check_body(inner, diags);
                }
            }
            _ => {}
        }
    }
}

fn check_endpoint(endpoint: &Endpoint, place: &str, diags: &mut Diags) {
    if let EndpointKind::Id(id) = &endpoint.target
        && is_half_star(id)
    {
        diags.push(half_star(endpoint.span, id, place));
    }
}

/// Creates an `SM116` diagnostic (`stray-words`).
fn stray_words(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::StrayWords, span, message)
}

/// A line with stray words.
pub(super) struct StrayLine {
    /// The statements of the line.
    pub(super) line: String,
    /// Where they stand.
    pub(super) line_span: Span,
    /// From the first stray word to the last.
    pub(super) words: String,
    /// Where they stand.
    pub(super) words_span: Span,
    /// Whether a transition's target begins with `|`.
    pub(super) piped: bool,
    /// Whether a `--` stands among them.
    pub(super) divided: bool,
    /// Whether the line stands inside of braces.
    pub(super) inside: bool,
}

/// `paid --> [*`: `place` is the start or the end, as it was meant.
pub(super) fn half_star(span: Span, id: &str, place: &str) -> Diagnostic {
    let lacking = match id {
        "[*" => "a `]` is missing",
        "*]" => "a `[` is missing",
        "[]" => "the `*` is missing",
        _ => "the brackets are missing",
    };
    stray_words(
        span,
        format!("`{id}` is read as a state, not as the {place}"),
    )
    .label(lacking)
    .fix(Applicability::Unsafe, "write `[*]`", span, "[*]")
}

/// Whether a word alone on its line is a sign rather than a name.
pub(super) fn is_sign(word: &str) -> bool {
    let named = |c: char| c.is_alphanumeric() || !c.is_ascii() || c == '_';
    !(word.contains("[*]") || word.chars().any(named))
}

/// Arrows of other languages, and mistyped ones. One that is the end of another needs no line of its own.
const FOREIGN_ARROWS: [&str; 16] = [
    "-->>", "<-->", "=>", "~>", "..>", "–>", "—>", "→", "⇒", "⟶", "⟹", "➔", "➜", "➡", "⇨", ">>",
];

/// Whether the statements of a line may hold a foreign arrow: a character that isn't ASCII, or a `>` that doesn't end a
/// `-->`. Nearly no line does, and the others need not be searched sixteen times.
pub(super) fn may_hold_foreign_arrow(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some((before, rest)) = bytes.split_at_checked(at) {
        let is_plain = match rest {
            [] => return false,
            [b':', b':', b':', ..] => {
                at += 3;
                continue;
            }
            [b':', ..] => return false,
            [b'>', b'>', ..] => false,
            [b'>', ..] => before.ends_with(b"--") && !before.ends_with(b"<--"),
            [byte, ..] => byte.is_ascii(),
        };
        if !is_plain {
            return true;
        }
        at += 1;
    }
    false
}

/// The bytes of the first foreign arrow in the statements of a line, not in their texts.
pub(super) fn find_foreign_arrow(line: &str) -> Option<Range<usize>> {
    // A `:::` begins a class, not a text; three other bytes in its place keep the places of all that follows.
    let bare = line.replace(":::", "___");
    let head = bare.split(':').next().unwrap_or_default();
    let (at, arrow) = FOREIGN_ARROWS
        .into_iter()
        .filter_map(|arrow| {
            // `>>` closes the mark of a choice as well.
            let is_arrow = |at: &usize| {
                arrow != ">>" || head.get(..*at).is_some_and(|it| it.ends_with(is_space))
            };
            let mut places = head.match_indices(arrow).map(|(at, _)| at);
            Some((places.find(is_arrow)?, arrow))
        })
        .min_by_key(|(at, _)| *at)?;
    let before = head.get(..at).unwrap_or_default();
    let behind = head.get(at + arrow.len()..).unwrap_or_default();
    let start = before
        .trim_end_matches(['-', '=', '~', '.', '–', '—'])
        .len();
    let end = head.len() - behind.trim_start_matches('>').len();
    Some(start..end)
}

/// An arrow that Mermaid takes for a state, or for a part of one's name. `line` is what stands around it.
pub(super) fn foreign_arrow(span: Span, line: &str, arrow: Range<usize>) -> Diagnostic {
    let part = |range: Range<usize>| line.get(range).unwrap_or_default();
    let (before, behind) = (part(0..arrow.start), part(arrow.end..line.len()));
    let written = part(arrow);
    let finding = stray_words(
        span,
        format!("an arrow is written `-->`, not `{}`", quote(written)),
    )
    .label("read as a state, or as part of a name");
    if written.starts_with('<') {
        return finding.help("a transition leads one way; write a second one for the way back");
    }
    let one_word = |text: &str| text.split_whitespace().count() == 1 && !text.contains("--");
    let target = behind.replace(":::", "___");
    let target = target.split(':').next().unwrap_or_default();
    if !one_word(before) || !one_word(target) || find_foreign_arrow(behind).is_some() {
        return finding.help("a transition is written `a --> b : label`, on a line of its own");
    }
    let blank = |is_there: bool| if is_there { "" } else { " " };
    let text = format!(
        "{}-->{}",
        blank(before.ends_with(char::is_whitespace)),
        blank(behind.starts_with(char::is_whitespace))
    );
    finding.fix(Applicability::Unsafe, "write `-->`", span, text)
}

/// The words of a line.
pub(super) fn words_on_line(facts: &StrayLine) -> Diagnostic {
    let words = quote(&facts.words);
    if facts.words == "}" {
        return stray_words(
            facts.words_span,
            "this `}` closes nothing, and is read as a state",
        )
        .help("remove it, or look for the `{` that is missing above");
    }
    let one = !facts.words.contains(char::is_whitespace);
    let message = if one {
        format!("`{words}` is read as a state")
    } else {
        format!("each word of `{words}` is read as a state")
    };
    if facts.piped {
        return piped_label(facts);
    }
    let first = facts.line.split_whitespace().next().unwrap_or("");
    let rest = facts
        .line
        .trim_start()
        .strip_prefix(first)
        .unwrap_or("")
        .trim();
    if facts.inside
        && let Some(word) = root_keyword(first)
    {
        return stray_words(
            facts.line_span,
            format!("`{word}` means nothing between braces"),
        )
        .label("each word here is read as a state")
        .help("put the line outside of all braces");
    }
    let finding = stray_words(facts.words_span, message);
    if facts.divided {
        return finding.help("`--` divides regions; a transition is written `a --> b`");
    }
    match first.to_ascii_lowercase().as_str() {
        "direction" => {
            let letters = rest.split_whitespace().next().unwrap_or("");
            let finding = finding.help("a direction is one of `TB`, `BT`, `LR` and `RL`");
            if letters.eq_ignore_ascii_case("TD") && rest == letters {
                finding.fix(
                    Applicability::Unsafe,
                    "write `direction TB`",
                    facts.line_span,
                    "direction TB",
                )
            } else {
                finding
            }
        }
        "title" => finding.help(
            "a diagram's title is `accTitle: …`, or `title: …` between two `---` at its start",
        ),
        "entry" | "exit" | "do" if facts.inside => finding.help(format!(
            "an action is written with its state: `name : {first} / action`"
        )),
        "hide" => finding.help("only `hide empty description` is known"),
        "skinparam" | "skin" => finding.help("that is PlantUML; Mermaid styles with `classDef`"),
        "//" | "%" | "'" | ";" | "/*" => finding.help("a comment begins with `%%`"),
        _ => other_words(facts, finding),
    }
}

/// The keyword that a word is outside of braces and not inside.
pub(super) fn root_keyword(word: &str) -> Option<&'static str> {
    ["accTitle", "accDescr", "click", "hide", "scale"]
        .into_iter()
        .find(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// `accTitle: text` between braces.
pub(super) fn description_of_keyword(line: Span, keyword: &str) -> Diagnostic {
    stray_words(line, format!("`{keyword}` means nothing between braces"))
        .label("read as a state and its text")
        .help("put the line outside of all braces")
}

/// `state my-state {`, `state "title" as a:b`.
pub(super) fn unusable_name(span: Span, id: &str) -> Diagnostic {
    let shown = quote(id);
    let finding = stray_words(span, format!("no transition can use the name `{shown}`"));
    if !id.contains('-') {
        return finding.help("a colon ends a name where a transition is read");
    }
    let better = id.replace('-', "_");
    finding
        .label("a dash ends a name where a transition is read")
        .fix(
            Applicability::Unsafe,
            format!("write `{}`", quote(&better)),
            span,
            better,
        )
}

/// `"name"` between braces, where Mermaid knows no texts in quotes.
pub(super) fn quoted_name(span: Span, id: &str) -> Diagnostic {
    stray_words(
        span,
        format!("the quotes are part of the name `{}`", quote(id)),
    )
    .help("a name stands without quotes; a title is given with `state \"title\" as name`")
}

/// Marks of pseudo-states without `state`, and all the rest.
fn other_words(facts: &StrayLine, finding: Diagnostic) -> Diagnostic {
    let marked = ["<<", "[["].iter().any(|mark| facts.words.contains(mark));
    if marked {
        let finding = finding.help("a choice, a fork or a join is written `state name <<choice>>`");
        return if facts.line == facts.words && is_known_mark(&facts.words) {
            finding.fix(
                Applicability::Unsafe,
                "write `state` in front",
                facts.words_span.before(),
                "state ",
            )
        } else {
            finding
        };
    }
    if facts.line.trim_start().starts_with("//") {
        return finding.help("a comment begins with `%%`");
    }
    finding.help("a text stands behind a colon: `name : text`; a comment begins with `%%`")
}

/// Whether the words are a name and a mark that Mermaid knows.
fn is_known_mark(words: &str) -> bool {
    let mut words = words.split_whitespace();
    let named = words.next().is_some();
    let mark = words.next().unwrap_or("").to_ascii_lowercase();
    let known = ["fork", "join", "choice"]
        .iter()
        .any(|kind| mark == format!("<<{kind}>>") || mark == format!("[[{kind}]]"));
    named && known && words.next().is_none()
}

/// `a -->|label| b`.
fn piped_label(facts: &StrayLine) -> Diagnostic {
    let parts: Vec<&str> = facts.line.splitn(3, '|').collect();
    let [before, label, target] = parts.as_slice() else {
        return stray_words(facts.line_span, "`|` begins the name of a state")
            .help("a label stands behind the target: `a --> b : label`");
    };
    let finding = stray_words(
        facts.line_span,
        format!("`|{}|` is read as a state, not as a label", quote(label)),
    )
    .help("a label stands behind the target: `a --> b : label`");
    let fixed = format!("{} {} : {}", before.trim(), target.trim(), label.trim());
    finding.fix(
        Applicability::Unsafe,
        format!("write `{}`", quote(&fixed)),
        facts.line_span,
        fixed,
    )
}

/// What stands behind `state` is no name.
pub(super) fn nameless_state(span: Span, words: &str) -> Diagnostic {
    let words = quote(words);
    stray_words(span, format!("`{words}` behind `state` means nothing"))
        .label("Mermaid passes over it")
        .help("`state` declares a state; a state of that name can't stand at the start of a line")
}

/// Words behind a declared name.
pub(super) fn words_after_name(span: Span, whole: Span, id: &str, words: &str) -> Diagnostic {
    let words = quote(words);
    let finding = stray_words(
        span,
        format!("`{words}` behind `state {}` means nothing", quote(id)),
    );
    let bare: String = words
        .to_ascii_lowercase()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let inner = bare.trim_matches(['<', '>', '[', ']']);
    if bare.starts_with("<<") || bare.starts_with("[[") {
        let finding = finding.help("the marks are `<<choice>>`, `<<fork>>` and `<<join>>`");
        return match inner {
            "choice" | "fork" | "join" => finding.fix(
                Applicability::Unsafe,
                format!("write `<<{inner}>>`"),
                span,
                format!("<<{inner}>>"),
            ),
            "end" | "final" => finding.help("a final state is one with a transition to `[*]`"),
            "history" | "h" => finding.help("the history of `name` is the state `name[H]`"),
            _ => finding,
        };
    }
    let title = format!("{id} {words}");
    finding.fix(
        Applicability::Unsafe,
        format!("write `state \"{}\" as {}`", quote(&title), slug(&title)),
        whole,
        format!("state \"{title}\" as {}", slug(&title)),
    )
}

/// Words in front of the name of a composite.
pub(super) fn words_before_composite(span: Span, words: &str, id: &str) -> Diagnostic {
    stray_words(
        span,
        format!(
            "`{}` in front of the composite `{}` means nothing",
            quote(words),
            quote(id)
        ),
    )
    .label("Mermaid passes over it")
    .help("a composite with a title is written `state \"title\" as name {`")
}

/// `state x : Title {`: Mermaid names the composite by its title's last word.
pub(super) fn composite_title(
    edit: Span,
    id: &Spanned<String>,
    title: &str,
    drawn: &str,
) -> Diagnostic {
    let name = quote(&id.value);
    let finding = stray_words(
        edit,
        format!(
            "Mermaid names this composite `{}`, not `{name}`",
            quote(drawn)
        ),
    );
    if title.is_empty() {
        return finding.help(format!("write `state {name} {{`"));
    }
    finding.fix(
        Applicability::Safe,
        format!("write `state \"{}\" as {name} {{`", quote(title)),
        edit,
        format!("state \"{title}\" as {}", id.value),
    )
}

/// `state x:::c {`: the class is part of the name.
pub(super) fn composite_class(span: Span, id: &str) -> Diagnostic {
    stray_words(
        span,
        format!("Mermaid names this composite `{}`", quote(id)),
    )
    .help("give the class with a `class` line of its own")
}

/// `state "title" as two words`.
pub(super) fn name_with_blanks(span: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    stray_words(
        span,
        format!("`{id}` is one name, and no transition can use it"),
    )
    .help("a name is one word; a comment needs a line of its own")
}

/// `state "title" as x <<choice>>`: all of it is the name.
pub(super) fn pseudo_name(edit: Span, id: &Spanned<String>, mark: &str) -> Diagnostic {
    let name = quote(&id.value);
    let last = id.value.split_whitespace().next_back().unwrap_or("");
    let finding = stray_words(
        id.span,
        format!("all of `{name}` is the name of this state"),
    )
    .label("no transition can use it");
    if id.value.contains('"') {
        return finding.note("a choice, a fork or a join has no title").fix(
            Applicability::Unsafe,
            format!("write `state {last} {mark}`"),
            edit,
            format!("{last} {mark}"),
        );
    }
    finding.help(format!("write `state {} {mark}`", slug(&id.value)))
}

/// `class my-a foo`: the dash ends the names of the states.
pub(super) fn class_name(span: Span, states: &str, class: &str) -> Diagnostic {
    stray_words(
        span,
        format!(
            "this gives the class `{}` to `{}`",
            quote(class),
            quote(states)
        ),
    )
    .help("here names are made of the letters a to z, digits and `_` only")
}

/// `state <<choice>>`.
pub(super) fn mark_without_name(mark: Span, written: &str) -> Diagnostic {
    stray_words(
        mark,
        format!("`{written}` without a name in front of it means nothing"),
    )
    .label("Mermaid passes over it")
    .help(format!("write `state name {written}`"))
}

/// `state "title" as`, and no name.
pub(super) fn title_without_name(span: Span, title: &str, braced: bool) -> Diagnostic {
    let shown = quote(title);
    let name = slug(title);
    let brace = if braced { " {" } else { "" };
    stray_words(
        span,
        format!("no name stands behind `as`, and Mermaid doesn't draw `{shown}`"),
    )
    .fix(
        Applicability::Unsafe,
        format!("write `state \"{shown}\" as {name}{brace}`"),
        span,
        format!("state \"{title}\" as {name}"),
    )
}
