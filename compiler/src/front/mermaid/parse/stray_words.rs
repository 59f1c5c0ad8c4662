//! Words that silently become states.
//!
//! Mermaid needs no separator between statements, so each word on a line of prose is a state. A word alone on its line
//! is meant as one; a word that shares its line with another statement hardly is. Each line gets one report.

use std::ops::Range;

use super::{LineEntry, Parser};
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit, nearest};
use crate::front::mermaid::ast::{Diagram, Endpoint, StatementKind};
use crate::front::mermaid::lex::Token;
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::messages::{self, quote, slug};
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// Adds a statement to its line, after a report on the line before.
    pub(super) fn add_to_line(&mut self, what: LineEntry, range: Range<usize>) {
        if self.line_of(range.start) != self.strays.line {
            self.report_strays();
        }
        self.strays.line = self.line_of(range.end.max(range.start + 1) - 1);
        self.strays.entries.push((what, range));
    }

    /// Returns whether a line has its report.
    pub(super) fn is_silent(&self, line: usize) -> bool {
        self.strays.silent == Some(line)
    }

    /// Suppresses reports on a line.
    pub(super) fn silence(&mut self, line: usize) {
        if self.strays.line != line {
            self.report_strays();
        }
        self.strays.entries.clear();
        self.strays.silent = Some(line);
    }

    /// Reports the stray words of the current line.
    pub(super) fn report_strays(&mut self) {
        let mut entries = std::mem::take(&mut self.strays.entries);
        let is_silent = self.strays.silent == Some(self.strays.line);
        if !is_silent
            && !self.report_comment(&entries)
            && !self.report_node_labels(&entries)
            && !self.report_foreign_arrow(&entries)
            && !self.follows_directive(&entries)
        {
            self.report_words(&entries);
        }
        entries.clear();
        self.strays.entries = entries;
    }

    /// Reports a line that begins as comments do elsewhere, and returns whether it does.
    fn report_comment(&mut self, entries: &[(LineEntry, Range<usize>)]) -> bool {
        let (Some((what, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return false;
        };
        let is_slash = self.text.as_bytes().get(first.start) == Some(&b'/');
        let is_alone = entries.len() > 1 && *what == LineEntry::Mention;
        if !is_slash && !is_alone {
            return false;
        }
        let written = self.slice(first.clone());
        let mut glued = GLUED_SIGNS.into_iter();
        let glued = glued.find(|it| written.starts_with(it));
        let alone = (is_alone && COMMENT_SIGNS.contains(&written)).then_some(written);
        let Some(sign) = alone.or(glued) else {
            return false;
        };
        let (start, sign) = (first.start, sign.to_owned());
        let line = self.span(start..last.end);
        let finding = foreign_comment(line, self.span(start..start + sign.len()), &sign);
        self.report(finding);
        true
    }

    /// Reports a line `-- text` in braces and skips it, and returns whether a divider begins one.
    ///
    /// Mermaid divides regions there. A line with more words on it is hardly meant so, unless a region ends above it and
    /// another one begins below it.
    pub(super) fn dashed_comment(&mut self, divider: Token) -> bool {
        let line = self.line_range(divider.start);
        let before = self.slice(line.start..divider.start);
        let rest = self.slice(divider.end..line.end);
        let is_text = rest.starts_with(is_space)
            && !rest.trim().is_empty()
            && !rest.contains(['{', '}'])
            && !rest.contains("--");
        let above = self.text.get(..line.start).unwrap_or_default();
        let is_first = above.trim_end().ends_with('{');
        let below = self.text.get(line.end..).unwrap_or_default();
        let mut below = below.lines().map(str::trim);
        let divides = !is_first
            && below
                .by_ref()
                .take_while(|it| !it.starts_with('}') && !it.starts_with("--"))
                .any(|it| it.starts_with("[*]"));
        if !before.trim().is_empty() || !is_text || divides {
            return false;
        }
        let whole = self.trimmed_span(divider.start..line.end);
        let sign = self.span(divider.start..divider.end);
        self.silence(self.line_of(divider.start));
        self.report(foreign_comment(whole, sign, "--"));
        self.restart(line.end);
        true
    }

    /// Returns whether a line is the rest of one with a directive that ended early, which has its report.
    ///
    /// That report is about these words, too.
    fn follows_directive(&mut self, entries: &[(LineEntry, Range<usize>)]) -> bool {
        let (Some((_, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return false;
        };
        if self.prepared.open_directives.is_empty() {
            return false;
        }
        let whole = &self.prepared.with_front_matter;
        let rest = self.span(first.start..last.end);
        let start = whole.offset_of(rest.start);
        let directive = self.prepared.open_directives.iter().find(|directive| {
            let end = whole.offset_of(directive.whole.end.saturating_sub(1));
            let between = end
                .zip(start)
                .and_then(|(end, start)| whole.text().get(end + 1..start));
            between.is_some_and(|text| !text.contains('\n'))
        });
        if let Some(directive) = directive {
            self.diags.widen(directive.sign, directive.sign.to(rest));
        }
        directive.is_some()
    }

    /// Reports the words among the statements of a line that were hardly meant as states.
    fn report_words(&mut self, entries: &[(LineEntry, Range<usize>)]) {
        let alone = entries.len() == 1;
        let mut words: Option<Range<usize>> = None;
        let mut piped = false;
        let mut divided = false;
        for (what, range) in entries {
            match what {
                LineEntry::Mention => {
                    let start = words.as_ref().map_or(range.start, |words| words.start);
                    words = Some(start..range.end);
                }
                LineEntry::Transition(target) if self.slice(target.clone()).starts_with('|') => {
                    piped = true;
                }
                LineEntry::Divider => divided = true,
                LineEntry::Transition(_) | LineEntry::Description | LineEntry::Other => {}
            }
        }
        let Some(words) = words else {
            return self.report_split_target(entries);
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
        self.report(words_on_line(&facts));
    }

    /// Reports `a --> In Review : label`, in which a text of the state `Review` begins behind the target.
    fn report_split_target(&mut self, entries: &[(LineEntry, Range<usize>)]) {
        let pairs = entries.iter().zip(entries.iter().skip(1));
        let split = pairs.into_iter().find_map(|pair| match pair {
            ((LineEntry::Transition(target), _), (LineEntry::Description, described)) => {
                Some((target.clone(), described.clone()))
            }
            _ => None,
        });
        let Some((target, described)) = split else {
            return;
        };
        let text = self.raw(described.clone());
        let second = text.split(':').next().unwrap_or_default().trim();
        let name = format!("{} {second}", self.raw(target.clone()).trim());
        let end = described.start + second.len();
        self.report(split_name(self.span(target.start..end), &name));
    }

    /// Reports an arrow among the words that Mermaid doesn't have, and returns whether there is one.
    fn report_foreign_arrow(&mut self, entries: &[(LineEntry, Range<usize>)]) -> bool {
        let is_plain = |what: &LineEntry| !matches!(what, LineEntry::Divider | LineEntry::Other);
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
        let whole = self.span(first.start..last.end);
        self.report(foreign_arrow(span, &line, arrow).misreads(whole));
        true
    }
}

/// Signs that begin a comment in other languages, or an item of a list.
const COMMENT_SIGNS: [&str; 9] = ["//", "///", "%", "'", ";", "/*", "*", "•", "–"];

/// Signs that begin a comment also where a word follows at once, since no name begins so.
const GLUED_SIGNS: [&str; 3] = ["///", "//", "/*"];

/// Reports a line that begins as comments do elsewhere.
fn foreign_comment(line: Span, sign: Span, written: &str) -> Diagnostic {
    messages::foreign_comment(sign, written, |message| {
        stray_words(line, message).label("no comment in Mermaid")
    })
}

/// Returns whether an id is a `[*]` without one of its brackets or its star.
fn is_half_star(id: &str) -> bool {
    matches!(id, "[*" | "*]" | "*" | "[]")
}

/// Reports broken `[*]`, at the ends of transitions and before a text.
pub(super) fn check_stars(diagram: &Diagram, diags: &mut Diags) {
    diagram.body.visit(&mut |statement| match &statement.kind {
        StatementKind::Transition(transition) => {
            check_endpoint(&transition.source, "start", diags);
            check_endpoint(&transition.target, "end", diags);
        }
        StatementKind::Description { state, .. } => {
            if let Some(id) = state.id().filter(|id| is_half_star(id)) {
                // Neither a start nor an end has a text, so nothing can be put there.
                let message = format!("`{id}` is read as a state");
                diags.push(stray_words(state.span, message).label(lacking_of(id)));
            }
        }
        _ => {}
    });
}

fn check_endpoint(endpoint: &Endpoint, place: &str, diags: &mut Diags) {
    if let Some(id) = endpoint.id().filter(|id| is_half_star(id)) {
        diags.push(half_star(endpoint.span, id, place));
    }
}

/// Creates an `SM116` diagnostic (`stray-words`).
fn stray_words(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::StrayWords, span, message).misreads(span)
}

/// A line with stray words.
pub(super) struct StrayLine {
    /// The statements of the line.
    pub(super) line: String,
    /// The span of the statements.
    pub(super) line_span: Span,
    /// The text from the first stray word to the last.
    pub(super) words: String,
    /// The span of the words.
    pub(super) words_span: Span,
    /// Set if a transition's target begins with `|`.
    pub(super) piped: bool,
    /// Set if a `--` is among them.
    pub(super) divided: bool,
    /// Set if the line is inside braces.
    pub(super) inside: bool,
}

/// Reports `paid --> [*`; `end` names the end of the transition that was meant.
pub(super) fn half_star(span: Span, id: &str, place: &str) -> Diagnostic {
    let message = format!("`{id}` is read as a state, not as the {place}");
    stray_words(span, message)
        .label(lacking_of(id))
        .unsafe_fix("write `[*]`", span, "[*]")
}

/// Returns what a broken `[*]` lacks.
fn lacking_of(id: &str) -> &'static str {
    match id {
        "[*" => "a `]` is missing",
        "*]" => "a `[` is missing",
        "[]" => "the `*` is missing",
        _ => "the brackets are missing",
    }
}

/// Returns whether a word alone on its line is a sign rather than a name.
pub(super) fn is_sign(word: &str) -> bool {
    let named = |c: char| c.is_alphanumeric() || !c.is_ascii() || c == '_';
    !(word.contains("[*]") || word.chars().any(named))
}

/// Arrows of other languages, and mistyped ones.
///
/// An arrow that ends in another one of the list isn't listed.
const FOREIGN_ARROWS: [&str; 16] = [
    "-->>", "<-->", "=>", "~>", "..>", "–>", "—>", "→", "⇒", "⟶", "⟹", "➔", "➜", "➡", "⇨", ">>",
];

/// Returns whether the statements of a line can hold a foreign arrow.
///
/// That takes a character outside ASCII, or a `>` that doesn't end a `-->`. Nearly no line has one, so nearly no line
/// is searched for sixteen arrows.
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

/// Finds the first foreign arrow in the statements of a line, outside its texts.
pub(super) fn find_foreign_arrow(line: &str) -> Option<Range<usize>> {
    // A `:::` begins a class, not a text; three other bytes in its place keep all offsets.
    let bare = line.replace(":::", "___");
    let head = bare.split(':').next().unwrap_or_default();
    let (at, arrow) = FOREIGN_ARROWS
        .into_iter()
        .filter_map(|arrow| {
            // `>>` also closes the mark of a choice.
            let is_arrow = |at: &usize| {
                arrow != ">>" || head.get(..*at).is_some_and(|it| it.ends_with(is_space))
            };
            let mut places = head.match_indices(arrow).map(|(at, _)| at);
            Some((places.find(is_arrow)?, arrow))
        })
        .min_by_key(|(at, _)| *at)?;
    let before = head.get(..at).unwrap_or_default();
    let after = head.get(at + arrow.len()..).unwrap_or_default();
    let start = before
        .trim_end_matches(['-', '=', '~', '.', '–', '—'])
        .len();
    let end = head.len() - after.trim_start_matches('>').len();
    Some(start..end)
}

/// Reports an arrow that Mermaid takes for a state, or for a part of a name.
///
/// `line` is the text around it.
pub(super) fn foreign_arrow(span: Span, line: &str, arrow: Range<usize>) -> Diagnostic {
    let part = |range: Range<usize>| line.get(range).unwrap_or_default();
    let (before, after) = (part(0..arrow.start), part(arrow.end..line.len()));
    let written = part(arrow);
    let message = format!("an arrow is written `-->`, not `{}`", quote(written));
    // The states on both sides lack an arrow.
    let head = line.split(':').next().unwrap_or_default();
    let names = head.split(|sign: char| sign.is_whitespace() || "-=<>~→–—⇒".contains(sign));
    let diagnostic = stray_words(span, message)
        .label("read as a state, or as part of a name")
        .doubts(names.filter(|name| !name.is_empty()));
    if written.starts_with('<') {
        return diagnostic.help("a transition leads one way; write a second one for the way back");
    }
    let one_word = |text: &str| text.split_whitespace().count() == 1 && !text.contains("--");
    let target = after.replace(":::", "___");
    let target = target.split(':').next().unwrap_or_default();
    if !one_word(before) || !one_word(target) || find_foreign_arrow(after).is_some() {
        return diagnostic.help("a transition is written `a --> b : label`, on a line of its own");
    }
    let blank = |is_there: bool| if is_there { "" } else { " " };
    let text = format!(
        "{}-->{}",
        blank(before.ends_with(char::is_whitespace)),
        blank(after.starts_with(char::is_whitespace))
    );
    diagnostic.unsafe_fix("write `-->`", span, text)
}

/// Reports the stray words of a line.
pub(super) fn words_on_line(facts: &StrayLine) -> Diagnostic {
    let words = quote(&facts.words);
    if facts.words == "}" {
        let message = "this `}` closes nothing, and is read as a state";
        return stray_words(facts.words_span, message)
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
        let message = format!("`{word}` means nothing between braces");
        return stray_words(facts.line_span, message)
            .label("each word here is read as a state")
            .help("put the line outside of all braces");
    }
    let diagnostic = stray_words(facts.words_span, message);
    if facts.divided {
        return diagnostic.help("`--` divides regions; a transition is written `a --> b`");
    }
    match first.to_ascii_lowercase().as_str() {
        "direction" => {
            let letters = rest.split_whitespace().next().unwrap_or("");
            let diagnostic = diagnostic.help("a direction is one of `TB`, `BT`, `LR` and `RL`");
            if letters.eq_ignore_ascii_case("TD") && rest == letters {
                diagnostic.unsafe_fix("write `direction TB`", facts.line_span, "direction TB")
            } else {
                diagnostic
            }
        }
        "title" => diagnostic.help(
            "a title is `title: …` between two `---` at the diagram's start; `accTitle: …`, which isn't drawn, is for screen readers",
        ),
        "entry" | "exit" | "do" if facts.inside => diagnostic.help(format!(
            "an action is written with its state: `name : {first} / action`"
        )),
        "hide" => diagnostic.help("only `hide empty description` is known"),
        "skinparam" | "skin" => diagnostic.help("that is PlantUML; Mermaid styles with `classDef`"),
        _ => other_words(facts, diagnostic),
    }
}

/// Returns the keyword that a word is outside braces but not inside.
pub(super) fn root_keyword(word: &str) -> Option<&'static str> {
    ["accTitle", "accDescr", "click", "hide", "scale"]
        .into_iter()
        .find(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// Reports `accTitle: text` between braces.
pub(super) fn description_of_keyword(line: Span, keyword: &str) -> Diagnostic {
    stray_words(line, format!("`{keyword}` means nothing between braces"))
        .label("read as a state and its text")
        .help("put the line outside of all braces")
}

/// Reports `state my-state {`, `state "title" as a:b`.
pub(super) fn unusable_name(span: Span, id: &str) -> Diagnostic {
    let shown = quote(id);
    let diagnostic = stray_words(span, format!("no transition can use the name `{shown}`"));
    if !id.contains('-') {
        return diagnostic.help("a colon ends a name where a transition is read");
    }
    let better = id.replace('-', "_");
    diagnostic
        .label("a dash ends a name where a transition is read")
        .unsafe_fix(format!("write `{}`", quote(&better)), span, better)
}

/// Reports `"name"` between braces, where Mermaid has no quoted texts.
pub(super) fn quoted_name(span: Span, id: &str) -> Diagnostic {
    let message = format!("the quotes are part of the name `{}`", quote(id));
    stray_words(span, message)
        .help("a name has no quotes; a title is given with `state \"title\" as name`")
}

/// Reports marks of pseudo-states without `state`, and all other words.
fn other_words(facts: &StrayLine, diagnostic: Diagnostic) -> Diagnostic {
    let marked = ["<<", "[["].iter().any(|mark| facts.words.contains(mark));
    if marked {
        let diagnostic =
            diagnostic.help("a choice, a fork or a join is written `state name <<choice>>`");
        let Some((name, kind)) = named_mark(&facts.words).filter(|_| facts.line == facts.words)
        else {
            return diagnostic;
        };
        let right = format!("state {name} <<{kind}>>");
        return diagnostic.unsafe_fix(format!("write `{right}`"), facts.words_span, right);
    }
    let words = quote(&facts.words);
    match facts.line.split_once("-->") {
        Some((source, _)) if source.contains(&facts.words) => {
            split_name(facts.words_span, source.trim())
        }
        Some((source, target)) if !target.contains("-->") => {
            let name = target.split(&facts.words).next().unwrap_or_default();
            let name = name.trim();
            let message = format!("no colon precedes `{words}`, so it is read as a state");
            let line = format!("{} --> {name} : {}", source.trim(), facts.words);
            stray_words(facts.words_span, message)
                .help(format!(
                    "a name of two words needs {}",
                    declared(&format!("{name} {}", facts.words))
                ))
                .unsafe_fix(
                    format!("write `{}`", quote(&line)),
                    facts.words_span.before(),
                    ": ",
                )
        }
        _ => diagnostic.help("a text follows a colon: `name : text`; a comment begins with `%%`"),
    }
}

/// Reports `name["title"]`, as flowcharts label a node; `edits` declare the title.
pub(super) fn node_label(
    span: Span,
    written: &str,
    (name, title): (&str, &str),
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let message = format!("`{}` has its title in the name", quote(written));
    let fix = format!(
        "declare `state \"{}\" as {name}`, and write `{name}` here",
        quote(title)
    );
    stray_words(span, message)
        .label("only flowcharts write it so")
        .fix_or_help(Applicability::Unsafe, &fix, edits)
}

/// Reports a state whose name has blanks.
fn split_name(span: Span, name: &str) -> Diagnostic {
    let message = format!("a state's name is one word, not `{}`", quote(name));
    stray_words(span, message)
        .label("each word is read as a state")
        .help(format!(
            "declare it by {}, and write `{}` here",
            declared(name),
            quote(&joined(name))
        ))
}

/// Returns the statement that declares a state with a title of several words, in backticks.
fn declared(title: &str) -> String {
    format!("`state \"{}\" as {}`", quote(title), quote(&joined(title)))
}

/// Returns a title as a name.
fn joined(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join("_")
}

/// The kinds of pseudo-states that have a mark.
const MARKED: [&str; 3] = ["choice", "fork", "join"];

/// Returns the kind that is meant between the signs of a mark: `choise` is a `choice`.
fn meant_mark(inner: &str) -> Option<&'static str> {
    let known = MARKED.into_iter().find(|kind| *kind == inner);
    known.or_else(|| nearest(inner, MARKED))
}

/// Splits words into a name and the kind of the mark after it, if they are that.
fn named_mark(words: &str) -> Option<(&str, &'static str)> {
    let (name, mark) = words.split_once(char::is_whitespace)?;
    let mark = mark.to_ascii_lowercase().replace(char::is_whitespace, "");
    let inside = |open, close| mark.strip_prefix(open)?.strip_suffix(close);
    let inner = inside("<<", ">>").or_else(|| inside("[[", "]]"))?;
    Some((name, meant_mark(inner)?))
}

/// Reports `a -->|label| b`.
fn piped_label(facts: &StrayLine) -> Diagnostic {
    let parts: Vec<&str> = facts.line.splitn(3, '|').collect();
    let [before, label, target] = parts.as_slice() else {
        return stray_words(facts.line_span, "`|` begins the name of a state")
            .help("a label follows the target: `a --> b : label`");
    };
    let message = format!("`|{}|` is read as a state, not as a label", quote(label));
    let diagnostic =
        stray_words(facts.line_span, message).help("a label follows the target: `a --> b : label`");
    let fixed = format!("{} {} : {}", before.trim(), target.trim(), label.trim());
    diagnostic.unsafe_fix(format!("write `{}`", quote(&fixed)), facts.line_span, fixed)
}

/// Reports text after `state` that isn't a name.
pub(super) fn nameless_state(span: Span, words: &str) -> Diagnostic {
    let words = quote(words);
    stray_words(span, format!("`{words}` after `state` means nothing"))
        .label("Mermaid passes over it")
        .help("`state` declares a state; a state of that name can't begin a line")
}

/// Reports words after a declared name.
pub(super) fn words_after_name(span: Span, whole: Span, id: &str, words: &str) -> Diagnostic {
    let words = quote(words);
    let message = format!("`{words}` after `state {}` means nothing", quote(id));
    let diagnostic = stray_words(span, message);
    let bare: String = words
        .to_ascii_lowercase()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let inner = bare.trim_matches(['<', '>', '[', ']']);
    if bare.starts_with("<<") || bare.starts_with("[[") {
        return match inner {
            "end" | "final" => diagnostic
                .help("the marks are `<<choice>>`, `<<fork>>` and `<<join>>`")
                .help("a final state is one with a transition to `[*]`"),
            "history" | "h" => diagnostic
                .help("the marks are `<<choice>>`, `<<fork>>` and `<<join>>`")
                .help("the history of `name` is the state `name[H]`"),
            _ => match meant_mark(inner) {
                Some(kind) => diagnostic
                    .doubts([id])
                    .help(format!("did you mean `<<{kind}>>`?"))
                    .unsafe_fix(format!("write `<<{kind}>>`"), span, format!("<<{kind}>>")),
                None => diagnostic.help("the marks are `<<choice>>`, `<<fork>>` and `<<join>>`"),
            },
        };
    }
    let title = format!("{id} {words}");
    diagnostic.unsafe_fix(
        format!("write `state \"{}\" as {}`", quote(&title), slug(&title)),
        whole,
        format!("state \"{title}\" as {}", slug(&title)),
    )
}

/// Reports words before the name of a composite.
pub(super) fn words_before_composite(span: Span, words: &str, id: &str) -> Diagnostic {
    let message = format!(
        "`{}` before the composite `{}` means nothing",
        quote(words),
        quote(id)
    );
    stray_words(span, message)
        .label("Mermaid passes over it")
        .help("a composite with a title is written `state \"title\" as name {`")
}

/// Reports `state x : Title {`, which Mermaid names by the last word of the title.
pub(super) fn composite_title(
    edit: Span,
    id: &Spanned<String>,
    title: &str,
    drawn: &str,
) -> Diagnostic {
    let name = quote(&id.value);
    let message = format!(
        "Mermaid names this composite `{}`, not `{name}`",
        quote(drawn)
    );
    let diagnostic = stray_words(edit, message);
    if title.is_empty() {
        return diagnostic.help(format!("write `state {name} {{`"));
    }
    diagnostic.safe_fix(
        format!("write `state \"{}\" as {name} {{`", quote(title)),
        edit,
        format!("state \"{title}\" as {}", id.value),
    )
}

/// Reports `state x:::c {`, where the class is part of the name.
pub(super) fn composite_class(span: Span, id: &str) -> Diagnostic {
    let message = format!("Mermaid names this composite `{}`", quote(id));
    stray_words(span, message).help("give the class with a `class` line of its own")
}

/// Reports `state "title" as two words`.
pub(super) fn name_with_blanks(span: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    let message = format!("`{id}` is one name, and no transition can use it");
    stray_words(span, message).help("a name is one word; a comment needs a line of its own")
}

/// Reports `state "title" as x <<choice>>`, all of which is the name.
pub(super) fn pseudo_name(edit: Span, id: &Spanned<String>, mark: &str) -> Diagnostic {
    let name = quote(&id.value);
    let last = id.value.split_whitespace().next_back().unwrap_or("");
    let message = format!("all of `{name}` is the name of this state");
    let diagnostic = stray_words(id.span, message).label("no transition can use it");
    if id.value.contains('"') {
        return diagnostic
            .note("a choice, a fork or a join has no title")
            .unsafe_fix(
                format!("write `state {last} {mark}`"),
                edit,
                format!("{last} {mark}"),
            );
    }
    diagnostic.help(format!("write `state {} {mark}`", slug(&id.value)))
}

/// Reports `class my-a foo`, where the dash ends the names of the states.
pub(super) fn class_name(span: Span, states: &str, class: &str) -> Diagnostic {
    let message = format!(
        "this gives the class `{}` to `{}`",
        quote(class),
        quote(states)
    );
    stray_words(span, message)
        .help("here names are made of the letters a to z, digits and `_` only")
}

/// Reports `state <<choice>>`.
pub(super) fn mark_without_name(mark: Span, written: &str) -> Diagnostic {
    let message = format!("`{written}` without a name before it means nothing");
    stray_words(mark, message)
        .label("Mermaid passes over it")
        .help(format!("write `state name {written}`"))
}

/// Reports `state "title" as` without a name.
pub(super) fn title_without_name(span: Span, title: &str, braced: bool) -> Diagnostic {
    let shown = quote(title);
    let name = slug(title);
    let brace = if braced { " {" } else { "" };
    let message = format!("no name follows `as`, and Mermaid doesn't draw `{shown}`");
    stray_words(span, message).unsafe_fix(
        format!("write `state \"{shown}\" as {name}{brace}`"),
        span,
        format!("state \"{title}\" as {name}"),
    )
}
