//! Guards: from names, comparisons and texts to expressions of the IR.
//!
//! A text is the name of a declared guard, else a name alone (a declared field, or a question to the host), else what [`read`] makes of it: an expression, or prose, which is a question to the host.

use super::draft::{Comparison, Draft};
use super::messages::guard_differs_from_drawn;
use super::spec::Context;
use crate::arena::Arena;
use crate::diag::{Code, Diagnostic, SMALLER_EXPRESSION, nearest, part_too_large};
use crate::front::definition::ast::{self, GuardUse};
use crate::front::expression::{GuardText, Reading, Written, read};
use crate::front::label::empty_guard;
use crate::front::words::{is_identifier, slug};
use crate::ir::{Constant, Expression, ExpressionKind};
use crate::source::{Span, Spanned, narrow};

/// Most parts of one guard. Unit: comparisons, names and connectives. Why: a program's size.
///
/// A guard program holds 4,096 instructions, and each part needs at most two. Named guards count written out.
const MAX_PARTS: usize = 2048;

/// Most parts of all guards together. Unit: as above. Why: a table holds 1,048,576 instructions.
///
/// That is `MAX_ROWS` of the runtime. Named guards count each time: a large one used by every transition would fill any
/// memory.
const MAX_ALL_PARTS: usize = 1 << 19;

/// Deepest nesting of a guard. Unit: levels. Why: later stages and engines recurse over it.
///
/// Named guards count written out.
const MAX_NESTING: usize = 256;

/// Gives each transition with text between the brackets of its label the guard that it means.
///
/// Where the definition guards the transition, prose and expressions in the label are words for people; a name must name
/// the same guard.
pub(super) fn resolve_label_guards(draft: &mut Draft, context: &mut Context<'_>) {
    let texts = std::mem::take(&mut draft.guard_texts);
    note_asked_names(draft, &texts, context);
    for index in 0..draft.transitions.len() {
        let Some(transition) = draft.transitions.get_mut(index) else {
            continue;
        };
        if transition.label_guards.is_empty() {
            continue;
        }
        let labels: Vec<&GuardText> = std::mem::take(&mut transition.label_guards)
            .into_iter()
            .map(|text| texts.at(text))
            .collect();
        let Some(words) = labels.first().map(|label| &label.text) else {
            continue;
        };
        let defined = transition.ir.guard.clone();
        let is_name = is_identifier(&words.value) || context.declared_guard(&words.value).is_some();
        if defined.is_some() && (!is_name || labels.len() > 1) {
            continue;
        }
        let Some(drawn) = label_guard(&labels, draft, context) else {
            // It was reported. Without a guard the transition would seem to compete with others.
            let unread = unread_guard(&words.value, words.span, draft);
            if let (None, Some(transition)) = (defined, draft.transitions.get_mut(index)) {
                transition.ir.guard = Some(Spanned::new(unread, words.span));
            }
            continue;
        };
        match defined {
            Some(defined) if defined.value != drawn => {
                let diagnostic = guard_differs_from_drawn(defined.span, words);
                context.diags.push(diagnostic);
            }
            Some(_) => {}
            None => {
                if let Some(transition) = draft.transitions.get_mut(index) {
                    transition.ir.guard = Some(Spanned::new(drawn, words.span));
                }
            }
        }
    }
}

/// Notes the names that are alone between brackets, so that they mean the same inside an expression.
fn note_asked_names(draft: &Draft, texts: &Arena<GuardText>, context: &mut Context<'_>) {
    let used = draft.transitions.iter();
    for &text in used.flat_map(|transition| &transition.label_guards) {
        let text = &texts.at(text).text.value;
        let name = negated_name(text).unwrap_or(text);
        if is_identifier(name) && !context.asked.contains(name) {
            context.asked.insert(name.to_owned());
        }
    }
}

