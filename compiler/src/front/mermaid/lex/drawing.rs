//! Behind the keywords that only draw: Mermaid's modes CLASSDEF, CLASS, STYLE, SCALE, and those of `accTitle` and
//! `accDescr`.

use super::{Kind, Lexer, Mode, Token, rule};

impl Lexer<'_> {
    /// `classDef\s+`, then `class\s+`.
    pub(super) fn class_keyword(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::spaced("classDef")(input) {
            return self.open(Kind::ClassDef, rest, Mode::ClassDef);
        }
        let (rest, _) = rule::spaced("class")(input).ok()?;
        self.open(Kind::Class, rest, Mode::Class)
    }

    /// `style\s+`.
    pub(super) fn style_keyword(&mut self, input: &str) -> Option<Token> {
        let (rest, _) = rule::spaced("style")(input).ok()?;
        self.open(Kind::Style, rest, Mode::Style)
    }

    /// CLASSDEF: `DEFAULT\s+`, which the grammar has no use for, or a name.
    pub(super) fn class_def(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::spaced("default")(input) {
            return self.turn(Kind::ClassDefDefault, rest, Mode::DrawingRest);
        }
        match rule::class_name(input) {
            Ok((rest, _)) => self.turn(Kind::ClassDefName, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// CLASS: the states.
    pub(super) fn class(&mut self) -> Option<Token> {
        match rule::class_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::ClassIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// STYLE: the states.
    pub(super) fn style(&mut self) -> Option<Token> {
        match rule::style_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::StyleIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// CLASSDEFID, CLASS_STYLE, STYLEDEF_STYLES: the rest of the line, and be it nothing.
    pub(super) fn drawing_rest(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::DrawingRest, rest)
    }

    /// SCALE: a number, and `width` behind it, which ends it without a token.
    pub(super) fn scale(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::digits(input) {
            return self.take(Kind::Width, rest);
        }
        let width = rule::space1(input).and_then(|(rest, _)| rule::bounded("width")(rest));
        match width {
            Ok((rest, _)) => {
                self.modes.pop();
                self.skip(rest)
            }
            Err(_) => self.unknown(),
        }
    }

    /// The text behind `accTitle:` or `accDescr:`.
    pub(super) fn acc_value(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::AccValue, rest)
    }

    /// The text between the braces of `accDescr`. An empty block makes no token.
    pub(super) fn acc_block(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Some(rest) = input.strip_prefix('}') {
            self.modes.pop();
            self.state_at = None;
            return self.skip(rest);
        }
        if input.is_empty() {
            self.state_at = None;
            return self.unknown();
        }
        let end = input.find('}').unwrap_or(input.len());
        self.take(Kind::AccBlock, input.get(end..).unwrap_or(""))
    }
}
