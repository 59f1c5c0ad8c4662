//! Conditions and values: ECMAScript's where it and our expressions mean the same.
//!
//! An expression is spelled in our language first ([`native`]): `===` is `==`, `In('a')` is `in_state('a')`, and
//! `_event.data.x` is `event.x`. Then it is read as any other. Where the two languages would part, a finding says so:
//! truth of what is no truth value, and division.

use super::{Lowering, plain};
use crate::diag::{Diags, nearest};
use crate::excerpt::Excerpt;
use crate::front::expression::ast::{self, BinaryOperator, Kind};
use crate::front::expression::{Written, parse};
use crate::front::scxml::{ast as scxml, escaped, foreign_expression};
use crate::ir::{Assign, Constant, Expression, ExpressionKind, Guard, Type};
use crate::lower::expression::{as_expression, constant};
use crate::lower::report::unknown_state::unknown_target;
use crate::source::{Span, Spanned};

impl Lowering<'_, '_> {
    /// A condition.
    pub(super) fn condition(&mut self, text: &Excerpt) -> Option<Spanned<Guard>> {
        let expression = self.read(text)?;
        let guard = self.truth(&expression)?;
        Some(Spanned::new(guard, expression.span))
    }

    /// An assignment; its place must be declared.
    pub(super) fn assign(&mut self, assign: &scxml::Assign) -> Option<Assign> {
        let path = plain(&assign.location);
        let is_declared = self.is_declared(&assign.location);
        if !is_declared {
            let found = foreign_expression::no_location(assign.location.span, &path);
            self.diags.push(found);
        }
        let value = self.read(&assign.value);
        let value = value.and_then(|value| self.value(&value));
        let field = is_declared.then(|| self.field(&path, assign.location.span))?;
        Some(Assign {
            field,
            value: value?,
        })
    }

    /// Whether a location is a place in the data that the document declares.
    pub(super) fn is_declared(&self, location: &Spanned<String>) -> bool {
        let path = plain(location);
        let is_name = |name: &str| {
            name.starts_with(|c: char| c == '_' || c.is_alphabetic())
                && name.chars().all(|c| c == '_' || c.is_alphanumeric())
        };
        let first = path.split('.').next().unwrap_or("");
        path.split('.').all(is_name) && self.data.ids.contains(first)
    }