/// Returns the guard that the texts in the labels on a transition's way mean: all must hold.
fn label_guard(
    labels: &[&GuardText],
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> Option<Expression> {
    let strict = context.declares_all || context.declared_guards().next().is_some();
    let asked = Asked {
        strict,
        is_claim: context.has_claims(),
        name: None,
    };
    let mut resolve = |label: &GuardText| {
        let mut resolver = Resolver::new(draft, context);
        resolver.text(&label.text, || label.to_written(), asked)
    };
    if let [label] = labels {
        return resolve(label);
    }
    let guards: Vec<Expression> = labels.iter().filter_map(|label| resolve(label)).collect();
    let span = guards.first()?.span;
    Some(Expression::all(guards, span))
}

/// Returns the guard of a branch: all of its guards must hold.
pub(super) fn branch_guard(
    uses: &[Spanned<GuardUse>],
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> Option<Spanned<Expression>> {
    let first = uses.first()?;
    let span = uses
        .iter()
        .fold(first.span, |span, other| span.to(other.span));
    let mut resolver = Resolver::new(draft, context);
    let guards: Vec<Expression> = uses
        .iter()
        .map(|guard| {
            let (words, read) = match &guard.value {
                GuardUse::Name(name) => (name.as_str(), resolver.json_text(name, guard.span, None)),
                GuardUse::Inline(inner) => ("", resolver.guard(inner, guard.span)),
            };
            read.unwrap_or_else(|| unread_guard(words, guard.span, resolver.draft))
        })
        .collect();
    Some(Spanned::new(Expression::all(guards, span), span))
}

/// Returns a question in place of a guard that can't be read, which was reported.
///
/// A transition without it would seem to compete with others. Two guards of the same words are the same question.
fn unread_guard(words: &str, span: Span, draft: &mut Draft) -> Expression {
    let mut name = question_name(words);
    if name.is_empty() {
        name = format!("unread_{}", span.start);
    }
    let guard = draft.intern_guard(&name, words, span, false);
    let kind = ExpressionKind::Ask(guard);
    Expression { span, kind }
}

/// The rules for names that aren't declared.
#[derive(Clone, Copy)]
struct Asked<'n> {
    /// True if a name must be declared.
    strict: bool,
    /// True if what nothing defines is a claim of the sender; else the host answers it.
    is_claim: bool,
    /// The name that its author gave it, if it has one.
    name: Option<&'n str>,
}

pub(super) struct Resolver<'r, 'c> {
    pub(super) draft: &'r mut Draft,
    pub(super) context: &'r mut Context<'c>,
    /// The declared guards being written out, outermost first.
    open: Vec<&'c str>,
    parts: usize,
    nesting: usize,
}

impl<'r, 'c> Resolver<'r, 'c> {
    pub(super) fn new(draft: &'r mut Draft, context: &'r mut Context<'c>) -> Self {
        Self {
            draft,
            context,
            open: Vec::new(),
            parts: 0,
            nesting: 0,
        }
    }

    /// Resolves a text in a JSON string; `name` is its name, if it is a declared guard.
    fn json_text(&mut self, text: &str, span: Span, name: Option<&str>) -> Option<Expression> {
        let text = Spanned::new(text.to_owned(), span);
        let sources = self.context.sources;
        let asked = Asked {
            strict: true,
            is_claim: false,
            name,
        };
        self.text(&text, || Written::in_json(&text, sources), asked)
    }

    /// Resolves a name, an expression or prose; `written` gives the text with the way back to the file.
    fn text(
        &mut self,
        guard: &Spanned<String>,
        written: impl FnOnce() -> Written,
        asked: Asked<'_>,
    ) -> Option<Expression> {
        let (text, span) = (guard.value.as_str(), guard.span);
        if let Some(declared) = self.context.declared_guard(text) {
            return self.declared_guard(declared, span);
        }
        if is_lone_name(text) {
            return self.lone_name(text, span, asked);
        }
        if let Some(name) = negated_name(text) {
            let place = span_at_end(text, name, span);
            let asked = Asked {
                name: None,
                ..asked
            };
            let guard = match self.context.declared_guard(name) {
                Some(declared) => self.declared_guard(declared, place)?,
                None => self.lone_name(name, place, asked)?,
            };
            return Some(guard.negated(span));
        }
        let name = question_name(text);
        if name.is_empty() {
            self.context.diags.push(empty_guard(span));
            return None;
        }
        let known = |name: &str| {
            self.is_known(name)
                || self.context.declared_guard(name).is_some()
                || self.context.asked.contains(name)
        };
        match read(&written(), known) {
            Reading::Expression(expression) => self.truth(&expression),
            Reading::Broken(problems) => {
                self.context.diags.append(problems);
                None
            }
            Reading::Prose => {
                if self.context.declares_all {
                    self.context.diags.push(undeclared_prose(text, span));
                }
                Some(self.ask(asked.name.unwrap_or(&name), text, span, asked))
            }
        }
    }

    /// Resolves a name that is no declared guard: a declared field, else a question to the host.
    fn lone_name(&mut self, name: &str, span: Span, asked: Asked<'_>) -> Option<Expression> {
        if self.is_known(name) {
            let field = self.draft.intern_field(name, span);
            let kind = ExpressionKind::Field(field);
            return Some(Expression { span, kind });
        }
        if let Some(given) = asked.name {
            return Some(self.ask(given, name, span, asked));
        }
        if asked.strict {
            let known = self.context.comparable_guards();
            let diagnostic = unknown_guard(name, span, known);
            self.context.diags.push(diagnostic);
        }
        let guard = self.draft.intern_guard(name, name, span, asked.is_claim);
        let kind = ExpressionKind::Ask(guard);
        Some(Expression { span, kind })
    }

    /// Returns a question that isn't evaluated, and reports one to the host; the checks report claims.
    fn ask(&mut self, name: &str, text: &str, span: Span, asked: Asked<'_>) -> Expression {
        if !asked.is_claim && !self.context.declares_all {
            self.context.diags.push(host_expression(text, name, span));
        }
        let guard = self.draft.intern_guard(name, text, span, asked.is_claim);
        let kind = ExpressionKind::Ask(guard);
        Expression { span, kind }
    }

    /// Resolves a declared guard where it is used.
    pub(super) fn declared_guard(
        &mut self,
        declared: &'c ast::Named<ast::Guard>,
        span: Span,
    ) -> Option<Expression> {
        let name = declared.name.value.as_str();
        self.context.used.insert(name.to_owned());
        if self.open.contains(&name) {
            self.context
                .diags
                .push(circular_guard(name, declared.name.span, span));
            return None;
        }
        self.open.push(name);
        let guard = match &declared.value {
            // The host sees the name that the author chose.
            ast::Guard::Text(text) => self.nested(span, |resolver| {
                resolver.json_text(&text.value, text.span, Some(name))
            }),
            guard => self.guard(guard, span),
        };
        self.open.pop();
        guard
    }

    /// Resolves a part of the guard, a level deeper; reports a guard that exceeds a limit.
    pub(super) fn nested<T>(
        &mut self,
        span: Span,
        part: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.parts += 1;
        self.draft.guard_parts += 1;
        let limits = [
            (self.parts, MAX_PARTS, "a guard of more than", "parts"),
            (
                self.draft.guard_parts,
                MAX_ALL_PARTS,
                "guards of more than",
                "parts together",
            ),
            (
                self.nesting + 1,
                MAX_NESTING,
                "a guard of more than",
                "levels",
            ),
        ];
        if let Some((count, most, what, unit)) =
            limits.into_iter().find(|(count, most, ..)| count > most)
        {
            // Each limit is reported once.
            if count == most + 1 {
                let what = format!("{what} {most} {unit}");
                let diagnostic = part_too_large(&what, span, SMALLER_EXPRESSION);
                self.context.diags.push(diagnostic);
            }
            return None;
        }
        self.nesting += 1;
        let made = part(self);
        self.nesting -= 1;
        made
    }

    fn guard(&mut self, guard: &ast::Guard, span: Span) -> Option<Expression> {
        self.nested(span, |resolver| resolver.guard_parts(guard, span))
    }

    fn guard_parts(&mut self, guard: &ast::Guard, span: Span) -> Option<Expression> {
        match guard {
            ast::Guard::Compare {
                field,
                operator,
                values,
            } => {
                let constants = values
                    .iter()
                    .map(|value| Some(Spanned::new(constant(&value.value)?, value.span)))
                    .collect::<Option<Vec<_>>>()?;
                let path = field;
                let field = self.compared_field(path)?;
                let kind = ExpressionKind::Compare {
                    field,
                    operator: operator.value,
                    constants: constants.iter().map(|it| it.value.clone()).collect(),
                };
                let comparison = Comparison {
                    field,
                    operator: operator.value,
                    constants,
                };
                self.draft
                    .comparisons
                    .entry(path.span)
                    .or_insert(comparison);
                Some(Expression { span, kind })
            }
            ast::Guard::All(parts) => Some(Expression::all(self.list(parts), span)),
            ast::Guard::Any(parts) => Some(Expression::any(self.list(parts), span)),
            ast::Guard::Not(part) => Some(self.guard(&part.value, part.span)?.negated(span)),
            ast::Guard::Text(text) => self.json_text(&text.value, text.span, None),
        }
    }

    fn list(&mut self, parts: &[Spanned<ast::Guard>]) -> Vec<Expression> {
        parts
            .iter()
            .filter_map(|part| self.guard(&part.value, part.span))
            .collect()
    }
}

/// Reports whether a text between brackets is words for people.
///
/// It is no name, no declared guard and no expression.
pub(super) fn is_prose(text: &GuardText, draft: &mut Draft, context: &mut Context<'_>) -> bool {
    let words = text.text.value.as_str();
    if context.declared_guard(words).is_some()
        || is_lone_name(words)
        || negated_name(words).is_some()
        || question_name(words).is_empty()
    {
        return false;
    }
    let resolver = Resolver::new(draft, context);
    let known =
        |name: &str| resolver.is_known(name) || resolver.context.declared_guard(name).is_some();
    matches!(read(&text.to_written(), known), Reading::Prose)
}

/// Returns whether a text is one name, and none of the words `true`, `false` and `null`.
fn is_lone_name(text: &str) -> bool {
    is_identifier(text) && !matches!(text, "true" | "false" | "null")
}

/// Returns the name in `!name`.
fn negated_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('!')?.trim();
    is_lone_name(name).then_some(name)
}

