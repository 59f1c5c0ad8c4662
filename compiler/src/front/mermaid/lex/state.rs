//! Behind `state`: Mermaid's modes STATE, STATE_STRING and STATE_ID.

use super::{Kind, Lexer, Mode, Token, rule};

impl Lexer<'_> {
    /// `state\s+` makes no token; the blanks may end the line.
    pub(super) fn state_keyword(&mut self, rest: &str) {
        self.state_at = Some(self.at);
        self.modes.push(Mode::State);
        self.skip(rest);
    }

    /// One rule of STATE.
    pub(super) fn state(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::blank1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        let at = self.at;
        if let Some((kind, _, end)) = self.line().stereotype(at) {
            self.modes.pop();
            return self.take_until(Kind::Pseudo(kind), end);
        }
        if let Some(rest) = input.strip_prefix('"') {
            self.modes.push(Mode::StateTitle);
            let lead = self.state_at.unwrap_or(self.at);
            self.state_at = Some(lead);
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::alias(input) {
            return self.open(Kind::As, rest, Mode::StateId);
        }
        if let Some(rest) = self.several_words(input) {
            return self.open_brace(Kind::SeveralWords, rest);
        }
        if let Ok((rest, _)) = rule::composite(input) {
            return self.take(Kind::Word, rest);
        }
        if let Some(rest) = input.strip_prefix('\n') {
            self.modes.pop();
            self.state_at = None;
            return self.skip(rest);
        }
        if let Some(rest) = input.strip_prefix('{') {
            return self.open_brace(Kind::Open, rest);
        }
        self.modes.pop();
        self.unknown()
    }

    /// `\w+\s+\w+.*?\{`, with blanks that stay on the line: see [`super::Lexer::runs_into_brace`].
    fn several_words<'t>(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, _) = rule::word1(input).ok()?;
        let (rest, _) = rule::blank1(rest).ok()?;
        let (rest, _) = rule::word1(rest).ok()?;
        let at = self.text.len() - rest.len();
        // The blanks may hold one of the line ends that only JavaScript knows.
        if !self.line_of(at).has_brace(at) {
            return None;
        }
        let (_, rest) = rest.split_once('{')?;
        Some(rest)
    }

    /// One rule of STATE_STRING; a title may span lines.
    pub(super) fn state_title(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Some(rest) = input.strip_prefix('"') {
            self.modes.pop();
            return self.skip(rest);
        }
        if input.is_empty() {
            return self.unknown();
        }
        let end = input.find('"').unwrap_or(input.len());
        self.take(Kind::Title, input.get(end..).unwrap_or(""))
    }

    /// STATE_ID: all up to the line's end or a brace, and be it nothing.
    pub(super) fn state_id(&mut self) -> Option<Token> {
        let input = self.rest();
        let end = input.find(['\n', '{']).unwrap_or(input.len());
        let (matched, rest) = input.split_at_checked(end).unwrap_or((input, ""));
        // An id that begins with `%%` is passed over, and the rule tried again on what follows.
        if !matched.starts_with("%%") {
            self.modes.pop();
        }
        self.id(Kind::Id, matched, rest)
    }
}
