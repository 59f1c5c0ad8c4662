//! Between statements, inside of braces: Mermaid's mode struct.
//!
//! Line ends are nothing here, and links, quotes, accessibility texts and the header are no keywords.

use super::{Kind, Lexer, Token, rule};

impl Lexer<'_> {
    /// One rule of struct.
    pub(super) fn composite(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Ok((rest, _)) = rule::space1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        let keyword = match first {
            b'c' | b'C' => self.class_keyword(input),
            b's' | b'S' => self.style_keyword(input),
            _ => None,
        };
        if keyword.is_some() {
            return keyword;
        }
        if let Ok((rest, _)) = rule::spaced("state")(input) {
            self.state_keyword(rest);
            return None;
        }
        // The direction comes behind `state` here, and before it at the root.
        let at = self.at;
        if let Some((direction, _, end)) = self.line().direction(at) {
            let behind = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(behind).unwrap_or(("", behind));
            return self.take(Kind::Direction(direction), rest);
        }
        if let Some(rest) = input.strip_prefix('}') {
            self.depth = self.depth.saturating_sub(1);
            return self.take(Kind::Close, rest);
        }
        if matches!(first, b'n' | b'N')
            && let Some(token) = self.note_keyword(input)
        {
            return Some(token);
        }
        self.name_or_sign(input).unwrap_or_else(|| self.unknown())
    }
}