/// Returns the span of a name at the end of a text, which may be in quotes.
///
/// It is the whole span if the text isn't verbatim in its file.
fn span_at_end(text: &str, name: &str, span: Span) -> Span {
    let Some(quotes) = span
        .range()
        .len()
        .checked_sub(text.len())
        .filter(|&more| more == 0 || more == 2)
    else {
        return span;
    };
    let end = span.end.saturating_sub(narrow(quotes / 2));
    let start = end.saturating_sub(narrow(name.len()));
    Span { start, end, ..span }
}

/// Returns the name under which the host is asked for an expression.
///
/// Its operators become words, so that `a && b`, `a || b` and `!a && b` are three questions.
pub(crate) fn question_name(text: &str) -> String {
    let spelled = text
        .replace("&&", " and ")
        .replace("||", " or ")
        .replace("!=", " ≠ ");
    let letters: Vec<char> = spelled.chars().collect();
    let mut words = String::with_capacity(spelled.len());
    for (at, &c) in letters.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .and_then(|at| letters.get(at))
            .copied()
            .unwrap_or(' ');
        let after = letters.get(at + 1).copied().unwrap_or(' ');
        let stands_alone = before.is_whitespace() && after.is_whitespace();
        let is_sign = after.is_ascii_digit() && !before.is_alphanumeric();
        match c {
            '!' if after.is_alphanumeric() || after == '_' || after == '(' => {
                words.push_str(" not ")
            }
            '+' => words.push_str(" plus "),
            '*' => words.push_str(" times "),
            '-' if stands_alone || is_sign => words.push_str(" minus "),
            '/' if stands_alone => words.push_str(" over "),
            '%' if stands_alone => words.push_str(" mod "),
            _ => words.push(c),
        }
    }
    slug(&words)
}

