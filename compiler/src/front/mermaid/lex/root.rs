//! Between statements, outside of braces: Mermaid's mode INITIAL.

use nom::Parser;
use nom::bytes::complete::tag;

use super::{Kind, Lexer, Mode, Token, rule};

impl Lexer<'_> {
    /// One rule of INITIAL. Rules are looked up by their first byte; within a byte they keep Mermaid's order.
    pub(super) fn root(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Some(token) = self.before_direction(input, first) {
            return Some(token);
        }
        // Rules 5 to 8: the line, its comments included, is a direction wherever it holds one.
        if let Some((direction, _, end)) = {
            let at = self.at;
            self.line().direction(at)
        } {
            let behind = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(behind).unwrap_or(("", behind));
            return self.take(Kind::Direction(direction), rest);
        }
        // Rules 9 to 12. A run of blanks that begins with another one swallows line ends.
        if let Ok((rest, _)) = rule::newlines(input) {
            return self.take(Kind::NewLine, rest);
        }
        if let Ok((rest, _)) = rule::space1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        if first.is_ascii_alphabetic() {
            let before = self.at;
            let token = self.keyword(input, first);
            // Some keywords make no token and only move on.
            if token.is_some() || self.at != before {
                return token;
            }
        }
        self.sign(input, first)
    }

    /// Rules 1 to 4, which come before everything.
    fn before_direction(&mut self, input: &str, first: u8) -> Option<Token> {
        let (kind, found) = match first {
            b'c' | b'C' => (Kind::Click, rule::bounded("click")(input)),
            b'h' | b'H' => (Kind::Href, rule::bounded("href")(input)),
            b'"' => (Kind::Text, rule::quoted(input)),
            b'd' | b'D' => (Kind::Default, rule::bounded("default")(input)),
            _ => return None,
        };
        let (rest, _) = found.ok()?;
        self.take(kind, rest)
    }

    /// Rules 13 to 20 and 22 to 24.
    fn keyword(&mut self, input: &str, first: u8) -> Option<Token> {
        match first.to_ascii_lowercase() {
            b'a' => self.accessibility(input),
            b'c' => self.class_keyword(input),
            b'n' => self.note_keyword(input),
            b's' => {
                if let Ok((rest, _)) = rule::spaced("scale")(input) {
                    self.open(Kind::Scale, rest, Mode::Scale)
                } else if let Some(token) = self.style_keyword(input) {
                    Some(token)
                } else if let Ok((rest, _)) = rule::spaced("state")(input) {
                    self.state_keyword(rest);
                    None
                } else if let Ok((rest, _)) = rule::spaced("stateDiagram")(input) {
                    self.take(Kind::Header, rest)
                } else {
                    let (rest, _) = rule::spaced("stateDiagram-v2")(input).ok()?;
                    self.take(Kind::Header, rest)
                }
            }
            b'h' => {
                let (rest, _) = rule::bounded("hide empty description")(input).ok()?;
                self.take(Kind::HideEmpty, rest)
            }
            _ => None,
        }
    }

    /// Rules 14 to 16.
    fn accessibility(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::marked("accTitle", ':')(input) {
            self.open(Kind::AccTitle, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", ':')(input) {
            self.open(Kind::AccDescription, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", '{')(input) {
            // No token of its own in Mermaid's grammar: the block's text stands for all of it.
            self.state_at = Some(self.at);
            self.modes.push(Mode::AccBlock);
            self.at = self.text.len() - rest.len();
            self.acc_block()
        } else {
            None
        }
    }

    /// Rules 21 and 25 to 31.
    fn sign(&mut self, input: &str, first: u8) -> Option<Token> {
        if first == b'{' {
            return self.open_brace(Kind::Open, input.get(1..).unwrap_or(""));
        }
        self.name_or_sign(input).unwrap_or_else(|| self.unknown())
    }

    /// The rules for names, labels and arrows, which both modes between statements have in this order. The inner `None`
    /// is a match that makes no token.
    pub(super) fn name_or_sign(&mut self, input: &str) -> Option<Option<Token>> {
        if let Some(rest) = input.strip_prefix("[*]") {
            return Some(self.take(Kind::Star, rest));
        }
        if let Ok((rest, matched)) = rule::id(input) {
            return Some(self.id(Kind::Id, matched, rest));
        }
        if let Ok((rest, _)) = rule::description(input) {
            return Some(self.take(Kind::Description, rest));
        }
        let sign = |text: &'static str| tag::<_, _, ()>(text).parse(input);
        if let Ok((rest, _)) = sign("-->") {
            return Some(self.take(Kind::Arrow, rest));
        }
        // INITIAL has no rule for `--`.
        if self.depth > 0
            && let Ok((rest, _)) = sign("--")
        {
            return Some(self.take(Kind::Divider, rest));
        }
        let (rest, _) = sign(":::").ok()?;
        Some(self.take(Kind::ClassMark, rest))
    }
}