    /// The expression of a text. What is wrong with it is reported, with fixes as the document spells them.
    fn read(&mut self, text: &Excerpt) -> Option<ast::Expression> {
        let parsed = parse(&Written::in_excerpt(&native(text)));
        let mut problems = Diags::new();
        for mut problem in parsed.problems.into_sorted() {
            for edit in problem.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
                edit.text = escaped(&edit.text);
            }
            problems.push(problem);
        }
        self.diags.append(problems);
        parsed.expression
    }

    /// An expression that is to be true or false.
    fn truth(&mut self, expression: &ast::Expression) -> Option<Guard> {
        let span = expression.span;
        let list = |parts: Vec<Option<Guard>>| parts.into_iter().collect::<Option<Vec<Guard>>>();
        let guard = match &expression.kind {
            Kind::Not(inner) => Guard::Not(Box::new(self.truth(inner)?)),
            // Every part is looked at, also behind one that is wrong.
            Kind::And(parts) => {
                Guard::All(list(parts.iter().map(|part| self.truth(part)).collect())?)
            }
            Kind::Or(parts) => {
                Guard::Any(list(parts.iter().map(|part| self.truth(part)).collect())?)
            }
            Kind::Name(name) => {
                if let Some(guard) = self.data.guards.get(name) {
                    return Some(guard.clone());
                }
                let value = self.value(expression)?;
                self.expect_truth(&value, span);
                return Some(Guard::Expression(value));
            }
            Kind::Literal(literal) if self.document.ecmascript => {
                let kind = ExpressionKind::Constant(Constant::Bool(is_truthy(literal)));
                return Some(Guard::Expression(Expression { span, kind }));
            }
            _ => {
                let value = self.value(expression)?;
                self.expect_truth(&value, span);
                return Some(Guard::Expression(value));
            }
        };
        Some(as_expression(guard, span).map_or_else(|guard| guard, Guard::Expression))
    }

    /// In ECMAScript any value is true or false.
    fn expect_truth(&mut self, value: &Expression, span: Span) {
        let is_truth = match &value.kind {
            ExpressionKind::Field(field) => self.fields.at(*field).kind == Type::Bool,
            ExpressionKind::Constant(value) => matches!(value, Constant::Bool(_)),
            ExpressionKind::Unary(..) => false,
            ExpressionKind::Binary(operator, _) => !is_arithmetic(*operator),
            _ => true,
        };
        if self.document.ecmascript && !is_truth {
            self.diags.push(foreign_expression::truthiness(span));
        }
    }

    /// An expression that is to have a value.
    fn value(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        let kind = match &expression.kind {
            Kind::Literal(literal) => ExpressionKind::Constant(constant(literal)),
            Kind::Name(name) => match self.data.guards.get(name) {
                Some(Guard::Ask(host)) => ExpressionKind::Ask(*host),
                _ => ExpressionKind::Field(self.named(name, span)?),
            },
            Kind::Has(name) => ExpressionKind::Has(self.named(&name.value, name.span)?),
            Kind::InState(name) => {
                let Some(&state) = self.by_id.get(&plain(name)) else {
                    let near = nearest(&name.value, self.by_id.keys().map(String::as_str));
                    let found = unknown_target(name, near);
                    self.diags.push(found);
                    return None;
                };
                ExpressionKind::InState(state)
            }
            Kind::Not(_) | Kind::And(_) | Kind::Or(_) => {
                let guard = self.truth(expression)?;
                return match as_expression(guard, span) {
                    Ok(expression) => Some(expression),
                    Err(_) => {
                        self.diags.push(foreign_expression::guard_as_value(span));
                        None
                    }
                };
            }
            Kind::Unary(operator, inner) => {
                ExpressionKind::Unary(*operator, Box::new(self.value(inner)?))
            }
            Kind::Binary(operator, operands) => {
                if *operator == BinaryOperator::Divide && self.document.ecmascript {
                    self.diags.push(foreign_expression::division(span));
                }
                let [left, right] = operands.as_ref();
                let (left, right) = (self.value(left), self.value(right));
                ExpressionKind::Binary(*operator, Box::new([left?, right?]))
            }
            Kind::Among(inner, items) => {
                let items = items.iter().map(|item| constant(&item.value)).collect();
                ExpressionKind::Among(Box::new(self.value(inner)?), items)
            }
        };
        Some(Expression { span, kind })
    }

    /// The field of a path whose first name is declared.
    fn named(&mut self, path: &str, span: Span) -> Option<crate::arena::Handle<crate::ir::Field>> {
        let first = path.split('.').next().unwrap_or("");
        let is_event = first == "event" && path != first;
        if is_event || self.data.ids.contains(first) {
            return Some(self.field(path, span));
        }
        if self.data.guards.contains_key(path) {
            self.diags.push(foreign_expression::guard_as_value(span));
            return None;
        }
        let near = nearest(first, self.data.ids.iter().map(String::as_str));
        let found = foreign_expression::undeclared(span, path, near);
        self.diags.push(found);
        None
    }
}

/// What ECMAScript takes a literal for. Source: ECMA-262, *ToBoolean*.
fn is_truthy(literal: &ast::Literal) -> bool {
    match literal {
        ast::Literal::Null => false,
        ast::Literal::Bool(value) => *value,
        ast::Literal::Int(value) => *value != 0,
        ast::Literal::Unsigned(value) => *value != 0,
        ast::Literal::Float(value) => *value != 0.0,
        ast::Literal::Text(text) => !text.is_empty(),
    }
}

fn is_arithmetic(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
    matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
}

/// A text of ECMAScript, spelled as an expression of ours.
fn native(text: &Excerpt) -> Excerpt {
    /// What is spelled otherwise, the longest first.
    const WORDS: [(&str, &str); 4] = [
        ("===", "=="),
        ("!==", "!="),
        ("_event.data", "event"),
        ("In(", "in_state("),
    ];
    let mut spelled = Excerpt::new(text.file());
    let all = text.text();
    let mut quote: Option<char> = None;
    let mut before = ' ';
    let mut at = 0;
    while let Some(rest) = all.get(at..).filter(|rest| !rest.is_empty()) {
        let is_start = !(before.is_alphanumeric() || before == '_' || before == '.');
        let word = WORDS.iter().find(|(word, _)| {
            let is_sign = word.ends_with('=');
            quote.is_none() && rest.starts_with(word) && (is_sign || is_start)
        });
        if let Some((word, ours)) = word {
            let source = text.span(at..at + word.len()).start;
            // Letter by letter at one place: the words aren't equally long.
            for letter in ours.chars() {
                spelled.push(letter.encode_utf8(&mut [0; 4]), source);
            }
            before = ours.chars().next_back().unwrap_or(' ');
            at += word.len();
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
        at += length;
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::native;
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
        ] {
            let mut sources = Sources::new();
            let file = sources.add("cond", text);
            assert_eq!(native(&Excerpt::whole(file, text)).text(), expected);
        }
    }
}