/// Returns the constant of a JSON value; `None` for lists and objects, which the front end reports.
pub(super) fn constant(value: &serde_json::Value) -> Option<Constant> {
    match value {
        serde_json::Value::Null => Some(Constant::Null),
        serde_json::Value::Bool(value) => Some(Constant::Bool(*value)),
        serde_json::Value::String(text) => Some(Constant::Text(text.clone())),
        serde_json::Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .map(Constant::Int)
            .or_else(|| {
                number
                    .as_f64()
                    .filter(|float| float.is_finite())
                    .map(Constant::Float)
            }),
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}

fn host_expression(text: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("guard `{text}` isn't evaluated: the host is asked for `{name}`");
    Diagnostic::new(Code::HostExpression, span, message)
        .label(format!("asked as `{name}`"))
        .note("the host is the program that runs the machine; a workflow for agents has none")
        .help("to have it evaluated, write an expression, such as `attempts < 3 && !paid`")
}

fn unknown_guard<'k>(name: &str, span: Span, known: impl Iterator<Item = &'k str>) -> Diagnostic {
    let message = format!("guard `{name}` isn't declared");
    let diagnostic = Diagnostic::new(Code::UnknownGuard, span, message)
        .label("not among the `guards` of the definition")
        .note(
            "a guard that can't be answered never holds, so this transition would never be taken",
        );
    match nearest(name, known) {
        Some(near) => {
            // A label holds the bare name, the definition has it in quotes.
            let quote = if span.range().len() > name.len() { "\"" } else { "" };
            diagnostic.did_you_mean(near, span, quote)
        }
        None => diagnostic.help(format!(
            "declare it: `\"guards\": {{ \"{name}\": {{ \"field\": …, \"op\": …, \"value\": … }} }}`"
        )),
    }
}

fn undeclared_prose(text: &str, span: Span) -> Diagnostic {
    let message = format!("guard `{text}` isn't declared");
    Diagnostic::new(Code::UnknownGuard, span, message)
        .label("words for people")
        .note("`\"guards\": \"declared\"` allows no guard that nothing defines")
        .help("write an expression, such as `attempts < 3 && !paid`")
}

fn circular_guard(name: &str, declared: Span, used: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownGuard,
        used,
        format!("guard `{name}` refers to itself"),
    )
    .label("needs its own answer")
    .related(declared, "declared here")
    .help("say what it depends on without naming it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_differ_have_names_that_differ() {
        for (text, expected) in [
            ("attempts < 3", "attempts_lt_3"),
            ("a && b", "a_and_b"),
            ("a || b", "a_or_b"),
            ("!a && b", "not_a_and_b"),
            ("!(a || b)", "not_a_or_b"),
            ("a != b", "a_ne_b"),
            ("x > -1", "x_gt_minus_1"),
            ("x - 1 > 0", "x_minus_1_gt_0"),
            ("user's turn!", "user_s_turn"),
            ("well-known user", "well_known_user"),
        ] {
            assert_eq!(question_name(text), expected, "{text}");
        }
    }
}
